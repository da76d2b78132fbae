import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import fc from "../../tests/packages/fast_check.ts";
import vectors from "../../tests/vectors/law/parameters.json" with { type: "json" };
import { environment } from "../../tests/simulation/kernel/law_specs.ts";
import { canonicalize } from "../canonical/canonicalize.ts";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../canonical/json.ts";
import { expandLaw } from "../law/expand.ts";
import { constructLaw, graphIdentity, lawIdentity } from "../law/law.ts";
import { lawAsJson } from "../law/normal_form.ts";
import { readTemplate } from "../law/placeholders.ts";
import type { ParameterValue, ScenarioLaw } from "../law/types.ts";
import { compileLaw } from "./compile.ts";
import { bindLaw, checkParameters, type GenesisParameters } from "./parameters.ts";

const sha256 = (data: string | Uint8Array): string => createHash("sha256").update(data).digest("hex");
const MAXIMUM = 1_048_576;

function lawOf(spec: unknown): ScenarioLaw {
  const result = constructLaw(spec as JsonValue, environment());
  assert.ok(result.ok, JSON.stringify(result));
  return result.law;
}

const compiled = (law: ScenarioLaw): ReturnType<typeof compileLaw> =>
  compileLaw(law, lawIdentity(sha256, law), graphIdentity(sha256, law));

Deno.test("constructLaw() agrees with the vectors of laws with parameters", () => {
  assert.ok(vectors.laws.length >= 2);
  for (const { name, spec, canonical, scenario_law_identity, graph_identity } of vectors.laws) {
    const law = lawOf(spec);
    assert.equal(canonicalize(lawAsJson(law)), canonical, name);
    assert.equal(lawIdentity(sha256, law), scenario_law_identity, name);
    assert.equal(graphIdentity(sha256, law), graph_identity, name);
  }
});

Deno.test("constructLaw() agrees with the vectors of refusals of parameters", () => {
  assert.ok(vectors.refusals.length > 20);
  for (const { name, spec, refusals } of vectors.refusals) {
    const result = constructLaw(spec as JsonValue, environment());
    assert.deepEqual(result.ok ? [] : result.refusals.map(({ code, path }) => ({ code, path })), refusals, name);
  }
});

Deno.test("readTemplate() agrees with the vectors", () => {
  for (const { template, parameters } of vectors.templates) {
    const read = readTemplate(template);
    assert.deepEqual(typeof read === "string" ? null : read.parameters, parameters, template);
  }
});

Deno.test("checkParameters() agrees with the vectors of genesis", () => {
  for (const { name, law, genesis, faults, expanded } of vectors.genesis) {
    const of = compiled(lawOf(vectors.laws.find((one) => one.name === law)?.spec));
    const checked = checkParameters(of, genesis as unknown as GenesisParameters, MAXIMUM);
    const found = checked.ok ? [] : checked.faults.map(({ code, path, parameter_id }) => ({
      code,
      path,
      ...parameter_id === undefined ? {} : { parameter_id },
    }));
    assert.deepEqual(found, faults, name);
    if (!checked.ok) continue;
    const { conditions, acquisition_bindings } = bindLaw(of, checked.parameters).law;
    assert.equal(canonicalize({ conditions, acquisition_bindings } as unknown as JsonValue), expanded, name);
  }
});

/** A value drawn for each parameter of the release spec. */
const drawn = fc.record({
  version: fc.string({ unit: "grapheme", minLength: 1, maxLength: 4 }).filter((text) => !/^\.{1,2}$/.test(text)),
  commit: fc.string({ unit: "grapheme", minLength: 1, maxLength: 6 }).filter((text) => !/^\.{1,2}$/.test(text)),
  image: fc.stringMatching(/^[0-9a-f]{64}$/),
  limit: fc.integer({ min: 0, max: 10 }),
  factor: fc.constantFrom("0.5", "1", "1.50", "2"),
  since: fc.constantFrom("2025-10-01", "2025-10-01T00:00:00Z", "2024-02-29T23:59:59.5+02:00"),
  strict: fc.boolean(),
});
const TYPES = {
  version: "String",
  commit: "String",
  image: "Digest",
  limit: "Integer",
  factor: "Decimal",
  since: "Timestamp",
  strict: "Boolean",
} as const;

/** The spec with each parameter replaced where it stands, written apart from the product. */
function substituted(spec: JsonValue, values: Readonly<Record<string, JsonValue>>): JsonValue {
  if (isJsonArray(spec)) {
    const items = spec.map((item) => substituted(item, values));
    // Equal expected values at a start are no fault, and a literal law may not repeat one.
    return items.filter((item, index) =>
      !isJsonObject(item) || !Object.hasOwn(item, "value_type") ||
      items.findIndex((other) => canonicalize(other) === canonicalize(item)) === index
    );
  }
  if (!isJsonObject(spec)) return spec;
  const names = Object.keys(spec);
  if (names.length === 1 && names[0] === "parameter") {
    const id = member(spec, "parameter") as keyof typeof TYPES;
    return { value: values[id] ?? null, value_type: TYPES[id] };
  }
  if (names.length === 1 && names[0] === "$parameter") return values[String(member(spec, "$parameter"))] ?? null;
  if (names.length === 1 && names[0] === "$template") {
    const encode = (text: string): string =>
      [...new TextEncoder().encode(text)].map((byte) => {
        const character = String.fromCharCode(byte);
        return /[A-Za-z0-9._~-]/.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
      }).join("");
    return String(member(spec, "$template")).replaceAll(/\{([^}]*)\}/g, (_, id) => encode(String(values[id])));
  }
  return Object.fromEntries(names.map((name) => [name, substituted(member(spec, name) ?? null, values)]));
}

Deno.test("the expansion of parameters commutes with the normal form", () => {
  const spec = vectors.laws[0]?.spec as unknown as JsonObject;
  const law = lawOf(spec);
  fc.assert(
    fc.property(drawn, (values) => {
      const parameters: ParameterValue[] = Object.entries(values).map(([parameter_id, value]) => ({
        parameter_id,
        value: { value, value_type: TYPES[parameter_id as keyof typeof TYPES] },
      }));
      const expanded = expandLaw(law, new Map(parameters.map((one) => [one.parameter_id, one.value])));
      const { parameters: _declared, ...plain } = spec;
      const literal = lawOf(substituted(plain, values));
      const { parameters: _kept, ...rest } = expanded;
      assert.equal(canonicalize(lawAsJson(rest)), canonicalize(lawAsJson(literal)));
    }),
    { numRuns: 200 },
  );
});

Deno.test("the values of a run are those of law and genesis in any order", () => {
  const of = compiled(lawOf(vectors.laws[0]?.spec));
  fc.assert(
    fc.property(drawn, fc.infiniteStream(fc.nat()), (values, draws) => {
      const given = Object.entries(values).map(([parameter_id, value]): ParameterValue => ({
        parameter_id,
        value: { value, value_type: TYPES[parameter_id as keyof typeof TYPES] },
      }));
      const shuffled = given.map((one) => ({ one, at: draws.next().value })).sort((a, b) => a.at - b.at);
      const check = (parameters: readonly ParameterValue[]): ReturnType<typeof checkParameters> =>
        checkParameters(of, { kind: "parameters", parameters }, MAXIMUM);
      const first = check(given);
      const second = check(shuffled.map(({ one }) => one));
      assert.ok(first.ok && second.ok, JSON.stringify([first, second]));
      assert.deepEqual(first, second);
      assert.deepEqual(bindLaw(of, first.parameters).law, bindLaw(of, second.parameters).law);
      assert.equal(bindLaw(of, first.parameters).scenario_law_identity, of.scenario_law_identity);
    }),
  );
});
