use super::super::testing::{packet, stream};
use super::super::{Queue, QueueConfig};
use super::*;
use crate::packet::{Class, Ecn};

fn queue(keys: &str) -> Queue {
    let text = format!(r#"{{"discipline":"cake","capacity":{{"packets":100000}}{keys}}}"#);
    let config: QueueConfig = serde_json::from_str(&text).expect("cake");
    config.check().expect("a sound queue");
    Queue::new(&config, Rate::from_bits_per_second(1_000_000_000), stream())
}

fn instant(millis: u64) -> Instant {
    Instant::ZERO + Span::from_millis(millis)
}

/// Serves a queue from time 0 until `end`, and passes each departure to `each`.
fn serve(queue: &mut Queue, end: Instant, mut each: impl FnMut(Instant, &Packet)) {
    let mut drops = Vec::new();
    for step in 0.. {
        assert!(step < 1_000_000, "a million departures, and {} packets still wait", queue.packets());
        let now = queue.held_until().max(Instant::ZERO);
        if now > end || queue.packets() == 0 {
            return;
        }
        if let Some(packet) = queue.depart(now, &mut drops) {
            each(now, &packet);
        }
    }
}

/// A queue with `packets` packets of 1000 bytes per (flow, class), interleaved, at time 0. `ends` gives the hosts of each
/// flow.
fn filled(keys: &str, flows: &[(u32, Class)], ends: &[[u32; 2]], packets: u32) -> Queue {
    let (mut queue, mut drops) = (queue(keys), Vec::new());
    queue.set_flow_ends(&ends.into());
    for _ in 0..packets {
        for &(flow, class) in flows {
            queue.arrive(instant(0), &packet(flow, 1000, class), &mut drops);
        }
    }
    assert!(drops.is_empty());
    queue
}

/// Share of the bytes per flow in the first `packets` departures, before COBALT acts.
fn shares(keys: &str, flows: &[(u32, Class)], ends: &[[u32; 2]], packets: u32) -> Vec<f64> {
    let mut queue = filled(&format!(r#"{keys},"rtt":"1000 s""#), flows, ends, packets);
    let (mut sent, mut drops, mut now) = (vec![0u32; flows.len()], Vec::new(), instant(0));
    for _ in 0..packets {
        now = queue.held_until().max(now);
        let packet = queue.depart(now, &mut drops).expect("more than that wait");
        sent[packet.flow.0 as usize] += 1;
    }
    sent.into_iter().map(|of| f64::from(of) / f64::from(packets)).collect()
}

#[test]
fn it_sends_at_its_bandwidth_to_within_a_packet_at_any_time() {
    let (mut queue, mut drops) = (queue(r#","bandwidth":"3 Mb/s","diffserv":"besteffort""#), Vec::new());
    for serial in 0..4000u32 {
        queue.arrive(instant(0), &packet(serial % 7, 40 + (serial * 37 % 1460) as u16, Class::Tcp), &mut drops);
    }
    let mut bytes = 0;
    serve(&mut queue, instant(5000), |now, packet| {
        // Bits that 3 Mb/s has carried by now.
        let carried = now.span_since(Instant::ZERO).seconds() * 3e6 / 8.0;
        assert!((bytes as f64 - carried).abs() < 1.0, "{bytes} sent, {carried} carried");
        bytes += u64::from(packet.wire);
    });
    assert!(bytes > 1_200_000, "{bytes}");
}

#[test]
fn what_was_not_used_while_nothing_waited_is_lost() {
    let (mut queue, mut drops) = (queue(r#","bandwidth":"8 Mb/s""#), Vec::new());
    let sent = |queue: &mut Queue, now| queue.depart(now, &mut Vec::new()).is_some();
    queue.arrive(instant(0), &packet(0, 1000, Class::Tcp), &mut drops);
    assert!(sent(&mut queue, instant(0)));
    for _ in 0..3 {
        queue.arrive(instant(500), &packet(0, 1000, Class::Tcp), &mut drops);
    }
    // A packet takes 1 ms.
    assert_eq!(
        [500, 500, 501, 501, 502].map(|millis| sent(&mut queue, instant(millis))),
        [true, false, true, false, true]
    );
    assert_eq!(queue.held_until(), instant(503));
    queue.arrive(instant(502), &packet(0, 1000, Class::Tcp), &mut drops);
    assert!(!sent(&mut queue, instant(502)) && sent(&mut queue, instant(503)));
}

#[test]
fn a_packet_counts_with_its_overhead_its_least_size_and_its_framing() {
    let held = |keys: &str, wire: u16| {
        let (mut queue, mut drops) = (queue(&format!(r#","bandwidth":"8 Mb/s"{keys}"#)), Vec::new());
        queue.arrive(instant(0), &packet(0, wire, Class::Tcp), &mut drops);
        assert!(queue.depart(instant(0), &mut drops).is_some());
        queue.held_until().nanos() / 1000
    };
    assert_eq!(held("", 1000), 1000);
    assert_eq!(held(r#","overhead":44"#, 1000), 1044);
    assert_eq!(held(r#","overhead":-14"#, 1000), 986);
    assert_eq!((held(r#","mpu":"64 B""#, 40), held(r#","mpu":"64 B""#, 1000)), (64, 1000));
    // 1040 bytes fill 22 ATM cells. PTM adds 17 bytes, one for each 64 begun.
    assert_eq!(held(r#","overhead":40,"framing":"atm""#, 1000), 22 * 53);
    assert_eq!(held(r#","overhead":40,"framing":"ptm""#, 1000), 1057);
}

#[test]
fn voice_comes_first_within_its_quarter_of_the_bandwidth_and_takes_what_others_leave() {
    let flows = [(0, Class::Tcp), (1, Class::Voice)];
    let shaped = r#","bandwidth":"8 Mb/s""#;
    let both = shares(shaped, &flows, &[[0, 1], [0, 1]], 2000);
    assert!((both[1] - 0.25).abs() < 0.01, "{both:?}");
    let four = shares(&format!(r#"{shaped},"diffserv":"diffserv4""#), &flows, &[[0, 1], [0, 1]], 2000);
    assert!((four[1] - 0.25).abs() < 0.01, "{four:?}");
    let one = shares(&format!(r#"{shaped},"diffserv":"besteffort""#), &flows, &[[0, 1], [0, 1]], 2000);
    assert!((one[1] - 0.5).abs() < 0.01, "{one:?}");
    // Without `bandwidth`, the weights are 1024 and 256.
    let weighed = shares("", &flows, &[[0, 1], [0, 1]], 2000);
    assert!((weighed[1] - 0.2).abs() < 0.01, "{weighed:?}");
    // Voice alone gets the whole rate: 100 packets of 1 ms each.
    let mut alone = filled(shaped, &[(0, Class::Voice)], &[[0, 1]], 100);
    let mut last = instant(0);
    serve(&mut alone, instant(1000), |now, _| last = now);
    assert_eq!(last, instant(99));
}

#[test]
fn hosts_get_equal_shares_and_flows_equal_ones_of_their_hosts() {
    // Eight flows from host 0, one from host 1, all to host 2.
    let flows: Vec<_> = (0..9).map(|flow| (flow, Class::Tcp)).collect();
    let ends: Vec<_> = (0..9).map(|flow| [u32::from(flow == 8), 2]).collect();
    let of = |isolation: &str| {
        let keys = format!(r#","bandwidth":"8 Mb/s","isolation":"{isolation}""#);
        shares(&keys, &flows, &ends, 4000)
    };
    for by_host in ["dual-srchost", "srchost"] {
        let shares = of(by_host);
        assert!((shares[8] - 0.5).abs() < 0.02, "{by_host}: {shares:?}");
        assert!(shares[..8].iter().all(|share| (share - 0.0625).abs() < 0.01), "{by_host}: {shares:?}");
    }
    for by_flow in ["flows", "dual-dsthost"] {
        let shares = of(by_flow);
        assert!(shares.iter().all(|share| (share - 1.0 / 9.0).abs() < 0.01), "{by_flow}: {shares:?}");
    }
    // All flows have the same receiver, so this host with nine flows limits each of them.
    let same = of("triple-isolate");
    assert!(same.iter().all(|share| (share - 1.0 / 9.0).abs() < 0.01), "{same:?}");
    // With separate receivers, the senders' numbers of flows decide.
    let ends: Vec<_> = (0..9).map(|flow| [u32::from(flow == 8), 10 + flow]).collect();
    let shares = shares(r#","bandwidth":"8 Mb/s""#, &flows, &ends, 4000);
    assert!((shares[8] - 0.5).abs() < 0.02, "{shares:?}");
}

#[test]
fn what_comes_back_has_its_hosts_the_other_way_round() {
    let mut buffer = Buffer::default();
    let (there, back) = (packet(1, 100, Class::Tcp), Packet { feedback: true, ..packet(1, 100, Class::Tcp) });
    let hosts = |buffer: &Buffer| (Cake::hosts_of(&there, buffer), Cake::hosts_of(&back, buffer));
    assert_eq!(hosts(&buffer), ([2, 3], [3, 2]), "two hosts of its own");
    buffer.set_flow_ends(&[[9, 9], [4, 7]].into());
    assert_eq!(hosts(&buffer), ([4, 7], [7, 4]));
}

#[test]
fn flows_share_a_queue_only_when_a_set_of_eight_is_in_use() {
    let law: CakeConfig = serde_json::from_str("{}").expect("cake");
    let mut law = law.discipline(Capacity::Packets(10), Rate::from_bits_per_second(1_000_000));
    let tin = &mut law.tins[0];
    // Nine hashes of the same set; the first two share a place in it.
    let hashes: [u64; 9] = [8, 8 + 1024, 9, 10, 11, 12, 13, 14, 15];
    let queues = hashes.map(|hash| {
        let queue = tin.queue_of(hash, [0, 1]);
        tin.arrived(queue, Isolation::Flows);
        queue
    });
    let mut eight = queues[..8].to_vec();
    eight.sort_unstable();
    assert_eq!(eight, (8..16).collect::<Vec<_>>(), "{queues:?}");
    assert_eq!(queues[8], 15, "no queue of the set is left, so it shares the one of its place");
    // A flow with a queue finds it again.
    assert_eq!(hashes[..7].iter().map(|hash| tin.queue_of(*hash, [0, 1])).collect::<Vec<_>>(), queues[..7]);
}

#[test]
fn a_flow_that_has_just_begun_comes_before_those_that_wait() {
    // At any point of the other flows' round: a quantum covers several of their packets.
    for sent in 15..60 {
        let (mut queue, mut drops) = (queue(r#","bandwidth":"8 Mb/s""#), Vec::new());
        queue.set_flow_ends(&[[0, 1], [2, 3], [4, 5]].into());
        for _ in 0..100 {
            for flow in [0, 1] {
                queue.arrive(instant(0), &packet(flow, 50, Class::Tcp), &mut drops);
            }
        }
        let mut now = instant(0);
        let mut order: Vec<u32> = Vec::new();
        for _ in 0..sent {
            now = queue.held_until().max(now);
            order.extend(queue.depart(now, &mut drops).map(|packet| packet.flow.0));
        }
        now = queue.held_until();
        queue.arrive(now, &packet(2, 100, Class::Tcp), &mut drops);
        assert_eq!(queue.depart(now, &mut drops).map(|packet| packet.flow.0), Some(2), "after {order:?}");
        assert!(order.iter().filter(|flow| **flow == 0).count().abs_diff(order.len() / 2) <= 6, "{order:?}");
    }
}

#[test]
fn the_fattest_queue_loses_its_head_and_the_last_packet_of_a_queue_never_goes_early() {
    let text = r#"{"discipline":"cake","capacity":{"packets":10},"bandwidth":"1 Mb/s"}"#;
    let config: QueueConfig = serde_json::from_str(text).expect("cake");
    let (mut queue, mut drops) = (Queue::new(&config, Rate::from_bits_per_second(10_000_000), stream()), Vec::new());
    for serial in 0..8u16 {
        queue.arrive(instant(0), &packet(1, 100 + serial, Class::Tcp), &mut drops);
    }
    for _ in 0..3 {
        queue.arrive(instant(0), &packet(2, 1000, Class::Voice), &mut drops);
    }
    let dropped: Vec<_> = drops.drain(..).map(|(packet, reason)| (packet.flow.0, packet.wire, reason)).collect();
    assert_eq!(dropped, [(2, 1000, DropReason::Overflow)], "most bytes, not most packets");
    // Seconds later each queue is over target and the signals begin. Two packets of a queue remain, and CoDel sends the
    // last.
    let mut sent = 0;
    for second in 1..200 {
        sent += u32::from(queue.depart(instant(second * 1000), &mut drops).is_some());
    }
    assert!(sent >= 2 && drops.iter().all(|(_, reason)| *reason == DropReason::Early), "{sent}");
    assert_eq!(sent as usize + drops.len(), 10);
}

#[test]
fn what_overflows_and_does_not_yield_meets_blue() {
    let text = r#"{"discipline":"cake","capacity":{"packets":50},"bandwidth":"1 Mb/s"}"#;
    let config: QueueConfig = serde_json::from_str(text).expect("cake");
    let (mut queue, mut drops) = (Queue::new(&config, Rate::from_bits_per_second(10_000_000), stream()), Vec::new());
    let (mut early, mut overflow) = (0, 0);
    // Four times the bandwidth, in markable packets: CoDel only marks, so every early drop comes from BLUE.
    for millis in 0..20_000 {
        queue.arrive(instant(millis), &Packet { ecn: Ecn::Ect0, ..packet(1, 500, Class::OtherUdp) }, &mut drops);
        if queue.held_until() <= instant(millis) {
            queue.depart(instant(millis), &mut drops);
        }
        for (_, reason) in drops.drain(..) {
            *(if reason == DropReason::Early { &mut early } else { &mut overflow }) += 1;
        }
    }
    assert!(early > 1000 && overflow > 100, "{early} {overflow}");
}

#[test]
fn times_follow_the_rate_of_a_tin() {
    let settings = |keys: &str| {
        let law: CakeConfig = serde_json::from_str(&format!("{{{keys}}}")).expect("cake");
        let law = law.discipline(Capacity::Packets(10), Rate::from_bits_per_second(1_000_000_000));
        law.tins.iter().map(|tin| (tin.set.target.nanos() / 1000, tin.set.interval.nanos() / 1000)).collect::<Vec<_>>()
    };
    // Without `bandwidth`: 5 and 100 ms. At 4 Mb/s a packet takes 3.028 ms; in the bulk tin (250 kb/s) 48.448, in the voice
    // tin 12.112.
    assert_eq!(settings(""), [(5000, 100_000); 3]);
    assert_eq!(settings(r#""bandwidth":"4 Mb/s""#), [(5000, 100_000), (72_672, 167_672), (18_168, 113_168)]);
    assert_eq!(settings(r#""rtt":"20 ms","diffserv":"besteffort""#), [(1000, 20_000)]);
}

#[test]
fn what_makes_no_sense_is_refused_with_what_to_write_instead() {
    for (keys, named) in [
        (r#","overhead":18"#, "left out without `bandwidth`"),
        (r#","framing":"atm""#, "left out without `bandwidth`"),
        (r#","bandwidth":"10 Mb/s","overhead":300"#, "−64 to 256"),
        (r#","bandwidth":"10 b/s""#, "512 b/s or more"),
        (r#","rtt":"0 ms""#, "a time above 0"),
        (r#","victim":"drop-sel""#, "BLUE learns"),
    ] {
        let text = format!(r#"{{"discipline":"cake","capacity":{{"packets":100}}{keys}}}"#);
        let config: QueueConfig = serde_json::from_str(&text).expect("cake");
        assert!(config.check().expect_err("refused").to_string().contains(named), "{keys}");
    }
}

#[test]
fn the_shapers_clock_counts_parts_of_a_nanosecond() {
    // A byte at 3 b/s takes 8/3 s. Three bytes take exactly 8 s, without accumulated rounding.
    let mut clock = Clock::new(Rate::from_bits_per_second(3));
    let ends = [1, 2, 3].map(|_| {
        clock.sent(1);
        clock.next.span_since(Instant::ZERO).nanos()
    });
    assert_eq!(ends, [2_666_666_666, 5_333_333_333, 8_000_000_000]);
    assert_eq!(Clock::time(125_000, 1000), Span::from_millis(8));
}

#[test]
fn code_points_find_the_tins_of_the_tables_in_linux() {
    // sch_cake.c, `diffserv3` and `diffserv4`, one row per class selector.
    let three = [
        [0, 1, 0, 0, 2, 0, 0, 0],
        [1, 0, 0, 0, 0, 0, 0, 0],
        [0; 8],
        [0; 8],
        [0; 8],
        [0, 0, 0, 0, 2, 0, 2, 0],
        [2, 0, 0, 0, 0, 0, 0, 0],
        [2, 0, 0, 0, 0, 0, 0, 0],
    ];
    let four = [
        [0, 1, 0, 0, 2, 0, 0, 0],
        [1, 0, 0, 0, 0, 0, 0, 0],
        [2, 0, 2, 0, 2, 0, 2, 0],
        [2, 0, 2, 0, 2, 0, 2, 0],
        [3, 0, 2, 0, 2, 0, 2, 0],
        [3, 0, 0, 0, 3, 0, 3, 0],
        [3, 0, 0, 0, 0, 0, 0, 0],
        [3, 0, 0, 0, 0, 0, 0, 0],
    ];
    for number in 0..64u8 {
        let dscp = Dscp::new(number).expect("in range");
        let (row, column) = (usize::from(number / 8), usize::from(number % 8));
        assert_eq!(Diffserv::Diffserv3.tin_of(dscp), three[row][column], "{number}");
        assert_eq!(Diffserv::Diffserv4.tin_of(dscp), four[row][column], "{number}");
        assert_eq!(Diffserv::Besteffort.tin_of(dscp), 0);
    }
}
