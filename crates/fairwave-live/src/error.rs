//! Why a live run fails.

use fairwave_sim::RunError;

/// Why a live run could not be made, or must not be trusted.
#[derive(Debug, thiserror::Error)]
pub enum LiveError {
    /// Another system.
    #[error("a live run needs Linux (network namespaces, TUN devices): run it there, or simulate it by `fairwave run`")]
    NotLinux,
    /// Something that the kernel refused.
    #[error("{what}: {error}; {help}")]
    Refused {
        /// What was wanted.
        what: String,
        /// The kernel's words.
        error: std::io::Error,
        /// What to change.
        help: &'static str,
    },
    /// More of something than there is room for.
    #[error("{found} {what} are too many: at most {allowed}; {help}")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many.
        found: usize,
        /// The most.
        allowed: usize,
        /// What to change.
        help: &'static str,
    },
    /// What no live run can do.
    #[error("{place}: {what}; {help}")]
    NotLive {
        /// The flow, link or host.
        place: String,
        /// What it asks for.
        what: String,
        /// What to write instead.
        help: String,
    },
    /// The laws' own.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// What to do where the kernel refuses namespaces or devices.
pub const PRIVILEGES: &str = "run it as root, or where user namespaces are allowed (sysctl user.max_user_namespaces > 0, \
     kernel.apparmor_restrict_unprivileged_userns = 0) and /dev/net/tun is open to all users";

impl LiveError {
    /// The kernel refused what needs privileges.
    pub fn refused(what: impl Into<String>, error: impl Into<std::io::Error>) -> Self {
        LiveError::Refused { what: what.into(), error: error.into(), help: PRIVILEGES }
    }
}
