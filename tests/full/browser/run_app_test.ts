/** The run view `ui://gate/run` in a sandboxed frame of the official host package, over a real server. */

import assert from "node:assert/strict";
import axe from "npm:axe-core@4.14.1";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { processOf } from "../../e2e/gate_command.ts";
import { askingServer, idOf, type WaitingWorld, withWaitingRun } from "../../e2e/people/waiting_world.ts";
import { evaluateInFrame, type Page, PICTURES, screenshot, startChromium } from "./chromium.ts";

const APP = "ui://gate/run";
const APPS = { extensions: { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } } };

/** The notification with the result of a tool. */
const RESULT = "ui/notifications/tool-result";

/** The tools that the view calls for a run. */
const READ = ["scenario_history", "scenario_status", "scenarios_get"];

/** A client of the server that says that it shows apps. */
async function connect({ folder }: WaitingWorld): Promise<Client> {
  const { command, args } = processOf(askingServer());
  const client = new Client({ name: "host", version: "1" }, {
    versionNegotiation: { mode: "auto" },
    capabilities: APPS as never,
  });
  await client.connect(new StdioClientTransport({ command, args: [...args], cwd: folder, stderr: "ignore" }));
  return client;
}

/** The page of the host, from disk. */
async function hostPage(folder: string): Promise<string> {
  const entry = new URL("./run_app_host.ts", import.meta.url).pathname;
  const args = ["bundle", "--quiet", "--no-lock", "--platform=browser", "--format=iife", "--minify", entry];
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), { args, stdin: "null" }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
  await Deno.writeFile(`${folder}/host.js`, stdout);
  const path = `${folder}/host.html`;
  await Deno.writeTextFile(path, `<!doctype html><meta charset="utf-8"><body><script src="host.js"></script></body>`);
  return path;
}

interface Listed {
  readonly name: string;
  readonly _meta?: { readonly ui?: { readonly resourceUri?: string } };
}

async function appOf(client: Client): Promise<string> {
  const { tools } = await client.listTools() as { tools: readonly Listed[] };
  const shown = tools.filter(({ _meta }) => _meta?.ui?.resourceUri === APP).map(({ name }) => name);
  assert.deepEqual(shown, ["runs_list", "scenario_status", "scenario_next"]);
  const { contents: [content] } = await client.readResource({ uri: APP }) as {
    contents: readonly { readonly mimeType: string; readonly text: string }[];
  };
  assert.equal(content?.mimeType, "text/html;profile=mcp-app");
  return content.text;
}

/** Changes the text of an answer of a tool. */
type Change = (tool: string, answer: string) => string;

/** Themes of a host, and widths of its frame in CSS pixels. */
const VIEWS = [["light", 800], ["dark", 360]] as const;

/** The findings of axe in the frame, in every view. */
async function examine(page: Page, name: string): Promise<void> {
  for (const [theme, width] of VIEWS) {
    await page.evaluate(`document.querySelector("iframe").style.width = "${width}px"`);
    await evaluateInFrame(
      page,
      // Each expression has a world of its own, which knows axe only where it brings it.
      `${axe.source};
      document.documentElement.dataset.theme = "${theme}"; document.documentElement.style.colorScheme = "${theme}";
      document.body.dataset.findings = "";
      axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => document.body.dataset.findings =
        JSON.stringify(violations.map((one) => one.id + ": " + one.nodes.map(({ html }) => html.slice(0, 120)).join())));`,
    );
    let findings: unknown = "";
    for (let tries = 0; findings === "" && tries < 600; tries++) {
      await new Promise((resolve) => setTimeout(resolve, 25));
      findings = await evaluateInFrame(page, "document.body.dataset.findings");
    }
    assert.equal(findings, "[]", `${name}, ${theme}`);
    const wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
    assert.equal(await evaluateInFrame(page, wide), 0, `${name}, ${width}: the view scrolls sideways`);
    if (PICTURES !== undefined) await screenshot(page, `${PICTURES}/app_${name}_${theme}.png`);
  }
}

/** Answers the calls of the app with the tools of the server until its frame shows a text. */
async function serveUntil(
  page: Page,
  client: Client,
  text: string,
  change: Change = (_, answer) => answer,
): Promise<readonly string[]> {
  const called: string[] = [];
  for (let tries = 0; tries < 600; tries++) {
    if (await evaluateInFrame(page, `document.body.innerText.includes(${JSON.stringify(text)})`) === true) {
      return called;
    }
    const params = await page.evaluate("shell.take()") as { name: string; arguments: Record<string, unknown> } | null;
    if (params === null) await new Promise((resolve) => setTimeout(resolve, 25));
    else {
      called.push(params.name);
      const answer = JSON.stringify(await client.callTool(params));
      await page.evaluate(`shell.answer(${change(params.name, answer)})`);
    }
  }
  const shown = await evaluateInFrame(page, "document.body.innerText");
  throw new Error(`The app does not show "${text}": ${String(shown)}`);
}

async function tell(page: Page, client: Client, name: string, input: Record<string, unknown>): Promise<void> {
  const result = await client.callTool({ name, arguments: input });
  await page.evaluate(`shell.tell(${JSON.stringify(input)}, ${JSON.stringify(result)})`);
}

/** Answers that are not those of the run: the tool, what is changed in its answer, and what the view shows in place of the run. */
const CHANGED = [
  ["other_law", "scenarios_get", '"minimum":1', '"minimum":2', "The server shows another law than"],
  ["other_history", "scenario_history", '"principal":"stdio"', '"principal":"other"', "Cannot fold record"],
] as const;

Deno.test("the official host shows a run, its graph, its conditions and what is missing, in a frame without an origin", () =>
  withWaitingRun(async (world) => {
    const client = await connect(world);
    await using browser = await startChromium(["--disable-features=IsolateSandboxedIframes"]);
    try {
      const page = await browser.open(await hostPage(world.folder));
      const html = await appOf(client);
      assert.ok(html.length <= 150_000, `${html.length} characters`);
      await page.evaluate(`shell.show(${JSON.stringify(html)}, true)`);
      await page.until("shell.state().initialized && shell.state().sizes > 0");
      await examine(page, "empty");
      await tell(page, client, "scenario_status", world.run);
      const called = await serveUntil(page, client, "gate approve");
      assert.deepEqual([...new Set(called)].sort(), READ, "the view reads, and signs or steps nothing");
      const text = String(await evaluateInFrame(page, "document.body.innerText"));
      for (const part of ["Run of", "release", world.run.run_id, "approved", "Missing", "Timeline"]) {
        assert.ok(text.includes(part), `${part} in ${text}`);
      }
      const titles = "[...document.querySelectorAll('svg.gate-graph > title')].map((one) => one.textContent).join()";
      assert.match(String(await evaluateInFrame(page, titles)), /Stages of release/);
      assert.equal(await evaluateInFrame(page, "document.documentElement.dataset.theme"), "dark");
      assert.equal(await evaluateInFrame(page, "origin"), "null");
      if (PICTURES !== undefined) await screenshot(page, `${PICTURES}/run_app.png`);
      await examine(page, "waiting");
      assert.equal((await world.approve("alice")).code, 0);
      await evaluateInFrame(page, "document.querySelector('button').click()");
      await serveUntil(page, client, "complete");
      await examine(page, "complete");
      await tell(page, client, "runs_list", { namespace_id: 2 });
      await serveUntil(page, client, "Scenario");
      await examine(page, "runs");
      await evaluateInFrame(page, "document.querySelector('button').click()");
      await serveUntil(page, client, "Run of");
      for (const [name, tool, from, to, shown] of CHANGED) {
        await tell(page, client, "scenario_status", world.run);
        await serveUntil(
          page,
          client,
          shown,
          (called, answer) => called === tool ? answer.replaceAll(from, to) : answer,
        );
        await examine(page, name);
      }
      await page.evaluate("shell.teardown()");
      await page.until("shell.state().torn");
      assert.deepEqual(page.requests.filter((url) => !url.endsWith("/host.js") && !url.startsWith("about:")), []);
      assert.deepEqual(page.complaints, []);
    } finally {
      await client.close();
    }
  }));

Deno.test("the view says so where its host calls no tools, and shows text from outside as text", () =>
  withWaitingRun(async (world) => {
    const client = await connect(world);
    await using browser = await startChromium(["--disable-features=IsolateSandboxedIframes"]);
    try {
      const page = await browser.open(await hostPage(world.folder));
      await page.evaluate(`shell.show(${JSON.stringify(await appOf(client))}, false)`);
      await page.until("shell.state().initialized");
      await tell(page, client, "scenario_status", world.run);
      await serveUntil(page, client, "lets its views call no tools");
      const scenario_id = "<img src=x onerror=parent.shell=null>";
      const item = { run_key: { namespace_id: 2, run_id: idOf(1) }, scenario_id, status: "<script>alert(1)</script>" };
      await page.evaluate(`shell.tell({}, ${JSON.stringify({ content: [], structuredContent: { items: [item] } })})`);
      await serveUntil(page, client, scenario_id);
      assert.equal(await evaluateInFrame(page, "document.querySelectorAll('img, main script').length"), 0);
      // A message of another window than the host's: the listener here runs after the one of the view.
      await evaluateInFrame(page, `addEventListener("message", () => document.body.dataset.heard = "yes")`);
      const foreign = {
        jsonrpc: "2.0",
        method: RESULT,
        params: { structuredContent: { items: [{ ...item, status: "foreign" }] } },
      };
      await evaluateInFrame(page, `postMessage(${JSON.stringify(foreign)}, "*")`);
      for (let tries = 0; await evaluateInFrame(page, "document.body.dataset.heard") !== "yes"; tries++) {
        assert.ok(tries < 600, "the frame hears its own message");
      }
      assert.doesNotMatch(String(await evaluateInFrame(page, "document.body.innerText")), /foreign/);
      // Items of other shapes, and more than the view shows.
      const items = [1, null, [], {}, { run_key: 1 }, { ...item, run_key: { run_id: {} } }, ...Array(100).fill(item)];
      const many = { content: [], structuredContent: { items: [...items, { ...item, status: "the last" }] } };
      await page.evaluate(`shell.tell({}, ${JSON.stringify(many)})`);
      await serveUntil(page, client, "undefined");
      assert.equal(await evaluateInFrame(page, "document.querySelectorAll('tbody tr').length"), 50);
      assert.deepEqual(page.complaints, []);
    } finally {
      await client.close();
    }
  }));
