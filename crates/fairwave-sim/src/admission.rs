//! Admission of flows of groups with a limit of simultaneous flows.
//!
//! A flow is at work from its admission until its stop or, if it ends by itself, until its receiver has all of it. The
//! check is repeated only when the next flow arrives, so that it costs nothing otherwise.

use std::collections::BTreeMap;

use fairwave_core::traffic::TrafficSource;
use fairwave_core::units::Instant;
use fairwave_scenario::plan::Plan;

use crate::ends::{ReceivingEnd, SendingEnd};

/// Flows that have been admitted, by group.
#[derive(Default)]
pub(crate) struct Admission {
    at_work: BTreeMap<usize, Vec<usize>>,
}

impl Admission {
    /// Whether there is room for a flow that would begin at `now`; if there is none, it never begins.
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

/// When a receiver had the last of what was wanted as a whole; never for flows that go on.
pub(crate) fn completed(flow: usize, sending: &[SendingEnd], receiving: &[ReceivingEnd]) -> Instant {
    let last = sending[flow].source.wanted().last();
    let log = receiving[flow].units.as_ref();
    last.zip(log).map_or(Instant::NEVER, |(last, log)| log.arrival(last))
}
