"""Judges a recorded call: a capture, or the statistics of a browser. It sends nothing.

:func:`judge_file` returns a :class:`Judgement`: the verdict in the bands of :mod:`fairwave.answers`, each stream with
its numbers, events with their times, the limiting factor over time, and the worst ten seconds.
:func:`explore_changes` fits a network to the same file, and finds the changes that would have helped.

Files: `judgement` has the types and the verdict over all streams, `courses` measures streams over time, `speech`
rates speech by the E-model, `what_if` compares changes of the fitted network, `judge_capture` and `judge_dump` read one
kind of file each.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fairwave.captures import is_capture, read_description
from fairwave.judging.judge_capture import judge_capture
from fairwave.judging.judge_dump import judge_dump
from fairwave.judging.judgement import Incident, Judgement, StreamReport
from fairwave.judging.what_if import Effect, WhatIf, compare_changes, explore_changes

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "Effect",
    "Incident",
    "Judgement",
    "StreamReport",
    "WhatIf",
    "compare_changes",
    "explore_changes",
    "judge_capture",
    "judge_dump",
    "judge_file",
]


def judge_file(
    path: str | Path,
    *,
    connection: str | None = None,
    sdp: str | Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Judgement:
    """Judges the call in a file.

    Args:
        path: A capture (pcap, pcapng, also as `.gz`), or statistics that a browser wrote.
        connection: Of statistics with several connections: which one.
        sdp: Of a capture: a file with the session description.
        progress: Called with the bytes read and the size of a capture.

    Raises:
        FileNotFoundError: There is no such file.
        ValueError: The file has no stream that can be judged, or an argument does not apply to it.
    """
    where = Path(path)
    if not where.is_file():
        raise FileNotFoundError(f"no file {str(path)!r}: give a capture or the statistics of a call")
    if is_capture(where):
        if connection is not None:
            raise ValueError(
                f"--connection chooses a connection in statistics of a browser, but {path} is a capture"
            )
        description = None if sdp is None else read_description(sdp)
        return judge_capture(where, description, progress)
    if sdp is not None:
        raise ValueError(
            f"--sdp names the codecs of a capture, but {path} is none: statistics name their codecs"
        )
    return judge_dump(where, connection)
