//! Tests of the current laws in whole connections: the effect of their windows, marks and samples on a path.

use super::super::storyboards::{TcpWire, ms, wire};
use super::super::{Flavour, TcpConfig};
use super::{Control, ControlLaw, CubicConfig};
use fairwave_endpoint::test_path::{PathFate, Wire};
use fairwave_endpoint::{Estimate, FlowContext, Sender};
use fairwave_units::random::Seed;
use fairwave_units::units::{Rate, Span};

/// Bits of a packet on the wire, and of its payload.
const PACKET: f64 = 1040.0 * 8.0;
const PAYLOAD: f64 = 8000.0;

/// A bulk transfer over 50 ms of round trip and `megabits` Mb/s, with room for `buffer` packets.
fn path(flavour: Flavour, megabits: u64, buffer: usize) -> TcpWire {
    // Each segment is acknowledged, as the laws' equations assume.
    let mut wire = wire(flavour, &TcpConfig { delayed_ack: Some(false), ..TcpConfig::rfc() }, true);
    wire.delay = Span::from_millis(25);
    wire.bottleneck = Some(Rate::from_bits_per_second(megabits * 1_000_000));
    wire.buffer = buffer;
    wire
}

/// Packets that the path holds without a queue.
fn product(megabits: u64) -> f64 {
    megabits as f64 * 1e6 * 0.05 / PACKET
}

/// Averages of a connection, sampled each 10 ms between two times in seconds.
struct ConnectionSamples {
    /// Goodput ÷ the bottleneck's payload rate.
    used: f64,
    /// Queued packets, by the smoothed round trip.
    queue: f64,
    longest_queue: f64,
    /// The law's estimate.
    estimate: f64,
}

fn see(wire: &mut TcpWire, from: u64, to: u64) -> ConnectionSamples {
    let rate = wire.bottleneck.expect("there is one").bits_per_second() as f64;
    let (mut queues, mut estimates) = (Vec::new(), Vec::new());
    for now in (1000 * from..1000 * to).step_by(10) {
        wire.run_until(ms(now));
        let view = wire.sender.view();
        queues.push((view.smoothed_rtt.expect("a round trip") - 0.05) * rate / PACKET);
        estimates.push(view.estimate.map_or(f64::NAN, Estimate::value));
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    ConnectionSamples {
        used: wire.goodput(ms(1000 * from), ms(1000 * to)) / (rate * PAYLOAD / PACKET),
        queue: mean(&queues),
        longest_queue: queues.iter().copied().fold(0.0, f64::max),
        estimate: mean(&estimates),
    }
}

#[test]
fn cubic_fills_a_path_of_100_megabits_and_50_ms() {
    let mut wire = path(Flavour::Cubic, 100, 600);
    let seen = see(&mut wire, 10, 40);
    assert!(seen.used > 0.98, "{}", seen.used);
    assert_eq!(wire.sender.view().timeouts, 0);
}

#[test]
fn hystart_ends_slow_start_with_fewer_losses_in_a_deep_buffer() {
    let lost = |hystart| {
        let config = TcpConfig::rfc();
        let law = CubicConfig { hystart, ..CubicConfig::default() }.controller(config.preset);
        let context = FlowContext { bulk: true, ..FlowContext::default() };
        let stream = Seed(1).stream("tcp");
        let ends = config.endpoints_with(Flavour::Cubic, Control::Cubic(law), context, stream).expect("in range");
        let mut wire = Wire::new(ends.0, ends.1, Span::from_millis(25));
        wire.bottleneck = Some(Rate::from_bits_per_second(100_000_000));
        wire.buffer = 3 * product(100) as usize;
        wire.run_until(ms(3000));
        wire.dropped
    };
    let (with, without) = (lost(true), lost(false));
    assert!(without > 1000 && with < without / 2, "{with} and {without}");
}

#[test]
fn bbr_keeps_less_than_a_pipe_in_a_deep_buffer_that_cubic_fills() {
    let pipe = product(20);
    let deep = (4.0 * pipe) as usize;
    for flavour in [Flavour::Bbr, Flavour::Bbr1] {
        let mut wire = path(flavour, 20, deep);
        let seen = see(&mut wire, 5, 40);
        assert!(seen.used > 0.93, "{flavour:?} uses {}", seen.used);
        assert!(seen.queue < 0.5 * pipe && seen.longest_queue < pipe, "{flavour:?}: {} of {pipe}", seen.longest_queue);
        assert!((seen.estimate / (20e6 * PAYLOAD / PACKET) - 1.0).abs() < 0.03, "{flavour:?}: {}", seen.estimate);
        assert_eq!((wire.dropped, wire.sender.view().timeouts), (0, 0), "{flavour:?}");
    }
    let seen = see(&mut path(Flavour::Cubic, 20, deep), 5, 40);
    assert!(seen.longest_queue > 3.5 * pipe && seen.queue > 2.0 * pipe, "{} of {pipe}", seen.queue);
}

#[test]
fn bbr_bears_losses_that_take_most_of_cubics_rate() {
    let used = |flavour| {
        let mut wire = path(flavour, 20, 500);
        let mut dice = Seed(5).stream("loss");
        wire.fate = Box::new(move |_, _, _| if dice.chance(0.01) { PathFate::Lose } else { PathFate::Pass });
        see(&mut wire, 5, 40).used
    };
    let (three, one, cubic) = (used(Flavour::Bbr), used(Flavour::Bbr1), used(Flavour::Cubic));
    // Version 3 falls by the losses in each round trip until it probes again: by 1 % and the pace's margin, in
    // some fifty round trips.
    assert!(one > 0.85 && three > 0.4 && cubic < 0.2, "{three}, {one} and {cubic}");
}

#[test]
fn dctcps_alpha_on_a_step_is_that_of_the_saw_tooth() {
    let step = 30.0;
    let mut wire = path(Flavour::Dctcp, 50, 1000);
    wire.mark = Box::new(move |_, waiting| waiting as f64 > step);
    let seen = see(&mut wire, 20, 60);
    // As in the law's unit test: α²(1 − α/4) = (2W + 1)/(W + 1)², with W the capacity of path and step.
    let peak = product(50) + step;
    let right = (2.0 * peak + 1.0) / (peak + 1.0) / (peak + 1.0);
    let alpha = (0..50).fold(0.1, |alpha: f64, _| libm::sqrt(right / (1.0 - alpha / 4.0)));
    assert!((seen.estimate / alpha - 1.0).abs() < 0.2, "α {} for {alpha}", seen.estimate);
    assert!(seen.used > 0.99 && seen.longest_queue < step + 8.0, "{} and {}", seen.used, seen.longest_queue);
    assert_eq!((wire.dropped, wire.sender.view().retransmitted), (0, 0));
}

#[test]
fn prague_keeps_the_queue_at_a_step_and_the_path_full() {
    let mut wire = path(Flavour::Prague, 50, 1000);
    wire.mark = Box::new(|_, waiting| waiting > 5);
    let seen = see(&mut wire, 10, 40);
    assert!(seen.used > 0.95, "{}", seen.used);
    assert!(
        seen.queue < 8.0 && seen.longest_queue < 20.0,
        "{} in the mean, {} at most",
        seen.queue,
        seen.longest_queue
    );
    assert!((0.0..0.3).contains(&seen.estimate), "{}", seen.estimate);
    assert_eq!((wire.dropped, wire.sender.view().retransmitted), (0, 0));
}

#[test]
fn ledbat_stays_below_its_target_and_uses_nine_tenths_of_the_path() {
    let mut wire = path(Flavour::LedbatPlusPlus, 20, 1000);
    let seen = see(&mut wire, 20, 80);
    let target = 0.06 * 20e6 / PACKET;
    assert!(seen.used > 0.88, "{}", seen.used);
    assert!(seen.longest_queue < 1.1 * target && seen.queue > 0.5 * target, "{} of {target}", seen.longest_queue);
    assert_eq!(wire.dropped, 0);
}
