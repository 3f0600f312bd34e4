"""``make validate``: the same experiments in fairwave and elsewhere; writes the reports into ``docs``.

Other implementations are ns-2, ns-3 and the kernel's TCP; ``l4s`` is a laboratory's table of measurements of Linux.
``--only ns3,l4s`` runs these parts and keeps the numbers of the others. ``--renew PATTERN`` runs some cases and writes
the reports with the kept numbers of all others. ``--renew none`` runs nothing and writes all reports from the kept
numbers in ``docs``.

A part without its program (ns-2, ns-3, root for the kernel) is left out with a message. The exit status is 1 if
``validation/compare/explanations.toml`` or ``validation/published/l4s.toml`` does not explain a difference.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from fnmatch import fnmatchcase
from pathlib import Path

from validation import explanations, kept, writing
from validation.compare import opinions
from validation.compare.kernel import cases as kernel_cases
from validation.compare.kernel import lab, sharing
from validation.compare.ns2 import report, suite
from validation.compare.ns2 import simulator as ns2
from validation.compare.ns2.cases import cases
from validation.compare.ns2.translate import NotInNs2Error
from validation.compare.ns3 import cases as ns3_cases
from validation.compare.ns3 import simulator as ns3
from validation.published import l4s
from validation.verdict import Estimate

REFERENCES = Path(__file__).with_name("ns2") / "references"

#: Folder of kept output of ns-3 and of the kernel.
KEPT = Path("out")

#: Who can be asked.
PARTS = ("ns2", "ns3", "kernel", "l4s")


def main() -> int:
    """Runs the cases and writes the reports; the exit status."""
    parser = writing.parser(__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="a part of ns-2's cases, 3 seeds each, nothing written"
    )
    parser.add_argument("--only", default=",".join(PARTS), help=f"whom to ask (default {','.join(PARTS)})")
    parser.add_argument(
        "--case", action="append", default=[], help="only cases that match this pattern; nothing written"
    )
    parser.add_argument(
        "--renew", action="append", default=[], help="run these cases, write the report with all that is kept"
    )
    parser.add_argument("--seeds", type=int, help="runs of each case, instead of the case's own number")
    parser.add_argument("--threads", type=int, help="runs at once (default: all cores; of the kernel 1)")
    parser.add_argument(
        "--kept", type=Path, default=Path("out/ns2"), help="where ns-2's output is kept (default out/ns2)"
    )
    parser.add_argument(
        "--ns3-python", help=f"an interpreter that has ns-3 (default: ${ns3.VARIABLE}, then this one)"
    )
    options = parser.parse_args()
    options.only = options.only.split(",")
    if unknown := set(options.only) - set(PARTS):
        parser.error(
            f"--only {','.join(sorted(unknown))}: allowed are {', '.join(PARTS)}; write for example --only ns3,kernel"
        )
    known = explanations.read(report.EXPLANATIONS)
    missing = compare_ns2(options, known) if "ns2" in options.only else 0
    if not options.quick:
        missing += compare_ns3_and_kernel(options, known)
        if "l4s" in options.only and not options.case:
            missing += (
                l4s.report_problems(l4s.stored(kept.read(l4s.KEPT)))
                if options.renew
                else l4s.renew(options.seeds or 5, options.threads)
            )
    print(f"{missing} differences without an explanation")
    return int(bool(missing))


def wanted(key: str, options: argparse.Namespace) -> bool:
    """Whether the options ask for this case."""
    patterns = options.case + options.renew
    return not patterns or any(fnmatchcase(key, one) for one in patterns)


def compare_ns2(options: argparse.Namespace, known: list[explanations.Explanation]) -> int:
    """Runs the cases in ns-2, writes their report, and returns the number of unexplained differences."""
    chosen = [case for case in cases() if (not options.quick or case.quick) and wanted(case.key, options)]
    if chosen and ns2.find() is None:
        print(ns2.ABSENT)
        return 0
    outcomes: list[suite.Outcome] = []
    for case in chosen:
        count = options.seeds or (min(case.seeds, 3) if options.quick else case.seeds)
        begin = time.monotonic()
        try:
            outcome = suite.run(case, range(1, count + 1), options.kept, REFERENCES, options.threads)
        except NotInNs2Error as error:
            print(f"{case.key}: left out: {error}", file=sys.stderr)
            continue
        outcomes.append(outcome)
        took = time.monotonic() - begin
        agreeing = len(outcome.comparisons) - len(outcome.disagreeing)
        print(
            f"{case.key}: {agreeing} of {len(outcome.comparisons)} agree ({took:.1f} s)",
            flush=True,
        )
        for comparison in outcome.comparisons if options.case else outcome.disagreeing:
            mark = "" if comparison.agrees else "  undecided" if comparison.undecided else "  differs"
            ours, theirs = _shown(comparison.ours), _shown(comparison.theirs)
            print(f"    {comparison.measure:26} fairwave {ours}  ns-2 {theirs}{mark}")
        for comparison in outcome.references:
            if not comparison.agrees and not comparison.undecided:
                ours, theirs = _shown(comparison.ours), _shown(comparison.theirs)
                print(f"    {comparison.measure:26} fairwave {ours}  reference {theirs}")
    if not options.quick and not options.case:
        windows = {one.case.key: report.windows(one) for one in outcomes if one.case.trace}
        data = kept.read(report.KEPT) if options.renew else {}
        outcomes = report.stored(data | report.data(outcomes), cases())
        kept.write(report.KEPT, report.data(outcomes))
        kept.write(report.WINDOWS, (kept.read(report.WINDOWS) if options.renew else {}) | windows)
    return len(report.unexplained(outcomes, known))


def compare_ns3_and_kernel(options: argparse.Namespace, known: list[explanations.Explanation]) -> int:
    """Runs the cases in ns-3 and in the kernel, writes their report, and counts unexplained differences."""
    outcomes: list[opinions.Outcome] = []
    about: dict[str, str] = {}
    if "ns3" in options.only and (
        chosen := [case for case in ns3_cases.cases() if wanted(case.key, options)]
    ):
        python = ns3.find(options.ns3_python)
        if python is None:
            print(ns3.ABSENT)
        else:
            about["ns3"] = f"ns-3 {ns3.version(python)}"
            processes = options.threads or len(os.sched_getaffinity(0))
            for case in chosen:
                outcomes.append(
                    opinions.compare_ns3(case, options.seeds or case.runs, KEPT / "ns3", python, processes)
                )
                tell(outcomes[-1], options)
    if "kernel" in options.only and (
        asked := [case for case in kernel_cases.cases() if wanted(case.key, options)]
    ):
        if lacks := lab.missing():
            print(f"the kernel is not asked; it needs {'; '.join(lacks)}")
        else:
            about["kernel"] = opinions.machine()
            for case_ in asked:
                if absent := set(case_.flows) - set(lab.controllers()):
                    print(f"{case_.key}: left out: this kernel has no {', '.join(sorted(absent))}")
                    continue
                outcomes.append(
                    opinions.compare_kernel(
                        case_, options.seeds or case_.runs, KEPT / "kernel", options.threads or 1
                    )
                )
                tell(outcomes[-1], options)
    if not options.case:
        before = kept.read(opinions.KEPT) if kept.exists(opinions.KEPT) else {}
        fresh = opinions.data(outcomes, about)
        if any(one.key.startswith("kernel/long/") for one in outcomes):
            fresh["switches"] = {"shares": sharing.switched()}
        parts = opinions.renewed(before, fresh, opinions.known_keys())
        outcomes = [one for one in opinions.stored(parts) if one.part in options.only]
        kept.write(opinions.KEPT, parts)
    return len(opinions.unexplained(outcomes, known))


def tell(outcome: opinions.Outcome, options: argparse.Namespace) -> None:
    """A line for a case, and one for each measure that differs."""
    agreeing = sum(one.agrees for one in outcome.comparisons)
    print(f"{outcome.key}: {agreeing} of {len(outcome.comparisons)} agree", flush=True)
    for one in outcome.comparisons:
        if options.case or not one.agrees:
            mark = "" if one.agrees else "  undecided" if one.undecided else "  differs"
            print(
                f"    {one.measure:28} fairwave {_shown(one.ours)}  theirs {_shown(one.theirs)}{mark}",
                flush=True,
            )


def _shown(estimate: Estimate) -> str:
    return f"{estimate.mean:.5g} ± {estimate.half:.2g}"
