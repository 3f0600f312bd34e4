// The built engine, for tests in Node.

import { readFileSync } from "node:fs";
import { Instance } from "../src/instance";

const FILE =
  process.env.FAIRWAVE_WASM ?? new URL("../../target/wasm32-unknown-unknown/page/fairwave_wasm.wasm", import.meta.url);

export const engine = new Instance(new WebAssembly.Module(readFileSync(FILE)));

export const golden = (name: string): string =>
  readFileSync(new URL(`../../tests/golden/${name}`, import.meta.url), "utf8");
