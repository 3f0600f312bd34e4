"""Reads captures of packets: flows of IP, and the streams of RTP in them.

`replay`, `pattern` and `fit` share this reader. `read` returns a :class:`Capture` with its flows, the
:class:`Stream` objects of each flow, and `notes`: everything that the reader compensated for or left out.
"""

from fairwave.captures.capture import Capture, FlowSummary, describe_emptiness, read
from fairwave.captures.files import CaptureError, is_capture
from fairwave.captures.flow import ICMP, TCP, UDP, Flow, Packet, name_address
from fairwave.captures.notes import Notes
from fairwave.captures.packets import packets
from fairwave.captures.payload_types import Description, PayloadFormat, read_description
from fairwave.captures.sources import FlowContents, SourceCollector
from fairwave.captures.streams import Pause, Stream

__all__ = [
    "ICMP",
    "TCP",
    "UDP",
    "Capture",
    "CaptureError",
    "Description",
    "Flow",
    "FlowContents",
    "FlowSummary",
    "Notes",
    "Packet",
    "Pause",
    "PayloadFormat",
    "SourceCollector",
    "Stream",
    "describe_emptiness",
    "is_capture",
    "name_address",
    "packets",
    "read",
    "read_description",
]
