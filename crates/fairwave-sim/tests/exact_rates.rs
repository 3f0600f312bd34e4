//! Links carry their rate exactly, however short a packet's time is: rounding to nanoseconds does not add up.

use fairwave_core::random::Seed;
use fairwave_scenario::Scenario;
use fairwave_sim::Run;

/// Packets that a saturated link of this rate carries in `micros`, of flows with these payloads; a packet has 40 bytes more on the wire. `link`
/// has more keys of the bottleneck.
fn carried(rate: &str, offered: &str, link: &str, payloads: &[u32], micros: u32) -> f64 {
    let flow = |payload: &u32| {
        format!(
            "[[flow]]\nname = \"f{payload}\"\ntransport = {{ name = \"udp\", header = \"40 B\" }}\n\
             traffic = {{ kind = \"cbr\", rate = \"{offered}\", payload = \"{payload} B\" }}\n"
        )
    };
    let flows: String = payloads.iter().map(flow).collect();
    let text = format!(
        "name = \"exact\"\nduration = \"{micros} us\"\npreset = \"ns2\"\n[topology]\npreset = \"dumbbell\"\n\
         access = {{ rate = \"10000 Gb/s\", delay = \"1 us\" }}\n\
         bottleneck = {{ rate = {rate}, delay = \"1 us\", {link} }}\n{flows}"
    );
    let scenario = Scenario::from_toml(&text, "exact.toml").unwrap_or_else(|error| panic!("{error}"));
    let result = Run::new(&scenario.plan(Seed(1)).unwrap_or_else(|error| panic!("{error}"))).execute().expect("a run");
    let link = result.links.iter().max_by_key(|link| link.dropped_overflow).expect("links");
    assert!(link.dropped_overflow > 0, "the link is not saturated");
    link.wire_departed as f64
}

#[test]
fn a_saturated_link_carries_its_rate_with_any_queue_rate_law_and_size() {
    let queues = [
        "queue = { capacity = { packets = 20 } }",
        "queue = { capacity = { bytes = 30000 } }",
        "queue = { discipline = \"codel\", capacity = { packets = 20 } }",
        "queue = { capacity = { packets = 20 } }, loss = { model = \"bernoulli\", rate = 1e-9 }",
    ];
    for (rate, bits, micros, offered) in [
        ("\"100 Gb/s\"", 100e9, 100, "80 Gb/s"),
        ("[{ at = \"0 s\", is = \"100 Gb/s\" }]", 100e9, 100, "80 Gb/s"),
        ("\"33.3 Mb/s\"", 33.3e6, 60_000, "30 Mb/s"),
        ("\"7.000001 Gb/s\"", 7.000_001e9, 600, "6 Gb/s"),
    ] {
        for queue in queues {
            for payloads in [&[26, 27][..], &[1460, 1459], &[26, 1460]] {
                let bytes = carried(rate, offered, queue, payloads, micros);
                // It is idle until the first packets have crossed the access link, within 2 µs. At most one packet is cut off.
                let (most, idle) = (bits / 8.0 * f64::from(micros) * 1e-6, bits / 8.0 * 2e-6);
                assert!(
                    bytes <= most && bytes >= most - idle - 3000.0,
                    "{payloads:?} at {rate} with {queue}: {bytes} of {most} bytes"
                );
            }
        }
    }
}
