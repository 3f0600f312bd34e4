//! AVQ: drops a packet when a smaller virtual queue would overflow, and adapts the rate of the virtual link.
//!
//! Follows Kunniyur & Srikant, "Analysis and Design of an Adaptive Virtual Queue (AVQ) Algorithm for Active Queue
//! Management" (2001). The virtual queue receives the same packets and drains at the virtual capacity C̃, which obeys dC̃/dt
//! = α(γC − λ). It shrinks while the arrival rate λ exceeds the desired utilization γ of the link C. In its token-bucket
//! form, on an arrival of b bytes at time t, s being the time of the arrival before:
//!
//! VQ ← max(VQ − C̃(t − s), 0); drop if VQ + b > B, else VQ ← VQ + b; C̃ ← max(min(C̃ + αγC(t − s), C) − αb, 0).
//!
//! With `ecn`, AVQ marks the packet instead of dropping it. As in the paper, a marked packet does not enter the virtual
//! queue.
//!
//! **Assumptions.** C̃ starts at C (ns-2's variant differs, see [`AvqPreset`]). Bytes are counted (as ns-2.35 does by
//! default). The virtual buffer B equals the real buffer; a buffer in packets counts `mean-packet` bytes per packet. Between
//! two arrivals the virtual queue drains at the C̃ that the earlier one set, as in the authors' pseudo-code. If the victim
//! is not the arrival, the virtual queue adds the arrival and removes the victim, like the real queue. But ns-2.35, which
//! can drop the front, forgets both ([`OnVictim`]). Then large arrivals with small victims fill the real queue while the
//! virtual queue does not grow.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::config::Capacity;
use super::discipline::{Arrival, Discipline, DisciplineLaw, QueueDrop, RateChange, Verdict};
use super::red::{check_probability, check_size};
use fairwave_units::config::{ConfigError, check_between};
use fairwave_units::random::Stream;
use fairwave_units::ratio::Ratio;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::{Bytes, Instant, Rate};

/// The version of AVQ: the authors' or ns-2's.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AvqPreset {
    /// The authors' pseudo-code: every arrival lowers C̃, which starts at C. Unresponsive sources drive it to 0.
    #[default]
    Authors,
    /// ns-2.35's `Vq`: only admitted packets lower C̃, which starts at 0.8 C (its `ecnlim_`). Under unresponsive load, the
    /// link then carries γC instead of ever less. Source: measurements of `Vq` under constant loads from 0.97 C to 8 C. It
    /// settles at γC under all of them, although it starts at 0.8 C.
    #[serde(rename = "ns2")]
    Ns2,
}

/// How the virtual queue changes when the victim is not the arrival.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OnVictim {
    /// It adds the arrival and removes the victim, like the real queue.
    #[default]
    Exchange,
    /// It removes the arrival, as if the arrival were the victim, and ignores the victim: ns-2.35's `drop_front_`
    /// (`queue/vq.cc`). The virtual capacity ignores the arrival too.
    Forget,
}

/// Adaptive virtual queue (Kunniyur & Srikant 2001). It drops a packet when a smaller, virtual queue would overflow.
/// The rate of the virtual queue follows the arrivals, so that the link's utilisation approaches `gamma`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct AvqConfig {
    /// The version of AVQ.
    #[serde(default, skip_serializing_if = "is_authors")]
    pub preset: AvqPreset,
    /// How fast the virtual capacity adapts, per second; above 0.
    #[serde(default = "alpha")]
    pub alpha: f64,
    /// Desired utilization of the link, in (0, 1].
    #[serde(with = "Ratio", default = "gamma")]
    pub gamma: f64,
    /// Size of the virtual buffer; the size of the real buffer when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "that of the real one"))]
    pub virtual_buffer: Option<Bytes>,
    /// Packet size that converts a capacity in packets to bytes of the virtual buffer.
    #[serde(default = "mean_packet")]
    pub mean_packet: Bytes,
    /// How the virtual queue changes when the victim is not the arrival.
    #[serde(default, skip_serializing_if = "exchanges")]
    pub on_victim: OnVictim,
    /// Mark instead of dropping early, if the packet's transport understands marks.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ecn: bool,
}

fn exchanges(on_victim: &OnVictim) -> bool {
    *on_victim == OnVictim::Exchange
}

fn is_authors(preset: &AvqPreset) -> bool {
    *preset == AvqPreset::Authors
}

fn alpha() -> f64 {
    0.15
}

fn gamma() -> f64 {
    0.98
}

fn mean_packet() -> Bytes {
    Bytes::new(1000)
}

impl Checked for AvqConfig {
    fn check(&self) -> Result<(), ConfigError> {
        check_between("alpha", self.alpha, 0.0, f64::INFINITY, "alpha = 0.15")?;
        check_probability("gamma", self.gamma, "gamma = 0.98")?;
        check_size("mean-packet", self.mean_packet)?;
        check_size("virtual-buffer", self.virtual_buffer.unwrap_or(self.mean_packet))
    }
}

impl Law for AvqConfig {
    const NAME: &'static str = "avq";
}

impl DisciplineLaw for AvqConfig {
    type Discipline = Avq;

    fn caution(&self) -> Option<String> {
        let loses = self.preset == AvqPreset::Authors;
        loses.then(|| {
            format!(
                "if unresponsive traffic offers more than {} of the rate, AVQ by its authors' rule lowers the virtual \
                capacity until the link idles; write `preset = \"ns2\"`: then the link carries that part",
                self.gamma
            )
        })
    }

    fn marks(&self) -> bool {
        self.ecn
    }

    fn discipline(&self, capacity: Capacity, rate: Rate) -> Avq {
        let link = rate.bits_per_second() as f64 / 8.0;
        let real = match capacity {
            Capacity::Packets(packets) => f64::from(packets) * self.mean_packet.get() as f64,
            Capacity::Bytes(bytes) => bytes as f64,
        };
        let ns2 = self.preset == AvqPreset::Ns2;
        Avq {
            counts_drops: !ns2,
            forgets: self.on_victim == OnVictim::Forget,
            ecn: self.ecn,
            alpha: self.alpha,
            gamma: self.gamma,
            link,
            buffer: self.virtual_buffer.map_or(real, |size| size.get() as f64),
            queue: 0.0,
            capacity: if ns2 { 0.8 * link } else { link },
            updated: Instant::ZERO,
        }
    }
}

/// State of AVQ.
#[derive(Clone, Debug)]
pub struct Avq {
    /// Dropped packets also lower C̃.
    counts_drops: bool,
    /// The victim is ignored if it is not the arrival ([`OnVictim::Forget`]).
    forgets: bool,
    ecn: bool,
    alpha: f64,
    gamma: f64,
    /// Rate of the link (C), bytes per second.
    link: f64,
    /// Size of the virtual buffer (B), bytes.
    buffer: f64,
    /// Length of the virtual queue (VQ), bytes.
    queue: f64,
    /// Rate of the virtual link (C̃), bytes per second.
    capacity: f64,
    updated: Instant,
}

impl Discipline for Avq {
    #[inline]
    fn arrive(&mut self, arrival: &Arrival<'_>, _stream: &mut Stream) -> Verdict {
        let elapsed = arrival.now.span_since(self.updated).seconds();
        self.updated = arrival.now;
        let size = f64::from(arrival.packet.wire);
        self.queue = (self.queue - self.capacity * elapsed).max(0.0);
        let overflows = self.queue + size > self.buffer;
        if !overflows {
            self.queue += size;
        }
        let grown = (self.capacity + self.alpha * self.gamma * self.link * elapsed).min(self.link);
        let marks = self.ecn && arrival.packet.ecn.can_be_marked();
        let counted = if overflows && !marks && !self.counts_drops { 0.0 } else { size };
        self.capacity = (grown - self.alpha * counted).max(0.0);
        match overflows {
            true if self.ecn => Verdict::Mark,
            true => Verdict::Drop,
            false => Verdict::Admit,
        }
    }

    /// The victim rule dropped `victim` instead of the arrival. Applies the same exchange to the virtual queue.
    #[inline]
    fn on_drop(&mut self, drop: QueueDrop<'_>) {
        let QueueDrop::Exchanged { arrival, victim } = drop else { return };
        if self.forgets {
            return;
        }
        let grown = f64::from(arrival.wire) - f64::from(victim.wire);
        self.queue = (self.queue + grown).max(0.0);
        if !self.counts_drops {
            self.capacity = (self.capacity - self.alpha * grown).clamp(0.0, self.link);
        }
    }

    /// Drains the virtual queue and adapts its capacity at the old rate up to now. Then limits the capacity to the new rate.
    fn on_rate_change(&mut self, change: &RateChange<'_>) {
        let elapsed = change.now.span_since(self.updated).seconds();
        self.updated = change.now;
        self.queue = (self.queue - self.capacity * elapsed).max(0.0);
        self.capacity = (self.capacity + self.alpha * self.gamma * self.link * elapsed).min(self.link);
        self.link = change.rate.bits_per_second() as f64 / 8.0;
        self.capacity = self.capacity.min(self.link);
    }

    /// The virtual capacity in bits per second.
    fn average(&self) -> Option<f64> {
        Some(8.0 * self.capacity)
    }
}

#[cfg(test)]
mod tests {
    use super::super::buffer::Buffer;
    use super::super::testing::{feed, packet, stream};
    use super::*;
    use crate::packet::Class;
    use fairwave_units::units::Span;

    /// On a link of 1 MB/s.
    fn avq(extra: &str) -> Avq {
        let config: AvqConfig = serde_json::from_str(&format!("{{{extra}}}")).expect("avq");
        config.discipline(Capacity::Bytes(10_000), Rate::from_bits_per_second(8_000_000))
    }

    fn arrive(avq: &mut Avq, now: Instant, size: u16) -> bool {
        let (packet, buffer) = (packet(0, size, Class::Tcp), Buffer::with_capacity(0));
        avq.arrive(&Arrival { now, packet: &packet, buffer: &buffer, idle: Span::ZERO, full: false }, &mut stream())
            == Verdict::Drop
    }

    #[test]
    fn the_virtual_capacity_follows_its_law() {
        let mut avq = avq("");
        assert!(!arrive(&mut avq, Instant::ZERO, 1000));
        assert!((avq.capacity - (1e6 - 0.15 * 1000.0)).abs() < 1e-6);
        // After 1 ms: + α γ C dt = 0.15 · 0.98 · 10⁶ · 0.001 = 147, limited to C, then − α b = 150.
        arrive(&mut avq, Instant::ZERO + Span::from_millis(1), 1000);
        assert!((avq.capacity - (1e6 - 150.0 + 147.0 - 150.0)).abs() < 1e-6, "{}", avq.capacity);
        arrive(&mut avq, Instant::ZERO + Span::from_secs(5), 1000);
        assert!((avq.capacity - (1e6 - 150.0)).abs() < 1e-6, "never above the link");
    }

    #[test]
    fn the_virtual_capacity_is_never_above_the_rate_that_there_is() {
        let mut avq = avq(r#""virtual-buffer":"2500 B""#);
        arrive(&mut avq, Instant::ZERO, 1000);
        let (now, buffer) = (Instant::ZERO + Span::from_millis(1), Buffer::with_capacity(0));
        avq.on_rate_change(&RateChange {
            now,
            rate: Rate::from_bits_per_second(800_000),
            idle: Span::ZERO,
            buffer: &buffer,
        });
        assert!((avq.capacity - 1e5).abs() < 1e-6, "{}", avq.capacity);
        assert!((avq.queue - (1000.0 - 0.001 * (1e6 - 150.0))).abs() < 1e-6, "{}", avq.queue);
        // 10 ms at the new rate drain 1000 bytes of the virtual queue; the old rate would have drained 10 000.
        arrive(&mut avq, now, 2400);
        assert!(arrive(&mut avq, now + Span::from_millis(10), 2400), "still {} in the virtual queue", avq.queue);
    }

    #[test]
    fn a_packet_that_overflows_the_virtual_queue_goes_although_the_real_one_is_empty() {
        let mut avq = avq(r#""virtual-buffer":"2500 B""#);
        assert!(!arrive(&mut avq, Instant::ZERO, 1000));
        assert!(!arrive(&mut avq, Instant::ZERO, 1000));
        assert!(arrive(&mut avq, Instant::ZERO, 1000));
        assert!(!arrive(&mut avq, Instant::ZERO, 500), "the packet that was dropped took no place");
        // The virtual link drains about 1 MB/s: after 1 ms there is room for 1000 bytes minus the effect of the adaptation.
        assert!(!arrive(&mut avq, Instant::ZERO + Span::from_millis(1), 990));
    }

    #[test]
    fn as_in_ns2_a_load_that_does_not_yield_gets_the_desired_utilization() {
        for load in [1.2, 2.0, 8.0] {
            let (mut avq, mut admitted) = (avq(r#""preset":"ns2""#), 0.0_f64);
            feed(Instant::ZERO, 200.0, 1e-3 / load, |now| {
                if !arrive(&mut avq, now, 1000) && now > Instant::ZERO + Span::from_secs(100) {
                    admitted += 1.0;
                }
            });
            let utilization = admitted / 100_000.0;
            assert!((utilization - 0.98).abs() < 0.002, "at load {load}: {utilization}");
        }
    }

    #[test]
    fn load_below_the_desired_utilization_is_not_dropped_and_load_above_loses_what_exceeds_it() {
        let loss = |load: f64| {
            let (mut avq, mut arrived, mut dropped) = (avq(""), 0.0, 0.0);
            feed(Instant::ZERO, 200.0, 1e-3 / load, |now| {
                arrived += 1.0;
                dropped += f64::from(u8::from(arrive(&mut avq, now, 1000)));
            });
            dropped / arrived
        };
        assert_eq!(loss(0.95), 0.0);
        assert!(loss(1.0) > 0.3, "a source that does not yield drives the virtual capacity down: {}", loss(1.0));
    }

    #[test]
    fn caution_names_the_idle_link_of_the_authors_rule_under_unresponsive_load() {
        let caution = |text: &str| serde_json::from_str::<AvqConfig>(text).expect("avq").caution();
        assert!(caution(r#"{"gamma":0.9}"#).is_some_and(|words| words.contains("0.9") && words.contains("ns2")));
        assert_eq!(caution(r#"{"preset":"ns2"}"#), None);
    }

    #[test]
    fn the_virtual_queue_exchanges_the_arrival_for_the_victim() {
        let (large, small) = (packet(0, 1500, Class::Tcp), packet(0, 100, Class::Voice));
        for (preset, capacity) in [("authors", 500_000.0), ("ns2", 500_000.0 - 0.15 * 1400.0)] {
            let mut avq = avq(&format!(r#""preset":"{preset}""#));
            (avq.queue, avq.capacity) = (2000.0, 500_000.0);
            avq.on_drop(QueueDrop::Exchanged { arrival: &large, victim: &small });
            assert_eq!(avq.queue, 3400.0, "{preset}");
            // In ns-2, admitted packets lower the capacity. The arrival was admitted; the victim no longer counts.
            assert!((avq.capacity - capacity).abs() < 1e-6, "{preset}: {}", avq.capacity);
            avq.queue = 1000.0;
            avq.on_drop(QueueDrop::Exchanged { arrival: &small, victim: &large });
            assert_eq!(avq.queue, 0.0, "{preset}: never less than nothing");
        }
        let mut avq = avq(r#""preset":"ns2""#);
        avq.on_drop(QueueDrop::Exchanged { arrival: &small, victim: &large });
        assert!((avq.capacity - (0.8e6 + 0.15 * 1400.0)).abs() < 1e-6, "ns-2's starts at 0.8 of the link");
        avq.capacity = 1e6;
        avq.on_drop(QueueDrop::Exchanged { arrival: &small, victim: &large });
        assert_eq!(avq.average(), Some(8e6), "in bits per second, never above the link");
    }

    #[test]
    fn a_virtual_queue_that_forgets_stands_as_if_the_arrival_had_gone() {
        let (large, small) = (packet(0, 1500, Class::Tcp), packet(0, 100, Class::Voice));
        for preset in ["authors", "ns2"] {
            let mut avq = avq(&format!(r#""preset":"{preset}","on-victim":"forget""#));
            (avq.queue, avq.capacity) = (2000.0, 500_000.0);
            avq.on_drop(QueueDrop::Exchanged { arrival: &large, victim: &small });
            assert_eq!((avq.queue, avq.capacity), (2000.0, 500_000.0), "{preset}");
        }
    }

    #[test]
    fn the_virtual_buffer_is_the_real_one_unless_given() {
        let buffer = |text: &str, capacity| {
            let config: AvqConfig = serde_json::from_str(text).expect("avq");
            config.discipline(capacity, Rate::from_bits_per_second(8_000_000)).buffer
        };
        assert_eq!(buffer("{}", Capacity::Bytes(7000)), 7000.0);
        assert_eq!(buffer(r#"{"mean-packet":"500 B"}"#, Capacity::Packets(7)), 3500.0);
        assert_eq!(buffer(r#"{"virtual-buffer":"3 kB"}"#, Capacity::Packets(7)), 3000.0);
    }

    #[test]
    fn the_virtual_capacity_is_never_negative_and_the_queue_fills_to_the_brim() {
        let mut avq = avq(r#""alpha":1000"#);
        assert!(!arrive(&mut avq, Instant::ZERO, 1500));
        assert_eq!(avq.capacity, 0.0);
        assert!(!arrive(&mut avq, Instant::ZERO, 8500), "10 000 bytes fit into 10 000");
        assert!(arrive(&mut avq, Instant::ZERO, 1));
    }

    #[test]
    fn parameters_out_of_range_are_refused() {
        for (text, key) in [
            (r#"{"alpha":0}"#, "alpha"),
            (r#"{"gamma":0}"#, "gamma"),
            (r#"{"gamma":1.01}"#, "gamma"),
            (r#"{"mean-packet":"0 B"}"#, "mean-packet"),
            (r#"{"virtual-buffer":"0 B"}"#, "virtual-buffer"),
        ] {
            let error = serde_json::from_str::<AvqConfig>(text).expect("avq").check().expect_err(text);
            assert_eq!(error.key, key);
        }
    }
}
