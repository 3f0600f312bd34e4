use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::driving::{self, Driven, assert_near, queue};
use super::super::{Medium, MediumLaw, Member};
use super::{Cell, CellConfig, CqiTable};
use crate::queue::{Capacity, DropReason, QueueConfig};
use fairwave_units::random::Seed;
use fairwave_units::registry::Checked;
use fairwave_units::testing::fuzz_cases;
use fairwave_units::units::{Instant, Span};

fn config(table: Value) -> CellConfig {
    let config: CellConfig = serde_json::from_value(table).expect("a cell");
    config.check().expect("in range");
    config
}

/// A cell with `users` users and two directions each: members 2i (down) and 2i + 1 (up).
fn driven(mut table: Value, users: usize) -> Driven<Cell> {
    table["base-station"] = json!("base");
    driven_by(&config(table), users, &deep())
}

fn driven_by(config: &CellConfig, users: usize, queue: &QueueConfig) -> Driven<Cell> {
    let cell = config.medium(&members(users, queue), &|name| Seed(5).stream(name)).expect("a cell");
    Driven::new(cell, 2 * users)
}

fn members(users: usize, queue: &QueueConfig) -> Vec<Member> {
    driving::members("base", "u", users, queue)
}

fn deep() -> QueueConfig {
    queue("drop-tail", 100_000)
}

fn no_errors() -> Value {
    json!({ "error": 0.0 })
}

#[test]
fn a_downlink_packet_in_an_idle_cell_takes_its_interval_and_the_processing() {
    let mut cell = driven(json!({ "harq": no_errors() }), 1);
    cell.arrives(0.1003, 0, 200);
    cell.run_until(1.0);
    // The next interval begins at 101 ms; 1 ms on the air, 3 ms of processing.
    assert_eq!(cell.delivered, [(0.105, 0, 0)]);
    assert_eq!(cell.medium.deadline(), Instant::NEVER);
    assert!(cell.timers <= 3, "an idle cell has no events: {}", cell.timers);
}

#[test]
fn a_failed_block_is_sent_again_eight_intervals_later() {
    let mut cell = driven(json!({ "harq": { "error": 1.0, "repeat-error": 0.0 } }), 1);
    cell.arrives(0.1003, 0, 200);
    cell.run_until(1.0);
    assert_eq!(cell.delivered, [(0.113, 0, 0)]);
    let counters = cell.medium.counters(0);
    assert_eq!((counters.transmissions, counters.failed, counters.carried), (2, 1, 1));
}

#[test]
fn harq_gives_up_after_three_retransmissions_and_unacknowledged_rlc_loses_the_packet() {
    let rlc = json!({ "mode": "unacknowledged" });
    let mut cell = driven(json!({ "harq": { "error": 1.0, "repeat-error": 1.0 }, "rlc": rlc }), 1);
    cell.arrives(0.1003, 0, 200);
    cell.run_until(1.0);
    assert_eq!((cell.medium.counters(0).transmissions, cell.lost.len(), cell.delivered.len()), (4, 1, 0));
    cell.books_close();
}

#[test]
fn acknowledged_rlc_sends_again_what_harq_gave_up_and_later_packets_wait_for_it() {
    // Without HARQ every second block fails on average; RLC repairs all of them, in order.
    let harq = json!({ "error": 0.5, "retransmissions": 0 });
    let mut cell = driven(json!({ "harq": harq, "rlc": { "retransmissions": 32 } }), 1);
    for number in 0..200 {
        cell.arrives(0.1 + 0.003 * f64::from(number), 0, 1200);
    }
    cell.run_until(10.0);
    let numbers: Vec<u32> = cell.delivered.iter().map(|(_, _, number)| *number).collect();
    assert_eq!(numbers, (0..200).collect::<Vec<_>>());
    assert!(cell.lost.is_empty());
    // A block that failed once is delayed by at least the reordering time.
    assert!(cell.delivered.iter().any(|(at, _, number)| at - (0.1 + 0.003 * f64::from(*number)) > 0.035));
}

#[test]
fn an_uplink_packet_waits_for_its_scheduling_request_and_the_grant() {
    let mut waits = Vec::new();
    for start in 0..40 {
        let mut cell = driven(json!({ "harq": no_errors() }), 1);
        let at = 0.1 + 0.000_73 * f64::from(start);
        cell.arrives(at, 1, 60);
        cell.run_until(1.0);
        waits.push(cell.delivered[0].0 - at);
    }
    let mean = waits.iter().sum::<f64>() / 40.0;
    // Alignment 0.5 ms, request 0 to 9 ms, grant 8 ms, 1 ms on the air, 3 ms of processing.
    assert!(waits.iter().all(|wait| (0.012..0.0225).contains(wait)), "{waits:?}");
    assert!((mean - 0.017).abs() < 0.001, "{mean}");
}

#[test]
fn the_first_grant_is_small_and_a_report_brings_the_rest() {
    let mut cell = driven(json!({ "harq": no_errors(), "uplink": { "request": "0 s" } }), 1);
    cell.arrives(0.1003, 1, 1400);
    cell.run_until(1.0);
    // Request in the interval from 101 ms, first grant 8 ms later, report after its interval, the rest 8 ms later.
    assert_eq!(cell.delivered, [(0.122, 1, 0)]);
    assert_eq!(cell.medium.counters(1).transmissions, 2);
}

#[test]
fn a_user_alone_has_the_rate_of_its_indicator() {
    for (cqi, up) in [(15, 0), (7, 0), (1, 0), (15, 1), (5, 1)] {
        let mut cell = driven(json!({ "harq": no_errors(), "channel": { "cqi": cqi } }), 1);
        let elements = if up == 1 { 144.0 } else { 120.0 };
        let rate = cell.saturated(200, 1500, &[up], 5.0)[0];
        // A block has 5 bytes of headers, a packet 4.
        let block = elements * 50.0 * CqiTable::Qam64.efficiency(cqi) / 8.0;
        assert_near(rate, (block - 5.0) * 8000.0 * 1500.0 / 1504.0, 0.01);
        cell.books_close();
    }
}

#[test]
fn one_failure_in_ten_costs_a_tenth_of_the_rate() {
    let harq = json!({ "error": 0.1, "repeat-error": 0.0 });
    let mut with = driven(json!({ "harq": harq }), 1);
    let mut without = driven(json!({ "harq": no_errors() }), 1);
    let rate = with.saturated(200, 1500, &[0], 10.0)[0];
    // Each block takes 1.1 transmissions.
    assert_near(rate, without.saturated(200, 1500, &[0], 10.0)[0] / 1.1, 0.02);
}

#[test]
fn round_robin_shares_blocks_equally_so_rates_are_as_the_indicators() {
    let users = json!({ "u0": { "channel": { "cqi": 15 } }, "u1": { "channel": { "cqi": 4 } } });
    let mut cell = driven(json!({ "harq": no_errors(), "scheduler": "round-robin", "users": users }), 2);
    let rates = cell.saturated(200, 1500, &[0, 2], 5.0);
    assert_near(rates[0] / rates[1], 5.5547 / 0.6016, 0.06);
    let airtime = [0, 2].map(|member| cell.medium.counters(member).airtime as f64);
    assert_near(airtime[0], airtime[1], 0.03);
}

#[test]
fn round_robin_shares_among_more_users_than_groups() {
    let mut cell = driven(json!({ "harq": no_errors(), "scheduler": "round-robin", "resource-blocks": 6 }), 20);
    let downlinks: Vec<usize> = (0..20).map(|user| 2 * user).collect();
    let rates = cell.saturated(20, 1500, &downlinks, 10.0);
    let mean = rates.iter().sum::<f64>() / 20.0;
    rates.iter().for_each(|rate| assert_near(*rate, mean, 0.06));
}

#[test]
fn proportional_fairness_gives_equal_time_on_fixed_channels() {
    let users = json!({ "u0": { "channel": { "cqi": 15 } }, "u1": { "channel": { "cqi": 4 } } });
    let mut cell = driven(json!({ "harq": no_errors(), "users": users }), 2);
    let rates = cell.saturated(200, 1500, &[0, 2], 5.0);
    assert_near(rates[0] / rates[1], 5.5547 / 0.6016, 0.05);
}

/// Viswanath, Tse and Laroia 2002: with equal users the scheduler serves the user with the best channel. The cell's rate
/// then follows the maximum of n exponential powers; at low ratios it grows as the harmonic number.
#[test]
fn proportional_fairness_gains_as_the_best_of_many_fading_channels() {
    let channel = json!({ "snr": 5.0, "doppler": 20.0, "report": "1 ms", "report-delay": "0 s" });
    let rate = |users: usize, scheduler: &str| {
        let table = json!({ "harq": no_errors(), "scheduler": scheduler, "channel": channel, "average": "1 s" });
        let mut cell = driven(table, users);
        let downlinks: Vec<usize> = (0..users).map(|user| 2 * user).collect();
        cell.saturated(60, 1500, &downlinks, 20.0).iter().sum::<f64>()
    };
    let expected = |users: i32| {
        let mean = libm::pow(10.0, 0.5);
        let above = |cqi: u8| libm::exp(-libm::pow(10.0, CqiTable::Qam64.threshold(cqi) / 10.0) / mean);
        let step = |cqi: u8| CqiTable::Qam64.efficiency(cqi) - CqiTable::Qam64.efficiency(cqi - 1);
        (1..=15).map(|cqi| step(cqi) * (1.0 - (1.0 - above(cqi)).powi(users))).sum::<f64>() * 120.0 * 50.0 * 1000.0
    };
    for users in [2, 8] {
        let gain = rate(users, "proportional-fair") / rate(users, "round-robin");
        assert_near(gain, expected(users as i32) / expected(1), 0.08);
    }
}

#[test]
fn a_time_division_pattern_shares_the_slots() {
    let nr = json!({ "harq": no_errors(), "numerology": 1, "resource-blocks": 51, "pattern": "DDDSU", "channel": { "cqi": 10 } });
    let mut cell = driven(nr, 1);
    let rates = cell.saturated(400, 1500, &[0, 1], 4.0);
    let whole = 168.0 * 51.0 * 2.7305 * 2000.0;
    assert_near(rates[0], whole * 0.86 * (3.0 + 10.0 / 14.0) / 5.0, 0.03);
    assert_near(rates[1], whole * 0.92 / 5.0, 0.03);
}

#[test]
fn a_receiver_that_sleeps_gets_its_packet_when_it_wakes() {
    let drx = json!({ "inactivity": "10 ms", "cycle": "160 ms", "on": "8 ms" });
    let delays: Vec<f64> = (0..50)
        .map(|turn| {
            let mut cell = driven(json!({ "harq": no_errors(), "drx": drx }), 1);
            let at = 0.5 + 0.0033 * f64::from(turn);
            cell.arrives(at, 0, 200);
            cell.run_until(2.0);
            assert!(cell.timers <= 4, "no events while it sleeps: {}", cell.timers);
            cell.delivered[0].0 - at
        })
        .collect();
    let mean = delays.iter().sum::<f64>() / 50.0;
    // Arrivals during the 152 ms of sleep wait half of it on average, 95 % of the time.
    assert!((mean - (0.0045 + 0.152 * 0.152 / 2.0 / 0.160)).abs() < 0.008, "{mean}");
    assert!(delays.iter().all(|delay| *delay < 0.158));
}

#[test]
fn a_handoff_that_forwards_delays_and_loses_nothing() {
    let users = json!({ "u0": { "handoffs": [{ "at": "1 s", "gap": "60 ms" }] } });
    let mut cell = driven(json!({ "users": users }), 1);
    for number in 0..1000 {
        cell.arrives(0.5 + 0.001 * f64::from(number), 0, 1000);
    }
    cell.run_until(5.0);
    let numbers: Vec<u32> = cell.delivered.iter().map(|(_, _, number)| *number).collect();
    assert_eq!(numbers, (0..1000).collect::<Vec<_>>());
    assert!(!cell.delivered.iter().any(|(at, ..)| (1.0001..1.0599).contains(at)), "nothing in the gap");
}

#[test]
fn a_handoff_that_loses_empties_the_base_station() {
    let users = json!({ "u0": { "handoffs": [{ "at": "1 s", "gap": "60 ms", "buffer": "lose" }] } });
    let mut cell = driven(json!({ "users": users, "channel": { "cqi": 3 } }), 1);
    for number in 0..1000 {
        cell.arrives(0.5 + 0.001 * f64::from(number), 0, 1000);
    }
    cell.run_until(9.0);
    assert!(cell.dropped.iter().all(|(_, reason)| *reason == DropReason::Link) && cell.dropped.len() > 50);
    assert!(!cell.lost.is_empty());
    cell.books_close();
}

#[test]
fn a_user_that_leaves_with_a_full_queue_leaves_closed_books() {
    let users = json!({ "u0": { "leaves": "1 s" } });
    let mut cell = driven(json!({ "users": users, "channel": { "cqi": 1 } }), 2);
    for number in 0..2000 {
        for member in 0..4 {
            cell.arrives(0.001 * f64::from(number), member, 1000);
        }
    }
    cell.run_until(2.5);
    assert_eq!((cell.medium.held(0), cell.medium.held(1)), (0, 0));
    assert!(cell.medium.held(2) > 100);
    assert!(cell.delivered.iter().all(|(at, member, _)| *member > 1 || *at <= 1.0));
    cell.books_close();
}

#[test]
fn nothing_is_sent_out_of_range_and_the_cell_waits_without_events() {
    let steps = json!({ "steps": [{ "at": "0 s", "is": 0 }, { "at": "2 s", "is": 8 }] });
    let mut cell = driven(json!({ "harq": no_errors(), "channel": steps }), 1);
    cell.arrives(0.1, 0, 500);
    cell.run_until(1.9);
    assert!(cell.delivered.is_empty() && cell.timers <= 2, "{}", cell.timers);
    cell.run_until(3.0);
    assert_eq!(cell.delivered.len(), 1);
    let mut never = driven(json!({ "channel": { "snr": -20.0 } }), 1);
    never.arrives(0.1, 0, 500);
    never.run_until(100.0);
    assert_eq!((never.delivered.len(), never.medium.held(0)), (0, 1));
    never.books_close();
}

#[test]
fn codel_and_l4s_keep_the_queue_short_at_the_base_station() {
    for (discipline, most) in [("drop-tail", 1.5), ("codel", 0.2), ("dualpi2", 0.1)] {
        let law: crate::queue::DisciplineConfig =
            serde_json::from_value(json!({ "discipline": discipline })).expect("a law");
        let mut table = json!({ "base-station": "base", "channel": { "cqi": 4 } });
        table["harq"] = no_errors();
        let mut cell = driven_by(&config(table), 1, &QueueConfig::new(Capacity::Packets(400), law));
        // The cell carries 3.6 Mb/s; 1.2 times that rate arrives from unresponsive senders.
        for number in 0..3600 {
            cell.arrives(f64::from(number) * 0.002_78, 0, 1500);
        }
        let waits: Vec<f64> = cell.delivered.iter().map(|(at, _, number)| at - f64::from(*number) * 0.002_78).collect();
        let last = waits.last().copied().expect("deliveries");
        if discipline == "drop-tail" {
            assert!(last > 1.2, "{last}");
        } else {
            assert!(cell.dropped.len() > 20 || cell.outcomes.begun.is_empty(), "{discipline}");
        }
        assert!(last < most + 1.0, "{discipline}: {last}");
        cell.books_close();
    }
}

#[test]
fn the_base_station_is_the_node_that_links_share() {
    let own = |name: &str| Seed(1).stream(name);
    let two = CellConfig::default().medium(&members(2, &deep()), &own);
    assert!(two.is_ok());
    let error = CellConfig::default().medium(&members(1, &deep()), &own).err().expect("either could be it");
    assert_eq!(error.key, "base-station");
    let unknown =
        config(json!({ "users": { "u7": {} } })).medium(&members(2, &deep()), &own).err().expect("no such user");
    assert!(unknown.to_string().contains("u0, u1"), "{unknown}");
    let far = config(json!({ "base-station": "r9" })).medium(&members(2, &deep()), &own).err().expect("no such node");
    assert_eq!(far.key, "base-station");
}

#[test]
fn values_out_of_range_are_refused_with_their_key() {
    let refused = |table: Value| {
        let config: CellConfig = serde_json::from_value(table).expect("of the right form");
        config.check().expect_err("out of range").key
    };
    for (table, key) in [
        (json!({ "resource-blocks": 5 }), "resource-blocks"),
        (json!({ "numerology": 4 }), "numerology"),
        (json!({ "pattern": "DDX" }), "pattern"),
        (json!({ "pattern": "DDD" }), "pattern"),
        (json!({ "channel": { "cqi": 0 } }), "channel.cqi"),
        (json!({ "channel": { "cqi": 4, "snr": 3.0 } }), "channel.channel"),
        (json!({ "channel": { "snr": 90.0 } }), "channel.snr"),
        (json!({ "channel": { "cqi": 4, "doppler": 3.0 } }), "channel.doppler"),
        (json!({ "channel": { "steps": [{ "at": "0 s", "is": 16 }] } }), "channel.steps.is"),
        (json!({ "harq": { "error": 1.5 } }), "harq.error"),
        (json!({ "harq": { "round-trip": 0 } }), "harq.round-trip"),
        (json!({ "uplink": { "first": "0 B" } }), "uplink.first"),
        (json!({ "drx": { "inactivity": "1 s", "cycle": "10 ms", "on": "20 ms" } }), "drx.on"),
        (
            json!({ "users": { "a": { "handoffs": [{ "at": "1 s", "gap": "2 s" }, { "at": "2 s" }] } } }),
            "users.a.handoffs.at",
        ),
    ] {
        assert_eq!(refused(table), key);
    }
}

#[test]
fn the_capacity_of_a_fading_channel_is_its_mean() {
    let mut cell = driven(json!({ "channel": { "snr": 15.0, "doppler": 10.0 } }), 1);
    let whole = cell.medium.capacity(0, Instant::ZERO, Instant::from_seconds(200.0)).get() as f64 * 8.0 / 200.0;
    assert_near(whole, CqiTable::Qam64.mean_efficiency(15.0) * 120.0 * 50.0 * 1000.0, 0.05);
    let carried = cell.saturated(200, 1500, &[0], 20.0)[0];
    assert!(carried < whole && carried > 0.6 * whole, "{carried} of {whole}");
}

proptest! {
    #![proptest_config(fuzz_cases(40))]

    /// Fuzz: any cell, any arrivals. Time advances, the packets of a direction keep their order, and every packet is
    /// accounted for.
    #[test]
    fn fuzz_a_cell_closes_its_books(
        seed in 0u64..1000,
        users in 1usize..7,
        round_robin: bool,
        numerology in 0u8..3,
        (error, repeat_error, retransmissions) in (0.0f64..0.6, 0.0f64..0.6, 0u32..4),
        (unacknowledged, resends) in (any::<bool>(), 0u32..4),
        (fading, snr) in (any::<bool>(), -12.0f64..30.0),
        (sleeps, tdd, leaves, lose) in (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>()),
        blocks in prop::sample::select(vec![6u32, 25, 50, 100, 273]),
        discipline in prop::sample::select(vec!["drop-tail", "codel", "fq-codel", "dualpi2", "pie"]),
        arrivals in prop::collection::vec((0u64..3_000_000, 0usize..14, 40u16..1500), 1..300),
    ) {
        let mut table = json!({
            "base-station": "base",
            "resource-blocks": blocks,
            "numerology": numerology,
            "scheduler": if round_robin { "round-robin" } else { "proportional-fair" },
            "harq": { "error": error, "repeat-error": repeat_error, "retransmissions": retransmissions },
            "rlc": { "mode": if unacknowledged { "unacknowledged" } else { "acknowledged" }, "retransmissions": resends },
            "channel": if fading { json!({ "snr": snr, "doppler": 30.0 }) } else { json!({ "cqi": 3 + seed % 13 }) },
            "users": { "u0": { "handoffs": [{ "at": "80 ms", "gap": "30 ms", "buffer": if lose { "lose" } else { "forward" } }] } },
        });
        if sleeps {
            table["drx"] = json!({ "inactivity": "10 ms", "cycle": "40 ms", "on": "4 ms" });
        }
        if tdd {
            table["pattern"] = json!("DSUUD");
        }
        if leaves {
            table["users"]["u0"]["leaves"] = json!("150 ms");
        }
        let law: crate::queue::DisciplineConfig = serde_json::from_value(json!({ "discipline": discipline })).expect("a law");
        let config = config(table);
        let queue = QueueConfig::new(Capacity::Packets(20), law);
        let mut cell = driven_by(&config, users, &queue);
        let mut at = 0;
        for (gap, member, wire) in arrivals {
            at += gap;
            cell.arrives(Span::from_nanos(at).seconds(), member % (2 * users), wire);
            cell.books_close();
        }
        let end = Span::from_nanos(at).seconds();
        cell.run_until(end + 0.3);
        cell.books_close();
        let held: usize = (0..2 * users).map(|member| cell.medium.held(member) as usize).sum();
        if leaves {
            let mut given = Vec::new();
            cell.medium.drain(cell.now, &mut given);
            prop_assert_eq!(given.len(), held);
            return Ok(());
        }
        // Packets keep their order within each flow queue; disciplines with one list keep the overall order.
        if discipline != "fq-codel" && discipline != "dualpi2" {
            for member in 0..2 * users {
                let numbers: Vec<u32> = cell.delivered.iter().filter(|(_, own, _)| *own == member).map(|(.., n)| *n).collect();
                prop_assert!(numbers.is_sorted(), "{numbers:?}");
            }
        }
        if !fading {
            cell.run_until(end + 200.0);
            for member in 0..2 * users {
                prop_assert_eq!(cell.medium.held(member), 0, "member {} still has packets", member);
            }
        }
    }
}
