"""Runs ns-3: a separate program for an interpreter with ns-3's bindings, which may lack fairwave.

Each line of standard input is ``{"file": PATH, "run": …}`` with a run in the form of ``simulator.py``. ns-3 keeps its
state in globals, so each run is a process. The bindings are loaded once, which takes ten seconds; then each run is
forked. The results of a run are written to its file as JSON. The output has a line per run, ``done PATH`` or ``failed
PATH``.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

PROGRAM = r"""
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"
#include <sstream>

namespace fairwave {
using namespace ns3;

struct Meter {  // the time average of a number
    double sum = 0, last = 0, value = 0;
    void To(double now) { sum += value * (now - last); last = now; }
    void Set(uint32_t, uint32_t count) { To(Simulator::Now().GetSeconds()); value = count; }
};

struct Flow {
    Ptr<PacketSink> sink;
    Ptr<Application> source;
    bool tcp = false;
    double start = 0, smoothed = 0, sum = 0, window = 0, windows = 0;
    uint64_t samples = 0, warm = 0, sent_again = 0;
    void Rtt(Time, Time now) { smoothed = now.GetSeconds(); }
    void Window(uint32_t, uint32_t now) { window = now; }
};

struct Counts { double received = 0, sent = 0, dropped = 0, marked = 0, waiting = 0, bytes = 0; };

Ptr<Node> left, right;
Ptr<QueueDisc> disc;
Meter in_disc, in_device;
std::vector<Flow*> flows;
Counts warm;
double warmup, duration, spacing;
uint32_t networks;

void Default(const std::string& name, const std::string& value) { Config::SetDefault(name, StringValue(value)); }

Ipv4Address Address(NetDeviceContainer devices, int end) {
    std::ostringstream base;
    base << "10." << networks / 256 << "." << networks % 256 << ".0";
    networks++;
    Ipv4AddressHelper helper(base.str().c_str(), "255.255.255.0");
    return helper.Assign(devices).GetAddress(end);
}

NetDeviceContainer Join(Ptr<Node> a, Ptr<Node> b, const std::string& rate, const std::string& delay,
                        const std::string& queue) {
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue(rate));
    link.SetChannelAttribute("Delay", StringValue(delay));
    link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue(queue));
    return link.Install(a, b);
}

void Begin(uint32_t seed, double total, double begin, double every) {
    RngSeedManager::SetSeed(1 + seed);
    RngSeedManager::SetRun(1);
    duration = total; warmup = begin; spacing = every;
    NodeContainer routers;
    routers.Create(2);
    left = routers.Get(0); right = routers.Get(1);
    InternetStackHelper().Install(routers);
}

void Bottleneck(const std::string& rate, const std::string& delay, double loss, const std::string& kind,
                uint32_t quantum) {
    // One packet at most below the discipline, or the discipline never fills.
    auto devices = Join(left, right, rate, delay, "1p");
    TrafficControlHelper control;
    control.SetRootQueueDisc(kind);
    disc = control.Install(devices.Get(0)).Get(0);
    if (quantum > 0) disc->GetObject<FqCoDelQueueDisc>()->SetQuantum(quantum);
    TrafficControlHelper way_back;
    way_back.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize", StringValue("10000p"));
    way_back.Install(devices.Get(1));
    Address(devices, 0);
    disc->TraceConnectWithoutContext("PacketsInQueue", MakeCallback(&Meter::Set, &in_disc));
    DynamicCast<PointToPointNetDevice>(devices.Get(0))->GetQueue()->TraceConnectWithoutContext(
        "PacketsInQueue", MakeCallback(&Meter::Set, &in_device));
    if (loss > 0) {
        auto model = CreateObject<RateErrorModel>();
        model->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
        model->SetRate(loss);
        devices.Get(1)->SetAttribute("ReceiveErrorModel", PointerValue(model));
    }
}

void Connected(Flow* flow) {
    auto socket = DynamicCast<BulkSendApplication>(flow->source)->GetSocket();
    socket->TraceConnectWithoutContext("RTT", MakeCallback(&Flow::Rtt, flow));
    socket->TraceConnectWithoutContext("CongestionWindow", MakeCallback(&Flow::Window, flow));
}

void Add(const std::string& kind, double start, double stop, const std::string& near, const std::string& far,
         uint32_t payload, double interval) {
    NodeContainer hosts;
    hosts.Create(2);
    InternetStackHelper().Install(hosts);
    TrafficControlHelper plain;
    auto one = Join(hosts.Get(0), left, "1Gbps", near, "20000p");
    auto other = Join(right, hosts.Get(1), "1Gbps", far, "20000p");
    Address(one, 0);
    auto address = Address(other, 1);
    plain.Uninstall(one);
    plain.Uninstall(other);
    auto flow = new Flow;
    flow->start = start;
    uint16_t port = 5000;
    flow->tcp = kind != "udp";
    std::string factory = flow->tcp ? "ns3::TcpSocketFactory" : "ns3::UdpSocketFactory";
    if (flow->tcp) {
        for (int i = 0; i < 2; i++)
            hosts.Get(i)->GetObject<TcpL4Protocol>()->SetAttribute(
                "SocketType", TypeIdValue(TypeId::LookupByName(kind)));
        BulkSendHelper source(factory, InetSocketAddress(address, port));
        source.SetAttribute("SendSize", UintegerValue(payload));
        flow->source = source.Install(hosts.Get(0)).Get(0);
        Simulator::Schedule(Seconds(start) + NanoSeconds(1), &Connected, flow);
    } else {
        UdpClientHelper source(address, port);
        source.SetAttribute("PacketSize", UintegerValue(payload));
        source.SetAttribute("Interval", TimeValue(Seconds(interval)));
        source.SetAttribute("MaxPackets", UintegerValue(0));
        flow->source = source.Install(hosts.Get(0)).Get(0);
    }
    flow->source->SetStartTime(Seconds(start));
    flow->source->SetStopTime(Seconds(stop));
    PacketSinkHelper sink(factory, InetSocketAddress(Ipv4Address::GetAny(), port));
    flow->sink = DynamicCast<PacketSink>(sink.Install(hosts.Get(1)).Get(0));
    flows.push_back(flow);
}

Counts Now() {
    auto now = Simulator::Now().GetSeconds();
    in_disc.To(now); in_device.To(now);
    auto& all = disc->GetStats();
    return { double(all.nTotalReceivedPackets), double(all.nTotalSentPackets), double(all.nTotalDroppedPackets),
             double(all.nTotalMarkedPackets), in_disc.sum + in_device.sum, double(all.nTotalSentBytes) };
}

void Warm() {
    warm = Now();
    for (auto flow : flows) flow->warm = flow->sink->GetTotalRx();
}

void Sample() {
    for (auto flow : flows)
        if (flow->tcp && flow->smoothed > 0) {
            flow->sum += flow->smoothed;
            flow->windows += flow->window;
            flow->samples++;
        }
    Simulator::Schedule(Seconds(spacing), &Sample);
}

std::string Run() {
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    Simulator::Schedule(Seconds(warmup), &Warm);
    Simulator::Schedule(Seconds(warmup + spacing), &Sample);
    Simulator::Stop(Seconds(duration));
    Simulator::Run();
    auto end = Now();
    std::ostringstream out;
    out.precision(12);
    out << "{\"received\":" << end.received - warm.received << ",\"sent\":" << end.sent - warm.sent
        << ",\"dropped\":" << end.dropped - warm.dropped
        << ",\"marked\":" << end.marked - warm.marked
        << ",\"bytes\":" << end.bytes - warm.bytes
        << ",\"waiting\":" << end.waiting - warm.waiting << ",\"flows\":[";
    for (size_t i = 0; i < flows.size(); i++) {
        auto flow = flows[i];
        out << (i ? "," : "") << "{\"payload\":" << flow->sink->GetTotalRx() - flow->warm
            << ",\"samples\":" << flow->samples
            << ",\"rtt\":" << flow->sum << ",\"window\":" << flow->windows << "}";
    }
    out << "]}";
    return out.str();
}
}  // namespace fairwave
"""


def simulate(bindings: Any, run: dict[str, Any]) -> str:
    """The measurements of a run after its warm-up, as JSON. The process must not have run ns-3 before."""
    for name, value in run["defaults"].items():
        bindings.Default(name, value)
    bindings.Begin(run["seed"], run["duration"], run["warmup"], run["spacing"])
    link = run["bottleneck"]
    bindings.Bottleneck(link["rate"], link["delay"], link["loss"], link["queue"], link["quantum"])
    for flow in run["flows"]:
        bindings.Add(
            flow["kind"], flow["start"], run["duration"], flow["near"], flow["far"], flow["payload"], flow["interval"]
        )  # fmt: skip
    return str(bindings.Run())


def main() -> int:
    """Reads runs from standard input until its end; 1 if one of them failed."""
    import ns3.ns  # type: ignore[import-not-found]  # noqa: F401  # loads the libraries
    import cppyy  # type: ignore[import-not-found]  # isort: skip

    cppyy.cppdef(PROGRAM)
    bindings = cppyy.gbl.fairwave
    failed = 0
    for line in sys.stdin:
        job = json.loads(line)
        child = os.fork()
        if child == 0:
            status = 1
            try:
                target = Path(job["file"])
                beside = target.with_suffix(f".{os.getpid()}")
                beside.write_text(simulate(bindings, job["run"]), encoding="utf-8")
                beside.replace(target)
                status = 0
            finally:
                sys.stderr.flush()
                os._exit(status)
        _, status = os.waitpid(child, 0)
        failed |= status
        sys.stdout.write(f"{'failed' if status else 'done'} {job['file']}\n")
        sys.stdout.flush()
    return int(failed != 0)


if __name__ == "__main__":
    sys.exit(main())
