"""Results of ns-2 that were made independently of fairwave, in the folder ``references``.

Each result has mean and sample standard deviation over its seeds. :data:`NAMES` maps its metrics to fairwave's
measures. Starting times and random numbers differ from fairwave's, so only distributions can be compared.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

from scipy import stats

from validation.verdict import Comparison, Estimate

if TYPE_CHECKING:
    from pathlib import Path

#: Measure of fairwave, metric of the references, factor from one to the other.
NAMES = (
    ("goodput_steady_mbps/tcp", "goodput_steady_mbps", 1.0),
    ("goodput_steady_mbps/tfrc", "throughput_steady_mbps_tfrc", 1000.0 / 1032.0),
    ("goodput_steady_mbps/cbr", "throughput_steady_mbps_cbr", 1.0),
    ("jain/tcp", "jain_steady", 1.0),
    ("jain/tfrc", "jain_steady_tfrc", 1.0),
    ("cov/tfrc", "cov_tfrc", 1.0),
    ("drop_rate", "drop_rate", 1.0),
    ("drop_rate_steady", "drop_rate_steady", 1.0),
    ("mean_queue", "mean_queue_pkts", 1.0),
    ("mean_queue_steady", "mean_queue_steady_pkts", 1.0),
    ("utilisation", "util", 1.0),
)


def compare(ours: list[dict[str, float]], file: Path, name: str) -> list[Comparison]:
    """Fairwave's runs compared with a reference, for the measures that both have.

    Raises:
        LookupError: The file has no result of this name.
    """
    data = json.loads(file.read_text(encoding="utf-8"))
    result = next((one for one in data["results"] if one["name"] == name), None)
    if result is None:
        raise LookupError(f"{file.name} has no result `{name}`")
    metrics, count = result["results"], len(result.get("seeds_used", data["seeds"]))
    factor = float(stats.t.ppf(0.975, count - 1)) / math.sqrt(count)
    found = []
    for measure, metric, scale in NAMES:
        if metric in metrics and measure in ours[0]:
            mean, std = metrics[metric]["mean"] * scale, metrics[metric]["std"] * scale
            values = [run.get(measure, math.nan) for run in ours]
            found.append(
                Comparison(measure, Estimate.from_values(values), Estimate(mean, factor * std, count))
            )
    return found
