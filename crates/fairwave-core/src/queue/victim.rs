//! Which packet goes, once a discipline has decided that one must: the victim rule.
//!
//! Paper 004 §3 names four rules: drop-tail, drop-front, drop-random and Drop-Sel. The arrival counts as waiting
//! when the victim is chosen (004: its class counter is updated on arrival), so every rule may choose it.
//!
//! [`Victim::VoiceGuard`] is an answer to 004 §4.4.1, which leaves as future work an automatic switch from Drop-Sel to
//! something else when voice dominates and its quality matters more than fairness.
//!
//! **Assumptions**, where 004 is silent: of classes that hold equally many bytes Drop-Sel takes from TCP before other
//! UDP before voice, since a loss tells TCP something and costs voice most. The packet in transmission is neither
//! counted nor chosen.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::buffer::{Buffer, Place};
use crate::packet::{Class, Packet};
use crate::random::Stream;
use crate::units::{Instant, Rate, Span};

/// Which packet goes when one must.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Victim {
    /// The arrival.
    #[default]
    Tail,
    /// The packet that has waited longest.
    Front,
    /// Any packet, the arrival included, with equal probability.
    Random,
    /// Paper 004 §3: the packet nearest the front of the class that holds most bytes of the queue. On equal bytes TCP goes
    /// before other UDP before voice.
    DropSel,
    /// Drop-Sel with an automatic switch for voice (fairwave's answer to paper 004 §4.4.1).
    ///
    /// **Rule.** The rate r at which voice arrives is averaged exponentially with time constant 1 s. As long as r is at most
    /// 1/3 of the link's rate, the fair quota of one of three classes, this is Drop-Sel. When r exceeds the quota, Drop-Sel
    /// would hold voice down to it; the guard closes instead, and the victim is the packet nearest the front of the heavier
    /// of the *other* two classes, voice only when nothing else waits. It opens again when r falls below 0.9 of the
    /// quota. While r exceeds the link's rate, voice alone is more than the link can carry and protecting it would only
    /// starve the others without making it whole, so Drop-Sel rules then, too, until r is below 0.9 of the link's rate.
    ///
    /// So voice may take what it needs up to the whole link, the others share the rest, and fairness returns by itself
    /// when voice no longer dominates. Both switches have hysteresis, lest a rate near a limit makes every packet a switch.
    VoiceGuard,
}

impl Victim {
    /// Every rule.
    pub const ALL: [Victim; 5] = [Victim::Tail, Victim::Front, Victim::Random, Victim::DropSel, Victim::VoiceGuard];
}

/// The victim rule at work.
#[derive(Clone, Debug)]
pub(super) enum Selector {
    Tail,
    Front,
    Random,
    DropSel,
    VoiceGuard(VoiceGuard),
}

impl Selector {
    pub fn new(victim: Victim, rate: Rate) -> Self {
        match victim {
            Victim::Tail => Selector::Tail,
            Victim::Front => Selector::Front,
            Victim::Random => Selector::Random,
            Victim::DropSel => Selector::DropSel,
            Victim::VoiceGuard => Selector::VoiceGuard(VoiceGuard::new(rate)),
        }
    }

    /// Sees every packet that arrives, dropped or not.
    #[inline]
    pub fn arrival(&mut self, now: Instant, packet: &Packet) {
        if let Selector::VoiceGuard(guard) = self {
            guard.arrival(now, packet);
        }
    }

    /// The packet to drop; the arrival waits at the back already. `None` only from an empty buffer.
    #[inline]
    pub fn choose(&self, buffer: &Buffer, stream: &mut Stream) -> Option<Place> {
        match self {
            Selector::Tail => buffer.back(),
            Selector::Front => buffer.front(),
            Selector::Random => buffer.any(stream.below(u64::from(buffer.total().packets))),
            Selector::DropSel => front_of_heaviest(buffer, &[Class::Tcp, Class::OtherUdp, Class::Voice]),
            Selector::VoiceGuard(guard) if guard.closed => {
                front_of_heaviest(buffer, &[Class::Tcp, Class::OtherUdp]).or_else(|| buffer.front())
            }
            Selector::VoiceGuard(_) => front_of_heaviest(buffer, &[Class::Tcp, Class::OtherUdp, Class::Voice]),
        }
    }
}

/// The packet nearest the front of the class with most bytes; the earlier in the list on equal bytes.
fn front_of_heaviest(buffer: &Buffer, classes: &[Class]) -> Option<Place> {
    let mut heaviest = None;
    let mut most = 0;
    for &class in classes {
        let bytes = buffer.of(class).bytes;
        if bytes > most || heaviest.is_none() {
            (heaviest, most) = (Some(class), bytes);
        }
    }
    buffer.front_of(heaviest?)
}

/// The state of [`Victim::VoiceGuard`].
#[derive(Clone, Debug)]
pub(super) struct VoiceGuard {
    /// Bytes per second of the link.
    link: f64,
    /// Bytes per second of voice, averaged, as of `updated`.
    voice: f64,
    updated: Instant,
    /// Voice exceeds its quota.
    dominates: bool,
    /// Voice exceeds the link.
    hopeless: bool,
    /// Voice is protected: it dominates and the link can carry it.
    closed: bool,
}

impl VoiceGuard {
    /// Time constant of the average: long against a talker's packet spacing, short against a call.
    const MEMORY: Span = Span::from_secs(1);
    /// The fair part of the link for one of three classes (004 §4.4.1: 33.33 %).
    const QUOTA: f64 = 1.0 / 3.0;
    /// A switch turns back at this part of the rate at which it turned.
    const RELEASE: f64 = 0.9;

    fn new(rate: Rate) -> Self {
        let link = rate.bits_per_second() as f64 / 8.0;
        VoiceGuard { link, voice: 0.0, updated: Instant::ZERO, dominates: false, hopeless: false, closed: false }
    }

    fn arrival(&mut self, now: Instant, packet: &Packet) {
        // Exponentially weighted: r(t) = Σ size·exp(−(t − tᵢ)/T)/T, brought up to date lazily.
        let memory = Self::MEMORY.seconds();
        self.voice *= libm::exp(-now.since(self.updated).seconds() / memory);
        self.updated = now;
        if packet.class == Class::Voice {
            self.voice += f64::from(packet.wire) / memory;
        }
        self.dominates = Self::switch(self.dominates, self.voice, Self::QUOTA * self.link);
        self.hopeless = Self::switch(self.hopeless, self.voice, self.link);
        self.closed = self.dominates && !self.hopeless;
    }

    fn switch(on: bool, value: f64, limit: f64) -> bool {
        value > if on { Self::RELEASE * limit } else { limit }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{feed, packet, stream};
    use super::*;

    fn buffer(packets: &[(u32, u16, Class)]) -> Buffer {
        let mut buffer = Buffer::with_capacity(8);
        for &(flow, size, class) in packets {
            buffer.push(Instant::ZERO, packet(flow, size, class));
        }
        buffer
    }

    fn chosen(victim: Victim, buffer: &Buffer) -> Option<u32> {
        let selector = Selector::new(victim, Rate::from_bits_per_second(1_000_000));
        selector.choose(buffer, &mut stream()).map(|place| buffer.packet(place).flow.0)
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

    #[test]
    fn random_chooses_every_packet_equally_often() {
        let queue =
            buffer(&[(0, 100, Class::Tcp), (1, 1500, Class::Voice), (2, 40, Class::Tcp), (3, 9, Class::OtherUdp)]);
        let (mut stream, mut times) = (stream(), [0u32; 4]);
        for _ in 0..40_000 {
            if let Some(place) = Selector::Random.choose(&queue, &mut stream) {
                times[queue.packet(place).flow.0 as usize] += 1;
            }
        }
        assert!(times.iter().all(|&n| n.abs_diff(10_000) < 400), "{times:?}");
    }

    /// A guard on a 1 Mb/s link that has heard voice at `share` of the link's rate for `seconds` more.
    fn hear(guard: &mut VoiceGuard, from: Instant, share: f64, seconds: f64) -> Instant {
        let size = 250;
        let spacing = f64::from(size) * 8.0 / (share * 1e6);
        feed(from, seconds, spacing, |now| guard.arrival(now, &packet(1, size, Class::Voice)))
    }

    #[test]
    fn the_guard_closes_above_a_third_of_the_link_and_opens_when_voice_recedes() {
        let mut guard = VoiceGuard::new(Rate::from_bits_per_second(1_000_000));
        let now = hear(&mut guard, Instant::ZERO, 0.30, 10.0);
        assert!(!guard.closed, "below the quota it is Drop-Sel");
        let now = hear(&mut guard, now, 0.50, 10.0);
        assert!(guard.closed, "above the quota voice is protected");
        let now = hear(&mut guard, now, 0.32, 10.0);
        assert!(guard.closed, "just below the quota it does not flap");
        hear(&mut guard, now, 0.25, 10.0);
        assert!(!guard.closed, "well below the quota fairness returns");
    }

    #[test]
    fn the_guard_does_not_protect_voice_that_the_link_cannot_carry() {
        let mut guard = VoiceGuard::new(Rate::from_bits_per_second(1_000_000));
        let now = hear(&mut guard, Instant::ZERO, 1.2, 10.0);
        assert!(guard.dominates && !guard.closed);
        hear(&mut guard, now, 0.7, 10.0);
        assert!(guard.closed);
    }

    #[test]
    fn the_closed_guard_drops_from_the_others_and_from_voice_only_when_alone() {
        let mut guard = VoiceGuard::new(Rate::from_bits_per_second(1_000_000));
        hear(&mut guard, Instant::ZERO, 0.6, 10.0);
        let guard = Selector::VoiceGuard(guard);
        let taken = |queue: &Buffer| guard.choose(queue, &mut stream()).map(|place| queue.packet(place).flow.0);
        assert_eq!(
            taken(&buffer(&[(1, 1500, Class::Voice), (2, 100, Class::Tcp), (3, 200, Class::OtherUdp)])),
            Some(3)
        );
        assert_eq!(taken(&buffer(&[(1, 1500, Class::Voice), (2, 1500, Class::Voice)])), Some(1));
    }
}
