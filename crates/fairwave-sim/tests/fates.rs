//! Fates of units: they add up to the application's units, come from records, and name the link or the sender.

use fairwave_core::random::Seed;
use fairwave_scenario::Scenario;
use fairwave_sim::{FateRow, Run, RunResult};
use proptest::prelude::*;

fn outcome(text: &str, seed: u64) -> RunResult {
    let scenario = Scenario::from_text(text, "fates.toml").unwrap_or_else(|error| panic!("{error}\n{text}"));
    Run::new(&scenario.plan(Seed(seed)).expect("a plan")).execute().unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// A link with a rate, a queue in packets and other keys (such as loss), and a flow with these keys.
fn line(rate: &str, queue: &str, link: &str, flow: &str, seconds: u32) -> String {
    format!(
        "name = 'line'\nduration = '{seconds} s'\nhosts = {{ clock-skew = '0 ppm', send-jitter = '0 s' }}\n\
         [[link]]\nfrom = 'a'\nto = 'b'\nrate = '{rate}'\ndelay = '20 ms'\nqueue = {queue}\n{link}\n\
         [[flow]]\nname = 'v'\nfrom = 'a'\nto = 'b'\n{flow}\n"
    )
}

fn units(rows: &[FateRow], fate: &str, place: &str) -> u64 {
    rows.iter().filter(|row| row.fate == fate && &*row.place == place).map(|row| row.units).sum()
}

fn of_fate(rows: &[FateRow], fate: &str) -> u64 {
    rows.iter().filter(|row| row.fate == fate).map(|row| row.units).sum()
}

const DEEP: &str = "{ discipline = 'drop-tail', capacity = { packets = 100000 } }";
const FLOOD: &str = "traffic = { kind = 'cbr', rate = '100 Mb/s', payload = '1000 B' }";

/// Checks that each flow's fates add up to the units made, and the fates of loss to the units lost.
fn adds_up(result: &RunResult) -> Result<(), TestCaseError> {
    for flow in result.flows.iter().filter(|flow| flow.units_sent + flow.units_in_flight > 0) {
        let rows: Vec<FateRow> =
            result.fates.iter().filter(|row| row.group == flow.group && row.flow == flow.flow).cloned().collect();
        let made: u64 = rows.iter().map(|row| row.units).sum();
        prop_assert_eq!(made, flow.units_sent + flow.units_in_flight, "{:?} {:?}", flow, rows);
        prop_assert_eq!(of_fate(&rows, "dropped") + of_fate(&rows, "lost"), flow.units_lost, "{:?} {:?}", flow, rows);
        prop_assert!(flow.units_lost <= flow.dropped + flow.lost || flow.transport.contains("webrtc"));
        let arrived = of_fate(&rows, "played") + of_fate(&rows, "arrived") + of_fate(&rows, "late");
        prop_assert!(arrived >= flow.units_received, "{:?} {:?}", flow, rows);
        prop_assert!(arrived <= flow.units_received + flow.units_waiting, "{:?} {:?}", flow, rows);
    }
    Ok(())
}

#[test]
fn a_flood_into_a_deep_buffer_waits_and_loses_nothing() {
    for transport in ["rap", "tfrc", "udp", "tcp/cubic"] {
        let result = outcome(&line("1 Mb/s", DEEP, "", &format!("transport = '{transport}'\n{FLOOD}"), 8), 1);
        let (flow, rows) = (&result.flows[0], &result.fates);
        assert_eq!((flow.dropped + flow.lost, flow.units_lost), (0, 0), "{transport}: {flow:?}");
        adds_up(&result).unwrap_or_else(|error| panic!("{transport}: {error}"));
        // 1 Mb/s carries at most 1000 of the 100 000 units.
        let waiting = units(rows, "waiting", "sender") + units(rows, "waiting", "a>b");
        assert!(waiting > 98_900, "{transport}: {rows:?}");
        assert_eq!(units(rows, "waiting", "sender") == 0, transport == "udp", "{transport}: {rows:?}");
        assert!(units(rows, "waiting", "a>b") > 20, "{transport}: {rows:?}");
    }
}

#[test]
fn a_fate_names_the_queue_and_the_wire() {
    let flow = "transport = 'udp'\ntraffic = { kind = 'cbr', rate = '2 Mb/s', payload = '1000 B' }";
    let link = "loss = { model = 'bernoulli', rate = 0.05 }";
    let result = outcome(&line("1 Mb/s", "{ capacity = { packets = 10 } }", link, flow, 20), 1);
    let flow = &result.flows[0];
    assert_eq!(units(&result.fates, "dropped", "a>b"), flow.dropped);
    assert_eq!(units(&result.fates, "lost", "a>b"), flow.lost);
    assert!(flow.dropped > 1000 && flow.lost > 50, "{flow:?}");
    assert_eq!(units(&result.fates, "waiting", "a>b"), 10, "the queue is full at the end: {:?}", result.fates);
}

#[test]
fn units_delayed_by_an_outage_are_lost_only_if_the_link_lost_them() {
    let down = "[[event]]\nlink = 'a>b'\nat = '6 s'\nstate = 'down'\n";
    let tcp = outcome(&(line("1 Mb/s", DEEP, "", "transport = 'tcp/reno'\ntraffic = 'voice'", 12) + down), 1);
    assert_eq!(tcp.flows[0].units_lost, 0);
    assert!(units(&tcp.fates, "waiting", "sender") > 250, "{:?}", tcp.fates);
    let udp = outcome(&(line("1 Mb/s", DEEP, "", "transport = 'udp'\ntraffic = 'voice'", 12) + down), 1);
    assert_eq!(units(&udp.fates, "lost", "a>b"), udp.flows[0].units_lost, "{:?}", udp.fates);
}

#[test]
fn a_copy_or_a_repeat_on_its_way_makes_up_for_what_was_lost() {
    let twice = "duplicate = { share = 1.0 }\nloss = { model = 'bernoulli', rate = 0.1 }";
    let cbr = "traffic = { kind = 'cbr', rate = '64 kb/s', payload = '160 B' }";
    for (link, transport) in [(twice, "'udp'"), ("", "{ name = 'udp', redundancy = 2 }")] {
        let result = outcome(&line("1 Mb/s", DEEP, link, &format!("transport = {transport}\n{cbr}"), 10), 1);
        adds_up(&result).unwrap_or_else(|error| panic!("{transport}: {error}"));
    }
}

#[test]
fn a_request_without_a_reply_is_lost_only_if_a_link_removed_one_of_them() {
    let ping = "transport = 'ping'\ntraffic = { kind = 'ping', interval = '100 ms' }\n[[flow]]\nname = 'f'\nfrom = 'a'\nto = 'b'\n";
    let flood = format!("{ping}transport = 'udp'\n{FLOOD}");
    let result = outcome(&line("1 Mb/s", DEEP, "", &flood, 8), 1);
    let row = &result.round_trips[0];
    assert_eq!(row.unanswered, Some(0.0), "requests wait behind the flood: {row:?}");
    let lossy = line(
        "1 Mb/s",
        DEEP,
        "loss = { model = 'bernoulli', rate = 0.2 }",
        ping.split("[[flow]]").next().expect("one"),
        60,
    );
    let row = &outcome(&lossy, 1).round_trips[0];
    let share = row.unanswered.expect("requests") / row.requests.expect("requests");
    assert!((0.1..0.5).contains(&share), "{row:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn fates_add_up_over_any_network(
        transport in 0usize..10, traffic in 0usize..4, queue in 0usize..4, packets in 2u32..400, wire in 0usize..5, rate in 60u32..2000,
        seed in 0u64..1000,
    ) {
        let transport = [
            "'udp'", "'tcp/cubic'", "'rap'", "'tfrc'", "{ name = 'udp', redundancy = 1 }", "'tcp/reno'",
            "{ name = 'tcp/sack', deadline = '300 ms' }", "'tcp/bbr'", "'dvrc'", "'rtcp'",
        ][transport];
        let is_layered = transport.contains("dvrc") || transport.contains("rtcp");
        let traffic = match traffic {
            _ if is_layered => "{ kind = 'video', layers = ['100 kb/s', '200 kb/s', '300 kb/s'] }",
            0 => "'voice'",
            1 => "{ kind = 'cbr', rate = '800 kb/s', payload = '3000 B' }",
            2 => "{ kind = 'video' }",
            _ => "{ kind = 'conversation', codec = 'g729' }",
        };
        let discipline = ["drop-tail", "codel", "fq-codel", "red"][queue];
        // The buffer must exceed RED's thresholds.
        let packets = if discipline == "red" { packets.max(20) } else { packets };
        let queue = format!("{{ discipline = '{discipline}', capacity = {{ packets = {packets} }} }}");
        let wire = [
            "", "loss = { model = 'bernoulli', rate = 0.05 }", "duplicate = { share = 0.2 }\nloss = { model = 'bernoulli', rate = 0.1 }",
            "reorder = { share = 0.2, by = '15 ms' }", "jitter = { model = 'gaussian', deviation = '10 ms' }",
        ][wire];
        let flow = format!("transport = {transport}\ntraffic = {traffic}\nstop = '7 s'");
        let result = outcome(&line(&format!("{rate} kb/s"), &queue, wire, &flow, 6 + (seed % 3) as u32), seed);
        adds_up(&result)?;
    }
}
