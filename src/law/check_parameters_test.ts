import { PARAMETERS } from "../../tests/simulation/law_parameter_rows.ts";
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { type Editable, environment, leastSpec, policy, releaseSpec } from "../../tests/simulation/law_specs.ts";
import { constructLaw, lawIdentity, reproveLaw } from "./law.ts";
import { lintLaw } from "./lint.ts";
import { lawAsJson } from "./normal_form.ts";
import { readTemplate } from "./placeholders.ts";
import type { ScenarioLaw } from "./types.ts";

const sha256 = (data: string | Uint8Array): string => createHash("sha256").update(data).digest("hex");

function refusalsOf(spec: Editable): string[] {
  const result = constructLaw(spec, environment());
  return result.ok ? [] : result.refusals.map(({ code, path }) => `${code} ${path}`);
}

function lawOf(spec: Editable): ScenarioLaw {
  const result = constructLaw(spec, environment());
  assert.ok(result.ok, JSON.stringify(result));
  return result.law;
}

const params = (spec: Editable): Editable => spec.acquisition_bindings[0].params;
const parameter = (domain: unknown, id: string): Editable => ({ parameter_id: id, domain });

Deno.test("constructLaw() refuses faulty parameters with a path", () => {
  assert.deepEqual(refusalsOf(releaseSpec()), []);
  for (const [what, change, ...refusals] of PARAMETERS) {
    const spec = releaseSpec();
    change(spec);
    assert.deepEqual(refusalsOf(spec), refusals, what);
  }
});

Deno.test("constructLaw() accepts up to 64 parameters", () => {
  for (const count of [63, 64, 65]) {
    const spec = leastSpec();
    spec.parameters = Array.from({ length: count }, (_, index) => parameter({ domain: "Boolean" }, `p${index}`));
    assert.deepEqual(refusalsOf(spec), count <= 64 ? [] : ["too_many $.parameters"]);
  }
});

Deno.test("constructLaw() sorts parameters and leaves them out when empty", () => {
  const law = lawOf(releaseSpec());
  assert.deepEqual(law.parameters?.map(({ parameter_id }) => parameter_id), [
    "commit",
    "factor",
    "image",
    "limit",
    "since",
    "strict",
    "version",
  ]);
  assert.ok(reproveLaw(JSON.parse(JSON.stringify(lawAsJson(law))), environment()).ok);
  const plain = lawOf(leastSpec());
  const empty = lawOf({ ...leastSpec(), parameters: [] });
  assert.equal("parameters" in empty, false);
  assert.equal(lawIdentity(sha256, empty), lawIdentity(sha256, plain));
  const stored = { ...JSON.parse(JSON.stringify(lawAsJson(plain))), parameters: [] };
  assert.ok(!reproveLaw(stored, environment()).ok, "an empty list is not in normal form");
});

Deno.test("constructLaw() reads placeholders as plain JSON in a law without parameters", () => {
  const spec = leastSpec();
  spec.conditions[0].evidence_use_policy = policy({ allowed_channels: ["provider_acquisition"] });
  const condition_id = spec.conditions[0].condition_id;
  const binding = (params: unknown): Editable => [{
    binding_id: "b",
    condition_id,
    channel: "provider_acquisition",
    provider_id: "ci",
    check_id: "status",
    params,
  }];
  spec.acquisition_bindings = binding({ url: { $parameter: "nothing", and: 1 } });
  assert.deepEqual(refusalsOf(spec), []);
  assert.deepEqual(lawOf(spec).acquisition_bindings[0]?.params, { url: { $parameter: "nothing", and: 1 } });
});

Deno.test("readTemplate() reads URLs of RFC 6570, level 1, with a fixed host", () => {
  const rows: readonly [string, readonly string[] | null][] = [
    ["https://ci.example/commits/{commit}/status", ["commit"]],
    ["http://ci.example:8080/{a}/{b.c}?q={d_1}#{e%20f}", ["a", "b.c", "d_1", "e%20f"]],
    ["https://ci.example", []],
    ["https://[::1]/{a}", ["a"]],
    ["https://ci.example?x={a}", ["a"]],
    ["https://{host}/x", null],
    ["https://ci.{zone}.example/x", null],
    ["https://ci.example{path}", null],
    ["https://ci.example:{port}/", null],
    ["https://{user}@ci.example/", null],
    ["{scheme}://ci.example/", null],
    ["{url}", null],
    ["ftp://ci.example/{a}", null],
    ["HTTPS://ci.example/{a}", null],
    ["https:///{a}", null],
    ["/relative/{a}", null],
    ["https://ci.example/{+a}", null],
    ["https://ci.example/{a,b}", null],
    ["https://ci.example/{a*}", null],
    ["https://ci.example/{a:3}", null],
    ["https://ci.example/{}", null],
    ["https://ci.example/{a", null],
    ["https://ci.example/a}", null],
    ["https://ci.example/{{a}}", null],
    ["https://ci.example/{.a}", null],
    ["https://ci.example/{a..b}", null],
    ["https://ci.example/a b", null],
    ["https://ci.example/ä", null],
    ["https://ci.example/%zz", null],
    ["https://ci.example\\@evil.example/{a}", null],
  ];
  for (const [text, names] of rows) {
    const template = readTemplate(text);
    assert.deepEqual(typeof template === "string" ? null : template.parameters, names, text);
  }
});

Deno.test("lintLaw() warns of a parameter that is a whole URL, file or host", () => {
  const rows: readonly [string, Editable, number][] = [
    ["url", { $parameter: "commit" }, 1],
    ["url", { $template: "https://ci.example/{commit}" }, 0],
    ["anything", { base_url: { $parameter: "commit" } }, 1],
    ["anything", { file: { $parameter: "commit" } }, 1],
    ["anything", { Host: { $parameter: "commit" } }, 1],
    ["anything", { profile: { $parameter: "commit" } }, 0],
  ];
  for (const [name, value, count] of rows) {
    const spec = releaseSpec();
    params(spec)[name] = value;
    const found = lintLaw(lawOf(spec)).filter(({ code }) => code === "parameter_chooses_source");
    assert.equal(found.length, count, JSON.stringify(value));
    if (count > 0) assert.ok(found[0]?.path.startsWith(`$.acquisition_bindings[0].params.${name}`));
  }
});

Deno.test("lintLaw() does not claim that a predicate with a parameter never holds", () => {
  const spec = releaseSpec();
  spec.conditions[2].observation_domain = { domain: "Integer", minimum: 0, maximum: 10 };
  const warned = (one: Editable): boolean => lintLaw(lawOf(one)).some(({ code }) => code === "predicate_never_true");
  assert.equal(warned(spec), false);
  spec.conditions[2].predicate.expected = { value: 0, value_type: "Integer" };
  assert.equal(warned(spec), true);
});
