/**
 * Changes to the spec with parameters that break its parameters or their uses, each with every refusal that follows.
 *
 * @module
 */

import type { JsonValue } from "../../../src/canonical/json.ts";
import { SPEC_LIMITS } from "../../../src/law/limits.ts";
import type { RefusalRow } from "./law_refusal_rows.ts";
import type { Editable } from "./law_specs.ts";

const expected = (spec: Editable, at: number): Editable => spec.conditions[at].predicate;
const params = (spec: Editable): Editable => spec.acquisition_bindings[0].params;
const parameter = (domain: JsonValue, id = "more"): Editable => ({ parameter_id: id, domain });

const DECLARATION: readonly RefusalRow[] = [
  ["no parameters", (s) => s.parameters = null, "type_invalid $.parameters"],
  ["an unknown member", (s) => s.parameters[0].default = 1, "member_unknown $.parameters[0].default"],
  ["no domain", (s) => delete s.parameters[3].domain, "member_missing $.parameters[3].domain"],
  ["no id", (s) => delete s.parameters[6].parameter_id, "member_missing $.parameters[6].parameter_id"],
  ["an empty id", (s) => s.parameters[0].parameter_id = "", "identifier_invalid $.parameters[0].parameter_id"],
  [
    "domain Json",
    (s) => s.parameters.push(parameter({ domain: "Json", maximum_bytes: 9 })),
    "value_invalid $.parameters[7].domain.domain",
  ],
  [
    "bounds that exclude each other",
    (s) => s.parameters.push(parameter({ domain: "Integer", minimum: 2, maximum: 1 })),
    "domain_bounds_invalid $.parameters[7].domain.minimum",
  ],
  [
    "values above the limit",
    (s) => s.parameters.push(parameter({ domain: "String", minimum_bytes: 0, maximum_bytes: 1_048_577 })),
    "domain_bounds_invalid $.parameters[7].domain.maximum_bytes",
  ],
  [
    "an id twice",
    (s) => s.parameters.push(parameter({ domain: "Boolean" }, "strict")),
    "duplicate $.parameters[7].parameter_id",
  ],
  [
    "a long description",
    (s) => s.parameters[0].description = "x".repeat(SPEC_LIMITS.descriptionBytes + 1),
    "value_invalid $.parameters[0].description",
  ],
];

const EXPECTED: readonly RefusalRow[] = [
  [
    "a parameter that is not declared",
    (s) => expected(s, 1).expected.parameter = "imag",
    "parameter_not_found $.conditions[1].predicate.expected.parameter",
  ],
  [
    "a parameter that is not declared, in a set",
    (s) => expected(s, 0).expected[2].parameter = "comit",
    "parameter_not_found $.conditions[0].predicate.expected[2].parameter",
  ],
  [
    "a parameter of another type",
    (s) => expected(s, 2).expected.parameter = "factor",
    "expected_invalid $.conditions[2].predicate.expected.parameter",
  ],
  [
    "a value of the parameter below the domain",
    (s) => s.parameters[3].domain.minimum = -1,
    "expected_outside_domain $.conditions[2].predicate.expected.parameter",
  ],
  [
    "a value of the parameter above the domain",
    (s) => s.conditions[2].observation_domain.maximum = 9,
    "expected_outside_domain $.conditions[2].predicate.expected.parameter",
  ],
  [
    "a Decimal without a minimum",
    (s) => delete s.parameters[4].domain.minimum,
    "expected_outside_domain $.conditions[3].predicate.expected.parameter",
  ],
  [
    "a longer string",
    (s) => s.parameters[1].domain.maximum_bytes = 129,
    "expected_outside_domain $.conditions[0].predicate.expected[2].parameter",
  ],
  [
    "a member beside the parameter",
    (s) => expected(s, 1).expected.value_type = "Digest",
    "member_unknown $.conditions[1].predicate.expected.value_type",
  ],
  [
    "a number for the id",
    (s) => expected(s, 1).expected.parameter = 1,
    "type_invalid $.conditions[1].predicate.expected.parameter",
  ],
  [
    "the same parameter twice in a set",
    (s) => expected(s, 0).expected[2].parameter = "version",
    "duplicate $.conditions[0].predicate.expected[2]",
  ],
  [
    "a condition of domain Json",
    (s) => s.conditions[1].observation_domain = { domain: "Json", maximum_bytes: 100 },
    "expected_invalid $.conditions[1].predicate.expected.parameter",
  ],
  [
    "Exists with a parameter",
    (s) => expected(s, 1).predicate = "Exists",
    "member_unknown $.conditions[1].predicate.expected",
  ],
];

const PARAMS: readonly RefusalRow[] = [
  [
    "a parameter that is not declared",
    (s) => params(s).retries.$parameter = "limits",
    "parameter_not_found $.acquisition_bindings[0].params.retries",
  ],
  [
    "a template with a parameter that is not declared",
    (s) => params(s).url.$template = "https://ci.example/{sha}",
    "parameter_not_found $.acquisition_bindings[0].params.url",
  ],
  [
    "a member beside the placeholder",
    (s) => params(s).retries.also = 1,
    "params_invalid $.acquisition_bindings[0].params.retries",
  ],
  [
    "a number for the id",
    (s) => params(s).retries.$parameter = 1,
    "params_invalid $.acquisition_bindings[0].params.retries",
  ],
  [
    "a host that a run chooses",
    (s) => params(s).url.$template = "https://{commit}.example/status",
    "params_invalid $.acquisition_bindings[0].params.url",
  ],
  [
    "a placeholder of another type",
    (s) => params(s).retries.$parameter = "strict",
    "params_invalid $.acquisition_bindings[0].params.retries",
  ],
  [
    "a Decimal, which is a string, for an integer",
    (s) => params(s).retries.$parameter = "factor",
    "params_invalid $.acquisition_bindings[0].params.retries",
  ],
  [
    "a placeholder of another type in an array",
    (s) => params(s).tags[0].$parameter = "limit",
    "params_invalid $.acquisition_bindings[0].params.tags[0]",
  ],
  [
    "a template for an integer",
    (s) => params(s).retries = { $template: "https://ci.example/{commit}" },
    "params_invalid $.acquisition_bindings[0].params.retries",
  ],
  ["a param too many", (s) => params(s).more = 1, "params_invalid $.acquisition_bindings[0].params.more"],
  ["a param too few", (s) => delete params(s).url, "params_invalid $.acquisition_bindings[0].params"],
];

/** Every row about parameters; the base is `releaseSpec()`. */
export const PARAMETERS: readonly RefusalRow[] = [...DECLARATION, ...EXPECTED, ...PARAMS];
