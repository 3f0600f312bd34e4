// Texts from other people: names that would take a regular expression minutes, keys that reach the prototype, memory that runs out.
import { describe, expect, test } from "vitest";
import { isMember } from "../src/edit";
import { crashMessage } from "../src/instance";
import { get, set } from "../src/paths";

describe("names of templates", () => {
  const cases: [string, string, boolean][] = [
    ["a7", "a{i}", true],
    ["a", "a{i}", false],
    ["a77b", "a{i}b", true],
    ["r12-3", "r{i+1}-{i%5}", true],
    ["r-3", "r{i+1}-{i%5}", false],
    ["a123", "a{i}23", true],
    ["a23", "a{i}23", false],
    ["x.y", "x.y", true],
    ["xzy", "x.y", false],
  ];
  for (const [name, written, expected] of cases) {
    test(`${name} ${expected ? "is" : "is not"} a member of ${written}`, () => {
      expect(isMember(name, written)).toBe(expected);
    });
  }

  test("with many holes are matched step by step", () => {
    // A regular expression tries every way to divide the digits among the holes.
    expect(isMember(`${"1".repeat(400)}x`, "{i}".repeat(300))).toBe(false);
    expect(isMember("1".repeat(400), "{i}".repeat(300))).toBe(true);
    expect(isMember("1".repeat(200), "{i}".repeat(300))).toBe(false);
    expect(isMember("1".repeat(1001), "{i}")).toBe(false);
  });
});

describe("keys that reach the prototype of all objects", () => {
  for (const key of ["__proto__", "constructor", "prototype"]) {
    test(`${key} cannot be set`, () => {
      expect(() => set({}, [key, "polluted"], true)).toThrow(/no key of a scenario/);
      expect(() => set({ link: {} }, ["link", key], true)).toThrow(/no key of a scenario/);
      expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    });
    test(`${key} has no value`, () => expect(get({}, [key])).toBeUndefined());
  }
});

test("memory that runs out is reported in words", () => {
  const message = crashMessage(new WebAssembly.RuntimeError("unreachable"), "", 4096);
  expect(message).toMatch(/needs more memory than a page has \(4096 MB were in use\).*Shorten the run/);
  expect(crashMessage(new WebAssembly.RuntimeError("unreachable"), "index out of bounds", 5)).toMatch(
    /index out of bounds/,
  );
});
