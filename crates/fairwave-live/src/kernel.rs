//! Flows of the kernel's own TCP: a connection each, kept busy or fed with units, and what comes out of it.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd, BorrowedFd};

use fairwave_core::transport::Delivery;
use fairwave_core::units::Instant;
use socket2::{Domain, Protocol, Socket, Type};

/// Connections are refused, or time out, with the kernel's words in `trouble`; everything else is tried again when the kernel says so.
pub struct KernelFlow {
    /// Connects when the flow begins.
    sender: Option<Socket>,
    begun: bool,
    listener: Socket,
    receiver: Option<Socket>,
    there: SocketAddrV4,
    /// The application offers as much as the connection takes.
    bulk: bool,
    /// It offers nothing more.
    stopped: bool,
    /// Bytes of units that the kernel has not taken yet.
    waiting: u64,
    /// Where units end in the stream, those that have not come out yet.
    units: VecDeque<UnitEnd>,
    /// Bytes of all units so far.
    offered: u64,
    received: u64,
    /// Behind the last byte that the router has seen of it.
    seen: Option<u32>,
    /// Data segments that the router has seen again, since measures count.
    pub retransmitted: u64,
    /// The reason why it failed.
    pub trouble: Option<io::Error>,
}

/// A unit in the stream.
#[derive(Clone, Copy, Debug)]
struct UnitEnd {
    end: u64,
    unit: u32,
    created: Instant,
    layer: u8,
}

/// What a connection is busy with.
static ZEROS: [u8; 1 << 16] = [0; 1 << 16];

/// How a controller gets into the kernel: fairwave's controllers are loaded, others are modules.
fn remedy(controller: &str) -> String {
    let suggestion = match controller.strip_prefix("fw_") {
        Some(law @ ("aimd" | "gamma")) => format!("fairwave kernel load {law}"),
        Some("gamma_delta") => "fairwave kernel load gamma-delta".to_owned(),
        Some(_) => format!("fairwave kernel load aimd|gamma|gamma-delta --name {controller}"),
        None => format!("modprobe tcp_{controller}"),
    };
    format!("{suggestion}; `fairwave kernel list` shows those it has")
}

/// The flow's sending socket, made in its sender's host.
///
/// # Errors
/// What the kernel refuses: a controller that it does not have, above all.
pub fn sending(here: Ipv4Addr, controller: &str, bulk: bool) -> io::Result<Socket> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
    socket.set_nonblocking(true)?;
    socket.set_tcp_congestion(controller.as_bytes()).map_err(|error| {
        io::Error::new(
            error.kind(),
            format!("the kernel has no congestion control `{controller}` ({}): {error}", remedy(controller)),
        )
    })?;
    socket.set_tcp_nodelay(!bulk)?;
    socket.bind(&SocketAddrV4::new(here, 0).into())?;
    Ok(socket)
}

/// The flow's listening socket, made in its receiver's host.
///
/// # Errors
/// What the kernel refuses.
pub fn listening(here: Ipv4Addr, port: u16) -> io::Result<Socket> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
    socket.set_nonblocking(true)?;
    socket.bind(&SocketAddrV4::new(here, port).into())?;
    socket.listen(1)?;
    Ok(socket)
}

/// The kernel has no more for now, or no more room.
fn later(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted | io::ErrorKind::NotConnected)
}

impl KernelFlow {
    /// From both sockets, to the receiver's port.
    pub fn new(sender: Socket, listener: Socket, there: SocketAddrV4, bulk: bool) -> Self {
        KernelFlow {
            sender: Some(sender),
            begun: false,
            listener,
            receiver: None,
            there,
            bulk,
            stopped: false,
            waiting: 0,
            units: VecDeque::new(),
            offered: 0,
            received: 0,
            seen: None,
            retransmitted: 0,
            trouble: None,
        }
    }

    /// To be woken by: who sends, who listens.
    pub fn descriptors(&self) -> (Option<BorrowedFd<'_>>, BorrowedFd<'_>) {
        (self.sender.as_ref().map(AsFd::as_fd), self.listener.as_fd())
    }

    /// The router has seen a data segment of the connection, with so many bytes from `sequence` on; `counts` if measures do by now.
    pub fn saw(&mut self, sequence: u32, bytes: u16, counts: bool) {
        if bytes == 0 {
            return;
        }
        let end = sequence.wrapping_add(u32::from(bytes));
        // Sequence numbers go round (RFC 9293 §3.4): what is less than half the way behind is before.
        let new = self.seen.is_none_or(|seen| (end.wrapping_sub(seen) as i32) > 0);
        if new {
            self.seen = Some(end);
        } else {
            self.retransmitted += u64::from(counts);
        }
    }

    /// The receiving socket, once there is one.
    pub fn receiver(&self) -> Option<BorrowedFd<'_>> {
        self.receiver.as_ref().map(AsFd::as_fd)
    }

    /// The local port of the sender once it has one.
    pub fn begin(&mut self) {
        if std::mem::replace(&mut self.begun, true) {
            return;
        }
        let Some(sender) = &self.sender else { return };
        match sender.connect(&self.there.into()) {
            // EINPROGRESS has no kind of its own.
            Err(error) if !later(&error) && error.raw_os_error() != Some(nix::libc::EINPROGRESS) => {
                self.trouble = Some(error);
            }
            _ => {}
        }
    }

    /// Nothing more is offered; what the kernel has it sends.
    pub fn stop(&mut self) {
        self.stopped = true;
        if let Some(sender) = self.sender.as_ref().filter(|_| self.waiting == 0) {
            let _ = sender.shutdown(std::net::Shutdown::Write);
        }
    }

    /// Whether there is anything to write.
    pub fn wants_to_write(&self) -> bool {
        self.begun && self.sender.is_some() && ((self.bulk && !self.stopped) || self.waiting > 0)
    }

    /// The application has made a part of a unit, the last one if it says so.
    pub fn offer(&mut self, payload: u64, unit: u32, created: Instant, layer: u8, last: bool) {
        self.offered += payload;
        self.waiting += payload;
        if last {
            self.units.push_back(UnitEnd { end: self.offered, unit, created, layer });
        }
        self.write();
    }

    /// Hands the kernel as much as it takes.
    pub fn write(&mut self) {
        while self.wants_to_write() {
            let Some(sender) = &mut self.sender else { return };
            let most = if self.bulk { ZEROS.len() } else { self.waiting.min(ZEROS.len() as u64) as usize };
            match sender.write(ZEROS.get(..most).unwrap_or(&ZEROS)) {
                Ok(written) if self.bulk => self.offered += written as u64,
                Ok(written) => self.waiting -= written as u64,
                Err(error) if later(&error) => return,
                Err(error) => {
                    self.trouble = Some(error);
                    self.sender = None;
                }
            }
        }
        if self.stopped && !self.bulk && self.waiting == 0 {
            self.stop();
        }
    }

    /// Takes the connection if it has come. Answers whether it has, just now.
    pub fn accept(&mut self) -> bool {
        if self.receiver.is_some() {
            return false;
        }
        let Ok((receiver, _)) = self.listener.accept() else { return false };
        if let Err(error) = receiver.set_nonblocking(true) {
            self.trouble = Some(error);
            return false;
        }
        self.receiver = Some(receiver);
        true
    }

    /// Reads what has come, and writes what it is for the application to `out`. Answers whether more may come.
    pub fn read(&mut self, room: &mut [u8], out: &mut Vec<Delivery>) -> bool {
        let Some(receiver) = &mut self.receiver else { return false };
        loop {
            let read = match receiver.read(room) {
                Ok(0) => return false,
                Ok(read) => read as u64,
                Err(error) if later(&error) => return true,
                Err(error) => {
                    self.trouble = Some(error);
                    return false;
                }
            };
            let mut from = self.received;
            self.received += read;
            while let Some(&UnitEnd { end, unit, created, layer }) = self.units.front() {
                if end > self.received {
                    break;
                }
                self.units.pop_front();
                out.push(Delivery { unit, payload: (end - from) as u32, created, layer, complete: true });
                from = end;
            }
            let next = self.units.front();
            if from < self.received {
                out.push(Delivery {
                    unit: next.map_or(0, |next| next.unit),
                    payload: (self.received - from) as u32,
                    created: next.map_or(Instant::ZERO, |next| next.created),
                    layer: next.map_or(0, |next| next.layer),
                    complete: false,
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_seen_again_is_a_retransmission_also_where_numbers_go_round() {
        let here = Ipv4Addr::LOCALHOST;
        let listener = listening(here, 0).expect("a listener");
        let there = listener.local_addr().expect("bound").as_socket_ipv4().expect("IPv4");
        let mut flow = KernelFlow::new(sending(here, "reno", true).expect("reno"), listener, there, true);
        let first = u32::MAX - 1500;
        let next = first.wrapping_add(1448).wrapping_add(1448);
        for (sequence, bytes, counts, retransmitted) in [
            (first, 1448, true, 0),
            (first, 1448, false, 0),
            (first, 1448, true, 1),
            (first.wrapping_add(1448), 1448, true, 1),
            (next, 0, true, 1),
            (next, 1448, true, 1),
            (first, 1448, true, 2),
            (next, 1448, true, 3),
        ] {
            flow.saw(sequence, bytes, counts);
            assert_eq!(flow.retransmitted, retransmitted, "{sequence}");
        }
    }

    #[test]
    fn a_controller_that_the_kernel_lacks_is_told_how_it_comes_there() {
        for (controller, command) in [
            ("fw_gamma_delta", "fairwave kernel load gamma-delta;"),
            ("fw_nowhere", "kernel load aimd|gamma|gamma-delta --name fw_nowhere"),
            ("nowhere", "modprobe tcp_nowhere"),
        ] {
            assert!(remedy(controller).contains(command), "{controller}");
        }
        let error = sending(Ipv4Addr::LOCALHOST, "fw_nowhere", true).expect_err("nobody loads that").to_string();
        assert!(error.contains("`fw_nowhere`") && error.contains("kernel load"), "{error}");
    }

    #[test]
    fn units_come_out_of_a_stream_where_they_end() {
        let here = Ipv4Addr::LOCALHOST;
        let listener = listening(here, 0).expect("a listener");
        let there = listener.local_addr().expect("bound").as_socket_ipv4().expect("IPv4");
        let mut flow = KernelFlow::new(sending(here, "reno", false).expect("reno"), listener, there, false);
        flow.begin();
        while !flow.accept() {}
        let created = Instant::from_seconds(1.0);
        flow.offer(60_000, 0, created, 0, false);
        flow.offer(10_000, 0, created, 0, true);
        flow.offer(200, 1, created, 2, true);
        let (mut out, mut room) = (Vec::new(), vec![0; 4096]);
        while out.iter().map(|delivery: &Delivery| delivery.payload).sum::<u32>() < 70_200 {
            flow.write();
            flow.read(&mut room, &mut out);
        }
        let complete: Vec<(u32, u8)> = out.iter().filter(|one| one.complete).map(|one| (one.unit, one.layer)).collect();
        assert_eq!(complete, [(0, 0), (1, 2)]);
        assert!(out.iter().filter(|one| !one.complete).all(|one| one.unit == 0));
    }
}
