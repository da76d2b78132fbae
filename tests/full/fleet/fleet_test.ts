/** Two servers on one database are one gate: whatever one of them accepted, the other one knows at the next call. */

import assert from "node:assert/strict";
import type { JsonObject } from "@/canonical/json.ts";
import { evidence, id, schemaRecord, spec } from "@/tools/tests/tools_fixture.ts";
import { serveBuilds } from "../../../docs/examples/typed_service/services.ts";
import type { Wire } from "../../e2e/client.ts";
import { ClientOne, HttpOne } from "../../e2e/protocol/first_sdk.ts";
import { callText, send } from "../../e2e/http_fixture.ts";
import { runLifecycle } from "../../e2e/serve/presets_lifecycle.ts";
import { openStreamAt } from "./stream.ts";
import { type Fleet, type Member, withFleet } from "./servers.ts";
import { type PostgresServer, startPostgres } from "../postgres/server.ts";

const postgres = await startPostgres();

function pair({ members }: Fleet): readonly [Member, Member] {
  const [a, b] = members;
  if (a === undefined || b === undefined) throw new Error("The fleet has fewer than two servers");
  return [a, b];
}

/** Starts a run at a server, and returns the names for further calls and its head. */
async function startRun(
  { call }: Member,
  scenario_id: string,
): Promise<{ readonly run: Wire; readonly head: unknown }> {
  const { scenario_law_identity } = await call("scenario_define", { spec: spec({ scenario_id }) });
  const { outcome } = await call("scenario_start", {
    namespace_id: 2,
    scenario_id,
    scenario_law_identity,
    creation_request_id: id(1),
    correlation: { kind: "unset" },
    genesis: { kind: "empty" },
  });
  const { result } = outcome as { readonly result: { readonly run_key: Wire; readonly head: unknown } };
  return { run: { namespace_id: 2, scenario_id, run_id: result.run_key["run_id"] }, head: result.head };
}

function outcomeOf(answer: Wire): string {
  return String((answer["outcome"] as Wire)["outcome"]);
}

Deno.test("a run is driven by turns, exported at one server and verified at the other", () =>
  withFleet(postgres, { sharesRunpacks: true }, async (fleet) => {
    const members = pair(fleet);
    let turn = 0;
    await runLifecycle((tool, input) => members[turn++ % 2 as 0 | 1].ask(tool, input));
    assert.ok(turn > 8, `${turn} calls`);
  }));

Deno.test("one head has one winner, and the other server shows it at once", () =>
  withFleet(postgres, {}, async (fleet) => {
    const [a, b] = pair(fleet);
    const { run, head } = await startRun(a, "raced");
    // Both servers have folded the run up to this head.
    for (const { call } of [a, b]) assert.equal((await call("scenario_status", run))["status"], "active");
    const open = (member: Member, operation: number): Promise<Wire> =>
      member.call("scenario_open_stage", {
        ...run,
        expected_head: head,
        operation_id: id(operation),
        stage_id: "build",
      });
    const answers = await Promise.all([open(a, 1), open(b, 2)]);
    assert.deepEqual(answers.map(outcomeOf).toSorted(), ["accepted", "stale"]);
    const winner = answers.map(outcomeOf).indexOf("accepted");
    const [first, second] = winner === 0 ? [a, b] : [b, a];
    // The same operation gives its first answer anywhere.
    assert.deepEqual(await open(second, winner + 1), answers[winner]);
    const accepted = (answers[winner]?.["outcome"] as Wire)["result"] as Wire;
    const evaluate = { ...run, expected_head: accepted["accepted_head"], operation_id: id(3), stage_id: "build" };
    const attempt = await second.call("scenario_evaluate_stage", {
      ...evaluate,
      caller_evidence: [evidence("built", true)],
    });
    assert.equal(outcomeOf(attempt), "accepted");
    const [here, there] = await Promise.all([first, second].map(({ call }) => call("scenario_status", run)));
    assert.deepEqual(here, there);
    const histories = await Promise.all([first, second].map(({ call }) => call("scenario_history", run)));
    assert.deepEqual(histories[0], histories[1]);
  }));

Deno.test("a schema registered at one server is read and listed at the other, and exists there", () =>
  withFleet(postgres, {}, async (fleet) => {
    const [a, b] = pair(fleet);
    const key = { namespace_id: 2, schema_id: "report", version: "1" };
    const absent = (await b.ask("schemas_get", key))["result"] as Wire;
    assert.equal(absent["isError"], true);
    await a.call("schemas_register", { record: schemaRecord() });
    assert.deepEqual(await b.call("schemas_get", key), await a.call("schemas_get", key));
    assert.match(JSON.stringify(await b.call("schemas_list", { namespace_id: 2 })), /"schema_id":"report"/);
    assert.match(JSON.stringify(await b.ask("schemas_register", { record: schemaRecord() })), /schema_exists/);
  }));

/** Continues a list of three laws by turns, with the cursors of the other server. */
function listByTurns(options: { readonly server?: string }): Promise<void> {
  return withFleet(postgres, options, async (fleet) => {
    const [a, b] = pair(fleet);
    for (const name of ["one", "three", "two"]) await a.call("scenario_define", { spec: spec({ scenario_id: name }) });
    const found: unknown[] = [];
    let cursor: unknown = null;
    for (const { call } of [a, b, a]) {
      const input: JsonObject = { namespace_id: 2, limit: 1, ...cursor === null ? {} : { cursor: String(cursor) } };
      const page = await call("scenarios_list", input);
      found.push(...(page["items"] as Wire[]).map((item) => item["scenario_id"]));
      cursor = page["next_token"];
    }
    assert.deepEqual([found, cursor], [["one", "three", "two"], null]);
    const { next_token } = await a.call("scenarios_list", { namespace_id: 2, limit: 1 });
    const changed = `${String(next_token).slice(0, -1)}!`;
    assert.match(JSON.stringify(await b.ask("scenarios_list", { namespace_id: 2, cursor: changed })), /invalid_cursor/);
  });
}

Deno.test("a cursor of one server continues the list at the other", () => listByTurns({}));

Deno.test("a cursor that one server signed continues the list at the other", async () => {
  const folder = await Deno.makeTempDir({ prefix: "gate-keys-" });
  await Deno.writeFile(`${folder}/state.key`, crypto.getRandomValues(new Uint8Array(32)), { mode: 0o600 });
  await listByTurns({ server: `state_keys = ["${folder}/state.key"]` });
  await Deno.remove(folder, { recursive: true });
});

const TOKEN = "token-of-the-builds";
const BUILDS = { namespace_id: 2, provider_id: "builds", version: "1" };
const DOCUMENT = new URL("../../../docs/examples/typed_service/builds.openapi.json", import.meta.url);
const QUERY = {
  query: { provider_id: "builds", check_id: "getBuild", params: { id: "17" } },
  context: { namespace_id: 2, trigger_time: { kind: "unix_millis", value: 1 } },
};

Deno.test("a typed provider registered at one server answers at the other, until the other retires it", async () => {
  const keys = await Deno.makeTempDir({ prefix: "gate-keys-" });
  await Deno.writeTextFile(`${keys}/builds-token`, TOKEN, { mode: 0o600 });
  const builds = serveBuilds(TOKEN);
  const host = `127.0.0.1:${builds.port}`;
  const flags = ["--typed-host", `${host}=file://builds-token`, "--typed-private", "--credentials-dir", keys];
  try {
    await withFleet(postgres, { flags }, async (fleet) => {
      const [a, b] = pair(fleet);
      const unknown = JSON.stringify(await b.ask("evidence_query", QUERY));
      assert.match(unknown, /provider_unknown|provider_not_found|typed_provider/, unknown);
      const source = { kind: "openapi", document: JSON.parse(await Deno.readTextFile(DOCUMENT)) };
      const server_url = `http://${host}/api`;
      const { contract, profile } = await a.call("typed_providers_import", { ...BUILDS, source, server_url });
      const credentials = [{ kind: "bearer", locator: "file://builds-token" }];
      const given = { ...profile as Wire, credentials };
      await a.call("typed_providers_register", { ...BUILDS, contract, profile: given });
      await a.call("typed_providers_activate", { ...BUILDS, expected_active: null });
      for (const { ask } of [b, a]) assert.match(JSON.stringify(await ask("evidence_query", QUERY)), /"error":null/);
      await b.call("typed_providers_deprecate", { ...BUILDS, expected_state: "active" });
      for (const { ask } of [a, b]) {
        assert.match(JSON.stringify(await ask("evidence_query", QUERY)), /typed_provider_inactive/);
      }
    });
  } finally {
    await builds.close();
    await Deno.remove(keys, { recursive: true });
  }
});

Deno.test("a client of 2025 has no session over HTTP: its next call may go to another server", () =>
  withFleet(postgres, {}, async (fleet) => {
    const [a, b] = pair(fleet);
    const transport = new HttpOne(new URL(`${a.server.url}/mcp`), {
      // What a load balancer does with every call after the first one.
      fetch: (url: string | URL, init?: RequestInit) => fetch(String(url).replace(a.server.url, b.server.url), init),
    });
    const client = new ClientOne({ name: "older", version: "1" });
    // deno-lint-ignore no-explicit-any
    await client.connect(transport as any);
    const { structuredContent } = await client.callTool({ name: "scenarios_list", arguments: { namespace_id: 2 } });
    assert.deepEqual(structuredContent, { items: [], next_token: null });
    await client.close();
  }));

Deno.test("a session of HTTP+SSE belongs to the server that began it; another one refuses its messages", () =>
  withFleet(postgres, { transport: "sse" }, async (fleet) => {
    const [a, b] = pair(fleet);
    const stream = await openStreamAt(a.server.url);
    const text = callText(1, "scenarios_list", { namespace_id: 2 });
    const refused = await send(b.server.url, text, { path: stream.path });
    assert.equal(refused.status, 404);
    assert.match(refused.text, /Cannot find the session: it has ended, or another server has it; open \/sse again/);
    assert.equal((await send(a.server.url, text, { path: stream.path })).status, 202);
    assert.match(await stream.next(), /"id":1/);
    stream.close();
  }));

const ONE_REQUEST = "limits = { rate_limit = { max_requests = 1, window_ms = 60000, max_entries = 16 } }";

Deno.test("each server counts the rate of its callers alone", () =>
  withFleet(postgres, { server: ONE_REQUEST }, async (fleet) => {
    const [a, b] = pair(fleet);
    const statuses: number[] = [];
    for (const { server } of [a, a, b, b]) {
      statuses.push((await send(server.url, callText(1, "scenarios_list", { namespace_id: 2 }))).status);
    }
    assert.deepEqual(statuses, [200, 429, 200, 429]);
  }));

/** Waits until readiness has a status. */
async function untilReadiness({ server }: Member, status: number): Promise<string> {
  for (let tries = 0;; tries++) {
    const ready = await send(server.url, null, { path: "/readyz" });
    if (ready.status === status) return ready.text;
    assert.ok(tries < 600, `readiness is ${ready.status}: ${ready.text}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

Deno.test("servers without their database are not ready, refuse retryably, and come back by themselves", async () => {
  await using own: PostgresServer = await startPostgres();
  await withFleet(own, {}, async (fleet) => {
    const [a, b] = pair(fleet);
    const { run, head } = await startRun(a, "lost");
    const open = { ...run, expected_head: head, operation_id: id(1), stage_id: "build" };
    await own.kill();
    for (const member of [a, b]) {
      assert.match(await untilReadiness(member, 503), /run_state_store.*schema_registry/);
      for (const [tool, input] of [["scenario_open_stage", open], ["scenario_status", run]] as const) {
        const { result } = await member.ask(tool, input) as { result: { isError: boolean; structuredContent: Wire } };
        const error = result.structuredContent["error"] as Wire;
        assert.deepEqual([result.isError, error["code"], error["retryable"]], [true, "store_unavailable", true], tool);
      }
    }
    await own.start();
    for (const member of [a, b]) await untilReadiness(member, 200);
    assert.equal(outcomeOf(await b.call("scenario_open_stage", open)), "accepted");
    assert.equal(outcomeOf(await a.call("scenario_open_stage", open)), "accepted", "the first answer again");
  });
});

Deno.test.afterAll(() => postgres[Symbol.asyncDispose]());
