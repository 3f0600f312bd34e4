//! AFD: drops arrivals of flows that sent more than their share of the recent past.
//!
//! Follows Pan, Breslau, Prabhakar & Shenker, "Approximate Fairness through Differential Dropping" (2003). A shadow buffer
//! holds a sample of recent arrivals, including dropped ones. A flow with m samples in it is dropped with probability (1 −
//! m_fair/m)₊, so that its admitted packets match the fair share m_fair. Every update interval (160 per second)
//!
//! m_fair ← m_fair + α(Q_old − Q_target) − β(Q − Q_target), α = 1.7, β = 1.8,
//!
//! as in the PI controller. Paper 004 §2 names AFD among the schemes for unresponsive flows. AFD always drops the arrival.
//!
//! **Assumptions.** Lengths are in packets of `mean-packet` bytes. An arrival is sampled with probability size / (`sampling`
//! · `mean-packet`), at most 1, so a flow's samples count its bytes. The newest sample replaces the oldest. `shadow` and
//! `sampling` are 500 and 5 unless given, so that the sample covers about 2500 mean packets. The target is a quarter of the
//! buffer unless given. m_fair starts at the size of the shadow buffer, at which AFD drops no flow, and stays between 0 and
//! that size. An arrival of a flow without samples is admitted. α and β come from a third-party Linux module that names the
//! paper. The update rate, `shadow` and `sampling` are not checked against the paper's text.

use std::collections::{HashMap, VecDeque};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::DropReason;
use super::buffer::Buffer;
use super::config::Capacity;
use super::discipline::{Arrival, Discipline, DisciplineLaw, Nature, Verdict};
use super::red::{MEAN_PACKET, check_size};
use super::ticker::Ticker;
use crate::packet::{FlowId, Packet};
use fairwave_units::config::{ConfigError, check_between};
use fairwave_units::random::Stream;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::{Bytes, Instant, Rate, Span};

/// Upper limit of `shadow`.
const MOST_SAMPLES: u32 = 1_000_000;

/// Approximate fair dropping (Pan, Breslau, Prabhakar & Shenker 2003). A flow's share of a sample of recent arrivals
/// decides how many of its packets are dropped; the queue length sets the fair share.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct AfdConfig {
    /// Samples that the shadow buffer holds, from 1 to 1000000.
    #[serde(default = "shadow")]
    pub shadow: u32,
    /// One in this many arriving mean packets is sampled, 1 or more.
    #[serde(default = "sampling")]
    pub sampling: f64,
    /// Queue length to settle at, in mean packets, above 0; a quarter of the buffer when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "a quarter of the buffer"))]
    pub target: Option<f64>,
    /// Weight of the queue length at the update before, above 0.
    #[serde(default = "alpha")]
    pub alpha: f64,
    /// Weight of the queue length, above `alpha`.
    #[serde(default = "beta")]
    pub beta: f64,
    /// Time between updates of the fair share.
    #[serde(default = "interval")]
    pub interval: Span,
    /// Mean packet size on the wire.
    #[serde(default = "mean_packet")]
    pub mean_packet: Bytes,
}

fn shadow() -> u32 {
    500
}

fn sampling() -> f64 {
    5.0
}

fn alpha() -> f64 {
    1.7
}

fn beta() -> f64 {
    1.8
}

fn interval() -> Span {
    Span::from_micros(6250)
}

fn mean_packet() -> Bytes {
    MEAN_PACKET
}

impl AfdConfig {
    fn target(&self, capacity: Capacity) -> f64 {
        self.target.unwrap_or_else(|| capacity.packet_count(self.mean_packet) / 4.0)
    }
}

impl Checked for AfdConfig {
    fn check(&self) -> Result<(), ConfigError> {
        if !(1..=MOST_SAMPLES).contains(&self.shadow) {
            return Err(ConfigError::new("shadow", self.shadow, "from 1 to 1000000", "shadow = 500"));
        }
        if !(self.sampling >= 1.0 && self.sampling.is_finite()) {
            return Err(ConfigError::new("sampling", self.sampling, "1 or more", "sampling = 5"));
        }
        if let Some(target) = self.target {
            check_between("target", target, 0.0, f64::INFINITY, "target = 50")?;
        }
        check_between("alpha", self.alpha, 0.0, f64::INFINITY, "alpha = 1.7")?;
        check_between(
            "beta",
            self.beta,
            self.alpha,
            f64::INFINITY,
            &format!("beta = {}", (2.0 * self.alpha).max(1.8)),
        )?;
        if self.interval == Span::ZERO {
            return Err(ConfigError::new("interval", "0 s", "above 0", "interval = \"6.25 ms\""));
        }
        check_size("mean-packet", self.mean_packet)
    }
}

impl Law for AfdConfig {
    const NAME: &'static str = "afd";
}

impl DisciplineLaw for AfdConfig {
    type Discipline = Afd;
    const NATURE: Nature =
        Nature { own_victim: Some("AFD drops the arrival of a flow that sends more than its share"), ..Nature::FIFO };

    fn fits(&self, capacity: Capacity, _rate: Option<Rate>) -> Result<(), ConfigError> {
        let most = capacity.packet_count(self.mean_packet);
        match self.target {
            Some(target) if target > most => Err(ConfigError::new(
                "target",
                target,
                format!("at most what the buffer holds, {most:.0} mean packets"),
                format!("target = {}", most / 4.0),
            )),
            _ => Ok(()),
        }
    }

    fn discipline(&self, capacity: Capacity, _rate: Rate) -> Afd {
        Afd {
            target: self.target(capacity),
            alpha: self.alpha,
            beta: self.beta,
            most: self.shadow as usize,
            per_sample: self.sampling * self.mean_packet.get() as f64,
            mean_packet: self.mean_packet.get() as f64,
            ticker: Ticker::new(self.interval),
            fair: f64::from(self.shadow),
            before: 0.0,
            shadow: VecDeque::new(),
            samples: HashMap::new(),
        }
    }
}

/// State of AFD: the sample of recent arrivals and the fair share.
pub struct Afd {
    /// Queue length to settle at, in mean packets.
    target: f64,
    alpha: f64,
    beta: f64,
    /// Samples that the shadow buffer holds.
    most: usize,
    /// Bytes that one sample represents.
    per_sample: f64,
    mean_packet: f64,
    ticker: Ticker,
    /// The fair share in samples.
    fair: f64,
    /// Queue length at the last update, in mean packets.
    before: f64,
    /// Flows of the sampled packets, oldest first.
    shadow: VecDeque<FlowId>,
    /// Number of samples per flow. Never iterated, because its order is not deterministic.
    samples: HashMap<FlowId, u32>,
}

impl Afd {
    /// Applies all due updates. The queue has not changed since the last call, so every update uses the current length.
    fn update(&mut self, now: Instant, buffer: &Buffer) {
        let due = self.ticker.skip(now);
        if due == 0 {
            return;
        }
        let excess = buffer.total().bytes as f64 / self.mean_packet - self.target;
        let first = self.alpha * (self.before - self.target) - self.beta * excess;
        let further = (due - 1) as f64 * (self.alpha - self.beta) * excess;
        // All further steps have one sign, so limiting their sum limits each.
        let most = self.most as f64;
        self.fair = ((self.fair + first).clamp(0.0, most) + further).clamp(0.0, most);
        self.before = excess + self.target;
    }

    fn sample(&mut self, packet: &Packet, stream: &mut Stream) {
        if !stream.chance((f64::from(packet.wire) / self.per_sample).min(1.0)) {
            return;
        }
        if self.shadow.len() >= self.most
            && let Some(oldest) = self.shadow.pop_front()
            && let Some(count) = self.samples.get_mut(&oldest)
        {
            *count -= 1;
            if *count == 0 {
                self.samples.remove(&oldest);
            }
        }
        self.shadow.push_back(packet.flow);
        *self.samples.entry(packet.flow).or_insert(0) += 1;
    }

    /// Drop probability of a flow's arrivals.
    fn probability(&self, flow: FlowId) -> f64 {
        let samples = f64::from(self.samples.get(&flow).copied().unwrap_or(0));
        if samples > self.fair { 1.0 - self.fair / samples } else { 0.0 }
    }
}

impl Discipline for Afd {
    fn arrive(&mut self, arrival: &Arrival<'_>, stream: &mut Stream) -> Verdict {
        self.update(arrival.now, arrival.buffer);
        let dropped = stream.chance(self.probability(arrival.packet.flow));
        self.sample(arrival.packet, stream);
        if dropped { Verdict::Drop } else { Verdict::Admit }
    }

    fn depart(&mut self, now: Instant, buffer: &mut Buffer, _drops: &mut Vec<(Packet, DropReason)>) -> Option<Packet> {
        self.update(now, buffer);
        buffer.pop_front().map(|(packet, _)| packet)
    }

    /// The fair share in samples.
    fn average(&self) -> Option<f64> {
        Some(self.fair)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{packet, stream};
    use super::*;
    use crate::packet::Class;

    /// A buffer of 100 packets of 500 bytes: the target is 25.
    fn afd(text: &str) -> Afd {
        let config: AfdConfig = serde_json::from_str(text).expect("afd");
        config.discipline(Capacity::Packets(100), Rate::from_bits_per_second(1_000_000))
    }

    fn waiting(packets: usize) -> Buffer {
        let mut buffer = Buffer::with_capacity(0);
        for _ in 0..packets {
            buffer.push(Instant::ZERO, packet(9, 500, Class::Tcp));
        }
        buffer
    }

    fn instant(micros: u64) -> Instant {
        Instant::ZERO + Span::from_micros(micros)
    }

    fn arrive(afd: &mut Afd, now: Instant, flow: u32, wire: u16, buffer: &Buffer, stream: &mut Stream) -> Verdict {
        let packet = packet(flow, wire, Class::Tcp);
        afd.arrive(&Arrival { now, packet: &packet, buffer, idle: Span::ZERO, full: false }, stream)
    }

    #[test]
    fn the_fair_share_follows_the_two_last_queue_lengths_160_times_a_second() {
        let mut afd = afd(r#"{"shadow":1000}"#);
        afd.fair = 500.0;
        afd.update(instant(6250), &waiting(30));
        assert_eq!(afd.fair, 500.0, "packets come before timers");
        afd.update(instant(6251), &waiting(30));
        let one = 500.0 + 1.7 * (0.0 - 25.0) - 1.8 * (30.0 - 25.0);
        assert!((afd.fair - one).abs() < 1e-9, "{}", afd.fair);
        afd.update(instant(12_501), &waiting(40));
        let two = one + 1.7 * (30.0 - 25.0) - 1.8 * (40.0 - 25.0);
        assert!((afd.fair - two).abs() < 1e-9, "{}", afd.fair);
        // Three more updates with the same queue.
        afd.update(instant(31_251), &waiting(40));
        assert!((afd.fair - (two - 3.0 * 0.1 * 15.0)).abs() < 1e-9, "{}", afd.fair);
    }

    #[test]
    fn the_fair_share_stays_between_nothing_and_the_shadow_buffer() {
        let mut afd = afd(r#"{"shadow":1000}"#);
        afd.update(instant(6251), &waiting(0));
        // While the queue is empty, the fair share grows by a tenth of the target per update.
        assert_eq!(afd.fair, 1000.0);
        afd.update(instant(12_501), &waiting(900));
        assert_eq!(afd.fair, 0.0);
        afd.update(instant(1_000_000), &waiting(900));
        assert_eq!(afd.fair, 0.0, "however many updates are due");
        afd.update(instant(1_006_251), &waiting(0));
        assert!(afd.fair > 0.0);
    }

    #[test]
    fn a_flow_above_the_fair_share_loses_what_exceeds_it_and_others_nothing() {
        let mut afd = afd(r#"{"sampling":1}"#);
        (afd.fair, afd.before) = (20.0, 25.0);
        for (flow, count) in [(1, 80), (2, 20), (3, 1)] {
            afd.samples.insert(FlowId(flow), count);
        }
        let probabilities = [1, 2, 3, 4].map(|flow| afd.probability(FlowId(flow)));
        assert_eq!(probabilities, [0.75, 0.0, 0.0, 0.0]);
        let (buffer, mut stream) = (waiting(25), stream());
        let dropped = (0..4000)
            .filter(|_| {
                afd.samples.insert(FlowId(1), 80);
                afd.shadow.clear();
                arrive(&mut afd, Instant::ZERO, 1, 500, &buffer, &mut stream) == Verdict::Drop
            })
            .count();
        assert!((2880..3120).contains(&dropped), "{dropped}");
    }

    #[test]
    fn the_shadow_buffer_samples_bytes_also_of_what_is_dropped_and_forgets_the_oldest() {
        let mut all = afd(r#"{"sampling":1,"shadow":3}"#);
        (all.fair, all.before) = (0.0, 25.0);
        let (buffer, mut stream) = (waiting(25), stream());
        let verdicts: Vec<_> = [1, 1, 2, 3, 3]
            .map(|flow| arrive(&mut all, Instant::ZERO, flow, 500, &buffer, &mut stream) == Verdict::Drop)
            .into();
        assert_eq!(verdicts, [false, true, false, false, true], "nothing is known of a flow that comes first");
        assert_eq!(all.shadow, [FlowId(2), FlowId(3), FlowId(3)]);
        assert_eq!((all.samples.get(&FlowId(1)), all.samples.get(&FlowId(3))), (None, Some(&2)));
        // 1 in 5 packets of the mean size is sampled, and 1 in 25 of a fifth of that size.
        for (wire, expected) in [(500, 2000.0), (100, 400.0)] {
            let mut afd = afd(r#"{"shadow":100000}"#);
            for _ in 0..10_000 {
                arrive(&mut afd, Instant::ZERO, 1, wire, &buffer, &mut stream);
            }
            let sampled = afd.shadow.len() as f64;
            assert!((sampled - expected).abs() < 4.0 * expected.sqrt(), "{wire}: {sampled}");
        }
    }

    #[test]
    fn the_fair_share_begins_at_the_size_of_the_shadow_buffer() {
        assert_eq!(afd(r#"{"shadow":300}"#).average(), Some(300.0));
    }

    #[test]
    fn the_target_is_a_quarter_of_the_buffer_unless_given() {
        let config = |text: &str| serde_json::from_str::<AfdConfig>(text).expect("afd");
        assert_eq!(config("{}").target(Capacity::Packets(80)), 20.0);
        assert_eq!(config("{}").target(Capacity::Bytes(40_000)), 20.0);
        assert_eq!(config(r#"{"target":7}"#).target(Capacity::Packets(80)), 7.0);
    }

    #[test]
    fn parameters_out_of_range_are_refused() {
        let check = |text: &str| {
            let config: AfdConfig = serde_json::from_str(text).expect("afd");
            config.check().and_then(|()| config.fits(Capacity::Packets(50), None)).map_err(|error| error.key)
        };
        for (text, key) in [
            (r#"{"shadow":0}"#, "shadow"),
            (r#"{"shadow":1000001}"#, "shadow"),
            (r#"{"sampling":0.5}"#, "sampling"),
            (r#"{"target":0}"#, "target"),
            (r#"{"target":51}"#, "target"),
            (r#"{"alpha":0}"#, "alpha"),
            (r#"{"alpha":1.8}"#, "beta"),
            (r#"{"interval":"0 s"}"#, "interval"),
            (r#"{"mean-packet":"0 B"}"#, "mean-packet"),
        ] {
            assert_eq!(check(text), Err(key.to_owned()), "{text}");
        }
        assert_eq!(check(r#"{"shadow":1,"sampling":1,"target":50}"#), Ok(()));
    }
}
