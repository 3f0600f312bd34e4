use super::super::QueueConfig;
use super::super::testing::{link_queue, marked, rate, served};
use crate::packet::Packet;
use fairwave_units::random::Seed;
use fairwave_units::units::{Instant, Span};
use serde_json::json;

fn priority() -> serde_json::Value {
    let classes = json!([
        {"name": "voice", "match": {"dscp": ["ef", 44]}},
        {"name": "video", "match": {"dscp": "af41"}},
        {"name": "rest"},
    ]);
    json!({"discipline": "priority", "capacity": {"packets": 100_000}, "classes": classes})
}

#[test]
fn classes_go_in_the_order_in_which_they_are_written_and_nothing_is_interrupted() {
    let at = |millis: u64| Instant::from_nanos(millis * 1_000_000);
    // A packet of 1000 bytes takes 8 ms.
    let arrivals: Vec<(Instant, Packet)> = [(0, 0), (1, 0), (2, 34), (3, 46), (9, 44), (10, 34)]
        .iter()
        .enumerate()
        .map(|(number, (millis, dscp))| (at(*millis), marked(*dscp, 1000, number as u64)))
        .collect();
    let (served, drops) = served(&mut link_queue(priority(), None, None), rate(), &arrivals);
    let order: Vec<u8> = served.iter().map(|(_, packet)| packet.dscp.get()).collect();
    assert_eq!(order, [0, 46, 44, 34, 34, 0]);
    assert!(drops.is_empty());
}

/// Mean waiting times, in seconds, of Poisson packets of three classes, from the load and sizes of each. All sizes of a
/// class are equally likely.
fn waits(loads: [f64; 3], sizes: [&[u16]; 3]) -> [f64; 3] {
    let mut arrivals: Vec<(Instant, Packet)> = Vec::new();
    for (class, dscp) in [46, 34, 0].into_iter().enumerate() {
        let mut random = Seed(7).stream(&format!("class.{class}"));
        let mean = sizes[class].iter().map(|size| f64::from(*size)).sum::<f64>() / sizes[class].len() as f64;
        let gap = mean * 8.0 / 1e6 / loads[class];
        let mut now = 0.0;
        while now < 4000.0 {
            now += random.exponential(gap);
            let size = sizes[class][random.uniform_below(sizes[class].len() as u64) as usize];
            arrivals.push((Instant::from_seconds(now), marked(dscp, size, arrivals.len() as u64)));
        }
    }
    arrivals.sort_by_key(|(at, _)| *at);
    let came: std::collections::BTreeMap<u64, Instant> =
        arrivals.iter().map(|(at, packet)| (number(packet), *at)).collect();
    let (served, _) = served(&mut link_queue(priority(), None, None), rate(), &arrivals);
    let mut sums = [(Span::ZERO, 0u32); 3];
    for (begun, packet) in served {
        let class = [46, 34, 0].iter().position(|dscp| *dscp == packet.dscp.get()).expect("known");
        let (sum, count) = &mut sums[class];
        (*sum, *count) = (*sum + begun.span_since(came[&number(&packet)]), *count + 1);
    }
    sums.map(|(sum, count)| sum.seconds() / f64::from(count))
}

fn number(packet: &Packet) -> u64 {
    match packet.body {
        crate::packet::Body::Datagram { created, .. } => created.nanos(),
        _ => 0,
    }
}

#[test]
fn mean_waits_are_cobhams() {
    // Cobham 1954: W_p = W_0 / ((1 − σ_{p−1})(1 − σ_p)), W_0 = Σ λ E[S²]/2, σ_p the load of the classes down to p.
    let (loads, sizes): ([f64; 3], [&[u16]; 3]) = ([0.2, 0.3, 0.3], [&[200], &[500, 1500], &[1500]]);
    let residual: f64 = (loads.iter().zip(sizes))
        .map(|(load, sizes)| {
            let times: Vec<f64> = sizes.iter().map(|size| f64::from(*size) * 8.0 / 1e6).collect();
            let mean = times.iter().sum::<f64>() / times.len() as f64;
            let square = times.iter().map(|time| time * time).sum::<f64>() / times.len() as f64;
            load / mean * square / 2.0
        })
        .sum();
    let found = waits(loads, sizes);
    let mut above = 0.0;
    for (class, load) in loads.into_iter().enumerate() {
        let expected = residual / ((1.0 - above) * (1.0 - above - load));
        above += load;
        assert!(
            (found[class] / expected - 1.0).abs() < 0.05,
            "class {class}: {} s, by the formula {expected} s",
            found[class]
        );
    }
}

fn refused(classes: serde_json::Value) -> String {
    let text = json!({"discipline": "priority", "capacity": {"packets": 10}, "classes": classes});
    let queue: QueueConfig = match serde_json::from_value(text) {
        Ok(queue) => queue,
        Err(error) => return error.to_string(),
    };
    queue.check().expect_err("not in range").to_string()
}

#[test]
fn classes_that_make_no_sense_are_refused_with_what_does() {
    let voice = json!({"name": "voice", "match": {"dscp": "ef"}});
    for (classes, words) in [
        (json!([]), "1 to 32"),
        (json!([voice, voice]), "twice"),
        (json!([{"name": "all"}, voice]), "takes everything"),
        (json!([{"name": "", "match": {"dscp": "ef"}}]), "classes.0.name"),
        (json!([{"name": "7"}]), "no number"),
        (json!([{"name": "a.b"}]), "without `.`"),
        (json!([{"name": "voice", "weight": 2}]), "left out in `priority`"),
        (json!([{"name": "voice", "priority": true}]), "llq"),
        (json!([{"name": "voice", "match": {"dscp": "gold"}}]), "is no DSCP"),
        (json!([{"name": "voice", "match": {"port": 5060}}]), "unknown field"),
        (json!([{"name": "voice", "police": {"rate": "80 kb/s", "burst": "1 B"}}]), "classes.0.police.burst"),
        (json!([{"name": "voice", "shape": {"rate": "0 b/s"}}]), "classes.0.shape.rate"),
        (json!([{"name": "voice", "queue": {"capacity": {"packets": 0}}}]), "classes.0.queue.capacity"),
        (json!([{"name": "voice", "queue": "fifo"}]), "unknown variant `fifo`"),
        (json!([{"name": "voice", "queue": 7}]), "name of a queue discipline"),
        (json!([{"name": "voice", "queue": {"discipline": "priority", "classes": []}}]), "1 to 32"),
        (json!([{"match": {"dscp": "ef"}}]), "missing field `name`"),
    ] {
        let said = refused(classes.clone());
        assert!(said.contains(words), "{classes}: {said}");
    }
    let too_many: Vec<_> = (0..33).map(|n| json!({"name": format!("c{n}"), "match": {"dscp": n}})).collect();
    assert!(refused(json!(too_many)).contains("1 to 32"));
    let victim = json!({"discipline": "priority", "capacity": {"packets": 10}, "victim": "front", "classes": [voice]});
    let queue: QueueConfig = serde_json::from_value(victim).expect("a queue");
    assert!(queue.check().expect_err("a victim").to_string().contains("each class's queue names its own"));
}

#[test]
fn a_class_map_is_written_as_it_was_read() {
    for text in [
        priority(),
        json!({"discipline": "llq", "capacity": {"bytes": 9000}, "classes": [
            {"name": "v", "match": {"dscp": "ef", "class": ["voice"]}, "priority": true,
             "police": {"rate": "30 %", "burst": "3 kB", "exceed": {"remark": "le"}}},
            {"name": "d", "weight": 2.5, "queue": {"discipline": "fq-codel", "capacity": {"packets": 7}}, "shape": {"rate": "50 %"}}]}),
    ] {
        let queue: QueueConfig = serde_json::from_value(text).expect("a queue");
        let written = serde_json::to_value(&queue).expect("written");
        assert_eq!(serde_json::from_value::<QueueConfig>(written).expect("read"), queue);
    }
}
