#![doc = include_str!("../README.md")]
//!
//! # Inside
//!
//! A *stack* is a protocol implementation without input and output. Its caller passes datagrams and the time. It
//! returns datagrams, deliveries and the time of the next call. [`Stack`] is this interface, and [`pair`] makes a
//! transport from two stacks. Stacks exchange real bytes. A simulated packet carries only an index of the bytes
//! ([`datagrams`]), so packets of other transports pay nothing for them.
//!
//! - `quic/quinn` (feature `quinn`): two endpoints of quinn-proto.
//! - `webrtc/str0m` (feature `str0m`): two peers of str0m.
//!
//! One part of a stack is here, too: `control = "goog-cc"` (feature `goog-cc`), a rate controller for the transport
//! `webrtc`.
//!
//! `docs/stacks.md` shows how to write a custom stack.

#[cfg(any(feature = "quinn", feature = "str0m"))]
mod carry;
pub mod datagrams;
mod end;
#[cfg(feature = "goog-cc")]
pub mod goog_cc;
#[cfg(feature = "quinn")]
pub mod quinn;
mod stack;
#[cfg(feature = "str0m")]
pub mod str0m;

pub use end::{StackEnd, pair};
pub use stack::{Action, Event, Stack};

use std::sync::OnceLock;

use fairwave_core::registry::NameTaken;

/// Registers every stack and controller of this build. Call it before the first scenario is read. It runs once per process; concurrent
/// and later callers wait and get the same result.
///
/// # Errors
/// A transport or controller of the same name is already registered.
pub fn register_all() -> Result<(), NameTaken> {
    static ONCE: OnceLock<Result<(), NameTaken>> = OnceLock::new();
    let all = || {
        #[cfg(feature = "quinn")]
        fairwave_core::transport::register::<quinn::QuinnConfig>()?;
        #[cfg(feature = "str0m")]
        fairwave_core::transport::register::<str0m::Str0mConfig>()?;
        #[cfg(feature = "goog-cc")]
        fairwave_core::transport::rate_control::register::<goog_cc::GoogCcConfig>()?;
        Ok(())
    };
    ONCE.get_or_init(all).clone()
}
