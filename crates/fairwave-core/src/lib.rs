//! The laws of fairwave, in the order of a packet's way: what applications want to send ([`traffic`]), how it is sent
//! ([`transport`]), where it waits ([`queue`]), how fast links send it ([`link`]) and how they lose it ([`loss`]), and what the
//! receiver makes of it ([`quality`]). [`wire`] has its bytes.
//!
//! Everything here is a pure state machine that is told the time and what happened and answers with what to do. Nothing
//! here owns a clock, a socket, a thread or a file, so the same code runs in virtual and in real time.

// A law's file names the crate the same way here and in a program of one's own (docs/extend.md).
extern crate self as fairwave_core;

pub mod config;
pub mod link;
pub mod loss;
pub mod packet;
pub mod quality;
pub mod queue;
pub mod random;
pub mod ratio;
pub mod registry;
pub mod speech;
#[cfg(test)]
mod testing;
pub mod timed;
pub mod traffic;
pub mod transport;
pub mod units;
pub mod wire;
