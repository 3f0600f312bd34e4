//! Hosts that are not in step: each has a clock of its own, and takes a moment to send.

use fairwave_core::random::Stream;
use fairwave_core::traffic::Unit;
use fairwave_core::units::{Instant, Span};
use fairwave_scenario::plan::{HostsPlan, Plan};

/// How much faster or slower than true time the clock of a flow's application runs, from when the flow begins.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ApplicationClock {
    begins: Instant,
    /// Parts per billion by which its seconds are longer than true ones.
    ppb: i64,
}

impl ApplicationClock {
    /// A unit, made when the application's clock says so.
    #[inline]
    pub fn unit(self, unit: Option<Unit>) -> Option<Unit> {
        if self.ppb == 0 { unit } else { unit.map(|unit| Unit { created: self.true_time(unit.created), ..unit }) }
    }

    /// The true time when the clock shows `shown`.
    fn true_time(self, shown: Instant) -> Instant {
        let shown_since = i128::from(shown.since(self.begins).nanos());
        let longer = shown_since * i128::from(self.ppb) / 1_000_000_000;
        self.begins + Span::from_nanos(u64::try_from(shown_since + longer).unwrap_or(u64::MAX))
    }
}

/// A host that sends.
struct Host {
    stream: Stream,
    /// Parts per billion by which the seconds of its clock are longer than true ones.
    ppb: i64,
    /// When its latest packet leaves.
    latest: Instant,
}

/// The hosts of a plan whose hosts are not in step.
pub(crate) struct Hosts {
    hosts: Vec<Host>,
    /// Of each flow, the index of its sender's host.
    of_flow: Vec<usize>,
    jitter: Span,
}

impl Hosts {
    /// As planned; none where all are in step.
    pub fn new(plan: &Plan) -> Option<Self> {
        let HostsPlan { clock_skew, send_jitter } = plan.hosts;
        if plan.hosts == HostsPlan::default() {
            return None;
        }
        let mut known = vec![usize::MAX; plan.nodes.len()];
        let mut hosts = Hosts { hosts: Vec::new(), of_flow: Vec::with_capacity(plan.flows.len()), jitter: send_jitter };
        for flow in &plan.flows {
            if known[flow.from] == usize::MAX {
                known[flow.from] = hosts.hosts.len();
                let mut stream = plan.seed.stream(&format!("host.{}.clock", plan.nodes[flow.from]));
                let most = clock_skew.ppb();
                let ppb = stream.below(2 * most + 1) as i64 - most as i64;
                hosts.hosts.push(Host { stream, ppb, latest: Instant::ZERO });
            }
            hosts.of_flow.push(known[flow.from]);
        }
        Some(hosts)
    }

    /// The clock of a flow's application.
    pub fn clock(&self, flow: usize, begins: Instant) -> ApplicationClock {
        ApplicationClock { begins, ppb: self.hosts[self.of_flow[flow]].ppb }
    }

    /// Whether packets leave later than they are made.
    pub fn are_late(&self) -> bool {
        self.jitter > Span::ZERO
    }

    /// When packets leave that a flow's sender makes at `now`: the first of them, and then one by one in order, none before
    /// what the host has sent earlier.
    pub fn leave(&mut self, flow: usize, now: Instant) -> impl FnMut() -> Instant {
        let host = &mut self.hosts[self.of_flow[flow]];
        let mut earliest = now + host.stream.span_between(Span::ZERO, self.jitter);
        move || {
            let at = earliest.max(host.latest + Span::from_nanos(1));
            (host.latest, earliest) = (at, at);
            at
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_runs_slow_by_fifty_in_a_million_shows_an_hour_after_an_hour_and_180_ms() {
        let begins = Instant::from_seconds(2.0);
        let slow = ApplicationClock { begins, ppb: 50_000 };
        assert_eq!(slow.true_time(begins + Span::from_seconds(3600.0)), begins + Span::from_seconds(3600.18));
        let fast = ApplicationClock { begins, ppb: -50_000 };
        assert_eq!(fast.true_time(begins + Span::from_seconds(3600.0)), begins + Span::from_seconds(3599.82));
    }
}
