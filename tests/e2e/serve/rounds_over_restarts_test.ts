/** What a caller carries from a question or a task to another process, whose keys and roles may differ by then. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { type ServerProcess, startServer, type Wire } from "../client.ts";
import { STORES } from "../gate_command.ts";
import { askingServer, declaring, headOf, idOf, type WaitingWorld, withWaitingRun } from "../people/waiting_world.ts";

const CAPABILITIES = { elicitation: { url: {} }, extensions: { "io.modelcontextprotocol/tasks": {} } };

/** The settings of a server: its keys, the first of which signs, and the roles of its caller. */
interface Settings {
  readonly keys?: readonly string[];
  readonly roles?: string;
}

const WRITER = '{ name = "NamespaceWriter", namespace_id = 2 }';

async function serverWith(
  { folder }: WaitingWorld,
  { keys = ["old"], roles = WRITER }: Settings = {},
): Promise<ServerProcess> {
  const principals = `[[server.auth.principals]]\nsubject = "stdio"\nroles = [${roles}]\n`;
  const names = JSON.stringify(keys.map((name) => `${name}.state`));
  await Deno.writeTextFile(join(folder, "gate.toml"), `${STORES}\n[server]\nstate_keys = ${names}\n${principals}`);
  const args = askingServer("--config", "gate.toml").map((word) => word === "error" ? "debug" : word);
  return startServer({ args, cwd: folder });
}

interface Shown extends Wire {
  readonly resultType?: string;
  readonly taskId?: string;
  readonly status?: string;
  readonly requestState?: string;
  readonly structuredContent?: {
    readonly outcome?: { readonly outcome: string };
    readonly error?: { readonly code: string };
  };
}

type Answer = { readonly result?: Shown; readonly error?: { readonly code: number } };

async function send(server: ServerProcess, method: string, params: Wire): Promise<Answer> {
  return await server.request(method, { ...params, _meta: declaring(CAPABILITIES) });
}

/** One word for an answer: its kind, its outcome or the code of its error. */
function wordOf({ result, error }: Answer): string {
  if (error !== undefined) return String(error.code);
  const { structuredContent, status, resultType } = (result?.["result"] ?? result ?? {}) as Shown;
  const own = structuredContent?.error?.code ?? structuredContent?.outcome?.outcome;
  return [result?.status ?? status ?? resultType, own].filter((part) => part !== undefined).join(" ");
}

/** The settings of the next process, and what it answers to the second round and to a look at the task. */
const NEXT: readonly (readonly [what: string, next: Settings, second: string, look: string])[] = [
  ["the same settings", {}, "working", "working"],
  ["a new key before the old one", { keys: ["new", "old"] }, "working", "working"],
  ["the old key first", { keys: ["old", "new"] }, "working", "working"],
  ["the new key alone", { keys: ["new"] }, "-32602", "-32602"],
  [
    "a caller who may only read",
    { roles: WRITER.replace("Writer", "Reader") },
    "complete role_refused",
    "completed role_refused",
  ],
  [
    "a caller of another namespace",
    { roles: WRITER.replace("2", "3") },
    "complete role_refused",
    "completed role_refused",
  ],
];

Deno.test("a state and a task go on in another process with one of their keys, and with the rights of that moment", () =>
  withWaitingRun(async (world) => {
    for (const [byte, name] of ["old", "new"].entries()) {
      await Deno.writeFile(join(world.folder, `${name}.state`), new Uint8Array(32).fill(byte + 1));
    }
    for (const [index, [what, next, second, look]] of NEXT.entries()) {
      await using first = await serverWith(world);
      const step = async (server: ServerProcess, number: number, own: Wire): Promise<Wire> => {
        const expected_head = await headOf(server, world);
        return { name: "scenario_next", arguments: { ...world.run, request_id: idOf(number), expected_head, ...own } };
      };
      const held = await step(first, 2 * index + 1, { stage_id: "release" });
      const { result: task } = await send(first, "tools/call", held);
      const asking = await step(first, 2 * index + 2, { stage_id: "release", ask: true });
      const { result: asked } = await send(first, "tools/call", asking);
      assert.deepEqual([task?.resultType, asked?.resultType], ["task", "input_required"], what);
      const { taskId = "" } = task ?? {};
      const { requestState = "" } = asked ?? {};
      const head = await headOf(first, world);
      await first.closeInput();
      await first.ended();
      await using other = await serverWith(world, next);
      const round = { ...asking, requestState, inputResponses: { approve: { action: "accept" } } };
      // Sent twice at one time: one step.
      const answers = await Promise.all([send(other, "tools/call", round), send(other, "tools/call", round)]);
      assert.deepEqual(answers.map(wordOf), [second, second], what);
      assert.equal(wordOf(await send(other, "tasks/get", { taskId })), look, what);
      for (const secret of [taskId, requestState]) assert.ok(!other.errors().includes(secret), `${what}: the log`);
      await other.closeInput();
      await other.ended();
      await using reader = await serverWith(world);
      const { revision } = await headOf(reader, world) as { revision: number };
      const moved = second === "working" ? 1 : 0;
      assert.equal(revision, (head as { revision: number }).revision + moved, `${what}: the head`);
    }
  }));
