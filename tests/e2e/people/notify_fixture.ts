/**
 * A receiver of webhooks, and a gate whose runs it hears of.
 *
 * @module
 */

import { join } from "node:path";
import { LEAST_POLICY } from "../../least_policy.ts";
import { initializeParams, type ServerProcess, startServer, type Wire } from "../client.ts";
import { callText, listening, send } from "../http_fixture.ts";
import { gateArgs, STORES } from "../gate_command.ts";

/** The secret of all tests. */
export const SECRET = `whsec_${btoa("canary-of-the-secret-7d21-of-notify")}`;
/** The value of evidence, which no event has. */
export const CANARY = 4_815_162_342;

/** A request as a receiver got it. */
export interface Received {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A receiver. */
export interface ReceiverServer {
  readonly url: string;
  readonly got: Received[];
  readonly close: () => Promise<void>;
}

/** Starts a receiver; a null answer is a connection that ends. */
export function receiver(
  answer: (request: Received) => Response | Promise<Response> = () => new Response(),
  port = 0,
  tls: { readonly cert: string; readonly key: string } | null = null,
): ReceiverServer {
  const got: Received[] = [];
  const server = Deno.serve(
    { hostname: "127.0.0.1", port, onListen: () => {}, ...tls ?? {} },
    async (request) => {
      const { pathname } = new URL(request.url);
      const received = { path: pathname, headers: Object.fromEntries(request.headers), body: await request.text() };
      got.push(received);
      return await answer(received);
    },
  );
  const url = `${tls === null ? "http" : "https"}://127.0.0.1:${server.addr.port}`;
  return { url, got, close: () => server.shutdown() };
}

const POLICY = { ...LEAST_POLICY, required_assurance: ["content_integrity", "scope"] };
const INTEGER = { domain: "Integer", minimum: 0 } as const;

/** First `checks` with a number, then `approval`, for which a person has to sign. */
export const SCENARIO = {
  spec_version: "dag-v3",
  namespace_id: 2,
  scenario_id: "notified",
  conditions: [{
    condition_id: "count",
    observation_domain: INTEGER,
    predicate: { predicate: "Equals", expected: { value: CANARY, value_type: "Integer" } },
    evidence_use_policy: POLICY,
  }, {
    condition_id: "approved",
    observation_domain: { domain: "Boolean" },
    predicate: { predicate: "Equals", expected: { value: true, value_type: "Boolean" } },
    evidence_use_policy: { ...POLICY, allowed_channels: ["accepted_submission"], authorization: "signature" },
  }],
  stages: [
    { stage_id: "checks", prerequisite: { kind: "root" }, completion_requirement: { Condition: "count" } },
    {
      stage_id: "approval",
      prerequisite: { kind: "requires", requirement: { Condition: "checks" } },
      completion_requirement: { Condition: "approved" },
    },
  ],
  completion_requirement: { Condition: "checks" },
} as const;

/** The same law, complete only with the approval. */
export const APPROVED = {
  ...SCENARIO,
  scenario_id: "approved",
  completion_requirement: { Condition: "approval" },
} as const;

interface Scenario {
  readonly scenario_id: string;
}

interface Head {
  readonly record_id: string;
  readonly revision: number;
}

/** A served gate. */
export interface Notifying extends AsyncDisposable {
  readonly process: ServerProcess;
  /** Starts a run and takes it up to the wait for a person, or to its end. Returns its id. */
  readonly drive: (scenario: Scenario) => Promise<string>;
  /** Ends it in order and returns what it logged. */
  readonly end: () => Promise<string>;
}

/** The environment of a gate with the secret. */
export const ENVIRONMENT = { NOTIFY_SECRET: SECRET };

/** Flags for a receiver. */
export function notifyFlags(url: string): string[] {
  return ["--notify", url, "--notify-secret", "env:NOTIFY_SECRET"];
}

let operations = 0;

/** Starts a gate over the file `gate.db` of a folder. */
export async function startNotifying(
  folder: string,
  flags: readonly string[],
  start: {
    readonly args?: readonly string[];
    readonly env?: Readonly<Record<string, string>>;
    readonly stores?: string;
  } = {},
): Promise<Notifying> {
  await Deno.writeTextFile(join(folder, "gate.toml"), start.stores ?? STORES);
  const args = start.args ?? gateArgs("serve", "--config", join(folder, "gate.toml"), ...flags);
  const process = startServer({ args, cwd: folder, env: { ...ENVIRONMENT, ...start.env } });
  await process.request("initialize", initializeParams());
  await process.send({ jsonrpc: "2.0", method: "notifications/initialized" });
  const call = async (name: string, input: unknown): Promise<Wire> => {
    const { result } = await process.request("tools/call", { name, arguments: input }) as { result?: Wire };
    return (result?.["structuredContent"] ?? {}) as Wire;
  };
  const end = async (): Promise<string> => {
    await process.closeInput();
    await process.ended();
    return process.errors();
  };
  return { process, drive: driver(call), end, [Symbol.asyncDispose]: () => process[Symbol.asyncDispose]() };
}

/** Starts a gate over HTTP, with its stores in the folder. */
export async function startServing(
  folder: string,
  flags: readonly string[],
  stores: string = STORES,
  environment: Readonly<Record<string, string>> = {},
): Promise<Notifying & { readonly url: string }> {
  const server = '[server]\ntransport = "http"\nbind = "127.0.0.1:0"\n';
  await Deno.writeTextFile(join(folder, "gate.toml"), server + stores);
  const args = gateArgs("serve", "--config", join(folder, "gate.toml"), ...flags);
  const process = startServer({ args, cwd: folder, env: { ...ENVIRONMENT, ...environment } });
  const { port } = await listening(process);
  const url = `http://127.0.0.1:${port}`;
  const call = async (name: string, input: unknown): Promise<Wire> => {
    const { text } = await send(`${url}/mcp`, callText(1, name, input));
    const { result } = JSON.parse(text) as { result?: Wire };
    return (result?.["structuredContent"] ?? {}) as Wire;
  };
  const end = async (): Promise<string> => {
    process.signal("SIGTERM");
    await process.ended();
    return process.errors();
  };
  return { url, process, drive: driver(call), end, [Symbol.asyncDispose]: () => process[Symbol.asyncDispose]() };
}

/** Drives runs by calls of tools. */
function driver(call: (name: string, input: unknown) => Promise<Wire>): Notifying["drive"] {
  const mutate = async (name: string, input: Wire): Promise<Wire> => {
    const answer = await call(name, input);
    const { outcome } = answer as { outcome?: { outcome: string; result: Wire } };
    if (outcome?.outcome !== "accepted") throw new Error(`Cannot drive the run: ${JSON.stringify(answer)}`);
    return outcome.result;
  };
  const nextId = (): string => String(++operations).padStart(32, "0");
  return async (scenario) => {
    const { scenario_id } = scenario;
    const { scenario_law_identity } = await call("scenario_define", { spec: scenario });
    const started = await mutate("scenario_start", {
      ...{ namespace_id: 2, scenario_id, scenario_law_identity, creation_request_id: nextId() },
      ...{ correlation: { kind: "unset" }, genesis: { kind: "empty" } },
    });
    const { run_id } = started["run_key"] as { run_id: string };
    let head = started["head"] as Head;
    const step = async (tool: string, own: Wire): Promise<void> => {
      const names = { namespace_id: 2, scenario_id, run_id, expected_head: head, operation_id: nextId() };
      head = (await mutate(tool, { ...names, ...own }))["accepted_head"] as Head;
    };
    const counted = (value: number): Wire => ({
      stage_id: "checks",
      caller_evidence: [{
        condition_id: "count",
        retention: { retention: "RetainCanonicalValue" },
        value: { value, value_type: "Integer" },
      }],
    });
    await step("scenario_open_stage", { stage_id: "checks" });
    await step("scenario_evaluate_stage", counted(1));
    await step("scenario_evaluate_stage", counted(CANARY));
    if (scenario_id === "approved") {
      await step("scenario_open_stage", { stage_id: "approval" });
      await step("scenario_evaluate_stage", { stage_id: "approval" });
    }
    return run_id;
  };
}

/** The types of the events of a run in the order that a receiver restores, without repetitions. */
export function restored(got: readonly Received[], runId: string): string {
  const events = got.map(({ body }) =>
    JSON.parse(body) as { type: string; data: { run_id: string; revision: number; event: number } }
  )
    .filter(({ data }) => data.run_id === runId)
    .sort((a, b) => a.data.revision - b.data.revision || a.data.event - b.data.event)
    .map(({ type, data }) => `${data.revision} ${type}`);
  return [...new Set(events)].join(", ");
}

/** The events of a run that {@link Notifying.drive} took to its end, and of one that waits for a person. */
export const EVENTS = {
  notified: "2 stage.opened, 3 stage.held, 4 stage.completed, 4 run.completed",
  approved:
    "2 stage.opened, 3 stage.held, 4 stage.completed, 5 stage.opened, 5 stage.waiting, 6 stage.held, 6 stage.waiting",
} as const;
