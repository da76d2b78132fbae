/** The credentials of a gRPC provider are sent to its service, and are found nowhere else, whatever the service answers. */

import assert from "node:assert/strict";
import { encodeBase64 } from "../../../src/canonical/base64.ts";
import type { JsonObject } from "../../../src/canonical/json.ts";
import { envelope } from "../../../src/tools/tests/tools_fixture.ts";
import {
  acquiredCondition,
  attemptOf,
  binding,
  evaluate,
  type Gate,
  oneStage,
  openRun,
} from "../evidence/acquisition_serve.ts";
import { startServer, type Wire } from "../client.ts";
import { gate, gateArgs, inFolder } from "../gate_command.ts";
import { data, headers, message, OK_HEADERS, type Peer, type Play, type Script, startPeer } from "./grpc_peers.ts";
import { answering, HONEST, importChecks, THREE } from "./grpc_rows.ts";
import { callText, type HttpServer, listening, send } from "../http_fixture.ts";
import { ownCertificate } from "../own_certificates.ts";
import { textsBelow, writeSecret } from "./fixture.ts";

const TOKEN = "canary-grpc-bearer-2c90d1";
const KEY = "canary-grpc-key-77e0b3";
const VARIABLE = "canary-grpc-variable-41ffa8";
const CANARIES = [TOKEN, KEY, VARIABLE];

const SETTINGS = `[server]
transport = "http"
bind = "127.0.0.1:0"
[server.audit]
path = "audit.jsonl"
[dev]
allow_dev_env_credentials = true
[run_state_store]
type = "sqlite"
path = "gate.db"
[schema_registry]
type = "sqlite"
path = "schemas.db"
[evidence]
allow_raw_values = true
[[providers]]
name = "probe"
type = "typed"
typed_protocol = "grpc"
config = { allow_private_networks = true }
allow_raw = true
capabilities_path = "contract.json"
runtime_profile_path = "profile.json"
`;

const OK = headers(OK_HEADERS);

function failing(text: string): Script {
  return answering(headers([...OK_HEADERS, ["grpc-status", "7"], ["grpc-message", text]], true));
}

/** What the service does with one call after the other, and what a query then shows. */
const TURNS: readonly (readonly [script: Script, shows: RegExp])[] = [
  [HONEST, /"error":null/],
  [failing("no access"), /grpc_status/],
  [failing(`no access with ${TOKEN}`), /grpc_status|credential_repeated/],
  [answering(OK, data(message(new TextEncoder().encode(KEY)))), /provider_protocol_error|timeout|truncated/],
  [answering(OK, data(message(THREE), true)), /provider_protocol_error/],
  [answering(headers([[":status", "200"], ["content-type", `text/${VARIABLE}`]], true)), /content_type_invalid/],
  [{ at: "request", play: (socket) => void socket.destroy() }, /connection_failed/],
  [{ at: "connection", play: (socket) => void socket.end(`HTTP/1.1 400 ${TOKEN}\r\n\r\n`) }, /provider_protocol_error/],
];

/** Plays a turn for each connection; the first ones are honest, for the run. */
function inTurns(honest: number): Script {
  let count = 0;
  const play: Play = (socket, received) => {
    const turn = count++ - honest;
    return (TURNS[Math.max(0, turn) % TURNS.length]?.[0] ?? HONEST).play(socket, received);
  };
  return { at: "request", play };
}

async function writeProvider(folder: string, { port }: Peer): Promise<void> {
  const { contract, profile } = await importChecks();
  const own = {
    ...profile,
    endpoint: `localhost:${port}`,
    tls: { ca: "file://ca.pem", client: { certificate: "file://client.pem", key: "file://client.key" } },
    limits: { timeout_ms: 5000, max_response_bytes: 65_536 },
    credentials: [
      { kind: "bearer", locator: "file://token" },
      { kind: "metadata", name: "x-key", locator: "file://key" },
      { kind: "metadata", name: "x-variable", locator: "env://PROBE_VARIABLE" },
    ],
  };
  await Deno.writeTextFile(`${folder}/contract.json`, JSON.stringify(contract));
  await Deno.writeTextFile(`${folder}/profile.json`, JSON.stringify(own));
  await Deno.writeTextFile(`${folder}/gate.toml`, SETTINGS);
}

/** A run with the provider, queries that end in every way, a runpack, and what commands print; all texts that were shown. */
async function exercise(server: HttpServer, folder: string, keys: string): Promise<readonly string[]> {
  const seen: string[] = [];
  const call: Gate["call"] = async (name, input) => {
    const { text } = await send(server.url, callText(1, name, input));
    seen.push(text);
    return (JSON.parse(text) as { result: Wire }).result["structuredContent"] as JsonObject;
  };
  const product: Gate = {
    server: server.process,
    call,
    decide: async (tool, input) => envelope(await call(tool, input)),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  const three = { predicate: "Equals", expected: { value: 3, value_type: "Integer" } };
  const law = oneStage([acquiredCondition("errors", { domain: "Integer" }, three)], [
    binding("errors", "errors", "probe", "errors"),
  ]);
  const open = await openRun(product, law, 1);
  assert.deepEqual(attemptOf((await evaluate(product, open)).result).items, { errors: "qualified" });
  const context = { namespace_id: 2, trigger_time: { kind: "unix_millis", value: 1 } };
  const query = { query: { provider_id: "probe", check_id: "errors", params: { name: "a" } }, context };
  for (const [, shows] of TURNS) {
    await call("evidence_query", query);
    assert.match(seen.at(-1) ?? "", shows);
  }
  await writeSecret(keys, "token", `${TOKEN}\u0007`);
  await call("evidence_query", query);
  assert.match(seen.at(-1) ?? "", /credential_unavailable/);
  await writeSecret(keys, "token", TOKEN);
  const { namespace_id, run_id } = open.run as { namespace_id: number; run_id: string };
  const { publication } = await call("runpack_export", { namespace_id, run_id });
  assert.equal((publication as JsonObject)["outcome"], "published");
  await call("provider_contract_get", { provider_id: "probe" });
  seen.push((await send(server.url, null, { path: "/metrics" })).text, server.process.errors());
  for (const args of [["doctor"], ["provider", "check", "probe", "errors", "--credentials-dir", keys]]) {
    const { stdout, stderr } = await gate(folder, ...args, "--config", "gate.toml");
    seen.push(stdout, stderr);
  }
  return seen;
}

Deno.test("a credential of a gRPC provider is in no file, answer, log, record, audit line, runpack or metric", () =>
  inFolder(async (root) => {
    const [folder, keys] = [`${root}/gate`, `${root}/keys`];
    await Deno.mkdir(folder);
    await Deno.mkdir(keys);
    const authority = await ownCertificate({ name: "authority", isAuthority: true });
    const certificate = await ownCertificate({ name: "probe", hosts: ["localhost"], ip: [127, 0, 0, 1] }, authority);
    const client = await ownCertificate({ name: "gate" }, authority);
    for (
      const [name, text] of [
        ["token", TOKEN],
        ["key", KEY],
        ["ca.pem", authority.cert],
        ["client.pem", client.cert],
        ["client.key", client.key],
      ] as const
    ) await writeSecret(keys, name, text);
    const peer = await startPeer(inTurns(1), { ...certificate, clientAuthority: authority.cert });
    const seen: string[] = [];
    try {
      await writeProvider(folder, peer);
      const flags = ["--config", `${folder}/gate.toml`, "--credentials-dir", keys, "--log-level", "debug"];
      await using server = await listening(startServer({
        args: gateArgs("serve", ...flags),
        cwd: folder,
        env: { PROBE_VARIABLE: VARIABLE },
      }));
      seen.push(...await exercise(server, folder, keys));
    } finally {
      await peer.close();
    }
    // The canaries work: the service received them.
    const received = new TextDecoder("latin1").decode(peer.received());
    for (const sent of [`Bearer ${TOKEN}`, KEY, VARIABLE]) assert.ok(received.includes(sent), sent);
    for (const [path, text] of await textsBelow(folder)) seen.push(`${path}\n${text}`);
    assert.ok(seen.some((text) => text.includes("audit.jsonl")) && seen.some((text) => text.includes("runpacks")));
    const coded = CANARIES.map((one) => encodeBase64(new TextEncoder().encode(one)).replace(/=+$/, "").slice(0, -1));
    for (const hidden of [...CANARIES, ...coded, client.key.split("\n")[1] ?? TOKEN]) {
      for (const text of seen) assert.ok(!text.includes(hidden), `"${hidden}" in ${text.slice(0, 300)}`);
    }
  }));
