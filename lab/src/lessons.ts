// Six guided pages. Each step sets the scenario; the last asks, and the page tells when its controls have answered.

import { lawName } from "./controls";
import { HOME } from "./opening";
import { get } from "./paths";
import type { Seen, Table } from "./protocol";

export interface Step {
  text: string;
  /** TOML that the step opens. */
  scenario: string;
}

export interface Lesson {
  id: string;
  title: string;
  steps: Step[];
  question: string;
  /** What the controls must be left at, if they are: a sentence that says what is missing, or nothing when all is. */
  missing(seen: Seen, json: Table): string | undefined;
  found: string;
  /** Keys of one answer, for the test that there is one. */
  answer: { path: (string | number)[]; value: string | number | Table }[];
}

const mos = (seen: Seen, group = "call"): number => seen.voice.find((one) => one.group === group)?.mos ?? Number.NaN;
const goodput = (seen: Seen, group: string): number =>
  Number(seen.groups.find((one) => one.group === group)?.goodput_bps ?? Number.NaN);

/** A dumbbell of one call and what is beside it. */
function dumbbell(name: string, bottleneck: string, flows: string): string {
  return `name = "${name}"
duration = "60 s"
warmup = "5 s"

[topology]
preset = "dumbbell"
bottleneck = { ${bottleneck} }

${flows}`;
}

const CALL = (transport: string) => `[[flow]]
name = "call"
transport = "${transport}"
traffic = { kind = "voice", codec = "g711", always-on = true }
`;

const BULK = (name: string, count: number, transport: string) => `[[flow]]
name = "${name}"
count = ${count}
transport = ${transport}
traffic = "bulk"
start = { from = "0 s", to = "1 s" }
`;

const home = (queue: string, transport = "tcp/cubic") =>
  HOME.replace(/queue = \{ discipline.*\}/, `queue = { ${queue} }`).replace("tcp/cubic", transport);

const CARRIER = (transport: string, loss: number) =>
  dumbbell(
    "a call over another carrier",
    `rate = "2 Mb/s", delay = "40 ms", queue = { discipline = "drop-tail", capacity = { packets = 60 } }, loss = { model = "bernoulli", rate = ${loss} }`,
    CALL(transport),
  );

const SMOOTH = (sender: string) =>
  dumbbell(
    "smooth against responsive",
    'rate = "10 Mb/s", delay = "30 ms", queue = { discipline = "drop-tail", capacity = { bdp = 1.0 } }',
    `${BULK("main", 4, sender)}
[[flow]]
name = "interruption"
transport = "udp"
traffic = { kind = "cbr", rate = "5 Mb/s", payload = "1000 B", phase = "zero" }
active = [["20 s", "40 s"]]

[record]
bin = "500 ms"
`,
  );

const DROPPING = (victim: string) =>
  dumbbell(
    "which packet to drop",
    `rate = "3.5 Mb/s", delay = "9 ms", queue = { discipline = "red", capacity = { packets = 90 }, victim = "${victim}", min-threshold = 25, max-threshold = 76 }`,
    `${CALL("udp").replace('name = "call"', 'name = "call"\ncount = 8')}
[[flow]]
name = "other"
count = 32
transport = "udp"
traffic = { kind = "cbr", rate = "64 kb/s", payload = "1000 B" }
start = { from = "0 s", to = "1 s" }

${BULK("ftp", 5, '"tcp/reno"')}`,
  );

const VIDEO = (transport: string, count: number) =>
  dumbbell(
    "a receiver that knows its rate",
    'rate = "1 Mb/s", delay = "25 ms", queue = { discipline = "drop-tail", capacity = { packets = 20 } }',
    `[[flow]]
name = "video"
transport = "${transport}"
traffic = { kind = "video", packet = "1000 B", layers = ["128 kb/s", "128 kb/s", "128 kb/s", "256 kb/s", "384 kb/s"] }

${BULK("ftp", count, '"tcp/reno"')}`,
  );

export const LESSONS: Lesson[] = [
  {
    id: "bufferbloat",
    title: "Bufferbloat and its cures",
    steps: [
      {
        text: "An upload has no upper bound: it takes what there is. Its controller goes on until a packet is lost, so it fills the buffer before the uplink, however large, and whoever else sends waits behind it. Look at the queue and at the delay of the call.",
        scenario: home('discipline = "drop-tail", victim = "tail", capacity = { packets = 250 }'),
      },
      {
        text: "CoDel looks at how long packets have waited, not at how many there are: it drops one when the wait stays above 5 ms, and the sender yields. The buffer is as large as before; it is no longer full.",
        scenario: home('discipline = "codel", victim = "tail", capacity = { packets = 250 }'),
      },
      {
        text: "Back to a plain buffer that drops what finds no room. Its size alone decides between delay and loss.",
        scenario: home('discipline = "drop-tail", victim = "tail", capacity = { packets = 250 }'),
      },
    ],
    question:
      "Leave the queue plain (drop-tail). Which size of the buffer lets the call be good, MOS 3.6 or more, while the upload gets at least 1.6 Mb/s?",
    missing: (seen, json) => {
      if (get(json, ["link", 0, "queue", "discipline"]) !== "drop-tail") return "The queue must stay drop-tail.";
      if (goodput(seen, "upload") < 1.6e6) return "The upload gets less than 1.6 Mb/s.";
      return mos(seen) >= 3.6 ? undefined : "The call is not good yet.";
    },
    found:
      "A plain buffer can be right for one rate and one round trip. Change the rate, and it is wrong again: that is why queues measure time.",
    answer: [{ path: ["link", 0, "queue", "capacity"], value: { packets: 30 } }],
  },
  {
    id: "carrier",
    title: "TCP as the carrier of a call",
    steps: [
      {
        text: "UDP sends each packet once. What is lost is lost, and the listener hears it concealed: one packet in fifty here.",
        scenario: CARRIER("udp", 0.02),
      },
      {
        text: "TCP loses nothing and keeps the order: after a loss everything waits until the missing segment has come again, at least one round trip later. The delay has spikes, and packets that come too late are as good as lost.",
        scenario: CARRIER("tcp/newreno", 0.02),
      },
      {
        text: "A spike is as long as a round trip, or a timeout. How bad that is hangs on how often it happens: turn the losses.",
        scenario: CARRIER("tcp/newreno", 0.02),
      },
    ],
    question:
      "Leave the call on TCP and the delay of the bottleneck at 40 ms, and let at least one packet in 500 be lost. How few must they be for the call to be good, MOS 3.6 or more?",
    missing: (seen, json) => {
      if (!lawName(get(json, ["flow", 0, "transport"]), "name").startsWith("tcp/")) return "The call must stay on TCP.";
      if (get(json, ["topology", "bottleneck", "delay"]) !== "40 ms") return "The delay must stay at 40 ms.";
      const loss = Number(get(json, ["topology", "bottleneck", "loss", "rate"]) ?? 0);
      if (loss < 0.002) return "The path must go on losing one packet in 500.";
      return mos(seen) >= 3.6 ? undefined : "The call is not good yet.";
    },
    found:
      "A call sends little, so TCP often learns of a loss only by a timeout, a second or more. Where losses are rare, that is rare, too.",
    answer: [{ path: ["topology", "bottleneck", "loss"], value: { model: "bernoulli", rate: 0.003 } }],
  },
  {
    id: "smooth",
    title: "Smooth against responsive",
    steps: [
      {
        text: "Standard TCP adds a segment per round trip (α = 1) and halves on loss (β = 0.5). From 20 s to 40 s somebody else takes half of the link. It yields at once and comes back at once; its rate is a saw.",
        scenario: SMOOTH('{ name = "tcp/aimd", alpha = 1.0, beta = 0.5, delayed-ack = false }'),
      },
      {
        text: "TCP(0.31, 0.875) gives up an eighth instead of a half, and for fairness adds only 0.31. The saw is finer; so is its answer when the link is free again.",
        scenario: SMOOTH('{ name = "tcp/aimd", alpha = 0.31, beta = 0.875, delayed-ack = false }'),
      },
      {
        text: "γ and δ ask for how long the sender has been without a loss and how far its share has moved, and let α follow.",
        scenario: SMOOTH('{ name = "tcp/gamma-delta", delayed-ack = false }'),
      },
    ],
    question:
      "Take tcp/aimd and turn α and β (add the keys flow.main.transport.alpha and .beta). Which saw keeps the goodput's coefficient of variation below 0.46, although half of the link goes and comes?",
    missing: (seen, json) => {
      if (lawName(get(json, ["flow", 0, "transport"]), "name") !== "tcp/aimd") return "Take tcp/aimd.";
      const cov = Number(seen.groups.find((one) => one.group === "main")?.cov ?? Number.NaN);
      return cov < 0.46 ? undefined : `The coefficient of variation is ${cov.toFixed(2)}.`;
    },
    found: "A coarse saw is rough by itself; too fine a one comes back late after 40 s. Both count as variation.",
    answer: [
      { path: ["flow", 0, "transport"], value: { name: "tcp/aimd", alpha: 0.5, beta: 0.75, "delayed-ack": false } },
    ],
  },
  {
    id: "victim",
    title: "Which packet to drop",
    steps: [
      {
        text: "A router's queue (RED) says when a packet must go; the victim rule says which. Here it is the one that arrives, whoever's it is: calls lose as many as file transfers.",
        scenario: DROPPING("tail"),
      },
      {
        text: "Drop-Sel takes the packet nearest the front of the class that holds most bytes of the queue. Open the packet view: the marked victims are no longer the calls' packets.",
        scenario: DROPPING("drop-sel"),
      },
      {
        text: "Back to the arrival as the victim.",
        scenario: DROPPING("tail"),
      },
    ],
    question:
      "Without touching rates or numbers of flows: which victim makes the calls lose less than 1 % of their packets?",
    missing: (seen, json) => {
      if (get(json, ["topology", "bottleneck", "rate"]) !== "3.5 Mb/s") return "The rate must stay as it is.";
      if (get(json, ["flow", 0, "count"]) !== 8 || get(json, ["flow", 1, "count"]) !== 32) {
        return "The numbers of flows must stay as they are.";
      }
      const row = seen.groups.find((one) => one.group === "call");
      const share = Number(row?.dropped_share ?? 1);
      return share < 0.01 ? undefined : `The calls lose ${(share * 100).toFixed(1)} %.`;
    },
    found: "Voice is a small class: whoever takes from the largest class leaves it alone.",
    answer: [{ path: ["topology", "bottleneck", "queue", "victim"], value: "drop-sel" }],
  },
  {
    id: "receiver",
    title: "A receiver that knows its rate",
    steps: [
      {
        text: "A video in five layers, one megabit in all, over a link of one megabit that two file transfers use, too. Over UDP it sends everything and loses whatever does not fit, of each layer.",
        scenario: VIDEO("udp", 2),
      },
      {
        text: "Over DVRC the receiver measures what arrives and asks for as many layers as fit. Fewer layers are sent, and less than half as many of its packets are dropped.",
        scenario: VIDEO("dvrc", 2),
      },
      {
        text: "Back to UDP.",
        scenario: VIDEO("udp", 2),
      },
    ],
    question:
      "The two transfers stay, and so does the rate. How can fewer than 15 % of the video's packets be dropped?",
    missing: (seen, json) => {
      if (get(json, ["flow", 1, "count"]) !== 2) return "The two transfers must stay.";
      if (get(json, ["topology", "bottleneck", "rate"]) !== "1 Mb/s") return "The rate must stay.";
      const video = seen.groups.find((one) => one.group === "video");
      const share = Number(video?.dropped_share ?? 1);
      if (Number(video?.units_received ?? 0) < 1000) return "Hardly anything of the video arrives.";
      return share < 0.15 ? undefined : `${Math.round(share * 100)} % are dropped.`;
    },
    found:
      "Who knows the rate can leave out what would be dropped. Compare what the viewer sees, too: a sender that yields beside TCP has less to show than one that does not.",
    answer: [{ path: ["flow", 0, "transport"], value: "dvrc" }],
  },
  {
    id: "today",
    title: "What FQ-CoDel and DualPI2 changed",
    steps: [
      {
        text: "FQ-CoDel gives each flow a queue of its own and serves them in turn; one that sends little is served at once. The call no longer waits behind the upload, whatever the upload does.",
        scenario: home('discipline = "fq-codel", capacity = { packets = 1000 }'),
      },
      {
        text: "DualPI2 has two queues: one for senders that answer marks little by little (Prague), with a wait of about a millisecond, one for all others; coupled so that both get their share. An upload over CUBIC is in the second, and so is the call.",
        scenario: home('discipline = "dualpi2", capacity = { packets = 1000 }'),
      },
      {
        text: "One queue for all, with a bound: PIE. The call shares it with the upload.",
        scenario: home('discipline = "pie", victim = "tail", capacity = { packets = 1000 }'),
      },
    ],
    question:
      "Leave the upload on CUBIC. Which queue lets the call lose less than 0.2 % of its packets and hear less than 120 ms after they were said?",
    missing: (seen, json) => {
      if (lawName(get(json, ["flow", 2, "transport"]), "name") !== "tcp/cubic") return "The upload must stay on CUBIC.";
      const flow = seen.flows.find((row) => row.group === "call");
      const group = seen.groups.find((row) => row.group === "call");
      if (Number(group?.dropped_share ?? 1) >= 0.002) return "The call loses more than that.";
      return Number(flow?.mouth_to_ear_s ?? 1) < 0.12 ? undefined : "The call is heard later than that.";
    },
    found: "Queues of their own make it a matter of the flow itself how long it waits.",
    answer: [{ path: ["link", 0, "queue"], value: { discipline: "fq-codel", capacity: { packets: 1000 } } }],
  },
];
