//! CAKE's ACK filter: of the pure acknowledgements of a connection that wait in one queue, those that say nothing new go.
//!
//! Follows `cake_ack_filter` of Linux' `sch_cake` (`ack-filter`, `ack-filter-aggressive`). An arriving acknowledgement triggers the filter. An earlier one of
//! its connection may be dropped when all of these hold:
//!
//! - it acknowledges no more, and its timestamp echo is no later;
//! - the arrival repeats what it acknowledges selectively (RFC 2018), and says more: a higher acknowledgement or a larger selective one. Duplicate
//!   acknowledgements so stay, and so do reports of duplicates (RFC 2883);
//! - it does not open the connection, and carries nothing that the filter does not know: TCP-Real's rate, the counts of marks of RFC 9768.
//!
//! `conservative` drops the first of two such acknowledgements, so one always stays ahead of the arrival. `aggressive` also drops a single one that
//! stands right before the arrival. Neither drops an acknowledgement when the flag ECE changes right behind it, because the change is the information.
//! One arrival drops at most one acknowledgement.
//!
//! **Deviations.** Work per packet is bounded: the filter looks at the newest [`REACH`] packets of the queue, Linux at all of them. Selective
//! acknowledgements are compared in segments, timestamps in nanoseconds. TCP's segments have a fixed direction here, so an acknowledgement
//! never carries data, and data never triggers the filter. A receiver that counts marks (RFC 9768) is known by its first mark only.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::buffer::{Buffer, Place};
use crate::packet::{Body, FlowId, Packet, SackBlock};
use fairwave_units::units::Instant;

/// Which acknowledgements of TCP are dropped while later ones of the same connection wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AckFilter {
    /// None.
    #[default]
    None,
    /// Those that two later ones make redundant.
    Conservative,
    /// Also those that the next one makes redundant.
    Aggressive,
}

/// Packets of a queue, the arrival not counted, that the filter looks at: the newest.
pub const REACH: usize = 64;

/// An acknowledgement, as the filter reads it.
#[derive(Clone, Copy)]
struct Ack {
    flow: FlowId,
    next: u32,
    echo: Instant,
    /// ECE, and the count of marks.
    congestion: (bool, u32),
    /// It carries only what the filter knows, and does not open the connection.
    plain: bool,
    sack: [SackBlock; 3],
}

/// `a` is later than `b`, of numbers that wrap around.
fn after(a: u32, b: u32) -> bool {
    (b.wrapping_sub(a) as i32) < 0
}

fn segments(block: SackBlock) -> u64 {
    u64::from(block.end.wrapping_sub(block.first))
}

impl Ack {
    fn of(packet: &Packet) -> Option<Self> {
        let Body::Ack { next, echo, rate, congestion_echo, marked, sack, .. } = packet.body else { return None };
        let plain = next > 1 && rate == 0.0 && marked == 0;
        Some(Ack { flow: packet.flow, next, echo, congestion: (congestion_echo, marked), plain, sack })
    }

    fn blocks(&self) -> impl Iterator<Item = SackBlock> + '_ {
        self.sack.iter().copied().filter(|block| block.first != block.end)
    }

    fn selective(&self) -> u64 {
        self.blocks().map(segments).sum()
    }

    /// `later` repeats every block of this one, and this one reports no duplicate.
    fn is_covered_by(&self, later: &Ack) -> bool {
        self.blocks().all(|block| {
            let within = |wider: SackBlock| !after(wider.first, block.first) && !after(block.end, wider.end);
            !after(self.next, block.first) && later.blocks().any(within)
        })
    }

    /// Nothing is lost when this one goes and `later` comes.
    fn is_redundant_to(&self, later: &Ack) -> bool {
        self.plain
            && !after(self.next, later.next)
            && self.echo <= later.echo
            && self.is_covered_by(later)
            && (self.next != later.next || later.selective() > self.selective())
    }
}

impl AckFilter {
    /// Nothing is filtered.
    pub const fn is_none(&self) -> bool {
        matches!(self, AckFilter::None)
    }

    /// The acknowledgement that goes now that the last packet of a queue has come; none if none does.
    pub fn redundant(self, buffer: &Buffer, bin: u32) -> Option<Place> {
        let arrival = buffer.back_of_bin(bin)?;
        let trigger = Ack::of(buffer.packet(arrival)?).filter(|ack| ack.next > 1)?;
        let mut places = [arrival; REACH];
        let mut reached = 0;
        let mut place = arrival;
        while let Some(before) = places.get_mut(reached)
            && let Some(earlier) = buffer.before_in_bin(place)
        {
            (*before, place) = (earlier, earlier);
            reached += 1;
        }
        // From the head on: the first that may go, while none behind it says otherwise of congestion.
        let mut found: Option<(Place, (bool, u32))> = None;
        for &place in places[..reached].iter().rev() {
            let ack = buffer.packet(place).and_then(Ack::of).filter(|ack| ack.flow == trigger.flow);
            let Some(ack) = ack else { continue };
            if found.is_some_and(|(_, congestion)| congestion != ack.congestion) {
                found = None;
            }
            if !ack.is_redundant_to(&trigger) {
                continue;
            }
            if let Some((first, _)) = found {
                return Some(first);
            }
            found = Some((place, ack.congestion));
        }
        let (alone, congestion) = found?;
        let next_to = places.first() == Some(&alone) && congestion == trigger.congestion;
        (self == AckFilter::Aggressive && next_to).then_some(alone)
    }
}

#[cfg(test)]
#[path = "ack_filter_tests.rs"]
mod tests;
