//! The receiving half of RAP: it acknowledges every datagram, and reports the latest gap with each acknowledgement.

use super::RapConfig;
use fairwave_endpoint::parts::Assembly;
use fairwave_endpoint::serial::{ReplayWindow, unwrap};
use fairwave_endpoint::sizes::narrow;
use fairwave_endpoint::{Delivery, FlowContext, Output, Receiver};
use fairwave_network::packet::{Body, Ecn, Packet};
use fairwave_units::config::ConfigError;
use fairwave_units::registry::Checked;
use fairwave_units::units::Instant;

/// The receiving half.
#[derive(Clone, Debug)]
pub struct RapReceiver {
    context: FlowContext,
    wire: u16,
    seen: ReplayWindow<16>,
    assembly: Assembly,
    /// The latest gap: the last datagram before it and its last missing datagram.
    gap: Option<(u32, u32)>,
}

impl RapReceiver {
    /// Creates a receiver.
    ///
    /// # Errors
    /// If [`RapConfig`] is out of range.
    pub fn new(context: FlowContext, config: &RapConfig) -> Result<Self, ConfigError> {
        config.check()?;
        Ok(RapReceiver {
            context,
            wire: narrow(config.acknowledgement),
            seen: ReplayWindow::default(),
            assembly: Assembly::default(),
            gap: None,
        })
    }
}

impl Receiver for RapReceiver {
    fn on_packet(&mut self, _now: Instant, packet: &Packet, out: &mut Output) {
        let Body::Datagram { payload, sequence, unit, parts, created, .. } = packet.body else { return };
        let highest = self.seen.highest();
        let number = unwrap(highest.unwrap_or(0), sequence);
        if !self.seen.is_new(number) {
            return;
        }
        let complete = self.assembly.completes(unit, parts);
        out.deliveries.push(Delivery { unit, payload: u32::from(payload), created, layer: packet.layer, complete });
        let late = highest.is_some_and(|highest| number < highest);
        if let Some(highest) = highest
            && number > highest + 1
        {
            self.gap = Some((highest as u32, (number - 1) as u32));
        }
        // The latest gap gives no information about the packets before a late one.
        let (before, missing) = match self.gap {
            Some((before, last)) if !late => (before, Some(last)),
            _ => (sequence, late.then_some(sequence.wrapping_sub(1))),
        };
        let body = Body::RapAck { current: sequence, missing, before };
        let FlowContext { flow, class, dscp, .. } = self.context;
        out.send(Packet { flow, wire: self.wire, class, dscp, feedback: true, ecn: Ecn::NotEct, layer: 0, body });
    }

    fn on_timer(&mut self, _now: Instant, _out: &mut Output) {}

    fn deadline(&self) -> Instant {
        Instant::NEVER
    }

    fn is_reactive(&self) -> bool {
        true
    }
}
