//! REM: drops with a probability that is exponential in a price, which rises with backlog and with excess demand.
//!
//! Follows Athuraliya, Li, Low & Yin, "REM: Active Queue Management" (2001). Every interval the price becomes p ← max(p +
//! γ(α(b − b*) + x − c), 0). Here b is the backlog and b* its target; x packets arrived in the interval, and the link could
//! have carried c. An arrival is dropped with probability 1 − φ^(−p).
//!
//! Defaults are the authors' and ns-2.35's: γ 0.001, α 0.1, φ 1.001, 2 ms, target 20 packets, input not smoothed. Lengths
//! are in packets. In byte mode they are in packets of `mean-packet` bytes, and the drop probability is proportional to the
//! packet's size, as in RED and in ns-2.35. The backlog and the count do not change between calls, so the next arrival or
//! departure updates the price for all intervals that have ended.
//!
//! **Assumptions.** x counts all arrivals, including dropped ones. The backlog excludes the packet in transmission.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::DropReason;
use super::buffer::Buffer;
use super::config::Capacity;
use super::config::Mode;
use super::discipline::{Arrival, Discipline, DisciplineLaw, RateChange, Verdict};
use super::red::{check_probability, check_size, packets_per_second};
use super::ticker::Ticker;
use crate::packet::Packet;
use fairwave_units::config::{ConfigError, check_between, check_span};
use fairwave_units::random::Stream;
use fairwave_units::ratio::Ratio;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::{Bytes, Instant, Rate, Span};

/// Random exponential marking (Athuraliya, Li, Low & Yin 2001), dropping unless `ecn` is set. A price rises with
/// backlog and with excess demand. An arrival is dropped or marked with probability 1 − `phi`^(−price).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RemConfig {
    /// Step size of the price (γ); above 0.
    #[serde(default = "gamma")]
    pub gamma: f64,
    /// Weight of the backlog against the rate (α); above 0.
    #[serde(default = "alpha")]
    pub alpha: f64,
    /// Base of the drop probability (φ); above 1.
    #[serde(default = "phi")]
    pub phi: f64,
    /// How often the price is updated.
    #[serde(default = "interval")]
    pub interval: Span,
    /// Target backlog (b*), in (mean) packets.
    #[serde(default = "target")]
    pub target: f64,
    /// Weight of the newest interval in the smoothed input rate, in (0, 1]; 1 does not smooth.
    #[serde(with = "Ratio", default = "input_weight")]
    pub input_weight: f64,
    /// Whether packets or bytes count.
    #[serde(default)]
    pub mode: Mode,
    /// Mean packet size on the wire: converts the link's rate to packets.
    #[serde(default = "mean_packet")]
    pub mean_packet: Bytes,
    /// Mark instead of dropping early, if the packet's transport understands marks: REM's purpose.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ecn: bool,
}

fn gamma() -> f64 {
    0.001
}

fn alpha() -> f64 {
    0.1
}

fn phi() -> f64 {
    1.001
}

fn interval() -> Span {
    Span::from_millis(2)
}

fn target() -> f64 {
    20.0
}

fn input_weight() -> f64 {
    1.0
}

fn mean_packet() -> Bytes {
    Bytes::new(1000)
}

impl Checked for RemConfig {
    fn check(&self) -> Result<(), ConfigError> {
        check_between("gamma", self.gamma, 0.0, f64::INFINITY, "gamma = 0.001")?;
        check_between("alpha", self.alpha, 0.0, f64::INFINITY, "alpha = 0.1")?;
        check_between("phi", self.phi, 1.0, f64::INFINITY, "phi = 1.001")?;
        check_span("interval", self.interval, "interval = \"2 ms\"")?;
        check_probability("input-weight", self.input_weight, "input-weight = 1.0")?;
        check_size("mean-packet", self.mean_packet)
    }
}

impl Law for RemConfig {
    const NAME: &'static str = "rem";
}

impl DisciplineLaw for RemConfig {
    type Discipline = Rem;

    fn fits(&self, capacity: Capacity, _rate: Option<Rate>) -> Result<(), ConfigError> {
        let room = capacity.packet_count(self.mean_packet);
        if !(0.0..=room).contains(&self.target) {
            let allowed = format!("from 0 to the buffer's {room} packets");
            let example = format!("target = {}", libm::floor(room / 4.0));
            return Err(ConfigError::new("target", self.target, allowed, example));
        }
        Ok(())
    }

    fn marks(&self) -> bool {
        self.ecn
    }

    fn discipline(&self, _capacity: Capacity, rate: Rate) -> Rem {
        Rem {
            gamma: self.gamma,
            alpha: self.alpha,
            log_phi: libm::log(self.phi),
            target: self.target,
            input_weight: self.input_weight,
            mode: self.mode,
            mean_packet: self.mean_packet.get() as f64,
            carried: packets_per_second(rate, self.mean_packet) * self.interval.seconds(),
            interval: self.interval,
            arrived: 0.0,
            input: 0.0,
            price: 0.0,
            probability: 0.0,
            ecn: self.ecn,
            ticker: Ticker::new(self.interval),
        }
    }
}

/// State of REM.
#[derive(Clone, Debug)]
pub struct Rem {
    gamma: f64,
    alpha: f64,
    log_phi: f64,
    target: f64,
    input_weight: f64,
    mode: Mode,
    mean_packet: f64,
    /// (Mean) packets that the link carries in an interval (c).
    carried: f64,
    interval: Span,
    /// (Mean) packets that have arrived in this interval.
    arrived: f64,
    /// (Mean) packets per interval, smoothed (x).
    input: f64,
    price: f64,
    probability: f64,
    ecn: bool,
    ticker: Ticker,
}

impl Rem {
    /// Updates the price for every interval that ended before `now`. The backlog has not changed since the last call.
    #[inline]
    fn catch_up(&mut self, now: Instant, buffer: &Buffer) {
        let mut changed = false;
        while self.ticker.tick(now) {
            let total = buffer.total();
            let backlog = match self.mode {
                Mode::Packets => f64::from(total.packets),
                Mode::Bytes => total.bytes as f64 / self.mean_packet,
            };
            changed = true;
            if self.update(backlog) {
                self.ticker.skip(now);
            }
        }
        if changed {
            self.probability = -libm::expm1(-self.price * self.log_phi);
        }
    }

    /// Ends one interval. Returns true if further intervals without arrivals would change nothing.
    fn update(&mut self, backlog: f64) -> bool {
        let before = (self.price, self.input);
        self.input += self.input_weight * (self.arrived - self.input);
        self.arrived = 0.0;
        let excess = self.alpha * (backlog - self.target) + self.input - self.carried;
        self.price = (self.price + self.gamma * excess).max(0.0);
        (self.price, self.input) == before
    }
}

impl Discipline for Rem {
    #[inline]
    fn arrive(&mut self, arrival: &Arrival<'_>, stream: &mut Stream) -> Verdict {
        self.catch_up(arrival.now, arrival.buffer);
        let size = match self.mode {
            Mode::Packets => 1.0,
            Mode::Bytes => f64::from(arrival.packet.wire) / self.mean_packet,
        };
        self.arrived += size;
        match stream.chance((size * self.probability).min(1.0)) {
            true if self.ecn => Verdict::Mark,
            true => Verdict::Drop,
            false => Verdict::Admit,
        }
    }

    #[inline]
    fn depart(&mut self, now: Instant, buffer: &mut Buffer, _drops: &mut Vec<(Packet, DropReason)>) -> Option<Packet> {
        // The price depends on the backlog, which is about to change.
        self.catch_up(now, buffer);
        buffer.pop_front().map(|(packet, _)| packet)
    }

    /// Updates the number of packets that the link carries per interval.
    fn on_rate_change(&mut self, change: &RateChange<'_>) {
        self.catch_up(change.now, change.buffer);
        self.carried = change.rate.bits_per_second() as f64 / (8.0 * self.mean_packet) * self.interval.seconds();
    }

    /// The price, in (mean) packets.
    fn average(&self) -> Option<f64> {
        Some(self.price)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{packet, stream};
    use super::*;
    use crate::packet::Class;

    #[test]
    fn volume_of_an_interval_follows_the_current_rate() {
        let (mut rem, buffer) = (rem(""), Buffer::with_capacity(0));
        assert!((rem.carried - 2.0).abs() < 1e-12, "{}", rem.carried);
        let (now, rate) = (Instant::ZERO, Rate::from_bits_per_second(2_000_000));
        rem.on_rate_change(&RateChange { now, rate, idle: Span::ZERO, buffer: &buffer });
        assert!((rem.carried - 0.5).abs() < 1e-12, "{}", rem.carried);
    }

    /// On a link of 8 Mb/s: 2 packets of 1000 bytes per interval of 2 ms.
    fn rem(extra: &str) -> Rem {
        let config: RemConfig = serde_json::from_str(&format!("{{{extra}}}")).expect("rem");
        config.discipline(Capacity::Packets(100), Rate::from_bits_per_second(8_000_000))
    }

    fn queue_of(packets: u32) -> Buffer {
        let mut buffer = Buffer::with_capacity(0);
        for flow in 0..packets {
            buffer.push(Instant::ZERO, packet(flow, 1000, Class::Tcp));
        }
        buffer
    }

    fn arrive(rem: &mut Rem, now: Instant, buffer: &Buffer) -> Verdict {
        let packet = packet(0, 1000, Class::Tcp);
        rem.arrive(&Arrival { now, packet: &packet, buffer, idle: Span::ZERO, full: false }, &mut stream())
    }

    #[test]
    fn the_price_follows_its_law() {
        let mut rem = rem("");
        for _ in 0..5 {
            arrive(&mut rem, Instant::from_nanos(1), &queue_of(50));
        }
        rem.catch_up(Instant::ZERO + Span::from_millis(3), &queue_of(50));
        // γ(α(b − b*) + x − c) = 0.001 · (0.1 · (50 − 20) + 5 − 2)
        assert!((rem.price - 0.006).abs() < 1e-12, "{}", rem.price);
        assert!((rem.probability - (1.0 - libm::pow(1.001, -0.006))).abs() < 1e-15);
    }

    #[test]
    fn the_price_is_never_negative() {
        let mut rem = rem("");
        rem.catch_up(Instant::ZERO + Span::from_secs(1), &queue_of(0));
        assert_eq!((rem.price, rem.probability), (0.0, 0.0));
    }

    #[test]
    fn the_price_rests_where_demand_and_backlog_balance() {
        let mut rem = rem("");
        rem.price = 100.0;
        for i in 0..4000u64 {
            arrive(&mut rem, Instant::ZERO + Span::from_millis(1) * i + Span::from_nanos(1), &queue_of(20));
        }
        assert!((rem.price - 100.0).abs() < 1e-9, "{}", rem.price);
    }

    #[test]
    fn catching_up_late_is_the_same_as_every_timer_in_time() {
        for extra in ["", r#""input-weight":0.25"#] {
            let (mut lazy, mut eager) = (rem(extra), rem(extra));
            for rem in [&mut lazy, &mut eager] {
                rem.price = 0.3;
                for _ in 0..7 {
                    arrive(rem, Instant::from_nanos(1), &queue_of(0));
                }
            }
            for i in 1..=400u64 {
                eager.catch_up(Instant::ZERO + Span::from_millis(2) * i + Span::from_nanos(1), &queue_of(0));
            }
            lazy.catch_up(Instant::ZERO + Span::from_millis(801), &queue_of(0));
            assert_eq!((lazy.price, lazy.input, lazy.probability), (eager.price, eager.input, eager.probability));
        }
    }

    #[test]
    fn drop_probability_is_proportional_to_size_in_byte_mode() {
        let mut dropped = [0u32; 2];
        let mut rem = rem(r#""mode":"bytes""#);
        let mut stream = stream();
        rem.price = 200.0;
        rem.probability = -libm::expm1(-rem.price * rem.log_phi);
        let buffer = Buffer::with_capacity(0);
        for i in 0..40_000u32 {
            let size = [100, 1000][i as usize % 2];
            let packet = packet(0, size, Class::Tcp);
            // All at the same time, so that the price stays constant.
            let arrival =
                Arrival { now: Instant::ZERO, packet: &packet, buffer: &buffer, idle: Span::ZERO, full: false };
            dropped[i as usize % 2] += u32::from(rem.arrive(&arrival, &mut stream) == Verdict::Drop);
        }
        let expected = 20_000.0 * rem.probability;
        assert!((f64::from(dropped[1]) - expected).abs() < 0.05 * expected, "{dropped:?}, {expected}");
        assert!((f64::from(dropped[0]) - 0.1 * expected).abs() < 0.012 * expected, "{dropped:?}, {expected}");
    }

    #[test]
    fn the_input_is_smoothed_with_its_weight() {
        let mut rem = rem(r#""input-weight":0.25"#);
        rem.arrived = 8.0;
        rem.update(20.0);
        // x = 0.25 · 8 = 2 = c, and the backlog is at its target.
        assert_eq!((rem.input, rem.arrived, rem.price), (2.0, 0.0, 0.0));
        rem.arrived = 6.0;
        rem.update(20.0);
        assert!((rem.input - 3.0).abs() < 1e-12 && (rem.price - 0.001).abs() < 1e-12, "{} {}", rem.input, rem.price);
    }

    #[test]
    fn backlog_and_input_count_in_mean_packets_in_byte_mode() {
        let mut rem = rem(r#""mode":"bytes","target":0"#);
        let half = packet(0, 500, Class::Tcp);
        let mut buffer = Buffer::with_capacity(0);
        for _ in 0..10 {
            buffer.push(Instant::ZERO, half);
        }
        let arrival = Arrival { now: Instant::ZERO, packet: &half, buffer: &buffer, idle: Span::ZERO, full: false };
        for _ in 0..8 {
            rem.arrive(&arrival, &mut stream());
        }
        rem.catch_up(Instant::ZERO + Span::from_millis(3), &buffer);
        // 0.001 · (0.1 · (5 − 0) + 4 − 2)
        assert!((rem.average().expect("a price") - 0.0025).abs() < 1e-15, "{:?}", rem.average());
    }

    #[test]
    fn the_head_leaves_after_the_price_has_seen_it_wait() {
        let (mut rem, mut buffer, mut drops) = (rem(r#""target":0"#), queue_of(50), Vec::new());
        let head = rem.depart(Instant::ZERO + Span::from_millis(3), &mut buffer, &mut drops).map(|head| head.flow.0);
        assert_eq!((head, buffer.total().packets, drops.len()), (Some(0), 49, 0));
        assert!((rem.price - 0.001 * (0.1 * 50.0 - 2.0)).abs() < 1e-15, "{}", rem.price);
    }

    #[test]
    fn parameters_out_of_range_are_refused() {
        let check = |text: &str| {
            let config: RemConfig = serde_json::from_str(text).expect("rem");
            config.check().and_then(|()| config.fits(Capacity::Bytes(50_000), None)).map_err(|error| error.key)
        };
        for (text, key) in [
            (r#"{"gamma":0}"#, "gamma"),
            (r#"{"alpha":0}"#, "alpha"),
            (r#"{"phi":1}"#, "phi"),
            (r#"{"interval":"0 s"}"#, "interval"),
            (r#"{"input-weight":0}"#, "input-weight"),
            (r#"{"mean-packet":"0 B"}"#, "mean-packet"),
            (r#"{"target":50.5}"#, "target"),
            (r#"{"target":-1}"#, "target"),
        ] {
            assert_eq!(check(text), Err(key.to_owned()));
        }
        assert_eq!(check(r#"{"target":50}"#), Ok(()), "as many as the buffer holds");
        assert_eq!(check(r#"{"target":0}"#), Ok(()));
    }
}
