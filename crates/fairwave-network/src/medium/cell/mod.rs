//! A cell of LTE or 5G: the base station gives resource blocks to users, interval by interval, down and up.
//!
//! Each link direction between the base station and another node is one *bearer*: a queue, a channel, and RLC. Downlink
//! packets wait at the base station, uplink packets at the user. The link's `queue` is the RLC buffer and may use any
//! discipline.
//!
//! **An interval** (a TTI of 1 ms in LTE, a slot of 1 ms / 2ⁿ in 5G). Retransmissions of the MAC layer come first, with the
//! same number of resource blocks as before. The scheduler gives the remaining blocks to users with data, by the channel
//! quality indicators that they reported. The indicator's efficiency gives the size of a block (3GPP TS 36.213 §7.2.3,
//! `tables`).
//!
//! **HARQ.** A block that fails is sent again 8 intervals later, up to three times. **RLC.** A block that HARQ has abandoned
//! is sent again after the receiver's report (acknowledged mode), or is lost (unacknowledged mode). Packets leave in order,
//! so later packets wait for the block.
//!
//! **Uplink.** A user whose queue was empty waits for its next opportunity to send a scheduling request. A small first grant
//! follows. Each block then reports the remaining backlog; the base station uses the report from the earliest next grant on.
//!
//! **An idle cell has no events.** The simulation visits intervals only while a packet can be sent, or a block is on the
//! air.
//!
//! **Assumptions.** The channel is the same on all resource blocks (no frequency-selective scheduling). Cells do not
//! interfere. Feedback is always correct. If RLC sends a block again in several parts, the last part decides its outcome.
//! Queue disciplines that use a rate get the rate of the user alone in the cell. Times that a standard gives in ms are
//! rounded up to intervals.

mod bearer;
mod channel;
mod config;
mod schedule;
mod tables;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

pub use config::{
    CellConfig, CellScheduler, CellUserConfig, ChannelConfig, DrxConfig, HandoffBuffer, HandoffEvent, HarqConfig,
    RlcConfig, RlcMode, UplinkConfig,
};
pub use tables::CqiTable;

use bearer::Bearer;
use channel::{Channel, nominal_efficiency};

use super::MediumLaw;
use super::interface::{Medium, MediumOutcomes, Member, MemberCounters, drain_queue};
use crate::packet::Packet;
use crate::queue::{DropReason, LinkQueue};
use fairwave_units::config::ConfigError;
use fairwave_units::random::Stream;
use fairwave_units::units::{Bytes, Instant, Rate, Span};

/// Events at the beginning of an interval.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Event {
    /// The receiver has decoded a block.
    Received { member: u32, number: u64, epoch: u32 },
    /// A block is due for its next transmission.
    Repeat { member: u32, number: u64, epoch: u32 },
    /// HARQ has abandoned a block and informs RLC.
    Failed { member: u32, number: u64, epoch: u32 },
    /// A grant after a scheduling request takes effect.
    Granted { member: u32, epoch: u32 },
    /// A buffer status report takes effect: `waiting` bytes of backlog at the time when `sent` bytes had been sent.
    Reported { member: u32, epoch: u32, waiting: u64, sent: u64 },
    /// A user's handoff begins.
    Leaves { user: u32, handoff: u32 },
    /// A user's handoff ends.
    Returns { user: u32 },
    /// A user leaves permanently.
    Gone { user: u32 },
}

/// State of one user.
struct User {
    /// Its bearers: down and up.
    bearers: [Option<usize>; 2],
    handoffs: Vec<HandoffEvent>,
    /// No transmission before this interval.
    away_until: u64,
    gone: bool,
    /// Awake until this interval, if receivers sleep.
    awake_until: u64,
    /// Offset of its scheduling requests and of its sleep cycle, in intervals.
    phase: u64,
}

/// Sleep parameters, in intervals.
#[derive(Clone, Copy)]
struct Sleep {
    inactivity: u64,
    cycle: u64,
    on: u64,
}

/// State of the cell.
pub struct Cell {
    config: CellConfig,
    /// Length of an interval, nanoseconds.
    interval: u64,
    /// Slots of the time-division pattern; empty if both directions are always on.
    pattern: Vec<u8>,
    users: Vec<User>,
    bearers: Vec<Bearer>,
    /// By direction (0 down, 1 up): bearers with data to send, and blocks that are due for retransmission.
    wanting: [Vec<usize>; 2],
    repeats: [VecDeque<(usize, u64, u32)>; 2],
    /// Next turn among the bearers with data, by direction.
    turn: [usize; 2],
    events: BinaryHeap<Reverse<(u64, u64, Event)>>,
    /// Number of events so far. Events of one interval happen in the order in which they were scheduled.
    foreseen: u64,
    /// The next interval with work for the scheduler; `u64::MAX` if there is nothing to send.
    scheduled: u64,
    processing: u64,
    grant: u64,
    request: u64,
    sleep: Option<Sleep>,
    /// Whether a queue has a timer.
    timed: bool,
    stream: Stream,
}

/// Length of a span in intervals, rounded up.
const fn intervals(span: Span, interval: u64) -> u64 {
    span.nanos().div_ceil(interval)
}

impl CellConfig {
    fn interval(&self) -> u64 {
        1_000_000 >> self.numerology
    }

    /// The base station: as configured, or the one node that all members share.
    fn base(&self, members: &[Member]) -> Result<String, ConfigError> {
        let refuse = |value: String, allowed: &str| {
            Err(ConfigError::new("base-station", value, allowed, "base-station = \"r1\""))
        };
        if let Some(base) = &self.base_station {
            return match members.iter().find(|member| member.from != *base && member.to != *base) {
                Some(other) => {
                    refuse(base.clone(), &format!("an end of every link of the cell (`{}` has other ends)", other.name))
                }
                None => Ok(base.clone()),
            };
        }
        let Some(first) = members.first() else { return refuse("missing".to_owned(), "given: the cell has no links") };
        let shared = |node: &&String| members.iter().all(|member| member.from == **node || member.to == **node);
        let known = |node: &&String| !self.users.contains_key(*node);
        let candidates: Vec<&String> = [&first.from, &first.to].into_iter().filter(shared).filter(known).collect();
        match candidates.as_slice() {
            [base] => Ok((*base).clone()),
            [] => refuse("missing".to_owned(), "given: its links share no node"),
            _ => refuse("missing".to_owned(), "given: both ends of the only link could be it"),
        }
    }

    fn channel_of(&self, user: &str, uplink: bool) -> &ChannelConfig {
        let own = self.users.get(user);
        let down = own.and_then(|own| own.channel.as_ref()).unwrap_or(&self.channel);
        own.and_then(|own| own.uplink.as_ref()).filter(|_| uplink).unwrap_or(down)
    }

    /// A direction's share of the symbols of all intervals.
    fn share(&self, uplink: bool) -> f64 {
        let Some(pattern) = &self.pattern else { return 1.0 };
        let symbols = |slot: char| match slot {
            'D' if !uplink => 1.0,
            'S' if !uplink => schedule::SPECIAL,
            'U' if uplink => 1.0,
            _ => 0.0,
        };
        pattern.chars().map(symbols).sum::<f64>() / pattern.len() as f64
    }

    /// Resource elements per second of a direction, over all resource blocks and layers.
    fn elements(&self, uplink: bool) -> f64 {
        let layers = if uplink { 1.0 } else { f64::from(self.layers) };
        let per_interval = tables::elements(self.numerology, uplink) * f64::from(self.resource_blocks) * layers;
        per_interval * self.share(uplink) * 1e9 / self.interval() as f64
    }

    /// Resource elements per resource block and interval: the bits at an efficiency of 1.
    fn elements_per_block(&self, uplink: bool) -> f64 {
        tables::elements(self.numerology, uplink) * if uplink { 1.0 } else { f64::from(self.layers) }
    }
}

impl MediumLaw for CellConfig {
    type Medium = Cell;

    fn medium(&self, members: &[Member], streams: &dyn Fn(&str) -> Stream) -> Result<Cell, ConfigError> {
        let base = self.base(members)?;
        let interval = self.interval();
        let mut names: BTreeMap<&str, usize> = BTreeMap::new();
        let mut users: Vec<User> = Vec::new();
        let mut bearers = Vec::new();
        for (place, member) in members.iter().enumerate() {
            let uplink = member.to == base;
            let name = if uplink { member.from.as_str() } else { member.to.as_str() };
            let own = self.users.get(name);
            let user = *names.entry(name).or_insert(users.len());
            if user == users.len() {
                users.push(User {
                    bearers: [None, None],
                    handoffs: own.map_or(Vec::new(), |own| own.handoffs.clone()),
                    away_until: 0,
                    gone: false,
                    awake_until: 0,
                    phase: streams(&format!("{name}.phase")).uniform_below(1 << 32),
                });
            }
            if users[user].bearers[usize::from(uplink)].replace(place).is_some() {
                let allowed = format!("at most one link from `{base}` to `{name}`");
                return Err(ConfigError::new(
                    "links",
                    format!("two of `{}`", member.name),
                    allowed,
                    "users with a link each",
                ));
            }
            let stream = |what: &str| streams(&format!("{}.{what}", member.name));
            let channel = Channel::new(self.channel_of(name, uplink), self.table, stream("channel"));
            let queue = LinkQueue::new(&member.queue, None, None, self.nominal(member), stream);
            let rlc = own.and_then(|own| own.rlc).unwrap_or(self.rlc);
            bearers.push(Bearer::new(user, uplink, queue, channel, rlc));
        }
        if let Some(unknown) = self.users.keys().find(|name| !names.contains_key(name.as_str())) {
            let known = names.keys().copied().collect::<Vec<_>>().join(", ");
            let example =
                format!("users = {{ {} = {{ channel = {{ cqi = 5 }} }} }}", names.keys().next().unwrap_or(&"phone"));
            return Err(ConfigError::new("users", unknown, format!("the names of its users ({known})"), example));
        }
        let mut cell = Cell {
            interval,
            pattern: self.pattern.clone().unwrap_or_default().into_bytes(),
            timed: bearers.iter().any(|bearer| bearer.queue.deadline() < Instant::NEVER),
            users,
            bearers,
            wanting: [Vec::new(), Vec::new()],
            repeats: [VecDeque::new(), VecDeque::new()],
            turn: [0, 0],
            events: BinaryHeap::new(),
            foreseen: 0,
            scheduled: u64::MAX,
            processing: intervals(self.processing, interval),
            grant: intervals(self.uplink.grant, interval),
            request: intervals(self.uplink.request, interval),
            sleep: self.drx.map(|drx| Sleep {
                inactivity: intervals(drx.inactivity, interval),
                cycle: intervals(drx.cycle, interval).max(1),
                on: intervals(drx.on, interval),
            }),
            stream: streams("harq"),
            config: self.clone(),
        };
        for (name, user) in names {
            let own = self.users.get(name);
            for (place, handoff) in own.map_or(&[][..], |own| &own.handoffs).iter().enumerate() {
                let event = Event::Leaves { user: user as u32, handoff: place as u32 };
                cell.foresee(intervals(handoff.at, interval), event);
            }
            if let Some(leaves) = own.and_then(|own| own.leaves) {
                cell.foresee(intervals(leaves, interval), Event::Gone { user: user as u32 });
            }
        }
        Ok(cell)
    }

    fn nominal(&self, member: &Member) -> Rate {
        // One member does not identify the base station if the key is left out. Then a node with a table under `users` is a
        // user.
        let uplink = match &self.base_station {
            Some(base) => member.to == *base,
            None => self.users.contains_key(&member.from),
        };
        let user = if uplink { &member.from } else { &member.to };
        let efficiency = nominal_efficiency(self.channel_of(user, uplink), self.table);
        Rate::from_bits_per_second(((efficiency * self.elements(uplink)) as u64).max(1))
    }
}

impl Cell {
    fn instant(&self, tick: u64) -> Instant {
        match tick {
            u64::MAX => Instant::NEVER,
            tick => Instant::from_nanos(tick.saturating_mul(self.interval)),
        }
    }

    /// The first interval that begins after `now`.
    fn next_interval(&self, now: Instant) -> u64 {
        now.nanos() / self.interval + 1
    }

    fn foresee(&mut self, tick: u64, event: Event) {
        self.foreseen += 1;
        self.events.push(Reverse((tick, self.foreseen, event)));
    }

    /// Registers that a bearer has data to send from `tick` on.
    fn wants(&mut self, member: usize, tick: u64) {
        let bearer = &mut self.bearers[member];
        if !bearer.listed {
            bearer.listed = true;
            self.wanting[usize::from(bearer.uplink)].push(member);
        }
        self.scheduled = self.scheduled.min(tick);
    }

    /// An uplink bearer has packets: requests a grant, unless the base station knows or will know the backlog.
    fn asks(&mut self, member: usize, tick: u64) {
        let user = &mut self.users[self.bearers[member].user];
        let bearer = &mut self.bearers[member];
        if bearer.known > 0 || bearer.reports > 0 || bearer.requested || tick < user.away_until {
            return;
        }
        bearer.requested = true;
        // The next interval in which the user may send a request.
        let opportunity = match self.request {
            0 => tick,
            period => tick + (period - (tick + user.phase) % period) % period,
        };
        let takes_effect = opportunity + self.grant;
        user.awake_until = user.awake_until.max(takes_effect);
        let epoch = bearer.epoch;
        self.foresee(takes_effect, Event::Granted { member: member as u32, epoch });
    }

    fn happens(&mut self, tick: u64, event: Event, outcomes: &mut MediumOutcomes) {
        let current = |member: u32, epoch: u32| self.bearers[member as usize].epoch == epoch;
        match event {
            Event::Received { member, number, epoch } if current(member, epoch) => {
                self.bearers[member as usize].received(number, member as usize, outcomes);
            }
            Event::Repeat { member, number, epoch } if current(member, epoch) => {
                let direction = usize::from(self.bearers[member as usize].uplink);
                self.repeats[direction].push_back((member as usize, number, epoch));
                self.scheduled = self.scheduled.min(tick);
            }
            Event::Failed { member, number, epoch } if current(member, epoch) => {
                let (member, bearer) = (member as usize, &mut self.bearers[member as usize]);
                if bearer.failed(number, member, outcomes) {
                    // The base station sent the report, so it knows the size of the retransmission.
                    bearer.known +=
                        if bearer.uplink { bearer.block(number).map_or(0, |block| block.bytes + 5) } else { 0 };
                    self.wants(member, tick);
                }
            }
            Event::Granted { member, epoch } if current(member, epoch) => {
                let (member, first) = (member as usize, self.config.uplink.first.get());
                let bearer = &mut self.bearers[member];
                bearer.requested = false;
                bearer.known += first;
                self.wants(member, tick);
            }
            Event::Reported { member, epoch, waiting, sent } if current(member, epoch) => {
                let member = member as usize;
                let bearer = &mut self.bearers[member];
                bearer.reports -= 1;
                bearer.known = waiting.saturating_sub(bearer.sent - sent);
                if bearer.known > 0 {
                    self.wants(member, tick);
                } else if bearer.backlog() > 0 {
                    self.asks(member, tick);
                }
            }
            Event::Leaves { user, handoff } => self.hand_off(tick, user as usize, handoff as usize, outcomes),
            Event::Returns { user } => self.returns(tick, user as usize),
            Event::Gone { user } => self.leave(tick, user as usize, outcomes),
            // A block or a grant of an epoch before a handoff.
            _ => {}
        }
    }

    fn hand_off(&mut self, tick: u64, user: usize, handoff: usize, outcomes: &mut MediumOutcomes) {
        if self.users[user].gone {
            return;
        }
        let (now, HandoffEvent { gap, buffer, .. }) = (self.instant(tick), self.users[user].handoffs[handoff]);
        let back = tick + intervals(gap, self.interval);
        self.users[user].away_until = back;
        for member in self.users[user].bearers.into_iter().flatten() {
            let bearer = &mut self.bearers[member];
            match buffer {
                HandoffBuffer::Forward => bearer.forwards(),
                HandoffBuffer::Lose => bearer.loses(now, !bearer.uplink, member, outcomes),
            }
            (bearer.known, bearer.reports, bearer.requested) = (0, 0, false);
        }
        self.foresee(back, Event::Returns { user: user as u32 });
    }

    fn returns(&mut self, tick: u64, user: usize) {
        self.users[user].awake_until = tick + self.sleep.map_or(0, |sleep| sleep.inactivity);
        for member in self.users[user].bearers.into_iter().flatten() {
            if self.bearers[member].backlog() == 0 {
                continue;
            }
            if self.bearers[member].uplink {
                self.asks(member, tick);
            } else {
                self.wants(member, tick);
            }
        }
    }

    fn leave(&mut self, tick: u64, user: usize, outcomes: &mut MediumOutcomes) {
        let now = self.instant(tick);
        self.users[user].gone = true;
        self.users[user].away_until = u64::MAX;
        for member in self.users[user].bearers.into_iter().flatten() {
            let bearer = &mut self.bearers[member];
            bearer.loses(now, true, member, outcomes);
            (bearer.known, bearer.reports, bearer.requested) = (0, 0, false);
        }
    }
}

impl Medium for Cell {
    fn arrive(&mut self, now: Instant, member: usize, packet: Packet, outcomes: &mut MediumOutcomes) {
        let tick = self.next_interval(now);
        let bearer = &mut self.bearers[member];
        if self.users[bearer.user].gone {
            outcomes.dropped.push((member, packet, DropReason::Link));
            return;
        }
        bearer.arrive(now, member, packet, outcomes);
        self.timed |= bearer.queue.deadline() < Instant::NEVER;
        if bearer.backlog() == 0 {
            return;
        }
        if bearer.uplink {
            self.asks(member, tick);
        } else {
            self.wants(member, tick);
        }
    }

    fn deadline(&self) -> Instant {
        let event = self.events.peek().map_or(u64::MAX, |Reverse((tick, ..))| *tick);
        let own = self.instant(event.min(self.scheduled));
        if !self.timed {
            return own;
        }
        self.bearers.iter().map(|bearer| bearer.queue.deadline()).fold(own, Instant::min)
    }

    fn on_timer(&mut self, now: Instant, outcomes: &mut MediumOutcomes) {
        if self.timed {
            for (member, bearer) in self.bearers.iter_mut().enumerate() {
                if bearer.queue.deadline() <= now {
                    bearer.on_timer(now, member, outcomes);
                }
            }
        }
        let tick = now.nanos() / self.interval;
        while let Some(Reverse((due, _, event))) = self.events.peek().copied().filter(|Reverse((due, ..))| *due <= tick)
        {
            self.events.pop();
            self.happens(due, event, outcomes);
        }
        if self.scheduled <= tick {
            self.schedule(tick, outcomes);
        }
    }

    fn waiting(&self, member: usize) -> u32 {
        self.bearers[member].queue.packets()
    }

    fn held(&self, member: usize) -> u32 {
        self.waiting(member) + self.bearers[member].inside()
    }

    fn drain(&mut self, now: Instant, given: &mut Vec<(usize, Packet)>) {
        for (member, bearer) in self.bearers.iter_mut().enumerate() {
            given.extend(bearer.take_inside().map(|packet| (member, packet)));
            drain_queue(&mut bearer.queue, member, now, given);
        }
    }

    fn counters(&self, member: usize) -> MemberCounters {
        self.bearers[member].counters
    }

    fn capacity(&self, member: usize, from: Instant, to: Instant) -> Bytes {
        let bearer = &self.bearers[member];
        let bits = bearer.channel.mean_efficiency(from, to)
            * self.config.elements(bearer.uplink)
            * to.span_since(from).seconds();
        Bytes::new((bits / 8.0) as u64)
    }
}
