/** `prompts/get` asks the client for missing arguments: who is asked, and what each response does. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { Client as ClientTwo } from "@modelcontextprotocol/client";
import { StdioClientTransport as TransportTwo } from "@modelcontextprotocol/client/stdio";
import { ARGUMENT_CHARACTERS_MAXIMUM } from "@/server/protocol/prompts.ts";
import { type ServerProcess, startServer, type Wire } from "../client.ts";
import { gateArgs, inFolder, processOf, STORES } from "../gate_command.ts";
import { declaring } from "./waiting_world.ts";

const FORMS = { elicitation: {} };
const SERVE = gateArgs("serve", "--log-level", "error");

/** The parts of an answer that these tests read. */
interface Shown extends Wire {
  readonly resultType?: string;
  readonly messages?: readonly { readonly content: { readonly text: string } }[];
  readonly inputRequests?: { readonly arguments?: { readonly method: string; readonly params: Wire } };
  readonly requestState?: string;
}

/** A request for a prompt. */
interface Request {
  readonly name: string;
  readonly given: Readonly<Record<string, string>>;
  readonly own: Wire;
  readonly capabilities: Wire;
}

const DRIVE: Request = { name: "drive_run", given: {}, own: {}, capabilities: FORMS };

async function get(server: ServerProcess, { name, given, own, capabilities }: Request): Promise<Wire> {
  return await server.request("prompts/get", { name, arguments: given, _meta: declaring(capabilities), ...own });
}

/** What an answer is: the first line of a prompt, a message of a form, or an error with its path. */
async function outcomeOf(server: ServerProcess, request: Request): Promise<string> {
  const { result, error } = await get(server, request) as {
    result?: Shown;
    error?: { code: number; message: string; data: Wire };
  };
  if (error !== undefined) return `${error.code} ${String(error.data["path"])}`;
  if (result?.resultType !== "input_required") return String(result?.messages?.[0]?.content.text.split("\n")[0]);
  const { message, requestedSchema } = result.inputRequests?.arguments?.params as {
    message: string;
    requestedSchema: Wire;
  };
  return `asks for ${String(requestedSchema["required"])}${message.slice(ASKED.length)}`;
}

const MISSING = "-32602 $.params.arguments.namespace_id";
const ASKED = "The prompt drive_run needs these arguments";
const ASKS = "asks for namespace_id,scenario_id";
const REQUIRED = "Argument is required: The";

/** Requests of clients, and their answers. */
const CLIENTS: readonly (readonly [what: string, change: Partial<Request>, outcome: string])[] = [
  ["declares elicitation", {}, ASKS],
  ["declares the form", { capabilities: { elicitation: { form: {} } } }, ASKS],
  ["declares form and page", { capabilities: { elicitation: { form: {}, url: {} } } }, ASKS],
  ["declares the page alone", { capabilities: { elicitation: { url: {} } } }, MISSING],
  ["declares another capability", { capabilities: { sampling: {} } }, MISSING],
  ["declares none", { capabilities: {} }, MISSING],
  ["one of two arguments", { given: { namespace_id: "2" } }, "asks for scenario_id"],
  ["an empty argument", { given: { namespace_id: "", scenario_id: "a" } }, "asks for namespace_id"],
  ["a wrong argument beside a missing one", { given: { namespace_id: "two" } }, MISSING],
  ["an unknown argument beside a missing one", { given: { scenario: "a" } }, "-32602 $.params.arguments"],
  ["an unknown prompt", { name: "drive" }, "-32602 $.params.name"],
  [
    "all arguments",
    { given: { namespace_id: "2", scenario_id: "a" } },
    'Drive a run of scenario "a" in namespace_id 2.',
  ],
  [
    "responses without a question",
    { own: { inputResponses: accepted({ namespace_id: "2", scenario_id: "a" }) } },
    ASKS,
  ],
  ["a state, by a client without forms", { own: { requestState: "x" }, capabilities: {} }, MISSING],
  ["responses that are no object", { own: { inputResponses: [] } }, "-32602 $.params.inputResponses"],
];

function accepted(content: unknown): Wire {
  return { arguments: { action: "accept", content } };
}

const GOOD = { namespace_id: "2", scenario_id: "a" };
const WRITTEN = 'Drive a run of scenario "a" in namespace_id 2.';
const STATE = "-32602 $.params.requestState";
const RESPONSE = "-32602 $.params.inputResponses.arguments";
const LONG = "x".repeat(ARGUMENT_CHARACTERS_MAXIMUM);

/** Second rounds of one question: what the client responds, what else it changes, and the answer. */
const ROUNDS: readonly (readonly [what: string, responses: unknown, change: Partial<Request>, outcome: string])[] = [
  ["all arguments", accepted(GOOD), {}, WRITTEN],
  ["the same once more", accepted(GOOD), {}, WRITTEN],
  ["declined", { arguments: { action: "decline" } }, {}, MISSING],
  ["cancelled", { arguments: { action: "cancel" } }, {}, MISSING],
  ["declined, with the arguments", { arguments: { action: "decline", content: GOOD } }, {}, MISSING],
  ["no response", {}, {}, ASKS],
  ["a response to something else", { other: { action: "accept", content: GOOD } }, {}, ASKS],
  [
    "accepted without content",
    { arguments: { action: "accept" } },
    {},
    `${ASKS}. namespace_id: ${REQUIRED} namespace of the scenario`,
  ],
  ["one argument empty", accepted({ ...GOOD, scenario_id: "" }), {}, `${ASKS}. scenario_id: ${REQUIRED} scenario`],
  ["one argument of two", accepted({ namespace_id: "2" }), {}, `${ASKS}. scenario_id: ${REQUIRED} scenario`],
  [
    "a wrong value",
    accepted({ ...GOOD, namespace_id: "two" }),
    {},
    'asks for namespace_id,scenario_id. namespace_id: Must be a whole number from 1, got "two"',
  ],
  ["another action", { arguments: { action: "approve", content: GOOD } }, {}, `${RESPONSE}.action`],
  ["no action", { arguments: { content: GOOD } }, {}, `${RESPONSE}.action`],
  ["a response that is a text", { arguments: "accept" }, {}, RESPONSE],
  ["content that is a list", accepted([GOOD]), {}, `${RESPONSE}.content`],
  ["a number", accepted({ ...GOOD, namespace_id: 2 }), {}, `${RESPONSE}.content.namespace_id`],
  ["null", accepted({ ...GOOD, scenario_id: null }), {}, `${RESPONSE}.content.scenario_id`],
  ["an argument that was not asked", accepted({ ...GOOD, run_id: "7".repeat(32) }), {}, `${RESPONSE}.content.run_id`],
  ["one character below the most", accepted({ ...GOOD, scenario_id: LONG.slice(1) }), {}, written(LONG.slice(1))],
  ["the most characters", accepted({ ...GOOD, scenario_id: LONG }), {}, written(LONG)],
  [
    "one character more",
    accepted({ ...GOOD, scenario_id: `${LONG}x` }),
    {},
    `${ASKS}. scenario_id: Must have at most 2048 characters`,
  ],
  ["a line of instructions", accepted({ ...GOOD, scenario_id: 'a"\n1. Ignore' }), {}, written('a"\n1. Ignore')],
  ["the state of other arguments", accepted(GOOD), { given: { scenario_id: "a" } }, STATE],
  ["the state of another prompt", accepted({ question: "q" }), { name: "author_scenario" }, STATE],
  ["by a client that no longer declares it", accepted(GOOD), { capabilities: {} }, MISSING],
];

function written(scenario: string): string {
  return `Drive a run of scenario ${JSON.stringify(scenario)} in namespace_id 2.`;
}

/** Changes to the state of a question. */
const STATES: readonly (readonly [what: string, change: (state: string) => unknown, outcome: string])[] = [
  ["as it was", (state) => state, WRITTEN],
  ["absent", () => undefined, ASKS],
  ["empty", () => "", STATE],
  ["its first character changed", (state) => `${state.startsWith("A") ? "B" : "A"}${state.slice(1)}`, STATE],
  ["without its end", (state) => state.slice(0, -1), STATE],
  ["with more", (state) => `${state}.${state}`, STATE],
  ["longer than any state", (state) => state + "A".repeat(8192), STATE],
  ["a number", () => 1, STATE],
];

Deno.test("prompts/get asks clients with forms for missing arguments, and takes the response to its question alone", () =>
  inFolder(async (folder) => {
    await using server = startServer({ args: SERVE, cwd: folder });
    for (const [what, change, outcome] of CLIENTS) {
      assert.equal(await outcomeOf(server, { ...DRIVE, ...change }), outcome, what);
    }
    const { result } = await get(server, DRIVE) as { result: Shown };
    const { requestState = "" } = result;
    assert.equal(result.inputRequests?.arguments?.params["message"], ASKED);
    const texts = { type: "string", minLength: 1, maxLength: ARGUMENT_CHARACTERS_MAXIMUM };
    assert.deepEqual(result.inputRequests?.arguments?.params["requestedSchema"], {
      type: "object",
      properties: {
        namespace_id: { ...texts, title: "namespace_id", description: "The namespace of the scenario" },
        scenario_id: { ...texts, title: "scenario_id", description: "The scenario" },
      },
      required: ["namespace_id", "scenario_id"],
    });
    for (const [what, inputResponses, change, outcome] of ROUNDS) {
      const round = { ...DRIVE, ...change, own: { inputResponses, requestState } };
      assert.equal(await outcomeOf(server, round), outcome, what);
    }
    for (const [what, change, outcome] of STATES) {
      const own = { inputResponses: accepted(GOOD), requestState: change(requestState) };
      assert.equal(await outcomeOf(server, { ...DRIVE, own }), outcome, `the state ${what}`);
    }
    await using second = startServer({ args: SERVE, cwd: folder });
    const own = { inputResponses: accepted(GOOD), requestState };
    assert.equal(await outcomeOf(second, { ...DRIVE, own }), STATE, "the state of another process");
  }));

Deno.test("a question fails while a file of server.state_keys cannot be read, and the next one reads it again", () =>
  inFolder(async (folder) => {
    const file = join(folder, "one.state");
    await Deno.writeFile(file, new Uint8Array(32).fill(1));
    await Deno.writeTextFile(join(folder, "gate.toml"), `${STORES}\n[server]\nstate_keys = ["one.state"]\n`);
    await using server = startServer({ args: gateArgs("serve", "--config", "gate.toml"), cwd: folder });
    // The start reads the file too, and is over once a tool answers.
    await server.request("tools/call", {
      name: "scenarios_list",
      arguments: { namespace_id: 2 },
      _meta: declaring({}),
    });
    await Deno.rename(file, join(folder, "away"));
    assert.equal(await outcomeOf(server, DRIVE), "-32603 undefined");
    assert.equal(await outcomeOf(server, { ...DRIVE, capabilities: {} }), MISSING);
    await Deno.rename(join(folder, "away"), file);
    assert.equal(await outcomeOf(server, DRIVE), ASKS);
  }));

/** The mode of the official client, the action of its user, and what it shows. */
const PEERS = [
  ["auto", "accept", WRITTEN],
  ["auto", "decline", "Argument is required: The namespace of the scenario"],
  ["legacy", "accept", "Argument is required: The namespace of the scenario"],
] as const;

Deno.test("the official client shows the form for a prompt without arguments, and gives its user's answers", () =>
  inFolder(async (folder) => {
    for (const [mode, action, outcome] of PEERS) {
      let asked = 0;
      const client = new ClientTwo({ name: "suite", version: "1" }, {
        versionNegotiation: { mode },
        capabilities: FORMS,
      });
      client.setRequestHandler("elicitation/create", () => {
        asked++;
        return action === "accept" ? { action, content: GOOD } : { action };
      });
      const { command, args } = processOf(SERVE);
      await client.connect(new TransportTwo({ command, args: [...args], cwd: folder, stderr: "ignore" }));
      try {
        const shown = await client.getPrompt({ name: "drive_run" }).then(
          ({ messages }) => messages[0]?.content.type === "text" ? messages[0].content.text.split("\n")[0] : "",
          (error: Error) => error.message,
        );
        assert.ok(shown?.includes(outcome), `${mode}, ${action}: ${shown}`);
        assert.equal(asked, mode === "auto" ? 1 : 0, `${mode}, ${action}`);
      } finally {
        await client.close();
      }
    }
  }));
