// The situations that the page offers; the first is the one that it opens on.

import VIDEO_CALL from "../../examples/webrtc-home.toml?raw";

export { VIDEO_CALL };

export const HOME = `name = "a home uplink"
description = "A call and a video conference share the uplink with an upload. Which queue keeps the call good?"
duration = "60 s"
warmup = "2 s"

# The uplink and the downlink.
[[link]]
from = "home"
to = "isp"
rate = "3 Mb/s"
delay = "10 ms"
queue = { discipline = "drop-tail", victim = "tail", capacity = { packets = 100 } }

[link.reverse]
rate = "30 Mb/s"

[[link]]
from = "phone"
to = "home"
rate = "100 Mb/s"
delay = "1 ms"

[[link]]
from = "laptop"
to = "home"
rate = "100 Mb/s"
delay = "1 ms"

[[link]]
from = "disk"
to = "home"
rate = "1 Gb/s"
delay = "0.1 ms"

[[link]]
from = "isp"
to = "friend"
rate = "100 Mb/s"
delay = "15 ms"

[[link]]
from = "isp"
to = "meeting"
rate = "1 Gb/s"
delay = "10 ms"

[[link]]
from = "isp"
to = "cloud"
rate = "1 Gb/s"
delay = "15 ms"

[[flow]]
name = "call"
from = "phone"
to = "friend"
transport = "udp"
traffic = { kind = "voice", codec = "g711", always-on = true }

[[flow]]
name = "conference"
from = "laptop"
to = "meeting"
transport = "udp"
traffic = { kind = "cbr", rate = "800 kb/s", payload = "1000 B" }

[[flow]]
name = "upload"
from = "disk"
to = "cloud"
transport = "tcp/cubic"
traffic = "bulk"
start = "10 s"
`;

export interface Situation {
  id: string;
  label: string;
  /** As TOML. */
  scenario: string;
}

export const SITUATIONS: readonly Situation[] = [
  { id: "home", label: "A call and a conference beside an upload", scenario: HOME },
  { id: "video-call", label: "A video call beside an upload", scenario: VIDEO_CALL },
];
