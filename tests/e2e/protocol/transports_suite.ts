/**
 * The behaviour that every transport owes: a fixed conversation that carries a run from law to runpack, with refusals
 * and faults in between. The answers must be the same over every transport.
 *
 * @module
 */

import { evidence, id, schemaRecord, spec } from "@/tools/tests/tools_fixture.ts";
import { APP_TYPE, APPS_EXTENSION } from "@/server/protocol/offer.ts";
import { envelope, initializeParams, type Wire } from "../client.ts";
import type { Conversation } from "./transports_wire.ts";

/** The two ways to speak. */
export type SuiteEra = "legacy" | "modern";

/** Holds the conversation; gives every answer, with what differs from one run to the next replaced. */
export async function converse(conversation: Conversation, era: SuiteEra): Promise<readonly unknown[]> {
  const answers: Wire[] = [];
  const ask = async (method: string, params: Wire = {}): Promise<Wire> => {
    const meta = era === "modern" ? { _meta: envelope() } : {};
    const answer = await conversation.ask(method, { ...params, ...meta });
    answers.push(answer);
    return answer;
  };
  const call = async (name: string, input: unknown): Promise<Wire> => {
    const answer = await ask("tools/call", { name, arguments: input });
    return ((answer["result"] as Wire | undefined)?.["structuredContent"] ?? {}) as Wire;
  };
  // Over HTTP a client of the older era says in another request what it shows, so the list of tools names views for each one.
  const shows = { extensions: { [APPS_EXTENSION]: { mimeTypes: [APP_TYPE] } } };
  if (era === "legacy") await ask("initialize", { ...initializeParams(), capabilities: shows });
  else await ask("server/discover");
  await ask("tools/list");
  await schemas(call);
  await carryRun(call);
  await faults(ask, call);
  answers.push(await conversation.askText("{", null));
  answers.push(
    await conversation.askText('{"jsonrpc":"2.0","id":900,"method":"tools/list","params":{"a":1,"a":2}}', 900),
  );
  answers.push(
    await conversation.askText('{"jsonrpc":"2.0","id":901,"method":"tools/list","params":{"a":1e400}}', 901),
  );
  answers.push(await conversation.askText('[{"jsonrpc":"2.0","id":902,"method":"ping"}]', null));
  return settle(answers);
}

type CallTool = (name: string, input: unknown) => Promise<Wire>;

async function schemas(call: CallTool): Promise<void> {
  await call("schemas_register", { record: schemaRecord() });
  await call("schemas_register", { record: schemaRecord() });
  await call("schemas_register", { record: schemaRecord({ version: "2", schema: { pattern: "(" } }) });
  await call("schemas_list", { namespace_id: 2 });
  await call("schemas_get", { namespace_id: 2, schema_id: "nothing", version: "1" });
}

async function carryRun(call: CallTool): Promise<void> {
  const law = await call("scenario_define", { spec: spec() });
  await call("scenario_define", { spec: spec() });
  await call("scenario_define", { spec: spec({ stages: [] }) });
  await call("scenario_define", { spec: spec({ namespace_id: 1 }) });
  const start = {
    namespace_id: 2,
    scenario_id: "release",
    scenario_law_identity: law["scenario_law_identity"],
    creation_request_id: id(1),
    correlation: { kind: "unset" },
    genesis: { kind: "empty" },
  };
  const started = result(await call("scenario_start", start));
  await call("scenario_start", start);
  const run = { namespace_id: 2, scenario_id: "release", run_id: (started["run_key"] as Wire | undefined)?.["run_id"] };
  let head = started["head"];
  const mutate = async (name: string, operation: number, change: Wire): Promise<Wire> => {
    const answer = await call(name, { ...run, expected_head: head, operation_id: id(operation), ...change });
    head = result(answer)["accepted_head"] ?? head;
    return result(answer);
  };
  const first = head;
  const opened = await mutate("scenario_open_stage", 1, { stage_id: "build" });
  await call("scenario_open_stage", { ...run, expected_head: first, operation_id: id(1), stage_id: "build" });
  await call("scenario_open_stage", { ...run, expected_head: first, operation_id: id(2), stage_id: "build" });
  await mutate("scenario_open_stage", 2, { stage_id: "build" });
  await mutate("scenario_open_stage", 2, { stage_id: "deploy" });
  await mutate("scenario_submit", 3, {
    content_type: "application/json",
    payload: { kind: "json", value: JSON.parse('{"__proto__":{"polluted":true},"é":[0.1,1e21,"\\u2028"]}') },
    scope: { kind: "run_wide" },
  });
  await mutate("scenario_evaluate_stage", 4, { stage_id: "build", caller_evidence: [evidence("built", "no boolean")] });
  await mutate("scenario_evaluate_stage", 4, { stage_id: "build", caller_evidence: [evidence("built", true)] });
  await call("scenario_status", { ...run, include: ["missing"] });
  await mutate("scenario_open_stage", 5, { stage_id: "deploy" });
  await mutate("scenario_evaluate_stage", 6, { stage_id: "deploy", caller_evidence: [evidence("deployed", true)] });
  await call("scenario_status", run);
  await call("scenario_history", run);
  const asked = { namespace_id: 2, run_id: run.run_id, operation_id: { family: "open_stage", identity: id(1) } };
  await call("scenario_resolve_mutation", { ...asked, invocation_identity: opened["invocation_identity"] });
  await call("scenario_resolve_mutation", { ...asked, invocation_identity: "0".repeat(64) });
  const published = await call("runpack_export", { namespace_id: 2, run_id: run.run_id });
  const { runpack_identity, outcome } = (published["publication"] ?? {}) as Wire;
  if (outcome !== "published") throw new Error(`Cannot publish: ${JSON.stringify(published)}`);
  await call("runpack_verify", { runpack_identity, profile: "full_replay_v1" });
}

async function faults(ask: (method: string, params?: Wire) => Promise<Wire>, call: CallTool): Promise<void> {
  await call("scenario_status", { namespace_id: 2, scenario_id: "release", run_id: "0".repeat(32) });
  await call("scenario_status", { namespace_id: 2, nothing: true });
  await call("no_such_tool", {});
  await call("__proto__", {});
  await ask("tools/call", { name: "scenario_status", arguments: [] });
  await ask("tools/call", { arguments: {} });
  await ask("tools/list", { cursor: "a" });
  await ask("no/such/method");
}

function result(answer: Wire): Wire {
  return ((answer["outcome"] as Wire | undefined)?.["result"] ?? {}) as Wire;
}

/**
 * Replaces what no two runs share: identities and times, each by its kind and the order in which it is first seen, so
 * that the same one is the same everywhere; and the name of the caller, which the transport decides, with
 * the bytes that it takes.
 */
export function settle(answers: readonly Wire[]): readonly unknown[] {
  const seen = new Map<string, string>();
  const replaced = JSON.stringify(answers)
    .replaceAll(/gate-[0-9a-f]{8}-[0-9a-f]{4}-\d+|gate-[0-9a-f]{16}-[0-9a-f]{16}/g, "<correlation>")
    .replaceAll(/\b(?:[0-9a-f]{64}|[0-9a-f]{32})\b/g, (identity) => {
      if (/^0+[0-9]{0,3}$/.test(identity)) return identity;
      const name = seen.get(identity) ?? `<${identity.length === 64 ? "identity" : "id"} ${seen.size}>`;
      seen.set(identity, name);
      return name;
    })
    .replaceAll(/\b1[0-9]{12}\b/g, "1000000000000")
    .replaceAll(/((?:bytes_read|canonical_work_bytes)\\?":)[0-9]+/g, (_, name: string) => `${name}0`)
    .replaceAll(/(\\?")(?:stdio|loopback)\\?"/g, "$1caller$1");
  return JSON.parse(replaced) as unknown[];
}
