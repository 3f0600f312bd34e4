//! DVRC, Dynamic Video Rate Control: the receiver decides how many layers of a video it can take (paper 002 §3).
//!
//! The receiver answers each datagram with a control packet that requests a number of layers. The sender joins and
//! leaves layers accordingly. The underlying rate follows [`aiamd`]: it halves on congestion and falls by one
//! packet per round trip on random loss. [`timeout`] defines DTO, [`wire`] the header. `docs/protocols/dvrc.md`
//! describes the whole protocol. DVRC also carries bulk data and units without layers, at the rate that AIAMD
//! allows.
//!
//! **Assumptions** that the paper does not state:
//! - Rates count payload. The receiving rate is measured over the last 150 ms (the interval of the paper's Fig. 6) or the
//!   last round-trip time, whichever is longer.
//! - The receiver learns round-trip time and DTO from data packets, since only the sender can measure them.
//! - By default, losses within one round-trip time of a loss event belong to it. They share its verdict and do not
//!   lower the rate again, but a round trip with such losses does not raise the rate. In the words of §3.1 every
//!   gap is an event (`reaction = "gap"`).
//! - A new round trip begins at each loss event. The rate rises at its end if a packet arrived and no packet was lost.
//! - The base layer is always sent, so R is at least c₁. R is at most c_k · (1 + headroom): a higher rate would
//!   have no effect. Flows without layers begin at `base-rate` and never exceed `most-rate`.
//! - The sender paces packets at R (`pace`). It paces faster if a unit (a large I frame) would otherwise leave
//!   later than `most-delay` after its creation.
//! - Queued units are still sent after their layer is left.
//! - On a timeout the receiver sends a control packet without echo. Repeated timeouts double their interval; after
//!   ten the flow counts as ended. Packets found missing at the end of the silence were lost in it, so they share
//!   the timeout's verdict.
//! - A sender without feedback for `silence` falls back to the base layer.
//! - A control packet about an older packet than one already reported (reordered) is ignored.

pub mod aiamd;
mod receiver;
mod sender;
#[cfg(test)]
mod tests;
pub mod timeout;
pub mod wire;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use receiver::DvrcReceiver;
pub use sender::DvrcSender;

use crate::{PacketSize, Properties, TransportLaw};
use fairwave_endpoint::FlowContext;
use fairwave_endpoint::gaps::MOST_LATER_ARRIVALS;
use fairwave_endpoint::sizes::{DATAGRAM_PAYLOAD, check_sizes};
use fairwave_endpoint::wire::Protocol;
use fairwave_units::config::{ConfigError, check_span};
use fairwave_units::random::Stream;
use fairwave_units::ratio::Ratio;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::{Bytes, Rate, Span};

/// DVRC: layered video at a rate that the receiver sets (paper 002). The receiver halves the rate on congestion
/// and lowers it by a packet per round trip on random loss. It answers each datagram with the number of layers
/// that fit the rate.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct DvrcConfig {
    /// The largest payload of a packet, and the packet size of both α in Eq. (11). Default 1200 B; paper 002 sends
    /// 1000.
    pub segment: Bytes,
    /// Header bytes below the DVRC header on the wire. The DVRC header has 32 B, in a control packet 24 B. Default
    /// 28 B: IPv4 and UDP.
    pub lower_headers: Bytes,
    /// The rate policy, Eq. (11).
    pub aiamd: AiamdConfig,
    /// The timeout, Eq. (2)–(4).
    pub timeout: TimeoutConfig,
    /// Number of later packets that must arrive before a missing packet counts as lost, 1 to 8. Default 1: any packet
    /// beyond the expected one signals a loss, as in §3.1; 3 tolerates reordering by two.
    pub later_arrivals: u8,
    /// Interval over which the receiving rate is measured; the round-trip time if that is longer. Default 150 ms.
    pub measure_over: Span,
    /// The margin of R above the rate of all layers, as a fraction of that rate. 0 and above; default 0.25.
    #[serde(with = "Ratio")]
    pub headroom: f64,
    /// First and smallest rate of a flow without layers. Default 64 kb/s.
    pub base_rate: Rate,
    /// Largest rate of a flow without layers. Default 100 Mb/s.
    pub most_rate: Rate,
    /// The longest wait of a packet in the sender; if needed, the sender paces faster than R. Default 200 ms.
    pub most_delay: Span,
    /// A sender without feedback for this long sends only the base layer. Default 2 s.
    pub silence: Span,
    /// The definition of a loss event. Default `round-trip`; §3.1 uses `gap`.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(extend("default" = Reaction::default()))]
    pub reaction: Reaction,
    /// The condition for y(t) = 0 in Eq. (11). Default `round-trip`.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(extend("default" = Rise::default()))]
    pub rise: Rise,
    /// The receiving rate that judges a loss. Default `window`.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(extend("default" = Measured::default()))]
    pub measure: Measured,
    /// How the sender spaces packets. Default `rate`.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(extend("default" = Pace::default()))]
    pub pace: Pace,
    /// Whether the layers' rates are fixed or chosen again for each group. Default `fixed`.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(extend("default" = Allocation::default()))]
    pub allocation: Allocation,
    /// Which datagrams the receiver answers. Default `packet`.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(extend("default" = Answers::default()))]
    pub answers: Answers,
}

/// The datagrams that the receiver answers with a control packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Answers {
    /// Every datagram (paper 002 §3.1).
    #[default]
    Packet,
    /// The first in each round trip, and those that reveal a loss event. This is as often as TFRC reports
    /// (RFC 4342 §6).
    RoundTrip,
}

/// The definition of a loss event: the event ends an epoch, is judged, and lowers the rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reaction {
    /// All losses within one round-trip time, as in TFRC.
    #[default]
    RoundTrip,
    /// Every gap in sequence numbers (paper 002 §3.1).
    Gap,
}

/// When the rate rises.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rise {
    /// At the end of a round trip with arrivals and without losses.
    #[default]
    RoundTrip,
    /// With each packet without a gap before it, by the packet's share of the data that R sends in a round trip.
    Packet,
}

/// The interval over which the receiver measures the receiving rate that judges a loss.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Measured {
    /// `measure-over`, or the round-trip time if that is longer.
    #[default]
    Window,
    /// The epoch that the loss ends: the time since the previous loss event.
    Epoch,
}

/// Packet spacing of the sender. Packets never wait longer than `most-delay`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pace {
    /// At R, the rate that the receiver requests.
    #[default]
    Rate,
    /// At c_K, the rate of the sent layers; at R for flows without layers.
    Layers,
    /// No spacing: units leave when they are created. Bulk data leave at R.
    None,
}

/// The allocation of rates to layers. Paper 002 §3.3: DVRC works with fixed and with dynamically allocated layer
/// rates.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Allocation {
    /// The rates of the layers are fixed.
    #[default]
    Fixed,
    /// The layers' rates change at the start of each group of frames (with every frame, if frames have no type).
    /// Together they have R, and each layer keeps its share. The total is at least the base layer's rate and at
    /// most the original rate of all layers. Units shrink in proportion. Until the next group, K is the number of
    /// those layers that R carries. For cumulative layers.
    Group,
    /// Layers can be cut at any byte, as in fine granularity scalability (paper 002 §3.3). Of each frame, the
    /// sender sends the layers that fit R completely, and a part of the next one. The base layer is always
    /// complete. For cumulative layers.
    Fine,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

pub use aiamd::{AiamdConfig, StepUnit};
pub use timeout::TimeoutConfig;

impl Default for DvrcConfig {
    fn default() -> Self {
        DvrcConfig {
            segment: DATAGRAM_PAYLOAD,
            lower_headers: Bytes::new(28),
            aiamd: AiamdConfig::default(),
            timeout: TimeoutConfig::default(),
            later_arrivals: 1,
            measure_over: Span::from_millis(150),
            headroom: 0.25,
            base_rate: Rate::from_bits_per_second(64_000),
            most_rate: Rate::from_bits_per_second(100_000_000),
            most_delay: Span::from_millis(200),
            silence: Span::from_secs(2),
            reaction: Reaction::default(),
            rise: Rise::default(),
            measure: Measured::default(),
            pace: Pace::default(),
            allocation: Allocation::default(),
            answers: Answers::default(),
        }
    }
}

impl Law for DvrcConfig {
    const NAME: &'static str = "dvrc";
    const BESIDE: &'static str = r#"{"traffic": "video"}"#;
}

impl Properties for DvrcConfig {
    fn packet(&self, _bulk: bool) -> PacketSize {
        PacketSize { payload: self.segment, header: self.headers() }
    }

    fn protocol(&self) -> Protocol {
        Protocol::Dvrc
    }
}

impl TransportLaw for DvrcConfig {
    type Sender = DvrcSender;
    type Receiver = DvrcReceiver;

    fn endpoints(&self, context: FlowContext, _stream: Stream) -> Result<(DvrcSender, DvrcReceiver), ConfigError> {
        Ok((DvrcSender::new(context, self)?, DvrcReceiver::new(context, self)?))
    }
}

impl Checked for DvrcConfig {
    fn check(&self) -> Result<(), ConfigError> {
        check_sizes(self.segment, self.headers())?;
        self.aiamd.check().map_err(|e| e.nested_in("aiamd"))?;
        self.timeout.check().map_err(|e| e.nested_in("timeout"))?;
        if !(1..=MOST_LATER_ARRIVALS).contains(&usize::from(self.later_arrivals)) {
            return Err(ConfigError::new("later-arrivals", self.later_arrivals, "from 1 to 8", "later-arrivals = 1"));
        }
        check_span("measure-over", self.measure_over, "measure-over = \"150 ms\"")?;
        if !(self.headroom >= 0.0 && self.headroom.is_finite()) {
            return Err(ConfigError::new("headroom", self.headroom, "0 and above", "headroom = 0.25"));
        }
        if self.base_rate.bits_per_second() == 0 {
            return Err(ConfigError::new("base-rate", self.base_rate, "above 0", "base-rate = \"64 kb/s\""));
        }
        if self.most_rate < self.base_rate {
            let allowed = format!("at least base-rate ({})", self.base_rate);
            return Err(ConfigError::new("most-rate", self.most_rate, allowed, "most-rate = \"100 Mb/s\""));
        }
        check_span("most-delay", self.most_delay, "most-delay = \"200 ms\"")?;
        check_span("silence", self.silence, "silence = \"2 s\"")
    }
}

impl DvrcConfig {
    /// All header bytes of a data packet.
    fn headers(&self) -> Bytes {
        self.lower_headers + Bytes::new(wire::DATA_HEADER as u64)
    }

    /// The range of R.
    fn range(&self, context: &FlowContext) -> (Rate, Rate) {
        match (context.layers.base(), context.layers.total()) {
            (Some(base), Some(total)) => {
                let most = total.bits_per_second() as f64 * (1.0 + self.headroom);
                (base, Rate::from_bits_per_second(most as u64))
            }
            _ => (self.base_rate, self.most_rate),
        }
    }
}
