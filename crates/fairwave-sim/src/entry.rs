//! What the event queue holds: an event and, where a packet arrives by it, the packet.

use fairwave_core::dscp::Dscp;
use fairwave_core::packet::{Body, Class, Ecn, FlowId, Packet};
use fairwave_core::units::Instant;

use crate::event::Event;
use crate::routes::END;

/// A packet that arrives, and where it is on its route.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Transit {
    /// The packet.
    pub packet: Packet,
    /// The link that it enters now; [`END`] at the end of its route.
    pub next: u32,
    /// The place in the routes of the step by which it enters that.
    pub place: u32,
}

/// What is due: an event and, if a packet arrives by it, the packet.
#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(C, align(32))]
pub struct Entry {
    /// When, and what happens to whom.
    pub event: Event,
    /// The packet that arrives. A timer's means nothing: an `Option` would cost more to copy than it is worth here, where
    /// every packet comes through twice for each event of its way.
    pub transit: Transit,
}

impl Entry {
    /// A timer's.
    #[inline]
    pub fn timer(event: Event) -> Self {
        Entry { event, transit: NOTHING }
    }

    /// The packet that arrives; none for timers.
    #[inline]
    pub fn arrival(&self) -> Option<&Transit> {
        self.event.is_arrival().then_some(&self.transit)
    }
}

/// What stands in the place of a timer's packet.
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
