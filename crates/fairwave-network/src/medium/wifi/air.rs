//! The air: selects the nodes that transmit, updates the nodes that sense a frame, and detects collisions.

use super::access::SENSING;
use super::config::CATEGORIES;
use super::{Exchange, Phase, Wifi};
use crate::medium::interface::MediumOutcomes;
use fairwave_units::units::Instant;

/// The frames that reach one node; times in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reception {
    /// End of the last frame.
    until: u64,
    /// End of the last overlap of two frames.
    overlap: u64,
    /// End of the last frame that this node sent.
    sent: u64,
}

impl Reception {
    /// A frame begins that lasts until `stop`; `own` if this node sends it.
    fn senses(&mut self, at: u64, stop: u64, own: bool) {
        if self.until > at {
            self.overlap = self.overlap.max(self.until.min(stop));
        }
        self.until = self.until.max(stop);
        if own {
            self.sent = stop;
        }
    }

    /// Whether no other frame has overlapped a frame that began at `since`.
    fn is_sound(&self, since: u64) -> bool {
        self.overlap <= since
    }

    /// Whether this node was sending at `since` or later.
    fn has_sent_since(&self, since: u64) -> bool {
        self.sent > since
    }
}

impl Wifi {
    /// Puts the frame of a function on the air.
    pub(super) fn transmits(&mut self, function: usize) {
        self.functions[function].transmits = true;
        self.functions[function].contends = false;
    }

    /// Backoffs have ended: the nodes transmit, alone or simultaneously.
    pub(super) fn accesses(&mut self, now: Instant, outcomes: &mut MediumOutcomes) {
        let (at, slot) = (now.nanos(), self.phy.slot);
        let mut winners = std::mem::take(&mut self.winners);
        winners.clear();
        let (functions, domains, accesses) = (&self.functions, &self.domains, &self.accesses);
        let single = self.hears.is_empty();
        self.contending.retain(|&place| {
            let function = &functions[place];
            let domain = &domains[if single { 0 } else { function.node as usize }];
            let over = function.instant(domain, &accesses[usize::from(function.category)], slot) < at + SENSING;
            if over {
                winners.push(place);
            }
            !over
        });
        // By node; the most urgent category first.
        winners.sort_unstable_by_key(|place| (place / CATEGORIES, CATEGORIES - place % CATEGORIES));
        let first = self.air.len();
        let (mut node, mut losers) = (usize::MAX, 0);
        for turn in 0..winners.len() {
            let place = winners[turn];
            self.functions[place].contends = false;
            if place / CATEGORIES == node {
                winners[losers] = place;
                losers += 1;
                continue;
            }
            let category = place % CATEGORIES;
            // An access point's queue that held packets back may release them by now.
            self.pull(now, place, outcomes);
            let txop = self.accesses[category].txop;
            let room = if txop == 0 { u64::MAX } else { txop };
            match self.assemble(now, place, (at, room, false), outcomes) {
                Some(exchange) => {
                    node = place / CATEGORIES;
                    self.functions[place].txop_end = if txop == 0 { 0 } else { at + txop };
                    self.transmits(place);
                    self.air.push(exchange);
                }
                None => self.waits_for_queue(now, place),
            }
        }
        self.sent(at, first);
        // Internal collisions: categories that lost within their node (IEEE 802.11-2020 §10.23.2.4).
        for &place in &winners[..losers] {
            if self.functions[place].backlog == 0 {
                continue;
            }
            let (category, domain) = (place % CATEGORIES, self.domain_of(place / CATEGORIES));
            let function = &mut self.functions[place];
            function.fails(&self.accesses[category], self.config.retry_limit);
            function.draws(at, &self.domains[domain], slot, &mut self.contention);
            function.contends = true;
            function.after = at;
            self.contending.push(place);
        }
        self.winners = winners;
    }

    /// A function had nothing to send. It contends again when its queue releases a packet.
    pub(super) fn waits_for_queue(&mut self, now: Instant, place: usize) {
        if self.functions[place].backlog == 0 {
            return;
        }
        let (node, category) = (place / CATEGORIES, place % CATEGORIES);
        let own = self.directions.iter().filter(|direction| direction.node == node);
        let queues = own.filter_map(|direction| direction.tids[category].queue.as_ref());
        let held = queues.filter(|queue| queue.packets() > 0).map(|queue| queue.held_until());
        let mut due = held.min().unwrap_or(Instant::NEVER);
        if let Some(common) = self.commons.get(node).and_then(Option::as_ref) {
            due = due.min(common.queues[category].held_until());
        }
        if due == Instant::NEVER {
            return;
        }
        let function = &mut self.functions[place];
        function.contends = true;
        function.after = due.max(now).nanos();
        self.contending.push(place);
    }

    /// Exchanges from place `first` on begin. Updates the nodes that sense them and, if all nodes hear each other, detects
    /// collisions.
    pub(super) fn sent(&mut self, at: u64, first: usize) {
        let count = self.air.len() - first;
        if count == 0 {
            return;
        }
        if !self.hears.is_empty() {
            for place in first..self.air.len() {
                self.air[place].due = self.air[place].start;
                if self.air[place].start <= at {
                    self.begins(at, place);
                }
            }
            return;
        }
        let mut until = self.air[first].end;
        if count > 1 {
            until = self.air[first..].iter().map(|exchange| exchange.open).max().unwrap_or(until) + self.penalty();
            for exchange in &mut self.air[first..] {
                // Without EIFS, the senders wait for an acknowledgement while others contend.
                let answer = self.phy.sifs + self.directions[exchange.member].phy.ack(exchange.index, false);
                exchange.due = if self.config.eifs { until } else { until.max(exchange.open + answer) };
                (exchange.collided, exchange.phase) = (true, Phase::Over);
            }
        }
        self.domains[0].occupy(at, until, &self.accesses, self.phy.slot);
    }

    /// Waiting time of nodes after a broken frame, without AIFS.
    fn penalty(&self) -> u64 {
        if self.config.eifs { self.phy.sifs + self.phy.lowest_ack } else { 0 }
    }

    /// Sender and receiver of an exchange.
    fn ends(&self, place: usize) -> (usize, usize) {
        let direction = &self.directions[self.air[place].member];
        (direction.node, direction.peer)
    }

    /// Handles the next event of an exchange in progress.
    pub(super) fn goes_on(&mut self, at: u64, place: usize, outcomes: &mut MediumOutcomes) {
        if !self.hears.is_empty() {
            match self.air[place].since {
                None => self.begins(at, place),
                Some(since) => self.finishes(at, place, since, outcomes),
            }
            return;
        }
        self.receives(place, outcomes);
        let exchange = &mut self.air[place];
        (exchange.phase, exchange.due) = (Phase::Over, exchange.end);
    }

    /// A frame of an exchange begins; some nodes sense it.
    fn begins(&mut self, at: u64, place: usize) {
        let (sender, receiver) = self.ends(place);
        let slot = self.phy.slot;
        let sifs = self.phy.sifs;
        let exchange = &mut self.air[place];
        let clear = sifs + self.directions[exchange.member].phy.ack(exchange.index, false);
        // The sender's other categories also wait for the response.
        let (from, stop, waits) = match exchange.phase {
            Phase::Request => (sender, exchange.open, exchange.open + clear),
            Phase::Clearance => (receiver, exchange.open + clear, exchange.open + clear),
            Phase::Data => (sender, exchange.arrives, exchange.end),
            Phase::Acknowledgement | Phase::Over => (receiver, exchange.end, exchange.end),
        };
        (exchange.since, exchange.due) = (Some(at), stop);
        for node in 0..self.nodes.len() {
            if node == from || self.hears(node, from) {
                self.receptions[node].senses(at, stop, node == from);
                let until = if node == from { waits } else { stop };
                self.domains[node].occupy(at, until, &self.accesses, slot);
            }
        }
    }

    /// A frame of an exchange ends. Determines which nodes have received it, and the next frame.
    fn finishes(&mut self, at: u64, place: usize, since: u64, outcomes: &mut MediumOutcomes) {
        let (sender, receiver) = self.ends(place);
        let (slot, sifs, penalty) = (self.phy.slot, self.phy.sifs, self.penalty());
        let Exchange { phase, index, member, end, .. } = self.air[place];
        let phy = &self.directions[member].phy;
        let answer = sifs + phy.ack(index, false);
        let (from, to) = match phase {
            Phase::Request | Phase::Data => (sender, receiver),
            _ => (receiver, sender),
        };
        let received = self.receptions[to].is_sound(since);
        let announced = match phase {
            // A node that senses no response to an RTS resets its NAV (IEEE 802.11-2020 §10.3.2.4).
            Phase::Request if !received => at + answer + sifs + 2 * slot + phy.lead,
            _ => end,
        };
        for node in 0..self.nodes.len() {
            if node == from || !self.hears(node, from) {
                continue;
            }
            let reception = &self.receptions[node];
            if reception.is_sound(since) {
                if node != to {
                    self.domains[node].occupy(at, announced, &self.accesses, slot);
                }
            } else if !reception.has_sent_since(since) {
                self.domains[node].occupy(at, at + penalty, &self.accesses, slot);
            }
        }
        let (next, due) = match phase {
            Phase::Request if received => (Phase::Clearance, at + sifs),
            Phase::Request => (Phase::Over, at + answer),
            Phase::Clearance if received => (Phase::Data, at + sifs),
            Phase::Data if received => {
                self.receives(place, outcomes);
                if self.air[place].arrived > 0 {
                    // The receiver's new packets wait for its acknowledgement.
                    self.domains[to].occupy(at, end, &self.accesses, slot);
                    (Phase::Acknowledgement, at + sifs)
                } else {
                    (Phase::Over, end)
                }
            }
            Phase::Data => (Phase::Over, end),
            _ => (Phase::Over, at),
        };
        let exchange = &mut self.air[place];
        exchange.collided |= !received;
        (exchange.phase, exchange.since, exchange.due) = (next, None, due);
    }

    /// Computes the time of the next access.
    pub(super) fn foresee_access(&mut self) {
        let slot = self.phy.slot;
        let single = self.hears.is_empty();
        let instant = |place: &usize| {
            let function = &self.functions[*place];
            let domain = &self.domains[if single { 0 } else { function.node as usize }];
            function.instant(domain, &self.accesses[usize::from(function.category)], slot)
        };
        self.access = self.contending.iter().map(instant).min().unwrap_or(u64::MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_frames_are_lost_and_the_next_one_is_received() {
        let mut node = Reception::default();
        node.senses(0, 100, false);
        assert!(node.is_sound(0), "alone");
        node.senses(60, 80, false);
        assert!(!node.is_sound(0) && !node.is_sound(60));
        // The first frame lasts until 100.
        node.senses(90, 190, false);
        assert!(!node.is_sound(90));
        node.senses(190, 250, false);
        assert!(node.is_sound(190), "it begins when the last one ends");
    }

    #[test]
    fn a_node_that_sends_receives_nothing_meanwhile() {
        let mut node = Reception::default();
        node.senses(0, 50, true);
        node.senses(20, 120, false);
        assert!(!node.is_sound(20) && node.has_sent_since(20));
        node.senses(130, 180, false);
        assert!(node.is_sound(130) && !node.has_sent_since(130));
    }
}
