//! Admission of flows of groups with a limit of simultaneous flows.
//!
//! A flow is active from its admission until its stop. A flow that ends by itself is active until its receiver has
//! all data. The number of active flows is updated only when the next flow arrives, so it costs nothing otherwise.

use std::collections::BTreeMap;

use fairwave_core::traffic::TrafficSource;
use fairwave_core::units::Instant;
use fairwave_scenario::plan::Plan;

use crate::ends::{ReceivingEnd, SendingEnd};

/// Admitted flows by group.
#[derive(Default)]
pub(crate) struct Admission {
    at_work: BTreeMap<usize, Vec<usize>>,
}

impl Admission {
    /// Whether the group has room for a flow that starts at `now`. A refused flow never starts.
    #[inline(never)]
    pub fn admits(
        &mut self,
        flow: usize,
        now: Instant,
        plan: &Plan,
        sending: &mut [SendingEnd],
        receiving: &[ReceivingEnd],
    ) -> bool {
        sending[flow].room_is_unchecked = false;
        let Some(most) = plan.flows[flow].at_most else { return true };
        let at_work = self.at_work.entry(plan.flows[flow].group).or_default();
        at_work.retain(|&other| plan.flows[other].stop > now && completed(other, sending, receiving) > now);
        let admitted = (at_work.len() as u64) < most;
        if admitted {
            at_work.push(flow);
        } else {
            let refused = &mut sending[flow];
            refused.refused = true;
            refused.activity = None;
            refused.ask_application();
        }
        admitted
    }
}

/// Returns when the receiver had the last requested object; never for endless flows.
pub(crate) fn completed(flow: usize, sending: &[SendingEnd], receiving: &[ReceivingEnd]) -> Instant {
    let last = sending[flow].source.requests().last();
    let log = receiving[flow].units.as_ref();
    last.zip(log).map_or(Instant::NEVER, |(last, log)| log.arrival(last))
}
