"""The pages of the first ten minutes, `docs/start/`: short, and their commands give the output on the page.

A block ``console`` has a command after ``$ `` and parts of its output. An ellipsis separates the parts, and an indented
line continues the line above.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import fairwave.lab
from once import once

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs" / "start").glob("*.md"))
NAMES = [page.stem for page in PAGES]
MOST_WORDS = 700
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.M | re.S)
NUMBER = re.compile(r"(?<![\w.-])\d+(?:\.\d+)?(?![\w.]*\d)")
COMPUTED = {
    "voip": {"80": (160 + 40) * 8 / 0.02 / 1e3},
    "teaching": {"0.8": 500e3 * 8 / 5e6},
}
"""Numbers of a page that follow from its scenario: the rate of G.711 with headers, the time that drains a buffer."""


def text(name):
    return (ROOT / "docs" / "start" / f"{name}.md").read_text(encoding="utf-8")


def blocks(name):
    """Each command of a page, and the parts of the output."""
    found = []
    for block in BLOCK.findall(text(name)):
        command, _, output = block.partition("\n")
        parts = [" ".join(part.split()) for part in output.split("…")]
        found.append((command.removeprefix("$ "), [part for part in parts if part]))
    return found


def run_commands(name, folder):
    """The standard output of each command of a page, typed one after the other in a reader's folder."""
    shutil.copytree(ROOT / "examples", folder / "examples")
    environment = {**os.environ, "COLUMNS": "200", "PYTHONPATH": str(ROOT / "python")}
    outputs = []
    for command, _ in blocks(name):
        program, *words = shlex.split(command)
        assert program == "fairwave"
        quick = (
            ["--no-page"]
            if words[0] in {"run", "compare"} and "--out" in words and "--figures" not in words
            else []
        )
        quick += ["--no-audio"] if words[0] == "compare" and "--no-audio" not in words else []
        done = subprocess.run(
            [sys.executable, "-m", "fairwave", *words, *quick],
            cwd=folder, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, (command, done.stderr)
        outputs.append(" ".join((done.stdout + done.stderr).split()))
    return outputs


@pytest.fixture(params=NAMES)
def page(request, tmp_path_factory):
    """A page by its name, and the outputs of its commands."""
    name = request.param
    if name == "teaching" and fairwave.lab.built() is None:
        pytest.skip("the lab has not been built: make lab")
    folder = once(
        tmp_path_factory,
        f"start-{name}",
        lambda made: (made / "outputs.json").write_text(
            json.dumps(run_commands(name, made)), encoding="utf-8"
        ),
    )
    return name, json.loads((folder / "outputs.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", NAMES)
def test_a_page_has_at_most_700_words(name):
    assert len(text(name).split()) <= MOST_WORDS


@pytest.mark.slow
def test_the_commands_give_the_output_on_the_page(page):
    name, outputs = page
    assert any(parts for _, parts in blocks(name))
    for (command, parts), output in zip(blocks(name), outputs, strict=True):
        place = 0
        for part in parts:
            found = output.find(part, place)
            assert found >= 0, f"{command}: {part!r} is not in {output[place:]!r}"
            place = found + len(part)


def known_numbers(name, outputs):
    """Every number that the page may contain: of its commands, their output, its scenarios, and the bands of MOS."""
    scenarios = set(re.findall(r"examples/[\w-]+\.toml", text(name)))
    sources = [*outputs, *(command for command, _ in blocks(name))]
    sources += [(ROOT / file).read_text(encoding="utf-8").replace("_", "") for file in scenarios]
    results = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    sources += re.findall(r"^\| MOS of calls \|.*$|MOS between 1 and 4.5", results, re.M)
    return [float(one) for source in sources for one in NUMBER.findall(source)]


@pytest.mark.slow
def test_every_number_in_the_text_of_a_page_is_in_its_output_or_scenario(page):
    name, outputs = page
    prose = BLOCK.sub("", text(name))
    prose = re.sub(r"`[^`]*`|\]\([^)]*\)|RFC \d+|^> .*$|^\d\. ", "", prose, flags=re.M)
    known = [*known_numbers(name, outputs), *COMPUTED.get(name, {}).values()]

    def is_known(number):
        return any(abs(float(number) - one) <= 0.5001 * 10 ** -len(number.partition(".")[2]) for one in known)

    written = [one for one in NUMBER.findall(prose) if len(one) > 1]
    assert written or name == "research"
    assert [one for one in written if not is_known(one)] == []
