//! Decodable frames of a video, for arrival times that Python holds. The law is in `fairwave-core`.

use fairwave_core::quality::decodable::{self, ReceivedFrame};
use fairwave_core::traffic::{FrameType, LayerRates};
use fairwave_core::units::Instant;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Returns the number of layers in which each frame can be decoded at its display time.
///
/// `kinds` holds a letter per frame, I, P or B, in display order. `shown` holds the display times. `arrived` holds the times at
/// which each of a frame's `layers` layers was complete, base layer first, frame by frame. Times are nanoseconds as little-endian
/// 64-bit numbers, all ones for never.
///
/// # Errors
/// `ValueError` for another letter, for columns of different lengths, and for fewer than one or more than eight layers.
#[pyfunction]
pub fn decodable_layers(kinds: &str, shown: &[u8], arrived: &[u8], layers: usize) -> PyResult<Vec<u8>> {
    let refuse = |what: String| PyValueError::new_err(format!("decodable_layers: {what}"));
    if layers == 0 || layers > LayerRates::MOST {
        return Err(refuse(format!("layers is {layers}, but must be from 1 to {}", LayerRates::MOST)));
    }
    let (frames, (shown, shown_rest), (arrived, arrived_rest)) =
        (kinds.chars().count(), shown.as_chunks::<8>(), arrived.as_chunks::<8>());
    let whole = shown_rest.is_empty() && arrived_rest.is_empty();
    if !whole || shown.len() != frames || arrived.len() != frames * layers {
        let found = format!("{frames} kinds, {} moments of showing, {} arrivals", shown.len(), arrived.len());
        return Err(refuse(format!(
            "{found}, but must be as many of the first two, and of the third {layers} times as many"
        )));
    }
    let instant = |bytes: &[u8; 8]| match u64::from_le_bytes(*bytes) {
        u64::MAX => Instant::NEVER,
        nanos => Instant::from_nanos(nanos),
    };
    let received: PyResult<Vec<ReceivedFrame>> = (kinds.chars().zip(shown).zip(arrived.chunks(layers)))
        .map(|((letter, shown), arrivals)| {
            let frame_type = match letter {
                'I' => FrameType::I,
                'P' => FrameType::P,
                'B' => FrameType::B,
                other => return Err(refuse(format!("{other:?} is none of I, P and B"))),
            };
            let mut arrived = [Instant::NEVER; LayerRates::MOST];
            arrived.iter_mut().zip(arrivals).for_each(|(slot, bytes)| *slot = instant(bytes));
            Ok(ReceivedFrame { frame_type, shown: instant(shown), arrived })
        })
        .collect();
    Ok(decodable::decodable_layers(&received?))
}
