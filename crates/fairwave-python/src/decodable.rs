//! Which frames of a video can be decoded. The law is core's; Python brings what was received.

use fairwave_core::quality::decodable::{self, ReceivedFrame};
use fairwave_core::traffic::{FrameType, LayerRates};
use fairwave_core::units::Instant;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The layers in which each frame can be decoded when it is shown.
///
/// `kinds` holds a letter per frame, I, P or B, in the order in which they are shown. `shown` holds when each is, `arrived` when
/// each of its `layers` layers was complete, base first, frame after frame: nanoseconds as little-endian 64-bit numbers,
/// all ones for never.
///
/// # Errors
/// `ValueError` when there is another letter, the columns do not match, or a frame has no layer or more than eight.
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
