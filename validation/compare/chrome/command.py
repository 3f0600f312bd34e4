"""Chromium compared with the simulator: calls of two browsers.

`python -m validation chrome --calls 5 --out out/chrome` makes five calls a case, in real time (half an hour in all). It
needs Linux and Chromium. On a busy machine browsers send less. Calls that the folder has are not made again.
`--keep` keeps the numbers of the folder's calls, with ten simulated calls a case.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from fairwave_report import encoder_fit
from validation import kept, writing
from validation.compare.chrome import bands, call, cases, clip, freezes

KEPT = "compare/chrome"
SEEDS = range(1, 11)
"""Of the simulated calls."""

PORTED = "variable"
"""The case that crate `goog_cc` runs, too."""

PORT = "goog_cc"

COLOURS = {"Chromium": "#b3541e", "fairwave": "#1f5fa8", PORT: "#2e7d32"}


def make(out: Path, calls: int) -> int:
    """Makes the missing calls and returns the number of calls that failed."""
    failed = 0
    for seed in range(1, calls + 1):
        for case in cases.CASES:
            folder = out / case.name / str(seed)
            if (folder / "log-callee.jsonl").exists():
                continue
            print(f"{case.name}, call {seed} of {calls}: {case.seconds} s …", flush=True)
            try:
                call.make(case, seed, folder)
            except call.ChromeError as error:
                print(f"  {error}", file=sys.stderr)
                failed += 1
            (folder / "camera.y4m").unlink(missing_ok=True)
    return failed


def keep(out: Path) -> None:
    """Keeps results of the folder's calls and of simulated calls. A case without calls keeps its browsers' numbers."""
    before = kept.read(KEPT) if kept.exists(KEPT) else {}
    data: dict[str, Any] = {}
    for case in cases.CASES:
        folders = [one for one in sorted((out / case.name).glob("*")) if (one / "log-callee.jsonl").exists()]
        sessions = case.sessions + bool(case.back)
        if folders:
            made = [session for folder in folders for session in call.read(case, folder)]
            browsers = bands.summarise(bands.measure_browsers(case, made), sessions)
            frozen = freezes.count_freezes(case, folders).to_dict()
        elif case.name in before:
            browsers = bands.Side.from_dict(before[case.name]["browsers"])
            frozen = before[case.name].get("freezes")
        else:
            continue
        data[case.name] = {
            "freezes": frozen,
            "browsers": browsers.to_dict(),
            "simulated": simulate(case, browsers).to_dict(),
        }
        if case.name == PORTED:
            port = {"name": "goog-cc", "constants": "libwebrtc"}
            data["goog-cc"] = simulate(case, browsers, port).to_dict()
    data["coarsest"] = {str(high): rate for high, rate in coarsest().items()}
    kept.write(KEPT, data)


def render(folder: Path) -> str:
    """Renders the page and its pictures from the kept numbers."""
    data = kept.read(KEPT)
    port = bands.Side.from_dict(data["goog-cc"])
    parts = []
    for case in cases.CASES:
        if case.name in data:
            browsers, simulated = (
                bands.Side.from_dict(data[case.name][side]) for side in ("browsers", "simulated")
            )
            parts.append((case, browsers.count, bands.compare(browsers, simulated)))
            picture = folder / "figures" / f"chrome-{case.name}.svg"
            draw(case, browsers, simulated, picture, port if case.name == PORTED else None)
    return text(parts, {"intervals": port.intervals}, freezes_in_words(data))


def simulate(case: cases.Case, browsers: bands.Side, control: Any = "gcc") -> bands.Side:
    """Simulated calls that begin when the browsers' do in the mean."""
    results = case.scenario(browsers.begins, control).replicate(seeds=list(SEEDS))
    runs = bands.measure_simulation(case, results, browsers)
    return bands.summarise(runs, case.sessions + bool(case.back))


def draw(
    case: cases.Case, browsers: bands.Side, simulated: bands.Side, path: Path, port: bands.Side | None = None
) -> None:
    """Rates and round trip over time: the median run and the range of all, of both sides."""
    import matplotlib as mpl

    mpl.use("svg")
    from matplotlib import pyplot as plt

    mpl.rcParams["svg.hashsalt"] = "fairwave"
    figure, grid = plt.subplots(len(bands.TRACES), 1, figsize=(9, 7), sharex=True, layout="constrained")
    for axes, name in zip(grid, bands.TRACES, strict=True):
        quantity = next(one for one in bands.QUANTITIES if one.name == name)
        sides = [("Chromium", browsers), ("fairwave", simulated), *([(PORT, port)] if port else [])]
        for label, runs in sides:
            low, middle, high = runs.bands[name]
            axes.fill_between(runs.times, low, high, color=COLOURS[label], alpha=0.2, linewidth=0)
            axes.plot(
                runs.times, middle, color=COLOURS[label], linewidth=1.4, label=f"{label} ({runs.count} calls)"
            )
        if name != "round trip":
            edges = [*case.rates, (case.seconds, case.rates[-1][1])]
            axes.step([at for at, _ in edges], [rate for _, rate in edges], where="post", color="0.4", linewidth=0.9,
                      linestyle="--", label="capacity")  # fmt: skip
        axes.set_ylabel(f"{quantity.name} ({quantity.unit})")
        axes.set_ylim(bottom=0)
    grid[0].legend(loc="upper right", fontsize=8)
    grid[-1].set_xlabel("time (s)")
    figure.suptitle(case.title)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


HEAD = """# Chromium beside the simulator

Two Chromium browsers call each other behind a network of fairwave's, on real packets and in real time
(`fairwave shell`). The same network carries the same call in simulation, with `transport = "webrtc"` and its
defaults. What was built after a look is told at the end; one assumed constant was set after one.
`python -m validation chrome` makes the calls.

The browser's camera is a file: a textured picture that moves, 640 × 360 at 30 frames per second, so that the encoder
uses the rate that it may have (at most 1.5 Mb/s). The simulated encoder has the same limits and the same clip. One way
lasts 50 ms. The queue holds 300 ms at the first capacity, also under FQ-CoDel. TCP is CUBIC of fairwave's own, on real
packets next to the browsers.

Margins: means of estimate and received rate within 20 % of the browser's, of the round trip within 25 % or 15 ms, of
packets lost within half or one point, of time frozen within half or three points. They were fixed after half a minute
of one call had been seen, and before all others. The received rate counts payload, the estimate whole packets.

Times count from the network's beginning. Browsers need some seconds to connect, and simulated calls begin when they do
in the mean. A first comparison had not set off these seconds; its verdicts were the same.
"""


PORT_TEXT = f"""`{PORT}` is crate `goog_cc` 0.1.4, a port of libwebrtc by others, in the same simulated calls
(`control = {{ name = "goog-cc", constants = "libwebrtc" }}`). The verdict is on fairwave's GCC."""


def word(verdict: bands.Verdict) -> str:
    """A verdict as the page has it."""
    return "agrees" if verdict.agrees else "**differs**"


def freezes_in_words(data: dict[str, Any]) -> list[str]:
    """The browsers' encoders before pictures froze, in the cases with logs, as Markdown."""
    lines = [
        "## Freezes of the browsers' pictures", "",
        (f"Seconds frozen; of them, those with a second of at most {freezes.FEW} encoded frames among the last "
        f"{freezes.BEFORE}; and in such seconds, the encoder's target as a share of the estimate and the quantiser of "
        "VP8's stream (0 to 127), medians."), "",
        "| case | frozen | after few frames | target | quantiser |", "|---|---|---|---|---|",
    ]  # fmt: skip
    for case in cases.CASES:
        found = data.get(case.name, {}).get("freezes")
        if found and found["target_share"] is not None:
            lines.append(
                f"| {case.title} | {found['frozen_s']:.0f} s | {found['few_s']:.0f} s | {found['target_share']:.0%} "
                f"| {found['quantiser']:.0f} |"
            )
    needs = ", ".join(f"{high} lines {rate:.0f} kb/s" for high, rate in data["coarsest"].items())
    return [
        *lines,
        "",
        f"At the coarsest quantiser that libwebrtc allows (106), the camera's clip takes: {needs}.",
    ]


def coarsest() -> dict[int, float]:
    """The rate of the clip as VP8 at the coarsest quantiser: lines of the picture to kb/s."""
    import tempfile

    import av

    with tempfile.TemporaryDirectory() as folder:
        with av.open(str(clip.write(Path(folder) / "camera.y4m"))) as container:
            pictures = list(container.decode(video=0))
        found = {}
        for size in ((640, 360), (480, 270), (320, 180)):
            coded = encoder_fit.encode("vp8", pictures, size, 56)
            plain = [one for one, key in zip(coded.sizes, coded.keys, strict=True) if not key]
            found[size[1]] = sum(plain) / len(plain) * 8 * clip.RATE / 1e3
    return found


def text(
    parts: list[tuple[cases.Case, int, list[bands.Verdict]]],
    port: dict[str, Any] | None = None,
    frozen: list[str] | None = None,
) -> str:
    """The page."""
    lines = [HEAD, "## All cases", ""]
    names = [one.name for one in bands.QUANTITIES]
    lines += ["| case | calls | " + " | ".join(names) + " |", "|---|---|" + "---|" * len(names)]
    for case, count, verdicts in parts:
        lines.append(f"| {case.title} | {count} | " + " | ".join(word(one) for one in verdicts) + " |")
    for case, count, verdicts in parts:
        alt = f"{case.title}: estimate, received rate and round trip over time"
        lines += ["", f"## {case.title}", "", f"![{alt}](figures/chrome-{case.name}.svg)", ""]
        lines.append(
            f"Means over {count} calls and {len(SEEDS)} simulated ones, with 95 % intervals. Bands: all calls; lines: "
            "their median."
        )
        ported = port if port and case.name == PORTED else None
        more = f" {PORT} |" if ported else ""
        lines += [
            "",
            f"| quantity | Chromium | fairwave |{more} verdict |",
            "|---|---|---|---|" + "---|" * bool(ported),
        ]
        for one in verdicts:
            sides = [
                one.browsers,
                one.simulated,
                *([ported["intervals"][one.quantity.name]] if ported else []),
            ]
            both = " | ".join(f"{mean:.3g} ± {half:.2g} {one.quantity.unit}" for mean, half in sides)
            lines.append(f"| {one.quantity.name} | {both} | {word(one)} |")
        if ported:
            lines += ["", PORT_TEXT]
    lines += ["", *(frozen or [])]
    reasons = Path(__file__).with_name("reasons.md")
    if reasons.is_file():
        lines += ["", reasons.read_text(encoding="utf-8").rstrip()]
    return "\n".join(lines) + "\n"


def main() -> int:
    """The command."""
    parser = writing.parser(__doc__)
    parser.add_argument("--out", type=Path, default=Path("out/chrome"), help="where calls are kept")
    parser.add_argument("--calls", type=int, default=0, help="how many calls of each case there are to be")
    parser.add_argument("--keep", action="store_true", help="keep the numbers for the page")
    asked = parser.parse_args()
    if asked.calls and call.chromium() is None:
        print("No Chromium is installed: left out.", file=sys.stderr)
        return 1
    failed = make(asked.out, asked.calls)
    if asked.keep:
        keep(asked.out)
    return 1 if failed else 0
