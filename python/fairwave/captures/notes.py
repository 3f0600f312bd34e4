"""Repairs and omissions of the reader of captures, counted and reported in one place."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass
class Notes:
    """Counts of everything that the reader compensated for or left out.

    Attributes:
        packets: Packets read, of any kind.
        ignored: Packets left out because they are not of IP, by protocol, such as ARP.
        tunnels: Packets found within another packet, by the kind of tunnel.
        fragments: Later fragments of packets; they count to the flow of the first fragment.
        strangers: Fragments without a captured first fragment; they are left out.
        shortened: Packets with only the beginning in the capture.
        headless: Packets with incomplete headers; they are left out.
        aggregates: Frames of Wi-Fi with several packets each (A-MSDU).
        copies: Packets left out because another interface has shown them before.
        backward: Packets with an earlier time than the packet before.
        back_s: Largest backward step, in seconds.
        unread_links: Packets of interfaces with an unsupported link type, by the type's number.
        unread_sources: Packets like RTP of further sources, beyond the number that is examined.
        messages: Messages of SIP with a session description.
        cut_off: Byte at which the file ends within a record; None if the file is complete.
    """

    packets: int = 0
    ignored: Counter[str] = field(default_factory=Counter)
    tunnels: Counter[str] = field(default_factory=Counter)
    fragments: int = 0
    strangers: int = 0
    shortened: int = 0
    headless: int = 0
    aggregates: int = 0
    copies: int = 0
    backward: int = 0
    back_s: float = 0.0
    unread_links: Counter[int] = field(default_factory=Counter)
    unread_sources: int = 0
    messages: int = 0
    cut_off: int | None = None

    def sentences(self) -> list[str]:
        """Returns one sentence for each kind of repair or omission."""
        ignored, tunnels, unread = self.ignored.total(), self.tunnels.total(), self.unread_links.total()
        later = self.fragments - self.strangers
        types = ", ".join(str(one) for one in sorted(self.unread_links))
        said: list[str] = []

        def add(number: object, sentence: str) -> None:
            if number:
                said.append(sentence)

        add(
            self.cut_off is not None,
            f"The file ends within a packet, at byte {self.cut_off}: the {self.packets} packets before it are used.",
        )
        add(
            self.backward,
            f"{_count(self.backward, 'packet has', 'packets have')} an earlier time than the one before "
            f"(by up to {self.back_s * 1e3:.3g} ms): sent together with it.",
        )
        add(
            later,
            f"{_count(later, 'later fragment counts', 'later fragments count')} to the flow of the first fragment.",
        )
        add(
            self.strangers,
            f"{_count(self.strangers, 'fragment is', 'fragments are')} left out: "
            "the first fragment, which has the ports, was not captured.",
        )
        add(
            self.shortened,
            f"{_count(self.shortened, 'packet was', 'packets were')} cut by the capture's snap length: "
            "the sizes are those in the headers.",
        )
        add(
            self.headless,
            f"{_count(self.headless, 'packet is', 'packets are')} left out: the header is damaged or cut.",
        )
        add(
            self.aggregates,
            f"{_count(self.aggregates, 'frame of Wi-Fi carries', 'frames of Wi-Fi carry')} several packets "
            "(A-MSDU): each packet counts.",
        )
        add(
            self.copies,
            f"{_count(self.copies, 'packet was', 'packets were')} captured on two interfaces: "
            "the first copy counts, and losses between the two do not show.",
        )
        add(
            tunnels,
            f"{_count(tunnels, 'packet was', 'packets were')} in a tunnel ({_list_counts(self.tunnels)}): "
            "the inner packets count, without the tunnel's headers.",
        )
        add(
            ignored,
            f"{_count(ignored, 'packet is', 'packets are')} not of IP and left out: {_list_counts(self.ignored)}.",
        )
        add(
            unread,
            f"{_count(unread, 'packet is', 'packets are')} left out: captured on a link of type {types}, "
            "which is not read.",
        )
        add(
            self.unread_sources,
            f"{_count(self.unread_sources, 'packet looks', 'packets look')} like RTP of still another source: "
            "too many sources to examine.",
        )
        return said


def _list_counts(counts: Counter[str], most: int = 6) -> str:
    """Formats counts by name: `10 ARP, 2 LLDP`."""
    shown = [f"{number} {name}" for name, number in sorted(counts.items(), key=lambda one: (-one[1], one[0]))]
    rest = len(shown) - most
    return ", ".join(shown[:most]) + (f" and {rest} more kinds" if rest > 0 else "")


def _count(number: int, one: str, several: str) -> str:
    return f"{number} {one if number == 1 else several}"
