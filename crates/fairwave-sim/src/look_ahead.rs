//! Looking ahead: with many flows little of what an event needs is still in a cache, and to wait for memory would be most of
//! the work. So what the coming events will read is asked for in time: while some are handled, the lines for those after
//! them are on their way. Nothing here has an effect on what a run leaves.
//!
//! It goes in two steps, since where the second set of lines is stands in the first: routes and endpoints, then links.

use std::ops::Range;
use std::slice;

use prefetch_index::prefetch_index;

use crate::calendar::{END, Transit};
use crate::event::Kind;
use crate::run::Simulation;

/// From so many flows on it pays to look ahead: their state no longer fits a second-level cache.
pub const CROWD: usize = 2000;

/// How many days of the calendar ahead the entries themselves are asked for, then the first set of lines, then the second.
const ENTRIES: u64 = 3;
const FIRST: u64 = 2;
const SECOND: u64 = 1;

/// The cache lines of a flow's sending and receiving sides in which lies what every packet needs.
const SENDING: Range<usize> = 0..5;
const RECEIVING: Range<usize> = 1..3;

/// Words of eight bytes in a cache line.
const LINE: usize = 8;

/// Asks for the line in which `item` begins.
#[inline]
fn fetch<T>(item: &T) {
    prefetch_index(slice::from_ref(item), 0);
}

impl Simulation<'_> {
    /// When a day begins, asks for what those that follow will read.
    #[inline]
    pub fn look_ahead(&mut self) {
        if self.events.new_day() {
            self.look_further();
        }
    }

    fn look_further(&self) {
        for entry in self.events.day_after(ENTRIES) {
            fetch(entry);
            fetch(&entry.transit.hop);
        }
        for entry in self.events.day_after(FIRST) {
            let flow = entry.transit.packet.flow.0 as usize;
            match entry.arrival() {
                Some(Transit { next: END, .. }) => self.fetch_sending(flow),
                Some(transit) => {
                    fetch(self.network.routes_of(flow));
                    if !transit.packet.feedback {
                        self.fetch_receiving(flow);
                    }
                }
                None if entry.event.kind() == Kind::Sender => self.fetch_sending(entry.event.index()),
                None => {}
            }
        }
        for entry in self.events.day_after(SECOND) {
            let Some(&Transit { ref packet, next, hop }) = entry.arrival() else { continue };
            let flow = packet.flow.0 as usize;
            if next != END {
                // What the next link leads to is crossed at once.
                if let Some(link) = self.network.route(flow, packet.feedback, hop + 2) {
                    fetch(&self.network.links[link]);
                }
            }
            // What the packet causes enters the first link of the other way.
            if (next == END || !packet.feedback)
                && let Some(link) = self.network.route(flow, !packet.feedback, 0)
            {
                fetch(&self.network.links[link]);
            }
        }
    }

    /// What an acknowledgement that reaches its sender reads and writes.
    #[inline]
    fn fetch_sending(&self, flow: usize) {
        fetch(self.network.routes_of(flow));
        let start = slice::from_ref(&self.sending[flow].scheduled);
        SENDING.for_each(|line| prefetch_index(start, line * LINE));
    }

    /// What a packet that reaches its receiver reads and writes.
    #[inline]
    fn fetch_receiving(&self, flow: usize) {
        let start = slice::from_ref(&self.receiving[flow].units);
        RECEIVING.for_each(|line| prefetch_index(start, line * LINE));
    }
}

#[cfg(test)]
mod tests {
    use fairwave_core::random::Seed;
    use fairwave_scenario::Scenario;

    use crate::run::Simulation;

    const CONTESTED: &str = r#"
name = "contested"
duration = "3 s"
[topology]
preset = "dumbbell"
bottleneck = { rate = "5 Mb/s", delay = "10 ms", queue = { discipline = "drop-tail", capacity = { packets = 20 } } }
access = { rate = "20 Mb/s", delay = "2 ms" }
[[flow]]
name = "data"
count = 12
transport = "tcp/sack"
traffic = "bulk"
[[flow]]
name = "voice"
count = 4
transport = "udp"
traffic = "voice"
"#;

    #[test]
    fn a_run_that_looks_ahead_leaves_what_one_that_does_not_leaves() {
        let plan = Scenario::from_text(CONTESTED, "contested.toml").expect("a scenario").plan(Seed(3)).expect("a plan");
        let outcome = |crowded| {
            let mut simulation = Simulation::new(&plan).expect("a simulation");
            simulation.crowded = crowded;
            simulation.finish().expect("a run").digest().expect("a digest")
        };
        assert_eq!(outcome(true), outcome(false));
    }
}
