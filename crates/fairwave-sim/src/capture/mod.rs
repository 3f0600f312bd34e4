//! Exports packets to standard file formats: pcapng captures of links and hosts, and loss patterns.
//!
//! A capture ([`Capture`]) observes a run ([`crate::probe::Probe`]) and writes during the run. It keeps only packets
//! in memory that were reported ahead of time. These are at most the packets waiting at the observed links. Simulated
//! packets carry no bytes; `headers` encodes them as on a real network.
//!
//! Imports run in one direction: TCP byte numbers and headers, files and patterns → capture.

mod address;
mod files;
mod headers;
mod patterns;
mod sip;
mod tcp;

use std::fmt;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use fairwave_core::packet::Packet;
use fairwave_core::queue::DropReason;
use fairwave_core::units::Instant;
use fairwave_scenario::plan::Plan;
use fairwave_scenario::tap::Tap;

use crate::probe::{Probe, RemovalCause};
use files::{CaptureInterface, Comment, Files};
use headers::Headers;
use patterns::Patterns;
use sip::{Calls, ObservationPoint};

/// Requested captures of a run: observation points and output files.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CaptureRequest {
    /// Captures. Taps with the same file share it; each tap is an interface in the file.
    pub captures: Vec<(Tap, PathBuf)>,
    /// Loss patterns of links and flows.
    pub patterns: Vec<(Tap, PathBuf)>,
    /// Writes payload too (zeros, and the speech of G.711 calls). Otherwise packets are cut off after their headers.
    pub payload: bool,
    /// Speech of G.711 calls as µ-law codes, repeated at the end. Empty for zeros.
    pub speech: Vec<u8>,
    /// Omits the SIP messages that set up and end calls.
    pub without_sip: bool,
}

/// Contents of an output file at the end of the run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CaptureSummary {
    /// Path of the file.
    pub path: PathBuf,
    /// Number of packets of the run; SIP messages are not simulated and do not count.
    pub packets: u64,
    /// For a pattern: the number of lost packets.
    pub lost: u64,
}

impl fmt::Debug for Capture<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Capture").field("plan", &self.plan.name).finish_non_exhaustive()
    }
}

/// Probe that writes captures and patterns.
pub struct Capture<'p> {
    plan: &'p Plan,
    headers: Headers<'p>,
    /// Calls with written set-up and end.
    calls: Calls,
    files: Files,
    patterns: Patterns,
    /// Per link: the interfaces for transmitted and for dropped packets.
    links: Vec<[Option<CaptureInterface>; 2]>,
    /// Interface of each node.
    hosts: Vec<Option<CaptureInterface>>,
    /// Per flow: the nodes of its sender and receiver.
    ends: Vec<[usize; 2]>,
    /// Per link: queue discipline and loss model, for comments.
    causes: Vec<[String; 2]>,
    payload: bool,
    failure: Option<(PathBuf, io::Error)>,
}

impl<'p> Capture<'p> {
    /// Opens the files.
    ///
    /// # Errors
    /// Returns the path of a file that cannot be written.
    pub fn new(plan: &'p Plan, wanted: &CaptureRequest) -> Result<Self, (PathBuf, io::Error)> {
        let mut capture = Capture {
            plan,
            headers: Headers::new(plan, &wanted.speech),
            calls: if wanted.without_sip || wanted.captures.is_empty() { Calls::default() } else { Calls::new(plan) },
            files: Files::default(),
            patterns: Patterns::new(plan, &wanted.patterns)?,
            links: vec![[None; 2]; plan.links.len()],
            hosts: vec![None; plan.nodes.len()],
            ends: plan.flows.iter().map(|flow| [flow.from, flow.to]).collect(),
            causes: (plan.links.iter())
                .map(|link| [link.direction.queue.discipline.name().to_owned(), link.direction.loss.name().to_owned()])
                .collect(),
            payload: wanted.payload,
            failure: None,
        };
        for (tap, path) in &wanted.captures {
            let failed = |error| (path.clone(), error);
            let (name, about) = match *tap {
                Tap::Link(link) => (plan.links[link].name.to_string(), "as packets leave the transmitter".to_owned()),
                Tap::Drops(link) => {
                    let name = &plan.links[link].name;
                    (format!("{name} drops"), "packets that were not transmitted, when they were given up".to_owned())
                }
                Tap::Host(node) => (plan.nodes[node].clone(), "as endpoints send and receive".to_owned()),
                Tap::Flow(_) => continue,
            };
            let file = capture.files.open(path, &plan.name, plan.seed.0, &address::names(plan)).map_err(failed)?;
            let seat = capture.files.interface(file, &name, &about).map_err(failed)?;
            match *tap {
                Tap::Link(link) => capture.links[link][0] = Some(seat),
                Tap::Drops(link) => capture.links[link][1] = Some(seat),
                Tap::Host(node) => capture.hosts[node] = Some(seat),
                Tap::Flow(_) => {}
            }
        }
        capture.write_calls(Instant::ZERO);
        Ok(capture)
    }

    /// Writes the set-up and end messages of calls until shortly after `now`.
    fn write_calls(&mut self, now: Instant) {
        let Capture { plan, headers, calls, files, links, hosts, .. } = self;
        calls.report_until(plan, &headers.ports, now, |place, at, datagram| {
            let (seat, inbound) = match place {
                ObservationPoint::Host { node, inbound } => (hosts[node], Some(inbound)),
                ObservationPoint::Link(link) => (links[link][0], None),
            };
            let Some(seat) = seat else { return };
            let bytes = Headers::encode_message(datagram);
            let length = bytes.len() as u32;
            files.add(seat, at, bytes, length, Comment::Of(NOT_SIMULATED.to_owned()), inbound);
            files.leave_out(seat);
        });
    }

    fn write(
        &mut self,
        seat: Option<CaptureInterface>,
        packet: &Packet,
        at: Instant,
        comment: Comment,
        inbound: Option<bool>,
    ) {
        let Some(seat) = seat else { return };
        let (bytes, length) = self.headers.encode_packet(packet, at, self.payload);
        self.files.add(seat, at, bytes, length, comment, inbound);
    }

    /// Writes the remaining packets and closes the files.
    ///
    /// # Errors
    /// Returns the first file that could not be written.
    pub fn finish(mut self) -> Result<Vec<CaptureSummary>, (PathBuf, io::Error)> {
        self.write_calls(Instant::ZERO + self.plan.duration);
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let mut written = self.files.finish()?;
        written.extend(self.patterns.finish()?);
        Ok(written)
    }
}

impl Probe for Capture<'_> {
    fn now(&mut self, now: Instant) {
        if self.calls.is_due(now) {
            self.write_calls(now);
        }
        if self.failure.is_none()
            && let Err(failure) = self.files.write_until(now)
        {
            self.failure = Some(failure);
        }
    }

    fn sent(&mut self, packet: &Packet, at: Instant) {
        self.headers.learn(packet);
        let host = self.ends[packet.flow.0 as usize][usize::from(packet.feedback)];
        self.patterns.sent(packet);
        self.write(self.hosts[host], packet, at, Comment::None, Some(false));
    }

    fn received(&mut self, packet: &Packet, at: Instant) {
        let host = self.ends[packet.flow.0 as usize][usize::from(!packet.feedback)];
        self.write(self.hosts[host], packet, at, Comment::None, Some(true));
    }

    fn left(&mut self, link: usize, packet: &Packet, at: Instant, lost: bool) {
        self.patterns.left(link, packet, lost);
        let comment =
            if lost { Comment::Of(format!("lost on the wire ({})", self.causes[link][1])) } else { Comment::None };
        self.write(self.links[link][0], packet, at, comment, None);
    }

    fn gone(&mut self, link: usize, packet: &Packet, at: Instant, how: RemovalCause) {
        self.patterns.gone(packet);
        if self.links[link][1].is_none() {
            return;
        }
        let why = match how {
            RemovalCause::Dropped(DropReason::Overflow) => {
                format!("dropped: no room in the queue ({})", self.causes[link][0])
            }
            RemovalCause::Dropped(DropReason::AckFilter) => {
                "dropped by CAKE's ACK filter: a later one says the same".to_owned()
            }
            RemovalCause::Dropped(_) => format!("dropped by the discipline ({})", self.causes[link][0]),
            RemovalCause::Failed => "lost: the link was down".to_owned(),
        };
        self.write(self.links[link][1], packet, at, Comment::Of(why), None);
    }
}

/// Comment of a SIP message.
const NOT_SIMULATED: &str = "written for readers of the capture, not simulated";

/// Creates or truncates a file, and creates its folder. Does not follow a symbolic link, except below `/dev`.
///
/// # Errors
/// Fails if the path is a link, or if the file cannot be written.
pub fn create_file(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder)?;
    }
    let is_link = path.symlink_metadata().is_ok_and(|found| found.is_symlink());
    if is_link && !path.starts_with("/dev") {
        let why = format!("{} is a link, and fairwave does not follow links; remove the link", path.display());
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    File::create(path)
}

#[cfg(test)]
mod tests;
