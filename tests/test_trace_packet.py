"""`fairwave trace-packet`: the path of one packet, by source lines that exist."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import fairwave
from fairwave.cli.app import app
from fairwave.packet_path import trace_packet

ROOT = Path(__file__).parents[1]
FULL = """
name = "full"
duration = "3 s"
link = [
    { from = "a", to = "r", rate = "10 Mb/s", delay = "2 ms", duplex = true },
    { from = "r", to = "b", rate = "2 Mb/s", delay = "10 ms", duplex = true,
      queue = { discipline = "red", capacity = { packets = 400 } } },
]
flow = [
    { name = "call", count = 2, from = "a", to = "b", transport = "udp", traffic = "voice" },
    { name = "data", from = "a", to = "b", transport = "tcp/cubic", traffic = "bulk" },
]
"""


@pytest.fixture
def full(tmp_path: Path) -> str:
    file = tmp_path / "full.toml"
    file.write_text(FULL)
    return str(file)


def line(source: str) -> str:
    """The text of a source line."""
    file, number = source.rsplit(":", 1)
    return (ROOT / file).read_text().splitlines()[int(number) - 1]


def test_a_packet_goes_from_sender_to_receiver_by_lines_that_exist(full: str) -> None:
    path = trace_packet(fairwave.load(full), flow="call", packet=3)
    assert (path.flow, path.packet, path.bytes) == ("call[0]", 3, 200)
    link = ["arrives", "admitted", "transmitted", "leaves"]
    assert [step.step for step in path.steps] == ["sent", *link, *link, "delivered"]
    assert [step.place for step in path.steps] == ["a", *["a>r"] * 4, *["r>b"] * 4, "b"]
    assert path.steps[0].source.startswith("crates/fairwave-transport/src/udp.rs:")
    assert "out.send(" in line(path.steps[0].source)
    for step in path.steps:
        assert "self.probe." in line(step.simulator)
        assert line(step.source).strip()


def test_by_default_it_is_a_packet_that_the_network_does_not_deliver(full: str) -> None:
    result = CliRunner().invoke(app, ["trace-packet", full, "--json"])
    assert result.exit_code == 0, result.output
    path = json.loads(result.stdout)
    last = path["steps"][-1]
    assert last["step"] == "discarded"
    assert path["chosen"] == "the flow's first packet that a queue discards"
    assert last["source"].startswith("crates/fairwave-network/src/queue/red.rs:")
    assert "fn arrive(" in line(last["source"])
    table = CliRunner().invoke(app, ["trace-packet", full], env={"COLUMNS": "250"}).stdout
    assert "discarded" in table
    assert last["source"] in table


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--flow", "cal"], "did you mean `call[0]`?"),
        (["--flow", "call", "--packet", "100000"], "write a number from 1 to"),
        (["--packet", "0"], "--packet"),
        (
            ["--flow", "call", "--set", "flow.call.start=2.99999 s"],
            "no packet was sent by `call[0]`; lengthen",
        ),
    ],
)
def test_errors_name_the_place_and_what_to_write(full: str, options: list[str], words: str) -> None:
    result = CliRunner().invoke(app, ["trace-packet", full, *options])
    assert result.exit_code != 0
    assert words in f"{result.output} {result.exception}"
