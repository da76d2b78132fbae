/**
 * The run of the golden runpacks: every kind of record, evaluations that are false, unknown and true, and values of
 * every way of keeping. Stamps and identities are fixed, so the same kernel gives the same bytes.
 *
 * @module
 */

import { canonicalize } from "../../../src/canonical/canonicalize.ts";
import { identify } from "../../../src/canonical/identity.ts";
import type { JsonValue } from "../../../src/canonical/json.ts";
import { lawAsJson } from "../../../src/law/normal_form.ts";
import type { Accepted, Command, CreateCommand, Environment } from "../../../src/run/command.ts";
import type { CompiledLaw } from "../../../src/run/compile.ts";
import { decide } from "../../../src/run/decide/decide.ts";
import { asJson } from "../../../src/run/primitives.ts";
import { PROCEDURE, type ProcedureName, type RunState } from "../../../src/run/types.ts";
import type { Artifact, RunStore, StoredLaw, StoredRecord } from "../../../src/store/types.ts";
import {
  accepted,
  acquiredItem,
  bool,
  callerItem,
  createCommand,
  environmentWith,
  evaluateCommand,
  hex32,
  lawOf,
  openCommand,
  SHA256,
  stampsAt,
  submitCommand,
} from "../kernel/fixture.ts";
import { flag, policy, stage } from "../kernel/law_specs.ts";

/** A played run: what a store would hold of it. */
export interface PlayedRun {
  readonly law: StoredLaw;
  readonly records: readonly StoredRecord[];
  readonly artifacts: readonly Artifact[];
  readonly state: RunState;
}

/** The contract of the provider that the run acquires from. */
const CONTRACT: JsonValue = {
  provider_id: "env",
  name: "Environment",
  description: "Reads one environment variable",
  transport: "builtin",
  config_schema: {},
  checks: [{
    check_id: "get",
    description: "The value of a variable",
    determinism: "external",
    params_required: true,
    params_schema: { type: "object", properties: { key: { type: "string" } }, required: ["key"] },
    result_schema: { type: "string" },
    allowed_comparators: ["equals", "not_equals", "exists", "not_exists"],
    anchor_types: [],
    content_types: ["text/plain"],
    examples: [],
  }],
  notes: [],
};

const SCHEMA: JsonValue = {
  type: "object",
  properties: { coverage: { type: "integer" } },
  required: ["coverage"],
};

const CONTRACT_IDENTITY = identify(SHA256, "contract", CONTRACT);
const SCHEMA_IDENTITY = identify(SHA256, "schema", SCHEMA);

const text = (maximum_bytes: number): Record<string, JsonValue> => ({
  domain: "String",
  minimum_bytes: 0,
  maximum_bytes,
});

function conditions(): JsonValue[] {
  return [
    flag("built"),
    {
      condition_id: "log",
      observation_domain: text(65_536),
      predicate: { predicate: "Contains", expected: { value: "0 errors", value_type: "String" } },
      evidence_use_policy: policy(),
    },
    flag("approved"),
    {
      condition_id: "ticket",
      observation_domain: text(256),
      predicate: { predicate: "Exists" },
      evidence_use_policy: policy({ retention: "retain_digest_only", replay: "digest_only" }),
    },
    {
      condition_id: "region",
      observation_domain: text(64),
      predicate: { predicate: "Equals", expected: { value: "north", value_type: "String" } },
      evidence_use_policy: policy({ allowed_channels: ["local_acquisition"] }),
    },
    {
      condition_id: "report",
      observation_domain: { domain: "Json", maximum_bytes: 65_536, schema: { schema_id: "release", version: "1" } },
      predicate: { predicate: "Exists" },
      evidence_use_policy: policy(),
    },
  ] as JsonValue[];
}

function goldenLaw(): CompiledLaw {
  const and = (...ids: string[]): JsonValue => ({ And: ids.map((id) => ({ Condition: id })) });
  return lawOf({
    spec_version: "dag-v3",
    scenario_id: "release",
    namespace_id: 2,
    schemas: [{ schema_id: "release", version: "1" }],
    conditions: conditions(),
    acquisition_bindings: [{
      binding_id: "region-env",
      condition_id: "region",
      channel: "local_acquisition",
      provider_id: "env",
      check_id: "get",
      params: { key: "REGION" },
    }],
    stages: [
      { ...stage("build", "built"), completion_requirement: and("built", "log") },
      {
        ...stage("review", "approved", { kind: "requires", requirement: { Condition: "build" } }),
        completion_requirement: and("approved", "ticket"),
      },
      {
        ...stage("ship", "region", { kind: "requires", requirement: and("build", "review") }),
        completion_requirement: and("region", "report"),
        entry_packets: [{
          packet_id: "runbook",
          schema_id: "runbook-v1",
          content_type: "application/json",
          visibility_labels: ["internal"],
          targets: [{ kind: "channel", channel: "#ops" }, { kind: "agent", agent_id: "deployer" }],
          payload: { kind: "json", value: { steps: 2 } },
        }],
      },
    ],
    completion_requirement: { Condition: "ship" },
  });
}

/** A move of the run: the command that it makes at a state. */
export type RunMove = (law: CompiledLaw, state: RunState, operation: number) => Command;

const openStage = (stageId: string): RunMove => (_law, state, operation) => openCommand(operation, state.head, stageId);

const LOG = `${"compiled one more file\n".repeat(800)}0 errors\n`;

const region: RunMove = (law, state, operation) => {
  const item = acquiredItem(law, "region-env", { value: "north", value_type: "String" }, {}, {
    contract_identity: CONTRACT_IDENTITY,
    content_type: "text/plain",
    grant: { environment: ["REGION"] },
  });
  const { value_identity = null, content_hash = null, acquisition } = item;
  const provider_result = asJson({
    value: { kind: "json", content_hash, value_identity },
    lane: "verified",
    error: null,
    evidence_hash: content_hash,
    evidence_ref: null,
    evidence_anchor: null,
    signature: null,
    content_type: "text/plain",
  });
  return evaluateCommand(operation, state.head, "ship", {
    caller_evidence: [callerItem("report", { value: { coverage: 93 }, value_type: "Json" })],
    schema_verdicts: new Map([[0, "valid"]]),
    acquired: [{ ...item, acquisition: { ...acquisition, provider_result } as NonNullable<typeof acquisition> }],
  });
};

const MOVES: readonly RunMove[] = [
  openStage("build"),
  (_law, state, operation) =>
    evaluateCommand(operation, state.head, "build", { caller_evidence: [callerItem("built", bool(false))] }),
  (_law, state, operation) =>
    evaluateCommand(operation, state.head, "build", { caller_evidence: [callerItem("built", bool(true))] }),
  (_law, state, operation) =>
    evaluateCommand(operation, state.head, "build", {
      caller_evidence: [callerItem("built", bool(true)), callerItem("log", { value: LOG, value_type: "String" })],
    }),
  (_law, state, operation) => submitCommand(operation, state.head),
  openStage("review"),
  (_law, state, operation) =>
    evaluateCommand(operation, state.head, "review", {
      caller_evidence: [
        callerItem("approved", bool(true)),
        callerItem("ticket", { value: "REL-17", value_type: "String" }, {
          retention: { retention: "RetainDigestOnly" },
        }),
      ],
    }),
  openStage("ship"),
  region,
  (_law, state, operation) =>
    submitCommand(operation, state.head, {
      content_type: "text/plain",
      payload: { kind: "bytes", base64: "c2hpcHBlZAo=" },
      scope: {
        kind: "stage_open",
        stage_id: "ship",
        stage_open_record_id: state.stages.find(({ stage_id }) => stage_id === "ship")?.stage_open_record_id ?? "",
      },
    }),
];

/** What a store holds of an accepted decision. */
export function stored({ records: [decided], result }: Accepted): StoredRecord {
  const { record, record_id, text: body, material } = decided;
  const { revision, operation, invocation_identity } = record;
  const receipt = { operation, invocation_identity, result: canonicalize(result) };
  return { revision, record_id, record: body, material, receipt };
}

/** The procedure of a record by its revision. */
export type ProcedureAt = (revision: number) => ProcedureName;

/** What a run is played with. */
export interface Play {
  readonly law: CompiledLaw;
  readonly environment: Environment;
  readonly start: CreateCommand;
  readonly moves: readonly RunMove[];
  /** Milliseconds from the reading of the first record to that of a move, counted from 0. */
  readonly clock: (move: number) => number;
  readonly procedureAt?: ProcedureAt;
  /** Artifacts beside the operator profile. */
  readonly artifacts: readonly Artifact[];
}

/** Plays a run by the current procedure, unless another is given. */
export function playRun({ law, environment, start, moves, clock, procedureAt, artifacts }: Play): PlayedRun {
  const at = (revision: number): Environment => ({ ...environment, procedure: procedureAt?.(revision) ?? PROCEDURE });
  let last = accepted(decide(law, null, start, stampsAt(), at(1)));
  const records = [stored(last)];
  moves.forEach((move, index) => {
    const stamps = stampsAt(stampsAt().time.reading_unix_millis + clock(index));
    last = accepted(decide(law, last.state, move(law, last.state, index + 2), stamps, at(index + 2)));
    records.push(stored(last));
  });
  const { scenario_id, namespace_id } = law.law;
  const { scenario_law_identity, graph_identity } = law;
  const { profile, profile_identity } = environment;
  return {
    law: { namespace_id, scenario_id, scenario_law_identity, graph_identity, law: canonicalize(lawAsJson(law.law)) },
    records,
    artifacts: [...artifacts, {
      kind: "operator-profile",
      identity: profile_identity,
      body: canonicalize(asJson(profile)),
    }],
    state: last.state,
  };
}

/** Plays the golden run, and as many more submissions as are asked for, by the current procedure unless another is given. */
export function playGoldenRun(more = 0, procedureAt: ProcedureAt = () => PROCEDURE): PlayedRun {
  const note: RunMove = (_law, state, operation) =>
    submitCommand(operation, state.head, { payload: { kind: "json", value: { note: operation } } });
  return playRun({
    law: goldenLaw(),
    environment: environmentWith(),
    procedureAt,
    start: createCommand({
      correlation: { kind: "set", correlation_id: "release-17" },
      genesis: { kind: "declared", payload: { kind: "json", value: { branch: "main" } } },
      allocation: { authority_id: "gate.random", run_id: hex32(0x17) },
      contracts: [{ provider_id: "env", contract_identity: CONTRACT_IDENTITY }],
      schemas: [{ schema_id: "release", version: "1", schema_identity: SCHEMA_IDENTITY }],
    }),
    moves: [...MOVES, ...Array.from({ length: more }, () => note)],
    // Ten milliseconds a move, and one reading that is behind: it is clamped.
    clock: (move) => move === 4 ? 0 : 10 * (move + 1),
    artifacts: [
      { kind: "contract", identity: CONTRACT_IDENTITY, body: canonicalize(CONTRACT) },
      { kind: "schema", identity: SCHEMA_IDENTITY, body: canonicalize(SCHEMA) },
    ],
  });
}

/** Puts a played run into a store, or the records of it after a revision. */
export async function storeRun(store: RunStore, run: PlayedRun, after = 0, upTo = run.records.length): Promise<void> {
  if (after === 0) await store.laws.put(run.law);
  const { run_key, scenario_id, scenario_law_identity } = run.state;
  const before = run.records[after - 1];
  await store.append({
    run_key,
    scenario_id,
    scenario_law_identity,
    expected_head: before === undefined ? null : { record_id: before.record_id, revision: before.revision },
    records: run.records.slice(after, upTo),
    artifacts: run.artifacts,
  });
}
