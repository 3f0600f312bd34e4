//! Results of a run: rows per flow, timeliness threshold and link, and the series and units that you ask for.
//!
//! Times are in seconds, rates in bits per second of payload, sizes in bytes. An undefined field is `None` here and
//! null in every table.
//!
//! **Window.** Unless stated otherwise, results count the window from the end of the warm-up to the end of the run.
//! Packets and payload count when they are sent, dropped, lost or delivered. Units count when they are created. A
//! unit is lost if a queue or a wire removed one of its packets. A unit that is still in transit or waiting at the
//! end is not lost.

use std::sync::Arc;

use serde::Serialize;

use crate::classes::ClassRow;
pub use crate::measures::GroupRow;
use crate::media_rows::{MediaInboundRow, MediaOutboundRow, MediaRow, MediaTransportRow};
pub use crate::service_classes::ServiceClassRow;

/// All results of a run.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct RunResult {
    /// One row per flow.
    pub flows: Vec<FlowRow>,
    /// One row per flow group.
    pub groups: Vec<GroupRow>,
    /// Fates of the units: one row per flow, fate and place, for flows with units of an application.
    pub fates: Vec<FateRow>,
    /// One row per flow, threshold and reading of timeliness, for flows with units of an application.
    pub timeliness: Vec<TimelinessRow>,
    /// One row per flow, reading and share, for flows with constant-rate playback at the receiver.
    pub playback: Vec<PlaybackRow>,
    /// One row per flow and level, for flows with a recovery measurement.
    pub recovery: Vec<RecoveryRow>,
    /// One row per file or page of sources that request complete objects.
    pub transfers: Vec<TransferRow>,
    /// One row per group with transfers or pages, or with a limit of simultaneous flows.
    pub completions: Vec<CompletionRow>,
    /// One row per conversation.
    pub conversations: Vec<ConversationRow>,
    /// One row per flow with round-trip measurement.
    pub round_trips: Vec<RoundTripRow>,
    /// One row per flow with stated application requirements.
    pub outcomes: Vec<OutcomeRow>,
    /// One row per adaptive stream.
    pub sessions: Vec<SessionRow>,
    /// One row per stream of each media session.
    pub media: Vec<MediaRow>,
    /// One row per media session and second: state of its controller.
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
    /// Series, if requested.
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
#[non_exhaustive]
pub struct FlowRow {
    /// Name of the group.
    pub group: Arc<str>,
    /// Index within the group.
    pub flow: u32,
    /// Label of the transport.
    pub transport: Arc<str>,
    /// Start time; can be in the warm-up.
    pub start_s: f64,
    /// When the flow ended: its stop, the complete delivery of a `transfer`, its beginning if it was refused, or the
    /// end of the run.
    pub stop_s: f64,
    /// Time that the flow was active in the window.
    pub measured_s: f64,
    /// Units that count in the shares: received, lost and waiting. Together with those in flight, all units that the
    /// application made.
    pub units_sent: u64,
    /// Units complete at the receiver.
    pub units_received: u64,
    /// Units with a packet that a queue dropped or a wire lost and that was not repaired.
    pub units_lost: u64,
    /// Units missed but not lost: not arrived by the end of the run, not removed by the network, and too old to be
    /// useful. They waited in the sender or in a queue, or were in transit.
    pub units_waiting: u64,
    /// Units that had not arrived by the end of the run but could still arrive in time.
    pub units_in_flight: u64,
    /// Payload delivered to the application, each byte once, also after the flow's stop.
    pub payload_received: u64,
    /// Payload delivered while the flow was active, divided by that time; `None` for a flow that was not active in
    /// the window. Payload delivered after the flow's stop does not count.
    pub goodput_bps: Option<f64>,
    /// Data packets sent, retransmissions included.
    pub packets_sent: u64,
    /// Data packets retransmitted.
    pub packets_retransmitted: u64,
    /// Bytes on the wire of the data packets sent.
    pub wire_sent: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Window reductions on loss without a timeout.
    pub fast_retransmits: u64,
    /// Time for which the receiver's window limited the sender (RFC 4898, SndLimTimeRwin); TCP, and 0 for TFRC, which
    /// has no such window.
    pub limited_receiver_s: Option<f64>,
    /// Time that the congestion window, or the rate that congestion control allows, limited the sender; `None`
    /// likewise.
    pub limited_congestion_s: Option<f64>,
    /// Time that the application limited the sender because it had nothing to send; `None` likewise. The three times
    /// add up to the time that the flow was active.
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
    /// RFC 3550 interarrival jitter: mean of the running estimate over the received units.
    pub jitter_s: Option<f64>,
    /// Largest value of that estimate.
    pub jitter_max_s: Option<f64>,
    /// E-model rating of a voice flow with its playout buffer: 0 to 100 by ITU-T G.107; for wideband codecs 0 to 129 by
    /// G.107.1, a different scale.
    pub r_factor: Option<f64>,
    /// Mean opinion score from the rating, 1 to 4.5.
    pub mos: Option<f64>,
    /// Empty, or why a call has no rating, or remarks on its rating: parts separated by `; `, each beginning with
    /// `not defined:`, `extrapolated:` (values outside G.107's ranges), `assumed:` (factors that G.113 does not have)
    /// or `wideband:`.
    pub quality_note: String,
    /// For a call: units that arrived but that its receiver did not play. For a video: units that arrived after the
    /// display of their frame. Both include `units_waiting`.
    pub late_units: u64,
    /// Mean mouth-to-ear delay of the units that a call's receiver plays.
    pub mouth_to_ear_s: Option<f64>,
    /// Packet loss for the E-model, 0 to 1: (unplayed units + unit times made up) ÷ (all units + unit times made up).
    pub missed_ratio: Option<f64>,
    /// Longest gap of a call: uninterrupted time without received speech. The talker's pauses do not count.
    pub longest_gap_s: Option<f64>,
    /// Gaps above 0.5 s (see `fairwave_core::quality::gaps`).
    pub gaps: Option<f64>,
    /// Time in gaps after their first 60 ms, when concealment has faded to silence (ITU-T G.711 Appendix I).
    pub silence_s: Option<f64>,
    /// Points of R lost to the codec.
    pub r_cost_codec: Option<f64>,
    /// Points of R lost to mouth-to-ear delay.
    pub r_cost_delay: Option<f64>,
    /// Points of R lost to units that never arrived.
    pub r_cost_loss: Option<f64>,
    /// Points of R lost to late or waiting units, and to time made up for units that were almost too late.
    pub r_cost_lateness: Option<f64>,
    /// Units skipped by the transport's adaptation (layers above those subscribed). They are neither sent nor lost.
    pub units_skipped: u64,
    /// Longest wait of a unit in the sender for the rate that the transport allows. Units that still wait at the end
    /// count. 0 for transports that do not delay units; `None` for bulk data and for TCP, which does not report it.
    pub sender_wait_max_s: Option<f64>,
    /// Payload bytes still waiting in the sender at the end; 0 and `None` likewise.
    pub sender_backlog: Option<f64>,
    /// Frames of a video with a display time before the end.
    pub frames: u64,
    /// Share of frames with at least a decodable base layer when they were shown: the layer and all its references had
    /// arrived by then, also the frame after a B frame. A reference that arrives after it should be shown still serves
    /// later frames.
    pub decodable_ratio: Option<f64>,
    /// Mean number of decodable layers per frame; `None` for flows other than video.
    pub decodable_layers: Option<f64>,
    /// Packets dropped by queues that a judging receiver classified as congestion.
    pub congestion_as_congestion: u64,
    /// Packets dropped by queues that the receiver classified as random loss.
    pub congestion_as_random: u64,
    /// Packets lost by links that the receiver classified as congestion.
    pub random_as_congestion: u64,
    /// Packets lost by links that the receiver classified as random loss.
    pub random_as_random: u64,
    /// Data packets that arrived with a mark (congestion experienced) from any queue on the path.
    pub marked: u64,
}

/// Number of units of one flow with one fate at one place. Counts units of the window. The rows of a flow add up to
/// its `units_sent` plus `units_in_flight`.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct FateRow {
    /// Name of the group.
    pub group: Arc<str>,
    /// Index within the group.
    pub flow: u32,
    /// `played` in a call, else `arrived`; `late`: arrived but not played, or after its frame was shown, or useless to
    /// its receiver; `dropped`, `lost`, `waiting`, `on-the-way`.
    pub fate: &'static str,
    /// Link that dropped, lost or holds the unit; `sender` for units in the sender; otherwise empty.
    pub place: Arc<str>,
    /// Number of units.
    pub units: u64,
}

/// Timeliness of one flow under one reading.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct TimelinessRow {
    /// Name of the group.
    pub group: String,
    /// Index within the group.
    pub flow: u32,
    /// The threshold.
    pub threshold_s: f64,
    /// `gap`, `excess-gap`, `delay` or `sequence`.
    pub reading: &'static str,
    /// Units received too late by this reading.
    pub delayed: u64,
    /// Units received in time.
    pub timely: u64,
}

/// Playback of one flow for one reading and share: the x % application success percentage over the flow's lifetime.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct PlaybackRow {
    /// Name of the group.
    pub group: String,
    /// Index within the group.
    pub flow: u32,
    /// `goodput`: the interval's goodput must exceed the share; `buffer`: the content of the playback buffer must.
    pub reading: &'static str,
    /// Share of a read that must be available.
    pub share: f64,
    /// Reads that the application attempted.
    pub reads: u64,
    /// Percentage of successful reads, 0 to 100; `None` without reads.
    pub success_percent: Option<f64>,
}

/// Recovery of one flow from an interruption, to one level.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct RecoveryRow {
    /// Name of the group.
    pub group: String,
    /// Index within the group.
    pub flow: u32,
    /// The share of full speed that counts as recovered.
    pub level: f64,
    /// Full speed: the goodput between the warm-up and the interruption.
    pub full_bps: f64,
    /// Time from the end of the interruption to the end of the first bin that reaches the level; `None` if no bin
    /// does.
    pub recovery_s: Option<f64>,
}

/// A file or a page, wanted as a complete object. See `fairwave_core::quality::completion`.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct TransferRow {
    /// Name of the group.
    pub group: String,
    /// Index within the group.
    pub flow: u32,
    /// Number of the transfer within the flow, from 0; transfers of the warm-up count.
    pub transfer: u32,
    /// Beginning: of a file when the application handed it over, at the flow's beginning; of a page when the user
    /// requested it.
    pub began_s: f64,
    /// Payload bytes.
    pub size: u64,
    /// Delivery time of the last byte; `None` if not delivered.
    pub ended_s: Option<f64>,
    /// Completion time, `ended_s` − `began_s`; `None` if unfinished. A connection's handshake counts. A page's request
    /// counts with the propagation delay of the way back. The last acknowledgement does not count.
    pub seconds: Option<f64>,
    /// Completion time divided by the transmission time of the payload at the narrowest link's rate; `None` likewise.
    pub slowdown: Option<f64>,
    /// `completed`; `unfinished` at the end of the run or flow; or `refused`, because the group had reached its limit
    /// of simultaneous flows (`at-most`).
    pub fate: &'static str,
}

/// Results of a group's transfers. For arriving flows with a given duration: their numbers.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct CompletionRow {
    /// Name of the group.
    pub group: String,
    /// Files or pages, including refused ones; for flows with a random stay (`lasts`), arrivals.
    pub transfers: u64,
    /// Completed transfers; for flows with a random stay, those that had left by the end.
    pub completed: u64,
    /// Transfers or flows still active at the end.
    pub unfinished: u64,
    /// Transfers or flows refused because the group had reached its limit of simultaneous flows.
    pub refused: u64,
    /// Mean time of the completed transfers; `None` without any, and for flows with a given duration.
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

/// Playback of an adaptive stream from the start of the flow. See `fairwave_core::traffic::Session`.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct SessionRow {
    /// Name of the group.
    pub group: String,
    /// Index within the group.
    pub flow: u32,
    /// Segments received.
    pub segments: u64,
    /// Time from the first segment's request to the start of playback; `None` if playback did not start.
    pub start_up_s: Option<f64>,
    /// Playing time of the video.
    pub played_s: f64,
    /// Stalled time after the start of playback.
    pub stalled_s: f64,
    /// Number of stalls.
    pub stalls: u64,
    /// Stalled time divided by stalled plus playing time; `None` if playback did not start.
    pub stall_ratio: Option<f64>,
    /// Mean rate of the received segments; `None` without any.
    pub rate_bps: Option<f64>,
    /// Number of rate changes between consecutive segments.
    pub switches: u64,
    /// Quality of experience of Yin et al. 2015, Eq. 5, per segment: rates, minus their changes, minus the highest rate
    /// for each second of stalls and start-up.
    pub experience_bps: Option<f64>,
}

/// Both directions of a conversation. See `fairwave_core::quality::conversation`.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct ConversationRow {
    /// Name of the group.
    pub group: String,
    /// Number of the conversation within the group.
    pub conversation: u32,
    /// Mean mouth-to-ear delay of the direction from `from` to `to` (flow 2·conversation); `None` if no unit was
    /// played.
    pub mouth_to_ear_there_s: Option<f64>,
    /// The same for the reverse direction (flow 2·conversation + 1).
    pub mouth_to_ear_back_s: Option<f64>,
    /// Sum of both delays.
    pub round_trip_s: Option<f64>,
    /// Share of the time that both parties talk.
    pub double_talk_meant: Option<f64>,
    /// Share of the time that the party at `from` talks and hears the other party at the same time.
    pub double_talk_heard_from: Option<f64>,
    /// The same at `to`.
    pub double_talk_heard_to: Option<f64>,
    /// Share of the time that neither party talks.
    pub mutual_silence_meant: Option<f64>,
    /// E-model rating of the direction `from` to `to`, with the conversation's round trip.
    pub r_there: Option<f64>,
    /// The same for the reverse direction.
    pub r_back: Option<f64>,
    /// Mean opinion score of the direction `from` to `to`.
    pub mos_there: Option<f64>,
    /// The same for the reverse direction.
    pub mos_back: Option<f64>,
    /// Score of the conversation: the lower of both directions.
    pub mos: Option<f64>,
    /// Mean of both directions.
    pub mos_mean: Option<f64>,
    /// As in `flows`; remarks on one direction begin with `there:` or `back:`.
    pub quality_note: String,
}

/// Round trips of one flow, measured at its sender.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct RoundTripRow {
    /// Name of the group.
    pub group: String,
    /// Index within the group.
    pub flow: u32,
    /// Samples in the window.
    pub samples: u64,
    /// Mean; `None` without samples, like the following fields.
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
    /// Mean without the longest 5 % (the first ⌈0.95 n⌉ in ascending order); `responsiveness` is 60 s divided by it.
    pub trimmed_mean_s: Option<f64>,
    /// Smoothed (RFC 6298 §2) after the last sample of the run.
    pub smoothed_s: Option<f64>,
    /// Requests of the window with a known outcome; `None` for flows other than pings.
    pub requests: Option<f64>,
    /// Requests without a reply: a queue or a wire removed the request or its reply. A request that waits or is on its
    /// way, or has such a reply, does not count. In a live run a request is unanswered once it is older than the
    /// longest round trip.
    pub unanswered: Option<f64>,
}

/// Quality of Outcome of one flow. See `fairwave_core::quality::outcome`.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct OutcomeRow {
    /// Name of the group.
    pub group: String,
    /// Index within the group.
    pub flow: u32,
    /// Minimum of the latency and loss scores, 0 to 100; `None` without latencies.
    pub score: Option<f64>,
    /// Minimum over the latency percentiles.
    pub latency: Option<f64>,
    /// Loss score; 100 if the requirement has no loss bound. It counts lost units; for round trips, lost requests (for
    /// TCP, lost packets).
    pub loss: Option<f64>,
}

/// Counters of a tin of CAKE, as `tc -s qdisc` shows them.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct TinRow {
    /// `from>to`.
    pub link: String,
    /// `Best Effort`, `Bulk`, `Video`, `Voice`.
    pub tin: &'static str,
    /// Rate of the tin, bits per second; `None` without a limit.
    pub thresh_bps: Option<f64>,
    /// COBALT's target.
    pub target_s: f64,
    /// COBALT's interval.
    pub interval_s: f64,
    /// Running peak of the queueing delay.
    pub pk_delay_s: f64,
    /// Running mean of the queueing delay.
    pub av_delay_s: f64,
    /// Running minimum of the queueing delay: the delay of sparse flows.
    pub sp_delay_s: f64,
    /// Bytes waiting at the end.
    pub backlog: u64,
    /// Packets that arrived at the tin, including dropped ones.
    pub pkts: u64,
    /// Their bytes on the wire.
    pub bytes: u64,
    /// Times that a flow took a queue with another flow's tag, because no way of its set had the flow's tag.
    pub way_inds: u64,
    /// Times that a flow took an unused queue.
    pub way_miss: u64,
    /// Times that all ways of a set were in use and two flows shared a queue.
    pub way_cols: u64,
    /// Packets dropped.
    pub drops: u64,
    /// Packets marked.
    pub marks: u64,
    /// Acknowledgements that the ACK filter dropped.
    pub ack_drop: u64,
    /// Sparse flows: flows that have just started.
    pub sp_flows: u64,
    /// Bulk flows: flows in the round.
    pub bk_flows: u64,
    /// Unresponsive flows: queues with a BLUE drop probability.
    pub un_flows: u64,
    /// Largest packet.
    pub max_len: u64,
    /// Quantum of a flow, bytes.
    pub quantum: u64,
}

/// Use of a shared medium by one link direction.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
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
    /// Transmissions that failed because another member transmitted at the same time.
    pub collided: u64,
    /// Share of the window that this direction occupied the medium, overheads included.
    pub airtime: f64,
    /// This direction's part of the time that any member transmitted; `None` if no member transmitted.
    pub airtime_share: Option<f64>,
    /// Mean number of packets per transmission; `None` without transmissions.
    pub packets_per_transmission: Option<f64>,
    /// Failed transmissions divided by all; `None` without transmissions.
    pub failed_ratio: Option<f64>,
    /// Packets transmitted but never delivered.
    pub lost: u64,
}

/// One direction of a link.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct LinkRow {
    /// `from>to`.
    pub link: Arc<str>,
    /// Packets that arrived at the queue.
    pub arrivals: u64,
    /// Packets that left the transmitter.
    pub departures: u64,
    /// Packets dropped because the queue was full.
    pub dropped_overflow: u64,
    /// Packets dropped by the discipline.
    pub dropped_early: u64,
    /// Packets transmitted and lost on the wire.
    pub lost: u64,
    /// Bytes on the wire that left the transmitter.
    pub wire_departed: u64,
    /// Time average of the waiting packets, without the packet in transmission.
    pub mean_queue_packets: f64,
    /// Largest number of waiting packets.
    pub max_queue_packets: u32,
    /// Transmitted bits divided by the link's capacity, at most 1. A transmission across an edge of the window counts
    /// only for its part inside.
    pub utilisation: f64,
    /// Dropped packets divided by arrivals.
    pub drop_rate: f64,
    /// Mean wait of the packets that began transmission; for a plain FIFO the time that packets waited over those that
    /// left (Little's law).
    pub mean_wait_s: f64,
    /// Packets with a started transmission and a mark (congestion experienced) from this queue. Earlier marks do not
    /// count.
    pub marked: u64,
    /// Copies of arriving packets that the wire made.
    pub duplicated: u64,
    /// Packets overtaken by a packet that left later.
    pub reordered: u64,
}

/// Outage of one direction of a link; it can end after the run.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct OutageRow {
    /// `from>to`.
    pub link: String,
    /// Time of the failure; can be in the warm-up.
    pub from_s: f64,
    /// Time of the return; `None` if the outage lasted beyond the run.
    pub to_s: Option<f64>,
    /// Packets lost that waited at the failure or arrived during the outage.
    pub lost_waiting: u64,
    /// Packets lost during their transmission.
    pub lost_in_transmission: u64,
}

/// One point of a series. Series cover the whole run.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct SeriesRow {
    /// Kind: `goodput_bps`, `allotted_goodput_bps`, `allotted_fairness`, `queue_packets`, `window`, `ssthresh`,
    /// `srtt_s`, `estimate`, `rate_bps`, `layers`, `receive_bps`, `bound_bps`; for groups `group_goodput_bps`,
    /// `group_delay_s`, `group_loss`, `group_mos`, `group_round_trip_s`; for links `queueing_delay_s`.
    pub kind: &'static str,
    /// Flow or link.
    pub name: String,
    /// End of the bin, or time of the sample.
    pub time_s: f64,
    /// The value.
    pub value: f64,
}

/// One unit of a recorded flow. Units cover the whole run.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct UnitRow {
    /// The flow.
    pub flow: String,
    /// Number of the unit.
    pub unit: u32,
    /// Creation time at the application.
    pub created_s: f64,
    /// Completion time at the receiver; `None` if it never completed.
    pub arrived_s: Option<f64>,
    /// Payload bytes.
    pub payload: u32,
    /// Fate of the unit. In a call `played` or `late` (arrived, but not played), otherwise `arrived`. `dropped` by a
    /// queue or `lost` by a wire. At the end of the run `waiting` in the sender or in a queue, or `on-the-way`.
    /// `skipped` by the transport's adaptation. `noise` and `lost-noise` for comfort noise.
    pub fate: &'static str,
    /// Link that dropped, lost or holds the unit; `sender` for units in the sender; otherwise empty.
    pub place: Arc<str>,
    /// 1 if the unit counts in the shares; 0 for noise, skipped units, and units that could still arrive in time.
    pub counted: u64,
    /// Playback time at a call's receiver; `None` if not played.
    pub played_s: Option<f64>,
}
