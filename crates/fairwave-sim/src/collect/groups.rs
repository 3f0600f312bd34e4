//! Group rows: the flows of each group together.

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
            // A flow that is not active in the window has no goodput and does not count in the fairness.
            let goodputs: Vec<Rate> = (members.iter().filter_map(|&flow| flows[flow].goodput_bps))
                .map(|goodput| Rate::from_bits_per_second(goodput as u64))
                .collect();
            let transport = members.first().map_or_else(String::new, |&flow| flows[flow].transport.to_string());
            let goodput = goodput(run, &members);
            let bins = members.iter().map(|&flow| run.steady_bins(flow)).collect();
            let flows = members.iter().map(|&flow| &flows[flow]).collect();
            GroupRow::new(name, transport, goodput, &Group { flows, goodputs, bins })
        })
        .collect()
}

/// Joint deliveries of the flows, divided by the time from the first start to the last end in the window. So flows
/// that take turns on a link do not exceed its rate. `None` if no flow is active.
fn goodput(run: &RunRecord<'_>, members: &[usize]) -> Option<f64> {
    let on = || members.iter().map(|&flow| run.on(flow)).filter(|(from, until)| until > from);
    let from = on().map(|(from, _)| from).min()?;
    let until = on().map(|(_, until)| until).max()?;
    rate(members.iter().map(|&flow| run.receiving[flow].measure.payload_while_on()).sum(), until.span_since(from))
}
