//! Links with a managed queue: one event for each packet when its transmission begins.

use fairwave_core::packet::Packet;
use fairwave_core::units::{Instant, Span};

use super::Simulation;
use crate::border::Border;
use crate::event::{Event, EventKind};
use crate::link::Service;
use crate::places::{Extent, Told};
use crate::probe::{Probe, RemovalCause};
use crate::routes::END;

impl<P: Probe, B: Border, E: Extent> Simulation<'_, P, B, E> {
    pub(super) fn arrive_at_managed(&mut self, link: usize, packet: &Packet, now: Instant) {
        let here = &mut self.network.links[link];
        here.account_for_queue(now, self.window);
        if here.free == now {
            // A transmission that ends now makes room before the arrival is judged.
            self.serve_managed(link, now);
        }
        let here = &mut self.network.links[link];
        if let Service::Managed(managed) = &mut here.service {
            managed.classes.arrived(packet);
            if here.free <= now
                && let Some(packet) = managed.queue.pass(now, packet)
            {
                self.begin(link, now, &packet);
                return;
            }
            managed.queue.arrive(now, packet, &mut managed.drops);
            if here.free <= now {
                self.serve_managed(link, now);
            } else {
                self.account_for_drops(link, now);
                self.schedule_service(link, now);
            }
            return;
        }
        self.arrive_at_shared(link, *packet, now);
    }

    /// A managed link's transmitter may have become free, or its discipline may have periodic work.
    pub(super) fn service(&mut self, link: usize, now: Instant) {
        let Some(here) = self.network.links.get_mut(link) else {
            // Media come after the links.
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

    /// Begins the next transmission if the transmitter is free, counts what the discipline dropped, and arranges to be
    /// called again.
    #[inline(always)] // for each packet of a managed queue
    fn serve_managed(&mut self, link: usize, now: Instant) {
        let here = &mut self.network.links[link];
        let free = here.free;
        let Service::Managed(managed) = &mut here.service else { return };
        let begun = if free <= now { managed.queue.depart(now, &mut managed.drops) } else { None };
        self.account_for_drops(link, now);
        match &begun {
            Some(packet) => self.begin(link, now, packet),
            None => self.schedule_service(link, now),
        }
    }

    /// Counts what waits at a managed link, and what its discipline dropped.
    #[inline(always)] // part of each arrival and of each departure
    fn account_for_drops(&mut self, link: usize, now: Instant) {
        let here = &mut self.network.links[link];
        let Service::Managed(managed) = &mut here.service else { return };
        here.measure.waiting(managed.queue.packets(), now, self.window);
        if !managed.drops.is_empty() {
            for (packet, reason) in managed.drops.drain(..) {
                here.measure.dropped(now, reason, self.window);
                managed.classes.dropped(&packet, reason);
                let flow = packet.flow.0 as usize;
                let taken = if B::THERE { self.border.gone(&packet, true) } else { packet };
                match self.receiving.get_mut(flow) {
                    Some(receiving) => receiving.lose(&taken, true, now, self.window),
                    None => self.extent.tell(flow, Told::Gone { flow, packet: taken, congestion: true, at: now }),
                }
                if P::ON {
                    self.probe.gone(link, &packet, now, RemovalCause::Dropped(reason));
                }
            }
        }
    }

    /// A managed link's next transmission begins; arranges to be called again.
    fn begin(&mut self, link: usize, now: Instant, packet: &Packet) {
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
        here.transmit(now, packet);
        self.schedule_service(link, now);
        let flow = packet.flow.0 as usize;
        let begin = self.way_of(packet);
        let mut place = self.network.routes.place_of(begin, link);
        if self.network.routes.at(place).target() == END {
            // Its flow goes another way by now.
            place = self.detours.place_of(&self.network, flow, packet.feedback, link).unwrap_or(place);
        }
        let leaving = self.network.links[link].leave(packet, self.window);
        if let Some((next, arrival)) = self.go_on(link, packet, place, leaving, false) {
            self.forward(next, packet, place + 1, arrival);
        }
    }

    /// Arranges that a managed link is served when its transmitter is free, or its discipline has periodic work.
    #[inline(always)] // a call costs as much as what it does most of the time: nothing
    fn schedule_service(&mut self, link: usize, now: Instant) {
        let here = &mut self.network.links[link];
        let Service::Managed(managed) = &mut here.service else { return };
        let next_start = match managed.queue.packets() {
            0 => Instant::NEVER,
            _ => here.free.max(managed.queue.held_until()),
        };
        let wanted = next_start.min(managed.queue.deadline());
        if wanted < managed.scheduled {
            managed.scheduled = wanted.max(now + Span::from_nanos(1));
            self.events.push_timer(Event::new(managed.scheduled, EventKind::Service, link));
        }
    }

    /// A link's rate may become another at `now`: its queue, if it is a managed one, is told, and so it is of the next change.
    pub(super) fn rate_changes(&mut self, link: usize, now: Instant) {
        let here = &mut self.network.links[link];
        here.account_for_queue(now, self.window);
        if let Some(next) = here.tell_rate(now).filter(|next| *next <= self.window.end) {
            self.events.push_timer(Event::new(next, EventKind::Rate, link));
        }
    }
}
