/**
 * The run of the parameter vectors: a law for many releases, with the values of one of them.
 *
 * @module
 */

import { canonicalize } from "../../../src/canonical/canonicalize.ts";
import { lawAsJson } from "../../../src/law/normal_form.ts";
import type { ParameterValue } from "../../../src/law/types.ts";
import type { TypedValue } from "../../../src/law/value/types.ts";
import type { Accepted, Command } from "../../../src/run/command.ts";
import type { CompiledLaw } from "../../../src/run/compile.ts";
import { decide } from "../../../src/run/decide/decide.ts";
import { bindLaw } from "../../../src/run/parameters.ts";
import { asJson } from "../../../src/run/primitives.ts";
import type { RunState } from "../../../src/run/types.ts";
import {
  accepted,
  callerItem,
  createCommand,
  environmentWith,
  evaluateCommand,
  KEY_1,
  lawOf,
  NOW,
  openCommand,
  SHA256,
  stampsAt,
  trusting,
} from "../kernel/fixture.ts";
import { type Editable, policy } from "../kernel/law_specs.ts";
import { type PlayedRun, stored } from "../runpack/run.ts";
import { acquire, type Answer, CONTRACTS } from "./acquired.ts";

const text = (minimum_bytes: number, maximum_bytes: number): Editable => ({
  domain: "String",
  minimum_bytes,
  maximum_bytes,
});

function condition(condition_id: string, observation_domain: Editable, predicate: Editable, channel: string): Editable {
  return {
    condition_id,
    observation_domain,
    predicate,
    evidence_use_policy: policy({ allowed_channels: [channel] }),
  };
}

/** A condition with a parameter of each type. */
const conditions = (): Editable[] => [
  condition("tag", text(0, 64), {
    predicate: "InSet",
    expected: [{ value: "nightly", value_type: "String" }, { parameter: "version" }, { parameter: "commit" }],
  }, "caller_submission"),
  condition(
    "built",
    { domain: "Timestamp" },
    { predicate: "GreaterThan", expected: { parameter: "since" } },
    "caller_submission",
  ),
  condition(
    "strict",
    { domain: "Boolean" },
    { predicate: "Equals", expected: { parameter: "strict" } },
    "caller_submission",
  ),
  condition("image", { domain: "Digest", algorithm: "sha256" }, {
    predicate: "Equals",
    expected: { parameter: "image" },
  }, "provider_acquisition"),
  condition("findings", { domain: "Integer", minimum: 0 }, {
    predicate: "LessThan",
    expected: { parameter: "limit" },
  }, "local_acquisition"),
  condition("speed", { domain: "Decimal" }, {
    predicate: "GreaterThanOrEqual",
    expected: { parameter: "factor" },
  }, "local_acquisition"),
];

/** Bindings whose params hold placeholders, and one without. */
const BINDINGS: readonly Editable[] = [
  {
    binding_id: "image-scan",
    condition_id: "image",
    channel: "provider_acquisition",
    provider_id: "scanner",
    check_id: "read",
    params: {
      url: { $template: "https://registry.example/{version}/{commit}?strict={strict}" },
      tags: [{ $parameter: "version" }, { $parameter: "strict" }],
      nested: { factor: { $parameter: "factor" }, since: { $parameter: "since" }, image: { $parameter: "image" } },
    },
  },
  {
    binding_id: "findings-env",
    condition_id: "findings",
    channel: "local_acquisition",
    provider_id: "env",
    check_id: "read",
    params: { of: { $parameter: "commit" } },
  },
  {
    binding_id: "speed-env",
    condition_id: "speed",
    channel: "local_acquisition",
    provider_id: "env",
    check_id: "read",
    params: { of: "speed" },
  },
];

/** The spec: a parameter of each type, in every place that takes one. */
export function parametersSpec(): Editable {
  return {
    spec_version: "dag-v3",
    scenario_id: "releases",
    namespace_id: 2,
    parameters: [
      { parameter_id: "version", domain: text(1, 32), description: "As tagged" },
      { parameter_id: "commit", domain: text(0, 64) },
      { parameter_id: "image", domain: { domain: "Digest", algorithm: "sha256" } },
      { parameter_id: "limit", domain: { domain: "Integer", minimum: 0, maximum: 10 } },
      { parameter_id: "factor", domain: { domain: "Decimal", minimum: "0.5" } },
      { parameter_id: "since", domain: { domain: "Timestamp" } },
      { parameter_id: "strict", domain: { domain: "Boolean" } },
    ],
    conditions: conditions(),
    acquisition_bindings: BINDINGS,
    stages: [{
      stage_id: "release",
      prerequisite: { kind: "root" },
      completion_requirement: {
        And: ["tag", "built", "strict", "image", "findings", "speed"].map((Condition) => ({ Condition })),
      },
    }],
    completion_requirement: { Condition: "release" },
  };
}

const typed = (value: TypedValue["value"], value_type: TypedValue["value_type"]): TypedValue => ({ value, value_type });

/** The values of the run, in the order of a caller. */
export const VALUES: readonly ParameterValue[] = [
  { parameter_id: "version", value: typed("v1.2.3", "String") },
  { parameter_id: "commit", value: typed("0af3/ä *'", "String") },
  { parameter_id: "image", value: typed(SHA256("image"), "Digest") },
  { parameter_id: "limit", value: typed(3, "Integer") },
  { parameter_id: "factor", value: typed("1.50", "Decimal") },
  { parameter_id: "since", value: typed("2025-10-01T00:00:00+02:00", "Timestamp") },
  { parameter_id: "strict", value: typed(true, "Boolean") },
];

/** Records of the run by what they do, from 0. */
export const PARAMETERS_AT = { create: 0, open: 1, failed: 2, passed: 3 };

/** What the caller sends and what the bindings answer. */
interface Given {
  readonly tag: string;
  readonly answers: Readonly<Record<string, Answer>>;
}

const signed = { observed_at: NOW - 100, signs: [KEY_1, 3] } as const;
const FAILED: Given = {
  tag: "v1.2.4",
  answers: {
    "image-scan": { value: SHA256("another image"), ...signed },
    "findings-env": { value: 3 },
    "speed-env": { value: 1.49 },
  },
};
const PASSED: Given = {
  tag: "v1.2.3",
  answers: {
    "image-scan": { value: SHA256("image"), ...signed },
    "findings-env": { value: 2 },
    "speed-env": { value: 1.5 },
  },
};

function attempt(law: CompiledLaw, state: RunState, operation: number, { tag, answers }: Given): Command {
  return evaluateCommand(operation, state.head, "release", {
    caller_evidence: [
      callerItem("tag", typed(tag, "String")),
      callerItem("built", typed("2025-10-01T00:00:01+02:00", "Timestamp")),
      callerItem("strict", typed(true, "Boolean")),
    ],
    acquired: Object.entries(answers).map(([binding, answer]) =>
      acquire({ law, state, stage_id: "release" }, binding, answer)
    ),
  });
}

/** Plays the run. */
export function playParametersRun(): PlayedRun {
  const law = lawOf(parametersSpec());
  const bound = bindLaw(law, VALUES);
  const environment = environmentWith({
    trust: {
      min_lane: "verified",
      default_policy: "audit",
      providers: [{ provider_id: "scanner", policy: trusting(KEY_1) }],
    },
  });
  const records: PlayedRun["records"][number][] = [];
  const take = (under: CompiledLaw, state: RunState | null, command: Command): Accepted => {
    const decided = accepted(decide(under, state, command, stampsAt(NOW + records.length), environment));
    records.push(stored(decided));
    return decided;
  };
  const held = ["env", "scanner"].flatMap((provider) => CONTRACTS.get(provider) ?? []);
  const contracts = held.map(({ contract, contract_identity }) => ({
    provider_id: contract.provider_id,
    contract_identity,
  }));
  let last = take(law, null, createCommand({ contracts, genesis: { kind: "parameters", parameters: VALUES } }));
  last = take(bound, last.state, openCommand(2, last.state.head, "release"));
  last = take(bound, last.state, attempt(bound, last.state, 3, FAILED));
  last = take(bound, last.state, attempt(bound, last.state, 4, PASSED));
  const { scenario_law_identity, graph_identity } = law;
  const { scenario_id, namespace_id } = law.law;
  return {
    law: { namespace_id, scenario_id, scenario_law_identity, graph_identity, law: canonicalize(lawAsJson(law.law)) },
    records,
    artifacts: [
      ...held.map(({ contract_identity, text: body }) =>
        ({ kind: "contract", identity: contract_identity, body }) as const
      ),
      {
        kind: "operator-profile",
        identity: environment.profile_identity,
        body: canonicalize(asJson(environment.profile)),
      },
    ],
    state: last.state,
  };
}
