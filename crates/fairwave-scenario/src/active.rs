//! Active periods of flows: the times at which a group's applications send.
//!
//! ```toml
//! active = [["0 s", "10 s"], ["20 s", "30 s"]]
//! ```
//!
//! Between active periods, the application's time pauses. It continues in the same state, even in the middle of a talkspurt.

use fairwave_core::units::{Instant, Span};

use crate::error::Problem;
use crate::model::{Flow, Scenario};
use crate::path::Path;
use crate::plan::Intervals;
use crate::values::Start;

impl Flow {
    /// The active periods, if the scenario sets them.
    pub(crate) fn intervals(&self) -> Option<Intervals> {
        let at = |span: Span| Instant::ZERO + span;
        self.active.as_ref().map(|active| active.iter().map(|[from, until]| (at(*from), at(*until))).collect())
    }
}

impl Scenario {
    pub(crate) fn check_active(&self, flow: &Flow, at: &Path, problems: &mut Vec<Problem>) {
        let Some(active) = &flow.active else { return };
        let here = at.key("active");
        for (key, given) in [
            ("start", flow.start != Start::default()),
            ("stop", flow.stop.is_some()),
            ("arrivals", flow.arrivals.is_some()),
        ] {
            if given {
                problems.push(
                    Problem::new(at.key(key), format!("`active` and `{key}` both set when this group is on"))
                        .help(format!("remove `active` or `{key}`")),
                );
            }
        }
        if active.is_empty() {
            problems.push(
                Problem::new(here.clone(), "`active` is empty: nothing would happen")
                    .help("leave it out, or write for example `active = [[\"0 s\", \"10 s\"], [\"20 s\", \"30 s\"]]`"),
            );
        }
        let mut earliest = Span::ZERO;
        for (index, [from, until]) in active.iter().enumerate() {
            if from >= until || *from < earliest || (index > 0 && *from == earliest) {
                problems.push(
                    Problem::new(here.index(index), format!("`[{from}, {until}]` is no time of activity"))
                        .allowed("times [from, until] in ascending order, apart from each other")
                        .help("write for example `active = [[\"0 s\", \"10 s\"], [\"20 s\", \"30 s\"]]`"),
                );
                return;
            }
            earliest = *until;
        }
        if let Some([from, _]) = active.first().filter(|[from, _]| *from >= self.duration && self.duration > Span::ZERO)
        {
            problems.push(
                Problem::new(here.clone(), format!("this group is first at work at {from}"))
                    .allowed(format!("before the end of the run at {}", self.duration))
                    .help("start earlier, or lengthen `duration`"),
            );
        }
        if flow.traffic.resolve().is_ok_and(|traffic| traffic.transfers()) {
            problems.push(
                Problem::new(here.clone(), format!("a `{}` that pauses would never be complete", flow.traffic.name()))
                    .help("remove `active`; flows that come and go have `arrivals`"),
            );
        }
        if flow.traffic.resolve().ok().and_then(|traffic| traffic.frames()).is_some_and(|frames| frames.packets) {
            problems.push(
                Problem::new(
                    here,
                    "a video that is sent as a stream of packets has frames at fixed times, and cannot pause",
                )
                .help("leave `packet` out of `traffic`, or use `start` and `stop`"),
            );
        }
    }
}
