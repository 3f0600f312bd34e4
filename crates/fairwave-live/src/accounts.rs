//! Accuracy report of a live run: the lateness of packets, the rate errors, and the fate of every packet.

use fairwave_core::units::{Instant, Span};
use serde::Serialize;

use crate::lateness::Lateness;
use crate::promise::{Judgement, judge};

/// Promise: the mean relative rate error over windows of one second. A run with a larger error has failed.
pub const RATE_PROMISE: f64 = 0.005;

/// Promise: at least 99 % of packets leave at most this late, compared with their nominal time.
pub const LATENESS_PROMISE: Span = Span::from_millis(1);

/// Largest share of packets that may be later than [`LATENESS_PROMISE`].
const MISSED_PROMISE: f64 = 0.01;

/// Window over which rates are compared.
const WINDOW: Span = Span::from_millis(1000);

/// A longer idle period of a link restarts the window, because an idle link has no rate.
const REST: Span = Span::from_millis(100);

/// Release time of a packet: nominal and by the real clock.
#[derive(Clone, Copy, Debug)]
struct ReleaseTime {
    nominal: Instant,
    real: Instant,
}

/// First and last release in the current window of one link.
#[derive(Clone, Debug, Default)]
struct ReleaseRate {
    first: Option<ReleaseTime>,
    last: Option<ReleaseTime>,
}

/// Relative rate errors of complete windows.
#[derive(Clone, Debug, Default)]
struct RateErrors {
    sum: f64,
    windows: u64,
    worst: f64,
}

/// Running counts.
#[derive(Clone, Debug)]
pub struct Accounts {
    lateness: Lateness,
    missed: u64,
    paces: Vec<ReleaseRate>,
    errors: RateErrors,
    /// Fate of all packets.
    pub books: Books,
}

/// Fate of every packet that the hosts handed over, in packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Books {
    /// Read from hosts.
    pub read: u64,
    /// Read, and discarded: not IPv4, or between hosts that the scenario does not connect.
    pub unmapped: u64,
    /// Read after the end of the run.
    pub after_end: u64,
    /// Copies made by links.
    pub copied: u64,
    /// Written to hosts.
    pub released: u64,
    /// Dropped by queues.
    pub dropped: u64,
    /// Lost by links.
    pub lost: u64,
    /// In queues and on links when the run ended.
    pub queued: u64,
    /// Released, but refused by the kernel of the host.
    pub refused: u64,
    /// Never read: dropped by full devices of hosts while the router was late.
    pub device_dropped: u64,
}

impl Books {
    /// Checks that read + copied = released + dropped + lost + queued + unmapped + after the end.
    pub fn are_closed(&self) -> bool {
        self.read + self.copied
            == self.released + self.dropped + self.lost + self.queued + self.unmapped + self.after_end
    }
}

impl Accounts {
    /// Returns empty accounts for a run with `links` links.
    pub fn new(links: usize) -> Self {
        Accounts {
            lateness: Lateness::default(),
            missed: 0,
            paces: vec![ReleaseRate::default(); links],
            errors: RateErrors::default(),
            books: Books::default(),
        }
    }

    /// Records a packet that arrived by `link`, was due at `nominal` and left at `real`.
    pub fn released(&mut self, link: usize, nominal: Instant, real: Instant) {
        self.books.released += 1;
        let late = real - nominal;
        self.lateness.add(late);
        self.missed += u64::from(late > LATENESS_PROMISE);
        let Some(pace) = self.paces.get_mut(link) else { return };
        let now = ReleaseTime { nominal, real };
        let rested = pace.last.replace(now).is_some_and(|last| nominal - last.nominal > REST);
        let Some(first) = pace.first.filter(|_| !rested) else {
            pace.first = Some(now);
            return;
        };
        let span = nominal - first.nominal;
        if span >= WINDOW {
            pace.first = Some(now);
            // The bytes are the same, so the rate error equals the error of the time span.
            let error = ((real - first.real).seconds() / span.seconds() - 1.0).abs();
            self.errors.sum += error;
            self.errors.windows += 1;
            self.errors.worst = self.errors.worst.max(error);
        }
    }

    /// Returns the report of a run that lasted `lasted`.
    pub fn report(&self, lasted: Span, cpu: Option<Span>, urgent: bool) -> Report {
        let seconds = |span: Option<Span>| span.map(Span::seconds);
        let windows = self.errors.windows;
        Report {
            lasted_s: lasted.seconds(),
            rate_error: self.rate_error(),
            rate_error_worst: (windows > 0).then_some(self.errors.worst),
            rate_seconds: windows,
            lateness_p50_s: seconds(self.lateness.percentile(0.5)),
            lateness_p99_s: seconds(self.lateness.percentile(0.99)),
            lateness_worst_s: seconds(self.lateness.worst()),
            deadlines_missed: self.missed,
            cpu: cpu.filter(|_| lasted > Span::ZERO).map(|cpu| cpu.seconds() / lasted.seconds()),
            urgent,
            books: self.books,
            books_closed: self.books.are_closed(),
            judgement: self.judgement(),
            broken: self.broken(urgent),
            not_judged: self.not_judged(),
        }
    }

    /// Returns the broken promise and a remedy; `None` if no promise is broken.
    fn broken(&self, urgent: bool) -> Option<String> {
        let advice = if urgent {
            "let nothing else run on this machine, use lower rates or fewer hosts"
        } else {
            "run it as root or with `ulimit -r 10` (the router may then run before others), or let nothing else run on this machine"
        };
        if self.punctual() == Judgement::Broken {
            let Accounts { missed, lateness: Lateness { values, .. }, .. } = self;
            return Some(format!(
                "{missed} of {values} packets ({:.1} %) left more than {LATENESS_PROMISE} late, and at most {:.0} % may: {advice}",
                *missed as f64 / *values as f64 * 100.0,
                MISSED_PROMISE * 100.0
            ));
        }
        if let Some(error) = self.rate_error().filter(|error| *error > RATE_PROMISE) {
            return Some(format!(
                "rates were off by {:.2} % on average over a second, and {:.1} % is promised: {advice}",
                error * 100.0,
                RATE_PROMISE * 100.0
            ));
        }
        let dropped = self.books.device_dropped;
        (dropped > 0).then(|| format!("{dropped} packets were not read in time: {advice}"))
    }

    /// Judges the lateness promise.
    fn punctual(&self) -> Judgement {
        judge(self.missed, self.lateness.values, MISSED_PROMISE)
    }

    fn rate_error(&self) -> Option<f64> {
        (self.errors.windows > 0).then(|| self.errors.sum / self.errors.windows as f64)
    }

    /// Judges all promises together. The rate promise counts only if a link was busy for a whole second.
    fn judgement(&self) -> Judgement {
        if self.broken(true).is_some() { Judgement::Broken } else { self.punctual() }
    }

    /// Returns why the promises cannot be judged, and a remedy; `None` if they can.
    fn not_judged(&self) -> Option<String> {
        let Accounts { missed, lateness: Lateness { values, .. }, .. } = self;
        if self.judgement() != Judgement::NotJudged {
            return None;
        }
        if *values == 0 {
            return Some("no packet crossed the network".to_owned());
        }
        Some(format!(
            "{missed} of {values} packets left more than {LATENESS_PROMISE} late, which neither shows nor excludes that more than \
                 {:.0} % do (95 % confidence): run it longer, or send more packets; 299 packets in time are enough",
            MISSED_PROMISE * 100.0
        ))
    }
}

/// Accuracy report of a run. Values that were not measured are `None`.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Report {
    /// Duration of the run, s.
    pub lasted_s: f64,
    /// Mean relative rate error over the seconds in which a link was busy, 0 to 1.
    pub rate_error: Option<f64>,
    /// Largest relative rate error of a second.
    pub rate_error_worst: Option<f64>,
    /// Number of seconds over which rates were compared.
    pub rate_seconds: u64,
    /// Median lateness, s.
    pub lateness_p50_s: Option<f64>,
    /// 99th percentile of the lateness, s.
    pub lateness_p99_s: Option<f64>,
    /// Largest lateness, s.
    pub lateness_worst_s: Option<f64>,
    /// Packets that were later than [`LATENESS_PROMISE`]. At most 1 of 100 may be.
    pub deadlines_missed: u64,
    /// Share of one processor that the router used.
    pub cpu: Option<f64>,
    /// True if the router ran with real-time priority.
    pub urgent: bool,
    /// Fate of all packets.
    pub books: Books,
    /// True if the books account for every packet.
    pub books_closed: bool,
    /// Judgement of the promises.
    pub judgement: Judgement,
    /// The broken promise, and a remedy.
    pub broken: Option<String>,
    /// Why the promises could not be judged, and what to change.
    pub not_judged: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reports 10 s with one packet per millisecond. The real clock runs `stretch` times as fast, and each packet is
    /// `late`.
    fn run(stretch: f64, late: Span) -> Report {
        let mut accounts = Accounts::new(1);
        for packet in 0..10_000 {
            let nominal = Instant::from_seconds(f64::from(packet) / 1e3);
            let real = Instant::from_seconds(f64::from(packet) / 1e3 * stretch) + late;
            accounts.released(0, nominal, real);
        }
        accounts.report(Span::from_secs(10), None, true)
    }

    #[test]
    fn packets_that_leave_in_time_keep_the_promise() {
        let report = run(1.0, Span::from_micros(90));
        assert_eq!((report.broken, report.not_judged, report.deadlines_missed), (None, None, 0));
        assert_eq!(report.judgement, Judgement::Kept);
        assert!(report.rate_error.expect("seconds") < 1e-6 && report.rate_seconds == 9);
        assert!((report.lateness_p99_s.expect("packets") - 90e-6).abs() < 3e-6);
    }

    #[test]
    fn late_packets_and_wrong_rates_break_it() {
        let late = run(1.0, Span::from_millis(2));
        let broken = late.broken.expect("broken");
        assert!(broken.starts_with("10000 of 10000 packets (100.0 %) left more than 1 ms late"), "{broken}");
        assert_eq!(late.deadlines_missed, 10_000);
        let mut accounts = Accounts::new(1);
        for packet in 0..10_000u64 {
            // The rate is 1 % too high: each packet leaves 1 % earlier, relative to the start.
            let nominal = Instant::from_nanos(packet * 1_000_000);
            accounts.released(0, nominal, Instant::from_nanos(packet * 990_000));
        }
        let report = accounts.report(Span::from_secs(10), None, true);
        assert!((report.rate_error.expect("seconds") - 0.01).abs() < 1e-6);
        assert!(report.broken.expect("broken").contains("1.00 %"));
    }

    /// Reports `packets` packets, 1 ns apart. The first `missed` of them are late.
    fn missing(missed: u64, packets: u64) -> Report {
        let mut accounts = Accounts::new(1);
        for packet in 0..packets {
            let nominal = Instant::from_nanos(packet);
            let late = if packet < missed { Span::from_millis(5) } else { Span::ZERO };
            accounts.released(0, nominal, nominal + late);
        }
        accounts.report(Span::from_secs(1), None, true)
    }

    #[test]
    fn few_packets_break_the_promise_where_they_contradict_it() {
        let report = missing(389, 920);
        assert_eq!(report.judgement, Judgement::Broken);
        assert!(report.broken.expect("broken").starts_with("389 of 920 packets (42.3 %) left more than 1 ms late"));
    }

    #[test]
    fn packets_that_show_nothing_are_not_judged() {
        let report = missing(3, 298);
        assert_eq!((report.judgement, report.broken), (Judgement::NotJudged, None));
        assert!(report.not_judged.expect("a reason").starts_with("3 of 298 packets left more than 1 ms late"));
        assert_eq!(missing(0, 0).judgement, Judgement::NotJudged);
        assert_eq!(missing(0, 299).judgement, Judgement::Kept);
    }

    #[test]
    fn a_rest_is_no_rate() {
        let mut accounts = Accounts::new(1);
        for packet in 0..10u64 {
            let nominal = Instant::from_nanos(packet * 500_000_000);
            accounts.released(0, nominal, nominal + Span::from_micros(packet * 900));
        }
        assert_eq!(accounts.report(Span::from_secs(5), None, true).rate_error, None);
    }

    #[test]
    fn a_packet_that_is_nowhere_leaves_the_books_open() {
        let closed =
            Books { read: 10, copied: 1, released: 5, dropped: 2, lost: 1, queued: 2, unmapped: 1, ..Books::default() };
        assert!(closed.are_closed());
        assert!(!Books { released: 4, ..closed }.are_closed());
    }
}
