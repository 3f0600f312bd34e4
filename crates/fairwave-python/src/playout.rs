//! Playout of a call with recorded units. The law is in `fairwave-core`. Python passes the times and receives the fates.

use fairwave_core::quality::playout::neteq::Piece;
use fairwave_core::quality::playout::{self, PlayoutConfig, SpokenUnit, UnitFate};
use fairwave_core::units::{Instant, Span};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Played audio: its start in nanoseconds, and each piece's kind and value as little-endian bytes.
type PlayedPieces<'py> = (u64, Bound<'py, PyBytes>, Bound<'py, PyBytes>);

/// Fates and playing times of all units as little-endian bytes, and the played pieces if the playout stretches speech.
type PlayoutResult<'py> = (Bound<'py, PyBytes>, Bound<'py, PyBytes>, Option<PlayedPieces<'py>>);

/// Returns the fate of each unit.
///
/// `created` and `arrived` hold nanoseconds as little-endian 64-bit numbers, all ones for never. `packet_time` is in nanoseconds.
/// `config` is a playout table as JSON (default: the scenario language's default). Returns a byte per unit (0 played, 1 late, 2
/// lost) and its playing time, or for late units the time at which it was due, in the form of `arrived` (never for lost units). For
/// a jitter buffer that stretches speech, it also returns the continuous sequence of played pieces and its start in nanoseconds.
/// Each piece has a byte (0 unit, 1 shortened, 2 lengthened, 3 concealed, 4 silence) and a 64-bit number: the unit's index, or a
/// length in nanoseconds.
///
/// # Errors
/// `ValueError` if the columns have different lengths or the configuration is invalid.
#[pyfunction]
#[pyo3(signature = (created, arrived, packet_time, config=None))]
pub fn play<'py>(
    py: Python<'py>,
    created: &[u8],
    arrived: &[u8],
    packet_time: u64,
    config: Option<&str>,
) -> PyResult<PlayoutResult<'py>> {
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
    let packet_time = Span::from_nanos(packet_time);
    let (fates, heard) = py.detach(|| match &config {
        PlayoutConfig::Neteq(config) => {
            let heard = playout::timeline(&units, packet_time, config);
            (heard.fates, Some((heard.begins, heard.pieces)))
        }
        _ => (playout::play(&units, packet_time, &config), None),
    });
    let (codes, due) = pack_columns(fates.into_iter().map(|fate| match fate {
        UnitFate::Played(at) => (0, at.nanos()),
        UnitFate::Late(at) => (1, at.nanos()),
        UnitFate::Lost => (2, u64::MAX),
    }));
    let heard = heard.map(|(begins, pieces)| {
        let (kinds, values) = pack_columns(pieces.into_iter().map(|piece| match piece {
            Piece::Unit(unit) => (0, unit as u64),
            Piece::Shortened(span) => (1, span.nanos()),
            Piece::Lengthened(span) => (2, span.nanos()),
            Piece::Concealed(span) => (3, span.nanos()),
            Piece::Silence(span) => (4, span.nanos()),
        }));
        (begins.nanos(), PyBytes::new(py, &kinds), PyBytes::new(py, &values))
    });
    Ok((PyBytes::new(py, &codes), PyBytes::new(py, &due), heard))
}

fn pack_columns(rows: impl Iterator<Item = (u8, u64)>) -> (Vec<u8>, Vec<u8>) {
    let (mut codes, mut values) = (Vec::new(), Vec::new());
    for (code, value) in rows {
        codes.push(code);
        values.extend_from_slice(&value.to_le_bytes());
    }
    (codes, values)
}
