//! A run driven by another clock equals the simulator's run: the same packets leave at the same times, whenever its
//! driver polls it.

use fairwave_core::packet::{FlowId, Packet};
use fairwave_core::random::Seed;
use fairwave_core::units::{Instant, Span};
use fairwave_scenario::Scenario;
use fairwave_scenario::plan::{HostsPlan, Plan};
use fairwave_sim::border::Border;
use fairwave_sim::{Run, RunResult, SteppedRun};
use proptest::prelude::*;

/// Sockets and devices without delay.
#[derive(Default)]
struct Wires {
    sent: Vec<(Packet, Instant)>,
    delivered: Vec<(Packet, Instant)>,
    gone: u64,
}

impl Border for Wires {
    const THERE: bool = true;
    fn send(&mut self, packet: &Packet, at: Instant) {
        self.sent.push((*packet, at));
    }
    fn deliver(&mut self, packet: &Packet, at: Instant) {
        self.delivered.push((*packet, at));
    }
    fn gone(&mut self, packet: &Packet, _congestion: bool) -> Packet {
        self.gone += 1;
        *packet
    }
}

fn plan(queue: &str, transport: &str) -> Plan {
    let text = format!(
        r#"
        name = "stepped"
        duration = "6 s"
        warmup = "1 s"
        [[link]]
        from = "a"
        to = "r"
        rate = "10 Mb/s"
        delay = "1.3 ms"
        [[link]]
        from = "c"
        to = "r"
        rate = "10 Mb/s"
        delay = "2.1 ms"
        [[link]]
        from = "r"
        to = "b"
        rate = "700 kb/s"
        delay = "10.7 ms"
        queue = {queue}
        loss = {{ model = "bernoulli", rate = 0.01 }}
        [[flow]]
        name = "voice"
        count = 3
        from = "a"
        to = "b"
        transport = "udp"
        traffic = {{ kind = "voice", codec = "g711" }}
        start = {{ from = "0 s", to = "1 s" }}
        [[flow]]
        name = "data"
        from = "c"
        to = "b"
        transport = "{transport}"
        traffic = "bulk"
        start = "137 ms"
        "#
    );
    let plan = Scenario::from_text(&text, "-").and_then(|scenario| scenario.plan(Seed(3))).expect("a plan");
    // Real hosts have real delays, so the run draws none.
    Plan { hosts: HostsPlan::default(), ..plan }
}

/// Drives a run that polls the clock every `tick`, or at the next event if that is earlier.
fn driven(plan: &Plan, tick: Span) -> (RunResult, u64) {
    let mut run = SteppedRun::new(plan, Wires::default()).expect("a run");
    let end = Instant::ZERO + plan.duration;
    let mut now = Instant::ZERO;
    loop {
        run.advance(now).expect("in order");
        loop {
            let (sent, delivered) =
                (std::mem::take(&mut run.border().sent), std::mem::take(&mut run.border().delivered));
            if sent.is_empty() && delivered.is_empty() {
                break;
            }
            delivered.iter().for_each(|(packet, at)| run.arrive(packet, *at).expect("in order"));
            sent.iter().for_each(|(packet, at)| assert!(run.enter(packet, *at).expect("in order")));
        }
        if now == end {
            let (result, wires) = run.finish(plan).expect("closed books");
            return (result, wires.gone);
        }
        now = run.next().max(now + Span::from_nanos(1)).min(now + tick).min(end);
    }
}

#[test]
fn a_stepped_run_gives_the_results_of_the_simulator() {
    for (queue, transport) in [
        (r#"{ discipline = "drop-tail", capacity = { packets = 20 } }"#, "tcp/sack"),
        (r#"{ discipline = "codel", capacity = { packets = 60 } }"#, "tcp/cubic"),
        (r#"{ discipline = "fq-codel", capacity = { packets = 60 } }"#, "tfrc"),
    ] {
        let plan = plan(queue, transport);
        let simulated = Run::new(&plan).execute().expect("a run");
        let (stepped, gone) = driven(&plan, Span::from_millis(3));
        assert_eq!(format!("{:?}", simulated.flows), format!("{:?}", stepped.flows), "{queue}, {transport}");
        assert_eq!(format!("{:?}", simulated.links), format!("{:?}", stepped.links), "{queue}, {transport}");
        assert!(gone > 20, "{gone} dropped or lost: too few to have shown anything");
    }
}

#[test]
fn a_flow_that_takes_anothers_routes_is_counted_on_them() {
    let plan = plan(r#"{ discipline = "fq-codel", capacity = { packets = 60 } }"#, "tcp/sack");
    let (voice, data) = (0, 3);
    let taken = {
        let mut taken = plan.clone();
        taken.flows[data] = taken.flows[voice].clone();
        taken
    };
    let mut run = SteppedRun::new(&plan, Wires::default()).expect("a run");
    run.reroute(data, voice);
    let at = Instant::from_seconds(2.0);
    run.advance(at).expect("in order");
    let (packet, _) = *run.border().sent.iter().find(|(packet, _)| packet.flow.0 < 3).expect("a packet");
    let packet = Packet { flow: FlowId(data as u32), ..packet };
    assert!(run.enter(&packet, at).expect("in order"));
    // The accounting of the nodes balances only if the packet took the planned route.
    let (result, ..) = run.finish(&taken).expect("closed books");
    assert_eq!(result.flows.iter().map(|row| &*row.group).collect::<Vec<_>>(), ["voice"; 4]);
    assert_eq!(result.flows[data].packets_sent, 1);
    let from_c = result.links.iter().find(|row| &*row.link == "c>r").expect("a link");
    assert_eq!(from_c.departures, 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn the_number_of_steps_does_not_change_results(micros in 50u64..400_000) {
        let plan = plan(r#"{ discipline = "pie", capacity = { packets = 60 } }"#, "tcp/sack");
        let (stepped, _) = driven(&plan, Span::from_micros(micros));
        prop_assert_eq!(format!("{:?}", Run::new(&plan).execute().expect("a run").flows), format!("{:?}", stepped.flows));
    }
}
