//! The flows of a group together.

use fairwave_core::quality::{fairness, smoothness, throughput};
use fairwave_core::units::{Bytes, Rate};

use super::flows::rate;
use super::recorded::{Recorded, ratio};
use crate::result::{FlowRow, GroupRow};

/// One row per group.
pub(crate) fn rows(run: &Recorded<'_>, flows: &[FlowRow]) -> Vec<GroupRow> {
    (run.plan.groups.iter().enumerate())
        .map(|(index, name)| {
            let members: Vec<usize> = (0..flows.len()).filter(|&flow| run.plan.flows[flow].group == index).collect();
            // A flow that is not on in the window has no goodput, and no part in the sharing.
            let goodputs: Vec<Rate> = (members.iter().map(|&flow| flows[flow].goodput_bps))
                .filter(|goodput| !goodput.is_nan())
                .map(|goodput| Rate::from_bits_per_second(goodput as u64))
                .collect();
            let sum = |count: &dyn Fn(&FlowRow) -> u64| members.iter().map(|&flow| count(&flows[flow])).sum::<u64>();
            let bins: Vec<Vec<Rate>> = members.iter().map(|&flow| run.steady_bins(flow)).collect();
            let per_bin: Vec<Vec<Rate>> = (0..bins.first().map_or(0, Vec::len))
                .map(|bin| bins.iter().filter_map(|flow| flow.get(bin).copied()).collect())
                .collect();
            GroupRow {
                group: name.clone(),
                flows: members.len() as u64,
                transport: members.first().map_or_else(String::new, |&flow| flows[flow].transport.clone()),
                goodput_bps: goodput(run, &members),
                jain: fairness::jain(&goodputs),
                worst_case_fairness: fairness::worst_case(&goodputs),
                short_term_fairness: fairness::short_term(per_bin.iter().map(Vec::as_slice)),
                cov: smoothness::system_coefficient_of_variation(bins.iter().map(Vec::as_slice)),
                overhead: throughput::overhead(
                    Bytes::new(sum(&|row| row.wire_sent)),
                    Bytes::new(sum(&|row| row.payload_received)),
                ),
                dropped_share: ratio(sum(&|row| row.dropped), sum(&|row| row.packets_sent)),
                lost_share: ratio(sum(&|row| row.lost), sum(&|row| row.packets_sent)),
                units_sent: sum(&|row| row.units_sent),
                units_received: sum(&|row| row.units_received),
            }
        })
        .collect()
}

/// What flows deliver together over the time from the first one's beginning to the last one's end in the window, so that
/// flows that take turns on a link have no more than the link; NaN where none is on.
fn goodput(run: &Recorded<'_>, members: &[usize]) -> f64 {
    let on = || members.iter().map(|&flow| run.on(flow)).filter(|(from, until)| until > from);
    let (Some(from), Some(until)) = (on().map(|(from, _)| from).min(), on().map(|(_, until)| until).max()) else {
        return f64::NAN;
    };
    rate(members.iter().map(|&flow| run.receiving[flow].measure.payload_while_on()).sum(), until.since(from))
}
