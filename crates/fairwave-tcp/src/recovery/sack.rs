//! SACK: the receiver reports its held segments, so the sender retransmits only missing ones.
//!
//! Source: RFC 2018 for the reports; RFC 6675. There are two sets of rules. [`PipeRule::Rfc6675`] is RFC 6675 as
//! written. Recovery begins with the third duplicate or as soon as IsLost(HighACK + 1). The pipe is counted from
//! the scoreboard (§4, SetPipe). NextSeg has its four rules, and the scoreboard persists across acknowledgements.
//! [`PipeRule::Counted`] follows ns-2.35. A counter starts at the segments in flight less three. It falls by one
//! with each acknowledgement and by one more with each partial one, and rises with each segment sent. Every hole
//! below the highest segment held is retransmitted. Outside recovery the scoreboard is emptied. In both, the end
//! of recovery clears the recovery point: a loss of the next segment is detected like any other.
//!
//! **Deviations from RFC 6675.** Segments are counted, not bytes ([`super::scoreboard`]). A timeout empties the
//! scoreboard (RFC 2018 §8; RFC 6675 §5.1 leaves that open). Then no recovery begins until all data sent before is
//! acknowledged, even if no recovery was in progress. (RFC 6675 §5.1 requires this only if one was.) After a
//! timeout, slow start skips segments that are reported as held (RFC 6675 §5.1 leaves the choice open). Limited
//! transmit (RFC 6675 §5 step 3) can be disabled. With `prr`, `prr.rs` instead of window and pipe limits
//! transmissions in a recovery (RFC 9937).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::connection::Connection;
use super::super::control::Verdict;
use super::prr::Prr;
use super::scoreboard::Scoreboard;
use fairwave_endpoint::Output;
use fairwave_network::packet::SackBlock;
use fairwave_units::units::Instant;

/// The rule that counts the segments in flight.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PipeRule {
    /// From the scoreboard, as RFC 6675 does; all other rules are those of RFC 6675 too.
    Rfc6675,
    /// With a counter; all other rules are those of ns-2.35.
    Counted,
}

/// Phase of recovery.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Phase {
    #[default]
    Open,
    /// Until everything before `recover` is acknowledged.
    Recovering,
    /// The timer has expired, and no new data has been acknowledged since.
    TimedOut,
}

#[derive(Debug, Default)]
pub(in super::super) struct Sack {
    phase: Phase,
    board: Scoreboard,
    /// RecoveryPoint + 1, and after a timeout one past the highest segment sent; 0 if there is none.
    recover: u32,
    /// RescueRxt + 1.
    rescued_below: u32,
    /// ns-2.35's pipe.
    pipe: u32,
    /// Proportional rate reduction, if enabled.
    prr: Option<Prr>,
}

impl Sack {
    pub(super) fn on_ack(
        &mut self,
        connection: &mut Connection,
        now: Instant,
        next: u32,
        blocks: &[SackBlock; 3],
        out: &mut Output,
    ) {
        match connection.parameters().pipe {
            PipeRule::Rfc6675 => self.on_ack_rfc6675(connection, now, next, blocks, out),
            PipeRule::Counted => self.on_ack_counted(connection, now, next, blocks, out),
        }
    }

    pub(super) fn on_timeout(&mut self, connection: &Connection) {
        self.phase = Phase::TimedOut;
        self.prr = None;
        self.recover = connection.max();
        self.board.clear(connection.una());
    }

    pub(super) fn on_random_timeout(&mut self) {
        self.phase = Phase::Open;
    }

    pub(super) fn send(&mut self, connection: &mut Connection, now: Instant, out: &mut Output) {
        if self.phase == Phase::Recovering && connection.is_jittered() {
            connection.postpone(now);
        } else if connection.is_jittered() {
            connection.send(now, u32::MAX, out);
        } else {
            self.send_now(connection, now, out);
        }
    }

    pub(super) fn send_now(&mut self, connection: &mut Connection, now: Instant, out: &mut Output) {
        match (self.phase, connection.parameters().pipe) {
            (Phase::Recovering, PipeRule::Rfc6675) => self.send_by_next_seg(connection, now, out),
            (Phase::Recovering, PipeRule::Counted) => self.send_counted(connection, now, out),
            (_, PipeRule::Rfc6675) if connection.next() < connection.max() => {
                self.send_what_is_missing(connection, now, out)
            }
            _ => connection.send_now(now, u32::MAX, out),
        }
    }

    /// Begins a recovery: retransmits the first unacknowledged segment (RFC 6675 §5 step 4). The acknowledgement
    /// that triggers it delivers `delivered` segments.
    fn enter(&mut self, connection: &mut Connection, now: Instant, delivered: u32, out: &mut Output) {
        self.phase = Phase::Recovering;
        self.recover = connection.max();
        // If the controller classifies the loss as random, the window stays, and the pipe has more room.
        let verdict = connection.ask_on_loss(now, 1);
        let una = connection.una();
        if connection.parameters().prr && verdict == Verdict::Congestion {
            let flight = connection.max() - una - self.board.held() + delivered;
            let mut prr = Prr::new((connection.window().congestion as u32).max(1), flight);
            prr.on_ack(
                delivered,
                self.board.pipe(connection.max(), connection.parameters().duplicate_threshold),
                false,
            );
            prr.on_sent();
            self.prr = Some(prr);
        }
        connection.retransmit_first(now, out);
        // At the start of a recovery no segment above has been retransmitted in it.
        self.board.forget_resent(una);
        self.board.mark_resent(una);
        // Step 4.3: RescueRxt is set, too, to prevent a premature rescue.
        self.rescued_below = una + 1;
    }

    fn on_ack_rfc6675(
        &mut self,
        connection: &mut Connection,
        now: Instant,
        next: u32,
        blocks: &[SackBlock; 3],
        out: &mut Output,
    ) {
        let (max, threshold) = (connection.max(), connection.parameters().duplicate_threshold);
        let known = connection.una() + self.board.held();
        let lost_below = if self.prr.is_some() { self.board.lost_below(threshold) } else { 0 };
        let news = if connection.is_sampled() {
            self.board.update_telling(next, max, blocks, |first, end| connection.hold(now, first, end))
        } else {
            self.board.update(next, max, blocks)
        };
        let delivered = (next + self.board.held()).saturating_sub(known);
        let new_data = next > connection.una();
        if self.phase == Phase::Recovering && next < self.recover {
            if new_data {
                connection.move_partially(now, next);
                connection.forget_backoff();
                connection.restart_timer(now);
                connection.note_ack();
            }
            self.take_sample(connection);
            if let Some(prr) = &mut self.prr {
                let is_safe = new_data && self.board.lost_below(threshold) <= lost_below.max(next);
                prr.on_ack(delivered, self.board.pipe(max, threshold), is_safe);
            }
            self.send(connection, now, out);
            return;
        }
        if new_data {
            let recovered = self.phase == Phase::Recovering;
            self.phase = Phase::Open;
            self.prr = None;
            connection.advance(now, next);
            if recovered {
                connection.recovered();
                // Step A. The scoreboard keeps the held segments above.
                connection.note_ack();
            } else {
                connection.open_window();
            }
        }
        self.take_sample(connection);
        // RFC 6675 §2: an acknowledgement with new selective information is a duplicate, even if it acknowledges
        // new data.
        if !news || next < self.recover || connection.una() == connection.max() {
            if new_data {
                self.send(connection, now, out);
            }
            return;
        }
        connection.count_duplicate();
        if connection.duplicates() >= threshold || self.board.is_first_lost(threshold) {
            self.enter(connection, now, delivered, out);
            self.send(connection, now, out);
        } else if connection.parameters().limited_transmit {
            self.send_new_by_pipe(connection, now, out);
        } else if new_data {
            self.send(connection, now, out);
        }
    }

    /// Takes a sample of the delivery rate after an acknowledgement is processed.
    fn take_sample(&self, connection: &mut Connection) {
        if connection.is_sampled() {
            connection.set_pipe(self.board.pipe(connection.max(), connection.parameters().duplicate_threshold));
            connection.sample();
        }
    }

    /// Limited transmit by the pipe (RFC 6675 §5 step 3).
    fn send_new_by_pipe(&mut self, connection: &mut Connection, now: Instant, out: &mut Output) {
        self.board.forget_resent(connection.una());
        let threshold = connection.parameters().duplicate_threshold;
        let window = connection.window().congestion as u32;
        let end = connection.new_data_end();
        let pipe = self.board.pipe(connection.max(), threshold);
        // After a timeout, slow start determines the retransmission of earlier data.
        if connection.next() == connection.max() {
            for _ in pipe..window {
                if connection.next() >= end || !connection.may_leave(now) {
                    return;
                }
                connection.send_next(now, out);
            }
        }
    }

    /// RFC 6675 §5 step C: NextSeg and SetPipe until the window is full.
    fn send_by_next_seg(&mut self, connection: &mut Connection, now: Instant, out: &mut Output) {
        let threshold = connection.parameters().duplicate_threshold;
        let window = connection.window().congestion as u32;
        let mut pipe = self.board.pipe(connection.max(), threshold);
        while self.prr.as_ref().map_or(pipe < window, |prr| prr.allowance() > 0) && connection.may_leave(now) {
            let Some(segment) = self.next_seg(connection, threshold) else { return };
            if segment == connection.next() {
                connection.go_on_from(connection.next() + 1);
            }
            connection.transmit(now, segment, out);
            pipe += 1;
            if let Some(prr) = &mut self.prr {
                prr.on_sent();
            }
        }
    }

    /// NextSeg (RFC 6675 §4). Marks the segment as retransmitted, if its rule requires this.
    fn next_seg(&mut self, connection: &Connection, threshold: u32) -> Option<u32> {
        // Rule 1: the lowest lost segment that has not been retransmitted.
        if let Some(lost) = self.board.next_hole(self.board.lost_below(threshold)) {
            self.board.mark_resent(lost);
            return Some(lost);
        }
        // Rule 2: new data.
        if connection.next() < connection.new_data_end() {
            return Some(connection.next());
        }
        // Rule 3: a missing segment that is not known to be lost, if there is nothing else.
        if let Some(missing) = self.board.next_hole(self.board.top()) {
            self.board.mark_resent(missing);
            return Some(missing);
        }
        // Rule 4: the highest outstanding segment once per recovery, since no segment above can report its loss.
        // HighRxt stays.
        if connection.una() > self.rescued_below {
            self.rescued_below = self.recover;
            return Some(self.board.highest_outstanding(connection.max()));
        }
        None
    }

    /// After a timeout: retransmits the segments sent before, except those reported as held since.
    fn send_what_is_missing(&mut self, connection: &mut Connection, now: Instant, out: &mut Output) {
        while connection.next() < connection.max() {
            connection.go_on_from(self.board.next_absent(connection.next()).min(connection.max()));
            let sent = connection.sent();
            if connection.next() < connection.max() {
                connection.send_now(now, 1, out);
                if connection.sent() == sent {
                    return;
                }
            }
        }
        connection.send_now(now, u32::MAX, out);
    }

    fn on_ack_counted(
        &mut self,
        connection: &mut Connection,
        now: Instant,
        next: u32,
        blocks: &[SackBlock; 3],
        out: &mut Output,
    ) {
        if self.phase == Phase::Recovering {
            self.recover_counted(connection, now, next, blocks, out);
        } else if next > connection.una() {
            self.phase = Phase::Open;
            self.board.clear(next);
            connection.advance(now, next);
            connection.open_window();
            connection.send(now, u32::MAX, out);
        } else {
            self.count_duplicate(connection, now, blocks, out);
        }
    }

    fn count_duplicate(
        &mut self,
        connection: &mut Connection,
        now: Instant,
        blocks: &[SackBlock; 3],
        out: &mut Output,
    ) {
        if self.phase == Phase::TimedOut || !self.board.update(connection.una(), connection.max(), blocks) {
            return;
        }
        connection.count_duplicate();
        let threshold = connection.parameters().duplicate_threshold;
        if connection.duplicates() < threshold {
            connection.limited_transmit(now, out);
        } else if connection.duplicates() == threshold && (connection.una() > self.recover || connection.una() == 1) {
            self.pipe = (connection.max() - connection.una()).saturating_sub(threshold);
            self.enter(connection, now, 0, out);
        }
    }

    fn recover_counted(
        &mut self,
        connection: &mut Connection,
        now: Instant,
        next: u32,
        blocks: &[SackBlock; 3],
        out: &mut Output,
    ) {
        self.pipe = self.pipe.saturating_sub(1);
        if next >= self.recover {
            self.phase = Phase::Open;
            self.recover = 0;
            self.board.clear(next);
            connection.advance(now, next);
            connection.recovered();
            connection.note_ack();
        } else {
            if next > connection.una() {
                connection.move_partially(now, next);
                self.pipe = self.pipe.saturating_sub(1);
                connection.forget_backoff();
                connection.restart_timer(now);
                connection.note_ack();
            }
            self.board.update(next, connection.max(), blocks);
        }
        self.send(connection, now, out);
    }

    fn send_counted(&mut self, connection: &mut Connection, now: Instant, out: &mut Output) {
        let window = connection.window().congestion as u32;
        while self.pipe < window && connection.may_leave(now) {
            if let Some(hole) = self.board.next_hole(self.board.top()) {
                self.board.mark_resent(hole);
                connection.transmit(now, hole, out);
            } else if connection.next() < connection.new_data_end() {
                connection.send_next(now, out);
            } else {
                return;
            }
            self.pipe += 1;
        }
    }
}
