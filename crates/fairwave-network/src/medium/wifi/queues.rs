//! Queues, the driver's buffer, block-acknowledgement windows, and the rotation of stations.

use std::collections::VecDeque;

use super::config::WifiMapping;
use crate::dscp::Dscp;
use crate::medium::interface::MediumOutcomes;
use crate::packet::{FlowId, Packet};
use crate::queue::rounds::Rounds;
use crate::queue::{Capacity, FqCodelConfig, LinkQueue, QueueConfig};
use fairwave_units::units::{Bytes, Instant, Span};

/// Maximum number of packets from the first unsettled one to the last that may be sent (the block acknowledgement has 64
/// bits).
pub(super) const WINDOW: usize = 64;

/// Airtime that a station may use per turn, in nanoseconds (Linux ath9k, ATH_AIRTIME_QUANTUM: 300 µs).
pub(super) const QUANTUM: u64 = 300_000;

/// Number of the access category of a code point.
pub(super) fn category(mapping: WifiMapping, dscp: Dscp) -> usize {
    let code = dscp.get();
    let priority = match mapping {
        WifiMapping::Precedence => code >> 3,
        // RFC 8325 Figure 1 (§4): EF, VA, CS6 and CS7; CS5, AF4x, CS4, AF3x, CS3; CS1 and LE; all else best effort.
        WifiMapping::Rfc8325 => match code {
            44 | 46 | 48 | 56 => 6,
            40 | 34 | 36 | 38 | 32 | 26 | 28 | 30 | 24 => 4,
            8 | 1 => 1,
            _ => 0,
        },
    };
    // IEEE 802.11-2020 Table 10-1.
    match priority {
        1 | 2 => 0,
        0 | 3 => 1,
        4 | 5 => 2,
        _ => 3,
    }
}

/// FQ-CoDel of one station as in Linux's mac80211 (Høiland-Jørgensen et al. 2017 §3.1): target 20 ms, 8192 packets. † 256
/// queues for flows; Linux has 4096 for all stations. † Slow stations have the same target; Linux allows them 50 ms.
pub(super) fn station_queue() -> QueueConfig {
    let law = FqCodelConfig {
        target: Span::from_millis(20),
        interval: Span::from_millis(100),
        quantum: Bytes::new(1514),
        flows: 256,
        ecn: true,
        ce_threshold: None,
        memory_limit: Bytes::new(16 << 20),
        drop_batch: 64,
    };
    QueueConfig::new(Capacity::Packets(8192), law)
}

/// A packet that has left the queue and waits for transmission.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub packet: Packet,
    pub since: Instant,
    pub marked: bool,
}

/// State of a packet in the window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    /// Must be sent again.
    Ready,
    OnAir,
    /// At the receiver, waiting for earlier packets.
    Received,
    /// Abandoned and reported as lost.
    Lost,
}

/// A packet that was sent at least once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub packet: Packet,
    pub attempts: u32,
    pub state: State,
}

/// Packets of one member and category.
#[derive(Default)]
pub(super) struct Tid {
    /// Created with the first packet. `None` if the access point has a common queue for all stations.
    pub queue: Option<Box<LinkQueue>>,
    /// Packets in the driver, or the next packet, which did not fit into the last frame.
    pub ready: VecDeque<Waiting>,
    pub window: VecDeque<Entry>,
    /// Consecutive frames without an acknowledgement.
    pub failures: u32,
}

impl Tid {
    /// Releases packets in order. Returns the number of packets that left.
    pub fn release(&mut self, member: usize, outcomes: &mut MediumOutcomes) -> u32 {
        let mut released = 0;
        while let Some(entry) = self.window.front() {
            match entry.state {
                State::Received => {
                    outcomes.delivered.push((member, entry.packet));
                    released += 1;
                }
                State::Lost => {}
                State::Ready | State::OnAir => break,
            }
            self.window.pop_front();
        }
        released
    }
}

/// Selects the member that is served next.
pub(super) enum Rotation {
    /// In turns, one frame each.
    Turns { order: VecDeque<u32>, listed: Vec<bool> },
    /// By airtime.
    Airtime(Rounds),
}

impl Rotation {
    pub fn turns(members: usize) -> Self {
        Rotation::Turns { order: VecDeque::new(), listed: vec![false; members] }
    }

    /// Registers that a member has something to send.
    pub fn add(&mut self, member: usize) {
        match self {
            Rotation::Turns { order, listed } if !listed[member] => {
                listed[member] = true;
                order.push_back(member as u32);
            }
            Rotation::Turns { .. } => {}
            Rotation::Airtime(rounds) => rounds.arrived(member as u32),
        }
    }

    /// The member whose turn it is.
    pub fn turn(&mut self) -> Option<usize> {
        match self {
            Rotation::Turns { order, .. } => order.front().map(|member| *member as usize),
            Rotation::Airtime(rounds) => rounds.turn().map(|member| member as usize),
        }
    }

    /// The member whose turn it is had nothing to send.
    pub fn was_empty(&mut self, member: usize) {
        match self {
            Rotation::Turns { order, listed } => {
                order.pop_front();
                listed[member] = false;
            }
            Rotation::Airtime(rounds) => rounds.was_empty(member as u32),
        }
    }

    /// Charges a member for airtime. A member that was served in its turn and got an acknowledgement passes the turn on.
    pub fn used(&mut self, member: usize, airtime: u64, acknowledged: bool) {
        match self {
            Rotation::Turns { order, .. } => {
                if acknowledged && order.front() == Some(&(member as u32)) {
                    order.rotate_left(1);
                }
            }
            Rotation::Airtime(rounds) => rounds.sent(member as u32, airtime),
        }
    }
}

/// Temporary flow numbers for packets of several members in one queue. A queue knows only flows, and a flow may change its
/// member.
#[derive(Default)]
pub(super) struct Aliases {
    by_flow: Vec<Vec<(u32, u32)>>,
    known: Vec<(u32, FlowId)>,
}

impl Aliases {
    /// Replaces the flow number of a packet.
    pub fn hide(&mut self, member: usize, packet: Packet) -> Packet {
        let flow = packet.flow.0 as usize;
        if self.by_flow.len() <= flow {
            self.by_flow.resize_with(flow + 1, Vec::new);
        }
        let alias = match self.by_flow[flow].iter().find(|(own, _)| *own == member as u32) {
            Some((_, alias)) => *alias,
            None => {
                let alias = self.known.len() as u32;
                self.known.push((member as u32, packet.flow));
                self.by_flow[flow].push((member as u32, alias));
                alias
            }
        };
        Packet { flow: FlowId(alias), ..packet }
    }

    /// Returns the member, and the packet with its original flow number.
    pub fn restore(&self, packet: Packet) -> (usize, Packet) {
        match self.known.get(packet.flow.0 as usize) {
            Some((member, flow)) => (*member as usize, Packet { flow: *flow, ..packet }),
            None => (0, packet),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_points_become_categories_as_rfc_8325_recommends() {
        let of = |name: &str| category(WifiMapping::Rfc8325, Dscp::parse(name).expect("a code point"));
        assert_eq!(["ef", "va", "cs6"].map(of), [3; 3]);
        assert_eq!(["cs5", "af41", "af42", "cs4", "af31", "cs3"].map(of), [2; 6]);
        assert_eq!(["df", "af21", "cs2", "af11"].map(of), [1; 4]);
        assert_eq!(["cs1", "le"].map(of), [0; 2]);
    }

    #[test]
    fn precedence_puts_voice_into_the_category_of_video() {
        let of = |name: &str| category(WifiMapping::Precedence, Dscp::parse(name).expect("a code point"));
        assert_eq!(["ef", "af41", "cs6", "df", "cs1", "af11", "cs3"].map(of), [2, 2, 3, 1, 0, 0, 1]);
    }

    #[test]
    fn packets_of_two_members_keep_their_names_in_one_queue() {
        let mut aliases = Aliases::default();
        let body = crate::packet::Body::Forward { next: 1, sent: Instant::ZERO };
        let packet = |flow| Packet {
            flow: FlowId(flow),
            wire: 100,
            class: crate::packet::Class::Tcp,
            feedback: false,
            ecn: crate::packet::Ecn::NotEct,
            dscp: Dscp::DF,
            layer: 0,
            body,
        };
        let hidden: Vec<Packet> = [(3, 7), (4, 7), (3, 0), (3, 7)].map(|(m, f)| aliases.hide(m, packet(f))).to_vec();
        assert_eq!(hidden[0].flow, hidden[3].flow);
        let restored: Vec<(usize, u32)> =
            hidden.iter().map(|packet| aliases.restore(*packet)).map(|(m, p)| (m, p.flow.0)).collect();
        assert_eq!(restored, [(3, 7), (4, 7), (3, 0), (3, 7)]);
    }
}
