//! Errors in a scenario: file, line, column, key, value, allowed values and remedy.
//!
//! A [`ScenarioError`] carries every [`Problem`] found, in the order of the text, and shows each with its line.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::origin::Origin;
use crate::path::Path;

/// A message shows at most this many characters of a line, around the error.
const MOST_COLUMNS: usize = 100;

/// Maximum number of lines of a message, before the line that counts the omitted problems. The first problem is always
/// shown.
const MOST_LINES: usize = 23;

/// One mistake in a scenario.
#[derive(Clone, PartialEq, Debug)]
pub struct Problem {
    /// The key with the mistake, for example `flow[0].transport`.
    pub path: Path,
    /// The mistake: one sentence without a full stop.
    pub message: String,
    /// The allowed values, if a short list exists.
    pub allowed: Option<String>,
    /// The text to write instead.
    pub help: Option<String>,
    /// Byte range in the text. `None` for values without a text.
    pub place: Option<Range<usize>>,
    /// True if the mistake is the key itself, not its value.
    pub about_key: bool,
}

impl Problem {
    /// Creates a problem at `path`. [`ScenarioError`] looks up its position in the text.
    pub fn new(path: Path, message: impl Into<String>) -> Self {
        Problem { path, message: message.into(), allowed: None, help: None, place: None, about_key: false }
    }

    /// Sets the allowed values.
    pub fn allowed(mut self, allowed: impl Into<String>) -> Self {
        self.allowed = Some(allowed.into());
        self
    }

    /// Sets the remedy.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Sets the byte range in the text.
    pub(crate) fn with_place(mut self, place: Option<Range<usize>>) -> Self {
        self.place = place;
        self
    }

    /// Points at the key instead of its value.
    pub(crate) fn on_key(mut self) -> Self {
        self.about_key = true;
        self
    }
}

/// The reasons why a scenario cannot be used. `Display` shows the user every problem with its line.
#[derive(Clone, PartialEq, Debug)]
pub struct ScenarioError {
    /// All problems, in the order of the text.
    pub problems: Vec<Problem>,
    origin: Arc<Origin>,
}

impl ScenarioError {
    pub(crate) fn new(origin: Arc<Origin>, mut problems: Vec<Problem>) -> Self {
        for problem in &mut problems {
            if problem.place.is_none() {
                problem.place = origin.place(&problem.path, problem.about_key);
            }
        }
        problems.sort_by_key(|problem| problem.place.as_ref().map_or(usize::MAX, |place| place.start));
        problems.dedup();
        ScenarioError { problems, origin }
    }

    /// The file name as given. Empty if there is none.
    pub fn file(&self) -> &str {
        &self.origin.file
    }

    /// Line and column of a problem, both counted from 1 (columns in characters). `None` without a position in the
    /// text.
    pub fn line_and_column(&self, problem: &Problem) -> Option<(usize, usize)> {
        let place = problem.place.as_ref()?;
        let before = self.origin.text.get(..place.start)?;
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().map_or(0, |start| start.chars().count()) + 1;
        Some((line, column))
    }

    fn write_problem(&self, f: &mut fmt::Formatter<'_>, problem: &Problem) -> fmt::Result {
        writeln!(f, "error: {}", problem.message)?;
        let key = problem.path.to_string();
        let key = if key.is_empty() { String::new() } else { format!(" ({key})") };
        let place = self.line_and_column(problem).zip(problem.place.clone());
        let margin = match place {
            Some(((line, column), bytes)) => {
                let number = line.to_string();
                let margin = " ".repeat(number.len());
                let text = self.origin.text.lines().nth(line - 1).unwrap_or("");
                let (text, before) = excerpt(text, column - 1);
                let room = text.chars().count().saturating_sub(before).max(1);
                let width = self.origin.text.get(bytes).map_or(1, |t| t.lines().next().unwrap_or("").chars().count());
                // Tabs stay tabs in the indent, so that the marks align with the text above.
                let indent: String = text.chars().take(before).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
                writeln!(f, "{margin}--> {}:{line}:{column}{key}", self.origin.file)?;
                writeln!(f, "{margin} |")?;
                writeln!(f, "{number} | {text}")?;
                writeln!(f, "{margin} | {indent}{}", "^".repeat(width.clamp(1, room)))?;
                margin
            }
            None => {
                let origin = if self.origin.is_overridden(&problem.path) { ", set by an override" } else { "" };
                let file = if self.origin.file.is_empty() { "scenario" } else { &self.origin.file };
                writeln!(f, " --> {file}{key}{origin}")?;
                " ".to_owned()
            }
        };
        if let Some(allowed) = &problem.allowed {
            writeln!(f, "{margin} = allowed: {allowed}")?;
        }
        if let Some(help) = &problem.help {
            writeln!(f, "{margin} = help: {help}")?;
        }
        Ok(())
    }
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = 0;
        for (index, problem) in self.problems.iter().enumerate() {
            let text = OneProblem { error: self, problem }.to_string();
            lines += text.lines().count() + usize::from(index > 0);
            if index > 0 && lines > MOST_LINES {
                let more = self.problems.len() - index;
                return writeln!(f, "and {more} more mistake{}", if more == 1 { "" } else { "s" });
            }
            write!(f, "{}{text}", if index > 0 { "\n" } else { "" })?;
        }
        Ok(())
    }
}

/// Formats one problem of an error.
struct OneProblem<'a> {
    error: &'a ScenarioError,
    problem: &'a Problem,
}

impl fmt::Display for OneProblem<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.write_problem(f, self.problem)
    }
}

/// Returns the part of a long line around character `at`, and the index of that character in the part.
fn excerpt(line: &str, at: usize) -> (String, usize) {
    if line.chars().count() <= MOST_COLUMNS {
        return (line.to_owned(), at);
    }
    let first = at.saturating_sub(MOST_COLUMNS / 3);
    let shown: String = line.chars().skip(first).take(MOST_COLUMNS).collect();
    let more = if line.chars().count() > first + MOST_COLUMNS { "…" } else { "" };
    let (left, shift) = if first > 0 { ("…", 1) } else { ("", 0) };
    (format!("{left}{shown}{more}"), at - first + shift)
}

impl std::error::Error for ScenarioError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_shown_around_what_the_message_is_about() {
        let line = "é".repeat(1000) + "wrong" + &"x".repeat(1000);
        let (text, at) = excerpt(&line, 1000);
        assert!(text.chars().count() <= MOST_COLUMNS + 2);
        assert_eq!(text.chars().skip(at).take(5).collect::<String>(), "wrong");
        assert_eq!(excerpt("short", 3), ("short".to_owned(), 3));
    }

    #[test]
    fn a_message_fits_on_a_screen_and_counts_what_it_leaves_out() {
        let text = (0..15).map(|n| format!("wrong{n} = {n}\n")).collect::<String>();
        let error = crate::Scenario::from_toml(&text, "s.toml").expect_err("no scenario");
        let message = error.to_string();
        let shown = message.matches("error: ").count();
        assert!(message.lines().count() <= MOST_LINES + 1, "{message}");
        assert!(message.contains(&format!("and {} more mistakes", error.problems.len() - shown)), "{message}");
    }
}
