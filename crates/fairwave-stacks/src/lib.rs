//! Code that people deploy, packet by packet in virtual time.
//!
//! A *stack* is a protocol implementation that does no input and output of its own: it takes a datagram or the time, and
//! answers with datagrams, deliveries and the time at which it needs the next call. [`Stack`] is that, and [`pair`] makes a
//! transport of two of them. Their packets have real bytes. A packet of the simulator carries a number, and the bytes lie
//! between both ends ([`datagrams`]), so packets of other transports pay nothing for it.
//!
//! - `quic/quinn` (feature `quinn`): two endpoints of quinn-proto.
//! - `webrtc/str0m` (feature `str0m`): two peers of str0m.
//!
//! `docs/stacks.md` shows a stack of your own.

#[cfg(any(feature = "quinn", feature = "str0m"))]
mod carry;
pub mod datagrams;
mod end;
#[cfg(feature = "quinn")]
pub mod quinn;
mod stack;
#[cfg(feature = "str0m")]
pub mod str0m;

pub use end::{StackEnd, pair};
pub use stack::{Action, Event, Stack};

use std::sync::OnceLock;

use fairwave_core::registry::NameTaken;

/// Hands in every stack that this build has, before the first scenario is read. Once per process: whoever calls it
/// again, or meanwhile from another thread, waits until all are there and gets the same answer.
///
/// # Errors
/// When there is a transport of such a name.
pub fn register_all() -> Result<(), NameTaken> {
    static ONCE: OnceLock<Result<(), NameTaken>> = OnceLock::new();
    let all = || {
        #[cfg(feature = "quinn")]
        fairwave_core::transport::register::<quinn::QuinnConfig>()?;
        #[cfg(feature = "str0m")]
        fairwave_core::transport::register::<str0m::Str0mConfig>()?;
        Ok(())
    };
    ONCE.get_or_init(all).clone()
}
