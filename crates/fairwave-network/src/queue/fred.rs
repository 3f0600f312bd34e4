//! FRED: RED with limits on the number of waiting packets per flow.
//!
//! Follows Lin & Morris, "Dynamics of Random Early Detection" (1997). The average queue divided by the number of flows with
//! waiting packets is the share per flow (at least 1 packet). A flow may always hold `min-queue` packets, or the share if
//! that is larger. RED drops its arrivals beyond this limit at random between the thresholds. No flow may hold more than
//! `most` packets. A flow that tries to, or that holds twice its share while the queue is above max-threshold, gets a
//! strike. A flow with more than one strike may hold only its share. FRED forgets a flow and its strikes when no packet of
//! it waits. From max-threshold on, FRED drops every arrival; with support for many flows, every flow may then hold two
//! packets. Arrivals and departures update the average.
//!
//! Lengths are in packets: FRED counts packets per flow. FRED always drops the arrival.
//!
//! **Assumptions.** In the paper, min-threshold is a quarter of the buffer or the bandwidth-delay product, whichever is
//! smaller. Here the default is a quarter of the buffer. `most` is min-threshold, two from max-threshold on, as in the
//! paper's pseudo-code. While the link is idle, the average ages as in RED. An arrival that finds the buffer full is dropped
//! and earns no strike.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::DropReason;
use super::buffer::Buffer;
use super::config::Mode;
use super::config::{Capacity, check_reachable, check_thresholds};
use super::discipline::{Arrival, Discipline, DisciplineLaw, Nature, RateChange, Verdict};
use super::red::{MEAN_PACKET, check_probability, check_size, packets_per_second};
use crate::packet::{FlowId, Packet};
use fairwave_units::config::ConfigError;
use fairwave_units::random::Stream;
use fairwave_units::ratio::Ratio;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::{Bytes, Instant, Rate, Span};

/// Flow random early drop (Lin & Morris 1997). The parameters are RED's, in packets, and the limits per flow.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct FredConfig {
    /// Average queue, in packets, below which there are no random drops. Also the maximum number of packets that a flow may
    /// hold. Default: a quarter of the buffer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "a quarter of the buffer"))]
    pub min_threshold: Option<f64>,
    /// Average queue, in packets, from which arrivals are dropped; twice min-threshold when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "twice `min-threshold`"))]
    pub max_threshold: Option<f64>,
    /// Weight of the newest sample in the average, in (0, 1].
    #[serde(with = "Ratio", default = "weight")]
    pub weight: f64,
    /// Drop probability at `max-threshold`, in (0, 1].
    #[serde(with = "Ratio", default = "max_p")]
    pub max_p: f64,
    /// Packets that every flow may hold, 1 or more: 2 for small buffers, 4 for large ones.
    #[serde(default = "min_queue")]
    pub min_queue: u32,
    /// From max-threshold on a flow may hold two packets; otherwise every arrival is dropped.
    #[serde(default = "many_flows")]
    pub many_flows: bool,
    /// Mean packet size on the wire: ages the average while the link idles, and converts a buffer in bytes to packets.
    #[serde(default = "mean_packet")]
    pub mean_packet: Bytes,
}

fn weight() -> f64 {
    0.002
}

fn max_p() -> f64 {
    0.02
}

fn min_queue() -> u32 {
    2
}

fn many_flows() -> bool {
    true
}

fn mean_packet() -> Bytes {
    MEAN_PACKET
}

impl FredConfig {
    fn thresholds(&self, capacity: Capacity) -> (f64, f64) {
        let quarter = capacity.packet_count(self.mean_packet) / 4.0;
        let min =
            self.min_threshold.unwrap_or_else(|| self.max_threshold.map_or(quarter, |max| quarter.min(max / 2.0)));
        (min, self.max_threshold.unwrap_or(2.0 * min))
    }
}

impl Checked for FredConfig {
    fn check(&self) -> Result<(), ConfigError> {
        check_probability("weight", self.weight, "weight = 0.002")?;
        check_probability("max-p", self.max_p, "max-p = 0.02")?;
        check_size("mean-packet", self.mean_packet)?;
        if self.min_queue == 0 {
            return Err(ConfigError::new("min-queue", self.min_queue, "1 or more", "min-queue = 2"));
        }
        Ok(())
    }
}

impl Law for FredConfig {
    const NAME: &'static str = "fred";
}

impl DisciplineLaw for FredConfig {
    type Discipline = Fred;
    const NATURE: Nature = Nature {
        by_flow: true,
        own_victim: Some("FRED drops the arrival of a flow that holds more than it may"),
        ..Nature::FIFO
    };

    fn fits(&self, capacity: Capacity, _rate: Option<Rate>) -> Result<(), ConfigError> {
        check_thresholds(self.min_threshold, self.max_threshold, capacity, self.mean_packet)?;
        check_reachable(self.thresholds(capacity).0, capacity, Mode::Packets, self.mean_packet)
    }

    fn discipline(&self, capacity: Capacity, rate: Rate) -> Fred {
        let (min_threshold, max_threshold) = self.thresholds(capacity);
        Fred {
            min_threshold,
            max_threshold,
            weight: self.weight,
            max_p: self.max_p,
            min_queue: f64::from(self.min_queue),
            many_flows: self.many_flows,
            per_second: packets_per_second(rate, self.mean_packet),
            mean_packet: self.mean_packet,
            average: 0.0,
            since: None,
            strikes: HashMap::new(),
        }
    }
}

/// State of FRED.
pub struct Fred {
    min_threshold: f64,
    max_threshold: f64,
    weight: f64,
    max_p: f64,
    min_queue: f64,
    many_flows: bool,
    /// Mean packets per second that the link carries.
    per_second: f64,
    mean_packet: Bytes,
    /// Average queue in packets.
    average: f64,
    /// Packets since the last random drop; `None` while the average is below min-threshold.
    since: Option<f64>,
    /// Strikes of flows with waiting packets. Never iterated, because its order is not deterministic.
    strikes: HashMap<FlowId, u32>,
}

impl Fred {
    fn sample(&mut self, packets: u32) {
        self.average += self.weight * (f64::from(packets) - self.average);
    }

    /// Average number of waiting packets per active flow, at least 1.
    fn share(&self, buffer: &Buffer) -> f64 {
        (self.average / f64::from(buffer.flows().max(1))).max(1.0)
    }
}

impl Discipline for Fred {
    fn arrive(&mut self, arrival: &Arrival<'_>, stream: &mut Stream) -> Verdict {
        if arrival.idle > Span::ZERO {
            let packets = arrival.idle.seconds() * self.per_second;
            self.average *= libm::exp(packets * libm::log1p(-self.weight));
        } else {
            self.sample(arrival.buffer.total().packets);
        }
        let flow = arrival.packet.flow;
        let held = f64::from(arrival.buffer.flow_tally(flow).packets);
        if held == 0.0 {
            self.strikes.remove(&flow);
        }
        let (share, crowded) = (self.share(arrival.buffer), self.average >= self.max_threshold);
        let most = if crowded && self.many_flows { 2.0 } else { self.min_threshold };
        let strikes = self.strikes.get(&flow).copied().unwrap_or(0);
        if held >= most || (crowded && held > 2.0 * share) || (held >= share && strikes > 1) {
            self.strikes.insert(flow, strikes.saturating_add(1));
            return Verdict::Drop;
        }
        if self.average < self.min_threshold {
            self.since = None;
            return Verdict::Admit;
        }
        if crowded {
            self.since = Some(0.0);
            return if self.many_flows { Verdict::Admit } else { Verdict::Drop };
        }
        let since = self.since.map_or(0.0, |since| since + 1.0);
        self.since = Some(since);
        if held < self.min_queue.max(share) {
            return Verdict::Admit;
        }
        let base = self.max_p * (self.average - self.min_threshold) / (self.max_threshold - self.min_threshold);
        let left = 1.0 - since * base;
        if left <= base || stream.chance(base / left) {
            self.since = Some(0.0);
            return Verdict::Drop;
        }
        Verdict::Admit
    }

    fn depart(&mut self, _now: Instant, buffer: &mut Buffer, _drops: &mut Vec<(Packet, DropReason)>) -> Option<Packet> {
        let packet = buffer.pop_front().map(|(packet, _)| packet)?;
        self.sample(buffer.total().packets);
        Some(packet)
    }

    /// Ages the average for the idle time at the old rate.
    fn on_rate_change(&mut self, change: &RateChange<'_>) {
        self.average *= libm::exp(change.idle.seconds() * self.per_second * libm::log1p(-self.weight));
        self.per_second = packets_per_second(change.rate, self.mean_packet);
    }

    /// The average queue in packets.
    fn average(&self) -> Option<f64> {
        Some(self.average)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{packet, stream};
    use super::*;
    use crate::packet::Class;

    /// A buffer of 100 packets: thresholds 25 and 50.
    fn fred(extra: &str) -> Fred {
        let config: FredConfig = serde_json::from_str(&format!(r#"{{"weight":1e-9{extra}}}"#)).expect("fred");
        config.discipline(Capacity::Packets(100), Rate::from_bits_per_second(1_000_000))
    }

    #[test]
    fn an_idle_average_ages_by_the_rate_of_each_part_of_the_time() {
        let mut fred = fred(r#","mean-packet":"1250 B""#);
        fred.weight = 0.01;
        fred.average = 100.0;
        // 50 ms at 1 Mb/s are 5 packets.
        let (idle, rate, buffer) = (Span::from_millis(50), Rate::from_bits_per_second(2_000_000), waiting(&[]));
        fred.on_rate_change(&RateChange { now: Instant::ZERO + idle, rate, idle, buffer: &buffer });
        assert!((fred.average - 100.0 * 0.99_f64.powi(5)).abs() < 1e-9, "{}", fred.average);
        assert!((fred.per_second - 200.0).abs() < 1e-9, "{}", fred.per_second);
    }

    fn waiting(flows: &[u32]) -> Buffer {
        let mut buffer = Buffer::with_flow_lists(0);
        for &flow in flows {
            buffer.push(Instant::ZERO, packet(flow, 500, Class::Tcp));
        }
        buffer
    }

    /// Verdict on an arrival of flow 1.
    fn arrive(fred: &mut Fred, buffer: &Buffer) -> Verdict {
        let packet = packet(1, 500, Class::Tcp);
        let arrival = Arrival { now: Instant::ZERO, packet: &packet, buffer, idle: Span::ZERO, full: false };
        fred.arrive(&arrival, &mut stream())
    }

    #[test]
    fn no_flow_holds_more_than_min_threshold_and_trying_is_a_strike() {
        let mut fred = fred("");
        assert_eq!(arrive(&mut fred, &waiting(&[1; 24])), Verdict::Admit);
        assert_eq!(arrive(&mut fred, &waiting(&[1; 25])), Verdict::Drop);
        assert_eq!(fred.strikes.get(&FlowId(1)), Some(&1));
    }

    #[test]
    fn flow_with_two_strikes_holds_its_share_only_while_it_waits() {
        let mut fred = fred("");
        for _ in 0..2 {
            arrive(&mut fred, &waiting(&[1; 25]));
        }
        // Two flows, an average near 0: a share of one packet.
        assert_eq!(arrive(&mut fred, &waiting(&[1, 2])), Verdict::Drop);
        assert_eq!(arrive(&mut fred, &waiting(&[2, 2])), Verdict::Admit, "nothing of flow 1 waits");
        assert_eq!(arrive(&mut fred, &waiting(&[1, 2])), Verdict::Admit, "its strikes are forgotten");
    }

    #[test]
    fn random_drops_hit_only_flows_above_their_share_between_the_thresholds() {
        let dropped = |flows: &[u32]| {
            let (mut fred, buffer) = (fred(r#","max-p":0.5"#), waiting(flows));
            let (packet, mut stream) = (packet(1, 500, Class::Tcp), stream());
            (0..1000)
                .filter(|_| {
                    fred.average = 40.0;
                    let arrival =
                        Arrival { now: Instant::ZERO, packet: &packet, buffer: &buffer, idle: Span::ZERO, full: false };
                    fred.arrive(&arrival, &mut stream) == Verdict::Drop
                })
                .count()
        };
        // An average of 40 packets and two flows: each may hold 20. With probability 0.3, drops are spaced 1, 2 or 3
        // arrivals apart, with probabilities 3/7, 3/7 and 1/7: 1.71 on average.
        assert_eq!(dropped(&[[1; 19].as_slice(), &[2]].concat()), 0);
        assert!((540..630).contains(&dropped(&[[1; 21].as_slice(), &[2]].concat())));
        // Forty flows: every flow may hold two packets, although the share is one.
        let many: Vec<u32> = (2..=40).collect();
        assert_eq!(dropped(&[[1].as_slice(), &many].concat()), 0);
        assert!(dropped(&[[1; 2].as_slice(), &many].concat()) > 540);
    }

    #[test]
    fn from_max_threshold_on_two_packets_are_the_most_or_nothing_gets_in() {
        for (extra, held, verdict) in [
            ("", 1, Verdict::Admit),
            ("", 2, Verdict::Drop),
            (r#","many-flows":false"#, 0, Verdict::Drop),
            (r#","many-flows":false"#, 1, Verdict::Drop),
        ] {
            let mut fred = fred(extra);
            fred.average = 51.0;
            let buffer = waiting(&[vec![1; held], (2..60).collect()].concat());
            assert_eq!(arrive(&mut fred, &buffer), verdict, "{extra} {held}");
        }
        // Without support for many flows, twice the share earns a strike: an average of 51 and three flows.
        let mut fred = fred(r#","many-flows":false,"min-threshold":45"#);
        fred.max_threshold = 50.0;
        fred.average = 51.0;
        arrive(&mut fred, &waiting(&[[1; 35].as_slice(), &[2, 3]].concat()));
        assert_eq!(fred.strikes.len(), 1);
    }

    #[test]
    fn the_average_follows_arrivals_and_departures_and_ages_while_the_link_idles() {
        let mut fred = fred("");
        (fred.weight, fred.average) = (0.5, 4.0);
        let mut buffer = waiting(&[1; 10]);
        arrive(&mut fred, &buffer);
        assert_eq!(fred.average(), Some(7.0));
        let mut drops = Vec::new();
        assert!(fred.depart(Instant::ZERO, &mut buffer, &mut drops).is_some() && drops.is_empty());
        assert_eq!(fred.average(), Some(8.0), "nine wait behind the one that left");
        let (packet, buffer) = (packet(1, 500, Class::Tcp), waiting(&[]));
        // 250 mean packets per second.
        let idle = Span::from_millis(8);
        fred.arrive(
            &Arrival { now: Instant::ZERO, packet: &packet, buffer: &buffer, idle, full: false },
            &mut stream(),
        );
        assert!((fred.average - 2.0).abs() < 1e-9, "two packets' time: {}", fred.average);
    }

    #[test]
    fn thresholds_are_a_quarter_and_half_of_the_buffer_unless_given() {
        let thresholds = |text: &str, capacity| {
            let config: FredConfig = serde_json::from_str(text).expect("fred");
            config.thresholds(capacity)
        };
        assert_eq!(thresholds("{}", Capacity::Packets(80)), (20.0, 40.0));
        assert_eq!(thresholds("{}", Capacity::Bytes(40_000)), (20.0, 40.0));
        assert_eq!(thresholds(r#"{"min-threshold":7}"#, Capacity::Packets(80)), (7.0, 14.0));
        assert_eq!(thresholds(r#"{"max-threshold":12}"#, Capacity::Packets(80)), (6.0, 12.0));
    }

    #[test]
    fn parameters_out_of_range_are_refused() {
        let check = |text: &str| {
            let config: FredConfig = serde_json::from_str(text).expect("fred");
            config.check().and_then(|()| config.fits(Capacity::Packets(50), None)).map_err(|error| error.key)
        };
        for (text, key) in [
            (r#"{"weight":0}"#, "weight"),
            (r#"{"max-p":1.1}"#, "max-p"),
            (r#"{"mean-packet":"0 B"}"#, "mean-packet"),
            (r#"{"min-queue":0}"#, "min-queue"),
            (r#"{"min-threshold":50}"#, "min-threshold"),
            (r#"{"max-threshold":51}"#, "max-threshold"),
            (r#"{"min-threshold":20,"max-threshold":20}"#, "min-threshold"),
        ] {
            assert_eq!(check(text), Err(key.to_owned()));
        }
        assert_eq!(check("{}"), Ok(()));
    }
}
