/**
 * Each file of `config/` carries a run from law to verified runpack; those with TLS are in `presets_tls_test.ts`.
 */

import assert from "node:assert/strict";
import type { JsonObject } from "@/canonical/json.ts";
import { condition, spec } from "@/tools/tests/tools_fixture.ts";
import { readTree } from "../../checks/tree.ts";
import { gate, inFolder } from "../gate_command.ts";
import { containerFlags } from "./presets_blocks.ts";
import { runLifecycle } from "./presets_lifecycle.ts";
import { assertAudited, driveStdio, type Edits, PRESETS, serveHttp } from "./presets_serve.ts";

Deno.test("config/ contains the presets of these tests, and gate accepts each that needs no values", () =>
  inFolder(async (folder) => {
    const paths = (await readTree()).map(({ path }) => path).filter((path) => /^config\/.*\.toml$/.test(path));
    const names = paths.map((path) => path.slice("config/".length)).sort();
    assert.deepEqual(names, [
      "ci_release_gate.toml",
      "container_behind_proxy.toml",
      "desktop_stdio.toml",
      "fleet/gate.toml",
      "hardened_bearer.toml",
      "local_http.toml",
      "mtls_host.toml",
    ]);
    for (const name of names) {
      const { code, stdout } = await gate(folder, "config", "check", `${PRESETS}${name}`);
      const placeholders = { "hardened_bearer.toml": 4, "fleet/gate.toml": 2 }[name] ?? 0;
      assert.equal(code, placeholders === 0 ? 0 : 2, `${name}: ${stdout}`);
      assert.equal(stdout.match(/bearer_tokens\[|principals\[/g)?.length ?? 0, placeholders, stdout);
    }
  }));

Deno.test("config/desktop_stdio.toml carries a run from law to verified runpack", () =>
  inFolder((folder) => driveStdio("desktop_stdio.toml", folder)));

Deno.test("config/ci_release_gate.toml decides from the files and variables of the job", () =>
  inFolder(async (folder) => {
    await Deno.mkdir(`${folder}/etc/evidence`, { recursive: true });
    await Deno.writeTextFile(`${folder}/etc/evidence/tests.json`, '{"passed":true}');
    await driveStdio("ci_release_gate.toml", folder, { callerEvidence: false, spec: fetchingSpec() });
    await assertAudited(folder, `${folder}/etc/audit.jsonl`);
  }));

/** The two stages, with evidence that gate gathers. */
function fetchingSpec(): JsonObject {
  const fetched = (base: JsonObject): JsonObject => ({
    ...base,
    evidence_use_policy: { ...base["evidence_use_policy"] as JsonObject, allowed_channels: ["local_acquisition"] },
  });
  const text = { domain: "String", minimum_bytes: 1, maximum_bytes: 16 };
  const expected = (value: string | boolean, value_type: string): JsonObject => ({
    predicate: "Equals",
    expected: { value, value_type },
  });
  const binding = (condition_id: string, provider_id: string, check_id: string, params: JsonObject): JsonObject => ({
    binding_id: condition_id,
    condition_id,
    channel: "local_acquisition",
    provider_id,
    check_id,
    params,
  });
  return spec({
    conditions: [
      fetched(condition("built", { domain: "Boolean" }, expected(true, "Boolean"))),
      fetched(condition("deployed", text, expected("true", "String"))),
    ],
    acquisition_bindings: [
      binding("built", "json", "path", { file: "tests.json", jsonpath: "$.passed" }),
      binding("deployed", "env", "get", { key: "CI" }),
    ],
  });
}

Deno.test("config/local_http.toml serves this machine and rejects forwarded requests", () =>
  inFolder(async (folder) => {
    const edits: Edits = [["127.0.0.1:8080", "127.0.0.1:0"]];
    await serveHttp("local_http.toml", folder, { edits }, async ({ as, status, ready }) => {
      await runLifecycle(as({}));
      await ready({});
      assert.equal(await status({ headers: { "x-forwarded-for": "192.0.2.1" } }), 401);
      assert.equal(await status({ headers: { origin: "https://pages.example" } }), 403);
    });
    await assertAudited(folder, `${folder}/etc/audit.jsonl`);
  }));

Deno.test("config/container_behind_proxy.toml trusts the subject only from the proxy", () =>
  inFolder(async (folder) => {
    const edits: Edits = [["0.0.0.0:8080", "0.0.0.0:0"]];
    const subject = { "x-gate-client-subject": "CN=pipeline,OU=Build,O=Example" };
    const host = { host: "gate.example.com" };
    const trusting = async (proxies: string): Promise<string[]> =>
      (await containerFlags()).map((flag) => flag === "10.0.0.2" ? proxies : flag);
    const name = "container_behind_proxy.toml";
    await serveHttp(
      name,
      folder,
      { edits, flags: await trusting("127.0.0.0/24") },
      async ({ as, status, ready, process }) => {
        await runLifecycle(as({ headers: { ...host, ...subject, "x-forwarded-for": "192.0.2.1" } }));
        await ready({ headers: host });
        assert.equal(await status({ headers: host }), 401);
        assert.equal(await status({ headers: { ...host, "x-gate-client-subject": "CN=other" } }), 403);
        assert.match(process.errors(), /scenario_define/, "the audit log stands on standard error");
      },
    );
    await serveHttp(name, folder, { edits, flags: await trusting("10.0.0.2") }, async ({ status }) => {
      assert.equal(await status({ headers: { ...host, ...subject } }), 401);
    });
  }));
