"""Untrusted files: every reader is behind the gate, and no bad file causes a traceback."""

from __future__ import annotations

import ast
import hashlib
import importlib
import json
import os
import pkgutil
import shutil
import sys
import traceback
from pathlib import Path

import pytest

import fairwave
from bad_files import bad_files, right_files, statistics
from fairwave import _native, folders, foreign
from fairwave.cli import main
from made_lines import irtt_file, trip
from made_up import renew_checksums

ROOT = Path(__file__).parents[1]
CASES = int(os.environ.get("FAIRWAVE_BAD_FILES", "60"))
"""Bad files of each kind; `make bad-files` tries 2000."""


@pytest.fixture
def no_runs(monkeypatch):
    """Files are read, checked and converted to scenarios, but nothing is simulated."""

    class NoBatch:
        def __init__(self, *_args, **_named):
            raise fairwave.RunError("this test simulates nothing")

    monkeypatch.setattr(_native, "Batch", NoBatch)


def command(monkeypatch, capsys, *words, case=""):
    """Exit status and standard error of a command; an exception that is no exit fails the test."""
    monkeypatch.setattr(sys, "argv", ["fairwave", *map(str, words)])
    status: object = 0
    try:
        main()
    except SystemExit as end:
        status = end.code or 0
    except BaseException:  # noqa: BLE001 -- also a panic
        pytest.fail(f"{words} {case}\n{traceback.format_exc()[-3000:]}")
    said = capsys.readouterr()
    assert "Traceback" not in said.err, said.err
    assert "objects.json" not in said.err, said.err
    return status, said.err


COMMANDS = {
    "trace": lambda file: ("trace", file),
    "irtt": lambda file: ("measure", "--irtt", file),
    "fit": lambda file: (
        "fit",
        file,
        "--rate",
        "2 Mb/s",
        "--out",
        file.parent / "fitted.toml",
        "--overwrite",
    ),
    "judge": lambda file: ("judge", file),
    "network": lambda file: ("network", file.parent / "net.toml", "-n", "1"),
    "pattern": lambda file: ("pattern", file),
    "replay": lambda file: ("replay", file, "--rate", "2 Mb/s", "--out", file.parent / "replayed.toml"),
    "scenario": lambda file: ("run", file if file.suffix != ".csv" else file.parent / "s.toml"),
}


@pytest.mark.parametrize("kind", COMMANDS)
@pytest.mark.filterwarnings("error")
def test_no_bad_file_leaves_a_traceback(kind, tmp_path, monkeypatch, capsys, no_runs):
    refused = 0
    for number, (name, data, right) in enumerate(bad_files(kind, tmp_path, CASES)):
        for other, content in right.items():
            (tmp_path / other).write_bytes(content)
        if kind == "network" and name.startswith("net.") and name != "net.toml":
            text = right["net.toml"].decode().replace("net.graphml", name)
            (tmp_path / "net.toml").write_text(text, encoding="utf-8")
        file = tmp_path / name
        file.write_bytes(data)
        status, said = command(
            monkeypatch, capsys, *COMMANDS[kind](file), case=f"case {number}: {data[:2000]!r}"
        )
        assert status in {0, 1, 2}
        refused += status != 0
        assert status == 0 or len(said) < 3000, said
    assert refused > CASES / 4


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Two folders of results."""
    folder = tmp_path_factory.mktemp("results")
    scenario = fairwave.load('{"name": "r", "duration": "1 s", "topology": {"preset": "dumbbell"}, "flow": [{"name": '
                             '"voice", "transport": "udp", "traffic": "voice"}]}')  # fmt: skip
    for name in ("results", "other"):
        with folders.claimed(folder / name, "run", "r"):
            scenario.replicate(2).save(folder / name)
        (folder / name / "scenario.toml").write_text(scenario.to_toml())
    return folder


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("forged", [False, True])
def test_no_damaged_folder_of_results_leaves_a_traceback(forged, results, tmp_path, monkeypatch, capsys):
    for name, data, right in bad_files("results", results, CASES):
        shutil.copytree(results, tmp_path, dirs_exist_ok=True)
        (tmp_path / "results" / name).write_bytes(data)
        if forged and name.endswith((".parquet", ".json")):  # as an attacker would, with correct checksums
            old, new = (hashlib.sha256(one).hexdigest() for one in (right[name], data))
            sums = tmp_path / "results" / "SHA256SUMS"
            sums.write_text(sums.read_text().replace(old, new))
        status, _ = command(monkeypatch, capsys, "compare", tmp_path / "results", tmp_path / "other", "--no-page",
                            case=f"{name} {data[:300]!r}")  # fmt: skip
        assert status in {0, 1, 2, 3, 4}


@pytest.mark.parametrize("table", ["runs", "flows", "groups"])
def test_results_without_a_column_are_damaged(table, results, tmp_path, monkeypatch, capsys):
    pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    shutil.copytree(results, tmp_path, dirs_exist_ok=True)
    file = tmp_path / "results" / f"{table}.parquet"
    whole = pq.read_table(file)
    for column in whole.column_names:
        pq.write_table(whole.drop_columns([column]), file)
        renew_checksums(tmp_path / "results")
        status, said = command(monkeypatch, capsys, "compare", tmp_path / "results", tmp_path / "other", "--no-page",
                               case=f"{table} without {column}")  # fmt: skip
        assert status in {0, 2}, said


@pytest.mark.parametrize("kind", [*COMMANDS, "policy"])
def test_the_right_files_are_read(kind, tmp_path, monkeypatch, capsys, no_runs):
    for name, data in right_files(kind, tmp_path).items():
        (tmp_path / name).write_bytes(data)
    for name in right_files(kind, tmp_path):
        if kind == "policy":
            assert fairwave.policy_files.read(tmp_path / name)["steers"] == "rate"
            continue
        status, said = command(monkeypatch, capsys, *COMMANDS[kind](tmp_path / name))
        assert status == 0 or "this test simulates nothing" in said, said


def test_a_time_far_away_is_refused_before_memory_is_taken(tmp_path, monkeypatch, capsys):
    (tmp_path / "m.mahi").write_text("999999999\n")
    status, said = command(monkeypatch, capsys, "trace", tmp_path / "m.mahi")
    assert status == 2
    assert "line 1: 999999999 ms is too late: write up to 14400000" in said


def test_statistics_with_a_gap_of_a_month_are_refused_with_its_place(tmp_path, monkeypatch, capsys):
    reports = statistics(30)
    for report in reports[20:]:
        report["out"]["timestamp"] += 30 * 86_400_000.0
    (tmp_path / "s.json").write_text(json.dumps(reports))
    status, said = command(monkeypatch, capsys, "fit", tmp_path / "s.json")
    assert status == 2
    assert "nothing for 2.592e+06 s before report 21" in said
    assert "keep the part before or after the gap" in said


def huge(text):
    return text.replace("7654321", "1" + "0" * 400)


IRTT = [trip(number) for number in range(60)]
NETWORK = """
name = "two"
duration = "5 s"
topology = { file = "net.json" }
links = { rate = "10 Mb/s", delay = "1 ms" }
demands = { load = "1 Mb/s" }
"""
NODES = (
    '{"nodes": [{"id": "a"}, {"id": "b"}], "edges": [{"source": "a", "target": "b", "rate_bps": 7654321}]}'
)
XML = (
    '<?xml version="1.0" encoding="UTF-16"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph '
    'edgedefault="undirected"><node id="a"/><node id="b"/><edge source="a" target="b"/></graph></graphml>'
)


@pytest.mark.parametrize(
    ("name", "data", "words", "said"),
    [
        ("s.json", huge('[{"a": 7654321}]'), "fit {}", "line 1: a number of 401 digits: write at most 40"),
        ("s.json", '[{"a": Infinity}]', "fit {}", "line 1: Infinity is no number of JSON"),
        ("s.json", "[" * 40, "fit {}", "more than 32 deep"),
        ("s.json", '[{"a": 1, "a": 2}]', "fit {}", "line 1: the key 'a' stands twice"),
        ("l.json", "[[[[", "measure --irtt {}", "line 1: no JSON"),
        ("l.json", '{"a": 1e999}', "measure --irtt {}", "1e999 is too large for a number"),
        ("o.json", huge('{"uplink": {"trace_pattern": [{"duration": 7654321}]}}'), "trace {}", "401 digits"),
        ("m.mahi", "1" * 5000 + "\n", "trace {}", "line 1: '1111"),
        ("c.csv", "time_s,rate_mbps\n0,1\n1e300,1\n", "trace {}", "line 3: 1e+300 s is 1e+300 s from the first time"),
        ("r.toml", "[StaticBwConfig]\nbw = " + "[" * 3000, "trace {}", "more than 32 deep"),
        ("net.json", huge(NODES), "network {folder}/net.toml", "401 digits"),
        ("net.json", NODES.replace("7654321", "1e300"), "network {folder}/net.toml", "'a' and 'b' in net.json: rate:"),
    ],
)  # fmt: skip
def test_a_bad_value_is_refused_with_its_place(
    name, data, words, said, tmp_path, monkeypatch, capsys, no_runs
):
    (tmp_path / "net.toml").write_text(NETWORK)
    (tmp_path / name).write_text(data)
    made = [word.format(tmp_path / name, folder=tmp_path) for word in words.split()]
    status, found = command(monkeypatch, capsys, *made)
    assert status == 2
    assert said in found


def test_xml_in_utf_16_is_read_as_it_says(tmp_path, monkeypatch, capsys, no_runs):
    (tmp_path / "net.toml").write_text(NETWORK.replace("net.json", "net.graphml"))
    (tmp_path / "net.graphml").write_bytes(XML.encode("utf-16"))
    status, said = command(monkeypatch, capsys, "network", tmp_path / "net.toml")
    assert "this test simulates nothing" in said
    (tmp_path / "net.graphml").write_bytes(XML.encode("utf-16")[:-31])
    status, said = command(monkeypatch, capsys, "network", tmp_path / "net.toml")
    assert (status, "is no XML" in said) == (2, True)


@pytest.mark.parametrize("digits", [19, 20, 400])
def test_times_of_many_digits_are_refused(digits, tmp_path, monkeypatch, capsys):
    text = irtt_file(tmp_path, IRTT).read_text().replace("1020000000", "9" * digits, 1)
    (tmp_path / "line.json").write_text(text)
    status, said = command(monkeypatch, capsys, "measure", "--irtt", tmp_path / "line.json")
    assert status == 2
    assert "round_trips[1] has the monotonic time" in said or "digits: write at most 19" in said


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('links = { rate = "10 Mb/s", delay = "1 ms", queue = "fq-codell" }', "links.queue: unknown queue"),
        ('duration = "5 sss"', "duration: `5 sss` is not a time"),
        ('[[link]]\nbetween = ["a", "b"]\nloss = "300 %"', "link[0].loss: `loss` is 3"),
        ('[[mix]]\nkind = "calls"\nshare = 1\ncodec = "x"', "mix"),
    ],
)
def test_an_error_about_a_network_names_what_the_user_wrote(
    line, said, tmp_path, monkeypatch, capsys, no_runs
):
    key = line.split(" =")[0]
    kept = [one for one in NETWORK.splitlines() if not one.startswith(f"{key} ")]
    (tmp_path / "net.toml").write_text("\n".join([line, *kept] if "[" not in line[:2] else [*kept, line]))
    (tmp_path / "net.json").write_text(NODES)
    for words in (("network",), ("run",), ("check",)):
        status, found = command(monkeypatch, capsys, *words, tmp_path / "net.toml")
        assert status == 2
        assert said in found
        assert "link[0].queue" not in found


@pytest.mark.skipif(sys.platform == "win32", reason="no pipes with names")
@pytest.mark.parametrize("kind", ["trace", "irtt", "fit", "pattern"])
def test_pipes_devices_folders_and_empty_files_are_refused(kind, tmp_path, monkeypatch, capsys):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "empty").write_bytes(b"")
    for path in (tmp_path / "pipe", Path("/dev/zero"), tmp_path, tmp_path / "empty"):
        words = [one for one in COMMANDS[kind](path) if one != "--overwrite"][: 3 if kind == "irtt" else 2]
        status, said = command(monkeypatch, capsys, *words)
        assert status == 2, said


def test_an_exception_that_no_reader_expects_names_place_and_remedy(tmp_path):
    (tmp_path / "a.json").write_text("{}")

    policy_files = importlib.import_module("fairwave.policy_files")

    @foreign.gated("policy", policy_files.PolicyError)
    def read(path):
        foreign.reach("layer 3")
        raise ZeroDivisionError("division by zero")

    with pytest.raises(policy_files.PolicyError) as found:
        read(tmp_path / "a.json")
    foreign.GATED["policy"].pop()
    said = str(found.value)
    assert f"{tmp_path / 'a.json'} is damaged, at layer 3: it is not a policy as programs write it" in said
    assert said.endswith("write it anew with fairwave.gym (docs/gym.md)")
    assert isinstance(found.value.__cause__, ZeroDivisionError)


def test_what_gzip_packed_is_never_larger_than_its_limit(monkeypatch):
    import gzip
    from dataclasses import replace

    monkeypatch.setitem(foreign.KINDS, "irtt", replace(foreign.KINDS["irtt"], bytes=100_000))
    bomb = gzip.compress(bytes(10_000_000))
    with pytest.raises(
        foreign.ForeignFileError, match="x, unpacked, has 101 kB, but a measurement by irtt at most 100 kB"
    ):
        foreign.unpack_gzip(bomb, "x", "irtt")
    with pytest.raises(foreign.ForeignFileError, match="ends too early"):
        foreign.unpack_gzip(gzip.compress(b"abc")[:-4], "x", "irtt")


def test_a_table_of_many_equal_cells_is_refused_unread(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"run": pa.array([0] * 2_000_000)}), tmp_path / "runs.parquet")
    assert (tmp_path / "runs.parquet").stat().st_size < 20_000
    (tmp_path / "provenance.json").write_text("{}")
    names = ("runs.parquet", "provenance.json")
    digests = [hashlib.sha256((tmp_path / name).read_bytes()).hexdigest() for name in names]
    listed = "".join(f"{digest}  {name}\n" for digest, name in zip(digests, names, strict=True))
    (tmp_path / "SHA256SUMS").write_text(listed)
    most = foreign.KINDS["results"]
    from dataclasses import replace

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(foreign.KINDS, "results", replace(most, items=1_000_000))
        with pytest.raises(fairwave.DamagedResultsError, match="has 2000000 cells of tables, but"):
            fairwave.Results.load(tmp_path)


def test_a_forged_run_that_unpacks_without_end_is_made_again(tmp_path):
    import zlib
    from dataclasses import replace

    from fairwave.runs import runs_file
    from fairwave.runs.keeping import Folder
    from fairwave.tables import Table

    said = []
    keep = Folder(tmp_path, "1", said.append)
    keep.put("s", 1, {"runs": Table({})})
    forged = json.dumps([runs_file.FORMAT]).encode() + b"\n" + zlib.compress(bytes(10_000_000))
    keep._insert(("s", 2, runs_file.digest("1", "s", 2, forged), forged))
    keep._insert(("s", 3, runs_file.digest("1", "s", 3, b"[[["), b"[[["))
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(foreign.KINDS, "kept runs", replace(foreign.KINDS["kept runs"], items=1_000_000))
        assert keep.get("s", 2) is None
        assert keep.get("s", 3) is None
    assert "the run with seed 2 is made again" in said[0]
    assert "is damaged" in said[1]


PACKAGES = (
    "fairwave",
    "fairwave_network",
    "fairwave_report",
    "fairwave_speech",
    "fairwave_study",
    "fairwave_video",
)

OPENING = {
    "read_text", "read_bytes", "ParquetFile", "read_table", "rc_params_from_file", "decompress", "decompressobj",
    "read_graphml", "parse_gml",
}  # fmt: skip
"""Methods and functions that read the contents of a file, of any owner."""

OPENING_OF = {
    "json": {"load", "loads"}, "tomllib": {"load", "loads"}, "pickle": {"load", "loads"},
    "np": {"load", "loadtxt", "genfromtxt", "fromfile"}, "csv": {"reader", "DictReader"}, "sqlite3": {"connect"},
    "av": {"open"}, "wave": {"open"}, "gzip": {"open"}, "Image": {"open"}, "ET": {"parse", "fromstring"},
    "expat": {"ParserCreate"}, "os": {"open"},
}  # fmt: skip
"""The same for functions of these modules."""

BEHIND = {
    "fairwave.bundles.archive._check_end": "bundle",
    "fairwave.bundles.comparing._compare_csv": "results",
    "fairwave.captures.packets._open": "capture",
    "fairwave.cli.input._scenario": "scenario",
    "fairwave.cli.inspecting._is_network": "scenario",
    "fairwave.file_kinds": "no reader: looks at a bounded part",
    "fairwave.file_kinds.reader": "no reader: looks at a bounded part",
    "fairwave.folders._open_note": "note",
    "fairwave.folders._is_ours": "no reader: looks for a mark, line by line",
    "fairwave.foreign.parse_json": "every kind",
    "fairwave.foreign.parse_toml": "every kind",
    "fairwave.foreign.read_bytes": "every kind",
    "fairwave.foreign.UnpackedFile._unpack": "every kind",
    "fairwave.foreign.UnpackedFile.readinto": "every kind",
    "fairwave.foreign.peek": "no reader: looks at a bounded part",
    "fairwave.importing.import_file": "no reader: looks at a bounded part",
    "fairwave.linecheck.wire._object": "no file: bounded by the frames of a measurement",
    "fairwave.patterns._table": "pattern",
    "fairwave.results.hash_file": "results",
    "fairwave.results._table": "results",
    "fairwave.results._listed_tables": "results",
    "fairwave.runs.runs_file._unpacked": "kept runs",
    "fairwave.runs.runs_file.connect": "kept runs",
    "fairwave.runs.runs_file.look": "kept runs",
    "fairwave.scenario.load": "scenario",
    "fairwave.traces.gnettrack.parse": "trace",
    "fairwave.traces.table._head": "trace",
    "fairwave.traces.table.parse": "trace",
    "fairwave.upgrading.upgrade_file": "scenario",
    "fairwave_network.demands._rows": "demands",
    "fairwave_network.language.load": "network",
    "fairwave_network.instances.read_sndlib_xml": "topology",
    "fairwave_network.reading._drop_keys_of_edges": "topology",
    "fairwave_network.reading._refuse_declarations": "topology",
    "fairwave_network.reading.from_file": "topology",
    "fairwave_report.chosen_style._parsed": "style",
    "fairwave_speech.audio._decode": "recording",
    "fairwave_speech.score._quiet": "no reader: writes to /dev/null",
    "fairwave_study.shelf.Shelf._parsed": "kept reading",
    "fairwave_video.clips._look": "clip",
    "fairwave_video.clips.Clip.pictures": "clip",
}
"""Functions that open untrusted files, and the kind of the gate before them."""

OWN = {
    "the engine's answer": (
        "fairwave.ask.wording.variation", "fairwave.cli.input.overrides", "fairwave.live.live",
        "fairwave.measuring.measures.simulated", "fairwave.packet_path.trace_packet",
        "fairwave.reference._networks", "fairwave.reference._schema",
        "fairwave.scenario.Scenario.plan", "fairwave.scenario.Scenario.to_dict", "fairwave_report.ways.ways",
    ),
    "part of fairwave's packages": (
        "fairwave.cli.lab_page.serve_lab", "fairwave.cli.packaged_examples.copy_examples",
        "fairwave.cli.packaged_examples.show_examples", "fairwave.cli.schema.provide_file",
        "fairwave.packaged.summarise",
        "fairwave.glossary.terms", "fairwave.lab.link_from", "fairwave.layers.title", "fairwave.lab.opening_on",
        "fairwave.lab.widget.widget", "fairwave.lab.write", "fairwave.laws.skeletons._write",
        "fairwave.laws.skeletons._write_rust", "fairwave.provenance.commit", "fairwave.runs.keeping.engine",
        "fairwave_network.reading.from_topohub", "fairwave_report.gallery.entry", "fairwave_report.page._text",
        "fairwave_report.page.fonts.embedded", "fairwave_report.video_fit.render", "fairwave_study.shelf.version",
        "fairwave_study.texts._read", "fairwave_study.texts.load_scenario", "fairwave_speech.recognise._disable_dither",
    ),
    "written by the same command": (
        "fairwave.cli.guarding._copy_pictures",
        "fairwave.capturing.capture", "fairwave.live._run_in_process", "fairwave.live.baresip.Party.recording",
        "fairwave.live.host.main", "fairwave.live.kernel._asked", "fairwave.notebook.PageView._repr_html_",
        "fairwave_report.embedding._flac", "fairwave_report.embedding._picture", "fairwave_report.embedding.download",
        "fairwave_report.gallery.overlay_section", "fairwave_report.gallery.picture_of", "fairwave_report.video.show",
    ),
    "the system's": (
        "fairwave.cli._drop_output", "fairwave.components._namespaces.setting", "fairwave.live.kernel._able",
        "fairwave.live.kernel.available",
    ),
    "Python code of the user, which runs": (
        "fairwave.bundles.inputs._imported", "fairwave.laws.registering._fingerprint",
    ),
    "copied into a bundle, unread": ("fairwave.bundles.archive.write_archive",),
}  # fmt: skip
"""Functions that open trusted files, with the reason."""


def is_opening(call):
    """Whether a call reads a file or parses its contents."""
    function, base = call.func, getattr(call.func, "value", None)
    words = [one.value for one in call.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    if isinstance(function, ast.Name):
        return function.id == "open" and not any(set(word) & set("wax") for word in words[1:])
    if not isinstance(function, ast.Attribute):
        return False
    if isinstance(base, ast.Name) and base.id in OPENING_OF:
        return function.attr in OPENING_OF[base.id] and not (base.id != "os" and {"w", "wb"} & set(words))
    is_ours = isinstance(base, ast.Name) and base.id == "foreign"
    return not is_ours and (
        function.attr in OPENING or (function.attr == "open" and bool({"r", "rb"} & set(words)))
    )


def openings():
    """Every function of fairwave's packages that opens a file for reading, or parses contents."""
    found = set()

    def walk(node, name):
        for child in ast.iter_child_nodes(node):
            has_name = isinstance(child, (ast.FunctionDef, ast.ClassDef))
            if isinstance(child, ast.Call) and is_opening(child):
                found.add(name)
            walk(child, f"{name}.{child.name}" if has_name else name)

    for package in PACKAGES:
        for file in sorted((ROOT / "python" / package).rglob("*.py")):
            module = ".".join(file.relative_to(ROOT / "python").with_suffix("").parts)
            walk(ast.parse(file.read_text(encoding="utf-8")), module.removesuffix(".__init__"))
    return found


def test_every_function_that_opens_a_file_is_behind_the_gate_or_opens_no_stranger_s():
    known = {*BEHIND, *(name for several in OWN.values() for name in several)}
    assert openings() - known == set(), (
        "put it behind fairwave.foreign.gated, or say here whose files it opens"
    )
    assert known - openings() == set(), "no longer there"


def test_the_rendered_page_has_the_limits_and_the_measured_memory():
    sys.path.insert(0, str(ROOT))
    from validation import kept as results
    from validation.measured import strangers

    kept = results.read(strangers.KEPT)
    rendered = strangers.render(ROOT)
    assert all(f"| {kind}" in rendered for kind in ("a scenario", "a capture", "a folder of results"))
    page = (ROOT / "docs" / "files.md").read_text(encoding="utf-8")
    assert strangers.memory_table(kept).splitlines()[-1].split(": ")[0] in page
    assert kept["late time"]["peak_mb"] < 1.2 * kept["small"]["peak_mb"]
    assert max(one["peak_mb"] for one in kept.values()) < 2000


def gated_functions():
    """The registry, once every module is imported."""
    for package in PACKAGES:
        for one in pkgutil.walk_packages([str(ROOT / "python" / package)], f"{package}."):
            if not one.name.endswith(("__main__", ".host", ".child")):
                importlib.import_module(one.name)
    return foreign.GATED


def test_every_kind_has_a_reader_behind_the_gate():
    found = gated_functions()
    kinds = {*found, *(kind for kind in BEHIND.values() if kind in foreign.KINDS)}
    assert kinds | {"mahimahi"} == foreign.KINDS.keys()  # which `trace` reads
