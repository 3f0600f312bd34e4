"""Runs of custom laws: the same bytes on any threads, separate instances, and kept runs that depend on their code."""

import threading

import pytest

import fairwave as fw
from fairwave.runs.keeping import Folder
from fairwave.runs.replication import replicate

SCENARIO = """
name = "runs"
duration = "4 s"

[topology]
preset = "dumbbell"

[topology.bottleneck]
rate = "2 Mb/s"
delay = "10 ms"
loss = "counted"
queue = { discipline = "counting", capacity = { packets = 20 } }

[[flow]]
name = "files"
count = 2
transport = "tcp/sack"
traffic = "bulk"

[[flow]]
name = "units"
transport = "udp"
traffic = "random-units"
"""

made = []


@fw.loss_model("counted")
class Counted(fw.LossModel):
    """Loses a packet in a hundred, by its own random numbers."""

    def begin(self):
        made.append((threading.get_ident(), self))
        self.seen = 0

    def lost(self, now, packet):
        self.seen += 1
        return self.random.chance(0.01)


@fw.discipline("counting")
class Counting(fw.Discipline):
    """Serves a random packet, and drops one now and then."""

    fifo = False

    def arrive(self, arrival):
        if arrival.buffer.packets != arrival.packets or len(arrival.buffer) != arrival.packets:
            raise ValueError("the buffer does not agree with the arrival")
        return arrival.buffer.pick(self.random.below(arrival.packets)) if self.random.chance(0.01) else None

    def depart(self, now, buffer):
        place = buffer.pick(self.random.below(len(buffer)))
        if buffer.packet(place) is None or not 0 <= buffer.arrival_time(place) <= now:
            raise ValueError("a packet that waits has come")
        return place


@fw.source("random-units")
class RandomUnits(fw.Source):
    """Units of random sizes at random times."""

    def begin(self, start):
        self.at = start

    def next_unit(self):
        self.at += self.random.exponential(0.02)
        return fw.Unit(self.at, 50 + self.random.below(900))


def test_the_same_seed_leaves_the_same_bytes_on_any_number_of_threads_and_another_seed_others():
    scenario = fw.load(SCENARIO)
    each = [
        scenario.replicate(5, threads=threads).tables["work"]["digest"].to_pylist() for threads in (1, 2, 4)
    ]
    assert each[0] == each[1] == each[2]
    assert len(set(each[0])) == 5


def test_each_direction_of_each_run_has_an_instance_of_its_own():
    made.clear()
    fw.load(SCENARIO).replicate(3, threads=2)
    begun = [law for _, law in made if law.seen]
    assert len(begun) == 6  # two directions, three runs
    assert len({id(law) for law in begun}) == 6
    assert threading.get_ident() not in {thread for thread, _ in made}


def test_runs_that_are_left_alone_end():
    from fairwave import _native

    native = fw.load(SCENARIO).with_(duration="2000 s").native
    batch = _native.Batch([(native, seed) for seed in range(4)], 2)
    batch.cancel()
    assert list(batch) == []


def test_a_bulk_source_is_active_in_its_intervals():
    @fw.source("bursts")
    class Bursts(fw.Source):
        """A second on, a second off."""

        bulk = True

        def begin(self, start):
            self.at = start

        def next_activity(self):
            begin, self.at = self.at, self.at + 2.0
            return begin, begin + 1.0

    text = SCENARIO.replace('"random-units"', '"bursts"').replace(
        'transport = "udp"', 'transport = { name = "tcp/sack", delayed-ack = false }'
    )
    text += '[record]\nbin = "1 s"\ngoodput = ["units"]\n'
    series = (
        fw.load(text).with_overrides({"flow.files.count": 0, "topology.bottleneck.loss": "none"}).run().series
    )
    goodput = [row["value"] for row in series.to_pylist() if row["kind"] == "goodput_bps"]
    assert goodput[0] > 1e6
    assert goodput[1] < 0.2 * goodput[0]
    assert goodput[2] > 1e6


def test_a_source_that_is_a_call_is_rated():
    @fw.source("my-call")
    class MyCall(fw.Source):
        """G.711, always on."""

        def begin(self, start):
            self.at = start

        def next_unit(self):
            self.at += 0.02
            return fw.Unit(self.at, 160)

        def units_per_second(self):
            return 50.0

        def call(self):
            return "g711", 0.02

    text = SCENARIO.replace('"random-units"', '"my-call"')
    mos = fw.load(text).with_overrides({"flow.files.count": 0}).run().measured("mos", "units").interval().mean
    assert 3.5 < mos < 4.5


def test_a_discipline_that_wants_to_be_woken_is():
    woken = []

    @fw.discipline("impatient")
    class Impatient(fw.Discipline):
        """Drops packets that have waited for 20 ms."""

        def begin(self, rate, packets, size):
            assert (rate, packets, size) == (2e6, 20, None)
            self.due = None

        def arrive(self, arrival):
            if self.due is None:
                self.due = arrival.now + 0.02

        def deadline(self):
            return self.due

        def on_timer(self, now, buffer):
            woken.append(now)
            while (place := buffer.front()) is not None and buffer.arrival_time(place) <= now - 0.02:
                buffer.drop(place)
            front = buffer.front()
            self.due = None if front is None else buffer.arrival_time(front) + 0.02

    text = SCENARIO.replace('"counting"', '"impatient"')
    results = fw.load(text).run()
    assert len(woken) > 20
    assert sorted(woken) == woken
    (wait,) = [row["mean_wait_s"] for row in results.links.to_pylist() if row["link"] == "r1>r2"]
    assert wait < 0.02


def test_runs_are_kept_by_the_code_of_their_laws(tmp_path):
    def law(gain, where):
        code = (
            "import fairwave as fw\n@fw.loss_model('kept-by-code')\nclass L(fw.LossModel):\n    '''Loses some.'''\n"
            f"    def lost(self, now, packet):\n        return self.random.chance({gain})\n"
        )
        where.write_text(code)
        fw.load_laws(where)

    file = tmp_path / "law.py"
    calls = []

    def counting(jobs, threads, tell):
        from fairwave.runs.replication import native

        calls.append(len(jobs))
        return native(jobs, threads, tell)

    def run():
        scenario = fw.load(SCENARIO.replace('"counted"', '"kept-by-code"'))
        return replicate([(scenario.native, 1)], keep=Folder(tmp_path / "kept"), runner=counting)

    law(0.0, file)
    first = run()
    run()
    law(0.0, file)
    run()
    law(0.5, file)
    second = run()
    assert calls == [1, 1]
    assert not first[0]["flows"].to_arrow().equals(second[0]["flows"].to_arrow())


def test_random_numbers_are_those_of_the_seed_and_the_name_and_have_their_distributions():
    one, same, other = fw.Random(1, "a"), fw.Random(1, "a"), fw.Random(1, "b")
    assert one.uniform() == same.uniform() != other.uniform()
    n = 20_000

    def mean(draw):
        return sum(draw() for _ in range(n)) / n

    assert mean(lambda: one.exponential(2.0)) == pytest.approx(2.0, rel=0.05)
    assert mean(lambda: one.pareto(3.0, 2.0)) == pytest.approx(2.0, rel=0.05)
    assert mean(lambda: one.geometric(0.25)) == pytest.approx(3.0, rel=0.05)
    assert mean(one.normal) == pytest.approx(0.0, abs=0.03)
    assert mean(lambda: one.chance(0.2)) == pytest.approx(0.2, abs=0.02)
    assert {one.below(3) for _ in range(100)} == {0, 1, 2}
    for wrong in (lambda: one.pareto(1.0, 1.0), lambda: one.geometric(0.0)):
        with pytest.raises(ValueError, match="must be above"):
            wrong()


def test_paths_are_what_the_core_has_by_default():
    path = fw.Path()
    assert (path.rtt, path.min_rtt, path.payload, path.transmissions) == (0.0, float("inf"), 1000, 1)
    path = fw.Path(rtt=0.125, min_rtt=0.1, max_rtt=0.2, flight=19)
    assert path.queueing_share() == 0.25
    assert path.limited(fw.Window(20.9, 10.0))
    assert not path.limited(fw.Window(19.9, 10.0))
    with pytest.raises(ValueError, match="finite"):
        fw.Path(now=float("nan"))
