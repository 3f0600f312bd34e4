// A Wi-Fi channel of ns-3: stations around nodes that stand for access points, all ad hoc.
//
// Ad hoc, because then there are neither beacons nor associations, which fairwave does not have either. Basic rates are
// those that an access point announces. Stations stand on a circle of 1 m; losses do not depend on places.
#include "common.h"

#include "ns3/mobility-module.h"
#include "ns3/traffic-control-module.h"
#include "ns3/wifi-module.h"

int main(int argc, char** argv)
{
    uint32_t seed = 1, stations = 1, queue = 100, aggregate = 0, retries = 7;
    double seconds = 6, warmup = 1, snr = 0, loss = 50, error = 0;
    bool rts = false, apart = false, edca = false, locks = false;
    uint32_t count = 1, width = 20, videoAggregate = 0, videoTxop = 0;
    std::string standard = "802.11a", mcs = "7", up, groups, flows;
    CommandLine line(__FILE__);
    line.AddValue("seed", "", seed);
    line.AddValue("stations", "", stations);
    line.AddValue("seconds", "", seconds);
    line.AddValue("warmup", "", warmup);
    line.AddValue("bases", "access points; a station belongs to that of its number modulo theirs", count);
    line.AddValue("apart", "access points do not hear each other", apart);
    line.AddValue("standard", "802.11a, 802.11b or 802.11n", standard);
    line.AddValue("mcs", "index of each station", mcs);
    line.AddValue("up", "index of each station towards the access point, if it differs", up);
    line.AddValue("width", "MHz", width);
    line.AddValue("video-txop", "limit of a TXOP of video in us; 0: that of ns-3", videoTxop);
    line.AddValue("video-aggregate", "bytes of an A-MPDU of video at most; 0: none", videoAggregate);
    line.AddValue("queue", "packets", queue);
    line.AddValue("aggregate", "bytes of an A-MPDU at most; 0: none", aggregate);
    line.AddValue("rts", "RTS and CTS before all frames", rts);
    line.AddValue("groups", "group of each station, which hears the stations of its group alone; empty: all hear all", groups);
    line.AddValue("locks", "receivers take overlapping frames for a broken one, and not for noise", locks);
    line.AddValue("edca", "QoS", edca);
    line.AddValue("retries", "attempts of a frame at most", retries);
    line.AddValue("snr", "dB; 0: by the loss", snr);
    line.AddValue("loss", "dB between all that hear each other", loss);
    line.AddValue("error", "share of the data frames that the access point loses", error);
    line.AddValue("flows", "name,station,up,payload,interval in us,tcp,dscp,start in us; ...", flows);
    line.Parse(argc, argv);
    RngSeedManager::SetRun(seed);
    ConfigureTcp();
    Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Seconds(100)));
    // fairwave counts what waits; ns-3 also what is being sent.
    const uint32_t inside = aggregate ? 64 : 1;
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", QueueSizeValue(QueueSize(PACKETS, queue + inside)));
    Config::SetDefault("ns3::QosTxop::UseExplicitBarAfterMissedBlockAck", BooleanValue(false));
    Config::SetDefault("ns3::WifiRemoteStationManager::RtsCtsThreshold", UintegerValue(rts ? 0 : 4692480));

    Config::SetDefault("ns3::WifiMac::FrameRetryLimit", UintegerValue(retries));

    NodeContainer bases(count), others(stations);
    NodeContainer all(bases, others);
    MobilityHelper mobility;
    auto places = CreateObject<ListPositionAllocator>();
    for (uint32_t place = 0; place < count; ++place)
    {
        places->Add(Vector(0, 0, place));
    }
    for (uint32_t place = 0; place < stations; ++place)
    {
        const double angle = 2 * M_PI * place / stations;
        places->Add(Vector(std::cos(angle), std::sin(angle), 0));
    }
    mobility.SetPositionAllocator(places);
    mobility.Install(all);

    const double power = 16.0206;
    if (snr != 0)
    {
        // Noise of 20 MHz with ns-3's noise figure of 7 dB: the ratio is the power at the receiver less this.
        loss = power - (10 * std::log10(1.3803e-23 * 290 * 20e6 * 1000) + 7) - snr;
    }
    auto matrix = CreateObject<MatrixPropagationLossModel>();
    matrix->SetDefaultLoss(loss);
    const auto group = Split(groups, ',');
    for (uint32_t one = 0; one < group.size(); ++one)
    {
        for (uint32_t other = 0; other < one; ++other)
        {
            if (group[one] != group[other])
            {
                matrix->SetLoss(others.Get(one)->GetObject<MobilityModel>(), others.Get(other)->GetObject<MobilityModel>(), 250);
            }
        }
    }
    for (uint32_t one = 0; apart && one < count; ++one)
    {
        for (uint32_t other = 0; other < one; ++other)
        {
            matrix->SetLoss(bases.Get(one)->GetObject<MobilityModel>(), bases.Get(other)->GetObject<MobilityModel>(), 250);
        }
    }
    auto channel = CreateObject<YansWifiChannel>();
    channel->SetPropagationLossModel(matrix);
    channel->SetPropagationDelayModel(CreateObject<ConstantSpeedPropagationDelayModel>());
    YansWifiPhyHelper phy;
    phy.SetChannel(channel);
    phy.SetErrorRateModel("ns3::TableBasedErrorRateModel");
    if (locks)
    {
        phy.DisablePreambleDetectionModel();
    }

    WifiHelper wifi;
    const std::map<std::string, WifiStandard> standards{{"802.11a", WIFI_STANDARD_80211a},
                                                        {"802.11b", WIFI_STANDARD_80211b},
                                                        {"802.11n", WIFI_STANDARD_80211n}};
    wifi.SetStandard(standards.at(standard));
    if (standard == "802.11n")
    {
        phy.Set("ChannelSettings", StringValue("{0, " + std::to_string(width) + ", BAND_5GHZ, 0}"));
    }
    WifiMacHelper mac;
    mac.SetType("ns3::AdhocWifiMac",
                "QosSupported", BooleanValue(edca),
                "BE_MaxAmpduSize", UintegerValue(aggregate),
                "VI_MaxAmpduSize", UintegerValue(videoAggregate),
                "VO_MaxAmpduSize", UintegerValue(0),
                "BK_MaxAmpduSize", UintegerValue(0),
                "BE_MaxAmsduSize", UintegerValue(0));
    const auto down = Split(mcs, ',');
    const auto indices = up.empty() ? down : Split(up, ',');
    const std::vector<std::string> ofdm{"6", "9", "12", "18", "24", "36", "48", "54"};
    const std::vector<std::string> dsss{"1", "2", "5_5", "11"};
    NetDeviceContainer devices;
    for (uint32_t place = 0; place < count + stations; ++place)
    {
        const int index = std::stoi(place < count ? down.back() : indices[place - count]);
        const std::string mode = standard == "802.11b"   ? "DsssRate" + dsss[index] + "Mbps"
                                 : standard == "802.11a" ? "OfdmRate" + ofdm[index] + "Mbps"
                                                         : "HtMcs" + std::to_string(index);
        const std::string control = standard == "802.11b" ? "DsssRate2Mbps" : index < 2 ? "OfdmRate6Mbps" : "OfdmRate24Mbps";
        wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager",
                                     "DataMode", StringValue(mode),
                                     "ControlMode", StringValue(control));
        devices.Add(wifi.Install(phy, mac, all.Get(place)));
        auto device = DynamicCast<WifiNetDevice>(devices.Get(place));
        if (edca && videoTxop > 0)
        {
            device->GetMac()->GetQosTxop(AC_VI)->SetTxopLimit(MicroSeconds(videoTxop));
        }
        auto manager = device->GetRemoteStationManager();
        for (const auto& basic : standard == "802.11b" ? std::vector<std::string>{"DsssRate1Mbps", "DsssRate2Mbps"}
                                                       : std::vector<std::string>{"OfdmRate6Mbps", "OfdmRate12Mbps", "OfdmRate24Mbps"})
        {
            manager->AddBasicMode(WifiMode(basic));
        }
    }
    if (error > 0)
    {
        auto model = CreateObject<RateErrorModel>();
        model->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
        model->SetRate(error);
        DynamicCast<WifiNetDevice>(devices.Get(0))->GetPhy()->SetPostReceptionErrorModel(model);
    }
    WifiHelper::AssignStreams(devices, 100);

    InternetStackHelper internet;
    internet.Install(all);
    Ipv4AddressHelper address;
    address.SetBase("10.0.0.0", "255.255.255.0");
    auto interfaces = address.Assign(devices);
    TrafficControlHelper queues;
    queues.Uninstall(devices);
    NeighborCacheHelper neighbours;
    neighbours.PopulateNeighborCache();

    std::vector<Ptr<Node>> nodes, near;
    std::vector<Ipv4Address> addresses, nearAddresses;
    for (uint32_t place = 0; place < stations; ++place)
    {
        nodes.push_back(others.Get(place));
        addresses.push_back(interfaces.GetAddress(count + place));
        near.push_back(bases.Get(place % count));
        nearAddresses.push_back(interfaces.GetAddress(place % count));
    }
    Traffic traffic(flows, warmup, seconds);
    traffic.Install(nodes, addresses, near, nearAddresses);
    traffic.Run();
}
