//! The parameters of a cell, and their ranges.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::interface::check_range;
use super::tables::{CqiTable, HIGHEST};
use fairwave_units::config::{ConfigError, check_fraction};
use fairwave_units::ratio::Ratio;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::timed::{Step, check_steps};
use fairwave_units::units::{Bytes, Span};

/// A cell of LTE or 5G: queues per user at the base station, and a scheduler that assigns resource blocks in each interval.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct CellConfig {
    /// The node that is the base station. Default: the one node that all links of the cell share.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "the node that all links share"))]
    pub base_station: Option<String>,
    /// Resource blocks per interval, 6 to 275. LTE has 6, 15, 25, 50, 75 or 100 for 1.4 to 20 MHz. Default 50.
    pub resource_blocks: u32,
    /// Subcarrier spacing of 15 kHz · 2ⁿ, 0 to 3. 0 is LTE: intervals of 1 ms; each step halves the interval. Default 0.
    pub numerology: u8,
    /// Slots of a time-division pattern, such as `"DDDSU"`: D down, U up, S down with 10 of 14 symbols †. Default: both directions in
    /// all intervals, on two carriers.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "both directions in all intervals"))]
    pub pattern: Option<String>,
    /// The table of channel quality indicators. Default `64-qam`.
    pub table: CqiTable,
    /// Spatial layers downlink, 1 to 8. The uplink has one. Default 1.
    pub layers: u8,
    /// How the base station shares resource blocks. Default `proportional-fair`.
    pub scheduler: CellScheduler,
    /// Time over which proportional fairness averages a user's rate, 1 ms to 1 min. Default 100 ms.
    pub average: Span,
    /// The default channel of users, in both directions. Default `{ cqi = 10 }`.
    pub channel: ChannelConfig,
    /// Settings of single users, by the names of their nodes.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub users: BTreeMap<String, CellUserConfig>,
    /// Retransmissions of the MAC layer.
    pub harq: HarqConfig,
    /// Retransmissions of the RLC layer, and in-order delivery.
    pub rlc: RlcConfig,
    /// How users get permission to send.
    pub uplink: UplinkConfig,
    /// When receivers sleep. Default: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "never"))]
    pub drx: Option<DrxConfig>,
    /// Time that transmitter and receiver together need for a block, in addition to its interval: 0 to 1 s, rounded up to
    /// intervals. Default 3 ms (3GPP TR 36.912 Annex B.2: 1.5 ms each).
    pub processing: Span,
}

impl Default for CellConfig {
    fn default() -> Self {
        CellConfig {
            base_station: None,
            resource_blocks: 50,
            numerology: 0,
            pattern: None,
            table: CqiTable::default(),
            layers: 1,
            scheduler: CellScheduler::default(),
            average: Span::from_millis(100),
            channel: ChannelConfig::default(),
            users: BTreeMap::new(),
            harq: HarqConfig::default(),
            rlc: RlcConfig::default(),
            uplink: UplinkConfig::default(),
            drx: None,
            processing: Span::from_millis(3),
        }
    }
}

/// How a base station shares resource blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CellScheduler {
    /// The user with the highest current rate relative to its average rate goes first (Viswanath, Tse, Laroia 2002).
    #[default]
    ProportionalFair,
    /// All users with data get equal numbers of blocks.
    RoundRobin,
}

/// The radio channel of one direction: exactly one of `cqi`, `steps` and `snr`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ChannelConfig {
    /// A fixed channel quality indicator, 1 to 15.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cqi: Option<u8>,
    /// Indicators over time: `[{ at = "0 s", is = 12 }, { at = "5 s", is = 3 }]`, 0 (nothing can be sent) to 15.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step<u8>>,
    /// The mean signal-to-noise ratio in dB, -30 to 60. Below -6.7 dB nothing can be sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snr: Option<f64>,
    /// With `snr`: Rayleigh fading with this Doppler frequency in Hz, above 0 and at most 2000. It is speed · carrier /
    /// speed of light: 5.3 Hz for 3 km/h at 1.9 GHz. Default: no fading.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doppler: Option<f64>,
    /// With `snr`: time between two reports of the indicator, at most 1 s. Default 5 ms (3GPP TS 36.213 Table 7.2.2-1A allows 2 to 160 ms).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<Span>,
    /// With `snr`: time from the measurement to the first use of a report, at most 1 s. Default 6 ms †.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report_delay: Option<Span>,
}

impl Default for ChannelConfig {
    fn default() -> Self {
        ChannelConfig::fixed(10)
    }
}

impl ChannelConfig {
    /// Returns a channel with the constant indicator `cqi`.
    pub fn fixed(cqi: u8) -> Self {
        ChannelConfig { cqi: Some(cqi), steps: Vec::new(), snr: None, doppler: None, report: None, report_delay: None }
    }
}

/// Settings of one user of a cell.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct CellUserConfig {
    /// Its channel downlink, and also uplink unless `uplink` is set. Default: the cell's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<ChannelConfig>,
    /// Its channel uplink, if it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uplink: Option<ChannelConfig>,
    /// Its RLC. Default: the cell's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rlc: Option<RlcConfig>,
    /// Its handoffs, in ascending order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub handoffs: Vec<HandoffEvent>,
    /// Time at which it leaves the cell. All its packets, waiting or later, are dropped. Default: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leaves: Option<Span>,
}

/// A handoff: an interruption of all transmission to and from the user.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct HandoffEvent {
    /// Time at which the user leaves its old base station.
    pub at: Span,
    /// Length of the interruption, at most 1 min. Default 50 ms (3GPP TR 36.881 §5.2.1 counts 49.5 ms).
    #[serde(default = "handoff_gap")]
    pub gap: Span,
    /// Treatment of the packets at the old base station. Default `forward`.
    #[serde(default)]
    pub buffer: HandoffBuffer,
}

const fn handoff_gap() -> Span {
    Span::from_millis(50)
}

/// Treatment of the old base station's packets in a handoff.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HandoffBuffer {
    /// The new base station receives them, including unacknowledged ones (3GPP TS 36.300 §10.1.2.3).
    #[default]
    Forward,
    /// They are lost; the user keeps the packets that it has not begun to send.
    Lose,
}

/// Retransmissions of the MAC layer (hybrid ARQ).
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct HarqConfig {
    /// Intervals from a transmission to its retransmission, 2 to 64. Default 8 (3GPP TS 36.213 §7.3 and §8: 4 in each
    /// direction).
    pub round_trip: u32,
    /// Maximum retransmissions of a block, 0 to 15. Default 3 (4 transmissions).
    pub retransmissions: u32,
    /// Channels by indicator: failure probability of a first transmission. Default 0.1 (3GPP TS 36.213 §7.2.3).
    #[serde(with = "Ratio")]
    pub error: f64,
    /// Channels by indicator: failure probability of a retransmission. Default 0.1 †.
    #[serde(with = "Ratio")]
    pub repeat_error: f64,
}

impl Default for HarqConfig {
    fn default() -> Self {
        HarqConfig { round_trip: 8, retransmissions: 3, error: 0.1, repeat_error: 0.1 }
    }
}

/// The RLC layer.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct RlcConfig {
    /// Whether lost blocks are sent again. Default `acknowledged`.
    pub mode: RlcMode,
    /// How long the receiver waits for a missing block before it reports it (acknowledged) or abandons it (unacknowledged):
    /// at most 1 s. Default 35 ms (3GPP TS 36.331 §9.2.1.1, t-Reordering).
    pub reordering: Span,
    /// Retransmissions of a block before it is abandoned, 0 to 32. Default 4 (3GPP TS 36.331 §9.2.1.1, maxRetxThreshold).
    pub retransmissions: u32,
}

impl Default for RlcConfig {
    fn default() -> Self {
        RlcConfig { mode: RlcMode::default(), reordering: Span::from_millis(35), retransmissions: 4 }
    }
}

/// Modes of the RLC layer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RlcMode {
    /// Lost blocks are sent again (RLC-AM), as for most data.
    #[default]
    Acknowledged,
    /// Lost blocks are lost (RLC-UM), as for voice over LTE.
    Unacknowledged,
}

/// How users get permission to send.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct UplinkConfig {
    /// Time between two opportunities to send a scheduling request, at most 1 s; 0 s: immediately. Default 10 ms (3GPP TS
    /// 36.213 Table 10.1.5-1 has 5 to 80 ms).
    pub request: Span,
    /// Time from a scheduling request or a buffer status report to the transmission that it permits, rounded up to intervals, at most 1 s.
    /// Default 8 ms: 4 ms until the grant, 4 ms from the grant on (3GPP TS 36.213 §8).
    pub grant: Span,
    /// Size of the first grant; a scheduling request does not contain the backlog. 1 B or more. Default 100 B †.
    pub first: Bytes,
}

impl Default for UplinkConfig {
    fn default() -> Self {
        UplinkConfig { request: Span::from_millis(10), grant: Span::from_millis(8), first: Bytes::new(100) }
    }
}

/// Sleep of a receiver (discontinuous reception, 3GPP TS 36.321 §5.7).
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct DrxConfig {
    /// Time for which it stays awake after a transmission, at most 10 s.
    pub inactivity: Span,
    /// Time from one wake-up to the next, 1 ms to 10 s.
    pub cycle: Span,
    /// Time for which it is awake per cycle; above 0 and at most the cycle.
    pub on: Span,
}

const LONGEST: Span = Span::from_secs(1);

fn check_most(key: &str, value: Span, most: Span, example: &str) -> Result<(), ConfigError> {
    if value <= most {
        return Ok(());
    }
    Err(ConfigError::new(key, value, format!("at most {most}"), example))
}

impl ChannelConfig {
    fn check(&self) -> Result<(), ConfigError> {
        let given = [self.cqi.is_some(), !self.steps.is_empty(), self.snr.is_some()];
        if given.iter().filter(|given| **given).count() != 1 {
            let value = if given.contains(&true) { "given twice" } else { "empty" };
            return Err(ConfigError::new(
                "channel",
                value,
                "exactly one of `cqi`, `steps`, `snr`",
                "channel = { cqi = 10 }",
            ));
        }
        let fading = [
            ("doppler", self.doppler.is_some()),
            ("report", self.report.is_some()),
            ("report-delay", self.report_delay.is_some()),
        ];
        if let Some((key, _)) = fading.iter().find(|(_, given)| *given && self.snr.is_none()) {
            return Err(ConfigError::new(
                *key,
                "given without `snr`",
                "left out",
                "channel = { snr = 15.0, doppler = 5.3 }",
            ));
        }
        if let Some(cqi) = self.cqi {
            check_range("cqi", cqi, 1, HIGHEST, "channel = { cqi = 10 }")?;
        }
        if !self.steps.is_empty() {
            let example = "steps = [{ at = \"0 s\", is = 12 }, { at = \"5 s\", is = 3 }]";
            check_steps(&self.steps, example)?;
            for step in &self.steps {
                check_range("steps.is", step.is, 0, HIGHEST, example)?;
            }
        }
        if let Some(snr) = self.snr {
            check_range("snr", snr, -30.0, 60.0, "channel = { snr = 15.0 }")?;
        }
        if let Some(doppler) = self.doppler
            && !(doppler > 0.0 && doppler <= 2000.0)
        {
            return Err(ConfigError::new("doppler", doppler, "above 0 and at most 2000 Hz", "doppler = 5.3"));
        }
        if let Some(report) = self.report
            && !(report > Span::ZERO && report <= LONGEST)
        {
            return Err(ConfigError::new("report", report, "above 0 and at most 1 s", "report = \"5 ms\""));
        }
        check_most("report-delay", self.report_delay.unwrap_or_default(), LONGEST, "report-delay = \"6 ms\"")
    }
}

impl RlcConfig {
    fn check(&self) -> Result<(), ConfigError> {
        check_most("reordering", self.reordering, LONGEST, "reordering = \"35 ms\"")?;
        check_range("retransmissions", self.retransmissions, 0, 32, "retransmissions = 4")
    }
}

impl CellUserConfig {
    fn check(&self) -> Result<(), ConfigError> {
        self.channel.as_ref().map_or(Ok(()), |channel| channel.check().map_err(|error| error.nested_in("channel")))?;
        self.uplink.as_ref().map_or(Ok(()), |channel| channel.check().map_err(|error| error.nested_in("uplink")))?;
        self.rlc.as_ref().map_or(Ok(()), |rlc| rlc.check().map_err(|error| error.nested_in("rlc")))?;
        let example = "handoffs = [{ at = \"10 s\", gap = \"50 ms\", buffer = \"forward\" }]";
        for handoff in &self.handoffs {
            check_most("handoffs.gap", handoff.gap, Span::from_secs(60), example)?;
        }
        match self.handoffs.windows(2).find(|pair| pair[0].at + pair[0].gap > pair[1].at) {
            Some(pair) => {
                Err(ConfigError::new("handoffs.at", pair[1].at, "not before the end of the handoff before it", example))
            }
            None => Ok(()),
        }
    }
}

impl Checked for CellConfig {
    fn check(&self) -> Result<(), ConfigError> {
        check_range("resource-blocks", self.resource_blocks, 6, 275, "resource-blocks = 50")?;
        check_range("numerology", self.numerology, 0, 3, "numerology = 0")?;
        check_range("layers", self.layers, 1, 8, "layers = 2")?;
        if let Some(pattern) = &self.pattern {
            let known = pattern.chars().all(|slot| "DUS".contains(slot));
            if !(known && (2..=80).contains(&pattern.len()) && pattern.contains('D') && pattern.contains('U')) {
                let allowed = "2 to 80 letters D, S and U, at least one D and one U";
                return Err(ConfigError::new("pattern", pattern, allowed, "pattern = \"DDDSU\""));
            }
        }
        if !(Span::from_millis(1)..=Span::from_secs(60)).contains(&self.average) {
            return Err(ConfigError::new("average", self.average, "1 ms to 1 min", "average = \"100 ms\""));
        }
        self.channel.check().map_err(|error| error.nested_in("channel"))?;
        for (name, user) in &self.users {
            user.check().map_err(|error| error.nested_in(&format!("users.{name}")))?;
        }
        let harq = &self.harq;
        check_range("harq.round-trip", harq.round_trip, 2, 64, "harq = { round-trip = 8 }")?;
        check_range("harq.retransmissions", harq.retransmissions, 0, 15, "harq = { retransmissions = 3 }")?;
        check_fraction("harq.error", harq.error, "harq = { error = 0.1 }")?;
        check_fraction("harq.repeat-error", harq.repeat_error, "harq = { repeat-error = 0.1 }")?;
        self.rlc.check().map_err(|error| error.nested_in("rlc"))?;
        check_most("uplink.request", self.uplink.request, LONGEST, "uplink = { request = \"10 ms\" }")?;
        check_most("uplink.grant", self.uplink.grant, LONGEST, "uplink = { grant = \"8 ms\" }")?;
        if self.uplink.first == Bytes::default() {
            return Err(ConfigError::new(
                "uplink.first",
                self.uplink.first,
                "1 B or more",
                "uplink = { first = \"100 B\" }",
            ));
        }
        if let Some(drx) = &self.drx {
            check_most("drx.inactivity", drx.inactivity, Span::from_secs(10), "inactivity = \"100 ms\"")?;
            if !(Span::from_millis(1)..=Span::from_secs(10)).contains(&drx.cycle) {
                return Err(ConfigError::new("drx.cycle", drx.cycle, "1 ms to 10 s", "cycle = \"160 ms\""));
            }
            if !(drx.on > Span::ZERO && drx.on <= drx.cycle) {
                return Err(ConfigError::new("drx.on", drx.on, "above 0 and at most `cycle`", "on = \"10 ms\""));
            }
        }
        check_most("processing", self.processing, LONGEST, "processing = \"3 ms\"")
    }
}

impl Law for CellConfig {
    const NAME: &'static str = "cell";
    const EXAMPLE: &'static str =
        r#"{"base-station": "r1", "scheduler": "proportional-fair", "channel": {"snr": 15.0, "doppler": 5.3}}"#;
}
