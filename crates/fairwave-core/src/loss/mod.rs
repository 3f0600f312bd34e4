//! How links lose packets for reasons other than congestion.
//!
//! A loss model is asked once per packet, in the order in which packets leave the link, and answers whether this one is lost.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a link loses packets.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "model", rename_all = "kebab-case", deny_unknown_fields)]
pub enum LossConfig {
    /// Not at all.
    #[default]
    None,
    /// Each packet independently.
    Bernoulli {
        /// Packet error rate, 0 to 1 (a fraction, not percent).
        rate: f64,
    },
}
