/** `scenario_next` asks a person through the client, in both eras, with the official clients. */

import assert from "node:assert/strict";
import { Client as ClientTwo } from "@modelcontextprotocol/client";
import { StdioClientTransport as TransportTwo } from "@modelcontextprotocol/client/stdio";
import { type ServerProcess, startServer, type Wire } from "../client.ts";
import { join } from "node:path";
import { ClientOne, ElicitRequestSchema, SseOne, StdioOne } from "../protocol/first_sdk.ts";
import { processOf, STORES } from "../gate_command.ts";
import { type Answer, listening, message, modernHeaders, send } from "../http_fixture.ts";
import {
  askingServer,
  declaring,
  headOf,
  idOf,
  PUBLIC_URL,
  type WaitingWorld,
  withWaitingRun,
} from "./waiting_world.ts";

const PAGES = { elicitation: { url: {} } };

/** The parts of a result that these tests read. */
interface Shown extends Wire {
  readonly resultType?: string;
  readonly content?: readonly { readonly text: string }[];
  readonly structuredContent?: {
    readonly outcome?: { readonly outcome: string; readonly result: Wire };
    readonly error?: { readonly code: string };
  };
  readonly inputRequests?: { readonly approve?: { readonly method?: string; readonly params?: Wire } };
  readonly requestState?: string;
}

interface Ask {
  readonly server: ServerProcess;
  readonly input: Wire;
}

async function next({ server, input }: Ask, capabilities: Wire, own: Wire = {}): Promise<Wire> {
  const params = { name: "scenario_next", arguments: input, _meta: declaring(capabilities), ...own };
  return await server.request("tools/call", params);
}

async function shown(ask: Ask, capabilities: Wire, own: Wire = {}): Promise<Shown> {
  const { result, error } = await next(ask, capabilities, own);
  assert.equal(error, undefined, JSON.stringify(error));
  return result as Shown;
}

async function inputOf(server: ServerProcess, world: WaitingWorld, number: number): Promise<Wire> {
  return { ...world.run, request_id: idOf(number), expected_head: await headOf(server, world), ask: true };
}

/** The capabilities of a client, and whether its user is asked. */
const CLIENTS: readonly (readonly [capabilities: Wire, isAsked: boolean])[] = [
  [PAGES, true],
  [{ elicitation: { form: {}, url: {} } }, true],
  [{ elicitation: { form: {} } }, false],
  [{ elicitation: {} }, false],
  [{ sampling: {} }, false],
  [{}, false],
];

Deno.test("scenario_next with ask asks first and records nothing; a client that shows no pages gets a plain answer", () =>
  withWaitingRun(async (world) => {
    await using server = startServer({ args: askingServer(), cwd: world.folder });
    for (const [index, [capabilities, isAsked]] of CLIENTS.entries()) {
      const head = await headOf(server, world);
      const input = await inputOf(server, world, index + 1);
      const result = await shown({ server, input }, capabilities);
      const what = JSON.stringify(capabilities);
      assert.equal(result.resultType, isAsked ? "input_required" : "complete", what);
      if (!isAsked) {
        assert.match(result.content?.[1]?.text ?? "", new RegExp(`gate approve ${world.run.run_id} release$`), what);
        continue;
      }
      assert.deepEqual(await headOf(server, world), head, "nothing was recorded");
      const { method, params = {} } = result.inputRequests?.approve ?? {};
      assert.deepEqual([method, params["mode"]], ["elicitation/create", "url"]);
      assert.equal(params["url"], `${PUBLIC_URL}/console#/run/2/release/${world.run.run_id}/release`);
      assert.match(String(params["message"]), /^Stage release waits for signed statements on approved \(0 of 1\)\./);
    }
    const { ask: _, ...plain } = await inputOf(server, world, 90);
    const result = await shown({ server, input: plain }, PAGES);
    assert.deepEqual([result.resultType, result.content?.length], ["complete", 1], "without ask nothing is asked");
  }));

const ACCEPTED = { approve: { action: "accept" } };

/** What a client sends in the second round, and what follows. */
const ROUNDS: readonly (readonly [what: string, change: (asked: Round) => Round, outcome: string])[] = [
  ["the response and the state", (round) => round, "accepted"],
  ["further responses", (round) => ({ ...round, responses: { ...ACCEPTED, other: { action: "accept" } } }), "accepted"],
  ["no response", ({ input, state }) => ({ input, state, responses: {} }), "asked"],
  ["another response", ({ input, state }) => ({ input, state, responses: { other: {} } }), "asked"],
  ["a response without the state", ({ input, responses }) => ({ input, responses }), "asked"],
  ["a refusal", (round) => ({ ...round, responses: { approve: { action: "decline" } } }), "ask_declined"],
  ["a dialog that was closed", (round) => ({ ...round, responses: { approve: { action: "cancel" } } }), "ask_declined"],
  ["a response that is none", (round) => ({ ...round, responses: { approve: 1 } as unknown as Wire }), "-32602"],
  ["another operation", (round) => ({ ...round, input: { ...round.input, request_id: idOf(200) } }), "-32602"],
  ["another stage", (round) => ({ ...round, input: { ...round.input, stage_id: "release" } }), "-32602"],
  ["another head", (round) => ({ ...round, input: { ...round.input, expected_head: OTHER_HEAD } }), "-32602"],
  ["a forged state", (round) => ({ ...round, state: forged(round.state) }), "-32602"],
  [
    "a state without its signature",
    (round) => ({ ...round, state: (round.state ?? "").split(".")[0] ?? "" }),
    "-32602",
  ],
  ["an empty state", (round) => ({ ...round, state: "" }), "-32602"],
];

interface Round {
  readonly input: Wire;
  readonly state?: string | undefined;
  readonly responses: Wire;
}

const OTHER_HEAD = { record_id: "0".repeat(64), revision: 1 };

function forged(state = ""): string {
  return `${state.slice(0, -1)}${state.endsWith("A") ? "B" : "A"}`;
}

async function outcomeOf(server: ServerProcess, { input, state, responses }: Round): Promise<string> {
  const own = { inputResponses: responses, ...state === undefined ? {} : { requestState: state } };
  const { result, error } = await next({ server, input }, PAGES, own) as { result?: Shown; error?: { code: number } };
  if (error !== undefined) return String(error.code);
  if (result?.resultType === "input_required") return "asked";
  return result?.structuredContent?.error?.code ?? result?.structuredContent?.outcome?.outcome ?? "";
}

Deno.test("the second round takes the step with the state of its own call alone", () =>
  withWaitingRun(async (world) => {
    await using server = startServer({ args: askingServer(), cwd: world.folder });
    for (const [index, [what, change, outcome]] of ROUNDS.entries()) {
      const input = await inputOf(server, world, index + 1);
      const { requestState = "" } = await shown({ server, input }, PAGES);
      const head = await headOf(server, world);
      const round = change({ input, state: requestState, responses: ACCEPTED });
      assert.equal(await outcomeOf(server, round), outcome, what);
      if (outcome !== "accepted") assert.deepEqual(await headOf(server, world), head, `${what}: nothing was recorded`);
    }
    // Replayed: a recorded step gives its first answer, and nothing moves.
    const input = { ...await inputOf(server, world, 100), stage_id: "release" };
    const { requestState = "" } = await shown({ server, input }, PAGES);
    const own = { inputResponses: ACCEPTED, requestState };
    const first = await shown({ server, input }, PAGES, own);
    const head = await headOf(server, world);
    const again = await shown({ server, input }, PAGES, own);
    assert.deepEqual(again.structuredContent, first.structuredContent);
    assert.deepEqual(await headOf(server, world), head);
    // The state of one process is nothing to another, without keys that both have.
    const other = { ...await inputOf(server, world, 101) };
    const { requestState: foreign = "" } = await shown({ server, input: other }, PAGES);
    await using second = startServer({ args: askingServer(), cwd: world.folder });
    assert.equal(await outcomeOf(second, { input: other, state: foreign, responses: ACCEPTED }), "-32602");
  }));

Deno.test("after a person signed, the second round names the head to go on from", () =>
  withWaitingRun(async (world) => {
    await using server = startServer({ args: askingServer(), cwd: world.folder });
    const input = await inputOf(server, world, 1);
    const { requestState = "" } = await shown({ server, input }, PAGES);
    assert.equal((await world.approve("alice")).code, 0);
    const own = { inputResponses: ACCEPTED, requestState };
    const { structuredContent } = await shown({ server, input }, PAGES, own);
    assert.equal(structuredContent?.outcome?.outcome, "stale");
    const head = await headOf(server, world);
    assert.deepEqual(structuredContent?.outcome?.result, head);
    const { inputRequests } = await shown({ server, input: await inputOf(server, world, 2) }, PAGES);
    assert.match(String(inputRequests?.approve?.params?.["message"]), /approved \(1 of 2: \S+ signed\)/);
    assert.equal((await world.approve("bob")).code, 0);
    const last = await shown({ server, input: await inputOf(server, world, 3) }, PAGES);
    assert.equal(last.structuredContent?.outcome?.outcome, "run_complete", "nothing waits, so no one is asked");
  }, 2));

interface Peer {
  readonly callTool: (name: string, input: Wire) => Promise<unknown>;
  readonly close: () => Promise<void>;
}

type Connect = (folder: string, asked: (params: Wire) => "accept" | "decline") => Promise<Peer>;

const INFO = { name: "suite", version: "1" };

function commandIn(folder: string): { command: string; args: string[]; cwd: string; stderr: "ignore" } {
  const { command, args } = processOf(askingServer());
  return { command, args: [...args], cwd: folder, stderr: "ignore" };
}

function connectTwo(mode: "auto" | "legacy"): Connect {
  return async (folder, asked) => {
    const client = new ClientTwo(INFO, { versionNegotiation: { mode }, capabilities: PAGES });
    client.setRequestHandler("elicitation/create", ({ params }) => ({ action: asked(params as unknown as Wire) }));
    await client.connect(new TransportTwo(commandIn(folder)));
    return { callTool: (name, input) => client.callTool({ name, arguments: input }), close: () => client.close() };
  };
}

const connectOne: Connect = async (folder, asked) => {
  const client = new ClientOne(INFO, { capabilities: PAGES });
  client.setRequestHandler(
    ElicitRequestSchema,
    ({ params }: { params: unknown }) => ({ action: asked(params as Wire) }),
  );
  await client.connect(new StdioOne(commandIn(folder)));
  return { callTool: (name, input) => client.callTool({ name, arguments: input }), close: () => client.close() };
};

const PEERS: Readonly<Record<string, Connect>> = {
  "2.x, 2026-07-28": connectTwo("auto"),
  "2.x, initialize": connectTwo("legacy"),
  "1.x": connectOne,
};

Deno.test("the official clients show the page to their users, and the step follows", () =>
  withWaitingRun(async (world) => {
    let number = 0;
    for (const [name, connect] of Object.entries(PEERS)) {
      for (const [action, outcome] of [["accept", "accepted"], ["decline", "ask_declined"]] as const) {
        const questions: Wire[] = [];
        const peer = await connect(world.folder, (params) => {
          questions.push(params);
          return action;
        });
        try {
          const status = await peer.callTool("scenario_status", world.run) as Shown & { structuredContent: Wire };
          const expected_head = status.structuredContent["accepted_head"];
          const input = { ...world.run, request_id: idOf(++number), expected_head, ask: true };
          const { structuredContent } = await peer.callTool("scenario_next", input) as Shown;
          const seen = structuredContent?.error?.code ?? structuredContent?.outcome?.outcome;
          assert.deepEqual([questions.length, seen], [1, outcome], `${name}, ${action}`);
          assert.equal(questions[0]?.["url"], `${PUBLIC_URL}/console#/run/2/release/${world.run.run_id}/release`, name);
        } finally {
          await peer.close();
        }
      }
    }
  }));

/** Names by which a caller reaches the server, and the status of its question. The operator allowed `other.test`. */
const NAMES: readonly (readonly [headers: Record<string, string>, status: number])[] = [
  [{}, 200],
  [{ host: "other.test" }, 200],
  [{ host: "evil.test" }, 403],
  [{ "x-forwarded-host": "evil.test" }, 401],
  [{ forwarded: "host=evil.test" }, 401],
  [{ origin: "https://evil.test" }, 403],
  [{ referer: "https://evil.test/", "x-original-url": "https://evil.test/" }, 200],
];

Deno.test("the link to the page has the host of --public-url, whatever name a caller sends", () =>
  withWaitingRun(async (world) => {
    await Deno.writeTextFile(
      join(world.folder, "http.toml"),
      `[server]\ntransport = "http"\nbind = "127.0.0.1:0"\n${STORES}`,
    );
    const args = askingServer("--config", "http.toml", "--allowed-host", "other.test", "--log-level", "info");
    await using server = await listening(startServer({ args, cwd: world.folder }));
    const call = async (name: string, input: Wire, headers: Record<string, string>): Promise<Answer> =>
      await send(server.url, message(1, "tools/call", { name, arguments: input, _meta: declaring(PAGES) }), {
        headers: { ...modernHeaders("tools/call", name), ...headers },
      });
    const status = JSON.parse((await call("scenario_status", world.run, {})).text) as { result: Shown & Wire };
    const expected_head = (status.result.structuredContent as Wire | undefined)?.["accepted_head"];
    let number = 0;
    for (const [headers, wanted] of NAMES) {
      const input = { ...world.run, request_id: idOf(++number), expected_head, ask: true };
      const { status, text } = await call("scenario_next", input, headers);
      assert.equal(status, wanted, JSON.stringify(headers));
      assert.ok(!text.includes("evil.test") && !text.includes("other.test"), text);
      if (wanted !== 200) continue;
      const { result } = JSON.parse(text) as { result: Shown };
      const url = `${PUBLIC_URL}/console#/run/2/release/${world.run.run_id}/release`;
      assert.equal(result.inputRequests?.approve?.params?.["url"], url, text);
    }
  }));

Deno.test("questions that hold every place of a server can be answered", () =>
  withWaitingRun(async (world) => {
    const own = '[server]\ntransport = "sse"\nbind = "127.0.0.1:0"\nlimits = { max_inflight = 2 }\n';
    await Deno.writeTextFile(join(world.folder, "gate.toml"), own + STORES);
    const args = askingServer("--config", "gate.toml").map((word) => word === "error" ? "info" : word);
    await using server = await listening(startServer({ args, cwd: world.folder, env: { GATE_CONFIG: "" } }));
    const client = new ClientOne(INFO, { capabilities: PAGES });
    const { promise: both, resolve } = Promise.withResolvers<void>();
    let asked = 0;
    client.setRequestHandler(ElicitRequestSchema, async () => {
      if (++asked === 2) resolve();
      await both;
      return { action: "decline" };
    });
    // deno-lint-ignore no-explicit-any
    await client.connect(new SseOne(new URL(`${server.url}/sse`)) as any);
    try {
      const status = await client.callTool({ name: "scenario_status", arguments: { ...world.run } });
      const { accepted_head: expected_head } = status.structuredContent as Wire;
      const ask = async (number: number): Promise<string | undefined> => {
        const input = { ...world.run, request_id: idOf(number), expected_head, ask: true };
        const result = await client.callTool({ name: "scenario_next", arguments: input });
        return (result as Shown).structuredContent?.error?.code;
      };
      assert.deepEqual(await Promise.all([ask(1), ask(2)]), ["ask_declined", "ask_declined"]);
    } finally {
      await client.close();
    }
  }));
