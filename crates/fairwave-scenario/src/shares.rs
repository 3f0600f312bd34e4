//! A workload as it is written: what all flows offer together, and how it is divided. `load.rs` computes the result.

use fairwave_core::packet::Class;
use fairwave_core::ratio::Percent;
use fairwave_core::units::Rate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The load that all flows offer together, and the share of each class.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Load {
    /// The load of all sources while every source is on, in bits on the wire.
    pub total: Rate,
    /// Each class's share.
    pub shares: Shares,
    /// The rate that stands for one flow of bulk data; needed when bulk data has a share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transfer: Option<Rate>,
}

/// Shares of the load in percent; they add up to 100. A share that is left out is 0.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Shares {
    /// Voice.
    #[serde(with = "Percent")]
    pub voice: f64,
    /// UDP that is not voice.
    #[serde(with = "Percent")]
    pub other_udp: f64,
    /// TCP.
    #[serde(with = "Percent")]
    pub tcp: f64,
}

impl Shares {
    /// Each class by its name in the language.
    pub(crate) fn each(&self) -> [(&'static str, Class, f64); 3] {
        [
            ("voice", Class::Voice, self.voice),
            ("other-udp", Class::OtherUdp, self.other_udp),
            ("tcp", Class::Tcp, self.tcp),
        ]
    }
}
