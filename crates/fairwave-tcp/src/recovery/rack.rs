//! RACK-TLP: a segment is lost when a later-sent one has been delivered and a short time has passed. Probes cover
//! the end of a flight.
//!
//! Source: RFC 8985: §6.2 for acknowledgements, §6.3 for the timeout, §7 for the probe ([`super::probe`]).
//! Selective acknowledgements follow RFC 2018. Segments are in flight if they are neither held nor marked as lost.
//! In recovery, the window or [`super::prr`] limits the data in flight.
//!
//! No operation scans the window. Segments sent once were sent in order, so the first unjudged one shows whether
//! any is due. Retransmitted segments are queued in order of retransmission. Each is judged once per transmission.
//!
//! **Deviations from RFC 8985.** The receiver does not report duplicates (no DSACK), so the reordering window does
//! not adapt. It is a quarter of the shortest round trip once reordering has been seen. Before that it is zero in
//! recovery or with three segments held (§6.2 step 4 with RACK.reo_wnd_mult = 1). The shortest round trip covers
//! the whole connection, without a time window. Simulations often send several segments at the same time. Of
//! these, the one that left later counts as sent later, not the one with the higher number. The reordering timer
//! is set for the first segment that is due, not for the last; the retransmission timer continues to run. Held
//! segments are kept over a timeout (receivers here never discard them). Segments are counted, not bytes. No
//! reduction is undone (no F-RTO, no Eifel).

use std::collections::VecDeque;

use super::super::connection::Connection;
use super::super::control::Verdict;
use super::super::ranges::Ranges;
use super::probe::{Probe, Timing};
use super::prr::Prr;
use fairwave_endpoint::Output;
use fairwave_network::packet::SackBlock;
use fairwave_units::units::{Instant, Span};

/// Phase of recovery.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Phase {
    #[default]
    Open,
    /// Fast recovery, until everything before `recover` is acknowledged.
    Recovering,
    /// Recovery from a timeout, until everything before `recover` is acknowledged.
    TimedOut,
}

/// A transmission: its time, and its serial number in the connection. Later ones are greater (RACK_sent_after).
type SentAt = (Instant, u32);

#[derive(Debug)]
pub(in super::super) struct Rack {
    phase: Phase,
    /// Held by the receiver beyond the acknowledged segments.
    held: Ranges,
    /// Marked as lost and not yet retransmitted.
    lost: Ranges,
    /// Every segment below this that was sent once has been judged: delivered or marked.
    judged_below: u32,
    /// Retransmissions in order: serial number and segment. An entry is valid while it is the segment's last
    /// transmission.
    resent: VecDeque<(u32, u32)>,
    recover: u32,
    /// RACK.xmit_ts and RACK.segment: the latest transmission known to be delivered.
    latest: Option<SentAt>,
    /// RACK.rtt.
    rtt: Span,
    /// RACK.fack: one past the highest segment delivered.
    front: u32,
    /// RACK.reordering_seen.
    reordered: bool,
    /// Time at which the first segment that is not yet due will be lost.
    due: Instant,
    /// The next retransmission does not wait for room.
    forced: bool,
    prr: Option<Prr>,
    probe: Probe,
    /// An event restarted the probe's waiting time.
    restarts_probe: bool,
}

impl Default for Rack {
    fn default() -> Self {
        Rack {
            phase: Phase::Open,
            held: Ranges::default(),
            lost: Ranges::default(),
            judged_below: 0,
            resent: VecDeque::new(),
            recover: 0,
            latest: None,
            rtt: Span::ZERO,
            front: 0,
            reordered: false,
            due: Instant::NEVER,
            forced: false,
            prr: None,
            probe: Probe::default(),
            restarts_probe: false,
        }
    }
}

impl Rack {
    /// Segments in flight.
    fn pipe(&self, connection: &Connection) -> u32 {
        connection.max() - connection.una() - self.held.count() - self.lost.count()
    }

    pub(super) fn on_ack(
        &mut self,
        connection: &mut Connection,
        now: Instant,
        next: u32,
        blocks: &[SackBlock; 3],
        out: &mut Output,
    ) {
        let covered = next - connection.una();
        let held = self.held.count();
        let held_now = self.take_in(connection, now, next, blocks);
        let delivered = covered - (held + held_now - self.held.count()) + held_now;
        if covered > 0 {
            self.probe.measured();
        }
        let is_bare = delivered == 0 && covered == 0 && blocks.iter().all(|block| block.first >= block.end);
        if self.probe.on_ack(next, is_bare) {
            connection.ask_on_loss(now, 2);
        }
        if covered > 0 {
            self.move_on(connection, now, next);
        }
        let lost = self.judge(connection, now, false);
        connection.count_lost(lost);
        if lost > 0 && self.phase == Phase::Open {
            self.enter(connection, now, delivered);
        }
        if connection.is_sampled() {
            connection.set_pipe(self.pipe(connection));
            connection.sample();
        }
        let pipe = self.pipe(connection);
        if let Some(prr) = &mut self.prr {
            prr.on_ack(delivered, pipe, covered > 0 && lost == 0);
        }
        self.send(connection, now, out);
    }

    /// §6.2 steps 2 and 3: processes the delivered segments, finds the latest-sent one, and detects reordering.
    /// Returns the number of segments newly held.
    fn take_in(&mut self, connection: &mut Connection, now: Instant, next: u32, blocks: &[SackBlock; 3]) -> u32 {
        let mut newest = None;
        for (first, end) in self.held.gaps(connection.una(), next) {
            for segment in first..end {
                note_delivery(segment, connection, now, &mut self.front, &mut self.reordered, &mut newest);
            }
        }
        self.held.remove_before(next);
        self.lost.remove_before(next);
        let held = self.held.count();
        // In ascending order, so that only real reordering is detected.
        let mut blocks = *blocks;
        blocks.sort_unstable_by_key(|block| block.first);
        for block in blocks {
            let (first, end) = (block.first.max(next), block.end.min(connection.max()));
            if first >= end {
                continue;
            }
            for (first, end) in self.held.gaps(first, end) {
                for segment in first..end {
                    note_delivery(segment, connection, now, &mut self.front, &mut self.reordered, &mut newest);
                }
                connection.hold(now, first, end);
                self.lost.remove(first, end);
            }
            self.held.insert(first, end);
        }
        if let Some(sent_at) = newest {
            self.rtt = now.span_since(sent_at.0);
            self.latest = self.latest.max(Some(sent_at));
        }
        self.held.count() - held
    }

    /// Handles newly acknowledged data.
    fn move_on(&mut self, connection: &mut Connection, now: Instant, next: u32) {
        self.restarts_probe = true;
        let was = self.phase;
        if was == Phase::Recovering && next < self.recover {
            connection.move_partially(now, next);
            connection.forget_backoff();
            connection.restart_timer(now);
            connection.note_ack();
            return;
        }
        connection.advance(now, next);
        if was != Phase::Open && next >= self.recover {
            self.phase = Phase::Open;
            self.prr = None;
            connection.recovered();
        }
        if was == Phase::Recovering {
            connection.note_ack();
        } else {
            connection.open_window();
        }
    }

    /// §6.2 step 4.
    fn reordering_window(&self, connection: &Connection) -> Span {
        let many = self.held.count() >= connection.parameters().duplicate_threshold;
        if !self.reordered && (self.phase != Phase::Open || many) {
            return Span::ZERO;
        }
        let smoothed = connection.smoothed_rtt();
        let shortest = connection.path().min_rtt.min(self.rtt);
        let quarter = Span::from_nanos(shortest.nanos() / 4);
        // Before the first measurement no SRTT bounds it.
        if smoothed > Span::ZERO { quarter.min(smoothed) } else { quarter }
    }

    /// §6.2 step 5: marks segments lost by now, and sets the time for the next. Returns the number of marked
    /// segments. `expired` (§6.3): also marks segments sent after all segments known to be delivered.
    fn judge(&mut self, connection: &Connection, now: Instant, expired: bool) -> u32 {
        self.due = Instant::NEVER;
        let Some(latest) = self.latest.or(expired.then_some((now, 0))) else { return 0 };
        let patience = self.rtt + self.reordering_window(connection);
        let mut marked = 0;
        self.judged_below = self.judged_below.max(connection.una());
        loop {
            let segment = self.held.next_absent(self.judged_below);
            self.judged_below = segment.min(connection.max());
            if segment >= connection.max() {
                break;
            }
            let sending = connection.sending(segment);
            // A segment retransmitted by a probe is in the queue of retransmissions.
            if sending.times == 1 {
                if !expired && (sending.at, sending.order) >= latest {
                    break;
                }
                if sending.at + patience > now {
                    self.due = sending.at + patience;
                    break;
                }
                self.lost.insert(segment, segment + 1);
                marked += 1;
            }
            self.judged_below = segment + 1;
        }
        while let Some(&(order, segment)) = self.resent.front() {
            let sending = connection.sending(segment);
            let is_last = segment >= connection.una() && sending.order == order;
            if is_last && !self.held.has(segment) && !self.lost.has(segment) {
                if !expired && (sending.at, order) >= latest {
                    break;
                }
                if sending.at + patience > now {
                    self.due = self.due.min(sending.at + patience);
                    break;
                }
                self.lost.insert(segment, segment + 1);
                marked += 1;
            }
            self.resent.pop_front();
        }
        marked
    }

    /// Begins fast recovery. The acknowledgement that triggers it delivers `delivered` segments.
    fn enter(&mut self, connection: &mut Connection, now: Instant, delivered: u32) {
        self.phase = Phase::Recovering;
        self.recover = connection.max();
        self.probe.reset();
        let flight = connection.max() - connection.una() - self.held.count() + delivered;
        let times = connection.sending(connection.una()).times.max(1);
        let verdict = connection.ask_on_loss(now, times);
        let target = (connection.window().congestion as u32).max(1);
        self.prr = (connection.parameters().prr && verdict == Verdict::Congestion).then(|| Prr::new(target, flight));
        connection.distrust_timing();
        connection.restart_timer(now);
        self.forced = true;
    }

    /// §6.3: the first segment is lost, and so is each other one that has been in flight for long enough.
    pub(super) fn on_timeout(&mut self, connection: &mut Connection, now: Instant) {
        self.phase = Phase::TimedOut;
        self.recover = connection.max();
        self.probe.reset();
        self.prr = None;
        let first = connection.una();
        let mut marked = u32::from(!self.lost.has(first));
        self.lost.insert(first, first + 1);
        self.judged_below = self.judged_below.max(first + 1);
        marked += self.judge(connection, now, true);
        connection.count_lost(marked);
        self.forced = true;
    }

    /// The controller classified the timeout as random: only the first segment is retransmitted.
    pub(super) fn on_random_timeout(&mut self, connection: &Connection) {
        self.phase = Phase::Open;
        self.forced = false;
        self.lost.remove(connection.una(), connection.una() + 1);
        // The retransmission is the connection's next transmission.
        self.resent.push_back((connection.sent().wrapping_add(1) as u32, connection.una()));
    }

    /// Handles the reordering timer, or a due probe.
    pub(super) fn on_wake(&mut self, connection: &mut Connection, now: Instant, out: &mut Output) {
        if now >= self.due {
            let lost = self.judge(connection, now, false);
            connection.count_lost(lost);
            if lost > 0 && self.phase == Phase::Open {
                self.enter(connection, now, 0);
            }
        }
        if now >= self.probe.due_at() {
            self.send_probe(connection, now, out);
        }
    }

    /// §7.3: sends new data if available, else retransmits the highest segment.
    fn send_probe(&mut self, connection: &mut Connection, now: Instant, out: &mut Output) {
        let is_new = connection.next() < connection.new_data_end();
        if is_new {
            connection.send_next(now, out);
        } else {
            self.resend(connection, now, connection.max() - 1, out);
        }
        self.probe.sent(connection.max(), !is_new);
        connection.restart_timer(now);
    }

    fn resend(&mut self, connection: &mut Connection, now: Instant, segment: u32, out: &mut Output) {
        self.lost.remove(segment, segment + 1);
        connection.transmit(now, segment, out);
        let sending = connection.sending(segment);
        if sending.at == now {
            self.resent.push_back((sending.order, segment));
        }
    }

    pub(super) fn send(&mut self, connection: &mut Connection, now: Instant, out: &mut Output) {
        if connection.is_jittered() {
            if self.lost.count() > 0 || self.may_send_new(connection) {
                connection.postpone(now);
            }
            self.set_timer(connection, now);
        } else {
            self.send_now(connection, now, out);
        }
    }

    pub(super) fn send_now(&mut self, connection: &mut Connection, now: Instant, out: &mut Output) {
        loop {
            let first_lost = self.lost.first().map(|range| range.first);
            if first_lost.is_none() && !self.may_send_new(connection) {
                break;
            }
            let forced = self.forced && first_lost.is_some();
            if !forced && (!self.has_room(connection) || !connection.may_leave(now)) {
                break;
            }
            self.forced = false;
            match first_lost {
                Some(segment) => self.resend(connection, now, segment, out),
                None => {
                    connection.send_next(now, out);
                    self.restarts_probe = true;
                }
            }
            if let Some(prr) = &mut self.prr {
                prr.on_sent();
            }
        }
        self.set_timer(connection, now);
    }

    fn has_room(&self, connection: &Connection) -> bool {
        match &self.prr {
            Some(prr) => prr.allowance() > 0,
            None => self.pipe(connection) < connection.window().congestion as u32,
        }
    }

    /// True if there is new data within the receiver's window. Without limited transmit, held segments allow no
    /// new data outside recovery.
    fn may_send_new(&self, connection: &Connection) -> bool {
        let mut end = connection.new_data_end();
        if !connection.parameters().limited_transmit && self.phase == Phase::Open {
            end = end.min(connection.una().saturating_add(connection.window().congestion as u32));
        }
        connection.next() < end
    }

    /// §8: sets the reordering timer while a segment waits to be judged, else the probe's timer.
    fn set_timer(&mut self, connection: &mut Connection, now: Instant) {
        let restarts = std::mem::take(&mut self.restarts_probe);
        let flight = connection.max() - connection.una();
        let is_quiet = self.phase == Phase::Open && self.held.count() == 0 && self.lost.count() == 0;
        // A SYN (segment 0) is not data.
        if !is_quiet || flight == 0 || connection.una() == 0 {
            self.probe.cancel();
        } else if restarts {
            let allowance = connection.parameters().probe.allowance(flight, connection.parameters());
            let smoothed = connection.smoothed_rtt();
            self.probe.schedule(now, Timing { smoothed, allowance, timeout_at: connection.retransmit_at() });
        }
        connection.wake_recovery(self.due.min(self.probe.due_at()));
    }

    /// Handles an acknowledgement while no segment is in flight. An unneeded probe may have caused it.
    pub(super) fn on_idle_ack(&mut self, next: u32, blocks: &[SackBlock; 3]) {
        self.probe.on_ack(next, blocks.iter().all(|block| block.first >= block.end));
    }
}

/// §6.2 steps 2 and 3 for one segment. `newest` is the latest transmission that this acknowledgement reports.
fn note_delivery(
    segment: u32,
    connection: &Connection,
    now: Instant,
    front: &mut u32,
    reordered: &mut bool,
    newest: &mut Option<SentAt>,
) {
    let sending = connection.sending(segment);
    let end = segment + 1;
    if end > *front {
        *front = end;
    } else if end < *front && sending.times == 1 {
        *reordered = true;
    }
    if sending.times > 1 {
        // The acknowledgement may be for an earlier transmission: its echo shows it, or it arrived too soon.
        let shortest = Some(connection.path().min_rtt).filter(|&rtt| rtt < Span::MAX).unwrap_or(Span::ZERO);
        if connection.echo() < sending.at || now.span_since(sending.at) < shortest {
            return;
        }
    }
    *newest = (*newest).max(Some((sending.at, sending.order)));
}
