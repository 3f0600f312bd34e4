//! Statistics of a media session, after W3C's *Identifiers for WebRTC's Statistics API* (webrtc-stats): the values
//! that `getStats()` returns on both peers.
//!
//! Samples are cumulative, as in the specification: a rate or a share over an interval is the difference of two
//! samples. Units are those of the specification: seconds, bits per second, bytes. Each field names its member in
//! the specification. The member's dictionary is `RTCInboundRtpStreamStats` for [`InboundSample`],
//! `RTCOutboundRtpStreamStats` for [`OutboundSample`] and `RTCIceCandidatePairStats` for [`TransportSample`], with
//! the dictionaries that they inherit from.
//!
//! Some counters of the specification include others. Retransmissions and padding are subsets of `packetsReceived`
//! and `packetsSent` and have separate counters here, so media alone is the difference.

use fairwave_media::encoder::StreamKind;
use fairwave_network::packet::Ecn;
use fairwave_units::units::Instant;

/// Default time between two samples of each stream: `chrome://webrtc-internals` samples once per second.
pub const SAMPLE_EVERY: fairwave_units::units::Span = fairwave_units::units::Span::from_secs(1);

/// Identifies an RTP stream: a microphone, a camera or a screen, and one of its simulcast encodings.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct StreamId {
    /// The kind of media.
    pub kind: StreamKind,
    /// Index among the simulcast encodings, from 0, the smallest picture (`encodingIndex`); 0 for audio.
    pub place: u8,
}

/// The reason for a smaller or slower picture than the camera provides (`RTCQualityLimitationReason`). Encoders of
/// fairwave use no processor time, so `cpu` does not occur.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum QualityLimitation {
    /// `none`: no limitation.
    #[default]
    None,
    /// `bandwidth`: the target rate limits quality.
    Bandwidth,
    /// `other`.
    Other,
}

/// Counters of a sent stream, from its start until [`OutboundSample::at`].
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
    /// Packets with forward error correction, a subset of `packets_sent`. Not in the specification.
    pub fec_packets_sent: u64,
    /// Payload bytes of FEC packets. Not in the specification.
    pub fec_bytes_sent: u64,
    /// Padding-only packets, a subset of `packets_sent`. Not in the specification.
    pub padding_packets_sent: u64,
    /// Their padding bytes, a subset of `header_bytes_sent`.
    pub padding_bytes_sent: u64,
    /// `targetBitrate`: the encoder's target now, bits per second of payload.
    pub target_bitrate: f64,
    /// `framesSent`; 0 for audio, like all members about frames and pictures.
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
    /// `roundTripTime` of the last receiver report (`RTCRemoteInboundRtpStreamStats`), seconds; `None` before the
    /// first report.
    pub remote_round_trip_time: Option<f64>,
    /// `fractionLost` of the last receiver report, 0 to 1, for that report's interval; `None` before the first report.
    pub remote_fraction_lost: Option<f64>,
    /// `packetsLost` of the last receiver report: cumulative, may be negative; `None` before the first report.
    pub remote_packets_lost: Option<i64>,
    /// `jitter` of the last receiver report, seconds; `None` before the first report.
    pub remote_jitter: Option<f64>,
}

impl OutboundSample {
    /// Creates the counters of a stream that has sent nothing.
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

/// Counters of a received stream, from its start until [`InboundSample::at`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct InboundSample {
    /// `timestamp`.
    pub at: Instant,
    /// `kind`, and the index of its SSRC among the stream's.
    pub stream: StreamId,
    /// `packetsReceived`: RTP packets, including retransmissions, padding and duplicates, without FEC on a
    /// separate SSRC.
    pub packets_received: u64,
    /// `packetsReceivedWithEct1`.
    pub packets_received_with_ect1: u64,
    /// `packetsReceivedWithCe`.
    pub packets_received_with_ce: u64,
    /// `packetsLost`: expected packets − received packets of the media SSRC (RFC 3550 §6.4.1, A.3). Negative if
    /// duplicates outnumber losses. Packets restored by retransmission or FEC still count as lost.
    pub packets_lost: i64,
    /// `packetsDiscarded`: packets that came too late or too early for playout. Duplicates do not count.
    pub packets_discarded: u64,
    /// Duplicates, made by the network or by unneeded retransmissions. Not in the specification.
    pub packets_duplicated: u64,
    /// Lost packets that FEC restored. Not in the specification.
    pub packets_recovered: u64,
    /// `fecPacketsReceived`: FEC packets; for audio, packets with in-band FEC or repeats.
    pub fec_packets_received: u64,
    /// `fecBytesReceived`: payload bytes of FEC packets.
    pub fec_bytes_received: u64,
    /// `fecPacketsDiscarded`: FEC packets that restored nothing, because no packet or too many were missing.
    pub fec_packets_discarded: u64,
    /// `retransmittedPacketsReceived`, a subset of `packets_received`.
    pub retransmitted_packets_received: u64,
    /// `retransmittedBytesReceived`: their payload bytes.
    pub retransmitted_bytes_received: u64,
    /// Padding-only packets, a subset of `packets_received`. Not in the specification.
    pub padding_packets_received: u64,
    /// `bytesReceived`: payload bytes, without padding.
    pub bytes_received: u64,
    /// `headerBytesReceived`: bytes of RTP headers, extensions and padding.
    pub header_bytes_received: u64,
    /// `lastPacketReceivedTimestamp`; `None` before the first packet.
    pub last_packet_received: Option<Instant>,
    /// `jitter`, seconds (RFC 3550 A.8).
    pub jitter: f64,
    /// `nackCount`: NACK messages sent.
    pub nack_count: u64,
    /// `pliCount`: picture loss indications sent.
    pub pli_count: u64,
    /// `firCount`: full intra requests sent.
    pub fir_count: u64,
    /// `framesReceived`: complete frames; 0 for audio, like all members about frames and pictures.
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
    /// `pauseCount`: periods of more than 5 s without a picture.
    pub pause_count: u64,
    /// `totalPausesDuration`, seconds.
    pub total_pauses_duration: f64,
    /// `jitterBufferDelay`, seconds, summed over samples of audio (48 kHz) or frames of video.
    pub jitter_buffer_delay: f64,
    /// `jitterBufferTargetDelay`, seconds, summed in the same way.
    pub jitter_buffer_target_delay: f64,
    /// `jitterBufferMinimumDelay`: the target without lip synchronisation, seconds, summed in the same way.
    pub jitter_buffer_minimum_delay: f64,
    /// `jitterBufferEmittedCount`: samples of audio, or frames of video.
    pub jitter_buffer_emitted_count: u64,
    /// `totalSamplesReceived`: played samples, including concealed ones; 0 for video, like all members about samples.
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
    /// `estimatedPlayoutTimestamp`: capture time, by the sender's clock, of the media being played. `None` until a
    /// sender report maps an RTP timestamp to a time.
    pub estimated_playout: Option<Instant>,
}

impl InboundSample {
    /// Creates the counters of a stream that has received nothing.
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

    /// Counts the ECN mark of an arriving packet.
    pub fn count_mark(&mut self, ecn: Ecn) {
        match ecn {
            Ecn::Ect1 => self.packets_received_with_ect1 += 1,
            Ecn::Ce => self.packets_received_with_ce += 1,
            Ecn::NotEct | Ecn::Ect0 => {}
        }
    }
}

/// State of the sender's rate controller at one time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TransportSample {
    /// `timestamp`.
    pub at: Instant,
    /// `availableOutgoingBitrate`: the controller's estimate of the path's capacity, bits per second.
    pub available_outgoing_bitrate: f64,
    /// The rate shared by all encoders, bits per second. Not in the specification; neither are the following
    /// fields, unless they name a member.
    pub target_bitrate: f64,
    /// The rate of the pacer, bits per second.
    pub pacing_bitrate: f64,
    /// `currentRoundTripTime`, seconds; `None` before the first feedback.
    pub round_trip_time: Option<f64>,
    /// Bytes that wait in the pacer.
    pub pacer_queue_bytes: u64,
    /// Waiting time of the oldest packet in the pacer, seconds.
    pub pacer_queue_time: f64,
    /// Bytes sent without feedback so far.
    pub bytes_in_flight: u64,
    /// Share of packets lost in the last feedback, 0 to 1; `None` before the first feedback.
    pub fraction_lost: Option<f64>,
    /// The controller's state, for example `overuse`. Empty for controllers without states.
    pub state: &'static str,
}

/// Statistics of a session's sender: samples in time order, and totals.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct MediaSent {
    /// Samples of all streams, in time order and then in the order of [`StreamId`].
    pub outbound: Vec<OutboundSample>,
    /// Samples of the transport.
    pub transport: Vec<TransportSample>,
    /// Counters of each stream at the end, in the order of [`StreamId`].
    pub totals: Vec<OutboundSample>,
}

/// Statistics of a session's receiver: samples in time order, and a summary of each stream.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct MediaReceived {
    /// Samples of all streams, in time order and then in the order of [`StreamId`].
    pub inbound: Vec<InboundSample>,
    /// Summary of each stream, in the order of [`StreamId`].
    pub streams: Vec<StreamSummary>,
}

/// Summary of a received stream, from its start to its end.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct StreamSummary {
    /// Counters at the end.
    pub total: InboundSample,
    /// Arrival of the first packet; `None` if no packet arrived.
    pub begins: Option<Instant>,
    /// Quality of the played or shown media.
    pub quality: StreamQuality,
    /// Offset of picture and sound: mean time from capture to display − mean mouth-to-ear delay, seconds. Positive
    /// if the picture is late. `None` for audio, or if one of the two is missing.
    pub lip_sync_offset: Option<f64>,
}

/// Quality of a received stream.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum StreamQuality {
    /// Quality of a microphone's stream.
    Audio(AudioQuality),
    /// Quality of a camera's or a screen's stream.
    Video(VideoQuality),
}

/// Quality of received speech.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct AudioQuality {
    /// The E-model rating, or why there is none.
    pub rating: Rated<AudioRating>,
    /// Mean over frames played of (played − captured), including the coder's delay, seconds; `None` if no frame
    /// was played.
    pub mouth_to_ear: Option<f64>,
    /// Concealed samples ÷ samples played, 0 to 1; 0 if no sample was played.
    pub concealed_share: f64,
    /// Sent frames that never arrived in time, without restored ones.
    pub frames_lost: u64,
    /// Frames restored from a later packet, by repeats or in-band FEC.
    pub frames_restored: u64,
    /// Frames played.
    pub frames_played: u64,
    /// The longest gap in speech, seconds (see `fairwave_media::quality::gaps`).
    pub longest_gap: f64,
    /// Gaps above 0.5 s.
    pub gaps: u64,
}

/// A rating of speech.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AudioRating {
    /// Transmission rating factor R, on the scale of the model that defines the codec's factors.
    pub r: f64,
    /// Mean opinion score, 1 to 4.5.
    pub mos: f64,
}

/// Quality of received video.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct VideoQuality {
    /// The rating of the encoded pictures, or why there is none.
    pub rating: Rated<VideoRating>,
    /// Frames shown ÷ seconds from the first to the last packet; 0 if no frame was shown.
    pub frame_rate: f64,
    /// Mean width of the frames shown, pixels, weighted by display time.
    pub width: f64,
    /// Mean height of the frames shown, pixels, weighted by display time.
    pub height: f64,
    /// Time in freezes ÷ time from the first picture to the end, 0 to 1. A freeze that lasts until the end counts.
    /// Time in which the camera was off, or in which a server showed other cameras instead, does not count.
    pub freeze_ratio: f64,
    /// Mean over frames shown of (rendered − captured), seconds; `None` if no frame was shown.
    pub capture_to_render: Option<f64>,
    /// Time of the first picture; `None` if no picture was shown.
    pub first_shown: Option<Instant>,
    /// Seconds before the first picture, or before the end, in which a server showed other cameras although this
    /// one was on.
    pub left_out_before: f64,
    /// Seconds in freezes and pauses after the first picture, including a freeze that lasts until the end.
    pub still: f64,
    /// The longest freeze or pause, seconds.
    pub longest_still: f64,
}

/// Ratings of video.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct VideoRating {
    /// Mean opinion score of the encoded pictures, as the encoder reports it, weighted by display time, 1 to 5.
    pub encoded: f64,
    /// The same score with freezes counted as 1, the worst score, 1 to 5.
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
    /// No packet arrived. Silence of the network is not good quality.
    NothingReceived,
    /// Packets arrived, but no sample or frame could be played.
    NothingPlayed,
    /// No impairment factors are known for its codec.
    NoFactors,
    /// The encoder did not report the quality of its pictures.
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
    /// The opinion score: up to 4.5 for sound, up to 5 for video with freezes. `None` without a rating.
    pub fn mos(&self) -> Option<f64> {
        match self.quality {
            StreamQuality::Audio(audio) => audio.rating.value().map(|rating| rating.mos),
            StreamQuality::Video(video) => video.rating.value().map(|rating| rating.shown),
        }
    }
}

impl MediaReceived {
    /// The stream with the lowest score, which determines the quality of the session. A stream without a rating is
    /// worse than any stream with one. Returns the first of equal streams.
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
