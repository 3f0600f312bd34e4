"""Kept measurements: the files of ``results/``, from which ``make results`` and ``make site`` render every page.

A tree of values is ``NAME.json.gz``, a table of equal rows is ``NAME.parquet``. `read` and `read_table` give both.
"""

from __future__ import annotations

import gzip
import json
from typing import Any

import polars as pl

from validation import ROOT

RESULTS = ROOT / "results"


def read(name: str) -> Any:
    """Reads a tree: ``read("studies/voice")`` is the ledger of the study *voice*."""
    return json.loads(gzip.decompress((RESULTS / f"{name}.json.gz").read_bytes()))


def write(name: str, value: Any) -> None:
    """Writes a tree. The same value gives the same bytes."""
    file = RESULTS / f"{name}.json.gz"
    file.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    file.write_bytes(gzip.compress(text.encode(), compresslevel=9, mtime=0))


def exists(name: str) -> bool:
    """Whether a tree or a table of this name is kept."""
    return any((RESULTS / f"{name}{suffix}").is_file() for suffix in (".json.gz", ".parquet"))


def read_table(name: str) -> pl.DataFrame:
    """Reads a table: ``read_table("studies/voice-readings")`` has the verdicts of each reading."""
    return pl.read_parquet(RESULTS / f"{name}.parquet")


def write_table(name: str, table: pl.DataFrame) -> None:
    """Writes a table."""
    file = RESULTS / f"{name}.parquet"
    file.parent.mkdir(parents=True, exist_ok=True)
    table.write_parquet(file, compression="zstd", compression_level=19)
