// One HTML file with everything in it: the page, its styles, the simulator (compressed, base64), a recording of speech.

import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import type { Plugin } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";
import { defineConfig } from "vitest/config";

const ENGINE =
  process.env.FAIRWAVE_WASM ?? new URL("../target/wasm32-unknown-unknown/page/fairwave_wasm.wasm", import.meta.url);
const SPEECH = process.env.FAIRWAVE_SPEECH ?? "";

/** `virtual:engine` is the simulator; `virtual:speech` the recording, G.711 µ law, empty where there is none. */
function within(): Plugin {
  const files: Record<string, () => string> = {
    "virtual:engine": () => gzipSync(readFileSync(ENGINE), { level: 9 }).toString("base64"),
    "virtual:speech": () => (existsSync(SPEECH) ? readFileSync(SPEECH).toString("base64") : ""),
  };
  return {
    name: "fairwave-within",
    resolveId: (id) => (id in files ? `\0${id}` : null),
    load: (id) => {
      const make = files[id.slice(1)];
      return id.startsWith("\0virtual:") && make ? `export default ${JSON.stringify(make())};` : null;
    },
  };
}

/** The one script that the page may run is named by its hash: nothing that a scenario says can be another. */
function sealed(): Plugin {
  return {
    name: "fairwave-sealed",
    enforce: "post",
    closeBundle() {
      const file = new URL("dist/index.html", import.meta.url);
      const html = readFileSync(file, "utf8");
      const scripts = [...html.matchAll(/<script[^>]*>([\s\S]*?)<\/script>/g)].map((match) => match[1] ?? "");
      const hashes = scripts.map((one) => `'sha256-${createHash("sha256").update(one).digest("base64")}'`);
      if (!scripts.length || !html.includes("script-src 'unsafe-inline'"))
        throw new Error("the page has no script, or no policy");
      writeFileSync(file, html.replace("script-src 'unsafe-inline'", `script-src ${hashes.join(" ")}`));
    },
  };
}

export default defineConfig({
  plugins: [within(), viteSingleFile(), sealed()],
  worker: { format: "iife" },
  build: { target: "es2022", assetsInlineLimit: 100_000_000, chunkSizeWarningLimit: 4000, reportCompressedSize: false },
  test: { include: ["test/**/*.test.ts"], testTimeout: 120_000 },
});
