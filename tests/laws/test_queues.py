"""Custom disciplines that use the waiting packets: by flow, by class, with a custom victim."""

import pytest

import fairwave as fw
from fairwave import _native

SCENARIO = """
name = "queues"
duration = "10 s"

[topology]
preset = "dumbbell"

[topology.bottleneck]
rate = "1 Mb/s"
delay = "10 ms"
queue = { discipline = "round-robin", capacity = { packets = 30 } }

[[flow]]
name = "greedy"
transport = "udp"
traffic = { kind = "cbr", rate = "2 Mb/s", payload = "500 B" }

[[flow]]
name = "modest"
transport = "udp"
class = "voice"
traffic = { kind = "cbr", rate = "400 kb/s", payload = "500 B" }
"""

seen = {"exchanged": 0, "overflowed": 0, "averages": 0}


@fw.discipline("round-robin")
class RoundRobin(fw.Discipline):
    """Flows take turns, and the flow with most waiting data loses its last packet."""

    fifo = False
    by_flow = True
    own_victim = "round-robin drops from the longest flow"

    def begin(self, rate, packets, size):
        self.last = None

    def victim(self, buffer):
        flows = [flow for flow in (0, 1) if buffer.flow_tally(flow)[0]]
        longest = max(flows, key=lambda flow: buffer.flow_tally(flow)[1])
        return buffer.back_of_flow(longest)

    def depart(self, now, buffer):
        self.last = buffer.flow_after(self.last)
        place = buffer.front_of_flow(self.last)
        packet = buffer.packet(place)
        if packet.flow != self.last or buffer.flows not in {1, 2}:
            raise ValueError("a packet of another flow")
        if (buffer.front_of_class("voice") is not None) != (buffer.class_tally("voice")[0] > 0):
            raise ValueError("classes do not agree")
        return place


def flows(results):
    return {row["group"]: row for row in results.flows.to_pylist()}


def test_a_round_robin_in_python_gives_the_modest_flow_all_that_it_asks_for():
    rows = flows(fw.load(SCENARIO).run())
    assert rows["modest"]["units_lost"] == 0
    assert rows["modest"]["delay_max_s"] < 0.05
    assert rows["greedy"]["units_lost"] > 0.6 * rows["greedy"]["units_sent"]
    fifo = flows(fw.load(SCENARIO.replace('"round-robin"', '"drop-tail"')).run())
    assert fifo["modest"]["units_lost"] > 0.3 * fifo["modest"]["units_sent"]


def test_no_victim_rule_goes_with_a_discipline_that_chooses():
    with pytest.raises(fw.ScenarioError, match="left out: round-robin drops from the longest flow"):
        fw.load(SCENARIO.replace("capacity", 'victim = "front", capacity'))


def test_a_discipline_hears_of_exchanges_and_of_overflow():
    @fw.discipline("listening")
    class Listening(fw.Discipline):
        """Drops each hundredth arrival."""

        def begin(self, rate, packets, size):
            self.arrived = 0

        def arrive(self, arrival):
            self.arrived += 1
            places = []
            place = arrival.buffer.back()
            while place is not None:
                places.append(place)
                place = arrival.buffer.previous(place)
            if len(places) != arrival.packets or (places and places[-1] != arrival.buffer.front()):
                raise ValueError("going from the back to the front does not meet each packet once")
            return "drop" if self.arrived % 100 == 0 else "admit"

        def exchanged(self, arrival, victim):
            seen["exchanged"] += arrival.size == victim.size > 500

        def overflowed(self):
            seen["overflowed"] += 1

        def average(self):
            seen["averages"] += 1
            return float(self.arrived)

    text = SCENARIO.replace('"round-robin"', '"listening", victim = "front"')
    results = fw.load(text + '[record]\nbin = "1 s"\nqueues = ["r1>r2"]\n').run()
    dropped = sum(row["units_lost"] for row in results.flows.to_pylist())
    assert seen["exchanged"] > 10
    assert abs(seen["exchanged"] + seen["overflowed"] - dropped) <= 30


def test_planning_while_runs_are_under_way_does_not_hang():
    @fw.source("planned")
    class Planned(fw.Source):
        """A unit every 10 ms."""

        def begin(self, start):
            self.at = start

        def next_unit(self):
            self.at += 0.01
            return fw.Unit(self.at, 300)

    scenario = fw.load(SCENARIO.replace('"cbr", rate = "400 kb/s", payload = "500 B"', '"planned"'))
    batch = _native.Batch([(scenario.native, seed) for seed in range(12)], 3)
    ended = 0
    for _ in batch:
        ended += len(scenario.plan()["flows"]) == 2
    assert ended == 12


def test_a_discipline_answers_that_an_arrival_is_to_be_marked_and_sees_whether_it_can_be():
    codepoints = set()

    @fw.discipline("marking")
    class Marking(fw.Discipline):
        """Marks every arrival, or drops it if it cannot be marked."""

        marks = True

        def arrive(self, arrival):
            codepoints.add(arrival.packet.ecn)
            return "mark"

    text = SCENARIO.replace("round-robin", "marking")
    results = fw.load(text).run()
    (link,) = (row for row in results.to_polars("links").to_dicts() if row["link"] == "r1>r2")
    # No transport of this scenario supports marks, so the discipline drops.
    assert codepoints == {"not-ect"}
    assert link["marked"] == 0
    assert link["dropped_early"] == link["arrivals"] > 0


def test_what_waits_is_marked_when_it_leaves():
    assert fw.Packet(ecn="ect1").ecn == "ect1"
    with pytest.raises(ValueError, match="no codepoint"):
        fw.Packet(ecn="yes")

    @fw.discipline("marking-at-departure")
    class AtDeparture(fw.Discipline):
        """Tries to mark the head."""

        def depart(self, now, buffer):
            place = buffer.front()
            if buffer.mark(place):
                raise ValueError("its transport does not understand marks")
            return place

    results = fw.load(SCENARIO.replace("round-robin", "marking-at-departure")).run()
    assert results.to_polars("links")["marked"].sum() == 0
