//! Sockets of fairwave's endpoints: one datagram socket per end of a flow, in the namespace of its host. Packets use
//! the wire formats of `fairwave-core`.

use std::io::{self, IoSlice, IoSliceMut};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use fairwave_core::packet::{FlowId, Packet};
use fairwave_core::transport::FlowContext;
use fairwave_core::transport::Properties as _;
use fairwave_core::wire::{Decoder, Format, encode};
use fairwave_scenario::plan::{FlowPlan, Plan};
use nix::cmsg_space;
use nix::errno::Errno;
use nix::sys::socket::{ControlMessage, ControlMessageOwned, MsgFlags, recvmsg, sendmsg};
use socket2::{Domain, Protocol, Socket, Type};

use crate::ip;

/// Port of the first flow. Each flow has a separate port, the same at both ends.
pub const FIRST_PORT: u16 = 10_000;

/// Receive buffer of a socket, bytes: room for arrivals while the router is busy.
const RECEIVE_BUFFER: usize = 1 << 22;

/// Returns the port of a flow; `None` if the flow number is too large.
pub fn port(flow: usize) -> Option<u16> {
    u16::try_from(flow).ok()?.checked_add(FIRST_PORT)
}

/// One end of a flow.
pub struct End {
    socket: Socket,
    decoder: Decoder,
}

/// Counts of datagrams at the endpoints.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Datagrams {
    /// Accepted by the kernel.
    pub sent: u64,
    /// Refused by the kernel.
    pub refused: u64,
    /// Read.
    pub received: u64,
    /// Read, but not decodable.
    pub damaged: u64,
}

/// Returns the wire format of a flow.
pub fn format(plan: &Plan, flow: usize) -> Option<Format> {
    let planned = plan.flows.get(flow)?;
    let name = |node: usize| plan.nodes.get(node).map_or("", String::as_str);
    let hosts = [name(planned.from), name(planned.to)];
    Some(Format::for_flow(FlowId(flow as u32), planned.transport.protocol(), &planned.traffic, hosts))
}

/// Returns a decoder for packets from the sender of a flow, or from its receiver if `feedback`.
pub fn decoder(flow: usize, planned: &FlowPlan, format: Format, feedback: bool) -> Decoder {
    let context =
        FlowContext { flow: FlowId(flow as u32), class: planned.class, dscp: planned.dscp, ..FlowContext::default() };
    Decoder::new(&context, format, feedback)
}

impl End {
    /// Opens the endpoint at `here`, connected to `there`. Call it in the namespace of the host.
    ///
    /// # Errors
    /// The kernel refuses the socket or one of its options.
    pub fn open(here: Ipv4Addr, there: Ipv4Addr, port: u16, decoder: Decoder) -> io::Result<Self> {
        let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
        socket.set_nonblocking(true)?;
        socket.set_recv_buffer_size(RECEIVE_BUFFER)?;
        socket.set_recv_tos_v4(true)?;
        socket.bind(&SocketAddrV4::new(here, port).into())?;
        socket.connect(&SocketAddrV4::new(there, port).into())?;
        Ok(End { socket, decoder })
    }

    /// Descriptor to watch for arrivals.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Sends a packet with its ECN code point in the IP header. `room` is a reusable buffer.
    pub fn send(&self, packet: &Packet, format: &Format, room: &mut Vec<u8>, datagrams: &mut Datagrams) {
        encode(packet, format, room);
        let service = packet.ecn as u8;
        let said = [ControlMessage::Ipv4Tos(&service)];
        let said = if service == 0 { &said[..0] } else { &said[..] };
        match sendmsg::<()>(self.socket.as_raw_fd(), &[IoSlice::new(room)], said, MsgFlags::empty(), None) {
            Ok(_) => datagrams.sent += 1,
            // The packet is lost in the host, as on any real host.
            Err(_) => datagrams.refused += 1,
        }
    }

    /// Receives the next packet; `None` if none is waiting. `room` is a buffer.
    pub fn receive(&mut self, room: &mut [u8], datagrams: &mut Datagrams) -> Option<Packet> {
        loop {
            let mut said = cmsg_space!(u8);
            let (bytes, service) = {
                let mut into = [IoSliceMut::new(room)];
                let read = recvmsg::<()>(self.socket.as_raw_fd(), &mut into, Some(&mut said), MsgFlags::empty());
                let read = match read {
                    Err(Errno::EINTR) => continue,
                    // A closed port reports an error once.
                    Err(Errno::ECONNREFUSED) => continue,
                    Err(_) => return None,
                    Ok(read) => read,
                };
                let service = read.cmsgs().ok().and_then(|mut said| {
                    said.find_map(|one| match one {
                        ControlMessageOwned::Ipv4Tos(service) => Some(service),
                        _ => None,
                    })
                });
                (read.bytes, service.unwrap_or(0))
            };
            datagrams.received += 1;
            match self.decoder.decode(room.get(..bytes)?, ip::ecn_of(service)) {
                Ok(packet) => return Some(packet),
                Err(_) => datagrams.damaged += 1,
            }
        }
    }
}
