//! Links: their rates, and the description of one link direction.
//!
//! A link transmits one packet after the other. Its **rate law** gives the end of a transmission from its start and the
//! packet's size. This is enough to cross a first-in-first-out link arithmetically: departure = `end_of`(start, size),
//! for a constant rate, a schedule or a trace.
//!
//! A law is one file here and one line in `rates!`; a program adds its own by [`register`].
//!
//! **Assumptions.** Rates count bytes on the wire. Code that derives a size from a link (a buffer, a discipline's
//! parameters) takes the law's nominal rate.

mod changes;
mod constant;
mod course;
pub mod jitter;
mod markov;
mod schedule;
mod trace;

use std::sync::Arc;

pub use changes::{ActiveChanges, Changes, Duplicate, FailurePoint, Outage, Reorder, check_outages};

use crate::loss::LossConfig;
use crate::queue::{PoliceConfig, QueueConfig, ShapeConfig};
use fairwave_units::config::ConfigError;
use fairwave_units::random::Stream;
use fairwave_units::registry::{NameTaken, Registry, RuntimeLaw, family, files, law_trait, laws, running_trait};
use fairwave_units::units::{Bytes, FineSpan, Instant, Rate, Span};

/// All rate laws, in the order in which they are listed to people: a file, and within braces the names that it gives, each with
/// its parameters.
macro_rules! rates {
    ($then:ident! $arguments:tt) => {
        $then! { $arguments
            constant { Constant(ConstantConfig) }
            schedule { Schedule(ScheduleConfig) }
            trace { Trace(TraceConfig) }
            markov { Markov(MarkovRateConfig) }
        }
    };
}

rates! { files! () }

pub use constant::Constant;
pub use markov::{Conditions, RatePreset, RateState};
pub use trace::{After, TraceFormat, TracePart};

running_trait! { ($)
    /// A rate law at work on one direction of a link.
    pub trait Transmitter, delegated by delegate_transmitter {
        /// When the transmission of `size` bytes ends that begins at `start`: not before `start`; [`Instant::NEVER`] if it never
        /// ends. `start` does not decrease from call to call.
        fn end_of(&mut self, start: Instant, size: Bytes) -> Instant;

        /// What could be transmitted from `from` until `to`, in bytes on the wire, rounded down: the whole that a utilisation is
        /// a part of.
        fn capacity(&self, from: Instant, to: Instant) -> Bytes;

        /// The first change of the rate at or after `at`, with its time and the new rate. The beginning of the run counts
        /// as a change. None if the rate does not change any more, or if the law has no rate. Queue disciplines that
        /// compute with the rate learn of it.
        fn change_from(&self, _at: Instant) -> Option<(Instant, Rate)> {
            None
        }
    }
}

/// How long what a law follows was recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RecordedLength {
    /// From the beginning of the run on.
    pub length: Span,
    /// It is said what comes then.
    pub goes_on: bool,
}

law_trait! {
    /// The parameters of a rate law, and how it is made.
    pub trait RateLaw, erased AnyRateLaw, for RateConfig {
        /// The law at work.
        type Transmitter: Transmitter;

        /// True when the time that a packet takes depends on its size alone and is below 4.29 s, so that it may be kept for
        /// the next of that size.
        const STEADY: bool = false, asked by is_steady;

        /// The law at work; all its randomness comes from `stream`. The parameters have been checked.
        ///
        /// # Errors
        /// What [`Checked::check`] refuses.
        fn transmitter(&self, stream: Stream) -> Result<Self::Transmitter, ConfigError>,
            boxed: Result<Box<dyn Transmitter>, ConfigError> = |made| Ok(Box::new(made?));

        /// The nominal rate, for buffers, queue disciplines and the cost of a run: the mean of a rate that varies. Above
        /// zero.
        fn nominal(&self) -> Rate;

        /// The highest rate, by which it is estimated what a run costs.
        fn highest(&self) -> Rate {
            self.nominal()
        }

        /// How long what it follows was recorded; none for a law that knows of no end.
        fn recorded(&self) -> Option<RecordedLength> {
            None
        }

        /// What it does to packets besides its rate; `stream` is a copy of the one that [`Self::transmitter`] has. None for a law that does
        /// nothing else.
        fn conditions(&self, _stream: Stream) -> Option<Conditions> {
            None
        }
    }
}

static OWN: Registry<dyn AnyRateLaw> = Registry::new();

/// Hands in a rate law of the program's own, which scenarios then name like any other: `rate = { law = "…", … }`.
///
/// # Errors
/// When there is a law of that name.
pub fn register<L: RateLaw>() -> Result<(), NameTaken> {
    OWN.add::<L>(RateConfig::WHAT, RateConfig::BUILT_IN, |law| Arc::new(law))
}

/// Hands in a rate law that was made while the program runs: see [`Registry::add_runtime`].
///
/// # Errors
/// When the name is taken.
pub fn give(given: RuntimeLaw<dyn AnyRateLaw>) -> Result<(), NameTaken> {
    OWN.add_runtime(RateConfig::WHAT, RateConfig::BUILT_IN, given)
}

rates! { laws! (family! (RateConfig, "law", "link rate", dyn AnyRateLaw, OWN)) }

impl From<Rate> for RateConfig {
    /// A constant rate.
    fn from(rate: Rate) -> Self {
        RateConfig::Constant(ConstantConfig { rate })
    }
}

/// The laws at work, by value: a call costs a jump.
macro_rules! dispatch {
    (() $($Variant:ident($Law:ty)),+ $(,)?) => {
        enum ActiveRateLaw {
            $($Variant(<$Law as RateLaw>::Transmitter),)+
            // A box of the box: a link holds one of these, and none is to be larger for a law that few have.
            Registered(Box<Box<dyn Transmitter>>),
        }

        impl ActiveRateLaw {
            fn new(config: &RateConfig, stream: Stream) -> Result<Self, ConfigError> {
                Ok(match config {
                    $(RateConfig::$Variant(law) => ActiveRateLaw::$Variant(RateLaw::transmitter(law, stream)?),)+
                    RateConfig::Registered(law) => ActiveRateLaw::Registered(Box::new(law.law().transmitter(stream)?)),
                })
            }
        }

        delegate_transmitter! { ActiveRateLaw $($Variant)+ Registered }
    };
}

rates! { laws! (dispatch! ()) }

/// A link's rate.
pub struct LinkRate(ActiveRateLaw);

impl LinkRate {
    /// The law that `config` describes; all its randomness comes from `stream`.
    ///
    /// # Errors
    /// When [`RateConfig::check`] refuses the configuration.
    pub fn new(config: &RateConfig, stream: Stream) -> Result<Self, ConfigError> {
        config.check()?;
        ActiveRateLaw::new(config, stream).map(LinkRate)
    }

    /// Another one at the same rate, if that is constant; none for a law that draws, or that has a place in its course.
    pub fn another(&self) -> Option<Self> {
        match &self.0 {
            ActiveRateLaw::Constant(law) => Some(LinkRate(ActiveRateLaw::Constant(Constant::new(law.rate())))),
            _ => None,
        }
    }

    /// The time that a packet of `size` takes at a [steady](RateLaw::STEADY) rate, of a transmission that begins at `start`. Of laws
    /// other than a constant rate, as the law rounds it. Below [`FineSpan::LIMIT`] in any case.
    pub fn steady_time(&mut self, start: Instant, size: Bytes) -> FineSpan {
        let time = match &mut self.0 {
            ActiveRateLaw::Constant(law) => law.rate().fine_time_for(size),
            law => FineSpan::from_span(law.end_of(start, size).span_since(start)),
        };
        time.unwrap_or(FineSpan::MAX)
    }

    /// See [`Transmitter::end_of`]. Never before `start`, for any answer of the law.
    #[inline]
    pub fn end_of(&mut self, start: Instant, size: Bytes) -> Instant {
        self.0.end_of(start, size).max(start)
    }

    /// See [`Transmitter::capacity`].
    pub fn capacity(&self, from: Instant, to: Instant) -> Bytes {
        self.0.capacity(from, to)
    }

    /// See [`Transmitter::change_from`]. Never before `at`, whatever the law says.
    pub fn change_from(&self, at: Instant) -> Option<(Instant, Rate)> {
        self.0.change_from(at).map(|(when, rate)| (when.max(at), rate))
    }
}

/// One direction of a link, with nothing left to guess: what a plan holds and a simulator or an emulator is built from.
#[derive(Clone, PartialEq, Debug)]
pub struct Direction {
    /// How fast bytes on the wire are sent.
    pub rate: RateConfig,
    /// Propagation delay; the first one, where it changes.
    pub delay: Span,
    /// Where packets wait.
    pub queue: QueueConfig,
    /// What drops or remarks packets that come too fast, before they wait.
    pub police: Option<PoliceConfig>,
    /// What holds back packets that would leave too fast.
    pub shape: Option<ShapeConfig>,
    /// How it loses packets: on the wire, after they have been transmitted.
    pub loss: LossConfig,
    /// What becomes of it in the course of the run.
    pub changes: Changes,
}

impl Direction {
    /// Checks the ranges of all parameters.
    ///
    /// # Errors
    /// The first key whose value is not allowed.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.rate.check().map_err(|error| error.nested_in("rate"))?;
        self.queue.check().map_err(|error| error.nested_in("queue"))?;
        self.police.iter().try_for_each(|police| police.check().map_err(|error| error.nested_in("police")))?;
        self.shape.iter().try_for_each(|shape| shape.check().map_err(|error| error.nested_in("shape")))?;
        self.loss.check().map_err(|error| error.nested_in("loss"))?;
        self.changes.check()
    }
}

#[cfg(test)]
mod tests {
    use super::RateConfig;
    use crate::packet::{Body, Class, Ecn, FlowId, Packet};
    use crate::queue::{Queue, QueueConfig};
    use fairwave_units::random::Seed;
    use fairwave_units::units::{Instant, Rate};

    #[test]
    fn a_queue_that_is_told_of_a_slow_transmission_does_not_take_it_for_idle_time() {
        let config: QueueConfig =
            serde_json::from_str(r#"{ "discipline": "red", "capacity": { "packets": 100 }, "weight": 0.1 }"#)
                .expect("a queue");
        let body = Body::Datagram { payload: 1, sequence: 0, unit: 0, part: 0, parts: 1, created: Instant::ZERO };
        let packet = Packet {
            flow: FlowId(0),
            wire: 1000,
            class: Class::Tcp,
            dscp: Default::default(),
            feedback: false,
            ecn: Ecn::NotEct,
            layer: 0,
            body,
        };
        // RED ages its average by the packets that could have been sent while there were none.
        let average = |told: bool| {
            let rate = Rate::from_bits_per_second(10_000_000);
            let (mut queue, mut drops) = (Queue::new(&config, rate, Seed(1).stream("queue")), Vec::new());
            (0..20).for_each(|_| queue.arrive(Instant::ZERO, &packet, &mut drops));
            while queue.depart(Instant::from_seconds(1.0), &mut drops).is_some() {
                if told {
                    queue.transmits_until(Instant::from_seconds(3.0));
                }
            }
            queue.arrive(Instant::from_seconds(3.0), &packet, &mut drops);
            queue.average()
        };
        assert!(average(false) < 0.01, "{}", average(false));
        assert!(average(true) > 1.0, "{}", average(true));
    }

    #[test]
    fn every_example_is_in_range_and_read_as_it_is_written() {
        for example in RateConfig::examples() {
            let law: RateConfig =
                serde_json::from_value(example.clone()).unwrap_or_else(|error| panic!("{example}: {error}"));
            law.check().unwrap_or_else(|error| panic!("{example}: {error}"));
            let written = serde_json::to_value(&law).expect("a table");
            assert_eq!(serde_json::from_value::<RateConfig>(written).expect("a rate law"), law);
        }
    }
}
