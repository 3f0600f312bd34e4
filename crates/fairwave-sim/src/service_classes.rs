//! Results of policers, shapers and the classes of class maps.

use fairwave_core::queue::StageView;
use fairwave_scenario::plan::LinkPlan;
use serde::Serialize;

use crate::link::{Link, Service};

/// A class of a link's class map, or the policer or shaper of the whole link, in the window from the end of the
/// warm-up to the end of the run. Initially waiting packets count as served, dropped or waiting too, although they
/// arrived before.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct ServiceClassRow {
    /// `from>to`.
    pub link: String,
    /// Name of the class, `data/bulk` for a nested class; empty for a policer or shaper of the whole link.
    pub class: String,
    /// Packets that arrived.
    pub arrivals: u64,
    /// Bytes on the wire of these arrivals.
    pub wire_arrived: u64,
    /// Packets that left.
    pub served: u64,
    /// Bytes on the wire of these packets.
    pub wire_served: u64,
    /// Dropped by the policer; in `links` and `classes` they are in `dropped_early`.
    pub policed: u64,
    /// Packets forwarded by the policer with another code point.
    pub remarked: u64,
    /// Packets dropped because the queue was full.
    pub dropped_overflow: u64,
    /// Packets dropped by the discipline.
    pub dropped_early: u64,
    /// Packets that left with a mark (congestion experienced) from this class.
    pub marked: u64,
    /// Packets waiting at the end of the run.
    pub waiting: u64,
    /// Largest number of simultaneously waiting packets.
    pub max_queue_packets: u32,
    /// Mean wait of the packets that left; `None` without any.
    pub mean_wait_s: Option<f64>,
    /// Longest wait of these packets; `None` likewise.
    pub max_wait_s: Option<f64>,
}

/// The rows of a link.
pub(crate) fn rows(plan: &LinkPlan, link: &Link) -> Vec<ServiceClassRow> {
    let Service::Managed(managed) = &link.service else { return Vec::new() };
    let mut within: Vec<&str> = Vec::new();
    let views = managed.queue.stages().into_iter();
    let row = |StageView { name, depth, counters, waiting }| {
        within.truncate(depth.saturating_sub(1));
        if depth > 0 {
            within.push(name);
        }
        let of_served = |nanos: f64| (counters.served > 0).then_some(nanos / 1e9);
        ServiceClassRow {
            link: plan.name.to_string(),
            class: within.join("/"),
            arrivals: counters.arrivals,
            wire_arrived: counters.wire_arrived,
            served: counters.served,
            wire_served: counters.wire_served,
            policed: counters.policed,
            remarked: counters.remarked,
            dropped_overflow: counters.dropped_overflow,
            dropped_early: counters.dropped_early,
            marked: counters.marked,
            waiting: u64::from(waiting),
            max_queue_packets: counters.most_waiting,
            mean_wait_s: of_served(counters.waited as f64 / counters.served.max(1) as f64),
            max_wait_s: of_served(counters.longest_wait as f64),
        }
    };
    views.map(row).collect()
}
