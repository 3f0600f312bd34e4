//! Access networks by name, such as *DSL* or *train*. `topology = { network = "lte" }` is a dumbbell whose bottleneck is the access
//! network.
//!
//! The data is TOML, one file per network under `networks/`: `down` (from the provider to the user), the differences of `up`, and
//! `sources`. A † marks an assumption. The links use the keys of the scenario language. Keys that the scenario sets take
//! precedence.
//!
//! **Assumptions.** `r1` is the provider, `r2` the user's router: `forward` is the downlink, `reverse` the uplink. Servers are 10
//! ms away from the provider, with 1 Gb/s †.

use std::collections::BTreeMap;

use fairwave_core::units::{Rate, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::direction::{Direction, LinkSpec};
use crate::values::FixedOrSpread;

/// Declares the networks, each with its name in scenarios.
macro_rules! networks {
    ($($(#[doc = $about:literal])+ $Variant:ident = $name:literal,)+) => {
        /// The access networks that have a name.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
        pub enum AccessNetwork {
            $($(#[doc = $about])+ #[serde(rename = $name)] $Variant,)+
        }

        impl AccessNetwork {
            /// All networks, in the order of lists and help texts.
            pub const ALL: &'static [AccessNetwork] = &[$(AccessNetwork::$Variant,)+];

            /// Name in the language.
            pub const fn name(self) -> &'static str {
                match self {
                    $(AccessNetwork::$Variant => $name,)+
                }
            }

            /// Data as TOML.
            pub const fn text(self) -> &'static str {
                match self {
                    $(AccessNetwork::$Variant => include_str!(concat!("../networks/", $name, ".toml")),)+
                }
            }
        }
    };
}

networks! {
    /// A VDSL2 line.
    Dsl = "dsl",
    /// Cable television (DOCSIS 3.1).
    Cable = "cable",
    /// A passive optical network.
    Fibre = "fibre",
    /// A user in an LTE cell.
    Lte = "lte",
    /// A user in a 5G cell.
    FiveG = "5g",
    /// Wi-Fi at home.
    WifiHome = "wifi-home",
    /// Wi-Fi in an office.
    WifiOffice = "wifi-office",
    /// A geostationary satellite.
    Geostationary = "geostationary",
    /// Satellites in low orbit.
    LowOrbit = "low-orbit",
    /// LTE in a fast train.
    Train = "train",
}

/// Data of an access network.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct AccessData {
    /// Description of the network in one sentence.
    pub about: String,
    /// From the provider to the user.
    pub down: Direction,
    /// Differences of the direction from the user to the provider.
    pub up: Direction,
    /// Sources of `rate`, `delay`, `buffer` and `loss`, with the year. † marks assumptions.
    pub sources: BTreeMap<String, String>,
}

impl AccessNetwork {
    /// Reads the network's data. The files are compiled into the program, and a test reads all of them.
    ///
    /// # Errors
    /// A file with unknown or missing keys.
    pub fn data(self) -> Result<AccessData, String> {
        toml::from_str(self.text()).map_err(|error| format!("networks/{}.toml: {error}", self.name()))
    }

    /// The link from the provider to the user.
    pub(crate) fn link(self) -> LinkSpec {
        let Ok(AccessData { down, up, .. }) = self.data() else { return LinkSpec::default() };
        LinkSpec { there: down, reverse: Some(up) }
    }

    /// The links between servers and the provider's router.
    pub(crate) fn servers() -> LinkSpec {
        link(Rate::from_bits_per_second(1_000_000_000), Span::from_millis(10))
    }

    /// The links between the user's router and devices.
    pub(crate) fn devices() -> LinkSpec {
        link(Rate::from_bits_per_second(1_000_000_000), Span::from_millis(0))
    }
}

fn link(rate: Rate, delay: Span) -> LinkSpec {
    Direction { rate: Some(rate.into()), delay: Some(FixedOrSpread::Fixed(delay).into()), ..Direction::default() }
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scenario;
    use fairwave_core::random::Seed;

    fn scenario(topology: &str) -> String {
        format!(
            "name = \"n\"\nduration = \"20 s\"\ntopology = {topology}\n[[flow]]\nname = \"call\"\npath = \"reverse\"\n\
             transport = \"udp\"\ntraffic = \"voice\"\n"
        )
    }

    #[test]
    fn networks_are_scenarios_with_sources() {
        for network in AccessNetwork::ALL {
            let data = network.data().unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(
                data.sources.keys().map(String::as_str).collect::<Vec<_>>(),
                ["buffer", "delay", "loss", "rate"]
            );
            for (key, source) in &data.sources {
                let dated = source.contains("(19") || source.contains("(20") || source.contains(" 20");
                assert!(
                    source.contains('†') || dated || source.contains("3GPP TS") || source.contains("Linux"),
                    "{key}: {source}"
                );
            }
            let text = scenario(&format!("{{ network = \"{}\" }}", network.name()));
            let read =
                Scenario::from_toml(&text, "n.toml").unwrap_or_else(|error| panic!("{}: {error}", network.name()));
            let plan = read.plan(Seed(1)).unwrap_or_else(|error| panic!("{}: {error}", network.name()));
            assert!(!plan.links.is_empty());
            let again = Scenario::from_toml(&read.to_toml().expect("written"), "n.toml").expect("read again");
            assert_eq!(again.topology, read.topology);
        }
    }

    #[test]
    fn keys_of_the_scenario_win_over_the_network() {
        let text =
            scenario("{ network = \"lte\", bottleneck = { delay = \"99 ms\", reverse = { rate = \"1 Mb/s\" } } }");
        let expanded = Scenario::from_toml(&text, "n.toml").expect("read").expand_preset().expect("expanded");
        let link = expanded.links.iter().find(|link| link.from == "r1" && link.to == "r2").expect("the access link");
        let lte = AccessNetwork::Lte.link();
        assert_eq!(link.spec.direction(false).rate, lte.there.rate);
        assert_eq!(link.spec.direction(true).rate, Some(Rate::from_bits_per_second(1_000_000).into()));
        assert_eq!(link.spec.direction(false).delay().bounds().0, Span::from_millis(99));
    }

    #[test]
    fn an_unknown_network_is_refused_with_the_names() {
        let error = Scenario::from_toml(&scenario("{ network = \"lt\" }"), "n.toml").expect_err("no such").to_string();
        assert!(error.contains("lte") && error.contains("geostationary"), "{error}");
        let wrong = scenario("{ network = \"lte\", preset = \"multi-hop\" }");
        let error = Scenario::from_toml(&wrong, "n.toml").expect_err("a chain has no access").to_string();
        assert!(error.contains("network"), "{error}");
    }
}
