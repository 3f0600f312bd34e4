//! Replacement for str0m's cryptography: a provider without encryption and without random numbers.
//!
//! The flights of DTLS 1.2 (RFC 6347 §4.2.4) have the order and roughly the length of real ones. They are retransmitted
//! after one second, then two, and so on. SRTP packets are longer by 16 bytes, the tag of AES-128-GCM (RFC 7714). STUN
//! messages carry a digest of 20 bytes.
//!
//! **Assumptions.** † Flights of 200, 900, 800 and 75 bytes, without HelloVerifyRequest; each flight is one datagram.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use str0m::crypto::dtls::{
    DtlsCert, DtlsImplError, DtlsInstance, DtlsOutput, DtlsProvider, DtlsVersion, KeyingMaterial, ProtocolVersion,
    SrtpProfile,
};
use str0m::crypto::{
    AeadAes128GcmCipher, AeadAes256GcmCipher, Aes128CmSha1_80Cipher, CryptoError, CryptoProvider, Sha1HmacProvider,
    Sha256Provider, SrtpProvider, SupportedAeadAes128Gcm, SupportedAeadAes256Gcm, SupportedAes128CmSha1_80,
};

const TAG: usize = 16;

/// Cryptographic primitives that str0m needs.
#[derive(Debug)]
struct Plain;

/// Returns the provider of both peers.
pub(super) fn provider() -> CryptoProvider {
    CryptoProvider { srtp_provider: &Plain, sha1_hmac_provider: &Plain, sha256_provider: &Plain, dtls_provider: &Plain }
}

/// Returns the certificate of both peers.
pub(super) fn certificate() -> DtlsCert {
    DtlsCert { certificate: vec![1; 400], private_key: vec![1; 32] }
}

/// Returns a digest of `parts` with `N` bytes (FNV-1a).
fn digest<const N: usize>(parts: &[&[u8]]) -> [u8; N] {
    let bytes = parts.iter().flat_map(|part| part.iter());
    let sum = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3));
    let mut out = [0; N];
    out.iter_mut().zip(sum.to_be_bytes().into_iter().cycle()).for_each(|(place, byte)| *place = byte);
    out
}

impl Sha1HmacProvider for Plain {
    fn sha1_hmac(&self, key: &[u8], payloads: &[&[u8]]) -> [u8; 20] {
        let parts: Vec<&[u8]> = [key].into_iter().chain(payloads.iter().copied()).collect();
        digest(&parts)
    }
}

impl Sha256Provider for Plain {
    fn sha256(&self, data: &[u8]) -> [u8; 32] {
        digest(&[data])
    }
}

fn copy(input: &[u8], output: &mut [u8]) {
    output.iter_mut().zip(input).for_each(|(place, byte)| *place = *byte);
}

impl SrtpProvider for Plain {
    fn aes_128_cm_sha1_80(&self) -> &'static dyn SupportedAes128CmSha1_80 {
        &Plain
    }

    fn aead_aes_128_gcm(&self) -> &'static dyn SupportedAeadAes128Gcm {
        &Plain
    }

    fn aead_aes_256_gcm(&self) -> &'static dyn SupportedAeadAes256Gcm {
        &Plain
    }

    fn srtp_aes_128_ecb_round(&self, _key: &[u8], input: &[u8], output: &mut [u8]) {
        copy(input, output);
    }

    fn srtp_aes_256_ecb_round(&self, _key: &[u8], input: &[u8], output: &mut [u8]) {
        copy(input, output);
    }
}

impl SupportedAes128CmSha1_80 for Plain {
    fn create_cipher(&self, _key: [u8; 16], _encrypt: bool) -> Box<dyn Aes128CmSha1_80Cipher> {
        Box::new(Plain)
    }
}

impl SupportedAeadAes128Gcm for Plain {
    fn create_cipher(&self, _key: [u8; 16], _encrypt: bool) -> Box<dyn AeadAes128GcmCipher> {
        Box::new(Plain)
    }
}

impl SupportedAeadAes256Gcm for Plain {
    fn create_cipher(&self, _key: [u8; 32], _encrypt: bool) -> Box<dyn AeadAes256GcmCipher> {
        Box::new(Plain)
    }
}

impl Aes128CmSha1_80Cipher for Plain {
    fn encrypt(&mut self, _iv: &[u8; 16], input: &[u8], output: &mut [u8]) -> Result<(), CryptoError> {
        copy(input, output);
        Ok(())
    }

    fn decrypt(&mut self, _iv: &[u8; 16], input: &[u8], output: &mut [u8]) -> Result<(), CryptoError> {
        copy(input, output);
        Ok(())
    }
}

/// Seals with a tag of zeros.
fn seal(input: &[u8], output: &mut [u8]) {
    copy(input, output);
    output.iter_mut().skip(input.len()).take(TAG).for_each(|place| *place = 0);
}

fn open(input: &[u8], output: &mut [u8]) -> Result<usize, CryptoError> {
    let length = input.len().checked_sub(TAG).ok_or_else(|| CryptoError::Other("no tag".to_owned()))?;
    copy(&input[..length], output);
    Ok(length)
}

impl AeadAes128GcmCipher for Plain {
    fn encrypt(&mut self, _iv: &[u8; 12], _aad: &[u8], input: &[u8], output: &mut [u8]) -> Result<(), CryptoError> {
        seal(input, output);
        Ok(())
    }

    fn decrypt(
        &mut self,
        _iv: &[u8; 12],
        _aads: &[&[u8]],
        input: &[u8],
        output: &mut [u8],
    ) -> Result<usize, CryptoError> {
        open(input, output)
    }
}

impl AeadAes256GcmCipher for Plain {
    fn encrypt(&mut self, _iv: &[u8; 12], _aad: &[u8], input: &[u8], output: &mut [u8]) -> Result<(), CryptoError> {
        seal(input, output);
        Ok(())
    }

    fn decrypt(
        &mut self,
        _iv: &[u8; 12],
        _aads: &[&[u8]],
        input: &[u8],
        output: &mut [u8],
    ) -> Result<usize, CryptoError> {
        open(input, output)
    }
}

impl DtlsProvider for Plain {
    fn generate_certificate(&self) -> Option<DtlsCert> {
        Some(certificate())
    }

    fn new_dtls(
        &self,
        _cert: &DtlsCert,
        now: Instant,
        _dtls_version: DtlsVersion,
        _mtu: Option<usize>,
    ) -> Result<Box<dyn DtlsInstance>, CryptoError> {
        Ok(Box::new(Handshake {
            active: false,
            flight: 0,
            done: false,
            wait: FIRST,
            due: None,
            now,
            out: VecDeque::new(),
        }))
    }
}

/// Lengths of the flights, bytes; the client sends the first.
const FLIGHTS: [usize; 4] = [200, 900, 800, 75];

/// First and longest retransmission timeout of a flight (RFC 6347 §4.2.4.1).
const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(60);

/// Time until the next call if no timer is set.
const LATER: Duration = Duration::from_secs(3600);

/// Output of a handshake.
#[derive(Debug)]
enum Outcome {
    Packet(Vec<u8>),
    Connected,
    Certificate,
    Keys,
}

#[derive(Debug)]
struct Handshake {
    active: bool,
    /// Number of the latest flight sent, from 1; 0 before the first.
    flight: u8,
    done: bool,
    wait: Duration,
    /// Time of the next retransmission of the flight.
    due: Option<Instant>,
    now: Instant,
    out: VecDeque<Outcome>,
}

impl Handshake {
    fn send(&mut self, flight: u8) {
        let length = FLIGHTS.get(usize::from(flight) - 1).copied().unwrap_or(75);
        let mut packet = vec![0; length];
        // The first byte marks a handshake record. RFC 7983 uses it to distinguish DTLS from STUN and RTP.
        [22, flight].into_iter().zip(&mut packet).for_each(|(byte, place)| *place = byte);
        self.out.push_back(Outcome::Packet(packet));
        self.flight = flight;
        // The last flight needs no reply, so it is not retransmitted.
        self.due = (self.active && flight < 4).then(|| self.now + self.wait);
    }

    fn finish(&mut self) {
        if !std::mem::replace(&mut self.done, true) {
            self.out.extend([Outcome::Connected, Outcome::Certificate, Outcome::Keys]);
        }
        self.due = None;
    }
}

impl DtlsInstance for Handshake {
    fn set_active(&mut self, active: bool) {
        self.active = active;
    }

    fn handle_packet(&mut self, packet: &[u8]) -> Result<(), DtlsImplError> {
        match (self.active, packet.get(1)) {
            (false, Some(1)) => self.send(2),
            (true, Some(2)) if self.flight == 1 => {
                self.wait = FIRST;
                self.send(3);
            }
            (false, Some(3)) => {
                self.send(4);
                self.finish();
            }
            (true, Some(4)) => self.finish(),
            _ => {}
        }
        Ok(())
    }

    fn poll_output<'a>(&mut self, buf: &'a mut [u8]) -> DtlsOutput<'a> {
        match self.out.pop_front() {
            Some(Outcome::Packet(packet)) => {
                copy(&packet, buf);
                let length = packet.len().min(buf.len());
                DtlsOutput::Packet(&buf[..length])
            }
            Some(Outcome::Connected) => DtlsOutput::Connected,
            Some(Outcome::Certificate) => {
                let certificate = certificate().certificate;
                copy(&certificate, buf);
                let length = certificate.len().min(buf.len());
                DtlsOutput::PeerCert(&buf[..length])
            }
            Some(Outcome::Keys) => {
                // Two keys of 16 bytes and two salts of 12 (RFC 7714 §12).
                DtlsOutput::KeyingMaterial(KeyingMaterial::new(&[7; 56]), SrtpProfile::AEAD_AES_128_GCM)
            }
            None => DtlsOutput::Timeout(self.due.unwrap_or(self.now + LATER)),
        }
    }

    fn handle_timeout(&mut self, now: Instant) -> Result<(), DtlsImplError> {
        self.now = now;
        if self.active && self.flight == 0 {
            self.send(1);
        } else if self.due.is_some_and(|due| due <= now) {
            self.wait = (self.wait * 2).min(LONGEST);
            self.send(self.flight);
        }
        Ok(())
    }

    fn send_application_data(&mut self, _data: &[u8]) -> Result<(), DtlsImplError> {
        Ok(())
    }

    fn is_active(&self) -> bool {
        self.active
    }

    fn protocol_version(&self) -> Option<ProtocolVersion> {
        None
    }

    fn close(&mut self) -> Result<(), DtlsImplError> {
        Ok(())
    }
}
