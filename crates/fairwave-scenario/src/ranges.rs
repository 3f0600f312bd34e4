//! Ranges: checks of single values and tables, independent of their position.

use fairwave_core::config::ConfigError;
use fairwave_core::link::{RecordedLength, check_outages};
use fairwave_core::queue::QueueConfig;
use fairwave_core::timed::check_steps;
use fairwave_core::units::{Rate, Span};

use crate::delay::WrittenDelay;
use crate::direction::{Direction, LinkSpec};
use crate::error::Problem;
use crate::law::{Law, LawTable};
use crate::path::Path;
use crate::rate::WrittenRate;
use crate::template::Template;
use crate::values::{FixedOrSpread, Spreadable};

pub(crate) fn check_spec(spec: &LinkSpec, duration: Span, at: &Path, problems: &mut Vec<Problem>) {
    let LinkSpec { there, reverse } = spec;
    check_direction(there, duration, at, problems);
    if let Some(reverse) = reverse {
        check_direction(reverse, duration, &at.key("reverse"), problems);
    }
}

fn check_direction(direction: &Direction, duration: Span, at: &Path, problems: &mut Vec<Problem>) {
    let Direction { rate, medium: _, delay, queue, police, shape, loss, outages, jitter, reorder, duplicate } =
        direction;
    if let Some(rate) = rate {
        check_rate(rate, duration, &at.key("rate"), problems);
    }
    if let Some(delay) = delay {
        check_delay(delay, &at.key("delay"), problems);
    }
    if let Some(queue) = queue {
        check_queue(queue, &at.key("queue"), problems);
    }
    if let Some(police) = police {
        check_config(police.check(), &at.key("police"), problems);
    }
    if let Some(shape) = shape {
        check_config(shape.check(), &at.key("shape"), problems);
    }
    if let Some(loss) = loss {
        check_law(loss, &at.key("loss"), problems);
    }
    if let Some(outages) = outages {
        check_config(check_outages(outages), at, problems);
    }
    if let Some(jitter) = jitter {
        check_law(jitter, &at.key("jitter"), problems);
    }
    if let Some(reorder) = reorder {
        check_config(reorder.check(), &at.key("reorder"), problems);
    }
    if let Some(duplicate) = duplicate {
        check_config(duplicate.check(), &at.key("duplicate"), problems);
    }
}

pub(crate) fn check_template(text: &str, at: &Path, problems: &mut Vec<Problem>) -> Option<Template> {
    match Template::parse(text) {
        Ok(template) => Some(template),
        Err(message) => {
            problems.push(Problem::new(at.clone(), message));
            None
        }
    }
}

fn check_rate(rate: &WrittenRate, duration: Span, at: &Path, problems: &mut Vec<Problem>) {
    if let WrittenRate::Law(law) = rate
        && let Ok(config) = law.resolve()
    {
        let found = problems.len();
        check_config(config.check(), at, problems);
        if problems.len() > found {
            return;
        }
        if let Some(RecordedLength { length, goes_on: false }) = config.recorded()
            && length < duration
        {
            let what =
                format!("this {} lasts {length}, the run {duration}: nothing sets what follows its end", config.name());
            problems.push(
                Problem::new(at.clone(), what)
                    .allowed("`after = \"repeat\"` (it begins again) or `after = \"hold\"` (its last rate holds)")
                    .help(format!("add one of the two, or write `duration = \"{length}\"` or less")),
            );
        }
    }
    let rate = rate.nominal();
    if rate.bounds().0 == Rate::default() {
        problems.push(
            Problem::new(at.clone(), "the rate is 0: nothing would ever get through")
                .allowed("a rate of at least 1 b/s")
                .help("write for example `rate = \"10 Mb/s\"`"),
        );
    } else {
        check_range(&rate, at, problems);
    }
}

/// Maximum delay of a link: one hour. A longer delay is a mistake, usually of the unit.
pub(crate) const LONGEST_DELAY: Span = Span::from_secs(3600);

fn check_delay(delay: &WrittenDelay, at: &Path, problems: &mut Vec<Problem>) {
    let first = delay.first();
    let longest = delay.steps().iter().map(|step| step.is).fold(first.bounds().1, Span::max);
    if longest > LONGEST_DELAY {
        problems.push(
            Problem::new(at.clone(), format!("a delay of {longest} is no delay of a link"))
                .allowed(format!("up to {LONGEST_DELAY}"))
                .help("write for example `delay = \"10 ms\"`"),
        );
    }
    check_range(&first, at, problems);
    if !matches!(delay, WrittenDelay::Constant(_)) {
        let example = "delay = [{ at = \"0 s\", is = \"10 ms\" }, { at = \"20 s\", is = \"50 ms\" }]";
        check_config(check_steps(delay.steps(), example), at, problems);
    }
}

pub(crate) fn check_range<T: Spreadable + std::fmt::Display>(
    range: &FixedOrSpread<T>,
    at: &Path,
    problems: &mut Vec<Problem>,
) {
    let (from, to) = range.bounds();
    if from.to_units() > to.to_units() {
        problems.push(
            Problem::new(at.key("to"), format!("this range ends ({to}) before it begins ({from})"))
                .help(format!("write `from = \"{to}\", to = \"{from}\"`")),
        );
    }
}

fn check_queue(queue: &LawTable<QueueConfig>, at: &Path, problems: &mut Vec<Problem>) {
    check_law(queue, at, problems);
    let capacity = at.key("capacity");
    if let Some(buffer) = queue.bandwidth_delay() {
        if !(buffer.bdp >= 0.0 && buffer.bdp.is_finite()) {
            problems.push(
                Problem::new(capacity.key("bdp"), format!("`bdp` is {}", buffer.bdp))
                    .allowed("a number from 0 up")
                    .help("write for example `capacity = { bdp = 1.0, at-least-packets = 50 }`"),
            );
        }
        if buffer.at_least_packets == 0 {
            problems.push(
                Problem::new(capacity.key("at-least-packets"), "`at-least-packets` is 0")
                    .allowed("1 or more")
                    .help("write for example `at-least-packets = 50`"),
            );
        }
        if buffer.packet.get() == 0 {
            problems.push(
                Problem::new(capacity.key("packet"), "`packet` is 0 bytes")
                    .allowed("1 byte or more")
                    .help("write for example `packet = \"1000 B\"`"),
            );
        }
    }
}

pub(crate) fn check_law<T: Law>(law: &LawTable<T>, at: &Path, problems: &mut Vec<Problem>) {
    if let Ok(config) = law.resolve() {
        check_config(config.check(), at, problems);
    }
}

/// Records the result of a law's check of its values, or of another configuration's in `fairwave-core`.
pub(crate) fn check_config(checked: Result<(), ConfigError>, at: &Path, problems: &mut Vec<Problem>) {
    if let Err(ConfigError { key, value, allowed, example }) = checked {
        let place = join_dotted(at, &key);
        problems.push(
            Problem::new(place, format!("`{key}` is {value}"))
                .allowed(allowed)
                .help(format!("write for example `{example}`")),
        );
    }
}

/// The path of a key in dotted form. Numbers are list indices.
pub(crate) fn join_dotted(at: &Path, key: &str) -> Path {
    key.split('.').fold(at.clone(), |path, key| match key.parse() {
        Ok(index) => path.index(index),
        Err(_) => path.key(key),
    })
}
