// Fourteen lessons: one for each family of queues, one for each surprising result of the studies (docs/studies.md), one on a call with
// pictures, one on Wi-Fi. A lesson asks for a prediction, compares it with the engine's result, and ends in a task for the controls.
// All numbers come from the engine.

import { lawName } from "./controls";
import { HOME, VIDEO_CALL } from "./opening";
import { get, type Path } from "./paths";
import type { ObservedRun, Table } from "./protocol";

/** A network that the engine runs for a lesson. */
export interface Setting {
  name: string;
  /** As TOML. */
  scenario: string;
}

/** A column of a lesson's table. */
export interface LessonMeasure {
  label: string;
  unit: string;
  digits: number;
  of(run: ObservedRun): number;
}

/** Means over seeds: one row for each setting, one column for each measure. */
export type Means = readonly (readonly number[])[];

export interface Prediction {
  question: string;
  choices: string[];
  /** The index of the right choice. */
  right(means: Means): number;
}

/** A step between prediction and task: a text, and a setting of the lesson. */
export interface Look {
  text: string;
  setting: number;
}

export interface Task {
  text: string;
  /** The scenario at the start, as TOML. */
  start: string;
  question: string;
  hints: string[];
  /** The remaining part of the task, as a sentence; undefined if the task is done. */
  missing(run: ObservedRun, json: Table): string | undefined;
  found: string;
  /** One solution, as keys and values. */
  answer: { path: (string | number)[]; value: string | number | Table }[];
}

export interface Lesson {
  id: string;
  title: string;
  /** The family of queues or the studies' claims that the lesson is about. */
  about: string;
  /** The skill that the lesson teaches. */
  aim: string;
  intro: string;
  settings: Setting[];
  /** The setting on the page while the reader predicts. */
  shown: number;
  measures: LessonMeasure[];
  prediction: Prediction;
  looks: Look[];
  task: Task;
  /** Keys that get a control in this lesson. */
  keys?: Path[];
  /** The expected result. A test checks it. */
  claim: { words: string; holds(means: Means): boolean };
  /** Questions for a class. */
  discussion: string[];
}

const numberOf = (value: unknown): number => (typeof value === "number" ? value : Number.NaN);
const mos = (run: ObservedRun, group = "call"): number => numberOf(run.voice.find((one) => one.group === group)?.mos);
const sessionOf = (run: ObservedRun, name = "call") => run.media_groups.find(({ group }) => group === name);
/** The MOS of the worst stream of a media session. */
const worst = (run: ObservedRun, name = "call"): number => numberOf(sessionOf(run, name)?.mos);
const groupOf = (run: ObservedRun, name: string) => run.groups.find(({ group }) => group === name);
const goodput = (run: ObservedRun, name: string): number => numberOf(groupOf(run, name)?.goodput_bps);
const dropped = (run: ObservedRun, name: string): number => numberOf(groupOf(run, name)?.dropped_share);
/** The mean wait at a link direction, s. */
const waitAt = (run: ObservedRun, link: string): number =>
  numberOf(run.links.find((row) => row.link === link)?.mean_wait_s);

const MOS: LessonMeasure = { label: "MOS of the call", unit: "", digits: 2, of: (run) => mos(run) };
const goodputOf = (name: string): LessonMeasure => ({
  label: `Goodput of ${name}`,
  unit: "Mb/s",
  digits: 2,
  of: (run) => goodput(run, name) / 1e6,
});
const droppedOf = (name: string): LessonMeasure => ({
  label: `Packets of ${name} dropped`,
  unit: "%",
  digits: 1,
  of: (run) => dropped(run, name) * 100,
});
const waitOf = (link: string): LessonMeasure => ({
  label: `Mean wait at ${link}`,
  unit: "ms",
  digits: 1,
  of: (run) => waitAt(run, link) * 1000,
});

/** A value of the table of means. */
const at = (means: Means, setting: number, measure: number): number => means[setting]?.[measure] ?? Number.NaN;

/** A dumbbell with one bottleneck. */
function dumbbell(name: string, bottleneck: string, flows: string): string {
  return `name = "${name}"
duration = "60 s"
warmup = "5 s"
preset = "rfc"

[topology]
preset = "dumbbell"
bottleneck = { ${bottleneck} }

${flows}`;
}

const CALLS = (count: number, transport = "udp") => `[[flow]]
name = "call"
count = ${count}
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

/** The home of the opening, with the RFCs' TCP, to which the numbers in the lessons' texts belong. */
const RFC_HOME = HOME.replace("\nwarmup", '\npreset = "rfc"\nwarmup');

const home = (queue: string, rate = "3 Mb/s") =>
  RFC_HOME.replace(/queue = \{ discipline.*\}/, `queue = { ${queue} }`).replace('rate = "3 Mb/s"', `rate = "${rate}"`);

const tailDrop = (packets: number) => `discipline = "drop-tail", victim = "tail", capacity = { packets = ${packets} }`;

const MANY = (queue: string, transfers: number) =>
  dumbbell(
    "calls among transfers",
    `rate = "10 Mb/s", delay = "20 ms", queue = { ${queue} }`,
    `${CALLS(2)}
${BULK("transfer", transfers, '"tcp/sack"')}`,
  );

const RED =
  'discipline = "red", victim = "tail", min-threshold = 5, max-threshold = 15, max-p = 0.02, weight = 0.002, capacity = { packets = 300 }';

const MIXED = (queue: string) =>
  dumbbell(
    "calls, streams and transfers",
    `rate = "3.5 Mb/s", delay = "9 ms", queue = { ${queue} }`,
    `${CALLS(8).replace("always-on", 'packet-time = "20 ms", always-on')}
[[flow]]
name = "other"
count = 32
transport = "udp"
traffic = { kind = "cbr", rate = "64 kb/s", payload = "1000 B" }
start = { from = "0 s", to = "1 s" }

${BULK("ftp", 5, '"tcp/reno"')}`,
  );

const EARLY = (discipline: string, victim?: string) =>
  `discipline = "${discipline}", capacity = { packets = 90 }, ${victim ? `victim = "${victim}", ` : ""}min-threshold = 25, max-threshold = 76`;

const POLITE = (queue: string) =>
  dumbbell(
    "polite and eager senders",
    `rate = "10 Mb/s", delay = "20 ms", queue = { discipline = "${queue}", capacity = { packets = 100 } }`,
    `${BULK("eager", 4, '"tcp/cubic"')}
${BULK("polite", 4, '"tcp/gamma"')}`,
  );

const SCALABLE = (queue: string) =>
  dumbbell(
    "calls next to scalable transfers",
    `rate = "5 Mb/s", delay = "20 ms", queue = { ${queue}, capacity = { packets = 300 } }`,
    `${CALLS(12)}
${BULK("transfer", 4, '"tcp/prague"')}`,
  );

/** A router with CAKE in front of a modem with a deep buffer. */
const MODEM = (bandwidth: string) =>
  RFC_HOME.replace(
    /from = "home"\nto = "isp"\nrate = "3 Mb\/s"\ndelay = "10 ms"\nqueue = .*/,
    `from = "home"
to = "modem"
rate = "100 Mb/s"
delay = "0.1 ms"
queue = { discipline = "cake", bandwidth = "${bandwidth}", capacity = { packets = 1000 } }

[[link]]
from = "modem"
to = "isp"
rate = "3 Mb/s"
delay = "10 ms"
queue = { ${tailDrop(250)} }`,
  );

const CARRIER = (transport: string, loss: number) =>
  dumbbell(
    "a call over another carrier",
    `rate = "2 Mb/s", delay = "40 ms", queue = { discipline = "drop-tail", capacity = { packets = 60 } }, loss = { model = "bernoulli", rate = ${loss} }`,
    CALLS(1, transport),
  );

const AIMD = (alpha: number, beta: number, loss: number) =>
  dumbbell(
    "smooth against responsive",
    `rate = "10 Mb/s", delay = "30 ms", queue = { discipline = "drop-tail", capacity = { bdp = 1.0 } }${loss ? `, loss = { model = "bernoulli", rate = ${loss} }` : ""}`,
    BULK("main", 4, `{ name = "tcp/aimd", alpha = ${alpha}, beta = ${beta}, delayed-ack = false }`),
  );

const VIDEO = (transport: string) =>
  dumbbell(
    "a receiver that knows its rate",
    'rate = "1 Mb/s", delay = "25 ms", queue = { discipline = "drop-tail", capacity = { packets = 20 } }',
    `[[flow]]
name = "video"
transport = "${transport}"
traffic = { kind = "video", packet = "1000 B", layers = ["128 kb/s", "128 kb/s", "128 kb/s", "256 kb/s", "384 kb/s"] }

${BULK("ftp", 2, '"tcp/reno"')}`,
  );

/** A video call over WebRTC next to an upload, with another queue in the modem. */
const MODEM_QUEUE = (queue: string) => VIDEO_CALL.replace(/^queue = \{.*\}$/m, `queue = { ${queue} }`);

const DEEP = "capacity = { bytes = 500_000 }";

/** A call on a phone near the access point, and a download of a laptop at some distance, m. */
const AIR = (distance: number, queues = "fifo") => `name = "a call on Wi-Fi"
duration = "30 s"
warmup = "5 s"
preset = "rfc"

[medium.air]
law = "wifi"
access-point = "router"
standard = "802.11n"
queues = "${queues}"
channel = { distance = 4.0 }

[medium.air.stations]
laptop = { channel = { distance = ${distance.toFixed(1)} } }

[[link]]
from = "internet"
to = "router"
rate = "100 Mb/s"
delay = "10 ms"

[[link]]
from = "router"
to = "phone"
medium = "air"
queue = { capacity = { packets = 500 } }

[[link]]
from = "router"
to = "laptop"
medium = "air"
queue = { capacity = { packets = 500 } }

[[flow]]
name = "call"
from = "internet"
to = "phone"
transport = "udp"
traffic = { kind = "voice", codec = "g711", always-on = true }
dscp = "df"

[[flow]]
name = "download"
from = "internet"
to = "laptop"
transport = "tcp/cubic"
traffic = "bulk"
`;

/** The index of the first bound that a value does not reach; the number of bounds if it reaches all. */
const rank = (value: number, bounds: readonly number[]): number => {
  const found = bounds.findIndex((bound) => value < bound);
  return found < 0 ? bounds.length : found;
};

export const LESSONS: Lesson[] = [
  {
    id: "bufferbloat",
    title: "How large should a buffer be?",
    about: "Queue family: drop-tail",
    aim: "Explain why a larger buffer of a drop-tail queue costs delay and gains almost no goodput.",
    intro:
      "A call and an upload share an uplink of 3 Mb/s. Its queue is drop-tail: it drops a packet only when the buffer is full. The upload sends faster until a packet is lost.",
    settings: [
      { name: "20 packets", scenario: home(tailDrop(20)) },
      { name: "100 packets", scenario: home(tailDrop(100)) },
      { name: "300 packets", scenario: home(tailDrop(300)) },
    ],
    shown: 1,
    measures: [MOS, goodputOf("upload"), waitOf("home>isp")],
    prediction: {
      question: "The buffer grows from 100 to 300 packets. How much more goodput does the upload get?",
      choices: ["Less than 5 %", "5 % to 20 %", "More than 20 %"],
      right: (means) => rank(at(means, 2, 1) / at(means, 1, 1) - 1, [0.05, 0.2]),
    },
    looks: [
      {
        text: "The upload keeps the link busy with a small buffer, too. A larger buffer is only filled. Look at the queue: every packet of the call waits in it.",
        setting: 2,
      },
      {
        text: "With a small buffer the wait is short. The upload loses packets more often and hardly notices it.",
        setting: 0,
      },
    ],
    task: {
      text: "The buffer has 250 packets now.",
      start: home(tailDrop(250)),
      question:
        "Keep drop-tail. Find a buffer size with a good call (MOS 3.6 or more) and at least 1.6 Mb/s for the upload.",
      hints: [
        "Move the slider of the buffer and look at the delay of the call.",
        "The longest wait is buffer size × packet size ÷ rate. A packet of the upload has 1500 bytes.",
      ],
      missing: (run, json) => {
        if (get(json, ["link", 0, "queue", "discipline"]) !== "drop-tail") return "Keep drop-tail.";
        if (goodput(run, "upload") < 1.6e6) return "The upload gets less than 1.6 Mb/s.";
        return mos(run) >= 3.6 ? undefined : "The call is not good yet.";
      },
      found: "A fixed buffer size fits one rate and one round-trip time. Change the rate, and it no longer fits.",
      answer: [{ path: ["link", 0, "queue", "capacity"], value: { packets: 30 } }],
    },
    claim: {
      words:
        "The MOS falls from 20 to 100 to 300 packets, by at least 0.5 each time. The upload's goodput changes by less than 5 %.",
      holds: (means) =>
        at(means, 0, 0) - at(means, 1, 0) > 0.5 &&
        at(means, 1, 0) - at(means, 2, 0) > 0.5 &&
        Math.abs(at(means, 2, 1) / at(means, 0, 1) - 1) < 0.05,
    },
    discussion: [
      "Who chooses the buffer of a modem, and which rates must it fit?",
      "A speed test measures goodput alone. Which buffer does it reward?",
    ],
  },
  {
    id: "delay",
    title: "Measure the wait, not the length",
    about: "Queue family: CoDel and PIE",
    aim: "Explain how a queue that measures delay keeps a large buffer almost empty, at any rate.",
    intro:
      "The buffer of the uplink has 300 packets, and drop-tail fills it. CoDel and PIE have the same buffer. They measure how long packets wait, and drop one when the wait stays too long. The upload then sends more slowly.",
    settings: [
      { name: "drop-tail", scenario: home(tailDrop(300)) },
      { name: "CoDel", scenario: home('discipline = "codel", victim = "tail", capacity = { packets = 300 }') },
      { name: "PIE", scenario: home('discipline = "pie", victim = "tail", capacity = { packets = 300 }') },
    ],
    shown: 0,
    measures: [waitOf("home>isp"), MOS, goodputOf("upload")],
    prediction: {
      question: "CoDel replaces drop-tail and the buffer stays as it is. What becomes of the mean wait?",
      choices: ["Less than a tenth of it", "A tenth to a half of it", "More than half of it"],
      right: (means) => rank(at(means, 1, 0) / at(means, 0, 0), [0.1, 0.5]),
    },
    looks: [
      {
        text: "CoDel lets a burst pass and drops only when the wait has been above 5 ms for 100 ms. The buffer is as large as before and almost empty.",
        setting: 1,
      },
      {
        text: "PIE drops arriving packets with a probability that follows the delay. Its target is 15 ms.",
        setting: 2,
      },
    ],
    task: {
      text: "The rate of the uplink has fallen to 1.5 Mb/s. Drop-tail with its 300 packets is back.",
      start: home(tailDrop(300), "1.5 Mb/s"),
      question:
        "Keep the rate and the 300 packets. Find a queue without a queue per flow (CoDel or PIE) that makes the call good (MOS 3.6 or more).",
      hints: ["Change the bottleneck queue.", "Compare the mean wait of CoDel with that of PIE."],
      missing: (run, json) => {
        if (get(json, ["link", 0, "rate"]) !== "1.5 Mb/s") return "Keep the rate at 1.5 Mb/s.";
        if (get(json, ["link", 0, "queue", "capacity", "packets"]) !== 300) return "Keep the 300 packets.";
        const discipline = String(get(json, ["link", 0, "queue", "discipline"]));
        if (!["codel", "pie"].includes(discipline)) return "Choose CoDel or PIE.";
        return mos(run) >= 3.6 ? undefined : "The call is not good yet.";
      },
      found: "The same parameters work at half the rate. A buffer size in packets does not: it means another delay.",
      answer: [{ path: ["link", 0, "queue", "discipline"], value: "codel" }],
    },
    claim: {
      words:
        "With CoDel and with PIE the mean wait is less than a tenth of drop-tail's, the MOS is higher by at least 1, and the upload keeps nine tenths of its goodput.",
      holds: (means) =>
        [1, 2].every(
          (queue) =>
            at(means, queue, 0) < at(means, 0, 0) / 10 &&
            at(means, queue, 1) > at(means, 0, 1) + 1 &&
            at(means, queue, 2) > at(means, 0, 2) * 0.9,
        ),
    },
    discussion: [
      "Why does CoDel drop at the head of the queue and not at its tail?",
      "CoDel drops packets of the call, too. When is that a problem?",
    ],
  },
  {
    id: "early",
    title: "Dropping early, and by how much",
    about: "Queue family: RED and ARED",
    aim: "Explain that RED holds the length of a queue, while the losses grow with the number of flows.",
    intro:
      "RED drops arriving packets by chance as the average queue grows from 5 to 15 packets. Two calls share a link of 10 Mb/s with four transfers. The call is good.",
    settings: [
      { name: "RED, 4 transfers", scenario: MANY(RED, 4) },
      { name: "RED, 80 transfers", scenario: MANY(RED, 80) },
      {
        name: "ARED, 80 transfers",
        scenario: MANY(
          'discipline = "ared", victim = "tail", min-threshold = 5, max-threshold = 15, capacity = { packets = 300 }',
          80,
        ),
      },
    ],
    shown: 0,
    measures: [MOS, waitOf("r1>r2"), droppedOf("call")],
    prediction: {
      question: "Now 80 transfers share the link instead of 4. How is the call?",
      choices: ["Poor (MOS below 3.1)", "Fair (3.1 to 3.6)", "Good (3.6 or more)"],
      right: (means) => rank(at(means, 1, 0), [3.1, 3.6]),
    },
    looks: [
      {
        text: "The wait is still short: RED holds the queue near its thresholds. But 80 senders are slowed down only by many losses, and RED drops packets of any flow.",
        setting: 1,
      },
      {
        text: "ARED adapts its drop probability. It holds the queue better. The transfers still need as many losses.",
        setting: 2,
      },
    ],
    task: {
      text: "RED with 80 transfers again.",
      start: MANY(RED, 80),
      question: "Keep RED, its thresholds and the 80 transfers. Make the call good (MOS 3.6 or more).",
      hints: [
        "RED decides when to drop a packet. Another control decides which one.",
        "Calls send much less than transfers: a rule that drops from the class with most bytes spares them.",
      ],
      missing: (run, json) => {
        const queue = get(json, ["topology", "bottleneck", "queue"]) as Table | undefined;
        if (queue?.discipline !== "red" || queue["min-threshold"] !== 5 || queue["max-threshold"] !== 15) {
          return "Keep RED and its thresholds.";
        }
        if (get(json, ["flow", 1, "count"]) !== 80) return "Keep the 80 transfers.";
        return mos(run) >= 3.6 ? undefined : "The call is not good yet.";
      },
      found: "How much to drop follows from the number of senders. Which packet to drop is a separate choice.",
      answer: [{ path: ["topology", "bottleneck", "queue", "victim"], value: "drop-sel" }],
    },
    claim: {
      words:
        "With 80 transfers instead of 4, RED's mean wait stays below 20 ms, the calls lose at least ten times the share of packets, and the call goes from good to poor. ARED does not make it good.",
      holds: (means) =>
        at(means, 1, 1) < 20 &&
        at(means, 1, 2) > 10 * at(means, 0, 2) &&
        at(means, 0, 0) >= 3.6 &&
        at(means, 1, 0) < 3.1 &&
        at(means, 2, 0) < 3.6,
    },
    discussion: [
      "A TCP sender's rate is about packet size ÷ (round trip × √loss). Which loss do 80 senders on 10 Mb/s need?",
      "Would marking (ECN) instead of dropping help the call?",
    ],
  },
  {
    id: "rate-based",
    title: "A queue that looks at rates",
    about: "Queue family: AVQ, REM and GREEN",
    aim: "Compare queues that aim at a use of the link or at a backlog, and say what they do not control.",
    intro:
      "AVQ imagines a slightly slower link and drops what that link would have no room for. GREEN changes its drop probability by the rate of arrivals alone. REM computes a price of backlog and excess demand. All have the same buffer of 250 packets.",
    settings: [
      { name: "drop-tail", scenario: home(tailDrop(250)) },
      { name: "AVQ", scenario: home('discipline = "avq", victim = "tail", capacity = { packets = 250 }') },
      { name: "REM", scenario: home('discipline = "rem", victim = "tail", capacity = { packets = 250 }') },
      { name: "GREEN", scenario: home('discipline = "green", victim = "tail", capacity = { packets = 250 }') },
    ],
    shown: 0,
    measures: [MOS, waitOf("home>isp"), goodputOf("upload")],
    prediction: {
      question:
        "Each of the three aims at nearly full use of the link. Under which of them does the call wait longest?",
      choices: ["AVQ", "REM", "GREEN"],
      right: (means) => {
        const waits = [1, 2, 3].map((queue) => at(means, queue, 1));
        return waits.indexOf(Math.max(...waits));
      },
    },
    looks: [
      {
        text: "AVQ drops only when its imagined queue is full, and that queue is as large as the buffer. So a single upload still builds a long queue before the first drop.",
        setting: 1,
      },
      {
        text: "GREEN drops as soon as more arrives than it wants. The queue stays short, and the upload does not use the whole link.",
        setting: 3,
      },
    ],
    task: {
      text: "AVQ again.",
      start: home('discipline = "avq", victim = "tail", capacity = { packets = 250 }'),
      question: "Use AVQ, REM or GREEN. Make the call good (MOS 3.6 or more) with at least 1.6 Mb/s for the upload.",
      hints: [
        "Try the disciplines of this lesson one after the other.",
        "The shortest wait had the queue that looks at the rate alone.",
      ],
      missing: (run, json) => {
        const discipline = String(get(json, ["link", 0, "queue", "discipline"]));
        if (!["avq", "rem", "green"].includes(discipline)) return "Use AVQ, REM or GREEN.";
        if (goodput(run, "upload") < 1.6e6) return "The upload gets less than 1.6 Mb/s.";
        return mos(run) >= 3.6 ? undefined : "The call is not good yet.";
      },
      found:
        "A target for the use of the link is no target for the delay. GREEN pays for its short queue with goodput.",
      answer: [{ path: ["link", 0, "queue", "discipline"], value: "green" }],
    },
    claim: {
      words:
        "Of the three, AVQ has the longest mean wait and GREEN the shortest; GREEN's MOS is good, AVQ's is not. GREEN's upload gets less than drop-tail's.",
      holds: (means) =>
        at(means, 1, 1) > at(means, 2, 1) &&
        at(means, 2, 1) > at(means, 3, 1) &&
        at(means, 3, 0) >= 3.6 &&
        at(means, 1, 0) < 3.6 &&
        at(means, 3, 2) < at(means, 0, 2),
    },
    discussion: [
      "In the base reading of the study on dropping, AVQ is best for calls among many flows. What is different with one upload?",
      "What would AVQ do with a smaller virtual buffer?",
    ],
  },
  {
    id: "flow-aware",
    title: "Fair in packets, unfair to calls",
    about: "Queue family: CHOKe, FRED and PUNSI",
    aim: "Explain why a queue that shares packets fairly between flows can harm flows of small packets.",
    intro:
      "Eight calls share 3.5 Mb/s with 32 streams and five transfers. A call sends 50 small packets per second, a stream only 8 large ones, at a similar rate. FRED is RED that counts the packets of each flow in the queue and drops those of flows with more than their share.",
    settings: [
      { name: "RED", scenario: MIXED(EARLY("red", "tail")) },
      { name: "CHOKe", scenario: MIXED(EARLY("choke")) },
      { name: "FRED", scenario: MIXED(EARLY("fred")) },
      { name: "PUNSI by class", scenario: MIXED(`${EARLY("punsi")}, match = "class"`) },
    ],
    shown: 0,
    measures: [droppedOf("call"), droppedOf("other"), goodputOf("ftp"), MOS],
    prediction: {
      question: "FRED replaces RED. What happens to the calls?",
      choices: ["They lose fewer packets", "About as many (within a quarter)", "They lose more packets"],
      right: (means) => rank(at(means, 2, 0) / at(means, 0, 0), [0.75, 1.25]),
    },
    looks: [
      {
        text: "A call has more packets in the queue than a stream of a similar rate, because its packets are small. FRED takes it for the greedier flow.",
        setting: 2,
      },
      {
        text: "PUNSI compares an arriving UDP packet with packets that wait, and drops both if they match. By class, every UDP packet matches every other: it starves calls and streams alike.",
        setting: 3,
      },
    ],
    task: {
      text: "FRED again.",
      start: MIXED(EARLY("fred")),
      question: "Keep FRED, the rate and the numbers of flows. Let the calls lose less than 8 % of their packets.",
      hints: [
        "FRED counts packets. A call can send fewer of them.",
        "A larger packet time puts more speech into each packet: use the control of flow.call.traffic.packet-time.",
      ],
      missing: (run, json) => {
        if (get(json, ["topology", "bottleneck", "queue", "discipline"]) !== "fred") return "Keep FRED.";
        if (get(json, ["topology", "bottleneck", "rate"]) !== "3.5 Mb/s") return "Keep the rate at 3.5 Mb/s.";
        if (get(json, ["flow", 0, "count"]) !== 8 || get(json, ["flow", 1, "count"]) !== 32) {
          return "Keep the numbers of flows.";
        }
        const share = dropped(run, "call");
        return share < 0.08 ? undefined : `The calls lose ${(share * 100).toFixed(1)} % of their packets.`;
      },
      found:
        "Fewer, larger packets lose less here, but each lost packet is a longer gap, and each waits longer to be filled. Look at the MOS.",
      answer: [{ path: ["flow", 0, "traffic", "packet-time"], value: "60 ms" }],
    },
    keys: [["flow", 0, "traffic", "packet-time"]],
    claim: {
      words:
        "Under FRED the calls lose at least one and a half times as much as under RED, the streams less than half. CHOKe does not spare the calls. PUNSI by class drops most packets of calls and streams, and the transfers gain.",
      holds: (means) =>
        at(means, 2, 0) > 1.5 * at(means, 0, 0) &&
        at(means, 2, 1) < 0.5 * at(means, 0, 1) &&
        at(means, 1, 0) > at(means, 0, 0) &&
        at(means, 3, 0) > 50 &&
        at(means, 3, 1) > 50 &&
        at(means, 3, 2) > 2 * at(means, 0, 2),
    },
    discussion: [
      "Should a router share packets, bytes or time?",
      "What can a sender that knows FRED do to get more than its share?",
    ],
  },
  {
    id: "polite",
    title: "A polite sender and a queue per flow",
    about: "Queue family: FQ-CoDel and FQ-PIE. Study today: N13 and N14",
    aim: "Explain why a sender that keeps queues short needs a queue per flow to get its share.",
    intro:
      "Four transfers use CUBIC, which sends faster until a packet is lost. Four others use tcp/gamma: it measures the queueing delay and slows down before the buffer overflows. All share 10 Mb/s.",
    settings: [
      { name: "drop-tail", scenario: POLITE("drop-tail") },
      { name: "CoDel", scenario: POLITE("codel") },
      { name: "FQ-CoDel", scenario: POLITE("fq-codel") },
    ],
    shown: 0,
    measures: [goodputOf("eager"), goodputOf("polite"), waitOf("r1>r2")],
    prediction: {
      question: "The queue is drop-tail. How much do the polite senders get, compared with CUBIC?",
      choices: ["Less than a half", "A half to four fifths", "Four fifths or more"],
      right: (means) => rank(at(means, 0, 1) / at(means, 0, 0), [0.5, 0.8]),
    },
    looks: [
      {
        text: "CUBIC fills the buffer. The polite senders find a long delay, and slow down for a queue that they have not built.",
        setting: 0,
      },
      {
        text: "FQ-CoDel gives each flow a separate queue and serves the queues in turn. The delay of a polite sender depends on its own queue alone.",
        setting: 2,
      },
    ],
    task: {
      text: "Drop-tail again.",
      start: POLITE("drop-tail"),
      question:
        "Keep both kinds of senders. With which queue do the polite senders get at least 70 % of what CUBIC gets?",
      hints: ["A shorter queue for all helps, but not enough.", "Choose a discipline with a queue per flow."],
      missing: (run, json) => {
        const names = [0, 1].map((flow) => lawName(get(json, ["flow", flow, "transport"]), "name"));
        const counts = [0, 1].map((flow) => get(json, ["flow", flow, "count"]));
        if (names[0] !== "tcp/cubic" || names[1] !== "tcp/gamma") return "Keep CUBIC and tcp/gamma.";
        if (counts.some((count) => count !== 4)) return "Keep four senders of each kind.";
        const share = goodput(run, "polite") / goodput(run, "eager");
        return share >= 0.7 ? undefined : `They get ${Math.round(share * 100)} %.`;
      },
      found: "With a queue per flow, politeness costs nothing. Without one, the eager sender decides for all.",
      answer: [{ path: ["topology", "bottleneck", "queue", "discipline"], value: "fq-codel" }],
    },
    claim: {
      words:
        "Under drop-tail the polite senders get less than half of what CUBIC gets, under CoDel more than under drop-tail, under FQ-CoDel at least 70 %.",
      holds: (means) => {
        const share = (queue: number) => at(means, queue, 1) / at(means, queue, 0);
        return share(0) < 0.5 && share(1) > share(0) && share(2) >= 0.7;
      },
    },
    discussion: [
      "Why did congestion control by delay fail in the open Internet for decades?",
      "Does a queue per flow remove the reason to be polite?",
    ],
  },
  {
    id: "dualpi2",
    title: "Two queues, and the wrong one for calls",
    about: "Queue family: DualPI2. Study today: N7",
    aim: "Explain what the coupling of DualPI2 gives to scalable senders and what it means for flows in the classic queue.",
    intro:
      "DualPI2 has two queues. Scalable senders (Prague) use one with about a millisecond of delay; all other traffic is in the classic queue. Twelve calls share 5 Mb/s with four Prague transfers. The calls are not marked as scalable.",
    settings: [
      { name: "FQ-CoDel", scenario: SCALABLE('discipline = "fq-codel"') },
      { name: "DualPI2", scenario: SCALABLE('discipline = "dualpi2", classic-protection = 0.1') },
    ],
    shown: 0,
    measures: [MOS, droppedOf("call"), goodputOf("transfer")],
    prediction: {
      question: "DualPI2 was made for low delay. Compared with FQ-CoDel, the MOS of the calls is …",
      choices: ["lower by more than 0.2", "the same within 0.2", "higher by more than 0.2"],
      right: (means) => rank(at(means, 1, 0) - at(means, 0, 0), [-0.2, 0.2]),
    },
    looks: [
      {
        text: "The low-latency queue goes first. The classic queue is guaranteed a tenth of the link only. Twelve calls need more, so they depend on what the transfers leave.",
        setting: 1,
      },
      {
        text: "FQ-CoDel does not ask who is scalable: each call sends less than its share and is served at once.",
        setting: 0,
      },
    ],
    task: {
      text: "DualPI2 again.",
      start: SCALABLE('discipline = "dualpi2", classic-protection = 0.1'),
      question: "Keep DualPI2, the calls and the transfers. Let the queue drop less than 0.1 % of the calls' packets.",
      hints: [
        "The classic queue has a guaranteed share of the link: classic-protection.",
        "Twelve calls of G.711 send about a megabit per second. Which share of the link is that?",
      ],
      missing: (run, json) => {
        if (get(json, ["topology", "bottleneck", "queue", "discipline"]) !== "dualpi2") return "Keep DualPI2.";
        if (get(json, ["topology", "bottleneck", "rate"]) !== "5 Mb/s") return "Keep the rate at 5 Mb/s.";
        if (get(json, ["flow", 0, "count"]) !== 12 || get(json, ["flow", 1, "count"]) !== 4)
          return "Keep the numbers of flows.";
        if (lawName(get(json, ["flow", 1, "transport"]), "name") !== "tcp/prague")
          return "Keep the transfers on Prague.";
        const share = dropped(run, "call");
        return share < 0.001 ? undefined : `The queue drops ${(share * 100).toFixed(2)} % of the calls' packets.`;
      },
      found: "A queue for one kind of traffic needs a promise for the other kind, and the promise must fit the load.",
      answer: [{ path: ["topology", "bottleneck", "queue", "classic-protection"], value: 0.3 }],
    },
    keys: [["topology", "bottleneck", "queue", "classic-protection"]],
    claim: {
      words:
        "Next to Prague, the MOS of the calls is lower under DualPI2 than under FQ-CoDel by more than 0.2; DualPI2 drops packets of the calls, FQ-CoDel almost none.",
      holds: (means) => at(means, 0, 0) - at(means, 1, 0) > 0.2 && at(means, 1, 1) > 1 && at(means, 0, 1) < 0.1,
    },
    discussion: [
      "Should calls be marked as scalable? What would RFC 9331 ask of them?",
      "What happens if the transfers use CUBIC instead of Prague?",
    ],
  },
  {
    id: "shaper",
    title: "The queue must be where you control it",
    about: "Queue family: CAKE",
    aim: "Choose the rate of a shaper in front of a modem, and say what a few per cent too much do.",
    intro:
      "A home router with CAKE feeds a modem at 100 Mb/s. The modem sends 3 Mb/s and has a deep drop-tail buffer. CAKE can shape: it sends no faster than its bandwidth, so that packets wait in the router.",
    settings: [
      { name: "CAKE at 100 Mb/s", scenario: MODEM("100 Mb/s") },
      { name: "CAKE at 3.2 Mb/s", scenario: MODEM("3.2 Mb/s") },
      { name: "CAKE at 2.8 Mb/s", scenario: MODEM("2.8 Mb/s") },
    ],
    shown: 0,
    measures: [MOS, waitOf("modem>isp"), waitOf("home>modem"), goodputOf("upload")],
    prediction: {
      question: "CAKE is set to 3.2 Mb/s, slightly more than the modem sends. How is the call?",
      choices: ["Poor (MOS below 3.1)", "Fair (3.1 to 3.6)", "Good (3.6 or more)"],
      right: (means) => rank(at(means, 1, 0), [3.1, 3.6]),
    },
    looks: [
      {
        text: "More arrives at the modem than it sends. The queue stands in the modem, where CAKE has no influence. CAKE itself is idle.",
        setting: 1,
      },
      {
        text: "Slightly below the rate of the modem, the queue moves into the router. CAKE keeps it short and serves the call first.",
        setting: 2,
      },
    ],
    task: {
      text: "CAKE shapes to 2 Mb/s: too careful.",
      start: MODEM("2 Mb/s"),
      question:
        "Change only CAKE's bandwidth. Reach a good call (MOS 3.6 or more) with at least 1.85 Mb/s for the upload.",
      hints: [
        "Use the control of link.home>modem.queue.bandwidth, or choose the link from home to modem in the drawing.",
        "The modem sends 3 Mb/s. The upload is not alone.",
      ],
      missing: (run, json) => {
        if (get(json, ["link", 0, "queue", "discipline"]) !== "cake" || get(json, ["link", 1, "rate"]) !== "3 Mb/s") {
          return "Keep CAKE and the modem's rate.";
        }
        if (goodput(run, "upload") < 1.85e6)
          return `The upload gets ${(goodput(run, "upload") / 1e6).toFixed(2)} Mb/s.`;
        return mos(run) >= 3.6 ? undefined : "The call is not good.";
      },
      found: "A shaper slightly below the line's rate costs little goodput. Above it, it does nothing.",
      answer: [{ path: ["link", 0, "queue", "bandwidth"], value: "2.95 Mb/s" }],
    },
    keys: [["link", 0, "queue", "bandwidth"]],
    claim: {
      words:
        "At 3.2 Mb/s the call is poor and packets wait in the modem; at 2.8 Mb/s the call is good and the wait in the modem is below 10 ms.",
      holds: (means) =>
        at(means, 1, 0) < 3.1 && at(means, 1, 1) > 100 && at(means, 2, 0) >= 3.6 && !(at(means, 2, 1) > 10),
    },
    discussion: [
      "The rate of a mobile link changes every second. To which value would you set the shaper?",
      "Why does the framing of a DSL line (ATM cells) matter for this rate?",
    ],
  },
  {
    id: "victim",
    title: "Which packet to drop",
    about: "Study dropping: Q7 and Q10. Study today: N1 and N6",
    aim: "Separate when a queue drops from what it drops, and say when the choice matters.",
    intro:
      "A discipline decides when to drop a packet. The victim rule decides which one. Drop-Sel takes a packet of the class with most bytes in the queue. Calls, streams and transfers share 3.5 Mb/s.",
    settings: [
      { name: "RED, tail", scenario: MIXED(EARLY("red", "tail")) },
      { name: "RED, Drop-Sel", scenario: MIXED(EARLY("red", "drop-sel")) },
      { name: "CoDel, tail", scenario: MIXED('discipline = "codel", victim = "tail", capacity = { packets = 90 }') },
      {
        name: "CoDel, Drop-Sel",
        scenario: MIXED('discipline = "codel", victim = "drop-sel", capacity = { packets = 90 }'),
      },
    ],
    shown: 2,
    measures: [MOS, droppedOf("call"), droppedOf("other"), goodputOf("ftp")],
    prediction: {
      question:
        "Under RED, Drop-Sel makes the calls better. The queue is now CoDel. By how much does Drop-Sel raise their MOS there?",
      choices: ["By less than 0.1", "By 0.1 to 0.4", "By more than 0.4"],
      right: (means) => rank(at(means, 3, 0) - at(means, 2, 0), [0.1, 0.4]),
    },
    looks: [
      {
        text: "Under RED, few victims belong to the calls: voice has few bytes in the queue. The streams pay for it. Show the packets below.",
        setting: 1,
      },
      {
        text: "CoDel drops the packet at the head because it has waited too long. The victim rule is asked only when the buffer is full, and CoDel keeps it from being full.",
        setting: 3,
      },
    ],
    task: {
      text: "RED with the arriving packet as the victim.",
      start: MIXED(EARLY("red", "tail")),
      question:
        "Keep the rates and the numbers of flows. With which victim rule do the calls lose less than 1 % of their packets?",
      hints: ["Keep RED and change the victim.", "Look for a rule that knows classes."],
      missing: (run, json) => {
        if (get(json, ["topology", "bottleneck", "rate"]) !== "3.5 Mb/s")
          return "Keep the bottleneck rate at 3.5 Mb/s.";
        if (get(json, ["flow", 0, "count"]) !== 8 || get(json, ["flow", 1, "count"]) !== 32) {
          return "Keep the numbers of flows.";
        }
        const share = dropped(run, "call");
        return share < 0.01 ? undefined : `The calls lose ${(share * 100).toFixed(1)} %.`;
      },
      found: "Voice is a small class. A rule that drops from the largest class spares it.",
      answer: [{ path: ["topology", "bottleneck", "queue", "victim"], value: "drop-sel" }],
    },
    claim: {
      words:
        "Under RED, Drop-Sel raises the MOS of the calls by more than 0.4, and the streams lose more. Under CoDel it changes the MOS by less than 0.15.",
      holds: (means) =>
        at(means, 1, 0) - at(means, 0, 0) > 0.4 &&
        at(means, 1, 2) > at(means, 0, 2) &&
        Math.abs(at(means, 3, 0) - at(means, 2, 0)) < 0.15,
    },
    discussion: [
      "The streams are UDP, too. Is it fair that they pay?",
      "How does a router know what is voice, and who could pretend to be?",
    ],
  },
  {
    id: "carrier",
    title: "TCP as the carrier of a call",
    about: "Study voice: V14 and V15. Study today: N10",
    aim: "Explain why a reliable carrier can make a call worse than losses do.",
    intro:
      "UDP sends each packet of a call once. TCP repeats what is lost and delivers everything in order. The link loses one packet in 50, and nothing else is on it.",
    settings: [
      { name: "UDP", scenario: CARRIER("udp", 0.02) },
      { name: "TCP NewReno", scenario: CARRIER("tcp/newreno", 0.02) },
      { name: "CUBIC", scenario: CARRIER("tcp/cubic", 0.02) },
      { name: "TCP-Real", scenario: CARRIER("tcp/real", 0.02) },
    ],
    shown: 0,
    measures: [
      MOS,
      {
        label: "Mouth-to-ear delay",
        unit: "ms",
        digits: 0,
        of: (run) => numberOf(run.flows.find((row) => row.group === "call")?.mouth_to_ear_s) * 1000,
      },
      {
        label: "Packets not played",
        unit: "%",
        digits: 1,
        of: (run) => numberOf(run.flows.find((row) => row.group === "call")?.missed_ratio) * 100,
      },
    ],
    prediction: {
      question:
        "TCP-Real was made for real-time traffic and repeats what is lost. Compared with UDP, its call has a MOS that is …",
      choices: ["lower by more than 0.5", "the same within 0.5", "higher by more than 0.5"],
      right: (means) => rank(at(means, 3, 0) - at(means, 0, 0), [-0.5, 0.5]),
    },
    looks: [
      {
        text: "After a loss, all later speech waits for the repetition, at least one round trip. A call sends few packets, so TCP often notices a loss only by a timeout. Look at the spikes of the delay.",
        setting: 1,
      },
      { text: "Over UDP the receiver conceals the gaps, and nothing waits.", setting: 0 },
    ],
    task: {
      text: "The call is on NewReno, and the link loses one packet in 50.",
      start: CARRIER("tcp/newreno", 0.02),
      question:
        "Keep the call on TCP, the bottleneck delay at 40 ms and a loss of at least one packet in 500. How low must the loss be for a good call (MOS 3.6 or more)?",
      hints: ["Move the slider of the loss.", "A timeout lasts a second or more. How many per minute can a call bear?"],
      missing: (run, json) => {
        if (!lawName(get(json, ["flow", 0, "transport"]), "name").startsWith("tcp/")) return "Keep the call on TCP.";
        if (get(json, ["topology", "bottleneck", "delay"]) !== "40 ms") return "Keep the bottleneck delay at 40 ms.";
        const loss = Number(get(json, ["topology", "bottleneck", "loss", "rate"]) ?? 0);
        if (loss < 0.002) return "The loss must be at least one packet in 500.";
        return mos(run) >= 3.6 ? undefined : "The call is not good yet.";
      },
      found: "Rare losses make rare waits. A call over UDP bears many times the loss.",
      answer: [{ path: ["topology", "bottleneck", "loss"], value: { model: "bernoulli", rate: 0.003 } }],
    },
    claim: {
      words: "The call is good over UDP and poor over each TCP; TCP-Real's MOS is the lowest.",
      holds: (means) =>
        at(means, 0, 0) >= 3.6 &&
        [1, 2, 3].every((carrier) => at(means, carrier, 0) < 3.1) &&
        at(means, 3, 0) <= Math.min(at(means, 1, 0), at(means, 2, 0)),
    },
    discussion: [
      "Video calls fall back to TCP where UDP is blocked. What do users notice?",
      "What does QUIC with datagrams change?",
    ],
  },
  {
    id: "smooth",
    title: "Smooth against responsive",
    about: "Study smoothness: S8, S22 and S24",
    aim: "Explain what a gentle reduction gains when losses come from the channel, and what it costs.",
    intro:
      "Standard TCP adds a segment per round trip (α = 1) and halves its window after a loss (β = 0.5). TCP(0.31, 0.875) gives up an eighth and adds 0.31 segments, so that both are fair to each other. Now the channel loses one packet in 100.",
    settings: [
      { name: "(1, 0.5), no errors", scenario: AIMD(1, 0.5, 0) },
      { name: "(0.31, 0.875), no errors", scenario: AIMD(0.31, 0.875, 0) },
      { name: "(1, 0.5), 1 % errors", scenario: AIMD(1, 0.5, 0.01) },
      { name: "(0.31, 0.875), 1 % errors", scenario: AIMD(0.31, 0.875, 0.01) },
    ],
    shown: 0,
    measures: [goodputOf("main"), waitOf("r1>r2")],
    prediction: {
      question: "With 1 % of errors, the smooth pair gets …",
      choices: [
        "less than the responsive pair by 10 % or more",
        "the same within 10 %",
        "more than the responsive pair by 10 % or more",
      ],
      right: (means) => rank(at(means, 3, 0) / at(means, 2, 0), [0.9, 1.1]),
    },
    looks: [
      {
        text: "Every error halves the window, though the queue is empty. The window stays small, and most of the link is unused.",
        setting: 2,
      },
      {
        text: "An eighth instead of a half: the smooth pair loses less of its window at each error. The paper on smoothness says the same of errors of up to 1 %, and the study finds it in most readings (S24). With 5 % of errors the paper expects the contrary.",
        setting: 3,
      },
    ],
    task: {
      text: "The responsive pair and 1 % of errors.",
      start: AIMD(1, 0.5, 0.01),
      question:
        "Keep the errors, the four flows and tcp/aimd. Choose α and β so that they get at least 7 Mb/s together.",
      hints: ["Use the controls of flow.main.transport.alpha and .beta.", "Keep α and raise β."],
      missing: (run, json) => {
        if (lawName(get(json, ["flow", 0, "transport"]), "name") !== "tcp/aimd") return "Keep tcp/aimd.";
        if (Number(get(json, ["topology", "bottleneck", "loss", "rate"]) ?? 0) < 0.0095)
          return "Keep the errors at 1 %.";
        if (get(json, ["flow", 0, "count"]) !== 4) return "Keep the four flows.";
        const rate = goodput(run, "main");
        return rate >= 7e6 ? undefined : `They get ${(rate / 1e6).toFixed(1)} Mb/s.`;
      },
      found:
        "This pair takes more than its share from standard TCP: it gives up less and adds as much. Add a flow of tcp/reno and look.",
      answer: [
        { path: ["flow", 0, "transport"], value: { name: "tcp/aimd", alpha: 1, beta: 0.875, "delayed-ack": false } },
      ],
    },
    keys: [
      ["flow", 0, "transport", "alpha"],
      ["flow", 0, "transport", "beta"],
    ],
    claim: {
      words:
        "Without errors the goodputs of both pairs differ by less than 5 %, and the smooth pair fills the queue more. With 1 % of errors the smooth pair gets at least 10 % more.",
      holds: (means) =>
        Math.abs(at(means, 1, 0) / at(means, 0, 0) - 1) < 0.05 &&
        at(means, 1, 1) > at(means, 0, 1) &&
        at(means, 3, 0) > 1.1 * at(means, 2, 0),
    },
    discussion: [
      "Which information would tell the sender that a loss was no congestion?",
      "Why do α and β of a fair pair depend on each other?",
    ],
  },
  {
    id: "receiver",
    title: "A receiver that knows its rate",
    about: "Study video: D11",
    aim: "Explain what a receiver-driven rate saves, and check who gains from it.",
    intro:
      "A video in five layers, 1 Mb/s in all, shares a 1 Mb/s link with two file transfers. Over UDP it sends all layers. With DVRC the receiver measures its rate and requests as many layers as fit.",
    settings: [
      { name: "UDP", scenario: VIDEO("udp") },
      { name: "DVRC", scenario: VIDEO("dvrc") },
    ],
    shown: 0,
    measures: [droppedOf("video"), goodputOf("video"), goodputOf("ftp")],
    prediction: {
      question: "The video now sends less than it could. Compared with UDP, the two transfers get …",
      choices: ["less by 10 % or more", "the same within 10 %", "more by 10 % or more"],
      right: (means) => rank(at(means, 1, 2) / at(means, 0, 2), [0.9, 1.1]),
    },
    looks: [
      { text: "Over UDP each layer loses packets, and the upper layers are sent in vain.", setting: 0 },
      {
        text: "DVRC drops layers before the queue drops packets. What it saves are its own losses: the packets that it does send arrive, and the transfers find the queue as full as before.",
        setting: 1,
      },
    ],
    task: {
      text: "UDP again.",
      start: VIDEO("udp"),
      question: "Keep the two transfers and the rate. How can the queue drop less than 15 % of the video's packets?",
      hints: ["Change the transport of the video.", "Compare dvrc with tfrc: which one is kinder to the transfers?"],
      missing: (run, json) => {
        if (get(json, ["flow", 1, "count"]) !== 2) return "Keep the two transfers.";
        if (get(json, ["topology", "bottleneck", "rate"]) !== "1 Mb/s") return "Keep the bottleneck rate at 1 Mb/s.";
        const video = groupOf(run, "video");
        const share = Number(video?.dropped_share ?? 1);
        if (Number(video?.units_received ?? 0) < 1000)
          return "Too little of the video arrives (fewer than 1000 units).";
        return share < 0.15 ? undefined : `${Math.round(share * 100)} % of the video's packets are dropped.`;
      },
      found:
        "A sender that knows the rate omits the layers that would be dropped. Whether it is fair is another question.",
      answer: [{ path: ["flow", 0, "transport"], value: "dvrc" }],
    },
    claim: {
      words:
        "With DVRC the queue drops less than two thirds of the share of the video's packets, the video gets more, and the transfers get at least 10 % less.",
      holds: (means) =>
        at(means, 1, 0) < (2 / 3) * at(means, 0, 0) &&
        at(means, 1, 1) > at(means, 0, 1) &&
        at(means, 1, 2) < 0.9 * at(means, 0, 2),
    },
    discussion: [
      "The paper finds TCP near its fair share next to DVRC; the study does not. What could differ?",
      "Should fairness be measured in goodput or in what the viewer sees?",
    ],
  },
  {
    id: "video-call",
    title: "Why the video call freezes when somebody uploads",
    about: "Queue families for a call over WebRTC: drop-tail, Drop-Sel, FQ-CoDel",
    aim: "Tell freezes (packets come too late or never) from delay (packets wait), and choose a queue that prevents both.",
    intro:
      "A video call by WebRTC uses an uplink of 5 Mb/s. From 20 s on photographs are uploaded over the same line. The queue in the modem is drop-tail and holds 500 kB, which take 0.8 s to send. The picture freezes, and the speech is late.",
    settings: [
      { name: "drop-tail", scenario: MODEM_QUEUE(`discipline = "drop-tail", ${DEEP}`) },
      { name: "Drop-Sel", scenario: MODEM_QUEUE(`discipline = "drop-tail", victim = "drop-sel", ${DEEP}`) },
      { name: "FQ-CoDel", scenario: MODEM_QUEUE('discipline = "fq-codel"') },
    ],
    shown: 0,
    measures: [
      { label: "MOS of the worst stream", unit: "", digits: 2, of: (run) => worst(run) },
      { label: "Frozen", unit: "% of the time", digits: 1, of: (run) => numberOf(sessionOf(run)?.freeze_ratio) * 100 },
      { label: "Mouth to ear", unit: "ms", digits: 0, of: (run) => numberOf(sessionOf(run)?.audio_delay_s) * 1000 },
      goodputOf("upload"),
    ],
    prediction: {
      question:
        "Another rule for victims: when the buffer is full, Drop-Sel drops packets of the upload and none of the call. What becomes of the call?",
      choices: [
        "It freezes as before",
        "It freezes less than half as long, and becomes good (MOS 3.6 or more)",
        "It freezes less than half as long, and does not become good",
      ],
      right: (means) => (at(means, 1, 1) > 0.5 * at(means, 0, 1) ? 0 : at(means, 1, 0) >= 3.6 ? 1 : 2),
    },
    looks: [
      {
        text: "With Drop-Sel hardly a packet of the call is dropped, so the picture hardly freezes. But every packet still waits behind the upload, and the speech is more than half a second late. Look at the estimate: the controller sees the delay, yields, and the upload takes what it leaves.",
        setting: 1,
      },
      {
        text: "FQ-CoDel gives the upload a queue of its own. The upload waits behind itself, and the estimate of the call stays near its half of the link.",
        setting: 2,
      },
    ],
    task: {
      text: "Drop-tail with its 500 kB is back.",
      start: MODEM_QUEUE(`discipline = "drop-tail", ${DEEP}`),
      question:
        "Keep the rate of 5 Mb/s. Find a queue with a good call (MOS 3.6 or more of the worst stream) and at least 2.9 Mb/s for the upload.",
      hints: [
        "A queue for each flow gives the upload half of the link. What would a single queue do that keeps the wait short?",
        "Change the bottleneck queue to CoDel or PIE, and compare the estimates.",
      ],
      missing: (run, json) => {
        if (get(json, ["link", 0, "rate"]) !== "5 Mb/s") return "Keep the rate of the uplink at 5 Mb/s.";
        if (!(worst(run) >= 3.6)) return "The call is not good yet.";
        return goodput(run, "upload") >= 2.9e6 ? undefined : "The upload gets less than 2.9 Mb/s.";
      },
      found:
        "Any queue that keeps the wait short makes the call good. They differ in the share that they leave to the upload, and in the size of the picture.",
      answer: [{ path: ["link", 0, "queue"], value: { discipline: "codel", capacity: { bytes: 500_000 } } }],
    },
    keys: [["flow", 0, "traffic", "video", "most"]],
    claim: {
      words:
        "Drop-Sel cuts the time in freezes to less than a third and leaves the delay from mouth to ear within a tenth and the worst stream poor. FQ-CoDel makes the call good at less than half of the delay.",
      holds: (means) =>
        at(means, 1, 1) < at(means, 0, 1) / 3 &&
        Math.abs(at(means, 1, 2) / at(means, 0, 2) - 1) < 0.1 &&
        at(means, 1, 0) < 3.1 &&
        at(means, 2, 0) >= 3.6 &&
        at(means, 2, 2) < 0.5 * at(means, 0, 2),
    },
    discussion: [
      "Google's congestion control yields when the delay grows, CUBIC when a packet is lost. Who wins in a deep buffer, and why?",
      "Which of the two would callers notice first: a picture that freezes, or speech that is half a second late?",
    ],
  },
  {
    id: "air",
    title: "Why the call breaks when the neighbour downloads",
    about: "Wi-Fi: airtime, one queue or one for each station, access categories",
    aim: "Explain why a slow station delays all others, and name two remedies at the access point.",
    intro:
      "A phone stands next to the access point and has a call. A laptop downloads over the same channel. Only one of them can be sent to at a time. The access point has one queue for all stations.",
    settings: [
      { name: "laptop near, 4 m", scenario: AIR(4) },
      { name: "laptop far, 110 m", scenario: AIR(110) },
      { name: "laptop far, queues per station", scenario: AIR(110, "airtime") },
    ],
    shown: 0,
    measures: [MOS, waitOf("router>phone"), goodputOf("download")],
    prediction: {
      question:
        "The laptop moves from 4 m to 110 m. Its download gets less than a tenth of what it got. What becomes of the call?",
      choices: ["It gets better, as there is less traffic", "It stays as it was", "It becomes poor (MOS below 3.1)"],
      right: (means) => (at(means, 1, 0) < 3.1 ? 2 : at(means, 1, 0) > at(means, 0, 0) + 0.1 ? 0 : 1),
    },
    looks: [
      {
        text: "Far away the laptop needs about ten times as long for the same bytes. The download still fills the queue of the access point, and the queue now takes ten times as long to empty. Each packet of the call waits in it, although the phone is near.",
        setting: 1,
      },
      {
        text: "With a queue for each station, and turns of equal airtime, the download waits behind itself. The call hardly waits, and the download loses nothing.",
        setting: 2,
      },
    ],
    task: {
      text: "The laptop is far, and the access point has one queue again. You cannot change the access point.",
      start: AIR(110),
      question: "Change only how the packets of the call are marked. Make the call good (MOS 3.6 or more).",
      hints: [
        "Wi-Fi has four access categories, each with a queue of its own. Which one a packet gets follows from its DSCP.",
        "Change the code point of the call from df to ef.",
      ],
      missing: (run, json) => {
        if (get(json, ["medium", "air", "queues"]) !== "fifo") return "Keep the one queue of the access point.";
        if (get(json, ["medium", "air", "stations", "laptop", "channel", "distance"]) !== 110) {
          return "Leave the laptop where it is.";
        }
        return mos(run) >= 3.6 ? undefined : "The call is not good yet.";
      },
      found:
        "Packets of the voice category have their own queue, and contend with shorter waits. It helps only where the mark survives the way through the internet, which it often does not.",
      answer: [{ path: ["flow", 0, "dscp"], value: "ef" }],
    },
    keys: [["flow", 0, "dscp"]],
    claim: {
      words:
        "With the laptop far away, its download gets less than a fifth and the call is poor; with queues per station the call is good and the download gets no less.",
      holds: (means) =>
        at(means, 0, 0) >= 3.6 &&
        at(means, 1, 2) < at(means, 0, 2) / 5 &&
        at(means, 1, 0) < 3.1 &&
        at(means, 2, 0) >= 3.6 &&
        at(means, 2, 2) > at(means, 1, 2) * 0.95,
    },
    discussion: [
      "All stations got the same share of bytes, and one was slow. Who should get the same share of what?",
      "Your neighbour has an access point of his own on your channel. Which of the two remedies still helps?",
    ],
  },
];

/** The mean of each measure of each setting over runs; `runs[setting]` are the runs with different seeds. */
export function meansOf(lesson: Lesson, runs: readonly (readonly ObservedRun[])[]): Means {
  return lesson.settings.map((_, setting) =>
    lesson.measures.map(({ of }) => {
      const values = (runs[setting] ?? []).map(of).filter(Number.isFinite);
      return values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : Number.NaN;
    }),
  );
}

/** The number of steps of a lesson: the prediction, the looks, and the task. */
export const stepsOf = (lesson: Lesson): number => lesson.looks.length + 2;
