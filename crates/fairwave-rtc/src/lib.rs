//! Calls as WebRTC makes them. One transport carries all streams of a peer.
//!
//! - [`backstage`]: what payloads would hold: pictures, and packets that FEC restores.
//! - [`control`]: rate controllers. Each says how much the sender may send; one file each.
//! - `recent`: what is kept of the latest packets and frames of a stream.
//! - [`rtp`]: headers of media packets. [`mailbox`]: messages of feedback, which are longer than a packet of the laboratory.
//! - [`send`]: the sending end. [`session`]: parameters of a session.
//! - [`receive`]: the receiver of a session, from packets to what is heard and seen.
//! - [`sfu`]: the server of a conference.
//! - [`rtcp`]: reports and feedback as real bytes. [`sizes`]: bytes of headers.
//!
//! All of it is state machines without clock or socket, as everywhere below the simulator.

pub mod backstage;
pub mod control;
pub mod mailbox;
pub mod receive;
mod recent;
pub mod rtcp;
pub mod rtp;
pub mod send;
pub mod session;
pub mod sfu;
pub mod sizes;

// Macros of `fairwave-units` name these modules.
#[allow(unused_imports)]
pub(crate) use fairwave_units::{config, random, ratio, registry, units};
