//! CoDel: drops at the head when the queueing delay has exceeded a target for a whole interval. The drops become more
//! frequent until the delay is below the target.
//!
//! Follows RFC 8289 §5. A dropping state opens when packets that leave have waited longer than `target` for a whole
//! `interval`, and more than `mtu` bytes wait behind the packet. In this state the n-th drop comes interval/√n after the
//! drop before (§3.3, the control law). A state that reopens soon resumes near the rate at which it ended. CoDel always
//! drops the head; the victim rule applies only to a full buffer. With `ecn`, a head with a transport that understands marks
//! is marked and sent instead, at most one per departure. The RFC allows this signal instead of a drop (§1).
//!
//! **Assumptions.** 'Soon' means within 16 intervals, as in the RFC's pseudo-code. `mtu` replaces the largest packet seen.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::DropReason;
use super::buffer::{Buffer, Place};
use super::config::Capacity;
use super::discipline::{Discipline, DisciplineLaw};
use super::red::check_size;
use crate::packet::Packet;
use fairwave_units::config::{ConfigError, check_span};
use fairwave_units::random::Stream;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::{Bytes, Instant, Rate, Span};

/// CoDel (RFC 8289). When packets have waited longer than `target` for a whole `interval`, it drops packets at the
/// head, at growing frequency, until the delay falls below `target`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct CodelConfig {
    /// The accepted standing delay (TARGET).
    #[serde(default = "target")]
    pub target: Span,
    /// Time for which the delay may exceed `target`; of the order of a round trip (INTERVAL).
    #[serde(default = "interval")]
    pub interval: Span,
    /// There are no drops while at most this many bytes wait.
    #[serde(default = "mtu")]
    pub mtu: Bytes,
    /// Mark instead of dropping early, if the packet's transport understands marks: a mark then counts as a drop.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ecn: bool,
}

pub(super) fn target() -> Span {
    Span::from_millis(5)
}

pub(super) fn interval() -> Span {
    Span::from_millis(100)
}

fn mtu() -> Bytes {
    Bytes::new(1500)
}

impl Checked for CodelConfig {
    fn check(&self) -> Result<(), ConfigError> {
        check_times(self.target, self.interval)?;
        check_size("mtu", self.mtu)
    }
}

/// Checks that the target is above zero and the interval longer than the target.
pub(super) fn check_times(target: Span, interval: Span) -> Result<(), ConfigError> {
    check_span("target", target, "target = \"5 ms\"")?;
    if interval <= target {
        let allowed = format!("longer than `target` ({target})");
        return Err(ConfigError::new("interval", interval, allowed, "interval = \"100 ms\""));
    }
    Ok(())
}

impl Law for CodelConfig {
    const NAME: &'static str = "codel";
    const EXAMPLE: &'static str = r#"{"target": "5 ms", "interval": "100 ms"}"#;
}

impl DisciplineLaw for CodelConfig {
    type Discipline = Codel;

    fn marks(&self) -> bool {
        self.ecn
    }

    fn discipline(&self, _capacity: Capacity, _rate: Rate) -> Codel {
        let (target, interval, mtu) = (self.target, self.interval, self.mtu.get());
        Codel {
            set: Settings { target, interval, mtu, ecn: self.ecn, ce_threshold: Span::MAX },
            control: Control::default(),
        }
    }
}

/// Parameters of CoDel.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub target: Span,
    pub interval: Span,
    /// In bytes.
    pub mtu: u64,
    pub ecn: bool,
    /// Marks every packet that has waited longer than this, if its transport understands marks.
    pub ce_threshold: Span,
}

/// The oldest packet of a queue: its place, and the bytes of the whole queue.
pub(super) type Head = (Place, u64);

/// CoDel's state for one queue.
#[derive(Clone, Debug, Default)]
pub(super) struct Control {
    /// Time at which the delay will have been above target for an interval; `None` while it is below.
    first_above: Option<Instant>,
    dropping: bool,
    /// Time at which the next drop is due.
    drop_next: Instant,
    /// Drops and marks in this dropping state.
    count: u32,
    /// `count` when this dropping state began.
    last_count: u32,
    /// Queueing delay of the last packet that left.
    pub sojourn: Span,
}

impl Control {
    /// Returns the head and whether its delay has exceeded `target` for a whole `interval` (§5.6, dodequeue). Does not
    /// remove the head.
    #[inline]
    fn look(&mut self, set: &Settings, now: Instant, buffer: &Buffer, head: Option<Head>) -> Option<(Place, bool)> {
        let found = head
            .and_then(|(place, bytes)| buffer.waits_at(place).map(|(arrived, wire)| (place, arrived, bytes - wire)));
        let Some((place, arrived, behind)) = found else {
            // As in the RFC, an empty queue ends the dropping state.
            self.first_above = None;
            self.dropping = false;
            return None;
        };
        self.sojourn = now.span_since(arrived);
        if self.sojourn < set.target || behind <= set.mtu {
            self.first_above = None;
            return Some((place, false));
        }
        match self.first_above {
            None => {
                self.first_above = Some(now + set.interval);
                Some((place, false))
            }
            Some(due) => Some((place, now >= due)),
        }
    }

    /// Counts `packets` drops by a full buffer as CoDel's drops. This increases CoDel's drop rate.
    pub fn has_dropped(&mut self, packets: u32) {
        self.count = self.count.saturating_add(packets);
    }

    /// Handles an empty queue, or an only packet that leaves immediately: no delay is above target, so the dropping state
    /// ends. Has the effect of [`Self::depart`] in these cases, in one step.
    #[inline]
    pub fn idle(&mut self) {
        (self.first_above, self.dropping) = (None, false);
    }

    fn control_law(&self, set: &Settings, from: Instant) -> Instant {
        from + set.interval.scaled(1.0 / libm::sqrt(f64::from(self.count)))
    }

    /// The dequeue routine (§5.5). `head` returns the queue's oldest packet. Appends dropped packets to `drops`.
    #[inline]
    pub fn depart(
        &mut self,
        set: &Settings,
        now: Instant,
        buffer: &mut Buffer,
        head: impl Fn(&Buffer) -> Option<Head>,
        drops: &mut Vec<(Packet, DropReason)>,
    ) -> Option<Packet> {
        let (mut place, mut may_drop) = self.look(set, now, buffer, head(buffer))?;
        if self.dropping {
            self.dropping = may_drop;
            while self.dropping && now >= self.drop_next {
                self.count = self.count.saturating_add(1);
                if set.ecn && buffer.mark(place) {
                    self.drop_next = self.control_law(set, self.drop_next);
                    break;
                }
                drops.extend(buffer.remove(place).map(|packet| (packet, DropReason::Early)));
                (place, may_drop) = self.look(set, now, buffer, head(buffer))?;
                self.dropping = may_drop;
                if may_drop {
                    self.drop_next = self.control_law(set, self.drop_next);
                }
            }
        } else if may_drop {
            let next = match set.ecn && buffer.mark(place) {
                true => Some(place),
                false => {
                    drops.extend(buffer.remove(place).map(|packet| (packet, DropReason::Early)));
                    self.look(set, now, buffer, head(buffer)).map(|(next, _)| next)
                }
            };
            self.dropping = true;
            let delta = self.count.saturating_sub(self.last_count);
            let soon = now.span_since(self.drop_next) < set.interval * 16;
            self.count = if delta > 1 && soon { delta } else { 1 };
            self.drop_next = self.control_law(set, now);
            self.last_count = self.count;
            place = next?;
        }
        if self.sojourn > set.ce_threshold {
            buffer.mark(place);
        }
        buffer.serve(place).map(|(packet, _)| packet)
    }
}

/// State of the discipline CoDel.
#[derive(Clone, Debug)]
pub struct Codel {
    set: Settings,
    control: Control,
}

impl Discipline for Codel {
    #[inline]
    fn pass(&mut self, _now: Instant, _packet: &Packet, _stream: &mut Stream) -> bool {
        self.control.idle();
        self.control.sojourn = Span::ZERO;
        true
    }

    fn depart(&mut self, now: Instant, buffer: &mut Buffer, drops: &mut Vec<(Packet, DropReason)>) -> Option<Packet> {
        let head = |buffer: &Buffer| Some((buffer.front()?, buffer.total().bytes));
        self.control.depart(&self.set, now, buffer, head, drops)
    }

    /// Queueing delay of the last packet that left, seconds.
    fn average(&self) -> Option<f64> {
        Some(self.control.sojourn.seconds())
    }
}

#[cfg(test)]
#[path = "codel_tests.rs"]
mod tests;
