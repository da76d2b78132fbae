/** Servers with an audit log in a file, and what stands in it. */

import { spec } from "@/tools/tests/tools_fixture.ts";
import { type ServerProcess, startServer, type Wire } from "../client.ts";
import { gate, gateArgs } from "../gate_command.ts";

/** What a request says of its protocol. */
export const ENVELOPE = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** A configuration whose audit log is a file. */
export const AUDITED = '[server.audit]\npath = "audit.jsonl"\n';

/** Starts gate in a folder, over stdio unless the configuration says otherwise. */
export function startGate(folder: string, config: string, ...args: readonly string[]): ServerProcess {
  Deno.writeTextFileSync(`${folder}/gate.toml`, config);
  return startServer({
    args: gateArgs("serve", "--config", "gate.toml", ...args),
    cwd: folder,
    env: { GATE_CONFIG: "" },
  });
}

/** Calls a tool over stdio and gives its structured content. */
export async function call(server: ServerProcess, name: string, input: unknown): Promise<Wire> {
  const answer = await server.request("tools/call", { name, arguments: input, _meta: ENVELOPE });
  return ((answer["result"] as Wire | undefined)?.["structuredContent"] ?? answer) as Wire;
}

/** Ends the input, and gives the exit code. */
export async function end(server: ServerProcess): Promise<number> {
  await server.closeInput();
  return await server.ended();
}

/** The arguments that define a scenario. */
export function define(scenario_id: string): Wire {
  return { spec: spec({ scenario_id }) };
}

/** What tests read of a line. */
export interface Line {
  readonly kind: string;
  readonly outcome: string;
  readonly reason: string;
  readonly subject?: string;
  readonly tool?: string;
  readonly correlation_id?: string;
  readonly traceparent?: string;
  readonly transport?: string;
  readonly peer_address?: string;
  readonly details?: Wire;
}

/** The lines of a log. */
export function linesOf(path: string): Line[] {
  return Deno.readTextFileSync(path).trimEnd().split("\n").map((line) => JSON.parse(line) as Line);
}

/** Lets a time pass. */
export function pause(milliseconds: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  setTimeout(resolve, milliseconds);
  return promise;
}

/** Whether there is such a file. */
export function exists(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

/** What `gate audit verify` says of files. */
export async function verified(folder: string, ...files: readonly string[]): Promise<{ code: number; files: Wire[] }> {
  const { code, stdout } = await gate(folder, "audit", "verify", "--json", ...files);
  const { result } = JSON.parse(stdout) as { readonly result: { readonly files: Wire[] } };
  return { code, files: result.files };
}
