//! Border between flow endpoints and the simulated network: sockets, TUN devices, and the bytes of packets in transit.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::time::Duration;

use fairwave_core::dscp::Dscp;
use fairwave_core::packet::{Body, Ecn, Packet};
use fairwave_core::units::Instant;
use fairwave_core::wire::{Decoder, Format};
use fairwave_scenario::plan::Plan;
use fairwave_sim::border::Border;
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::InterfaceDescriptionBlock;
use pcap_file::{DataLink, PcapError};

use crate::accounts::Accounts;
use crate::clock::Clock;
use crate::endpoints::{Datagrams, End};
use crate::ip;
use crate::kernel::KernelFlow;
use crate::mapping::Mapping;
use crate::namespace::Host;
use crate::store::{Store, ticket};

/// Endpoints of a flow.
pub enum FlowEnds {
    /// Endpoints with a transport of fairwave, on datagram sockets.
    Ours(Box<OwnEnds>),
    /// The kernel's TCP.
    Kernel(Box<KernelFlow>),
    /// Programs; the router sees only their packets.
    Programs,
}

/// Both ends of a flow with a transport of fairwave.
pub struct OwnEnds {
    /// The sender's socket, then the receiver's.
    pub ends: [End; 2],
    /// Wire format of the packets.
    pub format: Format,
    /// Decoders of the router: for data, then for feedback.
    pub decoders: [Decoder; 2],
}

/// Route of a flow, as the router needs it.
#[derive(Clone, Copy, Debug)]
pub struct FlowRoute {
    /// Host of the sender, then host of the receiver.
    pub hosts: [usize; 2],
    /// Last link to the receiver, then last link to the sender.
    pub last: [usize; 2],
}

/// Payload of a program that has left the network.
#[derive(Clone, Copy, Debug)]
pub struct PassedPayload {
    /// Index of the flow.
    pub flow: usize,
    /// Size, bytes.
    pub payload: u32,
    /// Nominal time of the departure.
    pub at: Instant,
}

/// Capture file for Wireshark: every packet that a host sends or receives, as its device sees it.
pub struct Recording {
    writer: PcapNgWriter<BufWriter<File>>,
    /// Error that ended the capture early.
    trouble: Option<String>,
}

impl Recording {
    /// Starts a file with one interface per host.
    ///
    /// # Errors
    /// The system refuses to write the file.
    pub fn new(file: File, hosts: &[&str]) -> Result<Self, String> {
        let mut writer = PcapNgWriter::new(BufWriter::new(file)).map_err(describe_error)?;
        for host in hosts {
            let mut block = InterfaceDescriptionBlock::new(DataLink::RAW, 0);
            block.options = vec![
                pcap_file::pcapng::blocks::interface_description::InterfaceDescriptionOption::IfName((*host).into()),
                // Times are counted in nanoseconds: 10⁻⁹.
                pcap_file::pcapng::blocks::interface_description::InterfaceDescriptionOption::IfTsResol(9),
            ];
            writer.write_pcapng_block(block).map_err(describe_error)?;
        }
        Ok(Recording { writer, trouble: None })
    }

    fn write(&mut self, host: usize, at: Instant, bytes: &[u8]) {
        if self.trouble.is_some() {
            return;
        }
        let block = EnhancedPacketBlock {
            interface_id: host as u32,
            timestamp: Duration::from_nanos(at.nanos()),
            original_len: bytes.len() as u32,
            data: bytes.into(),
            options: Vec::new(),
        };
        self.trouble = self.writer.write_pcapng_block(block).err().map(describe_error);
    }

    /// Flushes the file. Returns why the file is incomplete, or `None` if it is complete.
    pub fn end(mut self) -> Option<String> {
        let written = self.writer.get_mut().flush();
        self.trouble.or_else(|| written.err().map(|error| error.to_string()))
    }
}

/// Returns the message of the system error, because the message of the library omits it.
fn describe_error(error: PcapError) -> String {
    match error {
        PcapError::IoError(error) => error.to_string(),
        other => other.to_string(),
    }
}

/// State of the border: sockets, devices, and packets in transit.
pub struct Wires {
    /// Clock of the run.
    pub clock: Clock,
    /// The hosts.
    pub hosts: Vec<Host>,
    /// Endpoints, by flow.
    pub ends: Vec<FlowEnds>,
    /// Routes, by flow.
    pub ways: Vec<FlowRoute>,
    /// Flow of each packet.
    pub mapping: Mapping,
    /// Bytes of packets in the network.
    pub store: Store,
    /// Accuracy report so far.
    pub accounts: Accounts,
    /// Counts of datagrams between fairwave's endpoints.
    pub datagrams: Datagrams,
    /// Payload of programs that has left the network since the last call that drained it.
    pub passed: Vec<PassedPayload>,
    /// Capture file, if the user asked for one.
    pub recording: Option<Recording>,
    /// True after the end of the run: nothing is sent or written any more.
    pub over: bool,
    room: Vec<u8>,
}

impl Wires {
    /// Returns a border before the first packet.
    pub fn new(
        plan: &Plan,
        clock: Clock,
        hosts: Vec<Host>,
        ends: Vec<FlowEnds>,
        ways: Vec<FlowRoute>,
        mapping: Mapping,
    ) -> Self {
        Wires {
            clock,
            hosts,
            ends,
            ways,
            mapping,
            store: Store::default(),
            accounts: Accounts::new(plan.links.len()),
            datagrams: Datagrams::default(),
            passed: Vec::new(),
            recording: None,
            over: false,
            room: Vec::new(),
        }
    }

    /// Converts bytes that `host` has sent to a packet of the simulated network. Returns `None` if no flow matches. The
    /// class of the packet is the class of its flow in `plan`.
    pub fn read(&mut self, host: usize, bytes: &[u8], at: Instant, plan: &Plan) -> Option<Packet> {
        self.accounts.books.read += 1;
        if let Some(recording) = &mut self.recording {
            recording.write(host, at, bytes);
        }
        let header = ip::read(bytes);
        let from_here =
            |header: &ip::Header| self.hosts.get(host).is_some_and(|host| host.address == header.key.source);
        let known = header.filter(from_here).and_then(|header| Some((header, self.mapping.assign(header.key)?)));
        let Some((header, belongs)) = known else {
            self.accounts.books.unmapped += 1;
            return None;
        };
        let flow = belongs.flow.0 as usize;
        let (class, dscp, layer, packet) = match self.ends.get_mut(flow) {
            Some(FlowEnds::Ours(ours)) => {
                let [data, feedback] = &mut ours.decoders;
                let decoder = if belongs.feedback { feedback } else { data };
                let datagram = bytes.get(usize::from(header.payload_at)..usize::from(header.length));
                let packet = datagram.and_then(|datagram| decoder.decode(datagram, header.ecn).ok());
                let planned = plan.flows.get(flow)?;
                (planned.class, planned.dscp, packet.map_or(0, |packet| packet.layer), packet)
            }
            Some(FlowEnds::Kernel(kernel)) => {
                if let Some(sequence) = ip::sequence(bytes, &header).filter(|_| !belongs.feedback) {
                    kernel.saw(sequence, header.payload(), at >= Instant::ZERO + plan.warmup);
                }
                let planned = plan.flows.get(flow)?;
                (planned.class, planned.dscp, 0, None)
            }
            _ => (header.key.class(header.dscp), Dscp::new(header.dscp).unwrap_or_default(), 0, None),
        };
        let number = self.store.keep(bytes.get(..usize::from(header.length)).unwrap_or(bytes), packet);
        Some(Packet {
            flow: belongs.flow,
            wire: header.length,
            class,
            dscp,
            feedback: belongs.feedback,
            ecn: header.ecn,
            layer,
            body: ticket(number),
        })
    }
}

impl Border for Wires {
    const THERE: bool = true;

    fn send(&mut self, packet: &Packet, _at: Instant) {
        if self.over {
            return;
        }
        match self.ends.get_mut(packet.flow.0 as usize) {
            Some(FlowEnds::Ours(ours)) => {
                let [sender, receiver] = &ours.ends;
                let end = if packet.feedback { receiver } else { sender };
                end.send(packet, &ours.format, &mut self.room, &mut self.datagrams);
            }
            Some(FlowEnds::Kernel(kernel)) => {
                if let Body::Segment { payload, unit, created, last, .. } = packet.body {
                    kernel.offer(u64::from(payload), unit, created, packet.layer, last);
                }
            }
            Some(FlowEnds::Programs) | None => {}
        }
    }

    fn deliver(&mut self, packet: &Packet, at: Instant) {
        if self.over {
            // The packet stays in the store, so the books count it as queued.
            return;
        }
        let flow = packet.flow.0 as usize;
        let way = self.ways.get(flow).copied();
        let direction = usize::from(packet.feedback);
        if let (Some(way), Some(stored)) = (way, self.store.get_mut(packet)) {
            if packet.ecn == Ecn::Ce {
                ip::mark(&mut stored.bytes);
            }
            let [sender, receiver] = way.hosts;
            let to = if packet.feedback { sender } else { receiver };
            let written = self.hosts.get(to).map(|host| host.device.send(&stored.bytes));
            let real = self.clock.now();
            self.accounts.released(way.last.get(direction).copied().unwrap_or(usize::MAX), at, real);
            self.accounts.books.refused += u64::from(!matches!(written, Some(Ok(_))));
            if let Some(recording) = &mut self.recording {
                recording.write(to, real, &stored.bytes);
            }
            if !packet.feedback && matches!(self.ends.get(flow), Some(FlowEnds::Programs)) {
                let payload = ip::read(&stored.bytes).map_or(0, |header| u32::from(header.payload()));
                self.passed.push(PassedPayload { flow, payload, at });
            }
        }
        self.store.release(packet);
    }

    fn gone(&mut self, packet: &Packet, congestion: bool) -> Packet {
        let books = &mut self.accounts.books;
        *(if congestion { &mut books.dropped } else { &mut books.lost }) += 1;
        let written = self.written(packet);
        self.store.release(packet);
        written
    }

    fn written(&mut self, packet: &Packet) -> Packet {
        self.store.get_mut(packet).and_then(|stored| stored.packet).unwrap_or(*packet)
    }

    fn copied(&mut self, packet: &Packet) {
        self.accounts.books.copied += 1;
        self.store.copied(packet);
    }
}
