use super::super::testing::{Served, link_queue, marked, rate, served};
use super::*;
use crate::dscp::Dscp;
use crate::packet::Packet;
use crate::queue::{DropReason, LinkQueue, QueueConfig};
use fairwave_units::units::{Instant, Span};
use proptest::prelude::*;
use serde_json::json;

fn llq(police: serde_json::Value) -> serde_json::Value {
    let classes = json!([
        {"name": "voice", "match": {"dscp": "ef"}, "priority": true, "police": police},
        {"name": "video", "match": {"dscp": "af41"}, "weight": 2},
        {"name": "data"},
    ]);
    json!({"discipline": "llq", "capacity": {"packets": 50}, "classes": classes})
}

/// 200-byte voice packets every `every` µs for 2 s, in competition with video and data: 50 packets each at the start, and
/// steady arrivals later.
fn contested(queue: &mut LinkQueue, every: u64) -> Served {
    let mut arrivals: Vec<(Instant, Packet)> = Vec::new();
    for number in 0..2_000_000 / every {
        arrivals.push((Instant::from_nanos(number * every * 1000), marked(46, 200, 3 * number)));
    }
    for number in 0..400 {
        for (dscp, offset) in [(34, 1), (0, 2)] {
            arrivals.push((Instant::from_nanos(number * 5_000_000), marked(dscp, 1500, 3 * number + offset)));
        }
    }
    arrivals.sort_by_key(|(at, packet)| (*at, packet.dscp));
    served(queue, rate(), &arrivals)
}

fn bytes(served: &[(Instant, Packet)], dscp: u8, until: f64) -> u64 {
    let until = Instant::from_seconds(until);
    let own = served.iter().filter(|(at, packet)| packet.dscp.get() == dscp && *at < until);
    own.map(|(_, packet)| u64::from(packet.wire)).sum()
}

#[test]
fn voice_within_its_rate_waits_for_one_packet_at_most_and_the_rest_share_by_weight() {
    // 200 bytes every 8 ms: 200 kb/s of a policer's 300.
    let (served, drops) = contested(&mut link_queue(llq(json!({"rate": "30 %"})), None, None), 8_000);
    assert!(drops.iter().all(|(packet, _)| packet.dscp != Dscp::EF), "voice loses nothing");
    for (begun, packet) in served.iter().filter(|(_, packet)| packet.dscp == Dscp::EF) {
        let crate::packet::Body::Datagram { created, .. } = packet.body else { panic!("a datagram") };
        let came = Instant::from_nanos(created.nanos() / 3 * 8_000_000);
        assert!(begun.span_since(came) <= Span::from_millis(12), "a packet of 1500 bytes takes 12 ms");
    }
    let [voice, video, data] = [46, 34, 0].map(|dscp| bytes(&served, dscp, 2.0));
    assert_eq!(voice, 250 * 200);
    assert!((video as f64 / data as f64 - 2.0).abs() < 0.1, "{video} {data}");
}

#[test]
fn voice_beyond_its_rate_is_dropped_and_starves_nobody() {
    // 200 bytes every 1.6 ms: the full link rate.
    let mut queue = link_queue(llq(json!({"rate": "30 %", "burst": "3000 B"})), None, None);
    let (served, drops) = contested(&mut queue, 1_600);
    let policed = drops.iter().filter(|(packet, reason)| packet.dscp == Dscp::EF && *reason == DropReason::Policed);
    let dropped = policed.count();
    // 250 000 bytes arrive; 3000 bytes and 300 kb/s for 2 s may pass: 390 packets.
    assert!((860..=861).contains(&dropped), "{dropped} of 1250");
    assert!(bytes(&served, 46, 2.0) <= 3000 + 75_000);
    assert!(bytes(&served, 34, 2.0) + bytes(&served, 0, 2.0) > 165_000, "the rest have 70 %");
    let views = queue.stages();
    let names: Vec<&str> = views.iter().map(|view| view.name).collect();
    assert_eq!(names, ["voice", "video", "data"]);
    assert_eq!((views[0].counters.policed, views[0].counters.arrivals), (dropped as u64, 1250));
    assert_eq!(views[0].counters.served, 1250 - dropped as u64);
}

#[test]
fn a_policer_for_congestion_lets_voice_have_what_nobody_else_wants() {
    for (when, none) in [("always", false), ("congested", true)] {
        let police = json!({"rate": "30 %", "burst": "3000 B", "when": when});
        let mut queue = link_queue(llq(police), None, None);
        // Voice alone at 500 kb/s, 200 bytes every 3.2 ms: each packet leaves before the next one arrives.
        let voice = |number: u64| (Instant::from_nanos(number * 3_200_000), marked(46, 200, number));
        let arrivals: Vec<(Instant, Packet)> = (0..1000).map(voice).collect();
        let (_, drops) = served(&mut queue, rate(), &arrivals);
        assert_eq!(drops.is_empty(), none, "{when}");
    }
}

#[test]
fn what_a_policer_remarks_stays_in_its_class_and_is_another_packet_from_there_on() {
    let police = json!({"rate": "80 kb/s", "burst": "400 B", "exceed": {"remark": "le"}});
    let mut queue = link_queue(llq(police), None, None);
    let arrivals: Vec<(Instant, Packet)> = (0..4).map(|number| (Instant::ZERO, marked(46, 200, number))).collect();
    let (served, drops) = served(&mut queue, rate(), &arrivals);
    let marks: Vec<u8> = served.iter().map(|(_, packet)| packet.dscp.get()).collect();
    assert_eq!((marks, drops.len()), (vec![46, 46, 1, 1], 0));
    assert_eq!(queue.stages()[0].counters.remarked, 2);
}

#[test]
fn a_class_with_priority_goes_first_wherever_it_is_written() {
    let mut scheduler = LowLatency { urgent: 0b100, rest: FairQueue::new([1.0, 1.0, 1.0].into_iter()) };
    (0..3).for_each(|class| scheduler.arrived(class));
    assert_eq!(scheduler.choose(0b111), 2);
    assert_eq!(scheduler.choose(0b011), 0, "of the others by their tags");
}

#[test]
fn an_llq_without_priority_is_refused_and_one_without_policer_is_warned_of() {
    let read = |classes| serde_json::from_value::<LlqConfig>(json!({"classes": classes})).expect("llq");
    let error = read(json!([{"name": "a"}])).check().expect_err("no priority");
    assert!(error.to_string().contains("priority = true"), "{error}");
    let weighted = read(json!([{"name": "a", "priority": true, "weight": 2}])).check().expect_err("a weight");
    assert!(weighted.allowed.contains("goes before all weights"));
    let free = read(json!([{"name": "a", "match": {"dscp": "ef"}, "priority": true}]));
    assert!(free.check().is_ok() && free.caution().is_some_and(|words| words.contains("starve")));
    let policed = json!([{"name": "a", "match": {"dscp": "ef"}, "priority": true, "police": {"rate": "30 %"}}]);
    assert_eq!(read(policed).caution(), None);
}

/// Every kind of stage, with inner disciplines that drop early, hold packets back, or sort further.
fn stages() -> Vec<(serde_json::Value, Option<&'static str>, Option<&'static str>)> {
    let inner = [
        json!("drop-tail"),
        json!({"discipline": "codel", "target": "2 ms", "interval": "10 ms", "capacity": {"packets": 9}}),
        json!({"discipline": "cake", "bandwidth": "300 kb/s", "capacity": {"bytes": 9000}}),
        json!({"discipline": "pie", "target": "2 ms", "max-burst": "0 ms", "mean-packet": "40 B", "alpha": 50, "beta": 500}),
        json!({"discipline": "drop-tail", "victim": "front", "capacity": {"packets": 4}}),
        json!({"discipline": "drr", "classes": [{"name": "x", "match": {"class": "voice"}, "queue": "fq-codel"}, {"name": "y", "shape": {"rate": "100 kb/s"}}]}),
    ];
    let mut all = Vec::new();
    for discipline in ["priority", "llq", "wfq", "drr"] {
        for queue in &inner {
            let classes = json!([
                {"name": "a", "match": {"dscp": "ef"}, "priority": discipline == "llq", "police": {"rate": "30 %", "burst": "2000 B"}},
                {"name": "b", "match": {"dscp": ["af41", 8]}, "queue": queue, "shape": {"rate": "200 kb/s", "peak": "400 kb/s"}},
                {"name": "c", "match": {"class": "tcp"}, "queue": queue},
            ]);
            let config = json!({"discipline": discipline, "capacity": {"packets": 12}, "classes": classes});
            all.push((config.clone(), None, None));
            all.push((
                config,
                Some(r#"{"rate": "700 kb/s", "exceed": {"remark": "cs1"}}"#),
                Some(r#"{"rate": "600 kb/s"}"#),
            ));
        }
    }
    let plain = json!({"discipline": "drop-tail", "capacity": {"packets": 12}});
    all.push((plain.clone(), Some(r#"{"rate": "300 kb/s", "burst": "2 kB"}"#), None));
    all.push((plain, None, Some(r#"{"rate": "300 kb/s", "burst": "2 kB"}"#)));
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn fuzz_stages_lose_and_make_nothing(
        steps in prop::collection::vec((0..6_000_000u64, 40..1500u16, 0..4usize, 0..3usize), 1..150),
    ) {
        for (config, police, shape) in stages() {
            let mut queue = link_queue(config.clone(), police, shape);
            let (mut now, mut arrivals) = (0, Vec::new());
            for (number, (gap, wire, dscp, class)) in steps.iter().enumerate() {
                now += gap;
                let packet = marked([46, 34, 8, 0][*dscp], *wire, number as u64);
                arrivals.push((Instant::from_nanos(now), Packet { class: crate::packet::Class::ALL[*class], ..packet }));
            }
            let (served, drops) = served(&mut queue, rate(), &arrivals);
            prop_assert_eq!(served.len() + drops.len(), arrivals.len(), "{}", config);
            prop_assert_eq!((queue.packets(), queue.bytes()), (0, 0), "{}", config);
            let mut gone: Vec<_> = served.iter().map(|(_, packet)| packet).chain(drops.iter().map(|(packet, _)| packet)).collect();
            gone.sort_by_key(|packet| match packet.body {
                crate::packet::Body::Datagram { created, .. } => created,
                _ => Instant::NEVER,
            });
            for (came, went) in arrivals.iter().zip(gone) {
                prop_assert_eq!((came.1.body, came.1.wire, came.1.class), (went.body, went.wire, went.class));
            }
            // Classes within a class count the same packets as that class.
            let outer = queue.stages().into_iter().filter(|view| view.depth == 1);
            let counted: u64 = outer.map(|view| view.counters.served).sum();
            prop_assert!(counted == 0 || counted == served.len() as u64, "{}", config);
        }
    }

    #[test]
    fn what_a_shaper_lets_through_keeps_to_its_arrival_curve_and_waits_for_nothing_else(
        steps in prop::collection::vec((0..30_000_000u64, 40..1500u16), 1..120), rate_kbps in 50u64..900, burst in 1500u64..9000,
    ) {
        let shape = format!(r#"{{"rate": "{rate_kbps} kb/s", "burst": "{burst} B"}}"#);
        let config = json!({"discipline": "drop-tail", "capacity": {"packets": 1000}});
        let mut queue = link_queue(config, None, Some(&shape));
        let (mut now, mut arrivals) = (0, Vec::new());
        for (number, (gap, wire)) in steps.iter().enumerate() {
            now += gap;
            arrivals.push((Instant::from_nanos(now), marked(0, *wire, number as u64)));
        }
        let (served, drops) = served(&mut queue, rate(), &arrivals);
        prop_assert!(drops.is_empty());
        let bits_per_nano = rate_kbps as f64 * 1e3 / 1e9;
        for first in 0..served.len() {
            let mut bits = 0.0;
            for (at, packet) in &served[first..] {
                bits += f64::from(packet.wire) * 8.0;
                let elapsed = at.span_since(served[first].0).nanos() as f64;
                prop_assert!(bits <= burst as f64 * 8.0 + bits_per_nano * elapsed + 1e-3, "b + r t");
            }
        }
        // Greedy model: each packet leaves as soon as link and tokens allow, with an independent token bucket.
        let (mut free, mut tokens, mut filled) = (0u64, burst as f64 * 8.0, 0u64);
        for ((begun, packet), (came, _)) in served.iter().zip(&arrivals) {
            let ready = came.nanos().max(free);
            tokens = (tokens + bits_per_nano * (ready.saturating_sub(filled)) as f64).min(burst as f64 * 8.0);
            let bits = f64::from(packet.wire) * 8.0;
            let wait = ((bits - tokens) / bits_per_nano).max(0.0);
            let expected = ready as f64 + wait;
            prop_assert!((begun.nanos() as f64 - expected).abs() <= 2.0, "{} and {expected}", begun.nanos());
            tokens += bits_per_nano * wait - bits;
            filled = begun.nanos();
            free = begun.nanos() + rate().time_for(packet.size()).nanos();
        }
    }
}

#[test]
fn a_queue_alone_stays_a_queue_alone() {
    let config: QueueConfig =
        serde_json::from_value(json!({"discipline": "red", "capacity": {"packets": 50}})).expect("a queue");
    let queue = LinkQueue::new(&config, None, None, rate(), |name| fairwave_units::random::Seed(1).stream(name));
    assert!(matches!(queue, LinkQueue::Plain(_)) && queue.stages().is_empty());
}
