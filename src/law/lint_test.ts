import assert from "node:assert/strict";
import {
  type Editable,
  flag,
  fullSpec,
  leastSpec,
  policy,
  stage,
  surroundings,
} from "../../tests/simulation/law_specs.ts";
import { constructLaw } from "./law.ts";
import { lintLaw, type WarningCode } from "./lint.ts";

function warningsOf(change: (spec: Editable) => unknown, base: () => Editable): string[] {
  const spec = base();
  change(spec);
  const result = constructLaw(spec, surroundings());
  assert.ok(result.ok, JSON.stringify(result));
  return lintLaw(result.law).map(({ code, path }) => `${code} ${path}`);
}

Deno.test("lintLaw() finds nothing in the least spec", () => {
  assert.deepEqual(warningsOf(() => {}, leastSpec), []);
});

Deno.test("lintLaw() warns about what is probably not meant", () => {
  const only = (...channels: string[]): Editable => policy({ allowed_channels: channels });
  const packet = { packet_id: "p", content_type: "text/plain", payload: { kind: "bytes", base64: "" } };
  type Row = readonly [change: (spec: Editable) => unknown, base: () => Editable, ...`${WarningCode} $${string}`[]];
  const rows: readonly Row[] = [
    [(s) => s.conditions.push(flag("b")), leastSpec, "condition_unused $.conditions[1]"],
    [
      (s) => s.conditions[0].evidence_use_policy = only("local_acquisition", "provider_acquisition"),
      leastSpec,
      "condition_without_evidence $.conditions[0]",
    ],
    [
      (s) => s.conditions[0].predicate = { predicate: "NotExists" },
      leastSpec,
      "absence_never_observed $.conditions[0]",
    ],
    // In normal form the conditions are sorted: "findings" comes fourth.
    [() => {}, fullSpec, "quorum_out_of_reach $.conditions[3]"],
    [(s) => s.conditions[1].evidence_use_policy.combination.minimum = 1, fullSpec],
    [
      (s) => {
        s.conditions[0].evidence_use_policy = { ...only("local_acquisition"), integrity: "signed_content" };
        s.conditions[1].evidence_use_policy.combination.minimum = 1;
      },
      fullSpec,
      "signature_never_given $.conditions[7]",
    ],
    [(s) => s.stages.push(stage("a", "approved")), leastSpec, "stage_without_effect $.stages[0]"],
    [
      (s) => s.stages[0].entry_packets = [{ ...packet, schema_id: "release" }],
      leastSpec,
      "schema_undeclared $.stages[0].entry_packets[0].schema_id",
    ],
    [
      (s) => {
        s.conditions[1].evidence_use_policy.combination.minimum = 1;
        s.stages[0].entry_packets = [];
        s.schemas = [];
      },
      fullSpec,
      "schema_undeclared $.conditions[6].observation_domain.schema",
    ],
  ];
  for (const [change, base, ...warnings] of rows) assert.deepEqual(warningsOf(change, base), warnings);
});
