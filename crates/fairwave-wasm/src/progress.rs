//! The progress of a run, reported to the page.

use fairwave_core::units::{Instant, Span};

/// Maximum number of reports per run.
const REPORTS: u64 = 200;

#[cfg(target_arch = "wasm32")]
mod page {
    #[link(wasm_import_module = "fairwave")]
    #[allow(unsafe_code)]
    unsafe extern "C" {
        /// Takes the simulated share of the run, from 0 to 1.
        pub safe fn progress(share: f64);
    }
}

/// Replacement for the page in native builds.
#[cfg(not(target_arch = "wasm32"))]
pub mod page {
    use std::cell::RefCell;

    thread_local! {
        /// The reports so far.
        pub static REPORTED: RefCell<Vec<f64>> = const { RefCell::new(Vec::new()) };
    }

    pub fn progress(share: f64) {
        REPORTED.with_borrow_mut(|reported| reported.push(share));
    }
}

/// Reports a run's progress at every 200th of its duration. A time step without events gives no report.
pub struct Progress {
    duration: Span,
    step: Span,
    next: Instant,
}

impl Progress {
    /// Progress of a run of this duration.
    pub fn new(duration: Span) -> Self {
        let step = Span::from_nanos((duration.nanos() / REPORTS).max(1));
        Progress { duration, step, next: Instant::ZERO + step }
    }

    /// Takes the current time of the run and reports it if a step has passed.
    #[inline]
    pub fn now(&mut self, now: Instant) {
        if now >= self.next {
            self.next = now + self.step;
            page::progress(now.nanos() as f64 / self.duration.nanos().max(1) as f64);
        }
    }
}
