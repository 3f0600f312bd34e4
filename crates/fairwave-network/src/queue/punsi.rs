//! PUNSI: a stateless queue that penalises unresponsive flows.
//!
//! After Yamaguchi & Takahashi, "A queue management algorithm for fair bandwidth allocation" (2007). The sources for the
//! algorithm are its abstract and paper 004 §2 and §4.2. RED handles TCP packets. A UDP packet is also compared with a
//! random one of the most recent arrivals, because an unresponsive flow sends in bursts. On a match, both packets are
//! dropped. PUNSI has only two classes: UDP, including voice, and TCP (004 §4.2).
//!
//! **Assumptions**, because neither source prints the algorithm. Packets match if they belong to the same flow; with `match
//! = "class"`, any two UDP packets match. The draw is uniform over the `recent` packets nearest the tail. Comparison begins
//! at min-threshold and also when the buffer is full. Without a match, RED (gentle) also decides about UDP.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::buffer::Place;
use super::config::Mode;
use super::config::{Capacity, check_thresholds};
use super::discipline::{Arrival, Discipline, DisciplineLaw, Nature, RateChange, Verdict};
use super::red::{MEAN_PACKET, Parameters, Red, check_probability, check_size, packets_per_second};
use crate::packet::Class;
use fairwave_units::config::ConfigError;
use fairwave_units::random::Stream;
use fairwave_units::ratio::Ratio;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::{Bytes, Rate};

/// When a waiting packet matches an arriving one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Fellow {
    /// It belongs to the same flow.
    #[default]
    Flow,
    /// It is UDP too.
    Class,
}

/// PUNSI (Yamaguchi & Takahashi 2007). CHOKe for UDP only: it compares an arriving UDP packet with one drawn from the
/// most recent arrivals, and drops both on a match. The parameters are RED's and those of the comparison.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PunsiConfig {
    /// Average queue, in (mean) packets, below which every packet is admitted.
    #[serde(default = "min_threshold")]
    pub min_threshold: f64,
    /// Average queue, in (mean) packets, at which RED's drop probability reaches `max-p`.
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
    /// Number of most recent waiting arrivals from which a packet is drawn, 1 to 64.
    #[serde(default = "recent")]
    pub recent: u32,
    /// When a waiting packet matches.
    #[serde(default, rename = "match")]
    pub fellow: Fellow,
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

fn recent() -> u32 {
    10
}

impl Checked for PunsiConfig {
    fn check(&self) -> Result<(), ConfigError> {
        check_probability("weight", self.weight, "weight = 0.002")?;
        check_probability("max-p", self.max_p, "max-p = 0.1")?;
        check_size("mean-packet", self.mean_packet)?;
        if !(1..=64).contains(&self.recent) {
            return Err(ConfigError::new("recent", self.recent, "from 1 to 64", "recent = 10"));
        }
        Ok(())
    }
}

impl Law for PunsiConfig {
    const NAME: &'static str = "punsi";
}

impl DisciplineLaw for PunsiConfig {
    type Discipline = Punsi;
    const NATURE: Nature =
        Nature { own_victim: Some("PUNSI drops the arrival, and the packet that it matches"), ..Nature::FIFO };

    fn fits(&self, capacity: Capacity, _rate: Option<Rate>) -> Result<(), ConfigError> {
        check_thresholds(Some(self.min_threshold), Some(self.max_threshold), capacity, self.mean_packet)
    }

    fn discipline(&self, _capacity: Capacity, rate: Rate) -> Punsi {
        Punsi { red: Red::new(self.resolve(rate)), recent: self.recent, fellow: self.fellow }
    }
}

impl PunsiConfig {
    fn resolve(&self, rate: Rate) -> Parameters {
        Parameters {
            min_threshold: self.min_threshold,
            max_threshold: self.max_threshold,
            weight: self.weight,
            max_p: self.max_p,
            gentle: true,
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

/// State of PUNSI.
#[derive(Clone, Debug)]
pub struct Punsi {
    red: Red,
    recent: u32,
    fellow: Fellow,
}

impl Punsi {
    /// Draws one of the most recent packets uniformly.
    fn draw(&self, arrival: &Arrival<'_>, stream: &mut Stream) -> Option<Place> {
        let choice = self.recent.min(arrival.buffer.total().packets);
        let mut place = arrival.buffer.back()?;
        for _ in 0..stream.uniform_below(u64::from(choice)) {
            place = arrival.buffer.previous(place)?;
        }
        Some(place)
    }
}

impl Discipline for Punsi {
    fn arrive(&mut self, arrival: &Arrival<'_>, stream: &mut Stream) -> Verdict {
        self.red.update(arrival);
        let congested = arrival.full || self.red.average >= self.red.parameters.min_threshold;
        if congested
            && arrival.packet.class != Class::Tcp
            && let Some(place) = self.draw(arrival, stream)
            && let Some(drawn) = arrival.buffer.packet(place)
        {
            let matches = match self.fellow {
                Fellow::Flow => drawn.flow == arrival.packet.flow,
                Fellow::Class => drawn.class != Class::Tcp,
            };
            if matches {
                return Verdict::DropBoth(place);
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
    use fairwave_units::units::{Instant, Span};

    /// Verdict on an arrival of flow 1 and class `class`, with these packets waiting.
    fn verdict(extra: &str, class: Class, full: bool, waiting: &[(u32, Class)]) -> Verdict {
        let text = format!(r#"{{"weight":1e-9,"max-p":1e-9{extra}}}"#);
        let config: PunsiConfig = serde_json::from_str(&text).expect("punsi");
        let mut punsi = config.discipline(Capacity::Packets(100), Rate::from_bits_per_second(1_000_000));
        punsi.red.average = if full { 0.0 } else { 10.0 };
        let mut buffer = Buffer::with_capacity(0);
        for &(flow, class) in waiting {
            buffer.push(Instant::ZERO, packet(flow, 500, class));
        }
        let packet = packet(1, 500, class);
        let arrival = Arrival { now: Instant::ZERO, packet: &packet, buffer: &buffer, idle: Span::ZERO, full };
        punsi.arrive(&arrival, &mut stream())
    }

    #[test]
    fn udp_that_finds_itself_among_the_recent_arrivals_loses_both_packets() {
        assert!(matches!(verdict("", Class::OtherUdp, false, &[(1, Class::OtherUdp); 3]), Verdict::DropBoth(_)));
        assert!(matches!(verdict("", Class::Voice, false, &[(1, Class::Voice); 3]), Verdict::DropBoth(_)));
    }

    #[test]
    fn tcp_is_left_to_red() {
        assert_eq!(verdict("", Class::Tcp, false, &[(1, Class::Tcp); 3]), Verdict::Admit);
    }

    #[test]
    fn only_the_most_recent_arrivals_are_drawn_from() {
        let waiting = [(1, Class::OtherUdp), (1, Class::OtherUdp), (2, Class::OtherUdp)];
        assert_eq!(verdict(r#","recent":1"#, Class::OtherUdp, false, &waiting), Verdict::Admit);
    }

    #[test]
    fn voice_and_other_udp_are_fellows_when_classes_match() {
        let waiting = [(2, Class::OtherUdp); 3];
        assert_eq!(verdict("", Class::Voice, false, &waiting), Verdict::Admit);
        assert!(matches!(verdict(r#","match":"class""#, Class::Voice, false, &waiting), Verdict::DropBoth(_)));
    }

    #[test]
    fn a_full_buffer_is_reason_enough_to_compare() {
        assert!(matches!(verdict("", Class::OtherUdp, true, &[(1, Class::OtherUdp); 3]), Verdict::DropBoth(_)));
    }

    #[test]
    fn the_draw_is_uniform_over_the_recent_arrivals() {
        let config: PunsiConfig = serde_json::from_str(r#"{"recent":4}"#).expect("punsi");
        let punsi = config.discipline(Capacity::Packets(100), Rate::from_bits_per_second(1_000_000));
        let mut buffer = Buffer::with_capacity(0);
        for flow in 0..10 {
            buffer.push(Instant::ZERO, packet(flow, 500, Class::OtherUdp));
        }
        let (arriving, mut stream, mut drawn) = (packet(1, 500, Class::OtherUdp), stream(), [0u32; 10]);
        let arrival = Arrival { now: Instant::ZERO, packet: &arriving, buffer: &buffer, idle: Span::ZERO, full: false };
        for _ in 0..40_000 {
            let flow =
                punsi.draw(&arrival, &mut stream).and_then(|place| buffer.packet(place)).map(|packet| packet.flow.0);
            drawn[flow.expect("one") as usize] += 1;
        }
        assert_eq!(drawn[..6], [0; 6]);
        assert!(drawn[6..].iter().all(|n| n.abs_diff(10_000) < 400), "{drawn:?}");
    }

    #[test]
    fn comparison_begins_at_min_threshold_and_red_drops_gently_without_a_match() {
        let at = |average: f64, waiting: u32| {
            let config: PunsiConfig = serde_json::from_str(r#"{"weight":1e-9,"max-p":1e-9}"#).expect("punsi");
            let mut punsi = config.discipline(Capacity::Packets(100), Rate::from_bits_per_second(1_000_000));
            punsi.red.average = average;
            let mut buffer = Buffer::with_capacity(0);
            buffer.push(Instant::ZERO, packet(waiting, 500, Class::OtherUdp));
            let packet = packet(1, 500, Class::OtherUdp);
            let arrival =
                Arrival { now: Instant::ZERO, packet: &packet, buffer: &buffer, idle: Span::ZERO, full: false };
            let verdict = punsi.arrive(&arrival, &mut stream());
            assert!((punsi.average().expect("an average") - average).abs() < 1e-6);
            verdict
        };
        assert_eq!(at(4.99, 1), Verdict::Admit);
        assert!(matches!(at(5.0 + 1e-6, 1), Verdict::DropBoth(_)));
        assert_eq!((at(15.1, 2), at(31.0, 2)), (Verdict::Admit, Verdict::Drop), "p climbs from max-p to 1 at 30");
    }

    #[test]
    fn parameters_out_of_range_are_refused() {
        let check = |text: &str| {
            let config: PunsiConfig = serde_json::from_str(text).expect("punsi");
            config.check().and_then(|()| config.fits(Capacity::Packets(50), None)).map_err(|error| error.key)
        };
        for (text, key) in [
            (r#"{"weight":0}"#, "weight"),
            (r#"{"max-p":0}"#, "max-p"),
            (r#"{"mean-packet":"0 B"}"#, "mean-packet"),
            (r#"{"recent":0}"#, "recent"),
            (r#"{"recent":65}"#, "recent"),
            (r#"{"max-threshold":51}"#, "max-threshold"),
        ] {
            assert_eq!(check(text), Err(key.to_owned()));
        }
        assert_eq!(check(r#"{"recent":64,"weight":1,"max-p":1,"max-threshold":50}"#), Ok(()));
    }
}
