//! Entries of the event queue: an event and, for arrivals, the packet.

use fairwave_core::dscp::Dscp;
use fairwave_core::packet::{Body, Class, Ecn, FlowId, Packet};
use fairwave_core::units::Instant;

use crate::event::Event;
use crate::routes::END;

/// A packet that arrives, and its position on the route.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Transit {
    /// The packet.
    pub packet: Packet,
    /// Link that it enters next; [`END`] at the end of the route.
    pub next: u32,
    /// Position in the routes of the step into that link.
    pub place: u32,
}

/// A pending event, with its packet if one arrives.
#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(C, align(32))]
pub struct Entry {
    /// Event.
    pub event: Event,
    /// Arriving packet. Meaningless for a timer. An `Option` would cost more to copy, and each event copies every
    /// packet twice.
    pub transit: Transit,
}

impl Entry {
    /// Creates the entry of a timer.
    #[inline]
    pub fn timer(event: Event) -> Self {
        Entry { event, transit: NOTHING }
    }

    /// Returns the arriving packet; `None` for timers.
    #[inline]
    pub fn arrival(&self) -> Option<&Transit> {
        self.event.is_arrival().then_some(&self.transit)
    }
}

/// Placeholder for the packet of a timer.
const NOTHING: Transit = Transit {
    packet: Packet {
        flow: FlowId(u32::MAX),
        wire: 0,
        class: Class::Tcp,
        dscp: Dscp::DF,
        feedback: false,
        ecn: Ecn::NotEct,
        layer: 0,
        body: Body::RtcpSenderReport { sent: Instant::ZERO, packets: 0, octets: 0 },
    },
    next: END,
    place: 0,
};
