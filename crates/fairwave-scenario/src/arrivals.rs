//! Flows that arrive at random times and leave when they are complete or after a random time.
//!
//! ```toml
//! arrivals = "2 per s"
//! arrivals = { load = "4 Mb/s", at-most = 100 }
//! arrivals = { rate = "3 per min", lasts = { distribution = "exponential", mean = "3 min" } }
//! ```
//!
//! The plan draws the arrivals as a Poisson process from `start` to `stop`. Each arrival is a separate flow with a separate
//! connection, between one of the group's `count` pairs of hosts, drawn at random. Therefore the arrivals, their times and their
//! hosts do not depend on the transport. The stream `flow.GROUP.arrivals` gives gaps and pairs, `flow.GROUP.lasts` the durations of
//! flows.
//!
//! With `steady = true`, the process began long before `start`: flows that still last are there from the beginning. Therefore the
//! number of flows has Erlang's distribution (Poisson, with mean rate × duration) during the whole run, without a transient of
//! several mean durations. These flows are drawn from the stream `flow.GROUP.earlier`, over the 20 mean durations before `start` †.
//! They start at random times within the first 100 ms, so that their packets are not synchronised †.
//!
//! **Assumptions.** The end of the run cuts off the last flows. The run applies `at-most`, because the number of flows depends on
//! their durations. An arrival that finds this number of flows of its group is refused and does not retry.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use fairwave_core::traffic::{Period, TrafficConfig};
use fairwave_core::units::{Instant, Rate, Span};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::values::{TextOrTable, text_or};

/// A frequency: `"2 per s"`, `"0.5 per min"`, `"90 per h"`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Frequency {
    amount: f64,
    unit: Unit,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Unit {
    Second,
    Minute,
    Hour,
}

impl Unit {
    const ALL: [(Unit, &'static str, f64); 3] =
        [(Unit::Second, "s", 1.0), (Unit::Minute, "min", 60.0), (Unit::Hour, "h", 3600.0)];

    fn described(self) -> (&'static str, f64) {
        let found = Unit::ALL.iter().find(|(unit, ..)| *unit == self);
        found.map_or(("s", 1.0), |&(_, name, seconds)| (name, seconds))
    }
}

impl Frequency {
    /// Number per second.
    pub fn events_per_second(self) -> f64 {
        self.amount / self.unit.described().1
    }
}

impl fmt::Display for Frequency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} per {}", self.amount, self.unit.described().0)
    }
}

impl FromStr for Frequency {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` does not say how often; write for example \"2 per s\", \"30 per min\"");
        let (amount, unit) = text.split_once(" per ").or_else(|| text.split_once('/')).ok_or_else(wrong)?;
        let amount: f64 = amount.trim().parse().map_err(|_| wrong())?;
        let unit = Unit::ALL.iter().find(|(_, name, _)| *name == unit.trim()).ok_or_else(wrong)?.0;
        if !(amount.is_finite() && amount >= 0.0) {
            return Err(wrong());
        }
        Ok(Frequency { amount, unit })
    }
}

impl Serialize for Frequency {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Frequency {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl serde::de::Visitor<'_> for Text {
            type Value = Frequency;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("how often, as text, for example \"2 per s\"")
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Frequency, E> {
                text.parse().map_err(E::custom)
            }
        }
        deserializer.deserialize_str(Text)
    }
}

impl JsonSchema for Frequency {
    fn schema_name() -> Cow<'static, str> {
        "Frequency".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "description": "How often: per s, per min or per h.", "examples": ["2 per s"] })
    }
}

/// Arrivals of a group's flows, and their durations: `"2 per s"`, or a table.
#[derive(Clone, PartialEq, Debug)]
pub struct Arrivals {
    /// The arrivals as written.
    pub(crate) table: ArrivalsTable,
}

/// Arrivals of a group's flows (a Poisson process), and their durations.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(crate) struct ArrivalsTable {
    /// Mean number of arrivals per time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rate: Option<Frequency>,
    /// Instead of the rate: the mean payload rate of all flows together, if flow sizes are given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) load: Option<Rate>,
    /// Duration of each flow. Required for sources that do not end by themselves, and rejected for all others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) lasts: Option<Period>,
    /// The arrivals began long before `start`: flows that still last are there from the beginning. Needs `lasts`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) steady: bool,
    /// Maximum number of simultaneous flows. Further arrivals are refused. Default: no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) at_most: Option<u64>,
}

impl Serialize for Arrivals {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.table {
            ArrivalsTable { rate: Some(rate), load: None, lasts: None, at_most: None, steady: false } => {
                rate.serialize(serializer)
            }
            _ => self.table.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Arrivals {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let what = "how often flows arrive, such as \"2 per s\", or a table with `rate` or `load`";
        Ok(match text_or::<Frequency, ArrivalsTable, D>(deserializer, what)? {
            TextOrTable::Text(rate) => {
                Arrivals { table: ArrivalsTable { rate: Some(rate), ..ArrivalsTable::default() } }
            }
            TextOrTable::Other(table) => Arrivals { table },
        })
    }
}

impl JsonSchema for Arrivals {
    fn schema_name() -> Cow<'static, str> {
        "Arrivals".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "When flows of a group arrive: how often, or a table.",
            "anyOf": [generator.subschema_for::<Frequency>(), generator.subschema_for::<ArrivalsTable>()],
        })
    }
}

/// An arrival of a flow.
pub(crate) struct Arrival {
    /// Index of the pair of hosts.
    pub pair: u64,
    pub start: Instant,
    pub stop: Instant,
}

impl Arrivals {
    /// Maximum number of simultaneous flows of the group.
    pub fn active_limit(&self) -> Option<u64> {
        self.table.at_most
    }

    /// Mean duration of a flow, if durations are drawn.
    pub(crate) fn stays(&self) -> Option<Span> {
        self.table.lasts.map(|lasts| lasts.mean())
    }

    /// Mean number of arrivals per second.
    pub(crate) fn mean_rate(&self, traffic: &TrafficConfig) -> f64 {
        let of_load = || {
            let each = traffic.volume(0.0)?.payload * 8.0;
            Some(self.table.load?.bits_per_second() as f64 / each.max(1.0))
        };
        self.table.rate.map(Frequency::events_per_second).or_else(of_load).unwrap_or(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrivals(json: &str) -> Arrivals {
        serde_json::from_str(json).expect("arrivals")
    }

    #[test]
    fn frequency_is_read_and_written_in_its_unit() {
        for (text, per_second) in [("2 per s", 2.0), ("30 per min", 0.5), ("90 per h", 0.025)] {
            let frequency: Frequency = text.parse().expect("a frequency");
            assert_eq!((frequency.events_per_second(), frequency.to_string().as_str()), (per_second, text));
        }
        for text in ["2", "2 per day", "per s", "-1 per s", "nan per s", "1e999 per s"] {
            assert!(text.parse::<Frequency>().expect_err(text).contains("\"2 per s\""));
        }
    }

    #[test]
    fn short_forms_stay_short() {
        for text in ["\"2 per s\"", r#"{"load":"4 Mb/s","at-most":10}"#] {
            assert_eq!(serde_json::to_string(&arrivals(text)).expect("text"), text);
        }
    }

    #[test]
    fn a_load_is_a_rate_of_mean_sizes() {
        let traffic: TrafficConfig =
            serde_json::from_str(r#"{"kind":"transfer","size":{"distribution":"exponential","mean":"100 kB"}}"#)
                .expect("a transfer");
        let per_second = arrivals(r#"{"load":"4 Mb/s"}"#).mean_rate(&traffic);
        assert!((per_second - 5.0).abs() < 1e-9, "{per_second}");
    }
}
