//! CHOKe: compares an arrival with a random packet of the queue, and drops both if they belong to the same flow.
//!
//! Follows Pan, Prabhakar & Psounis, "CHOKe: A Stateless Active Queue Management Scheme for Approximating Fair Bandwidth
//! Allocation" (2000), §2. Below min-threshold every packet is admitted. Above, the arrival is compared with a random packet
//! of the queue; on a match, both are dropped. Without a match RED decides, and from max-threshold on the arrival is
//! dropped. No victim rule applies: CHOKe also drops an arrival that overflows the buffer.
//!
//! **Assumptions.** Several candidates are drawn with replacement, and only the first match is dropped with the arrival (the
//! paper's m > 1 drops every match). A match is not a RED drop and does not change RED's spacing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::config::Mode;
use super::config::{Capacity, check_thresholds};
use super::discipline::{Arrival, Discipline, DisciplineLaw, Nature, RateChange, Verdict};
use super::red::{MEAN_PACKET, Parameters, Red, check_probability, check_size, packets_per_second};
use fairwave_units::config::ConfigError;
use fairwave_units::random::Stream;
use fairwave_units::ratio::Ratio;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::{Bytes, Rate};

/// CHOKe (Pan, Prabhakar & Psounis 2000). Above `min-threshold` it compares an arrival with a packet drawn from the
/// queue, and drops both if they belong to the same flow; otherwise RED decides. The parameters are RED's and the
/// number of comparisons.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ChokeConfig {
    /// Average queue, in (mean) packets, below which every packet is admitted.
    #[serde(default = "min_threshold")]
    pub min_threshold: f64,
    /// Average queue, in (mean) packets, from which every arrival is dropped.
    #[serde(default = "max_threshold")]
    pub max_threshold: f64,
    /// Weight of the newest sample in the average, in (0, 1].
    #[serde(with = "Ratio", default = "weight")]
    pub weight: f64,
    /// RED's drop probability at `max-threshold`, in (0, 1].
    #[serde(with = "Ratio", default = "max_p")]
    pub max_p: f64,
    /// Whether packets or bytes count in the average.
    #[serde(default)]
    pub mode: Mode,
    /// Mean packet size on the wire.
    #[serde(default = "mean_packet")]
    pub mean_packet: Bytes,
    /// Packets that an arrival is compared with, at least 1.
    #[serde(default = "candidates")]
    pub candidates: u32,
}

fn min_threshold() -> f64 {
    5.0
}

fn max_threshold() -> f64 {
    15.0
}

fn weight() -> f64 {
    0.002
}

fn max_p() -> f64 {
    0.1
}

fn mean_packet() -> Bytes {
    MEAN_PACKET
}

fn candidates() -> u32 {
    1
}

impl Checked for ChokeConfig {
    fn check(&self) -> Result<(), ConfigError> {
        check_probability("weight", self.weight, "weight = 0.002")?;
        check_probability("max-p", self.max_p, "max-p = 0.1")?;
        check_size("mean-packet", self.mean_packet)?;
        if !(1..=64).contains(&self.candidates) {
            return Err(ConfigError::new("candidates", self.candidates, "from 1 to 64", "candidates = 1"));
        }
        Ok(())
    }
}

impl Law for ChokeConfig {
    const NAME: &'static str = "choke";
}

impl DisciplineLaw for ChokeConfig {
    type Discipline = Choke;
    const NATURE: Nature =
        Nature { own_victim: Some("CHOKe drops the arrival, and the packet that it matches"), ..Nature::FIFO };

    fn fits(&self, capacity: Capacity, _rate: Option<Rate>) -> Result<(), ConfigError> {
        check_thresholds(Some(self.min_threshold), Some(self.max_threshold), capacity, self.mean_packet)
    }

    fn discipline(&self, _capacity: Capacity, rate: Rate) -> Choke {
        Choke { red: Red::new(self.resolve(rate)), candidates: self.candidates }
    }
}

impl ChokeConfig {
    fn resolve(&self, rate: Rate) -> Parameters {
        Parameters {
            min_threshold: self.min_threshold,
            max_threshold: self.max_threshold,
            weight: self.weight,
            max_p: self.max_p,
            gentle: false,
            mode: self.mode,
            by_size: self.mode == Mode::Bytes,
            mean_packet: self.mean_packet,
            per_second: packets_per_second(rate, self.mean_packet),
            wait: false,
            ecn: false,
            harddrop: true,
        }
    }
}

/// State of CHOKe.
#[derive(Clone, Debug)]
pub struct Choke {
    red: Red,
    candidates: u32,
}

impl Discipline for Choke {
    fn arrive(&mut self, arrival: &Arrival<'_>, stream: &mut Stream) -> Verdict {
        self.red.update(arrival);
        if self.red.average >= self.red.parameters.min_threshold {
            let waiting = u64::from(arrival.buffer.total().packets);
            for _ in 0..self.candidates {
                if let Some(place) = arrival.buffer.pick(stream.uniform_below(waiting))
                    && arrival.buffer.packet(place).is_some_and(|waiting| waiting.flow == arrival.packet.flow)
                {
                    return Verdict::DropBoth(place);
                }
            }
        }
        if self.red.decide(arrival.packet.wire, stream) { Verdict::Drop } else { Verdict::Admit }
    }

    fn on_rate_change(&mut self, change: &RateChange<'_>) {
        self.red.rate_now(change.rate, change.idle);
    }

    fn average(&self) -> Option<f64> {
        Some(self.red.average)
    }
}

#[cfg(test)]
mod tests {
    use super::super::buffer::Buffer;
    use super::super::testing::{packet, stream};
    use super::*;
    use crate::packet::Class;
    use fairwave_units::units::{Instant, Span};

    /// Verdict on an arrival of flow 1 with these flows waiting, at an average queue of `average`.
    fn verdict(average: f64, waiting: &[u32]) -> Verdict {
        let config: ChokeConfig = serde_json::from_str(r#"{"weight":1e-9,"max-p":1e-9}"#).expect("choke");
        let mut choke = config.discipline(Capacity::Packets(100), Rate::from_bits_per_second(1_000_000));
        choke.red.average = average;
        let mut buffer = Buffer::with_capacity(0);
        for &flow in waiting {
            buffer.push(Instant::ZERO, packet(flow, 500, Class::Tcp));
        }
        let packet = packet(1, 500, Class::Tcp);
        let arrival = Arrival { now: Instant::ZERO, packet: &packet, buffer: &buffer, idle: Span::ZERO, full: false };
        choke.arrive(&arrival, &mut stream())
    }

    #[test]
    fn a_match_in_the_queue_costs_both_packets() {
        assert!(matches!(verdict(10.0, &[1, 1, 1]), Verdict::DropBoth(_)));
    }

    #[test]
    fn red_decides_without_a_match_and_drops_above_max_threshold() {
        assert_eq!(verdict(10.0, &[2, 3]), Verdict::Admit);
        assert_eq!(verdict(16.0, &[2, 3]), Verdict::Drop);
    }

    #[test]
    fn compares_nothing_below_min_threshold() {
        assert_eq!(verdict(4.0, &[1, 1, 1]), Verdict::Admit);
    }

    /// Number of matches among 4000 arrivals of flow 1, with one packet of flow 1 among ten.
    fn matched(candidates: u32) -> usize {
        let text = format!(r#"{{"weight":1e-9,"max-p":1e-9,"candidates":{candidates}}}"#);
        let config: ChokeConfig = serde_json::from_str(&text).expect("choke");
        let mut choke = config.discipline(Capacity::Packets(100), Rate::from_bits_per_second(1_000_000));
        choke.red.average = 10.0;
        let mut buffer = Buffer::with_capacity(0);
        for flow in 1..=10 {
            buffer.push(Instant::ZERO, packet(flow, 500, Class::Tcp));
        }
        let (packet, mut stream) = (packet(1, 500, Class::Tcp), stream());
        let arrival = Arrival { now: Instant::ZERO, packet: &packet, buffer: &buffer, idle: Span::ZERO, full: false };
        (0..4000).filter(|_| matches!(choke.arrive(&arrival, &mut stream), Verdict::DropBoth(_))).count()
    }

    #[test]
    fn candidates_are_drawn_from_the_complete_queue() {
        // A fraction 1 − 0.9ⁿ of the arrivals matches.
        for (candidates, expected) in [(1, 400.0), (3, 1084.0)] {
            let matched = matched(candidates) as f64;
            assert!((matched - expected).abs() < 90.0, "{candidates}: {matched}");
        }
    }

    #[test]
    fn comparison_begins_at_min_threshold_itself_and_dropping_at_max_threshold() {
        assert!(matches!(verdict(5.0 + 1e-6, &[1, 1, 1]), Verdict::DropBoth(_)));
        assert_eq!(verdict(15.0 + 1e-6, &[2, 3]), Verdict::Drop, "not gentle");
        assert_eq!(verdict(14.9, &[2, 3]), Verdict::Admit);
    }

    #[test]
    fn the_average_follows_the_queue_with_its_weight_and_unit() {
        let average = |mode: &str| {
            let config: ChokeConfig =
                serde_json::from_str(&format!(r#"{{"weight":0.5,"mode":"{mode}"}}"#)).expect("choke");
            let mut choke = config.discipline(Capacity::Packets(100), Rate::from_bits_per_second(1_000_000));
            let mut buffer = Buffer::with_capacity(0);
            for _ in 0..8 {
                buffer.push(Instant::ZERO, packet(2, 250, Class::Tcp));
            }
            let packet = packet(1, 500, Class::Tcp);
            let arrival =
                Arrival { now: Instant::ZERO, packet: &packet, buffer: &buffer, idle: Span::ZERO, full: false };
            choke.arrive(&arrival, &mut stream());
            choke.average()
        };
        assert_eq!((average("packets"), average("bytes")), (Some(4.0), Some(2.0)));
    }

    #[test]
    fn parameters_out_of_range_are_refused() {
        let check = |text: &str| {
            let config: ChokeConfig = serde_json::from_str(text).expect("choke");
            config.check().and_then(|()| config.fits(Capacity::Packets(50), None)).map_err(|error| error.key)
        };
        for (text, key) in [
            (r#"{"weight":0}"#, "weight"),
            (r#"{"max-p":0}"#, "max-p"),
            (r#"{"mean-packet":"0 B"}"#, "mean-packet"),
            (r#"{"candidates":0}"#, "candidates"),
            (r#"{"candidates":65}"#, "candidates"),
            (r#"{"max-threshold":51}"#, "max-threshold"),
        ] {
            assert_eq!(check(text), Err(key.to_owned()));
        }
        assert_eq!(check(r#"{"candidates":64,"weight":1,"max-p":1,"max-threshold":50}"#), Ok(()));
    }
}
