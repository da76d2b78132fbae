import assert from "node:assert/strict";
import { answered, type Behaviour, found, NOTHING, testProvider } from "../../tests/simulation/acquisition_fixture.ts";
import { KEY_1, KEY_2, profileWith, trusting } from "../../tests/simulation/kernel/fixture.ts";
import type { JsonObject } from "../canonical/json.ts";
import type { CheckContract, EvidenceResult } from "../evidence/types.ts";
import type { OperatorProfile } from "../run/profile.ts";
import { RESULT_BYTES, sentBytes } from "./framework/response_size.ts";
import { type Bench, REMOTE, testConfig, withTools } from "./tests/tools_fixture.ts";

const CONTEXT = { namespace_id: 2, trigger_time: { kind: "unix_millis", value: 5 } };
const OPEN = { evidence: { allow_raw_values: true, require_provider_opt_in: false } };

function query(change: JsonObject = {}): JsonObject {
  return { query: { provider_id: "scanner", check_id: "read", ...change }, context: CONTEXT };
}

async function withProvider(
  behaviour: Behaviour,
  test: (bench: Bench) => Promise<void>,
  options: { readonly check?: Partial<CheckContract>; readonly profile?: Partial<OperatorProfile> } = {},
): Promise<void> {
  const provider = testProvider("scanner", behaviour, options.check);
  await withTools(test, {
    config: OPEN,
    change: (services) => ({
      ...services,
      providers: new Map([["scanner", provider]]),
      environment: { ...services.environment, profile: profileWith(options.profile) },
    }),
  });
}

const SEVEN_HASH = "7902699be42c8a8e46fbbb4501726517e86b22c56a189f7625a6da49081b2451";

function signed(key: typeof KEY_1): Partial<EvidenceResult> {
  const signature = key.sign(`{"algorithm":"sha256","value":"${SEVEN_HASH}"}`);
  return { signature: { scheme: "ed25519", key_id: key.key_id, signature } };
}

const TRUST: Partial<OperatorProfile> = {
  trust: { min_lane: "verified", default_policy: trusting(KEY_1), providers: [] },
};
const ANCHORS: Partial<OperatorProfile> = {
  anchors: [{ provider_id: "scanner", anchor_type: "report", required_fields: ["path"] }],
};

/** A result, the policies of the operator, members of the contract, and the error or `ok`. */
const ROWS: readonly [string, EvidenceResult, Partial<OperatorProfile>, Partial<CheckContract>, string][] = [
  ["a value", found(7), {}, {}, "ok"],
  ["nothing found", NOTHING, {}, {}, "ok"],
  ["an observed error", { ...NOTHING, error: { code: "x", message: "m" } }, {}, {}, "x"],
  ["its own hash", found(7, { evidence_hash: { algorithm: "sha256", value: SEVEN_HASH } }), {}, {}, "ok"],
  [
    "a hash of something else",
    found(7, { evidence_hash: { algorithm: "sha256", value: "0".repeat(64) } }),
    {},
    {},
    "hash_mismatch",
  ],
  ["a signature that is owed", found(7), TRUST, {}, "signature_invalid"],
  ["nothing signed", NOTHING, TRUST, {}, "signature_invalid"],
  ["a signature by its key", found(7, signed(KEY_1)), TRUST, {}, "ok"],
  ["a signature by another", found(7, signed(KEY_2)), TRUST, {}, "signature_invalid"],
  ["an anchor that is owed", found(7), ANCHORS, {}, "anchor_invalid"],
  [
    "the anchor",
    found(7, { evidence_anchor: { anchor_type: "report", anchor_value: '{"path":"a"}' } }),
    ANCHORS,
    {},
    "ok",
  ],
  ["a result outside of the contract", found(7), {}, { result_schema: { type: "string" } }, "result_schema_mismatch"],
];

Deno.test("evidence_query checks a result against contract and policies", async (test) => {
  for (const [name, result, profile, check, expected] of ROWS) {
    await test.step(`${name}: ${expected}`, () =>
      withProvider(() => answered(result), async (bench) => {
        const answer = await bench.call("evidence_query", query());
        const shown = answer["result"] as {
          value: JsonObject | null;
          error: JsonObject | null;
          evidence_hash: JsonObject | null;
        };
        assert.equal(shown.error?.["code"] ?? "ok", expected);
        if (shown.error !== null) assert.deepEqual([shown.value, shown.evidence_hash], [null, null]);
        else if (shown.value !== null) assert.equal(shown.evidence_hash?.["value"], SEVEN_HASH);
      }, { profile, check }));
  }
});

/** A result, whether the operator discloses values, and the value and `withheld` of the answer. */
const DISCLOSED: readonly [string, EvidenceResult, boolean, readonly [JsonObject | null, true | undefined]][] = [
  ["a value", found(7), true, [{ kind: "json", value: 7 }, undefined]],
  ["a value", found(7), false, [null, true]],
  ["nothing found", NOTHING, false, [null, undefined]],
  ["an observed error", { ...NOTHING, error: { code: "x", message: "m" } }, false, [null, undefined]],
];

Deno.test("evidence_query says where it withholds a value", async (test) => {
  for (const [name, result, allow_raw_values, expected] of DISCLOSED) {
    await test.step(`${name}, raw values ${allow_raw_values}: ${JSON.stringify(expected)}`, () =>
      withTools(async (bench) => {
        const { value, withheld } = (await bench.call("evidence_query", query()))["result"] as JsonObject;
        assert.deepEqual([value, withheld], expected);
      }, {
        config: { evidence: { allow_raw_values, require_provider_opt_in: false } },
        change: (services) => ({
          ...services,
          providers: new Map([["scanner", testProvider("scanner", () => answered(result))]]),
        }),
      }));
  }
});

const FAILING: readonly [string, JsonObject, string][] = [
  ["an unknown provider", { provider_id: "scaner" }, "provider_not_found"],
  ["an unknown check", { check_id: "red" }, "check_not_found"],
  ["params that do not fit", { params: { of: 1 } }, "params_invalid"],
  ["no params", {}, "params_invalid"],
  ["a failing provider", { params: { of: "down" } }, "acquisition_failed"],
];

Deno.test("evidence_query returns the reason of a failed query", () =>
  withProvider(
    () => ({ ok: false, code: "worker_died", message: "It died", retryable: true }),
    async (bench) => {
      for (const [name, change, code] of FAILING) {
        const error = await bench.fail("evidence_query", query(change));
        assert.equal(error.code, code, name);
        if (code === "acquisition_failed") {
          assert.ok(error.retryable);
          assert.deepEqual(error.details, { code: "worker_died", provider_id: "scanner", check_id: "read" });
        }
      }
    },
    { check: { params_required: true, params_schema: { properties: { of: { type: "string" } } } } },
  ));

Deno.test("evidence_query rejects a value beyond the limit of values", () =>
  withProvider(() => answered(found("x".repeat(99))), async (bench) => {
    const error = await bench.fail("evidence_query", query());
    assert.deepEqual([error.code, error.details?.["code"]], ["acquisition_failed", "response_too_large"]);
  }, { profile: { value_limits: { maximum_value_bytes: 100, maximum_payload_bytes: 100 } } }));

Deno.test("evidence_query returns a value up to the bytes of an answer, and an error with them beyond", () => {
  let characters = 0;
  return withProvider(() => answered(found("x".repeat(characters))), async (bench) => {
    characters = 100;
    const short = await bench.call("evidence_query", query());
    const rest = sentBytes(JSON.stringify(short)) - 200;
    characters = Math.floor((RESULT_BYTES - rest) / 2);
    const whole = await bench.call("evidence_query", query());
    assert.ok(JSON.stringify(whole).includes("x".repeat(characters)));
    characters++;
    const error = await bench.fail("evidence_query", query());
    assert.equal(error.code, "response_too_large");
    const bytes = sentBytes(JSON.stringify(whole)) + 2;
    assert.deepEqual(error.details, { bytes, maximum_bytes: RESULT_BYTES });
  });
});

Deno.test("evidence_query queries for the caller, in a namespace that it may use", () => {
  const seen: unknown[] = [];
  const behaviour: Behaviour = (asked, context) => {
    seen.push(asked, context);
    return answered(NOTHING);
  };
  return withProvider(behaviour, async (bench) => {
    const context = { ...CONTEXT, stage_id: "s", correlation_id: "abc-1" };
    await bench.call("evidence_query", {
      query: { provider_id: "scanner", check_id: "read", params: { a: 1 } },
      context,
    });
    assert.deepEqual(seen, [{ provider_id: "scanner", check_id: "read", params: { a: 1 } }, context]);
    const closed = await bench.fail("evidence_query", { ...query(), context: { ...CONTEXT, namespace_id: 1 } }, REMOTE);
    assert.equal(closed.code, "namespace_refused");
    const odd = await bench.fail("evidence_query", { ...query(), context: { ...CONTEXT, correlation_id: "a b" } });
    assert.equal(odd.code, "invalid_input");
    assert.equal(testConfig().evidence.allow_raw_values, false);
  });
});
