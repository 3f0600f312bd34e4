//! Tests of the receiver alone: the contents and times of its reports.

use super::*;
use fairwave_network::packet::{Class, Ecn, FlowId};
use fairwave_units::random::Seed;
use fairwave_units::units::Bytes;

fn ms(millis: u64) -> Instant {
    Instant::ZERO + Span::from_millis(millis)
}

fn receiver(config: &RtcpConfig) -> RtcpReceiver {
    let context = FlowContext { flow: FlowId(4), class: Class::OtherUdp, ..FlowContext::default() };
    RtcpReceiver::new(context, config, Seed(2).stream("reports")).expect("a valid configuration")
}

/// Regular reports only.
fn regular() -> RtcpConfig {
    RtcpConfig { early_reports: false, ..RtcpConfig::default() }
}

fn arrive(receiver: &mut RtcpReceiver, now: Instant, sequence: u32, created: Instant) -> Output {
    let body = Body::Datagram { payload: 100, sequence, unit: sequence, part: 0, parts: 1, created };
    let packet = Packet {
        flow: FlowId(4),
        wire: 140,
        class: Class::OtherUdp,
        dscp: Default::default(),
        feedback: false,
        ecn: Ecn::NotEct,
        layer: 0,
        body,
    };
    let mut out = Output::default();
    receiver.on_packet(now, &packet, &mut out);
    out
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Report {
    fraction_lost: u8,
    early: bool,
    lost: u32,
    highest: u32,
    jitter: Span,
    sender_report: Option<Instant>,
    delay: Span,
}

fn read(packet: &Packet) -> Report {
    match packet.body {
        Body::RtcpReceiverReport { fraction_lost, early, lost, highest, jitter, sender_report, delay } => {
            Report { fraction_lost, early, lost, highest, jitter, sender_report, delay }
        }
        other => panic!("not a report: {other:?}"),
    }
}

/// The next report; `None` if the receiver is silent.
fn next(receiver: &mut RtcpReceiver) -> Option<(Instant, Report)> {
    let (now, mut out) = (receiver.deadline(), Output::default());
    if now == Instant::NEVER {
        return None;
    }
    receiver.on_timer(now, &mut out);
    out.packets.first().map(|packet| (now, read(packet)))
}

#[test]
fn section_6_4_2_a_report_tells_what_was_lost_since_the_one_before_and_in_all() {
    let mut receiver = receiver(&regular());
    for sequence in (10..26).filter(|sequence| ![12, 13, 20, 24].contains(sequence)) {
        arrive(&mut receiver, ms(0), sequence, ms(0));
    }
    let (time, first) = next(&mut receiver).expect("a report");
    assert_eq!((first.fraction_lost, first.lost, first.highest, first.early), (64, 4, 25, false), "4 of 16");
    assert_eq!((first.sender_report, first.delay), (None, Span::ZERO));
    for sequence in [26, 27, 29, 30] {
        arrive(&mut receiver, time, sequence, time);
    }
    let (_, second) = next(&mut receiver).expect("a report");
    assert_eq!((second.fraction_lost, second.lost, second.highest), (51, 5, 30), "1 of 5, and not 5 of 21");
}

#[test]
fn a_3_late_datagrams_count_against_those_lost_and_less_than_nothing_is_none() {
    let mut receiver = receiver(&regular());
    for sequence in [0, 1, 3, 4] {
        arrive(&mut receiver, ms(0), sequence, ms(0));
    }
    assert_eq!(next(&mut receiver).expect("a report").1.fraction_lost, 51, "1 of 5");
    arrive(&mut receiver, ms(9_000), 2, ms(0));
    let report = next(&mut receiver).expect("a report").1;
    assert_eq!((report.fraction_lost, report.lost, report.highest), (0, 0, 4));
}

#[test]
fn a_3_what_arrives_from_before_the_first_datagram_was_expected_too() {
    let mut receiver = receiver(&regular());
    for sequence in [7, 5, 8] {
        arrive(&mut receiver, ms(0), sequence, ms(0));
    }
    let report = next(&mut receiver).expect("a report").1;
    assert_eq!((report.fraction_lost, report.lost), (64, 1), "of 5 to 8 the 6 is missing");
}

#[test]
fn a_datagram_that_comes_twice_is_one() {
    let mut receiver = receiver(&regular());
    assert_eq!(arrive(&mut receiver, ms(0), 0, ms(0)).deliveries.len(), 1);
    assert_eq!(arrive(&mut receiver, ms(1), 0, ms(0)).deliveries.len(), 0);
    arrive(&mut receiver, ms(2), 2, ms(0));
    let report = next(&mut receiver).expect("a report").1;
    assert_eq!((report.fraction_lost, report.lost), (85, 1), "1 of 3");
}

#[test]
fn a_8_jitter_moves_by_a_sixteenth_of_each_change_of_the_transit() {
    let mut receiver = receiver(&regular());
    for (sequence, transit) in [(0, 50), (1, 66), (2, 50)] {
        let created = ms(20 * u64::from(sequence));
        arrive(&mut receiver, created + Span::from_millis(transit), sequence, created);
    }
    // 16/16 = 1 ms, then 1 + (16 − 1)/16.
    let report = next(&mut receiver).expect("a report").1;
    assert_eq!(report.jitter, Span::from_nanos(1_937_500));
}

#[test]
fn a_report_echoes_the_latest_sender_report_and_how_long_ago_it_came() {
    let mut receiver = receiver(&regular());
    arrive(&mut receiver, ms(0), 0, ms(0));
    let body = Body::RtcpSenderReport { sent: ms(100), packets: 1, octets: 100 };
    let packet = Packet {
        flow: FlowId(4),
        wire: 80,
        class: Class::OtherUdp,
        dscp: Default::default(),
        feedback: false,
        ecn: Ecn::NotEct,
        layer: 0,
        body,
    };
    receiver.on_packet(ms(150), &packet, &mut Output::default());
    let (time, report) = next(&mut receiver).expect("a report");
    assert_eq!((report.sender_report, report.delay), (Some(ms(100)), time - ms(150)));
}

#[test]
fn reports_begin_with_the_first_datagram_and_end_after_three_about_nothing() {
    let mut receiver = receiver(&regular());
    assert_eq!(receiver.deadline(), Instant::NEVER);
    arrive(&mut receiver, ms(1_000), 0, ms(1_000));
    let least = Span::from_millis(500).nanos() as f64 * 2.5 / 1.218_281_828;
    assert!(
        (receiver.deadline() - ms(1_000)).nanos() as f64 >= least,
        "half the minimum, at least half of it at random"
    );
    let reports: Vec<_> = std::iter::from_fn(|| next(&mut receiver)).take(20).collect();
    assert_eq!(reports.len(), 4, "one about a datagram and three about nothing");
    assert_eq!(receiver.deadline(), Instant::NEVER);
    let again = reports[3].0 + Span::from_secs(60);
    arrive(&mut receiver, again, 1, again);
    assert!(receiver.deadline() > again && receiver.deadline() < again + Span::from_secs(7));
}

#[test]
fn an_early_report_follows_a_loss_at_once_but_not_sooner_than_the_spacing_allows() {
    let mut receiver = receiver(&RtcpConfig::default());
    arrive(&mut receiver, ms(2_000), 0, ms(2_000));
    let regular = receiver.deadline();
    let out = arrive(&mut receiver, ms(2_010), 2, ms(2_010));
    let report = read(&out.packets[0]);
    assert_eq!((report.early, report.fraction_lost, report.highest), (true, 85, 2));
    assert_eq!((out.packets[0].wire, out.packets[0].feedback, out.packets[0].flow), (80, true, FlowId(4)));
    assert!(arrive(&mut receiver, ms(3_009), 4, ms(3_009)).packets.is_empty(), "999 ms after it");
    assert!(arrive(&mut receiver, ms(3_010), 5, ms(3_010)).packets.is_empty(), "and then no loss");
    assert_eq!(arrive(&mut receiver, ms(3_010), 7, ms(3_010)).packets.len(), 1);
    assert_eq!(receiver.deadline(), regular, "the regular report comes when it would have come");
}

#[test]
fn a_timer_that_comes_too_soon_does_nothing() {
    let mut receiver = receiver(&regular());
    arrive(&mut receiver, ms(0), 0, ms(0));
    let (due, mut out) = (receiver.deadline(), Output::default());
    receiver.on_timer(Instant::from_nanos(due.nanos() - 1), &mut out);
    assert!(out.packets.is_empty() && receiver.deadline() == due && !receiver.is_reactive());
    let wide = RtcpConfig { report: Bytes::new(120), ..regular() };
    let mut receiver = self::receiver(&wide);
    arrive(&mut receiver, ms(0), 0, ms(0));
    receiver.on_timer(receiver.deadline(), &mut out);
    assert_eq!(out.packets[0].wire, 120);
}

#[test]
fn numbers_that_wrap_are_expected_once() {
    let mut receiver = receiver(&regular());
    for sequence in [u32::MAX - 1, u32::MAX, 0, 2] {
        arrive(&mut receiver, ms(0), sequence, ms(0));
    }
    let report = next(&mut receiver).expect("a report").1;
    assert_eq!((report.fraction_lost, report.lost, report.highest), (51, 1, 2), "1 of 5");
}
