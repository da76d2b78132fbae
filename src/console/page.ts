/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
/**
 * The console's page: shows the view that the fragment of the address names.
 *
 * @module
 */

import { openLink } from "./gate_client.ts";
import { showKey } from "./key_page.ts";
import { showRun } from "./run_page.ts";
import { showRuns } from "./runs_page.ts";
import { failureOf, type ShowPage } from "./shell.ts";
import { showVerify } from "./verify_page.ts";
import { showWaiting } from "./waiting_page.ts";

const PAGES: Readonly<Record<string, { readonly title: string; readonly nav: string; readonly show: ShowPage }>> = {
  runs: { title: "Runs", nav: "runs", show: showRuns },
  run: { title: "Run", nav: "runs", show: showRun },
  waiting: { title: "Waiting for me", nav: "waiting", show: showWaiting },
  verify: { title: "Verify a runpack", nav: "verify", show: showVerify },
  key: { title: "Key and credential", nav: "key", show: showKey },
};

/** Before the secret of a link. */
const OPEN = "#/open/";

let work = new AbortController();

/** The parts of the fragment; an invalid escape stays as it is. */
function routeOf(): readonly string[] {
  return location.hash.replace(/^#\/?/, "").split("/").map((part) => {
    try {
      return decodeURIComponent(part);
    } catch {
      return part;
    }
  });
}

/**
 * Opens the link of `gate console`, whose secret stays in no address: neither in that of the page, nor in the history
 * of the tab.
 */
async function openAddress(isFirst: boolean): Promise<void> {
  const secret = location.hash.slice(OPEN.length);
  history.replaceState(null, "", "#/runs");
  // Where the server refuses it, the page that follows says so.
  await openLink(secret).catch(() => {});
  navigate(isFirst);
}

function navigate(isFirst: boolean): void {
  if (location.hash.startsWith(OPEN)) return void openAddress(isFirst);
  // A link within a page, such as the one that skips the navigation.
  if (location.hash !== "" && !location.hash.startsWith("#/")) return;
  const [name = "", ...route] = routeOf();
  const page = (Object.hasOwn(PAGES, name) ? PAGES[name] : undefined) ?? PAGES["runs"];
  const main = document.getElementById("content");
  if (page === undefined || main === null) return;
  work.abort();
  work = new AbortController();
  document.title = `${page.title}: gate console`;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.id === `go-${page.nav}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  const shown = Promise.resolve(page.show(main, route, work.signal));
  if (!isFirst) main.querySelector("h1")?.focus();
  shown.catch((error) => main.append(failureOf(error)));
}

addEventListener("hashchange", () => navigate(false));
navigate(true);
