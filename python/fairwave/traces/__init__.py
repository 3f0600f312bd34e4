"""Traces of a link's rate: recordings of a path, in the file formats of other tools.

Formats, recognised by the file's contents, and for writing by its name:

- mahimahi (`.mahi`, `.mahimahi`, `.up`, `.down`): a time in whole milliseconds per line, not descending, at which
  1504 bytes may be sent. Every opportunity is kept; those of a millisecond are sent in the course of it. The last time
  is the length;
- Pensieve (`.pensieve`, `.txt`, `.log`): two columns, seconds and the rate in Mb/s that has held since the row before.
  So the first row gives only the time at which the trace begins;
- OpenNetLab (`.json`), as AlphaRTC's gym reads it: `{"uplink": {"trace_pattern": [{"duration": 200, "capacity":
  800}]}}`, ms and kb/s, perhaps with `loss` (from 0 to 1) and `rtt` (ms, of which half is taken for each direction);
- rattan (`.toml`): `StaticBwConfig`, `TraceBwConfig` and `RepeatedBwPatternConfig`, each within each;
- CSV (`.csv`): a head that names each column with its unit (`time_s`, `rate (Mb/s)`), one of `time` and `duration`, one
  of `rate`, `bandwidth` and `capacity`; perhaps `delay` and `loss`. By `time` a row holds until the next, and the last
  as long as the one before it. Lines that begin with `#` do not count, but the first of them may be the head.

What a trace says of delay and loss is read, shown and converted; the rate law `trace` takes the rate alone.
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
