//! Crate `goog_cc`, a port of libwebrtc's controller, as a rate controller: an independent implementation of the source
//! that fairwave's controller `gcc` follows.
//!
//! The port decides; this file translates. Times are whole microseconds and sizes are bytes, as in the port.
//!
//! **Assumptions and deviations.** The port expects an arrival in each message. So a message without arrivals is kept
//! until the next one with some. The port cannot move between threads, as a session may. So it has a separate thread,
//! and the session waits for it. If the port panics, the thread ends, the rate stays, and the state is `failed`. The
//! port reads the wall clock at the start of application-limited phases. Only its periodic probes use that time. They
//! are off here, so runs are reproducible.

use std::collections::{BTreeMap, VecDeque};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use fairwave_core::config::ConfigError;
use fairwave_core::random::Stream;
use fairwave_core::registry::{Checked, Law};
use fairwave_core::transport::rate_control::{
    ControlLaw, ControlView, Decision, Feedback, Limits, LossReport, PacketReport, Probe, RateController, SentPacket,
};
use fairwave_core::units::{Instant, Rate, Span};
use goog_cc::network_control::{NetworkControllerConfig, NetworkControllerInterface};
use goog_cc::transport::{
    NetworkAvailability, NetworkControlUpdate, PacedPacketInfo, PacketResult, ProcessInterval, RoundTripTimeUpdate,
    SentPacket as PortSent, TargetRateConstraints, TransportLossReport, TransportPacketsFeedback,
};
use goog_cc::units::{DataRate, DataSize, TimeDelta, Timestamp};
use goog_cc::{GoogCcConfig as PortConfig, GoogCcNetworkController, LossBasedBweV2Config};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Interval of the port's periodic update (libwebrtc's controller runs every 25 ms).
const INTERVAL: Span = Span::from_millis(25);
/// Lowest rate passed to the port, bits per second, because the port divides by rates.
const LEAST: u64 = 5_000;
/// A packet is forgotten if this many later ones were sent and no message reported it.
const KEPT: u64 = 20_000;

/// Constants of the loss-based estimator.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Constants {
    /// The crate's defaults, from an older libwebrtc.
    #[default]
    Crate,
    /// The constants of libwebrtc of August 2026, as in `gcc`.
    Libwebrtc,
}

/// Crate `goog_cc` 0.1.4, an independent port of libwebrtc's congestion control, for comparison with `gcc`.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct GoogCcConfig {
    /// Constants of the loss-based estimator: `crate` (its defaults) or `libwebrtc` (August 2026). Default `crate`.
    pub constants: Constants,
}

impl Checked for GoogCcConfig {
    fn check(&self) -> Result<(), ConfigError> {
        Ok(())
    }
}

impl Law for GoogCcConfig {
    const NAME: &'static str = "goog-cc";
    const EXAMPLE: &'static str = r#"{"constants": "libwebrtc"}"#;
}

impl ControlLaw for GoogCcConfig {
    type Controller = GoogCc;

    fn controller(&self, _stream: Stream) -> GoogCc {
        GoogCc::new(*self)
    }
}

/// Returns the constants of libwebrtc of August 2026 for the port; its defaults are older.
fn constants_of_2026() -> LossBasedBweV2Config {
    LossBasedBweV2Config {
        bw_rampup_upper_bound_factor: 1.5,
        bw_rampup_upper_bound_in_hold_factor: 1.2,
        loss_threshold_of_high_bandwidth_preference: 0.2,
        inherent_loss_upper_bound_bw_balance: DataRate::from_kilobits_per_sec(100),
        observation_window_size: 15,
        instant_upper_bound_bw_balance: DataRate::from_kilobits_per_sec(100),
        use_in_start_phase: true,
        lower_bound_by_acked_rate_factor: 1.0,
        hold_duration_factor: 2.0,
        use_byte_loss_rate: true,
        padding_duration: TimeDelta::from_seconds(2),
        bound_best_candidate: true,
        ..LossBasedBweV2Config::default()
    }
}

/// Request to the port's thread.
enum Ask {
    Sent(PortSent),
    Feedback(TransportPacketsFeedback),
    RoundTrip(RoundTripTimeUpdate),
    Loss(TransportLossReport),
    Time(ProcessInterval),
    Available(NetworkAvailability),
    Limits(TargetRateConstraints),
}

/// The port in its thread. Dropping it ends the thread.
struct Port {
    asks: SyncSender<Ask>,
    answers: Receiver<NetworkControlUpdate>,
}

impl Port {
    /// Returns `None` if the system cannot create a thread.
    fn start(constants: Constants, constraints: TargetRateConstraints, most: DataRate) -> Option<Self> {
        let (asks, requests) = sync_channel::<Ask>(1);
        let (replies, answers) = sync_channel(1);
        let work = move || {
            let mut config = NetworkControllerConfig::default();
            if constants == Constants::Libwebrtc {
                config.field_trials.loss_based_bwe_v2 = constants_of_2026();
            }
            config.constraints = constraints;
            config.stream_based_config.max_total_allocated_bitrate = Some(most);
            config.stream_based_config.requests_alr_probing = Some(false);
            let mut port = GoogCcNetworkController::new(config, PortConfig::default());
            for ask in requests {
                let answer = match ask {
                    Ask::Sent(packet) => port.on_sent_packet(packet),
                    Ask::Feedback(message) => port.on_transport_packets_feedback(message),
                    Ask::RoundTrip(update) => port.on_round_trip_time_update(update),
                    Ask::Loss(report) => port.on_transport_loss_report(report),
                    Ask::Time(interval) => port.on_process_interval(interval),
                    Ask::Available(available) => port.on_network_availability(available),
                    Ask::Limits(constraints) => port.on_target_rate_constraints(constraints),
                };
                if replies.send(answer).is_err() {
                    return;
                }
            }
        };
        thread::Builder::new().name("goog_cc".to_owned()).spawn(work).ok()?;
        Some(Port { asks, answers })
    }

    /// Returns `None` if the port has panicked.
    fn ask(&self, ask: Ask) -> Option<NetworkControlUpdate> {
        self.asks.send(ask).ok()?;
        self.answers.recv().ok()
    }
}

/// State of the adapter.
pub struct GoogCc {
    config: GoogCcConfig,
    port: Option<Port>,
    limits: Option<Limits>,
    sent: BTreeMap<u64, PortSent>,
    clusters: BTreeMap<u32, Probe>,
    probes: VecDeque<Probe>,
    /// Reports of messages without arrivals.
    pending: Vec<PacketReport>,
    in_flight: u64,
    next: Instant,
    target: f64,
    pacing: f64,
    padding: f64,
    held_back: f64,
    round_trip: Option<Span>,
    lost: Option<f64>,
}

/// Converts a time, limited to 300 years because the port uses signed microseconds.
fn time(instant: Instant) -> Timestamp {
    Timestamp::from_micros((instant.nanos() / 1000).min(i64::MAX as u64 / 1000) as i64)
}

fn span(span: Span) -> TimeDelta {
    TimeDelta::from_micros((span.nanos() / 1000).min(i64::MAX as u64 / 1000) as i64)
}

fn rate(rate: Rate) -> DataRate {
    DataRate::from_bits_per_sec(rate.bits_per_second().clamp(LEAST, 1_000_000_000_000) as i64)
}

fn size(bytes: u64) -> DataSize {
    DataSize::from_bytes(bytes.min(1 << 40) as i64)
}

impl GoogCc {
    fn new(config: GoogCcConfig) -> Self {
        GoogCc {
            config,
            port: None,
            limits: None,
            sent: BTreeMap::new(),
            clusters: BTreeMap::new(),
            probes: VecDeque::new(),
            pending: Vec::new(),
            in_flight: 0,
            next: Instant::NEVER,
            target: 0.0,
            pacing: 0.0,
            padding: 0.0,
            held_back: 0.0,
            round_trip: None,
            lost: None,
        }
    }

    fn constraints(now: Instant, limits: Limits) -> TargetRateConstraints {
        TargetRateConstraints {
            at_time: time(now),
            min_data_rate: Some(rate(limits.least)),
            max_data_rate: None,
            starting_rate: Some(rate(limits.start)),
        }
    }

    fn begin(&mut self, now: Instant, limits: Limits) {
        self.port = Port::start(self.config.constants, Self::constraints(now, limits), rate(limits.most));
        (self.sent, self.pending) = (BTreeMap::new(), Vec::new());
        self.probes.clear();
        self.target = limits.start.bits_per_second() as f64;
        self.pacing = 2.5 * self.target;
        self.next = now + INTERVAL;
        let at_time = time(now);
        self.ask(Ask::Time(ProcessInterval { at_time, pacer_queue: None }));
        self.ask(Ask::Available(NetworkAvailability { at_time, network_available: true }));
    }

    /// Passes a request to the port and applies its result.
    fn ask(&mut self, ask: Ask) {
        let Some(update) = self.port.as_ref().and_then(|port| port.ask(ask)) else {
            self.port = None;
            return;
        };
        if let Some(target) = update.target_rate {
            self.target = target.target_rate.bps() as f64;
            self.held_back = target.cwnd_reduce_ratio.clamp(0.0, 1.0);
        }
        if let Some(pacer) = update.pacer_config {
            (self.pacing, self.padding) = (pacer.data_rate().bps() as f64, pacer.pad_rate().bps() as f64);
        }
        for probe in update.probe_cluster_configs {
            let made = Probe {
                cluster: probe.id.max(0) as u32,
                rate: Rate::from_bits_per_second(probe.target_data_rate.bps().max(0) as u64),
                lasts: Span::from_micros(probe.target_duration.us().max(0) as u64),
                packets: probe.target_probe_count.max(0) as u32,
            };
            self.clusters.insert(made.cluster, made);
            self.probes.push_back(made);
        }
    }
}

impl RateController for GoogCc {
    fn on_limits(&mut self, now: Instant, limits: Limits) {
        if self.limits.replace(limits).is_none() {
            return self.begin(now, limits);
        }
        let constraints = TargetRateConstraints { starting_rate: None, ..Self::constraints(now, limits) };
        self.ask(Ask::Limits(constraints));
    }

    fn on_sent(&mut self, packet: &SentPacket) {
        let pacing_info = packet.probe.and_then(|cluster| self.clusters.get(&cluster)).map_or_else(
            PacedPacketInfo::default,
            |probe| {
                let bytes = probe.rate.bytes_in(probe.lasts).get() as i64;
                PacedPacketInfo::new(probe.cluster as i32, i64::from(probe.packets), bytes)
            },
        );
        self.in_flight = self.in_flight.saturating_add(packet.size.get());
        let sent = PortSent {
            send_time: time(packet.sent),
            size: size(packet.size.get()),
            pacing_info,
            sequence_number: packet.sequence.min(i64::MAX as u64) as i64,
            data_in_flight: size(self.in_flight),
            ..PortSent::default()
        };
        self.sent.insert(packet.sequence, sent);
        if self.sent.len() as u64 > 2 * KEPT {
            self.sent = self.sent.split_off(&packet.sequence.saturating_sub(KEPT));
        }
        self.ask(Ask::Sent(sent));
    }

    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        self.in_flight = feedback.in_flight.get();
        self.pending.extend(feedback.packets.iter().filter(|report| self.sent.contains_key(&report.packet.sequence)));
        if !self.pending.iter().any(|report| report.arrived.is_some()) {
            return;
        }
        let reports = std::mem::take(&mut self.pending);
        let gone = reports.iter().filter(|report| report.arrived.is_none()).count();
        self.lost = Some(gone as f64 / reports.len().max(1) as f64);
        let packet_feedbacks = reports
            .iter()
            .filter_map(|report| {
                let sent_packet = *self.sent.get(&report.packet.sequence)?;
                let receive_time = report.arrived.map_or(Timestamp::plus_infinity(), time);
                Some(PacketResult { sent_packet, receive_time, ..PacketResult::default() })
            })
            .collect();
        for report in &reports {
            if report.arrived.is_some() {
                self.sent.remove(&report.packet.sequence);
            }
        }
        let message = TransportPacketsFeedback {
            feedback_time: time(feedback.now),
            data_in_flight: size(self.in_flight),
            packet_feedbacks,
            sendless_arrival_times: Vec::new(),
        };
        self.ask(Ask::Feedback(message));
    }

    fn on_report(&mut self, report: &LossReport) {
        if let Some(round_trip) = report.round_trip.filter(|round_trip| *round_trip >= Span::from_micros(1)) {
            self.round_trip = Some(round_trip);
            let receive_time = time(report.now);
            let round_trip_time = span(round_trip);
            self.ask(Ask::RoundTrip(RoundTripTimeUpdate { receive_time, round_trip_time, smoothed: false }));
            let expected = f64::from(report.expected);
            let lost = libm::round(report.fraction_lost.clamp(0.0, 1.0) * expected) as u64;
            self.ask(Ask::Loss(TransportLossReport {
                receive_time,
                packets_lost_delta: lost,
                packets_received_delta: u64::from(report.expected) - lost.min(u64::from(report.expected)),
                ..TransportLossReport::default()
            }));
        }
    }

    fn on_timer(&mut self, now: Instant) {
        if now < self.next {
            return;
        }
        self.next = now + INTERVAL;
        self.ask(Ask::Time(ProcessInterval { at_time: time(now), pacer_queue: None }));
    }

    fn deadline(&self) -> Instant {
        self.next
    }

    fn decision(&self) -> Decision {
        let bits = |rate: f64| Rate::from_bits_per_second(rate.max(0.0) as u64);
        let most = self.limits.map_or(Rate::default(), |limits| limits.most.max(limits.least));
        Decision {
            target: bits(self.target).min(most),
            pacing: bits(self.pacing),
            padding: bits(self.padding),
            window: None,
            held_back: self.held_back,
            burst: None,
        }
    }

    fn next_probe(&mut self) -> Option<Probe> {
        self.probes.pop_front()
    }

    fn on_new_path(&mut self, now: Instant, limits: Limits) {
        self.limits = Some(limits);
        self.begin(now, limits);
    }

    fn view(&self) -> ControlView {
        ControlView {
            capacity: Some(self.target),
            round_trip: self.round_trip.map(Span::seconds),
            lost: self.lost,
            state: if self.port.is_some() { "goog_cc" } else { "failed" },
            ..ControlView::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwave_core::packet::Ecn;
    use fairwave_core::random::Seed;
    use fairwave_core::transport::rate_control::Carries;
    use fairwave_core::units::Bytes;

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Span::from_millis(millis)
    }

    fn started() -> GoogCc {
        let bits = Rate::from_bits_per_second;
        let mut port = GoogCcConfig::default().controller(Seed(1).stream("control"));
        port.on_limits(at(0), Limits { start: bits(300_000), least: bits(30_000), most: bits(2_500_000) });
        port
    }

    fn packet(sequence: u64, sent: u64) -> SentPacket {
        SentPacket { sequence, sent: at(sent), size: Bytes::new(1000), carries: Carries::Video, probe: None }
    }

    fn report(port: &mut GoogCc, now: u64, packets: &[PacketReport]) {
        let (round_trip, in_flight) = (Span::from_millis(80), Bytes::new(10_000));
        let now = at(now);
        port.on_feedback(&Feedback { now, packets, round_trip, in_flight, waiting: Bytes::ZERO, waits: Span::ZERO });
    }

    #[test]
    fn begins_at_the_start_with_the_same_two_probes_as_gcc() {
        let mut port = started();
        assert_eq!(port.decision().target.bits_per_second(), 300_000);
        let rates: Vec<u64> =
            std::iter::from_fn(|| port.next_probe()).map(|probe| probe.rate.bits_per_second()).collect();
        assert_eq!(rates, [900_000, 1_800_000]);
        assert_eq!(port.deadline(), at(25));
    }

    #[test]
    fn a_message_without_arrivals_waits_for_one_with_some() {
        let mut port = started();
        (0..20).for_each(|n| port.on_sent(&packet(n, n * 10)));
        let lost = |n: u64| PacketReport { packet: packet(n, n * 10), arrived: None, ecn: Ecn::NotEct };
        report(&mut port, 300, &(0..10).map(lost).collect::<Vec<_>>());
        assert_eq!(port.pending.len(), 10);
        let packets = [PacketReport { arrived: Some(at(250)), ..lost(10) }];
        report(&mut port, 320, &packets);
        assert!(port.pending.is_empty());
        assert_eq!(port.lost, Some(10.0 / 11.0));
        report(&mut port, 330, &[PacketReport { arrived: Some(at(250)), ..lost(900) }]);
        assert!(port.pending.is_empty(), "a packet that was never sent");
    }

    #[test]
    fn hostile_feedback_ends_in_a_rate_that_stays() {
        let mut port = started();
        let ends = [0, 1, i64::MAX as u64, u64::MAX - 1, u64::MAX].map(Instant::from_nanos);
        for (n, &sent) in ends.iter().enumerate() {
            for &arrived in &ends {
                let packet = SentPacket { sent, size: Bytes::new(1 << (n * 8)), ..packet(u64::MAX - n as u64, 0) };
                port.on_sent(&packet);
                let packets = [PacketReport { packet, arrived: Some(arrived), ecn: Ecn::Ce }];
                let (now, in_flight) = (arrived, Bytes::new(u64::MAX));
                let round_trip = Span::MAX;
                let waits = round_trip;
                port.on_feedback(&Feedback {
                    now,
                    packets: &packets,
                    round_trip,
                    in_flight,
                    waiting: in_flight,
                    waits,
                });
                port.on_report(&LossReport {
                    now,
                    fraction_lost: f64::NAN,
                    expected: u32::MAX,
                    round_trip: Some(round_trip),
                });
                port.on_timer(now);
                assert!(port.decision().target.bits_per_second() <= 2_500_000);
            }
        }
        assert!(["goog_cc", "failed"].contains(&port.view().state));
    }
}
