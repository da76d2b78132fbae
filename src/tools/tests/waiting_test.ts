import assert from "node:assert/strict";
import { KEY_1, KEY_2, type TestKey } from "../../../tests/simulation/kernel/fixture.ts";
import type { JsonObject, JsonValue } from "../../canonical/json.ts";
import type { Principal } from "../../access/types.ts";
import { AUTH_DEFAULTS, DEFAULT_SETTINGS } from "../../config/defaults.ts";
import { HOST_PRIMITIVES } from "../../evidence/host_primitives.ts";
import { hashValue } from "../../run/evidence.ts";
import { EVIDENCE_CONTENT_TYPE, submittedStatementText } from "../../run/submitted_statement.ts";
import type { Head } from "../../run/types.ts";
import { StoreError, type StoreErrorCode } from "../../store/types.ts";
import {
  type Bench,
  type BenchOptions,
  booleanCondition,
  envelope,
  id,
  REMOTE,
  startRun,
  STORES,
  withTools,
} from "./tools_fixture.ts";

/** A condition for which `minimum` people have to sign. */
function waiting(condition_id: string, minimum: number): JsonObject {
  const plain = booleanCondition(condition_id);
  const policy = plain["evidence_use_policy"] as JsonObject;
  const own = { allowed_channels: ["accepted_submission"], authorization: "signature" };
  return {
    ...plain,
    evidence_use_policy: { ...policy, ...own, combination: { combination: "Quorum", minimum } },
  };
}

const PEOPLE: BenchOptions = {
  evidenceKeys: [KEY_1, KEY_2].map(({ key_id, public_key }) => ({ key_id, public_key })),
};

/** A run whose stage `build` is open and waits for two people. */
interface Open {
  readonly bench: Bench;
  readonly law: string;
  readonly run: { readonly namespace_id: number; readonly scenario_id: string; readonly run_id: string };
  readonly opening: string;
  /** Unix milliseconds. */
  readonly began: number;
  head: Head;
  operations: number;
}

async function openRun(bench: Bench): Promise<Open> {
  const conditions = [waiting("built", 2), booleanCondition("deployed")];
  const { law, run, head } = await startRun(bench, { conditions });
  const open: Open = { bench, law, run, opening: "", began: Date.now(), head: head as unknown as Head, operations: 1 };
  const { result } = await mutate(open, "scenario_open_stage", { stage_id: "build" });
  return { ...open, opening: result["stage_open_record_id"] as string };
}

async function mutate(open: Open, tool: string, own: JsonObject): Promise<ReturnType<typeof envelope>> {
  const operation_id = id(++open.operations);
  const expected_head = open.head as unknown as JsonValue;
  const answer = envelope(await open.bench.call(tool, { ...open.run, operation_id, expected_head, ...own }));
  if (answer.outcome === "accepted") open.head = answer.result["accepted_head"] as unknown as Head;
  return answer;
}

/** Submits the statement of a key; null withdraws. */
async function submit(
  open: Open,
  key: TestKey,
  value: boolean | null,
  changes: { readonly seen?: Head; readonly observed_at?: number } = {},
): Promise<ReturnType<typeof envelope>> {
  const typed = value === null ? null : { value, value_type: "Boolean" } as const;
  // Each statement is newer than the one before, however fast the test is.
  const { seen = open.head, observed_at = open.began + open.operations } = changes;
  const text = submittedStatementText({
    namespace_id: 2,
    scenario_law_identity: open.law,
    run_id: open.run.run_id,
    stage_id: "build",
    stage_open_record_id: open.opening,
    condition_id: "built",
    observed_at,
    value_identity: typed === null ? null : hashValue(HOST_PRIMITIVES.sha256, typed).identity,
    seen_head: seen,
  });
  return await mutate(open, "scenario_submit", {
    content_type: EVIDENCE_CONTENT_TYPE,
    scope: { kind: "stage_open", stage_id: "build", stage_open_record_id: open.opening },
    payload: {
      kind: "json",
      value: {
        condition_id: "built",
        value: typed,
        observed_at,
        seen_head: { record_id: seen.record_id, revision: seen.revision },
        signature: { scheme: "ed25519", key_id: key.key_id, signature: key.sign(text) },
      },
    },
  });
}

async function evaluate(open: Open): Promise<string> {
  const { result } = await mutate(open, "scenario_evaluate_stage", { stage_id: "build" });
  const { outcome, evidence, causes = [] } = result["attempt"] as JsonObject & {
    readonly evidence: readonly JsonObject[];
    readonly causes?: readonly JsonObject[];
  };
  return `${outcome} of ${evidence.length}${causes.map(({ counts }) => ` ${JSON.stringify(counts ?? null)}`).join("")}`;
}

for (const store of STORES) {
  Deno.test(`evidence that waits is counted by every evaluation until the stage is complete (${store})`, () =>
    withTools(async (bench) => {
      const open = await openRun(bench);
      const seen = open.head;
      assert.equal(await evaluate(open), 'unknown of 0 {"holds":0,"fails":0,"needed":2}');
      assert.equal((await submit(open, KEY_1, true)).outcome, "accepted");
      assert.equal(await evaluate(open), 'unknown of 1 {"holds":1,"fails":0,"needed":2}');
      assert.equal((await submit(open, KEY_2, false, { seen })).outcome, "accepted");
      assert.equal(await evaluate(open), 'unknown of 2 {"holds":1,"fails":1,"needed":2}');
      assert.equal((await submit(open, KEY_1, null, { seen })).outcome, "accepted");
      assert.equal(await evaluate(open), 'unknown of 1 {"holds":0,"fails":1,"needed":2}');
      assert.equal((await submit(open, KEY_1, true)).outcome, "accepted");
      assert.equal((await submit(open, KEY_2, true)).outcome, "accepted");
      assert.equal(await evaluate(open), "true of 2");
      const late = await submit(open, KEY_1, true);
      assert.deepEqual([late.outcome, late.result["classification"]], ["stage_not_open", "complete"]);
    }, { ...PEOPLE, store }));
}

Deno.test("scenario_submit rejects evidence with a code, a path and a next step", () =>
  withTools(async (bench) => {
    const open = await openRun(bench);
    const at = Date.now();
    assert.equal((await submit(open, KEY_1, true, { observed_at: at })).outcome, "accepted");
    const { outcome, result } = await submit(open, KEY_1, true, { observed_at: at });
    assert.deepEqual([outcome, result["reason"], result["code"], result["path"]], [
      "payload_rejected",
      "evidence_invalid",
      "statement_not_newer",
      "$.payload.value.observed_at",
    ]);
    const foreign = await submit(open, KEY_2, true, { seen: { record_id: open.law, revision: 2 } });
    assert.equal(foreign.result["code"], "seen_head_unknown");
  }, PEOPLE));

Deno.test("scenario_trigger evaluates a stage that evidence waits for, though it has no binding", () =>
  withTools(async (bench) => {
    const open = await openRun(bench);
    for (const key of [KEY_1, KEY_2]) assert.equal((await submit(open, key, true)).outcome, "accepted");
    const trigger = { trigger_id: id(90), kind: "tick", source_id: "scheduler" };
    const expected_head = open.head as unknown as JsonValue;
    const answer = envelope(await bench.call("scenario_trigger", { ...open.run, expected_head, trigger }));
    const [decision] = answer.result["decisions"] as readonly JsonObject[];
    assert.deepEqual([answer.outcome, decision?.["kind"]], ["accepted", "advance"]);
  }, PEOPLE));

Deno.test("createServices() refuses a key of a person that has another id, or an id of another key", async () => {
  const { key_id, public_key } = KEY_1;
  const rows: readonly (readonly [BenchOptions["evidenceKeys"], RegExp | null])[] = [
    [[{ key_id, public_key }], null],
    [[{ key_id, public_key }, { key_id: "bob", public_key }], /"bob" and "ci-1" are the same public key/],
  ];
  for (const [evidenceKeys, message] of rows) {
    const opening = withTools(() => Promise.resolve(), { evidenceKeys: evidenceKeys ?? [] });
    if (message === null) await opening;
    else await assert.rejects(opening, message);
  }
});

Deno.test("scenario_status include [waiting] shows the signatures that open stages wait for", () =>
  withTools(async (bench) => {
    const open = await openRun(bench);
    const waiting = async (): Promise<JsonValue> =>
      (await bench.call("scenario_status", { ...open.run, include: ["waiting"] }))["waiting"] ?? null;
    const [one, two] = [KEY_1, KEY_2].map(({ key_id, public_key }) => ({ key_id, public_key }));
    const built = { stage_id: "build", condition_id: "built", sentence: "built", needed: 2 };
    assert.deepEqual(await waiting(), [{ ...built, have: 0, keys: [one, two] }]);
    await submit(open, KEY_1, true);
    const signed = [KEY_1.key_id];
    assert.deepEqual(await waiting(), [{ ...built, have: 1, signed, keys: [two] }]);
    const refused = { key_id: KEY_2.key_id, observed_at: open.began + open.operations };
    await submit(open, KEY_2, false);
    assert.deepEqual(
      await waiting(),
      [{ ...built, have: 1, signed, keys: [], refused: [refused] }],
      "a refusal is an answer",
    );
    const withdrawn = { key_id: KEY_1.key_id, observed_at: open.began + open.operations, withdrawn: true };
    await submit(open, KEY_1, null);
    assert.deepEqual(
      await waiting(),
      [{ ...built, have: 0, keys: [one], refused: [refused, withdrawn] }],
      "the withdrawn key is waited for again",
    );
    for (const key of [KEY_1, KEY_2]) await submit(open, key, true);
    assert.deepEqual(await waiting(), []);
  }, PEOPLE));

for (const store of STORES) {
  Deno.test(`runs_list include [waiting] shows in each run what scenario_status shows, 100 runs a page (${store})`, () =>
    withTools(async (bench) => {
      const open = await openRun(bench);
      await submit(open, KEY_1, true);
      const { items: [own] } = await bench.call("runs_list", { namespace_id: 2, include: ["waiting"] }) as Listing;
      const { waiting } = await bench.call("scenario_status", { ...open.run, include: ["waiting"] });
      assert.deepEqual([own?.["waiting"], (waiting as JsonValue[]).length], [waiting, 1]);
      const { items: [plain] } = await bench.call("runs_list", { namespace_id: 2 }) as Listing;
      assert.equal(plain?.["waiting"], undefined);
      for (let request = 2; request <= 101; request++) {
        await bench.call("scenario_start", {
          ...{ namespace_id: 2, scenario_id: "release", scenario_law_identity: open.law },
          ...{ creation_request_id: id(request), correlation: { kind: "unset" }, genesis: { kind: "empty" } },
        });
      }
      const counts: number[] = [];
      for (const [include, limit] of [[["waiting"], 99], [["waiting"], 100], [["waiting"], 101], [[], 101]] as const) {
        const page = await bench.call("runs_list", { namespace_id: 2, include: [...include], limit }) as Listing;
        counts.push(page.items.length);
        const waits = page.items.map((item) => item["waiting"] as readonly JsonValue[] | undefined);
        // Stages of the other runs are not open.
        assert.ok(waits.slice(0, 99).every((one) => include.length === 0 ? one === undefined : one?.length === 0));
      }
      assert.deepEqual(counts, [99, 100, 100, 101]);
    }, { ...PEOPLE, store }));
}

/** Failures of the store in one run, and what a list with what waits answers: the item of that run, or an error of the call. */
const FAILURES: readonly (readonly [code: StoreErrorCode, answer: string])[] = [
  ["corrupt", 'unreadable: Cannot answer: the store differs from what was written, run "gate store check"'],
  ["busy", "error: store_busy"],
];

for (const [code, expected] of FAILURES) {
  Deno.test(`runs_list include [waiting], one run ${code}: ${expected}`, () => {
    let broken = "";
    const change: BenchOptions["change"] = (services) => {
      const read: typeof services.projections.read = async (runKey) => {
        if (runKey.run_id === broken) throw new StoreError(code, "as the test has it");
        return await services.projections.read(runKey);
      };
      const { load, advance, law } = services.projections;
      const { projections } = services;
      const own = {
        load: load.bind(projections),
        advance: advance.bind(projections),
        law: law.bind(projections),
        read,
      };
      return { ...services, projections: own };
    };
    return withTools(async (bench) => {
      const first = await openRun(bench);
      const second = await bench.call("scenario_start", {
        ...{ namespace_id: 2, scenario_id: "release", scenario_law_identity: first.law },
        ...{ creation_request_id: id(99), correlation: { kind: "unset" }, genesis: { kind: "empty" } },
      });
      broken = (envelope(second).result["run_key"] as { run_id: string }).run_id;
      const asked = { namespace_id: 2, include: ["waiting"] };
      if (code !== "corrupt") {
        assert.equal(`error: ${(await bench.fail("runs_list", asked)).code}`, expected);
        return;
      }
      const { items } = await bench.call("runs_list", asked) as Listing;
      const texts = items.map(({ run_key, waiting, unreadable }) =>
        (run_key as { run_id: string }).run_id === broken
          ? `unreadable: ${unreadable}`
          : (waiting as readonly JsonValue[]).length
      );
      assert.deepEqual(texts.toSorted(), [1, expected]);
    }, { ...PEOPLE, change });
  });
}

interface Listing extends JsonObject {
  readonly items: readonly JsonObject[];
}

/** Roles are in force as soon as any principal has an entry. */
const OTHERS = [{ subject: "unused", policy_class: null, roles: [] }];

/** A caller with one role in the namespace of the run. */
function caller(name: string): Principal {
  return { ...REMOTE, tenants: null, roles: [{ name, tenant_id: null, namespace_id: 2 }] };
}

Deno.test("role Approver submits evidence that waits, and no other artifact", () =>
  withTools(async (bench) => {
    const as = (name: string): Bench => ({
      ...bench,
      call: (tool, input) => bench.call(tool, input, caller(name)),
      fail: (tool, input) => bench.fail(tool, input, caller(name)),
    });
    const open = await openRun(as("NamespaceOwner"));
    const approver: Open = { ...open, bench: as("Approver") };
    const { outcome } = await submit(approver, KEY_1, true);
    assert.equal(outcome, "accepted");
    const { records } = await approver.bench.call("scenario_history", open.run) as {
      readonly records: readonly { readonly record: JsonObject }[];
    };
    const { attribution } = records.at(-1)?.record as { readonly attribution: JsonObject };
    assert.deepEqual(attribution["roles_matched"], ["Approver"]);
    const members = { ...open.run, operation_id: id(77), expected_head: approver.head as unknown as JsonValue };
    const artifact = {
      content_type: "application/json",
      payload: { kind: "json", value: 1 },
      scope: { kind: "run_wide" },
    };
    for (
      const [tool, own] of [["scenario_submit", artifact], ["scenario_open_stage", { stage_id: "deploy" }]] as const
    ) {
      assert.equal((await approver.bench.fail(tool, { ...members, ...own })).code, "role_refused", tool);
    }
  }, {
    ...PEOPLE,
    config: { server: { ...DEFAULT_SETTINGS.server, auth: { ...AUTH_DEFAULTS, principals: OTHERS } } },
  }));
