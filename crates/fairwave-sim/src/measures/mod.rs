//! Measures of a flow group: one number for all its flows together.
//!
//! A measure needs one file and one line in `measures!`. The file holds its definition ([`Measure::of`]) and its
//! description ([`Words`]): name, title, unit, direction, range, and the kinds of traffic that it applies to. The
//! list determines the columns of the table `groups`, the rows of pages and tables, `--measures`, `fairwave list`,
//! `explain` and `docs/results.md`.

mod cov;
mod fairness;
mod overhead;
mod short_term_fairness;
mod worst_case_fairness;

use serde::Serialize;

use crate::collect::ratio;
use crate::result::FlowRow;
use fairwave_core::units::Rate;

/// All group measures in the order of their columns: the column, and in braces the file and the type with the
/// definition.
macro_rules! measures {
    ($then:ident! $arguments:tt) => {
        $then! { $arguments
            jain { fairness::Fairness }
            worst_case_fairness { worst_case_fairness::WorstCaseFairness }
            short_term_fairness { short_term_fairness::ShortTermFairness }
            cov { cov::Cov }
            overhead { overhead::Overhead }
        }
    };
}

/// Inputs of a measure: a group at the end of the run.
pub struct Group<'a> {
    /// Its flows.
    pub flows: Vec<&'a FlowRow>,
    /// Goodputs of the flows that were active in the window.
    pub goodputs: Vec<Rate>,
    /// Each flow's goodput in the complete bins of the window; empty without bins.
    pub bins: Vec<Vec<Rate>>,
}

impl Group<'_> {
    /// Returns the sum of a count over the flows.
    pub fn sum(&self, count: impl Fn(&FlowRow) -> u64) -> u64 {
        self.flows.iter().map(|flow| count(flow)).sum()
    }

    /// Returns the goodputs of all flows in each bin.
    pub fn goodputs_by_bin(&self) -> Vec<Vec<Rate>> {
        let bins = 0..self.bins.first().map_or(0, Vec::len);
        bins.map(|bin| self.bins.iter().filter_map(|flow| flow.get(bin).copied()).collect()).collect()
    }
}

/// Preferred direction of a measure.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
    /// Neither direction is better in general.
    Neither,
}

/// A kind of group, by the traffic of its flows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Calls, videos and other streams of units.
    Stream,
    /// Files and pages, which are complete objects.
    Transfer,
    /// Endless data.
    Bulk,
}

/// Groups of every kind.
pub const EVERY: &[Kind] = &[Kind::Stream, Kind::Transfer, Kind::Bulk];

/// Description of a measure.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Words {
    /// Name for selecting the measure: `fairness`.
    pub name: &'static str,
    /// Explanation in one or two sentences.
    pub about: &'static str,
    /// Title of its row, without the unit: `fairness (Jain)`.
    pub title: &'static str,
    /// Unit; empty for a plain number.
    pub unit: &'static str,
    /// Factor from the column's value to that unit.
    pub factor: f64,
    /// Preferred direction.
    pub better: Better,
    /// Minimum, in its unit; `None` if unbounded.
    pub least: Option<f64>,
    /// Maximum, in its unit; `None` if unbounded.
    pub most: Option<f64>,
    /// Kinds of groups for which pages and tables show the measure by default.
    pub applies: &'static [Kind],
    /// The smallest number of flows for which the measure is defined.
    pub least_flows: u32,
}

impl Words {
    /// A plain, unbounded number without a preferred direction, shown only on request.
    pub const PLAIN: Words = Words {
        name: "",
        about: "",
        title: "",
        unit: "",
        factor: 1.0,
        better: Better::Neither,
        least: None,
        most: None,
        applies: &[],
        least_flows: 1,
    };
}

/// A measure of a flow group.
pub trait Measure {
    /// Description.
    const WORDS: Words;

    /// Computes the measure; `None` if undefined.
    fn compute(group: &Group<'_>) -> Option<f64>;
}

/// A measure as programs receive it: its column and description.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Described {
    /// The column of the table `groups`.
    pub column: &'static str,
    /// Description.
    #[serde(flatten)]
    pub words: Words,
}

macro_rules! described {
    (() $($column:ident { $file:ident::$Measure:ident })+) => {
        /// All measures of groups, in the order of their columns.
        pub fn described() -> Vec<Described> {
            vec![$(Described { column: stringify!($column), words: <$file::$Measure as Measure>::WORDS }),+]
        }
    };
}
measures! { described! () }

macro_rules! row {
    (() $($column:ident { $file:ident::$Measure:ident })+) => {
        /// Joint results of the flows of one group.
        #[derive(Clone, Debug, Serialize)]
        #[non_exhaustive]
        pub struct GroupRow {
            /// Name of the group.
            pub group: String,
            /// Number of flows.
            pub flows: u64,
            /// Label of the transport.
            pub transport: String,
            /// Payload that the flows delivered while active, divided by the time from the first start to the last
            /// end.
            pub goodput_bps: Option<f64>,
            $(
                #[doc = concat!("See `measures/", stringify!($file), ".rs`; none where it is not defined.")]
                pub $column: Option<f64>,
            )+
            /// Data packets dropped by queues, divided by those sent.
            pub dropped_share: f64,
            /// Data packets lost by links, divided by those sent.
            pub lost_share: f64,
            /// Units that the applications made and sent, with a known fate.
            pub units_sent: u64,
            /// Units complete at the receivers.
            pub units_received: u64,
        }

        impl GroupRow {
            /// Builds the row of a group from its name, transport and goodput.
            pub(crate) fn new(name: &str, transport: String, goodput_bps: Option<f64>, group: &Group<'_>) -> GroupRow {
                let sent = group.sum(|row| row.packets_sent);
                GroupRow {
                    group: name.to_owned(),
                    flows: group.flows.len() as u64,
                    transport,
                    goodput_bps,
                    $($column: <$file::$Measure as Measure>::compute(group),)+
                    dropped_share: ratio(group.sum(|row| row.dropped), sent),
                    lost_share: ratio(group.sum(|row| row.lost), sent),
                    units_sent: group.sum(|row| row.units_sent),
                    units_received: group.sum(|row| row.units_received),
                }
            }
        }
    };
}

measures! { row! () }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_have_descriptions_and_unique_names() {
        let all = described();
        for Described { column, words } in &all {
            assert!(all.iter().filter(|other| other.words.name == words.name).count() == 1, "{}", words.name);
            assert!(words.about.ends_with('.') && !words.title.is_empty(), "{column}");
            assert!(words.least.unwrap_or(f64::NEG_INFINITY) < words.most.unwrap_or(f64::INFINITY), "{column}");
            assert!(words.factor > 0.0 && words.least_flows > 0, "{column}");
        }
    }

    #[test]
    fn a_group_without_flows_has_a_row() {
        let group = Group { flows: Vec::new(), goodputs: Vec::new(), bins: Vec::new() };
        let row = GroupRow::new("none", String::new(), None, &group);
        assert!(row.jain.is_none() && row.worst_case_fairness.is_none() && row.units_sent == 0);
    }
}
