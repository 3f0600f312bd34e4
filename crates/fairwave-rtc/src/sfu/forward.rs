//! Forwarding of one stream to one receiver: renumbers packets, and caches sent ones.
//!
//! The receiver sees one stream whose only gaps come from the network. Numbers that the server has not received yet
//! stay reserved. Packets that the server omits on purpose (temporal or spatial layers) take no number.

use super::layers::Rung;
use crate::receive::reception::Unwrapper;
use crate::recent::Recent;
use crate::rtp::{PayloadKind, Role, RtpHeader, Ssrc};
use crate::sizes;
use fairwave_endpoint::media::{OutboundSample, QualityLimitation, StreamId};
use fairwave_media::encoder::StreamKind;
use fairwave_units::units::{Instant, Span};

/// Number of packets remembered and cached per stream; a power of two.
const KEPT: usize = 1024;
/// A larger jump of incoming numbers restarts the numbering.
const JUMP: u64 = 512;
/// Time added to the round trip before another retransmission of a packet, as in [`crate::send::repair`].
const SLACK: Span = Span::from_millis(5);

/// Mapping of incoming to outgoing sequence numbers.
#[derive(Clone, Debug, Default)]
struct Renumber {
    numbers: Unwrapper,
    highest: Option<u64>,
    next: u16,
    kept: Recent<u16, KEPT>,
}

impl Renumber {
    fn take(&mut self) -> u16 {
        let out = self.next;
        self.next = self.next.wrapping_add(1);
        out
    }

    /// Prepares for the numbers of another stream.
    fn begin(&mut self) {
        (self.numbers, self.highest) = (Unwrapper::default(), None);
        self.kept.clear();
    }

    /// Returns the outgoing number of a packet; `None` if it is omitted. Appends earlier numbers that are still
    /// missing, as (in, out), to `missing`.
    fn renumber(&mut self, sequence: u16, keep: bool, missing: &mut Vec<(u16, u16)>) -> Option<u16> {
        let number = self.numbers.unwrap(sequence);
        let highest = self.highest.unwrap_or(number - 1);
        if number <= highest {
            return self.kept.get(number).copied();
        }
        if number - highest <= JUMP {
            for between in highest + 1..number {
                let out = self.take();
                self.kept.put(between, out);
                missing.push((between as u16, out));
            }
        }
        self.highest = Some(number);
        keep.then(|| {
            let out = self.take();
            self.kept.put(number, out);
            out
        })
    }
}

/// A sent packet.
#[derive(Clone, Copy, Debug)]
struct Cached {
    header: RtpHeader,
    wire: u16,
    created: Instant,
    sent: Instant,
    again: bool,
}

/// Result of forwarding a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Passed {
    /// The outgoing packet, if it is forwarded.
    pub header: Option<RtpHeader>,
    /// If it starts a frame: the incoming frame number.
    pub frame: Option<u16>,
    /// The layer for which the publisher must send a key frame.
    pub wants_key: Option<u8>,
    /// True if the stream starts or restarts with this packet.
    pub begins: bool,
}

/// Forwarding state of a stream to a receiver.
#[derive(Clone, Debug)]
pub struct Forward {
    kind: StreamKind,
    /// True for spatial layers of one stream, false for simulcast streams.
    stacked: bool,
    /// Target rung; `None` while the receiver gets nothing.
    pub target: Option<Rung>,
    /// Layer that is forwarded.
    current: Option<u8>,
    numbers: Renumber,
    frames: u16,
    offset: u16,
    again: u16,
    cache: Recent<Cached, KEPT>,
    /// Missing incoming packets before the latest one: numbers as (in, out).
    pub missing: Vec<(u16, u16)>,
    /// Earliest time at which the receiver may move up again.
    pub up_from: Option<Instant>,
    /// Time of the next sender report.
    pub report: Instant,
    /// Counters.
    pub sample: OutboundSample,
    /// Changes of the forwarded layer, including stops for lack of rate and restarts.
    pub switches: u64,
    /// True while stopped for lack of rate.
    paused: bool,
    /// Capture time of the latest forwarded frame.
    captured: Option<Instant>,
    /// Why the receiver gets less than is available, and since when.
    limited: (QualityLimitation, Instant),
}

impl Forward {
    /// Returns a stream before its first packet.
    pub fn new(kind: StreamKind, stacked: bool) -> Self {
        Forward {
            kind,
            stacked,
            target: None,
            current: None,
            numbers: Renumber::default(),
            frames: 0,
            offset: 0,
            again: 0,
            cache: Recent::default(),
            missing: Vec::new(),
            up_from: None,
            report: Instant::NEVER,
            sample: OutboundSample::new(Instant::ZERO, StreamId { kind, place: 0 }),
            switches: 0,
            paused: false,
            captured: None,
            limited: (QualityLimitation::None, Instant::ZERO),
        }
    }

    /// Sets why the receiver gets less than is available, from `now` on.
    pub fn limit(&mut self, now: Instant, reason: QualityLimitation) {
        if reason != self.limited.0 {
            self.sample.quality_limitation_durations = self.limited_times(now);
            self.limited = (reason, now);
        }
    }

    fn limited_times(&self, now: Instant) -> [f64; 3] {
        let mut times = self.sample.quality_limitation_durations;
        if let Some(time) = times.get_mut(self.limited.0 as usize) {
            *time += now.span_since(self.limited.1).seconds();
        }
        times
    }

    /// Starts the session: the times of [`Forward::limit`] count from `now`.
    pub fn begin(&mut self, now: Instant) {
        self.limited.1 = now;
    }

    /// Returns the counters at time `at`.
    pub fn sample_at(&self, at: Instant) -> OutboundSample {
        OutboundSample {
            at,
            quality_limitation: self.limited.0,
            quality_limitation_durations: self.limited_times(at),
            quality_limitation_resolution_changes: self.switches,
            ..self.sample
        }
    }

    /// Stops the stream for lack of rate.
    pub fn pause(&mut self) {
        if self.current.is_some() {
            (self.switches, self.paused) = (self.switches + 1, true);
        }
        self.stop();
    }

    /// Returns the SSRC for `role`.
    pub fn ssrc(&self, role: Role) -> Ssrc {
        Ssrc::new(self.kind, 0, role)
    }

    /// Returns the capture time of the latest forwarded frame; `None` before the first.
    pub fn captured(&self) -> Option<Instant> {
        self.captured
    }

    /// Returns the layer that is forwarded.
    pub fn current(&self) -> Option<u8> {
        self.current
    }

    /// Converts a capture time to an RTP timestamp; all layers share one clock.
    pub fn timestamp(&self, created: Instant) -> u32 {
        let clock = if self.kind == StreamKind::Audio { 48_000 } else { 90_000 };
        (u128::from(created.nanos()) * clock / 1_000_000_000) as u32
    }

    fn rewrite(&self, header: &RtpHeader, sequence: u16, created: Instant) -> RtpHeader {
        RtpHeader {
            ssrc: self.ssrc(Role::Media),
            kind: PayloadKind::Media,
            sequence,
            timestamp: self.timestamp(created),
            frame: header.frame.wrapping_add(self.offset),
            base: 0,
            mask: 0,
            ..*header
        }
    }

    /// Stops the stream; the next packet restarts it.
    pub fn stop(&mut self) {
        if self.current.take().is_some() {
            self.numbers.begin();
        }
    }

    /// Forwards a packet of speech.
    pub fn audio(&mut self, header: &RtpHeader, created: Instant) -> Passed {
        self.missing.clear();
        if self.current.is_none() {
            self.numbers.begin();
            self.current = Some(0);
            self.offset = self.frames.wrapping_sub(header.frame);
        }
        let sequence = self.numbers.renumber(header.sequence, true, &mut self.missing);
        let header = sequence.map(|sequence| self.rewrite(header, sequence, created));
        if let Some(header) = header {
            self.frames = header.frame.wrapping_add(1);
        }
        Passed { header, ..Passed::default() }
    }

    /// Returns a silence frame from the server, with the next number.
    pub fn silence(&mut self, template: RtpHeader, created: Instant) -> RtpHeader {
        let sequence = self.numbers.take();
        self.offset = self.frames.wrapping_sub(template.frame);
        let header = self.rewrite(&template, sequence, created);
        self.frames = header.frame.wrapping_add(1);
        header
    }

    /// Handles a packet of video from the publisher.
    pub fn video(&mut self, header: &RtpHeader, created: Instant) -> Passed {
        self.missing.clear();
        let Some((_, place, _)) = header.ssrc.parts() else { return Passed::default() };
        let Some(target) = self.target else {
            self.stop();
            return Passed::default();
        };
        let mut passed = Passed::default();
        let layer = if self.stacked { header.spatial } else { place };
        if self.current != Some(target.layer) {
            // A switch to a simulcast stream or to a higher spatial layer needs a key frame; a switch to a lower
            // spatial layer needs none.
            let begins = if self.stacked {
                let down = self.current.is_some_and(|current| target.layer < current);
                header.first && header.spatial == 0 && (header.key || down)
            } else {
                layer == target.layer && header.first && header.key
            };
            if begins {
                self.switches += u64::from(self.current.is_some() || self.paused);
                self.paused = false;
                passed.begins = self.current.is_none();
                if self.current.is_none() || !self.stacked {
                    self.numbers.begin();
                    self.offset = self.frames.wrapping_sub(header.frame);
                }
                self.current = Some(target.layer);
            } else if !(self.stacked && self.current.is_some_and(|current| target.layer < current)) {
                passed.wants_key = Some(if self.stacked { 0 } else { target.layer });
            }
        }
        let Some(current) = self.current else { return passed };
        if !self.stacked && layer != current {
            return passed;
        }
        let keep = header.temporal <= target.temporal && (!self.stacked || layer <= current);
        let Some(sequence) = self.numbers.renumber(header.sequence, keep, &mut self.missing) else { return passed };
        let mut out = self.rewrite(header, sequence, created);
        if self.stacked {
            // The highest forwarded layer ends the picture.
            out.marker |= header.last && header.spatial == current;
        }
        let next = out.frame.wrapping_add(1);
        if next.wrapping_sub(self.frames) < 1 << 15 {
            self.frames = next;
        }
        self.captured = self.captured.max(Some(created));
        (passed.header, passed.frame) = (Some(out), header.first.then_some(header.frame));
        passed
    }

    /// Caches a sent packet for retransmission.
    pub fn cache(&mut self, now: Instant, header: &RtpHeader, wire: u16, created: Instant) {
        let cached = Cached { header: *header, wire, created, sent: now, again: false };
        self.cache.put(u64::from(header.sequence), cached);
    }

    /// Returns the requested packet in the retransmission stream, if it should be sent again now.
    pub fn asked(&mut self, now: Instant, sequence: u16, round_trip: Span) -> Option<(RtpHeader, u16, Instant)> {
        let cached = self.cache.get_mut(u64::from(sequence))?;
        if cached.again && now < cached.sent + round_trip + SLACK {
            return None;
        }
        (cached.again, cached.sent) = (true, now);
        let (mut header, wire, created) = (cached.header, cached.wire, cached.created);
        header.base = header.sequence;
        header.ssrc = self.ssrc(Role::Retransmission);
        header.kind = PayloadKind::Retransmission;
        header.sequence = self.next_again();
        Some((header, wire.saturating_add(sizes::ORIGINAL_SEQUENCE), created))
    }

    /// Returns the next number of the retransmission stream, which also carries padding.
    pub fn next_again(&mut self) -> u16 {
        let number = self.again;
        self.again = number.wrapping_add(1);
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(place: u8, sequence: u16, frame: u16, key: bool, temporal: u8) -> RtpHeader {
        RtpHeader {
            ssrc: Ssrc::new(StreamKind::Video, place, Role::Media),
            sequence,
            frame,
            key,
            temporal,
            first: true,
            last: true,
            marker: true,
            ..RtpHeader::default()
        }
    }

    fn sent(forward: &mut Forward, header: RtpHeader) -> Option<(u16, u16)> {
        forward.video(&header, Instant::ZERO).header.map(|out| (out.sequence, out.frame))
    }

    fn forward(layer: u8, temporal: u8) -> Forward {
        Forward { target: Some(Rung { layer, temporal }), ..Forward::new(StreamKind::Video, false) }
    }

    #[test]
    fn a_simulcast_stream_begins_with_a_key_frame_and_numbers_go_on() {
        let mut one = forward(0, 3);
        assert_eq!(one.video(&packet(0, 10, 5, false, 0), Instant::ZERO).wants_key, Some(0));
        assert_eq!(sent(&mut one, packet(0, 11, 6, true, 0)), Some((0, 0)));
        assert_eq!(sent(&mut one, packet(0, 12, 7, false, 0)), Some((1, 1)));
        one.target = Some(Rung { layer: 2, temporal: 3 });
        let passed = one.video(&packet(2, 900, 70, false, 0), Instant::ZERO);
        assert_eq!((passed.header, passed.wants_key), (None, Some(2)));
        assert_eq!(
            sent(&mut one, packet(0, 13, 8, false, 0)),
            Some((2, 2)),
            "the old stream goes on until the key frame"
        );
        assert_eq!(sent(&mut one, packet(2, 901, 71, true, 0)), Some((3, 3)));
        assert_eq!(sent(&mut one, packet(0, 14, 9, false, 0)), None);
        assert_eq!((one.switches, one.current()), (1, Some(2)));
    }

    #[test]
    fn a_stop_for_lack_of_rate_counts_as_a_switch_and_so_does_its_end() {
        let mut one = forward(0, 0);
        assert_eq!(sent(&mut one, packet(0, 10, 0, true, 0)), Some((0, 0)));
        one.pause();
        one.pause();
        assert_eq!(one.switches, 1);
        assert_eq!(sent(&mut one, packet(0, 11, 1, true, 0)), Some((1, 1)));
        assert_eq!(one.switches, 2);
        one.stop();
        assert_eq!(sent(&mut one, packet(0, 12, 2, true, 0)), Some((2, 2)));
        assert_eq!(one.switches, 2, "another reason than the rate");
    }

    #[test]
    fn times_of_limitation_are_summed_by_reason() {
        let at = |seconds| Instant::ZERO + Span::from_secs(seconds);
        let mut one = forward(0, 0);
        one.begin(at(1));
        one.limit(at(3), QualityLimitation::Bandwidth);
        one.limit(at(4), QualityLimitation::Bandwidth);
        one.limit(at(8), QualityLimitation::Other);
        let sample = one.sample_at(at(10));
        assert_eq!(sample.quality_limitation_durations, [2.0, 5.0, 2.0]);
        assert_eq!(sample.quality_limitation, QualityLimitation::Other);
        assert_eq!(one.sample_at(at(11)).quality_limitation_durations, [2.0, 5.0, 3.0]);
    }

    #[test]
    fn omitted_packets_take_no_number_and_missing_ones_keep_theirs() {
        let mut one = forward(0, 0);
        assert_eq!(sent(&mut one, packet(0, 10, 0, true, 0)), Some((0, 0)));
        assert_eq!(sent(&mut one, packet(0, 11, 1, false, 1)), None);
        assert_eq!(sent(&mut one, packet(0, 12, 2, false, 0)), Some((1, 2)));
        assert_eq!(sent(&mut one, packet(0, 14, 4, false, 0)), Some((3, 4)));
        assert_eq!(one.missing, [(13, 2)]);
        assert_eq!(sent(&mut one, packet(0, 13, 3, false, 0)), Some((2, 3)), "late");
    }

    #[test]
    fn numbers_pass_the_wrap() {
        let mut one = forward(0, 0);
        assert_eq!(sent(&mut one, packet(0, 65_535, 65_535, true, 0)), Some((0, 0)));
        assert_eq!(sent(&mut one, packet(0, 0, 0, false, 0)), Some((1, 1)));
    }

    #[test]
    fn a_spatial_layer_goes_up_at_a_key_frame_and_down_at_any_picture() {
        let mut one = Forward { target: Some(Rung { layer: 1, temporal: 0 }), ..Forward::new(StreamKind::Video, true) };
        let layer = |sequence: u16, frame: u16, key: bool, spatial: u8| RtpHeader {
            spatial,
            marker: spatial == 2,
            ..packet(0, sequence, frame, key, 0)
        };
        assert_eq!(sent(&mut one, layer(0, 0, true, 0)), Some((0, 0)));
        let top = one.video(&layer(1, 1, true, 1), Instant::ZERO).header.expect("forwarded");
        assert!(top.marker, "the picture ends here");
        assert_eq!(sent(&mut one, layer(2, 2, true, 2)), None);
        one.target = Some(Rung { layer: 0, temporal: 0 });
        assert_eq!(sent(&mut one, layer(3, 3, false, 0)), Some((2, 3)));
        assert_eq!(sent(&mut one, layer(4, 4, false, 1)), None);
        one.target = Some(Rung { layer: 2, temporal: 0 });
        let passed = one.video(&layer(6, 6, false, 0), Instant::ZERO);
        assert_eq!((passed.header.map(|out| out.frame), passed.wants_key), (Some(6), Some(0)));
    }

    #[test]
    fn a_cached_packet_is_sent_again_once_a_round_trip() {
        let mut one = forward(0, 0);
        let header = one.video(&packet(0, 10, 0, true, 0), Instant::ZERO).header.expect("forwarded");
        one.cache(Instant::ZERO, &header, 1000, Instant::ZERO);
        let at = |millis| Instant::ZERO + Span::from_millis(millis);
        let (again, wire, _) = one.asked(at(50), 0, Span::from_millis(40)).expect("cached");
        assert_eq!((again.base, again.kind, wire), (0, PayloadKind::Retransmission, 1002));
        assert!(one.asked(at(60), 0, Span::from_millis(40)).is_none());
        assert!(one.asked(at(95), 0, Span::from_millis(40)).is_some());
        assert!(one.asked(at(95), 7, Span::from_millis(40)).is_none(), "never sent");
    }
}
