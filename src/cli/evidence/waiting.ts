/** `gate waiting`: lists the signatures that open stages wait for. */

import { isJsonArray } from "../../canonical/json.ts";
import { countOf } from "../../config/problems.ts";
import type { Findings } from "../../run/missing/causes.ts";
import { tallyText } from "../../run/missing/sentence.ts";
import type { WaitingCondition } from "../../run/missing/waiting.ts";
import { listRuns, namespacesOf, type RunFlags, type RunItem, withRunTools } from "../run/find_run.ts";
import { parametersText } from "../run/parameters_text.ts";
import { mustCall, type ToolSession } from "../session/tool_session.ts";
import { CliError } from "../terminal/cli_error.ts";
import { EXIT } from "../terminal/exit_codes.ts";
import { writeAnswer } from "../terminal/output.ts";
import { columns, shown } from "../terminal/text.ts";
import { readKey } from "./read_key.ts";

/** The flags of `gate waiting`. */
export interface WaitingFlags extends RunFlags {
  readonly key?: string;
  readonly passphraseFile?: string;
}

/** What to do where no key that may sign is configured. */
export const NO_KEY_REMEDY =
  "gate key trust adds one, and trust.evidence_keys or --evidence-keys names the folder, here or where the server starts";

/** An attempt with what was found for each condition that is unmet. */
interface ExplainedAttempt extends Partial<Findings> {
  readonly record_id: string;
}

/** Runs of a page. */
const PAGE = 100;

/** The conditions of a run that wait for statements, and its last attempts. */
export async function readWaiting(
  session: ToolSession,
  run: RunItem,
): Promise<{ readonly waiting: readonly WaitingCondition[]; readonly attempts: readonly ExplainedAttempt[] }> {
  const { run_key: { namespace_id, run_id }, scenario_id } = run;
  const answer = await mustCall(session, "scenario_status", {
    namespace_id,
    scenario_id,
    run_id,
    include: ["waiting"],
  });
  const listOf = <Item>(name: string): readonly Item[] => {
    const list = answer[name] ?? null;
    return (isJsonArray(list) ? list : []) as readonly Item[];
  };
  return { waiting: listOf("waiting"), attempts: listOf("recent_attempts") };
}

/** Runs `gate waiting`: with `--key` only what waits for this key. Returns 3 where no key that may sign is configured. */
export async function runWaiting(flags: WaitingFlags): Promise<number> {
  const own = flags.key === undefined ? null : (await readKey(flags.key, flags.passphraseFile)).public_key;
  return await withRunTools(flags, async (session) => {
    const found: (WaitingCondition & RunItem["run_key"] & Pick<RunItem, "scenario_id">)[] = [];
    const rows: string[][] = [];
    for (const namespace_id of await namespacesOf(session, flags.namespace)) {
      let cursor: string | null = null;
      do {
        const query = { namespace_id, status: "active", include: ["waiting"], limit: PAGE, cursor };
        const page: Awaited<ReturnType<typeof listRuns>> = await listRuns(session, query);
        for (const run of page.items) {
          if (run.unreadable !== undefined) {
            const message = `Cannot read run "${run.run_key.run_id}": ${run.unreadable}`;
            throw new CliError("store_corrupt", message, null, EXIT.verificationFailed);
          }
          for (const one of run.waiting ?? []) {
            // Without keys gate cannot tell for whom a condition waits.
            const isOwn = own === null || one.no_key === true || one.keys.some(({ public_key }) => public_key === own);
            if (!isOwn) continue;
            found.push({ ...run.run_key, scenario_id: run.scenario_id, ...one });
            rows.push(rowOf(run, one));
          }
        }
        cursor = page.next;
      } while (cursor !== null);
    }
    const table = columns([["RUN", "LAW", "STAGE", "CONDITION", "SIGNED", "WAITS FOR", "PARAMETERS"], ...rows]);
    const text = found.length === 0 ? "Nothing waits for a signature\n" : table;
    const keyless = found.filter(({ no_key }) => no_key === true).length;
    if (keyless === 0) return writeAnswer("waiting", flags, { waiting: found }, text);
    const note = `For ${countOf(keyless, "condition")} no key that may sign is configured: ${NO_KEY_REMEDY}\n`;
    return writeAnswer("waiting", flags, { waiting: found }, text, { note, exitCode: EXIT.evaluatedFalse });
  });
}

/** A condition that waits, in the words of its law, with the parameters of its run. */
function rowOf(run: RunItem, one: WaitingCondition): string[] {
  const { stage_id, condition_id, sentence = condition_id, keys, no_key } = one;
  return [
    run.run_key.run_id,
    shown(run.scenario_id),
    shown(stage_id),
    shown(sentence),
    shown(tallyText(one)),
    no_key === true ? "no configured key" : keys.map(({ key_id }) => shown(key_id)).join(" "),
    parametersText(run),
  ];
}
