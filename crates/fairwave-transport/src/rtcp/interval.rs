//! The interval between reports: RFC 3550 §6.2 and §6.3.1.

use fairwave_units::random::Stream;
use fairwave_units::units::{Bytes, Rate, Span};

/// Share of the session's bandwidth for reports.
const SHARE: f64 = 0.05;
/// Members of the session: a sender and a receiver. More than a quarter of them send, so all share equally.
const MEMBERS: f64 = 2.0;
/// e − 3/2: compensates for timer reconsideration (§6.3.1).
const COMPENSATION: f64 = std::f64::consts::E - 1.5;

/// Draws the intervals between one participant's regular reports.
#[derive(Clone, Debug)]
pub struct ReportInterval {
    /// The deterministic interval T_d and its minimum, seconds.
    by_bandwidth: f64,
    minimum: f64,
    initial: bool,
    stream: Stream,
}

impl ReportInterval {
    /// Creates the intervals for reports of this size on the wire in a session of this bandwidth. Without `minimum`
    /// they are at least 360 s divided by the bandwidth in kb/s (the reduced minimum of §6.2).
    pub fn new(report: Bytes, minimum: Option<Span>, bandwidth: Rate, stream: Stream) -> Self {
        let bits = bandwidth.bits_per_second().max(1) as f64;
        let by_bandwidth = MEMBERS * report.get() as f64 * 8.0 / (SHARE * bits);
        let minimum = minimum.map_or(360.0 / (bits / 1000.0), Span::seconds);
        ReportInterval { by_bandwidth, minimum, initial: true, stream }
    }

    /// Draws the time until the next report.
    pub fn draw(&mut self) -> Span {
        let minimum = if std::mem::take(&mut self.initial) { self.minimum / 2.0 } else { self.minimum };
        let deterministic = self.by_bandwidth.max(minimum);
        Span::from_seconds(deterministic * (self.stream.uniform() + 0.5) / COMPENSATION)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwave_units::random::Seed;

    const REPORT: Bytes = Bytes::new(80);
    /// RFC 3550 §6.2.
    const MINIMUM: Option<Span> = Some(Span::from_secs(5));

    fn interval(minimum: Option<Span>, bandwidth: u64, seed: u64) -> ReportInterval {
        ReportInterval::new(REPORT, minimum, Rate::from_bits_per_second(bandwidth), Seed(seed).stream("rtcp"))
    }

    fn draws(minimum: Option<Span>, bandwidth: u64, n: usize) -> Vec<f64> {
        let mut interval = interval(minimum, bandwidth, 1);
        (0..n).map(|_| interval.draw().seconds()).collect()
    }

    #[test]
    fn section_6_3_1_intervals_are_half_to_one_and_a_half_times_t_d_over_e_minus_1_5() {
        let draws = draws(MINIMUM, 1_000_000, 10_000);
        let (low, high) = (2.5 / 1.218_28, 7.5 / 1.218_28);
        assert!(draws[1..].iter().all(|t| (low - 1e-3..high + 1e-3).contains(t)));
        let mean = draws[1..].iter().sum::<f64>() / 9999.0;
        assert!((mean - 5.0 / 1.218_28).abs() < 0.05, "{mean}");
    }

    #[test]
    fn section_6_2_the_first_report_comes_after_half_the_minimum() {
        let firsts = (0..2_000).map(|seed| interval(MINIMUM, 1_000_000, seed).draw().seconds());
        let (low, high) = (1.25 / 1.218_282, 3.75 / 1.218_281);
        let firsts: Vec<f64> = firsts.collect();
        assert!(firsts.iter().all(|first| (low..high).contains(first)));
        let mean = firsts.iter().sum::<f64>() / 2_000.0;
        assert!((mean - 2.5 / 1.218_28).abs() < 0.05, "{mean}");
    }

    #[test]
    fn section_6_2_a_session_without_bandwidth_reports_as_one_of_a_bit_per_second() {
        assert_eq!(interval(MINIMUM, 0, 1).draw(), interval(MINIMUM, 1, 1).draw());
    }

    #[test]
    fn section_6_2_a_slow_session_reports_within_five_percent_of_its_bandwidth() {
        // 2 · 80 B · 8 / (5 % of 2 kb/s) = 12.8 s.
        let draws = draws(MINIMUM, 2_000, 5_000);
        let mean = draws.iter().sum::<f64>() / 5_000.0;
        assert!((mean - 12.8 / 1.218_28).abs() < 0.15, "{mean}");
    }

    #[test]
    fn section_6_2_the_reduced_minimum_is_360_over_kilobits() {
        let draws = draws(None, 1_000_000, 5_000);
        let mean = draws[1..].iter().sum::<f64>() / 4_999.0;
        assert!((mean - 0.36 / 1.218_28).abs() < 0.01, "{mean}");
    }
}
