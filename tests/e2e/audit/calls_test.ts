import assert from "node:assert/strict";
import type { JsonObject } from "@/canonical/json.ts";
import type { Audit, AuditEvent } from "@/server/audit/types.ts";
import { NO_AUDIT } from "@/server/audit/types.ts";
import { ADMIN, caller, role, withWorld } from "../access/auth_world.ts";

/** An event in a few words. */
function inWords({ kind, outcome, reason }: AuditEvent): string {
  return `${kind} ${outcome} ${reason}`;
}

/** A call in a world that is filled, and what it leaves in the log. */
const CALLS: readonly (readonly [tool: string, ...events: string[]])[] = [
  ["scenario_define", "mutation begun authorized", "mutation refused law_exists"],
  ["scenarios_list", "request done ok"],
  ["scenarios_get", "request done ok"],
  ["scenario_questions", "request done ok"],
  ["runs_list", "request done ok"],
  ["scenario_start", "mutation begun authorized", "mutation done accepted"],
  ["scenario_status", "request done ok"],
  ["scenario_history", "request done ok"],
  ["scenario_open_stage", "mutation begun authorized", "mutation done accepted"],
  ["scenario_evaluate_stage", "mutation begun authorized", "mutation done stale"],
  ["scenario_precheck_stage", "precheck done unknown"],
  ["precheck", "precheck refused data_shape_rejected"],
  ["scenario_submit", "mutation begun authorized", "mutation done stale"],
  ["scenario_next", "mutation begun authorized", "mutation done stale"],
  ["scenario_trigger", "mutation begun authorized", "mutation done stale"],
  [
    "scenario_apply",
    "mutation begun authorized",
    "mutation begun authorized",
    "mutation done operation_conflict",
    "mutation done ok",
  ],
  ["scenario_resolve_creation", "request done invocation_mismatch"],
  ["scenario_resolve_mutation", "request done invocation_mismatch"],
  ["runpack_export", "mutation begun authorized", "mutation done published"],
  ["runpack_verify", "request done ok"],
  ["schemas_register", "mutation begun authorized", "mutation refused schema_exists"],
  ["schemas_list", "registry done ok"],
  ["schemas_get", "registry done ok"],
  ["typed_providers_import", "registry refused import_failed"],
  ["typed_providers_register", "mutation begun authorized", "mutation refused host_not_allowed"],
  ["typed_providers_activate", "mutation begun authorized", "mutation refused typed_provider_not_found"],
  ["typed_providers_deprecate", "mutation begun authorized", "mutation refused typed_provider_not_found"],
  ["typed_providers_list", "registry done ok"],
  ["typed_providers_get", "registry refused typed_provider_not_found"],
  ["gate_docs_search", "request done ok"],
  ["providers_list", "discovery done ok"],
  ["provider_contract_get", "discovery refused provider_not_found"],
  ["provider_check_schema_get", "discovery refused provider_not_found"],
  ["evidence_query", "acquisition begun authorized", "acquisition refused provider_not_found"],
];

Deno.test("every call is logged: a read once, a change or query before and after", () =>
  withWorld({ filled: true }, async ({ ask, calls, events, dispatcher }) => {
    const tools = (await dispatcher.listing()).map(({ name }) => name).sort();
    assert.deepEqual(CALLS.map(([tool]) => tool).sort(), tools);
    for (const [tool, ...expected] of CALLS) {
      events.length = 0;
      await ask(tool, calls.get(tool) ?? {}, ADMIN);
      assert.deepEqual(events.map(inWords), expected, tool);
      for (const { tool: named, subject, origin } of events) {
        assert.deepEqual([named, subject, origin?.correlation_id, origin?.peer_address], [
          tool === "scenario_apply" && named === "scenario_open_stage" ? named : tool,
          "CN=admin",
          "client-1",
          "192.0.2.1",
        ]);
      }
    }
  }));

Deno.test("a line has the caller, its grants and the subject of the call", () =>
  withWorld({ filled: true }, async ({ ask, calls, events }) => {
    const writer = caller("bearer_token", [role("NamespaceWriter", 2, 5)], "project");
    await ask("scenario_submit", calls.get("scenario_submit") ?? {}, writer);
    assert.deepEqual(events.map(({ details }) => details), [{
      auth_method: "bearer_token",
      policy_class: "project",
      namespace_id: 2,
      granted_by: ["role:NamespaceWriter", "namespace:namespace_open"],
      scenario_id: "release",
      run_id: "0000000000000000000000000000004d",
      operation_id: "00000000000000000000000000000005",
    }, {}]);
  }));

type Refusal = readonly [what: string, tool: string, change: JsonObject, principal: typeof ADMIN, ...events: string[]];

const REFUSED: readonly Refusal[] = [
  ["an unknown tool", "rm_rf", {}, ADMIN, "authorization refused tool_unknown"],
  ["no role", "scenario_submit", {}, caller("mtls"), "authorization refused no_role_grants"],
  [
    "a role of another namespace",
    "scenario_status",
    {},
    caller("mtls", [role("NamespaceOwner", 3)]),
    "authorization refused no_role_grants",
  ],
  [
    "the closed default namespace",
    "scenario_submit",
    { namespace_id: 1 },
    ADMIN,
    "namespace refused default_namespace_closed",
  ],
  [
    "the closed default namespace, as an outcome",
    "scenario_resolve_creation",
    { namespace_id: 1 },
    ADMIN,
    "namespace refused default_namespace_closed",
  ],
  ["arguments of another kind", "scenario_submit", { payload: 7 }, ADMIN, "mutation refused invalid_input"],
];

for (const [what, tool, change, principal, ...expected] of REFUSED) {
  Deno.test(`a call refused for ${what} leaves one line: ${expected.join(", ")}`, () =>
    withWorld({ filled: true }, async ({ ask, calls, events }) => {
      await ask(tool, { ...calls.get(tool) ?? {}, ...change }, principal);
      assert.deepEqual(events.map(inWords), expected);
      assert.deepEqual(events.map((event) => event.tool), [tool]);
    }));
}

Deno.test("a rejection by the schema registry is logged with its rule", () =>
  withWorld({ filled: true, acl: { allow_local_only: false }, roles: false }, async ({ ask, calls, events }) => {
    for (const tool of ["schemas_register", "schemas_list", "schemas_get"]) {
      await ask(tool, calls.get(tool) ?? {}, caller("bearer_token"));
    }
    assert.deepEqual(events.map(inWords), [
      "registry refused builtin_deny_write",
      "registry refused builtin_deny_read",
      "registry refused builtin_deny_read",
    ]);
  }));

Deno.test("the namespace authority's answers are logged", () =>
  withWorld({
    filled: true,
    authority: { verdict: "unavailable", reason: "authority_request_timeout" },
  }, async ({ ask, calls, events }) => {
    await ask("scenario_status", calls.get("scenario_status") ?? {}, ADMIN);
    assert.deepEqual(events.map(inWords), ["namespace failed authority_request_timeout"]);
  }));

Deno.test("a precheck logs only hashes of its request and response", () =>
  withWorld({ filled: true }, async ({ ask, calls, events }) => {
    const evidence = [{
      condition_id: "built",
      retention: { retention: "RetainCanonicalValue" },
      value: { value: true, value_type: "Boolean" },
    }];
    await ask("scenario_precheck_stage", { ...calls.get("scenario_precheck_stage"), caller_evidence: evidence }, ADMIN);
    const details = events[0]?.details ?? {};
    assert.equal(details["redaction"], "hash_only");
    for (const name of ["request_hash", "response_hash"]) {
      assert.match(JSON.stringify(details[name]), /^\{"algorithm":"sha256","value":"[0-9a-f]{64}"\}$/);
    }
    assert.ok(!JSON.stringify(events).includes("caller_evidence"));
  }));

/** A log that takes nothing. */
const FAILING: Audit = { ...NO_AUDIT, record: () => Promise.reject(new Error("No space left on device")) };

Deno.test("nothing is changed or queried while the log cannot be written; reads continue", async () => {
  let audit: Audit = NO_AUDIT;
  const switched: Audit = { ...NO_AUDIT, record: (event) => audit.record(event) };
  await withWorld({ filled: true, audit: switched }, async ({ ask, calls, dispatcher }) => {
    const before = await ask("scenario_status", calls.get("scenario_status") ?? {}, ADMIN);
    audit = FAILING;
    for (const { name, hints } of await dispatcher.listing()) {
      const answer = await ask(name, calls.get(name) ?? {}, ADMIN);
      const refused = /"code":"audit_unavailable","kind":"unavailable".*"retryable":true/.test(answer);
      assert.equal(refused, !hints.readOnlyHint || hints.openWorldHint, `${name}: ${answer}`);
    }
    assert.equal(await ask("scenario_status", calls.get("scenario_status") ?? {}, ADMIN), before);
    audit = NO_AUDIT;
    assert.match(await ask("scenario_open_stage", calls.get("scenario_open_stage") ?? {}, ADMIN), /"accepted"/);
  });
});

Deno.test("an accepted call is answered even if its second line cannot be written", async () => {
  let lines = 0;
  const audit: Audit = {
    ...NO_AUDIT,
    record: () => ++lines === 2 ? Promise.reject(new Error("full")) : Promise.resolve(),
  };
  await withWorld({ filled: false, audit }, async ({ ask, calls }) => {
    assert.match(await ask("scenario_define", calls.get("scenario_define") ?? {}, ADMIN), /scenario_law_identity/);
    assert.equal(lines, 2);
  });
});
