#![doc = include_str!("../README.md")]
//!
//! # Inside
//!
//! Queues ([`queue`]), rates of links ([`link`]), shared media ([`medium`]) and losses on links ([`loss`]). They exchange
//! packets ([`packet`]).

pub mod dscp;
pub mod link;
pub mod loss;
pub mod medium;
pub mod packet;
pub mod queue;

// Custom laws use names under `fairwave_core`. With this alias, a file of such a program compiles here unchanged.
extern crate self as fairwave_core;
#[allow(unused_imports)]
pub(crate) use fairwave_units::{config, random, ratio, registry, timed, units};
