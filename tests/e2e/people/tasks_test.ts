/** The extension of tasks: a step that waits for people, looked at from any server, through a crash, and by others. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { type ServerProcess, startServer, type Wire } from "../client.ts";
import {
  askingServer,
  declaring,
  headOf,
  idOf,
  PUBLIC_URL,
  type WaitingWorld,
  withWaitingRun,
} from "./waiting_world.ts";
import { STORES } from "../gate_command.ts";

const TASKS = "io.modelcontextprotocol/tasks";
const POLLING = { extensions: { [TASKS]: {} } };
const PAGES = { ...POLLING, elicitation: { url: {} } };

/** The parts of a task that these tests read. */
interface Task extends Wire {
  readonly resultType: string;
  readonly taskId: string;
  readonly status: string;
  readonly statusMessage?: string;
  readonly result?: {
    readonly structuredContent: { readonly outcome: { readonly outcome: string; readonly result: Wire } };
  };
  readonly inputRequests?: { readonly approve?: { readonly params: Wire } };
}

interface Failure {
  readonly code: number;
  readonly message: string;
  readonly data: Wire;
}

async function withTasks(body: (world: WaitingWorld) => Promise<void>, minimum = 1): Promise<void> {
  await withWaitingRun(async (world) => {
    await Deno.writeFile(join(world.folder, "state.key"), new Uint8Array(32).fill(7));
    await Deno.writeTextFile(join(world.folder, "gate.toml"), `${STORES}\n[server]\nstate_keys = ["state.key"]\n`);
    await body(world);
  }, minimum);
}

function serverOf({ folder }: WaitingWorld): ServerProcess {
  return startServer({ args: askingServer(), cwd: folder });
}

async function request(
  server: ServerProcess,
  method: string,
  params: Wire,
  capabilities: Wire = POLLING,
): Promise<{ readonly result?: Task; readonly error?: Failure }> {
  return await server.request(method, { ...params, _meta: declaring(capabilities) });
}

async function step(
  server: ServerProcess,
  world: WaitingWorld,
  number: number,
  own: Wire = {},
  capabilities: Wire = POLLING,
): Promise<Task> {
  const input = { ...world.run, request_id: idOf(number), expected_head: await headOf(server, world), ...own };
  const params = { name: "scenario_next", arguments: input };
  const { result, error } = await request(server, "tools/call", params, capabilities);
  assert.equal(error, undefined, JSON.stringify(error));
  return result as Task;
}

async function look(server: ServerProcess, taskId: string, capabilities: Wire = POLLING): Promise<Task> {
  const { result, error } = await request(server, "tasks/get", { taskId }, capabilities);
  assert.equal(error, undefined, JSON.stringify(error));
  assert.equal(result?.resultType, "complete");
  return result as Task;
}

Deno.test("a step that waits for a person is a task of every server, through a crash, until the person signs", () =>
  withTasks(async (world) => {
    const first = serverOf(world);
    await using second = serverOf(world);
    const head = await headOf(first, world);
    const created = await step(first, world, 1, { stage_id: "release" });
    assert.deepEqual([created.resultType, created.status], ["task", "working"]);
    assert.match(created.statusMessage ?? "", /^Stage release waits for signed statements on approved \(0 of 1\)\./);
    assert.notDeepEqual(await headOf(first, world), head, "the attempt is recorded, as without a task");
    const { taskId } = created;
    for (const server of [first, second]) assert.equal((await look(server, taskId)).status, "working");
    assert.deepEqual(await headOf(first, world), await headOf(second, world), "looking records nothing");
    first.signal("SIGKILL");
    await first.ended();
    await using third = serverOf(world);
    assert.equal((await look(third, taskId)).status, "working");
    assert.equal((await world.approve("alice")).code, 0);
    for (const server of [second, third]) {
      const done = await look(server, taskId);
      assert.equal(done.status, "completed");
      const { outcome, result } = done.result?.structuredContent.outcome ?? { outcome: "", result: {} };
      assert.deepEqual(outcome, "accepted");
      assert.deepEqual(result, {
        accepted_head: await headOf(server, world),
        recorded: false,
        decision: { kind: "complete", stage_id: "release", unmet: [] },
        ready_frontier: [],
        run_status: "complete",
      });
    }
  }));

Deno.test("a task goes on while one of two signed, and ends at the head to go on from when the other refused", () =>
  withTasks(async (world) => {
    await using server = serverOf(world);
    const { taskId } = await step(server, world, 1, { stage_id: "release" });
    assert.equal((await world.approve("alice")).code, 0);
    const waiting = await look(server, taskId);
    assert.deepEqual([waiting.status, /approved \(1 of 2: \S+ signed\)/.test(waiting.statusMessage ?? "")], [
      "working",
      true,
    ]);
    assert.equal((await world.approve("bob", "--reject")).code, 0);
    const { status, result } = await look(server, taskId);
    assert.deepEqual([status, result?.structuredContent.outcome.outcome], ["completed", "stale"]);
    assert.deepEqual(result?.structuredContent.outcome.result, await headOf(server, world));
  }, 2));

Deno.test("clients without the extension, and servers without keys, have no tasks", () =>
  withTasks(async (world) => {
    {
      await using server = serverOf(world);
      const { result } = await request(server, "server/discover", {}, {});
      assert.deepEqual(((result as Wire)["capabilities"] as Wire)["extensions"], { [TASKS]: {} });
      const plain = await step(server, world, 1, { stage_id: "release" }, {});
      assert.deepEqual([plain.resultType, plain.taskId], ["complete", undefined]);
      const { taskId } = await step(server, world, 2, { stage_id: "release" });
      for (const method of ["tasks/get", "tasks/cancel", "tasks/update"]) {
        const { error } = await request(server, method, { taskId, inputResponses: {} }, {});
        assert.deepEqual([error?.code, error?.data["requiredCapabilities"]], [-32021, POLLING], method);
      }
      const listening = { notifications: { taskIds: [taskId] } };
      assert.equal((await request(server, "subscriptions/listen", listening, {})).error?.code, -32021);
      assert.equal((await request(server, "subscriptions/listen", listening)).result?.resultType, "complete");
      for (const method of ["tasks/list", "tasks/result"]) {
        assert.equal((await request(server, method, { taskId })).error?.code, -32601, method);
      }
    }
    await Deno.writeTextFile(join(world.folder, "gate.toml"), STORES);
    await using server = serverOf(world);
    const { result } = await request(server, "server/discover", {});
    assert.equal(((result as Wire)["capabilities"] as Wire)["extensions"], undefined);
    assert.equal((await step(server, world, 3, { stage_id: "release" })).resultType, "complete");
    assert.equal((await request(server, "tasks/get", { taskId: "x" })).error?.code, -32601);
  }));

Deno.test("the question comes before the task; a person who was not asked yet is asked by the task", () =>
  withTasks(async (world) => {
    await using server = serverOf(world);
    const ask = { stage_id: "release", ask: true };
    const input = { ...world.run, request_id: idOf(1), expected_head: await headOf(server, world), ...ask };
    const params = { name: "scenario_next", arguments: input };
    const { result: asked } = await request(server, "tools/call", params, PAGES);
    assert.deepEqual([asked?.resultType, asked?.taskId], ["input_required", undefined]);
    const own = { inputResponses: { approve: { action: "accept" } }, requestState: asked?.["requestState"] };
    const { result: created } = await request(server, "tools/call", { ...params, ...own }, PAGES);
    assert.deepEqual([created?.resultType, created?.["requestState"]], ["task", undefined]);
    assert.equal((await look(server, created?.taskId ?? "", PAGES)).status, "working", "the question was answered");
    // The client that looks can show pages, and the one that called could not.
    const { taskId } = await step(server, world, 2, ask);
    assert.equal((await look(server, taskId)).status, "working");
    const open = await look(server, taskId, PAGES);
    assert.equal(open.status, "input_required");
    assert.equal(
      open.inputRequests?.approve?.params["url"],
      `${PUBLIC_URL}/console#/run/2/release/${world.run.run_id}/release`,
    );
    for (
      const [responses, status] of [[{ other: { action: "accept" } }, "input_required"], [
        own.inputResponses,
        "working",
      ]]
    ) {
      const { result } = await request(server, "tasks/update", { taskId, inputResponses: responses }, PAGES);
      assert.equal(result?.resultType, "complete");
      assert.equal((await look(server, taskId, PAGES)).status, status);
    }
  }));

Deno.test("a cancelled task is no longer worked on, and a finished one stays finished", () =>
  withTasks(async (world) => {
    await using server = serverOf(world);
    const [one, two] = [
      await step(server, world, 1, { stage_id: "release" }),
      await step(server, world, 2, { stage_id: "release" }),
    ];
    const head = await headOf(server, world);
    const cancel = async (taskId: string): Promise<unknown> =>
      (await request(server, "tasks/cancel", { taskId })).result?.["resultType"];
    assert.equal(await cancel(one.taskId), "complete");
    assert.equal((await look(server, one.taskId)).status, "cancelled");
    assert.deepEqual(await headOf(server, world), head, "cancelling records nothing");
    assert.equal((await world.approve("alice")).code, 0);
    assert.equal((await look(server, one.taskId)).status, "cancelled");
    assert.equal((await look(server, two.taskId)).status, "completed");
    assert.equal(await cancel(two.taskId), "complete");
    assert.equal((await look(server, two.taskId)).status, "completed");
  }));
