/**
 * Forgeries of the golden run, each with what it has to violate: packs that hash and link from end to end, and say what
 * did not happen.
 *
 * @module
 */

import { identify } from "../../../src/canonical/identity.ts";
import { HOST_PRIMITIVES } from "../../../src/evidence/host_primitives.ts";
import type { Editable } from "../kernel/law_specs.ts";
import { type Parts, rekey } from "./forge.ts";

/**
 * A forgery with the claims that it violates, by their codes; all others hold or are left open by what the run itself
 * leaves open.
 */
export interface ForgeryRow {
  readonly name: string;
  readonly forge: (parts: Parts) => void;
  readonly violates: Readonly<Record<string, string>>;
}

const row = (
  name: string,
  violates: Readonly<Record<string, string>>,
  change: (parts: Parts) => void,
): ForgeryRow => ({ name, violates, forge: change });

/** Records of the golden run by what they do, from 0. */
export const AT = {
  create: 0,
  open: 1,
  attemptFalse: 2,
  attempt: 4,
  submit: 5,
  openIntents: 8,
  acquire: 9,
  submitStage: 10,
};

const bodyOf = (parts: Parts, at: number): Editable => parts.records[at].body;
/** The acquired item of evidence of the golden run. */
export const acquired = (parts: Parts): Editable => bodyOf(parts, AT.acquire).evidence[1];
const digestOf = (character: string): string => character.repeat(64);

/** What follows where a changed record is not what the kernel decides. */
const DECISION = { pure_semantic_replay: "decision_mismatch" };
const RESULT = { operation_receipt_consistency: "result_mismatch" };

/** In the order of the claims. */
export const FORGERIES: readonly ForgeryRow[] = [
  row("a law that opens a stage by nothing", { scenario_law_construction: "law_invalid" }, (parts) => {
    const stage = parts.law.stages.find(({ stage_id }: Editable) => stage_id === "build");
    stage.completion_requirement = { And: [] };
  }),
  row("a law out of order", { scenario_law_construction: "law_invalid" }, (parts) => parts.law.conditions.reverse()),
  row("the manifest of another law", { scenario_law_construction: "law_identity_mismatch" }, (parts) => {
    parts.manifest = (manifest) => manifest.scenario_law_identity = digestOf("a");
  }),
  row("the law of another run", { scenario_law_construction: "law_identity_mismatch" }, (parts) => {
    parts.law.policies.push({ policy_id: "another" });
  }),
  row("another stage graph", { scenario_graph_binding: "graph_identity_mismatch" }, (parts) => {
    parts.manifest = (manifest) => manifest.graph_identity = digestOf("b");
  }),
  row("another scenario", { scenario_graph_binding: "scenario_mismatch" }, (parts) => {
    parts.manifest = (manifest) => manifest.scenario_id = "another";
  }),
  row("a second contract of a provider", { run_allocation_integrity: "contract_repeated" }, (parts) => {
    const first = parts.artifacts.find(({ kind }) => kind === "contract");
    const body = { ...first?.body, note: "another" };
    const identity = identify(HOST_PRIMITIVES.sha256, "contract", body);
    parts.artifacts.push({ kind: "contract", identity, body });
    const { contracts } = parts.records[0].body;
    contracts.push({ ...contracts[0], contract_identity: identity });
  }),
  row("a contract under the name of another provider", {
    run_allocation_integrity: "contract_mismatch",
    acquisition_admission_witness_reconstruction: "contract_mismatch",
  }, (parts) => parts.records[0].body.contracts[0].provider_id = "other"),
  row("the manifest of another run", {
    run_allocation_integrity: "run_key_mismatch",
  }, (parts) => {
    parts.manifest = (manifest) => manifest.run_key = { ...manifest.run_key, run_id: "f".repeat(32) };
  }),
  row("an artifact that no record names", { run_allocation_integrity: "artifact_unexpected" }, (parts) => {
    parts.artifacts.push({ kind: "schema", identity: rekey(parts, "schema", {}), body: {} });
  }),
  row("an artifact under a name that is not its own", { run_allocation_integrity: "artifact_invalid" }, (parts) => {
    const schema = parts.artifacts.find(({ kind }) => kind === "schema");
    if (schema !== undefined) schema.body = { type: "object" };
  }),
  row("a schema that is not bound", { run_allocation_integrity: "schema_missing" }, (parts) => {
    bodyOf(parts, AT.create).schemas = [];
  }),
  row("a creation that was answered otherwise", { creation_receipt_integrity: "result_mismatch" }, (parts) => {
    parts.receipts[AT.create].result.correlation = { kind: "unset" };
  }),
  row("a creation under another invocation", { creation_receipt_integrity: "receipt_mismatch" }, (parts) => {
    parts.receipts[AT.create].invocation_identity = digestOf("c");
  }),
  row("a record of an unknown procedure", { accepted_history_continuity: "procedure_unsupported" }, (parts) => {
    parts.records[AT.submit].procedure = "gate-kernel-0";
  }),
  row("a record of an older procedure than the one before", {
    accepted_history_continuity: "procedure_downgraded",
  }, (parts) => {
    parts.records[AT.submit].procedure = "gate-kernel-1";
  }),
  row("a record with a member more", { accepted_history_continuity: "record_invalid" }, (parts) => {
    parts.records[AT.submit].note = "";
  }),
  row("a chain that is broken in the middle", { accepted_history_continuity: "chain_broken" }, (parts) => {
    parts.records[AT.submit].previous_record_id = digestOf("d");
  }),
  row("two records in the other order", { accepted_history_continuity: "chain_broken" }, (parts) => {
    parts.recordLines = (lines) => lines.toSpliced(2, 2, lines[3] ?? "", lines[2] ?? "");
  }),
  row("a record that was taken out", { accepted_history_continuity: "chain_broken" }, (parts) => {
    parts.recordLines = (lines) => lines.toSpliced(3, 1);
  }),
  row("a last record that was taken out", { accepted_history_continuity: "record_missing" }, (parts) => {
    parts.recordLines = (lines) => lines.slice(0, -1);
  }),
  row("a record too many", { accepted_history_continuity: "record_unexpected" }, (parts) => {
    parts.recordLines = (lines) => [...lines, lines.at(-1) ?? ""];
  }),
  row("a record that is not canonical", { accepted_history_continuity: "record_invalid" }, (parts) => {
    parts.recordLines = (lines) => lines.map((line, index) => index === 5 ? line.replace(":", ": ") : line);
  }),
  row("another record tree", { accepted_history_continuity: "record_tree_mismatch" }, (parts) => {
    parts.manifest = (manifest) => manifest.record_tree = { ...manifest.record_tree, root: digestOf("e") };
  }),
  row("another head", { exact_head_reconstruction: "head_mismatch" }, (parts) => {
    parts.manifest = (manifest) => manifest.head = { ...manifest.head, record_id: digestOf("f") };
  }),
  row("another state", { current_state_equivalence: "state_mismatch" }, (parts) => {
    parts.manifest = (manifest) => manifest.state_identity = digestOf("1");
  }),
  row("an attempt that was answered otherwise", RESULT, (parts) => {
    parts.receipts[AT.attempt].result.run_status = "complete";
  }),
  row("a receipt of another operation", { operation_receipt_consistency: "receipt_mismatch" }, (parts) => {
    parts.receipts[AT.submit].operation.identity = "f".repeat(32);
  }),
  row("a receipt that is missing", { operation_receipt_consistency: "receipt_missing" }, (parts) => {
    parts.receiptLines = (lines) => lines.slice(0, -1);
  }),
  row("a receipt too many", { operation_receipt_consistency: "receipt_unexpected" }, (parts) => {
    parts.receiptLines = (lines) => [...lines, lines.at(-1) ?? ""];
  }),
  row("a receipt that is none", { operation_receipt_consistency: "receipt_invalid" }, (parts) => {
    parts.receiptLines = (lines) => lines.map((line, index) => index === 5 ? "{}" : line);
  }),
  row("an operation that is there twice", { operation_receipt_consistency: "operation_repeated" }, (parts) => {
    for (const part of [parts.records, parts.receipts]) {
      part[AT.submitStage].operation = { ...part[AT.submit].operation };
    }
    parts.receipts[AT.submitStage].result.operation_id = { ...parts.receipts[AT.submit].operation };
  }),
  row("a prerequisite that did not hold", {
    stage_open_consistency: "prerequisite_trace_mismatch",
    ...DECISION,
  }, (parts) => bodyOf(parts, 6).prerequisite_trace[0].value = "false"),
  row("a stage that is opened before its time", {
    stage_open_consistency: "stage_state_mismatch",
    ...DECISION,
  }, (parts) => bodyOf(parts, AT.open).stage_id = "review"),
  row("a stage that no law has", { stage_open_consistency: "stage_missing", ...DECISION }, (parts) => {
    bodyOf(parts, AT.open).stage_id = "another";
  }),
  row(
    "an attempt of another number",
    { evaluation_attempt_consistency: "attempt_number_mismatch", ...DECISION },
    (parts) => {
      bodyOf(parts, AT.attempt).attempt_number = 7;
    },
  ),
  row("an outcome that its trace does not give", {
    evaluation_attempt_consistency: "outcome_mismatch",
    ...DECISION,
    ...RESULT,
  }, (parts) => bodyOf(parts, AT.attemptFalse).outcome = "unknown"),
  row("a gate that is opened by a forged trace", {
    ...DECISION,
  }, (parts) => {
    // False evidence, a true trace: the record and everything after it is consistent with itself.
    const { body } = parts.records[AT.attempt];
    const no = rekey(parts, "evidence-value", { value: false, value_type: "Boolean" });
    body.evidence[0].value_identity = no;
    body.evidence[0].content_hash.value = bodyOf(parts, AT.attemptFalse).evidence[0].content_hash.value;
    parts.receipts[AT.attempt].result.attempt.evidence[0].value_identity = no;
  }),
  row(
    "a trace of other leaves",
    { evaluation_attempt_consistency: "trace_mismatch", ...DECISION, ...RESULT },
    (parts) => {
      bodyOf(parts, AT.attempt).trace[0].path = "$.Or[0]";
    },
  ),
  row("bindings that were left out", {
    evaluation_attempt_consistency: "narrowed_bindings_mismatch",
    ...DECISION,
  }, (parts) => bodyOf(parts, AT.attempt).narrowed_bindings = ["region-env"]),
  row("a payload that is not there", {
    submission_consistency: "payload_missing",
    evidence_retention_reconstruction: "value_missing",
    ...DECISION,
  }, (parts) => parts.bodies.delete(`payload ${bodyOf(parts, AT.submit).payload_identity}`)),
  row("a payload of another content", {
    submission_consistency: "content_hash_mismatch",
    ...DECISION,
    ...RESULT,
  }, (parts) => bodyOf(parts, AT.submit).content_hash.value = digestOf("2")),
  row(
    "a payload of another type",
    { submission_consistency: "content_type_invalid", ...DECISION, ...RESULT },
    (parts) => {
      bodyOf(parts, AT.submit).content_type = "text/plain";
    },
  ),
  row("a submission to a stage that was opened otherwise", {
    submission_consistency: "scope_mismatch",
    ...DECISION,
    ...RESULT,
  }, (parts) => bodyOf(parts, AT.submitStage).scope.stage_open_record_id = digestOf("3")),
  row("an intent to somebody else", { intent_consistency: "intent_mismatch", ...DECISION, ...RESULT }, (parts) => {
    bodyOf(parts, AT.openIntents).intents[0].target = { kind: "agent", agent_id: "mallory" };
  }),
  row("a disclosure by another rule", { intent_consistency: "disclosure_mismatch", ...DECISION }, (parts) => {
    bodyOf(parts, AT.openIntents).disclosures[0].matched_rule = 3;
  }),
  row("a disclosure that the policy denies", {
    intent_consistency: "disclosure_mismatch",
    ...DECISION,
  }, (parts) => {
    const profile = parts.artifacts.find(({ kind }) => kind === "operator-profile");
    if (profile === undefined) return;
    profile.body.policy = { engine: "deny_all" };
    profile.identity = rekey(parts, "operator-profile", profile.body);
    for (const [at, record] of parts.records.entries()) {
      record.operator_profile = record.admission.profile_id = profile.identity;
      parts.receipts[at].result.admission.profile_id = profile.identity;
    }
  }),
  row("evidence for another stage's condition", {
    evidence_structural_admission: "condition_mismatch",
    evidence_use_policy_satisfaction: "qualification_mismatch",
    ...DECISION,
    ...RESULT,
  }, (parts) => bodyOf(parts, AT.attempt).evidence[0].condition_id = "approved"),
  row("evidence that was to be kept by digest only", {
    evidence_structural_admission: "retention_mismatch",
  }, (parts) => {
    bodyOf(parts, AT.attempt).evidence[0].retention = "RetainDigestOnly";
  }),
  row(
    "items that are numbered otherwise",
    { evidence_structural_admission: "item_invalid", ...DECISION, ...RESULT },
    (parts) => {
      bodyOf(parts, AT.attempt).evidence[0].item_id = "caller:7";
    },
  ),
  row("a value beyond its domain", {
    evidence_structural_admission: "value_invalid",
    ...DECISION,
    ...RESULT,
  }, (parts) => {
    const item = bodyOf(parts, AT.attemptFalse).evidence[0];
    item.value_identity = rekey(parts, "evidence-value", { value: 3, value_type: "Boolean" });
    item.content_hash.value = "4e07408562bedb8b60ce05c1decfe3ad16b72230967de01f640b7e4729b49fce";
  }),
  row("a value that was changed", {
    evidence_retention_reconstruction: "value_mismatch",
    ...DECISION,
  }, (parts) => {
    const { value_identity } = bodyOf(parts, AT.attemptFalse).evidence[0];
    parts.bodies.set(`evidence-value ${value_identity}`, { value: true, value_type: "Boolean" });
  }),
  row("a value that is missing", { evidence_retention_reconstruction: "value_missing" }, (parts) => {
    parts.valueLines = (lines) => lines.toSpliced(1, 1);
  }),
  row("a value too many", { evidence_retention_reconstruction: "value_unexpected" }, (parts) => {
    parts.valueLines = (lines) => [...lines, lines[0] ?? ""];
  }),
  row("a withheld condition that the law lacks", {
    evidence_retention_reconstruction: "condition_missing",
  }, (parts) => parts.withheld.push("nobody")),
  row("values in another order", { evidence_retention_reconstruction: "value_missing" }, (parts) => {
    parts.valueLines = (lines) => lines.toReversed();
  }),
  row("values that are no lines", {
    submission_consistency: "payload_missing",
    evidence_retention_reconstruction: "value_invalid",
    ...DECISION,
  }, (parts) => {
    parts.valueLines = (lines) => [...lines, "{}"];
  }),
  row("a content hash that is another's", {
    evidence_retention_reconstruction: "content_hash_mismatch",
    ...DECISION,
  }, (parts) => bodyOf(parts, AT.attempt).evidence[0].content_hash.value = digestOf("4")),
  row("an item that did not count", {
    evidence_use_policy_satisfaction: "qualification_mismatch",
    ...DECISION,
    ...RESULT,
  }, (parts) => {
    Object.assign(bodyOf(parts, AT.attemptFalse).evidence[0], { qualified: false, reason: "assurance" });
  }),
  row("an item of another lane", { evidence_use_policy_satisfaction: "lane_mismatch", ...DECISION }, (parts) => {
    bodyOf(parts, AT.attempt).evidence[0].lane = "asserted";
  }),
  row(
    "a verdict that was changed",
    { evidence_use_policy_satisfaction: "qualification_mismatch", ...DECISION },
    (parts) => {
      bodyOf(parts, AT.acquire).evidence[0].schema_verdict = "invalid";
    },
  ),
  row("an acquisition from another check", {
    acquisition_admission_witness_reconstruction: "binding_mismatch",
  }, (parts) => acquired(parts).acquisition.check_id = "list"),
  row("an acquisition under another contract", {
    acquisition_admission_witness_reconstruction: "contract_mismatch",
  }, (parts) => acquired(parts).acquisition.contract_identity = digestOf("5")),
  row("an acquisition without its witness", {
    acquisition_admission_witness_reconstruction: "witness_missing",
  }, (parts) => delete acquired(parts).acquisition),
  row("an acquisition whose hashes agree with each other alone", {
    acquisition_admission_witness_reconstruction: "provider_result_mismatch",
  }, (parts) => {
    const result = acquired(parts).acquisition.provider_result;
    result.evidence_hash.value = result.value.content_hash.value = digestOf("f");
  }),
  row("an acquisition that said something else", {
    acquisition_admission_witness_reconstruction: "provider_result_mismatch",
  }, (parts) => acquired(parts).acquisition.provider_result.value.value_identity = digestOf("6")),
  row("an acquisition at a time of nobody's", {
    acquisition_admission_witness_reconstruction: "trigger_time_mismatch",
  }, (parts) => acquired(parts).acquisition.trigger_time = { kind: "logical", value: 3 }),
  row("an operator profile that is not there", {
    attribution_authorization_availability: "profile_missing",
  }, (parts) => {
    for (const record of parts.records) record.operator_profile = record.admission.profile_id = digestOf("7");
  }),
  row("somebody else who asked", {
    attribution_authorization_availability: "provenance_mismatch",
    ...DECISION,
  }, (parts) => parts.records[AT.submit].attribution.principal = "mallory"),
  row("another way of admission", {
    attribution_authorization_availability: "auth_method_mismatch",
    ...RESULT,
  }, (parts) => parts.records[AT.submit].admission.kind = "mtls"),
  row("an acceptance of another time", {
    acceptance_time_witness_structure: "acceptance_time_mismatch",
    ...DECISION,
    ...RESULT,
  }, (parts) => parts.records[AT.submitStage].acceptance_time.accepted_audit_instant += 1),
  row("a reading of another clock", {
    acceptance_time_witness_structure: "time_source_mismatch",
    ...DECISION,
  }, (parts) => bodyOf(parts, AT.submit).time_source.reading_unix_millis -= 1),
];
