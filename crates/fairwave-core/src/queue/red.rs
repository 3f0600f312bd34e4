//! RED: drops early, with a probability that grows with the average queue.
//!
//! Follows Floyd & Jacobson, "Random Early Detection Gateways for Congestion Avoidance" (1993), with Floyd's `gentle`
//! slope (2000): between max-threshold and twice that the probability climbs from max-p to 1 instead of jumping.
//!
//! Lengths, thresholds and the average are in packets. In byte mode they are in packets of `mean-packet` bytes, so one set
//! of thresholds serves both modes, and a packet's chance to be dropped is proportional to its size.
//!
//! **Assumptions.** While the link idles the average ages as if (idle time) / (time to send a mean packet) packets had
//! met an empty queue, a real number of them. The 1993 paper would age again for the same idle time if the packet that ended
//! it was dropped; here idle time counts once. Byte mode spaces drops by bytes since the last drop and scales by size
//! last, as ns-2.35 does. The packet after a drop counts as the first since, as in the paper's Fig. 2 (its §VII would count it as
//! the zeroth), so gaps are uniform on 1 to 1/p − 1. Overflow of the buffer does not reset the spacing of early drops.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::config::{Capacity, check_thresholds};
use super::victim::Victim;
use super::{Arrival, Verdict};
use crate::config::{ConfigError, check_between};
use crate::random::Stream;
use crate::units::{Bytes, Rate, Span};

/// What a discipline counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Packets, whatever their size.
    #[default]
    Packets,
    /// Bytes, expressed in packets of mean size.
    Bytes,
}

/// Where values come from that a RED configuration leaves out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RedPreset {
    /// Floyd's recommendations of 1997–2000: thresholds 5 and 15 packets, weight 0.002, max-p 0.1, gentle, packet mode.
    #[default]
    Floyd,
    /// ns-2.35's automatic defaults: byte mode with 500-byte packets, weight 1 − exp(−1/C) with C the link's rate in mean
    /// packets per second (ns-2.35 at round trips of 100 ms and less), min-threshold max(5, C · 5 ms / 2), max-threshold three
    /// times that, max-p 0.1, gentle, drops spaced with `wait`. Nothing is dropped early while at most one packet waits
    /// (a packet, in byte mode not even that), whatever the average: this is ns-2.35's, not Floyd's. ns-2.35 counts the buffer, too, in 500-byte
    /// units: for its `limit_ 125` write `capacity = { bytes = 62500 }`.
    #[serde(rename = "ns2")]
    Ns2,
}

/// Parameters of RED. Whatever is left out follows the preset.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RedConfig {
    /// What the buffer holds at most.
    pub capacity: Capacity,
    /// Which packet goes when one must.
    #[serde(default)]
    pub victim: Victim,
    /// Where values come from that are not given.
    #[serde(default)]
    pub preset: RedPreset,
    /// Average queue, in (mean) packets, below which nothing is dropped early.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_threshold: Option<f64>,
    /// Average queue, in (mean) packets, at which the drop probability reaches `max-p`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_threshold: Option<f64>,
    /// Weight of the newest sample in the average, in (0, 1].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    /// Drop probability at `max-threshold`, in (0, 1].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_p: Option<f64>,
    /// From `max-threshold` to twice that the probability climbs to 1; otherwise it jumps to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gentle: Option<bool>,
    /// Whether packets or bytes count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// Mean packet size on the wire: for ageing while the link idles, and the unit of byte mode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_packet: Option<Bytes>,
    /// Let 1/p packets pass after a drop before the next is considered: drops are then 1/p to 2/p packets apart
    /// (ns-2's `wait_`), otherwise up to 1/p (1993).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait: Option<bool>,
}

impl RedConfig {
    /// RED with every parameter from `preset`.
    pub fn preset(preset: RedPreset, capacity: Capacity) -> Self {
        RedConfig {
            capacity,
            victim: Victim::Tail,
            preset,
            min_threshold: None,
            max_threshold: None,
            weight: None,
            max_p: None,
            gentle: None,
            mode: None,
            mean_packet: None,
            wait: None,
        }
    }

    pub(super) fn resolve(&self, rate: Rate) -> Parameters {
        let mean_packet = self.mean_packet.unwrap_or(MEAN_PACKET);
        let per_second = packets_per_second(rate, mean_packet);
        let ns2 = self.preset == RedPreset::Ns2;
        let (floor, weight) = if ns2 { automatic(per_second, TARGET_DELAY) } else { (5.0, 0.002) };
        let min_threshold =
            self.min_threshold.unwrap_or_else(|| self.max_threshold.map_or(floor, |max| floor.min(max / 3.0)));
        Parameters {
            min_threshold,
            max_threshold: self.max_threshold.unwrap_or(3.0 * min_threshold),
            weight: self.weight.unwrap_or(weight),
            max_p: self.max_p.unwrap_or(0.1),
            gentle: self.gentle.unwrap_or(true),
            mode: self.mode.unwrap_or(if ns2 { Mode::Bytes } else { Mode::Packets }),
            mean_packet,
            per_second,
            wait: self.wait.unwrap_or(ns2),
        }
    }

    pub(super) fn check(&self) -> Result<(), ConfigError> {
        check_thresholds(
            self.min_threshold,
            self.max_threshold,
            self.capacity,
            self.mean_packet.unwrap_or(MEAN_PACKET),
        )?;
        check_probability("weight", self.weight.unwrap_or(1.0), "weight = 0.002")?;
        check_probability("max-p", self.max_p.unwrap_or(1.0), "max-p = 0.1")?;
        check_size("mean-packet", self.mean_packet.unwrap_or(MEAN_PACKET))
    }
}

/// Mean packet size of Floyd's examples and of ns-2.
pub(super) const MEAN_PACKET: Bytes = Bytes::new(500);
/// The queueing delay that automatic thresholds aim at (Floyd, Gummadi & Shenker 2001 §4).
pub(super) const TARGET_DELAY: Span = Span::from_millis(5);

/// Accepts a number in (0, 1].
pub(super) fn check_probability(key: &str, value: f64, example: &str) -> Result<(), ConfigError> {
    if value > 0.0 && value <= 1.0 {
        return Ok(());
    }
    Err(ConfigError::new(key, value, "above 0 and at most 1", example))
}

/// Accepts a size above zero.
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

/// RED's parameters with nothing left open.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Parameters {
    pub min_threshold: f64,
    pub max_threshold: f64,
    pub weight: f64,
    pub max_p: f64,
    pub gentle: bool,
    pub mode: Mode,
    pub mean_packet: Bytes,
    /// Mean packets per second that the link carries.
    pub per_second: f64,
    pub wait: bool,
}

/// RED at work. ARED, CHOKe and PUNSI build on it.
#[derive(Clone, Debug)]
pub(super) struct Red {
    pub parameters: Parameters,
    /// Average queue in (mean) packets.
    pub average: f64,
    /// (Mean) packets since the last early drop; `None` before the first packet that meets an average above min-threshold.
    since: Option<f64>,
    /// ln(1 − weight), for ageing.
    log_keep: f64,
    /// Drop nothing early while the queue itself is all but empty, as ns-2.35 does.
    spares_short_queues: bool,
}

impl Red {
    pub fn new(parameters: Parameters) -> Self {
        let log_keep = libm::log1p(-parameters.weight);
        Red { parameters, average: 0.0, since: None, log_keep, spares_short_queues: false }
    }

    /// RED as `config` says, on a link of this rate.
    pub fn from_config(config: &RedConfig, rate: Rate) -> Self {
        Red { spares_short_queues: config.preset == RedPreset::Ns2, ..Red::new(config.resolve(rate)) }
    }

    /// ns-2.35 considers a packet only if more than one packet waits (in byte mode: more than a byte), and lets the first
    /// one pass after the average or the queue has been too low.
    #[inline]
    fn spares(&mut self, arrival: &Arrival<'_>) -> bool {
        let total = arrival.buffer.total();
        let (short, unit) = match self.parameters.mode {
            Mode::Packets => (total.packets <= 1, 1.0),
            Mode::Bytes => {
                let size = f64::from(arrival.packet.wire) / self.parameters.mean_packet.get() as f64;
                (total.bytes <= 1, size)
            }
        };
        if short || self.average < self.parameters.min_threshold {
            self.since = None;
            return true;
        }
        if self.since.is_none() {
            self.since = Some(unit);
            return true;
        }
        false
    }

    /// Brings the average up to date with the queue that an arrival finds (1993, Fig. 2).
    #[inline]
    pub fn update(&mut self, arrival: &Arrival<'_>) {
        let total = arrival.buffer.total();
        if arrival.idle > Span::ZERO {
            let packets = arrival.idle.seconds() * self.parameters.per_second;
            self.average *= libm::exp(packets * self.log_keep);
            return;
        }
        let length = match self.parameters.mode {
            Mode::Packets => f64::from(total.packets),
            Mode::Bytes => total.bytes as f64 / self.parameters.mean_packet.get() as f64,
        };
        self.average += self.parameters.weight * (length - self.average);
    }

    /// The probability that the average asks for, before drops are spaced: p_b of the 1993 paper, with the gentle slope.
    #[inline]
    pub fn base_probability(&self) -> f64 {
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

    /// Decides on an arrival of `size` bytes by the average as it is; spaces drops evenly (1993 §VII).
    #[inline]
    pub fn decide(&mut self, size: u16, stream: &mut Stream) -> bool {
        if self.average < self.parameters.min_threshold {
            self.since = None;
            return false;
        }
        let relative = f64::from(size) / self.parameters.mean_packet.get() as f64;
        let unit = if self.parameters.mode == Mode::Bytes { relative } else { 1.0 };
        let since = self.since.map_or(0.0, |since| since + unit);
        self.since = Some(since);
        let base = self.base_probability();
        let spaced = spaced(base, since, self.parameters.wait);
        let probability = if self.parameters.mode == Mode::Bytes && spaced < 1.0 { spaced * relative } else { spaced };
        let drop = probability >= 1.0 || (probability > 0.0 && stream.chance(probability));
        if drop {
            self.since = Some(0.0);
        }
        drop
    }

    #[inline]
    pub fn arrive(&mut self, arrival: &Arrival<'_>, stream: &mut Stream) -> Verdict {
        self.update(arrival);
        if self.spares_short_queues && self.spares(arrival) {
            return Verdict::Admit;
        }
        if self.decide(arrival.packet.wire, stream) { Verdict::Drop } else { Verdict::Admit }
    }
}

/// Turns the base probability p into that of the `since`-th packet after a drop, so that the gap is uniform: up to 1/p,
/// or with `wait` on 1/p to 2/p.
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
