//! Which transports there are, by name, and how a choice is written: as the name alone or as a table with a name.

use std::fmt;
use std::str::FromStr;

use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::TransportConfig;
use super::tcp::{Flavour, TcpConfig};
use crate::config::ConfigError;

/// Every transport by name, in the order in which they are listed to people.
const NAMES: [&str; 15] = [
    "udp",
    "tfrc",
    "dvrc",
    "rtcp",
    Flavour::Tahoe.name(),
    Flavour::Reno.name(),
    Flavour::Newreno.name(),
    Flavour::Sack.name(),
    Flavour::Aimd.name(),
    Flavour::Gamma.name(),
    Flavour::GammaDelta.name(),
    Flavour::Vegas.name(),
    Flavour::Westwood.name(),
    Flavour::WestwoodPlus.name(),
    Flavour::Real.name(),
];

impl TransportConfig {
    /// The names of all transports.
    pub fn names() -> &'static [&'static str] {
        &NAMES
    }

    /// A TCP of this flavour.
    pub fn from_tcp(flavour: Flavour, config: TcpConfig) -> Self {
        match flavour {
            Flavour::Tahoe => TransportConfig::TcpTahoe(config),
            Flavour::Reno => TransportConfig::TcpReno(config),
            Flavour::Newreno => TransportConfig::TcpNewreno(config),
            Flavour::Sack => TransportConfig::TcpSack(config),
            Flavour::Aimd => TransportConfig::TcpAimd(config),
            Flavour::Gamma => TransportConfig::TcpGamma(config),
            Flavour::GammaDelta => TransportConfig::TcpGammaDelta(config),
            Flavour::Vegas => TransportConfig::TcpVegas(config),
            Flavour::Westwood => TransportConfig::TcpWestwood(config),
            Flavour::WestwoodPlus => TransportConfig::TcpWestwoodPlus(config),
            Flavour::Real => TransportConfig::TcpReal(config),
        }
    }

    /// Flavour and parameters, if it is a TCP.
    pub fn tcp(&self) -> Option<(Flavour, &TcpConfig)> {
        match self {
            TransportConfig::TcpTahoe(config) => Some((Flavour::Tahoe, config)),
            TransportConfig::TcpReno(config) => Some((Flavour::Reno, config)),
            TransportConfig::TcpNewreno(config) => Some((Flavour::Newreno, config)),
            TransportConfig::TcpSack(config) => Some((Flavour::Sack, config)),
            TransportConfig::TcpAimd(config) => Some((Flavour::Aimd, config)),
            TransportConfig::TcpGamma(config) => Some((Flavour::Gamma, config)),
            TransportConfig::TcpGammaDelta(config) => Some((Flavour::GammaDelta, config)),
            TransportConfig::TcpVegas(config) => Some((Flavour::Vegas, config)),
            TransportConfig::TcpWestwood(config) => Some((Flavour::Westwood, config)),
            TransportConfig::TcpWestwoodPlus(config) => Some((Flavour::WestwoodPlus, config)),
            TransportConfig::TcpReal(config) => Some((Flavour::Real, config)),
            TransportConfig::Udp(_)
            | TransportConfig::Tfrc(_)
            | TransportConfig::Dvrc(_)
            | TransportConfig::Rtcp(_) => None,
        }
    }

    /// Its name, as in [`Self::names`].
    pub fn name(&self) -> &'static str {
        match self {
            TransportConfig::Udp(_) => "udp",
            TransportConfig::Tfrc(_) => "tfrc",
            TransportConfig::Dvrc(_) => "dvrc",
            TransportConfig::Rtcp(_) => "rtcp",
            tcp => tcp.tcp().map_or("tcp", |(flavour, _)| flavour.name()),
        }
    }

    /// The name, with the parameters that tell one TCP(α, β) from another: `tcp/aimd(0.31, 0.875)`.
    pub fn label(&self) -> String {
        match self {
            TransportConfig::TcpAimd(c) | TransportConfig::TcpGamma(c) | TransportConfig::TcpGammaDelta(c)
                if c.alpha.is_some() || c.beta.is_some() =>
            {
                format!("{}({}, {})", self.name(), c.alpha.unwrap_or(1.0), c.beta.unwrap_or(0.5))
            }
            _ => self.name().to_owned(),
        }
    }
}

impl FromStr for TransportConfig {
    type Err = ConfigError;

    /// The transport of this name with its defaults.
    fn from_str(name: &str) -> Result<Self, ConfigError> {
        match name {
            "udp" => return Ok(TransportConfig::Udp(super::udp::UdpConfig::default())),
            "tfrc" => return Ok(TransportConfig::Tfrc(super::tfrc::TfrcConfig::default())),
            "dvrc" => return Ok(TransportConfig::Dvrc(super::dvrc::DvrcConfig::default())),
            "rtcp" => return Ok(TransportConfig::Rtcp(super::rtcp::RtcpConfig::default())),
            _ => {}
        }
        Flavour::ALL
            .into_iter()
            .find(|flavour| flavour.name() == name)
            .map(|flavour| TransportConfig::from_tcp(flavour, TcpConfig::default()))
            .ok_or_else(|| {
                ConfigError::new("transport", name, format!("one of {}", NAMES.join(", ")), "transport = \"tcp/vegas\"")
            })
    }
}

impl Serialize for TransportConfig {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        TransportConfig::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for TransportConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameOrTable;
        impl<'de> Visitor<'de> for NameOrTable {
            type Value = TransportConfig;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a transport's name, for example \"tcp/vegas\", or a table with `name`")
            }
            fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<TransportConfig, E> {
                name.parse().map_err(E::custom)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<TransportConfig, A::Error> {
                TransportConfig::deserialize(MapAccessDeserializer::new(map))
            }
        }
        deserializer.deserialize_any(NameOrTable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Span;

    fn read(json: &str) -> Result<TransportConfig, serde_json::Error> {
        serde_json::from_str(json)
    }

    #[test]
    fn a_name_alone_stands_for_the_defaults() {
        for name in TransportConfig::names() {
            let config = read(&format!("\"{name}\"")).expect("a transport");
            assert_eq!(config.name(), *name);
            assert_eq!(read(&format!("{{\"name\": \"{name}\"}}")).expect("a transport"), config);
            config.check().expect("defaults are in range");
        }
    }

    #[test]
    fn a_table_sets_parameters_and_is_written_as_it_was_read() {
        let text =
            r#"{"name":"tcp/aimd","preset":"ns2","recovery":"sack","alpha":0.31,"beta":0.875,"min-rto":"200 ms"}"#;
        let config = read(text).expect("a transport");
        let (flavour, tcp) = config.tcp().expect("a TCP");
        assert_eq!((flavour, tcp.alpha, tcp.beta), (Flavour::Aimd, Some(0.31), Some(0.875)));
        assert_eq!(tcp.min_rto, Some(Span::from_millis(200)));
        assert_eq!(serde_json::to_string(&config).expect("text"), text);
        assert_eq!(config.label(), "tcp/aimd(0.31, 0.875)");
    }

    #[test]
    fn unknown_names_and_keys_are_refused() {
        let error = read("\"tcp/vages\"").expect_err("no such transport").to_string();
        assert!(error.contains("tcp/vages") && error.contains("tcp/vegas"), "{error}");
        let error = read(r#"{"name":"tcp/aimd","apha":1}"#).expect_err("no such key").to_string();
        assert!(error.contains("apha") && error.contains("alpha"), "{error}");
    }

    #[test]
    fn values_out_of_range_are_refused_with_key_range_and_example() {
        let refused = |text: &str| read(text).expect("well-formed").check().expect_err("out of range").to_string();
        let error = refused(r#"{"name":"tcp/aimd","beta":1.5}"#);
        assert!(
            error.contains("`beta` is 1.5") && error.contains("above 0 and below 1") && error.contains("beta = 0.875"),
            "{error}"
        );
        assert!(refused(r#"{"name":"tcp/aimd","alpha":0}"#).contains("above 0"));
        assert!(refused(r#"{"name":"tcp/reno","alpha":2}"#).contains("tcp/aimd"), "alpha is not Reno's to set");
        assert!(refused(r#"{"name":"tcp/gamma-delta","lower":0.6}"#).contains("below 0.5"));
        assert!(refused(r#"{"name":"tcp/sack","receiver-window":0}"#).contains("receiver-window"));
        assert!(refused(r#"{"name":"tcp/sack","segment":"70 kB"}"#).contains("65535"));
        assert!(refused(r#"{"name":"tcp/sack","max-rto":"10 ms"}"#).contains("min-rto"));
    }
}
