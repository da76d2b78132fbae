/**
 * Verifications under limits, and a run of two segments.
 *
 * @module
 */

import { type Budget, BUDGET_MEMBERS, type BudgetLimits } from "../../../src/runpack/verify/types.ts";
import { forge } from "../forged_packs/forge.ts";
import { packOf } from "../runpack/memory.ts";
import { playGoldenRun } from "../runpack/run.ts";
import { WHOLE } from "./cases.ts";
import { withList, withObject } from "./reshape.ts";
import type { Base, Made } from "./rows.ts";

/** The golden run, and as many submissions more as make its second segment begin. */
export function playLongRun(): Base["run"] {
  return playGoldenRun(SECOND_SEGMENT - GOLDEN_RECORDS, () => "gate-kernel-2");
}

const GOLDEN_RECORDS = 11;
/** Records of a run that needs a second segment. */
const SECOND_SEGMENT = 258;

/** A verification with what it violates. */
export interface PlainRow {
  readonly name: string;
  readonly violates: Readonly<Record<string, string>>;
  readonly make: (base: Base) => Made | Promise<Made>;
}

/** Changes a segment of the whole pack of two. */
const ofSegments = (
  name: string,
  violates: PlainRow["violates"],
  change: (segments: Parameters<Parameters<typeof withList>[2]>[0][]) => void,
): PlainRow => ({
  name,
  violates,
  make: ({ pack }) => ({ pack: withList(pack, "segments", ({ segments }) => change(segments)) }),
});

/** Puts lines of the first segment in the place of those of the second, which are taken out. */
const inSecond = (name: string, part: "receipts" | "values", violates: PlainRow["violates"]): PlainRow => ({
  name,
  violates,
  make: ({ pack }) => {
    let before = "";
    const changed = withList(pack, "segments", ({ segments: [first, second] }) => {
      before = second[part].object;
      second[part] = first[part];
    });
    return { pack: withObject(changed, before, () => null) };
  },
});

const TREE = "artifact_tree_integrity";

/** Packs of two segments. */
export const SEGMENT_ROWS: readonly PlainRow[] = [
  { name: "two segments", violates: {}, make: ({ pack }) => ({ pack }) },
  {
    name: "the first 256 records: one full segment",
    violates: {},
    make: async ({ run }) => ({ pack: await packOf(run, 256) }),
  },
  {
    name: "the first 257 records: a segment of one",
    violates: {},
    make: async ({ run }) => ({ pack: await packOf(run, 257) }),
  },
  ofSegments(
    "a second segment that begins one record later",
    { [TREE]: "tree_shape_invalid: segments/1" },
    ([, second]) => {
      second.first_revision += 1;
    },
  ),
  ofSegments(
    "a second segment that ends one record later",
    { [TREE]: "tree_shape_invalid: segments/1" },
    ([, second]) => {
      second.last_revision += 1;
    },
  ),
  ofSegments("no second segment", { [TREE]: "tree_shape_invalid: nodes/0/0" }, (segments) => segments.pop()),
  ofSegments("segments in the other order", { [TREE]: "tree_shape_invalid: segments/0" }, (segments) => {
    segments.reverse();
  }),
  inSecond("the receipts of the first segment in the second", "receipts", {
    operation_receipt_consistency: "receipt_mismatch: revision 257",
  }),
  inSecond("the values of the first segment in the second", "values", {
    submission_consistency: "payload_missing: revision 257",
    evidence_retention_reconstruction: "value_missing: segments/1",
    pure_semantic_replay: "decision_mismatch: revision 257",
  }),
  {
    name: "as many records as the first segment holds",
    violates: {},
    make: ({ pack }) => ({ pack, request: { ...WHOLE, budget: { records: 256 } } }),
  },
  {
    name: "all records in one segment",
    violates: { [TREE]: "tree_shape_invalid: nodes/0/0" },
    make: ({ run }) => ({ pack: forge(run) }),
  },
];

/** Limits of each member up to what a verification takes: none, the least, parts of it, one less, all of it, one more. */
export function limitsOf(used: Budget, parts: number): readonly BudgetLimits[] {
  return BUDGET_MEMBERS.flatMap((member) => {
    const most = used[member];
    const between = Array.from({ length: parts }, (_, part) => Math.floor(most * (part + 1) / (parts + 1)));
    const limits = new Set([0, ...between, most - 1, most].filter((limit) => limit >= 0));
    return [...limits].map((limit) => ({ [member]: limit }));
  });
}

/** Requests for some members at a time. */
export const SEVERAL_LIMITS: readonly BudgetLimits[] = [
  {},
  { records: 3, objects: 5 },
  { bytes_read: 2 ** 53 - 1, canonical_work_bytes: 20_000 },
];

/** What is asked under limits. */
export const limited = (budget: BudgetLimits): typeof WHOLE => ({ ...WHOLE, budget });
