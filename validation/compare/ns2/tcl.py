"""Tcl for ns-2.35 from a case.

Routing is static (``rtproto Manual``): each node on a flow's path gets the one entry that the flow needs. With a
thousand nodes, ns-2's route computation would take longer than the run.

Measurements, and how ns-2 provides them:

* queues: a flow monitor on each bottleneck direction counts arrivals, departures and drops, by flow. Its integrator of
  packets gives the time average of waiting packets. ns-2 takes a packet out of the queue when its transmission begins,
  so the packet in transmission is not counted.
* goodput: ``bytes_`` of the sinks (TCP sinks count in order, without duplicates).
* losses on the wire: an error model behind the delay element, so that a lost packet has used the link. Its drops must
not reach the queue's monitor, because ns-2 would subtract them from the queue. Hence the separate drop target.
"""

from __future__ import annotations

from collections.abc import Iterator

from validation.compare.ns2.case import NsCase, NsFlow, NsLink


def tcl(case: NsCase) -> str:
    """The Tcl program that runs ``case`` and prints what :mod:`validation.compare.ns2.simulator` reads."""
    return "\n".join(_lines(case)) + "\n"


def _lines(case: NsCase) -> Iterator[str]:
    yield f"# {case.name}, seed {case.seed}"
    # Seeds that follow each other leave ns-2's generator in states alike; they are spread over its range first.
    yield f"ns-random {case.seed * 1_640_531_527 % 2_147_483_646 + 1}"
    yield "set ns [new Simulator]"
    yield "$ns rtproto Manual"
    yield "set null [new Agent/Null]"
    yield f"for {{set i 0}} {{$i < {len(case.nodes)}}} {{incr i}} {{ set n($i) [$ns node] }}"
    for index, link in enumerate(case.links):
        yield from _link(index, link, case)
    routes = _routes(case)
    for node, destination, hop in routes:
        yield f"$n({node}) add-route [$n({destination}) id] [$l({hop}) head]"
    for index, flow in enumerate(case.flows):
        yield from _flow(index, flow)
    if not case.plain:
        yield from _measures(case)
    yield f'$ns at {case.duration!r} "finish"'
    yield "proc finish {} {"
    yield "  global ns" if case.plain else "  snapshot end"
    yield "  exit 0"
    yield "}"
    yield "$ns run"


def _link(index: int, link: NsLink, case: NsCase) -> Iterator[str]:
    queue = link.queue
    # Class defaults are set and restored, because some disciplines read them when they are created.
    yield f"$ns simplex-link $n({link.source}) $n({link.target}) {link.rate!r} {link.delay!r} {queue.kind}"
    yield f"set l({index}) [$ns link $n({link.source}) $n({link.target})]"
    yield f"[$l({index}) queue] set limit_ {queue.limit}"
    for key, value in sorted(queue.settings.items()):
        yield f"[$l({index}) queue] set {key} {value}"
    if link.loss > 0.0:
        yield f"set em [new ErrorModel]; $em unit pkt; $em set rate_ {link.loss!r}"
        yield "$em ranvar [new RandomVariable/Uniform]"
        yield f"$ns link-lossmodel $em $n({link.source}) $n({link.target})"
        yield "$em drop-target $null"
    if case.plain:
        return
    if index in case.bottlenecks:
        yield f"set fm({index}) [$ns makeflowmon Fid]"
        yield f"$ns attach-fmon $l({index}) $fm({index})"
        yield f"set int({index}) [new Integrator]; $fm({index}) set-pkts-integrator $int({index})"
    elif case.count_hops:
        yield f'set qm({index}) [$ns monitor-queue $n({link.source}) $n({link.target}) ""]'


def _routes(case: NsCase) -> list[tuple[int, int, int]]:
    table: dict[tuple[int, int], int] = {}
    for flow in case.flows:
        for path, destination in ((flow.forward, flow.target), (flow.backward, flow.source)):
            for link in path:
                node = case.links[link].source
                if table.setdefault((node, destination), link) != link:
                    name = case.nodes[node]
                    raise ValueError(
                        f"{case.name}: flow {flow.name} leaves {name} by another link than one before"
                        " to the same node; ns-2 routes by destination, so give the flows destinations of"
                        " their own"
                    )
    return [(node, destination, link) for (node, destination), link in sorted(table.items())]


def _flow(index: int, flow: NsFlow) -> Iterator[str]:
    yield f"set a({index}) [new {flow.agent}]; $a({index}) set fid_ {index}"
    for key, value in sorted(flow.agent_settings.items()):
        yield f"$a({index}) set {key} {value}"
    yield f"set k({index}) [new {flow.sink}]"
    for key, value in sorted(flow.sink_settings.items()):
        yield f"$k({index}) set {key} {value}"
    yield f"$ns attach-agent $n({flow.source}) $a({index})"
    yield f"$ns attach-agent $n({flow.target}) $k({index})"
    yield f"$ns connect $a({index}) $k({index})"
    yield f"set p({index}) [new {flow.application}]; $p({index}) attach-agent $a({index})"
    for key, value in sorted(flow.application_settings.items()):
        yield f"$p({index}) set {key} {value}"
    yield f'$ns at {flow.start!r} "$p({index}) start"'
    if flow.stop is not None:
        yield f'$ns at {flow.stop!r} "$p({index}) stop"'


def _measures(case: NsCase) -> Iterator[str]:
    # An integrator sums up to its last point; a last point of no change brings it to the present.
    yield "proc snapshot {label} {"
    yield "  global ns a k fm int qm"
    yield "  set now [$ns now]"
    for index in case.bottlenecks:
        yield f"  $int({index}) newpoint $now [$int({index}) set lasty_]"
        yield (
            f'  puts "link $label {index} [$fm({index}) set parrivals_] [$fm({index}) set pdepartures_]'
            f' [$fm({index}) set pdrops_] [$fm({index}) set bdepartures_] [$int({index}) set sum_]"'
        )
        yield f"  foreach f [$fm({index}) flows] {{"
        yield (
            f'    puts "linkflow $label {index} [$f set flowid_] [$f set parrivals_] [$f set pdepartures_]'
            f' [$f set pdrops_] [$f set barrivals_]"'
        )
        yield "  }"
    if case.count_hops:
        yield "  set hops 0"
        for index in case.bottlenecks:
            yield f"  set hops [expr $hops + [$fm({index}) set pdepartures_]]"
        yield "  foreach q [array names qm] { set hops [expr $hops + [$qm($q) set pdepartures_]] }"
        yield '  puts "hops $label [format %.0f $hops]"'
    for index, flow in enumerate(case.flows):
        yield f'  puts "flow $label {index} [$k({index}) set bytes_] {_counters(index, flow)}"'
    yield "}"
    yield f'$ns at {case.warmup!r} "snapshot warm"'
    if case.bin > 0.0:
        yield "proc bin {} {"
        yield "  global ns k"
        yield f'  $ns at [expr [$ns now] + {case.bin!r}] "bin"'
        yield '  set line "bin [$ns now]"'
        yield f"  for {{set i 0}} {{$i < {len(case.flows)}}} {{incr i}} {{"
        yield '    append line " [$k($i) set bytes_]"'
        yield "  }"
        yield "  puts $line"
        yield "}"
        yield f'$ns at {case.warmup!r} "bin"'
    if case.window_interval > 0.0 and case.windows:
        yield "proc windows {} {"
        yield "  global ns a"
        yield f'  $ns at [expr [$ns now] + {case.window_interval!r}] "windows"'
        yield '  set line "window [$ns now]"'
        for index in case.windows:
            yield f'  append line " [$a({index}) set cwnd_]"'
        yield "  puts $line"
        yield "}"
        yield '$ns at 0.0 "windows"'


def _counters(index: int, flow: NsFlow) -> str:
    if flow.agent.startswith("Agent/TCP"):
        return f"[$a({index}) set ndatapack_] [$a({index}) set nrexmitpack_] [$a({index}) set nrexmit_]"
    if flow.agent == "Agent/TFRC":
        return f"[$a({index}) set ndatapack_] 0 0"
    return f"[expr [$k({index}) set npkts_] + [$k({index}) set nlost_]] 0 0"
