//! WebRTC calls from the first unit to the last statistic. Both real ends run over paths that lose, repeat,
//! reorder and delay.

use std::cell::Cell;
use std::collections::VecDeque;
use std::rc::Rc;

use proptest::prelude::*;

use crate::TransportLaw;
use crate::webrtc::WebrtcConfig;
use fairwave_endpoint::media::{
    AudioQuality, InboundSample, MediaReceived, MediaSent, OutboundSample, StreamQuality, StreamSummary, VideoQuality,
};
use fairwave_endpoint::test_path::{PathFate, Wire};
use fairwave_endpoint::{FlowContext, Output, Receiver, ReceiverView, Sender};
use fairwave_media::encoder::{Media, StreamKind};
use fairwave_media::traffic::{FrameType, Unit};
use fairwave_network::packet::{Class, Ecn, FlowId, Packet};
use fairwave_rtc::receive::{ReceiverSetup, Shared, WebrtcReceiver};
use fairwave_rtc::rtcp::{
    ArrivalReport, CongestionFeedback, Fir, FirEntry, Nack, Pli, ReceiverReport, ReportBlock, Rtcp, SenderReport,
    StreamReport, TransportFeedback, compound,
};
use fairwave_rtc::rtp::{PayloadKind, Role, RtpHeader, Ssrc, control_body};
use fairwave_rtc::send::WebrtcSender;
use fairwave_units::random::Seed;
use fairwave_units::testing::fuzz_cases;
use fairwave_units::units::{Instant, Rate, Span};

fn ms(millis: u64) -> Instant {
    Instant::ZERO + Span::from_millis(millis)
}

/// A receiver whose messages cross a bad network.
struct Unruly {
    inner: WebrtcReceiver,
    /// Number of copies of each message.
    copies: usize,
    /// Extra delay of each third message.
    late: Span,
    number: u64,
    held: VecDeque<(Instant, Packet)>,
}

impl Unruly {
    fn spoil(&mut self, now: Instant, out: &mut Output) {
        if self.copies == 1 && self.late == Span::ZERO {
            return;
        }
        for packet in std::mem::take(&mut out.packets) {
            self.number += 1;
            if self.number.is_multiple_of(3) && self.late > Span::ZERO {
                self.held.push_back((now + self.late, packet));
            } else {
                out.packets.extend(std::iter::repeat_n(packet, self.copies));
            }
        }
    }
}

impl Receiver for Unruly {
    fn on_packet(&mut self, now: Instant, packet: &Packet, out: &mut Output) {
        self.inner.on_packet(now, packet, out);
        self.spoil(now, out);
    }

    fn on_timer(&mut self, now: Instant, out: &mut Output) {
        if self.inner.deadline() <= now {
            self.inner.on_timer(now, out);
            self.spoil(now, out);
        }
        while self.held.front().is_some_and(|(when, _)| *when <= now) {
            out.packets.extend(self.held.pop_front().map(|(_, packet)| packet));
        }
    }

    fn deadline(&self) -> Instant {
        self.inner.deadline().min(self.held.front().map_or(Instant::NEVER, |(when, _)| *when))
    }

    fn is_reactive(&self) -> bool {
        false
    }

    fn view(&self) -> ReceiverView {
        self.inner.view()
    }
}

type Call = Wire<WebrtcSender, Unruly>;

/// A call of this length over 50 ms each way.
fn call(seconds: u64, table: &str, media: &str) -> Call {
    let config: WebrtcConfig = serde_json::from_str(table).expect("a table");
    let media: Media = serde_json::from_str(media).expect("media");
    let stream = Seed(3).stream("flow");
    let (sender, inner) = config.media_endpoints(FlowContext::default(), &media, stream).expect("endpoints");
    let receiver = Unruly { inner, copies: 1, late: Span::ZERO, number: 0, held: VecDeque::new() };
    let mut wire = Wire::new(sender, receiver, Span::from_millis(50));
    let mut times: Vec<(u64, StreamKind)> = Vec::new();
    if let Some(audio) = media.audio {
        let every = audio.frame.nanos() / 1000;
        times.extend((0..seconds * 1_000_000 / every).map(|frame| (frame * every, StreamKind::Audio)));
    }
    for (kind, video) in [(StreamKind::Video, media.video), (StreamKind::Screen, media.screen)] {
        if video.is_some() {
            times.extend((0..seconds * 30).map(|frame| (frame * 1_000_000 / 30, kind)));
        }
    }
    times.sort();
    wire.units = (0..)
        .zip(times)
        .map(|(id, (micros, kind))| Unit {
            id,
            payload: 0,
            created: Instant::ZERO + Span::from_micros(micros),
            layer: kind as u8,
            frame_type: FrameType::None,
        })
        .collect();
    wire
}

/// Adds a bottleneck of this rate with room for `room` packets.
fn over(mut wire: Call, kilobits: u64, room: usize) -> Call {
    wire.bottleneck = Some(Rate::from_bits_per_second(kilobits * 1000));
    wire.buffer = room;
    wire
}

fn header(packet: &Packet) -> Option<RtpHeader> {
    RtpHeader::read(&packet.body).map(|(header, _)| header).filter(|header| header.kind != PayloadKind::Control)
}

/// Loses the packets that `which` selects. Returns a counter of the lost RTP packets.
fn lose(wire: &mut Call, mut which: impl FnMut(u64, Instant, &RtpHeader) -> bool + 'static) -> Rc<Cell<u64>> {
    let lost = Rc::new(Cell::new(0));
    let count = lost.clone();
    wire.fate = Box::new(move |number, now, packet| match header(packet) {
        Some(header) if which(number, now, &header) => {
            count.set(count.get() + 1);
            PathFate::Lose
        }
        _ => PathFate::Pass,
    });
    lost
}

struct Shown {
    sent: MediaSent,
    received: MediaReceived,
}

impl Shown {
    fn out(&self, place: usize) -> OutboundSample {
        self.sent.totals[place]
    }

    fn inbound(&self, place: usize) -> InboundSample {
        self.received.streams[place].total
    }

    fn audio(&self, place: usize) -> AudioQuality {
        match self.received.streams[place].quality {
            StreamQuality::Audio(quality) => quality,
            StreamQuality::Video(_) => panic!("a camera"),
        }
    }

    fn video(&self, place: usize) -> VideoQuality {
        match self.received.streams[place].quality {
            StreamQuality::Video(quality) => quality,
            StreamQuality::Audio(_) => panic!("a microphone"),
        }
    }

    /// Mean estimate between two times (seconds), bits per second.
    fn estimate(&self, from: u64, until: u64) -> f64 {
        let inside =
            (self.sent.transport.iter()).filter(|sample| (ms(from * 1000)..ms(until * 1000)).contains(&sample.at));
        let rates: Vec<f64> = inside.map(|sample| sample.available_outgoing_bitrate).collect();
        rates.iter().sum::<f64>() / rates.len() as f64
    }
}

/// Runs the call to its end and one second more, and checks its statistics against the invariants of any call.
fn run(wire: &mut Call, seconds: u64) -> Shown {
    let end = ms(seconds * 1000);
    wire.run_until(end);
    wire.receiver.inner.settle_media(end);
    let qualities: Vec<_> =
        wire.receiver.inner.media().expect("received").streams.iter().map(|stream| stream.quality).collect();
    let end = end + Span::from_secs(1);
    wire.run_until(end);
    wire.sender.settle_media(end);
    wire.receiver.inner.settle_media(end);
    let sent = wire.sender.media().expect("sent").clone();
    let mut received = wire.receiver.inner.media().expect("received").clone();
    // Quality ends with the call, not with the last packet.
    received.streams.iter_mut().zip(qualities).for_each(|(stream, quality)| stream.quality = quality);
    assert_eq!(wire.sender.refused(), 0, "each message of the receiver is read");
    assert_eq!(sent.totals.len(), received.streams.len());
    for (out, summary) in sent.totals.iter().zip(&received.streams) {
        assert_eq!(out.stream, summary.total.stream);
        monotone(out.stream, &sent, &received);
    }
    for sample in &sent.transport {
        assert!(sample.available_outgoing_bitrate.is_finite() && sample.target_bitrate > 0.0, "{sample:?}");
    }
    Shown { sent, received }
}

/// Counters never fall.
fn monotone(stream: fairwave_endpoint::media::StreamId, sent: &MediaSent, received: &MediaReceived) {
    let out = |sample: &OutboundSample| {
        [
            sample.packets_sent,
            sample.bytes_sent,
            sample.header_bytes_sent,
            sample.retransmitted_packets_sent,
            sample.fec_packets_sent,
            sample.padding_packets_sent,
            sample.frames_sent,
            sample.frames_encoded,
            sample.key_frames_encoded,
            sample.huge_frames_sent,
            sample.nack_count,
            sample.pli_count,
            (sample.total_packet_send_delay * 1e9) as u64,
            (sample.quality_limitation_durations.iter().sum::<f64>() * 1e6) as u64,
        ]
    };
    let rows: Vec<_> = sent.outbound.iter().filter(|sample| sample.stream == stream).map(out).collect();
    for pair in rows.windows(2) {
        assert!(pair[0].iter().zip(&pair[1]).all(|(before, after)| before <= after), "{pair:?}");
    }
    let inbound = |sample: &InboundSample| {
        [
            sample.packets_received,
            sample.packets_discarded,
            sample.packets_duplicated,
            sample.fec_packets_received,
            sample.fec_packets_discarded,
            sample.retransmitted_packets_received,
            sample.bytes_received,
            sample.header_bytes_received,
            sample.nack_count,
            sample.pli_count,
            sample.frames_received,
            sample.frames_decoded,
            sample.frames_rendered,
            sample.frames_dropped,
            sample.freeze_count,
            sample.concealed_samples,
            sample.concealment_events,
            sample.jitter_buffer_emitted_count,
            (sample.jitter_buffer_delay * 1e9) as u64,
            (sample.total_freezes_duration * 1e9) as u64,
        ]
    };
    let rows: Vec<_> = received.inbound.iter().filter(|sample| sample.stream == stream).map(inbound).collect();
    assert!(rows.len() > 1);
    for pair in rows.windows(2) {
        assert!(pair[0].iter().zip(&pair[1]).all(|(before, after)| before <= after), "{stream:?} {pair:?}");
    }
}

/// Every packet sent is received or lost: none is in flight at the end.
fn all_are_accounted_for(wire: &Call, shown: &Shown, lost: u64) {
    let sent: u64 = shown.sent.totals.iter().map(|out| out.packets_sent).sum();
    let on_wire = wire.sent.iter().filter(|(_, packet)| header(packet).is_some()).count() as u64;
    assert_eq!(sent, on_wire);
    let own_fec = wire.sent.iter().filter(|(_, packet)| role(packet) == Some(Role::Protection)).count() as u64;
    let received: u64 = shown.received.streams.iter().map(|stream| stream.total.packets_received).sum();
    let video = shown.received.streams.iter().filter(|stream| stream.total.stream.kind != StreamKind::Audio);
    let fec: u64 = video.map(|stream| stream.total.fec_packets_received).sum();
    // FEC on a separate stream is not among the packets received.
    let received = if own_fec > 0 { received + fec } else { received };
    assert_eq!(sent, received + lost, "lost {lost}");
}

fn role(packet: &Packet) -> Option<Role> {
    header(packet).and_then(|header| header.ssrc.parts()).map(|(.., role)| role)
}

const CAMERA: &str = r#"{"audio": true, "video": {"most": "2 Mb/s"}}"#;
const EARS: &str = r#"{"audio": true, "video": false}"#;
const EYES: &str = r#"{"audio": false, "video": {"most": "2 Mb/s"}}"#;

fn fixed(rate: &str, more: &str) -> String {
    format!(r#"{{"control": {{"name": "fixed", "rate": "{rate}"}}{more}}}"#)
}

#[test]
fn what_is_lost_is_sent_again_and_all_is_accounted_for() {
    let mut wire = call(20, &fixed("800 kb/s", ""), CAMERA);
    let lost = lose(&mut wire, |number, now, _| number > 50 && number % 33 == 0 && now < ms(19_500));
    let shown = run(&mut wire, 20);
    all_are_accounted_for(&wire, &shown, lost.get());
    let (out, inbound) = (shown.out(1), shown.inbound(1));
    assert_eq!(inbound.frames_decoded, out.frames_encoded, "{inbound:?}");
    assert!(inbound.packets_lost > 20 && inbound.nack_count > 20 && inbound.pli_count == 0, "{inbound:?}");
    let lost_media = shown.inbound(0).packets_lost + inbound.packets_lost;
    assert!(
        lost_media as u64 <= lost.get() && lost_media as u64 * 10 > lost.get() * 9,
        "{lost_media} of {}",
        lost.get()
    );
    assert!(out.remote_round_trip_time.is_some_and(|seconds| (0.1..0.16).contains(&seconds)), "{out:?}");
    assert!(wire.sender.view().smoothed_rtt.is_some_and(|seconds| (0.1..0.25).contains(&seconds)));
}

#[test]
fn flexfec_and_ulpfec_restore_video_where_nack_is_off() {
    let without = {
        let mut wire = call(30, &fixed("800 kb/s", r#", "nack": false"#), CAMERA);
        lose(&mut wire, |number, now, _| now > ms(3_000) && number % 40 == 0);
        run(&mut wire, 30)
    };
    assert!(without.inbound(1).pli_count > 3, "{:?}", without.inbound(1));
    for format in ["flexfec", "ulpfec"] {
        let mut wire = call(30, &fixed("800 kb/s", &format!(r#", "nack": false, "fec": "{format}""#)), CAMERA);
        let lost = lose(&mut wire, |number, now, _| now > ms(3_000) && number % 40 == 0);
        let shown = run(&mut wire, 30);
        all_are_accounted_for(&wire, &shown, lost.get());
        let (out, inbound) = (shown.out(1), shown.inbound(1));
        assert!(out.fec_packets_sent > 200 && inbound.fec_packets_received > 200, "{format}: {inbound:?}");
        assert!(inbound.packets_recovered > 20, "{format}: {inbound:?}");
        assert!(inbound.frames_decoded * 100 >= out.frames_encoded * 88, "{format}: {inbound:?}");
        assert!(inbound.frames_decoded > without.inbound(1).frames_decoded, "{format}");
        assert!(shown.video(1).freeze_ratio < without.video(1).freeze_ratio, "{format}");
    }
}

#[test]
fn ulpfec_among_the_packets_of_frames_of_more_than_48_breaks_none() {
    let media = r#"{"audio": false, "video": {"most": "20 Mb/s", "least": "18 Mb/s"}}"#;
    let mut wire = call(5, &fixed("20 Mb/s", r#", "fec": "ulpfec", "protection": 0.000001"#), media);
    lose(&mut wire, |number, _, _| number > 50 && number % 50 == 0);
    let shown = run(&mut wire, 5);
    let (out, inbound) = (shown.out(0), shown.inbound(0));
    assert!(out.packets_sent > out.frames_sent * 50 && inbound.packets_recovered > 50, "{out:?} {inbound:?}");
    assert_eq!(inbound.frames_decoded, out.frames_encoded, "{inbound:?}");
}

#[test]
fn in_band_fec_and_red_restore_speech() {
    let lossy = |media: &str, burst: u64| {
        let mut wire = call(30, &fixed("200 kb/s", ""), media);
        lose(&mut wire, move |number, now, _| now > ms(3_000) && number % 20 < burst);
        run(&mut wire, 30).audio(0)
    };
    let off = r#"{"audio": {"in-band-fec": false}, "video": false}"#;
    let red = r#"{"audio": {"redundancy": 2}, "video": false}"#;
    let (none, fec) = (lossy(off, 1), lossy(EARS, 1));
    assert!(none.frames_lost > 50 && none.frames_restored == 0, "{none:?}");
    assert!(fec.frames_restored > 50 && fec.frames_lost < 5, "{fec:?}");
    assert!(fec.concealed_share < none.concealed_share / 3.0, "{none:?} {fec:?}");
    let (none, red) = (lossy(off, 2), lossy(red, 2));
    assert!(none.frames_lost > 100, "{none:?}");
    assert!(red.frames_restored > 100 && red.frames_lost < 5, "{red:?}");
    let r = |quality: &AudioQuality| match quality.rating {
        fairwave_endpoint::media::Rated::As(rating) => rating.r,
        fairwave_endpoint::media::Rated::Not(why) => panic!("{why:?}"),
    };
    assert!(r(&red) > r(&none) + 10.0, "{} {}", r(&red), r(&none));
}

#[test]
fn pauses_of_dtx_are_silence_and_not_concealed() {
    let mut wire = call(60, &fixed("100 kb/s", ""), r#"{"audio": {"dtx": true}, "video": false}"#);
    let shown = run(&mut wire, 60);
    let heard = shown.audio(0);
    assert!(heard.frames_played < 2_000 && heard.frames_played > 500 && heard.frames_lost == 0, "{heard:?}");
    assert!(heard.concealed_share < 0.01, "{heard:?}");
    assert_eq!(shown.inbound(0).packets_lost, 0);
}

#[test]
fn simulcast_layers_and_screens_arrive_whole() {
    for media in [
        r#"{"audio": true, "video": {"most": "3 Mb/s", "simulcast": 2}}"#,
        r#"{"audio": true, "video": {"most": "4 Mb/s", "simulcast": 3}}"#,
        r#"{"audio": true, "video": {"temporal-layers": 2}}"#,
        r#"{"audio": true, "video": {"temporal-layers": 3}}"#,
        r#"{"audio": true, "video": {"spatial-layers": 2}}"#,
        r#"{"audio": true, "video": {"spatial-layers": 3, "temporal-layers": 3}}"#,
        r#"{"audio": true, "video": true, "screen": {"scene": "screen"}}"#,
        EYES,
    ] {
        let mut wire = over(call(12, &fixed("5 Mb/s", ""), media), 10_000, 500);
        // Some packets overtake others, and some are lost.
        wire.fate = Box::new(|number, now, _| match number % 60 {
            7 if now > ms(500) => PathFate::Late(Span::from_millis(15)),
            30 if now > ms(500) && now < ms(11_500) => PathFate::Lose,
            _ => PathFate::Pass,
        });
        let shown = run(&mut wire, 12);
        for place in 0..shown.received.streams.len() {
            let (out, inbound) = (shown.out(place), shown.inbound(place));
            assert!(out.packets_sent > 0 && inbound.packets_received > 0, "{media}: {out:?}");
            if out.stream.kind != StreamKind::Audio {
                assert!(out.frames_encoded > 100 && out.frames_sent == out.frames_encoded, "{media}: {out:?}");
                // The receiver does not wait for frames of upper temporal layers.
                let least =
                    if media.contains("temporal") { out.frames_encoded * 8 / 10 } else { out.frames_encoded - 2 };
                assert!(inbound.frames_decoded >= least, "{media}: {out:?} {inbound:?}");
                assert!(inbound.frames_decoded <= out.frames_encoded, "{media}: {inbound:?}");
                assert_eq!((inbound.frame_width, inbound.frame_height), (out.frame_width, out.frame_height), "{media}");
            }
        }
        let pictures = wire.deliveries.iter().filter(|(_, delivery)| delivery.layer == 1).count();
        assert!((290..=360).contains(&pictures), "{media}: {pictures} pictures");
    }
}

#[test]
fn an_upper_temporal_layer_may_be_lost_and_nothing_freezes() {
    let media = r#"{"audio": false, "video": {"temporal-layers": 2}}"#;
    let mut wire = call(10, &fixed("1 Mb/s", r#", "nack": false"#), media);
    lose(&mut wire, |_, now, header| now > ms(1_000) && header.temporal > 0);
    let shown = run(&mut wire, 10);
    let inbound = shown.inbound(0);
    assert!((160..=172).contains(&inbound.frames_decoded), "{inbound:?}");
    assert_eq!((inbound.pli_count, shown.out(0).key_frames_encoded), (0, 1));
}

#[test]
fn a_lost_key_frame_is_asked_for_each_200_ms_and_a_lost_frame_after_3_s() {
    let table = fixed("800 kb/s", r#", "nack": false"#);
    let mut wire = call(10, &table, EYES);
    lose(&mut wire, |_, now, _| now < ms(300));
    let shown = run(&mut wire, 10);
    let (out, inbound) = (shown.out(0), shown.inbound(0));
    assert!((1..=3).contains(&inbound.pli_count) && out.key_frames_encoded == 2, "{inbound:?}");
    assert!(inbound.frames_decoded > 270, "{inbound:?}");

    let mut wire = call(10, &table, EYES);
    let once = Cell::new(false);
    lose(&mut wire, move |_, now, _| now > ms(3_000) && !once.replace(true));
    let shown = run(&mut wire, 10);
    let inbound = shown.inbound(0);
    assert_eq!((inbound.pli_count, inbound.key_frames_decoded), (1, 2), "{inbound:?}");
    // 3 s until the request, then a round trip.
    assert!((2.9..3.5).contains(&inbound.total_freezes_duration), "{inbound:?}");
}

#[test]
fn gcc_fills_a_link_with_probes_and_padding() {
    let mut wire = over(call(30, "{}", CAMERA), 1_500, 40);
    let shown = run(&mut wire, 30);
    let late = shown.estimate(15, 30);
    assert!((0.9e6..1.7e6).contains(&late), "{late}");
    assert!(shown.out(1).padding_packets_sent > 0, "{:?}", shown.out(1));
    assert!(shown.inbound(1).frames_decoded > 850, "{:?}", shown.inbound(1));
    // By probing, not by 8 % a second.
    assert!(shown.estimate(3, 6) > 700e3, "{}", shown.estimate(3, 6));
    let feedback: u64 = wire.feedback.iter().map(|(_, packet)| packet.size().get()).sum();
    let media: u64 = wire.sent.iter().map(|(_, packet)| packet.size().get()).sum();
    assert!((feedback as f64) < 0.06 * media as f64, "{feedback} of {media}");
}

#[test]
fn scream_reads_marks_from_reports_of_rfc_8888() {
    let table = r#"{"control": "scream", "feedback": "rfc8888"}"#;
    let mut wire = over(call(30, table, CAMERA), 1_000, 100);
    wire.mark = Box::new(|packet, waiting| packet.size().get() * waiting > 1_000);
    let shown = run(&mut wire, 30);
    assert!(shown.inbound(1).packets_received_with_ce > 10, "{:?}", shown.inbound(1));
    assert_eq!(wire.dropped, 0, "marks keep the queue short");
    let bytes: u64 =
        (wire.sent.iter().filter(|(when, _)| *when > ms(15_000))).map(|(_, packet)| packet.size().get()).sum();
    let rate = bytes as f64 * 8.0 / 15.0;
    assert!((0.4e6..1.05e6).contains(&rate), "{rate}");
    let late = shown.sent.transport.last().and_then(|sample| sample.round_trip_time).expect("feedback");
    assert!((0.1..0.2).contains(&late), "{late}");
    let feedback: u64 = wire.feedback.iter().map(|(_, packet)| packet.size().get()).sum();
    assert!((feedback as f64) < 0.06 * rate / 8.0 * 30.0, "{feedback}");
}

const CONTROLLERS: [&str; 9] = [
    r#"{"control": "gcc"}"#,
    r#"{"control": "gcc", "feedback": "rfc8888"}"#,
    r#"{"control": "scream"}"#,
    r#"{"control": "scream", "feedback": "rfc8888"}"#,
    r#"{"control": "nada"}"#,
    r#"{"control": "nada", "feedback": "rfc8888"}"#,
    r#"{"control": "tfrc"}"#,
    r#"{"control": "aiamd"}"#,
    r#"{"control": "rtcp"}"#,
];

#[test]
fn bad_feedback_stops_no_controller() {
    for table in CONTROLLERS {
        let mut wire = over(call(15, table, CAMERA), 1_000, 40);
        wire.receiver.copies = 2;
        wire.receiver.late = Span::from_secs(2);
        wire.lose_feedback = Box::new(|number, _| number % 5 == 0);
        let shown = run(&mut wire, 15);
        let inbound = shown.inbound(1);
        assert!(inbound.frames_decoded > 225, "{table}: {inbound:?}");
    }
}

#[test]
fn a_path_that_repeats_and_reorders_loses_nothing() {
    for table in CONTROLLERS {
        let mut wire = over(call(10, table, CAMERA), 2_000, 60);
        wire.fate = Box::new(|number, _, _| match number % 10 {
            3 => PathFate::Twice,
            7 => PathFate::Late(Span::from_millis(12)),
            _ => PathFate::Pass,
        });
        let shown = run(&mut wire, 10);
        let inbound = shown.inbound(1);
        assert!(inbound.packets_duplicated > 10, "{table}: {inbound:?}");
        assert!(inbound.frames_decoded > 285, "{table}: {inbound:?}");
    }
}

#[test]
fn a_path_that_is_silent_for_10_s_comes_back() {
    for table in CONTROLLERS {
        let mut wire = over(call(50, table, CAMERA), 1_000, 40);
        lose(&mut wire, |_, now, _| (ms(10_000)..ms(20_000)).contains(&now));
        wire.lose_feedback = Box::new(|_, now| (ms(10_000)..ms(20_000)).contains(&now));
        let shown = run(&mut wire, 50);
        let decoded = |second: u64| {
            let video = shown.received.inbound.iter().filter(|sample| sample.stream.kind == StreamKind::Video);
            video.filter(|sample| sample.at <= ms(second * 1000)).map(|sample| sample.frames_decoded).max().unwrap_or(0)
        };
        assert!(decoded(50) - decoded(40) > 200, "{table}: {} frames in the last 10 s", decoded(50) - decoded(40));
        let heard = shown.audio(0);
        // For some seconds, `aiamd` takes losses of a full queue for random ones, and speech is lost too.
        let least = if table.contains("aiamd") { 1_300 } else { 1_500 };
        assert!(heard.frames_played > least, "{table}: {heard:?}");
        let late = shown.estimate(45, 50);
        assert!(late > 100e3, "{table}: {late} b/s at the end, {} before", shown.estimate(5, 10));
    }
}

#[test]
fn numbers_wrap_in_a_long_call() {
    let media = r#"{"audio": true, "video": {"most": "9 Mb/s", "least": "8 Mb/s"}}"#;
    let mut wire = call(90, &fixed("10 Mb/s", ""), media);
    let lost = lose(&mut wire, |number, now, _| number > 50 && number % 500 == 0 && now < ms(89_000));
    let shown = run(&mut wire, 90);
    let (out, inbound) = (shown.out(1), shown.inbound(1));
    assert!(out.packets_sent > 70_000, "{out:?}");
    assert_eq!((inbound.frames_decoded, inbound.pli_count), (out.frames_encoded, 0), "{inbound:?}");
    all_are_accounted_for(&wire, &shown, lost.get());
    assert!(inbound.jitter < 0.02, "{inbound:?}");
}

/// `cargo test --release -p fairwave-transport what_a_call_costs -- --ignored --nocapture`
#[test]
#[ignore = "measures time"]
fn what_a_call_costs() {
    let mut wire = over(call(300, "{}", CAMERA), 1_000, 30);
    let begun = std::time::Instant::now();
    wire.run_until(ms(300_000));
    println!("{:.1} µs for a simulated second of both ends", begun.elapsed().as_secs_f64() * 1e6 / 300.0);
}

#[test]
fn both_ends_are_small_where_they_are_one_of_many() {
    // Boxed: runs without media do not pay for its size.
    assert!(size_of::<WebrtcSender>() > 500 && size_of::<crate::AnySender>() < size_of::<WebrtcSender>());
}

/// Actions of a hostile peer towards either end.
#[derive(Clone, Debug)]
enum Hostile {
    /// Any bytes as a message.
    Bytes(Vec<u8>),
    /// A message that parses.
    Message(Box<Rtcp>),
    /// A media packet with any header.
    Media(RtpHeader, u16),
    /// The application makes a frame.
    Frame(u8),
    /// The next timer of either end.
    Timer,
    /// Time passes, ms.
    Wait(u64),
    /// The packets in flight arrive.
    Deliver,
}

fn hostile_message() -> impl Strategy<Value = Rtcp> {
    let ssrc = || prop_oneof![8 => prop::sample::select(vec![0u32, 1, 2, 16, 17, 18, 20, 32]), 1 => any::<u32>()];
    let near = || prop_oneof![6 => 0u16..400, 1 => any::<u16>()];
    let wide = (near(), 0u32..1 << 24, any::<u8>(), prop::collection::vec(prop::option::of(any::<i16>()), 1..60))
        .prop_map(|(base, reference, count, packets)| {
            Rtcp::TransportFeedback(TransportFeedback { sender: 255, media: 16, base, reference, count, packets })
        });
    let arrival = || {
        prop::option::of((0usize..4, 0u16..0x2000)).prop_map(|of| {
            of.map(|(ecn, offset)| ArrivalReport { ecn: [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce][ecn], offset })
        })
    };
    let stream = (ssrc(), any::<u16>(), prop::collection::vec(arrival(), 1..60))
        .prop_map(|(ssrc, base, packets)| StreamReport { ssrc, base, packets });
    let reports = (prop::collection::vec(stream, 1..4), any::<u32>()).prop_map(|(streams, timestamp)| {
        Rtcp::CongestionFeedback(CongestionFeedback { sender: 255, streams, timestamp })
    });
    let block = (ssrc(), any::<u8>(), -0x80_0000i32..0x80_0000, any::<[u32; 4]>()).prop_map(
        |(ssrc, fraction_lost, lost, [highest, jitter, last, delay])| ReportBlock {
            ssrc,
            fraction_lost,
            lost,
            highest,
            jitter,
            last,
            delay,
        },
    );
    let blocks = prop::collection::vec(block, 0..5)
        .prop_map(|blocks| Rtcp::ReceiverReport(ReceiverReport { ssrc: 255, blocks }));
    let sender = (ssrc(), any::<u64>(), any::<[u32; 3]>()).prop_map(|(ssrc, ntp, [rtp, packets, octets])| {
        Rtcp::SenderReport(SenderReport { ssrc, ntp, rtp, packets, octets, blocks: Vec::new() })
    });
    prop_oneof![
        3 => wide,
        3 => reports,
        2 => blocks,
        2 => sender,
        2 => (ssrc(), prop::collection::vec(any::<u16>(), 1..40))
            .prop_map(|(media, sequences)| Rtcp::Nack(Nack { sender: 255, media, sequences })),
        1 => ssrc().prop_map(|media| Rtcp::Pli(Pli { sender: 255, media })),
        1 => (ssrc(), any::<u8>())
            .prop_map(|(ssrc, command)| Rtcp::Fir(Fir { sender: 255, entries: vec![FirEntry { ssrc, command }] })),
    ]
}

fn hostile_header() -> impl Strategy<Value = RtpHeader> {
    let ssrc = prop_oneof![8 => prop::sample::select(vec![0u8, 1, 2, 16, 17, 18, 20, 32]), 1 => any::<u8>()];
    let kind = prop::sample::select(vec![
        PayloadKind::Media,
        PayloadKind::Retransmission,
        PayloadKind::Protection,
        PayloadKind::Padding,
        PayloadKind::Control,
    ]);
    (
        (ssrc, kind, any::<[bool; 5]>()),
        (0u16..300, any::<u16>(), any::<u16>(), any::<[u16; 3]>()),
        (any::<u32>(), 0u32..1000, any::<u64>()),
        (0u8..4, 0u8..8, 0u8..8, 0u8..6),
    )
        .prop_map(
            |(
                (ssrc, kind, [marker, first, last, key, in_band_fec]),
                (near, sequence, frame, [transport_sequence, payload, base]),
                (timestamp, unit, mask),
                (repeats, temporal, spatial, depends),
            )| RtpHeader {
                ssrc: Ssrc(ssrc),
                kind,
                // Mostly close to each other.
                sequence: if sequence.is_multiple_of(8) { sequence } else { near },
                frame: if frame.is_multiple_of(8) { frame } else { near / 3 },
                transport_sequence: if base.is_multiple_of(8) { transport_sequence } else { near },
                base: if base.is_multiple_of(4) { base } else { near },
                timestamp,
                marker,
                first,
                last,
                key,
                in_band_fec,
                repeats,
                temporal,
                spatial,
                unit,
                depends,
                payload: payload % 3000,
                mask,
            },
        )
}

fn hostile() -> impl Strategy<Value = Hostile> {
    prop_oneof![
        1 => prop::collection::vec(any::<u8>(), 0..80).prop_map(Hostile::Bytes),
        4 => hostile_message().prop_map(|message| Hostile::Message(Box::new(message))),
        4 => (hostile_header(), any::<u16>()).prop_map(|(header, wire)| Hostile::Media(header, wire)),
        6 => (0u8..4).prop_map(Hostile::Frame),
        6 => Just(Hostile::Timer),
        2 => prop_oneof![8 => 0u64..300, 1 => 0u64..100_000].prop_map(Hostile::Wait),
        6 => Just(Hostile::Deliver),
    ]
}

/// Controllers with formats, layers and repair in turn.
const SESSIONS: [&str; 7] = [
    r#"{}"#,
    r#"{"control": "gcc", "feedback": "rfc8888", "fec": "flexfec"}"#,
    r#"{"control": "scream", "feedback": "rfc8888"}"#,
    r#"{"control": "nada", "fec": "ulpfec", "rtx": false}"#,
    r#"{"control": "tfrc", "audio-nack": true}"#,
    r#"{"control": "aiamd", "nack": false}"#,
    r#"{"control": "rtcp", "suspend": true}"#,
];

proptest! {
    #![proptest_config(fuzz_cases(60))]

    #[test]
    fn fuzz_both_ends_of_a_call(
        session in 0..SESSIONS.len(),
        layered in any::<bool>(),
        happenings in prop::collection::vec(hostile(), 1..150),
    ) {
        let config: WebrtcConfig = serde_json::from_str(SESSIONS[session]).expect("a table");
        let media = if layered {
            r#"{"audio": {"redundancy": 1, "dtx": true}, "video": {"temporal-layers": 3, "spatial-layers": 3}}"#
        } else {
            r#"{"audio": true, "video": {"simulcast": 2}, "screen": {"scene": "screen"}}"#
        };
        let media: Media = serde_json::from_str(media).expect("media");
        let (shared, context) = (Shared::default(), FlowContext::default());
        let mailboxes = (shared.control.clone(), shared.feedback.clone());
        let random = Seed(1).stream("sender");
        let made = WebrtcSender::new(context, &config, &media, random, mailboxes, shared.side_channel.clone());
        let mut sender = made.expect("a sender");
        let setup = ReceiverSetup { expected: sender.expected(), ..ReceiverSetup::default() };
        let random = Seed(1).stream("receiver");
        let mut receiver = WebrtcReceiver::new(&config.receive, setup, context, shared.clone(), random);
        let (mut now, mut out, mut answer) = (Instant::ZERO, Output::default(), Output::default());
        sender.on_start(now, &mut out);
        let mut unit = 0;
        let (mut forward, mut back) = (VecDeque::new(), VecDeque::new());
        let packet = |body, wire, feedback| Packet {
            flow: FlowId(0), wire, class: Class::OtherUdp, dscp: Default::default(), feedback, ecn: Ecn::Ect1, layer: 0, body,
        };
        for happening in happenings {
            match happening {
                Hostile::Bytes(bytes) => {
                    sender.on_packet(now, &packet(shared.feedback.put(&bytes, 0, now), 60, true), &mut out);
                    let body = control_body(&shared.control, &bytes, 0, now);
                    receiver.on_packet(now, &packet(body, 60, false), &mut answer);
                }
                Hostile::Message(message) => {
                    let mut bytes = Vec::new();
                    if compound::write(&[*message], &mut bytes).is_ok() {
                        sender.on_packet(now, &packet(shared.feedback.put(&bytes, 0, now), 60, true), &mut out);
                        let body = control_body(&shared.control, &bytes, 0, now);
                        receiver.on_packet(now, &packet(body, 60, false), &mut answer);
                    }
                }
                Hostile::Media(header, wire) => {
                    receiver.on_packet(now, &packet(header.body(0, now), wire, false), &mut answer);
                }
                Hostile::Frame(layer) => {
                    let made = Unit { id: unit, payload: 0, created: now, layer, frame_type: FrameType::None };
                    unit += 1;
                    sender.on_unit(now, made, &mut out);
                }
                Hostile::Timer => {
                    let next = sender.deadline().min(receiver.deadline());
                    if next < Instant::NEVER {
                        now = now.max(next);
                        if sender.deadline() <= now {
                            sender.on_timer(now, &mut out);
                        }
                        if receiver.deadline() <= now {
                            receiver.on_timer(now, &mut answer);
                        }
                    }
                }
                Hostile::Wait(millis) => now += Span::from_millis(millis),
                Hostile::Deliver => {
                    for packet in forward.drain(..) {
                        receiver.on_packet(now, &packet, &mut answer);
                    }
                    for packet in back.drain(..) {
                        sender.on_packet(now, &packet, &mut out);
                    }
                }
            }
            prop_assert!(out.packets.len() < 100_000 && answer.packets.len() < 100_000);
            prop_assert!(out.packets.iter().chain(&answer.packets).all(|packet| packet.wire >= 28));
            forward.extend(out.packets.drain(..));
            back.extend(answer.packets.drain(..));
            answer.deliveries.clear();
            let view = sender.view();
            prop_assert!(view.rate.is_some_and(|rate| (0.0..1e9).contains(&rate)), "{view:?}");
            prop_assert!(receiver.view().receive_rate.is_none_or(f64::is_finite));
        }
        sender.on_stop(now);
        sender.settle_media(now);
        receiver.settle_media(now);
        for sample in &sender.media().expect("sent").transport {
            prop_assert!(sample.available_outgoing_bitrate.is_finite() && sample.pacing_bitrate.is_finite(), "{sample:?}");
            prop_assert!(sample.bytes_in_flight < 1 << 40 && sample.pacer_queue_time.is_finite(), "{sample:?}");
        }
        for stream in &receiver.media().expect("received").streams {
            let total = &stream.total;
            for value in [total.jitter, total.jitter_buffer_delay, total.total_inter_frame_delay, total.total_freezes_duration] {
                prop_assert!(value.is_finite() && value >= 0.0, "{total:?}");
            }
        }
    }
}

#[test]
fn a_session_that_stops_is_not_rated_for_the_silence_after_it() {
    let rated = |stops: bool| {
        let mut wire = call(10, &fixed("700 kb/s", ""), CAMERA);
        wire.run_until(ms(10_000));
        if stops {
            wire.sender.on_stop(ms(10_000));
            wire.run_until(ms(20_000));
        }
        wire.receiver.inner.settle_media(ms(10_000));
        let received = wire.receiver.inner.media().expect("a session");
        received.streams.iter().filter_map(StreamSummary::mos).collect::<Vec<f64>>()
    };
    let (there, gone) = (rated(false), rated(true));
    assert_eq!((there.len(), gone.len()), (2, 2), "both streams are rated");
    assert!(there.iter().zip(&gone).all(|(one, other)| (one - other).abs() < 0.1), "{there:?} {gone:?}");
}
