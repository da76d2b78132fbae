/**
 * Cases of outcomes: the state before a call, the call, and its outcome. docs/guide/agent_playbook.md has the table of
 * outcomes.
 */

import assert from "node:assert/strict";
import type { JsonObject, JsonValue } from "../../canonical/json.ts";
import {
  type Bench,
  type BenchOptions,
  checkSteps,
  envelope,
  evidence,
  id,
  REMOTE,
  schemaRecord,
  stage,
  startRun,
  STORES,
  withTools,
} from "./tools_fixture.ts";

/** An identity that names no object. */
export const UNKNOWN_ID = "f".repeat(64);

/** The state of a case before its call. */
export interface Scene {
  readonly bench: Bench;
  readonly law: string;
  readonly run: { readonly namespace_id: number; readonly scenario_id: string; readonly run_id: string };
  readonly start: JsonObject;
  /** The current head. */
  head: JsonObject;
  /** Makes an accepted mutation at the current head, which moves on; gives its result. */
  readonly accept: (tool: string, operation: number, change: JsonObject) => Promise<JsonObject>;
}

/** A call with its outcome and its next steps. */
export interface Case {
  readonly tool: string;
  readonly outcome: string;
  readonly name?: string;
  readonly spec?: Readonly<Record<string, JsonValue>>;
  /** Registered as schema "report" version "1" beforehand. */
  readonly schema?: JsonObject;
  readonly options?: BenchOptions;
  /** The tools of the first next steps. */
  readonly next?: string;
  /** Members of the hint of the last one of these; null for one that is not there. */
  readonly hint?: JsonObject;
  readonly why?: RegExp;
  readonly input: (scene: Scene) => Promise<JsonObject> | JsonObject;
  readonly remote?: true;
  /** A part of the result. */
  readonly result?: JsonObject;
}

/** Defines the scenario and starts a run. */
export async function scene(bench: Bench, spec: Readonly<Record<string, JsonValue>>): Promise<Scene> {
  const started = await startRun(bench, spec);
  const at: Scene = {
    bench,
    ...started,
    accept: async (tool, operation, change) => {
      const answer = await bench.call(tool, {
        ...at.run,
        expected_head: at.head,
        operation_id: id(operation),
        ...change,
      });
      const { outcome, result } = envelope(answer);
      assert.equal(outcome, "accepted", JSON.stringify(answer));
      at.head = result["accepted_head"] as JsonObject;
      return result;
    },
  };
  return at;
}

/** Arguments of a mutation at the current head. */
export function at(scene: Scene, operation: number, change: JsonObject): JsonObject {
  return { ...scene.run, expected_head: scene.head, operation_id: id(operation), ...change };
}

/** The stage that is ready at first. */
export const BUILD = { stage_id: "build" };
/** A payload. */
export const JSON_PAYLOAD = { kind: "json", value: 1 };
/** A submission. */
export const SUBMIT = { content_type: "application/json", payload: JSON_PAYLOAD, scope: { kind: "run_wide" } };

/** Completes the run of {@link ONE_STAGE}. */
export async function complete(scene: Scene): Promise<void> {
  await scene.accept("scenario_open_stage", 101, BUILD);
  await scene.accept("scenario_evaluate_stage", 102, { ...BUILD, caller_evidence: [evidence("built", true)] });
}

/** A scenario that one stage completes. */
export const ONE_STAGE = { stages: [stage("build", "built")], completion_requirement: { Condition: "build" } };

/** Tests that cases reach exactly the outcomes of their tools, in the order given. */
export function testCoverage(cases: readonly Case[], outcomes: Readonly<Record<string, string>>): void {
  for (const [tool, names] of Object.entries(outcomes)) {
    Deno.test(`the cases reach every outcome of ${tool}`, () => {
      const reached = cases.filter((entry) => entry.tool === tool).map(({ outcome }) => outcome);
      assert.equal([...new Set(reached)].join(" "), names);
    });
  }
}

/** Declares the tests of cases, over every store. */
export function testCases(cases: readonly Case[]): void {
  for (const store of STORES) for (const entry of cases) testCase(entry, store);
}

function testCase(entry: Case, store: typeof STORES[number]): void {
  const name = entry.name === undefined ? "" : ` (${entry.name})`;
  Deno.test(`${entry.tool} ${entry.outcome}${name}, ${store}`, () =>
    withTools(async (bench) => {
      if (entry.schema !== undefined) {
        await bench.call("schemas_register", { record: schemaRecord({ schema: entry.schema }) });
      }
      const s = await scene(bench, entry.spec ?? {});
      const input = await entry.input(s);
      const before = await bench.call("scenario_status", s.run);
      const answer = await bench.call(entry.tool, input, ...(entry.remote === true ? [REMOTE] : []));
      const { outcome, result, next } = envelope(answer);
      assert.equal(outcome, entry.outcome, JSON.stringify(answer));
      for (const [member, value] of Object.entries(entry.result ?? {})) assert.deepEqual(result[member], value);
      if (outcome === "accepted") return;
      assert.deepEqual(await bench.call("scenario_status", s.run), before, "a refusal changes nothing");
      checkNext(entry, bench, next);
      if (outcome === "stale") assert.deepEqual(result, before["accepted_head"], "the current head and nothing else");
    }, { ...entry.options, store }));
}

/** Checks that a refusal has the expected next steps, with existing tools. */
function checkNext(entry: Case, bench: Bench, next: JsonValue): void {
  const tools = entry.next?.split(" ") ?? [];
  const steps = checkSteps(bench.tools, next);
  assert.deepEqual(steps.slice(0, tools.length).map(({ tool }) => tool), tools);
  const last = steps[tools.length - 1];
  const hint = last?.["arguments_hint"] as JsonObject | undefined;
  for (const [name, value] of Object.entries(entry.hint ?? {})) assert.deepEqual(hint?.[name] ?? null, value, name);
  if (entry.why !== undefined) assert.match(String(last?.["why"]), entry.why);
}
