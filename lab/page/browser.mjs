// The page, opened from disk in the system's Chromium.

import { existsSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

export const PAGE = process.env.FAIRWAVE_LAB ?? fileURLToPath(new URL("../../out/lab.html", import.meta.url));
const names = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** A browser without a network, because the page is self-contained. */
export function launch() {
  const executablePath = process.env.FAIRWAVE_CHROMIUM ?? names.find((name) => existsSync(name));
  return chromium.launch({
    executablePath,
    args: [
      "--no-sandbox",
      "--autoplay-policy=no-user-gesture-required",
      "--use-fake-ui-for-media-stream",
      "--use-fake-device-for-media-stream",
    ],
  });
}

/** Opens the page and waits for its first picture. `wrong` collects its errors. */
export async function open(browser, { width = 1440, height = 900, dark = false, hash = "", settled = false } = {}) {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: dark ? "dark" : "light",
    offline: true,
    acceptDownloads: true,
    permissions: ["clipboard-read", "clipboard-write", "microphone"],
  });
  const page = await context.newPage();
  const wrong = [];
  page.on("pageerror", (error) => wrong.push(String(error)));
  page.on("console", (message) => message.type() === "error" && wrong.push(message.text()));
  page.on(
    "request",
    (request) => /^https?:/.test(request.url()) && wrong.push(`asked the network for ${request.url()}`),
  );
  await page.goto(pathToFileURL(PAGE).href + hash);
  await drawn(page, 0);
  if (settled)
    await page.waitForFunction(() => document.documentElement.dataset.settled, undefined, { timeout: 60_000 });
  return { context, page, wrong };
}

export const drawings = (page) => page.evaluate(() => Number(document.documentElement.dataset.drawn ?? 0));

/** Waits until more has been drawn than `before`. */
export async function drawn(page, before) {
  await page.waitForFunction((count) => Number(document.documentElement.dataset.drawn ?? 0) > count, before, {
    timeout: 60_000,
  });
}

/** Waits until nothing is being computed and returns the digest of the displayed content. */
export async function digest(page) {
  await page.waitForFunction(() => !document.body.classList.contains("busy"), undefined, { timeout: 60_000 });
  return page.evaluate(() => document.documentElement.dataset.digest);
}
