"""Tests of the papers' sweeps: payload, transfers, packet errors, threshold.

000 §5.2 to §5.5, 001 §IV.B and §IV.C. As in `contention`, each test takes the study's data and the meaning of *timely*
and *sent*, and a compound claim has a test per part.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from fairwave.measuring.measured import Measured
from fairwave.tables import Table
from fairwave_studies.voice import quantities as q
from fairwave_studies.voice.points import TCPS
from fairwave_studies.voice.selecting import (
    EQUAL,
    MINOR,
    NOTICEABLE,
    REAL,
    SATISFACTORY,
    SIGNIFICANT,
    UDP,
    VEGAS,
    WESTWOOD,
    change,
    contended,
    format_labels,
    lines,
    mean_over,
    name_traffic,
    on_the_mean,
    part,
    payload_gain,
    select_errors,
    short_payload,
)
from fairwave_study.claims import Comparison, Evidence
from fairwave_study.comparisons import (
    contrast,
    counts,
    falls,
    grows_from,
    highest,
    is_above,
    is_below,
    join,
    less_steep,
    lowest,
    shrinks_from,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairwave.measuring.measures import Measure
    from fairwave_studies.voice.quantities import ShareDefinition
    from fairwave_study.parts import Data

    OneTest = Callable[[Data, ShareDefinition], Evidence]

SHORT, LONG = "160 B", "500 B"
LIGHT, HEAVY = 20, 60


# Payload: 000 §5.2


def _goodput_gains(transport: str) -> OneTest:
    def test(data: Data, _: ShareDefinition) -> Evidence:
        gain = is_above(payload_gain(data, q.GOODPUT).select(transport=[transport]), 0.0)
        return format_labels(_require_relevant(gain, data, q.GOODPUT, transport), "gain of {}")

    return test


def _require_relevant(gain: Evidence, data: Data, measure: Measure, transport: str) -> Evidence:
    """The same gain of a measure, which must be one that counts."""
    before = short_payload(data, measure).samples(transport=transport)
    return Evidence(
        [replace(one, relevant=counts(measure, before, before + one.samples)) for one in gain.comparisons]
    )


def _vegas_gains_nothing(data: Data, _: ShareDefinition) -> Evidence:
    """No more than 1 %, which counts as equal."""
    gain = payload_gain(data, q.GOODPUT)
    before = short_payload(data, q.GOODPUT).samples(transport=VEGAS)
    room = EQUAL * _mean(before)
    return Evidence(
        [
            Comparison(
                "gain of tcp/vegas",
                gain.samples(transport=VEGAS),
                room,
                "below",
                gain.measure.unit,
                or_equal=True,
            )
        ]
    )


def _mean(samples: Any) -> float:
    """The mean of those that are defined; 0 when none is."""
    defined = samples[~np.isnan(samples)]
    return float(np.mean(defined)) if len(defined) else 0.0


V9 = {
    "Westwood gains": _goodput_gains(WESTWOOD),
    "Real gains": _goodput_gains(REAL),
    "UDP gains": _goodput_gains(UDP),
    "Vegas does not": _vegas_gains_nothing,
}


def _index_falls(transport: str) -> OneTest:
    def test(data: Data, how: ShareDefinition) -> Evidence:
        gain = is_below(payload_gain(data, q.index(how)).select(transport=[transport]), 0.0)
        return format_labels(_require_relevant(gain, data, q.index(how), transport), "gain of {}")

    return test


V10 = {"Vegas": _index_falls(VEGAS), "Real": _index_falls(REAL), "UDP": _index_falls(UDP)}


def v16(data: Data, _: ShareDefinition) -> Evidence:
    """Westwood's goodput gains most."""
    return format_labels(highest(payload_gain(data, q.GOODPUT), WESTWOOD), "gain of {}")


def v16_by_share(data: Data, _: ShareDefinition) -> Evidence:
    """Westwood's goodput gains most, relative to its first value."""
    gain, before = payload_gain(data, q.GOODPUT), short_payload(data, q.GOODPUT)
    axes = gain.axes
    share = gain.frame.join(before.frame, on=[*axes, "seed"], suffix="_before", maintain_order="left")
    relative = pl.when(pl.col("value_before") > 0).then(pl.col("value") / pl.col("value_before") * 100)
    of_share = Measured(
        replace(gain.measure, unit="%"),
        axes,
        Table.from_columns(share.select(*axes, "seed", relative.alias("value"))),
    )
    return format_labels(highest(of_share, WESTWOOD), "relative gain of {}")


def _westwood_index(data: Data, how: ShareDefinition) -> Measured:
    return payload_gain(data, q.index(how)).select(transport=[WESTWOOD])


V27 = {
    "the index rises": lambda data, how: format_labels(
        _require_relevant(is_above(_westwood_index(data, how), 0.0), data, q.index(how), WESTWOOD),
        "gain of {}",
    ),
    "not noticeably": lambda data, how: format_labels(
        lines(is_below(_westwood_index(data, how), 0.0), NOTICEABLE), "gain of {}"
    ),
}


def _gains_slightly(transport: str) -> OneTest:
    def test(data: Data, _: ShareDefinition) -> Evidence:
        gain, before = payload_gain(data, q.GOODPUT), short_payload(data, q.GOODPUT)
        beyond = gain.samples(transport=transport) - MINOR * before.samples(transport=transport)
        label = f"gain of {transport} − {MINOR:.0%} of its goodput before"
        return Evidence([Comparison(label, beyond, 0.0, "below", gain.measure.unit, or_equal=True)])

    return test


V28 = {"Real": _gains_slightly(REAL), "UDP": _gains_slightly(UDP)}

FEW_CALLS = 80
"""Number of calls for which payloads were also tried without errors."""


def _more_sensitive(transport: str) -> OneTest:
    """From no errors to 0.01 the index falls by more with 500 bytes than with 160."""

    def test(data: Data, how: ShareDefinition) -> Evidence:
        index = part(
            data, q.index(how), ftp=LIGHT, flows=(FEW_CALLS,), payload=(SHORT, LONG), per=(0.0, 0.01)
        )
        fall = change(index, "per", 0.01, 0.0)
        label = f"fall with {LONG} − fall with {SHORT}, {transport}"
        long, short = (fall.samples(transport=transport, payload=size) for size in (LONG, SHORT))
        return Evidence([contrast(label, long, short, index.measure)])

    return test


V29 = {"Vegas": _more_sensitive(VEGAS), "Real": _more_sensitive(REAL), "UDP": _more_sensitive(UDP)}


def v30(data: Data, how: ShareDefinition) -> Evidence:
    """Longer payloads cost Vegas's index most."""
    return format_labels(lowest(payload_gain(data, q.index(how)), VEGAS), "gain of {}")


# Transfers' rates: 000 §5.3, 001 §IV.B


def _left(data: Data, ftp: int) -> Measured:
    return part(data, q.FTP_GOODPUT, ftp=ftp)


def _light_and_heavy(compare: Callable[[Measured], Evidence]) -> OneTest:
    return lambda data, _: join(*(name_traffic(ftp, compare(_left(data, ftp))) for ftp in (LIGHT, HEAVY)))


def _keep_less(left: Measured) -> Evidence:
    return shrinks_from(left.select(transport=UDP).drop_axes("transport"), "flows", 40, 120)


def _growing_harm(left: Measured) -> Evidence:
    """The rate that UDP leaves to others falls further behind the rate that each TCP leaves, from 40 to 120 calls."""
    gain = change(left.select(flows=[40, 120]), "flows", 40, 120)
    return Evidence(
        [
            contrast(
                f"widening of {UDP} − {rival} from 40 to 120 calls",
                gain.samples(transport=UDP),
                gain.samples(transport=rival),
                gain.measure,
                "below",
            )
            for rival in TCPS
        ]
    )


V11 = {
    "UDP leaves least": _light_and_heavy(lambda left: lowest(contended(left, 80), UDP)),
    "the less, the more calls": _light_and_heavy(_keep_less),
    "Real mostly leaves most": _light_and_heavy(
        lambda left: on_the_mean(left, lambda mean: highest(mean, REAL))
    ),
}

v11_real_everywhere = _light_and_heavy(lambda left: highest(contended(left, 80), REAL))
v11_widening = _light_and_heavy(_growing_harm)


def _fair_to_transfers(ftp: int) -> OneTest:
    """A transfer keeps at least a call's rate, with every TCP."""

    def test(data: Data, _: ShareDefinition) -> Evidence:
        theirs, calls = _left(data, ftp), part(data, q.GOODPUT, ftp=ftp)
        return Evidence(
            [
                contrast(
                    f"transfer − call over {transport} at flows {flows}",
                    1e3 * theirs.samples(transport=transport, flows=flows) / ftp,
                    1e3 * calls.samples(transport=transport, flows=flows) / flows,
                    replace(calls.measure, unit="kb/s"),
                    or_equal=True,
                )
                for transport in TCPS
                for flows in theirs.labels("flows")
            ]
        )

    return test


V31 = {"20 transfers": _fair_to_transfers(LIGHT), "60 transfers": _fair_to_transfers(HEAVY)}


# Packet errors: 000 §5.4


def _tcps_fall(measure: Callable[[ShareDefinition], Measure]) -> OneTest:
    return lambda data, how: falls(select_errors(data, measure(how)).select(transport=list(TCPS)), "per")


def _more_with_80(measure: Callable[[ShareDefinition], Measure]) -> OneTest:
    return lambda data, how: _steeper_at(
        select_errors(data, measure(how)).select(transport=list(TCPS)), 80, 120
    )


def _steeper_at(measured: Measured, here: int, there: int) -> Evidence:
    """From no errors to most, the measure falls by more with `here` calls than with `there`."""
    errors = measured.labels("per")
    fall = change(measured, "per", max(errors), min(errors))
    return Evidence(
        [
            contrast(
                f"fall with {here} − fall with {there} calls, {transport}",
                fall.samples(transport=transport, flows=here),
                fall.samples(transport=transport, flows=there),
                measured.measure,
            )
            for transport in TCPS
        ]
    )


def goodput(_: ShareDefinition) -> Measure:
    """Goodput, whatever *timely* means."""
    return q.GOODPUT


V12 = {
    "goodput falls": _tcps_fall(goodput),
    "the index falls": _tcps_fall(q.index),
    "goodput more with 80 calls": _more_with_80(goodput),
    "the index more with 80 calls": _more_with_80(q.index),
}

MANY_ERRORS = 0.03
"""From here on packet errors are many: 000 §5.4 names 0.03 to 0.05."""


def _calmer_than_real(transport: str) -> OneTest:
    def test(data: Data, how: ShareDefinition) -> Evidence:
        several = [
            prefixed(less_steep(select_errors(data, one, (80,)), transport, [REAL], along="per"), one)
            for one in (q.GOODPUT, q.index(how))
        ]
        return join(*several)

    return test


def _real_suffers(data: Data, how: ShareDefinition) -> Evidence:
    evidence = []
    for measure in (q.GOODPUT, q.index(how)):
        measured = select_errors(data, measure, (80,))
        real = measured.select(transport=REAL).drop_axes("transport")
        many = [per for per in measured.labels("per") if per >= MANY_ERRORS]
        evidence += [prefixed(shrinks_from(real, "per", 0.01, per), measure) for per in many]
    return join(*evidence)


def prefixed(evidence: Evidence, measure: Measure) -> Evidence:
    """Named by quantity, not by how a reading measures it, so that labels stay the same across readings."""
    quantity = "goodput" if measure is q.GOODPUT else "index"
    return evidence.relabelled(lambda one: f"{quantity}: {one}")


V13 = {
    "Vegas less sensitive": _calmer_than_real(VEGAS),
    "Westwood less sensitive": _calmer_than_real(WESTWOOD),
    "Real suffers": _real_suffers,
}


def _calmest(measure: Callable[[ShareDefinition], Measure], one: str, rivals: tuple[str, ...]) -> OneTest:
    return lambda data, how: less_steep(select_errors(data, measure(how)), one, rivals, along="per")


V14 = {"goodput": _calmest(goodput, UDP, TCPS), "the index": _calmest(q.index, UDP, TCPS)}


def _with_many_errors(data: Data, how: ShareDefinition) -> Measured:
    """The index with 80 and 120 calls, mean over error rates of 0.03 and more."""
    index = select_errors(data, q.index(how))
    many = index.select(per=[per for per in index.labels("per") if per >= MANY_ERRORS])
    return mean_over(many, "per")


def v17(data: Data, how: ShareDefinition) -> Evidence:
    """With many errors Real does better compared with Vegas and Westwood with 120 calls than with 80."""
    index = _with_many_errors(data, how)

    def lead(flows: int) -> Any:
        real, vegas, westwood = (index.samples(transport=one, flows=flows) for one in (REAL, VEGAS, WESTWOOD))
        return real - (vegas + westwood) / 2

    label = "lead of tcp/real over the other TCPs with 120 − with 80 calls"
    return Evidence([contrast(label, lead(120), lead(80), index.measure)])


def v17_itself(data: Data, how: ShareDefinition) -> Evidence:
    """With many errors Real's index is higher with 120 calls than with 80."""
    index = _with_many_errors(data, how).select(transport=REAL).drop_axes("transport")
    return grows_from(index, "flows", 80, 120)


V32 = {
    "goodput": _calmest(goodput, WESTWOOD, (VEGAS,)),
    "the index": _calmest(q.index, WESTWOOD, (VEGAS,)),
}


def _minor(measure: Callable[[ShareDefinition], Measure]) -> OneTest:
    """From no errors to 0.05 UDP keeps all but a tenth."""

    def test(data: Data, how: ShareDefinition) -> Evidence:
        measured = select_errors(data, measure(how)).select(transport=UDP).drop_axes("transport")
        return grows_from(measured, "per", 0.0, 0.05, factor=1 - MINOR)

    return test


V33 = {"goodput": _minor(goodput), "the index": _minor(q.index)}


# Threshold: 000 §5.5, 001 §IV.C


def _select_thresholds(data: Data, how: ShareDefinition) -> Measured:
    return part(data, q.index_by_threshold(how), ftp=LIGHT, flows=(40, 80, 120))


def _patience(data: Data, how: ShareDefinition) -> Measured:
    return change(_select_thresholds(data, how), "threshold", 100.0, 400.0)


def _early(data: Data, how: ShareDefinition) -> Measured:
    return change(_select_thresholds(data, how), "threshold", 100.0, 200.0)


V15 = {
    "Vegas gains more than UDP and Westwood": lambda data, how: highest(
        _patience(data, how), VEGAS, (UDP, WESTWOOD)
    ),
    "Real gains more than UDP and Westwood": lambda data, how: highest(
        _patience(data, how), REAL, (UDP, WESTWOOD)
    ),
    "UDP gains least": lambda data, how: lowest(_patience(data, how), UDP, TCPS),
    "both gain by 200 ms": lambda data, how: format_labels(
        is_above(_early(data, how).select(transport=[VEGAS, REAL]), 0.0), "gain from 100 to 200 ms, {}"
    ),
}


def _late_below_200(data: Data, how: ShareDefinition) -> Measured:
    """Packets that come late at 100 ms and not at 200, in % of those sent."""
    delayed = part(data, q.delayed_by_threshold(how), ftp=LIGHT, flows=(40, 80, 120))
    return change(delayed, "threshold", 200.0, 100.0).select(transport=list(TCPS))


V34 = {
    "more come late": lambda data, how: is_above(_late_below_200(data, how), 0.0),
    "slightly": lambda data, how: lines(is_below(_late_below_200(data, how), 0.0), SIGNIFICANT),
}

CONTENT = ((80, (VEGAS, REAL)), (40, (VEGAS,)))
"""With how many calls, over which TCPs, the papers speak of users' contentment: 000, 001."""


def _content(threshold: float, compare: Callable[[Measured, float], Evidence]) -> OneTest:
    def test(data: Data, how: ShareDefinition) -> Evidence:
        index = _select_thresholds(data, how).select(threshold=threshold).drop_axes("threshold")
        several = [
            compare(index.select(flows=[flows], transport=list(over)), SATISFACTORY)
            for flows, over in CONTENT
        ]
        return join(*several)

    return test


def _differs(data: Data, how: ShareDefinition) -> Evidence:
    early = _early(data, how)
    return join(
        *(is_above(early.select(flows=[flows], transport=list(over)), NOTICEABLE) for flows, over in CONTENT)
    )


V35 = {
    "satisfied at 200 ms": _content(200.0, is_above),
    "only acceptable at 100 ms": _content(100.0, is_below),
    "the difference is noticed": _differs,
}
