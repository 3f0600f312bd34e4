//! Estimates of the cost of one flow of a group before a run: packets, other simulator events and memory.
//!
//! **Assumptions.** The application's first units represent all of them. A flow delivers at most an equal share of the
//! narrowest link on its route; bulk data fills this share. Transports other than UDP keep data that the network has
//! not carried. A connection that cannot deliver anything retries at the longest timeout. Memory sizes are orders of
//! magnitude.

use fairwave_core::random::Seed;
use fairwave_core::traffic::{Source, TrafficConfig, TrafficSource, Volume};
use fairwave_core::transport::{PacketSize, Properties, TransportConfig};
use fairwave_core::units::Instant;

use crate::law::{largest_packet, most_payload};

/// Number of units, or periods of bulk data, that are examined.
const SAMPLE: usize = 64;

/// Bytes stored per unit of an application: creation time, completion time, length.
const BYTES_PER_UNIT: f64 = 32.0;
/// Bytes stored per packet that waits in its sender.
const BYTES_PER_WAITING: f64 = 24.0;

/// Workload of one flow. Seconds and bytes are plain numbers, because estimates can exceed the range of `Span`.
pub(crate) struct Workload {
    /// Size of the largest packet on the wire, bits.
    packet: f64,
    /// Units that the application creates per second. 0 for bulk data.
    units: f64,
    /// Packets per unit.
    pieces: f64,
    bulk: bool,
    /// For traffic with a size instead of a rate (transfers, pages): its configuration, and payload and header of its
    /// packets.
    sized: Option<(TrafficConfig, PacketSize)>,
    /// Events per second other than packets: starts and ends of the application's periods, and the slowest timer.
    wakes: f64,
    udp: bool,
}

/// Estimated cost of a flow.
#[derive(Clone, Copy, Default)]
pub(crate) struct FlowWork {
    /// Packet-hops and other simulator events.
    pub events: f64,
    /// Events among `events` due to excess load (more than the network carries) or to the application's periods.
    pub wasted: f64,
    /// Memory in bytes.
    pub memory: f64,
}

/// Estimated cost of all flows of a group.
pub(crate) struct GroupWork {
    pub group: usize,
    pub work: FlowWork,
}

impl Workload {
    /// Samples the traffic of flows of this kind.
    pub fn new(traffic: &TrafficConfig, transport: &TransportConfig) -> Workload {
        let (units, payload, wakes) = sample(traffic);
        Workload {
            packet: 8.0 * Some(largest_packet(traffic, transport)).filter(|size| *size > 0).unwrap_or(1000) as f64,
            units,
            pieces: (payload / most_payload(traffic, transport) as f64).ceil().max(1.0),
            bulk: traffic.is_bulk(),
            sized: traffic.transfers().then(|| (traffic.clone(), transport.packet(false))),
            wakes: wakes + 1.0 / transport.slowest_timer().seconds().max(1e-9),
            udp: !transport.controls_rate(),
        }
    }

    /// The cost of a flow that lasts `seconds`, with a share in bits per second. `there` and `back` count the links of
    /// its routes.
    pub fn work(&self, seconds: f64, share: f64, there: usize, back: usize) -> FlowWork {
        if let Some((traffic, packet)) = &self.sized {
            return self.sized_work(traffic, *packet, seconds, share, (there + back) as f64);
        }
        let carried_at_most = share * seconds / self.packet;
        let offered = self.units * self.pieces * seconds;
        let carried = if self.bulk { carried_at_most } else { offered.min(carried_at_most) };
        let rest = (offered - carried).max(0.0);
        // Each packet above the carried load is created and then either meets a full buffer or waits.
        let wasted = rest + rest / self.pieces + self.wakes * seconds;
        let hops = there + if self.udp { 0 } else { back };
        let waiting = if self.udp { 0.0 } else { rest * BYTES_PER_WAITING };
        FlowWork {
            events: carried * hops as f64 + (offered - rest) / self.pieces + wasted,
            wasted,
            memory: self.units * seconds * BYTES_PER_UNIT + waiting,
        }
    }
}

impl Workload {
    /// The cost of traffic with a size: the volume of `seconds`, limited to the link's capacity. All data given to the
    /// transport waits in the sender.
    fn sized_work(&self, traffic: &TrafficConfig, packet: PacketSize, seconds: f64, share: f64, hops: f64) -> FlowWork {
        let Some(Volume { units, payload }) = traffic.volume(seconds) else { return FlowWork::default() };
        let (most, header) = (packet.payload.get().max(1) as f64, packet.header.get() as f64);
        let packets = units + payload / most;
        let bytes_carried = (share * seconds / 8.0).max(0.0);
        // The estimate distributes the carried bytes equally over all packets. A page's objects reach the transport
        // only after the previous page is complete.
        let carried = (packets * (bytes_carried / (payload + packets * header).max(1.0)).min(1.0)).max(1.0);
        let units = units.min(1.0 + carried);
        let wasted = self.wakes * seconds;
        let waiting = packets / units.max(1.0) * BYTES_PER_WAITING;
        FlowWork { events: carried * hops + units + wasted, wasted, memory: units * BYTES_PER_UNIT + waiting }
    }
}

/// Units per second, their mean payload in bytes, and starts plus ends of periods of bulk data per second.
fn sample(traffic: &TrafficConfig) -> (f64, f64, f64) {
    let Ok(mut source) = Source::new(traffic, Instant::ZERO, Seed(0).stream("size")) else { return (0.0, 0.0, 0.0) };
    if traffic.is_bulk() {
        let begins: Vec<Instant> =
            std::iter::from_fn(|| source.next_activity()).take(SAMPLE).map(|period| period.from).collect();
        return (0.0, 0.0, 2.0 * mean_rate(&begins));
    }
    let units: Vec<_> = std::iter::from_fn(|| source.next_unit()).take(SAMPLE).collect();
    let payload = units.iter().map(|unit| f64::from(unit.payload)).sum::<f64>() / units.len().max(1) as f64;
    let made: Vec<Instant> = units.iter().map(|unit| unit.created).collect();
    (mean_rate(&made), payload, 0.0)
}

/// Rate per second of events at these times. The first time is 0. Returns 0 if the source ended within the sample.
fn mean_rate(times: &[Instant]) -> f64 {
    match times {
        [first, .., last] if times.len() == SAMPLE => (SAMPLE - 1) as f64 / last.span_since(*first).seconds().max(1e-9),
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workload(traffic: &str, transport: &str) -> Workload {
        let traffic: TrafficConfig = serde_json::from_str(traffic).expect("traffic");
        let transport: TransportConfig = serde_json::from_str(transport).expect("a transport");
        Workload::new(&traffic, &transport)
    }

    const CBR: &str = r#"{ "kind": "cbr", "rate": "8 Mb/s", "payload": "960 B" }"#;

    #[test]
    fn carried_load_costs_its_packets_times_their_hops() {
        let udp = workload(CBR, r#"{ "name": "udp" }"#);
        // 1041.67 packets of 1000 bytes on the wire (8.33 Mb/s) over three links. Each packet is one unit.
        let work = udp.work(1.0, 10e6, 3, 3);
        assert!((work.events - 4.0 * 8e6 / 7680.0).abs() < 5.0, "{}", work.events);
        assert!(work.wasted < 1.0);
    }

    #[test]
    fn excess_load_is_wasted_and_kept_unless_it_is_udp() {
        let (udp, tcp) = (workload(CBR, r#"{ "name": "udp" }"#), workload(CBR, r#"{ "name": "tcp/reno" }"#));
        let offered = 8e6 / 7680.0;
        for (workload, kept) in [(udp, 32.0), (tcp, 32.0 + 24.0)] {
            let work = workload.work(1000.0, 8.0, 1, 1);
            assert!((work.wasted / (1000.0 * offered) - 2.0).abs() < 0.02, "{}", work.wasted);
            assert!(work.memory / (1000.0 * offered * kept) > 0.98, "{}", work.memory);
        }
    }

    #[test]
    fn bulk_data_fills_its_share_both_ways() {
        let bulk = workload(r#"{ "kind": "bulk" }"#, r#"{ "name": "tcp/reno", "preset": "rfc", "segment": "960 B" }"#);
        let work = bulk.work(10.0, 8e6, 2, 2);
        assert!((work.events - 4.0 * 10.0 * 1000.0).abs() < 10.0, "{}", work.events);
    }

    #[test]
    fn periods_of_a_nanosecond_are_counted() {
        let period = r#"{ "distribution": "exponential", "mean": "1 ns" }"#;
        let bulk = workload(
            &format!(r#"{{ "kind": "bulk-on-off", "on": {period}, "off": {period} }}"#),
            r#"{ "name": "tcp/reno" }"#,
        );
        assert!(bulk.work(1.0, 1.0, 1, 1).wasted > 1e8);
    }
}
