import assert from "node:assert/strict";
import {
  acquiredItem,
  bool,
  int,
  KEY_1,
  KEY_2,
  lawOf,
  oneConditionLaw,
  presented,
  qualificationWith,
  signed,
  trusting,
} from "../../tests/simulation/kernel/fixture.ts";
import { flag, leastSpec } from "../../tests/simulation/kernel/law_specs.ts";
import type { JsonValue } from "../canonical/json.ts";
import type { CompiledLaw, CompiledStage } from "./compile.ts";
import { evaluateEvidence } from "./evaluate.ts";
import type { PresentedEvidence } from "./evidence.ts";
import type { OperatorProfile } from "./profile.ts";

const TRUST: Partial<OperatorProfile> = {
  trust: { min_lane: "verified", default_policy: trusting(KEY_1, KEY_2), providers: [] },
};

/**
 * One item of the condition "below 5", by a word: `t` and `t2` are two values that make it true, `f` one that makes it
 * false. `n` is nothing found, `e` an observed error, `x` an item that does not qualify. `@` names the source: a
 * binding, `caller`, a key that signs, or one that does not.
 */
function itemOf(law: CompiledLaw, word: string, index: number): PresentedEvidence {
  const [what = "", source = "env-1"] = word.split("@");
  const value = { t: int(1), t2: int(2), f: int(9), x: int(1) }[what];
  const item_id = `item-${index}`;
  if (/^(caller|ci|forged)/.test(source)) {
    assert.ok(value !== undefined, word);
    const item = presented("c", value, { item_id });
    if (source === "caller") return item;
    const forged = {
      scheme: "ed25519",
      key_id: source.replace("forged", "ci"),
      signature: KEY_1.sign("other"),
    } as const;
    if (source.startsWith("forged")) return { ...item, observed_at: 1, signature: forged };
    return signed(law, item, source === KEY_1.key_id ? KEY_1 : KEY_2);
  }
  const lane = what === "x" ? { lane: "asserted" as const } : {};
  return acquiredItem(law, source, what === "e" ? { error: "http_status" } : value ?? null, { item_id, ...lane });
}

/** The truth of the condition with the reason of its trace line, and each item's reason, `-` for one that counts. */
function judge(
  policy: Readonly<Record<string, JsonValue>>,
  words: string,
  predicate?: JsonValue,
): { readonly outcome: string; readonly items: string } {
  const law = oneConditionLaw(policy, predicate === undefined ? {} : { predicate });
  const stage = law.stages[0] as CompiledStage;
  const items = words === "" ? [] : words.split(" ").map((word, index) => itemOf(law, word, index));
  const { outcome, trace, evidence } = evaluateEvidence(stage, items, qualificationWith(law, TRUST));
  const [line] = trace;
  assert.equal(trace.length, 1);
  assert.equal(line?.value, outcome);
  assert.deepEqual(evidence.map(({ item }) => item.item_id), items.map(({ item_id }) => item_id));
  return {
    outcome: line?.reason === undefined ? outcome : `${outcome} ${line.reason}`,
    items: evidence.map(({ reason }) => reason ?? "-").join(" "),
  };
}

const AGREE = { combination: { combination: "AllQualifyingAgree" } };
const ANY = { combination: { combination: "AnyQualifying" } };
const quorum = (minimum: number): Readonly<Record<string, JsonValue>> => ({
  combination: { combination: "Quorum", minimum },
});
const EVERY = { independence: "not_required" };

const COMBINATIONS: readonly [Readonly<Record<string, JsonValue>>, string, string][] = [
  [AGREE, "", "unknown no_evidence"],
  [AGREE, "t", "true"],
  [AGREE, "f", "false"],
  [AGREE, "n", "unknown no_evidence"],
  [AGREE, "e", "unknown error"],
  [AGREE, "x", "unknown unqualified"],
  [AGREE, "x x@env-2", "unknown unqualified"],
  [AGREE, "t t@env-2", "true"],
  [AGREE, "f f@env-2", "false"],
  [AGREE, "t t2@env-2", "unknown disagreement"],
  [AGREE, "t f@env-2", "unknown disagreement"],
  [AGREE, "t n@env-2", "unknown disagreement"],
  [AGREE, "t e@env-2", "unknown error"],
  [AGREE, "t x@env-2", "true"],
  [AGREE, "t t@env-2 f@scan-1", "unknown disagreement"],
  [ANY, "", "unknown no_evidence"],
  [ANY, "t", "true"],
  [ANY, "f", "false"],
  [ANY, "n", "unknown no_evidence"],
  [ANY, "e", "unknown error"],
  [ANY, "x", "unknown unqualified"],
  [ANY, "t f@env-2", "true"],
  [ANY, "f t@env-2", "true"],
  [ANY, "f f@env-2", "false"],
  [ANY, "f e@env-2", "unknown error"],
  [ANY, "t e@env-2", "true"],
  [ANY, "f n@env-2", "unknown no_evidence"],
  [ANY, "f x@env-2", "false"],
  [quorum(1), "t", "true"],
  [quorum(1), "f", "false"],
  [quorum(1), "t f@env-2", "unknown disagreement"],
  [quorum(1), "t e@env-2", "true"],
  [quorum(1), "t f@env-2 e@scan-1", "unknown disagreement"],
  [quorum(2), "", "unknown no_evidence"],
  [quorum(2), "t", "unknown no_evidence"],
  [quorum(2), "x", "unknown unqualified"],
  [quorum(2), "t x@env-2", "unknown unqualified"],
  [quorum(2), "t t2@env-2", "true"],
  [quorum(2), "f f@env-2", "false"],
  [quorum(2), "t f@env-2", "unknown disagreement"],
  [quorum(2), "t e@env-2", "unknown error"],
  [quorum(2), "t n@env-2", "unknown no_evidence"],
  [quorum(2), "t t@env-2 f@scan-1", "true"],
  [quorum(2), "f f@env-2 t@scan-1", "false"],
  [quorum(2), "t t@env-2 e@scan-1", "true"],
  [quorum(2), "t t@env-2 f@scan-1 f@scan-2", "unknown disagreement"],
  [quorum(3), "t t@env-2 f@scan-1 f@scan-2", "unknown disagreement"],
  [quorum(3), "t t@env-2 t@scan-1 f@scan-2", "true"],
  [quorum(3), "t t@env-2", "unknown no_evidence"],
  [quorum(3), "t t@env-2 e@scan-1", "unknown error"],
];

for (const [policy, words, outcome] of COMBINATIONS) {
  const { combination } = policy as { combination: { combination: string; minimum?: number } };
  Deno.test(`judgeCondition() ${combination.combination} ${combination.minimum ?? ""} of "${words}": ${outcome}`, () => {
    assert.equal(judge(policy, words).outcome, outcome);
  });
}

const ACQUISITION = { independence: "distinct_acquisition" };
const PROVIDER = { independence: "distinct_provider" };
const SAME = "not_independent";

const INDEPENDENCE: readonly [Readonly<Record<string, JsonValue>>, string, string, string][] = [
  [{ ...quorum(2), ...ACQUISITION }, "t@caller t@caller", "unknown unqualified", `- ${SAME}`],
  [{ ...quorum(2), ...ACQUISITION }, "t@caller t2@caller", "unknown disagreement", "- -"],
  [{ ...ANY, ...ACQUISITION }, "t@caller f@caller t@env-1", "unknown disagreement", "- - -"],
  [{ ...quorum(2), ...EVERY }, "t@caller t@caller", "true", "- -"],
  [{ ...ANY, ...EVERY }, "t@caller f@caller", "true", "- -"],
  [{ ...quorum(2), ...ACQUISITION }, "t@caller t@env-1", "true", "- -"],
  [{ ...quorum(2), ...ACQUISITION }, "t@env-1 t@env-2", "true", "- -"],
  [{ ...quorum(2), ...PROVIDER }, "t@env-1 t@env-2", "unknown unqualified", `- ${SAME}`],
  [{ ...quorum(2), ...PROVIDER }, "t@env-1 t2@env-2", "unknown disagreement", "- -"],
  [{ ...quorum(2), ...PROVIDER }, "t@env-1 t@scan-1", "true", "- -"],
  [{ ...quorum(2), ...ACQUISITION }, "t@ci-1 t@ci-1", "unknown unqualified", `- ${SAME}`],
  [{ ...quorum(2), ...ACQUISITION }, "t@ci-1 t@ci-2", "true", "- -"],
  [{ ...quorum(2), ...PROVIDER }, "t@ci-1 t@ci-2", "true", "- -"],
  [{ ...quorum(2), ...PROVIDER }, "t@ci-1 t@caller", "true", "- -"],
  [{ ...quorum(2), ...ACQUISITION }, "t@forged-1 t@forged-2", "unknown unqualified", `- ${SAME}`],
  [{ ...ANY, ...PROVIDER }, "t@env-1 e@env-2", "true", "- -"],
  [{ ...AGREE, ...PROVIDER }, "e@env-1 e@env-2", "unknown error", "- -"],
  [{ ...quorum(2), ...PROVIDER }, "x@env-1 t@env-2 t@scan-1", "true", "lane - -"],
];

for (const [policy, words, outcome, items] of INDEPENDENCE) {
  Deno.test(`applyIndependence() ${policy["independence"]} of "${words}": ${outcome}`, () => {
    assert.deepEqual(judge(policy, words), { outcome, items });
  });
}

Deno.test("evaluateEvidence() counts absence only from an acquisition that found nothing, and only for Exists and NotExists", () => {
  const rows: readonly [JsonValue, string, string][] = [
    [{ predicate: "NotExists" }, "n", "true"],
    [{ predicate: "NotExists" }, "t", "false"],
    [{ predicate: "NotExists" }, "", "unknown no_evidence"],
    [{ predicate: "NotExists" }, "e", "unknown error"],
    [{ predicate: "NotExists" }, "n n@env-2", "true"],
    [{ predicate: "Exists" }, "n", "false"],
    [{ predicate: "Exists" }, "t", "true"],
    [{ predicate: "Exists" }, "", "unknown no_evidence"],
    [{ predicate: "Exists" }, "e", "unknown error"],
  ];
  for (const [predicate, words, outcome] of rows) assert.equal(judge(AGREE, words, predicate).outcome, outcome, words);
});

Deno.test("evaluateEvidence() counts JSON null as present, and another type as a type mismatch", () => {
  const rows: readonly [JsonValue, JsonValue, string][] = [
    [{ predicate: "NotExists" }, null, "false"],
    [{ predicate: "Exists" }, null, "true"],
    [{ predicate: "LessThan", expected: { value: 5, value_type: "Json" } }, "4", "unknown type_mismatch"],
    [{ predicate: "LessThan", expected: { value: 5, value_type: "Json" } }, 4, "true"],
  ];
  for (const [predicate, value, outcome] of rows) {
    const law = oneConditionLaw({}, { observation_domain: { domain: "Json", maximum_bytes: 100 }, predicate });
    const items = [presented("c", { value, value_type: "Json" })];
    const [line] = evaluateEvidence(law.stages[0] as CompiledStage, items, qualificationWith(law)).trace;
    assert.equal([line?.value, line?.reason ?? ""].join(" ").trim(), outcome);
  }
});

Deno.test("evaluateEvidence() traces every visit of a leaf for each outcome", () => {
  const spec = leastSpec();
  spec.conditions = ["a", "b", "c"].map(flag);
  spec.stages[0].completion_requirement = {
    Or: [
      { And: [{ Condition: "a" }, { Not: { Condition: "b" } }] },
      { RequireGroup: { min: 2, reqs: [{ Condition: "a" }, { Condition: "b" }, { Condition: "c" }] } },
    ],
  };
  const law = lawOf(spec);
  const items = [
    presented("a", bool(true), { item_id: "caller:0" }),
    presented("b", bool(false), { item_id: "caller:1" }),
    presented("elsewhere", bool(true), { item_id: "caller:2" }),
  ];
  const { outcome, trace, evidence } = evaluateEvidence(law.stages[0] as CompiledStage, items, qualificationWith(law));
  assert.equal(outcome, "true");
  assert.deepEqual(trace, [
    { path: "$.Or[0].And[0]", condition_id: "a", value: "true" },
    { path: "$.Or[0].And[1].Not", condition_id: "b", value: "false" },
    { path: "$.Or[1].RequireGroup.reqs[0]", condition_id: "a", value: "true" },
    { path: "$.Or[1].RequireGroup.reqs[1]", condition_id: "b", value: "false" },
    { path: "$.Or[1].RequireGroup.reqs[2]", condition_id: "c", value: "unknown", reason: "no_evidence" },
  ]);
  assert.deepEqual(evidence.map(({ reason }) => reason), [null, null, "scope"]);
});
