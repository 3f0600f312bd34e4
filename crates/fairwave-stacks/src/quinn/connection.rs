//! One end of a quinn-proto connection, with its application.

use std::collections::{BTreeMap, VecDeque};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::{Bytes, BytesMut};
use fairwave_core::packet::Ecn;
use fairwave_core::traffic::{FrameType, Unit};
use fairwave_core::transport::{Backlog, Delivery, SenderView};
use fairwave_core::units::{Bytes as Size, Instant};
use quinn_proto::{
    ClientConfig, Connection, ConnectionHandle, ConnectionId, ConnectionIdGenerator, DatagramEvent, Dir, EcnCodepoint,
    Endpoint, EndpointConfig, InvalidCid, MtuDiscoveryConfig, ServerConfig, StreamEvent, StreamId, TimeSource,
    TransportConfig,
};

use super::crypto::{NoCrypto, Numbered, fill, mix};
use super::{Carry, QuinnConfig};
use crate::carry::{ENDLESS, HEADER, Header, Parts, Reader, cut};
use crate::{Action, Event, Stack};

/// Generator of connection IDs: eight bytes, as in quinn, derived from the seed.
struct Numbers {
    seed: u64,
    made: u64,
}

impl ConnectionIdGenerator for Numbers {
    fn generate_cid(&mut self) -> ConnectionId {
        self.made += 1;
        ConnectionId::new(&mix(self.seed ^ mix(self.made)).to_be_bytes())
    }

    fn validate(&self, _cid: &ConnectionId) -> Result<(), InvalidCid> {
        Ok(())
    }

    fn cid_len(&self) -> usize {
        8
    }

    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}

/// Time source without a date. Only tokens need a date, and no token is used.
struct NoDate;

impl TimeSource for NoDate {
    fn now(&self) -> SystemTime {
        UNIX_EPOCH
    }
}

/// A stream that is being written.
struct Outgoing {
    id: StreamId,
    /// Bytes of the header that are written.
    written: usize,
    header: Header,
    /// Bytes of the payload that are not written yet.
    left: u32,
    /// True if the stream continues until the flow stops.
    endless: bool,
}

/// One end: a quinn-proto endpoint with a single connection.
pub struct Quinn {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    /// Configuration of the client's connection; `None` at the server.
    client: Option<ClientConfig>,
    /// Reading of the stack's clock at the start of the run. The stack sees only times relative to it.
    origin: std::time::Instant,
    carry: Carry,
    bulk: bool,
    connected: bool,
    /// Units that have no stream yet, or that do not fit the send buffer of datagrams.
    waiting: VecDeque<Unit>,
    streams: VecDeque<Outgoing>,
    /// The stream for bulk data, or for all units.
    only: Option<StreamId>,
    active: bool,
    readers: BTreeMap<StreamId, Reader>,
    /// Missing parts of units in datagrams.
    missing: Parts,
    delivered: VecDeque<Delivery>,
    /// Responses of the endpoint. They leave before the packets of the connection.
    responses: VecDeque<Vec<u8>>,
    buffer: Vec<u8>,
}

const PEER: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 443);

/// Payload of all units.
static ZEROS: [u8; 16_384] = [0; 16_384];

fn transport(config: &QuinnConfig) -> Arc<TransportConfig> {
    let mut discovery = MtuDiscoveryConfig::default();
    discovery.upper_bound(config.mtu.0.get() as u16);
    let mut transport = TransportConfig::default();
    transport
        .congestion_controller_factory(config.control.factory())
        .mtu_discovery_config(Some(discovery))
        // The simulator needs one datagram per packet.
        .enable_segmentation_offload(false);
    Arc::new(transport)
}

impl Quinn {
    fn new(config: &QuinnConfig, bulk: bool, seed: u64, server: Option<ServerConfig>) -> Self {
        let mut endpoint = EndpointConfig::new(Arc::new(Numbered(mix(seed ^ 1))));
        let mut random = [0; 32];
        fill(mix(seed ^ 2), &mut random);
        endpoint.rng_seed(Some(random));
        endpoint.cid_generator(move || Box::new(Numbers { seed: mix(seed ^ 3), made: 0 }));
        Quinn {
            endpoint: Endpoint::new(Arc::new(endpoint), server.map(Arc::new), true, None),
            connection: None,
            client: None,
            origin: std::time::Instant::now(),
            carry: config.carry,
            bulk,
            connected: false,
            waiting: VecDeque::new(),
            streams: VecDeque::new(),
            only: None,
            active: false,
            readers: BTreeMap::new(),
            missing: Parts::default(),
            delivered: VecDeque::new(),
            responses: VecDeque::new(),
            buffer: Vec::new(),
        }
    }

    /// Returns the end that opens the connection and sends.
    pub fn client(config: &QuinnConfig, bulk: bool, seed: u64) -> Self {
        let mut client = ClientConfig::new(Arc::new(NoCrypto));
        client.transport_config(transport(config)).initial_dst_cid_provider(Arc::new(move || {
            let mut id = [0; 20];
            fill(mix(seed ^ 4), &mut id);
            ConnectionId::new(&id)
        }));
        Quinn { client: Some(client), ..Quinn::new(config, bulk, seed, None) }
    }

    /// Returns the end that accepts the connection and receives.
    pub fn server(config: &QuinnConfig, seed: u64) -> Self {
        let mut server = ServerConfig::new(Arc::new(NoCrypto), Arc::new(Numbered(mix(seed ^ 5))));
        server.transport_config(transport(config)).time_source(Arc::new(NoDate));
        Quinn::new(config, false, seed, Some(server))
    }

    fn to_std(&self, now: Instant) -> std::time::Instant {
        self.origin + Duration::from_nanos(now.nanos())
    }

    fn connect(&mut self, now: Instant) {
        if let (None, Some(client)) = (&self.connection, self.client.take()) {
            self.connection = self.endpoint.connect(self.to_std(now), client, PEER, "fairwave.test").ok();
        }
    }

    fn arrived(&mut self, now: Instant, bytes: &[u8], ecn: Ecn) {
        let (at, mut answer) = (self.to_std(now), Vec::new());
        let ecn = match ecn {
            Ecn::NotEct => None,
            Ecn::Ect0 => Some(EcnCodepoint::Ect0),
            Ecn::Ect1 => Some(EcnCodepoint::Ect1),
            Ecn::Ce => Some(EcnCodepoint::Ce),
        };
        match self.endpoint.handle(at, PEER, None, ecn, BytesMut::from(bytes), &mut answer) {
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = &mut self.connection {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) if self.connection.is_none() => {
                match self.endpoint.accept(incoming, at, &mut answer, None) {
                    Ok(accepted) => self.connection = Some(accepted),
                    Err(error) => {
                        if let Some(transmit) = error.response {
                            self.responses.push_back(answer[..transmit.size].to_vec());
                        }
                    }
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => self.endpoint.ignore(incoming),
            Some(DatagramEvent::Response(transmit)) => self.responses.push_back(answer[..transmit.size].to_vec()),
            None => {}
        }
    }

    /// Passes events between connection, endpoint and application until none is left.
    fn exchange(&mut self) {
        let Some((handle, connection)) = &mut self.connection else { return };
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(answer) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(answer);
            }
        }
        let mut readable = Vec::new();
        while let Some(event) = connection.poll() {
            match event {
                quinn_proto::Event::Connected => self.connected = true,
                quinn_proto::Event::Stream(StreamEvent::Readable { id }) => readable.push(id),
                quinn_proto::Event::Stream(StreamEvent::Opened { dir }) => {
                    readable.extend(std::iter::from_fn(|| connection.streams().accept(dir)));
                }
                _ => {}
            }
        }
        for id in readable {
            self.read(id);
        }
        self.read_datagrams();
    }

    fn read(&mut self, id: StreamId) {
        let Some((_, connection)) = &mut self.connection else { return };
        let (reader, delivered) = (self.readers.entry(id).or_default(), &mut self.delivered);
        let mut stream = connection.recv_stream(id);
        let Ok(mut chunks) = stream.read(true) else { return };
        let ended = loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => reader.read(&chunk.bytes, |delivery| delivered.push_back(delivery)),
                Ok(None) => break true,
                Err(quinn_proto::ReadError::Blocked) => break false,
                Err(_) => break true,
            }
        };
        // The result says whether packets are due; the next poll finds that out.
        let _ = chunks.finalize();
        if ended {
            self.readers.remove(&id);
        }
    }

    fn read_datagrams(&mut self) {
        let Some((_, connection)) = &mut self.connection else { return };
        while let Some(datagram) = connection.datagrams().recv() {
            let Some(header) = datagram.first_chunk::<HEADER>().map(Header::read) else { continue };
            let complete = self.missing.completes(&header);
            self.delivered.push_back(header.delivery((datagram.len() - HEADER) as u32, complete));
        }
    }

    /// Writes as much application data as the connection accepts.
    fn write(&mut self) {
        if !self.connected {
            return;
        }
        match self.carry {
            Carry::Datagrams => self.write_datagrams(),
            Carry::Streams | Carry::OneStream => {
                self.open_streams();
                self.write_streams();
            }
        }
    }

    fn open_streams(&mut self) {
        let Some((_, connection)) = &mut self.connection else { return };
        if self.bulk && self.active && self.only.is_none() {
            self.only = connection.streams().open(Dir::Uni);
            let endless =
                Unit { id: 0, payload: ENDLESS, created: Instant::ZERO, layer: 0, frame_type: FrameType::None };
            let header = Header::for_unit(&endless);
            let stream = |id| Outgoing { id, written: 0, header, left: ENDLESS, endless: true };
            self.streams.extend(self.only.map(stream));
        }
        while let Some(unit) = self.waiting.front() {
            let id = match (self.carry, self.only) {
                (Carry::OneStream, Some(id)) => Some(id),
                _ => connection.streams().open(Dir::Uni),
            };
            let Some(id) = id else { return };
            if self.carry == Carry::OneStream {
                self.only = Some(id);
            }
            let header = Header::for_unit(unit);
            self.streams.push_back(Outgoing { id, written: 0, header, left: unit.payload, endless: false });
            self.waiting.pop_front();
        }
    }

    fn write_streams(&mut self) {
        let Some((_, connection)) = &mut self.connection else { return };
        let (one, active) = (self.carry == Carry::OneStream, self.active);
        let mut blocked = None;
        self.streams.retain_mut(|outgoing| {
            if blocked == Some(outgoing.id) {
                return true;
            }
            let mut stream = connection.send_stream(outgoing.id);
            loop {
                let header = outgoing.header.write();
                let rest = &header[outgoing.written.min(HEADER)..];
                let chunk = match rest {
                    [] => &ZEROS[..ZEROS.len().min(outgoing.left as usize)],
                    rest => rest,
                };
                if chunk.is_empty() || (outgoing.endless && !active) {
                    // A stream for a single unit ends with the unit.
                    let _ = (!one || outgoing.endless).then(|| stream.finish());
                    return false;
                }
                match stream.write(chunk) {
                    Ok(count) if outgoing.written < HEADER => outgoing.written += count,
                    Ok(_) if outgoing.endless => {}
                    Ok(count) => outgoing.left -= count as u32,
                    Err(quinn_proto::WriteError::Blocked) => {
                        blocked = Some(outgoing.id);
                        return true;
                    }
                    Err(_) => return false,
                }
            }
        });
    }

    fn write_datagrams(&mut self) {
        let Some((_, connection)) = &mut self.connection else { return };
        let mut datagrams = connection.datagrams();
        let Some(most) = datagrams.max_size().map(|size| size.saturating_sub(HEADER).max(1)) else { return };
        for unit in self.waiting.drain(..) {
            for (header, size) in cut(Header::for_unit(&unit), unit.payload, most) {
                let mut bytes = BytesMut::zeroed(HEADER + size);
                bytes[..HEADER].copy_from_slice(&header.write());
                // If the buffer is full, the oldest datagrams make room, because they are too late to be useful.
                let _ = datagrams.send(Bytes::from(bytes), true);
            }
        }
    }

    /// Returns the next datagram to send.
    fn transmit(&mut self, now: Instant) -> Option<Action> {
        if let Some(bytes) = self.responses.pop_front() {
            return Some(Action::Send { bytes, ecn: Ecn::NotEct });
        }
        let at = self.to_std(now);
        let (_, connection) = self.connection.as_mut()?;
        self.buffer.clear();
        let transmit = connection.poll_transmit(at, 1, &mut self.buffer)?;
        let ecn = match transmit.ecn {
            None => Ecn::NotEct,
            Some(EcnCodepoint::Ect0) => Ecn::Ect0,
            Some(EcnCodepoint::Ect1) => Ecn::Ect1,
            Some(EcnCodepoint::Ce) => Ecn::Ce,
        };
        Some(Action::Send { bytes: self.buffer[..transmit.size].to_vec(), ecn })
    }
}

impl Stack for Quinn {
    const NAME: &'static str = "quinn-proto";

    fn handle(&mut self, now: Instant, event: Event<'_>) {
        match event {
            Event::Start => {
                self.active = true;
                self.connect(now);
            }
            Event::Stop => {
                self.active = false;
                if self.bulk {
                    self.write();
                    self.only = None;
                }
            }
            Event::Unit(unit) => self.waiting.push_back(unit),
            Event::Datagram { bytes, ecn } => self.arrived(now, bytes, ecn),
            Event::Timer => {
                let at = self.to_std(now);
                if let Some((_, connection)) = &mut self.connection {
                    connection.handle_timeout(at);
                }
            }
        }
    }

    fn poll(&mut self, now: Instant) -> Action {
        self.exchange();
        if let Some(delivery) = self.delivered.pop_front() {
            return Action::Deliver(delivery);
        }
        self.write();
        if let Some(send) = self.transmit(now) {
            return send;
        }
        let timeout = self.connection.as_mut().and_then(|(_, connection)| connection.poll_timeout());
        // Both clocks have a resolution of one nanosecond.
        let until = |at: std::time::Instant| Instant::from_nanos((at - self.origin).as_nanos() as u64);
        Action::Wait(timeout.map_or(Instant::NEVER, until))
    }

    fn view(&self) -> SenderView {
        let Some((_, connection)) = &self.connection else { return SenderView::default() };
        let (path, control) = (connection.stats().path, connection.congestion_state());
        let segment = f64::from(connection.current_mtu());
        let left = |outgoing: &&Outgoing| !outgoing.endless;
        let backlog = Backlog {
            units: (self.waiting.len() + self.streams.iter().filter(left).count()) as u64,
            payload: Size::new(
                self.waiting.iter().map(|unit| u64::from(unit.payload)).sum::<u64>()
                    + self.streams.iter().filter(left).map(|outgoing| u64::from(outgoing.left)).sum::<u64>(),
            ),
            since: (self.streams.iter().find(left).map(|outgoing| outgoing.header.created))
                .or(self.waiting.front().map(|unit| unit.created)),
            ..Backlog::default()
        };
        let threshold = control.metrics().ssthresh.filter(|&bytes| bytes < u64::MAX);
        SenderView {
            window: Some(control.window() as f64 / segment),
            slow_start_threshold: threshold.map(|bytes| bytes as f64 / segment),
            smoothed_rtt: Some(connection.rtt().as_secs_f64()),
            backlog: (!self.bulk).then_some(backlog),
            retransmitted: path.lost_packets,
            fast_retransmits: path.congestion_events,
            ..SenderView::default()
        }
    }
}
