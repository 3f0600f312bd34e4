"""Names that users often look for and fairwave does not have, and what to write instead."""

from __future__ import annotations

_NETWORK = 'an access network by name is topology = {{ network = "{0}" }} (`fairwave explain {0}`)'
_RADIO = (
    'links that share a radio channel have a medium: [medium.air] with law = "{0}" (`fairwave explain {0}`). A link '
    'whose rate changes at random is rate = {{ law = "markov", preset = "{1}" }} (`fairwave explain markov`); a '
    'measured rate is law = "trace" (`fairwave explain trace`)'
)
_CODEC = (
    "the codecs are {codecs}. Any other is described by its numbers: "
    'codec = { rate = "24 kb/s", frame = "20 ms", ie = 11, bpl = 19, source = "…" } (`fairwave explain voice`)'
)
_DATAGRAMS = (
    "congestion control over datagrams is tfrc, rap, dvrc or rtcp, over TCP tcp/cubic, tcp/bbr and others "
    "(`fairwave list transports`)"
)

_STACK = "this build of fairwave lacks it: `make stacks` builds fairwave with it (docs/stacks.md)"
_SESSION = 'a media session speaks Opus: traffic = "media", transport = "webrtc" (`fairwave explain media`)'
_CONTROL = (
    'it is a rate controller of media sessions: transport = {{ name = "webrtc", control = "{}" }}, traffic = "media" '
    "(`fairwave list controllers`)"
)

_INSTEAD = {
    _RADIO.format("wifi", "wifi"): ("wi-fi", "wlan", "802.11"),
    f"{_NETWORK.format('lte')}; {_RADIO.format('cell', 'lte')}": ("4g", "nr", "umts", "cellular"),
    _NETWORK.format("low-orbit"): ("starlink", "leo"),
    _NETWORK.format("geostationary"): ("satellite", "vsat"),
    _NETWORK.format("fibre"): ("fiber", "gpon", "ftth"),
    _NETWORK.format("dsl"): ("adsl", "vdsl"),
    _NETWORK.format("cable"): ("docsis",),
    f"{_SESSION}; of `voice` {_CODEC}": ("opus",),
    _CODEC: ("evs", "silk", "speex"),
    _DATAGRAMS: ("sctp",),
    'QUIC is transport = "quic/quinn", which `make stacks` builds (docs/stacks.md)': ("quic", "http/3", "h3"),
    _STACK: ("quic/quinn", "quinn", "webrtc/str0m", "str0m"),
    _CONTROL.format("gcc"): ("gcc", "goog_cc", "goog-cc"),
    _CONTROL.format("scream"): ("scream", "screamv2"),
    _CONTROL.format("nada"): ("nada",),
    "a session that sends Opus and video over WebRTC has two keys: "
    'traffic = "media", transport = "webrtc" (`fairwave explain media`)': (
        "vp8",
        "h264",
        "av1",
        "rtp",
        "srtp",
    ),
    "name its congestion control, for example tcp/cubic, tcp/reno or tcp/bbr (`fairwave list transports`)": (
        "tcp",
    ),
    "the queue that is first in, first out is drop-tail (`fairwave explain drop-tail`)": (
        *("fifo", "pfifo", "droptail", "tail-drop", "taildrop"),
    ),
    "it is what a large buffer does to delay. `fairwave explain fq-codel` is a queue against it, and "
    "`fairwave compare SCENARIO --vary topology.bottleneck.queue=drop-tail,fq-codel` shows the difference": (
        *("bufferbloat", "latency", "lag"),
    ),
}
"""What to write instead, and for which names."""


def instead(name: str) -> str:
    """What to write instead of a name in lower case; empty where nothing is known of it."""
    remedy = next((remedy for remedy, names in _INSTEAD.items() if name in names), "")
    if "{codecs}" in remedy:
        from fairwave import codecs

        remedy = remedy.replace("{codecs}", ", ".join(one.codec for one in codecs.known()))
    return remedy
