/**
 * A gate with its console, people with credentials, and their browsers.
 *
 * @module
 */

import assert from "node:assert/strict";
import { sha256 } from "@/evidence/host_primitives.ts";
import { startServer } from "../../e2e/client.ts";
import { gate, gateArgs, STORES } from "../../e2e/gate_command.ts";
import { type HttpServer, listening } from "../../e2e/http_fixture.ts";
import { waitingLaw, type WaitingLawOptions } from "../../e2e/people/waiting_law.ts";
import { type Browser, type Page, startChromium } from "./chromium.ts";

/** A law whose first stage some of Alice and Bob have to sign; further stages follow one another. */
export function reviewLaw(minimum: number, options: WaitingLawOptions = {}): string {
  return waitingLaw(minimum, { stage: "review", hasVersion: true, ...options });
}

/** The people, with their roles. */
const PEOPLE = {
  alice: '{ name = "Approver", namespace_id = 2 }, { name = "NamespaceWriter", namespace_id = 2 }',
  bob: '{ name = "Approver", namespace_id = 2 }, { name = "NamespaceWriter", namespace_id = 2 }',
  carol: '{ name = "Approver", namespace_id = 2 }',
} as const;

/** The name of a person. */
export type Person = keyof typeof PEOPLE;

/** Reads files of a folder: a provider whose errors name them. */
const PROVIDER = `
[[providers]]
name = "json"
type = "builtin"
config = { root = "evidence", root_id = "checks" }
`;

/** The token of a person. */
export const tokenOf = (person: Person): string => person.padEnd(32, "0");

/** The world of a test. */
export interface World extends AsyncDisposable {
  readonly folder: string;
  readonly browser: Browser;
  readonly origin: string;
  /** Starts the server, again where it runs: it reads the keys of people at its start. */
  readonly restart: () => Promise<void>;
  /** Opens the console as a person, signed in, in a profile of their own. */
  readonly open: (person: Person, route?: string) => Promise<Page>;
  /** Starts a run of a law file; returns its id. */
  readonly run: (law: string, key: string, version: string) => Promise<string>;
}

async function freePort(): Promise<number> {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  listener.close();
  return await Promise.resolve(port);
}

/** Makes the world; the server runs. */
export async function makeWorld(): Promise<World> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "console-" }));
  const port = await freePort();
  const principals = Object.entries(PEOPLE).map(([person, roles]) => {
    const subject = `token:${sha256(new TextEncoder().encode(tokenOf(person as Person)))}`;
    return `{ subject = "${subject}", roles = [${roles}] }`;
  });
  const tokens = Object.keys(PEOPLE).map((person) => `"${tokenOf(person as Person)}"`);
  const config = `[server]\ntransport = "http"\nbind = "127.0.0.1:${port}"\n[server.auth]\nmode = "bearer_token"\n` +
    `bearer_tokens = [${tokens.join(", ")}]\nprincipals = [${principals.join(", ")}]\n${STORES}${PROVIDER}`;
  await Deno.writeTextFile(`${folder}/http.toml`, config, { mode: 0o600 });
  await Deno.writeTextFile(`${folder}/gate.toml`, `${STORES}${PROVIDER}`);
  await Deno.mkdir(`${folder}/evidence`);
  await Deno.mkdir(`${folder}/evidence-keys`);
  let server: HttpServer | null = null;
  const restart = async (): Promise<void> => {
    server?.process.signal("SIGTERM");
    await server?.process.ended();
    const args = gateArgs("serve", "--config", "http.toml", "--console", "--evidence-keys", "evidence-keys");
    server = await listening(startServer({ args, cwd: folder }));
  };
  const [browser] = await Promise.all([startChromium(), restart()]);
  const origin = `http://127.0.0.1:${port}`;
  return {
    folder,
    browser,
    origin,
    restart,
    open: async (person, route = "#/key") => {
      const page = await browser.visit(`${origin}/console#/key`, await browser.context());
      await signIn(page, person);
      if (route !== "#/key") await go(page, route);
      return page;
    },
    run: async (law, key, version) => {
      const started = await gate(folder, "run", law, "--run-key", key, "--parameter", `version=${version}`, "--json");
      assert.ok(started.code === 4 || started.code === 3, started.stdout + started.stderr);
      return (JSON.parse(started.stdout) as { result: { run_id: string } }).result.run_id;
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await browser[Symbol.asyncDispose]();
      await server?.process[Symbol.asyncDispose]();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

/** Fills in a field as a person does. */
export async function fill(page: Page, selector: string, text: string): Promise<void> {
  await page.until(`document.querySelector(${JSON.stringify(selector)}) !== null`);
  await page.evaluate(
    `{ const field = document.querySelector(${JSON.stringify(selector)}); field.focus(); field.value = ${
      JSON.stringify(text)
    }; field.dispatchEvent(new Event("input", { bubbles: true })); field.dispatchEvent(new Event("change", { bubbles: true })); }`,
  );
}

/** Clicks an element once it is there. */
export async function click(page: Page, selector: string): Promise<void> {
  await page.until(`document.querySelector(${JSON.stringify(selector)}) !== null`);
  await page.evaluate(
    `{ const one = document.querySelector(${JSON.stringify(selector)}); one.focus(); one.click(); }`,
  );
}

/** Goes to a route of the console, and waits until it is drawn. */
export async function go(page: Page, route: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(route)}`);
  await page.until(`document.querySelector("main h1") !== null && document.querySelector("[aria-busy=true]") === null`);
}

/** Gives a token. */
export async function signIn(page: Page, person: Person): Promise<void> {
  await fill(page, "#token", tokenOf(person));
  await click(page, "#token-use");
  await page.until(`document.getElementById("token-result").textContent.startsWith("The server accepts it")`);
}

/** Makes a key in the browser; returns its public half. */
export async function makeKey(page: Page): Promise<string> {
  await click(page, "#key-create");
  await page.until(`document.getElementById("public-key") !== null`);
  return String(await page.evaluate(`document.getElementById("public-key").textContent`));
}

/** Answers the question of a run that is shown: presses the button, writes a comment, signs. */
export async function answer(page: Page, kind: string, comment: string, question = "review-approved"): Promise<void> {
  const before = String(await page.evaluate(`document.querySelector("[data-revision]").dataset.revision`));
  await click(page, `#${kind}-${question}`);
  await page.until(`document.querySelector("dialog[open]") !== null`);
  if (comment !== "") await fill(page, "#answer-comment", comment);
  await click(page, "#answer-sign");
  await page.until(
    `document.querySelector("dialog[open]") === null && document.querySelector("[data-revision]").dataset.revision !== "${before}"`,
  );
}

/** Presses a key. */
async function press(page: Page, key: string, code: number, text = ""): Promise<void> {
  const event = { key, code: key, windowsVirtualKeyCode: code, text };
  await page.call("Input.dispatchKeyEvent", { type: text === "" ? "rawKeyDown" : "keyDown", ...event });
  await page.call("Input.dispatchKeyEvent", { type: "keyUp", ...event, text: "" });
}

/** Goes with the tabulator to the element of a selector; each stop has to show where the focus is. */
export async function tabTo(page: Page, selector: string): Promise<void> {
  const wanted = JSON.stringify(selector);
  await page.until(`document.querySelector(${wanted}) !== null`);
  for (let stops = 0; stops < 200; stops++) {
    const [isThere, outline] = await page.evaluate(`[
      document.activeElement.matches(${wanted}),
      document.activeElement.tabIndex < 0 || !document.activeElement.matches(":focus-visible")
        ? "" : getComputedStyle(document.activeElement).outlineStyle,
    ]`) as [boolean, string];
    assert.notEqual(outline, "none", "the focus is seen");
    if (isThere) return;
    await press(page, "Tab", 9);
  }
  assert.fail(`the tabulator does not reach ${selector}`);
}

/** Presses Enter on the element of a selector, which the tabulator reaches. */
export async function enter(page: Page, selector: string): Promise<void> {
  await tabTo(page, selector);
  await press(page, "Enter", 13, "\r");
}

/** Finds a run among all runs and answers its question, with the keyboard alone. */
export async function answerByKeyboard(page: Page, run: string, kind: string, comment: string): Promise<void> {
  await page.call("Emulation.setFocusEmulationEnabled", { enabled: true });
  await enter(page, `nav a[href="#/runs"]`);
  await enter(page, `main a[href$="${run}"]`);
  await enter(page, `#${kind}-review-approved`);
  await page.until(`document.querySelector("dialog[open]") !== null`);
  await press(page, "Escape", 27);
  await page.until(`document.activeElement.id === "${kind}-review-approved"`);
  await enter(page, `#${kind}-review-approved`);
  await tabTo(page, "#answer-comment");
  await page.call("Input.insertText", { text: comment });
  await enter(page, "#answer-sign");
  await page.until(`document.querySelector("dialog") === null`);
}

/** What the page shows, as text. */
export async function textOf(page: Page): Promise<string> {
  return String(await page.evaluate(`document.querySelector("main").innerText`));
}
