use proptest::prelude::*;

use super::*;
use crate::control::PacketReport;
use crate::control::rig::{Path, feedback, limits, report, run, torture};
use fairwave_units::random::Seed;

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9 * b.abs().max(1.0)
}

fn nada() -> Nada {
    let mut nada = NadaConfig::default().controller(Seed(1).stream("control"));
    nada.on_limits(Instant::ZERO, limits(600_000, 150_000, 1_500_000));
    nada
}

/// Reports packets sent every 10 ms with the given delays in ms; `None` is a loss.
fn told(nada: &mut Nada, from: u64, delays: &[Option<u64>]) {
    let packets: Vec<_> = delays
        .iter()
        .enumerate()
        .map(|(place, delay)| {
            let sent = (from + place as u64) * 10;
            report(from + place as u64, sent, delay.map(|delay| sent + delay))
        })
        .collect();
    let now = (from + delays.len() as u64) * 10 + 100;
    nada.on_feedback(&feedback(now, &packets));
}

#[test]
fn eq_1_bends_delay_from_50_milliseconds_on_after_a_loss_and_fades_after_seven_intervals() {
    let mut nada = nada();
    assert!(near(nada.warped(0.200), 0.200), "no loss");
    nada.events.on_lost(&report(100, 0, None).packet, Span::ZERO);
    nada.events.set_first_interval(10.0);
    nada.highest = 150;
    let bent = 0.050 * libm::exp(-0.5 * 3.0);
    assert!(near(nada.warped(0.049), 0.049) && near(nada.warped(0.050), 0.050) && near(nada.warped(0.200), bent));
    nada.highest = 100 + 74; // the open interval has 75 packets: seven and a half
    assert!(near(nada.warped(0.200), 0.5 * (0.200 + bent)));
    nada.highest = 100 + 79;
    assert!(near(nada.warped(0.200), 0.200));
}

#[test]
fn eq_2_adds_the_squares_of_marks_and_losses() {
    let mut nada = nada();
    (nada.mark_ratio, nada.loss_ratio) = (0.02, 0.03);
    assert!(near(nada.aggregate(0.005), 0.005 + 0.002 * 4.0 + 0.010 * 9.0));
    nada.loss_ratio = 1.0;
    assert!(near(nada.aggregate(0.0), 3.2767), "15 bits of 100 µs");
}

#[test]
fn eq_3_and_4_ramp_up_by_what_arrives_and_never_lower_the_rate() {
    let mut nada = nada();
    (nada.round_trip, nada.arrived_bits) = (Some(0.1), 400_000.0); // 800 kb/s
    nada.ramp_up();
    assert!(near(nada.rate, 800_000.0 * (1.0 + 0.050 / 0.320)));
    nada.arrived_bits = 1000.0;
    nada.ramp_up();
    assert!(near(nada.rate, 925_000.0));
}

#[test]
fn gamma_max_is_a_half() {
    // With the defaults of Table 2 the limit does not bind: QBOUND / (DELTA + DFILT) is 0.227 for a path without delay.
    assert!(near(gamma(0.050, 0.0), 0.050 / 0.220) && near(gamma(0.109, 0.0), 0.109 / 0.220));
    assert!(near(gamma(0.111, 0.0), 0.5));
}

#[test]
fn eq_5_to_7_move_by_the_offset_and_by_the_change() {
    let mut nada = nada();
    nada.signal = 0.020;
    nada.gradual(0.030, 0.1);
    // x_offset = 30 − 10·1500/600 = 5 ms, x_diff = 10 ms.
    let expected = 600_000.0 * (1.0 - 0.5 * 0.2 * (0.005 / 0.5) - 0.5 * 2.0 * (0.010 / 0.5));
    assert!(near(nada.rate, expected), "{}", nada.rate);
    nada.rate = 600_000.0;
    (nada.signal, nada.config.priority) = (0.030, 2.0);
    nada.gradual(0.030, 0.1);
    assert!(near(nada.rate, 600_000.0 * (1.0 + 0.5 * 0.2 * (0.020 / 0.5))), "twice the weight: 50 ms are the balance");
}

#[test]
fn at_the_balance_the_rate_stays() {
    let mut nada = nada();
    nada.signal = 0.025;
    nada.gradual(0.025, 0.1);
    assert!(near(nada.rate, 600_000.0));
}

#[test]
fn eq_8_and_9_keep_the_rate_between_its_ends() {
    let mut nada = nada();
    nada.signal = 0.0;
    nada.lost = 1;
    nada.samples.push_back(3.0);
    nada.update(5.0);
    assert!(near(nada.rate, 150_000.0));
    (nada.lost, nada.arrived_bits) = (0, 5e6);
    nada.update(0.1);
    assert!(near(nada.rate, 1_500_000.0));
}

#[test]
fn eq_10_smooths_the_ratios_of_the_last_half_second_by_a_tenth() {
    let mut nada = nada();
    told(&mut nada, 0, &[Some(50); 10]);
    told(&mut nada, 10, &[Some(50), None, Some(50), None, Some(50), Some(50), Some(50), Some(50), Some(50), Some(50)]);
    assert!(near(nada.loss_ratio, 0.1 * 2.0 / 20.0), "{}", nada.loss_ratio);
    let before = nada.loss_ratio;
    for from in (20..400).step_by(10) {
        told(&mut nada, from, &[Some(50); 10]);
    }
    assert_eq!(nada.lost, 0);
    assert!(nada.loss_ratio < before);
}

#[test]
fn marks_count_as_their_share() {
    let mut nada = nada();
    told(&mut nada, 0, &[Some(50); 10]);
    let packets: Vec<_> =
        (10..20).map(|n| PacketReport { ecn: Ecn::Ce, ..report(n, n * 10, Some(n * 10 + 50)) }).collect();
    nada.on_feedback(&feedback(300, &packets));
    assert!(near(nada.mark_ratio, 0.1 * 0.5));
}

#[test]
fn the_queueing_delay_is_the_least_of_fifteen_samples() {
    let mut nada = nada();
    told(&mut nada, 0, &[Some(50)]);
    told(&mut nada, 1, &[Some(80); 14]);
    assert!(near(nada.queued(), 0.0));
    told(&mut nada, 15, &[Some(70)]);
    assert!(near(nada.queued(), 0.020), "{}", nada.queued());
}

#[test]
fn it_ramps_up_without_losses_and_delay_of_ten_milliseconds_in_the_last_half_second() {
    let mut nada = nada();
    told(&mut nada, 0, &[Some(50); 10]);
    told(&mut nada, 10, &[Some(59); 10]);
    assert_eq!(nada.view().state, "ramp-up");
    told(&mut nada, 20, &[Some(61); 10]);
    assert_eq!(nada.view().state, "gradual");
    for from in (30..80).step_by(10) {
        told(&mut nada, from, &[Some(50); 10]);
    }
    assert_eq!(nada.view().state, "gradual", "the last of those is less than 500 ms old");
    told(&mut nada, 80, &[Some(50); 10]);
    assert_eq!(nada.view().state, "ramp-up");
    told(
        &mut nada,
        90,
        &[Some(50), None, Some(50), Some(50), Some(50), Some(50), Some(50), Some(50), Some(50), Some(50)],
    );
    assert_eq!(nada.view().state, "gradual");
}

#[test]
fn it_acts_every_100_milliseconds() {
    let mut nada = nada();
    told(&mut nada, 0, &[Some(50); 10]);
    let updated = nada.updated;
    nada.on_feedback(&feedback(285, &[]));
    assert_eq!(nada.updated, updated);
    nada.on_feedback(&feedback(290, &[]));
    assert_ne!(nada.updated, updated);
}

#[test]
fn the_base_delay_is_the_least_of_ten_minutes() {
    let mut nada = nada();
    let at = |minute: u64| Instant::from_seconds(60.0 * minute as f64);
    assert!(near(nada.base_delay(at(0), 0.05), 0.05));
    for minute in 1..10 {
        assert!(near(nada.base_delay(at(minute), 0.08), 0.05));
    }
    assert!(near(nada.base_delay(at(10), 0.08), 0.08));
}

#[test]
fn section_5_2_2_two_thousand_bytes_change_the_rates_by_48_kilobits_or_by_five_percent() {
    let mut nada = nada();
    (nada.rate, nada.waiting) = (1_000_000.0, 2000.0);
    let bits = |nada: &Nada| (nada.decision().target.bits_per_second(), nada.decision().pacing.bits_per_second());
    assert_eq!(bits(&nada), (952_000, 1_048_000));
    nada.waiting = 20_000.0;
    assert_eq!(bits(&nada), (950_000, 1_050_000));
    nada.rate = 150_000.0;
    assert_eq!(bits(&nada), (150_000, 157_500), "Eq. (13): not below RMIN");
    nada.rate = 1_500_000.0;
    assert_eq!(bits(&nada), (1_425_000, 1_500_000), "Eq. (14): not above RMAX");
}

#[test]
fn a_new_path_begins_anew_and_keys_have_ranges() {
    let mut nada = nada();
    told(&mut nada, 0, &[Some(50); 10]);
    nada.on_new_path(Instant::from_seconds(9.0), limits(400_000, 150_000, 1_500_000));
    assert!(near(nada.rate, 400_000.0) && nada.samples.is_empty() && nada.updated.is_none());
    let refused = |text: &str| serde_json::from_str::<NadaConfig>(text).expect(text).check().expect_err(text).key;
    assert_eq!(refused(r#"{"priority": 0}"#), "priority");
    assert_eq!(refused(r#"{"reference": "0 s"}"#), "reference");
    assert_eq!(refused(r#"{"warp-from": "0 s"}"#), "warp-from");
    assert_eq!(
        (NadaConfig::default().ecn(), NadaConfig { ecn: false, ..NadaConfig::default() }.ecn()),
        (Ecn::Ect0, Ecn::NotEct)
    );
}

const LAW: &str = r#"{"name": "nada"}"#;

#[test]
fn one_flow_fills_a_link_of_1_megabit_without_filling_its_queue() {
    let path = Path { feedback: 100, ..Path::drop_tail(1_000_000, 50, 300) };
    let course = run(&path, &[(LAW, 0)], limits(300_000, 150_000, 1_500_000), 60).remove(0);
    println!("nada: {:.0} kb/s, queue {:?}", course.mean(30) / 1000.0, &course.queued[50..]);
    assert!(
        (800_000.0..1_010_000.0).contains(&course.mean(30)) && course.queued[30..].iter().all(|queue| *queue < 0.2)
    );
}

#[test]
fn two_flows_share_a_link() {
    let path = Path { feedback: 100, ..Path::drop_tail(2_000_000, 50, 300) };
    let courses = run(&path, &[(LAW, 0), (LAW, 20)], limits(300_000, 150_000, 1_500_000), 120);
    let (first, second) = (courses[0].mean(80), courses[1].mean(80));
    println!("nada: {:.0} and {:.0} kb/s", first / 1000.0, second / 1000.0);
    assert!(first + second > 1_500_000.0 && (0.4..2.5).contains(&(first / second)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn no_feedback_makes_it_leave_its_limits(all in prop::collection::vec(any::<(u8, u16, u16, bool)>(), 0..150)) {
        torture(LAW, &all);
    }
}
