//! Playout of a call whose units were recorded. The law is core's; Python brings the times and hears the fates.

use fairwave_core::quality::playout::{self, Fate, PlayoutConfig, SpokenUnit};
use fairwave_core::units::{Instant, Span};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Fates and moments of playing, each unit's in little-endian bytes.
type Played<'py> = (Bound<'py, PyBytes>, Bound<'py, PyBytes>);

/// What becomes of each unit.
///
/// `created` and `arrived` hold nanoseconds as little-endian 64-bit numbers, all ones for never; `packet_time` is in
/// nanoseconds; `config` is a playout's table as JSON, the scenario's default if not given. Returns a byte per unit (0 played, 1 late,
/// 2 lost) and when it was or would have been played, in the form of `arrived`: never for lost units.
///
/// # Errors
/// `ValueError` when the columns do not match or the configuration cannot be used.
#[pyfunction]
#[pyo3(signature = (created, arrived, packet_time, config=None))]
pub fn play<'py>(
    py: Python<'py>,
    created: &[u8],
    arrived: &[u8],
    packet_time: u64,
    config: Option<&str>,
) -> PyResult<Played<'py>> {
    let refuse = |what: String| PyValueError::new_err(format!("playout: {what}"));
    let config: PlayoutConfig = match config {
        Some(text) => serde_json::from_str(text).map_err(|error| refuse(error.to_string()))?,
        None => PlayoutConfig::default(),
    };
    config.check().map_err(|error| refuse(error.to_string()))?;
    let (created, created_rest) = created.as_chunks::<8>();
    let (arrived, arrived_rest) = arrived.as_chunks::<8>();
    if created.len() != arrived.len() || !created_rest.is_empty() || !arrived_rest.is_empty() {
        return Err(refuse("created and arrived must hold as many 64-bit numbers".to_owned()));
    }
    let instant = |bytes: &[u8; 8]| match u64::from_le_bytes(*bytes) {
        u64::MAX => Instant::NEVER,
        nanos => Instant::from_nanos(nanos),
    };
    let units: Vec<SpokenUnit> = (created.iter().zip(arrived))
        .map(|(created, arrived)| SpokenUnit { created: instant(created), arrived: instant(arrived) })
        .collect();
    let fates = py.detach(|| playout::play(&units, Span::from_nanos(packet_time), &config));
    let mut codes = Vec::with_capacity(fates.len());
    let mut due = Vec::with_capacity(fates.len() * 8);
    for fate in fates {
        let (code, at) = match fate {
            Fate::Played(at) => (0, at.nanos()),
            Fate::Late(at) => (1, at.nanos()),
            Fate::Lost => (2, u64::MAX),
        };
        codes.push(code);
        due.extend_from_slice(&at.to_le_bytes());
    }
    Ok((PyBytes::new(py, &codes), PyBytes::new(py, &due)))
}
