"""Gallery: every example with its question, its command and one picture from that command.

`render` makes the page and its pictures from ``examples/``. It runs each printed command and copies one figure from the
command's folder. The last section overlays two saved folders.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from fairwave.scenario import load

PICTURES = {
    "call-team": "what each participant saw and heard of each other one, and what limited it",
    "series": "goodput of each group, busiest queues and congestion windows over time",
    "call": "MOS, delay and missed packets of the calls under each alternative",
    "others": "what the other flows get under each alternative",
    "limit": "the measure at each value that was tried, and the limit",
    "network": "links by use, and nodes by the mean opinion of the calls that begin there",
    "map-mos-call": "MOS at each point, as heat maps",
}
"""Figures for the gallery in order of preference, and the subject of each."""


def words_of(text: str) -> tuple[str, list[str]]:
    """Reads the comment before an example's first key: the first paragraph, and the commands in the others."""
    head = []
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        head.append(line.removeprefix("#").rstrip())
    commands = [line.strip() for line in head if re.match(r"^ {4,}fairwave ", line)]
    first = []
    for line in head:
        if not line.strip() or re.match(r"^ {4,}", line):
            break
        first.append(line.strip())
    return re.sub(r"(?<=\.) [^.]*:$", "", " ".join(first)), commands


def command_of(path: Path, commands: list[str]) -> str:
    """Returns an example's first command that names its file, with a folder: ``fairwave run FILE --out out/NAME``."""
    own = [one for one in commands if path.name in one]
    command = re.sub(r"\s+#.*$", "", (own or [f"fairwave run {path.as_posix()}"])[0])
    return command if " --out " in command else f"{command} --out out/{path.stem}"


def picture_of(command: str) -> tuple[str, bytes]:
    """Runs a command in a temporary folder and returns the name and content of the gallery's figure.

    Raises:
        subprocess.CalledProcessError: The command failed.
        FileNotFoundError: The command wrote none of `PICTURES`.
    """
    words = shlex.split(command)
    with TemporaryDirectory() as folder:
        words[words.index("--out") + 1] = folder
        subprocess.run([sys.executable, "-m", *words], check=True, stdout=subprocess.DEVNULL)
        for name in PICTURES:
            figure = Path(folder) / "figures" / f"{name}.png"
            if figure.is_file():
                return name, figure.read_bytes()
    raise FileNotFoundError(
        f"{command}: no figure {' or '.join(PICTURES)}; give it `--out`, and record series"
    )


OVERLAID = (
    (
        "fairwave sweep examples/home-call.toml --grid 'link.home>isp.rate=2 Mb/s,5 Mb/s,10 Mb/s,20 Mb/s' -n 3 "
        "--out out/drop-tail"
    ),
    (
        "fairwave sweep examples/home-call.toml --grid 'link.home>isp.rate=2 Mb/s,5 Mb/s,10 Mb/s,20 Mb/s' -n 3 "
        "--set 'link.home>isp.queue=fq-codel' --out out/fq-codel"
    ),
    "fairwave compare out/drop-tail out/fq-codel --out out/both",
)
"""Commands of the section about saved folders. All but the last write the folders that the last one compares."""


def overlay_section(figures: Path | None) -> list[str]:
    """Writes the section about saved folders.

    Args:
        figures: Folder for its picture; without one nothing runs.

    Raises:
        subprocess.CalledProcessError: A command failed.
    """
    if figures is not None:
        with TemporaryDirectory() as folder:
            Path(folder, "examples").symlink_to(Path("examples").resolve())
            for command in OVERLAID:
                words = [sys.executable, "-m", *shlex.split(command)]
                subprocess.run(words, check=True, stdout=subprocess.DEVNULL, cwd=folder)
            picture = Path(folder) / "out" / "both" / "figures" / "overlay.png"
            (figures / "gallery-overlaid.png").write_bytes(picture.read_bytes())
    alt = "two runs overlaid: what the call gets along the rate of the uplink, a curve for each folder"
    return [
        "## Two runs overlaid", "",
        ("What did the change of one key do? Two saved folders, laid over each other without running anything again: "
        "a call next to an upload over faster and faster lines, before and after the modem's queue is replaced. The "
        "page also lists the keys in which their scenarios differ."),
        "", "```sh", *OVERLAID, "```", "", *([f"![{alt}](figures/gallery-overlaid.png)", ""] if figures else []),
        "Picture: `out/both/figures/overlay.png`. Scenario: [examples/home-call.toml](../examples/home-call.toml).", "",
    ]  # fmt: skip


def entry(path: Path, figures: Path | None) -> list[str]:
    """Writes an example's section, and its picture into `figures`. Without this folder nothing runs."""
    title = load(path).name
    about, commands = words_of(path.read_text(encoding="utf-8"))
    command = command_of(path, commands)
    lines = [f"## {title[0].upper()}{title[1:]}", "", about, "", "```sh", command, "```", ""]
    scenario = f"Scenario: [examples/{path.name}](../examples/{path.name})."
    if figures is None:
        return [*lines, scenario, ""]
    name, picture = picture_of(command)
    (figures / f"gallery-{path.stem}.png").write_bytes(picture)
    folder = shlex.split(command)[shlex.split(command).index("--out") + 1]
    shown = f"![{title}: {PICTURES[name]}](figures/gallery-{path.stem}.png)"
    return [*lines, shown, "", f"Picture: `{folder}/figures/{name}.png`. {scenario}", ""]


def render(folder: Path, *, quick: bool = False) -> str:
    """Renders the page of ``examples/`` in the current folder, with its pictures.

    Args:
        folder: Its subfolder ``figures`` receives the pictures.
        quick: Runs nothing and makes no picture.
    """
    figures = None if quick else folder / "figures"
    if figures is not None:
        figures.mkdir(parents=True, exist_ok=True)
    lines = [
        "# Gallery",
        "",
        (
            "Every example with its question and its command. The picture is one of the figures that the command"
            " leaves. A page with all figures lies next to it: `index.html` in the folder after `--out`."
        ),
        "",
    ]
    for path in sorted(Path("examples").glob("*.toml")):
        lines += entry(path, figures)
    return "\n".join([*lines, *overlay_section(figures)])
