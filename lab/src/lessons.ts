// Six lessons. Each step opens a scenario. The last step asks a question, and the page says when the controls answer it.

import { lawName } from "./controls";
import { HOME } from "./opening";
import { get } from "./paths";
import type { ObservedRun, Table } from "./protocol";

export interface Step {
  text: string;
  /** The scenario of the step, as TOML. */
  scenario: string;
}

export interface Lesson {
  id: string;
  title: string;
  steps: Step[];
  question: string;
  /** What a run still lacks for an answer, as a sentence; undefined for an answer. */
  missing(run: ObservedRun, json: Table): string | undefined;
  found: string;
  /** One answer, as keys and values: a test checks it. */
  answer: { path: (string | number)[]; value: string | number | Table }[];
}

const mos = (run: ObservedRun, group = "call"): number =>
  run.voice.find((one) => one.group === group)?.mos ?? Number.NaN;
const goodput = (run: ObservedRun, group: string): number =>
  Number(run.groups.find((one) => one.group === group)?.goodput_bps ?? Number.NaN);

/** A dumbbell with one bottleneck. */
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
        text: "The upload takes all the capacity that it can get. Its controller sends faster until a packet is lost. So it fills the buffer of the uplink, however large, and every other packet waits in this queue. Look at the queue and at the delay of the call.",
        scenario: home('discipline = "drop-tail", victim = "tail", capacity = { packets = 250 }'),
      },
      {
        text: "CoDel measures how long packets wait, not how many there are. It drops a packet when the queueing delay stays above 5 ms, and the sender slows down. The buffer is as large as before, but no longer full.",
        scenario: home('discipline = "codel", victim = "tail", capacity = { packets = 250 }'),
      },
      {
        text: "Back to drop-tail, which drops a packet only when the buffer is full. Its size alone decides between delay and loss.",
        scenario: home('discipline = "drop-tail", victim = "tail", capacity = { packets = 250 }'),
      },
    ],
    question:
      "Keep drop-tail. Which buffer size gives a good call (MOS 3.6 or more) and at least 1.6 Mb/s for the upload?",
    missing: (run, json) => {
      if (get(json, ["link", 0, "queue", "discipline"]) !== "drop-tail") return "Keep drop-tail.";
      if (goodput(run, "upload") < 1.6e6) return "The upload gets less than 1.6 Mb/s.";
      return mos(run) >= 3.6 ? undefined : "The call is not good yet.";
    },
    found:
      "A fixed buffer size fits one rate and one round-trip time. Change the rate, and it no longer fits. That is why modern disciplines measure delay.",
    answer: [{ path: ["link", 0, "queue", "capacity"], value: { packets: 30 } }],
  },
  {
    id: "carrier",
    title: "TCP as the carrier of a call",
    steps: [
      {
        text: "UDP sends each packet once. Here the link loses one packet in 50, and the receiver conceals the gaps.",
        scenario: CARRIER("udp", 0.02),
      },
      {
        text: "TCP delivers everything in order. After a loss, all later data waits for the retransmission, at least one round trip. The delay has spikes, and a packet that arrives too late counts as lost.",
        scenario: CARRIER("tcp/newreno", 0.02),
      },
      {
        text: "A spike lasts a round trip or a retransmission timeout. How much it hurts depends on how often it happens. Change the loss.",
        scenario: CARRIER("tcp/newreno", 0.02),
      },
    ],
    question:
      "Keep the call on TCP, the bottleneck delay at 40 ms and a loss of at least one packet in 500. How low must the loss be for a good call (MOS 3.6 or more)?",
    missing: (run, json) => {
      if (!lawName(get(json, ["flow", 0, "transport"]), "name").startsWith("tcp/")) return "Keep the call on TCP.";
      if (get(json, ["topology", "bottleneck", "delay"]) !== "40 ms") return "Keep the bottleneck delay at 40 ms.";
      const loss = Number(get(json, ["topology", "bottleneck", "loss", "rate"]) ?? 0);
      if (loss < 0.002) return "The loss must be at least one packet in 500.";
      return mos(run) >= 3.6 ? undefined : "The call is not good yet.";
    },
    found:
      "A call sends few packets, so TCP often detects a loss only by a retransmission timeout of a second or more. Rare losses make rare timeouts.",
    answer: [{ path: ["topology", "bottleneck", "loss"], value: { model: "bernoulli", rate: 0.003 } }],
  },
  {
    id: "smooth",
    title: "Smooth against responsive",
    steps: [
      {
        text: "Standard TCP adds a segment per round trip (α = 1) and halves its window after a loss (β = 0.5). From 20 s to 40 s a UDP flow takes half of the link. TCP makes room at once and returns at once, but its rate is a coarse sawtooth.",
        scenario: SMOOTH('{ name = "tcp/aimd", alpha = 1.0, beta = 0.5, delayed-ack = false }'),
      },
      {
        text: "TCP(0.31, 0.875) gives up an eighth instead of a half. For fairness it adds only 0.31 segments per round trip. The sawtooth is finer, but the return after 40 s is slower.",
        scenario: SMOOTH('{ name = "tcp/aimd", alpha = 0.31, beta = 0.875, delayed-ack = false }'),
      },
      {
        text: "tcp/gamma-delta measures the queueing delay. At a threshold it cuts the window by γ, before the buffer overflows. While the delay is low, it adds δ segments per round trip instead of α.",
        scenario: SMOOTH('{ name = "tcp/gamma-delta", delayed-ack = false }'),
      },
    ],
    question:
      "Choose tcp/aimd and change α and β (add controls for flow.main.transport.alpha and .beta). Which pair keeps the goodput's coefficient of variation below 0.46?",
    missing: (run, json) => {
      if (lawName(get(json, ["flow", 0, "transport"]), "name") !== "tcp/aimd") return "Choose tcp/aimd.";
      const cov = Number(run.groups.find((one) => one.group === "main")?.cov ?? Number.NaN);
      return cov < 0.46 ? undefined : `The coefficient of variation is ${cov.toFixed(2)}.`;
    },
    found:
      "A coarse sawtooth varies by itself. A sawtooth that is too fine returns late after 40 s. Both count as variation.",
    answer: [
      { path: ["flow", 0, "transport"], value: { name: "tcp/aimd", alpha: 0.5, beta: 0.75, "delayed-ack": false } },
    ],
  },
  {
    id: "victim",
    title: "Which packet to drop",
    steps: [
      {
        text: "A router's queue (RED) decides when to drop a packet. The victim rule decides which one. Here the victim is the arriving packet of any flow, so calls lose packets like all other flows.",
        scenario: DROPPING("tail"),
      },
      {
        text: "Drop-Sel chooses the class with most bytes in the queue and drops its packet nearest the front. Show the packets: few victims belong to the calls now.",
        scenario: DROPPING("drop-sel"),
      },
      {
        text: "Back to the arriving packet as the victim.",
        scenario: DROPPING("tail"),
      },
    ],
    question:
      "Keep the rates and the numbers of flows. With which victim rule do the calls lose less than 1 % of their packets?",
    missing: (run, json) => {
      if (get(json, ["topology", "bottleneck", "rate"]) !== "3.5 Mb/s") return "Keep the bottleneck rate at 3.5 Mb/s.";
      if (get(json, ["flow", 0, "count"]) !== 8 || get(json, ["flow", 1, "count"]) !== 32) {
        return "Keep the numbers of flows.";
      }
      const row = run.groups.find((one) => one.group === "call");
      const share = Number(row?.dropped_share ?? 1);
      return share < 0.01 ? undefined : `The calls lose ${(share * 100).toFixed(1)} %.`;
    },
    found: "Voice is a small class. A rule that drops from the largest class spares it.",
    answer: [{ path: ["topology", "bottleneck", "queue", "victim"], value: "drop-sel" }],
  },
  {
    id: "receiver",
    title: "A receiver that knows its rate",
    steps: [
      {
        text: "A video in five layers, 1 Mb/s in all, shares a 1 Mb/s link with two file transfers. Over UDP it sends all layers, and each layer loses packets.",
        scenario: VIDEO("udp", 2),
      },
      {
        text: "With DVRC the receiver measures its rate and requests as many layers as fit. The sender sends fewer layers, and the share of dropped packets is less than half.",
        scenario: VIDEO("dvrc", 2),
      },
      {
        text: "Back to UDP.",
        scenario: VIDEO("udp", 2),
      },
    ],
    question: "Keep the two transfers and the rate. How can the queue drop less than 15 % of the video's packets?",
    missing: (run, json) => {
      if (get(json, ["flow", 1, "count"]) !== 2) return "Keep the two transfers.";
      if (get(json, ["topology", "bottleneck", "rate"]) !== "1 Mb/s") return "Keep the bottleneck rate at 1 Mb/s.";
      const video = run.groups.find((one) => one.group === "video");
      const share = Number(video?.dropped_share ?? 1);
      if (Number(video?.units_received ?? 0) < 1000) return "Too little of the video arrives (fewer than 1000 units).";
      return share < 0.15 ? undefined : `${Math.round(share * 100)} % of the video's packets are dropped.`;
    },
    found:
      "A sender that knows the rate omits the layers that would be dropped. But look at the throughput, too: next to TCP, a responsive sender gets less than UDP.",
    answer: [{ path: ["flow", 0, "transport"], value: "dvrc" }],
  },
  {
    id: "disciplines",
    title: "What FQ-CoDel and DualPI2 change",
    steps: [
      {
        text: "FQ-CoDel gives each flow a separate queue and serves the queues in turn. A flow that sends little is served at once. The call no longer waits behind the upload.",
        scenario: home('discipline = "fq-codel", capacity = { packets = 1000 }'),
      },
      {
        text: "DualPI2 has two queues. One is for scalable senders (Prague) and holds the delay near one millisecond; the other is for all other traffic. A coupling shares the rate between them. The CUBIC upload and the call are both in the second queue.",
        scenario: home('discipline = "dualpi2", capacity = { packets = 1000 }'),
      },
      {
        text: "PIE: one queue for all traffic, with a target delay. The call shares it with the upload.",
        scenario: home('discipline = "pie", victim = "tail", capacity = { packets = 1000 }'),
      },
    ],
    question:
      "Keep the upload on CUBIC. Which queue gives the call less than 0.2 % drops and a mouth-to-ear delay below 120 ms?",
    missing: (run, json) => {
      if (lawName(get(json, ["flow", 2, "transport"]), "name") !== "tcp/cubic") return "Keep the upload on CUBIC.";
      const flow = run.flows.find((row) => row.group === "call");
      const group = run.groups.find((row) => row.group === "call");
      if (Number(group?.dropped_share ?? 1) >= 0.002) return "The queue drops at least 0.2 % of the call's packets.";
      return Number(flow?.mouth_to_ear_s ?? 1) < 0.12 ? undefined : "The mouth-to-ear delay is 120 ms or more.";
    },
    found: "With a queue per flow, the queueing delay of a flow depends on that flow alone.",
    answer: [{ path: ["link", 0, "queue"], value: { discipline: "fq-codel", capacity: { packets: 1000 } } }],
  },
];
