import assert from "node:assert/strict";
import { identify } from "../../canonical/identity.ts";
import type { JsonValue } from "../../canonical/json.ts";
import { forge, type Parts } from "../../../tests/simulation/forged_packs/forge.ts";
import { memorySource, packOf, PRIMITIVES, statusesOf, verifyWhole } from "../../../tests/simulation/runpack/memory.ts";
import { playGoldenRun } from "../../../tests/simulation/runpack/run.ts";
import { verifyRunpack } from "./verify.ts";
import { CLAIM_NAMES, type ClaimName } from "./claims.ts";
import type { ValidateSchema } from "./types.ts";

const RUN = playGoldenRun();
const PACK = await packOf(RUN);

Deno.test("verifyRunpack() asks for verdicts on params under the identity of their schema alone", async () => {
  const asked = new Map<string, JsonValue>();
  const validateSchema: ValidateSchema = (identity, schema) => {
    asked.set(identity, schema);
    return Promise.resolve("valid");
  };
  const request = { runpack_identity: null, profile: "full_replay_v1", budget: null, trusted_keys: null } as const;
  await verifyRunpack(memorySource(PACK), request, { ...PRIMITIVES, validateSchema });
  assert.equal(asked.size, 2);
  for (const [identity, schema] of asked) {
    assert.equal(identity, identify(PRIMITIVES.sha256, "schema", schema));
  }
});

// What is lacking, and the claims that need it and are open for its sake.
const OPEN_CLAIMS: readonly [string, (parts: Parts) => void, string, readonly ClaimName[]][] = [
  [
    "an invalid law",
    (parts) => void parts.law.conditions.reverse(),
    "law_not_constructed",
    ["scenario_graph_binding", "run_allocation_integrity", "current_state_equivalence", "source_authenticity"],
  ],
  [
    "an invalid first record",
    (parts) => void (parts.recordLines = ([, ...rest]) => ["{}", ...rest]),
    "history_broken",
    [
      "scenario_law_construction",
      "scenario_graph_binding",
      "run_allocation_integrity",
      "creation_receipt_integrity",
      "exact_head_reconstruction",
    ],
  ],
];

for (const [what, change, reason, claims] of OPEN_CLAIMS) {
  Deno.test(`verifyRunpack() ${what}: ${reason} for every claim that needs it`, async () => {
    const statuses = statusesOf(await verifyWhole(forge(RUN, change)));
    for (const claim of claims) assert.equal(statuses[claim], `unavailable ${reason}`, claim);
  });
}

Deno.test("verifyRunpack() a first record that creates no run, under an invalid law, leaves the creation open", async () => {
  const pack = forge(RUN, (parts) => {
    parts.law.conditions.reverse();
    for (const list of [parts.records, parts.receipts]) list.splice(0, list.length, ...list.slice(1, 2));
    Object.assign(parts.records[0], { revision: 1, previous_record_id: null });
  });
  const statuses = statusesOf(await verifyWhole(pack));
  assert.match(statuses["run_allocation_integrity"] ?? "", /^violated run_created_missing/);
  assert.equal(statuses["accepted_history_continuity"], "satisfied");
  assert.equal(statuses["creation_receipt_integrity"], "unavailable history_broken");
});

Deno.test("verifyRunpack() no records within the budget: what the first one has to agree with is open", async () => {
  const statuses = statusesOf(await verifyWhole(PACK, { budget: { records: 0 } }));
  for (const claim of CLAIM_NAMES.slice(3, 23)) assert.equal(statuses[claim], "unavailable budget_exhausted", claim);
});

Deno.test("verifyRunpack() rejects values that are only line feeds before splitting them", async () => {
  const pack = forge(RUN, (parts) => parts.valueLines = () => ["\n".repeat(200_000_000)]);
  const statuses = statusesOf(await verifyWhole(pack));
  assert.equal(statuses["evidence_retention_reconstruction"], "violated value_invalid: segments/0");
});
