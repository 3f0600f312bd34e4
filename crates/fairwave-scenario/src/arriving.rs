//! Flows that arrive: which come in a run, how many there may be, and what is wrong with how a group says so.

use fairwave_core::random::Seed;
use fairwave_core::traffic::TrafficConfig;
use fairwave_core::units::{Instant, Span};

use crate::arrivals::{Arrival, Arrivals, ArrivalsTable};
use crate::error::Problem;
use crate::model::{Flow, Scenario};
use crate::path::Path;
use crate::ranges::check_config;
use crate::values::Start;

impl Arrivals {
    /// All that arrive in the run.
    pub(crate) fn draw<'a>(
        &'a self,
        flow: &'a Flow,
        traffic: &TrafficConfig,
        pairs: u64,
        duration: Span,
        seed: Seed,
    ) -> impl Iterator<Item = Arrival> + 'a {
        let mean = 1.0 / self.per_second(traffic).max(1e-12);
        let (mut now, end) = flow.open(duration);
        let mut gaps = seed.stream(&format!("flow.{}.arrivals", flow.name));
        let mut lasts = seed.stream(&format!("flow.{}.lasts", flow.name));
        std::iter::from_fn(move || {
            now += Span::from_seconds(gaps.exponential(mean));
            let pair = gaps.below(pairs);
            let stays = self.table.lasts.map(|length| length.draw(&mut lasts));
            let stop = stays.map_or(Instant::NEVER, |stays| now + stays);
            (now < end).then_some(Arrival { pair, start: now, stop })
        })
    }

    pub(crate) fn check(&self, flow: &Flow, traffic: &TrafficConfig, at: &Path, problems: &mut Vec<Problem>) {
        let ArrivalsTable { rate, load, lasts, at_most } = &self.table;
        let within = at.key("arrivals");
        if rate.is_some() == load.is_some() {
            let what = if rate.is_some() { "both `rate` and `load` say" } else { "neither `rate` nor `load` says" };
            problems.push(
                Problem::new(within.clone(), format!("{what} how often flows arrive"))
                    .allowed("one of the two")
                    .help("write for example `arrivals = \"2 per s\"`, or `arrivals = { load = \"4 Mb/s\" }`"),
            );
        } else if self.per_second(traffic) <= 0.0 && (rate.is_some() || traffic.ends()) {
            let key = if rate.is_some() { "rate" } else { "load" };
            problems.push(
                Problem::new(within.clone(), format!("`{key}` is 0: nothing would ever arrive"))
                    .allowed("above 0")
                    .help("leave the group out by `count = 0`, or write for example `arrivals = \"2 per s\"`"),
            );
        }
        if load.is_some() && !traffic.ends() {
            problems.push(
                Problem::new(
                    within.key("load"),
                    format!("`load` needs sizes, which `{}` has not", flow.traffic.name()),
                )
                .allowed("traffic = { kind = \"transfer\", size = … }")
                .help("write instead how often they arrive, for example `rate = \"2 per min\"`"),
            );
        }
        match lasts {
            None if !traffic.ends() => problems.push(
                Problem::new(
                    within.clone(),
                    format!("flows of `{}` arrive and would never leave: `{}` does not end by itself", flow.name, flow.traffic.name()),
                )
                .help("add for example `lasts = { distribution = \"exponential\", mean = \"3 min\" }`, or send a `transfer`"),
            ),
            Some(_) if traffic.ends() => problems.push(
                Problem::new(within.key("lasts"), "a transfer lasts until all of it is there")
                    .help("remove `lasts`"),
            ),
            Some(lasts) => check_config(lasts.check(), &within.key("lasts"), problems),
            None => {}
        }
        if *at_most == Some(0) {
            problems.push(
                Problem::new(within.key("at-most"), "`at-most` is 0: all would be refused")
                    .allowed("1 or more; leave it out for no bound"),
            );
        }
        if !matches!(flow.start, Start::At(_)) {
            problems.push(
                Problem::new(at.key("start"), "flows that arrive have starts of their own")
                    .allowed("one time, from which on they arrive")
                    .help("write for example `start = \"10 s\"`, or leave it out"),
            );
        }
        if traffic.answer().is_some() {
            problems.push(
                Problem::new(within, format!("a `{}` is there from the beginning", flow.traffic.name()))
                    .help("leave `arrivals` out, or let calls arrive: `traffic = \"voice\"`"),
            );
        }
    }
}

impl Flow {
    /// When flows of this group may arrive.
    fn open(&self, duration: Span) -> (Instant, Instant) {
        let from = Instant::ZERO + self.start.latest(1);
        let until = Instant::ZERO + self.stop.unwrap_or(duration).min(duration);
        (from, until)
    }
}

impl Scenario {
    /// Maximum number of flows of a group: for arrivals, six standard deviations above the mean.
    pub(crate) fn flows_of(&self, flow: &Flow) -> u64 {
        let pairs = self.count_of(flow);
        let Ok(traffic) = flow.traffic.resolve(|_| ()) else { return pairs };
        match &flow.arrivals {
            Some(arrivals) if pairs > 0 => {
                let (from, until) = flow.open(self.duration);
                let mean = arrivals.per_second(&traffic) * until.since(from).seconds();
                (mean + 6.0 * mean.sqrt() + 10.0) as u64
            }
            _ if traffic.answer().is_some() => pairs.saturating_mul(2),
            _ => pairs,
        }
    }
}
