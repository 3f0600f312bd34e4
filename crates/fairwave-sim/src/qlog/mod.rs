//! qlog traces of senders: one file per flow, readable by qvis and similar tools.
//!
//! Source: draft-ietf-quic-qlog-main-schema §3 (version 0.3, JSON, which qvis supports best),
//! draft-ietf-quic-qlog-quic-events (`transport:packet_sent`, `transport:packet_received`,
//! `recovery:metrics_updated`, `recovery:congestion_state_updated`, `recovery:packet_lost`). Times are in ms since
//! the start of the run.
//!
//! | event | when |
//! |---|---|
//! | `transport:packet_sent` | the sender hands a data packet to the network |
//! | `transport:packet_received` | feedback reaches the sender; for TCP with a frame `ack` of the acknowledged packets |
//! | `recovery:metrics_updated` | a state variable of the sender has changed; lists only changed ones |
//! | `recovery:congestion_state_updated` | TCP only: slow start, congestion avoidance, recovery, timeout |
//! | `recovery:packet_lost` | TCP: the sender retransmits a segment. Other transports: the network has lost a packet |
//! | `fairwave:controller` | other decisions of a controller: rate, estimates, DVRC's receiving rate and bound, layers |
//!
//! **Assumptions.** qlog is made for QUIC. A TCP segment keeps its number when it is retransmitted. So packet numbers
//! here count the packets that the flow sends, from 0, and each retransmission has a new number. Bytes are payload;
//! windows are in bytes, segments × segment size. The vantage point is the sender (`server` for qvis, because data
//! flows from it). Bytes in flight are the bytes sent that are neither acknowledged nor declared lost by a
//! retransmission. Transports other than TCP do not report them.

mod trace;

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use fairwave_core::packet::Packet;
use fairwave_core::transport::{AnyReceiver, AnySender, Receiver, Sender};
use fairwave_core::units::Instant;
use fairwave_scenario::plan::Plan;

use crate::capture::CaptureSummary;
use crate::probe::{Probe, RemovalCause};
use trace::Trace;

/// Probe that writes the qlog traces of selected flows.
pub struct Qlog {
    traces: BTreeMap<u32, Trace>,
    failure: Option<(PathBuf, io::Error)>,
}

/// Shows the numbers of the flows.
impl fmt::Debug for Qlog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Qlog").field("flows", &self.traces.keys()).finish_non_exhaustive()
    }
}

impl Qlog {
    /// Creates the folder and opens a file in it for each flow.
    ///
    /// # Errors
    /// Returns the path of a file that cannot be written.
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

    /// Closes the files. Returns each file with its number of events.
    ///
    /// # Errors
    /// Returns the first file that could not be written.
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

/// Converts a flow's name to a file name: `voice[0]` becomes `voice-0`.
fn file_name(flow: &str) -> String {
    let plain = |one: char| if one.is_alphanumeric() || "._-".contains(one) { one } else { '-' };
    flow.chars().map(plain).collect::<String>().trim_matches('-').to_owned()
}

impl Probe for Qlog {
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
