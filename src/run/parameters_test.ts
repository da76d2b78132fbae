import assert from "node:assert/strict";
import { lawOf } from "../../tests/simulation/kernel/fixture.ts";
import { type Editable, flag, stage } from "../../tests/simulation/kernel/law_specs.ts";
import { canonicalize } from "../canonical/canonicalize.ts";
import type { JsonValue } from "../canonical/json.ts";
import { utf8Length } from "../canonical/utf8.ts";
import { SPEC_LIMITS } from "../law/limits.ts";
import { bindLaw, checkParameters } from "./parameters.ts";

const MAXIMUM = 1_048_576;

/** A law with one string as parameter and these params of bindings. */
function lawWith(params: readonly JsonValue[]): ReturnType<typeof lawOf> {
  const condition: Editable = flag("a");
  condition.evidence_use_policy.allowed_channels = ["local_acquisition"];
  return lawOf({
    spec_version: "dag-v3",
    scenario_id: "limits",
    namespace_id: 2,
    parameters: [{ parameter_id: "p", domain: { domain: "String", minimum_bytes: 0, maximum_bytes: 60_000 } }],
    conditions: [condition],
    acquisition_bindings: params.map((one, index) => ({
      binding_id: `b${String(index).padStart(4, "0")}`,
      condition_id: "a",
      channel: "local_acquisition",
      provider_id: "env",
      check_id: "read",
      params: one,
    })),
    stages: [stage("one", "a")],
    completion_requirement: { Condition: "one" },
  });
}

/** The codes of the faults of a value, or the canonical bytes of the resolved params of each binding. */
function resultOf(law: ReturnType<typeof lawOf>, value: string): string[] | number[] {
  const parameters = [{ parameter_id: "p", value: { value, value_type: "String" } as const }];
  const checked = checkParameters(law, { kind: "parameters", parameters }, MAXIMUM);
  if (!checked.ok) return checked.faults.map(({ code }) => code);
  return bindLaw(law, checked.parameters).law.acquisition_bindings.map(({ params = null }) =>
    utf8Length(canonicalize(params))
  );
}

const TWICE = { a: { $parameter: "p" }, b: { $parameter: "p" } };
const LIMIT = SPEC_LIMITS.paramsBytes;

/** Params, a character of the value, and the canonical bytes that each repetition of it adds. */
const AT_LIMIT: readonly [what: string, params: JsonValue, unit: string, bytes: number][] = [
  ["a parameter twice", { ...TWICE, pad: "" }, "x", 2],
  ["characters that JSON escapes", { ...TWICE, pad: "" }, '"', 4],
  ["characters of several bytes", { ...TWICE, pad: "" }, "ä", 4],
  ["characters that a URL encodes", { a: { $template: "https://h.example/{p}?{p}" }, pad: "" }, "ä", 12],
  ["characters that JSON escapes, in a URL", { a: { $template: "https://h.example/{p}" }, pad: "" }, '"', 3],
];

Deno.test("resolved params of a binding have at most their limit, at n-1, n, n+1 bytes", () => {
  for (const [what, params, unit, bytes] of AT_LIMIT) {
    const [empty = 0] = resultOf(lawWith([params]), unit) as number[];
    const count = Math.floor((LIMIT - 1 - empty) / bytes);
    const value = unit.repeat(count + 1);
    const rest = LIMIT - empty - count * bytes;
    for (const more of [-1, 0, 1]) {
      const padded = { ...params as Record<string, JsonValue>, pad: "x".repeat(rest + more) };
      const wanted = more === 1 ? ["params_too_large"] : [LIMIT + more];
      assert.deepEqual(resultOf(lawWith([padded]), value), wanted, `${what}, ${more}`);
    }
  }
});

Deno.test("resolved params of all bindings have at most their limit together, at n-1, n, n+1 bytes", () => {
  const value = "x".repeat(30_000);
  const [empty = 0] = resultOf(lawWith([{ ...TWICE, pad: "" }]), value) as number[];
  const full = { ...TWICE, pad: "y".repeat(LIMIT - empty) };
  const count = SPEC_LIMITS.resolvedParamsBytes / LIMIT;
  const small = { pad: "", of: { $parameter: "p" } };
  const [least = 0] = resultOf(lawWith([small]), value) as number[];
  const others = Array.from({ length: count - 1 }, () => full);
  for (const more of [-1, 0, 1]) {
    const last = { ...small, pad: "z".repeat(LIMIT - least + more - (more === 1 ? 1 : 0)) };
    const bindings = [...others, last, ...more === 1 ? [{ of: { $parameter: "p" } }] : []];
    const found = resultOf(lawWith(bindings), value);
    assert.deepEqual(more === 1 ? found : found.length, more === 1 ? ["params_too_large"] : count, `${more}`);
  }
  const plain = { of: "x".repeat(60_000) };
  const free = Array.from({ length: 80 }, () => plain);
  assert.equal(resultOf(lawWith([...free, small]), value).length, 81, "params without placeholders do not count");
});

Deno.test("params that would resolve to gigabytes are refused before they are made", () => {
  const many = Array.from({ length: 1400 }, () => ({ $template: "https://h.example/{p}{p}{p}" }));
  assert.deepEqual(resultOf(lawWith([{ many }]), "ä".repeat(20_000)), ["params_too_large"]);
});

Deno.test("bindLaw() shares all parts of the law without parameters", () => {
  const law = lawWith([{ of: { $parameter: "p" } }, { of: "fixed" }]);
  const bound = bindLaw(law, [{ parameter_id: "p", value: { value: "v", value_type: "String" } }]);
  assert.deepEqual([...bound.resolvedBindings], ["b0000"]);
  assert.equal(bound.bindingIndex.get("b0001"), law.bindingIndex.get("b0001"));
  assert.equal(bound.conditionIndex.get("a"), law.conditionIndex.get("a"));
  assert.deepEqual(bound.stages[0]?.bindings.map(({ params }) => params), [{ of: "v" }, { of: "fixed" }]);
  assert.deepEqual(law.bindingIndex.get("b0000")?.params, { of: { $parameter: "p" } }, "the law stays as it is");
  assert.equal(bindLaw(law, undefined), law);
});
