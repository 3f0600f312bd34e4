//! RED: drops early, with a probability that grows with the average queue.
//!
//! Follows Floyd & Jacobson, "Random Early Detection Gateways for Congestion Avoidance" (1993), with Floyd's `gentle` slope
//! (2000): the probability climbs from max-p to 1 between max-threshold and twice that, instead of jumping.
//!
//! Lengths, thresholds and the average are in packets. In byte mode they are in packets of `mean-packet` bytes, so one set
//! of thresholds serves both modes. A separate key, `drop-by-size`, makes the drop probability of a packet proportional
//! to its size; when left out, it follows the mode.
//!
//! **Assumptions.** While the link is idle, the average ages as if (idle time) / (time to send a mean packet) packets had
//! met an empty queue. This number need not be whole. The 1993 paper would age again for the same idle time if the packet
//! that ended it was dropped; here idle time counts once. With `drop-by-size`, drops are spaced by bytes since the last
//! drop, and the probability is scaled last, as in ns-2.35. The packet after a drop counts as the first since the drop, as
//! in the paper's Fig. 2 (its §VII counts it as the zeroth). Gaps are therefore uniform on 1 to 1/p − 1. Overflow of the
//! buffer does not reset the spacing of early drops.
//!
//! **As in ns-2.35** (`queue/red.cc`), under presets `ns2` and `ns2-2004` only. Nothing is dropped early while at most one
//! packet waits (in byte mode: one byte). The first packet after that, or after the average was below min-threshold, passes
//! unless the average requires every packet to be dropped. Every dropped packet restarts the spacing, even if the buffer was
//! full. A buffer in bytes is full when the backlog has reached its capacity, regardless of the arrival's size. Bytes since
//! the last drop count as whole mean packets. Over idle time the average ages by one packet more than the whole number of
//! packets that the link could have sent.

//! In ns-2.35 a victim in the arrival's place (`drop_front_`, `drop_rand_`) applies to *forced* drops only: the average
//! requires every packet to be dropped, or the buffer is full. A random drop removes the arrival. Here the victim rule
//! applies to every drop, unless `early-victim = "arrival"`. ns-2's front is the second packet that waits; here it is the
//! first.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::config::{Capacity, Mode, check_reachable, check_thresholds};
use super::discipline::{Arrival, Discipline, DisciplineLaw, QueueDrop, RateChange, Verdict};
use fairwave_units::config::{ConfigError, check_between};
use fairwave_units::random::Stream;
use fairwave_units::ratio::OptionalRatio;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::{Bytes, Rate, Span};

/// The source of values that a RED configuration leaves out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RedPreset {
    /// Floyd's recommendations of 1997–2000: thresholds 5 and 15 packets, weight 0.002, max-p 0.1, gentle, packet mode.
    #[default]
    Floyd,
    /// ns-2.35's automatic defaults: byte mode with 500-byte packets, weight 1 − exp(−1/C) with C the link's rate in mean
    /// packets per second (ns-2.35 at round trips of 100 ms and less), min-threshold max(5, C · 5 ms / 2), max-threshold three
    /// times that, max-p 0.1, gentle, drops spaced with `wait`; and ns-2.35's details, which are not Floyd's (see the
    /// module). ns-2.35 also counts the buffer in 500-byte units: for its `limit_ 125` write `capacity = { bytes =
    /// 62500 }`. Before 2004-10-11 ns-2 counted packets: that is `ns2-2004`.
    #[serde(rename = "ns2")]
    Ns2,
    /// ns-2's defaults at the beginning of 2004: like `ns2`, but queue and thresholds count packets, and drops do not depend
    /// on size (`queue_in_bytes_` and `bytes_` were false until 2004-10-11).
    #[serde(rename = "ns2-2004")]
    Ns2Of2004,
}

impl RedPreset {
    fn like_ns2(self) -> bool {
        self != RedPreset::Floyd
    }
}

/// Which packet an early discard removes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EarlyVictim {
    /// The packet that the victim rule selects.
    #[default]
    Rule,
    /// The arrival: the victim rule applies to forced drops only, as in ns-2.35 (`queue/red.cc`).
    Arrival,
}

fn is_by_rule(victim: &EarlyVictim) -> bool {
    *victim == EarlyVictim::Rule
}

/// Random early detection (Floyd & Jacobson 1993), gentle. Above `min-threshold` it drops arrivals with a probability
/// that grows with the average queue. The preset gives every value that you leave out.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RedConfig {
    /// The source of values that you leave out.
    #[serde(default)]
    pub preset: RedPreset,
    /// Average queue, in (mean) packets, below which there are no early drops.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_threshold: Option<f64>,
    /// Average queue, in (mean) packets, at which the drop probability reaches `max-p`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_threshold: Option<f64>,
    /// Weight of the newest sample in the average, in (0, 1].
    #[serde(with = "OptionalRatio", default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    /// Drop probability at `max-threshold`, in (0, 1].
    #[serde(with = "OptionalRatio", default, skip_serializing_if = "Option::is_none")]
    pub max_p: Option<f64>,
    /// The probability climbs to 1 from `max-threshold` to twice that; otherwise it jumps to 1. Default true, but false
    /// with `harddrop = false`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "true, but false with `harddrop = false`"))]
    pub gentle: Option<bool>,
    /// Whether packets or bytes count in queue, average and thresholds (ns-2's `queue_in_bytes_`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// Whether the drop probability of a packet is proportional to its size, and drops are spaced by bytes (ns-2's
    /// `bytes_`). When left out: true in byte mode, false in packet mode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "true in byte mode, else false"))]
    pub drop_by_size: Option<bool>,
    /// Mean packet size on the wire: ages the average while the link idles, and is the unit of byte mode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_packet: Option<Bytes>,
    /// Let 1/p packets pass after a drop before the next early drop. Drops are then 1/p to 2/p packets apart (ns-2's
    /// `wait_`), otherwise up to 1/p (1993).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait: Option<bool>,
    /// Mark instead of dropping early, if the packet's transport understands marks and the average is below
    /// `max-threshold`; at and above it drop (RFC 3168 §7).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ecn: bool,
    /// From `max-threshold` on, drop even packets that could be marked (RFC 3168 §7). Default true. False needs `ecn = true`
    /// and marks packets there too, as Linux' `red` does without `harddrop`. With `min-threshold` = `max-threshold` and
    /// `weight = 1.0` this is DCTCP's switch (RFC 8257 §3.1): it marks every packet that finds at least that many packets
    /// waiting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = true))]
    pub harddrop: Option<bool>,
    /// Which packet an early drop removes: that of the victim rule, or `arrival`. With `arrival`, the rule applies to
    /// forced drops only (the average exceeds the range of early drops, or the buffer is full), as in ns-2.35.
    #[serde(default, skip_serializing_if = "is_by_rule")]
    pub early_victim: EarlyVictim,
}

impl Checked for RedConfig {
    fn check(&self) -> Result<(), ConfigError> {
        check_probability("weight", self.weight.unwrap_or(1.0), "weight = 0.002")?;
        check_probability("max-p", self.max_p.unwrap_or(1.0), "max-p = 0.1")?;
        if self.harddrop == Some(false) && !self.ecn {
            let allowed = "left out unless `ecn = true`: without marks, everything is dropped";
            return Err(ConfigError::new("harddrop", false, allowed, "ecn = true, harddrop = false"));
        }
        check_size("mean-packet", self.mean_packet.unwrap_or(MEAN_PACKET))
    }
}

impl Law for RedConfig {
    const NAME: &'static str = "red";
    const EXAMPLE: &'static str = r#"{"min-threshold": 5.0, "max-threshold": 15.0}"#;
}

impl DisciplineLaw for RedConfig {
    type Discipline = Red;

    fn fits(&self, capacity: Capacity, rate: Option<Rate>) -> Result<(), ConfigError> {
        let Parameters { min_threshold, mode, mean_packet, .. } = self.resolve(rate.unwrap_or(SLOW));
        // A switch has the same value for both thresholds.
        let is_switch = self.min_threshold.is_some() && self.min_threshold == self.max_threshold;
        if is_switch && self.harddrop != Some(false) {
            let max = self.max_threshold.unwrap_or_default();
            let allowed = format!(
                "below `max-threshold` ({max}), or equal to it with `harddrop = false`, which marks instead of dropping"
            );
            let example = format!("min-threshold = {max}, weight = 1.0, ecn = true, harddrop = false");
            return Err(ConfigError::new("min-threshold", max, allowed, example));
        }
        let max = self.max_threshold.filter(|_| !is_switch);
        check_thresholds(self.min_threshold, max, capacity, mean_packet)?;
        check_reachable(min_threshold, capacity, mode, mean_packet)?;
        match capacity {
            Capacity::Packets(packets) if packets < 3 && mode == Mode::Packets && self.preset.like_ns2() => {
                let allowed =
                    "3 or more under the presets of ns-2, which drop nothing early while a single packet waits";
                Err(ConfigError::new("capacity.packets", packets, allowed, "capacity = { packets = 125 }"))
            }
            _ => Ok(()),
        }
    }

    fn marks(&self) -> bool {
        self.ecn
    }

    fn reaches_capacity(&self) -> bool {
        self.preset.like_ns2()
    }

    fn discipline(&self, _capacity: Capacity, rate: Rate) -> Red {
        Red {
            as_ns2: self.preset.like_ns2(),
            chance_takes_arrival: self.early_victim == EarlyVictim::Arrival,
            ..Red::new(self.resolve(rate))
        }
    }
}

impl RedConfig {
    fn resolve(&self, rate: Rate) -> Parameters {
        let mean_packet = self.mean_packet.unwrap_or(MEAN_PACKET);
        let per_second = packets_per_second(rate, mean_packet);
        let ns2 = self.preset.like_ns2();
        let (floor, weight) = if ns2 { automatic(per_second, TARGET_DELAY) } else { (5.0, 0.002) };
        let min_threshold =
            self.min_threshold.unwrap_or_else(|| self.max_threshold.map_or(floor, |max| floor.min(max / 3.0)));
        let mode = self.mode.unwrap_or(if self.preset == RedPreset::Ns2 { Mode::Bytes } else { Mode::Packets });
        Parameters {
            min_threshold,
            max_threshold: self.max_threshold.unwrap_or(3.0 * min_threshold),
            weight: self.weight.unwrap_or(weight),
            max_p: self.max_p.unwrap_or(0.1),
            gentle: self.gentle.unwrap_or(self.harddrop != Some(false)),
            mode,
            by_size: self.drop_by_size.unwrap_or(mode == Mode::Bytes),
            mean_packet,
            per_second,
            wait: self.wait.unwrap_or(ns2),
            ecn: self.ecn,
            harddrop: self.harddrop.unwrap_or(true),
        }
    }
}

/// Mean packet size of Floyd's examples and of ns-2.
pub(super) const MEAN_PACKET: Bytes = Bytes::new(500);
/// Replaces an unknown rate: automatic thresholds grow with the rate, so this gives their minimum.
pub(super) const SLOW: Rate = Rate::from_bits_per_second(0);
/// The queueing delay that automatic thresholds aim at (Floyd, Gummadi & Shenker 2001 §4).
pub(super) const TARGET_DELAY: Span = Span::from_millis(5);

/// Checks that a number is in (0, 1].
pub(super) fn check_probability(key: &str, value: f64, example: &str) -> Result<(), ConfigError> {
    if value > 0.0 && value <= 1.0 {
        return Ok(());
    }
    Err(ConfigError::new(key, value, "above 0 and at most 1", example))
}

/// Checks that a size is above zero.
pub(super) fn check_size(key: &str, value: Bytes) -> Result<(), ConfigError> {
    check_between(key, value.get() as f64, 0.0, f64::INFINITY, &format!("{key} = \"500 B\""))
}

/// Mean packets per second that a link carries.
pub(super) fn packets_per_second(rate: Rate, mean_packet: Bytes) -> f64 {
    rate.bits_per_second() as f64 / (8.0 * mean_packet.get().max(1) as f64)
}

/// Min-threshold and weight by the automatic rules of Floyd, Gummadi & Shenker 2001 §4.
pub(super) fn automatic(per_second: f64, target_delay: Span) -> (f64, f64) {
    let min_threshold = (target_delay.seconds() * per_second / 2.0).max(5.0);
    (min_threshold, -libm::expm1(-1.0 / per_second.max(f64::MIN_POSITIVE)))
}

/// RED's parameters with all defaults resolved.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Parameters {
    pub min_threshold: f64,
    pub max_threshold: f64,
    pub weight: f64,
    pub max_p: f64,
    pub gentle: bool,
    pub mode: Mode,
    /// Whether the drop probability is proportional to the packet's size.
    pub by_size: bool,
    pub mean_packet: Bytes,
    /// Mean packets per second that the link carries.
    pub per_second: f64,
    pub wait: bool,
    /// Whether to mark while the average is below max-threshold.
    pub ecn: bool,
    /// Whether to drop markable packets from max-threshold on.
    pub harddrop: bool,
}

/// State of RED. ARED, CHOKe and PUNSI build on it.
#[derive(Clone, Debug)]
pub struct Red {
    pub(super) parameters: Parameters,
    /// Average queue in (mean) packets.
    pub(super) average: f64,
    /// Packets since the last early drop, or bytes with `by_size`; `None` before the first packet that meets an average
    /// above min-threshold.
    since: Option<f64>,
    /// ln(1 − weight), for ageing.
    log_keep: f64,
    /// Whether ns-2.35's details apply.
    as_ns2: bool,
    /// Whether a random drop removes the arrival, regardless of the victim rule.
    chance_takes_arrival: bool,
}

impl Red {
    pub(super) fn new(parameters: Parameters) -> Self {
        let log_keep = libm::log1p(-parameters.weight);
        Red { parameters, average: 0.0, since: None, log_keep, as_ns2: false, chance_takes_arrival: false }
    }

    /// ns-2.35's rules before a random drop. It considers a packet only if more than one packet waits (in byte mode:
    /// more than a byte). It drops the packet if the average requires every packet to be dropped. It admits the first
    /// packet after the average or the queue has been too low.
    #[inline]
    fn decide_before_draw(&mut self, arrival: &Arrival<'_>) -> Option<Verdict> {
        let total = arrival.buffer.total();
        let short = match self.parameters.mode {
            Mode::Packets => total.packets <= 1,
            Mode::Bytes => total.bytes <= 1,
        };
        if short || self.average < self.parameters.min_threshold {
            self.since = None;
            return Some(Verdict::Admit);
        }
        if self.base_probability() >= 1.0 {
            self.restart_spacing();
            return Some(self.signal());
        }
        if self.since.is_none() {
            self.since = Some(self.unit(arrival.packet.wire));
            return Some(Verdict::Admit);
        }
        None
    }

    /// Amount by which a packet advances the count since the last drop.
    #[inline]
    fn unit(&self, size: u16) -> f64 {
        if self.parameters.by_size { f64::from(size) } else { 1.0 }
    }

    /// Updates the average with the queue that an arrival finds (1993, Fig. 2).
    #[inline]
    pub(super) fn update(&mut self, arrival: &Arrival<'_>) {
        let total = arrival.buffer.total();
        if arrival.idle > Span::ZERO {
            let packets = arrival.idle.seconds() * self.parameters.per_second;
            let packets = if self.as_ns2 { libm::floor(packets) + 1.0 } else { packets };
            self.age(packets);
            return;
        }
        let length = match self.parameters.mode {
            Mode::Packets => f64::from(total.packets),
            Mode::Bytes => total.bytes as f64 / self.parameters.mean_packet.get() as f64,
        };
        self.average += self.parameters.weight * (length - self.average);
    }

    /// Ages the average by the number of packets that could have met an empty queue. With weight 1, one such packet resets
    /// the average; none leaves it unchanged.
    fn age(&mut self, packets: f64) {
        if packets > 0.0 {
            self.average *= libm::exp(packets * self.log_keep);
        }
    }

    /// The link's rate changes: ages the average for the idle time at the old rate. Thresholds and weight keep their values.
    pub(super) fn rate_now(&mut self, rate: Rate, idle: Span) {
        self.age(idle.seconds() * self.parameters.per_second);
        self.parameters.per_second = packets_per_second(rate, self.parameters.mean_packet);
    }

    /// The drop probability before drops are spaced: p_b of the 1993 paper, with the gentle slope.
    #[inline]
    pub(super) fn base_probability(&self) -> f64 {
        let Parameters { min_threshold: min, max_threshold: max, max_p, gentle, .. } = self.parameters;
        if self.average < min {
            0.0
        } else if self.average < max {
            max_p * (self.average - min) / (max - min)
        } else if gentle && self.average < 2.0 * max {
            max_p + (1.0 - max_p) * (self.average - max) / max
        } else {
            1.0
        }
    }

    /// Decides about an arrival of `size` bytes with the current average; spaces drops evenly (1993 §VII).
    #[inline]
    pub(super) fn decide(&mut self, size: u16, stream: &mut Stream) -> bool {
        if self.average < self.parameters.min_threshold {
            self.since = None;
            return false;
        }
        let since = self.since.map_or(0.0, |since| since + self.unit(size));
        self.since = Some(since);
        let mean = self.parameters.mean_packet.get() as f64;
        let packets = match self.parameters.by_size {
            true if self.as_ns2 => libm::floor(since / mean),
            true => since / mean,
            false => since,
        };
        let spaced = spaced(self.base_probability(), packets, self.parameters.wait);
        let by_size = self.parameters.by_size && spaced < 1.0;
        let probability = if by_size { spaced * (f64::from(size) / mean) } else { spaced };
        let drop = probability >= 1.0 || (probability > 0.0 && stream.chance(probability));
        if drop {
            self.since = Some(0.0);
        }
        drop
    }

    /// How to signal congestion on an arrival: by a mark while the average is below max-threshold, otherwise by a drop (RFC
    /// 3168 §7). Without `harddrop`, always by a mark; without `ecn`, always by a drop.
    #[inline]
    fn signal(&self) -> Verdict {
        let Parameters { ecn, harddrop, max_threshold, .. } = self.parameters;
        if ecn && (!harddrop || self.average < max_threshold) { Verdict::Mark } else { Verdict::Drop }
    }

    fn restart_spacing(&mut self) {
        if let Some(since) = &mut self.since {
            *since = 0.0;
        }
    }
}

impl Discipline for Red {
    #[inline]
    fn arrive(&mut self, arrival: &Arrival<'_>, stream: &mut Stream) -> Verdict {
        self.update(arrival);
        if self.as_ns2
            && let Some(verdict) = self.decide_before_draw(arrival)
        {
            return verdict;
        }
        if !self.decide(arrival.packet.wire, stream) {
            return Verdict::Admit;
        }
        match self.signal() {
            Verdict::Drop if self.chance_takes_arrival && self.base_probability() < 1.0 => Verdict::DropArrival,
            signal => signal,
        }
    }

    fn on_drop(&mut self, drop: QueueDrop<'_>) {
        if self.as_ns2 && matches!(drop, QueueDrop::Overflow) {
            self.restart_spacing();
        }
    }

    fn on_rate_change(&mut self, change: &RateChange<'_>) {
        self.rate_now(change.rate, change.idle);
    }

    fn average(&self) -> Option<f64> {
        Some(self.average)
    }
}

/// Turns the base probability p into the probability of the `since`-th packet after a drop. The gap is then uniform: up to
/// 1/p, or from 1/p to 2/p with `wait`.
#[inline]
fn spaced(p: f64, since: f64, wait: bool) -> f64 {
    let progress = since * p;
    match wait {
        _ if p >= 1.0 => 1.0,
        false if progress < 1.0 => p / (1.0 - progress),
        true if progress < 1.0 => 0.0,
        true if progress < 2.0 => p / (2.0 - progress),
        _ => 1.0,
    }
}

#[cfg(test)]
#[path = "red_tests.rs"]
mod tests;
