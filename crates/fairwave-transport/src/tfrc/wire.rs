//! TFRC's packets, byte by byte: the fields of RFC 5348 §3.2 in a layout of fairwave, since the RFC defines none
//! (`docs/protocols/tfrc.md` describes it). All numbers are big-endian. Decoding any bytes yields a header or a
//! [`WireError`], never a panic. Encoding a decoded header gives the same bytes.

use fairwave_endpoint::wire::WireError;
use fairwave_endpoint::wire::bytes::{Reader, need, packet_type, put, put_span, zero};
use fairwave_units::units::{Instant, Rate, Span};

/// Version of this layout.
pub const VERSION: u8 = 1;
/// Bytes of a data packet's header.
pub const DATA_HEADER: usize = 20;
/// Bytes of a feedback packet.
pub const FEEDBACK: usize = 32;

/// Offset of each field (`docs/protocols/tfrc.md`), for reading and writing.
mod at {
    pub const VERSION_AND_TYPE: usize = 0;
    // Fields of a data packet.
    pub const ROUND_TRIP: usize = 2;
    pub const TIMESTAMP: usize = 8;
    pub const SEQUENCE: usize = 16;
    // Fields of a feedback packet.
    pub const DELAY: usize = 2;
    pub const ECHO: usize = 8;
    pub const RECEIVE_RATE: usize = 16;
    pub const LOSS_EVENT_RATE: usize = 24;
}

const DATA_TYPE: u8 = 0;
const FEEDBACK_TYPE: u8 = 1;

/// A TFRC packet without its payload.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Header {
    /// A data packet (RFC 5348 §3.2.1).
    Data {
        /// Packets sent before this one, modulo 2³².
        sequence: u32,
        /// Sending time by the sender's clock.
        sent: Instant,
        /// The sender's estimate R of the round-trip time; zero while it has none. At most 78 hours.
        round_trip: Span,
    },
    /// The receiver's feedback (RFC 5348 §3.2.2).
    Feedback {
        /// t_recvdata: the timestamp of the last packet received.
        echo: Instant,
        /// t_delay: the time since then. At most 78 hours.
        delay: Span,
        /// X_recv: the rate at which data arrived during the last round-trip time.
        receive_rate: Rate,
        /// p: the loss event rate, from 0 to 1.
        loss_event_rate: f64,
    },
}

impl Header {
    /// Appends the header to `out`.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut bytes = [0; FEEDBACK];
        let length = match *self {
            Header::Data { sequence, sent, round_trip } => {
                bytes[at::VERSION_AND_TYPE] = VERSION << 4 | DATA_TYPE;
                put_span(&mut bytes, at::ROUND_TRIP, round_trip);
                put(&mut bytes, at::TIMESTAMP, sent.nanos().to_be_bytes());
                put(&mut bytes, at::SEQUENCE, sequence.to_be_bytes());
                DATA_HEADER
            }
            Header::Feedback { echo, delay, receive_rate, loss_event_rate } => {
                bytes[at::VERSION_AND_TYPE] = VERSION << 4 | FEEDBACK_TYPE;
                put_span(&mut bytes, at::DELAY, delay);
                put(&mut bytes, at::ECHO, echo.nanos().to_be_bytes());
                put(&mut bytes, at::RECEIVE_RATE, receive_rate.bits_per_second().to_be_bytes());
                put(&mut bytes, at::LOSS_EVENT_RATE, loss_event_rate.to_be_bytes());
                FEEDBACK
            }
        };
        out.extend_from_slice(&bytes[..length]);
    }

    /// Reads the header at the start of `bytes` and ignores the rest.
    ///
    /// # Errors
    /// The first problem found.
    pub fn decode(bytes: &[u8]) -> Result<Header, WireError> {
        let reader = Reader(bytes);
        if packet_type(bytes, VERSION, FEEDBACK_TYPE)? == DATA_TYPE {
            need(bytes, DATA_HEADER)?;
            zero(&reader, &[1])?;
            return Ok(Header::Data {
                sequence: reader.u32(at::SEQUENCE),
                sent: Instant::from_nanos(reader.u64(at::TIMESTAMP)),
                round_trip: reader.span(at::ROUND_TRIP),
            });
        }
        need(bytes, FEEDBACK)?;
        zero(&reader, &[1])?;
        let loss_event_rate = f64::from_bits(reader.u64(at::LOSS_EVENT_RATE));
        if !(0.0..=1.0).contains(&loss_event_rate) {
            return Err(WireError::Fraction { field: "loss event rate", found: loss_event_rate });
        }
        Ok(Header::Feedback {
            echo: Instant::from_nanos(reader.u64(at::ECHO)),
            delay: reader.span(at::DELAY),
            receive_rate: Rate::from_bits_per_second(reader.u64(at::RECEIVE_RATE)),
            loss_event_rate,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(header: Header) -> Vec<u8> {
        let mut out = Vec::new();
        header.encode(&mut out);
        out
    }

    fn data() -> Header {
        Header::Data {
            sequence: 0x0102_0304,
            sent: Instant::from_nanos(0x1112_1314_1516_1718),
            round_trip: Span::from_nanos(0x2122_2324_2526),
        }
    }

    fn feedback(loss_event_rate: f64) -> Header {
        Header::Feedback {
            echo: Instant::from_nanos(0x1112_1314_1516_1718),
            delay: Span::from_millis(20),
            receive_rate: Rate::from_bits_per_second(384_000),
            loss_event_rate,
        }
    }

    #[test]
    fn rfc_5348_section_3_2_1_a_data_packet_has_sequence_number_timestamp_and_round_trip_time() {
        #[rustfmt::skip]
        let expected = [
            0x10, 0, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, // version and type, reserved, round-trip time
            0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, // timestamp
            1, 2, 3, 4, // sequence number
        ];
        assert_eq!(bytes(data()), expected);
        assert_eq!(Header::decode(&expected), Ok(data()));
    }

    #[test]
    fn rfc_5348_section_3_2_2_feedback_has_timestamp_delay_receive_rate_and_loss_event_rate() {
        #[rustfmt::skip]
        let expected = [
            0x11, 0, 0, 0, 0x01, 0x31, 0x2d, 0, // version and type, reserved, t_delay: 20 000 000 ns
            0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, // t_recvdata
            0, 0, 0, 0, 0, 5, 0xdc, 0, // X_recv
            0x3f, 0x90, 0, 0, 0, 0, 0, 0, // p: 2⁻⁶
        ];
        assert_eq!(bytes(feedback(0.015_625)), expected);
        assert_eq!(Header::decode(&expected), Ok(feedback(0.015_625)));
    }

    #[test]
    fn malformed_packets_are_refused_with_the_reason() {
        for (header, size) in [(data(), DATA_HEADER), (feedback(0.5), FEEDBACK)] {
            let whole = bytes(header);
            assert_eq!(Header::decode(&whole[..size - 1]), Err(WireError::Short { have: size - 1, need: size }));
            let with = |at: usize, value: u8| {
                let mut bytes = whole.clone();
                bytes[at] = value;
                Header::decode(&bytes).err()
            };
            assert_eq!(with(0, 0x20), Some(WireError::Version { found: 2, known: 1 }));
            assert_eq!(with(0, 0x12), Some(WireError::PacketType { found: 2, most: 1 }));
            assert_eq!(with(1, 1), Some(WireError::Reserved(1)));
        }
        for none in [1.5, -0.5, f64::INFINITY] {
            let error = WireError::Fraction { field: "loss event rate", found: none };
            assert_eq!(Header::decode(&bytes(feedback(none))), Err(error));
        }
        assert!(Header::decode(&bytes(feedback(f64::NAN))).is_err());
        assert_eq!(Header::decode(&[]), Err(WireError::Short { have: 0, need: 1 }));
    }
}
