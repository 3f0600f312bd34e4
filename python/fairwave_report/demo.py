"""`make demo`: two questions about a call, with one page of results and audible calls.

The first question: does a call survive an upload at home? The second is from papers 000 and 001: which transport lets
a call survive contention and wireless loss? Each is a comparison that `fairwave compare` can make, and leaves the page
of that command in a separate folder.
"""

from __future__ import annotations

import shlex
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairwave.answers.lines import lines
from fairwave.answers.verdict import judge_comparison
from fairwave.cli import console
from fairwave.cli.comparing import for_all_calls
from fairwave.cli.input import kept
from fairwave.flow_groups import groups, written_playout
from fairwave.folders import claimed
from fairwave.provenance import MixedProvenanceWarning, Provenance
from fairwave.runs.grid import Grid
from fairwave.scenario import load
from fairwave.staging import write_text
from fairwave_report import pages
from fairwave_report.page import Page, Part

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

EXAMPLES = Path("examples")
QUEUE = "link.home>isp.queue"


@dataclass(frozen=True)
class Question:
    """A comparison of the demo.

    Attributes:
        id: Name of its folder.
        title: The question.
        file: The scenario's file among the examples.
        group: The flow group that is compared.
        axis: Name of the axis.
        key: The scenario's key that takes the values.
        changes: Label to the keys that it sets.
        command: The equivalent command line.
    """

    id: str
    title: str
    file: str
    group: str
    axis: str
    key: str
    changes: Mapping[str, Mapping[str, Any]]
    command: Sequence[str]


DROP_SEL = {"discipline": "drop-tail", "victim": "drop-sel", "capacity": {"bytes": 500_000}}

QUESTIONS = (
    Question(
        "home-line", "Does a call survive an upload?", "home-call.toml", "call", "queue", QUEUE,
        {
            "drop-tail": {QUEUE: "drop-tail"}, "FQ-CoDel": {QUEUE: "fq-codel"}, "CAKE": {QUEUE: "cake"},
            "Drop-Sel": {QUEUE: DROP_SEL},
        },
        ("--vary", f'{QUEUE}=drop-tail,fq-codel,cake,{{ victim = "drop-sel", capacity = {{ bytes = 500_000 }} }}'),
    ),
    Question(
        "contested", "Which transport does a contested call need?", "contested-call.toml", "voice", "transport",
        "flow.voice.transport",
        {one: {"flow.voice.transport": one} for one in ("udp", "tcp/vegas", "tcp/westwood", "tcp/real")},
        ("--over", "udp,tcp/vegas,tcp/westwood,tcp/real"),
    ),
)  # fmt: skip


def run_question(question: Question, out: Path, replications: int) -> tuple[Part, Provenance]:
    """Runs one comparison and writes its page into a separate folder."""
    base = load(EXAMPLES / question.file)
    heard, remarks = pages.heard(None, base, question.group, console.complain)
    made = heard.scenario if heard is not None else base
    changes = {label: for_all_calls(one, question.group, heard) for label, one in question.changes.items()}
    folder = out / question.id
    with console.progress(f"{question.title} {len(changes)} alternatives × {replications}") as progress:
        grid = Grid("compare", made, {question.axis: changes})
        results = grid.run(range(1, replications + 1), keep=kept(folder), progress=progress)
    whole = heard.merge_group(results) if heard is not None else results
    found = lines(whole, question.axis, question.group)
    clips: list[Any] = []
    if heard is not None:
        buffer = written_playout(groups(base)[question.group])
        with console.progress("making the calls audible") as progress:
            clips, remarks = pages.clips(heard, results, question.axis, list(changes), 1, buffer, progress)
    key = "" if question.axis == "queue" else question.key  # empty if labels are not the key's values
    command = shlex.join(
        ["fairwave", "compare", str(EXAMPLES / question.file), *question.command, "-n", str(replications)]
    )
    page = pages.write_comparison(
        results, question.axis, question.group, folder,
        title=base.name, lead=str(base.to_dict().get("description", "")), clips=clips, notes=remarks,
        scenario=base.to_toml(), found=found, heard=heard if clips else None, seed=1, key=key,
    )  # fmt: skip
    answer = judge_comparison(found, question.axis, question.group, whole, key)
    console.say(question.title)
    console.answer(answer)
    lead = str(base.to_dict().get("description", ""))
    part = Part(
        question.id, question.title, lead, answer, clips, remarks, f"{question.id}/{page.name}", command
    )
    return part, results.provenance


def _origin(each: Sequence[Provenance]) -> Provenance:
    """Merges the provenance of the page's numbers. Two scenarios are expected here, so the warning is suppressed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MixedProvenanceWarning)
        return replace(Provenance.merge(each), command="make demo")


def demo(
    out: Annotated[Path, typer.Option(help="Folder of the page.")] = Path("out/demo"),
    replications: Annotated[int, typer.Option("--replications", "-n", help="Runs per alternative.")] = 10,
) -> None:
    """Answer two questions about a call on one page."""
    with claimed(out, "demo", "demo", overwrite=False, scratch=True):
        made = [run_question(one, out, replications) for one in QUESTIONS]
        page = Page(
            title="Will the call be good?",
            kicker="Demo",
            lead="Two questions, each answered by simulating every packet, with the calls to hear.",
            provenance=_origin([origin for _, origin in made]),
            parts=[part for part, _ in made],
        )
        out.mkdir(parents=True, exist_ok=True)
        write_text(out / "index.html", page.html(out))
    console.say(f"\nPage with audio: {out / 'index.html'}")


if __name__ == "__main__":
    typer.run(demo)
