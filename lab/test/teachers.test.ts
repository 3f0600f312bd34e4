// The teacher's page, docs/lab-teachers.md: texts of the lessons and numbers of the engine. `npm run teachers` writes it.

import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { LESSONS, type Lesson, type Means, meansOf } from "../src/lessons";
import { formatPath } from "../src/paths";
import type { CheckedScenario, Json, ObservedRun, Table } from "../src/protocol";
import { engine } from "./engine";

const FILE = new URL("../../docs/lab-teachers.md", import.meta.url);
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

function tableOf(lesson: Lesson, means: Means): string {
  const titles = lesson.measures.map(({ label, unit }) => (unit ? `${label} (${unit})` : label));
  const rows = lesson.settings.map(({ name }, setting) => [
    name,
    ...lesson.measures.map(({ digits }, measure) => (means[setting]?.[measure] ?? Number.NaN).toFixed(digits)),
  ]);
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(["setting", ...titles]), line(["---", ...titles.map(() => "---:")]), ...rows.map(line)].join("\n");
}

const formatValue = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value));

function chapter(lesson: Lesson, number: number): string {
  const means = meansOf(
    lesson,
    lesson.settings.map(({ scenario }) => SEEDS.map((seed) => runOf(scenario, seed))),
  );
  const { prediction, task } = lesson;
  const right = prediction.right(means);
  const choices = prediction.choices.map(
    (words, index) => `- ${words}${index === right ? " **(the engine's answer)**" : ""}`,
  );
  const start = written(task.start);
  const answer = task.answer.map(({ path, value }) => `\`${formatPath(path, start)}\` = \`${formatValue(value)}\``);
  return `## ${number}. ${lesson.title}

${lesson.about}.

**Aim.** ${lesson.aim}

**Situation.** ${lesson.intro}

**Prediction.** ${prediction.question}

${choices.join("\n")}

**What the numbers must show.** ${lesson.claim.words}

${tableOf(lesson, means)}

**Looks.** ${lesson.looks.map(({ text }) => text).join(" ")}

**Task.** ${task.text} ${task.question} One solution: ${answer.join(", ")}. ${task.found}

Hints: ${task.hints.join(" ")}

**Discussion.**

${lesson.discussion.map((words) => `- ${words}`).join("\n")}
`;
}

function pageOf(): string {
  return `# Lessons for teachers

The [lab](lab.md) has fourteen lessons of about ten minutes. This page has the aim, the prediction, the numbers and questions for each one.
\`npm run teachers\` in \`lab/\` writes it. The tables are means over ${SEEDS.length} runs (seeds ${SEEDS.join(", ")}), from the same engine as in the page.
A test holds what the numbers must show.

## How to use a lesson

1. Open the lab (\`fairwave lab\`) and choose the lesson. The page works without a network; send it to your class as a file.
2. Let everybody predict before the page shows anything (2 minutes). Collect the predictions: they are the start of the discussion.
3. Look at the table and at the curves (3 minutes). A button in each row of the table opens its setting.
4. Do the task (4 minutes). The page says when it is done. Each task has two hints.
5. Discuss (as long as you like). *Copy a link* keeps the state of the page: the place in the lesson, the scenario, and A of a comparison.

${LESSONS.map((lesson, index) => chapter(lesson, index + 1)).join("\n")}`;
}

test("the teacher's page has the lessons' texts and the engine's numbers", () => {
  const page = pageOf();
  if (process.env.FAIRWAVE_WRITE) writeFileSync(FILE, page);
  expect(readFileSync(FILE, "utf8"), "renew it with `npm run teachers`").toBe(page);
});
