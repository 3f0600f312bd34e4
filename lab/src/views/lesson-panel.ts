// Lessons: a few steps each, and a question that the reader answers with the controls.

import { find, setText } from "../dom";
import { LESSONS, type Lesson } from "../lessons";
import type { Scheduler } from "../scheduler";
import type { PageState, PageStore } from "../state";

export class LessonPanel {
  private position: { lesson: Lesson; step: number } | undefined;

  constructor(
    store: PageStore,
    private readonly scheduler: Scheduler,
  ) {
    find("lesson-list").append(...LESSONS.map((lesson) => this.entry(lesson)));
    find("lesson-next").addEventListener("click", () => this.move(1));
    find("lesson-back").addEventListener("click", () => this.move(-1));
    find("lesson-leave").addEventListener("click", () => {
      this.position = undefined;
      find("lesson").hidden = true;
      find("lessons").querySelector("button")?.focus();
    });
    store.subscribe(["run"], (state) => this.renderState(state));
  }

  private entry(lesson: Lesson): HTMLElement {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = lesson.title;
    button.dataset.lesson = lesson.id;
    button.addEventListener("click", () => void this.open(lesson, 0));
    const entry = document.createElement("li");
    entry.append(button);
    return entry;
  }

  private move(steps: number): void {
    if (this.position) void this.open(this.position.lesson, this.position.step + steps);
  }

  private async open(lesson: Lesson, step: number): Promise<void> {
    const page = lesson.steps[step];
    if (!page) return;
    this.position = { lesson, step };
    const isLast = step === lesson.steps.length - 1;
    find("lesson").hidden = false;
    setText("title-lesson", lesson.title);
    setText("lesson-text", page.text);
    setText("lesson-question", isLast ? lesson.question : "");
    setText("lesson-state", "");
    setText("lesson-place", `Step ${step + 1} of ${lesson.steps.length}`);
    find<HTMLButtonElement>("lesson-back").disabled = step === 0;
    find<HTMLButtonElement>("lesson-next").disabled = isLast;
    find("lesson").scrollIntoView({ block: "nearest" });
    await this.scheduler.open(page.scenario, `${lesson.id}.toml`);
  }

  /** Says whether the current run answers the lesson's question. */
  private renderState({ run, isCurrent, scenario }: Readonly<PageState>): void {
    if (!run || !isCurrent || !this.position) return;
    const { lesson, step } = this.position;
    if (step < lesson.steps.length - 1) return;
    const missing = lesson.missing(run, scenario);
    const place = find("lesson-state");
    place.classList.toggle("done", missing === undefined);
    place.textContent = missing ?? `Found. ${lesson.found}`;
  }
}
