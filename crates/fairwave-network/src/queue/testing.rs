//! Shared helpers for the tests of this module.

use super::{DisciplineConfig, DropReason, LinkQueue, PoliceConfig, QueueConfig, ShapeConfig};
use crate::dscp::Dscp;
use crate::packet::{Body, Class, Ecn, FlowId, Packet};
use fairwave_units::random::{Seed, Stream};
use fairwave_units::units::{Instant, Rate, Span};

/// A packet of `wire` bytes of flow `flow`.
pub fn packet(flow: u32, wire: u16, class: Class) -> Packet {
    let body = Body::Datagram {
        payload: wire,
        sequence: 0,
        unit: 0,
        part: 0,
        parts: 1,
        created: Instant::from_nanos(u64::from(flow)),
    };
    Packet { flow: FlowId(flow), wire, class, dscp: class.dscp(), feedback: false, ecn: Ecn::NotEct, layer: 0, body }
}

/// Random numbers for tests.
pub fn stream() -> Stream {
    Seed(1).stream("queue.test")
}

/// Calls `each` every `spacing` seconds for `seconds`; returns the end time.
pub fn feed(from: Instant, seconds: f64, spacing: f64, mut each: impl FnMut(Instant)) -> Instant {
    let times = (seconds / spacing) as u64;
    for i in 1..=times {
        each(from + Span::from_seconds(i as f64 * spacing));
    }
    from + Span::from_seconds(seconds)
}

/// The rate of the link behind the queue.
pub fn rate() -> Rate {
    Rate::from_bits_per_second(1_000_000)
}

/// Every discipline with every victim rule that it accepts, in packets and in bytes, with parameters that make it drop soon.
/// Disciplines that can mark appear with and without marks.
pub fn configs() -> Vec<serde_json::Value> {
    let mut configs = Vec::new();
    for capacity in [serde_json::json!({"packets": 12}), serde_json::json!({"bytes": 6000})] {
        let queue = |mut config: serde_json::Value| {
            config["capacity"] = capacity.clone();
            make_nervous(&mut config);
            config
        };
        let mut ways: Vec<_> = DisciplineConfig::shortest_tables().into_iter().map(queue).collect();
        let mut as_ns2 = queue(serde_json::json!({"discipline": "red"}));
        as_ns2["preset"] = "ns2".into();
        ways.push(as_ns2);
        ways.push(serde_json::json!({"discipline": "cake", "capacity": capacity, "diffserv": "diffserv4"}));
        for config in ways.clone() {
            let turned = |ecn: bool| {
                let mut config = config.clone();
                config["ecn"] = ecn.into();
                config
            };
            ways.extend([true, false].map(turned).into_iter().filter(|config| {
                let read = serde_json::from_value::<QueueConfig>(config.clone());
                read.is_ok_and(|queue| queue.discipline.marks() == config["ecn"])
            }));
        }
        for config in ways {
            let queue: QueueConfig = serde_json::from_value(config.clone()).expect("a queue");
            if queue.discipline.nature().own_victim.is_none() {
                for victim in ["tail", "front", "random", "drop-sel", "voice-guard", "highest-layer"] {
                    let mut config = config.clone();
                    config["victim"] = victim.into();
                    configs.push(config);
                }
            }
            if queue.victim().is_none() {
                configs.push(config);
            }
        }
    }
    configs
}

/// Parameters with which a discipline drops within a few packets.
fn make_nervous(config: &mut serde_json::Value) {
    let extra = match config["discipline"].as_str().unwrap_or_default() {
        "red" | "choke" | "punsi" | "fred" => {
            serde_json::json!({"weight": 0.3, "min-threshold": 2, "max-threshold": 5, "max-p": 0.3})
        }
        "ared" => serde_json::json!({"weight": 0.3, "min-threshold": 2, "max-threshold": 5, "interval": "10 ms"}),
        "avq" => serde_json::json!({"virtual-buffer": "3 kB"}),
        "rem" => serde_json::json!({"gamma": 0.1, "phi": 1.1, "target": 2}),
        "green" => serde_json::json!({"step": 0.1, "interval": "1 ms", "memory": "1 ms", "target": 0.5}),
        "afd" => serde_json::json!({"target": 2, "shadow": 20, "sampling": 1, "interval": "1 ms"}),
        "csfq" => {
            serde_json::json!({"threshold": "500 B", "flow-memory": "10 ms", "window": "1 ms", "link-memory": "10 ms"})
        }
        "codel" => serde_json::json!({"target": "2 ms", "interval": "10 ms", "mtu": "40 B"}),
        "fq-codel" => serde_json::json!({"target": "2 ms", "interval": "10 ms", "quantum": "300 B", "flows": 3}),
        "fq-pie" => serde_json::json!({
            "target": "2 ms", "max-burst": "0 ms", "alpha": 50, "beta": 500, "mean-packet": "40 B", "quantum": "300 B",
            "flows": 3,
        }),
        "cake" => serde_json::json!({"bandwidth": "900 kb/s", "rtt": "20 ms"}),
        "dualpi2" => serde_json::json!({"target": "1 ms", "tupdate": "1 ms", "alpha": 50, "beta": 500}),
        "pie" => {
            serde_json::json!({"target": "2 ms", "max-burst": "0 ms", "alpha": 50, "beta": 500, "mean-packet": "40 B"})
        }
        _ => serde_json::json!({}),
    };
    for (key, value) in extra.as_object().into_iter().flatten() {
        config[key] = value.clone();
    }
}

/// Start of transmission of each packet, and the dropped packets.
pub type Served = (Vec<(Instant, Packet)>, Vec<(Packet, DropReason)>);

/// Passes arrivals, in order of time, through a link with this queue. Returns the start of each transmission, in order, and
/// the dropped packets. Packet bodies must be unique.
pub fn served(queue: &mut LinkQueue, rate: Rate, arrivals: &[(Instant, Packet)]) -> Served {
    let (mut served, mut drops, mut free) = (Vec::new(), Vec::new(), Instant::ZERO);
    let mut in_vain = 0;
    let mut serve = |queue: &mut LinkQueue, now: Instant, until: Instant, drops: &mut Vec<_>| {
        let mut at = now;
        while queue.packets() > 0 {
            at = at.max(free).max(queue.held_until());
            if at >= until {
                break;
            }
            if let Some(packet) = queue.depart(at, drops) {
                served.push((at, packet));
                free = at + rate.time_for(packet.size());
            } else {
                // A packet may be held back once, and a discipline may drop a waiting packet once.
                in_vain += 1;
                assert!(in_vain <= 2 * arrivals.len(), "nothing leaves at {at}, which is not before `held_until`");
            }
        }
    };
    for (place, (now, packet)) in arrivals.iter().enumerate() {
        queue.arrive(*now, packet, &mut drops);
        let until = arrivals.get(place + 1).map_or(Instant::NEVER, |(next, _)| *next);
        serve(queue, *now, until, &mut drops);
    }
    (served, drops)
}

/// The queue of a link of [`rate`] from a scenario's tables: queue, policer and shaper.
pub fn link_queue(queue: serde_json::Value, police: Option<&str>, shape: Option<&str>) -> LinkQueue {
    let config: QueueConfig = serde_json::from_value(queue).expect("a queue");
    config.check_before(rate()).unwrap_or_else(|error| panic!("{error}"));
    let police: Option<PoliceConfig> = police.map(|text| serde_json::from_str(text).expect(text));
    let shape: Option<ShapeConfig> = shape.map(|text| serde_json::from_str(text).expect(text));
    LinkQueue::new(&config, police.as_ref(), shape.as_ref(), rate(), |name| Seed(1).stream(name))
}

/// A packet with this code point; `number` identifies it.
pub fn marked(dscp: u8, wire: u16, number: u64) -> Packet {
    let body =
        Body::Datagram { payload: wire, sequence: 0, unit: 0, part: 0, parts: 1, created: Instant::from_nanos(number) };
    Packet { dscp: Dscp::new(dscp).unwrap_or_default(), body, ..packet(u32::from(dscp), wire, Class::Tcp) }
}
