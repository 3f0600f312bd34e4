// The page for teachers: texts of the lessons and numbers of the engine, kept in results/lab/lessons.json.gz. `npm run
// teachers` writes them, and `make results` renders the page.

import { readFileSync, writeFileSync } from "node:fs";
import { gunzipSync, gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { LESSONS, type Lesson, type Means, meansOf } from "../src/lessons";
import { formatPath } from "../src/paths";
import type { CheckedScenario, Json, ObservedRun, Table } from "../src/protocol";
import { engine } from "./engine";

const FILE = new URL("../../results/lab/lessons.json.gz", import.meta.url);
const SEEDS = [1, 2, 3];

function runOf(text: string, seed: number): ObservedRun {
  const { json } = engine.ask<ObservedRun>({ op: "run", text, seed, observe: true, bins: 60 });
  if (!json.ok) throw new Error(json.message);
  return json;
}

function written(text: string): Table {
  const { json } = engine.ask<CheckedScenario>({ op: "check", text });
  if (!json.ok) throw new Error(json.message);
  return json.json;
}

function rowsOf(lesson: Lesson, means: Means): string[][] {
  return lesson.settings.map(({ name }, setting) => [
    name,
    ...lesson.measures.map(({ digits }, measure) => (means[setting]?.[measure] ?? Number.NaN).toFixed(digits)),
  ]);
}

const formatValue = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value));

function chapter(lesson: Lesson): Record<string, unknown> {
  const means = meansOf(
    lesson,
    lesson.settings.map(({ scenario }) => SEEDS.map((seed) => runOf(scenario, seed))),
  );
  const { prediction, task } = lesson;
  const start = written(task.start);
  return {
    title: lesson.title,
    about: lesson.about,
    aim: lesson.aim,
    situation: lesson.intro,
    question: prediction.question,
    choices: prediction.choices,
    right: prediction.right(means),
    claim: lesson.claim.words,
    columns: lesson.measures.map(({ label, unit }) => (unit ? `${label} (${unit})` : label)),
    rows: rowsOf(lesson, means),
    looks: lesson.looks.map(({ text }) => text).join(" "),
    task: `${task.text} ${task.question}`,
    answer: task.answer
      .map(({ path, value }) => `\`${formatPath(path, start)}\` = \`${formatValue(value)}\``)
      .join(", "),
    found: task.found,
    hints: task.hints.join(" "),
    discussion: lesson.discussion,
  };
}

test("the kept lessons have the texts of the lessons and the numbers of the engine", () => {
  const found = { seeds: SEEDS.length, lessons: LESSONS.map(chapter) };
  if (process.env.FAIRWAVE_WRITE) writeFileSync(FILE, gzipSync(JSON.stringify(found), { level: 9 }));
  expect(JSON.parse(gunzipSync(readFileSync(FILE)).toString()), "renew it with `npm run teachers`").toEqual(found);
});
