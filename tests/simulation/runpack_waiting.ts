/**
 * A run in which two people approve, refuse, withdraw and change their mind, and forgeries of it.
 *
 * @module
 */

import { canonicalize } from "../../src/canonical/canonicalize.ts";
import { identify } from "../../src/canonical/identity.ts";
import type { TypedValue } from "../../src/law/value/types.ts";
import { hashValue } from "../../src/run/evidence.ts";
import type { RunState } from "../../src/run/types.ts";
import {
  createCommand,
  evaluateCommand,
  int,
  KEY_1,
  KEY_2,
  NOW,
  openCommand,
  SHA256,
  type TestKey,
} from "./kernel_fixture.ts";
import type { Editable } from "./law_specs.ts";
import { type Parts, rekey } from "./runpack_forge.ts";
import { type PlayedRun, playRun, type RunMove } from "./runpack_run.ts";
import { evidenceCommand, PEOPLE, signedPayload, type StatementChanges, waitingLaw } from "./waiting_fixture.ts";

const LAW = waitingLaw({ combination: { combination: "Quorum", minimum: 2 } });
const [HOLDS, FAILS] = [int(1), int(9)];
const VALUES: ReadonlyMap<string, TypedValue> = new Map(
  [HOLDS, FAILS].map((value) => [hashValue(SHA256, value).identity, value]),
);

const says = (key: TestKey, changes: StatementChanges): RunMove => (law, state, operation) =>
  evidenceCommand(operation, state, signedPayload(law, state, key, { observed_at: NOW + operation, ...changes }));

const evaluate: RunMove = (_law, state, operation) =>
  evaluateCommand(operation, state.head, "s", { submitted_values: VALUES });

/** Plays the run: its revisions are the creation, the opening, and one for each move after them. */
export function playWaiting(): PlayedRun {
  const schema_identity = identify(SHA256, "schema", {});
  return playRun({
    law: LAW,
    environment: PEOPLE,
    start: createCommand({ schemas: [{ schema_id: "release", version: "1", schema_identity }] }),
    moves: [
      (_law, state, operation) => openCommand(operation, state.head, "s"),
      says(KEY_1, { value: HOLDS }),
      says(KEY_1, { value: null, comment: "Too early" }),
      evaluate,
      says(KEY_1, { value: HOLDS, comment: "Now it is fine" }),
      says(KEY_2, { value: FAILS }),
      evaluate,
      says(KEY_2, { value: HOLDS, valid_until: NOW + 60_000 }),
      evaluate,
    ],
    clock: (move) => 10 * (move + 1),
    artifacts: [{ kind: "schema", identity: schema_identity, body: "{}" }],
  });
}

/** The revision of the last submission; the last evaluation follows it. */
export const LAST_SUBMISSION = 9;

/** Replaces the last submission by another statement, which its key signs. */
export function resubmit(parts: Parts, state: RunState, key: TestKey, changes: StatementChanges): void {
  const record = parts.records[LAST_SUBMISSION - 1];
  const { seen_head } = record.body.evidence;
  const value = signedPayload(LAW, state, key, {
    seen_head,
    observed_at: NOW + LAST_SUBMISSION,
    ...changes,
  }) as Editable;
  record.body.payload_identity = rekey(parts, "payload", { kind: "json", value });
  record.body.content_hash.value = SHA256(canonicalize(value));
  const { valid_until: _until, ...evidence } = record.body.evidence;
  record.body.evidence = {
    ...evidence,
    observed_at: value.observed_at,
    seen_head: value.seen_head,
    ...value.valid_until === undefined ? {} : { valid_until: value.valid_until },
    public_key: key.public_key,
    signature: value.signature,
  };
}
