//! The receiving half: UDP, reception statistics, regular and early reports.

use super::interval::ReportInterval;
use super::{FlowContext, RtcpConfig};
use crate::udp::UdpReceiver;
use fairwave_endpoint::gaps::LossDetector;
use fairwave_endpoint::serial::{ReplayWindow, unwrap};
use fairwave_endpoint::sizes::narrow;
use fairwave_endpoint::{Output, Receiver};
use fairwave_network::packet::{Body, Ecn, Packet};
use fairwave_units::config::ConfigError;
use fairwave_units::random::Stream;
use fairwave_units::registry::Checked;
use fairwave_units::units::{Instant, Span};

/// Number of regular reports without new packets before the receiver is silent.
const MOST_EMPTY_REPORTS: u32 = 3;

/// The receiving half.
#[derive(Clone, Debug)]
pub struct RtcpReceiver {
    config: RtcpConfig,
    context: FlowContext,
    udp: UdpReceiver,
    interval: ReportInterval,
    next_report: Instant,
    last_report: Instant,
    empty_reports: u32,
    seen: ReplayWindow,
    detector: LossDetector,
    /// The first sequence number.
    base: u64,
    received: u64,
    /// Expected and received at the latest report (RFC 3550 A.3).
    prior: (u64, u64),
    /// Transit of the latest datagram, and jitter (A.8), nanoseconds.
    transit: Option<i128>,
    jitter: f64,
    /// The latest sender report: its sending time and its arrival time.
    sender_report: Option<(Instant, Instant)>,
}

impl RtcpReceiver {
    /// Creates a receiver.
    ///
    /// # Errors
    /// If [`RtcpConfig::check`] fails.
    pub fn new(context: FlowContext, config: &RtcpConfig, stream: Stream) -> Result<Self, ConfigError> {
        config.check()?;
        Ok(RtcpReceiver {
            interval: config.report_interval(&context, stream),
            config: config.clone(),
            context,
            udp: UdpReceiver::new(),
            next_report: Instant::NEVER,
            last_report: Instant::ZERO,
            empty_reports: 0,
            seen: ReplayWindow::default(),
            detector: LossDetector::new(1),
            base: 0,
            received: 0,
            prior: (0, 0),
            transit: None,
            jitter: 0.0,
            sender_report: None,
        })
    }

    /// Number of datagrams expected so far (A.3).
    fn expected(&self) -> u64 {
        self.seen.highest().map_or(0, |highest| highest + 1 - self.base.min(highest))
    }

    fn report(&mut self, now: Instant, early: bool, out: &mut Output) {
        let Some(highest) = self.seen.highest() else { return };
        let expected = self.expected();
        let (expected_now, received_now) = (expected - self.prior.0, self.received - self.prior.1);
        self.prior = (expected, self.received);
        // The replay window removes duplicates, but late datagrams can make the loss negative. It then counts as
        // zero (A.3).
        let lost_now = expected_now.saturating_sub(received_now);
        let fraction_lost = (lost_now * 256).checked_div(expected_now).unwrap_or(0).min(255) as u8;
        out.send(Packet {
            flow: self.context.flow,
            wire: narrow(self.config.report),
            class: self.context.class,
            dscp: self.context.dscp,
            feedback: true,
            ecn: Ecn::NotEct,
            layer: 0,
            body: Body::RtcpReceiverReport {
                fraction_lost,
                early,
                lost: expected.saturating_sub(self.received) as u32,
                highest: highest as u32,
                jitter: Span::from_nanos(self.jitter as u64),
                sender_report: self.sender_report.map(|(sent, _)| sent),
                delay: self.sender_report.map_or(Span::ZERO, |(_, arrived)| now - arrived),
            },
        });
        self.last_report = now;
        self.empty_reports = if expected_now == 0 { self.empty_reports + 1 } else { 0 };
    }

    fn take_in(&mut self, now: Instant, sequence: u32, created: Instant, out: &mut Output) {
        let sequence = unwrap(self.seen.highest().unwrap_or(u64::from(sequence)), sequence);
        if self.seen.highest().is_none() {
            self.base = sequence;
        }
        if !self.seen.is_new(sequence) {
            return;
        }
        self.base = self.base.min(sequence);
        self.received += 1;
        let transit = i128::from(now.nanos()) - i128::from(created.nanos());
        if let Some(before) = self.transit {
            self.jitter += ((transit - before).unsigned_abs() as f64 - self.jitter) / 16.0;
        }
        self.transit = Some(transit);
        if self.next_report == Instant::NEVER {
            self.next_report = now + self.interval.draw();
        }
        self.empty_reports = 0;
        let gap = self.detector.on_arrival(sequence, now);
        if gap.is_some() && self.config.early_reports && now - self.last_report >= self.config.early_spacing {
            self.report(now, true, out);
        }
    }
}

impl Receiver for RtcpReceiver {
    fn on_packet(&mut self, now: Instant, packet: &Packet, out: &mut Output) {
        match packet.body {
            Body::Datagram { sequence, created, .. } => {
                self.udp.on_packet(now, packet, out);
                self.take_in(now, sequence, created, out);
            }
            Body::RtcpSenderReport { sent, .. } => self.sender_report = Some((sent, now)),
            _ => {}
        }
    }

    fn on_timer(&mut self, now: Instant, out: &mut Output) {
        if now < self.next_report {
            return;
        }
        self.report(now, false, out);
        self.next_report =
            if self.empty_reports < MOST_EMPTY_REPORTS { now + self.interval.draw() } else { Instant::NEVER };
    }

    fn deadline(&self) -> Instant {
        self.next_report
    }

    fn is_reactive(&self) -> bool {
        false
    }
}

#[cfg(test)]
#[path = "receiver_tests.rs"]
mod tests;
