"""Results of runs: tables in Arrow, with the data that you need to understand and repeat them."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairwave import tables as tables_
from fairwave.arguments import checked_methods
from fairwave.extras import install, need
from fairwave.foreign import (
    ForeignFileError,
    check_file,
    check_items,
    check_size,
    gated,
    parse_json,
    reach,
    read_bytes,
)
from fairwave.provenance import METADATA_KEY, Provenance
from fairwave.staging import staging, write_text
from fairwave.table_files import can_write_parquet, write_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from matplotlib.figure import Figure

    from fairwave.answers.answer import Answer
    from fairwave.measuring.measured import Measured
    from fairwave.measuring.measures import Measure
    from fairwave.measuring.relevance import Outcome
    from fairwave.measuring.statistics import Interval
    from fairwave.notebook import PageView
    from fairwave.scenario import Scenario

SUMS = "SHA256SUMS"
"""File that lists the tables of a folder with the SHA-256 of each, as `sha256sum -c` reads it."""


class DamagedResultsError(ForeignFileError):
    """Damaged files of results; the message names them and explains how to make them again."""


class ArrowTables(MutableMapping[str, Any]):
    """Tables that become pyarrow tables on access. Each is also kept in its original form.

    Args:
        given: Tables by name, `fairwave.tables.Table` or pyarrow's.
    """

    def __init__(self, given: Mapping[str, Any]) -> None:
        self._rows = {name: table for name, table in given.items() if isinstance(table, tables_.Table)}
        self._arrow = {name: table for name, table in given.items() if name not in self._rows}
        self._names = list(given)

    def __getitem__(self, name: str) -> pa.Table:
        if name not in self._arrow:
            self._arrow[name] = self._rows[name].to_arrow()
        return self._arrow[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __setitem__(self, name: str, table: Any) -> None:
        del self[name]
        (self._rows if isinstance(table, tables_.Table) else self._arrow)[name] = table
        self._names.append(name)

    def __delitem__(self, name: str) -> None:
        for kept in (self._rows, self._arrow):
            kept.pop(name, None)
        self._names = [one for one in self._names if one != name]

    def rows(self, name: str) -> tables_.Table:
        """A table in NumPy."""
        if name not in self._rows:
            self._rows[name] = tables_.Table.from_columns(self._arrow[name])
        return self._rows[name]


@checked_methods
@dataclass(frozen=True)
class Results:
    """Results of one or many runs.

    Attributes:
        tables: `runs` (run, the labels of its point, seed, scenario hash) and the tables of `docs/results.md`.
        axes: Columns of `runs` that identify the points: the varied parameters.
        provenance: Origin of the numbers.
    """

    tables: MutableMapping[str, Any]
    axes: tuple[str, ...] = ()
    provenance: Provenance = field(default_factory=Provenance)

    def __post_init__(self) -> None:
        if not isinstance(self.tables, ArrowTables):
            object.__setattr__(self, "tables", ArrowTables(self.tables))

    def rows(self, table: str) -> tables_.Table:
        """A table in NumPy, which needs no extra.

        Raises:
            LookupError: The runs left no such table.
        """
        self._is_there(table)
        assert isinstance(self.tables, ArrowTables)
        return self.tables.rows(table)

    @property
    def runs(self) -> pa.Table:
        """One row per run: its labels, seed and scenario hash."""
        return self.tables["runs"]

    @property
    def flows(self) -> pa.Table:
        """One row per run and flow."""
        return self._table("flows")

    @property
    def groups(self) -> pa.Table:
        """One row per run and flow group: totals and fairness."""
        return self._table("groups")

    @property
    def fates(self) -> pa.Table:
        """One row per run, flow, fate and place: fates of the units, from the records of the run."""
        return self._table("fates")

    @property
    def timeliness(self) -> pa.Table:
        """One row per run, flow, threshold and reading of *timely*."""
        return self._table("timeliness")

    @property
    def transfers(self) -> pa.Table:
        """One row per run and file or page, for sources whose files count only when complete."""
        return self._table("transfers")

    @property
    def completions(self) -> pa.Table:
        """One row per run and group of such sources: number of completed files, and completion times."""
        return self._table("completions")

    @property
    def conversations(self) -> pa.Table:
        """One row per run and conversation: both directions together."""
        return self._table("conversations")

    @property
    def sessions(self) -> pa.Table:
        """One row per run and adaptive stream: start-up, stalls, rate, its changes."""
        return self._table("sessions")

    @property
    def media(self) -> pa.Table:
        """One row per run and stream of a media session: opinion, freezes, frames, packets."""
        return self._table("media")

    @property
    def media_transport(self) -> pa.Table:
        """One row per run, media session and second: state of its rate controller."""
        return self._table("media_transport")

    @property
    def media_outbound(self) -> pa.Table:
        """One row per run, stream and second: counters of its sender, after webrtc-stats."""
        return self._table("media_outbound")

    @property
    def media_inbound(self) -> pa.Table:
        """One row per run, stream and second: counters of its receiver, after webrtc-stats."""
        return self._table("media_inbound")

    @property
    def round_trips(self) -> pa.Table:
        """One row per run and flow with measured round trips: pings, and the groups that `record.round-trips` names."""
        return self._table("round_trips")

    @property
    def outcomes(self) -> pa.Table:
        """One row per run and flow of a group with an `outcome`: Quality of Outcome and its parts."""
        return self._table("outcomes")

    @property
    def tins(self) -> pa.Table:
        """One row per run, link and tin of queues under CAKE: the statistics of `tc -s qdisc`."""
        return self._table("tins")

    @property
    def radio(self) -> pa.Table:
        """One row per run and link direction on a shared medium: transmissions, collisions, airtime."""
        return self._table("radio")

    @property
    def links(self) -> pa.Table:
        """One row per run and link direction."""
        return self._table("links")

    @property
    def service_classes(self) -> pa.Table:
        """One row per run and class of a link's class map, and per policer or shaper of a link."""
        return self._table("service_classes")

    @property
    def series(self) -> pa.Table:
        """Time series, when the scenario records them."""
        return self._table("series")

    @property
    def units(self) -> pa.Table:
        """The units of recorded flows: when each was made and when it arrived."""
        return self._table("units")

    def _table(self, name: str) -> pa.Table:
        self._is_there(name)
        return self.tables[name]

    def _is_there(self, name: str) -> None:
        if name in self.tables:
            return
        hint = ": ask for them in the scenario's [record]" if name in {"series", "units"} else ""
        raise LookupError(f"these runs left no {name}{hint}; they left {', '.join(self.tables)}")

    def to_polars(self, table: str = "flows") -> pl.DataFrame:
        """A table as polars data frame.

        Raises:
            LookupError: The runs left no such table.
        """
        self._is_there(table)
        need("polars", "tables")
        import polars as pl

        frame = pl.from_arrow(self._table(table))
        assert isinstance(frame, pl.DataFrame)
        return frame

    def to_pandas(self, table: str = "flows", *, arrow: bool = False) -> pd.DataFrame:
        """Returns a table as pandas data frame; needs pandas.

        Args:
            table: Name of the table.
            arrow: Share the columns as pandas' Arrow types, instead of copying them into NumPy's.

        Raises:
            LookupError: The runs have no such table.
            ImportError: pandas is missing; the message explains how to install it.
        """
        self._is_there(table)
        need("pandas", "pandas")
        found = self._table(table)
        if not arrow:
            return found.to_pandas()
        import pandas as pd

        return found.to_pandas(types_mapper=pd.ArrowDtype)

    def measured(self, measure: Measure | str, group: str | None = None) -> Measured:
        """Returns a measure, one number per run.

        Args:
            measure: A measure, or its name, with the flow group or link if it has one (`"mos.voice"`, `"mos"`,
                `"utilisation.r1>r2"`). `fairwave list measures` lists the names.
            group: The flow group, if `measure` does not name it; all flows when neither does.

        Raises:
            fairwave.ask.AskError: There is no such measure; a `ValueError`.
            LookupError: No flow group or link has that name; the message lists the names.
        """
        from fairwave.answers.results_api import asked

        return (
            asked(self, measure, group).measure.compute(self)
            if isinstance(measure, str)
            else measure.compute(self)
        )

    def answer(
        self, group: str | None = None, *, relevant: Mapping[str, float | str] | None = None
    ) -> Answer:
        """Rates the flows, in the words of the terminal and of pages; `print` shows its sentences.

        Args:
            group: The flow group. Default: all groups of a run, the first with a stream of a comparison.
            relevant: Smallest differences that count: `{"mos": 0.2, "goodput": "5 %"}`; the usual ones if left out.

        Raises:
            LookupError: No flow group has that name; the message lists the names.
            fairwave.measuring.relevance.RelevanceError: A difference cannot be read.
        """
        from fairwave.answers.results_api import answer
        from fairwave.measuring.relevance import relevance

        return answer(self, group, relevance(relevant))

    def difference(
        self,
        one: Any,
        other: Any,
        measure: str = "mos",
        group: str | None = None,
        *,
        at: Mapping[str, Any] | None = None,
    ) -> Interval:
        """The mean of `one` − `other` with its 95 % interval, paired by seed.

            results = fw.compare(call, {"flow.voice.transport": ["udp", "tcp/vegas"]}, n=10)
            results.difference("udp", "tcp/vegas", "mos", "voice")

        Args:
            one: Label of an alternative.
            other: Label of the alternative that is subtracted.
            measure: Name of the measure: `"mos.voice"`, or `"mos"` with a group.
            group: The flow group, if `measure` does not name it; all flows when neither does.
            at: Labels of other axes, if there are any: `{"flow.voice.count": 10}`.

        Raises:
            fairwave.ask.AskError: No measure has that name.
            LookupError: No alternative or flow group has that name; the message lists the names.
        """
        from fairwave.answers.results_api import difference

        return difference(self, one, other, measure, group, dict(at or {}))

    def outcome(
        self,
        one: Any,
        other: Any,
        measure: str = "mos",
        group: str | None = None,
        *,
        at: Mapping[str, Any] | None = None,
        relevant: Mapping[str, float | str] | None = None,
    ) -> Outcome:
        """Compares `one` with `other`: `higher`, `lower`, `alike` or `undecided`.

        The two are alike if the 95 % interval of their difference is below the smallest difference that counts.

        Args:
            one: Label of an alternative.
            other: Label of the alternative that it is compared with.
            measure: Name of the measure: `"mos.voice"`, or `"mos"` with a group.
            group: The flow group, if `measure` does not name it; all flows when neither does.
            at: Labels of other axes, if there are any.
            relevant: Smallest differences that count: `{"mos": 0.2, "goodput": "5 %"}`; the usual ones if left out.

        Raises:
            fairwave.ask.AskError: No measure has that name.
            LookupError: No alternative or flow group has that name; the message lists the names.
            fairwave.measuring.relevance.RelevanceError: A difference cannot be read.
        """
        from fairwave.answers.results_api import compared
        from fairwave.measuring.relevance import relevance

        return compared(self, one, other, measure, group, dict(at or {}), relevance(relevant)).outcome

    def page(
        self,
        out: str | Path,
        *,
        scenario: Scenario | None = None,
        group: str | None = None,
        relevant: Mapping[str, float | str] | None = None,
    ) -> PageView:
        """Writes the page of `fairwave run` or `fairwave compare` with tables and figures; a notebook shows it.

        Args:
            out: Its folder.
            scenario: The scenario of runs without alternatives, needed for these only; the page draws the first run.
            group: The flow group that is compared, the first with a stream if left out.
            relevant: Smallest differences that count: `{"mos": 0.2, "goodput": "5 %"}`; the usual ones if left out.

        Raises:
            TypeError: Runs without alternatives, and no scenario.
            LookupError: No flow group has that name, or several axes vary.
            fairwave.folders.FolderTakenError: `out` is a file, or is inside a file.
            fairwave.extras.MissingExtraError: The extra `report` is not installed.
        """
        from fairwave.answers.results_api import page
        from fairwave.measuring.relevance import relevance

        return page(self, Path(out), scenario, group, relevance(relevant))

    def plot(
        self,
        measure: str | Sequence[str],
        group: str | None = None,
        *,
        kind: str | None = None,
        over: str | None = None,
        at: Mapping[str, Any] | None = None,
        style: str | None = None,
        save: str | Path | None = None,
    ) -> Figure:
        """Draws a measure, as pages draw it; a notebook shows the figure.

        For example::

            results = fw.compare(call, {"flow.voice.transport": ["udp", "tcp/vegas"]}, n=10)
            results.plot("mos.voice")
            results.plot("mos.voice", kind="violin", style="paper", save="mos.pdf")

        Kinds:

        - `curve`: means along an axis of numbers, with 95 % bands; a curve for each value of a second axis.
        - `bar`: means of alternatives, with 95 % intervals.
        - `map`: means over two axes as colours; a panel for each value of further axes.
        - `ecdf`: share of runs up to each value.
        - `box`: quartiles of runs.
        - `violin`: density of runs.
        - `difference`: each alternative minus the first, paired by seed.
        - `time`: the course over time, mean over runs; needs `record.series`.

        Args:
            measure: A measure (`"mos.voice"`, `"utilisation.r1>r2"`), or a list of them, a panel each.
            group: The flow group, if `measure` does not name it.
            kind: Kind of the figure. Default: a map over two axes or more, a curve over one of numbers, bars over
                other ones, and the share of runs if nothing varies.
            over: The axis of the abscissa.
            at: Labels of axes that are fixed at one value: `{"flow.voice.count": 10}`.
            style: As `--style`: `"paper"`, `"slides"`, `"mono"`, a Matplotlib style sheet, or several: `"paper,mono"`.
            save: A file that the figure is written to, too: `.svg`, `.png` or `.pdf`.

        Returns:
            A Matplotlib figure, which keeps its style when you save it later.

        Raises:
            TypeError: An argument of the wrong kind.
            ValueError: There is no such measure, kind or style, or it does not fit the axes.
            LookupError: The runs have no such flow group, link, axis or label, or recorded no series.
            fairwave.extras.MissingExtraError: The extra `report` is not installed.
        """
        from fairwave.answers.results_api import plot

        return plot(self, measure, group, kind, over, at, style, save)

    def save(self, out: str | Path) -> Path:
        """Writes every table as Parquet and CSV and the provenance as JSON into the folder `out`; all or nothing.

        Without pyarrow (the extra `tables`) there is no Parquet, and `load` cannot read the folder.

        Returns:
            The folder.

        Raises:
            fairwave.folders.FolderTakenError: `out` is a file, or is inside a file.
        """
        from fairwave.folders import check_folder

        folder = Path(out)
        check_folder(folder)
        with staging(folder) as partial:
            self.write_into(partial)
        return folder

    def write_into(self, folder: Path) -> None:
        """Writes into an existing folder, file by file."""
        files = []
        has_parquet = can_write_parquet()
        for name in self.tables:
            table = self.tables[name] if has_parquet else self.rows(name)
            files += write_table(table, folder / name, self.provenance, {"axes": list(self.axes)})
        # Last in the list, so that its presence shows that the list is complete.
        files.append(folder / PROVENANCE)
        write_text(folder / PROVENANCE, self.provenance.to_json() + "\n")
        write_text(folder / SUMS, "".join(f"{hash_file(file)}  {file.name}\n" for file in files))

    @classmethod
    def load(cls, folder: str | Path) -> Results:
        """Reads the output of `save`: the tables that `SHA256SUMS` lists, after a comparison with their checksums.

        Raises:
            FileNotFoundError: The folder holds no results.
            fairwave.DamagedResultsError: A table is missing or has changed since it was written.
        """
        return _loaded(Path(folder))

    @classmethod
    def concatenate(cls, several: Iterable[Results]) -> Results:
        """Results one below the other, with new numbers of runs.

        Warns:
            MixedProvenanceWarning: They come from different versions or scenarios.
        """
        each = list(several)
        offset = 0
        parts = []
        for one in each:
            shifted = {}
            for name in one.tables:
                table = one.rows(name)
                run = tables_.Column(table["run"].values + offset)
                shifted[name] = table.with_columns({"run": run})
            parts.append(shifted)
            offset += one.rows("runs").num_rows
        axes = tuple(dict.fromkeys(axis for one in each for axis in one.axes))
        return cls(tables_.concatenate(parts), axes, Provenance.merge(one.provenance for one in each))

    def _repr_html_(self) -> str:
        """For notebooks: a summary of the runs, and the tables."""
        from fairwave.notebook import results

        return results(self)

    def __repr__(self) -> str:
        counts = {name: self.rows(name).num_rows for name in self.tables}
        sizes = ", ".join(f"{name} {rows}" for name, rows in counts.items() if rows)
        return f"Results(rows: {sizes}; seeds {list(self.provenance.seeds)})"


PROVENANCE = "provenance.json"


@gated("results", DamagedResultsError)
def _loaded(where: Path) -> Results:
    """The results in a folder."""
    if not (where / SUMS).exists():
        raise FileNotFoundError(
            f"no results in {where}: a folder that `save` or `fairwave run --out` wrote has {SUMS}"
        )
    files = _listed_tables(where)
    need("pyarrow", "tables")
    tables, cells = {}, 0
    for file in files:
        reach(file.name)
        tables[file.stem], size = _table(file, cells)
        cells += size
    for name, columns in NEEDED.items():
        for column in columns if name in tables else ():
            if column not in tables[name].column_names:
                raise DamagedResultsError(
                    f"{where / name}.parquet is damaged: it lacks the column {column!r}; {_again(where)}"
                )
    reach("runs.parquet")
    metadata = tables["runs"].schema.metadata or {}
    axes = parse_json(metadata.get(b"axes", b"[]"), str(where / "runs.parquet"), "results")
    return Results(tables, tuple(axes), Provenance.from_json(metadata[METADATA_KEY]))


NEEDED = {"runs": ("run", "seed", "scenario"), "flows": ("run", "group", "flow"), "groups": ("run", "group")}
"""Required columns of a table."""


def _table(file: Path, before: int) -> tuple[Any, int]:
    """A table and the number of its cells, added up before they are read: few bytes can hold many equal cells.

    Args:
        file: The table, in Parquet.
        before: Cells of the tables before it.
    """
    import pyarrow.parquet as pq

    check_file(file, "results", DamagedResultsError)
    with pq.ParquetFile(file) as opened:
        found = opened.metadata
        groups = [found.row_group(number) for number in range(found.num_row_groups)]
        cells = max(found.num_rows, sum(one.num_rows for one in groups)) * found.num_columns
        check_items(before + cells, str(file), "results")
        unpacked = sum(
            one.column(number).total_uncompressed_size for one in groups for number in range(one.num_columns)
        )
        check_size(unpacked, f"{file}, unpacked,", "results", DamagedResultsError)
        return opened.read(), cells


def _listed_tables(folder: Path) -> list[Path]:
    """The tables that a folder's list names, which are there and as they were written.

    Raises:
        fairwave.DamagedResultsError: Some are not, or the list is not whole.
    """
    try:
        check_file(folder / SUMS, "reading", DamagedResultsError)  # a list of some tens of files
        text = (folder / SUMS).read_text(encoding="ascii")
        lines = [line.split("  ") for line in text.splitlines()]
        sums = {name: digest for digest, name in lines}
    except ValueError:
        sums = {}
    kinds = {Path(name).suffix for name in sums}
    if kinds == {".csv", ".json"} and next(reversed(sums)) == PROVENANCE:
        raise FileNotFoundError(
            f"{folder} has the tables only as CSV, because pyarrow was missing when they were saved; "
            f"{install('tables')}, then {_again(folder)}"
        )
    is_whole = next(reversed(sums), "") == PROVENANCE and kinds <= {".parquet", ".csv", ".json"}
    if not is_whole or "runs.parquet" not in sums:
        raise DamagedResultsError(
            f"{folder / SUMS} is damaged: it does not list these results; {_again(folder)}"
        )
    tables = [folder / name for name in sorted(sums) if name.endswith(".parquet")]
    for file in tables:
        if not file.is_file():
            raise DamagedResultsError(f"{file} is missing, but {SUMS} lists it; {_again(folder)}")
        if hash_file(file) != sums[file.name]:
            raise DamagedResultsError(
                f"{file} is damaged: its SHA-256 is not the one that {SUMS} lists; {_again(folder)}"
            )
    return tables


def _again(folder: Path) -> str:
    """How to make damaged results again."""
    try:
        command = Provenance.from_json(read_bytes(folder / PROVENANCE, "results")).command
    except (OSError, ValueError, LookupError, TypeError):
        command = ""
    return (
        f"make them again: {command}" if command.startswith("fairwave ") else "make them again and save them"
    )


def hash_file(file: Path) -> str:
    """The SHA-256 of a file, which need not fit the memory."""
    import hashlib

    digest = hashlib.sha256()
    with file.open("rb") as stream:
        while part := stream.read(1 << 20):
            digest.update(part)
    return digest.hexdigest()
