//! Measured rates of layers: arrivals of the last second, in whole IP packets.

use std::collections::VecDeque;

use fairwave_units::units::{Instant, Span};

/// Window of the measurement.
const WINDOW: Span = Span::from_secs(1);
/// A layer without packets for this long counts as not sent †.
const SILENT: Span = Span::from_millis(1_500);
/// Resolution of the window.
const STEP: Span = Span::from_millis(100);

/// Bytes of the last second.
#[derive(Clone, Debug, Default)]
pub struct RateMeter {
    steps: VecDeque<(u64, u64)>,
    sum: u64,
    begun: Option<Instant>,
    latest: Option<Instant>,
}

impl RateMeter {
    fn forget(&mut self, now: Instant) {
        let oldest = (now.nanos() / STEP.nanos()).saturating_sub(WINDOW.nanos() / STEP.nanos() - 1);
        while let Some((step, bytes)) = self.steps.front()
            && *step < oldest
        {
            self.sum -= bytes;
            self.steps.pop_front();
        }
    }

    /// Adds a packet.
    pub fn add(&mut self, now: Instant, bytes: u64) {
        self.forget(now);
        if self.latest.is_none_or(|latest| now.span_since(latest) > SILENT) {
            self.begun = Some(now);
        }
        self.latest = Some(now);
        self.sum += bytes;
        let step = now.nanos() / STEP.nanos();
        match self.steps.back_mut() {
            Some((newest, sum)) if *newest == step => *sum += bytes,
            _ => self.steps.push_back((step, bytes)),
        }
    }

    /// Returns bits per second, over a shorter time while the layer is young, but at least over 300 ms.
    pub fn rate(&mut self, now: Instant) -> f64 {
        self.forget(now);
        let since = self.begun.map_or(WINDOW, |begun| now.span_since(begun));
        self.sum as f64 * 8.0 / since.min(WINDOW).max(Span::from_millis(300)).seconds()
    }

    /// Checks whether packets arrived recently.
    pub fn is_sent(&self, now: Instant) -> bool {
        self.latest.is_some_and(|latest| now.span_since(latest) <= SILENT)
    }
}

/// Layers of a camera or a screen: simulcast streams or spatial layers, each with temporal layers.
#[derive(Clone, Debug, Default)]
pub struct Layers {
    meters: [[RateMeter; 4]; 4],
    /// Arrival of the latest packet.
    latest: Option<Instant>,
    /// True for spatial layers of one stream (SVC): upper layers need the lower ones.
    pub stacked: bool,
}

/// A quality level: a layer, and its highest temporal layer. Ordered by quality.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Rung {
    /// Simulcast stream or spatial layer, from 0.
    pub layer: u8,
    /// Highest temporal layer.
    pub temporal: u8,
}

impl Layers {
    /// Adds a packet of a layer.
    pub fn add(&mut self, now: Instant, rung: Rung, bytes: u64) {
        let meters = self.meters.get_mut(usize::from(rung.layer));
        if let Some(meter) = meters.and_then(|meters| meters.get_mut(usize::from(rung.temporal))) {
            meter.add(now, bytes);
            self.latest = Some(now);
        }
    }

    /// Checks whether any layer is sent.
    pub fn is_sent(&self, now: Instant) -> bool {
        self.latest.is_some_and(|latest| now.span_since(latest) <= SILENT)
    }

    /// Returns the available rungs with their rates, bits per second, ascending.
    pub fn ladder(&mut self, now: Instant) -> Vec<(Rung, f64)> {
        let mut ladder: Vec<(Rung, f64)> = Vec::new();
        let mut below = 0.0;
        for (layer, meters) in (0..).zip(&mut self.meters) {
            let mut rate = if self.stacked { below } else { 0.0 };
            let mut any = false;
            for (temporal, meter) in (0..).zip(meters) {
                if !meter.is_sent(now) {
                    continue;
                }
                any = true;
                rate += meter.rate(now);
                if ladder.last().is_none_or(|(_, known)| rate > *known) {
                    ladder.push((Rung { layer, temporal }, rate));
                }
            }
            below = if any { rate } else { below };
        }
        ladder
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Instant {
        Instant::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn a_rate_is_that_of_the_last_second() {
        let mut meter = RateMeter::default();
        (0..100).for_each(|k| meter.add(ms(20 * k), 250));
        assert!((meter.rate(ms(1_999)) - 100_000.0).abs() < 1e-6, "{}", meter.rate(ms(1_999)));
        assert!(meter.is_sent(ms(3_000)) && !meter.is_sent(ms(4_000)));
        assert!(meter.rate(ms(4_000)) == 0.0);
    }

    #[test]
    fn a_young_layer_is_not_taken_for_a_slow_one() {
        let mut meter = RateMeter::default();
        (0..20).for_each(|k| meter.add(ms(5_000 + 20 * k), 250));
        assert!((meter.rate(ms(5_400)) - 100_000.0).abs() < 2_000.0, "{}", meter.rate(ms(5_400)));
    }

    #[test]
    fn spatial_layers_add_up_and_simulcast_streams_do_not() {
        let rung = |layer, temporal| Rung { layer, temporal };
        for (stacked, top) in [(false, 400_000.0), (true, 600_000.0)] {
            let mut layers = Layers { stacked, ..Layers::default() };
            for k in 0..50 {
                layers.add(ms(20 * k), rung(0, (k % 2) as u8), 500);
                layers.add(ms(20 * k), rung(1, 0), 1_000);
            }
            let ladder = layers.ladder(ms(999));
            assert_eq!(ladder.iter().map(|one| one.0).collect::<Vec<_>>(), [rung(0, 0), rung(0, 1), rung(1, 0)]);
            assert!((ladder[0].1 - 100_000.0).abs() < 3_000.0 && (ladder[2].1 - top).abs() < 9_000.0, "{ladder:?}");
        }
    }
}
