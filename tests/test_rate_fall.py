"""The page about BBR after a fall of the rate agrees with its kept numbers and with a run."""

from __future__ import annotations

from pathlib import Path

from validation import kept
from validation.measured import rate_fall

PAGE = Path(__file__).parents[1] / "docs" / "protocols" / "bbr.md"


def times(law: str, rate: float) -> list[float]:
    rows = [one for one in kept.read(rate_fall.KEPT) if (one["law"], one["rate"]) == (law, rate)]
    return [one["adapted"] for one in rows[0]["runs"]]


def test_the_page_reports_the_kept_numbers():
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    delays = [
        one["delay"] for row in kept.read(rate_fall.KEPT) for one in row["runs"] if row["law"] == rate_fall.V3
    ]
    assert "by 11 s on average" in text
    assert round(sum(delays[: rate_fall.SEEDS]) / rate_fall.SEEDS) == 11
    assert min(times(rate_fall.V3, 2)) == rate_fall.NEVER
    assert "adapts within 8 s" in text
    assert max(times("BBR v1 (`tcp/bbr1`)", 2)) <= 8
    slow = times("BBR v3, ProbeRTT every 30 s", 2)
    assert "most runs adapt within 10 s" in text
    assert sum(one <= 10 for one in slow) > len(slow) / 2
    assert "stays stuck even then" in text
    assert max(slow) == rate_fall.NEVER
    assert "within 11 s" in text
    assert all(max(times(law, 10)) <= 11 for law, _transport in rate_fall.LAWS if "BBR" in law)


def test_a_run_gives_the_kept_numbers():
    assert rate_fall.measure("tcp/bbr", 2, 1)["adapted"] == rate_fall.NEVER
    assert rate_fall.measure("tcp/bbr1", 2, 1)["adapted"] == times("BBR v1 (`tcp/bbr1`)", 2)[0]
