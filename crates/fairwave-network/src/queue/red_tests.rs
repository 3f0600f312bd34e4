use super::super::buffer::Buffer;
use super::super::testing::{packet, stream};
use super::*;
use crate::packet::Class;
use fairwave_units::units::Instant;

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
fn an_idle_average_ages_by_the_rate_of_each_part_of_the_time() {
    let mut red = red(&RedConfig { weight: Some(0.01), mean_packet: Some(Bytes::new(1250)), ..config() });
    red.average = 100.0;
    let (buffer, rate) = (queue_of(0, 500), Rate::from_bits_per_second(1_000_000));
    // 10 ms at 10 Mb/s are 10 packets; 20 ms at 1 Mb/s are 2.
    let idle = Span::from_millis(10);
    red.on_rate_change(&RateChange { now: Instant::ZERO + idle, rate, idle, buffer: &buffer });
    update(&mut red, &buffer, Span::from_millis(20));
    assert!((red.average - 100.0 * 0.99_f64.powi(12)).abs() < 1e-9, "{}", red.average);
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
        assert!(gap < 100_000, "no drop in {gap} packets");
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

/// Drops per size (100 and 400 bytes in turn) of 200 000 packets each, at a fixed average near max-threshold.
fn dropped_by_size(config: &RedConfig) -> [f64; 2] {
    let mut red = red(&RedConfig { max_p: Some(0.01), ..config.clone() });
    red.average = 14.9;
    let (mut stream, mut dropped) = (stream(), [0.0; 2]);
    for i in 0..400_000 {
        if red.decide([100, 400][i % 2], &mut stream) {
            dropped[i % 2] += 1.0;
        }
    }
    dropped
}

#[test]
fn counting_in_bytes_and_dropping_by_size_are_two_switches() {
    let average = |config: &RedConfig| {
        let mut red = red(&RedConfig { weight: Some(1.0), ..config.clone() });
        update(&mut red, &queue_of(10, 250), Span::ZERO);
        red.average
    };
    let by_size = RedConfig { mode: Some(Mode::Packets), drop_by_size: Some(true), ..config() };
    let [small, large] = dropped_by_size(&by_size);
    assert_eq!(average(&by_size), 10.0, "packets are counted");
    assert!((large / small - 4.0).abs() < 0.4, "{small} {large}");
    let alike = RedConfig { mode: Some(Mode::Bytes), drop_by_size: Some(false), ..config() };
    let [small, large] = dropped_by_size(&alike);
    assert_eq!(average(&alike), 5.0, "bytes are counted");
    assert!((large / small - 1.0).abs() < 0.1, "{small} {large}");
    // p = 0.0099: without size, gaps are uniform up to 1/p, 50.5 on average. By size, bytes count: 250 on average, half a
    // mean packet.
    assert!((400_000.0 / (small + large) - 50.5).abs() < 1.0, "{small} {large}");
}

#[test]
fn below_min_threshold_the_spacing_is_forgotten() {
    let mut red = red(&RedConfig { max_p: Some(1.0), weight: Some(1e-9), ..config() });
    let mut stream = stream();
    (red.average, red.since) = (7.0, Some(3.0));
    // p = 0.2; the packet is the fourth since the last drop: 0.2 / (1 − 4 · 0.2) = 1.
    assert!(red.decide(500, &mut stream));
    (red.average, red.since) = (4.999, Some(3.0));
    assert!(!red.decide(500, &mut stream));
    assert_eq!(red.since, None);
    red.average = 5.0;
    assert!(!red.decide(500, &mut stream), "at min-threshold p is 0");
    assert_eq!(red.since, Some(0.0), "and packets count again");
}

#[test]
fn the_chance_of_the_nth_packet_after_a_drop_is_that_of_a_uniform_gap() {
    // 1993, §VII: p / (1 − n p); with ns-2's wait p / (2 − n p) from n p = 1 on.
    assert_eq!([spaced(0.25, 0.0, false), spaced(0.25, 2.0, false)], [0.25, 0.5]);
    assert_eq!([spaced(0.25, 3.0, false), spaced(0.25, 4.0, false)], [1.0, 1.0]);
    assert_eq!([spaced(0.25, 3.9, true), spaced(0.25, 4.0, true)], [0.0, 0.25]);
    assert_eq!([spaced(0.25, 6.0, true), spaced(0.25, 8.0, true)], [0.5, 1.0]);
    assert_eq!([spaced(1.0, 0.0, true), spaced(1.0, 0.0, false)], [1.0, 1.0]);
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
fn presets_and_automatic_values_are_those_of_their_sources() {
    let at = |config: RedConfig, megabits: u64| config.resolve(Rate::from_bits_per_second(megabits * 1_000_000));
    let floyd = at(config(), 10);
    assert_eq!((floyd.min_threshold, floyd.max_threshold, floyd.weight, floyd.max_p), (5.0, 15.0, 0.002, 0.1));
    assert_eq!((floyd.gentle, floyd.mode, floyd.by_size, floyd.wait), (true, Mode::Packets, false, false));
    assert_eq!((floyd.mean_packet, floyd.per_second), (Bytes::new(500), 2500.0));
    let ns2 = at(RedConfig { preset: RedPreset::Ns2, ..config() }, 1);
    // 1 Mb/s carries 250 packets of 500 bytes a second: half of 5 ms is 0.6 of them, and 5 is the least.
    assert_eq!((ns2.min_threshold, ns2.max_threshold, ns2.by_size), (5.0, 15.0, true));
    assert!((ns2.weight - (1.0 - libm::exp(-1.0 / 250.0))).abs() < 1e-15, "{}", ns2.weight);
    let old = at(RedConfig { preset: RedPreset::Ns2, mode: Some(Mode::Packets), ..config() }, 1);
    assert_eq!((old.mode, old.by_size), (Mode::Packets, false), "as before 2004-10-11");
    assert_eq!(at(RedConfig { preset: RedPreset::Ns2Of2004, ..config() }, 1), old);
    let by_size = at(RedConfig { preset: RedPreset::Ns2Of2004, drop_by_size: Some(true), ..config() }, 1);
    assert_eq!((by_size.mode, by_size.by_size), (Mode::Packets, true), "two keys, as ns-2 has them");
}

#[test]
fn a_buffer_whose_average_cannot_reach_min_threshold_is_refused() {
    let fits =
        |config: &RedConfig, capacity, rate: Option<u64>| config.fits(capacity, rate.map(Rate::from_bits_per_second));
    for packets in [1, 5] {
        let error = fits(&config(), Capacity::Packets(packets), None).expect_err("drop-tail in disguise");
        assert_eq!((error.key.as_str(), error.value.as_str()), ("min-threshold", "5"));
    }
    assert!(fits(&config(), Capacity::Packets(6), None).is_ok());
    let low = RedConfig { min_threshold: Some(0.2), max_threshold: Some(0.6), ..config() };
    assert!(fits(&low, Capacity::Packets(1), None).is_ok(), "whoever says so may");
    // A buffer in bytes can hold many small packets; counted in bytes they are few.
    assert!(fits(&config(), Capacity::Bytes(2500), None).is_ok());
    assert!(fits(&config(), Capacity::Bytes(200), None).is_err(), "not more than five of 40 bytes");
    let bytes = RedConfig { mode: Some(Mode::Bytes), ..config() };
    assert!(fits(&bytes, Capacity::Bytes(2500), None).is_err() && fits(&bytes, Capacity::Bytes(2501), None).is_ok());
    assert!(fits(&bytes, Capacity::Packets(1), None).is_ok(), "a packet may be large");
    // Automatic thresholds grow with the rate: 62.5 packets at 100 Mb/s.
    let ns2 = RedConfig { preset: RedPreset::Ns2, mode: Some(Mode::Packets), ..config() };
    assert!(fits(&ns2, Capacity::Packets(62), None).is_ok());
    assert!(fits(&ns2, Capacity::Packets(62), Some(100_000_000)).is_err());
    assert!(fits(&ns2, Capacity::Packets(63), Some(100_000_000)).is_ok());
    let two = RedConfig { min_threshold: Some(0.5), max_threshold: Some(1.5), ..ns2.clone() };
    assert_eq!(fits(&two, Capacity::Packets(2), None).expect_err("never early").key, "capacity.packets");
    assert!(fits(&two, Capacity::Packets(3), None).is_ok());
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
    assert!(!dropped(RedPreset::Ns2Of2004, 1) && dropped(RedPreset::Ns2Of2004, 2));
    assert!(dropped(RedPreset::Floyd, 1), "the 1993 paper looks at the average alone");
}

/// ns-2.35's RED with an average between the thresholds; `mode` selects packets or bytes.
fn ns2(mode: Mode) -> Red {
    let mut red = red(&RedConfig { preset: RedPreset::Ns2, mode: Some(mode), ..config() });
    red.average = 10.0;
    red
}

fn arrive(red: &mut Red, size: u16, buffer: &Buffer) -> Verdict {
    let packet = packet(0, size, Class::Tcp);
    red.arrive(&Arrival { now: Instant::ZERO, packet: &packet, buffer, idle: Span::ZERO, full: false }, &mut stream())
}

#[test]
fn as_in_ns2_the_average_ages_by_one_more_than_the_whole_packets_of_idle_time() {
    for (micros, packets) in [(40_000, 101.0), (40_200, 101.0), (100, 1.0), (400, 2.0)] {
        let mut red = red(&RedConfig { preset: RedPreset::Ns2, weight: Some(0.01), ..config() });
        red.average = 8.0;
        update(&mut red, &queue_of(0, 500), Span::from_micros(micros));
        assert!((red.average - 8.0 * libm::pow(0.99, packets)).abs() < 1e-12, "{micros} us: {}", red.average);
    }
}

#[test]
fn as_in_ns2_a_full_buffer_restarts_the_spacing() {
    let mut red = ns2(Mode::Packets);
    red.since = Some(7.0);
    red.on_drop(QueueDrop::Overflow);
    assert_eq!(red.since, Some(0.0));
    red.since = None;
    red.on_drop(QueueDrop::Overflow);
    assert_eq!(red.since, None, "the first packet above min-threshold still passes");
    let mut floyd = super::tests::red(&config());
    floyd.since = Some(7.0);
    floyd.on_drop(QueueDrop::Overflow);
    assert_eq!(floyd.since, Some(7.0));
}

#[test]
fn as_in_ns2_the_first_packet_above_min_threshold_passes_and_counts() {
    let mut packets = ns2(Mode::Packets);
    assert_eq!(arrive(&mut packets, 92, &queue_of(10, 500)), Verdict::Admit);
    assert_eq!(packets.since, Some(1.0));
    let mut bytes = ns2(Mode::Bytes);
    assert_eq!(arrive(&mut bytes, 92, &queue_of(10, 500)), Verdict::Admit);
    assert_eq!(bytes.since, Some(92.0));
    (bytes.average, bytes.since) = (2.0, Some(92.0));
    assert_eq!(arrive(&mut bytes, 92, &queue_of(2, 500)), Verdict::Admit);
    assert_eq!(bytes.since, None, "below min-threshold it is forgotten");
}

#[test]
fn as_in_ns2_an_average_that_asks_for_every_packet_spares_not_even_the_first() {
    let mut red = ns2(Mode::Packets);
    red.average = 3.0 * red.parameters.max_threshold;
    assert_eq!(arrive(&mut red, 500, &queue_of(60, 500)), Verdict::Drop);
    assert_eq!(red.since, None, "and the next below that still passes as the first");
    red.since = Some(5.0);
    assert_eq!(arrive(&mut red, 500, &queue_of(60, 500)), Verdict::Drop);
    assert_eq!(red.since, Some(0.0));
}

#[test]
fn as_in_ns2_bytes_since_a_drop_count_as_whole_mean_packets() {
    // p = 0.25 with wait; 3495 bytes are 6 mean packets: 0.25 / (2 − 6 · 0.25) = 0.5. With 6.99 it would be 0.99.
    let config = RedConfig { preset: RedPreset::Ns2, max_p: Some(0.25), ..config() };
    let dropped = |preset| {
        let mut red = red(&RedConfig { preset, mode: Some(Mode::Bytes), wait: Some(true), ..config.clone() });
        let mut stream = stream();
        red.average = red.parameters.max_threshold;
        let drops = (0..10_000).filter(|_| {
            red.since = Some(2995.0);
            red.decide(500, &mut stream)
        });
        drops.count() as f64 / 10_000.0
    };
    assert!((dropped(RedPreset::Ns2) - 0.5).abs() < 0.02, "{}", dropped(RedPreset::Ns2));
    assert!((dropped(RedPreset::Floyd) - 0.99).abs() < 0.01, "{}", dropped(RedPreset::Floyd));
}

#[test]
fn as_in_ns2_nothing_is_considered_while_a_single_packet_or_byte_waits() {
    let drops = |mode, waiting: &Buffer| {
        let mut red = ns2(mode);
        red.parameters.weight = 1e-12;
        red.average = 3.0 * red.parameters.max_threshold;
        arrive(&mut red, 500, waiting) == Verdict::Drop
    };
    assert!(!drops(Mode::Packets, &queue_of(1, 500)) && drops(Mode::Packets, &queue_of(2, 500)));
    assert!(!drops(Mode::Bytes, &queue_of(1, 1)) && drops(Mode::Bytes, &queue_of(1, 2)));
}

/// DCTCP's switch: marks every packet that finds `at` packets waiting.
fn switch(at: f64) -> RedConfig {
    let one = Some(at);
    RedConfig {
        min_threshold: one,
        max_threshold: one,
        weight: Some(1.0),
        ecn: true,
        harddrop: Some(false),
        ..config()
    }
}

#[test]
fn rfc_8257_section_3_1_a_switch_marks_every_packet_that_finds_the_threshold_reached_and_no_other() {
    for preset in [RedPreset::Floyd, RedPreset::Ns2, RedPreset::Ns2Of2004] {
        let mut red = red(&RedConfig { preset, mode: Some(Mode::Packets), ..switch(20.0) });
        for waiting in [0, 19, 20, 90, 19, 100, 21, 5] {
            let expected = if waiting >= 20 { Verdict::Mark } else { Verdict::Admit };
            let idle = if waiting == 0 { Span::from_millis(1) } else { Span::ZERO };
            let packet = packet(0, 500, Class::Tcp);
            let buffer = queue_of(waiting, 500);
            let arrival = Arrival { now: Instant::ZERO, packet: &packet, buffer: &buffer, idle, full: false };
            assert_eq!(red.arrive(&arrival, &mut stream()), expected, "{preset:?} {waiting}");
        }
    }
}

#[test]
fn from_max_threshold_on_it_drops_unless_harddrop_is_off() {
    let verdict = |harddrop, average| {
        let mut red = red(&RedConfig { ecn: true, harddrop, weight: Some(1e-12), ..config() });
        red.average = average;
        arrive(&mut red, 500, &queue_of(50, 500))
    };
    assert_eq!(verdict(None, 30.0), Verdict::Drop);
    assert_eq!(verdict(Some(true), 30.0), Verdict::Drop);
    assert_eq!(verdict(Some(false), 30.0), Verdict::Mark);
    assert_eq!(verdict(Some(false), 15.0), Verdict::Mark, "and every packet from max-threshold on");
}

#[test]
fn one_threshold_for_both_is_for_a_switch_that_marks() {
    let capacity = Capacity::Packets(100);
    assert_eq!(switch(20.0).check(), Ok(()));
    assert_eq!(switch(20.0).fits(capacity, None), Ok(()));
    let error = RedConfig { harddrop: None, ..switch(20.0) }.fits(capacity, None).expect_err("a switch that drops");
    assert_eq!(error.key, "min-threshold");
    assert!(error.to_string().contains("harddrop = false"), "{error}");
    assert!(switch(200.0).fits(capacity, None).is_err(), "more than the buffer holds");
    let error = RedConfig { ecn: false, ..switch(20.0) }.check().expect_err("nothing would be marked");
    assert_eq!(error.key, "harddrop");
}

#[test]
fn with_a_weight_of_one_a_change_of_the_rate_leaves_the_average_a_number() {
    let mut red = red(&RedConfig { weight: Some(1.0), ..config() });
    red.average = 8.0;
    red.rate_now(Rate::from_bits_per_second(1_000_000), Span::ZERO);
    assert_eq!(red.average, 8.0);
    red.rate_now(Rate::from_bits_per_second(1_000_000), Span::from_millis(1));
    assert_eq!(red.average, 0.0);
}

/// Verdicts on 4000 arrivals, at an average between the thresholds and at one that requires every packet to be dropped.
fn verdicts(early_victim: EarlyVictim, ecn: bool) -> [Vec<Verdict>; 2] {
    [20.0, 30.5].map(|average| {
        let config =
            RedConfig { gentle: Some(false), max_p: Some(0.5), early_victim, ecn, ..config_between(10.0, 30.0) };
        let mut red = red(&config);
        let (packet, buffer, mut stream) = (packet(9, 500, Class::Voice), queue_of(3, 500), stream());
        let arrival = Arrival { now: Instant::ZERO, packet: &packet, buffer: &buffer, idle: Span::ZERO, full: false };
        (0..4000)
            .map(|_| {
                red.average = average;
                red.arrive(&arrival, &mut stream)
            })
            .filter(|verdict| *verdict != Verdict::Admit)
            .collect()
    })
}

fn config_between(min: f64, max: f64) -> RedConfig {
    RedConfig { min_threshold: Some(min), max_threshold: Some(max), weight: Some(1e-9), ..config() }
}

#[test]
fn as_in_ns2_the_victim_rule_may_be_asked_in_forced_drops_only() {
    for (early_victim, by_chance) in [(EarlyVictim::Rule, Verdict::Drop), (EarlyVictim::Arrival, Verdict::DropArrival)]
    {
        let [chance, forced] = verdicts(early_victim, false);
        assert!(chance.len() > 500 && chance.iter().all(|verdict| *verdict == by_chance), "{early_victim:?}");
        assert!(forced.len() == 4000 && forced.iter().all(|verdict| *verdict == Verdict::Drop), "{early_victim:?}");
    }
    let [chance, _] = verdicts(EarlyVictim::Arrival, true);
    assert!(chance.iter().all(|verdict| *verdict == Verdict::Mark), "a mark needs no victim");
}

#[test]
fn where_chance_takes_the_arrival_what_waits_stays() {
    let gone = |early: &str| {
        let written = format!(
            r#"{{"discipline":"red","victim":"front","capacity":{{"packets":100}},"min-threshold":1,"max-threshold":90,
                "max-p":1.0,"weight":1.0{early}}}"#
        );
        let config: super::super::QueueConfig = serde_json::from_str(&written).expect("a queue");
        let mut queue = super::super::Queue::new(&config, Rate::from_bits_per_second(1_000_000), stream());
        let mut drops = Vec::new();
        let mut of_arrivals = 0;
        for flow in 0..80 {
            let before = drops.len();
            queue.arrive(Instant::ZERO, &packet(flow, 500, Class::Tcp), &mut drops);
            of_arrivals += drops[before..].iter().filter(|(packet, _)| packet.flow.0 == flow).count();
        }
        (drops.len(), of_arrivals)
    };
    let (by_rule, of_arrivals) = gone("");
    assert!(by_rule > 5 && of_arrivals == 0, "{by_rule} {of_arrivals}");
    let (by_chance, of_arrivals) = gone(r#","early-victim":"arrival""#);
    assert!(by_chance > 5 && of_arrivals == by_chance, "{by_chance} {of_arrivals}");
}
