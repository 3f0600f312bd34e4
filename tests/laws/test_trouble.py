"""Custom laws that fail: the run ends with law, method, simulated time and traceback, and nothing hangs."""

import math
import os
import signal
import subprocess
import sys
import time

import pytest

import fairwave as fw

FRAME = """
name = "trouble"
duration = "5 s"

[topology]
preset = "dumbbell"
bottleneck = { rate = "1 Mb/s", delay = "10 ms", queue = { discipline = "drop-tail", capacity = { packets = 10 } } }

[[flow]]
name = "files"
transport = "tcp/sack"
traffic = "bulk"
"""


def run(**changes):
    return fw.load(FRAME).with_(**changes).run()


def controller(name, **methods):
    """A controller with some replaced methods."""

    def on_ack(self, path, window):
        window.congestion += 1

    def on_loss(self, path, window):
        window.congestion = window.threshold = max(2.0, path.in_use / 2)

    body = {"on_ack": on_ack, "on_loss": on_loss, "on_timeout": on_loss, "__doc__": "In trouble.", **methods}
    return fw.controller(name)(type("Troubled", (fw.Controller,), body))


def law_of(name, **methods):
    controller(name, **methods)
    return {"flow__files__transport": f"tcp/{name}"}


def test_what_a_law_raises_ends_the_run_with_law_method_time_and_traceback():
    def on_loss(self, path, window):
        return 1 / (path.in_use - path.in_use)

    with pytest.raises(
        fw.RunError, match=r"^trouble, seed 1: law `tcp/raises`, on_loss at 0\.\d+ s: ZeroDivisionError"
    ) as error:
        run(**law_of("raises", on_loss=on_loss))
    cause = error.value.__cause__
    assert isinstance(cause, ZeroDivisionError)
    frames = [frame.name for frame in __import__("traceback").extract_tb(cause.__traceback__)]
    assert frames == ["on_loss"]


def test_the_first_trouble_is_told_and_no_method_is_called_after_it():
    calls = []

    def on_ack(self, path, window):
        calls.append(path.now)
        raise ValueError(f"number {len(calls)}")

    with pytest.raises(fw.RunError, match="number 1"):
        run(**law_of("once", on_ack=on_ack))
    assert len(calls) == 1


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("congestion", math.nan),
        ("congestion", math.inf),
        ("congestion", 0.5),
        ("threshold", math.nan),
        ("threshold", -1.0),
    ],
)
def test_a_window_that_is_none_is_refused_with_place_and_value(field, value):
    def on_ack(self, path, window):
        setattr(window, field, value)

    with pytest.raises(fw.RunError) as error:
        run(**law_of("no-window", on_ack=on_ack))
    assert "law `tcp/no-window`, on_ack at 0." in str(error.value)
    shown = {math.inf: "inf", 0.5: "0.5", -1.0: "-1"}.get(value, "NaN")
    assert f"`window.{field}` is {shown}, but must be a finite number" in str(error.value)
    assert "write for example" in str(error.value)


@pytest.mark.parametrize(
    ("methods", "said"),
    [
        ({"on_loss": lambda self, path, window: "maybe"}, '"congestion", "random" or nothing'),
        ({"on_loss": lambda self, path, window: window.nothing}, "AttributeError"),
        ({"on_ack": lambda self, path, window: setattr(window, "congestion", "wide")}, "TypeError"),
        ({"begin": lambda self, preset: 1 / 0}, "begin: ZeroDivisionError"),
        ({"__init__": lambda self: 1 / 0}, "__init__: ZeroDivisionError"),
    ],
)
def test_other_trouble_of_a_controller_is_told(methods, said):
    with pytest.raises(fw.RunError) as error:
        run(**law_of("other-trouble", **methods))
    assert said in str(error.value)


def source(name, next_unit):
    fw.source(name)(
        type("Troubled", (fw.Source,), {"next_unit": next_unit, "__doc__": "In trouble.", "at": 0.0})
    )
    return {"flow__files__transport": "udp", "flow__files__traffic": name}


def stands_still(self):
    self.at = min(1.0, self.at + 0.02)
    return fw.Unit(self.at, 100)


@pytest.mark.parametrize(
    ("next_unit", "said"),
    [
        (stands_still, "no time passes"),
        (lambda self: fw.Unit(0.0, 0), "`payload` is 0"),
        (lambda self: fw.Unit(math.nan, 100), "`created` is NaN"),
        (lambda self: fw.Unit(-1.0, 100), "`created` is -1"),
        (lambda self: 100, "must answer a fairwave.Unit"),
        (lambda self: self.missing, "AttributeError"),
    ],
)
def test_trouble_of_a_source_is_told(next_unit, said):
    with pytest.raises((fw.RunError, fw.ScenarioError)) as error:
        run(**source("troubled-source", next_unit))
    assert "law `troubled-source`, next_unit" in str(error.value)
    assert said in str(error.value)


def test_units_come_in_order():
    def next_unit(self):
        self.at = 1.0 if self.at == 0.0 else 0.5
        return fw.Unit(self.at, 100)

    with pytest.raises(fw.RunError, match="comes after one of 1 s"):
        run(**source("backwards", next_unit))


def discipline(name, **methods):
    fw.discipline(name)(type("Troubled", (fw.Discipline,), {"__doc__": "In trouble.", **methods}))
    return {"topology__bottleneck__queue": {"discipline": name, "capacity": {"packets": 10}}}


def stale(self, now, buffer):
    """Returns the position of a packet that it has dropped."""
    place = buffer.front()
    buffer.drop(place)
    return place


def too_soon(self, arrival):
    if arrival.packets:
        arrival.buffer.drop(arrival.buffer.front())


kept = []


@pytest.mark.parametrize(
    ("methods", "said"),
    [
        ({"arrive": lambda self, arrival: "maybe"}, '"admit" or nothing, "drop", "mark", or a place'),
        ({"arrive": too_soon}, "in `depart` and `on_timer` only"),
        ({"depart": stale}, "at which no packet waits"),
        ({"depart": lambda self, now, buffer: 3}, "a place in the buffer"),
        ({"depart": lambda self, now, buffer: self.random.uniform() and None}, ""),
        ({"begin": lambda self, *_: self.random.uniform(), "arrive": lambda self, a: None}, "before the first packet"),
        ({"deadline": lambda self: "soon", "arrive": lambda self, a: None}, "TypeError"),
        ({"overflowed": lambda self: 1 / 0, "arrive": lambda self, a: None}, "overflowed: ZeroDivisionError"),
    ],
)  # fmt: skip
def test_trouble_of_a_discipline_is_told_and_loses_no_packet(methods, said):
    changes = discipline("troubled-queue", **methods)
    if not said:
        run(**changes)
        return
    with pytest.raises(fw.RunError) as error:
        run(**changes)
    assert said in str(error.value)
    assert "is violated" not in str(error.value)


def test_a_buffer_that_was_kept_cannot_be_asked_later():
    def arrive(self, arrival):
        kept.append(arrival.buffer)

    run(**discipline("keeper", arrive=arrive))
    with pytest.raises(ValueError, match="only within the method"):
        kept[0].packets  # noqa: B018


def test_trouble_of_loss_models_and_links_is_told():
    fw.loss_model("troubled-loss")(
        type("L", (fw.LossModel,), {"lost": lambda self, now, packet: "yes", "__doc__": "L."})
    )
    with pytest.raises(fw.RunError, match=r"law `troubled-loss`, lost at .* s: TypeError"):
        run(topology__bottleneck__loss="troubled-loss")
    body = {"capacity": lambda self, a, b: 1.0, "nominal": lambda self: 1e6, "__doc__": "L."}
    fw.link_law("early")(type("L", (fw.LinkLaw,), {"end_of": lambda self, start, size: start - 1, **body}))
    with pytest.raises(fw.RunError, match=r"law `early`, end_of at .* s: .*"):
        run(topology__bottleneck__rate={"law": "early"})
    fw.link_law("no-rate")(
        type("L", (fw.LinkLaw,), {**body, "end_of": lambda self, s, z: s, "nominal": lambda self: 0})
    )
    with pytest.raises(fw.ScenarioError, match="law `no-rate`, nominal: it answered 0"):
        run(topology__bottleneck__rate={"law": "no-rate"})


@pytest.mark.parametrize(
    ("decorate", "law", "said"),
    [
        (fw.controller("reno"), type("C", (fw.Controller,), {}), "lacks on_ack, on_loss, on_timeout"),
        (fw.discipline("bare"), type("C", (fw.Discipline,), {}), "lacks arrive or depart"),
        (fw.source("bare"), type("C", (fw.Source,), {}), "lacks next_unit"),
        (fw.source("bare"), type("C", (fw.Source,), {"bulk": True}), "lacks next_activity"),
        (fw.controller("bare"), fw.Source, "derived from fairwave.Controller"),
        (fw.loss_model("bare"), type("C", (fw.LossModel,), {"lost": lambda self: True}), "is called with"),
        (fw.discipline("bare"), type("C", (fw.Discipline,), {"arrive": lambda s, a: None, "on_tmer": lambda s, n, b: None}), "did you mean `on_timer`?"),  # noqa: E501
        (fw.discipline("bare"), type("C", (fw.Discipline,), {"arrive": lambda s, a: None, "victim": lambda s, b: None}), "own_victim"),  # noqa: E501
    ],
)  # fmt: skip
def test_a_class_that_cannot_be_a_law_is_refused_at_once(decorate, law, said):
    with pytest.raises(TypeError) as error:
        decorate(law)
    assert said in str(error.value)


@pytest.mark.parametrize("name", ["", "My-Law", "my_law", "tcp/udp x", "-a", "a--b", "a.b"])
def test_a_name_that_a_scenario_could_not_write_is_refused(name):
    with pytest.raises(ValueError, match="is no name"):
        controller(name)


def test_a_built_in_law_cannot_be_replaced_but_ones_own_can():
    with pytest.raises(ValueError, match="there is a transport named `tcp/reno` already"):
        controller("reno")
    with pytest.raises(ValueError, match="there is a queue discipline named `red` already"):
        discipline("red", arrive=lambda self, arrival: None)
    with pytest.raises(ValueError, match="there is a measure named `mos` already"):
        fw.measure("mos")
    wide = law_of("wide-open", on_ack=lambda self, path, window: setattr(window, "congestion", 30.0))
    scenario = fw.load(FRAME).with_(**wide)
    before, first = scenario.hash, scenario.run()
    law_of("wide-open", on_ack=lambda self, path, window: setattr(window, "congestion", 1.0))
    second = scenario.run()
    assert first.measured("goodput").interval().mean > 1.5 * second.measured("goodput").interval().mean
    assert scenario.hash != before


STUCK = """
import sys, fairwave as fw

@fw.controller("stuck")
class Stuck(fw.Controller):
    '''{what}'''

    def on_ack(self, path, window):
        {loop}

    def on_loss(self, path, window):
        pass

    def on_timeout(self, path, window):
        pass

print("begun", flush=True)
fw.load('''{scenario}''').with_(duration="1000000 s", flow__files__transport="tcp/stuck").run()
"""


@pytest.mark.parametrize(
    "loop", ["window.congestion = 10.0", "__import__('time').sleep(0.01)", "while True: pass"]
)
def test_ctrl_c_ends_a_run_soon(loop, tmp_path):
    file = tmp_path / "stuck.py"
    file.write_text(STUCK.format(what="Takes for ever.", loop=loop, scenario=FRAME))
    process = subprocess.Popen(
        [sys.executable, file], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ}
    )
    assert process.stdout.readline() == "begun\n"
    time.sleep(0.4)
    begun = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=20)
    assert time.monotonic() - begun < 4
    assert "KeyboardInterrupt" in said
    assert process.returncode in {1, 130, -signal.SIGINT}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.parametrize("threads", [1, 2])
def test_a_law_that_forks_hangs_neither_the_run_nor_its_copy(tmp_path, threads):
    file = tmp_path / "forks.py"
    file.write_text(
        "import os\n"
        "import fairwave as fw\n"
        f"FRAME = {FRAME!r}\n"
        "@fw.controller('forks')\n"
        "class Forks(fw.Controller):\n"
        "    'Forks once.'\n"
        "    child = None\n"
        "    def on_ack(self, path, window):\n"
        "        window.congestion += 1\n"
        "        if Forks.child is None:\n"
        "            Forks.child = os.fork()\n"
        "    def on_loss(self, path, window):\n"
        "        window.congestion = window.threshold = 2.0\n"
        "    on_timeout = on_loss\n"
        "frame = fw.load(FRAME).with_(flow__files__transport='tcp/forks')\n"
        f"frame.replicate(2, threads={threads})\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(Forks.child, 0)[1]))\n"
    )
    done = subprocess.run([sys.executable, file], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == "70\n", done.stderr
    assert "a law has forked" in done.stderr
    assert done.returncode == 0
