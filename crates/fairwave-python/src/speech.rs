//! Speech processing for samples that Python holds: little-endian bytes, 16 bits per sample.

use fairwave_core::speech::concealment;
use fairwave_core::speech::g711::Law;
use fairwave_core::speech::stretching::{self, Change};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

fn samples(bytes: &[u8]) -> PyResult<Vec<i16>> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    if !rest.is_empty() {
        return Err(PyValueError::new_err("samples are 16 bits each: an even number of bytes"));
    }
    Ok(pairs.iter().map(|pair| i16::from_le_bytes(*pair)).collect())
}

fn bytes<'py>(py: Python<'py>, samples: &[i16]) -> Bound<'py, PyBytes> {
    let all: Vec<u8> = samples.iter().flat_map(|sample| sample.to_le_bytes()).collect();
    PyBytes::new(py, &all)
}

/// The tables of a G.711 law, `u` or `a`: the code of each of the 65536 samples, indexed by the sample's bits, and the sample of
/// each of the 256 codes.
///
/// # Errors
/// `ValueError` for other laws.
#[pyfunction]
pub fn g711<'py>(py: Python<'py>, law: &str) -> PyResult<(Bound<'py, PyBytes>, Bound<'py, PyBytes>)> {
    let law = match law {
        "u" => Law::U,
        "a" => Law::A,
        _ => return Err(PyValueError::new_err(format!("G.711 law {law:?}: must be 'u' or 'a'"))),
    };
    let codes: Vec<u8> = (0..=u16::MAX).map(|bits| law.encode(bits as i16)).collect();
    let decoded: Vec<i16> = (0..=u8::MAX).map(|code| law.decode(code)).collect();
    Ok((PyBytes::new(py, &codes), bytes(py, &decoded)))
}

/// Conceals missing samples by G.711 Appendix I. `missing` has a byte per sample, 0 for a received sample.
///
/// # Errors
/// `ValueError` for an odd number of bytes.
#[pyfunction]
pub fn conceal<'py>(py: Python<'py>, samples: &[u8], missing: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    let line = self::samples(samples)?;
    let flags: Vec<bool> = missing.iter().map(|flag| *flag != 0).collect();
    let heard = py.detach(|| concealment::conceal(&line, &flags));
    Ok(bytes(py, &heard))
}

/// The pitch period that concealment estimates at the end of a signal, in samples.
#[pyfunction]
pub fn pitch_period(history: Vec<f64>) -> usize {
    concealment::pitch_period(&history)
}

/// The pitch period around the middle of a block of speech, in samples.
///
/// # Errors
/// `ValueError` for an odd number of bytes.
#[pyfunction]
pub fn stretched_period(block: &[u8]) -> PyResult<usize> {
    Ok(stretching::pitch_period(&samples(block)?))
}

/// The stretched speech, and its changes of length.
type StretchedSpeech<'py> = (Bound<'py, PyBytes>, Vec<(usize, i64)>);

/// Changes the tempo of speech. `changes` are positions with the number of samples to insert there, or to remove if negative.
/// `silences` are pairs of start and end of known silence.
///
/// # Errors
/// `ValueError` for an odd number of bytes.
#[pyfunction]
pub fn stretch<'py>(
    py: Python<'py>,
    line: &[u8],
    changes: Vec<(usize, i64)>,
    silences: Vec<(usize, usize)>,
) -> PyResult<StretchedSpeech<'py>> {
    let line = samples(line)?;
    let tempo = changes.into_iter().map(|(place, by)| (place, Change::Tempo(by)));
    let silent = silences.into_iter().map(|(first, end)| (first, Change::Silent(end)));
    let all: Vec<(usize, Change)> = tempo.chain(silent).collect();
    let (heard, edits) = py.detach(|| stretching::stretch(&line, &all));
    Ok((bytes(py, &heard), edits.changes().to_vec()))
}
