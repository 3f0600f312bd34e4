//! Vegas' retransmission: a duplicate acknowledgement checks a fine-grained timer and need not wait for two more.
//!
//! Source: Brakmo & Peterson 1995 §3.1 as in ns-2.35. Each duplicate, and each of the first two acknowledgements
//! after a retransmission, checks the oldest segment. The segment is retransmitted if it has been in flight for
//! longer than the fine-grained timeout. The window falls only if it has not fallen since that segment left.
//!
//! **Assumptions.** The fine timeout is 17/16 of the smoothed round trip plus twice its mean deviation. It grows
//! by an eighth with each retransmission of a segment and doubles with repeated ones. There is no limited
//! transmit. The preset of ns-2.35 has four rules of that simulator. Each early retransmit backs the coarse timer
//! off. The inflation of an early retransmit (one to three segments) stays in the window unless more than three
//! duplicates arrive. If more than three arrive during the repair after a timeout, the window closes completely,
//! because the value it should return to is unset. When the acknowledgement of a retransmission has emptied the
//! flight, the next new segment counts as sent at time 0, and leaves twice. One deviation: here a closed window
//! opens to one segment again when no segment is in flight. Otherwise no acknowledgement could open it, and the
//! connection would never send again.

use super::super::connection::Connection;
use super::super::control::LEAST_THRESHOLD;
use super::FastRetransmitGuard;
use fairwave_endpoint::Output;
use fairwave_units::units::{Instant, Span};

/// The fine-grained timer, and the response to the last loss. The connection records each segment's last transmission.
#[derive(Debug)]
pub(in super::super) struct Vegas {
    guard: FastRetransmitGuard,
    /// The coarse timer found the last loss.
    timed_out: bool,
    /// Smoothed round trip and mean deviation, seconds.
    smoothed: f64,
    deviation: f64,
    timeout: f64,
    /// Acknowledgements after a retransmission that still check the timer.
    worried: u32,
    /// Time of the last decrease of the window.
    lowered: Instant,
    /// The window after an early retransmit; 0 after a timeout.
    lowered_to: f64,
}

impl Default for Vegas {
    fn default() -> Self {
        Vegas {
            guard: FastRetransmitGuard::default(),
            timed_out: false,
            smoothed: 0.0,
            deviation: 0.0,
            timeout: f64::INFINITY,
            worried: 0,
            lowered: Instant::ZERO,
            lowered_to: 0.0,
        }
    }
}

impl Vegas {
    fn on_sample(&mut self, rtt: Span) {
        let rtt = rtt.seconds();
        if rtt <= 0.0 {
            return;
        }
        if self.timeout.is_infinite() {
            (self.smoothed, self.deviation) = (rtt, rtt / 4.0);
        } else {
            let error = rtt - self.smoothed;
            self.smoothed += error / 8.0;
            self.deviation += (error.abs() - self.deviation) / 4.0;
        }
        self.timeout = (self.smoothed + 2.0 * self.deviation) * 1.0625;
    }

    /// True if the first unacknowledged segment has been in flight for longer than the fine timeout.
    fn is_first_expired(&self, connection: &Connection, now: Instant) -> bool {
        let left = connection.sending(connection.una()).at;
        now.span_since(left).seconds() >= self.timeout
    }

    pub(super) fn on_duplicate(&mut self, connection: &mut Connection, now: Instant, out: &mut Output) {
        connection.count_duplicate();
        let threshold = connection.parameters().duplicate_threshold;
        if self.is_first_expired(connection, now) || connection.duplicates() == threshold {
            if connection.una() > self.guard.recover() || !self.timed_out {
                self.retransmit_early(connection, now, out);
            }
        } else if connection.duplicates() > threshold {
            connection.set_inflation(connection.inflation() + 1);
        }
        if connection.duplicates() >= threshold {
            connection.send(now, u32::MAX, out);
        }
    }

    fn retransmit_early(&mut self, connection: &mut Connection, now: Instant, out: &mut Output) {
        let una = connection.una();
        let sending = connection.sending(una);
        self.worried = (connection.next() - una + 1).min(2);
        if sending.times > 1 {
            self.timeout *= 2.0;
        } else {
            self.timeout *= 1.125;
        }
        self.timed_out = false;
        self.guard.raise(connection);
        // A decrease since this segment left was a response to the same congestion.
        if self.lowered < sending.at {
            self.lowered = now;
            let inflation = connection.take_inflation();
            connection.set_congestion_window(connection.window().congestion + f64::from(inflation));
            connection.ask_on_loss(now, sending.times);
            connection.set_inflation(connection.duplicates());
            self.lowered_to = connection.window().congestion;
        }
        if connection.parameters().like_ns2 {
            connection.back_off();
        }
        connection.retransmit_first(now, out);
        if sending.times == 1 {
            connection.set_duplicates(connection.duplicates().max(connection.parameters().duplicate_threshold));
        }
    }

    /// Removes the inflation by duplicates when new data is acknowledged.
    fn deflate(&mut self, connection: &mut Connection) {
        let inflation = connection.take_inflation();
        let inflated = connection.window().congestion + f64::from(inflation);
        let many = connection.duplicates() > connection.parameters().duplicate_threshold;
        if connection.parameters().like_ns2 {
            connection.set_congestion_window(inflated);
            if many && inflated > self.lowered_to {
                connection.set_congestion_window(self.lowered_to);
                connection.set_threshold(LEAST_THRESHOLD);
            }
        } else if many {
            connection.set_threshold(LEAST_THRESHOLD);
        }
    }

    pub(super) fn on_new_data(&mut self, connection: &mut Connection, now: Instant, next: u32, out: &mut Output) {
        self.deflate(connection);
        // Vegas times each segment. The time includes the wait at the receiver for a hole to be filled.
        // Retransmitted segments give no sample (Karn's rule).
        let sending = connection.sending(next - 1);
        let rtt = if sending.times == 1 { now.span_since(sending.at) } else { Span::ZERO };
        connection.set_round_trip(rtt);
        connection.advance(now, next);
        connection.open_window();
        if connection.una() == connection.max() && connection.window().congestion < 1.0 {
            connection.set_congestion_window(1.0);
        }
        if self.timeout.is_finite() || rtt > Span::ZERO {
            self.on_sample(rtt);
        }
        if self.worried > 0 {
            self.look_again(connection, now, out);
        }
        let duplicates = connection.duplicates();
        if duplicates == 0 || duplicates >= connection.parameters().duplicate_threshold {
            connection.send(now, u32::MAX, out);
        }
    }

    /// Handles one of the first acknowledgements after a retransmission: the next segment may be lost as well.
    fn look_again(&mut self, connection: &mut Connection, now: Instant, out: &mut Output) {
        self.worried -= 1;
        let sent = connection.una() < connection.max();
        let never_sent = connection.parameters().like_ns2 && !sent && connection.una() < connection.limit();
        if never_sent || (sent && self.is_first_expired(connection, now)) {
            connection.set_duplicates(connection.parameters().duplicate_threshold);
            let una = connection.una();
            connection.transmit(now, una, out);
            // ns-2.35 does not advance `t_seqno_`, so sending continues from there and sends the segment again.
            if connection.next() == una && !connection.parameters().like_ns2 {
                connection.go_on_from(una + 1);
            }
        } else {
            self.worried = 0;
        }
    }

    pub(super) fn on_timeout(&mut self, connection: &mut Connection, now: Instant) {
        if connection.parameters().like_ns2 {
            connection.set_congestion_window(connection.window().congestion + f64::from(connection.inflation()));
        }
        self.guard.raise(connection);
        self.timed_out = true;
        self.lowered = now;
        self.lowered_to = 0.0;
    }

    pub(super) fn on_random_timeout(&mut self) {
        self.timed_out = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fine_timeout_begins_with_a_quarter_of_the_first_round_trip_as_deviation() {
        let mut vegas = Vegas::default();
        vegas.on_sample(Span::from_millis(100));
        assert!((vegas.timeout - 1.0625 * (0.1 + 2.0 * 0.025)).abs() < 1e-12, "{}", vegas.timeout);
        vegas.on_sample(Span::from_millis(180));
        let (smoothed, deviation) = (0.11, 0.025 + (0.08 - 0.025) / 4.0);
        assert!((vegas.timeout - 1.0625 * (smoothed + 2.0 * deviation)).abs() < 1e-12, "{}", vegas.timeout);
    }
}
