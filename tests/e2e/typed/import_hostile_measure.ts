/**
 * Imports hostile documents in a process of their own, and judges the outcome, the time and the memory.
 *
 * @module
 */

import assert from "node:assert/strict";
import { join } from "node:path";
import { inFolder } from "../gate_command.ts";
import type { HostileRow } from "./import_hostile_documents.ts";

const PROCESS = new URL("./import_hostile_process.ts", import.meta.url).pathname;
const SETTINGS = new URL("../../../deno.json", import.meta.url).pathname;
const MEBIBYTES = 512;
/** The longest time of an import with the start of its process: its limit is processor time, and other work delays it. */
const UNLIMITED_MILLIS = 90_000;

/** How an import ended. */
export interface Measured {
  readonly outcome: string;
  readonly milliseconds: number;
  readonly mebibytes: number;
  readonly detail: string;
}

/** Imports the documents of some rows, one after the other in one process. */
export async function measure(rows: readonly HostileRow[], suffix: string): Promise<readonly Measured[]> {
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

/** Whether a row ended with its outcome or with one of the others, within time and memory. */
export function judge([name, , expected]: HostileRow, measured: Measured | undefined, others: readonly string[]): void {
  assert.ok(measured);
  const { outcome, milliseconds, mebibytes, detail } = measured;
  assert.ok([expected, ...others].includes(outcome), `${outcome}: ${detail}`);
  assert.ok(mebibytes <= MEBIBYTES, `${mebibytes} MiB`);
  assert.ok(milliseconds <= UNLIMITED_MILLIS, `${milliseconds} ms`);
  console.log(`${name}: ${outcome}, ${milliseconds} ms, ${mebibytes} MiB of the whole process`);
}
