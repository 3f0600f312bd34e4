//! The complete receiver, fed with packets.

use proptest::prelude::*;

use super::*;
use crate::rtcp::{Rtcp, SenderReport, compound, time};
use crate::rtp::{PayloadKind, Role, RtpHeader, Ssrc, control_body};
use crate::side_channel::Picture;
use crate::sizes;
use fairwave_endpoint::media::{Rated, StreamId, StreamQuality, Unrated};
use fairwave_endpoint::{Delivery, FlowContext, Output, Receiver};
use fairwave_media::encoder::StreamKind;
use fairwave_network::packet::{Body, Class, Ecn, FlowId, Packet};
use fairwave_units::random::Seed;
use fairwave_units::units::{Instant, Span};

const VIDEO: StreamId = StreamId { kind: StreamKind::Video, place: 0 };
const AUDIO: StreamId = StreamId { kind: StreamKind::Audio, place: 0 };
const CAMERA: Ssrc = Ssrc::new(StreamKind::Video, 0, Role::Media);

fn ms(millis: u64) -> Instant {
    Instant::ZERO + Span::from_millis(millis)
}

/// A receiver with its timers, and all of its output.
struct Rig {
    receiver: WebrtcReceiver,
    shared: Shared,
    sent: Vec<(Instant, Rtcp)>,
    delivered: Vec<Delivery>,
    transport: u16,
}

impl Rig {
    fn new(config: ReceiveConfig) -> Self {
        let shared = Shared::default();
        let setup = ReceiverSetup { expected: vec![AUDIO, VIDEO], ..ReceiverSetup::default() };
        let random = Seed(1).stream("receiver");
        let receiver = WebrtcReceiver::new(&config, setup, FlowContext::default(), shared.clone(), random);
        Rig { receiver, shared, sent: Vec::new(), delivered: Vec::new(), transport: 0 }
    }

    fn keep(&mut self, now: Instant, mut out: Output) {
        for packet in out.packets.drain(..) {
            assert!(packet.feedback);
            let message = self.shared.feedback.get(&packet.body).expect("a message");
            assert_eq!(packet.wire, sizes::control(message.len()));
            let parsed = compound::parse(&message).expect("RTCP");
            self.sent.extend(parsed.into_iter().map(|one| (now, one)));
        }
        self.delivered.append(&mut out.deliveries);
    }

    fn run_until(&mut self, end: Instant) {
        let mut calls = 0;
        while self.receiver.deadline() <= end {
            let (now, mut out) = (self.receiver.deadline(), Output::default());
            self.receiver.on_timer(now, &mut out);
            self.keep(now, out);
            calls += 1;
            assert!(calls < 1_000_000, "a timer that never rests");
        }
    }

    fn packet(&mut self, now: Instant, body: Body, payload: u16) {
        self.run_until(now);
        let packet = Packet {
            flow: FlowId(0),
            wire: sizes::VIDEO_HEADER + payload,
            class: Class::OtherUdp,
            feedback: false,
            ecn: Ecn::Ect1,
            dscp: fairwave_network::dscp::Dscp::DF,
            layer: 0,
            body,
        };
        let mut out = Output::default();
        self.receiver.on_packet(now, &packet, &mut out);
        self.keep(now, out);
    }

    fn rtp(&mut self, now: Instant, header: RtpHeader, created: Instant) {
        let header = RtpHeader { transport_sequence: self.transport, ..header };
        self.transport = self.transport.wrapping_add(1);
        self.packet(now, header.body(0, created), header.payload);
    }

    /// Feeds the `k`-th frame of a camera at 25 frames/s, after 40 ms in the network. It has three packets; those in
    /// `lost` do not arrive.
    fn frame(&mut self, k: u64, lost: &[u16]) {
        self.shared.side_channel.put_picture(CAMERA, k as u16, Picture { width: 640, height: 360, quality: 4.0 });
        for part in 0..3 {
            let header = camera(k, part);
            self.shared.side_channel.put_header(&header, ms(40 * k));
            if lost.contains(&part) {
                self.transport = self.transport.wrapping_add(1);
            } else {
                self.rtp(ms(40 * k + 40), header, ms(40 * k));
            }
        }
    }

    fn nacks(&self) -> Vec<(Instant, Vec<u16>)> {
        (self.sent.iter())
            .filter_map(|(now, one)| match one {
                Rtcp::Nack(nack) => Some((*now, nack.sequences.clone())),
                _ => None,
            })
            .collect()
    }

    fn plis(&self) -> Vec<Instant> {
        self.sent.iter().filter(|(_, one)| matches!(one, Rtcp::Pli(_))).map(|(now, _)| *now).collect()
    }

    fn settle(&mut self, end: Instant) -> &fairwave_endpoint::media::MediaReceived {
        self.run_until(end);
        self.receiver.settle_media(end);
        self.receiver.media().expect("a session")
    }
}

/// Returns a packet of frame `k`; sequence numbers start shortly before their wrap.
fn camera(k: u64, part: u16) -> RtpHeader {
    RtpHeader {
        ssrc: CAMERA,
        sequence: 65_530_u16.wrapping_add(3 * k as u16 + part),
        timestamp: (k as u32).wrapping_mul(3600).wrapping_sub(9000),
        last: part == 2,
        marker: part == 2,
        first: part == 0,
        key: k == 0,
        unit: k as u32,
        frame: k as u16,
        depends: u8::from(k > 0),
        payload: 1000,
        ..RtpHeader::default()
    }
}

fn video(media: &fairwave_endpoint::media::MediaReceived) -> fairwave_endpoint::media::VideoQuality {
    match media.streams.iter().find(|stream| stream.total.stream == VIDEO).expect("a camera").quality {
        StreamQuality::Video(video) => video,
        StreamQuality::Audio(_) => panic!("a camera"),
    }
}

#[test]
fn a_clean_session_is_seen_whole_and_sampled_each_second() {
    let mut rig = Rig::new(ReceiveConfig::default());
    for k in 0..250 {
        rig.frame(k, &[]);
    }
    rig.run_until(ms(10_100));
    assert_eq!((rig.plis().len(), rig.nacks().len(), rig.delivered.len()), (0, 0, 250));
    assert!(rig.delivered.iter().enumerate().all(|(k, unit)| unit.unit == k as u32 && unit.payload == 3000));
    let media = rig.settle(ms(10_100)).clone();
    let samples: Vec<_> = media.inbound.iter().filter(|sample| sample.stream == VIDEO).collect();
    assert_eq!(
        samples.iter().map(|sample| sample.at).collect::<Vec<_>>(),
        (1..=10).map(|s| ms(1000 * s)).collect::<Vec<_>>()
    );
    let total = media.streams[1].total;
    assert_eq!((total.packets_received, total.packets_lost, total.packets_received_with_ect1), (750, 0, 750));
    assert_eq!((total.bytes_received, total.frames_decoded, total.key_frames_decoded), (750_000, 250, 1));
    assert_eq!((total.freeze_count, total.frames_dropped, total.frame_width), (0, 0, 640));
    let quality = video(&media);
    let rating = quality.rating.value().expect("rated");
    assert!((rating.encoded - 4.0).abs() < 1e-9 && (rating.shown - 4.0).abs() < 1e-9);
    assert!((0.05..0.08).contains(&quality.capture_to_render.expect("shown")), "{:?}", quality.capture_to_render);
    assert_eq!(rig.sent.iter().filter(|(_, one)| matches!(one, Rtcp::Description(_))).count(), {
        rig.sent.iter().filter(|(_, one)| matches!(one, Rtcp::ReceiverReport(_))).count()
    });
    let reported: usize = (rig.sent.iter())
        .map(|(_, one)| if let Rtcp::TransportFeedback(one) = one { one.packets.iter().flatten().count() } else { 0 })
        .sum();
    assert_eq!(reported, 750, "each arrival is reported once");
}

#[test]
fn a_lost_packet_is_asked_for_at_once_and_a_retransmission_repairs_the_frame() {
    let mut rig = Rig::new(ReceiveConfig::default());
    for k in 0..10 {
        rig.frame(k, if k == 5 { &[1] } else { &[] });
        if k == 6 {
            let lost = camera(5, 1);
            let again = RtpHeader {
                ssrc: Ssrc::new(StreamKind::Video, 0, Role::Retransmission),
                kind: PayloadKind::Retransmission,
                base: lost.sequence,
                sequence: 9,
                ..lost
            };
            rig.rtp(ms(290), again, ms(200));
            rig.rtp(ms(291), again, ms(200));
        }
    }
    let media = rig.settle(ms(1000)).clone();
    assert_eq!(rig.nacks(), [(ms(240), vec![camera(5, 1).sequence])]);
    let total = media.streams[1].total;
    assert_eq!((total.packets_lost, total.retransmitted_packets_received, total.packets_duplicated), (1, 2, 1));
    assert_eq!((total.packets_received, total.frames_decoded, total.nack_count), (31, 10, 1));
    assert_eq!(rig.delivered.len(), 10);
}

#[test]
fn without_repair_a_key_frame_is_asked_for_after_three_seconds_and_the_freeze_counts() {
    let mut rig = Rig::new(ReceiveConfig { nack: false, ..ReceiveConfig::default() });
    for k in 0..200 {
        rig.frame(k, if k == 50 { &[1] } else { &[] });
    }
    let asked = rig.plis();
    assert_eq!(asked.len(), 1, "{asked:?}");
    assert!(asked[0] > ms(4950) && asked[0] < ms(5200), "{asked:?}");
    let quality = video(rig.settle(ms(8000)));
    assert!((0.7..0.8).contains(&quality.freeze_ratio), "stands from 2 s on: {}", quality.freeze_ratio);
    let rating = quality.rating.value().expect("rated");
    assert!(rating.shown < 2.0 && rating.encoded > 3.9);
}

#[test]
fn while_a_key_frame_is_waited_for_it_asks_each_200_ms_and_not_of_a_silent_stream() {
    let mut rig = Rig::new(ReceiveConfig { nack: false, ..ReceiveConfig::default() });
    for k in 1..30 {
        rig.frame(k, &[]);
    }
    rig.run_until(ms(30_000));
    let asked = rig.plis();
    assert_eq!(asked.first(), Some(&ms(80)), "the first frame is no key frame");
    assert_eq!(asked.get(1), Some(&ms(280)));
    assert!(asked.last().is_some_and(|last| *last < ms(1200 + 5000)), "{asked:?}");
}

#[test]
fn fec_restores_what_is_missing_and_it_stays_lost_in_the_count() {
    let mut rig = Rig::new(ReceiveConfig { nack: false, ..ReceiveConfig::default() });
    for k in 0..20 {
        rig.frame(k, if k % 4 == 2 { &[1] } else { &[] });
        let protection = RtpHeader {
            ssrc: Ssrc::new(StreamKind::Video, 0, Role::Protection),
            kind: PayloadKind::Protection,
            sequence: k as u16,
            base: camera(k, 0).sequence,
            mask: 0b111,
            payload: 1000,
            ..RtpHeader::default()
        };
        rig.rtp(ms(40 * k + 41), protection, ms(40 * k));
    }
    let media = rig.settle(ms(1000)).clone();
    let total = media.streams[1].total;
    assert_eq!((total.packets_lost, total.packets_recovered, total.frames_decoded), (5, 5, 20));
    assert_eq!((total.fec_packets_received, total.fec_packets_discarded, total.packets_received), (20, 15, 55));
}

#[test]
fn padding_is_apart_and_is_no_loss() {
    let mut rig = Rig::new(ReceiveConfig::default());
    rig.frame(0, &[]);
    for k in 0..5 {
        let padding = RtpHeader {
            ssrc: Ssrc::new(StreamKind::Video, 0, Role::Retransmission),
            kind: PayloadKind::Padding,
            sequence: k,
            payload: 224,
            ..RtpHeader::default()
        };
        rig.rtp(ms(60), padding, ms(60));
    }
    let total = rig.settle(ms(500)).streams[1].total;
    assert_eq!((total.padding_packets_received, total.packets_received, total.bytes_received), (5, 8, 3000));
    assert_eq!((total.packets_lost, total.retransmitted_packets_received), (0, 0));
}

#[test]
fn a_stream_of_which_nothing_comes_is_listed_and_not_rated() {
    let mut rig = Rig::new(ReceiveConfig::default());
    let media = rig.settle(ms(5000)).clone();
    assert_eq!(media.streams.len(), 2);
    assert_eq!(video(&media).rating, Rated::Not(Unrated::NothingReceived));
    rig.frame(0, &[]);
    let media = rig.settle(ms(6000)).clone();
    assert_eq!(media.worst().map(|stream| stream.total.stream), Some(AUDIO));
}

#[test]
fn receiver_reports_answer_the_latest_sender_report() {
    let mut rig = Rig::new(ReceiveConfig::default());
    rig.frame(0, &[]);
    let report = Rtcp::SenderReport(SenderReport {
        ssrc: CAMERA.number(),
        ntp: time::ntp(ms(30)),
        rtp: 0,
        packets: 3,
        octets: 3000,
        blocks: Vec::new(),
    });
    let mut bytes = Vec::new();
    compound::write(&[report], &mut bytes).expect("written");
    let body = control_body(&rig.shared.control, &bytes, 0, ms(30));
    rig.packet(ms(70), body, 0);
    rig.run_until(ms(2000));
    let (when, block) = (rig.sent.iter())
        .find_map(|(now, one)| match one {
            Rtcp::ReceiverReport(report) => report.blocks.first().map(|block| (*now, *block)),
            _ => None,
        })
        .expect("a report");
    assert_eq!(block.last, time::middle(time::ntp(ms(30))));
    let trip = time::round_trip(when + Span::from_millis(40), block.last, block.delay).expect("a round trip");
    assert!((trip.millis() - 80.0).abs() < 0.1, "{}", trip.millis());
}

#[test]
fn reports_of_rfc_8888_name_each_stream() {
    let mut rig = Rig::new(ReceiveConfig { feedback: FeedbackFormat::Rfc8888, ..ReceiveConfig::default() });
    for k in 0..50 {
        rig.frame(k, &[]);
    }
    rig.run_until(ms(3000));
    let arrivals: usize = (rig.sent.iter())
        .filter_map(|(_, one)| match one {
            Rtcp::CongestionFeedback(one) => {
                Some(one.streams.iter().map(|one| one.packets.iter().flatten().count()).sum::<usize>())
            }
            _ => None,
        })
        .sum();
    assert_eq!(arrivals, 150);
    assert!(!rig.sent.iter().any(|(_, one)| matches!(one, Rtcp::TransportFeedback(_))));
}

proptest! {
    #[test]
    fn hostile_packets_end_in_no_panic_and_counters_agree(
        packets in prop::collection::vec(
            (any::<(u8, u8, u16, u16, u32, u8, u16, u64)>(), any::<(bool, bool, bool, bool)>(), 0u64..200),
            0..120,
        ),
    ) {
        let mut rig = Rig::new(ReceiveConfig::default());
        let mut now = 0;
        for ((ssrc, kind, sequence, base, timestamp, depends, payload, mask), (marker, first, key, fec), gap) in packets {
            now += gap;
            let kinds = [PayloadKind::Media, PayloadKind::Retransmission, PayloadKind::Protection, PayloadKind::Padding, PayloadKind::Control];
            let header = RtpHeader {
                ssrc: Ssrc(ssrc & 0x17),
                kind: kinds[usize::from(kind) % 5],
                sequence: sequence % 64,
                base: base % 64,
                timestamp,
                depends: depends % 3,
                frame: sequence % 32,
                unit: u32::from(sequence % 32),
                payload: payload % 1200,
                mask,
                marker,
                last: marker,
                first,
                key,
                in_band_fec: fec,
                repeats: kind % 4,
                ..RtpHeader::default()
            };
            rig.rtp(ms(now), header, ms(now));
        }
        let media = rig.settle(ms(now + 10_000)).clone();
        for stream in &media.streams {
            let total = stream.total;
            prop_assert!(total.retransmitted_packets_received + total.padding_packets_received <= total.packets_received);
            prop_assert!(total.frames_decoded + total.frames_dropped <= total.frames_received);
            prop_assert!(total.key_frames_decoded <= total.frames_decoded);
            prop_assert!(total.silent_concealed_samples <= total.concealed_samples);
            prop_assert!(total.jitter.is_finite() && total.jitter_buffer_delay.is_finite());
        }
    }
}
