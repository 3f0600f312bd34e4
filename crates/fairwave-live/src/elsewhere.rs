//! What a live run is where there is no Linux: a word.

use crate::{LiveError, Outcome, Request};

/// See the crate.
///
/// # Errors
/// Always: this is not Linux.
pub fn run(_request: &Request) -> Result<Outcome, LiveError> {
    Err(LiveError::NotLinux)
}

/// See the crate.
///
/// # Errors
/// Always: this is not Linux.
pub fn become_able() -> Result<bool, LiveError> {
    Err(LiveError::NotLinux)
}

/// See the crate.
///
/// # Errors
/// Never.
pub fn carry_out(_order: &str) -> Result<i32, serde_json::Error> {
    Ok(126)
}
