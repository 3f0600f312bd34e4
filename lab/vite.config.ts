// One HTML file with everything in it: the page, its styles, the simulator (packed, base64), a recording of speech.

import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import type { Plugin } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";
import { defineConfig } from "vitest/config";

/** The packed engine from `pack.py`. */
const ENGINE = process.env.FAIRWAVE_ENGINE ?? new URL("../out/lab-engine.lzma", import.meta.url);
const SPEECH = process.env.FAIRWAVE_SPEECH ?? "";

/** `virtual:engine` is the simulator; `virtual:speech` the recording, G.711 µ law, empty without one. */
function within(): Plugin {
  const files: Record<string, () => string> = {
    "virtual:engine": () => readFileSync(ENGINE).toString("base64"),
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

/** The rest of the page's policy: the page fetches nothing. */
const REST =
  "worker-src blob: data:; img-src data: blob:; media-src blob: data:; font-src data:; connect-src data: blob:; base-uri 'none'; form-action 'none'";

/** Names the page's scripts and styles by hash in its policy, so that text of a scenario never runs. */
function sealed(): Plugin {
  const hashes = (html: string, element: RegExp) =>
    [...html.matchAll(element)]
      .map(([, text = ""]) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`)
      .join(" ");
  return {
    name: "fairwave-sealed",
    enforce: "post",
    closeBundle() {
      const file = new URL("dist/index.html", import.meta.url);
      const html = readFileSync(file, "utf8");
      const script = /<script[^>]*>([\s\S]*?)<\/script>/g;
      const scripts = hashes(html, script);
      // Scripts contain text that looks like markup.
      const styles = hashes(html.replace(script, ""), /<style[^>]*>([\s\S]*?)<\/style>/g);
      if (!scripts || !styles) throw new Error("the page has no script or no style of its own");
      const policy = `default-src 'none'; script-src ${scripts} 'wasm-unsafe-eval'; style-src ${styles}; ${REST}`;
      const head = '<meta charset="utf-8">';
      if (!html.includes(head)) throw new Error(`the page has no ${head}, behind which its policy goes`);
      writeFileSync(
        file,
        html.replace(head, `${head}\n<meta http-equiv="Content-Security-Policy" content="${policy}">`),
      );
    },
  };
}

export default defineConfig({
  plugins: [within(), viteSingleFile(), sealed()],
  worker: { format: "iife" },
  build: { target: "es2022", assetsInlineLimit: 100_000_000, chunkSizeWarningLimit: 4000, reportCompressedSize: false },
  test: { include: ["test/**/*.test.ts"], testTimeout: 120_000 },
});
