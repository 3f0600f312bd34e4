//! Detection and repair of lost segments. A recovery keeps its state of a loss; the [`Connection`] keeps the sent
//! segments. The sender hands a recovery four events (new data acknowledged, a duplicate, the timer, room to send), and
//! the recovery answers with the connection's next action. Each file is one set of rules.

mod newreno;
mod probe;
mod prr;
mod rack;
mod reno;
pub mod sack;
pub mod scoreboard;
mod tahoe;
mod vegas;

#[cfg(test)]
mod clauses;
#[cfg(test)]
mod rack_clauses;

pub use probe::ProbeRule;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::connection::Connection;
use fairwave_endpoint::Output;
use fairwave_network::packet::SackBlock;
use fairwave_units::units::Instant;

/// The rules of loss recovery.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Recovery {
    /// Fast retransmit, then slow start from the loss on.
    Tahoe,
    /// Fast retransmit and fast recovery, which ends with the first new acknowledgement (RFC 2001, 5681).
    Reno,
    /// Fast recovery that lasts until all that was in flight is acknowledged (RFC 6582).
    Newreno,
    /// Selective acknowledgements (RFC 2018, 6675).
    Sack,
    /// Time-based loss detection (RACK) and tail loss probes (TLP), both with selective acknowledgements (RFC 8985).
    Rack,
    /// Reno's, with Vegas' early retransmit by fine-grained timers.
    Vegas,
}

/// A recovery at work. Those that keep much are in a box: most flows have none of them.
pub(super) enum LossRecovery {
    Tahoe(tahoe::Tahoe),
    Reno(reno::Reno),
    Newreno(newreno::Newreno),
    Sack(Box<sack::Sack>),
    Rack(Box<rack::Rack>),
    Vegas(Box<vegas::Vegas>),
}

impl LossRecovery {
    /// One that has seen no loss yet.
    pub fn new(recovery: Recovery) -> Self {
        match recovery {
            Recovery::Tahoe => LossRecovery::Tahoe(tahoe::Tahoe::default()),
            Recovery::Reno => LossRecovery::Reno(reno::Reno::default()),
            Recovery::Newreno => LossRecovery::Newreno(newreno::Newreno::default()),
            Recovery::Sack => LossRecovery::Sack(Box::default()),
            Recovery::Rack => LossRecovery::Rack(Box::default()),
            Recovery::Vegas => LossRecovery::Vegas(Box::default()),
        }
    }

    /// An acknowledgement came: everything before `next`, which is not below what was acknowledged before, has arrived.
    #[inline(always)] // as all that each acknowledgement needs
    pub fn on_ack(
        &mut self,
        connection: &mut Connection,
        now: Instant,
        next: u32,
        blocks: &[SackBlock; 3],
        out: &mut Output,
    ) {
        match self {
            LossRecovery::Reno(reno) if next > connection.una() => reno.on_new_data(connection, now, next, out),
            LossRecovery::Newreno(newreno) if next > connection.una() => {
                newreno.on_new_data(connection, now, next, out)
            }
            LossRecovery::Sack(sack) => sack.on_ack(connection, now, next, blocks, out),
            LossRecovery::Rack(rack) => rack.on_ack(connection, now, next, blocks, out),
            LossRecovery::Vegas(vegas) if next > connection.una() => vegas.on_new_data(connection, now, next, out),
            LossRecovery::Tahoe(_) if next > connection.una() => tahoe::Tahoe::on_new_data(connection, now, next, out),
            LossRecovery::Reno(reno) => reno.on_duplicate(connection, now, out),
            LossRecovery::Newreno(newreno) => newreno.on_duplicate(connection, now, out),
            LossRecovery::Vegas(vegas) => vegas.on_duplicate(connection, now, out),
            LossRecovery::Tahoe(tahoe) => tahoe.on_duplicate(connection, now, out),
        }
    }

    /// The timer has gone off and the controller has not been asked yet: whatever was being repaired is given up.
    pub fn on_timeout(&mut self, connection: &mut Connection, now: Instant) {
        match self {
            LossRecovery::Tahoe(tahoe) => tahoe.guard.raise(connection),
            LossRecovery::Reno(reno) => reno.on_timeout(connection),
            LossRecovery::Newreno(newreno) => newreno.on_timeout(connection),
            LossRecovery::Sack(sack) => sack.on_timeout(connection),
            LossRecovery::Rack(rack) => rack.on_timeout(connection, now),
            LossRecovery::Vegas(vegas) => vegas.on_timeout(connection, now),
        }
        connection.set_inflation(0);
    }

    /// The controller took that timeout for a random loss: only the first segment is sent again, and the window stays.
    pub fn on_random_timeout(&mut self, connection: &mut Connection) {
        match self {
            LossRecovery::Newreno(newreno) => newreno.on_random_timeout(),
            LossRecovery::Sack(sack) => sack.on_random_timeout(),
            LossRecovery::Rack(rack) => rack.on_random_timeout(connection),
            LossRecovery::Vegas(vegas) => vegas.on_random_timeout(),
            LossRecovery::Tahoe(_) | LossRecovery::Reno(_) => {}
        }
    }

    /// Whether what is to be sent again has been marked, so that sending never goes back in order.
    pub fn goes_by_marks(&self) -> bool {
        matches!(self, LossRecovery::Rack(_))
    }

    /// An acknowledgement of what was acknowledged before came while nothing was in flight.
    pub fn on_idle_ack(&mut self, next: u32, blocks: &[SackBlock; 3]) {
        if let LossRecovery::Rack(rack) = self {
            rack.on_idle_ack(next, blocks);
        }
    }

    /// The time that the recovery named has come.
    pub fn on_wake(&mut self, connection: &mut Connection, now: Instant, out: &mut Output) {
        if let LossRecovery::Rack(rack) = self {
            rack.on_wake(connection, now, out);
        }
    }

    /// Sends what may be sent, or arranges to do so after the random delay that is configured.
    #[inline]
    pub fn send(&mut self, connection: &mut Connection, now: Instant, out: &mut Output) {
        match self {
            LossRecovery::Sack(sack) => sack.send(connection, now, out),
            LossRecovery::Rack(rack) => rack.send(connection, now, out),
            _ => connection.send(now, u32::MAX, out),
        }
    }

    /// As [`Self::send`], without delay.
    #[inline]
    pub fn send_now(&mut self, connection: &mut Connection, now: Instant, out: &mut Output) {
        match self {
            LossRecovery::Sack(sack) => sack.send_now(connection, now, out),
            LossRecovery::Rack(rack) => rack.send_now(connection, now, out),
            _ => connection.send_now(now, u32::MAX, out),
        }
    }
}

/// Keeps a second fast retransmit from what was in flight at the first: such duplicates may come from segments that were
/// sent again without need.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FastRetransmitGuard {
    /// One past the highest segment sent when the last loss was found; 0 if there is none to guard against.
    recover: u32,
}

impl FastRetransmitGuard {
    /// A loss has been found.
    pub fn raise(&mut self, connection: &Connection) {
        self.recover = connection.max();
    }

    /// There is nothing more to guard against.
    pub fn lower(&mut self) {
        self.recover = 0;
    }

    /// One past the highest segment sent when the last loss was found.
    pub fn recover(&self) -> u32 {
        self.recover
    }

    /// RFC 6582 §3.2 step 2, the careful variant: the acknowledgement covers more than `recover`. The loss of the first
    /// segment of data is always repaired (ns-2.35's `bugfix_ss_`).
    pub fn is_passed(&self, connection: &Connection) -> bool {
        connection.una() > self.recover || connection.una() == 1
    }

    /// As [`Self::is_passed`] where that is configured; if not, only at `recover` itself, where a timeout's retransmissions
    /// of what had arrived draw their duplicates.
    pub fn allows(&self, connection: &Connection) -> bool {
        self.is_passed(connection) || (!connection.parameters().careful && connection.una() != self.recover)
    }
}
