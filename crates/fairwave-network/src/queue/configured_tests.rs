//! Defaults, written-out values and requirements of every discipline's configuration.

use serde_json::{Value, json};

use super::avq::AvqConfig;
use super::codel::CodelConfig;
use super::discipline::{AnyDisciplineLaw, DisciplineLaw};
use super::fq_codel::FqCodelConfig;
use super::{DisciplineConfig, QueueConfig};

/// Disciplines given by name alone, with all their default values. The numbers come from their sources, see the modules.
const DEFAULTS: [&str; 17] = [
    r#"{"discipline":"drop-tail","victim":"tail"}"#,
    r#"{"discipline":"red","preset":"floyd","victim":"tail"}"#,
    r#"{"discipline":"ared","interval":"500 ms","mean-packet":"500 B","mode":"packets","target-delay":"5 ms","victim":"tail"}"#,
    r#"{"discipline":"avq","alpha":0.15,"gamma":0.98,"mean-packet":"1 kB","victim":"tail"}"#,
    r#"{"discipline":"rem","alpha":0.1,"gamma":0.001,"input-weight":1.0,"interval":"2 ms","mean-packet":"1 kB","mode":"packets","phi":1.001,"target":20.0,"victim":"tail"}"#,
    r#"{"discipline":"green","estimate":"arrived","interval":"10 ms","memory":"100 ms","step":0.001,"target":0.97,"victim":"tail"}"#,
    r#"{"discipline":"choke","candidates":1,"max-p":0.1,"max-threshold":15.0,"mean-packet":"500 B","min-threshold":5.0,"mode":"packets","weight":0.002}"#,
    r#"{"discipline":"fred","many-flows":true,"max-p":0.02,"mean-packet":"500 B","min-queue":2,"weight":0.002}"#,
    r#"{"discipline":"punsi","match":"flow","max-p":0.1,"max-threshold":15.0,"mean-packet":"500 B","min-threshold":5.0,"mode":"packets","recent":10,"weight":0.002}"#,
    r#"{"discipline":"afd","alpha":1.7,"beta":1.8,"interval":"6.25 ms","mean-packet":"500 B","sampling":5.0,"shadow":500}"#,
    r#"{"discipline":"csfq","flow-memory":"100 ms","link-memory":"200 ms"}"#,
    r#"{"discipline":"codel","interval":"100 ms","mtu":"1.5 kB","target":"5 ms","victim":"tail"}"#,
    r#"{"discipline":"pie","alpha":0.125,"beta":1.25,"max-burst":"150 ms","mean-packet":"1 kB","target":"15 ms","update":"15 ms","victim":"tail"}"#,
    r#"{"discipline":"fq-codel","drop-batch":64,"ecn":true,"flows":1024,"interval":"100 ms","memory-limit":"33.554432 MB","quantum":"1.514 kB","target":"5 ms"}"#,
    r#"{"discipline":"fq-pie","alpha":0.125,"beta":1.25,"flows":1024,"max-burst":"150 ms","mean-packet":"1.514 kB","memory-limit":"33.554432 MB","quantum":"1.514 kB","target":"15 ms","update":"15 ms","victim":"tail"}"#,
    r#"{"discipline":"dualpi2","alpha":0.16,"beta":3.2,"coupling-factor":2.0,"drop-on-overload":true,"min-qlen-step":1,"range":"0 s","scheduler":"wrr","step-thresh":"1 ms","target":"15 ms","tupdate":"16 ms","victim":"tail"}"#,
    r#"{"discipline":"cake","diffserv":"diffserv3","isolation":"triple-isolate","rtt":"100 ms"}"#,
];

/// Disciplines with another value for every key.
const OTHERS: [&str; 17] = [
    r#"{"discipline":"drop-tail","victim":"front"}"#,
    r#"{"discipline":"red","preset":"ns2","victim":"drop-sel","ecn":true,"drop-by-size":true,"gentle":false,"max-p":0.2,"max-threshold":20.0,"mean-packet":"600 B","min-threshold":4.0,"mode":"bytes","wait":true,"weight":0.01}"#,
    r#"{"discipline":"ared","ecn":true,"interval":"400 ms","max-threshold":20.0,"mean-packet":"600 B","min-threshold":4.0,"mode":"bytes","target-delay":"6 ms","victim":"random","weight":0.01}"#,
    r#"{"discipline":"avq","alpha":0.2,"ecn":true,"gamma":0.9,"mean-packet":"600 B","on-victim":"forget","preset":"ns2","victim":"front","virtual-buffer":"9 kB"}"#,
    r#"{"discipline":"rem","alpha":0.2,"ecn":true,"gamma":0.002,"input-weight":0.5,"interval":"3 ms","mean-packet":"600 B","mode":"bytes","phi":1.002,"target":10.0,"victim":"front"}"#,
    r#"{"discipline":"green","estimate":"admitted","interval":"20 ms","memory":"200 ms","step":0.002,"target":0.9,"victim":"front"}"#,
    r#"{"discipline":"choke","candidates":2,"max-p":0.2,"max-threshold":20.0,"mean-packet":"600 B","min-threshold":4.0,"mode":"bytes","weight":0.01}"#,
    r#"{"discipline":"fred","many-flows":false,"max-p":0.1,"max-threshold":20.0,"mean-packet":"600 B","min-queue":4,"min-threshold":4.0,"weight":0.01}"#,
    r#"{"discipline":"punsi","match":"class","max-p":0.2,"max-threshold":20.0,"mean-packet":"600 B","min-threshold":4.0,"mode":"bytes","recent":5,"weight":0.01}"#,
    r#"{"discipline":"afd","alpha":1.0,"beta":1.1,"interval":"10 ms","mean-packet":"600 B","sampling":2.0,"shadow":100,"target":9.0}"#,
    r#"{"discipline":"csfq","flow-memory":"50 ms","link-memory":"60 ms","threshold":"9 kB","window":"70 ms"}"#,
    r#"{"discipline":"codel","ecn":true,"interval":"50 ms","mtu":"600 B","target":"2 ms","victim":"front"}"#,
    r#"{"discipline":"pie","alpha":0.2,"beta":2.0,"ecn":true,"mark-ecnth":0.2,"max-burst":"100 ms","mean-packet":"600 B","target":"20 ms","update":"30 ms","victim":"front"}"#,
    r#"{"discipline":"fq-codel","ce-threshold":"1 ms","drop-batch":8,"ecn":false,"flows":16,"interval":"50 ms","memory-limit":"4 MB","quantum":"300 B","target":"2 ms","victim":"front"}"#,
    r#"{"discipline":"fq-pie","alpha":0.2,"beta":2.0,"ecn":true,"flows":16,"mark-ecnth":0.2,"max-burst":"100 ms","mean-packet":"600 B","memory-limit":"4 MB","quantum":"300 B","target":"20 ms","update":"30 ms","victim":"front"}"#,
    r#"{"discipline":"dualpi2","alpha":0.2,"beta":4.0,"classic-protection":0.2,"coupling-factor":1.5,"drop-on-overload":false,"min-qlen-step":2,"range":"1 ms","scheduler":"ts-fifo","step-packets":3,"step-thresh":"2 ms","target":"20 ms","time-shift":"30 ms","tupdate":"20 ms","victim":"front"}"#,
    r#"{"bandwidth":"10 Mb/s","discipline":"cake","diffserv":"besteffort","framing":"atm","isolation":"flows","mpu":"64 B","overhead":18,"rtt":"50 ms"}"#,
];

fn table(text: &str) -> Value {
    let mut table: Value = serde_json::from_str(text).expect("JSON");
    table["capacity"] = json!({ "packets": 100 });
    table
}

fn queue(table: &Value) -> QueueConfig {
    serde_json::from_value(table.clone()).unwrap_or_else(|error| panic!("{table}: {error}"))
}

#[test]
fn a_discipline_that_is_only_named_has_the_values_that_are_stated() {
    for text in DEFAULTS {
        let stated = table(text);
        let named = json!({ "discipline": stated["discipline"], "capacity": stated["capacity"] });
        assert_eq!(serde_json::to_value(queue(&named)).expect("a table"), stated);
        assert_eq!(serde_json::to_value(queue(&stated)).expect("a table"), stated, "said or not");
    }
}

#[test]
fn what_a_discipline_was_told_it_tells() {
    for text in OTHERS {
        let told = table(text);
        assert_eq!(serde_json::to_value(queue(&told)).expect("a table"), told);
    }
}

#[test]
fn every_disciplines_example_goes_before_a_buffer_and_is_written_as_it_was_read() {
    for mut example in DisciplineConfig::examples() {
        example["capacity"] = json!({ "packets": 100 });
        let told = queue(&example);
        told.check().unwrap_or_else(|error| panic!("{example}: {error}"));
        let written = serde_json::to_value(&told).expect("a table");
        // Serialization writes the keys that a class leaves out; reading the result gives the same value.
        for (key, value) in example.as_object().expect("a table").iter().filter(|(key, _)| *key != "classes") {
            assert_eq!(written[key], *value, "{key} of {example}");
        }
        assert_eq!(queue(&written), told);
    }
}

#[test]
fn disciplines_mark_where_they_are_told_to_and_those_of_today_of_themselves() {
    let marks = |text: &str| queue(&table(text)).discipline.marks();
    let marking = |tables: [&str; 17]| -> Vec<String> {
        let names = tables.iter().filter(|text| marks(text));
        names.map(|text| table(text)["discipline"].as_str().expect("a name").to_owned()).collect()
    };
    assert_eq!(marking(DEFAULTS), ["fq-codel", "dualpi2", "cake"]);
    // FQ-CoDel has `ecn` off, but also a `ce-threshold` above which it still marks.
    let others = ["red", "ared", "avq", "rem", "codel", "pie", "fq-codel", "fq-pie", "dualpi2", "cake"];
    assert_eq!(marking(OTHERS), others);
    assert!(!marks(r#"{"discipline":"fq-codel","ecn":false}"#));
}

#[test]
fn fair_queues_keep_a_list_for_each_of_their_hashes() {
    let lists = |text: &str| queue(&table(text)).discipline.lists();
    let of = |tables: [&str; 17]| tables.iter().map(|text| lists(text)).filter(|lists| *lists > 0).collect::<Vec<_>>();
    assert_eq!(of(DEFAULTS), [1024, 1024, 2, 3 * 1024]);
    assert_eq!(of(OTHERS), [16, 16, 2, 1024]);
}

#[test]
fn a_discipline_behind_a_virtual_call_says_what_it_says_itself() {
    fn erased<L: AnyDisciplineLaw + serde::de::DeserializeOwned + 'static>(table: &str) -> Box<dyn AnyDisciplineLaw> {
        Box::new(serde_json::from_str::<L>(table).expect("a law"))
    }
    assert!(erased::<CodelConfig>(r#"{"ecn":true}"#).marks());
    let plain = erased::<CodelConfig>("{}");
    assert_eq!((plain.marks(), plain.lists(), plain.caution()), (false, 0, None));
    assert_eq!(plain.nature(), CodelConfig::NATURE);
    let fair = erased::<FqCodelConfig>(r#"{"flows":16}"#);
    assert_eq!((fair.lists(), fair.nature()), (16, FqCodelConfig::NATURE));
    assert_ne!(plain.nature(), fair.nature());
    assert!(erased::<AvqConfig>("{}").caution().is_some());
}
