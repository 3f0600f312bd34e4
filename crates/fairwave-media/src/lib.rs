#![doc = include_str!("../README.md")]
//!
//! # Inside
//!
//! Traffic sources ([`traffic`]), receiver quality ([`quality`]) and received speech ([`speech`]).

pub mod encoder;
pub mod quality;
pub mod speech;
pub mod traffic;

// Files for custom programs use names under `fairwave_core`. This alias allows such a file here without changes.
extern crate self as fairwave_core;
#[allow(unused_imports)]
pub(crate) use fairwave_units::{config, random, ratio, registry, timed, units};
