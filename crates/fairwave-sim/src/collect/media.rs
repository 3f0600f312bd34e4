//! Media session rows: quality of each stream, and statistics of both peers over time.

use fairwave_core::encoder::{Spells, StreamKind};
use fairwave_core::transport::media::{
    InboundSample, MediaReceived, MediaSent, OutboundSample, QualityLimitation, Rated, StreamId, StreamQuality,
    StreamSummary, TransportSample, VideoQuality,
};
use fairwave_core::transport::{Receiver, Sender};
use fairwave_core::units::Instant;

use super::recorded::RunRecord;
use crate::media_rows::{MediaInboundRow, MediaOutboundRow, MediaRow, MediaTransportRow};
use crate::result::RunResult;

/// Adds the rows of a flow, if it is a media session.
pub(crate) fn append(run: &RunRecord<'_>, flow: usize, index: u32, result: &mut RunResult) {
    let (Some(sent), Some(received)) = (run.sending[flow].sender.media(), run.receiving[flow].receiver.media()) else {
        return;
    };
    let planned = &run.plan.flows[flow];
    let end = planned.stop.min(run.window.end);
    let of = Owner { group: &run.plan.groups[planned.group], flow: index };
    let there = |kind: StreamKind| Presence {
        from: planned.start,
        until: end,
        off: planned.traffic.media().map_or_else(Spells::default, |media| media.paused_times(kind)),
    };
    // A server can withhold a stream, so the receiver may not know it.
    let forwarded = run.plan.flows[flow].is_forwarded();
    let known = |id: StreamId| received.streams.iter().any(|one| one.total.stream == id);
    let totals = sent.totals.iter().filter(|total| !forwarded || known(total.stream));
    result.media.extend(totals.map(|total| of.stream(total, sent, received, &there(total.stream.kind))));
    result.media_transport.extend(sent.transport.iter().map(|sample| of.transport(sample)));
    result.media_outbound.extend(sent.outbound.iter().map(|sample| of.outbound(sample)));
    result.media_inbound.extend(received.inbound.iter().map(|sample| of.inbound(sample)));
}

/// Group and index of the flow that the rows belong to.
#[derive(Clone, Copy)]
struct Owner<'a> {
    group: &'a String,
    flow: u32,
}

/// Time with both ends of a session present, and the times with the camera off.
struct Presence {
    from: Instant,
    until: Instant,
    off: Spells,
}

impl Presence {
    /// Returns the seconds from the start to `until` with the camera on.
    fn on(&self, until: Instant) -> f64 {
        until.span_since(self.from).saturating_sub(self.off.covered(self.from, until)).seconds()
    }

    /// Returns the seconds without a moving picture, and the longest such interval.
    fn still_time(&self, video: &VideoQuality) -> (f64, f64) {
        let waits = self.on(video.first_shown.unwrap_or(self.until).min(self.until)) - video.left_out_before;
        let waits = waits.max(0.0);
        (waits + video.still, waits.max(video.longest_still))
    }

    fn rate_per_minute(&self, count: u64) -> Option<f64> {
        let minutes = self.on(self.until) / 60.0;
        (minutes > 0.0).then(|| count as f64 / minutes)
    }
}

/// Returns the mean encoder target over a stream's samples.
fn mean_target(sent: &MediaSent, stream: StreamId) -> Option<f64> {
    let targets = sent.outbound.iter().filter(|sample| sample.stream == stream).map(|sample| sample.target_bitrate);
    let (sum, count) = targets.fold((0.0, 0_u64), |(sum, count), target| (sum + target, count + 1));
    (count > 0).then(|| sum / count as f64)
}

fn seconds(at: Instant) -> f64 {
    at.seconds()
}

fn note<T>(rated: &Rated<T>) -> String {
    match rated {
        Rated::As(_) => String::new(),
        Rated::Not(reason) => reason.to_string(),
    }
}

impl Owner<'_> {
    fn stream(self, total: &OutboundSample, sent: &MediaSent, received: &MediaReceived, there: &Presence) -> MediaRow {
        let StreamId { kind, place } = total.stream;
        let summary: Option<&StreamSummary> = received.streams.iter().find(|one| one.total.stream == total.stream);
        let inbound = summary.map_or_else(|| InboundSample::new(Instant::ZERO, total.stream), |one| one.total);
        let quality = summary.map(|one| one.quality);
        let audio = quality.and_then(|quality| match quality {
            StreamQuality::Audio(audio) => Some(audio),
            StreamQuality::Video(_) => None,
        });
        let video = quality.and_then(|quality| match quality {
            StreamQuality::Video(video) => Some(video),
            StreamQuality::Audio(_) => None,
        });
        let heard = audio.and_then(|audio| audio.rating.value());
        let seen = video.and_then(|video| video.rating.value());
        MediaRow {
            group: self.group.clone(),
            flow: self.flow,
            stream: kind.name(),
            encoding: u32::from(place),
            mos: heard.map(|rating| rating.mos).or(seen.map(|rating| rating.shown)),
            note: (audio.map(|audio| note(&audio.rating)))
                .or(video.map(|video| note(&video.rating)))
                .unwrap_or_else(|| "not rated: the receiver does not know the stream".to_owned()),
            r_factor: heard.map(|rating| rating.r),
            encoded_mos: seen.map(|rating| rating.encoded),
            delay_s: audio.and_then(|audio| audio.mouth_to_ear).or(video.and_then(|video| video.capture_to_render)),
            lip_sync_s: summary.and_then(|one| one.lip_sync_offset),
            concealed_ratio: audio.map(|audio| audio.concealed_share),
            silence_s: audio.map(|_| inbound.silent_concealed_samples as f64 / 48_000.0),
            longest_gap_s: audio.map(|audio| audio.longest_gap),
            gaps: audio.map(|audio| audio.gaps as f64),
            measured_s: there.until.span_since(there.from).seconds(),
            freezes: video.map(|_| inbound.freeze_count as f64),
            freeze_ratio: video.map(|video| video.freeze_ratio),
            longest_freeze_s: video.map(|video| video.longest_still),
            without_s: video.map(|video| there.still_time(&video).0),
            longest_without_s: video.map(|video| there.still_time(&video).1),
            switches_per_min: video.and_then(|_| there.rate_per_minute(total.quality_limitation_resolution_changes)),
            frame_rate: video.map(|video| video.frame_rate),
            width: video.map(|video| video.width),
            height: video.map(|video| video.height),
            target_bps: mean_target(sent, total.stream),
            packets_sent: total.packets_sent,
            packets_retransmitted: total.retransmitted_packets_sent,
            packets_fec: total.fec_packets_sent,
            packets_padding: total.padding_packets_sent,
            packets_received: inbound.packets_received,
            packets_lost: inbound.packets_lost,
            packets_recovered: inbound.packets_recovered,
            packets_late: inbound.packets_discarded,
            frames_encoded: total.frames_encoded,
            key_frames: total.key_frames_encoded,
            frames_shown: audio.map_or(inbound.frames_rendered, |audio| audio.frames_played),
            nacks: inbound.nack_count,
            plis: inbound.pli_count,
            jitter_s: inbound.jitter,
        }
    }

    fn transport(self, sample: &TransportSample) -> MediaTransportRow {
        MediaTransportRow {
            group: self.group.clone(),
            flow: self.flow,
            time_s: seconds(sample.at),
            available_bps: sample.available_outgoing_bitrate,
            target_bps: sample.target_bitrate,
            pacing_bps: sample.pacing_bitrate,
            round_trip_s: sample.round_trip_time,
            pacer_bytes: sample.pacer_queue_bytes,
            pacer_s: sample.pacer_queue_time,
            in_flight_bytes: sample.bytes_in_flight,
            lost_ratio: sample.fraction_lost,
            state: sample.state,
        }
    }

    fn outbound(self, sample: &OutboundSample) -> MediaOutboundRow {
        let [limited_none_s, limited_bandwidth_s, limited_other_s] = sample.quality_limitation_durations;
        MediaOutboundRow {
            group: self.group.clone(),
            flow: self.flow,
            time_s: seconds(sample.at),
            stream: sample.stream.kind.name(),
            encoding: u32::from(sample.stream.place),
            packets_sent: sample.packets_sent,
            bytes_sent: sample.bytes_sent,
            header_bytes_sent: sample.header_bytes_sent,
            retransmitted_packets_sent: sample.retransmitted_packets_sent,
            retransmitted_bytes_sent: sample.retransmitted_bytes_sent,
            fec_packets_sent: sample.fec_packets_sent,
            fec_bytes_sent: sample.fec_bytes_sent,
            padding_packets_sent: sample.padding_packets_sent,
            padding_bytes_sent: sample.padding_bytes_sent,
            target_bps: sample.target_bitrate,
            frames_encoded: sample.frames_encoded,
            frames_sent: sample.frames_sent,
            key_frames_encoded: sample.key_frames_encoded,
            huge_frames_sent: sample.huge_frames_sent,
            frame_width: sample.frame_width,
            frame_height: sample.frame_height,
            frames_per_second: sample.frames_per_second,
            total_packet_send_delay_s: sample.total_packet_send_delay,
            quality_limitation_reason: match sample.quality_limitation {
                QualityLimitation::None => "none",
                QualityLimitation::Bandwidth => "bandwidth",
                QualityLimitation::Other => "other",
            },
            limited_none_s,
            limited_bandwidth_s,
            limited_other_s,
            quality_limitation_resolution_changes: sample.quality_limitation_resolution_changes,
            nack_count: sample.nack_count,
            pli_count: sample.pli_count,
            fir_count: sample.fir_count,
            remote_round_trip_s: sample.remote_round_trip_time,
            remote_fraction_lost: sample.remote_fraction_lost,
            remote_packets_lost: sample.remote_packets_lost.map(|lost| lost as f64),
            remote_jitter_s: sample.remote_jitter,
        }
    }

    fn inbound(self, sample: &InboundSample) -> MediaInboundRow {
        MediaInboundRow {
            group: self.group.clone(),
            flow: self.flow,
            time_s: seconds(sample.at),
            stream: sample.stream.kind.name(),
            encoding: u32::from(sample.stream.place),
            packets_received: sample.packets_received,
            packets_received_with_ect1: sample.packets_received_with_ect1,
            packets_received_with_ce: sample.packets_received_with_ce,
            packets_lost: sample.packets_lost,
            packets_discarded: sample.packets_discarded,
            packets_duplicated: sample.packets_duplicated,
            packets_recovered: sample.packets_recovered,
            fec_packets_received: sample.fec_packets_received,
            fec_bytes_received: sample.fec_bytes_received,
            fec_packets_discarded: sample.fec_packets_discarded,
            retransmitted_packets_received: sample.retransmitted_packets_received,
            retransmitted_bytes_received: sample.retransmitted_bytes_received,
            padding_packets_received: sample.padding_packets_received,
            bytes_received: sample.bytes_received,
            header_bytes_received: sample.header_bytes_received,
            last_packet_received_s: sample.last_packet_received.map(seconds),
            jitter_s: sample.jitter,
            nack_count: sample.nack_count,
            pli_count: sample.pli_count,
            fir_count: sample.fir_count,
            frames_received: sample.frames_received,
            frames_decoded: sample.frames_decoded,
            key_frames_decoded: sample.key_frames_decoded,
            frames_rendered: sample.frames_rendered,
            frames_dropped: sample.frames_dropped,
            frame_width: sample.frame_width,
            frame_height: sample.frame_height,
            frames_per_second: sample.frames_per_second,
            total_inter_frame_delay_s: sample.total_inter_frame_delay,
            total_squared_inter_frame_delay_s2: sample.total_squared_inter_frame_delay,
            freeze_count: sample.freeze_count,
            total_freezes_duration_s: sample.total_freezes_duration,
            pause_count: sample.pause_count,
            total_pauses_duration_s: sample.total_pauses_duration,
            jitter_buffer_delay_s: sample.jitter_buffer_delay,
            jitter_buffer_target_delay_s: sample.jitter_buffer_target_delay,
            jitter_buffer_minimum_delay_s: sample.jitter_buffer_minimum_delay,
            jitter_buffer_emitted_count: sample.jitter_buffer_emitted_count,
            total_samples_received: sample.total_samples_received,
            concealed_samples: sample.concealed_samples,
            silent_concealed_samples: sample.silent_concealed_samples,
            concealment_events: sample.concealment_events,
            inserted_samples_for_deceleration: sample.inserted_samples_for_deceleration,
            removed_samples_for_acceleration: sample.removed_samples_for_acceleration,
            estimated_playout_s: sample.estimated_playout.map(seconds),
        }
    }
}
