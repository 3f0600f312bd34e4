import { describe, expect, test } from "vitest";
import { LESSONS } from "../src/lessons";
import { set } from "../src/paths";
import type { CheckedScenario, ObservedRun, Table } from "../src/protocol";
import { engine } from "./engine";

function runOf(text: string): ObservedRun {
  const { json } = engine.ask<ObservedRun>({ op: "run", text, observe: true, bins: 60 });
  if (!json.ok) throw new Error(json.message);
  return json;
}

function written(text: string): Table {
  const { json } = engine.ask<CheckedScenario>({ op: "check", text });
  if (!json.ok) throw new Error(json.message);
  return json.json;
}

describe.each(LESSONS)("$title", (lesson) => {
  test("has steps that run", () => {
    for (const step of lesson.steps) expect(runOf(step.scenario).flows.length).toBeGreaterThan(0);
  });

  test("asks what is not so at first, and has an answer", () => {
    const start = written(lesson.steps.at(-1)?.scenario ?? "");
    expect(lesson.missing(runOf(JSON.stringify(start)), start)).not.toBeUndefined();
    const answered = lesson.answer.reduce((table, { path, value }) => set(table, path, value), start);
    expect(lesson.missing(runOf(JSON.stringify(answered)), answered)).toBeUndefined();
  });
});
