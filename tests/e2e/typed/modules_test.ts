/** A server without typed providers loads no module of them, so its start and its memory do not depend on them. */

import assert from "node:assert/strict";
import { httpProfile, typedContract } from "../../simulation/typed_documents.ts";
import { initializeParams, startServer } from "../client.ts";
import { gateArgs, inFolder, STORES } from "../gate_command.ts";

const ENTRY = `[[providers]]
name = "builds"
type = "typed"
capabilities_path = "contract.json"
runtime_profile_path = "profile.json"
typed_protocol = "openapi_http"
`;
const BUILTIN = '[[providers]]\nname = "rest"\ntype = "builtin"\n[[providers]]\nname = "time"\ntype = "builtin"\n';

/** The modules that a server loads for its start, its tools and one call, as the runtime's log names them. */
async function loadedModules(folder: string, toml: string): Promise<readonly string[]> {
  await Deno.writeTextFile(`${folder}/own.toml`, toml);
  const [run = "run", ...rest] = gateArgs("serve", "--config", `${folder}/own.toml`);
  const args = [run, "--log-level=debug", ...rest.filter((word) => word !== "--quiet")];
  await using server = startServer({ program: Deno.execPath(), args, cwd: folder, env: { NO_COLOR: "1" } });
  await server.request("initialize", initializeParams());
  await server.send({ jsonrpc: "2.0", method: "notifications/initialized" });
  const answer = await server.request("tools/call", { name: "providers_list", arguments: {} });
  assert.ok(answer["result"] !== undefined, JSON.stringify(answer));
  const root = new URL("../../../src/", import.meta.url).href;
  const fetched = server.errors().matchAll(/fetch_no_follow - specifier: (\S+)/g);
  return [...fetched].map(([, specifier = ""]) => specifier).filter((specifier) => specifier.startsWith(root))
    .map((specifier) => specifier.slice(root.length));
}

function ofTyped(modules: readonly string[]): readonly string[] {
  return modules.filter((module) => module.startsWith("evidence/typed/"));
}

Deno.test("a server without typed providers loads none of their modules", () =>
  inFolder(async (folder) => {
    const modules = await loadedModules(folder, `${STORES}\n${BUILTIN}`);
    assert.ok(modules.includes("evidence/builtin/rest_provider.ts"), `${modules.length} modules`);
    assert.deepEqual(ofTyped(modules), []);
  }));

Deno.test("a server with a typed provider loads its modules, and the worker of no protocol before a check", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/contract.json`, JSON.stringify(typedContract()));
    await Deno.writeTextFile(`${folder}/profile.json`, JSON.stringify(httpProfile()));
    const typed = ofTyped(await loadedModules(folder, `${STORES}\n${ENTRY}`));
    assert.ok(typed.includes("evidence/typed/provider.ts"), typed.join(" "));
    assert.deepEqual(typed.filter((module) => module.includes("/http/") || module.includes("/grpc/")), []);
  }));
