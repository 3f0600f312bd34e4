//! Requests of a page, and the replies.
//!
//! | `op` | fields | reply |
//! |---|---|---|
//! | `check` | `text`, `file` | the scenario as written (`json`), with every parameter of its laws (`complete`), as TOML (`toml`); its hash and cost |
//! | `expand` | `text`, `file` | the scenario with its topology preset expanded to links (`json`) |
//! | `schema` | | the language's JSON Schema |
//! | `run` | `text`, `file`, `seed`, `allowed`, `bins`, `observe` | digest, tables; with `observe` also network and time series |
//! | `packets` | `text`, `file`, `seed`, `allowed`, `link`, `from_s`, `until_s` | all packets at a link between two times |
//! | `speech` | `text`, `file`, `seed`, `allowed`, `flow`, `law`, `conceal`, and samples | the audio of a call |
//!
//! Each reply has `ok`. The rejection of a scenario has the text of the command line (`message`) and a list of `problems`. Each
//! problem has `line` and `column` from 1 (null without a position in the text). A rejection with `too_large` needs more than a
//! page has. A rejection with `question` concerns a long run: a request with `allowed` runs it.

use fairwave_core::packet::Class;
use fairwave_core::random::Seed;
use fairwave_core::transport::Properties;
use fairwave_core::units::{Instant, Span};
use fairwave_scenario::plan::Plan;
use fairwave_scenario::{Scenario, ScenarioError};
use fairwave_sim::{Run, RunResult, SeriesRow, UnitRow};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::limits::PageCost;
use crate::observer::{Observed, Observer};
use crate::packets::Recorder;
use crate::progress::Progress;
use crate::{sessions, speech};

/// Maximum number of rows of a table in a reply.
const MOST_ROWS: usize = 400;
/// Maximum number of bins of a time series.
const MOST_BINS: usize = 2000;
/// Maximum number of nodes of a network in a reply. For a larger network, the reply has only its size.
const MOST_NODES: usize = 400;

#[derive(Deserialize)]
#[serde(tag = "op", rename_all = "kebab-case")]
enum Request {
    Check(ScenarioInput),
    Expand(ScenarioInput),
    Schema,
    Run {
        #[serde(flatten)]
        of: ScenarioInput,
        #[serde(default = "yes")]
        observe: bool,
        #[serde(default = "bins")]
        bins: usize,
    },
    Packets {
        #[serde(flatten)]
        of: ScenarioInput,
        link: String,
        from_s: f64,
        until_s: f64,
    },
    Speech {
        #[serde(flatten)]
        of: ScenarioInput,
        #[serde(default)]
        flow: Option<String>,
        #[serde(default)]
        law: fairwave_core::speech::g711::Law,
        #[serde(default = "yes")]
        conceal: bool,
    },
}

/// A scenario and a seed.
#[derive(Deserialize)]
struct ScenarioInput {
    text: String,
    #[serde(default = "scenario")]
    file: String,
    seed: Option<u64>,
    /// True if the user has agreed to a long run.
    #[serde(default)]
    allowed: bool,
}

fn yes() -> bool {
    true
}

fn bins() -> usize {
    600
}

fn scenario() -> String {
    "scenario".to_owned()
}

impl ScenarioInput {
    fn read(&self) -> Result<Scenario, Refusal> {
        Ok(Scenario::from_text(&self.text, &self.file)?)
    }

    /// The scenario and its plan. Rejects a run that is too large for a page.
    fn planned(&self) -> Result<(Scenario, Plan), Refusal> {
        let scenario = self.read()?;
        let seed = Seed(self.seed.unwrap_or(scenario.seed));
        PageCost::estimate(&scenario, seed)?.check(self.allowed)?;
        let plan = scenario.plan(seed)?;
        Ok((scenario, plan))
    }
}

/// A reply with `ok` false.
pub struct Refusal(pub Value);

impl From<ScenarioError> for Refusal {
    fn from(error: ScenarioError) -> Self {
        let problem = |problem: &fairwave_scenario::Problem| {
            let place = error.line_and_column(problem);
            json!({
                "message": problem.message,
                "path": problem.path.to_string(),
                "line": place.map(|(line, _)| line),
                "column": place.map(|(_, column)| column),
                "allowed": problem.allowed,
                "help": problem.help,
            })
        };
        let problems: Vec<Value> = error.problems.iter().map(problem).collect();
        Refusal(json!({ "ok": false, "message": error.to_string(), "problems": problems }))
    }
}

fn refuse(words: impl std::fmt::Display) -> Refusal {
    Refusal(json!({ "ok": false, "message": words.to_string() }))
}

/// Processes a request. Requests and replies consist of the length of the JSON (32 bits, little-endian), the JSON, and samples.
pub fn answer(request: &[u8]) -> Vec<u8> {
    let (json, samples) = match reply(request) {
        Ok(answer) => answer,
        Err(Refusal(why)) => (why, Vec::new()),
    };
    let text = json.to_string().into_bytes();
    let mut all = (text.len() as u32).to_le_bytes().to_vec();
    all.extend(text);
    all.extend(samples);
    all
}

fn reply(request: &[u8]) -> Result<(Value, Vec<u8>), Refusal> {
    let (length, rest) = request
        .split_first_chunk::<4>()
        .ok_or_else(|| refuse("the request is shorter than its length field of 4 bytes"))?;
    let (text, sound) = rest
        .split_at_checked(u32::from_le_bytes(*length) as usize)
        .ok_or_else(|| refuse("the request is shorter than its length field states"))?;
    let request: Request = serde_json::from_slice(text).map_err(|error| refuse(format!("unknown request: {error}")))?;
    let json = match request {
        Request::Check(of) => check(&of)?,
        Request::Expand(of) => {
            let expanded = of.read()?.expand_preset()?;
            json!({ "ok": true, "json": written(&expanded)? })
        }
        Request::Schema => json!({ "ok": true, "schema": Scenario::json_schema() }),
        Request::Run { of, observe, bins } => run_once(&of, observe, bins.clamp(1, MOST_BINS))?,
        Request::Packets { of, link, from_s, until_s } => packets(&of, &link, from_s, until_s)?,
        Request::Speech { of, flow, law, conceal } => {
            let (_, plan) = of.planned()?;
            return speech::render_call(plan, flow.as_deref(), law, conceal, sound).map_err(refuse);
        }
    };
    Ok((json, Vec::new()))
}

fn written(scenario: &Scenario) -> Result<Value, Refusal> {
    serde_json::from_str(&scenario.to_json().map_err(refuse)?).map_err(refuse)
}

fn check(of: &ScenarioInput) -> Result<Value, Refusal> {
    let scenario = of.read()?;
    let seed = Seed(of.seed.unwrap_or(scenario.seed));
    let cost = PageCost::estimate(&scenario, seed)?;
    Ok(json!({
        "ok": true,
        "name": scenario.name,
        "description": scenario.description,
        "hash": scenario.content_hash().map_err(refuse)?,
        "json": written(&scenario)?,
        "complete": written(&scenario.spelled_out())?,
        "toml": scenario.to_toml().map_err(refuse)?,
        "cost": cost.to_json(),
        "too_large": cost.too_large(),
        "question": cost.question(),
    }))
}

/// The network and the route of the first flow of each group, for a drawing. For a large network, only its size.
fn network(plan: &Plan) -> Value {
    let link = |link: &fairwave_scenario::plan::LinkPlan| {
        json!({
            "name": link.name,
            "from": link.from,
            "to": link.to,
            "rate_bps": link.direction.rate.nominal().bits_per_second(),
            "delay_s": link.direction.delay.seconds(),
            "queue": link.direction.queue,
            "lossy": !link.direction.loss.is_none(),
        })
    };
    let small = plan.nodes.len() <= MOST_NODES;
    let first = |group: usize| plan.flows.iter().find(|flow| flow.group == group);
    let groups: Vec<Value> = (plan.groups.iter().enumerate())
        .map(|(index, name)| {
            let flow = first(index);
            json!({
                "name": name,
                "flows": plan.flows.iter().filter(|flow| flow.group == index).count(),
                "class": flow.map(|flow| flow.class),
                "call": flow.is_some_and(|flow| flow.traffic.call().is_some()),
                "transport": flow.map(|flow| &*flow.transport),
                "from": flow.map(|flow| flow.from),
                "to": flow.map(|flow| flow.to),
                "forward": flow.map(|flow| &flow.forward),
                "backward": flow.map(|flow| &flow.backward),
            })
        })
        .collect();
    json!({
        "nodes": small.then_some(&plan.nodes),
        "links": small.then(|| plan.links.iter().map(link).collect::<Vec<_>>()),
        "node_count": plan.nodes.len(),
        "link_count": plan.links.len(),
        "groups": groups,
    })
}

/// Additional records for figures: samples of senders, units of a call. They change nothing else in a run.
struct FigureRecords {
    windows: Vec<usize>,
    units: Vec<usize>,
    interval: bool,
}

impl FigureRecords {
    fn add_to(plan: &mut Plan) -> FigureRecords {
        let first_of = |wanted: &dyn Fn(&fairwave_scenario::plan::FlowPlan) -> bool| -> Vec<usize> {
            let mut groups = Vec::new();
            let mut found = Vec::new();
            for (index, flow) in plan.flows.iter().enumerate() {
                if wanted(flow) && !groups.contains(&flow.group) {
                    groups.push(flow.group);
                    found.push(index);
                }
                if found.len() >= 8 || index > 10_000 {
                    break;
                }
            }
            found
        };
        let controlled = |flow: &fairwave_scenario::plan::FlowPlan| flow.transport.controls_rate();
        let (windows, units) = (first_of(&controlled), first_of(&|flow| flow.traffic.call().is_some()));
        let record = &mut plan.record;
        let interval = record.window_interval == Span::ZERO;
        if interval {
            record.window_interval = Span::from_nanos((plan.duration.nanos() / 600).max(10_000_000));
        }
        let new = |wanted: Vec<usize>, there: &mut Vec<usize>| -> Vec<usize> {
            let new: Vec<usize> = wanted.into_iter().filter(|flow| !there.contains(flow)).collect();
            there.extend(&new);
            new
        };
        let windows = if interval && !record.windows.is_empty() {
            // Without an interval, the scenario's own samples were not recorded.
            let wanted = std::mem::take(&mut record.windows);
            record.windows.extend(&wanted);
            let more = new(windows, &mut record.windows);
            [wanted, more].concat()
        } else {
            new(windows, &mut record.windows)
        };
        FigureRecords { windows, units: new(units, &mut record.units), interval }
    }

    /// Removes these records from the results, which then equal the scenario's results.
    fn remove_from(&self, plan: &Plan, result: &mut RunResult) -> (Vec<SeriesRow>, Vec<UnitRow>) {
        const SAMPLED: [&str; 8] =
            ["window", "ssthresh", "srtt_s", "rate_bps", "estimate", "layers", "receive_bps", "bound_bps"];
        let names =
            |flows: &[usize]| -> Vec<&str> { flows.iter().map(|&flow| plan.flows[flow].name.as_str()).collect() };
        let (windows, units) = (names(&self.windows), names(&self.units));
        let sampled: Vec<SeriesRow> = result.series.iter().filter(|row| SAMPLED.contains(&row.kind)).cloned().collect();
        let recorded = result.units.clone();
        result
            .series
            .retain(|row| !(SAMPLED.contains(&row.kind) && (self.interval || windows.contains(&row.name.as_str()))));
        result.units.retain(|row| !units.contains(&row.flow.as_str()));
        (sampled, recorded)
    }
}

fn run_once(of: &ScenarioInput, observe: bool, bins: usize) -> Result<Value, Refusal> {
    let (scenario, mut plan) = of.planned()?;
    if !observe {
        let result = Run::new(&plan).execute().map_err(refuse)?;
        return Ok(tables(&result, &plan, result.digest().map_err(refuse)?));
    }
    let added = FigureRecords::add_to(&mut plan);
    let mut observer = Observer::new(&plan, bins);
    let mut result = Run::new(&plan).probe(&mut observer).execute().map_err(refuse)?;
    let (sampled, units) = added.remove_from(&plan, &mut result);
    let mut answer = tables(&result, &plan, result.digest().map_err(refuse)?);
    let more = json!({
        "hash": scenario.content_hash().map_err(refuse)?,
        "network": network(&plan),
        "marks": plan.marks.iter().map(|mark| json!({ "at_s": mark.at.seconds(), "label": mark.label })).collect::<Vec<_>>(),
        "bin_s": observer.bin().seconds(),
        "link_series": link_series(&observer, &plan, &result),
        "group_series": group_series(&observer, &plan),
        "senders": senders(&sampled),
        "calls": calls(&units, &plan, bins),
        "session_series": sessions::series(&result),
    });
    if let (Value::Object(answer), Value::Object(more)) = (&mut answer, more) {
        answer.extend(more);
    }
    Ok(answer)
}

fn limit_rows<T: serde::Serialize>(rows: &[T]) -> Value {
    json!(rows.get(..MOST_ROWS).unwrap_or(rows))
}

/// The tables of a run.
fn tables(result: &RunResult, plan: &Plan, digest: String) -> Value {
    json!({
        "ok": true,
        "digest": digest,
        "seed": plan.seed.0,
        "duration_s": plan.duration.seconds(),
        "warmup_s": plan.warmup.seconds(),
        "packet_hops": result.packet_hops,
        "flow_count": result.flows.len(),
        "flows": limit_rows(&result.flows),
        "groups": limit_rows(&result.groups),
        "links": limit_rows(&result.links),
        "classes": limit_rows(&result.classes),
        "service_classes": limit_rows(&result.service_classes),
        "conversations": limit_rows(&result.conversations),
        "completions": limit_rows(&result.completions),
        "sessions": limit_rows(&result.sessions),
        "media": limit_rows(&result.media),
        "media_transport": limit_rows(&result.media_transport),
        "media_groups": sessions::groups(&result.media),
        "voice": voice(result, plan),
    })
}

/// The mean opinion score of each group of calls, averaged over the calls with a score.
fn voice(result: &RunResult, plan: &Plan) -> Vec<Value> {
    let of_group = |(index, name): (usize, &String)| {
        let flow = plan.flows.iter().find(|flow| flow.group == index)?;
        flow.traffic.call()?;
        let scores: Vec<f64> =
            result.flows.iter().filter(|row| *row.group == **name).filter_map(|row| row.mos).collect();
        let mean = (!scores.is_empty()).then(|| scores.iter().sum::<f64>() / scores.len() as f64);
        let note = result.flows.iter().find(|row| *row.group == **name).map_or("", |row| row.quality_note.as_str());
        Some(json!({ "group": name, "rated": scores.len(), "mos": mean, "note": note }))
    };
    plan.groups.iter().enumerate().filter_map(of_group).collect()
}

/// The queues of the four links with the longest mean waiting time, longest first.
fn link_series(seen: &Observer, plan: &Plan, result: &RunResult) -> Vec<Value> {
    let wait = |link: usize| {
        result.links.get(link).map_or(0.0, |row| if row.mean_wait_s.is_finite() { row.mean_wait_s } else { 0.0 })
    };
    let mut links: Vec<&Observed> = seen.links().iter().filter(|link| link.arrivals > 0).collect();
    links.sort_by(|a, b| wait(b.link).total_cmp(&wait(a.link)));
    links.truncate(4);
    let one = |link: &&Observed| {
        json!({
            "link": plan.links[link.link].name,
            "waiting": Class::ALL.map(|class| rounded(&seen.waiting(link, class), 3)),
            "gone": &link.gone,
        })
    };
    links.iter().map(one).collect()
}

fn group_series(seen: &Observer, plan: &Plan) -> Vec<Value> {
    let one = |(index, name): (usize, &String)| json!({ "group": name, "throughput_bps": rounded(&seen.throughput(index), 0), "missing": seen.missing(index) });
    plan.groups.iter().enumerate().take(24).map(one).collect()
}

/// Rounds each value to `digits` decimal places. `None` for absent values.
fn rounded<V: Into<Option<f64>> + Copy>(values: &[V], digits: i32) -> Vec<Option<f64>> {
    let scale = 10f64.powi(digits);
    let one = |value: &V| -> Option<f64> { (*value).into().map(|value: f64| (value * scale).round() / scale) };
    values.iter().map(one).collect()
}

/// Samples of senders, by flow.
fn senders(rows: &[SeriesRow]) -> Vec<Value> {
    let mut names: Vec<&str> = Vec::new();
    for row in rows {
        if !names.contains(&row.name.as_str()) {
            names.push(&row.name);
        }
    }
    let kinds = ["window", "srtt_s", "rate_bps"];
    let one = |name: &str| {
        let of = |kind: &str| -> Vec<[f64; 2]> {
            rows.iter().filter(|row| row.kind == kind && row.name == name).map(|row| [row.time_s, row.value]).collect()
        };
        json!({ "flow": name, "window": of(kinds[0]), "srtt_s": of(kinds[1]), "rate_bps": of(kinds[2]) })
    };
    names.into_iter().map(one).collect()
}

/// True if the network dropped or lost a unit.
fn is_lost(row: &UnitRow) -> bool {
    matches!(row.fate, "dropped" | "lost")
}

/// Calls over time. Per bin of the units' creation: mean and maximum network delay, mean delay until playout, units not played.
fn calls(units: &[UnitRow], plan: &Plan, bins: usize) -> Vec<Value> {
    let width = plan.duration.seconds() / bins as f64;
    let of_call = |rows: &[UnitRow]| {
        let (mut delay, mut longest, mut played) = (vec![0.0; bins], vec![None::<f64>; bins], vec![0.0; bins]);
        let mut counts = vec![[0u32; 4]; bins];
        for row in rows.iter().filter(|row| !row.fate.ends_with("noise")) {
            let bin = ((row.created_s / width) as usize).min(bins - 1);
            if let Some(arrived) = row.arrived_s {
                let travelled = arrived - row.created_s;
                delay[bin] += travelled;
                longest[bin] = Some(longest[bin].map_or(travelled, |longest| longest.max(travelled)));
                counts[bin][0] += 1;
            }
            if let Some(at) = row.played_s {
                played[bin] += at - row.created_s;
                counts[bin][1] += 1;
            }
            counts[bin][2] += u32::from(is_lost(row));
            counts[bin][3] += u32::from(row.fate == "late");
        }
        // The mean per bin. `None` for a bin without units of `kind`.
        let means = |sums: &[f64], kind: usize| -> Vec<Option<f64>> {
            let each = sums.iter().zip(&counts);
            each.map(|(sum, counts)| (counts[kind] > 0).then(|| sum / f64::from(counts[kind]))).collect()
        };
        let count = |is: fn(&UnitRow) -> bool| rows.iter().filter(|row| is(row)).count();
        json!({
            "flow": rows.first().map(|row| row.flow.as_str()),
            "delay_s": rounded(&means(&delay, 0), 5),
            "longest_s": rounded(&longest, 5),
            "played_s": rounded(&means(&played, 1), 5),
            "lost": counts.iter().map(|bin| bin[2]).collect::<Vec<_>>(),
            "late": counts.iter().map(|bin| bin[3]).collect::<Vec<_>>(),
            "counts": {
                "played": count(|row| row.fate == "played"),
                "late": count(|row| row.fate == "late"),
                "lost": count(is_lost),
            },
        })
    };
    let is_call = |rows: &&[UnitRow]| {
        let name = rows.first().map(|row| row.flow.as_str());
        plan.flows.iter().any(|flow| Some(flow.name.as_str()) == name && flow.traffic.call().is_some())
    };
    units.chunk_by(|one, next| one.flow == next.flow).filter(is_call).take(8).map(of_call).collect()
}

fn packets(of: &ScenarioInput, link: &str, from_s: f64, until_s: f64) -> Result<Value, Refusal> {
    let (_, plan) = of.planned()?;
    let Some(index) = plan.links.iter().position(|known| &*known.name == link) else {
        return Err(refuse(format!("there is no link direction `{link}`")));
    };
    if !(0.0..1e9).contains(&from_s) || !(from_s..1e9).contains(&until_s) {
        return Err(refuse(format!("from {from_s} s until {until_s} s: write times in ascending order, from 0 s on")));
    }
    let at = |seconds: f64| Instant::ZERO + Span::from_seconds(seconds);
    let groups: Vec<usize> = plan.flows.iter().map(|flow| flow.group).collect();
    let mut recorder = Recorder::new(index, at(from_s), at(until_s), &groups, Progress::new(plan.duration));
    Run::new(&plan).probe(&mut recorder).execute().map_err(refuse)?;
    let (passages, full) = recorder.into_passages();
    Ok(json!({
        "ok": true,
        "link": link,
        "groups": plan.groups,
        "victim": plan.links[index].direction.queue.victim(),
        "passages": passages,
        "full": full,
    }))
}
