//! The three TES processes of a video, and the fit that comes with fairwave.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::tes::TesConfig;
use fairwave_units::config::ConfigError;

/// TES processes of the frame sizes of a video, bytes. Only their proportions matter: sizes are scaled to the layers' rates.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct VideoFit {
    /// Where the fit comes from: the clip, how it was encoded, when it was fitted.
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
    /// The first key whose value is not allowed.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.i.check().map_err(|e| e.within("i"))?;
        self.p.check().map_err(|e| e.within("p"))?;
        self.b.check().map_err(|e| e.within("b"))
    }

    /// The fit that comes with fairwave, `fit.json` beside this file.
    ///
    /// # Errors
    /// When that file has been damaged.
    pub fn shipped() -> Result<VideoFit, ConfigError> {
        let fit: VideoFit = serde_json::from_str(include_str!("fit.json")).map_err(|error| {
            ConfigError::new("fit", error, "what traffic/video/fit.json holds: `about`, `i`, `p`, `b`", "omit `fit`")
        })?;
        fit.check()?;
        Ok(fit)
    }
}
