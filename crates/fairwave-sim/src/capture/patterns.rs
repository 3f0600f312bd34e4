//! Loss patterns of a run in the format of the loss model `pattern`: one character per packet, `1` lost, `0` not.
//!
//! A link's pattern covers the packets that left its transmitter, in that order. These are the packets that its loss
//! model decides on. A flow's pattern covers the data packets that its sender handed to the network, in that order,
//! wherever they were lost.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use fairwave_core::packet::Packet;
use fairwave_scenario::plan::Plan;
use fairwave_scenario::tap::Tap;

use super::{CaptureSummary, create_file};

/// Packets per line.
const LINE: u64 = 80;

/// A file of 0 and 1.
struct Text {
    path: PathBuf,
    file: BufWriter<File>,
    packets: u64,
    lost: u64,
    failure: Option<io::Error>,
}

impl Text {
    fn new(path: &Path) -> io::Result<Self> {
        let file = BufWriter::new(create_file(path)?);
        Ok(Text { path: path.to_path_buf(), file, packets: 0, lost: 0, failure: None })
    }

    fn add(&mut self, lost: bool) {
        self.packets += 1;
        self.lost += u64::from(lost);
        let text: &[u8] = match (lost, self.packets.is_multiple_of(LINE)) {
            (false, false) => b"0",
            (true, false) => b"1",
            (false, true) => b"0\n",
            (true, true) => b"1\n",
        };
        if let Err(error) = self.file.write_all(text) {
            self.failure.get_or_insert(error);
        }
    }

    fn finish(mut self) -> Result<CaptureSummary, (PathBuf, io::Error)> {
        let ended = match self.failure {
            Some(error) => Err(error),
            None if self.packets.is_multiple_of(LINE) => self.file.flush(),
            None => self.file.write_all(b"\n").and_then(|()| self.file.flush()),
        };
        ended.map_err(|error| (self.path.clone(), error))?;
        Ok(CaptureSummary { path: self.path, packets: self.packets, lost: self.lost })
    }
}

/// Packets of a flow by number: one bit each, because losses become known later.
struct FlowPattern {
    text: Text,
    /// Packets handed to the network.
    sent: u64,
    lost: Vec<u64>,
}

/// All patterns of a run.
#[derive(Default)]
pub(super) struct Patterns {
    links: BTreeMap<usize, Text>,
    flows: BTreeMap<u32, FlowPattern>,
}

impl Patterns {
    pub fn new(plan: &Plan, wanted: &[(Tap, PathBuf)]) -> Result<Self, (PathBuf, io::Error)> {
        let mut patterns = Patterns::default();
        for (tap, path) in wanted {
            let text = Text::new(path).map_err(|error| (path.clone(), error))?;
            match *tap {
                Tap::Link(link) => drop(patterns.links.insert(link, text)),
                Tap::Flow(flow) if flow < plan.flows.len() => {
                    patterns.flows.insert(flow as u32, FlowPattern { text, sent: 0, lost: Vec::new() });
                }
                _ => {}
            }
        }
        Ok(patterns)
    }

    /// Records a packet that a flow's sender hands to the network. Every transport with packet numbers numbers its
    /// packets in this order.
    pub fn sent(&mut self, packet: &Packet) {
        if self.flows.is_empty() || packet.feedback {
            return;
        }
        if let Some(flow) = self.flows.get_mut(&packet.flow.0)
            && packet.sequence().is_some()
        {
            flow.sent += 1;
        }
    }

    pub fn left(&mut self, link: usize, packet: &Packet, lost: bool) {
        if let Some(text) = self.links.get_mut(&link) {
            text.add(lost);
        }
        if lost {
            self.gone(packet);
        }
    }

    /// Records a lost packet.
    pub fn gone(&mut self, packet: &Packet) {
        if self.flows.is_empty() || packet.feedback {
            return;
        }
        if let Some(flow) = self.flows.get_mut(&packet.flow.0)
            && let Some(sequence) = packet.sequence()
        {
            let (word, bit) = (sequence as usize / 64, sequence % 64);
            if flow.lost.len() <= word {
                flow.lost.resize(word + 1, 0);
            }
            flow.lost[word] |= 1 << bit;
        }
    }

    pub fn finish(self) -> Result<Vec<CaptureSummary>, (PathBuf, io::Error)> {
        let of_flow = |mut flow: FlowPattern| {
            for number in 0..flow.sent {
                let word = flow.lost.get((number / 64) as usize).copied().unwrap_or(0);
                flow.text.add(word >> (number % 64) & 1 == 1);
            }
            flow.text.finish()
        };
        self.links.into_values().map(Text::finish).chain(self.flows.into_values().map(of_flow)).collect()
    }
}
