"""`make quick` chooses the tests of changed code, and `make test-times` reads the durations of tests."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from validation.checks import durations, quick

ROOT = Path(__file__).parents[1]

TESTS = [
    ("tests/test_a.py", "from fairwave.report import figures\n"),
    ("tests/test_b.py", "import fairwave.report.figures as drawn\n"),
    ("tests/test_c.py", "PATCHED = 'fairwave.report.figures.save'\n"),
    ("tests/test_d.py", "from fairwave.report.figures_of_others import figures_\nEXAMPLE = 'home.toml'\n"),
    ("tests/pages/test_e.py", "from scenarios import CALLS\n"),
]


def chosen(*files: str) -> quick.Chosen:
    return quick.choose(list(files), TESTS)


def test_a_module_runs_the_tests_that_import_it_or_name_it() -> None:
    found = chosen("python/fairwave/report/figures.py")
    assert found.tests == ["tests/test_a.py", "tests/test_b.py", "tests/test_c.py"]
    assert found.python == ["python/fairwave/report/figures.py"]


def test_what_tests_share_runs_the_tests_that_import_it() -> None:
    assert chosen("tests/scenarios.py").tests == ["tests/pages/test_e.py"]
    assert chosen("tests/pages/conftest.py").tests == ["tests/pages/test_e.py"]


def test_a_test_file_runs_itself_and_a_file_of_data_those_that_name_it() -> None:
    assert chosen("tests/test_d.py").tests == ["tests/test_d.py"]
    assert chosen("examples/home.toml").tests == ["tests/test_d.py"]
    assert chosen("examples/no-home.toml").tests == []
    assert chosen("docs/results.md").tests == ["tests/test_docs.py"]


def test_a_file_of_data_in_a_package_runs_the_tests_of_the_package() -> None:
    assert chosen("python/fairwave/report/words.toml").tests == [test for test, _ in TESTS[:4]]
    assert chosen("python/fairwave/reports/words.toml").tests == []


def test_a_crate_runs_its_own_tests_and_a_file_of_outside_tests_that_file() -> None:
    found = chosen(
        "crates/fairwave-tcp/src/rtt.rs",
        "crates/fairwave-sim/tests/video.rs",
        "crates/fairwave-python/src/lib.rs",
    )
    assert found.crates == ["fairwave-tcp"], "the bindings have no tests"
    made = quick.commands(found, rust=True)
    assert made[0] == ["cargo", "fmt", "--all", "--check"]
    assert made[1][-3:] == ["--lib", "--package", "fairwave-tcp"]
    assert made[2][-4:] == ["--test", "all", "--", "video::"]
    assert any("crates that use fairwave-tcp" in what for what in quick.left(found, []))


def test_the_list_of_outside_tests_runs_all_of_them() -> None:
    made = quick.commands(
        chosen("crates/fairwave-sim/tests/all.rs", "crates/fairwave-sim/tests/video.rs"), rust=False
    )
    assert made == [["cargo", "test", "--locked", "--quiet", "--package", "fairwave-sim", "--test", "all"]]


def test_nothing_slow_or_live_is_run_and_time_is_bounded() -> None:
    (command,) = quick.commands(chosen("examples/home.toml"), rust=False)
    assert command[:3] == [sys.executable, "-m", "pytest"]
    assert "not slow and not live" in command
    assert command[command.index("--budget") + 1] == str(quick.BUDGET_S)


def test_times_are_read_from_both_kinds_of_tests() -> None:
    printed = "running 2 tests\ntest a::b ... ok <1.250s>\ntest c - should panic ... ok <0.001s>\n\ntest result: ok.\n"
    assert durations.times(printed) == [("a::b", 1.25), ("c", 0.001)]
    report = (
        '<testsuites><testsuite><testcase classname="tests.test_a" name="test_x[1]" time="3.5"><properties>'
        '<property name="cpu_s" value="1.75"/></properties></testcase></testsuite></testsuites>'
    )
    assert durations.python(report) == [durations.Took("tests/test_a.py::test_x[1]", 1.75, 3.5)]


def test_the_table_has_a_row_for_each_part_and_for_each_test() -> None:
    took = durations.Took("tests/test_a.py::test_x[a|b]", 1.75, 3.5)
    table = durations.table([took], [durations.Took("Rust", 60.0, 0.0, 12)])
    assert "| Rust | 12 | 60 s |" in table
    assert "| 1.8 s | `tests/test_a.py::test_x[a\\|b]` |" in table
    page = (ROOT / "docs" / "testing.md").read_text(encoding="utf-8")
    assert durations.BEGIN in page
    assert durations.END in page


def test_every_test_tells_its_cpu_time(pytestconfig: pytest.Config, request: pytest.FixtureRequest) -> None:
    assert request.node.cpu_before_s > 0
    assert pytestconfig.getoption("--budget") is None or pytestconfig.getoption("--budget") > 0
