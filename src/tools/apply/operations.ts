/**
 * Makes the operations of a list: in order for each run, and committed together between two queries of providers. Each
 * gives the answer that it would give as a call of its own.
 */

import { isJsonObject, type JsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { timeSlices } from "../../evidence/cooperative_scheduler.ts";
import { answerText, textAnswer, toolError } from "../framework/errors.ts";
import { RESULT_BYTES, sentBytes } from "../framework/response_size.ts";
import type { AdmittedOperation, Call, CallAuditor, Tool, ToolAnswer } from "../framework/types.ts";
import type { MakeTool } from "../make_tool.ts";
import type { Services } from "../services/services.ts";
import { COMMIT_FIRST, type Current, stageRuns, type Staging } from "./staged_runs.ts";

/** One operation of a list. */
export interface Operation {
  readonly tool: string;
  readonly arguments: JsonObject;
}

/** The member of a reference: the index of an earlier operation. */
export const REFERENCE = "operation";

/** Where an operation may refer to an earlier one: paths into its arguments. */
export const REFERENCES: readonly (readonly [name: string, inside?: string])[] = [
  ["run_id"],
  ["expected_head"],
  ["scope", "stage_open_record_id"],
];

/** An operation that was made, or is not attempted. */
interface Done {
  /** Its result as JSON text. */
  readonly text: string;
  readonly bytes: number;
  /** The arguments with what they refer to. */
  readonly input: JsonObject;
  /** The operation that was refused: this one or an earlier one; null where this one is accepted. */
  readonly refusal: number | null;
  /** The answer to audit; null where nothing ran. */
  readonly answer: ToolAnswer | null;
}

/** How far an operation came. */
interface Begun extends Current {
  readonly admitted: AdmittedOperation;
  readonly call: Call;
}

interface State {
  readonly operations: readonly Operation[];
  readonly staging: Staging;
  readonly tool: (name: string) => Tool;
  readonly call: Call;
  readonly begun: Map<number, Begun>;
  readonly done: Map<number, Done>;
  /** The operations since the last commit. */
  readonly uncommitted: Set<number>;
}

/** Beginning of the JSON text of an accepted operation. */
const ACCEPTED = '{"outcome":{"outcome":"accepted",';

function notAttempted(reason: "earlier_refusal" | "answer_limit", operation?: number): string {
  return JSON.stringify({ not_attempted: { reason, ...operation === undefined ? {} : { operation } } });
}

/** Bytes that the answer keeps for each operation that has no result yet. */
const KEPT_BYTES = sentBytes(notAttempted("earlier_refusal", 255));

/** Makes the operations of a list. References were checked. */
export async function applyOperations(
  services: Services,
  makers: Readonly<Record<string, MakeTool>>,
  operations: readonly Operation[],
  call: Call,
): Promise<ToolAnswer> {
  using staging = stageRuns(services);
  const tools = new Map<string, Tool>();
  const state: State = {
    operations,
    staging,
    tool: (name) => {
      const tool = tools.get(name) ?? (makers[name] as MakeTool)(staging.services);
      tools.set(name, tool);
      return tool;
    },
    call,
    begun: new Map(),
    done: new Map(),
    uncommitted: new Set(),
  };
  const slice = timeSlices();
  for (let index: number | null = 0; index !== null;) {
    index = index < operations.length ? await advance(state, index) : await commit(state);
    await slice();
  }
  return textAnswer(`{"results":[${operations.map((_, index) => state.done.get(index)?.text).join(",")}]}`);
}

/** Makes an operation unless it is done; returns the next one. */
async function advance(state: State, index: number): Promise<number> {
  const { done, staging, operations } = state;
  if (done.has(index)) return index + 1;
  const { tool, arguments: given } = operations[index] as Operation;
  const input = filled(state, index, given);
  const refusal = refusalBefore(state, index, input);
  if (refusal !== null) {
    keep(state, index, { text: notAttempted("earlier_refusal", refusal), input, refusal, answer: null });
    return index + 1;
  }
  const begun = state.begun.get(index) ?? begin(await admit(state.call, tool, input), index);
  state.begun.set(index, begun);
  const { refused } = begun.admitted;
  if (refused !== null) {
    const text = JSON.stringify(refused);
    if (!fits(state, text)) return leaveOut(state, index, input);
    keep(state, index, { text, input, refusal: index, answer: null });
    return index + 1;
  }
  state.uncommitted.add(index);
  const hasQueried = staging.begin(begun);
  const answer = await made(state.tool(tool), input, begun.call);
  if (answer === null) return await commit(state) ?? index;
  const text = answerText(answer);
  if (!fits(state, text)) return leaveOut(state, index, input);
  keep(state, index, { text, input, refusal: text.startsWith(ACCEPTED) ? null : index, answer });
  return (hasQueried() ? await commit(state) : null) ?? index + 1;
}

/** The answer of an operation; null where it has to wait for a commit. */
async function made(tool: Tool, input: JsonObject, call: Call): Promise<ToolAnswer | null> {
  try {
    return await tool.handle(input, call);
  } catch (error) {
    if (error === COMMIT_FIRST) return null;
    throw error;
  }
}

function keep({ done }: State, index: number, one: Omit<Done, "bytes">): void {
  done.set(index, { ...one, bytes: sentBytes(one.text) });
}

/** Whether the whole answer stays within its limit with one more result. */
function fits({ done, operations }: State, text: string): boolean {
  const others = operations.length - done.size - 1;
  const known = done.values().reduce((bytes, one) => bytes + one.bytes, 0);
  return known + sentBytes(text) + others * KEPT_BYTES <= RESULT_BYTES;
}

/** Attempts neither an operation whose answer does not fit nor later ones; nothing of it is recorded. */
function leaveOut(state: State, from: number, input: JsonObject): number {
  state.staging.drop(from);
  const message = "Cannot answer: the answer of the list would be larger than an answer may be";
  const text = notAttempted("answer_limit");
  keep(state, from, {
    text,
    input,
    refusal: from,
    answer: { ok: false, error: toolError("response_too_large", message) },
  });
  const { operations, done } = state;
  for (let index = from + 1; index < operations.length; index++) {
    if (!done.has(index)) keep(state, index, { text, input: {}, refusal: from, answer: null });
  }
  return operations.length;
}

/** Commits and audits what is done; returns the first operation that has to be made again, null where none has. */
async function commit(state: State): Promise<number | null> {
  const { staging, uncommitted, done, begun } = state;
  const again = await staging.commit();
  const answered: Promise<void>[] = [];
  for (const index of [...uncommitted]) {
    const one = done.get(index);
    // A refusal is decided again too: it may follow from an operation that was not committed.
    const isFinal = !again.has(index) && (again.size === 0 || one?.refusal === null);
    if (one === undefined || !isFinal) continue;
    uncommitted.delete(index);
    if (one.answer !== null) answered.push(begun.get(index)?.admitted.answered(one.answer) ?? Promise.resolve());
  }
  await Promise.all(answered);
  if (again.size === 0) return null;
  for (const [index, { refusal }] of done) {
    const isRefused = refusal !== null && (uncommitted.has(index) || uncommitted.has(refusal));
    if (again.has(index) || isRefused) done.delete(index);
  }
  uncommitted.clear();
  return state.operations.findIndex((_, index) => !done.has(index));
}

async function admit(call: Call, tool: string, input: JsonObject): Promise<AdmittedOperation> {
  if (call.admitOperation !== undefined) return await call.admitOperation(tool, input);
  return { refused: null, call, answered: () => Promise.resolve() };
}

/** The line of a beginning is written while the operation is decided. It is awaited before a query and the commit. */
function begin(admitted: AdmittedOperation, index: number): Begun {
  const { auditor } = admitted.call;
  if (auditor === undefined) return { index, admitted, call: admitted.call, isLogged: () => Promise.resolve(true) };
  let written: Promise<boolean> | null = null;
  let isKnown = false;
  const deferred: CallAuditor = {
    decided: (decision) => {
      if (written === null) auditor.decided(decision);
    },
    acquired: auditor.acquired,
    begin: () => {
      isKnown = written !== null;
      if (written !== null) return written;
      written = auditor.begin();
      return Promise.resolve(true);
    },
  };
  return {
    index,
    admitted,
    call: { ...admitted.call, auditor: deferred },
    isLogged: async () => isKnown || written === null || await written,
  };
}

function runOf({ namespace_id, run_id }: JsonObject): string | null {
  return typeof namespace_id === "number" && typeof run_id === "string" ? `${namespace_id}/${run_id}` : null;
}

/** The refused operation that ends this one: of its run, or one that it refers to. */
function refusalBefore({ done, operations }: State, index: number, input: JsonObject): number | null {
  for (const at of referredBy((operations[index] as Operation).arguments)) {
    const refusal = done.get(at)?.refusal ?? null;
    if (refusal !== null) return refusal;
  }
  const run = runOf(input);
  if (run === null) return null;
  const ended = done.entries().find(([at, one]) => at < index && one.refusal !== null && runOf(one.input) === run);
  return ended?.[1].refusal ?? null;
}

/** What stands at a place of the arguments. */
export function argumentAt(input: JsonObject, [name, inside]: typeof REFERENCES[number]): JsonValue | undefined {
  const value = member(input, name);
  if (inside === undefined) return value;
  return isJsonObject(value) ? member(value, inside) : undefined;
}

/** The index in a reference; undefined for any other value. */
export function referenceIn(value: JsonValue | undefined): JsonValue | undefined {
  return isJsonObject(value) ? member(value, REFERENCE) : undefined;
}

function referredBy(input: JsonObject): number[] {
  return REFERENCES.flatMap((place) => referenceIn(argumentAt(input, place)) as number | undefined ?? []);
}

/** The arguments with what earlier operations came to in place of references to them. */
function filled({ done }: State, index: number, input: JsonObject): JsonObject {
  let whole = input;
  for (const place of REFERENCES) {
    const at = referenceIn(argumentAt(input, place)) as number | undefined;
    const earlier = at === undefined || at >= index ? undefined : done.get(at);
    if (earlier === undefined || earlier.refusal !== null) continue;
    const [name, inside] = place;
    const value = cameTo(earlier, inside ?? name);
    whole = { ...whole, [name]: inside === undefined ? value : { ...whole[name] as JsonObject, [inside]: value } };
  }
  return whole;
}

/** What an accepted operation came to. */
function cameTo({ input, answer }: Done, name: string): JsonValue {
  const { result } = (answer?.ok === true ? answer.result["outcome"] : {}) as { readonly result: JsonObject };
  switch (name) {
    case "run_id":
      return (result["run_key"] as JsonObject | undefined)?.["run_id"] ?? input["run_id"] ?? null;
    case "expected_head":
      return result["accepted_head"] ?? result["head"] ?? null;
    default:
      return result[name] ?? null;
  }
}
