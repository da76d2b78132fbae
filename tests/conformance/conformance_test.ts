/**
 * The official conformance suite, against the fixture server and against the product.
 */

import assert from "node:assert/strict";
import { startServer } from "../e2e/client.ts";
import { listening } from "../e2e/http_fixture.ts";
import { serveBridge } from "./stdio_bridge.ts";
import { runScenario, runSuite } from "./suite.ts";

const HERE = new URL("./", import.meta.url).pathname;

/** How many scenarios each revision requires. */
const REQUIRED = [["2026-07-28", 37], ["2025-11-25", 30]] as const;

/** Scenarios that need nothing but a server, and tools that ask: the product must pass each of them. */
const FREE: Readonly<Record<string, readonly string[]>> = {
  "2026-07-28": [
    "completion-complete",
    "tools-list",
    "resources-list",
    "prompts-list",
    "caching",
    "sep-2164-resource-not-found",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
    "input-required-result-basic-elicitation",
    "input-required-result-request-state",
    "input-required-result-multi-round",
    "input-required-result-tampered-state",
    "input-required-result-capability-check",
    "input-required-result-unsupported-methods",
    "input-required-result-validate-input",
    "input-required-result-non-tool-request",
  ],
  "2025-11-25": [
    "server-initialize",
    "ping",
    "completion-complete",
    "tools-list",
    "resources-list",
    "prompts-list",
    "dns-rebinding-protection",
    "server-sse-multiple-streams",
    "tools-call-sampling",
    "tools-call-elicitation",
    "elicitation-sep1034-defaults",
    "elicitation-sep1330-enums",
  ],
};

/** Scenarios of the extension of tasks: the product must pass each of them. */
const TASKS: Readonly<Record<string, boolean>> = {
  "tasks-lifecycle": true,
  "tasks-capability-negotiation": true,
  "tasks-wire-fields": true,
  "tasks-request-state-removal": true,
  "tasks-mrtr-input": true,
  "tasks-dispatch-and-envelope": true,
  // The suite skips its checks: it counts as passed with none.
  "tasks-status-notifications": true,
  "tasks-mrtr-composition": true,
  "tasks-request-headers": true,
  // Needs a tool that refuses clients without tasks: each tool of gate has a plain answer.
  "tasks-required-task-error": false,
};

for (const [revision, count] of REQUIRED) {
  Deno.test(`the fixture server passes all ${count} scenarios of ${revision}`, async () => {
    const server = new Deno.Command(Deno.execPath(), {
      args: ["run", "--no-prompt", "--quiet", "-A", `${HERE}fixture_server.ts`, "0"],
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    try {
      const { value } = await server.stdout.getReader().read();
      const url = new TextDecoder().decode(value).trim();
      const { code, summary, scenarios } = await runSuite(url, revision, null);
      assert.equal(code, 0, summary);
      assert.equal(scenarios.size, count, summary);
      assert.deepEqual([...scenarios].filter(([, passed]) => !passed), []);
    } finally {
      server.kill("SIGKILL");
      await server.status;
    }
  });

  Deno.test(`the product passes every scenario of ${revision} that needs no fixture`, async () => {
    const folder = await Deno.makeTempDir();
    try {
      await using server = await listening(
        startServer({ args: ["run", "--no-prompt", "--quiet", "-A", `${HERE}product_server.ts`, folder] }),
      );
      const { code, summary, scenarios } = await runSuite(
        `${server.url}/mcp`,
        revision,
        `${HERE}product_${revision.replaceAll("-", "_")}.yaml`,
      );
      assert.equal(code, 0, summary);
      for (const name of FREE[revision] ?? []) assert.equal(scenarios.get(name), true, `${name}\n${summary}`);
      if (revision !== "2026-07-28") return;
      const tasks = [...scenarios].filter(([name]) => name.startsWith("tasks-"));
      assert.deepEqual(Object.fromEntries(tasks), TASKS, summary);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
}

/** Scenarios of 2025-11-25 in which the server sends requests. */
const CONNECTED = [
  "tools-call-sampling",
  "tools-call-elicitation",
  "elicitation-sep1034-defaults",
  "elicitation-sep1330-enums",
];

Deno.test("the product on stdio asks clients of 2025-11-25 as the scenarios want", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const server = ["run", "--no-prompt", "--quiet", "-A", `${HERE}product_server.ts`, folder, "stdio"];
    await using bridge = serveBridge(Deno.execPath(), server);
    for (const scenario of CONNECTED) {
      const { code, text } = await runScenario(bridge.url, "2025-11-25", scenario);
      assert.equal(code, 0, text);
      assert.match(text, /Passed: ([1-9]\d*)\/\1, 0 failed, 0 warnings/, text);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
