import { describe, expect, test } from "vitest";
import { LESSONS, type Lesson, meansOf, stepsOf } from "../src/lessons";
import { get, set } from "../src/paths";
import type { CheckedScenario, ObservedRun, Table } from "../src/protocol";
import { engine } from "./engine";

function runOf(text: string, seed?: number): ObservedRun {
  const { json } = engine.ask<ObservedRun>({
    ...({ op: "run", text, observe: true, bins: 60 } as const),
    ...(seed === undefined ? {} : { seed }),
  });
  if (!json.ok) throw new Error(json.message);
  return json;
}

function written(text: string): CheckedScenario {
  const { json } = engine.ask<CheckedScenario>({ op: "check", text });
  if (!json.ok) throw new Error(json.message);
  return json;
}

const SEEDS = [1, 2, 3];
const runsOf = (lesson: Lesson) => lesson.settings.map(({ scenario }) => SEEDS.map((seed) => runOf(scenario, seed)));

test("there are fourteen lessons, each of ten minutes: one prediction, two looks, one task with hints", () => {
  expect(LESSONS).toHaveLength(14);
  expect(new Set(LESSONS.map(({ id }) => id)).size).toBe(14);
  for (const lesson of LESSONS) {
    expect(stepsOf(lesson)).toBe(4);
    expect(lesson.task.hints.length).toBeGreaterThanOrEqual(2);
    expect(lesson.discussion.length).toBeGreaterThanOrEqual(2);
  }
});

test("every family of queues has its lesson", () => {
  const { json } = engine.ask<{ ok: true; schema: Table }>({ op: "schema" });
  if (!json.ok) throw new Error(json.message);
  const about = LESSONS.map((lesson) => `${lesson.about} ${lesson.title}`.toLowerCase()).join();
  for (const name of ["drop-tail", "red", "avq", "rem", "green", "choke", "fred", "punsi", "codel", "pie"]) {
    expect(about).toContain(name);
  }
  for (const name of ["fq-codel", "fq-pie", "dualpi2", "cake"]) expect(about).toContain(name);
});

describe.each(LESSONS)("$id: $title", (lesson) => {
  const runs = runsOf(lesson);
  const means = meansOf(lesson, runs);

  test("shows what the teacher's page says that the numbers must show", () => {
    expect(means.flat().every(Number.isFinite), JSON.stringify(means)).toBe(true);
    expect(lesson.claim.holds(means), JSON.stringify(means)).toBe(true);
  });

  test("has one right prediction, whichever the seed", () => {
    const right = lesson.prediction.right(means);
    expect(lesson.prediction.choices[right]).toBeDefined();
    for (const [index] of SEEDS.entries()) {
      const single = meansOf(
        lesson,
        runs.map((row) => [row[index] as ObservedRun]),
      );
      expect(lesson.prediction.right(single), `seed ${SEEDS[index]}: ${JSON.stringify(single)}`).toBe(right);
    }
  });

  test("shows settings that there are, with controls for its keys", () => {
    for (const { setting } of lesson.looks) expect(lesson.settings[setting]).toBeDefined();
    expect(lesson.settings[lesson.shown]).toBeDefined();
    const { complete } = written(lesson.task.start);
    for (const key of lesson.keys ?? []) expect(get(complete, key), key.join(".")).toBeDefined();
  });

  test("sets a task that is not done at first, and that its answer does", () => {
    const start = written(lesson.task.start).json;
    expect(lesson.task.missing(runOf(JSON.stringify(start)), start)).not.toBeUndefined();
    const answered = lesson.task.answer.reduce((table, { path, value }) => set(table, path, value), start);
    expect(lesson.task.missing(runOf(JSON.stringify(answered)), answered)).toBeUndefined();
  });
});
