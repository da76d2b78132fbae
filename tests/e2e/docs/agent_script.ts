/**
 * An agent without a model: it is given a goal and a server, and knows of the server what `tools/list`, the instructions and
 * the answers say. It starts with the first tool that the instructions name; after that it goes where `next`, or else the
 * description of the tool that it called, sends it.
 *
 * @module
 */

import type { JsonObject, JsonValue } from "@/canonical/json.ts";

/** What the agent is to get done, and what it knows of the world. */
export interface Goal {
  readonly spec: JsonObject;
  /** Schema records that it was handed with the spec. */
  readonly schemas?: readonly JsonObject[];
  /** The values of the law's parameters, for a law that has any. */
  readonly genesis?: JsonObject;
  /** What it has found out, by condition. */
  readonly facts: Readonly<Record<string, JsonValue>>;
  /** Asks the people whose signatures a run waits for; they sign by themselves. */
  readonly decide?: (run: string) => Promise<void>;
}

/** A tool as it is listed. */
export interface ListedTool {
  readonly name: string;
  readonly description?: string | undefined;
  readonly inputSchema: { readonly [name: string]: unknown };
}

/** A server as the agent sees it. */
export interface SeenServer {
  readonly instructions: string;
  readonly tools: readonly ListedTool[];
  /** Calls a tool; gives the structured result of success and failure alike. */
  readonly call: (name: string, input: JsonObject) => Promise<JsonObject>;
}

/** A call with its answer. */
export interface Turn {
  readonly tool: string;
  readonly input: JsonObject;
  readonly answer: JsonObject;
}

/** Calls after which the agent gives up. */
const PATIENCE = 60;

interface Agent {
  readonly server: SeenServer;
  readonly goal: Goal;
  /** The last value of every member that an answer had or a call was made with. */
  readonly memory: Map<string, JsonValue>;
  /** What would count, by condition, as the answers say. */
  readonly wanted: Map<string, JsonObject>;
  readonly schemas: JsonObject[];
  /** Stages that may not be opened, though they are ready. */
  readonly refused: Set<string>;
  readonly turns: Turn[];
}

/** Works until a run of the goal is complete. Gives every call that it took. */
export async function pursue(server: SeenServer, goal: Goal): Promise<readonly Turn[]> {
  const memory = new Map<string, JsonValue>([["spec", goal.spec]]);
  const agent: Agent = {
    server,
    goal,
    memory,
    wanted: new Map(),
    schemas: [...goal.schemas ?? []],
    refused: new Set(),
    turns: [],
  };
  for (const name of ["namespace_id", "scenario_id"]) memory.set(name, goal.spec[name] ?? null);
  if (goal.genesis !== undefined) memory.set("genesis", goal.genesis);
  let tool = firstTool(server);
  let hint: JsonObject = {};
  while (agent.turns.length < PATIENCE) {
    const input = await prepare(agent, tool, hint);
    const answer = await server.call(tool.name, input);
    agent.turns.push({ tool: tool.name, input, answer });
    remember(agent, input, answer);
    // People who approve may complete the run themselves.
    if (memory.get("run_status") === "complete" || memory.get("reason") === "run_complete") return agent.turns;
    const waits = waitsForPeople(agent, answer);
    if (waits !== null) await goal.decide?.(waits);
    ({ tool, hint } = nextCall(agent, tool, answer));
  }
  throw new Error(`Cannot complete the run; the last answer was ${JSON.stringify(agent.turns.at(-1))}`);
}

function toolNamed({ tools }: SeenServer, name: string): ListedTool {
  const found = tools.find((tool) => tool.name === name);
  if (found === undefined) throw new Error(`Cannot find tool ${name}, which the server names`);
  return found;
}

/** The first tool that the instructions name. */
function firstTool(server: SeenServer): ListedTool {
  const named = server.instructions.match(/\b[a-z]+(?:_[a-z]+)+\b/g) ?? [];
  const first = named.find((name) => server.tools.some((tool) => tool.name === name));
  if (first === undefined) throw new Error("The instructions name no tool");
  return toolNamed(server, first);
}

/** Where the answer sends the agent, or else the description of the tool. */
function nextCall(agent: Agent, tool: ListedTool, answer: JsonObject): { tool: ListedTool; hint: JsonObject } {
  for (const step of nextSteps(answer)) {
    const suggested = toolNamed(agent.server, String(step["tool"]));
    // Registering is done once for each record; what only shows something is for those who want to know more.
    if (takesRecord(suggested) && agent.schemas.length === 0) continue;
    if (!changes(suggested)) continue;
    // The very same call again is for those who have changed something in between.
    if (isRepeated(agent, suggested, step["arguments_hint"] as JsonObject)) continue;
    return { tool: suggested, hint: step["arguments_hint"] as JsonObject };
  }
  if (isHeld(answer)) return { tool, hint: {} };
  if (takesRecord(tool) && agent.schemas.length > 0) return { tool, hint: {} };
  const [described] = toolsAfter(agent.server, tool, /Next: (.*)/);
  if (!isAccepted(answer)) agent.refused.add(String(agent.memory.get("stage_id")));
  const opening = agent.server.tools.find(({ description }) =>
    /^Opens a stage of the ready frontier/.test(description ?? "")
  );
  const stage_id = readyStage(agent);
  const isOpened = tool === opening && isAccepted(answer);
  if (opening !== undefined && stage_id !== undefined && !isOpened) return { tool: opening, hint: { stage_id } };
  const [before] = toolsAfter(agent.server, tool, /before (.*)/);
  const found = described ?? before;
  if (found === undefined) throw new Error(`Nothing says what comes after ${tool.name}: ${JSON.stringify(answer)}`);
  return { tool: found, hint: {} };
}

/** Whether the last call was this very one. */
function isRepeated({ turns }: Agent, { name }: ListedTool, hint: JsonObject): boolean {
  const last = turns.at(-1);
  if (last?.tool !== name || Object.keys(hint).length === 0) return false;
  return Object.entries(hint).every(([member, value]) => JSON.stringify(last.input[member]) === JSON.stringify(value));
}

/** The tools that a description names after some words, in its order. */
function toolsAfter(server: SeenServer, { description }: ListedTool, words: RegExp): ListedTool[] {
  const text = words.exec(description ?? "")?.[1] ?? "";
  const names = text.match(/\b[a-z]+(?:_[a-z]+)+\b/g) ?? [];
  return names.flatMap((name) => server.tools.find((tool) => tool.name === name) ?? []);
}

/** A stage that may be opened; the last one first, so that the agent runs into what is refused. */
function readyStage({ memory, refused }: Agent): JsonValue | undefined {
  const ready = memory.get("ready_frontier");
  return Array.isArray(ready) ? ready.findLast((stage) => !refused.has(String(stage))) : undefined;
}

/** Whether a tool takes one of the records that the agent was handed. */
function takesRecord({ inputSchema }: ListedTool): boolean {
  return "record" in (inputSchema["properties"] as object);
}

/** Whether a tool does something, rather than only showing it. */
function changes({ inputSchema }: ListedTool): boolean {
  const properties = inputSchema["properties"] as Record<string, unknown>;
  return ["expected_head", "spec", "record", "creation_request_id"].some((name) => name in properties);
}

function isAccepted(answer: JsonObject): boolean {
  const outcome = answer["outcome"];
  if ("error" in answer) return false;
  return typeof outcome !== "object" || (outcome as JsonObject)["outcome"] === "accepted";
}

/** An attempt that did not complete its stage. */
function isHeld(answer: JsonObject): boolean {
  return /"completed":false/.test(JSON.stringify(answer)) && isAccepted(answer) && "outcome" in answer;
}

/** The run of an attempt that only signatures of people can complete; null for any other answer. */
function waitsForPeople({ memory, wanted }: Agent, answer: JsonObject): string | null {
  const ofStage = [...wanted.values()].filter(({ stage_id }) => stage_id === memory.get("stage_id"));
  const waits = ofStage.some(({ channels }) => JSON.stringify(channels) === '["accepted_submission"]');
  return isHeld(answer) && waits ? String(memory.get("run_id")) : null;
}

/** The steps that an answer suggests, wherever in it they stand. */
export function nextSteps(value: JsonValue): readonly JsonObject[] {
  if (typeof value !== "object" || value === null) return [];
  if (Array.isArray(value)) return value.flatMap(nextSteps);
  const { next, ...rest } = value as Record<string, JsonValue>;
  const own = Array.isArray(next)
    ? next.filter((step) => typeof step === "object" && step !== null && "tool" in step)
    : [];
  return [...own as JsonObject[], ...Object.values(rest).flatMap(nextSteps)];
}

/** Keeps what an answer says: every member by its name, the head that comes next, and which evidence would count. */
function remember({ memory, wanted }: Agent, input: JsonObject, answer: JsonObject): void {
  const keep = (value: JsonValue): void => {
    if (typeof value !== "object" || value === null) return;
    if (Array.isArray(value)) return value.forEach(keep);
    const object = value as JsonObject;
    if ("sets" in object && Array.isArray(object["evidence"])) {
      for (const one of object["evidence"] as JsonObject[]) {
        wanted.set(String(one["condition_id"]), { ...one, stage_id: object["stage_id"] ?? null });
      }
    }
    for (const [name, inner] of Object.entries(object)) {
      if (name === "next" || name === "spec" || name === "stages" || name === "recent_attempts") continue;
      memory.set(name, inner);
      // The schemas say: expected_head is the accepted_head of the last answer; the first one is the head of the start.
      if (name === "accepted_head" || name === "head") memory.set("expected_head", inner);
      keep(inner);
    }
  };
  keep(input);
  keep(answer);
  for (const name of ["operation_id", "request_id", "caller_evidence", "local_acquisition"]) memory.delete(name);
}

const PLACEHOLDER = /^<.*fresh.*>$/;

/** The arguments of a call: the hint, then what is remembered, then what the schema itself says. */
async function prepare(agent: Agent, tool: ListedTool, hint: JsonObject): Promise<JsonObject> {
  const schema = tool.inputSchema as { properties: Record<string, JsonObject>; required?: string[] };
  const { properties } = schema;
  // A tool that takes a law takes it as `spec` or as `law_text`, so that it requires neither.
  const required = [...schema.required ?? [], ..."law_text" in properties ? ["spec"] : []];
  const input: Record<string, JsonValue> = {};
  for (const [name, member] of Object.entries(properties)) {
    const hinted = hint[name];
    if (typeof hinted === "string" && PLACEHOLDER.test(hinted)) input[name] = randomId();
    else if (hinted !== undefined) input[name] = hinted;
    else if (name === "caller_evidence") input[name] = await evidence(agent, hint);
    else if (required.includes(name)) input[name] = argument(agent, name, member);
  }
  return input;
}

/** Of several alternatives the one that needs nothing but its kind: `{kind: unset} | {kind: set, correlation_id}`. */
const SIMPLEST = /\{kind: (\w+)\}/;

function argument(agent: Agent, name: string, schema: JsonObject): JsonValue {
  if (name === "record") return agent.schemas.shift() ?? {};
  const remembered = agent.memory.get(name);
  if (remembered !== undefined) return remembered;
  if (schema["pattern"] === "^[0-9a-f]{32}$") return randomId();
  const simplest = SIMPLEST.exec(String(schema["description"]))?.[1];
  if (simplest !== undefined) return { kind: simplest };
  throw new Error(`Nothing says what ${name} is`);
}

function randomId(): string {
  return crypto.randomUUID().replaceAll("-", "");
}

/** Evidence for every condition that an answer described and a fact is known of. */
function evidence(agent: Agent, hint: JsonObject): JsonValue {
  const items: JsonValue[] = [];
  const stage = hint["stage_id"] ?? agent.memory.get("stage_id");
  for (const [condition_id, { stage_id, channels, domain, retention }] of agent.wanted) {
    if (stage_id !== stage) continue;
    const value = agent.goal.facts[condition_id];
    if (value === undefined || !(channels as string[]).includes("caller_submission")) continue;
    const typed = { value, value_type: (domain as JsonObject)["domain"] ?? "" };
    items.push({ condition_id, retention: { retention: retention ?? "" }, value: typed });
  }
  return items;
}
