// The state of the page: one typed store. The scheduler and the views' actions change it; the views render it.

import { type Control, Controls } from "./controls";
import type { Path } from "./paths";
import type { CallAudio, CheckedScenario, ObservedRun, Table } from "./protocol";
import { formatDisplay } from "./quantities";
import type { Schema } from "./schema";

/** A problem of the scenario or the link. */
export interface PageProblem {
  message: string;
  /** The line of the scenario's text, from 1; null if the problem has no place in the text. */
  line: number | null;
}

/** A setting that is kept as A, for the comparison with the current setting, B. */
export interface KeptSetting {
  scenario: Table;
  toml: string;
  /** The controls and their values when it was kept. */
  settings: string;
  /** Runs with different seeds. */
  runs: ObservedRun[];
}

/** The place of the reader in a lesson. */
export interface LessonPlace {
  id: string;
  step: number;
  /** The choice that the reader predicts in this step; undefined before. */
  predicted?: number | undefined;
}

/** One side of the comparison by ear. */
export type Side = "a" | "b";

/** The call of one setting as audio. */
export interface Take {
  /** The controls and their values when the take was made. */
  settings: string;
  audio: CallAudio;
  samples: Int16Array;
}

/** A run that Stop has ended. */
export interface StoppedRun {
  /** Simulated time that it had reached, s. */
  seconds: number;
  /** Its duration, s. */
  total: number;
  /** Computing time until then, ms. */
  took: number;
}

export interface PageState {
  /** The current scenario. */
  scenario: Table;
  /** The scenario of the last check, with every parameter of its laws. */
  complete: Table;
  name: string;
  description: string;
  /** The scenario of the last check as TOML, as in the address of the page. */
  toml: string;
  /** The text in the editor. */
  text: string;
  /** The reader has changed the text since the last run. */
  isTextEdited: boolean;
  /** The schema of the scenario language; undefined until the engine has sent it. */
  schema: Schema | undefined;
  controls: Control[];
  /** Keys for which the reader has added a control. */
  addedKeys: Path[];
  /** The last result; undefined until the first run of a scenario ends. */
  run: ObservedRun | undefined;
  /** `run` belongs to the current scenario; false during a drag. */
  isCurrent: boolean;
  /** The result before the last gesture, drawn dashed. */
  previousRun: ObservedRun | undefined;
  /** Runs of the same scenario with different seeds; `run` is the first. */
  replications: ObservedRun[];
  /** The replications have ended. */
  isReplicated: boolean;
  isBusy: boolean;
  /** The simulated share of the current run, from 0 to 1; undefined without a long run. */
  progress: number | undefined;
  /** The question before a long run; undefined without one. */
  question: string | undefined;
  /** Description of the work that the last Stop ended; undefined after the next change. */
  stopped: string | undefined;
  /** The run that the last Stop ended, if its beginning can be shown; else undefined. */
  part: StoppedRun | undefined;
  kept: KeptSetting | undefined;
  lesson: LessonPlace | undefined;
  canUndo: boolean;
  canRedo: boolean;
  problem: PageProblem | undefined;
  /** Upper estimates of a run of the scenario; undefined before the first check. */
  cost: CheckedScenario["cost"] | undefined;
  /** A problem of the page's link. It stays on the page until the reader changes something. */
  linkProblem: PageProblem | undefined;
  takes: { a?: Take; b?: Take };
}

export function initialState(): PageState {
  return {
    scenario: {},
    complete: {},
    name: "",
    description: "",
    toml: "",
    text: "",
    isTextEdited: false,
    schema: undefined,
    controls: [],
    addedKeys: [],
    run: undefined,
    isCurrent: false,
    previousRun: undefined,
    replications: [],
    isReplicated: false,
    isBusy: false,
    progress: undefined,
    question: undefined,
    stopped: undefined,
    part: undefined,
    kept: undefined,
    lesson: undefined,
    canUndo: false,
    canRedo: false,
    problem: undefined,
    linkProblem: undefined,
    cost: undefined,
    takes: {},
  };
}

interface Subscription<State> {
  keys: readonly (keyof State)[];
  react: (state: Readonly<State>) => void;
}

/** Contains a state, and calls the subscribers of changed keys. */
export class Store<State extends object> {
  private readonly subscriptions: Subscription<State>[] = [];

  constructor(private current: State) {}

  get state(): Readonly<State> {
    return this.current;
  }

  /** Calls `react` after each update that changes at least one of the keys, once per update, in the order of subscription. */
  subscribe(keys: readonly (keyof State)[], react: (state: Readonly<State>) => void): void {
    this.subscriptions.push({ keys, react });
  }

  update(change: Partial<State>): void {
    const before = this.current;
    this.current = { ...before, ...change };
    const changed = new Set((Object.keys(change) as (keyof State)[]).filter((key) => before[key] !== change[key]));
    for (const { keys, react } of this.subscriptions) {
      if (keys.some((key) => changed.has(key))) react(this.current);
    }
  }
}

export type PageStore = Store<PageState>;

/** The editable keys of the scenario; undefined until the schema is there. */
export function controlsOf(state: Readonly<PageState>): Controls | undefined {
  return state.schema && new Controls(state.scenario, state.complete, state.schema);
}

/** Updates the list of controls: the initial ones and those that the reader has added. Does nothing without a schema and a run. */
export function renewControls(store: PageStore): void {
  const { run, addedKeys } = store.state;
  const controls = controlsOf(store.state);
  if (!controls || !run) return;
  const added = addedKeys.flatMap((path) => controls.of(path) ?? []);
  store.update({ controls: [...controls.initial(run.network), ...added] });
}

/** The controls and their values in a line, for the list of takes. */
export function settingsOf(state: Readonly<PageState>): string {
  const controls = controlsOf(state);
  const value = (control: Control): string =>
    control.kind === "slider" ? formatDisplay(control.value, control.dimension) : control.value;
  return state.controls.map((control) => `${control.label} ${value(controls?.of(control.path) ?? control)}`).join(", ");
}
