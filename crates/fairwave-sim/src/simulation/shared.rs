//! Links on a shared medium. The medium decides when each packet is transmitted, and one event serves all its
//! members.

use fairwave_core::medium::Medium;
use fairwave_core::packet::Packet;
use fairwave_core::units::{Instant, Span};

use super::Simulation;
use crate::border::Border;
use crate::event::{Event, EventKind};
use crate::island_map::Extent;
use crate::link::Service;
use crate::probe::{ProbeSlot, RemovalCause};
use crate::routes::END;

impl<P: ProbeSlot, B: Border, E: Extent> Simulation<'_, P, B, E> {
    /// Handles the arrival of a packet at a link on a shared medium. The queue length is already updated.
    pub(super) fn arrive_at_shared(&mut self, link: usize, packet: Packet, now: Instant) {
        let here = &mut self.network.links[link];
        let Service::Shared(shared) = &mut here.service else { return };
        shared.classes.arrived(&packet);
        shared.held += 1;
        shared.waiting += 1;
        let (index, member) = (shared.medium, shared.member);
        let Some(run) = self.network.media.get_mut(index) else { return };
        run.medium.arrive(now, member, packet, &mut run.outcomes);
        self.settle_medium(index, now);
        // A packet in transmission does not wait.
        let here = &mut self.network.links[link];
        let Service::Shared(shared) = &mut here.service else { return };
        here.measure.waiting(shared.waiting, now, self.window);
    }

    /// Handles the event of a shared medium.
    #[cold]
    #[inline(never)]
    pub(super) fn serve_medium(&mut self, index: usize, now: Instant) {
        let Some(run) = self.network.media.get_mut(index) else { return };
        if run.scheduled != now {
            return;
        }
        run.scheduled = Instant::NEVER;
        if run.medium.deadline() <= now {
            run.medium.on_timer(now, &mut run.outcomes);
        }
        self.settle_medium(index, now);
    }

    /// Handles the packets that a medium has started, delivered or removed, and schedules its next event.
    fn settle_medium(&mut self, index: usize, now: Instant) {
        let Some(run) = self.network.media.get_mut(index) else { return };
        let wanted = run.medium.deadline();
        if wanted < run.scheduled && wanted <= self.window.end {
            run.scheduled = wanted.max(now + Span::from_nanos(1));
            let place = self.network.links.items.len() + index;
            self.events.push_timer(Event::new(run.scheduled, EventKind::Service, place));
        }
        if run.outcomes.is_empty() {
            return;
        }
        let mut outcomes = std::mem::take(&mut run.outcomes);
        // In this order: a packet that begins and arrives in the same step is in both lists.
        for begun in &outcomes.begun {
            let link = self.network.media[index].members[begun.member];
            let here = &mut self.network.links[link];
            here.account_for_queue(now, self.window);
            let Service::Shared(shared) = &mut here.service else { continue };
            shared.waiting = shared.waiting.saturating_sub(1);
            shared.classes.served(&begun.packet, begun.since, now);
            if begun.marked {
                shared.classes.marked(&begun.packet);
                here.measure.marked(now, self.window);
            }
            if P::ON {
                self.probe.begun(link, &begun.packet, now);
            }
        }
        for (own, packet, reason) in &outcomes.dropped {
            let link = self.network.media[index].members[*own];
            let here = &mut self.network.links[link];
            here.account_for_queue(now, self.window);
            here.measure.dropped(now, *reason, self.window);
            let Service::Shared(shared) = &mut here.service else { continue };
            shared.waiting = shared.waiting.saturating_sub(1);
            shared.held = shared.held.saturating_sub(1);
            shared.classes.dropped(packet, *reason);
            self.lose(link, packet, true, now);
            if P::ON {
                self.probe.gone(link, packet, now, RemovalCause::Dropped(*reason));
            }
        }
        for (own, packet) in &outcomes.lost {
            let link = self.network.media[index].members[*own];
            let here = &mut self.network.links[link];
            here.record_air_crossing(now);
            here.measure.departed(now, packet.wire, self.window);
            if let Service::Shared(shared) = &mut here.service {
                shared.held = shared.held.saturating_sub(1);
            }
            self.lose_on_wire(link, packet, true);
        }
        for (own, packet) in &outcomes.delivered {
            let link = self.network.media[index].members[*own];
            let here = &mut self.network.links[link];
            here.record_air_crossing(now);
            if let Service::Shared(shared) = &mut here.service {
                shared.held = shared.held.saturating_sub(1);
            }
            self.continue_from_air(link, packet);
        }
        outcomes.clear();
        if let Some(run) = self.network.media.get_mut(index) {
            run.outcomes = outcomes;
        }
    }

    /// Forwards a packet that has crossed the air.
    fn continue_from_air(&mut self, link: usize, packet: &Packet) {
        let flow = packet.flow.0 as usize;
        let begin = self.route_of(packet);
        let mut place = self.network.routes.place_of(begin, link);
        if self.network.routes.step(place).target() == END {
            // Its flow has changed to another route.
            place = self.detours.place_of(&self.network, flow, packet.feedback, link).unwrap_or(place);
        }
        let leaving = self.network.links[link].leave(packet, self.window);
        if let Some((next, arrival)) = self.continue_route(link, packet, place, leaving, true) {
            self.forward(next, packet, place + 1, arrival);
        }
    }
}
