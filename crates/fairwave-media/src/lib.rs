//! Sources of traffic ([`traffic`]), quality at the receiver ([`quality`]), and received speech ([`speech`]).

pub mod encoder;
pub mod quality;
pub mod speech;
pub mod traffic;

// A file that is written for a program of your own, with names under `fairwave_core`, is a file here as it is.
extern crate self as fairwave_core;
#[allow(unused_imports)]
pub(crate) use fairwave_units::{config, random, ratio, registry, timed, units};
