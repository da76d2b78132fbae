/**
 * What a forger does to the last submission of a run, which an evaluation follows: the record, its receipt and the item of the
 * evaluation are changed together, so that only the rule at stake is broken.
 *
 * @module
 */

import { canonicalize } from "../../../src/canonical/canonicalize.ts";
import type { CompiledLaw } from "../../../src/run/compile.ts";
import { hashValue } from "../../../src/run/evidence.ts";
import { commentHash } from "../../../src/run/submitted_statement.ts";
import { NOW, SHA256, type TestKey } from "../kernel/fixture.ts";
import type { Editable } from "../kernel/law_specs.ts";
import { type Parts, rekey } from "../forged_packs/forge.ts";
import type { PlayedRun } from "../runpack/run.ts";
import { signedPayload, type StatementChanges } from "../waiting_fixture.ts";

/** The run of the edits. */
export interface EditedRun {
  readonly law: CompiledLaw;
  readonly run: PlayedRun;
  /** The revision of the last submission; its item is the last one of the next record. */
  readonly last: number;
  /** The key of the last submission. */
  readonly key: TestKey;
  /** What the last submission states. */
  readonly statement: StatementChanges;
}

/** A change of the parts of a run. */
export type Edit = (parts: Parts) => void;

/** The edits of a run. */
export interface Edits {
  /** The evidence of the last evaluation. */
  readonly items: (parts: Parts) => Editable[];
  /** Another statement in the place of the last one, which a key signs. */
  readonly signed: (changes: StatementChanges, key?: TestKey) => Edit;
  /** A change of the last payload that its signature does not cover. */
  readonly unsigned: (change: (payload: Editable) => void) => Edit;
  /** A change of the record of the last submission alone. */
  readonly recorded: (change: (evidence: Editable) => void) => Edit;
  /** An item as if the submission of a revision counted. */
  readonly itemOf: (parts: Parts, revision: number) => Editable;
}

/** Gives every receipt what its record has. */
export function repeatInReceipts({ records, receipts }: Parts): void {
  for (const [index, { record_kind, body }] of records.entries()) {
    const { result } = receipts[index];
    if (record_kind === "artifact_submitted") {
      const { time_source: _time, ...submission } = body;
      result.submission = { record_id: result.submission.record_id, ...submission };
    }
    if (record_kind === "stage_evaluated") {
      result.attempt.evidence = body.evidence.map(({ item_id, condition_id, channel, ...item }: Editable) => {
        const { value_identity, qualified, reason } = item;
        return {
          item_id,
          condition_id,
          channel,
          ...value_identity === undefined ? {} : { value_identity },
          qualified,
          ...reason === undefined ? {} : { reason },
        };
      });
    }
  }
}

/** The member `evidence` that follows from a payload. */
function evidenceOf(parts: Parts, value: Editable, public_key: string): Editable {
  const { condition_id, observed_at, seen_head, valid_until, comment, signature } = value;
  const hashed = value.value === null ? null : hashValue(SHA256, value.value);
  if (value.value !== null) rekey(parts, "evidence-value", value.value);
  return {
    condition_id,
    value_identity: hashed?.identity ?? null,
    ...hashed === null ? {} : { value_type: value.value.value_type, content_hash: hashed.content_hash },
    observed_at,
    seen_head,
    ...valid_until === undefined ? {} : { valid_until },
    ...comment === undefined ? {} : { comment_hash: commentHash(SHA256, comment) },
    public_key,
    signature,
  };
}

/** Makes the edits of a run. */
export function editsOf({ law, run, last, key, statement }: EditedRun): Edits {
  const items: Edits["items"] = ({ records }) => records[last].body.evidence;
  const evidence = ({ records }: Parts): Editable => records[last - 1].body.evidence;

  /** Gives the item of the last submission what its record has. */
  const repeatInItem: Edit = (parts) => {
    const { condition_id, value_identity, value_type, content_hash, schema_verdict, observed_at, signature } = evidence(
      parts,
    );
    if (value_identity === null) {
      items(parts).pop();
      return;
    }
    const item = items(parts).at(-1);
    Object.assign(item, { condition_id, value_identity, value_type, content_hash, observed_at, signature });
    if (schema_verdict !== undefined) item.schema_verdict = schema_verdict;
  };

  /** Gives the last submission another payload, and the record what follows from it. */
  const pay = (parts: Parts, value: Editable, public_key: string): void => {
    const { body } = parts.records[last - 1];
    body.payload_identity = rekey(parts, "payload", { kind: "json", value });
    body.content_hash.value = SHA256(canonicalize(value));
    body.evidence = evidenceOf(parts, value, public_key);
    repeatInItem(parts);
  };

  return {
    items,
    signed: (changes, signer = key) => (parts) => {
      const { seen_head } = evidence(parts);
      const observed_at = NOW + last;
      const stated = { seen_head, observed_at, ...statement, ...changes };
      pay(parts, signedPayload(law, run.state, signer, stated), signer.public_key);
    },
    unsigned: (change) => (parts) => {
      const payload = structuredClone(
        parts.bodies.get(`payload ${parts.records[last - 1].body.payload_identity}`).value,
      );
      change(payload);
      pay(parts, payload, key.public_key);
    },
    recorded: (change) => (parts) => {
      change(evidence(parts));
      repeatInItem(parts);
    },
    itemOf: (parts, revision) => {
      const { condition_id, value_identity, value_type, content_hash, observed_at, signature } =
        parts.records[revision - 1].body.evidence;
      const name = run.records[revision - 1]?.record_id ?? "";
      return {
        ...items(parts)[0],
        item_id: `submission:${name}`,
        submission_record_id: name,
        condition_id,
        ...value_identity === null ? {} : { value_identity, value_type, content_hash },
        observed_at,
        signature,
      };
    },
  };
}
