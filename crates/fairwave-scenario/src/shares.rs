//! A workload as it is written: what all flows offer together, and how it is divided. What it comes to is reckoned in
//! `load.rs`.

use fairwave_core::packet::Class;
use fairwave_core::ratio::Percent;
use fairwave_core::units::Rate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What all flows offer together, and how it is divided.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Load {
    /// What all sources offer together while every one of them is on, in bits on the wire.
    pub total: Rate,
    /// Each class's share.
    pub shares: Shares,
    /// What a flow of bulk data counts for; needed when one has a share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transfer: Option<Rate>,
}

/// Shares of the load in percent, which add up to 100. What is left out is 0.
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
