import assert from "node:assert/strict";
import type { JsonObject } from "../../canonical/json.ts";
import { schemaFailure, SchemaSandboxError } from "../../evidence/sandbox/schema_sandbox.ts";
import { asJson } from "../../run/primitives.ts";
import { TOOL_ERROR_CODES, toolError, type ToolErrorCode } from "../framework/errors.ts";
import { type Bench, checkSteps, id, schemaRecord, withTools } from "../tests/tools_fixture.ts";
import { ACQUISITION_CODES, nextAfterAcquisition } from "./after_acquisition.ts";
import { nextOfError, withNext } from "./after_error.ts";
import type { NextStep } from "../framework/types.ts";

const SHAPE = { schema_id: "report", version: "1" };
const QUERY = { provider_id: "scanner", check_id: "read", params: { url: "https://example.test/?token=s3cret" } };

/**
 * A code with the tool, its relevant arguments and the details of the error, then the steps with a word of their
 * reason.
 */
type Row = readonly [
  code: ToolErrorCode,
  tool: string,
  input: JsonObject,
  details: JsonObject,
  steps: readonly (readonly [tool: string, why: RegExp, hint?: JsonObject])[],
];

const IN_2 = { namespace_id: 2 };
const TYPED = { ...IN_2, provider_id: "builds", version: "1" };
const RUN = { ...IN_2, scenario_id: "release", run_id: id(1) };
const AGAIN = /call again, unchanged$/;

const ROWS: readonly Row[] = [
  ["invalid_input", "scenario_start", { ...IN_2, nope: 1 }, {}, [["scenario_start", /issues/, {}]]],
  ["invalid_spec", "scenario_define", { spec: {} }, {}, [["scenario_define", /refusals/, {}]]],
  ["invalid_schema", "schemas_register", { record: {} }, {}, [["schemas_register", /as the message says/, {}]]],
  ["invalid_cursor", "schemas_list", { ...IN_2, cursor: "x" }, {}, [["schemas_list", /without a cursor/, IN_2]]],
  ["evidence_rejected", "scenario_precheck_stage", { ...IN_2, stage_id: "a", caller_evidence: [] }, {}, [
    ["scenario_precheck_stage", /rejections/, { ...IN_2, stage_id: "a" }],
  ]],
  ["genesis_rejected", "scenario_precheck_stage", { ...IN_2, stage_id: "a" }, {}, [
    ["scenario_precheck_stage", /faults/, { ...IN_2, stage_id: "a" }],
  ]],
  ["params_invalid", "evidence_query", { query: QUERY }, {}, [
    ["provider_check_schema_get", /params/, { provider_id: "scanner", check_id: "read" }],
    ["evidence_query", /Correct/, { query: { provider_id: "scanner", check_id: "read" } }],
  ]],
  ["contract_invalid", "typed_providers_register", TYPED, {}, [[
    "typed_providers_register",
    /contract at each path/,
    TYPED,
  ]]],
  ["profile_invalid", "typed_providers_register", TYPED, {}, [[
    "typed_providers_register",
    /profile at each path/,
    TYPED,
  ]]],
  ["import_failed", "typed_providers_register", TYPED, {}, [["typed_providers_register", /document/, TYPED]]],
  ["payload_invalid", "precheck", { ...IN_2, data_shape: SHAPE, payload: 1 }, {}, [
    ["schemas_get", /requires/, { ...IN_2, ...SHAPE }],
    ["precheck", /payload/, { ...IN_2, data_shape: SHAPE }],
  ]],
  ["data_shape_rejected", "precheck", { ...IN_2, data_shape: SHAPE, payload: 1 }, {}, [
    ["schemas_get", /requires/, { ...IN_2, ...SHAPE }],
    ["precheck", /every condition that details.refusals names/, { ...IN_2, data_shape: SHAPE }],
  ]],
  ["signature_invalid", "schemas_register", { record: {} }, {}, [["schemas_register", /Sign/, {}]]],
  ["scenario_not_found", "precheck", { ...IN_2, scenario_id: "x" }, {}, [["scenarios_list", /scenarios/, IN_2]]],
  ["law_not_found", "precheck", { ...IN_2, scenario_id: "x" }, {}, [["scenarios_list", /laws/, IN_2]]],
  ["run_not_found", "scenario_status", RUN, {}, [["runs_list", /runs/, IN_2]]],
  ["stage_not_found", "precheck", { ...IN_2, stage_id: "biuld" }, { stages: ["alpha"], nearest: ["build"] }, [
    ["precheck", /Did you mean stage "build"\?/, { ...IN_2, stage_id: "build" }],
  ]],
  ["stage_not_found", "precheck", { ...IN_2, stage_id: "zzz" }, { stages: ["alpha"] }, [
    ["precheck", /Name a stage/, { ...IN_2, stage_id: "alpha" }],
  ]],
  ["schema_not_found", "schemas_get", { ...IN_2, ...SHAPE }, {}, [["schemas_list", /registered/, IN_2]]],
  ["runpack_not_found", "runpack_verify", { runpack_identity: "x" }, {}, [
    ["runpack_verify", /exported again/, { runpack_identity: "x" }],
  ]],
  ["provider_not_found", "evidence_query", { query: QUERY }, {}, [["providers_list", /providers/, {}]]],
  ["check_not_found", "evidence_query", { query: QUERY }, {}, [["providers_list", /checks/, {}]]],
  ["typed_provider_not_found", "typed_providers_get", TYPED, {}, [["typed_providers_list", /versions/, IN_2]]],
  ["law_exists", "scenario_define", { spec: {} }, {}, [["scenarios_list", /laws/, {}]]],
  ["schema_exists", "schemas_register", { record: schemaRecord() }, {}, [["schemas_list", /new version/, IN_2]]],
  ["typed_provider_exists", "typed_providers_register", TYPED, {}, [["typed_providers_list", /new version/, IN_2]]],
  ["active_conflict", "typed_providers_activate", { ...TYPED, expected_active: null }, { active: "2" }, [
    ["typed_providers_activate", /what is there now/, { ...TYPED, expected_active: "2" }],
  ]],
  ["state_conflict", "typed_providers_deprecate", { ...TYPED, expected_state: "active" }, { state: "registered" }, [
    ["typed_providers_deprecate", /what is there now/, { ...TYPED, expected_state: "registered" }],
  ]],
  ["typed_provider_deprecated", "typed_providers_activate", TYPED, {}, [[
    "typed_providers_list",
    /not deprecated/,
    IN_2,
  ]]],
  ["typed_provider_inactive", "evidence_query", { query: QUERY, context: IN_2 }, {}, [
    ["typed_providers_list", /typed_providers_activate/, IN_2],
  ]],
  ["law_contract_mismatch", "scenario_start", IN_2, {}, [
    ["typed_providers_list", /whose contract fits/, IN_2],
    ["scenario_define", /fits the contract/, {}],
  ]],
  ["typed_provider_configured", "typed_providers_activate", TYPED, {}, [["providers_list", /providers/, {}]]],
  ["provider_id_reserved", "typed_providers_register", TYPED, {}, [["typed_providers_register", /differently/, TYPED]]],
  ["ask_declined", "scenario_next", RUN, {}, [["scenario_next", /without the question/, RUN]]],
  ["namespace_refused", "scenario_status", RUN, {}, [["scenario_status", /operator for access/, {}]]],
  ["role_refused", "scenario_status", RUN, {}, [["scenario_status", /operator for access/, {}]]],
  ["tool_not_allowed", "scenario_status", RUN, {}, [["scenario_status", /operator for access/, {}]]],
  ["registry_refused", "schemas_get", { ...IN_2, ...SHAPE }, {}, [["schemas_get", /operator for access/, {}]]],
  ["signing_required", "schemas_register", { record: {} }, {}, [["schemas_register", /Add signing/, {}]]],
  ["host_not_allowed", "typed_providers_register", TYPED, {}, [["typed_providers_register", /--typed-host/, TYPED]]],
  ["credential_locator_refused", "typed_providers_register", TYPED, {}, [
    ["typed_providers_register", /pair the credential/, TYPED],
  ]],
  ["schema_too_large", "schemas_register", { record: {} }, {}, [["schemas_register", /maximum_bytes/, {}]]],
  ["response_too_large", "providers_list", {}, {}, [["providers_list", /max_response_bytes/, {}]]],
  ["response_too_large", "provider_contract_get", { provider_id: "scanner" }, {}, [
    ["provider_check_schema_get", /smaller/],
    ["provider_contract_get", /max_response_bytes/, { provider_id: "scanner" }],
  ]],
  ["response_too_large", "evidence_query", { query: QUERY }, {}, [
    ["evidence_query", /Ask for less/, { query: { provider_id: "scanner", check_id: "read" } }],
  ]],
  ["schema_entries_exhausted", "schemas_register", { record: schemaRecord() }, {}, [["schemas_list", /raise/, IN_2]]],
  ["typed_providers_exhausted", "typed_providers_register", TYPED, {}, [[
    "typed_providers_list",
    /never removed/,
    IN_2,
  ]]],
  ["schema_deadline_exceeded", "precheck", IN_2, {}, [["precheck", /simpler/, IN_2]]],
  ["input_required", "scenario_next", RUN, {}, [["scenario_next", AGAIN, RUN]]],
  ["acquisition_failed", "evidence_query", { query: QUERY }, { code: "tls_failed" }, [
    ["evidence_query", /tls_failed, which does not pass/, { query: { provider_id: "scanner", check_id: "read" } }],
  ]],
  ["store_busy", "scenario_status", RUN, { retry_after_ms: 5 }, [["scenario_status", AGAIN, RUN]]],
  ["store_unavailable", "scenario_status", RUN, { retry_after_ms: 1000 }, [["scenario_status", AGAIN, RUN]]],
  ["run_archived", "scenario_history", RUN, {}, [["scenario_history", AGAIN, RUN]]],
  ["store_full", "scenario_status", RUN, {}, [["scenario_status", AGAIN, RUN]]],
  ["runs_not_indexed", "runs_list", { namespace_id: 2 }, {}, [["runs_list", AGAIN, { namespace_id: 2 }]]],
  ["store_closed", "scenario_status", RUN, {}, [["scenario_status", AGAIN, RUN]]],
  ["schema_worker_unavailable", "precheck", IN_2, {}, [["precheck", AGAIN, IN_2]]],
  ["authority_unavailable", "scenario_status", RUN, {}, [["scenario_status", AGAIN, RUN]]],
  ["namespace_authority_unavailable", "scenario_status", RUN, {}, [["scenario_status", AGAIN, RUN]]],
  ["audit_unavailable", "scenario_status", RUN, {}, [["scenario_status", AGAIN, RUN]]],
  ["store_corrupt", "scenario_status", RUN, {}, [["scenario_status", /gate store check.*call again, unchanged$/, RUN]]],
  ["store_version_unsupported", "scenario_status", RUN, {}, [["scenario_status", /version of gate/, RUN]]],
  ["store_failed", "scenario_status", RUN, {}, [["scenario_status", /log/, RUN]]],
  ["internal", "scenario_status", RUN, {}, [["scenario_status", /log/, RUN]]],
];

function checked(bench: Bench, steps: readonly NextStep[]): readonly JsonObject[] {
  return checkSteps(bench.tools, asJson(steps));
}

Deno.test("nextOfError() has valid steps for every code", () =>
  withTools((bench) => {
    const codes = [...new Set(ROWS.map(([code]) => code))];
    assert.deepEqual(codes, TOOL_ERROR_CODES);
    for (const [code, tool, input, details, expected] of ROWS) {
      const steps = checked(bench, nextOfError(tool, input, toolError(code, "Message", details)));
      assert.deepEqual(steps.map((step) => step["tool"]), expected.map(([name]) => name), code);
      expected.forEach(([, why, hint], index) => {
        assert.match(String(steps[index]?.["why"]), why);
        if (hint !== undefined) assert.deepEqual(steps[index]?.["arguments_hint"], hint, code);
      });
    }
    return Promise.resolve();
  }));

Deno.test("nextOfError() repeats the call after a passing failure, without params and long names", () => {
  const retryable = { ...toolError("acquisition_failed", "Message", { code: "timeout" }), retryable: true };
  const [step] = nextOfError("evidence_query", { query: QUERY }, retryable);
  assert.match(step?.why ?? "", /Call again, unchanged, once/);
  assert.ok(!JSON.stringify(step).includes("s3cret"));
  for (const [length, repeated] of [[510, true], [511, false]] as const) {
    const input = { ...IN_2, scenario_id: "s".repeat(length) };
    const [again] = nextOfError("scenario_status", input, toolError("store_busy", "Message"));
    assert.equal(again?.arguments_hint["scenario_id"] !== undefined, repeated, String(length));
  }
});

Deno.test("withNext() keeps the steps of the tool, and results", () => {
  const own = toolError("law_exists", "Message", { next: [] });
  assert.deepEqual(withNext("scenario_define", {}, { ok: false, error: own }), { ok: false, error: own });
  const result = { ok: true, result: {} } as const;
  assert.equal(withNext("scenario_define", {}, result), result);
});

const FAILURES: readonly (readonly [code: string, retryable: boolean, tool: string, why: RegExp])[] = [
  ["timeout", true, "scenario_evaluate_stage", /call again, unchanged/],
  ["timeout", false, "scenario_evaluate_stage", /no answer/],
  ["dns_failed", false, "scenario_evaluate_stage", /name corrected/],
  ["tls_failed", false, "scenario_evaluate_stage", /certificate/],
  ["server_certificate_untrusted", false, "scenario_evaluate_stage", /trusted authority/],
  ["server_certificate_name_mismatch", false, "scenario_evaluate_stage", /another name/],
  ["client_certificate_missing", false, "scenario_evaluate_stage", /wants a client/],
  ["client_certificate_untrusted", false, "scenario_evaluate_stage", /does not trust/],
  ["destination_refused", false, "scenario_evaluate_stage", /allowed/],
  ["destination_blocked", false, "scenario_evaluate_stage", /not public/],
  ["connection_failed", false, "scenario_evaluate_stage", /no connection/],
  ["response_truncated", false, "scenario_evaluate_stage", /ended early/],
  ["response_too_large", false, "scenario_define", /asks for less/],
  ["worker_died", false, "scenario_evaluate_stage", /process/],
  ["provider_unreachable", false, "scenario_evaluate_stage", /may not reach it/],
  ["provider_protocol_error", false, "scenario_evaluate_stage", /reply/],
  ["provider_not_configured", false, "scenario_evaluate_stage", /configured/],
  ["contract_changed", false, "scenario_start", /new run/],
  ["credential_unavailable", false, "scenario_evaluate_stage", /in place/],
  ["credential_locator_refused", false, "scenario_evaluate_stage", /have it granted/],
  ["host_not_allowed", false, "scenario_evaluate_stage", /have it granted/],
  ["provider_version_deprecated", false, "scenario_start", /bound to the active one/],
  ["cancelled", false, "scenario_evaluate_stage", /wait for it/],
  ["schema_deadline_exceeded", false, "scenario_evaluate_stage", /another value/],
  ["schema_refused", false, "scenario_define", /JSON Schema/],
  ["schema_validator_failed", false, "scenario_define", /JSON Schema/],
  ["schema_worker_failed", true, "scenario_evaluate_stage", /call again, unchanged/],
  ["schema_worker_failed", false, "scenario_evaluate_stage", /call again/],
  ["schema_overloaded", false, "scenario_evaluate_stage", /too much to do/],
  ["schema_closed", false, "scenario_evaluate_stage", /back/],
  ["new_code_of_a_provider", false, "scenario_evaluate_stage", /provider checked/],
];

Deno.test("nextAfterAcquisition() retries after passing failures, and names a remedy for all others", () =>
  withTools((bench) => {
    const retry = (change: JsonObject, why: string): NextStep => ({
      tool: "scenario_evaluate_stage",
      arguments_hint: { ...RUN, ...change },
      why,
    });
    const start = { namespace_id: 2, scenario_id: "release" };
    const named = FAILURES.map(([code]) => code);
    assert.deepEqual(ACQUISITION_CODES.filter((code) => !named.includes(code)), []);
    for (const [code, retryable, tool, why] of FAILURES) {
      const failures = [{ binding_id: "b", code, message: "m", retryable }];
      const steps = checked(bench, nextAfterAcquisition(failures, retry, start, true));
      assert.equal(steps[0]?.["tool"], tool, code);
      assert.match(String(steps[0]?.["why"]), why);
      if (retryable) assert.equal(steps.length, 1);
      else {
        assert.match(String(steps[0]?.["why"]), new RegExp(`^Binding "b" failed with ${code}: `));
        assert.deepEqual((steps[1]?.["arguments_hint"] as JsonObject)["local_acquisition"], []);
      }
    }
    const slow = { condition_id: "c", ...schemaFailure(new SchemaSandboxError("deadline_exceeded", "m")) };
    assert.equal(slow.retryable, toolError(slow.code as ToolErrorCode, "m").retryable);
    assert.match(String(nextAfterAcquisition([slow], retry, start, false)[0]?.why), /with another value/);
    const both = [{ binding_id: "a", code: "timeout", retryable: true }, { condition_id: "c", code: "schema_refused" }];
    const steps = checked(bench, nextAfterAcquisition(both, retry, start, false));
    assert.deepEqual(steps.map(({ why }) => String(why).slice(0, 13)), ['Condition "c"']);
    const many = Array.from({ length: 9 }, () => ({ binding_id: "b", code: "tls_failed" }));
    assert.equal(nextAfterAcquisition(many, retry, start, false).length, 4);
    return Promise.resolve();
  }));

Deno.test("the playbook has every error with its kind and whether a retry can help", async () => {
  const page = await Deno.readTextFile(new URL("../../../docs/guide/agent_playbook.md", import.meta.url));
  const table = page.split("<!-- table: errors -->")[1]?.split("## ")[0] ?? "";
  const rows = table.split("\n").filter((line) => line.startsWith("| `")).map((line) =>
    line.split(/ *\| */).slice(1, 4)
  );
  const expected = TOOL_ERROR_CODES.map((code) => {
    const { kind, retryable } = toolError(code, "Message");
    return [`\`${code}\``, `\`${kind}\``, code === "acquisition_failed" ? "varies" : retryable ? "yes" : "no"];
  });
  assert.deepEqual(rows, expected);
});
