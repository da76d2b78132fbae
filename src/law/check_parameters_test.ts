import { PARAMETERS } from "../../tests/simulation/kernel/law_parameter_rows.ts";
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { type Editable, environment, leastSpec, policy, releaseSpec } from "../../tests/simulation/kernel/law_specs.ts";
import { constructLaw, lawIdentity, reproveLaw } from "./law.ts";
import { lintLaw } from "./lint.ts";
import { pathAt, pathOf } from "../canonical/path.ts";
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

Deno.test("readTemplate() names the expression that is wrong, and the characters of one", () => {
  for (const wrong of ["{build-id}", "{}", "{+a}", "{a..b}", "{a b}", "{é}"]) {
    const fault = readTemplate(`https://ci.example/{commit}/${wrong}`);
    assert.ok(typeof fault === "string");
    assert.match(fault, /ASCII letters, digits, "_", "%" with two hex digits, and single dots/);
    assert.ok(fault.endsWith(`got ${JSON.stringify(wrong)}`), fault);
  }
  assert.match(String(readTemplate("https://ci.example/a b/{commit}")), /got "https:\/\/ci\.example\/a b/);
});

Deno.test("constructLaw() says that a set takes no time relative to the evaluation", () => {
  const spec = releaseSpec();
  const relative = { relative_to: "evaluation_time", offset_milliseconds: 0 };
  spec.conditions[4].predicate = { predicate: "InSet", expected: [{ parameter: "since" }, relative] };
  const result = constructLaw(spec, environment());
  assert.deepEqual(result.ok ? [] : result.refusals.map(({ code, path, message }) => [code, path, message]), [[
    "expected_invalid",
    "$.conditions[4].predicate.expected[1]",
    'Expected a typed value or a parameter in the set, got "relative_to": only the order of a "Timestamp" is relative to ' +
    "the evaluation time",
  ]]);
});

/** Providers, params, and what the warning advises; null without a warning. */
const SOURCES: readonly (readonly [provider: string, name: string, advice: RegExp | null])[] = [
  ...["url", "base_url", "baseUrl", "baseURL", "base-url", "urls", "URLs", "uri", "href", "link", "callbackLinks"].map(
    (name) => ["ci", name, /"\$template" fixes the host$/] as const,
  ),
  ...["file", "files", "filePath", "fileName", "hostname", "Host", "server", "directory", "directories", "addresses"]
    .map(
      (name) => ["ci", name, /a fixed value leaves no choice$/] as const,
    ),
  ["env", "key", /a fixed value leaves no choice$/],
  ["json", "jsonpath", /a fixed value leaves no choice$/],
  ["rest", "jsonpath", /a fixed value leaves no choice$/],
  ["ci", "key", null],
  ["ci", "jsonpath", null],
  ["ci", "profile", null],
  ["ci", "curl", null],
  ["ci", "observer", null],
  ["ci", "path_count", null],
];

Deno.test("lintLaw() warns of a parameter that is a whole URL, file or host, or selects the value", () => {
  for (const [provider_id, name, advice] of SOURCES) {
    const law = lawOf(releaseSpec());
    for (const value of [{ $parameter: "commit" }, [{ $parameter: "commit" }]]) {
      const acquisition_bindings = law.acquisition_bindings.map((one) => ({
        ...one,
        provider_id,
        params: { [name]: value },
      }));
      const found = lintLaw({ ...law, acquisition_bindings }).filter(({ code }) => code === "parameter_chooses_source");
      const isItem = Array.isArray(value);
      const isExpected = advice !== null && !(isItem && advice.source.startsWith("a fixed") && provider_id !== "ci");
      assert.deepEqual(
        found.map(({ path }) => path),
        isExpected ? [pathOf(pathAt("acquisition_bindings", 0, "params", name, ...isItem ? [0] : []))] : [],
        name,
      );
      for (const { message } of found) assert.match(message, advice ?? /^$/);
    }
  }
  const templated = releaseSpec();
  params(templated).url = { $template: "https://ci.example/{commit}" };
  params(templated).anything = { base_url: { $parameter: "commit" } };
  const found = lintLaw(lawOf(templated)).filter(({ code }) => code === "parameter_chooses_source");
  assert.deepEqual(found.map(({ path }) => path), ["$.acquisition_bindings[0].params.anything.base_url"]);
});

Deno.test("lintLaw() warns of a parameter that neither an expected value nor a binding uses", () => {
  const unused = (spec: Editable): string[] =>
    lintLaw(lawOf(spec)).filter(({ code }) => code === "parameter_unused").map(({ path }) => path);
  const spec = releaseSpec();
  assert.deepEqual(unused(spec), []);
  // "limit" is an expected value and a param, "commit" a value of a set and a part of a URL.
  spec.conditions[2].predicate.expected = { value: 3, value_type: "Integer" };
  spec.conditions[0].predicate.expected = [{ parameter: "version" }];
  assert.deepEqual(unused(spec), [], "used by the binding alone");
  delete params(spec).retries;
  assert.deepEqual(unused(spec), ["$.parameters[3]"]);
  params(spec).url = { $template: "https://ci.example/{version}" };
  assert.deepEqual(unused(spec), ["$.parameters[0]", "$.parameters[3]"]);
  spec.conditions[0].predicate.expected = [{ value: "a", value_type: "String" }, { parameter: "commit" }];
  assert.deepEqual(unused(spec), ["$.parameters[3]"], "used by a set alone");
});

Deno.test("lintLaw() does not claim that a predicate with a parameter never holds", () => {
  const spec = releaseSpec();
  spec.conditions[2].observation_domain = { domain: "Integer", minimum: 0, maximum: 10 };
  const warned = (one: Editable): boolean => lintLaw(lawOf(one)).some(({ code }) => code === "predicate_never_true");
  assert.equal(warned(spec), false);
  spec.conditions[2].predicate.expected = { value: 0, value_type: "Integer" };
  assert.equal(warned(spec), true);
});
