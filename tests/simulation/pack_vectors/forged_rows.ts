/**
 * Forgeries of the golden run for every code of violations.json that those of runpack_forgeries.ts do not show.
 *
 * @module
 */

import { identify } from "../../../src/canonical/identity.ts";
import { SHA256 } from "../kernel/fixture.ts";
import type { Editable } from "../kernel/law_specs.ts";
import { forge, type Parts, rekey } from "../forged_packs/forge.ts";
import { AT } from "../forged_packs/forgeries.ts";
import { leftOutPack } from "../forged_packs/left_out.ts";
import { withLines, withList } from "./reshape.ts";
import type { CodeName, CodeRow } from "./rows.ts";

const row = (
  name: string,
  code: CodeName,
  violates: Readonly<Record<string, string>>,
  change: (parts: Parts) => void,
): CodeRow => ({ name, code, violates, make: ({ run }) => ({ pack: forge(run, change) }) });

const body = (parts: Parts, at: number): Editable => parts.records[at].body;
const line = (parts: Parts, at: number): Editable => body(parts, at).evidence;
const digestOf = (character: string): string => character.repeat(64);

/** Changes the operator profile of every record. */
export function replaceProfile(parts: Parts, change: (profile: Editable) => void): void {
  const profile = parts.artifacts.find(({ kind }) => kind === "operator-profile");
  if (profile === undefined) return;
  change(profile.body);
  profile.identity = identify(SHA256, "operator-profile", profile.body);
  for (const [at, record] of parts.records.entries()) {
    record.operator_profile = record.admission.profile_id = profile.identity;
    parts.receipts[at].result.admission.profile_id = profile.identity;
  }
}

function replacePayload(parts: Parts, payload: Editable): void {
  body(parts, AT.submit).payload_identity = rekey(parts, "payload", payload);
}

const ALLOCATION = "run_allocation_integrity";
const DECISION = "pure_semantic_replay";
const HISTORY = "accepted_history_continuity";
const RECEIPTS = "operation_receipt_consistency";
const ATTEMPT = "evaluation_attempt_consistency";
const ADMISSION = "evidence_structural_admission";
const RETENTION = "evidence_retention_reconstruction";
const WITNESS = "acquisition_admission_witness_reconstruction";

/** Binds the provider to a second contract without its check, whose identity sorts before or behind that of the first. */
function bindTwice(parts: Parts, isBefore: boolean): void {
  const { contracts } = body(parts, AT.create);
  const first = parts.artifacts.find(({ kind }) => kind === "contract");
  for (let number = 0; first !== undefined; number++) {
    const changed = { ...first.body, checks: [], notes: [String(number)] };
    const identity = identify(SHA256, "contract", changed);
    if (identity < first.identity !== isBefore) continue;
    contracts.push({ ...contracts[0], contract_identity: identity });
    parts.artifacts.push({ kind: "contract", identity, body: changed });
    return;
  }
}

const MISMATCH = "provider_version_mismatch";

/** What a forgery changes of a typed provider before identities are computed. */
interface TypedParts {
  readonly contract: Editable;
  readonly version: Editable;
  readonly bound: Editable;
}

/** Binds a typed provider, with its version; a change is made before the identities are computed. */
function bindTyped(parts: Parts, change: (typed: TypedParts) => void = () => {}, keepsVersion = true): void {
  const { contracts } = body(parts, AT.create);
  const first = parts.artifacts.find(({ kind }) => kind === "contract");
  if (first === undefined) return;
  const contract: Editable = { ...structuredClone(first.body), provider_id: "releases", transport: "typed" };
  const version: Editable = { contract, profile: { base_url: "https://releases.example" } };
  const bound: Editable = { provider_id: "releases", contract_identity: "", provider_version_identity: "" };
  version.contract = structuredClone(contract);
  change({ contract, version, bound });
  if (contract.transport !== "typed") version.contract = structuredClone(contract);
  bound.contract_identity = identify(SHA256, "contract", contract);
  const identity = identify(SHA256, "provider-version", version);
  if (bound.provider_version_identity !== undefined) bound.provider_version_identity = identity;
  contracts.push(bound);
  parts.artifacts.push({ kind: "contract", identity: bound.contract_identity, body: contract });
  if (keepsVersion) parts.artifacts.push({ kind: "provider-version", identity, body: version });
}

/** Of claims 5 to 13. */
const HISTORY_ROWS: readonly CodeRow[] = [
  row("a first record of another graph", ["scenario_graph_binding", "graph_identity_mismatch", 1], {
    scenario_graph_binding: "graph_identity_mismatch: revision 1",
    [DECISION]: "decision_mismatch: revision 1",
  }, (parts) => {
    body(parts, AT.create).graph_identity = digestOf("a");
  }),
  row("a first record of another scenario", ["scenario_graph_binding", "scenario_mismatch", 1], {
    scenario_graph_binding: "scenario_mismatch: revision 1",
    [DECISION]: "decision_mismatch: revision 1",
  }, (parts) => {
    body(parts, AT.create).scenario_id = "another";
  }),
  row(
    "a schema that is bound twice",
    [ALLOCATION, "schema_repeated"],
    { [ALLOCATION]: "schema_repeated: revision 1" },
    (parts) => {
      const { schemas } = body(parts, AT.create);
      schemas.push({ ...schemas[0] });
    },
  ),
  row("a second contract of a provider, listed before the first", [ALLOCATION, "contract_repeated"], {
    [ALLOCATION]: "contract_repeated: revision 1",
  }, (parts) => bindTwice(parts, true)),
  row("a second contract of a provider, listed behind the first", [ALLOCATION, "contract_repeated"], {
    [ALLOCATION]: "contract_repeated: revision 1",
  }, (parts) => bindTwice(parts, false)),
  row("a typed provider that is bound to no version", [ALLOCATION, MISMATCH], {
    [ALLOCATION]: `${MISMATCH}: revision 1`,
  }, (parts) => bindTyped(parts, ({ bound }) => delete bound.provider_version_identity, false)),
  row("a provider that is not typed and is bound to a version", [ALLOCATION, MISMATCH], {
    [ALLOCATION]: `${MISMATCH}: revision 1`,
  }, (parts) => bindTyped(parts, ({ contract }) => contract.transport = "mcp")),
  row("a version of another contract", [ALLOCATION, MISMATCH], {
    [ALLOCATION]: `${MISMATCH}: revision 1`,
  }, (parts) => bindTyped(parts, ({ version }) => version.contract.notes = ["swapped"])),
  row("a version with another profile under the same identity", [ALLOCATION, "artifact_invalid"], {
    [ALLOCATION]: "artifact_invalid: artifacts/3",
  }, (parts) => {
    bindTyped(parts);
    const version = parts.artifacts.find(({ kind }) => kind === "provider-version");
    if (version !== undefined) version.body.profile.base_url = "https://swapped.example";
  }),
  row("a version without a profile", [ALLOCATION, "artifact_invalid"], {
    [ALLOCATION]: "artifact_invalid: artifacts/3",
  }, (parts) => bindTyped(parts, ({ version }) => delete version.profile)),
  row("a version that the pack does not hold", [ALLOCATION, "artifact_missing"], {
    [ALLOCATION]: "artifact_missing: provider-version c153383fce29525b854cfbe846646955a22745dbe4d4ab69f9064a5cda2fe4c6",
  }, (parts) => {
    bindTyped(parts);
    parts.artifacts.splice(parts.artifacts.findIndex(({ kind }) => kind === "provider-version"), 1);
  }),
  row("a version that no record names", [ALLOCATION, "artifact_unexpected"], {
    [ALLOCATION]: "artifact_unexpected: artifacts/3",
  }, (parts) =>
    bindTyped(parts, ({ bound, contract }) => {
      delete bound.provider_version_identity;
      contract.transport = "mcp";
    })),
  row("a schema that the law does not name", [ALLOCATION, "schema_unexpected"], {
    [ALLOCATION]: "schema_unexpected: revision 1",
  }, (parts) => {
    body(parts, AT.create).schemas[0].version = "2";
  }),
  row("a run that no record creates", [ALLOCATION, "run_created_missing"], {
    [ALLOCATION]: "run_created_missing: revision 1",
    [RECEIPTS]: "family_mismatch: revision 1",
    stage_open_consistency: "stage_missing: revision 1",
    [DECISION]: "decision_mismatch: revision 1",
  }, (parts) => {
    Object.assign(parts.records[0], {
      record_kind: "stage_opened",
      body: { ...body(parts, AT.open), time_source: body(parts, AT.create).time_source },
    });
  }),
  row("a run that nobody allocated", [ALLOCATION, "run_authority_missing"], {
    [ALLOCATION]: "run_authority_missing: revision 1",
  }, (parts) => {
    body(parts, AT.create).run_allocation.authority_id = "";
  }),
  row("a run that is created twice", [ALLOCATION, "run_created_unexpected"], {
    [ALLOCATION]: "run_created_unexpected: revision 6",
    [RECEIPTS]: "family_mismatch: revision 6",
    [DECISION]: "decision_mismatch: revision 6",
  }, (parts) => {
    Object.assign(parts.records[AT.submit], { record_kind: "run_created", body: structuredClone(body(parts, 0)) });
  }),
  row("a schema that the pack does not hold", [ALLOCATION, "artifact_missing"], {
    [ALLOCATION]: "artifact_missing: schema f8387b06ff4957368f23da7123ef54bcca4e853ed7bbb1935846b4147464965e",
  }, (parts) => {
    parts.artifacts.splice(parts.artifacts.findIndex(({ kind }) => kind === "schema"), 1);
  }),
  row("no receipts", ["creation_receipt_integrity", "receipt_missing"], {
    creation_receipt_integrity: "receipt_missing: revision 1",
    [RECEIPTS]: "receipt_missing: revision 2",
  }, (parts) => {
    parts.receiptLines = () => [];
  }),
  row("a creation receipt that is no receipt", ["creation_receipt_integrity", "receipt_invalid"], {
    creation_receipt_integrity: "receipt_invalid: revision 1",
  }, (parts) => {
    parts.receiptLines = ([, ...lines]) => ["{}", ...lines];
  }),
  row(
    "a record that is no JSON",
    [HISTORY, "record_invalid", 1],
    { [HISTORY]: "record_invalid: revision 6" },
    (parts) => {
      parts.recordLines = (lines) => lines.with(5, "record");
    },
  ),
  row("an opening under the family of submissions", [RECEIPTS, "family_mismatch"], {
    [RECEIPTS]: "family_mismatch: revision 2",
    [DECISION]: "decision_mismatch: revision 2",
  }, (parts) => {
    for (const part of [parts.records[AT.open], parts.receipts[AT.open]]) part.operation.family = "submit";
    parts.receipts[AT.open].result.operation_id.family = "submit";
  }),
  row("an opening of a stage that is complete", ["stage_open_consistency", "stage_state_mismatch"], {
    stage_open_consistency: "stage_state_mismatch: revision 9",
    [DECISION]: "decision_mismatch: revision 9",
  }, (parts) => {
    body(parts, AT.openIntents).stage_id = "build";
  }),
  row("an attempt at a stage that the law lacks", [ATTEMPT, "stage_missing"], {
    [ATTEMPT]: "stage_missing: revision 5",
    [DECISION]: "decision_mismatch: revision 5",
  }, (parts) => {
    body(parts, AT.attempt).stage_id = "another";
  }),
  row("an attempt at a stage that is not open", [ATTEMPT, "stage_state_mismatch"], {
    [ATTEMPT]: "stage_state_mismatch: revision 5",
    [ADMISSION]: "condition_mismatch: revision 5, item 0",
    evidence_use_policy_satisfaction: "qualification_mismatch: revision 5, item 0",
    [DECISION]: "decision_mismatch: revision 5",
  }, (parts) => {
    body(parts, AT.attempt).stage_id = "review";
  }),
  row("an attempt that completes nothing although it is true", [ATTEMPT, "completed_mismatch"], {
    [ATTEMPT]: "completed_mismatch: revision 5",
    [DECISION]: "decision_mismatch: revision 5",
  }, (parts) => {
    body(parts, AT.attempt).completed = false;
  }),
  row("stages that completed otherwise", [ATTEMPT, "scenario_trace_mismatch"], {
    [ATTEMPT]: "scenario_trace_mismatch: revision 5",
    [DECISION]: "decision_mismatch: revision 5",
  }, (parts) => {
    body(parts, AT.attempt).scenario_trace[0].value = "true";
  }),
  row("a run that is complete before its time", [ATTEMPT, "run_status_mismatch"], {
    [ATTEMPT]: "run_status_mismatch: revision 5",
    [DECISION]: "decision_mismatch: revision 5",
  }, (parts) => {
    body(parts, AT.attempt).run_status = "complete";
  }),
];

const SUBMISSION = "submission_consistency";

/** Of claims 14 to 17. */
const VALUE_ROWS: readonly CodeRow[] = [
  row("a payload whose base64 does not decode", [SUBMISSION, "payload_invalid", 0], {
    [RECEIPTS]: "result_mismatch: revision 6",
    [SUBMISSION]: "payload_invalid: revision 6",
    [DECISION]: "decision_mismatch: revision 6",
  }, (parts) => {
    replacePayload(parts, { kind: "bytes", base64: "A" });
  }),
  row("a payload under the identity of another", [SUBMISSION, "payload_mismatch"], {
    [SUBMISSION]: "payload_mismatch: revision 6",
    [RETENTION]: "value_mismatch: segments/0",
    [DECISION]: "decision_mismatch: revision 6",
  }, (parts) => {
    const { payload_identity } = body(parts, AT.submit);
    parts.bodies.set(`payload ${payload_identity}`, { kind: "json", value: { note: "changed" } });
  }),
  row("a payload that is larger than the operator allows", [SUBMISSION, "payload_invalid", 1], {
    [SUBMISSION]: "payload_invalid: revision 1",
    [DECISION]: "decision_mismatch: revision 1",
  }, (parts) => {
    replaceProfile(parts, (profile) => profile.value_limits.maximum_payload_bytes = 12);
  }),
  row("an acquired item that is there twice", [ADMISSION, "item_repeated"], {
    [RECEIPTS]: "result_mismatch: revision 10",
    [ADMISSION]: "item_repeated: revision 10",
    evidence_use_policy_satisfaction: "qualification_mismatch: revision 10",
    [DECISION]: "decision_mismatch: revision 10",
  }, (parts) => {
    line(parts, AT.acquire).push(structuredClone(line(parts, AT.acquire)[1]));
  }),
  row("65 items of a caller for one condition", [ADMISSION, "items_unexpected", 1], {
    [RECEIPTS]: "result_mismatch: revision 3",
    [ADMISSION]: "items_unexpected: revision 3",
    evidence_use_policy_satisfaction: "qualification_mismatch: revision 3, item 1",
    [DECISION]: "decision_mismatch: revision 3",
  }, (parts) => {
    const items = line(parts, AT.attemptFalse);
    for (let index = 1; index < 65; index++) items.push({ ...items[0], item_id: `caller:${index}` });
  }),
  row("a caller's item that names a provider", [ADMISSION, "item_invalid", 1], {
    [RECEIPTS]: "result_mismatch: revision 3",
    [ADMISSION]: "item_invalid: revision 3, item 0",
    [DECISION]: "decision_mismatch: revision 3",
  }, (parts) => {
    line(parts, AT.attemptFalse)[0].provider_id = "env";
  }),
  row("an item of another type", [ADMISSION, "value_type_mismatch"], {
    [RECEIPTS]: "result_mismatch: revision 3",
    [ADMISSION]: "value_type_mismatch: revision 3, item 0",
    [DECISION]: "decision_mismatch: revision 3",
  }, (parts) => {
    const [item] = line(parts, AT.attemptFalse);
    item.value_identity = rekey(parts, "evidence-value", { value: 0, value_type: "Integer" });
    item.content_hash.value = SHA256("0");
    item.value_type = "Integer";
  }),
  row("a verdict on a value without a schema", [ADMISSION, "schema_verdict_mismatch", 0], {
    [ADMISSION]: "schema_verdict_mismatch: revision 3, item 0",
  }, (parts) => {
    line(parts, AT.attemptFalse)[0].schema_verdict = "valid";
  }),
  row("an item that says another type than its value", [RETENTION, "value_type_mismatch"], {
    [RECEIPTS]: "result_mismatch: revision 3",
    [ADMISSION]: "value_invalid: revision 3, item 0",
    [RETENTION]: "value_type_mismatch: revision 3, item 0",
    [DECISION]: "decision_mismatch: revision 3",
  }, (parts) => {
    line(parts, AT.attemptFalse)[0].value_identity = rekey(parts, "evidence-value", {
      value: false,
      value_type: "Json",
    });
  }),
  row("a declared genesis that does not hash to its name", [RETENTION, "value_mismatch", 1], {
    [SUBMISSION]: "payload_mismatch: revision 1",
    [RETENTION]: "value_mismatch: segments/0",
    [DECISION]: "decision_mismatch: revision 1",
  }, (parts) => {
    parts.bodies.set(`payload ${body(parts, AT.create).genesis.payload_identity}`, { kind: "json", value: "other" });
  }),
  row("a large payload that does not hash to its name", [RETENTION, "value_mismatch", 2], {
    [SUBMISSION]: "payload_mismatch: revision 6",
    [RETENTION]: "value_mismatch: segments/0",
    [DECISION]: "decision_mismatch: revision 6",
  }, (parts) => {
    const { payload_identity } = body(parts, AT.submit);
    parts.bodies.set(`payload ${payload_identity}`, { kind: "json", value: "compiled one more file\n".repeat(800) });
  }),
  {
    name: "a large value that is not large",
    code: [RETENTION, "value_unexpected", 1],
    violates: { [RETENTION]: "value_unexpected: segments/0" },
    make: ({ pack }) => ({
      pack: withList(withFirstValueTaken(pack), "segments", ({ segments: [{ large_values }] }, put) => {
        const { body, identity, kind } = firstValue(pack);
        large_values.unshift({ identity, kind, ...put(new TextEncoder().encode(body)) });
      }),
    }),
  },
];

/** Of claims 18 to 23. */
const WITNESS_ROWS: readonly CodeRow[] = [
  row("a caller's item with a witness", [WITNESS, "witness_unexpected"], {
    [DECISION]: "decision_mismatch: revision 10",
    [WITNESS]: "witness_unexpected: revision 10, item 0",
  }, (parts) => {
    const [caller, acquired] = line(parts, AT.acquire);
    caller.acquisition = structuredClone(acquired.acquisition);
  }),
  row("an acquisition whose contract the pack does not hold", [WITNESS, "contract_missing"], {
    [ALLOCATION]: "artifact_missing: contract 98124c837e0d86bd8bace296d3d1e37dd0280f89223d283d87ae99dc16176f4f",
    [WITNESS]: "contract_missing: revision 10, item 1",
  }, (parts) => {
    parts.artifacts.splice(parts.artifacts.findIndex(({ kind }) => kind === "contract"), 1);
  }),
  row("an acquisition under the contract of another provider", [WITNESS, "contract_mismatch", 1], {
    [ALLOCATION]: "contract_mismatch: revision 1",
    [WITNESS]: "contract_mismatch: revision 10, item 1",
  }, (parts) => {
    const contract = parts.artifacts.find(({ kind }) => kind === "contract");
    if (contract === undefined) return;
    contract.body.provider_id = "other";
    contract.identity = identify(SHA256, "contract", contract.body);
    body(parts, AT.create).contracts[0].contract_identity = contract.identity;
    line(parts, AT.acquire)[1].acquisition.contract_identity = contract.identity;
  }),
  row("a provider's result with a member more", [WITNESS, "witness_invalid"], {
    [WITNESS]: "witness_invalid: revision 10, item 1",
  }, (parts) => {
    line(parts, AT.acquire)[1].acquisition.provider_result.note = "";
  }),
  row("an operator profile that is none", ["attribution_authorization_availability", "profile_invalid"], {
    attribution_authorization_availability: "profile_invalid: revision 1",
  }, (parts) => {
    replaceProfile(parts, (profile) => profile.note = "");
  }),
  row("an admission under another profile", ["attribution_authorization_availability", "profile_mismatch"], {
    [RECEIPTS]: "result_mismatch: revision 6",
    [DECISION]: "decision_mismatch: revision 6",
    attribution_authorization_availability: "profile_mismatch: revision 6",
  }, (parts) => {
    parts.records[AT.submit].admission.profile_id = digestOf("8");
  }),
];

function firstValue(pack: Parameters<typeof withLines>[0]): { body: string; identity: string; kind: string } {
  let found = { body: "", identity: "", kind: "" };
  withLines(pack, "values", (text) => {
    const { body, identity, kind } = JSON.parse(text.split("\n")[0] ?? "");
    found = { body: JSON.stringify(body), identity, kind };
    return text;
  });
  return found;
}

function withFirstValueTaken(pack: Parameters<typeof withLines>[0]): Parameters<typeof withLines>[0] {
  return withLines(pack, "values", (text) => text.slice(text.indexOf("\n") + 1));
}

/** In the order of the codes. */
const LEFT_OUT_ROW: CodeRow = {
  name: "an attempt that left out a required binding",
  code: [ATTEMPT, "binding_required"],
  violates: {
    [ATTEMPT]: "binding_required: revision 3",
    [DECISION]: "decision_mismatch: revision 3",
  },
  make: () => ({ pack: leftOutPack([]) }),
};

/** Every row of this file. */
export const FORGED_ROWS: readonly CodeRow[] = [...HISTORY_ROWS, ...VALUE_ROWS, ...WITNESS_ROWS, LEFT_OUT_ROW];
