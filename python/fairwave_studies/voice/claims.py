"""Tests of the assertions of papers 000 and 001, V1 to V39.

The reading decides the meaning of *timely* and *sent* in claims of timeliness. The other meanings of *timely* are
judged as other wordings, and so are stricter senses from earlier tests. A claim that joins several assertions has a
part for each. `selecting` explains the papers' words; `claims.toml` has the claims.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Protocol

from fairwave_studies.voice import contention as first
from fairwave_studies.voice import quantities as q
from fairwave_studies.voice import varying
from fairwave_studies.voice.quantities import ShareDefinition
from fairwave_study.claims import Evidence

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fairwave_study.folder import Case
    from fairwave_study.parts import Data

    Test = Callable[[Data], Evidence]


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


def tests(case: Case) -> dict[str, Test | dict[str, Test]]:
    """Claim to its test, or to the tests of its parts, by the reading's meaning of *timely* and *sent*."""
    how = q.define_shares(case.reading)
    found: dict[str, Test | dict[str, Test]] = {
        name: partial(_apply, test, how) for name, test in SINGLE.items()
    }
    for name, several in PARTS.items():
        found[name] = {words: partial(_apply, test, how) for words, test in several.items()}
    return found


def wordings(case: Case) -> dict[str, dict[str, Test]]:
    """Claim to its other wordings; for claims of timeliness also by each other meaning of *timely*."""
    how = q.define_shares(case.reading)
    found: dict[str, dict[str, Test]] = {
        name: {words: partial(_apply, test, how) for words, test in several.items()}
        for name, several in OTHERWISE.items()
    }
    for name in TIMELY:
        for words, timely in q.TIMELY.items():
            found.setdefault(name, {})[words] = partial(evidence, name, how._replace(timely=timely))
    return found


def evidence(name: str, how: ShareDefinition, data: Data) -> Evidence:
    """The comparisons of a claim by one meaning of *timely* and *sent*."""
    if name in SINGLE:
        return SINGLE[name](data, how)
    several = [test(data, how).as_part(words) for words, test in PARTS[name].items()]
    return Evidence([one for found in several for one in found.comparisons])


def _apply(test: ClaimTest, how: ShareDefinition, data: Data) -> Evidence:
    return test(data, how)
