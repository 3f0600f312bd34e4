//! A workload as written: the total offered load, and the shares of the classes. `load.rs` computes the numbers of flows.

use fairwave_core::packet::Class;
use fairwave_core::ratio::Percent;
use fairwave_core::units::Rate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Total load offered by all flows, and the share of each class.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Load {
    /// Load of all sources while every source is active, in bits on the wire.
    pub total: Rate,
    /// Each class's share.
    pub shares: Shares,
    /// The rate counted for one flow of bulk data. Required if bulk data has a share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transfer: Option<Rate>,
}

/// Shares of the load in percent. They add up to 100. An omitted share is 0.
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
    /// Each class with its name in the language and its share in percent.
    pub(crate) fn entries(&self) -> [(&'static str, Class, f64); 3] {
        [
            ("voice", Class::Voice, self.voice),
            ("other-udp", Class::OtherUdp, self.other_udp),
            ("tcp", Class::Tcp, self.tcp),
        ]
    }
}
