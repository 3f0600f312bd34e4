//! Ends of flows in a run: calls senders and receivers, and sends their packets along the routes.

use fairwave_core::packet::{Ecn, FlowId, Packet};
use fairwave_core::transport::{Notice, Receiver, Sender};
use fairwave_core::units::{Instant, Span};

use super::Simulation;
use crate::border::Border;
use crate::event::{Event, EventKind};
use crate::island_map::{Extent, IslandMessage};
use crate::probe::ProbeSlot;
use crate::routes::END;

impl<P: ProbeSlot, B: Border, E: Extent> Simulation<'_, P, B, E> {
    /// Passes a packet to its sender.
    #[inline(always)]
    pub(super) fn take_feedback(&mut self, flow: usize, packet: &Packet, now: Instant) {
        let sending = &mut self.sending[flow];
        sending.take_feedback(packet, now, &mut self.out);
        if P::ON {
            self.probe.acted(flow, &sending.sender, &self.receiving[flow].receiver, now);
        }
        self.send(flow, now);
        self.arm_sender(flow, now);
    }

    /// Handles feedback that has left `link` for a sender that can be called ahead of time, at `place`, the end of
    /// its route. An immediate call is safe if no other feedback is in transit by an event and the sender's timer is
    /// later.
    #[inline(never)]
    pub(super) fn reach_sender(&mut self, link: usize, packet: &Packet, place: u32, arrival: Instant, waited: bool) {
        let flow = packet.flow.0 as usize;
        if self.calls_senders_ahead
            && let Some(sending) = self.sending.get_mut(flow)
            && sending.awaited.is_empty()
            && sending.scheduled > arrival
        {
            sending.feedback_arrived += 1;
            self.events_handled += 1;
            sending.take_feedback(packet, arrival, &mut self.out);
            // Armed before its packets are sent: no reply to them comes back here without an event.
            if let Some(event) = sending.arm(flow, arrival, self.window.end) {
                self.push_timer(event);
            }
            self.send(flow, arrival);
            return;
        }
        let kind = if waited { EventKind::ArrivalBehind } else { EventKind::Arrival };
        let event = Event::new(arrival, kind, link);
        if !self.extent.divert(event, packet, END, place) {
            self.sending[flow].awaited.add();
            self.events.push_arrival(event, packet, END, place);
        }
    }

    /// Hands the sender's packets to the first link of their route.
    #[inline(always)]
    pub(super) fn send(&mut self, flow: usize, now: Instant) {
        if !self.out.packets.is_empty() {
            self.send_packets(flow, now);
        }
    }

    #[inline(never)]
    fn send_packets(&mut self, flow: usize, now: Instant) {
        if B::THERE {
            self.out.packets.drain(..).for_each(|packet| self.border.send(&packet, now));
            return;
        }
        if self.hosts.is_some() {
            self.send_later(flow, now);
            return;
        }
        let sending = &mut self.sending[flow];
        let place = sending.route;
        let first = self.network.routes.step(place).target() as usize;
        if let [packet] = *self.out.packets {
            // The common case: a single packet. It needs no copy of the list.
            self.out.packets.clear();
            sending.packets_sent += 1;
            sending.wire_sent += u64::from(packet.wire);
            self.send_packet(&packet, first, place, now);
            return;
        }
        let mut packets = std::mem::take(&mut self.out.packets);
        sending.packets_sent += packets.len() as u64;
        sending.wire_sent += packets.iter().map(|packet| u64::from(packet.wire)).sum::<u64>();
        for packet in &packets {
            self.send_packet(packet, first, place, now);
        }
        packets.clear();
        self.out.packets = packets;
    }

    /// Hands a sender's packet to the link `first`, at `place` of its route.
    #[inline(always)]
    fn send_packet(&mut self, packet: &Packet, first: usize, place: u32, now: Instant) {
        if P::ON {
            self.probe.sent(packet, now, self.out.made);
        }
        self.forward(first, packet, place, now);
    }

    /// The same for a host with a sending delay. Packets still in the host at the end are not sent.
    #[inline(never)]
    fn send_later(&mut self, flow: usize, now: Instant) {
        let Some(hosts) = &mut self.hosts else { return };
        let sending = &mut self.sending[flow];
        let place = sending.route;
        let first = self.network.routes.step(place).target();
        let mut leaves = hosts.leave(flow, now);
        for packet in self.out.packets.drain(..) {
            let at = leaves();
            if at <= self.window.end {
                sending.packets_sent += 1;
                sending.wire_sent += u64::from(packet.wire);
                if P::ON {
                    self.probe.sent(&packet, at, self.out.made);
                }
                self.events.push_arrival(Event::new(at, EventKind::Arrival, first as usize), &packet, first, place);
            }
        }
    }

    /// Handles a data packet that has reached its receiver.
    pub(super) fn receive(&mut self, flow: usize, packet: &Packet, now: Instant) {
        if P::ON {
            self.probe.received(packet, now);
        }
        self.receiving[flow].measure.packets_arrived += 1;
        self.take_data(flow, packet, now);
    }

    /// Passes a data packet to the receiver of a flow.
    #[inline(always)]
    pub(super) fn take_data(&mut self, flow: usize, packet: &Packet, now: Instant) {
        let receiving = &mut self.receiving[flow];
        if packet.ecn == Ecn::Ce {
            receiving.measure.arrived_marked(now, self.window);
        }
        receiving.receiver.on_packet(now, packet, &mut self.answer);
        self.answer(flow, now);
    }

    /// Counts the receiver's deliveries and sends its replies. Always inlined: it runs after each received packet.
    #[inline(always)]
    pub(super) fn answer(&mut self, flow: usize, now: Instant) {
        let receiving = &mut self.receiving[flow];
        for delivery in &self.answer.deliveries {
            receiving.measure.delivered(now, delivery.payload, self.window);
            if receiving.logged
                && delivery.complete
                && let Some(units) = &mut receiving.units
            {
                units.received(delivery.unit, now);
                if receiving.listened {
                    let wakes = self.sending[flow].report_delivery(delivery.unit, now, self.window.end);
                    wakes.into_iter().for_each(|at| self.events.push_timer(Event::new(at, EventKind::Sender, flow)));
                }
            }
        }
        self.answer.deliveries.clear();
        if !self.answer.notices.is_empty() {
            self.take_notices(flow, now);
        }
        if self.answer.packets.is_empty() {
            return;
        }
        if B::THERE {
            self.answer.packets.drain(..).for_each(|packet| self.border.send(&packet, now));
            return;
        }
        let receiving = &mut self.receiving[flow];
        receiving.measure.feedback_sent += self.answer.packets.len() as u64;
        let place = receiving.route;
        let first = self.network.routes.step(place).target() as usize;
        if let [packet] = *self.answer.packets {
            // The common case: a single packet. It needs no copy of the list.
            self.answer.packets.clear();
            if P::ON {
                self.probe.sent(&packet, now, self.answer.made);
            }
            self.forward(first, &packet, place, now);
            return;
        }
        let mut packets = std::mem::take(&mut self.answer.packets);
        for packet in &packets {
            if P::ON {
                self.probe.sent(packet, now, self.answer.made);
            }
            self.forward(first, packet, place, now);
        }
        packets.clear();
        self.answer.packets = packets;
    }

    /// Handles other notices of a receiver: loss verdicts, and senders at its node with packets to send.
    #[cold]
    #[inline(never)]
    fn take_notices(&mut self, flow: usize, now: Instant) {
        let mut notices = std::mem::take(&mut self.answer.notices);
        for notice in notices.drain(..) {
            match notice {
                Notice::Verdict(verdict) => {
                    if let Some(judge) = &mut self.receiving[flow].judge {
                        judge.judged(&verdict);
                    }
                }
                Notice::Wake(FlowId(other)) => self.call_sender(other as usize, now),
            }
        }
        self.answer.notices = notices;
    }

    /// Calls a sender before its deadline.
    fn call_sender(&mut self, flow: usize, now: Instant) {
        let Some(sending) = self.sending.get_mut(flow) else { return };
        sending.sender.on_timer(now, &mut self.out);
        if P::ON {
            self.probe.acted(flow, &sending.sender, &self.receiving[flow].receiver, now);
        }
        self.send(flow, now);
        self.arm_sender(flow, now + Span::from_nanos(1));
    }

    pub(super) fn wake_sender(&mut self, flow: usize, now: Instant) {
        let mut sending = &mut self.sending[flow];
        if sending.scheduled != now {
            return;
        }
        sending.scheduled = Instant::NEVER;
        if let Some(activity) = sending.activity {
            if !sending.active && now >= activity.from {
                if sending.room_is_unchecked {
                    if !self.admission.admits(flow, now, &self.plan, &mut self.sending.items, &self.receiving.items) {
                        return;
                    }
                    sending = &mut self.sending[flow];
                }
                sending.active = true;
                sending.sender.on_start(now, &mut self.out);
            }
            while let Some(unit) = sending.next_unit.filter(|unit| unit.created <= now && unit.created < activity.until)
            {
                match self.receiving.get_mut(flow) {
                    Some(receiving) => receiving.made(&unit),
                    None => self.extent.send_message(flow, IslandMessage::Created { flow, unit }),
                }
                sending.sender.on_unit(now, unit, &mut self.out);
                if std::mem::take(&mut self.out.skipped) > 0 {
                    match self.receiving.get_mut(flow) {
                        Some(receiving) => receiving.skipped(),
                        None => self.extent.send_message(flow, IslandMessage::Skipped { flow }),
                    }
                }
                sending.make_next_unit();
            }
            if now >= activity.until {
                sending.active = false;
                sending.sender.on_stop(now);
                sending.activity = sending.next_activity(now);
            }
        }
        sending.ask_application();
        if sending.sender.deadline() <= now {
            sending.sender.on_timer(now, &mut self.out);
        }
        if P::ON {
            self.probe.acted(flow, &sending.sender, &self.receiving[flow].receiver, now);
        }
        self.send(flow, now);
        // An endpoint with an unchanged deadline must not stop the clock.
        self.arm_sender(flow, now + Span::from_nanos(1));
    }

    /// Ensures an event no later than the sender's next deadline. A postponed deadline costs nothing here: the old
    /// event comes early, finds nothing due and is renewed.
    #[inline(always)]
    pub(super) fn arm_sender(&mut self, flow: usize, earliest: Instant) {
        if let Some(event) = self.sending[flow].arm(flow, earliest, self.window.end) {
            self.push_timer(event);
        }
    }

    pub(super) fn wake_receiver(&mut self, flow: usize, now: Instant) {
        let receiving = &mut self.receiving[flow];
        if receiving.scheduled != now {
            return;
        }
        receiving.scheduled = Instant::NEVER;
        if receiving.receiver.deadline() <= now {
            receiving.receiver.on_timer(now, &mut self.answer);
            self.answer(flow, now);
        }
        self.arm_receiver(flow, now);
    }

    #[inline]
    pub(super) fn arm_receiver(&mut self, flow: usize, now: Instant) {
        let receiving = &mut self.receiving[flow];
        let wanted = receiving.receiver.deadline();
        if wanted < receiving.scheduled && wanted <= self.window.end {
            receiving.scheduled = wanted.max(now + Span::from_nanos(1));
            self.events.push_timer(Event::new(receiving.scheduled, EventKind::Receiver, flow));
        }
    }

    /// Closes media sessions at the end of their flows, or of the run.
    pub(super) fn settle_media(&mut self) {
        for ((flow, sending), receiving) in
            self.plan.flows.iter().zip(&mut self.sending.items).zip(&mut self.receiving.items)
        {
            if flow.traffic.media().is_some() {
                let end = flow.stop.min(self.window.end);
                sending.sender.settle_media(end);
                receiving.receiver.settle_media(end);
            }
        }
    }

    /// Makes the playback reads that are due since the last arrival.
    pub(super) fn read_to_the_end(&mut self) {
        for (flow, receiving) in self.plan.flows.iter().zip(&mut self.receiving.items) {
            if let Some(playback) = receiving.measure.observed.as_mut().and_then(|observed| observed.playback.as_mut())
            {
                playback.read_until(flow.stop.min(self.window.end));
            }
        }
    }
}
