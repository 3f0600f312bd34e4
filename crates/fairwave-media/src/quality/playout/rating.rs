//! How a call is rated by what its receiver plays.

use super::cause::Causes;
use super::timeline::runs;
use super::{PlayoutConfig, SpokenUnit, UnitFate, play, timeline};
use crate::quality::call::{self, Caveats, UnratedCause};
use crate::quality::emodel::Rating;
use crate::quality::gaps::Gaps;
use crate::quality::impairment::Reception;
use crate::quality::loss::LossRuns;
use crate::traffic::Codec;
use fairwave_units::units::Span;

/// How a call went.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CallQuality {
    /// Units that the application made.
    pub sent: u64,
    /// Units that arrived but were not played, or still wait in their sender.
    pub late: u64,
    /// Units that will never arrive: dropped by queues or lost by links.
    pub lost: u64,
    /// Late for playout: `late` over the units that were not lost; none if there are none.
    pub late_ratio: Option<f64>,
    /// The E-model's packet loss, 0 to 1: units not played and units' times made up beside them, over all of both.
    pub missed: f64,
    /// Mean delay mouth to ear of what was played: packet time, coder's look-ahead, and from making to playing. None when nothing
    /// was played.
    pub delay: Option<Span>,
    /// Burst ratio of what was missed.
    pub burst_ratio: f64,
    /// The gaps of what was missed.
    pub gaps: Gaps,
    /// The rating, or why there is none: all else is known of any codec.
    pub score: Result<CallScore, UnratedCause>,
}

/// How a call is rated.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CallScore {
    /// The E-model's rating and its parts.
    pub rating: Rating,
    /// What the rating lost to what.
    pub causes: Causes,
    /// Mean opinion score from the rating.
    pub mos: f64,
    /// Remarks on them.
    pub caveats: Caveats,
}

/// Plays a call and rates it by the E-model. The share that was missed is its packet loss; its delay is that of the units played.
///
/// Of the units that have not arrived, `waiting` are still held by their sender: they are missed like all others, but late, not lost.
///
/// # Errors
/// When nothing was sent. A codec without impairment factors has no [`CallQuality::score`].
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
    let (fates, missed, gaps) = heard(units, packet_time, config);
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
        let causes = Causes::of(codec, reception, delay, lost_share, missed, burst_ratio)?;
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

/// What becomes of the units, and what is missed.
fn heard(units: &[SpokenUnit], packet_time: Span, config: &PlayoutConfig) -> (Vec<UnitFate>, LossRuns, Gaps) {
    if let PlayoutConfig::Neteq(config) = config {
        let heard = timeline(units, packet_time, config);
        return (heard.fates, heard.missed, heard.gaps);
    }
    let fates = play(units, packet_time, config);
    let (missed, gaps) = runs(fates.iter().map(|fate| !matches!(fate, UnitFate::Played(_))), packet_time);
    (fates, missed, gaps)
}
