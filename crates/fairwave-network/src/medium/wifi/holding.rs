//! Waiting packets: reports the drops of queues, moves packets into the driver, and clears a station that leaves.

use super::Wifi;
use super::config::CATEGORIES;
use super::queues::{State, Waiting};
use crate::medium::interface::{MediumOutcomes, drain_queue};
use crate::packet::Packet;
use crate::queue::{DropReason, LinkQueue};
use fairwave_units::units::Instant;

impl Wifi {
    /// Reports the packets that a member's queue has dropped.
    pub(super) fn report(&mut self, member: usize, category: usize, outcomes: &mut MediumOutcomes) {
        let direction = &mut self.directions[member];
        let function = direction.node * CATEGORIES + category;
        for (packet, reason) in self.drops.drain(..) {
            direction.waiting = direction.waiting.saturating_sub(1);
            self.functions[function].backlog = self.functions[function].backlog.saturating_sub(1);
            outcomes.dropped.push((member, packet, reason));
        }
    }

    /// Reports the packets that an access point's common queue of a function has dropped.
    pub(super) fn report_common(&mut self, place: usize, outcomes: &mut MediumOutcomes) {
        let Some(Some(common)) = self.commons.get(place / CATEGORIES) else { return };
        for (packet, reason) in self.drops.drain(..) {
            let (member, packet) = common.aliases.restore(packet);
            self.directions[member].waiting = self.directions[member].waiting.saturating_sub(1);
            let function = &mut self.functions[place];
            function.backlog = function.backlog.saturating_sub(1);
            outcomes.dropped.push((member, packet, reason));
        }
    }

    /// Moves packets from an access point's common queue of a function into the driver, while the driver has room.
    pub(super) fn pull(&mut self, now: Instant, place: usize, outcomes: &mut MediumOutcomes) {
        let (base, category) = (place / CATEGORIES, place % CATEGORIES);
        while let Some(Some(common)) = self.commons.get_mut(base) {
            if common.driver[category] >= self.config.driver_buffer || common.queues[category].packets() == 0 {
                return;
            }
            let queue = &mut common.queues[category];
            let departing = queue.depart(now, &mut self.drops);
            let (since, marked) = (queue.waited_since(), queue.has_marked());
            let restored = departing.map(|packet| common.aliases.restore(packet));
            self.report_common(place, outcomes);
            let Some((member, packet)) = restored else { return };
            let direction = &mut self.directions[member];
            if self.nodes[direction.station].gone {
                self.drops.push((packet, DropReason::Link));
                self.report(member, category, outcomes);
                continue;
            }
            direction.tids[category].ready.push_back(Waiting { packet, since, marked });
            self.rotations[place].add(member);
            if let Some(Some(common)) = self.commons.get_mut(base) {
                common.driver[category] += 1;
            }
        }
    }

    /// Whether a packet of a member can be sent now; if so, the first one is in `ready`.
    pub(super) fn has_ready(
        &mut self,
        now: Instant,
        member: usize,
        category: usize,
        outcomes: &mut MediumOutcomes,
    ) -> bool {
        let tid = &mut self.directions[member].tids[category];
        if !tid.ready.is_empty() {
            return true;
        }
        let Some(queue) = &mut tid.queue else { return false };
        if queue.packets() == 0 {
            return false;
        }
        if let Some(packet) = queue.depart(now, &mut self.drops) {
            tid.ready.push_back(Waiting { packet, since: queue.waited_since(), marked: queue.has_marked() });
        }
        let ready = !tid.ready.is_empty();
        self.report(member, category, outcomes);
        ready
    }

    /// A station leaves permanently.
    pub(super) fn leave(&mut self, now: Instant, station: usize, outcomes: &mut MediumOutcomes) {
        self.nodes[station].gone = true;
        let members = [self.nodes[station].down, self.nodes[station].up];
        for member in members.into_iter().flatten() {
            for category in 0..CATEGORIES {
                let direction = &mut self.directions[member];
                let function = direction.node * CATEGORIES + category;
                let tid = &mut direction.tids[category];
                let in_driver = tid.ready.len() as u32;
                let mut given: Vec<(usize, Packet)> =
                    tid.ready.drain(..).map(|waiting| (member, waiting.packet)).collect();
                if let Some(queue) = &mut tid.queue {
                    drain_queue(queue, member, now, &mut given);
                }
                self.drops.extend(given.into_iter().map(|(_, packet)| (packet, DropReason::Link)));
                let mut again = 0;
                for entry in tid.window.iter_mut().filter(|entry| entry.state == State::Ready) {
                    entry.state = State::Lost;
                    outcomes.lost.push((member, entry.packet));
                    again += 1;
                }
                let released = tid.release(member, outcomes);
                direction.inside = direction.inside.saturating_sub(again + released);
                if let Some(common) = self.commons.get_mut(direction.node).and_then(Option::as_mut) {
                    common.driver[category] = common.driver[category].saturating_sub(in_driver);
                }
                let own = &mut self.functions[function];
                own.backlog = own.backlog.saturating_sub(again);
                self.report(member, category, outcomes);
            }
        }
        let base = self.nodes[station].base * CATEGORIES;
        for place in base..base + CATEGORIES {
            self.pull(now, place, outcomes);
        }
    }

    pub(super) fn queue_timers(&mut self, now: Instant, outcomes: &mut MediumOutcomes) {
        for place in 0..self.bases * CATEGORIES {
            if let Some(common) = &mut self.commons[place / CATEGORIES]
                && common.queues[place % CATEGORIES].deadline() <= now
            {
                common.queues[place % CATEGORIES].on_timer(now, &mut self.drops);
                self.report_common(place, outcomes);
            }
        }
        for category in 0..CATEGORIES {
            for member in 0..self.directions.len() {
                if let Some(queue) = &mut self.directions[member].tids[category].queue
                    && queue.deadline() <= now
                {
                    queue.on_timer(now, &mut self.drops);
                    self.report(member, category, outcomes);
                }
            }
        }
    }

    pub(super) fn queue_deadline(&self) -> Instant {
        let common = self.commons.iter().flatten().flat_map(|common| common.queues.iter()).map(LinkQueue::deadline);
        let own = self.directions.iter().flat_map(|direction| direction.tids.iter());
        let own = own.filter_map(|tid| tid.queue.as_ref()).map(|queue| queue.deadline());
        common.chain(own).min().unwrap_or(Instant::NEVER)
    }
}
