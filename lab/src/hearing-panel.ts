// Hearing the call: whose speech is sent, and two settings side by side.

import { find, text } from "./dom";
import { ATTRIBUTION, fromFile, ownSpeech, Player, RATE, record, type Take } from "./hearing";
import type { Heard, Request } from "./protocol";
import type { Shown } from "./shown";

export class HearingPanel {
  private readonly player = new Player();
  private readonly takes: { a?: Take; b?: Take } = {};
  private speech: Int16Array | undefined = ownSpeech();
  private recording: { stop(): Promise<Int16Array> } | undefined;

  constructor(private readonly shown: Shown) {
    this.wire();
  }

  private wire(): void {
    const source = find<HTMLSelectElement>("speech-source");
    const option = (value: string, words: string) => {
      const made = document.createElement("option");
      made.value = value;
      made.textContent = words;
      source.append(made);
      source.value = value;
    };
    const own = ownSpeech();
    if (own) option("own", "a telephone prompt");
    else option("none", "none: this page was built without a recording");
    if (own) text("attribution", ATTRIBUTION);
    const supplied = new Map<string, Int16Array>();
    source.addEventListener("change", () => {
      this.speech = source.value === "own" ? own : supplied.get(source.value);
    });
    const supply = (name: string, samples: Int16Array) => {
      supplied.set(name, samples);
      option(name, `${name} (${(samples.length / RATE).toFixed(1)} s)`);
      this.speech = samples;
    };
    find("speech-file").addEventListener("change", async () => {
      const file = find<HTMLInputElement>("speech-file").files?.[0];
      if (!file) return;
      try {
        supply(file.name, await fromFile(file));
      } catch {
        text("hearing-said", `${file.name}: no sound that this browser can decode; a wav or mp3 file will do.`);
      }
    });
    find("speech-record").addEventListener("click", async () => {
      const button = find("speech-record");
      try {
        if (this.recording) {
          const samples = await this.recording.stop();
          this.recording = undefined;
          button.textContent = "Record";
          supply("microphone", samples);
        } else {
          this.recording = await record();
          button.textContent = "Stop recording";
        }
      } catch (error) {
        this.recording = undefined;
        button.textContent = "Record";
        text(
          "hearing-said",
          `No microphone: ${error instanceof Error ? error.message : String(error)}. Take a file instead.`,
        );
      }
    });
    for (const side of ["a", "b"] as const) {
      find(`keep-${side}`).addEventListener("click", () => void this.keep(side));
      find(`play-${side}`).addEventListener("click", () => {
        const take = this.takes[side];
        if (take) this.player.play(take);
      });
    }
    find("play-stop").addEventListener("click", () => this.player.stop());
    this.player.onTick = (now, of) => {
      const name = this.player.current === this.takes.a ? "A" : "B";
      text("heard-clock", `${name} ${now.toFixed(1)} of ${of.toFixed(1)} s`);
    };
    this.player.onState = (playing) => {
      find<HTMLButtonElement>("play-stop").disabled = !playing;
      for (const side of ["a", "b"] as const) {
        find(`play-${side}`).setAttribute("aria-pressed", String(playing && this.player.current === this.takes[side]));
      }
    };
  }

  /** Makes what is set now audible, as A or B. */
  private async keep(side: "a" | "b"): Promise<void> {
    if (!this.speech) {
      text("hearing-said", "There is no speech yet: choose a file or record something.");
      return;
    }
    const request: Request = {
      op: "speech",
      text: this.shown.scenario,
      law: find<HTMLSelectElement>("speech-law").value as "u" | "a",
      conceal: find<HTMLInputElement>("speech-conceal").checked,
    };
    const { settings } = this.shown;
    const { json, samples } = await this.shown.engine
      .ask<Heard>(request, this.speech)
      .catch(() => ({ json: undefined, samples: new Int16Array() }));
    if (!json?.ok) {
      text("hearing-said", json ? json.message : "Something else was asked meanwhile.");
      return;
    }
    if (this.player.playing && this.player.current === this.takes[side]) this.player.stop();
    this.takes[side] = { name: side.toUpperCase(), heard: json, samples };
    find<HTMLButtonElement>(`play-${side}`).disabled = false;
    const score = json.mos === null ? "no rating" : `MOS ${json.mos.toFixed(2)}`;
    const line = document.createElement("li");
    line.id = `take-${side}`;
    line.textContent = `${side.toUpperCase()}: ${score}, ${json.played} of ${json.units} packets played. ${settings}`;
    document.getElementById(line.id)?.remove();
    if (side === "a") find("takes").prepend(line);
    else find("takes").append(line);
    text("hearing-said", `${side.toUpperCase()} is kept.`);
  }
}
