import assert from "node:assert/strict";
import { readJson } from "../../src/canonical/scan.ts";
import { KEY_1, KEY_2, NOW, SHA256 } from "./kernel_fixture.ts";
import type { Editable } from "./law_specs.ts";
import { forge, type Parts } from "./runpack_forge.ts";
import { packOf, statusesOf, verifyWhole } from "./runpack_memory.ts";
import { LAST_SUBMISSION, playWaiting, resubmit } from "./runpack_waiting.ts";

const RUN = playWaiting();

/** The evidence of the last evaluation. */
function items(parts: Parts): Editable[] {
  return parts.records.at(-1).body.evidence;
}

/** The evidence of the last submission. */
function submission({ records }: Parts): Editable {
  return records[LAST_SUBMISSION - 1].body.evidence;
}

/** The violated claims, each with its reason. */
async function violationsOf(edit: (parts: Parts) => void): Promise<readonly string[]> {
  const statuses = statusesOf(await verifyWhole(forge(RUN, edit)));
  return Object.entries(statuses).filter(([, status]) => status.startsWith("violated "))
    .map(([claim, status]) => `${claim} ${status.replace("violated ", "")}`);
}

Deno.test("a run whose people approve, refuse and withdraw verifies, and shows each step", async () => {
  const outcomes = RUN.records.flatMap(({ record }) => {
    const { record_kind, body } = readJson(record) as Editable;
    return record_kind === "stage_evaluated" ? [`${body.outcome} of ${body.evidence.length}`] : [];
  });
  assert.deepEqual(outcomes, ["unknown of 0", "unknown of 2", "true of 2"]);
  for (const pack of [await packOf(RUN), forge(RUN)]) {
    const statuses = statusesOf(await verifyWhole(pack));
    assert.equal(statuses["pure_semantic_replay"], "satisfied");
    assert.deepEqual(Object.entries(statuses).filter(([, status]) => status.startsWith("violated")), []);
  }
});

Deno.test("an evaluation of a pack has exactly the evidence that waited", async () => {
  const admission = "evidence_structural_admission";
  const rows: readonly (readonly [string, (parts: Parts) => void, string])[] = [
    ["one too few", (parts) => items(parts).shift(), "submission_missing: revision 10"],
    [
      "one too many: a statement that another replaced",
      (parts) => items(parts).push({ ...parts.records[7].body.evidence[1] }),
      "submission_unexpected: revision 10",
    ],
    ["the same twice", (parts) => items(parts).push({ ...items(parts)[1] }), "submission_unexpected: revision 10"],
    ["another order", (parts) => items(parts).reverse(), "submission_mismatch: revision 10"],
    ["another time", (parts) => items(parts)[0].observed_at--, "submission_mismatch: revision 10"],
    ["another signer", (parts) => items(parts)[0].signature.key_id = "ci-2", "submission_mismatch: revision 10"],
    ["no record", (parts) => delete items(parts)[0].submission_record_id, "item_invalid: revision 10"],
    [
      "an item of the call in its place",
      (parts) => {
        const { submission_record_id: _record, ...item } = items(parts)[0];
        items(parts)[0] = { ...item, channel: "caller_submission", item_id: "caller:0" };
      },
      "submission_missing: revision 10",
    ],
  ];
  for (const [name, edit, reason] of rows) {
    assert.ok((await violationsOf(edit)).includes(`${admission} ${reason}`), name);
  }
});

Deno.test("a submission of a pack is what its key signed of what it saw", async () => {
  const head = { record_id: RUN.records[0]?.record_id ?? "", revision: 1 };
  const foreign = { record_id: SHA256("another run"), revision: 8 };
  const again = (parts: Parts, ...[changes]: [Parameters<typeof resubmit>[3]]): void =>
    resubmit(parts, RUN.state, KEY_2, changes);
  const rows: readonly (readonly [string, (parts: Parts) => void, string])[] = [
    ["nothing else", (parts) => again(parts, { valid_until: NOW + 60_000 }), ""],
    ["another key in the record", (parts) => submission(parts).public_key = KEY_1.public_key, "evidence_mismatch"],
    ["another value in the record", (parts) => submission(parts).value_identity = null, "evidence_mismatch"],
    [
      "no evidence in the record",
      (parts) => {
        delete parts.records[LAST_SUBMISSION - 1].body.evidence;
      },
      "evidence_mismatch",
    ],
    [
      "a signature of another key",
      (parts) => resubmit(parts, RUN.state, { ...KEY_1, key_id: KEY_2.key_id, public_key: KEY_2.public_key }, {}),
      "signature_invalid",
    ],
    [
      "a key that is not trusted",
      (parts) => resubmit(parts, RUN.state, { ...KEY_1, key_id: "x" }, {}),
      "payload_invalid",
    ],
    ["a head before the opening", (parts) => again(parts, { seen_head: head }), "seen_head_mismatch"],
    ["a head of another run", (parts) => again(parts, { seen_head: foreign }), "seen_head_mismatch"],
    ["a replayed statement", (parts) => again(parts, { observed_at: NOW + 7 }), "statement_time_invalid"],
    ["a statement of the future", (parts) => again(parts, { observed_at: NOW + 90_000 }), "statement_time_invalid"],
  ];
  for (const [name, edit, code] of rows) {
    const found = (await violationsOf(edit)).filter((line) => line.startsWith("submission_consistency "));
    const expected = code === "" ? [] : [`submission_consistency ${code}: revision ${LAST_SUBMISSION}`];
    assert.deepEqual(found, expected, name);
  }
});

Deno.test("a withheld condition hides the payloads of its statements, and their signatures still verify", async () => {
  const withhold = (parts: Parts): void => {
    parts.withheld.push("c");
    for (const key of [...parts.bodies.keys()]) parts.bodies.delete(key);
  };
  const statuses = statusesOf(await verifyWhole(forge(RUN, withhold)));
  assert.deepEqual(Object.entries(statuses).filter(([, status]) => status.startsWith("violated")), []);
  assert.equal(statuses["submission_consistency"], "unavailable value_withheld");
  assert.equal(statuses["stage_open_consistency"], "satisfied");
  const forged = await violationsOf((parts) => {
    withhold(parts);
    submission(parts).observed_at++;
  });
  assert.ok(forged.includes(`submission_consistency signature_invalid: revision ${LAST_SUBMISSION}`), forged.join());
  const exported = statusesOf(await verifyWhole(await packOf(RUN, RUN.records.length, { withheld_conditions: ["c"] })));
  assert.deepEqual(exported, statuses);
});
