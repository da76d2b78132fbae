/**
 * A server under exactly the permissions that `gate permissions` prints for it: the release gate and two typed providers, on SQLite
 * over stdio, and on PostgreSQL over TLS. Nothing is tried outside of the grants, and each grant that is missing is named.
 */

import assert from "node:assert/strict";
import { join } from "node:path";
import { ENDPOINT } from "../../docs/examples/release_gate/checks.ts";
import { serveApprovals, serveBuilds } from "../../docs/examples/typed_service/services.ts";
import { initializeParams, startServer } from "../e2e/client.ts";
import { gateArgs, inFolder } from "../e2e/gate_command.ts";
import { callText, listening, send } from "../e2e/http_fixture.ts";
import { serverCertificate } from "../e2e/serve/presets_certificates.ts";
import { createMigrated, runSql, startPostgres } from "./postgres/server.ts";

// deno-lint-ignore no-explicit-any
type Json = Record<string, any>;
type Call = (tool: string, input: Json) => Promise<Json>;

const EXAMPLES = new URL("../../docs/examples/", import.meta.url).pathname;
const CHECKOUT = new URL("../../", import.meta.url).pathname;
const COMMIT = "a".repeat(40);
const SCENARIO = { namespace_id: 2 };

/** The providers of the release gate, an audit log, and schemas open to local callers. */
const PROVIDERS = `
[schema_registry.acl]
allow_local_only = true
[server.audit]
path = "log/audit.jsonl"
[[providers]]
name = "json"
type = "builtin"
config = { root = "evidence", root_id = "checks" }
[[providers]]
name = "env"
type = "builtin"
config = { allowlist = ["RELEASE_BRANCH"] }
[[providers]]
name = "http"
type = "builtin"
config = { allow_http = true, allow_private_networks = true, allowed_hosts = ["127.0.0.1"] }
[[providers]]
name = "rest"
type = "builtin"
config = { allow_http = true, allow_private_networks = true, allowed_hosts = ["127.0.0.1"] }
[[providers]]
name = "time"
type = "builtin"
`;

const stores = (settings: string): string =>
  ["run_state_store", "schema_registry"].map((name) => `[${name}]\n${settings}\n`).join("");

const SQLITE = stores('type = "sqlite"\npath = "lib/gate.db"');
const POSTGRES = stores('type = "postgres"\nurl = "env:GATE_DATABASE"');
const TLS = `
[server]
transport = "http"
bind = "127.0.0.1:0"
tls = { cert_path = "etc/tls/server.pem", key_path = "etc/tls/server.key" }
`;

const identity = (): string => crypto.randomUUID().replaceAll("-", "");
const readExample = (name: string): Promise<string> => Deno.readTextFile(`${EXAMPLES}${name}`);

/** Starts a run of a law, lets gate take every step that it can, and expects the end. */
async function complete(call: Call, law_text: string, scenario_id: string, genesis: Json): Promise<void> {
  const { scenario_law_identity } = await call("scenario_define", { law_text });
  const { outcome: { result } } = await call("scenario_start", {
    ...SCENARIO,
    scenario_id,
    scenario_law_identity,
    creation_request_id: identity(),
    correlation: { kind: "unset" },
    genesis,
  });
  const { run_id } = result["run_key"];
  const run = { ...SCENARIO, scenario_id, run_id };
  for (let step = 0; step < 6; step++) {
    const { status, accepted_head: expected_head } = await call("scenario_status", run);
    if (status === "complete") break;
    const { outcome } = await call("scenario_next", { ...run, expected_head, request_id: identity() });
    assert.equal(outcome.result?.failures?.length ?? 0, 0, JSON.stringify(outcome));
  }
  assert.equal((await call("scenario_status", run))["status"], "complete", scenario_id);
  const { publication: { runpack_identity } } = await call("runpack_export", { ...SCENARIO, run_id });
  const { report } = await call("runpack_verify", { runpack_identity, profile: "full_replay_v1" });
  assert.deepEqual(report.claims.filter(({ status }: Json) => status.status === "violated"), []);
}

/** Imports the descriptions of both services, and makes them the active versions. */
async function addProviders(call: Call, builds: number, approvals: number): Promise<void> {
  const openapi = { kind: "openapi", document: JSON.parse(await readExample("typed_service/builds.openapi.json")) };
  const proto = { path: "approvals.proto", text: await readExample("typed_service/approvals.proto") };
  const rows = [
    ["builds", openapi, "getBuild", "failed_tests", "/tests/failed", `${builds}/api`],
    [
      "approvals",
      { kind: "grpc", proto: [proto] },
      "approvals.v1.Approvals/Count",
      "approvals",
      "/approvals",
      approvals,
    ],
  ] as const;
  for (const [provider_id, source, operation, check_id, result_pointer, address] of rows) {
    const key = { ...SCENARIO, provider_id, version: "1" };
    const selection = [{ operation, check_id, result_pointer }];
    const { contract, profile } = await call("typed_providers_import", {
      ...{ ...key, source, selection },
      server_url: `http://127.0.0.1:${address}`,
    });
    const credentials = [{ kind: "bearer", locator: `file://${provider_id}-token` }];
    await call("typed_providers_register", { ...key, contract, profile: { ...profile, credentials } });
    await call("typed_providers_activate", { ...key, expected_active: null });
  }
}

/** A server to start. */
interface World {
  readonly folder: string;
  /** Arguments of the runtime, as `gate permissions` prints them. */
  readonly run: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Takes runs of both laws to their ends. */
  readonly drive: (call: Call) => Promise<void>;
}

/** Runs the runtime with some arguments and no input, to its end. */
async function runGate(
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<{ readonly code: number; readonly out: string; readonly said: string }> {
  // A server that starts although it should not ends with an error, and in time.
  const options = {
    args: [...args],
    cwd,
    env: { NO_COLOR: "1", GATE_CONFIG: "", ...env },
    signal: AbortSignal.timeout(60_000),
  };
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), { ...options, stdin: "null" }).output();
  const [out = "", errors = ""] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  return { code, out, said: errors };
}

/** A configuration with what it names, and services that its providers ask. */
async function withWorld(
  config: string,
  env: Record<string, string>,
  test: (world: World) => Promise<void>,
): Promise<void> {
  await inFolder(async (folder) => {
    for (const name of ["evidence", "lib", "log", "etc", "work", "credentials"]) {
      await Deno.mkdir(join(folder, name), { mode: 0o700 });
    }
    const passed = { exit_code: 0 };
    const results = { commit: COMMIT, format: passed, lint: passed, types: passed, tests: { passed: 9, failed: 0 } };
    await Deno.writeTextFile(join(folder, "evidence/results.json"), JSON.stringify(results));
    for (const name of ["builds", "approvals"]) {
      await Deno.writeTextFile(join(folder, `credentials/${name}-token`), "secret", { mode: 0o600 });
    }
    await Deno.writeTextFile(join(folder, "gate.toml"), config + PROVIDERS);
    const builds = serveBuilds("secret");
    const approvals = await serveApprovals("secret");
    const released = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen: () => {} },
      ({ url }) => Response.json({ version: new URL(url).pathname.split("/").at(-1) }),
    );
    try {
      const hosts = [["builds", builds], ["approvals", approvals]] as const;
      const flags = hosts.flatMap(([name, { port }]) => ["--typed-host", `127.0.0.1:${port}=file://${name}-token`]);
      const words = ["--data-dir", "lib", "--credentials-dir", "credentials", "--typed-private", ...flags];
      const args = ["permissions", "--config", "gate.toml", ...words, "--json"];
      const { code, out, said } = await runGate(gateArgs(...args), folder, env);
      assert.equal(code, 0, said);
      const law = (await readExample("release_gate/scenario.yaml"))
        .replaceAll(ENDPOINT, `http://127.0.0.1:${released.addr.port}/releases/`);
      const text = (parameter_id: string, value: string): Json => ({
        parameter_id,
        value: { value, value_type: "String" },
      });
      const parameters = [text("version", "1.0.0"), text("commit", COMMIT)];
      await test({
        run: JSON.parse(out).result.run.slice(1),
        folder,
        env: { RELEASE_BRANCH: "main", NO_COLOR: "1", ...env },
        drive: async (call) => {
          await complete(call, law, "release-gate", { kind: "parameters", parameters });
          await addProviders(call, builds.port, approvals.port);
          await complete(call, await readExample("typed_service/scenario.yaml"), "merge-change", { kind: "empty" });
        },
      });
    } finally {
      for (const service of [builds, approvals]) await service.close();
      await released.shutdown();
    }
  });
}

/** The grants among arguments: `--allow-CLASS=ITEM`, one for each item. */
function grantsIn(run: readonly string[]): readonly string[] {
  return run.filter((word) => word.startsWith("--allow-")).flatMap((word) => {
    const [flag = "", items = ""] = word.split("=");
    return items.split(",").map((item) => `${flag}=${item}`);
  });
}

/** The arguments without one item of a grant. */
function without(run: readonly string[], grant: string): readonly string[] {
  const [flag = "", item = ""] = grant.split("=");
  return run.flatMap((word) => {
    if (!word.startsWith(`${flag}=`)) return [word];
    const rest = word.slice(flag.length + 1).split(",").filter((one) => one !== item);
    return rest.length === 0 ? [] : [`${flag}=${rest.join(",")}`];
  });
}

/** The attempts that no grant covers, as the runtime listed them. Modules of the program need no grant. */
async function outside(audit: string, run: readonly string[]): Promise<readonly string[]> {
  const grants = grantsIn(run);
  const lines = (await Deno.readTextFile(audit)).trim().split("\n").map((line) => JSON.parse(line) as Json);
  assert.ok(lines.length > 100, "the runtime lists attempts");
  return lines.filter(({ permission, value }) => {
    // A worker that is started with a part of a class: the runtime looks at the whole of it.
    if (value === null) return false;
    const path = String(value).replace(/^file:\/\//, "");
    return !(permission === "read" && path.startsWith(CHECKOUT)) &&
      !grants.some((grant) => {
        const item = grant.slice(grant.indexOf("=") + 1);
        if (!grant.startsWith(`--allow-${permission}=`)) return false;
        if (item.endsWith("*")) return path.startsWith(item.slice(0, -1));
        return path === item || path.startsWith(`${item}/`) || path.startsWith(`${item}:`);
      });
  }).map(({ permission, value }) => `${permission} ${value}`);
}

/** Each grant that is missing ends the start with one message that names it. */
async function assertNamesEach({ run, folder, env }: World): Promise<number> {
  const grants = grantsIn(run);
  for (const grant of grants) {
    const { code, said } = await runGate(without(run, grant), folder, env);
    assert.equal(code, 2, `${grant}: ${said}`);
    const [last = "", ...before] = said.trim().split("\n").reverse();
    const isConfig = grant === `--allow-read=${folder}/gate.toml`;
    // The first needs the modules of the program to write a log.
    const isProgram = grant === `--allow-read=${CHECKOUT}src`;
    const message = isProgram ? last : String((JSON.parse(last) as Json)["message"]);
    const expected = isConfig
      ? `${folder}/gate.toml: cannot be read: gate has no permission to read it`
      : `${isProgram ? "gate: Cannot start" : "Cannot serve"}: this process was started without ${grant}`;
    assert.equal(message.split(" (")[0], expected, said);
    assert.equal(before.length, isConfig ? 1 : 0, said);
  }
  return grants.length;
}

Deno.test("on SQLite over stdio", () =>
  withWorld(SQLITE, {}, async (world) => {
    const audit = join(world.folder, "work/attempts.jsonl");
    const env = { ...world.env, DENO_AUDIT_PERMISSIONS: audit };
    await using server = startServer({ args: world.run, cwd: world.folder, env });
    await server.request("initialize", initializeParams());
    await server.send({ jsonrpc: "2.0", method: "notifications/initialized" });
    await world.drive(async (name, input) => {
      const { result } = await server.request("tools/call", { name, arguments: input }) as Json;
      assert.notEqual(result?.isError, true, `${name}: ${JSON.stringify(result)} ${server.errors()}`);
      return result.structuredContent;
    });
    // The view needs a program that bundles it, which no printed grant has.
    const { error } = await server.request("resources/read", { uri: "ui://gate/run" }) as Json;
    assert.equal(error?.code, -32602, JSON.stringify(error));
    await server.closeInput();
    assert.equal(await server.ended(), 0, server.errors());
    assert.doesNotMatch(server.errors(), /wider/);
    assert.deepEqual(await outside(audit, world.run), []);
    assert.ok(await assertNamesEach(world) > 10);
  }));

Deno.test("on PostgreSQL over TLS", async () => {
  await using database = await startPostgres();
  await runSql(database, "CREATE ROLE gate_server LOGIN");
  const url = database.url(await createMigrated(database, "granted", "gate_server"), "gate_server");
  await withWorld(POSTGRES + TLS, { GATE_DATABASE: url }, async (world) => {
    const { cert: ca } = await serverCertificate(world.folder);
    const audit = join(world.folder, "work/attempts.jsonl");
    const env = { ...world.env, DENO_AUDIT_PERMISSIONS: audit };
    await using server = await listening(startServer({ args: world.run, cwd: world.folder, env }));
    let id = 0;
    await world.drive(async (name, input) => {
      const { status, text } = await send(server.url, callText(++id, name, input), { ca });
      const { result } = JSON.parse(text) as Json;
      assert.ok(status === 200 && result?.isError !== true, `${name}: ${text} ${server.process.errors()}`);
      return result.structuredContent;
    });
    server.process.signal("SIGTERM");
    assert.equal(await server.process.ended(), 0, server.process.errors());
    assert.doesNotMatch(server.process.errors(), /wider/);
    assert.deepEqual(await outside(audit, world.run), []);
    assert.ok(await assertNamesEach(world) > 10);
  });
});
