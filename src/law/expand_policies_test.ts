import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import fc from "../../tests/packages/fast_check.ts";
import { type Editable, environment, leastSpec, policy } from "../../tests/simulation/kernel/law_specs.ts";
import type { JsonValue } from "../canonical/json.ts";
import { constructLaw, lawIdentity, reproveLaw } from "./law.ts";
import { lintLaw } from "./lint.ts";
import { lawAsJson } from "./normal_form.ts";

const sha256 = (data: string | Uint8Array): string => createHash("sha256").update(data).digest("hex");

/** The policy of a condition without bindings that leaves it out, as the format states it. */
const WITHOUT_BINDINGS = {
  allowed_channels: ["caller_submission"],
  authorization: "embedding_authority",
  combination: { combination: "AllQualifyingAgree" },
  freshness: { freshness: "NotRequired" },
  independence: "distinct_acquisition",
  integrity: "canonical_content_only",
  replay: "full_semantic",
  required_assurance: ["content_integrity", "scope", "schema_compatibility"],
  retention: "retain_canonical_value",
  scope: "exact_condition",
};

const NAMED: Readonly<Record<string, Editable>> = {
  signed: policy({ authorization: "signature", authorized_key_ids: ["b", "a"], integrity: "signed_content" }),
  young: policy({ freshness: { freshness: "MaximumAge", maximum_age_millis: 60_000 } }),
  digest: policy({ replay: "digest_only", retention: "retain_digest_only", required_assurance: [] }),
};
const OPEN = policy({ allowed_channels: ["provider_acquisition", "caller_submission", "local_acquisition"] });

const CHANNELS: Readonly<Record<string, Editable>> = {
  local_acquisition: { provider_id: "env", check_id: "get", params: { key: "A" } },
  provider_acquisition: { provider_id: "scanner", check_id: "findings" },
};

/** How a condition gives its policy, and the channels of its bindings. A named policy of a bound one is `open`. */
interface Plan {
  readonly given: "left_out" | "open" | keyof typeof NAMED;
  readonly channels: readonly ("local_acquisition" | "provider_acquisition")[];
}

const unbound: fc.Arbitrary<Plan> = fc.record({
  given: fc.constantFrom("left_out", "open", ...Object.keys(NAMED)),
  channels: fc.constant([]),
});
const bound: fc.Arbitrary<Plan> = fc.record({
  given: fc.constantFrom("left_out", "open"),
  channels: fc.array(fc.constantFrom("local_acquisition" as const, "provider_acquisition" as const), {
    minLength: 1,
    maxLength: 3,
  }),
});

/** The spec of some plans, with policies in short or in long form. */
function specOf(plans: readonly Plan[], long: boolean, reverse: boolean): JsonValue {
  const conditions = plans.map(({ given, channels }, index): Editable => {
    const condition = {
      condition_id: `c${index}`,
      // Domains that the results of both checks fit.
      observation_domain: { domain: "Json", maximum_bytes: 64 },
      predicate: { predicate: "Equals", expected: { value: 1, value_type: "Json" } },
    };
    if (!long && given === "left_out") return condition;
    if (!long) return { ...condition, evidence_use_policy: { policy_id: given } };
    const whole = given === "left_out"
      ? {
        ...WITHOUT_BINDINGS,
        ...channels.length === 0 ? {} : { allowed_channels: [...new Set(channels)], requires_all_bindings: true },
      }
      : given === "open"
      ? OPEN
      : NAMED[given];
    return { ...condition, evidence_use_policy: whole };
  });
  const bindings = plans.flatMap(({ channels }, index) =>
    channels.map((channel, at): Editable => ({
      binding_id: `b${index}.${at}`,
      condition_id: `c${index}`,
      channel,
      ...CHANNELS[channel],
    }))
  );
  const entries = [
    { policy_id: "rule", description: "For readers" },
    ...long ? [] : Object.entries({ ...NAMED, open: OPEN }).map(([policy_id, evidence_use_policy]) => ({
      policy_id,
      evidence_use_policy,
    })),
  ];
  const ordered = <T>(items: T[]): T[] => reverse ? items.toReversed() : items;
  const [first, ...more] = conditions.map(({ condition_id }) => ({ Condition: condition_id }));
  return {
    ...leastSpec(),
    policies: ordered(entries),
    conditions: ordered(conditions),
    acquisition_bindings: ordered(bindings),
    stages: [{
      stage_id: "review",
      prerequisite: { kind: "root" },
      completion_requirement: more.length === 0 ? first : { And: ordered([first, ...more]) },
    }],
  };
}

Deno.test("expanding policies commutes with the normal form: a short law is its long form", () => {
  const plans = fc.array(fc.oneof(unbound, bound), { minLength: 1, maxLength: 6 });
  fc.assert(fc.property(plans, fc.boolean(), fc.boolean(), (plans, reverseShort, reverseLong) => {
    const short = constructLaw(specOf(plans, false, reverseShort), environment());
    const long = constructLaw(specOf(plans, true, reverseLong), environment());
    assert.ok(short.ok && long.ok, JSON.stringify([short, long]));
    assert.deepEqual(short.law, long.law);
    assert.equal(lawIdentity(sha256, short.law), lawIdentity(sha256, long.law));
    assert.deepEqual(short.law.policies, [{ policy_id: "rule", description: "For readers" }]);
    assert.ok(reproveLaw(lawAsJson(short.law), environment()).ok);
  }));
});

Deno.test("lintLaw() warns of each condition that leaves out its policy and has no binding, and of no other", () => {
  const plans: readonly Plan[] = [
    { given: "left_out", channels: [] },
    { given: "open", channels: [] },
    { given: "left_out", channels: ["local_acquisition"] },
    { given: "left_out", channels: [] },
  ];
  const short = constructLaw(specOf(plans, false, true), environment());
  assert.ok(short.ok);
  const found = lintLaw(short.law, short.caller_asserted).filter(({ code }) => code === "caller_asserted");
  assert.deepEqual(found.map(({ path }) => path), ["$.conditions[0]", "$.conditions[3]"]);
  const long = constructLaw(specOf(plans, true, false), environment());
  assert.ok(long.ok);
  assert.deepEqual(long.caller_asserted, []);
});

Deno.test("reproveLaw() refuses a stored law in short form: a stored law is in its long form", () => {
  const plans: readonly Plan[] = [{ given: "left_out", channels: [] }, { given: "young", channels: [] }];
  for (const [shortened, plan] of plans.entries()) {
    const result = constructLaw(specOf([plan], false, false), environment());
    assert.ok(result.ok);
    const stored = structuredClone(lawAsJson(result.law)) as Editable;
    delete stored.conditions[0].evidence_use_policy;
    assert.equal(reproveLaw(stored, environment()).ok, false, `${shortened}`);
    const entry = { policy_id: "young", evidence_use_policy: NAMED["young"] };
    const unused = { ...structuredClone(lawAsJson(result.law)) as Editable, policies: [entry] };
    assert.equal(reproveLaw(unused, environment()).ok, false);
  }
});
