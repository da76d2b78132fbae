/**
 * Hostile documents: each import ends with its outcome, within its time and 512 MiB of the whole process.
 *
 * The rows that take time also accept that the time was over: a slow machine then refuses what a fast one imports.
 */
import assert from "node:assert/strict";
import { importInSandbox } from "../../../src/evidence/typed/import_sandbox.ts";
import { LARGE_ROWS, SMALL_ROWS, withSchema } from "./import_hostile_documents.ts";
import { judge, measure } from "./import_hostile_measure.ts";
import { LARGE_PROTO_ROWS, SMALL_PROTO_ROWS } from "./import_hostile_protos.ts";

for (const [rows, suffix] of [[SMALL_ROWS, ""], [SMALL_PROTO_ROWS, ".proto"]] as const) {
  Deno.test(`imports of ${rows.length} small documents${suffix}, in one process`, async (test) => {
    const measured = await measure(rows, suffix);
    for (const [index, row] of rows.entries()) {
      await test.step(`import of ${row[0]}: ${row[2]}`, () => judge(row, measured[index], []));
    }
  });
}

for (const [rows, suffix] of [[LARGE_ROWS, ""], [LARGE_PROTO_ROWS, ".proto"]] as const) {
  for (const row of rows) {
    Deno.test(`import of ${row[0]}: ${row[2]}`, async () => {
      judge(row, (await measure([row], suffix))[0], ["import_timeout"]);
    });
  }
}

Deno.test("an import whose time is over is refused, and the next one is not", async () => {
  const document = (): Uint8Array<ArrayBuffer> => new TextEncoder().encode(withSchema(`{"type":"boolean"}`));
  const options = { provider_id: "a" };
  const late = importInSandbox({ kind: "openapi", bytes: document() }, options, { milliseconds: 0 });
  const next = importInSandbox({ kind: "openapi", bytes: document() }, options);
  const outcomes = (await Promise.all([late, next])).map((result) => result.ok ? "ok" : result.code);
  assert.deepEqual(outcomes, ["import_timeout", "ok"]);
});
