import assert from "node:assert/strict";
import fc from "../../../tests/packages/fast_check.ts";
import extensions from "../../../tests/vectors/law/extensions.json" with { type: "json" };
import laws from "../../../tests/vectors/law/laws.json" with { type: "json" };
import parameters from "../../../tests/vectors/law/parameters.json" with { type: "json" };
import { canonicalize } from "../../canonical/canonicalize.ts";
import { isJsonObject, type JsonValue } from "../../canonical/json.ts";
import { constructLaw } from "../../law/law.ts";
import { LAW_LIMITS } from "../../law/limits.ts";
import { lawAsJson } from "../../law/normal_form.ts";
import type { ScenarioLaw } from "../../law/types.ts";
import { permissiveEnvironment } from "../../runpack/verify/claims/scenario_law_construction.ts";
import { compileLaw, formatLaw, writeLaw } from "../law_file.ts";
import { readYamlSource } from "../source_yaml.ts";
import { lawOfSeed } from "./random_law_fixture.ts";

/** The law of a spec; null if it is none. */
function lawOf(spec: JsonValue): ScenarioLaw | null {
  const built = constructLaw(spec, { limits: LAW_LIMITS, ...permissiveEnvironment(spec) });
  return built.ok ? built.law : null;
}

/** The canonical text of the law of a law file. */
function canonicalOf(text: string): string {
  const read = readYamlSource(new TextEncoder().encode(text));
  assert.ok(read.ok, read.ok ? "" : `${read.fault.message}\n${text}`);
  const compiled = compileLaw(read);
  assert.ok(compiled.ok, compiled.ok ? "" : `${JSON.stringify(compiled.faults, null, 1)}\n${text}`);
  const { spec } = compiled.file;
  const built = constructLaw(spec, { limits: LAW_LIMITS, ...permissiveEnvironment(spec) });
  assert.ok(built.ok, built.ok ? "" : `${JSON.stringify(built.refusals, null, 1)}\n${text}`);
  return canonicalize(lawAsJson(built.law));
}

function checkRoundTrip(law: ScenarioLaw): void {
  const canonical = canonicalize(lawAsJson(law));
  const text = writeLaw(law);
  assert.equal(canonicalOf(text), canonical, text);
  assert.equal(formatLaw(text), text, "format keeps what write prints");
}

/** Every law in a tree of vectors. */
function lawsIn(value: JsonValue): ScenarioLaw[] {
  if (Array.isArray(value)) return value.flatMap(lawsIn);
  if (!isJsonObject(value)) return [];
  const law = Object.hasOwn(value, "spec_version") ? lawOf(value) : null;
  return law === null ? Object.values(value).flatMap(lawsIn) : [law];
}

Deno.test("writeLaw() writes every law of the vectors so that it compiles to the same law", async () => {
  const refusals = JSON.parse(
    await Deno.readTextFile(new URL("../../../tests/vectors/law/refusals.json", import.meta.url)),
  );
  const all = [laws, extensions, parameters, refusals].flatMap((one) => lawsIn(one as unknown as JsonValue));
  assert.ok(all.length >= 20, String(all.length));
  for (const law of all) checkRoundTrip(law);
});

// Two laws a run: a proof run checks 10,000.
Deno.test("writeLaw() writes every generated law so that it compiles to the same law", () => {
  fc.assert(fc.property(fc.integer(), (seed) => {
    for (const one of [seed, ~seed]) checkRoundTrip(lawOfSeed(one));
  }));
});
