import { anyInteger, closed, identity, integer, orNull, text } from "../canonical/shape.ts";
import { optional, table } from "../canonical/table_shape.ts";
import { runKeyOf } from "../run/command.ts";
import type { StoredRecord } from "../store/types.ts";
import { listedAs, runMembers } from "./framework/input.ts";
import { commentOf } from "./mutation/submitted_evidence.ts";
import { arrayOf, ref } from "./framework/output.ts";
import { runNotFound } from "./framework/not_found.ts";
import { cutPage, PAGE_CHARACTERS, PAGE_DEFAULT, PAGE_MAXIMUM } from "./framework/pagination.ts";
import { textAnswer } from "./framework/errors.ts";
import { type MakeTool, makeTool, READS } from "./make_tool.ts";

const NAMED = { name: "scenario_history", group: "Read", audit: "request" } as const;

/** The tool `scenario_history`. */
export const scenarioHistory: MakeTool = (services) =>
  makeTool(services, {
    ...NAMED,
    title: "History of a run",
    description:
      "Returns the accepted records of a run in order: who did what, when, on what evidence. Next page: after_revision = " +
      "next_after_revision.",
    details:
      "Returns the accepted records of a run in order, each naming the one before by record_id: who did what, when, " +
      "on what evidence. Values and payloads are named by identity only; comment is what a person wrote beside a " +
      "statement. A page at a time: call again with after_revision = next_after_revision until it is null. An archived " +
      "run has no records here: archived names their runpack.",
    hints: READS,
    input: table({
      ...runMembers,
      after_revision: optional(listedAs(orNull(integer(0)), { type: ["integer", "null"] })),
      limit: optional(integer(1, PAGE_MAXIMUM), `Default ${PAGE_DEFAULT}`),
    }),
    output: closed({
      records: arrayOf(closed({ record_id: identity, record: ref("record") }, { comment: text })),
      next_after_revision: orNull(anyInteger),
    }, { archived: ref("archived") }),
    act: async ({ namespace_id, scenario_id, run_id, after_revision, limit = PAGE_DEFAULT }) => {
      const runKey = runKeyOf(namespace_id, run_id);
      // A run whose records were found damaged is refused here; the records of the page are verified below.
      const run = await services.projections.read(runKey);
      if (run === null || run.state.scenario_id !== scenario_id) {
        return runNotFound({ namespace_id, scenario_id, run_id });
      }
      if (run.archived !== undefined) {
        return textAnswer(`{"records":[],"next_after_revision":null,"archived":${JSON.stringify(run.archived)}}`);
      }
      const fetched = await services.runs.listRecords(runKey, after_revision ?? 0, limit + 1, PAGE_CHARACTERS);
      const page = cutPage(fetched, limit, itemText);
      const records = page.items.map(itemText);
      // The store may have stopped at the size of a page, so the head shows whether more records follow.
      const end = page.items.at(-1)?.revision ?? null;
      const next = end !== null && (page.last !== null || end < run.state.head.revision) ? end : null;
      return textAnswer(`{"records":[${records.join(",")}],"next_after_revision":${next}}`);
    },
  });

function itemText({ record_id, record, material }: StoredRecord): string {
  // Only a record of a signed statement names the hash of a comment.
  const comment = record.includes('"comment_hash":') ? commentOf(material[0]?.body) : undefined;
  const more = comment === undefined ? "" : `,"comment":${JSON.stringify(comment)}`;
  return `{"record_id":"${record_id}","record":${record}${more}}`;
}
