//! Delay-based estimate: combines packet groups, trend and rate (libwebrtc's `delay_based_bwe.cc`).

use fairwave_units::units::{Instant, Span};

use super::aimd::Aimd;
use super::arrival::Arrival;
use super::trendline::{Groups, Trendline, Usage};

/// The detector restarts after this time without feedback.
const SILENCE: Span = Span::from_secs(2);

/// Result of one feedback message.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Outcome {
    /// The rate, if it was set (to the same value or a new one).
    pub rate: Option<f64>,
    /// True if a probe set the rate.
    pub by_probe: bool,
    /// True if the queue was emptying and is normal now.
    pub recovered: bool,
}

#[derive(Clone, Debug)]
pub(super) struct DelayBased {
    threshold: f64,
    groups: Groups,
    trend: Trendline,
    pub aimd: Aimd,
    last_seen: Option<Instant>,
    /// Latest returned rate; 0 before the first.
    last: f64,
    usage: Usage,
}

impl DelayBased {
    pub fn new(threshold: f64, back_off: f64, start: f64, least: f64) -> Self {
        DelayBased {
            threshold,
            groups: Groups::default(),
            trend: Trendline::new(threshold),
            aimd: Aimd::new(back_off, start, least),
            last_seen: None,
            last: 0.0,
            usage: Usage::Normal,
        }
    }

    /// Returns the latest rate, bits per second; 0 before the first.
    pub fn last(&self) -> f64 {
        self.last
    }

    /// Returns the latest state of the detector.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// Returns the delay relative to the fastest packet, milliseconds.
    pub fn queueing(&self) -> f64 {
        self.trend.queueing()
    }

    /// Handles feedback: packets in order of arrival, their arrival rate, and the result of a probe.
    pub fn on_feedback(
        &mut self,
        now: Instant,
        arrivals: &[Arrival],
        arrives: Option<f64>,
        probed: Option<f64>,
    ) -> Outcome {
        if arrivals.is_empty() {
            return Outcome::default();
        }
        if self.last_seen.is_none_or(|last| now.span_since(last) > SILENCE) {
            self.groups = Groups::default();
            self.trend = Trendline::new(self.threshold);
        }
        self.last_seen = Some(now);
        let mut recovered = false;
        for packet in arrivals {
            let before = self.trend.usage();
            if let Some(delta) = self.groups.on_packet(packet.sent, packet.arrived, now) {
                self.trend.on_group(delta, packet.arrived);
            }
            recovered |= before == Usage::Under && self.trend.usage() == Usage::Normal;
        }
        self.usage = self.trend.usage();
        let outcome = self.decide(now, arrives, probed, recovered);
        if let Some(rate) = outcome.rate {
            self.last = rate;
        }
        outcome
    }

    fn decide(&mut self, now: Instant, arrives: Option<f64>, probed: Option<f64>, recovered: bool) -> Outcome {
        let mut outcome = Outcome::default();
        if self.usage == Usage::Over {
            match arrives {
                Some(arrives) if self.aimd.may_reduce(now, arrives) => {
                    outcome.rate = Some(self.aimd.update(self.usage, Some(arrives), now));
                }
                None if self.aimd.may_reduce_unmeasured(now) => {
                    self.aimd.set_rate(self.aimd.rate() / 2.0, now);
                    outcome.rate = Some(self.aimd.rate());
                }
                _ => {}
            }
        } else if let Some(probed) = probed {
            self.aimd.set_rate(probed, now);
            outcome.rate = Some(self.aimd.rate());
            outcome.by_probe = true;
        } else {
            outcome.rate = Some(self.aimd.update(self.usage, arrives, now));
            outcome.recovered = recovered;
        }
        outcome
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Instant {
        Instant::ZERO + Span::from_millis(millis)
    }

    fn packet(number: u64, delay: u64) -> Arrival {
        Arrival { sequence: number, sent: ms(number * 20), arrived: ms(number * 20 + delay), size: 1000, probe: None }
    }

    fn new() -> DelayBased {
        DelayBased::new(12.5, super::super::aimd::BACK_OFF, 500_000.0, 5_000.0)
    }

    /// Feeds one packet per message, with the given delays.
    fn feed(
        delay: &mut DelayBased,
        from: u64,
        delays: impl IntoIterator<Item = u64>,
        arrives: Option<f64>,
    ) -> Vec<Outcome> {
        let one = |(n, late)| {
            let number = from + n as u64;
            delay.on_feedback(ms(number * 20 + late + 20), &[packet(number, late)], arrives, None)
        };
        delays.into_iter().enumerate().map(one).collect()
    }

    #[test]
    fn a_message_without_arrivals_changes_nothing() {
        let mut delay = new();
        assert_eq!(delay.on_feedback(ms(0), &[], Some(1e6), Some(1e6)), Outcome::default());
        assert_eq!(delay.last(), 0.0);
    }

    #[test]
    fn growing_delay_reduces_the_rate_once_per_round_trip() {
        let mut delay = new();
        feed(&mut delay, 0, std::iter::repeat_n(50, 60), Some(400_000.0));
        let outcomes = feed(&mut delay, 60, (1..30).map(|n| 50 + n * 6), Some(400_000.0));
        assert_eq!(delay.usage(), Usage::Over);
        let reductions: Vec<usize> =
            outcomes.iter().enumerate().filter(|(_, o)| o.rate == Some(335_000.0)).map(|(n, _)| n).collect();
        assert!(reductions.len() >= 2, "{outcomes:?}");
        assert!(reductions.windows(2).all(|pair| pair[1] - pair[0] >= 8), "26 ms each, 200 ms: {reductions:?}");
        assert_eq!(delay.last(), 335_000.0);
    }

    #[test]
    fn overuse_before_anything_was_measured_halves_the_rate() {
        let mut delay = new();
        feed(&mut delay, 0, std::iter::repeat_n(50, 60), None);
        let before = delay.last();
        let outcomes = feed(&mut delay, 60, (1..30).map(|n| 50 + n * 6), None);
        let cut: Vec<(usize, f64)> = outcomes
            .iter()
            .enumerate()
            .filter_map(|(n, o)| Some((n, o.rate?)))
            .filter(|(_, rate)| *rate < before)
            .collect();
        assert!(cut.len() >= 2 && (cut[0].1 / before - 0.5).abs() < 0.02, "{outcomes:?}");
        assert_eq!(cut[1].1, cut[0].1 / 2.0);
        assert!(cut[1].0 - cut[0].0 >= 8, "26 ms each, 200 ms: {cut:?}");
    }

    #[test]
    fn a_probe_sets_the_rate_unless_the_path_is_overused() {
        let mut delay = new();
        let outcome = delay.on_feedback(ms(60), &[packet(0, 50)], Some(400_000.0), Some(2e6));
        assert_eq!(outcome, Outcome { rate: Some(2e6), by_probe: true, recovered: false });
        let mut delay = new();
        feed(&mut delay, 0, std::iter::repeat_n(50, 60), Some(400_000.0));
        feed(&mut delay, 60, (1..30).map(|n| 50 + n * 6), Some(400_000.0));
        let outcome = delay.on_feedback(ms(5000), &[], Some(400_000.0), Some(2e6));
        assert_eq!(outcome.rate, None);
        let outcome = delay.on_feedback(ms(2100), &[packet(90, 236)], Some(400_000.0), Some(2e6));
        assert!(!outcome.by_probe, "{outcome:?}");
    }

    #[test]
    fn recovery_is_said_when_the_queue_has_emptied() {
        let mut delay = new();
        feed(&mut delay, 0, std::iter::repeat_n(50, 60), Some(400_000.0));
        feed(&mut delay, 60, (1..30).map(|n| 50 + n * 10), Some(400_000.0));
        feed(&mut delay, 90, (1..40).map(|n| 340_u64.saturating_sub(n * 10).max(50)), Some(400_000.0));
        let outcomes = feed(&mut delay, 129, std::iter::repeat_n(50, 60), Some(400_000.0));
        assert_eq!(outcomes.iter().filter(|outcome| outcome.recovered).count(), 1, "{outcomes:?}");
        assert_eq!(delay.usage(), Usage::Normal);
    }

    #[test]
    fn the_detector_begins_anew_after_two_seconds_of_silence() {
        let mut delay = new();
        feed(&mut delay, 0, (0..40).map(|n| 50 + n * 6), Some(400_000.0));
        assert!(delay.queueing() > 200.0);
        let last = ms(39 * 20 + 50 + 39 * 6 + 20);
        delay.on_feedback(last + SILENCE, &[packet(40, 50)], Some(400_000.0), None);
        assert!(delay.queueing() > 200.0, "two seconds");
        let later = last + SILENCE + SILENCE + Span::from_millis(1);
        delay.on_feedback(later, &[packet(240, 50)], Some(400_000.0), None);
        assert_eq!(delay.queueing(), 0.0, "more");
    }
}
