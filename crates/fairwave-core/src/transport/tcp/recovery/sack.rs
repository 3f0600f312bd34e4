//! SACK: the receiver says which segments it holds, so the sender sends again what is missing and nothing else.
//!
//! Source: RFC 2018; RFC 6675 for the scoreboard, the pipe and the choice of the next segment.
//!
//! Two ways to count the pipe (what is still in the network) are offered. [`PipeRule::Rfc6675`] counts it from the scoreboard: sent,
//! less held, less lost and not sent again (§4, SetPipe). [`PipeRule::Counted`] is ns-2.35's: a counter that starts at the segments in flight less
//! three, falls by one with each acknowledgement and by one more with each partial one, and rises with each segment sent; every hole
//! below the highest segment held is sent again.
//!
//! **Assumptions.** A duplicate counts only if it brings selective news (RFC 6675 §2). After a timeout the scoreboard is
//! emptied and duplicates are ignored until new data is acknowledged, as in ns-2.35. A partial acknowledgement up to a segment that
//! nothing above vouches for has that segment sent again (as NewReno would; RFC 6675 leaves it to the timer).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::control::Verdict;
use super::super::sender::TcpSender;
use super::Episode;
use crate::packet::SackBlock;
use crate::transport::Output;
use crate::units::Instant;

/// How SACK recovery counts what is in the network.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PipeRule {
    /// From the scoreboard.
    Rfc6675,
    /// With a counter, as ns-2.35.
    Counted,
}

impl TcpSender {
    /// Every acknowledgement in SACK recovery comes here.
    pub(crate) fn on_ack_sack(&mut self, now: Instant, next: u32, blocks: &[SackBlock; 3], out: &mut Output) {
        if self.episode == Episode::FastRecovery {
            self.recovering_sack(now, next, blocks, out);
        } else if next > self.una {
            self.scoreboard_used = false;
            self.advance(now, next);
            self.open_window();
            self.send_allowed(now, out);
        } else {
            self.duplicate_sack(now, blocks, out);
        }
    }

    fn note_blocks(&mut self, blocks: &[SackBlock; 3]) -> bool {
        if !self.scoreboard_used {
            self.scoreboard.reset(self.una, self.parameters.receiver_window.saturating_add(1));
            self.scoreboard_used = true;
        }
        let max = self.max;
        blocks.iter().fold(false, |news, block| self.scoreboard.mark(block.first, block.end.min(max)) | news)
    }

    fn duplicate_sack(&mut self, now: Instant, blocks: &[SackBlock; 3], out: &mut Output) {
        if self.duplicates_ignored || !self.note_blocks(blocks) {
            return;
        }
        self.duplicates += 1;
        let threshold = self.parameters.duplicate_threshold;
        if self.duplicates < threshold {
            self.limited_transmit(now, out);
        } else if self.duplicates == threshold && self.may_retransmit_fast() {
            self.recover = self.max;
            self.episode = Episode::FastRecovery;
            self.pipe = (self.max - self.una).saturating_sub(threshold);
            let verdict = self.ask_on_loss(now, 1);
            self.kept_window = verdict == Verdict::Random;
            self.retransmit_first(now, out);
            let una = self.una;
            self.scoreboard.mark_resent(una);
            if self.parameters.pipe == PipeRule::Rfc6675 {
                self.send_allowed(now, out);
            }
        }
    }

    fn recovering_sack(&mut self, now: Instant, next: u32, blocks: &[SackBlock; 3], out: &mut Output) {
        self.pipe = self.pipe.saturating_sub(1);
        if next >= self.recover {
            self.episode = Episode::Recovered;
            self.scoreboard_used = false;
            self.advance(now, next);
            self.note_ack();
        } else if next > self.una {
            self.move_partially(now, next);
            self.scoreboard.advance(next);
            self.note_blocks(blocks);
            self.pipe = self.pipe.saturating_sub(1);
            self.rtt.forget_backoff();
            self.restart_timer(now);
            self.note_ack();
            if self.parameters.pipe == PipeRule::Rfc6675 && !self.scoreboard.is_resent(next) {
                self.scoreboard.mark_resent(next);
                self.transmit(now, next, out);
            }
        } else {
            self.note_blocks(blocks);
        }
        self.send_allowed(now, out);
    }

    /// Sends while the pipe holds less than the window: holes first, then new data.
    pub(crate) fn send_pipe(&mut self, now: Instant, out: &mut Output) {
        let window = self.window.congestion as u32;
        let reach = self.una.saturating_add(self.parameters.receiver_window);
        loop {
            let (pipe, holes_below) = match self.parameters.pipe {
                PipeRule::Counted => (self.pipe, self.scoreboard.top()),
                PipeRule::Rfc6675 => {
                    let lost = self.scoreboard.lost_below(self.parameters.duplicate_threshold);
                    let absent = self.scoreboard.sacked() + self.scoreboard.holes(lost);
                    ((self.max - self.una).saturating_sub(absent), lost)
                }
            };
            if pipe >= window {
                return;
            }
            let segment = match self.scoreboard.next_hole(holes_below) {
                Some(hole) => {
                    self.scoreboard.mark_resent(hole);
                    hole
                }
                None if self.next < reach && self.next < self.limit => {
                    self.next += 1;
                    self.next - 1
                }
                None => match self.parameters.pipe {
                    // NextSeg rule 3: a hole that is not known to be lost, rather than nothing.
                    PipeRule::Rfc6675 => match self.scoreboard.next_hole(self.scoreboard.top()) {
                        Some(hole) => {
                            self.scoreboard.mark_resent(hole);
                            hole
                        }
                        None => return,
                    },
                    PipeRule::Counted => return,
                },
            };
            self.transmit(now, segment, out);
            self.pipe += 1;
        }
    }
}
