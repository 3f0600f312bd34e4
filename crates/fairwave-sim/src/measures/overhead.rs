//! Bytes that a group sends in addition to the delivered payload.

use super::{Better, Group, Measure, Words};
use fairwave_core::quality::throughput::overhead;
use fairwave_core::units::Bytes;

/// See [`overhead`].
pub struct Overhead;

impl Measure for Overhead {
    const WORDS: Words = Words {
        name: "overhead",
        about: "Share of the bytes sent (on the wire, data direction) that are not payload delivered, in %.",
        title: "overhead",
        unit: "%",
        factor: 100.0,
        better: Better::Lower,
        least: Some(0.0),
        most: Some(100.0),
        ..Words::PLAIN
    };

    fn compute(group: &Group<'_>) -> Option<f64> {
        overhead(Bytes::new(group.sum(|row| row.wire_sent)), Bytes::new(group.sum(|row| row.payload_received)))
    }
}
