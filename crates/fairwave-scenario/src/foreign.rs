//! Names and units of other tools, products and standards, with their equivalents in a scenario.

use std::borrow::Cow;

use fairwave_core::queue::QueueConfig;
use fairwave_core::traffic::{Codec, TrafficConfig};
use fairwave_core::transport::TransportConfig;
use fairwave_core::units::Bytes;

use crate::law::Law;

/// One remedy for several words.
struct Foreign {
    /// The key for whose value users write these words: `transport`, `traffic`, …; `key` if the words replace a key.
    of: &'static str,
    words: &'static [&'static str],
    remedy: &'static str,
}

const CONTROL: &str = "a rate controller belongs to a media session: `transport = { name = \"webrtc\", control = \"gcc\" }` with `traffic = \"media\"`";
const SHAPER: &str = "a shaper is a key of the link, next to its queue: `shape = { rate = \"5 Mb/s\", burst = \"10 kB\" }`; \
                      a policer is `police = { rate = \"5 Mb/s\", burst = \"15 kB\" }`";
const BUFFER: &str =
    "the buffer belongs to the queue: `queue = { discipline = \"drop-tail\", capacity = { packets = 100 } }`";
const NUMBERS: &str = "describe the codec by its numbers: `codec = { rate = \"24 kb/s\", frame = \"20 ms\", ie = 11, bpl = 19, source = \"…\" }`";

const FOREIGN: &[Foreign] = &[
    Foreign {
        of: "transport",
        words: &["quic", "http/3", "http3", "h3", "msquic", "quiche", "ngtcp2", "picoquic", "quic-go"],
        remedy: "QUIC is `quic/quinn`, in a build by `make stacks` (docs/stacks.md); without it, name the congestion control \
                 alone: `transport = \"tcp/cubic\"`",
    },
    Foreign {
        of: "transport",
        words: &["quinn", "quic/quinn", "str0m", "webrtc/str0m"],
        remedy: "`make stacks` builds fairwave with it (docs/stacks.md)",
    },
    Foreign {
        of: "transport",
        words: &["rtp", "srtp", "rtp/avp", "rtp/savpf"],
        remedy: "RTP runs over UDP: `transport = \"udp\"` for `voice` and `video`; for a session that adapts its rate, \
                 `transport = \"webrtc\"` with `traffic = \"media\"`",
    },
    Foreign {
        of: "transport",
        words: &["tcp", "linux", "agent/tcp"],
        remedy: "name the congestion control: `transport = \"tcp/cubic\"`, `\"tcp/reno\"` or `\"tcp/bbr\"`",
    },
    Foreign {
        of: "transport",
        words: &["http", "https", "http/1.1", "http/2", "h2", "ftp", "dash", "hls", "rtmp", "websocket", "tls", "ssh"],
        remedy: "it runs over TCP: `transport = \"tcp/cubic\"`; pages, files and videos are traffic: `web`, `transfer`, `stream`",
    },
    Foreign {
        of: "transport",
        words: &["dccp", "ccid3", "ccid-3", "ccid2"],
        remedy: "the congestion control of DCCP's CCID 3 is `transport = \"tfrc\"`",
    },
    Foreign {
        of: "transport",
        words: &["sctp", "datachannel", "data-channel"],
        remedy: "SCTP controls congestion as `transport = \"tcp/sack\"` does",
    },
    Foreign { of: "transport", words: &["icmp"], remedy: "write `transport = \"ping\"`" },
    Foreign {
        of: "transport",
        words: &["sip", "h323", "h.323", "iax"],
        remedy: "signalling is not simulated; the call is `transport = \"udp\"` with `traffic = \"voice\"`",
    },
    Foreign { of: "transport", words: &["srt", "rist", "udp-lite", "udplite"], remedy: "write `transport = \"udp\"`" },
    Foreign {
        of: "transport",
        words: &[
            "gcc",
            "scream",
            "nada",
            "goog-cc",
            "googcc",
            "remb",
            "twcc",
            "transport-cc",
            "transport-wide-cc",
            "screamv2",
            "scream2",
        ],
        remedy: CONTROL,
    },
    Foreign {
        of: "transport",
        words: &[
            "compound",
            "hybla",
            "htcp",
            "h-tcp",
            "illinois",
            "scalable",
            "bic",
            "highspeed",
            "yeah",
            "veno",
            "lp",
            "copa",
            "pcc",
            "vivace",
            "ledbat",
            "bbr2",
            "bbr3",
            "bbrv2",
            "bbrv3",
            "bbrv1",
            "fast",
        ],
        remedy: "the controllers of TCP are those that begin with `tcp/`; `tcp/bbr` is BBR's third version, `tcp/bbr1` its first",
    },
    Foreign {
        of: "traffic",
        words: &[
            "webrtc",
            "skype",
            "zoom",
            "teams",
            "meet",
            "google-meet",
            "facetime",
            "whatsapp",
            "discord",
            "webex",
            "jitsi",
            "conference",
            "videoconference",
            "video-conference",
            "video-call",
            "videocall",
        ],
        remedy: "a call as browsers and applications make it is `traffic = \"media\"` with `transport = \"webrtc\"`; several people are a [[call]]",
    },
    Foreign {
        of: "traffic",
        words: &[
            "h264", "h.264", "avc", "h265", "h.265", "hevc", "vp8", "vp9", "av1", "mpeg", "mpeg4", "mpeg-4", "mp4",
            "vvc",
        ],
        remedy: "a video is `traffic = \"video\"` (layers of constant rate), `\"video-trace\"` (frames of a clip) or `\"media\"` (a WebRTC session)",
    },
    Foreign {
        of: "traffic",
        words: &["voip", "telephony", "phone", "telephone", "sip", "call", "audio", "speech", "talk", "rtp-voice"],
        remedy: "a telephone call is `traffic = \"voice\"` with `transport = \"udp\"`; both directions with turns are `\"conversation\"`",
    },
    Foreign {
        of: "traffic",
        words: &["rtp", "srtp"],
        remedy: "voice over RTP is `traffic = \"voice\"`, video over RTP is `traffic = \"video\"`, both with `transport = \"udp\"`",
    },
    Foreign {
        of: "traffic",
        words: &["netflix", "youtube", "twitch", "dash", "hls", "vod", "abr", "streaming", "iptv", "live-stream"],
        remedy: "a video whose player adapts is `traffic = \"stream\"` with `transport = \"tcp/cubic\"`",
    },
    Foreign {
        of: "traffic",
        words: &[
            "ftp",
            "download",
            "upload",
            "file",
            "files",
            "iperf",
            "iperf3",
            "greedy",
            "backlogged",
            "saturating",
            "elephant",
            "tcp",
            "backup",
            "bulk-transfer",
            "bulksend",
        ],
        remedy: "data without end is `traffic = \"bulk\"`, a file is `traffic = { kind = \"transfer\", size = \"1 MB\" }`, both with `transport = \"tcp/cubic\"`",
    },
    Foreign {
        of: "traffic",
        words: &["http", "https", "browsing", "browser", "www", "page", "webpage", "web-page", "pages"],
        remedy: "pages are `traffic = \"web\"` with `transport = \"tcp/cubic\"`",
    },
    Foreign {
        of: "traffic",
        words: &["udp", "constant", "constant-rate", "onoff"],
        remedy: "packets at a constant rate are `traffic = { kind = \"cbr\", rate = \"1 Mb/s\", payload = \"1000 B\" }`",
    },
    Foreign {
        of: "traffic",
        words: &[
            "exponential",
            "on-off",
            "pareto",
            "mmpp",
            "ipp",
            "self-similar",
            "traffic/exponential",
            "traffic/pareto",
        ],
        remedy: "the random sources are `poisson`, `renewal`, `interrupted-poisson` and `bulk-on-off`",
    },
    Foreign {
        of: "traffic",
        words: &["icmp", "rtt"],
        remedy: "echo requests are `traffic = \"ping\"` with `transport = \"ping\"`",
    },
    Foreign {
        of: "traffic",
        words: &["gaming", "games", "stadia", "cloud-gaming", "esports", "quake", "csgo"],
        remedy: "a game is `traffic = \"game\"` with `transport = \"udp\"`",
    },
    Foreign {
        of: "traffic",
        words: &["pcap", "trace", "capture", "tcpreplay"],
        remedy: "`fairwave replay FILE --rate RATE` writes a scenario with `traffic = { kind = \"replay\", … }`",
    },
    Foreign {
        of: "traffic",
        words: &["quic"],
        remedy: "QUIC is a transport; its traffic is for example `\"web\"` or `\"bulk\"`",
    },
    Foreign {
        of: "queue",
        words: &["fifo", "pfifo", "bfifo", "taildrop", "tail-drop", "droptail", "tail", "queue", "noqueue"],
        remedy: "the queue that is first in, first out is `drop-tail`",
    },
    Foreign {
        of: "queue",
        words: &["pfifo-fast", "pfifofast", "prio", "strict-priority", "sp"],
        remedy: "strict priorities by code point are `priority`; without classes, pfifo_fast is `drop-tail`",
    },
    Foreign {
        of: "queue",
        words: &["sfq", "fq", "sfb", "fair", "fair-queueing", "scfq", "wf2q", "qfq", "fqcodel"],
        remedy: "flows share fairly in `fq-codel`, `fq-pie` and `cake`; classes in `drr` and `wfq`",
    },
    Foreign {
        of: "queue",
        words: &["wrr", "cbwfq", "dwrr", "mdrr"],
        remedy: "classes share by weight in `drr` and `wfq`; with a priority class, `llq`",
    },
    Foreign {
        of: "queue",
        words: &[
            "htb",
            "hfsc",
            "cbq",
            "tbf",
            "policer",
            "police",
            "shaper",
            "shape",
            "token-bucket",
            "tokenbucket",
            "leaky-bucket",
        ],
        remedy: SHAPER,
    },
    Foreign {
        of: "queue",
        words: &["netem", "dummynet", "tc"],
        remedy: "delay, jitter, loss and reordering are keys of the link: `delay`, `jitter`, `loss`, `reorder`",
    },
    Foreign {
        of: "queue",
        words: &["wred", "gred", "wcred"],
        remedy: "`red` has one curve for all packets; classes with their own queues are `wfq` and `llq`",
    },
    Foreign {
        of: "queue",
        words: &["l4s", "dualq", "dual-q", "dualqcoupled", "dualqcoupledpisquared", "pi2"],
        remedy: "the coupled queues of L4S are `dualpi2`",
    },
    Foreign {
        of: "queue",
        words: &["sqm", "smart-queue", "diffserv4", "piece-of-cake"],
        remedy: "smart queue management is `cake`",
    },
    Foreign {
        of: "queue",
        words: &["aqm", "blue", "bufferbloat"],
        remedy: "active queue management is for example `codel`, `pie`, `fq-codel` or `cake`",
    },
    Foreign {
        of: "codec",
        words: &[
            "pcmu", "pcma", "g.711u", "g.711a", "ulaw", "alaw", "u-law", "a-law", "mu-law", "g711u", "g711a", "pcm",
            "g.711µ",
        ],
        remedy: "G.711 is `g711`; both laws have the same rate and the same rating",
    },
    Foreign {
        of: "codec",
        words: &["g729a", "g729b", "g.729a", "g729ab", "g729d"],
        remedy: "G.729 and its annexes A and B are `g729`",
    },
    Foreign { of: "codec", words: &["amr", "amr-nb"], remedy: "name the mode: `amr-12.2`" },
    Foreign { of: "codec", words: &["amr-wb", "g722.2", "g.722.2"], remedy: "name the mode: `amr-wb-12.65`" },
    Foreign { of: "codec", words: &["evs"], remedy: "name the rate: `evs-13.2`" },
    Foreign {
        of: "codec",
        words: &[
            "silk", "speex", "isac", "aac", "aac-ld", "mp3", "lc3", "lyra", "satin", "codec2", "g719", "g.719", "celt",
        ],
        remedy: NUMBERS,
    },
    Foreign {
        of: "codec",
        words: &["h264", "h.264", "vp8", "vp9", "av1", "h265", "hevc"],
        remedy: "`codec` is that of speech; a video is `traffic = \"video\"` or `\"media\"`",
    },
    Foreign {
        of: "control",
        words: &["goog-cc", "goog_cc", "googcc"],
        remedy: "`make stacks` builds fairwave with it (docs/stacks.md); fairwave's controller of the same source is `gcc`",
    },
    Foreign {
        of: "control",
        words: &["webrtc", "remb", "twcc", "transport-cc", "default"],
        remedy: "the controller of WebRTC is `gcc`",
    },
    Foreign { of: "control", words: &["screamv2", "scream2"], remedy: "SCReAM is `scream`" },
    Foreign {
        of: "control",
        words: &["cubic", "reno", "bbr", "tcp", "tcp/cubic", "tcp/bbr"],
        remedy: "a media session has a rate controller, for example `gcc`, `scream` or `nada`; those of TCP are transports: `transport = \"tcp/cubic\"`",
    },
    Foreign {
        of: "control",
        words: &["none", "off", "constant", "cbr"],
        remedy: "a session of constant rate is `control = { name = \"fixed\", rate = \"1 Mb/s\" }`",
    },
    Foreign {
        of: "loss",
        words: &["random", "uniform", "iid", "independent", "plr", "netem", "bernouli"],
        remedy: "independent losses are `loss = \"1 %\"`",
    },
    Foreign {
        of: "loss",
        words: &["burst", "bursty", "ge", "gilbert-elliott", "gilbert-elliot", "elliott", "simple-gilbert", "4-state"],
        remedy: "losses in bursts are `loss = { model = \"gilbert\", rate = \"1 %\", run = 3.0 }`",
    },
    Foreign {
        of: "rate",
        words: &["wifi", "wi-fi", "wlan", "802.11"],
        remedy: "links that share a radio channel have a medium: `[medium.air]` with `law = \"wifi\"`; a rate that changes at random is `rate = { law = \"markov\", preset = \"wifi\" }`, a measured one `law = \"trace\"` (`fairwave explain trace`)",
    },
    Foreign {
        of: "rate",
        words: &["lte", "4g", "5g", "cellular", "mobile"],
        remedy: "links that share a radio channel have a medium: `[medium.air]` with `law = \"cell\"`; a rate that changes at random is `rate = { law = \"markov\", preset = \"lte\" }`, a measured one `law = \"trace\"` (`fairwave explain trace`)",
    },
    Foreign {
        of: "rate",
        words: &["mahimahi", "pensieve", "csv", "file"],
        remedy: "a measured rate is `rate = { law = \"trace\", file = \"up.csv\" }`",
    },
    Foreign {
        of: "medium",
        words: &["wi-fi", "wlan", "802.11", "ethernet", "csma"],
        remedy: "the media are `wifi`, `cell` and `half-duplex`",
    },
    Foreign {
        of: "medium",
        words: &["lte", "4g", "5g", "nr", "umts", "cellular", "mobile"],
        remedy: "a cell is `law = \"cell\"`",
    },
    Foreign {
        of: "network",
        words: &["4g", "nr", "umts", "3g", "cellular", "mobile"],
        remedy: "the mobile networks are `network = \"lte\"` and `network = \"5g\"`",
    },
    Foreign {
        of: "network",
        words: &["wifi", "wi-fi", "wlan", "802.11"],
        remedy: "the Wi-Fi networks are `network = \"wifi-home\"` and `network = \"wifi-office\"`",
    },
    Foreign { of: "network", words: &["starlink", "leo"], remedy: "write `network = \"low-orbit\"`" },
    Foreign {
        of: "network",
        words: &["satellite", "vsat", "geo", "gso"],
        remedy: "write `network = \"geostationary\"`, or `\"low-orbit\"` for Starlink",
    },
    Foreign {
        of: "network",
        words: &["fiber", "gpon", "ftth", "xgs-pon", "pon"],
        remedy: "write `network = \"fibre\"`",
    },
    Foreign { of: "network", words: &["adsl", "vdsl", "adsl2", "xdsl"], remedy: "write `network = \"dsl\"`" },
    Foreign { of: "network", words: &["docsis", "coax", "hfc"], remedy: "write `network = \"cable\"`" },
    Foreign {
        of: "preset",
        words: &["star", "line", "chain", "linear", "parking-lot", "tree", "mesh", "ring"],
        remedy: "a line of routers is `preset = \"multi-hop\"`; any other network is a list of [[link]]",
    },
    Foreign {
        of: "preset",
        words: &["lte", "4g", "5g", "dsl", "cable", "fibre", "fiber", "starlink", "satellite", "wifi", "home"],
        remedy: "an access network is `topology = { network = \"lte\" }` (`fairwave list networks`)",
    },
    Foreign {
        of: "playout",
        words: &["static", "constant", "none", "dejitter", "jitter-buffer"],
        remedy: "a buffer of constant delay is `playout = { strategy = \"fixed\", delay = \"60 ms\" }`",
    },
    Foreign {
        of: "playout",
        words: &["webrtc", "jitterbuffer"],
        remedy: "WebRTC's jitter buffer is `playout = \"neteq\"`",
    },
    Foreign {
        of: "victim",
        words: &["head", "oldest", "first", "drop-head", "drop-front"],
        remedy: "write `victim = \"front\"`",
    },
    Foreign {
        of: "victim",
        words: &["newest", "last", "arrival", "drop-tail", "droptail"],
        remedy: "write `victim = \"tail\"`",
    },
    Foreign {
        of: "key",
        words: &[
            "capacity",
            "buffer",
            "buffer-size",
            "limit",
            "qlen",
            "queue-limit",
            "queue-size",
            "queue-length",
            "packets",
            "qsize",
        ],
        remedy: BUFFER,
    },
    Foreign {
        of: "key",
        words: &["bandwidth", "bw", "speed", "datarate", "data-rate", "bitrate", "link-rate", "throughput"],
        remedy: "the capacity of a link is `rate = \"10 Mb/s\"`",
    },
    Foreign {
        of: "key",
        words: &["latency", "rtt", "owd", "prop", "propagation", "ping", "lag", "prop-delay"],
        remedy: "the one-way delay of a link is `delay = \"20 ms\"`",
    },
    Foreign {
        of: "key",
        words: &["plr", "loss-rate", "packet-loss", "error-rate", "per", "drop-rate", "losses"],
        remedy: "losses on a link are `loss = \"1 %\"`",
    },
    Foreign {
        of: "key",
        words: &["time", "length", "runtime", "run-time", "sim-time", "simulation-time", "stop-time", "end"],
        remedy: "the length of a run is `duration = \"60 s\"`",
    },
    Foreign {
        of: "key",
        words: &["codec"],
        remedy: "the codec belongs to the traffic: `traffic = { kind = \"voice\", codec = \"g729\" }`",
    },
    Foreign {
        of: "key",
        words: &["app", "application", "type", "kind", "source-model"],
        remedy: "the application is `traffic = \"voice\"`",
    },
    Foreign {
        of: "key",
        words: &["protocol", "proto", "tcp", "udp", "cc", "congestion-control", "congestion"],
        remedy: "the protocol is `transport = \"tcp/cubic\"`",
    },
    Foreign {
        of: "key",
        words: &["number", "n", "instances", "num", "amount"],
        remedy: "how many flows a group has is `count = 10`",
    },
    Foreign {
        of: "key",
        words: &["src", "source", "sender", "node-a", "a"],
        remedy: "where it begins is `from = \"a\"`",
    },
    Foreign {
        of: "key",
        words: &["dst", "dest", "destination", "sink", "receiver", "node-b", "b"],
        remedy: "where it ends is `to = \"b\"`",
    },
    Foreign {
        of: "key",
        words: &["aqm", "qdisc", "scheduler", "discipline"],
        remedy: "the queue of a link is `queue = \"fq-codel\"`",
    },
    Foreign {
        of: "key",
        words: &["jitter-buffer", "jitterbuffer", "playout-buffer", "dejitter"],
        remedy: "the receiver's buffer is `playout = { strategy = \"fixed\", delay = \"60 ms\" }`",
    },
];

/// Converts to lower case with hyphens, and removes the prefixes and suffixes of ns-2 and ns-3.
fn folded(word: &str) -> String {
    let word = word.trim().to_lowercase().replace(['_', ' '], "-");
    let word = word.strip_prefix("ns3::").unwrap_or(&word);
    ["agent/", "queue/", "queues/", "application/", "traffic/"]
        .iter()
        .fold(word, |rest, prefix| rest.strip_prefix(prefix).unwrap_or(rest))
        .trim_end_matches("queuedisc")
        .to_owned()
}

/// Letters and digits alone.
fn bare(word: &str) -> String {
    word.chars().filter(|c| c.is_alphanumeric() || *c == '+').collect()
}

/// The candidate that equals `word` in another tool's spelling: `TcpCubic`, `Agent/TCP/Sack1`, `fq_codel`, `FqCoDelQueueDisc`,
/// `G.711`.
pub(crate) fn same<'a>(word: &str, mut candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let given = bare(&folded(word));
    let unnumbered = given.trim_end_matches('1');
    candidates.find(|one| {
        // `host/tcp` is the machine's TCP. Only the full name selects it.
        let last = if one.starts_with("host/") { one } else { one.rsplit('/').next().unwrap_or(one) };
        [bare(one), bare(last)].into_iter().any(|known| known == given || known == unnumbered)
    })
}

/// The text to write instead of a value of the key `of`, or of any key if `of` is empty. `None` for unknown words.
pub fn instead(of: &str, word: &str) -> Option<&'static str> {
    let word = folded(word);
    let plain = bare(&word);
    FOREIGN
        .iter()
        .filter(|one| if of.is_empty() { one.of != "key" } else { one.of == of })
        .find(|one| one.words.iter().any(|known| *known == word || bare(known) == plain))
        .map(|one| one.remedy)
}

/// The right form for a name of another family: a codec or a transport as traffic, traffic as a transport.
pub(crate) fn elsewhere(of: &str, word: &str) -> Option<String> {
    let codec = same(word, Codec::ALL.iter().map(|codec| codec.name()));
    if let Some(codec) = codec.filter(|_| of != "codec") {
        return Some(format!("`{codec}` is a codec: `traffic = {{ kind = \"voice\", codec = \"{codec}\" }}`"));
    }
    [
        ("transport", known::<TransportConfig>(word)),
        ("traffic", known::<TrafficConfig>(word)),
        ("queue", known::<QueueConfig>(word)),
    ]
    .into_iter()
    .filter(|(kind, _)| *kind != of)
    .find_map(|(kind, name)| name.map(|name| format!("`{name}` is no {of} but a {kind}: `{kind} = \"{name}\"`")))
    .map(|said| said.replace("a traffic", "traffic"))
}

/// The full name of the law of this family with the name `word`.
fn known<T: Law>(word: &str) -> Option<String> {
    let name = T::full_name(&folded(word)).ok()?;
    let mut table = T::from_name(&name);
    T::complete(&mut table);
    match serde_json::from_value::<T>(table.into()) {
        Err(error) if error.to_string().starts_with("unknown variant") => None,
        _ => Some(name),
    }
}

/// All words that have a remedy, with the key for whose value users write them.
pub fn words() -> impl Iterator<Item = (&'static str, &'static str)> {
    FOREIGN.iter().flat_map(|one| one.words.iter().map(move |word| (one.of, *word)))
}

/// Possible quantities for a number without a unit, most plausible first. `quantity` is the name in the unit errors.
pub(crate) fn readings(quantity: &str, key: &str, number: &str) -> Vec<String> {
    let Ok(value) = number.trim().replace('_', "").parse::<f64>() else { return Vec::new() };
    if !value.is_finite() || value < 0.0 {
        return Vec::new();
    }
    let scaled = |factor: f64, unit: &str| format!("{} {unit}", rounded(value * factor));
    match quantity {
        "rate" if value >= 1e9 => vec![scaled(1e-9, "Gb/s")],
        "rate" if value >= 1e6 => vec![scaled(1e-6, "Mb/s")],
        "rate" if value >= 1e3 => vec![scaled(1e-3, "kb/s"), scaled(1e-3, "Mb/s")],
        "rate" => vec![scaled(1.0, "Mb/s"), scaled(1.0, "kb/s")],
        "size" => vec![scaled(1.0, "B")],
        "clock skew" => vec![scaled(1.0, "ppm")],
        "time" => match key {
            "duration" | "warmup" | "start" | "stop" | "at" | "from" | "to" | "until" if value >= 1e4 => {
                vec![scaled(1e-3, "s"), scaled(1.0, "s")]
            }
            "duration" | "warmup" | "start" | "stop" | "at" | "from" | "to" | "until" => vec![scaled(1.0, "s")],
            _ if value > 0.0 && value < 1.0 => vec![scaled(1e3, "ms"), scaled(1.0, "ms")],
            _ => vec![scaled(1.0, "ms")],
        },
        _ => Vec::new(),
    }
}

/// Formats a number without binary rounding noise.
fn rounded(value: f64) -> String {
    let text = format!("{value:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Quantities for a number with a unit of another tool: `10M`, `5 msec`, `1500 Byte`.
pub(crate) fn with_units(quantity: &str, number: &str, unit: &str) -> Vec<String> {
    let lower = unit.to_lowercase().replace(' ', "");
    let one = |unit: &str| vec![format!("{number} {unit}")];
    match quantity {
        "rate" => {
            let (prefix, rest) = match lower.chars().next() {
                Some(c @ ('k' | 'm' | 'g')) => (Some(c), lower.get(1..).unwrap_or_default()),
                _ => (None, lower.as_str()),
            };
            let bits = match prefix {
                Some('k') => "kb/s",
                Some('m') => "Mb/s",
                Some(_) => "Gb/s",
                None => "b/s",
            };
            let counts_bytes = unit.contains('B') || rest.starts_with("byte");
            let rest = rest.trim_end_matches("/sec").trim_end_matches("/s").trim_end_matches("ps");
            match rest {
                "" | "b" | "bit" | "bits" if !counts_bytes => one(bits),
                "b" | "byte" | "bytes" => {
                    let eight = number.parse::<f64>().map(|value| format!("{} {bits}", rounded(value * 8.0)));
                    [eight.ok(), Some(format!("{number} {bits}"))].into_iter().flatten().collect()
                }
                _ => Vec::new(),
            }
        }
        "time" => match lower.as_str() {
            "msec" | "msecs" | "ms" | "millis" | "millisecond" | "milliseconds" => one("ms"),
            "sec" | "secs" | "s" | "second" | "seconds" => one("s"),
            "usec" | "usecs" | "us" | "μs" | "microsecond" | "microseconds" => one("us"),
            "nsec" | "nanosecond" | "nanoseconds" => one("ns"),
            "m" => [one("ms"), one("min")].concat(),
            "mins" | "minute" | "minutes" => one("min"),
            "hr" | "hrs" | "h" | "hour" | "hours" => one("h"),
            _ => Vec::new(),
        },
        "size" => match lower.as_str() {
            "byte" | "bytes" | "octet" | "octets" | "b" => one("B"),
            "k" | "kb" | "kbyte" | "kbytes" => one("kB"),
            "m" | "mb" | "mbyte" | "mbytes" => one("MB"),
            "g" | "gb" | "gbyte" | "gbytes" => one("GB"),
            "ki" | "kib" => one("KiB"),
            "mi" | "mib" => one("MiB"),
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// The buffer for a bare number or size: `capacity = 100`.
pub(crate) fn capacity(written: &str) -> Cow<'static, str> {
    let written = written.trim().trim_matches('"');
    let packets = ["packets", "packet", "pkts", "pkt", "p"]
        .iter()
        .find_map(|unit| written.strip_suffix(unit))
        .unwrap_or(written)
        .trim();
    if packets.parse::<u32>().is_ok_and(|packets| packets > 0) {
        return Cow::from(format!("write `capacity = {{ packets = {packets} }}`"));
    }
    if let Ok(size) = written.parse::<Bytes>() {
        return Cow::from(format!("write `capacity = {{ bytes = {} }}`", size.get()));
    }
    Cow::from("write for example `capacity = { packets = 100 }`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_other_simulators_are_recognised() {
        let transports = ["udp", "tcp/reno", "tcp/newreno", "tcp/sack", "tcp/cubic", "tcp/westwood+"];
        for (word, known) in
            [("TcpCubic", "tcp/cubic"), ("Agent/TCP/Sack1", "tcp/sack"), ("ns3::TcpNewReno", "tcp/newreno")]
        {
            assert_eq!(same(word, transports.into_iter()), Some(known), "{word}");
        }
        let queues = ["drop-tail", "codel", "fq-codel", "red"];
        for (word, known) in [
            ("DropTail", "drop-tail"),
            ("FqCoDelQueueDisc", "fq-codel"),
            ("fq_codel", "fq-codel"),
            ("Queue/RED", "red"),
        ] {
            assert_eq!(same(word, queues.into_iter()), Some(known), "{word}");
        }
        assert_eq!(same("quic", transports.into_iter()), None);
        assert_eq!(same("tcp", ["host/tcp", "tcp/cubic"].into_iter()), None);
    }

    #[test]
    fn a_number_without_a_unit_is_read_plausibly() {
        for (quantity, key, number, first) in [
            ("rate", "rate", "2000000", "2 Mb/s"),
            ("rate", "rate", "64000", "64 kb/s"),
            ("rate", "rate", "1.5e9", "1.5 Gb/s"),
            ("rate", "rate", "20", "20 Mb/s"),
            ("time", "delay", "20", "20 ms"),
            ("time", "delay", "0.1", "100 ms"),
            ("time", "duration", "60", "60 s"),
            ("time", "duration", "60000", "60 s"),
            ("size", "payload", "1500", "1500 B"),
        ] {
            assert_eq!(readings(quantity, key, number).first().map(String::as_str), Some(first), "{quantity} {number}");
        }
        assert!(readings("rate", "rate", "-1").is_empty());
    }

    #[test]
    fn units_of_other_tools_are_read_as_those_tools_mean_them() {
        for (quantity, unit, meant) in [
            ("rate", "M", &["10 Mb/s"][..]),
            ("rate", "mbit", &["10 Mb/s"]),
            ("rate", "kbit/sec", &["10 kb/s"]),
            ("rate", "MB", &["80 Mb/s", "10 Mb/s"]),
            ("time", "msec", &["10 ms"]),
            ("time", "m", &["10 ms", "10 min"]),
            ("time", "seconds", &["10 s"]),
            ("size", "k", &["10 kB"]),
            ("size", "octets", &["10 B"]),
            ("time", "parsec", &[]),
        ] {
            assert_eq!(with_units(quantity, "10", unit), meant, "{quantity} {unit}");
        }
    }

    #[test]
    fn a_buffer_of_a_bare_number_counts_packets() {
        assert_eq!(capacity("100"), "write `capacity = { packets = 100 }`");
        assert_eq!(capacity("100 packets"), "write `capacity = { packets = 100 }`");
        assert_eq!(capacity("64 kB"), "write `capacity = { bytes = 64000 }`");
    }

    #[test]
    fn words_have_one_remedy_for_each_key() {
        let mut all: Vec<_> = words().collect();
        all.sort_unstable();
        let count = all.len();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}
