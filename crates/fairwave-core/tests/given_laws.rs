//! Laws that a program creates at run time: scenarios use them by name, and a later law replaces an earlier one of the same name.

use std::sync::Arc;

use fairwave_core::config::ConfigError;
use fairwave_core::loss::{self, AnyLossLaw, LossConfig, LossModel};
use fairwave_core::packet::{Body, Class, Ecn, FlowId, Packet};
use fairwave_core::queue::{self, AnyDisciplineLaw, Capacity, Discipline, DisciplineConfig, Nature, QueueConfig};
use fairwave_core::random::{Seed, Stream};
use fairwave_core::registry::{Checked, RuntimeLaw};
use fairwave_core::transport::preset::Preset;
use fairwave_core::transport::tcp::Recovery;
use fairwave_core::transport::tcp::control::{self, AnyControlLaw, Controller, Path, Verdict, Window};
use fairwave_core::transport::{Properties, TransportConfig};
use fairwave_core::units::{Instant, Rate, Span};
use serde_json::{Map, Value, json};

/// Loses every packet, or none.
struct AllOrNone(bool);

impl Checked for AllOrNone {}

impl LossModel for AllOrNone {
    fn lost(&mut self, _now: Instant, _packet: &Packet) -> bool {
        self.0
    }
}

impl AnyLossLaw for AllOrNone {
    fn model(&self, _stream: Stream) -> Result<Box<dyn LossModel>, ConfigError> {
        Ok(Box::new(AllOrNone(self.0)))
    }
    fn cycle(&self) -> Option<Span> {
        None
    }
}

fn all(name: &str, lost: bool) -> RuntimeLaw<dyn AnyLossLaw> {
    let read = move |table: Map<String, Value>| match table.keys().next() {
        Some(key) => Err(serde::de::Error::custom(format!("unknown field `{key}`, there are no fields"))),
        None => Ok((table, Arc::new(AllOrNone(lost)) as Arc<dyn AnyLossLaw>)),
    };
    RuntimeLaw::new(
        name.to_owned(),
        read,
        |_| schemars::json_schema!({ "type": "object", "description": "All or none." }),
    )
}

fn loses(config: &LossConfig) -> bool {
    let body = Body::Datagram { payload: 1, sequence: 0, unit: 0, part: 0, parts: 1, created: Instant::ZERO };
    let packet = Packet {
        flow: FlowId(0),
        wire: 1,
        class: Class::OtherUdp,
        dscp: Default::default(),
        feedback: false,
        ecn: Ecn::NotEct,
        layer: 0,
        body,
    };
    let mut model = loss::Loss::new(config, Seed(1).stream("loss")).expect("a model");
    model.lost(Instant::ZERO, &packet)
}

fn read(value: Value) -> Result<LossConfig, serde_json::Error> {
    serde_json::from_value(value)
}

#[test]
fn a_law_that_was_given_is_named_like_any_other_and_another_takes_its_place() {
    loss::register_runtime(all("all-or-none", true)).expect("a name that is free");
    let before = read(json!("all-or-none")).expect("a model");
    assert!(loses(&before));
    loss::register_runtime(all("all-or-none", false)).expect("one's own name");
    assert!(!loses(&read(json!({ "model": "all-or-none" })).expect("a model")));
    assert!(loses(&before), "what was read stays what it was");
    assert_eq!(LossConfig::names().iter().filter(|name| *name == "all-or-none").count(), 1);
    let error = read(json!({ "model": "all-or-none", "rate": 1 })).expect_err("a key that it has not");
    assert_eq!(error.to_string(), "unknown field `rate`, there are no fields");
}

#[test]
fn a_built_in_law_keeps_its_name() {
    let refused = loss::register_runtime(all("bernoulli", true)).expect_err("taken");
    assert_eq!(refused.to_string(), "there is a loss model named `bernoulli` already; give yours another name");
    assert!(read(json!({ "model": "bernoulli", "rate": 0.0 })).is_ok());
}

/// Adds a fixed number of segments with each acknowledgement.
#[derive(Clone, Copy)]
struct AddingController(f64);

impl Checked for AddingController {
    fn check(&self) -> Result<(), ConfigError> {
        fairwave_core::config::check_between("adds", self.0, 0.0, 10.0, "adds = 1.0")
    }
}

impl Controller for AddingController {
    fn on_ack(&mut self, _path: &Path, window: &mut Window) {
        window.congestion += self.0;
    }
    fn on_loss(&mut self, _path: &Path, _window: &mut Window) -> Verdict {
        Verdict::Random
    }
    fn on_timeout(&mut self, _path: &Path, _window: &mut Window) -> Verdict {
        Verdict::Congestion
    }
}

impl AnyControlLaw for AddingController {
    fn recovery(&self) -> Recovery {
        Recovery::Newreno
    }
    fn waves(&self) -> bool {
        false
    }
    fn controller(&self, _preset: Preset, _stream: Stream) -> Box<dyn Controller> {
        Box::new(*self)
    }
    fn shown(&self) -> Option<String> {
        Some(self.0.to_string())
    }
}

fn adds() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let read = |table: Map<String, Value>| {
            if let Some(key) = table.keys().find(|key| *key != "adds") {
                return Err(serde::de::Error::custom(format!("unknown field `{key}`, expected `adds`")));
            }
            let law = AddingController(table.get("adds").and_then(Value::as_f64).unwrap_or(1.0));
            let table = Map::from_iter([("adds".to_owned(), Value::from(law.0))]);
            Ok((table, Arc::new(law) as Arc<dyn AnyControlLaw>))
        };
        let schema = |_: &mut schemars::SchemaGenerator| {
            schemars::json_schema!({
                "type": "object", "description": "Adds.", "properties": { "adds": { "type": "number" } },
            })
        };
        control::register_runtime(RuntimeLaw::new("tcp/adds".to_owned(), read, schema)).expect("a name that is free");
    });
}

fn transport(value: Value) -> Result<TransportConfig, serde_json::Error> {
    adds();
    serde_json::from_value(value)
}

#[test]
fn a_controller_that_was_given_stands_beside_the_keys_of_its_connection() {
    let config = transport(json!({ "name": "tcp/adds", "adds": 2.0, "receiver-window": 20 })).expect("a transport");
    assert!(config.check().is_ok());
    assert_eq!(config.label(), "tcp/adds(2)");
    let parameters = config.tcp().expect("a TCP");
    assert_eq!((parameters.receiver_window, parameters.recovery), (20, Recovery::Newreno));
    let written = serde_json::to_value(&config).expect("a table");
    assert_eq!(written, json!({ "name": "tcp/adds", "adds": 2.0, "receiver-window": 20 }));
    let schema = schemars::schema_for!(TransportConfig).to_value().to_string();
    assert!(schema.contains("\"const\":\"tcp/adds\"") && schema.contains("\"adds\":{\"type\":\"number\"}"));
}

#[test]
fn mistakes_in_its_table_are_told_as_those_of_built_in_ones() {
    let refused = |value: Value| transport(value).expect_err("a mistake").to_string();
    assert!(
        refused(json!({ "name": "tcp/adds", "ads": 1 })).starts_with("unknown field `ads`, expected one of `adds`, ")
    );
    let message = refused(json!({ "name": "tcp/adds", "beta": 0.5 }));
    assert!(message.contains("left out with tcp/adds (it belongs to ") && message.contains("tcp/aimd"), "{message}");
    let error =
        transport(json!({ "name": "tcp/adds", "adds": 11.0 })).expect("of form").check().expect_err("out of range");
    assert_eq!(error.key, "adds");
    let error =
        transport(json!({ "name": "tcp/adds", "segment": "0 B" })).expect("of form").check().expect_err("too small");
    assert_eq!(error.key, "segment");
}

/// A queue whose only law is its capacity.
struct CapacityOnly;

impl Checked for CapacityOnly {}

impl Discipline for CapacityOnly {}

impl AnyDisciplineLaw for CapacityOnly {
    fn nature(&self) -> Nature {
        Nature::FIFO
    }
    fn caution(&self) -> Option<String> {
        Some("it has no law".to_owned())
    }
    fn discipline(&self, _capacity: Capacity, _rate: Rate) -> Box<dyn Discipline> {
        Box::new(CapacityOnly)
    }
}

#[test]
fn a_discipline_that_was_given_is_named_like_any_other() {
    let read = |table: Map<String, Value>| Ok((table, Arc::new(CapacityOnly) as Arc<dyn AnyDisciplineLaw>));
    let plain = || RuntimeLaw::new("plain".to_owned(), read, |_| schemars::json_schema!({ "type": "object" }));
    queue::register_runtime(plain()).expect("a name that is free");
    let config: QueueConfig =
        serde_json::from_value(json!({ "discipline": "plain", "capacity": { "packets": 3 } })).expect("a queue");
    assert_eq!((config.discipline.name(), config.check()), ("plain", Ok(())));
    assert_eq!(config.discipline.caution().as_deref(), Some("it has no law"));
    assert!(DisciplineConfig::names().contains(&"plain".to_owned()));
    let red = RuntimeLaw::new("red".to_owned(), read, |_| schemars::json_schema!({ "type": "object" }));
    assert_eq!(queue::register_runtime(red).expect_err("a built-in law").name, "red");
}
