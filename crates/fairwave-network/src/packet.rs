//! The packet: a small value that is copied, never allocated. It has 64 bytes, including the fields of every protocol.
//!
//! A packet of the laboratory carries header fields, not payload bytes: a packet names the application unit of its
//! payload, and the unit is looked up at the end to hear or see it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::dscp::Dscp;
use fairwave_units::units::{Bytes, Instant, Rate, Span};

/// Which flow a packet belongs to: its index in the run.
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

    /// The code point that its packets bear where nothing else is said: EF for voice (RFC 4594 §4.1), default forwarding for all else.
    pub const fn dscp(self) -> Dscp {
        match self {
            Class::Voice => Dscp::EF,
            Class::OtherUdp | Class::Tcp => Dscp::DF,
        }
    }
}

/// What a packet says of congestion: the two bits of the IP header (RFC 3168 §5), with the meaning that RFC 9331 gives ECT(1).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[repr(u8)]
pub enum Ecn {
    /// Its transport does not understand marks: a queue can only drop it.
    #[default]
    NotEct = 0,
    /// Its transport understands marks and yields to them little by little (L4S).
    Ect1 = 1,
    /// Its transport understands marks, and yields to one as to a loss.
    Ect0 = 2,
    /// A queue on the way has marked it: congestion experienced.
    Ce = 3,
}

impl Ecn {
    /// Whether a queue may mark instead of dropping; what bears a mark already may be marked again.
    pub const fn can_be_marked(self) -> bool {
        !matches!(self, Ecn::NotEct)
    }
}

/// A packet on its way.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Packet {
    /// The flow.
    pub flow: FlowId,
    /// Bytes on the wire: payload and every header that the link carries. The only size that links and queues see.
    pub wire: u16,
    /// Traffic class.
    pub class: Class,
    /// From the flow's receiver back to its sender (acknowledgements, reports).
    pub feedback: bool,
    /// What it says of congestion.
    pub ecn: Ecn,
    /// Differentiated services code point; a policer may change it on the way.
    pub dscp: Dscp,
    /// Video layer (0 = base); 0 for everything else.
    pub layer: u8,
    /// What the transport wrote.
    pub body: Body,
}

impl Packet {
    /// Bytes on the wire.
    pub const fn size(&self) -> Bytes {
        Bytes::new(self.wire as u64)
    }

    /// Sets its codepoint to congestion experienced, if its transport understands marks. Answers whether it bears one now.
    #[inline]
    pub fn mark(&mut self) -> bool {
        if self.ecn.can_be_marked() {
            self.ecn = Ecn::Ce;
        }
        self.ecn == Ecn::Ce
    }

    /// How many data packets the sender sent before this one, modulo 2³², for transports that number their packets so;
    /// none for TCP and for feedback.
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
    /// How many units before the datagram's own it was made; 0 in an unused place.
    pub back: u16,
    /// Payload bytes.
    pub payload: u16,
    /// How much earlier the application made it than the datagram's own unit, nanoseconds.
    pub age: u32,
}

/// The header that the transport wrote, and which application unit the payload belongs to.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Body {
    /// UDP with a sequence number (as RTP would carry it).
    Datagram {
        /// Payload bytes.
        payload: u16,
        /// Datagrams sent before this one.
        sequence: u32,
        /// The application's unit: a voice frame, a video frame.
        unit: u32,
        /// This datagram's place among those of its unit, and how many there are.
        part: u16,
        /// Datagrams that the unit was cut into.
        parts: u16,
        /// When the application made the unit.
        created: Instant,
    },
    /// UDP with a sequence number that carries, besides a whole unit, copies of units before it (RFC 2198).
    Redundant {
        /// Payload bytes of its own unit.
        payload: u16,
        /// Datagrams sent before this one.
        sequence: u32,
        /// The application's unit.
        unit: u32,
        /// When the application made the unit.
        created: Instant,
        /// What it repeats, the latest first.
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
        /// How many segments the wave has.
        wave_size: u16,
        /// Sent before.
        retransmission: bool,
        /// The sender has reduced its window: the flag CWR (RFC 3168 §6.1.2).
        window_reduced: bool,
        /// The last segment of its unit.
        last: bool,
        /// When the sender sent it (the timestamp option's TSval, in nanoseconds).
        sent: Instant,
        /// When the application made the unit.
        created: Instant,
    },
    /// A partially reliable TCP gives segments up: the receiver is not to wait for them (RFC 3758 §3.2, as it were).
    Forward {
        /// The first segment that is not given up.
        next: u32,
        /// When the sender sent it.
        sent: Instant,
    },
    /// A TCP acknowledgement.
    Ack {
        /// The next segment expected: all before have arrived.
        next: u32,
        /// `sent` of the segment that caused this acknowledgement (TSecr).
        echo: Instant,
        /// The receiver's measured rate of the last wave, bits per second of payload; 0 when it has none (TCP-Real).
        rate: f32,
        /// Which wave that rate was measured over.
        wave: u16,
        /// A segment has arrived marked, and the sender has not reported a response yet: the flag ECE (RFC 3168
        /// §6.1.3).
        congestion_echo: bool,
        /// How many segments have arrived marked so far, modulo 2³²; 0 unless the receiver counts them (RFC 9768).
        marked: u32,
        /// Selective acknowledgements, newest first.
        sack: [SackBlock; 3],
    },
    /// A TFRC data packet (RFC 5348 §3.2.1).
    TfrcData {
        /// Payload bytes.
        payload: u16,
        /// This packet's place among those of its unit.
        part: u16,
        /// Packets that the unit was cut into.
        parts: u16,
        /// Packets sent before this one, modulo 2³².
        sequence: u32,
        /// The application's unit; for bulk data the sequence number.
        unit: u32,
        /// When the sender sent it.
        sent: Instant,
        /// When the application made the unit.
        created: Instant,
        /// The sender's round-trip time; zero while it has none.
        round_trip: Span,
    },
    /// A TFRC receiver's report (RFC 5348 §3.2.2).
    TfrcFeedback {
        /// `sent` of the newest packet received.
        echo: Instant,
        /// How long ago that packet arrived.
        delay: Span,
        /// Payload received during the last round-trip time.
        receive_rate: Rate,
        /// Loss event rate, a fraction.
        loss_event_rate: f64,
    },
    /// A RAP acknowledgement (Rejaie, Handley & Estrin 1999): what arrived, and enough of what came before to do without
    /// the acknowledgements that were lost on the way.
    RapAck {
        /// The datagram that caused it: its number, modulo 2³².
        current: u32,
        /// The latest datagram before it that is missing; none while none is.
        missing: Option<u32>,
        /// The latest that arrived before the missing one.
        before: u32,
    },
    /// An RTCP sender report (RFC 3550 §6.4.1): the fields that receivers use.
    RtcpSenderReport {
        /// When it was sent.
        sent: Instant,
        /// Datagrams sent so far, modulo 2³².
        packets: u32,
        /// Their payload bytes, modulo 2³².
        octets: u32,
    },
    /// An RTCP receiver report about one source (RFC 3550 §6.4.2).
    RtcpReceiverReport {
        /// Lost of what was expected since the report before, in 1/256.
        fraction_lost: u8,
        /// Sent because of a loss, not because it was time.
        early: bool,
        /// Datagrams lost so far.
        lost: u32,
        /// The highest sequence number received, modulo 2³².
        highest: u32,
        /// Interarrival jitter (A.8).
        jitter: Span,
        /// `sent` of the latest sender report, if there was one.
        sender_report: Option<Instant>,
        /// How long ago that arrived.
        delay: Span,
    },
    /// A packet of either direction whose header is known to its transport alone: DVRC's, and those of transports that a program hands in.
    Opaque {
        /// The header's bytes as the transport encoded them.
        header: [u8; 32],
        /// Data packets that the sender sent before this one, modulo 2³²; without meaning in feedback.
        sequence: u32,
        /// When the application made the unit.
        created: Instant,
    },
}

/// The application's unit in a data packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CarriedUnit {
    /// The unit's number.
    pub unit: u32,
    /// The packet holds all of it.
    pub is_whole: bool,
}

impl Body {
    /// The application's unit in a data packet; none without payload, and for a header that its transport alone knows.
    pub fn carried_unit(&self) -> Option<CarriedUnit> {
        match *self {
            Body::Datagram { unit, parts, .. } | Body::TfrcData { unit, parts, .. } => {
                Some(CarriedUnit { unit, is_whole: parts <= 1 })
            }
            Body::Redundant { unit, .. } => Some(CarriedUnit { unit, is_whole: true }),
            Body::Segment { unit, payload, .. } => (payload > 0).then_some(CarriedUnit { unit, is_whole: false }),
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
