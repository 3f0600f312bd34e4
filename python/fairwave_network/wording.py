"""Results of a network in words and tables, for terminal, JSON and page."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fairwave.advice import rate_in_words
from fairwave.answers.answer import Answer
from fairwave.answers.bands import UNDECIDED, WORDS, counted
from fairwave.answers.naming import listed
from fairwave.measuring import measures
from fairwave.measuring.relevance import Contrast, contrast

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Sequence

    from fairwave.measuring.statistics import Interval
    from fairwave_network.failing import Failure
    from fairwave_network.language import Network
    from fairwave_network.measuring import NetworkAnswer
    from fairwave_network.widening import Widened

WORST = 10
"""Number of pairs, links and failures that are shown."""


def share(found: Interval) -> str:
    """Formats a share in % with its interval: `97.1 ± 0.4 %`, `99.8 [97.5, 100.0] %`."""
    percent = replace(found, mean=100 * found.mean, low=100 * found.low, high=100 * found.high)
    return percent.text(1, unit="%")


def difference(found: Interval) -> str:
    """Formats a difference of opinion with its interval: `+0.05 ± 0.02 MOS`, `+0.05 [-0.01, +0.30] MOS`."""
    return found.text(2, "+", "MOS")


def count_bands(bands: Counter[str]) -> str:
    """Counts the pairs in each band: `good for 3, fair for 2 and undecided for 1`."""
    return listed(counted(bands.elements(), "{word} for {count}") or ["rated for none"])


def answer(
    network: Network, found: NetworkAnswer, widened: Sequence[Widened] = (), failures: Sequence[Failure] = (),
    kind: str = "",
) -> Answer:  # fmt: skip
    """Returns the first sentences."""
    if not found.pairs:
        return Answer(["No call was rated: no pair of nodes has calls, or the run is too short."])
    bands, calls = found.bands, found.calls
    said = [f"Of {len(found.pairs)} pairs of nodes, the calls are {count_bands(bands)}."]
    said.append(
        f"Of the calls, {share(calls['good'])} are good, {share(calls['fair'])} fair, {share(calls['poor'])} poor; "
        f"their mean opinion is MOS {found.mos}."
    )
    if widened:
        said.append(_describe_widening(network, found, widened))
    elif found.pairs and bands["good"] == len(found.pairs):
        said.append("No link need be widened for calls: no pair is fair or poor.")
    if failures:
        worst = failures[0]
        left = worst.answer.bands
        name = worst.name.replace(">", "–")
        harmless = sum(one.answer.bands["good"] >= bands["good"] for one in failures)
        said.append(
            f"N − 1: the worst failure is that of {name}: after it, calls are {count_bands(left)} of the pairs. "
            f"{harmless} of {len(failures)} {kind} can fail without fewer good pairs."
        )
        lost = opinion_lost(found, worst)
        if lost.outcome == "alike":
            said.append(
                f"The mean opinion of all calls is alike after each failure: at worst {difference(lost.difference)} "
                f"(differences count from {lost.relevant})."
            )
    runs = len(found.runs)
    if runs < 2:
        sure = "One run does not show how sure this is. Try `-n 5`."
    else:
        sure = f"A pair counts in the band that holds its whole 95 % interval over {runs} runs."
        if bands[UNDECIDED]:
            sure += " Undecided pairs touch several bands: more runs may decide them."
    return Answer(said, sure=sure)


def opinion_lost(found: NetworkAnswer, failure: Failure) -> Contrast:
    """Compares the mean opinion of all calls with a failure with the original network."""
    with_it, as_it_is = ([run.mos for run in one.runs] for one in (failure.answer, found))
    return contrast(with_it, as_it_is, found.relevance.find(measures.mos()))


def gains(found: NetworkAnswer, wide: Widened) -> tuple[Contrast, Contrast]:
    """Returns the effect of a wider link on the mean opinion of all calls and on the share of good calls in points."""
    relevant = [found.relevance.find(one) for one in (measures.mos(), measures.loss())]
    opinion = Contrast(wide.mos, relevant[0], relevant[0].difference(found.mos.mean, wide.answer.mos.mean))
    shares = (100 * one.calls["good"].mean for one in (found, wide.answer))
    return opinion, Contrast(wide.good, relevant[1], relevant[1].difference(*shares))


def _describe_widening(network: Network, found: NetworkAnswer, widened: Sequence[Widened]) -> str:
    best = widened[0]
    rate = network.rates()[best.link]
    several = f"{len(widened)} links were tried, each" if len(widened) > 1 else "one link was tried,"
    tried = f"{several} with twice its rate, under the same seeds"
    opinion, good = gains(found, best)
    outcomes = {opinion.outcome, good.outcome}
    counts = f"Differences count from MOS {opinion.relevant} and {good.relevant} of good calls"
    gain = f"{difference(best.mos)} over all calls, {best.better:+.0f} good calls in a run"
    name = best.link.replace(">", "–")
    single = best.mos.n == 1 and not (opinion.is_little and good.is_little) and best.mos.mean > 0
    if "higher" in outcomes or single:
        return (
            f"Widen {name} first, from {rate_in_words(rate)} to {rate_in_words(best.rate_bps)}: {gain}; {tried}. "
            f"{counts}."
        )
    if outcomes <= {"alike", "lower"} or best.mos.n == 1:
        said = "No single wider link makes a difference that counts"
    else:
        said = "Whether a single wider link makes a difference that counts is undecided"
    return f"{said}; {tried}. The largest gain is that of {name}: {gain}. {counts}."


def worst_pairs(found: NetworkAnswer, most: int = WORST) -> list[tuple[str, str]]:
    """Returns the pairs with the lowest opinion."""
    return sorted(found.pairs, key=lambda pair: (found.pairs[pair].mos.mean, pair))[:most]


def list_delays(
    network: Network, found: NetworkAnswer, pair: tuple[str, str]
) -> list[tuple[str, float, float, float]]:
    """Returns for each link of a pair's first path: name, propagation (s), mean wait (s), discarded share."""
    group = next(
        (one for one in network.groups.values() if one.pair == pair and one.mix.kind == "calls"), None
    )
    if group is None:
        return []
    delays = {frozenset(link.ends): link.delay_s for link in network.topology.links}
    said = []
    for name in network.crossed_links(group):
        link = found.links.get(name)
        if link is not None:
            said.append((name, delays.get(frozenset(name.split(">")), 0.0), link.wait_s, link.dropped))
    return said


def tables(
    network: Network, found: NetworkAnswer, widened: Sequence[Widened] = (), failures: Sequence[Failure] = (),
) -> list[tuple[str, str, list[str], list[list[str]], str]]:  # fmt: skip
    """Returns tables as text: id, title, headers, rows, caption."""
    made = []
    rows = []
    for pair in worst_pairs(found):
        one, parts = found.pairs[pair], list_delays(network, found, pair)
        loss = max(parts, key=lambda part: part[3], default=None)
        wait = max(parts, key=lambda part: part[2], default=None)
        rows.append(
            [
                f"{pair[0]} → {pair[1]}", str(one.mos), one.band, str(one.calls),
                str(one.interrupted), f"{one.loss:.2%}".replace("%", " %"),
                f"{one.p95_s * 1e3:.1f}",
                f"{wait[0]} {wait[2] * 1e3:.1f} ms" if wait and wait[2] > 0 else "–",
                f"{loss[0]} {loss[3]:.2%}" if loss and loss[3] > 0 else "–",
            ]
        )  # fmt: skip
    made.append(
        (
            "worst", f"worst {len(rows)} of {len(found.pairs)} pairs",
            [
                "pair", "MOS", "band", "calls", "with a gap", "lost", "delay, 95th percentile, ms", "most waiting",
                "most discarded",
            ],
            rows,
            (
                "With a gap: calls whose speech is missing for more than 0.5 s. Most waiting, most discarded: the link "
                "of the path where packets of all kinds suffer most."
            ),
        )
    )  # fmt: skip
    rates = network.rates()
    busiest = sorted(found.links, key=lambda name: (-found.links[name].utilisation, name))[:WORST]
    made.append(
        (
            "links", f"busiest {len(busiest)} of {len(found.links)} link directions",
            ["link", "rate", "used", "discarded", "mean wait, ms"],
            [
                [
                    name, rate_in_words(rates[name]) if name in rates else "", f"{found.links[name].utilisation:.0%}",
                    f"{found.links[name].dropped:.2%}".replace("%", " %"), f"{found.links[name].wait_s * 1e3:.2f}",
                ]
                for name in busiest
            ], "",
        )
    )  # fmt: skip
    if widened:
        made.append(
            (
                "widening", "links that were widened", ["link", "rate", "MOS of all calls", "good calls in a run"],
                [
                    [one.link, rate_in_words(one.rate_bps), one.mos.text(2, "+"), f"{one.better:+.0f}"]
                    for one in widened
                ], "Differences to the network as it is, paired by seed.",
            )
        )  # fmt: skip
    if failures:
        made.append(
            (
                "failures", f"worst {min(WORST, len(failures))} of {len(failures)} single failures",
                ["failed", "MOS of all calls", "good pairs", *WORDS[1:]],
                [
                    [one.name, str(one.answer.mos), *(str(one.answer.bands[band]) for band in WORDS)]
                    for one in failures[:WORST]
                ], "",
            )
        )  # fmt: skip
    return made


def document(
    network: Network, found: NetworkAnswer, widened: Sequence[Widened] = (), failures: Sequence[Failure] = ()
) -> dict[str, Any]:
    """Returns the result as plain data."""

    def interval_data(interval: Interval) -> dict[str, Any]:
        low, high = interval.ends
        return {
            "mean": interval.mean,
            "low": low,
            "high": high,
            "identical": interval.is_identical,
            "n": interval.n,
        }

    def changed(compared: Contrast) -> dict[str, Any]:
        return {**interval_data(compared.difference), "is": compared.outcome, "counts_from": compared.counts}

    return {
        "network": network.name,
        "answer": list(answer(network, found, widened, failures).sentences),
        "pairs": {"count": len(found.pairs), **found.bands},
        "calls": {band: interval_data(one) for band, one in found.calls.items()},
        "mos": interval_data(found.mos),
        "worst": [
            {
                "from": pair[0], "to": pair[1], "mos": interval_data(found.pairs[pair].mos),
                "band": found.pairs[pair].band,
                "path": [
                    {"link": name, "propagation_s": delay, "wait_s": wait, "dropped": dropped}
                    for name, delay, wait, dropped in list_delays(network, found, pair)
                ],
            }
            for pair in worst_pairs(found)
        ],
        "widening": [
            {
                "link": one.link, "rate_bps": one.rate_bps, "mos": changed(gains(found, one)[0]),
                "good_points": changed(gains(found, one)[1]), "good_calls": one.better,
            }
            for one in widened
        ],
        "failures": [
            {
                "failed": one.name, "mos": interval_data(one.answer.mos), "pairs": dict(one.answer.bands),
                "mos_difference": changed(opinion_lost(found, one)),
            }
            for one in failures
        ],
    }  # fmt: skip
