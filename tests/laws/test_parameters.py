"""Parameters of custom laws: read, checked, listed and explained like those of built-in laws."""

import json
from typing import ClassVar, Literal

import pytest

import fairwave as fw
from fairwave import reference
from fairwave._native import Scenario


@fw.loss_model("every-kind")
class EveryKind(fw.LossModel):
    """Loses nothing, and has a parameter of each kind. The second sentence is not listed."""

    share: float = fw.parameter(0.5, least=0, most=1, doc="A share.")
    count: int = fw.parameter(3, above=0, doc="A count.")
    loudly: bool = False
    how: Literal["soft", "hard"] = "soft"
    word: str = "a"
    wait: fw.Duration = fw.parameter(0.02, above=0, below=10, doc="A time.")
    speed: fw.Rate = fw.parameter(1e6, above=0)
    room: fw.Size = fw.parameter(1500, least=1)
    needed_time: fw.Duration = fw.parameter(doc="A time that must be given.", example=1.5)
    perhaps: float | None = None
    times: list[fw.Duration] = fw.parameter([0.001, 2.0], above=0)
    seen: ClassVar[dict] = {}

    def begin(self):
        type(self).seen.update(vars(self))

    def lost(self, now, packet):
        return False


FRAME = """
name = "parameters"
duration = "1 s"

[topology]
preset = "dumbbell"
bottleneck = {{ rate = "1 Mb/s", delay = "10 ms", loss = {loss} }}

[[flow]]
name = "voice"
transport = "udp"
traffic = "voice"
"""


def scenario(loss):
    return fw.load(FRAME.format(loss=loss))


def test_a_law_has_its_values_in_base_units_and_what_is_left_out_by_default():
    scenario(
        '{ model = "every-kind", needed-time = "20 ms", speed = "64 kb/s", room = "2 kB", how = "hard", count = 7, '
        'times = ["3 ms"] }'
    ).run()
    seen = {key: value for key, value in EveryKind.seen.items() if not key.startswith("_")}
    assert seen == {
        "share": 0.5, "count": 7, "loudly": False, "how": "hard", "word": "a", "wait": 0.02, "speed": 64000.0,
        "room": 2000, "needed_time": 0.02, "perhaps": None, "times": [0.003],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("given", "place", "said"),
    [
        ('needed-time = "1 s", share = 2', "loss.share", ("`share` is 2", "from 0 to 1", "share = 0.5")),
        ('needed-time = "1 s", share = "much"', "loss.share", ('"much"', "a number")),
        ('needed-time = "1 s", count = 0', "loss.count", ("above 0", "count = 3")),
        ('needed-time = "1 s", count = 1.5', "loss.count", ("1.5",)),
        ('needed-time = "1 s", wait = "0 s"', "loss.wait", ("above 0 s and below 10 s", 'wait = "20 ms"')),
        ('needed-time = "1 s", wait = 3', "loss.wait", ()),
        ('needed-time = "1 s", wait = "3 mb"', "loss.wait", ("unknown unit",)),
        ('needed-time = "1 s", how = "hrad"', "loss.how", ("did you mean `hard`?",)),
        ('needed-time = "1 s", loudly = "yes"', "loss.loudly", ("`true` or `false`",)),
        ('needed-time = "1 s", times = ["0 s"]', "loss.times", ("above 0",)),
        ('needed-time = "1 s", tims = ["1 s"]', "unknown key `tims`", ("did you mean `times`?",)),
        ("share = 0.5", "lacks the key `needed-time`", ("needed-time",)),
    ],
)
def test_a_mistake_is_told_where_it_stands_with_what_is_allowed_and_what_to_write(given, place, said):
    with pytest.raises(fw.ScenarioError) as refused:
        scenario(f'{{ model = "every-kind", {given} }}')
    text = str(refused.value)
    assert "-:7:" in text, text  # the line
    for part in (place, *said):
        assert part in text, text


def test_a_name_that_is_misspelled_is_told_like_that_of_a_built_in_law():
    with pytest.raises(fw.ScenarioError, match="did you mean `every-kind`"):
        scenario('{ model = "evry-kind", needed-time = "1 s" }')


def test_the_schema_and_the_list_know_it():
    schema = json.dumps(json.loads(Scenario.schema()))
    assert '"const": "every-kind"' in schema
    assert '"A time that must be given."' in schema
    listed = dict(reference.listed("losses"))
    assert listed["every-kind"] == "Loses nothing, and has a parameter of each kind."
    assert "every-kind" in dict(fw.names()["losses"])


def test_it_is_explained_with_parameters_and_an_example_that_runs():
    (entry,) = reference.entries("every-kind")
    rows = {key: (value, default, about) for key, value, default, about in entry.parameters}
    assert rows["wait"] == ("time", '"20 ms"', "A time.")
    assert rows["share"][1:] == ("0.5", "A share.")
    assert rows["needed-time"][:2] == ("time", "needed")
    assert rows["how"][0] == "soft | hard"
    assert rows["times"][0] == "list of time"
    assert "test_parameters.py" in entry.notes[0]
    assert fw.load(entry.example).with_(duration="1 s").run().flows.num_rows == 1


def test_a_scenario_is_written_out_as_it_was_read_and_what_means_the_same_has_the_same_hash():
    first = scenario('{ model = "every-kind", needed-time = "1500 ms" }')
    second = scenario('{ model = "every-kind", needed-time = "1.5 s", share = 0.5, wait = "20 ms" }')
    assert first == second
    assert fw.load(first.to_toml()) == first
    assert first != scenario('{ model = "every-kind", needed-time = "1.5 s", share = 0.25 }')


def test_a_test_makes_one_with_its_parameters_by_name():
    law = EveryKind(needed_time=1.0, share=0.25)
    assert (law.share, law.wait, law.times) == (0.25, 0.02, [0.001, 2.0])
    assert EveryKind.wait == 0.02
    with pytest.raises(TypeError, match="needs the parameter `needed_time`"):
        EveryKind()
    with pytest.raises(TypeError, match="no parameter `shar`; it has share"):
        EveryKind(needed_time=1.0, shar=1)
    with pytest.raises(AttributeError, match=r"fairwave\.Random"):
        law.random  # noqa: B018
    law.random = fw.Random(1, "test")
    assert 0 <= law.random.uniform() < 1


def test_parameters_that_do_not_go_together_are_refused_by_check():
    @fw.loss_model("in-order")
    class InOrder(fw.LossModel):
        """Loses nothing."""

        low: fw.Duration = 0.01
        high: fw.Duration = 0.02

        def check(self):
            if self.high <= self.low:
                raise fw.Refusal("high", f"{self.high * 1e3:g} ms", "longer than `low`", 'high = "20 ms"')

        def lost(self, now, packet):
            return False

    scenario('"in-order"')
    with pytest.raises(fw.ScenarioError, match="longer than `low`") as refused:
        scenario('{ model = "in-order", high = "5 ms" }')
    assert "loss.high" in str(refused.value)
    assert 'write for example `high = "20 ms"`' in str(refused.value)


def test_parameters_are_inherited_and_may_be_redefined():
    class Base(fw.LossModel):
        """Loses all, or nothing."""

        all_of_it: bool = False
        unused: int = 1

        def lost(self, now, packet):
            return self.all_of_it

    @fw.loss_model("derived-loss")
    class Derived(Base):
        """Loses all."""

        all_of_it: bool = True

    assert Derived().all_of_it
    assert not Base().all_of_it
    (entry,) = reference.entries("derived-loss")
    assert [row[0] for row in entry.parameters] == ["all-of-it", "unused"]
    assert scenario('"derived-loss"').run().measured("loss").interval().mean == 100


@pytest.mark.parametrize(
    ("annotation", "said"),
    [
        (dict, "is no type of a parameter"),
        (float | str, "is no type of a parameter"),
        (list[dict], "is no type"),
    ],
)
def test_what_a_scenario_cannot_write_is_no_parameter(annotation, said):
    law = type(
        "Odd",
        (fw.LossModel,),
        {"__annotations__": {"odd": annotation}, "lost": lambda self, now, packet: False},
    )
    with pytest.raises(TypeError, match=said):
        fw.loss_model("odd-loss")(law)


@pytest.mark.parametrize(
    ("decorate", "base", "key", "body"),
    [
        (fw.controller, fw.Controller, "recovery", {"on_ack": lambda s, p, w: None, "on_loss": lambda s, p, w: None, "on_timeout": lambda s, p, w: None}),  # noqa: E501
        (fw.discipline, fw.Discipline, "capacity", {"arrive": lambda s, a: None}),
        (fw.source, fw.Source, "kind", {"next_unit": lambda s: None}),
        (fw.loss_model, fw.LossModel, "model", {"lost": lambda s, n, p: False}),
        (fw.link_law, fw.LinkLaw, "law", dict.fromkeys(("end_of", "capacity", "nominal"), lambda *_: 1.0)),
    ],
)  # fmt: skip
def test_a_key_that_has_a_meaning_already_is_no_parameter(decorate, base, key, body):
    law = type("Taken", (base,), {"__annotations__": {key: float}, key: 1.0, "__doc__": "Odd.", **body})
    with pytest.raises(ValueError, match="has a meaning already"):
        decorate("taken-key")(law)


def test_a_number_from_0_to_1_may_be_written_in_percent():
    written = scenario('{ model = "every-kind", needed-time = "1 s", share = "25 %" }').to_dict()
    assert written["topology"]["bottleneck"]["loss"]["share"] == 0.25


@pytest.mark.parametrize(
    ("bounds", "said"),
    [
        ({"below": 1}, "below 1"),
        ({"above": 1, "most": 2}, "above 1 and at most 2"),
        ({"least": 2}, "at least 2"),
    ],
)
def test_a_default_that_its_own_bounds_refuse_is_told_with_one_that_they_accept(bounds, said):
    with pytest.raises(
        TypeError, match=f"its default 1.0 must be {said}; write for example default="
    ) as refused:

        @fw.loss_model("its-own-enemy")
        class Enemy(fw.LossModel):
            """Loses nothing."""

            gain: float = fw.parameter(1.0, **bounds)

            def lost(self, now, packet):
                return False

    remedy = float(str(refused.value).rpartition("=")[2])

    @fw.loss_model("its-own-friend")
    class Friend(fw.LossModel):
        """Loses nothing."""

        gain: float = fw.parameter(remedy, **bounds)

        def lost(self, now, packet):
            return False

    scenario('"its-own-friend"')
