"""Made-up tables in the shape of a run's, for tests of the evaluation of numbers without the simulator."""

import hashlib

import numpy as np
import polars as pl

from fairwave.provenance import Provenance
from fairwave.results import Results


def made_up(transports=("udp", "tcp/vegas"), seeds=(1, 2, 3), flows=2, shift=1.0):
    """Runs over transports: flow i of the j-th transport has goodput (j + 1)·(i + 1)·10 kb/s plus the seed."""
    runs, rows, groups, timeliness = [], [], [], []
    run = 0
    for j, transport in enumerate(transports):
        for seed in seeds:
            runs.append({"run": run, "transport": transport, "seed": seed, "scenario": f"hash{j}"})
            goodputs = []
            for flow in range(flows):
                goodput = (j * shift + 1) * (flow + 1) * 1e4 + seed
                goodputs.append(goodput)
                rows.append(
                    {
                        "run": run, "group": "voice", "flow": flow, "transport": transport,
                        "units_sent": 100, "units_received": 90 - j, "units_lost": 10 + j,
                        "units_waiting": 0,
                        "goodput_bps": goodput, "packets_sent": 100, "packets_retransmitted": 0,
                        "dropped": 5, "lost": 5, "delay_mean_s": 0.05, "delay_p95_s": 0.1, "jitter_s": 0.001,
                        "r_factor": 80.0 - j, "mos": 4.0 if j == 0 else float("nan"),
                        "decodable_ratio": float("nan"), "quality_note": "", "measured_s": float("nan"),
                        "silence_s": float("nan"), "longest_gap_s": float("nan"), "gaps": float("nan"),
                        "late_units": 9 * flow, "missed_ratio": 0.1 if j == 0 else float("nan"),
                        "mouth_to_ear_s": 0.2 + 0.02 * flow if j == 0 else float("nan"),
                        "r_cost_codec": 0.0, "r_cost_delay": 6.0 + flow, "r_cost_loss": 9.0 - flow,
                        "r_cost_lateness": 1.0 if flow == 0 else float("nan"),
                    }
                )  # fmt: skip
                for reading, timely in (("gap", 80), ("excess-gap", 85), ("delay", 88), ("sequence", 78)):
                    timeliness += [
                        {
                            "run": run, "group": "voice", "flow": flow, "threshold_s": threshold,
                            "reading": reading, "timely": timely + int(threshold * 10), "delayed": 2,
                        }
                        for threshold in (0.15, 0.3)
                    ]  # fmt: skip
            x = np.array(goodputs)
            jain = float(x.sum() ** 2 / (len(x) * (x**2).sum()))
            groups.append(
                {"run": run, "group": "voice", "flows": flows, "goodput_bps": float(x.sum()), "jain": jain}
            )
            run += 1
    tables = {"runs": runs, "flows": rows, "groups": groups, "timeliness": timeliness}
    return Results(
        {name: pl.DataFrame(content).to_arrow() for name, content in tables.items()},
        ("transport",),
        Provenance("0.0.0", "fairwave test", {"hash0": "made up", "hash1": "made up"}, tuple(seeds)),
    )


def renew_checksums(folder):
    """Enters the digests of changed files into the list of a folder of results, as a stranger could."""
    sums = folder / "SHA256SUMS"
    names = [line.partition("  ")[2] for line in sums.read_text().splitlines()]
    digests = [hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names]
    sums.write_text("".join(f"{digest}  {name}\n" for digest, name in zip(digests, names, strict=True)))
