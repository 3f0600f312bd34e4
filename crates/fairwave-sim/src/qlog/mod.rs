//! What senders do, as qlog: a file per flow that qvis and its kin read.
//!
//! Source: draft-ietf-quic-qlog-main-schema §3 (version 0.3, JSON: what qvis reads best), draft-ietf-quic-qlog-quic-events
//! (`transport:packet_sent`, `transport:packet_received`, `recovery:metrics_updated`, `recovery:congestion_state_updated`,
//! `recovery:packet_lost`). Times are in ms since the beginning of the run.
//!
//! | event | when |
//! |---|---|
//! | `transport:packet_sent` | the sender hands a data packet to the network |
//! | `transport:packet_received` | feedback reaches the sender; of TCP with a frame `ack` of the packets that it acknowledges |
//! | `recovery:metrics_updated` | a quantity of the sender has become another; only those that have |
//! | `recovery:congestion_state_updated` | of TCP: slow start, congestion avoidance, recovery, timeout |
//! | `recovery:packet_lost` | of TCP: the sender sends a segment again that had left before. Of other transports: the network has lost a packet |
//! | `fairwave:controller` | what else a controller decides: its rate, what it estimates, DVRC's receiving rate and bound, layers |
//!
//! **Assumptions.** qlog is QUIC's. TCP's segments have no number of their own for each sending, so packet numbers here count what the flow
//! sends, from 0 on, and each retransmission has a new one. Bytes are payload; windows are in bytes, segments × segment size.
//! The vantage point is the sender (`server` for qvis, as data flows from it). Bytes in flight are those sent and neither acknowledged nor,
//! by a retransmission, declared lost; of transports other than TCP there are none.

mod trace;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use fairwave_core::packet::Packet;
use fairwave_core::transport::{AnyReceiver, AnySender, Receiver, Sender};
use fairwave_core::units::Instant;
use fairwave_scenario::plan::Plan;

use crate::capture::CaptureSummary;
use crate::probe::{Probe, RemovalCause};
use trace::Trace;

/// Looks on and writes what the senders of some flows do.
pub struct Qlog {
    traces: BTreeMap<u32, Trace>,
    failure: Option<(PathBuf, io::Error)>,
}

impl Qlog {
    /// Opens a file for each of these flows in the folder, which it makes.
    ///
    /// # Errors
    /// A file that cannot be written, with its path.
    pub fn new(plan: &Plan, flows: &[usize], folder: &Path) -> Result<Self, (PathBuf, io::Error)> {
        let mut traces = BTreeMap::new();
        for &flow in flows.iter().filter(|flow| **flow < plan.flows.len()) {
            let path = folder.join(format!("{}.qlog", file_name(&plan.flows[flow].name)));
            let trace = Trace::new(plan, flow, &path).map_err(|error| (path, error))?;
            traces.insert(flow as u32, trace);
        }
        Ok(Qlog { traces, failure: None })
    }

    fn note(&mut self, flow: u32, what: impl FnOnce(&mut Trace) -> io::Result<()>) {
        if let Some(trace) = self.traces.get_mut(&flow)
            && self.failure.is_none()
            && let Err(error) = what(trace)
        {
            self.failure = Some((trace.path().to_owned(), error));
        }
    }

    /// Closes the files. Answers with each and how many events it has.
    ///
    /// # Errors
    /// The first file that could not be written.
    pub fn finish(self) -> Result<Vec<CaptureSummary>, (PathBuf, io::Error)> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let finish = |trace: Trace| {
            let path = trace.path().to_owned();
            trace
                .finish()
                .map(|packets| CaptureSummary { path: path.clone(), packets, lost: 0 })
                .map_err(|error| (path, error))
        };
        self.traces.into_values().map(finish).collect()
    }
}

/// A flow's name as a file's: `voice[0]` is `voice-0`.
fn file_name(flow: &str) -> String {
    let plain = |one: char| if one.is_alphanumeric() || "._-".contains(one) { one } else { '-' };
    flow.chars().map(plain).collect::<String>().trim_matches('-').to_owned()
}

impl Probe for Qlog {
    const ON: bool = true;

    fn sent(&mut self, packet: &Packet, at: Instant) {
        if !packet.feedback {
            self.note(packet.flow.0, |trace| trace.sent(packet, at));
        }
    }

    fn received(&mut self, packet: &Packet, at: Instant) {
        if packet.feedback {
            self.note(packet.flow.0, |trace| trace.received(packet, at));
        }
    }

    fn left(&mut self, _link: usize, packet: &Packet, at: Instant, lost: bool) {
        if lost && !packet.feedback {
            self.note(packet.flow.0, |trace| trace.gone(packet, at, "lost on a link"));
        }
    }

    fn gone(&mut self, _link: usize, packet: &Packet, at: Instant, how: RemovalCause) {
        if !packet.feedback {
            let why = if how == RemovalCause::Failed { "link down" } else { "dropped by a queue" };
            self.note(packet.flow.0, |trace| trace.gone(packet, at, why));
        }
    }

    fn acted(&mut self, flow: usize, sender: &AnySender, receiver: &AnyReceiver, at: Instant) {
        if let Ok(flow) = u32::try_from(flow)
            && self.traces.contains_key(&flow)
        {
            let (view, receiver) = (sender.view(), receiver.view());
            self.note(flow, |trace| trace.acted(&view, &receiver, at));
        }
    }

    fn now(&mut self, now: Instant) {
        for trace in self.traces.values_mut() {
            if self.failure.is_none()
                && let Err(error) = trace.write_until(now)
            {
                self.failure = Some((trace.path().to_owned(), error));
            }
        }
    }
}

#[cfg(test)]
mod tests;
