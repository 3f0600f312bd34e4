use super::super::testing::{link_queue, marked, rate, served};
use super::*;
use fairwave_units::units::Span;
use serde_json::json;

fn instant(millis: u64) -> Instant {
    Instant::ZERO + Span::from_millis(millis)
}

fn plain() -> serde_json::Value {
    json!({"discipline": "drop-tail", "capacity": {"packets": 50}})
}

#[test]
fn only_packets_whose_code_point_changes_count_as_remarked() {
    let police = r#"{"rate": "8 kb/s", "burst": "200 B", "exceed": {"remark": "le"}}"#;
    let mut queue = link_queue(plain(), Some(police), None);
    // The first packet conforms. Every second one of the others already bears the code point.
    let arrivals: Vec<_> =
        (0..7).map(|number| (instant(0), marked([46, 1][number as usize % 2], 200, number))).collect();
    let (served, _) = served(&mut queue, rate(), &arrivals);
    let remarked = served.iter().skip(1).filter(|(_, packet)| packet.dscp.get() == 1);
    assert_eq!((remarked.count(), queue.stages()[0].counters.remarked), (6, 3));
}

#[test]
fn waiting_lasts_from_the_arrival_to_the_begin_of_transmission() {
    // 1000 bytes take 8 ms. The shaper has tokens for one packet, and for the next one after 100 ms.
    let mut queue = link_queue(plain(), None, Some(r#"{"rate": "80 kb/s", "burst": "1000 B"}"#));
    let arrivals: Vec<_> = [0, 10, 20].map(|millis| (instant(millis), marked(0, 1000, millis))).into();
    let (served, _) = served(&mut queue, rate(), &arrivals);
    let begun: Vec<Instant> = served.iter().map(|(begun, _)| *begun).collect();
    assert_eq!(begun, [instant(0), instant(100), instant(200)]);
    let views = queue.stages();
    let millis = [views[0].counters.waited, views[0].counters.longest_wait].map(|nanos| nanos / 1_000_000);
    assert_eq!(millis, [90 + 180, 180]);
}

#[test]
fn a_packet_that_waits_for_tokens_alone_still_waits_here_with_its_bytes() {
    let mut queue = link_queue(plain(), None, Some(r#"{"rate": "80 kb/s", "burst": "1000 B"}"#));
    let mut drops = Vec::new();
    for number in 0..2 {
        queue.arrive(instant(0), &marked(0, 1000, number), &mut drops);
    }
    assert!(queue.depart(instant(0), &mut drops).is_some() && queue.depart(instant(8), &mut drops).is_none());
    assert_eq!((queue.packets(), queue.bytes()), (1, 1000));
    assert_eq!((queue.class_packets(Class::Tcp), queue.class_bytes(Class::Tcp)), (1, 1000));
    assert_eq!(queue.held_until(), instant(100));
}

#[test]
fn a_share_within_a_shaper_is_a_share_of_its_rate() {
    // Half of the shaper's 500 kb/s, while 500 kb/s arrive: 1000 bytes every 16 ms.
    let classes = json!([{"name": "a", "match": {"dscp": "ef"}, "police": {"rate": "50 %", "burst": "1000 B"}}]);
    let queue = json!({"discipline": "priority", "capacity": {"packets": 50}, "classes": classes});
    let mut queue = link_queue(queue, None, Some(r#"{"rate": "500 kb/s"}"#));
    let arrivals: Vec<_> = (0..100).map(|number| (instant(16 * number), marked(46, 1000, number))).collect();
    let (served, drops) = served(&mut queue, rate(), &arrivals);
    assert_eq!((served.len(), drops.len()), (50, 50));
}

#[test]
fn a_scheduler_begins_anew_when_all_classes_are_empty() {
    let classes = json!([{"name": "a", "match": {"dscp": "ef"}}, {"name": "b"}]);
    let mut queue =
        link_queue(json!({"discipline": "wfq", "capacity": {"packets": 50}, "classes": classes}), None, None);
    let mut drops = Vec::new();
    for number in 0..5 {
        queue.arrive(instant(8 * number), &marked(46, 1000, number), &mut drops);
        assert!(queue.depart(instant(8 * number), &mut drops).is_some());
    }
    queue.arrive(instant(100), &marked(46, 1000, 5), &mut drops);
    queue.arrive(instant(100), &marked(0, 1000, 6), &mut drops);
    let order: Vec<u8> =
        (0..2).filter_map(|_| queue.depart(instant(100), &mut drops)).map(|packet| packet.dscp.get()).collect();
    assert_eq!(order, [46, 0], "no class owes anything for the time before");
}

#[test]
fn the_largest_packet_is_what_the_smallest_limit_on_its_way_lets_through() {
    let classes = json!([{"name": "a", "match": {"dscp": "ef"}, "police": {"rate": "50 %", "burst": "700 B"}}]);
    let queue: QueueConfig =
        serde_json::from_value(json!({"discipline": "priority", "capacity": {"packets": 50}, "classes": classes}))
            .expect("a queue");
    let police: PoliceConfig = serde_json::from_str(r#"{"rate": "50 %", "burst": "5000 B"}"#).expect("a policer");
    let shape: ShapeConfig = serde_json::from_str(r#"{"rate": "50 %", "burst": "2000 B"}"#).expect("a shaper");
    let largest = |dscp| largest_packet(&queue, Some(&police), Some(&shape), rate(), dscp, Class::Tcp);
    assert_eq!(largest(Dscp::default()), Some((2000, "shape.burst".to_owned())));
    assert_eq!(largest(Dscp::EF), Some((700, "queue.classes.0.police.burst".to_owned())));
}
