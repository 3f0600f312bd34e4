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
}
