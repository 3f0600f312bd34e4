use proptest::collection::vec;
use proptest::prelude::*;

use super::compound::{is_compound, parse, write};
use super::transport_feedback::REFERENCE;
use super::*;
use fairwave_network::packet::Ecn;
use fairwave_units::units::{Instant, Span};

fn bytes(packets: &[Rtcp]) -> Vec<u8> {
    let mut out = vec![9; 3];
    write(packets, &mut out).expect("writes");
    out
}

fn back(packet: Rtcp) {
    let bytes = bytes(std::slice::from_ref(&packet));
    assert_eq!(bytes.len() % 4, 0);
    assert_eq!(parse(&bytes).expect("reads"), [packet]);
}

fn ms(millis: u64) -> Instant {
    Instant::ZERO + Span::from_millis(millis)
}

fn block(lost: i32) -> ReportBlock {
    ReportBlock { ssrc: 16, fraction_lost: 64, lost, highest: 0x1_0005, jitter: 12, last: 77, delay: 65_536 }
}

#[test]
fn reports_come_back_with_negative_losses_and_at_most_31_blocks() {
    for lost in [-0x80_0000, -1, 0, 0x7f_ffff] {
        back(Rtcp::ReceiverReport(ReceiverReport { ssrc: 255, blocks: vec![block(lost)] }));
    }
    let beyond = bytes(&[Rtcp::ReceiverReport(ReceiverReport { ssrc: 255, blocks: vec![block(i32::MAX)] })]);
    assert!(matches!(&parse(&beyond).expect("reads")[..], [Rtcp::ReceiverReport(r)] if r.blocks[0].lost == 0x7f_ffff));
    let full = SenderReport { ssrc: 0, ntp: u64::MAX, rtp: 1, packets: 2, octets: 3, blocks: vec![block(5); 31] };
    back(Rtcp::SenderReport(full.clone()));
    let over = SenderReport { blocks: vec![block(5); 32], ..full };
    assert!(write(&[Rtcp::SenderReport(over)], &mut Vec::new()).is_err());
}

#[test]
fn a_round_trip_is_what_is_left_of_a_report_s_times() {
    let (sent, arrived, answered) = (ms(1_000), ms(1_060), ms(1_620));
    let last = time::middle(time::ntp(sent));
    let delay = time::to_65536ths(answered.span_since(ms(1_040)));
    let round_trip = time::round_trip(ms(1_660), last, delay).expect("a round trip");
    assert!(round_trip.millis() > 79.9 && round_trip.millis() < 80.1, "{round_trip}");
    assert_eq!(time::round_trip(arrived, 0, 0), None, "it answers no sender report");
    assert_eq!(time::round_trip(arrived, last, time::to_65536ths(Span::from_secs(9))), None, "times that contradict");
    assert_eq!(time::instant(time::ntp(Instant::from_nanos(1_234_567_891))), Some(Instant::from_nanos(1_234_567_891)));
    assert_eq!(time::instant(0), None);
}

#[test]
fn a_compound_message_begins_with_a_report_and_names_its_source() {
    let report = Rtcp::ReceiverReport(ReceiverReport { ssrc: 255, blocks: Vec::new() });
    let name = Rtcp::Description(Description { ssrc: 255, name: "callee".to_owned() });
    let pli = Rtcp::Pli(Pli { sender: 255, media: 16 });
    let compound = [report.clone(), name.clone(), pli.clone()];
    assert_eq!(parse(&bytes(&compound)).expect("reads"), compound);
    assert!(is_compound(&compound));
    assert!(!is_compound(&[report, pli.clone()]), "no name");
    assert!(!is_compound(&[pli, name.clone()]), "RFC 5506 allows it");
    back(name);
    let long = Rtcp::Description(Description { ssrc: 1, name: "n".repeat(256) });
    assert!(write(&[long], &mut Vec::new()).is_err());
}

#[test]
fn a_nack_has_a_number_and_a_mask_through_the_wrap() {
    let nack = Nack { sender: 255, media: 16, sequences: vec![65_530, 65_531, 10, 11, 40] };
    let bytes = bytes(&[Rtcp::Nack(nack.clone())]);
    assert_eq!(&bytes[..4], [0x81, 205, 0, 4 + 1], "11 is 17 behind the first and needs an item of its own");
    assert_eq!(&bytes[12..16], [0xff, 0xfa, 0x80, 0x01], "bit 0 is the next, bit 15 the sixteenth (RFC 4585 §6.2.1)");
    back(Rtcp::Nack(nack));
}

#[test]
fn key_frame_requests_come_back() {
    assert_eq!(bytes(&[Rtcp::Pli(Pli { sender: 1, media: 2 })]), [0x81, 206, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2]);
    let entries = vec![FirEntry { ssrc: 16, command: 3 }, FirEntry { ssrc: 20, command: 255 }];
    let fir = Rtcp::Fir(Fir { sender: 255, entries });
    assert_eq!(&bytes(std::slice::from_ref(&fir))[..12], [0x84, 206, 0, 6, 0, 0, 0, 255, 0, 0, 0, 0]);
    back(fir);
}

fn transport(packets: Vec<Option<i16>>) -> TransportFeedback {
    TransportFeedback { sender: 255, media: 0, base: 65_530, reference: 0xab_cdef, count: 200, packets }
}

/// Returns the chunks for these packets.
fn chunks(packets: Vec<Option<i16>>, number: usize) -> Vec<u16> {
    let bytes = bytes(&[Rtcp::TransportFeedback(transport(packets))]);
    bytes[20..20 + 2 * number].chunks(2).map(|two| u16::from_be_bytes([two[0], two[1]])).collect()
}

#[test]
fn status_chunks_are_runs_and_vectors_as_the_draft_lays_them_out() {
    let one = bytes(&[Rtcp::TransportFeedback(transport(vec![Some(1)]))]);
    assert_eq!(one[..20], [0x8f, 205, 0, 5, 0, 0, 0, 255, 0, 0, 0, 0, 0xff, 0xfa, 0, 1, 0xab, 0xcd, 0xef, 200]);
    assert_eq!(one[20..], [0x20, 1, 1, 0], "a run of one small delta, filled up to a word");
    assert_eq!(chunks(vec![None; 221], 1), [221], "the draft's example: a run of 221 that are missing");
    assert_eq!(chunks(vec![Some(256); 24], 1), [0x4000 | 24]);
    let mut mixed = vec![Some(1), None, None, Some(255)];
    mixed.extend([None; 10]);
    assert_eq!(chunks(mixed.clone(), 1), [0x8000 | 1 << 13 | 1 << 10], "14 of one bit");
    mixed[1] = Some(-1);
    assert_eq!(chunks(mixed, 2)[0], 0xc000 | 1 << 12 | 2 << 10 | 1 << 6, "7 of two bits");
}

#[test]
fn arrival_times_come_back_within_half_a_tick_through_the_wrap_of_the_reference() {
    let wrap = REFERENCE.nanos() << 24;
    for begin in [5_000_000, wrap - 40_000_000, 3 * wrap + 17] {
        let at = |millis: u64| Some(Instant::from_nanos(begin + millis * 1_000_000 + 120_000));
        let arrivals = [None, at(0), at(63), None, at(140), at(139), at(5_000)];
        let (message, took) = TransportFeedback::from_arrivals(255, 0, 7, 0, &arrivals, 100).expect("a message");
        assert_eq!(took, arrivals.len());
        assert!(message.packets[5].is_some_and(|delta| delta < 0), "reordered");
        let near = Instant::from_nanos(begin + 9_000_000_000);
        for (said, was) in message.arrivals(near).zip(arrivals) {
            assert_eq!(said.is_some(), was.is_some());
            let error = said.zip(was).map_or(0, |(said, was)| said.nanos().abs_diff(was.nanos()));
            assert!(error <= 125_000, "{error} ns");
        }
        back(Rtcp::TransportFeedback(message));
    }
}

#[test]
fn a_message_ends_where_a_delta_does_not_fit_or_the_most_is_reached() {
    let arrivals = [Some(ms(0)), Some(ms(8_000)), Some(ms(17_000))];
    let took = |arrivals: &[Option<Instant>], most| {
        TransportFeedback::from_arrivals(1, 0, 0, 0, arrivals, most).map(|(_, took)| took)
    };
    assert_eq!(took(&arrivals, 100), Some(2), "9 s do not fit 16 bits of 250 µs");
    assert_eq!(took(&arrivals, 1), Some(1));
    assert_eq!(took(&[None, None], 100), None);
}

#[test]
fn congestion_feedback_carries_marks_and_offsets() {
    let arrived = |millis, ecn| Some(ArrivalReport::new(ms(10_000), ms(millis), ecn));
    let marks = vec![arrived(10_000, Ecn::NotEct), None, arrived(9_500, Ecn::Ce), arrived(9_000, Ecn::Ect1)];
    let streams = vec![
        StreamReport { ssrc: 16, base: 65_535, packets: marks },
        StreamReport { ssrc: 0, base: 3, packets: vec![arrived(0, Ecn::Ect0)] },
        StreamReport { ssrc: 17, base: 0, packets: Vec::new() },
    ];
    let feedback = CongestionFeedback { sender: 255, streams, timestamp: 0x0102_0304 };
    let bytes = bytes(&[Rtcp::CongestionFeedback(feedback.clone())]);
    assert_eq!(bytes[..20], [0x8b, 205, 0, 11, 0, 0, 0, 255, 0, 0, 0, 16, 0xff, 0xff, 0, 4, 0x80, 0, 0, 0]);
    assert_eq!(bytes[20..24], [0xe2, 0, 0xa4, 0], "CE 512/1024 s before, ECT(1) 1 s before (RFC 8888 §3.1)");
    assert_eq!(
        bytes[28..36],
        [0, 3, 0, 1, 0xdf, 0xfe, 0, 0],
        "longer than 8 s ago is 0x1FFE; odd numbers are filled up"
    );
    assert_eq!(feedback.streams[1].packets[0].and_then(ArrivalReport::age), None);
    assert_eq!(feedback.streams[0].packets[3].and_then(ArrivalReport::age), Some(Span::from_secs(1)));
    back(Rtcp::CongestionFeedback(feedback));
    assert!(write(&[Rtcp::CongestionFeedback(CongestionFeedback::default())], &mut Vec::new()).is_err());
}

#[test]
fn padding_and_unknown_packets_are_passed_over_and_damaged_ones_refused() {
    let mut padded = bytes(&[Rtcp::Nack(Nack { sender: 1, media: 2, sequences: vec![5] })]);
    padded[0] |= 0x20;
    padded[3] += 1;
    padded.extend([0, 0, 0, 4]);
    assert!(matches!(&parse(&padded).expect("reads")[..], [Rtcp::Nack(nack)] if nack.sequences == [5]));
    let unknown = [0x80, 207, 0, 1, 0, 0, 0, 0];
    assert_eq!(parse(&unknown).expect("reads"), []);
    let refused = |bytes: &[u8]| parse(bytes).expect_err("refused").to_string();
    assert!(refused(&[]).contains("0 bytes"));
    assert!(refused(&[0x40, 201, 0, 0]).contains("version 1"));
    assert!(refused(&[0x81, 205, 0, 9, 0, 0]).contains("2 bytes"));
    padded.extend(unknown);
    assert!(refused(&padded).contains("not the last"));
    let mut reserved = bytes(&[Rtcp::TransportFeedback(transport(vec![Some(1)]))]);
    reserved[20] = 0x60;
    assert!(refused(&reserved).contains("reserved"));
    reserved[20..22].copy_from_slice(&[0, 0]);
    assert!(refused(&reserved).contains("no packets"));
}

/// Sorts the sequence numbers of NACKs and removes duplicates, because a NACK may list them in any order and twice.
fn in_order(mut packets: Vec<Rtcp>) -> Vec<Rtcp> {
    for packet in &mut packets {
        if let Rtcp::Nack(nack) = packet {
            nack.sequences.sort_unstable();
            nack.sequences.dedup();
        }
    }
    packets
}

proptest! {
    #[test]
    fn transport_feedback_comes_back(
        packets in vec(proptest::option::weighted(0.8, prop_oneof![4 => 0i16..256, 1 => any::<i16>()]), 0..400),
    ) {
        back(Rtcp::TransportFeedback(transport(packets)));
    }

    #[test]
    fn nacks_come_back(first: u16, gaps in vec(1u16..40, 1..60)) {
        let mut next = first;
        let sequences = gaps.iter().map(|gap| { next = next.wrapping_add(*gap); next }).collect();
        back(Rtcp::Nack(Nack { sender: 1, media: 2, sequences }));
    }

    #[test]
    fn fuzz_rtcp_of_any_bytes(message in vec(any::<u8>(), 0..200)) {
        let _ = parse(&message);
    }

    #[test]
    fn fuzz_rtcp_of_any_body(
        kind in 200u8..=207, format in prop_oneof![Just(1u8), Just(4), Just(11), Just(15), 0u8..64], body in vec(any::<[u8; 4]>(), 0..60),
    ) {
        let mut message = vec![0x80 | format, kind, 0, body.len() as u8];
        message.extend(body.into_iter().flatten());
        if let Ok(packets) = parse(&message) {
            // Parsed packets can be written and read again.
            let mut again = Vec::new();
            if !packets.is_empty() && write(&packets, &mut again).is_ok() {
                prop_assert_eq!(in_order(parse(&again).expect("own bytes")), in_order(packets));
            }
        }
    }
}
