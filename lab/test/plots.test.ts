// Axes of the figures over time.

import { expect, test, vi } from "vitest";

vi.stubGlobal("matchMedia", () => ({ matches: false }));
const { readable } = await import("../src/views/plots");

const line = (label: string, values: (number | null)[], isBound = false) => ({
  label,
  colour: "#000000",
  values,
  isBound,
});
const panel = (...lines: ReturnType<typeof line>[]) => ({ id: "estimate", title: "", unit: "Mb/s", lines });

test("a rate far above the estimate is named, and off the axis", () => {
  const found = readable(panel(line("estimate", [1.5, null, 2]), line("rate of a>b", [60, 60, 60], true)));
  expect(found.lines.map(({ label }) => label)).toEqual(["estimate", "rate of a>b: 60 Mb/s, off the axis"]);
  expect(2 / (found.top as number)).toBeCloseTo(1 / 1.1);
});

test.each([5, 2])("a rate of %d Mb/s next to an estimate of 2 is drawn", (rate) => {
  const given = panel(line("estimate", [1.5, 2]), line("rate of a>b", [rate, rate], true));
  expect(readable(given)).toBe(given);
});

test("a rate is drawn if nothing else is", () => {
  const given = panel(line("estimate", [null, 0]), line("rate of a>b", [60, 60], true));
  expect(readable(given)).toBe(given);
});
