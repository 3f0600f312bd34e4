//! The packet: a small value that is copied, never allocated. It occupies 64 bytes, including the fields of every protocol.
//!
//! A simulated packet carries header fields, not payload bytes. It names the application unit of its payload; the players
//! look the unit up at the end.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::dscp::Dscp;
use fairwave_units::units::{Bytes, Instant, Rate, Span};

/// The flow of a packet: its index in the run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct FlowId(pub u32);

/// Traffic class, by which queues distinguish packets (paper 004 §3). In simulation the flow sets it; a real router
/// derives it from the DSCP or the ports.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum Class {
    /// Interactive voice over UDP.
    Voice = 0,
    /// UDP that is not voice.
    OtherUdp = 1,
    /// TCP, data and acknowledgements.
    #[default]
    Tcp = 2,
}

impl Class {
    /// Every class, in the order of their indices.
    pub const ALL: [Class; 3] = [Class::Voice, Class::OtherUdp, Class::Tcp];

    /// Default code point of its packets: EF for voice (RFC 4594 §4.1), default forwarding for all other classes.
    pub const fn dscp(self) -> Dscp {
        match self {
            Class::Voice => Dscp::EF,
            Class::OtherUdp | Class::Tcp => Dscp::DF,
        }
    }
}

/// The ECN codepoint: the two bits of the IP header (RFC 3168 §5), with RFC 9331's meaning of ECT(1).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[repr(u8)]
pub enum Ecn {
    /// Its transport does not understand marks: a queue can only drop it.
    #[default]
    NotEct = 0,
    /// Its transport understands marks and responds to them gradually (L4S).
    Ect1 = 1,
    /// Its transport understands marks, and responds to a mark as to a loss.
    Ect0 = 2,
    /// A queue on the path has marked it: congestion experienced.
    Ce = 3,
}

impl Ecn {
    /// Whether a queue may mark the packet instead of dropping it; a packet with a mark may be marked again.
    pub const fn can_be_marked(self) -> bool {
        !matches!(self, Ecn::NotEct)
    }
}

/// A packet in transit.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Packet {
    /// The flow.
    pub flow: FlowId,
    /// Bytes on the wire: payload and every header that the link carries. Links and queues see only this size.
    pub wire: u16,
    /// Traffic class.
    pub class: Class,
    /// From the flow's receiver back to its sender (acknowledgements, reports).
    pub feedback: bool,
    /// ECN codepoint.
    pub ecn: Ecn,
    /// Differentiated services code point; a policer may change it on the path.
    pub dscp: Dscp,
    /// Video layer (0 = base); 0 for all other traffic.
    pub layer: u8,
    /// Header fields of the transport.
    pub body: Body,
}

impl Packet {
    /// Bytes on the wire.
    pub const fn size(&self) -> Bytes {
        Bytes::new(self.wire as u64)
    }

    /// Sets the codepoint to congestion experienced, if the transport understands marks. Returns whether the packet now
    /// bears a mark.
    #[inline]
    pub fn mark(&mut self) -> bool {
        if self.ecn.can_be_marked() {
            self.ecn = Ecn::Ce;
        }
        self.ecn == Ecn::Ce
    }

    /// Number of data packets that the sender sent before this one, modulo 2³². `None` for TCP, for feedback, and for
    /// transports without such numbers.
    pub fn sequence(&self) -> Option<u32> {
        match self.body {
            Body::Datagram { sequence, .. } | Body::Redundant { sequence, .. } | Body::TfrcData { sequence, .. } => {
                Some(sequence)
            }
            Body::Opaque { sequence, .. } if !self.feedback => Some(sequence),
            _ => None,
        }
    }
}

/// A range of segments `[first, end)` that the receiver holds beyond the cumulative acknowledgement (RFC 2018).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SackBlock {
    /// First segment of the block.
    pub first: u32,
    /// One past the last; equal to `first` in an unused block.
    pub end: u32,
}

/// An earlier unit that a datagram repeats (RFC 2198 §3).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Repeat {
    /// Number of units between this unit and the datagram's primary unit; 0 in an unused place.
    pub back: u16,
    /// Payload bytes.
    pub payload: u16,
    /// Time from the creation of this unit to the creation of the datagram's primary unit, nanoseconds.
    pub age: u32,
}

/// The header that the transport wrote, including the application unit of the payload.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Body {
    /// UDP with a sequence number (as RTP would carry it).
    Datagram {
        /// Payload bytes.
        payload: u16,
        /// Datagrams sent before this one.
        sequence: u32,
        /// The application's unit, such as a voice or video frame.
        unit: u32,
        /// Index of this datagram within its unit.
        part: u16,
        /// Number of datagrams of the unit.
        parts: u16,
        /// Time at which the application made the unit.
        created: Instant,
    },
    /// UDP with a sequence number that carries a whole unit and copies of earlier units (RFC 2198).
    Redundant {
        /// Payload bytes of the primary unit.
        payload: u16,
        /// Datagrams sent before this one.
        sequence: u32,
        /// The application's unit.
        unit: u32,
        /// Time at which the application made the unit.
        created: Instant,
        /// The repeated units, newest first.
        repeats: [Repeat; 2],
    },
    /// A TCP segment. Sequence numbers count segments, not bytes: SYN is segment 0, data starts at 1.
    Segment {
        /// Payload bytes; 0 for SYN.
        payload: u16,
        /// Segment number.
        sequence: u32,
        /// The application's unit, for applications that have units.
        unit: u32,
        /// TCP-Real's wave: the round of the sender's window to which the segment belongs.
        wave: u16,
        /// Number of segments in the wave.
        wave_size: u16,
        /// Whether it was sent before.
        retransmission: bool,
        /// Whether the sender has reduced its window: the flag CWR (RFC 3168 §6.1.2).
        window_reduced: bool,
        /// Whether it is the last segment of its unit.
        last: bool,
        /// Time of transmission (the timestamp option's TSval, in nanoseconds).
        sent: Instant,
        /// Time at which the application made the unit.
        created: Instant,
    },
    /// A partially reliable TCP abandons segments, and the receiver must not wait for them (similar to RFC 3758 §3.2).
    Forward {
        /// The first segment that is not abandoned.
        next: u32,
        /// Time of transmission.
        sent: Instant,
    },
    /// A TCP acknowledgement.
    Ack {
        /// The next expected segment; all earlier ones have arrived.
        next: u32,
        /// `sent` of the segment that caused this acknowledgement (TSecr).
        echo: Instant,
        /// Rate of the last wave as measured by the receiver, bits per second of payload; 0 if there is none (TCP-Real).
        rate: f32,
        /// The wave of this rate.
        wave: u16,
        /// A segment arrived with a mark, and the sender has not reported a response yet: the flag ECE (RFC 3168 §6.1.3).
        congestion_echo: bool,
        /// Number of segments that arrived with a mark, modulo 2³²; 0 unless the receiver counts them (RFC 9768).
        marked: u32,
        /// Selective acknowledgements, newest first.
        sack: [SackBlock; 3],
    },
    /// A TFRC data packet (RFC 5348 §3.2.1).
    TfrcData {
        /// Payload bytes.
        payload: u16,
        /// Index of this packet within its unit.
        part: u16,
        /// Number of packets of the unit.
        parts: u16,
        /// Packets sent before this one, modulo 2³².
        sequence: u32,
        /// The application's unit; for bulk data the sequence number.
        unit: u32,
        /// Time of transmission.
        sent: Instant,
        /// Time at which the application made the unit.
        created: Instant,
        /// The sender's round-trip time; zero if unknown.
        round_trip: Span,
    },
    /// A TFRC receiver's report (RFC 5348 §3.2.2).
    TfrcFeedback {
        /// `sent` of the newest packet received.
        echo: Instant,
        /// Time since that packet arrived.
        delay: Span,
        /// Payload received during the last round-trip time.
        receive_rate: Rate,
        /// Loss event rate, a fraction.
        loss_event_rate: f64,
    },
    /// A RAP acknowledgement (Rejaie, Handley & Estrin 1999). It reports the arrival and enough history to replace earlier
    /// acknowledgements that were lost.
    RapAck {
        /// The datagram that caused it: its number, modulo 2³².
        current: u32,
        /// The latest missing datagram before it; `None` if no datagram is missing.
        missing: Option<u32>,
        /// The latest datagram that arrived before the missing one.
        before: u32,
    },
    /// An RTCP sender report (RFC 3550 §6.4.1): the fields that receivers use.
    RtcpSenderReport {
        /// Time of transmission.
        sent: Instant,
        /// Datagrams sent up to then, modulo 2³².
        packets: u32,
        /// Their payload bytes, modulo 2³².
        octets: u32,
    },
    /// An RTCP receiver report about one source (RFC 3550 §6.4.2).
    RtcpReceiverReport {
        /// Lost fraction of the packets expected since the previous report, in 1/256.
        fraction_lost: u8,
        /// Sent early because of a loss.
        early: bool,
        /// Total datagrams lost.
        lost: u32,
        /// The highest sequence number received, modulo 2³².
        highest: u32,
        /// Interarrival jitter (A.8).
        jitter: Span,
        /// `sent` of the latest sender report, if there was one.
        sender_report: Option<Instant>,
        /// Time since that report arrived.
        delay: Span,
    },
    /// A packet of either direction with a header that only its transport understands: DVRC and custom transports.
    Opaque {
        /// The header's bytes as the transport encoded them.
        header: [u8; 32],
        /// Data packets that the sender sent before this one, modulo 2³²; without meaning in feedback.
        sequence: u32,
        /// Time at which the application made the unit.
        created: Instant,
    },
}

/// The application's unit in a data packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CarriedUnit {
    /// The unit's number.
    pub unit: u32,
    /// Whether the packet holds the whole unit.
    pub is_complete: bool,
}

impl Body {
    /// The application's unit in a data packet; `None` without payload, and for a header that only its transport
    /// understands.
    pub fn carried_unit(&self) -> Option<CarriedUnit> {
        match *self {
            Body::Datagram { unit, parts, .. } | Body::TfrcData { unit, parts, .. } => {
                Some(CarriedUnit { unit, is_complete: parts <= 1 })
            }
            Body::Redundant { unit, .. } => Some(CarriedUnit { unit, is_complete: true }),
            Body::Segment { unit, payload, .. } => (payload > 0).then_some(CarriedUnit { unit, is_complete: false }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_fits_a_cache_line() {
        assert!(size_of::<Packet>() <= 64, "{} bytes", size_of::<Packet>());
    }
}
