//! Transmission of segments: within windows, pacing and jitter, as retransmissions, or abandoned if they are too old.
//!
//! Source: RFC 9293 in outline; RFC 3042 for limited transmit.

use super::Connection;
use crate::pieces::Piece;
use fairwave_endpoint::Output;
use fairwave_network::packet::{Body, Ecn, Packet};
use fairwave_units::units::{Instant, Span};

impl Connection {
    /// Sends at most `burst` segments within the window, or schedules this after a random delay.
    #[inline]
    pub fn send(&mut self, now: Instant, burst: u32, out: &mut Output) {
        if self.parameters.jitter > Span::ZERO {
            if self.next < self.reach() {
                self.postpone(now);
            }
            return;
        }
        self.send_now(now, burst, out);
    }

    /// True if each transmission has a random delay.
    #[inline]
    pub fn is_jittered(&self) -> bool {
        self.parameters.jitter > Span::ZERO
    }

    /// Schedules a transmission after a random delay, unless one is scheduled.
    pub fn postpone(&mut self, now: Instant) {
        if self.released_at() == Instant::NEVER {
            let jitter = self.parameters.jitter;
            let delay = self.stream.as_mut().map_or(Span::ZERO, |stream| stream.span_between(Span::ZERO, jitter));
            self.release(now + delay);
        }
    }

    /// Like [`Self::send`], without delay.
    #[inline]
    pub fn send_now(&mut self, now: Instant, burst: u32, out: &mut Output) {
        let end = self.reach().min(self.next.saturating_add(burst));
        while self.next < end && self.may_leave(now) {
            self.send_next(now, out);
        }
    }

    /// Sends the next segment in order.
    #[inline]
    pub fn send_next(&mut self, now: Instant, out: &mut Output) {
        let segment = self.next;
        self.next += 1;
        self.transmit(now, segment, out);
    }

    /// Limited transmit (RFC 3042): one new segment for each of the first two duplicates.
    pub fn limited_transmit(&mut self, now: Instant, out: &mut Output) {
        let allowed = (self.window.congestion as u32).saturating_add(self.duplicates);
        let end = self.una.saturating_add(allowed).min(self.receiver_reach()).min(self.limit);
        if self.parameters.limited_transmit && self.next < end && self.may_leave(now) {
            self.send_next(now, out);
        }
    }

    /// Retransmits the first unacknowledged segment and restarts the timer.
    pub fn retransmit_first(&mut self, now: Instant, out: &mut Output) {
        self.rtt.distrust();
        self.restart_timer(now);
        self.transmit_first(now, out);
    }

    /// Retransmits the first unacknowledged segment.
    pub fn transmit_first(&mut self, now: Instant, out: &mut Output) {
        let una = self.una;
        self.transmit(now, una, out);
        if self.next == una {
            self.next = una + 1;
        }
    }

    /// Transmits `segment`.
    #[inline]
    pub fn transmit(&mut self, now: Instant, segment: u32, out: &mut Output) {
        let again = segment < self.max;
        if self.lifetime.is_some() && self.forwards_instead(now, segment, again, out) {
            return;
        }
        let piece = if segment == 0 {
            Piece { created: now, ..Piece::default() }
        } else if self.bulk {
            Piece { created: now, unit: segment - 1, payload: self.parameters.segment, layer: 0, last: true }
        } else {
            self.pieces.get(segment)
        };
        if again {
            self.retransmitted += 1;
            self.rtt.sent_again(segment);
        } else {
            self.max = segment + 1;
            self.rtt.sent_new(now, segment);
        }
        if self.parameters.waves {
            self.begin_wave_if_due();
        }
        self.sent += 1;
        self.path.payload = u32::from(if segment == 0 { self.parameters.segment } else { piece.payload });
        out.send(Packet {
            flow: self.flow,
            wire: if segment == 0 { self.parameters.syn } else { self.parameters.header + piece.payload },
            class: self.class,
            dscp: self.dscp,
            feedback: false,
            ecn: Ecn::NotEct,
            layer: piece.layer,
            body: Body::Segment {
                payload: piece.payload,
                sequence: segment,
                unit: piece.unit,
                wave: self.wave,
                wave_size: self.wave_size,
                retransmission: again,
                window_reduced: false,
                last: piece.last,
                sent: now,
                created: piece.created,
            },
        });
        self.leave(now, segment, again, out.packets.last_mut());
        if self.retransmit_at == Instant::NEVER {
            self.restart_timer(now);
        }
    }

    /// For partial reliability. A new segment takes the first waiting piece. If a retransmission is too old, sends
    /// a packet that abandons it and all following old segments. Returns true if no data segment must be sent.
    #[inline(never)]
    fn forwards_instead(&mut self, now: Instant, segment: u32, again: bool, out: &mut Output) -> bool {
        let Some(lifetime) = &mut self.lifetime else { return false };
        if segment == 0 {
            return false;
        }
        if !again {
            if let Some(piece) = lifetime.take() {
                self.pieces.put(self.una, segment, piece);
            }
            return false;
        }
        let old = (segment..self.max).take_while(|&one| lifetime.is_over(self.pieces.get(one).created, now)).count();
        if old == 0 {
            return false;
        }
        let next = segment + old as u32;
        self.next = self.next.max(next);
        // Only the first missing segment repeats the packet, which also covers the old ones behind it.
        if segment > self.una && !lifetime.forward(next) {
            return true;
        }
        lifetime.forward(next);
        self.sent += 1;
        for one in segment..next {
            self.rtt.sent_again(one);
            self.leave(now, one, true, None);
        }
        self.retransmitted += 1;
        out.send(Packet {
            flow: self.flow,
            wire: self.parameters.acknowledgement,
            class: self.class,
            dscp: self.dscp,
            feedback: false,
            ecn: Ecn::NotEct,
            layer: 0,
            body: Body::Forward { next, sent: now },
        });
        if self.retransmit_at == Instant::NEVER {
            self.restart_timer(now);
        }
        true
    }

    /// A wave is a round of the window: the segments sent until its first segment is acknowledged.
    #[inline(never)]
    fn begin_wave_if_due(&mut self) {
        if self.una >= self.wave_end {
            self.wave = self.wave.wrapping_add(1);
            self.wave_size = self.usable().clamp(1, u32::from(u16::MAX)) as u16;
            self.wave_end = self.max.max(1);
        }
    }
}
