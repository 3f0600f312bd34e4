//! Schedules: a sequence of steps, each with a start time and a value.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::ConfigError;
use crate::units::{Instant, Span};

/// A value and the time at which it takes effect.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Step<T> {
    /// Start of the step, measured from the start of the run.
    pub at: Span,
    /// The value until the next step.
    pub is: T,
}

impl<T> Step<T> {
    /// Creates a step: the value is `is` from the time `at`.
    pub const fn new(at: Span, is: T) -> Self {
        Step { at, is }
    }

    /// The start of the step as an instant.
    pub fn begins(&self) -> Instant {
        Instant::ZERO + self.at
    }
}

/// Accepts steps if the first starts at time 0 and each other one starts after the one before it.
///
/// # Errors
/// If there are no steps, if the first starts later, or if two have the same time or the wrong order. The key is
/// `steps`.
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
