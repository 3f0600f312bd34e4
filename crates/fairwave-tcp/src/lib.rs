#![doc = include_str!("../README.md")]
//!
//! # Inside
//!
//! TCP: one sender and one receiver. A flavour is a controller (`control/`) with a loss recovery (`recovery/`).
//!
//! Each part states its sources and assumptions: [`sender`], [`receiver`], [`rtt`], [`recovery`], [`control`].
//! This module is the configuration. You can set every parameter; the controller and the preset supply the others.
//! There are four presets. `linux` is current Linux, the default, see [`Preset::Linux`]. `rfc` follows the
//! requirements of the RFCs. `ns2` is ns-2.35, the simulator of most published results of the 2000s. `ns2-2004` is
//! ns-2 at the beginning of 2004, as far as its sources record changes since.

mod connection;
pub mod control;
mod delivery;
mod held;
mod lifetime;
mod marks;
pub mod pacing;
mod pieces;
mod ranges;
pub mod receiver;
#[cfg(test)]
mod receiver_fuzz;
pub mod recovery;
pub mod rtt;
pub mod sender;
pub mod wire;

#[cfg(test)]
mod flavours;
#[cfg(test)]
mod marks_and_pacing_tests;
#[cfg(test)]
mod storyboards;

// Files written for external programs use the name `fairwave_core`. This alias lets the same files compile here.
extern crate self as fairwave_core;
#[allow(unused_imports)]
pub(crate) use fairwave_network::packet;
#[allow(unused_imports)]
pub(crate) use fairwave_units::{config, random, ratio, registry, timed, units};
#[allow(unused_imports)]
pub(crate) mod transport {
    pub(crate) use crate as tcp;
    pub(crate) use fairwave_endpoint::{limited, preset};
}

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use fairwave_units::config::ConfigError;
use fairwave_units::units::{Bytes, Span};

use control::{ControlLaw, Marks};
pub use fairwave_endpoint::preset::Preset;
use fairwave_endpoint::sizes::narrow;
#[cfg(test)]
use flavours::Flavour;
pub use pacing::Pacing;
pub use receiver::TcpReceiver;
pub use recovery::sack::PipeRule;
pub use recovery::{ProbeRule, Recovery};
pub use rtt::{RtoLimits, RttClock};
pub use sender::TcpSender;

/// Parameters of a connection as written in a scenario. The controller and the preset supply missing ones.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct TcpConfig {
    /// The source of parameters that the scenario does not set.
    #[serde(skip_serializing_if = "is_default")]
    pub preset: Preset,
    /// How losses are detected and repaired. Default: the controller's own recovery.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "the controller's"))]
    pub recovery: Option<Recovery>,
    /// In recovery the window falls gradually, as segments are delivered (RFC 9937); for recoveries `sack` and `rack`.
    /// Default: linux true with recovery `rack`, unless the controller asks for samples of the delivery rate; else false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prr: Option<bool>,
    /// Whether and how segments may be marked instead of dropped: `none`, `classic` (RFC 3168), `accurate` (marks are counted, RFC
    /// 9768) or `scalable` (the same as ECT(1), RFC 9331). Default: the controller's choice; none for most.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "what the controller asks for"))]
    pub ecn: Option<Marks>,
    /// Paces segments at the controller's rate, or at 2 windows per round trip in slow start and 1.2 after it (Linux).
    /// Default: true for controllers that have a rate, else false.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "at the controller's rate"))]
    pub pacing: Option<bool>,
    /// After a paced segment that left late, the next gap is shorter by the delay, at most by half (Linux). Default: linux true, else
    /// false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pacing_credit: Option<bool>,
    /// Payload bytes of a segment of bulk data; a longer unit of other applications is cut. Default: linux 1448 B, which fills an Ethernet
    /// frame of 1500 B; rfc and ns2 1000 B.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segment: Option<Bytes>,
    /// Header bytes added to each segment on the wire. Default: linux 52 B, with timestamps (RFC 7323); rfc 40 B; ns2
    /// 40 B, and 0 B for tcp/vegas.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<Bytes>,
    /// An acknowledgement's bytes on the wire. Default: linux 52 B, else 40 B.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub acknowledgement: Option<Bytes>,
    /// The receiver's window, segments. Default: linux and rfc one that never limits, as window scaling
    /// allows it (RFC 7323); ns2 64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receiver_window: Option<u32>,
    /// Congestion window after the handshake, segments. Default: linux 10 (RFC 6928), rfc 2 to 4 by segment size (RFC
    /// 5681 §3.1), ns2 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_window: Option<u32>,
    /// Initial slow start threshold, segments. Default: the receiver's window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_threshold: Option<u32>,
    /// The connection begins with a SYN and its acknowledgement. Default true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handshake: Option<bool>,
    /// Acknowledge every second segment, and a single segment after `ack-delay` (RFC 5681 §4.2). Default true; ns2
    /// false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delayed_ack: Option<bool>,
    /// The longest delay of an acknowledgement. Default: linux 40 ms, else 100 ms. Linux and rfc allow at most 500 ms (RFC 5681
    /// §4.2).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ack_delay: Option<Span>,
    /// In congestion avoidance the window grows by the number of acknowledged segments, not by the number of
    /// acknowledgements (RFC 5681 §3.1; RFC 3465 §2.1). For controllers that grow with each acknowledgement. Default:
    /// linux uses the kernel's rule; rfc true if acknowledgements are delayed; ns2 false.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "by the controller's own rule"))]
    pub byte_counting: Option<bool>,
    /// Number of first data segments that are acknowledged at once although acknowledgements are delayed. Default:
    /// linux 16, else 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quick_acks: Option<u32>,
    /// Number of duplicate acknowledgements that signal a loss. Default 3.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duplicates: Option<u32>,
    /// One new segment for each of the first two duplicates (RFC 3042). Default true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limited_transmit: Option<bool>,
    /// Reno and Tahoe: no second fast retransmit for segments that were in flight at the first. Default: linux and rfc
    /// false, ns2 true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub careful: Option<bool>,
    /// After idling for a timeout, slow start again (RFC 5681 §4.1). Default true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slow_start_restart: Option<bool>,
    /// The rules by which SACK recovers and counts segments in flight. Default: linux and rfc rfc6675, ns2
    /// counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pipe: Option<PipeRule>,
    /// The clock that measures round trips. Default: linux and rfc fine, ns2 coarse.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock: Option<RttClock>,
    /// The clock's granularity, and the least margin of the timeout above the round trip. Default: linux its
    /// shortest timeout, rfc 1 ms, ns2 10 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tick: Option<Span>,
    /// The timeout before the first measurement. Default: linux and rfc 1 s, ns2 3 s, ns2-2004 6 s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_rto: Option<Span>,
    /// The shortest timeout. Default: linux and ns2 200 ms, rfc and ns2-2004 1 s. With linux also the extra wait of a
    /// tail loss probe, beyond two round trips, when one segment is in flight.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_rto: Option<Span>,
    /// The longest timeout. Default: linux 120 s, else 60 s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_rto: Option<Span>,
    /// Each sending is delayed by a uniformly random time below this, which breaks phase effects (ns-2's `overhead_`). Default 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub send_jitter: Option<Span>,
    /// Partial reliability: the sender neither sends nor retransmits data older than this, and tells the receiver not
    /// to wait for it. Default: TCP delivers everything, at any age. Bulk data has no age.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "everything is delivered, however late"))]
    pub deadline: Option<Span>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// All parameters of a connection, with defaults filled in. Those used for every packet come first.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TcpParameters {
    /// Loss recovery.
    pub recovery: Recovery,
    /// The connection begins with a SYN.
    pub handshake: bool,
    /// RFC 3042.
    pub limited_transmit: bool,
    /// Allow no second fast retransmit within a window.
    pub careful: bool,
    /// Set the window to the threshold at the end of fast recovery.
    pub deflate: bool,
    /// A decrease starts from the data in flight, not from the window.
    pub decrease_from_flight: bool,
    /// Follow ns-2.35 in rules without a parameter.
    pub like_ns2: bool,
    /// Segments carry waves, and acknowledgements carry their rate.
    pub waves: bool,
    /// ECN code point of the segments, and the receiver's way of reporting marks.
    pub marks: Marks,
    /// A mark and a loss in one window cause one response.
    pub one_answer: bool,
    /// The source of the pacing rate.
    pub pacing: Pacing,
    /// After a paced segment that left late, the next gap is shorter by the delay, at most by half.
    pub pacing_credit: bool,
    /// The controller receives samples of the delivery rate.
    pub samples: bool,
    /// Proportional rate reduction in recovery.
    pub prr: bool,
    /// Payload bytes of a segment.
    pub segment: u16,
    /// Header bytes of a segment.
    pub header: u16,
    /// Wire bytes of a SYN.
    pub syn: u16,
    /// The receiver's window, segments.
    pub receiver_window: u32,
    /// Number of duplicates that signal a loss.
    pub duplicate_threshold: u32,
    /// Largest random delay of a transmission.
    pub jitter: Span,
    /// Congestion window after the handshake, segments.
    pub initial_window: f64,
    /// Congestion avoidance counts the segments that an acknowledgement covers, see [`control::Path::credit`].
    pub counts_segments: bool,
    /// Slow start after an idle time.
    pub slow_start_restart: bool,
    /// After a lost SYN the window begins with one segment (RFC 5681 §3.1).
    pub shrinks_after_lost_syn: bool,
    /// The connection takes its initial window when the first data segment is acknowledged.
    pub late_initial_window: bool,
    /// The pipe rule of SACK.
    pub pipe: PipeRule,
    /// Wire bytes of an acknowledgement.
    pub acknowledgement: u16,
    /// Congestion window after idling, segments.
    pub restart_window: f64,
    /// Initial slow start threshold, segments.
    pub initial_threshold: f64,
    /// Longest delay of an acknowledgement; `None` without delayed acknowledgements.
    pub delayed_ack: Option<Span>,
    /// Number of segments that are acknowledged at once before delayed acknowledgements begin.
    pub quick_acks: u32,
    /// Limits of the retransmission timeout.
    pub rto: RtoLimits,
    /// Waiting time of a tail loss probe.
    pub probe: ProbeRule,
    /// Lifetime of the application's units.
    pub deadline: Option<Span>,
}

impl TcpParameters {
    /// True if acknowledgements carry SACK blocks.
    pub fn sends_sack(&self) -> bool {
        matches!(self.recovery, Recovery::Sack | Recovery::Rack)
    }

    /// True if the recovery records the receiver's held segments on every acknowledgement.
    pub(crate) fn knows_what_is_held(&self) -> bool {
        match self.recovery {
            Recovery::Rack => true,
            Recovery::Sack => self.pipe == PipeRule::Rfc6675,
            _ => false,
        }
    }
}

/// A controller's requirements on its connection, see [`ControlLaw`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Needs {
    /// [`ControlLaw::RECOVERY`].
    pub recovery: Recovery,
    /// [`ControlLaw::WAVES`].
    pub waves: bool,
    /// [`ControlLaw::SAMPLES`].
    pub samples: bool,
    /// [`ControlLaw::MARKS`].
    pub marks: Marks,
    /// [`ControlLaw::PACES`].
    pub paces: bool,
    /// [`ControlLaw::CREDIT`].
    pub credit: bool,
}

impl Needs {
    /// The needs of a controller.
    pub const fn from_law<C: ControlLaw>() -> Self {
        Needs {
            recovery: C::RECOVERY,
            waves: C::WAVES,
            samples: C::SAMPLES,
            marks: C::MARKS,
            paces: C::PACES,
            credit: C::CREDIT,
        }
    }

    /// The needs of a controller that only requires a recovery.
    pub const fn recovery(recovery: Recovery) -> Self {
        Needs { recovery, waves: false, samples: false, marks: Marks::None, paces: false, credit: true }
    }
}

/// The largest receiver's window, also the default, segments. With segments of 1000 bytes it covers a path of 300
/// Gb/s and 100 ms, so it never limits.
const LARGEST_WINDOW: u32 = 1 << 22;

/// An acknowledgement must be sent within this time of the segment (RFC 5681 §4.2).
const LONGEST_ACK_DELAY: Span = Span::from_millis(500);

impl TcpConfig {
    /// The parameters of a connection whose controller has these needs. The configuration may override recovery,
    /// marks and pacing.
    pub fn parameters_with(&self, needs: Needs) -> TcpParameters {
        let ns2 = self.preset.like_ns2();
        let linux = self.preset == Preset::Linux;
        let old = self.preset == Preset::Ns2Of2004;
        let segment = narrow(self.segment.unwrap_or(self.default_segment()));
        let receiver_window = self.receiver_window.unwrap_or(if ns2 { 64 } else { LARGEST_WINDOW });
        let recovery = self.recovery_with(needs);
        // Vegas in ns-2.35 has a separate sending routine. It has neither headers nor SYNs, so a lost SYN has no
        // consequences.
        let ns2_vegas = ns2 && recovery == Recovery::Vegas;
        let header = narrow(self.header.unwrap_or(self.default_header(ns2_vegas)));
        let initial = self.initial_window.unwrap_or(match segment {
            _ if ns2 => 2,
            _ if linux => 10,
            0..=1095 => 4,
            1096..=2190 => 3,
            _ => 2,
        });
        let millis = |rfc: u64, like_ns2: u64| Span::from_millis(if ns2 { like_ns2 } else { rfc });
        let min_rto = self.min_rto.unwrap_or(if linux {
            Span::from_millis(200)
        } else {
            millis(1000, if old { 1000 } else { 200 })
        });
        TcpParameters {
            recovery,
            segment,
            header,
            syn: if ns2_vegas { segment } else { header },
            shrinks_after_lost_syn: !ns2_vegas,
            late_initial_window: ns2_vegas,
            acknowledgement: narrow(self.acknowledgement.unwrap_or(Bytes::new(if linux { 52 } else { 40 }))),
            receiver_window,
            initial_window: f64::from(initial),
            restart_window: if ns2 { 1.0 } else { f64::from(initial) },
            initial_threshold: f64::from(self.initial_threshold.unwrap_or(receiver_window)),
            handshake: self.handshake.unwrap_or(true),
            delayed_ack: self.delays_acknowledgements().then(|| self.longest_ack_delay()),
            quick_acks: self.quick_acks.unwrap_or(if linux { 16 } else { 0 }),
            duplicate_threshold: self.duplicates.unwrap_or(3),
            limited_transmit: self.limited_transmit.unwrap_or(true),
            careful: self.careful.unwrap_or(ns2)
                || matches!(recovery, Recovery::Newreno | Recovery::Sack | Recovery::Rack),
            deflate: !ns2,
            decrease_from_flight: !ns2,
            counts_segments: self.byte_counting.unwrap_or(self.delays_acknowledgements() && !ns2),
            slow_start_restart: self.slow_start_restart.unwrap_or(true),
            like_ns2: ns2,
            pipe: self.pipe.unwrap_or(if ns2 { PipeRule::Counted } else { PipeRule::Rfc6675 }),
            rto: RtoLimits {
                clock: self.clock.unwrap_or(if ns2 { RttClock::Coarse } else { RttClock::Fine }),
                // Linux bounds four deviations from below, not the timeout (`tcp_rtt_estimator`).
                tick: self.tick.unwrap_or(if linux { min_rto } else { millis(1, 10) }),
                initial: self.initial_rto.unwrap_or(millis(1000, if old { 6000 } else { 3000 })),
                min: min_rto,
                max: self.max_rto.unwrap_or(Span::from_secs(if linux { 120 } else { 60 })),
            },
            probe: if linux { ProbeRule::Linux } else { ProbeRule::Rfc8985 },
            jitter: self.send_jitter.unwrap_or(Span::ZERO),
            waves: needs.waves,
            marks: self.ecn.unwrap_or(needs.marks),
            one_answer: needs.marks == Marks::None || self.ecn.unwrap_or(needs.marks) == Marks::Classic,
            pacing: match (self.pacing, needs.paces) {
                (Some(false), _) | (None, false) => Pacing::Off,
                (None, true) => Pacing::Law,
                (Some(true), _) => Pacing::Window,
            },
            pacing_credit: self.pacing_credit.unwrap_or(linux),
            samples: needs.samples,
            prr: self.prr.unwrap_or(linux && recovery == Recovery::Rack && !needs.samples),
            deadline: self.deadline,
        }
    }

    /// Fills in the default of every key, for a controller with these needs. Omits keys that have no effect or may
    /// not be set.
    pub fn spelled_out(&self, needs: Needs) -> TcpConfig {
        let parameters = self.parameters_with(needs);
        let linux = self.preset == Preset::Linux;
        let bytes = |size: u16| Some(Bytes::new(u64::from(size)));
        TcpConfig {
            preset: self.preset,
            recovery: Some(parameters.recovery),
            prr: Some(parameters.prr),
            ecn: Some(parameters.marks),
            // A controller's pacing rate has no value here: `true` requests pacing by the window.
            pacing: self.pacing.or((!needs.paces).then_some(false)),
            pacing_credit: Some(parameters.pacing_credit),
            segment: bytes(parameters.segment),
            header: bytes(parameters.header),
            acknowledgement: bytes(parameters.acknowledgement),
            receiver_window: Some(parameters.receiver_window),
            initial_window: Some(parameters.initial_window as u32),
            initial_threshold: Some(parameters.initial_threshold as u32),
            handshake: Some(parameters.handshake),
            delayed_ack: Some(self.delays_acknowledgements()),
            ack_delay: Some(self.longest_ack_delay()),
            byte_counting: Some(parameters.counts_segments).filter(|_| needs.credit && !linux),
            quick_acks: Some(parameters.quick_acks),
            duplicates: Some(parameters.duplicate_threshold),
            limited_transmit: Some(parameters.limited_transmit),
            careful: Some(parameters.careful),
            slow_start_restart: Some(parameters.slow_start_restart),
            pipe: Some(parameters.pipe).filter(|_| parameters.recovery != Recovery::Rack),
            clock: Some(parameters.rto.clock),
            tick: Some(parameters.rto.tick),
            initial_rto: Some(parameters.rto.initial),
            min_rto: Some(parameters.rto.min),
            max_rto: Some(parameters.rto.max),
            send_jitter: Some(parameters.jitter),
            deadline: parameters.deadline,
        }
    }

    /// The recovery of a connection with a controller of these needs.
    fn recovery_with(&self, needs: Needs) -> Recovery {
        self.recovery.unwrap_or(match needs.recovery {
            Recovery::Sack if self.preset == Preset::Linux => Recovery::Rack,
            recovery => recovery,
        })
    }

    /// True if the receiver delays acknowledgements. RFC 5681 §4.2 and RFC 9293 §3.8.6.3 have it as a SHOULD;
    /// ns-2's sink does not do it.
    fn delays_acknowledgements(&self) -> bool {
        self.delayed_ack.unwrap_or(!self.preset.like_ns2())
    }

    fn longest_ack_delay(&self) -> Span {
        self.ack_delay.unwrap_or(Span::from_millis(if self.preset == Preset::Linux { 40 } else { 100 }))
    }

    fn default_segment(&self) -> Bytes {
        Bytes::new(if self.preset == Preset::Linux { 1448 } else { 1000 })
    }

    fn default_header(&self, ns2_vegas: bool) -> Bytes {
        Bytes::new(match self.preset {
            Preset::Linux => 52,
            _ if ns2_vegas => 0,
            _ => 40,
        })
    }

    /// Checks the range of every key, and that the keys suit each other and a controller with these needs.
    ///
    /// # Errors
    /// The first key that is out of range or does not go with the others.
    pub fn check_with(&self, needs: Needs) -> Result<(), ConfigError> {
        self.check()?;
        let recovery = self.recovery_with(needs);
        if self.prr == Some(true) {
            if needs.samples {
                let allowed =
                    "left out with a controller that sets its window by the delivery rate, in recovery as outside";
                return Err(ConfigError::new("prr", true, allowed, "prr = false"));
            }
            let counted = recovery == Recovery::Sack && self.parameters_with(needs).pipe == PipeRule::Counted;
            if counted || !matches!(recovery, Recovery::Sack | Recovery::Rack) {
                let allowed =
                    "true only with a recovery that knows what has been delivered: sack (by RFC 6675) or rack";
                return Err(ConfigError::new("prr", true, allowed, "recovery = \"rack\""));
            }
        }
        if let Some(counting) = self.byte_counting.filter(|_| !needs.credit || self.preset == Preset::Linux) {
            let allowed = "left out with the preset linux, and with a controller that has a rule of its own for what an acknowledgement adds";
            return Err(ConfigError::new("byte-counting", counting, allowed, "delayed-ack = true"));
        }
        let paces = self.pacing.unwrap_or(needs.paces);
        if let Some(credit) = self.pacing_credit.filter(|credit| *credit && !paces) {
            let allowed = "false or left out where nothing paces segments";
            return Err(ConfigError::new("pacing-credit", credit, allowed, "pacing = true"));
        }
        if let Some(pipe) = self.pipe.filter(|_| recovery == Recovery::Rack) {
            let pipe = if pipe == PipeRule::Counted { "counted" } else { "rfc6675" };
            let allowed = "left out with recovery rack, which counts what it has not marked as lost";
            return Err(ConfigError::new("pipe", pipe, allowed, "recovery = \"sack\""));
        }
        Ok(())
    }

    /// Checks the range of every key.
    ///
    /// # Errors
    /// The first key that is out of range.
    pub fn check(&self) -> Result<(), ConfigError> {
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
        if let Some(quick) = self.quick_acks.filter(|quick| *quick > LARGEST_WINDOW) {
            let allowed = format!("from 0 to {LARGEST_WINDOW} segments");
            return Err(ConfigError::new("quick-acks", quick, allowed, "quick-acks = 16"));
        }
        if let Some(quick) = self.quick_acks.filter(|quick| *quick > 0 && !self.delays_acknowledgements()) {
            let allowed = "0 or left out where every segment is acknowledged at once";
            return Err(ConfigError::new("quick-acks", quick, allowed, "delayed-ack = true"));
        }
        let segment = self.segment.unwrap_or(self.default_segment());
        if segment == Bytes::ZERO {
            return Err(ConfigError::new("segment", segment, "at least 1 B", "segment = \"1000 B\""));
        }
        let header = self.header.unwrap_or(self.default_header(false));
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
        positive("deadline", self.deadline, "deadline = \"300 ms\"")?;
        positive("ack-delay", self.ack_delay, "ack-delay = \"100 ms\"")?;
        if let Some(delay) = self.ack_delay.filter(|delay| !self.preset.like_ns2() && *delay > LONGEST_ACK_DELAY) {
            let allowed = format!("at most {LONGEST_ACK_DELAY} (RFC 5681 §4.2), or any with preset = \"ns2\"");
            return Err(ConfigError::new("ack-delay", delay, allowed, "ack-delay = \"200 ms\""));
        }
        let rto = self.parameters_with(Needs::recovery(Recovery::Reno)).rto;
        if rto.max < rto.min {
            let allowed = format!("at least min-rto ({})", rto.min);
            return Err(ConfigError::new("max-rto", rto.max, allowed, "max-rto = \"60 s\""));
        }
        Ok(())
    }
}
