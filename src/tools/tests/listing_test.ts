import assert from "node:assert/strict";
import { identifyCanonical } from "../../canonical/identity.ts";
import { canonicalize } from "../../canonical/canonicalize.ts";
import type { JsonObject, JsonValue } from "../../canonical/json.ts";
import { DEFAULT_SETTINGS } from "../../config/defaults.ts";
import type { GateConfig } from "../../config/types.ts";
import { HOST_PRIMITIVES } from "../../evidence/host_primitives.ts";
import { StoreError } from "../../store/types.ts";
import { PAGE_MAXIMUM } from "../framework/pagination.ts";
import type { TimeAuthority } from "../services/services.ts";
import { explainLaw } from "../law_words/explain_law.ts";
import { complete, ONE_STAGE, scene, UNKNOWN_ID } from "./outcome_case_fixture.ts";
import { type Bench, id, REMOTE, spec, STORES, withTools } from "./tools_fixture.ts";

/** Starts a run of a law of the scenario. */
async function start(
  bench: Bench,
  law: string,
  request: number,
  correlation: JsonObject = { kind: "unset" },
  genesis: JsonObject = { kind: "empty" },
): Promise<string> {
  const answer = await bench.call("scenario_start", {
    namespace_id: 2,
    scenario_id: "release",
    scenario_law_identity: law,
    creation_request_id: id(request),
    correlation,
    genesis,
  });
  const { result } = answer["outcome"] as { result: JsonObject };
  return (result["run_key"] as { run_id: string }).run_id;
}

/** A time authority whose clock the test sets. */
class Clock implements TimeAuthority {
  now = 1000;
  readonly read = () => ({ time_authority_id: "t", authority_revision: "1", reading_unix_millis: this.now });
}

/** A server whose roles are in force. */
const WITH_ROLES: Partial<GateConfig> = {
  server: {
    ...DEFAULT_SETTINGS.server,
    auth: {
      mode: "bearer_token",
      bearer_tokens: [],
      mtls_subjects: [],
      allowed_tools: [],
      principals: [{ subject: "someone", policy_class: null, roles: [] }],
    },
  },
};

async function list(bench: Bench, filters: JsonObject): Promise<JsonObject[]> {
  return (await bench.call("runs_list", { namespace_id: 2, ...filters }))["items"] as JsonObject[];
}

function idsOf(items: readonly JsonObject[]): string[] {
  return items.map((item) => (item["run_key"] as { run_id: string }).run_id);
}

for (const store of STORES) {
  Deno.test(`runs_list shows a run from its creation to its completion, ${store}`, () =>
    withTools(async (bench) => {
      const s = await scene(bench, ONE_STAGE);
      const [item] = await list(bench, {});
      assert.deepEqual(item, {
        run_key: { namespace_id: 2, run_id: s.run.run_id },
        scenario_id: "release",
        scenario_law_identity: s.law,
        correlation: { kind: "unset" },
        status: "active",
        accepted_head: s.head,
        created_instant: item?.["created_instant"] ?? null,
        parameters: [],
      });
      await complete(s);
      const [completed] = await list(bench, {});
      assert.deepEqual(completed, { ...item, status: "complete", accepted_head: s.head });
      const status = await bench.call("scenario_status", s.run);
      assert.deepEqual([status["status"], status["accepted_head"]], ["complete", s.head]);
    }, { store }));

  Deno.test(`runs_list admits the runs that meet every filter, ${store}`, () =>
    withTools(async (bench) => {
      const s = await scene(bench, ONE_STAGE);
      await complete(s);
      const other = await start(bench, s.law, 2, { kind: "set", correlation_id: id(77) });
      /** Filters, and the runs. */
      const rows: readonly [JsonObject, string[]][] = [
        [{ status: "complete" }, [s.run.run_id]],
        [{ status: "active" }, [other]],
        [{ correlation_id: id(77) }, [other]],
        [{ correlation_id: id(77), status: "complete" }, []],
        [{ correlation_id: id(7) }, []],
        [{ scenario_id: "release", status: "active" }, [other]],
        [{ scenario_id: "released" }, []],
        [{ scenario_law_identity: s.law, status: "complete" }, [s.run.run_id]],
        [{ scenario_law_identity: UNKNOWN_ID }, []],
        [{ parameters: [{ parameter_id: "version", value: { value: "1", value_type: "String" } }] }, []],
        [{ namespace_id: 3 }, []],
      ];
      for (const [filters, expected] of rows) {
        assert.deepEqual(idsOf(await list(bench, filters)), expected, JSON.stringify(filters));
      }
    }, { store }));

  Deno.test(`runs_list shows the parameters of runs, and admits those that have each value, ${store}`, () =>
    withTools(async (bench) => {
      const text = (value: string): JsonObject => ({ value, value_type: "String" });
      const domain = { domain: "String", minimum_bytes: 1, maximum_bytes: 9 };
      const declared = ["commit", "version"].map((parameter_id) => ({ parameter_id, domain }));
      const defined = await bench.call("scenario_define", { spec: spec({ parameters: declared }) });
      const law = defined["scenario_law_identity"] as string;
      const values = (commit: string, version: string): JsonObject[] => [
        { parameter_id: "commit", value: text(commit) },
        { parameter_id: "version", value: text(version) },
      ];
      const startWith = async (request: number, parameters: readonly JsonObject[]): Promise<string> =>
        await start(bench, law, request, { kind: "unset" }, { kind: "parameters", parameters: [...parameters] });
      const first = await startWith(1, values("a1", "1"));
      const second = await startWith(2, values("b2", "1").toReversed());
      const [item] = await list(bench, { parameters: values("b2", "1") });
      assert.deepEqual([item?.["parameters"], idsOf([item ?? {}])], [values("b2", "1"), [second]]);
      const [version] = values("a1", "1").slice(1);
      const both = idsOf(await list(bench, { parameters: [version ?? null] }));
      assert.deepEqual(both.toSorted(), [first, second].toSorted());
      assert.deepEqual(idsOf(await list(bench, { parameters: values("a1", "2") })), []);
      const typed = { parameter_id: "version", value: { value: "1", value_type: "Decimal" } };
      assert.deepEqual(await list(bench, { parameters: [typed] }), []);
    }, { store }));

  Deno.test(`runs_list has pages of n - 1, n and n + 1 runs, newest first, ${store}`, () => {
    const time = new Clock();
    return withTools(async (bench) => {
      const defined = await bench.call("scenario_define", { spec: spec() });
      const begun: string[] = [];
      for (let run = 1; run <= 5; run++) {
        time.now += 1000;
        begun.unshift(await start(bench, defined["scenario_law_identity"] as string, run));
      }
      for (const [limit, pages] of [[4, 2], [5, 1], [6, 1]] as const) {
        const found: string[] = [];
        let cursor: JsonValue = null;
        let count = 0;
        do {
          const page: JsonObject = await bench.call("runs_list", { namespace_id: 2, limit, cursor });
          found.push(...idsOf(page["items"] as JsonObject[]));
          cursor = page["next_token"] ?? null;
          count++;
        } while (cursor !== null);
        assert.deepEqual([found, count], [begun, pages], `limit ${limit}`);
      }
      const page = await bench.call("runs_list", { namespace_id: 2, limit: 2 });
      time.now -= 3500;
      const late = await start(bench, defined["scenario_law_identity"] as string, 9);
      const rest = await bench.call("runs_list", { namespace_id: 2, cursor: page["next_token"] ?? null });
      assert.deepEqual(idsOf(rest["items"] as JsonObject[]), begun.slice(2));
      assert.ok(idsOf(await list(bench, {})).includes(late));
    }, { store, time });
  });

  Deno.test(`scenarios_get returns the law and its words, ${store}`, () =>
    withTools(async (bench) => {
      const defined = await bench.call("scenario_define", { spec: spec() });
      const { scenario_law_identity } = defined;
      const got = await bench.call("scenarios_get", {
        namespace_id: 2,
        scenario_law_identity: scenario_law_identity ?? null,
      });
      const { law, words } = got;
      const text = canonicalize(law as JsonValue);
      assert.equal(identifyCanonical(HOST_PRIMITIVES.sha256, "scenario-law", text), scenario_law_identity);
      assert.equal(words, explainLaw(law as never));
      assert.match(
        String(words),
        /1\. build: can be opened immediately\n.*\n {3}- built\n {7}evidence: boolean, sent by the caller/,
      );
    }, { store }));
}

/** Arguments that runs_list refuses, and the code. */
const REFUSED: readonly [JsonObject, string, RegExp][] = [
  [{ limit: 0 }, "invalid_input", /limit/],
  [{ limit: PAGE_MAXIMUM + 1 }, "invalid_input", /limit/],
  [{ status: "open" }, "invalid_input", /status/],
  [{ owner: "a" }, "invalid_input", /owner/],
  [{ parameters: [{ parameter_id: "a" }] }, "invalid_input", /parameters\[0\]\.value/],
  [
    { parameters: Array(65).fill({ parameter_id: "a", value: { value: 1, value_type: "Integer" } }) },
    "invalid_input",
    /parameters/,
  ],
  [{ cursor: "x" }, "invalid_cursor", /cursor/],
];

for (const [input, code, message] of REFUSED) {
  Deno.test(`runs_list refuses ${JSON.stringify(input).slice(0, 60)}: ${code}`, () =>
    withTools(async (bench) => {
      const error = await bench.fail("runs_list", { namespace_id: 2, ...input });
      assert.deepEqual([error.code, message.test(error.message)], [code, true], error.message);
    }));
}

Deno.test("a cursor of runs_list is invalid under other filters", () =>
  withTools(async (bench) => {
    const defined = await bench.call("scenario_define", { spec: spec() });
    for (const request of [1, 2]) await start(bench, defined["scenario_law_identity"] as string, request);
    const { next_token } = await bench.call("runs_list", { namespace_id: 2, limit: 1, status: "active" });
    assert.equal(typeof next_token, "string");
    const cursor = next_token as string;
    assert.equal((await list(bench, { cursor, status: "active" })).length, 1);
    for (
      const filters of [{}, { status: "complete" }, { status: "active", scenario_id: "release" }, {
        namespace_id: 3,
        status: "active",
      }]
    ) {
      const error = await bench.fail("runs_list", { namespace_id: 2, ...filters, cursor });
      assert.deepEqual([error.code, error.next[0]?.["tool"]], ["invalid_cursor", "runs_list"]);
    }
  }));

/** Parts of the cursor that a caller wrote: instant, run id, newest run. */
const FORGED: readonly (readonly [string, string, string])[] = [
  ["soon", "0".repeat(32), "1"],
  ["1.5", "0".repeat(32), "1"],
  ["1e400", "0".repeat(32), "1"],
  ["9007199254740992", "0".repeat(32), "1"],
  ["1", "0".repeat(31), "1"],
  ["1", "0".repeat(32), ""],
];

for (const key of FORGED) {
  Deno.test(`runs_list refuses a cursor of ${JSON.stringify(key)}`, () =>
    withTools(async (bench) => {
      const defined = await bench.call("scenario_define", { spec: spec() });
      for (const request of [1, 2]) await start(bench, defined["scenario_law_identity"] as string, request);
      const { next_token } = await bench.call("runs_list", { namespace_id: 2, limit: 1 });
      const bytes = Uint8Array.fromBase64(next_token as string, { alphabet: "base64url" });
      const names = JSON.parse(new TextDecoder().decode(bytes)).slice(0, -3);
      const text = new TextEncoder().encode(JSON.stringify([...names, ...key]));
      const cursor = text.toBase64({ alphabet: "base64url", omitPadding: true });
      assert.equal((await bench.fail("runs_list", { namespace_id: 2, cursor })).code, "invalid_cursor");
    }));
}

Deno.test("runs_list of an older store that is not indexed names the command", () =>
  withTools(async (bench) => {
    const error = await bench.fail("runs_list", { namespace_id: 2 });
    assert.deepEqual([error.code, error.kind, error.retryable], ["runs_not_indexed", "unavailable", false]);
    assert.match(error.message, /gate store migrate/);
  }, {
    change: (services) => ({
      ...services,
      runs: { ...services.runs, findRuns: () => Promise.reject(new StoreError("index_missing", "Cannot list")) },
    }),
  }));

Deno.test("runs_list and scenarios_get answer for namespaces that the caller may read", () =>
  withTools(async (bench) => {
    const reader = { ...REMOTE, roles: [{ name: "NamespaceReader", tenant_id: null, namespace_id: 2 }] } as never;
    assert.deepEqual(await bench.call("runs_list", { namespace_id: 2 }, reader), { items: [], next_token: null });
    for (
      const [tool, input] of [["runs_list", {}], ["scenarios_get", { scenario_law_identity: UNKNOWN_ID }]] as const
    ) {
      const error = await bench.fail(tool, { namespace_id: 3, ...input }, reader);
      assert.deepEqual([error.code, error.kind], ["role_refused", "unauthorized"]);
    }
  }, { config: WITH_ROLES }));

Deno.test("scenarios_get of a law that is not registered", () =>
  withTools(async (bench) => {
    const error = await bench.fail("scenarios_get", { namespace_id: 2, scenario_law_identity: UNKNOWN_ID });
    assert.deepEqual([error.code, error.next[0]?.["tool"]], ["law_not_found", "scenarios_list"]);
  }));
