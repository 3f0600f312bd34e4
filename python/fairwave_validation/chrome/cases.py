"""The networks of the calls: cases of RFC 8867 and two of every day."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairwave.building import from_dict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairwave.scenario import Scenario

MOST = 1_500_000
"""The most that the camera's encoder may use, bits per second (RFC 8867 §4.3)."""


@dataclass(frozen=True)
class Case:
    """A network and what shares it.

    Attributes:
        name: In file names.
        title: In words.
        seconds: Length of the call.
        rates: Capacity over time: seconds, Mb/s.
        queue: Of the bottleneck, without its capacity.
        milliseconds: The queue's size at the first capacity.
        loss: Share of packets that the link loses.
        beside: What else crosses the bottleneck: flow groups.
    """

    name: str
    title: str
    seconds: int
    rates: Sequence[tuple[float, float]]
    queue: str = "drop-tail"
    milliseconds: float = 300.0
    loss: float = 0.0
    beside: Sequence[Mapping[str, Any]] = ()

    def scenario(self, begins: float = 0.0) -> Scenario:
        """The network with the simulated call, which begins then, from host `a` to host `b`; and what shares it."""
        link: dict[str, Any] = {
            "from": "a",
            "to": "b",
            "rate": [{"at": f"{at:g} s", "is": f"{rate:g} Mb/s"} for at, rate in self.rates],
            "delay": "50 ms",
            "queue": {
                "discipline": self.queue,
                "capacity": {"bytes": round(self.rates[0][1] * 1e6 / 8 * self.milliseconds / 1e3)},
            },
            "reverse": {"rate": "10 Mb/s"},
        }
        if self.loss:
            link["loss"] = {"model": "bernoulli", "rate": self.loss}
            link["reverse"]["loss"] = "none"
        call = {
            "name": "call",
            "start": f"{begins:.3f} s",
            "from": "a",
            "to": "b",
            "transport": "webrtc",
            "traffic": {"kind": "media", "video": {"most": "1.5 Mb/s", "width": 640, "height": 360}},
        }
        table = {
            "name": self.title,
            "duration": f"{self.seconds} s",
            "link": [link],
            "flow": [call, *(dict(one) for one in self.beside)],
        }
        return from_dict(table)


REFERENCE = ((0, 1.0), (40, 2.5), (60, 0.6), (80, 1.0))
TCP = ({"name": "tcp", "from": "a", "to": "b", "transport": "tcp/cubic", "traffic": "bulk", "start": "10 s"},)

CASES = (
    Case("variable", "RFC 8867 §5.1: a capacity that changes", 100, REFERENCE),
    Case("tcp", "RFC 8867 §5.6: beside a long TCP flow, 300 ms of queue", 100, ((0, 2.0),), beside=TCP),
    Case("loss", "2 Mb/s, 2 % loss", 60, ((0, 2.0),), loss=0.02),
    Case("fq-codel", "FQ-CoDel, beside a long TCP flow", 100, ((0, 2.0),), "fq-codel", beside=TCP),
)
"""In the order in which they are told."""


def case(name: str) -> Case:
    """The case of this name.

    Raises:
        LookupError: There is none; the message lists those that there are.
    """
    found = next((one for one in CASES if one.name == name), None)
    if found is None:
        raise LookupError(f"no case {name!r}; there are {', '.join(one.name for one in CASES)}")
    return found
