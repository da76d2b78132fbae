/**
 * Hostile documents: each import ends with its outcome, within its time and 512 MiB of the whole process.
 *
 * The rows that take time also accept that the time was over: a slow machine then refuses what a fast one imports.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { importInSandbox } from "../../src/evidence/typed/import_sandbox.ts";
import { inFolder } from "./gate_command.ts";
import { type HostileRow, LARGE_ROWS, SMALL_ROWS, withSchema } from "./import_hostile_documents.ts";
import { LARGE_PROTO_ROWS, SMALL_PROTO_ROWS } from "./import_hostile_protos.ts";

const PROCESS = new URL("./import_hostile_process.ts", import.meta.url).pathname;
const SETTINGS = new URL("../../deno.json", import.meta.url).pathname;
const MEBIBYTES = 512;
/** Milliseconds after which an import has no limit: three times that of its time. */
const UNLIMITED_MILLIS = 15_000;

interface Measured {
  readonly outcome: string;
  readonly milliseconds: number;
  readonly mebibytes: number;
  readonly detail: string;
}

/** Imports the documents of some rows, one after the other in one process. */
async function measure(rows: readonly HostileRow[], suffix: string): Promise<readonly Measured[]> {
  let measured: readonly Measured[] = [];
  await inFolder(async (folder) => {
    const files = rows.map((_, index) => join(folder, `${index}${suffix}`));
    for (const [index, [, make]] of rows.entries()) await Deno.writeFile(files[index] ?? "", make());
    const args = ["run", "--no-prompt", "--quiet", "--no-check", "--config", SETTINGS, "-A", PROCESS, ...files];
    const { stdout } = await new Deno.Command(Deno.execPath(), { args, stdin: "null", stderr: "inherit" }).output();
    const lines = new TextDecoder().decode(stdout).split("\n").filter((line) => line !== "");
    measured = lines.map((line) => JSON.parse(line) as Measured);
  });
  assert.equal(measured.length, rows.length);
  return measured;
}

function judge([name, , expected]: HostileRow, measured: Measured | undefined, others: readonly string[]): void {
  assert.ok(measured);
  const { outcome, milliseconds, mebibytes, detail } = measured;
  assert.ok([expected, ...others].includes(outcome), `${outcome}: ${detail}`);
  assert.ok(mebibytes <= MEBIBYTES, `${mebibytes} MiB`);
  assert.ok(milliseconds <= UNLIMITED_MILLIS, `${milliseconds} ms`);
  console.log(`${name}: ${outcome}, ${milliseconds} ms, ${mebibytes} MiB of the whole process`);
}

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
