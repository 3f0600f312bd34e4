//! The receiver of a session.

pub mod config;
pub mod frames;
pub mod freeze;
pub mod jitter;
pub mod nack;
pub mod reception;
pub mod synchronisation;
pub mod timing;

pub use config::{FeedbackFormat, ReceiveConfig};
