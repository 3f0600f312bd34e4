//! Arrivals of flows: draws them for a run, bounds their number, and checks their keys.

use fairwave_core::random::Seed;
use fairwave_core::traffic::TrafficConfig;
use fairwave_core::units::{Instant, Span};

use crate::arrivals::{Arrival, Arrivals, ArrivalsTable};
use crate::error::Problem;
use crate::model::{Flow, Scenario};
use crate::path::Path;
use crate::ranges::check_config;
use crate::values::Start;

/// Arrivals are drawn for this many mean durations before `start`, because they may still last. Of exponential durations, a share
/// of 2 · 10⁻⁹ is longer.
const EARLIER: f64 = 20.0;

/// Flows present at the beginning start within this time, seconds.
const SPREAD: f64 = 0.1;

impl Arrivals {
    /// Draws all arrivals of the run.
    pub(crate) fn draw<'a>(
        &'a self,
        flow: &'a Flow,
        traffic: &TrafficConfig,
        pairs: u64,
        duration: Span,
        seed: Seed,
    ) -> impl Iterator<Item = Arrival> + 'a {
        let mean = 1.0 / self.mean_rate(traffic).max(1e-12);
        let (mut now, end) = flow.open(duration);
        let mut gaps = seed.stream(&format!("flow.{}.arrivals", flow.name));
        let mut lasts = seed.stream(&format!("flow.{}.lasts", flow.name));
        let arriving = std::iter::from_fn(move || {
            now += Span::from_seconds(gaps.exponential(mean));
            let pair = gaps.uniform_below(pairs);
            let stays = self.table.lasts.map(|length| length.draw(&mut lasts));
            let stop = stays.map_or(Instant::NEVER, |stays| now + stays);
            (now < end).then_some(Arrival { pair, start: now, stop })
        });
        self.earlier(flow, mean, pairs, (now, end), seed).into_iter().chain(arriving)
    }

    /// Flows that arrived before `open` and still last. Empty unless the arrivals are steady.
    fn earlier(&self, flow: &Flow, gap: f64, pairs: u64, open: (Instant, Instant), seed: Seed) -> Vec<Arrival> {
        let mut found = Vec::new();
        let Some(lasts) = self.table.lasts.filter(|_| self.table.steady) else { return found };
        let mut stream = seed.stream(&format!("flow.{}.earlier", flow.name));
        let mut before = EARLIER * lasts.mean().seconds() - stream.exponential(gap);
        while before > 0.0 {
            let (pair, stays) = (stream.uniform_below(pairs), lasts.draw(&mut stream).seconds());
            let (start, stop) = (SPREAD * stream.uniform(), stays - before);
            if stop > start {
                let (start, stop) = (open.0 + Span::from_seconds(start), open.0 + Span::from_seconds(stop));
                if start < open.1 {
                    found.push(Arrival { pair, start, stop });
                }
            }
            before -= stream.exponential(gap);
        }
        found
    }

    pub(crate) fn check(&self, flow: &Flow, traffic: &TrafficConfig, at: &Path, problems: &mut Vec<Problem>) {
        let ArrivalsTable { rate, load, lasts, at_most, steady } = &self.table;
        let within = at.key("arrivals");
        if rate.is_some() == load.is_some() {
            let what = if rate.is_some() { "both `rate` and `load` say" } else { "neither `rate` nor `load` says" };
            problems.push(
                Problem::new(within.clone(), format!("{what} how often flows arrive"))
                    .allowed("one of the two")
                    .help("write for example `arrivals = \"2 per s\"`, or `arrivals = { load = \"4 Mb/s\" }`"),
            );
        } else if self.mean_rate(traffic) <= 0.0 && (rate.is_some() || traffic.ends()) {
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
        if *steady && lasts.is_none() {
            problems.push(
                Problem::new(within.key("steady"), "`steady` needs to know how long flows stay, which `lasts` says")
                    .help("add for example `lasts = { distribution = \"exponential\", mean = \"3 min\" }`, or remove `steady`"),
            );
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
    /// The period in which flows of this group may arrive.
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
        let Ok(traffic) = flow.traffic.resolve() else { return pairs };
        match &flow.arrivals {
            Some(arrivals) if pairs > 0 => {
                let (from, until) = flow.open(self.duration);
                let there = if arrivals.table.steady { arrivals.stays().unwrap_or_default() } else { Span::ZERO };
                let mean = arrivals.mean_rate(&traffic) * (until.span_since(from) + there).seconds();
                (mean + 6.0 * mean.sqrt() + 10.0) as u64
            }
            _ if traffic.answer().is_some() => pairs.saturating_mul(2),
            _ => pairs,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flows_in_progress(steady: &str, seed: u64) -> (usize, usize) {
        let text = format!(
            "name = \"s\"\nduration = \"60 s\"\n[[link]]\nfrom = \"a\"\nto = \"b\"\nrate = \"100 Mb/s\"\ndelay = \"1 ms\"\n\
             [[flow]]\nname = \"calls\"\nfrom = \"a\"\nto = \"b\"\ntraffic = \"voice\"\ntransport = \"udp\"\n\
             arrivals = {{ rate = \"2 per s\", lasts = {{ distribution = \"exponential\", mean = \"50 s\" }}{steady} }}\n"
        );
        let scenario = Scenario::from_toml(&text, "s.toml").expect("a scenario");
        let plan = scenario.plan(Seed(seed)).expect("a plan");
        let at = |seconds: u64| {
            let now = Instant::ZERO + Span::from_seconds(seconds as f64);
            plan.flows.iter().filter(|flow| flow.start <= now && flow.stop > now).count()
        };
        (at(1), at(59))
    }

    #[test]
    fn steady_calls_are_as_many_at_the_beginning_as_later() {
        let runs = 40;
        let mean = |steady: &str| {
            let (first, last) =
                (1..=runs).map(|seed| flows_in_progress(steady, seed)).fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
            (first as f64 / runs as f64, last as f64 / runs as f64)
        };
        // Erlang: 2 per s × 50 s = 100 at any time. The standard deviation of the mean of 40 Poisson numbers is 1.6.
        let (first, last) = mean(", steady = true");
        assert!((first - 100.0).abs() < 6.0 && (last - 100.0).abs() < 6.0, "{first} {last}");
        let (first, _) = mean("");
        assert!(first < 6.0, "{first}");
    }

    #[test]
    fn steady_needs_a_length() {
        let text = "name = \"s\"\nduration = \"60 s\"\n[[link]]\nfrom = \"a\"\nto = \"b\"\nrate = \"1 Mb/s\"\ndelay = \"1 ms\"\n\
                    [[flow]]\nname = \"files\"\nfrom = \"a\"\nto = \"b\"\ntransport = \"tcp/cubic\"\n\
                    traffic = { kind = \"transfer\", size = { distribution = \"exponential\", mean = \"9 kB\" } }\n\
                    arrivals = { rate = \"2 per s\", steady = true }\n";
        let refused = Scenario::from_toml(text, "s.toml").expect_err("no length").to_string();
        assert!(refused.contains("remove `steady`"), "{refused}");
    }
}
