//! All packets at one link in a time interval: arrival, start and end of transmission, or drop.

use fairwave_core::packet::{Ecn, Packet};
use fairwave_core::queue::DropReason;
use fairwave_core::units::Instant;
use fairwave_sim::probe::{Probe, RemovalCause};
use serde::Serialize;

use crate::progress::Progress;

/// Maximum number of recorded packets.
pub const MOST: usize = 20_000;

/// One packet at the link. Times are in seconds; null for an event that has not happened.
#[derive(Clone, Copy, Serialize)]
pub struct Passage {
    /// Index of its group.
    pub group: usize,
    /// Its class's index: 0 voice, 1 other UDP, 2 TCP.
    pub class: u8,
    /// Bytes on the wire.
    pub wire: u16,
    /// True for packets from a receiver to its sender.
    pub feedback: bool,
    /// True if it left with a congestion mark (CE).
    pub marked: bool,
    /// Arrival time.
    pub arrived: f64,
    /// Start of transmission.
    pub begun: Option<f64>,
    /// End of transmission.
    pub left: Option<f64>,
    /// Time of the drop or of the link failure.
    pub gone: Option<f64>,
    /// Cause of the drop: `overflow`, `early` or `failed`. Empty without a drop.
    pub why: &'static str,
    /// True if the link lost it after its transmission.
    pub lost: bool,
}

/// Records the packets at a link.
pub struct Recorder<'a> {
    link: usize,
    from: Instant,
    until: Instant,
    groups: &'a [usize],
    passages: Vec<Passage>,
    /// Packets in the queue or in transmission: arrival, start of the transmission, and index among the passages, if kept.
    here: Vec<(Packet, f64, Option<f64>, Option<usize>)>,
    progress: Progress,
}

impl<'a> Recorder<'a> {
    /// Records a link between two times. `groups` holds the group of each flow, `progress` reports the progress of the run.
    pub fn new(link: usize, from: Instant, until: Instant, groups: &'a [usize], progress: Progress) -> Self {
        Recorder { link, from, until, groups, passages: Vec::new(), here: Vec::new(), progress }
    }

    /// The passages in the order of arrival, and whether there were more than the limit.
    pub fn into_passages(self) -> (Vec<Passage>, bool) {
        let full = self.passages.len() >= MOST;
        (self.passages, full)
    }

    /// The index of a packet at the link. A queue may change a packet's ECN field and code point, so the comparison ignores both.
    fn find(&self, packet: &Packet) -> Option<usize> {
        self.here.iter().position(|(known, ..)| Packet { ecn: packet.ecn, dscp: packet.dscp, ..*known } == *packet)
    }

    /// The passage of a packet with an event at `at`. `None` outside the recorded time.
    fn passage(&mut self, place: usize, at: Instant) -> Option<&mut Passage> {
        let (packet, arrived, begun, kept) = *self.here.get(place)?;
        if at < self.from || arrived > self.until.seconds() {
            return None;
        }
        let index = match kept {
            Some(index) => index,
            None if self.passages.len() < MOST => {
                self.passages.push(Passage {
                    group: self.groups.get(packet.flow.0 as usize).copied().unwrap_or(0),
                    class: packet.class as u8,
                    wire: packet.wire,
                    feedback: packet.feedback,
                    marked: false,
                    arrived,
                    begun,
                    left: None,
                    gone: None,
                    why: "",
                    lost: false,
                });
                let index = self.passages.len() - 1;
                self.here[place].3 = Some(index);
                index
            }
            None => return None,
        };
        self.passages.get_mut(index)
    }
}

impl Probe for Recorder<'_> {
    fn now(&mut self, now: Instant) {
        self.progress.now(now);
    }

    fn arrived(&mut self, link: usize, packet: &Packet, at: Instant) {
        if link == self.link {
            self.here.push((*packet, at.seconds(), None, None));
        }
    }

    fn begun(&mut self, link: usize, packet: &Packet, at: Instant) {
        if link == self.link
            && let Some(place) = self.find(packet)
        {
            self.here[place].2 = Some(at.seconds());
            if let Some(passage) = self.passage(place, at) {
                passage.begun = Some(at.seconds());
            }
        }
    }

    fn left(&mut self, link: usize, packet: &Packet, at: Instant, lost: bool) {
        if link == self.link
            && let Some(place) = self.find(packet)
        {
            if let Some(passage) = self.passage(place, at) {
                passage.left = Some(at.seconds());
                passage.lost = lost;
                passage.marked = packet.ecn == Ecn::Ce;
            }
            self.here.remove(place);
        }
    }

    fn gone(&mut self, link: usize, packet: &Packet, at: Instant, how: RemovalCause) {
        if link == self.link
            && let Some(place) = self.find(packet)
        {
            if let Some(passage) = self.passage(place, at) {
                passage.gone = Some(at.seconds());
                passage.why = match how {
                    RemovalCause::Dropped(DropReason::Overflow) => "overflow",
                    RemovalCause::Dropped(_) => "early",
                    RemovalCause::Failed => "failed",
                };
            }
            self.here.remove(place);
        }
    }
}
