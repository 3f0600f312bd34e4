//! Stacks that panic or never wait: the run ends with the name of the stack and the time.

use std::marker::PhantomData;

use fairwave_core::config::ConfigError;
use fairwave_core::random::{Seed, Stream};
use fairwave_core::registry::{Checked, Law};
use fairwave_core::transport::{FlowContext, PacketSize, Properties, TransportLaw, register, udp::UdpConfig};
use fairwave_core::units::{Instant, Span};
use fairwave_scenario::Scenario;
use fairwave_sim::{RunError, RunResult};
use fairwave_stacks::{Action, Event, Stack, StackEnd, pair};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Runs a voice call over `transport` for 10 s, on a link with the additional keys `link`.
pub fn run(transport: &str, link: &str) -> Result<RunResult, RunError> {
    let text = format!(
        "name = \"t\"\nduration = \"10 s\"\n[[link]]\nfrom = \"a\"\nto = \"b\"\nrate = \"5 Mb/s\"\ndelay = \"10 ms\"\n{link}\n\
         [[flow]]\nname = \"x\"\nfrom = \"a\"\nto = \"b\"\ntransport = \"{transport}\"\ntraffic = \"voice\"\n"
    );
    let scenario = Scenario::from_toml(&text, "t.toml").unwrap_or_else(|error| panic!("{error}"));
    fairwave_sim::Run::new(&scenario.plan(Seed(1)).unwrap_or_else(|error| panic!("{error}"))).execute()
}

/// Behaviour of a defective stack.
pub trait Defect: Clone + PartialEq + std::fmt::Debug + Send + Sync + Default + 'static {
    const NAME: &'static str;

    fn show(now: Instant) -> Action;
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Defective<D> {
    #[serde(skip)]
    defect: PhantomData<D>,
}

impl<D> Default for Defective<D> {
    fn default() -> Self {
        Defective { defect: PhantomData }
    }
}

impl<D: Defect> Checked for Defective<D> {
    fn check(&self) -> Result<(), ConfigError> {
        Ok(())
    }
}

impl<D: Defect + JsonSchema> Law for Defective<D> {
    const NAME: &'static str = D::NAME;
}

impl<D> Properties for Defective<D> {
    fn packet(&self, bulk: bool) -> PacketSize {
        UdpConfig::default().packet(bulk)
    }
}

impl<D: Defect + JsonSchema> TransportLaw for Defective<D> {
    type Sender = StackEnd<Peer<D>>;
    type Receiver = StackEnd<Peer<D>>;

    fn endpoints(&self, flow: FlowContext, _: Stream) -> Result<(Self::Sender, Self::Receiver), ConfigError> {
        Ok(pair(flow, Peer(PhantomData), Peer(PhantomData)))
    }
}

pub struct Peer<D>(PhantomData<D>);

impl<D: Defect> Stack for Peer<D> {
    const NAME: &'static str = D::NAME;

    fn handle(&mut self, _: Instant, _: Event<'_>) {}

    fn poll(&mut self, now: Instant) -> Action {
        D::show(now)
    }
}

const SHOWS: Instant = Instant::from_nanos(3_000_000_000);

#[derive(Clone, PartialEq, Debug, Default, JsonSchema)]
pub struct Panics;

impl Defect for Panics {
    const NAME: &'static str = "panics";

    fn show(now: Instant) -> Action {
        assert!(now < SHOWS, "index 7 is out of bounds");
        Action::Wait(Instant::NEVER)
    }
}

#[derive(Clone, PartialEq, Debug, Default, JsonSchema)]
pub struct Spins;

impl Defect for Spins {
    const NAME: &'static str = "spins";

    fn show(now: Instant) -> Action {
        Action::Wait(if now < SHOWS { now + Span::from_millis(1) } else { now })
    }
}

fn failure<D: Defect + JsonSchema>() -> RunError {
    let _ = register::<Defective<D>>();
    run(D::NAME, "").expect_err("a failure")
}

#[test]
fn a_stack_that_panics_ends_the_run_with_its_name_and_the_time() {
    let error = failure::<Panics>();
    let RunError::Stack { flow, stack, at, reason } = &error else { panic!("{error}") };
    assert_eq!((flow.as_str(), *stack), ("x[0]", "panics"));
    assert!((3.0..3.02).contains(&at.seconds()), "{at}");
    assert_eq!(reason, "it panicked: index 7 is out of bounds");
    assert!(error.to_string().starts_with("flow `x[0]`: panics failed at 3"), "{error}");
}

#[test]
fn a_stack_that_never_waits_ends_the_run_with_its_name_and_the_time() {
    let error = failure::<Spins>();
    assert!(
        matches!(&error, RunError::Stack { stack: "spins", at, .. } if (3.0..3.002).contains(&at.seconds())),
        "{error}"
    );
    assert!(error.to_string().contains("polled 100000 times at one moment"), "{error}");
}

#[test]
fn the_runs_beside_one_that_fails_keep_their_results() {
    let _ = register::<Defective<Panics>>();
    assert!(run("panics", "").is_err());
    assert!(run("udp", "").is_ok());
}
