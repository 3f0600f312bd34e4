//! libwebrtc's own scenarios (`goog_cc_network_control_unittest.cc`), with its bounds.
//!
//! Its rig has a video encoder, pacer and feedback of its own; that of these tests is simpler, so the bounds hold for the mean of
//! the last two seconds instead of one moment.

use crate::rig::{Alone, Scene, mean, run};

const GCC: &str = r#"{"name": "gcc"}"#;

#[test]
fn dump() {
    let scene = Scene {
        rate: vec![(0.0, 500_000.0), (25.0, 800_000.0), (45.0, 100_000.0)],
        delay: vec![(0.0, 0.1), (45.0, 0.2)],
        start: 60_000.0,
        seconds: 95.0,
        ..Scene::default()
    };
    let samples = run(&scene, GCC, &mut Alone);
    for sample in samples.iter().step_by(10) {
        println!("{:.1} {:.0}", sample.seconds, sample.ours / 1e3);
    }
    println!("{}", mean(&samples, 23.0, 25.0));
}
