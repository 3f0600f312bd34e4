//! Quality measures of core for numbers that Python has put together.

use fairwave_core::quality::emodel::simplified_rating;
use fairwave_core::quality::opinion::mean_opinion_score;
use fairwave_core::units::Span;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Rating and mean opinion score by paper 004's Eq. (1)–(2), for a mean delay in seconds and a fraction lost.
///
/// # Errors
/// `ValueError` for a delay below 0 or a loss outside 0 to 1.
#[pyfunction]
pub fn simplified_quality(delay_s: f64, loss: f64) -> PyResult<(f64, f64)> {
    if !(0.0..=3600.0).contains(&delay_s) || !(0.0..=1.0).contains(&loss) {
        return Err(PyValueError::new_err(format!(
            "delay of {delay_s} s and loss of {loss}: need 0 to 3600 s and a fraction from 0 to 1; write for example 0.15, 0.01"
        )));
    }
    let rating = simplified_rating(Span::from_seconds(delay_s), loss);
    Ok((rating, mean_opinion_score(rating)))
}
