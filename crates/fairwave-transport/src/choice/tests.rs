//! Tests of the notation of transports, and of rejected choices.

use super::*;
use crate::tcp::control::{self, AimdConfig, ControlLaw, Controller, Path, Verdict, Window};
use crate::tcp::{Preset, Recovery, Tcp, TcpConfig};
use fairwave_units::registry::Checked;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

fn read(json: &str) -> Result<TransportConfig, serde_json::Error> {
    serde_json::from_str(json)
}

fn refused(json: &str) -> String {
    match read(json) {
        Ok(config) => config.check().expect_err("out of range").to_string(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_name_alone_stands_for_the_defaults() {
    let needs_none = |table: &Value| table.as_object().is_some_and(|keys| keys.len() == 1);
    for example in TransportConfig::shortest_tables().iter().filter(|table| needs_none(table)) {
        let name = example["name"].as_str().expect("a name");
        let config = read(&format!("\"{name}\"")).expect("a transport");
        assert_eq!((config.name(), config.label().as_str()), (name, name));
        assert_eq!(read(&format!("{{\"name\": \"{name}\"}}")).expect("a transport"), config);
        assert_eq!(name.parse::<TransportConfig>().expect("a transport"), config);
        config.check().expect("defaults are in range");
    }
}

#[test]
fn every_transports_example_is_in_range_and_read_as_it_is_written() {
    for example in TransportConfig::examples() {
        let config: TransportConfig =
            serde_json::from_value(example.clone()).unwrap_or_else(|error| panic!("{example}: {error}"));
        config.check().unwrap_or_else(|error| panic!("{example}: {error}"));
        let written = serde_json::to_value(&config).expect("a table");
        assert_eq!(serde_json::from_value::<TransportConfig>(written).expect("a transport"), config);
    }
}

#[test]
fn transports_are_listed_in_the_order_of_the_lists() {
    let names = "udp tfrc dvrc rtcp tcp/tahoe tcp/reno tcp/newreno tcp/sack tcp/aimd tcp/gamma tcp/gamma-delta tcp/vegas \
                 tcp/westwood tcp/westwood+ tcp/real";
    let known: Vec<&str> = names.split(' ').collect();
    let listed: Vec<&str> = TransportConfig::BUILT_IN.iter().copied().filter(|name| known.contains(name)).collect();
    assert_eq!(listed, known);
}

#[test]
fn a_table_sets_the_keys_of_controller_and_connection_and_is_written_as_it_was_read() {
    let text = r#"{"alpha":0.31,"beta":0.875,"min-rto":"200 ms","name":"tcp/aimd","preset":"ns2","recovery":"sack"}"#;
    let config = read(text).expect("a transport");
    let TransportConfig::Aimd(Tcp { law, connection }) = &config else { panic!("{config:?}") };
    assert_eq!(*law, AimdConfig { alpha: Some(0.31), beta: Some(0.875) });
    assert_eq!(connection.min_rto, Some(Span::from_millis(200)));
    assert_eq!((connection.preset, connection.recovery), (Preset::Ns2, Some(Recovery::Sack)));
    assert_eq!(serde_json::to_string(&config).expect("text"), text);
    assert_eq!(config.label(), "tcp/aimd(0.31, 0.875)");
}

#[test]
fn a_label_shows_both_parameters_when_one_is_set() {
    let label = |text: &str| read(text).expect("a transport").label();
    assert_eq!(label(r#"{"name":"tcp/aimd","beta":0.875}"#), "tcp/aimd(1, 0.875)");
    assert_eq!(label(r#"{"name":"tcp/gamma","alpha":0.31}"#), "tcp/gamma(0.31, 0.5)");
    assert_eq!(label(r#"{"name":"tcp/gamma-delta","alpha":0.31,"delta":3}"#), "tcp/gamma-delta(0.31, 0.5)");
    assert_eq!(label(r#"{"name":"tcp/gamma","upper":0.6}"#), "tcp/gamma");
    assert_eq!(label(r#"{"name":"tcp/vegas","alpha":2}"#), "tcp/vegas");
}

#[test]
fn each_controller_states_its_recovery_and_whether_it_wants_waves() {
    let parameters = |name: &str| name.parse::<TransportConfig>().expect("a transport").tcp().expect("a TCP");
    for (name, recovery) in [
        ("tcp/tahoe", Recovery::Tahoe),
        ("tcp/reno", Recovery::Reno),
        ("tcp/newreno", Recovery::Newreno),
        // Linux, the default, uses RACK-TLP for controllers that require SACK.
        ("tcp/sack", Recovery::Rack),
        ("tcp/aimd", Recovery::Reno),
        ("tcp/gamma", Recovery::Reno),
        ("tcp/gamma-delta", Recovery::Reno),
        ("tcp/vegas", Recovery::Vegas),
        ("tcp/westwood", Recovery::Reno),
        ("tcp/westwood+", Recovery::Newreno),
        ("tcp/real", Recovery::Newreno),
    ] {
        assert_eq!(parameters(name).recovery, recovery, "{name}");
        assert_eq!(parameters(name).waves, name == "tcp/real", "{name}");
    }
    assert!("tfrc".parse::<TransportConfig>().expect("a transport").tcp().is_none());
}

#[test]
fn the_scenarios_choice_of_recovery_wins() {
    let config = read(r#"{"name":"tcp/vegas","recovery":"sack"}"#).expect("a transport");
    assert_eq!(config.tcp().expect("a TCP").recovery, Recovery::Sack);
}

#[test]
fn unknown_names_are_refused_with_all_that_there_are() {
    for error in [refused("\"tcp/vages\""), "tcp/vages".parse::<TransportConfig>().expect_err("unknown").to_string()] {
        assert!(error.contains("tcp/vages") && error.contains("tcp/vegas") && error.contains("udp"), "{error}");
    }
    assert!(refused(r#"{"alpha":1}"#).contains("missing field `name`"));
    assert!(refused("3").contains("map"));
}

#[test]
fn an_unknown_key_is_refused_with_those_of_controller_and_connection() {
    let error = refused(r#"{"name":"tcp/aimd","apha":1}"#);
    for word in ["unknown field `apha`", "`alpha`", "`beta`", "`min-rto`", "`receiver-window`", "`preset`"] {
        assert!(error.contains(word), "{word} in {error}");
    }
    assert!(!error.contains("`gamma`"), "{error}");
    let error = refused(r#"{"name":"tcp/reno","recoverie":"sack"}"#);
    assert!(error.contains("unknown field `recoverie`, expected one of `") && error.contains("`recovery`"), "{error}");
}

#[test]
fn a_key_of_another_controller_is_refused_with_whose_it_is() {
    let error = refused(r#"{"name":"tcp/reno","alpha":2}"#);
    let (what, owners) = error.split_once(" (it belongs to ").expect("whose it is");
    assert_eq!(what, "`alpha` is 2, but must be left out with tcp/reno");
    assert!(owners.starts_with("tcp/aimd, tcp/sqrt, tcp/iiad, tcp/gamma, tcp/gamma-delta, tcp/vegas"), "{error}");
    assert!(owners.ends_with("); write for example `name = \"tcp/aimd\"`"), "{error}");
    assert!(refused(r#"{"name":"tcp/vegas","hold":0.1}"#).contains("(it belongs to tcp/real"));
    assert!(refused(r#"{"name":"tcp/real","max-payload":"1 kB"}"#).contains("(it belongs to udp, rtcp"));
}

#[test]
fn values_of_the_wrong_kind_are_refused() {
    assert!(refused(r#"{"name":"tcp/aimd","alpha":"much"}"#).contains("expected f64"));
    assert!(refused(r#"{"name":"tcp/aimd","segment":true}"#).contains("boolean"));
}

#[test]
fn values_out_of_range_are_refused_with_key_range_and_example() {
    let error = refused(r#"{"name":"tcp/aimd","beta":1.5}"#);
    assert!(
        error.contains("`beta` is 1.5") && error.contains("above 0 and below 1") && error.contains("beta = 0.875"),
        "{error}"
    );
    for (table, word) in [
        (r#"{"name":"tcp/aimd","alpha":0}"#, "above 0"),
        (r#"{"name":"tcp/aimd","beta":0}"#, "above 0"),
        (r#"{"name":"tcp/gamma","alpha":-1}"#, "above 0"),
        (r#"{"name":"tcp/gamma","upper":1}"#, "below 1"),
        (r#"{"name":"tcp/gamma-delta","delta":0}"#, "above 0"),
        (r#"{"name":"tcp/gamma-delta","upper":1}"#, "below 1"),
        (r#"{"name":"tcp/gamma-delta","lower":0.6}"#, "below 0.5"),
        (r#"{"name":"tcp/gamma-delta","upper":0.8,"lower":0.9}"#, "below 0.8"),
        (r#"{"name":"tcp/vegas","alpha":0}"#, "alpha = 1"),
        (r#"{"name":"tcp/vegas","alpha":4,"beta":3}"#, "above 4"),
        (r#"{"name":"tcp/vegas","gamma":0}"#, "gamma = 1"),
        (r#"{"name":"tcp/westwood","filter":1}"#, "below 1"),
        (r#"{"name":"tcp/westwood+","filter":-0.1}"#, "from 0"),
        (r#"{"name":"tcp/real","gamma":1}"#, "gamma = 0.125"),
        (r#"{"name":"tcp/real","hold":1}"#, "hold = 0.01"),
        (r#"{"name":"tcp/real","jitter":-1}"#, "jitter = 0.5"),
        (r#"{"name":"tcp/real","hold":0.2,"cut":0.1}"#, "from hold (0.2)"),
        (r#"{"name":"tcp/real","cut":1}"#, "below 1"),
        (r#"{"name":"tcp/sack","receiver-window":0}"#, "receiver-window"),
        (r#"{"name":"tcp/sack","segment":"70 kB"}"#, "65535"),
        (r#"{"name":"tcp/sack","max-rto":"10 ms"}"#, "min-rto"),
    ] {
        let error = refused(table);
        assert!(error.contains(word), "{table}: {error}");
    }
}

#[test]
fn what_is_in_range_up_to_its_bounds_is_accepted() {
    for table in [
        r#"{"name":"tcp/gamma-delta","upper":0.8,"lower":0.7,"delta":5,"alpha":7,"beta":0.99}"#,
        r#"{"name":"tcp/vegas","alpha":4,"beta":5,"gamma":9}"#,
        r#"{"name":"tcp/westwood","filter":0}"#,
        r#"{"name":"tcp/real","hold":0,"cut":0,"jitter":0,"gamma":0.5}"#,
    ] {
        read(table).expect("well-formed").check().expect("in range");
    }
}

#[test]
fn no_key_belongs_to_both_controller_and_connection() {
    let connection = keys_of(&SchemaGenerator::default().into_root_schema_for::<TcpConfig>());
    assert!(connection.contains(&"receiver-window".to_owned()));
    for (name, schema) in laws() {
        let twice: Vec<_> = schema.into_iter().filter(|key| connection.contains(key)).collect();
        assert!(twice.is_empty(), "{name}: {twice:?}");
    }
}

/// The keys of each controller alone.
fn laws() -> Vec<(&'static str, Vec<String>)> {
    macro_rules! keys {
        (() $($file:ident { $($Variant:ident($Config:ident)),+ $(,)? })+) => {
            vec![$($((
                <control::$Config as Law>::NAME,
                keys_of(&SchemaGenerator::default().into_root_schema_for::<control::$Config>()),
            )),+),+]
        };
    }
    controllers! { keys! () }
}

#[test]
fn each_transport_states_what_others_must_know_of_it() {
    let known = |text: &str| read(text).expect("a transport");
    let sizes = |text: &str| {
        let PacketSize { payload, header } = known(text).packet(false);
        (payload.get(), header.get())
    };
    assert_eq!(sizes(r#"{"name":"udp","header":"12 B"}"#), (1200, 12));
    assert_eq!(sizes(r#"{"name":"tfrc"}"#), (1200, 32));
    assert_eq!(known("\"tfrc\"").packet(true).payload, Bytes::new(1000));
    assert_eq!(sizes(r#"{"name":"dvrc"}"#), (1200, 60));
    assert_eq!(sizes(r#"{"name":"rtcp","max-payload":"500 B"}"#), (500, 40));
    assert_eq!(sizes(r#"{"name":"tcp/real","segment":"1460 B","header":"52 B"}"#), (1460, 52));

    // Only transports listed here; transports added to the list define their properties themselves.
    let names = |holds: fn(&TransportConfig) -> bool| -> Vec<&str> {
        let all = ["udp", "tfrc", "dvrc", "rtcp", "rap", "tcp/sack", "tcp/vegas", "tcp/real", "tcp/bbr"];
        all.into_iter().filter(|name| holds(&name.parse().expect("a transport"))).collect()
    };
    assert_eq!(names(|t| !t.controls_rate()), ["udp", "rtcp"]);
    assert_eq!(names(|t| !t.carries_bulk()), ["udp"]);
    let judges = |t: &TransportConfig| {
        let ends =
            t.endpoints(FlowContext::default(), fairwave_units::random::Seed(1).stream("ends")).expect("endpoints");
        ends.1.judges_losses()
    };
    assert_eq!(names(judges), ["dvrc"]);
    assert_eq!(names(|t| t.tcp().is_none()), ["udp", "tfrc", "dvrc", "rtcp", "rap"]);
    assert_eq!(names(|t| t.like_ns2().is_none()), ["dvrc", "rtcp", "rap"]);
    assert_eq!(known("\"rtcp\"").slowest_timer(), Span::from_secs(5));
    assert_eq!(known(r#"{"name":"tcp/sack","max-rto":"7 s"}"#).slowest_timer(), Span::from_secs(7));
    assert_eq!(known("\"tfrc\"").slowest_timer(), Span::MAX);
}

#[test]
fn what_a_transport_says_as_in_ns2_it_can_read() {
    for mut example in TransportConfig::examples() {
        let config: TransportConfig = serde_json::from_value(example.clone()).expect("a transport");
        let Some((key, value)) = config.like_ns2() else { continue };
        example[key] = value;
        let adjusted: TransportConfig = serde_json::from_value(example.clone()).expect("its own key");
        assert_ne!(adjusted, config, "{example}");
    }
}

/// A law with a constant window.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FixedConfig {
    /// Segments.
    window: u32,
}

impl Checked for FixedConfig {
    fn check(&self) -> Result<(), ConfigError> {
        match self.window {
            0 => Err(ConfigError::new("window", 0, "at least 1 segment", "window = 8")),
            _ => Ok(()),
        }
    }
}

impl Law for FixedConfig {
    const NAME: &'static str = "tcp/fixed";
}

impl ControlLaw for FixedConfig {
    type Controller = Fixed;
    const RECOVERY: Recovery = Recovery::Sack;

    fn controller(&self, _preset: Preset) -> Fixed {
        Fixed(f64::from(self.window))
    }

    fn shown(&self) -> Option<String> {
        Some(self.window.to_string())
    }
}

struct Fixed(f64);

impl Controller for Fixed {
    fn on_ack(&mut self, _path: &Path, window: &mut Window) {
        window.congestion = self.0;
    }
    fn on_loss(&mut self, _path: &Path, _window: &mut Window) -> Verdict {
        Verdict::Congestion
    }
    fn on_timeout(&mut self, _path: &Path, _window: &mut Window) -> Verdict {
        Verdict::Congestion
    }
}

#[test]
fn a_programs_own_controller_is_a_transport_like_any_other() {
    // Another test of this process may have registered it.
    let _ = control::register::<FixedConfig>();
    let again = control::register::<FixedConfig>().expect_err("the name is taken").to_string();
    assert!(again.contains("tcp/fixed") && again.contains("another name"), "{again}");
    assert!(TransportConfig::names().contains(&"tcp/fixed".to_owned()));

    let text = r#"{"name":"tcp/fixed","receiver-window":20,"window":8}"#;
    let config = read(text).expect("a transport");
    assert_eq!(serde_json::to_string(&config).expect("text"), text);
    assert_eq!(config.label(), "tcp/fixed(8)");
    assert_eq!(config.tcp().expect("a TCP").recovery, Recovery::Rack);
    assert!(refused(r#"{"name":"tcp/fixed","window":0}"#).contains("`window` is 0"));
    assert!(refused(r#"{"name":"tcp/fixed","window":8,"alpha":1}"#).contains("belongs to tcp/aimd"));
    assert!(refused(r#"{"name":"tcp/fixed","window":8,"wind":1}"#).contains("`receiver-window`"));
    assert!(refused(r#"{"name":"tcp/reno","window":8}"#).contains("belongs to tcp/fixed"));
    assert!("tcp/fixed".parse::<TransportConfig>().expect_err("it needs a window").to_string().contains("`window`"));
    let context = FlowContext { bulk: true, ..FlowContext::default() };
    let (sender, _) = config.endpoints(context, fairwave_units::random::Seed(1).stream("own")).expect("endpoints");
    assert!(matches!(sender, AnySender::Tcp(_)), "no virtual call but to the controller itself");
}

#[test]
fn a_transport_that_does_not_encode_says_which_one_does() {
    use fairwave_media::encoder::{AudioConfig, Media};
    let media = Media { audio: Some(AudioConfig::default()), video: None, screen: None, ..Media::default() };
    for name in ["udp", "tcp/cubic"] {
        let config: TransportConfig = name.parse().expect("a transport");
        let stream = fairwave_units::random::Seed(1).stream("media");
        let error = config.media_endpoints(FlowContext::default(), &media, stream).err().expect("refused").to_string();
        assert!(error.contains("transport = \"webrtc\""), "{error}");
    }
}
