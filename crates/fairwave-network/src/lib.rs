//! The laws of the network: queues ([`queue`]), rates of links ([`link`]), shared media ([`medium`]) and losses on links ([`loss`]).
//!
//! Every law is a pure state machine: it takes the time and an event and answers with what to do.

pub mod dscp;
pub mod link;
pub mod loss;
pub mod medium;
pub mod packet;
pub mod queue;

// A file that is written for a program of your own, with names under `fairwave_core`, is a file here as it is.
extern crate self as fairwave_core;
#[allow(unused_imports)]
pub(crate) use fairwave_units::{config, random, ratio, registry, timed, units};
