//! Selective forwarding unit (RFC 7667 §3.7): the server of a conference.
//!
//! Each participant has one session to the server ([`Ingress`] receives it), and one session from the server per other
//! participant ([`Egress`] sends it, [`Listener`] receives it). All sessions from the server to one participant share
//! one transport: one estimate of one rate controller, one numbering, one stream of feedback.
//!
//! - The server forwards packets at once, without a pacer, and renumbers them, so that omitted packets leave no gaps
//!   ([`forward`]).
//! - It measures the rate of each layer ([`layers`]) and chooses layers for each receiver by the estimate of its path
//!   ([`choice`]).
//! - It switches to another simulcast stream, or up to another spatial layer, at a key frame, which it requests from
//!   the publisher.
//! - It serves NACKs from its cache, and requests packets from publishers that it misses.
//! - It forwards the audio of the loudest participants ([`speakers`]), and no padding of publishers.
//! - It sends padding as probes when the controller requests them.
//!
//! **Assumptions.** Servers differ; none of the rules of [`choice`] and [`speakers`] is standardised. Their numbers
//! carry †.

pub mod choice;
mod egress;
pub mod forward;
mod ingress;
pub mod layers;
mod listener;
mod publisher;
mod room;
pub mod speakers;
mod subscriber;

pub use egress::Egress;
pub use ingress::Ingress;
pub use listener::{Bundle, Listener};
pub use room::{LegRole, Room, RoomSetup};
