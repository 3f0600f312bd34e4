//! Calls with several participants, through a server and as a mesh: audio and video of each participant.

use fairwave_core::random::Seed;
use fairwave_scenario::Scenario;
use fairwave_sim::media_rows::MediaRow;
use fairwave_sim::{Run, RunResult};

/// Scenario of a star around `sfu`. Each participant has a node, a rate up, a rate down, and a loss of the link.
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
    Run::new(&scenario.plan(Seed(seed)).unwrap_or_else(|error| panic!("{error}")))
        .execute()
        .expect("a run that keeps its books")
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
            // Dee's downlink cannot always carry four cameras at their lowest layer.
            let least = if *to == "dee" { 100 } else { 200 };
            assert!(video.frames_shown > least, "{group}: {video:?}");
        }
    }
    let height = |group: &str| stream(&result, group, "video").height.expect("seen");
    // Participants on a good path see the good cameras large, and the camera behind the bad uplink small.
    assert!(
        height("team-ann-to-ben") > 1.5 * height("team-eli-to-ben"),
        "{} {}",
        height("team-ann-to-ben"),
        height("team-eli-to-ben")
    );
    // Participants on a narrow downlink get smaller layers of the same cameras.
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
fn participants_are_measured_while_both_are_present() {
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
fn the_silence_after_someone_has_left_is_no_loss() {
    let call = format!("{SERVER}\n[[call.participant]]\nname = \"cho\"\nleave = \"5 s\"");
    for seed in 1..=4 {
        let result = ran(&star(&FIVE[..3], 20, &call), seed);
        for row in result.media.iter().filter(|row| row.stream == "audio") {
            assert!(row.concealed_ratio.expect("heard") < 0.05, "seed {seed}: {row:?}");
        }
    }
}

#[test]
fn participants_send_to_each_other_without_a_server() {
    let text = star(&FIVE[..3], 5, "").replace("name = \"conference\"", "name = \"mesh\"");
    let result = ran(&text, 1);
    assert_eq!(result.media.iter().filter(|row| row.stream == "video").count(), 6);
    assert!(result.media.iter().all(|row| row.packets_received > 0));
}

#[test]
fn fifty_participants_can_join_at_once_and_all_can_leave() {
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

#[test]
fn a_camera_that_is_off_is_missed_by_nobody_and_comes_back_with_a_key_frame() {
    let off = "\n[[call.participant]]\nname = \"ann\"\nmedia = { camera-off = [[\"8 s\", \"14 s\"]] }";
    let result = ran(&star(&FIVE[..3], 20, &format!("{SERVER}{off}")), 1);
    let (ann, ben) = (stream(&result, "team-ann-to-cho", "video"), stream(&result, "team-ben-to-cho", "video"));
    // 14 s of pictures instead of 20, without more freezes or pauses.
    let share = ann.frames_shown as f64 / ben.frames_shown as f64;
    assert!((0.62..0.78).contains(&share), "{share}: {} of {}", ann.frames_shown, ben.frames_shown);
    assert!(ann.without_s.expect("a camera") < ben.without_s.expect("a camera") + 1.0, "{ann:?}");
    assert!(ann.freeze_ratio.expect("seen") < 0.1, "{ann:?}");
    // Nothing is sent in the meantime, neither to the server nor onwards.
    let sent = |group: &str, at: f64| {
        let rows = result.media_outbound.iter().filter(|row| row.group == group && row.stream == "video");
        let media = |row: &fairwave_sim::media_rows::MediaOutboundRow| row.bytes_sent;
        rows.filter(|row| (row.time_s - at).abs() < 0.6).map(media).max().expect("samples")
    };
    for group in ["team-ann-to-sfu", "team-ann-to-cho"] {
        assert_eq!(sent(group, 9.0), sent(group, 13.0), "{group}");
        assert!(sent(group, 19.0) > sent(group, 13.0) + 50_000, "{group}");
    }
}

#[test]
fn a_screen_is_shared_for_a_while() {
    let shared = "\n[[call.participant]]\nname = \"ann\"\nmedia = { screen = { scene = \"screen\", frame-rate = 5 }, screen-on = [[\"4 s\", \"9 s\"]] }";
    let result = ran(&star(&FIVE[..3], 14, &format!("{SERVER}{shared}")), 1);
    let screen = stream(&result, "team-ann-to-ben", "screen");
    assert!((15..=26).contains(&screen.frames_shown), "{screen:?}");
    assert!(screen.without_s.expect("a screen") < 2.0, "{screen:?}");
    assert!(result.media.iter().all(|row| row.stream != "screen" || row.group.starts_with("team-ann-")));
}

/// Two participants at a server; ann has two routes to it, by `wifi` and by `cell`.
fn two_networks(moves: &str) -> String {
    let mut text = star(
        &FIVE[1..3],
        25,
        &format!(
            "{SERVER}\nmedia = {{ audio = {{ dtx = false }} }}\n[[call.participant]]\nname = \"ann\"\nmoves = [{moves}]"
        ),
    )
    .replace("participants = [\"ben\", \"cho\"]", "participants = [\"ann\", \"ben\", \"cho\"]");
    for (network, rate, delay) in [("wifi", "20 Mb/s", "5 ms"), ("cell", "8 Mb/s", "40 ms")] {
        text += &format!("[[link]]\nfrom = \"ann\"\nto = \"{network}\"\nrate = \"{rate}\"\ndelay = \"{delay}\"\n");
        text += &format!("[[link]]\nfrom = \"{network}\"\nto = \"sfu\"\nrate = \"100 Mb/s\"\ndelay = \"5 ms\"\n");
    }
    text
}

#[test]
fn a_change_of_network_costs_detection_and_restart_and_make_before_break_costs_nothing() {
    let hard =
        ran(&two_networks("{ at = \"10 s\", leaves = \"ann<>wifi\", detection = \"2 s\", restart = \"500 ms\" }"), 1);
    let soft = ran(&two_networks("{ at = \"10 s\", leaves = \"ann<>wifi\", make-before-break = true }"), 1);
    for (from, to) in [("ann", "ben"), ("ben", "ann")] {
        let group = format!("team-{from}-to-{to}");
        let longest = |result: &RunResult| stream(result, &group, "video").longest_without_s.expect("a camera");
        assert!((2.5..4.5).contains(&longest(&hard)), "{group}: {}", longest(&hard));
        assert!(longest(&soft) < 1.0, "{group}: {}", longest(&soft));
    }
    let silence = |result: &RunResult| stream(result, "team-ben-to-ann", "audio").silence_s.expect("speech");
    assert!((1.5..3.5).contains(&silence(&hard)) && silence(&soft) < 0.5, "{} {}", silence(&hard), silence(&soft));
    // The other participants do not notice.
    let stays = stream(&hard, "team-ben-to-cho", "video");
    assert!(stays.longest_without_s.expect("a camera") < 1.0, "{stays:?}");
    // Both controllers restart: ann's, and the server's towards ann.
    for group in ["team-ann-to-sfu", "team-ben-to-ann"] {
        let estimate = |at: f64| {
            let mut rows = hard.media_transport.iter().filter(|row| row.group == group && row.time_s >= at);
            rows.next().unwrap_or_else(|| panic!("no sample of {group}")).available_bps
        };
        assert!(estimate(12.5) < 0.7 * estimate(9.0), "{group}: {} then {}", estimate(9.0), estimate(12.5));
    }
}

#[test]
fn both_ends_change_their_route_without_a_server() {
    let moves = "{ at = \"10 s\", leaves = \"ann<>wifi\", detection = \"1 s\", restart = \"500 ms\" }";
    let result = ran(&two_networks(moves).replace(SERVER, ""), 1);
    for (from, to) in [("ann", "ben"), ("cho", "ann")] {
        let longest = stream(&result, &format!("team-{from}-to-{to}"), "video").longest_without_s.expect("a camera");
        assert!((1.5..4.0).contains(&longest), "{from} to {to}: {longest}");
    }
    assert!(stream(&result, "team-ben-to-cho", "video").longest_without_s.expect("a camera") < 1.0);
}

#[test]
fn a_change_of_network_needs_a_second_network() {
    let refused =
        |moves: &str| match Scenario::from_text(&two_networks(moves), "move.toml").and_then(|one| one.plan(Seed(1))) {
            Ok(_) => panic!("not refused: {moves}"),
            Err(error) => error.to_string(),
        };
    for (moves, words) in [
        ("{ at = \"30 s\", leaves = \"ann<>wifi\" }", "when the run is over"),
        ("{ at = \"3 s\", leaves = \"ann>wifi\" }", "names no link"),
        ("{ at = \"3 s\", leaves = \"ann<>moon\" }", "there is no link direction `ann>moon`"),
        (
            "{ at = \"3 s\", leaves = \"ann<>wifi\" }, { at = \"4 s\", leaves = \"ann<>cell\" }",
            "before an earlier move is over",
        ),
        (
            "{ at = \"3 s\", leaves = \"ann<>wifi\" }, { at = \"9 s\", leaves = \"ann<>cell\" }",
            "no way leads to the others",
        ),
    ] {
        let said = refused(moves);
        assert!(said.contains(words), "{words}: {said}");
    }
}

#[test]
fn a_video_that_the_server_stops_counts_as_switches_and_as_time_without_video() {
    // The path to ben carries one lowest layer, not two.
    let participants =
        [("ann", "20 Mb/s", "20 Mb/s", 0.0), ("ben", "20 Mb/s", "260 kb/s", 0.0), ("cho", "20 Mb/s", "20 Mb/s", 0.0)];
    let result = ran(&star(&participants, 40, SERVER), 1);
    let rows: Vec<&MediaRow> =
        ["ann", "cho"].iter().map(|from| stream(&result, &format!("team-{from}-to-ben"), "video")).collect();
    let without: f64 = rows.iter().filter_map(|row| row.without_s).sum();
    let switches: f64 = rows.iter().filter_map(|row| row.switches_per_min).sum();
    assert!(without > 5.0 && switches > 1.0, "{without} s, {switches}/min");
    let good = stream(&result, "team-ann-to-cho", "video");
    assert!(good.without_s.expect("a camera") < 3.0 && good.longest_without_s.expect("a camera") < 3.0, "{good:?}");
    let limited = |group: &str| {
        let mut rows = result.media_outbound.iter().filter(|row| row.group == group && row.stream == "video");
        let last = rows.next_back().expect("samples");
        last.limited_bandwidth_s / (last.limited_none_s + last.limited_bandwidth_s + last.limited_other_s)
    };
    assert!(limited("team-ann-to-ben") > 0.9 && limited("team-ann-to-cho") < 0.8);
}

#[test]
fn a_camera_that_the_server_leaves_out_is_not_frozen() {
    let twelve: Vec<String> = (0..12).map(|at| format!("p{at}")).collect();
    let people: Vec<(&str, &str, &str, f64)> =
        twelve.iter().map(|name| (name.as_str(), "100 Mb/s", "100 Mb/s", 0.0)).collect();
    let result = ran(&star(&people, 20, SERVER), 1);
    let down = result.media.iter().filter(|row| row.stream == "video" && !row.group.ends_with("-to-sfu"));
    let (mut seen, mut left_out, mut frozen) = (0, 0, 0.0);
    for row in down {
        // The server's estimate dips, and stops some cameras for less than a second.
        assert!(row.freeze_ratio.expect("a camera") < 0.1, "{row:?}");
        assert!(row.without_s.expect("a camera") < 2.5, "{row:?}");
        frozen += row.freeze_ratio.expect("a camera");
        seen += 1;
        left_out += u64::from(row.frames_shown < 450);
    }
    assert!(seen > 100 && left_out > 50, "{left_out} of {seen} are left out for a part of the time");
    assert!(frozen / f64::from(seen) < 0.01, "{frozen} of {seen}");
    for row in result.media.iter().filter(|row| row.stream == "audio") {
        assert!(row.concealed_ratio.expect("speech") < 0.01, "{row:?}");
    }
}
