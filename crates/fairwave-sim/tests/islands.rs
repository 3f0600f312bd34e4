//! Runs on islands, on several threads and with prefetching give the same results as the plain loop.

use std::cell::Cell;
use std::path::Path;

use fairwave_core::random::Seed;
use fairwave_core::units::Span;
use fairwave_scenario::Scenario;
use fairwave_scenario::plan::Plan;
use fairwave_sim::probe::Probe;
use fairwave_sim::{Run, RunError, RunResult};
use proptest::prelude::*;
use proptest::test_runner::{TestCaseError, TestRunner};

fn plan(text: &str, seed: u64) -> Plan {
    Scenario::from_toml(text, "islands.toml")
        .and_then(|scenario| scenario.plan(Seed(seed)))
        .unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// A probe without effect.
struct Idle;

impl Probe for Idle {}

/// Runs on islands, even if that does not pay. Also returns their number: 1 for a plan that cannot be partitioned.
fn run_on_islands(plan: &Plan, threads: usize, islands: Option<usize>) -> (RunResult, usize) {
    let run = Run::new(plan).threads(threads).islands(islands);
    let count = run.cut().expect("a plan").map_or(1, |cut| cut.islands);
    (run.execute().expect("a run"), count)
}

fn is_worth_it(plan: &Plan, threads: usize) -> bool {
    Run::new(plan).threads(threads).cut().expect("a plan").is_some()
}

fn same(plain: &RunResult, cut: &RunResult) -> bool {
    let digest = |result: &RunResult| result.digest().expect("a digest");
    let fates = |result: &RunResult| format!("{:?}", result.fates);
    (digest(plain), fates(plain), plain.events, plain.packet_hops)
        == (digest(cut), fates(cut), cut.events, cut.packet_hops)
}

/// Whether prefetching gives the same results, on one thread and on islands. Without `prefetch`, only runs with more than
/// 2000 flows prefetch.
fn prefetching_changes_nothing(plain: &RunResult, plan: &Plan) -> bool {
    let prefetching =
        |threads: usize| Run::new(plan).threads(threads).islands(None).prefetch().execute().expect("a run");
    [1, 2].iter().all(|&threads| same(plain, &prefetching(threads)))
}

/// Whether frequent switches between islands and the plain loop give the same results.
fn switching_changes_nothing(plain: &RunResult, plan: &Plan) -> bool {
    let switching = |windows: u64| Run::new(plan).threads(2).alternate(windows).execute().expect("a run");
    [40, 300].iter().all(|&windows| same(plain, &switching(windows)))
}

/// Checks 60 random cases.
fn check_sixty<S: Strategy>(drawn: S, check: impl Fn(S::Value) -> Result<(), TestCaseError>) {
    let mut runner =
        TestRunner::new(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() });
    runner.run(&drawn, check).unwrap_or_else(|error| panic!("{error}"));
}

/// Downloads over a dumbbell.
fn dumbbell(flows: usize, access: &str, more: &str) -> Plan {
    let text = format!(
        "name = 'dumbbell'\nduration = '2 s'\nwarmup = '500 ms'\n[topology]\npreset = 'dumbbell'\n\
         bottleneck = {{ rate = '{flows} Mb/s', delay = '10 ms', queue = {{ discipline = 'drop-tail', capacity = {{ packets = {} }} }} }}\n\
         access = {{ rate = '100 Mb/s', delay = '{access}' }}\n\
         [[flow]]\nname = 'ftp'\ncount = {flows}\ntransport = 'tcp/reno'\ntraffic = 'bulk'\nstart = {{ every = '500 us' }}\n{more}",
        2 * flows + 3
    );
    plan(&text, 1)
}

#[test]
fn golden_scenarios_give_the_same_results_on_islands() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden");
    let mut were_cut = 0;
    for entry in std::fs::read_dir(folder).expect("the folder of golden scenarios") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let plan = plan(&std::fs::read_to_string(&path).expect("a scenario"), 1);
        let plain = Run::new(&plan).execute().expect("a run");
        let (cut, islands) = run_on_islands(&plan, 2, None);
        assert!(same(&plain, &cut), "{} on {islands} islands", path.display());
        assert!(prefetching_changes_nothing(&plain, &plan), "{} with prefetching", path.display());
        assert!(switching_changes_nothing(&plain, &plan), "{} with switches", path.display());
        were_cut += usize::from(islands > 1);
    }
    assert!(were_cut >= 5, "only {were_cut} could be cut");
}

#[test]
fn threads_and_islands_do_not_change_results() {
    let plan = dumbbell(40, "5 ms", "");
    let plain = Run::new(&plan).execute().expect("a run");
    // Two threads; more threads than elements; more threads than islands are possible.
    for threads in [2, 7, 64, 10_000] {
        let (cut, islands) = run_on_islands(&plan, threads, None);
        assert!(islands > 1 && islands <= 256, "{islands} islands");
        assert!(same(&plain, &cut), "{threads} threads, {islands} islands");
    }
    let (_, islands) = run_on_islands(&plan, 1, None);
    assert_eq!(islands, 1, "one thread has the plain loop");
    let (cut, islands) = run_on_islands(&plan, 1, Some(9));
    assert!(islands == 9 && same(&plain, &cut), "unless it is asked for islands");
}

#[test]
fn without_link_delays_there_are_no_windows() {
    let text = "name = 'at-once'\nduration = '1 s'\n[[link]]\nfrom = 'a'\nto = 'b'\nrate = '5 Mb/s'\ndelay = '0 ms'\nduplex = true\n\
                [[flow]]\nname = 'ftp'\ncount = 3\nfrom = 'a'\nto = 'b'\ntransport = 'tcp/reno'\ntraffic = 'bulk'\n";
    let plan = plan(text, 1);
    let (cut, islands) = run_on_islands(&plan, 4, None);
    assert_eq!(islands, 1);
    assert!(same(&Run::new(&plan).execute().expect("a run"), &cut));
}

#[test]
fn immediate_effects_between_elements_keep_the_plain_loop() {
    let calls = "[[flow]]\nname = 'calls'\ntransport = 'udp'\ntraffic = 'voice'\narrivals = { rate = '5 per s', lasts = { distribution = 'exponential', mean = '1 s' }, at-most = 2 }\n";
    let limited = dumbbell(6, "5 ms", calls);
    assert_eq!(run_on_islands(&limited, 2, None).1, 1);
    let recorded = dumbbell(6, "5 ms", "[record]\nwindows = ['ftp']\nwindow-interval = '100 ms'\n");
    assert_eq!(run_on_islands(&recorded, 2, None).1, 1);
}

#[test]
fn a_run_on_threads_can_be_followed_and_stopped() {
    let plan = dumbbell(2000, "5 ms", "");
    assert!(is_worth_it(&plan, 2), "worth it");
    let parts = std::sync::atomic::AtomicUsize::new(0);
    let count = |work: &mut dyn FnMut()| {
        work();
        parts.fetch_add(1, std::sync::atomic::Ordering::Relaxed) < 99
    };
    let stopped = Run::new(&plan).threads(2).parts(&count).execute();
    assert!(matches!(stopped, Err(RunError::Stopped)));
    assert_eq!(parts.into_inner(), 100);
}

#[test]
fn a_run_that_switches_by_wall_time_gives_the_results_of_the_plain_loop() {
    let plan = dumbbell(1000, "5 ms", "");
    assert!(is_worth_it(&plan, 2), "worth it");
    assert!(same(&Run::new(&plan).execute().expect("a run"), &Run::new(&plan).threads(2).execute().expect("a run")));
}

const DELAYS: [&str; 6] = ["0 ms", "1 ns", "20 us", "1 ms", "3 ms", "20 ms"];
const QUEUES: [&str; 5] = [
    "{ discipline = 'drop-tail', capacity = { packets = 8 } }",
    "{ discipline = 'drop-tail', capacity = { bytes = 20000 } }",
    "{ discipline = 'red', capacity = { packets = 30 } }",
    "{ discipline = 'fq-codel', capacity = { packets = 40 } }",
    "{ discipline = 'codel', capacity = { packets = 40 } }",
];
const EXTRAS: [&str; 5] = [
    "",
    "",
    "loss = { model = 'bernoulli', rate = 0.02 }\n",
    "jitter = { model = 'uniform', up-to = '2 ms' }\n",
    "duplicate = { share = 0.05 }\n",
];
const FLOWS: [&str; 6] = [
    "transport = 'tcp/reno'\ntraffic = 'bulk'\n",
    "transport = 'tcp/cubic'\ntraffic = 'bulk'\n",
    "transport = 'udp'\ntraffic = 'voice'\n",
    "transport = 'tfrc'\ntraffic = 'bulk'\n",
    "transport = 'tcp/sack'\ntraffic = 'voice'\n",
    "transport = 'rap'\ntraffic = 'bulk'\n",
];

type LinkDrawn = (usize, usize, usize, u32);
type FlowDrawn = (usize, usize, usize, u32);

/// A ring with chords, built from random links and flows.
fn network(
    nodes: usize,
    chords: &[(usize, usize)],
    links: &[LinkDrawn],
    flows: &[FlowDrawn],
    (in_step, warm): (bool, bool),
) -> String {
    let mut text = format!(
        "name = 'random'\npreset = '{}'\nduration = '1 s'\nwarmup = '{} ms'\n",
        if in_step { "ns2" } else { "rfc" },
        if warm { 300 } else { 0 }
    );
    let ring = (0..nodes).map(|node| (node, (node + 1) % nodes));
    let mut known = Vec::new();
    for (from, to) in ring.chain(chords.iter().map(|(a, b)| (a % nodes, b % nodes))) {
        if from == to || known.contains(&(from, to)) || known.contains(&(to, from)) {
            continue;
        }
        let (delay, queue, extra, rate) = links[known.len() % links.len()];
        known.push((from, to));
        text += &format!(
            "[[link]]\nfrom = 'n{from}'\nto = 'n{to}'\nduplex = true\nrate = '{rate} Mb/s'\ndelay = '{}'\nqueue = {}\n{}",
            DELAYS[delay], QUEUES[queue], EXTRAS[extra]
        );
    }
    for (number, &(from, to, kind, start)) in flows.iter().enumerate() {
        let (from, to) = (from % nodes, if from % nodes == to % nodes { (to + 1) % nodes } else { to % nodes });
        text += &format!(
            "[[flow]]\nname = 'f{number}'\nfrom = 'n{from}'\nto = 'n{to}'\nstart = '{start} ms'\n{}",
            FLOWS[kind]
        );
    }
    text
}

/// Links of all kinds, flows of all kinds between any nodes.
#[test]
fn random_networks_give_the_same_results_on_islands() {
    let drawn = (
        3usize..9,
        prop::collection::vec((0usize..9, 0usize..9), 0..4),
        prop::collection::vec((0usize..6, 0usize..5, 0usize..5, 1u32..12), 13),
        prop::collection::vec((0usize..9, 0usize..9, 0usize..6, 0u32..400), 1..14),
        (any::<bool>(), any::<bool>()),
        (2usize..5, 0u64..1000),
    );
    let were_cut = Cell::new(0);
    check_sixty(drawn, |(nodes, chords, links, flows, kinds, (threads, seed))| {
        let text = network(nodes, &chords, &links, &flows, kinds);
        let plan = plan(&text, seed);
        let plain = Run::new(&plan).execute().expect("a run");
        let (cut, islands) = run_on_islands(&plan, threads, None);
        prop_assert!(same(&plain, &cut), "{} islands\n{}", islands, text);
        prop_assert!(prefetching_changes_nothing(&plain, &plan), "with prefetching\n{}", text);
        prop_assert!(switching_changes_nothing(&plain, &plan), "with switches\n{}", text);
        were_cut.set(were_cut.get() + u32::from(islands > 1));
        Ok(())
    });
    assert!(were_cut.get() >= 30, "only {} of 60 could be cut", were_cut.get());
}

const ACCESS: [&str; 8] = [
    "rate = '20 Mb/s'\ndelay = '2 ms'\nqueue = { discipline = 'drop-tail', capacity = { packets = 6 } }\n",
    "rate = '3 Mb/s'\ndelay = '1 us'\n",
    "rate = '50 Mb/s'\ndelay = '0 ms'\n",
    "rate = '20 Mb/s'\ndelay = '3 ms'\nloss = { model = 'bernoulli', rate = 0.02 }\n",
    "rate = '20 Mb/s'\ndelay = '3 ms'\njitter = { model = 'uniform', up-to = '2 ms' }\n",
    "rate = '20 Mb/s'\ndelay = '3 ms'\nqueue = { discipline = 'codel', capacity = { packets = 40 } }\n",
    "rate = '20 Mb/s'\ndelay = '3 ms'\nreorder = { share = 0.1, by = '4 ms' }\nduplicate = { share = 0.05 }\n",
    // Transmission takes no time.
    "rate = '100000 Gb/s'\ndelay = '0 ms'\nqueue = { discipline = 'drop-tail', capacity = { packets = 100 } }\n",
];
const SENDERS: [&str; 6] = [
    "transport = 'tcp/reno'\ntraffic = 'bulk'\n",
    "transport = 'tcp/cubic'\ntraffic = 'bulk'\n",
    "transport = 'tcp/bbr'\ntraffic = 'bulk'\n",
    "transport = { name = 'tcp/reno', receiver-window = 4 }\ntraffic = 'bulk'\nstop = '600 ms'\n",
    "transport = 'tcp/vegas'\ntraffic = 'bulk'\n",
    "transport = 'tcp/sack'\ntraffic = 'voice'\n",
];

/// Flows with separate hosts on both sides of a bottleneck: the run calls their senders ahead of time. Every third flow
/// shares its hosts with a twin, which prevents that. Other flows are rerouted while the bottleneck is down, if it fails,
/// or have a separate link, on which the whole round trip of a packet can be computed at once.
fn separate_hosts(flows: &[(usize, usize, usize, u32)], queue: usize, (in_step, warm): (bool, bool)) -> String {
    let mut text = format!(
        "name = 'own'\npreset = '{}'\nduration = '1500 ms'\nwarmup = '{} ms'\n[[link]]\nfrom = 'left'\nto = 'right'\n\
         duplex = true\nrate = '6 Mb/s'\ndelay = '4 ms'\nqueue = {}\n\
         [[link]]\nfrom = 'left'\nto = 'aside'\nrate = '6 Mb/s'\ndelay = '1 ms'\nduplex = true\n\
         [[link]]\nfrom = 'aside'\nto = 'right'\nrate = '3 Mb/s'\ndelay = '1 ms'\nduplex = true\n",
        if in_step { "ns2" } else { "rfc" },
        if warm { 300 } else { 0 },
        QUEUES[queue]
    );
    let fails = queue.is_multiple_of(2);
    if fails {
        text += "[[event]]\nat = '700 ms'\nlink = 'left<>right'\nstate = 'down'\n\
                 [[event]]\nat = '900 ms'\nlink = 'left<>right'\nstate = 'up'\n";
    }
    for (number, &(from, to, kind, start)) in flows.iter().enumerate() {
        text += &format!(
            "[[link]]\nfrom = 's{number}'\nto = 'left'\nduplex = true\n{}[[link]]\nfrom = 'right'\nto = 'r{number}'\n\
             duplex = true\n{}[[flow]]\nname = 'f{number}'\nfrom = 's{number}'\nto = 'r{number}'\nstart = '{start} ms'\n{}",
            ACCESS[from], ACCESS[to], SENDERS[kind]
        );
        if fails && number % 3 == 1 {
            text += "failover = '20 ms'\n";
        }
        if number % 3 == 0 {
            text += &format!(
                "[[link]]\nfrom = 'a{number}'\nto = 'b{number}'\nduplex = true\n{}[[flow]]\nname = 'l{number}'\n\
                 from = 'a{number}'\nto = 'b{number}'\nstart = '{start} ms'\n{}",
                // Not the last: without any delay, a flow alone would stop the clock.
                ACCESS[to % (ACCESS.len() - 1)],
                SENDERS[kind]
            );
        }
        if number % 3 == 2 {
            text += &format!(
                "[[flow]]\nname = 't{number}'\nfrom = 's{number}'\nto = 'r{number}'\nstart = '{} ms'\n{}",
                start / 2,
                SENDERS[0]
            );
        }
    }
    text
}

/// Random arguments of [`separate_hosts`].
fn drawn_hosts() -> impl Strategy<Value = (Vec<FlowDrawn>, usize, (bool, bool))> {
    let (access, kinds) = (0usize..ACCESS.len(), 0usize..SENDERS.len());
    let flows = prop::collection::vec((access.clone(), access, kinds, 0u32..400), 1..8);
    (flows, 0usize..QUEUES.len(), (any::<bool>(), any::<bool>()))
}

/// A run with a probe calls no sender ahead of time.
#[test]
fn calling_senders_ahead_of_time_does_not_change_results() {
    check_sixty((drawn_hosts(), 2usize..5, 0u64..1000), |((flows, queue, kinds), threads, seed)| {
        let text = separate_hosts(&flows, queue, kinds);
        let plan = plan(&text, seed);
        let observed = Run::new(&plan).probe(&mut Idle).execute().expect("a run");
        prop_assert!(same(&observed, &Run::new(&plan).execute().expect("a run")), "{}", text);
        let (cut, islands) = run_on_islands(&plan, threads, None);
        prop_assert!(same(&observed, &cut), "{} islands\n{}", islands, text);
        prop_assert!(prefetching_changes_nothing(&observed, &plan), "with prefetching\n{}", text);
        prop_assert!(switching_changes_nothing(&observed, &plan), "with switches\n{}", text);
        Ok(())
    });
}

/// If queues and departures are counted per bin, each hop takes separate steps: arrival, wait, transmission, departure. The
/// bins cover the whole run, so a warm-up does not change them.
#[test]
fn one_step_crossings_give_the_results_of_separate_steps() {
    let delays = |result: &RunResult| -> Vec<String> {
        let rows = result.series.iter().filter(|row| row.kind == "queueing_delay_s");
        rows.map(|row| format!("{row:?}")).collect()
    };
    check_sixty((drawn_hosts(), 0u64..1000), |((flows, queue, (in_step, warm)), seed)| {
        let text = separate_hosts(&flows, queue, (in_step, warm));
        let mut binned = plan(&text, seed);
        binned.record.bin = Span::from_millis(50);
        let steps = Run::new(&binned).execute().expect("a run");
        binned.record.queues = (0..binned.links.len()).collect();
        // First the waits alone are counted per bin, then departures as well.
        for series in [vec![], vec![0]] {
            binned.record.series = series;
            let mut parts = Run::new(&binned).execute().expect("a run");
            parts.series.clear();
            prop_assert!(same(&steps, &parts), "{}", text);
        }
        let mut otherwise = plan(&separate_hosts(&flows, queue, (in_step, !warm)), seed);
        otherwise.record = binned.record.clone();
        let found = [&binned, &otherwise].map(|plan| delays(&Run::new(plan).execute().expect("a run")));
        prop_assert!(!found[0].is_empty() && found[0] == found[1], "{}", text);
        Ok(())
    });
}
