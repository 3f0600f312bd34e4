//! Contents of a plan: the expansion of templates, presets and spreads, buffers, routes, and their stability.

use fairwave_core::packet::Class;
use fairwave_core::queue::Capacity;
use fairwave_core::random::Seed;
use fairwave_core::units::{Instant, Span};
use fairwave_scenario::Scenario;
use fairwave_scenario::plan::{LinkPlan, Plan};

fn scenario(text: &str) -> Scenario {
    match Scenario::from_toml(text, "test.toml") {
        Ok(scenario) => scenario,
        Err(error) => panic!("{error}"),
    }
}

fn plan(text: &str) -> Plan {
    match scenario(text).plan(Seed(1)) {
        Ok(plan) => plan,
        Err(error) => panic!("{error}"),
    }
}

fn link<'a>(plan: &'a Plan, name: &str) -> &'a LinkPlan {
    plan.links.iter().find(|link| &*link.name == name).unwrap_or_else(|| panic!("no link {name}"))
}

fn packets(link: &LinkPlan) -> u32 {
    match link.direction.queue.capacity {
        Capacity::Packets(packets) => packets,
        Capacity::Bytes(_) => panic!("{} counts bytes", link.name),
    }
}

fn route(plan: &Plan, links: &[usize]) -> String {
    links.iter().map(|&link| &*plan.links[link].name).collect::<Vec<_>>().join(" ")
}

const DUMBBELL: &str = r#"
name = "dumbbell"
duration = "60 s"
[topology]
preset = "dumbbell"
bottleneck = { rate = "10 Mb/s", delay = "30 ms" }
access = { rate = "100 Mb/s", delay = "10 ms" }
[[flow]]
name = "calls"
count = 4
transport = "udp"
traffic = "voice"
start = { from = "0 s", to = "5 s" }
"#;

#[test]
fn every_flow_of_a_dumbbell_has_its_own_hosts_and_crosses_the_bottleneck() {
    let plan = plan(DUMBBELL);
    assert_eq!(plan.nodes.len(), 2 + 2 * 4);
    assert_eq!(plan.links.len(), 2 * (1 + 2 * 4));
    let flow = &plan.flows[3];
    assert_eq!(flow.name, "calls[3]");
    assert_eq!(route(&plan, &flow.forward), "calls-s3>r1 r1>r2 r2>calls-d3");
    assert_eq!(route(&plan, &flow.backward), "calls-d3>r2 r2>r1 r1>calls-s3");
    assert_eq!((flow.class, flow.stop), (Class::Voice, Instant::NEVER));
    assert_eq!(flow.thresholds, [Span::from_millis(300)]);
}

#[test]
fn a_buffer_of_one_bandwidth_delay_product_counts_1000_byte_packets_over_the_base_round_trip() {
    // 10 Mb/s × (2 × 50 ms) = 1 Mb = 125 packets of 1000 bytes. At 100 Mb/s, ten times as many.
    let plan = plan(DUMBBELL);
    assert_eq!(packets(link(&plan, "r1>r2")), 125);
    assert_eq!(packets(link(&plan, "r2>r1")), 125);
    assert_eq!(packets(link(&plan, "calls-s0>r1")), 1250);
}

#[test]
fn a_buffer_is_never_smaller_than_its_least_and_can_be_given_its_own_round_trip() {
    let with = |capacity: &str| {
        plan(&DUMBBELL.replace("delay = \"30 ms\"", &format!("delay = \"30 ms\", queue = {{ capacity = {capacity} }}")))
    };
    assert_eq!(packets(link(&with("{ bdp = 0.01, at-least-packets = 50 }"), "r1>r2")), 50);
    assert_eq!(packets(link(&with("{ bdp = 2, packet = \"500 B\" }"), "r1>r2")), 500);
    assert_eq!(packets(link(&with("{ bdp = 1, round-trip = \"40 ms\" }"), "r1>r2")), 50);
}

#[test]
fn buffers_do_not_depend_on_the_seed_when_delays_are_random() {
    let text = DUMBBELL.replace("delay = \"10 ms\"", "delay = { from = \"5 ms\", to = \"15 ms\" }");
    let scenario = scenario(&text);
    for seed in 1..5 {
        let plan = scenario.plan(Seed(seed)).expect("a plan");
        assert_eq!(packets(link(&plan, "r1>r2")), 125);
    }
}

#[test]
fn even_spreads_run_from_end_to_end_and_random_ones_differ_by_seed() {
    let spread = |how: &str| {
        scenario(&DUMBBELL.replace(
            "delay = \"10 ms\"",
            &format!("delay = {{ from = \"5 ms\", to = \"15 ms\", spread = \"{how}\" }}"),
        ))
    };
    let delays = |scenario: &Scenario, seed: u64| -> Vec<Span> {
        let plan = scenario.plan(Seed(seed)).expect("a plan");
        (0..4).map(|i| link(&plan, &format!("calls-s{i}>r1")).direction.delay).collect()
    };
    let even = delays(&spread("even"), 1);
    assert_eq!((even[0], even[3]), (Span::from_millis(5), Span::from_millis(15)));
    let random = spread("random");
    assert_ne!(delays(&random, 1), delays(&random, 2));
    assert_eq!(delays(&random, 1), delays(&random, 1));
}

#[test]
fn more_flows_or_other_groups_leave_the_random_numbers_of_a_flow_as_they_were() {
    let text = DUMBBELL.replace("delay = \"10 ms\"", "delay = { from = \"5 ms\", to = \"15 ms\" }");
    let few = plan(&text);
    let more = plan(&text.replace("count = 4", "count = 9").replace(
        "[[flow]]",
        "[[flow]]\nname = \"others\"\ncount = 2\ntransport = \"udp\"\ntraffic = \"voice\"\nstart = { from = \"0 s\", to = \"5 s\" }\n[[flow]]",
    ));
    for flow in &few.flows {
        let same = more.flows.iter().find(|other| other.name == flow.name).expect("the flow is still there");
        assert_eq!(flow.start, same.start);
        let access = format!("{}>r1", few.nodes[flow.from]);
        assert_eq!(link(&few, &access).direction.delay, link(&more, &access).direction.delay);
    }
}

#[test]
fn starts_are_drawn_from_the_range_or_follow_each_other() {
    let drawn = plan(DUMBBELL);
    assert!(drawn.flows.iter().all(|flow| flow.start < Instant::from_seconds(5.0)));
    assert_ne!(drawn.flows[0].start, drawn.flows[1].start);
    let every = plan(&DUMBBELL.replace("{ from = \"0 s\", to = \"5 s\" }", "{ every = \"10 ms\", from = \"1 s\" }"));
    let starts: Vec<f64> = every.flows.iter().map(|flow| flow.start.seconds()).collect();
    assert_eq!(starts, [1.0, 1.01, 1.02, 1.03]);
}

#[test]
fn the_two_bottleneck_preset_leads_calls_over_both_and_cross_traffic_over_the_second() {
    let plan = plan(
        r#"
name = "two bottlenecks"
duration = "60 s"
[topology]
preset = "two-bottleneck"
[[flow]]
name = "voice"
count = 2
transport = "udp"
traffic = "voice"
[[flow]]
name = "cross"
path = "cross"
transport = "udp"
traffic = "voice"
"#,
    );
    assert_eq!(route(&plan, &plan.flows[1].forward), "voice-s1>r1 r1>r2 r2>r3 r3>voice-d1");
    assert_eq!(route(&plan, &plan.flows[2].forward), "cross-s0>r2 r2>r3 r3>cross-d0");
    // The voice sinks' links are wireless: slow, and lossy in both directions. The cross traffic's links are not.
    for name in ["r3>voice-d1", "voice-d1>r3"] {
        let wireless = link(&plan, name);
        assert_eq!(wireless.direction.rate.nominal(), "2 Mb/s".parse().expect("a rate"));
        assert_eq!(wireless.direction.loss, fairwave_core::loss::BernoulliConfig { rate: 0.01 }.into());
    }
    assert_eq!(link(&plan, "r3>cross-d0").direction.loss, fairwave_core::loss::LossConfig::default());
}

#[test]
fn a_multi_hop_network_has_cross_traffic_on_every_hop_in_both_directions() {
    for hops in [1, 3] {
        let plan = plan(&format!(
            r#"
name = "hops"
duration = "60 s"
[topology]
preset = "multi-hop"
hops = {hops}
[[flow]]
name = "main"
path = "through"
transport = "udp"
traffic = "voice"
[[flow]]
name = "there"
path = "each-hop"
transport = "udp"
traffic = "voice"
[[flow]]
name = "back"
path = "each-hop-reverse"
transport = "udp"
traffic = "voice"
"#
        ));
        assert_eq!(plan.flows.len(), 1 + 2 * hops);
        assert_eq!(plan.flows[0].forward.len(), hops + 2);
        let last = &plan.flows[hops];
        let (before, after) = (hops - 1, hops);
        assert_eq!(
            route(&plan, &last.forward),
            format!("there-s{before}>r{before} r{before}>r{after} r{after}>there-d{before}")
        );
        let back = &plan.flows[2 * hops];
        assert_eq!(
            route(&plan, &back.forward),
            format!("back-s{before}>r{after} r{after}>r{before} r{before}>back-d{before}")
        );
    }
}

#[test]
fn a_group_may_refine_the_links_of_its_own_hosts() {
    let plan = plan(&format!("{DUMBBELL}sink-access = {{ delay = \"100 ms\", reverse = {{ rate = \"1 Mb/s\" }} }}\n"));
    assert_eq!(link(&plan, "r2>calls-d0").direction.delay, Span::from_millis(100));
    assert_eq!(link(&plan, "calls-d0>r2").direction.rate.nominal(), "1 Mb/s".parse().expect("a rate"));
    assert_eq!(link(&plan, "calls-s0>r1").direction.delay, Span::from_millis(10));
}

#[test]
fn an_expanded_preset_is_the_same_plan_written_out() {
    let preset = scenario(DUMBBELL);
    let expanded = preset.expand_preset().expect("an expansion");
    assert!(expanded.topology.is_none());
    let written = expanded.to_toml().expect("TOML");
    let read = scenario(&written);
    assert_eq!(
        format!("{:?}", preset.plan(Seed(3)).expect("a plan")),
        format!("{:?}", read.plan(Seed(3)).expect("a plan"))
    );
}

#[test]
fn the_expansion_of_the_dumbbell_reads_as_it_should() {
    let text = scenario(DUMBBELL).expand_preset().expect("an expansion").to_toml().expect("TOML");
    assert_eq!(
        text,
        r#"version = "0.1"
name = "dumbbell"
duration = "60 s"

[[link]]
from = "r1"
to = "r2"
rate = "10 Mb/s"
delay = "30 ms"

[[link]]
count = 4
from = "calls-s{i}"
to = "r1"
rate = "100 Mb/s"
delay = "10 ms"

[[link]]
count = 4
from = "r2"
to = "calls-d{i}"
rate = "100 Mb/s"
delay = "10 ms"

[[flow]]
name = "calls"
count = 4
from = "calls-s{i}"
to = "calls-d{i}"
transport = { name = "udp" }
traffic = { kind = "voice" }
start = { from = "0 s", to = "5 s", spread = "random" }
"#
    );
}

#[test]
fn recorded_flows_and_queues_are_found_by_name() {
    let plan = plan(&format!(
        "{DUMBBELL}[record]\nbin = \"100 ms\"\nqueues = [\"r1>r2\"]\nunits = [\"calls[1..3]\"]\nwindows = [\"*\"]\n\
         window-interval = \"10 ms\"\n"
    ));
    assert_eq!(plan.record.units, [1, 2]);
    assert_eq!(plan.record.windows, [0, 1, 2, 3]);
    assert_eq!(&*plan.links[plan.record.queues[0]].name, "r1>r2");
}

#[test]
fn a_hundred_thousand_flows_are_planned() {
    let plan = plan(&DUMBBELL.replace("count = 4", "count = 100_000"));
    assert_eq!(plan.flows.len(), 100_000);
    assert_eq!(route(&plan, &plan.flows[99_999].forward), "calls-s99999>r1 r1>r2 r2>calls-d99999");
}

#[test]
fn a_link_whose_queue_idles_under_udp_is_told_of_where_udp_crosses_it() {
    let cautions = |queue: &str, transport: &str| {
        let text = format!(
            r#"
            name = "avq"
            duration = "1 s"
            [topology]
            preset = "dumbbell"
            bottleneck = {{ rate = "1 Mb/s", delay = "10 ms", queue = {queue} }}
            [[flow]]
            name = "stream"
            transport = "{transport}"
            traffic = {{ kind = "cbr", rate = "2 Mb/s" }}
            "#
        );
        let plan = Scenario::from_toml(&text, "").expect("a scenario").plan(Seed(1)).expect("a plan");
        plan.cautions().into_iter().map(|(link, words)| format!("{link}: {words}")).collect::<Vec<_>>()
    };
    let said = cautions(r#"{ discipline = "avq" }"#, "udp");
    assert!(said.len() == 1 && said[0].starts_with("r1>r2: ") && said[0].contains("preset = \"ns2\""), "{said:?}");
    assert!(cautions(r#"{ discipline = "avq" }"#, "tcp/newreno").is_empty());
    assert!(cautions(r#"{ discipline = "avq", preset = "ns2" }"#, "udp").is_empty());
    assert!(cautions(r#"{ discipline = "red" }"#, "udp").is_empty());
}

const GUESTS: &str = r#"
name = "guests"
duration = "100 s"
[topology]
preset = "dumbbell"
[[flow]]
name = "files"
count = 3
transport = "tcp/sack"
traffic = { kind = "transfer", size = "100 kB" }
arrivals = { load = "4 Mb/s", at-most = 7 }
start = "20 s"
stop = "80 s"
[[flow]]
name = "talk"
count = 2
transport = "udp"
traffic = "conversation"
[record]
units = ["talk[3]", "files[2..5]"]
"#;

#[test]
fn arrivals_are_planned_flows_in_order_between_the_pairs_of_hosts() {
    let plan = plan(GUESTS);
    let files: Vec<_> = plan.flows.iter().filter(|flow| flow.group == 0).collect();
    // 5 per second for a minute: 300, give or take 17.
    assert!((230..370).contains(&files.len()), "{}", files.len());
    let at = |seconds| Instant::ZERO + Span::from_secs(seconds);
    assert!(files.iter().all(|flow| (at(20)..at(80)).contains(&flow.start) && flow.stop == Instant::NEVER));
    assert!(files.windows(2).all(|pair| pair[0].start <= pair[1].start));
    assert_eq!((files[4].name.as_str(), files[4].at_most), ("files[4]", Some(7)));
    for pair in 0..3 {
        let host = format!("files-s{pair}");
        let of_pair = files.iter().filter(|flow| plan.nodes[flow.from] == host).count();
        assert!((60..140).contains(&of_pair), "{of_pair}");
    }
    assert_eq!(plan.nodes.iter().filter(|node| node.starts_with("files-s")).count(), 3);
}

#[test]
fn a_conversation_is_a_flow_there_and_a_flow_back() {
    let plan = plan(GUESTS);
    let talk: Vec<_> = plan.flows.iter().filter(|flow| flow.group == 1).collect();
    assert_eq!(
        talk.iter().map(|flow| flow.name.as_str()).collect::<Vec<_>>(),
        ["talk[0]", "talk[1]", "talk[2]", "talk[3]"]
    );
    for pair in talk.chunks(2) {
        assert_eq!((pair[0].from, pair[0].to), (pair[1].to, pair[1].from));
        assert_eq!((&pair[0].forward, &pair[0].backward), (&pair[1].backward, &pair[1].forward));
        let of = |flow: &fairwave_scenario::plan::FlowPlan| {
            flow.partner.map(|partner| plan.flows[partner.flow].name.clone())
        };
        assert_eq!((of(pair[0]), of(pair[1])), (Some(pair[1].name.clone()), Some(pair[0].name.clone())));
        assert_eq!(pair[0].class, Class::Voice);
    }
    assert_eq!(plan.record.units.len(), 4);
}

#[test]
fn no_buffer_depends_on_who_arrives() {
    let buffers = |seed| {
        let plan = scenario(GUESTS).plan(Seed(seed)).expect("a plan");
        plan.links.iter().map(packets).collect::<Vec<_>>()
    };
    assert_eq!(buffers(1), buffers(2));
}

#[test]
fn who_asks_for_marks_where_no_queue_on_the_way_marks_is_told_so_once_for_a_group() {
    let in_vain = |queue: &str, transport: &str| {
        let text = format!(
            r#"
            name = "marks"
            duration = "1 s"
            [topology]
            preset = "dumbbell"
            bottleneck = {{ rate = "1 Mb/s", delay = "10 ms", queue = {queue} }}
            [[flow]]
            name = "asks"
            count = 3
            transport = {transport}
            traffic = "bulk"
            [[flow]]
            name = "other"
            transport = "tcp/sack"
            traffic = "bulk"
            "#
        );
        let plan = Scenario::from_toml(&text, "").expect("a scenario").plan(Seed(1)).expect("a plan");
        plan.cautions().into_iter().map(|(name, words)| (name.to_owned(), words)).collect::<Vec<_>>()
    };
    let said = in_vain(r#"{ discipline = "codel" }"#, r#""tcp/prague""#);
    assert_eq!(said.len(), 1);
    assert_eq!(said[0].0, "asks");
    assert!(said[0].1.contains("ecn = true") && said[0].1.contains(r#"ecn = "none""#), "{}", said[0].1);
    let classic = r#"{ name = "tcp/cubic", ecn = "classic" }"#;
    assert_eq!(in_vain(r#""drop-tail""#, classic).len(), 1);
    assert_eq!(in_vain(r#""fq-pie""#, classic).len(), 1, "not unless it is told to");
    assert!(in_vain(r#""drop-tail""#, r#""tcp/cubic""#).is_empty(), "does not ask");
    assert!(in_vain(r#""drop-tail""#, r#"{ name = "tcp/prague", ecn = "none" }"#).is_empty(), "does not ask any more");
    for marking in [r#"{ discipline = "codel", ecn = true }"#, r#""fq-codel""#, r#""dualpi2""#, r#""cake""#] {
        assert!(in_vain(marking, classic).is_empty(), "{marking}");
    }
}

#[test]
fn sources_begin_at_random_moments_unless_the_preset_is_ns2s_or_the_scenario_says_so() {
    let phase = |preset: &str, traffic: &str| {
        let text = format!(
            "{}preset = \"{preset}\"\ntopology = {{ preset = \"dumbbell\" }}\n[[flow]]\nname = \"a\"\ntransport = \"udp\"\ntraffic = {traffic}\n",
            "name = \"phases\"\nduration = \"10 s\"\n"
        );
        let scenario = scenario(&text);
        let [planned, spelled] = [scenario.clone(), scenario.spelled_out()]
            .map(|one| one.plan(Seed(1)).expect("a plan").to_json().expect("JSON")["flows"][0]["traffic"].clone());
        assert_eq!(planned, spelled, "{text}");
        planned["phase"].as_str().map(str::to_owned)
    };
    let cbr = r#"{ kind = "cbr", rate = "1 Mb/s" }"#;
    let zero = r#"{ kind = "cbr", rate = "1 Mb/s", phase = "zero" }"#;
    for preset in ["rfc", "linux"] {
        assert_eq!(phase(preset, cbr).as_deref(), Some("random"), "{preset}");
        assert_eq!(phase(preset, zero).as_deref(), Some("zero"), "{preset}");
    }
    for preset in ["ns2", "ns2-2004"] {
        assert_eq!(phase(preset, cbr).as_deref(), Some("zero"), "{preset}");
        assert_eq!(phase(preset, "\"video\"").as_deref(), Some("zero"), "{preset}");
        assert_eq!(phase(preset, "{ kind = \"voice\", always-on = false }").as_deref(), Some("zero"), "{preset}");
        assert_eq!(phase(preset, "\"voice\"").as_deref(), Some("random"), "{preset}: ns-2 has no such source");
        assert_eq!(phase(preset, "{ kind = \"video\", phase = \"random\" }").as_deref(), Some("random"), "{preset}");
    }
}

#[test]
fn dctcp_with_ect_0_behind_a_queue_for_l4s_is_told_that_it_is_taken_for_a_classic_tcp() {
    let said = |queue: &str, transport: &str| {
        let text = format!(
            r#"
            name = "marks"
            duration = "1 s"
            [topology]
            preset = "dumbbell"
            bottleneck = {{ rate = "10 Mb/s", delay = "10 ms", queue = {queue} }}
            [[flow]]
            name = "center"
            count = 3
            transport = {transport}
            traffic = "bulk"
            "#
        );
        let plan = Scenario::from_toml(&text, "").expect("a scenario").plan(Seed(1)).expect("a plan");
        plan.cautions().into_iter().map(|(name, words)| (name.to_owned(), words)).collect::<Vec<_>>()
    };
    let cautions = said(r#""dualpi2""#, r#""tcp/dctcp""#);
    assert_eq!(cautions.len(), 1, "once for a group");
    assert_eq!(cautions[0].0, "center");
    assert!(
        cautions[0].1.contains(r#"ecn = "scalable""#) && cautions[0].1.contains("dualpi2 of r1>r2"),
        "{cautions:?}"
    );
    assert!(said(r#""dualpi2""#, r#"{ name = "tcp/dctcp", ecn = "scalable" }"#).is_empty(), "in the L queue");
    assert!(said(r#""dualpi2""#, r#"{ name = "tcp/dctcp", ecn = "classic" }"#).is_empty(), "yields as to a loss");
    assert!(
        said(r#""dualpi2""#, r#"{ name = "tcp/cubic", ecn = "accurate" }"#).is_empty(),
        "counts, and yields as to a loss"
    );
    let switch =
        r#"{ discipline = "red", min-threshold = 20, max-threshold = 20, weight = 1.0, ecn = true, harddrop = false,
                     capacity = { packets = 100 } }"#
            .replace('\n', " ");
    assert!(said(&switch, r#""tcp/dctcp""#).is_empty(), "what the caution says to write");
}
