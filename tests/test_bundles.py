"""Bundles: results with everything that repeats them, made, damaged, forged and repeated."""

import hashlib
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import fairwave as fw
from fairwave.bundles import archive, command_words, inputs, packing, repeating
from fairwave.bundles.archive import BundleError
from fairwave.bundles.comparing import compare_tables
from fairwave.bundles.manifest import Manifest, Origin
from scenarios import CALLS
from test_options import options

LAW = '''
"""A controller that keeps seven eighths on loss."""
import fairwave as fw
from shares import KEPT


@fw.controller("gentle")
class Gentle(fw.Controller):
    """Grows by a segment per round trip."""

    def on_ack(self, path, window):
        window.congestion += 1 if window.in_slow_start else 1 / window.congestion

    def on_loss(self, path, window):
        window.threshold = max(2.0, KEPT * path.in_use)
        window.congestion = window.threshold

    def on_timeout(self, path, window):
        self.on_loss(path, window)
        window.congestion = 1.0
'''
TRACED = CALLS.replace(
    'rate = "300 kb/s"', 'rate = { law = "trace", file = "../traces/rate.csv", after = "repeat" }'
)
TRACE = "time_s,rate_mbps\n" + "".join(f"{n},{0.3 + 0.1 * (n % 3)}\n" for n in range(7))


@pytest.fixture
def work(tmp_path, monkeypatch):
    """A working folder with a scenario that names a trace, and a law that imports a module."""
    folder = tmp_path / "work"
    for name, text in {
        "calls.toml": CALLS,
        "scenarios/traced.toml": TRACED,
        "traces/rate.csv": TRACE,
        "laws/gentle.py": LAW,
        "laws/shares.py": "KEPT = 0.875\n",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A working folder with the results of a run, and their bundle."""
    folder = tmp_path_factory.mktemp("bundles")
    (folder / "calls.toml").write_text(CALLS, encoding="utf-8")
    for words in ("run calls.toml -n 2 --no-page --out out", "bundle out"):
        subprocess.run([sys.executable, "-m", "fairwave", *words.split()], check=True, cwd=folder)
    return folder


@pytest.fixture
def bundled(made, work):
    """The bundle of a run, next to the run's folder."""
    shutil.copytree(made, work, dirs_exist_ok=True)
    return work / "out.fairwave.zip"


def contents(file):
    with zipfile.ZipFile(file) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def written(file, entries):
    """Writes a bundle as a stranger could."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, data in entries.items():
            opened.writestr(name, data)
    return file


def forged(file, target, change, *, files=None):
    """A copy of a bundle with a changed manifest, and files that the manifest lists correctly."""
    entries = contents(file)
    manifest = json.loads(entries[archive.MANIFEST])
    entries |= files or {}
    for name, data in (files or {}).items():
        manifest["files"][name] = {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
    change(manifest)
    entries[archive.MANIFEST] = json.dumps(manifest).encode()
    return written(target, {name: entries[name] for name in [archive.MANIFEST, *manifest["files"]]})


def unchanged(_):
    """The manifest stays as it is."""


def test_a_run_is_repeated_byte_for_byte_elsewhere(bundled, tmp_path, monkeypatch, fairwave):
    manifest = json.loads(contents(bundled)["manifest.json"])
    assert manifest["command"] == "fairwave run calls.toml -n 2 --no-page --out out"
    assert manifest["seeds"] == [1, 2]
    assert re.match("[0-9a-f]{7}|unknown", manifest["origin"]["commit"])
    assert manifest["origin"]["build"].partition("+")[0] == fw.__version__
    assert {"inputs/here/calls.toml", "results/scenario.toml", "results/groups.csv"} <= manifest[
        "files"
    ].keys()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    shutil.move(bundled, elsewhere / "paper.zip")
    shutil.rmtree(tmp_path / "work" / "out")
    monkeypatch.chdir(elsewhere)
    status, out, _ = fairwave("repeat", "paper.zip")
    assert status == 0
    assert "The same build and surroundings.\nSame: all 7 tables have the same bytes." in out


def test_equal_contents_give_equal_bytes(bundled, fairwave):
    first = bundled.read_bytes()
    assert fairwave("bundle", "out")[0] == 2
    assert fairwave("bundle", "out", "--overwrite")[0] == 0
    assert bundled.read_bytes() == first


def test_a_comparison_with_a_law_and_a_trace_is_repeated_once_its_code_is_trusted(work, fairwave):
    words = ("--laws", "laws/gentle.py", "--over", "tfrc,tcp/gentle", "--flow", "files", "-n", 2, "--no-page")
    command = [sys.executable, "-m", "fairwave", "compare", "scenarios/traced.toml", *map(str, words)]
    subprocess.run([*command, "--out", "out"], check=True)  # the law stays in that process
    status, out, err = fairwave("bundle", "out", "--json")
    assert status == 0, err
    made = json.loads(out)
    assert made["sha256"] == hashlib.sha256(Path(made["file"]).read_bytes()).hexdigest()
    assert (
        "the bundle has Python code (inputs/here/laws/gentle.py, inputs/here/laws/shares.py)"
        in made["remarks"][0]
    )
    assert {name for name in made["manifest"]["files"] if name.startswith("inputs/")} == {
        "inputs/here/laws/gentle.py", "inputs/here/laws/shares.py", "inputs/here/scenarios/traced.toml",
        "inputs/here/traces/rate.csv",
    }  # fmt: skip
    for name in ("laws", "scenarios", "traces", "out"):
        shutil.rmtree(work / name)
    status, _, err = fairwave("repeat", "out.fairwave.zip")
    assert status == 2
    assert "has Python code, which runs with your rights (inputs/here/laws/gentle.py, " in err
    assert "add --trust" in err
    status, out, err = fairwave("repeat", "out.fairwave.zip", "--trust", "--out", "again")
    assert status == 0, err
    assert "tables have the same bytes." in out
    assert (work / "again" / "comparison.csv").is_file()


def test_a_search_is_repeated_by_its_answer(work, fairwave):
    words = ("--vary", "flow.voice.count=1..2", "--until", "mos.voice >= 2", "-n", 2, "--most", 2)
    fairwave("find", "calls.toml", *words, "--out", "out")
    assert fairwave("bundle", "out")[0] == 0
    found = fw.repeat("out.fairwave.zip", threads=1)
    assert found.is_same
    assert {"answer.json", "tried.csv"} <= {one.name for one in found.tables}
    assert "answer.json the same values" in str(found)
    assert found.to_dict()["same"]


def test_files_by_their_whole_path_and_above_the_working_folder_are_found(
    work, tmp_path, monkeypatch, fairwave
):
    far = tmp_path / "far"
    far.mkdir()
    shutil.copy(work / "calls.toml", far / "mine.toml")
    monkeypatch.chdir(work / "laws")
    words = (
        "--baseline",
        far / "mine.toml",
        "--require",
        "mos.voice >= baseline - 1",
        "--no-page",
        "--out",
        "out",
    )
    assert fairwave("run", "../scenarios/traced.toml", *words)[0] == 4  # one run decides nothing
    made = fw.bundle("out")
    assert made.manifest.folder == "inputs/here/laws"
    assert made.manifest.arguments[:3] == [
        "run",
        "../scenarios/traced.toml",
        "--baseline=../../there-1/mine.toml",
    ]
    shutil.rmtree(far)
    assert fw.repeat(made.file).is_same


@pytest.mark.parametrize(
    ("word", "names"),
    [
        ("lte-call", {"inputs/here/lte-call", "inputs/here/lte.csv"}),
        ("examples/lte-call.toml", {"inputs/here/examples/lte-call.toml", "inputs/here/examples/lte.csv"}),
    ],
)
def test_examples_of_fairwave_are_in_the_bundle(work, fairwave, word, names):
    settings = ("--set", "duration=2 s", "--set", "warmup=0 s", "--set", "flow.download.start=0 s")
    assert fairwave("run", word, *settings, "--no-page", "--out", "out")[0] == 0
    made = fw.bundle("out")
    assert {name for name in made.manifest.files if name.startswith("inputs/")} == names
    assert made.manifest.arguments[:2] == ["run", word]
    assert fw.repeat(made.file).is_same
    (work / "lte.csv").write_text(TRACE)
    (work / "mine.toml").write_text(CALLS.replace('"300 kb/s"', '{ law = "trace", file = "lte.csv" }'))
    parts = command_words.split_words(["run", "lte-call", "--baseline", "mine.toml"])[1]
    with pytest.raises(BundleError, match="would have both as"):
        inputs.find_inputs("run", parts, work)


def test_a_different_result_is_reported_with_place_and_size(bundled, tmp_path, fairwave):
    def reseed(manifest):
        manifest["arguments"].append("--seed=5")
        manifest["origin"] |= {"commit": "0000000", "system": "Plan9 riscv64"}

    other = forged(bundled, tmp_path / "other.zip", reseed)
    status, out, _ = fairwave("repeat", other)
    assert status == 1
    assert re.search(r"Different origin: commit 0000000 → \S+, system Plan9 riscv64 → ", out)
    assert "\nDifferent: " in out
    assert (
        "runs.csv: 2 of 6 values differ; largest relative difference 80 %, in seed\n  row 1 (run 0), seed: 1 → 5"
        in out
    )
    status, out, _ = fairwave("repeat", other, "--json")
    assert status == 1
    told = json.loads(out)
    assert not told["same"]
    runs = next(one for one in told["tables"] if one["name"] == "runs.csv")
    assert runs["first"][0] == {
        "row": 1,
        "labels": "run 0",
        "column": "seed",
        "bundled": "1",
        "repeated": "5",
    }


def test_missing_and_additional_tables_are_different(bundled, tmp_path):
    def drop(manifest):
        del manifest["files"]["results/work.csv"]

    found = fw.repeat(forged(bundled, tmp_path / "x.zip", drop, files={"results/made-up.csv": b"a\n1\n"}))
    assert {one.name: one.status for one in found.tables if not one.is_same} == {
        "made-up.csv": "missing", "work.csv": "additional",
    }  # fmt: skip
    assert "made-up.csv: the repetition does not have it" in str(found)


def test_tables_are_compared_by_value(tmp_path):
    one, other = tmp_path / "one.csv", tmp_path / "other.csv"
    one.write_text('"run","group","x"\n0,"a",1\n1,"b",2\n2,"c",\n')
    other.write_text('"run","group","x"\n0,"a",1.0\n1,"b",2.0\n2,"c",\n')
    assert compare_tables(one, other, "t.csv").status == "same values"
    other.write_text('"run","group","x"\n0,"a",1\n1,"b",2.5\n2,"c",7\n3,"d",1\n')
    found = compare_tables(one, other, "t.csv")
    assert (found.status, found.different, found.values) == ("different", 2, 9)
    assert found.describe() == [
        "t.csv: 2 of 9 values differ; the repetition has 1 more rows; largest relative difference 20 %, in x",
        "  row 2 (run 1, group b), x: 2 → 2.5",
        "  row 3 (run 2, group c), x: nothing → 7",
    ]
    other.write_text('"run","x","y"\n0,1,1\n1,2,1\n2,,1\n')
    assert compare_tables(one, other, "t.csv").shape == (
        "columns only in the bundle: 'group'; columns only in the repetition: 'y'"
    )


def test_lines_without_end_are_not_read_into_memory(tmp_path):
    one, other = tmp_path / "one.csv", tmp_path / "other.csv"
    one.write_text("a\n" + "1" * 1_000_001)
    other.write_text("a\n1\n")
    with pytest.raises(BundleError, match="a line of more than 1000000 characters"):
        compare_tables(one, other, "t.csv")


def test_a_bundle_in_the_place_of_a_scenario_is_recognised(bundled, fairwave):
    assert "`fairwave repeat out.fairwave.zip` repeats it" in fairwave("check", "out.fairwave.zip")[2]


def test_a_damaged_file_is_named(bundled, tmp_path, fairwave):
    entries = contents(bundled)
    entries["results/groups.csv"] = entries["results/groups.csv"].replace(b"tfrc", b"TFRC")
    status, _, err = fairwave("repeat", written(tmp_path / "x.zip", entries))
    assert status == 2
    assert "results/groups.csv has not the SHA-256 that its manifest lists" in err
    del entries["results/groups.csv"]
    assert "results/groups.csv is missing" in fairwave("repeat", written(tmp_path / "x.zip", entries))[2]
    entries = {**contents(bundled), "results/more.csv": b""}
    assert (
        "results/more.csv is not in the list" in fairwave("repeat", written(tmp_path / "x.zip", entries))[2]
    )


def test_cut_and_flipped_bundles_end_in_one_line(bundled, tmp_path, fairwave):
    data, bad = bundled.read_bytes(), tmp_path / "bad.zip"
    for at in range(0, len(data), len(data) // 25):
        for wrong in (data[:at], data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1 :]):
            bad.write_bytes(wrong)
            # A flip may hit a field that ZIP readers ignore. Then the contents have their SHA-256.
            status, _, err = fairwave("repeat", bad, "--unpack", tmp_path / f"unpacked-{at}-{len(wrong)}")
            assert status == 2 or len(wrong) == len(data), err
            assert len(err.splitlines()) == 1 or status == 0
            assert "Traceback" not in err


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("../evil.csv", "no name for a file"),
        ("/etc/evil.csv", "no name for a file"),
        ("results/..\\evil.csv", "no name for a file"),
        ("results/C:evil.csv", "no name for a file"),
        ("inputs/here/matplotlibrc", "no name for a file"),
        ("results/a\x1b[2J.csv", "no name for a file"),
        ("results/GROUPS.csv", "twice"),
        ("results/groups.csv/x.csv", "a file and a folder of the same name"),
        ("elsewhere/x.csv", "is in no folder of bundles"),
    ],
)
def test_names_that_lead_elsewhere_are_refused(bundled, tmp_path, name, says):
    bad = forged(bundled, tmp_path / "bad.zip", unchanged, files={name: b"1\n"})
    with pytest.raises(BundleError, match=says):
        fw.repeat(bad)
    assert not (tmp_path / "evil.csv").exists()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["run", "/etc/hostname"], "reads /etc/hostname, which is not in the bundle"),
        (["run", "../../../calls.toml"], "which is not in the bundle"),
        (["run", "calls.toml", "--laws=/tmp/evil.py"], "reads /tmp/evil.py, which is not in the bundle"),
        (["run", "calls.toml", "--baseline=/"], "reads /, which is not in the bundle"),
        (["study", "/etc"], "reads /etc, which is not in the bundle"),
        (["run", "-"], "standard input"),
        (["run", "calls.toml", "--rm"], "the option is not known"),
        (["run", "calls.toml", "--json=yes"], "the option is not known"),
        (["run", "calls.toml", "--seed"], "the value of --seed is missing"),
        (["shell", "calls.toml", "--", "sh"], "a bundle cannot repeat `fairwave shell`"),
        ([], "a bundle cannot repeat"),
        (["compare", "."], "saved folders"),
    ],
)
def test_commands_that_reach_out_of_the_bundle_are_refused(bundled, tmp_path, words, says):
    bad = forged(bundled, tmp_path / "bad.zip", lambda manifest: manifest.update(arguments=words))
    with pytest.raises(BundleError, match=re.escape(says)):
        fw.repeat(bad)


def test_files_that_the_command_does_not_read_are_refused(bundled, tmp_path):
    bad = forged(bundled, tmp_path / "bad.zip", unchanged, files={"inputs/here/more.csv": b"1\n"})
    with pytest.raises(BundleError, match=r"does not read inputs/here/more\.csv"):
        fw.repeat(bad)


def test_modules_in_the_working_folder_never_run(bundled, tmp_path):
    code = f"open({str(tmp_path / 'ran')!r}, 'w')\n".encode()
    files = {
        f"inputs/here/{name}.py": code for name in ("numpy", "json", "rich", "fairwave", "sitecustomize")
    }
    bad = forged(bundled, tmp_path / "bad.zip", unchanged, files=files)
    with pytest.raises(repeating.UntrustedBundleError, match=r"inputs/here/json\.py"):
        fw.repeat(bad)
    assert fw.repeat(bad, trust=True).is_same  # no option of the command names these files
    assert not (tmp_path / "ran").exists()


def test_recordings_are_decoded_for_trusted_bundles_only(work, tmp_path, fairwave):
    flow = (
        '[[flow]]\nname = "film"\ntransport = "udp"\ntraffic = { kind = "video-trace", clip = "film.mp4" }\n'
    )
    (work / "film.toml").write_text(CALLS + flow, encoding="utf-8")
    (work / "film.mp4").write_bytes(b"no film")
    (work / "voice.wav").write_bytes(b"no recording")
    fairwave("run", "calls.toml", "--no-page", "--out", "out")
    note = json.loads((work / "out" / ".fairwave").read_text())
    for words, name in (("calls.toml --speech voice.wav", "voice.wav"), ("film.toml", "film.mp4")):
        (work / "out" / ".fairwave").write_text(
            json.dumps(note | {"command": f"fairwave run {words} --out out"})
        )
        made = fw.bundle("out", overwrite=True)
        assert f"inputs/here/{name}" in made.manifest.files
        with pytest.raises(
            repeating.UntrustedBundleError, match=rf"decoders of other projects read \({name}\)"
        ):
            fw.repeat(made.file)


def test_bombs_are_refused_before_they_are_unpacked(bundled, tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "MOST_BYTES", 1_000_000)
    bad = forged(bundled, tmp_path / "bomb.zip", unchanged, files={"results/zeros.csv": bytes(2_000_000)})
    assert bad.stat().st_size < 200_000
    with pytest.raises(BundleError, match="a bundle at most 1 MB unpacked"):
        fw.repeat(bad)
    monkeypatch.setattr(archive, "MOST_FILES", 5)
    with pytest.raises(BundleError, match="its list of files has"):
        fw.repeat(bundled)


def test_lists_of_files_that_lie_about_their_length_are_refused_unread(bundled, tmp_path, monkeypatch):
    monkeypatch.setattr(zipfile, "ZipFile", lambda *_: pytest.fail("it is refused before"))
    data, bad = bundled.read_bytes(), tmp_path / "bad.zip"
    end = archive.END.size
    fields = list(archive.END.unpack(data[-end:]))
    for place, value in ((4, 0xFFFF), (5, 0xFFFFFFFF), (7, 4)):
        bad.write_bytes(data[:-end] + archive.END.pack(*fields[:place], value, *fields[place + 1 :]))
        with pytest.raises(BundleError, match="its list of files has"):
            fw.repeat(bad)
    bad.write_bytes(data[:-end] + struct.pack("<4sLQL", archive.ZIP64, 0, 0, 1) + data[-end:])
    with pytest.raises(BundleError, match="of a form that bundles lack"):
        fw.repeat(bad)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"format": "fairwave bundle 9"}, "has the format 'fairwave bundle 9'"),
        ({"seeds": ["1"]}, "no usable value of seeds"),
        ({"arguments": "run calls.toml"}, "no usable value of arguments"),
        ({"folder": "inputs/../.."}, "no name for a file"),
        ({"folder": "results"}, "is in no folder of bundles"),
        ({"origin": {}}, "no usable value of origin.version"),
        ({"name": "x" * 200_000}, "no usable value of name"),
        ({"files": []}, "no usable value of files"),
    ],
)
def test_a_forged_manifest_is_refused(bundled, tmp_path, change, says):
    entries = contents(bundled)
    manifest = json.loads(entries[archive.MANIFEST]) | change
    bad = written(tmp_path / "bad.zip", {**entries, archive.MANIFEST: json.dumps(manifest).encode()})
    with pytest.raises(BundleError, match=re.escape(says)):
        fw.repeat(bad)


def test_other_archives_and_files_are_refused(tmp_path, fairwave):
    (tmp_path / "text.zip").write_text("no archive")
    for file, says in (
        (tmp_path / "missing.zip", "no file "),
        (tmp_path / "text.zip", "is no bundle"),
        (written(tmp_path / "other.zip", {"a.txt": b"a"}), "is a ZIP archive without manifest.json"),
        (tmp_path, "no file "),
    ):
        status, _, err = fairwave("repeat", file)
        assert status == 2
        assert says in err


def test_a_command_that_fails_is_not_the_same(bundled, tmp_path, fairwave):
    bad = forged(
        bundled, tmp_path / "bad.zip", unchanged, files={"inputs/here/calls.toml": b"name = 'empty'\n"}
    )
    status, _, err = fairwave("repeat", bad)
    assert status == 1
    assert "failed with status 2" in err


def test_a_bundle_is_unpacked_after_a_check(bundled, tmp_path, fairwave):
    status, out, _ = fairwave("repeat", bundled, "--unpack", tmp_path / "unpacked")
    assert status == 0
    assert "inputs/here/calls.toml" in out
    assert (tmp_path / "unpacked" / "results" / "groups.csv").is_file()
    assert "not an empty folder" in fairwave("repeat", bundled, "--unpack", tmp_path / "unpacked")[2]
    assert "not an empty folder" in fairwave("repeat", bundled, "--out", tmp_path / "unpacked")[2]
    assert "is a file" in fairwave("repeat", bundled, "--out", "calls.toml")[2]
    assert "--unpack repeats nothing" in fairwave("repeat", bundled, "--unpack", "x", "--trust")[2]


def test_folders_that_cannot_be_repeated_are_refused(bundled, work, fairwave, results):
    def refusal(*words):
        status, _, err = fairwave("bundle", *words)
        assert status == 2
        return err

    assert "no folder 'nothing'" in refusal("nothing")
    assert "holds no results of a command" in refusal("laws")
    assert "exists; give --overwrite" in refusal("out")
    assert "is a file" in refusal("out", "--out", "calls.toml/x")
    assert "is a folder; give the name of a file" in refusal("out", "--out", "laws")
    results.save("python")
    assert "holds no results of a command" in refusal("python")
    note = json.loads((work / "out" / ".fairwave").read_text())
    for change, says in (
        ({"command": "python"}, "a Python program made"),
        ({"kind": "live"}, "holds a live run, which cannot be repeated byte for byte"),
        (
            {"command": "fairwave run gone.toml --out out"},
            "the command reads 'gone.toml', and there is no such file",
        ),
        ({"command": "fairwave run - --out out"}, "from standard input"),
        ({"command": "fairwave compare laws traces --out out"}, "bundle each of these folders"),
    ):
        (work / "out" / ".fairwave").write_text(json.dumps(note | change))
        assert says in refusal("out", "--overwrite"), change
    (work / "out" / ".fairwave").write_text(json.dumps(note))
    (work / "traces" / "rate.csv").unlink()
    (work / "out" / ".fairwave").write_text(
        json.dumps(note | {"command": "fairwave run scenarios/traced.toml"})
    )
    assert "names '../traces/rate.csv', and there is no such file" in refusal("out", "--overwrite")


def test_changed_tables_are_refused_and_changed_inputs_remarked(bundled, work, fairwave):
    later = (work / "out" / ".fairwave").stat().st_mtime + 10
    os.utime(work / "calls.toml", (later, later))
    assert "calls.toml: changed after these results were made" in fairwave("bundle", "out", "--overwrite")[2]
    with (work / "out" / "groups.csv").open("a") as table:
        table.write("\n")
    assert "groups.csv has not the SHA-256" in fairwave("bundle", "out", "--overwrite")[2]
    for table in (work / "out").glob("*.csv"):
        table.unlink()
    assert "its command has not ended" in fairwave("bundle", "out", "--overwrite")[2]


def test_results_of_another_build_name_it(bundled, monkeypatch):
    monkeypatch.setattr("fairwave.runs.keeping.engine", lambda: "9.9.9+abc")
    monkeypatch.setattr(packing, "engine", lambda: "9.9.9+abc")
    made = fw.bundle("out", overwrite=True)
    assert "another build of fairwave made these results" in made.remarks[0]
    assert made.manifest.origin.build != "9.9.9+abc"


def test_results_of_another_commit_name_it(bundled, work):
    provenance = work / "out" / "provenance.json"
    text = provenance.read_text()
    commit = json.loads(text)["commit"]
    assert fw.bundle("out", overwrite=True).manifest.origin.commit.removesuffix("-dirty") == commit
    provenance.write_text(text.replace(f'"{commit}"', '"0123456"'))
    sums = (work / "out" / "SHA256SUMS").read_text().splitlines()[:-1]
    sums.append(f"{hashlib.sha256(provenance.read_bytes()).hexdigest()}  provenance.json")
    (work / "out" / "SHA256SUMS").write_text("\n".join(sums) + "\n")
    assert fw.bundle("out", overwrite=True).manifest.origin.commit == "0123456"
    assert fw.repeat(bundled).origin[0].startswith("commit 0123456 → ")


def test_every_option_of_the_commands_has_a_role():
    known = options()
    for name in command_words.ARGUMENTS:
        wanted = {one for one in known[name] if one != "--help"}
        missing = {one for one in wanted if command_words.SHORT.get(one, one) not in command_words.OPTIONS}
        assert missing - {"-h"} == set(), name
        for_all = {f"--{one}" for one in ("out", "threads")}
        assert for_all <= wanted
        assert ("--yes" in wanted) == (name in command_words.ASKING)
    used = set().union(*(known[name] for name in command_words.ARGUMENTS))
    assert command_words.OPTIONS.keys() - used == set()


def test_joined_short_options_and_the_end_of_options_are_read():
    name, parts = command_words.split_words(["run", "-yn5", "--seed", "3", "--set=a=b", "--", "x.toml"])
    assert [name, *(part.word for part in parts)] == [
        "run", "--yes", "--replications=5", "--seed=3", "--set=a=b", "x.toml",
    ]  # fmt: skip


def test_files_in_settings_are_found(work):
    def found(*words):
        _, parts = command_words.split_words(["run", *words])
        return {name.removeprefix("inputs/here/") for name in inputs.find_inputs("run", parts, work).files}

    law = 'link.a.rate={ law = "trace", file = "traces/rate.csv" }'
    assert found("calls.toml", "--set", law) == {"calls.toml", "traces/rate.csv"}
    assert found("calls.toml", "--set", "link.a.rate.file=traces/rate.csv") == {
        "calls.toml",
        "traces/rate.csv",
    }
    (work / "red").write_text("a file that a value happens to name")
    assert found("calls.toml", "--set", "link.a.queue=red") == {"calls.toml"}
    whole = work / "traces" / "rate.csv"
    with pytest.raises(BundleError, match="by its whole path"):
        found("calls.toml", "--set", f"link.a.rate.file={whole}")


def test_the_commit_is_marked_if_the_sources_were_changed(tmp_path, monkeypatch):
    from fairwave import provenance

    package = tmp_path / "python" / "fairwave"
    package.mkdir(parents=True)
    monkeypatch.setattr(provenance, "__file__", str(package / "provenance.py"))
    monkeypatch.setattr(provenance, "commit", provenance.commit.__wrapped__)
    assert provenance.describe_commit() == "unknown"
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@x", "-C", str(tmp_path)]
    (package / "a.py").write_text("1\n")
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "first"]):
        subprocess.run([*git, *words], check=True)
    clean = provenance.describe_commit()
    assert re.fullmatch("[0-9a-f]{7}", clean)
    (package / "a.py").write_text("2\n")
    assert provenance.describe_commit() == f"{clean}-dirty"
    with monkeypatch.context() as patch:
        patch.setenv("PATH", str(tmp_path / "nothing"))
        assert provenance.describe_commit() == clean
    (package / "commit.txt").write_text("0123456-dirty\n", encoding="ascii")
    assert provenance.commit() == "0123456-dirty"


def test_a_bundle_is_made_and_repeated_without_git(bundled, monkeypatch):
    monkeypatch.setenv("PATH", "")
    made = fw.bundle("out", overwrite=True)
    assert "-dirty" not in made.manifest.origin.commit
    assert fw.repeat(bundled).is_same


def test_an_origin_names_what_differs():
    one = Origin("0.1.0", "abc", "0.1.0+1", "3.11.7", "Linux x86_64", {"numpy": "2.1"})
    other = Origin("0.1.0", "abc", "0.1.0+2", "3.12.0", "Linux x86_64", {"numpy": "2.1", "av": "14"})
    assert one.differences(other) == ["build 1 → 2", "Python 3.11.7 → 3.12.0", "av absent → 14"]
    assert one.differences(one) == []


def test_a_manifest_is_read_as_it_was_written(bundled):
    data = contents(bundled)[archive.MANIFEST]
    assert Manifest.from_json(data, bundled).to_json().encode() == data
