/**
 * Starts the files of `config/`, with the changes that their comments describe, under the flags of `gate permissions`.
 *
 * @module
 */

import assert from "node:assert/strict";
import { dirname } from "node:path";
import { initializeParams, type ServerProcess, startServer, type Wire } from "../client.ts";
import { gate } from "../gate_command.ts";
import { callText, listening, send, type Sending } from "../http_fixture.ts";
import { type CallTool, type Lifecycle, runLifecycle } from "./presets_lifecycle.ts";

/** The folder of the presets. */
export const PRESETS = new URL("../../../config/", import.meta.url).pathname;

/** A text of a file, and the text of the operator. */
export type Edits = readonly (readonly [from: string, to: string])[];

/** The folders that the presets of hosts name, within the folder of the test. */
function hostFolders(folder: string): Edits {
  return [["/etc/gate", `${folder}/etc`], ["/var/lib/gate", `${folder}/lib`], ["/var/log/gate", `${folder}/log`]];
}

/** Writes a preset with its changes; each must apply. */
async function install(name: string, folder: string, edits: Edits): Promise<string> {
  for (const part of ["etc/tls", "lib", "log"]) await Deno.mkdir(`${folder}/${part}`, { recursive: true });
  let text = await Deno.readTextFile(`${PRESETS}${name}`);
  for (const [from, to] of edits) {
    if (from.startsWith("/") && !text.includes(from)) continue;
    assert.ok(text.includes(from), `${name} holds ${from}`);
    text = text.replaceAll(from, to);
  }
  const path = `${folder}/etc/${name}`;
  await Deno.writeTextFile(path, text, { mode: 0o600 });
  return path;
}

/** Starts the service under the flags that `gate permissions` prints. */
async function boot(path: string, folder: string, flags: readonly string[] = []): Promise<ServerProcess> {
  const { code, stdout, stderr } = await gate(folder, "permissions", "--config", path, "--json");
  assert.equal(code, 0, stderr);
  const { run } = (JSON.parse(stdout) as { result: { run: string[] } }).result;
  return startServer({ args: [...run.slice(1), ...flags], cwd: folder, env: { GATE_CONFIG: "", CI: "true" } });
}

/** Callers of an address. */
export interface Callers {
  readonly as: (sending: Sending) => CallTool;
  readonly status: (sending: Sending) => Promise<number>;
  /** Asserts that the service is ready. */
  readonly ready: (sending: Sending) => Promise<void>;
}

/** A server over HTTP, with callers. */
export interface Served extends Callers {
  readonly url: string;
  readonly process: ServerProcess;
}

/** Callers of an address, with details for a failed answer. */
export function callersOf(url: string, errors: () => string): Callers {
  let id = 0;
  return {
    ready: async (sending) => {
      const { status, text } = await send(url, null, { ...sending, path: "/readyz" });
      assert.equal(status, 200, text);
    },
    as: (sending) => async (tool, input) => {
      const { status, text } = await send(url, callText(++id, tool, input), sending);
      assert.equal(status, 200, `${tool}: ${text} ${errors()}`);
      return JSON.parse(text) as Wire;
    },
    status: async (sending) => (await send(url, callText(++id, "scenarios_list", { namespace_id: 2 }), sending)).status,
  };
}

/** Serves a preset over HTTP while a test runs. */
export async function serveHttp(
  name: string,
  folder: string,
  options: { readonly edits: Edits; readonly flags?: readonly string[] },
  test: (served: Served) => Promise<void>,
): Promise<void> {
  const path = await install(name, folder, [...hostFolders(folder), ...options.edits]);
  await using server = await listening(await boot(path, folder, options.flags));
  const url = server.url.replace("0.0.0.0", "127.0.0.1");
  await test({ url, process: server.process, ...callersOf(url, server.process.errors) });
}

/** Serves a preset over stdio and carries a run through it. */
export async function driveStdio(name: string, folder: string, lifecycle: Lifecycle = {}): Promise<void> {
  const path = await install(name, folder, []);
  await Deno.mkdir(`${dirname(path)}/evidence`, { recursive: true });
  await using server = await boot(path, folder);
  await server.request("initialize", initializeParams());
  await server.send({ jsonrpc: "2.0", method: "notifications/initialized" });
  await runLifecycle((tool, input) => server.request("tools/call", { name: tool, arguments: input }), lifecycle);
  await server.closeInput();
  assert.equal(await server.ended(), 0, server.errors());
}

/** Asserts that an audit log is sound and contains the lifecycle. */
export async function assertAudited(folder: string, path: string): Promise<void> {
  const { code, stdout, stderr } = await gate(folder, "audit", "verify", path);
  assert.equal(code, 0, stdout + stderr);
  const text = await Deno.readTextFile(path);
  for (const tool of ["scenario_define", "runpack_export"]) assert.ok(text.includes(tool), tool);
}
