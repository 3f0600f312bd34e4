"""One self-contained page: figures, tables, verdicts, audio and provenance in a single file that needs no network."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from fairwave import content_security, lab
from fairwave.provenance import seeds_in_words
from fairwave_report import embedding, figures, style

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from importlib.resources.abc import Traversable
    from pathlib import Path

    from jinja2 import Template
    from markupsafe import Markup

    from fairwave.answers.answer import Answer
    from fairwave.provenance import Provenance
    from fairwave_report.atlas import Atlas
    from fairwave_report.figures import Drawing
    from fairwave_report.listening import Clip
    from fairwave_report.video import ViewedClip


@dataclass(frozen=True)
class Card:
    """A number worth seeing first.

    Attributes:
        number: The number, as text.
        label: What it counts.
        tone: Name of a verdict in small letters with underscores, or empty.
    """

    number: str
    label: str
    tone: str = ""


@dataclass(frozen=True)
class TableView:
    """A table as text.

    Attributes:
        id: Its id.
        title: One line.
        columns: Heads.
        rows: Cells.
        files: Names of the files that hold it, relative to the folder of the page.
        source: The table of a paper that it answers to.
        caption: What to see.
        meanings: Heads that are short for something, with what: it is shown when the head is pointed at.
    """

    id: str
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    files: Sequence[str] = ()
    source: str = ""
    caption: str = ""
    meanings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ReadingsView:
    """All readings of a paper, as a page shows them.

    Attributes:
        count: Readings drawn from all factors at once.
        strips: Claim to its verdicts over them: tone, where it begins, how many.
        sentences: Claim to two sentences about it.
        drawings: Figures.
        tables: Tables.
        shortened: What their runs have less of than the study's own, in words; empty where nothing.
    """

    count: int
    strips: Mapping[str, Sequence[tuple[str, int, int]]]
    sentences: Mapping[str, Sequence[str]]
    drawings: Sequence[Drawing]
    tables: Sequence[TableView]
    shortened: str = ""


@dataclass(frozen=True)
class WhyView:
    """Why a claim comes out as it does.

    Attributes:
        words: A paragraph.
        drawing: The figure: a mechanism on and off.
    """

    words: str
    drawing: Drawing


@dataclass(frozen=True)
class Part:
    """One question of a page that asks several.

    Attributes:
        id: Its id.
        title: The question.
        lead: What was run.
        answer: The verdict.
        clips: Audio.
        heard: What there is to say of the audio, a paragraph each.
        page: The page with its numbers, relative to this one.
        command: What makes that page again.
    """

    id: str
    title: str
    lead: str
    answer: Answer
    clips: Sequence[Clip]
    heard: Sequence[str]
    page: str
    command: str


@dataclass(frozen=True)
class Page:
    """Everything that a page shows; what is empty is left out.

    Attributes:
        title: Heading.
        kicker: Small line above it.
        lead: Paragraph beneath it.
        provenance: Where the numbers come from.
        answer: What the page says first.
        cards: How much was run.
        judgements: Claims with verdicts (`fairwave_study.claims.Judgement`).
        claims_are: What they are called, one and several.
        forests: Claim to the picture of its comparisons, as SVG.
        readings: All readings of the paper; None where only one was judged.
        accounts: Per paper its number, and headings to sentences: what its authors would accept as fair.
        whys: Claim to what shows why it comes out as it does.
        factors: Entries with `id`, `open`, `ranking`, `values`: what is open.
        drawings: Figures.
        drawn: What they show, a sentence.
        folded: Figures that are seen when the reader unfolds them.
        folded_are: What those are.
        tables: Tables.
        clips: Audio.
        parts: Questions, where the page asks several.
        films: What viewers see.
        heard: What there is to say of the audio, a paragraph each.
        assumptions: Entries with `id`, `statement`, `source`, `swept`.
        calibrations: Entries with `quantity`, `target`, `source`, `setting`, `measured`.
        notes: Remarks, a paragraph each.
        scenario: The scenario's text.
        setups: Where there are several: of each part of what was run a name and the text of a scenario.
        leading: Figures that stand directly beneath the answer.
        tables_first: Whether tables stand before figures.
        atlas: A network on a map, with its pairs and its failures.
        live: Whether it shows a run on real packets, which no seed repeats and no lab simulates.
    """

    title: str
    provenance: Provenance
    kicker: str = ""
    lead: str = ""
    answer: Answer | None = None
    cards: Sequence[Card] = ()
    judgements: Sequence[Any] = ()
    claims_are: tuple[str, str] = ("claim", "claims")
    forests: Mapping[str, str] = field(default_factory=dict)
    readings: ReadingsView | None = None
    accounts: Sequence[tuple[str, Mapping[str, Sequence[str]]]] = ()
    whys: Mapping[str, Sequence[WhyView]] = field(default_factory=dict)
    factors: Sequence[Mapping[str, Any]] = ()
    drawings: Sequence[Drawing] = ()
    drawn: str = "Means over replications; bands and error bars are 95 % confidence intervals."
    folded: Sequence[Drawing] = ()
    folded_are: str = ""
    tables: Sequence[TableView] = ()
    clips: Sequence[Clip] = ()
    parts: Sequence[Part] = ()
    films: Sequence[ViewedClip] = ()
    heard: Sequence[str] = ()
    assumptions: Sequence[Mapping[str, Any]] = ()
    calibrations: Sequence[Mapping[str, Any]] = ()
    notes: Sequence[str] = field(default_factory=list)
    scenario: str = ""
    setups: Mapping[str, str] = field(default_factory=dict)
    leading: Sequence[Drawing] = ()
    tables_first: bool = False
    atlas: Atlas | None = None
    live: bool = False

    def html(self, folder: Path) -> str:
        """The page's text, with everything that it shows, plays and offers within.

        Args:
            folder: Where it will stand: figures (in `figures/`), tables and data lie there, and go into it.
        """
        data, left_out = embedding.gathered(folder)
        left_out += [
            f"{one.file.name} ({embedding.format_size(one.file.stat().st_size)})" for one in self.films
        ]
        template = _template()
        # As it stands there: it holds no markup of ours, and its hash is that of these very characters.
        has_sound = self.clips or any(part.clips for part in self.parts)
        several = [
            *self.leading,
            *self.drawings,
            *self.folded,
            *(self.readings.drawings if self.readings else ()),
        ]
        pointed = any(one.chart is not None or 'class="tip"' in one.svg for one in several)
        scripts = [_text("player.js")] if has_sound else []
        scripts += [plotting(), _text("chart.js")] if pointed else []
        scripts += [_text("atlas.js")] if self.atlas else []
        made = template.render(
            page=self,
            policy=content_security.PLACE,
            fonts=fonts(),
            scripts=scripts,
            pointed=pointed,
            looks=style.LOOKS,
            seeds=seeds_in_words(self.provenance.seeds),
            rows=figures.table_rows,
            anchors={one["id"]: f"factor-{one['id']}" for one in self.factors}
            | {one["id"]: f"assumption-{one['id']}" for one in self.assumptions},
            factors={one["id"] for one in self.factors},
            drawn=lambda one: embedding.list_downloads(folder / "figures", one.files),
            tabled=lambda one: embedding.list_downloads(folder, one.files),
            sound=embedding.sound,
            as_video=lambda one: embedding.data_uri(one.mp4, "mp4"),
            data=data,
            left_out=left_out,
            lab=lab.link_from(folder, self.scenario)
            if self.scenario and not self.live and not self.atlas
            else None,
            labs={name: link for name, text in self.setups.items() if (link := lab.link_from(folder, text))},
        )
        return content_security.with_policy(made, scripts)


def plotting() -> str:
    """The text of uPlot with its licence, which asks to travel with every copy."""
    return f"/*\nuPlot\n\n{_text('uplot/LICENSE').strip()}\n*/\n{_text('uplot/uPlot.iife.min.js').strip()}\n"


@cache
def fonts() -> Markup:
    """The style sheet of the page's fonts, with the fonts within."""
    from markupsafe import Markup

    def embedded(file: re.Match[str]) -> str:
        return f'url("{embedding.data_uri(_path(f"fonts/{file[1]}").read_bytes(), "woff2")}")'

    return Markup(re.sub(r'url\("([^"]*)"\)', embedded, _text("fonts/fonts.css")))


def _path(name: str) -> Traversable:
    """A file beside the template."""
    return resources.files("fairwave_report") / "templates" / name


def _text(name: str) -> str:
    """The text of a file beside the template."""
    return _path(name).read_text(encoding="utf-8")


@cache
def _template() -> Template:
    import jinja2

    loader = jinja2.PackageLoader("fairwave_report", "templates")
    environment = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters["spans"] = _spans
    return environment.get_template("page.html.j2")


def _spans(text: str) -> str:
    """A sentence with what is to be typed, which stands between backticks, as code."""
    from markupsafe import Markup, escape

    parts = str(text).split("`")
    return Markup("").join(
        Markup("<code>{}</code>").format(one) if at % 2 else escape(one) for at, one in enumerate(parts)
    )
