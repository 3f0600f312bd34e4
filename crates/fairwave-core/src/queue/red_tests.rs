use super::super::buffer::Buffer;
use super::super::testing::{packet, stream};
use super::*;
use crate::packet::Class;
use crate::units::Instant;

fn config() -> RedConfig {
    RedConfig::default()
}

fn red(config: &RedConfig) -> Red {
    config.discipline(Capacity::Packets(100), Rate::from_bits_per_second(10_000_000))
}

fn queue_of(packets: u32, size: u16) -> Buffer {
    let mut buffer = Buffer::with_capacity(0);
    for flow in 0..packets {
        buffer.push(Instant::ZERO, packet(flow, size, Class::Tcp));
    }
    buffer
}

fn update(red: &mut Red, buffer: &Buffer, idle: Span) {
    let packet = packet(0, 500, Class::Tcp);
    red.update(&Arrival { now: Instant::ZERO, packet: &packet, buffer, idle, full: false });
}

#[test]
fn the_average_follows_the_1993_example_of_a_step() {
    // Floyd & Jacobson §VI, Eq. (2): the queue grows from 0 to L packets, one per arrival; then
    // avg_L = L + 1 + ((1 − w)^(L+1) − 1)/w. With w = 0.001 and L = 100 that is 4.88 packets.
    let mut red = red(&RedConfig { weight: Some(0.001), ..config() });
    for length in 0..=100 {
        update(&mut red, &queue_of(length, 500), Span::ZERO);
    }
    let (l, w) = (100.0, 0.001);
    let expected = l + 1.0 + (libm::pow(1.0 - w, l + 1.0) - 1.0) / w;
    assert!((red.average - expected).abs() < 1e-9, "{} {expected}", red.average);
    assert!((red.average - 4.88).abs() < 0.01, "{}", red.average);
}

#[test]
fn the_average_ages_over_idle_time_as_if_packets_had_met_an_empty_queue() {
    let mut red = red(&RedConfig { weight: Some(0.01), ..config() });
    red.average = 8.0;
    // 10 Mb/s carries 2500 packets of 500 bytes a second: 40 ms are 100 of them.
    update(&mut red, &queue_of(0, 500), Span::from_millis(40));
    assert!((red.average - 8.0 * libm::pow(0.99, 100.0)).abs() < 1e-12, "{}", red.average);
}

#[test]
fn bytes_count_in_byte_mode_and_packets_in_packet_mode() {
    let whole = |mode| RedConfig { mode: Some(mode), weight: Some(1.0), ..config() };
    let average = |mode| {
        let mut red = red(&whole(mode));
        update(&mut red, &queue_of(10, 250), Span::ZERO);
        red.average
    };
    assert_eq!(average(Mode::Packets), 10.0);
    assert_eq!(average(Mode::Bytes), 5.0);
}

#[test]
fn the_probability_climbs_to_max_p_and_then_gently_to_one() {
    let at = |average: f64, gentle: bool| {
        let mut red = red(&RedConfig { gentle: Some(gentle), ..config() });
        red.average = average;
        red.base_probability()
    };
    assert_eq!(at(4.9, true), 0.0);
    assert!((at(10.0, true) - 0.05).abs() < 1e-12);
    assert!((at(15.0, true) - 0.1).abs() < 1e-12);
    assert!((at(22.5, true) - 0.55).abs() < 1e-12);
    assert_eq!(at(30.0, true), 1.0);
    assert_eq!(at(15.0, false), 1.0);
}

/// Gaps between drops at a fixed average whose base probability is 0.05.
fn gaps(wait: bool) -> Vec<u32> {
    let mut red = red(&RedConfig { wait: Some(wait), ..config() });
    red.average = 10.0;
    let (mut stream, mut gaps, mut gap) = (stream(), Vec::new(), 0);
    while gaps.len() < 20_000 {
        gap += 1;
        if red.decide(500, &mut stream) {
            gaps.push(gap);
            gap = 0;
        }
    }
    gaps.split_off(1)
}

#[test]
fn gaps_between_drops_are_uniform_up_to_one_over_p() {
    let gaps = gaps(false);
    let mean = gaps.iter().map(|&gap| f64::from(gap)).sum::<f64>() / gaps.len() as f64;
    assert_eq!((gaps.iter().min(), gaps.iter().max()), (Some(&1), Some(&19)));
    assert!((mean - 10.0).abs() < 0.15, "{mean}");
}

#[test]
fn with_wait_gaps_are_uniform_on_one_over_p_to_two_over_p() {
    let gaps = gaps(true);
    let mean = gaps.iter().map(|&gap| f64::from(gap)).sum::<f64>() / gaps.len() as f64;
    assert!(gaps.iter().min() >= Some(&20) && gaps.iter().max() <= Some(&40));
    assert!((mean - 29.5).abs() < 1.0, "{mean}");
}

#[test]
fn in_byte_mode_a_packet_is_dropped_in_proportion_to_its_size() {
    let mut red = red(&RedConfig { mode: Some(Mode::Bytes), max_p: Some(0.01), ..config() });
    red.average = 14.9;
    let (mut stream, mut dropped) = (stream(), [0u32; 2]);
    for i in 0..400_000 {
        if red.decide([100, 400][i % 2], &mut stream) {
            dropped[i % 2] += 1;
        }
    }
    let ratio = f64::from(dropped[1]) / f64::from(dropped[0]);
    assert!((ratio - 4.0).abs() < 0.4, "{dropped:?}");
}

#[test]
fn the_ns2_preset_gives_its_documented_values_at_10_megabits() {
    let config = RedConfig { preset: RedPreset::Ns2, ..config() };
    let p = config.resolve(Rate::from_bits_per_second(10_000_000));
    assert_eq!((p.min_threshold, p.max_threshold, p.mode, p.wait), (6.25, 18.75, Mode::Bytes, true));
    assert!((p.weight - 4.0e-4).abs() < 1e-6, "{}", p.weight);
}

#[test]
fn what_a_preset_does_not_fit_is_given_by_the_user() {
    let p = RedConfig { max_threshold: Some(9.0), ..config() }.resolve(Rate::from_bits_per_second(1_000_000));
    assert_eq!((p.min_threshold, p.max_threshold), (3.0, 9.0), "thresholds stay in order");
    let p = RedConfig { min_threshold: Some(25.0), ..config() }.resolve(Rate::from_bits_per_second(1_000_000));
    assert_eq!((p.min_threshold, p.max_threshold), (25.0, 75.0));
}

#[test]
fn ns2_drops_nothing_early_while_hardly_anything_waits() {
    let dropped = |preset, waiting: u32| {
        let mut red = red(&RedConfig { preset, mode: Some(Mode::Packets), wait: Some(false), ..config() });
        let mut buffer = Buffer::with_capacity(0);
        for flow in 0..waiting {
            buffer.push(Instant::ZERO, packet(flow, 500, Class::Tcp));
        }
        let (packet, mut stream) = (packet(0, 500, Class::Tcp), stream());
        let arrival = Arrival { now: Instant::ZERO, packet: &packet, buffer: &buffer, idle: Span::ZERO, full: false };
        (0..1000).any(|_| {
            red.average = 10.0;
            red.arrive(&arrival, &mut stream) == Verdict::Drop
        })
    };
    assert!(!dropped(RedPreset::Ns2, 1) && dropped(RedPreset::Ns2, 2));
    assert!(dropped(RedPreset::Floyd, 1), "the 1993 paper looks at the average alone");
}
