//! The parameters of the loss models and their ranges.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::{ConfigError, check_fraction, check_span};
use crate::units::Span;

/// How a link loses packets.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "model", rename_all = "kebab-case", rename_all_fields = "kebab-case", deny_unknown_fields)]
pub enum LossConfig {
    /// Not at all.
    None {},
    /// Each packet independently (papers 000, 001, 003).
    Bernoulli {
        /// Packet error rate, 0 to 1 (a fraction, not percent).
        rate: f64,
    },
    /// Correlated Bernoulli (paper 002 §4.1): packets come in rounds of geometric length; within a round a packet that
    /// follows a lost one is lost with one probability, every other packet with another.
    ///
    /// **Assumptions.** The paper's sentence that defines q gives it in both cases; it is read as above. The mean length
    /// of a round is not stated: 10 packets.
    Rounds {
        /// Paper 002's p: probability that a round's first packet, or one after a packet that was not lost, is lost. Default 0.01.
        #[serde(default = "default_first")]
        first: f64,
        /// Paper 002's q: probability that a packet is lost whose predecessor in the round was. Default 0.15.
        #[serde(default = "default_after_loss")]
        after_loss: f64,
        /// Mean packets in a round, at least 1. Default 10.
        #[serde(default = "default_mean_length")]
        mean_length: f64,
    },
    /// A two-state Markov chain in continuous time, each state with its loss rate (Gilbert 1960, Elliott 1963; paper 003
    /// §II). It begins in its stationary distribution.
    Markov {
        /// Mean time in the good state.
        good: Span,
        /// Mean time in the bad state.
        bad: Span,
        /// Loss rate in the good state, 0 to 1. Default 0.
        #[serde(default)]
        good_loss: f64,
        /// Loss rate in the bad state, 0 to 1. Default 1.
        #[serde(default = "default_bad_loss")]
        bad_loss: f64,
    },
    /// Handoffs (paper 003 §II): connected for a while, then everything is lost for a while. It begins connected.
    Handoff {
        /// Mean time connected.
        up: Span,
        /// Mean time during which everything is lost.
        down: Span,
        /// Times are always their means instead of exponential. Default false.
        #[serde(default)]
        constant: bool,
    },
    /// Everything is lost once, in the interval `[from, to)` of the run (paper 003, Figure 20).
    Blackout {
        /// Its beginning, counted from the beginning of the run.
        from: Span,
        /// Its end, likewise.
        to: Span,
    },
    /// As recorded, packet by packet.
    Pattern {
        /// One character for each packet: `1` lost, `0` not; blanks are ignored.
        pattern: String,
        /// Begins again at its end; otherwise nothing more is lost. Default true.
        #[serde(default = "default_repeat")]
        repeat: bool,
    },
}

fn default_first() -> f64 {
    0.01
}

fn default_after_loss() -> f64 {
    0.15
}

fn default_mean_length() -> f64 {
    10.0
}

fn default_bad_loss() -> f64 {
    1.0
}

fn default_repeat() -> bool {
    true
}

impl Default for LossConfig {
    fn default() -> Self {
        LossConfig::None {}
    }
}

impl LossConfig {
    /// Checks all ranges.
    ///
    /// # Errors
    /// The first key whose value is not allowed.
    pub fn check(&self) -> Result<(), ConfigError> {
        match self {
            LossConfig::None {} => Ok(()),
            LossConfig::Bernoulli { rate } => check_fraction("rate", *rate, "rate = 0.01"),
            LossConfig::Rounds { first, after_loss, mean_length } => {
                check_fraction("first", *first, "first = 0.01")?;
                check_fraction("after-loss", *after_loss, "after-loss = 0.15")?;
                if *mean_length >= 1.0 && mean_length.is_finite() {
                    return Ok(());
                }
                Err(ConfigError::new("mean-length", mean_length, "at least 1 packet", "mean-length = 10"))
            }
            LossConfig::Markov { good, bad, good_loss, bad_loss } => {
                check_span("good", *good, "good = \"5 s\"")?;
                check_span("bad", *bad, "bad = \"500 ms\"")?;
                check_fraction("good-loss", *good_loss, "good-loss = 0.0")?;
                check_fraction("bad-loss", *bad_loss, "bad-loss = 1.0")
            }
            LossConfig::Handoff { up, down, .. } => {
                check_span("up", *up, "up = \"5 s\"")?;
                check_span("down", *down, "down = \"500 ms\"")
            }
            LossConfig::Blackout { from, to } => {
                if from < to {
                    return Ok(());
                }
                Err(ConfigError::new("to", to, format!("later than `from` ({from})"), "from = \"30 s\", to = \"31 s\""))
            }
            LossConfig::Pattern { pattern, .. } => lost_packets(pattern).map(|_| ()),
        }
    }
}

/// Reads a pattern of `0` and `1`.
pub(super) fn lost_packets(pattern: &str) -> Result<Box<[bool]>, ConfigError> {
    let refuse = |value: String, allowed: &str| ConfigError::new("pattern", value, allowed, "pattern = \"0000100000\"");
    let lost = pattern
        .chars()
        .filter(|c| !c.is_whitespace())
        .map(|c| match c {
            '0' => Ok(false),
            '1' => Ok(true),
            other => Err(refuse(format!("`{other}`"), "made of 0 (arrives) and 1 (lost)")),
        })
        .collect::<Result<Box<[bool]>, ConfigError>>()?;
    if lost.is_empty() {
        return Err(refuse("empty".to_owned(), "at least one packet long"));
    }
    Ok(lost)
}
