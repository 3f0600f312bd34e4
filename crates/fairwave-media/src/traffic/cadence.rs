//! Equal intervals between packets, from one whole nanosecond to the next.

use fairwave_units::units::{Bytes, Carry, FineSpan, Instant, Rate, Span};

/// Times of packets at equal intervals. Each time is rounded to a nanosecond. The remainder goes to the next one, so the rate
/// is right in the long run.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Cadence {
    /// To the nearest nanosecond.
    interval: Span,
    /// The exact interval, if it is no whole number of nanoseconds and below 4.29 s.
    fine: Option<FineSpan>,
    carry: Carry,
}

impl From<Span> for Cadence {
    fn from(interval: Span) -> Self {
        Cadence { interval, fine: None, carry: Carry::NOTHING }
    }
}

impl Cadence {
    /// Packets of `payload` at `rate`, a nanosecond apart at least.
    pub fn from_rate(rate: Rate, payload: Bytes) -> Self {
        let nanosecond = Span::from_nanos(1);
        let interval = rate.time_for(payload);
        let fine = rate.fine_time_for(payload).filter(|fine| !fine.is_whole() && fine.nanos() > 1.0);
        Cadence { fine, ..Cadence::from(interval.max(nanosecond)) }
    }

    /// The interval in nanoseconds.
    pub fn nanos(&self) -> f64 {
        self.fine.map_or(self.interval.nanos() as f64, FineSpan::nanos)
    }

    /// The time of the next packet, after one at `time`. Its interval is multiplied by `factor`, if there is one.
    pub fn next_after(&mut self, time: Instant, factor: Option<f64>) -> Instant {
        let step = match (self.fine, factor) {
            (None, None) => self.interval,
            (None, Some(factor)) => self.interval.scaled(factor),
            (Some(fine), factor) => {
                let (step, carry) = factor.map_or(fine, |factor| fine.scaled(factor)).carried(self.carry);
                self.carry = carry;
                step
            }
        };
        time + step
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_million_intervals_are_a_million_times_the_exact_one() {
        for (rate, payload) in
            [("100 Gb/s", 66), ("100 Gb/s", 1500), ("33.3 Mb/s", 1000), ("7 kb/s", 1000), ("8 Gb/s", 1)]
        {
            let rate: Rate = rate.parse().expect("a rate");
            let mut cadence = Cadence::from_rate(rate, Bytes::new(payload));
            let last = (0..1_000_000).fold(Instant::ZERO, |time, _| cadence.next_after(time, None));
            let exact = rate.time_for(Bytes::new(payload * 1_000_000));
            assert!(
                last.span_since(Instant::ZERO).nanos().abs_diff(exact.nanos()) <= 1,
                "{payload} B at {rate}: {last}"
            );
            assert!((cadence.nanos() * 1e6 / exact.nanos() as f64 - 1.0).abs() < 1e-9, "{}", cadence.nanos());
        }
    }

    #[test]
    fn factors_around_one_leave_the_mean_as_it_is() {
        let mut cadence = Cadence::from_rate(Rate::from_bits_per_second(100_000_000_000), Bytes::new(66));
        let last = (0..1_000_000).fold(Instant::ZERO, |time, place| {
            cadence.next_after(time, Some(if place % 2 == 0 { 0.99 } else { 1.01 }))
        });
        assert!((last.seconds() / 5.28e-3 - 1.0).abs() < 1e-6, "{last}");
    }

    #[test]
    fn packets_are_a_nanosecond_apart_at_least() {
        let mut cadence = Cadence::from_rate(Rate::from_bits_per_second(100_000_000_000), Bytes::new(8));
        assert_eq!(cadence.next_after(Instant::ZERO, None), Instant::from_nanos(1));
        assert_eq!(cadence.next_after(Instant::from_nanos(1), None), Instant::from_nanos(2));
    }
}
