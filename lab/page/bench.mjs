// Cost of the page, measured in the real page in headless Chromium: results/bench/lab.json.gz and docs/lab.md.

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";
import { deflateRawSync, gzipSync } from "node:zlib";
import { digest, drawings, drawn, launch, open, PAGE } from "./browser.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
const contested = readFileSync(`${root}/examples/contested-call.toml`, "utf8");
const dumbbell = readFileSync(`${root}/examples/dumbbell.toml`, "utf8");
const hashOf = (text) => `#s=${deflateRawSync(Buffer.from(text)).toString("base64url")}`;

const browser = await launch();
const found = { browser: browser.version(), cpu: cpus()[0]?.model ?? "unknown", cores: cpus().length };

// From opening to the first picture.
const opening = [];
for (let round = 0; round < 5; round++) {
  const context = await browser.newContext({ offline: true });
  const page = await context.newPage();
  const begin = performance.now();
  await page.goto(`file://${PAGE}`);
  await drawn(page, 0);
  opening.push(performance.now() - begin);
  await context.close();
}
found.first_picture_ms = Math.round(median(opening));

// From a step of a slider to the redrawn figures, on the 60 s contested call; and tasks of the main thread during that time.
const { page, context } = await open(browser, { hash: hashOf(contested) });
await digest(page);
await page.waitForTimeout(500);
await page.evaluate(() => {
  globalThis.longest = 0;
  globalThis.tasks = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      globalThis.longest = Math.max(globalThis.longest, entry.duration);
      globalThis.tasks++;
    }
  }).observe({ type: "longtask" });
});
const slider = page.locator('.control[data-path$="count"] input').first();
const redraw = [];
for (let round = 0; round < 25; round++) {
  const took = await slider.evaluate(async (input, round) => {
    const drawings = () => Number(document.documentElement.dataset.drawn);
    await new Promise((resolve) => setTimeout(resolve, 60));
    const before = drawings();
    const begin = performance.now();
    input.value = String(Math.min(Number(input.max), 10 + (round % 7)));
    input.dispatchEvent(new Event("input", { bubbles: true }));
    while (drawings() <= before || document.body.classList.contains("busy"))
      await new Promise((resolve) => requestAnimationFrame(resolve));
    return performance.now() - begin;
  }, round);
  redraw.push(took);
}
found.redraw_ms = { median: Math.round(median(redraw)), longest: Math.round(Math.max(...redraw)) };
// A drag without pauses, and the work after it: replications, the text.
const before = await drawings(page);
await slider.evaluate(async (input) => {
  for (let step = 0; step < 60; step++) {
    input.value = String(5 + (step % 12));
    input.dispatchEvent(new Event("input", { bubbles: true }));
    await new Promise((resolve) => requestAnimationFrame(resolve));
  }
});
await page.waitForTimeout(6000);
found.drawn_in_a_drag = (await drawings(page)) - before;
const tasks = await page.evaluate(() => ({ longest: globalThis.longest, tasks: globalThis.tasks }));
found.longest_task_ms = Math.round(tasks.longest);
found.tasks_over_50_ms = tasks.tasks;
await context.close();

// Packet-hops per second, compared with the native simulator: one run of the dumbbell of a hundred flows.
const wasm = process.env.FAIRWAVE_WASM ?? `${root}/target/wasm32-unknown-unknown/page/fairwave_wasm.wasm`;
const native = `${root}/target/release/fwsim`;
const plain = await browser.newPage();
await plain.goto("about:blank");
const bytes = readFileSync(wasm).toString("base64");
const inPage = await plain.evaluate(
  async ([bytes, text]) => {
    const module = await WebAssembly.compile(Uint8Array.from(atob(bytes), (letter) => letter.charCodeAt(0)));
    const { exports } = await WebAssembly.instantiate(module, { fairwave: { progress: () => {} } });
    const request = new TextEncoder().encode(JSON.stringify({ op: "run", text, seed: 1, observe: false }));
    const rates = [];
    for (let round = 0; round < 3; round++) {
      const at = exports.reserve(4 + request.length);
      new DataView(exports.memory.buffer, at).setUint32(0, request.length, true);
      new Uint8Array(exports.memory.buffer, at + 4, request.length).set(request);
      const begin = performance.now();
      exports.call();
      const seconds = (performance.now() - begin) / 1000;
      const answer = new Uint8Array(exports.memory.buffer, exports.answer_at(), exports.answer_length());
      const length = new DataView(answer.buffer, answer.byteOffset).getUint32(0, true);
      const json = JSON.parse(new TextDecoder().decode(answer.slice(4, 4 + length)));
      rates.push(json.packet_hops / seconds);
    }
    return Math.max(...rates);
  },
  [bytes, dumbbell],
);
found.hops_per_second = { page: Math.round(inPage) };
if (existsSync(native)) {
  const rates = [1, 2, 3].map(() => {
    const run = JSON.parse(execFileSync(native, [`${root}/examples/dumbbell.toml`], { encoding: "utf8" }));
    return run.packet_hops / run.wall_s;
  });
  found.hops_per_second.native = Math.round(Math.max(...rates));
  found.hops_per_second.share = Number((inPage / found.hops_per_second.native).toFixed(2));
}

const html = readFileSync(PAGE);
const speech = existsSync(`${root}/out/lab-speech.ulaw`) ? statSync(`${root}/out/lab-speech.ulaw`).size : 0;
found.bytes = { page: html.length, compressed: gzipSync(html, { level: 9 }).length, speech };
await browser.close();

const limits = [
  [
    "from dragging to the redrawn figures, 60 s contested call, median",
    `${found.redraw_ms.median} ms`,
    "300 ms",
    found.redraw_ms.median < 300,
  ],
  ["first picture after opening, median", `${found.first_picture_ms} ms`, "2000 ms", found.first_picture_ms < 2000],
  ["longest task on the main thread", `${found.longest_task_ms} ms`, "100 ms", found.longest_task_ms <= 100],
  [
    "compressed, with ten seconds of speech",
    `${(found.bytes.compressed / 1e6).toFixed(2)} MB`,
    "3 MB",
    found.bytes.compressed <= 3e6,
  ],
  [
    "compressed, without speech (less its bytes)",
    `${((found.bytes.compressed - speech) / 1e6).toFixed(2)} MB`,
    "1.3 MB",
    found.bytes.compressed - speech <= 1.3e6,
  ],
];
if (found.hops_per_second.share !== undefined) {
  const { page, native, share } = found.hops_per_second;
  limits.push([
    "packet-hops per second, compared with native",
    `${(page / 1e6).toFixed(1)} of ${(native / 1e6).toFixed(1)} million, ${Math.round(share * 100)} %`,
    "at least 40 %",
    share >= 0.4,
  ]);
}
const rows = limits.map(([what, value, limit, holds]) => `| ${what} | ${value} | ${limit} | ${holds ? "yes" : "no"} |`);
const begin = "<!-- measured: begin -->";
const end = "<!-- measured: end -->";
const table = `${begin}\n| what | measured | wanted | holds |\n|---|---|---|---|\n${rows.join("\n")}\n\nMeasured by \`npm run bench\` in Chromium ${found.browser}, ${found.cores} cores (${found.cpu}).\n${end}`;
writeFileSync(`${root}/results/bench/lab.json.gz`, gzipSync(JSON.stringify(found), { level: 9 }));
const file = `${root}/docs/lab.md`;
const text = readFileSync(file, "utf8");
writeFileSync(file, `${text.slice(0, text.indexOf(begin))}${table}${text.slice(text.indexOf(end) + end.length)}`);
console.log(rows.join("\n"));
