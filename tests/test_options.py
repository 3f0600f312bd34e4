"""Options: each has an effect or is refused, and messages name only options that the command has."""

import json
import re
import shlex
from pathlib import Path

import pytest
from typer.main import get_command

CALLS = """
name = "calls"
duration = "4 s"
topology = { preset = "dumbbell", bottleneck = { rate = "1 Mb/s", delay = "20 ms" } }

[[flow]]
name = "voice"
count = 2
transport = "udp"
traffic = "voice"
"""

TEAM = """
name = "team"
duration = "4 s"

[[call]]
name = "team"
participants = ["p0", "p1"]
server = { node = "sfu" }

[[link]]
from = "p{i}"
to = "sfu"
count = 2
rate = "10 Mb/s"
delay = "10 ms"
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working folder with scenarios."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "calls.toml").write_text(CALLS, encoding="utf-8")
    (tmp_path / "team.toml").write_text(TEAM, encoding="utf-8")
    return tmp_path


def options():
    """Options of each command."""
    from fairwave.cli.app import app

    found = {}
    for name, command in get_command(app).commands.items():
        for inner, one in getattr(command, "commands", {"": command}).items():
            names = {option for each in one.params for option in (*each.opts, *each.secondary_opts)}
            found[f"{name} {inner}".strip()] = {one for one in names if one.startswith("-")} | {
                "--help",
                "-h",
            }
    return found


def test_statistics_are_written_for_the_sessions_of_a_call(fairwave, folder):
    status, _, err = fairwave("run", "team.toml", "--stats", "stats")
    assert status == 0, err
    names = {one.name for one in Path("stats").iterdir()}
    assert {"team-p0-to-sfu-0.json", "team-p0-to-p1-0.json", "webrtc-internals.json"} <= names
    samples = json.loads(Path("stats/team-p0-to-p1-0.json").read_text(encoding="utf-8"))
    assert samples


def test_measures_are_shown_for_each_pair_of_a_call(fairwave, folder):
    status, out, err = fairwave("run", "team.toml", "--measures", "video-mos,frozen")
    assert status == 0, err
    assert re.search(r"p0 at p1 +\d", out), out
    assert re.search(r"p1 to the server +\S", out), out
    status, out, err = fairwave("run", "team.toml", "--measures", "video-mos.team-p0-to-p1", "--json")
    assert status == 0, err
    rows = json.loads(out)["summary"]
    assert [(one["group"], one["measure"]) for one in rows if one["measure"] == "video-mos"] == [
        ("team-p0-to-p1", "video-mos")
    ]


@pytest.mark.parametrize(
    "words",
    [
        "run calls.toml --no-page --out out",
        "compare calls.toml --vary flow.voice.count=1,2 -n 2 --no-page --out out",
    ],
)
def test_without_a_page_the_folder_has_the_scenario_and_tables(fairwave, folder, words):
    status, _, err = fairwave(*words.split())
    assert status == 0, err
    assert not list(Path("out").glob("*.html"))
    assert (Path("out") / "flows.csv").is_file()
    assert fairwave("check", "out/scenario.toml")[0] == 0


@pytest.fixture
def saved(fairwave, folder):
    """Two folders with results."""
    for name, count in (("one", 1), ("two", 2)):
        words = f"run calls.toml --no-page --out {name} --set flow.voice.count={count}"
        assert fairwave(*words.split())[0] == 0
    return "one", "two"


@pytest.mark.parametrize(
    "given",
    [
        "-n 10", "--replications 10", "--seed 3", "--threads 2", "--set flow.voice.count=1", "--over udp,tfrc",
        "--vary flow.voice.count=1,2", "--speech x.wav", "--no-audio", "--playout neteq", "--yes", "--cluster a:1",
    ],
)  # fmt: skip
def test_saved_results_refuse_options_about_runs(fairwave, saved, given):
    status, _, err = fairwave("compare", *saved, *given.split())
    assert status == 2
    assert "is for a scenario that is run" in err
    assert len(err.splitlines()) == 1


def test_saved_results_take_every_option_that_is_not_refused(fairwave, saved):
    from fairwave.cli.overlaying import ALTERNATIVE_OPTIONS, FOLDER_OPTIONS

    assert {*FOLDER_OPTIONS, *ALTERNATIVE_OPTIONS} <= options()["compare"]
    status, _, err = fairwave("compare", *saved, "--no-page", "--measures", "mos", "--json")
    assert status == 0, err


def test_saved_results_do_not_advise_an_option_that_they_refuse(fairwave, saved):
    _, out, err = fairwave("compare", *saved, "--no-page", "--require", "mos.voice >= 3")
    assert "Try `-n" not in out + err
    assert "Make each folder again with `-n" in out


def test_a_live_run_does_not_advise_replications():
    from fairwave.answers.answer import LIVE, Answer
    from fairwave.answers.verdict import ONE_RUN

    said = str(Answer(["Good."], sure=ONE_RUN).with_more_runs_by(LIVE))
    assert "`fairwave run SCENARIO -n 10`" in said
    assert "Try" not in said
    assert "-n" not in options()["live"]


def test_every_option_in_a_help_text_or_example_belongs_to_its_command():
    from fairwave.cli.app import app

    of = options()
    wrong = []
    for name, command in get_command(app).commands.items():
        for inner, one in getattr(command, "commands", {"": command}).items():
            texts = [
                one.help or "",
                one.epilog or "",
                *(getattr(each, "help", None) or "" for each in one.params),
            ]
            for text in texts:
                wrong += foreign(text, f"{name} {inner}".strip(), of)
    assert wrong == []


def foreign(text, command, of):
    """The options in a text that neither the command nor a command that the text names has."""
    named = [one for one in of if re.search(rf"fairwave {one}\b|`{one}`", text)]
    rest = re.sub(r"`(?:irtt|dask|make|pip|python)[^`]*`| -- .*", "", text)
    rest = re.sub(r"iperf3 .*", "", rest)
    found = re.findall(r"(?<![\w-])--?[a-z][a-z-]*", rest)
    allowed = of[command].union(*(of[one] for one in named))
    return [(command, option) for option in found if option not in allowed]


def test_every_option_that_python_sources_advise_exists_in_some_command():
    known = set().union(*options().values())
    others = {"--tstamp"}  # of irtt
    root = Path(__file__).parents[1] / "python"
    wrong = []
    for file in [*root.glob("fairwave/**/*.py"), *root.glob("fairwave_network/*.py")]:
        for line in file.read_text(encoding="utf-8").splitlines():
            advised = re.findall(r"(?:[Tt]ry|add|with|give|leave) `?(--[a-z][a-z-]+)", line)
            wrong += [(file.name, option) for option in advised if option not in known | others]
    assert wrong == []


def test_a_studys_commands_repeat_it_with_every_option():
    from types import SimpleNamespace

    from fairwave.provenance import Provenance
    from fairwave_study.digest import repeating

    study = SimpleNamespace(typed="fairwave study voice")
    typed = "fairwave study voice -n 3 --reading 'my reading.json' --out out/v"
    ledger = SimpleNamespace(
        settings={"duration": "5 s", "load.voice": 3},
        relevant={"mos": "0.2"},
        provenance=Provenance(command=typed),
    )
    words = shlex.split(repeating(study, ledger, 3, figure="000-2"))
    assert words == [
        *("fairwave", "study", "voice", "--figure", "000-2", "--replications", "3"),
        *(
            "--set",
            "duration=5 s",
            "--set",
            "load.voice=3",
            "--relevant",
            "mos=0.2",
            "--reading",
            "my reading.json",
        ),
    ]
    assert {one for one in words if one.startswith("--")} <= options()["study"]


def test_results_name_the_commit_of_their_fairwave(fairwave, folder):
    from fairwave.provenance import commit

    assert re.fullmatch(r"[0-9a-f]{7}|unknown", commit())
    provenance = json.loads(fairwave("run", "calls.toml", "--json")[1])["provenance"]
    assert provenance["commit"] == commit()


def test_the_commit_is_read_from_a_checkouts_files(tmp_path, monkeypatch):
    import subprocess

    from fairwave import provenance

    package = tmp_path / "python" / "fairwave"
    package.mkdir(parents=True)
    monkeypatch.setattr(provenance, "__file__", str(package / "provenance.py"))
    assert provenance.commit.__wrapped__() == "unknown"
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@x", "-C", str(tmp_path)]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "first"], check=True)
    head = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout
    assert provenance.commit.__wrapped__() == head[:7]
    subprocess.run([*git, "pack-refs", "--all"], check=True)
    assert provenance.commit.__wrapped__() == head[:7]
    (package / "commit.txt").write_text("0123456789\n", encoding="ascii")
    assert provenance.commit.__wrapped__() == "0123456"


@pytest.mark.parametrize("program", ["/usr/bin/fairwave", "/lib/fairwave/__main__.py"])
def test_a_command_can_be_repeated_however_it_was_started(monkeypatch, program):
    from fairwave.provenance import command

    monkeypatch.setattr("sys.argv", [program, "run", "my calls.toml", "--threads", "2", "-n", "3"])
    assert command() == "fairwave run 'my calls.toml' -n 3"


def test_alternatives_of_a_call_are_compared_and_swept(fairwave, folder):
    status, out, err = fairwave("compare", "team.toml", "--vary", "duration=4s,5s", "-n", "1", "--no-page")
    assert status == 0, err
    assert "the session" in out.splitlines()[1]
    words = ("--grid", "duration=4s,5s", "-n", "1", "--measures", "video-mos")
    status, out, err = fairwave("sweep", "team.toml", *words)
    assert status == 0, err
    assert "team-p0-to-p1" in out


@pytest.mark.parametrize(
    ("words", "option", "needs"),
    [
        ("run calls.toml --capture-payload", "--capture-payload", "--capture or --out"),
        ("replay night.pcap --delay 5ms", "--delay", "--rate"),
        ("replay night.pcap --queue red", "--queue", "--rate"),
        ("replay night.pcap --tcp packets", "--tcp", "--rate"),
        ("replay night.pcap --most 3", "--most", "--rate"),
        ("replay night.pcap --select 1", "--select", "--losses"),
        ("measure --irtt line.json --for 5", "--for", "HOST"),
        ("measure --irtt line.json --connections 2", "--connections", "HOST"),
        ("measure --irtt line.json --most 5", "--most", "HOST"),
        ("run calls.toml --qlog-flow voice", "--qlog-flow", "--qlog"),
        ("run calls.toml --style paper", "--style", "--out"),
        ("sweep calls.toml --grid flow.voice.count=1,2 --figures svg", "--figures", "--out"),
        ("run calls.toml --junit x.xml", "--junit", "--require"),
        ("trace up.csv --to csv", "--to", "--out"),
        ("new controller mine --fairwave .", "--fairwave", "--rust"),
        ("lab --set flow.voice.count=2", "--set", "fairwave lab calls.toml"),
    ],
)
def test_an_option_without_effect_is_refused(fairwave, folder, words, option, needs):
    status, _, err = fairwave(*words.split())
    assert status == 2
    assert option in err
    assert needs in err
    assert len(err.splitlines()) == 1
