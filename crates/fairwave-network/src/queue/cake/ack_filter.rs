//! CAKE's ACK filter: drops pure acknowledgements that later ones of the same connection in the same queue make redundant.
//!
//! Follows `cake_ack_filter` of Linux' `sch_cake` (`ack-filter`, `ack-filter-aggressive`). An arriving acknowledgement
//! triggers the filter. The filter may drop an earlier one of the connection if all of these hold:
//!
//! - it does not acknowledge more than the arrival, and its timestamp echo is not later;
//! - the arrival repeats its selective acknowledgements (RFC 2018) and adds information: a higher acknowledgement or a
//!   larger selective one. This keeps duplicate acknowledgements and reports of duplicates (RFC 2883);
//! - it does not open the connection, and carries no field that the filter does not know: TCP-Real's rate, the mark counts
//!   of RFC 9768.
//!
//! `conservative` drops the first of two such acknowledgements, so one always stays ahead of the arrival. `aggressive` also
//! drops a single one immediately before the arrival. Neither drops an acknowledgement if the ECE flag changes on the next
//! one, because the change is the information. One arrival drops at most one acknowledgement.
//!
//! **Deviations.** Work per packet is bounded: the filter examines the newest [`REACH`] packets of the queue, Linux all of
//! them. Selective acknowledgements are compared in segments, timestamps in nanoseconds. TCP's segments have a fixed
//! direction here, so an acknowledgement never carries data, and data never triggers the filter. The filter recognises a
//! receiver that counts marks (RFC 9768) only from its first mark on.

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

/// Number of packets in the queue that the filter examines, newest first, without the arrival.
pub const REACH: usize = 64;

/// The fields of an acknowledgement that the filter uses.
#[derive(Clone, Copy)]
struct Ack {
    flow: FlowId,
    next: u32,
    echo: Instant,
    /// ECE flag and count of marks.
    congestion: (bool, u32),
    /// Whether it carries only fields that the filter knows, and does not open the connection.
    plain: bool,
    sack: [SackBlock; 3],
}

/// Whether `a` is later than `b`, for wrapping numbers.
fn is_later(a: u32, b: u32) -> bool {
    (b.wrapping_sub(a) as i32) < 0
}

fn segments(block: SackBlock) -> u64 {
    u64::from(block.end.wrapping_sub(block.first))
}

impl Ack {
    fn from_packet(packet: &Packet) -> Option<Self> {
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

    /// Whether `later` repeats every block of `self`, and `self` reports no duplicate.
    fn is_covered_by(&self, later: &Ack) -> bool {
        self.blocks().all(|block| {
            let within = |wider: SackBlock| !is_later(wider.first, block.first) && !is_later(block.end, wider.end);
            !is_later(self.next, block.first) && later.blocks().any(within)
        })
    }

    /// Whether `later` carries all information of `self`.
    fn is_redundant_to(&self, later: &Ack) -> bool {
        self.plain
            && !is_later(self.next, later.next)
            && self.echo <= later.echo
            && self.is_covered_by(later)
            && (self.next != later.next || later.selective() > self.selective())
    }
}

impl AckFilter {
    /// Whether the filter is off.
    pub const fn is_none(&self) -> bool {
        matches!(self, AckFilter::None)
    }

    /// The acknowledgement to drop after the last packet of the queue has arrived, if any.
    pub fn redundant(self, buffer: &Buffer, bin: u32) -> Option<Place> {
        let arrival = buffer.back_of_bin(bin)?;
        let trigger = Ack::from_packet(buffer.packet(arrival)?).filter(|ack| ack.next > 1)?;
        let mut places = [arrival; REACH];
        let mut reached = 0;
        let mut place = arrival;
        while let Some(before) = places.get_mut(reached)
            && let Some(earlier) = buffer.previous_in_bin(place)
        {
            (*before, place) = (earlier, earlier);
            reached += 1;
        }
        // From the head: the first redundant one, unless the acknowledgement behind it has other congestion flags.
        let mut found: Option<(Place, (bool, u32))> = None;
        for &place in places[..reached].iter().rev() {
            let ack = buffer.packet(place).and_then(Ack::from_packet).filter(|ack| ack.flow == trigger.flow);
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
