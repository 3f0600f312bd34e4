//! Whose habits a transport has where nothing else is said: every transport of which ns-2.35 has one takes the key `preset`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where parameters that are not set come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// What the RFCs say.
    #[default]
    Rfc,
    /// What ns-2.35 does.
    Ns2,
    /// What ns-2 did at the beginning of 2004: as `ns2`, but what its sources say to have changed since is as it was before. TCP: a
    /// shortest timeout of 1 s (`minrto_`, 200 ms since 2004-10-14), a first one of 6 s (`rtxcur_init_`, 3 s since 2006-01-21),
    /// and decreases in whole segments (`precisionReduce_` false until 2006-01-24).
    #[serde(rename = "ns2-2004")]
    Ns2Of2004,
}

impl Preset {
    /// Whether it is one of ns-2's.
    pub fn like_ns2(self) -> bool {
        matches!(self, Preset::Ns2 | Preset::Ns2Of2004)
    }
}
