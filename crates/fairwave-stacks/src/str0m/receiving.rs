//! Receiving peer: reassembles frames from RTP packets and shows them in order.

use std::collections::BTreeMap;
use std::time::Duration;

use fairwave_core::encoder::{Media, StreamKind};
use fairwave_core::transport::Delivery;
use fairwave_core::transport::media::{
    InboundSample, MediaReceived, Rated, SAMPLE_EVERY, StreamId, StreamQuality, StreamSummary, Unrated, VideoQuality,
    VideoRating,
};
use fairwave_core::units::{Instant, Span};
use str0m::media::KeyframeRequestKind;
use str0m::rtp::Ssrc;

use super::peer::{Peer, VIDEO, Wanted};
use crate::carry::{HEADER, Header, Parts};
use crate::{Action, Event, Stack};

/// Longest time that a frame waits for earlier ones.
const PATIENCE: Span = Span::from_millis(300);

/// Longest gap between pictures that is not a freeze: the rule of webrtc-stats for pictures 33 ms apart.
const FREEZE: Span = Span::from_millis(183);

/// Playback statistics of the video.
#[derive(Default)]
struct Seen {
    first: Option<Instant>,
    last: Option<Instant>,
    /// Sums over pictures: opinion × seconds, and seconds.
    opinion: f64,
    seconds: f64,
    frozen: f64,
    longest: f64,
    freezes: u64,
    latest: f64,
    delays: f64,
    shown: u64,
}

impl Seen {
    fn show(&mut self, now: Instant, opinion: f64, created: Instant) {
        self.stand(now);
        self.first.get_or_insert(now);
        (self.last, self.latest) = (Some(now), opinion);
        self.shown += 1;
        self.delays += now.span_since(created).seconds();
    }

    /// Keeps the latest picture on the screen until `now`.
    fn stand(&mut self, now: Instant) {
        let Some(last) = self.last else { return };
        let gap = now.span_since(last);
        self.seconds += gap.seconds();
        if gap > FREEZE {
            self.freezes += 1;
            self.frozen += gap.seconds();
            self.longest = self.longest.max(gap.seconds());
        } else {
            self.opinion += self.latest * gap.seconds();
        }
    }

    fn quality(&self, end: Instant) -> VideoQuality {
        let whole = self.first.map_or(0.0, |first| end.span_since(first).seconds());
        let moving = self.seconds - self.frozen;
        let rating = match (self.shown, moving > 0.0) {
            (0, _) => Rated::Not(Unrated::NothingPlayed),
            (_, false) => Rated::Not(Unrated::NoEncodedQuality),
            _ => Rated::As(VideoRating {
                encoded: self.opinion / moving,
                shown: (self.opinion + self.frozen) / self.seconds,
            }),
        };
        VideoQuality {
            rating,
            frame_rate: if whole > 0.0 { self.shown as f64 / whole } else { 0.0 },
            width: 0.0,
            height: 0.0,
            freeze_ratio: if self.seconds > 0.0 { self.frozen / self.seconds } else { 0.0 },
            capture_to_render: (self.shown > 0).then(|| self.delays / self.shown as f64),
            first_shown: self.first,
            left_out_before: 0.0,
            still: self.frozen,
            longest_still: self.longest,
        }
    }
}

/// The receiving peer.
pub struct Receiving {
    peer: Peer,
    parts: Parts,
    /// Complete frames that wait for earlier ones.
    complete: BTreeMap<u32, Header>,
    /// Number of the next frame to show; `None` before the first.
    next: Option<u32>,
    /// Time since which a frame waits or a key frame is requested.
    waits: Option<Instant>,
    delivered: Vec<Delivery>,
    sample: InboundSample,
    begins: Option<Instant>,
    has_video: bool,
    seen: Seen,
    next_sample: Instant,
    shown: MediaReceived,
}

impl Receiving {
    /// Returns the receiver of `media`.
    pub fn new(media: &Media, seed: u64) -> Self {
        Receiving {
            peer: Peer::new(seed, None, Duration::from_secs(1)),
            parts: Parts::default(),
            complete: BTreeMap::new(),
            next: None,
            waits: None,
            delivered: Vec::new(),
            sample: InboundSample::new(Instant::ZERO, StreamId { kind: StreamKind::Video, place: 0 }),
            begins: None,
            has_video: media.video.is_some(),
            seen: Seen::default(),
            next_sample: Instant::NEVER,
            shown: MediaReceived::default(),
        }
    }

    fn packet(&mut self, now: Instant, payload: &[u8]) {
        let Some(header) = payload.first_chunk::<HEADER>().map(Header::read) else { return };
        let video = StreamKind::from_number(header.layer) == Some(StreamKind::Video);
        if video {
            self.begins.get_or_insert(now);
            self.sample.packets_received += 1;
            self.sample.bytes_received += payload.len() as u64;
            self.sample.last_packet_received = Some(now);
        }
        let complete = self.parts.completes(&header);
        self.delivered.push(header.delivery(payload.len() as u32, complete));
        if complete && video {
            self.sample.frames_received += 1;
            self.complete.insert(header.frame, header);
            self.show(now);
        }
    }

    /// Shows all frames that can be decoded.
    fn show(&mut self, now: Instant) {
        while let Some((&number, header)) = self.complete.first_key_value() {
            let (key, late) = (header.quality >= 128, self.next.is_some_and(|next| number < next));
            if !late && !key && self.next != Some(number) {
                // A key frame after the gap ends the wait.
                let Some((&number, _)) = self.complete.iter().find(|(_, header)| header.quality >= 128) else { break };
                self.complete = self.complete.split_off(&number);
                continue;
            }
            let Some((_, header)) = self.complete.pop_first() else { break };
            if late {
                self.sample.frames_dropped += 1;
                continue;
            }
            self.next = Some(number.wrapping_add(1));
            self.seen.show(now, f64::from(header.quality & 127) / 25.0, header.created);
            self.sample.frames_decoded += 1;
            self.sample.frames_rendered += 1;
            self.sample.key_frames_decoded += u64::from(key);
        }
        self.waits = if self.complete.is_empty() { None } else { self.waits.or(Some(now)) };
    }

    /// Returns the time at which to request a key frame.
    fn patience_ends(&self) -> Instant {
        self.waits.map_or(Instant::NEVER, |since| since + PATIENCE)
    }

    fn tick(&mut self, now: Instant) {
        if self.patience_ends() <= now {
            self.waits = Some(now);
            self.sample.pli_count += 1;
            self.peer.with(|rtc| {
                if let Some(stream) = rtc.direct_api().stream_rx(&Ssrc::from(VIDEO.1)) {
                    stream.request_keyframe(KeyframeRequestKind::Pli);
                }
                Ok(())
            });
        }
        while self.has_video && self.next_sample <= now {
            self.shown.inbound.push(InboundSample { at: self.next_sample, ..self.counted() });
            self.next_sample += SAMPLE_EVERY;
        }
    }

    fn counted(&self) -> InboundSample {
        InboundSample { freeze_count: self.seen.freezes, total_freezes_duration: self.seen.frozen, ..self.sample }
    }
}

impl Stack for Receiving {
    const NAME: &'static str = "str0m";

    fn handle(&mut self, now: Instant, event: Event<'_>) {
        match event {
            Event::Start => {
                self.next_sample = now + SAMPLE_EVERY;
                self.peer.timer(now);
            }
            Event::Datagram { bytes, .. } => self.peer.arrived(now, bytes),
            Event::Timer => {
                self.tick(now);
                self.peer.timer(now);
            }
            Event::Unit(_) | Event::Stop => {}
        }
    }

    fn poll(&mut self, now: Instant) -> Action {
        loop {
            if let Some(delivery) = self.delivered.pop() {
                return Action::Deliver(delivery);
            }
            match self.peer.poll() {
                Wanted::Do(Action::Wait(until)) => {
                    return Action::Wait(until.min(self.patience_ends()).min(self.next_sample));
                }
                Wanted::Do(action) => return action,
                Wanted::Hear(str0m::Event::RtpPacket(packet)) => self.packet(now, &packet.payload),
                Wanted::Hear(_) => {}
            }
        }
    }

    fn settle_media(&mut self, now: Instant) {
        if self.has_video {
            self.seen.stand(now);
            let total = InboundSample { at: now, ..self.counted() };
            let rating = if self.begins.is_none() {
                Rated::Not(Unrated::NothingReceived)
            } else {
                self.seen.quality(now).rating
            };
            let quality = StreamQuality::Video(VideoQuality { rating, ..self.seen.quality(now) });
            self.shown.streams = vec![StreamSummary { total, begins: self.begins, quality, lip_sync_offset: None }];
        }
    }

    fn media_received(&self) -> Option<&MediaReceived> {
        Some(&self.shown)
    }
}
