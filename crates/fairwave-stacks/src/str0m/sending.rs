//! Sending peer: encoders that follow str0m's estimate.

use std::time::Duration;

use fairwave_core::encoder::{AudioEncoder, EncodedFrame, Media, StreamKind, VideoEncoder};
use fairwave_core::random::Seed;
use fairwave_core::traffic::Unit;
use fairwave_core::transport::media::{MediaSent, OutboundSample, SAMPLE_EVERY, StreamId, TransportSample};
use fairwave_core::transport::{Estimate, SenderView};
use fairwave_core::units::{Instant, Rate};
use str0m::bwe::{Bitrate, BweKind};
use str0m::format::Codec;
use str0m::media::Pt;
use str0m::rtp::{RtpWrite, Ssrc};

use super::peer::{AUDIO, Peer, VIDEO, Wanted};
use super::{HEADER, MOST_PAYLOAD, Str0mConfig};
use crate::carry::{self, Header, cut};
use crate::{Action, Event, Stack};

/// An RTP stream.
struct RtpStream {
    ssrc: u32,
    pt: Pt,
    clock: u64,
    sequence: u64,
}

/// The sending peer.
pub struct Sending {
    peer: Peer,
    connected: bool,
    /// Latest estimate.
    estimate: Rate,
    follows: super::Estimate,
    audio: Option<(AudioEncoder, Rate)>,
    video: Option<VideoEncoder>,
    /// Largest total rate of the encoders, b/s.
    most: u64,
    streams: [Option<RtpStream>; 2],
    totals: Vec<OutboundSample>,
    frame: u32,
    round_trip: Option<f64>,
    next_sample: Instant,
    shown: MediaSent,
    frames: Vec<EncodedFrame>,
}

impl Sending {
    /// Returns the sender of `media`.
    pub fn new(config: &Str0mConfig, media: &Media, seed: u64, encoders: u64) -> Self {
        let statistics = match config.estimate {
            super::Estimate::Events => Duration::from_secs(1),
            super::Estimate::Statistics => Duration::from_millis(50),
        };
        let mut peer = Peer::new(seed, Some(config.start), statistics);
        let seed = Seed(encoders);
        let audio = media.audio.as_ref().map(|audio| AudioEncoder::new(audio, seed.stream("microphone")));
        let audio = audio.map(|encoder| {
            let rate = encoder.rates().1;
            (encoder, rate)
        });
        let video = media.video.as_ref().map(|video| VideoEncoder::new(video, seed.stream("camera")));
        let bits = |rate: Rate| rate.bits_per_second();
        let most = audio.as_ref().map_or(0, |(_, rate)| bits(*rate))
            + video.as_ref().map_or(0, |video| packet_rate(bits(video.rates().1)));
        let desired = config.desired.map_or(most, bits);
        peer.with(|rtc| {
            rtc.bwe().set_desired_bitrate(Bitrate::bps(desired));
            Ok(())
        });
        let stream =
            |ssrc, codec, clock| peer.payload_type(codec).map(|pt| RtpStream { ssrc, pt, clock, sequence: 1000 });
        let streams = [
            audio.as_ref().and_then(|_| stream(AUDIO.1, Codec::Opus, 48_000)),
            video.as_ref().and_then(|_| stream(VIDEO.1, Codec::Vp8, 90_000)),
        ];
        let kinds = [(audio.is_some(), StreamKind::Audio), (video.is_some(), StreamKind::Video)];
        let totals = kinds.into_iter().filter(|(there, _)| *there);
        let totals = totals.map(|(_, kind)| OutboundSample::new(Instant::ZERO, StreamId { kind, place: 0 })).collect();
        Sending {
            peer,
            connected: false,
            estimate: config.start,
            follows: config.estimate,
            audio,
            video,
            most,
            streams,
            totals,
            frame: 0,
            round_trip: None,
            next_sample: Instant::NEVER,
            shown: MediaSent::default(),
            frames: Vec::new(),
        }
    }

    /// Sets the target rates of the encoders from the estimate.
    fn allocate(&mut self, now: Instant) {
        let target = self.estimate.bits_per_second().min(self.most);
        let audio = self.audio.as_ref().map_or(0, |(_, rate)| rate.bits_per_second());
        if let Some(video) = &mut self.video {
            let (least, most) = video.rates();
            let payload = target.saturating_sub(audio) * MOST_PAYLOAD as u64 / (MOST_PAYLOAD as u64 + HEADER - 28);
            let payload = payload.clamp(least.bits_per_second(), most.bits_per_second().max(least.bits_per_second()));
            video.set_target(now, Rate::from_bits_per_second(payload));
            if let Some(total) = self.totals.iter_mut().find(|total| total.stream.kind == StreamKind::Video) {
                total.target_bitrate = payload as f64;
            }
        }
        if let Some(total) = self.totals.iter_mut().find(|total| total.stream.kind == StreamKind::Audio) {
            total.target_bitrate = audio as f64;
        }
    }

    fn unit(&mut self, now: Instant, unit: &Unit) {
        if !self.connected {
            // Camera and microphone are off until the connection is established.
            return;
        }
        match StreamKind::from_number(unit.layer) {
            Some(StreamKind::Audio) => {
                let Some((encoder, rate)) = &mut self.audio else { return };
                let Some(frame) = encoder.encode(unit.created, *rate, 0.0) else { return };
                self.write(now, 0, unit, u32::from(frame.payload), (0, 0));
            }
            Some(StreamKind::Video) => {
                let Some(encoder) = &mut self.video else { return };
                let mut frames = std::mem::take(&mut self.frames);
                encoder.encode(unit.created, &mut frames);
                for frame in frames.drain(..) {
                    let quality = (frame.quality * 25.0) as u8 | if frame.key { 128 } else { 0 };
                    self.write(now, 1, unit, frame.bytes, (quality, self.frame));
                    self.frame = self.frame.wrapping_add(1);
                    if let Some(total) = self.totals.iter_mut().find(|total| total.stream.kind == StreamKind::Video) {
                        total.frames_encoded += 1;
                        total.frames_sent += 1;
                        total.key_frames_encoded += u64::from(frame.key);
                        (total.frame_width, total.frame_height) = (frame.width.into(), frame.height.into());
                    }
                }
                self.frames = frames;
            }
            Some(StreamKind::Screen) | None => {}
        }
    }

    /// Splits a frame of `bytes` bytes into packets and writes them.
    fn write(&mut self, now: Instant, place: usize, unit: &Unit, bytes: u32, (quality, frame): (u8, u32)) {
        let at = self.peer.to_clock(now);
        let Some(stream) = self.streams.get_mut(place).and_then(Option::as_mut) else { return };
        let time = (u128::from(unit.created.nanos()) * u128::from(stream.clock) / 1_000_000_000) as u32;
        let header = Header { quality, frame, ..Header::for_unit(unit) };
        let kind = if place == 0 { StreamKind::Audio } else { StreamKind::Video };
        for (header, size) in cut(header, bytes, MOST_PAYLOAD) {
            let mut payload = vec![0; size.max(carry::HEADER)];
            payload.iter_mut().zip(header.write()).for_each(|(place, byte)| *place = byte);
            if let Some(total) = self.totals.iter_mut().find(|total| total.stream.kind == kind) {
                total.packets_sent += 1;
                total.bytes_sent += payload.len() as u64;
            }
            let (ssrc, pt, sequence) = (stream.ssrc, stream.pt, stream.sequence);
            stream.sequence += 1;
            let packet =
                RtpWrite::new(pt, sequence.into(), time, at, payload).marker(header.after == 0).nackable(place == 1);
            self.peer.with(|rtc| {
                if let Some(stream) = rtc.direct_api().stream_tx(&Ssrc::from(ssrc)) {
                    stream.write_rtp(packet);
                }
                Ok(())
            });
        }
    }

    fn hear(&mut self, now: Instant, event: str0m::Event) {
        match event {
            str0m::Event::Connected => {
                self.connected = true;
                self.allocate(now);
            }
            str0m::Event::EgressBitrateEstimate(BweKind::Twcc { estimate, .. })
                if self.follows == super::Estimate::Events =>
            {
                self.estimate = Rate::from_bits_per_second(estimate.as_u64());
                self.allocate(now);
            }
            str0m::Event::KeyframeRequest(_) => {
                if let Some(video) = &mut self.video {
                    video.request_key_frame(0);
                }
                if let Some(total) = self.totals.iter_mut().find(|total| total.stream.kind == StreamKind::Video) {
                    total.pli_count += 1;
                }
            }
            str0m::Event::PeerStats(stats) => {
                self.round_trip = stats.rtt.map(|rtt| rtt.as_secs_f64());
                if let Some(estimate) = stats.bwe_tx.filter(|_| self.follows == super::Estimate::Statistics) {
                    self.estimate = Rate::from_bits_per_second(estimate.as_u64());
                    self.allocate(now);
                }
            }
            _ => {}
        }
    }

    fn sample(&mut self, now: Instant) {
        while self.next_sample <= now {
            let at = self.next_sample;
            self.next_sample = at + SAMPLE_EVERY;
            self.shown.outbound.extend(self.totals.iter().map(|total| OutboundSample { at, ..*total }));
            let bits = self.estimate.bits_per_second();
            self.shown.transport.push(TransportSample {
                at,
                available_outgoing_bitrate: bits as f64,
                target_bitrate: bits.min(self.most) as f64,
                pacing_bitrate: bits as f64,
                round_trip_time: self.round_trip,
                pacer_queue_bytes: 0,
                pacer_queue_time: 0.0,
                bytes_in_flight: 0,
                fraction_lost: None,
                state: "",
            });
        }
    }
}

/// Converts a payload rate of video to the rate of RTP packets.
fn packet_rate(payload: u64) -> u64 {
    payload * (MOST_PAYLOAD as u64 + HEADER - 28) / MOST_PAYLOAD as u64
}

impl Stack for Sending {
    const NAME: &'static str = "str0m";

    fn handle(&mut self, now: Instant, event: Event<'_>) {
        match event {
            Event::Start => {
                self.next_sample = now + SAMPLE_EVERY;
                self.peer.timer(now);
            }
            Event::Unit(unit) => self.unit(now, &unit),
            Event::Datagram { bytes, .. } => self.peer.arrived(now, bytes),
            Event::Timer => {
                self.sample(now);
                self.peer.timer(now);
            }
            Event::Stop => {}
        }
    }

    fn poll(&mut self, now: Instant) -> Action {
        loop {
            match self.peer.poll() {
                Wanted::Do(Action::Wait(until)) => return Action::Wait(until.min(self.next_sample)),
                Wanted::Do(action) => return action,
                Wanted::Hear(event) => self.hear(now, event),
            }
        }
    }

    fn view(&self) -> SenderView {
        let bits = self.estimate.bits_per_second() as f64;
        SenderView {
            rate: Some(bits),
            estimate: Some(Estimate::Bandwidth(bits)),
            smoothed_rtt: self.round_trip,
            ..SenderView::default()
        }
    }

    fn settle_media(&mut self, now: Instant) {
        self.sample(now);
        self.shown.totals = self.totals.iter().map(|total| OutboundSample { at: now, ..*total }).collect();
    }

    fn media_sent(&self) -> Option<&MediaSent> {
        Some(&self.shown)
    }
}
