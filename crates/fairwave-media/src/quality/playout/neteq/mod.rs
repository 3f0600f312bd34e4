//! A jitter buffer as deployed: the decisions of NetEQ in libwebrtc (`modules/audio_coding/neteq`, as of 2026-08).
//!
//! The receiver plays 10 ms at a time. At each tick it decides. It decodes the next packet unchanged, or plays it a
//! pitch period shorter (accelerate) or longer (preemptive expand) within the talkspurt. Or it conceals a gap (expand) and
//! joins it to the next packet (merge), or fills a silence with comfort noise. The delay to aim at follows the delays
//! of the packets ([`delay_manager`]). A packet that comes late, but before something newer was played, is played after
//! all, and the delay has grown by what was made up meanwhile.
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
//! pitch period of the configured length, in speech. Concealment is as long as needed (as with a decoder's own,
//! `DoCodecPlc`). Joining changes no length. The last packet of a talkspurt carries the description of the silence
//! after it (RFC 3389), so noise is known from loss unless that packet is lost. Streams do not restart: what is older
//! than what was played is discarded, however much older. Ticks come at multiples of 10 ms of the receiver's clock,
//! whatever the sender's. There is no redundancy and no forward error correction. Times inside are counted in samples
//! at 8 kHz, as they are there for narrowband codecs.

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

/// Samples that are held back for cross-fading: `overlap_length` of `expand.cc`.
const OVERLAP: i64 = 5;

/// [`OVERLAP`] as time: what is played in a tick is heard so much later.
pub(super) const HELD_BACK: Span = Span::from_micros(625);

/// How much must be decoded before the tempo can be changed.
const STRETCHABLE: i64 = 3 * SAMPLES_PER_TICK;

/// Tempo is changed 15 ms into what is at hand, and the change is no longer than that.
const STRETCH_AT: i64 = 120;

/// The length of a frame until one was decoded.
const FIRST_FRAME: i64 = 3 * SAMPLES_PER_TICK;

/// A packet of speech, as it arrives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packet {
    /// The caller's number for it.
    pub unit: usize,
    /// Its media time, from any moment on.
    pub media: Span,
    /// How much speech it holds.
    pub length: Span,
    /// Silence follows it, and it says so.
    pub ends_talkspurt: bool,
}

/// What the buffer does in a tick: libwebrtc's `NetEq::Operation`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operation {
    /// Play what is decoded, and decode more where that is too little.
    Normal,
    /// Join what was made up to what is decoded next.
    Merge,
    /// Make up for what is not there.
    Expand,
    /// Leave out a pitch period.
    Accelerate,
    /// The same, because the delay is four times too long; several periods where that is configured.
    FastAccelerate,
    /// Repeat a pitch period.
    PreemptiveExpand,
    /// Begin to fill a silence.
    ComfortNoise,
    /// Go on with it.
    ComfortNoiseContinued,
}

/// A piece of what is heard, in the order of hearing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Piece {
    /// The speech of this unit begins.
    Unit(usize),
    /// So much is left out of the unit before, near its end.
    Shortened(Span),
    /// So much of the unit before is heard twice, near its end.
    Lengthened(Span),
    /// So much is made up for what is not there.
    Concealed(Span),
    /// So much is known to be silence.
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

/// The buffer: told of packets, asked every [`TICK`] what to play. Times between ticks do not count: a packet arrives
/// between two of them, as it does for libwebrtc.
#[derive(Clone, Debug)]
pub struct JitterBuffer {
    logic: DecisionLogic,
    capacity: usize,
    pitch: i64,
    fast_accelerate: bool,
    waiting: VecDeque<BufferedPacket>,
    tick: i64,
    /// Media time of what is to be decoded next.
    target: i64,
    /// Decoded or made up, and not yet played.
    ahead: i64,
    frame: i64,
    mode: Mode,
    concealment: Concealment,
    /// Since when noise or concealment has been played.
    generating_since: Option<i64>,
    silence_waits: bool,
    begun: bool,
    /// The playout has ended: the next packet begins a new one.
    restarts: bool,
}

fn samples(span: Span) -> i64 {
    ((span.nanos() + NANOS_PER_SAMPLE / 2) / NANOS_PER_SAMPLE) as i64
}

fn span(samples: i64) -> Span {
    Span::from_nanos(samples.max(0) as u64 * NANOS_PER_SAMPLE)
}

/// To the nearest sample at 8 kHz, in which the buffer counts.
pub(super) fn whole_samples(time: Span) -> Span {
    span(samples(time))
}

impl JitterBuffer {
    /// An empty buffer, before the first tick; `config` is taken as checked.
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
            concealment: Concealment::none(),
            generating_since: None,
            silence_waits: false,
            begun: false,
            restarts: false,
        }
    }

    /// The delay that the buffer aims at, beyond that of the packet that came soonest.
    pub fn target_delay(&self) -> Span {
        span(self.logic.target_ms().saturating_mul(SAMPLES_PER_MS))
    }

    /// Lower bound of the target from now on, as lip synchronisation sets it.
    pub fn set_min_delay(&mut self, delay: Span) {
        self.logic.set_min_delay(delay);
    }

    /// Packets that wait to be decoded.
    pub fn packets_waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Nothing waits, and nothing but silence is played until a packet arrives.
    pub fn is_idle(&self) -> bool {
        let silent = match self.mode {
            Mode::Expand => self.concealment.is_silent(),
            mode => mode == Mode::ComfortNoise,
        };
        silent && self.waiting.is_empty() && !self.silence_waits && self.ahead < SAMPLES_PER_TICK
    }

    /// Passes a number of idle ticks at once, as if by this number of calls of [`JitterBuffer::tick`].
    pub fn stay_idle(&mut self, ticks: u64, heard: &mut Vec<Piece>) {
        let samples = SAMPLES_PER_TICK.saturating_mul(ticks.min(i64::MAX as u64) as i64);
        self.tick = self.tick.saturating_add_unsigned(ticks);
        heard.push(match self.mode {
            Mode::Expand => Piece::Concealed(span(samples)),
            _ => Piece::Silence(span(samples)),
        });
    }

    /// A packet arrives.
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

    /// The next 10 ms: what is done for them, and the pieces that this adds to what is heard.
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
                self.concealment = Concealment::none();
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
                self.concealment = Concealment::none();
            }
        }
        // Frames of less than 10 ms may leave too little where the next one is missing.
        self.conceal(SAMPLES_PER_TICK - self.ahead, heard);
        self.ahead -= SAMPLES_PER_TICK;
        if !matches!(self.mode, Mode::Expand | Mode::ComfortNoise) {
            self.generating_since = None;
        }
        operation
    }

    /// `NetEqImpl::GetDecision`: the operation, and how much was decoded for it.
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
        self.concealment = Concealment::none();
    }

    /// `PreemptiveExpand::Process`, in speech: what has been played already cannot be lengthened.
    fn lengthen(&mut self, decoded: i64, heard: &mut Vec<Piece>) {
        let borrowed = (STRETCHABLE - decoded).max(0);
        // `ahead` holds what was decoded now, which is not borrowed.
        let played = (borrowed - (self.ahead - decoded) - OVERLAP).max(0);
        self.concealment = Concealment::none();
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
