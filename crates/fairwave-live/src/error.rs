//! Errors of live runs.

use fairwave_sim::RunError;

/// Why a live run failed, or why its results are not valid.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LiveError {
    /// The system is not Linux.
    #[error("a live run needs Linux (network namespaces, TUN devices): run it there, or simulate it by `fairwave run`")]
    NotLinux,
    /// The kernel refused an operation.
    #[error("{what}: {error}; {help}")]
    Refused {
        /// The operation.
        what: String,
        /// The error of the kernel.
        error: std::io::Error,
        /// Remedy.
        help: &'static str,
    },
    /// A limit is exceeded.
    #[error("{found} {what} are too many: at most {allowed}; {help}")]
    TooMany {
        /// Kind of item.
        what: &'static str,
        /// Number found.
        found: usize,
        /// Largest number allowed.
        allowed: usize,
        /// Remedy.
        help: &'static str,
    },
    /// The scenario asks for something that the router does not support.
    #[error("{place}: {what}; {help}")]
    NotLive {
        /// The flow, link or host.
        place: String,
        /// The unsupported request.
        what: String,
        /// What to write instead.
        help: String,
    },
    /// Error of the simulator.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// Remedy if the kernel refuses namespaces or devices.
pub const PRIVILEGES: &str = "run it as root, or where user namespaces are allowed (sysctl user.max_user_namespaces > 0, \
     kernel.apparmor_restrict_unprivileged_userns = 0) and /dev/net/tun is open to all users";

impl LiveError {
    /// Returns the error for an operation that needs privileges.
    pub fn refused(what: impl Into<String>, error: impl Into<std::io::Error>) -> Self {
        LiveError::Refused { what: what.into(), error: error.into(), help: PRIVILEGES }
    }
}
