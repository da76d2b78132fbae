/**
 * The run of the evidence vectors: attempts that fail for every reason that an item may have, and attempts that hold.
 *
 * @module
 */

import { canonicalize } from "../../../src/canonical/canonicalize.ts";
import { identify } from "../../../src/canonical/identity.ts";
import type { JsonValue } from "../../../src/canonical/json.ts";
import { lawAsJson } from "../../../src/law/normal_form.ts";
import type { TypedValue } from "../../../src/law/value/types.ts";
import type { Accepted, Command, EvaluateCommand } from "../../../src/run/command.ts";
import type { CompiledLaw } from "../../../src/run/compile.ts";
import { decide } from "../../../src/run/decide/decide.ts";
import type { CallerEvidence } from "../../../src/run/evidence.ts";
import { asJson } from "../../../src/run/primitives.ts";
import type { Head, ProcedureName, RunState } from "../../../src/run/types.ts";
import {
  accepted,
  bool,
  callerItem,
  createCommand,
  environmentWith,
  evaluateCommand,
  hex32,
  int,
  KEY_1,
  KEY_2,
  NOW,
  openCommand,
  presented,
  SHA256,
  stampsAt,
  submitCommand,
  type TestKey,
} from "../kernel/fixture.ts";
import { type PlayedRun, stored } from "../runpack/run.ts";
import { acquire, type Answer, CONTRACTS, type Scene, signatureOf } from "./acquired.ts";
import { evidenceLaw, IMAGE, PROFILE } from "./evidence_law.ts";

/** The JSON Schema that the law names. */
export const SCHEMA: JsonValue = { type: "object", required: ["coverage"] };

/** When what is signed was observed. */
const OBSERVED_AT = NOW - 100;

/** An attempt: what the caller sends, and what bindings are answered. */
interface Given {
  readonly caller?: readonly CallerEvidence[];
  readonly verdicts?: EvaluateCommand["schema_verdicts"];
  readonly acquired: Readonly<Record<string, Answer>>;
}

/** An approval of a caller, signed over its statement. */
function approval(scene: Scene, key: TestKey): CallerEvidence {
  const item = presented("approved", bool(true), { observed_at: OBSERVED_AT });
  const signature = signatureOf(scene, item, { value: true, signs: [key, 3] });
  return callerItem("approved", bool(true), {
    observed_at: OBSERVED_AT,
    ...signature === null ? {} : { signature },
  });
}

const SIGNED = { observed_at: OBSERVED_AT };
const JSON_REPORT: TypedValue = { value: { coverage: 93 }, value_type: "Json" };

/** Only the provider of the image meets its duties: it signs a statement that names the head. */
const UNPAID: Given = {
  acquired: {
    "amount-scan": { value: 12.5 },
    "image-scan": { value: { algorithm: "sha256", value: IMAGE }, ...SIGNED, signs: [KEY_2, 2] },
    "findings-scan": { value: 2, ...SIGNED, signs: [KEY_1, { text: "something else" }] },
    "commit-ledger": { value: "abc", anchor: '{"ref":"main"}' },
  },
};
/** What counts for its provider, and not for the law: a bare hash is bound to nothing, and the other key is not authorized. */
const UNBOUND: Given = {
  acquired: {
    "amount-scan": { value: 12.5, signs: [KEY_1, "bare"] },
    "image-scan": { value: { algorithm: "sha256", value: IMAGE }, ...SIGNED, signs: [KEY_1, 3] },
    "findings-scan": { value: 2, ...SIGNED, signs: [KEY_2, 1] },
    "commit-ledger": { value: "abc", anchor: '{"sha":1}', hash: "0".repeat(64) },
  },
};
const STALE: Given = {
  acquired: {
    "amount-scan": { value: 12.5, signs: [KEY_2, "bare"] },
    "findings-scan": { value: 2, observed_at: NOW - 5000, signs: [KEY_1, 1] },
  },
};
const PAID: Given = {
  acquired: {
    "amount-scan": { value: 12.5, signs: [KEY_1, "bare"] },
    "image-scan": { value: { algorithm: "sha256", value: IMAGE }, signs: [KEY_1, "bare"] },
    "findings-scan": { value: 2, ...SIGNED, signs: [KEY_1, 3] },
    "commit-ledger": { value: "abc", anchor: '{"sha":"abc"}' },
  },
};

/** Of each condition of the stage an item that does not help it. */
const TROUBLED: Given = {
  caller: [
    callerItem("replicas", int(3)),
    callerItem("errors", int(0)),
    callerItem("errors", int(0)),
    callerItem("queue", int(1)),
  ],
  acquired: {
    "incident-env": { value: "down" },
    "load-env": { value: null, error: "jsonpath_not_found" },
    "queue-env": { value: "text" },
    "replicas-env": { value: 3, lane: "asserted" },
    "replicas-http": { value: 2 },
    "errors-env-1": { value: 0 },
    "errors-env-2": { value: 4 },
    "latency-env": { value: 3, acquired_at: NOW - 5000 },
    "latency-http": { value: 9 },
    "open-time": { value: true, given: true },
    "report-env": { value: { coverage: 93 }, schema_verdict: "invalid" },
    "ticket-env": { value: "OPS-7", hash: SHA256('"OPS-8"') },
  },
};
const HEALTHY: Given = {
  caller: [callerItem("errors", int(1)), callerItem("report", JSON_REPORT)],
  verdicts: new Map([[1, "valid"]]),
  acquired: {
    "incident-env": { value: null },
    "load-env": { value: null },
    "replicas-env": { value: 3 },
    "replicas-http": { value: 3, hash: SHA256("3") },
    "errors-env-1": { value: 1 },
    "latency-env": { value: 3, acquired_at: NOW - 5000 },
    "latency-http": { value: 2, acquired_at: NOW + 8 },
    "open-time": { value: true },
    "ticket-env": { value: "OPS-7" },
  },
};

/** What a trigger derives: its operations, and how they were admitted. */
function derived(command: Command, ordinal: number): Command {
  const family = command.kind === "submit" ? "submit" : "evaluate_stage";
  const name = { family, ordinal, trigger_id: hex32(0x7716) };
  const operation_id = identify(SHA256, "derived-operation", name).slice(0, 32);
  return { ...command, operation_id, invocation_identity: SHA256("trigger"), admission_kind: "derived" };
}

type Move = (law: CompiledLaw, state: RunState, operation: number) => Command;

const open = (stage_id: string): Move => (_law, { head }, operation) => openCommand(operation, head, stage_id);
const attempt =
  (stage_id: string, { caller = [], verdicts = new Map(), acquired }: Given): Move => (law, state, operation) =>
    evaluateCommand(operation, state.head, stage_id, {
      caller_evidence: caller,
      schema_verdicts: verdicts,
      acquired: Object.entries(acquired).map(([binding, answer]) => acquire({ law, state, stage_id }, binding, answer)),
    });
const approve = (key: TestKey): Move => (law, state, operation) =>
  evaluateCommand(operation, state.head, "ship", {
    caller_evidence: [approval({ law, state, stage_id: "ship" }, key)],
  });
const byTrigger = (move: Move, ordinal = 0): Move => (...at) => derived(move(...at), ordinal);
const note: Move = (_law, { head }: { readonly head: Head }, operation) =>
  submitCommand(operation, head, { payload: { kind: "json", value: { cause: "deploy finished" } } });

/** The moves of the run after its creation. */
const MOVES: readonly Move[] = [
  open("owed"),
  attempt("owed", UNPAID),
  attempt("owed", UNBOUND),
  attempt("owed", STALE),
  attempt("owed", PAID),
  open("watched"),
  attempt("watched", TROUBLED),
  byTrigger(note),
  byTrigger(attempt("watched", HEALTHY)),
  open("ship"),
  approve(KEY_1),
  approve(KEY_2),
];

/** Records of the run by what they do, from 0. */
export const EVIDENCE_AT = {
  create: 0,
  unpaid: 2,
  unbound: 3,
  stale: 4,
  paid: 5,
  troubled: 7,
  healthy: 9,
  ship: 10,
  approvedByOther: 11,
  approved: 12,
};

/** Plays the run. */
export function playEvidenceRun(procedure: ProcedureName): PlayedRun {
  const law = evidenceLaw();
  const environment = { ...environmentWith(PROFILE), procedure };
  const records: PlayedRun["records"][number][] = [];
  const take = (state: RunState | null, command: Command): Accepted => {
    const decided = accepted(decide(law, state, command, stampsAt(NOW + records.length), environment));
    records.push(stored(decided));
    return decided;
  };
  const schema_identity = identify(SHA256, "schema", SCHEMA);
  const contracts = [...CONTRACTS].map(([provider_id, { contract_identity }]) => ({ provider_id, contract_identity }));
  const schemas = [{ schema_id: "release", version: "1", schema_identity }];
  let last = take(null, createCommand({ contracts, schemas }));
  MOVES.forEach((move, index) => last = take(last.state, move(law, last.state, index + 2)));
  const { scenario_law_identity, graph_identity } = law;
  const { scenario_id, namespace_id } = law.law;
  return {
    law: { namespace_id, scenario_id, scenario_law_identity, graph_identity, law: canonicalize(lawAsJson(law.law)) },
    records,
    artifacts: [
      ...[...CONTRACTS.values()].map(({ contract_identity, text }) =>
        ({ kind: "contract", identity: contract_identity, body: text }) as const
      ),
      {
        kind: "operator-profile",
        identity: environment.profile_identity,
        body: canonicalize(asJson(environment.profile)),
      },
      { kind: "schema", identity: schema_identity, body: canonicalize(SCHEMA) },
    ],
    state: last.state,
  };
}
