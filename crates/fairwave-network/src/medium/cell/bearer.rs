//! A bearer: one direction of one user, with its queue, the blocks on the air, and the receiver that restores the packet
//! order.
//!
//! A block (a transport block with one RLC PDU) carries bytes of the packets at the head of the queue. A packet may extend
//! over several blocks. Packets are released in order: a packet leaves when the block with its last byte and all earlier
//! blocks are settled.

use std::collections::VecDeque;

use super::channel::Channel;
use super::config::RlcConfig;
use crate::medium::interface::{Begun, MediumOutcomes, MemberCounters};
use crate::packet::Packet;
use crate::queue::{DropReason, LinkQueue};
use fairwave_units::units::Instant;

/// Header bytes of a block: RLC 2 (3GPP TS 36.322 §6.2.1.4) and MAC 3 (3GPP TS 36.321 §6.1.2).
const BLOCK_HEADER: u64 = 5;

/// Header bytes of a packet: PDCP 2 (3GPP TS 36.323 §6.2.3) and its length in RLC, 12 bits rounded up.
const PACKET_HEADER: u64 = 4;

/// Outcome of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Outcome {
    Pending,
    Received,
    Lost,
}

/// A block on the air, or one that waits for earlier blocks at the receiver.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    outcome: Outcome,
    /// Number of packets that end in this block.
    ends: u32,
    /// Whether it ends within a packet.
    goes_on: bool,
    /// Payload and headers.
    pub bytes: u64,
    /// Resource blocks and channel quality indicator of its last transmission.
    pub size: u32,
    pub cqi: u8,
    /// Transmissions since RLC last sent it.
    pub attempt: u32,
    /// Number of retransmissions by RLC.
    pub resent: u32,
    /// Sum of the signal-to-noise ratios of the transmissions since RLC last sent it.
    pub energy: f64,
}

/// One member of the cell.
pub(super) struct Bearer {
    pub user: usize,
    pub uplink: bool,
    pub queue: LinkQueue,
    pub channel: Channel,
    pub rlc: RlcConfig,
    pub counters: MemberCounters,
    /// Remaining bytes of the packet that was started last.
    partial: u64,
    /// Packets that have left the queue and are not released yet.
    begun: VecDeque<Packet>,
    blocks: VecDeque<Block>,
    /// Number of the first block in `blocks`.
    first: u64,
    /// Whether a lost block carried a part of the first packet of `begun`.
    damaged: bool,
    /// Blocks for RLC retransmission, in order, with their remaining bytes.
    resend: VecDeque<(u64, u64)>,
    /// Incremented by a handoff. Events of earlier epochs are void.
    pub epoch: u32,
    /// Mean bytes per interval, as of `averaged`, for proportional fairness.
    pub average: f64,
    pub averaged: u64,
    /// Whether it is in the list of active bearers of its direction.
    pub listed: bool,
    /// The interval of its last transmission.
    pub busy: u64,
    /// Uplink: backlog known to the base station (bytes), reports in transit, payload sent so far, and whether a request is
    /// pending.
    pub known: u64,
    pub reports: u32,
    pub sent: u64,
    pub requested: bool,
    drops: Vec<(Packet, DropReason)>,
}

impl Bearer {
    pub fn new(user: usize, uplink: bool, queue: LinkQueue, channel: Channel, rlc: RlcConfig) -> Self {
        Bearer {
            user,
            uplink,
            queue,
            channel,
            rlc,
            counters: MemberCounters::default(),
            partial: 0,
            begun: VecDeque::new(),
            blocks: VecDeque::new(),
            first: 0,
            damaged: false,
            resend: VecDeque::new(),
            epoch: 0,
            average: 0.0,
            averaged: 0,
            listed: false,
            busy: u64::MAX,
            known: 0,
            reports: 0,
            sent: 0,
            requested: false,
            drops: Vec::new(),
        }
    }

    /// Backlog in bytes, including headers.
    pub fn backlog(&self) -> u64 {
        let again: u64 = self.resend.iter().map(|(_, bytes)| bytes + BLOCK_HEADER).sum();
        let waiting = u64::from(self.queue.packets());
        let fresh = self.partial + if waiting > 0 { self.queue.bytes() + waiting * PACKET_HEADER } else { 0 };
        again + if fresh > 0 { fresh + BLOCK_HEADER } else { 0 }
    }

    /// Whether the bearer can send at `now`.
    pub fn has_work(&self, now: Instant) -> bool {
        self.partial > 0 || !self.resend.is_empty() || (self.queue.packets() > 0 && self.queue.held_until() <= now)
    }

    /// Packets that have left the queue and are neither delivered nor lost.
    pub fn inside(&self) -> u32 {
        self.begun.len() as u32
    }

    /// Removes the packets counted by [`Self::inside`], at the end of a run.
    pub fn take_inside(&mut self) -> impl Iterator<Item = Packet> + '_ {
        self.blocks.clear();
        self.begun.drain(..)
    }

    pub fn arrive(&mut self, now: Instant, member: usize, packet: Packet, outcomes: &mut MediumOutcomes) {
        self.queue.arrive(now, &packet, &mut self.drops);
        self.report_drops(member, outcomes);
    }

    pub fn on_timer(&mut self, now: Instant, member: usize, outcomes: &mut MediumOutcomes) {
        self.queue.on_timer(now, &mut self.drops);
        self.report_drops(member, outcomes);
    }

    fn report_drops(&mut self, member: usize, outcomes: &mut MediumOutcomes) {
        outcomes.dropped.extend(self.drops.drain(..).map(|(packet, reason)| (member, packet, reason)));
    }

    /// Assembles a block of at most `room` bytes. Returns its number and the bytes used. The number is `None` if there was
    /// nothing to send, or if the room was too small for the rest of a block that RLC sends again.
    pub fn fill(
        &mut self,
        now: Instant,
        until: Instant,
        member: usize,
        (room, cqi): (u64, u8),
        outcomes: &mut MediumOutcomes,
    ) -> (Option<u64>, u64) {
        let room = room.saturating_sub(BLOCK_HEADER);
        if let Some((number, left)) = self.resend.front_mut() {
            let (number, sent) = (*number, room.min(*left));
            *left -= sent;
            self.sent += sent + BLOCK_HEADER;
            if *left > 0 {
                return (None, sent + BLOCK_HEADER);
            }
            self.resend.pop_front();
            if let Some(block) = self.block(number) {
                (block.cqi, block.attempt, block.energy) = (cqi, 0, 0.0);
            }
            return (Some(number), sent + BLOCK_HEADER);
        }
        let (mut used, mut ends, mut carried) = (0, 0, u64::from(self.partial > 0));
        while used < room {
            if self.partial == 0 {
                let departing = self.queue.depart(now, &mut self.drops);
                self.report_drops(member, outcomes);
                let Some(packet) = departing else { break };
                let (since, marked) = (self.queue.waited_since(), self.queue.has_marked());
                self.queue.transmits_until(until);
                outcomes.begun.push(Begun { member, packet, since, marked });
                self.begun.push_back(packet);
                self.partial = u64::from(packet.wire) + PACKET_HEADER;
                carried += 1;
            }
            let part = self.partial.min(room - used);
            used += part;
            self.partial -= part;
            ends += u32::from(self.partial == 0);
        }
        if used == 0 {
            return (None, 0);
        }
        self.counters.carried += carried;
        self.sent += used + BLOCK_HEADER;
        self.blocks.push_back(Block {
            outcome: Outcome::Pending,
            ends,
            goes_on: self.partial > 0,
            bytes: used,
            size: 0,
            cqi,
            attempt: 0,
            resent: 0,
            energy: 0.0,
        });
        (Some(self.first + self.blocks.len() as u64 - 1), used + BLOCK_HEADER)
    }

    /// The block with this number, unless it is settled.
    pub fn block(&mut self, number: u64) -> Option<&mut Block> {
        self.blocks.get_mut(usize::try_from(number.checked_sub(self.first)?).ok()?)
    }

    /// The receiver has decoded the block.
    pub fn received(&mut self, number: u64, member: usize, outcomes: &mut MediumOutcomes) {
        self.settle(number, Outcome::Received, member, outcomes);
    }

    /// The MAC layer has abandoned the block. Returns whether RLC sends it again.
    pub fn failed(&mut self, number: u64, member: usize, outcomes: &mut MediumOutcomes) -> bool {
        let limit = match self.rlc.mode {
            super::config::RlcMode::Acknowledged => self.rlc.retransmissions,
            super::config::RlcMode::Unacknowledged => 0,
        };
        let Some(block) = self.block(number) else { return false };
        if block.resent >= limit {
            self.settle(number, Outcome::Lost, member, outcomes);
            return false;
        }
        block.resent += 1;
        let bytes = block.bytes;
        self.resend.push_back((number, bytes));
        true
    }

    fn settle(&mut self, number: u64, outcome: Outcome, member: usize, outcomes: &mut MediumOutcomes) {
        if let Some(block) = self.block(number) {
            block.outcome = outcome;
        }
        self.release(member, outcomes);
    }

    /// Releases packets when their last block and all earlier blocks are settled.
    fn release(&mut self, member: usize, outcomes: &mut MediumOutcomes) {
        while let Some(block) = self.blocks.front().copied().filter(|block| block.outcome != Outcome::Pending) {
            self.blocks.pop_front();
            self.first += 1;
            let lost = block.outcome == Outcome::Lost;
            for _ in 0..block.ends {
                let Some(packet) = self.begun.pop_front() else { break };
                if lost || self.damaged {
                    outcomes.lost.push((member, packet));
                } else {
                    outcomes.delivered.push((member, packet));
                }
                self.damaged = false;
            }
            // The block contains a part of the next packet, or of a packet that spans the block.
            self.damaged |= lost && block.goes_on;
        }
    }

    /// A handoff that forwards: the new base station sends all unreceived data again, in order.
    pub fn forwards(&mut self) {
        self.epoch += 1;
        self.resend.clear();
        for (place, block) in self.blocks.iter().enumerate() {
            if block.outcome == Outcome::Pending {
                self.resend.push_back((self.first + place as u64, block.bytes));
            }
        }
    }

    /// A handoff that does not forward: loses the unreceived data, and with `queue` also the packets in the queue.
    pub fn loses(&mut self, now: Instant, queue: bool, member: usize, outcomes: &mut MediumOutcomes) {
        self.epoch += 1;
        self.resend.clear();
        for block in &mut self.blocks {
            if block.outcome == Outcome::Pending {
                block.outcome = Outcome::Lost;
            }
        }
        self.release(member, outcomes);
        outcomes.lost.extend(self.begun.drain(..).map(|packet| (member, packet)));
        (self.partial, self.damaged) = (0, false);
        while queue && self.queue.packets() > 0 {
            let Some(packet) = self.queue.depart(now, &mut self.drops) else { break };
            self.report_drops(member, outcomes);
            outcomes.dropped.push((member, packet, DropReason::Link));
        }
    }
}
