import assert from "node:assert/strict";
import { AUTH_DEFAULTS, DEFAULT_SETTINGS } from "../../config/defaults.ts";
import type { AuthConfig, ToolsConfig } from "../../config/types.ts";
import type { JsonObject, JsonValue } from "../../canonical/json.ts";
import { TOOL_ERROR_CODES, toolError } from "../framework/errors.ts";
import { LOCAL, testConfig } from "../tests/tools_fixture.ts";
import { withNext } from "./after_error.ts";
import { FRESH_ID } from "./shared_steps.ts";
import { offerSteps } from "./offered.ts";
import { PUBLISHED } from "../framework/published.ts";
import type { Call, NextStep, ToolAnswer } from "../framework/types.ts";

/** Settings that restrict tools, with any texts as names. */
interface Restriction {
  readonly tools?: Partial<Record<"allowlist" | "denylist", readonly string[]>>;
  readonly auth?: Partial<Omit<AuthConfig, "allowed_tools">> & { readonly allowed_tools?: readonly string[] };
}

const CALL: Call = { principal: LOCAL, signal: new AbortController().signal, correlationId: null };

function offered(
  { tools, auth }: Restriction,
  tool: string,
  input: JsonObject,
  answer: ToolAnswer,
  call = CALL,
): ToolAnswer {
  const { server } = DEFAULT_SETTINGS;
  const config = testConfig({
    server: {
      ...server,
      tools: { ...server.tools, ...tools } as ToolsConfig,
      auth: auth === undefined ? null : { ...AUTH_DEFAULTS, ...auth } as AuthConfig,
    },
  });
  return offerSteps({ config })(tool, input, call, answer);
}

function stepsOf(answer: ToolAnswer): readonly NextStep[] {
  return (answer.ok ? [] : answer.error.details?.["next"] ?? []) as unknown as readonly NextStep[];
}

const INPUT = { namespace_id: 2, scenario_id: "release", query: { provider_id: "scanner" } };

Deno.test("offerSteps() keeps whom to ask after a refusal for lack of a role", () => {
  const answer = withNext("scenario_define", INPUT, { ok: false, error: toolError("role_refused", "Cannot", {}) });
  const principals = [{ subject: "another", policy_class: null, roles: [] }];
  const [step] = stepsOf(offered({ auth: { principals } }, "scenario_define", INPUT, answer));
  assert.equal(step?.tool, "scenario_define");
  assert.match(step?.why ?? "", /^Ask the operator for access/);
});

for (const code of TOOL_ERROR_CODES) {
  Deno.test(`offerSteps() names no hidden tool after ${code}, and keeps at least one step`, () => {
    for (const { name } of PUBLISHED) {
      const answer = withNext(name, INPUT, { ok: false, error: toolError(code, "It failed", {}) });
      assert.deepEqual(offered({}, name, INPUT, answer), answer, "nothing is hidden");
      for (const { tool } of stepsOf(answer).filter((step) => step.tool !== name)) {
        const restrictions: Restriction[] = [
          { tools: { denylist: [tool] } },
          { tools: { allowlist: [name] } },
          { auth: { allowed_tools: [name] } },
        ];
        for (const restriction of restrictions) {
          const left = offered(restriction, name, INPUT, answer);
          assert.doesNotMatch(JSON.stringify(left), new RegExp(`\\b${tool}\\b`));
          assert.ok(stepsOf(left).length > 0);
        }
      }
    }
  });
}

const STEP = (tool: string, hint: JsonObject = {}): JsonObject => ({ tool, arguments_hint: hint, why: "Why" });
const STALE = [STEP("scenario_history", { namespace_id: 2 }), STEP("scenario_submit", { namespace_id: 2 })];

/** Results with next steps at each of their paths. */
const RESULTS: readonly (readonly [what: string, make: (next: JsonValue) => JsonObject])[] = [
  ["stale", (next) => ({ outcome: { outcome: "stale", result: { revision: 1 }, next } })],
  ["another refusal", (next) => ({ outcome: { outcome: "run_complete", result: { run_status: "complete", next } } })],
  ["an export", (next) => ({ publication: { outcome: "stale", result: { next } } })],
];

for (const [what, make] of RESULTS) {
  for (const asText of [false, true]) {
    Deno.test(`offerSteps() filters ${what}${asText ? ", as text" : ""}`, () => {
      const result = make(STALE);
      const answer: ToolAnswer = { ok: true, result, ...asText ? { text: JSON.stringify(result) } : {} };
      const left = offered({ tools: { denylist: ["scenario_history"] } }, "scenario_submit", {}, answer);
      assert.deepEqual(left.ok && left.result, make(STALE.slice(1)));
      if (left.ok && left.text !== undefined) assert.deepEqual(JSON.parse(left.text), make(STALE.slice(1)));
      assert.equal(offered({ tools: { denylist: ["providers_list"] } }, "scenario_submit", {}, answer).ok, true);
    });
  }
}

/** A step, the hidden tools, then the step in its place. */
const SUBSTITUTED: readonly (readonly [step: JsonObject, hidden: readonly string[], shown: string])[] = [
  [STEP("scenario_open_stage", { stage_id: "a", operation_id: FRESH_ID }), [], "scenario_open_stage operation_id"],
  [
    STEP("scenario_open_stage", { stage_id: "a", operation_id: FRESH_ID }),
    ["scenario_open_stage"],
    "scenario_next request_id",
  ],
  [
    STEP("scenario_evaluate_stage", { stage_id: "a", operation_id: FRESH_ID }),
    ["scenario_evaluate_stage"],
    "scenario_next request_id",
  ],
  [
    STEP("scenario_evaluate_stage", { stage_id: "a", operation_id: "0".repeat(32) }),
    ["scenario_evaluate_stage"],
    "scenario_submit",
  ],
  [
    STEP("scenario_open_stage", { stage_id: "a", operation_id: FRESH_ID }),
    ["scenario_open_stage", "scenario_next"],
    "scenario_submit",
  ],
  [STEP("scenario_history", { stage_id: "a", operation_id: FRESH_ID }), ["scenario_history"], "scenario_submit"],
];

for (const [step, denylist, shown] of SUBSTITUTED) {
  Deno.test(`offerSteps() shows ${shown} for ${step["tool"]} while ${denylist.join(" and ") || "nothing"} is hidden`, () => {
    const answer: ToolAnswer = { ok: false, error: { ...toolError("run_not_found", "No"), details: { next: [step] } } };
    const [left] = stepsOf(offered({ tools: { denylist } }, "scenario_submit", {}, answer));
    const id = ["operation_id", "request_id"].filter((name) => name in (left?.arguments_hint ?? {}));
    assert.equal([left?.tool, ...id].join(" "), shown);
  });
}

Deno.test("offerSteps() keeps values of callers unchanged", () => {
  const payload = { next: [STEP("scenario_history")] };
  const answer: ToolAnswer = {
    ok: true,
    result: { outcome: { outcome: "accepted", result: { packets: [{ payload }] } } },
  };
  assert.deepEqual(offered({ tools: { denylist: ["scenario_history"] } }, "scenario_open_stage", {}, answer), answer);
});

Deno.test("offerSteps() removes steps that the roles of a caller do not grant in their namespace", () => {
  const role = { name: "NamespaceReader", tenant_id: null, namespace_id: 2 };
  const principal = { ...LOCAL, roles: [role] };
  const auth = { principals: [{ subject: LOCAL.subject, policy_class: null, roles: [role] }] };
  const reads = STEP("scenario_status", { namespace_id: 2 });
  const steps = [reads, STEP("scenario_submit", { namespace_id: 2 }), STEP("scenario_status", { namespace_id: 3 })];
  const answer: ToolAnswer = { ok: false, error: { ...toolError("run_not_found", "No"), details: { next: steps } } };
  const left = offered({ auth }, "scenario_status", { namespace_id: 2 }, answer, { ...CALL, principal });
  assert.deepEqual(stepsOf(left), [reads]);
  const alone = { ...answer, error: { ...answer.error, details: { next: steps.slice(1) } } } as ToolAnswer;
  const [instead] = stepsOf(offered({ auth }, "scenario_status", { namespace_id: 2 }, alone, { ...CALL, principal }));
  assert.deepEqual([instead?.tool, instead?.arguments_hint], ["scenario_status", { namespace_id: 2 }]);
  assert.match(instead?.why ?? "", /ask the operator/);
});
