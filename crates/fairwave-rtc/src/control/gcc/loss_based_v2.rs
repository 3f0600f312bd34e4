//! Loss-based estimate: the bandwidth and the inherent loss (loss without congestion) that best explain the sent and
//! lost packets (libwebrtc's `loss_based_bwe_v2.cc`, with the constants of August 2026).

use std::collections::BTreeMap;

use fairwave_units::units::{Instant, Span};

use crate::control::PacketReport;

/// Number of observations in the window, and the shortest duration of one.
const OBSERVATIONS: usize = 15;
const OBSERVATION: Span = Span::from_millis(250);
/// Observations required for a result.
const REQUIRED: u64 = 3;
/// Weight of an observation relative to the next newer one.
const AGING: f64 = 0.9;
/// Candidate bandwidths relative to the best so far.
const FACTORS: [f64; 3] = [1.02, 1.0, 0.95];
const STEP: f64 = 0.75;
const FIRST_INHERENT_LOSS: f64 = 0.01;
const LEAST_INHERENT_LOSS: f64 = 1e-3;
/// Largest inherent loss; at low rates more is allowed.
const MOST_INHERENT_LOSS: f64 = 0.05;
const LOSS_BALANCE: f64 = 100_000.0;
/// Loss above which lower bandwidths are preferred.
const PREFERENCE: f64 = 0.2;
const PREFERENCE_WIDTH: f64 = 0.002;
const BIAS: f64 = 0.0002;
const LOG_BIAS: f64 = 0.02;
/// A loss above this value limits the bandwidth at once.
const INSTANT_LOSS: f64 = 0.05;
const INSTANT_BALANCE: f64 = 100_000.0;
/// Largest estimate relative to the arrival rate; smaller while the arrival rate is close to the held rate.
const RAMP: f64 = 1.5;
const RAMP_IN_HOLD: f64 = 1.2;
const HOLD_THRESHOLD: f64 = 1.3;
/// Largest growth factor per window.
const WINDOW_GROWTH: f64 = 1.3;
const WINDOW: Span = Span::from_millis(300);
const FIRST_HOLD: Span = Span::from_millis(300);
const LONGEST_HOLD: Span = Span::from_secs(60);
const HOLD_GROWTH: u64 = 2;
/// How long padding helps the estimate to grow.
const PADDING: Span = Span::from_secs(2);
/// If the observation with most loss was sent this many times faster than the median, its loss was congestion.
const MEDIAN_FACTOR: f64 = 2.0;
/// Lowest rate in libwebrtc, bits per second.
const LEAST: f64 = 5_000.0;

/// What limits the estimate.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum LossState {
    /// The delay-based estimate, not loss.
    #[default]
    Delay,
    /// Loss; the estimate grows, and padding fills the gap.
    Increase,
    /// Loss; the estimate falls or is held.
    Decrease,
}

#[derive(Clone, Copy, PartialEq, Debug)]
struct Channel {
    inherent: f64,
    bandwidth: f64,
}

/// Packets sent and lost in one period.
#[derive(Clone, Copy, Debug, Default)]
struct Observation {
    /// Bits per second.
    rate: f64,
    bytes: f64,
    lost: f64,
}

#[derive(Clone, Debug, Default)]
struct Partial {
    bytes: u64,
    /// By sequence number, so that a packet that arrives late can be removed.
    lost: BTreeMap<u64, u64>,
}

#[derive(Clone, Copy, Debug)]
struct Hold {
    until: Option<Instant>,
    lasts: Span,
    rate: f64,
}

impl Hold {
    const NONE: Hold = Hold { until: None, lasts: FIRST_HOLD, rate: f64::INFINITY };
}

/// Loss-based estimate, bits per second.
#[derive(Clone, Debug)]
pub(super) struct LossBased {
    least: f64,
    most: f64,
    arrives: Option<f64>,
    by_delay: f64,
    best: Option<Channel>,
    /// Ring buffer. Among equal values, the first in the buffer counts, as in libwebrtc.
    observations: [Observation; OBSERVATIONS],
    count: u64,
    partial: Partial,
    last_sent: Option<Instant>,
    loss: f64,
    rate: f64,
    state: LossState,
    hold: Hold,
    /// Rate at the start of padding, and the time of that start.
    padding: Option<(f64, Instant)>,
    window_began: Option<Instant>,
    window_limit: f64,
    weights: [f64; OBSERVATIONS],
}

impl LossBased {
    pub fn new(least: f64, most: f64) -> Self {
        let mut weights = [1.0; OBSERVATIONS];
        for (n, weight) in weights.iter_mut().enumerate().skip(1) {
            *weight = libm::pow(AGING, n as f64);
        }
        LossBased {
            least,
            most,
            arrives: None,
            by_delay: f64::INFINITY,
            best: None,
            observations: [Observation::default(); OBSERVATIONS],
            count: 0,
            partial: Partial::default(),
            last_sent: None,
            loss: 0.0,
            rate: 0.0,
            state: LossState::Delay,
            hold: Hold::NONE,
            padding: None,
            window_began: None,
            window_limit: f64::INFINITY,
            weights,
        }
    }

    pub fn set_limits(&mut self, least: f64, most: f64) {
        self.least = least;
        self.most = most;
    }

    pub fn set_arrives(&mut self, arrives: f64) {
        self.arrives = Some(arrives);
    }

    /// Returns the estimate and what limits it; `None` before three observations.
    pub fn result(&self) -> Option<(f64, LossState)> {
        (self.best.is_some() && self.count >= REQUIRED).then_some((self.rate, self.state))
    }

    /// Returns the share of bytes lost in the observations.
    pub fn loss(&self) -> f64 {
        self.loss
    }

    /// Handles feedback. `by_delay` is the delay-based estimate, or infinite if unknown.
    pub fn on_feedback(&mut self, packets: &[PacketReport], by_delay: f64, limited: bool) {
        self.by_delay = by_delay;
        let Some(now) = self.observe(packets) else { return };
        let best = match self.best {
            Some(best) => best,
            None if by_delay.is_finite() => {
                self.rate = by_delay;
                self.state = LossState::Delay;
                Channel { inherent: FIRST_INHERENT_LOSS, bandwidth: by_delay }
            }
            None => return,
        };
        let mut candidate = self.most_likely(best, now, limited);
        // Loss above the inherent loss prevents growth of the estimate.
        if self.loss > candidate.inherent && best.bandwidth < candidate.bandwidth {
            candidate.bandwidth = best.bandwidth;
        }
        if self.state != LossState::Delay {
            candidate.bandwidth = self.bounded_growth(best.bandwidth, candidate.bandwidth, now);
        }
        let bounded = candidate.bandwidth.min(self.instant_most()).min(self.by_delay).max(self.instant_least());
        self.best = Some(if bounded < candidate.bandwidth {
            Channel { inherent: 0.0, bandwidth: bounded }
        } else {
            Channel { inherent: candidate.inherent, bandwidth: candidate.bandwidth.max(self.instant_least()) }
        });
        self.settle(bounded, now);
    }

    /// Limits the growth of the bandwidth within a window, and relative to the arrival rate.
    fn bounded_growth(&self, best: f64, candidate: f64, now: Instant) -> f64 {
        let mut bandwidth = candidate;
        if self.window_began.is_some_and(|began| began + WINDOW > now) {
            bandwidth = bandwidth.min(self.window_limit);
        }
        if self.grows(best, bandwidth)
            && let Some(arrives) = self.arrives
        {
            let in_hold = self.hold.rate.is_finite() && arrives < HOLD_THRESHOLD * self.hold.rate;
            let ramp = if in_hold { RAMP_IN_HOLD } else { RAMP };
            bandwidth = bandwidth.min(ramp * arrives).max(best);
            // Growth by one bit per second leaves the decrease state, so that padding begins.
            if self.state == LossState::Decrease && bandwidth == best {
                bandwidth = best + 1.0;
            }
        }
        bandwidth
    }

    fn settle(&mut self, bounded: f64, now: Instant) {
        let limited_by_loss = bounded < self.by_delay;
        if self.state == LossState::Decrease && self.hold.until.is_some_and(|until| until > now) && limited_by_loss {
            self.hold.rate = self.hold.rate.max(self.instant_least());
            self.rate = self.hold.rate.min(bounded);
            return;
        }
        let limited_by_loss = limited_by_loss && bounded < self.most;
        if limited_by_loss && self.grows(self.rate, bounded) && self.may_keep_growing(bounded, now) {
            if self.padding.is_none_or(|(rate, _)| bounded > rate) {
                self.padding = Some((bounded, now));
            }
            self.state = LossState::Increase;
        } else if limited_by_loss {
            if self.state != LossState::Decrease {
                let lasts = Span::from_nanos((self.hold.lasts * HOLD_GROWTH).nanos().min(LONGEST_HOLD.nanos()));
                self.hold = Hold { until: Some(now + self.hold.lasts), lasts, rate: bounded };
            }
            self.padding = None;
            self.state = LossState::Decrease;
        } else {
            self.hold = Hold::NONE;
            self.padding = None;
            self.state = LossState::Delay;
        }
        self.rate = bounded;
        if self.state != LossState::Delay && self.window_began.is_none_or(|began| began + WINDOW < now) {
            self.window_limit = (self.best.map_or(0.0, |best| best.bandwidth) * WINDOW_GROWTH).max(LEAST);
            self.window_began = Some(now);
        }
    }

    /// Checks whether `new` is a growth from `old` while loss limits the estimate. In the increase state an equal value
    /// counts, too.
    fn grows(&self, old: f64, new: f64) -> bool {
        match self.state {
            LossState::Delay => false,
            LossState::Increase => old <= new,
            LossState::Decrease => old < new,
        }
    }

    fn may_keep_growing(&self, estimate: f64, now: Instant) -> bool {
        self.state != LossState::Increase
            || self.padding.is_none_or(|(rate, began)| began + PADDING >= now || rate < estimate)
    }

    /// Adds packets. Returns the send time of the last packet if they complete an observation.
    fn observe(&mut self, packets: &[PacketReport]) -> Option<Instant> {
        let mut first = None::<Instant>;
        let mut last = None::<Instant>;
        for report in packets {
            let sent = report.packet.sent;
            if report.arrived.is_none() {
                self.partial.lost.insert(report.packet.sequence, report.packet.size.get());
            } else if !self.partial.lost.is_empty() {
                self.partial.lost.remove(&report.packet.sequence);
            }
            self.partial.bytes += report.packet.size.get();
            first = Some(first.map_or(sent, |first| first.min(sent)));
            last = last.max(Some(sent));
        }
        let (first, last) = (first?, last?);
        let time = last.span_since(*self.last_sent.get_or_insert(first));
        if time < OBSERVATION {
            return None;
        }
        self.last_sent = Some(last);
        let partial = std::mem::take(&mut self.partial);
        self.observations[(self.count % OBSERVATIONS as u64) as usize] = Observation {
            rate: partial.bytes as f64 * 8.0 / time.seconds(),
            bytes: partial.bytes as f64,
            lost: partial.lost.values().sum::<u64>() as f64,
        };
        self.count += 1;
        self.loss = self.average_loss();
        Some(last)
    }

    /// Returns the observations with their weights.
    fn weighted(&self) -> impl Iterator<Item = (f64, &Observation)> {
        let newest = (self.count as usize + OBSERVATIONS - 1) % OBSERVATIONS;
        let age = move |place: usize| (newest + OBSERVATIONS - place) % OBSERVATIONS;
        let count = (self.count as usize).min(OBSERVATIONS);
        self.observations[..count].iter().enumerate().map(move |(place, seen)| (self.weights[age(place)], seen))
    }

    /// Returns the share of bytes lost, without the observations of least and of most loss.
    fn average_loss(&self) -> f64 {
        let (mut bytes, mut lost) = (0.0, 0.0);
        let (mut least, mut most) = (1.0, 0.0);
        let (mut of_least, mut of_most) = ((0.0, 0.0), (0.0, 0.0));
        let mut rate_of_most = 0.0;
        for (weight, observation) in self.weighted() {
            bytes += weight * observation.bytes;
            lost += weight * observation.lost;
            let share = if observation.bytes > 0.0 { observation.lost / observation.bytes } else { 0.0 };
            if self.count > 3 {
                if share > most {
                    most = share;
                    of_most = (weight * observation.lost, weight * observation.bytes);
                    rate_of_most = observation.rate;
                }
                if share < least {
                    least = share;
                    of_least = (weight * observation.lost, weight * observation.bytes);
                }
            }
        }
        let rest = bytes - of_least.1 - of_most.1;
        if self.median_rate() * MEDIAN_FACTOR <= rate_of_most || rest <= 0.0 {
            return if bytes > 0.0 { lost / bytes } else { 0.0 };
        }
        (lost - of_least.0 - of_most.0) / rest
    }

    fn median_rate(&self) -> f64 {
        let mut rates = [0.0; OBSERVATIONS];
        let mut count = 0;
        for (_, observation) in self.weighted().filter(|(_, observation)| observation.rate > 0.0) {
            rates[count] = observation.rate;
            count += 1;
        }
        let rates = &mut rates[..count];
        rates.sort_by(f64::total_cmp);
        match (count, count % 2) {
            (0, _) => 0.0,
            (_, 0) => (rates[count / 2 - 1] + rates[count / 2]) / 2.0,
            _ => rates[count / 2],
        }
    }

    fn instant_most(&self) -> f64 {
        if self.loss > INSTANT_LOSS { INSTANT_BALANCE / (self.loss - INSTANT_LOSS) } else { self.most }
    }

    fn instant_least(&self) -> f64 {
        self.arrives.unwrap_or(0.0).max(self.least)
    }

    /// Returns the candidate that explains the observations best; among equals, the one with most bandwidth.
    fn most_likely(&self, best: Channel, now: Instant, limited: bool) -> Channel {
        let mut bandwidths = [f64::NAN; FACTORS.len() + 2];
        let mut count = FACTORS.len();
        for (place, factor) in bandwidths.iter_mut().zip(FACTORS) {
            *place = factor * best.bandwidth;
        }
        let padded = self.padding.is_some_and(|(_, began)| began + PADDING >= now);
        if let Some(arrives) = self.arrives
            && (!limited || padded)
        {
            bandwidths[count] = arrives;
            count += 1;
        }
        if self.by_delay.is_finite() && self.by_delay > best.bandwidth {
            bandwidths[count] = self.by_delay;
            count += 1;
        }
        let limit =
            if self.state != LossState::Delay && self.window_limit.is_finite() { self.window_limit } else { self.most };
        let mut likeliest = best;
        let mut highest = f64::NEG_INFINITY;
        for bandwidth in &bandwidths[..count] {
            let bandwidth = bandwidth.min(limit.max(best.bandwidth));
            let candidate = self.newton(Channel { inherent: feasible(best.inherent, bandwidth), bandwidth });
            let likelihood = self.likelihood(candidate);
            if likelihood > highest || (likelihood == highest && candidate.bandwidth > likeliest.bandwidth) {
                highest = likelihood;
                likeliest = candidate;
            }
        }
        likeliest
    }

    /// Applies one Newton step towards the likeliest inherent loss of a bandwidth.
    fn newton(&self, channel: Channel) -> Channel {
        let (mut first, mut second) = (0.0, 0.0);
        for (weight, observation) in self.weighted() {
            let loss = loss_probability(channel, observation.rate);
            let (lost, kept) = (observation.lost / 1e3, (observation.bytes - observation.lost) / 1e3);
            first += weight * (lost / loss - kept / (1.0 - loss));
            second -= weight * (lost / (loss * loss) + kept / ((1.0 - loss) * (1.0 - loss)));
        }
        let second = if second >= 0.0 { -1e-6 } else { second };
        Channel { inherent: feasible(channel.inherent - STEP * first / second, channel.bandwidth), ..channel }
    }

    fn likelihood(&self, channel: Channel) -> f64 {
        let bias = self.bias(channel.bandwidth);
        let mut sum = 0.0;
        for (weight, observation) in self.weighted() {
            let loss = loss_probability(channel, observation.rate);
            let (lost, kept) = (observation.lost / 1e3, (observation.bytes - observation.lost) / 1e3);
            sum += weight * (lost * libm::log(loss) + kept * libm::log(1.0 - loss));
            sum += weight * bias * observation.bytes / 1e3;
        }
        sum
    }

    /// Returns the preference for high bandwidths at low loss, and for low bandwidths at high loss.
    fn bias(&self, bandwidth: f64) -> f64 {
        let below = PREFERENCE - self.loss;
        let preference = below / (PREFERENCE_WIDTH + below.abs());
        let kilobits = libm::round(bandwidth / 1e3);
        preference * (BIAS * kilobits + LOG_BIAS * libm::log(1.0 + kilobits))
    }
}

/// Limits the inherent loss to the range allowed for a bandwidth.
fn feasible(inherent: f64, bandwidth: f64) -> f64 {
    let most = if bandwidth > 0.0 { (MOST_INHERENT_LOSS + LOSS_BALANCE / bandwidth).min(1.0) } else { 1.0 };
    inherent.max(LEAST_INHERENT_LOSS).min(most)
}

/// Returns the loss that a channel causes at a rate: the inherent loss, plus the excess above the bandwidth.
fn loss_probability(channel: Channel, rate: f64) -> f64 {
    let inherent = channel.inherent.clamp(0.0, 1.0);
    let beyond = if rate > channel.bandwidth { (rate - channel.bandwidth) / rate } else { 0.0 };
    (inherent + (1.0 - inherent) * beyond).clamp(1e-6, 1.0 - 1e-6)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::{Carries, SentPacket};
    use fairwave_network::packet::Ecn;
    use fairwave_units::units::Bytes;

    fn ms(millis: u64) -> Instant {
        Instant::ZERO + Span::from_millis(millis)
    }

    fn report(sequence: u64, sent: u64, arrived: bool) -> PacketReport {
        let size = Bytes::new(1000);
        let packet = SentPacket { sequence, sent: ms(sent), size, carries: Carries::Video, probe: None };
        PacketReport { packet, arrived: arrived.then(|| ms(sent + 50)), ecn: Ecn::NotEct }
    }

    /// A path that carries 800 kb/s and loses `lost` of 25 packets in 250 ms.
    struct Path {
        loss: LossBased,
        sent: u64,
    }

    impl Path {
        fn new() -> Self {
            Path { loss: LossBased::new(5_000.0, 1e9), sent: 0 }
        }

        fn observe(&mut self, lost: u64, by_delay: f64) -> (f64, LossState) {
            let first = u64::from(self.sent == 0);
            let packets: Vec<PacketReport> =
                (0..25 + first).map(|n| report(self.sent + n, (self.sent + n) * 10, n >= lost)).collect();
            self.sent += 25 + first;
            self.loss.on_feedback(&packets, by_delay, false);
            (self.loss.rate, self.loss.state)
        }
    }

    #[test]
    fn result_exists_after_three_observations_of_250_ms() {
        let mut loss = LossBased::new(5_000.0, 1e9);
        loss.on_feedback(&[report(0, 0, true), report(1, 249, true)], 1e6, false);
        assert_eq!(loss.count, 0);
        loss.on_feedback(&[report(2, 250, true)], 1e6, false);
        assert_eq!(loss.count, 1);
        assert_eq!(loss.observations[0].rate, 3000.0 * 8.0 / 0.25);
        loss.on_feedback(&[report(3, 500, true)], 1e6, false);
        assert_eq!(loss.result(), None);
        loss.on_feedback(&[report(4, 750, true)], 1e6, false);
        assert_eq!(loss.result(), Some((1e6, LossState::Delay)));
        let mut unknown = LossBased::new(5_000.0, 1e9);
        (0..5).for_each(|n| unknown.on_feedback(&[report(n, n * 300, true)], f64::INFINITY, false));
        assert_eq!(unknown.result(), None, "no estimate by delay to begin with");
        unknown.on_feedback(&[], 1e6, false);
        assert_eq!(unknown.result(), None);
    }

    #[test]
    fn a_packet_that_arrives_after_all_is_not_lost() {
        let mut loss = LossBased::new(5_000.0, 1e9);
        loss.on_feedback(&[report(0, 0, false), report(1, 10, false)], 1e6, false);
        loss.on_feedback(&[report(0, 0, true), report(2, 250, true)], 1e6, false);
        assert_eq!(loss.observations[0].lost, 1000.0);
        assert_eq!(loss.observations[0].bytes, 4000.0, "it counts twice among those sent, as in libwebrtc");
    }

    #[test]
    fn delay_limits_if_there_is_no_loss() {
        let mut path = Path::new();
        for _ in 0..20 {
            path.observe(0, 2e6);
        }
        assert_eq!(path.loss.result(), Some((2e6, LossState::Delay)));
        assert_eq!(path.loss.loss(), 0.0);
    }

    #[test]
    fn high_loss_limits_at_once_to_100_kb_per_second_over_what_exceeds_5_percent() {
        let mut path = Path::new();
        for _ in 0..6 {
            path.observe(0, 2e6);
        }
        for _ in 0..20 {
            path.observe(13, 2e6);
        }
        let share = path.loss.loss();
        assert!(share > 0.4);
        let (rate, state) = path.loss.result().expect("ready");
        assert_ne!(state, LossState::Delay);
        assert!(rate <= 100_000.0 / (share - 0.05) + 1e-6, "{rate}");
        assert!(rate < 300_000.0);
        path.loss.loss = 0.05;
        assert_eq!(path.loss.instant_most(), 1e9, "5 % limits nothing");
    }

    #[test]
    fn arrival_rate_is_the_least() {
        let mut path = Path::new();
        path.loss.set_arrives(384_000.0);
        for _ in 0..10 {
            path.observe(13, 2e6);
        }
        assert_eq!(path.loss.result().map(|result| result.0), Some(384_000.0));
        path.loss.set_limits(500_000.0, 1e9);
        assert_eq!(path.loss.instant_least(), 500_000.0, "or the least rate");
    }

    #[test]
    fn a_decrease_is_held_and_then_grows_with_padding_to_the_delay() {
        let mut path = Path::new();
        path.loss.set_arrives(400_000.0);
        for _ in 0..6 {
            path.observe(13, 2e6);
        }
        assert_eq!(path.loss.state, LossState::Decrease);
        let held = path.loss.hold;
        assert!(held.until.is_some() && held.rate.is_finite());
        path.loss.set_arrives(800_000.0);
        let states: Vec<LossState> = (0..60).map(|_| path.observe(0, 2e6).1).collect();
        let increase = states.iter().position(|state| *state == LossState::Increase).expect("it grows");
        let delay = states.iter().position(|state| *state == LossState::Delay);
        assert!(delay.is_none_or(|delay| delay > increase), "{states:?}");
    }

    #[test]
    fn hold_lasts_300_ms_and_twice_as_long_each_time_at_most_a_minute() {
        let mut loss = LossBased::new(5_000.0, 1e9);
        loss.by_delay = 1e6;
        loss.best = Some(Channel { inherent: 0.01, bandwidth: 500_000.0 });
        for n in 0..12 {
            loss.state = LossState::Increase;
            loss.rate = 1e6;
            let now = ms(n * 1_000_000);
            loss.settle(500_000.0, now);
            assert_eq!(loss.state, LossState::Decrease);
            let lasts = Span::from_millis((300 << n).min(60_000));
            assert_eq!(loss.hold.until, Some(now + lasts), "{n}");
        }
        // During the hold time the estimate does not exceed the held value.
        let until = loss.hold.until.expect("held");
        loss.settle(700_000.0, ms(11_000_000));
        assert_eq!(loss.rate, 500_000.0);
        loss.settle(700_000.0, until);
        assert_eq!((loss.rate, loss.state), (700_000.0, LossState::Increase));
        loss.settle(1e6, until);
        assert_eq!(loss.state, LossState::Delay);
        assert!(loss.hold.until.is_none() && loss.hold.lasts == FIRST_HOLD && loss.padding.is_none());
    }

    #[test]
    fn growth_is_bounded_by_what_arrives_and_by_window() {
        let mut loss = LossBased::new(5_000.0, 1e9);
        loss.state = LossState::Increase;
        loss.set_arrives(400_000.0);
        assert_eq!(loss.bounded_growth(500_000.0, 2e6, ms(0)), 600_000.0);
        loss.hold.rate = 350_000.0;
        assert_eq!(loss.bounded_growth(450_000.0, 2e6, ms(0)), 480_000.0, "near what was held: 1.2");
        loss.hold.rate = 300_000.0;
        assert_eq!(loss.bounded_growth(450_000.0, 2e6, ms(0)), 600_000.0, "1.3 times what was held");
        assert_eq!(loss.bounded_growth(700_000.0, 2e6, ms(0)), 700_000.0, "it does not fall");
        loss.state = LossState::Decrease;
        assert_eq!(loss.bounded_growth(700_000.0, 2e6, ms(0)), 700_001.0, "and leaves the decrease");
        loss.window_began = Some(ms(1000));
        loss.window_limit = 550_000.0;
        assert_eq!(loss.bounded_growth(500_000.0, 2e6, ms(1299)), 550_000.0);
        assert_eq!(loss.bounded_growth(500_000.0, 2e6, ms(1300)), 600_000.0);
    }

    #[test]
    fn a_window_of_growth_lasts_300_ms_and_allows_130_percent() {
        let mut loss = LossBased::new(5_000.0, 1e9);
        loss.by_delay = 1e6;
        loss.best = Some(Channel { inherent: 0.01, bandwidth: 500_000.0 });
        loss.rate = 1e6;
        loss.settle(500_000.0, ms(1000));
        assert_eq!((loss.window_began, loss.window_limit), (Some(ms(1000)), 650_000.0));
        loss.best = Some(Channel { inherent: 0.01, bandwidth: 1_000.0 });
        loss.settle(510_000.0, ms(1300));
        assert_eq!(loss.window_began, Some(ms(1000)));
        loss.settle(520_000.0, ms(1301));
        assert_eq!((loss.window_began, loss.window_limit), (Some(ms(1301)), 5_000.0), "at least 5 kb/s");
    }

    #[test]
    fn padding_helps_growth_for_two_seconds() {
        let mut loss = LossBased::new(5_000.0, 1e9);
        loss.state = LossState::Increase;
        loss.padding = Some((500_000.0, ms(1000)));
        assert!(loss.may_keep_growing(500_000.0, ms(3000)));
        assert!(!loss.may_keep_growing(500_000.0, ms(3001)));
        assert!(loss.may_keep_growing(500_001.0, ms(3001)), "unless it grows");
        loss.state = LossState::Decrease;
        assert!(loss.may_keep_growing(500_000.0, ms(3001)));
    }

    #[test]
    fn the_average_leaves_out_least_and_most_unless_more_was_sent_at_the_most() {
        let observation = |rate: f64, lost: f64| Observation { rate, bytes: 10_000.0, lost };
        let mut loss = LossBased::new(5_000.0, 1e9);
        loss.weights = [1.0; OBSERVATIONS];
        let seen = [(1e6, 0.0), (1e6, 1_000.0), (1e6, 2_000.0), (1e6, 9_000.0)];
        seen.iter().enumerate().for_each(|(n, &(rate, lost))| loss.observations[n] = observation(rate, lost));
        loss.count = 3;
        assert_eq!(loss.average_loss(), 0.1, "three: all of them");
        loss.count = 4;
        assert_eq!(loss.average_loss(), 0.15);
        loss.observations[3].rate = 2e6;
        assert_eq!(loss.average_loss(), 0.3, "twice the median: no accident");
        loss.count = 0;
        assert_eq!((loss.average_loss(), loss.median_rate()), (0.0, 0.0));
    }

    #[test]
    fn an_observation_weighs_nine_tenths_of_the_next_and_fifteen_count() {
        let mut path = Path::new();
        for _ in 0..17 {
            path.observe(1, 1e6);
        }
        let weights: Vec<f64> = path.loss.weighted().map(|(weight, _)| weight).collect();
        assert_eq!(weights.len(), 15);
        // Seventeen observations in a ring of fifteen: the second slot holds the newest, the third the oldest.
        assert_eq!(weights[1], 1.0);
        assert!((weights[0] - 0.9).abs() < 1e-12 && (weights[2] - libm::pow(0.9, 14.0)).abs() < 1e-12);
    }

    #[test]
    fn the_model_loses_what_the_bandwidth_does_not_carry_and_its_own() {
        let channel = Channel { inherent: 0.1, bandwidth: 800_000.0 };
        assert_eq!(loss_probability(channel, 800_000.0), 0.1);
        assert!((loss_probability(channel, 1e6) - 0.28).abs() < 1e-12);
        assert_eq!(loss_probability(Channel { inherent: 0.0, ..channel }, 1.0), 1e-6);
        assert_eq!(loss_probability(Channel { inherent: 2.0, ..channel }, 1.0), 1.0 - 1e-6);
        assert_eq!(feasible(0.0, 1e6), 1e-3);
        assert!((feasible(0.9, 1e6) - 0.15).abs() < 1e-12, "5 % and 100 kb/s over the bandwidth");
        assert_eq!(feasible(2.0, 0.0), 1.0);
    }

    #[test]
    fn high_bandwidths_are_preferred_below_20_percent_loss_and_low_ones_above() {
        let mut loss = LossBased::new(5_000.0, 1e9);
        loss.loss = 0.1;
        assert!(loss.bias(1e6) > loss.bias(5e5) && loss.bias(5e5) > 0.0);
        let expected = 0.1 / 0.102 * (0.0002 * 1000.0 + 0.02 * libm::log(1001.0));
        assert!((loss.bias(1_000_400.0) - expected).abs() < 1e-12, "whole kilobits");
        loss.loss = 0.3;
        assert!(loss.bias(1e6) < loss.bias(5e5) && loss.bias(5e5) < 0.0);
        loss.loss = 0.2;
        assert_eq!(loss.bias(1e6), 0.0);
    }

    #[test]
    fn equal_candidates_are_decided_by_the_most_bandwidth() {
        // Without observations, all candidates explain the data equally well.
        let mut loss = LossBased::new(5_000.0, 1e9);
        loss.by_delay = 2e6;
        let best = Channel { inherent: 0.01, bandwidth: 500_000.0 };
        assert_eq!(loss.most_likely(best, ms(0), false).bandwidth, 2e6);
        loss.by_delay = 400_000.0;
        assert_eq!(loss.most_likely(best, ms(0), false).bandwidth, 510_000.0);
        loss.set_arrives(900_000.0);
        assert_eq!(loss.most_likely(best, ms(0), false).bandwidth, 900_000.0);
        assert_eq!(loss.most_likely(best, ms(0), true).bandwidth, 510_000.0, "not while the application is limited");
        loss.padding = Some((1.0, ms(0)));
        assert_eq!(loss.most_likely(best, ms(2000), true).bandwidth, 900_000.0, "unless padding fills up");
        assert_eq!(loss.most_likely(best, ms(2001), true).bandwidth, 510_000.0);
        loss.state = LossState::Decrease;
        loss.window_limit = 505_000.0;
        assert_eq!(loss.most_likely(best, ms(0), false).bandwidth, 505_000.0, "not above the window's limit");
    }

    #[test]
    fn newtons_step_goes_three_quarters_of_the_way() {
        let mut path = Path::new();
        (0..6).for_each(|_| {
            path.observe(2, 2e6);
        });
        let channel = Channel { inherent: 0.05, bandwidth: 2e6 };
        let moved = path.loss.newton(channel);
        assert!(moved.inherent > 0.05 && moved.inherent < 0.08, "towards 8 %: {moved:?}");
        assert!(path.loss.likelihood(moved) > path.loss.likelihood(channel));
    }
}
