//! A running rate that changes at known times: the common part of schedules, traces and chains of states.
//!
//! A course is a list of segments. Each segment has its rate and the volume sent before it. A transmission that
//! begins at s ends at the first t at which the integral of the rate from s to t equals its size, to the nearest
//! nanosecond. A transmission that begins when the previous one ended also sends the rounding remainder of that one,
//! so rounding errors do not add up.
//!
//! Most transmissions end in the segment in which they begin, or in one of the next. The search for these starts at
//! the previous transmission. The search for later segments is a bisection. So the cost of a transmission does not
//! depend on the length of the course.

use super::Transmitter;
use fairwave_units::units::{Bytes, Instant, Rate, Span};

/// One byte in the unit of [`Segment::sent`]: bits per second times nanoseconds.
pub(super) const BYTE: u128 = 8_000_000_000;

/// Number of segments that are searched one by one before the rest is bisected.
const NEAR: usize = 16;

/// A period of constant rate.
#[derive(Clone, Copy, Debug)]
struct Segment {
    /// Nanoseconds from the beginning of the course.
    at: u64,
    /// Bits per second.
    rate: u64,
    /// Volume that the course sends before it, in bits per second times nanoseconds.
    sent: u128,
}

/// Consecutive segments, under construction.
#[derive(Clone, Debug, Default)]
pub(super) struct Segments {
    list: Vec<Segment>,
    /// End of the last segment, nanoseconds; `None` if it has no end.
    ends: Option<u64>,
    /// Volume of all segments, if the last one ends.
    sent: u128,
    /// The volume exceeds the range of the counters.
    too_much: bool,
}

impl Segments {
    /// Volume sent until `at`, in the last segment.
    fn sent_until(&self, at: u64) -> Option<u128> {
        let Some(last) = self.list.last() else { return Some(0) };
        let length = u128::from(at.saturating_sub(last.at));
        // The limit leaves room for the sum over all periods of a run.
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

    /// Ends the last segment at `at`, if given. Returns the volume of all segments, in bits per second times
    /// nanoseconds; `None` if it exceeds the range of the counters.
    pub fn end(&mut self, at: Option<Span>) -> Option<u128> {
        self.ends = at.map(Span::nanos);
        let sent = self.ends.map_or(Some(0), |end| self.sent_until(end));
        self.too_much |= sent.is_none();
        self.sent = sent.unwrap_or_default();
        (!self.too_much).then_some(self.sent)
    }

    /// Volume of all segments, if the last one ends.
    pub fn sent(&self) -> u128 {
        self.sent
    }

    /// Length of the shortest segment; the last one counts if it ends.
    pub fn shortest(&self) -> Span {
        let begins = self.list.iter().map(|segment| segment.at);
        let ends = begins.clone().skip(1).chain(self.ends);
        begins.zip(ends).map(|(begin, end)| Span::from_nanos(end - begin)).min().unwrap_or(Span::MAX)
    }

    /// Mean rate, at least 1 b/s. The last segment must end.
    pub fn mean(&self) -> Rate {
        let length = u128::from(self.ends.unwrap_or(1).max(1));
        Rate::from_bits_per_second(u64::try_from(self.sent / length).unwrap_or(u64::MAX).max(1))
    }
}

/// A running course.
pub struct Course {
    segments: Vec<Segment>,
    /// Length of a period, nanoseconds, and its volume, if the course repeats.
    period: Option<(u64, u128)>,
    /// Index of the segment in which the last transmission began.
    place: usize,
    /// Start of the period of that segment, nanoseconds.
    begins: u64,
    /// End of that segment, nanoseconds; `u64::MAX` if it has none.
    until: u64,
    /// A size, a rate and the transmission time, if that is a whole number of nanoseconds. Consecutive packets are
    /// mostly alike.
    last: (Bytes, u64, Span),
    /// The last transmission.
    sent: Sent,
}

/// A transmission and its rounding remainder, in bits per second times nanoseconds; below 0 if the end is rounded up.
#[derive(Clone, Copy, Default)]
struct Sent {
    began: u64,
    ended: u64,
    /// Remainder of the transmission before it.
    owed_before: i128,
    /// Remainder for the next transmission.
    owed: i128,
}

impl Sent {
    /// Remainder that a transmission beginning at `start` has to send. A caller can ask about the same transmission
    /// again.
    fn owed_at(&self, start: u64) -> i128 {
        match start {
            _ if start == self.ended => self.owed,
            _ if start == self.began => self.owed_before,
            _ => 0,
        }
    }
}

/// End of a transmission and its remainder: see [`Sent`].
type End = (u64, i128);

impl Course {
    /// Returns the course from the start of a run. Segments that end can repeat; otherwise the last rate holds.
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

    /// Returns a course that [`Self::append`] continues as time passes.
    pub(super) fn beginning(rate: Rate) -> Self {
        let list = vec![Segment { at: 0, rate: rate.bits_per_second(), sent: 0 }];
        Course::new(Segments { list, ..Segments::default() }, false)
    }

    /// Adds a segment that begins at `at`. Call it before any transmission begins in the last segment.
    pub(super) fn append(&mut self, at: u64, rate: Rate) {
        let last = self.segments[self.segments.len() - 1];
        let sent = last.sent.saturating_add(u128::from(last.rate) * u128::from(at - last.at));
        self.segments.push(Segment { at, rate: rate.bits_per_second(), sent });
        if self.place + 2 == self.segments.len() {
            self.until = at;
        }
    }

    /// Start of the last segment.
    pub(super) fn latest(&self) -> u64 {
        self.segments[self.segments.len() - 1].at
    }

    /// End of the segment at `place` in the period that begins at `begins`; `None` if it has no end.
    fn end_of_segment(&self, begins: u64, place: usize) -> Option<u64> {
        let end = self.segments.get(place + 1).map(|next| next.at).or(self.period.map(|(period, _)| period));
        end.map(|end| begins.saturating_add(end))
    }

    /// Moves on to the segment at `time`, which is not before the current segment.
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

    /// Volume from the start of the run to `time`.
    fn sent_by(&self, time: u64) -> u128 {
        let (past, within) = match self.period {
            Some((period, whole)) => (u128::from(time / period) * whole, time % period),
            None => (0, time),
        };
        let segment = &self.segments[self.segments.partition_point(|segment| segment.at <= within) - 1];
        past + segment.sent + u128::from(segment.rate) * u128::from(within - segment.at)
    }

    /// Time at which the volume `sent` is reached; `None` for never.
    fn time_of(&self, sent: u128) -> Option<End> {
        // A transmission that ends exactly with a segment ends there. The next segments may have rate 0.
        let (past, rest) = match self.period {
            Some((period, whole)) => (((sent - 1) / whole).checked_mul(u128::from(period))?, (sent - 1) % whole + 1),
            None => (0, sent),
        };
        let segment = &self.segments[self.segments.partition_point(|segment| segment.sent < rest) - 1];
        let (within, owed) = nearest(rest - segment.sent, segment.rate)?;
        let end = u64::try_from(past.checked_add(u128::from(segment.at))?.checked_add(within)?).ok()?;
        Some((end, owed))
    }

    /// End of a transmission that still has to send `left` after the current segment; `None` for never.
    fn end_after_segment(&self, left: u128) -> Option<End> {
        let (mut begins, mut place) = (self.begins, self.place);
        // A larger volume needs so long that bisection starts at once.
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

/// `sent` divided by `rate`, to the nearest nanosecond, and the remainder; `None` at rate 0.
fn nearest(sent: u128, rate: u64) -> Option<(u128, i128)> {
    let nanos = match u64::try_from(sent).ok().and_then(|sent| sent.checked_add(rate / 2)) {
        Some(sent) => sent.checked_div(rate).map(u128::from)?,
        None => sent.checked_add(u128::from(rate / 2))?.checked_div(u128::from(rate))?,
    };
    // The product exceeds `sent` by at most half a rate, and `sent` is below 2¹²⁷.
    Some((nanos, (sent as i128).wrapping_sub((nanos * u128::from(rate)) as i128)))
}

impl Course {
    /// End of a transmission of `wanted` (bits per second times nanoseconds) that begins at `start`; `None` for
    /// never.
    fn end_in_segments(&self, start: u64, wanted: i128) -> Option<End> {
        // The rounding of the previous transmission has already sent everything.
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
        // Same size and rate as before, and within the segment.
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
