//! The air: who transmits when, who senses it, and which frames collide.

use super::Wifi;
use super::access::SENSING;
use super::config::CATEGORIES;
use crate::medium::Happenings;
use fairwave_units::units::Instant;

impl Wifi {
    /// The frame of a function has begun: it goes on the air.
    pub(super) fn transmits(&mut self, function: usize) {
        self.functions[function].transmits = true;
        self.functions[function].contends = false;
    }

    /// Backoffs are over: nodes transmit, alone or at the same time.
    pub(super) fn accesses(&mut self, now: Instant, happenings: &mut Happenings) {
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
        // By node, the most urgent category first.
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
            if place / CATEGORIES == self.base {
                // A queue that held packets back may give them by now.
                self.pull(now, category, happenings);
            }
            let txop = self.accesses[category].txop;
            let room = if txop == 0 { u64::MAX } else { txop };
            match self.assemble(now, place, (at, room, false), happenings) {
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
        // Categories that lost within their node (IEEE 802.11-2020 §10.23.2.4).
        for &place in &winners[..losers] {
            if self.functions[place].backlog == 0 {
                continue;
            }
            let (category, domain) = (place % CATEGORIES, self.domain_of(place / CATEGORIES));
            let function = &mut self.functions[place];
            function.fails(&self.accesses[category], self.config.retry_limit);
            function.draws(&self.domains[domain], &mut self.contention);
            function.contends = true;
            function.after = at;
            self.contending.push(place);
        }
        self.winners = winners;
    }

    /// A function had nothing to send. What a queue holds back is tried again when the queue gives it.
    pub(super) fn waits_for_queue(&mut self, now: Instant, place: usize) {
        if self.functions[place].backlog == 0 {
            return;
        }
        let (node, category) = (place / CATEGORIES, place % CATEGORIES);
        let own = self.directions.iter().filter(|direction| direction.node == node);
        let queues = own.filter_map(|direction| direction.tids[category].queue.as_ref());
        let held = queues.filter(|queue| queue.packets() > 0).map(|queue| queue.held_until());
        let mut due = held.min().unwrap_or(Instant::NEVER);
        if let Some(common) = self.common.as_ref().filter(|_| node == self.base) {
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

    /// Exchanges from place `first` on have begun at the same time: who senses them, and which of them collide.
    pub(super) fn sent(&mut self, at: u64, first: usize) {
        let count = self.air.len() - first;
        if count == 0 {
            return;
        }
        let (slot, accesses) = (self.phy.slot, self.accesses);
        let penalty = if self.config.eifs { self.phy.sifs + self.phy.lowest_ack } else { 0 };
        if self.hears.is_empty() {
            let mut until = self.air[first].end;
            if count > 1 {
                until = self.air[first..].iter().map(|exchange| exchange.open).max().unwrap_or(until) + penalty;
                for exchange in &mut self.air[first..] {
                    (exchange.collided, exchange.due) = (true, until);
                }
            }
            self.domains[0].occupy(at, until, &accesses, slot);
            return;
        }
        for own in first..self.air.len() {
            let (sender, receiver) = self.ends(own);
            for other in 0..self.air.len() {
                // An answer that is under way is sensed by all, so whatever overlaps does so before.
                if other == own {
                    continue;
                }
                if self.air[other].answers && self.air[other].open <= at {
                    self.air[own].collided = true;
                    continue;
                }
                let (from, to) = self.ends(other);
                if to == self.base || self.hears(to, sender) {
                    self.air[other].collided = true;
                }
                if receiver == self.base || self.hears(receiver, from) {
                    self.air[own].collided = true;
                }
            }
        }
        for own in first..self.air.len() {
            let (sender, receiver) = self.ends(own);
            let exchange = &mut self.air[own];
            // Stations that do not hear the sender sense the access point's answer.
            if receiver == self.base {
                exchange.answers = true;
                exchange.due = exchange.open + self.phy.sifs;
            }
            let end = exchange.end;
            for node in 0..self.nodes.len() {
                if node == sender || self.hears(node, sender) {
                    self.domains[node].occupy(at, end, &accesses, slot);
                }
            }
        }
    }

    /// Sender and receiver of an exchange.
    pub(super) fn ends(&self, place: usize) -> (usize, usize) {
        let direction = &self.directions[self.air[place].member];
        (direction.node, direction.peer)
    }

    /// The access point begins to answer, or does not because it could not receive.
    pub(super) fn answers(&mut self, at: u64, place: usize) {
        let exchange = &mut self.air[place];
        exchange.answers = false;
        if exchange.collided {
            exchange.due = (exchange.open + self.phy.sifs + self.phy.lowest_ack).min(exchange.end).max(at + 1);
            return;
        }
        exchange.due = exchange.end;
        let end = exchange.end;
        for domain in &mut self.domains {
            domain.occupy(at, end, &self.accesses, self.phy.slot);
        }
    }

    /// Reckons the next access and the next event of exchanges.
    pub(super) fn foresee(&mut self) {
        let slot = self.phy.slot;
        let single = self.hears.is_empty();
        let instant = |place: &usize| {
            let function = &self.functions[*place];
            let domain = &self.domains[if single { 0 } else { function.node as usize }];
            function.instant(domain, &self.accesses[usize::from(function.category)], slot)
        };
        self.access = self.contending.iter().map(instant).min().unwrap_or(u64::MAX);
        self.event = self.air.iter().map(|exchange| exchange.due).min().unwrap_or(u64::MAX);
    }
}
