/**
 * Hostile documents: each import ends with its outcome, within its time and 512 MiB of the whole process.
 *
 * Limits of work and of processor time decide, so other work on the machine changes no outcome.
 */
import assert from "node:assert/strict";
import { importInSandbox } from "../../../src/evidence/typed/import_sandbox.ts";
import { importOpenApi } from "../../../src/evidence/typed/openapi/import.ts";
import { readSource } from "../../../src/evidence/typed/openapi/read_source.ts";
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
      judge(row, (await measure([row], suffix))[0], []);
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

Deno.test("an import has as many steps as its limit", async () => {
  const bytes = new TextEncoder().encode(withSchema(`{"type":"object","properties":{"a":{"type":"boolean"}}}`));
  const read = readSource(bytes);
  assert.ok("document" in read);
  let taken = 0;
  importOpenApi(read.document, { provider_id: "a", spend: (steps) => taken += steps });
  /** Steps of the limit beside those that the document takes. */
  const rows: readonly (readonly [more: number, outcome: string])[] = [
    [-1, "document_too_complex"],
    [0, "ok"],
    [1, "ok"],
  ];
  for (const [more, outcome] of rows) {
    const limits = { steps: taken + more };
    const result = await importInSandbox({ kind: "openapi", bytes: bytes.slice() }, { provider_id: "a" }, limits);
    assert.equal(result.ok ? "ok" : result.code, outcome, String(more));
  }
});
