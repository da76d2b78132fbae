/** What a new process answers about a long run: from its snapshot at once, and from nothing that differs from what was written. */

import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import type { JsonObject } from "@/canonical/json.ts";
import { SNAPSHOT_INTERVAL } from "@/store/projection.ts";
import { startServer, type Wire } from "../client.ts";
import { gate, gateArgs, inFolder, STORES } from "../gate_command.ts";
import { callText, type HttpServer, listening, send } from "../http_fixture.ts";
import { startRun, type ToolCall, withStore } from "./calls.ts";

const CONFIG = `
[server]
transport = "http"
bind = "127.0.0.1:0"
${STORES}`;

/** Revisions of the run: two snapshots, and some records after the second one. */
const REVISIONS = 2 * SNAPSHOT_INTERVAL + 10;

/** Starts a run, and submits up to the last revision; returns the arguments that name the run. */
async function grow(call: ToolCall): Promise<JsonObject> {
  const run = { namespace_id: 2, scenario_id: "release", run_id: await startRun(call, "1".repeat(32), [false]) };
  let { accepted_head: head } = await call("scenario_status", run) as { accepted_head: { revision: number } };
  while (head.revision < REVISIONS) {
    const { outcome } = await call("scenario_submit", submission(run, head as unknown as JsonObject)) as {
      outcome: { result: { accepted_head: { revision: number } } };
    };
    head = outcome.result.accepted_head;
  }
  return run;
}

function submission(run: JsonObject, head: JsonObject): JsonObject {
  return {
    ...run,
    expected_head: head,
    operation_id: String(head["revision"]).padStart(32, "0"),
    content_type: "application/json",
    payload: { kind: "json", value: { note: "kept" } },
    scope: { kind: "run_wide" },
  };
}

/** Answers a call: its result, or the code of its error. */
async function answer(server: HttpServer, name: string, input: JsonObject): Promise<Wire | string> {
  const { text } = await send(server.url, callText(1, name, input), {});
  const { structuredContent } = (JSON.parse(text) as { result: { structuredContent: Wire } }).result;
  const { error } = structuredContent as { error?: { code: string } };
  return error?.code ?? structuredContent;
}

const CHANGE_LATE = `UPDATE records SET record = replace(record, 'submit', 'submat') WHERE revision = ${REVISIONS - 1}`;
const CHANGE_SNAPSHOT = "UPDATE snapshots SET state = replace(state, 'active', 'activf')";

/**
 * A change of the file of a stopped server; the revision of the head that the first status of the next server shows, or its error;
 * what that server logs; the answer to a submission; the exit code of `gate store check`.
 */
const ATTACKS: readonly (readonly [
  what: string,
  change: string,
  status: number | string,
  logged: string | null,
  submission: string,
  check: number,
])[] = [
  ["nothing", "SELECT 1", REVISIONS, null, "accepted", 0],
  ["a byte of the snapshots", CHANGE_SNAPSHOT, REVISIONS, "the snapshot does not hash", "accepted", 6],
  ["the snapshots deleted", "DELETE FROM snapshots", REVISIONS, null, "accepted", 0],
  [
    "an early record",
    "UPDATE records SET record = replace(record, 'submit', 'submat') WHERE revision = 9",
    REVISIONS,
    "at revision 9: record does not hash",
    "store_corrupt",
    6,
  ],
  ["a late record", CHANGE_LATE, "store_corrupt", "store differs from what was written", "store_corrupt", 6],
];

for (const [what, change, status, logged, submitted, check] of ATTACKS) {
  Deno.test(`after a change of ${what}, a cold status is ${status} and a submission ${submitted}`, () =>
    inFolder(async (folder) => {
      await Deno.writeTextFile(`${folder}/gate.toml`, CONFIG);
      const run = await withStore(folder, grow);
      const database = new DatabaseSync(`${folder}/gate.db`);
      const head = database.prepare("SELECT head AS record_id, revision FROM runs").get() as unknown as JsonObject;
      database.exec(change);
      database.close();
      const args = gateArgs("serve", "--config", `${folder}/gate.toml`);
      await using server = await listening(startServer({ args, cwd: folder, env: { GATE_CONFIG: "" } }));
      const first = await answer(server, "scenario_status", run);
      assert.equal(typeof first === "string" ? first : (first["accepted_head"] as Wire)["revision"], status);
      if (logged !== null) await server.process.logged(logged);
      const mutation = await answer(server, "scenario_submit", submission(run, { ...head }));
      assert.equal(typeof mutation === "string" ? mutation : (mutation["outcome"] as Wire)["outcome"], submitted);
      const second = await answer(server, "scenario_status", run);
      assert.equal(typeof second === "string" ? second : "shown", submitted === "accepted" ? "shown" : "store_corrupt");
      server.process.signal("SIGTERM");
      assert.equal(await server.process.ended(), 0, server.process.errors());
      assert.equal((await gate(folder, "store", "check", "--config", `${folder}/gate.toml`)).code, check);
    }));
}
