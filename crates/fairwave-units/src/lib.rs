#![doc = include_str!("../README.md")]
//!
//! # Inside
//!
//! Types and tools that all laws use: quantities with units ([`units`]), one named random stream per component
//! ([`random`]), families of laws ([`registry`]), errors with a remedy ([`config`]) and schedules ([`timed`]).

pub mod config;
pub mod layers;
pub mod random;
pub mod ratio;
pub mod registry;
pub mod source;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod timed;
pub mod units;
