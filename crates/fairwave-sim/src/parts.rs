//! Execution of a run in parts, so that its caller can follow it and stop it.

use fairwave_core::units::{Instant, Span};

use crate::error::RunError;

/// Number of parts of a run with [`Run::parts`](crate::Run::parts). A run with a warm-up has a few more.
pub const PARTS: u64 = 1024;

/// Callback that executes the parts of a run; `None` to execute the run in one piece.
pub(crate) type Parts<'a> = Option<&'a dyn Fn(&mut dyn FnMut()) -> bool>;

/// Executes `run` from `from` to `until`, both included, in the parts of a run that ends at `end`.
pub(crate) fn execute_parts(
    end: Instant,
    (from, until): (Instant, Instant),
    parts: Parts<'_>,
    run: &mut dyn FnMut(Instant, Instant) -> Result<(), RunError>,
) -> Result<(), RunError> {
    let Some(part) = parts else { return run(from, until) };
    let span = Span::from_nanos((end.nanos() / PARTS).max(1));
    let mut begin = from;
    loop {
        let end = (begin + span).min(until);
        let mut done = Err(RunError::Stopped);
        let wanted = part(&mut || done = run(begin, end));
        done?;
        if end == until {
            return Ok(());
        }
        if !wanted {
            return Err(RunError::Stopped);
        }
        begin = end + Span::from_nanos(1);
    }
}
