"""Pictures of pages for the documentation: ``docs/figures/page-*.png``, taken in a browser without a window.

``python -m validation screenshots`` makes the demo and takes pictures of the first screens of its pages, and of a
phone in dark mode. It also takes the pictures in ``docs/start``: figures of the pages that their commands leave. It
needs Chromium (on Debian: ``apt install chromium``). Without it, it prints a message.
"""

from __future__ import annotations

import io
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from validation import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Browser

FIGURES = ROOT / "docs" / "figures"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
LARGEST = 200_000
"""Bytes that a picture in the documentation has at most."""

SHOTS = (
    ("page-demo", "index.html", 1280, 960, "light"),
    ("page-comparison", "contested/index.html", 1280, 960, "light"),
    ("page-phone", "contested/index.html", 400, 800, "dark"),
)
"""Name, page of the demo, width and height in pixels, colour scheme."""

QUEUES = "compare examples/home-call.toml --vary 'link.home>isp.queue=drop-tail,fq-codel,cake' -n 5 --out out"
COMPARE = "compare examples/home-call.toml --laws mine.py --flow upload --over tcp/cubic,tcp/ledbat++,tcp/mine -n 10"
STARTS = (
    ("page-queues", "", (QUEUES,)),
    ("page-webrtc", "Estimate and capacity", ("run examples/webrtc-home.toml -n 5 --out out",)),
    ("page-research", "What the users get", ("new controller mine", f"{COMPARE} --no-audio --out out")),
)
"""Name, title of a figure on the page (empty: the first screen), and the commands that make the page."""


def main() -> int:
    """Makes the pages and takes the pictures; the status of the program."""
    from playwright.sync_api import sync_playwright

    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        print("no pictures of pages: no Chromium here (on Debian: apt install chromium)", file=sys.stderr)
        return 0
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as running:
        browser = running.chromium.launch(executable_path=program, args=["--no-sandbox"])
        shoot_demo(browser, Path(folder) / "demo")
        shoot_starts(browser, Path(folder))
        browser.close()
    return 0


def shoot_demo(browser: Browser, folder: Path) -> None:
    """Makes the demo and takes the pictures of its pages."""
    command = [sys.executable, "-m", "fairwave", "demo", "--out", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    for name, file, width, height, scheme in SHOTS:
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if scheme == "dark" else "light",
            device_scale_factor=1.5 if width < 500 else 1.0,
        )
        page = context.new_page()
        page.goto((folder / file).as_uri())
        write(name, page.screenshot())


def shoot_starts(browser: Browser, folder: Path) -> None:
    """Runs the commands of `docs/start` and takes the pictures of a figure on each page."""
    for name, title, commands in STARTS:
        made = folder / name
        shutil.copytree(ROOT / "examples", made / "examples")
        for command in commands:
            words = [sys.executable, "-m", "fairwave", *shlex.split(command)]
            subprocess.run(words, cwd=made, check=True, stdout=subprocess.DEVNULL)
        page = browser.new_page(viewport={"width": 1000, "height": 830})
        page.goto((made / "out" / "index.html").as_uri())
        figure = page.locator("figure", has_text=title).first if title else page
        write(name, figure.screenshot())


def write(name: str, picture: bytes) -> None:
    """Writes a picture into the documentation.

    Raises:
        ValueError: The picture has more than `LARGEST` bytes.
    """
    packed = small(picture)
    if len(packed) > LARGEST:
        raise ValueError(f"{name}.png has {len(packed)} bytes, more than {LARGEST}")
    (FIGURES / f"{name}.png").write_bytes(packed)
    print(f"docs/figures/{name}.png: {len(packed) / 1e3:.0f} kB")


def small(picture: bytes) -> bytes:
    """A picture with the few colours that a page has."""
    from PIL import Image

    packed = io.BytesIO()
    with Image.open(io.BytesIO(picture)) as image:
        image.convert("RGB").quantize(256).save(packed, "PNG", optimize=True)
    return packed.getvalue()
