//! Fuzz tests of both endpoints of every transport with packets that no correct peer sends: any body, any number
//! in any field, at any time. Endpoints may ignore such packets; they must neither panic nor answer without end.
//!
//! These tests vary the fields of decoded packets. Decoders have separate fuzz tests ([`crate::wire`]).
//!
//! `make test` runs few cases, `make fuzz` many (`FAIRWAVE_FUZZ_CASES`).

use proptest::prelude::*;

use super::*;
use fairwave_endpoint::{FlowContext, Output, Receiver, Sender};
use fairwave_media::encoder::Media;
use fairwave_media::traffic::{FrameType, LayerRates, Unit};
use fairwave_network::packet::{Body, Class, Ecn, FlowId, Packet, Repeat, SackBlock};
use fairwave_units::random::Seed;
use fairwave_units::testing::fuzz_cases;
use fairwave_units::units::{Instant, Rate, Span};

/// Plausible numbers, and the ends of the range.
fn number() -> impl Strategy<Value = u32> {
    prop_oneof![6 => 0u32..300, 1 => any::<u32>(), 1 => Just(u32::MAX), 1 => Just(u32::MAX / 2)]
}

fn moment() -> impl Strategy<Value = Instant> {
    prop_oneof![6 => 0u64..10_000_000_000, 1 => any::<u64>()].prop_map(Instant::from_nanos)
}

fn span() -> impl Strategy<Value = Span> {
    prop_oneof![6 => 0u64..1_000_000_000, 1 => any::<u64>()].prop_map(Span::from_nanos)
}

fn data() -> impl Strategy<Value = Body> {
    prop_oneof![
        (any::<u16>(), number(), number(), 0u16..6, 0u16..6, moment()).prop_map(
            |(payload, sequence, unit, part, parts, created)| Body::Datagram {
                payload,
                sequence,
                unit,
                part,
                parts,
                created
            }
        ),
        (
            any::<u16>(),
            number(),
            number(),
            (0u16..40, 0u16..10),
            (any::<bool>(), any::<bool>()),
            any::<bool>(),
            moment(),
            moment()
        )
            .prop_map(
                |(
                    payload,
                    sequence,
                    unit,
                    (wave, wave_size),
                    (retransmission, window_reduced),
                    last,
                    sent,
                    created,
                )| {
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
        (
            any::<u16>(),
            number(),
            number(),
            moment(),
            [(0u16..4, any::<u16>(), any::<u32>()), (0u16..4, any::<u16>(), any::<u32>())]
        )
            .prop_map(|(payload, sequence, unit, created, repeats)| Body::Redundant {
                payload,
                sequence,
                unit,
                created,
                repeats: repeats.map(|(back, payload, age)| Repeat { back, payload, age })
            }),
        (number(), moment()).prop_map(|(next, sent)| Body::Forward { next, sent }),
        (any::<u16>(), (0u16..6, 0u16..6), number(), number(), moment(), moment(), span()).prop_map(
            |(payload, (part, parts), sequence, unit, sent, created, round_trip)| Body::TfrcData {
                payload,
                part,
                parts,
                sequence,
                unit,
                sent,
                created,
                round_trip
            }
        ),
        (moment(), number(), number()).prop_map(|(sent, packets, octets)| Body::RtcpSenderReport {
            sent,
            packets,
            octets
        }),
        dvrc(),
    ]
}

fn feedback() -> impl Strategy<Value = Body> {
    let block = || (number(), number()).prop_map(|(first, end)| SackBlock { first, end });
    prop_oneof![
        (number(), moment(), any::<f32>(), any::<u16>(), (any::<bool>(), number()), [block(), block(), block()])
            .prop_map(|(next, echo, rate, wave, (congestion_echo, marked), sack)| Body::Ack {
                next,
                echo,
                rate,
                wave,
                congestion_echo,
                marked,
                sack
            }),
        (number(), prop::option::of(number()), number()).prop_map(|(current, missing, before)| Body::RapAck {
            current,
            missing,
            before
        }),
        (moment(), span(), any::<u64>(), any::<f64>()).prop_map(|(echo, delay, rate, loss_event_rate)| {
            Body::TfrcFeedback { echo, delay, receive_rate: Rate::from_bits_per_second(rate), loss_event_rate }
        }),
        (any::<u8>(), any::<bool>(), number(), number(), span(), prop::option::of(moment()), span()).prop_map(
            |(fraction_lost, early, lost, highest, jitter, sender_report, delay)| Body::RtcpReceiverReport {
                fraction_lost,
                early,
                lost,
                highest,
                jitter,
                sender_report,
                delay
            }
        ),
        dvrc(),
    ]
}

fn dvrc() -> impl Strategy<Value = Body> {
    (any::<[u8; 32]>(), moment()).prop_map(|(header, created)| dvrc::wire::body(header, created))
}

/// An event at an endpoint.
#[derive(Clone, Debug)]
enum EndpointEvent {
    /// A packet arrives.
    Packet(Body, u16, u8),
    /// The application makes a unit.
    Unit(u32, u8),
    /// The endpoint's timer fires, if armed, at most this much late.
    Timer(Span),
    /// Time passes.
    Wait(Span),
    /// The peer's last packet arrives.
    Forward,
}

fn happening(body: impl Strategy<Value = Body> + 'static) -> impl Strategy<Value = EndpointEvent> {
    prop_oneof![
        6 => (body, any::<u16>(), 0u8..9).prop_map(|(body, wire, layer)| EndpointEvent::Packet(body, wire, layer)),
        2 => (prop_oneof![1u32..3000, 0..=u32::MAX], 0u8..9).prop_map(|(payload, layer)| EndpointEvent::Unit(payload, layer)),
        2 => (0u64..200_000_000).prop_map(|nanos| EndpointEvent::Timer(Span::from_nanos(nanos))),
        1 => (0u64..3_000_000_000).prop_map(|nanos| EndpointEvent::Wait(Span::from_nanos(nanos))),
        4 => Just(EndpointEvent::Forward),
    ]
}

/// TCPs with features that are off by default.
const MODERN: [&str; 4] = [
    r#"{"name":"tcp/sack","preset":"linux","ecn":"classic","pacing":true}"#,
    r#"{"name":"tcp/sack","ecn":"accurate","prr":true,"delayed-ack":true,"quick-acks":3}"#,
    r#"{"name":"tcp/newreno","recovery":"rack","ecn":"scalable","limited-transmit":false}"#,
    r#"{"name":"tcp/vegas","ecn":"classic","pacing":true,"deadline":"300 ms"}"#,
];

/// More than any endpoint may send in one call: a window of segments, or a unit of 4 GiB in datagrams.
const MOST_ANSWERS: usize = 5_000_000;

proptest! {
    #![proptest_config(fuzz_cases(200))]

    #[test]
    fn fuzz_both_endpoints_of_every_transport(
        which in 0..TransportConfig::BUILT_IN.len() + MODERN.len(),
        layered in any::<bool>(),
        to_sender in prop::collection::vec(happening(feedback()), 1..60),
        to_receiver in prop::collection::vec(happening(data()), 1..60),
    ) {
        let config: TransportConfig = match which.checked_sub(TransportConfig::BUILT_IN.len()) {
            Some(modern) => serde_json::from_str(MODERN[modern]).expect("a TCP"),
            None => serde_json::from_value(TransportConfig::shortest_tables()[which].clone()).expect("a transport"),
        };
        let rates = [Rate::from_bits_per_second(100_000); 3];
        let layers = if layered { LayerRates::new(&rates).expect("layers") } else { LayerRates::default() };
        let context = FlowContext { layers, ..FlowContext::default() };
        let stream = Seed(1).stream("fuzz");
        let (mut sender, mut receiver) = match config.endpoints(context, stream.clone()) {
            Ok(ends) => ends,
            Err(_) => config.media_endpoints(context, &Media::default(), stream).expect("endpoints of media"),
        };
        let (mut now, mut out, mut answer) = (Instant::ZERO, Output::default(), Output::default());
        let (mut from_sender, mut from_receiver) = (Vec::new(), Vec::new());
        sender.on_start(now, &mut out);
        let mut unit = 0;
        let mut receiving = to_receiver.into_iter();
        for happening in to_sender {
            for (at_sender, happening) in [(true, Some(happening)), (false, receiving.next())] {
                let Some(happening) = happening else { continue };
                let packet = |body: Body, wire, layer| Packet {
                    flow: FlowId(0), wire, class: Class::OtherUdp, dscp: Default::default(), feedback: at_sender, ecn: [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce][usize::from(wire % 4)], layer, body
                };
                match happening {
                    EndpointEvent::Packet(body, wire, layer) if at_sender => sender.on_packet(now, &packet(body, wire, layer), &mut out),
                    EndpointEvent::Packet(body, wire, layer) => receiver.on_packet(now, &packet(body, wire, layer), &mut answer),
                    EndpointEvent::Unit(payload, layer) if at_sender => {
                        let made = Unit { id: unit, payload: payload.min(1_000_000), created: now, layer, frame_type: FrameType::I };
                        unit += 1;
                        sender.on_unit(now, made, &mut out);
                    }
                    EndpointEvent::Unit(..) => {}
                    EndpointEvent::Wait(span) => now += span,
                    EndpointEvent::Timer(late) if at_sender => {
                        if sender.deadline() < Instant::NEVER {
                            now = now.max(sender.deadline()) + late;
                            sender.on_timer(now, &mut out);
                        }
                    }
                    EndpointEvent::Timer(late) => {
                        if receiver.deadline() < Instant::NEVER {
                            now = now.max(receiver.deadline()) + late;
                            receiver.on_timer(now, &mut answer);
                        }
                    }
                    EndpointEvent::Forward if at_sender => {
                        if let Some(packet) = from_receiver.pop() {
                            sender.on_packet(now, &packet, &mut out);
                        }
                    }
                    EndpointEvent::Forward => {
                        if let Some(packet) = from_sender.pop() {
                            receiver.on_packet(now, &packet, &mut answer);
                        }
                    }
                }
                prop_assert!(out.packets.len() < MOST_ANSWERS && answer.packets.len() < MOST_ANSWERS);
                from_sender.append(&mut out.packets);
                from_receiver.append(&mut answer.packets);
                answer.deliveries.clear();
                answer.notices.clear();
                // Time is finite: no deadline is in its second half.
                prop_assume!(now.nanos() < u64::MAX / 2);
            }
        }
        sender.on_stop(now);
        sender.settle_media(now);
        receiver.settle_media(now);
        let _ = (sender.view(), receiver.view());
    }
}
