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
    /// What ns-2 did at the beginning of 2004: as `ns2`, but for three defaults of TCP that its sources say to have changed since. The
    /// shortest timeout is 1 s (`minrto_`, 200 ms since 2004-10-14), the first one 6 s (`rtxcur_init_`, 3 s since 2006-01-21), and
    /// decreases are in whole segments (`precisionReduce_` false until 2006-01-24). Not taken are the longest timeout (`maxrto_`,
    /// 2007) and the rounding of the deviation (`updated_rttvar_`, 2006).
    #[serde(rename = "ns2-2004")]
    Ns2Of2004,
}

impl Preset {
    /// Whether it is one of ns-2's.
    pub fn like_ns2(self) -> bool {
        matches!(self, Preset::Ns2 | Preset::Ns2Of2004)
    }
}
