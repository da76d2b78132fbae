/** The content of a credential is sent to its service, and is found nowhere else. */

import assert from "node:assert/strict";
import { encodeBase64 } from "../../../src/canonical/base64.ts";
import type { JsonObject, JsonValue } from "../../../src/canonical/json.ts";
import { envelope } from "../../../src/tools/tests/tools_fixture.ts";
import { httpOperation, httpProfile, typedCheck, typedContract } from "../../simulation/typed_documents.ts";
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
import { callText, type HttpServer, listening, send } from "../http_fixture.ts";
import { ownCertificate } from "../own_certificates.ts";
import { textsBelow, withTlsServer, writeSecret } from "./fixture.ts";

const TOKEN = "canary-bearer-5fd1c0e2";
const KEY = "canary-key-8c44d190";
const VARIABLE = "canary-variable-1b7733aa";
const CANARIES = [TOKEN, KEY, VARIABLE];

const PROVIDER = `[[providers]]
type = "typed"
typed_protocol = "openapi_http"
config = { allow_private_networks = true }
allow_raw = true
`;

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
`;

const CHECKS = ["failed", "missing", "moved", "odd"];

/** A service that answers each path differently; it collects the heads of requests. */
function answerTo(head: string): string {
  const body = '{"failed":0}';
  const type = "content-type: application/json\r\nconnection: close\r\n";
  if (head.startsWith("GET /failed")) return `HTTP/1.1 200 OK\r\n${type}content-length: ${body.length}\r\n\r\n${body}`;
  if (head.startsWith("GET /moved")) {
    return `HTTP/1.1 302 Found\r\n${type}location: /failed\r\ncontent-length: 0\r\n\r\n`;
  }
  if (head.startsWith("GET /odd")) return `HTTP/1.1 200 OK\r\n${type}content-length: 1\r\n\r\n{`;
  return `HTTP/1.1 404 Not Found\r\n${type}content-length: 2\r\n\r\n{}`;
}

async function writeProvider(folder: string, name: string, base_url: string): Promise<void> {
  const operations = Object.fromEntries(CHECKS.map((check) => [
    check,
    httpOperation({ path_template: `/${check}`, parameters: [] }),
  ]));
  const checks = CHECKS.map((check) => typedCheck(check, { params_required: false, params_schema: {} }));
  const profile = httpProfile({
    base_url,
    operations,
    tls: { ca: "file://ca.pem", client: { certificate: "file://client.pem", key: "file://client.key" } },
    credentials: [
      { kind: "bearer", locator: "file://token" },
      { kind: "api_key", header: "X-Key", locator: "file://key" },
      { kind: "api_key", header: "X-Variable", locator: "env://BUILDS_VARIABLE" },
    ],
  });
  const contract = typedContract({ provider_id: name, checks });
  await Deno.writeTextFile(`${folder}/${name}.contract.json`, JSON.stringify(contract));
  await Deno.writeTextFile(`${folder}/${name}.profile.json`, JSON.stringify(profile));
}

function gateOver(url: string): Gate["call"] {
  return async (name, input) => {
    const { text } = await send(url, callText(1, name, input));
    answers.push(text);
    return (JSON.parse(text) as { result: Wire }).result["structuredContent"] as JsonObject;
  };
}

const answers: string[] = [];

function boundTo(provider: string, checks: readonly string[]): JsonObject {
  const zero: JsonValue = { predicate: "Equals", expected: { value: 0, value_type: "Integer" } };
  return oneStage(
    checks.map((check) => acquiredCondition(check, { domain: "Integer" }, zero as JsonObject)),
    checks.map((check) => binding(check, check, provider, check)),
  );
}

/** Runs checks that succeed and fail in every way, and asks for everything that the server and the commands show. */
async function exercise(server: HttpServer, folder: string, keys: string): Promise<void> {
  const call = gateOver(server.url);
  const product: Gate = {
    server: server.process,
    call,
    decide: async (tool, input) => envelope(await call(tool, input)),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  const open = await openRun(product, boundTo("builds", CHECKS), 1);
  const { items } = attemptOf((await evaluate(product, open)).result);
  assert.deepEqual(items, {
    failed: "qualified",
    missing: "status_unexpected",
    moved: "status_unexpected",
    odd: "invalid_json",
  });
  const gone = await evaluate(product, await openRun(product, boundTo("gone", ["failed"]), 2));
  assert.equal(gone.outcome, "acquisition_failed");
  await writeSecret(keys, "token", `${TOKEN}\u0007`);
  const broken = await evaluate(product, open);
  assert.equal(broken.outcome, "acquisition_failed");
  assert.match(JSON.stringify(broken.result), /credential_unavailable/);
  await writeSecret(keys, "token", `${TOKEN}\n`);
  const context = { namespace_id: 2, trigger_time: { kind: "unix_millis", value: 1 } };
  for (const check_id of CHECKS) {
    await call("evidence_query", { query: { provider_id: "builds", check_id }, context });
  }
  const { namespace_id, run_id } = open.run as { namespace_id: number; run_id: string };
  const { publication } = await call("runpack_export", { namespace_id, run_id });
  assert.equal((publication as JsonObject)["outcome"], "published");
  await call("provider_contract_get", { provider_id: "builds" });
  answers.push((await send(server.url, null, { path: "/metrics" })).text);
  answers.push(server.process.errors());
  for (const args of [["doctor"], ["provider", "check", "builds", "failed", "--credentials-dir", keys]]) {
    const { stdout, stderr } = await gate(folder, ...args, "--config", "gate.toml");
    answers.push(stdout, stderr);
  }
}

Deno.test("a credential is in no file, answer, log, record, audit line, runpack, error or metric", () =>
  inFolder(async (root) => {
    const folder = `${root}/gate`;
    const keys = `${root}/keys`;
    await Deno.mkdir(folder);
    await Deno.mkdir(keys);
    const authority = await ownCertificate({ name: "authority", isAuthority: true });
    const certificate = await ownCertificate({ name: "builds", hosts: ["localhost"], ip: [127, 0, 0, 1] }, authority);
    const client = await ownCertificate({ name: "gate" }, authority);
    await writeSecret(keys, "token", `${TOKEN}\n`);
    await writeSecret(keys, "key", KEY);
    await writeSecret(keys, "ca.pem", authority.cert);
    await writeSecret(keys, "client.pem", client.cert);
    await writeSecret(keys, "client.key", client.key);
    const heads: string[] = [];
    await withTlsServer({ certificate, clients: authority }, (socket) => {
      let head = "";
      socket.on("data", (chunk: Uint8Array) => {
        head += new TextDecoder().decode(chunk);
        if (!head.includes("\r\n\r\n")) return;
        heads.push(head);
        socket.end(answerTo(head));
      });
    }, async (port) => {
      await writeProvider(folder, "builds", `https://localhost:${port}`);
      // Nothing listens there.
      await writeProvider(folder, "gone", "https://localhost:9");
      const providers = ["builds", "gone"].map((name) =>
        `${PROVIDER}name = "${name}"\ncapabilities_path = "${name}.contract.json"\nruntime_profile_path = "${name}.profile.json"\n`
      );
      await Deno.writeTextFile(`${folder}/gate.toml`, `${SETTINGS}${providers.join("")}`);
      const flags = ["--config", `${folder}/gate.toml`, "--credentials-dir", keys, "--log-level", "debug"];
      await using server = await listening(startServer({
        args: gateArgs("serve", ...flags),
        cwd: folder,
        env: { BUILDS_VARIABLE: VARIABLE },
      }));
      await exercise(server, folder, keys);
    });
    // The canaries work: the service received them.
    const [first = ""] = heads;
    for (const sent of [`Bearer ${TOKEN}`, KEY, VARIABLE]) assert.ok(first.includes(sent), sent);
    const texts = [...await textsBelow(folder), ...answers.map((text) => ["answer", text] as const)];
    assert.ok(
      texts.some(([path]) => path.endsWith("audit.jsonl")) && texts.some(([path]) => path.includes("runpacks")),
    );
    const hidden = [...CANARIES, ...CANARIES.map((one) => encodeBase64(new TextEncoder().encode(one)))];
    const secretKey = client.key.split("\n")[1] ?? "";
    assert.ok(secretKey.length > 20);
    for (const [path, text] of texts) {
      for (const one of [...hidden, secretKey]) assert.ok(!text.includes(one), `${path} contains "${one}"`);
    }
  }));
