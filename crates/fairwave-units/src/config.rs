//! Errors for values of a configuration: why a value is rejected, and what to write instead.
//!
//! Every law checks its own parameters (`check`), because it alone knows their ranges. It names the key, the value and
//! the allowed values; the reader of a file adds file and line.

use std::fmt::Display;

use crate::units::Span;

/// A value that is out of its range.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{key}` is {value}, but must be {allowed}; write for example `{example}`")]
pub struct ConfigError {
    /// The key as written in the scenario; nested keys are joined by dots (`talk.mean`).
    pub key: String,
    /// The value as given.
    pub value: String,
    /// The allowed values.
    pub allowed: String,
    /// A line in TOML that would be accepted.
    pub example: String,
}

impl ConfigError {
    /// Returns an error about `key`. `allowed` describes the valid values, and `example` is a valid line.
    pub fn new(
        key: impl Into<String>,
        value: impl Display,
        allowed: impl Into<String>,
        example: impl Into<String>,
    ) -> Self {
        let value = readable(value.to_string());
        ConfigError { key: key.into(), value, allowed: allowed.into(), example: example.into() }
    }

    /// Adds the name of the enclosing table: the key becomes `table.key`.
    #[must_use]
    pub fn nested_in(mut self, table: &str) -> Self {
        self.key = format!("{table}.{}", self.key);
        self
    }
}

/// Numbers with more digits are printed as powers of ten.
const MOST_DIGITS: usize = 20;

/// Shortens a number of hundreds of digits to a power of ten. Returns other values as given.
fn readable(value: String) -> String {
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || b"-.".contains(&byte));
    match value.parse::<f64>() {
        Ok(number) if value.len() > MOST_DIGITS && is_number(&value) => format!("{number:e}"),
        _ => value,
    }
}

/// Accepts a fraction in [0, 1].
pub fn check_fraction(key: &str, value: f64, example: &str) -> Result<(), ConfigError> {
    if (0.0..=1.0).contains(&value) {
        return Ok(());
    }
    Err(ConfigError::new(key, value, "a fraction from 0 to 1, or percent in quotes (\"2 %\")", example))
}

/// Accepts a number in the open interval (`low`, `high`). `high` may be infinite; the value may not.
pub fn check_between(key: &str, value: f64, low: f64, high: f64, example: &str) -> Result<(), ConfigError> {
    if value > low && value < high {
        return Ok(());
    }
    let allowed = if high.is_finite() { format!("above {low} and below {high}") } else { format!("above {low}") };
    Err(ConfigError::new(key, value, allowed, example))
}

/// Accepts a span above zero.
pub fn check_span(key: &str, value: Span, example: &str) -> Result<(), ConfigError> {
    if value > Span::ZERO {
        return Ok(());
    }
    Err(ConfigError::new(key, value, "a time above 0", example))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_hundreds_of_digits_is_told_by_its_power_of_ten() {
        let told = |value: &dyn Display| ConfigError::new("weight", value, "", "").value;
        assert_eq!((told(&1e300), told(&-2.5e-300)), ("1e300".to_owned(), "-2.5e-300".to_owned()));
        assert_eq!((told(&0.1), told(&123_456_789_012u64)), ("0.1".to_owned(), "123456789012".to_owned()));
        assert_eq!(told(&"a text of more than twenty letters"), "a text of more than twenty letters");
    }

    #[test]
    fn a_refusal_says_key_value_range_and_remedy() {
        let error = check_fraction("rate", 5.0, "rate = 0.05").expect_err("5 is no fraction").nested_in("loss");
        assert_eq!(
            error.to_string(),
            "`loss.rate` is 5, but must be a fraction from 0 to 1, or percent in quotes (\"2 %\"); write for example `rate = 0.05`"
        );
    }

    #[test]
    fn a_number_that_is_not_one_is_refused() {
        assert!(check_fraction("rate", f64::NAN, "").is_err());
        assert!(check_between("shape", f64::NAN, 1.0, f64::INFINITY, "").is_err());
        assert!(check_between("shape", f64::INFINITY, 1.0, f64::INFINITY, "").is_err());
    }
}
