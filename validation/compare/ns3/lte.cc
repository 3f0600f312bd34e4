// A cell of ns-3: users whose path losses give them the channel quality indicators that are asked for.
#include "common.h"

#include "ns3/lte-module.h"
#include "ns3/mobility-module.h"
#include "ns3/point-to-point-module.h"

namespace
{
uint64_t g_first[2], g_again[2];
std::map<int, uint64_t> g_mcs[2];

/// Counts transmissions that failed: first ones and repeated ones.
void Received(PhyReceptionStatParameters block)
{
    (block.m_rv == 0 ? g_first : g_again)[block.m_correctness ? 0 : 1]++;
}

/// The ratio in dB at which ns-3 chooses an indicator: in the middle of its range (LteAmc, model of Piro et al. 2010).
double Ratio(int cqi)
{
    const double table[] = {0, .15, .23, .38, .6, .88, 1.18, 1.48, 1.91, 2.41, 2.73, 3.32, 3.9, 4.52, 5.12, 5.55, 5.98};
    const double efficiency = (table[cqi] + table[cqi + 1]) / 2;
    return 10 * std::log10((std::pow(2, efficiency) - 1) * (-std::log(5 * 0.00005) / 1.5));
}
} // namespace

int main(int argc, char** argv)
{
    uint32_t seed = 1, stations = 1, buffer = 100000;
    double seconds = 6, warmup = 1, offset = 0;
    bool acknowledged = true, errors = false;
    std::string cqi = "15", scheduler = "round-robin", flows;
    CommandLine line(__FILE__);
    line.AddValue("seed", "", seed);
    line.AddValue("stations", "", stations);
    line.AddValue("seconds", "", seconds);
    line.AddValue("warmup", "", warmup);
    line.AddValue("cqi", "indicator of each user", cqi);
    line.AddValue("offset", "dB by which the ratio is above that of the indicator", offset);
    line.AddValue("scheduler", "round-robin or proportional-fair", scheduler);
    line.AddValue("buffer", "bytes of RLC's buffer", buffer);
    line.AddValue("acknowledged", "RLC-AM, not RLC-UM", acknowledged);
    line.AddValue("errors", "blocks may fail", errors);
    line.AddValue("flows", "name,station,up,payload,interval in us,tcp,dscp,start in us; ...", flows);
    line.Parse(argc, argv);
    RngSeedManager::SetRun(seed);
    ConfigureTcp();
    Config::SetDefault("ns3::LteRlcAm::MaxTxBufferSize", UintegerValue(buffer));
    Config::SetDefault("ns3::LteRlcUm::MaxTxBufferSize", UintegerValue(buffer));
    Config::SetDefault("ns3::LteEnbRrc::EpsBearerToRlcMapping",
                       EnumValue(acknowledged ? LteEnbRrc::RLC_AM_ALWAYS : LteEnbRrc::RLC_UM_ALWAYS));
    Config::SetDefault("ns3::LteEnbRrc::SrsPeriodicity", UintegerValue(40));
    Config::SetDefault("ns3::LteUePhy::EnableUplinkPowerControl", BooleanValue(false));
    Config::SetDefault("ns3::LteSpectrumPhy::DataErrorModelEnabled", BooleanValue(errors));
    Config::SetDefault("ns3::LteSpectrumPhy::CtrlErrorModelEnabled", BooleanValue(false));
    Config::SetDefault("ns3::LteAmc::AmcModel", EnumValue(LteAmc::PiroEW2010));
    // At a lower ratio the same indicator is chosen by a larger error rate that it aims at.
    const double gap = -std::log(5 * 0.00005) / 1.5 * std::pow(10, offset / 10);
    Config::SetDefault("ns3::LteAmc::Ber", DoubleValue(std::exp(-1.5 * gap) / 5));
    // Both directions have the same power and noise, and therefore the same indicator.
    Config::SetDefault("ns3::LteEnbPhy::TxPower", DoubleValue(30));
    Config::SetDefault("ns3::LteUePhy::TxPower", DoubleValue(30));
    Config::SetDefault("ns3::LteEnbPhy::NoiseFigure", DoubleValue(9));
    Config::SetDefault("ns3::LteUePhy::NoiseFigure", DoubleValue(9));
    Config::SetDefault("ns3::PointToPointEpcHelper::S1uLinkDelay", TimeValue(Seconds(0)));
    Config::SetDefault("ns3::NoBackhaulEpcHelper::S5LinkDelay", TimeValue(Seconds(0)));

    auto lte = CreateObject<LteHelper>();
    auto epc = CreateObject<PointToPointEpcHelper>();
    lte->SetEpcHelper(epc);
    lte->SetSchedulerType(scheduler == "round-robin" ? "ns3::RrFfMacScheduler" : "ns3::PfFfMacScheduler");
    lte->SetAttribute("PathlossModel", TypeIdValue(MatrixPropagationLossModel::GetTypeId()));
    lte->SetEnbDeviceAttribute("DlBandwidth", UintegerValue(50));
    lte->SetEnbDeviceAttribute("UlBandwidth", UintegerValue(50));

    NodeContainer remote(1), base(1), users(stations);
    MobilityHelper mobility;
    mobility.Install(base);
    // Elsewhere than the base station, since ns-3 has no loss at the same place. Where does not matter.
    auto places = CreateObject<ListPositionAllocator>();
    places->Add(Vector(1, 0, 0));
    mobility.SetPositionAllocator(places);
    mobility.Install(users);
    auto cell = lte->InstallEnbDevice(base);
    auto devices = lte->InstallUeDevice(users);
    const double noise = 10 * std::log10(1.3803e-23 * 290 * 50 * 180e3 * 1000) + 9;
    const auto indicators = Split(cqi, ',');
    for (auto& loss : {lte->GetDownlinkSpectrumChannel()->GetPropagationLossModel(),
                       lte->GetUplinkSpectrumChannel()->GetPropagationLossModel()})
    {
        auto matrix = DynamicCast<MatrixPropagationLossModel>(loss);
        NS_ABORT_MSG_UNLESS(matrix, "no matrix of losses");
        for (uint32_t place = 0; place < stations; ++place)
        {
            matrix->SetLoss(base.Get(0)->GetObject<MobilityModel>(),
                            users.Get(place)->GetObject<MobilityModel>(),
                            30 - noise - Ratio(std::stoi(indicators[place])) - offset);
        }
    }

    InternetStackHelper internet;
    internet.Install(remote);
    internet.Install(users);
    PointToPointHelper wire;
    wire.SetDeviceAttribute("DataRate", StringValue("100Gb/s"));
    wire.SetDeviceAttribute("Mtu", UintegerValue(1500));
    auto pair = wire.Install(epc->GetPgwNode(), remote.Get(0));
    Ipv4AddressHelper address;
    address.SetBase("1.0.0.0", "255.0.0.0");
    auto interfaces = address.Assign(pair);
    Ipv4StaticRoutingHelper routing;
    routing.GetStaticRouting(remote.Get(0)->GetObject<Ipv4>())
        ->AddNetworkRouteTo(Ipv4Address("7.0.0.0"), Ipv4Mask("255.0.0.0"), 1);
    auto own = epc->AssignUeIpv4Address(devices);
    std::vector<Ptr<Node>> nodes;
    std::vector<Ipv4Address> addresses;
    for (uint32_t place = 0; place < stations; ++place)
    {
        routing.GetStaticRouting(users.Get(place)->GetObject<Ipv4>())
            ->SetDefaultRoute(epc->GetUeDefaultGatewayAddress(), 1);
        nodes.push_back(users.Get(place));
        addresses.push_back(own.GetAddress(place));
    }
    lte->Attach(devices, cell.Get(0));
    Config::ConnectWithoutContext("/NodeList/*/DeviceList/*/ComponentCarrierMapUe/*/LteUePhy/DlSpectrumPhy/DlPhyReception",
                                  Callback<void, PhyReceptionStatParameters>(Received));
    Config::ConnectWithoutContext("/NodeList/*/DeviceList/*/ComponentCarrierMap/*/LteEnbMac/DlScheduling",
                                  Callback<void, DlSchedulingCallbackInfo>(
                                      [](DlSchedulingCallbackInfo given) { ++g_mcs[0][given.mcsTb1]; }));
    Config::ConnectWithoutContext("/NodeList/*/DeviceList/*/ComponentCarrierMap/*/LteEnbMac/UlScheduling",
                                  Callback<void, uint32_t, uint32_t, uint16_t, uint8_t, uint16_t, uint8_t>(
                                      [](uint32_t, uint32_t, uint16_t, uint8_t mcs, uint16_t, uint8_t) { ++g_mcs[1][mcs]; }));
    Traffic traffic(flows, warmup, seconds);
    traffic.Install(nodes, addresses, remote.Get(0), interfaces.GetAddress(1));
    traffic.Run([] {
        std::ostringstream text;
        const auto part = [](const uint64_t* of) { return of[0] + of[1] ? double(of[1]) / double(of[0] + of[1]) : 0.0; };
        text << ", \"first_error\": " << part(g_first) << ", \"repeat_error\": " << part(g_again) << ", \"mcs\": [";
        for (int direction : {0, 1})
        {
            text << (direction ? ", {" : "{");
            bool later = false;
            for (const auto& [index, count] : g_mcs[direction])
            {
                text << (later ? ", \"" : "\"") << index << "\": " << count;
                later = true;
            }
            text << "}";
        }
        text << "]";
        return text.str();
    });
}
