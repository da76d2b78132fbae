/**
 * Texts that are not JSON as gate reads it, and records that do not have the form of one. A reader with another scanner
 * may accept some of the former; a verifier must not.
 *
 * @module
 */

import type { Editable } from "../kernel/law_specs.ts";
import { forge, type Parts } from "../forged_packs/forge.ts";
import { AT } from "../forged_packs/forgeries.ts";
import type { MemoryPack } from "../runpack/memory.ts";
import { PACK_DEPTH } from "../../../src/runpack/format/types.ts";
import { objectAt, withList, withManifest, withRawLines } from "./reshape.ts";
import type { Base, Made } from "./rows.ts";

/** A pack with a text that is refused. */
export interface TextRow {
  readonly name: string;
  /** `scanner`: the text is not JSON that a reader takes. `form`: it is, and is not what has to stand there. */
  readonly refused_by: "scanner" | "form";
  readonly violates: Readonly<Record<string, string>>;
  readonly make: (base: Base) => Made;
}

const HISTORY = "accepted_history_continuity";

/** Puts something in the place of the whole note that the submission of revision 6 has as its content type. */
function withRecordText(pack: MemoryPack, change: (line: string) => string | Uint8Array): MemoryPack {
  return withRawLines(pack, "records", (bytes) => {
    const lines = new TextDecoder().decode(bytes).split("\n");
    const changed = change(lines[AT.submit] ?? "");
    const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
    const before = encode(lines.slice(0, AT.submit).map((line) => `${line}\n`).join(""));
    const after = encode(`\n${lines.slice(AT.submit + 1).join("\n")}`);
    return new Uint8Array([...before, ...typeof changed === "string" ? encode(changed) : changed, ...after]);
  });
}

const inRecord = (name: string, change: (line: string) => string | Uint8Array): TextRow => ({
  name: `a record with ${name}`,
  refused_by: "scanner",
  violates: { [HISTORY]: `record_invalid: revision ${AT.submit + 1}` },
  make: ({ pack }) => ({ pack: withRecordText(pack, change) }),
});

const REVISION = `"revision":${AT.submit + 1}`;
const TYPE = '"content_type":"application/json"';

/** Texts in the place of a record. */
const SCANNER_ROWS: readonly TextRow[] = [
  inRecord("a member twice", (line) => line.replace(REVISION, `${REVISION},${REVISION}`)),
  inRecord("a member twice, once with an escape", (line) => line.replace(REVISION, `${REVISION},"revisio\\u006e":6`)),
  inRecord("an integer beyond 2^53", (line) => line.replace(REVISION, '"revision":9007199254740993')),
  inRecord("a number beyond all doubles", (line) => line.replace(REVISION, '"revision":1e400')),
  inRecord("a number with a leading zero", (line) => line.replace(REVISION, '"revision":06')),
  inRecord("a number with a plus", (line) => line.replace(REVISION, '"revision":+6')),
  inRecord("NaN", (line) => line.replace(REVISION, '"revision":NaN')),
  inRecord("half a surrogate pair", (line) => line.replace(TYPE, '"content_type":"\\ud83d"')),
  inRecord("a control character in a string", (line) => line.replace(TYPE, '"content_type":"a\u0001"')),
  inRecord("a byte order mark", (line) => `\ufeff${line}`),
  inRecord("a comma behind the last member", (line) => line.replace(/\}$/, ",}")),
  inRecord("a comment", (line) => line.replace(REVISION, `/**/${REVISION}`)),
  inRecord("something behind it", (line) => `${line}{}`),
  inRecord("a carriage return behind it", (line) => `${line}\r`),
  {
    ...inRecord("bytes that are not UTF-8", (line) => {
      const bytes = new TextEncoder().encode(line);
      return bytes.with(bytes.indexOf(0x73), 0xff);
    }),
    violates: { [HISTORY]: "record_invalid: segments/0/records" },
  },
  inRecord(
    `containers ${PACK_DEPTH + 1} deep`,
    (line) => line.replace(REVISION, `"revision":${"[".repeat(PACK_DEPTH)}${"]".repeat(PACK_DEPTH)}`),
  ),
  inRecord("no text at all", () => ""),
  {
    name: "a manifest with a member twice",
    refused_by: "scanner",
    violates: { structural_format_validity: "manifest_not_canonical" },
    make: ({ pack }) => {
      const text = new TextDecoder().decode(pack.manifest).replace("{", '{"artifacts":null,');
      return { pack: { ...pack, manifest: new TextEncoder().encode(text) } };
    },
  },
  {
    name: "a law with a member twice",
    refused_by: "scanner",
    violates: { scenario_law_construction: "law_invalid" },
    make: ({ pack }) => ({
      pack: withLaw(pack, (text) => text.replace("{", '{"spec_version":"dag-v3",')),
    }),
  },
  {
    name: "a receipt with a member twice",
    refused_by: "scanner",
    violates: { operation_receipt_consistency: "receipt_invalid: revision 2" },
    make: ({ run }) => ({
      pack: forge(run, (parts) => {
        parts.receiptLines = (lines) => lines.map((line, at) => at === 1 ? line.replace("{", '{"result":null,') : line);
      }),
    }),
  },
  {
    name: "a value with a member twice",
    refused_by: "scanner",
    violates: {
      submission_consistency: "payload_missing: revision 1",
      evidence_retention_reconstruction: "value_invalid: segments/0",
      pure_semantic_replay: "decision_mismatch: revision 1",
    },
    make: ({ run }) => ({
      pack: forge(run, (parts) => {
        parts.valueLines = (lines) => [...lines, (lines[0] ?? "").replace("{", '{"kind":"payload",')];
      }),
    }),
  },
];

/** Another text of the law; everything that names the law stays. */
function withLaw(pack: MemoryPack, change: (text: string) => string): MemoryPack {
  const before = objectAt(pack, "law");
  const text = change(new TextDecoder().decode(pack.objects.get(before)));
  let reference: Editable = null;
  const put = withList(pack, "artifacts", (_list, add) => reference = add(new TextEncoder().encode(text)));
  const objects = new Map(put.objects);
  objects.delete(before);
  return withManifest({ ...put, objects }, (manifest) => manifest.law = reference);
}

const ofForm = (name: string, at: number, change: (record: Editable, parts: Parts) => void): TextRow => ({
  name,
  refused_by: "form",
  violates: { [HISTORY]: `record_invalid: revision ${at + 1}` },
  make: ({ run }) => ({ pack: forge(run, (parts) => change(parts.records[at], parts)) }),
});

/** Records that hash and link, and are not of the form of one. */
const FORM_ROWS: readonly TextRow[] = [
  {
    ...inRecord("an unknown kind", (line) => line.replace('"artifact_submitted"', '"run_ended"')),
    refused_by: "form",
  },
  ofForm("a record without its revision", AT.submit, (record) => delete record.revision),
  ofForm("a record whose revision is a text", AT.submit, (record) => record.revision = "6"),
  ofForm("a record of another kind than its body", AT.submit, (record) => record.record_kind = "stage_opened"),
  ofForm("a run id of upper-case digits", AT.submit, (record) => record.run_key.run_id = "A".repeat(32)),
  ofForm("a namespace 0", AT.submit, (record) => record.run_key.namespace_id = 0),
  ofForm("an operation of an unknown family", AT.submit, (record) => record.operation.family = "resolve"),
  ofForm("an operation identity of 31 digits", AT.submit, (record) => record.operation.identity = "f".repeat(31)),
  ofForm("an acceptance time that is no integer", AT.submit, (record) => {
    record.acceptance_time.accepted_audit_instant = 0.5;
  }),
  ofForm("an unknown admission", AT.submit, (record) => record.admission.kind = "token"),
  ofForm("an attribution with a member more", AT.submit, (record) => record.attribution.note = ""),
  ofForm("tenants that are texts", AT.submit, (record) => record.attribution.tenants = ["1"]),
  ofForm("an unknown kind of genesis", AT.create, (record) => record.body.genesis = { kind: "unset" }),
  ofForm("an empty genesis with a payload", AT.create, (record) => record.body.genesis.kind = "empty"),
  ofForm("a correlation id with a space", AT.create, (record) => record.body.correlation.correlation_id = "a b"),
  ofForm("a contract binding with a member more", AT.create, (record) => record.body.contracts[0].note = ""),
  ofForm("an intent without a target", AT.openIntents, (record) => delete record.body.intents[0].target),
  ofForm("a disclosure that was denied", AT.openIntents, (record) => record.body.disclosures[0].verdict = "deny"),
  ofForm("a rule number below 0", AT.openIntents, (record) => record.body.disclosures[0].matched_rule = -1),
  ofForm("an attempt number 0", AT.attempt, (record) => record.body.attempt_number = 0),
  ofForm("an outcome that is a boolean", AT.attempt, (record) => record.body.outcome = true),
  ofForm("a trace with an unknown reason", AT.attempt, (record) => record.body.trace[0].reason = "late"),
  ofForm("an unknown run status", AT.attempt, (record) => record.body.run_status = "open"),
  ofForm("an item of an unknown channel", AT.attempt, (record) => record.body.evidence[0].channel = "mail"),
  ofForm("an item with an unknown reason", AT.attempt, (record) => record.body.evidence[0].reason = "late"),
  ofForm("an item of an unknown lane", AT.attempt, (record) => record.body.evidence[0].lane = "sealed"),
  ofForm("an item whose value type is unknown", AT.attempt, (record) => record.body.evidence[0].value_type = "Float"),
  ofForm("an item that says false of finding nothing", AT.attempt, (record) => {
    record.body.evidence[0].found_nothing = false;
  }),
  ofForm("an item that says true of a hash", AT.attempt, (record) => record.body.evidence[0].hash_recomputes = true),
  ofForm("a content hash of another algorithm", AT.attempt, (record) => {
    record.body.evidence[0].content_hash.algorithm = "sha512";
  }),
  ofForm("a signature of another scheme", AT.attempt, (record) => {
    record.body.evidence[0].signature = { scheme: "rsa", key_id: "ci-1", signature: "" };
  }),
  ofForm("a witness without a grant", AT.acquire, (record) => delete record.body.evidence[1].acquisition.grant),
  ofForm("a witness with a member more", AT.acquire, (record) => record.body.evidence[1].acquisition.note = ""),
  ofForm("a trigger time of another clock", AT.acquire, (record) => {
    record.body.evidence[1].acquisition.trigger_time.kind = "seconds";
  }),
  ofForm("a submission of an unknown scope", AT.submit, (record) => record.body.scope = { kind: "stage" }),
  ofForm("a submission to a stage without its opening", AT.submitStage, (record) => {
    delete record.body.scope.stage_open_record_id;
  }),
  ofForm("a time source with a member more", AT.submit, (record) => record.body.time_source.note = ""),
];

/** The rows. */
export const TEXT_ROWS: readonly TextRow[] = [...SCANNER_ROWS, ...FORM_ROWS];
