//! Token-bucket policers: drop or remark packets that exceed the agreed rate, immediately and without a queue.
//!
//! With only `rate` and `burst` a policer has two colours: a packet conforms if the bucket holds tokens for it, and exceeds
//! otherwise. `excess-burst` makes it RFC 2697's single-rate three-colour marker, and `peak` RFC 2698's two-rate
//! three-colour marker. Both are colour-blind: exceeding packets are yellow, violating ones red.
//!
//! **Assumptions.** Bytes on the wire count, as everywhere. Buckets begin full (RFC 2697 §3, RFC 2698 §3) and count exactly.
//! In the priority class of an LLQ a policer limits the damage that RFC 3246 describes, so it always works unless you set
//! `when`. Some routers police a priority class only while the link is congested, and otherwise let it use the spare rate of
//! other classes.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::bucket::TokenBucket;
use super::share::LinkShare;
use crate::dscp::Dscp;
use crate::packet::Packet;
use fairwave_units::config::ConfigError;
use fairwave_units::units::{Bytes, Instant, Rate, Span};

/// Action for a packet that does not conform: `"drop"`, `"transmit"`, or `{ remark = "le" }`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Action {
    /// It is dropped.
    #[default]
    Drop,
    /// It continues unchanged.
    Transmit,
    /// It continues with this code point.
    Remark(Dscp),
}

/// Table form of [`Action::Remark`].
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Remark {
    /// The code point that the packet bears from here on.
    remark: Dscp,
}

impl Serialize for Action {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Action::Drop => serializer.serialize_str("drop"),
            Action::Transmit => serializer.serialize_str("transmit"),
            Action::Remark(dscp) => Remark { remark: *dscp }.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Action {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Forms;
        impl<'de> serde::de::Visitor<'de> for Forms {
            type Value = Action;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("\"drop\", \"transmit\", or a new DSCP such as `{ remark = \"le\" }`")
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Action, E> {
                match text {
                    "drop" => Ok(Action::Drop),
                    "transmit" => Ok(Action::Transmit),
                    _ => Err(E::invalid_value(serde::de::Unexpected::Str(text), &self)),
                }
            }
            fn visit_map<M: serde::de::MapAccess<'de>>(self, map: M) -> Result<Action, M::Error> {
                let table = serde::de::value::MapAccessDeserializer::new(map);
                Remark::deserialize(table).map(|table| Action::Remark(table.remark))
            }
        }
        deserializer.deserialize_any(Forms)
    }
}

impl JsonSchema for Action {
    fn schema_name() -> Cow<'static, str> {
        "PoliceAction".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let remark = generator.subschema_for::<Remark>();
        json_schema!({ "anyOf": [{ "type": "string", "enum": ["drop", "transmit"] }, remark] })
    }
}

/// When a policer works.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum When {
    /// Always (RFC 3246).
    #[default]
    Always,
    /// Only while packets wait at the link.
    Congested,
}

/// A token-bucket policer. Bytes on the wire count.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PoliceConfig {
    /// The committed rate, or its share of the link's nominal rate: `"300 kb/s"`, `"30 %"`.
    pub rate: LinkShare,
    /// The committed burst. Default: the bytes of 200 ms at `rate`, at least 3028 B. It holds at least one packet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst: Option<Bytes>,
    /// RFC 2697: a second bucket of this depth keeps tokens that find no room in the first, for packets that exceed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excess_burst: Option<Bytes>,
    /// RFC 2698: the peak rate, not below `rate`; packets above it violate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak: Option<LinkShare>,
    /// RFC 2698: the burst at `peak`; as `burst` when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_burst: Option<Bytes>,
    /// Action for a packet that exceeds: `"drop"`, `"transmit"`, `{ remark = "le" }`.
    #[serde(default)]
    pub exceed: Action,
    /// Action for a packet that violates, in a policer with three colours; the packet is discarded when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub violate: Option<Action>,
    /// When the policer works.
    #[serde(default)]
    pub when: When,
}

const EXAMPLE: &str = "police = { rate = \"300 kb/s\", burst = \"15000 B\" }";

/// The bytes that arrive at a rate in a time, but at least two Ethernet packets.
pub(super) fn burst_of(rate: Rate, time: Span) -> u64 {
    rate.bytes_in(time).get().max(2 * 1514)
}

/// Size of the smallest packet of any protocol here, bytes.
const SMALLEST: u64 = 28;

pub(super) fn check_burst(key: &str, burst: Option<Bytes>, example: &str) -> Result<(), ConfigError> {
    match burst {
        Some(bytes) if bytes.get() < SMALLEST => {
            let allowed = "at least one packet: a bucket that holds no packet lets none through";
            Err(ConfigError::new(key, bytes, allowed, example))
        }
        Some(bytes) if bytes.get() > 1 << 40 => Err(ConfigError::new(key, bytes, "at most 1 TB", example)),
        _ => Ok(()),
    }
}

impl PoliceConfig {
    /// Returns a policer with two colours that drops exceeding packets.
    pub fn new(rate: Rate, burst: Bytes) -> Self {
        PoliceConfig {
            rate: LinkShare::Rate(rate),
            burst: Some(burst),
            excess_burst: None,
            peak: None,
            peak_burst: None,
            exceed: Action::Drop,
            violate: None,
            when: When::Always,
        }
    }

    /// Checks the parameters of the policer.
    ///
    /// # Errors
    /// The first key with a value that is not allowed.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.rate.check("rate", EXAMPLE)?;
        for (key, burst) in
            [("burst", self.burst), ("excess-burst", self.excess_burst), ("peak-burst", self.peak_burst)]
        {
            check_burst(key, burst, EXAMPLE)?;
        }
        if let Some(peak) = self.peak {
            peak.check("peak", EXAMPLE)?;
            let below = match (self.rate, peak) {
                (LinkShare::Rate(rate), LinkShare::Rate(peak)) => peak < rate,
                (LinkShare::Percent(rate), LinkShare::Percent(peak)) => peak < rate,
                _ => false,
            };
            if below {
                let allowed = format!("`rate` ({}) or more", self.rate);
                return Err(ConfigError::new("peak", peak, allowed, "rate = \"300 kb/s\", peak = \"600 kb/s\""));
            }
            if let Some(excess) = self.excess_burst {
                let allowed = "left out with `peak`: RFC 2697 has an excess burst, RFC 2698 a peak rate";
                return Err(ConfigError::new("excess-burst", excess, allowed, "peak = \"600 kb/s\""));
            }
        } else if let Some(burst) = self.peak_burst {
            let allowed = "left out without `peak`: it is the burst at that rate";
            return Err(ConfigError::new(
                "peak-burst",
                burst,
                allowed,
                "peak = \"600 kb/s\", peak-burst = \"15000 B\"",
            ));
        }
        let three = self.peak.is_some() || self.excess_burst.is_some();
        if three && self.exceed == Action::Drop {
            let allowed = "\"transmit\" or { remark = … } in a policer of three colours, which drops what violates";
            return Err(ConfigError::new("exceed", "\"drop\"", allowed, "exceed = { remark = \"af12\" }"));
        }
        if !three && let Some(action) = self.violate {
            let value = serde_json::to_value(action).unwrap_or_default();
            let allowed = "left out in a policer of two colours: nothing violates without `excess-burst` or `peak`";
            return Err(ConfigError::new("violate", value, allowed, "exceed = \"drop\""));
        }
        Ok(())
    }

    /// Depth of the first bucket on a link of this rate, bytes.
    pub fn depth(&self, link: Rate) -> u64 {
        self.burst.map_or_else(|| burst_of(self.rate.rate_on(link), Span::from_millis(200)), Bytes::get)
    }

    /// The largest packet that can conform or exceed, bytes.
    pub fn largest(&self, link: Rate) -> u64 {
        let depth = self.depth(link);
        match (self.excess_burst, self.peak) {
            (Some(excess), _) => depth.max(excess.get()),
            (None, Some(_)) => self.peak_burst.map_or(depth, Bytes::get),
            (None, None) => depth,
        }
    }

    /// Whether the policer can drop packets.
    pub fn drops(&self) -> bool {
        match self.excess_burst.is_some() || self.peak.is_some() {
            true => self.violate.unwrap_or_default() == Action::Drop,
            false => self.exceed == Action::Drop,
        }
    }

    /// The code points to which it remarks packets.
    pub fn remarks(&self) -> impl Iterator<Item = Dscp> {
        [Some(self.exceed), self.violate].into_iter().flatten().filter_map(|action| match action {
            Action::Remark(dscp) => Some(dscp),
            _ => None,
        })
    }
}

/// Colour of a packet under the agreed rates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Colour {
    Green,
    Yellow,
    Red,
}

/// The second token bucket.
#[derive(Clone, Debug)]
enum Second {
    /// None: two colours.
    None,
    /// RFC 2697: receives the tokens that overflow the first bucket.
    Excess(TokenBucket),
    /// RFC 2698: fills at the peak rate.
    Peak(TokenBucket),
}

/// State of a policer at one place of a link.
#[derive(Clone, Debug)]
pub(super) struct Policer {
    committed: TokenBucket,
    second: Second,
    exceed: Action,
    violate: Action,
    when: When,
}

impl Policer {
    /// Returns the policer for a link of this nominal rate.
    pub fn new(config: &PoliceConfig, link: Rate) -> Self {
        let (rate, depth) = (config.rate.rate_on(link), config.depth(link));
        let second = match (config.excess_burst, config.peak) {
            // Fills only with tokens that overflow the first bucket.
            (Some(excess), _) => Second::Excess(TokenBucket::new(Rate::default(), excess.get())),
            (None, Some(peak)) => {
                Second::Peak(TokenBucket::new(peak.rate_on(link), config.peak_burst.map_or(depth, Bytes::get)))
            }
            (None, None) => Second::None,
        };
        Policer {
            committed: TokenBucket::new(rate, depth),
            second,
            exceed: config.exceed,
            violate: config.violate.unwrap_or_default(),
            when: config.when,
        }
    }

    fn colour(&mut self, now: Instant, bytes: u64) -> Colour {
        let spilt = self.committed.fill(now);
        match &mut self.second {
            Second::None if self.committed.holds(bytes) => {
                self.committed.take(bytes);
                Colour::Green
            }
            Second::None => Colour::Yellow,
            // RFC 2697 §3: tokens go to Tc while it has room, then to Te.
            Second::Excess(excess) => {
                excess.add(spilt);
                if self.committed.holds(bytes) {
                    self.committed.take(bytes);
                    Colour::Green
                } else if excess.holds(bytes) {
                    excess.take(bytes);
                    Colour::Yellow
                } else {
                    Colour::Red
                }
            }
            // RFC 2698 §3: red first; yellow uses tokens of Tp only, green of both.
            Second::Peak(peak) => {
                peak.fill(now);
                if !peak.holds(bytes) {
                    return Colour::Red;
                }
                peak.take(bytes);
                if !self.committed.holds(bytes) {
                    return Colour::Yellow;
                }
                self.committed.take(bytes);
                Colour::Green
            }
        }
    }

    /// Returns the action for a packet that arrives at `now`. `congested` is true if packets wait. Also removes tokens, if
    /// available, for a packet that need not conform.
    pub fn judge(&mut self, now: Instant, packet: &Packet, congested: bool) -> Action {
        let colour = self.colour(now, u64::from(packet.wire));
        match colour {
            _ if self.when == When::Congested && !congested => Action::Transmit,
            Colour::Green => Action::Transmit,
            Colour::Yellow => self.exceed,
            Colour::Red => self.violate,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::packet;
    use super::*;
    use crate::packet::Class;

    fn config(text: &str) -> PoliceConfig {
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    /// A link of 1 Mb/s.
    fn link() -> Rate {
        Rate::from_bits_per_second(1_000_000)
    }

    /// Actions for packets with these arrival times (ms) and sizes.
    fn actions(text: &str, arrivals: &[(u64, u16)]) -> Vec<Action> {
        let mut policer = Policer::new(&config(text), link());
        let judge = |(millis, wire): &(u64, u16)| {
            policer.judge(Instant::from_nanos(millis * 1_000_000), &packet(1, *wire, Class::Tcp), false)
        };
        arrivals.iter().map(judge).collect()
    }

    const AF12: Action = Action::Remark(match Dscp::new(12) {
        Some(dscp) => dscp,
        None => Dscp::DF,
    });

    #[test]
    fn two_colours_drop_what_finds_no_tokens_and_take_none_for_it() {
        // 80 kb/s: 10 bytes per millisecond.
        let said = actions(
            r#"{"rate": "80 kb/s", "burst": "1000 B"}"#,
            &[(0, 1000), (50, 501), (50, 500), (50, 1), (149, 1000), (150, 1000)],
        );
        use Action::{Drop, Transmit};
        assert_eq!(said, [Transmit, Drop, Transmit, Drop, Drop, Transmit]);
    }

    #[test]
    fn the_committed_bucket_is_asked_first_and_what_is_beyond_the_peak_is_red_whatever_it_holds() {
        use Action::{Drop, Transmit};
        let said = actions(
            r#"{"rate": "80 kb/s", "burst": "1000 B", "excess-burst": "1000 B", "exceed": {"remark": "af12"}}"#,
            &[(0, 1000), (0, 1000), (0, 1000)],
        );
        assert_eq!(said, [Transmit, AF12, Drop]);
        let peak = r#""rate": "80 kb/s", "burst": "2000 B", "peak": "160 kb/s", "exceed": {"remark": "af12"}"#;
        assert_eq!(actions(&format!(r#"{{{peak}, "peak-burst": "500 B"}}"#), &[(0, 1000)]), [Drop]);
        // By default, the burst at the peak rate equals the committed burst.
        assert_eq!(actions(&format!("{{{peak}}}"), &[(0, 1000), (0, 1000), (0, 1000)]), [Transmit, Transmit, Drop]);
    }

    #[test]
    fn excess_packets_are_remarked_and_pass() {
        let said =
            actions(r#"{"rate": "8 %", "burst": "1000 B", "exceed": {"remark": "af12"}}"#, &[(0, 1000), (0, 1000)]);
        assert_eq!(said, [Action::Transmit, AF12]);
    }

    #[test]
    fn a_single_rate_has_a_second_bucket_for_what_the_first_has_no_room_for() {
        let text = r#"{"rate": "80 kb/s", "burst": "1000 B", "excess-burst": "500 B", "exceed": {"remark": "af12"}}"#;
        use Action::{Drop, Transmit};
        // Both buckets start full. 100 ms fill the first bucket, 150 ms both; the second receives nothing before the first
        // is full.
        let said =
            actions(text, &[(0, 1000), (0, 500), (0, 1), (100, 500), (100, 500), (100, 1), (200, 1000), (200, 1)]);
        assert_eq!(said, [Transmit, AF12, Drop, Transmit, Transmit, Drop, Transmit, Drop]);
        let said = actions(text, &[(0, 1000), (0, 500), (130, 1000), (130, 301), (130, 300)]);
        assert_eq!(said, [Transmit, AF12, Transmit, Drop, AF12]);
    }

    #[test]
    fn two_rates_judge_by_the_peak_first() {
        let text = r#"{"rate": "80 kb/s", "burst": "1000 B", "peak": "160 kb/s", "peak-burst": "1500 B",
                       "exceed": {"remark": "af12"}, "violate": "drop"}"#;
        use Action::{Drop, Transmit};
        // Green uses tokens of both buckets, yellow of the peak bucket only, red of neither. After 10 ms the buckets hold
        // 200 bytes (peak) and 100 (rate).
        let said = actions(text, &[(0, 1000), (0, 500), (0, 1), (10, 201), (10, 200), (20, 200), (20, 1)]);
        assert_eq!(said, [Transmit, AF12, Drop, Drop, AF12, Transmit, Drop]);
    }

    #[test]
    fn a_policer_for_congestion_lets_everything_through_while_nothing_waits() {
        let mut policer =
            Policer::new(&config(r#"{"rate": "80 kb/s", "burst": "1000 B", "when": "congested"}"#), link());
        let mut judge = |congested| policer.judge(Instant::ZERO, &packet(1, 1000, Class::Tcp), congested);
        assert_eq!([false, false, true].map(&mut judge), [Action::Transmit, Action::Transmit, Action::Drop]);
    }

    #[test]
    fn default_burst_is_200_ms_of_the_rate_and_at_least_two_packets() {
        assert_eq!(config(r#"{"rate": "30 %"}"#).depth(link()), 7500);
        assert_eq!(config(r#"{"rate": "1 kb/s"}"#).depth(link()), 3028);
    }

    #[test]
    fn rejects_impossible_settings_with_the_reason() {
        for (text, key, word) in [
            (r#"{"rate": "80 kb/s", "burst": "20 B"}"#, "burst", "one packet"),
            (r#"{"rate": "0 b/s"}"#, "rate", "above 0"),
            (r#"{"rate": "0 %"}"#, "rate", "above"),
            (r#"{"rate": "120 %"}"#, "rate", "100 %"),
            (r#"{"rate": "80 kb/s", "peak": "40 kb/s", "exceed": "transmit"}"#, "peak", "or more"),
            (r#"{"rate": "80 kb/s", "peak-burst": "4 kB"}"#, "peak-burst", "without `peak`"),
            (
                r#"{"rate": "80 kb/s", "peak": "90 kb/s", "excess-burst": "4 kB", "exceed": "transmit"}"#,
                "excess-burst",
                "2697",
            ),
            (r#"{"rate": "80 kb/s", "peak": "90 kb/s"}"#, "exceed", "three colours"),
            (r#"{"rate": "80 kb/s", "violate": "drop"}"#, "violate", "two colours"),
        ] {
            let error = config(text).check().expect_err(text);
            assert!(error.key == key && error.allowed.contains(word), "{text}: {error}");
        }
        for wrong in [
            r#"{"rate": "80 kb/s", "exceed": "shape"}"#,
            r#"{"burst": "1 kB"}"#,
            r#"{"rate": "80 kb/s", "exceed": {"remark": 64}}"#,
        ] {
            assert!(serde_json::from_str::<PoliceConfig>(wrong).is_err(), "{wrong}");
        }
    }
}
