//! Rating of a call from the playout at its receiver.

use super::cause::Causes;
use super::timeline::{runs, timeline};
use super::unit::{SpokenUnit, UnitFate};
use super::{PlayoutConfig, play};
use crate::quality::call::{self, Caveats, UnratedCause};
use crate::quality::emodel::Rating;
use crate::quality::gaps::Gaps;
use crate::quality::impairment::Reception;
use crate::quality::loss::LossRuns;
use crate::traffic::Codec;
use fairwave_units::units::Span;

/// Quality of a call.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CallQuality {
    /// Units produced by the application.
    pub sent: u64,
    /// Units that arrived but were not played, or are still in the sender.
    pub late: u64,
    /// Units that will never arrive: dropped by queues or lost by links.
    pub lost: u64,
    /// Late for playout: `late` divided by the units that were not lost; `None` if there are none.
    pub late_ratio: Option<f64>,
    /// Packet loss in the E-model, 0 to 1: (unplayed units + unit times made up) ÷ (all units + unit times made up).
    pub missed: f64,
    /// Mean mouth-to-ear delay of played units: packet time, look-ahead of the coder, and time from creation to
    /// playout. `None` if nothing was played.
    pub delay: Option<Span>,
    /// Burst ratio of missed units.
    pub burst_ratio: f64,
    /// Gaps of missed units.
    pub gaps: Gaps,
    /// The rating, or why there is none. All other fields are valid for any codec.
    pub score: Result<CallScore, UnratedCause>,
}

/// Rating of a call.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CallScore {
    /// Rating of the E-model and its parts.
    pub rating: Rating,
    /// Causes of the impairment.
    pub causes: Causes,
    /// Mean opinion score from the rating.
    pub mos: f64,
    /// Caveats of the rating.
    pub caveats: Caveats,
}

/// Plays a call and rates it by the E-model. The missed share is its packet loss; its delay is the mean delay of played
/// units.
///
/// Of the units that have not arrived, `waiting` are still in the sender: they count as missed and as late, not as
/// lost.
///
/// # Errors
/// Nothing was sent. A codec without impairment factors has no [`CallQuality::score`].
pub fn call_quality(
    units: &[SpokenUnit],
    waiting: u64,
    codec: Codec,
    packet_time: Span,
    reception: impl Into<Reception>,
    config: &PlayoutConfig,
) -> Result<CallQuality, UnratedCause> {
    let reception = reception.into();
    if units.is_empty() {
        return Err(UnratedCause::NothingSent);
    }
    let (fates, missed, gaps) = play_out(units, packet_time, config);
    let count = |wanted: fn(&UnitFate) -> bool| fates.iter().filter(|fate| wanted(fate)).count() as u64;
    let played = (units.iter().zip(&fates)).filter_map(|(unit, fate)| match fate {
        UnitFate::Played(at) => Some(u128::from((*at - unit.created).nanos())),
        _ => None,
    });
    let (sum, number) = played.fold((0u128, 0u128), |(sum, number), offset| (sum + offset, number + 1));
    let offset = Span::from_nanos((sum / number.max(1)) as u64);
    let delay = packet_time + codec.look_ahead() + offset;
    let burst_ratio = missed.burst_ratio();
    let missed = missed.rate().ok_or(UnratedCause::NothingSent)?;
    let absent = count(|fate| matches!(fate, UnitFate::Lost));
    let waiting = waiting.min(absent);
    let late = count(|fate| matches!(fate, UnitFate::Late(_))) + waiting;
    let lost = absent - waiting;
    let sent = units.len() as u64;
    let lost_share = lost as f64 / sent as f64;
    let score = || {
        let rated = call::rate(codec, reception, delay, missed, burst_ratio)?;
        let causes = Causes::attribute(codec, reception, delay, lost_share, missed, burst_ratio)?;
        Ok(CallScore { rating: rated.rating, causes, mos: rated.mos, caveats: rated.caveats })
    };
    Ok(CallQuality {
        sent,
        late,
        lost,
        late_ratio: (sent > lost).then(|| late as f64 / (sent - lost) as f64),
        missed,
        delay: (number > 0).then_some(delay),
        burst_ratio,
        gaps,
        score: score(),
    })
}

/// Returns the fates of the units, and losses and gaps.
fn play_out(units: &[SpokenUnit], packet_time: Span, config: &PlayoutConfig) -> (Vec<UnitFate>, LossRuns, Gaps) {
    if let PlayoutConfig::Neteq(config) = config {
        let heard = timeline(units, packet_time, config);
        return (heard.fates, heard.missed, heard.gaps);
    }
    let fates = play(units, packet_time, config);
    let (missed, gaps) = runs(fates.iter().map(|fate| !matches!(fate, UnitFate::Played(_))), packet_time);
    (fates, missed, gaps)
}
