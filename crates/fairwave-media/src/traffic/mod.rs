//! Sources of traffic. A source yields units and the times at which the application makes them.
//!
//! A source knows nothing of the network. The caller asks for the next emission, passes it to the transport, and asks
//! again. So the same seed gives the same units over any transport.
//!
//! A source is one file here and one line in `sources!`; a program adds its own by [`register`].

mod bulk;
mod burst;
mod cbr;
pub mod codec;
mod conversation;
mod game;
mod interrupted;
mod media;
mod noise;
mod on_off;
mod other_codec;
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
use fairwave_units::registry::{Checked, Law, NameTaken, Registry, RuntimeLaw, delegate, family, files, laws};
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

/// A piece that the application made at once and wants delivered: a voice frame, a video frame's layer, a CBR packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unit {
    /// Number of the unit within its flow, from 0, without gaps.
    pub id: u32,
    /// Payload bytes.
    pub payload: u32,
    /// When the application made it. Units are made in order.
    pub created: Instant,
    /// Video layer (0 = base).
    pub layer: u8,
    /// What kind of video frame it is a part of, or that it is comfort noise; [`FrameType::None`] for everything else.
    pub frame_type: FrameType,
}

/// How a video frame was coded, and whether a frame of speech is none. Transports announce it to routers and receivers (paper 002 Fig. 1
/// and §3.3).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[repr(u8)]
pub enum FrameType {
    /// Neither video nor comfort noise.
    #[default]
    #[serde(rename = "none")]
    None = 0,
    /// Coded without reference to other frames.
    I = 1,
    /// Predicted from the I or P frame before it.
    P = 2,
    /// Interpolated between its neighbours; nothing depends on it.
    B = 3,
    /// Describes the background of a call in a pause: not speech, neither played nor missed.
    #[serde(rename = "noise")]
    Noise = 4,
    /// A packet of a call while its party listens, of a codec that sends all the time: it is played like speech.
    #[serde(rename = "background")]
    Background = 5,
}

/// All sources, in the order in which they are listed to people: a file, and within braces the names that it gives, each with
/// its parameters.
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

/// Something that an application wants as a whole: a file, a page with all that is embedded in it. How long each takes is
/// measured ([`crate::quality::completion`]).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TransferRequest {
    /// When it was asked for, or begun.
    pub began: Instant,
    /// The first of its units; the last may not have been made yet.
    pub first: u32,
    /// How many units it is made of, at least 1.
    pub units: u32,
    /// Their payload, bytes.
    pub size: u64,
}

/// How much an application moves in the mean, at the most: see [`TrafficLaw::volume`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Volume {
    /// Units.
    pub units: f64,
    /// Their payload, bytes.
    pub payload: f64,
}

/// An application at work: it makes units, or, if it is bulk ([`TrafficLaw::BULK`]), is active in intervals during which it
/// offers as much as the transport takes.
pub trait TrafficSource: Send {
    /// The next unit; none when there will be no more. `created` never decreases, and is at or after the start. A bulk
    /// source has none.
    fn next_unit(&mut self) -> Option<Unit> {
        None
    }

    /// The next interval during which a bulk source offers data; none for other sources. The driver of the flow calls
    /// the sender's `on_start` at its beginning and its `on_stop` at its end.
    fn next_activity(&mut self) -> Option<Activity> {
        None
    }

    /// The receiving application has the whole of a unit at `now`: what a source that listens ([`TrafficLaw::LISTENS`]) waits
    /// for. It may have more units afterwards.
    fn on_received(&mut self, _unit: u32, _now: Instant) {}

    /// What it has wanted as a whole so far, in order; nothing for sources that send on and on.
    fn wanted(&self) -> &[TransferRequest] {
        &[]
    }

    /// What the viewer of an adaptive stream had got by a time; none for all else.
    fn session(&self, _until: Instant) -> Option<Session> {
        None
    }
}

impl<S: TrafficSource + ?Sized> TrafficSource for Box<S> {
    fn next_unit(&mut self) -> Option<Unit> {
        (**self).next_unit()
    }
    fn next_activity(&mut self) -> Option<Activity> {
        (**self).next_activity()
    }
    fn on_received(&mut self, unit: u32, now: Instant) {
        (**self).on_received(unit, now);
    }
    fn wanted(&self) -> &[TransferRequest] {
        (**self).wanted()
    }
    fn session(&self, until: Instant) -> Option<Session> {
        (**self).session(until)
    }
}

/// The parameters of a source, what can be told of it beforehand, and how it is made.
pub trait TrafficLaw: Law {
    /// The source at work.
    type Source: TrafficSource + 'static;

    /// It makes no units but offers as much as the transport takes, whenever it is active.
    const BULK: bool = false;

    /// What it makes is wanted as a whole ([`TrafficSource::wanted`]): it needs a transport that sends again what is lost, and
    /// what is under way is late rather than lost.
    const WHOLE: bool = false;

    /// It goes on by what has arrived: it must be told ([`TrafficSource::on_received`]).
    const LISTENS: bool = false;

    /// It ends by itself, so that such flows may arrive one after the other without being told when to end.
    const ENDS: bool = false;

    /// The source, beginning at `start`; all its randomness comes from `stream`. The parameters have been checked.
    ///
    /// # Errors
    /// What [`Checked::check`] refuses.
    fn source(&self, start: Instant, stream: Stream) -> Result<Self::Source, ConfigError>;

    /// The rates of the video's layers; none for what is not layered.
    fn layers(&self) -> LayerRates {
        LayerRates::default()
    }

    /// The frames of applications that are videos.
    fn frames(&self) -> Option<Frames> {
        None
    }

    /// The codec, and the speech in each unit, of applications that are calls.
    fn call(&self) -> Option<(Codec, Span)> {
        None
    }

    /// Units per second of sources that make units at a fixed, or mean, rate while they are on.
    fn units_per_second(&self) -> Option<f64> {
        None
    }

    /// Mean payload of their units, bytes, where these are not all of one size.
    fn mean_payload(&self) -> Option<f64> {
        None
    }

    /// How long a source takes to repeat itself that does so for as long as it lasts, and where in its first interval it begins.
    fn period(&self) -> Option<(Span, Phase)> {
        None
    }

    /// The value of the key `phase` under ns-2's presets, where the scenario does not set it; none leaves the law's own default.
    fn phase_like_ns2(&self) -> Option<Phase> {
        None
    }

    /// The mean share of the time during which the speaker talks, of applications that are calls: above 0, at most 1.
    fn activity(&self) -> Option<f64> {
        None
    }

    /// Payload that a source without a rate moves in a number of seconds, mean and maximum, if the network does not
    /// limit it.
    fn volume(&self, _lasts: f64) -> Option<Volume> {
        None
    }

    /// The streams of a peer, of applications whose transport encodes them.
    fn media(&self) -> Option<&Media> {
        None
    }

    /// The other party's part, of applications that are conversations. Both parties draw from one stream.
    fn answer(&self) -> Option<Self> {
        None
    }
}

/// What a family asks of a source that a program handed in; see [`TrafficLaw`].
#[allow(missing_docs)] // each method is the one of `TrafficLaw` by that name
pub trait AnyTrafficLaw: Checked + Send + Sync {
    fn any_bulk(&self) -> bool;
    /// # Errors
    /// What [`Checked::check`] refuses.
    fn any_source(&self, start: Instant, stream: Stream) -> Result<Box<dyn TrafficSource>, ConfigError>;
    fn any_layers(&self) -> LayerRates;
    fn any_frames(&self) -> Option<Frames>;
    fn any_call(&self) -> Option<(Codec, Span)>;
    fn any_units_per_second(&self) -> Option<f64>;
    fn any_mean_payload(&self) -> Option<f64> {
        None
    }
    fn any_period(&self) -> Option<(Span, Phase)> {
        None
    }
    fn any_phase_like_ns2(&self) -> Option<Phase> {
        None
    }
    fn any_activity(&self) -> Option<f64> {
        None
    }
    fn any_volume(&self, lasts: f64) -> Option<Volume>;
    fn any_whole(&self) -> bool;
    fn any_listens(&self) -> bool;
    fn any_ends(&self) -> bool;
}

impl<L: TrafficLaw> AnyTrafficLaw for L {
    fn any_bulk(&self) -> bool {
        L::BULK
    }
    fn any_source(&self, start: Instant, stream: Stream) -> Result<Box<dyn TrafficSource>, ConfigError> {
        Ok(Box::new(self.source(start, stream)?))
    }
    fn any_layers(&self) -> LayerRates {
        self.layers()
    }
    fn any_frames(&self) -> Option<Frames> {
        self.frames()
    }
    fn any_call(&self) -> Option<(Codec, Span)> {
        self.call()
    }
    fn any_units_per_second(&self) -> Option<f64> {
        self.units_per_second()
    }
    fn any_mean_payload(&self) -> Option<f64> {
        self.mean_payload()
    }
    fn any_period(&self) -> Option<(Span, Phase)> {
        self.period()
    }
    fn any_phase_like_ns2(&self) -> Option<Phase> {
        self.phase_like_ns2()
    }
    fn any_activity(&self) -> Option<f64> {
        self.activity()
    }
    fn any_volume(&self, lasts: f64) -> Option<Volume> {
        self.volume(lasts)
    }
    fn any_whole(&self) -> bool {
        L::WHOLE
    }
    fn any_listens(&self) -> bool {
        L::LISTENS
    }
    fn any_ends(&self) -> bool {
        L::ENDS
    }
}

static OWN: Registry<dyn AnyTrafficLaw> = Registry::new();

/// Hands in a source of the program's own, which scenarios then name like any other.
///
/// # Errors
/// When there is a source of that name.
pub fn register<L: TrafficLaw>() -> Result<(), NameTaken> {
    OWN.add::<L>(TrafficConfig::WHAT, TrafficConfig::BUILT_IN, |law| Arc::new(law))
}

/// Hands in a source that was made while the program runs: see [`Registry::give`].
///
/// # Errors
/// When the name is taken.
pub fn give(given: RuntimeLaw<dyn AnyTrafficLaw>) -> Result<(), NameTaken> {
    OWN.give(TrafficConfig::WHAT, TrafficConfig::BUILT_IN, given)
}

sources! { laws! (family! (TrafficConfig, "kind", "traffic", dyn AnyTrafficLaw, OWN)) }

impl Default for TrafficConfig {
    fn default() -> Self {
        TrafficConfig::Bulk(BulkConfig {})
    }
}

/// The sources at work, and what can be told of them beforehand.
macro_rules! at_work {
    (() $($Variant:ident($Law:ty)),+ $(,)?) => {
        /// A source of units, or of times at which there is bulk data: the source of each law, in a box of its size.
        #[allow(missing_docs)] // each is the source of the law by that name
        pub enum Source {
            $($Variant(Box<<$Law as TrafficLaw>::Source>),)+
            Own(Box<dyn TrafficSource>),
        }

        impl Source {
            /// The source that `config` describes, beginning at `start`; all its randomness comes from `stream`.
            ///
            /// # Errors
            /// When [`TrafficConfig::check`] refuses the configuration.
            pub fn new(config: &TrafficConfig, start: Instant, stream: Stream) -> Result<Self, ConfigError> {
                config.check()?;
                Ok(match config {
                    $(TrafficConfig::$Variant(law) => Source::$Variant(Box::new(law.source(start, stream)?)),)+
                    TrafficConfig::Own(own) => Source::Own(own.law().any_source(start, stream)?),
                })
            }
        }

        impl TrafficSource for Source {
            delegate! {
                [Source $($Variant)+ Own]
                #[inline]
                fn next_unit(&mut self) -> Option<Unit>;
                fn next_activity(&mut self) -> Option<Activity>;
                fn on_received(&mut self, unit: u32, now: Instant);
                fn wanted(&self) -> &[TransferRequest];
                fn session(&self, until: Instant) -> Option<Session>;
            }
        }

        impl TrafficConfig {
            /// True for applications that make no units but offer as much as the transport takes.
            pub fn is_bulk(&self) -> bool {
                match self {
                    $(TrafficConfig::$Variant(_) => <$Law as TrafficLaw>::BULK,)+
                    TrafficConfig::Own(own) => own.law().any_bulk(),
                }
            }

            /// See [`TrafficLaw::WHOLE`].
            pub fn is_whole(&self) -> bool {
                match self {
                    $(TrafficConfig::$Variant(_) => <$Law as TrafficLaw>::WHOLE,)+
                    TrafficConfig::Own(own) => own.law().any_whole(),
                }
            }

            /// See [`TrafficLaw::LISTENS`].
            pub fn listens(&self) -> bool {
                match self {
                    $(TrafficConfig::$Variant(_) => <$Law as TrafficLaw>::LISTENS,)+
                    TrafficConfig::Own(own) => own.law().any_listens(),
                }
            }

            /// See [`TrafficLaw::ENDS`].
            pub fn ends(&self) -> bool {
                match self {
                    $(TrafficConfig::$Variant(_) => <$Law as TrafficLaw>::ENDS,)+
                    TrafficConfig::Own(own) => own.law().any_ends(),
                }
            }

            /// See [`TrafficLaw::volume`].
            pub fn volume(&self, lasts: f64) -> Option<Volume> {
                match self {
                    $(TrafficConfig::$Variant(law) => law.volume(lasts),)+
                    TrafficConfig::Own(own) => own.law().any_volume(lasts),
                }
            }

            /// See [`TrafficLaw::media`]; a program's own has none.
            pub fn media(&self) -> Option<&Media> {
                match self {
                    $(TrafficConfig::$Variant(law) => law.media(),)+
                    TrafficConfig::Own(_) => None,
                }
            }

            /// See [`TrafficLaw::answer`]; a program's own has none.
            pub fn answer(&self) -> Option<TrafficConfig> {
                match self {
                    $(TrafficConfig::$Variant(law) => law.answer().map(TrafficConfig::$Variant),)+
                    TrafficConfig::Own(_) => None,
                }
            }

            /// See [`TrafficLaw::layers`].
            pub fn layers(&self) -> LayerRates {
                match self {
                    $(TrafficConfig::$Variant(law) => law.layers(),)+
                    TrafficConfig::Own(own) => own.law().any_layers(),
                }
            }

            /// See [`TrafficLaw::frames`].
            pub fn frames(&self) -> Option<Frames> {
                match self {
                    $(TrafficConfig::$Variant(law) => law.frames(),)+
                    TrafficConfig::Own(own) => own.law().any_frames(),
                }
            }

            /// See [`TrafficLaw::call`].
            pub fn call(&self) -> Option<(Codec, Span)> {
                match self {
                    $(TrafficConfig::$Variant(law) => law.call(),)+
                    TrafficConfig::Own(own) => own.law().any_call(),
                }
            }

            /// See [`TrafficLaw::units_per_second`].
            pub fn units_per_second(&self) -> Option<f64> {
                match self {
                    $(TrafficConfig::$Variant(law) => law.units_per_second(),)+
                    TrafficConfig::Own(own) => own.law().any_units_per_second(),
                }
            }

            /// See [`TrafficLaw::mean_payload`].
            pub fn mean_payload(&self) -> Option<f64> {
                match self {
                    $(TrafficConfig::$Variant(law) => law.mean_payload(),)+
                    TrafficConfig::Own(own) => own.law().any_mean_payload(),
                }
            }

            /// See [`TrafficLaw::period`].
            pub fn period(&self) -> Option<(Span, Phase)> {
                match self {
                    $(TrafficConfig::$Variant(law) => law.period(),)+
                    TrafficConfig::Own(own) => own.law().any_period(),
                }
            }

            /// See [`TrafficLaw::phase_like_ns2`].
            pub fn phase_like_ns2(&self) -> Option<Phase> {
                match self {
                    $(TrafficConfig::$Variant(law) => law.phase_like_ns2(),)+
                    TrafficConfig::Own(own) => own.law().any_phase_like_ns2(),
                }
            }

            /// See [`TrafficLaw::activity`].
            pub fn activity(&self) -> Option<f64> {
                match self {
                    $(TrafficConfig::$Variant(law) => law.activity(),)+
                    TrafficConfig::Own(own) => own.law().any_activity(),
                }
            }
        }
    };
}

sources! { laws! (at_work! ()) }

#[cfg(test)]
mod tests;
