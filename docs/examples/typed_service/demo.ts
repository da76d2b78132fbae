/**
 * Makes a gate of two services: imports their descriptions, registers and activates them, and takes a run to its end with the
 * evidence that gate asks of both.
 *
 * Exit codes: 0 the run is complete, 1 anything else.
 *
 * @module
 */

import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { serveApprovals, serveBuilds } from "./services.ts";

// deno-lint-ignore no-explicit-any
type Json = Record<string, any>;
type Call = (tool: string, input: Json) => Promise<Json>;

const HERE = new URL("./", import.meta.url).pathname;
const CHECKOUT = new URL("../../../", import.meta.url).pathname;
const NAMESPACE = { namespace_id: 2 };

/** Stores in files, an audit log, and the schema registry open to local callers. */
const CONFIGURATION = `
[run_state_store]
type = "sqlite"
path = "gate.db"
[schema_registry]
type = "sqlite"
path = "gate.db"
[schema_registry.acl]
allow_local_only = true
[server.audit]
path = "audit.jsonl"
`;

const say = (line: string): void => console.log(line);
const freshId = (): string => crypto.randomUUID().replaceAll("-", "");
const readText = (name: string): Promise<string> => Deno.readTextFile(`${HERE}${name}`);

/** Writes a credential that only its owner may read. */
async function writeCredential(folder: string, name: string, content: string): Promise<void> {
  await Deno.writeTextFile(`${folder}/${name}`, content, { mode: 0o600 });
}

/** Starts a server that may ask both services, and connects to it. */
async function connect(folder: string, hosts: readonly string[]): Promise<Client> {
  const flags = hosts.flatMap((host) => ["--typed-host", host]);
  const transport = new StdioClientTransport({
    command: Deno.execPath(),
    args: ["run", "--no-prompt", "--quiet", "--config", `${CHECKOUT}deno.json`, "-P=serve", `${CHECKOUT}main.ts`]
      .concat(
        ["serve", "--config", `${folder}/gate.toml`, "--credentials-dir", `${folder}/credentials`, "--typed-private"],
        flags,
      ),
    cwd: folder,
    env: { ...Deno.env.toObject(), NO_COLOR: "1" },
    stderr: "inherit",
  });
  const client = new Client({ name: "typed-service-demo", version: "1.0.0" });
  await client.connect(transport);
  return client;
}

function caller(client: Client): Call {
  return async (name, input) => {
    const { structuredContent, isError } = await client.callTool({ name, arguments: input });
    if (isError === true) throw new Error(`Cannot call ${name}: ${JSON.stringify(structuredContent)}`);
    return structuredContent as Json;
  };
}

/** Imports a description, adds the credential by locator, and makes the result the active version. */
async function addProvider(call: Call, provider_id: string, description: Json, credential: Json): Promise<void> {
  const key = { ...NAMESPACE, provider_id, version: "1" };
  const imported = await call("typed_providers_import", { ...key, ...description });
  const { contract, candidates } = imported;
  const usable = candidates.filter((one: Json) => one["usable"]).length;
  say(`${provider_id}: ${usable} of ${candidates.length} operations can be checks`);
  const profile = { ...imported["profile"], ...description["plain"], credentials: [credential] };
  const { provider_version_identity } = await call("typed_providers_register", { ...key, contract, profile });
  await call("typed_providers_activate", { ...key, expected_active: null });
  say(`${provider_id}: version 1 is active, ${provider_version_identity.slice(0, 12)}`);
}

/** Adds the providers of both services. */
async function addProviders(call: Call, builds: number, approvals: number): Promise<void> {
  await addProvider(call, "builds", {
    source: { kind: "openapi", document: JSON.parse(await readText("builds.openapi.json")) },
    selection: [{ operation: "getBuild", check_id: "failed_tests", result_pointer: "/tests/failed" }],
    server_url: `http://127.0.0.1:${builds}/api`,
  }, { kind: "bearer", locator: "file://builds-token" });
  await addProvider(call, "approvals", {
    source: { kind: "grpc", proto: [{ path: "approvals.proto", text: await readText("approvals.proto") }] },
    selection: [{ operation: "approvals.v1.Approvals/Count", check_id: "approvals", result_pointer: "/approvals" }],
    server_url: `http://127.0.0.1:${approvals}`,
  }, { kind: "bearer", locator: "file://approvals-token" });
}

/** Defines the law, takes a run to its end, and exports and verifies it. */
async function mergeChange(call: Call): Promise<string> {
  const law_text = await readText("scenario.yaml");
  const { scenario_law_identity } = await call("scenario_define", { law_text });
  const scenario = { ...NAMESPACE, scenario_id: "merge-change" };
  const { outcome: started } = await call("scenario_start", {
    ...scenario,
    scenario_law_identity,
    creation_request_id: freshId(),
    correlation: { kind: "unset" },
    genesis: { kind: "empty" },
  });
  const { run_key: { run_id }, head } = started.result;
  const run = { ...scenario, run_id };
  const { outcome } = await call("scenario_next", { ...run, expected_head: head, request_id: freshId() });
  for (const { code, message } of outcome.result.failures ?? []) say(`  ${code}: ${message}`);
  const { status } = await call("scenario_status", run);
  say(`run ${run_id}: ${status}`);
  const { publication: { runpack_identity } } = await call("runpack_export", { ...NAMESPACE, run_id });
  const { report } = await call("runpack_verify", { runpack_identity, profile: "full_replay_v1" });
  const count = (wanted: string): number =>
    report["claims"].filter((claim: Json) => claim["status"]["status"] === wanted).length;
  say(
    `runpack ${runpack_identity.slice(0, 12)}: ${count("satisfied")} claims satisfied, ${count("violated")} violated`,
  );
  return status;
}

/** Runs the example in a folder, which keeps the stores and the runpack. */
async function main(folder: string, tokens: { readonly builds: string; readonly approvals: string }): Promise<number> {
  await Deno.mkdir(`${folder}/credentials`, { mode: 0o700 });
  await writeCredential(`${folder}/credentials`, "builds-token", tokens.builds);
  await writeCredential(`${folder}/credentials`, "approvals-token", tokens.approvals);
  await Deno.writeTextFile(`${folder}/gate.toml`, CONFIGURATION);
  const builds = serveBuilds(tokens.builds);
  const approvals = await serveApprovals(tokens.approvals);
  const client = await connect(folder, [
    `127.0.0.1:${builds.port}=file://builds-token`,
    `127.0.0.1:${approvals.port}=file://approvals-token`,
  ]);
  try {
    const call = caller(client);
    await addProviders(call, builds.port, approvals.port);
    return await mergeChange(call) === "complete" ? 0 : 1;
  } finally {
    await client.close();
    await builds.close();
    await approvals.close();
  }
}

if (import.meta.main) {
  const folder = Deno.args[0] ?? await Deno.makeTempDir({ prefix: "gate-typed-" });
  const [, builds = freshId(), approvals = freshId()] = Deno.args;
  Deno.exitCode = await main(folder, { builds, approvals });
  say(`folder ${folder}`);
}
