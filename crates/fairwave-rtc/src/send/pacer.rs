//! Pacer: queues packets, orders them and decides when they leave (libwebrtc, `pacing_controller.cc`).
//!
//! - Order: audio, then retransmissions, then video with its parity, each first in, first out. Audio does not wait: it
//!   is sent at once, but counts.
//! - Sent bytes are a debt that decreases at the pacing rate. While the debt is below the burst size, packets leave.
//!   Above it, no packet leaves until the whole debt is paid.
//! - If the average waiting time would exceed the limit, the rate is raised accordingly.
//! - While the congestion window is full, only audio leaves.
//! - Padding has a separate debt, which decreases at the padding rate; media counts in it, too.
//! - A probe cluster starts with a media packet of at least 200 B, or of the bytes in 2 ms at its rate if that is less.
//!   Its packets leave at the cluster's rate, whatever the debt; padding fills the gaps.

use std::collections::VecDeque;

use crate::control::{Carries, Probe};
use crate::rtp::RtpHeader;
use fairwave_units::units::{Bytes, Instant, Rate, Span};

/// Largest burst (`kMaxBurstSize`).
const MOST_BURST: Bytes = Bytes::new(63_000);
/// Amount of padding sent at once, as a time (`kTargetPaddingDuration`).
const PADDING: Span = Span::from_millis(5);
/// Time step of a probe (`min_probe_delta`).
const PROBE_STEP: Span = Span::from_millis(2);
/// Smallest media packet that starts a cluster, bytes (`min_packet_size`).
const PROBE_BEGINS: u64 = 200;
/// A cluster that has not started after this time is discarded (`kProbeClusterTimeout`).
const PROBE_TIMEOUT: Span = Span::from_secs(5);
/// Largest number of pending clusters (`kMaxPendingProbeClusters`).
const MOST_CLUSTERS: usize = 5;

/// A queued packet. It gets its transport-wide number when it is sent; a retransmission also gets its sequence number
/// then.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Waiting {
    /// Its header.
    pub header: RtpHeader,
    /// Size of the IP packet, bytes.
    pub wire: u16,
    /// Content.
    pub carries: Carries,
    /// Capture time of the frame.
    pub created: Instant,
    /// Start of the wait.
    pub since: Instant,
}

/// Next packet to send.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Next {
    /// A queued packet, and its cluster if it belongs to one.
    Packet(Waiting, Option<u32>),
    /// Padding of about this many bytes.
    Padding(u64, Option<u32>),
    /// Nothing.
    Nothing,
}

/// An active probe cluster.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Cluster {
    probe: Probe,
    asked: Instant,
    begun: Option<Instant>,
    bytes: u64,
    packets: u32,
}

/// Pacer of a session.
#[derive(Clone, Debug)]
pub struct Pacer {
    /// Queues of audio, retransmissions, and video with parity.
    queues: [VecDeque<Waiting>; 3],
    bytes: u64,
    /// Sum of the times at which queued packets started to wait, nanoseconds.
    since: u128,
    audio_first: bool,
    burst: Span,
    limit: Span,
    rate: Rate,
    padding: Rate,
    /// Debt, bits. A fraction is accurate enough, because the values are only products and sums.
    debt: f64,
    padding_debt: f64,
    paid: Instant,
    /// True while the window is full: only audio leaves.
    blocked: bool,
    /// True while packets wait until the debt is paid.
    paying: bool,
    clusters: VecDeque<Cluster>,
}

impl Pacer {
    /// Returns an empty pacer.
    pub fn new(burst: Span, limit: Span, audio_first: bool) -> Self {
        Pacer {
            queues: Default::default(),
            bytes: 0,
            since: 0,
            audio_first,
            burst,
            limit,
            rate: Rate::default(),
            padding: Rate::default(),
            debt: 0.0,
            padding_debt: 0.0,
            paid: Instant::ZERO,
            blocked: false,
            paying: false,
            clusters: VecDeque::new(),
        }
    }

    /// Sets pacing rate and padding rate.
    pub fn set_rates(&mut self, now: Instant, rate: Rate, padding: Rate) {
        self.pay(now);
        (self.rate, self.padding) = (rate, padding);
    }

    /// Sets the largest burst, as a time at the pacing rate.
    pub fn set_burst(&mut self, burst: Span) {
        self.burst = burst;
    }

    /// Returns the largest burst, as a time at the pacing rate.
    #[cfg(test)]
    pub fn burst(&self) -> Span {
        self.burst
    }

    /// Sets whether the window is full.
    pub fn set_blocked(&mut self, blocked: bool) {
        self.blocked = blocked;
    }

    /// Adds a packet to its queue.
    pub fn push(&mut self, now: Instant, packet: Waiting) {
        self.pay(now);
        let queue = match packet.carries {
            Carries::Audio if self.audio_first => 0,
            Carries::Retransmission => 1,
            _ => 2,
        };
        self.bytes += u64::from(packet.wire);
        self.since += u128::from(packet.since.nanos());
        self.queues[queue].push_back(packet);
        if let Some(cluster) = self.clusters.front_mut()
            && cluster.begun.is_none()
            && u64::from(packet.wire) >= PROBE_BEGINS.min(cluster.probe.rate.bytes_in(PROBE_STEP).get())
            && packet.carries != Carries::Audio
        {
            cluster.begun = Some(now);
        }
    }

    /// Adds a probe cluster.
    pub fn probe(&mut self, now: Instant, probe: Probe) {
        while self.clusters.len() >= MOST_CLUSTERS
            || self.clusters.front().is_some_and(|oldest| oldest.begun.is_none() && now - oldest.asked > PROBE_TIMEOUT)
        {
            self.clusters.pop_front();
        }
        // Queued media starts it at once.
        let begun = self.clusters.is_empty()
            && self.queues[2].front().is_some_and(|first| u64::from(first.wire) >= PROBE_BEGINS);
        self.clusters.push_back(Cluster { probe, asked: now, begun: begun.then_some(now), bytes: 0, packets: 0 });
    }

    /// Bytes in the queues.
    pub fn waiting(&self) -> Bytes {
        Bytes::new(self.bytes)
    }

    /// Packets in the queues.
    pub fn packets(&self) -> usize {
        self.queues.iter().map(VecDeque::len).sum()
    }

    /// Returns the packet that has waited longest; `None` if the queues are empty.
    pub fn oldest(&self) -> Option<&Waiting> {
        self.queues.iter().filter_map(VecDeque::front).min_by_key(|first| first.since)
    }

    /// Returns the current pacing rate: above the configured one if packets would wait too long.
    fn paying_rate(&self, now: Instant) -> f64 {
        let asked = self.rate.bits_per_second() as f64;
        let packets = self.packets() as u128;
        if packets == 0 {
            return asked;
        }
        let mean = (u128::from(now.nanos()) * packets).saturating_sub(self.since) / packets;
        let left =
            Span::from_nanos(u128::from(self.limit.nanos()).saturating_sub(mean) as u64).max(Span::from_millis(1));
        asked.max(self.bytes as f64 * 8.0 / left.seconds())
    }

    fn pay(&mut self, now: Instant) {
        let passed = now.span_since(self.paid).seconds();
        self.paid = self.paid.max(now);
        self.debt = (self.debt - self.paying_rate(now) * passed).max(0.0);
        self.padding_debt = (self.padding_debt - self.padding.bits_per_second() as f64 * passed).max(0.0);
        // Less than a bit counts as no debt, because times are rounded to nanoseconds.
        if self.debt < 0.5 {
            self.debt = 0.0;
            self.paying = false;
        }
        if self.padding_debt < 0.5 {
            self.padding_debt = 0.0;
        }
    }

    fn take(&mut self, queue: usize) -> Option<Waiting> {
        let packet = self.queues.get_mut(queue)?.pop_front()?;
        self.bytes -= u64::from(packet.wire);
        self.since -= u128::from(packet.since.nanos());
        Some(packet)
    }

    fn first(&mut self) -> Option<Waiting> {
        (0..3).find_map(|queue| self.take(queue))
    }

    /// Returns the active cluster, and when its next packet is due.
    fn due(&self) -> Option<(u32, Instant, u64)> {
        let cluster = self.clusters.front()?;
        let begun = cluster.begun?;
        let rate = cluster.probe.rate;
        let due = begun + rate.time_for(Bytes::new(cluster.bytes));
        Some((cluster.probe.cluster, due, rate.bytes_in(PROBE_STEP).get().max(1)))
    }

    /// Returns the next packet to send at `now`. The caller repeats the call until it returns [`Next::Nothing`]. `pads`
    /// allows padding, once media has been sent.
    pub fn next(&mut self, now: Instant, pads: bool) -> Next {
        self.pay(now);
        if let Some(packet) = self.take(0) {
            return Next::Packet(packet, None);
        }
        if let Some((cluster, due, step)) = self.due()
            && due <= now
        {
            return match self.first() {
                Some(packet) => Next::Packet(packet, Some(cluster)),
                None if pads => Next::Padding(step, Some(cluster)),
                None => Next::Nothing,
            };
        }
        if self.blocked || self.paying {
            return Next::Nothing;
        }
        let rate = self.paying_rate(now);
        let burst = (rate * self.burst.seconds()).min(MOST_BURST.get() as f64 * 8.0);
        if self.debt > 0.0 && self.debt >= burst {
            self.paying = true;
            return Next::Nothing;
        }
        if rate > 0.0
            && let Some(packet) = self.first()
        {
            return Next::Packet(packet, None);
        }
        if pads
            && self.packets() == 0
            && self.padding.bits_per_second() > 0
            && self.padding_debt == 0.0
            && self.debt == 0.0
        {
            return Next::Padding(self.padding.bytes_in(PADDING).get().max(1), None);
        }
        Next::Nothing
    }

    /// Records that the packet from [`Pacer::next`] was sent, with this many bytes.
    pub fn sent(&mut self, bytes: u64, cluster: Option<u32>) {
        self.debt += bytes as f64 * 8.0;
        self.padding_debt += bytes as f64 * 8.0;
        if let (Some(number), Some(front)) = (cluster, self.clusters.front_mut())
            && front.probe.cluster == number
        {
            front.bytes += bytes;
            front.packets += 1;
            let probe = front.probe;
            if front.packets >= probe.packets && front.bytes >= probe.rate.bytes_in(probe.lasts).get() {
                self.clusters.pop_front();
                // The next cluster starts with the next media packet, or at once if one is queued.
                let begins = self.queues[2].front().map(|_| self.paid);
                if let Some(next) = self.clusters.front_mut() {
                    next.begun = next.begun.or(begins);
                }
            }
        }
    }

    /// Returns the time of the next call.
    pub fn deadline(&self, pads: bool) -> Instant {
        let now = self.paid;
        let waits = self.packets() > 0;
        let probe = match self.due() {
            Some((_, due, _)) if waits || pads => due,
            _ => Instant::NEVER,
        };
        let rate = self.paying_rate(now);
        let paid = |debt: f64, rate: f64| {
            // Rounded up, so that the debt is paid at that time.
            if rate > 0.0 { self.paid + Span::from_nanos((debt * 1e9 / rate) as u64 + 1) } else { Instant::NEVER }
        };
        let media = if self.blocked || !waits { Instant::NEVER } else { paid(self.debt, rate) };
        let padding = if pads && !waits && !self.blocked && self.padding.bits_per_second() > 0 {
            paid(self.debt, rate).max(paid(self.padding_debt, self.padding.bits_per_second() as f64))
        } else {
            Instant::NEVER
        };
        probe.min(media).min(padding)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Instant {
        Instant::ZERO + Span::from_millis(millis)
    }

    fn packet(carries: Carries, wire: u16, millis: u64) -> Waiting {
        Waiting { header: RtpHeader::default(), wire, carries, created: ms(millis), since: ms(millis) }
    }

    fn pacer(rate: u64, burst: u64) -> Pacer {
        let mut pacer = Pacer::new(Span::from_millis(burst), Span::from_secs(2), true);
        pacer.set_rates(Instant::ZERO, Rate::from_bits_per_second(rate), Rate::default());
        pacer
    }

    /// Returns the packets that leave at `now`.
    fn leave(pacer: &mut Pacer, now: Instant) -> Vec<Carries> {
        let mut left = Vec::new();
        loop {
            match pacer.next(now, false) {
                Next::Packet(packet, cluster) => {
                    pacer.sent(u64::from(packet.wire), cluster);
                    left.push(packet.carries);
                }
                _ => return left,
            }
        }
    }

    #[test]
    fn audio_goes_first_then_what_was_lost_then_video_and_parity_in_line() {
        let mut pacer = pacer(1_000_000_000, 40);
        for carries in [Carries::Video, Carries::Protection, Carries::Retransmission, Carries::Audio] {
            pacer.push(ms(0), packet(carries, 100, 0));
        }
        let order = [Carries::Audio, Carries::Retransmission, Carries::Video, Carries::Protection];
        assert_eq!(leave(&mut pacer, ms(0)), order);
        assert_eq!((pacer.packets(), pacer.waiting()), (0, Bytes::ZERO));
    }

    #[test]
    fn a_burst_leaves_at_once_and_then_nothing_until_it_is_paid() {
        // 1000 B take 8 ms at 1 Mb/s: 5 of them fill 40 ms.
        let mut pacer = pacer(1_000_000, 40);
        for _ in 0..8 {
            pacer.push(ms(0), packet(Carries::Video, 1000, 0));
        }
        assert_eq!(leave(&mut pacer, ms(0)).len(), 5);
        assert_eq!(pacer.deadline(false).span_since(ms(40)).nanos(), 1);
        assert_eq!(leave(&mut pacer, ms(39)).len(), 0, "not before all of it is paid");
        pacer.push(ms(39), packet(Carries::Audio, 100, 39));
        assert_eq!(leave(&mut pacer, ms(39)), [Carries::Audio], "audio does not wait, but is counted");
        assert_eq!(leave(&mut pacer, ms(40)).len(), 0);
        let paid = pacer.deadline(false);
        assert_eq!(leave(&mut pacer, paid).len(), 3);
    }

    #[test]
    fn a_burst_is_as_long_as_was_last_said() {
        let burst = |most: u64| {
            let mut pacer = pacer(1_000_000, 40);
            pacer.set_burst(Span::from_millis(most));
            for _ in 0..10 {
                pacer.push(ms(0), packet(Carries::Video, 1000, 0));
            }
            leave(&mut pacer, ms(0)).len()
        };
        // 1 Mb/s: 5000 bytes in 40 ms and 1250 in 10 ms, plus the packet that crosses the limit.
        assert_eq!((burst(40), burst(10)), (5, 2));
    }

    #[test]
    fn packets_leave_one_by_one_if_there_is_no_burst() {
        let mut pacer = pacer(1_000_000, 0);
        for _ in 0..3 {
            pacer.push(ms(0), packet(Carries::Video, 1000, 0));
        }
        assert_eq!(leave(&mut pacer, ms(0)).len(), 1);
        let next = pacer.deadline(false);
        assert!(next.span_since(ms(8)) <= Span::from_nanos(1));
        assert_eq!(leave(&mut pacer, next).len(), 1);
    }

    #[test]
    fn no_packet_waits_much_longer_than_the_limit() {
        let mut pacer = pacer(100_000, 0);
        // 100 kB would take 8 s.
        for _ in 0..100 {
            pacer.push(ms(0), packet(Carries::Video, 1000, 0));
        }
        let mut now = ms(0);
        loop {
            leave(&mut pacer, now);
            if pacer.packets() == 0 {
                break;
            }
            now = now.max(pacer.deadline(false));
        }
        assert!(now <= ms(2_100), "{}", now.seconds());
    }

    #[test]
    fn a_full_window_lets_audio_through() {
        let mut pacer = pacer(1_000_000, 40);
        pacer.set_blocked(true);
        pacer.push(ms(0), packet(Carries::Video, 1000, 0));
        pacer.push(ms(0), packet(Carries::Audio, 100, 0));
        assert_eq!(leave(&mut pacer, ms(0)), [Carries::Audio]);
        assert_eq!(pacer.deadline(false), Instant::NEVER);
        pacer.set_blocked(false);
        assert_eq!(leave(&mut pacer, ms(0)), [Carries::Video]);
    }

    #[test]
    fn a_cluster_waits_for_media_and_then_keeps_its_rate() {
        let mut pacer = pacer(300_000, 40);
        let probe =
            Probe { cluster: 7, rate: Rate::from_bits_per_second(900_000), lasts: Span::from_millis(15), packets: 5 };
        pacer.probe(ms(0), probe);
        assert_eq!(pacer.next(ms(10), true), Next::Nothing, "no media yet");
        pacer.push(ms(10), packet(Carries::Video, 1000, 10));
        let (mut now, mut bytes, mut packets) = (ms(10), 0, 0);
        loop {
            match pacer.next(now, true) {
                Next::Packet(packet, cluster) => {
                    assert_eq!(cluster, Some(7));
                    pacer.sent(u64::from(packet.wire), cluster);
                    (bytes, packets) = (bytes + u64::from(packet.wire), packets + 1);
                }
                Next::Padding(size, cluster) => {
                    assert_eq!((size, cluster), (225, Some(7)), "what 2 ms carry");
                    pacer.sent(size, cluster);
                    (bytes, packets) = (bytes + size, packets + 1);
                }
                Next::Nothing => {
                    let next = pacer.deadline(true);
                    if next == Instant::NEVER || packets >= 8 {
                        break;
                    }
                    now = next;
                }
            }
        }
        assert!(packets >= 5 && bytes >= 1687, "{packets} packets, {bytes} B");
        let rate = Bytes::new(bytes - 225).rate_over(now - ms(10)).bits_per_second();
        assert!((850_000..950_000).contains(&rate), "{rate}");
    }

    #[test]
    fn padding_fills_up_to_its_rate_while_nothing_waits() {
        let mut pacer = pacer(1_000_000, 40);
        pacer.set_rates(ms(0), Rate::from_bits_per_second(1_000_000), Rate::from_bits_per_second(80_000));
        assert_eq!(pacer.next(ms(0), false), Next::Nothing, "no media has been sent");
        let (mut now, mut bytes) = (ms(0), 0);
        while now < ms(1_000) {
            match pacer.next(now, true) {
                Next::Padding(size, None) => {
                    assert_eq!(size, 50, "what 5 ms carry");
                    pacer.sent(size, None);
                    bytes += size;
                }
                _ => now = pacer.deadline(true),
            }
        }
        assert!((9_900..=10_100).contains(&bytes), "{bytes}");
    }
}
