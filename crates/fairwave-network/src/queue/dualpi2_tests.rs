use proptest::prelude::*;

use super::super::testing::{packet, rate, stream};
use super::super::{Queue, QueueConfig};
use super::*;
use crate::packet::Class;

/// p' stays constant, and the L queue has no native marks.
const STILL: &str = r#""tupdate":"1000000 s","step-thresh":"1000000 s""#;

fn law(text: &str) -> Dualpi2Config {
    let law: Dualpi2Config = serde_json::from_str(&format!("{{{text}}}")).expect("dualpi2");
    law.check().expect("a sound discipline");
    law
}

fn dualpi2(text: &str) -> Dualpi2 {
    law(text).discipline(Capacity::Packets(10_000), rate())
}

fn instant(micros: u64) -> Instant {
    Instant::ZERO + Span::from_micros(micros)
}

fn with(ecn: Ecn, wire: u16) -> Packet {
    Packet { ecn, ..packet(1, wire, Class::Tcp) }
}

/// A buffer with these numbers of packets per codepoint, each of 1000 bytes, waiting since time 0.
fn holding(packets: &[(Ecn, u32)]) -> Buffer {
    let mut buffer = Buffer::with_bins(0, 2);
    let mut law = dualpi2("");
    for (ecn, number) in packets {
        for _ in 0..*number {
            let queue = law.bin(instant(0), &with(*ecn, 1000), &buffer);
            buffer.push_into(instant(0), &with(*ecn, 1000), queue);
        }
    }
    buffer
}

/// Empties a buffer at a time. Counts (sent unmarked, sent marked, dropped) of the packets with a codepoint.
fn outcome(law: &mut Dualpi2, mut buffer: Buffer, now: Instant, least: u32) -> impl Fn(Ecn) -> (u32, u32, u32) {
    let (mut drops, mut all) = (Vec::new(), Vec::new());
    while buffer.total().packets > least
        && let Some(packet) = law.depart(now, &mut buffer, &mut drops)
    {
        all.push((buffer.last_came(), packet.ecn == Ecn::Ce, false));
        // Dropped packets bear the codepoint with which they arrived: none is marked and then dropped.
        all.extend(drops.drain(..).map(|(packet, _)| (packet.ecn, false, true)));
    }
    move |ecn| {
        let count = |marked, dropped| all.iter().filter(|one| **one == (ecn, marked, dropped)).count() as u32;
        (count(false, false), count(true, false), count(false, true))
    }
}

#[test]
fn ect_1_and_ce_go_into_the_queue_of_low_latency_and_all_else_into_the_other() {
    let (mut law, buffer) = (dualpi2(""), Buffer::with_bins(0, 2));
    let queues = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce].map(|ecn| law.bin(instant(0), &with(ecn, 100), &buffer));
    assert_eq!(queues, [C, C, L, L]);
}

#[test]
fn the_classic_queue_meets_the_square_of_the_base_probability_and_the_other_k_times_it() {
    for (k, base) in [(2.0, 0.2), (2.0, 0.05), (3.0, 0.3), (1.0, 0.5)] {
        let mut law = dualpi2(&format!(r#"{STILL},"coupling-factor":{k:?}"#));
        law.base = base;
        let buffer = holding(&[(Ecn::NotEct, 10_000), (Ecn::Ect0, 10_000), (Ecn::Ect1, 10_000)]);
        let of = outcome(&mut law, buffer, instant(0), 10);
        let near = |number: u32, share: f64| (f64::from(number) - 10_000.0 * share).abs() < 40.0;
        // The signals are spaced evenly over the classic queue, which holds the two kinds one after the other.
        assert!(near(of(Ecn::NotEct).2, base * base) && of(Ecn::NotEct).1 == 0, "{:?}", of(Ecn::NotEct));
        assert!(near(of(Ecn::Ect0).1, base * base) && of(Ecn::Ect0).2 == 0, "{:?}", of(Ecn::Ect0));
        assert!(near(of(Ecn::Ect1).1, k * base) && of(Ecn::Ect1).2 == 0, "{:?}", of(Ecn::Ect1));
    }
}

#[test]
fn signals_are_spaced_evenly() {
    let mut law = dualpi2("");
    let gaps: Vec<_> = (0..1000).filter(|_| law.recur(L, 0.3)).collect();
    assert!(gaps.windows(2).all(|pair| (3..=4).contains(&(pair[1] - pair[0]))), "{gaps:?}");
    assert!(gaps.len().abs_diff(300) <= 1);
}

#[test]
fn the_base_probability_follows_the_delay_by_its_distance_and_its_change() {
    let mut law = dualpi2("");
    law.update(0.025);
    // 0.16 · (25 − 15 ms) + 3.2 · 25 ms.
    assert!((law.base - (0.16 * 0.010 + 3.2 * 0.025)).abs() < 1e-12, "{}", law.base);
    let before = law.base;
    law.update(0.020);
    assert!((law.base - before - (0.16 * 0.005 - 3.2 * 0.005)).abs() < 1e-12, "{}", law.base);
    law.update(0.0);
    law.update(0.0);
    assert_eq!(law.base, 0.0, "never below 0");
    law.update(10.0);
    assert_eq!(law.base, 1.0, "never above 1");
}

#[test]
fn the_longer_of_both_delays_drives_the_base_probability() {
    for (packets, waited) in [([(Ecn::Ect1, 3), (Ecn::Ect0, 0)], 20_000), ([(Ecn::Ect1, 0), (Ecn::Ect0, 3)], 20_000)] {
        let (mut law, buffer) = (dualpi2(r#""tupdate":"20 ms""#), holding(&packets));
        law.catch_up(instant(waited), &buffer);
        assert_eq!(law.delay, 0.0, "packets come before timers");
        law.catch_up(instant(waited + 1), &buffer);
        assert!((law.delay - 0.020).abs() < 1e-12, "{}", law.delay);
    }
    let (mut law, mut buffer) = (dualpi2(r#""tupdate":"20 ms""#), holding(&[(Ecn::Ect1, 1)]));
    buffer.push_into(instant(15_000), &with(Ecn::Ect0, 100), C);
    law.catch_up(instant(20_001), &buffer);
    assert!((law.delay - 0.020).abs() < 1e-12, "that of the L queue: {}", law.delay);
}

#[test]
fn the_l_queue_marks_what_has_waited_longer_than_the_step_while_more_than_one_waits_behind() {
    let marked = |text: &str, packets: u32, micros: u64| {
        let (mut law, buffer) = (dualpi2(text), holding(&[(Ecn::Ect1, packets)]));
        outcome(&mut law, buffer, instant(micros), 0)(Ecn::Ect1).1
    };
    assert_eq!(marked("", 100, 1000), 0, "not longer");
    // Two packets have one or no packet behind them, and the first signal needs a second probability (`recur`).
    assert_eq!(marked("", 100, 1001), 97);
    assert_eq!(marked(r#""min-qlen-step":0"#, 100, 1001), 98);
    assert_eq!(marked(r#""min-qlen-step":50"#, 100, 1001), 48);
    // The RFC's ramp from 0.8 to 1.2 ms. At a quarter of the ramp, a quarter is marked.
    let ramp = r#""step-thresh":"800 us","range":"400 us""#;
    assert_eq!([800, 1000, 1200].map(|micros| marked(ramp, 102, micros)), [0, 49, 99]);
    assert!(marked(ramp, 102, 900).abs_diff(25) <= 1);
    // Ten packets behind: the first 90 of 100, except the first because of `recur`.
    assert_eq!(marked(r#""step-packets":10"#, 100, 0), 89);
}

#[test]
fn nothing_that_follows_from_the_base_probability_befalls_a_queue_of_less_than_two_packets() {
    let signals = |sizes: [u16; 2]| {
        let mut law = dualpi2(STILL);
        law.base = 1.0;
        law.counts = [1.0; 2];
        let mut buffer = Buffer::with_bins(0, 2);
        for size in sizes {
            buffer.push_into(instant(0), &with(Ecn::NotEct, size), C);
        }
        let mut drops = Vec::new();
        let _ = law.depart(instant(0), &mut buffer, &mut drops);
        drops.len()
    };
    assert_eq!((signals([1514, 1513]), signals([1514, 1514])), (0, 1));
}

#[test]
fn when_marks_saturate_both_queues_drop_what_could_be_marked_by_the_square() {
    let packets = [(Ecn::NotEct, 10_000), (Ecn::Ect0, 10_000), (Ecn::Ect1, 10_000)];
    let mut law = dualpi2(STILL);
    law.base = 0.6;
    let of = outcome(&mut law, holding(&packets), instant(0), 10);
    let near = |number: u32, share: f64| (f64::from(number) - 10_000.0 * share).abs() < 40.0;
    assert!(near(of(Ecn::NotEct).2, 0.36), "{:?}", of(Ecn::NotEct));
    assert!(near(of(Ecn::Ect0).2, 0.36) && of(Ecn::Ect0).1 == 0, "{:?}", of(Ecn::Ect0));
    // `recur` shares one sum for drops and marks, so few of the rest stay unmarked.
    assert!(near(of(Ecn::Ect1).2, 0.36) && near(of(Ecn::Ect1).1, 0.64), "{:?}", of(Ecn::Ect1));
    // Without it, the base probability ends at the value at which marks saturate, and only a full buffer drops.
    let mut law = dualpi2(&format!(r#"{STILL},"drop-on-overload":false"#));
    law.update(100.0);
    assert_eq!(law.base, 0.5);
    let of = outcome(&mut law, holding(&packets), instant(0), 10);
    assert!(near(of(Ecn::NotEct).2, 0.25) && near(of(Ecn::Ect0).1, 0.25), "{:?}", of(Ecn::Ect0));
    assert!(of(Ecn::Ect0).2 == 0 && of(Ecn::Ect1).2 == 0 && of(Ecn::Ect1).1 >= 9_989, "{:?}", of(Ecn::Ect1));
}

/// Number of classic packets among the first `number` departures, while both queues always hold packets.
fn classic(text: &str, number: u32) -> u32 {
    let (mut law, mut buffer) =
        (dualpi2(&format!("{STILL}{text}")), holding(&[(Ecn::NotEct, 2000), (Ecn::Ect1, 2000)]));
    let mut drops = Vec::new();
    (0..number)
        .filter(|_| law.depart(instant(0), &mut buffer, &mut drops).is_some_and(|packet| packet.ecn == Ecn::NotEct))
        .count() as u32
}

#[test]
fn the_classic_queue_has_its_share_against_traffic_that_does_not_yield_and_without_protection_none() {
    assert!(classic("", 1000).abs_diff(100) <= 2, "{}", classic("", 1000));
    assert!(classic(r#","classic-protection":0.25"#, 1000).abs_diff(250) <= 2);
    assert_eq!(classic(r#","classic-protection":0.0"#, 1000), 0);
    assert!(law(r#""classic-protection":0.0"#).caution().is_some() && law("").caution().is_none());
}

#[test]
fn a_classic_packet_goes_first_when_it_has_waited_longer_by_the_time_shift() {
    for (later, queue) in [(50_000, L), (50_001, C)] {
        let (law, mut buffer) = (dualpi2(r#""scheduler":"ts-fifo""#), Buffer::with_bins(0, 2));
        buffer.push_into(instant(0), &with(Ecn::Ect0, 100), C);
        buffer.push_into(instant(later), &with(Ecn::Ect1, 100), L);
        assert_eq!(law.next(&buffer), Some(queue), "{later}");
    }
}

#[test]
fn an_idle_link_gives_the_l_queue_its_credit_back() {
    let (mut law, buffer) = (dualpi2(""), holding(&[]));
    let begin = law.credit;
    assert!((begin + 0.8 * 1514.0).abs() < 1e-9, "a packet's worth for the L queue: {begin}");
    for (idle, credit) in [(Span::ZERO, 77.0), (Span::from_nanos(1), begin)] {
        law.credit = 77.0;
        let packet = with(Ecn::Ect1, 100);
        law.arrive(&Arrival { now: instant(0), packet: &packet, buffer: &buffer, idle, full: false }, &mut stream());
        assert_eq!(law.credit, credit);
    }
}

#[test]
fn keys_that_do_not_go_together_are_refused() {
    for (text, named) in [
        (r#""coupling-factor":0.5"#, "1 or more"),
        (r#""classic-protection":1.0"#, "from 0 to below 1"),
        (r#""scheduler":"ts-fifo","classic-protection":0.1"#, "time shift"),
        (r#""time-shift":"50 ms""#, "has a share"),
        (r#""step-packets":5,"range":"1 ms""#, "by packets or by delay"),
        (r#""target":"0 ms""#, "a time above 0"),
    ] {
        let law: Dualpi2Config = serde_json::from_str(&format!("{{{text}}}")).expect("dualpi2");
        assert!(law.check().expect_err("refused").to_string().contains(named), "{text}");
    }
}

/// Direct transcription of RFC 9332's figures 2 to 5, 7 and 8, with the weighted round robin of Appendix A.1. It keeps
/// packets in vectors and uses a timer.
struct SlowTwin {
    lq: Vec<(Packet, Instant)>,
    cq: Vec<(Packet, Instant)>,
    p: f64,
    prevq: f64,
    l_count: f64,
    c_count: f64,
    credit: f64,
    next_update: Instant,
}

impl SlowTwin {
    fn new() -> Self {
        let next_update = Instant::ZERO + Span::from_millis(16);
        SlowTwin {
            lq: vec![],
            cq: vec![],
            p: 0.0,
            prevq: 0.0,
            l_count: 0.0,
            c_count: 0.0,
            credit: -0.8 * 1514.0,
            next_update,
        }
    }

    fn time(queue: &[(Packet, Instant)], now: Instant) -> f64 {
        queue.first().map_or(0.0, |(_, came)| now.span_since(*came).seconds())
    }

    fn advance(&mut self, now: Instant) {
        while self.next_update < now {
            let curq = Self::time(&self.cq, self.next_update).max(Self::time(&self.lq, self.next_update));
            self.p += 0.16 * (curq - 0.015) + 3.2 * (curq - self.prevq);
            self.p = self.p.clamp(0.0, 1.0);
            self.prevq = curq;
            self.next_update += Span::from_millis(16);
        }
    }

    fn enqueue(&mut self, now: Instant, packet: Packet, idle: bool) {
        self.advance(now);
        if idle {
            self.credit = -0.8 * 1514.0;
        }
        if packet.ecn as u8 % 2 == 1 { self.lq.push((packet, now)) } else { self.cq.push((packet, now)) }
    }

    fn bytes(&self) -> u64 {
        self.lq.iter().chain(&self.cq).map(|(packet, _)| u64::from(packet.wire)).sum()
    }

    fn dequeue(&mut self, now: Instant) -> (Option<Packet>, Vec<Packet>) {
        self.advance(now);
        let mut dropped = Vec::new();
        let recur = |count: &mut f64, likelihood: f64| {
            *count += likelihood;
            let yes = *count > 1.0;
            if yes {
                *count -= 1.0;
            }
            yes
        };
        while self.bytes() > 0 {
            let p = if self.bytes() < 2 * 1514 { 0.0 } else { self.p };
            let (p_cl, p_c) = (2.0 * p, p * p);
            if !self.lq.is_empty() && (self.cq.is_empty() || self.credit <= 0.0) {
                let (mut pkt, came) = self.lq.remove(0);
                if p_cl < 1.0 {
                    let step = self.lq.len() > 1 && now.span_since(came) > Span::from_millis(1);
                    if recur(&mut self.l_count, f64::from(u8::from(step)).max(p_cl)) {
                        pkt.ecn = Ecn::Ce;
                    }
                } else {
                    if recur(&mut self.l_count, p_c) {
                        dropped.push(pkt);
                        continue;
                    }
                    if recur(&mut self.l_count, 1.0) {
                        pkt.ecn = Ecn::Ce;
                    }
                }
                if !self.cq.is_empty() {
                    self.credit += 0.1 * f64::from(pkt.wire);
                }
                return (Some(pkt), dropped);
            }
            let (mut pkt, _) = self.cq.remove(0);
            if recur(&mut self.c_count, p_c) {
                if pkt.ecn == Ecn::NotEct || p_c >= 0.25 {
                    dropped.push(pkt);
                    continue;
                }
                pkt.ecn = Ecn::Ce;
            }
            if !self.lq.is_empty() {
                self.credit -= 0.9 * f64::from(pkt.wire);
            }
            return (Some(pkt), dropped);
        }
        (None, dropped)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn the_law_is_that_of_the_rfc_read_plainly(
        steps in prop::collection::vec((0..30_000u64, 0..4usize, 40..1515u16, 0..5u8), 1..400), slow in 1..12u64,
    ) {
        let config: QueueConfig =
            serde_json::from_str(r#"{"discipline":"dualpi2","capacity":{"packets":100000}}"#).expect("a queue");
        let (mut queue, mut plain, mut drops) = (Queue::new(&config, rate(), stream()), SlowTwin::new(), Vec::new());
        let (mut now, mut free) = (Instant::ZERO, Instant::ZERO);
        for (serial, (micros, ecn, wire, copies)) in steps.into_iter().enumerate() {
            let next = now + Span::from_micros(micros);
            while free <= next && queue.packets() > 0 {
                let begins = free.max(now);
                let sent = queue.depart(begins, &mut drops);
                let (expected, dropped) = plain.dequeue(begins);
                prop_assert_eq!(sent, expected);
                prop_assert_eq!(drops.drain(..).map(|(packet, _)| packet).collect::<Vec<_>>(), dropped);
                if let Some(packet) = sent {
                    free = begins + rate().time_for(packet.size()) * slow;
                    queue.transmits_until(free);
                }
            }
            now = next;
            for copy in 0..copies {
                let ecn = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce][ecn];
                let packet = Packet { ecn, ..packet(serial as u32 * 8 + u32::from(copy), wire, Class::Tcp) };
                plain.enqueue(now, packet, queue.packets() == 0 && free < now && copy == 0);
                queue.arrive(now, &packet, &mut drops);
            }
            prop_assert!((queue.average() - plain.p).abs() < 1e-12, "{} {}", queue.average(), plain.p);
        }
    }
}
