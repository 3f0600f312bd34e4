//! Named topologies. A preset is data: it expands into explicit links, which `fairwave check --expand` shows.
//!
//! Every flow of a preset topology has a separate host at each end, `NAME-s{i}` and `NAME-d{i}` for a group NAME. Therefore a new
//! group or flow changes neither other hosts nor their random numbers. `source-access` links join hosts to the router at the start
//! of the forward paths, `sink-access` links join the other hosts. The sender of a `reverse` path therefore has `sink-access`. A
//! group may refine the links of its hosts.
//!
//! | preset | routers | paths |
//! |---|---|---|
//! | `dumbbell` | r1 – r2 | `forward` r1→r2, `reverse` r2→r1 |
//! | `two-bottleneck` | r1 – r2 – r3 | `voice` r1→r3, `cross` r2→r3, and `voice-reverse`, `cross-reverse` |
//! | `cross-traffic` | r1 – r2 – r3 | `video` r1→r3, `cross` r2→r3, and `video-reverse`, `cross-reverse` |
//! | `reverse-traffic` | r1 – r2 – r3 | as `cross-traffic`, with the same names |
//! | `multi-hop` | r0 – … – rN | `through` r0→rN, `through-reverse`, and per hop `each-hop` r(i)→r(i+1), `each-hop-reverse` |
//!
//! **Sources and assumptions.** `two-bottleneck` is Figure 1 of papers 000 and 001, whose rates and delays are lost. Assumed are
//! r1→r2 2 Mb/s 10 ms, r2→r3 3 Mb/s 10 ms, and access 10 Mb/s with delays spread over 5–15 ms. The voice sinks' links have 2 Mb/s
//! with packet errors of 0.01 in both directions. `cross-traffic`, `reverse-traffic` and `multi-hop` are paper 002's Figure 5a–c:
//! access 2–10 Mb/s and 5–15 ms, video sinks 2 Mb/s. 10 Mb/s is assumed for the bottlenecks of 5a and 5b. The multi-hop links have
//! 1 Mb/s (its Figure 17) and 10 ms (assumed).

use fairwave_core::loss::{BernoulliConfig, LossConfig};
use fairwave_core::units::{Rate, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::access::AccessNetwork;
use crate::direction::{Direction, LinkSpec};
use crate::law::LawTable;
use crate::rate::WrittenRate;
use crate::values::{FixedOrSpread, Spread, Spreading};

/// The named topologies.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// Two routers, one bottleneck.
    Dumbbell,
    /// Papers 000 and 001: a bottleneck for voice alone, then a bottleneck shared by voice and cross traffic; lossy links to the
    /// receivers.
    TwoBottleneck,
    /// Paper 002 Figure 5a: like `two-bottleneck`, for video.
    CrossTraffic,
    /// Paper 002 Figure 5b: like `cross-traffic`, for traffic in both directions.
    ReverseTraffic,
    /// Paper 002 Figure 5c: a chain of routers, with separate cross traffic on each link.
    MultiHop,
}

/// Default number of links between the routers of `multi-hop`.
const HOPS: u64 = 5;

/// A named topology, with changes to the preset's values.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(extend("required" = [], "anyOf" = [{ "required": ["preset"] }, { "required": ["network"] }]))]
pub struct Topology {
    /// Name of the topology. Default with a `network`: `dumbbell`.
    pub preset: Preset,
    /// `dumbbell`: its bottleneck is this access network. r1 is the provider, r2 the user's router, and `forward` the downlink.
    /// Keys of `bottleneck` and of access links take precedence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<AccessNetwork>,
    /// `dumbbell`: the link r1–r2 (10 Mb/s, 10 ms). `multi-hop`: each link between routers (1 Mb/s, 10 ms).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bottleneck: Option<LinkSpec>,
    /// Three-router presets: the link r1–r2, which carries only the main traffic (`two-bottleneck`: 2 Mb/s, 10 ms).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_bottleneck: Option<LinkSpec>,
    /// Three-router presets: the link r2–r3, which main and cross traffic share (`two-bottleneck`: 3 Mb/s, 10 ms).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared_bottleneck: Option<LinkSpec>,
    /// All links between hosts and routers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access: Option<LinkSpec>,
    /// Differences from `access` for links of hosts at the start of forward paths.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_access: Option<LinkSpec>,
    /// Differences from `access` for links of hosts at the end of forward paths. Three-router presets: main traffic only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sink_access: Option<LinkSpec>,
    /// `multi-hop`: number of links between routers, 1 to 1000. Default 5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = HOPS))]
    pub hops: Option<u64>,
}

/// Ends of a path.
pub(crate) struct PathEnds {
    /// Router of the senders. A template for per-hop paths.
    pub source: String,
    /// Router of the receivers. A template for per-hop paths.
    pub sink: String,
    /// The senders' access links.
    pub source_access: LinkSpec,
    /// The receivers' access links.
    pub sink_access: LinkSpec,
    /// Number of flows of a group without `count`.
    pub default_count: u64,
}

impl Preset {
    /// Name in the language.
    pub fn name(self) -> &'static str {
        match self {
            Preset::Dumbbell => "dumbbell",
            Preset::TwoBottleneck => "two-bottleneck",
            Preset::CrossTraffic => "cross-traffic",
            Preset::ReverseTraffic => "reverse-traffic",
            Preset::MultiHop => "multi-hop",
        }
    }

    /// The keys that apply to this preset.
    pub fn keys(self) -> &'static [&'static str] {
        match self {
            Preset::Dumbbell => &["preset", "network", "bottleneck", "access", "source-access", "sink-access"],
            Preset::MultiHop => &["preset", "bottleneck", "access", "source-access", "sink-access", "hops"],
            _ => &["preset", "first-bottleneck", "shared-bottleneck", "access", "source-access", "sink-access"],
        }
    }

    /// The paths that flows may name. Flows without `path` take the first.
    pub fn paths(self) -> &'static [&'static str] {
        match self {
            Preset::Dumbbell => &["forward", "reverse"],
            Preset::TwoBottleneck => &["voice", "cross", "voice-reverse", "cross-reverse"],
            Preset::CrossTraffic | Preset::ReverseTraffic => &["video", "cross", "video-reverse", "cross-reverse"],
            Preset::MultiHop => &["through", "through-reverse", "each-hop", "each-hop-reverse"],
        }
    }
}

fn link(rate: WrittenRate, delay: FixedOrSpread<Span>) -> LinkSpec {
    Direction { rate: Some(rate), delay: Some(delay.into()), ..Direction::default() }.into()
}

fn megabits(rate: u64) -> WrittenRate {
    Rate::from_bits_per_second(rate * 1_000_000).into()
}

fn millis(delay: u64) -> FixedOrSpread<Span> {
    FixedOrSpread::Fixed(Span::from_millis(delay))
}

fn five_to_fifteen_millis() -> FixedOrSpread<Span> {
    let (from, to) = (Span::from_millis(5), Span::from_millis(15));
    FixedOrSpread::Spread(Spread { from, to, spread: Spreading::Random })
}

fn two_to_ten_megabits() -> WrittenRate {
    let (from, to) = (Rate::from_bits_per_second(2_000_000), Rate::from_bits_per_second(10_000_000));
    WrittenRate::Constant(FixedOrSpread::Spread(Spread { from, to, spread: Spreading::Random }))
}

impl Topology {
    /// The preset with its default values.
    pub fn new(preset: Preset) -> Self {
        Topology {
            preset,
            network: None,
            bottleneck: None,
            first_bottleneck: None,
            shared_bottleneck: None,
            access: None,
            source_access: None,
            sink_access: None,
            hops: None,
        }
    }

    /// Every link specification in the table, with its key.
    pub(crate) fn specs(&self) -> impl Iterator<Item = (&'static str, &LinkSpec)> {
        [
            ("bottleneck", &self.bottleneck),
            ("first-bottleneck", &self.first_bottleneck),
            ("shared-bottleneck", &self.shared_bottleneck),
            ("access", &self.access),
            ("source-access", &self.source_access),
            ("sink-access", &self.sink_access),
        ]
        .into_iter()
        .filter_map(|(key, spec)| spec.as_ref().map(|spec| (key, spec)))
    }

    /// Every link specification in the table.
    pub(crate) fn specs_mut(&mut self) -> impl Iterator<Item = &mut LinkSpec> {
        [
            &mut self.bottleneck,
            &mut self.first_bottleneck,
            &mut self.shared_bottleneck,
            &mut self.access,
            &mut self.source_access,
            &mut self.sink_access,
        ]
        .into_iter()
        .flatten()
    }

    /// Number of links between routers.
    pub fn hops(&self) -> u64 {
        self.hops.unwrap_or(HOPS)
    }

    /// The links between the routers: names of both ends, number of links, and their specification.
    pub(crate) fn backbone(&self) -> Vec<(String, String, u64, LinkSpec)> {
        let of = |written: &Option<LinkSpec>, rate: u64| {
            let base = link(megabits(rate), millis(10));
            written.as_ref().map_or_else(|| base.clone(), |own| own.or(&base))
        };
        let named = |from: &str, to: &str, count, spec| (from.to_owned(), to.to_owned(), count, spec);
        let (first, shared) = if self.preset == Preset::TwoBottleneck { (2, 3) } else { (10, 10) };
        match self.preset {
            Preset::Dumbbell => {
                let spec = match (self.network.map(AccessNetwork::link), &self.bottleneck) {
                    (Some(network), Some(own)) => own.or(&network),
                    (Some(network), None) => network,
                    (None, _) => of(&self.bottleneck, 10),
                };
                vec![named("r1", "r2", 1, spec)]
            }
            Preset::MultiHop => vec![named("r{i}", "r{i+1}", self.hops(), of(&self.bottleneck, 1))],
            _ => vec![
                named("r1", "r2", 1, of(&self.first_bottleneck, first)),
                named("r2", "r3", 1, of(&self.shared_bottleneck, shared)),
            ],
        }
    }

    /// Access links at the start of forward paths.
    fn source_access(&self) -> LinkSpec {
        let base = self.network.map_or_else(|| self.base_access(), |_| AccessNetwork::servers());
        layered(&[&self.source_access, &self.access], base)
    }

    /// Access links at the end of forward paths. `main` selects those of the main traffic.
    fn sink_access(&self, main: bool) -> LinkSpec {
        let three_routers = !matches!(self.preset, Preset::Dumbbell | Preset::MultiHop);
        if !three_routers {
            let base = self.network.map_or_else(|| self.base_access(), |_| AccessNetwork::devices());
            return layered(&[&self.sink_access, &self.access], base);
        }
        if !main {
            return layered(&[&self.access], self.base_access());
        }
        let errors = LawTable::from_law(&LossConfig::from(BernoulliConfig { rate: 0.01 })).ok();
        let wireless = Direction { rate: Some(megabits(2)), loss: errors, ..Direction::default() }.into();
        layered(&[&self.sink_access, &Some(wireless), &self.access], self.base_access())
    }

    fn base_access(&self) -> LinkSpec {
        match self.preset {
            Preset::Dumbbell => link(megabits(100), millis(5)),
            Preset::MultiHop => link(megabits(10), millis(5)),
            Preset::TwoBottleneck => link(megabits(10), five_to_fifteen_millis()),
            Preset::CrossTraffic | Preset::ReverseTraffic => link(two_to_ten_megabits(), five_to_fifteen_millis()),
        }
    }

    /// Ends of the named path. `None` if this preset does not have it.
    pub(crate) fn path(&self, name: &str) -> Option<PathEnds> {
        if !self.preset.paths().contains(&name) {
            return None;
        }
        let base = name.strip_suffix("-reverse");
        let hops = self.hops();
        let (from, to, main, default_count) = match (self.preset, base.unwrap_or(name)) {
            (Preset::Dumbbell, _) => ("r1".to_owned(), "r2".to_owned(), false, 1),
            (Preset::MultiHop, "through") => ("r0".to_owned(), format!("r{hops}"), false, 1),
            (Preset::MultiHop, _) => (format!("r{{i%{hops}}}"), format!("r{{i%{hops}+1}}"), false, hops),
            (_, "cross") => ("r2".to_owned(), "r3".to_owned(), false, 1),
            _ => ("r1".to_owned(), "r3".to_owned(), true, 1),
        };
        let (source_access, sink_access) = (self.source_access(), self.sink_access(main));
        // `reverse` alone exists in the dumbbell only. Other names end in `-reverse`.
        Some(if base.is_some() || name == "reverse" {
            PathEnds { source: to, sink: from, source_access: sink_access, sink_access: source_access, default_count }
        } else {
            PathEnds { source: from, sink: to, source_access, sink_access, default_count }
        })
    }
}

fn layered(layers: &[&Option<LinkSpec>], base: LinkSpec) -> LinkSpec {
    layers.iter().rev().filter_map(|layer| layer.as_ref()).fold(base, |below, layer| layer.or(&below))
}
