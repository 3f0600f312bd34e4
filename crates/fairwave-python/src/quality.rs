//! Quality measures from `fairwave-core` for numbers that Python supplies, and properties of codecs.

use fairwave_core::quality::emodel::simplified_rating;
use fairwave_core::quality::impairment::{self, Concealment, Origin};
use fairwave_core::quality::opinion::mean_opinion_score;
use fairwave_core::traffic::Codec;
use fairwave_core::units::{Rate, Span};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

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

/// Ie,wb and Bpl,wb of Opus without in-band FEC, for a payload rate such as "32 kb/s". The third value is the part of a lost frame
/// as which a frame restored from its copy counts.
///
/// # Errors
/// `ValueError` if the text is not a rate.
#[pyfunction]
pub fn opus_factors(rate: &str) -> PyResult<(f64, f64, f64)> {
    let rate: Rate = rate.parse().map_err(|error| PyValueError::new_err(format!("{rate}: {error}")))?;
    let one = impairment::opus(rate, false);
    Ok((one.equipment, one.robustness, impairment::opus_copy(rate)))
}

/// Properties of all codecs, for receivers with or without loss concealment: one dictionary per codec, in the order of the scenario
/// schema. A codec without factors has None for `ie`, `bpl`, `assumed`, `determined` and `source`. `bpl` includes in-band FEC.
/// `bpl_without_fec` is None for codecs without FEC.
#[pyfunction]
#[pyo3(signature = (conceals = true))]
pub fn codecs(py: Python<'_>, conceals: bool) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let concealment = if conceals { Concealment::AppendixI } else { Concealment::None };
    Codec::ALL
        .into_iter()
        .map(|codec| {
            let (frame, time) = (codec.frame(), codec.default_packet_time());
            let payload = codec.payload(time.nanos() / frame.1.nanos());
            let wideband = impairment::wideband(codec, true);
            let factors = wideband.or(impairment::for_codec(codec, concealment));
            let known = PyDict::new(py);
            known.set_item("codec", codec.name())?;
            known.set_item("frame_ms", frame.1.millis())?;
            known.set_item("packet_ms", time.millis())?;
            known.set_item("payload", payload.get())?;
            known.set_item("rate_bps", payload.rate_over(time).bits_per_second())?;
            known.set_item("look_ahead_ms", codec.look_ahead().millis())?;
            known.set_item("format", codec.payload_format())?;
            known.set_item("wideband", wideband.is_some())?;
            known.set_item("ie", factors.map(|one| one.equipment))?;
            known.set_item("bpl", factors.map(|one| one.robustness))?;
            let without_fec = wideband.filter(|_| codec.is_opus()).and(impairment::wideband(codec, false));
            known.set_item("bpl_without_fec", without_fec.map(|one| one.robustness))?;
            known.set_item("assumed", factors.map(|one| one.origin == Origin::Assumed))?;
            known.set_item("determined", factors.map(|one| one.origin == Origin::Determined))?;
            known.set_item("source", factors.map(|one| one.source))?;
            Ok(known)
        })
        .collect()
}
