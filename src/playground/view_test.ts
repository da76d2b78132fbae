import assert from "node:assert/strict";
import { startAnswers } from "./answer.ts";
import type { Given } from "./fields.ts";

const LAW = `law: fz
evidence: {frozen: boolean, coverage: percent, ok: boolean}
stages: {s: "!frozen && !(coverage >= 80) && ok"}
`;

const ROWS: readonly (readonly [frozen: string, coverage: string, rows: readonly string[]])[] = [
  ["true", "90", ["!(coverage &gt;= 80) false found 90", "!frozen false found true", "ok true "]],
  ["false", "50", ["!(coverage &gt;= 80) true found 50", "!frozen true found false", "ok true "]],
];

for (const [frozen, coverage, rows] of ROWS) {
  Deno.test(`renderVerdict() frozen ${frozen}, coverage ${coverage}: ${rows.join("; ")}`, async () => {
    const evidence = new Map(Object.entries({ frozen, coverage, ok: "true" }));
    const given: Given = { evidence, parameters: new Map(), signed: new Set(), at: "" };
    const { verdicts: [verdict] } = await startAnswers()({ texts: [LAW], given });
    const [, body = ""] = /Trace of the evaluation.*?<tbody>(.*?)<\/tbody>/s.exec(verdict?.markup ?? "") ?? [];
    const cells = [...body.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row = ""]) =>
      [...row.matchAll(/<td>(.*?)<\/td>/gs)].map(([, cell = ""]) => cell.replaceAll(/<[^>]*>/g, "")).join(" ")
    );
    assert.deepEqual(cells.sort(), rows);
  });
}
