"""Evidence that fairwave is right and fast: comparisons, measurements, benchmarks and checks.

Nothing here is part of the wheel. `python -m validation` lists all commands, and `python -m validation NAME --help`
describes one of them.

- `compare`: the same scenario in fairwave and in another implementation that runs here: ns-2, ns-3, the kernel,
  Chromium, foreign stacks, the authors' SCReAM, real packets (`live`), closed forms of theory.
- `published`: fairwave compared with numbers from publications.
- `measured`: statements of `docs/` about fairwave itself, measured again.
- `bench`: speed, memory and use of the cores, and their limits.
- `clauses`: patches that each break one clause of an RFC or a paper; a test must notice.
- `checks`: checks of the sources and tests: citations, mutants, durations, `make quick`.
- `packaging`: wheels for several systems, and their check.
- `pages`: pages and pictures of `docs/` that are written from code.

Modules at the top serve all of these: `kept` (stored measurements), `verdict` (do two sides agree?), `explanations`
(reasons for differences), `writing` (parts of generated pages).
"""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
