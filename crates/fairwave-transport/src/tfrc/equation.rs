//! The TCP throughput equation: the sending rate of a TCP on the same path.
//!
//! Padhye, Firoiu, Towsley & Kurose (1998), in the simplified form of RFC 5348 §3.1, which paper 002 prints as
//! Eq. (1) in packets instead of bytes. Both assume one acknowledgement per packet (b = 1).

use fairwave_units::units::{Bytes, Rate, Span};

/// Loss event rates below this count as this: one loss event in 10⁸ packets.
const SMALLEST_LOSS: f64 = 1e-8;

/// The seconds per packet in the denominator of Eq. (1).
fn seconds_per_packet(round_trip: f64, timeout: f64, loss: f64) -> f64 {
    round_trip * libm::sqrt(2.0 * loss / 3.0)
        + timeout * 3.0 * libm::sqrt(3.0 * loss / 8.0) * loss * (1.0 + 32.0 * loss * loss)
}

/// Paper 002 Eq. (1): packets per second of a TCP with this round-trip time, retransmission timeout and loss event
/// rate (a fraction). Infinite if `loss_event_rate` or both times are zero.
pub fn packets_per_second(loss_event_rate: f64, round_trip: Span, timeout: Span) -> f64 {
    1.0 / seconds_per_packet(round_trip.seconds(), timeout.seconds(), loss_event_rate.clamp(0.0, 1.0))
}

/// RFC 5348 §3.1: the payload rate of a TCP whose packets carry `segment` bytes. RFC 5348 sets `timeout` to four
/// round-trip times. If `loss_event_rate` is zero, the largest representable rate.
pub fn throughput(segment: Bytes, loss_event_rate: f64, round_trip: Span, timeout: Span) -> Rate {
    let bits = segment.get() as f64 * 8.0 * packets_per_second(loss_event_rate, round_trip, timeout);
    Rate::from_bits_per_second(bits as u64)
}

/// X_Bps of RFC 5348: bytes per second with t_RTO = 4R. All in bytes and seconds, for the endpoints' internal
/// arithmetic.
pub(super) fn bytes_per_second(segment: f64, round_trip: f64, loss: f64) -> f64 {
    segment / seconds_per_packet(round_trip, 4.0 * round_trip, loss.clamp(SMALLEST_LOSS, 1.0))
}

/// The loss event rate at which the equation gives `target` bytes per second (RFC 5348 §6.3.1), between 10⁻⁸
/// and 1. The equation falls with rising losses, so bisection of the logarithm finds it.
pub(super) fn loss_for(target: f64, segment: f64, round_trip: f64) -> f64 {
    let (mut low, mut high) = (libm::log(SMALLEST_LOSS), 0.0_f64);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if bytes_per_second(segment, round_trip, libm::exp(middle)) > target {
            low = middle;
        } else {
            high = middle;
        }
    }
    libm::exp(0.5 * (low + high))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn eq_1_at_one_percent_is_what_a_pocket_calculator_says() {
        // √(2·0.01/3) = 0.0816497; 3·√(3·0.01/8)·0.01·(1 + 32·0.0001) = 0.00184300.
        let rate = packets_per_second(0.01, Span::from_millis(100), Span::from_millis(400));
        assert!((rate - 1.0 / (0.1 * 0.081_649_66 + 0.4 * 0.001_842_995)).abs() < 1e-3, "{rate}");
    }

    #[test]
    fn rfc_5348_counts_in_bytes_what_eq_1_counts_in_packets() {
        let (round_trip, timeout) = (Span::from_millis(70), Span::from_millis(280));
        let packets = packets_per_second(0.02, round_trip, timeout);
        let rate = throughput(Bytes::new(1000), 0.02, round_trip, timeout);
        assert_eq!(rate.bits_per_second(), (packets * 8000.0) as u64);
    }

    #[test]
    fn no_loss_gives_no_bound() {
        assert_eq!(packets_per_second(0.0, Span::from_millis(70), Span::from_millis(280)), f64::INFINITY);
    }

    proptest! {
        #[test]
        fn the_inverse_is_within_the_five_percent_of_section_6_3_1(
            loss in 1e-6..0.5f64, segment in 50.0..1500.0f64, round_trip in 0.001..2.0f64,
        ) {
            let target = bytes_per_second(segment, round_trip, loss);
            let found = bytes_per_second(segment, round_trip, loss_for(target, segment, round_trip));
            prop_assert!((found / target - 1.0).abs() < 0.05);
        }
    }
}
