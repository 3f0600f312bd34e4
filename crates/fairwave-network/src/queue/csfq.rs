//! CSFQ: drops arrivals so that no flow gets more than the fair rate, which the link estimates.
//!
//! Follows Stoica, Shenker & Zhang, "Core-Stateless Fair Queueing" (1998), §3. An edge router estimates the rate of each
//! flow by exponential averaging and writes it on the packet. For a packet of l bits that arrives T after its predecessor, r
//! ← (1 − e^(−T/K)) · l/T + e^(−T/K) · r. A core router drops a packet of label r with probability max(0, 1 − α/r). It
//! estimates the arrival rate A and the admitted rate F by the same average. While A is at least the link's rate C, α
//! becomes α · C/F at the end of each window. While A is below C, α is the largest label of the last window. An overflow
//! takes 1 % from α, at most 25 % between two updates. Paper 004 §2 names CSFQ. CSFQ always drops the arrival.
//!
//! **Assumptions.** Edge and core are one node: each link estimates the flows' rates itself, and reads no label of another
//! router. With one congested link, as in the paper's §4.1, that is the same. Behind a congested link, the arrival rate
//! equals the paper's label. The window is as long as the link's average unless given. K is 100 ms and K_α 200 ms. CSFQ
//! drops nothing by rate while fewer than `threshold` bytes wait. The default is a quarter of the buffer (the paper's 16 kB
//! of 64 kB; the paper does not describe how it uses this threshold). The value 0 gives the pseudo-code. The rate α starts
//! at C and never exceeds it. A flow's first packet counts l/K, the limit for T = 0. Rates count bytes on the wire. The
//! constants are not checked against the paper's text.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::config::Capacity;
use super::discipline::{Arrival, Discipline, DisciplineLaw, Nature, QueueDrop, RateChange, Verdict};
use crate::packet::FlowId;
use fairwave_units::config::ConfigError;
use fairwave_units::random::Stream;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::{Bytes, Instant, Rate, Span};

/// An overflow lowers the fair rate by this fraction (§3.3).
const OVERFLOW: f64 = 0.01;
/// Between two updates, overflows lower the fair rate by at most this fraction (§3.3).
const MOST: f64 = 0.25;
/// Packet size that converts a capacity in packets to bytes.
const MEAN_PACKET: Bytes = Bytes::new(1000);

/// Core-stateless fair queueing (Stoica, Shenker & Zhang 1998), edge and core in one node. A flow's estimated rate above the fair
/// rate decides how many of its packets are dropped.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct CsfqConfig {
    /// K: memory of a flow's rate, above 0.
    #[serde(default = "flow_memory")]
    pub flow_memory: Span,
    /// K_α: memory of the rates that arrive and that are admitted, above 0.
    #[serde(default = "link_memory")]
    pub link_memory: Span,
    /// K_c: time between updates of the fair rate; `link-memory` when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "`link-memory`"))]
    pub window: Option<Span>,
    /// While less waits nothing is dropped by rate; a quarter of the buffer when left out (packets count 1000 B).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<Bytes>,
}

fn flow_memory() -> Span {
    Span::from_millis(100)
}

fn link_memory() -> Span {
    Span::from_millis(200)
}

/// Size of the buffer, bytes.
fn room(capacity: Capacity) -> f64 {
    capacity.packet_count(MEAN_PACKET) * MEAN_PACKET.get() as f64
}

impl Checked for CsfqConfig {
    fn check(&self) -> Result<(), ConfigError> {
        for (key, span, example) in [
            ("flow-memory", self.flow_memory, "flow-memory = \"100 ms\""),
            ("link-memory", self.link_memory, "link-memory = \"200 ms\""),
            ("window", self.window.unwrap_or(self.link_memory), "window = \"200 ms\""),
        ] {
            if span == Span::ZERO {
                return Err(ConfigError::new(key, "0 s", "above 0", example));
            }
        }
        Ok(())
    }
}

impl Law for CsfqConfig {
    const NAME: &'static str = "csfq";
}

impl DisciplineLaw for CsfqConfig {
    type Discipline = Csfq;
    const NATURE: Nature = Nature {
        own_victim: Some("CSFQ drops the arrival of a flow that is faster than the fair rate"),
        ..Nature::FIFO
    };

    fn fits(&self, capacity: Capacity, _rate: Option<Rate>) -> Result<(), ConfigError> {
        let most = room(capacity);
        match self.threshold {
            Some(threshold) if threshold.get() as f64 > most => Err(ConfigError::new(
                "threshold",
                format!("\"{} B\"", threshold.get()),
                format!("at most what the buffer holds, {most:.0} B"),
                "threshold left out",
            )),
            _ => Ok(()),
        }
    }

    fn discipline(&self, capacity: Capacity, rate: Rate) -> Csfq {
        let rate = rate.bits_per_second() as f64;
        Csfq {
            flow_memory: self.flow_memory.seconds(),
            link_memory: self.link_memory.seconds(),
            window: self.window.unwrap_or(self.link_memory),
            threshold: self.threshold.map_or_else(|| room(capacity) / 4.0, |threshold| threshold.get() as f64),
            rate,
            fair: rate,
            updated: rate,
            arrived: Average::default(),
            admitted: Average::default(),
            congested: false,
            since: Instant::ZERO,
            largest: 0.0,
            flows: HashMap::new(),
        }
    }
}

/// A rate by exponential averaging (Eq. (3)).
#[derive(Clone, Copy, Default, Debug)]
struct Average {
    bits_per_second: f64,
    last: Option<Instant>,
}

impl Average {
    fn add(&mut self, now: Instant, bits: f64, memory: f64) -> f64 {
        let gap = self.last.map_or(0.0, |last| now.span_since(last).seconds());
        self.last = Some(now);
        self.bits_per_second = if gap > 0.0 {
            let fresh = -libm::expm1(-gap / memory);
            fresh * bits / gap + (1.0 - fresh) * self.bits_per_second
        } else {
            bits / memory + self.bits_per_second
        };
        self.bits_per_second
    }
}

/// State of CSFQ: the flows' rates and the fair rate α.
pub struct Csfq {
    /// K in seconds.
    flow_memory: f64,
    /// K_α in seconds.
    link_memory: f64,
    /// K_c.
    window: Span,
    /// In bytes.
    threshold: f64,
    /// C, bits per second.
    rate: f64,
    /// α, bits per second.
    fair: f64,
    /// α at its last update. Overflows lower α from this value.
    updated: f64,
    /// A, the rate of arrivals.
    arrived: Average,
    /// F, the rate of admitted packets.
    admitted: Average,
    congested: bool,
    /// Start of the window.
    since: Instant,
    /// The largest label of the window, bits per second.
    largest: f64,
    /// Rates of flows. Never iterated, because its order is not deterministic.
    flows: HashMap<FlowId, Average>,
}

impl Csfq {
    fn set(&mut self, fair: f64) {
        (self.fair, self.updated) = (fair, fair);
    }

    /// The paper's `estimate_α` (Figure 3).
    fn estimate(&mut self, now: Instant, bits: f64, label: f64, admitted: bool) {
        let arrived = self.arrived.add(now, bits, self.link_memory);
        if admitted {
            self.admitted.add(now, bits, self.link_memory);
        }
        let over = now > self.since + self.window;
        if arrived >= self.rate {
            if !self.congested {
                (self.congested, self.since) = (true, now);
            } else if over {
                let admitted = self.admitted.bits_per_second;
                if admitted > 0.0 {
                    self.set((self.fair * self.rate / admitted).min(self.rate));
                }
                self.since = now;
            }
        } else if self.congested {
            (self.congested, self.since, self.largest) = (false, now, 0.0);
        } else if over {
            // A window without packets gives no information about the flows.
            if self.largest > 0.0 {
                self.set(self.largest);
            }
            (self.since, self.largest) = (now, 0.0);
        } else {
            self.largest = self.largest.max(label);
        }
    }
}

impl Discipline for Csfq {
    fn arrive(&mut self, arrival: &Arrival<'_>, stream: &mut Stream) -> Verdict {
        let bits = 8.0 * f64::from(arrival.packet.wire);
        let label = self.flows.entry(arrival.packet.flow).or_default().add(arrival.now, bits, self.flow_memory);
        let waits = arrival.buffer.total().bytes as f64 >= self.threshold;
        let dropped = waits && label > self.fair && stream.chance(1.0 - self.fair / label);
        self.estimate(arrival.now, bits, label, !dropped);
        if dropped { Verdict::Drop } else { Verdict::Admit }
    }

    fn on_drop(&mut self, drop: QueueDrop<'_>) {
        if matches!(drop, QueueDrop::Overflow) {
            self.fair = (self.fair * (1.0 - OVERFLOW)).max(self.updated * (1.0 - MOST));
        }
    }

    fn on_rate_change(&mut self, change: &RateChange<'_>) {
        let rate = change.rate.bits_per_second() as f64;
        // A pause gives no information about the fair rate after it.
        if rate > 0.0 {
            self.rate = rate;
        }
    }

    /// α in bits per second.
    fn average(&self) -> Option<f64> {
        Some(self.fair)
    }
}

#[cfg(test)]
mod tests {
    use super::super::buffer::Buffer;
    use super::super::testing::{packet, stream};
    use super::*;
    use crate::packet::Class;

    /// A link of 1 Mb/s with a buffer of 64 kB.
    fn csfq(text: &str) -> Csfq {
        let config: CsfqConfig = serde_json::from_str(text).expect("csfq");
        config.discipline(Capacity::Bytes(64_000), Rate::from_bits_per_second(1_000_000))
    }

    fn waiting(packets: usize) -> Buffer {
        let mut buffer = Buffer::with_capacity(0);
        for _ in 0..packets {
            buffer.push(Instant::ZERO, packet(9, 1000, Class::Tcp));
        }
        buffer
    }

    fn instant(millis: u64) -> Instant {
        Instant::ZERO + Span::from_millis(millis)
    }

    /// Feeds packets of 1000 bytes of flow 1 every `gap` ms, between `from` and `until` ms. Returns the numbers of dropped
    /// and of all packets.
    fn feed(
        csfq: &mut Csfq,
        (from, until, gap): (u64, u64, usize),
        buffer: &Buffer,
        stream: &mut Stream,
    ) -> (u32, u32) {
        let (mut dropped, mut all) = (0, 0);
        for now in (from..until).step_by(gap) {
            let packet = packet(1, 1000, Class::OtherUdp);
            let arrival = Arrival { now: instant(now), packet: &packet, buffer, idle: Span::ZERO, full: false };
            dropped += u32::from(csfq.arrive(&arrival, stream) == Verdict::Drop);
            all += 1;
        }
        (dropped, all)
    }

    #[test]
    fn rates_are_exponential_averages_that_do_not_depend_on_packet_lengths() {
        let mut average = Average::default();
        assert_eq!(average.add(instant(0), 8000.0, 0.1), 80_000.0, "l/K");
        let kept = libm::exp(-0.2);
        let expected = (1.0 - kept) * 400_000.0 + kept * 80_000.0;
        assert!((average.add(instant(20), 8000.0, 0.1) - expected).abs() < 1e-6);
        assert!((average.add(instant(20), 8000.0, 0.1) - expected - 80_000.0).abs() < 1e-6, "two at once");
        for (bits, gap) in [(8000.0, 10), (800.0, 1)] {
            let mut average = Average::default();
            for now in (0..3000).step_by(gap) {
                average.add(instant(now), bits, 0.1);
            }
            assert!((average.bits_per_second - 800_000.0).abs() < 1.0, "{bits}: {}", average.bits_per_second);
        }
    }

    #[test]
    fn a_flow_loses_what_exceeds_the_fair_rate_and_nothing_below_the_threshold() {
        let dropped = |text: &str, packets| {
            let mut csfq = csfq(text);
            // The flow alone does not congest the link, and no window ends.
            (csfq.rate, csfq.fair, csfq.window) = (9e6, 500_000.0, Span::from_seconds(1e6));
            let (buffer, mut stream) = (waiting(packets), stream());
            feed(&mut csfq, (0, 2000, 4), &buffer, &mut stream);
            feed(&mut csfq, (2000, 18_000, 4), &buffer, &mut stream)
        };
        // 2 Mb/s at a fair rate of 0.5 Mb/s.
        let (lost, all) = dropped("{}", 16);
        assert!((f64::from(lost) / f64::from(all) - 0.75).abs() < 0.03, "{lost} of {all}");
        assert_eq!(dropped("{}", 15).0, 0, "a quarter of the buffer must wait");
        assert!(dropped(r#"{"threshold":"0 B"}"#, 0).0 > 2000);
    }

    #[test]
    fn the_fair_rate_is_scaled_at_the_end_of_each_window_of_a_congested_link() {
        let mut csfq = csfq(r#"{"threshold":"0 B"}"#);
        let (buffer, mut stream) = (waiting(0), stream());
        // 2 Mb/s: the arrival rate exceeds C within 200 ms.
        feed(&mut csfq, (0, 100, 4), &buffer, &mut stream);
        assert!(!csfq.congested);
        feed(&mut csfq, (100, 200, 4), &buffer, &mut stream);
        assert!(csfq.congested);
        let (since, fair) = (csfq.since, csfq.fair);
        let end = since + csfq.window;
        csfq.admitted = Average { bits_per_second: 1_250_000.0, last: Some(end) };
        csfq.arrived = Average { bits_per_second: 1_250_000.0, last: Some(end) };
        csfq.estimate(end, 8000.0, 1.0, false);
        assert_eq!(csfq.fair, fair, "the window has not ended yet");
        let late = since + csfq.window + Span::from_nanos(1);
        csfq.arrived = Average { bits_per_second: 1_250_000.0, last: Some(late) };
        csfq.estimate(late, 8000.0, 1.0, false);
        assert!((csfq.fair - fair * 0.8).abs() < 1e-6, "C/F is 0.8: {}", csfq.fair);
        assert_eq!(csfq.since, late);
        // A flow that sends at twice the link's rate gets the whole link.
        feed(&mut csfq, (1000, 4000, 4), &buffer, &mut stream);
        let (lost, all) = feed(&mut csfq, (4000, 14_000, 4), &buffer, &mut stream);
        assert!((f64::from(lost) / f64::from(all) - 0.5).abs() < 0.04, "{lost} of {all}");
    }

    #[test]
    fn congestion_begins_a_window_and_the_fair_rate_never_exceeds_the_link() {
        let mut csfq = csfq("{}");
        let full = |now| Average { bits_per_second: 1_500_000.0, last: Some(now) };
        csfq.arrived = full(instant(50));
        csfq.estimate(instant(50), 8000.0, 1.0, true);
        assert_eq!((csfq.congested, csfq.since), (true, instant(50)));
        // Half of C is admitted, so α C/F would be 1.6 Mb/s.
        csfq.fair = 800_000.0;
        let late = instant(251);
        (csfq.arrived, csfq.admitted) = (full(late), Average { bits_per_second: 500_000.0, last: Some(late) });
        csfq.estimate(late, 8000.0, 1.0, false);
        assert_eq!((csfq.fair, csfq.since), (1_000_000.0, late));
    }

    #[test]
    fn the_fair_rate_of_a_free_link_is_the_largest_label_of_the_window_before() {
        let mut csfq = csfq("{}");
        csfq.congested = true;
        csfq.estimate(instant(10), 800.0, 300_000.0, true);
        assert_eq!((csfq.congested, csfq.since, csfq.largest), (false, instant(10), 0.0));
        for (now, label) in [(50, 200_000.0), (100, 400_000.0), (150, 100_000.0)] {
            csfq.estimate(instant(now), 800.0, label, true);
        }
        assert_eq!(csfq.fair, 1_000_000.0, "it begins at C");
        csfq.estimate(instant(211), 800.0, 700_000.0, true);
        assert_eq!((csfq.fair, csfq.largest, csfq.since), (400_000.0, 0.0, instant(211)));
        csfq.estimate(instant(900), 800.0, 700_000.0, true);
        assert_eq!(csfq.fair, 400_000.0, "no label was seen in this window");
    }

    #[test]
    fn overflows_take_one_percent_each_and_a_quarter_between_two_updates() {
        let mut csfq = csfq("{}");
        csfq.on_drop(QueueDrop::Overflow);
        assert!((csfq.fair - 990_000.0).abs() < 1e-6);
        for _ in 0..100 {
            csfq.on_drop(QueueDrop::Overflow);
        }
        assert_eq!(csfq.fair, 750_000.0);
        csfq.set(600_000.0);
        csfq.on_drop(QueueDrop::Overflow);
        assert!((csfq.fair - 594_000.0).abs() < 1e-6);
    }

    #[test]
    fn a_new_rate_of_the_link_is_its_capacity_and_a_pause_is_none() {
        let mut csfq = csfq("{}");
        let buffer = waiting(0);
        for (rate, expected) in [(2_000_000, 2e6), (0, 2e6)] {
            let rate = Rate::from_bits_per_second(rate);
            csfq.on_rate_change(&RateChange { now: instant(5), rate, idle: Span::ZERO, buffer: &buffer });
            assert_eq!(csfq.rate, expected);
        }
    }

    #[test]
    fn parameters_out_of_range_are_refused() {
        let check = |text: &str| {
            let config: CsfqConfig = serde_json::from_str(text).expect("csfq");
            config.check().and_then(|()| config.fits(Capacity::Packets(50), None)).map_err(|error| error.key)
        };
        for (text, key) in [
            (r#"{"flow-memory":"0 s"}"#, "flow-memory"),
            (r#"{"link-memory":"0 s"}"#, "link-memory"),
            (r#"{"window":"0 s"}"#, "window"),
            (r#"{"threshold":"50001 B"}"#, "threshold"),
        ] {
            assert_eq!(check(text), Err(key.to_owned()), "{text}");
        }
        assert_eq!(check(r#"{"threshold":"50 kB","window":"1 ms"}"#), Ok(()));
    }
}
