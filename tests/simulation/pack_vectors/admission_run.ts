/**
 * The run of the vectors of admission: two stages, complete, all of its evidence signed by one key.
 *
 * @module
 */

import type { TypedValue } from "../../../src/law/value/types.ts";
import type { CompiledLaw } from "../../../src/run/compile.ts";
import type { CallerEvidence } from "../../../src/run/evidence.ts";
import type { OperatorProfile } from "../../../src/run/profile.ts";
import type { ProcedureName, RunState } from "../../../src/run/types.ts";
import {
  bool,
  callerItem,
  createCommand,
  environmentWith,
  evaluateCommand,
  hex32,
  KEY_1,
  lawOf,
  NOW,
  openCommand,
  presented,
  trusting,
} from "../kernel/fixture.ts";
import { type Editable, flag, policy, stage } from "../kernel/law_specs.ts";
import { type PlayedRun, playRun, type RunMove } from "../runpack/run.ts";
import { signatureOf } from "./acquired.ts";

/** The digest of the image that the run lets through. */
export const IMAGE = "5e".repeat(32);

/** The revisions of the records that complete the first stage, and the run. */
export const BUILD_COMPLETE = 3;
export const RUN_COMPLETE = 5;

/** The law. Another law has the same ids, and asks for less. */
export function admissionLaw(isLax = false, hasParameters = false): CompiledLaw {
  const signed = { authorization: "signature" };
  return lawOf({
    ...hasParameters
      ? { parameters: [{ parameter_id: "image", domain: { domain: "Digest", algorithm: "sha256" } }] }
      : {},
    spec_version: "dag-v3",
    scenario_id: "release",
    namespace_id: 2,
    conditions: [
      { ...flag("approved"), evidence_use_policy: policy(signed) },
      {
        condition_id: "image",
        observation_domain: { domain: "Digest", algorithm: "sha256" },
        predicate: {
          predicate: "Equals",
          expected: { value: IMAGE, value_type: "Digest" },
        },
        evidence_use_policy: policy(signed),
      },
      { ...flag("tested"), evidence_use_policy: policy(isLax ? {} : signed) },
    ],
    stages: [
      {
        ...stage("build", "tested"),
        completion_requirement: { And: [{ Condition: "tested" }, { Condition: "image" }] },
      },
      stage("release", "approved", { kind: "requires", requirement: { Condition: "build" } }),
    ] as Editable,
    completion_requirement: { Condition: "release" },
  });
}

/** An item of a caller, signed by the key that the profile trusts unless it is unsigned. */
function item(
  law: CompiledLaw,
  state: RunState,
  stage_id: string,
  condition_id: string,
  value: TypedValue,
  isSigned: boolean,
  namesHead: boolean,
): CallerEvidence {
  const observed = { observed_at: NOW };
  const plain = callerItem(condition_id, value, observed);
  if (!isSigned) return plain;
  const signs = [KEY_1, namesHead ? 0 : 1] as const;
  const signature = signatureOf({ law, state, stage_id }, presented(condition_id, value, observed), { signs } as never);
  return signature === null ? plain : { ...plain, signature };
}

/** What a run is played with, beside its moves. */
export interface AdmissionPlay {
  readonly law?: CompiledLaw;
  readonly profile?: Partial<OperatorProfile>;
  readonly procedure?: ProcedureName;
  /** Conditions whose items are not signed. */
  readonly unsigned?: readonly string[];
  /** Whether the signed statements name the head; true where it is absent. */
  readonly namesHead?: boolean;
}

/** Plays the run up to its end. */
export function playAdmissionRun(
  { law = admissionLaw(), profile = {}, procedure, unsigned = [], namesHead = true }: AdmissionPlay = {},
): PlayedRun {
  const evaluate =
    (stage_id: string, values: Readonly<Record<string, TypedValue>>): RunMove => (_law, state, operation) =>
      evaluateCommand(operation, state.head, stage_id, {
        caller_evidence: Object.entries(values).map(([condition, value]) =>
          item(law, state, stage_id, condition, value, !unsigned.includes(condition), namesHead)
        ),
      });
  const open = (stage_id: string): RunMove => (_law, state, operation) => openCommand(operation, state.head, stage_id);
  return playRun({
    law,
    environment: environmentWith({
      trust: { min_lane: "verified", default_policy: trusting(KEY_1), providers: [] },
      ...profile,
    }),
    start: createCommand({
      allocation: { authority_id: "gate.random", run_id: hex32(0x21) },
      ...law.law.parameters === undefined ? {} : {
        genesis: {
          kind: "parameters",
          parameters: [{ parameter_id: "image", value: { value: IMAGE, value_type: "Digest" } }],
        },
      },
    }),
    moves: [
      open("build"),
      evaluate("build", { tested: bool(true), image: { value: IMAGE, value_type: "Digest" } }),
      open("release"),
      evaluate("release", { approved: bool(true) }),
    ],
    clock: (move) => 1000 * (move + 1),
    artifacts: [],
    ...procedure === undefined ? {} : { procedureAt: () => procedure },
  });
}

/** Stages of the run of many stages, of which all but the last are complete. */
export const STAGES = 18;

/** Plays a run of many stages: more than a result line names. */
export function playStagesRun(): PlayedRun {
  const names = Array.from({ length: STAGES }, (_, index) => `stage ${index + 10}`);
  const law = lawOf({
    spec_version: "dag-v3",
    scenario_id: "stages",
    namespace_id: 2,
    conditions: [flag("done")],
    stages: names.map((name) => stage(name, "done")) as Editable,
    completion_requirement: { And: names.map((Condition) => ({ Condition })) },
  });
  const open = names.map((name): RunMove => (_law, state, operation) => openCommand(operation, state.head, name));
  const complete = names.slice(0, -1).map((name): RunMove => (_law, state, operation) =>
    evaluateCommand(operation, state.head, name, { caller_evidence: [callerItem("done", bool(true))] })
  );
  return playRun({
    law,
    environment: environmentWith(),
    start: createCommand({ allocation: { authority_id: "gate.random", run_id: hex32(0x22) } }),
    moves: [...open, ...complete],
    clock: (move) => move + 1,
    artifacts: [],
  });
}

/** The parameters of the run of many parameters: more than a result line names, and values longer than it shows. */
export const TEXTS: Readonly<Record<string, string>> = Object.fromEntries(
  Array.from({ length: 17 }, (_, index) => [
    index % 3 === 0 ? `text ${index + 10}` : `text.${index + 10}`,
    [...'é"😀x'.repeat(30)].slice(0, 2 * index).join("") + "y".repeat(90 + index - 2 * index),
  ]),
);

/** Plays a run of many parameters, in which no stage is opened. */
export function playTextsRun(): PlayedRun {
  const domain = { domain: "String", minimum_bytes: 0, maximum_bytes: 1000 };
  const law = lawOf({
    spec_version: "dag-v3",
    scenario_id: "texts",
    namespace_id: 2,
    parameters: Object.keys(TEXTS).map((parameter_id) => ({ parameter_id, domain })),
    conditions: [flag("done")],
    stages: [stage("work", "done")],
    completion_requirement: { Condition: "work" },
  });
  return playRun({
    law,
    environment: environmentWith(),
    start: createCommand({
      allocation: { authority_id: "gate.random", run_id: hex32(0x23) },
      genesis: {
        kind: "parameters",
        parameters: Object.entries(TEXTS).map(([parameter_id, value]) => ({
          parameter_id,
          value: { value, value_type: "String" },
        })),
      },
    }),
    moves: [],
    clock: () => 0,
    artifacts: [],
  });
}
