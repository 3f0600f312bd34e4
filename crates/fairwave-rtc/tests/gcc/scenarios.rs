//! libwebrtc's scenarios (`goog_cc_network_control_unittest.cc`), with its bounds.
//!
//! libwebrtc's rig includes a video encoder, a pacer and feedback. The rig of these tests is simpler, so the bounds
//! apply to the mean of the last two seconds instead of one moment.

use crate::rig::{Alone, Scene, Seen, run};

const GCC: &str = r#"{"name": "gcc"}"#;

fn seen(scene: &Scene) -> Seen {
    run(scene, GCC, &mut Alone)
}

fn within(value: f64, kilobits: f64, margin: f64) {
    assert!((value / 1e3 - kilobits).abs() <= margin, "{value} is not within {kilobits} ± {margin} kb/s");
}

#[test]
fn the_estimate_follows_the_capacity() {
    let scene = Scene {
        rate: vec![(0.0, 500_000.0), (25.0, 800_000.0), (45.0, 100_000.0)],
        delay: vec![(0.0, 0.1), (45.0, 0.2)],
        start: 60_000.0,
        seconds: 95.5,
        ..Scene::default()
    };
    let seen = seen(&scene);
    within(seen.at(25.0), 450.0, 100.0);
    within(seen.at(45.0), 750.0, 150.0);
    within(seen.at(95.0), 90.0, 25.0);
}

#[test]
fn ten_percent_loss_leaves_more_than_100_kb_per_second() {
    let scene = Scene {
        rate: vec![(0.0, 2e6)],
        delay: vec![(0.0, 0.2)],
        loss: vec![(0.0, 0.1)],
        most: 1_500_000.0,
        seconds: 120.5,
        ..Scene::default()
    };
    assert!(seen(&scene).at(120.0) > 100_000.0);
}

/// `BweRampUpWhenCapacityIncrease` of `bwe_ramp_up_test.cc`.
#[test]
fn a_capacity_that_grows_sixfold_is_found() {
    let scene = Scene {
        rate: vec![(0.0, 500_000.0), (3.0, 3e6)],
        delay: vec![(0.0, 0.001)],
        seconds: 18.0,
        ..Scene::default()
    };
    let seen = seen(&scene);
    let before = seen.at(2.0);
    assert!((300_000.0..650_000.0).contains(&before), "{before}");
    assert!(seen.at(17.0) > 1e6, "{}", seen.at(17.0));
}

/// Estimate for an application that sends 200 kb/s on 5 Mb/s. It is at most the highest probe result, or one and a half
/// times the arrival rate plus 10 kb/s. Probes go up to twice the encoders' largest rate.
#[test]
fn the_estimate_of_a_limited_application_is_bounded() {
    let scene = |most: f64| Scene {
        rate: vec![(0.0, 5e6)],
        application: vec![(0.0, 200_000.0)],
        most,
        seconds: 120.0,
        ..Scene::default()
    };
    let quiet = run(&scene(2.5e6), r#"{"name": "gcc", "probing": false}"#, &mut Alone);
    // Frames of 833 bytes arrive as 200 kb/s; the estimate is at most 1.5 times the arrival rate plus 10 kb/s.
    assert!(quiet.most(0.0, 120.0) <= 1.5 * 215_000.0 + 10_000.0, "{}", quiet.most(0.0, 120.0));
    assert!(quiet.probes.is_empty());
    for config in [GCC, r#"{"name": "gcc", "limited-probing": true}"#] {
        let seen = run(&scene(1e6), config, &mut Alone);
        assert!(seen.most(0.0, 120.0) <= 2.1e6, "{}", seen.most(0.0, 120.0));
        assert!(seen.probes.iter().all(|probe| probe.1 <= 2e6));
    }
}

#[test]
fn a_limited_application_is_probed_every_five_seconds_when_asked_for() {
    let scene = Scene {
        rate: vec![(0.0, 5e6)],
        application: vec![(0.0, 200_000.0)],
        most: 2.5e6,
        seconds: 60.0,
        ..Scene::default()
    };
    let late = |config: &str| {
        let probes = run(&scene, config, &mut Alone).probes;
        probes.iter().filter(|probe| probe.0 > 10.0).map(|probe| probe.0).collect::<Vec<_>>()
    };
    assert!(late(GCC).is_empty());
    let probed = late(r#"{"name": "gcc", "limited-probing": true}"#);
    assert!((8..=11).contains(&probed.len()), "{probed:?}");
    assert!(probed.windows(2).all(|pair| pair[1] - pair[0] >= 5.0 - 1e-9), "{probed:?}");
}

#[test]
fn the_same_scene_gives_the_same_estimates() {
    let scene = Scene { loss: vec![(0.0, 0.05)], seconds: 20.0, ..Scene::default() };
    let bits = || seen(&scene).samples.iter().map(|sample| sample.ours.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(), bits());
}

/// Loss from reports, and no loss control, work, too.
#[test]
fn other_laws_of_loss() {
    let scene = Scene { rate: vec![(0.0, 2e6)], loss: vec![(0.0, 0.2)], seconds: 40.0, ..Scene::default() };
    let mean = |config: &str| run(&scene, config, &mut Alone).mean(30.0, 40.0);
    let reports = mean(r#"{"name": "gcc", "loss": "reports"}"#);
    let none = mean(r#"{"name": "gcc", "loss": "none"}"#);
    assert!(reports < 0.2 * none, "20 % loss: {reports} {none}");
    assert!(none > 1.4e6, "{none}");
}

/// Prints the time per feedback message; the bound is wide for slow machines.
#[test]
fn a_message_costs_microseconds() {
    let began = std::time::Instant::now();
    let scene = Scene { loss: vec![(0.0, 0.01)], seconds: 120.0, ..Scene::default() };
    let seen = seen(&scene);
    let per_second = began.elapsed().as_secs_f64() / 120.0;
    println!(
        "COST {:.1} µs per simulated second with the rig, at {:.0} kb/s",
        per_second * 1e6,
        seen.mean(60.0, 120.0) / 1e3
    );
    assert!(per_second < 0.02, "{per_second}");
}
