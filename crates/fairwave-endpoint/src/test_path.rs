//! A path between two endpoints for tests: a bottleneck with a drop-tail queue and a delay in each direction. A
//! test can add loss, reordering, duplication and marking. The path steps both endpoints through virtual time.

use std::collections::BTreeMap;

use crate::{Delivery, LossVerdict, Output, Receiver, Sender};
use fairwave_media::traffic::Unit;
use fairwave_network::packet::{Ecn, Packet};
use fairwave_units::units::{Instant, Rate, Span};

/// The fate of a data packet on the path.
pub enum PathFate {
    /// Delivers it.
    Pass,
    /// Loses it.
    Lose,
    /// Delivers it this much later.
    Late(Span),
    /// Delivers it twice.
    Twice,
}

/// Decides a data packet's fate from its number (from 0), its sending time and the packet.
pub type Judge = dyn FnMut(u64, Instant, &Packet) -> PathFate;

/// Decides whether to mark a data packet that can be marked, from the packet and the number of packets in the queue.
pub type Marker = dyn FnMut(&Packet, u64) -> bool;

/// Default limit on events: a law that sends without end fails instead of running forever.
const MOST_ACTS: u64 = 5_000_000;

/// Two endpoints and the path between them.
pub struct Wire<S, R> {
    /// The sending end.
    pub sender: S,
    /// The receiving end.
    pub receiver: R,
    /// Virtual time.
    pub now: Instant,
    /// One-way delay.
    pub delay: Span,
    /// Rate of the bottleneck; `None` for a path without one.
    pub bottleneck: Option<Rate>,
    /// Largest number of packets at the bottleneck, including the one in transmission.
    pub buffer: usize,
    /// Decides about each data packet.
    pub fate: Box<Judge>,
    /// Decides about marks.
    pub mark: Box<Marker>,
    /// Decides whether to lose a packet of the reverse path.
    pub lose_feedback: Box<dyn FnMut(u64, Instant) -> bool>,
    /// Units that the application will make, in time order.
    pub units: Vec<Unit>,
    /// Deliveries to the receiving application, with times.
    pub deliveries: Vec<(Instant, Delivery)>,
    /// Data packets with their sending times.
    pub sent: Vec<(Instant, Packet)>,
    /// Feedback packets with their sending times.
    pub feedback: Vec<(Instant, Packet)>,
    /// Packets dropped because the buffer was full.
    pub dropped: u64,
    /// Units that the sender's adaptation left out.
    pub skipped: u32,
    /// The receiver's verdicts on losses, with times.
    pub verdicts: Vec<(Instant, LossVerdict)>,
    /// Events so far.
    acts: u64,
    /// Events that a test allows before it fails.
    pub most_acts: u64,
    free_at: Instant,
    flying: BTreeMap<(Instant, u64), Packet>,
    order: u64,
    started: bool,
}

impl<S: Sender, R: Receiver> Wire<S, R> {
    /// Creates two ends, `delay` apart in each direction, with nothing else between them.
    pub fn new(sender: S, receiver: R, delay: Span) -> Self {
        Wire {
            sender,
            receiver,
            now: Instant::ZERO,
            delay,
            bottleneck: None,
            buffer: usize::MAX,
            fate: Box::new(|_, _, _| PathFate::Pass),
            mark: Box::new(|_, _| false),
            lose_feedback: Box::new(|_, _| false),
            units: Vec::new(),
            deliveries: Vec::new(),
            sent: Vec::new(),
            feedback: Vec::new(),
            dropped: 0,
            skipped: 0,
            verdicts: Vec::new(),
            acts: 0,
            most_acts: MOST_ACTS,
            free_at: Instant::ZERO,
            flying: BTreeMap::new(),
            order: 0,
            started: false,
        }
    }

    fn fly(&mut self, at: Instant, packet: Packet) {
        self.order += 1;
        self.flying.insert((at, self.order), packet);
    }

    fn launch(&mut self, mut packet: Packet) {
        if packet.feedback {
            let number = self.feedback.len() as u64;
            self.feedback.push((self.now, packet));
            if !(self.lose_feedback)(number, self.now) {
                self.fly(self.now + self.delay, packet);
            }
            return;
        }
        let number = self.sent.len() as u64;
        self.sent.push((self.now, packet));
        let fate = (self.fate)(number, self.now, &packet);
        if matches!(fate, PathFate::Lose) {
            return;
        }
        let mut departure = self.now;
        let mut waiting = 0;
        if let Some(rate) = self.bottleneck {
            waiting = (self.free_at - self.now).nanos() / rate.time_for(packet.size()).nanos().max(1);
            if waiting as usize >= self.buffer {
                self.dropped += 1;
                return;
            }
            departure = self.free_at.max(self.now) + rate.time_for(packet.size());
            self.free_at = departure;
        }
        if packet.ecn.can_be_marked() && (self.mark)(&packet, waiting) {
            packet.ecn = Ecn::Ce;
        }
        match fate {
            PathFate::Late(more) => self.fly(departure + self.delay + more, packet),
            PathFate::Twice => {
                self.fly(departure + self.delay, packet);
                self.fly(departure + self.delay, packet);
            }
            _ => self.fly(departure + self.delay, packet),
        }
    }

    fn absorb(&mut self, out: Output) {
        self.skipped += out.skipped;
        self.verdicts.extend(out.verdicts().map(|verdict| (self.now, verdict)));
        for packet in out.packets {
            self.launch(packet);
        }
        for delivery in out.deliveries {
            self.deliveries.push((self.now, delivery));
        }
    }

    /// Runs until `end`, which becomes the current time.
    pub fn run_until(&mut self, end: Instant) {
        if !self.started {
            self.started = true;
            self.units.reverse();
            let mut out = Output::default();
            self.sender.on_start(self.now, &mut out);
            self.absorb(out);
        }
        loop {
            let unit = self.units.last().map_or(Instant::NEVER, |u| u.created);
            let flight = self.flying.keys().next().map_or(Instant::NEVER, |k| k.0);
            let (tx, rx) = (self.sender.deadline(), self.receiver.deadline());
            let next = unit.min(flight).min(tx).min(rx);
            if next > end {
                break;
            }
            self.now = self.now.max(next);
            let mut out = Output::default();
            self.acts += 1;
            assert!(self.acts < self.most_acts, "{} events by {}: it spins", self.acts, self.now.seconds());
            if flight <= self.now {
                if let Some((_, packet)) = self.flying.pop_first() {
                    if packet.feedback {
                        self.sender.on_packet(self.now, &packet, &mut out);
                    } else {
                        self.receiver.on_packet(self.now, &packet, &mut out);
                    }
                }
            } else if unit <= self.now {
                if let Some(unit) = self.units.pop() {
                    self.sender.on_unit(self.now, unit, &mut out);
                }
            } else if tx <= self.now {
                self.sender.on_timer(self.now, &mut out);
                assert!(self.sender.deadline() > self.now || !out.packets.is_empty(), "the sender's timer spins");
            } else {
                self.receiver.on_timer(self.now, &mut out);
                assert!(self.receiver.deadline() > self.now, "the receiver's timer spins");
            }
            self.absorb(out);
        }
        self.now = end;
    }

    /// Payload rate delivered in [from, to), bits per second.
    pub fn goodput(&self, from: Instant, to: Instant) -> f64 {
        let inside = self.deliveries.iter().filter(|(time, _)| *time >= from && *time < to);
        inside.map(|(_, d)| f64::from(d.payload) * 8.0).sum::<f64>() / (to - from).seconds()
    }
}
