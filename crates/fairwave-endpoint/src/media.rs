//! Statistics of a media session, after W3C's *Identifiers for WebRTC's Statistics API* (webrtc-stats): what `getStats()`
//! of both peers would answer.
//!
//! Samples are cumulative, as there: a rate or a share over an interval is the difference of two samples. Units are those of
//! the specification: seconds, bits per second, bytes. Each field names its member there. The member's dictionary is
//! `RTCInboundRtpStreamStats` for [`InboundSample`], `RTCOutboundRtpStreamStats` for [`OutboundSample`] and
//! `RTCIceCandidatePairStats` for [`TransportSample`], with the dictionaries that they inherit from.
//!
//! What the specification counts together is apart where it can be: retransmissions and padding are subsets of
//! `packetsReceived` and `packetsSent`, so media alone is the difference.

use fairwave_media::encoder::StreamKind;
use fairwave_network::packet::Ecn;
use fairwave_units::units::Instant;

/// Time between two samples of each stream, by default: `chrome://webrtc-internals` asks once per second.
pub const SAMPLE_EVERY: fairwave_units::units::Span = fairwave_units::units::Span::from_secs(1);

/// Which RTP stream: a microphone, a camera or a screen, and which of its simulcast encodings.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct StreamId {
    /// What it carries.
    pub kind: StreamKind,
    /// Its place among the simulcast encodings, from 0, the smallest picture (`encodingIndex`); 0 for audio.
    pub place: u8,
}

/// Why a picture is smaller or comes less often than the camera makes it (`RTCQualityLimitationReason`). Encoders of the
/// laboratory take no processor time, so `cpu` does not occur.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum QualityLimitation {
    /// `none`: nothing limits it.
    #[default]
    None,
    /// `bandwidth`: the target rate does.
    Bandwidth,
    /// `other`.
    Other,
}

/// Counters of a stream that is sent, from its begin until [`OutboundSample::at`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct OutboundSample {
    /// `timestamp`.
    pub at: Instant,
    /// `kind`, `encodingIndex`.
    pub stream: StreamId,
    /// `packetsSent`: RTP packets. Retransmissions, FEC and padding included.
    pub packets_sent: u64,
    /// `bytesSent`: payload bytes of those packets, without padding.
    pub bytes_sent: u64,
    /// `headerBytesSent`: bytes of RTP headers, extensions and padding. IP and UDP do not count.
    pub header_bytes_sent: u64,
    /// `retransmittedPacketsSent`: packets sent again, a subset of `packets_sent`.
    pub retransmitted_packets_sent: u64,
    /// `retransmittedBytesSent`: their payload bytes.
    pub retransmitted_bytes_sent: u64,
    /// Packets with forward error correction, a subset of `packets_sent`. No member of the specification.
    pub fec_packets_sent: u64,
    /// Their payload bytes.
    pub fec_bytes_sent: u64,
    /// Packets of nothing but padding, a subset of `packets_sent`. No member of the specification.
    pub padding_packets_sent: u64,
    /// Their padding bytes, a subset of `header_bytes_sent`.
    pub padding_bytes_sent: u64,
    /// `targetBitrate`: the encoder's target now, bits per second of payload.
    pub target_bitrate: f64,
    /// `framesSent`; 0 for audio, as all members of frames and pictures.
    pub frames_sent: u64,
    /// `framesEncoded`.
    pub frames_encoded: u64,
    /// `keyFramesEncoded`.
    pub key_frames_encoded: u64,
    /// `hugeFramesSent`: frames of at least 2.5 times target rate ÷ target frame rate.
    pub huge_frames_sent: u64,
    /// `frameWidth` of the last encoded frame, pixels; 0 before the first.
    pub frame_width: u32,
    /// `frameHeight`, pixels; 0 before the first.
    pub frame_height: u32,
    /// `framesPerSecond`: frames encoded in the last second.
    pub frames_per_second: f64,
    /// `totalPacketSendDelay`: seconds that packets waited in the pacer, summed over `packets_sent`.
    pub total_packet_send_delay: f64,
    /// `qualityLimitationReason`.
    pub quality_limitation: QualityLimitation,
    /// `qualityLimitationDurations`, seconds in each of the states none, bandwidth, other.
    pub quality_limitation_durations: [f64; 3],
    /// `qualityLimitationResolutionChanges`.
    pub quality_limitation_resolution_changes: u64,
    /// `nackCount`: NACK messages received.
    pub nack_count: u64,
    /// `pliCount`: picture loss indications received.
    pub pli_count: u64,
    /// `firCount`: full intra requests received.
    pub fir_count: u64,
    /// `roundTripTime` of the last receiver report (`RTCRemoteInboundRtpStreamStats`), seconds; none before the first.
    pub remote_round_trip_time: Option<f64>,
    /// `fractionLost` of the last receiver report, 0 to 1: of its interval alone; none before the first.
    pub remote_fraction_lost: Option<f64>,
    /// `packetsLost` of the last receiver report: cumulative, may be negative; none before the first.
    pub remote_packets_lost: Option<i64>,
    /// `jitter` of the last receiver report, seconds; none before the first.
    pub remote_jitter: Option<f64>,
}

impl OutboundSample {
    /// Counters of a stream that has sent nothing.
    pub fn new(at: Instant, stream: StreamId) -> Self {
        OutboundSample {
            at,
            stream,
            packets_sent: 0,
            bytes_sent: 0,
            header_bytes_sent: 0,
            retransmitted_packets_sent: 0,
            retransmitted_bytes_sent: 0,
            fec_packets_sent: 0,
            fec_bytes_sent: 0,
            padding_packets_sent: 0,
            padding_bytes_sent: 0,
            target_bitrate: 0.0,
            frames_sent: 0,
            frames_encoded: 0,
            key_frames_encoded: 0,
            huge_frames_sent: 0,
            frame_width: 0,
            frame_height: 0,
            frames_per_second: 0.0,
            total_packet_send_delay: 0.0,
            quality_limitation: QualityLimitation::None,
            quality_limitation_durations: [0.0; 3],
            quality_limitation_resolution_changes: 0,
            nack_count: 0,
            pli_count: 0,
            fir_count: 0,
            remote_round_trip_time: None,
            remote_fraction_lost: None,
            remote_packets_lost: None,
            remote_jitter: None,
        }
    }
}

/// Counters of a stream that is received, from its begin until [`InboundSample::at`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct InboundSample {
    /// `timestamp`.
    pub at: Instant,
    /// `kind`, and the place of its SSRC among the stream's.
    pub stream: StreamId,
    /// `packetsReceived`: RTP packets. Retransmissions and padding included, duplicates too; FEC that has a stream of its own is not.
    pub packets_received: u64,
    /// `packetsReceivedWithEct1`.
    pub packets_received_with_ect1: u64,
    /// `packetsReceivedWithCe`.
    pub packets_received_with_ce: u64,
    /// `packetsLost`: packets expected less packets received of the media's own SSRC (RFC 3550 §6.4.1, A.3). Negative when
    /// duplicates outweigh losses. What retransmission or FEC restored stays lost.
    pub packets_lost: i64,
    /// `packetsDiscarded`: packets that came too late, or too early, to be played. Duplicates do not count.
    pub packets_discarded: u64,
    /// Packets that arrived again, by the network or because a retransmission was not needed. No member of the specification.
    pub packets_duplicated: u64,
    /// Lost packets that FEC restored. No member of the specification.
    pub packets_recovered: u64,
    /// `fecPacketsReceived`: packets of FEC; for audio, packets that hold in-band FEC or repeats.
    pub fec_packets_received: u64,
    /// `fecBytesReceived`: payload bytes of FEC packets.
    pub fec_bytes_received: u64,
    /// `fecPacketsDiscarded`: FEC packets that restored nothing, because nothing was missing or too much.
    pub fec_packets_discarded: u64,
    /// `retransmittedPacketsReceived`, a subset of `packets_received`.
    pub retransmitted_packets_received: u64,
    /// `retransmittedBytesReceived`: their payload bytes.
    pub retransmitted_bytes_received: u64,
    /// Packets of nothing but padding, a subset of `packets_received`. No member of the specification.
    pub padding_packets_received: u64,
    /// `bytesReceived`: payload bytes, without padding.
    pub bytes_received: u64,
    /// `headerBytesReceived`: bytes of RTP headers, extensions and padding.
    pub header_bytes_received: u64,
    /// `lastPacketReceivedTimestamp`; none before the first packet.
    pub last_packet_received: Option<Instant>,
    /// `jitter`, seconds (RFC 3550 A.8).
    pub jitter: f64,
    /// `nackCount`: NACK messages sent.
    pub nack_count: u64,
    /// `pliCount`: picture loss indications sent.
    pub pli_count: u64,
    /// `firCount`: full intra requests sent.
    pub fir_count: u64,
    /// `framesReceived`: complete frames; 0 for audio, as all members of frames and pictures.
    pub frames_received: u64,
    /// `framesDecoded`.
    pub frames_decoded: u64,
    /// `keyFramesDecoded`.
    pub key_frames_decoded: u64,
    /// `framesRendered`.
    pub frames_rendered: u64,
    /// `framesDropped`: complete frames that were not decoded, or decoded and not shown.
    pub frames_dropped: u64,
    /// `frameWidth` of the last decoded frame, pixels; 0 before the first.
    pub frame_width: u32,
    /// `frameHeight`, pixels; 0 before the first.
    pub frame_height: u32,
    /// `framesPerSecond`: frames decoded in the last second.
    pub frames_per_second: f64,
    /// `totalInterFrameDelay`, seconds.
    pub total_inter_frame_delay: f64,
    /// `totalSquaredInterFrameDelay`, square seconds.
    pub total_squared_inter_frame_delay: f64,
    /// `freezeCount`.
    pub freeze_count: u64,
    /// `totalFreezesDuration`, seconds.
    pub total_freezes_duration: f64,
    /// `pauseCount`: more than 5 s without a picture.
    pub pause_count: u64,
    /// `totalPausesDuration`, seconds.
    pub total_pauses_duration: f64,
    /// `jitterBufferDelay`, seconds, summed over samples of audio (48 kHz) or frames of video.
    pub jitter_buffer_delay: f64,
    /// `jitterBufferTargetDelay`, seconds, summed likewise.
    pub jitter_buffer_target_delay: f64,
    /// `jitterBufferMinimumDelay`: the target without lip synchronisation, seconds, summed likewise.
    pub jitter_buffer_minimum_delay: f64,
    /// `jitterBufferEmittedCount`: samples of audio, or frames of video.
    pub jitter_buffer_emitted_count: u64,
    /// `totalSamplesReceived`: samples played, concealed ones included; 0 for video, as all members of samples.
    pub total_samples_received: u64,
    /// `concealedSamples`.
    pub concealed_samples: u64,
    /// `silentConcealedSamples`: concealment that has faded to silence, a subset of `concealed_samples`.
    pub silent_concealed_samples: u64,
    /// `concealmentEvents`.
    pub concealment_events: u64,
    /// `insertedSamplesForDeceleration`.
    pub inserted_samples_for_deceleration: u64,
    /// `removedSamplesForAcceleration`.
    pub removed_samples_for_acceleration: u64,
    /// `estimatedPlayoutTimestamp`: capture time, by the sender's clock, of what is played now; none before a sender report told
    /// which RTP timestamp belongs to which time.
    pub estimated_playout: Option<Instant>,
}

impl InboundSample {
    /// Counters of a stream that has received nothing.
    pub fn new(at: Instant, stream: StreamId) -> Self {
        InboundSample {
            at,
            stream,
            packets_received: 0,
            packets_received_with_ect1: 0,
            packets_received_with_ce: 0,
            packets_lost: 0,
            packets_discarded: 0,
            packets_duplicated: 0,
            packets_recovered: 0,
            fec_packets_received: 0,
            fec_bytes_received: 0,
            fec_packets_discarded: 0,
            retransmitted_packets_received: 0,
            retransmitted_bytes_received: 0,
            padding_packets_received: 0,
            bytes_received: 0,
            header_bytes_received: 0,
            last_packet_received: None,
            jitter: 0.0,
            nack_count: 0,
            pli_count: 0,
            fir_count: 0,
            frames_received: 0,
            frames_decoded: 0,
            key_frames_decoded: 0,
            frames_rendered: 0,
            frames_dropped: 0,
            frame_width: 0,
            frame_height: 0,
            frames_per_second: 0.0,
            total_inter_frame_delay: 0.0,
            total_squared_inter_frame_delay: 0.0,
            freeze_count: 0,
            total_freezes_duration: 0.0,
            pause_count: 0,
            total_pauses_duration: 0.0,
            jitter_buffer_delay: 0.0,
            jitter_buffer_target_delay: 0.0,
            jitter_buffer_minimum_delay: 0.0,
            jitter_buffer_emitted_count: 0,
            total_samples_received: 0,
            concealed_samples: 0,
            silent_concealed_samples: 0,
            concealment_events: 0,
            inserted_samples_for_deceleration: 0,
            removed_samples_for_acceleration: 0,
            estimated_playout: None,
        }
    }

    /// Counts the mark with which a packet arrived.
    pub fn count_mark(&mut self, ecn: Ecn) {
        match ecn {
            Ecn::Ect1 => self.packets_received_with_ect1 += 1,
            Ecn::Ce => self.packets_received_with_ce += 1,
            Ecn::NotEct | Ecn::Ect0 => {}
        }
    }
}

/// What the sender's rate controller does, at a moment.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TransportSample {
    /// `timestamp`.
    pub at: Instant,
    /// `availableOutgoingBitrate`: what the controller estimates that the path carries, bits per second.
    pub available_outgoing_bitrate: f64,
    /// The rate that all encoders share, bits per second. No member of the specification, as all that follow unless they name one.
    pub target_bitrate: f64,
    /// The rate of the pacer, bits per second.
    pub pacing_bitrate: f64,
    /// `currentRoundTripTime`, seconds; none before the first feedback.
    pub round_trip_time: Option<f64>,
    /// Bytes that wait in the pacer.
    pub pacer_queue_bytes: u64,
    /// How long the oldest of them has waited, seconds.
    pub pacer_queue_time: f64,
    /// Bytes sent that no feedback has reported on.
    pub bytes_in_flight: u64,
    /// Share of packets lost in the last feedback, 0 to 1; none before the first.
    pub fraction_lost: Option<f64>,
    /// What the controller says of its state, for example `overuse`; empty for one without states.
    pub state: &'static str,
}

/// What the sender of a session shows: samples in the order of time, and totals.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct MediaSent {
    /// Of all streams; at each time in the order of [`StreamId`].
    pub outbound: Vec<OutboundSample>,
    /// Of the session.
    pub transport: Vec<TransportSample>,
    /// Counters of each stream at the end, in the order of [`StreamId`].
    pub totals: Vec<OutboundSample>,
}

/// What the receiver of a session shows: samples in the order of time, and what each stream was like.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct MediaReceived {
    /// Of all streams; at each time in the order of [`StreamId`].
    pub inbound: Vec<InboundSample>,
    /// What each stream was like, in the order of [`StreamId`].
    pub streams: Vec<StreamSummary>,
}

/// What a received stream was like, from its begin to its end.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct StreamSummary {
    /// Counters at the end.
    pub total: InboundSample,
    /// When its first packet came; none if none did.
    pub begins: Option<Instant>,
    /// What was heard or seen.
    pub quality: StreamQuality,
    /// Offset of picture and sound: mean time from capture to display − mean mouth-to-ear delay, seconds;
    /// positive when the picture is late. None for audio, and where one of the two is missing.
    pub lip_sync_offset: Option<f64>,
}

/// What was heard or seen of a stream.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum StreamQuality {
    /// Of a microphone.
    Audio(AudioQuality),
    /// Of a camera or a screen.
    Video(VideoQuality),
}

/// What was heard.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct AudioQuality {
    /// The rating by the E-model, or why there is none.
    pub rating: Rated<AudioRating>,
    /// Mean over frames played of (played − captured), the coder's delay included, seconds; none if none was played.
    pub mouth_to_ear: Option<f64>,
    /// Concealed samples ÷ samples played, 0 to 1; 0 if nothing was played.
    pub concealed_share: f64,
    /// Frames sent that were never there in time, restored ones not counted.
    pub frames_lost: u64,
    /// Frames that came twice or more often than a packet by repeats or in-band FEC: restored from a later packet.
    pub frames_restored: u64,
    /// Frames played.
    pub frames_played: u64,
    /// The longest gap of speech, seconds (see `fairwave_media::quality::gaps`).
    pub longest_gap: f64,
    /// Gaps above 0.5 s.
    pub gaps: u64,
}

/// A rating of speech.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AudioRating {
    /// Transmission rating factor R, on the scale of the model that the codec's factors belong to.
    pub r: f64,
    /// Mean opinion score, 1 to 4.5.
    pub mos: f64,
}

/// What was seen.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct VideoQuality {
    /// The rating of the encoded pictures, or why there is none.
    pub rating: Rated<VideoRating>,
    /// Frames shown ÷ seconds from the first to the last packet; 0 if none.
    pub frame_rate: f64,
    /// Mean width of the frames shown, pixels, weighted by how long each was seen.
    pub width: f64,
    /// Mean height likewise.
    pub height: f64,
    /// Time in freezes ÷ time from the first picture until the end, 0 to 1. What stands still until the end counts. Time in which the
    /// camera was off, or in which a server showed others in its place, does not.
    pub freeze_ratio: f64,
    /// Mean over frames shown of (rendered − captured), seconds; none if none was shown.
    pub capture_to_render: Option<f64>,
    /// When the first picture was shown; none if none was.
    pub first_shown: Option<Instant>,
    /// Seconds before it, or before the end, in which a server showed others in place of a camera that was on.
    pub left_out_before: f64,
    /// Seconds in freezes and pauses since then, and what stands still until the end.
    pub still: f64,
    /// The longest of them, seconds.
    pub longest_still: f64,
}

/// Ratings of video.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct VideoRating {
    /// Mean of the encoder's own opinion score of its pictures, weighted by how long each was seen, 1 to 5.
    pub encoded: f64,
    /// The same with freezes counted as 1, the worst of the scale, 1 to 5.
    pub shown: f64,
}

/// A rating, or the reason why there is none.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Rated<T> {
    /// Rated.
    As(T),
    /// Not rated.
    Not(Unrated),
}

impl<T> Default for Rated<T> {
    fn default() -> Self {
        Rated::Not(Unrated::NothingReceived)
    }
}

impl<T> Rated<T> {
    /// The rating.
    pub fn value(self) -> Option<T> {
        match self {
            Rated::As(value) => Some(value),
            Rated::Not(_) => None,
        }
    }
}

/// Why a stream has no rating.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unrated {
    /// No packet of it arrived. Silence of the network is not good quality.
    NothingReceived,
    /// Packets arrived, but nothing could be played or shown.
    NothingPlayed,
    /// No impairment factors are known for its codec.
    NoFactors,
    /// The encoder did not say how good its pictures were.
    NoEncodedQuality,
}

impl std::fmt::Display for Unrated {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Unrated::NothingReceived => "not rated: no packet arrived",
            Unrated::NothingPlayed => "not rated: packets arrived, but nothing could be played",
            Unrated::NoFactors => "not rated: no impairment factors are known for the codec",
            Unrated::NoEncodedQuality => "not rated: the encoder did not say how good its pictures were",
        })
    }
}

impl StreamSummary {
    /// Its opinion score, on the scale of its kind: of sound to 4.5, of pictures with freezes to 5; none if it is not rated.
    pub fn mos(&self) -> Option<f64> {
        match self.quality {
            StreamQuality::Audio(audio) => audio.rating.value().map(|rating| rating.mos),
            StreamQuality::Video(video) => video.rating.value().map(|rating| rating.shown),
        }
    }
}

impl MediaReceived {
    /// The stream that was worst: a session is as good as that. A stream without a rating is worse than any that has one.
    /// Of equals, the first.
    pub fn worst(&self) -> Option<&StreamSummary> {
        let score = |stream: &StreamSummary| stream.mos().unwrap_or(0.0);
        self.streams.iter().reduce(|worst, stream| if score(stream) < score(worst) { stream } else { worst })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn audio(mos: Option<f64>) -> StreamSummary {
        let rating = mos.map_or(Rated::Not(Unrated::NothingReceived), |mos| Rated::As(AudioRating { r: 0.0, mos }));
        StreamSummary {
            total: InboundSample::new(Instant::ZERO, StreamId { kind: StreamKind::Audio, place: 0 }),
            begins: None,
            quality: StreamQuality::Audio(AudioQuality { rating, ..AudioQuality::default() }),
            lip_sync_offset: None,
        }
    }

    fn session(streams: &[StreamSummary]) -> MediaReceived {
        MediaReceived { streams: streams.to_vec(), ..MediaReceived::default() }
    }

    #[test]
    fn a_session_is_as_good_as_its_worst_stream() {
        assert_eq!(session(&[]).worst(), None);
        let found = session(&[audio(Some(4.0)), audio(Some(2.0)), audio(Some(3.0))]);
        assert_eq!(found.worst().and_then(StreamSummary::mos), Some(2.0));
    }

    #[test]
    fn a_stream_of_which_nothing_came_is_worse_than_a_bad_one() {
        let found = session(&[audio(Some(1.0)), audio(None)]);
        assert_eq!(found.worst().expect("a stream").mos(), None);
        let Rated::Not(reason) = Rated::<AudioRating>::default() else { panic!("silence is not rated") };
        assert_eq!(reason.to_string(), "not rated: no packet arrived");
    }

    #[test]
    fn marks_are_counted_as_they_arrive() {
        let StreamSummary { mut total, .. } = audio(None);
        for mark in [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ect1, Ecn::Ce] {
            total.count_mark(mark);
        }
        assert_eq!((total.packets_received_with_ect1, total.packets_received_with_ce), (2, 1));
    }
}
