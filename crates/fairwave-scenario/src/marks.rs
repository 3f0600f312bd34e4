//! Marks in figures over time: events and changes of links.

use fairwave_core::link::{RateConfig, ScheduleConfig};
use fairwave_core::loss::{LossConfig, LossScheduleConfig};
use fairwave_core::units::{Instant, Span};

use crate::events::{Event, ends};
use crate::model::Scenario;
use crate::plan::{LinkPlan, Mark};

/// Maximum number of marks for link changes that are not events. If there are more, figures mark none of them.
const MOST_MARKS: usize = 24;

fn mark(event: &Event) -> Mark {
    let label = event.name.clone().unwrap_or_else(|| event.words());
    Mark { at: Instant::ZERO + event.at, label }
}

/// Marks in figures: named events, and changes of single links as long as there are few.
pub(crate) fn marks(scenario: &Scenario, links: &[LinkPlan]) -> Vec<Mark> {
    let mut marks: Vec<Mark> = scenario.events.iter().map(mark).collect();
    let named = |name: &str, at: Span| {
        scenario.events.iter().any(|event| {
            event.at == at
                && event.link.as_deref().and_then(ends).is_some_and(|(from, to, both)| {
                    name == format!("{from}>{to}") || (both && name == format!("{to}>{from}"))
                })
        })
    };
    let mut own: Vec<(Span, &str, &str, bool, String)> = Vec::new();
    for link in links {
        let mut add = |at: Span, what: String| {
            let Some((from, to, _)) = ends(&link.name) else { return };
            if at == Span::ZERO || at >= scenario.duration || named(&link.name, at) {
                return;
            }
            // A change in both directions gets one mark.
            match own.iter_mut().find(|(when, a, b, _, known)| (*when, *a, *b) == (at, to, from) && *known == what) {
                Some((_, _, _, both, _)) => *both = true,
                None => own.push((at, from, to, false, what)),
            }
        };
        if let RateConfig::Schedule(ScheduleConfig { steps, repeat_after: None }) = &link.direction.rate {
            steps.iter().for_each(|step| add(step.at, step.is.to_string()));
        }
        if let LossConfig::Schedule(LossScheduleConfig { steps }) = &link.direction.loss {
            steps.iter().for_each(|step| add(step.at, format!("loss {}", step.is.name())));
        }
        link.direction.changes.delays.iter().for_each(|step| add(step.at, format!("delay {}", step.is)));
        for outage in &link.direction.changes.outages {
            add(outage.from, "down".to_owned());
            outage.to.into_iter().for_each(|to| add(to, "up".to_owned()));
        }
        if own.len() > MOST_MARKS {
            break;
        }
    }
    if own.len() <= MOST_MARKS {
        marks.extend(own.into_iter().map(|(at, from, to, both, what)| {
            let arrow = if both { "<>" } else { ">" };
            Mark { at: Instant::ZERO + at, label: format!("{from}{arrow}{to} {what}") }
        }));
    }
    marks.sort_by_key(|mark| mark.at);
    marks
}
