//! A rate that changes at known times, at work: what schedules, traces and chains of states have in common.
//!
//! The course of a rate is a row of segments, each with its rate and with what has been sent before it. A transmission that begins
//! at s ends at the first t for which the integral of the rate from s to t is its size, to the nearest nanosecond. A transmission
//! that begins when the last one ended also sends what that one has left by rounding, so rounding errors do not add up.
//!
//! Most transmissions end in the segment in which they begin, or in one of the next; those are found by going on from the one
//! before. What lies farther is found by bisection. So a transmission costs the same however long the course is.

use super::Transmitter;
use fairwave_units::units::{Bytes, Instant, Rate, Span};

/// What a byte is in the unit of [`Segment::sent`]: bits per second times nanoseconds.
pub(super) const BYTE: u128 = 8_000_000_000;

/// Number of segments that are searched one by one before the rest is bisected.
const NEAR: usize = 16;

/// A time during which the rate is the same.
#[derive(Clone, Copy, Debug)]
struct Segment {
    /// Nanoseconds from the beginning of the course.
    at: u64,
    /// Bits per second.
    rate: u64,
    /// What the course has sent before it, in bits per second times nanoseconds.
    sent: u128,
}

/// Segments one after the other, as they are put together.
#[derive(Clone, Debug, Default)]
pub(super) struct Segments {
    list: Vec<Segment>,
    /// When the last one ends, in nanoseconds; none if it does not.
    ends: Option<u64>,
    /// What all send, where the last one ends.
    sent: u128,
    /// More has been sent than can be counted.
    too_much: bool,
}

impl Segments {
    /// What has been sent when the last segment has lasted until `at`.
    fn sent_until(&self, at: u64) -> Option<u128> {
        let Some(last) = self.list.last() else { return Some(0) };
        let length = u128::from(at.saturating_sub(last.at));
        // So that a run's worth of periods can be added.
        u128::from(last.rate)
            .checked_mul(length)
            .and_then(|own| last.sent.checked_add(own))
            .filter(|sent| *sent < 1 << 100)
    }

    /// Adds a segment that begins at `at`, later than the one before it.
    pub fn push(&mut self, at: Span, rate: Rate) {
        let sent = self.sent_until(at.nanos());
        self.too_much |= sent.is_none();
        self.list.push(Segment { at: at.nanos(), rate: rate.bits_per_second(), sent: sent.unwrap_or_default() });
    }

    /// Lets the last segment end, if that is said. Answers with what all send, in bits per second times nanoseconds; none if that is
    /// more than can be counted.
    pub fn end(&mut self, at: Option<Span>) -> Option<u128> {
        self.ends = at.map(Span::nanos);
        let sent = self.ends.map_or(Some(0), |end| self.sent_until(end));
        self.too_much |= sent.is_none();
        self.sent = sent.unwrap_or_default();
        (!self.too_much).then_some(self.sent)
    }

    /// What all send, where the last one ends.
    pub fn sent(&self) -> u128 {
        self.sent
    }

    /// How long the shortest lasts, where the last one ends.
    pub fn shortest(&self) -> Span {
        let begins = self.list.iter().map(|segment| segment.at);
        let ends = begins.clone().skip(1).chain(self.ends);
        begins.zip(ends).map(|(begin, end)| Span::from_nanos(end - begin)).min().unwrap_or(Span::MAX)
    }

    /// The mean rate of segments of which the last one ends, 1 b/s or more.
    pub fn mean(&self) -> Rate {
        let length = u128::from(self.ends.unwrap_or(1).max(1));
        Rate::from_bits_per_second(u64::try_from(self.sent / length).unwrap_or(u64::MAX).max(1))
    }
}

/// A course at work.
pub struct Course {
    segments: Vec<Segment>,
    /// Nanoseconds of a period, and what it sends, if the course begins again.
    period: Option<(u64, u128)>,
    /// The segment in which the last transmission began.
    place: usize,
    /// When the period began in which that was, nanoseconds.
    begins: u64,
    /// When that segment ends, nanoseconds; `u64::MAX` if it never does.
    until: u64,
    /// A size, a rate, and the time that the one takes at the other, if that is a whole number of nanoseconds: most
    /// neighbours are alike.
    last: (Bytes, u64, Span),
    /// The last transmission.
    sent: Sent,
}

/// A transmission, and what rounding leaves of it: in bits per second times nanoseconds, below 0 if the end is rounded up.
#[derive(Clone, Copy, Default)]
struct Sent {
    began: u64,
    ended: u64,
    /// What the one before left to it.
    owed_before: i128,
    /// What it leaves to the next.
    owed: i128,
}

impl Sent {
    /// What a transmission that begins at `start` sends besides its size. The same transmission may be asked about again.
    fn owed_at(&self, start: u64) -> i128 {
        match start {
            _ if start == self.ended => self.owed,
            _ if start == self.began => self.owed_before,
            _ => 0,
        }
    }
}

/// The end of a transmission, and what rounding leaves of it: see [`Sent`].
type End = (u64, i128);

impl Course {
    /// At work from the beginning of a run. Segments that end may begin again; otherwise the last rate holds.
    pub(super) fn new(segments: Segments, repeats: bool) -> Self {
        let Segments { mut list, ends, sent, .. } = segments;
        if list.is_empty() {
            list.push(Segment { at: 0, rate: 0, sent: 0 });
        }
        let period = ends.filter(|end| repeats && *end > 0 && sent > 0).map(|end| (end, sent));
        let last = (Bytes::ZERO, 0, Span::ZERO);
        let mut course = Course { segments: list, period, place: 0, begins: 0, until: 0, last, sent: Sent::default() };
        course.until = course.end_of_segment(0, 0).unwrap_or(u64::MAX);
        course
    }

    /// A course that is continued by [`Self::append`] as time passes.
    pub(super) fn beginning(rate: Rate) -> Self {
        let list = vec![Segment { at: 0, rate: rate.bits_per_second(), sent: 0 }];
        Course::new(Segments { list, ..Segments::default() }, false)
    }

    /// Adds a segment that begins at `at`. No transmission may have been asked about that begins in the last one.
    pub(super) fn append(&mut self, at: u64, rate: Rate) {
        let last = self.segments[self.segments.len() - 1];
        let sent = last.sent.saturating_add(u128::from(last.rate) * u128::from(at - last.at));
        self.segments.push(Segment { at, rate: rate.bits_per_second(), sent });
        if self.place + 2 == self.segments.len() {
            self.until = at;
        }
    }

    /// When the last segment begins.
    pub(super) fn latest(&self) -> u64 {
        self.segments[self.segments.len() - 1].at
    }

    /// When the segment at `place` ends of the period that begins at `begins`; none if it never does.
    fn end_of_segment(&self, begins: u64, place: usize) -> Option<u64> {
        let end = self.segments.get(place + 1).map(|next| next.at).or(self.period.map(|(period, _)| period));
        end.map(|end| begins.saturating_add(end))
    }

    /// Moves on to the segment that holds at `time`, which is not before the present one.
    fn move_to(&mut self, time: u64) {
        if let Some((period, _)) = self.period
            && time - self.begins >= period
        {
            (self.begins, self.place) = (time - time % period, 0);
        }
        let within = time - self.begins;
        for _ in 0..NEAR {
            let next = self.segments.get(self.place + 1);
            if next.is_none_or(|next| next.at > within) {
                self.until = self.end_of_segment(self.begins, self.place).unwrap_or(u64::MAX);
                return;
            }
            self.place += 1;
        }
        self.place += self.segments[self.place + 1..].partition_point(|segment| segment.at <= within);
        self.until = self.end_of_segment(self.begins, self.place).unwrap_or(u64::MAX);
    }

    /// What can be sent from the beginning of the run to a time.
    fn sent_by(&self, time: u64) -> u128 {
        let (past, within) = match self.period {
            Some((period, whole)) => (u128::from(time / period) * whole, time % period),
            None => (0, time),
        };
        let segment = &self.segments[self.segments.partition_point(|segment| segment.at <= within) - 1];
        past + segment.sent + u128::from(segment.rate) * u128::from(within - segment.at)
    }

    /// When so much has been sent since the beginning of the run; none for never.
    fn time_of(&self, sent: u128) -> Option<End> {
        // What ends with a segment does not wait for a later one, before which there may be nothing.
        let (past, rest) = match self.period {
            Some((period, whole)) => (((sent - 1) / whole).checked_mul(u128::from(period))?, (sent - 1) % whole + 1),
            None => (0, sent),
        };
        let segment = &self.segments[self.segments.partition_point(|segment| segment.sent < rest) - 1];
        let (within, owed) = nearest(rest - segment.sent, segment.rate)?;
        let end = u64::try_from(past.checked_add(u128::from(segment.at))?.checked_add(within)?).ok()?;
        Some((end, owed))
    }

    /// When what is `left` of a transmission ends that the present segment does not complete; none for never.
    fn end_after_segment(&self, left: u128) -> Option<End> {
        let (mut begins, mut place) = (self.begins, self.place);
        // What is more than this is so long that it is looked for at once.
        let Ok(mut left) = u64::try_from(left) else {
            return self.time_of(self.sent_by(self.end_of_segment(begins, place)?) + left);
        };
        for _ in 0..NEAR {
            place += 1;
            if place == self.segments.len() {
                (begins, place) = (begins.checked_add(self.period?.0)?, 0);
            }
            let Segment { at, rate, .. } = self.segments[place];
            let begin = begins.checked_add(at)?;
            let gives = match self.end_of_segment(begins, place) {
                Some(end) => rate.saturating_mul(end - begin),
                None if rate > 0 => u64::MAX,
                None => 0,
            };
            if left <= gives {
                let (within, owed) = nearest(u128::from(left), rate)?;
                return Some((u64::try_from(u128::from(begin).checked_add(within)?).ok()?, owed));
            }
            left -= gives;
        }
        self.time_of(self.sent_by(self.end_of_segment(begins, place)?) + u128::from(left))
    }
}

/// `sent` over `rate`, to the nearest whole number of nanoseconds, and what that leaves; none at rate 0.
fn nearest(sent: u128, rate: u64) -> Option<(u128, i128)> {
    let nanos = match u64::try_from(sent).ok().and_then(|sent| sent.checked_add(rate / 2)) {
        Some(sent) => sent.checked_div(rate).map(u128::from)?,
        None => sent.checked_add(u128::from(rate / 2))?.checked_div(u128::from(rate))?,
    };
    // The product is at most half a rate more than `sent`, which is below 2¹²⁷.
    Some((nanos, (sent as i128).wrapping_sub((nanos * u128::from(rate)) as i128)))
}

impl Course {
    /// When a transmission of `wanted`, in bits per second times nanoseconds, ends that begins at `start`; none for never.
    fn end_in_segments(&self, start: u64, wanted: i128) -> Option<End> {
        // Rounding has already sent all of it.
        let Some(wanted) = u128::try_from(wanted).ok().filter(|wanted| *wanted > 0) else {
            return Some((start, wanted));
        };
        let rate = self.segments[self.place].rate;
        let given = u128::from(rate) * u128::from(self.until - start);
        if wanted > given {
            return self.end_after_segment(wanted - given);
        }
        let (nanos, owed) = nearest(wanted, rate)?;
        Some((start.saturating_add(u64::try_from(nanos).ok()?), owed))
    }
}

impl Transmitter for Course {
    #[inline]
    fn end_of(&mut self, start: Instant, size: Bytes) -> Instant {
        if size == Bytes::ZERO {
            return start;
        }
        if start.nanos() >= self.until {
            self.move_to(start.nanos());
        }
        let owed_before = self.sent.owed_at(start.nanos());
        let rate = self.segments[self.place].rate;
        // As the one before, and within the segment.
        if owed_before == 0
            && (self.last.0, self.last.1) == (size, rate)
            && start.nanos().saturating_add(self.last.2.nanos()) < self.until
        {
            let end = start + self.last.2;
            self.sent = Sent { began: start.nanos(), ended: end.nanos(), owed_before, owed: 0 };
            return end;
        }
        let wanted = (u128::from(size.get()) * BYTE) as i128 + owed_before;
        let Some((end, owed)) = self.end_in_segments(start.nanos(), wanted) else { return Instant::NEVER };
        if owed_before == 0 && owed == 0 && end < self.until {
            self.last = (size, rate, Span::from_nanos(end - start.nanos()));
        }
        self.sent = Sent { began: start.nanos(), ended: end, owed_before, owed };
        Instant::from_nanos(end)
    }

    fn capacity(&self, from: Instant, to: Instant) -> Bytes {
        let sent = self.sent_by(to.nanos()).saturating_sub(self.sent_by(from.nanos())) / BYTE;
        Bytes::new(u64::try_from(sent).unwrap_or(u64::MAX))
    }

    fn change_from(&self, at: Instant) -> Option<(Instant, Rate)> {
        let at = at.nanos();
        let mut begins = self.period.map_or(0, |(period, _)| at - at % period);
        let mut place = self.segments.partition_point(|segment| segment.at < at - begins);
        if place == self.segments.len() {
            (begins, place) = (begins.checked_add(self.period?.0)?, 0);
        }
        let Segment { at, rate, .. } = self.segments[place];
        Some((Instant::from_nanos(begins.checked_add(at)?), Rate::from_bits_per_second(rate)))
    }
}
