//! TCP: one sender and one receiver. A flavour is a controller (`control/`) with a recovery (`recovery/`).
//!
//! Sources and assumptions stand with the parts: [`sender`], [`receiver`], [`rtt`], [`recovery`], [`control`]. This module is
//! the configuration: every parameter can be set; what is not set comes from the flavour and from the preset, `rfc`
//! (what the RFCs say today) or `ns2` (what ns-2.35 does, on which most published results of the 2000s rest).

pub mod control;
pub mod receiver;
#[cfg(test)]
mod receiver_fuzz;
pub mod recovery;
pub mod rtt;
pub mod sender;
mod units;

#[cfg(test)]
mod storyboards;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::{ConfigError, check_between};
use crate::random::Stream;
use crate::transport::FlowContext;
use crate::transport::sizes::narrow;
use crate::units::{Bytes, Span};

use control::real::RealThresholds;
use control::{Aimd, Control, Gamma, Real, Vegas, Westwood, WestwoodPlus};
pub use receiver::TcpReceiver;
pub use recovery::Recovery;
pub use recovery::sack::PipeRule;
pub use rtt::{RtoLimits, RttClock};
pub use sender::TcpSender;

/// A named TCP.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flavour {
    /// TCP(1, 0.5) with Tahoe's recovery.
    Tahoe,
    /// TCP(1, 0.5) with Reno's recovery.
    Reno,
    /// TCP(1, 0.5) with NewReno's recovery.
    Newreno,
    /// TCP(1, 0.5) with selective acknowledgements.
    Sack,
    /// TCP(α, β).
    Aimd,
    /// γ around TCP(α, β), paper 003.
    Gamma,
    /// γ and δ around TCP(α, β), paper 003.
    GammaDelta,
    /// Vegas.
    Vegas,
    /// Westwood.
    Westwood,
    /// Westwood+.
    WestwoodPlus,
    /// TCP-Real.
    Real,
}

impl Flavour {
    /// Every flavour.
    pub const ALL: [Flavour; 11] = [
        Flavour::Tahoe,
        Flavour::Reno,
        Flavour::Newreno,
        Flavour::Sack,
        Flavour::Aimd,
        Flavour::Gamma,
        Flavour::GammaDelta,
        Flavour::Vegas,
        Flavour::Westwood,
        Flavour::WestwoodPlus,
        Flavour::Real,
    ];

    /// Its name in scenarios.
    pub const fn name(self) -> &'static str {
        match self {
            Flavour::Tahoe => "tcp/tahoe",
            Flavour::Reno => "tcp/reno",
            Flavour::Newreno => "tcp/newreno",
            Flavour::Sack => "tcp/sack",
            Flavour::Aimd => "tcp/aimd",
            Flavour::Gamma => "tcp/gamma",
            Flavour::GammaDelta => "tcp/gamma-delta",
            Flavour::Vegas => "tcp/vegas",
            Flavour::Westwood => "tcp/westwood",
            Flavour::WestwoodPlus => "tcp/westwood+",
            Flavour::Real => "tcp/real",
        }
    }

    const fn recovery(self) -> Recovery {
        match self {
            Flavour::Tahoe => Recovery::Tahoe,
            Flavour::Newreno | Flavour::WestwoodPlus | Flavour::Real => Recovery::Newreno,
            Flavour::Sack => Recovery::Sack,
            Flavour::Vegas => Recovery::Vegas,
            Flavour::Reno | Flavour::Aimd | Flavour::Gamma | Flavour::GammaDelta | Flavour::Westwood => Recovery::Reno,
        }
    }
}

/// Where parameters that are not set come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// What the RFCs say.
    #[default]
    Rfc,
    /// What ns-2.35 does.
    Ns2,
}

/// Parameters of a TCP as written. What is left out comes from the flavour and the preset.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct TcpConfig {
    /// Where parameters that are not set come from.
    #[serde(skip_serializing_if = "is_default")]
    pub preset: Preset,
    /// How losses are found and repaired; of each flavour its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recovery: Option<Recovery>,
    /// tcp/aimd, tcp/gamma, tcp/gamma-delta: segments per round trip, above 0, default 1. tcp/vegas: grow below so many queued segments, default 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alpha: Option<f64>,
    /// tcp/aimd, tcp/gamma, tcp/gamma-delta: part of the window kept on loss, between 0 and 1, default 0.5. tcp/vegas: shrink above so many
    /// queued segments, default 3.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beta: Option<f64>,
    /// tcp/real: part of the window lost on a large drop of the rate, between 0 and 1, default 0.125. tcp/vegas: leave slow
    /// start above so many queued segments, default 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gamma: Option<f64>,
    /// tcp/gamma-delta: segments per round trip while the queue is nearly empty, above 0, default 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta: Option<f64>,
    /// tcp/gamma, tcp/gamma-delta: share of the largest queueing delay at which the window is lowered, default 0.5.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upper: Option<f64>,
    /// tcp/gamma-delta: share up to which the window grows by delta, below `upper`, default 0.1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lower: Option<f64>,
    /// tcp/westwood: pole of the filter, default 19/21. tcp/westwood+: part of the estimate kept in each round, default 0.9. From 0 to below 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<f64>,
    /// tcp/real: a drop of the rate by up to this part is none, default 0.01.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hold: Option<f64>,
    /// tcp/real: a drop of the rate by up to this part is small, at least `hold`, default 0.125.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut: Option<f64>,
    /// tcp/real: jitter is low up to this part of the largest queueing delay, default 0.5.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jitter: Option<f64>,
    /// Payload bytes of a segment of bulk data; a longer unit of other applications is cut. Default 1000 B.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segment: Option<Bytes>,
    /// Header bytes added to each segment on the wire. Default 40 B.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<Bytes>,
    /// An acknowledgement's bytes on the wire. Default 40 B.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub acknowledgement: Option<Bytes>,
    /// The receiver's window, segments. Default 64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receiver_window: Option<u32>,
    /// Congestion window after the handshake, segments. Default: ns2 2; rfc as RFC 5681 §3.1 by segment size (4 up to 1095 B).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_window: Option<u32>,
    /// Slow start threshold at the beginning, segments. Default: the receiver's window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_threshold: Option<u32>,
    /// A SYN and its acknowledgement come first. Default true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handshake: Option<bool>,
    /// Acknowledge every second segment. Default false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delayed_ack: Option<bool>,
    /// The longest delay of an acknowledgement. Default 100 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ack_delay: Option<Span>,
    /// Duplicates that mean loss. Default 3.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duplicates: Option<u32>,
    /// One new segment for each of the first two duplicates (RFC 3042). Default true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limited_transmit: Option<bool>,
    /// Reno and Tahoe: no second fast retransmit for what was in flight at the first. Default: rfc false, ns2 true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub careful: Option<bool>,
    /// After idling for a timeout, slow start again (RFC 5681 §4.1). Default true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slow_start_restart: Option<bool>,
    /// How SACK counts what is in the network. Default: rfc rfc6675, ns2 counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pipe: Option<PipeRule>,
    /// Which clock measures round trips. Default: rfc fine, ns2 coarse.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock: Option<RttClock>,
    /// The clock's granularity. Default: rfc 1 ms, ns2 10 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tick: Option<Span>,
    /// The timeout before the first measurement. Default: rfc 1 s, ns2 3 s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_rto: Option<Span>,
    /// The shortest timeout. Default: rfc 1 s, ns2 200 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_rto: Option<Span>,
    /// The longest timeout. Default 60 s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_rto: Option<Span>,
    /// Each sending is delayed by a uniformly random time below this, which breaks phase effects (ns-2's `overhead_`). Default 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub send_jitter: Option<Span>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Every parameter of a connection, spelled out; those of every packet first.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TcpParameters {
    /// Loss recovery.
    pub recovery: Recovery,
    /// SYN first.
    pub handshake: bool,
    /// RFC 3042.
    pub limited_transmit: bool,
    /// No second fast retransmit within a window.
    pub careful: bool,
    /// Set the window to the threshold when fast recovery ends.
    pub deflate: bool,
    /// A decrease starts from what is in flight, not from the window.
    pub decrease_from_flight: bool,
    /// Follow ns-2.35 where no single parameter says so.
    pub like_ns2: bool,
    /// Segments carry waves and acknowledgements their rate.
    pub waves: bool,
    /// Payload bytes of a segment.
    pub segment: u16,
    /// Header bytes of a segment.
    pub header: u16,
    /// The receiver's window, segments.
    pub receiver_window: u32,
    /// Duplicates that mean loss.
    pub duplicate_threshold: u32,
    /// Random delay of sending.
    pub jitter: Span,
    /// Congestion window after the handshake, segments.
    pub initial_window: f64,
    /// Slow start after idling.
    pub slow_start_restart: bool,
    /// How SACK counts the pipe.
    pub pipe: PipeRule,
    /// Wire bytes of an acknowledgement.
    pub acknowledgement: u16,
    /// Congestion window after idling, segments.
    pub restart_window: f64,
    /// Initial slow start threshold, segments.
    pub initial_threshold: f64,
    /// Longest delay of an acknowledgement, if they are delayed.
    pub delayed_ack: Option<Span>,
    /// Retransmission timeout.
    pub rto: RtoLimits,
}

impl TcpParameters {
    /// Whether acknowledgements carry blocks.
    pub fn sends_sack(&self) -> bool {
        self.recovery == Recovery::Sack
    }
}

/// Segments that a receiver's window may hold at most: what fits the memory of a laptop a thousand times.
const LARGEST_WINDOW: u32 = 1 << 20;

impl TcpConfig {
    /// The parameters of a connection of this flavour.
    pub fn parameters(&self, flavour: Flavour) -> TcpParameters {
        let ns2 = self.preset == Preset::Ns2;
        let segment = narrow(self.segment.unwrap_or(Bytes::new(1000)));
        let receiver_window = self.receiver_window.unwrap_or(64);
        let initial = self.initial_window.unwrap_or(match segment {
            _ if ns2 => 2,
            0..=1095 => 4,
            1096..=2190 => 3,
            _ => 2,
        });
        let millis = |rfc: u64, like_ns2: u64| Span::from_millis(if ns2 { like_ns2 } else { rfc });
        TcpParameters {
            recovery: self.recovery.unwrap_or(flavour.recovery()),
            segment,
            header: narrow(self.header.unwrap_or(Bytes::new(40))),
            acknowledgement: narrow(self.acknowledgement.unwrap_or(Bytes::new(40))),
            receiver_window,
            initial_window: f64::from(initial),
            restart_window: if ns2 { 1.0 } else { f64::from(initial) },
            initial_threshold: f64::from(self.initial_threshold.unwrap_or(receiver_window)),
            handshake: self.handshake.unwrap_or(true),
            delayed_ack: self.delayed_ack.unwrap_or(false).then(|| self.ack_delay.unwrap_or(Span::from_millis(100))),
            duplicate_threshold: self.duplicates.unwrap_or(3),
            limited_transmit: self.limited_transmit.unwrap_or(true),
            careful: self.careful.unwrap_or(ns2)
                || matches!(self.recovery.unwrap_or(flavour.recovery()), Recovery::Newreno | Recovery::Sack),
            deflate: !ns2,
            decrease_from_flight: !ns2,
            slow_start_restart: self.slow_start_restart.unwrap_or(true),
            like_ns2: ns2,
            pipe: self.pipe.unwrap_or(if ns2 { PipeRule::Counted } else { PipeRule::Rfc6675 }),
            rto: RtoLimits {
                clock: self.clock.unwrap_or(if ns2 { RttClock::Coarse } else { RttClock::Fine }),
                tick: self.tick.unwrap_or(millis(1, 10)),
                initial: self.initial_rto.unwrap_or(millis(1000, 3000)),
                min: self.min_rto.unwrap_or(millis(1000, 200)),
                max: self.max_rto.unwrap_or(Span::from_secs(60)),
            },
            jitter: self.send_jitter.unwrap_or(Span::ZERO),
            waves: flavour == Flavour::Real,
        }
    }

    /// The controller of a connection of this flavour.
    pub fn control(&self, flavour: Flavour) -> Control {
        let aimd = |alpha: f64, beta: f64| Aimd::new(alpha, beta, self.preset == Preset::Ns2);
        let base = || aimd(self.alpha.unwrap_or(1.0), self.beta.unwrap_or(0.5));
        let upper = self.upper.unwrap_or(0.5);
        let lower = self.lower.unwrap_or(0.1);
        match flavour {
            Flavour::Tahoe | Flavour::Reno | Flavour::Newreno | Flavour::Sack => Control::Aimd(aimd(1.0, 0.5)),
            Flavour::Aimd => Control::Aimd(base()),
            Flavour::Gamma => Control::Gamma(Gamma::new(base(), upper, lower, None)),
            Flavour::GammaDelta => Control::Gamma(Gamma::new(base(), upper, lower, Some(self.delta.unwrap_or(2.0)))),
            Flavour::Vegas => Control::Vegas(Vegas::new(
                self.alpha.unwrap_or(1.0),
                self.beta.unwrap_or(3.0),
                self.gamma.unwrap_or(1.0),
            )),
            Flavour::Westwood => Control::Westwood(Westwood::new(self.filter.unwrap_or(19.0 / 21.0))),
            Flavour::WestwoodPlus => Control::WestwoodPlus(WestwoodPlus::new(self.filter.unwrap_or(0.9))),
            Flavour::Real => Control::Real(Real::new(RealThresholds {
                gamma: self.gamma.unwrap_or(0.125),
                hold: self.hold.unwrap_or(0.01),
                cut: self.cut.unwrap_or(0.125),
                jitter: self.jitter.unwrap_or(0.5),
            })),
        }
    }

    /// Both endpoints of a connection.
    ///
    /// # Errors
    /// When [`Self::check`] refuses the configuration.
    pub fn endpoints(
        &self,
        flavour: Flavour,
        context: FlowContext,
        stream: Stream,
    ) -> Result<(TcpSender, TcpReceiver), ConfigError> {
        self.check(flavour)?;
        Ok(self.endpoints_with(&Arc::new(self.parameters(flavour)), flavour, context, stream))
    }

    /// Both endpoints of one of many connections that have this configuration: its parameters are kept once for all of them.
    pub(super) fn endpoints_with(
        &self,
        parameters: &Arc<TcpParameters>,
        flavour: Flavour,
        context: FlowContext,
        stream: Stream,
    ) -> (TcpSender, TcpReceiver) {
        let receiver = TcpReceiver::new(context, parameters);
        (TcpSender::new(context, Arc::clone(parameters), self.control(flavour), stream), receiver)
    }

    /// Checks that every key belongs to the flavour and is in its range.
    ///
    /// # Errors
    /// The first key that does not belong or is out of range.
    pub fn check(&self, flavour: Flavour) -> Result<(), ConfigError> {
        self.check_keys(flavour)?;
        self.check_law(flavour)?;
        self.check_connection()
    }

    fn check_keys(&self, flavour: Flavour) -> Result<(), ConfigError> {
        use Flavour::{Aimd, Gamma, GammaDelta, Real, Vegas, Westwood, WestwoodPlus};
        let keys: [(&str, Option<f64>, &[Flavour]); 9] = [
            ("alpha", self.alpha, &[Aimd, Gamma, GammaDelta, Vegas]),
            ("beta", self.beta, &[Aimd, Gamma, GammaDelta, Vegas]),
            ("gamma", self.gamma, &[Vegas, Real]),
            ("delta", self.delta, &[GammaDelta]),
            ("upper", self.upper, &[Gamma, GammaDelta]),
            ("lower", self.lower, &[GammaDelta]),
            ("filter", self.filter, &[Westwood, WestwoodPlus]),
            ("hold", self.hold, &[Real]),
            ("cut", self.cut, &[Real]),
        ];
        let jitter = [("jitter", self.jitter, &[Real][..])];
        for (key, value, flavours) in keys.into_iter().chain(jitter) {
            if let Some(value) = value
                && !flavours.contains(&flavour)
            {
                let names: Vec<_> = flavours.iter().map(|f| f.name()).collect();
                let allowed = format!("left out with {} (it belongs to {})", flavour.name(), names.join(", "));
                let example = format!("name = \"{}\"", names.first().unwrap_or(&"tcp/aimd"));
                return Err(ConfigError::new(key, value, allowed, example));
            }
        }
        Ok(())
    }

    fn check_law(&self, flavour: Flavour) -> Result<(), ConfigError> {
        let between = |key: &str, value: Option<f64>, low: f64, high: f64, example: &str| {
            value.map_or(Ok(()), |value| check_between(key, value, low, high, example))
        };
        if flavour == Flavour::Vegas {
            between("alpha", self.alpha, 0.0, f64::INFINITY, "alpha = 1")?;
            between("beta", self.beta, self.alpha.unwrap_or(1.0), f64::INFINITY, "beta = 3")?;
            between("gamma", self.gamma, 0.0, f64::INFINITY, "gamma = 1")?;
        } else {
            between("alpha", self.alpha, 0.0, f64::INFINITY, "alpha = 0.31")?;
            between("beta", self.beta, 0.0, 1.0, "beta = 0.875")?;
            between("gamma", self.gamma, 0.0, 1.0, "gamma = 0.125")?;
        }
        between("delta", self.delta, 0.0, f64::INFINITY, "delta = 2")?;
        between("upper", self.upper, 0.0, 1.0, "upper = 0.5")?;
        between("lower", self.lower, 0.0, self.upper.unwrap_or(0.5), "lower = 0.1")?;
        for (key, value, example) in [
            ("filter", self.filter, "filter = 0.9"),
            ("hold", self.hold, "hold = 0.01"),
            ("jitter", self.jitter, "jitter = 0.5"),
        ] {
            if let Some(value) = value
                && !(0.0..1.0).contains(&value)
            {
                return Err(ConfigError::new(key, value, "from 0 to below 1", example));
            }
        }
        if let Some(cut) = self.cut {
            let hold = self.hold.unwrap_or(0.01);
            if !(hold..1.0).contains(&cut) {
                let allowed = format!("from hold ({hold}) to below 1");
                return Err(ConfigError::new("cut", cut, allowed, "cut = 0.125"));
            }
        }
        Ok(())
    }

    fn check_connection(&self) -> Result<(), ConfigError> {
        let count = |key: &str, value: Option<u32>, example: &str| match value {
            Some(value) if value == 0 || value > LARGEST_WINDOW => {
                Err(ConfigError::new(key, value, format!("from 1 to {LARGEST_WINDOW} segments"), example))
            }
            _ => Ok(()),
        };
        count("receiver-window", self.receiver_window, "receiver-window = 64")?;
        count("initial-window", self.initial_window, "initial-window = 2")?;
        count("initial-threshold", self.initial_threshold, "initial-threshold = 64")?;
        count("duplicates", self.duplicates, "duplicates = 3")?;
        let segment = self.segment.unwrap_or(Bytes::new(1000));
        if segment == Bytes::ZERO {
            return Err(ConfigError::new("segment", segment, "at least 1 B", "segment = \"1000 B\""));
        }
        let header = self.header.unwrap_or(Bytes::new(40));
        if segment.get().saturating_add(header.get()) > u64::from(u16::MAX) {
            let allowed = format!("such that with the header ({header}) it is at most 65535 B");
            return Err(ConfigError::new("segment", segment, allowed, "segment = \"1460 B\""));
        }
        if let Some(size) = self.acknowledgement.filter(|size| *size == Bytes::ZERO || size.get() > u64::from(u16::MAX))
        {
            return Err(ConfigError::new("acknowledgement", size, "from 1 to 65535 B", "acknowledgement = \"40 B\""));
        }
        let positive = |key: &str, value: Option<Span>, example: &str| match value {
            Some(value) if value == Span::ZERO => Err(ConfigError::new(key, value, "a time above 0", example)),
            _ => Ok(()),
        };
        positive("tick", self.tick, "tick = \"10 ms\"")?;
        positive("initial-rto", self.initial_rto, "initial-rto = \"3 s\"")?;
        positive("min-rto", self.min_rto, "min-rto = \"200 ms\"")?;
        positive("ack-delay", self.ack_delay, "ack-delay = \"100 ms\"")?;
        let rto = self.parameters(Flavour::Reno).rto;
        if rto.max < rto.min {
            let allowed = format!("at least min-rto ({})", rto.min);
            return Err(ConfigError::new("max-rto", rto.max, allowed, "max-rto = \"60 s\""));
        }
        Ok(())
    }
}
