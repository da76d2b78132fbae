/** The audit log where its file is moved away, deleted or cut under the process that writes it. */

import assert from "node:assert/strict";
import { until } from "../../until.ts";
import { AUDITED, call, define, end, exists, linesOf, startGate, verified } from "./fixture.ts";
import { inFolder } from "../gate_command.ts";

Deno.test("gate serve continues the chain in a new file at SIGHUP, and gate audit verify accepts both", () =>
  inFolder(async (folder) => {
    await using server = startGate(folder, AUDITED);
    const path = `${folder}/audit.jsonl`;
    await call(server, "scenario_define", define("a"));
    Deno.renameSync(path, `${path}.1`);
    await call(server, "scenario_define", define("b"));
    server.signal("SIGHUP");
    await until("the new file", () => exists(path));
    await call(server, "scenario_define", define("c"));
    assert.equal(await end(server), 0);
    const tools = (file: string): string[] => linesOf(file).map(({ tool, reason }) => tool ?? reason);
    const twice = ["scenario_define", "scenario_define"];
    assert.deepEqual(tools(`${path}.1`), ["chain_started", ...twice, ...twice]);
    assert.deepEqual(tools(path), ["chain_continued", ...twice, "process_stopped"]);
    const both = await verified(folder, "audit.jsonl.1", "audit.jsonl");
    assert.equal(both.code, 0);
    assert.deepEqual(both.files.map((file) => [file["sound"], file["end_proven"]]), [[true, true], [true, true]]);
    const alone = await verified(folder, "audit.jsonl.1");
    assert.deepEqual([alone.code, alone.files[0]?.["end_proven"]], [0, false]);
    const wrongOrder = await verified(folder, "audit.jsonl", "audit.jsonl.1");
    assert.equal(wrongOrder.code, 6);
  }));

Deno.test("gate audit verify finds a log sound that was rotated just before gate was killed", () =>
  inFolder(async (folder) => {
    await using server = startGate(folder, AUDITED);
    const path = `${folder}/audit.jsonl`;
    await call(server, "scenario_define", define("a"));
    await until("the head file", () => exists(`${path}.head`));
    const head = Deno.readTextFileSync(`${path}.head`);
    await call(server, "scenario_define", define("b"));
    Deno.renameSync(path, `${path}.1`);
    server.signal("SIGHUP");
    await until("the new file", () => exists(path) && Deno.statSync(path).size > 0);
    server.signal("SIGKILL");
    await server.ended();
    // As it was left a moment after the rotation, however slow this machine was.
    Deno.writeTextFileSync(`${path}.head`, head);
    assert.equal((await verified(folder, "audit.jsonl")).code, 0);
    assert.equal((await verified(folder, "audit.jsonl.1", "audit.jsonl")).code, 0);
    // A line that the head file names was replaced in the file before.
    Deno.writeTextFileSync(`${path}.head`, head.replace(/"hash":"[0-9a-f]{64}"/, `"hash":"${"0".repeat(64)}"`));
    assert.equal((await verified(folder, "audit.jsonl.1", "audit.jsonl")).code, 6);
  }));

/** What others do to the log of a running server, and what standard error says of it. */
const DAMAGES: readonly (readonly [what: string, damage: (path: string) => void, says: string])[] = [
  ["deletes it", (path) => Deno.removeSync(path), "The audit log was deleted"],
  ["empties it", (path) => Deno.truncateSync(path), "The audit log was cut, or written by another program"],
  [
    "writes to it",
    (path) => Deno.writeTextFileSync(path, '{"chain_id":"', { append: true }),
    "The audit log was cut, or written by another program",
  ],
];

for (const [what, damage, says] of DAMAGES) {
  Deno.test(`standard error reports that someone ${what}`, () =>
    inFolder(async (folder) => {
      await using server = startGate(folder, AUDITED);
      const path = `${folder}/audit.jsonl`;
      await call(server, "scenario_define", define("a"));
      damage(path);
      const defined = await call(server, "scenario_define", define("b"));
      assert.ok(defined["scenario_law_identity"], JSON.stringify(defined));
      await server.logged(says);
      assert.ok(server.errors().includes(`"path":"${path}"`));
      assert.match(Deno.readTextFileSync(path), /"tool":"scenario_define"/);
      await end(server);
      assert.equal(server.errors().split(says).length, 2, "it is said once");
    }));
}

Deno.test("standard error says at the start that lines are missing at the end of the log", () =>
  inFolder(async (folder) => {
    const path = `${folder}/audit.jsonl`;
    const first = startGate(folder, AUDITED);
    await call(first, "scenario_define", define("a"));
    await end(first);
    const lines = Deno.readTextFileSync(path).trimEnd().split("\n");
    Deno.writeTextFileSync(path, `${lines[0]}\n`);
    await using server = startGate(folder, AUDITED);
    await call(server, "scenario_define", define("b"));
    await server.logged("Lines are missing at the end of the audit log");
    await end(server);
  }));

Deno.test("two processes that share a log continue one chain after a rotation with a signal to only one", () =>
  inFolder(async (folder) => {
    const path = `${folder}/audit.jsonl`;
    await using one = startGate(folder, AUDITED);
    await using two = startGate(folder, AUDITED);
    for (const [at, server] of [one, two, one, two].entries()) await call(server, "scenario_define", define(`a${at}`));
    Deno.renameSync(path, `${path}.1`);
    for (const [at, server] of [one, two].entries()) await call(server, "scenario_define", define(`b${at}`));
    one.signal("SIGHUP");
    await until("the new file", () => exists(path));
    for (const [at, server] of [two, one, two].entries()) await call(server, "scenario_define", define(`c${at}`));
    assert.deepEqual([await end(one), await end(two)], [0, 0]);
    const { code, files } = await verified(folder, "audit.jsonl.1", "audit.jsonl");
    assert.deepEqual([code, files.map((file) => file["sound"]), files[1]?.["end_proven"]], [0, [true, true], true]);
    const count = (file: string): number => linesOf(file).filter(({ tool }) => tool === "scenario_define").length;
    assert.deepEqual([count(`${path}.1`), count(path)], [12, 6]);
  }));
