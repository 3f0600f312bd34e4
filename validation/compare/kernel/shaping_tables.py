"""Shapers and classes next to Linux' `tbf` and `htb`: the tables of `docs/queues.md`.

Run `python -m validation shaping`. It takes about half a minute, needs Linux, root and iproute2, and writes nothing.
"""

from __future__ import annotations

import sys

from validation.compare.kernel import lab, shaping


def main() -> int:
    """Runs all cases and prints both tables."""
    if lacks := lab.missing():
        print("This needs " + ", ".join(lacks) + ".", file=sys.stderr)
        return 1
    print(
        "| case | rate, burst | packets | dropped: `tbf`, fairwave | earlier, at most | median | 99 % | last packet |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for shaper in shaping.SHAPERS:
        one = shaping.compare_shaper(shaper)
        peak = f", peak {shaper.peak_bps / 1e6:g} Mb/s" if shaper.peak_bps else ""
        print(
            f"| {shaper.key} | {shaper.rate_bps / 1e6:g} Mb/s, {shaper.burst} B{peak} | {one.packets} "
            f"| {one.kernel_dropped}, {one.our_dropped} | {one.early_us:.0f} µs | {one.median_us:.0f} µs "
            f"| {one.late_us:.0f} µs | {one.last_us:.0f} µs |",
            flush=True,
        )
    print("\n| case | rates of the classes | offered | share: `htb` | share: `drr` |")
    print("|---|---|---|---|---|")
    for classes in shaping.CLASSES:
        found = shaping.compare_classes(classes)
        rates, offered = (
            ", ".join(f"{part * classes.rate_bps / 1e6:g}" for part in parts)
            for parts in (classes.shares, classes.offered)
        )
        kernel, own = (", ".join(f"{100 * one[side]:.1f} %" for one in found) for side in (0, 1))
        print(f"| {classes.key} | {rates} Mb/s | {offered} Mb/s | {kernel} | {own} |", flush=True)
    return 0
