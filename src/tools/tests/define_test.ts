import assert from "node:assert/strict";
import { answered, NOTHING, testProvider } from "../../../tests/simulation/acquisition_fixture.ts";
import type { JsonObject, JsonValue } from "../../canonical/json.ts";
import { AUTH_DEFAULTS, DEFAULT_SETTINGS } from "../../config/defaults.ts";
import type { GateConfig, PrincipalConfig } from "../../config/types.ts";
import { StoreError, type StoreErrorCode } from "../../store/types.ts";
import {
  booleanCondition,
  envelope,
  evidence,
  id,
  LOCAL,
  REMOTE,
  spec,
  stage,
  startRun,
  STORES,
  withTools,
} from "./tools_fixture.ts";
import { principalOf } from "../../access/principal.ts";
import { storeFailure } from "../framework/errors.ts";

for (const store of STORES) {
  Deno.test(`scenario_define returns identities that do not depend on the order of the spec (${store})`, () =>
    withTools(async (bench) => {
      const defined = await bench.call("scenario_define", { spec: spec() });
      assert.match(defined["scenario_law_identity"] as string, /^[0-9a-f]{64}$/);
      const reordered = spec({
        stages: [stage("deploy", "deployed", "build"), stage("build", "built")],
        conditions: [booleanCondition("deployed"), booleanCondition("built")],
      });
      const error = await bench.fail("scenario_define", { spec: reordered });
      assert.deepEqual([error.code, error.kind, error.retryable], ["law_exists", "conflict", false]);
      assert.deepEqual(error.details, defined);
      assert.equal(error.next[0]?.["tool"], "scenario_start");
    }, { store }));

  Deno.test(`scenario_define keeps revisions apart, and scenarios_list pages through them (${store})`, () =>
    withTools(async (bench) => {
      const laws: JsonValue[] = [];
      for (const scenario_id of ["b", "a", "a"]) {
        const policies = [{ policy_id: `p${laws.length}` }];
        const defined = await bench.call("scenario_define", { spec: spec({ scenario_id, policies }) });
        laws.push(defined["scenario_law_identity"] ?? null);
      }
      const listed: JsonValue[] = [];
      let cursor: string | null = null;
      do {
        const page = await bench.call("scenarios_list", { namespace_id: 2, limit: 1, cursor }) as {
          items: JsonObject[];
          next_token: string | null;
        };
        assert.equal(page.items.length, 1);
        listed.push(page.items[0]?.["scenario_law_identity"] ?? null);
        cursor = page.next_token;
      } while (cursor !== null);
      const [b, ...a] = laws as string[];
      assert.deepEqual(listed, [...a.sort(), b]);
    }, { store }));
}

Deno.test("scenario_define reports all faults of a spec, each with code, path and message", () =>
  withTools(async (bench) => {
    const broken = spec({
      conditions: [booleanCondition("built"), { ...booleanCondition("deployed"), extra: 1 }],
      stages: [stage("build", "nothing"), stage("deploy", "deployed", "elsewhere")],
      colour: "red",
    });
    const error = await bench.fail("scenario_define", { spec: broken });
    assert.deepEqual([error.code, error.kind], ["invalid_spec", "invalid_request"]);
    const refusals = error.details?.["refusals"] as unknown as { code: string; path: string; message: string }[];
    const faults = refusals.map(({ code, path }) => `${code} ${path}`);
    for (
      const fault of [
        "member_unknown $.colour",
        "member_unknown $.conditions[1].extra",
        "condition_not_found $.stages[0].completion_requirement.Condition",
        "stage_not_found $.stages[1].prerequisite.requirement.Condition",
      ]
    ) assert.ok(faults.includes(fault), `${fault} in ${faults.join(", ")}`);
    assert.deepEqual(await bench.call("scenarios_list", { namespace_id: 2 }), { items: [], next_token: null });
  }));

/** Spec as given, then the code of the error. */
const DEFINE_REFUSED: readonly (readonly [name: string, input: JsonObject, code: string])[] = [
  ["no spec", {}, "invalid_input"],
  ["a spec that is a string", { spec: "x" }, "invalid_input"],
  ["an empty spec", { spec: {} }, "invalid_spec"],
  ["a namespace that is a string", { spec: spec({ namespace_id: "2" }) }, "invalid_spec"],
  ["namespace 0", { spec: spec({ namespace_id: 0 }) }, "invalid_spec"],
  ["namespace 1", { spec: spec({ namespace_id: 1 }) }, "namespace_refused"],
  ["a binding to no provider", {
    spec: spec({
      acquisition_bindings: [{
        binding_id: "now",
        condition_id: "built",
        channel: "local_acquisition",
        provider_id: "time",
        check_id: "after",
      }],
    }),
  }, "invalid_spec"],
];

for (const [name, input, code] of DEFINE_REFUSED) {
  Deno.test(`scenario_define refuses ${name}: ${code}`, () =>
    withTools(async (bench) => {
      assert.equal((await bench.fail("scenario_define", input)).code, code);
    }));
}

/** A binding, then the words of the refusal: it suggests only visible names. */
const NAMES: readonly (readonly [provider: string, check: string, says: string])[] = [
  ["scaner", "read", 'Provider "scaner" is not configured; did you mean "scanner"?'],
  ["scanner", "raed", 'Provider "scanner" has no check "raed"; did you mean "read"?'],
  ["hiden", "read", 'Provider "hiden" is not configured'],
  ["hidden", "raed", 'Provider "hidden" has no check "raed"'],
  ["other", "read", 'Provider "other" is not configured'],
];

for (const [provider_id, check_id, says] of NAMES) {
  Deno.test(`scenario_define refuses check ${check_id} of ${provider_id}: ${says}`, () => {
    const providers = new Map(
      ["scanner", "hidden"].map((name) => [name, testProvider(name, () => answered(NOTHING))] as const),
    );
    const provider_discovery = { ...DEFAULT_SETTINGS.provider_discovery, denylist: ["hidden"] };
    return withTools(
      async (bench) => {
        const binding = { binding_id: "b", condition_id: "built", channel: "provider_acquisition" };
        const acquisition_bindings = [{ ...binding, provider_id, check_id }];
        const { details } = await bench.fail("scenario_define", { spec: spec({ acquisition_bindings }) });
        const refusals = details?.["refusals"] as readonly { readonly message: string }[];
        assert.ok(refusals.some(({ message }) => message === says), JSON.stringify(refusals));
      },
      { config: { provider_discovery }, change: (services) => ({ ...services, providers }) },
    );
  });
}

Deno.test("namespace 1 is for the tenants that the operator lists", () =>
  withTools(async (bench) => {
    await bench.call("scenario_define", { spec: spec({ namespace_id: 1 }) });
    const remote = await bench.fail("scenarios_list", { namespace_id: 1 }, REMOTE);
    assert.deepEqual([remote.code, remote.message], [
      "namespace_refused",
      "Cannot do this: the caller is not authorized",
    ]);
  }, { config: { namespace: { ...DEFAULT_SETTINGS.namespace, allow_default: true, default_tenants: [1] } } }));

Deno.test("roles bind every tool once principals are configured", async () => {
  const principals: PrincipalConfig[] = [{
    subject: "token:ab",
    policy_class: "prod",
    roles: [{ name: "NamespaceReader", tenant_id: null, namespace_id: 2 }],
  }];
  const server: GateConfig["server"] = { ...DEFAULT_SETTINGS.server, auth: { ...AUTH_DEFAULTS, principals } };
  await withTools(async (bench) => {
    const reader = principalOf(principals, "token:ab", "bearer_token");
    await bench.call("scenarios_list", { namespace_id: 2 }, reader);
    assert.equal((await bench.fail("scenarios_list", { namespace_id: 3 }, reader)).code, "role_refused");
    assert.equal((await bench.fail("scenario_define", { spec: spec() }, reader)).code, "role_refused");
    const local = await bench.fail("scenario_define", { spec: spec() }, LOCAL);
    assert.match(local.message, /server\.auth\.principals/);
  }, { config: { server } });
});

Deno.test("reads distinguish a missing run from an existing one", () =>
  withTools(async (bench) => {
    const { run } = await startRun(bench);
    for (const tool of ["scenario_status", "scenario_history"]) {
      for (const change of [{ run_id: id(9) }, { scenario_id: "other" }, { namespace_id: 3 }]) {
        const error = await bench.fail(tool, { ...run, ...change });
        assert.deepEqual([error.code, error.kind], ["run_not_found", "not_found"]);
      }
    }
  }));

/** A change of a valid precheck, then its outcome or the code of its error. */
const PRECHECKS: readonly (readonly [name: string, change: JsonObject, says: string])[] = [
  ["evidence that holds", { caller_evidence: [evidence("built", true)] }, "true"],
  ["evidence that does not", { caller_evidence: [evidence("built", false)] }, "false"],
  ["no evidence", {}, "unknown"],
  ["evidence that disagrees", { caller_evidence: [evidence("built", true), evidence("built", false)] }, "unknown"],
  ["evidence on another stage", { caller_evidence: [evidence("deployed", true)] }, "evidence_rejected"],
  ["an unknown binding", { local_acquisition: [{ binding_id: "none", value: true }] }, "evidence_rejected"],
  ["an unknown stage", { stage_id: "none" }, "stage_not_found"],
  ["an unknown law", { scenario_law_identity: "0".repeat(64) }, "law_not_found"],
  ["a law of another scenario", { scenario_id: "other" }, "scenario_not_found"],
  ["namespace 1", { namespace_id: 1 }, "namespace_refused"],
];

for (const [name, change, says] of PRECHECKS) {
  Deno.test(`scenario_precheck_stage of ${name}: ${says}`, () =>
    withTools(async (bench) => {
      const { run, law } = await startRun(bench);
      const before = await bench.call("scenario_history", run);
      const input = {
        namespace_id: 2,
        scenario_id: "release",
        scenario_law_identity: law,
        stage_id: "build",
        ...change,
      };
      if (["true", "false", "unknown"].includes(says)) {
        const { outcome, trace } = await bench.call("scenario_precheck_stage", input);
        assert.equal(outcome, says);
        assert.equal((trace as readonly JsonValue[]).length, 1);
      } else assert.equal((await bench.fail("scenario_precheck_stage", input)).code, says);
      assert.deepEqual(await bench.call("scenario_history", run), before);
    }));
}

const STORE_ERRORS: readonly (readonly [StoreErrorCode, code: string, kind: string, retryable: boolean])[] = [
  ["queue_full", "store_busy", "unavailable", true],
  ["busy", "store_busy", "unavailable", true],
  ["corrupt", "store_corrupt", "internal", false],
  ["version_unsupported", "store_version_unsupported", "internal", false],
  ["index_missing", "runs_not_indexed", "unavailable", false],
  ["unavailable", "store_unavailable", "unavailable", true],
  ["disk_full", "store_full", "unavailable", false],
  ["closed", "store_closed", "unavailable", true],
  ["file_lost", "store_failed", "internal", false],
  ["io", "store_failed", "internal", false],
];

for (const [storeCode, code, kind, retryable] of STORE_ERRORS) {
  Deno.test(`storeFailure() ${storeCode}: ${code}`, () => {
    const error = storeFailure(new StoreError(storeCode, "Cannot open /secret/path", { retryAfterMillis: 7 }));
    assert.deepEqual([error.code, error.kind, error.retryable], [code, kind, retryable]);
    assert.ok(!error.message.includes("/secret"));
    assert.deepEqual(error.details, { retry_after_ms: 7 });
  });
}

Deno.test("a full queue gives a retryable error, and nothing is recorded", () => {
  let full = true;
  return withTools(async (bench) => {
    full = false;
    const { run, head } = await startRun(bench);
    full = true;
    const open = { ...run, stage_id: "build", expected_head: head, operation_id: id(1) };
    const error = await bench.fail("scenario_open_stage", open);
    assert.deepEqual([error.code, error.retryable, error.details], ["store_busy", true, { retry_after_ms: 5 }]);
    full = false;
    assert.equal(envelope(await bench.call("scenario_open_stage", open)).outcome, "accepted");
  }, {
    change: (services) => ({
      ...services,
      runs: {
        ...services.runs,
        append: (append) =>
          full
            ? Promise.reject(new StoreError("queue_full", "Queue is full", { retryAfterMillis: 5 }))
            : services.runs.append(append),
      },
    }),
  });
});
