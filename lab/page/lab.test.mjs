// The page in a real browser, from disk.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { deflateRawSync } from "node:zlib";
import { digest, drawings, drawn, launch, open, PAGE } from "./browser.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

const hashOf = (text) => `#s=${deflateRawSync(Buffer.from(text)).toString("base64url")}`;
const axe = readFileSync(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");
const root = fileURLToPath(new URL("../..", import.meta.url));

async function violations(page) {
  await page.evaluate(axe);
  const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  return found.violations.map((one) => `${one.id}: ${one.nodes.map((node) => node.target.join(" ")).join(", ")}`);
}

const SPEECH_SAMPLES = 24_000;

/** Chooses a tone of three seconds as the speech, if the page was built without a recording. */
async function chooseSpeech(page) {
  if ((await page.locator("#speech-source").inputValue()) !== "none") return;
  const samples = Buffer.alloc(2 * SPEECH_SAMPLES);
  for (let at = 0; at < SPEECH_SAMPLES; at++) samples.writeInt16LE(Math.round(8000 * Math.sin(at / 6)), at * 2);
  const head = Buffer.from(
    "RIFF....WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x80\x3e\0\0\x02\0\x10\0data....",
    "latin1",
  );
  head.writeUInt32LE(36 + samples.length, 4);
  head.writeUInt32LE(samples.length, 40);
  const file = { name: "tone.wav", mimeType: "audio/wav", buffer: Buffer.concat([head, samples]) };
  await page.locator("#speech-file").setInputFiles(file);
  await page.waitForFunction(() => document.getElementById("speech-source").value === "tone.wav");
}

/** Opens a lesson, predicts, and goes to its task. */
async function openTask(page, id) {
  await page.locator(`[data-lesson="${id}"]`).click();
  await page.locator("#lesson-choices button").first().click();
  await page.locator("#lesson-numbers table").waitFor();
  for (let step = 0; step < 3; step++) await page.locator("#lesson-next").click();
}

/**
 * Brings every panel into use: a link with a trace and a form in the network, two settings, the last step of a lesson with a hint,
 * packets, two takes, a notice, a mistake in the text.
 */
async function useAllPanels(page, check) {
  await digest(page);
  await page.locator("#compare-keep").click();
  await page.locator('[data-pick="link:home>isp"]').dispatchEvent("click");
  await page.locator("#edit-trace").setInputFiles(join(root, "examples/lte.csv"));
  await page.locator("figure.trace").waitFor();
  await page.locator("#compare-rows tr").first().waitFor();
  await check();
  await page.locator("#add-link").click();
  await check();
  await page.locator("#add-flow").click();
  await page.locator('[data-lesson="shaper"]').click();
  await page.getByText("Predict first").waitFor();
  await check();
  await openTask(page, "victim");
  await page.getByText(/The calls lose \d+\.\d %/).waitFor();
  await page.locator("#lesson-hint").click();
  await page.locator("#packet-play").click();
  await page.waitForFunction(() => Number(document.getElementById("packet-time").value) > 0);
  await chooseSpeech(page);
  for (const side of ["a", "b"]) {
    await page.locator(`#keep-${side}`).click();
    await page.locator(`#take-${side}`).waitFor();
  }
  await page.locator("#copy").click();
  await page.waitForFunction(() => document.getElementById("notice").textContent);
  await page.locator("#text").fill("durration = 1");
  await page.locator("#run-text").click();
  await page.locator("#problem").waitFor();
}

test("its policy names its own scripts and styles, and nothing else runs or is drawn", async () => {
  const html = readFileSync(PAGE, "utf8");
  const policy = /Content-Security-Policy" content="([^"]*)"/.exec(html)[1];
  assert.doesNotMatch(policy, /unsafe-inline/);
  assert.match(policy, /script-src 'sha256-[^;]*' 'wasm-unsafe-eval';/);
  const folder = mkdtempSync(join(tmpdir(), "fairwave-lab-"));
  const changed = join(folder, "lab.html");
  const intruders =
    '<script>globalThis.ran = 1</script><script src="data:text/javascript,globalThis.ran=2"></script>' +
    '<img src="data:," onerror="globalThis.ran = 3"><p id="intruder" style="width: 77px">x</p>';
  writeFileSync(
    changed,
    html.replace('<main id="main">', (main) => intruders + main),
  );
  const page = await browser.newPage();
  await page.goto(pathToFileURL(changed).href);
  await drawn(page, 0);
  assert.equal(await page.evaluate(() => globalThis.ran), undefined);
  assert.notEqual(await page.evaluate(() => document.getElementById("intruder").clientWidth), 77);
  await page.close();
});

test("it brings its fonts, so that its layout is the same on every machine", async () => {
  const { context, page } = await open(browser);
  const found = await page.evaluate(() => ({
    loaded: [...document.fonts].map((one) => `${one.family} ${one.status}`),
    text: getComputedStyle(document.body).fontFamily,
    code: getComputedStyle(document.getElementById("text")).fontFamily,
  }));
  assert.deepEqual(found, {
    loaded: ["Inter loaded", "JetBrains Mono loaded"],
    text: "Inter, sans-serif",
    code: '"JetBrains Mono", monospace',
  });
  await context.close();
});

test("it opens from disk on a home uplink, and shows the verdict of the call", async () => {
  const { page, wrong, context } = await open(browser);
  assert.match(await page.title(), /a home uplink/);
  await page.getByText(/The call is (good|fair|poor): MOS \d\.\d/).waitFor();
  for (const panel of ["throughput", "queue", "window", "losses", "delay"]) {
    await page.locator(`figure[data-panel="${panel}"] canvas`).waitFor();
  }
  await page.locator("#network svg").waitFor();
  assert.deepEqual(wrong, []);
  await context.close();
});

test("a situation with a video call shows its worst stream, and the estimate next to the capacity", async () => {
  const { page, wrong, context } = await open(browser);
  await digest(page);
  assert.equal(await page.locator("#situation").inputValue(), "home");
  await page.locator("#situation").selectOption("video-call");
  await page.getByText(/The stream of call is poor: MOS \d\.\d\d/).waitFor();
  await page.getByText(/Audio: MOS .* Video: MOS .*frozen .* of the time/).waitFor();
  for (const panel of ["estimate", "height", "frozen"]) {
    await page.locator(`figure[data-panel="${panel}"] canvas`).waitFor();
  }
  const before = await digest(page);
  await page.waitForFunction(() => document.querySelector('[id="control-flow-0-transport-control"]'));
  await page.waitForFunction(() => location.hash.startsWith("#s="));
  const [hash, count] = await page.evaluate(() => [location.hash, Number(document.documentElement.dataset.drawn)]);
  await page.locator("#control-flow-0-transport-control").selectOption("scream");
  await drawn(page, count);
  assert.notEqual(await digest(page), before);
  assert.equal(await page.locator("#situation").inputValue(), "video-call");
  // The change enters the history shortly after it is drawn.
  await page.waitForFunction((old) => location.hash !== old, hash);
  await page.locator("#undo").click();
  await page.waitForFunction((old) => document.documentElement.dataset.digest === old, before);
  await page.locator("#undo").click();
  await page.getByText(/The call is (good|fair|poor)/).waitFor();
  assert.equal(await page.locator("#situation").inputValue(), "home");
  assert.deepEqual(wrong, []);
  await context.close();
});

test("each control can be dragged, and what is shown becomes another", async () => {
  const { page, wrong, context } = await open(browser);
  await digest(page);
  const all = await page.locator(".control input, .control select").evaluateAll((found) => found.map((one) => one.id));
  // A situation replaces the controls, and has a separate test.
  const ids = all.filter((id) => id !== "situation");
  assert.ok(ids.length >= 12, ids.join());
  for (const id of ids) {
    // The list of controls is replaced shortly after a choice.
    await page.waitForTimeout(600);
    const control = page.locator(`[id="${id}"]`);
    const [old, count] = [await digest(page), await drawings(page)];
    if ((await control.evaluate((one) => one.tagName)) === "SELECT") {
      const value = await control.inputValue();
      const others = await control.locator("option").evaluateAll((all) => all.map((one) => one.value));
      const other =
        { "link-0-queue-victim": "drop-sel", "link-0-queue-discipline": "pie" }[id.slice(8)] ??
        (value === "tfrc" ? "rap" : "tfrc");
      assert.ok(others.includes(other), `${id}: ${others}`);
      await control.selectOption(other);
      await drawn(page, count);
      // A drop-tail queue drops the arriving packet and never asks for a victim, so some choices have no effect alone.
      if (id.endsWith("discipline")) assert.notEqual(await digest(page), old, id);
      await control.selectOption(value);
      await digest(page);
    } else {
      await control.scrollIntoViewIfNeeded();
      const box = await control.boundingBox();
      await page.mouse.move(box.x + box.width * 0.5, box.y + box.height / 2);
      await page.mouse.down();
      await page.mouse.move(box.x + box.width * 0.7, box.y + box.height / 2, { steps: 3 });
      await page.mouse.up();
      await drawn(page, count);
      assert.notEqual(await digest(page), old, id);
    }
  }
  assert.equal(await page.locator("#problem").isVisible(), false, await page.locator("#problem").textContent());
  assert.deepEqual(wrong, []);
  await context.close();
});

test("any key becomes a control", async () => {
  const { page, context } = await open(browser);
  await digest(page);
  await page.locator("#add-key").selectOption({ label: "flow.conference.traffic.rate" });
  await page.locator("#add").click();
  const slider = page.getByLabel(/flow\.conference\.traffic\.rate/).last();
  const old = await digest(page);
  await slider.focus();
  await page.keyboard.press("End");
  await page.waitForFunction((one) => document.documentElement.dataset.digest !== one, old);
  await context.close();
});

test("replications go on until the interval is small, and say how many there were", async () => {
  const { page, context } = await open(browser, { settled: true });
  assert.match(
    await page.locator("#verdict").textContent(),
    /MOS \d\.\d (± 0\.\d\d|\[\d.*\]|\(same.*\)) over \d+ runs/,
  );
  assert.match(await page.locator("#precision").textContent(), /\d+ runs with different seeds/);
  await context.close();
});

test("the TOML that is copied runs natively to the same digest", async (t) => {
  const python = join(root, ".venv/bin/python");
  if (!existsSync(python)) return t.skip("there is no .venv: make setup");
  const { page, context } = await open(browser);
  const slider = page.locator("#control-link-0-rate");
  await slider.focus();
  for (let press = 0; press < 7; press++) await page.keyboard.press("ArrowRight");
  const here = await digest(page);
  await page.locator("#copy").click();
  await page.waitForFunction(() => document.documentElement.dataset.copied);
  const toml = await page.evaluate(() => navigator.clipboard.readText());
  assert.match(toml, /rate = "3\.\d+ Mb\/s"/);
  const file = join(mkdtempSync(join(tmpdir(), "fairwave-lab-")), "copied.toml");
  writeFileSync(file, toml);
  const code = `
import sys, fairwave
from fairwave import _native
from fairwave.tables import tables
for _, raw in _native.Batch([(fairwave.load(sys.argv[1]).native, 1)], 1):
    print(tables(raw)["work"]["digest"].to_list()[0])
`;
  assert.equal(execFileSync(python, ["-c", code, file], { encoding: "utf8" }).trim(), here);
  await context.close();
});

test("a link carries the whole scenario, CSV is downloaded", async () => {
  const { page, context } = await open(browser);
  await page.locator("#control-link-0-rate").focus();
  await page.keyboard.press("Home");
  const here = await digest(page);
  await page.locator("#link").click();
  await page.waitForFunction(() => document.documentElement.dataset.copied?.includes("#s="));
  const hash = await page.evaluate(() => new URL(document.documentElement.dataset.copied).hash);
  const other = await open(browser, { hash });
  assert.equal(await digest(other.page), here);
  await other.context.close();
  const downloads = [];
  page.on("download", (download) => downloads.push(download.suggestedFilename()));
  await page.locator("#csv").click();
  await page.waitForTimeout(1000);
  assert.deepEqual(downloads.sort(), ["a-home-uplink-flows.csv", "a-home-uplink-over-time.csv"]);
  await context.close();
});

test("a pasted mistake is shown at its line, what is too large with its cost, and the page goes on", async () => {
  const { page, context } = await open(browser);
  await digest(page);
  const text = await page.locator("#text").inputValue();
  await page.locator("#text").fill(text.replace("duration =", "durration ="));
  await page.locator("#run-text").click();
  await page.getByText(/scenario\.toml:4:1/).waitFor();
  const selected = await page.locator("#text").evaluate((one) => one.value.slice(one.selectionStart, one.selectionEnd));
  assert.match(selected, /^durration/);
  await page.locator("#text").fill(text.replace(/duration = "[^"]+"/, 'duration = "300 h"'));
  await page.locator("#run-text").click();
  await page.getByText(/too much for a page.*fairwave run/s).waitFor();
  const count = await drawings(page);
  await page.locator("#text").fill(text);
  await page.locator("#run-text").click();
  await drawn(page, count);
  assert.equal(await page.locator("#problem").isVisible(), false);
  await context.close();
});

test("a hostile link cannot run script", async () => {
  const attack = '<img src=x onerror="globalThis.hit=1"><script>globalThis.hit=1</script>';
  const home = readFileSync(join(root, "examples/home-uplink.toml"), "utf8");
  // Markup in free text and in restricted text: the first is shown as text, the second in a message.
  const named = home
    .replace(/^name = .*$/m, `name = ${JSON.stringify(attack)}`)
    .replace(/^description = .*$/m, `description = ${JSON.stringify(attack)}`);
  const nodes = named.replaceAll('"phone"', JSON.stringify(attack));
  for (const hash of [
    hashOf(named),
    hashOf(nodes),
    hashOf(`name = ${JSON.stringify(attack)}\n${attack} = 1`),
    `#s=${encodeURIComponent(attack)}`,
    `#s=javascript:globalThis.hit=1`,
    `#${attack}`,
  ]) {
    const { page, context } = await open(browser, { hash });
    await page.waitForTimeout(500);
    assert.equal(await page.evaluate(() => globalThis.hit), undefined, hash);
    assert.equal(await page.locator("main img").count(), 0, hash);
    await context.close();
  }
  const { page, context } = await open(browser, { hash: hashOf(named) });
  assert.equal(await page.locator("h1").textContent(), attack);
  await context.close();
});

test("A and B are played, B from A's position in the speech", async () => {
  const { page, wrong, context } = await open(browser);
  await digest(page);
  await chooseSpeech(page);
  await page.locator("#keep-a").click();
  await page.locator("#take-a").waitFor();
  await page.locator("#control-link-0-queue-discipline").selectOption("fq-codel");
  await digest(page);
  await page.locator("#keep-b").click();
  await page.locator("#take-b").waitFor();
  await page.locator("#play-a").click();
  await page.waitForFunction(() => /^A [1-9]/.test(document.getElementById("audio-clock").textContent), undefined, {
    timeout: 15_000,
  });
  await page.locator("#play-b").click();
  await page.waitForFunction(() => /^B [1-9]/.test(document.getElementById("audio-clock").textContent), undefined, {
    timeout: 5000,
  });
  assert.equal(await page.locator("#play-b").getAttribute("aria-pressed"), "true");
  await page.locator("#play-stop").click();
  assert.deepEqual(wrong, []);
  await context.close();
});

test("packets are shown one by one, with their victims", async () => {
  const { page, wrong, context } = await open(browser);
  await digest(page);
  await page.locator("#packet-play").click();
  await page.getByText(/\d+ packets at home>isp, victim rule: tail\. Dropped: \d+ .*on arrival/).waitFor();
  await page.waitForFunction(() => Number(document.getElementById("packet-time").value) > 0);
  await page.locator("#packet-play").click();
  const ink = await page.locator("#packet-canvas").evaluate((canvas) => {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    return data.filter((_, at) => at % 4 === 3 && data[at] > 0).length;
  });
  assert.ok(ink > 2000, String(ink));
  assert.deepEqual(wrong, []);
  await context.close();
});

test("packets that are asked for before the run has ended are shown when it has", async () => {
  const { page, wrong, context } = await open(browser);
  await digest(page);
  const said = await page.evaluate(() => {
    const slider = document.querySelector('#controls input[type="range"]');
    slider.value = slider.max;
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    document.getElementById("packet-play").click();
    return document.getElementById("packet-notice").textContent;
  });
  assert.equal(said, "The packets are shown when the run has ended.");
  await page.getByText(/\d+ packets at home>isp, victim rule: tail\./).waitFor();
  await page.waitForFunction(() => Number(document.getElementById("packet-time").value) > 0);
  assert.deepEqual(wrong, []);
  await context.close();
});

test("a lesson hides its results until the reader predicts, gives hints, and ends in a task that the controls do", async () => {
  const { page, wrong, context } = await open(browser);
  await digest(page);
  await page.locator('[data-lesson="victim"]').click();
  await page.getByText("Predict first").waitFor();
  await digest(page);
  for (const id of ["#verdict", "#figures", "#lesson-numbers", "#packets"]) {
    assert.equal(await page.locator(id).isVisible(), false, id);
  }
  assert.equal(await page.locator("#lesson-next").isDisabled(), true);
  await page.locator("#lesson-choices button").nth(2).click();
  await page.getByText(/You predicted “By more than 0.4”. The simulator says: “By less than 0.1”/).waitFor();
  assert.equal(await page.locator("#lesson-numbers tbody tr").count(), 4);
  assert.equal(await page.locator("#figures").isVisible(), true);
  // A setting of the table opens on the page.
  await page.locator("#lesson-numbers").getByRole("button", { name: "RED, Drop-Sel" }).click();
  await page.getByText(/\d packets.*in the queue/).waitFor();
  for (let step = 0; step < 2; step++) await page.locator("#lesson-next").click();
  await page.waitForTimeout(900);
  await digest(page);
  // The task is judged by its run, and not by the run of the step before.
  const judged = await page.evaluate(() => {
    document.getElementById("lesson-next").click();
    return document.getElementById("lesson-state").textContent;
  });
  assert.equal(judged, "");
  await page.getByText(/The calls lose \d+\.\d %/).waitFor();
  assert.equal(await page.locator("#lesson-hints li").count(), 0);
  await page.locator("#lesson-hint").click();
  await page.locator("#lesson-hint").click();
  assert.equal(await page.locator("#lesson-hints li").count(), 2);
  assert.equal(await page.locator("#lesson-hint").isVisible(), false);
  await page.locator("#control-topology-bottleneck-queue-victim").selectOption("drop-sel");
  await page.getByText(/^Found\./).waitFor();
  assert.equal(await page.locator("[data-lesson]").count(), 14);
  // The place in the lesson is in the address.
  await page.waitForTimeout(700);
  await page.reload();
  await page.getByText(/^Found\./).waitFor();
  assert.match(await page.locator("#lesson-place").textContent(), /Step 4 of 4/);
  assert.deepEqual(wrong, []);
  await context.close();
});

/** A scenario whose run takes tens of seconds: below the page's limit. */
const LONG = (seconds) => `name = "long"
duration = "${seconds} s"
[topology]
preset = "dumbbell"
bottleneck = { rate = "1 Gb/s", delay = "5 ms" }
[[flow]]
name = "transfer"
count = 8
transport = "tcp/cubic"
traffic = "bulk"
`;

test("a long run is asked for, shows its progress, and Stop ends it at once", async () => {
  const { page, wrong, context } = await open(browser);
  const before = await digest(page);
  await page.locator("#text").fill(LONG(400));
  await page.locator("#run-text").click();
  await page.getByText(/This run may take .* of memory/).waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.id), "agree");
  await page.locator("#decline").click();
  await page
    .getByText(/^Not run\./)
    .first()
    .waitFor();
  assert.equal(await digest(page), before);
  await page.locator("#run-text").click();
  await page.locator("#agree").click();
  await page.waitForFunction(() => document.getElementById("progress").value > 0, undefined, { timeout: 60_000 });
  await page.getByText(/\d % of the simulated time/).waitFor();
  const begin = performance.now();
  await page.locator("#stop").click();
  await page
    .getByText(/^Stopped at [\d.]+ s of 400 s\./)
    .first()
    .waitFor();
  assert.ok(performance.now() - begin < 2000, `${performance.now() - begin} ms`);
  // The run so far is shown immediately, or on request if it takes longer.
  const [, seconds] = /at ([\d.]+) s/.exec(await page.locator("#stop-state").textContent());
  const shown = page.getByText(`The page shows the first ${seconds} s.`).first();
  await page.locator("#part").or(shown).first().waitFor();
  if (await page.locator("#part").isVisible()) await page.locator("#part").click();
  await shown.waitFor({ timeout: 60_000 });
  assert.match(await page.locator("#verdict").textContent(), /transfer gets/);
  assert.equal(await page.locator("#figures").isVisible(), true);
  assert.equal(await page.locator("#stop").isDisabled(), true);
  await page.locator("#again").waitFor();
  const count = await drawings(page);
  await page.locator("#reset").click();
  await drawn(page, count);
  assert.equal(await digest(page), before);
  assert.deepEqual(wrong, []);
  await context.close();
});

test("a run of two million flows is refused before it is planned, with what to write instead", async () => {
  const { page, wrong, context } = await open(browser);
  const before = await digest(page);
  await page.locator("#text").fill(LONG(10).replace("count = 8", "count = 1999999"));
  await page.locator("#run-text").click();
  await page.getByText(/GB of memory for 1999999 flows.*smaller `count`.*fairwave run/s).waitFor({ timeout: 5000 });
  assert.equal(await digest(page), before);
  assert.deepEqual(wrong, []);
  await context.close();
});

test("Back, Undo, Redo and reload bring every setting back, and the page's own anchors do not disturb them", async () => {
  const { page, wrong, context } = await open(browser);
  const rate = page.locator("#control-link-0-rate");
  const digests = [await digest(page)];
  assert.equal(await page.locator("#undo").isDisabled(), true);
  const settle = () => page.waitForTimeout(900);
  await settle();
  for (let change = 0; change < 2; change++) {
    await rate.focus();
    await page.keyboard.press("ArrowRight");
    digests.push(await digest(page));
    await settle();
  }
  assert.equal(new Set(digests).size, 3);
  const shows = (wanted) =>
    page.waitForFunction((one) => document.documentElement.dataset.digest === one, wanted, { timeout: 10_000 });
  await page.locator("#undo").click();
  await shows(digests[1]);
  await settle();
  await page.goBack();
  await shows(digests[0]);
  await settle();
  assert.equal(await page.locator("#undo").isDisabled(), true);
  await page.locator("#redo").click();
  await shows(digests[1]);
  await settle();
  await page.getByRole("link", { name: "Lessons" }).click();
  await page.goForward();
  await shows(digests[2]);
  await settle();
  await page.reload();
  await shows(digests[2]);
  await page.keyboard.press("Control+z");
  await shows(digests[1]);
  assert.deepEqual(wrong, []);
  await context.close();
});

test("the keyboard edits the network: a node, a link, a flow; the edits are in the address and can be undone", async () => {
  const { page, wrong, context } = await open(browser);
  const before = await digest(page);
  await page.waitForTimeout(700);
  const focused = () =>
    page.evaluate(() => document.activeElement.getAttribute("aria-label") ?? document.activeElement.id);
  await page.locator("#network [tabindex='0']").focus();
  const reached = new Set();
  for (let press = 0; press < 20; press++) {
    reached.add(await focused());
    await page.keyboard.press("ArrowRight");
  }
  assert.ok(reached.has("Link from home to isp: 3 Mb/s, 10 ms, drop-tail"), [...reached].join("; "));
  assert.ok(reached.has("Node disk"), [...reached].join("; "));
  while (!(await focused()).startsWith("Node disk")) await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "network-editor");
  await page.locator("#edit-flow").focus();
  await page.keyboard.press("Enter");
  await page.locator("#new-kind").selectOption("stream");
  // A node chosen in the drawing becomes the other end.
  await page.locator('[data-pick="node:friend"]').dispatchEvent("click");
  assert.equal(await page.locator("#new-to").inputValue(), "friend");
  await page.locator("#new-add").focus();
  await page.keyboard.press("Enter");
  await page.getByText("The flow stream is added.").waitFor();
  await page.locator("#network-flows").getByText("stream").waitFor();
  assert.notEqual(await digest(page), before);
  // A link that flows need stays, and the page says why.
  await page.locator('[data-pick="link:home>isp"]').dispatchEvent("click");
  await page.locator("#edit-remove").click();
  await page.getByText(/Not done, and nothing has changed/).waitFor();
  await page.locator("#network-flows").getByText("stream").click();
  await page.locator("#edit-remove").click();
  await page.getByText("The flow stream is removed.").waitFor();
  assert.equal(await digest(page), before);
  // A queue at a link, and a new link to a new node.
  await page.locator('[data-pick="link:phone>home"]').dispatchEvent("click");
  await page.locator("#edit-queue").click();
  await page.getByText(/phone>home has a queue/).waitFor();
  await page.locator("#add-link").click();
  await page.locator("#new-from").fill("isp");
  await page.locator("#new-to").fill("backup");
  await page.locator("#new-add").click();
  await page.getByText("The link from isp to backup is added.").waitFor();
  await page.locator('[data-pick="node:backup"]').waitFor();
  await digest(page);
  await page.waitForTimeout(900);
  await page.locator("#undo").click();
  await page.waitForFunction(() => !document.querySelector('[data-pick="node:backup"]'));
  assert.deepEqual(wrong, []);
  await context.close();
});

test("a link of a preset is written out before it is edited", async () => {
  const { page, context } = await open(browser, {
    hash: hashOf(LONG(5).replace("1 Gb/s", "5 Mb/s").replace("count = 8\n", "")),
  });
  await digest(page);
  await page.locator('[data-pick="link:transfer-s0>r1"]').dispatchEvent("click");
  await page.locator("#edit-expand").click();
  await page.getByText("The preset is written out as links.").waitFor();
  await page.locator("#edit-delay").or(page.locator('[id^="edit-link-"]')).first().waitFor();
  assert.doesNotMatch(await page.locator("#text").inputValue(), /preset/);
  await context.close();
});

test("a trace is loaded into a link, seen, and named in words if it is none", async () => {
  const { page, wrong, context } = await open(browser);
  const before = await digest(page);
  await page.locator('[data-pick="link:home>isp"]').dispatchEvent("click");
  const file = (name, text) => ({ name, mimeType: "text/plain", buffer: Buffer.from(text) });
  await page.locator("#edit-trace").setInputFiles(file("x.mahi", "1\n5\n3\n"));
  await page.getByText(/x\.mahi, line 3: 3 ms comes after 5 ms/).waitFor();
  assert.equal(await digest(page), before);
  // Two packets every 5 ms: 4.8 Mb/s.
  await page
    .locator("#edit-trace")
    .setInputFiles(file("x.mahi", Array.from({ length: 400 }, (_, at) => `${(at + 1) * 5}\n`.repeat(2)).join("")));
  await page.getByText(/Trace of home>isp: 2 s, mean 4.81 Mb\/s/).waitFor();
  await page.getByText("rate of home>isp").first().waitFor();
  assert.notEqual(await digest(page), before);
  await page.locator("#edit-trace-remove").click();
  await page.waitForFunction(() => !document.querySelector("figure.trace"));
  assert.deepEqual(wrong, []);
  await context.close();
});

test("two settings are compared over equal seeds, in the figures too, and both are in the link", async () => {
  const { page, wrong, context } = await open(browser, { settled: true });
  await page.locator("#compare-keep").click();
  await page.locator("#control-link-0-queue-discipline").selectOption("fq-codel");
  const row = page.locator("#compare-rows tr").filter({ hasText: "MOS of call" });
  await page.getByText(/Means over [5-9] equal seeds/).waitFor({ timeout: 30_000 });
  assert.match(await row.textContent(), /\+\d\.\d\d (± \d\.\d\d|\[.*\]), higher/);
  assert.match(await page.locator("#compare-b").textContent(), /discipline is fq-codel instead of drop-tail/);
  await page.getByText("call, A").first().waitFor();
  await page.locator("#link").click();
  await page.waitForFunction(() => document.documentElement.dataset.copied?.includes("#s="));
  const hash = await page.evaluate(() => new URL(document.documentElement.dataset.copied).hash);
  const other = await open(browser, { hash });
  await other.page.getByText(/Means over [5-9] equal seeds/).waitFor({ timeout: 30_000 });
  assert.equal(
    await other.page.locator("#compare-rows tr").filter({ hasText: "MOS of call" }).textContent(),
    await row.textContent(),
  );
  await other.context.close();
  const b = await digest(page);
  await page.locator("#compare-swap").click();
  await page.waitForFunction((one) => document.documentElement.dataset.digest !== one, b);
  await page.getByText(/discipline is drop-tail instead of fq-codel/).waitFor();
  await page.locator("#compare-remove").click();
  assert.equal(await page.locator("#compare-place").isVisible(), false);
  assert.deepEqual(wrong, []);
  await context.close();
});

test("the keyboard alone reaches and turns everything", async () => {
  const { page, context } = await open(browser);
  const old = await digest(page);
  const reached = new Set();
  for (let press = 0; press < 90; press++) {
    await page.keyboard.press("Tab");
    const id = await page.evaluate(() => document.activeElement?.id || document.activeElement?.dataset?.lesson || "");
    reached.add(id);
    if (id === "control-link-0-rate" && !reached.has("turned")) {
      await page.keyboard.press("ArrowRight");
      reached.add("turned");
    }
  }
  for (const id of [
    "turned",
    "add-flow",
    "compare-keep",
    "add",
    "copy",
    "link",
    "csv",
    "play",
    "time",
    "packet-play",
    "speech-source",
    "keep-a",
    "keep-b",
    "bufferbloat",
    "text",
    "run-text",
  ]) {
    assert.ok(reached.has(id), `${id} is not reached: ${[...reached].join(" ")}`);
  }
  assert.notEqual(await digest(page), old);
  await context.close();
});

/** Elements wider than the screen, without those for screen readers. */
const wide = (page) =>
  page.evaluate(() =>
    [...document.querySelectorAll("body *")]
      .filter((one) => {
        const { width, right } = one.getBoundingClientRect();
        return (
          width > 1 && right > innerWidth + 0.5 && getComputedStyle(one).clipPath === "none" && !one.closest(".u-over")
        );
      })
      .map((one) => `${one.tagName} ${one.id} ${one.getAttribute("class")}`),
  );

for (const width of [1440, 400, 360]) {
  for (const dark of [false, true]) {
    test(`at ${width} pixels, ${dark ? "dark" : "light"}, axe-core finds nothing in any panel and nothing sticks out`, async () => {
      const { page, context } = await open(browser, { width, dark, settled: true });
      const overflow = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.deepEqual(await violations(page), []);
      assert.ok((await overflow()) <= 0, `${await overflow()} pixels stick out`);
      const check = async () => {
        assert.deepEqual(await violations(page), []);
        assert.ok((await overflow()) <= 0, `${await overflow()} pixels stick out`);
        assert.deepEqual(await wide(page), []);
      };
      await useAllPanels(page, check);
      await check();
      await context.close();
    });
  }
}

test("in a notebook's frame it opens the scenario of the notebook and sends the results back", async () => {
  const context = await browser.newContext({ offline: true });
  const page = await context.newPage();
  const html = readFileSync(PAGE).toString("base64");
  const script = readFileSync(join(root, "python/fairwave/lab/widget.js"), "utf8");
  await page.setContent("<!doctype html><title>notebook</title><main></main>");
  await page.evaluate(
    async ([html, script]) => {
      // A model like anywidget's: values, listeners to changes, and saved values.
      const [values, listeners] = [{ page: html, height: 900, scenario: "" }, {}];
      globalThis.saved = 0;
      globalThis.model = {
        get: (key) => values[key],
        set: (key, value) => {
          values[key] = value;
          for (const one of listeners[key] ?? []) one();
        },
        on: (event, action) => {
          const key = event.replace("change:", "");
          listeners[key] = [...(listeners[key] ?? []), action];
        },
        save_changes: () => globalThis.saved++,
      };
      const address = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
      const { default: widget } = await import(address);
      globalThis.leave = widget.render({ model: globalThis.model, el: document.querySelector("main") });
    },
    [html, script],
  );
  await page.waitForFunction(() => globalThis.saved > 0, undefined, { timeout: 60_000 });
  const first = await page.evaluate(() => globalThis.model.get("result"));
  assert.match(first.digest, /^[0-9a-f]{16}$/);
  assert.equal(JSON.parse(first.scenario).name, "a home uplink");
  assert.ok(first.voice[0].mos > 1);
  const toml = readFileSync(join(root, "examples/contested-call.toml"), "utf8");
  await page.evaluate((toml) => globalThis.model.set("scenario", toml), toml);
  await page.waitForFunction((old) => globalThis.model.get("result").digest !== old, first.digest, { timeout: 60_000 });
  const second = await page.evaluate(() => JSON.parse(globalThis.model.get("result").scenario).name);
  assert.notEqual(second, "a home uplink");
  await page.evaluate(() => globalThis.leave());
  await context.close();
});
