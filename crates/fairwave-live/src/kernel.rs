//! Flows of the kernel's TCP: one connection per flow, fed with bulk data or units.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd, BorrowedFd};

use fairwave_core::transport::Delivery;
use fairwave_core::units::Instant;
use socket2::{Domain, Protocol, Socket, Type};

/// A flow of the kernel's TCP. If the connection is refused or times out, `trouble` holds the kernel's error. All other
/// operations are retried when the kernel is ready.
pub struct KernelFlow {
    /// Socket of the sender; it connects when the flow begins.
    sender: Option<Socket>,
    begun: bool,
    listener: Socket,
    receiver: Option<Socket>,
    there: SocketAddrV4,
    /// True if the application offers as much as the connection accepts.
    bulk: bool,
    /// True once the application has stopped.
    stopped: bool,
    /// Bytes of units that the kernel has not accepted yet.
    waiting: u64,
    /// Ends of units in the stream that have not been delivered yet.
    units: VecDeque<UnitEnd>,
    /// Bytes of all units so far.
    offered: u64,
    received: u64,
    /// Sequence number after the last byte that the router has seen.
    seen: Option<u32>,
    /// Retransmitted data segments that the router has seen since the warm-up.
    pub retransmitted: u64,
    /// Error that ended the connection.
    pub trouble: Option<io::Error>,
}

/// End of a unit in the stream.
#[derive(Clone, Copy, Debug)]
struct UnitEnd {
    end: u64,
    unit: u32,
    created: Instant,
    layer: u8,
}

/// Payload of bulk data and units.
static ZEROS: [u8; 1 << 16] = [0; 1 << 16];

/// Returns how to add a controller to the kernel. Fairwave's controllers are loaded; others are modules.
fn remedy(controller: &str) -> String {
    let suggestion = match controller.strip_prefix("fw_") {
        Some(law @ ("aimd" | "gamma")) => format!("fairwave kernel load {law}"),
        Some("gamma_delta") => "fairwave kernel load gamma-delta".to_owned(),
        Some(_) => format!("fairwave kernel load aimd|gamma|gamma-delta --name {controller}"),
        None => format!("modprobe tcp_{controller}"),
    };
    format!("{suggestion}; `fairwave kernel list` shows those it has")
}

/// Opens the sending socket of a flow. Call it in the namespace of the sender's host.
///
/// # Errors
/// The kernel refuses the socket; most often, it lacks the controller.
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

/// Opens the listening socket of a flow. Call it in the namespace of the receiver's host.
///
/// # Errors
/// The kernel refuses the socket.
pub fn listening(here: Ipv4Addr, port: u16) -> io::Result<Socket> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
    socket.set_nonblocking(true)?;
    socket.bind(&SocketAddrV4::new(here, port).into())?;
    socket.listen(1)?;
    Ok(socket)
}

/// Checks whether the kernel asks to retry later.
fn later(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted | io::ErrorKind::NotConnected)
}

impl KernelFlow {
    /// Returns the flow over both sockets, connected to the receiver at `there`.
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

    /// Descriptors to watch: the sender's and the listener's.
    pub fn descriptors(&self) -> (Option<BorrowedFd<'_>>, BorrowedFd<'_>) {
        (self.sender.as_ref().map(AsFd::as_fd), self.listener.as_fd())
    }

    /// Records a data segment that the router has seen, with `bytes` bytes from `sequence` on. `counts` is true after
    /// the warm-up.
    pub fn saw(&mut self, sequence: u32, bytes: u16, counts: bool) {
        if bytes == 0 {
            return;
        }
        let end = sequence.wrapping_add(u32::from(bytes));
        // Sequence numbers wrap (RFC 9293 §3.4): numbers less than half the range behind are older.
        let new = self.seen.is_none_or(|seen| (end.wrapping_sub(seen) as i32) > 0);
        if new {
            self.seen = Some(end);
        } else {
            self.retransmitted += u64::from(counts);
        }
    }

    /// Descriptor of the receiving socket, once the connection is accepted.
    pub fn receiver(&self) -> Option<BorrowedFd<'_>> {
        self.receiver.as_ref().map(AsFd::as_fd)
    }

    /// Starts to connect to the receiver.
    pub fn begin(&mut self) {
        if std::mem::replace(&mut self.begun, true) {
            return;
        }
        let Some(sender) = &self.sender else { return };
        match sender.connect(&self.there.into()) {
            // Rust has no error kind for EINPROGRESS.
            Err(error) if !later(&error) && error.raw_os_error() != Some(nix::libc::EINPROGRESS) => {
                self.trouble = Some(error);
            }
            _ => {}
        }
    }

    /// Stops the application. The kernel still sends the data that it has accepted.
    pub fn stop(&mut self) {
        self.stopped = true;
        if let Some(sender) = self.sender.as_ref().filter(|_| self.waiting == 0) {
            let _ = sender.shutdown(std::net::Shutdown::Write);
        }
    }

    /// Checks whether the application has data to write.
    pub fn wants_to_write(&self) -> bool {
        self.begun && self.sender.is_some() && ((self.bulk && !self.stopped) || self.waiting > 0)
    }

    /// Adds a part of a unit to the stream; `last` marks the end of the unit.
    pub fn offer(&mut self, payload: u64, unit: u32, created: Instant, layer: u8, last: bool) {
        self.offered += payload;
        self.waiting += payload;
        if last {
            self.units.push_back(UnitEnd { end: self.offered, unit, created, layer });
        }
        self.write();
    }

    /// Writes as much as the kernel accepts.
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

    /// Accepts a pending connection. Returns true if it was accepted in this call.
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

    /// Reads arrived data and appends deliveries to `out`. Returns false if there is no connection or if it has ended.
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
    fn repeats_are_retransmissions_also_after_a_wrap() {
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
