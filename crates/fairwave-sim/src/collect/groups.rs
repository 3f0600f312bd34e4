//! The flows of a group together.

use fairwave_core::units::Rate;

use super::flows::rate;
use super::recorded::RunRecord;
use crate::measures::{Group, GroupRow};
use crate::result::FlowRow;

/// One row per group.
pub(crate) fn rows(run: &RunRecord<'_>, flows: &[FlowRow]) -> Vec<GroupRow> {
    let mut members = vec![Vec::new(); run.plan.groups.len()];
    for flow in 0..flows.len() {
        members[run.plan.flows[flow].group].push(flow);
    }
    (run.plan.groups.iter().zip(members))
        .map(|(name, members)| {
            // A flow that is not on in the window has no goodput, and no part in the sharing.
            let goodputs: Vec<Rate> = (members.iter().filter_map(|&flow| flows[flow].goodput_bps))
                .map(|goodput| Rate::from_bits_per_second(goodput as u64))
                .collect();
            let transport = members.first().map_or_else(String::new, |&flow| flows[flow].transport.to_string());
            let goodput = goodput(run, &members);
            let bins = members.iter().map(|&flow| run.steady_bins(flow)).collect();
            let flows = members.iter().map(|&flow| &flows[flow]).collect();
            GroupRow::of(name, transport, goodput, &Group { flows, goodputs, bins })
        })
        .collect()
}

/// Joint deliveries of flows, divided by the time from the first flow's beginning to the last flow's end in the window,
/// so that flows that take turns on a link do not exceed the link; none where none is on.
fn goodput(run: &RunRecord<'_>, members: &[usize]) -> Option<f64> {
    let on = || members.iter().map(|&flow| run.on(flow)).filter(|(from, until)| until > from);
    let from = on().map(|(from, _)| from).min()?;
    let until = on().map(|(_, until)| until).max()?;
    rate(members.iter().map(|&flow| run.receiving[flow].measure.payload_while_on()).sum(), until.since(from))
}
