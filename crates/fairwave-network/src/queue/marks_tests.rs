//! Marks instead of drops, for arrivals and for heads that signal congestion.

use super::testing::{packet, rate, stream};
use super::*;

fn queue(text: &str) -> Queue {
    let config: QueueConfig = serde_json::from_str(text).expect("a queue");
    config.check_before(rate()).expect("a queue that can work");
    Queue::new(&config, rate(), stream())
}

fn with(ecn: Ecn) -> Packet {
    Packet { ecn, ..packet(1, 1000, Class::Tcp) }
}

fn instant(millis: u64) -> Instant {
    Instant::ZERO + Span::from_millis(millis)
}

/// Sends 300 packets of a codepoint, one per millisecond; the link takes one of every `every`. Returns the number of marked
/// departures, and the time and reason of each drop.
fn outcome(text: &str, every: u64, ecn: Ecn) -> (u32, Vec<(u64, DropReason)>) {
    let (mut queue, mut drops, mut gone, mut marked) = (queue(text), Vec::new(), Vec::new(), 0);
    for millis in 0..300 {
        queue.arrive(instant(millis), &with(ecn), &mut drops);
        if millis % every == 0 && queue.depart(instant(millis), &mut drops).is_some() {
            marked += u32::from(queue.has_marked());
        }
        gone.extend(drops.drain(..).map(|(_, reason)| (millis, reason)));
    }
    for _ in 0..queue.packets() {
        if queue.depart(instant(300), &mut drops).is_some() {
            marked += u32::from(queue.has_marked());
        }
    }
    (marked, gone)
}

/// RED whose average equals the number of waiting packets, and that signals each arrival from 2 to 6 packets on.
const ALWAYS: &str = r#""discipline":"red","weight":1.0,"min-threshold":2,"max-threshold":6,"max-p":1.0,"ecn":true"#;

#[test]
fn an_arrival_that_can_be_marked_waits_with_a_mark_and_one_that_cannot_is_dropped() {
    for (ecn, left) in [(Ecn::Ect0, Ecn::Ce), (Ecn::Ect1, Ecn::Ce), (Ecn::Ce, Ecn::Ce)] {
        let mut queue = queue(&format!(r#"{{{ALWAYS},"capacity":{{"packets":12}}}}"#));
        let mut drops = Vec::new();
        // The fourth finds three waiting and is always signalled: p = 0.25, spaced by three.
        for _ in 0..4 {
            queue.arrive(instant(0), &with(ecn), &mut drops);
        }
        assert!(drops.is_empty());
        let departed: Vec<_> =
            std::iter::from_fn(|| Some((queue.depart(instant(0), &mut drops)?.ecn, queue.has_marked()))).collect();
        assert_eq!(departed[..2], [(ecn, false); 2]);
        assert!(departed[2..].contains(&(left, ecn != Ecn::Ce)), "{departed:?}");
    }
    let (marked, gone) = outcome(&format!(r#"{{{ALWAYS},"capacity":{{"packets":12}}}}"#), 8, Ecn::NotEct);
    assert_eq!(marked, 0);
    assert!(gone.iter().all(|(_, reason)| *reason == DropReason::Early) && gone.len() > 200, "{gone:?}");
}

#[test]
fn what_cannot_be_marked_meets_the_drops_that_it_would_meet_without_marking() {
    for discipline in ["red", "ared", "avq", "rem", "codel", "pie"] {
        let nervous = match discipline {
            "red" => r#","weight":0.3,"min-threshold":2,"max-threshold":11,"max-p":0.5"#,
            "ared" => r#","weight":0.3,"min-threshold":2,"max-threshold":11"#,
            "avq" => r#","virtual-buffer":"6 kB""#,
            "rem" => r#","gamma":0.1,"phi":1.1,"target":2"#,
            "codel" => r#","target":"2 ms","interval":"10 ms","mtu":"40 B""#,
            _ => r#","target":"2 ms","max-burst":"0 ms","alpha":5,"beta":50"#,
        };
        let text = |ecn: &str| format!(r#"{{"discipline":"{discipline}","capacity":{{"packets":12}}{nervous}{ecn}}}"#);
        let ecn = if discipline == "pie" { r#","ecn":true,"mark-ecnth":1.0"# } else { r#","ecn":true"# };
        let without = outcome(&text(""), 2, Ecn::NotEct);
        assert_eq!(outcome(&text(ecn), 2, Ecn::NotEct), without, "{discipline}");
        assert_eq!(outcome(&text(""), 2, Ecn::Ect0), without, "{discipline} marks only where it is told to");
        assert!(without.1.iter().any(|(_, reason)| *reason == DropReason::Early), "{discipline}: {without:?}");
        let (marked, gone) = outcome(&text(ecn), 2, Ecn::Ect0);
        assert!(marked > 0, "{discipline}: {gone:?}");
    }
}

#[test]
fn a_mark_makes_no_room() {
    let text = r#"{"discipline":"rem","capacity":{"packets":6},"gamma":1.0,"phi":10.0,"target":2,"ecn":true}"#;
    let (marked, gone) = outcome(text, 8, Ecn::Ect0);
    assert!(marked > 30, "{marked}");
    assert!(gone.iter().all(|(_, reason)| *reason == DropReason::Overflow) && gone.len() > 200, "{gone:?}");
}

#[test]
fn red_marks_below_max_threshold_and_drops_from_there_on() {
    // RFC 3168 §7, also in the gentle region.
    for (gentle, length, expected) in
        [(true, 5, Verdict::Mark), (true, 6, Verdict::Drop), (false, 5, Verdict::Mark), (false, 6, Verdict::Drop)]
    {
        let text = format!(r#"{{{ALWAYS},"gentle":{gentle},"wait":false}}"#);
        let DisciplineConfig::Red(law) = serde_json::from_str(&text).expect("red") else { panic!("not red") };
        let mut red = DisciplineLaw::discipline(&law, Capacity::Packets(12), rate());
        let mut buffer = Buffer::default();
        for _ in 0..length {
            buffer.push(instant(0), with(Ecn::Ect0));
        }
        let arrival =
            Arrival { now: instant(0), packet: &with(Ecn::Ect0), buffer: &buffer, idle: Span::ZERO, full: false };
        let mut stream = stream();
        let signals: Vec<_> =
            (0..40).map(|_| red.arrive(&arrival, &mut stream)).filter(|v| *v != Verdict::Admit).collect();
        assert!(!signals.is_empty() && signals.iter().all(|verdict| *verdict == expected), "{length}: {signals:?}");
    }
}

#[test]
fn codel_marks_when_it_would_drop_and_sends_what_it_marks() {
    let config = |ecn| format!(r#"{{"discipline":"codel","capacity":{{"packets":1000}},"ecn":{ecn}}}"#);
    let signals = |ecn: bool| {
        let (mut queue, mut drops, mut times) = (queue(&config(ecn)), Vec::new(), Vec::new());
        // Always 30 packets, each after a delay of 30 ms.
        for millis in 0..2000 {
            queue.arrive(instant(millis), &with(Ecn::Ect0), &mut drops);
            if millis < 30 {
                continue;
            }
            assert!(queue.depart(instant(millis), &mut drops).is_some());
            if queue.has_marked() || !drops.is_empty() {
                times.push(millis);
            }
            for _ in drops.drain(..) {
                assert!(!ecn, "it marks");
                // A replacement, so that the delay stays constant.
                queue.arrive(instant(millis), &with(Ecn::Ect0), &mut Vec::new());
            }
        }
        times
    };
    let (marks, drops) = (signals(true), signals(false));
    assert!(marks.len() > 20, "{marks:?}");
    // Until the first packet is missing, the times equal those of the drops.
    assert_eq!(marks[..5], drops[..5]);
    // The control law: 100/√n ms apart, on the next departure.
    let mut due = f64::from(marks[0] as u32);
    for (n, &time) in marks.iter().enumerate() {
        assert_eq!(time, libm::ceil(due - 1e-9) as u64, "mark {n} of {marks:?}");
        due += 100.0 / libm::sqrt((n + 1) as f64);
    }
}

#[test]
fn pie_marks_up_to_its_threshold_and_drops_beyond() {
    let text = |extra: &str| {
        format!(
            r#"{{"discipline":"pie","capacity":{{"packets":100}},"ecn":true,"max-burst":"0 ms","mean-packet":"40 B"{extra}}}"#
        )
    };
    // An arrival rate of eight times the link's rate soon drives the probability above 0.1, and marking stops.
    let (few, some) = (outcome(&text(""), 8, Ecn::Ect0), outcome(&text(r#","mark-ecnth":1.0"#), 8, Ecn::Ect0));
    assert!(few.1.iter().any(|(_, reason)| *reason == DropReason::Early), "{few:?}");
    assert!(some.1.iter().all(|(_, reason)| *reason == DropReason::Overflow), "{some:?}");
    assert!(some.0 > few.0, "{} {}", some.0, few.0);
    for (keys, named) in [(r#""ecn":true,"mark-ecnth":0.0"#, "above 0"), (r#""mark-ecnth":0.1"#, "left out without")] {
        let text = format!(r#"{{"discipline":"pie","capacity":{{"packets":100}},{keys}}}"#);
        let config: QueueConfig = serde_json::from_str(&text).expect("a queue");
        assert!(config.check().expect_err("refused").to_string().contains(named), "{keys}");
    }
}

#[test]
fn what_avq_marks_stays_out_of_the_virtual_queue_and_counts_as_arrived() {
    let overflowing = |preset: &str, ecn: Ecn| {
        let text = format!(r#"{{"discipline":"avq","virtual-buffer":"1500 B","ecn":true,"preset":"{preset}"}}"#);
        let DisciplineConfig::Avq(law) = serde_json::from_str(&text).expect("avq") else { panic!("not avq") };
        let (mut avq, buffer, mut stream) =
            (DisciplineLaw::discipline(&law, Capacity::Packets(12), rate()), Buffer::default(), stream());
        let mut arrive = |wire| {
            let packet = Packet { wire, ..with(ecn) };
            let arrival = Arrival { now: instant(0), packet: &packet, buffer: &buffer, idle: Span::ZERO, full: false };
            (avq.arrive(&arrival, &mut stream), avq.average().expect("the virtual capacity"))
        };
        let (first, before) = arrive(1000);
        let (second, after) = arrive(1000);
        // 500 bytes remain: the marked packet has used none of them.
        let (third, _) = arrive(500);
        (first, second, third, (before - after).round())
    };
    let (admit, mark) = (Verdict::Admit, Verdict::Mark);
    // α b = 0.15 · 1000 bytes per second less.
    assert_eq!(overflowing("authors", Ecn::Ect0), (admit, mark, admit, 1200.0));
    assert_eq!(overflowing("ns2", Ecn::Ect0), (admit, mark, admit, 1200.0), "what is marked is admitted");
    assert_eq!(overflowing("ns2", Ecn::NotEct), (admit, mark, admit, 0.0), "what is dropped is not");
}
