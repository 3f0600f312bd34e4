"""A study: its grids, figures, tables and claims as data, and how it is read from a folder.

`from_folder` reads a folder with fixed file names. `docs/add-a-study.md` describes them with a complete example.
`fairwave_study.conduct` carries a study out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from fairwave.measuring.relevance import Relevance
    from fairwave.runs.grid import Grid
    from fairwave.runs.replication import Progress
    from fairwave_report.listening import Clip
    from fairwave_study.accounts import Account
    from fairwave_study.claims import Claim
    from fairwave_study.conduct import Outcome
    from fairwave_study.experiments import Experiment
    from fairwave_study.parts import Assumption, Calibration, Figure, Table
    from fairwave_study.readings import Reading, Readings


@dataclass(frozen=True)
class Study:
    """A study as data.

    Attributes:
        name: As in `fairwave study NAME`.
        title: One line.
        question: The question that it answers, a paragraph.
        grids: The simulated points.
        figures: Figures.
        tables: Tables.
        claims: Claims.
        assumptions: Assumptions.
        calibrations: Calibrations.
        audio: Makes clips to listen to; takes the seeds and a folder to work in.
        readings: All readings of the paper; None if the study leaves nothing open.
        command: The command that carries it out; `fairwave study NAME` when empty.
        claims_are: The word for its claims, singular and plural.
        accounts: An account of each paper, for the section at the top of the page.
        experiments: Experiments that switch a mechanism on and off to explain a claim's verdict.
        folder: The folder that it was read from; None if code made it.
        reload: Reads the folder again, in another process; None if code made it.
    """

    name: str
    title: str
    question: str
    grids: Sequence[Grid]
    figures: Sequence[Figure] = ()
    tables: Sequence[Table] = ()
    claims: Sequence[Claim] = ()
    assumptions: Sequence[Assumption] = ()
    calibrations: Sequence[Calibration] = ()
    audio: Callable[[], Sequence[Clip]] | None = None
    readings: Readings | None = None
    command: str = ""
    claims_are: tuple[str, str] = ("claim", "claims")
    accounts: Sequence[Account] = ()
    experiments: Sequence[Experiment] = ()
    folder: Path | None = None
    reload: Callable[[], Study] | None = None

    @property
    def typed(self) -> str:
        """The command that carries it out."""
        return self.command or f"fairwave study {self.name}"

    def pictured(self) -> list[str]:
        """Ids of its figures and tables, which `--figure` takes."""
        return [*(one.id for one in self.figures), *(one.id for one in self.tables)]

    def run(
        self,
        out: str | Path,
        replications: int = 10,
        *,
        figure: str | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
        status: Callable[[str], None] | None = None,
        settings: Mapping[str, Any] | None = None,
        reading: Reading | None = None,
        explored: int | None = None,
        why: bool | None = None,
        relevant: Mapping[str, float | str] | Relevance | None = None,
    ) -> Outcome:
        """Carries the study out and writes everything to the folder `out`.

        Args:
            out: The folder. `.cache` in it keeps finished runs, so an interrupted study resumes.
            replications: Number of seeds per point.
            figure: Id of the only figure or table to make.
            threads: Number of runs at once; all cores when None.
            progress: Receives the number of finished runs and the total.
            status: Receives a line of text about each step.
            settings: Other assumptions: dotted paths of the scenario to values, for every grid. If an axis sets the
                same path, the axis wins.
            reading: Another reading of the paper than the base: factors to values. Missing factors keep the base value.
            explored: Number of readings to draw from all factors and judge; none when None. Each takes about as long as
                the study with one replication and few points.
            why: Whether to carry out the experiments. None: only together with an exploration.
            relevant: Smallest differences that count: `{"mos": 0.2, "goodput": "5 %"}`; the usual ones if left out.

        Raises:
            LookupError: There is no such figure, factor or value; the message lists them.
            ValueError: The reading contradicts itself, or there is nothing to explore.
            fairwave.ScenarioError: A setting does not fit the scenario.
            OSError: `out` cannot be written.
        """
        from fairwave.folders import claimed
        from fairwave_study.conduct import conduct

        with claimed(out, "study", self.name):
            return conduct(
                self,
                out,
                replications,
                figure=figure,
                threads=threads,
                progress=progress,
                status=status,
                settings=settings,
                reading=reading,
                explored=explored,
                why=why,
                relevant=relevant,
            )


def from_folder(
    place: str | Path, reading: Reading | None = None, extent: Any = None, *, essential: bool = False
) -> Study:
    """The study in a folder.

    Args:
        place: The folder, or the name of an importable package.
        reading: Factors to values. Missing factors keep the value of the base reading.
        extent: How much to simulate; `PAPER` of the study's `points.py`, or `ESSENTIAL`, when None.
        essential: Read only the claims and the points on which they rest, as for an exploration.

    Raises:
        ValueError: A file or a name is missing, or two files do not fit together. The message names file and key.
        LookupError: There is no such factor or value; the message lists them.
    """
    from fairwave_study.folder import StudyFolder

    return StudyFolder(place).study(reading, extent, essential=essential)
