"""What papers 000 and 001 assert, V1 to V39, each with its test.

A claim that speaks of timeliness is judged by what the reading of the papers takes *timely* and *sent* for; the other
meanings of *timely* stand beside it. Where a stricter sense of the words was once tested, that stands beside it, too. A
claim that joins several assertions has a part for each. How the papers' words are read is told in `selecting`; the
claims' own words are in `claims.toml`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Protocol

from fairwave_studies.voice import contention as first
from fairwave_studies.voice import quantities as q
from fairwave_studies.voice import varying
from fairwave_studies.voice.explanations import EXPLANATIONS
from fairwave_studies.voice.points import CALLS
from fairwave_studies.voice.quantities import ShareDefinition
from fairwave_study import texts
from fairwave_study.claims import Claim, Evidence, Part

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairwave_study.readings import Reading
    from fairwave_study.study import Data


class ClaimTest(Protocol):
    """The test of a claim or of a part, by what *timely* and *sent* mean."""

    def __call__(self, data: Data, how: ShareDefinition, /) -> Evidence:
        """Tests by one meaning."""
        ...


PARTS: Mapping[str, Mapping[str, ClaimTest]] = {
    "V1": first.V1, "V2": first.V2, "V3": first.V3, "V4": first.V4, "V5": first.V5, "V6": first.V6, "V8": first.V8,
    "V9": varying.V9, "V10": varying.V10, "V11": varying.V11, "V12": varying.V12, "V13": varying.V13,
    "V14": varying.V14, "V15": varying.V15, "V18": first.V18, "V21": first.V21, "V22": first.V22, "V23": first.V23,
    "V24": first.V24, "V25": first.V25, "V26": first.V26, "V27": varying.V27, "V28": varying.V28, "V29": varying.V29,
    "V31": varying.V31, "V32": varying.V32, "V33": varying.V33, "V34": varying.V34, "V35": varying.V35,
    "V37": first.V37, "V39": first.V39,
}  # fmt: skip
"""Claims that join several assertions, with the test of each."""

SINGLE: Mapping[str, ClaimTest] = {
    "V7": first.v7, "V16": varying.v16, "V17": varying.v17, "V19": first.v19, "V20": first.v20, "V30": varying.v30,
    "V36": first.v36, "V38": first.v38,
}  # fmt: skip
"""The tests of the others."""

STATEMENTS = texts.claims(__file__, [*PARTS, *SINGLE])
"""The claims in words."""

TIMELY = (
    "V4", "V5", "V10", "V12", "V13", "V14", "V15", "V17", "V18", "V23", "V24", "V25", "V27", "V29", "V30", "V32", "V33",
    "V34", "V35", "V37", "V38", "V39",
)  # fmt: skip
"""Claims that speak of timeliness."""

OTHERWISE: Mapping[str, Mapping[str, ClaimTest]] = {
    "V1": {"at least everywhere, 1 % counting as equal": first.v1_everywhere},
    "V6": {"strictly the fairest at every number of calls": first.v6_everywhere},
    "V8": {"no higher anywhere, 1 % counting as equal": first.v8_everywhere},
    "V11": {
        "Real leaves most with 80 calls and more, everywhere": varying.v11_real_everywhere,
        "with more calls UDP falls further behind each TCP": varying.v11_widening,
    },
    "V16": {"gain as a share of the goodput before": varying.v16_by_share},
    "V17": {"its own index higher with 120 calls": varying.v17_itself},
    "V19": {"lowest of the four": first.v19_lowest},
    "V26": {"the queue, counted in packets": first.v26_packets},
    "V24": {"at high contention only": first.v24_contended},
}
"""Other senses of a claim's words, most of them stricter."""


def evidence(name: str, data: Data, how: ShareDefinition) -> Evidence:
    """What a claim comes down to by one meaning of *timely* and *sent*."""
    if name in SINGLE:
        return SINGLE[name](data, how)
    several = [test(data, how).as_part(words) for words, test in PARTS[name].items()]
    return Evidence([one for found in several for one in found.comparisons])


def claims(reading: Reading) -> list[Claim]:
    """All claims, in order, judged as the reading says."""
    how = q.ways(reading)
    found = []
    for name, (statement, source, assumptions) in STATEMENTS.items():
        wordings = {words: partial(_by, test, how) for words, test in OTHERWISE.get(name, {}).items()}
        if name in TIMELY:
            others = {words: how._replace(timely=timely) for words, timely in q.TIMELY.items()}
            wordings |= {words: partial(_wholly, name, other) for words, other in others.items()}
        parts = tuple(Part(words, partial(_by, test, how)) for words, test in PARTS.get(name, {}).items())
        claim = Claim(
            name,
            statement,
            f"paper{'s' if ';' in source else ''} {source}",
            (CALLS,),
            notes=EXPLANATIONS.get(name, {}),
            assumptions=assumptions,
            wordings=wordings,
            parts=parts,
        )
        found.append(claim if parts else replace(claim, test=partial(_by, SINGLE[name], how)))
    return found


def _by(test: ClaimTest, how: ShareDefinition, data: Data) -> Evidence:
    return test(data, how)


def _wholly(name: str, how: ShareDefinition, data: Data) -> Evidence:
    return evidence(name, data, how)
