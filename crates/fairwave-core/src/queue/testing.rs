//! Helpers that the tests of this module share.

use crate::packet::{Body, Class, FlowId, Packet};
use crate::random::{Seed, Stream};
use crate::units::{Instant, Span};

/// A packet of `wire` bytes of flow `flow`.
pub fn packet(flow: u32, wire: u16, class: Class) -> Packet {
    let body = Body::Datagram {
        payload: wire,
        sequence: 0,
        unit: 0,
        part: 0,
        parts: 1,
        created: Instant::from_nanos(u64::from(flow)),
    };
    Packet { flow: FlowId(flow), wire, class, feedback: false, layer: 0, body }
}

/// The tests' random numbers.
pub fn stream() -> Stream {
    Seed(1).stream("queue.test")
}

/// Calls `each` every `spacing` seconds for `seconds`, and returns the end.
pub fn feed(from: Instant, seconds: f64, spacing: f64, mut each: impl FnMut(Instant)) -> Instant {
    let times = (seconds / spacing) as u64;
    for i in 1..=times {
        each(from + Span::from_seconds(i as f64 * spacing));
    }
    from + Span::from_seconds(seconds)
}
