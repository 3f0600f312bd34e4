//! Rows of media sessions: quality of each stream, and both peers' `getStats()` values once per second.
//!
//! Counters start with the session, also in the warm-up. Column names follow W3C's webrtc-stats in the style of
//! fairwave's tables: `bytes_sent` for `bytesSent`. Times end in `_s`, rates in `_bps`.

use serde::Serialize;

/// Quality of one stream of a session, from its start to the end of the run.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct MediaRow {
    /// Name of the group.
    pub group: String,
    /// Index within the group.
    pub flow: u32,
    /// `audio`, `video` or `screen`.
    pub stream: &'static str,
    /// Index of the simulcast encoding; 0 is the smallest picture.
    pub encoding: u32,
    /// Mean opinion score. Speech: 1 to 4.5 (G.107.1). Pictures: 1 to 5, with freezes rated 1.
    pub mos: Option<f64>,
    /// Why there is no score; otherwise empty.
    pub note: String,
    /// Speech rating on the wideband scale, up to 129; `None` for pictures.
    pub r_factor: Option<f64>,
    /// Mean opinion score of the encoded pictures without freezes; `None` for speech.
    pub encoded_mos: Option<f64>,
    /// Mean delay of the played media, from mouth to ear or from capture to rendering.
    pub delay_s: Option<f64>,
    /// Delay of the picture behind the sound; `None` for speech.
    pub lip_sync_s: Option<f64>,
    /// Share of concealed samples among the played ones, 0 to 1; `None` for pictures.
    pub concealed_ratio: Option<f64>,
    /// Time in gaps of speech after the concealment had faded to silence; `None` for pictures.
    pub silence_s: Option<f64>,
    /// Longest uninterrupted gap of speech; `None` for pictures.
    pub longest_gap_s: Option<f64>,
    /// Number of speech gaps above 0.5 s; `None` for pictures.
    pub gaps: Option<f64>,
    /// Duration of the session, from its start to the end of the run.
    pub measured_s: f64,
    /// Number of picture freezes (webrtc-stats); `None` for speech, like all following picture fields.
    pub freezes: Option<f64>,
    /// Share of freezes in the time since the first picture, 0 to 1.
    pub freeze_ratio: Option<f64>,
    /// The longest freeze or pause since the first picture, the last picture included.
    pub longest_freeze_s: Option<f64>,
    /// Time with the camera on and no moving picture: from the session's start to the first picture, and in freezes
    /// and pauses.
    pub without_s: Option<f64>,
    /// Longest of these intervals.
    pub longest_without_s: Option<f64>,
    /// Changes per minute of the picture size, or of the layer that a server forwards. A stop of a video for lack of
    /// rate counts as one change, and so does its restart.
    pub switches_per_min: Option<f64>,
    /// Pictures shown per second.
    pub frame_rate: Option<f64>,
    /// Mean width of the pictures shown.
    pub width: Option<f64>,
    /// Mean height of the pictures shown.
    pub height: Option<f64>,
    /// Mean encoder target over the samples of each second.
    pub target_bps: Option<f64>,
    /// RTP packets sent, retransmissions, FEC and padding included.
    pub packets_sent: u64,
    /// Packets retransmitted.
    pub packets_retransmitted: u64,
    /// Packets of FEC.
    pub packets_fec: u64,
    /// Packets of padding.
    pub packets_padding: u64,
    /// RTP packets received.
    pub packets_received: u64,
    /// Media packets that did not arrive, minus duplicates: may be negative, as in RFC 3550.
    pub packets_lost: i64,
    /// Lost packets that FEC restored.
    pub packets_recovered: u64,
    /// Packets that arrived too late.
    pub packets_late: u64,
    /// Frames that the encoder made; 0 for speech.
    pub frames_encoded: u64,
    /// Key frames among them.
    pub key_frames: u64,
    /// Frames shown; for speech, frames played.
    pub frames_shown: u64,
    /// NACK messages.
    pub nacks: u64,
    /// Picture loss indications.
    pub plis: u64,
    /// Interarrival jitter at the end (RFC 3550 A.8).
    pub jitter_s: f64,
}

/// State of a session's controller at one time.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct MediaTransportRow {
    /// Name of the group.
    pub group: String,
    /// Index within the group.
    pub flow: u32,
    /// Time of the sample.
    pub time_s: f64,
    /// Controller's estimate of the path capacity (`availableOutgoingBitrate`), in whole IP packets.
    pub available_bps: f64,
    /// Rate available to all encoders and their additions (FEC, retransmissions).
    pub target_bps: f64,
    /// Pacing rate.
    pub pacing_bps: f64,
    /// Round-trip time; `None` before the first feedback.
    pub round_trip_s: Option<f64>,
    /// Bytes waiting in the pacer.
    pub pacer_bytes: u64,
    /// Wait of the oldest byte in the pacer.
    pub pacer_s: f64,
    /// Bytes without feedback so far.
    pub in_flight_bytes: u64,
    /// Loss ratio in the latest feedback.
    pub lost_ratio: Option<f64>,
    /// Controller state; empty for controllers without states.
    pub state: &'static str,
}

/// State of a stream at its sender at one time.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)] // each is the member of webrtc-stats by that name, see `fairwave_endpoint::media`
#[non_exhaustive]
pub struct MediaOutboundRow {
    pub group: String,
    pub flow: u32,
    pub time_s: f64,
    pub stream: &'static str,
    pub encoding: u32,
    pub packets_sent: u64,
    pub bytes_sent: u64,
    pub header_bytes_sent: u64,
    pub retransmitted_packets_sent: u64,
    pub retransmitted_bytes_sent: u64,
    pub fec_packets_sent: u64,
    pub fec_bytes_sent: u64,
    pub padding_packets_sent: u64,
    pub padding_bytes_sent: u64,
    pub target_bps: f64,
    pub frames_encoded: u64,
    pub frames_sent: u64,
    pub key_frames_encoded: u64,
    pub huge_frames_sent: u64,
    pub frame_width: u32,
    pub frame_height: u32,
    pub frames_per_second: f64,
    pub total_packet_send_delay_s: f64,
    pub quality_limitation_reason: &'static str,
    pub limited_none_s: f64,
    pub limited_bandwidth_s: f64,
    pub limited_other_s: f64,
    pub quality_limitation_resolution_changes: u64,
    pub nack_count: u64,
    pub pli_count: u64,
    pub fir_count: u64,
    pub remote_round_trip_s: Option<f64>,
    pub remote_fraction_lost: Option<f64>,
    pub remote_packets_lost: Option<f64>,
    pub remote_jitter_s: Option<f64>,
}

/// State of a stream at its receiver at one time.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)] // likewise
#[non_exhaustive]
pub struct MediaInboundRow {
    pub group: String,
    pub flow: u32,
    pub time_s: f64,
    pub stream: &'static str,
    pub encoding: u32,
    pub packets_received: u64,
    pub packets_received_with_ect1: u64,
    pub packets_received_with_ce: u64,
    pub packets_lost: i64,
    pub packets_discarded: u64,
    pub packets_duplicated: u64,
    pub packets_recovered: u64,
    pub fec_packets_received: u64,
    pub fec_bytes_received: u64,
    pub fec_packets_discarded: u64,
    pub retransmitted_packets_received: u64,
    pub retransmitted_bytes_received: u64,
    pub padding_packets_received: u64,
    pub bytes_received: u64,
    pub header_bytes_received: u64,
    pub last_packet_received_s: Option<f64>,
    pub jitter_s: f64,
    pub nack_count: u64,
    pub pli_count: u64,
    pub fir_count: u64,
    pub frames_received: u64,
    pub frames_decoded: u64,
    pub key_frames_decoded: u64,
    pub frames_rendered: u64,
    pub frames_dropped: u64,
    pub frame_width: u32,
    pub frame_height: u32,
    pub frames_per_second: f64,
    pub total_inter_frame_delay_s: f64,
    pub total_squared_inter_frame_delay_s2: f64,
    pub freeze_count: u64,
    pub total_freezes_duration_s: f64,
    pub pause_count: u64,
    pub total_pauses_duration_s: f64,
    pub jitter_buffer_delay_s: f64,
    pub jitter_buffer_target_delay_s: f64,
    pub jitter_buffer_minimum_delay_s: f64,
    pub jitter_buffer_emitted_count: u64,
    pub total_samples_received: u64,
    pub concealed_samples: u64,
    pub silent_concealed_samples: u64,
    pub concealment_events: u64,
    pub inserted_samples_for_deceleration: u64,
    pub removed_samples_for_acceleration: u64,
    pub estimated_playout_s: Option<f64>,
}
