//! FQ-PIE: every flow has a separate queue; the queues take turns, and PIE manages each.
//!
//! Hashes and serves flows like FQ-CoDel (RFC 8290 §4, [`super::fq_codel`], `rounds`). The PIE of the arrival's queue (RFC
//! 8033, [`super::pie`]) decides about it, by the delay and length of that queue, as in Linux' `fq_pie`.
//!
//! A queue's delay is the queueing delay of the last packet that left, or 0 when the queue is empty. A queue's share of the
//! link is unknown, so its backlog does not determine its delay (RFC 8033 §4.3 allows timestamps, and Linux uses them).
//! Every queue updates its probability once per `update`. A queue does not change between arrivals and departures, so it
//! catches up on missed updates at the next of them. The result is exactly that of a timer, at a cost that does not grow
//! with the number of queues.
//!
//! **Choices.** Marking is off by default, as in Linux: `ecn = true` switches it on. Linux does not change the probability
//! while the delay is 0 and packets wait; here the RFC's rule applies. A full buffer drops by the victim rule, by default
//! the arrival, as Linux does.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::DropReason;
use super::buffer::Buffer;
use super::config::Capacity;
use super::discipline::{Arrival, Discipline, DisciplineLaw, Nature, Verdict};
use super::fq_codel::{check_queues, flows, memory_limit, quantum, queue_of};
use super::pie::{self, Settings, State, check_marking, marks_up_to};
use super::red::check_size;
use super::rounds::Rounds;
use super::ticker::Ticker;
use crate::packet::Packet;
use fairwave_units::config::{ConfigError, check_between, check_span};
use fairwave_units::random::Stream;
use fairwave_units::ratio::OptionalRatio;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::{Bytes, Instant, Rate, Span};

/// Flow queue PIE (Linux' `fq_pie`). It hashes flows into queues and serves the queues in turn, new flows first. PIE
/// keeps each queue short (RFC 8033).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct FqPieConfig {
    /// Target of the queueing delay in each queue (QDELAY_REF).
    #[serde(default = "pie::fifteen_millis")]
    pub target: Span,
    /// How often the drop probabilities are updated (T_UPDATE).
    #[serde(default = "pie::fifteen_millis")]
    pub update: Span,
    /// Length of a burst after calm that passes without drops (MAX_BURST).
    #[serde(default = "pie::max_burst")]
    pub max_burst: Span,
    /// Gain on the distance of the delay from its target, per second.
    #[serde(default = "pie::alpha")]
    pub alpha: f64,
    /// Gain on the change of the delay, per second.
    #[serde(default = "pie::beta")]
    pub beta: f64,
    /// Packet size on the wire: there are no drops while at most two such packets wait in a queue.
    #[serde(default = "quantum")]
    pub mean_packet: Bytes,
    /// Bytes that a queue may send per turn, 256 or more.
    #[serde(default = "quantum")]
    pub quantum: Bytes,
    /// Queues into which flows are hashed, 1 to 65536.
    #[serde(default = "flows")]
    pub flows: u32,
    /// Limit of waiting packets, in addition to the buffer's capacity.
    #[serde(default = "memory_limit")]
    pub memory_limit: Bytes,
    /// Mark instead of dropping early, if the packet's transport understands marks (RFC 8033 §5.1).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ecn: bool,
    /// The drop probability up to which packets are marked, in (0, 1]. Above it they are dropped. Only with `ecn`. Default: 0.1.
    #[serde(with = "OptionalRatio", default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = pie::MARK_UP_TO))]
    pub mark_ecnth: Option<f64>,
}

impl Checked for FqPieConfig {
    fn check(&self) -> Result<(), ConfigError> {
        check_span("target", self.target, "target = \"15 ms\"")?;
        check_span("update", self.update, "update = \"15 ms\"")?;
        check_between("alpha", self.alpha, 0.0, f64::INFINITY, "alpha = 0.125")?;
        check_between("beta", self.beta, 0.0, f64::INFINITY, "beta = 1.25")?;
        check_marking(self.ecn, self.mark_ecnth)?;
        check_size("mean-packet", self.mean_packet)?;
        check_queues(self.quantum, self.flows, self.memory_limit)
    }
}

impl Law for FqPieConfig {
    const NAME: &'static str = "fq-pie";
    const EXAMPLE: &'static str = r#"{"target": "15 ms", "ecn": true}"#;
}

impl DisciplineLaw for FqPieConfig {
    type Discipline = FqPie;
    const NATURE: Nature = Nature { fifo: false, ..Nature::FIFO };

    fn marks(&self) -> bool {
        self.ecn
    }

    fn bins(&self) -> usize {
        self.flows as usize
    }

    fn memory(&self) -> u64 {
        self.memory_limit.get()
    }

    fn discipline(&self, _capacity: Capacity, _rate: Rate) -> FqPie {
        let set = Settings {
            target: self.target.seconds(),
            update: self.update,
            max_burst: self.max_burst,
            alpha: self.alpha,
            beta: self.beta,
            two_packets: self.mean_packet.get().saturating_mul(2),
            mark_up_to: marks_up_to(self.ecn, self.mark_ecnth),
        };
        let line = FlowQueue { state: State::new(&set), waited: 0.0, ticker: Ticker::new(self.update) };
        FqPie {
            set,
            salt: None,
            lines: vec![line; self.flows as usize],
            rounds: Rounds::new(self.flows as usize, self.quantum.get()),
            last: 0.0,
        }
    }
}

/// A queue with its PIE state.
#[derive(Clone, Debug)]
struct FlowQueue {
    state: State,
    /// Queueing delay of the last packet that left, seconds; 0 if the queue is empty.
    waited: f64,
    ticker: Ticker,
}

/// State of FQ-PIE.
#[derive(Clone, Debug)]
pub struct FqPie {
    set: Settings,
    /// Salt of the hash, drawn when the first packet arrives.
    salt: Option<u64>,
    lines: Vec<FlowQueue>,
    rounds: Rounds,
    /// Drop probability of the queue with the last arrival or departure.
    last: f64,
}

impl FqPie {
    /// Does the updates of a queue that were due before `now`. The delay has not changed since then.
    #[inline]
    fn catch_up(&mut self, queue: u32, now: Instant) -> &mut FlowQueue {
        let line = &mut self.lines[queue as usize];
        while line.ticker.tick(now) {
            if !line.state.step(&self.set, line.waited) {
                line.ticker.skip(now);
            }
        }
        self.last = line.state.probability;
        line
    }

    fn queue_of(&self, packet: &Packet) -> u32 {
        queue_of(packet, self.salt.unwrap_or_default(), self.lines.len() as u32)
    }
}

impl Discipline for FqPie {
    #[inline]
    fn arrive(&mut self, arrival: &Arrival<'_>, stream: &mut Stream) -> Verdict {
        if self.salt.is_none() {
            self.salt = Some(stream.uniform_below(u64::MAX));
        }
        let queue = self.queue_of(arrival.packet);
        let backlog = arrival.buffer.bin_tally(queue).bytes;
        self.catch_up(queue, arrival.now);
        self.lines[queue as usize].state.verdict(&self.set, backlog, stream)
    }

    #[inline]
    fn bin(&mut self, _now: Instant, packet: &Packet, _buffer: &Buffer) -> u32 {
        let queue = self.queue_of(packet);
        self.rounds.arrived(queue);
        queue
    }

    #[inline]
    fn depart(&mut self, now: Instant, buffer: &mut Buffer, _drops: &mut Vec<(Packet, DropReason)>) -> Option<Packet> {
        loop {
            let queue = self.rounds.turn()?;
            let Some((packet, since)) = buffer.front_of_bin(queue).and_then(|place| buffer.serve(place)) else {
                self.rounds.was_empty(queue);
                continue;
            };
            let waited = if buffer.bin_tally(queue).packets == 0 { 0.0 } else { now.span_since(since).seconds() };
            self.catch_up(queue, now).waited = waited;
            self.rounds.sent(queue, u64::from(packet.wire));
            return Some(packet);
        }
    }

    /// Drop probability of the queue with the last arrival or departure.
    fn average(&self) -> Option<f64> {
        Some(self.last)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{packet, stream};
    use super::super::{Queue, QueueConfig};
    use super::*;
    use crate::packet::{Class, Ecn};

    fn queue(extra: &str) -> Queue {
        let text = format!(r#"{{"discipline":"fq-pie","capacity":{{"packets":1000}}{extra}}}"#);
        let config: QueueConfig = serde_json::from_str(&text).expect("fq-pie");
        config.check().expect("a sound queue");
        Queue::new(&config, Rate::from_bits_per_second(8_000_000), stream())
    }

    fn instant(millis: u64) -> Instant {
        Instant::ZERO + Span::from_millis(millis)
    }

    /// Runs 10 s: flow 0 sends one packet per 1 ms, flow 1 one per 20 ms, and the link takes one per 2 ms. Returns (sent,
    /// marked, dropped early) for both.
    fn shared(extra: &str, ecn: Ecn) -> [(u32, u32, u32); 2] {
        let (mut queue, mut drops, mut of) = (queue(extra), Vec::new(), [(0, 0, 0); 2]);
        for millis in 0..10_000 {
            queue.arrive(instant(millis), &Packet { ecn, ..packet(0, 1000, Class::Tcp) }, &mut drops);
            if millis % 20 == 0 {
                queue.arrive(instant(millis), &Packet { ecn, ..packet(1, 1000, Class::Tcp) }, &mut drops);
            }
            if millis % 2 == 0
                && let Some(packet) = queue.depart(instant(millis), &mut drops)
            {
                let of = &mut of[packet.flow.0 as usize];
                of.0 += 1;
                of.1 += u32::from(queue.has_marked());
            }
            for (packet, reason) in drops.drain(..) {
                of[packet.flow.0 as usize].2 += u32::from(reason == DropReason::Early);
            }
        }
        of
    }

    #[test]
    fn pie_acts_on_the_flow_whose_queue_stands_and_spares_the_other() {
        let [(_, marked, dropped), (sent, _, spared)] = shared("", Ecn::NotEct);
        // Flow 0 sends twice the remaining rate: about half is dropped once the burst allowance ends.
        assert!((4000..6000).contains(&dropped) && marked == 0, "{dropped}");
        assert_eq!((sent, spared), (500, 0), "all that flow 1 sends gets through");
    }

    #[test]
    fn marks_come_up_to_the_threshold_where_they_are_asked_for() {
        assert_eq!(shared("", Ecn::Ect0)[0].1, 0, "not by default, as in Linux");
        let [(_, marked, dropped), _] = shared(r#","ecn":true,"mark-ecnth":1.0"#, Ecn::Ect0);
        assert!(marked > 100 && dropped == 0, "{marked} {dropped}");
        let [(_, few, dropped), _] = shared(r#","ecn":true"#, Ecn::Ect0);
        assert!(few < marked && dropped > 1000, "beyond a tenth it drops: {few} {dropped}");
    }

    #[test]
    fn the_probability_of_a_queue_follows_how_long_its_packets_have_waited() {
        let law: FqPieConfig = serde_json::from_str(r#"{"flows":1}"#).expect("fq-pie");
        let mut law = law.discipline(Capacity::Packets(100), Rate::from_bits_per_second(8_000_000));
        let (mut buffer, mut drops) = (Buffer::with_bins(0, 1), Vec::new());
        for _ in 0..3 {
            let queue = law.bin(instant(0), &packet(0, 1000, Class::Tcp), &buffer);
            buffer.push_into(instant(0), &packet(0, 1000, Class::Tcp), queue);
        }
        assert!(law.depart(instant(10), &mut buffer, &mut drops).is_some());
        law.catch_up(0, instant(16));
        // One update with 10 ms: 0.125 (10 − 15 ms) + 1.25 · 10 ms, scaled by 1/2048 (§4.2).
        let expected = (0.125 * -0.005 + 1.25 * 0.010) / 2048.0;
        assert!((law.last - expected).abs() < 1e-15, "{}", law.last);
        assert!(law.depart(instant(20), &mut buffer, &mut drops).is_some());
        assert!((law.lines[0].waited - 0.020).abs() < 1e-12);
        assert!(law.depart(instant(30), &mut buffer, &mut drops).is_some());
        assert_eq!(law.lines[0].waited, 0.0, "an empty queue has no delay");
    }

    #[test]
    fn updates_made_up_for_late_are_those_of_a_timer() {
        let make = || {
            let law: FqPieConfig = serde_json::from_str(r#"{"flows":2}"#).expect("fq-pie");
            let mut law = law.discipline(Capacity::Packets(100), Rate::from_bits_per_second(8_000_000));
            (law.lines[1].waited, law.lines[1].state.probability) = (0.030, 0.05);
            law
        };
        let (mut late, mut timely) = (make(), make());
        for update in 1..=40u64 {
            timely.catch_up(1, instant(15 * update) + Span::from_nanos(1));
        }
        late.catch_up(1, instant(600) + Span::from_nanos(1));
        assert!(timely.last > 0.05 && late.last == timely.last, "{} {}", late.last, timely.last);
        assert_eq!(format!("{:?}", late.lines[1]), format!("{:?}", timely.lines[1]));
        assert_eq!(late.lines[0].state.probability, 0.0);
    }

    #[test]
    fn a_queue_of_two_packets_is_spared() {
        let verdict = |packets: u32| {
            let law: FqPieConfig = serde_json::from_str(r#"{"flows":1,"max-burst":"0 ms"}"#).expect("fq-pie");
            let mut law = law.discipline(Capacity::Packets(100), Rate::from_bits_per_second(8_000_000));
            let state = &mut law.lines[0].state;
            (state.probability, state.delay) = (1.0, 0.1);
            let mut buffer = Buffer::with_bins(0, 1);
            (0..packets).for_each(|_| buffer.push_into(instant(0), &packet(0, 1514, Class::Tcp), 0));
            let packet = packet(0, 1514, Class::Tcp);
            let arrival = Arrival { now: instant(0), packet: &packet, buffer: &buffer, idle: Span::ZERO, full: false };
            let mut stream = stream();
            [law.arrive(&arrival, &mut stream), law.arrive(&arrival, &mut stream)]
        };
        assert_eq!(verdict(2), [Verdict::Admit; 2]);
        assert_eq!(verdict(3), [Verdict::Drop; 2]);
    }

    #[test]
    fn packets_in_other_queues_do_not_count() {
        let law: FqPieConfig = serde_json::from_str(r#"{"flows":2,"max-burst":"0 ms"}"#).expect("fq-pie");
        let mut law = law.discipline(Capacity::Packets(100), Rate::from_bits_per_second(8_000_000));
        let packet = packet(0, 1514, Class::Tcp);
        let mut stream = stream();
        let mut verdict = |law: &mut FqPie, waits_in_own: bool| {
            let own = law.queue_of(&packet);
            let state = &mut law.lines[own as usize].state;
            (state.probability, state.delay) = (1.0, 0.1);
            let mut buffer = Buffer::with_bins(0, 2);
            (0..50).for_each(|_| buffer.push_into(instant(0), &packet, if waits_in_own { own } else { 1 - own }));
            let arrival = Arrival { now: instant(0), packet: &packet, buffer: &buffer, idle: Span::ZERO, full: false };
            law.arrive(&arrival, &mut stream)
        };
        // The first arrival draws the hash.
        verdict(&mut law, false);
        assert_eq!((verdict(&mut law, false), verdict(&mut law, true)), (Verdict::Admit, Verdict::Drop));
    }

    #[test]
    fn rejects_invalid_values() {
        for (extra, named) in [
            (r#","mark-ecnth":0.5"#, "left out without"),
            (r#","quantum":"1 B""#, "256 B or more"),
            (r#","update":"0 ms""#, "a time above 0"),
        ] {
            let text = format!(r#"{{"discipline":"fq-pie","capacity":{{"packets":1000}}{extra}}}"#);
            let config: QueueConfig = serde_json::from_str(&text).expect("fq-pie");
            assert!(config.check().expect_err("refused").to_string().contains(named), "{extra}");
        }
    }
}
