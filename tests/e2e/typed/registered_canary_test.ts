/** The credential of a registered provider is in no answer, metric, log line or file, whatever becomes of a call. */

import assert from "node:assert/strict";
import { encodeBase64 } from "@/canonical/base64.ts";
import type { JsonObject } from "@/canonical/json.ts";
import { serveBuilds } from "../../../docs/examples/typed_service/services.ts";
import { startServer } from "../client.ts";
import { gateArgs, inFolder, STORES } from "../gate_command.ts";
import { callText, listening, send } from "../http_fixture.ts";
import { textsBelow } from "./fixture.ts";

const TOKEN = "canary-registered-77ab0d3e";
const SETTINGS = `${STORES}
[server]
transport = "http"
bind = "127.0.0.1:0"
[server.audit]
path = "audit.jsonl"
`;
const KEY = { namespace_id: 2, provider_id: "builds", version: "1" };
const DOCUMENT = new URL("../../../docs/examples/typed_service/builds.openapi.json", import.meta.url);

/** A call of the life of a provider, what its answer shows, and what happens to the credential's file before it. */
type Step = readonly [tool: string, input: JsonObject, shows: RegExp, before?: (file: string) => Promise<void>];

function query(id: string): JsonObject {
  const context = { namespace_id: 2, trigger_time: { kind: "unix_millis", value: 1 } };
  return { query: { provider_id: "builds", check_id: "getBuild", params: { id } }, context };
}

/** Every call with a contract and a profile. */
function stepsOf(contract: JsonObject, profile: JsonObject): readonly Step[] {
  const withCredential = (credential: JsonObject): JsonObject => ({ ...profile, credentials: [credential] });
  const register = (given: JsonObject): JsonObject => ({ ...KEY, contract, profile: given });
  const bearer = withCredential({ kind: "bearer", locator: "file://builds-token" });
  return [
    ["typed_providers_register", register(withCredential({ kind: "bearer", locator: TOKEN })), /profile_invalid/],
    [
      "typed_providers_register",
      register(withCredential({ kind: "bearer", locator: "file://other" })),
      /locator_refused/,
    ],
    ["typed_providers_register", register({ ...bearer, base_url: "http://127.0.0.1:9/api" }), /host_not_allowed/],
    ["typed_providers_register", register(bearer), /registered/],
    ["typed_providers_activate", { ...KEY, expected_active: null }, /"active":"1"/],
    ["typed_providers_get", KEY, /file:\/\/builds-token/],
    ["evidence_query", query("17"), /"error":null.*"withheld":true/],
    ["evidence_query", query("99"), /status_unexpected/],
    ["evidence_query", query("17"), /status_unexpected/, (file) => Deno.writeTextFile(file, `${TOKEN}-x`)],
    ["evidence_query", query("17"), /credential_unavailable/, (file) => Deno.writeTextFile(file, `${TOKEN}\u0007`)],
    ["evidence_query", query("17"), /credential_unavailable/, (file) => Deno.chmod(file, 0o644)],
    ["evidence_query", query("17"), /credential_unavailable/, (file) => Deno.remove(file)],
    ["typed_providers_deprecate", { ...KEY, expected_state: "active" }, /deprecated/],
    ["evidence_query", query("17"), /typed_provider_inactive/],
  ];
}

Deno.test("the credential of a registered provider is in no answer, metric, log line or file", () =>
  inFolder(async (root) => {
    const [folder, keys] = [`${root}/gate`, `${root}/keys`];
    await Deno.mkdir(folder);
    await Deno.mkdir(keys);
    await Deno.writeTextFile(`${keys}/builds-token`, TOKEN, { mode: 0o600 });
    await Deno.writeTextFile(`${folder}/gate.toml`, SETTINGS);
    const builds = serveBuilds(TOKEN);
    const host = `127.0.0.1:${builds.port}`;
    const granted = ["--typed-host", `${host}=file://builds-token`, "--typed-private", "--credentials-dir", keys];
    const seen: string[] = [];
    try {
      await using server = await listening(startServer({
        args: gateArgs("serve", "--config", `${folder}/gate.toml`, "--log-level", "debug", ...granted),
        cwd: folder,
      }));
      const call = async (tool: string, input: JsonObject): Promise<string> => {
        const { text } = await send(server.url, callText(1, tool, input), {});
        seen.push(text);
        return text;
      };
      const imported = JSON.parse(
        await call("typed_providers_import", {
          ...KEY,
          source: { kind: "openapi", document: JSON.parse(await Deno.readTextFile(DOCUMENT)) },
          server_url: `http://${host}/api`,
        }),
      ).result.structuredContent;
      for (const [tool, input, shows, before] of stepsOf(imported.contract, imported.profile)) {
        await before?.(`${keys}/builds-token`);
        assert.match(await call(tool, input), shows, `${tool} ${shows}`);
      }
      seen.push((await send(server.url, null, { path: "/metrics" })).text, server.process.errors());
    } finally {
      await builds.close();
    }
    for (const [path, text] of await textsBelow(folder)) seen.push(`${path}\n${text}`);
    assert.ok(seen.some((text) => text.includes("audit.jsonl")) && seen.some((text) => text.includes("gate.db")));
    for (const canary of [TOKEN, encodeBase64(new TextEncoder().encode(TOKEN)).replace(/=+$/, "")]) {
      for (const text of seen) assert.ok(!text.includes(canary), text.slice(0, 400));
    }
  }));
