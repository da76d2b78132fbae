import assert from "node:assert/strict";
import { lawOf } from "../../../tests/simulation/kernel/fixture.ts";
import { type Editable, policy } from "../../../tests/simulation/kernel/law_specs.ts";
import type { ScenarioLaw } from "../../law/types.ts";
import { renderOpeners } from "./openers.ts";

/** A law of one stage, whose condition counts evidence as a policy says. */
function lawUnder(evidence_use_policy: Editable): ScenarioLaw {
  return lawOf({
    spec_version: "dag-v3",
    scenario_id: "asked",
    namespace_id: 2,
    conditions: [{
      condition_id: "approved",
      observation_domain: { domain: "Boolean" },
      predicate: { predicate: "Equals", expected: { value: true, value_type: "Boolean" } },
      evidence_use_policy,
    }],
    stages: [{ stage_id: "<ship>", prerequisite: { kind: "root" }, completion_requirement: { Condition: "approved" } }],
    completion_requirement: { Condition: "<ship>" },
  }).law;
}

function signedBy(count: number, minimum: number): Editable {
  return policy({
    allowed_channels: ["accepted_submission"],
    authorization: "signature",
    authorized_key_ids: Array.from({ length: count }, (_, at) => `key${at}`),
    combination: { combination: "Quorum", minimum },
    integrity: "signed_content",
    required_assurance: ["content_integrity", "schema_compatibility", "scope", "source_signature"],
  });
}

/** How evidence counts, and what the page shows. */
const ROWS: readonly (readonly [policy: Editable, shown: RegExp])[] = [
  [policy({ allowed_channels: ["caller_submission"] }), /<summary>Who can complete it: caller alone<\/summary>/],
  [
    signedBy(2, 1),
    /<summary>Who can complete it: one person alone<\/summary>.*<div>key key0<\/div><div>key key1<\/div>/,
  ],
  [signedBy(3, 2), /<summary>Who can complete it<\/summary>.*<div>key key0 \+ key key1<\/div>/],
  [signedBy(20, 1), /<div>and 4 more<\/div>/],
  [signedBy(64, 32), /is undecided: the law is too large/],
];

for (const [given, shown] of ROWS) {
  Deno.test(`renderOpeners() of ${JSON.stringify(given).slice(0, 80)}: ${shown}`, () => {
    const law = lawUnder(given);
    const { markup } = renderOpeners(law);
    assert.match(markup, shown);
    assert.ok(!markup.includes("<ship>"), "ids are escaped");
    assert.equal(renderOpeners(law).markup, markup);
  });
}
