/**
 * Checks open pages for accessibility by axe-core.
 *
 * @module
 */

import axe from "npm:axe-core@4.14.1";
import type { Page } from "./chromium.ts";

interface Finding {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** What axe-core finds in a page, by all of its rules, best practices included: one text for each element. */
export async function findingsOf(page: Page): Promise<readonly string[]> {
  await page.evaluate(`${axe.source}; undefined`);
  const found = await page.evaluate("axe.run(document, { resultTypes: ['violations'] }).then((one) => one.violations)");
  return (found as readonly Finding[]).flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary = "" }) => `${id}: ${help}: ${html.slice(0, 200)}: ${failureSummary}`)
  );
}

/** Shows a page as a reader with a colour scheme and a width of the screen, in CSS pixels. */
export async function showAs({ call }: Page, scheme: "light" | "dark", width: number): Promise<void> {
  const features = [{ name: "prefers-color-scheme", value: scheme }];
  await call("Emulation.setEmulatedMedia", { features });
  await call("Emulation.setDeviceMetricsOverride", { width, height: 900, deviceScaleFactor: 1, mobile: width < 600 });
}
