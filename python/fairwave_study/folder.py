"""A study's folder: texts and data in TOML files, code in Python modules, all with fixed names.

`docs/add-a-study.md` describes the files with a complete example.
"""

from __future__ import annotations

import hashlib
import sys
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from fairwave_study import texts
from fairwave_study.claims import Claim, Part
from fairwave_study.readings import Readings
from fairwave_study.study import Study

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairwave.runs.grid import Grid
    from fairwave_study.experiments import Experiment
    from fairwave_study.readings import Reading

PAGE = "docs/add-a-study.md"


@dataclass(frozen=True)
class Case:
    """The argument of the functions in a study's modules.

    Attributes:
        reading: The reading of the paper, a value for every factor; empty if the study has no `readings.toml`.
        extent: How much to simulate: `PAPER` or `ESSENTIAL` of the study's `points.py`, or another extent that a caller
            passes.
        essential: Whether only the claims are wanted, on the fewest points that suffice to judge them.
    """

    reading: Reading = field(default_factory=dict)
    extent: Any = None
    essential: bool = False


class StudyFolder:
    """Reads the study in a folder.

    Args:
        place: The folder, or the name of an importable package.

    Raises:
        ValueError: There is no such folder or package, or it has no `study.toml`.
    """

    def __init__(self, place: str | Path) -> None:
        if Path(place).is_dir():
            self.path = Path(place).resolve()
            self._package = ""
        else:
            spec = find_spec(str(place)) if str(place).replace(".", "").isidentifier() else None
            if spec is None or spec.origin is None:
                raise ValueError(
                    f"there is no folder {str(place)!r}, and no package of that name; {PAGE} describes both"
                )
            self.path = Path(spec.origin).parent
            self._package = spec.name
        if not (self.path / "study.toml").is_file():
            raise ValueError(
                f"{self.path} is no study: it has no study.toml; {PAGE} describes the files of a study"
            )
        if not self._package:
            self._package = _as_package(self.path)

    def study(self, reading: Reading | None = None, extent: Any = None, *, essential: bool = False) -> Study:
        """The study in a reading and an extent. Arguments as for `fairwave_study.study.from_folder`."""
        name, words, readings = self.path.name, texts.title(self.path), self.readings
        chosen = readings.complete(reading or {}) if readings is not None else {}
        if extent is None:
            extent = getattr(self._module("points"), "ESSENTIAL" if essential else "PAPER", None)
        case = Case(chosen, extent, essential)
        grids: Sequence[Grid] = self._value("points", "grids", case)
        if readings is not None:
            later = self._optional("readings", "joint_changes", case, ())
            fixed = self._optional("readings", "unchanged", case, ())
            grids = [
                grid if grid.id in fixed else readings.changed(readings.apply(grid, chosen), *later)
                for grid in grids
            ]
        reload = partial(_load, self.path)
        claims = self._claims(case, [grid.id for grid in grids])
        if essential:
            return Study(
                name, *words, grids, claims=claims, readings=readings, folder=self.path, reload=reload
            )
        return Study(
            name,
            *words,
            grids,
            figures=self._optional("figures", "figures", case, ()),
            tables=self._optional("tables", "tables", case, ()),
            claims=claims,
            assumptions=texts.assumptions(self.path) if self._has("assumptions.toml") else (),
            calibrations=self._optional("calibrations", "calibrations", case, ()),
            readings=readings,
            accounts=texts.accounts(self.path) if self._has("accounts.toml") else (),
            experiments=self._experiments(case),
            folder=self.path,
            reload=reload,
        )

    @cached_property
    def readings(self) -> Readings | None:
        """All readings of the paper; None if there is no `readings.toml`."""
        if not self._has("readings.toml"):
            return None
        module = self._module("readings") if self._has("readings.py") else None
        return Readings(
            texts.factors(self.path, getattr(module, "CHANGES", {})),
            self.study,
            lambda reading: self.study(reading, essential=True),
            getattr(module, "refuses", lambda _: ""),
            texts.shortened(self.path),
        )

    def _claims(self, case: Case, grids: Sequence[str]) -> list[Claim]:
        """Joins the tests of `claims.py` with the words of `claims.toml`."""
        if not self._has("claims.toml"):
            return []
        tests = self._value("claims", "tests", case)
        wordings, notes = {}, {}
        if not case.essential:
            wordings = self._optional("claims", "wordings", case, {})
            notes = self._optional("explanations", "explanations", case, {})
        found = []
        for name, text in texts.claims(self.path, tests, essential=case.essential).items():
            read = text.grids if case.essential else (*text.grids, *text.wordings_grids)
            for grid in read:
                if grid not in grids:
                    raise ValueError(
                        f"{self.path / 'claims.toml'}: {name} reads grid {grid!r}, but points.py makes "
                        f"{', '.join(grids)}"
                    )
            test = tests[name]
            joined = (
                {"test": test} if callable(test) else {"parts": tuple(Part(*one) for one in test.items())}
            )
            found.append(
                Claim(
                    name,
                    text.statement,
                    text.source,
                    read,
                    notes=notes.get(name, {}),
                    assumptions=text.assumptions,
                    wordings=wordings.get(name, {}),
                    **joined,
                )
            )
        return found

    def _experiments(self, case: Case) -> list[Experiment]:
        """Joins the experiments of `experiments.py` with the paragraphs of `experiments.toml`."""
        if not self._has("experiments.py"):
            return []
        if not self._has("experiments.toml"):
            raise ValueError(
                f"{self.path} has no experiments.toml for its experiments.py; {PAGE} describes it"
            )
        experiments: Sequence[Experiment] = self._value("experiments", "experiments", case)
        paragraphs = texts.paragraphs(self.path, [one.id for one in experiments])
        return [replace(one, words=paragraphs[one.id]) for one in experiments]

    def _has(self, file: str) -> bool:
        return (self.path / file).is_file()

    def _module(self, name: str) -> ModuleType:
        if not self._has(f"{name}.py"):
            raise ValueError(f"{self.path} has no {name}.py; {PAGE} describes it")
        return import_module(f"{self._package}.{name}")

    def _value(self, module: str, name: str, case: Case) -> Any:
        """The value of a name in a module: a function of the case, or a constant in capitals."""
        found = self._module(module)
        if hasattr(found, name):
            return getattr(found, name)(case)
        if hasattr(found, name.upper()):
            return getattr(found, name.upper())
        raise ValueError(
            f"{self.path / module}.py defines neither a function {name}(case) nor a constant {name.upper()}; "
            f"{PAGE} describes them"
        )

    def _optional(self, module: str, name: str, case: Case, default: Any) -> Any:
        """Like `_value`; `default` if there is no such module, or no such name in `claims.py` or `readings.py`."""
        if not self._has(f"{module}.py"):
            return default
        found = self._module(module)
        if module != name and not hasattr(found, name) and not hasattr(found, name.upper()):
            return default
        return self._value(module, name, case)


def _load(folder: Path) -> Study:
    return StudyFolder(folder).study()


def _as_package(folder: Path) -> str:
    """Makes a folder importable as a package, so that its modules can write `from . import points`."""
    name = f"fairwave_study_folder_{hashlib.sha256(str(folder).encode()).hexdigest()[:12]}"
    for known in [one for one in sys.modules if one == name or one.startswith(f"{name}.")]:
        del sys.modules[known]  # the files may have changed
    package = ModuleType(name)
    package.__path__ = [str(folder)]
    sys.modules[name] = package
    return name
