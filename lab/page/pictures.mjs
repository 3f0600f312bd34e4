// Pictures of the page for docs and README: docs/figures/lab*.png.

import { fileURLToPath } from "node:url";
import { digest, drawings, drawn, launch, open } from "./browser.mjs";

const folder = fileURLToPath(new URL("../../docs/figures", import.meta.url));
const browser = await launch();

async function shoot(name, options, prepare) {
  const { page, context } = await open(browser, { height: options.height ?? 1000, ...options });
  await digest(page);
  await prepare?.(page);
  await page.waitForTimeout(400);
  await page.screenshot({ path: `${folder}/${name}.png` });
  await context.close();
}

// CoDel; dashed: drop-tail.
await shoot("lab", { settled: true }, async (page) => {
  const count = await drawings(page);
  await page.locator("#control-link-0-queue-discipline").selectOption("codel");
  await drawn(page, count);
  await page.waitForTimeout(5000);
});
await shoot("lab-packets", { height: 560 }, async (page) => {
  await page.locator('[data-lesson="victim"]').click();
  await page.locator("#lesson-choices button").first().click();
  await page.locator("#lesson-next").click();
  await digest(page);
  await page.waitForTimeout(300);
  await page.locator("#packet-play").click();
  await page.waitForFunction(() => Number(document.getElementById("packet-time").value) > 0.1);
  await page.locator("#packet-play").click();
  await page.locator("#packets").scrollIntoViewIfNeeded();
  await page.evaluate(() => document.getElementById("packets").scrollIntoView());
});
await browser.close();
