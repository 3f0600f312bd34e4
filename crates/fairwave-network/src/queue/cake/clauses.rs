//! One test per clause of CAKE: tins, hosts, queues of flows, the shaper, COBALT. Source: Høiland-Jørgensen, Täht & Morton,
//! *Piece of CAKE*, and `net/sched/sch_cake.c` in Linux, by the names of its functions.

use super::super::testing::{packet, stream};
use super::super::{Queue, QueueConfig};
use super::cobalt::Cobalt;
use super::*;
use crate::packet::{Class, Ecn};

fn instant(millis: u64) -> Instant {
    Instant::ZERO + Span::from_millis(millis)
}

/// The discipline with these keys.
fn cake(keys: &str) -> Cake {
    let config: CakeConfig = serde_json::from_str(&format!("{{{keys}}}")).expect("cake");
    config.discipline(Capacity::Packets(10), Rate::from_bits_per_second(1_000_000_000))
}

/// A queue with these keys and room for 1000 packets.
fn queue(keys: &str) -> Queue {
    let text = format!(r#"{{"discipline":"cake","capacity":{{"packets":1000}}{keys}}}"#);
    let config: QueueConfig = serde_json::from_str(&text).expect("cake");
    Queue::new(&config, Rate::from_bits_per_second(1_000_000_000), stream())
}

fn set() -> Settings {
    Settings { target: Span::from_millis(5), interval: Span::from_millis(100), packet_time: Span::from_millis(1) }
}

fn tin(bits_per_second: u64) -> Tin {
    Tin::new(set(), Some(bits_per_second / 8), 1024)
}

#[test]
fn cake_config_diffserv_each_tin_has_its_part_of_the_rate() {
    for (diffserv, parts) in [("besteffort", &[1][..]), ("diffserv3", &[1, 16, 4]), ("diffserv4", &[1, 16, 2, 4])] {
        let law = cake(&format!(r#""bandwidth":"16 Mb/s","diffserv":"{diffserv}""#));
        let rates: Vec<_> = law.tins.iter().map(|tin| tin.rate).collect();
        assert_eq!(rates, parts.iter().map(|part| Some(2_000_000 / part)).collect::<Vec<_>>(), "{diffserv}");
        assert_eq!(law.tin_of(&packet(0, 100, Class::Voice)), parts.len() - 1, "voice goes into the highest");
        assert_eq!((law.tin_of(&packet(0, 100, Class::Tcp)), law.tin_of(&packet(0, 100, Class::OtherUdp))), (0, 0));
    }
}

#[test]
fn cake_set_rate_target_and_interval_grow_with_the_time_of_a_packet() {
    let law = cake(r#""bandwidth":"1 Mb/s""#);
    let bulk = &law.tins[1].set;
    assert_eq!(bulk.target, bulk.packet_time.scaled(1.5));
    assert_eq!(bulk.interval, bulk.target * 2, "not less than two targets, where packets are slow");
    let law = cake(r#""bandwidth":"4 Mb/s""#);
    let (bulk, stretched) = (&law.tins[1].set, Span::from_millis(95));
    assert_eq!(bulk.interval, stretched + bulk.target, "else by what the target is longer than 5 ms");
}

#[test]
fn cake_set_rate_a_flows_quantum_is_what_a_4096th_of_a_second_sends_from_300_to_1514_bytes() {
    // Deficits are 0 before the first packet; the first turn gives a quantum.
    let quantum = |bits_per_second: u64| {
        let mut tin = tin(bits_per_second);
        tin.arrived(7, Isolation::Flows);
        let mut sent = 0;
        while tin.turn(false, Isolation::Flows, |_| true).is_some() && tin.queues[7].stand == tin::QueueState::Sparse {
            tin.sent(7, 1, instant(0));
            sent += 1;
            assert!(sent < 10_000, "its first quantum is never used up");
        }
        // One byte uses up the first quantum, so the next turn starts the second.
        sent
    };
    assert_eq!((quantum(1_000_000), quantum(20_000_000), quantum(1_000_000_000)), (300, 610, 1514));
}

#[test]
fn cake_hash_each_isolation_tells_apart_what_its_name_says() {
    let flow = |flow: u32, hosts: [u32; 2]| (packet(flow, 100, Class::Tcp), hosts);
    let of = |isolation: &str| {
        let law = cake(&format!(r#""isolation":"{isolation}""#));
        let hash = |(packet, hosts): (Packet, [u32; 2])| law.hash_of(&packet, hosts);
        let first = hash(flow(1, [1, 2]));
        // Another flow of the same hosts, the same flow from another sender, and to another receiver.
        [flow(2, [1, 2]), flow(1, [3, 2]), flow(1, [1, 4])].map(|other| hash(other) != first)
    };
    assert_eq!(of("flowblind"), [false, false, false]);
    assert_eq!(of("srchost"), [false, true, false]);
    assert_eq!(of("dsthost"), [false, false, true]);
    assert_eq!(of("hosts"), [false, true, true]);
    for flows in ["flows", "dual-srchost", "dual-dsthost", "triple-isolate"] {
        assert_eq!(of(flows), [true, false, false], "{flows}");
    }
}

/// Share of the bandwidth of the last of nine flows. The other eight share a sender or a receiver.
fn last_of_nine(isolation: &str, share_a_sender: bool) -> f64 {
    let (mut queue, mut drops) =
        (queue(&format!(r#","bandwidth":"8 Mb/s","rtt":"1000 s","isolation":"{isolation}""#)), Vec::new());
    let ends: Vec<[u32; 2]> = (0..9)
        .map(|flow| (u32::from(flow == 8), 10 + flow))
        .map(|(shared, own)| if share_a_sender { [shared, own] } else { [own, shared] })
        .collect();
    queue.set_flow_ends(&ends.into());
    for _ in 0..100 {
        for flow in 0..9 {
            queue.arrive(instant(0), &packet(flow, 1000, Class::Tcp), &mut drops);
        }
    }
    let mut last = 0;
    for _ in 0..180 {
        let now = queue.held_until();
        last += u32::from(queue.depart(now, &mut drops).expect("more than that wait").flow.0 == 8);
    }
    f64::from(last) / 180.0
}

#[test]
fn cake_host_fairness_each_isolation_shares_among_the_hosts_of_its_name() {
    let (half, ninth) = (0.5, 1.0 / 9.0);
    for (isolation, by_sender, by_receiver) in [
        ("dual-srchost", half, ninth),
        ("dual-dsthost", ninth, half),
        ("triple-isolate", half, half),
        ("flows", ninth, ninth),
    ] {
        for (share_a_sender, share) in [(true, by_sender), (false, by_receiver)] {
            let last = last_of_nine(isolation, share_a_sender);
            assert!((last - share).abs() < 0.06, "{isolation}, a shared sender: {share_a_sender}: {last}");
        }
    }
}

#[test]
fn cake_overhead_the_least_size_applies_after_the_overhead() {
    let law = cake(r#""bandwidth":"8 Mb/s","overhead":-14,"mpu":"64 B""#);
    assert_eq!(law.size(&packet(0, 70, Class::Tcp)), 64);
    assert_eq!(law.size(&packet(0, 100, Class::Tcp)), 86);
}

#[test]
fn cake_enqueue_the_shapers_clock_starts_anew_only_when_nothing_waits() {
    let after = |waits: bool| {
        let (mut queue, mut drops) = (queue(r#","bandwidth":"8 Mb/s""#), Vec::new());
        for _ in 0..if waits { 3 } else { 1 } {
            queue.arrive(instant(0), &packet(0, 1000, Class::Tcp), &mut drops);
        }
        queue.depart(instant(0), &mut drops).expect("one is due");
        // The queue has had no call since time 0. Voice arrives in an empty tin.
        queue.arrive(instant(10), &packet(1, 1000, Class::Voice), &mut drops);
        queue.depart(instant(10), &mut drops).expect("one is due");
        queue.held_until()
    };
    assert_eq!((after(true), after(false)), (instant(2), instant(11)));
}

#[test]
fn cake_enqueue_an_empty_tin_saves_no_time() {
    let mut law = cake(r#""bandwidth":"8 Mb/s""#);
    let buffer = Buffer::with_bins(10, law.tins.len() * QUEUES as usize);
    law.bin(instant(50), &packet(0, 1000, Class::Voice), &buffer);
    assert_eq!(law.tins[2].next, instant(50));
}

#[test]
fn cake_advance_shaper_a_tin_catches_up_by_one_packet_at_most_and_is_charged_once() {
    let mut tin = tin(8_000_000);
    let charged = |tin: &mut Tin, next: u64| {
        tin.next = instant(next);
        tin.sent(0, 1000, instant(100));
        tin.next
    };
    // A packet takes a millisecond.
    assert_eq!(charged(&mut tin, 90), instant(91), "behind: by the packet's time");
    assert_eq!(charged(&mut tin, 100), instant(101));
    assert_eq!(charged(&mut tin, 105), instant(105), "ahead: it stays");
    assert_eq!(tin.deficit, -3000);
}

/// Flows in the round of these hosts, as sender and as receiver.
fn flows_of(tin: &Tin, hosts: [u32; 2]) -> [u32; 2] {
    [0, 1].map(|which| tin.bulk_of[which].get(hosts[which] as usize).copied().unwrap_or(0))
}

#[test]
fn cake_hash_a_flow_that_takes_a_queue_in_use_brings_its_hosts_along() {
    let mut tin = tin(1_000_000);
    for hash in 8..16 {
        let queue = tin.queue_of(hash, [1, 2]);
        tin.arrived(queue, Isolation::TripleIsolate);
        tin.sent(queue, 1500, instant(0));
    }
    // All flows have used up their first quantum and join the round.
    tin.turn(false, Isolation::TripleIsolate, |_| true);
    assert_eq!(flows_of(&tin, [1, 2]), [8, 8]);
    let taken = tin.queue_of(8 + 1024, [3, 4]);
    assert_eq!((taken, flows_of(&tin, [1, 2]), flows_of(&tin, [3, 4])), (8, [7, 7], [1, 1]));
    assert_eq!(tin.queues[8].hosts, [3, 4]);
}

#[test]
fn cake_dequeue_a_flow_that_leaves_the_round_counts_for_its_hosts_no_more() {
    let mut tin = tin(1_000_000);
    let queue = tin.queue_of(8, [1, 2]);
    tin.arrived(queue, Isolation::TripleIsolate);
    tin.sent(queue, 1500, instant(0));
    tin.turn(false, Isolation::TripleIsolate, |_| true);
    assert_eq!(flows_of(&tin, [1, 2]), [1, 1]);
    tin.was_empty(queue, instant(1));
    assert_eq!(flows_of(&tin, [1, 2]), [0, 0]);
}

#[test]
fn cake_dequeue_an_empty_queue_decays_until_cobalt_is_at_rest() {
    let mut tin = tin(1_000_000);
    let queue = tin.queue_of(8, [1, 2]);
    tin.arrived(queue, Isolation::Flows);
    tin.queues[queue as usize].cobalt.probability = 0.5;
    tin.was_empty(queue, instant(1));
    assert_eq!(tin.queues[queue as usize].stand, tin::QueueState::Decaying);
    assert!(!tin.is_active());
    tin.queues[queue as usize].cobalt = Cobalt::default();
    tin.was_empty(queue, instant(1));
    assert_eq!(tin.queues[queue as usize].stand, tin::QueueState::Idle);
}

#[test]
fn cake_dequeue_the_busier_of_two_hosts_divides_the_quantum() {
    // Ten flows in the round between hosts 1 and 2, and a new one from host 1 to host 9.
    let mut tin = tin(20_000_000);
    for hash in 0..10 {
        let queue = tin.queue_of(hash * 8, [1, 2]);
        tin.arrived(queue, Isolation::TripleIsolate);
        tin.sent(queue, 1500, instant(0));
    }
    tin.turn(false, Isolation::TripleIsolate, |_| true);
    let (ten, one) = (tin.load([1, 9], Isolation::TripleIsolate), tin.load([8, 9], Isolation::TripleIsolate));
    assert_eq!((ten, one), (10, 1));
    assert_eq!(tin.load([9, 2], Isolation::TripleIsolate), 10);
}

/// COBALT's decision (drop, mark) for a packet with this delay.
fn signal(cobalt: &mut Cobalt, millis: u64, waited: u64) -> (bool, bool) {
    let mut packet = Packet { ecn: Ecn::Ect0, ..packet(0, 1000, Class::Tcp) };
    let drop = cobalt.drops(&set(), instant(millis), &mut packet, Span::from_millis(waited), &mut stream());
    (drop, packet.ecn == Ecn::Ce)
}

#[test]
fn cobalt_queue_full_codel_signals_at_once() {
    let mut cobalt = Cobalt::default();
    cobalt.overflowed(&set(), instant(1000));
    assert_eq!((cobalt.dropping, cobalt.due, cobalt.count), (true, instant(1000), 1));
    assert_eq!(signal(&mut cobalt, 1001, 20), (false, true));
}

#[test]
fn cobalt_queue_empty_ends_the_dropping_and_counts_the_signals_down() {
    let mut cobalt = Cobalt::default();
    cobalt.overflowed(&set(), instant(1000));
    for millis in 1001..1400 {
        signal(&mut cobalt, millis, 20);
    }
    let many = cobalt.count;
    assert!(many > 3 && cobalt.dropping);
    cobalt.was_empty(&set(), cobalt.due);
    assert_eq!((cobalt.count, cobalt.dropping), (many - 1, false));
    let due = cobalt.due;
    cobalt.was_empty(&set(), Instant::from_nanos(due.nanos() - 1));
    assert_eq!((cobalt.count, cobalt.due), (many - 1, due), "not before the next signal would be due");
}

#[test]
fn cobalt_should_drop_the_first_signal_comes_an_interval_after_the_delay_passed_the_target() {
    let mut cobalt = Cobalt::default();
    signal(&mut cobalt, 500, 0);
    let first = (501..900).find(|millis| signal(&mut cobalt, *millis, 20).1);
    assert_eq!(first, Some(601));
}

#[test]
fn cobalt_should_drop_short_delay_counts_the_signals_down_one_by_one() {
    let mut cobalt = Cobalt::default();
    cobalt.overflowed(&set(), instant(1000));
    for millis in 1001..1400 {
        signal(&mut cobalt, millis, 20);
    }
    let (many, due) = (cobalt.count, cobalt.due);
    let just_due = due.nanos().div_ceil(1_000_000);
    signal(&mut cobalt, just_due, 0);
    assert_eq!(cobalt.count, many - 1);
}

#[test]
fn cobalt_should_drop_a_signal_that_is_late_is_forgiven_the_others() {
    let mut cobalt = Cobalt::default();
    cobalt.overflowed(&set(), instant(1000));
    // No packet left for a second: the next signal is due now, not a second ago.
    assert_eq!(signal(&mut cobalt, 2000, 20), (false, true));
    assert_eq!(cobalt.due, instant(2000));
}

#[test]
fn cobalt_should_drop_marks_what_can_be_marked() {
    let mut cobalt = Cobalt::default();
    cobalt.overflowed(&set(), instant(1000));
    assert_eq!(signal(&mut cobalt, 1000, 20), (false, true));
    let mut unmarkable = packet(0, 1000, Class::Tcp);
    let mut cobalt = Cobalt::default();
    cobalt.overflowed(&set(), instant(1000));
    assert!(cobalt.drops(&set(), instant(1000), &mut unmarkable, Span::from_millis(20), &mut stream()));
}

#[test]
fn cake_framing_cells_of_atm_and_the_bytes_of_ptm_are_counted_when_they_have_begun() {
    let size = |framing: &str, wire: u16| {
        cake(&format!(r#""bandwidth":"8 Mb/s","framing":"{framing}""#)).size(&packet(0, wire, Class::Tcp))
    };
    assert_eq!((size("atm", 48), size("atm", 49)), (53, 106));
    assert_eq!((size("ptm", 64), size("ptm", 65)), (65, 67));
}
