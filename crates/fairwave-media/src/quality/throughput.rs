//! Throughput measures: goodput, overhead, normalized throughput, application success, recovery time.

use fairwave_units::units::{Bytes, Rate, Span};

/// Goodput (papers 000 §4.3, 002 §4.2, 003 §II.A): original data divided by connection time. Original data is the
/// payload delivered to the application, each byte once, without headers. *Allotted* goodput is the same over one short
/// bin.
pub fn goodput(original_data: Bytes, connection_time: Span) -> Rate {
    original_data.rate_over(connection_time)
}

/// Overhead (paper 003 §II.A): (bytes sent − original bytes) / bytes sent, over everything that senders transmit,
/// headers and retransmissions included. `None` if nothing was sent.
pub fn overhead(bytes_sent: Bytes, original_bytes: Bytes) -> Option<f64> {
    let sent = bytes_sent.get() as f64;
    (sent > 0.0).then(|| (sent - original_bytes.get() as f64) / sent)
}

/// Normalized throughput (paper 002 §4.2): throughput divided by the fair share B/n of a bottleneck of rate B with n
/// flows.
pub fn normalized_throughput(throughput: Rate, bottleneck: Rate, flows: u32) -> f64 {
    f64::from(flows) * throughput.bits_per_second() as f64 / bottleneck.bits_per_second() as f64
}

/// x % application success percentage (paper 003 §II.A), 0 to 100, over all seconds of all flows. A second succeeds if
/// its allotted goodput exceeds the share `x` (0 to 1) of the targeted receiving rate.
///
/// Each item holds the goodputs of one flow, second by second. `None` without any.
pub fn application_success<'a>(flows: impl IntoIterator<Item = &'a [Rate]>, target: Rate, x: f64) -> Option<f64> {
    let enough = x * target.bits_per_second() as f64;
    let (mut successes, mut reads) = (0u64, 0u64);
    for goodput in flows.into_iter().flatten() {
        reads += 1;
        successes += u64::from(goodput.bits_per_second() as f64 > enough);
    }
    percentage(successes, reads)
}

/// Returns the percentage of successful reads; `None` without reads.
fn percentage(successes: u64, reads: u64) -> Option<f64> {
    (reads > 0).then(|| 100.0 * successes as f64 / reads as f64)
}

/// Application of paper 003. It reads up to `per_read` each `interval` from a playback buffer that holds at most
/// `capacity`. A read succeeds if more than the share `x` of `per_read` is available.
///
/// Arrivals at a full buffer are lost to the application (**assumption**; the closed form above has no memory, like the
/// paper's formula).
#[derive(Clone, PartialEq, Debug)]
pub struct PlaybackBuffer {
    capacity: Bytes,
    per_read: Bytes,
    enough: f64,
    level: Bytes,
    reads: u64,
    successes: u64,
}

impl PlaybackBuffer {
    /// Returns an empty buffer.
    pub fn new(capacity: Bytes, per_read: Bytes, x: f64) -> Self {
        let enough = x * per_read.get() as f64;
        PlaybackBuffer { capacity, per_read, enough, level: Bytes::ZERO, reads: 0, successes: 0 }
    }

    /// Adds arrived payload.
    pub fn on_received(&mut self, payload: Bytes) {
        self.level = (self.level + payload).min(self.capacity);
    }

    /// Performs a read; returns true if it succeeds.
    pub fn read(&mut self) -> bool {
        let success = self.level.get() as f64 > self.enough;
        self.level = self.level - self.per_read;
        self.reads += 1;
        self.successes += u64::from(success);
        success
    }

    /// Returns the percentage of successful reads; `None` before the first.
    pub fn success_percentage(&self) -> Option<f64> {
        percentage(self.successes, self.reads)
    }
}

/// Recovery time after a blackout (paper 003, Figure 20). It starts at the end of the blackout. It ends at the end of
/// the first bin with a goodput of at least `level` (0 to 1) times `full`. `None` if there is no such bin.
///
/// `goodputs` are bins of `width` that start at the end of the blackout. **Assumption**: the paper does not define when
/// a flow has recovered; 0.9 of the goodput before the blackout is fairwave's choice, and the study varies it.
pub fn recovery_time(goodputs: &[Rate], width: Span, full: Rate, level: f64) -> Option<Span> {
    let enough = level * full.bits_per_second() as f64;
    let bin = goodputs.iter().position(|goodput| goodput.bits_per_second() as f64 >= enough)?;
    Some(width * (bin as u64 + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bits(rates: &[u64]) -> Vec<Rate> {
        rates.iter().map(|&b| Rate::from_bits_per_second(b)).collect()
    }

    #[test]
    fn overhead_is_what_headers_and_retransmissions_cost() {
        // 100 segments of 1000 + 40 bytes, four of them sent twice.
        let overhead = overhead(Bytes::new(104 * 1040), Bytes::new(100_000)).expect("something was sent");
        assert!((overhead - 0.0754).abs() < 1e-4, "{overhead}");
    }

    #[test]
    fn a_flow_with_its_fair_share_has_normalized_throughput_one() {
        let megabits = |m: u64| Rate::from_bits_per_second(m * 1_000_000);
        assert_eq!(normalized_throughput(megabits(1), megabits(10), 10), 1.0);
    }

    #[test]
    fn success_must_exceed_the_share_of_the_target() {
        let flows = [bits(&[900_001, 900_000]), bits(&[1_000_000, 0])];
        let success = application_success(flows.iter().map(Vec::as_slice), Rate::from_bits_per_second(1_000_000), 0.9);
        assert_eq!(success, Some(50.0));
        assert_eq!(application_success([], Rate::from_bits_per_second(1_000_000), 0.9), None);
    }

    #[test]
    fn a_playback_buffer_bridges_a_slow_second_after_a_fast_one() {
        let mut buffer = PlaybackBuffer::new(Bytes::new(125_000), Bytes::new(100_000), 0.9);
        buffer.on_received(Bytes::new(150_000));
        assert!(buffer.read());
        buffer.on_received(Bytes::new(70_000));
        assert!(buffer.read(), "25 kB were left from before");
        assert!(!buffer.read());
        assert!((buffer.success_percentage().expect("reads") - 200.0 / 3.0).abs() < 1e-9);
    }

    #[test]
    fn recovery_ends_with_the_first_bin_that_reaches_the_level() {
        let second = Span::from_secs(1);
        let full = Rate::from_bits_per_second(100);
        assert_eq!(recovery_time(&bits(&[0, 20, 89, 90, 100]), second, full, 0.9), Some(second * 4));
        assert_eq!(recovery_time(&bits(&[0, 20]), second, full, 0.9), None);
    }
}
