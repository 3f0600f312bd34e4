"""Self-contained page: figures, tables, verdicts, audio and provenance in one file that needs no network."""

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
    """A prominent number at the top of a page.

    Attributes:
        number: The number, as text.
        label: Description of the counted things.
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
        columns: Column headers.
        rows: Cells.
        files: Names of the table's files, relative to the folder of the page.
        source: The paper's table that it corresponds to.
        caption: What to see.
        meanings: Abbreviated headers with their meanings, which the page shows as tooltips.
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
    """All readings of a paper, for a page.

    Attributes:
        count: Readings drawn from all factors at once.
        strips: Claim to its verdicts over them: tone, start, number.
        sentences: Claim to two sentences about it.
        drawings: Figures.
        tables: Tables.
        shortened: How their runs are shorter than the study's, in words; empty if they are not.
    """

    count: int
    strips: Mapping[str, Sequence[tuple[str, int, int]]]
    sentences: Mapping[str, Sequence[str]]
    drawings: Sequence[Drawing]
    tables: Sequence[TableView]
    shortened: str = ""


@dataclass(frozen=True)
class WhyView:
    """Explanation of a claim's verdict.

    Attributes:
        words: A paragraph.
        drawing: The figure: a mechanism on and off.
    """

    words: str
    drawing: Drawing


@dataclass(frozen=True)
class Part:
    """One question of a page with several questions.

    Attributes:
        id: Its id.
        title: The question.
        lead: The runs, in words.
        answer: The verdict.
        clips: Audio.
        heard: Remarks about the audio, a paragraph each.
        page: The page with its numbers, relative to this one.
        command: The command that makes that page.
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
    """Content of a page. Empty parts are left out.

    Attributes:
        title: Heading.
        kicker: Small line above the heading.
        lead: Paragraph below the heading.
        provenance: Origin of the numbers.
        answer: The verdict, at the top of the page.
        cards: Numbers of runs and the like.
        judgements: Claims with verdicts (`fairwave_study.claims.Judgement`).
        claims_are: Noun for the claims, singular and plural.
        forests: Claim to the picture of its comparisons, as SVG.
        readings: All readings of the paper; None if only one was judged.
        accounts: Per paper: its number, and headings to the sentences that its authors would accept as fair.
        whys: Claim to the explanation of its verdict.
        factors: Choices that the paper leaves open: entries with `id`, `open`, `ranking`, `values`.
        drawings: Figures.
        drawn: Description of the figures, a sentence.
        folded: Figures in a section that the reader unfolds.
        folded_are: Name of those figures.
        tables: Tables.
        clips: Audio.
        parts: The questions of a page with several.
        films: Received videos.
        heard: Remarks about the audio, a paragraph each.
        assumptions: Entries with `id`, `statement`, `source`, `swept`.
        calibrations: Entries with `quantity`, `target`, `source`, `setting`, `measured`.
        notes: Remarks, a paragraph each.
        scenario: The scenario's text.
        setups: For several scenarios: the name of each part of the runs and its scenario's text.
        leading: Figures directly below the verdict.
        tables_first: Whether tables precede figures.
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
        """Renders the page, with all figures, audio and downloads embedded.

        Args:
            folder: The page's future folder. Its figures (in `figures/`), tables and data are embedded.
        """
        data, left_out = embedding.gather_data(folder)
        left_out += [
            f"{one.file.name} ({embedding.format_size(one.file.stat().st_size)})" for one in self.films
        ]
        template = _template()
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
    """Returns the text of uPlot with its licence, which must accompany every copy."""
    return f"/*\nuPlot\n\n{_text('uplot/LICENSE').strip()}\n*/\n{_text('uplot/uPlot.iife.min.js').strip()}\n"


@cache
def fonts() -> Markup:
    """Returns the style sheet of the page's fonts, with the fonts embedded."""
    from markupsafe import Markup

    def embedded(file: re.Match[str]) -> str:
        return f'url("{embedding.data_uri(_path(f"fonts/{file[1]}").read_bytes(), "woff2")}")'

    return Markup(re.sub(r'url\("([^"]*)"\)', embedded, _text("fonts/fonts.css")))


def _path(name: str) -> Traversable:
    """Returns a file of the template's folder."""
    return resources.files("fairwave_report") / "templates" / name


def _text(name: str) -> str:
    """Returns the text of a file of the template's folder."""
    return _path(name).read_text(encoding="utf-8")


@cache
def _template() -> Template:
    import jinja2

    loader = jinja2.PackageLoader("fairwave_report", "templates")
    environment = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters["spans"] = _spans
    return environment.get_template("page.html.j2")


def _spans(text: str) -> str:
    """Formats the text between backticks in a sentence as code."""
    from markupsafe import Markup, escape

    parts = str(text).split("`")
    return Markup("").join(
        Markup("<code>{}</code>").format(one) if at % 2 else escape(one) for at, one in enumerate(parts)
    )
