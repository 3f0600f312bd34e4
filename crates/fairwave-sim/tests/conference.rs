//! Calls of several participants, through a server and as a mesh, from the scenario to what each sees and hears.

use fairwave_core::random::Seed;
use fairwave_scenario::Scenario;
use fairwave_sim::media_rows::MediaRow;
use fairwave_sim::{RunResult, run};

/// A star around `sfu`; each participant's node, rate up, rate down, and what their link loses.
fn star(participants: &[(&str, &str, &str, f64)], seconds: u64, call: &str) -> String {
    let names: Vec<String> = participants.iter().map(|one| format!("\"{}\"", one.0)).collect();
    let mut text = format!(
        "name = \"conference\"\nduration = \"{seconds} s\"\n[[call]]\nname = \"team\"\nparticipants = [{}]\n{call}\n",
        names.join(", ")
    );
    for (name, up, down, loss) in participants {
        let loss =
            if *loss > 0.0 { format!("loss = {{ model = \"bernoulli\", rate = {loss} }}\n") } else { String::new() };
        text += &format!(
            "[[link]]\nfrom = \"{name}\"\nto = \"sfu\"\nrate = \"{up}\"\ndelay = \"15 ms\"\n{loss}reverse = {{ rate = \"{down}\" }}\n"
        );
    }
    text
}

const SERVER: &str = "server = { node = \"sfu\" }";

fn ran(text: &str, seed: u64) -> RunResult {
    let scenario = Scenario::from_text(text, "conference.toml").unwrap_or_else(|error| panic!("{error}"));
    run(&scenario.plan(Seed(seed)).unwrap_or_else(|error| panic!("{error}"))).expect("a run that keeps its books")
}

fn stream<'a>(result: &'a RunResult, group: &str, stream: &str) -> &'a MediaRow {
    let mut rows = result.media.iter().filter(|row| row.group == group && row.stream == stream);
    rows.next().unwrap_or_else(|| panic!("no {stream} of {group}"))
}

const FIVE: [(&str, &str, &str, f64); 5] = [
    ("ann", "20 Mb/s", "20 Mb/s", 0.0),
    ("ben", "20 Mb/s", "20 Mb/s", 0.0),
    ("cho", "20 Mb/s", "20 Mb/s", 0.0),
    ("dee", "20 Mb/s", "900 kb/s", 0.0),
    ("eli", "400 kb/s", "20 Mb/s", 0.02),
];

#[test]
fn five_participants_see_and_hear_each_other_and_each_by_their_own_path() {
    let result = ran(&star(&FIVE, 30, SERVER), 1);
    for (from, ..) in &FIVE {
        for (to, ..) in FIVE.iter().filter(|(to, ..)| to != from) {
            let group = format!("team-{from}-to-{to}");
            let (audio, video) = (stream(&result, &group, "audio"), stream(&result, &group, "video"));
            assert!(audio.packets_received > 100, "{group}: {audio:?}");
            // Dee's downlink does not hold four cameras at their lowest layer all the time.
            let least = if *to == "dee" { 100 } else { 200 };
            assert!(video.frames_shown > least, "{group}: {video:?}");
        }
    }
    let height = |group: &str| stream(&result, group, "video").height.expect("seen");
    // Who has a good path sees the good ones large, and the one on the bad uplink small.
    assert!(
        height("team-ann-to-ben") > 1.5 * height("team-eli-to-ben"),
        "{} {}",
        height("team-ann-to-ben"),
        height("team-eli-to-ben")
    );
    // Who has a narrow downlink gets smaller layers of the same cameras.
    assert!(
        height("team-ann-to-ben") > 1.5 * height("team-ann-to-dee"),
        "{} {}",
        height("team-ann-to-ben"),
        height("team-ann-to-dee")
    );
}

#[test]
fn the_same_seed_makes_the_same_conference() {
    let text = star(&FIVE[..3], 10, SERVER);
    let digest = |result: &RunResult| format!("{:?} {:?}", result.media, result.media_transport);
    assert_eq!(digest(&ran(&text, 7)), digest(&ran(&text, 7)));
    assert_ne!(digest(&ran(&text, 7)), digest(&ran(&text, 8)));
}

#[test]
fn losses_on_the_way_to_a_receiver_are_answered_from_the_cache() {
    let two = [("ann", "20 Mb/s", "20 Mb/s", 0.0), ("ben", "20 Mb/s", "20 Mb/s", 0.0)];
    let text = star(&two, 20, SERVER).replace(
        "[[link]]\nfrom = \"ben\"\nto = \"sfu\"\nrate = \"20 Mb/s\"\ndelay = \"15 ms\"\nreverse = { rate = \"20 Mb/s\" }",
        "[[link]]\nfrom = \"ben\"\nto = \"sfu\"\nrate = \"20 Mb/s\"\ndelay = \"15 ms\"\nreverse = { rate = \"20 Mb/s\", loss = { model = \"bernoulli\", rate = 0.02 } }",
    );
    let result = ran(&text, 1);
    let (up, down) = (stream(&result, "team-ann-to-sfu", "video"), stream(&result, "team-ann-to-ben", "video"));
    assert!(down.packets_retransmitted > 10 && down.nacks > 5, "{down:?}");
    assert_eq!(up.packets_lost, 0, "the publisher's path loses nothing");
    assert!(down.freeze_ratio.expect("seen") < 0.1, "{down:?}");
}

#[test]
fn who_comes_later_and_who_leaves_is_measured_while_both_are_there() {
    let call = format!(
        "{SERVER}\n[[call.participant]]\nname = \"ben\"\njoin = \"5 s\"\n[[call.participant]]\nname = \"cho\"\nleave = \"10 s\""
    );
    let result = ran(&star(&FIVE[..3], 15, &call), 1);
    let shown = |group: &str| stream(&result, group, "video").frames_shown as f64;
    let (ab, ac, bc) = (shown("team-ann-to-ben"), shown("team-ann-to-cho"), shown("team-ben-to-cho"));
    for (frames, seconds) in [(ab, 10.0), (ac, 10.0), (bc, 5.0)] {
        assert!((0.7..=1.02).contains(&(frames / 30.0 / seconds)), "{frames} in {seconds} s");
    }
}

#[test]
fn without_a_server_each_sends_to_each() {
    let text = star(&FIVE[..3], 5, "").replace("name = \"conference\"", "name = \"mesh\"");
    let result = ran(&text, 1);
    assert_eq!(result.media.iter().filter(|row| row.stream == "video").count(), 6);
    assert!(result.media.iter().all(|row| row.packets_received > 0));
}

#[test]
fn all_may_leave_and_fifty_may_join_at_once() {
    let everyone: Vec<String> = (0..50).map(|place| format!("p{place}")).collect();
    let participants: Vec<_> = everyone.iter().map(|name| (name.as_str(), "20 Mb/s", "20 Mb/s", 0.0)).collect();
    let call = "server = { node = \"sfu\", videos = 4 }\n".to_owned();
    let result = ran(&star(&participants, 1, &call), 1);
    assert!(result.media.iter().filter(|row| row.packets_received > 0).count() > 100);
    let gone: String = ["ann", "ben"]
        .iter()
        .map(|name| format!("\n[[call.participant]]\nname = \"{name}\"\nleave = \"2 s\""))
        .collect();
    let result = ran(&star(&FIVE[..2], 6, &format!("{SERVER}{gone}")), 1);
    assert!(stream(&result, "team-ann-to-ben", "video").frames_shown <= 60);
}

#[test]
fn mistakes_are_named_at_their_place() {
    let refused = |text: &str| match Scenario::from_text(text, "conference.toml").and_then(|one| one.plan(Seed(1))) {
        Ok(_) => panic!("not refused: {text}"),
        Err(error) => error.to_string(),
    };
    for (text, words) in [
        (star(&FIVE[..1], 5, SERVER), "has 1 participants"),
        (star(&FIVE[..2], 5, "server = { node = \"mcu\" }"), "no link touches a node `mcu`"),
        (star(&FIVE[..2], 5, "server = { node = \"ann\" }"), "is a participant, too"),
        (star(&FIVE[..2], 5, "server = { node = \"sfu\" }\nmedia = { video = { simulcast = 4 } }"), "simulcast"),
        (star(&FIVE[..2], 5, "server = { node = \"sfu\" }\ntransport = { fec = \"flexfec\" }"), "restores no packets"),
        (star(&FIVE[..2], 5, &format!("{SERVER}\n[[call.participant]]\nname = \"zoe\"")), "does not take part"),
        (
            star(
                &FIVE[..2],
                5,
                &format!("{SERVER}\n[[call.participant]]\nname = \"ben\"\njoin = \"3 s\"\nleave = \"2 s\""),
            ),
            "after `join`",
        ),
    ] {
        let said = refused(&text);
        assert!(said.contains(words), "{words}: {said}");
    }
}
