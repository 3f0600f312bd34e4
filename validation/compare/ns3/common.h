// Traffic and measures of both programs: packets of one size at one distance in time, TCP, and what arrives of them.
#pragma once

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <memory>
#include <sstream>
#include <sys/resource.h>

using namespace ns3;

/// Fields of a list.
inline std::vector<std::string> Split(const std::string& text, char by)
{
    std::vector<std::string> parts;
    std::stringstream stream(text);
    for (std::string part; std::getline(stream, part, by);)
    {
        parts.push_back(part);
    }
    return parts;
}

/// User and system seconds of this process.
inline double Cpu()
{
    rusage used;
    getrusage(RUSAGE_SELF, &used);
    return double(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           1e-6 * double(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

/// One flow: as told, and what was measured.
struct Flow
{
    std::string name;
    uint32_t station;
    bool up;
    uint32_t payload;
    Time interval;
    bool tcp;
    uint32_t dscp;
    Time start;
    Ptr<Socket> from;
    Ptr<Socket> to;
    uint32_t number = 0;
    uint64_t sent = 0;
    uint64_t bytes = 0;
    std::vector<double> delays;
};

/// All flows of a run.
class Traffic
{
  public:
    Traffic(const std::string& flows, double warmup, double seconds)
        : m_warmup(Seconds(warmup)),
          m_end(Seconds(seconds))
    {
        for (const auto& text : Split(flows, ';'))
        {
            const auto field = Split(text, ',');
            m_flows.push_back({field[0],
                               uint32_t(std::stoul(field[1])),
                               field[2] == "1",
                               uint32_t(std::stoul(field[3])),
                               MicroSeconds(std::stoul(field[4])),
                               field[5] == "1",
                               uint32_t(std::stoul(field[6])),
                               MicroSeconds(std::stoul(field[7]))});
        }
    }

    /// Begins all flows at their times.
    void Install(const std::vector<Ptr<Node>>& stations,
                 const std::vector<Ipv4Address>& addresses,
                 Ptr<Node> base,
                 Ipv4Address baseAddress)
    {
        const std::vector<Ptr<Node>> bases(stations.size(), base);
        Install(stations, addresses, bases, std::vector<Ipv4Address>(stations.size(), baseAddress));
    }

    /// The same, with a base for each station.
    void Install(const std::vector<Ptr<Node>>& stations,
                 const std::vector<Ipv4Address>& addresses,
                 const std::vector<Ptr<Node>>& bases,
                 const std::vector<Ipv4Address>& baseAddresses)
    {
        uint16_t port = 5000;
        for (auto& flow : m_flows)
        {
            Ptr<Node> base = bases[flow.station];
            Ptr<Node> near = flow.up ? stations[flow.station] : base;
            Ptr<Node> far = flow.up ? base : stations[flow.station];
            const Address there =
                InetSocketAddress(flow.up ? baseAddresses[flow.station] : addresses[flow.station], ++port);
            if (flow.tcp)
            {
                BulkSendHelper send("ns3::TcpSocketFactory", there);
                send.SetAttribute("SendSize", UintegerValue(1448));
                auto apps = send.Install(near);
                apps.Start(flow.start);
                PacketSinkHelper sink("ns3::TcpSocketFactory",
                                      InetSocketAddress(Ipv4Address::GetAny(), port));
                auto sinks = sink.Install(far);
                sinks.Start(Seconds(0));
                sinks.Get(0)->TraceConnectWithoutContext(
                    "Rx",
                    Callback<void, Ptr<const Packet>, const Address&>(
                        [this, &flow](Ptr<const Packet> packet, const Address&) {
                            if (Simulator::Now() >= m_warmup)
                            {
                                flow.bytes += packet->GetSize();
                            }
                        }));
                continue;
            }
            flow.to = Socket::CreateSocket(far, UdpSocketFactory::GetTypeId());
            flow.to->Bind(InetSocketAddress(Ipv4Address::GetAny(), port));
            flow.to->SetRecvCallback(Callback<void, Ptr<Socket>>(
                [this, &flow](Ptr<Socket> socket) { Receive(flow, socket); }));
            flow.from = Socket::CreateSocket(near, UdpSocketFactory::GetTypeId());
            flow.from->Bind();
            flow.from->SetIpTos(uint8_t(flow.dscp << 2));
            flow.from->Connect(there);
            Simulator::ScheduleWithContext(near->GetId(), flow.start, [this, &flow]() { Send(flow); });
        }
    }

    /// Runs, and writes what was measured as JSON; `more` are further fields.
    void Run(const std::function<std::string()>& more = [] { return std::string(); })
    {
        Simulator::Stop(m_end);
        const double before = Cpu();
        Simulator::Run();
        const double took = Cpu() - before;
        std::cout.precision(9);
        std::cout << "{\"cpu_s\": " << took << more() << ", \"flows\": {";
        bool later = false;
        for (auto& flow : m_flows)
        {
            auto& delays = flow.delays;
            std::sort(delays.begin(), delays.end());
            double sum = 0;
            for (double delay : delays)
            {
                sum += delay;
            }
            std::cout << (later ? ", " : "") << "\"" << flow.name << "\": {\"goodput_bps\": "
                      << double(flow.bytes) * 8 / (m_end - m_warmup).GetSeconds()
                      << ", \"sent\": " << flow.sent << ", \"received\": " << delays.size();
            if (!delays.empty())
            {
                const auto rank = size_t(std::ceil(0.95 * double(delays.size()))) - 1;
                std::cout << ", \"delay_mean_s\": " << sum / double(delays.size())
                          << ", \"delay_p95_s\": " << delays[rank];
            }
            std::cout << "}";
            later = true;
        }
        std::cout << "}}" << std::endl;
        Simulator::Destroy();
    }

  private:
    void Send(Flow& flow)
    {
        SeqTsHeader stamp;
        stamp.SetSeq(flow.number++);
        auto packet = Create<Packet>(flow.payload - stamp.GetSerializedSize());
        packet->AddHeader(stamp);
        flow.sent += Simulator::Now() >= m_warmup;
        flow.from->Send(packet);
        Simulator::Schedule(flow.interval, [this, &flow]() { Send(flow); });
    }

    void Receive(Flow& flow, Ptr<Socket> socket)
    {
        while (auto packet = socket->Recv())
        {
            if (Simulator::Now() < m_warmup)
            {
                continue;
            }
            flow.bytes += packet->GetSize();
            SeqTsHeader stamp;
            packet->RemoveHeader(stamp);
            flow.delays.push_back((Simulator::Now() - stamp.GetTs()).GetSeconds());
        }
    }

    Time m_warmup;
    Time m_end;
    std::vector<Flow> m_flows;
};

/// TCP as fairwave's cases have it.
inline void ConfigureTcp()
{
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TypeId::LookupByName("ns3::TcpCubic")));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(40)));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(8000000));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(8000000));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpSocketBase::ClockGranularity", TimeValue(MilliSeconds(200)));
}
