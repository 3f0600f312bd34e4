//! What a run leaves: rows per flow, per threshold of timeliness, per link, and the series and units that were asked for.
//!
//! Times are in seconds, rates in bits per second of payload, sizes in bytes; a field that is not defined is `None` here and null
//! in every table that is made of it.
//!
//! **Window.** Unless stated otherwise, results count the window from the end of the warm-up to the end of the run.
//! Packets and payload count at the time when they are sent, dropped, lost or delivered; units count at the time when
//! they are made. A unit is lost if a queue or a wire removed a packet of it. A unit that is still under way or waiting at the end is not lost.

use std::sync::Arc;

use serde::Serialize;

use crate::classes::ClassRow;
pub use crate::measures::GroupRow;
use crate::media_rows::{MediaInboundRow, MediaOutboundRow, MediaRow, MediaTransportRow};
pub use crate::service_classes::ServiceClassRow;

/// Everything that a run leaves.
#[derive(Clone, Debug, Default, Serialize)]
pub struct RunResult {
    /// One row per flow.
    pub flows: Vec<FlowRow>,
    /// One row per flow group.
    pub groups: Vec<GroupRow>,
    /// What became of the units: one row per flow, fate and place, for flows whose application makes units.
    pub fates: Vec<FateRow>,
    /// One row per flow, threshold and reading of timeliness, for flows whose application makes units.
    pub timeliness: Vec<TimelinessRow>,
    /// One row per flow, reading and share, for flows whose receiver plays back at a constant rate.
    pub playback: Vec<PlaybackRow>,
    /// One row per flow and level, for flows whose recovery was to be measured.
    pub recovery: Vec<RecoveryRow>,
    /// One row per file or page, of sources whose units are wanted as a whole.
    pub transfers: Vec<TransferRow>,
    /// One row per group that has transfers or pages, or whose arriving flows have a limit of simultaneous flows.
    pub completions: Vec<CompletionRow>,
    /// One row per conversation.
    pub conversations: Vec<ConversationRow>,
    /// One row per flow whose round trips were measured.
    pub round_trips: Vec<RoundTripRow>,
    /// One row per flow whose application says what it needs.
    pub outcomes: Vec<OutcomeRow>,
    /// One row per adaptive stream.
    pub sessions: Vec<SessionRow>,
    /// One row per stream of each media session.
    pub media: Vec<MediaRow>,
    /// One row per media session and second: its controller.
    pub media_transport: Vec<MediaTransportRow>,
    /// One row per stream and second, at its sender.
    pub media_outbound: Vec<MediaOutboundRow>,
    /// One row per stream and second, at its receiver.
    pub media_inbound: Vec<MediaInboundRow>,
    /// One row per link direction.
    pub links: Vec<LinkRow>,
    /// One row per link direction and outage.
    pub outages: Vec<OutageRow>,
    /// One row per managed queue and traffic class.
    pub classes: Vec<ClassRow>,
    /// One row per tin of each queue under CAKE.
    pub tins: Vec<TinRow>,
    /// One row per link direction that uses a shared medium.
    pub radio: Vec<RadioRow>,
    /// One row per class of a link's class map, and per policer or shaper of a link.
    pub service_classes: Vec<ServiceClassRow>,
    /// Series, if asked for.
    pub series: Vec<SeriesRow>,
    /// Units of recorded flows.
    pub units: Vec<UnitRow>,
    /// Packets that left a link direction: the simulator's unit of work.
    pub packet_hops: u64,
    /// Events that the simulator handled.
    pub events: u64,
}

/// One flow.
#[derive(Clone, Debug, Serialize)]
pub struct FlowRow {
    /// Name of the group.
    pub group: Arc<str>,
    /// Index within the group.
    pub flow: u32,
    /// How it was sent.
    pub transport: Arc<str>,
    /// When it began; in the warm-up, too.
    pub start_s: f64,
    /// When it ended: its stop, or the end of the run.
    pub stop_s: f64,
    /// How long it was on in the window.
    pub measured_s: f64,
    /// Units that count in the shares: those received, those lost and those waiting. With those in flight, all that the application made.
    pub units_sent: u64,
    /// Units complete at the receiver.
    pub units_received: u64,
    /// Units of which a queue dropped or a wire lost a packet that was not replaced.
    pub units_lost: u64,
    /// Units that had not arrived at the end of the run, that the network had not removed, and that were too old to be of use: missed, and not
    /// lost. They waited in their sender or in a queue, or were on their way.
    pub units_waiting: u64,
    /// Units that had not arrived by the end of the run and might yet, in time.
    pub units_in_flight: u64,
    /// Payload delivered to the application, each byte once.
    pub payload_received: u64,
    /// Payload delivered while the flow was on, over that time; none for a flow that was not on in the window. What is
    /// delivered after its stop does not count.
    pub goodput_bps: Option<f64>,
    /// Data packets sent, retransmissions included.
    pub packets_sent: u64,
    /// Data packets sent again.
    pub packets_retransmitted: u64,
    /// Bytes on the wire of the data packets sent.
    pub wire_sent: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Window reductions on loss without a timeout.
    pub fast_retransmits: u64,
    /// How long the window of the receiver held the sender back; none for a transport that nothing holds back.
    pub limited_receiver_s: Option<f64>,
    /// How long the congestion window, or the rate that congestion control allows, did; none likewise.
    pub limited_congestion_s: Option<f64>,
    /// How long the application did, which had nothing to send; none likewise. With the other two it is the time that the flow was on.
    pub limited_application_s: Option<f64>,
    /// Data packets dropped by queues.
    pub dropped: u64,
    /// Data packets lost by links.
    pub lost: u64,
    /// One-way delay of received units, application to application: mean.
    pub delay_mean_s: Option<f64>,
    /// Median.
    pub delay_p50_s: Option<f64>,
    /// 95th percentile.
    pub delay_p95_s: Option<f64>,
    /// 99th percentile.
    pub delay_p99_s: Option<f64>,
    /// Largest.
    pub delay_max_s: Option<f64>,
    /// RFC 3550 interarrival jitter: mean of the running estimate over the units received.
    pub jitter_s: Option<f64>,
    /// The largest that the estimate became.
    pub jitter_max_s: Option<f64>,
    /// E-model rating of a voice flow with its playout buffer: 0 to 100, for wideband codecs to 129.
    pub r_factor: Option<f64>,
    /// Mean opinion score from the rating, 1 to 4.5.
    pub mos: Option<f64>,
    /// Why a call has no rating, or a remark on its rating (see `fairwave_core::quality::call`); otherwise empty.
    pub quality_note: String,
    /// Of a call, units that arrived but that its receiver did not play; of a video, units that arrived after their frame was
    /// shown. Both with `units_waiting`.
    pub late_units: u64,
    /// Mean delay mouth to ear of the units that a call's receiver plays.
    pub mouth_to_ear_s: Option<f64>,
    /// The E-model's packet loss, 0 to 1: units not played, and time made up for units that were played after it.
    pub missed_ratio: Option<f64>,
    /// The longest gap of a call: speech that is missing without a break, pauses of the talker left out.
    pub longest_gap_s: Option<f64>,
    /// Gaps above 0.5 s (see `fairwave_core::quality::gaps`).
    pub gaps: Option<f64>,
    /// Time in gaps after concealment has faded to silence.
    pub silence_s: Option<f64>,
    /// Points of R that the codec costs.
    pub r_cost_codec: Option<f64>,
    /// Points of R that delay mouth to ear costs.
    pub r_cost_delay: Option<f64>,
    /// Points of R that units cost that never arrived.
    pub r_cost_loss: Option<f64>,
    /// Points of R that units cost that arrived too late or still wait, and time made up for those that were only just not too late.
    pub r_cost_lateness: Option<f64>,
    /// Units that the transport's adaptation left out (layers above those subscribed): neither sent nor lost.
    pub units_skipped: u64,
    /// The longest wait of a unit in the sender for the rate that the transport allows, including units that still wait
    /// at the end: 0 for transports that hold nothing back, none for bulk data and for TCP, which does not report it.
    pub sender_wait_max_s: Option<f64>,
    /// Payload bytes that still waited there at the end; likewise.
    pub sender_backlog: Option<f64>,
    /// Frames of a video that were to be shown by the end.
    pub frames: u64,
    /// Share of them of which at least the base layer could be decoded; none for what is not video.
    pub decodable_ratio: Option<f64>,
    /// Layers in which they could be decoded, mean; none for what is not video.
    pub decodable_layers: Option<f64>,
    /// Packets dropped by queues that a judging receiver took for congestion.
    pub congestion_as_congestion: u64,
    /// Packets dropped by queues that it took for random loss.
    pub congestion_as_random: u64,
    /// Packets lost by links that it took for congestion.
    pub random_as_congestion: u64,
    /// Packets lost by links that it took for random loss.
    pub random_as_random: u64,
    /// Data packets that arrived marked (congestion experienced) by any queue on their way.
    pub marked: u64,
}

/// How many units of one flow had one fate at one place. Units of the window count; the rows of a flow add up to its `units_sent` and
/// `units_in_flight`.
#[derive(Clone, Debug, Serialize)]
pub struct FateRow {
    /// Name of the group.
    pub group: Arc<str>,
    /// Index within the group.
    pub flow: u32,
    /// `played` of a call, else `arrived`; `late`, `dropped`, `lost`, `waiting` or `on-the-way`.
    pub fate: &'static str,
    /// The link that dropped or lost it, or that has it; `sender` for what its sender holds; else empty.
    pub place: Arc<str>,
    /// How many.
    pub units: u64,
}

/// Timeliness of one flow by one reading.
#[derive(Clone, Debug, Serialize)]
pub struct TimelinessRow {
    /// Name of the group.
    pub group: String,
    /// Index within the group.
    pub flow: u32,
    /// The threshold.
    pub threshold_s: f64,
    /// `gap`, `excess-gap` or `delay`.
    pub reading: &'static str,
    /// Units received too late by this reading.
    pub delayed: u64,
    /// Units received in time.
    pub timely: u64,
}

/// Playback of one flow by one reading and share: the x % application success percentage, over the flow's whole life.
#[derive(Clone, Debug, Serialize)]
pub struct PlaybackRow {
    /// Name of the group.
    pub group: String,
    /// Index within the group.
    pub flow: u32,
    /// `goodput` or `buffer`.
    pub reading: &'static str,
    /// The share of a read that must be there.
    pub share: f64,
    /// Reads that the application attempted.
    pub reads: u64,
    /// How many succeeded, 0 to 100; none without reads.
    pub success_percent: Option<f64>,
}

/// Recovery of one flow from an interruption, to one level.
#[derive(Clone, Debug, Serialize)]
pub struct RecoveryRow {
    /// Name of the group.
    pub group: String,
    /// Index within the group.
    pub flow: u32,
    /// The share of full speed that counts as recovered.
    pub level: f64,
    /// Full speed: the goodput between the warm-up and the interruption.
    pub full_bps: f64,
    /// From the end of the interruption to the end of the first bin that reaches the level; none if none does.
    pub recovery_s: Option<f64>,
}

/// A file or a page: what is wanted as a whole. See `fairwave_core::quality::completion`.
#[derive(Clone, Debug, Serialize)]
pub struct TransferRow {
    /// Name of the group.
    pub group: String,
    /// Index within the group.
    pub flow: u32,
    /// Its number within the flow, from 0; in the warm-up, too.
    pub transfer: u32,
    /// When it began, or was asked for.
    pub began_s: f64,
    /// Payload bytes.
    pub size: u64,
    /// When its last byte was delivered; none if it was not.
    pub ended_s: Option<f64>,
    /// Completion time; none likewise.
    pub seconds: Option<f64>,
    /// Completion time over that of its payload alone at the narrowest link's rate; none likewise.
    pub slowdown: Option<f64>,
    /// `completed`, `unfinished` or `refused`.
    pub fate: &'static str,
}

/// Results of a group's transfers; for arriving flows that stay for a given time, their numbers.
#[derive(Clone, Debug, Serialize)]
pub struct CompletionRow {
    /// Name of the group.
    pub group: String,
    /// Transfers, or flows that arrived.
    pub transfers: u64,
    /// Those completed, or over.
    pub completed: u64,
    /// Those under way at the end.
    pub unfinished: u64,
    /// Those refused, as many as may be at work being so.
    pub refused: u64,
    /// Completion time of the completed: mean; none without any, and for flows that stay for a time of their own.
    pub mean_s: Option<f64>,
    /// Median.
    pub p50_s: Option<f64>,
    /// 95th percentile.
    pub p95_s: Option<f64>,
    /// Largest.
    pub max_s: Option<f64>,
    /// Mean slowdown.
    pub slowdown: Option<f64>,
}

/// What the viewer of an adaptive stream got, from the flow's beginning on. See `fairwave_core::traffic::Session`.
#[derive(Clone, Debug, Serialize)]
pub struct SessionRow {
    /// Name of the group.
    pub group: String,
    /// Index within the group.
    pub flow: u32,
    /// Segments that came.
    pub segments: u64,
    /// From asking for the first segment to playing; none if it did not begin.
    pub start_up_s: Option<f64>,
    /// How long the video played.
    pub played_s: f64,
    /// How long it stood still after it had begun.
    pub stalled_s: f64,
    /// How often it did.
    pub stalls: u64,
    /// Time stood still over that and the time played; none if it did not begin.
    pub stall_ratio: Option<f64>,
    /// Mean rate of the segments that came; none without any.
    pub rate_bps: Option<f64>,
    /// How often the rate changed from one segment to the next.
    pub switches: u64,
    /// Quality of experience of Yin et al. 2015 (Eq. 5) for each segment, as a rate; none without any.
    pub experience_bps: Option<f64>,
}

/// Both directions of a conversation. See `fairwave_core::quality::conversation`.
#[derive(Clone, Debug, Serialize)]
pub struct ConversationRow {
    /// Name of the group.
    pub group: String,
    /// Number of the conversation within the group.
    pub conversation: u32,
    /// Mean delay mouth to ear of the direction from `from` to `to`, which is flow 2·conversation; none if nothing was played.
    pub mouth_to_ear_there_s: Option<f64>,
    /// Of the direction back, which is flow 2·conversation + 1.
    pub mouth_to_ear_back_s: Option<f64>,
    /// Their sum.
    pub round_trip_s: Option<f64>,
    /// Share of the time in which both talk.
    pub double_talk_meant: Option<f64>,
    /// Share of the time in which the party at `from` talks and hears the other.
    pub double_talk_heard_from: Option<f64>,
    /// The same at `to`.
    pub double_talk_heard_to: Option<f64>,
    /// Share of the time in which neither party talks.
    pub mutual_silence_meant: Option<f64>,
    /// E-model rating of the direction there, with the conversation's round trip.
    pub r_there: Option<f64>,
    /// Of the direction back.
    pub r_back: Option<f64>,
    /// Mean opinion score of the direction there.
    pub mos_there: Option<f64>,
    /// Of the direction back.
    pub mos_back: Option<f64>,
    /// That of the worse direction: the conversation's.
    pub mos: Option<f64>,
    /// Mean of both directions'.
    pub mos_mean: Option<f64>,
    /// Why there is no rating, or a remark on it; otherwise empty.
    pub quality_note: String,
}

/// The round trips of one flow, as its sender sees them.
#[derive(Clone, Debug, Serialize)]
pub struct RoundTripRow {
    /// Name of the group.
    pub group: String,
    /// Index within the group.
    pub flow: u32,
    /// Samples in the window.
    pub samples: u64,
    /// Mean; none without samples, as all that follow.
    pub mean_s: Option<f64>,
    /// Shortest.
    pub min_s: Option<f64>,
    /// Median, by the nearest rank.
    pub p50_s: Option<f64>,
    /// 95th percentile.
    pub p95_s: Option<f64>,
    /// 99th percentile.
    pub p99_s: Option<f64>,
    /// Longest.
    pub max_s: Option<f64>,
    /// Mean without the longest twentieth.
    pub trimmed_mean_s: Option<f64>,
    /// Smoothed (RFC 6298 §2) after the last sample of the run.
    pub smoothed_s: Option<f64>,
    /// Requests of the window with a known outcome; none for flows other than pings.
    pub requests: Option<f64>,
    /// How many of them were not.
    pub unanswered: Option<f64>,
}

/// The Quality of Outcome of one flow. See `fairwave_core::quality::outcome`.
#[derive(Clone, Debug, Serialize)]
pub struct OutcomeRow {
    /// Name of the group.
    pub group: String,
    /// Index within the group.
    pub flow: u32,
    /// The least of latency's and loss's, 0 to 100; none without latencies.
    pub score: Option<f64>,
    /// The least over the percentiles of latency.
    pub latency: Option<f64>,
    /// That of loss; 100 where it does not count.
    pub loss: Option<f64>,
}

/// The counters of a tin of CAKE, as `tc -s qdisc` shows them.
#[derive(Clone, Debug, Serialize)]
pub struct TinRow {
    /// `from>to`.
    pub link: String,
    /// `Best Effort`, `Bulk`, `Video`, `Voice`.
    pub tin: &'static str,
    /// Its own rate, bits per second; none where nothing is limited.
    pub thresh_bps: Option<f64>,
    /// COBALT's target.
    pub target_s: f64,
    /// COBALT's interval.
    pub interval_s: f64,
    /// Running peak of the time that packets waited.
    pub pk_delay_s: f64,
    /// Running mean.
    pub av_delay_s: f64,
    /// Running minimum, which is that of sparse flows.
    pub sp_delay_s: f64,
    /// Bytes that wait at the end.
    pub backlog: u64,
    /// Packets that arrived at the tin, including dropped ones.
    pub pkts: u64,
    /// Their bytes on the wire.
    pub bytes: u64,
    /// Times that a flow took a queue whose tag was another's: no way of its set was its own.
    pub way_inds: u64,
    /// Times that a flow took a queue that was not in use.
    pub way_miss: u64,
    /// Times that all ways of a set were in use, and two flows shared a queue.
    pub way_cols: u64,
    /// Packets dropped.
    pub drops: u64,
    /// Packets marked.
    pub marks: u64,
    /// Acknowledgements that the ACK filter dropped.
    pub ack_drop: u64,
    /// Flows that have just begun.
    pub sp_flows: u64,
    /// Flows in the round.
    pub bk_flows: u64,
    /// Flows without packets that decay.
    pub un_flows: u64,
    /// Largest packet.
    pub max_len: u64,
    /// A flow's quantum, bytes.
    pub quantum: u64,
}

/// What a link direction took of the shared medium that it uses.
#[derive(Clone, Debug, Serialize)]
pub struct RadioRow {
    /// Name of the medium.
    pub medium: String,
    /// Its law.
    pub law: String,
    /// `from>to`.
    pub link: String,
    /// Transmissions on the air (frame exchanges, transport blocks), retries included.
    pub transmissions: u64,
    /// Those that failed, by collision or by noise.
    pub failed: u64,
    /// Those that failed because another transmitted at the same time.
    pub collided: u64,
    /// Share of the window in which this direction occupied the medium, overheads included.
    pub airtime: f64,
    /// Its part of the time in which any member of the medium transmitted; none when none did.
    pub airtime_share: Option<f64>,
    /// Packets that a transmission carried, mean; none without transmissions.
    pub packets_per_transmission: Option<f64>,
    /// Failed transmissions over all; none without transmissions.
    pub failed_ratio: Option<f64>,
    /// Packets that were transmitted and not delivered in the end.
    pub lost: u64,
}

/// One direction of a link.
#[derive(Clone, Debug, Serialize)]
pub struct LinkRow {
    /// `from>to`.
    pub link: Arc<str>,
    /// Packets that arrived at the queue.
    pub arrivals: u64,
    /// Packets that left the transmitter.
    pub departures: u64,
    /// Dropped for want of room.
    pub dropped_overflow: u64,
    /// Dropped by the discipline.
    pub dropped_early: u64,
    /// Transmitted and lost on the wire.
    pub lost: u64,
    /// Bytes on the wire that left the transmitter.
    pub wire_departed: u64,
    /// Time average of the packets that wait, the one in transmission not counted.
    pub mean_queue_packets: f64,
    /// Most that waited.
    pub max_queue_packets: u32,
    /// Bits transmitted over what the link could have carried, at most 1. Of a packet whose transmission straddles an edge of the window
    /// counts the part within it.
    pub utilisation: f64,
    /// Dropped over arrived.
    pub drop_rate: f64,
    /// Mean wait of the packets whose transmission began.
    pub mean_wait_s: f64,
    /// Packets whose transmission began with a mark (congestion experienced) that this queue gave them. What had been marked
    /// before does not count.
    pub marked: u64,
    /// Copies that the wire made of packets that arrived.
    pub duplicated: u64,
    /// Packets that one which left later overtook.
    pub reordered: u64,
}

/// An outage of one direction of a link, which may end after the run.
#[derive(Clone, Debug, Serialize)]
pub struct OutageRow {
    /// `from>to`.
    pub link: String,
    /// When it failed; in the warm-up, too.
    pub from_s: f64,
    /// When it came back; none if it did not within the run.
    pub to_s: Option<f64>,
    /// Packets lost that waited when it failed or came while it was down.
    pub lost_waiting: u64,
    /// Packets lost in the middle of their transmission.
    pub lost_in_transmission: u64,
}

/// One point of a series; series are of the whole run.
#[derive(Clone, Debug, Serialize)]
pub struct SeriesRow {
    /// What it is: `goodput_bps`, `allotted_goodput_bps`, `allotted_fairness`, `queue_packets`, `window`,
    /// `ssthresh`, `srtt_s`, `estimate`, `rate_bps`, `layers`, `receive_bps`, `bound_bps`; of groups `group_goodput_bps`,
    /// `group_delay_s`, `group_loss`, `group_mos`, `group_round_trip_s`; of links `queueing_delay_s`.
    pub kind: &'static str,
    /// Flow or link.
    pub name: String,
    /// End of the bin, or time of the sample.
    pub time_s: f64,
    /// The value.
    pub value: f64,
}

/// One unit of a recorded flow; units are of the whole run.
#[derive(Clone, Debug, Serialize)]
pub struct UnitRow {
    /// The flow.
    pub flow: String,
    /// Number of the unit.
    pub unit: u32,
    /// When the application made it.
    pub created_s: f64,
    /// When it was complete at the receiver; none if it was not.
    pub arrived_s: Option<f64>,
    /// Payload bytes.
    pub payload: u32,
    /// `played`, or `late` (arrived, but not played), in a call, else `arrived`; `dropped` by a queue or `lost` by a wire; `waiting` in its
    /// sender or in a queue, or `on-the-way`, when the run ended; `skipped` by a transport's adaptation; `noise` and `lost-noise`.
    pub fate: &'static str,
    /// The link that dropped or lost it, or that has it; `sender` for what its sender holds; else empty.
    pub place: Arc<str>,
    /// 1 if the unit counts in the shares; 0 for noise, for what was skipped, and for what might still have arrived in time.
    pub counted: u64,
    /// When a call's receiver plays it; none if it does not.
    pub played_s: Option<f64>,
}
