//! Presets: the source of default values. Every transport that ns-2.35 also has takes the key `preset`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The source of parameters that the scenario does not set.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// The RFCs' values.
    Rfc,
    /// The defaults of a current Linux (6.x), for TCP. The initial window is ten segments (RFC 6928) of 1448 B
    /// with headers of 52 B. The receiver acknowledges every second segment, or a single one after 40 ms, but each
    /// of the first sixteen at once; its window never limits. With a controller that recovers by selective
    /// acknowledgements, losses are detected by time (RACK-TLP) and the window falls in proportion (PRR). A tail
    /// loss probe follows after two round trips and 2 ms, or 200 ms if one segment is in flight. It never waits
    /// beyond the timeout. The first timeout is 1 s, and every other is at least 200 ms above the round trip. The
    /// window falls to the initial window after idling for a timeout. Only a controller that paces has its
    /// segments paced, and only a controller that asks for ECN has them marked as ECN-capable. Reno's growth, in
    /// all controllers that build on it, counts acknowledged segments, and stops while the window is not filled.
    /// Not included are the adaptation of the 40 ms (up to 200 ms) to the arrival rate of segments, and quick
    /// acknowledgements after disorder. Also not included are the halving of the window with each timeout of
    /// idling, F-RTO and other ways of undoing a reduction, DSACK, and offloading of segmentation.
    #[default]
    Linux,
    /// The values of ns-2.35.
    Ns2,
    /// The values of ns-2 at the beginning of 2004. They equal `ns2`, except for three defaults of TCP that have
    /// changed since, according to its sources. The shortest timeout is 1 s (`minrto_`, 200 ms since 2004-10-14),
    /// the first one 6 s (`rtxcur_init_`, 3 s since 2006-01-21). Decreases are in whole segments
    /// (`precisionReduce_` false until 2006-01-24). Not taken are the longest timeout (`maxrto_`, 2007) and the
    /// rounding of the deviation (`updated_rttvar_`, 2006).
    #[serde(rename = "ns2-2004")]
    Ns2Of2004,
}

impl Preset {
    /// All presets.
    pub const ALL: [Preset; 4] = [Preset::Rfc, Preset::Linux, Preset::Ns2, Preset::Ns2Of2004];

    /// The preset's name in scenarios.
    pub fn name(self) -> &'static str {
        match self {
            Preset::Rfc => "rfc",
            Preset::Linux => "linux",
            Preset::Ns2 => "ns2",
            Preset::Ns2Of2004 => "ns2-2004",
        }
    }

    /// The default of a parameter under each of these presets, by the preset's name. A schema lists this table
    /// under `x-defaults`.
    pub fn defaults<T: Serialize>(presets: &[Preset], of: impl Fn(Preset) -> T) -> Map<String, Value> {
        let value = |&preset: &Preset| Some((preset.name().to_owned(), serde_json::to_value(of(preset)).ok()?));
        presets.iter().filter_map(value).collect()
    }

    /// True for the presets of ns-2.
    pub fn like_ns2(self) -> bool {
        matches!(self, Preset::Ns2 | Preset::Ns2Of2004)
    }
}
