//! The transports that scenarios name: configuration, names, schema and endpoints of all of them ([`TransportConfig`]), those that are
//! not TCP, TCP's tables ([`tcp`]), and their packets as bytes ([`wire`]).

mod choice;
#[cfg(test)]
mod datagram_tests;
mod dispatch;
pub mod dvrc;
#[cfg(test)]
mod fuzz;
pub mod rap;
mod redundancy;
pub mod rtcp;
pub mod tcp;
pub mod tfrc;
pub mod udp;
pub mod wire;

pub use choice::{AnyTransport, Endpoints, PacketSize, Prepared, Properties, TransportConfig, TransportLaw, register};
pub use dispatch::{AnyReceiver, AnySender};
