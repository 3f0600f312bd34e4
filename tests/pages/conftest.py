"""One small page of each kind, made once, and a browser if there is one."""

import os
import shutil
from pathlib import Path
from types import SimpleNamespace

import matplotlib as mpl
import pytest

import fairwave
from fairwave.measuring import measures
from fairwave_study import Assumption, Calibration, Claim, Figure, Grid, Study, Table, comparisons, vary
from once import once
from page_making import command, recording
from scenarios import CALLS

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def short_calls(folder):
    """The scenario of calls as a file."""
    file = folder / "short.toml"
    file.write_text(CALLS, encoding="utf-8")
    return file


def study():
    base = fairwave.load(CALLS).with_overrides({"duration": "3 s", "warmup": "0 s"})
    loss = measures.loss("voice")
    axes = {"transport": {name: {"flow.voice.transport": name} for name in ("udp", "tfrc")}}
    axes["flows"] = vary("flow.voice.count", [2, 6])

    def rises(data):
        return comparisons.rises(data.measured(loss, "main").select(transport="udp"), "flows")

    def falls(data):
        return comparisons.falls(data.measured(loss, "main").select(transport="udp"), "flows")

    return Study(
        name="small",
        title="A small study",
        question="Does it hold together?",
        grids=[Grid("main", base, axes)],
        figures=[
            Figure("a", "Loss over flows", "main", [loss, measures.goodput("voice")], x="flows"),
            Figure("c", "Loss", "main", [loss], x="transport", series=None, fix={"flows": 6}, kind="bar"),
        ],
        tables=[Table("t", "Loss", ("main",), lambda data: data.measured(loss, "main").summary())],
        claims=[
            Claim(
                "S1", "Loss rises with flows.", "nowhere", ("main",), rises, assumptions=("rate", "unnamed")
            ),
            Claim("S2", "Loss falls with flows.", "nowhere", ("main",), falls),
        ],
        assumptions=[Assumption("rate", "The bottleneck has 300 kb/s.", "not stated", "rate")],
        calibrations=[Calibration("loss", "1 %", "Table 1", "rate 300 kb/s", lambda _: "2 %", ("main",))],
    )


def make_pages(folder):
    scenario = folder / "calls.toml"
    scenario.write_text(CALLS.replace('"6 s"', '"14 s"').replace("300 kb/s", "240 kb/s"), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("fairwave_speech.score.is_visqol_installed", lambda: False)
        said = recording(folder / "said.wav")
        words = ("compare", scenario, "--over", "udp,tcp/reno", "-n", 3, "--speech", said)
        assert command(*words, "--out", folder / "compare") == 0
        assert command("run", scenario, "-n", 2, "--out", folder / "run") == 0
        over = ("--grid", "flow.voice.count=2,4,6", "--grid", "topology.bottleneck.rate=200 kb/s,300 kb/s")
        assert command("sweep", short_calls(folder), *over, "-n", 3, "--out", folder / "sweep") == 0
        search = ("--vary", "flow.voice.count=1..12", "--until", "loss.voice <= 40", "-n", 3, "--most", 6)
        assert command("find", short_calls(folder), *search, "--out", folder / "find") == 0
    study().run(folder / "study", 3)


@pytest.fixture(scope="session")
def pages(tmp_path_factory):
    """Kind to page: `run`, `compare` (with a call to listen to), `sweep` over two axes, `find` and `study`."""
    pytest.importorskip("av", reason="a recording cannot be read without PyAV")
    folder = once(tmp_path_factory, "made-pages", make_pages)
    return {kind: folder / kind / "index.html" for kind in ("run", "compare", "sweep", "find", "study")}


@pytest.fixture(scope="session")
def launch():
    """Starts a headless browser, with the fonts of the machine or with the fonts of an environment variable."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="pages are not opened: playwright is not installed"
    )
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        pytest.skip("pages are not opened: no Chromium here (on Debian: apt install chromium)")
    started = []
    with playwright.sync_playwright() as running:

        def start(**environment):
            started.append(
                running.chromium.launch(
                    executable_path=program, args=["--no-sandbox"], env={**os.environ, **environment}
                )
            )
            return started[-1]

        yield start
        for browser in started:
            browser.close()


@pytest.fixture(scope="session")
def chromium(launch):
    """A headless browser."""
    return launch()


MACHINES = {"wide": "DejaVuSans.ttf", "narrow": "STIXGeneral.ttf"}
"""Two machines with a single font each, from Matplotlib."""


@pytest.fixture(scope="session")
def machines(launch, tmp_path_factory):
    """Name to a browser on a machine with a single font."""
    browsers = {}
    for name, font in MACHINES.items():
        folder = tmp_path_factory.mktemp(f"fonts-{name}")
        shutil.copy(Path(mpl.get_data_path()) / "fonts" / "ttf" / font, folder)
        (folder / "fonts.conf").write_text(
            f'<!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig><dir>{folder}</dir>'
            f"<cachedir>{folder}/cache</cachedir></fontconfig>",
            encoding="utf-8",
        )
        browsers[name] = launch(FONTCONFIG_FILE=str(folder / "fonts.conf"))
    return browsers


@pytest.fixture
def opened(chromium, pages, tmp_path):
    """Opens a page of a kind, alone in an empty folder, and records its requests and complaints."""
    contexts = []

    def open_page(kind, width=1440, scheme="light", script=None):
        alone = tmp_path / f"{kind}.html"
        shutil.copy(pages[kind], alone)
        context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        seen = SimpleNamespace(page=page, complaints=[], asked=[])
        page.on("console", lambda said: seen.complaints.append(said.text) if said.type != "info" else None)
        page.on("pageerror", lambda error: seen.complaints.append(str(error)))
        page.on("request", lambda asked: seen.asked.append(asked.url))
        if script:
            page.add_init_script(script)
        page.goto(alone.as_uri())
        return seen

    yield open_page
    for context in contexts:
        context.close()
