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

async function measure([, make]: HostileRow, name: string): Promise<Measured> {
  let measured: Measured | null = null;
  await inFolder(async (folder) => {
    const file = join(folder, name);
    await Deno.writeFile(file, make());
    const args = ["run", "--no-prompt", "--quiet", "--no-check", "--config", SETTINGS, "-A", PROCESS, file];
    const { stdout } = await new Deno.Command(Deno.execPath(), { args, stdin: "null", stderr: "inherit" }).output();
    measured = JSON.parse(new TextDecoder().decode(stdout)) as Measured;
  });
  assert.ok(measured);
  return measured;
}

for (
  const [rows, others, file] of [
    [SMALL_ROWS, [], "document"],
    [SMALL_PROTO_ROWS, [], "a.proto"],
    [LARGE_ROWS, ["import_timeout"], "document"],
    [LARGE_PROTO_ROWS, ["import_timeout"], "a.proto"],
  ] as const
) {
  for (const row of rows) {
    const [name, , expected] = row;
    Deno.test(`import of ${name}: ${expected}`, async () => {
      const { outcome, milliseconds, mebibytes, detail } = await measure(row, file);
      assert.ok([expected, ...others].includes(outcome), `${outcome}: ${detail}`);
      assert.ok(mebibytes <= MEBIBYTES, `${mebibytes} MiB`);
      assert.ok(milliseconds <= UNLIMITED_MILLIS, `${milliseconds} ms`);
      console.log(`${name}: ${outcome}, ${milliseconds} ms, ${mebibytes} MiB of the whole process`);
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
