"""Tables: CoV next to the published numbers, the videos in numbers, scores of judgements, layers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from fairwave.measuring.statistics import interval
from fairwave_studies.video import points as p
from fairwave_studies.video import quantities as q
from fairwave_studies.video.systems import DVRC, TFRC
from fairwave_studies.video.traces import PUBLISHED_COV
from fairwave_study.parts import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairwave.measuring.measures import Measure
    from fairwave.measuring.statistics import Interval
    from fairwave_study.parts import Data


def _smoothness(data: Data) -> pl.DataFrame:
    video, bulk = (data.measured(q.COV, grid) for grid in (p.SINGLE, p.BULK))
    more = {one: data.measured(one, p.SINGLE) for one in (q.GOODPUT, q.LARGEST_JITTER, q.UNNOTICED, q.DROPS)}

    def row(name: str) -> dict[str, str]:
        return {
            "system": name,
            "published": f"{PUBLISHED_COV[name]:g}" if name in PUBLISHED_COV else "–",
            "video": str(video.interval(transport=name)),
            "endless data": str(bulk.interval(transport=name)) if name in bulk.labels("transport") else "–",
            **{
                one.label.removeprefix("video "): str(values.interval(transport=name))
                for one, values in more.items()
            },
        }

    return pl.DataFrame([row(name) for name in video.labels("transport")])


PUBLISHED_JITTER_MS, PUBLISHED_SHARE = 75.0, 1.0


def _distances(data: Data) -> pl.DataFrame:
    """Our values next to the paper's printed numbers."""

    def row(what: str, source: str, published: float, ours: Interval) -> dict[str, str]:
        return {
            "quantity": what,
            "source": source,
            "published": f"{published:g}",
            "here": str(ours),
            "difference": f"{ours.mean - published:+.3g}",
            "ratio": f"{ours.mean / published:.2f}",
        }

    cov = {grid: data.measured(q.COV, grid) for grid in (p.SINGLE, p.BULK)}
    rows = []
    for grid, words in ((p.SINGLE, "video"), (p.BULK, "data without end")):
        rows += [
            row(f"CoV of {name}, {words}", "§5.1", PUBLISHED_COV[name], cov[grid].interval(transport=name))
            for name in (DVRC, TFRC)
        ]
        ours, theirs = (cov[grid].samples(transport=name) for name in (DVRC, TFRC))
        ratio = PUBLISHED_COV[DVRC] / PUBLISHED_COV[TFRC]
        rows.append(
            row(f"CoV of DVRC over TFRC's, {words}", "§5.1", round(ratio, 4), interval(ours / theirs))
        )
    jitter = data.measured(q.LARGEST_JITTER, p.SINGLE).interval(transport=DVRC)
    rows.append(row("largest jitter of DVRC (ms), at most", "§5.1, Figure 7", PUBLISHED_JITTER_MS, jitter))
    share = data.measured(q.normalised(q.FTP, p.MEGABITS), p.FRIENDLY)
    rows += [
        row(
            f"normalised throughput of {tcp} TCP flows beside DVRC", "§5.4, Figure 15", PUBLISHED_SHARE,
            share.select(transport=DVRC, tcp=tcp).drop_axes("transport", "tcp").averaged("flows").interval(),
        )
        for tcp in share.labels("tcp")
    ]  # fmt: skip
    return pl.DataFrame(rows)


def _mechanisms(data: Data) -> pl.DataFrame:
    measures = (
        q.GOODPUT,
        q.INDEX_OF_SENT,
        q.INDEX_OF_SENT_EXCESS,
        q.DECODABLE,
        q.DECODABLE_LAYERS,
        q.DROPS,
        q.DELAYED_OF_SENT_EXCESS,
        q.FAIRNESS,
        q.COV,
    )
    measured = {one: data.measured(one, p.MECHANISMS) for one in measures}
    first = measured[q.GOODPUT]
    return pl.DataFrame(
        [
            {
                "videos": str(n),
                "sent as": name,
                **{
                    one.label.removeprefix("video "): str(values.interval(flows=n, mechanism=name))
                    for one, values in measured.items()
                },
            }
            for n in first.labels("flows")
            for name in first.labels("mechanism")
        ]
    )


def _numbers(data: Data, grid: str, measures: Sequence[Measure]) -> pl.DataFrame:
    rows = []
    measured = {one: data.measured(one, grid) for one in measures}
    first = next(iter(measured.values()))
    flows = first.labels("flows")
    for n in dict.fromkeys((flows[min(1, len(flows) - 1)], flows[len(flows) // 2], flows[-1])):
        rows += [
            {
                "videos": str(n),
                "system": name,
                **{
                    one.label.removeprefix("video "): str(values.interval(flows=n, transport=name))
                    for one, values in measured.items()
                },
            }
            for name in first.labels("transport")
        ]
    return pl.DataFrame(rows)


ALL = (
    q.GOODPUT,
    q.COV,
    q.FAIRNESS,
    q.WORST_CASE,
    q.INDEX,
    q.INDEX_OF_SENT,
    q.DECODABLE,
    q.DELAYED,
    q.DROPS,
    q.JITTER,
    q.DELAY,
)


def _cross(data: Data) -> pl.DataFrame:
    return _numbers(data, p.CROSS, (*ALL, q.USE))


def _reverse(data: Data) -> pl.DataFrame:
    return _numbers(data, p.REVERSE, (*ALL, q.USE))


def _chain(data: Data) -> pl.DataFrame:
    return _numbers(data, p.CHAIN, ALL)


def _judged(data: Data) -> pl.DataFrame:
    """Over the packet error rate with two TCP flows, and over their number at 3 %."""
    measured = {one: data.measured(one, p.JUDGED) for one in (*q.SCORES, q.INFORMEDNESS)}
    first = next(iter(measured.values()))
    loads, errors = first.labels("tcp"), first.labels("per")
    beside, rate = (2 if 2 in loads else loads[-1]), (0.03 if 0.03 in errors else errors[-1])
    places = list(dict.fromkeys([*((beside, per) for per in errors), *((tcp, rate) for tcp in loads)]))
    return pl.DataFrame(
        [
            {
                "compared": reading,
                "TCP flows": str(tcp),
                "packet error rate": f"{per:g}",
                **{
                    one.label: str(values.interval(reading=reading, tcp=tcp, per=per))
                    for one, values in measured.items()
                },
            }
            for reading in first.labels("reading")
            for tcp, per in places
        ]
    )


def _adaptation(data: Data) -> pl.DataFrame:
    rows = []
    measured = {
        one: data.measured(one, p.ADAPTATION) for one in (q.MEAN_LAYERS, q.LAYER_CHANGES, q.LOST_UNITS)
    }
    first = next(iter(measured.values()))
    for n in first.labels("flows"):
        for name in first.labels("transport"):
            row = {"videos": str(n), "system": name}
            row |= {
                one.label.removeprefix("video "): str(values.interval(flows=n, transport=name))
                for one, values in measured.items()
            }
            rows.append(row)
    return pl.DataFrame(rows)


def _friendliness(data: Data) -> pl.DataFrame:
    from fairwave_studies.video.claims import TCP_SHARE, VIDEO_SHARE

    shares = {
        "videos'": data.measured(VIDEO_SHARE, p.FRIENDLY),
        "TCP's": data.measured(TCP_SHARE, p.FRIENDLY),
    }
    first = next(iter(shares.values()))
    rows = []
    for tcp in first.labels("tcp"):
        for n in first.labels("flows"):
            row = {"TCP flows": str(tcp), "videos": str(n)}
            for name in first.labels("transport"):
                row |= {
                    f"{words}, with {name}": str(values.interval(tcp=tcp, flows=n, transport=name))
                    for words, values in shares.items()
                }
            rows.append(row)
    return pl.DataFrame(rows)


TABLES = (
    Table(
        "smoothness",
        "One video next to two TCP flows",
        (p.SINGLE, p.BULK),
        _smoothness,
        "paper 002 §5.1",
        "Coefficient of variation over bins of 150 ms, as video and with data that never ends.",
    ),
    Table(
        "distances",
        "Beside the printed numbers",
        (p.SINGLE, p.BULK, p.FRIENDLY),
        _distances,
        "paper 002 §5.1, §5.4",
        "All that the paper prints as a number of its results.",
    ),
    Table(
        "mechanisms",
        "Other ways to send a video at several rates",
        (p.MECHANISMS,),
        _mechanisms,
        "beyond paper 002",
        "Reverse-traffic topology. Decodable layers of simulcast refer to a layered video of the same rate; with "
        "allocated layers a layer is coded at less than its full rate; with frames left out there is one.",
    ),
    Table("cross-traffic", "With cross traffic", (p.CROSS,), _cross, "paper 002, Figures 8–10"),
    Table(
        "reverse-traffic",
        "With reverse and bursty traffic",
        (p.REVERSE,),
        _reverse,
        "paper 002, Figures 12–14",
    ),
    Table("friendliness", "Normalised throughput", (p.FRIENDLY,), _friendliness, "paper 002, Figures 15–16"),
    Table("chain", "Over five hops", (p.CHAIN,), _chain, "paper 002, Figures 18–20"),
    Table(
        "judgements",
        "Losses judged, against the truth",
        (p.JUDGED,),
        _judged,
        "paper 002 §3.2",
        "One video over DVRC at 1 Mb/s. n/a: no loss of that cause, or none taken for it. Informedness "
        "is the sum of both recalls less 100 %: nothing for a judge who knows nothing of the cause.",
    ),
    Table(
        "adaptation",
        "Layers over time",
        (p.ADAPTATION,),
        _adaptation,
        "paper 002 §3.3",
        "Means over five videos; reverse-traffic topology.",
    ),
)
