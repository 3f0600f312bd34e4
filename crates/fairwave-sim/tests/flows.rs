//! Realistic flows (files, pages, arriving calls, pauses, conversations), each compared with a formula.

use fairwave_core::random::Seed;
use fairwave_scenario::Scenario;
use fairwave_sim::{CompletionRow, Run, RunResult};

/// A dumbbell without jitter and without drops at the bottleneck, with these groups of flows.
fn outcome_of(duration: &str, rate: &str, delays: &str, flows: &str, seed: u64) -> RunResult {
    let text = format!(
        r#"
name = "flows"
duration = "{duration}"
preset = "rfc"
hosts = {{ clock-skew = "0 ppm", send-jitter = "0 s" }}
[topology]
preset = "dumbbell"
bottleneck = {{ rate = "{rate}", delay = "{delays}", queue = {{ capacity = {{ packets = 5000 }} }} }}
access = {{ rate = "10 Gb/s", delay = "{delays}" }}
{flows}"#
    );
    let scenario = Scenario::from_toml(&text, "flows.toml").unwrap_or_else(|error| panic!("{error}"));
    // The run returns an error if its packet accounting does not balance.
    Run::new(&scenario.plan(Seed(seed)).unwrap_or_else(|error| panic!("{error}")))
        .execute()
        .expect("a run that keeps its books")
}

fn completion<'a>(result: &'a RunResult, group: &str) -> &'a CompletionRow {
    result.completions.iter().find(|row| row.group == group).expect("the group's completions")
}

fn near(found: f64, expected: f64, tolerance: f64) -> bool {
    (found / expected - 1.0).abs() < tolerance
}

#[test]
fn a_megabyte_takes_its_rounds_of_slow_start_and_then_the_rate() {
    let file = "[[flow]]\nname = \"file\"\ntransport = { name = \"tcp/reno\", delayed-ack = false }\ntraffic = { kind = \"transfer\", size = \"1 MB\" }\n";
    let result = outcome_of("5 s", "10 Mb/s", "10 ms", file, 1);
    let [transfer] = result.transfers.as_slice() else { panic!("{:?}", result.transfers) };
    // Round trip 60 ms, 1040 bytes on the wire in 0.832 ms. Windows of 4, 8, 16, 32, 64 take a round each, the next
    // fills the pipe (73 segments). In total: the handshake, five rounds, 876 segments at the rate, and half a round
    // to the receiver.
    let expected = 0.06 * 6.5 + 876.0 * 0.832e-3;
    assert!(
        near(transfer.seconds.expect("measured"), expected, 0.02),
        "{} for {expected}",
        transfer.seconds.expect("measured")
    );
    assert_eq!((transfer.size, transfer.fate, transfer.began_s), (1_000_000, "completed", 0.0));
    assert!(near(transfer.slowdown.expect("measured"), expected / 0.8, 0.02));
    let flow = &result.flows[0];
    assert_eq!((flow.units_sent, flow.units_received, flow.units_lost), (1, 1, 0));
    assert!(near(flow.stop_s, expected, 0.02) && near(flow.goodput_bps.expect("measured"), 8e6 / expected, 0.02));
    let limited = flow.limited_receiver_s.expect("measured")
        + flow.limited_congestion_s.expect("measured")
        + flow.limited_application_s.expect("measured");
    assert!(near(limited, flow.measured_s, 1e-9), "{limited} of {}", flow.measured_s);
}

#[test]
fn transfers_cut_off_by_the_end_are_unfinished_and_neither_lost_nor_averaged() {
    let file = "[[flow]]\nname = \"file\"\ncount = 2\ntransport = { name = \"tcp/reno\", delayed-ack = false }\nstart = { every = \"4 s\" }\ntraffic = { kind = \"transfer\", size = \"1 MB\" }\n";
    let result = outcome_of("4.5 s", "10 Mb/s", "10 ms", file, 1);
    let found = completion(&result, "file");
    assert_eq!((found.transfers, found.completed, found.unfinished, found.refused), (2, 1, 1, 0));
    assert!(
        near(found.mean_s.expect("measured"), 1.12, 0.03)
            && found.p95_s.expect("measured") == found.mean_s.expect("measured")
    );
    assert!(result.transfers[1].seconds.is_none() && result.transfers[1].ended_s.is_none());
    assert_eq!((result.flows[1].units_lost, result.flows[1].units_in_flight), (0, 1));
}

/// Mean slowdown, measured in wire bytes, of transfers with this load on a link.
fn shared(load: f64, seed: u64) -> f64 {
    let payload = load * 5e6 * 1000.0 / 1040.0;
    let flows = format!(
        "[[flow]]\nname = \"files\"\ncount = 20\ntransport = \"tcp/reno\"\narrivals = {{ load = \"{payload:.0} b/s\" }}\ntraffic = {{ kind = \"transfer\", size = {{ distribution = \"exponential\", mean = \"250 kB\" }} }}\n"
    );
    let result = outcome_of("600 s", "5 Mb/s", "1 ms", &flows, seed);
    let found = completion(&result, "files");
    assert!(found.transfers > 300 && found.unfinished < 20, "{found:?}");
    found.mean_s.expect("measured") / (250e3 * 8.0 / 5e6 * 1.04)
}

#[test]
fn transfers_that_share_a_link_slow_down_as_processor_sharing_does() {
    // M/G/1-PS: the mean sojourn time is the service time of the mean size divided by 1 − load, for any distribution
    // of sizes (Kleinrock 1976).
    let mean = |load| (1..=3).map(|seed| shared(load, seed)).sum::<f64>() / 3.0;
    let (low, high) = (mean(0.3), mean(0.7));
    assert!(near(low, 1.0 / 0.7, 0.15), "{low}");
    assert!(near(high, 1.0 / 0.3, 0.25), "{high}");
}

#[test]
fn calls_that_find_no_room_are_refused_as_often_as_erlang_says() {
    let calls = "[[flow]]\nname = \"calls\"\ntransport = \"udp\"\ntraffic = { kind = \"cbr\", rate = \"8 kb/s\" }\narrivals = { rate = \"30 per min\", lasts = { distribution = \"exponential\", mean = \"10 s\" }, at-most = 5 }\n";
    let result = outcome_of("20000 s", "10 Mb/s", "1 ms", calls, 1);
    let found = completion(&result, "calls");
    // Erlang B of five lines at five erlangs.
    let blocked = (1..=5).fold(1.0, |b, n| 5.0 * b / (f64::from(n) + 5.0 * b));
    let share = found.refused as f64 / found.transfers as f64;
    assert!(found.transfers > 9500 && near(share, blocked, 0.05), "{share} for {blocked}: {found:?}");
    assert_eq!(found.completed + found.unfinished + found.refused, found.transfers);
    assert!(found.mean_s.is_none());
    let silent = result.flows.iter().filter(|flow| flow.packets_sent == 0 && flow.goodput_bps.is_none()).count() as u64;
    assert!(silent >= found.refused);
}

#[test]
fn a_limit_of_one_transfer_means_that_no_transfers_share_the_link() {
    let files = "[[flow]]\nname = \"files\"\ntransport = \"tcp/reno\"\ntraffic = { kind = \"transfer\", size = \"500 kB\" }\narrivals = { rate = \"2 per s\", at-most = 1 }\n";
    let result = outcome_of("100 s", "10 Mb/s", "1 ms", files, 2);
    let found = completion(&result, "files");
    let mut done: Vec<_> = result.transfers.iter().filter(|row| row.fate == "completed").collect();
    done.sort_by(|one, other| one.began_s.total_cmp(&other.began_s));
    assert!(done.windows(2).all(|pair| pair[1].began_s >= pair[0].ended_s.expect("measured")));
    // M/G/1/1: with arrival rate λ and service time s, the share λs / (1 + λs) is refused.
    let busy = 2.0 * found.mean_s.expect("measured");
    assert!(near(found.refused as f64 / found.transfers as f64, busy / (1.0 + busy), 0.15), "{found:?}");
}

#[test]
fn arrivals_do_not_depend_on_transports_nor_on_other_flows() {
    let files = |transport: &str, more: &str| {
        let flows = format!(
            "{more}[[flow]]\nname = \"files\"\ncount = 3\ntransport = \"{transport}\"\ntraffic = {{ kind = \"transfer\", size = {{ distribution = \"pareto\", least = \"1 kB\", most = \"1 MB\" }} }}\narrivals = \"60 per min\"\n"
        );
        let result = outcome_of("30 s", "10 Mb/s", "1 ms", &flows, 3);
        result.transfers.iter().map(|row| (row.began_s.to_bits(), row.size)).collect::<Vec<_>>()
    };
    let bulk = "[[flow]]\nname = \"bulk\"\ntransport = \"tcp/reno\"\ntraffic = \"bulk\"\n";
    assert_eq!(files("tcp/reno", ""), files("tcp/sack", bulk));
}

#[test]
fn a_page_takes_the_request_the_page_its_parsing_and_a_round_for_its_objects() {
    let web = "[[flow]]\nname = \"web\"\ntransport = \"tcp/reno\"\ntraffic = { kind = \"web\", main = \"1 kB\", object = \"1 kB\", objects = 2, reading = { distribution = \"constant\", mean = \"1 s\" }, parsing = { distribution = \"constant\", mean = \"100 ms\" } }\n";
    let result = outcome_of("20 s", "10 Mb/s", "10 ms", web, 1);
    // The connection is already open. Round trip 60 ms; two objects at 0.832 ms each; three hops, the others
    // negligible.
    let expected = 0.03 + 0.03 + 0.1 + 0.06 + 3.0 * 0.832e-3;
    let done: Vec<_> = result.transfers.iter().filter(|row| row.fate == "completed").collect();
    assert!(done.len() >= 14, "{}", done.len());
    for page in &done {
        assert!(
            (page.seconds.expect("measured") - expected).abs() < 2e-4,
            "{} for {expected}",
            page.seconds.expect("measured")
        );
        assert_eq!(page.size, 3000);
    }
    // The page is read for one second, then the next one starts.
    assert!(done.windows(2).all(|pair| (pair[1].began_s - pair[0].ended_s.expect("measured") - 1.0).abs() < 1e-6));
}

#[test]
fn browsing_over_a_full_link_waits_longer_and_requests_less() {
    let web = "[[flow]]\nname = \"web\"\ncount = 5\ntransport = \"tcp/sack\"\ntraffic = { kind = \"web\", page = \"3gpp2-2004\", reading = { distribution = \"exponential\", mean = \"3 s\" } }\n";
    let pages = |rate: &str| {
        let result = outcome_of("200 s", rate, "10 ms", web, 1);
        let found = completion(&result, "web").clone();
        (found.mean_s.expect("measured"), found.transfers)
    };
    let ((fast, many), (slow, few)) = (pages("20 Mb/s"), pages("300 kb/s"));
    assert!(slow > 3.0 * fast && few < many, "{fast} {many} {slow} {few}");
}

#[test]
fn a_flow_that_pauses_sends_nothing_meanwhile_and_goes_on_where_it_stopped() {
    let flows = "[[flow]]\nname = \"cbr\"\ntransport = \"udp\"\ntraffic = { kind = \"cbr\", rate = \"800 kb/s\" }\nactive = [[\"1 s\", \"3 s\"], [\"6 s\", \"8 s\"]]\n[[flow]]\nname = \"bulk\"\ntransport = { name = \"tcp/reno\", receiver-window = 20 }\ntraffic = \"bulk\"\nactive = [[\"0 s\", \"2 s\"], [\"5 s\", \"7 s\"]]\n[record]\nunits = [\"cbr\"]\nbin = \"1 s\"\ngoodput = [\"*\"]\n";
    let result = outcome_of("10 s", "10 Mb/s", "1 ms", flows, 1);
    let made: Vec<f64> = result.units.iter().map(|unit| unit.created_s).collect();
    assert_eq!(made.len(), 400, "a hundred packets in each of four seconds");
    assert!(made.iter().all(|at| (1.0..3.0).contains(at) || (6.0..8.0).contains(at)));
    let goodput = |name: &str| -> Vec<bool> {
        let of = result.series.iter().filter(|row| row.kind == "goodput_bps" && row.name == name);
        of.map(|row| row.value > 5e5).collect()
    };
    let [on, off] = [true, false];
    assert_eq!(goodput("bulk[0]"), [on, on, off, off, off, on, on, off, off, off]);
    assert_eq!(goodput("cbr[0]"), [off, on, on, off, off, off, on, on, off, off]);
    let cbr = result.flows.iter().find(|flow| &*flow.group == "cbr").expect("the flow");
    assert_eq!(cbr.measured_s, 4.0);
    assert!(near(cbr.goodput_bps.expect("measured"), 800e3, 0.01), "{}", cbr.goodput_bps.expect("measured"));
}

const TALK: &str = "[[flow]]\nname = \"talk\"\ncount = 3\ntransport = \"udp\"\ntraffic = \"conversation\"\n";

#[test]
fn a_conversation_is_two_flows_that_take_turns_and_one_row() {
    let result = outcome_of("600 s", "10 Mb/s", "50 ms", TALK, 1);
    assert_eq!((result.flows.len(), result.conversations.len(), result.groups[0].flows), (6, 3, 6));
    for row in &result.conversations {
        assert!(near(
            row.round_trip_s.expect("measured"),
            row.mouth_to_ear_there_s.expect("measured") + row.mouth_to_ear_back_s.expect("measured"),
            1e-9
        ));
        assert!(row.mouth_to_ear_there_s.expect("measured") > 0.15 + 0.02);
        // ITU-T P.59's parameters give 7.4 % and 22.5 %; ten minutes have a statistical spread, and packets are
        // whole.
        assert!(
            (row.double_talk_meant.expect("measured") - 0.074).abs() < 0.025,
            "{}",
            row.double_talk_meant.expect("measured")
        );
        assert!(
            (row.mutual_silence_meant.expect("measured") - 0.22).abs() < 0.03,
            "{}",
            row.mutual_silence_meant.expect("measured")
        );
        // A turn that starts right after the other party's end is heard while that party talks again. A delay of 0.2
        // s blurs turns of a second slightly.
        assert!(
            row.double_talk_heard_from.expect("measured") > 1.02 * row.double_talk_meant.expect("measured"),
            "{row:?}"
        );
        assert!(
            row.double_talk_heard_to.expect("measured") > 1.02 * row.double_talk_meant.expect("measured"),
            "{row:?}"
        );
        assert!(
            row.mos.expect("measured") <= row.mos_mean.expect("measured")
                && row.mos.expect("measured") == row.mos_there.expect("measured").min(row.mos_back.expect("measured"))
                && row.mos.expect("measured") > 3.5
        );
        assert_eq!(row.quality_note, "");
    }
    let flow = |index: usize| {
        (result.flows[index].r_factor.expect("measured"), result.flows[index].mouth_to_ear_s.expect("measured"))
    };
    let row = &result.conversations[0];
    assert_eq!(flow(0).1, row.mouth_to_ear_there_s.expect("measured"));
    assert_eq!(flow(1).1, row.mouth_to_ear_back_s.expect("measured"));
    // Both directions take nearly the same time, so each rating is close to the rating without the other direction.
    assert!((flow(0).0 - row.r_there.expect("measured")).abs() < 1.0);
}

#[test]
fn a_slow_way_back_is_the_conversations_worse_direction() {
    let slow = TALK.replace(
        "traffic",
        "sink-access = { rate = \"10 Gb/s\", delay = \"10 ms\", reverse = { delay = \"300 ms\" } }\ntraffic",
    );
    let result = outcome_of("60 s", "10 Mb/s", "10 ms", &slow, 1);
    for row in &result.conversations {
        assert!(
            row.mouth_to_ear_back_s.expect("measured") - row.mouth_to_ear_there_s.expect("measured") > 0.25,
            "{row:?}"
        );
        assert!(
            row.mos.expect("measured") == row.mos_back.expect("measured")
                && row.mos.expect("measured") < row.mos_there.expect("measured")
        );
    }
}

#[test]
fn conversations_are_the_same_whatever_carries_them() {
    let meant = |transport: &str| {
        let result = outcome_of("60 s", "10 Mb/s", "10 ms", &TALK.replace("udp", transport), 5);
        result.conversations.iter().map(|row| row.double_talk_meant.expect("measured")).collect::<Vec<_>>()
    };
    let (udp, tcp) = (meant("udp"), meant("tcp/reno"));
    assert!(udp.iter().zip(&tcp).all(|(one, other)| (one - other).abs() < 2e-3), "{udp:?} {tcp:?}");
}
