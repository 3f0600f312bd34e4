// Lessons: a few steps each, and a question that the controls answer.

import { find, text } from "./dom";
import { LESSONS, type Lesson } from "./lessons";
import type { Seen, Table } from "./protocol";

export class LessonPanel {
  private lesson: { of: Lesson; step: number } | undefined;

  /** `open` takes a scenario as it is written, by the name that messages give it. */
  constructor(private readonly open: (written: string, file: string) => Promise<unknown>) {
    this.wire();
  }

  private wire(): void {
    for (const lesson of LESSONS) {
      const item = document.createElement("li");
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = lesson.title;
      button.dataset.lesson = lesson.id;
      button.addEventListener("click", () => void this.step(lesson, 0));
      item.append(button);
      find("lesson-list").append(item);
    }
    const move = (by: number) => this.lesson && void this.step(this.lesson.of, this.lesson.step + by);
    find("lesson-next").addEventListener("click", () => move(1));
    find("lesson-back").addEventListener("click", () => move(-1));
    find("lesson-leave").addEventListener("click", () => {
      this.lesson = undefined;
      find("lesson").hidden = true;
      find("lessons").querySelector("button")?.focus();
    });
  }

  private async step(lesson: Lesson, step: number): Promise<void> {
    const now = lesson.steps[step];
    if (!now) return;
    this.lesson = { of: lesson, step };
    const last = step === lesson.steps.length - 1;
    find("lesson").hidden = false;
    text("title-lesson", lesson.title);
    text("lesson-text", now.text);
    text("lesson-question", last ? lesson.question : "");
    text("lesson-state", "");
    text("lesson-place", `Step ${step + 1} of ${lesson.steps.length}`);
    find<HTMLButtonElement>("lesson-back").disabled = step === 0;
    find<HTMLButtonElement>("lesson-next").disabled = last;
    find("lesson").scrollIntoView({ block: "nearest" });
    await this.open(now.scenario, `${lesson.id}.toml`);
  }

  /** Whether the controls have answered the lesson's question. */
  judge(seen: Seen, json: Table): void {
    if (!this.lesson || this.lesson.step < this.lesson.of.steps.length - 1) return;
    const missing = this.lesson.of.missing(seen, json);
    const place = find("lesson-state");
    place.classList.toggle("done", missing === undefined);
    place.textContent = missing ?? `Found. ${this.lesson.of.found}`;
  }
}
