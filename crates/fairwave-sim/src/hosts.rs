//! Hosts with clock skew and random sending delays.

use fairwave_core::random::Stream;
use fairwave_core::traffic::{Activity, Unit};
use fairwave_core::units::{Instant, Span};
use fairwave_scenario::plan::{FlowPlan, HostsPlan, Intervals, Plan};

/// Clock of a flow's application, starting with the flow. It has a skew and pauses, and it delays requests on their
/// way to the application.
#[derive(Clone, Debug, Default)]
pub(crate) struct ApplicationClock {
    begins: Instant,
    /// Differences from true time, if any. Most clocks have none; with many flows, the memory counts.
    differs: Option<Box<ClockDifferences>>,
}

/// Differences of an application's clock from true time.
#[derive(Clone, Debug, Default)]
struct ClockDifferences {
    /// Skew in parts per billion: positive if its seconds are longer than true ones.
    ppb: i64,
    /// Active periods, unless it always runs.
    active: Option<Intervals>,
    /// Delay of a request from the receiver to the sender.
    request: Span,
}

impl ApplicationClock {
    fn new(begins: Instant, differences: ClockDifferences) -> Self {
        let ClockDifferences { ppb, active, request } = &differences;
        let differs = *ppb != 0 || active.is_some() || *request > Span::ZERO;
        ApplicationClock { begins, differs: differs.then(|| Box::new(differences)) }
    }

    /// Creates a clock with a skew of `ppb` parts per billion.
    pub fn skewed(begins: Instant, ppb: i64) -> Self {
        ApplicationClock::new(begins, ClockDifferences { ppb, ..ClockDifferences::default() })
    }

    /// Adds the pauses of a flow, and the time of a request to its sender.
    pub fn with_pauses(self, flow: &FlowPlan, request: Span) -> Self {
        let (ppb, active) = (self.ppb(), flow.active.clone());
        ApplicationClock::new(self.begins, ClockDifferences { ppb, active, request })
    }

    fn ppb(&self) -> i64 {
        self.differs.as_ref().map_or(0, |differences| differences.ppb)
    }

    fn active(&self) -> Option<&Intervals> {
        self.differs.as_ref().and_then(|differences| differences.active.as_ref())
    }

    /// Returns the unit with its creation at true time; `None` if the clock has stopped for good before that.
    #[inline]
    pub fn unit(&self, unit: Option<Unit>) -> Option<Unit> {
        match &self.differs {
            Some(differences) => self.move_to_true_time(unit?, differences.request),
            None => unit,
        }
    }

    #[inline(never)]
    fn move_to_true_time(&self, unit: Unit, request: Span) -> Option<Unit> {
        let created = self.awake_at(self.true_time(unit.created).span_since(self.begins))?.0 + request;
        Some(Unit { created, ..unit })
    }

    /// Returns the true time at which the clock shows `shown`, without pauses.
    fn true_time(&self, shown: Instant) -> Instant {
        let shown_since = i128::from(shown.span_since(self.begins).nanos());
        let longer = shown_since * i128::from(self.ppb()) / 1_000_000_000;
        self.begins + Span::from_nanos(u64::try_from(shown_since + longer).unwrap_or(u64::MAX))
    }

    /// Returns the true time of a request that the application's clock dates `shown`.
    pub fn asked_at(&self, shown: Instant) -> Instant {
        self.true_time(shown)
    }

    /// Returns the clock's time at a true time, without pauses.
    pub fn shown(&self, now: Instant) -> Instant {
        let since = i128::from(now.span_since(self.begins).nanos());
        let shown = since * 1_000_000_000 / (1_000_000_000 + i128::from(self.ppb()));
        self.begins + Span::from_nanos(u64::try_from(shown).unwrap_or(u64::MAX))
    }

    /// Returns the true time after a running time of `elapsed`, and the start of the next pause; `None` if the clock
    /// never runs that long.
    fn awake_at(&self, mut elapsed: Span) -> Option<(Instant, Instant)> {
        let Some(active) = self.active() else { return Some((self.begins + elapsed, Instant::NEVER)) };
        for (from, until) in active.iter() {
            let length = until.span_since(*from);
            if elapsed < length {
                return Some((*from + elapsed, *until));
            }
            elapsed = elapsed.saturating_sub(length);
        }
        None
    }

    /// Converts an active period of the application's clock to true time, up to the next pause. Also returns the rest
    /// of the period.
    pub fn activity(&self, activity: Activity) -> Option<(Activity, Option<Activity>)> {
        let (from, stands) = self.awake_at(activity.from.span_since(self.begins))?;
        let length = activity.until.span_since(activity.from);
        let until = if activity.until == Instant::NEVER { stands } else { (from + length).min(stands) };
        let done = activity.from + until.span_since(from);
        Some((
            Activity { from, until },
            (done < activity.until && until < Instant::NEVER).then_some(Activity { from: done, ..activity }),
        ))
    }

    /// Returns the first active period that starts at or after `after`.
    pub fn next_active(&self, after: Instant) -> Option<Activity> {
        let active = self.active()?;
        active.iter().find(|(from, _)| *from >= after).map(|&(from, until)| Activity { from, until })
    }
}

/// A sending host.
#[derive(Clone)]
struct Host {
    stream: Stream,
    /// Skew in parts per billion: positive if the seconds of its clock are longer than true ones.
    ppb: i64,
    /// Departure time of its latest packet.
    latest: Instant,
}

/// Hosts of a plan with clock skew or send jitter.
#[derive(Clone)]
pub(crate) struct Hosts {
    hosts: Vec<Host>,
    /// For each flow: the index of its sender's host.
    of_flow: Vec<usize>,
    jitter: Span,
}

impl Hosts {
    /// Creates the hosts of a plan; `None` without skew and jitter.
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
                let ppb = stream.uniform_below(2 * most + 1) as i64 - most as i64;
                hosts.hosts.push(Host { stream, ppb, latest: Instant::ZERO });
            }
            hosts.of_flow.push(known[flow.from]);
        }
        Some(hosts)
    }

    /// Returns the index of a flow's sending host.
    pub fn host_index(&self, flow: usize) -> Option<usize> {
        self.of_flow.get(flow).copied()
    }

    /// Copies back the hosts of some flows from `others`, which have advanced in the meantime.
    pub fn take_back(&mut self, others: &Self, theirs: impl Fn(usize) -> bool) {
        for (_, &host) in self.of_flow.iter().enumerate().filter(|(flow, _)| theirs(*flow)) {
            if let (Some(own), Some(other)) = (self.hosts.get_mut(host), others.hosts.get(host)) {
                own.clone_from(other);
            }
        }
    }

    /// Returns the clock of a flow's application.
    pub fn clock(&self, flow: usize, begins: Instant) -> ApplicationClock {
        ApplicationClock::skewed(begins, self.hosts[self.of_flow[flow]].ppb)
    }

    /// Whether packets leave later than they are made.
    pub fn are_late(&self) -> bool {
        self.jitter > Span::ZERO
    }

    /// Returns the departure times of packets that a flow's sender makes at `now`, one per call and in order. None is
    /// before an earlier packet of the host.
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
        let slow = ApplicationClock::skewed(begins, 50_000);
        assert_eq!(slow.true_time(begins + Span::from_seconds(3600.0)), begins + Span::from_seconds(3600.18));
        let fast = ApplicationClock::skewed(begins, -50_000);
        assert_eq!(fast.true_time(begins + Span::from_seconds(3600.0)), begins + Span::from_seconds(3599.82));
        assert_eq!(slow.shown(slow.true_time(begins + Span::from_secs(3600))), begins + Span::from_secs(3600));
    }

    #[test]
    fn an_application_that_pauses_goes_on_where_it_stopped() {
        let at = Instant::from_seconds;
        let active: Intervals = [(at(1.0), at(3.0)), (at(10.0), at(11.0))].into_iter().collect();
        let differences = ClockDifferences { active: Some(active), ..ClockDifferences::default() };
        let clock = ApplicationClock::new(at(1.0), differences);
        let unit = |created: f64| {
            let unit = Unit { id: 0, payload: 1, created: at(created), layer: 0, frame_type: Default::default() };
            clock.unit(Some(unit)).map(|unit| unit.created)
        };
        assert_eq!([unit(1.0), unit(2.5)], [Some(at(1.0)), Some(at(2.5))]);
        assert_eq!([unit(3.0), unit(3.5)], [Some(at(10.0)), Some(at(10.5))]);
        assert_eq!(unit(4.0), None);
        // Bulk data for 1.5 s from 0.5 s by the application's clock: 0.5 s of it come after the pause.
        let (first, rest) = clock.activity(Activity { from: at(2.0), until: at(3.5) }).expect("active");
        assert_eq!(first, Activity { from: at(2.0), until: at(3.0) });
        let (second, rest) = clock.activity(rest.expect("a rest")).expect("active");
        assert_eq!((second, rest), (Activity { from: at(10.0), until: at(10.5) }, None));
        // Endless bulk data stops with the last active period.
        let (_, rest) = clock.activity(Activity { from: at(1.0), until: Instant::NEVER }).expect("active");
        let (last, rest) = clock.activity(rest.expect("a rest")).expect("active");
        assert_eq!(last, Activity { from: at(10.0), until: at(11.0) });
        assert_eq!(clock.activity(rest.expect("without end")), None);
    }
}
