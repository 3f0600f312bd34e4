//! Each mark is counted once: by the queue that set it, by class, and by the flow that receives it.

use crate::support::{Dumbbell, config, q};
use fairwave_core::loss::BernoulliConfig;
use fairwave_core::packet::{Class, Ecn, Packet};
use fairwave_core::queue::{Buffer, Capacity, Discipline, DisciplineLaw, DropReason, register};
use fairwave_core::registry::{Checked, Law};
use fairwave_core::units::{Instant, Rate, Span};
use fairwave_sim::{LinkRow, Run, RunResult};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Marks every seventh packet that leaves, even without ECN support: no transport in these tests supports marks.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct EverySeventhConfig {}

impl Checked for EverySeventhConfig {}

impl Law for EverySeventhConfig {
    const NAME: &'static str = "every-seventh";
}

impl DisciplineLaw for EverySeventhConfig {
    type Discipline = EverySeventh;

    fn marks(&self) -> bool {
        true
    }

    fn discipline(&self, _capacity: Capacity, _rate: Rate) -> EverySeventh {
        EverySeventh(0)
    }
}

struct EverySeventh(u32);

impl Discipline for EverySeventh {
    fn depart(&mut self, _now: Instant, buffer: &mut Buffer, _drops: &mut Vec<(Packet, DropReason)>) -> Option<Packet> {
        let (mut packet, _) = buffer.pop_front()?;
        self.0 += 1;
        if self.0.is_multiple_of(7) {
            packet.ecn = Ecn::Ce;
        }
        Some(packet)
    }
}

/// A call of 100 packets per second and half as many others, for 20 s with 10 s of warm-up.
fn marked(queue: &str, loss: f64) -> RunResult {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| register::<EverySeventhConfig>().expect("a free name"));
    let dumbbell = Dumbbell {
        bottleneck: q("500 kb/s"),
        queue: config(queue),
        loss: BernoulliConfig { rate: loss }.into(),
        duration: q("20 s"),
        ..Dumbbell::default()
    };
    let start = |ms| Instant::ZERO + Span::from_millis(ms);
    let udp = r#"{ "name": "udp" }"#;
    let mut plan = dumbbell.plan(
        1,
        vec![
            (config(r#"{ "kind": "voice", "packet-time": "10 ms", "always-on": true }"#), config(udp), start(0)),
            (config(r#"{ "kind": "cbr", "rate": "80 kb/s", "payload": "200 B" }"#), config(udp), start(3)),
        ],
    );
    plan.flows[0].class = Class::Voice;
    plan.flows[1].class = Class::OtherUdp;
    plan.warmup = Span::from_secs(10);
    Run::new(&plan).execute().expect("a run that keeps its books")
}

fn link<'a>(result: &'a RunResult, name: &str) -> &'a LinkRow {
    result.links.iter().find(|row| &*row.link == name).expect("a link")
}

#[test]
fn marks_are_counted_at_the_link_by_class_and_at_the_receiver() {
    let result = marked(r#"{ "discipline": "every-seventh", "capacity": { "packets": 40 } }"#, 0.0);
    let bottleneck = link(&result, "r1>r2");
    assert_eq!(bottleneck.marked, bottleneck.departures / 7, "{bottleneck:?}");
    let of = |class: &str| {
        result.classes.iter().find(|row| row.link == "r1>r2" && row.class == class).expect("a row").marked
    };
    assert!(of("voice") > 100 && of("other-udp") > 50, "{} {}", of("voice"), of("other-udp"));
    assert_eq!(of("voice") + of("other-udp") + of("tcp"), bottleneck.marked);
    for (flow, class) in result.flows.iter().zip(["voice", "other-udp"]) {
        assert!(flow.marked.abs_diff(of(class)) <= 1, "{} of {} arrive", flow.marked, of(class));
    }
    assert!(result.links.iter().filter(|row| &*row.link != "r1>r2").all(|row| row.marked == 0), "nobody else marks");
}

#[test]
fn a_mark_that_the_wire_loses_was_given_but_does_not_arrive() {
    let result = marked(r#"{ "discipline": "every-seventh", "capacity": { "packets": 40 } }"#, 0.5);
    let (given, arrived) = (link(&result, "r1>r2").marked, result.flows.iter().map(|flow| flow.marked).sum::<u64>());
    assert!(given > 200 && arrived * 10 < given * 6 && arrived * 10 > given * 4, "{given} {arrived}");
}

#[test]
fn packets_are_not_marked_if_their_transports_do_not_support_marks() {
    let result = marked(r#"{ "discipline": "codel", "capacity": { "packets": 40 }, "ecn": true }"#, 0.0);
    assert!(result.links.iter().all(|row| row.marked == 0) && result.flows.iter().all(|row| row.marked == 0));
}
