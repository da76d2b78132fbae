import assert from "node:assert/strict";

import { appendTo } from "../../../tests/simulation/store/fixture.ts";
import { IMPLEMENTATIONS, withStores } from "../../../tests/simulation/store/open.ts";
import { CliError } from "../terminal/cli_error.ts";
import { findStoredRun } from "./stored_run.ts";

const RUNS: readonly (readonly [namespace_id: number, digits: string])[] = [
  [2, "abcd0"],
  [2, "abcd1"],
  [2, "ffff"],
  [3, "abcd2"],
  [3, "0123"],
];

function whole(digits: string): string {
  return digits.padEnd(32, "0");
}

/** Digits, namespace, and the run or the message. */
const ROWS: readonly (readonly [digits: string, namespace: number | null, found: string])[] = [
  ["abcd0", 2, "2 abcd0"],
  ["abcd0", null, "2 abcd0"],
  ["abcd", 3, "3 abcd2"],
  ["ffff", null, "2 ffff"],
  ["ffff", 3, 'Cannot find run "ffff" in namespace 3'],
  ["eeee", null, 'Cannot find run "eeee" in the store'],
  ["abcd", 2, `Cannot use run "abcd": it begins ${whole("abcd0")}, ${whole("abcd1")}`],
  ["abcd", null, `Cannot use run "abcd": it begins ${whole("abcd0")}, ${whole("abcd1")}, ${whole("abcd2")}`],
  [whole("abcd2"), null, "3 abcd2"],
];

for (const implementation of IMPLEMENTATIONS) {
  Deno.test(`findStoredRun() (${implementation.name}) finds the one run that begins with the digits`, () =>
    withStores(implementation, {}, async ({ runs }) => {
      for (const [namespace_id, digits] of RUNS) {
        await runs.append(appendTo({ namespace_id, run_id: whole(digits) }, null, `create ${digits}`));
      }
      for (const [digits, namespace, found] of ROWS) {
        const shown = await findStoredRun(runs, digits, namespace).then(
          ({ namespace_id, run_id }) => `${namespace_id} ${run_id.replace(/0+$/, "")}`,
          (error: unknown) => error instanceof CliError ? error.message : String(error),
        );
        assert.equal(shown, found.replace(/^(\d) (.*?)0+$/, "$1 $2"), `${digits} ${namespace}`);
      }
    }));
}
