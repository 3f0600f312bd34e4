"""Pictures of pages for the documentation: ``docs/figures/page-*.png``, taken in a browser without a window.

``python -m validation screenshots`` makes the demo and takes pictures of the first screens of its pages, and of a
phone in dark mode. It needs Chromium (on Debian: ``apt install chromium``). Without it, it prints a message.
"""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from validation import ROOT

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


def main() -> int:
    """Makes the page and takes the pictures; the status of the program."""
    from playwright.sync_api import sync_playwright

    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        print("no pictures of pages: no Chromium here (on Debian: apt install chromium)", file=sys.stderr)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "fairwave", "demo", "--out", folder]
        subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        with sync_playwright() as running:
            browser = running.chromium.launch(executable_path=program, args=["--no-sandbox"])
            for name, file, width, height, scheme in SHOTS:
                context = browser.new_context(
                    viewport={"width": width, "height": height},
                    color_scheme="dark" if scheme == "dark" else "light",
                    device_scale_factor=1.5 if width < 500 else 1.0,
                )
                page = context.new_page()
                page.goto((Path(folder) / file).as_uri())
                packed = small(page.screenshot())
                if len(packed) > LARGEST:
                    print(f"{name}.png has {len(packed)} bytes, more than {LARGEST}", file=sys.stderr)
                    return 1
                (FIGURES / f"{name}.png").write_bytes(packed)
                print(f"docs/figures/{name}.png: {len(packed) / 1e3:.0f} kB")
            browser.close()
    return 0


def small(picture: bytes) -> bytes:
    """A picture with the few colours that a page has."""
    from PIL import Image

    packed = io.BytesIO()
    with Image.open(io.BytesIO(picture)) as image:
        image.convert("RGB").quantize(256).save(packed, "PNG", optimize=True)
    return packed.getvalue()
