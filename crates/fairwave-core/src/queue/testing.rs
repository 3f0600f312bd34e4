//! Helpers that the tests of this module share.

use crate::packet::{Body, Class, Ecn, FlowId, Packet};
use crate::random::{Seed, Stream};
use crate::units::{Instant, Rate, Span};

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
    Packet { flow: FlowId(flow), wire, class, feedback: false, ecn: Ecn::NotEct, layer: 0, body }
}

/// The tests' random numbers.
pub fn stream() -> Stream {
    Seed(1).stream("queue.test")
}

/// Calls `each` every `spacing` seconds for `seconds`, and returns the end.
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

/// Every discipline with every victim that it takes, in packets and in bytes, with parameters that make it drop soon.
pub fn configs() -> Vec<serde_json::Value> {
    let mut configs = Vec::new();
    for capacity in [serde_json::json!({"packets": 12}), serde_json::json!({"bytes": 6000})] {
        for victim in ["tail", "front", "random", "drop-sel", "voice-guard", "highest-layer"] {
            for discipline in ["drop-tail", "red", "ared", "avq", "rem", "green", "codel", "pie"] {
                let mut config = serde_json::json!({"discipline": discipline, "capacity": capacity, "victim": victim});
                make_nervous(&mut config);
                configs.push(config);
            }
        }
        for victim in ["tail", "front", "random", "drop-sel", "voice-guard", "highest-layer"] {
            let mut config = serde_json::json!({
                "discipline": "red", "preset": "ns2", "capacity": capacity, "victim": victim,
            });
            make_nervous(&mut config);
            configs.push(config);
        }
        for discipline in ["choke", "punsi", "fred"] {
            let mut config = serde_json::json!({"discipline": discipline, "capacity": capacity});
            make_nervous(&mut config);
            configs.push(config);
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
        "codel" => serde_json::json!({"target": "2 ms", "interval": "10 ms", "mtu": "40 B"}),
        "pie" => {
            serde_json::json!({"target": "2 ms", "max-burst": "0 ms", "alpha": 50, "beta": 500, "mean-packet": "40 B"})
        }
        _ => serde_json::json!({}),
    };
    for (key, value) in extra.as_object().into_iter().flatten() {
        config[key] = value.clone();
    }
}
