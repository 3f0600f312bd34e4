// The benchmark of many flows in htsim: N TCP flows of 100 pairs of hosts share one bottleneck.
// usage: many_flows FLOWS SECONDS
// Prints the packets that left every queue, and the CPU time of the set-up and of the run.

#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>

#include "config.h"
#include "eventlist.h"
#include "network.h"
#include "pipe.h"
#include "queue.h"
#include "route.h"
#include "tcp.h"

static uint64_t hops = 0;

// Counts the packets that leave the queue.
class CountingQueue : public Queue {
public:
    using Queue::Queue;
    void doNextEvent() override {
        ++hops;
        Queue::doNextEvent();
    }
};

static double cpu_seconds() {
    rusage used;
    getrusage(RUSAGE_SELF, &used);
    auto seconds = [](const timeval& time) { return time.tv_sec + time.tv_usec * 1e-6; };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

// One direction of a link.
struct Link {
    CountingQueue queue;
    Pipe pipe;
    Link(double bits_per_s, double packets, double delay_ms, EventList& events)
        : queue(linkspeed_bps(bits_per_s), mem_b(packets * Packet::data_packet_size()), events, nullptr),
          pipe(timeFromMs(delay_ms), events) {}
};

int main(int, char** arguments) {
    const int flows = std::atoi(arguments[1]);
    const double seconds = std::atof(arguments[2]);
    const int hosts = std::min(flows, 100);
    const double each = double(flows) / hosts;
    Packet::set_packet_size(1000);
    // TcpSrc prints a line for every timeout.
    std::cout.setstate(std::ios::failbit);
    EventList& events = EventList::getTheEventList();
    events.setEndtime(timeFromSec(seconds));
    // Every scan looks at all flows. htsim's programs scan every 10 ms, which would cost more.
    TcpRtxTimerScanner scanner(timeFromMs(100), events);

    Link forward(flows * 1e6, 2.5 * flows, 10, events), back(flows * 1e6, 2.5 * flows, 10, events);
    std::vector<std::unique_ptr<Route>> routes;
    std::vector<std::unique_ptr<Link>> links;
    auto add_link = [&] {
        links.push_back(std::make_unique<Link>(1e8 * each, 250 * each, 5, events));
        return links.back().get();
    };
    struct Host { Link *up, *down, *back_up, *back_down; };
    std::vector<Host> all;
    for (int host = 0; host < hosts; ++host) all.push_back({add_link(), add_link(), add_link(), add_link()});
    auto add_route = [&](std::initializer_list<Link*> path, PacketSink* end) {
        routes.push_back(std::make_unique<Route>(int(2 * path.size() + 1)));
        for (Link* link : path) {
            routes.back()->push_back(&link->queue);
            routes.back()->push_back(&link->pipe);
        }
        routes.back()->push_back(end);
        return routes.back().get();
    };
    for (int flow = 0; flow < flows; ++flow) {
        const Host& host = all[flow % hosts];
        auto* source = new TcpSrc(nullptr, nullptr, events);
        auto* sink = new TcpSink();
        source->_maxcwnd = 64 * 1000;
        source->set_cwnd(1000);
        source->set_ssthresh(64 * 1000);
        scanner.registerTcp(*source);
        source->connect(*add_route({host.up, &forward, host.down}, sink),
                        *add_route({host.back_up, &back, host.back_down}, source), *sink,
                        timeFromSec(double(flow) / flows));
    }
    const double set_up = cpu_seconds();
    while (events.doNextEvent()) {
    }
    const double whole = cpu_seconds();
    std::printf("hops %llu setup %.3f cpu %.3f\n", (unsigned long long)hops, set_up, whole - set_up);
    std::fflush(stdout);
    // Destructors of a million flows are no part of the run.
    std::_Exit(0);
}
