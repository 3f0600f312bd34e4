"""A plain installation, without any extra: working parts, and messages that name the required extra."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

CALL = Path(__file__).parents[1] / "examples" / "contested-call.toml"

LACKED = (
    "anywidget",
    "av",
    "distributed",
    "jinja2",
    "matplotlib",
    "pandas",
    "polars",
    "pyarrow",
    "scipy",
    "sklearn",
)

ALONE = f"""
import sys

class Lacked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {LACKED!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Lacked())
"""

COMMAND = f"{ALONE}\nfrom fairwave.cli import main\nmain()"


def alone(*words, code=COMMAND, folder=None):
    """Runs Python without any extra."""
    command = [sys.executable, "-c", code, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)


def words_of(*words, folder=None):
    done = alone(*words, folder=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_lists_and_explanations_need_no_extra():
    assert "Voice over UDP" in words_of("list")
    assert "udp" in words_of("explain", "udp")
    assert words_of("check", CALL)


def test_a_run_needs_no_extra_and_says_what_it_says_with_them(fairwave):
    words = ("run", CALL, "--set", "duration=30 s", "-n", "2", "--json")
    there, here = json.loads(words_of(*words)), json.loads(fairwave(*words)[1])
    for one in (there, here):
        del one["provenance"]
    assert there == here


def test_questions_need_no_extra(tmp_path):
    answer = words_of(
        "find", CALL, "--vary", "flow.voice.count=1..4", "--until", "mos.voice >= 1", "-n", "2", "--most", "2",
        "--out", tmp_path / "found", "--set", "duration=30 s",
    )  # fmt: skip
    assert "mos.voice >= 1" in answer
    assert (tmp_path / "found" / "answer.json").is_file()
    grid = ("--grid", "flow.voice.count=1,2", "-n", "2", "--set", "duration=30 s")
    assert "MOS" in words_of("sweep", CALL, *grid)


def test_a_comparison_without_extras_leaves_tables_as_csv_and_says_what_brings_the_page(tmp_path):
    words = ("compare", CALL, "--over", "udp,tcp/vegas", "-n", "2", "--set", "duration=30 s", "--out", "c")
    for _ in range(2):  # the second time from kept runs
        done = alone(*words, folder=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "UDP is" in done.stdout
        assert "pip install 'fairwave[report]'" in done.stderr
    left = {one.name for one in (tmp_path / "c").iterdir()}
    assert {"comparison.csv", "flows.csv", "runs.csv", "provenance.json", "SHA256SUMS"} <= left
    assert not any(name.endswith((".html", ".parquet")) for name in left)
    from fairwave import Results

    with pytest.raises(FileNotFoundError, match="only as CSV"):
        Results.load(tmp_path / "c")


def test_tables_as_csv_are_those_that_pyarrow_writes(tmp_path, results):
    from fairwave.table_files import write_table

    for name in results.tables:
        rows = results.rows(name)
        (mine,) = write_table(rows, tmp_path / f"{name}-numpy", results.provenance)
        _, theirs = write_table(rows.to_arrow(), tmp_path / f"{name}-arrow", results.provenance)
        split = [[line.split(",") for line in one.read_text().splitlines()] for one in (mine, theirs)]
        for ours, other in zip(*split, strict=True):
            assert [_value(cell) for cell in ours] == [_value(cell) for cell in other], name


def _value(cell):
    try:
        return repr(float(cell))
    except ValueError:
        return cell


@pytest.mark.parametrize(
    ("words", "extra"),
    [
        (("study", "voice"), "studies"),
        (("evaluate", "tcp/cubic"), "studies"),
        (("run", CALL, "--out", "out", "--speech", "speech.wav"), "report"),
        (("compare", CALL, "--over", "udp,rap", "--playout", "neteq"), "report"),
        (("guard", CALL, "--baseline", CALL), "report"),
        (("run", CALL, "--cluster", "tcp://127.0.0.1:8786"), "cluster"),
    ],
)
def test_what_needs_an_extra_says_which_in_one_line(words, extra, tmp_path):
    done = alone(*words, folder=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: ")
    assert f"pip install 'fairwave[{extra}]'" in line


def test_frames_and_tables_say_which_extra_brings_them():
    asked = """
import fairwave
results = fairwave.load(sys.argv[1]).with_overrides({"duration": "30 s"}).run()
print(results.measured("mos", "voice").interval())
for ask in (lambda: results.flows, lambda: results.to_polars("flows"), lambda: results.to_pandas("flows"),
            lambda: results.measured("mos", "voice").frame, lambda: results.measured("mos", "voice").summary()):
    try:
        ask()
    except ImportError as error:
        print(error)
"""
    done = alone(CALL, code=ALONE + asked)
    assert done.returncode == 0, done.stderr
    _, *said = done.stdout.splitlines()
    extras = [one.rpartition("fairwave[")[2].partition("]")[0] for one in said]
    assert extras == ["tables", "tables", "pandas", "tables", "tables"]


def test_a_command_whose_package_is_not_installed_names_the_extra():
    gone = """
from fairwave import layers
layers.offered = lambda group: {}
from fairwave.cli import main
main()
"""
    done = alone("study", "voice", code=ALONE + gone)
    assert done.returncode == 2
    assert (
        "the command 'study' is not installed; install it with: pip install 'fairwave[studies]'"
        in done.stderr
    )


def test_every_extra_that_a_message_names_is_one():
    import tomllib

    from fairwave import extras, layers

    project = tomllib.loads((CALL.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = {*extras.BRING.values(), *extras.CARRIED, *layers.COMMANDS.values()}
    named |= {extra for _, extra in layers.LAYERS.values()}
    assert named <= set(project["optional-dependencies"])


def test_the_process_of_a_live_run_loads_nothing_that_starts_threads():
    # A process that makes a user namespace must have one thread, and NumPy starts several on several cores.
    code = "import sys, fairwave.live.host; print('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stdout == b"False\n"
