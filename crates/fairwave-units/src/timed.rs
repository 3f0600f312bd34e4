//! Schedules: steps that hold from a time on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::ConfigError;
use crate::units::{Instant, Span};

/// A value and the time from which it holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Step<T> {
    /// Start of the step, counted from the beginning of the run.
    pub at: Span,
    /// The value until the next step.
    pub is: T,
}

impl<T> Step<T> {
    /// `is` from `at` on.
    pub const fn new(at: Span, is: T) -> Self {
        Step { at, is }
    }

    /// When it begins.
    pub fn begins(&self) -> Instant {
        Instant::ZERO + self.at
    }
}

/// Accepts steps of which the first begins with the run and each other one later than the one before it.
///
/// # Errors
/// No steps, a first one that begins later, two out of order or at the same time; the key is `steps`.
pub fn check_steps<T>(steps: &[Step<T>], example: &str) -> Result<(), ConfigError> {
    let refuse = |value: String, allowed: &str| Err(ConfigError::new("steps", value, allowed, example));
    match steps.first() {
        None => return refuse("empty".to_owned(), "one step at least"),
        Some(first) if first.at > Span::ZERO => {
            return refuse(
                format!("without a value before {}", first.at),
                "such that the first step begins `at = \"0 s\"`",
            );
        }
        Some(_) => {}
    }
    match steps.windows(2).find(|pair| pair[0].at >= pair[1].at) {
        Some(pair) => {
            refuse(format!("{} after {}", pair[1].at, pair[0].at), "in ascending order of `at`, each time once")
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_begin_with_the_run_and_come_one_after_the_other() {
        let refused = |times: &[u64]| {
            let steps: Vec<_> = times.iter().map(|at| Step::new(Span::from_secs(*at), ())).collect();
            check_steps(&steps, "steps = []").map_err(|error| error.value)
        };
        assert_eq!(refused(&[0, 1, 5]), Ok(()));
        assert_eq!(refused(&[]), Err("empty".to_owned()));
        assert_eq!(refused(&[1, 2]), Err("without a value before 1 s".to_owned()));
        assert_eq!(refused(&[0, 5, 2]), Err("2 s after 5 s".to_owned()));
        assert_eq!(refused(&[0, 5, 5]), Err("5 s after 5 s".to_owned()));
    }
}
