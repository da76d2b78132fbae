/// <reference lib="dom" />
/**
 * What every page of the console uses: announcements, errors, tables, and links within the console.
 *
 * @module
 */

import type { Identity } from "../canonical/identity.ts";
import type { RunStatus } from "../run/types.ts";
import { instantText } from "../canonical/instant_text.ts";
import { CallError } from "./gate_client.ts";
import { type Content, make } from "./nodes.ts";
import { ArchivedRun, type RunName } from "./run_reading.ts";

/** Digits of a shortened identity. */
const SHORT = 12;

/** Shows one page; its work ends when the signal is aborted. */
export type ShowPage = (main: HTMLElement, route: readonly string[], signal: AbortSignal) => Promise<void> | void;

/** Says something to screen readers. */
export function announce(text: string): void {
  const announcer = document.getElementById("announcer");
  if (announcer !== null) announcer.textContent = text;
}

/** Text from outside: its direction does not change that of the text beside it. */
export function shownText(text: string): HTMLElement {
  return make("bdi", {}, text);
}

/** An identity, shortened; the whole is its title. */
export function shortIdentity(identity: Identity): HTMLElement {
  return make("code", { title: identity }, identity.length > SHORT ? `${identity.slice(0, SHORT)}…` : identity);
}

/** The status of a run. */
export function statusBadge(status: RunStatus): HTMLElement {
  return make("span", { class: `badge ${status === "complete" ? "good" : "active"}` }, status);
}

/** A time. */
export function timeOf(millis: number): HTMLElement {
  return make("time", {}, instantText(millis));
}

/** The address of a run within the console. */
export function runAddress({ namespace_id, scenario_id, run_id }: RunName): string {
  return `#/run/${namespace_id}/${encodeURIComponent(scenario_id)}/${run_id}`;
}

/** A row of a table with these headings. */
export function rowOf(headings: readonly string[], cells: readonly Content[]): HTMLElement {
  return make("tr", {}, cells.map((cell, index) => make("td", { "data-name": headings[index] ?? "" }, cell)));
}

/** A table whose rows become blocks on a narrow screen. */
export function tableOf(
  caption: string,
  headings: readonly string[],
  rows: readonly (readonly Content[])[],
): HTMLElement {
  return make(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
    make(
      "table",
      { class: "stack" },
      make("caption", { class: "unseen" }, caption),
      make("thead", {}, make("tr", {}, headings.map((heading) => make("th", { scope: "col" }, heading)))),
      make("tbody", {}, rows.map((cells) => rowOf(headings, cells))),
    ),
  );
}

/** The reason of a failure in words. */
export function reasonOf(error: unknown): string {
  if (error instanceof ArchivedRun) {
    return `This run is archived: its records are in runpack ${error.message}, which "Verify a runpack" shows`;
  }
  return error instanceof Error ? error.message : String(error);
}

/** A failure as a banner, with the way to a credential where one is missing. */
export function failureOf(error: unknown): HTMLElement {
  const needsCredential = error instanceof CallError && error.code === "unauthenticated";
  return make(
    "p",
    { class: "banner bad", role: "alert" },
    reasonOf(error),
    needsCredential ? [". ", make("a", { href: "#/key" }, "Give a credential")] : null,
  );
}

/** The heading of a page, which gets the focus. */
export function headingOf(...content: readonly Content[]): HTMLElement {
  return make("h1", { tabindex: -1 }, ...content);
}

/** Regions that scroll can be reached with the keyboard. */
export function focusable(element: Element, name: string): void {
  element.setAttribute("tabindex", "0");
  element.setAttribute("role", "region");
  element.setAttribute("aria-label", name);
}
