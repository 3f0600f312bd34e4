//! The keys of a link's two directions. An omitted key comes from the other direction, from a preset, or from the defaults.

use fairwave_core::link::Changes;
use fairwave_core::loss::LossConfig;
use fairwave_core::queue::QueueConfig;
use fairwave_core::units::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::delay::WrittenDelay;
use crate::law::LawTable;
use crate::rate::WrittenRate;
use crate::values::FixedOrSpread;

/// Defines a table of the language with the keys of a direction in addition to others. (With serde's `flatten`, an error would have
/// neither its position nor the allowed keys.)
macro_rules! table_with_direction {
    (
        $(#[$about:meta])* $visibility:vis struct $Table:ident { $($before:tt)* } and { $($after:tt)* }
    ) => {
        $(#[$about])*
        #[serde(rename_all = "kebab-case", deny_unknown_fields)]
        $visibility struct $Table {
            $($before)*
            /// Rate at which the link sends bytes on the wire.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub rate: Option<$crate::rate::WrittenRate>,
            /// Shared medium, declared under `medium`, that schedules each packet. Replaces `rate`.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub medium: Option<String>,
            /// Propagation delay.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub delay: Option<$crate::delay::WrittenDelay>,
            /// The queue before the link. Default: drop-tail with one bandwidth-delay product, at least 50 packets.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub queue: Option<$crate::law::LawTable<fairwave_core::queue::QueueConfig>>,
            /// Polices arrivals: discards or remarks packets above the agreed rate before they wait,
            /// `{ rate = "5 Mb/s", burst = "15 kB" }`.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub police: Option<fairwave_core::queue::PoliceConfig>,
            /// Shapes departures: holds packets above the agreed rate in the queue, `{ rate = "5 Mb/s", burst = "10 kB" }`.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub shape: Option<fairwave_core::queue::ShapeConfig>,
            /// Loss model of the link. Default: no loss.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub loss: Option<$crate::law::LawTable<fairwave_core::loss::LossConfig>>,
            /// Outages of the link, in ascending order. During an outage, the link loses packets that wait, that it is
            /// transmitting, or that arrive.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub outages: Option<Vec<fairwave_core::link::Outage>>,
            /// Random extra delay that keeps the order of packets: `"gaussian"`, or a table with its parameters. Default: none.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub jitter: Option<$crate::law::LawTable<fairwave_core::link::jitter::JitterConfig>>,
            /// Delays a share of the packets, so that others overtake them. Default: none.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub reorder: Option<fairwave_core::link::Reorder>,
            /// Duplicates a share of the packets. Default: none.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub duplicate: Option<fairwave_core::link::Duplicate>,
            $($after)*
        }
    };
}
pub(crate) use table_with_direction;

table_with_direction! {
    /// One direction of a link, with the keys that the scenario sets.
    #[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
    pub struct Direction {} and {}
}

impl Direction {
    /// Returns this direction, with omitted keys taken from `base`.
    pub fn or(&self, base: &Direction) -> Direction {
        let (own, base) = (self.clone(), base.clone());
        // A rate and a medium exclude each other, so either of them also replaces the other.
        let (rate, medium) = match (own.rate, own.medium) {
            (None, None) => (base.rate, base.medium),
            written => written,
        };
        Direction {
            rate,
            medium,
            delay: own.delay.or(base.delay),
            queue: own.queue.or(base.queue),
            police: own.police.or(base.police),
            shape: own.shape.or(base.shape),
            loss: own.loss.or(base.loss),
            outages: own.outages.or(base.outages),
            jitter: own.jitter.or(base.jitter),
            reorder: own.reorder.or(base.reorder),
            duplicate: own.duplicate.or(base.duplicate),
        }
    }

    /// Returns the direction with all parameters of its laws, so that equal directions have equal text.
    pub(crate) fn spelled_out(&self) -> Direction {
        Direction {
            rate: self.rate.as_ref().map(WrittenRate::spelled_out),
            medium: self.medium.clone(),
            delay: self.delay.as_ref().map(WrittenDelay::spelled_out),
            queue: self.queue.as_ref().map(LawTable::spelled_out),
            police: self.police.clone(),
            shape: self.shape.clone(),
            loss: self.loss.as_ref().map(LawTable::spelled_out),
            outages: self.outages.clone().filter(|outages| !outages.is_empty()),
            jitter: self.jitter.as_ref().map(LawTable::spelled_out),
            reorder: self.reorder,
            duplicate: self.duplicate,
        }
    }

    /// Returns the direction without keys that equal a link's defaults.
    pub(crate) fn omit_defaults(self) -> Direction {
        fn unless_default<T: Default + PartialEq>(value: Option<T>) -> Option<T> {
            value.filter(|value| *value != T::default())
        }
        Direction { queue: unless_default(self.queue), loss: unless_default(self.loss), ..self }
    }

    /// The queue as written, or the default.
    pub(crate) fn queue(&self) -> LawTable<QueueConfig> {
        self.queue.clone().unwrap_or_default()
    }

    /// The loss model as written, or the default.
    pub(crate) fn loss(&self) -> LawTable<LossConfig> {
        self.loss.clone().unwrap_or_default()
    }

    /// The delay as written; for a schedule, its first delay. Zero without a delay.
    pub(crate) fn delay(&self) -> FixedOrSpread<Span> {
        self.delay.as_ref().map_or(FixedOrSpread::Fixed(Span::ZERO), WrittenDelay::first)
    }

    /// Changes in the course of the run, except those of rate and loss.
    pub(crate) fn changes(&self) -> Changes {
        Changes {
            delays: self.delay.as_ref().map_or(Vec::new(), |delay| delay.steps().iter().skip(1).copied().collect()),
            overtaking: self.delay.as_ref().is_some_and(WrittenDelay::overtaking),
            outages: self.outages.clone().unwrap_or_default(),
            jitter: self.jitter.as_ref().and_then(|jitter| jitter.resolve().ok()),
            reorder: self.reorder.filter(|reorder| reorder.share > 0.0),
            duplicate: self.duplicate.filter(|duplicate| duplicate.share > 0.0),
        }
    }
}

/// The keys of a link: its forward direction, and the differences of the reverse direction.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(from = "LinkSpecTable")]
#[schemars(with = "LinkSpecTable")]
pub struct LinkSpec {
    /// The forward direction. The reverse direction inherits every key that `reverse` omits.
    #[serde(flatten)]
    pub there: Direction,
    /// Differences of the reverse direction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reverse: Option<Direction>,
}

table_with_direction! {
    /// The keys of a link in a preset topology. The preset supplies every omitted key.
    #[derive(Deserialize, JsonSchema)]
    #[schemars(rename = "LinkSpec")]
    struct LinkSpecTable {} and {
        /// Differences of the reverse direction.
        #[serde(default)]
        reverse: Option<Direction>,
    }
}

impl From<LinkSpecTable> for LinkSpec {
    fn from(table: LinkSpecTable) -> Self {
        let LinkSpecTable {
            rate,
            medium,
            delay,
            queue,
            police,
            shape,
            loss,
            outages,
            jitter,
            reorder,
            duplicate,
            reverse,
        } = table;
        LinkSpec {
            there: Direction { rate, medium, delay, queue, police, shape, loss, outages, jitter, reorder, duplicate },
            reverse,
        }
    }
}

impl From<Direction> for LinkSpec {
    /// Both directions are the same.
    fn from(there: Direction) -> Self {
        LinkSpec { there, reverse: None }
    }
}

impl LinkSpec {
    /// Returns this specification, with omitted keys taken from `base`.
    pub fn or(&self, base: &LinkSpec) -> LinkSpec {
        let reverse = match (&self.reverse, &base.reverse) {
            (Some(own), Some(base)) => Some(own.or(base)),
            (own, base) => own.clone().or_else(|| base.clone()),
        };
        LinkSpec { there: self.there.or(&base.there), reverse }
    }

    /// Returns the forward or the reverse direction, with inherited keys.
    pub(crate) fn direction(&self, back: bool) -> Direction {
        match self.reverse.as_ref().filter(|_| back) {
            Some(reverse) => reverse.or(&self.there),
            None => self.there.clone(),
        }
    }

    /// Returns the link with all parameters of its laws, so that equal links have equal text.
    pub(crate) fn spelled_out(&self) -> LinkSpec {
        LinkSpec { there: self.there.spelled_out(), reverse: self.reverse.as_ref().map(Direction::spelled_out) }
    }
}
