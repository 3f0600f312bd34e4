//! Ours beside crate `goog_cc` 0.1.4, a port of libwebrtc: both hear of the same packets and feedback.

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

/// The constants of libwebrtc of August 2026 for the port, whose own are older.
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

fn scenes() -> Vec<(&'static str, Scene)> {
    vec![
        (
            "steps",
            Scene {
                rate: vec![(0.0, 1e6), (20.0, 2.5e6), (30.0, 0.6e6), (40.0, 1e6)],
                seconds: 60.0,
                ..Scene::default()
            },
        ),
        ("loss 2", Scene { loss: vec![(0.0, 0.02)], ..Scene::default() }),
        ("loss 10", Scene { rate: vec![(0.0, 2e6)], loss: vec![(0.0, 0.1)], ..Scene::default() }),
        (
            "loss steps",
            Scene { rate: vec![(0.0, 2e6)], loss: vec![(0.0, 0.0), (20.0, 0.15), (40.0, 0.01)], ..Scene::default() },
        ),
        (
            "application",
            Scene {
                rate: vec![(0.0, 2e6)],
                application: vec![(0.0, f64::INFINITY), (20.0, 200_000.0), (40.0, f64::INFINITY)],
                ..Scene::default()
            },
        ),
        ("shallow", Scene { queue: 0.03, ..Scene::default() }),
    ]
}

#[test]
fn dump_beside() {
    for (name, scene) in scenes() {
        for (which, loss) in [("2026", constants_of_2026()), ("older", LossBasedBweV2Config::default())] {
            let mut port = Port::new(&scene, loss);
            let seen = run(&scene, r#"{"name": "gcc"}"#, &mut port);
            let samples = &seen.samples;
            let apart = |s: &Sample| s.ours / s.other - 1.0;
            let worst = samples.iter().max_by(|a, b| apart(a).abs().total_cmp(&apart(b).abs())).unwrap();
            let first = samples.iter().find(|s| apart(s).abs() > 0.01);
            let share = samples.iter().filter(|s| apart(s).abs() > 0.01).count() as f64 / samples.len() as f64;
            let mean = samples.iter().map(|s| s.ours).sum::<f64>() / samples.iter().map(|s| s.other).sum::<f64>();
            println!(
                "{name} {which}: worst {worst:?} {:.6} first {first:?} share {share:.3} mean {mean:.4}",
                apart(worst)
            );
            let ours: Vec<f64> = seen.probes.iter().map(|p| p.1).collect();
            println!("worst ours {:?} theirs {:?}", ours, port.probes());
            println!(
                "worst states {:?} padding {} q {:?}",
                seen.states,
                seen.padding,
                seen.queues.iter().copied().fold(0.0, f64::max)
            );
        }
    }
}
