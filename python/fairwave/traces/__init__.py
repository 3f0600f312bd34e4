"""Traces of a link's rate: recordings of a path, in the file formats of other tools.

Formats, recognised by the file's contents, and for writing by its name:

- mahimahi (`.mahi`, `.mahimahi`, `.up`, `.down`): a time in whole milliseconds per line, in ascending order, at which
  1504 bytes may be sent. Times may repeat. Opportunities of the same millisecond are spread over it. The last time
  is the length of the trace;
- Pensieve (`.pensieve`, `.txt`, `.log`): two columns, seconds and the rate in Mb/s since the row before.
  So the first row gives only the time at which the trace begins;
- OpenNetLab (`.json`), as AlphaRTC's gym reads it: `{"uplink": {"trace_pattern": [{"duration": 200, "capacity":
  800}]}}`, ms and kb/s, optionally `loss` (from 0 to 1) and `rtt` (ms; each direction gets half);
- rattan (`.toml`): `StaticBwConfig`, `TraceBwConfig` and `RepeatedBwPatternConfig`, which may be nested;
- CSV (`.csv`): a head that names each column with its unit (`time_s`, `rate (Mb/s)`), one of `time` and `duration`, one
  of `rate`, `bandwidth` and `capacity`; optionally `delay` and `loss`. With `time`, a row holds until the next row, and
  the last row as long as the row before it. Lines that begin with `#` are ignored, but the first may be the head.
- Sabre (JSON): `[{"duration_ms": 1000, "bandwidth_kbps": 800, "latency_ms": 40}]`; each direction has half of it;
- downloads: logs of HSDPA in Norway and of 4G in Ghent, six columns of which the last are bytes and milliseconds;
- G-NetTrack: a table with `Timestamp`, `DL_bitrate` and `UL_bitrate` (kb/s).

Logs of the last two formats are read and not written.

Delay and loss of a trace are read, shown and converted. The rate law `trace` uses the rate alone.
"""

from fairwave.traces.files import FORMATS, READERS, SUFFIXES, as_law, parse, read, resolved, write
from fairwave.traces.mahimahi import times_of_opportunities
from fairwave.traces.summary import BIN, Summary, draw, summary
from fairwave.traces.trace import OPPORTUNITY, Trace, TraceError

__all__ = [
    "BIN",
    "FORMATS",
    "OPPORTUNITY",
    "READERS",
    "SUFFIXES",
    "Summary",
    "Trace",
    "TraceError",
    "as_law",
    "draw",
    "parse",
    "read",
    "resolved",
    "summary",
    "times_of_opportunities",
    "write",
]
