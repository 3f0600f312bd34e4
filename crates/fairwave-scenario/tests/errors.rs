//! All kinds of mistakes: each text, and the error with its line.

use fairwave_core::random::Seed;
use fairwave_scenario::Scenario;

/// A valid scenario. Each test makes one mistake in it.
const SOUND: &str = r#"name = "sound"
duration = "60 s"
warmup = "5 s"

[[link]]
from = "s{i}"
to = "r1"
count = 3
rate = "10 Mb/s"
delay = "5 ms"

[[link]]
from = "r1"
to = "d"
rate = "1 Mb/s"
delay = "20 ms"
queue = { capacity = { packets = 50 } }
loss = { model = "bernoulli", rate = 0.01 }

[[flow]]
name = "voice"
count = 3
from = "s{i}"
to = "d"
transport = "udp"
traffic = { kind = "voice", codec = "g711" }
timely = ["150 ms", "300 ms"]

[record]
bin = "1 s"
queues = ["r1>d"]
units = ["voice[0]"]
"#;

/// The error for a text, from reading or planning.
fn complaint(text: &str) -> String {
    match Scenario::from_toml(text, "call.toml").and_then(|scenario| scenario.plan(Seed(1))) {
        Ok(_) => String::from("no complaint"),
        Err(error) => error.to_string(),
    }
}

/// The error for the valid scenario with one passage replaced.
fn complaint_about(sound: &str, mistaken: &str) -> String {
    assert_eq!(SOUND.matches(sound).count(), 1, "`{sound}` must stand once in the sound scenario");
    complaint(&SOUND.replace(sound, mistaken))
}

/// Asserts that there is one error, at this position, with all of these words.
fn assert_says(complaint: &str, place: &str, words: &[&str]) {
    assert_eq!(complaint.matches("error: ").count(), 1, "{complaint}");
    assert!(complaint.contains(&format!("call.toml:{place}")), "no place {place} in\n{complaint}");
    for word in words {
        assert!(complaint.contains(word), "no `{word}` in\n{complaint}");
    }
}

#[test]
fn a_sound_scenario_meets_no_complaint() {
    assert_eq!(complaint(SOUND), "no complaint");
}

#[test]
fn an_unknown_key_is_shown_with_the_nearest_one() {
    let said = complaint_about("rate = \"1 Mb/s\"", "rat = \"1 Mb/s\"");
    assert_says(
        &said,
        "15:1",
        &["unknown key `rat`", "(link[1].rat)", "rat = \"1 Mb/s\"\n   | ^^^", "did you mean `rate`?"],
    );
}

#[test]
fn an_unknown_key_of_a_law_is_found_within_its_table() {
    let said = complaint_about("codec = \"g711\"", "codek = \"g711\"");
    assert_says(&said, "26:29", &["unknown key `codek`", "(flow[0].traffic.codek)", "did you mean `codec`?"]);
}

#[test]
fn an_unknown_table_is_shown_with_the_nearest_one() {
    assert_says(&complaint_about("[record]", "[recrd]"), "29:2", &["unknown key `recrd`", "did you mean `record`?"]);
}

#[test]
fn an_unknown_unit_is_shown_with_the_value_that_was_meant() {
    let said = complaint_about("rate = \"1 Mb/s\"", "rate = \"1 MB/s\"");
    let words = ["`MB/s` counts bytes", "allowed: b/s, kb/s, Mb/s", "write `8 Mb/s`, or `1 Mb/s` if bits were meant"];
    assert_says(&said, "15:8", &words);
    let said = complaint_about("rate = \"1 Mb/s\"", "rate = \"1 mb/s\"");
    assert_says(&said, "15:8", &["unknown unit `mb/s`", "write `1 Mb/s`"]);
}

#[test]
fn a_number_without_a_unit_is_refused() {
    let said = complaint_about("delay = \"20 ms\"", "delay = 20");
    assert_says(&said, "16:9", &["`delay` is the number 20", "a text with a unit", "`delay = \"20 ms\"`"]);
    let said = complaint_about("rate = \"1 Mb/s\"", "rate = 2");
    assert_says(&said, "15:8", &["`rate` is the number 2", "`rate = \"2 Mb/s\"`"]);
    let said = complaint_about("duration = \"60 s\"", "duration = 60");
    assert_says(&said, "2:12", &["`duration` is the number 60", "`duration = \"60 s\"`"]);
}

#[test]
fn a_negative_time_is_refused() {
    assert_says(&complaint_about("delay = \"20 ms\"", "delay = \"-20 ms\""), "16:9", &["must not be negative"]);
}

#[test]
fn an_unknown_transport_is_shown_with_the_nearest_one() {
    let said = complaint_about("transport = \"udp\"", "transport = \"upd\"");
    assert_says(&said, "25:13", &["unknown transport `upd`", "did you mean `udp`?"]);
}

#[test]
fn an_unknown_codec_is_shown_with_the_nearest_one() {
    let said = complaint_about("codec = \"g711\"", "codec = \"g71\"");
    assert_says(&said, "26:37", &["unknown codec `g71`", "did you mean `g711`?"]);
}

#[test]
fn an_unknown_way_to_count_a_buffer_is_shown_with_the_nearest_one() {
    let said = complaint_about("packets = 50", "packts = 50");
    assert_says(&said, "17:24", &["`packts`", "did you mean `packets`?"]);
}

#[test]
fn a_rate_of_zero_is_refused() {
    let said = complaint_about("rate = \"1 Mb/s\"", "rate = \"0 Mb/s\"");
    assert_says(&said, "15:8", &["the rate is 0", "at least 1 b/s", "rate = \"10 Mb/s\""]);
}

#[test]
fn a_probability_above_one_is_refused_at_its_value() {
    let said = complaint_about("rate = 0.01", "rate = 1.01");
    assert_says(&said, "18:38", &["`rate` is 1.01", "(link[1].loss.rate)", "a fraction from 0 to 1"]);
}

#[test]
fn a_warmup_as_long_as_the_run_is_refused() {
    let said = complaint_about("warmup = \"5 s\"", "warmup = \"60 s\"");
    assert_says(&said, "3:10", &["`warmup` (60 s)", "less than `duration`, which is 60 s"]);
}

#[test]
fn a_run_of_no_time_has_no_warmup() {
    let said = complaint_about("duration = \"60 s\"", "duration = \"0 s\"");
    assert_says(&said, "3:10", &["`warmup` is 5 s, of a run that lasts no time", "leave `warmup` out"]);
}

#[test]
fn a_node_that_no_link_touches_is_shown_with_the_nearest_one() {
    let said = complaint_about("from = \"s{i}\"\nto = \"d\"", "from = \"s{i}\"\nto = \"dd\"");
    assert_says(&said, "24:6", &["no link touches a node `dd`", "did you mean `d`?"]);
}

#[test]
fn more_flows_than_hosts_are_refused() {
    let said = complaint_about("count = 3\nfrom", "count = 4\nfrom");
    assert_says(&said, "23:8", &["a node `s3`, which flow `voice[3]` needs", "more flows than hosts"]);
}

#[test]
fn a_route_that_does_not_exist_is_refused() {
    let said = complaint_about("queue = {", "duplex = false\nqueue = {");
    assert_says(&said, "25:6", &["no route back from `d` to `s0`", "`voice[0]`", "`duplex = false`"]);
}

#[test]
fn a_scenario_without_flows_is_refused() {
    let without: String = SOUND.split("[[flow]]").next().expect("the links").to_owned();
    assert_says(&complaint(&without), "1:1", &["there are no flows", "[[flow]]"]);
    assert_says(&complaint_about("count = 3\nfrom", "count = 0\nfrom"), "20:1", &["0 flows"]);
}

#[test]
fn a_billion_flows_are_refused_with_what_they_would_cost() {
    let said = complaint_about("count = 3\nfrom", "count = 1_000_000_000\nfrom");
    assert_says(&said, "22:9", &["1000000000 flows would need about", "TB of memory", "up to 2000000 flows"]);
}

#[test]
fn a_billion_links_are_refused_with_what_they_would_cost() {
    let said = complaint_about("count = 3\nrate", "count = 1_000_000_000\nrate");
    assert_says(&said, "8:9", &["2000000000 link directions", "TB of memory"]);
}

#[test]
fn a_run_that_would_never_end_is_refused_with_what_it_would_cost() {
    let text = SOUND.replace("\"60 s\"", "\"4000000 h\"");
    let said = complaint(text.split("[record]").next().expect("the flows"));
    assert!(said.contains("packet-hops") && said.contains("days of computing"), "{said}");
    assert!(said.contains("call.toml:2:12"), "{said}");
}

#[test]
fn a_series_that_no_memory_holds_is_refused_with_its_size() {
    let said = complaint_about("bin = \"1 s\"", "bin = \"1 ns\"");
    assert_says(&said, "30:7", &["60000000000 bins", "10.1 TB", "bin = \"60 ms\""]);
}

#[test]
fn two_groups_of_one_name_are_refused() {
    let (links, flow) = SOUND.split_once("[[flow]]").expect("a flow");
    let (flow, record) = flow.split_once("[record]").expect("a record");
    let said = complaint(&format!("{links}[[flow]]{flow}[[flow]]{flow}[record]{record}"));
    assert_says(&said, "30:8", &["two groups of flows named `voice`"]);
}

#[test]
fn two_links_between_the_same_nodes_are_refused() {
    let said = complaint_about(
        "[[flow]]",
        "[[link]]\nfrom = \"d\"\nto = \"r1\"\nrate = \"1 Mb/s\"\ndelay = \"1 ms\"\n\n[[flow]]",
    );
    assert_says(&said, "20:1", &["`d` and `r1` are joined twice"]);
    let said = complaint_about("from = \"s{i}\"\nto = \"r1\"", "from = \"s{i%2}\"\nto = \"r1\"");
    assert_says(&said, "5:1", &["`s0` and `r1` are joined twice"]);
}

#[test]
fn a_node_joined_to_itself_is_refused() {
    let said = complaint_about("from = \"s{i}\"\nto = \"r1\"", "from = \"s{i}\"\nto = \"s0\"");
    assert_says(&said, "5:1", &["`s0` is joined to itself"]);
}

#[test]
fn a_template_that_does_not_count_is_refused() {
    let said = complaint_about("from = \"s{i}\"\nto = \"r1\"", "from = \"s\"\nto = \"r1\"");
    assert_says(&said, "8:9", &["3 links would all bear the name `s>r1`", "from = \"s{i}\""]);
}

#[test]
fn a_buffer_smaller_than_a_packet_is_refused() {
    let said = complaint_about("packets = 50", "bytes = 150");
    assert_says(&said, "17:32", &["a buffer of 150 bytes", "packets of 200 bytes", "200 bytes or more"]);
}

#[test]
fn a_buffer_smaller_than_a_segment_of_tcp_is_refused() {
    let text =
        SOUND.replace("packets = 50", "bytes = 150").replace("\"udp\"", "{ name = \"tcp/reno\", header = \"52 B\" }");
    let said = complaint(&text.replace("{ kind = \"voice\", codec = \"g711\" }", "\"bulk\""));
    assert_says(&said, "17:32", &["packets of 1500 bytes"]);
}

#[test]
fn a_misspelled_flavour_of_tcp_is_shown_with_the_nearest_one() {
    let said = complaint_about("transport = \"udp\"", "transport = \"tcp/vagas\"");
    assert_says(&said, "25:13", &["unknown transport `tcp/vagas`", "did you mean `tcp/vegas`?", "tcp/westwood+"]);
}

#[test]
fn a_key_of_another_controller_is_shown_with_whose_it_is() {
    let said = complaint_about("transport = \"udp\"", "transport = { name = \"tcp/reno\", alpha = 2 }");
    let belongs = "left out with tcp/reno (it belongs to tcp/aimd, ";
    assert_says(&said, "25:42", &["`alpha` is 2", belongs, "write for example `name = \"tcp/aimd\"`"]);
}

#[test]
fn a_misspelled_key_of_a_connection_is_shown_with_the_nearest_one() {
    let said = complaint_about("transport = \"udp\"", "transport = { name = \"tcp/vegas\", recovry = \"sack\" }");
    assert_says(&said, "25:35", &["unknown key `recovry`", "did you mean `recovery`?", "alpha, beta, gamma"]);
}

#[test]
fn bulk_data_over_udp_is_refused() {
    let said = complaint_about("traffic = { kind = \"voice\", codec = \"g711\" }", "traffic = \"bulk\"");
    assert_says(&said, "26:11", &["bulk data over `udp`", "tcp/reno"]);
}

#[test]
fn thresholds_out_of_order_are_refused() {
    let said = complaint_about("[\"150 ms\", \"300 ms\"]", "[\"300 ms\", \"150 ms\"]");
    assert_says(&said, "27:10", &["not in ascending order", "[\"100 ms\", \"300 ms\"]"]);
}

#[test]
fn a_flow_that_would_begin_after_the_end_is_refused() {
    let said = complaint_about("timely =", "start = { every = \"30 s\" }\ntimely =");
    assert_says(&said, "27:9", &["as late as 60 s", "before the end of the run at 60 s"]);
}

#[test]
fn a_record_of_a_flow_that_does_not_exist_is_refused() {
    assert_says(&complaint_about("voice[0]", "vocie[0]"), "32:10", &["`vocie`", "did you mean `voice`?"]);
    assert_says(&complaint_about("voice[0]", "voice[3]"), "32:10", &["has 3 flows", "`voice[0]` to `voice[2]`"]);
}

#[test]
fn allotted_shares_of_flows_that_do_not_exist_or_without_a_bin_are_refused() {
    let said = complaint_about("units =", "allotted = [\"*\", \"vocie\"]\nunits =");
    assert_says(&said, "32:18", &["did you mean `voice`?"]);
    let said = complaint_about("bin = \"1 s\"\nqueues = [\"r1>d\"]", "allotted = [\"*\"]");
    assert_says(&said, "30:1", &["`bin`, which is not given"]);
}

#[test]
fn a_playback_that_could_never_succeed_is_refused() {
    let said = complaint_about("timely =", "playback = { rate = \"1 Mb/s\", shares = [90] }\ntimely =");
    assert_says(&said, "27:40", &["`shares` is 90", "or percent in quotes", "shares = [0.9]"]);
}

#[test]
fn a_recovery_that_cannot_be_measured_is_refused() {
    let recovery = |times: &str| complaint_about("timely =", &format!("recovery = {{ {times} }}\ntimely ="));
    let said = recovery("from = \"21 s\", to = \"20 s\"");
    assert_says(&said, "27:34", &["later than `from` (21 s)", "from = \"20 s\", to = \"21 s\""]);
    assert_says(&recovery("from = \"20 s\", to = \"60 s\""), "27:34", &["before the end of the run at 60 s"]);
    assert_says(&recovery("from = \"5 s\", to = \"6 s\""), "27:21", &["later than `warmup` (5 s)"]);
    let text = SOUND.replace("timely =", "recovery = { from = \"20 s\", to = \"21 s\" }\ntimely =");
    let said = complaint(&text.replace("bin = \"1 s\"\nqueues = [\"r1>d\"]\n", ""));
    assert_says(&said, "27:1", &["`bin`, which is not given"]);
}

#[test]
fn a_handoff_without_a_mean_is_refused() {
    let said = complaint_about(
        "{ model = \"bernoulli\", rate = 0.01 }",
        "{ model = \"handoff\", up = \"5 s\", down = \"0 s\" }",
    );
    assert_says(&said, "18:48", &["`down` is 0 s", "above 0", "down = \"500 ms\""]);
}

#[test]
fn a_record_of_a_queue_that_does_not_exist_is_refused() {
    assert_says(&complaint_about("r1>d", "r1>e"), "31:11", &["no link direction `r1>e`", "did you mean `r1>d`?"]);
}

#[test]
fn a_key_of_another_preset_is_refused() {
    let text = "name = \"x\"\nduration = \"1 s\"\n[topology]\npreset = \"dumbbell\"\nhops = 3\n\
                [[flow]]\nname = \"a\"\ntransport = \"udp\"\ntraffic = \"voice\"\n";
    assert_says(&complaint(text), "5:1", &["`dumbbell` has no `hops`", "multi-hop"]);
    let hops = text.replace("dumbbell", "multi-hop").replace("hops = 3", "hops = 0");
    assert_says(&complaint(&hops), "5:8", &["`hops` is 0", "1 to 1000"]);
    let path = text.replace("hops = 3\n", "").replace("transport", "path = \"forwards\"\ntransport");
    assert_says(&complaint(&path), "7:8", &["has no path `forwards`", "path = \"forward\""]);
}

#[test]
fn what_is_not_toml_is_shown_where_it_stops_being_toml() {
    assert_says(&complaint_about("[record]", "[record"), "29:8", &["this is not TOML", "expected `]`"]);
}

#[test]
fn several_mistakes_are_all_reported_in_the_order_of_the_text() {
    let text =
        SOUND.replace("5 s", "5 sec").replace("count = 3\nrate", "cuont = 3\nrate").replace("\"udp\"", "\"upd\"");
    let said = complaint(&text);
    let places: Vec<&str> = said.lines().filter_map(|line| line.trim().strip_prefix("--> call.toml:")).collect();
    assert_eq!(places, ["3:10 (warmup)", "8:1 (link[0].cuont)", "25:13 (flow[0].transport)"], "{said}");
}

#[test]
fn everything_that_is_missing_is_reported() {
    let said = complaint("[[flow]]\nname = \"a\"\n");
    for key in ["`name`", "`duration`", "`transport`"] {
        assert!(said.contains(&format!("lacks the key {key}")), "{said}");
    }
}

#[test]
fn json_is_complained_about_with_lines_as_well() {
    let text = "{\n  \"name\": \"x\",\n  \"duration\": \"60 sec\",\n  \"flow\": [\n    {\"name\": \"a\", \"transprt\": \"udp\"}\n  ]\n}\n";
    let said = Scenario::from_json(text, "call.json").expect_err("two mistakes").to_string();
    assert!(said.contains("call.json:3:15 (duration)") && said.contains("write `60 s`"), "{said}");
    assert!(said.contains("call.json:5:19 (flow[0].transprt)"), "{said}");
    let twice =
        Scenario::from_json("{\"name\": \"x\",\n \"name\": \"y\"}", "call.json").expect_err("twice").to_string();
    assert!(twice.contains("call.json:2:2") && twice.contains("stands twice"), "{twice}");
    let comma = Scenario::from_json("{\"name\": \"x\",}", "call.json").expect_err("comma").to_string();
    assert!(comma.contains("this is not JSON") && comma.contains("call.json:1:"), "{comma}");
}

#[test]
fn nesting_without_end_is_refused() {
    assert!(Scenario::from_json(&"[".repeat(100_000), "deep.json").is_err());
    assert!(Scenario::from_toml(&format!("a = {}", "[".repeat(100_000)), "deep.toml").is_err());
}

#[test]
fn a_red_that_could_never_drop_early_is_refused_where_its_buffer_is_known() {
    for discipline in ["red", "ared"] {
        let queue = format!("queue = {{ discipline = \"{discipline}\", capacity = {{ packets = 1 }} }}");
        let said = complaint_about("queue = { capacity = { packets = 50 } }", &queue);
        let words = ["`min-threshold` is 5", "below the 1 packets that the buffer holds", "min-threshold = 0.2"];
        assert_says(&said, "17:9", &words);
    }
    // The automatic threshold grows with the link's rate, so the check needs that rate.
    let fast = SOUND.replace("1 Mb/s", "1 Gb/s").replace("{ capacity =", "{ discipline = \"ared\", capacity =");
    assert_says(&complaint(&fast), "17:9", &["`min-threshold` is 625", "below the 50 packets"]);
}

#[test]
fn a_victim_for_a_discipline_that_chooses_is_refused_with_the_reason() {
    let queue = "queue = { discipline = \"choke\", victim = \"front\", capacity = { packets = 50 } }";
    let said = complaint_about("queue = { capacity = { packets = 50 } }", queue);
    assert_says(
        &said,
        "17:42",
        &["`victim` is \"front\"", "left out: CHOKe drops the arrival, and the packet that it matches"],
    );
}

#[test]
fn clocks_and_hosts_that_no_machine_has_are_refused() {
    let with = |key: &str| complaint_about("warmup = \"5 s\"", &format!("warmup = \"5 s\"\nhosts = {{ {key} }}"));
    let said = with("clock-skew = \"2_000_000 ppm\"");
    assert_says(&said, "4:24", &["`clock-skew` is 2000000 ppm", "0 ppm to 10000 ppm", "clock-skew = \"50 ppm\""]);
    let said = with("send-jitter = \"1 min\"");
    assert_says(&said, "4:25", &["`send-jitter` is 60 s", "0 s to 1 s", "send-jitter = \"1 ms\""]);
    assert_says(&with("clock-skew = \"50\""), "4:24", &["`50` is not a clock skew: the unit is missing", "ppb, ppm"]);
    assert_says(&with("clock-skw = \"50 ppm\""), "4:11", &["unknown key `clock-skw`", "did you mean `clock-skew`?"]);
}

#[test]
fn a_list_where_a_value_or_a_range_is_wanted_is_refused_with_the_range_written_out() {
    let range = |from: &str, to: &str| format!("{{ from = \"{from}\", to = \"{to}\", spread = \"even\" }}");
    let said = complaint_about("rate = \"10 Mb/s\"", "rate = [\"1 Mb/s\", \"20 Mb/s\"]");
    assert_says(
        &said,
        "9:8 (link[0].rate)",
        &["a list stands where one value or a range is wanted", &range("1 Mb/s", "20 Mb/s")],
    );
    let said = complaint_about("delay = \"5 ms\"", "delay = [\"5 ms\"]");
    assert_says(&said, "10:9 (link[0].delay)", &["a list stands where"]);
    let said = complaint_about("transport = \"udp\"", "transport = \"udp\"\nstart = [\"1 s\", \"5 s\"]");
    assert_says(&said, "26:9 (flow[0].start)", &[&range("1 s", "5 s")]);
}

#[test]
fn a_list_in_the_place_of_a_table_is_refused() {
    let said = complaint_about("warmup = \"5 s\"", "warmup = \"5 s\"\nhosts = [\"50 ppm\", \"1 ms\"]");
    assert_says(&said, "4:9 (hosts)", &["`hosts` is a list", "a table"]);
}

/// The error for the valid scenario with these keys for the group of calls.
fn complaint_about_flow(keys: &str) -> String {
    let from = SOUND.find("transport = ").expect("a flow");
    let to = SOUND.find("\n[record]").expect("a record");
    let text = format!("{}{keys}\n{}", &SOUND[..from], &SOUND[to..]);
    complaint(&text.replace("units = [\"voice[0]\"]\n", ""))
}

#[test]
fn what_is_wanted_as_a_whole_needs_a_transport_that_delivers_everything() {
    for transport in ["\"udp\"", "\"tfrc\"", "{ name = \"tcp/sack\", deadline = \"1 s\" }"] {
        let said = complaint_about_flow(&format!("transport = {transport}\ntraffic = \"web\""));
        assert_says(&said, "25:1", &["does not send again what is lost", "transport = \"tcp/sack\""]);
    }
}

#[test]
fn arrivals_that_make_no_sense_are_told_what_would() {
    let file = "transport = \"tcp/sack\"\ntraffic = { kind = \"transfer\", size = \"1 MB\" }";
    let call = "transport = \"udp\"\ntraffic = \"voice\"";
    let lasts = "lasts = { distribution = \"exponential\", mean = \"1 min\" }";
    for (flow, arrivals, place, words) in [
        (file, "\"2\"".to_owned(), "27:12", ["does not say how often", "\"2 per s\""]),
        (file, "{ at-most = 3 }".to_owned(), "27:1", ["neither `rate` nor `load`", "arrivals = \"2 per s\""]),
        (
            file,
            "{ rate = \"1 per s\", load = \"1 Mb/s\" }".to_owned(),
            "27:1",
            ["both `rate` and `load`", "one of the two"],
        ),
        (file, "\"0 per s\"".to_owned(), "27:1", ["nothing would ever arrive", "above 0"]),
        (file, "{ rate = \"1 per s\", at-most = 0 }".to_owned(), "27:42", ["all would be refused", "1 or more"]),
        (file, format!("{{ rate = \"1 per s\", {lasts} }}"), "27:40", ["until all of it is there", "remove `lasts`"]),
        (call, "\"1 per s\"".to_owned(), "27:1", ["would never leave", "lasts = "]),
        (call, format!("{{ load = \"1 Mb/s\", {lasts} }}"), "27:21", ["needs sizes", "rate = "]),
    ] {
        let said = complaint_about_flow(&format!("{flow}\narrivals = {arrivals}"));
        assert_says(&said, place, &words);
    }
    let said = complaint_about_flow(&format!("{file}\narrivals = \"1 per s\"\nstart = {{ every = \"1 s\" }}"));
    assert_says(&said, "28:9", &["starts of their own", "start = \"10 s\""]);
    let said = complaint_about_flow(&format!(
        "transport = \"udp\"\ntraffic = \"conversation\"\narrivals = {{ rate = \"1 per s\", {lasts} }}"
    ));
    assert_says(&said, "27:1", &["is there from the beginning"]);
}

#[test]
fn times_of_activity_are_in_order_and_the_only_ones() {
    let call = "transport = \"udp\"\ntraffic = \"voice\"\nactive = ";
    for (active, place, words) in [
        ("[]", "27:1", ["nothing would happen", "active = [["]),
        ("[[\"3 s\", \"2 s\"]]", "27:11", ["is no time of activity", "ascending order"]),
        ("[[\"0 s\", \"2 s\"], [\"2 s\", \"3 s\"]]", "27:27", ["is no time of activity", "apart"]),
        ("[[\"70 s\", \"80 s\"]]", "27:1", ["first at work at 70 s", "before the end"]),
        ("[[\"1 s\", \"2 s\"]]\nstop = \"9 s\"", "28:8", ["`active` and `stop` both set", "remove"]),
    ] {
        assert_says(&complaint_about_flow(&format!("{call}{active}")), place, &words);
    }
    let file =
        "transport = \"tcp/sack\"\ntraffic = { kind = \"transfer\", size = \"1 MB\" }\nactive = [[\"1 s\", \"2 s\"]]";
    assert_says(&complaint_about_flow(file), "27:1", &["would never be complete", "arrivals"]);
}

#[test]
fn a_short_name_of_no_law_is_refused_with_the_nearest() {
    let said = complaint_about("transport = \"udp\"", "transport = \"cubik\"");
    assert_says(&said, "25:13", &["unknown transport `cubik`", "did you mean `tcp/cubic`?"]);
}

#[test]
fn a_ratio_may_be_written_in_percent() {
    let written = |text: &str| Scenario::from_toml(text, "call.toml").expect("a sound scenario");
    let sound = written(SOUND).content_hash().expect("a hash");
    for loss in ["{ model = \"bernoulli\", rate = \"1 %\" }", "\"1 %\"", "\"1%\"", "0.01"] {
        let other = written(&SOUND.replace("{ model = \"bernoulli\", rate = 0.01 }", loss));
        assert_eq!(other.content_hash().expect("a hash"), sound, "loss = {loss}");
        assert!(other.to_toml().expect("TOML").contains("rate = 0.01"), "one form alone is shown");
    }
    let queue = written(&SOUND.replace("packets = 50 }", "packets = 50 }, discipline = \"red\", max-p = \"5 %\""));
    assert!(queue.to_toml().expect("TOML").contains("max-p = 0.05"));
}

#[test]
fn percent_above_a_hundred_and_where_no_ratio_stands_is_refused() {
    let said = complaint_about("rate = 0.01", "rate = \"101 %\"");
    assert_says(&said, "18:38", &["`rate` is 1.01", "(link[1].loss.rate)", "or percent in quotes"]);
    let said = complaint_about("packets = 50", "packets = \"50 %\"");
    assert_says(&said, "17:34", &["`packets` is the text \"50 %\"", "a whole number"]);
    let said = complaint_about("loss = { model = \"bernoulli\", rate = 0.01 }", "loss = 2");
    assert_says(&said, "18:8", &["`loss` is 2", "a fraction from 0 to 1, or percent in quotes", "`loss = \"2 %\"`"]);
}
