//! The parameters of a Wi-Fi channel, and their ranges.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::interface::check_range;
use super::tables::{Numbers, Phy, WifiStandard};
use fairwave_units::config::{ConfigError, check_fraction};
use fairwave_units::ratio::OptionalRatio;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::timed::{Step, check_steps};
use fairwave_units::units::{Bytes, Span};

/// A Wi-Fi channel: an access point and its stations contend for the air by DCF or EDCA, with collisions, retries, aggregation and rates by
/// station.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct WifiConfig {
    /// The node that is the access point. Default: the one node that all links of the channel share.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "the node that all links share"))]
    pub access_point: Option<String>,
    /// Several access points on one channel, instead of `access-point`: each link joins one of them and one of its stations.
    /// All contend for the same air, and each has separate queues. `hears` may name access points.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-default" = "one access point"))]
    pub access_points: Vec<String>,
    /// The generation. Default `802.11n`.
    pub standard: WifiStandard,
    /// The band. It determines SIFS (16 µs at 5 GHz, 10 µs at 2.4 GHz) and the signal extension. Default: 5 GHz; 2.4 GHz for
    /// `802.11b` and `802.11g`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "5 GHz; 2.4 GHz for 802.11b and 802.11g"))]
    pub band: Option<WifiBand>,
    /// Channel width in MHz: 20; 40 from `802.11n` on; 80 and 160 from `802.11ac` on. Default 20.
    pub width: u32,
    /// Spatial streams of stations without a setting: 1; up to 4 with `802.11n`, up to 8 from `802.11ac` on. Default 1.
    pub streams: u8,
    /// Guard interval: 800 or 400 ns (`802.11n`, `802.11ac`), 800, 1600 or 3200 ns (`802.11ax`). Default 800 ns.
    pub guard_interval: Span,
    /// Slot time, 1 to 100 µs. Default: 9 µs; 20 µs for `802.11b`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "9 µs; 20 µs for 802.11b"))]
    pub slot: Option<Span>,
    /// Short interframe space, 1 to 100 µs. Default: that of the band.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "16 µs at 5 GHz, 10 µs at 2.4 GHz"))]
    pub sifs: Option<Span>,
    /// Time of the preamble and the PHY header, at most 1 ms. Default: that of the standard (`802.11b`: the long one, 192 µs).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "that of the standard"))]
    pub preamble: Option<Span>,
    /// Four access categories with separate queues, backoffs and TXOP limits (EDCA). If false: one for all packets (DCF,
    /// AIFSN 2, no TXOP). Default true.
    pub edca: bool,
    /// Parameters of the access categories that differ from their defaults. Without `edca` only `cw-min` and `cw-max` of
    /// `best-effort` apply.
    pub categories: WifiCategories,
    /// Mapping of code points to access categories. Default `rfc-8325`.
    pub mapping: WifiMapping,
    /// Maximum number of transmissions of a frame, 1 to 255. Default 7 (IEEE 802.11-2020 Annex C, dot11ShortRetryLimit).
    pub retry_limit: u32,
    /// RTS and CTS announce frames and aggregates of at least this size. Default: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "never"))]
    pub rts: Option<Bytes>,
    /// After a broken frame, all nodes also wait for the time of an acknowledgement at the lowest rate (EIFS). If false,
    /// only the senders wait for their acknowledgements. Default true.
    pub eifs: bool,
    /// Overhead of a packet on the air: QoS header 26, FCS 4 and LLC/SNAP 8 bytes; WPA2 adds 16. 0 to 200 B. Default 38 B.
    pub header: Bytes,
    /// Limits of aggregation. No effect in `802.11b` and `802.11g`.
    pub aggregation: WifiAggregation,
    /// Queues at the access point. Stations use the `queue` of their links. Default `fifo`.
    pub queues: WifiQueues,
    /// With `fifo`: frames per access category that wait in the driver, behind the queue, 1 to 4096. Default 123 (Linux ath9k, ATH_MAX_QDEPTH).
    pub driver_buffer: u32,
    /// Rate control: chooses the index on channels with `snr` or `distance`. Default `ideal`.
    pub rate: WifiRateControl,
    /// From the third attempt on, each attempt uses the next lower index †. Does not apply to `adaptive`, which has a
    /// separate retry chain. Default true.
    pub fallback: bool,
    /// The default channel of stations, in both directions unless `uplink` is set. Default: index 7 (3 with `802.11b`),
    /// without errors.
    pub channel: WifiChannel,
    /// The channel from stations to the access point, if it differs: stations have less power, and often fewer antennas. It
    /// applies to stations without a `channel`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "`channel`"))]
    pub uplink: Option<WifiChannel>,
    /// Decrease of power with distance.
    pub path_loss: WifiPathLoss,
    /// Settings of single stations, by the names of their nodes.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub stations: BTreeMap<String, WifiStation>,
    /// Which other stations a station hears: `hears = { a = ["b"], c = [] }`. A station that is left out hears all. The access point hears all and
    /// is heard by all. With `access-points`: which other nodes a node hears; an access point and its stations always hear each other. Default: all
    /// hear all.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("x-default" = "all hear all"))]
    pub hears: BTreeMap<String, Vec<String>>,
}

impl Default for WifiConfig {
    fn default() -> Self {
        WifiConfig {
            access_point: None,
            access_points: Vec::new(),
            standard: WifiStandard::default(),
            band: None,
            width: 20,
            streams: 1,
            guard_interval: Span::from_nanos(800),
            slot: None,
            sifs: None,
            preamble: None,
            edca: true,
            categories: WifiCategories::default(),
            mapping: WifiMapping::default(),
            retry_limit: 7,
            rts: None,
            eifs: true,
            header: Bytes::new(38),
            aggregation: WifiAggregation::default(),
            queues: WifiQueues::default(),
            driver_buffer: 123,
            rate: WifiRateControl::default(),
            fallback: true,
            channel: WifiChannel::default(),
            uplink: None,
            path_loss: WifiPathLoss::default(),
            stations: BTreeMap::new(),
            hears: BTreeMap::new(),
        }
    }
}

/// A band.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub enum WifiBand {
    /// 2.4 GHz.
    #[serde(rename = "2.4 GHz")]
    Low,
    /// 5 GHz.
    #[serde(rename = "5 GHz")]
    High,
}

/// Mapping of code points to access categories.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub enum WifiMapping {
    /// As RFC 8325 §4 recommends: EF to voice; CS5, AF4x, CS4, AF3x and CS3 to video; CS1 and LE to background; CS6 and CS7 to voice.
    #[default]
    #[serde(rename = "rfc-8325")]
    Rfc8325,
    /// The first three bits are the user priority, as many devices do by default (RFC 8325 §2.3): EF to video, CS6 and CS7 to voice.
    #[serde(rename = "precedence")]
    Precedence,
}

/// Queues at the access point.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WifiQueues {
    /// One queue per access category for all stations, with the links' `queue`, in front of the driver's buffer.
    #[default]
    Fifo,
    /// FQ-CoDel for each station (target 20 ms, interval 100 ms, as in Linux's mac80211); stations take turns frame by frame.
    FqCodel,
    /// Like `fq-codel`, but stations take turns by airtime; stations with little traffic go first (Høiland-Jørgensen et al.
    /// 2017).
    Airtime,
}

/// Rate control: chooses the index of modulation and coding.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WifiRateControl {
    /// The highest index with a failure rate of at most 0.1 for frames of 4096 bytes at the current ratio, which the sender
    /// knows.
    #[default]
    Ideal,
    /// From the outcomes of frames, like Linux's Minstrel. One frame in ten samples another index.
    Adaptive,
}

/// Parameters of the access categories that differ from their defaults.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct WifiCategories {
    /// Background. Default AIFSN 7, windows 15 to 1023.
    pub background: WifiCategory,
    /// Best effort. Default AIFSN 3, windows 15 to 1023.
    pub best_effort: WifiCategory,
    /// Video. Default AIFSN 2, windows 7 to 15, TXOP 3.008 ms.
    pub video: WifiCategory,
    /// Voice. Default AIFSN 2, windows 3 to 7, TXOP 1.504 ms.
    pub voice: WifiCategory,
}

/// Parameters of one access category. Defaults: IEEE 802.11-2012 Table 8-105.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct WifiCategory {
    /// Slots after SIFS before the backoff continues, 1 to 15 (the access point may have 1, stations 2).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aifsn: Option<u8>,
    /// Smallest contention window, 0 to 32767. Backoffs are uniform from 0 to the window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cw_min: Option<u32>,
    /// Largest contention window, `cw-min` to 32767.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cw_max: Option<u32>,
    /// Time for which frames may follow each other after one backoff, at most 20 ms; 0 s: one frame.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub txop: Option<Span>,
}

/// Limits of aggregation (A-MPDU).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct WifiAggregation {
    /// Maximum number of packets, 1 to 64; 1: no aggregation. Default 64 (the block acknowledgement's bitmap).
    pub frames: u32,
    /// Maximum size, 256 B or more. Default: the limit of the standard (65535 B in `802.11n`).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "what the standard allows"))]
    pub bytes: Option<Bytes>,
    /// Maximum duration, 100 µs to 5.484 ms (aPPDUMaxTime). Default 4 ms (Linux ath9k).
    pub time: Span,
    /// Also aggregate voice; Linux does not. Default false.
    pub voice: bool,
}

impl Default for WifiAggregation {
    fn default() -> Self {
        WifiAggregation { frames: 64, bytes: None, time: Span::from_millis(4), voice: false }
    }
}

/// The radio channel of one direction: `mcs` or `steps` for a channel without noise, or `snr` or `distance` for errors by
/// the sensitivities of the standard. `mcs` with `snr` or `distance` fixes the index.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct WifiChannel {
    /// Index of modulation and coding, per stream: 0 to 3, 7, 7, 9 or 11, by the standard.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mcs: Option<u8>,
    /// Indices over time: `[{ at = "0 s", is = 7 }, { at = "5 s", is = 0 }]`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step<u8>>,
    /// With `mcs` or `steps`: failure probability of a packet on the air. Default 0.
    #[serde(skip_serializing_if = "Option::is_none", with = "OptionalRatio")]
    pub error: Option<f64>,
    /// The mean signal-to-noise ratio in dB, -30 to 90.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snr: Option<f64>,
    /// Distance between station and access point in metres, above 0 and at most 10000; gives the ratio by `path-loss`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distance: Option<f64>,
    /// With `snr` or `distance`: Rayleigh fading with this Doppler frequency in Hz, above 0 and at most 2000. Default: no fading.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doppler: Option<f64>,
}

/// Decrease of power with distance: as in free space over the first metre, then with an exponent (log-distance; Rappaport
/// 2002 §4.9).
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct WifiPathLoss {
    /// Transmit power in dBm, -20 to 40. Default 20.
    pub power: f64,
    /// The exponent, 1 to 6. Default 3 † (buildings: 1.6 to 6, Rappaport 2002 Table 4.2).
    pub exponent: f64,
    /// The receiver's noise figure in dB, 0 to 20. Default 7 †.
    pub noise_figure: f64,
}

impl Default for WifiPathLoss {
    fn default() -> Self {
        WifiPathLoss { power: 20.0, exponent: 3.0, noise_figure: 7.0 }
    }
}

/// Settings of one station.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct WifiStation {
    /// Its channel from the access point, and also to it unless `uplink` is set. Default: the medium's `channel`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "that of the medium"))]
    pub channel: Option<WifiChannel>,
    /// Its channel to the access point, if it differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uplink: Option<WifiChannel>,
    /// Its spatial streams. Default: the medium's `streams`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "those of the medium"))]
    pub streams: Option<u8>,
    /// Its spatial streams to the access point, if they differ. Default: `streams`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "`streams`"))]
    pub uplink_streams: Option<u8>,
    /// Time at which it leaves. All its packets, waiting or later, are dropped. Default: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "never"))]
    pub leaves: Option<Span>,
}

/// Number of access categories; a higher number is more urgent.
pub(super) const CATEGORIES: usize = 4;
pub(super) const BEST_EFFORT: usize = 1;
pub(super) const VOICE: usize = 3;

/// Parameters of a running access category; times in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    pub aifs: u64,
    pub cw_min: u32,
    pub cw_max: u32,
    pub txop: u64,
}

impl WifiConfig {
    pub(super) fn five(&self) -> bool {
        match self.band {
            Some(band) => band == WifiBand::High,
            None => self.standard > WifiStandard::G,
        }
    }

    /// Frame times for `streams` spatial streams.
    pub(super) fn phy(&self, streams: u8) -> Phy {
        Phy::new(&Numbers {
            standard: self.standard,
            five: self.five(),
            width: self.width,
            streams,
            guard: self.guard_interval.nanos(),
            slot: self.slot.map(Span::nanos),
            sifs: self.sifs.map(Span::nanos),
            preamble: self.preamble.map(Span::nanos),
        })
    }

    /// Parameters of the categories, by number. All AIFS differ by whole slots.
    pub(super) fn accesses(&self, phy: &Phy) -> [Access; CATEGORIES] {
        let dsss = self.standard == WifiStandard::B;
        let base: u32 = if dsss { 31 } else { 15 };
        let own = &self.categories;
        let written = [own.background, own.best_effort, own.video, own.voice];
        // IEEE 802.11-2012 Table 8-105: windows are fractions of aCWmin; TXOPs for DSSS and for OFDM.
        let defaults = [
            (7, base, 1023, 0),
            (3, base, 1023, 0),
            (2, base.div_ceil(2) - 1, base, if dsss { 6_016_000 } else { 3_008_000 }),
            (2, base.div_ceil(4) - 1, base.div_ceil(2) - 1, if dsss { 3_264_000 } else { 1_504_000 }),
        ];
        let mut all = [Access { aifs: 0, cw_min: 0, cw_max: 0, txop: 0 }; CATEGORIES];
        for (access, (written, (aifsn, cw_min, cw_max, txop))) in all.iter_mut().zip(written.iter().zip(defaults)) {
            let aifsn = if self.edca { written.aifsn.unwrap_or(aifsn) } else { 2 };
            let cw_min = written.cw_min.unwrap_or(cw_min);
            *access = Access {
                aifs: phy.sifs + u64::from(aifsn) * phy.slot,
                cw_min,
                cw_max: written.cw_max.unwrap_or(cw_max).max(cw_min),
                txop: if self.edca { written.txop.map_or(txop, Span::nanos) } else { 0 },
            };
        }
        all
    }

    /// The signal-to-noise ratio in dB at this distance in metres.
    pub(super) fn ratio_at(&self, distance: f64) -> f64 {
        let megahertz: f64 = if self.five() { 5_200.0 } else { 2_437.0 };
        // Free space at 1 m: 20 log f + 20 log d − 27.55 with MHz and m.
        let first = 20.0 * libm::log10(megahertz) - 27.55;
        let loss = first + 10.0 * self.path_loss.exponent * libm::log10(distance.max(1.0));
        let noise = -174.0 + 10.0 * libm::log10(f64::from(self.width) * 1e6) + self.path_loss.noise_figure;
        self.path_loss.power - loss - noise
    }

    pub(super) fn channel_of(&self, station: &str, uplink: bool) -> &WifiChannel {
        let own = self.stations.get(station);
        let up = own.and_then(|own| own.uplink.as_ref()).filter(|_| uplink);
        let both = own.and_then(|own| own.channel.as_ref());
        up.or(both).or(self.uplink.as_ref().filter(|_| uplink)).unwrap_or(&self.channel)
    }

    pub(super) fn streams_of(&self, station: &str, uplink: bool) -> u8 {
        let own = self.stations.get(station);
        let up = own.and_then(|own| own.uplink_streams).filter(|_| uplink);
        up.or(own.and_then(|own| own.streams)).unwrap_or(self.streams)
    }

    fn check_channel(&self, channel: &WifiChannel, streams: u8) -> Result<(), ConfigError> {
        let example = "channel = { snr = 25.0 }";
        let noisy = channel.snr.is_some() || channel.distance.is_some();
        if channel.snr.is_some() && channel.distance.is_some() {
            return Err(ConfigError::new("distance", "given with `snr`", "left out, or `snr`", example));
        }
        if !channel.steps.is_empty() && (noisy || channel.mcs.is_some()) {
            let allowed = "left out where `mcs`, `snr` or `distance` is given";
            return Err(ConfigError::new("steps", "given besides", allowed, example));
        }
        if channel.error.is_some() && noisy {
            let allowed = "left out: `snr` and `distance` have errors of their own";
            return Err(ConfigError::new("error", "given besides", allowed, example));
        }
        if let Some(error) = channel.error {
            check_fraction("error", error, "error = 0.1")?;
        }
        if let Some(snr) = channel.snr {
            check_range("snr", snr, -30.0, 90.0, example)?;
        }
        if let Some(distance) = channel.distance
            && !(distance > 0.0 && distance <= 10_000.0)
        {
            return Err(ConfigError::new("distance", distance, "above 0 and at most 10000 m", "distance = 12.0"));
        }
        match channel.doppler {
            Some(_) if !noisy => {
                return Err(ConfigError::new(
                    "doppler",
                    "given without `snr`",
                    "left out",
                    "channel = { snr = 25.0, doppler = 5.0 }",
                ));
            }
            Some(doppler) if !(doppler > 0.0 && doppler <= 2000.0) => {
                return Err(ConfigError::new("doppler", doppler, "above 0 and at most 2000 Hz", "doppler = 5.0"));
            }
            _ => {}
        }
        let phy = self.phy(streams);
        let known = |key: &str, index: u8| {
            if phy.has(index) {
                return Ok(());
            }
            let allowed = match self.standard.highest() {
                highest if index <= highest => {
                    format!("an index that exists at {} MHz with {streams} streams", self.width)
                }
                highest => format!("0 to {highest}"),
            };
            Err(ConfigError::new(key, index, allowed, "channel = { mcs = 3 }"))
        };
        if let Some(index) = channel.mcs {
            known("mcs", index)?;
        }
        if !channel.steps.is_empty() {
            check_steps(&channel.steps, "steps = [{ at = \"0 s\", is = 7 }, { at = \"5 s\", is = 0 }]")?;
            channel.steps.iter().try_for_each(|step| known("steps.is", step.is))?;
        }
        Ok(())
    }
}

fn check_choice<T: PartialEq + std::fmt::Display>(
    key: &str,
    value: T,
    known: &[T],
    example: &str,
) -> Result<(), ConfigError> {
    if known.contains(&value) {
        return Ok(());
    }
    let list: Vec<String> = known.iter().map(ToString::to_string).collect();
    Err(ConfigError::new(key, value, list.join(", "), example))
}

impl WifiCategory {
    fn check(&self) -> Result<(), ConfigError> {
        if let Some(aifsn) = self.aifsn {
            check_range("aifsn", aifsn, 1, 15, "aifsn = 2")?;
        }
        let most = 32_767;
        if let Some(cw_min) = self.cw_min {
            check_range("cw-min", cw_min, 0, most, "cw-min = 15")?;
        }
        if let Some(cw_max) = self.cw_max {
            check_range("cw-max", cw_max, self.cw_min.unwrap_or(0), most, "cw-max = 1023")?;
        }
        match self.txop {
            Some(txop) if txop > Span::from_millis(20) => {
                Err(ConfigError::new("txop", txop, "at most 20 ms", "txop = \"3.008 ms\""))
            }
            _ => Ok(()),
        }
    }
}

impl Checked for WifiConfig {
    fn check(&self) -> Result<(), ConfigError> {
        let (widths, streams) = self.standard.widths();
        check_choice("width", self.width, widths, "width = 20")?;
        check_range("streams", self.streams, 1, streams, "streams = 1")?;
        let guards = self.standard.guards();
        if !guards.is_empty() && !guards.contains(&self.guard_interval.nanos()) {
            let list: Vec<String> = guards.iter().map(|guard| format!("{guard} ns")).collect();
            return Err(ConfigError::new(
                "guard-interval",
                self.guard_interval,
                list.join(", "),
                "guard-interval = \"800 ns\"",
            ));
        }
        if self.standard == WifiStandard::B && self.five() {
            return Err(ConfigError::new("band", "5 GHz", "2.4 GHz for 802.11b", "band = \"2.4 GHz\""));
        }
        for (key, value, example) in [("slot", self.slot, "slot = \"9 us\""), ("sifs", self.sifs, "sifs = \"16 us\"")] {
            let most = Span::from_micros(100);
            if value.is_some_and(|value| value < Span::from_micros(1) || value > most) {
                return Err(ConfigError::new(key, value.unwrap_or_default(), "1 to 100 µs", example));
            }
        }
        if let Some(preamble) = self.preamble.filter(|preamble| *preamble > Span::from_millis(1)) {
            return Err(ConfigError::new("preamble", preamble, "at most 1 ms", "preamble = \"20 us\""));
        }
        if let Some(name) = self.access_points.first() {
            let repeated = |place: usize| self.access_points[..place].contains(&self.access_points[place]);
            let example = "access-points = [\"left\", \"right\"]";
            if self.access_point.is_some() {
                let allowed = "left out where `access-points` is given";
                return Err(ConfigError::new("access-point", "given besides", allowed, example));
            }
            if let Some(place) = (0..self.access_points.len()).find(|place| repeated(*place)) {
                return Err(ConfigError::new("access-points", &self.access_points[place], "each name once", example));
            }
            if let Some(station) = self.access_points.iter().find(|name| self.stations.contains_key(*name)) {
                let allowed = format!("the names of stations, to which the access point `{name}` does not belong");
                return Err(ConfigError::new("stations", station, allowed, example));
            }
        }
        let own = &self.categories;
        for (name, category) in [
            ("background", own.background),
            ("best-effort", own.best_effort),
            ("video", own.video),
            ("voice", own.voice),
        ] {
            category.check().map_err(|error| error.nested_in(&format!("categories.{name}")))?;
        }
        check_range("retry-limit", self.retry_limit, 1, 255, "retry-limit = 7")?;
        check_range("header", self.header.get(), 0, 200, "header = \"38 B\"")?;
        let aggregation = &self.aggregation;
        check_range("aggregation.frames", aggregation.frames, 1, 64, "aggregation = { frames = 64 }")?;
        if let Some(bytes) = aggregation.bytes.filter(|bytes| bytes.get() < 256) {
            return Err(ConfigError::new(
                "aggregation.bytes",
                bytes,
                "256 B or more",
                "aggregation = { bytes = \"65535 B\" }",
            ));
        }
        if !(Span::from_micros(100)..=Span::from_micros(5_484)).contains(&aggregation.time) {
            let example = "aggregation = { time = \"4 ms\" }";
            return Err(ConfigError::new("aggregation.time", aggregation.time, "100 µs to 5.484 ms", example));
        }
        check_range("driver-buffer", self.driver_buffer, 1, 4096, "driver-buffer = 123")?;
        check_range("path-loss.power", self.path_loss.power, -20.0, 40.0, "path-loss = { power = 20.0 }")?;
        check_range("path-loss.exponent", self.path_loss.exponent, 1.0, 6.0, "path-loss = { exponent = 3.0 }")?;
        check_range(
            "path-loss.noise-figure",
            self.path_loss.noise_figure,
            0.0,
            20.0,
            "path-loss = { noise-figure = 7.0 }",
        )?;
        self.check_channel(&self.channel, self.streams).map_err(|error| error.nested_in("channel"))?;
        if let Some(uplink) = &self.uplink {
            self.check_channel(uplink, self.streams).map_err(|error| error.nested_in("uplink"))?;
        }
        for (name, station) in &self.stations {
            let place = |key: &str| format!("stations.{name}.{key}");
            let (down, up) = (self.streams_of(name, false), self.streams_of(name, true));
            check_range(&place("streams"), down, 1, streams, "streams = 1")?;
            check_range(&place("uplink-streams"), up, 1, streams, "uplink-streams = 1")?;
            // A setting for both directions must be possible in both.
            let both = station.uplink.is_none().then_some(station.channel.as_ref()).flatten();
            for (key, channel, own) in [
                ("channel", station.channel.as_ref(), down),
                ("channel", both, up),
                ("uplink", station.uplink.as_ref(), up),
            ] {
                channel
                    .map_or(Ok(()), |channel| self.check_channel(channel, own))
                    .map_err(|error| error.nested_in(&place(key)))?;
            }
        }
        Ok(())
    }
}

impl Law for WifiConfig {
    const NAME: &'static str = "wifi";
    const EXAMPLE: &'static str = r#"{"access-point": "r1", "standard": "802.11ac", "width": 80, "queues": "airtime", "channel": {"distance": 8.0}}"#;
}
