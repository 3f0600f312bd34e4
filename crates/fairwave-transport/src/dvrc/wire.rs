//! The DVRC header, byte by byte: the same code in simulation and on sockets.
//!
//! Paper 002 Fig. 1 names the fields (packet type, length, sequence number, frame type, timestamp, video layer),
//! but neither their positions nor their widths. `docs/protocols/dvrc.md` fixes both, and adds fields that the
//! text needs and the figure lacks. These are the sender's round-trip time and timeout, the rate that the receiver
//! requests, and a packet's index in its frame. All numbers are big-endian. Decoding any bytes yields a header or
//! a [`WireError`], never a panic. Encoding a decoded header gives the same bytes.

pub use fairwave_endpoint::wire::WireError;
use fairwave_endpoint::wire::bytes::{Reader, need, packet_type, put, zero};
use fairwave_endpoint::wire::made;
use fairwave_media::traffic::{FrameType, LayerRates};
use fairwave_network::packet::Body;
use fairwave_units::units::{Instant, Rate, Span};

/// Version of this layout.
pub const VERSION: u8 = 1;
/// Bytes of a data packet's header.
pub const DATA_HEADER: usize = 32;
/// Bytes of a control packet.
pub const CONTROL: usize = 24;
/// Bytes of an advertisement before its layer rates.
pub const ADVERTISEMENT_HEADER: usize = 16;

/// Offset of each field (`docs/protocols/dvrc.md`), for reading and writing.
mod at {
    pub const VERSION_AND_TYPE: usize = 0;
    pub const FRAME_TYPE: usize = 1;
    pub const LAYER: usize = 2;
    pub const LENGTH: usize = 4;
    pub const PART: usize = 6;
    pub const SEQUENCE: usize = 8;
    pub const TIMESTAMP: usize = 12;
    // Fields of a data packet.
    pub const UNIT: usize = 16;
    pub const PARTS: usize = 20;
    pub const ROUND_TRIP: usize = 24;
    pub const TIMEOUT: usize = 28;
    // Fields of a control packet.
    pub const RATE: usize = 16;
    pub const LOST: usize = 20;
}

const DATA: u8 = 0;
const REPORT: u8 = 1;
const TIMEOUT: u8 = 2;
const ADVERTISEMENT: u8 = 3;

/// A data packet's header.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Data {
    /// Coding type of the frame.
    pub frame_type: FrameType,
    /// Video layer (0 = base).
    pub layer: u8,
    /// Payload bytes that follow the header.
    pub length: u16,
    /// This packet's index among those of its unit.
    pub part: u16,
    /// Number of packets of the unit, at least 1.
    pub parts: u16,
    /// The application's unit: one layer of one frame.
    pub unit: u32,
    /// Packets sent before this one, modulo 2³².
    pub sequence: u32,
    /// The sender's clock, microseconds modulo 2³².
    pub timestamp: u32,
    /// The sender's EstimatedRTT (paper 002 Eq. 2), microseconds; 0 while unknown.
    pub round_trip: u32,
    /// The sender's DTO (paper 002 Eq. 3), microseconds; 0 while unknown.
    pub timeout: u32,
}

/// A control packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Control {
    /// True if the receiver's timeout caused the packet. It then has no echo and yields no round-trip sample.
    pub timeout: bool,
    /// K: the requested number of layers.
    pub layers: u8,
    /// Sequence number of the data packet that caused this packet. On a timeout, of the newest packet received.
    pub sequence: u32,
    /// Timestamp of that data packet.
    pub timestamp: u32,
    /// R: the requested payload rate, bits per second, at most 2³² − 1.
    pub rate: u32,
    /// Packets lost so far, modulo 2³².
    pub lost: u32,
}

/// Any DVRC packet without its payload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Header {
    /// Video.
    Data(Data),
    /// The receiver's request.
    Control(Control),
    /// The sender's layers. Sent before the first data packet.
    Advertisement(LayerRates),
}

/// The body of a packet with this header. The sequence number of an unchecked header is arbitrary.
pub(crate) fn body(header: [u8; 32], created: Instant) -> Body {
    Body::Opaque { header, sequence: Reader(&header).u32(at::SEQUENCE), created }
}

fn frame_type(code: u8) -> Result<FrameType, WireError> {
    match code {
        0 => Ok(FrameType::None),
        1 => Ok(FrameType::I),
        2 => Ok(FrameType::P),
        3 => Ok(FrameType::B),
        4 => Ok(FrameType::Noise),
        5 => Ok(FrameType::Background),
        other => Err(WireError::FrameType(other)),
    }
}

impl Header {
    /// Reads the header at the start of `bytes` and ignores the rest.
    ///
    /// # Errors
    /// The first problem found.
    pub fn decode(bytes: &[u8]) -> Result<Header, WireError> {
        match packet_type(bytes, VERSION, ADVERTISEMENT)? {
            DATA => decode_data(bytes).map(Header::Data),
            REPORT => decode_control(bytes, false).map(Header::Control),
            TIMEOUT => decode_control(bytes, true).map(Header::Control),
            _ => decode_advertisement(bytes).map(Header::Advertisement),
        }
    }

    /// Reads a whole datagram: the header and the payload that the header announces.
    ///
    /// # Errors
    /// As [`Header::decode`], and if the payload is longer or shorter than announced.
    pub fn decode_datagram(datagram: &[u8]) -> Result<(Header, &[u8]), WireError> {
        let header = Header::decode(datagram)?;
        let payload = datagram.get(header.size()..).unwrap_or(&[]);
        let claimed = if let Header::Data(data) = header { usize::from(data.length) } else { 0 };
        if payload.len() != claimed {
            return Err(WireError::Length { claimed, have: payload.len() });
        }
        Ok((header, payload))
    }

    /// Size of this header, bytes.
    pub fn size(&self) -> usize {
        match self {
            Header::Data(_) => DATA_HEADER,
            Header::Control(_) => CONTROL,
            Header::Advertisement(layers) => ADVERTISEMENT_HEADER + 4 * usize::from(layers.count()),
        }
    }

    /// The header's bytes; those beyond [`Header::size`] are zero.
    pub fn encode(&self) -> [u8; ADVERTISEMENT_HEADER + 4 * LayerRates::MOST] {
        let mut bytes = [0; ADVERTISEMENT_HEADER + 4 * LayerRates::MOST];
        match self {
            Header::Data(data) => bytes[..DATA_HEADER].copy_from_slice(&data.encode()),
            Header::Control(control) => bytes[..CONTROL].copy_from_slice(&control.encode()),
            Header::Advertisement(layers) => {
                bytes[at::VERSION_AND_TYPE] = VERSION << 4 | ADVERTISEMENT;
                bytes[at::LAYER] = layers.count();
                for (slot, rate) in bytes[ADVERTISEMENT_HEADER..].chunks_exact_mut(4).zip(layers.own()) {
                    slot.copy_from_slice(&clamp(rate).to_be_bytes());
                }
            }
        }
        bytes
    }
}

/// Converts a rate to its wire format.
pub(super) fn clamp(rate: Rate) -> u32 {
    u32::try_from(rate.bits_per_second()).unwrap_or(u32::MAX)
}

/// Converts a span to its wire format: microseconds, at least 1 unless it is zero.
pub(super) fn micros(span: Span) -> u32 {
    u32::try_from(span.nanos().div_ceil(1000)).unwrap_or(u32::MAX)
}

impl Data {
    /// The header's bytes.
    pub fn encode(&self) -> [u8; DATA_HEADER] {
        let mut bytes = [0; DATA_HEADER];
        bytes[at::VERSION_AND_TYPE] = VERSION << 4 | DATA;
        bytes[at::FRAME_TYPE] = self.frame_type as u8;
        bytes[at::LAYER] = self.layer;
        put(&mut bytes, at::LENGTH, self.length.to_be_bytes());
        put(&mut bytes, at::PART, self.part.to_be_bytes());
        put(&mut bytes, at::SEQUENCE, self.sequence.to_be_bytes());
        put(&mut bytes, at::TIMESTAMP, self.timestamp.to_be_bytes());
        put(&mut bytes, at::UNIT, self.unit.to_be_bytes());
        put(&mut bytes, at::PARTS, self.parts.to_be_bytes());
        put(&mut bytes, at::ROUND_TRIP, self.round_trip.to_be_bytes());
        put(&mut bytes, at::TIMEOUT, self.timeout.to_be_bytes());
        bytes
    }
}

impl Control {
    /// The packet's bytes.
    pub fn encode(&self) -> [u8; CONTROL] {
        let mut bytes = [0; CONTROL];
        bytes[at::VERSION_AND_TYPE] = VERSION << 4 | if self.timeout { TIMEOUT } else { REPORT };
        bytes[at::LAYER] = self.layers;
        put(&mut bytes, at::SEQUENCE, self.sequence.to_be_bytes());
        put(&mut bytes, at::TIMESTAMP, self.timestamp.to_be_bytes());
        put(&mut bytes, at::RATE, self.rate.to_be_bytes());
        put(&mut bytes, at::LOST, self.lost.to_be_bytes());
        bytes
    }
}

/// Writes a packet of a flow from its header's bytes. In a data packet, the payload begins with the unit's
/// creation time. Returns the datagram's length: the header and the payload that it announces, or the bytes
/// written if there are more.
pub(crate) fn write(header: &[u8; DATA_HEADER], created: Instant, out: &mut Vec<u8>) -> usize {
    if header[at::VERSION_AND_TYPE] & 0x0f != DATA {
        out.extend_from_slice(&header[..CONTROL]);
        return out.len();
    }
    out.extend_from_slice(header);
    made::write(created, out);
    out.len().max(DATA_HEADER + usize::from(Reader(header).u16(at::LENGTH)))
}

/// Reads a packet of a flow. Returns its body and its layer.
pub(crate) fn read(datagram: &[u8]) -> Result<(Body, u8), WireError> {
    let mut header = [0; DATA_HEADER];
    let whole = Header::decode(datagram)?;
    let (created, layer, claimed) = match whole {
        Header::Data(data) => {
            let created = made::read(datagram.get(DATA_HEADER..).unwrap_or(&[]))?;
            (created, data.layer, usize::from(data.length).max(made::SIZE))
        }
        Header::Control(_) => (Instant::ZERO, 0, 0),
        Header::Advertisement(_) => return Err(WireError::Advertisement),
    };
    let have = datagram.len().saturating_sub(whole.size());
    if have != claimed {
        return Err(WireError::Length { claimed, have });
    }
    header.iter_mut().zip(datagram.iter().take(whole.size())).for_each(|(place, byte)| *place = *byte);
    Ok((body(header, created), layer))
}

fn decode_data(bytes: &[u8]) -> Result<Data, WireError> {
    need(bytes, DATA_HEADER)?;
    let reader = Reader(bytes);
    zero(&reader, &[3, 22, 23])?;
    let data = Data {
        frame_type: frame_type(reader.u8(at::FRAME_TYPE))?,
        layer: reader.u8(at::LAYER),
        length: reader.u16(at::LENGTH),
        part: reader.u16(at::PART),
        sequence: reader.u32(at::SEQUENCE),
        timestamp: reader.u32(at::TIMESTAMP),
        unit: reader.u32(at::UNIT),
        parts: reader.u16(at::PARTS),
        round_trip: reader.u32(at::ROUND_TRIP),
        timeout: reader.u32(at::TIMEOUT),
    };
    if usize::from(data.layer) >= LayerRates::MOST {
        return Err(WireError::Layers);
    }
    if data.part >= data.parts {
        return Err(WireError::Part { part: data.part, parts: data.parts });
    }
    Ok(data)
}

fn decode_control(bytes: &[u8], timeout: bool) -> Result<Control, WireError> {
    need(bytes, CONTROL)?;
    let reader = Reader(bytes);
    zero(&reader, &[1, 3, 4, 5, 6, 7])?;
    if usize::from(reader.u8(at::LAYER)) > LayerRates::MOST {
        return Err(WireError::Layers);
    }
    Ok(Control {
        timeout,
        layers: reader.u8(at::LAYER),
        sequence: reader.u32(at::SEQUENCE),
        timestamp: reader.u32(at::TIMESTAMP),
        rate: reader.u32(at::RATE),
        lost: reader.u32(at::LOST),
    })
}

fn decode_advertisement(bytes: &[u8]) -> Result<LayerRates, WireError> {
    need(bytes, ADVERTISEMENT_HEADER)?;
    let reader = Reader(bytes);
    let count = usize::from(reader.u8(at::LAYER));
    if count == 0 || count > LayerRates::MOST {
        return Err(WireError::Layers);
    }
    need(bytes, ADVERTISEMENT_HEADER + 4 * count)?;
    zero(&reader, &[1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15])?;
    let mut rates = [Rate::default(); LayerRates::MOST];
    for (place, rate) in rates.iter_mut().enumerate().take(count) {
        *rate = Rate::from_bits_per_second(u64::from(reader.u32(ADVERTISEMENT_HEADER + 4 * place)));
    }
    LayerRates::new(rates.get(..count).unwrap_or(&[])).map_err(|_| WireError::Layers)
}

#[cfg(test)]
#[path = "wire_tests.rs"]
mod tests;
