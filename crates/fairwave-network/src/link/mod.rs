//! Links: their rates, and the description of one link direction.
//!
//! A link transmits one packet after the other. Its **rate law** gives the end of a transmission from its start and the
//! packet's size. This is enough to cross a first-in-first-out link arithmetically: departure = `end_of`(start, size),
//! for a constant rate, a schedule or a trace.
//!
//! A law is one file here and one line in `rates!`; a program adds custom laws with [`register`].
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
use fairwave_units::source::sources;
use fairwave_units::units::{Bytes, FineSpan, Instant, Rate, Span};

/// All rate laws, in the order of listings: a file, and in braces its names with their parameters.
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
    /// A running rate law of one direction of a link.
    pub trait Transmitter, delegated by delegate_transmitter {
        /// Returns the end of a transmission of `size` bytes that begins at `start`: not before `start`;
        /// [`Instant::NEVER`] if it never ends. `start` does not decrease from call to call.
        fn end_of(&mut self, start: Instant, size: Bytes) -> Instant;

        /// Bytes on the wire that the link could transmit from `from` until `to`, rounded down: the denominator of a
        /// utilisation.
        fn capacity(&self, from: Instant, to: Instant) -> Bytes;

        /// The first change of the rate at or after `at`, with its time and the new rate. The start of the run counts
        /// as a change. `None` if the rate does not change any more, or if the law has no rate. Queue disciplines
        /// that compute with the rate receive the changes.
        fn change_from(&self, _at: Instant) -> Option<(Instant, Rate)> {
            None
        }
    }
}

/// Length of the recording that a law follows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RecordedLength {
    /// Length from the start of the run.
    pub length: Span,
    /// Whether the scenario says how the rate continues after the recording.
    pub goes_on: bool,
}

law_trait! {
    /// The parameters of a rate law, and its constructor.
    pub trait RateLaw, erased AnyRateLaw, for RateConfig {
        /// Type of the running law.
        type Transmitter: Transmitter;

        /// True if the transmission time of a packet depends on its size alone and is below 4.29 s, so that it can be
        /// reused for the next packet of that size.
        const STEADY: bool = false, asked by is_steady;

        /// Returns the running law; `stream` provides all its randomness. The parameters have been checked.
        ///
        /// # Errors
        /// The errors of [`Checked::check`](fairwave_units::registry::Checked::check).
        fn transmitter(&self, stream: Stream) -> Result<Self::Transmitter, ConfigError>,
            boxed: Result<Box<dyn Transmitter>, ConfigError> = |made| Ok(Box::new(made?));

        /// The nominal rate, above 0, for buffers, queue disciplines and the cost estimate of a run: the mean of a
        /// varying rate.
        fn nominal(&self) -> Rate;

        /// The highest rate, for the cost estimate of a run.
        fn highest(&self) -> Rate {
            self.nominal()
        }

        /// Length of the recording that the law follows; `None` for a law without an end.
        fn recorded(&self) -> Option<RecordedLength> {
            None
        }

        /// Effects on packets besides the rate; `stream` is a copy of the stream of [`RateLaw::transmitter`]. `None`
        /// for a law without such effects.
        fn conditions(&self, _stream: Stream) -> Option<Conditions> {
            None
        }
    }
}

static OWN: Registry<dyn AnyRateLaw> = Registry::new();

/// Registers a custom rate law. Scenarios then name it like any other: `rate = { law = "…", … }`.
///
/// # Errors
/// If a law has this name already.
pub fn register<L: RateLaw>() -> Result<(), NameTaken> {
    OWN.add::<L>(RateConfig::WHAT, RateConfig::BUILT_IN, |law| Arc::new(law))
}

/// Registers a rate law that was built at run time: see [`Registry::add_runtime`].
///
/// # Errors
/// If the name is taken.
pub fn register_runtime(law: RuntimeLaw<dyn AnyRateLaw>) -> Result<(), NameTaken> {
    OWN.add_runtime(RateConfig::WHAT, RateConfig::BUILT_IN, law)
}

rates! { laws! (family! (RateConfig, "law", "link rate", dyn AnyRateLaw, OWN)) }

impl From<Rate> for RateConfig {
    /// A constant rate.
    fn from(rate: Rate) -> Self {
        RateConfig::Constant(ConstantConfig { rate })
    }
}

/// Running laws, stored by value, so that a call is a jump instead of a virtual call.
macro_rules! dispatch {
    (() $($Variant:ident($Law:ty)),+ $(,)?) => {
        enum ActiveRateLaw {
            $($Variant(<$Law as RateLaw>::Transmitter),)+
            // A box of the box: every link holds one `ActiveRateLaw`, and a rare law must not make it larger.
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

rates! { sources! (RateConfig, "crates/fairwave-network/src/link/", ["fn end_of(&mut self"]) }

/// A link's rate.
pub struct LinkRate(ActiveRateLaw);

impl LinkRate {
    /// Returns the law for `config`; `stream` provides all its randomness.
    ///
    /// # Errors
    /// If [`RateConfig::check`] rejects the configuration.
    pub fn new(config: &RateConfig, stream: Stream) -> Result<Self, ConfigError> {
        config.check()?;
        ActiveRateLaw::new(config, stream).map(LinkRate)
    }

    /// Returns a fresh law of the same constant rate; `None` for a law that draws or has a position in its course.
    pub fn another(&self) -> Option<Self> {
        match &self.0 {
            ActiveRateLaw::Constant(law) => Some(LinkRate(ActiveRateLaw::Constant(Constant::new(law.rate())))),
            _ => None,
        }
    }

    /// Transmission time of a packet of `size` that begins at `start`, at a [steady](RateLaw::STEADY) rate. For laws
    /// other than a constant rate, the law rounds it. Always below [`FineSpan::LIMIT`].
    pub fn steady_time(&mut self, start: Instant, size: Bytes) -> FineSpan {
        let time = match &mut self.0 {
            ActiveRateLaw::Constant(law) => law.rate().fine_time_for(size),
            law => FineSpan::from_span(law.end_of(start, size).span_since(start)),
        };
        time.unwrap_or(FineSpan::MAX)
    }

    /// See [`Transmitter::end_of`]. Never before `start`, whatever the law returns.
    #[inline]
    pub fn end_of(&mut self, start: Instant, size: Bytes) -> Instant {
        self.0.end_of(start, size).max(start)
    }

    /// See [`Transmitter::capacity`].
    pub fn capacity(&self, from: Instant, to: Instant) -> Bytes {
        self.0.capacity(from, to)
    }

    /// See [`Transmitter::change_from`]. Never before `at`, whatever the law returns.
    pub fn change_from(&self, at: Instant) -> Option<(Instant, Rate)> {
        self.0.change_from(at).map(|(when, rate)| (when.max(at), rate))
    }
}

/// One direction of a link, complete. A plan holds it, and simulators and emulators are built from it.
#[derive(Clone, PartialEq, Debug)]
pub struct Direction {
    /// The rate, in bytes on the wire.
    pub rate: RateConfig,
    /// Propagation delay; if it changes, the first one.
    pub delay: Span,
    /// The queue.
    pub queue: QueueConfig,
    /// Policer before the queue.
    pub police: Option<PoliceConfig>,
    /// Shaper behind the queue.
    pub shape: Option<ShapeConfig>,
    /// Losses on the wire, after the transmission.
    pub loss: LossConfig,
    /// Changes during the run.
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
        // RED ages its average by the packets that the link could have sent while the queue was empty.
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
    fn examples_are_in_range_and_survive_a_round_trip() {
        for example in RateConfig::examples() {
            let law: RateConfig =
                serde_json::from_value(example.clone()).unwrap_or_else(|error| panic!("{example}: {error}"));
            law.check().unwrap_or_else(|error| panic!("{example}: {error}"));
            let written = serde_json::to_value(&law).expect("a table");
            assert_eq!(serde_json::from_value::<RateConfig>(written).expect("a rate law"), law);
        }
    }
}
