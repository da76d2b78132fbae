import assert from "node:assert/strict";
import type { Attempt, TraceItem } from "../types.ts";
import { conditionTexts } from "./reason_text.ts";

/** The trace line of a condition, whether each of its items counted, and the words. */
const ROWS: readonly (readonly [Partial<TraceItem>, readonly boolean[], string])[] = [
  [{ value: "true" }, [true], "a is true"],
  [{ value: "unknown", reason: "no_evidence" }, [], "a is unknown (no evidence)"],
  [{ value: "unknown", reason: "no_evidence" }, [true], "a is unknown (quorum not reached)"],
  [{ value: "unknown", reason: "unqualified" }, [false], "a is unknown (unqualified)"],
  [{ value: "unknown", reason: "unqualified" }, [false, true], "a is unknown (quorum not reached)"],
  [{ value: "unknown", reason: "type_mismatch" }, [true], "a is unknown (type mismatch)"],
];

for (const [line, items, expected] of ROWS) {
  Deno.test(`conditionTexts() of ${JSON.stringify(line)} with items that count ${items}: ${expected}`, () => {
    const trace = [{ path: "", condition_id: "a", ...line }] as Attempt["trace"];
    const evidence = [
      { condition_id: "b", qualified: true },
      ...items.map((qualified) => ({ condition_id: "a", qualified })),
    ];
    assert.deepEqual(conditionTexts({ trace, evidence: evidence as unknown as Attempt["evidence"] }), [expected]);
  });
}
