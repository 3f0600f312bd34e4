//! Video receiver, from packets to shown pictures. Follows libwebrtc's `video_stream_buffer_controller.cc` and
//! `video_receive_stream2.cc`. Frames are decoded one after another. A key frame is requested after 3 s without a
//! decodable frame, and then every 200 ms until one arrives. There are no requests while a key frame is arriving or
//! after 5 s without packets.

use std::collections::VecDeque;

use super::config::ReceiveConfig;
use super::frames::{Frame, Frames, Inserted};
use super::freeze::Smoothness;
use super::jitter::JitterEstimator;
use super::timing::{Schedule, Timing};
use crate::rtp::RtpHeader;
use crate::side_channel::{Picture, SideChannel};
use fairwave_endpoint::media::{InboundSample, Rated, Unrated, VideoQuality, VideoRating};
use fairwave_media::encoder::{Spells, StreamKind};
use fairwave_units::units::{Instant, Span};

/// RTP clock of video.
pub const CLOCK: u32 = 90_000;
/// A stream without packets for this long is inactive.
const INACTIVE: Span = Span::from_secs(5);

/// One encoding of a received camera or screen.
#[derive(Clone, Debug)]
pub struct Video {
    config: ReceiveConfig,
    frames: Frames,
    jitter: JitterEstimator,
    timing: Timing,
    smoothness: Smoothness,
    needs_key: bool,
    begun: bool,
    timeout: Instant,
    decode_at: Instant,
    render_at: Option<f64>,
    decoder_free: Instant,
    last_packet: Instant,
    last_key_packet: Option<Instant>,
    decoded_lately: VecDeque<Instant>,
    picture: Option<Picture>,
    frames_received: u64,
    keys: u64,
    decoded: u64,
    buffer_delay: f64,
    target: f64,
    minimum: f64,
    late_packets: u64,
    delay_sum: f64,
    first_packet: Option<Instant>,
    seen: Seen,
    playing: Option<(Instant, Instant)>,
    kind: StreamKind,
    /// When the camera is off, as signalled.
    off: Spells,
    /// Side channel: periods in which a server does not forward the stream.
    side_channel: SideChannel,
}

/// Sums over the display time of pictures.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    time: f64,
    width: f64,
    height: f64,
    quality: f64,
    untold: bool,
}

impl Seen {
    fn add(&mut self, picture: Option<Picture>, seconds: f64) {
        let Some(picture) = picture else {
            self.untold = true;
            return;
        };
        self.time += seconds;
        self.width += seconds * f64::from(picture.width);
        self.height += seconds * f64::from(picture.height);
        self.quality += seconds * f64::from(picture.quality);
    }
}

impl Video {
    /// Returns a receiver before its first packet. The configuration must have been checked.
    pub fn new(config: &ReceiveConfig, kind: StreamKind, off: Spells, side_channel: SideChannel) -> Self {
        Video {
            kind,
            off,
            side_channel,
            config: *config,
            frames: Frames::default(),
            jitter: JitterEstimator::default(),
            timing: Timing::new(config),
            smoothness: Smoothness::default(),
            needs_key: true,
            begun: false,
            timeout: Instant::NEVER,
            decode_at: Instant::NEVER,
            render_at: None,
            decoder_free: Instant::ZERO,
            last_packet: Instant::ZERO,
            last_key_packet: None,
            decoded_lately: VecDeque::new(),
            picture: None,
            frames_received: 0,
            keys: 0,
            decoded: 0,
            buffer_delay: 0.0,
            target: 0.0,
            minimum: 0.0,
            late_packets: 0,
            delay_sum: 0.0,
            first_packet: None,
            seen: Seen::default(),
            playing: None,
        }
    }

    /// Handles a media packet that arrived or was restored. Returns whether to request a key frame.
    pub fn on_packet(&mut self, now: Instant, number: u64, header: &RtpHeader, created: Instant, again: bool) -> bool {
        self.first_packet.get_or_insert(now);
        self.last_packet = now;
        if header.key {
            self.last_key_packet = Some(now);
        }
        if self.timeout == Instant::NEVER {
            self.timeout = now + self.patience();
        }
        let Inserted { completed, useless, overflow } = self.frames.insert(now, number, header, created, again);
        self.late_packets += u64::from(useless);
        let mut asks = overflow;
        if let Some(frame) = completed {
            self.frames_received += u64::from(frame.ends_moment);
            asks |= !std::mem::replace(&mut self.begun, true) && !frame.key;
            if !frame.again {
                self.timing.on_complete(frame.complete, frame.timestamp);
            }
            self.schedule(now);
        }
        asks
    }

    fn patience(&self) -> Span {
        if self.needs_key { self.config.max_wait_for_key_frame } else { self.config.max_wait_for_frame }
    }

    fn schedule(&mut self, now: Instant) {
        self.decode_at = Instant::NEVER;
        while let Some(moment) = self.frames.next() {
            let Some(first) = self.frames.frames(moment).next() else { return };
            if self.needs_key {
                if !first.key {
                    self.frames.take(moment, false);
                    continue;
                }
                self.render_at = self.timing.render_time(first.timestamp, now);
                self.decode_at = now.max(self.decoder_free);
                return;
            }
            let last = || !self.frames.is_followed(moment);
            match self.timing.schedule(first.timestamp, now, last, self.frames.len()) {
                Schedule::Drop => self.frames.take(moment, false),
                Schedule::Decode(when, render) => {
                    // It is decoded before the stream times out.
                    let latest = self.timeout.span_since(now).saturating_sub(Span::from_millis(1));
                    self.render_at = render;
                    self.decode_at = when.min(now + latest).max(now).max(self.decoder_free);
                    return;
                }
            }
        }
    }

    /// Returns the next deadline.
    pub fn deadline(&self) -> Instant {
        self.decode_at.min(self.timeout)
    }

    /// Decodes the frames that are due; the last one is the picture. `picture` returns its properties.
    pub fn decode(&mut self, now: Instant, picture: impl Fn(&SideChannel, &Frame) -> Option<Picture>) -> Option<Frame> {
        if now < self.decode_at {
            return None;
        }
        let Some(moment) = self.frames.next() else {
            self.decode_at = Instant::NEVER;
            return None;
        };
        let mut frames = self.frames.frames(moment);
        let first = *frames.next()?;
        let (mut last, mut again, mut bytes) = (first, first.again, first.bytes);
        let (mut begun, mut arrived) = (first.begun, first.complete);
        for frame in frames {
            again |= frame.again;
            (begun, arrived) = (begun.min(frame.begun), arrived.max(frame.complete));
            bytes = bytes.saturating_add(frame.bytes);
            last = *frame;
        }
        self.frames.take(moment, true);
        if first.key {
            self.needs_key = false;
            self.keys += 1;
        }
        if self.timing.is_nonsense(self.render_at, now) {
            self.timing.reset(now);
            self.render_at = self.timing.render_time(first.timestamp, now);
        }
        if again {
            self.jitter.on_nacked_frame(now);
        } else {
            self.jitter.on_frame(now, arrived, first.timestamp, bytes);
            let jitter = self.jitter.estimate(now);
            self.timing.set_minimum(jitter);
        }
        self.timing.on_decode(now, self.render_at, again);
        let (target, minimum) = self.timing.buffer_targets();
        self.buffer_delay += now.span_since(begun).seconds();
        self.target += target / 1e3;
        self.minimum += minimum / 1e3;
        self.decoded += 1;
        self.decoded_lately.push_back(now);
        while self.decoded_lately.front().is_some_and(|&then| now.span_since(then) >= Span::from_secs(1)) {
            self.decoded_lately.pop_front();
        }
        self.decoder_free = now + self.config.decode_time;
        self.timeout = now + self.patience();
        let ready = self.decoder_free;
        let mut shown = self.render_at.map_or(ready, |render| ready.max(Instant::from_seconds(render)));
        let mut away = Span::ZERO;
        if let Some(before) = self.smoothness.last() {
            shown = shown.max(before);
            away = self.away(last.created);
            let seconds = shown.span_since(before).saturating_sub(away).seconds();
            self.seen.add(self.picture, seconds);
        }
        self.smoothness.on_shown(shown, away);
        self.picture = picture(&self.side_channel, &last);
        self.delay_sum += shown.span_since(last.created).seconds();
        self.playing = Some((shown, last.created));
        self.schedule(now);
        Some(last)
    }

    /// Returns how long the camera was off or not forwarded, between the shown picture and one captured at `created`.
    fn away(&self, created: Instant) -> Span {
        self.playing.map_or(Span::ZERO, |(_, before)| self.absent(before, created))
    }

    fn absent(&self, from: Instant, until: Instant) -> Span {
        self.side_channel.absent(self.kind, &self.off, from, until)
    }

    /// Checks whether to request a key frame because nothing could be decoded for too long.
    pub fn times_out(&mut self, now: Instant) -> bool {
        if now < self.timeout {
            return false;
        }
        if now.span_since(self.last_packet) >= INACTIVE {
            self.timeout = Instant::NEVER;
            return false;
        }
        self.timeout = now + self.patience();
        self.last_key_packet.is_none_or(|last| now.span_since(last) >= self.config.max_wait_for_key_frame)
    }

    /// Sets the round trip.
    pub fn set_round_trip(&mut self, round_trip: Span) {
        self.jitter.set_round_trip(round_trip);
    }

    /// Returns the target delay for lip synchronisation, ms.
    pub fn target_delay(&self) -> i64 {
        self.timing.target() as i64
    }

    /// Sets the least delay, ms, for lip synchronisation.
    pub fn set_least(&mut self, millis: i64) {
        self.timing.set_least((millis as f64).max(self.config.min_playout_delay.millis()));
    }

    /// Writes the display counters at time `at`.
    pub fn count(&self, at: Instant, sample: &mut InboundSample) {
        let shown = &self.smoothness;
        sample.packets_discarded = self.late_packets;
        sample.frames_received = self.frames_received;
        sample.frames_decoded = self.decoded;
        sample.key_frames_decoded = self.keys;
        sample.frames_rendered = shown.shown;
        sample.frames_dropped = self.frames.dropped;
        sample.frame_width = self.picture.map_or(0, |picture| u32::from(picture.width));
        sample.frame_height = self.picture.map_or(0, |picture| u32::from(picture.height));
        let lately = self.decoded_lately.iter().filter(|&&then| at.span_since(then) < Span::from_secs(1)).count();
        sample.frames_per_second = lately as f64;
        sample.total_inter_frame_delay = shown.gaps_sum;
        sample.total_squared_inter_frame_delay = shown.gaps_squares;
        sample.freeze_count = shown.freezes;
        sample.total_freezes_duration = shown.freezes_sum;
        sample.pause_count = shown.pauses;
        sample.total_pauses_duration = shown.pauses_sum;
        sample.jitter_buffer_delay = self.buffer_delay;
        sample.jitter_buffer_target_delay = self.target;
        sample.jitter_buffer_minimum_delay = self.minimum;
        sample.jitter_buffer_emitted_count = self.decoded;
        sample.estimated_playout = self.playing.map(|(shown, created)| created + at.span_since(shown));
    }

    /// Returns the mean time from capture to display, seconds; `None` if nothing was shown.
    pub fn capture_to_render(&self) -> Option<f64> {
        (self.decoded > 0).then(|| self.delay_sum / self.decoded as f64)
    }

    /// Returns the quality of the shown video until `end`.
    pub fn quality(&self, end: Instant, packets: u64) -> VideoQuality {
        let mut seen = self.seen;
        let away = self.away(end);
        let freeze_ratio = self.smoothness.freeze_ratio(end, away);
        if let Some(last) = self.smoothness.last() {
            // The last picture stays on the screen until the end.
            let seconds = end.span_since(last).saturating_sub(away).seconds();
            seen.add(self.picture, seconds);
        }
        let time = self
            .first_packet
            .map_or(0.0, |first| end.span_since(first).saturating_sub(self.absent(first, end)).seconds());
        let begins = self.smoothness.first().unwrap_or(end);
        let left_out = self.absent(Instant::ZERO, begins).saturating_sub(self.off.covered(Instant::ZERO, begins));
        let mean = |sum: f64| if seen.time > 0.0 { sum / seen.time } else { 0.0 };
        let rating = if packets == 0 {
            Rated::Not(Unrated::NothingReceived)
        } else if self.decoded == 0 {
            Rated::Not(Unrated::NothingPlayed)
        } else if seen.untold || seen.time <= 0.0 {
            Rated::Not(Unrated::NoEncodedQuality)
        } else {
            let encoded = mean(seen.quality);
            Rated::As(VideoRating { encoded, shown: encoded * (1.0 - freeze_ratio) + freeze_ratio })
        };
        VideoQuality {
            rating,
            frame_rate: if time > 0.0 { self.smoothness.shown as f64 / time } else { 0.0 },
            width: mean(seen.width),
            height: mean(seen.height),
            freeze_ratio,
            capture_to_render: self.capture_to_render(),
            first_shown: self.smoothness.first(),
            left_out_before: left_out.seconds(),
            still: self.smoothness.still(end, away),
            longest_still: self.smoothness.longest(end, away),
        }
    }
}
