#![doc = include_str!("../README.md")]
//!
//! # Inside
//!
//! - [`side_channel`]: side channel for payloads: pictures, and packets that FEC restores.
//! - [`control`]: rate controllers, one file each. A controller decides how much the sender may send.
//! - `recent`: ring buffer for the latest packets and frames of a stream.
//! - [`rtp`]: headers of media packets. [`mailbox`]: feedback messages, which are longer than a simulated packet.
//! - [`send`]: the sending end. [`session`]: parameters of a session.
//! - [`receive`]: the receiver of a session, from packets to playout.
//! - [`sfu`]: the server of a conference.
//! - [`rtcp`]: reports and feedback as real bytes. [`sizes`]: sizes of headers, bytes.

pub mod control;
pub mod mailbox;
pub mod receive;
mod recent;
pub mod rtcp;
pub mod rtp;
pub mod send;
pub mod session;
pub mod sfu;
pub mod side_channel;
pub mod sizes;

// Macros of `fairwave-units` name these modules.
#[allow(unused_imports)]
pub(crate) use fairwave_units::{config, random, ratio, registry, units};
