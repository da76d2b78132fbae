import assert from "node:assert/strict";
import { canonicalize } from "../../canonical/canonicalize.ts";
import { readJson } from "../../canonical/scan.ts";
import { utf8Length } from "../../canonical/utf8.ts";
import { lawOf } from "../../../tests/simulation/kernel/fixture.ts";
import type { Editable } from "../../../tests/simulation/kernel/law_specs.ts";
import { forge, rekey } from "../../../tests/simulation/forged_packs/forge.ts";
import { packOf, statusesOf, verifyWhole } from "../../../tests/simulation/runpack/memory.ts";
import { playGoldenRun } from "../../../tests/simulation/runpack/run.ts";
import { asJson } from "../../run/primitives.ts";
import type { RunRecord } from "../../run/types.ts";
import { type NamedSizes, replayWork } from "./work_meter.ts";
import { TEXT_BYTES } from "../format/types.ts";

const RUN = playGoldenRun();
const LAW = lawOf(readJson(RUN.law.law));
const work = replayWork(LAW);
const SIZES: NamedSizes = { profile: 1000, value: () => 10, schema: () => 7 };
const recordAt = (revision: number): Editable => readJson(RUN.records[revision - 1]?.record ?? "");
const workOf = (record: Editable, changes: Partial<NamedSizes> = {}): number =>
  work(record as unknown as RunRecord, { ...SIZES, ...changes });

/** A line of a trace. */
const line = (path: string, name: string): number => 64 + path.length + name.length;
const conditionSize = (id: string): number =>
  utf8Length(canonicalize(asJson(LAW.conditionIndex.get(id)?.condition ?? {})));

Deno.test("replayWork() counts the payload of a creation or submission", () => {
  assert.equal(workOf(recordAt(1)), 10);
  assert.equal(workOf(recordAt(6)), 10);
  assert.equal(workOf({ ...recordAt(1), body: { genesis: { kind: "empty" } } }), 0);
});

Deno.test("replayWork() counts of an opening its trace, its packets, and the policy for each label and tag", () => {
  const [packet] = LAW.stages[LAW.stageIndex.get("ship") ?? -1]?.stage.entry_packets ?? [];
  assert.ok(packet !== undefined);
  const { targets, visibility_labels, policy_tags, ...rest } = packet;
  const size = utf8Length(canonicalize(asJson({ ...rest, visibility_labels, policy_tags })));
  const intents = Math.max(1, targets.length);
  const looks = 1 + visibility_labels.length + policy_tags.length;
  const trace = line("$.And[0]", "build") + line("$.And[1]", "review");
  assert.equal(workOf(recordAt(9)), trace + intents * (size + 512 + looks * 1000));
  assert.equal(workOf(recordAt(2)), 0, "a root without packets");
});

Deno.test("replayWork() counts of an evaluation its traces and bindings, and each item with all that it names", () => {
  const record = recordAt(10);
  record.body.evidence = [];
  const whole = LAW.law.completion_requirement as Editable;
  const scenario = whole.Condition === undefined
    ? whole.And.map((leaf: Editable, index: number) => line(`$.And[${index}]`, leaf.Condition))
    : [line("$", whole.Condition)];
  const stage = line("$.And[0]", "region") + line("$.And[1]", "report") + 64 + "region-env".length;
  const fixed = scenario.reduce((sum: number, one: number) => sum + one, stage);
  assert.equal(workOf(record), fixed);
  const item = { condition_id: "region", retention: "RetainCanonicalValue" };
  const each = 1000 + conditionSize("region");
  const items: readonly [Editable, number][] = [
    [item, each],
    [{ ...item, condition_id: "none" }, 1000],
    [{ ...item, value_identity: "0".repeat(64) }, each + 10],
    [{ ...item, signature: {} }, each + 32_768],
    [{ ...item, schema_verdict: "valid" }, each + 7],
  ];
  for (const [one, more] of items) {
    record.body.evidence = [one, one];
    assert.equal(workOf(record), fixed + 2 * more, canonicalize(one));
  }
  record.body.stage_id = "none";
  assert.equal(workOf(record), 2 * (1000 + conditionSize("region") + 7));
});

Deno.test("replayWork() counts what completing a stage may open", () => {
  const build = recordAt(3);
  build.body.evidence = [];
  const review = { ...build, body: { ...build.body, stage_id: "review" } };
  const ship = line("$.And[0]", "build") + line("$.And[1]", "review");
  const own = (a: string, b: string): number => line("$.And[0]", a) + line("$.And[1]", b);
  const both = workOf(build) - own("built", "log") - ship - line("$", "build");
  assert.equal(workOf(review) - own("approved", "ticket") - ship, both);
});

Deno.test("verifyRunpack() a value that is named again and again is paid for each time, and held once", async () => {
  const pack = forge(RUN, (parts) => {
    const [item] = parts.records[4].body.evidence;
    const value_identity = rekey(parts, "evidence-value", {
      value: "x".repeat(TEXT_BYTES - 100),
      value_type: "String",
    });
    parts.records[4].body.evidence = Array.from({ length: 2000 }, (_, index) => ({
      ...item,
      item_id: `caller:${index}`,
      value_identity,
    }));
  });
  const { budget } = await verifyWhole(await packOf(RUN));
  const spent = await verifyWhole(pack, { budget: { canonical_work_bytes: 100 * TEXT_BYTES } });
  assert.equal(statusesOf(spent)["artifact_tree_integrity"], "satisfied");
  assert.equal(statusesOf(spent)["pure_semantic_replay"], "unavailable budget_exhausted");
  assert.equal(spent.budget.records, 5, "the record that is not decided was read");
  const whole = await verifyWhole(pack);
  assert.ok(whole.budget.canonical_work_bytes > 2000 * (TEXT_BYTES - 100));
  assert.equal(whole.budget.records, budget.records);
});
