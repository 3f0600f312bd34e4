//! Replacement for systems other than Linux: [`run`] fails with an error.

use crate::{LiveError, Outcome, Request};

/// Runs a plan in real time; only on Linux.
///
/// # Errors
/// Always, because the system is not Linux.
pub fn run(_request: &Request) -> Result<Outcome, LiveError> {
    Err(LiveError::NotLinux)
}

/// Prepares the process for network namespaces; only on Linux.
///
/// # Errors
/// Always, because the system is not Linux.
pub fn become_able() -> Result<bool, LiveError> {
    Err(LiveError::NotLinux)
}

/// Carries out an order; only on Linux.
///
/// # Errors
/// Never.
pub fn carry_out(_order: &str) -> Result<i32, serde_json::Error> {
    Ok(126)
}
