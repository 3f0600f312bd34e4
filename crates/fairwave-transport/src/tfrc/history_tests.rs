use super::*;
use proptest::prelude::*;

use fairwave_endpoint::gaps::LossDetector;
use fairwave_units::units::Instant;

fn ms(ms: u64) -> Instant {
    Instant::ZERO + Span::from_millis(ms)
}

/// Sends one packet per millisecond without the missing ones. Returns the gaps in order of detection.
fn gaps(missing: &[u64], until: u64) -> Vec<Gap> {
    let mut detector = LossDetector::new(3);
    (0..until).filter(|s| !missing.contains(s)).filter_map(|s| detector.on_arrival(s, ms(s))).collect()
}

#[test]
fn section_5_2_losses_within_a_round_trip_are_one_event() {
    let mut history = LossHistory::new(false, 0.25);
    for gap in gaps(&[100, 120, 149, 151, 201, 202], 300) {
        history.on_gap(gap, Span::from_millis(50));
    }
    // Events begin at 100, 151 (later than 100 + 50) and 202 (201 is exactly one round trip after 151).
    assert_eq!(history.events(), 3);
}

#[test]
fn section_5_2_a_long_gap_holds_an_event_per_round_trip() {
    let mut history = LossHistory::new(false, 0.25);
    let missing: Vec<u64> = (100..225).collect();
    for gap in gaps(&missing, 300) {
        history.on_gap(gap, Span::from_millis(50));
    }
    assert_eq!(history.events(), 3); // 100, 151, 202
}

#[test]
fn section_5_3_an_interval_counts_from_first_loss_to_first_loss() {
    let mut history = LossHistory::new(false, 0.25);
    for gap in gaps(&[60, 67], 71) {
        history.on_gap(gap, Span::from_millis(5));
    }
    assert_eq!(history.closed[0].0, 7.0);
}

fn with_intervals(newest_first: &[f64], discounting: bool) -> LossHistory {
    let mut history = LossHistory::new(discounting, 0.25);
    history.event = Some((1000, ms(0)));
    for &packets in newest_first.iter().rev() {
        history.push(packets);
    }
    history
}

#[test]
fn section_5_4_eight_intervals_are_weighted_and_the_newest_four_count_fully() {
    let history = with_intervals(&[10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0], false);
    let mean = (10.0 + 20.0 + 30.0 + 40.0 + 0.8 * 50.0 + 0.6 * 60.0 + 0.4 * 70.0 + 0.2 * 80.0) / 6.0;
    assert!((history.loss_event_rate(1000) - 1.0 / mean).abs() < 1e-12);
}

#[test]
fn section_5_4_the_open_interval_counts_only_when_it_raises_the_mean() {
    let history = with_intervals(&[100.0; 8], false);
    assert!((history.loss_event_rate(1049) - 0.01).abs() < 1e-12, "50 packets into it");
    let mean = (300.0 + 100.0 * 5.0) / 6.0;
    assert!((history.loss_event_rate(1299) - 1.0 / mean).abs() < 1e-12, "300 packets into it");
}

#[test]
fn section_5_5_discounting_forgets_old_losses_faster() {
    let (plain, discounting) = (with_intervals(&[100.0; 8], false), with_intervals(&[100.0; 8], true));
    assert_eq!(plain.loss_event_rate(1199), discounting.loss_event_rate(1199), "not before twice the mean");
    // The open interval is 400: DF = 2·100/400, so the closed ones have half the weight: (400 + 250) / (1 + 2.5).
    assert!((discounting.loss_event_rate(1399) - 3.5 / 650.0).abs() < 1e-12);
    assert_eq!(discounting.discount(1_000_000), 0.25);
}

#[test]
fn ns2s_history_discounts_to_a_half_at_the_most() {
    let mut history = with_intervals(&[100.0; 8], true);
    history.least_discount = 0.5;
    assert_eq!(history.discount(1_000_000), 0.5);
}

#[test]
fn section_5_5_a_new_event_makes_the_discount_permanent_for_older_intervals() {
    let mut history = with_intervals(&[100.0; 8], true);
    let gap = Gap { before: (1399, ms(1399)), after: (1401, ms(1401)) };
    history.on_gap(gap, Span::from_millis(50));
    assert_eq!((history.closed[0], history.closed[1]), ((400.0, 1.0), (100.0, 0.5)));
}

#[test]
fn a_gap_of_two_billion_packets_is_taken_in_at_once() {
    let mut history = LossHistory::new(true, 0.25);
    let gap = Gap { before: (0, ms(0)), after: (1 << 31, ms(60_000)) };
    history.on_gap(gap, Span::from_nanos(1));
    assert!(history.loss_event_rate(1 << 31) <= 1.0);
}

proptest! {
    #[test]
    fn the_loss_event_rate_is_a_fraction_and_falls_while_nothing_is_lost(
        missing in prop::collection::btree_set(1u64..500, 1..60), discounting: bool,
    ) {
        let mut history = LossHistory::new(discounting, 0.25);
        for gap in gaps(&missing.iter().copied().collect::<Vec<_>>(), 510) {
            if history.on_gap(gap, Span::from_millis(20)) > 0 && history.events() == 1 {
                history.set_first_interval(50.0);
            }
        }
        let rates: Vec<f64> = (509..3000).step_by(100).map(|high| history.loss_event_rate(high)).collect();
        prop_assert!(rates.iter().all(|p| (0.0..=1.0).contains(p)));
        prop_assert!(rates.windows(2).all(|w| w[1] <= w[0] + 1e-12), "{rates:?}");
    }
}

/// Losses at 100, 120, 151, 155 and 300, with round trips of 50 ms: events at 100, 151 and 300.
fn intervals(short: bool) -> [f64; 2] {
    let mut history = LossHistory::new(false, 0.25).with_short_intervals(short);
    for gap in gaps(&[100, 120, 151, 155, 300], 350) {
        history.on_gap(gap, Span::from_millis(50));
    }
    assert_eq!(history.events(), 3);
    [history.closed[1].0, history.closed[0].0]
}

#[test]
fn rfc_4828_a_loss_interval_of_at_most_two_round_trips_is_its_packets_over_its_losses() {
    // 51 packets in 51 ms, two of them lost; 149 packets in 149 ms, three round trips.
    assert_eq!(intervals(true), [25.5, 149.0]);
    assert_eq!(intervals(false), [51.0, 149.0]);
}

#[test]
fn rfc_4828_losses_of_a_long_gap_are_counted_in_the_event_in_which_they_lie() {
    let mut history = LossHistory::new(false, 0.25).with_short_intervals(true);
    let missing: Vec<u64> = (100..225).collect();
    for gap in gaps(&missing, 300) {
        history.on_gap(gap, Span::from_millis(50));
    }
    // Events at 100, 151 and 202: everything between them was lost.
    assert_eq!((history.events(), history.closed[0].0, history.closed[1].0), (3, 1.0, 1.0));
}
