//! Means over time: one value per bin for each group that `record.series` names.
//!
//! | kind | value in the bin |
//! |---|---|
//! | `group_goodput_bps` | payload delivered by all flows |
//! | `group_delay_s` | mean one-way delay of the units created in the bin that arrived, over all flows |
//! | `group_loss` | share of lost units among the units created in the bin that are not in flight, over all flows |
//! | `group_mos` | E-model mean opinion score of the units created in the bin, with a playout that starts with the bin: mean over calls |
//! | `group_round_trip_s` | mean of the round trips with a response in the bin, over all flows |
//! | `queueing_delay_s` | for a link in `record.queues`: packet-seconds of waiting divided by departed packets (Little's law) |
//!
//! A bin with an undefined mean has no row.

use fairwave_core::quality::playout::{SpokenUnit, call_quality};
use fairwave_core::units::Instant;

use super::due::Outcome;
use super::flows::due;
use super::recorded::RunRecord;
use crate::result::SeriesRow;
use crate::unit_log::LoggedUnit;

/// A sum and its number of samples.
#[derive(Clone, Copy, Default)]
struct Mean {
    sum: f64,
    count: u64,
}

impl Mean {
    fn add(&mut self, value: f64) {
        self.sum += value;
        self.count += 1;
    }

    fn value(self) -> f64 {
        self.sum / self.count as f64
    }
}

/// Means of one bin.
#[derive(Clone, Copy, Default)]
struct Means {
    payload: u64,
    delay: Mean,
    /// 1 for a lost unit, 0 for one that arrived or is overdue.
    lost: Mean,
    mos: Mean,
    round_trip: Mean,
}

/// Appends the series of groups and links.
pub(crate) fn append(run: &RunRecord<'_>, rows: &mut Vec<SeriesRow>) {
    let record = &run.plan.record;
    if record.series.is_empty() || record.bin.nanos() == 0 {
        return;
    }
    let width = record.bin.nanos();
    let bins = (run.window.end.nanos() / width) as usize;
    let time = |bin: usize| record.bin.seconds() * (bin + 1) as f64;
    for &group in &record.series {
        let mut means = vec![Means::default(); bins];
        for flow in (0..run.plan.flows.len()).filter(|flow| run.plan.flows[*flow].group == group) {
            for (bin, payload) in means.iter_mut().zip(run.payload_in_bin(flow)) {
                bin.payload += payload;
            }
            add_units(run, flow, width, &mut means);
            let samples = run.sending[flow].round_trips.as_ref().map_or(&[][..], |log| log.samples());
            for one in samples {
                if let Some(bin) = means.get_mut((one.at.nanos() / width) as usize) {
                    bin.round_trip.add(one.took.seconds());
                }
            }
        }
        let name = &run.plan.groups[group];
        let mut tell = |kind: &'static str, value: &dyn Fn(&Means) -> f64| {
            let row = |(bin, means): (usize, &Means)| {
                let value = value(means);
                value.is_finite().then(|| SeriesRow { kind, name: name.clone(), time_s: time(bin), value })
            };
            rows.extend(means.iter().enumerate().filter_map(row));
        };
        tell("group_goodput_bps", &|means| means.payload as f64 * 8.0 / record.bin.seconds());
        tell("group_delay_s", &|means| means.delay.value());
        tell("group_loss", &|means| means.lost.value());
        tell("group_mos", &|means| means.mos.value());
        tell("group_round_trip_s", &|means| means.round_trip.value());
    }
    for &link in &record.queues {
        let measure = &run.links[link].measure;
        let each = measure.waited_in_bin().iter().zip(measure.departed_in_bin());
        let row = |(bin, (waited, departed)): (usize, (&u64, &u64))| {
            let (kind, name) = ("queueing_delay_s", run.plan.links[link].name.to_string());
            let value = *waited as f64 / *departed as f64 / 1e9;
            (*departed > 0).then(|| SeriesRow { kind, name, time_s: time(bin), value })
        };
        rows.extend(each.take(bins).enumerate().filter_map(row));
    }
}

/// Adds a flow's units to the bins of their creation.
fn add_units(run: &RunRecord<'_>, flow: usize, width: u64, means: &mut [Means]) {
    let Some(log) = &run.receiving[flow].units else { return };
    let plan = &run.plan.flows[flow];
    let due = due(run, flow, log);
    let bin_of = |unit: &LoggedUnit| unit.created.nanos() / width;
    for units in log.units.chunk_by(|one, next| bin_of(one) == bin_of(next)) {
        let place = units.first().map_or(0, bin_of) as usize;
        let Some(bin) = means.get_mut(place) else { continue };
        let mut spoken = Vec::new();
        for unit in units.iter().filter(|unit| !unit.noise) {
            match due.outcome(unit) {
                Outcome::Received => {
                    bin.delay.add((unit.arrived - unit.created).seconds());
                    bin.lost.add(0.0);
                }
                Outcome::Lost => bin.lost.add(1.0),
                Outcome::Overdue => bin.lost.add(0.0),
                Outcome::InFlight | Outcome::Skipped => continue,
            }
            spoken.push(SpokenUnit { created: unit.created, arrived: unit.arrived });
        }
        if let Some((codec, packet_time)) = plan.traffic.call()
            && spoken.iter().any(|unit| unit.arrived != Instant::NEVER)
            && let Ok(quality) = call_quality(&spoken, 0, codec, packet_time, plan.reception, &plan.playout)
            && let Ok(score) = quality.score
        {
            bin.mos.add(score.mos);
        }
    }
}
