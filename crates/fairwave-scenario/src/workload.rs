//! What one flow of a group would come to: packets, other happenings and memory, told before anything is built.
//!
//! **Assumptions.** The application's first units stand for all of them. Of what it offers, a flow gets across what its
//! equal share of the narrowest link on its way carries; bulk data fills that share. Transports other than UDP keep
//! what has not got across. A connection that gets nothing across tries again at the longest timeout. Sizes in memory
//! are round figures of the right order.

use fairwave_core::random::Seed;
use fairwave_core::traffic::{Source, TrafficConfig, TrafficSource, Volume};
use fairwave_core::transport::{PacketSize, Properties, TransportConfig};
use fairwave_core::units::Instant;

use crate::law::{largest_packet, most_payload};

/// Number of units, or periods of bulk data, that are examined.
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
    /// What is wanted as a whole, which has a size instead of a rate, and the payload and header of its packets.
    whole: Option<(TrafficConfig, PacketSize)>,
    /// Happenings in a second that are not packets: periods of the application beginning and ending, the
    /// slowest timer.
    wakes: f64,
    udp: bool,
}

/// What a flow would cost.
#[derive(Clone, Copy, Default)]
pub(crate) struct FlowWork {
    /// Packet-hops and other happenings.
    pub happenings: f64,
    /// Those of them that come from the application offering more than the network carries, or from its periods.
    pub vain: f64,
    /// Bytes that are kept.
    pub memory: f64,
}

/// What the flows of a group would come to.
pub(crate) struct GroupWork {
    pub group: usize,
    pub work: FlowWork,
}

impl Workload {
    /// What flows of this kind do.
    pub fn of(traffic: &TrafficConfig, transport: &TransportConfig) -> Workload {
        let (units, payload, wakes) = sample(traffic);
        Workload {
            packet: 8.0 * Some(largest_packet(traffic, transport)).filter(|size| *size > 0).unwrap_or(1000) as f64,
            units,
            pieces: (payload / most_payload(traffic, transport) as f64).ceil().max(1.0),
            bulk: traffic.is_bulk(),
            whole: traffic.is_whole().then(|| (traffic.clone(), transport.packet(false))),
            wakes: wakes + 1.0 / transport.slowest_timer().seconds().max(1e-9),
            udp: !transport.controls_rate(),
        }
    }

    /// The cost of a flow, from its duration in seconds, its share in bits per second, and the number of links of its
    /// routes.
    pub fn work(&self, seconds: f64, share: f64, there: usize, back: usize) -> FlowWork {
        if let Some((traffic, packet)) = &self.whole {
            return self.work_of_whole(traffic, *packet, seconds, share, (there + back) as f64);
        }
        let carried_at_most = share * seconds / self.packet;
        let offered = self.units * self.pieces * seconds;
        let carried = if self.bulk { carried_at_most } else { offered.min(carried_at_most) };
        let rest = (offered - carried).max(0.0);
        // What is not carried was made, and met a full buffer or waits.
        let vain = rest + rest / self.pieces + self.wakes * seconds;
        let hops = there + if self.udp { 0 } else { back };
        let waiting = if self.udp { 0.0 } else { rest * BYTES_PER_WAITING };
        FlowWork {
            happenings: carried * hops as f64 + (offered - rest) / self.pieces + vain,
            vain,
            memory: self.units * seconds * BYTES_PER_UNIT + waiting,
        }
    }
}

impl Workload {
    /// The same of what is wanted as a whole: as much as it comes to, as far as the link carries that. What is handed over
    /// waits in the sender, all of it.
    fn work_of_whole(
        &self,
        traffic: &TrafficConfig,
        packet: PacketSize,
        seconds: f64,
        share: f64,
        hops: f64,
    ) -> FlowWork {
        let Some(Volume { units, payload }) = traffic.volume(seconds) else { return FlowWork::default() };
        let (most, header) = (packet.payload.get().max(1) as f64, packet.header.get() as f64);
        let packets = units + payload / most;
        let bytes_carried = (share * seconds / 8.0).max(0.0);
        // Of the smallest packets the most are carried; what the next page holds is not handed over before.
        let carried = (packets * (bytes_carried / (payload + packets * header).max(1.0)).min(1.0)).max(1.0);
        let units = units.min(1.0 + carried);
        let vain = self.wakes * seconds;
        let waiting = packets / units.max(1.0) * BYTES_PER_WAITING;
        FlowWork { happenings: carried * hops + units + vain, vain, memory: units * BYTES_PER_UNIT + waiting }
    }
}

/// Units per second, their mean payload in bytes, and beginnings and ends of periods of bulk data per second.
fn sample(traffic: &TrafficConfig) -> (f64, f64, f64) {
    let Ok(mut source) = Source::new(traffic, Instant::ZERO, Seed(0).stream("size")) else { return (0.0, 0.0, 0.0) };
    if traffic.is_bulk() {
        let begins: Vec<Instant> =
            std::iter::from_fn(|| source.next_activity()).take(SAMPLE).map(|period| period.from).collect();
        return (0.0, 0.0, 2.0 * per_second(&begins));
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
            assert!(work.memory / (1000.0 * offered * kept) > 0.98, "{}", work.memory);
        }
    }

    #[test]
    fn bulk_data_fills_its_share_both_ways() {
        let bulk = workload(r#"{ "kind": "bulk" }"#, r#"{ "name": "tcp/reno", "preset": "rfc", "segment": "960 B" }"#);
        let work = bulk.work(10.0, 8e6, 2, 2);
        assert!((work.happenings - 4.0 * 10.0 * 1000.0).abs() < 10.0, "{}", work.happenings);
    }

    #[test]
    fn periods_of_a_nanosecond_are_counted() {
        let period = r#"{ "distribution": "exponential", "mean": "1 ns" }"#;
        let bulk = workload(
            &format!(r#"{{ "kind": "bulk-on-off", "on": {period}, "off": {period} }}"#),
            r#"{ "name": "tcp/reno" }"#,
        );
        assert!(bulk.work(1.0, 1.0, 1, 1).vain > 1e8);
    }
}
