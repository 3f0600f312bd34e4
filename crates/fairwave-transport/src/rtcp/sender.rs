//! The sending half: UDP, sender reports, and the choice of layers.

use super::interval::ReportInterval;
use super::{FlowContext, RtcpConfig};
use crate::udp::UdpSender;
use fairwave_endpoint::sizes::narrow;
use fairwave_endpoint::subscription::Subscription;
use fairwave_endpoint::{Estimate, Output, Sender, SenderView};
use fairwave_media::traffic::Unit;
use fairwave_network::packet::{Body, Ecn, Packet};
use fairwave_units::config::ConfigError;
use fairwave_units::random::Stream;
use fairwave_units::registry::Checked;
use fairwave_units::units::{Instant, Span};

/// The sending half.
#[derive(Clone, Debug)]
pub struct RtcpSender {
    config: RtcpConfig,
    context: FlowContext,
    udp: UdpSender,
    interval: ReportInterval,
    next_report: Instant,
    running: bool,
    layers: u8,
    subscription: Subscription,
    packets: u32,
    octets: u32,
    /// Fraction lost and highest sequence number of the latest report, and datagrams sent by then.
    fraction_lost: f64,
    highest: Option<u32>,
    sent_at_report: u32,
    round_trip: Option<Span>,
}

impl RtcpSender {
    /// Creates the sender of a flow.
    ///
    /// # Errors
    /// If [`RtcpConfig::check`] fails.
    pub fn new(context: FlowContext, config: &RtcpConfig, stream: Stream) -> Result<Self, ConfigError> {
        config.check()?;
        Ok(RtcpSender {
            udp: UdpSender::new(context, &config.udp())?,
            interval: config.report_interval(&context, stream),
            config: config.clone(),
            context,
            next_report: Instant::NEVER,
            running: false,
            layers: config.start_layers.clamp(1, context.layers.count().max(1)),
            subscription: Subscription::default(),
            packets: 0,
            octets: 0,
            fraction_lost: 0.0,
            highest: None,
            sent_at_report: 0,
            round_trip: None,
        })
    }

    fn is_layered(&self) -> bool {
        self.context.layers.count() > 0
    }

    /// Adds or drops a layer.
    fn adapt(&mut self, fraction_lost: f64, early: bool, stalled: bool) {
        self.fraction_lost = fraction_lost;
        if fraction_lost > self.config.drop_above || stalled {
            self.layers = self.layers.saturating_sub(1).max(1);
        } else if !early && fraction_lost < self.config.add_below {
            self.layers = (self.layers + 1).min(self.context.layers.count().max(1));
        }
    }
}

impl Sender for RtcpSender {
    fn on_start(&mut self, now: Instant, out: &mut Output) {
        self.running = true;
        self.udp.on_start(now, out);
        self.next_report = now + self.interval.draw();
    }

    fn on_unit(&mut self, now: Instant, unit: Unit, out: &mut Output) {
        if self.running && !self.subscription.takes(&self.context.layers, self.layers, &unit) {
            out.skipped += 1;
            return;
        }
        let before = out.packets.len();
        self.udp.on_unit(now, unit, out);
        for packet in out.packets.get(before..).unwrap_or(&[]) {
            if let Body::Datagram { payload, .. } = packet.body {
                self.packets = self.packets.wrapping_add(1);
                self.octets = self.octets.wrapping_add(u32::from(payload));
            }
        }
    }

    fn on_packet(&mut self, now: Instant, packet: &Packet, _out: &mut Output) {
        let Body::RtcpReceiverReport { fraction_lost, highest, early, sender_report, delay, .. } = packet.body else {
            return;
        };
        if let Some(sent) = sender_report
            && sent <= now
            && now - sent >= delay
        {
            self.round_trip = Some((now - sent).saturating_sub(delay));
        }
        let stalled = !early && self.highest == Some(highest) && self.packets != self.sent_at_report;
        (self.highest, self.sent_at_report) = (Some(highest), self.packets);
        self.adapt(f64::from(fraction_lost) / 256.0, early, stalled);
    }

    fn on_timer(&mut self, now: Instant, out: &mut Output) {
        if !self.running || now < self.next_report {
            return;
        }
        out.send(Packet {
            flow: self.context.flow,
            wire: narrow(self.config.report),
            class: self.context.class,
            dscp: self.context.dscp,
            feedback: false,
            ecn: Ecn::NotEct,
            layer: 0,
            body: Body::RtcpSenderReport { sent: now, packets: self.packets, octets: self.octets },
        });
        self.next_report = now + self.interval.draw();
    }

    fn deadline(&self) -> Instant {
        if self.running { self.next_report } else { Instant::NEVER }
    }

    fn on_stop(&mut self, now: Instant) {
        self.running = false;
        self.udp.on_stop(now);
    }

    fn view(&self) -> SenderView {
        let rate = self.context.layers.cumulative().get(usize::from(self.layers) - 1);
        SenderView {
            smoothed_rtt: self.round_trip.map(Span::seconds),
            rate: rate.map(|rate| rate.bits_per_second() as f64),
            estimate: Some(Estimate::LostShare(self.fraction_lost)),
            layers: self.is_layered().then_some(self.layers),
            ..self.udp.view()
        }
    }
}

#[cfg(test)]
#[path = "sender_tests.rs"]
mod tests;
