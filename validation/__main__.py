"""``make validate``: every case in fairwave and in ns-2; writes the report into ``docs``.

``--renew PATTERN`` runs only some cases and writes the report with the kept numbers of all others; with a pattern that
matches none, nothing is run and the report is written anew from what is kept in ``docs/validation.json``.

Ends with status 1 where a difference remains that ``validation/explanations.toml`` does not explain.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from fnmatch import fnmatchcase
from pathlib import Path

from fairwave.validation import explanations, ns2, report, suite
from fairwave.validation.cases import cases
from fairwave.validation.translate import NotInNs2Error
from fairwave.validation.verdict import Estimate

EXPLANATIONS = Path(__file__).with_name("explanations.toml")
REFERENCES = Path(__file__).with_name("ns2")


def main() -> int:
    """Runs the cases and writes the report; the exit status."""
    parser = argparse.ArgumentParser(prog="make validate", description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="a part of the cases, 3 seeds each, nothing written"
    )
    parser.add_argument(
        "--case", action="append", default=[], help="only cases that match this pattern; nothing written"
    )
    parser.add_argument(
        "--renew", action="append", default=[], help="run these cases, write the report with all that is kept"
    )
    parser.add_argument("--seeds", type=int, help="runs of each case, instead of the case's own number")
    parser.add_argument("--out", type=Path, default=Path("docs"), help="where the report goes (default docs)")
    parser.add_argument("--threads", type=int, help="runs at once (default: all cores)")
    parser.add_argument(
        "--kept", type=Path, default=Path("out/ns2"), help="where ns-2's output is kept (default out/ns2)"
    )
    options = parser.parse_args()
    known = explanations.read(EXPLANATIONS)
    chosen = [
        case
        for case in cases()
        if (not options.quick or case.quick)
        and (
            not (wanted := options.case + options.renew) or any(fnmatchcase(case.key, one) for one in wanted)
        )
    ]
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
        (options.out / "figures").mkdir(parents=True, exist_ok=True)
        for outcome in outcomes:
            if outcome.case.trace:
                report.draw(outcome, options.out)
        numbers = options.out / "validation.json"
        data = json.loads(numbers.read_text()) if options.renew else {}
        data |= report.data(outcomes)
        # As they are kept, so that the report can be written anew without running anything.
        outcomes = report.stored(data, cases())
        numbers.write_text(json.dumps(report.data(outcomes), indent=1) + "\n")
        (options.out / "validation.md").write_text(report.markdown(outcomes, known, "make validate"))
        print(f"written: {options.out / 'validation.md'}")
    missing = report.unexplained(outcomes, known)
    print(f"{len(missing)} differences without an explanation")
    return int(bool(missing))


def _shown(estimate: Estimate) -> str:
    return f"{estimate.mean:.5g} ± {estimate.half:.2g}"


sys.exit(main())
