//! Properties of all combinations of discipline and victim rule.

use proptest::prelude::*;

use super::testing::{configs, packet, rate, stream};
use super::*;

fn queue(toml: serde_json::Value) -> Queue {
    let config: QueueConfig = serde_json::from_value(toml).expect("a queue");
    config.check().expect("a sound queue");
    Queue::new(&config, rate(), stream())
}

/// Sums packets and bytes per class.
#[derive(Default, PartialEq, Debug, Clone, Copy)]
struct Sums([(u64, u64); 3]);

impl Sums {
    fn add(&mut self, packet: &Packet) {
        let sum = &mut self.0[packet.class as usize];
        *sum = (sum.0 + 1, sum.1 + u64::from(packet.wire));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn a_packet_that_passes_leaves_what_one_leaves_that_arrives_and_departs(
        bursts in prop::collection::vec((1..1501u16, 0..6u32, 1..25usize, 0..40_000u64), 1..60),
    ) {
        for config in configs() {
            let run = |passes: bool| {
                let mut queue = queue(config.clone());
                let (mut now, mut free, mut drops) = (Instant::ZERO, Instant::ZERO, Vec::new());
                let (mut left, mut passed) = (Vec::new(), 0);
                for &(size, flow, packets, micros) in &bursts {
                    for _ in 0..packets {
                        let packet = Packet { ecn: Ecn::Ect0, ..packet(flow, size, Class::Tcp) };
                        let sent = (free <= now && passes && queue.pass(now, &packet)).then_some(packet);
                        passed += u32::from(sent.is_some());
                        let sent = sent.or_else(|| {
                            queue.arrive(now, &packet, &mut drops);
                            if free <= now { queue.depart(now, &mut drops) } else { None }
                        });
                        if let Some(packet) = sent {
                            free = now + rate().time_for(packet.size());
                            left.push((now, packet, queue.has_marked()));
                        }
                    }
                    let next = now + Span::from_micros(micros);
                    while queue.packets() > 0 && free.max(queue.held_until()) <= next {
                        now = now.max(free).max(queue.held_until());
                        if let Some(packet) = queue.depart(now, &mut drops) {
                            free = now + rate().time_for(packet.size());
                            left.push((now, packet, queue.has_marked()));
                        }
                    }
                    now = next;
                }
                (left, drops, passed)
            };
            let (passing, waiting) = (run(true), run(false));
            prop_assert_eq!((&passing.0, &passing.1), (&waiting.0, &waiting.1), "{}", config);
            if config["discipline"].as_str().is_some_and(|name| ["codel", "fq-codel"].contains(&name)) {
                prop_assert!(passing.2 > 0, "{} never passed one", config);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn what_arrived_has_departed_or_was_dropped_or_waits_per_class_and_byte(
        steps in prop::collection::vec((1..1501u16, 0..3usize, 0..12_000u64), 1..300),
    ) {
        for config in configs() {
            let mut queue = queue(config.clone());
            let capacity: Capacity = serde_json::from_value(config["capacity"].clone()).expect("a capacity");
            let (mut arrived, mut gone) = (Sums::default(), Sums::default());
            let (mut now, mut free, mut drops) = (Instant::ZERO, Instant::ZERO, Vec::new());
            for (serial, &(size, class, micros)) in steps.iter().enumerate() {
                let next = now + Span::from_micros(micros);
                while free.max(queue.held_until()) <= next && queue.packets() > 0 {
                    let begins = free.max(now).max(queue.held_until());
                    if let Some(packet) = queue.depart(begins, &mut drops) {
                        gone.add(&packet);
                        free = begins + rate().time_for(packet.size());
                    }
                }
                now = next;
                let packet = packet(serial as u32 % 5, size, Class::ALL[class]);
                arrived.add(&packet);
                queue.arrive(now, &packet, &mut drops);
                let beyond = if config["preset"] == "ns2" { 1500 } else { 0 };
                match capacity {
                    Capacity::Packets(packets) => prop_assert!(queue.packets() <= packets),
                    Capacity::Bytes(bytes) => prop_assert!(queue.bytes() <= bytes + beyond),
                }
            }
            for (packet, _) in &drops {
                gone.add(packet);
            }
            for class in Class::ALL {
                let (packets, bytes) = &mut gone.0[class as usize];
                *packets += u64::from(queue.class_packets(class));
                *bytes += queue.class_bytes(class);
            }
            prop_assert_eq!(arrived, gone, "{}", config);
        }
    }
}

/// The victims when a fourth packet arrives at a queue that is full with three packets of 100 bytes.
fn dropped_on_overflow(victim: &str) -> Vec<u32> {
    let mut queue = queue(serde_json::json!({"discipline": "drop-tail", "capacity": {"packets": 3}, "victim": victim}));
    let mut drops = Vec::new();
    for (flow, class) in [(1, Class::Voice), (2, Class::Tcp), (3, Class::OtherUdp), (4, Class::Tcp)] {
        queue.arrive(Instant::ZERO, &packet(flow, 100, class), &mut drops);
    }
    assert!(drops.iter().all(|(_, reason)| *reason == DropReason::Overflow));
    drops.iter().map(|(packet, _)| packet.flow.0).collect()
}

#[test]
fn a_full_queue_drops_the_victim_of_its_rule() {
    assert_eq!(dropped_on_overflow("tail"), [4]);
    assert_eq!(dropped_on_overflow("front"), [1]);
    assert_eq!(dropped_on_overflow("drop-sel"), [2], "with the arrival, TCP holds most bytes");
}

#[test]
fn a_queue_counted_in_bytes_drops_as_many_as_the_arrival_needs() {
    let mut queue =
        queue(serde_json::json!({"discipline": "drop-tail", "capacity": {"bytes": 1000}, "victim": "front"}));
    let mut drops = Vec::new();
    for flow in 0..10 {
        queue.arrive(Instant::ZERO, &packet(flow, 100, Class::Voice), &mut drops);
    }
    queue.arrive(Instant::ZERO, &packet(10, 250, Class::Tcp), &mut drops);
    assert_eq!(drops.iter().map(|(packet, _)| packet.flow.0).collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!(queue.bytes(), 950);
}

#[test]
fn a_packet_larger_than_the_buffer_costs_nobody_else_a_place() {
    for victim in ["tail", "front", "random", "drop-sel", "voice-guard", "highest-layer"] {
        let mut queue =
            queue(serde_json::json!({"discipline": "drop-tail", "capacity": {"bytes": 1000}, "victim": victim}));
        let mut drops = Vec::new();
        queue.arrive(Instant::ZERO, &packet(1, 100, Class::Voice), &mut drops);
        queue.arrive(Instant::ZERO, &packet(2, 1500, Class::Tcp), &mut drops);
        assert_eq!((drops.len(), queue.packets()), (1, 1), "{victim}");
        assert_eq!(drops[0].0.flow.0, 2, "{victim}");
    }
}

#[test]
fn a_drop_tail_queue_whose_victim_is_the_tail_is_read_as_plain_fifo() {
    let read = |text: &str| serde_json::from_str::<QueueConfig>(text).expect("a queue");
    let plain = read(r#"{"discipline":"drop-tail","capacity":{"packets":5}}"#);
    assert_eq!(plain, QueueConfig::new(Capacity::Packets(5), DropTailConfig {}));
    assert_eq!(plain, read(r#"{"discipline":"drop-tail","capacity":{"packets":5},"victim":"tail"}"#));
    assert!(plain.is_fifo_tail());
    let front = read(r#"{"discipline":"drop-tail","capacity":{"packets":5},"victim":"front"}"#);
    assert!(!front.is_fifo_tail());
}

#[test]
fn every_configuration_is_written_as_it_is_read() {
    for config in configs() {
        let read: QueueConfig = serde_json::from_value(config.clone()).expect("a queue");
        let again: QueueConfig = serde_json::from_value(serde_json::to_value(&read).expect("text")).expect("a queue");
        assert_eq!(read, again, "{config}");
    }
}

#[test]
fn unknown_keys_victims_and_disciplines_are_refused_with_what_is_allowed() {
    let error = |text: &str| serde_json::from_str::<QueueConfig>(text).expect_err("refused").to_string();
    let base = r#""discipline":"drop-tail","capacity":{"packets":5}"#;
    assert!(error(&format!("{{{base},\"victms\":\"front\"}}")).contains("victim"));
    assert!(error(&format!("{{{base},\"victim\":\"middle\"}}")).contains("drop-sel"));
    assert!(error(r#"{"discipline":"blue","capacity":{"packets":5}}"#).contains("drop-tail"));
}

#[test]
fn a_queue_without_room_is_refused() {
    let config = QueueConfig::new(Capacity::Packets(0), DropTailConfig {});
    let error = config.check().expect_err("no room");
    assert_eq!((error.key.as_str(), error.value.as_str()), ("capacity.packets", "0"));
}

/// Sends Poisson arrivals at `load` times the link's rate for `seconds`, half of them voice. Returns the numbers of early
/// drops, of overflow drops, and of arrivals, in the second half of that time.
fn overload(config: serde_json::Value, load: f64, seconds: f64) -> (usize, usize, usize) {
    let (mut queue, mut stream, mut drops, mut arrived) = (queue(config), stream(), Vec::new(), 0);
    let spacing = 500.0 * 8.0 / (1e6 * load);
    let (mut now, mut free) = (Instant::ZERO, Instant::ZERO);
    let mut settled = false;
    while now.seconds() < seconds {
        if !settled && now.seconds() > seconds / 2.0 {
            (settled, arrived) = (true, 0);
            drops.clear();
        }
        now += Span::from_seconds(stream.exponential(spacing));
        while free < now && queue.packets() > 0 {
            if let Some(packet) = queue.depart(free, &mut drops) {
                free += rate().time_for(packet.size());
            }
        }
        let class = [Class::Voice, Class::OtherUdp][arrived % 2];
        queue.arrive(now, &packet(stream.uniform_below(4) as u32, 500, class), &mut drops);
        arrived += 1;
        if free < now {
            let packet = queue.depart(now, &mut drops);
            free = now + packet.map_or(Span::ZERO, |packet| rate().time_for(packet.size()));
        }
    }
    let early = drops.iter().filter(|(_, reason)| *reason == DropReason::Early).count();
    (early, drops.len() - early, arrived)
}

/// Storyboard: a link of 250 packets per second and a buffer of 100. The load is first half of that rate, then a quarter
/// above it. REM's price needs half a minute to adapt.
#[test]
fn every_discipline_leaves_light_load_alone_and_sheds_overload_before_the_buffer_is_full() {
    for discipline in ["red", "ared", "avq", "rem", "choke", "fred", "punsi", "afd", "csfq", "codel", "pie"] {
        let config = serde_json::json!({"discipline": discipline, "capacity": {"packets": 100}});
        let (early, overflow, arrived) = overload(config.clone(), 0.5, 60.0);
        assert!((early + overflow) * 200 < arrived, "{discipline} at half load: {early} and {overflow} of {arrived}");
        let (early, overflow, arrived) = overload(config, 1.25, 240.0);
        let loss = (early + overflow) as f64 / arrived as f64;
        assert!((0.19..0.30).contains(&loss) || discipline == "avq", "{discipline} sheds the excess: {loss}");
        assert!(early > 20 * overflow, "{discipline} drops early: {early} and {overflow} of {arrived}");
    }
}

#[test]
fn any_discipline_that_asks_for_a_victim_gets_it_by_any_rule() {
    for discipline in ["red", "ared", "avq", "rem", "pie"] {
        for victim in ["front", "random", "drop-sel", "voice-guard", "highest-layer"] {
            let config = serde_json::json!({"discipline": discipline, "capacity": {"packets": 100}, "victim": victim});
            let (early, overflow, arrived) = overload(config, 1.25, 200.0);
            assert!(
                early * 10 > arrived && early > overflow,
                "{discipline} {victim}: {early}, {overflow} of {arrived}"
            );
        }
    }
}

/// The victim of a RED queue whose average requires every packet to be dropped.
fn first_early_drop(victim: &str) -> u32 {
    let mut queue = queue(serde_json::json!({
        "discipline": "red", "capacity": {"packets": 10}, "victim": victim,
        "weight": 1.0, "min-threshold": 1, "max-threshold": 2, "gentle": false,
    }));
    let mut drops = Vec::new();
    for (flow, class) in [(1, Class::Voice), (2, Class::Tcp), (3, Class::OtherUdp)] {
        queue.arrive(Instant::ZERO, &packet(flow, 100 * flow as u16, class), &mut drops);
    }
    assert_eq!((drops.len(), queue.packets()), (1, 2), "{victim}");
    assert_eq!(drops[0].1, DropReason::Early);
    drops[0].0.flow.0
}

#[test]
fn an_early_drop_takes_the_victim_of_the_rule_and_admits_the_arrival() {
    assert_eq!(first_early_drop("tail"), 3);
    assert_eq!(first_early_drop("front"), 1);
    assert_eq!(first_early_drop("drop-sel"), 3, "other UDP holds most bytes with the arrival");
}

#[test]
fn red_ages_only_over_time_in_which_the_link_idles() {
    let mut queue = queue(serde_json::json!({
        "discipline": "red", "capacity": {"packets": 30}, "weight": 0.5, "mean-packet": "500 B",
        "min-threshold": 10, "max-threshold": 20,
    }));
    let (mut now, mut drops) = (Instant::ZERO, Vec::new());
    for _ in 0..8 {
        queue.arrive(now, &packet(1, 500, Class::Tcp), &mut drops);
    }
    for _ in 0..8 {
        assert!(queue.depart(now, &mut drops).is_some());
        now += Span::from_millis(4);
    }
    let before = queue.average();
    // The link sends until `now`; 8 ms later, two packets of 4 ms each could have met an empty queue.
    queue.arrive(now + Span::from_millis(8), &packet(1, 500, Class::Tcp), &mut drops);
    assert!((queue.average() - before / 4.0).abs() < 1e-9, "{before} {}", queue.average());
}

#[test]
fn a_change_of_rate_ages_red_by_the_time_that_the_link_idled_before_it_and_not_while_packets_wait() {
    let red = || {
        queue(serde_json::json!({
            "discipline": "red", "capacity": {"packets": 30}, "weight": 0.5, "mean-packet": "500 B",
            "min-threshold": 10, "max-threshold": 20,
        }))
    };
    let (mut idling, mut drops) = (red(), Vec::new());
    for _ in 0..2 {
        idling.arrive(Instant::ZERO, &packet(1, 500, Class::Tcp), &mut drops);
    }
    let mut waiting = red();
    for _ in 0..3 {
        waiting.arrive(Instant::ZERO, &packet(1, 500, Class::Tcp), &mut drops);
    }
    waiting.depart(Instant::ZERO, &mut drops);
    for millis in [0, 4] {
        idling.depart(Instant::ZERO + Span::from_millis(millis), &mut drops);
    }
    let (before, held) = (idling.average(), waiting.average());
    assert!(before > 0.0 && held > 0.0);
    // Packets of 4 ms each: one link idles from 8 ms on, the other pauses while a packet waits.
    let now = Instant::ZERO + Span::from_millis(16);
    for queue in [&mut idling, &mut waiting] {
        queue.rate_changed(now, rate());
    }
    assert!((idling.average() - before / 4.0).abs() < 1e-9, "{before} {}", idling.average());
    assert_eq!(waiting.average(), held);
}

#[test]
fn a_change_of_rate_that_comes_before_the_last_packet_has_left_takes_nothing_from_the_time_that_follows() {
    let mut queue = queue(serde_json::json!({
        "discipline": "red", "capacity": {"packets": 30}, "weight": 0.5, "mean-packet": "500 B",
        "min-threshold": 10, "max-threshold": 20,
    }));
    let mut drops = Vec::new();
    for _ in 0..2 {
        queue.arrive(Instant::ZERO, &packet(1, 500, Class::Tcp), &mut drops);
    }
    for millis in [0, 4] {
        queue.depart(Instant::ZERO + Span::from_millis(millis), &mut drops);
    }
    let before = queue.average();
    assert!(before > 0.0);
    queue.rate_changed(Instant::ZERO + Span::from_millis(6), rate());
    assert_eq!(queue.average(), before);
    // The last packet leaves at 8 ms; by 12 ms one packet could have met an empty queue.
    queue.arrive(Instant::ZERO + Span::from_millis(12), &packet(1, 500, Class::Tcp), &mut drops);
    assert!((queue.average() - before / 2.0).abs() < 1e-9, "{before} {}", queue.average());
}

#[test]
fn voice_guard_hears_of_another_rate_through_its_queue() {
    let victim = |then: Option<u64>| {
        let mut queue = queue(serde_json::json!({
            "discipline": "drop-tail", "capacity": {"packets": 3}, "victim": "voice-guard",
        }));
        let (mut now, mut drops) = (Instant::ZERO, Vec::new());
        // For 10 s, voice uses a quarter of a link of 1 Mb/s: the guard does not protect it.
        for _ in 0..2500 {
            now += Span::from_millis(4);
            queue.arrive(now, &packet(1, 125, Class::Voice), &mut drops);
            queue.depart(now, &mut drops);
        }
        if let Some(rate) = then {
            queue.rate_changed(now, Rate::from_bits_per_second(rate));
        }
        assert!(drops.is_empty());
        queue.arrive(now, &packet(2, 400, Class::Tcp), &mut drops);
        for _ in 0..3 {
            queue.arrive(now, &packet(1, 500, Class::Voice), &mut drops);
        }
        drops.first().map(|(packet, _)| packet.class)
    };
    assert_eq!(victim(None), Some(Class::Voice));
    assert_eq!(victim(Some(500_000)), Some(Class::Tcp), "half of the link is voice now, which is protected");
}

#[test]
fn parameters_out_of_range_are_refused_with_key_value_and_an_example() {
    let cases = [
        (r#"{"discipline":"red","capacity":{"packets":50},"min-threshold":30,"max-threshold":20}"#, "min-threshold"),
        (r#"{"discipline":"red","capacity":{"packets":50},"max-threshold":60}"#, "max-threshold"),
        (r#"{"discipline":"red","capacity":{"bytes":5000},"max-threshold":11}"#, "max-threshold"),
        (r#"{"discipline":"red","capacity":{"packets":50},"max-p":0}"#, "max-p"),
        (r#"{"discipline":"red","capacity":{"packets":50},"weight":1.5}"#, "weight"),
        (r#"{"discipline":"red","capacity":{"packets":50},"mean-packet":"0 B"}"#, "mean-packet"),
        (r#"{"discipline":"ared","capacity":{"packets":50},"interval":"0 s"}"#, "interval"),
        (r#"{"discipline":"avq","capacity":{"packets":50},"gamma":1.2}"#, "gamma"),
        (r#"{"discipline":"avq","capacity":{"packets":50},"alpha":-1}"#, "alpha"),
        (r#"{"discipline":"rem","capacity":{"packets":50},"phi":1}"#, "phi"),
        (r#"{"discipline":"rem","capacity":{"packets":50},"target":51}"#, "target"),
        (r#"{"discipline":"choke","capacity":{"packets":50},"candidates":0}"#, "candidates"),
        (r#"{"discipline":"punsi","capacity":{"packets":50},"recent":1000}"#, "recent"),
        (r#"{"discipline":"codel","capacity":{"packets":50},"interval":"4 ms"}"#, "interval"),
        (r#"{"discipline":"pie","capacity":{"packets":50},"update":"0 ms"}"#, "update"),
        (r#"{"discipline":"pie","capacity":{"packets":0}}"#, "capacity.packets"),
    ];
    for (text, key) in cases {
        let config: QueueConfig = serde_json::from_str(text).expect(text);
        let error = config.check().expect_err(text);
        assert_eq!(error.key, key, "{text}");
        assert!(error.example.contains(key.split('.').next().unwrap_or_default()), "{text}: {}", error.example);
    }
}

#[test]
fn no_configuration_that_is_accepted_or_not_makes_a_queue_panic() {
    let nan = RedConfig { weight: Some(f64::NAN), ..RedConfig::default() };
    let config = QueueConfig::new(Capacity::Packets(0), nan);
    assert!(config.check().is_err());
    let mut queue = Queue::new(&config, Rate::from_bits_per_second(0), stream());
    let mut drops = Vec::new();
    for flow in 0..10 {
        queue.arrive(Instant::NEVER, &packet(flow, 1500, Class::Tcp), &mut drops);
        let _ = queue.depart(Instant::NEVER, &mut drops);
    }
}

#[test]
fn the_schema_tells_disciplines_victims_and_keys() {
    let schema = serde_json::to_string(&schemars::schema_for!(QueueConfig)).expect("a schema");
    for word in ["drop-tail", "codel", "voice-guard", "min-threshold", "virtual-buffer", "discipline"] {
        assert!(schema.contains(&format!("\"{word}\"")), "{word} is missing in {schema}");
    }
}

/// Storyboard: a third more load than the link carries, with packets of 92 and 1500 bytes in turn. An arrival of 1500 bytes
/// overflows the virtual queue far more often than one of 92. The packet at the front is small in half of the cases.
#[test]
fn avq_keeps_the_queue_short_whichever_packet_goes() {
    for victim in ["tail", "front", "random", "drop-sel"] {
        let config = serde_json::json!({
            "discipline": "avq", "preset": "ns2", "capacity": {"bytes": 40_000}, "victim": victim,
        });
        let (mut queue, mut stream, mut drops) = (queue(config), stream(), Vec::new());
        let (mut now, mut free, mut waiting, mut looks) = (Instant::ZERO, Instant::ZERO, 0.0, 0.0);
        for i in 0..60_000u32 {
            now += Span::from_seconds(stream.exponential(796.0 * 8.0 / 1.33e6));
            while free <= now && queue.packets() > 0 {
                if let Some(packet) = queue.depart(free, &mut drops) {
                    free += rate().time_for(packet.size());
                }
            }
            free = free.max(now);
            let (size, class) = if i % 2 == 0 { (92, Class::Voice) } else { (1500, Class::Tcp) };
            queue.arrive(now, &packet(i % 7, size, class), &mut drops);
            drops.clear();
            if i >= 20_000 {
                (waiting, looks) = (waiting + queue.bytes() as f64, looks + 1.0);
            }
        }
        assert!(waiting / looks < 12_000.0, "{victim}: {} bytes wait on the mean", waiting / looks);
    }
}

#[test]
fn a_discipline_that_chooses_for_itself_refuses_a_victim_and_says_why() {
    for discipline in ["choke", "punsi"] {
        for victim in ["tail", "drop-sel"] {
            let text = serde_json::json!({"discipline": discipline, "capacity": {"packets": 50}, "victim": victim});
            let config: QueueConfig = serde_json::from_value(text).expect("a queue");
            let error = config.check().expect_err("not its to say");
            assert_eq!((error.key.as_str(), error.value), ("victim", format!("\"{victim}\"")));
            assert!(error.allowed.starts_with("left out: ") && error.allowed.contains("the packet that it matches"));
        }
        let text = serde_json::json!({"discipline": discipline, "capacity": {"packets": 50}});
        let config: QueueConfig = serde_json::from_value(text).expect("a queue");
        assert_eq!((config.check(), config.victim()), (Ok(()), None));
        assert!(!serde_json::to_string(&config).expect("text").contains("victim"));
    }
    let schema = schemars::schema_for!(QueueConfig).to_value();
    for discipline in schema["oneOf"].as_array().expect("disciplines") {
        let name = discipline["properties"]["discipline"]["const"].as_str().expect("a name");
        assert!(discipline["required"].as_array().expect("keys").contains(&"capacity".into()), "{name}");
        assert_eq!(discipline["additionalProperties"], false, "{name}");
        let chooses = match name {
            "choke" | "fred" | "punsi" | "afd" | "csfq" => true,
            "drop-tail" | "red" | "ared" | "avq" | "rem" | "green" | "codel" | "pie" => false,
            _ => continue,
        };
        assert_eq!(discipline["properties"]["victim"].is_null(), chooses, "{name}");
    }
}

#[test]
fn an_unknown_key_is_refused_with_the_keys_of_the_queue_and_of_the_discipline() {
    let read = |text| serde_json::from_str::<QueueConfig>(text).expect_err("no such key").to_string();
    let said = read(r#"{"discipline":"codel","capacity":{"packets":5},"taget":"5 ms"}"#);
    assert_eq!(said, "unknown field `taget`, expected one of `capacity`, `victim`, `target`, `interval`, `mtu`, `ecn`");
    assert_eq!(read(r#"{"discipline":"codel"}"#), "missing field `capacity`");
    assert_eq!(read(r#"{"capacity":{"packets":5}}"#), "missing field `discipline`");
}

/// Sends packets of 600 bytes at once to a buffer of 1000 bytes. Returns the number of drops and the waiting bytes.
fn dropped_at_1000_bytes(preset: &str, victim: &str, packets: u32) -> (usize, u64) {
    let mut queue = queue(serde_json::json!({
        "discipline": "red", "preset": preset, "mode": "bytes", "capacity": {"bytes": 1000}, "victim": victim,
        "min-threshold": 1, "max-threshold": 2, "weight": 1e-9,
    }));
    let mut drops = Vec::new();
    for flow in 0..packets {
        queue.arrive(Instant::ZERO, &packet(flow, 600, Class::Tcp), &mut drops);
    }
    assert!(drops.iter().all(|(_, reason)| *reason == DropReason::Overflow));
    (drops.len(), queue.bytes())
}

#[test]
fn as_in_ns2_a_buffer_of_bytes_is_full_when_the_backlog_has_reached_its_capacity() {
    for victim in ["tail", "front", "random", "drop-sel"] {
        assert_eq!(dropped_at_1000_bytes("ns2", victim, 2), (0, 1200), "{victim}");
        assert_eq!(dropped_at_1000_bytes("ns2", victim, 5), (3, 1200), "{victim}");
        assert_eq!(dropped_at_1000_bytes("floyd", victim, 2), (1, 600), "{victim}: what does not fit, does not wait");
    }
}

#[test]
fn what_a_queue_tells_of_itself_is_what_waits() {
    let mut queue = queue(serde_json::json!({"discipline": "drop-tail", "capacity": {"packets": 9}}));
    let mut drops = Vec::new();
    let at = |millis| Instant::ZERO + Span::from_millis(millis);
    queue.arrive(at(1), &packet(1, 100, Class::Voice), &mut drops);
    queue.arrive(at(2), &packet(2, 1500, Class::Tcp), &mut drops);
    queue.arrive(at(3), &packet(3, 200, Class::Voice), &mut drops);
    assert_eq!((queue.packets(), queue.bytes(), queue.average()), (3, 1800, 3.0));
    assert_eq!((queue.class_packets(Class::Voice), queue.class_bytes(Class::Voice)), (2, 300));
    assert_eq!((queue.class_packets(Class::OtherUdp), queue.class_bytes(Class::Tcp)), (0, 1500));
    assert_eq!(queue.depart(at(4), &mut drops).map(|packet| packet.flow.0), Some(1));
    assert_eq!((queue.waited_since(), queue.deadline()), (at(1), Instant::NEVER));
    let _ = queue.depart(at(5), &mut drops);
    assert_eq!(queue.waited_since(), at(2));
}

#[test]
fn room_is_made_in_advance_for_a_small_buffer_and_not_for_a_large_one() {
    let room = [Capacity::Packets(9), Capacity::Packets(5000), Capacity::Bytes(4000), Capacity::Bytes(1 << 40)];
    assert_eq!(room.map(Capacity::room), [10, 1024, 100, 1024]);
    assert_eq!(Capacity::Bytes(4000).packet_count(fairwave_units::units::Bytes::new(500)), 8.0);
    assert_eq!(Capacity::Packets(8).packet_count(fairwave_units::units::Bytes::new(500)), 8.0);
}

#[test]
fn thresholds_lie_in_order_within_the_buffer() {
    let check = |min, max| {
        let mean = fairwave_units::units::Bytes::new(500);
        config::check_thresholds(min, max, Capacity::Packets(20), mean).map_err(|error| error.key)
    };
    assert_eq!([check(None, None), check(Some(19.0), Some(20.0)), check(Some(20.0), None)], [Ok(()), Ok(()), Ok(())]);
    assert_eq!(check(Some(0.0), Some(5.0)), Err("min-threshold".to_owned()));
    assert_eq!(check(Some(5.0), Some(20.1)), Err("max-threshold".to_owned()));
    assert_eq!(check(Some(5.0), Some(5.0)), Err("min-threshold".to_owned()));
}
