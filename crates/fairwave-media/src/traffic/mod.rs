//! Traffic sources. A source yields units and the times at which the application produces them.
//!
//! A source does not observe the network. The caller asks for the next emission, passes it to the transport, and asks
//! again. So the same seed gives the same units over any transport.
//!
//! Each source is one file here and one line in `sources!`; a program adds custom sources with [`register`].

mod bulk;
mod burst;
mod cadence;
mod cbr;
pub mod codec;
mod conversation;
mod game;
mod interrupted;
mod media;
mod noise;
mod on_off;
pub(crate) mod other_codec;
mod period;
mod phase;
mod ping;
mod poisson;
mod recording;
mod replay;
mod size;
mod stream;
mod transfer;
mod video;
mod voice;
mod web;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::encoder::Media;
use fairwave_units::config::ConfigError;
use fairwave_units::random::Stream;
use fairwave_units::registry::{NameTaken, Registry, RuntimeLaw, family, files, law_trait, laws, running_trait};
use fairwave_units::units::{Instant, Span};

pub use bulk::{Activity, Bulk};
pub use cbr::Cbr;
pub use codec::Codec;
pub use fairwave_units::layers::LayerRates;
pub use noise::{ComfortNoise, NoiseFrames};
pub use on_off::{First, OnOff};
pub use other_codec::{CodecTable, NoiseTable, OtherCodec};
pub use period::Period;
pub use phase::Phase;
pub use ping::Ping;
pub use poisson::{Arrivals, Gaps};
pub use recording::Recording;
pub use size::{Size, Sizes};
pub use stream::{Abr, Session};
pub use transfer::Transfer;
pub use video::{Coding, Frames, TracedFrame, Video, VideoFit, VideoTrace};
pub use voice::Reading;
pub use web::Web;

/// Data that the application produces at once and wants delivered: a voice frame, a layer of a video frame, a CBR
/// packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unit {
    /// Number of the unit in its flow, from 0, without gaps.
    pub id: u32,
    /// Payload bytes.
    pub payload: u32,
    /// Creation time. Units are in order of creation.
    pub created: Instant,
    /// Video layer (0 = base).
    pub layer: u8,
    /// Type of its video frame, or comfort noise; [`FrameType::None`] for everything else.
    pub frame_type: FrameType,
}

/// Coding of a video frame, or comfort noise in place of speech. Transports announce it to routers and receivers (paper
/// 002 Fig. 1 and §3.3).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[repr(u8)]
pub enum FrameType {
    /// Neither video nor comfort noise.
    #[default]
    #[serde(rename = "none")]
    None = 0,
    /// Coded without reference to other frames.
    I = 1,
    /// Predicted from the previous I or P frame.
    P = 2,
    /// Interpolated between its neighbours; nothing depends on it.
    B = 3,
    /// Describes the background in a pause of a call: not speech, neither played nor missed.
    #[serde(rename = "noise")]
    Noise = 4,
    /// Packet of a call while its party listens, for a codec that sends all the time; it is played like speech.
    #[serde(rename = "background")]
    Background = 5,
}

/// All sources in the order of listings: a file, and in braces its names with their parameters.
macro_rules! sources {
    ($then:ident! $arguments:tt) => {
        $then! { $arguments
            bulk { Bulk(BulkConfig), BulkOnOff(BulkOnOffConfig) }
            transfer { Transfer(TransferConfig) }
            web { Web(WebConfig) }
            voice { Voice(VoiceConfig) }
            conversation { Conversation(ConversationConfig) }
            recording { Recording(RecordingConfig) }
            cbr { Cbr(CbrConfig) }
            burst { Burst(BurstConfig) }
            poisson { Poisson(PoissonConfig), Renewal(RenewalConfig) }
            interrupted { InterruptedPoisson(InterruptedPoissonConfig) }
            ping { Ping(PingConfig) }
            video { Video(VideoConfig), VideoTrace(VideoTraceConfig) }
            game { Game(GameConfig) }
            replay { Replay(ReplayConfig) }
            stream { Stream(StreamConfig) }
            media { Media(MediaConfig) }
        }
    };
}

sources! { files! () }

/// Data that an application wants as a whole: a file, or a page with all embedded objects. The completion time is
/// measured ([`crate::quality::completion`]).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TransferRequest {
    /// Time of the request or of the start.
    pub began: Instant,
    /// First of its units; the last may not have been produced yet.
    pub first: u32,
    /// Number of units, at least 1.
    pub units: u32,
    /// Payload, bytes.
    pub size: u64,
}

/// Mean volume of an application, as an upper limit: see [`TrafficLaw::volume`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Volume {
    /// Units.
    pub units: f64,
    /// Payload, bytes.
    pub payload: f64,
}

running_trait! { ($)
    /// Running application. It produces units or, if it is bulk ([`TrafficLaw::BULK`]), has active intervals when it offers
    /// as much as the transport accepts.
    pub trait TrafficSource, delegated by delegate_source {
        /// Returns the next unit; `None` if there will be no more. `created` never decreases, and is at or after the start.
        /// A bulk source has none.
        fn next_unit(&mut self) -> Option<Unit> {
            None
        }

        /// Returns the next interval when a bulk source offers data; `None` for other sources. The driver of the flow calls
        /// the sender's `on_start` at its start and its `on_stop` at its end.
        fn next_activity(&mut self) -> Option<Activity> {
            None
        }

        /// Notifies the source that the receiving application has a complete unit at `now`. Sources that wait for this set
        /// [`TrafficLaw::LISTENS`]; they may have more units afterwards.
        fn on_received(&mut self, _unit: u32, _now: Instant) {}

        /// Returns the requests so far, in order; empty for sources without requests.
        fn requests(&self) -> &[TransferRequest] {
            &[]
        }

        /// Returns the state of an adaptive stream's viewer at a time; `None` for other sources.
        fn session(&self, _until: Instant) -> Option<Session> {
            None
        }
    }
}

law_trait! {
    /// Parameters of a source, properties that follow from them, and its constructor.
    pub trait TrafficLaw, erased AnyTrafficLaw, for TrafficConfig {
        /// The source type.
        type Source: TrafficSource;

        /// True for sources that produce no units but offer as much as the transport accepts, whenever they are active.
        const BULK: bool = false, asked by is_bulk;

        /// True if data is wanted as a whole ([`TrafficSource::requests`]). It needs a transport that retransmits lost data,
        /// and data in transit is late, not lost.
        const TRANSFERS: bool = false, asked by transfers;

        /// True if the source depends on arrivals and must be notified ([`TrafficSource::on_received`]).
        const LISTENS: bool = false, asked by listens;

        /// True if the source ends by itself, so that such flows may arrive one after the other without a stop time.
        const ENDS: bool = false, asked by ends;

        /// Returns the source, starting at `start`; `stream` is its only source of randomness. The parameters have been
        /// checked.
        ///
        /// # Errors
        /// The errors of [`Checked::check`].
        fn source(&self, start: Instant, stream: Stream) -> Result<Self::Source, ConfigError>,
            boxed: Result<Box<dyn TrafficSource>, ConfigError> = |made| Ok(Box::new(made?));

        /// Rates of the video's layers; none without layers.
        fn layers(&self) -> LayerRates {
            LayerRates::default()
        }

        /// Frames of video applications.
        fn frames(&self) -> Option<Frames> {
            None
        }

        /// Codec and duration of speech per unit, for calls.
        fn call(&self) -> Option<(Codec, Span)> {
            None
        }

        /// Units per second while on, for sources with a fixed or mean unit rate.
        fn units_per_second(&self) -> Option<f64> {
            None
        }

        /// Mean payload of units, bytes, if the sizes differ.
        fn mean_payload(&self) -> Option<f64> {
            None
        }

        /// Period of a source that repeats as long as it lasts, and the start within its first interval.
        fn period(&self) -> Option<(Span, Phase)> {
            None
        }

        /// Value of the key `phase` under ns-2's presets if the scenario does not set it; `None` keeps the default.
        fn phase_like_ns2(&self) -> Option<Phase> {
            None
        }

        /// Mean share of time when the speaker talks, for calls: above 0, at most 1.
        fn activity(&self) -> Option<f64> {
            None
        }

        /// Payload that a source without a rate moves in a number of seconds, mean and maximum, on an unlimited network.
        fn volume(&self, _lasts: f64) -> Option<Volume> {
            None
        }

        /// Streams of a peer, for applications with an encoding transport.
        fn media(&self) -> Option<&Media> {
            None
        }

        /// The other party, for conversations. Both parties draw from one stream.
        fn answer(&self) -> Option<TrafficConfig> {
            None
        }
    }
}

static OWN: Registry<dyn AnyTrafficLaw> = Registry::new();

/// Registers a custom source. Scenarios then use it like any other.
///
/// # Errors
/// A source of that name exists.
pub fn register<L: TrafficLaw>() -> Result<(), NameTaken> {
    OWN.add::<L>(TrafficConfig::WHAT, TrafficConfig::BUILT_IN, |law| Arc::new(law))
}

/// Registers a source that was created at run time: see [`Registry::add_runtime`].
///
/// # Errors
/// The name is taken.
pub fn register_runtime(law: RuntimeLaw<dyn AnyTrafficLaw>) -> Result<(), NameTaken> {
    OWN.add_runtime(TrafficConfig::WHAT, TrafficConfig::BUILT_IN, law)
}

sources! { laws! (family! (TrafficConfig, "kind", "traffic", dyn AnyTrafficLaw, OWN)) }

impl Default for TrafficConfig {
    fn default() -> Self {
        TrafficConfig::Bulk(BulkConfig {})
    }
}

/// Defines the source enum and its properties.
macro_rules! dispatch {
    (() $($Variant:ident($Law:ty)),+ $(,)?) => {
        /// A source of units, or of activity of bulk data; each variant is boxed.
        #[allow(missing_docs)] // each is the source of the law by that name
        pub enum Source {
            $($Variant(Box<<$Law as TrafficLaw>::Source>),)+
            Registered(Box<dyn TrafficSource>),
        }

        impl Source {
            /// Returns the source for `config`, starting at `start`; `stream` is its only source of randomness.
            ///
            /// # Errors
            /// The errors of [`TrafficConfig::check`].
            pub fn new(config: &TrafficConfig, start: Instant, stream: Stream) -> Result<Self, ConfigError> {
                config.check()?;
                Ok(match config {
                    $(TrafficConfig::$Variant(law) => Source::$Variant(Box::new(TrafficLaw::source(law, start, stream)?)),)+
                    TrafficConfig::Registered(law) => Source::Registered(law.law().source(start, stream)?),
                })
            }
        }

        delegate_source! { Source $($Variant)+ Registered }
    };
}

sources! { laws! (dispatch! ()) }

#[cfg(test)]
mod tests;
