//! What becomes of a link in the course of a run besides its rate: its delay changes, it fails and comes back.
//!
//! **Delay.** A packet takes the delay that holds when it leaves the transmitter. Where the delay has become shorter it arrives
//! no earlier than the one before it, so that packets stay in order; with `overtaking` it arrives when its own delay is over.
//!
//! **Failure.** A link fails at its sending end. What waits there when it fails, what is being transmitted, and what comes while
//! it is down is lost; what has left the transmitter arrives. When the link comes back, it finds an empty queue.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::ConfigError;
use crate::timed::Step;
use crate::units::{Instant, Span};

/// A time during which a link is down: `[from, to)` of the run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Outage {
    /// When the link fails, counted from the beginning of the run.
    pub from: Span,
    /// When it comes back; not at all if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Span>,
}

impl Outage {
    fn ends(&self) -> Instant {
        self.to.map_or(Instant::NEVER, |to| Instant::ZERO + to)
    }
}

/// What becomes of one direction of a link in the course of a run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Changes {
    /// Delays after the first one, in ascending order of time.
    pub delays: Vec<Step<Span>>,
    /// A packet may arrive before one that was sent earlier, where the delay has become shorter.
    pub overtaking: bool,
    /// When it is down, in ascending order of time, without overlaps.
    pub outages: Vec<Outage>,
}

impl Changes {
    /// Nothing changes.
    pub fn is_none(&self) -> bool {
        self.delays.is_empty() && self.outages.is_empty()
    }

    /// Packets may arrive in another order than they were sent.
    pub fn reorder(&self) -> bool {
        self.overtaking && !self.delays.is_empty()
    }

    /// Checks the order of delays and outages.
    ///
    /// # Errors
    /// What is out of order, empty or overlaps.
    pub fn check(&self) -> Result<(), ConfigError> {
        if let Some(pair) = self.delays.windows(2).find(|pair| pair[0].at >= pair[1].at) {
            let example = "delay = [{ at = \"0 s\", is = \"10 ms\" }, { at = \"20 s\", is = \"50 ms\" }]";
            let (value, allowed) =
                (format!("{} after {}", pair[1].at, pair[0].at), "in ascending order of `at`, each time once");
            return Err(ConfigError::new("delay", value, allowed, example));
        }
        check_outages(&self.outages)
    }
}

/// Accepts outages that last, in ascending order, none before the end of the one before it.
///
/// # Errors
/// One that lasts no time, that begins before the one before it ends, or that follows one without an end.
pub fn check_outages(outages: &[Outage]) -> Result<(), ConfigError> {
    let refuse = |value: String, allowed: &str| {
        Err(ConfigError::new("outages", value, allowed, "outages = [{ from = \"10 s\", to = \"12 s\" }]"))
    };
    for outage in outages {
        if let Some(to) = outage.to.filter(|to| *to <= outage.from) {
            return refuse(format!("from {} to {to}", outage.from), "such that each ends later than it begins");
        }
    }
    match outages.windows(2).find(|pair| pair[0].to.is_none_or(|to| pair[1].from < to)) {
        Some(pair) => {
            let until = pair[0].to.map_or("for good".to_owned(), |to| format!("until {to}"));
            let value = format!("down from {} {until}, and again from {}", pair[0].from, pair[1].from);
            refuse(value, "in ascending order, each after the end of the one before it")
        }
        None => Ok(()),
    }
}

/// Where a packet was that a failing link lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Failed {
    /// It came, or its turn came, while the link was down.
    Down,
    /// It was being transmitted.
    InTransmission,
}

/// Changes at work. Times do not decrease from call to call.
#[derive(Clone, Debug)]
pub struct Changing {
    delay: Span,
    delays: Box<[Step<Span>]>,
    /// The next delay.
    next_delay: usize,
    overtaking: bool,
    /// When the latest packet arrives.
    latest: Instant,
    outages: Box<[Outage]>,
    /// The first outage that is not over.
    next_outage: usize,
}

impl Changing {
    /// A link that begins with `delay`. The changes have been checked.
    pub fn new(delay: Span, changes: &Changes) -> Self {
        Changing {
            delay,
            delays: changes.delays.clone().into(),
            next_delay: 0,
            overtaking: changes.overtaking,
            latest: Instant::ZERO,
            outages: changes.outages.clone().into(),
            next_outage: 0,
        }
    }

    /// Whether, where and when a failure of the link takes the packet whose transmission would begin at `start` and end at `end`.
    pub fn failure(&mut self, start: Instant, end: Instant) -> Option<(Instant, Failed)> {
        while self.outages.get(self.next_outage).is_some_and(|outage| outage.ends() <= start) {
            self.next_outage += 1;
        }
        let from = Instant::ZERO + self.outages.get(self.next_outage)?.from;
        if start >= from { Some((start, Failed::Down)) } else { (end > from).then_some((from, Failed::InTransmission)) }
    }

    /// The outage in which the last failure fell, by its place among the link's.
    pub fn outage(&self) -> usize {
        self.next_outage
    }

    /// How long the packet takes that leaves the transmitter at `now`.
    pub fn delay(&mut self, now: Instant) -> Span {
        while let Some(step) = self.delays.get(self.next_delay).filter(|step| step.begins() <= now) {
            self.delay = step.is;
            self.next_delay += 1;
        }
        if self.overtaking {
            return self.delay;
        }
        self.latest = self.latest.max(now + self.delay);
        self.latest.since(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Instant {
        Instant::ZERO + Span::from_millis(millis)
    }

    fn span(millis: u64) -> Span {
        Span::from_millis(millis)
    }

    fn outage(from: u64, to: Option<u64>) -> Outage {
        Outage { from: span(from), to: to.map(span) }
    }

    #[test]
    fn a_packet_takes_the_delay_that_holds_when_it_leaves_and_overtakes_only_if_it_may() {
        let delays = vec![Step::new(span(100), span(10)), Step::new(span(200), span(80))];
        let changes = Changes { delays, ..Changes::default() };
        let arrivals = |changes: &Changes| {
            let mut changing = Changing::new(span(50), changes);
            [90, 99, 100, 120, 160, 200].map(|sent| (ms(sent) + changing.delay(ms(sent))).nanos() / 1_000_000)
        };
        assert_eq!(arrivals(&changes), [140, 149, 149, 149, 170, 280]);
        assert_eq!(arrivals(&Changes { overtaking: true, ..changes }), [140, 149, 110, 130, 170, 280]);
    }

    #[test]
    fn a_failure_takes_what_is_being_sent_and_what_comes_until_the_link_is_back() {
        let changes = Changes { outages: vec![outage(100, Some(200)), outage(300, None)], ..Changes::default() };
        let mut changing = Changing::new(span(50), &changes);
        let mut failure = |start, end| changing.failure(ms(start), ms(end));
        assert_eq!(failure(80, 90), None);
        assert_eq!(failure(90, 100), None, "it has been sent when the link fails");
        assert_eq!(failure(95, 105), Some((ms(100), Failed::InTransmission)));
        assert_eq!(failure(100, 110), Some((ms(100), Failed::Down)));
        assert_eq!(failure(199, 209), Some((ms(199), Failed::Down)));
        assert_eq!(failure(200, 210), None);
        assert_eq!(failure(290, 310), Some((ms(300), Failed::InTransmission)));
        assert_eq!(failure(10_000, 10_001), Some((ms(10_000), Failed::Down)));
    }

    #[test]
    fn outages_without_length_out_of_order_or_after_the_last_are_refused() {
        let refused = |outages: &[Outage]| check_outages(outages).is_err();
        assert!(!refused(&[outage(1, Some(2)), outage(2, Some(3)), outage(5, None)]));
        assert!(refused(&[outage(2, Some(2))]));
        assert!(refused(&[outage(3, Some(4)), outage(1, Some(2))]));
        assert!(refused(&[outage(1, Some(4)), outage(3, Some(5))]));
        assert!(refused(&[outage(1, None), outage(3, Some(5))]));
        let delays = vec![Step::new(span(5), span(1)), Step::new(span(5), span(2))];
        assert_eq!(Changes { delays, ..Changes::default() }.check().expect_err("twice").key, "delay");
    }
}
