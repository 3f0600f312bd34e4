//! Victim rules: choose the packet to drop after a discipline has decided that one must be dropped.
//!
//! Paper 004 §3 names four rules: drop-tail, drop-front, drop-random and Drop-Sel. The arrival counts as waiting
//! when the victim is chosen (004: its class counter is updated on arrival), so every rule may choose it.
//!
//! [`Victim::VoiceGuard`] is an addition of fairwave, see [`VoiceGuardConfig`].
//!
//! [`Victim::HighestLayer`] is the prioritised transmission of paper 002 §3.3: routers discard the less important
//! layers of a video first.
//!
//! **Assumptions** beyond 004: if classes hold equally many bytes, Drop-Sel drops TCP before other UDP before voice. TCP
//! responds to a loss, and voice suffers most from it. The packet in transmission is neither counted nor chosen. 002 does
//! not define which packet of a layer is discarded. Here it is the newest, so that a queue without enhancement layers is
//! drop-tail. 002 also does not define the rank of other traffic; here it ranks with the base layer.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::buffer::{Buffer, Place};
use super::voice_guard::{VoiceGuard, VoiceGuardConfig};
use crate::packet::{Class, Packet};
use fairwave_units::config::ConfigError;
use fairwave_units::random::Stream;
use fairwave_units::units::{Instant, Rate};

/// The victim rule: which packet is discarded when one must be. Written by its name, `"drop-sel"`, or as a table with
/// `rule` and parameters: `{ rule = "voice-guard", quota = 0.4 }`.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub enum Victim {
    /// The arrival.
    #[default]
    Tail,
    /// The packet that has waited longest.
    Front,
    /// Any packet, the arrival included, with equal probability.
    Random,
    /// Paper 004 §3: the packet nearest the front of the class with the most bytes in the queue. On equal bytes, TCP is
    /// dropped before other UDP before voice.
    DropSel,
    /// Drop-Sel with an automatic switch for voice (fairwave's answer to paper 004 §4.4.1): see [`VoiceGuardConfig`].
    VoiceGuard(VoiceGuardConfig),
    /// Paper 002 §3.3: the newest packet of the highest waiting video layer. The base layer and all other traffic are
    /// dropped only if no enhancement layer waits; then it is the arrival.
    HighestLayer,
}

impl Victim {
    /// All rules with default parameters.
    pub const ALL: [Victim; 6] = [
        Victim::Tail,
        Victim::Front,
        Victim::Random,
        Victim::DropSel,
        Victim::VoiceGuard(VoiceGuardConfig::DEFAULT),
        Victim::HighestLayer,
    ];

    const NAMES: [&'static str; 6] = ["tail", "front", "random", "drop-sel", "voice-guard", "highest-layer"];

    /// Checks the ranges of the rule's parameters.
    ///
    /// # Errors
    /// The first key whose value is not allowed.
    pub fn check(&self) -> Result<(), ConfigError> {
        match self {
            Victim::VoiceGuard(config) => config.check().map_err(|error| error.nested_in("victim")),
            _ => Ok(()),
        }
    }

    fn named<E: serde::de::Error>(name: &str) -> Result<Victim, E> {
        let found = Self::NAMES.iter().zip(Self::ALL).find(|(known, _)| **known == name);
        found.map(|(_, victim)| victim).ok_or_else(|| E::unknown_variant(name, &Self::NAMES))
    }
}

/// Table form of [`Victim`].
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(tag = "rule", rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(rename = "VictimTable")]
enum Table {
    /// The arrival.
    Tail {},
    /// The packet that has waited longest.
    Front {},
    /// Any packet.
    Random {},
    /// The packet nearest the front of the class that holds most bytes (paper 004 §3).
    DropSel {},
    /// Drop-Sel with an automatic switch for voice.
    VoiceGuard(VoiceGuardConfig),
    /// The newest packet of the highest video layer (paper 002 §3.3).
    HighestLayer {},
}

impl Serialize for Victim {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let name = match self {
            Victim::Tail => "tail",
            Victim::Front => "front",
            Victim::Random => "random",
            Victim::DropSel => "drop-sel",
            Victim::HighestLayer => "highest-layer",
            Victim::VoiceGuard(config) if *config == VoiceGuardConfig::DEFAULT => "voice-guard",
            Victim::VoiceGuard(config) => return Table::VoiceGuard(*config).serialize(serializer),
        };
        serializer.serialize_str(name)
    }
}

impl<'de> Deserialize<'de> for Victim {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Forms;
        impl<'de> serde::de::Visitor<'de> for Forms {
            type Value = Victim;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a victim rule, or a table with `rule`")
            }
            fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<Victim, E> {
                Victim::named(name)
            }
            fn visit_map<M: serde::de::MapAccess<'de>>(self, map: M) -> Result<Victim, M::Error> {
                Ok(match Table::deserialize(MapAccessDeserializer::new(map))? {
                    Table::Tail {} => Victim::Tail,
                    Table::Front {} => Victim::Front,
                    Table::Random {} => Victim::Random,
                    Table::DropSel {} => Victim::DropSel,
                    Table::VoiceGuard(config) => Victim::VoiceGuard(config),
                    Table::HighestLayer {} => Victim::HighestLayer,
                })
            }
        }
        deserializer.deserialize_any(Forms)
    }
}

impl JsonSchema for Victim {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Victim".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let table = generator.subschema_for::<Table>();
        json_schema!({
            "description": "Which packet is discarded when one must be: the name of a rule, or a table with `rule` and its parameters.",
            "anyOf": [{ "type": "string", "enum": Self::NAMES }, table],
        })
    }
}

/// State of a victim rule.
#[derive(Clone, Debug)]
pub(super) enum Selector {
    Tail,
    Front,
    Random,
    DropSel,
    VoiceGuard(VoiceGuard),
    HighestLayer,
}

impl Selector {
    pub fn new(victim: Victim, rate: Rate) -> Self {
        match victim {
            Victim::Tail => Selector::Tail,
            Victim::Front => Selector::Front,
            Victim::Random => Selector::Random,
            Victim::DropSel => Selector::DropSel,
            Victim::VoiceGuard(config) => Selector::VoiceGuard(VoiceGuard::new(&config, rate)),
            Victim::HighestLayer => Selector::HighestLayer,
        }
    }

    /// Observes every arrival, including dropped ones.
    #[inline]
    pub fn arrival(&mut self, now: Instant, packet: &Packet) {
        if let Selector::VoiceGuard(guard) = self {
            guard.arrival(now, packet);
        }
    }

    /// Handles a change of the link's rate.
    pub fn rate_changed(&mut self, now: Instant, rate: Rate) {
        if let Selector::VoiceGuard(guard) = self {
            guard.rate_changed(now, rate);
        }
    }

    /// The packet to drop; the arrival is already at the back. `None` only for an empty buffer.
    #[inline]
    pub fn choose(&self, buffer: &Buffer, stream: &mut Stream) -> Option<Place> {
        match self {
            Selector::Tail => buffer.back(),
            Selector::Front => buffer.front(),
            Selector::Random => buffer.pick(stream.uniform_below(u64::from(buffer.total().packets))),
            Selector::DropSel => front_of_heaviest(buffer, &[Class::Tcp, Class::OtherUdp, Class::Voice]),
            Selector::HighestLayer => buffer.back_of_highest_layer(),
            Selector::VoiceGuard(guard) if guard.is_closed() => {
                front_of_heaviest(buffer, &[Class::Tcp, Class::OtherUdp]).or_else(|| buffer.front())
            }
            Selector::VoiceGuard(_) => front_of_heaviest(buffer, &[Class::Tcp, Class::OtherUdp, Class::Voice]),
        }
    }
}

/// The packet nearest the front of the class with the most bytes; on equal bytes, of the class that is listed first.
fn front_of_heaviest(buffer: &Buffer, classes: &[Class]) -> Option<Place> {
    let mut heaviest = None;
    let mut most = 0;
    for &class in classes {
        let bytes = buffer.class_tally(class).bytes;
        if bytes > most || heaviest.is_none() {
            (heaviest, most) = (Some(class), bytes);
        }
    }
    buffer.front_of(heaviest?)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{feed, packet, stream};
    use super::*;

    #[test]
    fn a_rule_is_written_by_its_name_and_a_switch_that_was_set_as_a_table() {
        for (name, victim) in Victim::NAMES.iter().zip(Victim::ALL) {
            assert_eq!(serde_json::to_value(victim).expect("serializes"), *name);
            assert_eq!(serde_json::from_value::<Victim>((*name).into()).expect("a name"), victim);
        }
        let set = Victim::VoiceGuard(VoiceGuardConfig { quota: 0.5, ..VoiceGuardConfig::DEFAULT });
        assert!(serde_json::to_value(set).expect("serializes").is_object());
    }

    #[test]
    fn checks_and_names_the_setting_of_a_switch() {
        let wrong = Victim::VoiceGuard(VoiceGuardConfig { quota: -1.0, ..VoiceGuardConfig::DEFAULT });
        assert!(wrong.check().expect_err("out of range").to_string().contains("victim.quota"));
        assert_eq!(Victim::DropSel.check(), Ok(()));
    }

    fn buffer(packets: &[(u32, u16, Class)]) -> Buffer {
        let mut buffer = Buffer::with_capacity(8);
        for &(flow, size, class) in packets {
            buffer.push(Instant::ZERO, packet(flow, size, class));
        }
        buffer
    }

    fn chosen(victim: Victim, buffer: &Buffer) -> Option<u32> {
        let selector = Selector::new(victim, Rate::from_bits_per_second(1_000_000));
        selector.choose(buffer, &mut stream()).and_then(|place| buffer.packet(place)).map(|packet| packet.flow.0)
    }

    #[test]
    fn drop_sel_takes_the_front_most_packet_of_the_class_with_most_bytes() {
        // Voice has the most packets, other UDP the most bytes: bytes decide.
        let queue = buffer(&[
            (1, 92, Class::Voice),
            (2, 1500, Class::Tcp),
            (3, 1500, Class::OtherUdp),
            (4, 92, Class::Voice),
            (5, 92, Class::Voice),
            (6, 1500, Class::OtherUdp),
        ]);
        assert_eq!(chosen(Victim::DropSel, &queue), Some(3));
    }

    #[test]
    fn drop_sel_spares_voice_on_equal_bytes() {
        assert_eq!(chosen(Victim::DropSel, &buffer(&[(1, 500, Class::Voice), (2, 500, Class::OtherUdp)])), Some(2));
        assert_eq!(chosen(Victim::DropSel, &buffer(&[(1, 500, Class::OtherUdp), (2, 500, Class::Tcp)])), Some(2));
    }

    #[test]
    fn front_and_tail_take_the_ends_and_nothing_comes_from_an_empty_queue() {
        let queue = buffer(&[(1, 100, Class::Tcp), (2, 100, Class::Tcp), (3, 100, Class::Tcp)]);
        assert_eq!(chosen(Victim::Front, &queue), Some(1));
        assert_eq!(chosen(Victim::Tail, &queue), Some(3));
        for victim in Victim::ALL {
            assert_eq!(chosen(victim, &buffer(&[])), None, "{victim:?}");
        }
    }

    fn layered(layers: &[u8]) -> Buffer {
        let mut buffer = Buffer::with_capacity(8);
        for (flow, &layer) in layers.iter().enumerate() {
            buffer.push(Instant::ZERO, Packet { layer, ..packet(flow as u32, 1000, Class::OtherUdp) });
        }
        buffer
    }

    #[test]
    fn the_newest_packet_of_the_highest_layer_goes_first_and_the_base_layer_last() {
        let mut buffer = layered(&[0, 2, 4, 1, 4, 0]);
        let mut gone = Vec::new();
        while let Some(place) = Selector::HighestLayer.choose(&buffer, &mut stream()) {
            gone.extend(buffer.remove(place).map(|packet| packet.flow.0));
        }
        assert_eq!(gone, [4, 2, 1, 3, 5, 0]);
    }

    #[test]
    fn highest_layer_rule_is_drop_tail_without_enhancement_layers() {
        let queue = layered(&[0, 0, 0]);
        assert_eq!(chosen(Victim::HighestLayer, &queue), chosen(Victim::Tail, &queue));
    }

    #[test]
    fn random_chooses_every_packet_equally_often() {
        let queue =
            buffer(&[(0, 100, Class::Tcp), (1, 1500, Class::Voice), (2, 40, Class::Tcp), (3, 9, Class::OtherUdp)]);
        let (mut stream, mut times) = (stream(), [0u32; 4]);
        for _ in 0..40_000 {
            if let Some(packet) = Selector::Random.choose(&queue, &mut stream).and_then(|place| queue.packet(place)) {
                times[packet.flow.0 as usize] += 1;
            }
        }
        assert!(times.iter().all(|&n| n.abs_diff(10_000) < 400), "{times:?}");
    }

    #[test]
    fn the_closed_guard_drops_from_the_others_and_from_voice_only_when_alone() {
        let mut guard = VoiceGuard::new(&VoiceGuardConfig::DEFAULT, Rate::from_bits_per_second(1_000_000));
        // 250 bytes every 3.3 ms: 0.6 of the link.
        feed(Instant::ZERO, 10.0, 1.0 / 300.0, |now| guard.arrival(now, &packet(1, 250, Class::Voice)));
        let guard = Selector::VoiceGuard(guard);
        let taken = |queue: &Buffer| {
            guard.choose(queue, &mut stream()).and_then(|place| queue.packet(place)).map(|packet| packet.flow.0)
        };
        assert_eq!(
            taken(&buffer(&[(1, 1500, Class::Voice), (2, 100, Class::Tcp), (3, 200, Class::OtherUdp)])),
            Some(3)
        );
        assert_eq!(taken(&buffer(&[(1, 1500, Class::Voice), (2, 1500, Class::Voice)])), Some(1));
    }
}
