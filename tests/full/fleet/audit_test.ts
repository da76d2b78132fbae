/** The audit logs of several servers, compared with the heads that the servers recorded in the database. */

import assert from "node:assert/strict";
import { spec } from "@/tools/tests/tools_fixture.ts";
import { until } from "../../until.ts";
import { exists } from "../../e2e/audit/fixture.ts";
import { gate } from "../../e2e/gate_command.ts";
import { type Fleet, withFleet } from "./servers.ts";
import { runSql, startPostgres } from "../postgres/server.ts";

const postgres = await startPostgres();

/** Lets both servers write lines, and stops them. */
async function work({ members, stop }: Fleet): Promise<void> {
  for (const [index, { call }] of members.entries()) {
    for (const round of [1, 2, 3]) {
      await call("scenario_define", { spec: spec({ scenario_id: `law-${index}-${round}` }) });
    }
  }
  assert.deepEqual(await stop(), [0, 0]);
}

const LOGS = ["a/audit.jsonl", "b/audit.jsonl"];

/** Leaves the first lines of a log, and takes its head file away. */
async function truncate(path: string): Promise<void> {
  const lines = (await Deno.readTextFile(path)).split("\n");
  await Deno.writeTextFile(path, `${lines.slice(0, 3).join("\n")}\n`);
  await Deno.remove(`${path}.head`);
}

/** Puts a fresh log of another server in the place of a log. */
async function replaceWithFresh(path: string): Promise<void> {
  const own = `${path}.folder`;
  await Deno.mkdir(own);
  await Deno.writeTextFile(`${own}/gate.toml`, '[server.audit]\npath = "audit.jsonl"\n');
  assert.equal((await gate(own, "serve", "--config", "gate.toml")).code, 0);
  for (const name of ["", ".head"]) await Deno.rename(`${own}/audit.jsonl${name}`, `${path}${name}`);
}

type Tampering = readonly [
  what: string,
  tamper: (folder: string) => Promise<void>,
  files: readonly string[],
  faults: readonly (readonly [log: string | null, fault: string | null])[],
];

const SOUND_A = ["a/audit.jsonl", null] as const;

/** Waits until both servers have recorded a head. */
async function untilStartsRecorded(database: string): Promise<void> {
  const chains = "SELECT count(DISTINCT chain_id) FROM gate.audit_heads";
  for (let tries = 0; await runSql(postgres, chains, database) !== "2"; tries++) {
    assert.ok(tries < 600, "both servers record the head of their start");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** What is done to the logs, the files that are verified, and the faults by log. */
const TAMPERINGS: readonly Tampering[] = [
  ["nothing", () => Promise.resolve(), LOGS, [SOUND_A, ["b/audit.jsonl", null]]],
  ["a truncated log", (folder) => truncate(`${folder}/b/audit.jsonl`), LOGS, [
    SOUND_A,
    ["b/audit.jsonl", "end_missing"],
  ]],
  ["a log that was replaced by a fresh one", (folder) => replaceWithFresh(`${folder}/b/audit.jsonl`), LOGS, [
    SOUND_A,
    ["b/audit.jsonl", "file_missing"],
    [null, "not_recorded"],
  ]],
  ["a log that was not given", () => Promise.resolve(), ["a/audit.jsonl"], [
    SOUND_A,
    ["b/audit.jsonl", "file_missing"],
  ]],
  [
    "a changed line",
    async (folder) => {
      const path = `${folder}/b/audit.jsonl`;
      await Deno.writeTextFile(path, (await Deno.readTextFile(path)).replace("law-1-2", "law-1-9"));
    },
    LOGS,
    [SOUND_A, ["b/audit.jsonl", "file_broken"]],
  ],
];

for (const [what, tamper, files, faults] of TAMPERINGS) {
  Deno.test(`gate audit verify over two servers names the server of ${what}`, () =>
    withFleet(postgres, {}, async (fleet) => {
      await work(fleet);
      await tamper(fleet.folder);
      const { code, chains } = await fleet.verifyAudit(...files);
      const found = chains.map(({ log, fault }) => [log === null ? null : String(log).slice(-13), fault]);
      const sorted = (rows: readonly unknown[]): readonly string[] => rows.map((row) => JSON.stringify(row)).toSorted();
      assert.deepEqual(sorted(found), sorted(faults));
      assert.equal(code, faults.every(([, fault]) => fault === null) ? 0 : 6);
    }));
}

Deno.test("a log that was written anew with the same number of lines differs from the recorded head", () =>
  withFleet(postgres, {}, async (fleet) => {
    await work(fleet);
    const own = `${fleet.folder}/b/audit.jsonl`;
    const lines = (await Deno.readTextFile(own)).trimEnd().split("\n").length;
    // Anyone with the file and the role of a server can add a head, but cannot remove one.
    const { chain_id } = JSON.parse((await Deno.readTextFile(own)).split("\n")[0] ?? "");
    const other = "f".repeat(64);
    await runSql(
      postgres,
      `INSERT INTO gate.audit_heads SELECT chain_id, 2, '${other}', server, log, recorded_at
      FROM gate.audit_heads WHERE chain_id = '${chain_id}' AND sequence = ${lines}`,
      fleet.database,
    );
    const { code, chains } = await fleet.verifyAudit(...LOGS);
    assert.equal(code, 6);
    assert.deepEqual(chains.find((chain) => chain["chain_id"] === chain_id)?.["fault"], "head_mismatch");
    const { stdout } = await gate(fleet.folder, "audit", "verify", "--config", "a/gate.toml", ...LOGS);
    assert.match(stdout, new RegExp(`chain ${chain_id} of server 127\\.0\\.0\\.1, .*/b/audit\\.jsonl: broken`));
    assert.match(stdout, /line 2 is not the recorded one/);
  }));

Deno.test("rotated files of several servers are verified together, in any order of the servers", () =>
  withFleet(postgres, {}, async (fleet) => {
    await untilStartsRecorded(fleet.database);
    for (const { call, folder, server } of fleet.members) {
      await call("scenario_define", { spec: spec({ scenario_id: `first-${server.port}` }) });
      await Deno.rename(`${folder}/audit.jsonl`, `${folder}/audit.jsonl.1`);
      server.process.signal("SIGHUP");
      await until("the log is opened again", () => exists(`${folder}/audit.jsonl`));
    }
    await work(fleet);
    const [a, b] = LOGS;
    const { code, chains, files } = await fleet.verifyAudit(`${a}.1`, `${b}.1`, a ?? "", b ?? "");
    assert.deepEqual([code, chains.map(({ fault }) => fault), files.length], [0, [null, null], 4]);
    const without = await fleet.verifyAudit(`${a}.1`, a ?? "", `${b}.1`);
    assert.equal(without.code, 6);
    assert.deepEqual(without.chains.map(({ fault }) => fault).toSorted(), ["end_missing", null]);
    const withoutFirst = await fleet.verifyAudit(`${a}.1`, a ?? "", b ?? "");
    assert.equal(withoutFirst.code, 6);
    assert.deepEqual(withoutFirst.chains.map(({ fault }) => fault).toSorted(), ["file_missing", null]);
  }));

Deno.test("a server that is killed recorded the head of its start, and a server without a database goes on", () =>
  withFleet(postgres, {}, async ({ members, folder, database, verifyAudit, stop }) => {
    await untilStartsRecorded(database);
    const [a, b] = members;
    assert.ok(a !== undefined && b !== undefined);
    b.server.process.signal("SIGKILL");
    await b.server.process.ended();
    assert.equal((await verifyAudit(...LOGS)).code, 0);
    await Deno.truncate(`${folder}/b/audit.jsonl`, 0);
    assert.equal((await verifyAudit(...LOGS)).code, 6);
    await runSql(postgres, "DROP TABLE gate.audit_heads", database);
    await a.call("scenario_define", { spec: spec({ scenario_id: "goes-on" }) });
    assert.equal((await stop([a]))[0], 0);
    assert.match(a.server.process.errors(), /Cannot record the head of the audit log in the database/);
  }));

Deno.test("recorded heads need a database, which the command names where it is missing", () =>
  withFleet(postgres, { count: 1 }, async ({ folder, stop }) => {
    assert.deepEqual(await stop(), [0]);
    await Deno.writeTextFile(`${folder}/memory.toml`, "");
    const { code, stderr } = await gate(folder, "audit", "verify", "--config", "memory.toml", "a/audit.jsonl");
    assert.equal(code, 2);
    assert.match(stderr, /Cannot compare with recorded heads: run_state_store\.type is "memory"/);
  }));

Deno.test.afterAll(() => postgres[Symbol.asyncDispose]());
