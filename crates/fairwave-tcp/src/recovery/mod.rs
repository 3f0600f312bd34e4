//! Loss recovery: detection and repair of lost segments. A recovery holds the state of a loss; the `Connection`
//! holds the sent segments. The sender passes four events to a recovery (new data acknowledged, a duplicate, the
//! timer, room to send). The recovery then calls the connection's operations. Each file is one set of rules.

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
    /// Fast recovery until all data in flight at the loss is acknowledged (RFC 6582).
    Newreno,
    /// Selective acknowledgements (RFC 2018, 6675).
    Sack,
    /// Time-based loss detection (RACK) and tail loss probes (TLP), both with selective acknowledgements (RFC 8985).
    Rack,
    /// Reno's, with Vegas' early retransmit by fine-grained timers.
    Vegas,
}

/// The state of a recovery. Large states are boxed: most flows do not use them.
pub(super) enum LossRecovery {
    Tahoe(tahoe::Tahoe),
    Reno(reno::Reno),
    Newreno(newreno::Newreno),
    Sack(Box<sack::Sack>),
    Rack(Box<rack::Rack>),
    Vegas(Box<vegas::Vegas>),
}

impl LossRecovery {
    /// Creates a recovery without a loss.
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

    /// Handles an acknowledgement of everything before `next`, which is not below earlier acknowledgements.
    #[inline(always)] // on the path of every acknowledgement
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

    /// Handles a timeout before the controller's verdict: ends the current repair.
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

    /// Handles the controller's verdict that the timeout was random: only the first segment is retransmitted, and
    /// the window stays.
    pub fn on_random_timeout(&mut self, connection: &mut Connection) {
        match self {
            LossRecovery::Newreno(newreno) => newreno.on_random_timeout(),
            LossRecovery::Sack(sack) => sack.on_random_timeout(),
            LossRecovery::Rack(rack) => rack.on_random_timeout(connection),
            LossRecovery::Vegas(vegas) => vegas.on_random_timeout(),
            LossRecovery::Tahoe(_) | LossRecovery::Reno(_) => {}
        }
    }

    /// True if lost segments are marked, so that sending in order never goes back.
    pub fn goes_by_marks(&self) -> bool {
        matches!(self, LossRecovery::Rack(_))
    }

    /// Handles a repeated acknowledgement while no segment is in flight.
    pub fn on_idle_ack(&mut self, next: u32, blocks: &[SackBlock; 3]) {
        if let LossRecovery::Rack(rack) = self {
            rack.on_idle_ack(next, blocks);
        }
    }

    /// Handles the recovery's timer.
    pub fn on_wake(&mut self, connection: &mut Connection, now: Instant, out: &mut Output) {
        if let LossRecovery::Rack(rack) = self {
            rack.on_wake(connection, now, out);
        }
    }

    /// Sends all segments that may be sent, or schedules this after the configured random delay.
    #[inline]
    pub fn send(&mut self, connection: &mut Connection, now: Instant, out: &mut Output) {
        match self {
            LossRecovery::Sack(sack) => sack.send(connection, now, out),
            LossRecovery::Rack(rack) => rack.send(connection, now, out),
            _ => connection.send(now, u32::MAX, out),
        }
    }

    /// Like [`Self::send`], without delay.
    #[inline]
    pub fn send_now(&mut self, connection: &mut Connection, now: Instant, out: &mut Output) {
        match self {
            LossRecovery::Sack(sack) => sack.send_now(connection, now, out),
            LossRecovery::Rack(rack) => rack.send_now(connection, now, out),
            _ => connection.send_now(now, u32::MAX, out),
        }
    }
}

/// Prevents a second fast retransmit for the segments that were in flight at the first one. Their duplicates may
/// come from unnecessary retransmissions.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FastRetransmitGuard {
    /// One past the highest segment sent when the last loss was detected; 0 without a guard.
    recover: u32,
}

impl FastRetransmitGuard {
    /// Sets the guard after a loss.
    pub fn raise(&mut self, connection: &Connection) {
        self.recover = connection.max();
    }

    /// Removes the guard.
    pub fn lower(&mut self) {
        self.recover = 0;
    }

    /// One past the highest segment sent when the last loss was detected.
    pub fn recover(&self) -> u32 {
        self.recover
    }

    /// RFC 6582 §3.2 step 2, the careful variant: the acknowledgement covers more than `recover`. The loss of the first
    /// segment of data is always repaired (ns-2.35's `bugfix_ss_`).
    pub fn is_passed(&self, connection: &Connection) -> bool {
        connection.una() > self.recover || connection.una() == 1
    }

    /// With `careful`, like [`Self::is_passed`]. Otherwise false only at `recover` itself: retransmissions after a
    /// timeout cause duplicates of segments that had arrived.
    pub fn allows(&self, connection: &Connection) -> bool {
        self.is_passed(connection) || (!connection.parameters().careful && connection.una() != self.recover)
    }
}
