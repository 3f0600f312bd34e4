//! Round trips measured by senders, and how well flows meet the requirements of their applications.

use fairwave_core::quality::outcome::{Latency, outcome};
use fairwave_core::units::Span;

use super::due::Outcome;
use super::flows::due;
use super::recorded::{RunRecord, ratio};
use crate::result::{OutcomeRow, RoundTripRow};
use crate::round_trips::{Request, RoundTrips};
use crate::unit_log::LoggedUnit;

/// Returns the requests of a flow of pings; `None` for other flows.
fn requests<'a>(run: &'a RunRecord<'_>, flow: usize) -> Option<impl Iterator<Item = Request> + 'a> {
    use fairwave_core::transport::TransportConfig;
    let is_ping = matches!(&*run.plan.flows[flow].transport, TransportConfig::Ping(_));
    let log = run.receiving[flow].units.as_ref().filter(|_| is_ping)?;
    let request = |(number, unit): (usize, &LoggedUnit)| Request {
        number: number as u32,
        made: unit.created,
        is_removed: (!run.is_live).then(|| unit.removed().is_some()),
    };
    Some(log.units.iter().enumerate().map(request))
}

fn measured(run: &RunRecord<'_>, flow: usize) -> Option<RoundTrips> {
    let log = run.sending[flow].round_trips.as_ref()?;
    Some(log.result(run.window.warmup, run.window.end, requests(run, flow)))
}

/// Returns the row of a flow, the `index`-th of its group, if its round trips were measured.
pub(crate) fn row(run: &RunRecord<'_>, flow: usize, index: u32) -> Option<RoundTripRow> {
    let RoundTrips { summary, trimmed, smoothed, requests } = measured(run, flow)?;
    let of = |value: fn(fairwave_core::quality::delay::DelaySummary) -> Span| summary.map(value).map(Span::seconds);
    Some(RoundTripRow {
        group: run.plan.groups[run.plan.flows[flow].group].clone(),
        flow: index,
        samples: summary.map_or(0, |summary| summary.count),
        mean_s: of(|summary| summary.mean),
        min_s: of(|summary| summary.min),
        p50_s: of(|summary| summary.p50),
        p95_s: of(|summary| summary.p95),
        p99_s: of(|summary| summary.p99),
        max_s: of(|summary| summary.max),
        trimmed_mean_s: trimmed.map(Span::seconds),
        smoothed_s: smoothed.map(Span::seconds),
        requests: requests.map(|(requests, _)| requests as f64),
        unanswered: requests.map(|(_, unanswered)| unanswered as f64),
    })
}

/// Rates how well a flow meets its application's requirements, if the scenario gives them. Loss counts units; for
/// round trips it counts requests, and for bulk data packets.
pub(crate) fn outcomes(run: &RunRecord<'_>, flow: usize, index: u32) -> Option<OutcomeRow> {
    let plan = &run.plan.flows[flow];
    let requirement = plan.outcome.as_ref()?;
    let (mut latencies, lost) = match requirement.of {
        Latency::RoundTrip => {
            let samples = run.sending[flow].round_trips.as_ref().map_or(&[][..], |log| log.samples());
            let in_window = samples.iter().filter(|one| one.at >= run.window.warmup).map(|one| one.took);
            let requests = measured(run, flow).and_then(|measured| measured.requests);
            (in_window.collect(), requests.map(|(all, unanswered)| ratio(unanswered, all)))
        }
        Latency::OneWay => unit_delays(run, flow),
    };
    let lost = lost.unwrap_or_else(|| {
        let (sent, measure) = (run.sending[flow].packets_sent, &run.receiving[flow].measure);
        let before = run.before.get(flow).map_or(0, |before| before.packets_sent);
        ratio(u64::from(measure.dropped) + u64::from(measure.lost), sent - before)
    });
    latencies.sort_unstable();
    let found = outcome(requirement, &latencies, lost);
    Some(OutcomeRow {
        group: run.plan.groups[plan.group].clone(),
        flow: index,
        score: found.map(|found| found.score),
        latency: found.map(|found| found.latency),
        loss: found.map(|found| found.loss),
    })
}

/// Returns delays and loss ratio of units. Delays include arrived units, and overdue units with their age so far.
/// Empty for bulk data.
fn unit_delays(run: &RunRecord<'_>, flow: usize) -> (Vec<Span>, Option<f64>) {
    let Some(log) = &run.receiving[flow].units else { return (Vec::new(), None) };
    let due = due(run, flow, log);
    let (mut delays, mut lost) = (Vec::new(), 0);
    for (unit, outcome) in due.judged(log) {
        match outcome {
            Outcome::Lost => lost += 1,
            _ => delays.push(unit.arrived.min(run.window.end) - unit.created),
        }
    }
    let judged = lost + delays.len() as u64;
    (delays, Some(ratio(lost, judged)))
}
