//! What a live run says of itself: how late packets left, how true its rates were, and what became of every packet.

use fairwave_core::units::{Instant, Span};
use serde::Serialize;

use crate::lateness::Lateness;
use crate::promise::{Judgement, judge};

/// Rates are right to this part over a second, or the run has failed.
pub const RATE_PROMISE: f64 = 0.005;

/// Of a hundred packets 99 leave no later than this after their nominal time, or the run has failed.
pub const LATENESS_PROMISE: Span = Span::from_millis(1);

/// The share of packets that may leave later.
const MISSED_PROMISE: f64 = 0.01;

/// Over how long a rate is compared.
const WINDOW: Span = Span::from_millis(1000);

/// A link that is idle for longer begins its comparison again: an idle link has no rate.
const REST: Span = Span::from_millis(100);

/// A time, nominal and by the clock.
#[derive(Clone, Copy, Debug)]
struct ReleaseTime {
    nominal: Instant,
    real: Instant,
}

/// One link's rate, second by second.
#[derive(Clone, Debug, Default)]
struct ReleaseRate {
    first: Option<ReleaseTime>,
    last: Option<ReleaseTime>,
}

/// Rate errors of whole windows.
#[derive(Clone, Debug, Default)]
struct RateErrors {
    sum: f64,
    windows: u64,
    worst: f64,
}

/// Counts as the run goes on.
#[derive(Clone, Debug)]
pub struct Accounts {
    lateness: Lateness,
    missed: u64,
    paces: Vec<ReleaseRate>,
    errors: RateErrors,
    /// What became of packets.
    pub books: Books,
}

/// What became of every packet that the hosts handed over.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Books {
    /// Packets that were read from hosts.
    pub read: u64,
    /// Of those, what is no IPv4, or between hosts that the scenario does not connect; it went nowhere.
    pub unmapped: u64,
    /// Of those, what came after the end of the run.
    pub after_end: u64,
    /// Copies that links made.
    pub copied: u64,
    /// Packets that were written to hosts.
    pub released: u64,
    /// Dropped by queues.
    pub dropped: u64,
    /// Lost by links.
    pub lost: u64,
    /// In queues and on links when the run ended.
    pub queued: u64,
    /// Released, and refused by the host's kernel.
    pub refused: u64,
    /// Never read: what hosts' devices had no room for while the router was late.
    pub device_dropped: u64,
}

impl Books {
    /// Whether every packet is somewhere: read + copied = released + dropped + lost + queued + unmapped + after the end.
    pub fn are_closed(&self) -> bool {
        self.read + self.copied
            == self.released + self.dropped + self.lost + self.queued + self.unmapped + self.after_end
    }
}

impl Accounts {
    /// Nothing yet, of so many links.
    pub fn new(links: usize) -> Self {
        Accounts {
            lateness: Lateness::default(),
            missed: 0,
            paces: vec![ReleaseRate::default(); links],
            errors: RateErrors::default(),
            books: Books::default(),
        }
    }

    /// A packet that came by `link` was to leave at `nominal`, and has left at `real`.
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
            // As many bytes in another time: the rate is off by as much as the time is.
            let error = ((real - first.real).seconds() / span.seconds() - 1.0).abs();
            self.errors.sum += error;
            self.errors.windows += 1;
            self.errors.worst = self.errors.worst.max(error);
        }
    }

    /// All there is to say.
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

    /// Which promise was not kept, and what to change; none if all were.
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

    /// Whether packets left in time.
    fn punctual(&self) -> Judgement {
        judge(self.missed, self.lateness.values, MISSED_PROMISE)
    }

    fn rate_error(&self) -> Option<f64> {
        (self.errors.windows > 0).then(|| self.errors.sum / self.errors.windows as f64)
    }

    /// What is to be said of all promises together. That of rates is judged where a link was busy for a second, and no other.
    fn judgement(&self) -> Judgement {
        if self.broken(true).is_some() { Judgement::Broken } else { self.punctual() }
    }

    /// Why nothing can be said, and what to change; none if something can.
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

/// The accounts of a run; what was not measured is none.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Report {
    /// How long it lasted.
    pub lasted_s: f64,
    /// Mean of the rate errors of seconds in which a link was at work, a fraction.
    pub rate_error: Option<f64>,
    /// The worst of them.
    pub rate_error_worst: Option<f64>,
    /// How many there were.
    pub rate_seconds: u64,
    /// Half of the packets left no later than this after their nominal time.
    pub lateness_p50_s: Option<f64>,
    /// 99 of a hundred did.
    pub lateness_p99_s: Option<f64>,
    /// All did.
    pub lateness_worst_s: Option<f64>,
    /// Packets that left later than the promise allows 1 of 100.
    pub deadlines_missed: u64,
    /// Part of one processor that the router used.
    pub cpu: Option<f64>,
    /// The router ran before ordinary programs.
    pub urgent: bool,
    /// What became of packets.
    pub books: Books,
    /// Every packet is somewhere.
    pub books_closed: bool,
    /// Whether the promises were kept.
    pub judgement: Judgement,
    /// Which promise was not kept, and what to change.
    pub broken: Option<String>,
    /// Why the promises could not be judged, and what to change.
    pub not_judged: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten seconds of a packet a millisecond, whose clock runs by `stretch`, each `late`.
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
            // A rate that is 1 % too high: each second's packets go early against those before.
            let nominal = Instant::from_nanos(packet * 1_000_000);
            accounts.released(0, nominal, Instant::from_nanos(packet * 990_000));
        }
        let report = accounts.report(Span::from_secs(10), None, true);
        assert!((report.rate_error.expect("seconds") - 0.01).abs() < 1e-6);
        assert!(report.broken.expect("broken").contains("1.00 %"));
    }

    /// So many packets a millisecond apart, the first of them late.
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
