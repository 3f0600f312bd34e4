//! Overuse detector: groups packets by send time, measures the change of delay from group to group, and computes its
//! slope (libwebrtc's `inter_arrival_delta.cc` and `trendline_estimator.cc`).

use fairwave_units::units::Instant;

/// Packets sent within this time form a group: 5 ms, in nanoseconds.
const GROUP: i64 = 5_000_000;
/// A burst is a series of packets with at most this time between arrivals, and closer at arrival than when sent: 5 ms.
const BURST: i64 = 5_000_000;
/// Longest burst: 100 ms.
const LONGEST_BURST: i64 = 100_000_000;
/// If the receiver's clock gained this much on the sender's between two groups, it was set: 3 s.
const CLOCK_WAS_SET: i64 = 3_000_000_000;
/// If this many consecutive groups arrived before their predecessors, the clock was set.
const REORDERED_GROUPS: u32 = 3;

/// Returns the nanoseconds from `earlier` to `later`; negative if they are reversed. Never overflows.
pub(super) fn signed_nanos(earlier: Instant, later: Instant) -> i64 {
    (later.nanos() as i64).saturating_sub(earlier.nanos() as i64)
}

/// A group of packets.
#[derive(Clone, Copy, Debug)]
struct Group {
    first_sent: Instant,
    last_sent: Instant,
    first_arrived: Instant,
    complete: Instant,
    reported: Instant,
}

/// Difference of one group to the previous one, in send time and in arrival time; milliseconds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Delta {
    pub sent: f64,
    pub arrived: f64,
}

/// Grouping of packets.
#[derive(Clone, Debug, Default)]
pub(super) struct Groups {
    current: Option<Group>,
    before: Option<Group>,
    reordered: u32,
}

impl Groups {
    /// Adds a packet. Returns a difference if the packet starts a group and two complete groups precede it.
    pub fn on_packet(&mut self, sent: Instant, arrived: Instant, reported: Instant) -> Option<Delta> {
        let begin = Group { first_sent: sent, last_sent: sent, first_arrived: arrived, complete: arrived, reported };
        let Some(current) = self.current.as_mut() else {
            self.current = Some(begin);
            return None;
        };
        if current.first_sent > sent {
            return None; // reordered
        }
        if !begins_group(current, sent, arrived) {
            current.last_sent = current.last_sent.max(sent);
            current.complete = arrived;
            current.reported = reported;
            return None;
        }
        let mut delta = None;
        if let Some(before) = self.before {
            let between_arrivals = signed_nanos(before.complete, current.complete);
            let between_reports = signed_nanos(before.reported, current.reported);
            if between_arrivals.saturating_sub(between_reports) >= CLOCK_WAS_SET {
                *self = Groups::default();
                return None;
            }
            if between_arrivals < 0 {
                self.reordered += 1;
                if self.reordered >= REORDERED_GROUPS {
                    *self = Groups::default();
                }
                return None;
            }
            self.reordered = 0;
            let between_sent = signed_nanos(before.last_sent, current.last_sent);
            delta = Some(Delta { sent: between_sent as f64 / 1e6, arrived: between_arrivals as f64 / 1e6 });
        }
        self.before = self.current.replace(begin);
        delta
    }
}

fn begins_group(current: &Group, sent: Instant, arrived: Instant) -> bool {
    !is_burst(current, sent, arrived) && signed_nanos(current.first_sent, sent) > GROUP
}

/// Checks for a burst: the path held packets back and released them together. They belong to one group, at any distance
/// between their send times.
fn is_burst(current: &Group, sent: Instant, arrived: Instant) -> bool {
    let apart_sent = signed_nanos(current.last_sent, sent);
    let apart_arrived = signed_nanos(current.complete, arrived);
    apart_sent == 0
        || (apart_arrived.saturating_sub(apart_sent) < 0
            && apart_arrived <= BURST
            && signed_nanos(current.first_arrived, arrived) < LONGEST_BURST)
}

/// State of the path.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Usage {
    #[default]
    Normal,
    Over,
    Under,
}

/// Number of groups in the regression window.
const WINDOW: usize = 20;
const SMOOTHING: f64 = 0.9;
const GAIN: f64 = 4.0;
/// Number of groups after which the trend has its full weight.
const FULL_WEIGHT: u32 = 60;
const MOST_COUNTED: u32 = 1000;
/// Shortest overuse that is signalled, milliseconds.
const OVERUSE_TIME: f64 = 10.0;
const GAIN_UP: f64 = 0.0087;
const GAIN_DOWN: f64 = 0.039;
/// A trend that exceeds the threshold by more than this does not move the threshold.
const SPIKE: f64 = 15.0;
const LEAST_THRESHOLD: f64 = 6.0;
const MOST_THRESHOLD: f64 = 600.0;
/// Longest time step for the threshold's update, milliseconds.
const LONGEST_STEP: i64 = 100;

/// Trend of the delay: slope by least squares, compared with an adaptive threshold.
#[derive(Clone, Debug)]
pub(super) struct Trendline {
    groups: u32,
    first_arrival: Option<i64>,
    accumulated: f64,
    least_accumulated: f64,
    smoothed: f64,
    /// Arrival time since the first group, and smoothed delay; milliseconds.
    window: Vec<(f64, f64)>,
    threshold: f64,
    last_trend: f64,
    last_moved: Option<i64>,
    over_for: Option<f64>,
    over_count: u32,
    usage: Usage,
}

impl Trendline {
    pub fn new(threshold: f64) -> Self {
        Trendline {
            groups: 0,
            first_arrival: None,
            accumulated: 0.0,
            least_accumulated: 0.0,
            smoothed: 0.0,
            window: Vec::with_capacity(WINDOW),
            threshold,
            last_trend: 0.0,
            last_moved: None,
            over_for: None,
            over_count: 0,
            usage: Usage::Normal,
        }
    }

    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// Returns the delay relative to the fastest packet, milliseconds.
    pub fn queueing(&self) -> f64 {
        self.accumulated - self.least_accumulated
    }

    /// Adds a group.
    pub fn on_group(&mut self, delta: Delta, arrived: Instant) {
        let arrived = (arrived.nanos() as i64).saturating_add(500_000) / 1_000_000;
        let first = *self.first_arrival.get_or_insert(arrived);
        self.groups = (self.groups + 1).min(MOST_COUNTED);
        self.accumulated += delta.arrived - delta.sent;
        self.least_accumulated = self.least_accumulated.min(self.accumulated);
        self.smoothed = SMOOTHING * self.smoothed + (1.0 - SMOOTHING) * self.accumulated;
        // The window is short enough to shift. The sums below then need no wrap-around.
        if self.window.len() == WINDOW {
            self.window.remove(0);
        }
        self.window.push((arrived.saturating_sub(first) as f64, self.smoothed));
        let mut trend = self.last_trend;
        if self.window.len() == WINDOW {
            trend = slope(&self.window).unwrap_or(trend);
        }
        self.detect(trend, delta.sent, arrived);
    }

    fn detect(&mut self, trend: f64, since_last: f64, now: i64) {
        if self.groups < 2 {
            self.usage = Usage::Normal;
            return;
        }
        let weighted = f64::from(self.groups.min(FULL_WEIGHT)) * trend * GAIN;
        if weighted > self.threshold {
            // The overuse is assumed to have begun halfway between the previous group and this one.
            let over_for = self.over_for.map_or(since_last / 2.0, |time| time + since_last);
            self.over_for = Some(over_for);
            self.over_count += 1;
            if over_for > OVERUSE_TIME && self.over_count > 1 && trend >= self.last_trend {
                self.over_for = Some(0.0);
                self.over_count = 0;
                self.usage = Usage::Over;
            }
        } else {
            self.over_for = None;
            self.over_count = 0;
            self.usage = if weighted < -self.threshold { Usage::Under } else { Usage::Normal };
        }
        self.last_trend = trend;
        self.move_threshold(weighted.abs(), now);
    }

    fn move_threshold(&mut self, trend: f64, now: i64) {
        let last = self.last_moved.replace(now).unwrap_or(now);
        if trend > self.threshold + SPIKE {
            return;
        }
        let gain = if trend < self.threshold { GAIN_DOWN } else { GAIN_UP };
        let elapsed = now.saturating_sub(last).min(LONGEST_STEP) as f64;
        self.threshold += gain * (trend - self.threshold) * elapsed;
        self.threshold = self.threshold.clamp(LEAST_THRESHOLD, MOST_THRESHOLD);
    }
}

/// Returns the slope of the least-squares line; `None` if all points have the same abscissa.
fn slope(points: &[(f64, f64)]) -> Option<f64> {
    let count = points.len() as f64;
    let (sum_x, sum_y) = points.iter().fold((0.0, 0.0), |(x, y), point| (x + point.0, y + point.1));
    let (mean_x, mean_y) = (sum_x / count, sum_y / count);
    let mut both = 0.0;
    let mut square = 0.0;
    for &(x, y) in points {
        both += (x - mean_x) * (y - mean_y);
        square += (x - mean_x) * (x - mean_x);
    }
    (square != 0.0).then(|| both / square)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(micros: u64) -> Instant {
        Instant::from_nanos(micros * 1000)
    }

    /// Feeds packets with the given send and arrival times in microseconds. Each is reported on arrival.
    fn deltas(packets: &[(u64, u64)]) -> Vec<Option<(f64, f64)>> {
        let mut groups = Groups::default();
        let answer = |delta: Delta| (delta.sent, delta.arrived);
        packets
            .iter()
            .map(|&(sent, arrived)| groups.on_packet(us(sent), us(arrived), us(arrived)).map(answer))
            .collect()
    }

    #[test]
    fn packets_sent_within_5_ms_are_a_group_and_the_third_group_gives_the_first_difference() {
        let packets = [(0, 50_000), (5_000, 56_000), (20_000, 72_000), (40_000, 95_000), (60_000, 115_000)];
        // The second packet belongs to the first group: sent within 5 ms, complete at 56 ms.
        assert_eq!(deltas(&packets), [None, None, None, Some((15.0, 16.0)), Some((20.0, 23.0))]);
        let one_more = [(0, 50_000), (5_001, 56_000), (20_000, 72_000)];
        assert_eq!(deltas(&one_more)[2], Some((5.001, 6.0)), "more than 5 ms after the first");
    }

    #[test]
    fn packets_that_arrive_closer_than_they_were_sent_are_a_burst() {
        // Sent 20 ms apart, arrived 5 ms apart: one group. With a sixth of a millisecond more, it is another group.
        assert_eq!(
            deltas(&[(0, 50_000), (20_000, 90_000), (40_000, 95_000), (60_000, 130_000)])[3],
            Some((40.0, 45.0))
        );
        assert_eq!(deltas(&[(0, 50_000), (20_000, 90_000), (40_000, 95_001)])[2], Some((20.0, 40.0)));
    }

    #[test]
    fn a_burst_lasts_less_than_100_ms() {
        let burst = |last: u64| -> Vec<(u64, u64)> {
            let mut packets = vec![(0, 50_000), (20_000, 400_000)];
            packets.extend((1..=20).map(|n| (20_000 + 6_000 * n, 400_000 + 5_000 * n)).take_while(|p| p.1 <= last));
            packets
        };
        assert!(deltas(&burst(495_000)).iter().all(Option::is_none));
        assert_eq!(deltas(&burst(500_000)).last().copied().flatten(), Some((134.0, 445.0)));
    }

    #[test]
    fn a_packet_sent_before_its_group_began_counts_nothing() {
        let packets = [(10_000, 60_000), (30_000, 80_000), (9_000, 81_000), (29_999, 82_000), (50_000, 100_000)];
        assert_eq!(deltas(&packets)[4], Some((20.0, 20.0)));
    }

    #[test]
    fn groups_begin_anew_when_the_receivers_clock_was_set() {
        let mut groups = Groups::default();
        let mut feed = |sent: u64, arrived: u64, now: u64| groups.on_packet(us(sent), us(arrived), us(now)).is_some();
        assert!(!feed(0, 50_000, 100_000));
        assert!(!feed(20_000, 70_000, 120_000));
        assert!(feed(40_000, 3_090_000 - 1, 140_000), "two groups are complete");
        assert!(feed(60_000, 3_110_000, 160_000), "2.999999 s ahead");
        let mut groups = Groups::default();
        let mut feed = |sent: u64, arrived: u64, now: u64| groups.on_packet(us(sent), us(arrived), us(now)).is_some();
        feed(0, 50_000, 100_000);
        feed(20_000, 70_000, 120_000);
        feed(40_000, 3_090_000, 140_000);
        assert!(!feed(60_000, 3_110_000, 160_000), "3 s ahead");
        assert!(!feed(80_000, 3_130_000, 180_000));
        assert!(!feed(100_000, 3_150_000, 200_000), "three groups are needed again");
        assert!(feed(120_000, 3_170_000, 220_000));
    }

    #[test]
    fn the_delay_that_the_line_is_drawn_through_is_smoothed_with_nine_tenths() {
        let mut trendline = Trendline::new(12.5);
        for n in 0..2 {
            trendline.on_group(Delta { sent: 20.0, arrived: 30.0 }, us(30_000 * n));
        }
        // Delays of 10 and 20 ms give 0.1 · 10, then 0.9 · 1 + 0.1 · 20.
        let smoothed: Vec<f64> = trendline.window.iter().map(|point| point.1).collect();
        assert!((smoothed[0] - 1.0).abs() < 1e-12 && (smoothed[1] - 2.9).abs() < 1e-12, "{smoothed:?}");
    }

    #[test]
    fn three_groups_in_a_row_that_arrived_before_their_predecessors_begin_anew() {
        let mut groups = Groups::default();
        let mut feed = |sent: u64, arrived: u64| groups.on_packet(us(sent), us(arrived), us(sent)).is_some();
        feed(0, 1_050_000);
        feed(20_000, 1_070_000);
        assert!(!feed(40_000, 90_000), "the clock goes back by a second: this looks like a burst");
        // The group ends before the previous one. The first two times there is no result; the third time everything is
        // reset.
        assert!(!feed(60_000, 110_000));
        assert!(!feed(80_000, 130_000));
        assert!(!feed(100_000, 150_000));
        assert!(!feed(120_000, 170_000));
        assert!(!feed(140_000, 190_000));
        assert!(feed(160_000, 210_000));
    }

    #[test]
    fn hostile_times_do_not_overflow() {
        let mut groups = Groups::default();
        let ends = [Instant::ZERO, Instant::NEVER, Instant::from_nanos(i64::MAX as u64), Instant::from_nanos(1 << 63)];
        for &sent in &ends {
            for &arrived in &ends {
                for &reported in &ends {
                    groups.on_packet(sent, arrived, reported);
                }
            }
        }
        let mut trend = Trendline::new(12.5);
        ends.iter().for_each(|&end| trend.on_group(Delta { sent: 1.0, arrived: 1.0 }, end));
    }

    /// Feeds groups 20 ms apart; each has `delay` milliseconds more delay than the previous one.
    fn grown(trend: &mut Trendline, groups: u64, from: u64, delay: f64) -> Usage {
        for n in from..from + groups {
            trend.on_group(
                Delta { sent: 20.0, arrived: 20.0 + delay },
                us(n * 20_000 + ((n - from) as f64 * delay * 1e3) as u64),
            );
        }
        trend.usage()
    }

    #[test]
    fn a_delay_that_stays_is_normal_one_that_grows_is_overuse_one_that_falls_underuse() {
        let mut trend = Trendline::new(12.5);
        assert_eq!(grown(&mut trend, 60, 0, 0.0), Usage::Normal);
        assert_eq!(grown(&mut trend, 20, 60, 5.0), Usage::Over);
        assert_eq!(trend.queueing(), 100.0);
        let mut trend = Trendline::new(12.5);
        grown(&mut trend, 60, 0, 0.0);
        trend.on_group(Delta { sent: 20.0, arrived: 420.0 }, us(1_600_000));
        for n in 0..35 {
            trend.on_group(Delta { sent: 20.0, arrived: 10.0 }, us(1_610_000 + n * 10_000));
        }
        assert_eq!(trend.usage(), Usage::Under);
    }

    #[test]
    fn an_overuse_needs_a_full_window() {
        let mut trend = Trendline::new(12.5);
        assert_eq!(grown(&mut trend, 19, 0, 5.0), Usage::Normal);
        assert_eq!(grown(&mut trend, 3, 19, 5.0), Usage::Over);
    }

    #[test]
    fn an_overuse_needs_more_than_10_ms_two_groups_and_a_trend_that_does_not_fall() {
        let detect = |trends: &[(f64, f64)]| {
            let mut trend = Trendline::new(12.5);
            trend.groups = 60;
            trends.iter().for_each(|&(slope, since)| trend.detect(slope, since, 0));
            trend.usage
        };
        // 60 groups and gain 4 multiply the trend by 240.
        assert_eq!(detect(&[(0.06, 30.0)]), Usage::Normal, "one group");
        assert_eq!(detect(&[(0.06, 10.0), (0.06, 6.0)]), Usage::Over, "11 ms");
        assert_eq!(detect(&[(0.06, 10.0), (0.06, 5.0)]), Usage::Normal, "10 ms");
        assert_eq!(detect(&[(0.06, 10.0), (0.059, 6.0)]), Usage::Normal, "the trend falls");
        assert_eq!(detect(&[(0.052, 10.0), (0.052, 6.0)]), Usage::Normal, "12.48 is below 12.5");
        assert_eq!(
            detect(&[(0.06, 10.0), (0.0, 6.0), (0.06, 10.0)]),
            Usage::Normal,
            "time counts from the start again"
        );
        assert_eq!(detect(&[(-0.06, 10.0)]), Usage::Under);
    }

    #[test]
    fn the_trend_counts_in_full_after_60_groups() {
        let mut trend = Trendline::new(12.5);
        trend.groups = 30;
        trend.detect(-0.1, 10.0, 0);
        assert_eq!(trend.usage, Usage::Normal, "30 × 0.1 × 4 = 12");
        trend.groups = 1000;
        trend.detect(-0.052, 10.0, 0);
        assert_eq!(trend.usage, Usage::Normal, "60 × 0.052 × 4 = 12.48");
        trend.detect(-0.06, 10.0, 0);
        assert_eq!(trend.usage, Usage::Under);
    }

    #[test]
    fn the_threshold_follows_the_trend_but_not_a_spike() {
        let moved = |value: f64, elapsed: i64| {
            let mut trend = Trendline::new(12.5);
            trend.move_threshold(12.5, 0);
            trend.move_threshold(value, elapsed);
            trend.threshold
        };
        assert!((moved(20.0, 50) - (12.5 + 0.0087 * 7.5 * 50.0)).abs() < 1e-12);
        assert!((moved(11.0, 50) - (12.5 - 0.039 * 1.5 * 50.0)).abs() < 1e-12);
        assert_eq!(moved(27.6, 50), 12.5, "more than 15 above");
        assert_eq!(moved(0.0, 50), 6.0, "the least");
        assert_eq!(moved(20.0, 5000), moved(20.0, 100), "at most 100 ms");
        let mut far = Trendline::new(599.0);
        far.move_threshold(613.0, 0);
        far.move_threshold(613.0, 100);
        assert_eq!(far.threshold, 600.0, "the most");
    }

    #[test]
    fn the_slope_is_that_of_least_squares() {
        assert_eq!(slope(&[(0.0, 1.0), (1.0, 3.0), (2.0, 5.0)]), Some(2.0));
        assert_eq!(slope(&[(0.0, 0.0), (1.0, 2.0), (2.0, 1.0)]), Some(0.5));
        assert_eq!(slope(&[(3.0, 1.0), (3.0, 2.0)]), None);
    }
}
