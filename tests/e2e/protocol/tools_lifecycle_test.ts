/** A run from law to receipt through `gate serve` on SQLite, driven by the official clients of both generations. */

import assert from "node:assert/strict";
import { Client as ClientTwo } from "@modelcontextprotocol/client";
import { StdioClientTransport as TransportTwo } from "@modelcontextprotocol/client/stdio";
import type { JsonObject, JsonValue } from "@/canonical/json.ts";
import { evidence, id, schemaRecord, spec } from "@/tools/tests/tools_fixture.ts";
import { assertPublished } from "../../answers.ts";
import { ClientOne, StdioOne as TransportOne } from "./first_sdk.ts";
import { gateArgs, inFolder, processOf, STORES } from "../gate_command.ts";

/** What a tool answered: its structured result, and whether that is an error. */
interface Answer {
  readonly value: JsonObject;
  readonly isError: boolean;
}

interface Peer {
  readonly call: (name: string, input: JsonObject) => Promise<Answer>;
  /** The text of a resource. */
  readonly read: (uri: string) => Promise<string>;
  readonly close: () => Promise<void>;
}

/** Starts a server in a folder and connects to it. */
type Connect = (folder: string) => Promise<Peer>;

interface CallResult {
  readonly content: readonly { readonly text: string }[];
  readonly structuredContent: JsonObject;
  readonly isError?: boolean;
}

const INFO = { name: "suite", version: "1" };

function command(folder: string): { command: string; args: string[]; cwd: string; stderr: "ignore" } {
  const { command, args } = processOf(gateArgs("serve", "--config", `${folder}/gate.toml`));
  return { command, args: [...args], cwd: folder, stderr: "ignore" };
}

function textOf({ contents }: { readonly contents: readonly object[] }): string {
  return (contents as readonly { readonly text: string }[])[0]?.text ?? "";
}

/** The result of a call, of which text and structure are the same JSON. */
async function read(name: string, result: unknown): Promise<Answer> {
  const { content, structuredContent, isError } = result as CallResult;
  assert.deepEqual(JSON.parse(content[0]?.text ?? ""), structuredContent);
  await assertPublished(name, structuredContent);
  return { value: structuredContent, isError: isError === true };
}

const CLIENTS: Readonly<Record<string, Connect>> = {
  "client 2.x": async (folder) => {
    const client = new ClientTwo(INFO, { versionNegotiation: { mode: "auto" } });
    await client.connect(new TransportTwo(command(folder)));
    await client.listTools();
    return {
      call: async (name, input) =>
        await read(name, await client.callTool({ name, arguments: input as Record<string, unknown> })),
      read: async (uri) => textOf(await client.readResource({ uri })),
      close: () => client.close(),
    };
  },
  "client 1.x": async (folder) => {
    const client = new ClientOne(INFO);
    await client.connect(new TransportOne(command(folder)));
    // This generation checks results against the output schemas that it listed, those of errors too.
    await client.listTools();
    return {
      call: async (name, input) =>
        await read(name, await client.callTool({ name, arguments: input as Record<string, unknown> })),
      read: async (uri) => textOf(await client.readResource({ uri })),
      close: () => client.close(),
    };
  },
};

/** Calls a tool that answers with an outcome; gives its result. */
async function outcome(peer: Peer, name: string, input: JsonObject, expected = "accepted"): Promise<JsonObject> {
  const { value } = await peer.call(name, input);
  const envelope = value["outcome"] as JsonObject;
  assert.equal(envelope["outcome"], expected, JSON.stringify(value));
  return envelope["result"] as JsonObject;
}

/** Carries a run of the scenario to its end; gives its arguments and the retried answers. */
async function carry(
  peer: Peer,
): Promise<{ readonly run: JsonObject; readonly open: JsonObject; readonly opened: JsonObject }> {
  const { value: law } = await peer.call("scenario_define", { spec: spec() });
  const started = await outcome(peer, "scenario_start", {
    namespace_id: 2,
    scenario_id: "release",
    scenario_law_identity: law["scenario_law_identity"] ?? "",
    creation_request_id: id(1),
    correlation: { kind: "unset" },
    genesis: { kind: "empty" },
  });
  const run_id = (started["run_key"] as JsonObject)["run_id"] ?? "";
  const run = { namespace_id: 2, scenario_id: "release", run_id };
  const open = { ...run, stage_id: "build", expected_head: started["head"] ?? null, operation_id: id(1) };
  const opened = await outcome(peer, "scenario_open_stage", open);
  let head = opened["accepted_head"] ?? null;
  const mutate = async (name: string, operation: number, change: JsonObject): Promise<JsonObject> => {
    const result = await outcome(peer, name, { ...run, expected_head: head, operation_id: id(operation), ...change });
    head = result["accepted_head"] ?? null;
    return result;
  };
  const stale = await outcome(peer, "scenario_open_stage", { ...open, operation_id: id(2) }, "stale");
  assert.deepEqual(stale, head);
  await mutate("scenario_submit", 3, {
    content_type: "application/json",
    payload: { kind: "json", value: JSON.parse('{"__proto__":{"polluted":true}}') as JsonValue },
    scope: { kind: "run_wide" },
  });
  await mutate("scenario_evaluate_stage", 4, { stage_id: "build", caller_evidence: [evidence("built", true)] });
  await mutate("scenario_open_stage", 5, { stage_id: "deploy" });
  const last = await mutate("scenario_evaluate_stage", 6, {
    stage_id: "deploy",
    caller_evidence: [evidence("deployed", true)],
  });
  assert.equal(last["run_status"], "complete");
  return { run, open, opened };
}

for (const [name, connect] of Object.entries(CLIENTS)) {
  Deno.test(`a run from law to receipt, and past a restart (${name})`, () =>
    inFolder(async (folder) => {
      await Deno.writeTextFile(`${folder}/gate.toml`, STORES);
      let peer = await connect(folder);
      const { run, open, opened } = await carry(peer);
      const before = await peer.call("scenario_status", run);
      await peer.close();

      peer = await connect(folder);
      try {
        assert.deepEqual(await peer.call("scenario_status", run), before);
        const uri = `gate://runs/2/${String(run["run_id"])}`;
        const shown = await peer.call("scenario_status", { ...run, include: ["parameters", "waiting"] });
        assert.deepEqual(JSON.parse(await peer.read(uri)), shown.value);
        for (const other of [`gate://runs/3/${String(run["run_id"])}`, `gate://runs/2/${id(9)}`]) {
          await assert.rejects(peer.read(other), /Unknown resource/, other);
        }
        assert.deepEqual(await outcome(peer, "scenario_open_stage", open), opened, "the original answer");
        const resolved = await outcome(peer, "scenario_resolve_mutation", {
          namespace_id: 2,
          run_id: run["run_id"] ?? "",
          operation_id: { family: "open_stage", identity: id(1) },
          invocation_identity: opened["invocation_identity"] ?? "",
        });
        assert.deepEqual(resolved, opened);
        const { value: history } = await peer.call("scenario_history", run);
        assert.equal((history["records"] as readonly JsonValue[]).length, 6);
      } finally {
        await peer.close();
      }
    }));

  Deno.test(`errors and schemas meet what is published (${name})`, () =>
    inFolder(async (folder) => {
      await Deno.writeTextFile(`${folder}/gate.toml`, STORES);
      const peer = await connect(folder);
      try {
        const record = schemaRecord();
        assert.deepEqual((await peer.call("schemas_register", { record })).value, { record });
        const again = await peer.call("schemas_register", { record });
        assert.equal(again.isError, true);
        assert.equal((again.value["error"] as JsonObject)["code"], "schema_exists");
        const closed = await peer.call("scenario_define", { spec: spec({ namespace_id: 1 }) });
        assert.match((closed.value["error"] as JsonObject)["message"] as string, /namespace\.allow_default/);
        const hostile = await peer.call("schemas_register", {
          record: schemaRecord({ version: "2", schema: { pattern: "(" } }),
        });
        assert.equal((hostile.value["error"] as JsonObject)["code"], "invalid_schema");
        const listed = await peer.call("schemas_list", { namespace_id: 2 });
        assert.deepEqual(listed.value, { items: [record], next_token: null });
      } finally {
        await peer.close();
      }
    }));
}
