//! `fwsim SCENARIO` runs a scenario file without Python and prints its results as one line of JSON. It serves to
//! measure the simulator; users run the `fairwave` command.

use std::error::Error;
use std::io::Write;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use fairwave_core::random::Seed;
use fairwave_scenario::Scenario;
use fairwave_sim::{Run, RunResult, run_many};
use serde_json::json;

/// Same allocator as in the `fairwave` command.
#[cfg(not(target_family = "wasm"))]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const USAGE: &str = "usage: fwsim SCENARIO [--seed N] [--replications N] [--threads N] [--plan | --result | --cut]
  --seed N          the (first) seed, default: 1
  --replications N  number of runs, with consecutive seeds
  --threads N       number of threads, default: all cores
  --plan            print the plan instead of running it
  --result          print every table of the (first) run
  --islands N       partition each run into N islands, even if that does not pay
  --cut             print the partition of a run for N threads";

struct Options {
    scenario: String,
    seed: u64,
    replications: usize,
    threads: Option<usize>,
    plan: bool,
    result: bool,
    cut: bool,
    islands: Option<usize>,
}

fn options(mut words: impl Iterator<Item = String>) -> Result<Options, Box<dyn Error>> {
    let mut scenario = None;
    let mut options = Options {
        scenario: String::new(),
        seed: 1,
        replications: 1,
        threads: None,
        plan: false,
        result: false,
        cut: false,
        islands: None,
    };
    while let Some(word) = words.next() {
        let mut number = || -> Result<u64, Box<dyn Error>> {
            let text = words.next().ok_or_else(|| format!("{word} needs a number\n{USAGE}"))?;
            text.parse().map_err(|_| format!("{word} is `{text}`: write a whole number\n{USAGE}").into())
        };
        match word.as_str() {
            "--seed" => options.seed = number()?,
            "--replications" => options.replications = usize::try_from(number()?)?.max(1),
            "--threads" => options.threads = Some(usize::try_from(number()?)?),
            "--plan" => options.plan = true,
            "--result" => options.result = true,
            "--cut" => options.cut = true,
            "--islands" => options.islands = Some(usize::try_from(number()?)?),
            _ if word.starts_with('-') => return Err(format!("no option `{word}`\n{USAGE}").into()),
            _ => scenario = Some(word),
        }
    }
    options.scenario = scenario.ok_or(USAGE)?;
    Ok(options)
}

fn simulate(options: &Options) -> Result<serde_json::Value, Box<dyn Error>> {
    let text = std::fs::read_to_string(&options.scenario).map_err(|error| format!("{}: {error}", options.scenario))?;
    let scenario = Scenario::from_text(&text, &options.scenario)?;
    if options.plan {
        return Ok(scenario.plan(Seed(options.seed))?.to_json()?);
    }
    if options.cut {
        let plan = scenario.plan(Seed(options.seed))?;
        let cut = Run::new(&plan).threads(options.threads.unwrap_or(1)).cut()?;
        let report =
            cut.map(|cut| json!({ "islands": cut.islands, "window_s": cut.window.seconds(), "largest": cut.largest }));
        return Ok(report.unwrap_or_default());
    }
    scenario.check_runs(options.replications as u64, Seed(options.seed))?;
    let begin = Instant::now();
    let one = |job: usize, share: usize| -> Result<RunResult, String> {
        let plan = scenario.plan(Seed(options.seed.wrapping_add(job as u64))).map_err(|error| error.to_string())?;
        let run = Run::new(&plan).threads(share);
        let run = if options.islands.is_some() { run.islands(options.islands) } else { run };
        run.execute().map_err(|error| error.to_string())
    };
    let runs = run_many(options.replications, options.threads, one, |_| {}, &AtomicBool::new(false))?;
    let results: Vec<RunResult> = runs.into_iter().flatten().collect();
    if options.result {
        return Ok(serde_json::to_value(results.first())?);
    }
    Ok(json!({
        "packet_hops": results.iter().map(|result| result.packet_hops).sum::<u64>(),
        "events": results.iter().map(|result| result.events).sum::<u64>(),
        "wall_s": begin.elapsed().as_secs_f64(),
        "peak_kib": peak_kib(),
    }))
}

/// Returns the peak memory of this process, if the system reports it (Linux). A value read by a parent process would
/// include the parent's memory.
fn peak_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}

fn main() -> ExitCode {
    match options(std::env::args().skip(1)).and_then(|options| simulate(&options)) {
        Ok(value) => {
            // The reader can have closed the pipe.
            let _ = writeln!(std::io::stdout(), "{value}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}
