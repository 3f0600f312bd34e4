//! What one flow of a group would come to: packets, other happenings and memory, told before anything is built.
//!
//! **Assumptions.** The application's first units stand for all of them. Of what it offers, a flow gets across what its
//! equal share of the narrowest link on its way carries; bulk data fills that share. Transports other than UDP keep
//! what has not got across. A connection that gets nothing across tries again at the longest timeout. Sizes in memory
//! are round figures of the right order.

use fairwave_core::random::Seed;
use fairwave_core::traffic::{Source, TrafficConfig};
use fairwave_core::transport::TransportConfig;
use fairwave_core::transport::tcp::Recovery;
use fairwave_core::units::{Instant, Span};

use crate::law::{largest_packet, most_payload};

/// So many units, or turns of bulk data, are looked at.
const SAMPLE: usize = 64;

/// Bytes that are kept of every unit that an application makes: when, when complete, how long.
const BYTES_PER_UNIT: f64 = 32.0;
/// Bytes that are kept of a packet that waits in its sender.
const BYTES_PER_WAITING: f64 = 24.0;

/// Seconds and bytes are plain numbers here: they are estimates, and may be larger than any [`Span`].
pub(crate) struct Workload {
    /// Bits of its largest packet on the wire.
    packet: f64,
    /// Units that the application makes in a second; 0 for bulk data.
    units: f64,
    /// Packets that a unit is cut into.
    pieces: f64,
    bulk: bool,
    /// Happenings in a second that are not packets: turns of the application, the slowest timer.
    turns: f64,
    udp: bool,
    /// Bytes of endpoints whose window takes room in advance.
    window: f64,
}

/// What a flow would cost.
#[derive(Clone, Copy, Default)]
pub(crate) struct Work {
    /// Packet-hops and other happenings.
    pub happenings: f64,
    /// Those of them that come from the application offering more than the network carries, or from its turns.
    pub vain: f64,
    /// Bytes that are kept.
    pub memory: f64,
}

impl Workload {
    /// What flows of this kind do.
    pub fn of(traffic: &TrafficConfig, transport: &TransportConfig) -> Workload {
        let (units, payload, turns) = sample(traffic);
        let tcp = transport.tcp().map(|(flavour, tcp)| tcp.parameters(flavour));
        // The receiver notes what is there; the sender what each segment carries and, over Vegas, when it left.
        let window = tcp.as_ref().map_or(0.0, |tcp| {
            let carries = if traffic.is_bulk() { 0.0 } else { 16.0 };
            let left = if tcp.recovery == Recovery::Vegas { 16.0 } else { 0.0 };
            f64::from(tcp.receiver_window) * (1.0 + carries + left)
        });
        let longest = match transport {
            TransportConfig::Rtcp(rtcp) => rtcp.minimum,
            _ => tcp.map_or(Span::MAX, |tcp| tcp.rto.max),
        };
        Workload {
            packet: 8.0 * Some(largest_packet(traffic, transport)).filter(|size| *size > 0).unwrap_or(1000) as f64,
            units,
            pieces: (payload / most_payload(traffic, transport) as f64).ceil().max(1.0),
            bulk: traffic.is_bulk(),
            turns: turns + 1.0 / longest.seconds().max(1e-9),
            udp: matches!(transport, TransportConfig::Udp(_) | TransportConfig::Rtcp(_)),
            window,
        }
    }

    /// What a flow costs that lasts so many seconds, with a share of so many bits per second on routes of so many links.
    pub fn work(&self, seconds: f64, share: f64, there: usize, back: usize) -> Work {
        let carried_at_most = share * seconds / self.packet;
        let offered = self.units * self.pieces * seconds;
        let carried = if self.bulk { carried_at_most } else { offered.min(carried_at_most) };
        let rest = (offered - carried).max(0.0);
        // What is not carried was made, and met a full buffer or waits.
        let vain = rest + rest / self.pieces + self.turns * seconds;
        let hops = there + if self.udp { 0 } else { back };
        let waiting = if self.udp { 0.0 } else { rest * BYTES_PER_WAITING };
        Work {
            happenings: carried * hops as f64 + (offered - rest) / self.pieces + vain,
            vain,
            memory: self.units * seconds * BYTES_PER_UNIT + waiting + self.window,
        }
    }
}

/// Units per second, their mean payload in bytes, and turns of bulk data per second.
fn sample(traffic: &TrafficConfig) -> (f64, f64, f64) {
    let Ok(mut source) = Source::new(traffic, Instant::ZERO, Seed(0).stream("size")) else { return (0.0, 0.0, 0.0) };
    if source.is_bulk() {
        let turns: Vec<Instant> =
            std::iter::from_fn(|| source.next_activity()).take(SAMPLE).map(|turn| turn.from).collect();
        return (0.0, 0.0, 2.0 * per_second(&turns));
    }
    let units: Vec<_> = std::iter::from_fn(|| source.next_unit()).take(SAMPLE).collect();
    let payload = units.iter().map(|unit| f64::from(unit.payload)).sum::<f64>() / units.len().max(1) as f64;
    let made: Vec<Instant> = units.iter().map(|unit| unit.created).collect();
    (per_second(&made), payload, 0.0)
}

/// How often something happens that happened at these times, of which the first is 0; never, if it ended.
fn per_second(times: &[Instant]) -> f64 {
    match times {
        [first, .., last] if times.len() == SAMPLE => (SAMPLE - 1) as f64 / last.since(*first).seconds().max(1e-9),
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workload(traffic: &str, transport: &str) -> Workload {
        let traffic: TrafficConfig = serde_json::from_str(traffic).expect("traffic");
        let transport: TransportConfig = serde_json::from_str(transport).expect("a transport");
        Workload::of(&traffic, &transport)
    }

    const CBR: &str = r#"{ "kind": "cbr", "rate": "8 Mb/s", "payload": "960 B" }"#;

    #[test]
    fn what_is_offered_and_carried_costs_its_packets_times_their_hops() {
        let udp = workload(CBR, r#"{ "name": "udp" }"#);
        // 1041.67 packets of 1000 bytes on the wire, 8.33 Mb/s, over three links, each a unit that is made.
        let work = udp.work(1.0, 10e6, 3, 3);
        assert!((work.happenings - 4.0 * 8e6 / 7680.0).abs() < 5.0, "{}", work.happenings);
        assert!(work.vain < 1.0);
    }

    #[test]
    fn what_is_offered_and_not_carried_is_made_in_vain_and_kept_unless_it_is_udp() {
        let (udp, tcp) = (workload(CBR, r#"{ "name": "udp" }"#), workload(CBR, r#"{ "name": "tcp/reno" }"#));
        let offered = 8e6 / 7680.0;
        for (workload, kept) in [(udp, 32.0), (tcp, 32.0 + 24.0)] {
            let work = workload.work(1000.0, 8.0, 1, 1);
            assert!((work.vain / (1000.0 * offered) - 2.0).abs() < 0.02, "{}", work.vain);
            assert!((work.memory - workload.window) / (1000.0 * offered * kept) > 0.98, "{}", work.memory);
        }
    }

    #[test]
    fn bulk_data_fills_its_share_both_ways() {
        let bulk = workload(r#"{ "kind": "bulk" }"#, r#"{ "name": "tcp/reno", "segment": "960 B" }"#);
        let work = bulk.work(10.0, 8e6, 2, 2);
        assert!((work.happenings - 4.0 * 10.0 * 1000.0).abs() < 10.0, "{}", work.happenings);
    }

    #[test]
    fn turns_of_a_nanosecond_are_counted() {
        let period = r#"{ "distribution": "exponential", "mean": "1 ns" }"#;
        let bulk = workload(
            &format!(r#"{{ "kind": "bulk-on-off", "on": {period}, "off": {period} }}"#),
            r#"{ "name": "tcp/reno" }"#,
        );
        assert!(bulk.work(1.0, 1.0, 1, 1).vain > 1e8);
    }
}
