// The bottleneck's queue packet by packet: start, speed, playback.

import { find, setPressed, setText } from "../dom";
import { PacketView, tally } from "../packets";
import type { PacketTrace } from "../protocol";
import type { Scheduler } from "../scheduler";
import type { PageStore } from "../state";

/** The panel shows this much simulated time. */
const STRETCH_S = 2;

export class PacketPanel {
  private readonly view = new PacketView(find<HTMLCanvasElement>("packet-canvas"));
  private readonly button = find<HTMLButtonElement>("packet-play");
  private readonly time = find<HTMLInputElement>("packet-time");
  private readonly start = find<HTMLInputElement>("packet-from");
  private readonly speed = find<HTMLSelectElement>("packet-speed");
  /** The run and the start of the packets in the view. */
  private shownKey = "";
  /** The reader waits for the packets of a run that has not ended. */
  private isWanted = false;

  constructor(
    private readonly store: PageStore,
    private readonly scheduler: Scheduler,
  ) {
    const { view, time } = this;
    view.onTime = (seconds) => {
      time.value = String(seconds - Number(this.start.value));
      time.setAttribute("aria-valuetext", `${seconds.toFixed(3)} s`);
    };
    view.onStop = () => {
      this.button.textContent = "Play";
      setPressed(this.button, false);
    };
    time.addEventListener("input", () => {
      view.stop();
      view.moveTo(Number(this.start.value) + Number(time.value));
    });
    this.speed.addEventListener("change", () => {
      view.speed = Number(this.speed.value);
    });
    this.button.addEventListener("click", () => void this.toggle());
    store.subscribe(["run", "isBusy"], () => {
      if (this.isWanted && !this.isRunAwaited) void this.toggle();
    });
  }

  /** The current scenario is running. */
  private get isRunAwaited(): boolean {
    const { run, isCurrent, isBusy } = this.store.state;
    return isBusy && (!run || !isCurrent);
  }

  /** Draws the packets again, in the current colours. */
  repaint(): void {
    this.view.paint();
  }

  private async toggle(): Promise<void> {
    this.isWanted = !this.view.playing && this.isRunAwaited;
    if (this.view.playing) this.view.stop();
    else if (this.isWanted) setText("packet-notice", "The packets are shown when the run has ended.");
    else if (await this.load()) this.play();
  }

  private play(): void {
    this.button.textContent = "Pause";
    setPressed(this.button, true);
    this.view.speed = Number(this.speed.value);
    this.view.play();
  }

  /** Brings the packets of the current run and start into the view. False if there are none, with a notice. */
  private async load(): Promise<boolean> {
    const { run } = this.store.state;
    const link = run?.link_series[0]?.link;
    if (!run || !link) {
      setText("packet-notice", run ? "No link of this run is drawn." : "There is no run to show packets of.");
      return false;
    }
    const begin = Number(this.start.value);
    const key = `${run.digest} ${this.start.value}`;
    if (this.shownKey === key) return true;
    const answer = await this.scheduler.tracePackets(link, begin, begin + STRETCH_S);
    if (!answer?.ok) {
      setText("packet-notice", answer ? answer.message : "Cancelled. Try again.");
      return false;
    }
    this.shownKey = key;
    this.time.disabled = false;
    this.view.show(answer, begin, begin + STRETCH_S);
    setText("packet-notice", summaryOf(answer));
    return true;
  }
}

function summaryOf({ link, passages, victim }: PacketTrace): string {
  const rule = typeof victim === "string" ? `, victim rule: ${victim}` : "";
  return `${passages.length} packets at ${link}${rule}. ${tally(passages)}`;
}
