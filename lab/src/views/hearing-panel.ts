// The call as audio: the choice of the speech, and two settings side by side.

import { find, setPressed, setText } from "../dom";
import { ATTRIBUTION, decodeFile, embeddedSpeech, Player, RATE, type Recording, record } from "../hearing";
import type { Scheduler } from "../scheduler";
import type { PageStore, Side } from "../state";

const SIDES: readonly Side[] = ["a", "b"];

export class HearingPanel {
  private readonly player = new Player();
  private readonly source = find<HTMLSelectElement>("speech-source");
  /** The samples of each choice of the speech. */
  private readonly speech = new Map<string, Int16Array>();
  private recording: Recording | undefined;

  constructor(
    private readonly store: PageStore,
    private readonly scheduler: Scheduler,
  ) {
    const embedded = embeddedSpeech();
    if (embedded) {
      this.addSpeech("embedded", "Telephone prompt", embedded);
      setText("attribution", ATTRIBUTION);
    } else this.source.append(new Option("None: this page was built without a recording", "none"));
    find("speech-file").addEventListener("change", () => void this.openFile());
    find("speech-record").addEventListener("click", () => void this.toggleRecording());
    for (const side of SIDES) {
      find(`keep-${side}`).addEventListener("click", () => void this.keep(side));
      find(`play-${side}`).addEventListener("click", () => {
        const take = this.store.state.takes[side];
        if (take) this.player.play(take);
      });
    }
    find("play-stop").addEventListener("click", () => this.player.stop());
    this.player.onTick = (now, duration) => {
      const name = this.player.current === this.store.state.takes.a ? "A" : "B";
      setText("audio-clock", `${name} ${now.toFixed(1)} of ${duration.toFixed(1)} s`);
    };
    this.player.onState = () => this.renderPlayback();
    store.subscribe(["takes"], () => this.renderTakes());
  }

  private addSpeech(value: string, name: string, samples: Int16Array): void {
    this.speech.set(value, samples);
    const known = [...this.source.options].find((option) => option.value === value);
    if (known) known.text = name;
    else this.source.append(new Option(name, value));
    this.source.value = value;
  }

  private addOwnSpeech(name: string, samples: Int16Array): void {
    this.addSpeech(name, `${name} (${(samples.length / RATE).toFixed(1)} s)`, samples);
  }

  private async openFile(): Promise<void> {
    const file = find<HTMLInputElement>("speech-file").files?.[0];
    if (!file) return;
    try {
      this.addOwnSpeech(file.name, await decodeFile(file));
    } catch {
      setText("hearing-notice", `${file.name}: this browser cannot decode the file. Choose a WAV or MP3 file.`);
    }
  }

  private async toggleRecording(): Promise<void> {
    const { recording } = this;
    this.recording = undefined;
    try {
      if (recording) this.addOwnSpeech("Microphone", await recording.stop());
      else this.recording = await record();
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      setText("hearing-notice", `The microphone cannot be used: ${why}. Choose a file.`);
    }
    setText("speech-record", this.recording ? "Stop recording" : "Record");
  }

  /** Renders the call with the current settings, as A or B. */
  private async keep(side: Side): Promise<void> {
    const speech = this.speech.get(this.source.value);
    if (!speech) {
      setText("hearing-notice", "There is no speech yet. Choose a file or record something.");
      return;
    }
    const law = find<HTMLSelectElement>("speech-law").value as "u" | "a";
    const conceal = find<HTMLInputElement>("speech-conceal").checked;
    const answer = await this.scheduler.keepTake(side, speech, { law, conceal });
    if (!answer) setText("hearing-notice", "Cancelled. Try again.");
    else setText("hearing-notice", answer.ok ? `${side.toUpperCase()} is kept.` : answer.message);
  }

  private renderTakes(): void {
    const { takes } = this.store.state;
    // A take that has been replaced is no longer played.
    const { current } = this.player;
    if (this.player.playing && current !== takes.a && current !== takes.b) this.player.stop();
    const lines = SIDES.flatMap((side) => {
      const take = takes[side];
      if (!take) return [];
      find<HTMLButtonElement>(`play-${side}`).disabled = false;
      const { mos, played, units } = take.audio;
      const score = mos === null ? "no rating" : `MOS ${mos.toFixed(2)}`;
      const line = document.createElement("li");
      line.id = `take-${side}`;
      line.textContent = `${side.toUpperCase()}: ${score}, ${played} of ${units} packets played. ${take.settings}`;
      return [line];
    });
    find("takes").replaceChildren(...lines);
  }

  private renderPlayback(): void {
    const { playing, current } = this.player;
    find<HTMLButtonElement>("play-stop").disabled = !playing;
    for (const side of SIDES) setPressed(find(`play-${side}`), playing && current === this.store.state.takes[side]);
  }
}
