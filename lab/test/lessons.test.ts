import { describe, expect, test } from "vitest";
import { LESSONS } from "../src/lessons";
import { set } from "../src/paths";
import type { Checked, Seen, Table } from "../src/protocol";
import { engine } from "./engine";

function seen(text: string): Seen {
  const { json } = engine.ask<Seen>({ op: "run", text, observe: true, bins: 60 });
  if (!json.ok) throw new Error(json.message);
  return json;
}

function written(text: string): Table {
  const { json } = engine.ask<Checked>({ op: "check", text });
  if (!json.ok) throw new Error(json.message);
  return json.json;
}

describe.each(LESSONS)("$title", (lesson) => {
  test("has steps that run", () => {
    for (const step of lesson.steps) expect(seen(step.scenario).flows.length).toBeGreaterThan(0);
  });

  test("asks what is not so at first, and has an answer", () => {
    const start = written(lesson.steps.at(-1)?.scenario ?? "");
    expect(lesson.missing(seen(JSON.stringify(start)), start)).not.toBeUndefined();
    const answered = lesson.answer.reduce((table, { path, value }) => set(table, path, value), start);
    expect(lesson.missing(seen(JSON.stringify(answered)), answered)).toBeUndefined();
  });
});
