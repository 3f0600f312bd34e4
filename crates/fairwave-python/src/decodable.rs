//! Which frames of a video can be decoded. The law is core's; Python brings what was received.

use fairwave_core::quality::decodable::{self, ReceivedFrame};
use fairwave_core::traffic::FrameType;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The layers in which each frame can be decoded.
///
/// `kinds` holds a letter per frame, I, P or B, in the order in which they are shown; `layers` how many of its layers arrived
/// in time, counted from the base.
///
/// # Errors
/// `ValueError` when there is another letter, or not as many of both.
#[pyfunction]
pub fn decodable_layers(kinds: &str, layers: Vec<u8>) -> PyResult<Vec<u8>> {
    let refuse = |what: String| PyValueError::new_err(format!("decodable_layers: {what}"));
    if kinds.chars().count() != layers.len() {
        return Err(refuse(format!("{} kinds for {} frames", kinds.chars().count(), layers.len())));
    }
    let frames: PyResult<Vec<ReceivedFrame>> = (kinds.chars().zip(layers))
        .map(|(letter, layers)| {
            let frame_type = match letter {
                'I' => FrameType::I,
                'P' => FrameType::P,
                'B' => FrameType::B,
                other => return Err(refuse(format!("{other:?} is none of I, P and B"))),
            };
            Ok(ReceivedFrame { frame_type, layers })
        })
        .collect();
    Ok(decodable::decodable_layers(&frames?))
}
