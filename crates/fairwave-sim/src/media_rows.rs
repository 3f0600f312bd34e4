//! Rows of media sessions: what each stream was like, and what both peers' `getStats()` would answer once per second.
//!
//! Counters run from the session's beginning, in the warm-up too. Column names are those of W3C's webrtc-stats in the form of
//! this laboratory's tables: `bytes_sent` for `bytesSent`; times end in `_s`, rates in `_bps`.

use serde::Serialize;

/// What a stream of a session was like, from its beginning to the end of the run.
#[derive(Clone, Debug, Serialize)]
pub struct MediaRow {
    /// Name of the group.
    pub group: String,
    /// Index within the group.
    pub flow: u32,
    /// `audio`, `video` or `screen`.
    pub stream: &'static str,
    /// Which of its simulcast encodings, from 0, the smallest picture.
    pub encoding: u32,
    /// Mean opinion score: of speech 1 to 4.5 (G.107.1), of pictures 1 to 5 with time in freezes as 1.
    pub mos: Option<f64>,
    /// Why there is none; otherwise empty.
    pub note: String,
    /// Rating of speech on the wideband scale, to 129; none for pictures.
    pub r_factor: Option<f64>,
    /// Mean opinion of the encoded pictures alone, freezes left out; none for speech.
    pub encoded_mos: Option<f64>,
    /// From mouth to ear, or from capture to rendering: mean over what was played.
    pub delay_s: Option<f64>,
    /// Picture later than sound by so much; none for speech.
    pub lip_sync_s: Option<f64>,
    /// Share of the samples played that were concealed, 0 to 1; none for pictures.
    pub concealed_ratio: Option<f64>,
    /// Time in which speech was missing for so long that its concealment had faded to silence; none for pictures.
    pub silence_s: Option<f64>,
    /// The longest gap of speech: missing without a break; none for pictures.
    pub longest_gap_s: Option<f64>,
    /// Gaps of speech above 0.5 s; none for pictures.
    pub gaps: Option<f64>,
    /// How long the session was on, from its beginning to the end of the run.
    pub measured_s: f64,
    /// Times that the picture froze (webrtc-stats); none for speech, as all that follow about pictures.
    pub freezes: Option<f64>,
    /// Share of the time since the first picture in freezes, 0 to 1.
    pub freeze_ratio: Option<f64>,
    /// The longest freeze or pause since the first picture, the last picture included.
    pub longest_freeze_s: Option<f64>,
    /// Time in which the camera was on and nothing moved: from the session's beginning to the first picture, in freezes and pauses.
    pub without_s: Option<f64>,
    /// The longest of these times.
    pub longest_without_s: Option<f64>,
    /// Changes of the picture's size, or of the layer that a server forwards, each minute. That a server stops a video for lack of
    /// rate is one, and that it goes on.
    pub switches_per_min: Option<f64>,
    /// Pictures shown per second.
    pub frame_rate: Option<f64>,
    /// Mean width of the pictures shown.
    pub width: Option<f64>,
    /// Mean height of them.
    pub height: Option<f64>,
    /// Mean target of the encoder, over the samples of each second.
    pub target_bps: Option<f64>,
    /// RTP packets sent, retransmissions, FEC and padding included.
    pub packets_sent: u64,
    /// Packets sent again.
    pub packets_retransmitted: u64,
    /// Packets of FEC.
    pub packets_fec: u64,
    /// Packets of padding.
    pub packets_padding: u64,
    /// RTP packets received.
    pub packets_received: u64,
    /// Packets of the media's own that did not arrive, duplicates taken off.
    pub packets_lost: i64,
    /// Lost packets that FEC restored.
    pub packets_recovered: u64,
    /// Packets that came too late.
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

/// A session at a moment: what its sender's controller does.
#[derive(Clone, Debug, Serialize)]
pub struct MediaTransportRow {
    /// Name of the group.
    pub group: String,
    /// Index within the group.
    pub flow: u32,
    /// The moment.
    pub time_s: f64,
    /// What the controller estimates that the path carries (`availableOutgoingBitrate`), whole IP packets.
    pub available_bps: f64,
    /// What all encoders and what is added to them may use.
    pub target_bps: f64,
    /// Rate of the pacer.
    pub pacing_bps: f64,
    /// Round trip; none before the first feedback.
    pub round_trip_s: Option<f64>,
    /// Bytes that wait in the pacer.
    pub pacer_bytes: u64,
    /// How long the oldest of them has waited.
    pub pacer_s: f64,
    /// Bytes that no feedback has reported on.
    pub in_flight_bytes: u64,
    /// Share lost by the last feedback.
    pub lost_ratio: Option<f64>,
    /// The controller's state; empty without states.
    pub state: &'static str,
}

/// A stream at a moment, at its sender.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)] // each is the member of webrtc-stats by that name, as `fairwave_endpoint::media` says
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

/// A stream at a moment, at its receiver.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)] // likewise
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
