// The decoder of the engine, against Python's encoder.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { decodeLzma } from "../src/lzma";

const folder = mkdtempSync(join(tmpdir(), "fairwave-lzma-"));

/** Packs by Python: with `pack.py`, or with other parameters of the format. */
function packed(data: Uint8Array, filter = "pack.FILTER"): Uint8Array {
  writeFileSync(join(folder, "in"), data);
  const script = `
import lzma, sys
sys.path.insert(0, sys.argv[3])
import pack
pack.FILTER = ${filter}
open(sys.argv[2], "wb").write(pack.pack(open(sys.argv[1], "rb").read()))
`;
  const home = fileURLToPath(new URL("..", import.meta.url));
  execFileSync("python3", ["-B", "-c", script, join(folder, "in"), join(folder, "out"), home]);
  return readFileSync(join(folder, "out"));
}

const bytes = (count: number, of: (index: number) => number) => Uint8Array.from({ length: count }, (_, at) => of(at));
let seed = 1;
const noise = () => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return seed >>> 24;
};
const sources: [string, Uint8Array][] = [
  ["this file", readFileSync(fileURLToPath(import.meta.url))],
  [
    "noise, twice",
    (() => {
      const once = bytes(70_000, noise);
      return Uint8Array.from([...once, ...once]);
    })(),
  ],
  ["zeros", bytes(300_000, () => 0)],
  ["a pattern with faults", bytes(100_000, (at) => (noise() < 3 ? noise() : at % 251))],
  ["one byte", bytes(1, () => 7)],
];

describe.each(sources)("%s", (_, data) => {
  test.each([
    "pack.FILTER",
    "dict(id=lzma.FILTER_LZMA1, preset=6, lc=3, lp=0, pb=2)",
    "dict(id=lzma.FILTER_LZMA1, preset=1, lc=0, lp=2, pb=4)",
  ])("comes back from %s", (filter) => {
    expect(Buffer.compare(decodeLzma(packed(data, filter)), data)).toBe(0);
  });
});

describe("what is no LZMA is refused in words", () => {
  const good = packed(sources[0]?.[1] ?? new Uint8Array());

  test("too short, another format, no length", () => {
    expect(() => decodeLzma(new Uint8Array())).toThrow("no LZMA");
    expect(() => decodeLzma(new Uint8Array(100).fill(255))).toThrow("no LZMA");
    const open = Uint8Array.from(good);
    open.fill(255, 5, 13);
    expect(() => decodeLzma(open)).toThrow("no length");
  });

  test("cut, or copying from before its beginning", () => {
    expect(() => decodeLzma(good.slice(0, good.length / 2))).toThrow("ends too early");
    const wrong = Uint8Array.from(good);
    wrong.fill(255, 13, 60);
    expect(() => decodeLzma(wrong)).toThrow("before its beginning");
  });
});
