//! Timed events: changes to the network or to flows during a run.
//!
//! An event is shorthand for keys of a link or a flow: a schedule of rate, delay or loss, outages, `start` and `stop`.
//! The plan merges link events into the directions, and flow events into start and stop times.

use fairwave_core::loss::LossConfig;
use fairwave_core::units::{Rate, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::law::LawTable;

/// Changes a link (`link` with `rate`, `delay`, `loss` or `state`) or flows (`flow` with `state`) at a known time.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Event {
    /// Name of the event in figures and overrides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Time of the event, counted from the beginning of the run; before its end.
    pub at: Span,
    /// The link direction that the event changes, `r1>r2`, or both directions, `r1<>r2`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// The flows that the event changes: `voice` for a group, `voice[3]`, `voice[0..5]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<String>,
    /// The link's rate from then on; `0 b/s` pauses the link: a packet in transmission waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// The link's delay from then on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<Span>,
    /// How the link loses packets from then on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<LawTable<LossConfig>>,
    /// A link fails (`down`) or comes back (`up`); flows begin (`on`) or end (`off`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<State>,
}

/// The change of a link or of flows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// The link fails: it loses packets that wait, that it is transmitting, or that arrive.
    Down,
    /// The link comes back, with an empty queue.
    Up,
    /// The flows begin.
    On,
    /// The flows end.
    Off,
}

impl State {
    pub(crate) fn word(self) -> &'static str {
        match self {
            State::Down => "down",
            State::Up => "up",
            State::On => "on",
            State::Off => "off",
        }
    }
}

impl Event {
    /// Describes the change in words.
    pub(crate) fn words(&self) -> String {
        let mut parts = Vec::new();
        parts.extend(self.rate.map(|rate| rate.to_string()));
        parts.extend(self.delay.map(|delay| format!("delay {delay}")));
        parts.extend(self.loss.as_ref().map(|loss| format!("loss {}", loss.name())));
        parts.extend(self.state.map(|state| state.word().to_owned()));
        let whom = self.link.as_deref().or(self.flow.as_deref()).unwrap_or_default();
        format!("{whom} {}", parts.join(", "))
    }

    /// Returns the event with all parameters of its loss model.
    pub(crate) fn spelled_out(&self) -> Event {
        Event { loss: self.loss.as_ref().map(LawTable::spelled_out), ..self.clone() }
    }
}

/// Both ends of an event's link, and whether the event covers both directions.
pub(crate) fn ends(link: &str) -> Option<(&str, &str, bool)> {
    let (from, to, both) = match link.split_once("<>") {
        Some((from, to)) => (from, to, true),
        None => link.split_once('>').map(|(from, to)| (from, to, false))?,
    };
    (!from.is_empty() && !to.is_empty() && !to.contains('>')).then_some((from, to, both))
}
