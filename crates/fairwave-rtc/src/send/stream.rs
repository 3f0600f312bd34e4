//! A sent RTP stream with its retransmissions, parity, reports and counters.

use std::collections::VecDeque;

use super::repair::PacketHistory;
use crate::rtcp::SenderReport;
use crate::rtcp::time::ntp;
use crate::rtp::{Role, Ssrc};
use fairwave_endpoint::media::{OutboundSample, StreamId};
use fairwave_media::encoder::{EncodedFrame, StreamKind};
use fairwave_units::random::Stream;
use fairwave_units::units::{Instant, Span};

/// A sent RTP stream.
#[derive(Clone, Debug)]
pub struct RtpStream {
    pub(super) kind: StreamKind,
    pub(super) simulcast: u8,
    pub(super) ssrc: Ssrc,
    /// First sequence number, and the next ones of media, retransmissions and parity.
    pub(super) begin: u16,
    pub(super) sequence: u16,
    pub(super) again: u16,
    pub(super) parity: u16,
    /// Random offset of RTP timestamps (RFC 3550 §5.1).
    offset: u32,
    /// Number of the next frame.
    pub(super) frame: u16,
    /// Newest frame of each spatial and temporal layer.
    newest: [[Option<u16>; 8]; 8],
    pub(super) history: PacketHistory,
    /// Time of the next sender report; never before the first packet.
    pub(super) report: Instant,
    packets: u32,
    octets: u32,
    /// Highest number and loss in the latest report block.
    pub(super) reported: Option<(u32, i32)>,
    pub(super) asked_key: Option<Instant>,
    pub(super) command: Option<u8>,
    encoded: VecDeque<Instant>,
    pub(super) sample: OutboundSample,
    /// Time since which the current reason limits quality.
    pub(super) limited_since: Instant,
}

impl RtpStream {
    /// Returns a stream before its first packet; `random` draws its initial numbers (RFC 3550 §5.1).
    pub fn new(kind: StreamKind, simulcast: u8, random: &mut Stream) -> Self {
        // libwebrtc starts in the lower half, which leaves room before the first wrap.
        let begin = random.uniform_below(1 << 15) as u16;
        RtpStream {
            kind,
            simulcast,
            ssrc: Ssrc::new(kind, simulcast, Role::Media),
            begin,
            sequence: begin,
            again: random.uniform_below(1 << 15) as u16,
            parity: random.uniform_below(1 << 15) as u16,
            offset: random.uniform_below(1 << 32) as u32,
            frame: 0,
            newest: [[None; 8]; 8],
            history: PacketHistory::default(),
            report: Instant::NEVER,
            packets: 0,
            octets: 0,
            reported: None,
            asked_key: None,
            command: None,
            encoded: VecDeque::new(),
            sample: OutboundSample::new(Instant::ZERO, StreamId { kind, place: simulcast }),
            limited_since: Instant::ZERO,
        }
    }

    /// Clock rate, ticks per second: 48 kHz for audio (RFC 7587 §4.1), 90 kHz for video (RFC 3551 §5).
    pub fn clock(&self) -> u32 {
        if self.kind == StreamKind::Audio { 48_000 } else { 90_000 }
    }

    /// Converts a time of the sender's clock to an RTP timestamp.
    pub fn timestamp(&self, time: Instant) -> u32 {
        let ticks = u128::from(time.nanos()) * u128::from(self.clock()) / 1_000_000_000;
        (ticks as u32).wrapping_add(self.offset)
    }

    /// Returns the current value and increments it.
    pub(super) fn number(next: &mut u16) -> u16 {
        let number = *next;
        *next = next.wrapping_add(1);
        number
    }

    /// Returns the number of a frame, and the distance to the frame that it depends on; 0 for none. A frame of a
    /// temporal layer depends on the newest frame of the layers below (the lowest: of the same layer). A key frame of
    /// an upper spatial layer depends on the layer below it.
    pub(super) fn place(&mut self, frame: &EncodedFrame) -> (u16, u8) {
        let number = Self::number(&mut self.frame);
        let (spatial, temporal) = (usize::from(frame.spatial & 7), usize::from(frame.temporal & 7));
        if frame.key && spatial == 0 {
            self.newest = [[None; 8]; 8];
        }
        let back = |of: &Option<u16>| of.map(|of| number.wrapping_sub(of)).filter(|back| *back <= u16::from(u8::MAX));
        let own =
            self.newest.get(spatial).and_then(|layers| layers.iter().take(temporal.max(1)).filter_map(back).min());
        let below = spatial.checked_sub(1).and_then(|below| self.newest.get(below)?.iter().filter_map(back).min());
        let depends = if frame.key && spatial == 0 {
            0
        } else if frame.key {
            below.unwrap_or(0)
        } else {
            own.or(below).unwrap_or(1)
        };
        if let Some(place) = self.newest.get_mut(spatial).and_then(|layers| layers.get_mut(temporal)) {
            *place = Some(number);
        }
        (number, u8::try_from(depends).unwrap_or(u8::MAX))
    }

    /// Counts an encoded frame; `ends` is true for the last spatial layer of a picture.
    pub(super) fn count_frame(&mut self, now: Instant, frame: &EncodedFrame, huge: bool, ends: bool) {
        self.sample.key_frames_encoded += u64::from(frame.key && frame.spatial == 0);
        self.sample.huge_frames_sent += u64::from(huge);
        if !ends {
            return;
        }
        while self.encoded.front().is_some_and(|then| now.span_since(*then) >= Span::from_secs(1)) {
            self.encoded.pop_front();
        }
        self.encoded.push_back(now);
        let sample = &mut self.sample;
        sample.frames_encoded += 1;
        let (width, height) = (u32::from(frame.width), u32::from(frame.height));
        if (sample.frame_width, sample.frame_height) != (width, height) {
            sample.quality_limitation_resolution_changes += u64::from(sample.frame_width != 0);
            (sample.frame_width, sample.frame_height) = (width, height);
        }
    }

    /// Counts a sent media packet for sender reports. They count neither padding nor retransmissions; the latter have
    /// separate streams.
    pub(super) fn count_media(&mut self, payload: u16) {
        self.packets = self.packets.wrapping_add(1);
        self.octets = self.octets.wrapping_add(u32::from(payload));
    }

    /// Returns the sender report at `now`.
    pub(super) fn sender_report(&self, now: Instant) -> SenderReport {
        SenderReport {
            ssrc: self.ssrc.number(),
            ntp: ntp(now),
            rtp: self.timestamp(now),
            packets: self.packets,
            octets: self.octets,
            blocks: Vec::new(),
        }
    }

    /// Returns the counters at `at`.
    pub(super) fn sample_at(&mut self, at: Instant) -> OutboundSample {
        while self.encoded.front().is_some_and(|then| at.span_since(*then) >= Span::from_secs(1)) {
            self.encoded.pop_front();
        }
        let mut sample = self.sample;
        sample.at = at;
        sample.frames_per_second = self.encoded.len() as f64;
        if self.kind != StreamKind::Audio {
            let open = at.span_since(self.limited_since).seconds();
            if let Some(place) = sample.quality_limitation_durations.get_mut(sample.quality_limitation as usize) {
                *place += open;
            }
        }
        sample
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwave_units::random::Seed;

    fn frame(key: bool, spatial: u8, temporal: u8) -> EncodedFrame {
        EncodedFrame { bytes: 1000, key, stream: 0, spatial, temporal, width: 640, height: 360, quality: 4.0 }
    }

    #[test]
    fn frames_depend_on_the_newest_of_the_layers_below() {
        let mut stream = RtpStream::new(StreamKind::Video, 0, &mut Seed(1).stream("rtp"));
        let mut depends = |key, temporal| stream.place(&frame(key, 0, temporal)).1;
        // Three temporal layers: 0 2 1 2, repeated.
        assert_eq!(
            [(true, 0), (false, 2), (false, 1), (false, 2)].map(|(key, layer)| depends(key, layer)),
            [0, 1, 2, 1]
        );
        assert_eq!(
            [(false, 0), (false, 2), (false, 1), (false, 2)].map(|(key, layer)| depends(key, layer)),
            [4, 1, 2, 1]
        );
        assert_eq!(depends(true, 0), 0, "a key frame depends on nothing");
    }

    #[test]
    fn spatial_layers_depend_on_the_one_below_at_key_frames_and_on_themselves_after() {
        let mut stream = RtpStream::new(StreamKind::Video, 0, &mut Seed(1).stream("rtp"));
        let mut depends = |key, spatial| stream.place(&frame(key, spatial, 0)).1;
        assert_eq!([depends(true, 0), depends(true, 1), depends(false, 0), depends(false, 1)], [0, 1, 2, 2]);
    }

    #[test]
    fn timestamps_run_at_the_clock_of_the_media() {
        for (kind, clock) in [(StreamKind::Audio, 48_000), (StreamKind::Screen, 90_000)] {
            let stream = RtpStream::new(kind, 0, &mut Seed(3).stream("rtp"));
            let (begin, end) =
                (stream.timestamp(Instant::ZERO), stream.timestamp(Instant::ZERO + Span::from_secs(100_000)));
            assert_eq!(end.wrapping_sub(begin), (100_000u64 * clock) as u32);
        }
    }
}
