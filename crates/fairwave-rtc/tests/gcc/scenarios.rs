//! libwebrtc's own scenarios (`goog_cc_network_control_unittest.cc`), with its bounds.
//!
//! Its rig has a video encoder, pacer and feedback of its own; that of these tests is simpler, so the bounds hold for the mean of
//! the last two seconds instead of one moment.

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
        delay: vec![(0.0, 0.1)],
        loss: vec![(0.0, 0.1)],
        start: 60_000.0,
        seconds: 120.5,
        ..Scene::default()
    };
    let seen = seen(&scene);
    println!("LOSS {} {:?}", seen.at(120.0), seen.states);
    assert!(seen.at(120.0) > 100_000.0);
}

#[test]
fn a_capacity_that_grows_sixfold_is_found() {
    let scene =
        Scene { rate: vec![(0.0, 500_000.0), (3.0, 3e6)], delay: vec![(0.0, 0.1)], seconds: 20.0, ..Scene::default() };
    let seen = seen(&scene);
    for n in 0..20 {
        println!("GROW {n} {}", seen.at(n as f64));
    }
}
