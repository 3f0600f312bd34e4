//! Scenarios of hostile size: each is rejected with a cost estimate, before any large allocation.

use fairwave_core::random::Seed;
use fairwave_scenario::Scenario;

/// A dumbbell with one group of flows. A test replaces some of these values.
#[derive(Clone, Copy)]
struct Text<'a> {
    duration: &'a str,
    topology: &'a str,
    flow: &'a str,
    transport: &'a str,
    traffic: &'a str,
    record: &'a str,
}

const SOUND: Text<'static> = Text {
    duration: "10 s",
    topology: "preset = \"dumbbell\"",
    flow: "count = 1",
    transport: "\"tcp/reno\"",
    traffic: "\"bulk\"",
    record: "",
};

/// The error for the text, from reading or planning.
fn complaint(text: Text<'_>) -> String {
    let Text { duration, topology, flow, transport, traffic, record } = text;
    said(&format!(
        "name = \"hostile\"\nduration = \"{duration}\"\n[topology]\n{topology}\n\
         [[flow]]\nname = \"a\"\n{flow}\ntransport = {transport}\ntraffic = {traffic}\n{record}"
    ))
}

fn said(text: &str) -> String {
    match Scenario::from_toml(text, "x.toml").and_then(|scenario| scenario.plan(Seed(1))) {
        Ok(_) => String::from("no complaint"),
        Err(error) => error.to_string(),
    }
}

/// Asserts one error that names the key, the cost, the allowed values and the remedy.
fn assert_refused(said: &str, key: &str, cost: &[&str]) {
    assert_eq!(said.matches("error: ").count(), 1, "{said}");
    assert!(said.contains(&format!("({key})")), "no `{key}` in\n{said}");
    for words in cost.iter().chain(&["allowed: up to ", "help: "]) {
        assert!(
            said.contains(words) || (*words == "allowed: up to " && said.contains("allowed: 1 to ")),
            "no `{words}` in\n{said}"
        );
    }
}

#[test]
fn the_sound_one_is_accepted() {
    assert_eq!(complaint(SOUND), "no complaint");
}

#[test]
fn two_million_flows_of_a_dumbbell_are_not_too_many_links() {
    let text = "name = \"x\"\nduration = \"1 s\"\n[topology]\npreset = \"dumbbell\"\n\
                [[flow]]\nname = \"a\"\ncount = 2000000\ntransport = \"tcp/reno\"\ntraffic = \"bulk\"\n";
    assert!(Scenario::from_toml(text, "").is_ok());
}

#[test]
fn flows_of_several_groups_are_added_up() {
    let two = format!(
        "{}\ntransport = \"udp\"\ntraffic = \"voice\"\n[[flow]]\nname = \"b\"\ncount = 1500000",
        "count = 1500000"
    );
    assert_refused(
        &complaint(Text { flow: &two, ..SOUND }),
        "flow",
        &["3000000 flows in all would need about 12.0 GB of memory"],
    );
}

#[test]
fn a_load_that_takes_too_many_flows_is_named() {
    let topology =
        "preset = \"dumbbell\"\n[load]\ntotal = \"18000000000 Gb/s\"\nshares = { tcp = 100 }\ntransfer = \"1 b/s\"";
    let said = complaint(Text { topology, ..SOUND });
    assert_refused(&said, "load.total", &["this load takes 18000000000000000000 flows of `a`", "PB of memory"]);
}

#[test]
fn a_load_whose_groups_overflow_together_is_refused_as_well() {
    let topology =
        "preset = \"dumbbell\"\n[load]\ntotal = \"18000000000 Gb/s\"\nshares = { tcp = 100 }\ntransfer = \"1 b/s\"";
    let flow = "transport = \"tcp/reno\"\ntraffic = \"bulk\"\ncount = 3\n[[flow]]\nname = \"b\"\ncount = 1";
    assert_refused(&complaint(Text { topology, flow, ..SOUND }), "load.total", &["flows of `a`", "PB of memory"]);
}

#[test]
fn a_million_hops_are_refused_with_what_a_chain_of_them_would_cost() {
    for hops in ["1000000", "1000000000000000000"] {
        let topology = format!("preset = \"multi-hop\"\nhops = {hops}");
        let said = complaint(Text { topology: &topology, ..SOUND });
        assert_refused(&said, "topology.hops", &["of memory and, full for 10 s, ", "of computing", "1 to 1000 links"]);
        assert!(said.contains(&format!("`hops` is {hops}: a chain of {hops} links would need about ")), "{said}");
    }
    let said = complaint(Text { topology: "preset = \"multi-hop\"\nhops = 1000000", ..SOUND });
    // A million links of 1 Mb/s, 125 packets per second each: 1.25e9 packet-hops in 10 s.
    assert!(said.contains("3.0 GB of memory and, full for 10 s, 2.1 minutes of computing"), "{said}");
}

#[test]
fn a_million_links_in_a_row_are_refused_and_a_way_of_ten_thousand_is() {
    let chain = |links: u64| {
        said(&format!(
            "name = \"x\"\nduration = \"1 s\"\n[[link]]\nfrom = \"n{{i}}\"\nto = \"n{{i+1}}\"\ncount = {links}\n\
             rate = \"1 Mb/s\"\ndelay = \"1 ms\"\n[[flow]]\nname = \"a\"\ncount = 10000\nfrom = \"n0\"\nto = \"n{links}\"\n\
             transport = \"tcp/reno\"\ntraffic = \"bulk\"\n"
        ))
    };
    assert_refused(&chain(1_000_000), "link[0].count", &["a chain of 1000000 links", "3.0 GB of memory"]);
    assert_refused(
        &chain(10_000),
        "flow[0].to",
        &["20000 links there and back would need about 1.6 GB for their routes"],
    );
}

#[test]
fn routes_that_multiply_beyond_memory_are_refused_before_they_are_made() {
    let topology = "preset = \"multi-hop\"\nhops = 1000";
    let flow = "path = \"through\"\ncount = 300000";
    let said = complaint(Text { topology, flow, duration: "10 ms", ..SOUND });
    assert_refused(&said, "flow[0].count", &["300000 flows of 2004 links there and back would need about 4.8 GB"]);
}

#[test]
fn a_duration_beyond_all_clocks_is_refused_with_what_a_single_link_would_cost() {
    let said = complaint(Text { duration: "1000000000000 s", ..SOUND });
    assert_refused(&said, "duration", &["is not a time: it is too large", "2.7 days of computing"]);
}

#[test]
fn an_application_that_offers_more_than_any_computer_makes_is_named() {
    let traffic = "{ kind = \"cbr\", rate = \"1000000000 Gb/s\", payload = \"1 B\" }";
    for transport in ["\"udp\"", "\"tcp/reno\"", "\"tfrc\"", "\"rtcp\"", "\"dvrc\""] {
        let said = complaint(Text { traffic, transport, duration: "10000 s", ..SOUND });
        assert_refused(&said, "flow[0].traffic", &["what `a` does would take about", "of computing"]);
    }
}

#[test]
fn what_waits_in_senders_is_counted() {
    let traffic = "{ kind = \"cbr\", rate = \"100 Gb/s\", payload = \"1000 B\" }";
    let said = complaint(Text { traffic, duration: "1000 s", ..SOUND });
    // 1.25e10 packets, each with 32 bytes in the books and 24 bytes in the sender.
    assert_refused(&said, "flow[0].traffic", &["would need about 700.0 GB"]);
}

#[test]
fn packets_of_one_byte_are_counted_as_such() {
    let fast = "preset = \"dumbbell\"\nbottleneck = { rate = \"10 Gb/s\" }\naccess = { rate = \"10 Gb/s\" }";
    let bytes = "{ name = \"tcp/reno\", preset = \"rfc\", segment = \"1 B\" }";
    assert_eq!(complaint(Text { topology: fast, duration: "10000 s", ..SOUND }), "no complaint");
    let said = complaint(Text { topology: fast, transport: bytes, duration: "10000 s", ..SOUND });
    assert_refused(&said, "duration", &["packet-hops, that is 2.1 days of computing"]);
}

#[test]
fn timers_and_turns_of_a_nanosecond_are_counted() {
    let transport = "{ name = \"tcp/reno\", min-rto = \"1 ns\", initial-rto = \"1 ns\", max-rto = \"1 ns\" }";
    let said = complaint(Text { transport, duration: "10000 s", ..SOUND });
    assert_refused(&said, "flow[0].traffic", &["1.0e13 happenings, that is 11.6 days"]);
    let period = "{ distribution = \"constant\", mean = \"1 ns\" }";
    let traffic = format!("{{ kind = \"bulk-on-off\", on = {period}, off = {period} }}");
    let said = complaint(Text { traffic: &traffic, duration: "10000 s", ..SOUND });
    assert_refused(&said, "flow[0].traffic", &["happenings, that is "]);
}

#[test]
fn links_that_change_their_state_every_nanosecond_are_counted() {
    for loss in [
        "{ model = \"handoff\", up = \"1 ns\", down = \"1 ns\" }",
        "{ model = \"markov\", good = \"1 ns\", bad = \"1 ns\" }",
    ] {
        let topology = format!("preset = \"dumbbell\"\nbottleneck = {{ loss = {loss} }}");
        let said = complaint(Text { topology: &topology, duration: "10000 s", ..SOUND });
        assert_refused(&said, "topology.loss", &["change their state 1.0e13 times, that is 11.6 days of computing"]);
    }
}

#[test]
fn a_list_that_every_flow_copies_is_counted() {
    let timely: Vec<String> = (1..5000).map(|millis| format!("\"{millis} ms\"")).collect();
    let flow = format!("count = 2000000\ntimely = [{}]", timely.join(","));
    let said = complaint(Text { flow: &flow, ..SOUND });
    assert_refused(&said, "flow[0].count", &["each with what is written here, would need about", "GB of memory"]);
}

#[test]
fn a_pattern_that_every_link_copies_is_counted() {
    let text = format!(
        "name = \"x\"\nduration = \"1 s\"\n[[link]]\nfrom = \"s{{i}}\"\nto = \"r\"\ncount = 1000000\nrate = \"1 Mb/s\"\n\
         delay = \"1 ms\"\nloss = {{ model = \"pattern\", pattern = \"{}\" }}\n[[flow]]\nname = \"a\"\nfrom = \"s0\"\nto = \"s1\"\n\
         transport = \"tcp/reno\"\ntraffic = \"bulk\"\n",
        "0001".repeat(10_000)
    );
    assert_refused(
        &said(&text),
        "link[0].count",
        &["1000000 links, each with what is written here, would need about 40."],
    );
}

#[test]
fn buffers_are_refused_with_their_memory_however_they_are_written() {
    for (capacity, cost) in [
        ("{ packets = 4000000000 }", "a buffer of 4000000000 packets, as before `r1>r2`, would need about 256.0 GB"),
        ("{ bytes = 1000000000000000000 }", "1600.0 PB of memory"),
        ("{ bdp = 1e30 }", "274.9 GB of memory"),
    ] {
        let topology = format!("preset = \"dumbbell\"\nbottleneck = {{ queue = {{ capacity = {capacity} }} }}");
        assert_refused(&complaint(Text { topology: &topology, ..SOUND }), "topology.queue.capacity", &[cost]);
    }
    let topology = "preset = \"dumbbell\"\nbottleneck = { queue = { capacity = { packets = 1000000000000000000 } } }";
    let said = complaint(Text { topology, ..SOUND });
    assert!(
        said.contains("such a buffer would need about 6.4e4 PB of memory") && said.contains("4294967295"),
        "{said}"
    );
}

#[test]
fn managed_queues_before_every_host_are_refused_with_the_room_that_they_take() {
    let topology = "preset = \"dumbbell\"\naccess = { queue = { victim = \"random\", capacity = { packets = 5000 } } }";
    let said = complaint(Text { topology, flow: "count = 100000", duration: "10 ms", ..SOUND });
    assert_refused(&said, "topology.queue", &["managed queues would take about 36.0 GB of memory in advance"]);
    // The lists for 1024 hashes need more memory than the packets.
    let topology =
        "preset = \"dumbbell\"\naccess = { queue = { discipline = \"fq-codel\", capacity = { packets = 100 } } }";
    let said = complaint(Text { topology, flow: "count = 100000", duration: "10 ms", ..SOUND });
    assert_refused(&said, "topology.queue", &["managed queues would take about 36.5 GB of memory in advance"]);
}

#[test]
fn series_count_links_and_what_is_left_as_tables() {
    let bin = "[record]\nbin = \"1 ns\"\nqueues = [\"*\"]";
    let said = complaint(Text { record: bin, duration: "500 ms", ..SOUND });
    assert_refused(&said, "record.bin", &["500000000 bins for each of 1 flows and 6 link directions", "268.0 GB"]);
    let window = "[record]\nwindow-interval = \"1 ns\"\nwindows = [\"a\"]";
    let said = complaint(Text { record: window, duration: "500 ms", ..SOUND });
    assert_refused(&said, "record.window-interval", &["500000000 samples of each of 1 flows", "400.0 GB"]);
}

#[test]
fn a_billion_runs_are_refused_with_their_tables_and_their_time() {
    let text = "name = \"x\"\nduration = \"10 s\"\n[topology]\npreset = \"dumbbell\"\n\
                [[flow]]\nname = \"a\"\ntransport = \"tcp/reno\"\ntraffic = \"bulk\"\n";
    let scenario = Scenario::from_toml(text, "x.toml").expect("a sound scenario");
    assert!(scenario.check_runs(1_000_000, Seed(1)).is_ok());
    let said = scenario.check_runs(1_000_000_000, Seed(1)).expect_err("too many").to_string();
    for words in
        ["1000000000 runs would leave about 30.0 TB of tables", "days of computing", "up to 1000000 runs", "help: "]
    {
        assert!(said.contains(words), "no `{words}` in\n{said}");
    }
}

#[test]
fn arrivals_without_number_are_refused() {
    let files = Text { flow: "arrivals = \"1e9 per s\"", traffic: "{ kind = \"transfer\", size = \"1 B\" }", ..SOUND };
    let said = complaint(files);
    assert!(said.contains("up to 2000000 flows in all") && said.contains("let fewer arrive"), "{said}");
    let short = Text { flow: "arrivals = { load = \"1000 Gb/s\" }", ..files };
    assert!(complaint(short).contains("up to 2000000 flows"));
}

#[test]
fn files_that_no_memory_holds_and_pages_that_nobody_reads_are_refused() {
    let files = Text {
        flow: "count = 100000",
        topology: "preset = \"dumbbell\"\nbottleneck = { rate = \"1 Gb/s\" }",
        traffic: "{ kind = \"transfer\", size = \"4 GB\" }",
        ..SOUND
    };
    let said = complaint(files);
    assert!(said.contains("of memory") && said.contains("flows like `a` make and keep"), "{said}");
    let pages = Text {
        duration: "100000 h",
        flow: "count = 1",
        traffic: "{ kind = \"web\", reading = { distribution = \"constant\", mean = \"1 ns\" } }",
        ..files
    };
    let said = complaint(pages);
    assert!(said.contains("packet-hops") || said.contains("happenings") || said.contains("of memory"), "{said}");
}
