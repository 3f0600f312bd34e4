//! Selections of flows: `voice` for a group, `voice[3]`, `voice[0..5]` (index 5 excluded), `*` for all.

use std::ops::Range;

use crate::error::Problem;
use crate::model::Scenario;
use crate::path::Path;
use crate::suggest::{list, nearest};

/// A selection of flows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Selection {
    /// Index of the group. `None` for all groups.
    pub group: Option<usize>,
    /// Indices of the selected flows of each group.
    pub flows: Range<u64>,
}

impl Selection {
    /// Reads a selection. The problem describes the mistake.
    pub fn parse(text: &str, scenario: &Scenario, at: &Path) -> Result<Selection, Box<Problem>> {
        let malformed = || {
            Box::new(
                Problem::new(at.clone(), format!("`{text}` does not say which flows"))
                    .allowed("a group, `group[i]`, `group[i..j]` (without j), or `*`")
                    .help("write for example `[\"voice[0]\"]`"),
            )
        };
        if text == "*" {
            return Ok(Selection { group: None, flows: 0..u64::MAX });
        }
        let (name, range) = match text.split_once('[') {
            None => (text, None),
            Some((name, rest)) => (name, Some(rest.strip_suffix(']').ok_or_else(malformed)?)),
        };
        let groups = || scenario.flows.iter().map(|flow| flow.name.as_str());
        let Some(group) = groups().position(|group| group == name) else {
            let problem =
                Problem::new(at.clone(), format!("there is no group of flows named `{name}`")).allowed(list(groups()));
            return Err(Box::new(match nearest(name, groups()) {
                Some(near) => problem.help(format!("did you mean `{near}`?")),
                None => problem,
            }));
        };
        // The number of arrivals is known only for a given seed.
        let count = scenario.flows.get(group).map_or(0, |flow| match flow.arrivals {
            Some(_) if scenario.count_of(flow) > 0 => u64::MAX,
            _ => scenario.flows_of(flow),
        });
        let flows = match range.map(|range| range.split_once("..").ok_or(range)) {
            None => 0..count,
            Some(Err(index)) => {
                let index: u64 = index.parse().map_err(|_| malformed())?;
                index..index.saturating_add(1)
            }
            Some(Ok((from, to))) => from.parse().map_err(|_| malformed())?..to.parse().map_err(|_| malformed())?,
        };
        // A sweep may set a group to 0 flows. Then any selection of it is empty, also by index.
        if count == 0 {
            return Ok(Selection { group: Some(group), flows: 0..0 });
        }
        if flows.end > count {
            let problem = Problem::new(at.clone(), format!("`{text}`: group `{name}` has {count} flows"));
            return Err(Box::new(problem.allowed(format!("`{name}[0]` to `{name}[{}]`", count - 1))));
        }
        Ok(Selection { group: Some(group), flows })
    }

    /// Number of selected flows among `all`.
    pub fn count(&self, all: u64) -> u64 {
        self.flows.end.saturating_sub(self.flows.start).min(all)
    }

    /// True if flow `index` of `group` is selected.
    pub fn contains(&self, group: usize, index: u64) -> bool {
        self.group.is_none_or(|own| own == group) && self.flows.contains(&index)
    }
}
