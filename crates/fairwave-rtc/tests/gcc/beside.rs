//! Comparison of `gcc` with crate `goog_cc` 0.1.4, a port of libwebrtc: both get the same packets and feedback.

use crate::rig::{Controller, Sample, Scene, run};
use fairwave_rtc::control::{Feedback, LossReport, Probe, SentPacket};
use fairwave_units::units::Instant;
use goog_cc::network_control::{NetworkControllerConfig, NetworkControllerInterface};
use goog_cc::transport::{
    NetworkAvailability, NetworkControlUpdate, PacedPacketInfo, PacketResult, ProcessInterval, RoundTripTimeUpdate,
    SentPacket as Sent, TargetRateConstraints, TransportLossReport, TransportPacketsFeedback,
};
use goog_cc::units::{DataRate, DataSize, TimeDelta, Timestamp};
use goog_cc::{GoogCcConfig, GoogCcNetworkController, LossBasedBweV2Config};
use std::collections::HashMap;

struct Port {
    controller: GoogCcNetworkController,
    sent: HashMap<u64, Sent>,
    probes: Vec<f64>,
}

fn time(instant: Instant) -> Timestamp {
    Timestamp::from_micros((instant.nanos() / 1000) as i64)
}

fn bits(rate: f64) -> DataRate {
    DataRate::from_bits_per_sec(rate as i64)
}

impl Port {
    fn new(scene: &Scene, loss: LossBasedBweV2Config) -> Self {
        let mut config = NetworkControllerConfig::default();
        config.field_trials.loss_based_bwe_v2 = loss;
        config.constraints = TargetRateConstraints {
            at_time: time(Instant::ZERO),
            min_data_rate: Some(bits(5_000.0)),
            max_data_rate: None,
            starting_rate: Some(bits(scene.start)),
        };
        config.stream_based_config.max_total_allocated_bitrate = Some(bits(scene.most));
        let mut controller = GoogCcNetworkController::new(config, GoogCcConfig::default());
        let at_time = time(Instant::ZERO);
        controller.on_process_interval(ProcessInterval { at_time, pacer_queue: None });
        let available = NetworkAvailability { at_time, network_available: true };
        let update = controller.on_network_availability(available);
        let mut port = Port { controller, sent: HashMap::new(), probes: Vec::new() };
        port.take(update);
        port
    }

    fn take(&mut self, update: NetworkControlUpdate) {
        self.probes.extend(update.probe_cluster_configs.iter().map(|probe| probe.target_data_rate.bps() as f64));
    }
}

impl Controller for Port {
    fn on_sent(&mut self, packet: &SentPacket, probe: Option<&Probe>, in_flight: u64) {
        let pacing_info = probe.map_or_else(PacedPacketInfo::default, |probe| {
            PacedPacketInfo::new(
                probe.cluster as i32,
                i64::from(probe.packets),
                probe.rate.bytes_in(probe.lasts).get() as i64,
            )
        });
        let sent = Sent {
            send_time: time(packet.sent),
            size: DataSize::from_bytes(packet.size.get() as i64),
            pacing_info,
            sequence_number: packet.sequence as i64,
            data_in_flight: DataSize::from_bytes(in_flight as i64),
            ..Sent::default()
        };
        self.sent.insert(packet.sequence, sent);
        let update = self.controller.on_sent_packet(sent);
        self.take(update);
    }

    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        let packet_feedbacks = feedback
            .packets
            .iter()
            .map(|report| PacketResult {
                sent_packet: self.sent[&report.packet.sequence],
                receive_time: report.arrived.map_or(Timestamp::plus_infinity(), time),
                ..PacketResult::default()
            })
            .collect();
        let update = self.controller.on_transport_packets_feedback(TransportPacketsFeedback {
            feedback_time: time(feedback.now),
            data_in_flight: DataSize::from_bytes(feedback.in_flight.get() as i64),
            packet_feedbacks,
            sendless_arrival_times: Vec::new(),
        });
        self.take(update);
    }

    fn on_report(&mut self, report: &LossReport) {
        let round_trip = report.round_trip.expect("always");
        self.controller.on_round_trip_time_update(RoundTripTimeUpdate {
            receive_time: time(report.now),
            round_trip_time: TimeDelta::from_micros((round_trip.nanos() / 1000) as i64),
            smoothed: false,
        });
        let lost = (report.fraction_lost * f64::from(report.expected)).round() as u64;
        self.controller.on_transport_loss_report(TransportLossReport {
            receive_time: time(report.now),
            packets_lost_delta: lost,
            packets_received_delta: u64::from(report.expected) - lost,
            ..TransportLossReport::default()
        });
    }

    fn on_timer(&mut self, now: Instant) {
        let update = self.controller.on_process_interval(ProcessInterval { at_time: time(now), pacer_queue: None });
        self.take(update);
    }

    fn target(&self) -> f64 {
        let state = self.controller.get_network_state(Timestamp::from_micros(0));
        state.pacer_config.expect("always").data_rate().bps() as f64 / 2.5
    }

    fn probes(&self) -> Vec<f64> {
        self.probes.clone()
    }
}

/// Constants of libwebrtc of August 2026 for the port; its defaults are older.
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

/// Compares a scene: share of samples that differ by more than 1 %, the largest difference, and the ratio of means.
fn apart(scene: &Scene, loss: LossBasedBweV2Config) -> (f64, f64, f64) {
    let mut port = Port::new(scene, loss);
    let seen = run(scene, r#"{"name": "gcc"}"#, &mut port);
    let samples = &seen.samples;
    let distance = |sample: &Sample| (sample.ours / sample.other - 1.0).abs();
    let far = samples.iter().filter(|sample| distance(sample) > 0.01).count() as f64 / samples.len() as f64;
    let furthest = samples.iter().map(distance).fold(0.0, f64::max);
    let mean =
        samples.iter().map(|sample| sample.ours).sum::<f64>() / samples.iter().map(|sample| sample.other).sum::<f64>();
    (far, furthest, mean)
}

/// RFC 8867 §5.1, shortened.
fn steps() -> Scene {
    Scene { rate: vec![(0.0, 1e6), (20.0, 2.5e6), (30.0, 0.6e6), (40.0, 1e6)], ..Scene::default() }
}

/// A fall to a quarter, with a queue of 300 ms.
fn falls() -> Scene {
    Scene { rate: vec![(0.0, 1e6), (10.0, 2.4e6), (30.0, 0.6e6)], ..Scene::default() }
}

fn some_loss() -> Scene {
    Scene { loss: vec![(0.0, 0.02)], ..Scene::default() }
}

fn much_loss() -> Scene {
    Scene { rate: vec![(0.0, 2e6)], loss: vec![(0.0, 0.1)], ..Scene::default() }
}

fn changing_loss() -> Scene {
    let loss = vec![(0.0, 0.0), (20.0, 0.15), (40.0, 0.01)];
    Scene { rate: vec![(0.0, 2e6)], loss, ..Scene::default() }
}

/// The application sends 200 kb/s for 20 s.
fn application() -> Scene {
    let application = vec![(0.0, f64::INFINITY), (20.0, 200_000.0), (40.0, f64::INFINITY)];
    Scene { rate: vec![(0.0, 2e6)], application, ..Scene::default() }
}

fn shallow() -> Scene {
    Scene { queue: 0.03, ..Scene::default() }
}

fn same(scene: &Scene) {
    let (far, furthest, mean) = apart(scene, constants_of_2026());
    assert!(far == 0.0 && furthest < 0.001 && (mean - 1.0).abs() < 1e-4, "{far} {furthest} {mean}");
}

/// With the constants of 2026, the port's estimate equals ours at each of 600 samples, to 0.1 %. The rest comes from
/// rates in whole bits per second and sizes in bytes.
#[test]
fn with_the_constants_of_2026_the_estimates_are_the_same() {
    same(&steps());
    same(&some_loss());
    same(&changing_loss());
    same(&application());
    same(&shallow());
}

/// After a fall to a quarter, both leave a queue of 300 ms full for about 19 s. A full queue does not grow, so its
/// trend is flat, and its drops do not lower the loss-based estimate. Both continue at 106 % of the link's rate. This
/// is libwebrtc's behaviour as ported, not a missing clause in `gcc`.
#[test]
fn a_full_queue_after_a_fall_stays_full_with_both() {
    let scene = falls();
    same(&scene);
    let mut port = Port::new(&scene, constants_of_2026());
    let seen = run(&scene, r#"{"name": "gcc"}"#, &mut port);
    let full = seen.queues.iter().skip(30).take_while(|queue| **queue > 0.25).count();
    assert!((15..=22).contains(&full), "{full} s: {:?}", seen.queues);
    let late = seen.samples.iter().filter(|sample| (32.0..35.0).contains(&sample.seconds));
    assert!(late.clone().all(|sample| (1.03..1.1).contains(&(sample.other / 0.6e6))), "{:?}", late.collect::<Vec<_>>());
}

/// At 10 % loss, one sample of 600, a second after the start, differs by 26 %. Both make the same decrease, to the same
/// rate, but `gcc` makes it before that sample, and the port between that sample and the next. The reason is unknown.
/// All other samples agree to 1 %.
#[test]
fn at_ten_percent_loss_one_sample_differs() {
    let (far, furthest, mean) = apart(&much_loss(), constants_of_2026());
    assert!(far <= 1.0 / 600.0 + 1e-9 && furthest < 0.3 && (mean - 1.0).abs() < 0.001, "{far} {furthest} {mean}");
}

/// The port's default constants are older than 2026. Without loss they affect the start, before the loss-based estimate
/// is known, and overflows of a queue: 14 % of samples in `steps`. With loss they matter most of the time:
///
/// - the port counts packets, not bytes, and includes the observations of least and most loss;
/// - the arrival rate is not a lower bound of the estimate, so at 10 % loss it falls to about half of ours;
/// - there is no hold after a decrease, no padding, and no limit on growth by the arrival rate.
#[test]
fn with_its_own_constants_the_port_is_close_without_loss_and_lower_with_much() {
    for (scene, most_far, least, most) in [
        (steps(), 0.2, 0.98, 1.01),
        (application(), 0.02, 0.999, 1.001),
        (shallow(), 0.02, 0.999, 1.001),
        (some_loss(), 0.8, 0.9, 1.1),
        (changing_loss(), 0.7, 0.95, 1.1),
        (much_loss(), 1.0, 1.4, 2.0),
    ] {
        let (far, _, mean) = apart(&scene, LossBasedBweV2Config::default());
        assert!(far <= most_far && (least..=most).contains(&mean), "{far} {mean}");
    }
}

/// Both request the same probes. Probes of application-limited phases are excluded, because the port takes their time
/// from the wall clock.
#[test]
fn both_ask_for_the_same_probes() {
    for scene in [steps(), some_loss(), much_loss(), changing_loss(), application(), shallow()] {
        let mut port = Port::new(&scene, constants_of_2026());
        let seen = run(&scene, r#"{"name": "gcc"}"#, &mut port);
        let theirs = port.probes();
        assert!(theirs.len() >= 2 && theirs.len() == seen.probes.len(), "{:?} {theirs:?}", seen.probes);
        for ((_, ours), theirs) in seen.probes.iter().zip(theirs) {
            assert!((ours / theirs - 1.0).abs() < 1e-4, "{ours} {theirs}");
        }
    }
}
