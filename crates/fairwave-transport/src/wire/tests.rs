//! Tests of every body in every format: round trips, byte-exact layouts from standards, and hostile input to the
//! decoder.

use proptest::prelude::*;

use super::*;
use fairwave_media::traffic::FrameType;
use fairwave_network::packet::{Repeat, SackBlock};
use fairwave_units::testing::fuzz_cases;
use fairwave_units::units::{Instant, Rate, Span};

const PROTOCOLS: [Protocol; 6] =
    [Protocol::Rtp, Protocol::Tfrc, Protocol::Dvrc, Protocol::Rap, Protocol::Segments, Protocol::Opaque];

pub(super) fn format(protocol: Protocol) -> Format {
    let media = Media { payload_type: 0, clock: 8000, ssrc: 7 };
    Format { protocol, media, names: ["alice".to_owned(), "bob".to_owned()] }
}

fn decoder(protocol: Protocol, feedback: bool) -> Decoder {
    let context = FlowContext { flow: FlowId(6), class: Class::OtherUdp, ..FlowContext::default() };
    Decoder::new(&context, format(protocol), feedback)
}

fn packet(wire: u16, feedback: bool, layer: u8, body: Body) -> Packet {
    Packet {
        flow: FlowId(6),
        wire,
        class: Class::OtherUdp,
        dscp: Default::default(),
        feedback,
        ecn: Ecn::Ect0,
        layer,
        body,
    }
}

fn encoded(packet: &Packet, protocol: Protocol) -> Vec<u8> {
    let mut out = vec![0xaa; 7];
    encode(packet, &format(protocol), &mut out);
    out
}

const CREATED: Instant = Instant::from_nanos(1_000_125_000);

fn voice(sequence: u32) -> Body {
    Body::Datagram { payload: 160, sequence, unit: 0x0102_0304, part: 0, parts: 1, created: CREATED }
}

#[test]
fn rfc_3550_section_5_1_a_datagram_is_rtp_with_its_descriptor_before_the_payload() {
    let bytes = encoded(&packet(200, false, 0, voice(0x0001_0203)), Protocol::Rtp);
    #[rustfmt::skip]
    let expected = [
        0x80, 0, 0x02, 0x03, // version 2, no padding, extension or sources; no marker, payload type 0; sequence number
        0, 0, 0x1f, 0x41, // timestamp: 8001 ticks of 125 µs
        0, 0, 0, 7, // SSRC
        0x10, 0, 0, 160, 1, 2, 3, 4, // descriptor: version, layer, payload, unit
        0, 0, 0, 0, 0x3b, 0x9c, 0xb2, 0x48, // created
    ];
    assert_eq!((&bytes[..28], bytes.len()), (&expected[..], 172));
    assert!(bytes[28..].iter().all(|byte| *byte == 0));
    // The receiver's packets have its source. The last packet of a cut unit has the marker.
    let Body::Datagram { payload, sequence, unit, created, .. } = voice(9) else { panic!("no datagram") };
    let last = Body::Datagram { payload, sequence, unit, part: 2, parts: 3, created };
    let bytes = encoded(&packet(200, true, 0, last), Protocol::Rtp);
    assert_eq!(
        (bytes[1], &bytes[8..12], bytes[12], &bytes[28..32]),
        (0x80, &[0x80, 0, 0, 7][..], 0x11, &[0, 2, 0, 3][..])
    );
}

fn repeating() -> Body {
    let repeats =
        [Repeat { back: 1, payload: 160, age: 20_000_000 }, Repeat { back: 2, payload: 150, age: 40_000_000 }];
    Body::Redundant { payload: 160, sequence: 5, unit: 9, created: CREATED, repeats }
}

#[test]
fn rfc_2198_section_3_repeats_stand_before_the_packets_own_unit_the_oldest_first() {
    let bytes = encoded(&packet(40 + 9 + 470, false, 0, repeating()), Protocol::Rtp);
    assert_eq!((bytes.len(), bytes[1]), (12 + 9 + 470, 97));
    #[rustfmt::skip]
    let expected = [
        0x80, 0x05, 0x00, 0x96, // another follows, payload type 0; 320 ticks earlier, 150 bytes
        0x80, 0x02, 0x80, 0xa0, // 160 ticks earlier, 160 bytes
        0, // the packet's own
        0x10, 0, 0, 160, 0, 0, 0, 9, 0, 0, 0, 0, 0x3b, 0x9c, 0xb2, 0x48, // descriptor
        0, 2, 0x02, 0x62, 0x5a, 0x00, 0, 1, 0x01, 0x31, 0x2d, 0x00, // how far back, and how much earlier
    ];
    assert_eq!(bytes[12..12 + expected.len()], expected);
}

#[test]
fn what_rtp_says_otherwise_than_this_flow_does_is_refused_by_name() {
    let plain = encoded(&packet(200, false, 0, voice(3)), Protocol::Rtp);
    let twice = encoded(&packet(519, false, 0, repeating()), Protocol::Rtp);
    let with = |bytes: &[u8], changes: &[(usize, u8)]| {
        let mut bytes = bytes.to_vec();
        changes.iter().for_each(|&(at, value)| bytes[at] = value);
        decoder(Protocol::Rtp, false).decode(&bytes, Ecn::NotEct).map(|packet| packet.layer)
    };
    let field = |field, found, expected| Err(WireError::Field { field, found, expected });
    assert_eq!(with(&plain, &[]), Ok(0));
    assert_eq!(with(&plain, &[(11, 8)]), field("SSRC", 8, 7));
    assert_eq!(with(&plain, &[(1, 8)]), field("payload type", 8, 0));
    assert_eq!(with(&plain, &[(7, 0x42)]), field("timestamp", 8002, 8001));
    assert_eq!(with(&plain, &[(1, 0x80)]), field("marker", 1, 0));
    assert_eq!(with(&plain, &[(0, 0x81)]), field("number of contributing sources", 1, 0));
    assert_eq!(with(&plain, &[(0, 0xa0), (171, 1)]), field("padding bit", 1, 0));
    assert_eq!(with(&plain, &[(0, 0x90), (14, 0), (15, 0)]), field("extension bit", 1, 0));
    assert!(matches!(with(&plain, &[(0, 0x40)]), Err(WireError::Foreign { protocol: "RTP", .. })));
    assert_eq!(with(&twice, &[(13, 0x09)]), field("timestamp offset of a block", 576, 320));
    assert_eq!(with(&twice, &[(20, 8)]), field("payload type of a block", 8, 0));
    assert_eq!(with(&twice, &[(20, 0x80)]), field("number of repeated blocks", 3, 2));
    assert_eq!(with(&twice, &[(37, 0), (38, 0)]), Err(WireError::Superfluous("repeat of the packet's own unit")));
    assert_eq!(
        decoder(Protocol::Rtp, false).decode(&twice[..12 + 9 + 309], Ecn::NotEct),
        Err(WireError::Short { have: 309, need: 310 }),
        "all that is repeated must be there"
    );
}

#[test]
fn sequence_numbers_of_rtp_go_on_past_sixteen_bits_and_what_is_refused_leaves_no_trace() {
    let mut decoder = decoder(Protocol::Rtp, false);
    let mut come = |sequence: u32, damage: bool| {
        let mut bytes = encoded(&packet(200, false, 0, voice(sequence)), Protocol::Rtp);
        bytes[11] ^= u8::from(damage);
        decoder.decode(&bytes, Ecn::NotEct).ok().and_then(|packet| packet.sequence())
    };
    assert_eq!(
        [65_000, 65_535, 65_536, 65_530].map(|number| come(number, false)),
        [65_000, 65_535, 65_536, 65_530].map(Some)
    );
    assert_eq!((come(98_000, true), come(65_537, false)), (None, Some(65_537)));
}

#[test]
fn a_datagram_has_the_packets_size_without_ip_and_udp_and_never_less_than_what_it_says() {
    let lengths = |body, feedback, protocol| {
        [0, 28, 60, 1040].map(|wire| encoded(&packet(wire, feedback, 0, body), protocol).len())
    };
    assert_eq!(lengths(voice(1), false, Protocol::Rtp), [28, 28, 32, 1012]);
    assert_eq!(lengths(voice(1), false, Protocol::Rap), [24, 24, 32, 1012]);
    let repeats = [Repeat { back: 1, payload: 100, age: 125_000 }, Repeat::default()];
    let body = Body::Redundant { payload: 10, sequence: 1, unit: 1, created: CREATED, repeats };
    assert_eq!(lengths(body, false, Protocol::Rtp), [117, 117, 117, 1012], "room for all that it repeats");
    let control = dvrc::wire::body(dvrc_control(), Instant::ZERO);
    assert_eq!(lengths(control, true, Protocol::Dvrc), [24; 4]);
    for (length, expected) in [(0, 40), (7, 40), (8, 40), (9, 41), (1200, 1232)] {
        let body = dvrc::wire::body(dvrc_data(length), CREATED);
        assert_eq!(lengths(body, false, Protocol::Dvrc), [expected; 4], "DVRC says how much follows");
    }
}

#[test]
fn what_says_something_is_told_from_fill() {
    let mut out = Vec::new();
    let heads = [
        (voice(1), Protocol::Rtp, 28),
        (voice(1), Protocol::Rap, 24),
        (repeating(), Protocol::Rtp, 49),
        (dvrc::wire::body(dvrc_data(300), CREATED), Protocol::Dvrc, 40),
        (Body::Forward { next: 1, sent: CREATED }, Protocol::Segments, 16),
        (Body::Opaque { header: [7; 32], sequence: 1, created: CREATED }, Protocol::Opaque, 48),
    ];
    for (body, protocol, expected) in heads {
        let head = encode(&packet(1000, false, 0, body), &format(protocol), &mut out);
        assert_eq!(head, expected, "{body:?}");
        assert!(out[head..].iter().all(|byte| *byte == 0) && out.len() > head);
    }
}

#[test]
fn layers_of_dvrc_are_not_advertised_within_a_flow_and_its_length_is_what_follows() {
    use fairwave_media::traffic::LayerRates;
    let layers = LayerRates::new(&[Rate::from_bits_per_second(64_000)]).expect("a layer");
    let advertisement = dvrc::wire::Header::Advertisement(layers);
    let mut decoder = decoder(Protocol::Dvrc, false);
    assert_eq!(
        decoder.decode(&advertisement.encode()[..advertisement.size()], Ecn::NotEct),
        Err(WireError::Advertisement)
    );
    let mut bytes = encoded(&packet(0, false, 0, dvrc::wire::body(dvrc_data(9), CREATED)), Protocol::Dvrc);
    assert!(decoder.decode(&bytes, Ecn::NotEct).is_ok());
    bytes.push(0);
    assert_eq!(decoder.decode(&bytes, Ecn::NotEct), Err(WireError::Length { claimed: 9, have: 10 }));
}

fn dvrc_data(length: u16) -> [u8; 32] {
    dvrc::wire::Data { frame_type: FrameType::P, layer: 0, length, part: 0, parts: 1, ..Default::default() }.encode()
}

fn dvrc_control() -> [u8; 32] {
    let mut header = [0; 32];
    header[..24].copy_from_slice(&dvrc::wire::Control { sequence: 8, ..Default::default() }.encode());
    header
}

fn moment() -> impl Strategy<Value = Instant> {
    any::<u64>().prop_map(Instant::from_nanos)
}

/// A span that 48 bits of nanoseconds hold.
fn span() -> impl Strategy<Value = Span> {
    (0u64..1 << 48).prop_map(Span::from_nanos)
}

/// A part's index, and the number of parts.
fn place() -> impl Strategy<Value = (u16, u16)> {
    prop_oneof![Just((0, 1)), (2u16.., any::<u16>()).prop_map(|(parts, place)| (place % parts, parts))]
}

fn datagram() -> impl Strategy<Value = Body> {
    (any::<u16>(), any::<u16>(), any::<u32>(), place(), moment()).prop_map(
        |(payload, sequence, unit, (part, parts), created)| Body::Datagram {
            payload,
            // The first number that a decoder sees is unchanged.
            sequence: u32::from(sequence),
            unit,
            part,
            parts,
            created,
        },
    )
}

fn redundant() -> impl Strategy<Value = Body> {
    // Up to `MOST` repeats of up to 1023 B and 16 383 ticks of 125 µs.
    let repeat =
        || (1u16.., 0u16..1024, 0u32..2_047_999_999).prop_map(|(back, payload, age)| Repeat { back, payload, age });
    let repeats = prop_oneof![
        Just([Repeat::default(); 2]),
        repeat().prop_map(|one| [one, Repeat::default()]),
        [repeat(), repeat()]
    ];
    (any::<u16>(), any::<u16>(), any::<u32>(), moment(), repeats).prop_map(
        |(payload, sequence, unit, created, repeats)| Body::Redundant {
            payload,
            sequence: u32::from(sequence),
            unit,
            created,
            repeats,
        },
    )
}

fn tfrc_body() -> impl Strategy<Value = Body> {
    prop_oneof![
        (any::<u16>(), place(), any::<u32>(), any::<u32>(), moment(), moment(), span()).prop_map(
            |(payload, (part, parts), sequence, unit, sent, created, round_trip)| Body::TfrcData {
                payload,
                part,
                parts,
                sequence,
                unit,
                sent,
                created,
                round_trip,
            }
        ),
        (moment(), span(), any::<u64>(), 0.0..=1.0f64).prop_map(|(echo, delay, rate, loss_event_rate)| {
            let receive_rate = Rate::from_bits_per_second(rate);
            Body::TfrcFeedback { echo, delay, receive_rate, loss_event_rate }
        }),
    ]
}

fn rap_body() -> impl Strategy<Value = Body> {
    prop_oneof![
        datagram(),
        (any::<u32>(), any::<Option<u32>>(), any::<u32>()).prop_map(|(current, missing, before)| Body::RapAck {
            current,
            missing,
            before
        }),
    ]
}

fn segment_body() -> impl Strategy<Value = Body> {
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    let block =
        || (0u32..u32::MAX, 1u32..).prop_map(|(first, more)| SackBlock { first, end: first.saturating_add(more) });
    let empty = SackBlock::default;
    let sack = prop_oneof![
        Just([empty(); 3]),
        block().prop_map(move |one| [one, empty(), empty()]),
        [block(), block()].prop_map(move |[one, two]| [one, two, empty()]),
        [block(), block(), block()],
    ];
    prop_oneof![
        (any::<u16>(), any::<u32>(), any::<u32>(), (any::<u16>(), any::<u16>()), flags, moment(), moment()).prop_map(
            |(payload, sequence, unit, (wave, wave_size), (retransmission, window_reduced, last), sent, created)| {
                Body::Segment {
                    payload,
                    sequence,
                    unit,
                    wave,
                    wave_size,
                    retransmission,
                    window_reduced,
                    last,
                    sent,
                    created,
                }
            }
        ),
        (any::<u32>(), moment()).prop_map(|(next, sent)| Body::Forward { next, sent }),
        (any::<u32>(), moment(), prop_oneof![Just(0.0f32), 0.0..1e12f32], 0u16..3, any::<bool>(), 0u32..3, sack)
            .prop_map(|(next, echo, rate, wave, congestion_echo, marked, sack)| Body::Ack {
                next,
                echo,
                rate,
                wave,
                congestion_echo,
                marked,
                sack
            }),
    ]
}

fn dvrc_body() -> impl Strategy<Value = Body> {
    prop_oneof![
        (0u16..2000, moment()).prop_map(|(length, created)| dvrc::wire::body(dvrc_data(length), created)),
        Just(dvrc::wire::body(dvrc_control(), Instant::ZERO)),
    ]
}

fn rtcp_body() -> impl Strategy<Value = Body> {
    // The range of reports: NTP seconds end in 2036, 66 years after 1970.
    let sent = (0u64..2_000_000_000_000_000_000).prop_map(Instant::from_nanos);
    let recent = (0u64..65_536_000_000_000).prop_map(Instant::from_nanos);
    prop_oneof![
        (sent, any::<u32>(), any::<u32>()).prop_map(|(sent, packets, octets)| Body::RtcpSenderReport {
            sent,
            packets,
            octets
        }),
        (
            any::<u8>(),
            any::<bool>(),
            0u32..1 << 23,
            any::<u32>(),
            0u64..1 << 40,
            prop::option::of(recent),
            0u64..1 << 45
        )
            .prop_map(|(fraction_lost, early, lost, highest, jitter, sender_report, delay)| {
                Body::RtcpReceiverReport {
                    fraction_lost,
                    early,
                    lost,
                    highest,
                    jitter: Span::from_nanos(jitter),
                    sender_report,
                    delay: if sender_report.is_some() { Span::from_nanos(delay) } else { Span::ZERO },
                }
            }),
    ]
}

/// Bodies that one protocol carries without loss of information.
fn exact() -> impl Strategy<Value = (Protocol, Body)> {
    prop_oneof![
        datagram().prop_map(|body| (Protocol::Rtp, body)),
        redundant().prop_map(|body| (Protocol::Rtp, body)),
        tfrc_body().prop_map(|body| (Protocol::Tfrc, body)),
        rap_body().prop_map(|body| (Protocol::Rap, body)),
        segment_body().prop_map(|body| (Protocol::Segments, body)),
        dvrc_body().prop_map(|body| (Protocol::Dvrc, body)),
        (any::<[u8; 32]>(), any::<u32>(), moment())
            .prop_map(|(header, sequence, created)| (Protocol::Opaque, Body::Opaque { header, sequence, created })),
    ]
}

/// The video layer of packets that carry one.
fn layer_of(body: &Body, layer: u8) -> u8 {
    match body {
        Body::Datagram { .. } | Body::Redundant { .. } | Body::TfrcData { .. } | Body::Segment { .. } => layer,
        _ => 0,
    }
}

/// Checks that decoding gives an error, or a packet that encodes to the same bytes except for the filling.
fn decodes_faithfully_or_says_why(protocol: Protocol, feedback: bool, bytes: &[u8]) -> Result<(), TestCaseError> {
    match decoder(protocol, feedback).decode(bytes, Ecn::NotEct) {
        Ok(packet) => {
            let mut again = Vec::new();
            let head = encode(&packet, &format(protocol), &mut again);
            prop_assert_eq!(again.len(), bytes.len());
            prop_assert_eq!(&again[..head], &bytes[..head]);
        }
        Err(error) => prop_assert!(!error.to_string().is_empty()),
    }
    Ok(())
}

proptest! {
    #![proptest_config(fuzz_cases(256))]

    #[test]
    fn every_packet_arrives_as_it_was_sent(
        (protocol, body) in exact(), wire in 0u16..3000, feedback: bool, layer: u8,
    ) {
        let sent = packet(wire, feedback, layer_of(&body, layer), body);
        let bytes = encoded(&sent, protocol);
        let arrived = decoder(protocol, feedback).decode(&bytes, Ecn::Ect0);
        let size = (bytes.len() + LOWER_HEADERS) as u16;
        prop_assert_eq!(arrived, Ok(Packet { wire: size, ..sent }));
        let more = matches!(body, Body::Opaque { .. } | Body::Redundant { .. });
        let least = encode(&Packet { wire: 0, ..sent }, &format(protocol), &mut Vec::new());
        prop_assert!(more || bytes.len() == least.max(usize::from(wire).saturating_sub(LOWER_HEADERS)));
    }

    #[test]
    fn every_report_arrives_as_exactly_as_its_fields_hold(body in rtcp_body(), wire in 0u16..400, feedback: bool) {
        let bytes = encoded(&packet(wire, feedback, 0, body), Protocol::Rtp);
        prop_assert!(bytes.len().is_multiple_of(4) && rtcp::wire::is_report(&bytes));
        let arrived = decoder(Protocol::Rtp, feedback).decode(&bytes, Ecn::NotEct);
        let arrived = arrived.map(|packet| packet.body);
        match (body, arrived) {
            (
                Body::RtcpReceiverReport { jitter, sender_report, delay, fraction_lost, early, lost, highest },
                Ok(Body::RtcpReceiverReport {
                    jitter: jitter_read, sender_report: echo_read, delay: delay_read,
                    fraction_lost: fraction_read, early: early_read, lost: lost_read, highest: highest_read,
                }),
            ) => {
                prop_assert_eq!((fraction_lost, early, lost, highest), (fraction_read, early_read, lost_read, highest_read));
                prop_assert!(jitter_read <= jitter && jitter.saturating_sub(jitter_read) < Span::from_micros(125));
                prop_assert!(delay_read <= delay && delay.saturating_sub(delay_read) < Span::from_nanos(15_260));
                match (sender_report, echo_read) {
                    (Some(sent), Some(read)) => prop_assert!(read <= sent && sent - read < Span::from_nanos(15_260)),
                    (sent, read) => prop_assert_eq!(sent, read),
                }
            }
            (body, arrived) => prop_assert_eq!(arrived, Ok(body)),
        }
    }

    #[test]
    fn fuzz_any_bytes_are_a_packet_or_an_error(
        protocol in prop::sample::select(PROTOCOLS.to_vec()), feedback: bool,
        bytes in prop::collection::vec(any::<u8>(), 0..80),
    ) {
        decodes_faithfully_or_says_why(protocol, feedback, &bytes)?;
    }

    #[test]
    fn fuzz_a_datagram_that_was_damaged_is_a_packet_or_an_error(
        (protocol, body) in prop_oneof![3 => exact(), 1 => rtcp_body().prop_map(|body| (Protocol::Rtp, body))],
        wire in 0u16..200, feedback: bool,
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let mut bytes = encoded(&packet(wire, feedback, 0, body), protocol);
        for (at, bits) in flips {
            let at = at.index(bytes.len());
            bytes[at] ^= bits;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        decodes_faithfully_or_says_why(protocol, feedback, &bytes)?;
    }
}
