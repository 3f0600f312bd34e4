//! Adaptive video streaming. A player fetches segments one after the other and plays them from a buffer. It chooses the
//! rate of each segment from a ladder, by its measurements so far.
//!
//! The algorithms are in [`abr`]. [`Session`] is the result for the viewer: start-up time, stalled time, rates and
//! number of changes of rate. It includes the quality of experience of Yin et al. 2015, Eq. 5.
//!
//! **Assumptions.** All segments use the flow's connection, one after the other. A request is not a packet: the driver
//! of the source delays it by the propagation delay of the reverse path, without queueing. Playback starts, and resumes
//! after a stall, with `start-up` in the buffer. If the buffer has no room for a segment, the player waits. The
//! manifest is known, including the sizes of all segments. Segment sizes vary equally in all rungs. Viewers never give
//! up, and never seek.

mod abr;
mod bola_e;

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use abr::{Abr, View};

use bola_e::BolaE;

use super::{FrameType, TrafficLaw, TrafficSource, TransferRequest, Unit, Volume};
use fairwave_units::config::{ConfigError, check_span};
use fairwave_units::random::Stream as Random;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::{Instant, Rate, Span};

/// An adaptive video stream: the player's algorithm chooses the rate of each segment. Fairwave measures start-up,
/// stalls, rates and changes of rate. Needs a transport that retransmits lost data.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct StreamConfig {
    /// The algorithm that chooses the rate. Default `bola`.
    pub abr: Abr,
    /// Available rates of segments, 1 to 12 of them, ascending. Default 0.3, 0.75, 1.2, 1.85, 2.85 and 4.3 Mb/s.
    pub ladder: Vec<Rate>,
    /// Length of a segment, 100 ms to 1 min. Default 4 s.
    pub segment: Span,
    /// Maximum length of the buffer; at least two segments, at most 1 h. Default 60 s.
    pub buffer: Span,
    /// Length that must be in the buffer before the player begins, or continues after a stall; at most `buffer` less a
    /// segment. Default one segment.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "one segment"))]
    pub start_up: Option<Span>,
    /// Variation of segment sizes: σ of their logarithm, from 0 to 2, with the chosen rate as mean. Default 0.
    #[serde(skip_serializing_if = "is_nothing")]
    #[schemars(extend("default" = 0.0))]
    pub variation: f64,
    /// Length of the video. Left out: the video does not end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub length: Option<Span>,
}

fn is_nothing(variation: &f64) -> bool {
    *variation == 0.0
}

impl Default for StreamConfig {
    fn default() -> Self {
        StreamConfig {
            abr: Abr::Bola,
            ladder: [300, 750, 1_200, 1_850, 2_850, 4_300].map(|k| Rate::from_bits_per_second(k * 1000)).to_vec(),
            segment: Span::from_secs(4),
            buffer: Span::from_secs(60),
            start_up: None,
            variation: 0.0,
            length: None,
        }
    }
}

const MOST_RUNGS: usize = 12;
const LONGEST_BUFFER: Span = Span::from_secs(3600);

impl Checked for StreamConfig {
    fn check(&self) -> Result<(), ConfigError> {
        let ladder = "ladder = [\"300 kb/s\", \"750 kb/s\", \"1.5 Mb/s\"]";
        if !(1..=MOST_RUNGS).contains(&self.ladder.len()) {
            return Err(ConfigError::new("ladder", format!("{} rates", self.ladder.len()), "1 to 12 rates", ladder));
        }
        if self.ladder[0] == Rate::default() {
            return Err(ConfigError::new("ladder", self.ladder[0], "rates above 0", ladder));
        }
        if let Some(pair) = self.ladder.windows(2).find(|pair| pair[1] <= pair[0]) {
            let value = format!("{} after {}", pair[1], pair[0]);
            return Err(ConfigError::new("ladder", value, "in ascending order, each rate once", ladder));
        }
        if self.segment < Span::from_millis(100) || self.segment > Span::from_secs(60) {
            return Err(ConfigError::new("segment", self.segment, "from 100 ms to 1 min", "segment = \"4 s\""));
        }
        let largest = self.ladder[self.ladder.len() - 1].bytes_in(self.segment).get();
        if largest > u64::from(u32::MAX) / 64 {
            let allowed = "such that a segment has at most 67 MB";
            return Err(ConfigError::new("ladder", self.ladder[self.ladder.len() - 1], allowed, ladder));
        }
        if self.buffer < self.segment * 2 || self.buffer > LONGEST_BUFFER {
            let allowed = format!("two segments ({}) to 1 h", self.segment * 2);
            return Err(ConfigError::new("buffer", self.buffer, allowed, "buffer = \"60 s\""));
        }
        if let Some(start_up) = self.start_up {
            check_span("start-up", start_up, "start-up = \"8 s\"")?;
            let most = self.buffer.saturating_sub(self.segment);
            if start_up > most {
                let allowed = format!("at most the buffer less a segment ({most})");
                return Err(ConfigError::new("start-up", start_up, allowed, "start-up = \"8 s\""));
            }
        }
        if !(0.0..=2.0).contains(&self.variation) {
            return Err(ConfigError::new("variation", self.variation, "from 0 to 2", "variation = 0.2"));
        }
        self.length.map_or(Ok(()), |length| check_span("length", length, "length = \"10 min\""))
    }
}

impl Law for StreamConfig {
    const NAME: &'static str = "stream";
    const EXAMPLE: &'static str = r#"{"abr": "bola"}"#;
    const BESIDE: &'static str = r#"{"transport": "tcp/sack"}"#;
}

impl TrafficLaw for StreamConfig {
    type Source = Box<Stream>;
    const TRANSFERS: bool = true;
    const LISTENS: bool = true;

    fn source(&self, start: Instant, stream: Random) -> Result<Box<Stream>, ConfigError> {
        Ok(Box::new(Stream::new(self, start, stream)))
    }

    fn volume(&self, lasts: f64) -> Option<Volume> {
        let length = self.length.map_or(f64::INFINITY, Span::seconds);
        let segments = ((lasts + self.buffer.seconds()).min(length) / self.segment.seconds()).ceil();
        let highest = self.ladder.last()?.bits_per_second() as f64 / 8.0;
        Some(Volume { units: segments, payload: segments * highest * self.segment.seconds() })
    }
}

/// Result of an adaptive stream for the viewer.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Session {
    /// Segments that arrived.
    pub segments: u64,
    /// Time from the first request to the start of playback; `None` if it did not start.
    pub start_up: Option<Span>,
    /// Playback time, seconds.
    pub played: f64,
    /// Stalled time after the start of playback, seconds.
    pub stalled: f64,
    /// Number of stalls.
    pub stalls: u64,
    /// Mean rate of the arrived segments, bits per second; `None` without any.
    pub rate: Option<f64>,
    /// Number of changes of rung between consecutive segments.
    pub switches: u64,
    /// Yin et al. 2015, Eq. 5, per segment, bits per second: rates, less their changes, less the highest rate for each
    /// second of stalls and start-up; `None` without segments.
    pub experience: Option<f64>,
}

impl Session {
    /// Returns the stalled share of the time since the start of playback, 0 to 1; `None` if it did not start.
    pub fn stall_ratio(&self) -> Option<f64> {
        let all = self.played + self.stalled;
        (all > 0.0).then(|| self.stalled / all)
    }
}

/// Player of an adaptive stream.
#[derive(Clone, Debug)]
pub struct Stream {
    abr: Abr,
    ladder: Vec<f64>,
    segment: f64,
    most: f64,
    start_up: f64,
    variation: f64,
    /// Number of segments of the video.
    all: u64,
    random: Random,
    /// Sizes of segments relative to their mean, from the next one on, as far as drawn.
    sizes: VecDeque<f64>,
    due: Option<Unit>,
    wanted: Vec<TransferRequest>,
    /// Time of the first request.
    began: Instant,
    /// Rung of each requested segment.
    rungs: Vec<u8>,
    /// Number of segments that have arrived.
    came: u64,
    throughput: Vec<f64>,
    errors: Vec<f64>,
    gained: Option<f64>,
    filling: bool,
    /// State of BOLA-E.
    bola_e: Option<BolaE>,
    state: Playing,
}

/// State of the buffer at a time.
#[derive(Clone, Copy, Debug)]
struct Playing {
    at: Instant,
    buffer: f64,
    playing: bool,
    started: Option<Instant>,
    played: f64,
    stalled: f64,
    stalls: u64,
}

impl Playing {
    /// Advances to `now`. With `last`, all segments have arrived: an empty buffer is the end.
    fn advance(&mut self, now: Instant, last: bool) {
        let elapsed = now.span_since(self.at).seconds();
        self.at = self.at.max(now);
        if self.started.is_none() {
            return;
        }
        if !self.playing {
            self.stalled += if last && self.buffer <= 0.0 { 0.0 } else { elapsed };
            return;
        }
        let played = elapsed.min(self.buffer);
        self.played += played;
        self.buffer -= played;
        // A remaining rounding error of the buffer does not count.
        if elapsed - played > 1e-9 && !last {
            self.playing = false;
            self.stalls += 1;
            self.stalled += elapsed - played;
        }
    }
}

/// MPC and BBA-2 look ahead at most this many segments.
const MOST_AHEAD: usize = 4096;

impl Stream {
    fn new(config: &StreamConfig, start: Instant, random: Random) -> Self {
        let segment = config.segment.seconds();
        let length = config.length.map_or(f64::INFINITY, Span::seconds);
        let ladder: Vec<f64> = config.ladder.iter().map(|rate| rate.bits_per_second() as f64).collect();
        let mut stream = Stream {
            abr: config.abr,
            bola_e: (config.abr == Abr::BolaE).then(|| BolaE::new(&ladder)),
            ladder,
            segment,
            most: config.buffer.seconds(),
            start_up: config.start_up.unwrap_or(config.segment).seconds(),
            variation: config.variation,
            all: (length / segment).ceil().min(u32::MAX as f64) as u64,
            random,
            sizes: VecDeque::new(),
            due: None,
            wanted: Vec::new(),
            began: start,
            rungs: Vec::new(),
            came: 0,
            throughput: Vec::new(),
            errors: Vec::new(),
            gained: None,
            filling: true,
            state: Playing {
                at: start,
                buffer: 0.0,
                playing: false,
                started: None,
                played: 0.0,
                stalled: 0.0,
                stalls: 0,
            },
        };
        stream.ask(start);
        stream
    }

    /// Requests the next segment at `at`; the buffer must be advanced to that time.
    fn ask(&mut self, at: Instant) {
        let ahead = ((2.0 * self.most / self.segment).ceil() as usize).clamp(abr::HORIZON, MOST_AHEAD);
        while self.sizes.len() < ahead {
            let (spread, variation) = (self.random.normal(), self.variation);
            self.sizes.push_back(libm::exp(variation * spread - variation * variation / 2.0).min(16.0));
        }
        let view = View {
            ladder: &self.ladder,
            segment: self.segment,
            most: self.most,
            buffer: self.state.buffer,
            before: self.rungs.last().map(|rung| usize::from(*rung)),
            sizes: self.sizes.make_contiguous(),
            throughput: &self.throughput,
            errors: &self.errors,
            gained: self.gained,
            filling: self.filling,
        };
        let (rung, filling, pause) = match &mut self.bola_e {
            Some(bola) => {
                let (rung, pause) = bola.choose(&view);
                (rung, false, pause)
            }
            None => {
                let (rung, filling) = view.choose(self.abr);
                (rung, filling, 0.0)
            }
        };
        self.filling = filling;
        let at = at + Span::from_seconds(pause);
        self.state.advance(at, false);
        let size = self.sizes.pop_front().unwrap_or(1.0);
        let bytes = self.ladder.get(rung).copied().unwrap_or_default() * self.segment * size / 8.0;
        let payload = libm::round(bytes).clamp(1.0, f64::from(u32::MAX)) as u32;
        let id = self.rungs.len() as u32;
        self.rungs.push(rung as u8);
        self.wanted.push(TransferRequest { began: at, first: id, units: 1, size: u64::from(payload) });
        self.due = Some(Unit { id, payload, created: at, layer: 0, frame_type: FrameType::None });
    }

    /// Checks whether the whole video has arrived.
    fn is_complete(&self) -> bool {
        self.came >= self.all
    }

    /// Returns the viewer's result at a time.
    pub fn seen(&self, until: Instant) -> Session {
        let mut state = self.state;
        state.advance(until, self.is_complete());
        let came = self.came as usize;
        let rates: Vec<f64> =
            self.rungs.iter().take(came).filter_map(|rung| self.ladder.get(usize::from(*rung)).copied()).collect();
        let sum: f64 = rates.iter().sum();
        let changes: f64 = rates.windows(2).map(|pair| (pair[1] - pair[0]).abs()).sum();
        let highest = self.ladder.last().copied().unwrap_or_default();
        let start_up = state.started.map(|at| at.span_since(self.began));
        // A wait without any playback counts as start-up time, too.
        let waited = start_up.unwrap_or(until.span_since(self.began)).seconds();
        let count = rates.len() as f64;
        let experience = (sum - changes - highest * (state.stalled + waited)) / count;
        Session {
            segments: self.came,
            start_up,
            played: state.played,
            stalled: state.stalled,
            stalls: state.stalls,
            rate: (count > 0.0).then(|| sum / count),
            switches: rates.windows(2).filter(|pair| pair[0] != pair[1]).count() as u64,
            experience: (count > 0.0).then_some(experience),
        }
    }
}

impl TrafficSource for Stream {
    fn next_unit(&mut self) -> Option<Unit> {
        self.due.take().filter(|unit| unit.created < Instant::NEVER)
    }

    fn on_received(&mut self, unit: u32, now: Instant) {
        let Some(request) = self.wanted.last().filter(|request| request.first == unit && self.came == u64::from(unit))
        else {
            return;
        };
        let took = now.span_since(request.began).seconds().max(1e-9);
        let rate = 8.0 * request.size as f64 / took;
        let predicted = View {
            ladder: &self.ladder,
            segment: self.segment,
            most: self.most,
            buffer: 0.0,
            before: None,
            sizes: &[],
            throughput: &self.throughput,
            errors: &[],
            gained: None,
            filling: false,
        }
        .predicted();
        // Only the latest few entries are used.
        for (list, value) in
            [(&mut self.throughput, Some(rate)), (&mut self.errors, predicted.map(|one| one / rate - 1.0))]
        {
            list.extend(value);
            if list.len() > abr::HORIZON {
                list.remove(0);
            }
        }
        let stalls = self.state.stalls;
        self.state.advance(now, false);
        if let Some(bola) = &mut self.bola_e {
            bola.fetched(self.state.buffer + took, self.state.stalls > stalls);
        }
        self.state.buffer += self.segment;
        self.gained = Some(self.segment - took);
        self.came += 1;
        if !self.state.playing && (self.state.buffer >= self.start_up - 1e-9 || self.is_complete()) {
            self.state.playing = true;
            self.state.started.get_or_insert(now);
        }
        if self.is_complete() {
            return;
        }
        let room = self.most - self.segment;
        let mut at = now;
        if self.state.buffer > room {
            at += Span::from_seconds(self.state.buffer - room);
            self.state.advance(at, false);
        }
        if let Some(bola) = &mut self.bola_e {
            bola.waited(at.span_since(now).seconds());
        }
        self.ask(at);
    }

    fn requests(&self) -> &[TransferRequest] {
        &self.wanted
    }

    fn session(&self, until: Instant) -> Option<Session> {
        Some(self.seen(until))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwave_units::random::Seed;

    fn stream(json: &str) -> Box<Stream> {
        let config: StreamConfig = serde_json::from_str(json).expect("a stream");
        config.check().expect("sound");
        config.source(Instant::ZERO, Seed(1).stream("stream")).expect("a source")
    }

    /// Simulates a network with this rate in bits per second, until `segments` segments have arrived. Returns the time.
    fn fetch(stream: &mut Stream, segments: usize, rate: impl Fn(f64) -> f64) -> Instant {
        let mut now = Instant::ZERO;
        for _ in 0..segments {
            let Some(unit) = stream.next_unit() else { break };
            now = now.max(unit.created);
            now += Span::from_seconds(8.0 * f64::from(unit.payload) / rate(now.seconds()));
            stream.on_received(unit.id, now);
        }
        now
    }

    const TWO: &str = r#""ladder": ["1 Mb/s", "2 Mb/s"], "segment": "2 s", "buffer": "10 s""#;

    #[test]
    fn a_player_asks_for_one_segment_after_the_other_and_waits_when_its_buffer_is_full() {
        let mut stream = stream(&format!(r#"{{"abr": "lowest", {TWO}}}"#));
        // 2 Mb at 4 Mb/s take 0.5 s: 2 s in, 0.5 s out.
        let end = fetch(&mut stream, 40, |_| 4e6);
        let asked: Vec<f64> = stream.requests().iter().map(|one| one.began.seconds()).collect();
        assert_eq!(asked[..6], [0.0, 0.5, 1.0, 1.5, 2.0, 2.5]);
        // With a capacity of 8 s, one segment every 2 s.
        let last = asked.len() - 1;
        assert!((asked[last] - asked[last - 1] - 2.0).abs() < 1e-6, "{asked:?}");
        let found = stream.seen(end);
        assert_eq!((found.segments, found.stalls, found.switches, found.rate), (40, 0, 0, Some(1e6)));
        assert_eq!((found.start_up, found.stall_ratio()), (Some(Span::from_millis(500)), Some(0.0)));
    }

    #[test]
    fn playing_stops_when_the_buffer_is_empty_and_goes_on_with_what_start_up_asks_for() {
        // Segments of 2 s take 4 s each: it alternates between 2 s of playback and 2 s of stall.
        let mut one = stream(&format!(r#"{{"abr": "highest", {TWO}}}"#));
        let end = fetch(&mut one, 5, |_| 1e6);
        let found = one.seen(end);
        assert_eq!((found.start_up, found.stalls), (Some(Span::from_secs(4)), 4));
        assert!((found.stalled - 8.0).abs() < 1e-6 && (found.played - 8.0).abs() < 1e-6, "{found:?}");
        assert_eq!(found.stall_ratio(), Some(0.5));
        // Eq. 5: five rates of 2 Mb/s, no change, 8 s of stalls and 4 s of start-up.
        assert!((found.experience.expect("defined") - (10e6 - 2e6 * 12.0) / 5.0).abs() < 1.0);
        let mut two = stream(&format!(r#"{{"abr": "highest", "start-up": "4 s", {TWO}}}"#));
        let end = fetch(&mut two, 6, |_| 1e6);
        let found = two.seen(end);
        assert_eq!((found.start_up, found.stalls), (Some(Span::from_secs(8)), 1));
        // It plays from 8 s to 14 s, because a segment arrives at 12 s, and from 20 s on, with two segments again.
        assert!((found.played - 10.0).abs() < 1e-6 && (found.stalled - 6.0).abs() < 1e-6, "{found:?}");
    }

    #[test]
    fn a_segment_gains_its_length_less_what_it_took_and_an_error_is_of_the_prediction_over_what_came() {
        let mut stream = stream(&format!(r#"{{"abr": "lowest", {TWO}}}"#));
        // 2 Mb at 4 Mb/s, then at 1 Mb/s.
        let first = fetch(&mut stream, 1, |_| 4e6);
        assert!((stream.gained.expect("a segment") - 1.5).abs() < 1e-6 && stream.errors.is_empty());
        let unit = stream.next_unit().expect("the second");
        stream.on_received(unit.id, first + Span::from_seconds(2.0));
        assert!(stream.gained.expect("a segment").abs() < 1e-6);
        assert_eq!(stream.errors.len(), 1);
        assert!((stream.errors[0] - 3.0).abs() < 1e-6, "4 Mb/s predicted, 1 Mb/s found: {:?}", stream.errors);
    }

    #[test]
    fn start_up_lasts_from_the_first_request() {
        let config: StreamConfig = serde_json::from_str(&format!(r#"{{"abr": "lowest", {TWO}}}"#)).expect("a stream");
        let begin = Instant::from_seconds(7.0);
        let mut stream = config.source(begin, Seed(1).stream("stream")).expect("a source");
        let unit = stream.next_unit().expect("the first segment");
        stream.on_received(unit.id, begin + Span::from_millis(500));
        assert_eq!(stream.seen(Instant::from_seconds(9.0)).start_up, Some(Span::from_millis(500)));
    }

    #[test]
    fn a_video_that_is_over_does_not_stall() {
        let mut stream = stream(&format!(r#"{{"abr": "lowest", "length": "5 s", {TWO}}}"#));
        let end = fetch(&mut stream, 99, |_| 4e6);
        let found = stream.seen(end + Span::from_secs(100));
        assert_eq!((found.segments, found.stalls, found.stalled), (3, 0, 0.0));
        assert!((found.played - 6.0).abs() < 1e-6);
    }

    #[test]
    fn viewer_waits_until_the_stream_begins() {
        let found = stream("{}").seen(Instant::from_seconds(9.0));
        assert_eq!((found.segments, found.start_up, found.rate, found.stall_ratio()), (0, None, None, None));
    }

    #[test]
    fn switches_count_and_cost_what_they_change() {
        // First fast, then slow, then fast: BBA-0 follows its buffer.
        let mut stream = stream(&format!(r#"{{"abr": "rate", {TWO}}}"#));
        let end = fetch(&mut stream, 30, |at| if (10.0..20.0).contains(&at) { 1.2e6 } else { 8e6 });
        let found = stream.seen(end);
        let rungs = &stream.rungs[..found.segments as usize];
        let switches = rungs.windows(2).filter(|pair| pair[0] != pair[1]).count() as u64;
        assert!(switches >= 3 && found.switches == switches, "{rungs:?}");
        let sum: f64 = rungs.iter().map(|rung| [1e6, 2e6][usize::from(*rung)]).sum();
        let waited = found.start_up.expect("begun").seconds() + found.stalled;
        let expected = (sum - 1e6 * switches as f64 - 2e6 * waited) / rungs.len() as f64;
        assert!((found.experience.expect("defined") - expected).abs() < 1.0);
    }

    #[test]
    fn algorithms_reach_the_rate_of_a_steady_network_and_do_not_stall_at_twice_the_lowest_rung() {
        for abr in ["bba-0", "bba-2", "bola", "bola-e", "mpc", "robust-mpc", "rate"] {
            let json = format!(r#"{{"abr": "{abr}", "buffer": "60 s", "variation": 0.1}}"#);
            for (rate, low, high) in [(600e3, 290e3, 610e3), (2.2e6, 1.1e6, 2.25e6), (20e6, 3.5e6, 4.31e6)] {
                let mut stream = stream(&json);
                let end = fetch(&mut stream, 400, |_| rate);
                let found = stream.seen(end);
                let mean = found.rate.expect("segments");
                assert!((low..high).contains(&mean), "{abr} at {rate}: {mean}");
                // MPC stalls if a higher rate is worth more than a short stall costs. The throughput algorithm ignores
                // the buffer.
                let most = if abr.contains('b') && abr != "robust-mpc" { 0.0 } else { 0.02 };
                assert!(found.stall_ratio().expect("begun") <= most, "{abr} at {rate}: {found:?}");
            }
        }
    }

    #[test]
    fn bola_e_is_at_what_the_network_carries_after_one_segment_and_stays_there() {
        // 2.2 Mb/s sustain 1.85 of the ladder. A buffer of 60 s lets BOLA-BASIC rise by the buffer alone, and
        // oscillate.
        let fetched = |abr: &str| {
            let mut stream = stream(&format!(r#"{{"abr": "{abr}"}}"#));
            fetch(&mut stream, 200, |_| 2.2e6);
            stream
        };
        let (basic, deployed) = (fetched("bola"), fetched("bola-e"));
        // After two segments, the limit is half of the arrivals in the buffer's time, for two more segments: the buffer
        // is short.
        assert_eq!(deployed.rungs[..8], [0, 3, 2, 2, 3, 3, 3, 3]);
        assert!(basic.rungs[..8].iter().all(|rung| *rung < 3), "{:?}", &basic.rungs[..8]);
        let switches = |stream: &Stream| stream.rungs[100..].windows(2).filter(|pair| pair[0] != pair[1]).count();
        assert_eq!(switches(&deployed), 0);
        assert!(switches(&basic) > 10, "{}", switches(&basic));
        // It pauses instead of filling the buffer at an unsustainable rate.
        assert!(deployed.state.buffer < 30.0 && deployed.state.stalls == 0, "{:?}", deployed.state);
    }

    #[test]
    fn bola_e_goes_down_before_its_buffer_is_empty() {
        // From 4 Mb/s to 0.5 Mb/s: limited to half of the arrivals in the buffer's time.
        let mut stream = stream(r#"{"abr": "bola-e"}"#);
        fetch(&mut stream, 120, |at| if at < 120.0 { 4e6 } else { 5e5 });
        let found = stream.seen(stream.state.at);
        assert!(stream.rungs[20] >= 4 && *stream.rungs.last().expect("some") == 0, "{:?}", stream.rungs);
        assert!(found.stalls <= 1, "{found:?}");
    }

    #[test]
    fn sizes_do_not_depend_on_what_is_chosen_and_vary_as_they_are_told() {
        let factors = |abr: &str| {
            let mut stream = stream(&format!(r#"{{"abr": "{abr}", "variation": 0.3}}"#));
            fetch(&mut stream, 3000, |_| 5e6);
            let mean = |request: (&TransferRequest, &u8)| {
                8.0 * request.0.size as f64 / 4.0 / stream.ladder[usize::from(*request.1)]
            };
            stream.wanted.iter().zip(&stream.rungs).map(mean).collect::<Vec<f64>>()
        };
        let (low, high) = (factors("lowest"), factors("highest"));
        assert!(low.iter().zip(&high).all(|(one, other)| (one - other).abs() < 1e-4));
        let mean = low.iter().sum::<f64>() / low.len() as f64;
        let sigma = (low.iter().map(|one| libm::log(*one).powi(2)).sum::<f64>() / low.len() as f64).sqrt();
        assert!((mean - 1.0).abs() < 0.02 && (sigma - 0.3).abs() < 0.02, "{mean} {sigma}");
    }

    #[test]
    fn a_stream_that_makes_no_sense_is_refused_by_its_key() {
        for (json, key) in [
            (r#"{"ladder": []}"#, "ladder"),
            (r#"{"ladder": ["0 b/s", "1 Mb/s"]}"#, "ladder"),
            (r#"{"ladder": ["2 Mb/s", "1 Mb/s"]}"#, "ladder"),
            (r#"{"ladder": ["1 Gb/s"]}"#, "ladder"),
            (r#"{"segment": "10 ms"}"#, "segment"),
            (r#"{"buffer": "7 s"}"#, "buffer"),
            (r#"{"buffer": "2 h"}"#, "buffer"),
            (r#"{"start-up": "57 s"}"#, "start-up"),
            (r#"{"start-up": "0 s"}"#, "start-up"),
            (r#"{"variation": 3}"#, "variation"),
            (r#"{"length": "0 s"}"#, "length"),
        ] {
            let config: StreamConfig = serde_json::from_str(json).expect("a stream");
            assert_eq!(config.check().expect_err(json).key, key);
        }
    }
}
