//! Radio rows: use of a shared medium by each member.

use fairwave_core::medium::Medium;

use super::recorded::{RunRecord, ratio};
use crate::result::RadioRow;

/// Returns one row per link direction that uses a medium, over the window, in the order of media and links.
pub(crate) fn rows(run: &RunRecord<'_>) -> Vec<RadioRow> {
    let length = run.window.length();
    let mut rows = Vec::new();
    for (plan, medium) in run.plan.media.iter().zip(run.media) {
        let counted = |member: usize| {
            let before = medium.before.get(member).copied().unwrap_or_default();
            medium.medium.counters(member).difference(&before)
        };
        let all: u64 = (0..medium.members.len()).map(|member| counted(member).airtime).sum();
        for (member, &link) in medium.members.iter().enumerate() {
            let counters = counted(member);
            let some = |value: f64, of: u64| (of > 0).then_some(value);
            rows.push(RadioRow {
                medium: plan.name.clone(),
                law: plan.law.name().to_owned(),
                link: run.plan.links[link].name.to_string(),
                transmissions: counters.transmissions,
                failed: counters.failed,
                collided: counters.collided,
                airtime: ratio(counters.airtime, length.nanos()),
                airtime_share: some(ratio(counters.airtime, all), all),
                packets_per_transmission: some(ratio(counters.carried, counters.transmissions), counters.transmissions),
                failed_ratio: some(ratio(counters.failed, counters.transmissions), counters.transmissions),
                lost: run.links[link].measure.missing().lost,
            });
        }
    }
    rows
}
