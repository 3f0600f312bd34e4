//! pcapng files: one interface per tap, packets in time order. A packet is written when no earlier one can follow.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use fairwave_core::units::Instant;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{InterfaceDescriptionBlock, InterfaceDescriptionOption};
use pcap_file::pcapng::blocks::name_resolution::{Ipv4Record, NameResolutionBlock, Record};
use pcap_file::pcapng::blocks::section_header::{SectionHeaderBlock, SectionHeaderOption};
use pcap_file::pcapng::{PcapNgBlock, PcapNgWriter};
use pcap_file::{DataLink, Endianness, PcapError};

use super::{CaptureSummary, create_file};

/// Timestamp unit: 10⁻⁹ s.
const NANOSECONDS: u8 = 9;
/// Maximum packet length.
const SNAP_LENGTH: u32 = 65_535;

/// Destination of a tap's packets: a file and one of its interfaces.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct CaptureInterface {
    file: usize,
    interface: u32,
}

/// Comment of a packet in the file.
pub(super) enum Comment {
    None,
    Of(String),
}

/// A packet waiting to be written in time order.
struct Pending {
    at: Instant,
    number: u64,
    interface: u32,
    bytes: Vec<u8>,
    length: u32,
    comment: Comment,
    inbound: Option<bool>,
}

impl PartialEq for Pending {
    fn eq(&self, other: &Self) -> bool {
        (self.at, self.number) == (other.at, other.number)
    }
}
impl Eq for Pending {}
impl PartialOrd for Pending {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Pending {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.number).cmp(&(other.at, other.number))
    }
}

/// One open file.
struct CaptureFile {
    path: PathBuf,
    writer: PcapNgWriter<BufWriter<File>>,
    interfaces: u32,
    pending: BinaryHeap<Reverse<Pending>>,
    /// Number of packets added so far; it orders packets of equal time.
    packets: u64,
    /// Number of added packets that are not part of the run.
    left_out: u64,
}

/// All files of a capture.
#[derive(Default)]
pub(super) struct Files(Vec<CaptureFile>);

fn plain(error: PcapError) -> io::Error {
    match error {
        PcapError::IoError(error) => error,
        other => io::Error::other(other),
    }
}

impl Files {
    /// Returns the file at `path`. Creates it with the host names if no earlier tap uses it.
    pub fn open(&mut self, path: &Path, scenario: &str, seed: u64, names: &[([u8; 4], String)]) -> io::Result<usize> {
        if let Some(known) = self.0.iter().position(|one| one.path == path) {
            return Ok(known);
        }
        let about = format!("{scenario}, seed {seed}; times count from the beginning of the run");
        let section = SectionHeaderBlock {
            // Fixed, so that every machine writes the same bytes.
            endianness: Endianness::Little,
            options: vec![
                SectionHeaderOption::Comment(Cow::Owned(about)),
                SectionHeaderOption::UserApplication(Cow::Borrowed(concat!("fairwave ", env!("CARGO_PKG_VERSION")))),
            ],
            ..SectionHeaderBlock::default()
        };
        let mut writer =
            PcapNgWriter::with_section_header(BufWriter::new(create_file(path)?), section).map_err(plain)?;
        let record = |(address, name): &([u8; 4], String)| {
            Record::Ipv4(Ipv4Record { ip_addr: Cow::Owned(address.to_vec()), names: vec![Cow::Owned(name.clone())] })
        };
        let names = NameResolutionBlock { records: names.iter().map(record).collect(), options: vec![] };
        writer.write_block(&names.into_block()).map_err(plain)?;
        let pending = BinaryHeap::new();
        self.0.push(CaptureFile { path: path.to_owned(), writer, interfaces: 0, pending, packets: 0, left_out: 0 });
        Ok(self.0.len() - 1)
    }

    /// Adds an interface to a file, for IP packets without a link layer.
    pub fn interface(&mut self, file: usize, name: &str, about: &str) -> io::Result<CaptureInterface> {
        let one = &mut self.0[file];
        let block = InterfaceDescriptionBlock {
            linktype: DataLink::RAW,
            snaplen: SNAP_LENGTH,
            options: vec![
                InterfaceDescriptionOption::IfName(Cow::Owned(name.to_owned())),
                InterfaceDescriptionOption::IfDescription(Cow::Owned(about.to_owned())),
                InterfaceDescriptionOption::IfTsResol(NANOSECONDS),
            ],
        };
        one.writer.write_block(&block.into_block()).map_err(plain)?;
        one.interfaces += 1;
        Ok(CaptureInterface { file, interface: one.interfaces - 1 })
    }

    /// Adds a packet of `length` bytes and stores its first `bytes`.
    pub fn add(
        &mut self,
        seat: CaptureInterface,
        at: Instant,
        bytes: Vec<u8>,
        length: u32,
        comment: Comment,
        inbound: Option<bool>,
    ) {
        let one = &mut self.0[seat.file];
        let number = one.packets;
        one.packets += 1;
        one.pending.push(Reverse(Pending { at, number, interface: seat.interface, bytes, length, comment, inbound }));
    }

    /// Excludes the last added packet from the count, because it is not part of the run.
    pub fn leave_out(&mut self, seat: CaptureInterface) {
        self.0[seat.file].left_out += 1;
    }

    /// Writes the packets before `now`.
    pub fn write_until(&mut self, now: Instant) -> Result<(), (PathBuf, io::Error)> {
        self.0.iter_mut().try_for_each(|one| one.write_until(now).map_err(|error| (one.path.clone(), error)))
    }

    /// Writes the remaining packets.
    pub fn finish(&mut self) -> Result<Vec<CaptureSummary>, (PathBuf, io::Error)> {
        self.write_until(Instant::NEVER)?;
        let finish = |one: CaptureFile| {
            let written = CaptureSummary { path: one.path.clone(), packets: one.packets - one.left_out, lost: 0 };
            one.writer.into_inner().flush().map_err(|error| (one.path, error))?;
            Ok(written)
        };
        std::mem::take(&mut self.0).into_iter().map(finish).collect()
    }
}

impl CaptureFile {
    fn write_until(&mut self, now: Instant) -> io::Result<()> {
        while self.pending.peek().is_some_and(|Reverse(first)| first.at < now) {
            let Some(Reverse(packet)) = self.pending.pop() else { break };
            let mut options = Vec::new();
            if let Some(inbound) = packet.inbound {
                // Direction in the lowest two bits: 1 inbound, 2 outbound.
                options.push(EnhancedPacketOption::Flags(if inbound { 1 } else { 2 }));
            }
            if let Comment::Of(comment) = packet.comment {
                options.push(EnhancedPacketOption::Comment(Cow::Owned(comment)));
            }
            let block = EnhancedPacketBlock {
                interface_id: packet.interface,
                timestamp: Duration::from_nanos(packet.at.nanos()),
                original_len: packet.length,
                data: Cow::Owned(packet.bytes),
                options,
            };
            self.writer.write_block(&block.into_block()).map_err(plain)?;
        }
        Ok(())
    }
}
