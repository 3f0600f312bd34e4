//! Test bench: senders with controllers, one link with a real queue, and receivers that report on every packet.
//!
//! Time advances in steps of 1 ms; the link's service is exact. A sender produces video at 30 frames/s, ±15 % in size,
//! and paces it. The video rate is the controller's target less 48 kb/s of audio. The window does not limit audio.

use std::collections::VecDeque;

use fairwave_network::dscp::Dscp;
use fairwave_network::packet::{Body, Class, Ecn, FlowId, Packet};
use fairwave_network::queue::{Queue, QueueConfig};
use fairwave_units::random::{Seed, Stream};
use fairwave_units::units::{Bytes, Instant, Rate, Span};

use super::{
    AnyRateController, Carries, Feedback, Limits, LossReport, PacketReport, RateControlConfig, RateController,
    SentPacket,
};

/// Returns the report of a packet of 1000 bytes, sent at `sent` ms, arrived at `arrived` ms.
pub(super) fn report(sequence: u64, sent: u64, arrived: Option<u64>) -> PacketReport {
    let at = |ms: u64| Instant::ZERO + Span::from_millis(ms);
    let packet = SentPacket { sequence, sent: at(sent), size: Bytes::new(1000), carries: Carries::Video, probe: None };
    PacketReport { packet, arrived: arrived.map(at), ecn: Ecn::NotEct }
}

/// Returns a feedback message at `now` ms. Its round trip is that of the newest arrived packet.
pub(super) fn feedback(now: u64, packets: &[PacketReport]) -> Feedback<'_> {
    let now = Instant::ZERO + Span::from_millis(now);
    let newest = packets.iter().rev().find(|report| report.arrived.is_some());
    Feedback {
        now,
        packets,
        round_trip: newest.map_or(Span::ZERO, |report| now - report.packet.sent),
        in_flight: Bytes::default(),
        waiting: Bytes::default(),
        waits: Span::ZERO,
    }
}

/// Returns limits; rates in bits per second.
pub(super) fn limits(start: u64, least: u64, most: u64) -> Limits {
    let rate = Rate::from_bits_per_second;
    Limits { start: rate(start), least: rate(least), most: rate(most) }
}

/// Returns a controller from scenario text.
pub(super) fn controller(law: &str) -> AnyRateController {
    let config: RateControlConfig = serde_json::from_str(law).expect(law);
    config.controller(Seed(1).stream("control")).expect(law)
}

/// A link, and its feedback path.
pub(super) struct Path {
    pub rate: u64,
    /// One-way delay, ms.
    pub one_way: u64,
    pub queue: String,
    /// Share of packets lost at random before the queue.
    pub loss: f64,
    /// Interval of feedback messages, ms.
    pub feedback: u64,
    /// Share of feedback messages lost.
    pub feedback_loss: f64,
    /// Changes of the rate: second, new rate in bits per second.
    pub changes: Vec<(u64, u64)>,
}

impl Path {
    /// Returns a path with a drop-tail queue of `queue` milliseconds.
    pub fn drop_tail(rate: u64, one_way: u64, queue: u64) -> Self {
        let queue = format!(r#"{{"discipline": "drop-tail", "capacity": {{"bytes": {}}}}}"#, rate * queue / 8000);
        Path { rate, one_way, queue, loss: 0.0, feedback: 33, feedback_loss: 0.0, changes: Vec::new() }
    }

    /// Returns a path with DualPI2 and this PI target. Its L queue marks only by the coupled probability, as
    /// libwebrtc's emulated one.
    pub fn dualpi2(rate: u64, one_way: u64) -> Self {
        let queue =
            r#"{"discipline": "dualpi2", "capacity": {"packets": 1000}, "target": "10 ms", "step-thresh": "100 s"}"#;
        Path { queue: queue.to_owned(), ..Path::drop_tail(rate, one_way, 300) }
    }
}

/// Course of one sender, by second.
#[derive(Default, Debug)]
pub(super) struct Course {
    /// Target at the end of each second, bits per second.
    pub targets: Vec<f64>,
    /// Bits arrived in each second.
    pub received: Vec<f64>,
    /// Longest queueing delay in each second, seconds.
    pub queued: Vec<f64>,
    pub sent: u64,
    pub lost: u64,
    pub marked: u64,
}

impl Course {
    /// Returns the mean arrival rate from second `from` on.
    pub fn mean(&self, from: usize) -> f64 {
        self.received[from..].iter().sum::<f64>() / (self.received.len() - from) as f64
    }

    /// Returns the lowest and the highest target from the end of second `from` on (the first is 1).
    pub fn band(&self, from: usize) -> (f64, f64) {
        let all = &self.targets[from..];
        (all.iter().copied().fold(f64::INFINITY, f64::min), all.iter().copied().fold(0.0, f64::max))
    }
}

/// Report of the receiver on a packet: number, arrival time, ECN code point.
type SentMessage = (u64, Option<Instant>, Ecn);

struct End {
    controller: AnyRateController,
    ecn: Ecn,
    limits: Limits,
    random: Stream,
    /// Pacer queue: size, content, arrival time.
    queue: VecDeque<(u64, Carries, Instant)>,
    next_send: Instant,
    sent: VecDeque<SentPacket>,
    sequence: u64,
    in_flight: u64,
    padded: f64,
    /// At the receiver: packets not reported yet, and the first number of the next message.
    arrived: Vec<(u64, Instant, Ecn)>,
    reported: u64,
    expected: (u64, u64),
    course: Course,
}

/// Runs senders with these controllers over one link; each starts at its given second.
pub(super) fn run(path: &Path, laws: &[(&str, u64)], limits: Limits, seconds: u64) -> Vec<Course> {
    let step = Span::from_millis(1);
    let rate_of = |at: u64| path.changes.iter().rev().find(|(from, _)| at >= from * 1000).map_or(path.rate, |c| c.1);
    let config: QueueConfig = serde_json::from_str(&path.queue).expect("a queue");
    let mut queue = Queue::new(&config, Rate::from_bits_per_second(path.rate), Seed(7).stream("queue"));
    let mut link_random = Seed(7).stream("loss");
    let (mut free, mut drops) = (Instant::ZERO, Vec::new());
    let mut air: VecDeque<(Instant, Packet)> = VecDeque::new();
    let mut back: VecDeque<(Instant, usize, Vec<SentMessage>)> = VecDeque::new();
    let mut ends: Vec<End> = laws
        .iter()
        .enumerate()
        .map(|(number, (law, _))| End {
            controller: controller(law),
            ecn: serde_json::from_str::<RateControlConfig>(law).expect(law).ecn(),
            limits,
            random: Seed(number as u64).stream("frames"),
            queue: VecDeque::new(),
            next_send: Instant::ZERO,
            sent: VecDeque::new(),
            sequence: 0,
            in_flight: 0,
            padded: 0.0,
            arrived: Vec::new(),
            reported: 0,
            expected: (0, 0),
            course: Course::default(),
        })
        .collect();
    let one_way = Span::from_millis(path.one_way);
    for tick in 0..seconds * 1000 {
        let (now, before) = (Instant::ZERO + step * tick, Instant::ZERO + step * tick.saturating_sub(1));
        let rate = Rate::from_bits_per_second(rate_of(tick));
        let mut serve = |queue: &mut Queue, from: Instant| {
            while free <= now && queue.packets() > 0 {
                let at = free.max(from);
                let Some(packet) = queue.depart(at, &mut drops) else { break };
                free = at + rate.time_for(packet.size());
                air.push_back((free + one_way, packet));
            }
        };
        serve(&mut queue, before);
        for (number, end) in ends.iter_mut().enumerate() {
            let begins = laws[number].1 * 1000;
            if tick < begins {
                continue;
            }
            if tick == begins {
                end.controller.on_limits(now, end.limits);
            }
            if end.controller.deadline() <= now {
                end.controller.on_timer(now);
            }
            for packet in end.due(now, tick - begins) {
                let body = Body::Datagram {
                    payload: packet.wire,
                    sequence: end.sequence as u32 - 1,
                    unit: 0,
                    part: 0,
                    parts: 1,
                    created: now,
                };
                let packet = Packet { flow: FlowId(number as u32), body, ..packet };
                if !link_random.chance(path.loss) {
                    queue.arrive(now, &packet, &mut Vec::new());
                }
            }
        }
        serve(&mut queue, now);
        while air.front().is_some_and(|(at, _)| *at <= now) {
            let Some((at, packet)) = air.pop_front() else { break };
            let Body::Datagram { sequence, created, .. } = packet.body else { continue };
            let end = &mut ends[packet.flow.0 as usize];
            end.arrived.push((u64::from(sequence), at, packet.ecn));
            let second = (tick / 1000) as usize;
            end.course.received.resize(second + 1, 0.0);
            end.course.queued.resize(second + 1, 0.0);
            end.course.received[second] += f64::from(packet.wire) * 8.0;
            let queued = (at - created).seconds() - one_way.seconds();
            end.course.queued[second] = end.course.queued[second].max(queued);
            end.course.marked += u64::from(packet.ecn == Ecn::Ce);
        }
        for (number, end) in ends.iter_mut().enumerate() {
            if tick.is_multiple_of(path.feedback)
                && let Some(message) = end.message()
                && !link_random.chance(path.feedback_loss)
            {
                back.push_back((now + one_way, number, message));
            }
            if tick % 1000 == 0 && tick > laws[number].1 * 1000 {
                end.report(now, one_way);
            }
        }
        while back.front().is_some_and(|(at, ..)| *at <= now) {
            let Some((_, number, message)) = back.pop_front() else { break };
            ends[number].feedback(now, &message);
        }
        for end in &mut ends {
            let decision = end.controller.decision();
            let target = decision.target.bits_per_second();
            let least = end.limits.least.bits_per_second();
            let has_begun = end.course.sent > 0;
            assert!(!has_begun || target >= least && target <= end.limits.most.bits_per_second(), "{decision:?}");
            if tick % 1000 == 999 {
                end.course.targets.push(target as f64);
                end.course.received.resize((tick / 1000) as usize + 1, 0.0);
                end.course.queued.resize((tick / 1000) as usize + 1, 0.0);
            }
        }
    }
    ends.into_iter().map(|end| end.course).collect()
}

impl End {
    fn due(&mut self, now: Instant, tick: u64) -> Vec<Packet> {
        let decision = self.controller.decision();
        if tick.is_multiple_of(20) {
            self.queue.push_front((120, Carries::Audio, now));
        }
        if tick.is_multiple_of(33) {
            let rate = decision.target.bits_per_second().saturating_sub(48_000) as f64;
            let mut left = (rate * 0.033 / 8.0 * (0.85 + 0.3 * self.random.uniform())) as u64;
            while left > 0 {
                let size = left.min(1200);
                self.queue.push_back((size.max(60), Carries::Video, now));
                left -= size;
            }
        }
        self.padded = (self.padded + decision.padding.bits_per_second() as f64 / 8000.0).min(2400.0);
        let mut due = Vec::new();
        while self.next_send <= now {
            let Some(&(size, carries, _)) = self.queue.front() else { break };
            let is_full = decision.window.is_some_and(|window| self.in_flight + size > window.get());
            if is_full && carries != Carries::Audio {
                break;
            }
            self.queue.pop_front();
            due.push(self.send(now, size, carries, decision.pacing));
        }
        while self.queue.is_empty() && self.padded >= 240.0 && self.next_send <= now {
            due.push(self.send(now, 240, Carries::Padding, decision.pacing));
        }
        due
    }

    fn send(&mut self, now: Instant, size: u64, carries: Carries, pacing: Rate) -> Packet {
        let sent = SentPacket { sequence: self.sequence, sent: now, size: Bytes::new(size), carries, probe: None };
        self.next_send = self.next_send.max(now) + pacing.time_for(Bytes::new(size));
        self.sequence += 1;
        self.in_flight += size;
        self.padded -= size as f64;
        self.course.sent += 1;
        self.sent.push_back(sent);
        self.controller.on_sent(&sent);
        let body = Body::Datagram { payload: 0, sequence: 0, unit: 0, part: 0, parts: 1, created: now };
        Packet {
            flow: FlowId(0),
            wire: size as u16,
            class: Class::OtherUdp,
            feedback: false,
            ecn: self.ecn,
            dscp: Dscp::DF,
            layer: 0,
            body,
        }
    }

    fn message(&mut self) -> Option<Vec<SentMessage>> {
        let last = self.arrived.iter().map(|arrival| arrival.0).max()?;
        let first = self.reported.min(self.arrived.iter().map(|arrival| arrival.0).min()?);
        let mut message: Vec<_> = (first..=last.max(first)).map(|number| (number, None, Ecn::NotEct)).collect();
        for (number, at, ecn) in self.arrived.drain(..) {
            message[(number - first) as usize] = (number, Some(at), ecn);
        }
        let missing = message.iter().filter(|one| one.1.is_none()).count() as u64;
        self.course.lost += missing;
        self.expected = (self.expected.0 + missing, self.expected.1 + message.len() as u64);
        self.reported = self.reported.max(last + 1);
        Some(message)
    }

    fn feedback(&mut self, now: Instant, message: &[SentMessage]) {
        let mut packets = Vec::new();
        for &(number, arrived, ecn) in message {
            let Ok(place) = self.sent.binary_search_by_key(&number, |packet| packet.sequence) else { continue };
            packets.push(PacketReport { packet: self.sent[place], arrived, ecn });
        }
        // Packets of a lost message are not in flight either.
        let last = message.last().map_or(0, |one| one.0);
        while self.sent.front().is_some_and(|packet| packet.sequence <= last) {
            self.in_flight -= self.sent.pop_front().map_or(0, |packet| packet.size.get());
        }
        let newest = packets.iter().rev().find(|report| report.arrived.is_some());
        let feedback = Feedback {
            now,
            packets: &packets,
            round_trip: newest.map_or(Span::ZERO, |report| now - report.packet.sent),
            in_flight: Bytes::new(self.in_flight),
            waiting: Bytes::new(self.queue.iter().map(|waiting| waiting.0).sum()),
            waits: self.queue.front().map_or(Span::ZERO, |waiting| now - waiting.2),
        };
        self.controller.on_feedback(&feedback);
    }

    fn report(&mut self, now: Instant, one_way: Span) {
        let (lost, expected) = std::mem::take(&mut self.expected);
        let fraction_lost = lost as f64 / expected.max(1) as f64;
        let report = LossReport { now, fraction_lost, expected: expected as u32, round_trip: Some(one_way * 2) };
        self.controller.on_report(&report);
    }
}

/// Feeds lost, duplicated, reordered and hostile feedback, and timers, from random numbers. The decision must stay
/// within limits.
pub(super) fn torture(law: &str, random: &[(u8, u16, u16, bool)]) {
    let mut controller = controller(law);
    let limits = limits(300_000, 30_000, 2_500_000);
    let mut now = Instant::ZERO;
    controller.on_limits(now, limits);
    let mut all: Vec<PacketReport> = Vec::new();
    for (number, &(what, a, b, arrived)) in random.iter().enumerate() {
        now += Span::from_micros(u64::from(b));
        let packet = SentPacket {
            sequence: number as u64,
            sent: now,
            size: Bytes::new(u64::from(a) % 1500),
            carries: Carries::Video,
            probe: None,
        };
        controller.on_sent(&packet);
        // The receiver's clock may have any offset.
        let at = Instant::from_nanos(u64::from(a) * u64::from(b) * 7919);
        let ecn = if a % 5 == 0 { Ecn::Ce } else { Ecn::Ect1 };
        all.push(PacketReport { packet, arrived: arrived.then_some(at), ecn });
        let (low, high) = (usize::from(a) % all.len(), usize::from(b) % all.len());
        let packets = &all[low.min(high)..=low.max(high)];
        match what % 8 {
            0..5 => controller.on_feedback(&Feedback {
                now,
                packets,
                round_trip: Span::from_micros(u64::from(a) * u64::from(what)),
                in_flight: Bytes::new(u64::from(b)),
                waiting: Bytes::new(u64::from(a)),
                waits: Span::from_micros(u64::from(b)),
            }),
            5 => controller.on_report(&LossReport {
                now,
                fraction_lost: f64::from(a) / 65535.0,
                expected: u32::from(b),
                round_trip: arrived.then_some(Span::from_micros(u64::from(b))),
            }),
            6 if controller.deadline() < Instant::NEVER => {
                now = now.max(controller.deadline());
                controller.on_timer(now);
            }
            6 => controller.on_feedback(&Feedback { packets: &[], ..feedback(0, &[]) }),
            _ => controller.on_limits(now, limits),
        }
        let decision = controller.decision();
        assert!(decision.target >= limits.least && decision.target <= limits.most, "{law}: {decision:?}");
        assert!(
            decision.pacing.bits_per_second() >= 30_000 && decision.pacing.bits_per_second() < 1 << 50,
            "{decision:?}"
        );
        let view = controller.view();
        for value in [view.capacity, view.queueing_delay, view.round_trip, view.lost, view.marked] {
            assert!(value.is_none_or(f64::is_finite), "{law}: {view:?}");
        }
    }
}
