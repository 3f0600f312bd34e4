//! Looking ahead: with many flows little of what an event needs is still in a cache, and to wait for memory is most of the work.

use fairwave_core::transport::{Receiver, Sender};

use crate::event::Kind;
use crate::run::Simulation;

/// From so many flows on it pays to look ahead: their state is several times a second-level cache.
pub const CROWD: usize = 3000;

/// The most arrivals for which it is done at once.
const AT_ONCE: usize = 16;

impl Simulation<'_> {
    /// Reads what the events of a day that begins will read: in a large network little of it is still in a cache, and so it
    /// comes from memory for all these events at once instead of for one after the other. Has no effect but that.
    pub fn look_ahead(&mut self) {
        let Some(events) = self.events.new_day() else { return };
        let mut coming = [(0, false, 0); AT_ONCE];
        let mut read = 0;
        for event in events {
            read ^= match event.kind() {
                Kind::Arrival | Kind::ArrivalBehind => self.network.links[event.index()].free.nanos(),
                Kind::Sender => self.sending[event.index()].scheduled.nanos(),
                _ => 0,
            };
        }
        let mut arrivals = 0;
        for (place, event) in coming.iter_mut().zip(events.iter().filter(|event| event.kind() <= Kind::ArrivalBehind)) {
            if let Some((first, rest)) = self.network.first_in_pipe(event.index()) {
                *place = (first.packet.flow.0 as usize, first.packet.feedback, first.hop);
                read ^= rest;
                arrivals += 1;
            }
        }
        let coming = &coming[..arrivals];
        for &(flow, feedback, _) in coming {
            read ^= self.network.hops(flow);
            read ^= if feedback { self.sending[flow].look() } else { self.receiving[flow].look() };
        }
        for &(flow, feedback, hop) in coming {
            match self.network.route(flow, feedback, hop + 1) {
                None if feedback => read ^= self.sending[flow].sender.glance(),
                None => {}
                Some(_) => {
                    if let Some(link) = self.network.route(flow, feedback, hop + 2) {
                        read ^= self.network.links[link].free.nanos();
                    }
                    if !feedback {
                        read ^= self.receiving[flow].receiver.deadline().nanos();
                        if let Some(link) = self.network.route(flow, true, 0) {
                            read ^= self.network.links[link].free.nanos();
                        }
                    }
                }
            }
        }
        std::hint::black_box(read);
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
