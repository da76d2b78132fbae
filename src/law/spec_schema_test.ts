import assert from "node:assert/strict";
import { Ajv2020 } from "../../tests/packages/ajv.ts";
import fc from "../../tests/packages/fast_check.ts";
import { BINDINGS, CONDITIONS, GRAPHS, REQUIREMENTS } from "../../tests/simulation/kernel/law_rule_rows.ts";
import { PARAMETERS } from "../../tests/simulation/kernel/law_parameter_rows.ts";
import { PACKETS, REFERENCES, SHAPE } from "../../tests/simulation/kernel/law_refusal_rows.ts";
import { type Editable, fullSpec, leastSpec, LIMITS, releaseSpec } from "../../tests/simulation/kernel/law_specs.ts";
import type { JsonValue } from "../canonical/json.ts";
import { checkDuplicates } from "./check_names.ts";
import { readSpec } from "./decode_spec.ts";
import { collector } from "./refusals.ts";
import { SPEC_SCHEMA } from "./spec_schema.ts";
import type { Refusal, RefusalCode } from "./types.ts";

const validate = new Ajv2020({ strict: true, allowUnionTypes: true }).compile(SPEC_SCHEMA);

/** Refusals of the decoder that a schema cannot express: relations between members, and sizes in bytes. */
const BEYOND_SCHEMA: ReadonlySet<RefusalCode> = new Set([
  "group_minimum_invalid",
  "payload_content_type_mismatch",
  "payload_too_large",
  "policy_conflict",
  "policy_not_found",
  "requirement_too_deep",
  "requirement_too_large",
  "value_limit_exceeds_operator",
  "content_type_invalid",
  "duplicate",
]);

function decoderRefusals(spec: JsonValue): Refusal[] {
  const refusals = collector();
  checkDuplicates(refusals, readSpec(refusals, spec, LIMITS));
  // The scanner accepts no JSON text with a lone surrogate.
  return refusals.report().filter(({ message }) => !message.endsWith("lone surrogate"));
}

/** The schema and the decoder have the same verdict on the shape of a spec. */
function assertSame(spec: JsonValue, what: string): void {
  const refusals = decoderRefusals(spec);
  const shape = refusals.filter(({ code }) => !BEYOND_SCHEMA.has(code));
  if (refusals.length === 0) assert.ok(validate(spec), `${what}: ${JSON.stringify(validate.errors)}`);
  else if (shape.length > 0) assert.ok(!validate(spec), `${what}: ${JSON.stringify(shape)}`);
}

Deno.test("SPEC_SCHEMA and the decoder agree on every row about parameters", () => {
  assert.ok(validate(releaseSpec()), JSON.stringify(validate.errors));
  for (const [what, change] of PARAMETERS) {
    const spec = releaseSpec();
    change(spec);
    assertSame(spec, what);
  }
});

Deno.test("SPEC_SCHEMA accepts the minimal and the full spec", () => {
  for (const spec of [leastSpec(), fullSpec()]) assert.ok(validate(spec), JSON.stringify(validate.errors));
});

Deno.test("SPEC_SCHEMA has at most 12 kB, for clients that read gate://schemas/scenario", () => {
  const bytes = JSON.stringify(SPEC_SCHEMA).length;
  assert.ok(bytes <= 12_000, `${bytes} bytes`);
});

Deno.test("SPEC_SCHEMA and the decoder agree on every row of the refusal tables", () => {
  const rows = [...SHAPE, ...PACKETS, ...REFERENCES, ...REQUIREMENTS, ...GRAPHS, ...CONDITIONS, ...BINDINGS];
  let refused = 0;
  for (const [what, change] of rows) {
    const spec = fullSpec();
    change(spec);
    assertSame(spec, what);
    if (!validate(spec)) refused++;
  }
  assert.ok(refused > 40, "Hardly any row is about shape");
});

/** Every value below a value, as its container with a name or index. */
function placesOf(value: Editable, places: [Editable, string | number][] = []): [Editable, string | number][] {
  if (typeof value !== "object" || value === null) return places;
  for (const key of Array.isArray(value) ? value.keys() : Object.keys(value)) {
    places.push([value, key]);
    placesOf(value[key], places);
  }
  return places;
}

const REPLACEMENTS: readonly JsonValue[] = [
  null,
  true,
  -1,
  0,
  1,
  1.5,
  65,
  2 ** 53,
  "",
  "x",
  "a\u0007",
  "x".repeat(257),
  "-1.50",
  "01",
  [],
  {},
  ["x"],
  [[]],
  { kind: "root" },
  { Condition: "x" },
  { And: [{ Condition: "x" }], Or: [] },
  { domain: "Integer" },
  { predicate: "Exists" },
  { value: 1, value_type: "Json" },
];

Deno.test("SPEC_SCHEMA and the decoder agree on mutated specs", () => {
  const mutation = fc.record({
    full: fc.boolean(),
    at: fc.nat(),
    kind: fc.constantFrom("replace", "remove", "add", "repeat"),
    replacement: fc.constantFrom(...REPLACEMENTS),
    name: fc.constantFrom("note", "description", "minimum", "kind", "__proto__", "Not", "expected"),
  });
  fc.assert(
    fc.property(mutation, ({ full, at, kind, replacement, name }) => {
      const spec = full ? fullSpec() : leastSpec();
      const places = placesOf(spec);
      const [container, key] = places[at % places.length] as [Editable, string | number];
      if (kind === "replace") container[key] = replacement;
      else if (kind === "repeat" && Array.isArray(container)) container.push(structuredClone(container[0]));
      else if (kind === "remove" && Array.isArray(container)) container.splice(key as number, 1);
      else if (kind === "remove") delete container[key];
      else if (!Array.isArray(container)) {
        Object.defineProperty(container, name, { value: replacement, enumerable: true, configurable: true });
      }
      assertSame(spec, `${kind} ${String(key)}`);
    }),
    { numRuns: 3000 },
  );
});
