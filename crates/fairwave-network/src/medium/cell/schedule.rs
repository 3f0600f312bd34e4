//! The scheduler: selects the users and their resource blocks in one interval.

use super::config::CellScheduler;
use super::{Cell, Event, tables};
use crate::medium::interface::MediumOutcomes;
use fairwave_units::units::{Instant, Span};

/// Downlink share of the symbols of a special slot †.
pub(super) const SPECIAL: f64 = 10.0 / 14.0;

/// Smallest useful size of a block, bytes; below it, headers dominate.
const LEAST: u32 = 16;

/// One user's claim on an interval.
struct Claim {
    member: usize,
    cqi: u8,
    /// Bits per resource block.
    bits: f64,
    /// Resource blocks for the whole backlog, in whole groups.
    need: u32,
    /// Resource blocks for the smallest useful block.
    least: u32,
    /// Priority: the highest value goes first.
    metric: f64,
}

impl Cell {
    /// Schedules interval `tick` in both directions, and sets the next interval with work.
    pub(super) fn schedule(&mut self, tick: u64, outcomes: &mut MediumOutcomes) {
        self.scheduled = u64::MAX;
        for uplink in [false, true] {
            let direction = usize::from(uplink);
            let symbols = self.symbols(tick, uplink);
            let mut next = u64::MAX;
            if symbols > 0.0 {
                let left = self.repeat(tick, uplink);
                next = self.share(tick, uplink, (left, symbols), outcomes);
            } else if !self.wanting[direction].is_empty() {
                next = tick + 1;
            }
            if !self.repeats[direction].is_empty() {
                next = tick + 1;
            }
            self.scheduled = self.scheduled.min(next);
        }
    }

    /// Share of the interval's symbols for the direction.
    fn symbols(&self, tick: u64, uplink: bool) -> f64 {
        if self.pattern.is_empty() {
            return 1.0;
        }
        match self.pattern[(tick % self.pattern.len() as u64) as usize] {
            b'D' if !uplink => 1.0,
            b'S' if !uplink => SPECIAL,
            b'U' if uplink => 1.0,
            _ => 0.0,
        }
    }

    /// Transmits the blocks that are due for retransmission. Returns the remaining resource blocks.
    fn repeat(&mut self, tick: u64, uplink: bool) -> u32 {
        let mut left = self.config.resource_blocks;
        for _ in 0..self.repeats[usize::from(uplink)].len() {
            let Some((member, number, epoch)) = self.repeats[usize::from(uplink)].pop_front() else { break };
            if self.bearers[member].epoch != epoch {
                continue;
            }
            let Some(size) = self.bearers[member].block(number).map(|block| block.size) else { continue };
            if size > left || self.bearers[member].busy == tick {
                self.repeats[usize::from(uplink)].push_back((member, number, epoch));
                continue;
            }
            left -= size;
            self.transmit(tick, member, number);
        }
        left
    }

    /// Transmits a block once. The outcome is drawn now and takes effect when the receiver has decoded the block.
    fn transmit(&mut self, tick: u64, member: usize, number: u64) {
        let now = self.instant(tick);
        let (harq, whole) = (self.config.harq, u64::from(self.config.resource_blocks));
        let bearer = &mut self.bearers[member];
        bearer.busy = tick;
        let (epoch, ratio) = (bearer.epoch, bearer.channel.ratio(now));
        let Some(block) = bearer.block(number) else { return };
        block.energy += ratio.unwrap_or(0.0);
        let (attempt, cqi, energy, size) = (block.attempt, block.cqi, block.energy, block.size);
        block.attempt += 1;
        let failure = bearer.channel.failure(&harq, cqi, attempt, energy);
        let fails = self.stream.chance(failure);
        bearer.counters.transmissions += 1;
        bearer.counters.failed += u64::from(fails);
        bearer.counters.airtime += self.interval * u64::from(size) / whole;
        let (reordering, user) = (bearer.rlc.reordering, bearer.user);
        let decoded = tick + 1 + self.processing;
        if let Some(sleep) = self.sleep {
            // The receiver of a block that fails stays awake for its retransmission.
            let user = &mut self.users[user];
            user.awake_until =
                user.awake_until.max(tick + sleep.inactivity + u64::from(fails) * u64::from(harq.round_trip));
        }
        let member = member as u32;
        if !fails {
            self.foresee(decoded, Event::Received { member, number, epoch });
        } else if attempt < harq.retransmissions {
            self.foresee(tick + u64::from(harq.round_trip), Event::Repeat { member, number, epoch });
        } else {
            let waits = super::intervals(reordering, self.interval);
            self.foresee(decoded + waits, Event::Failed { member, number, epoch });
        }
    }

    /// The first interval, from `tick` on, in which a bearer may transmit.
    fn ready(&mut self, tick: u64, member: usize) -> u64 {
        let now = self.instant(tick);
        let bearer = &mut self.bearers[member];
        let user = &self.users[bearer.user];
        if user.away_until > tick {
            return user.away_until;
        }
        if bearer.channel.cqi(now) == 0 {
            let changes = bearer.channel.changes(now);
            return match changes {
                Instant::NEVER => u64::MAX,
                at => at.nanos().div_ceil(self.interval).max(tick + 1),
            };
        }
        let held = bearer.queue.held_until();
        if !bearer.has_work(now) && bearer.queue.packets() > 0 && held > now {
            return held.nanos().div_ceil(self.interval).max(tick + 1);
        }
        match self.sleep {
            Some(sleep) if !bearer.uplink && tick > user.awake_until => {
                let place = (tick + user.phase) % sleep.cycle;
                if place < sleep.on { tick } else { tick + sleep.cycle - place }
            }
            _ => tick,
        }
    }

    /// Distributes the remaining resource blocks among bearers with data. Returns the next interval with work.
    fn share(
        &mut self,
        tick: u64,
        uplink: bool,
        (mut left, symbols): (u32, f64),
        outcomes: &mut MediumOutcomes,
    ) -> u64 {
        let direction = usize::from(uplink);
        let per_element = self.config.elements_per_block(uplink) * symbols;
        let group = tables::group(self.config.resource_blocks);
        let mut next = u64::MAX;
        let mut claims: Vec<Claim> = Vec::new();
        let mut listed = std::mem::take(&mut self.wanting[direction]);
        listed.retain(|member| {
            let member = *member;
            let wanted = self.bearers[member].backlog();
            let wanted = if uplink { self.bearers[member].known.min(wanted) } else { wanted };
            if wanted == 0 {
                let bearer = &mut self.bearers[member];
                (bearer.listed, bearer.known) = (false, 0);
                return false;
            }
            let ready = self.ready(tick, member);
            if ready > tick {
                next = next.min(ready);
                return true;
            }
            next = tick + 1;
            if self.bearers[member].busy == tick {
                return true;
            }
            let now = self.instant(tick);
            let cqi = self.bearers[member].channel.cqi(now);
            let bits = self.config.table.efficiency(cqi) * per_element;
            let need = (wanted as f64 * 8.0 / bits).ceil() as u32;
            let need = need.div_ceil(group).saturating_mul(group).min(self.config.resource_blocks);
            let metric = match self.config.scheduler {
                CellScheduler::RoundRobin => 0.0,
                CellScheduler::ProportionalFair => bits / self.average(tick, member).max(1e-9),
            };
            let least = (f64::from(LEAST) * 8.0 / bits).ceil() as u32;
            claims.push(Claim { member, cqi, bits, need, least, metric });
            true
        });
        self.wanting[direction] = listed;
        match self.config.scheduler {
            CellScheduler::ProportionalFair => {
                while left > 0 && !claims.is_empty() {
                    let best = (1..claims.len())
                        .fold(0, |best, place| if claims[place].metric > claims[best].metric { place } else { best });
                    let claim = claims.swap_remove(best);
                    left -= self.give(tick, &claim, claim.need.min(left), outcomes);
                }
            }
            CellScheduler::RoundRobin => {
                let count = claims.len();
                claims.sort_unstable_by_key(|claim| claim.member);
                let begin = claims.iter().position(|claim| claim.member >= self.turn[direction]).unwrap_or(0);
                for turn in 0..count {
                    let claim = &claims[(begin + turn) % count];
                    if left == 0 {
                        self.turn[direction] = claim.member;
                        break;
                    }
                    if turn == 0 {
                        self.turn[direction] = claim.member + 1;
                    }
                    let others = (count - turn) as u32;
                    let part = (left / others / group * group).max(group).max(claim.least);
                    left -= self.give(tick, claim, claim.need.min(part).min(left), outcomes);
                }
            }
        }
        next
    }

    /// Mean bits per interval of a bearer, updated to this interval.
    fn average(&mut self, tick: u64, member: usize) -> f64 {
        let window = (self.config.average.nanos() as f64 / self.interval as f64).max(1.0);
        let bearer = &mut self.bearers[member];
        match tick - bearer.averaged {
            0 => {}
            1 => bearer.average *= 1.0 - 1.0 / window,
            idle => bearer.average *= libm::exp(idle as f64 * libm::log1p(-1.0 / window.max(1.0 + 1e-9))),
        }
        bearer.averaged = tick;
        bearer.average
    }

    /// Transmits a new block of a bearer on at most `size` resource blocks. Returns the number used.
    fn give(&mut self, tick: u64, claim: &Claim, size: u32, outcomes: &mut MediumOutcomes) -> u32 {
        let (now, member) = (self.instant(tick), claim.member);
        let until = now + Span::from_nanos(self.interval);
        let room = (f64::from(size) * claim.bits / 8.0) as u64;
        let bearer = &mut self.bearers[member];
        let room = if bearer.uplink { room.min(bearer.known.max(u64::from(LEAST))) } else { room };
        let (number, used) = bearer.fill(now, until, member, (room, claim.cqi), outcomes);
        if used == 0 {
            // Not even a header fits, or the discipline has dropped all waiting packets.
            if bearer.uplink {
                bearer.known = 0;
            }
            if bearer.uplink && bearer.backlog() > 0 {
                self.asks(member, tick + 1);
            }
            return 0;
        }
        if let CellScheduler::ProportionalFair = self.config.scheduler {
            let window = (self.config.average.nanos() as f64 / self.interval as f64).max(1.0);
            self.average(tick, member);
            self.bearers[member].average += used as f64 * 8.0 / window;
        }
        let group = tables::group(self.config.resource_blocks);
        let size = ((used as f64 * 8.0 / claim.bits).ceil() as u32).div_ceil(group).saturating_mul(group).min(size);
        if let Some(number) = number {
            if let Some(block) = self.bearers[member].block(number) {
                block.size = size;
            }
            self.transmit(tick, member, number);
        } else {
            self.bearers[member].busy = tick;
        }
        let bearer = &mut self.bearers[member];
        if bearer.uplink {
            bearer.known = bearer.known.saturating_sub(used);
            let (waiting, sent, epoch) = (bearer.backlog(), bearer.sent, bearer.epoch);
            if waiting > 0 {
                bearer.reports += 1;
                let (tick, member) = (tick + 1 + self.grant, member as u32);
                self.foresee(tick, Event::Reported { member, epoch, waiting, sent });
            }
        }
        size
    }
}
