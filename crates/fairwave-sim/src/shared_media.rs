//! Shared media of a run: the law at work, and which link directions are its members.

use fairwave_core::medium::{Happenings, Member, MemberCounters, SharedMedium};
use fairwave_core::units::Instant;
use fairwave_scenario::plan::Plan;

use crate::error::RunError;
use crate::link::{Link, Service};

/// A shared medium in a run.
pub struct MediumRun {
    /// The law at work.
    pub medium: SharedMedium,
    /// Indices of the link directions that are its members.
    pub members: Vec<usize>,
    /// When the event that serves it is due; `NEVER` if none is.
    pub scheduled: Instant,
    /// What it had counted of each member when the window began; nothing without a warm-up.
    pub before: Vec<MemberCounters>,
    /// What has just become of packets.
    pub happenings: Happenings,
}

impl MediumRun {
    /// The window begins.
    pub fn begin_window(&mut self) {
        self.before = (0..self.members.len()).map(|member| self.medium.counters(member)).collect();
    }
}

/// The media of a plan. Links are told which member they are.
///
/// # Errors
/// Members that do not fit the law, which plans are checked for.
pub fn of_plan(plan: &Plan, links: &mut [Link]) -> Result<Vec<MediumRun>, RunError> {
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
            happenings: Happenings::default(),
        });
    }
    Ok(media)
}
