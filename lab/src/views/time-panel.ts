// The run over time: figures, the network, and the time slider with its playback.

import { find, setPressed, setText } from "../dom";
import { writtenLink } from "../edit";
import { get } from "../paths";
import type { PageState, PageStore } from "../state";
import { fromLaw, meanRates } from "../traces";
import type { NetworkView } from "./network";
import { type Line, Plots } from "./plots";

/** Playback of a whole run takes this long. */
const PLAYBACK_S = 12;
/** The tints are drawn again after this many replications. */
const REDRAW_RUNS = 4;

export class TimePanel {
  private readonly plots = new Plots(find("figures"));
  private readonly slider = find<HTMLInputElement>("time");
  private isPlaying = false;

  constructor(
    private readonly store: PageStore,
    private readonly network: NetworkView,
  ) {
    store.subscribe(["run", "kept"], (state) => this.render(state));
    store.subscribe(["replications"], (state) => {
      const count = state.replications.length;
      if (count > 1 && (count - 1) % REDRAW_RUNS === 0) this.render(state);
    });
    store.subscribe(["isReplicated"], (state) => {
      if (!state.isReplicated) return;
      this.render(state);
      document.documentElement.dataset.settled = String(state.replications.length);
    });
    this.slider.addEventListener("input", () => this.moveTo(Number(this.slider.value)));
    this.plots.onTime = (seconds) => this.network.moveTo(seconds);
    find("play").addEventListener("click", () => this.toggle());
  }

  /** Draws everything again, in the current colours. */
  repaint(): void {
    this.plots.clear();
    this.render(this.store.state);
  }

  private render(state: Readonly<PageState>): void {
    const { run, previousRun, replications, kept } = state;
    if (!run) return;
    performance.mark("draw");
    const keptRun = kept?.runs.find(({ seed }) => seed === run.seed);
    const other = keptRun ? { run: keptRun, word: "A" } : previousRun && { run: previousRun, word: "before" };
    this.plots.draw(run, other, replications, traceLine(state));
    this.network.draw(run);
    this.slider.max = String(run.duration_s);
    const { dataset } = document.documentElement;
    dataset.drawn = String(Number(dataset.drawn ?? 0) + 1);
  }

  private moveTo(seconds: number): void {
    this.slider.value = String(seconds);
    this.slider.setAttribute("aria-valuetext", `${seconds.toFixed(1)} s`);
    setText("clock", `${seconds.toFixed(1)} s`);
    this.plots.moveTo(seconds);
    this.network.moveTo(seconds);
  }

  private toggle(): void {
    this.isPlaying = !this.isPlaying;
    setPressed(find("play"), this.isPlaying);
    if (!this.isPlaying) return;
    let last: number | undefined;
    const step = (now: number) => {
      const { run } = this.store.state;
      if (!this.isPlaying || !run) return;
      const passed = last === undefined ? 0 : (now - last) / 1000;
      last = now;
      const next = Number(this.slider.value) + (passed * run.duration_s) / PLAYBACK_S;
      this.moveTo(next >= run.duration_s ? 0 : next);
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }
}

/** The rate of the bottleneck over time, if it follows a trace. */
function traceLine({ run, scenario }: Readonly<PageState>): Line | undefined {
  const link = run?.link_series[0]?.link;
  const written = link === undefined ? undefined : writtenLink(scenario, link);
  const trace = written && fromLaw(get(scenario, [...written.path, "rate"]));
  if (!run || !trace) return undefined;
  const bins = run.group_series[0]?.throughput_bps.length ?? 0;
  const values = meanRates(trace, bins, bins * run.bin_s).map((bps) => bps / 1e6);
  return {
    label: `rate of ${link}`,
    colour: getComputedStyle(document.documentElement).getPropertyValue("--soft").trim(),
    values,
    isBound: true,
  };
}
