//! A widely deployed jitter buffer: the decisions of NetEQ in libwebrtc (`modules/audio_coding/neteq`, as of 2026-08).
//!
//! The receiver plays 10 ms at a time and makes a decision at each tick. It decodes the next packet unchanged, or plays
//! it one pitch period shorter (accelerate) or longer (preemptive expand) within the talkspurt. Or it conceals a gap
//! (expand) and joins it to the next packet (merge), or fills a silence with comfort noise. The target delay follows
//! the delays of the packets ([`delay_manager`]). A late packet is still played if nothing newer was played before. The
//! delay then has grown by the concealment in the meantime.
//!
//! | here | libwebrtc |
//! |---|---|
//! | `histogram` | `histogram.cc` |
//! | `delay_manager` | `delay_manager.cc`, `underrun_optimizer.cc`, `reorder_optimizer.cc` |
//! | `arrivals` | `packet_arrival_history.cc` |
//! | `decision` | `decision_logic.cc`, `delay_constraints.cc` |
//! | `concealment` | the fading in `expand.cc` |
//! | [`JitterBuffer`] | `neteq_impl.cc`, `packet_buffer.cc`, without the sound |
//!
//! **Assumptions.** In libwebrtc some decisions depend on the sound; here they are fixed. Every change of tempo finds a
//! pitch period of the configured length, in speech. Concealment is as long as needed (as with a decoder's concealment,
//! `DoCodecPlc`). Joining changes no length. The last packet of a talkspurt contains the description of the silence
//! after it (RFC 3389). So silence can be distinguished from loss, unless that packet is lost. Streams do not restart:
//! packets older than the played ones are discarded, at any age. Ticks are at multiples of 10 ms of the receiver's
//! clock, independent of the sender's. There is no redundancy and no forward error correction. Internal times are
//! samples at 8 kHz, as in libwebrtc for narrowband codecs.

mod arrivals;
mod concealment;
mod config;
mod decision;
mod delay_manager;
mod histogram;

use std::collections::VecDeque;

pub use config::NeteqConfig;

use self::concealment::Concealment;
use self::decision::{DecisionLogic, Mode, NextPacket, Status};
use fairwave_units::units::Span;

/// Time between two ticks.
pub const TICK: Span = Span::from_millis(10);

const SAMPLES_PER_MS: i64 = 8;
const SAMPLES_PER_TICK: i64 = 80;
const NANOS_PER_SAMPLE: u64 = 125_000;

/// Samples held back for cross-fading: `overlap_length` of `expand.cc`.
const OVERLAP: i64 = 5;

/// [`OVERLAP`] as time: the delay from a tick to the playout of its sound.
pub(super) const HELD_BACK: Span = Span::from_micros(625);

/// Decoded samples that a change of tempo requires.
const STRETCHABLE: i64 = 3 * SAMPLES_PER_TICK;

/// Position of a change of tempo in the available samples, 15 ms, which is also its largest length.
const STRETCH_AT: i64 = 120;

/// Assumed frame length before the first decoded frame.
const FIRST_FRAME: i64 = 3 * SAMPLES_PER_TICK;

/// A received packet of speech.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packet {
    /// The caller's number of the packet.
    pub unit: usize,
    /// Media time, relative to any fixed time.
    pub media: Span,
    /// Duration of its speech.
    pub length: Span,
    /// True if it announces that silence follows.
    pub ends_talkspurt: bool,
}

/// Operation of the buffer in a tick: libwebrtc's `NetEq::Operation`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operation {
    /// Play decoded samples, and decode more if they are too few.
    Normal,
    /// Join concealment to the next decoded samples.
    Merge,
    /// Conceal missing samples.
    Expand,
    /// Remove a pitch period.
    Accelerate,
    /// Like `Accelerate`, because the delay is four times too long; removes several periods if configured.
    FastAccelerate,
    /// Repeat a pitch period.
    PreemptiveExpand,
    /// Start to fill a silence.
    ComfortNoise,
    /// Continue to fill a silence.
    ComfortNoiseContinued,
}

/// A piece of the output, in playout order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Piece {
    /// The speech of this unit starts.
    Unit(usize),
    /// This duration is removed from the previous unit, near its end.
    Shortened(Span),
    /// This duration of the previous unit is played twice, near its end.
    Lengthened(Span),
    /// This duration is concealment.
    Concealed(Span),
    /// This duration is known silence.
    Silence(Span),
}

#[derive(Clone, Copy, Debug)]
struct BufferedPacket {
    unit: usize,
    media: i64,
    length: i64,
    ends_talkspurt: bool,
    since: i64,
}

/// Jitter buffer. The caller passes arriving packets, and calls [`JitterBuffer::tick`] every [`TICK`]. Times between
/// ticks do not count: a packet arrives between two ticks, as in libwebrtc.
#[derive(Clone, Debug)]
pub struct JitterBuffer {
    logic: DecisionLogic,
    capacity: usize,
    pitch: i64,
    fast_accelerate: bool,
    waiting: VecDeque<BufferedPacket>,
    tick: i64,
    /// Media time of the next packet to decode.
    target: i64,
    /// Decoded or concealed samples that have not been played.
    ahead: i64,
    frame: i64,
    mode: Mode,
    concealment: Concealment,
    /// Start of the current noise or concealment.
    generating_since: Option<i64>,
    silence_waits: bool,
    begun: bool,
    /// True once the playout has ended: the next packet starts a new one.
    restarts: bool,
}

fn samples(span: Span) -> i64 {
    ((span.nanos() + NANOS_PER_SAMPLE / 2) / NANOS_PER_SAMPLE) as i64
}

fn span(samples: i64) -> Span {
    Span::from_nanos(samples.max(0) as u64 * NANOS_PER_SAMPLE)
}

/// Rounds to the nearest sample at 8 kHz, the buffer's unit.
pub(super) fn whole_samples(time: Span) -> Span {
    span(samples(time))
}

impl JitterBuffer {
    /// Returns an empty buffer before the first tick. `config` must have been checked.
    pub fn new(config: NeteqConfig) -> Self {
        let capacity = config.max_packets as usize;
        JitterBuffer {
            logic: DecisionLogic::new(config),
            capacity,
            pitch: samples(config.pitch_period),
            fast_accelerate: config.fast_accelerate,
            waiting: VecDeque::with_capacity(capacity),
            tick: 0,
            target: 0,
            ahead: 0,
            frame: FIRST_FRAME,
            mode: Mode::Normal,
            concealment: Concealment::inactive(),
            generating_since: None,
            silence_waits: false,
            begun: false,
            restarts: false,
        }
    }

    /// Returns the target delay, relative to the least delayed packet.
    pub fn target_delay(&self) -> Span {
        span(self.logic.target_ms().saturating_mul(SAMPLES_PER_MS))
    }

    /// Sets the lower bound of the target, for lip synchronisation.
    pub fn set_min_delay(&mut self, delay: Span) {
        self.logic.set_min_delay(delay);
    }

    /// Returns the number of packets that wait to be decoded.
    pub fn packets_waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Checks whether no packet waits and only silence is played until the next packet.
    pub fn is_idle(&self) -> bool {
        let silent = match self.mode {
            Mode::Expand => self.concealment.is_silent(),
            mode => mode == Mode::ComfortNoise,
        };
        silent && self.waiting.is_empty() && !self.silence_waits && self.ahead < SAMPLES_PER_TICK
    }

    /// Performs a number of idle ticks at once, with the same result as calls of [`JitterBuffer::tick`].
    pub fn stay_idle(&mut self, ticks: u64, heard: &mut Vec<Piece>) {
        let samples = SAMPLES_PER_TICK.saturating_mul(ticks.min(i64::MAX as u64) as i64);
        self.tick = self.tick.saturating_add_unsigned(ticks);
        heard.push(match self.mode {
            Mode::Expand => Piece::Concealed(span(samples)),
            _ => Piece::Silence(span(samples)),
        });
    }

    /// Handles an arriving packet.
    pub fn on_arrival(&mut self, packet: Packet) {
        let (media, length) = (samples(packet.media), samples(packet.length));
        if self.waiting.len() >= self.capacity {
            self.waiting.clear();
            self.silence_waits = false;
            self.restarts = true;
        }
        let place = self.waiting.partition_point(|before| before.media < media);
        if self.waiting.get(place).is_none_or(|after| after.media != media) {
            let Packet { unit, ends_talkspurt, .. } = packet;
            self.waiting.insert(place, BufferedPacket { unit, media, length, ends_talkspurt, since: self.tick });
        }
        if !self.restarts {
            self.logic.on_arrival(self.tick, media, length);
        }
        if !self.begun {
            self.begun = true;
            self.restarts = true;
        }
    }

    /// Performs the operation for the next 10 ms and appends its pieces of output to `heard`.
    pub fn tick(&mut self, heard: &mut Vec<Piece>) -> Operation {
        self.tick = self.tick.saturating_add(1);
        if !self.restarts {
            let target = self.target;
            self.waiting.retain(|packet| packet.media >= target);
        }
        let (operation, decoded) = self.decide(heard);
        match operation {
            Operation::Normal | Operation::Merge if decoded > 0 => {
                self.mode = if operation == Operation::Merge { Mode::Merge } else { Mode::Normal };
                self.concealment = Concealment::inactive();
            }
            Operation::Normal | Operation::Merge => {}
            Operation::Expand => {
                self.conceal(SAMPLES_PER_TICK - self.ahead, heard);
                self.mode = Mode::Expand;
                self.generating_since.get_or_insert(self.tick);
            }
            Operation::Accelerate | Operation::FastAccelerate => self.accelerate(operation, heard),
            Operation::PreemptiveExpand => self.lengthen(decoded, heard),
            Operation::ComfortNoise | Operation::ComfortNoiseContinued => {
                if operation == Operation::ComfortNoise {
                    self.silence_waits = false;
                    self.generating_since = Some(self.tick);
                }
                self.ahead += SAMPLES_PER_TICK;
                heard.push(Piece::Silence(span(SAMPLES_PER_TICK)));
                self.mode = Mode::ComfortNoise;
                self.concealment = Concealment::inactive();
            }
        }
        // Frames of less than 10 ms may leave too few samples if the next one is missing.
        self.conceal(SAMPLES_PER_TICK - self.ahead, heard);
        self.ahead -= SAMPLES_PER_TICK;
        if !matches!(self.mode, Mode::Expand | Mode::ComfortNoise) {
            self.generating_since = None;
        }
        operation
    }

    /// `NetEqImpl::GetDecision`: returns the operation and the number of samples decoded for it.
    fn decide(&mut self, heard: &mut Vec<Piece>) -> (Operation, i64) {
        let mut operation = self.logic.decide(self.tick, &self.status());
        let stretches = |operation| {
            matches!(operation, Operation::Accelerate | Operation::FastAccelerate | Operation::PreemptiveExpand)
        };
        if self.ahead >= SAMPLES_PER_TICK && operation != Operation::Merge && !stretches(operation) {
            return (Operation::Normal, 0);
        }
        if self.restarts
            && let Some(first) = self.waiting.front()
        {
            self.target = first.media;
            self.restarts = false;
            self.silence_waits = false;
            self.logic.reset(self.tick);
            operation = Operation::Normal;
        }
        let mut required = SAMPLES_PER_TICK;
        let short_frames = self.frame < STRETCHABLE;
        match operation {
            Operation::Expand | Operation::ComfortNoise | Operation::ComfortNoiseContinued => return (operation, 0),
            Operation::Accelerate | Operation::FastAccelerate if self.ahead >= STRETCHABLE => {
                self.logic.on_stretch();
                return (operation, 0);
            }
            Operation::Accelerate | Operation::FastAccelerate if self.ahead >= SAMPLES_PER_TICK && !short_frames => {
                return (Operation::Normal, 0);
            }
            Operation::Accelerate | Operation::FastAccelerate if self.ahead < 2 * SAMPLES_PER_TICK && short_frames => {
                required = 2 * SAMPLES_PER_TICK;
                operation = Operation::Normal;
            }
            Operation::PreemptiveExpand
                if self.ahead >= STRETCHABLE || (self.ahead >= SAMPLES_PER_TICK && !short_frames) =>
            {
                self.logic.on_stretch();
                return (operation, 0);
            }
            Operation::PreemptiveExpand if self.ahead < 2 * SAMPLES_PER_TICK && short_frames => {
                required = 2 * SAMPLES_PER_TICK;
            }
            _ => {}
        }
        let before = self.ahead;
        let decoded = self.decode(required, heard);
        if stretches(operation) {
            self.logic.on_stretch();
            if operation != Operation::PreemptiveExpand && before + decoded < STRETCHABLE {
                operation = Operation::Normal;
            }
        }
        (operation, decoded)
    }

    fn status(&self) -> Status {
        let silence = self.silence_waits.then_some(NextPacket { media: self.target, silence: true });
        let packet = self.waiting.front().map(|packet| NextPacket { media: packet.media, silence: false });
        let span_and_wait = match (self.waiting.front(), self.waiting.back()) {
            (Some(first), Some(last)) => last.media - first.media + (self.tick - last.since) * SAMPLES_PER_TICK,
            _ => 0,
        };
        Status {
            last_mode: self.mode,
            target: self.target,
            next: silence.or(packet),
            span_and_wait,
            silence_waits: self.silence_waits || self.waiting.iter().any(|packet| packet.ends_talkspurt),
            generated: self.generating_since.map_or(0, |since| (self.tick - since) * SAMPLES_PER_TICK),
            decoded: self.ahead + OVERLAP,
            faded: self.concealment.is_faded(),
        }
    }

    /// Decodes at least `required` samples, if that many are consecutive; returns their number.
    fn decode(&mut self, required: i64, heard: &mut Vec<Piece>) -> i64 {
        let Some(first) = self.waiting.front().map(|packet| packet.media) else { return 0 };
        self.target = first;
        let mut decoded = 0;
        while decoded < required
            && let Some(&packet) = self.waiting.front()
            && packet.media == first + decoded
        {
            self.waiting.pop_front();
            decoded += packet.length;
            self.frame = packet.length;
            self.silence_waits = packet.ends_talkspurt;
            heard.push(Piece::Unit(packet.unit));
            if packet.ends_talkspurt {
                break;
            }
        }
        self.target += decoded;
        self.ahead += decoded;
        decoded
    }

    fn conceal(&mut self, samples: i64, heard: &mut Vec<Piece>) {
        if samples > 0 {
            self.ahead += samples;
            self.concealment.extend(samples, self.pitch);
            heard.push(Piece::Concealed(span(samples)));
        }
    }

    /// `Accelerate::Process`, in speech.
    fn accelerate(&mut self, operation: Operation, heard: &mut Vec<Piece>) {
        let periods = match operation {
            Operation::FastAccelerate if self.fast_accelerate => STRETCH_AT / self.pitch,
            _ => 1,
        };
        self.ahead -= periods * self.pitch;
        heard.push(Piece::Shortened(span(periods * self.pitch)));
        self.mode = Mode::Stretched;
        self.concealment = Concealment::inactive();
    }

    /// `PreemptiveExpand::Process`, in speech: already played samples cannot be lengthened.
    fn lengthen(&mut self, decoded: i64, heard: &mut Vec<Piece>) {
        let borrowed = (STRETCHABLE - decoded).max(0);
        // `ahead` includes the samples decoded now, which are not borrowed.
        let played = (borrowed - (self.ahead - decoded) - OVERLAP).max(0);
        self.concealment = Concealment::inactive();
        if played > STRETCH_AT {
            self.mode = Mode::StretchFailed;
            return;
        }
        self.ahead += self.pitch;
        heard.push(Piece::Lengthened(span(self.pitch)));
        self.mode = Mode::Stretched;
    }
}

#[cfg(test)]
mod reference;
#[cfg(test)]
mod tests;
