//! Congestion window push-back: the part of the target that encoders must hold back while too much is in flight
//! (libwebrtc's `congestion_window_pushback_controller.cc`, and the window from `goog_cc_network_control.cc`).

use std::collections::VecDeque;

use fairwave_units::units::Span;

/// The window is the target rate times the sum of this and the least recent round trip.
const QUEUE: Span = Span::from_millis(350);
/// Number of recent round trips.
const ROUND_TRIPS: usize = 32;
const LEAST_WINDOW: f64 = 3000.0;
/// Lowest rate after push-back, bits per second.
const LEAST_RATE: f64 = 30_000.0;

#[derive(Clone, Debug)]
pub(super) struct PushBack {
    round_trips: VecDeque<Span>,
    /// Least of the recent round trips.
    least: Option<Span>,
    window: Option<f64>,
    in_flight: f64,
    ratio: f64,
}

impl PushBack {
    pub fn new() -> Self {
        PushBack {
            round_trips: VecDeque::with_capacity(ROUND_TRIPS + 1),
            least: None,
            window: None,
            in_flight: 0.0,
            ratio: 1.0,
        }
    }

    pub fn set_in_flight(&mut self, bytes: u64) {
        self.in_flight = bytes as f64;
    }

    pub fn on_packet_sent(&mut self, bytes: u64) {
        self.in_flight += bytes as f64;
    }

    /// Adds the longest round trip of a message's packets.
    pub fn on_round_trip(&mut self, longest: Span) {
        self.round_trips.push_back(longest);
        if self.round_trips.len() > ROUND_TRIPS {
            self.round_trips.pop_front();
        }
        self.least = self.round_trips.iter().min().copied();
    }

    /// Moves the window halfway to the value for the target, bits per second.
    pub fn update_window(&mut self, target: f64) {
        let Some(least) = self.least else { return };
        let bytes = target / 8.0 * (least + QUEUE).seconds();
        self.window = Some(self.window.map_or(bytes, |window| (bytes + window) / 2.0).max(LEAST_WINDOW));
    }

    /// Returns the target after push-back; each call is one step.
    pub fn push(&mut self, target: f64) -> f64 {
        let Some(window) = self.window else { return target };
        let fill = self.in_flight / window;
        self.ratio = if fill > 1.5 {
            self.ratio * 0.9
        } else if fill > 1.0 {
            self.ratio * 0.95
        } else if fill < 0.1 {
            1.0
        } else {
            (self.ratio * 1.05).min(1.0)
        };
        let pushed = target * self.ratio;
        if pushed < LEAST_RATE { target.min(LEAST_RATE) } else { pushed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a window of 25 000 bytes: 500 kb/s, 50 + 350 ms.
    fn new() -> PushBack {
        let mut push = PushBack::new();
        push.on_round_trip(Span::from_millis(50));
        push.update_window(500_000.0);
        push
    }

    #[test]
    fn the_window_is_the_least_round_trip_and_350_ms_of_the_target() {
        let mut push = new();
        assert_eq!(push.window, Some(25_000.0));
        push.on_round_trip(Span::from_millis(400));
        push.update_window(1e6);
        assert_eq!(push.window, Some(37_500.0), "halfway to 50 000");
        for _ in 0..31 {
            push.on_round_trip(Span::from_millis(400));
        }
        push.window = None;
        push.update_window(1e6);
        assert_eq!(push.window, Some(93_750.0), "32 round trips count");
        push.window = None;
        push.update_window(5_000.0);
        assert_eq!(push.window, Some(3_000.0), "two packets at least");
    }

    #[test]
    fn more_in_flight_than_the_window_holds_back_step_by_step() {
        let mut push = new();
        push.set_in_flight(37_501);
        assert!((push.push(1e6) - 900_000.0).abs() < 1e-6);
        push.set_in_flight(37_500);
        assert!((push.push(1e6) - 855_000.0).abs() < 1e-6);
        push.set_in_flight(25_000);
        assert!((push.push(1e6) - 897_750.0).abs() < 1e-6);
        push.set_in_flight(2_500);
        assert!((push.push(1e6) - 942_637.5).abs() < 1e-6);
        push.set_in_flight(2_499);
        assert_eq!(push.push(1e6), 1e6);
        push.on_packet_sent(1);
        assert_eq!(push.push(1e6), 1e6, "never above the target");
    }

    #[test]
    fn does_not_push_below_30_kb_per_second() {
        let mut push = new();
        push.set_in_flight(100_000);
        (0..60).for_each(|_| {
            push.push(1e6);
        });
        assert_eq!(push.push(1e6), 30_000.0);
        assert_eq!(push.push(20_000.0), 20_000.0);
        assert_eq!(PushBack::new().push(1e6), 1e6, "no window");
    }
}
