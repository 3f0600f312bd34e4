//! CoDel: drops at the head when packets have waited too long for too long, ever more often until they do not.
//!
//! Follows RFC 8289 §5. A packet that leaves after more than `target`, when that has been so for a whole `interval` and more
//! than one packet of `mtu` bytes waits behind it, opens a dropping state; there the n-th drop comes interval/√n
//! after the one before (§3.3, the control law). A state that reopens soon resumes near the rate at which it ended.
//! CoDel chooses its victim itself, the head; the victim rule applies only to a full buffer.
//!
//! **Assumptions.** 'Soon' is 16 intervals, as in the RFC's pseudo-code, and `mtu` stands for its largest packet seen.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::DropReason;
use super::buffer::Buffer;
use super::config::Capacity;
use super::discipline::{Discipline, DisciplineLaw};
use super::red::check_size;
use crate::config::{ConfigError, check_span};
use crate::packet::Packet;
use crate::registry::{Checked, Law};
use crate::units::{Bytes, Instant, Rate, Span};

/// CoDel (RFC 8289). When packets have waited longer than `target` for a whole `interval`, they are dropped at the
/// head, ever more often until they do not.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct CodelConfig {
    /// The standing delay that is accepted (TARGET).
    #[serde(default = "target")]
    pub target: Span,
    /// For how long the delay may exceed it; of the order of a round trip (INTERVAL).
    #[serde(default = "interval")]
    pub interval: Span,
    /// Nothing is dropped while no more than this waits.
    #[serde(default = "mtu")]
    pub mtu: Bytes,
}

fn target() -> Span {
    Span::from_millis(5)
}

fn interval() -> Span {
    Span::from_millis(100)
}

fn mtu() -> Bytes {
    Bytes::new(1500)
}

impl Checked for CodelConfig {
    fn check(&self) -> Result<(), ConfigError> {
        check_span("target", self.target, "target = \"5 ms\"")?;
        check_size("mtu", self.mtu)?;
        if self.interval <= self.target {
            let allowed = format!("longer than `target` ({})", self.target);
            return Err(ConfigError::new("interval", self.interval, allowed, "interval = \"100 ms\""));
        }
        Ok(())
    }
}

impl Law for CodelConfig {
    const NAME: &'static str = "codel";
}

impl DisciplineLaw for CodelConfig {
    type Discipline = Codel;

    fn discipline(&self, _capacity: Capacity, _rate: Rate) -> Codel {
        Codel {
            target: self.target,
            interval: self.interval,
            mtu: self.mtu.get(),
            first_above: None,
            dropping: false,
            drop_next: Instant::ZERO,
            count: 0,
            last_count: 0,
            sojourn: Span::ZERO,
        }
    }
}

/// CoDel at work.
#[derive(Clone, Debug)]
pub struct Codel {
    target: Span,
    interval: Span,
    mtu: u64,
    /// When the delay will have been above target for an interval; `None` while it is below.
    first_above: Option<Instant>,
    dropping: bool,
    /// When the next drop is due.
    drop_next: Instant,
    /// Drops in this dropping state.
    count: u32,
    /// `count` when this dropping state began.
    last_count: u32,
    /// How long the packet had waited that left last.
    sojourn: Span,
}

impl Codel {
    /// Takes the head, and says whether it has been above target for an interval (§5.6, dodequeue).
    fn take(&mut self, now: Instant, buffer: &mut Buffer) -> Option<(Packet, bool)> {
        let Some((packet, arrived)) = buffer.pop_front() else {
            // As in the RFC, an empty queue ends the dropping state.
            self.first_above = None;
            self.dropping = false;
            return None;
        };
        self.sojourn = now.since(arrived);
        if self.sojourn < self.target || buffer.total().bytes <= self.mtu {
            self.first_above = None;
            return Some((packet, false));
        }
        match self.first_above {
            None => {
                self.first_above = Some(now + self.interval);
                Some((packet, false))
            }
            Some(due) => Some((packet, now >= due)),
        }
    }

    fn control_law(&self, from: Instant) -> Instant {
        from + self.interval.scaled(1.0 / libm::sqrt(f64::from(self.count)))
    }
}

impl Discipline for Codel {
    /// The dequeue routine (§5.5).
    fn depart(&mut self, now: Instant, buffer: &mut Buffer, drops: &mut Vec<(Packet, DropReason)>) -> Option<Packet> {
        let (mut head, mut may_drop) = self.take(now, buffer)?;
        if self.dropping {
            self.dropping = may_drop;
            while self.dropping && now >= self.drop_next {
                drops.push((head, DropReason::Early));
                self.count = self.count.saturating_add(1);
                (head, may_drop) = self.take(now, buffer)?;
                self.dropping = may_drop;
                if may_drop {
                    self.drop_next = self.control_law(self.drop_next);
                }
            }
        } else if may_drop {
            drops.push((head, DropReason::Early));
            let next = self.take(now, buffer);
            self.dropping = true;
            let delta = self.count.saturating_sub(self.last_count);
            let soon = now.since(self.drop_next) < self.interval * 16;
            self.count = if delta > 1 && soon { delta } else { 1 };
            self.drop_next = self.control_law(now);
            self.last_count = self.count;
            (head, _) = next?;
        }
        Some(head)
    }

    /// How long the packet had waited that left last, in seconds.
    fn average(&self) -> Option<f64> {
        Some(self.sojourn.seconds())
    }
}

#[cfg(test)]
#[path = "codel_tests.rs"]
mod tests;
