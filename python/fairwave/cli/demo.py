"""`fairwave demo`: two questions about a call, with one page of results and audible calls.

The first question: does a call survive an upload at home? The second is from papers 000 and 001: which transport lets
a call survive contention and wireless loss? Each is a comparison that `fairwave compare` can make, and leaves the page
of that command in a separate folder. Each verdict is printed as soon as its runs have ended.
"""

from __future__ import annotations

import shlex
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairwave.answers.lines import lines
from fairwave.answers.verdict import judge_comparison
from fairwave.cli import console
from fairwave.cli.comparing import for_all_calls, write_tables
from fairwave.cli.input import kept, layer_or_note, positive
from fairwave.flow_groups import groups, written_playout
from fairwave.folders import claimed
from fairwave.provenance import MixedProvenanceWarning, Provenance
from fairwave.runs.grid import Grid
from fairwave.scenario import load

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FOLDER = Path("out/demo")
"""Default folder; the next demo replaces it."""

QUEUE = "link.home>isp.queue"


@dataclass(frozen=True)
class Question:
    """A comparison of the demo.

    Attributes:
        id: Name of its folder.
        title: The question.
        example: The scenario: the name of an example.
        group: The flow group that is compared.
        axis: Name of the axis.
        key: The scenario's key that takes the values.
        changes: Label to the keys that it sets.
        command: The options of the equivalent command line.
    """

    id: str
    title: str
    example: str
    group: str
    axis: str
    key: str
    changes: Mapping[str, Mapping[str, Any]]
    command: Sequence[str]


DROP_SEL = {"discipline": "drop-tail", "victim": "drop-sel", "capacity": {"bytes": 500_000}}

QUESTIONS = (
    Question(
        "home-line", "Does a call survive an upload?", "home-call", "call", "queue", QUEUE,
        {
            "drop-tail": {QUEUE: "drop-tail"}, "FQ-CoDel": {QUEUE: "fq-codel"}, "CAKE": {QUEUE: "cake"},
            "Drop-Sel": {QUEUE: DROP_SEL},
        },
        ("--vary", f'{QUEUE}=drop-tail,fq-codel,cake,{{ victim = "drop-sel", capacity = {{ bytes = 500_000 }} }}'),
    ),
    Question(
        "contested", "Which transport does a contested call need?", "contested-call", "voice", "transport",
        "flow.voice.transport",
        {one: {"flow.voice.transport": one} for one in ("udp", "tcp/vegas", "tcp/westwood", "tcp/real")},
        ("--over", "udp,tcp/vegas,tcp/westwood,tcp/real"),
    ),
)  # fmt: skip


def answer_question(question: Question, out: Path, replications: int, pages: Any) -> tuple[Any, Provenance]:
    """Runs one comparison, prints its verdict and writes a page, or tables, into a separate folder.

    Args:
        question: The comparison.
        out: Folder of the demo.
        replications: Runs per alternative.
        pages: The layer that makes pages; None without it.

    Returns:
        The question's part of the page (None without the layer), and the origin of its numbers.
    """
    base = load(question.example)
    heard, remarks = (
        pages.heard(None, base, question.group, console.complain) if pages is not None else (None, [])
    )
    made = heard.scenario if heard is not None else base
    changes = {label: for_all_calls(one, question.group, heard) for label, one in question.changes.items()}
    folder = out / question.id
    with console.progress(f"{question.title} {len(changes)} alternatives × {replications}") as progress:
        grid = Grid("compare", made, {question.axis: changes})
        results = grid.run(range(1, replications + 1), keep=kept(folder), progress=progress)
    whole = heard.merge_group(results) if heard is not None else results
    found = lines(whole, question.axis, question.group)
    key = "" if question.axis == "queue" else question.key  # empty if labels are not the key's values
    answer = judge_comparison(found, question.axis, question.group, whole, key)
    console.say(f"\n{question.title}" if question is not QUESTIONS[0] else question.title)
    console.answer(answer)
    if pages is None:
        write_tables(results, found, question.axis, folder, made.to_toml())
        return None, results.provenance
    clips: list[Any] = []
    if heard is not None:
        buffer = written_playout(groups(base)[question.group])
        with console.progress("making the calls audible") as progress:
            clips, remarks = pages.clips(heard, results, question.axis, list(changes), 1, buffer, progress)
    lead = str(base.to_dict().get("description", ""))
    with console.status("drawing the page"):
        page = pages.write_comparison(
            results, question.axis, question.group, folder,
            title=base.name, lead=lead, clips=clips, notes=remarks,
            scenario=base.to_toml(), found=found, heard=heard if clips else None, seed=1, key=key,
        )  # fmt: skip
    command = shlex.join(
        ["fairwave", "compare", question.example, *question.command, "-n", str(replications)]
    )
    part = pages.Part(
        question.id, question.title, lead, answer, clips, remarks, f"{question.id}/{page.name}", command
    )
    return part, results.provenance


def _origin(each: Sequence[Provenance]) -> Provenance:
    """Merges the provenance of the page's numbers. Two scenarios are expected here, so the warning is suppressed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MixedProvenanceWarning)
        return replace(Provenance.merge(each), command="fairwave demo")


def show_demo(out: Path | None, replications: int, *, overwrite: bool = False) -> None:
    """Answers two questions about a call: verdicts in the terminal, and one page with figures and audio."""
    positive("--replications", replications)
    pages = layer_or_note(needed=False, quiet=False)
    folder = FOLDER if out is None else out
    with claimed(folder, "demo", "demo", overwrite=overwrite, scratch=out is None):
        made = [answer_question(one, folder, replications, pages) for one in QUESTIONS]
        if pages is not None:
            shown = pages.write_demo(
                [part for part, _ in made], folder, _origin([origin for _, origin in made])
            )
    console.say(
        f"\n{'tables: ' if pages is None else 'Page with audio: '}{folder if pages is None else shown}"
    )
    console.say(
        "Next: `fairwave lab home-call` opens this network in a page; `fairwave examples` lists others."
    )
