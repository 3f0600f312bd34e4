"""Everything in the documentation works: commands, Python, scenarios, links, and the site."""

import json
import random
import re
import shlex
import shutil
import tempfile
import wave
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import click
import pytest

import fairwave
from fairwave import patterns, reference
from fairwave.cli import app as cli
from fairwave.lab.serving import LabServer
from fairwave.layers import studies as studies_there
from fairwave.linecheck import Reflector, Target
from fairwave.live import Live, kernel
from fairwave.live.comparison import simulated
from fairwave_network import failing
from fairwave_report import gallery
from fairwave_speech.fetch import Recordings
from made_lines import irtt_file, load, made_line, trip
from validation.measured.made_captures import CALL, pcap, pcapng

tomllib = pytest.importorskip("tomllib", reason="Python reads TOML from 3.11 on")

ROOT = Path(__file__).parents[1]
PAGES = [
    "README.md",
    "CHANGELOG.md",
    "ARCHITECTURE.md",
    "SECURITY.md",
    "CONTRIBUTING.md",
    *sorted(
        str(one.relative_to(ROOT))
        for folder in ("", "start", "studies")
        for one in (ROOT / "docs" / folder).glob("*.md")
    ),
]
# Other tests run the code of these pages.
ELSEWHERE = {
    "docs/add-a-measure.md",
    "docs/add-a-study.md",
    "docs/extend.md",
    *(f"docs/start/{name}.md" for name in ("voip", "webrtc", "research", "teaching")),
}
FENCE = re.compile(r"^```([a-z]*)\n(.*?)^```$", re.M | re.S)

CHANGED = """
name = "uplink"
duration = "10 s"
[topology]
preset = "dumbbell"
bottleneck = {{ rate = "2 Mb/s", delay = "20 ms", queue = "{queue}" }}
[[flow]]
name = "voice"
transport = "udp"
traffic = "voice"
[[flow]]
name = "call"
transport = "udp"
traffic = "voice"
[[flow]]
name = "up"
transport = "tcp/cubic"
traffic = "bulk"
"""
"""Content of the pages' `old.toml` and `new.toml`."""

CALLS = """
name = "calls"
duration = "4 s"
[topology]
preset = "dumbbell"
bottleneck = { rate = "1 Mb/s", delay = "20 ms" }
[[flow]]
name = "voice"
count = 10
transport = "udp"
traffic = "voice"
[[flow]]
name = "download"
transport = "tcp/reno"
traffic = "bulk"
"""


def text(page):
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(page, *languages):
    return [code for language, code in FENCE.findall(text(page)) if language in languages]


def commands(content):
    """Every command line of a page, fenced or indented."""
    fenced = "\n".join(code for language, code in FENCE.findall(content) if language in {"", "sh", "console"})
    lines = fenced.splitlines() + re.findall(r"^ {4}(\S.*)$", FENCE.sub("", content), re.M)
    found = [re.sub(r"\s{2,}#.*$", "", line).removeprefix("$ ").strip() for line in lines]
    return [
        line
        for line in found
        if re.match(r"(cat \S+ \| )?fairwave ", line) and "FILE" not in line and "…" not in line
    ]


def commented(example):
    """Every command in a scenario's comments: on a separate line, or in backticks with its file."""
    lines = [line.removeprefix("#") for line in text(example).splitlines() if line.startswith("#")]
    alone = [re.sub(r"\s{2,}#.*$", "", line).strip() for line in lines if re.match(r" {2,}fairwave ", line)]
    within = re.findall(r"`(fairwave [^`…]*\.toml[^`…]*)`", " ".join(line.strip() for line in lines))
    return alone + within


EXAMPLES = sorted(str(one.relative_to(ROOT)) for one in (ROOT / "examples").rglob("*.toml"))
EPILOGS = [
    line.strip()
    for command in cli.app.registered_commands
    for line in (command.epilog or "").splitlines()
    if line.strip().startswith(("fairwave ", "cat "))
]
GALLERY = gallery.render(Path(), quick=True)
TYPED = sorted(
    {line for page in PAGES if page not in ELSEWHERE for line in commands(text(page))}
    | set(commands(GALLERY))
    | {line for example in EXAMPLES for line in commented(example)}
    | set(EPILOGS)
)


@cache
def bad_call_files():
    """The bytes of a capture of a call with a download, and of the statistics of one over WebRTC."""
    from fairwave import getstats
    from validation.measured.fitting import CALL as WITH_DOWNLOAD
    from validation.measured.fitting import NETWORK, SESSION

    known = {"rate": 2, "delay": 20, "queue": '"drop-tail"', "downloads": 1, "loss": 0}
    with tempfile.TemporaryDirectory() as folder:
        capture, dump = Path(folder) / "bad-call.pcapng", Path(folder) / "webrtc-internals.json"
        text = (NETWORK + WITH_DOWNLOAD).format(**known).replace('"60 s"', '"12 s"')
        fairwave.capturing.capture(fairwave.load(text), {"host:here": capture})
        text = (NETWORK + SESSION).format(**known).replace('"60 s"', '"25 s"')
        getstats.write(fairwave.load(text).run(1), Path(folder))
        return {one.name: one.read_bytes() for one in (capture, dump)}


def bad_call(folder):
    for name, content in bad_call_files().items():
        (folder / name).write_bytes(content)


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """A reader's folder: the examples, and the scenario that pages call `calls.toml`."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    for name in ("calls.toml", "ten-calls.toml"):
        (tmp_path / name).write_text(CALLS, encoding="utf-8")
    with wave.open(str(tmp_path / "hello.wav"), "wb") as spoken:
        spoken.setnchannels(1)
        spoken.setsampwidth(2)
        spoken.setframerate(8000)
        spoken.writeframes(random.Random(1).randbytes(2 * 8000))
    (tmp_path / "losses.txt").write_text("0001100" * 20, encoding="utf-8")
    patterns.write(tmp_path / "trace.g192", patterns.read(tmp_path / "losses.txt"))
    pcapng(tmp_path / "last-night.pcapng", CALL)
    pcap(tmp_path / "call.pcap", CALL)
    bad_call(tmp_path)
    for name, queue in (("old.toml", "drop-tail"), ("new.toml", "fq-codel")):
        (tmp_path / name).write_text(CHANGED.format(queue=queue), encoding="utf-8")
    (tmp_path / "key.txt").write_text("a-key-for-the-tests\n", encoding="utf-8")
    irtt_file(tmp_path, [trip(number) for number in range(200)])
    (tmp_path / "uplink.mahi").write_text("10\n20\n30\n30\n", encoding="utf-8")
    way = {"trace_pattern": [{"duration": 500, "capacity": 800}]}
    (tmp_path / "gym.json").write_text(json.dumps({"uplink": way, "downlink": way}), encoding="utf-8")
    (tmp_path / "net.gml").write_text(
        "graph [ node [ id 0 ] node [ id 1 ] edge [ source 0 target 1 ] ]", encoding="utf-8"
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


def saved(desk):
    """The folders and the style sheet that pages use without creating them."""
    results = fairwave.load(CALLS.replace('"4 s"', '"2 s"')).run(1)
    for name in ("a", "b", "before", "after", "drop-tail", "fq-codel"):
        results.save(desk / "out" / name)
    (desk / "thesis.mplstyle").write_text("font.size: 9\n", encoding="utf-8")


def bundled(words, monkeypatch):
    """The folder or the bundle that a page made by an earlier command."""
    made = ["run", "calls.toml", "--no-page", "--out", "out/calls"]
    monkeypatch.setattr("sys.argv", ["fairwave", *made])
    cli.app(made, standalone_mode=False)
    if words[0] == "repeat":
        cli.app(["bundle", "out/calls", "--out", words[1]], standalone_mode=False)


def live_as_simulated(scenario, seed=1, commands=(), **_):
    books = dict.fromkeys(("read", "copied", "released", "dropped", "lost", "queued", "unmapped"), 0)
    books |= dict.fromkeys(("after_end", "device_dropped", "refused"), 0)
    times = (
        "lasted_s",
        "rate_error",
        "rate_error_worst",
        "lateness_p50_s",
        "lateness_p99_s",
        "lateness_worst_s",
    )
    report = dict.fromkeys((*times, "cpu", "broken", "not_judged")) | {"deadlines_missed": 0, "urgent": True}
    report |= {"books": books, "books_closed": True}
    return Live(simulated(scenario).run(seed), report, [0] * len(commands), [])


def kernel_controller(law, parameters=None, name=None, **_):
    return kernel.Controller(name or kernel.default_name(law), law, kernel.checked(law, parameters or {}), 1)


class ServedAtOnce(LabServer):
    """A server on a free port of this computer that ends when it starts to serve."""

    def __init__(self, page, *_):
        super().__init__(page, "127.0.0.1", 0)

    def serve_forever(self, poll_interval=0.5):
        raise KeyboardInterrupt


FEWER = {
    "run": ("-n", "1"),
    "compare": ("-n", "2", "--no-audio"),
    "demo": ("-n", "1"),
    "guard": ("-n", "2"),
    "sweep": ("-n", "2", "--most", "2"),
    "find": ("-n", "2", "--most", "2"),
    "network": ("-n", "1", "--widen", "1"),
    "fit": ("--seeds", "1"),
    "measure": ("--yes",),
    "rfc8867": ("-n", "1"),
}
"""Additional options that save time: fewer replications, no audio."""
SHORTER = {
    "examples/cell-edge.toml": "20 s",
    "examples/codec-map.toml": "8 s",
    "examples/conference.toml": "15 s",
    "examples/rrul.toml": "15 s",
    "examples/streamed-clip.toml": "6 s",
}
"""Durations of examples with slow seconds."""


def with_fewer(words):
    """The words with `FEWER` at the end if these options have an effect, in place of the same options before."""
    if (words[0] == "compare" and words[1].startswith("out/")) or "--irtt" in words:
        return words
    fewer = list(FEWER.get(words[0], ()))
    if "--no-audio" in fewer and sum(word.endswith(".toml") for word in words) > 1:
        fewer.remove("--no-audio")
    left = list(words)
    for option in fewer:
        if option in left:
            at = left.index(option)
            del left[at : at + (2 if option == "-n" else 1)]
    return [*left, *fewer]


HAS_STACKS = "quic/quinn" in [name for name, _ in reference.listed("transports")]


@pytest.mark.slow
@pytest.mark.parametrize("line", TYPED)
def test_every_command_works(desk, monkeypatch, line):
    if "examples/stacks/" in line and not HAS_STACKS:
        pytest.skip("this build has no foreign stacks: make stacks")
    words = shlex.split(line.rpartition(" | ")[2])
    assert words.pop(0) == "fairwave"
    studies = []
    monkeypatch.setattr(
        "fairwave_study.command.run_study", lambda *given, **named: studies.append((given, named))
    )
    # `test_evaluate` makes reports; here the command only has to be valid.
    monkeypatch.setattr(
        "fairwave_evaluation.command.carry_out", lambda study, *given, **named: study.grids[0].points()
    )
    # `test_live` tests runs in real time; here a simulated run replaces them.
    monkeypatch.setattr("fairwave.live.live", live_as_simulated)
    monkeypatch.setattr("fairwave.cli.live._tell", lambda made: None)
    # Nothing is loaded into the kernel: see `test_live_kernel`.
    there = kernel.Controller("fw_gamma", "gamma", kernel.checked("gamma", {}), 1)
    monkeypatch.setattr(kernel, "loaded", lambda: [there])
    monkeypatch.setattr(kernel, "load", kernel_controller)
    monkeypatch.setattr(kernel, "unload", lambda name: replace(there, name=name))
    # Nothing is sent: see `test_linecheck`.
    measured = made_line(loads={"down": load((10, 20), 4e6)})
    monkeypatch.setattr("fairwave.linecheck.resolved", lambda host: Target(host, 2, ("192.0.2.2", 8868)))
    monkeypatch.setattr("fairwave.linecheck.measure", lambda *_: measured)
    monkeypatch.setattr(Reflector, "serve", lambda *_: None)
    monkeypatch.setattr(
        "fairwave.linecheck.Reflector", lambda key, *_, **named: Reflector(key, "127.0.0.1", 0, **named)
    )
    # Two failures suffice.
    failures = failing.list_failures
    monkeypatch.setattr(failing, "list_failures", lambda *given: failures(*given)[:2])
    # No window opens, and the page need not have been built.
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    # See `test_packaged`: nothing is served, and the demo makes no page.
    monkeypatch.setattr("fairwave.lab.serving.LabServer", ServedAtOnce)
    monkeypatch.setattr("fairwave.cli.demo.layer_or_note", lambda **_: None)
    (desk / "lab.html").write_text('<meta name="fairwave-scenario" content="">', encoding="utf-8")
    monkeypatch.setattr("fairwave.lab.built", lambda: desk / "lab.html")
    if words[:1] == ["compare"] and "out/" in words[1]:
        saved(desk)
    if words[0] in {"bundle", "repeat"}:
        bundled(words, monkeypatch)
    if line.startswith("cat "):
        words = [shlex.split(line)[1] if word == "-" else word for word in words]
    if "--cluster" in words:
        at = words.index("--cluster")
        del words[at : at + 2]
    if words[0] in {"run", "compare", "sweep"} and words[1] in SHORTER:
        words += ["--set", f"duration={SHORTER[words[1]]}"]
    cli.app(with_fewer(words), standalone_mode=False)
    assert len(opened) == (words[0] == "lab" and not {"--out", "--serve"} & set(words))
    for (name, *_), _ in studies:
        assert name in studies_there()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "code"),
    [(page, code) for page in PAGES if page not in ELSEWHERE for code in blocks(page, "python")],
    ids=lambda value: value.split("\n", 1)[0].replace("/", "-"),
)
def test_every_piece_of_python_runs(desk, page, code):
    if "speech" in code and Recordings().prompts() is None:
        pytest.skip("no recordings here: `python -m fairwave_speech.fetch` brings them")
    if "visqol" in code:
        pytest.importorskip("visqol", reason="ViSQOL is not installed: fairwave[scoring]")
    exec(compile(code, page, "exec"), {"__name__": "__main__"})


@pytest.mark.parametrize("page", [page for page in PAGES if page not in ELSEWHERE])
def test_every_scenario_is_one_and_every_piece_is_toml(page, desk):
    for code in blocks(page, "toml"):
        whole = tomllib.loads(code)
        if "duration" in whole and "flow" in whole and (page != "docs/stacks.md" or HAS_STACKS):
            fairwave.load(code)


def test_commands_in_the_comments_of_examples_are_found():
    assert "fairwave run examples/lte-call.toml --out out/lte" in commented("examples/lte-call.toml")
    assert commented("examples/web-beside-call.toml") == [
        "fairwave compare examples/web-beside-call.toml --vary topology.bottleneck.queue=drop-tail,codel,pie"
    ]


MISTAKES = {"runn", "calls.toml"}
"""Placeholders of commands on pages that describe the response to a mistake."""


def options(words):
    return {word.partition("=")[0] for word in words if word.startswith("--") and word != "--"}


@pytest.mark.parametrize("page", [*PAGES, *EXAMPLES])
def test_commands_that_are_only_mentioned_have_these_names_and_options(page):
    group = click.Group(commands=cli.typer.main.get_command(cli.app).commands)
    for mentioned in re.findall(r"`fairwave ([^`\n]*)`", FENCE.sub("", text(page))):
        words = mentioned.removeprefix("help ").split()
        if not words or words[0].startswith("-") or words[0].isupper() or words[0] in MISTAKES:
            continue
        assert words[0] in group.commands, f"{page}: there is no `fairwave {words[0]}`"
        known = {
            option
            for parameter in group.commands[words[0]].params
            for option in parameter.opts + parameter.secondary_opts
        }
        assert options(words) <= known | {"--help"}, f"{page}: `fairwave {mentioned}`"


def test_the_first_change_that_contributing_shows_works():
    (code,) = blocks("CONTRIBUTING.md", "python")
    question = code[code.index("    yield") : code.index("\n\n\nfor ")] + "\n"
    module, start = text("tests/practice/measures.py"), '"""Every situation of this area."""\n'
    scope = {"__name__": "measures"}
    exec(compile(module.replace(start, start + question, 1), "measures.py", "exec"), scope)
    first = next(scope["situations"]())
    assert first.key == "measure/half-use"
    assert first.low <= first.measured() <= first.high


def test_paths_modules_and_lists_that_contributing_names_exist():
    page = text("CONTRIBUTING.md")
    paths = set(
        re.findall(
            r"(?<![\w/])(?:crates|docs|examples|lab|python|results|tests|validation)/[\w./*-]*[\w/]", page
        )
    )
    assert [path for path in paths if not any(ROOT.glob(path))] == []
    modules = set(re.findall(r"-m ([a-z]\w+(?:\.\w+)*)", page))
    assert [name for name in modules if find_spec(name) is None] == []
    lists = re.findall(r"`(\w+)!` in `([^`]+)`", page)
    assert len(lists) == 7
    assert [name for name, file in lists if f"macro_rules! {name} " not in text(file)] == []


def test_the_citation_file_has_the_version_and_the_licences_of_the_package():
    cited, package = text("CITATION.cff"), tomllib.loads(text("pyproject.toml"))["project"]
    assert re.findall(r"^version: (.+)$", cited, re.M) == [fairwave.__version__]
    (licences,) = re.findall(r"^license:\n((?:  - .+\n)+)", cited, re.M)
    # The wheel's other licences are those of the recording and of the fonts.
    assert package["license"].startswith(f"({' OR '.join(re.findall('- (.+)', licences))}) AND ")


def test_targets_that_are_mentioned_exist():
    targets = set(re.findall(r"^([a-z-]+):", text("Makefile"), re.M))
    for page in PAGES:
        mentioned = set(re.findall(r"`make ([a-z-]+)`", text(page))) | set(
            re.findall(r"^ {4}make ([a-z-]+)", text(page), re.M)
        )
        assert mentioned <= targets, page


def test_the_gallery_shows_every_example():
    shown = set(re.findall(r"examples/([a-z0-9-]+)\.toml\)", GALLERY))
    assert shown == {one.stem for one in (ROOT / "examples").glob("*.toml")}


def test_the_gallery_lays_saved_folders_over_each_other():
    for command in gallery.OVERLAID:
        assert f"\n{command}\n" in GALLERY


@pytest.mark.slow
def test_the_site_is_made_without_a_warning(made_site):
    assert made_site.status == 0, made_site.complaints
    pages = {str(one.relative_to(made_site.folder)) for one in made_site.folder.rglob("*.html")}
    assert {
        "index.html",
        "docs/index.html",
        "docs/tutorial.html",
        "docs/api.html",
        "ARCHITECTURE.html",
    } <= pages
    api = (made_site.folder / "docs" / "api.html").read_text(encoding="utf-8")
    assert 'id="fairwave.Scenario.with_overrides"' in api
    # The site fetches nothing from elsewhere.
    outside = [
        (page, found)
        for page in pages
        for found in re.findall(
            r'<(?:script|link|img)[^>]*(?:src|href)="(https?:[^"]*)"', (made_site.folder / page).read_text()
        )
    ]
    assert not outside
