"""The Python code in `docs/extend.md` runs, block after block, and the examples in help work."""

import inspect
import re
import textwrap
from pathlib import Path

import pytest

import fairwave as fw
from fairwave.measuring import measures

PAGE = Path(__file__).resolve().parents[2] / "docs" / "extend.md"


@pytest.fixture(autouse=True)
def remove_custom_measures():
    """Removes custom measures, because they appear everywhere and other tests must not see them."""
    yield
    for name in list(measures.OWN):
        del measures.OWN[name], measures.STANDARD[name]


def test_every_block_of_the_page_runs(capsys):
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    assert len(blocks) >= 5
    names = {}
    for number, block in enumerate(blocks):
        exec(compile(block, f"{PAGE.name}, block {number + 1}", "exec"), names)
        assert "─" in capsys.readouterr().out or number == 0
    links = names["links"]
    bottleneck = links.filter(links["link"] == "r1>r2")
    assert 0 < bottleneck["mean_wait_s"][0] < 0.032
    assert names["waits"].frame["value"].null_count() == 0
    assert "deepest-wait.mine" in str(names["answer"])


@pytest.mark.parametrize("family", ["Controller", "Discipline", "Source", "LossModel", "LinkLaw"])
def test_the_example_that_help_shows_runs(family):
    doc = inspect.getdoc(getattr(fw, family))
    example = re.search(r"Example:\n(.*?)\n    A scenario names it `([^`]*)`", doc, re.DOTALL)
    assert example, doc
    names = {"fairwave": fw}
    exec(textwrap.dedent(example[1]), names)
    named = example[2]
    text = ['name = "example"', 'duration = "3 s"', "", "[topology]", 'preset = "dumbbell"']
    bottleneck = {"rate": '"2 Mb/s"', "delay": '"10 ms"'}
    flow = {"transport": '"tcp/sack"', "traffic": '"bulk"'}
    key, _, value = named.partition(" = ")
    if key == "traffic":
        flow = {"transport": '"udp"', "traffic": value}
    elif key in {"queue", "loss", "rate"}:
        bottleneck[key] = value
    else:
        flow["transport"] = value
    text.append("bottleneck = { " + ", ".join(f"{one} = {what}" for one, what in bottleneck.items()) + " }")
    text += ["[[flow]]", 'name = "flow"', *(f"{one} = {what}" for one, what in flow.items())]
    results = fw.load("\n".join(text)).run()
    (row,) = results.flows.to_pylist()
    assert row["payload_received"] > 0
    assert family != "LossModel" or 0 < results.measured("packet-loss").interval().mean < 20


def test_help_of_the_package_tells_of_laws():
    assert "@fw.controller" in fw.__doc__
    assert "self.random" in inspect.getdoc(__import__("fairwave.laws", fromlist=["laws"]))
    for name in (
        "Path",
        "RateSample",
        "Window",
        "Arrival",
        "Buffer",
        "Packet",
        "Unit",
        "Random",
        "parameter",
        "measure",
    ):
        assert inspect.getdoc(getattr(fw, name)), name
