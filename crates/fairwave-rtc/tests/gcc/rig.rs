//! Test bench: a sender, a bottleneck with a queue, and a receiver that reports each packet, in steps of one
//! millisecond.

use fairwave_network::packet::Ecn;
use fairwave_rtc::control::{
    Carries, Decision, Feedback, Limits, LossReport, PacketReport, Probe, RateControlConfig, RateController, SentPacket,
};
use fairwave_units::random::{Seed, Stream};
use fairwave_units::units::{Bytes, Instant, Rate, Span};
use std::collections::{BTreeSet, VecDeque};

/// Inputs of both controllers.
pub trait Controller {
    fn on_sent(&mut self, packet: &SentPacket, probe: Option<&Probe>, in_flight: u64);
    fn on_feedback(&mut self, feedback: &Feedback<'_>);
    fn on_report(&mut self, report: &LossReport);
    fn on_timer(&mut self, now: Instant);
    /// Bits per second.
    fn target(&self) -> f64;
    /// Rates of requested probes, bits per second.
    fn probes(&self) -> Vec<f64> {
        Vec::new()
    }
}

/// Results of a scene.
pub struct Seen {
    /// Samples, every tenth of a second.
    pub samples: Vec<Sample>,
    /// Probes of `gcc`: time, and rate in bits per second.
    pub probes: Vec<(f64, f64)>,
    /// Longest queue, seconds, from each whole second on.
    pub queues: Vec<f64>,
    /// States of `gcc`.
    pub states: BTreeSet<&'static str>,
    /// Largest padding rate of `gcc`, bits per second.
    pub padding: f64,
}

/// Path and application, over time.
pub struct Scene {
    /// Link rates: second, bits per second from then on.
    pub rate: Vec<(f64, f64)>,
    /// One-way delays, seconds: second, value from then on.
    pub delay: Vec<(f64, f64)>,
    /// Longest queue, seconds.
    pub queue: f64,
    /// Loss rates: second, share of packets lost from then on.
    pub loss: Vec<(f64, f64)>,
    /// Largest application rates: second, bits per second from then on.
    pub application: Vec<(f64, f64)>,
    pub start: f64,
    pub most: f64,
    pub seconds: f64,
}

impl Default for Scene {
    fn default() -> Self {
        Scene {
            rate: vec![(0.0, 1e6)],
            delay: vec![(0.0, 0.05)],
            queue: 0.3,
            loss: vec![(0.0, 0.0)],
            application: vec![(0.0, f64::INFINITY)],
            start: 300_000.0,
            most: 2_500_000.0,
            seconds: 60.0,
        }
    }
}

fn at(steps: &[(f64, f64)], seconds: f64) -> f64 {
    steps.iter().rev().find(|step| step.0 <= seconds).expect("a step at 0").1
}

/// Sample at a tenth of a second.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    pub seconds: f64,
    pub ours: f64,
    pub other: f64,
}

struct InFlight {
    sent: SentPacket,
    arrived: Option<Instant>,
}

/// Runs a scene. `gcc` controls the sender; the other controller only observes.
pub fn run(scene: &Scene, config: &str, other: &mut dyn Controller) -> Seen {
    let config: RateControlConfig = serde_json::from_str(config).expect("a controller");
    let mut ours = config.controller(Seed(1).stream("control")).expect("allowed");
    let bits = |rate: f64| Rate::from_bits_per_second(rate as u64);
    let limits = Limits { start: bits(scene.start), least: bits(5_000.0), most: bits(scene.most) };
    ours.on_limits(Instant::ZERO, limits);
    let mut stream: Stream = Seed(7).stream("loss");
    let mut seen =
        Seen { samples: Vec::new(), probes: Vec::new(), queues: Vec::new(), states: BTreeSet::new(), padding: 0.0 };
    let mut waiting: VecDeque<u64> = VecDeque::new(); // sizes in the pacer
    let mut probes: VecDeque<(Probe, u64, u32, f64)> = VecDeque::new(); // sent bytes, packets, time of the next one
    let mut window: VecDeque<InFlight> = VecDeque::new(); // sent, not reported yet
    let mut messages: VecDeque<(Instant, Vec<PacketReport>)> = VecDeque::new();
    let mut reports: VecDeque<LossReport> = VecDeque::new();
    let (mut free, mut budget, mut padding, mut next_frame, mut next_message, mut sequence) =
        (0.0_f64, 0.0_f64, 0.0_f64, 0.0, 0.05, 0_u64);
    let (mut counted, mut lost) = (0_u32, 0_u32);
    let mut in_flight = 0_u64;
    let ends = (scene.seconds * 1e3) as u64;
    for tick in 0..ends {
        let now = Instant::from_nanos(tick * 1_000_000);
        let seconds = now.seconds();
        let delay = at(&scene.delay, seconds);
        // Arrivals at the sender.
        while messages.front().is_some_and(|message| message.0 <= now) {
            let (_, packets) = messages.pop_front().expect("there is one");
            in_flight -= packets.iter().map(|report| report.packet.size.get()).sum::<u64>();
            let newest = packets.iter().rev().find(|report| report.arrived.is_some());
            let feedback = Feedback {
                now,
                packets: &packets,
                round_trip: newest.map_or(Span::ZERO, |report| now.span_since(report.packet.sent)),
                in_flight: Bytes::new(in_flight),
                waiting: Bytes::new(waiting.iter().sum()),
                waits: Span::ZERO,
            };
            ours.on_feedback(&feedback);
            other.on_feedback(&feedback);
        }
        while reports.front().is_some_and(|report| report.now <= now) {
            let report = reports.pop_front().expect("there is one");
            ours.on_report(&report);
            other.on_report(&report);
        }
        if ours.deadline() <= now {
            ours.on_timer(now);
            other.on_timer(now);
        }
        while let Some(probe) = ours.next_probe() {
            probes.push_back((probe, 0, 0, seconds));
            seen.probes.push((seconds, probe.rate.bits_per_second() as f64));
        }
        let decision: Decision = ours.decision();
        // The application.
        if seconds >= next_frame {
            next_frame += 1.0 / 30.0;
            let rate = (decision.target.bits_per_second() as f64).min(at(&scene.application, seconds));
            let mut bytes = (rate / 30.0 / 8.0) as u64;
            while bytes > 0 {
                let size = bytes.min(1200);
                waiting.push_back(size.max(60));
                bytes -= size;
            }
        }
        // The pacer: probes first.
        let mut send = Vec::new();
        while let Some((probe, bytes, packets, next)) = probes.front_mut() {
            if *next > seconds + 1e-9 {
                break;
            }
            let size = waiting.pop_front().unwrap_or(240).max(200);
            *bytes += size;
            *packets += 1;
            *next += size as f64 * 8.0 / probe.rate.bits_per_second() as f64;
            send.push((size, Some(*probe)));
            if *packets >= probe.packets && *bytes >= probe.rate.bytes_in(probe.lasts).get() {
                let ended = *next;
                probes.pop_front();
                if let Some(following) = probes.front_mut() {
                    following.3 = ended;
                }
            }
        }
        budget = (budget + decision.pacing.bits_per_second() as f64 / 8e3)
            .min(decision.pacing.bits_per_second() as f64 / 8e3);
        while budget > 0.0 && !waiting.is_empty() && send.iter().all(|packet| packet.1.is_none()) {
            let size = waiting.pop_front().expect("not empty");
            budget -= size as f64;
            send.push((size, None));
        }
        let sent_now: u64 = send.iter().map(|packet| packet.0).sum();
        padding = (padding + decision.padding.bits_per_second() as f64 / 8e3 - sent_now as f64).clamp(-20_000.0, 240.0);
        if padding >= 240.0 {
            padding = 0.0;
            send.push((240, None));
        }
        // The path.
        for (place, (size, probe)) in send.into_iter().enumerate() {
            let moment = Instant::from_nanos(now.nanos() + 1000 * place as u64);
            let sent = SentPacket {
                sequence,
                sent: moment,
                size: Bytes::new(size),
                carries: Carries::Video,
                probe: probe.map(|probe| probe.cluster),
            };
            sequence += 1;
            in_flight += size;
            ours.on_sent(&sent);
            other.on_sent(&sent, probe.as_ref(), in_flight);
            let rate = at(&scene.rate, seconds);
            let arrived = if free - seconds > scene.queue || stream.uniform() < at(&scene.loss, seconds) {
                None
            } else {
                free = free.max(seconds) + size as f64 * 8.0 / rate;
                Some(Instant::from_nanos(((free + delay) * 4e3).round() as u64 * 250_000))
            };
            counted += 1;
            lost += u32::from(arrived.is_none());
            window.push_back(InFlight { sent, arrived });
        }
        // The receiver.
        if seconds >= next_message {
            next_message += 0.05;
            let arrived = |packet: &InFlight| packet.arrived.is_some_and(|time| time <= now);
            if let Some(last) = window.iter().rposition(arrived) {
                let message: Vec<PacketReport> = window
                    .drain(..=last)
                    .map(|packet| PacketReport { packet: packet.sent, arrived: packet.arrived, ecn: Ecn::NotEct })
                    .collect();
                messages.push_back((now + Span::from_seconds(delay), message));
            }
        }
        if tick % 1000 == 999 && counted > 0 {
            reports.push_back(LossReport {
                now: now + Span::from_seconds(delay),
                fraction_lost: f64::from(lost) / f64::from(counted),
                expected: counted,
                round_trip: Some(Span::from_seconds(2.0 * delay + (free - seconds).max(0.0))),
            });
            (counted, lost) = (0, 0);
        }
        if tick % 1000 == 0 {
            seen.queues.push(0.0);
        }
        if let Some(longest) = seen.queues.last_mut() {
            *longest = longest.max(free - seconds);
        }
        seen.states.insert(ours.view().state);
        seen.padding = seen.padding.max(decision.padding.bits_per_second() as f64);
        if tick % 100 == 0 {
            seen.samples.push(Sample { seconds, ours: ours.view().capacity.expect("always"), other: other.target() });
        }
    }
    seen
}

/// No second controller.
pub struct Alone;

impl Controller for Alone {
    fn on_sent(&mut self, _: &SentPacket, _: Option<&Probe>, _: u64) {}
    fn on_feedback(&mut self, _: &Feedback<'_>) {}
    fn on_report(&mut self, _: &LossReport) {}
    fn on_timer(&mut self, _: Instant) {}
    fn target(&self) -> f64 {
        0.0
    }
}

impl Seen {
    /// Returns the estimate of `gcc` at a second, bits per second.
    pub fn at(&self, seconds: f64) -> f64 {
        self.samples.iter().rev().find(|sample| sample.seconds <= seconds + 1e-9).expect("within the scene").ours
    }

    fn within(&self, from: f64, until: f64) -> impl Iterator<Item = &Sample> {
        self.samples.iter().filter(move |sample| (from..until).contains(&sample.seconds))
    }

    /// Returns the mean estimate of `gcc` from one second to another.
    pub fn mean(&self, from: f64, until: f64) -> f64 {
        self.within(from, until).map(|sample| sample.ours).sum::<f64>() / self.within(from, until).count() as f64
    }

    /// Returns the largest estimate of `gcc` from one second to another.
    pub fn most(&self, from: f64, until: f64) -> f64 {
        self.within(from, until).map(|sample| sample.ours).fold(0.0, f64::max)
    }
}
