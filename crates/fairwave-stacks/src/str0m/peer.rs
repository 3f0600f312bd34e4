//! A str0m peer with its clock and its random generator.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant as Clock};

use fairwave_core::packet::Ecn;
use fairwave_core::units::{Instant, Rate};
use str0m::bwe::Bitrate;
use str0m::format::Codec;
use str0m::media::{MediaKind, Mid, Pt};
use str0m::net::{Protocol, Receive};
use str0m::rtp::Ssrc;
use str0m::{Candidate, Event, IceCreds, Input, Output, Rtc, RtcConfig, RtcError};

use super::crypto;
use crate::Action;

/// Media streams: name, SSRC, and SSRC of retransmissions.
pub(super) const AUDIO: (&str, u32) = ("aud", 40);
pub(super) const VIDEO: (&str, u32, u32) = ("vid", 42, 44);

/// Output of a peer.
#[allow(clippy::large_enum_variant)] // one at a time, and used at once
pub(super) enum Wanted {
    Do(Action),
    Hear(Event),
}

/// A str0m peer.
pub(super) struct Peer {
    rtc: Rtc,
    /// State of the random generator.
    random: u64,
    /// Reading of the peer's clock at the start of the run; only differences matter.
    origin: Clock,
    here: SocketAddr,
    there: SocketAddr,
    failed: Option<String>,
}

fn address(sends: bool) -> SocketAddr {
    if sends { (Ipv4Addr::new(10, 0, 0, 1), 1000).into() } else { (Ipv4Addr::new(10, 0, 0, 2), 2000).into() }
}

fn credentials(sends: bool) -> IceCreds {
    let name = if sends { "sender" } else { "receiver" };
    IceCreds { ufrag: name.to_owned(), pass: format!("{name}-of-a-session-of-fairwave") }
}

/// Runs `act` with the random generator of this thread set to `state`, and saves the generator's state afterwards.
fn seeded<T>(state: &mut u64, act: impl FnOnce() -> T) -> T {
    fastrand::seed(*state);
    let result = act();
    *state = fastrand::get_seed();
    result
}

impl Peer {
    /// Returns a peer. With `start`, it sends, and `start` is its first estimate; otherwise it receives.
    pub fn new(seed: u64, start: Option<Rate>, statistics: Duration) -> Self {
        let (mut random, origin, sends) = (seed, Clock::now(), start.is_some());
        let rtc = seeded(&mut random, || {
            let config = RtcConfig::new()
                .set_crypto_provider(Arc::new(crypto::provider()))
                .set_dtls_cert(crypto::certificate())
                .set_fingerprint_verification(false)
                .set_local_ice_credentials(credentials(sends))
                .set_stats_interval(Some(statistics))
                .set_rtp_mode(true);
            let config = match start {
                Some(start) => config.enable_bwe(Some(Bitrate::bps(start.bits_per_second()))),
                None => config,
            };
            let mut rtc = config.build(origin);
            for (own, place) in [(true, sends), (false, !sends)] {
                let Ok(candidate) = Candidate::host(address(place), "udp") else { continue };
                if own {
                    let _ = rtc.add_local_candidate(candidate);
                } else {
                    rtc.add_remote_candidate(candidate);
                }
            }
            let mut direct = rtc.direct_api();
            let fingerprint = direct.local_dtls_fingerprint().clone();
            direct.set_remote_fingerprint(fingerprint);
            direct.set_remote_ice_credentials(credentials(!sends));
            direct.set_ice_controlling(sends);
            direct.declare_media(Mid::from(AUDIO.0), MediaKind::Audio);
            direct.declare_media(Mid::from(VIDEO.0), MediaKind::Video);
            if sends {
                direct.declare_stream_tx(Ssrc::from(AUDIO.1), None, Mid::from(AUDIO.0), None);
                direct.declare_stream_tx(Ssrc::from(VIDEO.1), Some(Ssrc::from(VIDEO.2)), Mid::from(VIDEO.0), None);
            } else {
                direct.expect_stream_rx(Ssrc::from(AUDIO.1), None, Mid::from(AUDIO.0), None);
                direct.expect_stream_rx(Ssrc::from(VIDEO.1), Some(Ssrc::from(VIDEO.2)), Mid::from(VIDEO.0), None);
                direct.enable_twcc_feedback();
            }
            rtc
        });
        let mut peer = Peer { rtc, random, origin, here: address(sends), there: address(!sends), failed: None };
        peer.with(|rtc| rtc.direct_api().start_dtls(sends));
        peer
    }

    /// Converts a simulated time to the peer's clock.
    pub fn to_clock(&self, now: Instant) -> Clock {
        self.origin + Duration::from_nanos(now.nanos())
    }

    /// Calls str0m. An error ends the run.
    pub fn with<T>(&mut self, act: impl FnOnce(&mut Rtc) -> Result<T, RtcError>) -> Option<T> {
        let Peer { rtc, random, failed, .. } = self;
        match seeded(random, || act(rtc)) {
            Ok(value) => Some(value),
            Err(error) => {
                failed.get_or_insert(format!("it answered with the error: {error}"));
                None
            }
        }
    }

    /// Returns the payload type of a codec.
    pub fn payload_type(&self, codec: Codec) -> Option<Pt> {
        self.rtc.codec_config().find(|params| params.spec().codec == codec).map(|params| params.pt())
    }

    /// Passes a datagram to str0m.
    pub fn arrived(&mut self, now: Instant, bytes: &[u8]) {
        let (at, source, destination) = (self.to_clock(now), self.there, self.here);
        self.with(|rtc| {
            // Datagrams of an unknown protocol are ignored, as by a socket's reader.
            let Ok(contents) = bytes.try_into() else { return Ok(()) };
            rtc.handle_input(Input::Receive(at, Receive { proto: Protocol::Udp, source, destination, contents }))
        });
    }

    /// Passes a timeout to str0m.
    pub fn timer(&mut self, now: Instant) {
        let at = self.to_clock(now);
        self.with(|rtc| rtc.handle_input(Input::Timeout(at)));
    }

    /// Returns the next output of str0m.
    pub fn poll(&mut self) -> Wanted {
        if let Some(reason) = self.failed.take() {
            return Wanted::Do(Action::Fail(reason));
        }
        match self.with(Rtc::poll_output) {
            Some(Output::Transmit(transmit)) => {
                Wanted::Do(Action::Send { bytes: transmit.contents.to_vec(), ecn: Ecn::NotEct })
            }
            Some(Output::Event(event)) => Wanted::Hear(event),
            Some(Output::Timeout(at)) => {
                let nanos = at.saturating_duration_since(self.origin).as_nanos();
                Wanted::Do(Action::Wait(Instant::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))))
            }
            None => Wanted::Do(Action::Fail(self.failed.take().unwrap_or_default())),
        }
    }
}
