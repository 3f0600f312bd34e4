//! The sending end over a path, with a minimal receiver: feedback every 50 ms, NACK, reports.

use std::collections::{BTreeMap, BTreeSet};

use super::history::unwrap16;
use super::*;
use crate::rtcp::{Nack, Pli, ReceiverReport, TransportFeedback};
use crate::rtp::control_message;
use fairwave_endpoint::test_path::{PathFate, Wire};
use fairwave_endpoint::{Delivery, Receiver};
use fairwave_media::encoder::{AudioConfig, VideoConfig};
use fairwave_media::traffic::FrameType;
use fairwave_network::packet::FlowId;

const EVERY: Span = Span::from_millis(50);
const CAMERA: Ssrc = Ssrc::new(StreamKind::Video, 0, Role::Media);

fn ms(millis: u64) -> Instant {
    Instant::ZERO + Span::from_millis(millis)
}

/// A minimal receiver.
struct Peer {
    mailbox: Mailbox,
    control: Mailbox,
    due: Instant,
    /// Unwrapped transport-wide numbers that arrived since the previous message; the next number to report.
    arrived: BTreeMap<u64, Instant>,
    base: u64,
    count: u8,
    /// Camera: the first number, the arrived numbers, and the next number to request.
    video: BTreeSet<u64>,
    /// Restored by parity or retransmitted.
    repaired: BTreeSet<u64>,
    /// Arrived parity: first number and mask.
    parity: Vec<(u64, u64)>,
    asked: u64,
    keys: u64,
    report: Option<(u32, Instant)>,
    reported: (u64, u64),
    asks: bool,
    /// Number of copies of each message.
    copies: usize,
    plis: Vec<Instant>,
}

impl Peer {
    fn send(&mut self, now: Instant, packets: &[Rtcp], out: &mut Output) {
        let mut bytes = Vec::new();
        compound::write(packets, &mut bytes).expect("writes");
        let body = self.mailbox.put(&bytes, 0, now);
        let wire = sizes::control(bytes.len());
        let packet = Packet {
            flow: FlowId(0),
            wire,
            class: fairwave_network::packet::Class::OtherUdp,
            feedback: true,
            ecn: Ecn::NotEct,
            dscp: fairwave_network::dscp::Dscp::DF,
            layer: 0,
            body,
        };
        out.packets.extend(std::iter::repeat_n(packet, self.copies));
    }

    fn missing(&self) -> Vec<u64> {
        let (Some(&first), Some(&last)) = (self.video.first(), self.video.last()) else { return Vec::new() };
        (first..last).filter(|number| !self.video.contains(number)).collect()
    }
}

impl Receiver for Peer {
    fn on_packet(&mut self, now: Instant, packet: &Packet, out: &mut Output) {
        if self.due == Instant::NEVER {
            self.due = now + EVERY;
        }
        if let Some(bytes) = control_message(&self.control, &packet.body) {
            for part in compound::parse(&bytes).expect("own bytes") {
                if let Rtcp::SenderReport(report) = part {
                    assert!(report.packets > 0);
                    if report.ssrc == CAMERA.number() {
                        self.report = Some((time::middle(report.ntp), now));
                    }
                }
            }
            return;
        }
        let (header, created) = RtpHeader::read(&packet.body).expect("media");
        let number = unwrap16(self.base + 100, header.transport_sequence);
        self.arrived.entry(number).or_insert(now);
        let near = self.video.last().copied().unwrap_or(40_000);
        if header.ssrc == CAMERA {
            // ULPFEC parity shares the numbers of media.
            self.video.insert(unwrap16(near, header.sequence));
        }
        match header.kind {
            PayloadKind::Media if header.ssrc == CAMERA => {
                self.keys += u64::from(header.key && header.first);
            }
            PayloadKind::Retransmission => {
                self.repaired.insert(unwrap16(near, header.base));
            }
            PayloadKind::Protection => self.parity.push((unwrap16(near, header.base), header.mask)),
            _ => {}
        }
        out.deliveries.push(Delivery {
            unit: header.unit,
            payload: u32::from(header.payload),
            created,
            layer: packet.layer,
            complete: header.ssrc.parts().is_some_and(|(kind, ..)| kind == StreamKind::Audio),
        });
    }

    fn on_timer(&mut self, now: Instant, out: &mut Output) {
        self.due = now + EVERY;
        let mut packets = Vec::new();
        if let Some((&last, _)) = self.arrived.last_key_value() {
            // A late arrival moves the start of the message back.
            let base = self.base.min(self.arrived.first_key_value().map_or(last, |(first, _)| *first));
            let arrivals: Vec<_> = (base..=last).map(|number| self.arrived.get(&number).copied()).collect();
            let made = TransportFeedback::from_arrivals(255, 0, base as u16, self.count, &arrivals, 10_000);
            packets.extend(made.map(|(message, _)| Rtcp::TransportFeedback(message)));
            (self.base, self.count) = (last + 1, self.count.wrapping_add(1));
            self.arrived.clear();
        }
        if self.asks {
            let missing: Vec<u64> = self.missing().into_iter().filter(|number| *number >= self.asked).collect();
            self.asked = self.video.last().copied().unwrap_or(0);
            if !missing.is_empty() {
                let sequences = missing.iter().map(|number| *number as u16).collect();
                packets.push(Rtcp::Nack(Nack { sender: 255, media: CAMERA.number(), sequences }));
            }
        }
        while self.plis.first().is_some_and(|when| *when <= now) {
            self.plis.remove(0);
            packets.push(Rtcp::Pli(Pli { sender: 255, media: CAMERA.number() }));
        }
        if let (Some((last, when)), Some(&first), Some(&highest)) =
            (self.report.take(), self.video.first(), self.video.last())
        {
            let expected = highest + 1 - first;
            let lost = expected - self.video.len() as u64;
            let (expected_now, lost_now) = (expected - self.reported.0, lost.saturating_sub(self.reported.1));
            self.reported = (expected, lost);
            let block = ReportBlock {
                ssrc: CAMERA.number(),
                fraction_lost: (lost_now * 256 / expected_now.max(1)).min(255) as u8,
                lost: lost as i32,
                highest: highest as u32,
                jitter: 900,
                last,
                delay: time::to_65536ths(now.span_since(when)),
            };
            packets.insert(0, Rtcp::ReceiverReport(ReceiverReport { ssrc: 255, blocks: vec![block] }));
        }
        if !packets.is_empty() {
            self.send(now, &packets, out);
        }
    }

    fn deadline(&self) -> Instant {
        self.due
    }

    fn is_reactive(&self) -> bool {
        false
    }
}

/// Returns a call of this duration with this configuration, over a path of 50 ms each way, before its start.
fn call(seconds: u64, table: &str) -> Wire<WebrtcSender, Peer> {
    let config: WebrtcConfig = serde_json::from_str(table).expect("a table");
    let video = VideoConfig { most: Rate::from_bits_per_second(2_000_000), ..VideoConfig::default() };
    let media = Media { audio: Some(AudioConfig::default()), video: Some(video), ..Media::default() };
    let (control, mailbox) = (Mailbox::new(), Mailbox::new());
    let peer = Peer {
        mailbox: mailbox.clone(),
        control: control.clone(),
        due: Instant::NEVER,
        arrived: BTreeMap::new(),
        base: 0,
        count: 0,
        video: BTreeSet::new(),
        repaired: BTreeSet::new(),
        parity: Vec::new(),
        asked: 0,
        keys: 0,
        report: None,
        reported: (0, 0),
        asks: true,
        copies: 1,
        plis: Vec::new(),
    };
    let stream = Seed(7).stream("webrtc");
    let sender =
        WebrtcSender::new(FlowContext::default(), &config, &media, stream, (control, mailbox), SideChannel::new())
            .expect("a sender");
    let mut wire = Wire::new(sender, peer, Span::from_millis(50));
    let mut times: Vec<(u64, StreamKind)> =
        (0..seconds * 50).map(|frame| (frame * 20_000, StreamKind::Audio)).collect();
    times.extend((0..seconds * 30).map(|frame| (frame * 1_000_000 / 30, StreamKind::Video)));
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

const FIXED: &str = r#"{"control": {"name": "fixed", "rate": "800 kb/s"}}"#;

/// Loses each 50th packet, starting with the 100th.
fn lossy(wire: &mut Wire<WebrtcSender, Peer>) {
    wire.fate = Box::new(|number, _, _| if number > 100 && number % 50 == 0 { PathFate::Lose } else { PathFate::Pass });
}

#[test]
fn audio_and_video_fill_the_target_and_all_of_it_arrives_through_1_mbps() {
    let mut wire = call(20, FIXED);
    wire.bottleneck = Some(Rate::from_bits_per_second(1_000_000));
    wire.buffer = 250;
    wire.run_until(ms(20_500));
    assert_eq!(wire.dropped, 0);
    let bytes: u64 = wire
        .sent
        .iter()
        .filter(|(when, _)| *when >= ms(5_000) && *when < ms(20_000))
        .map(|(_, p)| p.size().get())
        .sum();
    let rate = bytes as f64 * 8.0 / 15.0;
    assert!((700e3..=810e3).contains(&rate), "{rate}");
    assert_eq!(wire.deliveries.iter().filter(|(_, delivery)| delivery.layer == 0).count(), 1000, "all of the speech");
    assert!(wire.receiver.missing().is_empty());
    let view = wire.sender.view();
    assert_eq!((view.rate, view.retransmitted), (Some(800e3), 0));
    assert_eq!(wire.sender.refused(), 0);
    wire.sender.settle_media(ms(20_500));
    let shown = wire.sender.media().expect("a session");
    let round_trip = shown.transport.last().and_then(|sample| sample.round_trip_time).expect("feedback");
    assert!((0.1..0.4).contains(&round_trip), "{round_trip}");
    let [audio, video] = &shown.totals[..] else { panic!("two streams") };
    assert_eq!((audio.packets_sent, audio.frames_sent), (1000, 0));
    assert_eq!((video.frames_sent, video.frames_encoded, video.key_frames_encoded), (600, 600, 1));
    assert_eq!((video.retransmitted_packets_sent, video.fec_packets_sent, video.padding_packets_sent), (0, 0, 0));
    assert_eq!(video.quality_limitation, QualityLimitation::Bandwidth);
    assert!((video.quality_limitation_durations[1] - 20.5).abs() < 0.1);
    assert!(video.remote_round_trip_time.is_some_and(|seconds| (0.1..0.3).contains(&seconds)));
    assert_eq!((video.remote_packets_lost, video.remote_jitter), (Some(0), Some(0.01)));
}

#[test]
fn nack_restores_what_2_percent_of_loss_took() {
    let mut wire = call(20, FIXED);
    lossy(&mut wire);
    wire.run_until(ms(21_000));
    let missing = wire.receiver.missing();
    assert!(missing.len() > 20, "{}", missing.len());
    let left = missing.iter().filter(|number| !wire.receiver.repaired.contains(number)).count();
    assert!(left <= 2, "{left} of {}", missing.len());
    wire.sender.settle_media(ms(21_000));
    let video = wire.sender.media().expect("a session").totals[1];
    assert!(video.nack_count > 0 && video.retransmitted_packets_sent >= missing.len() as u64 - 2);
    assert_eq!(wire.sender.view().retransmitted, video.retransmitted_packets_sent);
    assert!(video.remote_fraction_lost.is_some_and(|lost| lost < 0.06), "{video:?}");
    assert!(video.remote_packets_lost.is_some_and(|lost| lost > 20), "{video:?}");
}

#[test]
fn without_nack_nothing_is_sent_again() {
    let mut wire = call(5, r#"{"control": {"name": "fixed", "rate": "800 kb/s"}, "nack": false}"#);
    lossy(&mut wire);
    wire.run_until(ms(6_000));
    assert!(wire.receiver.repaired.is_empty() && !wire.receiver.missing().is_empty());
}

#[test]
fn parity_restores_single_losses_of_either_format() {
    for format in ["flexfec", "ulpfec"] {
        let table =
            format!(r#"{{"control": {{"name": "fixed", "rate": "800 kb/s"}}, "nack": false, "fec": "{format}"}}"#);
        let mut wire = call(20, &table);
        lossy(&mut wire);
        wire.run_until(ms(21_000));
        // After the first reports there is parity; losing each 50th packet loses at most one per frame.
        let video: Vec<u64> = wire.receiver.video.iter().copied().collect();
        let late = video[video.len() / 4];
        let missing: Vec<u64> = wire.receiver.missing().into_iter().filter(|number| *number > late).collect();
        let covered = |number: u64| {
            let within =
                |first: u64, mask: u64| number.checked_sub(first).is_some_and(|bit| bit < 64 && mask >> bit & 1 == 1);
            wire.receiver.parity.iter().any(|(first, mask)| within(*first, *mask))
        };
        let restored = missing.iter().filter(|number| covered(**number)).count();
        if format == "flexfec" {
            assert!(missing.len() > 10 && restored * 10 >= missing.len() * 9, "{restored} of {}", missing.len());
        } else {
            assert!(restored * 2 >= missing.len(), "{restored} of {}: some of the missing are parity", missing.len());
        }
        wire.sender.settle_media(ms(21_000));
        assert!(wire.sender.media().expect("a session").totals[1].fec_packets_sent > 100);
    }
}

#[test]
fn a_picture_loss_brings_a_key_frame_but_not_two_within_300_ms() {
    let mut wire = call(6, FIXED);
    wire.receiver.plis = vec![ms(2_000), ms(2_100), ms(2_200), ms(3_000)];
    wire.run_until(ms(6_500));
    assert_eq!(wire.receiver.keys, 3, "the first, and one for each of two requests");
    wire.sender.settle_media(ms(6_500));
    assert_eq!(wire.sender.media().expect("a session").totals[1].pli_count, 4);
}

#[test]
fn feedback_that_is_lost_or_comes_twice_leaves_no_bytes_in_flight() {
    let mut wire = call(20, FIXED);
    wire.lose_feedback = Box::new(|number, _| number % 3 == 0);
    wire.receiver.copies = 2;
    wire.run_until(ms(20_000));
    // A round trip and the time to the next message, at 800 kb/s, three times for packets that were lost.
    let flight = wire.sender.history.in_flight().get();
    assert!(flight < 40_000, "{flight}");
}

#[test]
fn hostile_feedback_is_counted_and_changes_nothing() {
    let mut wire = call(2, FIXED);
    wire.run_until(ms(1_000));
    let before = wire.sender.history.in_flight();
    for bytes in [&b""[..], &[0x8f, 205, 0, 1, 0, 0, 0, 0], &[0xff; 40]] {
        let mailbox = wire.receiver.mailbox.clone();
        let (_, mut packet) = *wire.feedback.last().expect("feedback");
        packet.body = mailbox.put(bytes, 0, ms(1_000));
        wire.sender.on_packet(ms(1_000), &packet, &mut Output::default());
    }
    assert_eq!((wire.sender.refused(), wire.sender.history.in_flight()), (3, before));
}

#[test]
fn a_session_is_the_same_each_time() {
    let run = || {
        let mut wire = call(5, FIXED);
        lossy(&mut wire);
        wire.run_until(ms(6_000));
        wire.sent
    };
    assert_eq!(run(), run());
}

#[test]
fn video_below_its_least_stops_and_speech_goes_on() {
    let mut wire = call(5, r#"{"control": {"name": "fixed", "rate": "70 kb/s"}, "suspend": true}"#);
    wire.run_until(ms(5_500));
    assert_eq!(wire.skipped, 150, "frames of the camera");
    assert_eq!(wire.deliveries.len(), 250);
}

#[test]
fn what_a_controller_holds_back_is_taken_off_in_whole_frames_and_at_most_half_of_them() {
    let config = VideoConfig { least: Rate::from_bits_per_second(100_000), ..VideoConfig::default() };
    let encoder = VideoEncoder::new(&config, Seed(1).stream("camera"));
    let share = Share::new(Rate::default(), Rate::default(), false, 1.0);
    let mut camera = Camera {
        kind: StreamKind::Video,
        encoder,
        frame_rate: 30.0,
        target: None,
        leaves_out: None,
        held: 0,
        off: Spells::default(),
        is_off: false,
        share,
    };
    let left = |camera: &mut Camera| (0..12).map(|_| u8::from(!camera.leaves_out())).collect::<Vec<u8>>();
    for (target, share, rate, out) in [
        (800_000, 0.01, 800_000, 0), // 1 % and less do not count
        (800_000, 0.25, 600_000, 3), // a frame of four
        (800_000, 0.9, 400_000, 6),  // half of them at most
        (800_000, 0.3, 800_000 - 266_666, 4),
        (110_000, 0.5, 100_000, 1), // at most the part above the lowest: a frame of eleven, twice in twelve after a restart
        (100_000, 0.5, 100_000, 0),
        (0, 0.5, 0, 0),
    ] {
        camera.held = 1;
        assert_eq!(camera.hold_back(target, share), rate, "{target} {share}");
        let frames = left(&mut camera);
        assert_eq!(frames.iter().filter(|sent| **sent == 0).count(), out, "{target} {share}: {frames:?}");
    }
}

/// A path with a third of the start rate and a buffer of many seconds: the bytes in flight exceed the congestion
/// window.
#[test]
fn while_the_window_is_full_frames_are_left_out() {
    let frames = |push_back: &str| {
        let table = format!(r#"{{"control": {{"name": "gcc", "push-back": "{push_back}"}}, "start": "1.5 Mb/s"}}"#);
        let mut wire = call(10, &table);
        wire.bottleneck = Some(Rate::from_bits_per_second(300_000));
        wire.buffer = 1000;
        wire.run_until(ms(10_500));
        wire.sender.settle_media(ms(10_500));
        (wire.skipped, wire.sender.media().expect("a session").totals[1].frames_encoded)
    };
    let (skipped, encoded) = frames("frames");
    let (without, all) = frames("none");
    assert!(skipped > without + 10, "{skipped} and {without} left out");
    assert_eq!((u64::from(skipped) + encoded, u64::from(without) + all), (300, 300));
}

/// A path with a fifth of the start rate, so that SCReAM sees a queue.
#[test]
fn after_congestion_bursts_are_as_short_as_controller_or_scenario_say() {
    let burst = |said: &str| {
        let table = format!(r#"{{"control": "scream", "start": "1.5 Mb/s", "burst": "{said}"}}"#);
        let mut wire = call(10, &table);
        assert_eq!(wire.sender.pacer.burst(), serde_json::from_str(&format!("\"{said}\"")).expect("a time"));
        wire.bottleneck = Some(Rate::from_bits_per_second(300_000));
        wire.buffer = 1000;
        wire.run_until(ms(5_000));
        wire.sender.pacer.burst()
    };
    assert_eq!(burst("40 ms"), Span::from_millis(10), "the controller's");
    assert_eq!(burst("2 ms"), Span::from_millis(2), "the scenario's");
}

#[test]
fn media_without_a_stream_is_refused() {
    let media = Media { audio: None, video: None, ..Media::default() };
    let mailboxes = (Mailbox::new(), Mailbox::new());
    let stream = Seed(1).stream("webrtc");
    let made = WebrtcSender::new(
        FlowContext::default(),
        &WebrtcConfig::default(),
        &media,
        stream,
        mailboxes,
        SideChannel::new(),
    );
    assert_eq!(made.err().map(|error| error.key), Some("media".to_owned()));
}

/// `cargo test --release -p fairwave-rtc what_a_second_costs -- --ignored --nocapture`
#[test]
#[ignore = "measures time"]
fn what_a_second_costs() {
    let mut wire = call(600, r#"{"control": {"name": "fixed", "rate": "1 Mb/s"}}"#);
    let begun = std::time::Instant::now();
    wire.run_until(ms(600_000));
    println!("{:.1} µs for a simulated second", begun.elapsed().as_secs_f64() * 1e6 / 600.0);
}
