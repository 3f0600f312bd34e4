"""Files of runs that have no checksums, as releases before them wrote: read once, rewritten with them.

Nothing says whether such a run is whole. It is taken over where all its tables can be read and pass Arrow's full
validation. Arrow may crash on damaged bytes, so another process reads them: `python -m fairwave.runs.older OLD NEW`.
Should that one end early, or pyarrow not be installed, what it had taken over is used, and the other runs are made
again.
"""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing, suppress
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairwave.foreign import check_items
from fairwave.runs.runs_file import DAMAGE, connect, create, digest, look, packed, replace, salvaged
from fairwave.tables import Table

if TYPE_CHECKING:
    from fairwave.tables import Tables


def take_over(file: Path, version: str) -> tuple[int, int]:
    """Rewrites a file, with checksums.

    Returns:
        How many runs were taken over, of how many.

    Raises:
        OSError: It cannot be rewritten; it is as it was.
    """
    there = 0
    with suppress(*DAMAGE), closing(connect(file)) as connection:
        (there,) = connection.execute(
            "select count(*) from (select distinct scenario, seed from tables)"
        ).fetchone()
    with tempfile.TemporaryDirectory(prefix=".partial-", dir=file.parent) as folder:
        made = Path(folder) / file.name
        create(made, version)
        subprocess.run(
            [sys.executable, "-m", __name__, str(file), str(made)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )
        taken = replace(file, version, salvaged(made, version))
    return taken, max(there, taken)


def main() -> None:
    """Takes over run by run, each for good, into a file that is there."""
    old, new = (Path(word) for word in sys.argv[1:])
    version = look(new).made_by
    assert version is not None
    with closing(connect(old)) as source, closing(connect(new)) as made:
        rows = source.execute(
            "select scenario, seed, name, size, data from tables order by scenario, seed, name"
        )
        for (scenario, seed), parts in groupby(rows, key=lambda row: (row[0], row[1])):
            tables = _read(list(parts))
            if tables:
                data = packed(tables)
                with made:
                    made.execute(
                        "insert into runs values (?, ?, ?, ?)",
                        (scenario, seed, digest(version, scenario, seed, data), data),
                    )


def _read(rows: list[tuple[Any, ...]]) -> Tables | None:
    """The tables of a run; None where one of them cannot be read."""
    import pyarrow as pa
    import pyarrow.ipc

    tables = {}
    try:
        for _, _, name, size, data in rows:
            check_items(size, name, "kept runs")
            with pa.ipc.open_stream(pa.decompress(data, size, "zstd")) as stream:
                read = stream.read_all()
            read.validate(full=True)
            tables[name] = Table.from_columns(read)
    except (pa.ArrowException, sqlite3.Error, OSError, TypeError, ValueError, MemoryError):
        return None
    return tables


if __name__ == "__main__":
    main()
