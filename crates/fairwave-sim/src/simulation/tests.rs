//! The packet accounting balances, detects forged counters, and holds for partitioned runs.

use fairwave_core::random::Seed;
use fairwave_scenario::Scenario;

use super::*;
use crate::link::Link;
use crate::parts::PARTS;
use crate::run::Run;

const CONTESTED: &str = r#"
name = "contested"
duration = "3 s"
[topology]
preset = "dumbbell"
bottleneck = { rate = "5 Mb/s", delay = "10 ms", queue = { discipline = "drop-tail", capacity = { packets = 20 } } }
access = { rate = "20 Mb/s", delay = "2 ms" }
[[flow]]
name = "data"
count = 12
transport = "tcp/sack"
traffic = "bulk"
[[flow]]
name = "voice"
count = 4
transport = "udp"
traffic = "voice"
"#;

#[test]
fn a_run_in_parts_leaves_what_one_at_once_leaves() {
    for warmup in ["", "warmup = \"1 s\"\n"] {
        let text = CONTESTED.replace("[topology]", &format!("{warmup}[topology]"));
        let plan = Scenario::from_text(&text, "contested.toml").expect("a scenario").plan(Seed(3)).expect("a plan");
        let parts = std::cell::Cell::new(0);
        let part = |work: &mut dyn FnMut()| {
            parts.set(parts.get() + 1);
            work();
            true
        };
        let digest = Run::new(&plan).parts(&part).execute().expect("a run").digest().expect("a digest");
        assert_eq!(digest, Run::new(&plan).execute().expect("a run").digest().expect("a digest"));
        assert!((PARTS..PARTS + 4).contains(&parts.get()), "{}", parts.get());
    }
}

#[test]
fn a_run_that_is_no_longer_wanted_ends_with_its_part() {
    let plan = Scenario::from_text(CONTESTED, "contested.toml").expect("a scenario").plan(Seed(3)).expect("a plan");
    let parts = std::cell::Cell::new(0);
    let part = |work: &mut dyn FnMut()| {
        parts.set(parts.get() + 1);
        work();
        parts.get() < 10
    };
    assert!(matches!(Run::new(&plan).parts(&part).execute(), Err(RunError::Stopped)));
    assert_eq!(parts.get(), 10);
    assert!(
        matches!(Run::new(&plan).parts(&|_| true).execute(), Err(RunError::Stopped)),
        "work that is not done is not left out"
    );
}

/// Overloaded queues of both kinds, a lossy wire, traffic in both directions, and an end with packets in transit.
const BUSY: &str = r#"
name = "busy"
duration = "2 s"
[topology]
preset = "dumbbell"
bottleneck = { rate = "600 kb/s", delay = "40 ms", loss = { model = "bernoulli", rate = 0.02 }, queue = QUEUE }
[[flow]]
name = "data"
count = 3
transport = "tcp/sack"
traffic = "bulk"
[[flow]]
name = "back"
path = "reverse"
transport = "tcp/reno"
traffic = "bulk"
[[flow]]
name = "flood"
transport = "udp"
traffic = { kind = "cbr", rate = "500 kb/s" }
"#;
const FIFO: &str = r#"{ discipline = "drop-tail", capacity = { packets = 10 } }"#;
const MANAGED: &str = r#"{ discipline = "red", capacity = { packets = 10 }, victim = "front" }"#;

/// A finished run with unchecked packet accounting.
type Ended<'p> = Simulation<'p, (), ()>;

/// Returns the verdict of the packet accounting for a busy run after `forge` has changed the run.
fn verdict(queue: &str, forge: impl FnOnce(&mut Ended<'_>)) -> Result<(), RunError> {
    let text = BUSY.replace("QUEUE", queue);
    let plan = Scenario::from_text(&text, "busy.toml").expect("a scenario").plan(Seed(3)).expect("a plan");
    let mut simulation = Simulation::new(Cow::Borrowed(&plan), (), ()).expect("a simulation");
    simulation.run_until_end(None).expect("a run");
    forge(&mut simulation);
    simulation.empty_queues()?;
    simulation.into_books().0.check()
}

fn bottleneck<'a>(books: &'a mut Ended<'_>) -> &'a mut Link {
    let place = books.plan.links.iter().position(|link| &*link.name == "r1>r2").expect("the bottleneck");
    &mut books.network.links.items[place]
}

#[test]
fn the_books_of_a_run_balance_with_packets_in_every_place_where_one_can_be() {
    for queue in [FIFO, MANAGED] {
        let whole = verdict(queue, |books| {
            let end = books.window.end;
            let link = bottleneck(books);
            assert!(link.waiting_at(end) > 0 && link.free > end, "some wait, one is being transmitted");
            assert!(
                link.measure.on_wire > 0 && link.measure.missing().lost > 0 && link.measure.missing().dropped() > 0
            );
        });
        assert_eq!(whole, Ok(()), "{queue}");
    }
}

#[test]
fn a_counter_that_is_off_by_one_is_caught_and_named() {
    type Forge = fn(&mut Ended<'_>);
    let forgeries: [(&str, &str, Forge); 13] = [
        ("link `r1>r2`", "per link", |books| bottleneck(books).measure.steady.arrivals += 1),
        ("link `r1>r2`", "per link", |books| bottleneck(books).measure.steady.departures -= 1),
        ("link `r1>r2`", "per link", |books| bottleneck(books).measure.missing_mut().overflow += 1),
        ("link `r1>r2`", "per link", |books| {
            let end = books.window.end;
            bottleneck(books).free = end;
        }),
        ("link `r1>r2`", "per link", |books| bottleneck(books).measure.on_wire += 1 << 30),
        ("node `r2`", "per node", |books| bottleneck(books).measure.missing_mut().lost += 1),
        ("node `r2`", "per node", |books| bottleneck(books).measure.on_wire -= 1),
        ("the data of `data[1]`", "per flow", |books| books.sending[1].packets_sent += 1),
        ("the data of `data[1]`", "per flow", |books| books.receiving[1].measure.packets_arrived -= 1),
        ("the data of `data[2]`", "per flow", |books| books.receiving[2].measure.lost += 1),
        ("the data of `flood[0]`", "per flow", |books| books.under_way[4] = Default::default()),
        ("the feedback of `back[0]`", "per flow", |books| books.sending[3].feedback_arrived += 1),
        ("the feedback of `back[0]`", "per flow", |books| books.receiving[3].measure.feedback_missing += 1),
    ];
    for queue in [FIFO, MANAGED] {
        for (number, (at, kind, forge)) in forgeries.into_iter().enumerate() {
            match verdict(queue, forge) {
                Err(RunError::Invariant { law, place, found }) => {
                    assert!(place == at && law.contains(kind), "{queue} {number}: {law} at {place}: {found}");
                    assert!(found.contains(|c: char| c.is_ascii_digit()), "{found}");
                }
                other => panic!("{queue} {number} at {at}: {other:?}"),
            }
        }
    }
}

#[test]
fn one_packet_too_many_for_one_flow_and_too_few_for_another_is_caught() {
    let swapped = verdict(FIFO, |books| {
        books.sending[0].packets_sent += 1;
        books.sending[1].packets_sent -= 1;
    });
    assert!(matches!(swapped, Err(RunError::Invariant { place, .. }) if place == "the data of `data[0]`"));
}

/// With many flows, links take a large part of the memory. A custom law may need more.
#[test]
fn a_link_takes_two_cache_lines() {
    assert_eq!(size_of::<Link>(), 128);
}
