//! Selection of the video units to send for a requested number of layers. All transports that adapt share this rule.
//!
//! For cumulative layers (paper 002 §3.3), the sender sends the layers below the requested number, from the next
//! unit on. For versions of the whole video (simulcast), it sends the requested version, from the next intra-coded
//! frame on. A decoder cannot use a frame that refers to a frame of another version.

use fairwave_media::traffic::{FrameType, LayerRates, Unit};

/// State: the version being sent.
#[derive(Clone, Copy, Debug, Default)]
pub struct Subscription {
    version: u8,
}

impl Subscription {
    /// True if the sender sends this unit when `asked` layers, or the version with that number, are requested. At
    /// least one layer is always sent.
    pub fn takes(&mut self, layers: &LayerRates, asked: u8, unit: &Unit) -> bool {
        if layers.count() == 0 {
            return true;
        }
        let asked = asked.max(1);
        if !layers.are_versions() {
            return unit.layer < asked;
        }
        let begins_group = unit.layer == 0 && matches!(unit.frame_type, FrameType::I | FrameType::None);
        if begins_group || self.version == 0 {
            self.version = asked;
        }
        unit.layer + 1 == self.version
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwave_units::units::{Instant, Rate};

    fn unit(layer: u8, frame_type: FrameType) -> Unit {
        Unit { id: 0, payload: 1, created: Instant::ZERO, layer, frame_type }
    }

    fn rates() -> [Rate; 3] {
        [100, 200, 300].map(Rate::from_bits_per_second)
    }

    /// The layers of a frame's three units that are sent.
    fn sent_layers(subscription: &mut Subscription, layers: &LayerRates, asked: u8, frame_type: FrameType) -> Vec<u8> {
        (0..3).filter(|&layer| subscription.takes(layers, asked, &unit(layer, frame_type))).collect()
    }

    #[test]
    fn layers_are_sent_up_to_the_number_asked_for_and_the_base_always() {
        let (layers, mut subscription) = (LayerRates::new(&rates()).expect("layers"), Subscription::default());
        for (asked, sent) in [(0, vec![0]), (1, vec![0]), (2, vec![0, 1]), (3, vec![0, 1, 2])] {
            assert_eq!(sent_layers(&mut subscription, &layers, asked, FrameType::P), sent);
        }
    }

    #[test]
    fn versions_change_at_the_next_i_frame() {
        let (layers, mut subscription) = (LayerRates::versions(&rates()).expect("versions"), Subscription::default());
        assert_eq!(sent_layers(&mut subscription, &layers, 2, FrameType::I), [1]);
        assert_eq!(sent_layers(&mut subscription, &layers, 3, FrameType::P), [1], "P refers to the second version");
        assert_eq!(sent_layers(&mut subscription, &layers, 1, FrameType::B), [1]);
        assert_eq!(sent_layers(&mut subscription, &layers, 3, FrameType::I), [2]);
        assert_eq!(sent_layers(&mut subscription, &layers, 0, FrameType::I), [0]);
    }

    #[test]
    fn video_without_layers_is_sent() {
        assert!(Subscription::default().takes(&LayerRates::default(), 0, &unit(0, FrameType::None)));
    }
}
