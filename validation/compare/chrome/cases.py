"""The networks of the calls: cases of RFC 8867 and two of every day."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairwave.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


MOST = 1_500_000
"""The most that the camera's encoder may use, bits per second (RFC 8867 §4.3)."""


@dataclass(frozen=True)
class Case:
    """A network and its other traffic.

    Attributes:
        name: In file names.
        title: In words.
        seconds: Length of the call.
        rates: Capacity over time: seconds, Mb/s.
        queue: Of the bottleneck, without its capacity.
        milliseconds: The queue's size at the reference capacity.
        reference: Reference capacity, Mb/s; 0: the first.
        loss: Share of packets that the link loses.
        beside: Other flow groups over the bottleneck.
        sessions: Sessions from `a` to `b`.
        back: Capacity of the reverse path over time, for a call both ways; both queues have the same bytes.
    """

    name: str
    title: str
    seconds: int
    rates: Sequence[tuple[float, float]]
    queue: str = "drop-tail"
    milliseconds: float = 300.0
    reference: float = 0.0
    loss: float = 0.0
    beside: Sequence[Mapping[str, Any]] = ()
    sessions: int = 1
    back: Sequence[tuple[float, float]] = ()

    def scenario(self, begins: float = 0.0, control: Any = "gcc") -> Scenario:
        """The network with its other traffic and the simulated call from host `a` to host `b`, from `begins` on."""
        link: dict[str, Any] = {
            "from": "a",
            "to": "b",
            "rate": [{"at": f"{at:g} s", "is": f"{rate:g} Mb/s"} for at, rate in self.rates],
            "delay": "50 ms",
            "queue": {
                "discipline": self.queue,
                "capacity": {
                    "bytes": round((self.reference or self.rates[0][1]) * 1e6 / 8 * self.milliseconds / 1e3)
                },
            },
            "reverse": {"rate": "10 Mb/s"},
        }
        if self.loss:
            link["loss"] = {"model": "bernoulli", "rate": self.loss}
            link["reverse"]["loss"] = "none"
        call: dict[str, Any] = {
            "name": "call",
            "start": f"{begins:.3f} s",
            "from": "a",
            "to": "b",
            "transport": {"name": "webrtc", "control": control},
            "traffic": {
                "kind": "media",
                "video": {"scene": "moving", "most": "1.5 Mb/s", "width": 640, "height": 360},
            },
        }
        calls = [call]
        if self.sessions > 1:
            call["count"] = self.sessions
        if self.back:
            link["reverse"] = {
                "rate": [{"at": f"{at:g} s", "is": f"{rate:g} Mb/s"} for at, rate in self.back],
                "queue": dict(link["queue"]),
            }
            calls.append({**call, "name": "back", "from": "b", "to": "a"})
        table = {
            "name": self.title,
            "duration": f"{self.seconds} s",
            "preset": "rfc",
            "link": [link],
            "flow": [*calls, *(dict(one) for one in self.beside)],
        }
        return Scenario.from_dict(table)


REFERENCE = ((0, 1.0), (40, 2.5), (60, 0.6), (80, 1.0))
SEVERAL = ((0, 4.0), (25, 2.0), (50, 3.5), (75, 1.0), (100, 2.0))
FORWARD = ((0, 2.0), (20, 1.0), (40, 0.5), (60, 2.0))
BACK = ((0, 2.0), (35, 0.8), (70, 2.0))
TCP = ({"name": "tcp", "from": "a", "to": "b", "transport": "tcp/cubic", "traffic": "bulk", "start": "10 s"},)

CASES = (
    Case("variable", "RFC 8867 §5.1: a capacity that changes", 100, REFERENCE),
    Case("tcp", "RFC 8867 §5.6: beside a long TCP flow, 300 ms of queue", 100, ((0, 2.0),), beside=TCP),
    Case("loss", "2 Mb/s, 2 % loss", 60, ((0, 2.0),), loss=0.02),
    Case("several", "RFC 8867 §5.2: two sessions", 125, SEVERAL, reference=2.0, sessions=2),
    Case("both", "RFC 8867 §5.3: a call both ways", 100, FORWARD, reference=1.0, back=BACK),
    Case("fq-codel", "FQ-CoDel, beside a long TCP flow", 100, ((0, 2.0),), "fq-codel", beside=TCP),
)
"""All cases in the order of the page."""


def case(name: str) -> Case:
    """The case of this name.

    Raises:
        LookupError: There is none; the message lists those that there are.
    """
    found = next((one for one in CASES if one.name == name), None)
    if found is None:
        raise LookupError(f"no case {name!r}; there are {', '.join(one.name for one in CASES)}")
    return found
