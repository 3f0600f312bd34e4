//! Shared media of a run: the law of each medium, and its member link directions.

use fairwave_core::medium::{Medium, MediumOutcomes, Member, MemberCounters, SharedMedium};
use fairwave_core::units::Instant;
use fairwave_scenario::plan::Plan;

use crate::error::RunError;
use crate::link::{Link, Service};

/// A shared medium in a run.
pub struct MediumRun {
    /// Law of the medium.
    pub medium: SharedMedium,
    /// Indices of the member link directions.
    pub members: Vec<usize>,
    /// Time of its next service event; `NEVER` if there is none.
    pub scheduled: Instant,
    /// Counters of each member at the start of the window; empty without a warm-up.
    pub before: Vec<MemberCounters>,
    /// Packets that the latest step started, delivered or removed.
    pub outcomes: MediumOutcomes,
}

impl MediumRun {
    /// Records the counters at the start of the window.
    pub fn begin_window(&mut self) {
        self.before = (0..self.members.len()).map(|member| self.medium.counters(member)).collect();
    }
}

/// Creates the media of a plan, and sets the member index of each of their links.
///
/// # Errors
/// Fails if the members do not fit the law; plans are checked for this.
pub fn create_media(plan: &Plan, links: &mut [Link]) -> Result<Vec<MediumRun>, RunError> {
    let mut media = Vec::with_capacity(plan.media.len());
    for (index, medium) in plan.media.iter().enumerate() {
        let (places, members): (Vec<usize>, Vec<Member>) = plan.members(index).into_iter().unzip();
        for (member, link) in places.iter().enumerate() {
            if let Some(Service::Shared(shared)) = links.get_mut(*link).map(|link| &mut link.service) {
                shared.member = member;
            }
        }
        let streams = |name: &str| plan.seed.stream(&format!("medium.{}.{name}", medium.name));
        let made = SharedMedium::new(&medium.law, &members, &streams)
            .map_err(|error| RunError::Config { place: medium.name.clone(), error })?;
        media.push(MediumRun {
            medium: made,
            members: places,
            scheduled: Instant::NEVER,
            before: Vec::new(),
            outcomes: MediumOutcomes::default(),
        });
    }
    Ok(media)
}
