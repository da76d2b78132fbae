import assert from "node:assert/strict";
import {
  acquiredItem,
  ATTEMPT,
  int,
  KEY_1,
  KEY_2,
  oneConditionLaw,
  presented,
  qualificationWith,
  SHA256,
  signed,
  trusting,
} from "../../tests/simulation/kernel/fixture.ts";
import type { JsonObject } from "../canonical/json.ts";
import type { PresentedEvidence } from "./evidence.ts";
import { hasBoundSignature, statementTexts } from "./statement.ts";

const LAW = oneConditionLaw();
const { primitives, keys } = qualificationWith(LAW, {
  trust: { min_lane: "verified", default_policy: trusting(KEY_1, KEY_2), providers: [] },
});
const ITEM = presented("c", int(3), { observed_at: 1000 });

function isBound(item: PresentedEvidence, law = LAW, attempt = ATTEMPT): boolean {
  return hasBoundSignature(primitives, keys, law, attempt, item);
}

Deno.test("statementTexts() are the statement with and without its optional members", () => {
  const base = {
    statement: "gate.evidence/v1",
    namespace_id: 2,
    scenario_law_identity: LAW.scenario_law_identity,
    run_id: ATTEMPT.run_id,
    stage_id: "s",
    condition_id: "c",
    observed_at: 1000,
    value_identity: SHA256('gate:evidence-value:v1\0{"value":3,"value_type":"Integer"}'),
  };
  const head = ATTEMPT.expected_head;
  const content_hash = { algorithm: "sha256", value: SHA256("3") };
  const statements = statementTexts(LAW, ATTEMPT, ITEM).map((text) => JSON.parse(text) as JsonObject);
  assert.deepEqual(statements, [
    { ...base, head },
    base,
    { ...base, head, content_hash },
    { ...base, content_hash },
  ]);
  const [acquired] = statementTexts(LAW, ATTEMPT, acquiredItem(LAW, "env-1", int(3), { observed_at: 1000 })).slice(1);
  assert.deepEqual(JSON.parse(acquired ?? ""), {
    ...base,
    provider_id: "env",
    check_id: "read",
    params: { of: "env-1" },
  });
});

Deno.test("statementTexts() is empty without a value or the time of the observation", () => {
  assert.deepEqual(statementTexts(LAW, ATTEMPT, presented("c", int(3))), []);
  assert.deepEqual(statementTexts(LAW, ATTEMPT, acquiredItem(LAW, "env-1", null, { observed_at: 1000 })), []);
});

Deno.test("hasBoundSignature() accepts each form of the statement, by a trusted key", () => {
  for (const form of [0, 1, 2, 3] as const) assert.ok(isBound(signed(LAW, ITEM, KEY_1, ATTEMPT, form)));
  assert.ok(isBound(signed(LAW, acquiredItem(LAW, "scan-1", int(3)), KEY_2)));
});

Deno.test("hasBoundSignature() rejects a signature if one member of the statement differs from the attempt", () => {
  const item = signed(LAW, ITEM, KEY_1);
  const acquired = signed(LAW, acquiredItem(LAW, "env-1", int(3)), KEY_1);
  const other = { ...ATTEMPT.expected_head, revision: 8 };
  const { value_identity, content_hash } = presented("c", int(4));
  assert.ok(value_identity !== undefined && content_hash !== undefined && acquired.acquisition !== undefined);
  const rows: readonly [string, boolean][] = [
    ["nothing", isBound(item)],
    ["the law, and with it the namespace", !isBound(item, oneConditionLaw({ independence: "not_required" }))],
    ["the run", !isBound(item, LAW, { ...ATTEMPT, run_id: "0".repeat(32) })],
    ["the stage", !isBound(item, LAW, { ...ATTEMPT, stage_id: "t" })],
    ["the head, where it is named", !isBound(item, LAW, { ...ATTEMPT, expected_head: other })],
    ["the condition", !isBound({ ...item, condition_id: "other" })],
    ["the observation", !isBound({ ...item, observed_at: 1001 })],
    ["the value", !isBound({ ...item, value_identity })],
    ["provider and check", !isBound({ ...acquired, acquisition: { ...acquired.acquisition, provider_id: "json" } })],
    ["the check", !isBound({ ...acquired, acquisition: { ...acquired.acquisition, check_id: "other" } })],
    ["the params", !isBound({ ...acquired, acquisition: { ...acquired.acquisition, binding_id: "env-2" } })],
    [
      "the way it came",
      !isBound({ ...ITEM, signature: acquired.signature as never, observed_at: acquired.observed_at as number }),
    ],
  ];
  for (const [name, verdict] of rows) assert.ok(verdict, name);
  const headless = signed(LAW, ITEM, KEY_1, ATTEMPT, 1);
  assert.ok(isBound(headless, LAW, { ...ATTEMPT, expected_head: other }));
  const hashed = signed(LAW, ITEM, KEY_1, ATTEMPT, 3);
  assert.ok(!isBound({ ...hashed, content_hash }));
});

Deno.test("hasBoundSignature() rejects keys that are not trusted, another key's signature, and invalid base64", () => {
  const item = signed(LAW, ITEM, KEY_1);
  const { signature } = item;
  assert.ok(signature !== undefined);
  assert.ok(!hasBoundSignature(primitives, new Map(), LAW, ATTEMPT, item));
  assert.ok(!isBound({ ...item, signature: { ...signature, key_id: "ci-2" } }));
  assert.ok(!isBound({ ...item, signature: { ...signature, key_id: "__proto__" } }));
  for (const text of ["", "AAAA", signature.signature.slice(0, -1), ` ${signature.signature}`]) {
    assert.ok(!isBound({ ...item, signature: { ...signature, signature: text } }), text);
  }
  assert.ok(!isBound(ITEM));
});
