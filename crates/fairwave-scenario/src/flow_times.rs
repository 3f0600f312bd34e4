//! Start and stop times of flows that events set.

use fairwave_core::units::{Instant, Span};

use crate::events::State;
use crate::model::Scenario;
use crate::path::Path;
use crate::select::Selection;

/// Start and stop times from events: the event's index, the flows, the change and its time.
pub(crate) struct FlowTimes(pub Vec<(usize, Selection, State, Span)>);

impl FlowTimes {
    /// Collects the times from a scenario's events. Skips events that cannot be read.
    pub fn from_events(scenario: &Scenario) -> Self {
        let each = scenario.events.iter().enumerate().filter_map(|(index, event)| {
            let selection = Selection::parse(event.flow.as_deref()?, scenario, &Path::default()).ok()?;
            Some((index, selection, event.state?, event.at))
        });
        FlowTimes(each.filter(|(_, _, state, _)| matches!(state, State::On | State::Off)).collect())
    }

    /// The time at which an event starts, or stops, flow `index` of `group`.
    pub fn time(&self, state: State, group: usize, index: u64) -> Option<Instant> {
        let found =
            self.0.iter().find(|(_, selection, which, _)| *which == state && selection.contains(group, index))?;
        Some(Instant::ZERO + found.3)
    }
}
