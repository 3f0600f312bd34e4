//! TES processes of a video's frames, and the default fit.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::tes::TesConfig;
use fairwave_units::config::ConfigError;

/// TES processes of the frame sizes of a video, bytes. Only their ratios matter, because sizes are scaled to the
/// layers' rates.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct VideoFit {
    /// Origin of the fit: the clip, its encoding, and the date of the fit.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// I frames.
    pub i: TesConfig,
    /// P frames.
    pub p: TesConfig,
    /// B frames.
    pub b: TesConfig,
}

impl VideoFit {
    /// Checks the ranges.
    ///
    /// # Errors
    /// The first key with an invalid value.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.i.check().map_err(|e| e.nested_in("i"))?;
        self.p.check().map_err(|e| e.nested_in("p"))?;
        self.b.check().map_err(|e| e.nested_in("b"))
    }

    /// Returns the default fit, from `fit.json` in this folder.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn shipped() -> Result<VideoFit, ConfigError> {
        let fit: VideoFit = serde_json::from_str(include_str!("fit.json")).map_err(|error| {
            ConfigError::new("fit", error, "what traffic/video/fit.json holds: `about`, `i`, `p`, `b`", "omit `fit`")
        })?;
        fit.check()?;
        Ok(fit)
    }
}
