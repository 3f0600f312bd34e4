//! Changes of a link during the run, in addition to its rate: its delay changes, it fails and comes back, and packets
//! are delayed at random, overtake each other, or arrive twice.
//!
//! **Delay.** A packet takes the delay at the time when it leaves the transmitter. If the delay became shorter, the
//! packet arrives no earlier than the previous one, so packets stay in order. With `overtaking` it arrives after its
//! delay.
//!
//! **Jitter** (RFC 8868 §4.5.2, NR-BPDV). The addition comes on top of the delay. A packet that would arrive at j(n)
//! before j(n−1) + serial(n−1) arrives at that time instead: packets stay in order, and a packet follows a late one
//! no closer than the late one's transmission time. Here serial is the transmission time on this link, and all
//! packets of the link stay in order, across all flows. So a link that is always busy keeps the lateness of its
//! latest packet. To put jitter on top of a bottleneck, put it on a faster link behind the bottleneck. With
//! `overtaking` each packet arrives after its delay and its addition (§4.5.1, RBPDV).
//!
//! **Reordering.** A share of the packets, drawn one by one, is delayed further; the others do not wait for them. A
//! packet counts as reordered if one that left later arrives earlier (RFC 4737 §3, with numbers by departure). A copy
//! does not count.
//!
//! **Duplication.** A share of the arriving packets, drawn one by one, arrives twice, at the same time.
//!
//! **Failure.** A link fails at its sending end. Lost are the packets that wait there at the failure, the packet in
//! transmission, and all arrivals during the outage. Packets that have left the transmitter arrive. When the link
//! comes back, its queue is empty.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::jitter::JitterConfig;
use fairwave_units::config::{ConfigError, check_fraction};
use fairwave_units::random::Stream;
use fairwave_units::ratio::Ratio;
use fairwave_units::timed::Step;
use fairwave_units::units::{Instant, Span};

/// A time during which a link is down: `[from, to)` of the run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Outage {
    /// When the link fails, counted from the beginning of the run.
    pub from: Span,
    /// When the link comes back; never if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "not at all"))]
    pub to: Option<Span>,
}

impl Outage {
    fn ends(&self) -> Instant {
        self.to.map_or(Instant::NEVER, |to| Instant::ZERO + to)
    }
}

/// Delays a share of the packets, so that others overtake them.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Reorder {
    /// Share of the packets, from 0 to 1.
    #[serde(with = "Ratio")]
    pub share: f64,
    /// Extra delay of these packets, above 0.
    pub by: Span,
}

impl Reorder {
    /// Checks both.
    ///
    /// # Errors
    /// If the share is out of range, or the time is 0 or longer than an hour.
    pub fn check(&self) -> Result<(), ConfigError> {
        check_fraction("share", self.share, "share = 0.01")?;
        if self.by == Span::ZERO || self.by > Span::from_secs(3600) {
            let allowed = format!("a time above 0, up to {}", Span::from_secs(3600));
            return Err(ConfigError::new("by", self.by, allowed, "by = \"10 ms\""));
        }
        Ok(())
    }
}

/// Duplicates a share of the packets.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Duplicate {
    /// Share of the packets, from 0 to 1.
    #[serde(with = "Ratio")]
    pub share: f64,
}

impl Duplicate {
    /// Checks the share.
    ///
    /// # Errors
    /// If the share is out of range.
    pub fn check(&self) -> Result<(), ConfigError> {
        check_fraction("share", self.share, "share = 0.001")
    }
}

/// Changes of one direction of a link during the run.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Changes {
    /// Delays after the first one, in ascending order of time.
    pub delays: Vec<Step<Span>>,
    /// Whether a packet may arrive before an earlier one if the delay has become shorter.
    pub overtaking: bool,
    /// Outages in ascending order of time, without overlaps.
    pub outages: Vec<Outage>,
    /// Random additions to the delay.
    pub jitter: Option<JitterConfig>,
    /// Packets that are delayed so that others overtake them.
    pub reorder: Option<Reorder>,
    /// Packets that arrive twice.
    pub duplicate: Option<Duplicate>,
}

impl Changes {
    /// Whether nothing changes.
    pub fn is_none(&self) -> bool {
        let Changes { delays, overtaking: _, outages, jitter, reorder, duplicate } = self;
        delays.is_empty() && outages.is_empty() && jitter.is_none() && reorder.is_none() && duplicate.is_none()
    }

    /// Whether packets can arrive in a different order than they were sent.
    pub fn reorder(&self) -> bool {
        (self.overtaking && (!self.delays.is_empty() || self.jitter.is_some())) || self.reorder.is_some()
    }

    /// Checks the order of delays and outages, and the ranges of the other values.
    ///
    /// # Errors
    /// The first value that is out of order, empty, overlapping or out of range.
    pub fn check(&self) -> Result<(), ConfigError> {
        if let Some(pair) = self.delays.windows(2).find(|pair| pair[0].at >= pair[1].at) {
            let example = "delay = [{ at = \"0 s\", is = \"10 ms\" }, { at = \"20 s\", is = \"50 ms\" }]";
            let (value, allowed) =
                (format!("{} after {}", pair[1].at, pair[0].at), "in ascending order of `at`, each time once");
            return Err(ConfigError::new("delay", value, allowed, example));
        }
        check_outages(&self.outages)?;
        self.jitter.as_ref().map_or(Ok(()), JitterConfig::check).map_err(|error| error.nested_in("jitter"))?;
        self.reorder.as_ref().map_or(Ok(()), Reorder::check).map_err(|error| error.nested_in("reorder"))?;
        self.duplicate.as_ref().map_or(Ok(()), Duplicate::check).map_err(|error| error.nested_in("duplicate"))
    }
}

/// Checks that outages are in ascending order, do not overlap, and last longer than 0.
///
/// # Errors
/// The first outage that has no duration, begins before the previous one ends, or follows one without an end.
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

/// State of a packet when a failing link lost it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FailurePoint {
    /// It arrived, or its transmission was due, during the outage.
    Down,
    /// It was in transmission.
    InTransmission,
}

/// Running changes of a link. Times do not decrease from call to call.
#[derive(Clone, Debug)]
pub struct ActiveChanges {
    delay: Span,
    delays: Box<[Step<Span>]>,
    /// Index of the next delay.
    next_delay: usize,
    overtaking: bool,
    /// Earliest arrival of the next packet, unless packets overtake each other.
    latest: Instant,
    outages: Box<[Outage]>,
    /// Index of the first outage that is not over.
    next_outage: usize,
    jitter: Option<(JitterConfig, Stream)>,
    reorder: Option<(Reorder, Stream)>,
    duplicate: Option<(Duplicate, Stream)>,
    /// If packets can overtake each other: arrivals in ascending order of the packets that can still be overtaken.
    on_their_way: VecDeque<Instant>,
}

impl ActiveChanges {
    /// Returns the changes of a link that begins with `delay`. The changes have been checked. All randomness comes
    /// from the streams `jitter`, `reorder` and `duplicate`, which `stream` returns by name.
    pub fn new(delay: Span, changes: &Changes, stream: impl Fn(&str) -> Stream) -> Self {
        ActiveChanges {
            jitter: changes.jitter.clone().map(|law| (law, stream("jitter"))),
            reorder: changes.reorder.map(|law| (law, stream("reorder"))),
            duplicate: changes.duplicate.map(|law| (law, stream("duplicate"))),
            on_their_way: VecDeque::new(),
            delay,
            delays: changes.delays.clone().into(),
            next_delay: 0,
            overtaking: changes.overtaking,
            latest: Instant::ZERO,
            outages: changes.outages.clone().into(),
            next_outage: 0,
        }
    }

    /// Where and when a failure of the link removes the packet that is transmitted from `start` to `end`; `None` if
    /// none does.
    pub fn failure(&mut self, start: Instant, end: Instant) -> Option<(Instant, FailurePoint)> {
        while self.outages.get(self.next_outage).is_some_and(|outage| outage.ends() <= start) {
            self.next_outage += 1;
        }
        let from = Instant::ZERO + self.outages.get(self.next_outage)?.from;
        if start >= from {
            Some((start, FailurePoint::Down))
        } else {
            (end > from).then_some((from, FailurePoint::InTransmission))
        }
    }

    /// Index of the outage of the last failure.
    pub fn outage(&self) -> usize {
        self.next_outage
    }

    /// Total delay of a packet that leaves the transmitter at `now` after a transmission of length `transmission`.
    /// `more` is a further addition to the link's delay.
    pub fn delay(&mut self, now: Instant, transmission: Span, more: Span) -> Span {
        while let Some(step) = self.delays.get(self.next_delay).filter(|step| step.begins() <= now) {
            self.delay = step.is;
            self.next_delay += 1;
        }
        let mut arrival = now + self.delay + more;
        let mut behind = Span::ZERO;
        if let Some((law, stream)) = &mut self.jitter {
            arrival += law.draw(stream);
            behind = transmission;
        }
        if !self.overtaking {
            arrival = arrival.max(self.latest);
            self.latest = arrival + behind;
        }
        if let Some((Reorder { share, by }, stream)) = &mut self.reorder
            && stream.chance(*share)
        {
            arrival += *by;
        }
        arrival.span_since(now)
    }

    /// Records a packet that left at `now` and arrives at `arrival`. Returns how many earlier packets it is the first
    /// to overtake. Each packet is counted once.
    pub fn overtakes(&mut self, now: Instant, arrival: Instant) -> u64 {
        let mut overtaken = 0;
        while self.on_their_way.front().is_some_and(|first| *first <= now) {
            self.on_their_way.pop_front();
        }
        while self.on_their_way.back().is_some_and(|last| *last > arrival) {
            self.on_their_way.pop_back();
            overtaken += 1;
        }
        self.on_their_way.push_back(arrival);
        overtaken
    }

    /// Draws whether the next arriving packet arrives twice.
    pub fn twice(&mut self) -> bool {
        self.duplicate.as_mut().is_some_and(|(Duplicate { share }, stream)| stream.chance(*share))
    }

    /// Whether packets can arrive twice.
    pub fn duplicates(&self) -> bool {
        self.duplicate.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwave_units::random::Seed;

    fn changing(delay: u64, changes: &Changes) -> ActiveChanges {
        ActiveChanges::new(span(delay), changes, |name| Seed(1).stream(name))
    }

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
            let mut changing = changing(50, changes);
            [90, 99, 100, 120, 160, 200]
                .map(|sent| (ms(sent) + changing.delay(ms(sent), span(5), Span::ZERO)).nanos() / 1_000_000)
        };
        assert_eq!(arrivals(&changes), [140, 149, 149, 149, 170, 280]);
        assert_eq!(arrivals(&Changes { overtaking: true, ..changes }), [140, 149, 110, 130, 170, 280]);
    }

    #[test]
    fn a_failure_takes_what_is_being_sent_and_what_comes_until_the_link_is_back() {
        let changes = Changes { outages: vec![outage(100, Some(200)), outage(300, None)], ..Changes::default() };
        let mut changing = changing(50, &changes);
        let mut failure = |start, end| changing.failure(ms(start), ms(end));
        assert_eq!(failure(80, 90), None);
        assert_eq!(failure(90, 100), None, "it has been sent when the link fails");
        assert_eq!(failure(95, 105), Some((ms(100), FailurePoint::InTransmission)));
        assert_eq!(failure(100, 110), Some((ms(100), FailurePoint::Down)));
        assert_eq!(failure(199, 209), Some((ms(199), FailurePoint::Down)));
        assert_eq!(failure(200, 210), None);
        assert_eq!(failure(290, 310), Some((ms(300), FailurePoint::InTransmission)));
        assert_eq!(failure(10_000, 10_001), Some((ms(10_000), FailurePoint::Down)));
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

    fn jitter(json: &str) -> Option<JitterConfig> {
        Some(serde_json::from_str(json).expect("a law"))
    }

    #[test]
    fn jitter_keeps_packets_in_order_and_apart_by_the_transmission_of_the_one_before() {
        let changes = Changes { jitter: jitter(r#"{ "model": "uniform", "up-to": "30 ms" }"#), ..Changes::default() };
        let (mut law, mut stream) = (changing(50, &changes), Seed(1).stream("jitter"));
        let mut before = None;
        let mut held = 0;
        for sent in (0..5_000).map(|packet| ms(5 * packet)) {
            let own = sent + span(50) + stream.span_between(Span::ZERO, span(30));
            let arrival = sent + law.delay(sent, span(3), Span::ZERO);
            // RFC 8868 §4.5.2: j(n), or j(n-1) + serial(n-1) if that is later.
            assert_eq!(arrival, before.map_or(own, |before: Instant| own.max(before + span(3))));
            held += u32::from(arrival > own);
            before = Some(arrival);
        }
        assert!((1_000..4_000).contains(&held), "{held} of 5000 were held back");
    }

    #[test]
    fn jitter_lets_packets_overtake_if_that_is_asked_for() {
        let changes = Changes {
            jitter: jitter(r#"{ "model": "uniform", "up-to": "30 ms" }"#),
            overtaking: true,
            ..Changes::default()
        };
        assert!(changes.reorder());
        let (mut law, mut stream) = (changing(50, &changes), Seed(1).stream("jitter"));
        for sent in (0..100).map(|packet| ms(5 * packet)) {
            assert_eq!(law.delay(sent, span(3), Span::ZERO), span(50) + stream.span_between(Span::ZERO, span(30)));
        }
    }

    #[test]
    fn a_share_of_the_packets_is_late_by_so_much_and_the_others_do_not_wait() {
        let reorder = Reorder { share: 0.2, by: span(12) };
        let changes = Changes { reorder: Some(reorder), ..Changes::default() };
        assert!(changes.reorder() && !changes.is_none());
        let mut law = changing(50, &changes);
        let mut late = 0;
        for packet in 0..10_000 {
            let delay = law.delay(ms(5 * packet), span(3), Span::ZERO);
            assert!([span(50), span(62)].contains(&delay));
            late += u32::from(delay == span(62));
        }
        assert!(late.abs_diff(2_000) < 150, "{late} of 10000");
    }

    #[test]
    fn a_packet_is_overtaken_once_however_many_pass_it() {
        let mut law = changing(0, &Changes::default());
        let mut overtakes = |left, arrives| law.overtakes(ms(left), ms(arrives));
        assert_eq!([overtakes(0, 30), overtakes(1, 40), overtakes(2, 20)], [0, 0, 2]);
        assert_eq!([overtakes(3, 19), overtakes(4, 19), overtakes(5, 25)], [1, 0, 0]);
        assert_eq!(overtakes(50, 60), 0);
    }

    #[test]
    fn a_share_of_the_packets_comes_twice() {
        let twice = |share: f64| {
            let mut law = changing(0, &Changes { duplicate: Some(Duplicate { share }), ..Changes::default() });
            (0..100_000).filter(|_| law.twice()).count()
        };
        assert!(twice(0.05).abs_diff(5_000) < 300);
        assert_eq!([twice(0.0), twice(1.0)], [0, 100_000]);
        assert!(!changing(0, &Changes::default()).twice());
    }

    #[test]
    fn a_share_that_is_none_and_no_time_are_refused_by_their_keys() {
        let refused = |changes: Changes| changes.check().map_err(|error| error.key);
        let reorder = |share, by| Changes { reorder: Some(Reorder { share, by: span(by) }), ..Changes::default() };
        assert_eq!(refused(reorder(1.5, 10)), Err("reorder.share".to_owned()));
        assert_eq!(refused(reorder(0.5, 0)), Err("reorder.by".to_owned()));
        assert_eq!(refused(reorder(0.5, 10)), Ok(()));
        let duplicate = Changes { duplicate: Some(Duplicate { share: f64::NAN }), ..Changes::default() };
        assert_eq!(refused(duplicate), Err("duplicate.share".to_owned()));
        let none = Changes { jitter: jitter(r#"{ "model": "uniform", "up-to": "0 s" }"#), ..Changes::default() };
        assert_eq!(refused(none), Err("jitter.up-to".to_owned()));
    }
}
