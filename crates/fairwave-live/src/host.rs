//! Transports of the kernel and real programs, as scenarios name them: `transport = "host/cubic"`. These transports
//! have no endpoints here. [`crate::run`] opens sockets for them; a simulated run rejects them and names the simulated
//! equivalent.

use std::sync::OnceLock;

use fairwave_core::config::ConfigError;
use fairwave_core::packet::{Body, Class, Ecn, FlowId, Packet};
use fairwave_core::random::Stream;
use fairwave_core::registry::{Checked, Law, NameTaken};
use fairwave_core::traffic::Unit;
use fairwave_core::transport::{
    FlowContext, Output, PacketSize, Properties, Receiver, Sender, SenderView, TransportConfig, TransportLaw, register,
};
use fairwave_core::units::{Bytes, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Returns the kernel's congestion controller for a transport (`TCP_CONGESTION`); `None` for transports that are not
/// the kernel's.
pub fn controller(transport: &TransportConfig) -> Option<String> {
    let named = match transport.name() {
        HostCubicConfig::NAME => "cubic",
        HostRenoConfig::NAME => "reno",
        HostBbrConfig::NAME => "bbr",
        HostTcpConfig::NAME => {
            let read = serde_json::to_value(transport).and_then(serde_json::from_value::<Named>);
            return Some(read.unwrap_or_default().controller);
        }
        _ => return None,
    };
    Some(named.to_owned())
}

/// The key of `host/tcp`; the table has other keys, too.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Named {
    controller: String,
}

/// Longest name of a congestion controller in the kernel, bytes. `TCP_CA_NAME_MAX` includes the terminating zero.
const LONGEST_CONTROLLER: usize = 15;

/// Checks whether the kernel accepts a controller of this name.
fn is_controller(name: &str) -> bool {
    let known = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    (1..=LONGEST_CONTROLLER).contains(&name.len()) && name.bytes().all(known)
}

/// Transport name of programs in scenarios.
pub const PROGRAM: &str = HostProgramConfig::NAME;

macro_rules! host_transports {
    ($($(#[$doc:meta])* $Config:ident $name:literal $instead:literal $example:literal $({ $($(#[$key_doc:meta])* $key:ident: $ConversationKey:ty,)+ })? $(;)?)+) => {
        $(
            $(#[$doc])*
            #[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
            #[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
            pub struct $Config {
                $($($(#[$key_doc])* pub $key: $ConversationKey,)+)?
            }

            impl Law for $Config {
                const NAME: &'static str = $name;
                const EXAMPLE: &'static str = $example;
            }

            impl Properties for $Config {
                /// A segment in an Ethernet frame: 1500 bytes, including 20 of IP and 32 of TCP with time stamps.
                fn packet(&self, _bulk: bool) -> PacketSize {
                    PacketSize { payload: Bytes::new(1448), header: Bytes::new(52) }
                }

                fn delivers_all(&self) -> bool {
                    true
                }

                fn only_live(&self) -> Option<&'static str> {
                    Some($instead)
                }
            }

            impl TransportLaw for $Config {
                type Sender = HostSender;
                type Receiver = HostReceiver;

                fn endpoints(&self, context: FlowContext, _stream: Stream) -> Result<(HostSender, HostReceiver), ConfigError> {
                    Ok((HostSender { flow: context.flow, class: context.class }, HostReceiver))
                }
            }
        )+

        /// Registers all transports of the host. Call it before the first scenario is read. It runs once per process;
        /// concurrent and later callers wait and get the same result.
        ///
        /// # Errors
        /// A transport of the same name is already registered.
        pub fn register_all() -> Result<(), NameTaken> {
            static ONCE: OnceLock<Result<(), NameTaken>> = OnceLock::new();
            let all = || {
                $(register::<$Config>()?;)+
                Ok(())
            };
            ONCE.get_or_init(all).clone()
        }
    };
}

host_transports! {
    /// CUBIC of the machine's kernel; only in real time (`fairwave live`).
    HostCubicConfig "host/cubic" "\"tcp/cubic\"" "{}";
    /// NewReno of the machine's kernel; only in real time (`fairwave live`).
    HostRenoConfig "host/reno" "\"tcp/sack\"" "{}";
    /// BBR of the machine's kernel (version 1 in Linux); only in real time (`fairwave live`).
    HostBbrConfig "host/bbr" "\"tcp/bbr1\"" "{}";
    /// Any congestion control of the machine's kernel, by name; only in real time (`fairwave live`). `fairwave kernel
    /// load` adds fairwave's controllers to the kernel.
    HostTcpConfig "host/tcp" "the simulated controller that replaces it, such as \"tcp/gamma\"" r#"{"controller": "fw_gamma"}"# {
        /// Its name in the kernel (`net.ipv4.tcp_available_congestion_control`): letters, digits, `_` and `-`, at most 15.
        controller: String,
    };
    /// The traffic of programs between two hosts; only in real time (`fairwave live`, `fairwave shell`).
    HostProgramConfig "host/program" "a transport that is simulated, and what the program would send as its traffic" "{}" {
        /// The command at the sender, as a list of words; no shell reads it. `{from}` and `{to}` become the
        /// addresses of the flow's hosts.
        command: Vec<String>,
        /// The command at the receiver; it runs from before the sender's command until the run ends.
        serve: Vec<String>,
    }
}

impl Checked for HostCubicConfig {}
impl Checked for HostRenoConfig {}
impl Checked for HostBbrConfig {}
impl Checked for HostProgramConfig {}

impl Checked for HostTcpConfig {
    fn check(&self) -> Result<(), ConfigError> {
        if is_controller(&self.controller) {
            return Ok(());
        }
        let value = format!("{:?}", self.controller);
        let allowed = "a name of 1 to 15 letters, digits, _ and -, as `fairwave kernel list` shows it";
        Err(ConfigError::new("controller", value, allowed, "controller = \"fw_gamma\""))
    }
}

/// Sender that passes units to the owner of the socket. Its packets carry only sizes to the border; the kernel sends the
/// data.
#[derive(Clone, Copy, Debug)]
pub struct HostSender {
    flow: FlowId,
    class: Class,
}

impl Sender for HostSender {
    fn on_start(&mut self, _now: Instant, _out: &mut Output) {}

    /// Splits the unit into pieces that fit a packet's length field.
    fn on_unit(&mut self, now: Instant, unit: Unit, out: &mut Output) {
        let mut left = unit.payload;
        loop {
            let payload = u16::try_from(left).unwrap_or(u16::MAX);
            left -= u32::from(payload);
            let body = Body::Segment {
                payload,
                sequence: 0,
                unit: unit.id,
                wave: 0,
                wave_size: 0,
                retransmission: false,
                window_reduced: false,
                last: left == 0,
                sent: now,
                created: unit.created,
            };
            let (flow, class) = (self.flow, self.class);
            let packet = Packet {
                flow,
                wire: payload,
                class,
                dscp: Default::default(),
                feedback: false,
                ecn: Ecn::NotEct,
                layer: unit.layer,
                body,
            };
            out.send(packet);
            if left == 0 {
                return;
            }
        }
    }

    fn on_packet(&mut self, _now: Instant, _packet: &Packet, _out: &mut Output) {}
    fn on_timer(&mut self, _now: Instant, _out: &mut Output) {}
    fn deadline(&self) -> Instant {
        Instant::NEVER
    }
    fn on_stop(&mut self, _now: Instant) {}
    fn view(&self) -> SenderView {
        SenderView::default()
    }
}

/// Receiver that ignores arrivals, because the owner of the socket counts them.
#[derive(Clone, Copy, Debug)]
pub struct HostReceiver;

impl Receiver for HostReceiver {
    fn on_packet(&mut self, _now: Instant, _packet: &Packet, _out: &mut Output) {}
    fn on_timer(&mut self, _now: Instant, _out: &mut Output) {}
    fn deadline(&self) -> Instant {
        Instant::NEVER
    }
    fn is_reactive(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use fairwave_core::random::Seed;
    use fairwave_scenario::Scenario;

    use super::*;

    /// Returns a plan with one flow.
    fn plan(transport: &str) -> Result<fairwave_scenario::plan::Plan, String> {
        register_all().expect("names of their own");
        let text = format!(
            "name = \"t\"\nduration = \"1 s\"\n[[link]]\nfrom = \"a\"\nto = \"b\"\nrate = \"1 Mb/s\"\ndelay = \"1 ms\"\n\
             [[flow]]\nname = \"x\"\nfrom = \"a\"\nto = \"b\"\ntransport = {transport}\ntraffic = \"bulk\"\n"
        );
        let plan = Scenario::from_text(&text, "-").and_then(|scenario| scenario.plan(Seed(1)));
        plan.map_err(|error| error.to_string())
    }

    #[test]
    fn controllers_of_the_kernel_have_sane_names() {
        for (name, sane) in [
            ("fw_gamma", true),
            ("bbr2-x", true),
            ("abcdefghijklmno", true),
            ("abcdefghijklmnop", false),
            ("", false),
            ("fw gamma", false),
            ("fw;ls", false),
            ("γ", false),
        ] {
            match plan(&format!("{{ name = \"host/tcp\", controller = \"{name}\" }}")) {
                Ok(plan) => {
                    assert!(sane, "{name}");
                    assert_eq!(controller(&plan.flows[0].transport).as_deref(), Some(name));
                }
                Err(error) => {
                    assert!(!sane, "{name}: {error}");
                    assert!(error.contains("controller") && error.contains("fw_gamma"), "{error}");
                }
            }
        }
        assert!(plan("\"host/tcp\"").is_err(), "a controller is named");
        assert_eq!(controller(&plan("\"host/bbr\"").expect("a plan").flows[0].transport).as_deref(), Some("bbr"));
        assert_eq!(controller(&plan("\"tcp/cubic\"").expect("a plan").flows[0].transport), None);
    }

    #[test]
    fn a_simulation_refuses_the_kernels_transports_with_what_to_write_instead() {
        for (transport, instead) in [
            ("\"host/cubic\"", "tcp/cubic"),
            ("\"host/reno\"", "tcp/sack"),
            ("\"host/bbr\"", "tcp/bbr1"),
            ("{ name = \"host/tcp\", controller = \"fw_gamma\" }", "tcp/gamma"),
            ("\"host/program\"", "simulated"),
        ] {
            let plan = plan(transport).expect("a plan");
            assert_eq!(plan.flows[0].class, Class::Tcp);
            let error = fairwave_sim::Run::new(&plan).execute().expect_err("refused").to_string();
            assert!(error.contains(instead) && error.contains("fairwave live") && error.contains("x[0]"), "{error}");
        }
    }

    #[test]
    fn a_large_unit_is_told_in_pieces_of_which_the_last_says_so() {
        let mut out = Output::default();
        let mut sender = HostSender { flow: FlowId(0), class: Class::Tcp };
        let unit = Unit { id: 3, payload: 150_000, created: Instant::ZERO, layer: 0, frame_type: Default::default() };
        sender.on_unit(Instant::ZERO, unit, &mut out);
        let pieces: Vec<(u16, bool)> = (out.packets.iter())
            .map(|packet| match packet.body {
                Body::Segment { payload, last, .. } => (payload, last),
                _ => (0, false),
            })
            .collect();
        assert_eq!(pieces, [(65535, false), (65535, false), (18_930, true)]);
    }
}
