// Lessons: a prediction, the engine's result, looks at the settings, and a task that the reader solves with the controls.

import { find, setPressed, setText } from "../dom";
import { LESSONS, type Lesson, type Means, meansOf, stepsOf } from "../lessons";
import { CancelledError, type EngineClient, type ObservedRun } from "../protocol";
import type { Scheduler } from "../scheduler";
import { type LessonPlace, type PageState, type PageStore, renewControls } from "../state";

/** The engine runs each setting with these seeds. */
const SEEDS = [1, 2, 3];
const BINS = 60;
/** Instead of a choice: the reader does not want to predict. */
const NO_PREDICTION = -1;

export class LessonPanel {
  /** The engine's results, by lesson. */
  private readonly means = new Map<string, Means>();
  private measuring: string | undefined;
  private shownHints = 0;
  private shownPlace = "";

  /** `engine` computes the results in parallel with the runs of the page. */
  constructor(
    private readonly store: PageStore,
    private readonly scheduler: Scheduler,
    private readonly engine: EngineClient,
  ) {
    find("lesson-list").append(...LESSONS.map((lesson) => this.entry(lesson)));
    find("lesson-next").addEventListener("click", () => this.move(1));
    find("lesson-back").addEventListener("click", () => this.move(-1));
    find("lesson-hint").addEventListener("click", () => this.showHint());
    find("lesson-leave").addEventListener("click", () => {
      this.store.update({ lesson: undefined });
      find("lessons").querySelector("button")?.focus();
    });
    store.subscribe(["lesson"], () => this.render());
    store.subscribe(["run"], (state) => this.renderTask(state));
  }

  private entry(lesson: Lesson): HTMLElement {
    const about = document.createElement("span");
    about.className = "small";
    about.textContent = ` ${lesson.about}`;
    const entry = document.createElement("li");
    const open = button(lesson.title, () => void this.open(lesson, 0));
    open.dataset.lesson = lesson.id;
    entry.append(open, about);
    return entry;
  }

  private get current(): { lesson: Lesson; place: LessonPlace } | undefined {
    const { lesson: place } = this.store.state;
    const lesson = LESSONS.find(({ id }) => id === place?.id);
    if (!lesson || !place || place.step < 0 || place.step >= stepsOf(lesson)) return undefined;
    return { lesson, place };
  }

  private move(steps: number): void {
    const { current } = this;
    if (current) void this.open(current.lesson, current.place.step + steps);
  }

  private async open(lesson: Lesson, step: number): Promise<void> {
    if (step < 0 || step >= stepsOf(lesson)) return;
    const { lesson: before } = this.store.state;
    const predicted = before?.id === lesson.id ? before.predicted : undefined;
    // The run on the page belongs to the step before, so the task must not use it.
    this.store.update({ lesson: { id: lesson.id, step, predicted }, isCurrent: false });
    find("lesson").scrollIntoView({ block: "start" });
    const look = lesson.looks[step - 1];
    const setting = lesson.settings[step === 0 ? lesson.shown : (look?.setting ?? 0)];
    const isTask = step === stepsOf(lesson) - 1;
    await this.openScenario(lesson, isTask ? lesson.task.start : (setting?.scenario ?? ""));
  }

  private async openScenario(lesson: Lesson, scenario: string): Promise<void> {
    if (!(await this.scheduler.open(scenario, `${lesson.id}.toml`))) return;
    this.store.update({ addedKeys: [...(lesson.keys ?? [])] });
    renewControls(this.store);
  }

  private predict(choice: number): void {
    const { current } = this;
    if (!current || current.place.predicted !== undefined) return;
    this.store.update({ lesson: { ...current.place, predicted: choice } });
    find("lesson-state").scrollIntoView({ block: "nearest" });
  }

  private render(): void {
    const { current } = this;
    find("lesson").hidden = !current;
    const isPredicting = current?.place.step === 0 && current.place.predicted === undefined;
    document.body.classList.toggle("predicting", isPredicting);
    if (!current) {
      this.engine.cancel();
      return;
    }
    const { lesson, place } = current;
    const steps = stepsOf(lesson);
    const isTask = place.step === steps - 1;
    const key = `${lesson.id} ${place.step}`;
    if (key !== this.shownPlace) this.shownHints = 0;
    this.shownPlace = key;
    setText("title-lesson", lesson.title);
    const text =
      place.step === 0 ? lesson.intro : isTask ? lesson.task.text : (lesson.looks[place.step - 1]?.text ?? "");
    setText("lesson-text", text);
    setText("lesson-question", place.step === 0 ? lesson.prediction.question : isTask ? lesson.task.question : "");
    setText("lesson-place", `Step ${place.step + 1} of ${steps}`);
    find<HTMLButtonElement>("lesson-back").disabled = place.step === 0;
    const next = find<HTMLButtonElement>("lesson-next");
    next.disabled = isTask || isPredicting;
    this.renderChoices(lesson, place);
    this.renderHints(lesson, isTask);
    const state = find("lesson-state");
    state.classList.remove("done");
    state.textContent = isPredicting ? "Predict first: then the page shows the results." : "";
    this.renderNumbers(lesson, place);
    if (isTask) this.renderTask(this.store.state);
  }

  private renderChoices(lesson: Lesson, { step, predicted }: LessonPlace): void {
    const choices = find<HTMLFieldSetElement>("lesson-choices");
    choices.hidden = step !== 0;
    const buttons = lesson.prediction.choices.map((words, index) => {
      const choice = button(words, () => this.predict(index));
      setPressed(choice, predicted === index);
      choice.disabled = predicted !== undefined;
      return choice;
    });
    const skip = button("I do not know: show it", () => this.predict(NO_PREDICTION));
    skip.id = "lesson-skip";
    choices.replaceChildren(...buttons, ...(predicted === undefined ? [skip] : []));
  }

  private renderHints({ task }: Lesson, isTask: boolean): void {
    const hints = isTask ? task.hints.slice(0, this.shownHints) : [];
    const entries = hints.map((hint) => {
      const entry = document.createElement("li");
      entry.textContent = hint;
      return entry;
    });
    find("lesson-hints").replaceChildren(...entries);
    const more = find<HTMLButtonElement>("lesson-hint");
    more.hidden = !isTask || this.shownHints >= task.hints.length;
    more.textContent = this.shownHints ? "Another hint" : "Give me a hint";
  }

  private showHint(): void {
    const { current } = this;
    if (!current) return;
    this.shownHints++;
    this.renderHints(current.lesson, true);
    if (find("lesson-hint").hidden) find("lesson-back").focus();
  }

  /** The engine's numbers, once the reader has predicted. */
  private renderNumbers(lesson: Lesson, place: LessonPlace): void {
    const numbers = find("lesson-numbers");
    const means = this.means.get(lesson.id);
    numbers.hidden = place.predicted === undefined;
    if (place.predicted === undefined) return;
    if (!means) {
      numbers.replaceChildren();
      void this.measure(lesson);
      return;
    }
    numbers.replaceChildren(this.table(lesson, means));
    if (place.step !== 0) return;
    const right = lesson.prediction.right(means);
    const answer = lesson.prediction.choices[right] ?? "";
    const mine = lesson.prediction.choices[place.predicted];
    const state = find("lesson-state");
    state.classList.toggle("done", place.predicted === right);
    if (place.predicted === right) state.textContent = `You predicted it: “${answer}”.`;
    else if (mine === undefined) state.textContent = `The simulator says: “${answer}”.`;
    else state.textContent = `You predicted “${mine}”. The simulator says: “${answer}”.`;
  }

  /** Runs every setting of a lesson with a few seeds. */
  private async measure(lesson: Lesson): Promise<void> {
    if (this.measuring === lesson.id) return;
    this.engine.cancel();
    this.measuring = lesson.id;
    const all = lesson.settings.length * SEEDS.length;
    const runs: ObservedRun[][] = lesson.settings.map(() => []);
    let done = 0;
    try {
      for (const [setting, { scenario }] of lesson.settings.entries()) {
        for (const seed of SEEDS) {
          setText("lesson-state", `The simulator computes the answer: ${done} of ${all} runs …`);
          const request = { op: "run", text: scenario, seed, observe: true, bins: BINS, allowed: true } as const;
          const { json } = await this.engine.ask<ObservedRun>(request);
          if (!json.ok) throw new Error(json.message);
          runs[setting]?.push(json);
          done++;
        }
      }
      this.means.set(lesson.id, meansOf(lesson, runs));
    } catch (error) {
      if (!(error instanceof CancelledError))
        setText("lesson-state", `The answer cannot be computed: ${String(error)}`);
    } finally {
      if (this.measuring === lesson.id) this.measuring = undefined;
    }
    const { current } = this;
    if (this.means.has(lesson.id) && current?.lesson === lesson) {
      setText("lesson-state", "");
      this.renderNumbers(lesson, current.place);
      this.renderTask(this.store.state);
    }
  }

  private table(lesson: Lesson, means: Means): HTMLElement {
    const table = document.createElement("table");
    const caption = table.createCaption();
    caption.className = "small";
    caption.textContent = `Means over ${SEEDS.length} runs with different seeds, computed in this page. Choose a setting to open it.`;
    const head = table.createTHead().insertRow();
    const titles = lesson.measures.map(({ label, unit }) => (unit ? `${label} (${unit})` : label));
    for (const title of ["Setting", ...titles]) {
      const cell = document.createElement("th");
      cell.scope = "col";
      cell.textContent = title;
      head.append(cell);
    }
    const body = table.createTBody();
    for (const [index, { name, scenario }] of lesson.settings.entries()) {
      const row = body.insertRow();
      const first = document.createElement("th");
      first.scope = "row";
      first.append(button(name, () => void this.openScenario(lesson, scenario)));
      row.append(first);
      for (const [place, { digits }] of lesson.measures.entries()) {
        const cell = row.insertCell();
        cell.textContent = (means[index]?.[place] ?? Number.NaN).toFixed(digits);
        cell.dataset.name = titles[place];
      }
    }
    return table;
  }

  /** Shows whether the current run solves the task. */
  private renderTask({ run, isCurrent, scenario }: Readonly<PageState>): void {
    const { current } = this;
    if (!run || !isCurrent || !current || current.place.step < stepsOf(current.lesson) - 1) return;
    const missing = current.lesson.task.missing(run, scenario);
    const state = find("lesson-state");
    state.classList.toggle("done", missing === undefined);
    state.textContent = missing ?? `Found. ${current.lesson.task.found}`;
  }
}

function button(text: string, action: () => void): HTMLButtonElement {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = text;
  made.addEventListener("click", action);
  return made;
}
