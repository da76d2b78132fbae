/**
 * A run whose only stage is open and waits for signatures of people, in a folder of its own.
 *
 * @module
 */

import assert from "node:assert/strict";
import { join } from "node:path";
import { type Ended, gate, gateArgs, inFolder, STORES } from "../gate_command.ts";
import type { ServerProcess, Wire } from "../client.ts";
import { waitingLaw } from "./waiting_law.ts";

/** Where the servers of these tests send people. */
export const PUBLIC_URL = "https://gate.example.com";

/** The run and its folder. */
export interface WaitingWorld {
  readonly folder: string;
  readonly run: { readonly namespace_id: number; readonly scenario_id: string; readonly run_id: string };
  /** Signs as a person, with further options. */
  readonly approve: (name: string, ...args: readonly string[]) => Promise<Ended>;
}

/** Runs a body with a run that waits for one of the people alice and bob. */
export async function withWaitingRun(body: (world: WaitingWorld) => Promise<void>, minimum = 1): Promise<void> {
  await inFolder(async (folder) => {
    await Deno.writeTextFile(join(folder, "gate.toml"), STORES);
    await Deno.writeTextFile(join(folder, "law.yaml"), waitingLaw(minimum));
    for (const name of ["alice", "bob"]) {
      assert.equal((await gate(folder, "key", "create", `${name}.key`)).code, 0);
      assert.equal((await gate(folder, "key", "trust", `${name}.key.pub`, "--name", name)).code, 0);
    }
    const { stdout } = await gate(folder, "run", "law.yaml", "--run-key", "one", "--json");
    const { run_id } = (JSON.parse(stdout) as { result: { run_id: string } }).result;
    await body({
      folder,
      run: { namespace_id: 2, scenario_id: "release", run_id },
      approve: (name, ...args) =>
        gate(folder, "approve", run_id, "--yes", "--evidence-keys", "evidence-keys", "--key", `${name}.key`, ...args),
    });
  });
}

/** The arguments of a server on the stores of the run, which logs errors alone unless a flag asks for more. */
export function askingServer(...flags: readonly string[]): string[] {
  const level = flags.includes("--log-level") ? [] : ["--log-level", "error"];
  return gateArgs("serve", "--evidence-keys", "evidence-keys", "--public-url", PUBLIC_URL, ...level, ...flags);
}

/** The `_meta` of a request of 2026-07-28 with capabilities of the client. */
export function declaring(capabilities: Wire): Wire {
  return {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "wire", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": capabilities,
  };
}

/** The head of the run. */
export async function headOf(server: ServerProcess, { run }: WaitingWorld): Promise<Wire> {
  const { result } = await server.request("tools/call", {
    name: "scenario_status",
    arguments: run,
    _meta: declaring({}),
  });
  return (result as { structuredContent: { accepted_head: Wire } }).structuredContent.accepted_head;
}

/** An id of an operation. */
export function idOf(number: number): string {
  return number.toString(16).padStart(32, "0");
}
