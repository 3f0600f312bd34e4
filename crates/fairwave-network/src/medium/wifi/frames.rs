//! Frames: assembles them, and handles their packets when the exchange is over.

use super::config::{CATEGORIES, WifiQueues};
use super::queues::{Entry, State, WINDOW, Waiting};
use super::{Exchange, Phase, Wifi};
use crate::medium::interface::{Begun, MediumOutcomes};
use fairwave_units::units::Instant;

impl Wifi {
    /// Assembles a frame of a function that starts at `start` and fits, with its acknowledgement, into `room` nanoseconds.
    /// The first packet need not fit, unless `must` is set. `None` if nothing can be sent.
    pub(super) fn assemble(
        &mut self,
        now: Instant,
        function: usize,
        limits: (u64, u64, bool),
        outcomes: &mut MediumOutcomes,
    ) -> Option<Exchange> {
        let mut held = Vec::new();
        let exchange = self.assemble_for_next(now, function, limits, &mut held, outcomes);
        for member in held {
            self.rotations[function].add(member);
        }
        exchange
    }

    /// Like `assemble`. Skips members whose queues hold packets back, and records them in `held`.
    pub(super) fn assemble_for_next(
        &mut self,
        now: Instant,
        function: usize,
        (start, room, must): (u64, u64, bool),
        held: &mut Vec<usize>,
        outcomes: &mut MediumOutcomes,
    ) -> Option<Exchange> {
        let category = usize::from(self.functions[function].category);
        let aggregated = self.config.aggregates(category);
        let frames = if aggregated { self.config.aggregation.frames } else { 1 };
        loop {
            let member = self.rotations[function].turn()?;
            let direction = &mut self.directions[member];
            let ratio = direction.channel.ratio(now);
            let attempt = direction.tids[category].failures;
            let index = direction.channel.index(&direction.phy, now, attempt, ratio);
            let phy = &direction.phy;
            let announced = phy.rts(index) + phy.ack(index, false) + 2 * self.phy.sifs;
            let overhead =
                self.phy.sifs + phy.ack(index, aggregated) + if self.config.rts.is_some() { announced } else { 0 };
            let time = if aggregated { self.config.aggregation.time.nanos() } else { u64::MAX };
            let in_time = match time.min(room.saturating_sub(overhead)) {
                u64::MAX => u64::MAX,
                time => phy.bytes_in(index, time),
            };
            let most = if aggregated { self.longest.min(in_time) } else { in_time };
            let (mut packets, mut bytes, mut begun, mut full) = (0u32, 0u64, 0u32, false);
            let fits = |bytes: u64, size: u64, packets: u32| (packets == 0 && !must) || bytes + size <= most;
            for entry in &mut direction.tids[category].window {
                if entry.state != State::Ready {
                    continue;
                }
                let size = self.config.on_air(u64::from(entry.packet.wire), aggregated);
                if packets >= frames || !fits(bytes, size, packets) {
                    full = true;
                    break;
                }
                entry.state = State::OnAir;
                bytes += size;
                packets += 1;
            }
            let again = packets;
            let window = if aggregated { WINDOW } else { 1 };
            while !full && packets < frames && self.directions[member].tids[category].window.len() < window {
                if !self.has_ready(now, member, category, outcomes) {
                    break;
                }
                let direction = &mut self.directions[member];
                let tid = &mut direction.tids[category];
                let Some(waiting) = tid.ready.front().copied() else { break };
                let size = self.config.on_air(u64::from(waiting.packet.wire), aggregated);
                if !fits(bytes, size, packets) {
                    full = true;
                    break;
                }
                tid.ready.pop_front();
                bytes += size;
                packets += 1;
                begun += 1;
                tid.window.push_back(Entry { packet: waiting.packet, attempts: 0, state: State::OnAir });
                direction.waiting = direction.waiting.saturating_sub(1);
                direction.inside += 1;
                let Waiting { packet, since, marked } = waiting;
                outcomes.begun.push(Begun { member, packet, since, marked });
            }
            let own = &mut self.functions[function];
            own.backlog = own.backlog.saturating_sub(again + begun);
            if packets == 0 {
                if full {
                    return None; // it does not fit into the rest of the TXOP
                }
                self.rotations[function].was_empty(member);
                let queue = self.directions[member].tids[category].queue.as_ref();
                if queue.is_some_and(|queue| queue.packets() > 0) {
                    held.push(member);
                }
                continue;
            }
            if let Some(common) = self.commons.get_mut(function / CATEGORIES).and_then(Option::as_mut) {
                common.driver[category] = common.driver[category].saturating_sub(begun);
                self.pull(now, function, outcomes);
            }
            // A single packet is sent without delimiter and block acknowledgement.
            let alone = aggregated && packets == 1;
            let block = aggregated && !alone;
            let phy = &self.directions[member].phy;
            let data = phy.duration(index, bytes);
            let (mut open, mut lead) = (data, 0);
            if self.config.rts.is_some_and(|least| bytes >= least.get()) {
                open = phy.rts(index);
                lead = announced;
            }
            let arrives = start + lead + data;
            let end = arrives + self.phy.sifs + phy.ack(index, block);
            let counters = &mut self.directions[member].counters;
            counters.transmissions += 1;
            counters.carried += u64::from(packets);
            return Some(Exchange {
                function,
                member,
                index,
                ratio,
                packets,
                start,
                open: start + open,
                arrives,
                end,
                due: arrives,
                phase: if lead > 0 { Phase::Request } else { Phase::Data },
                since: None,
                collided: false,
                arrived: 0,
            });
        }
    }

    /// The data of an exchange has reached its receiver. Delivers the packets without errors.
    pub(super) fn receives(&mut self, exchange: usize, outcomes: &mut MediumOutcomes) {
        let Exchange { function, member, index, ratio, .. } = self.air[exchange];
        let direction = &mut self.directions[member];
        if self.nodes[direction.station].gone {
            return;
        }
        let mut errors = direction.channel.errors(&direction.phy, index, ratio);
        let tid = &mut direction.tids[function % CATEGORIES];
        let header = self.config.header.get();
        let mut arrived = 0;
        for entry in tid.window.iter_mut().filter(|entry| entry.state == State::OnAir) {
            if errors.spare(u64::from(entry.packet.wire) + header, &mut self.errors) {
                entry.state = State::Received;
                arrived += 1;
            }
        }
        let released = tid.release(member, outcomes);
        direction.inside = direction.inside.saturating_sub(released);
        self.air[exchange].arrived = arrived;
    }

    /// A frame exchange is over, and its sender knows the outcome.
    pub(super) fn ends_exchange(&mut self, now: Instant, exchange: &Exchange, outcomes: &mut MediumOutcomes) {
        let (place, member) = (exchange.function, exchange.member);
        let category = place % CATEGORIES;
        let limit = self.config.retry_limit;
        let direction = &mut self.directions[member];
        let gone = self.nodes[direction.station].gone;
        let (mut again, mut lost) = (0u32, 0u32);
        let tid = &mut direction.tids[category];
        for entry in tid.window.iter_mut().filter(|entry| entry.state == State::OnAir) {
            entry.attempts += 1;
            if entry.attempts >= limit || gone {
                entry.state = State::Lost;
                outcomes.lost.push((member, entry.packet));
                lost += 1;
            } else {
                entry.state = State::Ready;
                again += 1;
            }
        }
        let acknowledged = exchange.arrived > 0 && !exchange.collided;
        tid.failures = if acknowledged || lost > 0 { 0 } else { tid.failures + 1 };
        let released = tid.release(member, outcomes);
        direction.inside = direction.inside.saturating_sub(released + lost);
        let airtime = now.nanos().saturating_sub(exchange.start);
        let counters = &mut direction.counters;
        counters.airtime += airtime;
        counters.failed += u64::from(!acknowledged);
        counters.collided += u64::from(exchange.collided);
        direction.channel.learns(exchange.index, exchange.packets, exchange.arrived);
        let station = direction.station;
        self.rotations[place].used(member, airtime, acknowledged);
        // Airtime of stations' uplink frames also counts against them (Høiland-Jørgensen et al. 2017 §3.2).
        if self.config.queues == WifiQueues::Airtime
            && place / CATEGORIES == station
            && let Some(down) = self.nodes[station].down
        {
            self.rotations[self.nodes[station].base * CATEGORIES + category].used(down, airtime, true);
        }
        let access = self.accesses[category];
        let function = &mut self.functions[place];
        function.transmits = false;
        function.backlog += again;
        if acknowledged {
            function.succeeds(&access);
        } else {
            function.fails(&access, limit);
        }
        let start = now.nanos() + self.phy.sifs;
        let until = function.txop_end;
        if acknowledged
            && until > start
            && let Some(next) = self.assemble(now, place, (start, until - start, true), outcomes)
        {
            self.transmits(place);
            self.air.push(next);
            self.sent(now.nanos(), self.air.len() - 1);
            return;
        }
        let domain = self.domain_of(place / CATEGORIES);
        let function = &mut self.functions[place];
        function.txop_end = 0;
        function.draws(now.nanos(), &self.domains[domain], self.phy.slot, &mut self.contention);
        if function.backlog > 0 {
            function.contends = true;
            function.after = now.nanos();
            self.contending.push(place);
        }
    }
}
