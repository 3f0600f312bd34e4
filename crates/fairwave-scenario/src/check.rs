//! Checks of a well-formed scenario: ranges, names, and combinations of keys.
//!
//! This module finds every problem that needs neither a seed nor expanded templates, and reports all of them at once.
//! [`Scenario::plan`] reports problems of the network itself (nodes, routes, buffers).

use std::collections::BTreeSet;

use fairwave_core::transport::Properties;
use fairwave_core::units::{Rate, Span};

use crate::cost;
use crate::error::{Problem, ScenarioError};
use crate::event_checks;
use crate::media;
use crate::model::{Flow, Record, Scenario};
use crate::path::Path;
use crate::ranges::{check_config, check_law, check_range, check_spec, check_template};
use crate::select::Selection;
use crate::suggest::{list, nearest};
use crate::template::Template;
use crate::topology::{Preset, Topology};
use crate::values::{FixedOrSpread, Start};
use crate::via;

impl Scenario {
    /// Runs all checks that need no random numbers. Reading a scenario includes these checks.
    ///
    /// # Errors
    /// All problems found.
    pub fn check(&self) -> Result<(), ScenarioError> {
        let mut problems = Vec::new();
        let whole = self.with_calls(&mut problems);
        if problems.is_empty() {
            // With a load, the numbers of flows must be known first.
            whole.counted(&mut problems).check_counted(self.load.is_some(), &mut problems);
            self.place_in_calls(&whole, &mut problems);
        }
        if problems.is_empty() { Ok(()) } else { Err(self.error(problems)) }
    }

    fn check_counted(&self, from_load: bool, problems: &mut Vec<Problem>) {
        self.check_frame(problems);
        self.check_links(problems);
        if let Some(topology) = &self.topology {
            check_topology(topology, self.duration, problems);
        }
        media::check(self, problems);
        self.check_flows(from_load, problems);
        event_checks::check(self, problems);
        check_record(&self.record, self, problems);
        if problems.is_empty() && cost::check_counts(self, from_load, problems) {
            cost::check_record(self, self.expanded(&mut Vec::new()).link_directions(), problems);
        }
    }

    fn check_frame(&self, problems: &mut Vec<Problem>) {
        let root = Path::default();
        if self.name.trim().is_empty() {
            problems
                .push(Problem::new(root.key("name"), "the name is empty").help("write for example `name = \"voice\"`"));
        }
        if self.duration == Span::ZERO {
            // A run of no duration consists of set-up only. It shows the fixed part of a run's cost.
            if self.warmup > Span::ZERO {
                problems.push(
                    Problem::new(
                        root.key("warmup"),
                        format!("`warmup` is {}, of a run that lasts no time", self.warmup),
                    )
                    .allowed("0 where `duration` is 0")
                    .help("leave `warmup` out, or lengthen `duration`"),
                );
            }
        } else if self.warmup >= self.duration {
            problems.push(
                Problem::new(root.key("warmup"), format!("`warmup` ({}) leaves nothing to measure", self.warmup))
                    .allowed(format!("less than `duration`, which is {}", self.duration))
                    .help(format!("write for example `warmup = \"{}\"`", self.duration / 10)),
            );
        }
        if let Some(hosts) = self.hosts {
            hosts.check(problems);
        }
        if i64::try_from(self.seed).is_err() {
            problems.push(
                Problem::new(root.key("seed"), format!("`seed` {} is too large", self.seed))
                    .allowed(format!("0 to {}", i64::MAX)),
            );
        }
    }

    fn check_links(&self, problems: &mut Vec<Problem>) {
        for (index, link) in self.links.iter().enumerate() {
            let at = Path::default().key("link").index(index);
            let from = check_template(&link.from, &at.key("from"), problems);
            let to = check_template(&link.to, &at.key("to"), problems);
            if link.from == link.to {
                problems.push(
                    Problem::new(at.key("to"), format!("this link leads from `{}` to itself", link.from))
                        .help("name another node"),
                );
            }
            if link.count == 0 {
                problems.push(
                    Problem::new(at.key("count"), "`count` is 0")
                        .allowed("1 or more")
                        .help("leave the link out instead"),
                );
            }
            if let (Some(from), Some(to)) = (from, to)
                && link.count > 1
                && !from.varies()
                && !to.varies()
            {
                problems.push(
                    Problem::new(
                        at.key("count"),
                        format!("{} links would all bear the name `{}`", link.count, link.name()),
                    )
                    .help("number the nodes: for example `from = \"s{i}\"`"),
                );
            }
            let there = &link.spec.there;
            let on_medium = there.medium.is_some();
            for (key, missing, example) in [
                ("rate", there.rate.is_none() && !on_medium, "10 Mb/s"),
                ("delay", there.delay.is_none() && !on_medium, "10 ms"),
            ] {
                if missing {
                    problems.push(
                        Problem::new(at.key(key), format!("this link lacks the key `{key}`"))
                            .help(format!("add for example `{key} = \"{example}\"`")),
                    );
                }
            }
            check_spec(&link.spec, self.duration, &at, problems);
            if link.spec.reverse.is_some() && !link.duplex {
                problems.push(
                    Problem::new(at.key("reverse"), "this link has no direction back (`duplex = false`)")
                        .help("remove `reverse`, or `duplex = false`"),
                );
            }
        }
    }

    fn check_flows(&self, from_load: bool, problems: &mut Vec<Problem>) {
        let mut names = BTreeSet::new();
        for (index, flow) in self.flows.iter().enumerate() {
            let at = Path::default().key("flow").index(index);
            match Template::parse(&flow.name) {
                Err(message) => problems.push(Problem::new(at.key("name"), message)),
                Ok(_) if flow.name.contains('{') => problems.push(
                    Problem::new(at.key("name"), format!("the name `{}` must not be a template", flow.name))
                        .help("the flows of a group are numbered by themselves: `voice[0]`, `voice[1]`, …"),
                ),
                Ok(_) if !names.insert(flow.name.as_str()) => problems.push(
                    Problem::new(at.key("name"), format!("there are two groups of flows named `{}`", flow.name))
                        .help("give this one another name"),
                ),
                Ok(_) => {}
            }
            self.check_place(flow, &at, problems);
            via::check(self, flow, &at, problems);
            self.check_times(flow, &at, problems);
            self.check_active(flow, &at, problems);
            // The preset decides which keys are compatible, and the scenario can set it for all transports.
            if let Ok(transport) = flow.transport.with_details(self.preset) {
                check_config(transport.check(), &at.key("transport"), problems);
            }
            check_law(&flow.traffic, &at.key("traffic"), problems);
            if let Some(playout) = &flow.playout {
                check_law(playout, &at.key("playout"), problems);
            }
            self.check_measures(flow, &at, problems);
            check_whole(flow, &at, problems);
            if let (Some(arrivals), Ok(traffic)) = (&flow.arrivals, flow.traffic.resolve()) {
                arrivals.check(flow, &traffic, &at, problems);
                if from_load {
                    problems.push(
                        Problem::new(
                            at.key("arrivals"),
                            "under `load` a group's `count` is its weight, and none can arrive",
                        )
                        .help("remove `load` or `arrivals`"),
                    );
                }
            }
            if flow.transport.resolve().is_ok_and(|transport| !transport.carries_bulk())
                && flow.traffic.name() == "bulk"
            {
                problems.push(
                    Problem::new(
                        at.key("traffic"),
                        format!("bulk data over `{}` has no rate: nothing would ever stop it", flow.transport.name()),
                    )
                    .help(
                        "use a transport that controls its rate (`transport = \"tcp/reno\"`), or traffic with a rate",
                    ),
                );
            }
        }
        if self.flows.is_empty() {
            problems.push(
                Problem::new(Path::default().key("flow"), "there are no flows: nothing would happen")
                    .help("add at least one [[flow]] with name, transport and traffic"),
            );
        } else if self.flows.iter().all(|flow| self.count_of(flow) == 0) {
            problems.push(
                Problem::new(Path::default().key("flow"), "every group has 0 flows: nothing would happen")
                    .help("give at least one group a `count` above 0"),
            );
        }
    }

    fn check_measures(&self, flow: &Flow, at: &Path, problems: &mut Vec<Problem>) {
        if let Some(playback) = &flow.playback {
            check_config(playback.check(), &at.key("playback"), problems);
        }
        if let Some(advantage) = flow.advantage.filter(|advantage| !(0.0..=20.0).contains(advantage)) {
            problems.push(
                Problem::new(at.key("advantage"), format!("`advantage` is {advantage}"))
                    .allowed("from 0 to 20 (ITU-T G.107 §7.6)")
                    .help("write for example `advantage = 10`, for calls from a vehicle"),
            );
        }
        if flow.in_band_fec.is_some()
            && let Ok(traffic) = flow.traffic.resolve()
            && !traffic.call().is_some_and(|(codec, _)| codec.is_opus())
        {
            problems.push(
                Problem::new(at.key("in-band-fec"), "`in-band-fec` is for calls whose codec is Opus")
                    .allowed("with traffic such as { kind = \"voice\", codec = \"opus\" }")
                    .help("remove the key, or choose Opus; a media session has `traffic.audio.in-band-fec`"),
            );
        }
        if let Some(outcome) = &flow.outcome {
            check_config(outcome.check(), &at.key("outcome"), problems);
        }
        let Some(recovery) = &flow.recovery else { return };
        let at = at.key("recovery");
        check_config(recovery.check(), &at, problems);
        if recovery.to >= self.duration {
            problems.push(
                Problem::new(at.key("to"), format!("the interruption lasts until {}", recovery.to))
                    .allowed(format!("before the end of the run at {}", self.duration))
                    .help("lengthen `duration`, or interrupt earlier"),
            );
        }
        if recovery.from <= self.warmup {
            problems.push(
                Problem::new(at.key("from"), format!("the interruption begins at {}", recovery.from))
                    .allowed(format!("later than `warmup` ({}): full speed is measured in between", self.warmup))
                    .help("shorten `warmup`, or interrupt later"),
            );
        }
        if self.record.bin.is_none() {
            problems.push(
                Problem::new(at, "recovery is measured in steps of the record's `bin`, which is not given")
                    .help("add for example `bin = \"500 ms\"` under [record]"),
            );
        }
    }

    fn check_place(&self, flow: &Flow, at: &Path, problems: &mut Vec<Problem>) {
        match (&flow.from, &flow.to, &flow.path) {
            (Some(from), Some(to), None) => {
                check_template(from, &at.key("from"), problems);
                check_template(to, &at.key("to"), problems);
                if from == to {
                    problems.push(
                        Problem::new(at.key("to"), format!("this flow leads from `{from}` to itself"))
                            .help("name another node"),
                    );
                }
            }
            (None, None, _) if self.topology.is_some() => {}
            (None, None, Some(_)) => problems.push(
                Problem::new(at.key("path"), "only the networks of `[topology]` have paths with names")
                    .help("write `from = …` and `to = …` instead"),
            ),
            (Some(_), _, Some(_)) | (_, Some(_), Some(_)) => problems.push(
                Problem::new(at.key("path"), "a flow has either a `path` or `from` and `to`")
                    .help("remove the one or the other"),
            ),
            (from, _, None) => {
                let missing = if from.is_none() { "from" } else { "to" };
                problems.push(
                    Problem::new(at.key(missing), format!("flow group `{}` lacks the key `{missing}`", flow.name))
                        .help(format!("add for example `{missing} = \"s{{i}}\"`")),
                );
            }
        }
        for (key, spec) in [("source-access", &flow.source_access), ("sink-access", &flow.sink_access)] {
            let Some(spec) = spec else { continue };
            check_spec(spec, self.duration, &at.key(key), problems);
            if self.topology.is_none() || flow.from.is_some() {
                problems.push(
                    Problem::new(at.key(key), format!("`{key}` refines the links of a preset topology"))
                        .help("write the links of this group under [[link]]"),
                );
            }
        }
    }

    fn check_times(&self, flow: &Flow, at: &Path, problems: &mut Vec<Problem>) {
        if let Start::Spread(spread) = &flow.start {
            check_range(&FixedOrSpread::Spread(*spread), &at.key("start"), problems);
        }
        let latest = flow.start.latest(self.count_of(flow));
        if latest >= self.duration && self.duration > Span::ZERO && self.count_of(flow) > 0 {
            problems.push(
                Problem::new(at.key("start"), format!("flows of this group begin as late as {latest}"))
                    .allowed(format!("before the end of the run at {}", self.duration))
                    .help("start earlier, or lengthen `duration`"),
            );
        }
        if let Some(stop) = flow.stop.filter(|stop| *stop <= latest) {
            problems.push(
                Problem::new(
                    at.key("stop"),
                    format!("this group stops at {stop}, before its last flow begins at {latest}"),
                )
                .help("stop later, or start earlier"),
            );
        }
        let thresholds = &flow.timely.0;
        if thresholds.is_empty() || thresholds.windows(2).any(|pair| pair[0] >= pair[1]) {
            problems.push(
                Problem::new(at.key("timely"), "the thresholds of timeliness are not in ascending order")
                    .allowed("one time, or several, each longer than the one before")
                    .help("write for example `timely = [\"100 ms\", \"300 ms\"]`"),
            );
        }
        if thresholds.first() == Some(&Span::ZERO) {
            problems.push(
                Problem::new(at.key("timely"), "`timely` is 0")
                    .allowed("a time above 0")
                    .help("write for example `timely = \"300 ms\"`"),
            );
        }
    }
}

/// Checks that a transport without retransmission does not carry data that must arrive completely.
fn check_whole(flow: &Flow, at: &Path, problems: &mut Vec<Problem>) {
    let (Ok(transport), Ok(traffic)) = (flow.transport.resolve(), flow.traffic.resolve()) else { return };
    if !traffic.transfers() || transport.delivers_all() {
        return;
    }
    let why = if transport.tcp().is_some() { "with a `deadline` " } else { "" };
    problems.push(
        Problem::new(
            at.key("transport"),
            format!(
                "`{}` {why}does not send again what is lost, and `{}` would never be complete",
                transport.name(),
                traffic.name()
            ),
        )
        .allowed("a transport that delivers everything: any TCP without a `deadline`")
        .help("write for example `transport = \"tcp/cubic\"`".replace("cubic", "sack")),
    );
}

fn check_topology(topology: &Topology, duration: Span, problems: &mut Vec<Problem>) {
    let at = Path::default().key("topology");
    let known = topology.preset.keys();
    for (key, spec) in topology.specs() {
        if known.contains(&key) {
            check_spec(spec, duration, &at.key(key), problems);
        } else {
            problems.push(
                Problem::new(at.key(key), format!("`{}` has no `{key}`", topology.preset.name()))
                    .on_key()
                    .allowed(list(known.iter().copied().skip(1)))
                    .help(nearest(key, known.iter().copied()).map_or_else(
                        || "remove it, or choose another preset".to_owned(),
                        |near| format!("did you mean `{near}`?"),
                    )),
            );
        }
    }
    if let Some(network) = topology.network.filter(|_| topology.preset != Preset::Dumbbell) {
        problems.push(
            Problem::new(at.key("network"), format!("`{}` has no access network", topology.preset.name()))
                .on_key()
                .help(format!("write `topology = {{ network = \"{}\" }}`, or remove `network`", network.name())),
        );
    }
    if let Some(hops) = topology.hops {
        if topology.preset != Preset::MultiHop {
            problems.push(
                Problem::new(at.key("hops"), format!("`{}` has no `hops`", topology.preset.name()))
                    .on_key()
                    .allowed(list(known.iter().copied().skip(1)))
                    .help("remove it, or write `preset = \"multi-hop\"`"),
            );
        }
        let rate = topology.backbone().into_iter().next().and_then(|(_, _, _, spec)| spec.there.rate);
        cost::check_hops(hops, rate.map_or(Rate::default(), |rate| rate.nominal().middle()), duration, problems);
    }
}

fn check_record(record: &Record, scenario: &Scenario, problems: &mut Vec<Problem>) {
    let at = Path::default().key("record");
    for (key, width) in [("bin", record.bin), ("window-interval", record.window_interval)] {
        if width == Some(Span::ZERO) {
            problems.push(
                Problem::new(at.key(key), format!("`{key}` is 0"))
                    .allowed("a time above 0; leave it out for no series")
                    .help(format!("write for example `{key} = \"100 ms\"`")),
            );
        }
    }
    for (key, wanted, interval, has) in [
        ("queues", !record.queues.is_empty(), "bin", record.bin.is_some()),
        ("goodput", !record.goodput.is_empty(), "bin", record.bin.is_some()),
        ("allotted", !record.allotted.is_empty(), "bin", record.bin.is_some()),
        ("series", !record.series.is_empty(), "bin", record.bin.is_some()),
        ("windows", !record.windows.is_empty(), "window-interval", record.window_interval.is_some()),
    ] {
        if wanted && !has {
            problems.push(
                Problem::new(at.key(key), format!("`{key}` are sampled every `{interval}`, which is not given"))
                    .help(format!("add for example `{interval} = \"100 ms\"`")),
            );
        }
    }
    for (key, entries) in [
        ("goodput", &record.goodput),
        ("allotted", &record.allotted),
        ("windows", &record.windows),
        ("round-trips", &record.round_trips),
        ("series", &record.series),
        ("units", &record.units),
    ] {
        for (index, entry) in entries.iter().enumerate() {
            if let Err(problem) = Selection::parse(entry, scenario, &at.key(key).index(index)) {
                problems.push(*problem);
            }
        }
    }
}
