// The bottleneck's queue packet by packet: which two seconds, how fast, played and paused.

import { find, text } from "./dom";
import { PacketView, tally } from "./packets";
import type { Passages, Request } from "./protocol";
import type { Shown } from "./shown";

/** How much of the time is shown packet by packet. */
const STRETCH_S = 2;

/** Makes the panel work; what is drawn in it is drawn anew with the answer's `paint`. */
export function packetPanel(shown: Shown): PacketView {
  const view = new PacketView(find<HTMLCanvasElement>("packet-canvas"));
  const button = find<HTMLButtonElement>("packet-play");
  const time = find<HTMLInputElement>("packet-time");
  const from = find<HTMLInputElement>("packet-from");
  let shownFor = "";
  view.onTime = (seconds) => {
    time.value = String(seconds - Number(from.value));
    time.setAttribute("aria-valuetext", `${seconds.toFixed(3)} s`);
  };
  view.onStop = () => {
    button.textContent = "Play";
    button.setAttribute("aria-pressed", "false");
  };
  time.addEventListener("input", () => {
    view.stop();
    view.moveTo(Number(from.value) + Number(time.value));
  });
  find("packet-speed").addEventListener("change", () => {
    view.speed = Number(find<HTMLSelectElement>("packet-speed").value);
  });
  button.addEventListener("click", async () => {
    const link = shown.seen?.links_seen[0]?.link;
    if (!shown.seen || !link) return;
    if (view.playing) {
      view.stop();
      return;
    }
    const [begin, key] = [Number(from.value), `${shown.seen.digest} ${from.value}`];
    if (shownFor !== key) {
      const request: Request = {
        op: "packets",
        text: shown.scenario,
        link,
        from_s: begin,
        until_s: begin + STRETCH_S,
      };
      const { json } = await shown.engine.ask<Passages>(request).catch(() => ({ json: undefined }));
      if (!json?.ok) {
        text("packet-said", json ? json.message : "Something else was asked meanwhile.");
        return;
      }
      shownFor = key;
      time.disabled = false;
      view.show(json, begin, begin + STRETCH_S);
      const victim = typeof json.victim === "string" ? `, the victim is ${json.victim}` : "";
      text("packet-said", `${json.passages.length} packets at ${link}${victim}. ${tally(json.passages)}`);
    }
    button.textContent = "Pause";
    button.setAttribute("aria-pressed", "true");
    view.speed = Number(find<HTMLSelectElement>("packet-speed").value);
    view.play();
  });
  return view;
}
