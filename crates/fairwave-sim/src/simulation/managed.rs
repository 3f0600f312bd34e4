//! Links with a managed queue: one event for each start of a transmission.

use fairwave_core::packet::Packet;
use fairwave_core::units::Instant;

use super::Simulation;
use crate::border::Border;
use crate::event::{Event, EventKind};
use crate::island_map::{Extent, IslandMessage};
use crate::link::{Departure, Service};
use crate::probe::{ProbeSlot, RemovalCause};
use crate::routes::END;

impl<P: ProbeSlot, B: Border, E: Extent> Simulation<'_, P, B, E> {
    /// Handles the arrival of a packet at an event-driven link, by the step at `place` of its route.
    pub(super) fn arrive_at_managed(&mut self, link: usize, packet: &Packet, place: u32, now: Instant) {
        let mut here = &mut self.network.links[link];
        here.account_for_queue(now, self.window);
        if here.free == now {
            // A transmission that ends now makes room before the arrival is judged.
            self.serve_managed(link, now);
            here = &mut self.network.links[link];
        }
        let Service::Managed(managed) = &mut here.service else {
            self.arrive_at_shared(link, *packet, now);
            return;
        };
        managed.classes.arrived(packet);
        if here.free <= now && managed.queue.pass(now, packet) {
            self.begin(link, now, packet, Some(place));
            return;
        }
        managed.queue.arrive(now, packet, &mut managed.drops);
        if here.free <= now {
            self.serve_managed(link, now);
            return;
        }
        here.measure.waiting(managed.queue.packets(), now, self.window);
        if !managed.drops.is_empty() {
            self.count_drops(link, now);
            here = &mut self.network.links[link];
        }
        if let Some(at) = here.next_service(now) {
            self.events.push_timer(Event::new(at, EventKind::Service, link));
        }
    }

    /// Serves a managed link after its transmitter becomes free or its discipline has periodic work.
    pub(super) fn service(&mut self, link: usize, now: Instant) {
        let Some(here) = self.network.links.get_mut(link) else {
            // Media have the indices after the links.
            self.serve_medium(link - self.network.links.items.len(), now);
            return;
        };
        here.account_for_queue(now, self.window);
        let Service::Managed(managed) = &mut here.service else { return };
        if managed.scheduled != now {
            return;
        }
        managed.scheduled = Instant::NEVER;
        if managed.queue.deadline() <= now {
            managed.queue.on_timer(now, &mut managed.drops);
        }
        self.serve_managed(link, now);
    }

    /// Starts the next transmission if the transmitter is free, counts the discipline's drops, and schedules the next
    /// service.
    #[inline(always)] // for each packet of a managed queue
    fn serve_managed(&mut self, link: usize, now: Instant) {
        let here = &mut self.network.links[link];
        let free = here.free;
        let Service::Managed(managed) = &mut here.service else { return };
        let begun = if free <= now { managed.queue.depart(now, &mut managed.drops) } else { None };
        here.measure.waiting(managed.queue.packets(), now, self.window);
        if !managed.drops.is_empty() {
            self.count_drops(link, now);
        }
        if let Some(packet) = &begun {
            self.begin(link, now, packet, None);
        } else if let Some(at) = self.network.links[link].next_service(now) {
            self.events.push_timer(Event::new(at, EventKind::Service, link));
        }
    }

    /// Counts the drops of a managed link's discipline.
    #[inline(never)]
    fn count_drops(&mut self, link: usize, now: Instant) {
        let here = &mut self.network.links[link];
        let Service::Managed(managed) = &mut here.service else { return };
        for (packet, reason) in managed.drops.drain(..) {
            here.measure.dropped(now, reason, self.window);
            managed.classes.dropped(&packet, reason);
            let flow = packet.flow.0 as usize;
            let sent = if B::THERE { self.border.gone(&packet, true) } else { packet };
            match self.receiving.get_mut(flow) {
                Some(receiving) => receiving.lose(&sent, true, link, now, self.window),
                None => self
                    .extent
                    .send_message(flow, IslandMessage::Removed { flow, packet: sent, congestion: true, link, at: now }),
            }
            if P::ON {
                self.probe.gone(link, &packet, now, RemovalCause::Dropped(reason));
            }
        }
    }

    /// Starts the next transmission of a managed link, and schedules the next service. The packet came by the step at
    /// `place` of its route, if known.
    fn begin(&mut self, link: usize, now: Instant, packet: &Packet, place: Option<u32>) {
        let here = &mut self.network.links[link];
        let Service::Managed(managed) = &mut here.service else { return };
        managed.classes.served(packet, managed.queue.waited_since(), now);
        if managed.queue.has_marked() {
            managed.classes.marked(packet);
            here.measure.marked(now, self.window);
        }
        if P::ON {
            self.probe.begun(link, packet, now);
        }
        let arrival = here.transmit_and_leave(now, packet, self.window);
        if arrival.is_none() {
            here.transmit(now, packet, now == here.free);
        }
        if let Some(at) = here.next_service(now) {
            self.events.push_timer(Event::new(at, EventKind::Service, link));
        }
        let leaving = match arrival {
            Some(arrival) => Departure::Arrives(arrival),
            None => here.leave(packet, self.window),
        };
        let place = match place {
            // No flow has changed its route.
            Some(place) if self.detours.changes.is_empty() => place,
            _ => self.place_of(packet, link),
        };
        if let Some((next, arrival)) = self.continue_route(link, packet, place, leaving, false) {
            self.forward(next, packet, place + 1, arrival);
        }
    }

    /// Returns the step of a packet into a link, on the current route of its flow.
    #[inline(always)]
    fn place_of(&self, packet: &Packet, link: usize) -> u32 {
        let place = self.network.routes.place_of(self.route_of(packet), link);
        if self.network.routes.step(place).target() != END {
            return place;
        }
        // Its flow has changed to another route.
        let flow = packet.flow.0 as usize;
        self.detours.place_of(&self.network, flow, packet.feedback, link).unwrap_or(place)
    }

    /// Handles a possible rate change of a link at `now`: informs its managed queue, and schedules the next change.
    pub(super) fn handle_rate_change(&mut self, link: usize, now: Instant) {
        let here = &mut self.network.links[link];
        here.account_for_queue(now, self.window);
        if let Some(next) = here.update_rate(now).filter(|next| *next <= self.window.end) {
            self.events.push_timer(Event::new(next, EventKind::Rate, link));
        }
    }
}
