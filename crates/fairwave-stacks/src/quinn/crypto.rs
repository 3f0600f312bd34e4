//! QUIC handshake without cryptography: replaces TLS (RFC 9001) and its keys.
//!
//! The messages have the order and roughly the length of TLS 1.3 messages, and they carry QUIC's transport parameters.
//! Each packet has a tag of 16 bytes, as with an AEAD. Nothing is encrypted. The tag contains key and packet number, so
//! a receiver without the key cannot read the packet, as in reality.
//!
//! **Assumptions.** † ClientHello 280 bytes, ServerHello 122, certificate chain and proof 2400, Finished 36, plus the
//! transport parameters.

use std::any::Any;
use std::sync::Arc;

use bytes::BytesMut;
use quinn_proto::crypto::{
    AeadKey, ClientConfig, CryptoError, ExportKeyingMaterialError, HandshakeTokenKey, HeaderKey, HmacKey, KeyPair,
    Keys, PacketKey, ServerConfig, Session, UnsupportedVersion,
};
use quinn_proto::transport_parameters::TransportParameters;
use quinn_proto::{ConnectError, ConnectionId, Side, TransportError, TransportErrorCode};

const CLIENT_HELLO: usize = 280;
const SERVER_HELLO: usize = 122;
const SERVER_FLIGHT: usize = 2400;
const FINISHED: usize = 36;
const TAG: usize = 16;

/// Key numbers of Initial packets, Handshake packets, and the first 1-RTT packets.
const INITIAL: u64 = 0;
const HANDSHAKE: u64 = 1;
const APPLICATION: u64 = 2;

/// Mixes the bits of a number (SplitMix64's finaliser).
pub(super) fn mix(mut z: u64) -> u64 {
    z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Returns a digest of `data`.
fn digest(seed: u64, data: &[u8]) -> u64 {
    data.iter().fold(mix(seed), |sum, byte| mix(sum ^ u64::from(*byte)))
}

/// Fills `out` with bytes derived from `seed`.
pub(super) fn fill(seed: u64, out: &mut [u8]) {
    for (place, chunk) in (0..).zip(out.chunks_mut(8)) {
        chunk.iter_mut().zip(mix(seed ^ mix(place)).to_be_bytes()).for_each(|(byte, value)| *byte = value);
    }
}

/// Key without encryption.
struct Plain(u64);

impl PacketKey for Plain {
    fn encrypt(&self, packet: u64, buf: &mut [u8], _header_len: usize) {
        let start = buf.len().saturating_sub(TAG);
        let tag = self.0.to_be_bytes().into_iter().chain(packet.to_be_bytes());
        buf[start..].iter_mut().zip(tag).for_each(|(place, byte)| *place = byte);
    }

    fn decrypt(&self, packet: u64, _header: &[u8], payload: &mut BytesMut) -> Result<(), CryptoError> {
        let start = payload.len().checked_sub(TAG).ok_or(CryptoError)?;
        let tag = self.0.to_be_bytes().into_iter().chain(packet.to_be_bytes());
        if !payload[start..].iter().copied().eq(tag) {
            return Err(CryptoError);
        }
        payload.truncate(start);
        Ok(())
    }

    fn tag_len(&self) -> usize {
        TAG
    }

    /// The limit of AES-GCM (RFC 9001 §6.6).
    fn confidentiality_limit(&self) -> u64 {
        1 << 23
    }

    fn integrity_limit(&self) -> u64 {
        1 << 52
    }
}

impl HeaderKey for Plain {
    fn decrypt(&self, _pn_offset: usize, _packet: &mut [u8]) {}

    fn encrypt(&self, _pn_offset: usize, _packet: &mut [u8]) {}

    fn sample_size(&self) -> usize {
        TAG
    }
}

fn keys(level: u64) -> Keys {
    Keys {
        header: KeyPair { local: Box::new(Plain(level)), remote: Box::new(Plain(level)) },
        packet: KeyPair { local: Box::new(Plain(level)), remote: Box::new(Plain(level)) },
    }
}

/// Writes a message: kind, length, transport parameters, and zeros up to about `length` bytes.
fn write_message(out: &mut Vec<u8>, kind: u8, length: usize, parameters: Option<&TransportParameters>) {
    let mut body = Vec::with_capacity(length);
    if let Some(parameters) = parameters {
        parameters.write(&mut body);
    }
    let written = body.len();
    body.resize(written + length.saturating_sub(6), 0);
    out.push(kind);
    out.extend_from_slice(&(body.len() as u32).to_be_bytes()[1..]);
    out.extend_from_slice(&(written as u16).to_be_bytes());
    out.extend_from_slice(&body);
}

/// Progress of a handshake.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Step {
    /// The client writes the ClientHello; the server waits for it.
    Hello,
    /// The client waits for the ServerHello; the server writes it.
    Reply,
    /// The client waits for the rest of the server's flight; the server writes it.
    Flight,
    /// The client writes its Finished; the server waits for it.
    Finish,
    Done,
}

/// Handshake of one end.
struct Handshake {
    side: Side,
    step: Step,
    ours: TransportParameters,
    theirs: Option<TransportParameters>,
    read: Vec<u8>,
    /// True if the client has the handshake keys.
    has_keys: bool,
    generation: u64,
}

impl Handshake {
    fn new(side: Side, ours: &TransportParameters) -> Box<Self> {
        let (step, generation) = (Step::Hello, APPLICATION);
        Box::new(Handshake { side, step, ours: *ours, theirs: None, read: Vec::new(), has_keys: false, generation })
    }

    /// Returns the next complete message: its kind and the bytes of the transport parameters.
    fn message(&mut self) -> Option<(u8, Vec<u8>)> {
        let &[kind, a, b, c, d, e, ..] = self.read.as_slice() else { return None };
        let (length, parameters) = (u32::from_be_bytes([0, a, b, c]) as usize, usize::from(u16::from_be_bytes([d, e])));
        let body = self.read.get(6..6 + length)?.get(..parameters).unwrap_or_default().to_vec();
        self.read.drain(..6 + length);
        Some((kind, body))
    }
}

impl Session for Handshake {
    fn initial_keys(&self, _dst_cid: &ConnectionId, _side: Side) -> Keys {
        keys(INITIAL)
    }

    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        self.theirs.map(|_| Box::new(()) as Box<dyn Any>)
    }

    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
        None
    }

    fn early_data_accepted(&self) -> Option<bool> {
        None
    }

    fn is_handshaking(&self) -> bool {
        self.step != Step::Done
    }

    fn read_handshake(&mut self, buf: &[u8]) -> Result<bool, TransportError> {
        self.read.extend_from_slice(buf);
        let knew = self.theirs.is_some();
        while let Some((kind, parameters)) = self.message() {
            self.step = match (self.side, self.step, kind) {
                (Side::Server, Step::Hello, 1) | (Side::Client, Step::Reply, 2) => match self.side {
                    Side::Server => Step::Reply,
                    Side::Client => Step::Flight,
                },
                (Side::Client, Step::Flight, 8) => Step::Finish,
                (Side::Server, Step::Finish, 20) => Step::Done,
                // TLS alert `unexpected_message`.
                _ => {
                    let reason = format!("a message of kind {kind}");
                    return Err(TransportError { code: TransportErrorCode::crypto(10), frame: None, reason });
                }
            };
            if !parameters.is_empty() {
                self.theirs = Some(TransportParameters::read(self.side, &mut parameters.as_slice())?);
            }
        }
        Ok(!knew && self.theirs.is_some())
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        Ok(self.theirs)
    }

    fn write_handshake(&mut self, buf: &mut Vec<u8>) -> Option<Keys> {
        match (self.side, self.step) {
            (Side::Client, Step::Hello) => {
                write_message(buf, 1, CLIENT_HELLO, Some(&self.ours));
                self.step = Step::Reply;
                None
            }
            (Side::Server, Step::Reply) => {
                write_message(buf, 2, SERVER_HELLO, None);
                self.step = Step::Flight;
                Some(keys(HANDSHAKE))
            }
            (Side::Server, Step::Flight) => {
                write_message(buf, 8, SERVER_FLIGHT, Some(&self.ours));
                self.step = Step::Finish;
                Some(keys(APPLICATION))
            }
            (Side::Client, Step::Flight) if !self.has_keys => {
                self.has_keys = true;
                Some(keys(HANDSHAKE))
            }
            (Side::Client, Step::Finish) => {
                write_message(buf, 20, FINISHED, None);
                self.step = Step::Done;
                Some(keys(APPLICATION))
            }
            _ => None,
        }
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        self.generation += 1;
        Some(KeyPair { local: Box::new(Plain(self.generation)), remote: Box::new(Plain(self.generation)) })
    }

    fn is_valid_retry(&self, _orig_dst_cid: &ConnectionId, _header: &[u8], _payload: &[u8]) -> bool {
        true
    }

    fn export_keying_material(
        &self,
        output: &mut [u8],
        label: &[u8],
        context: &[u8],
    ) -> Result<(), ExportKeyingMaterialError> {
        fill(digest(digest(0, label), context), output);
        Ok(())
    }
}

/// Crypto configuration of both sides.
pub(super) struct NoCrypto;

impl ClientConfig for NoCrypto {
    fn start_session(
        self: Arc<Self>,
        _version: u32,
        _server_name: &str,
        params: &TransportParameters,
    ) -> Result<Box<dyn Session>, ConnectError> {
        Ok(Handshake::new(Side::Client, params))
    }
}

impl ServerConfig for NoCrypto {
    fn initial_keys(&self, _version: u32, _dst_cid: &ConnectionId) -> Result<Keys, UnsupportedVersion> {
        Ok(keys(INITIAL))
    }

    fn retry_tag(&self, _version: u32, _orig_dst_cid: &ConnectionId, _packet: &[u8]) -> [u8; 16] {
        [0; 16]
    }

    fn start_session(self: Arc<Self>, _version: u32, params: &TransportParameters) -> Box<dyn Session> {
        Handshake::new(Side::Server, params)
    }
}

/// Derives reset tokens and address tokens from a number.
pub(super) struct Numbered(pub u64);

impl HmacKey for Numbered {
    fn sign(&self, data: &[u8], signature_out: &mut [u8]) {
        fill(digest(self.0, data), signature_out);
    }

    fn signature_len(&self) -> usize {
        32
    }

    fn verify(&self, data: &[u8], signature: &[u8]) -> Result<(), CryptoError> {
        let mut expected = vec![0; signature.len()];
        self.sign(data, &mut expected);
        if expected == signature { Ok(()) } else { Err(CryptoError) }
    }
}

impl HandshakeTokenKey for Numbered {
    fn aead_from_hkdf(&self, random_bytes: &[u8]) -> Box<dyn AeadKey> {
        Box::new(Numbered(digest(self.0, random_bytes)))
    }
}

impl AeadKey for Numbered {
    fn seal(&self, data: &mut Vec<u8>, additional_data: &[u8]) -> Result<(), CryptoError> {
        data.extend_from_slice(&digest(self.0, additional_data).to_be_bytes());
        Ok(())
    }

    fn open<'a>(&self, data: &'a mut [u8], additional_data: &[u8]) -> Result<&'a mut [u8], CryptoError> {
        let (plain, tag) = data.split_at_mut(data.len().saturating_sub(8));
        if *tag == digest(self.0, additional_data).to_be_bytes() { Ok(plain) } else { Err(CryptoError) }
    }
}
