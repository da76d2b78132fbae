import assert from "node:assert/strict";
import type { Principal } from "@/access/types.ts";
import type { JsonObject } from "@/canonical/json.ts";
import type { GateConfig } from "@/config/types.ts";
import { ADMIN, caller, role, withWorld, type World, type WorldOptions } from "./auth_world.ts";

const AUTHORIZED: Principal = caller("bearer_token", [role("TenantAdmin")]);

/** Who is turned away, and why; then how a tool about a namespace says so, and how one that has an outcome for it does. */
const DENIED: readonly (readonly [
  what: string,
  principal: Principal,
  options: Omit<WorldOptions, "filled">,
  answer: RegExp,
  outcome: RegExp | null,
])[] = [
  [
    "a remote caller without a role",
    caller("bearer_token"),
    {},
    /"code":"role_refused".*none of the caller's roles grants it/,
    null,
  ],
  ["a local caller without a role", caller("local"), {}, /"code":"role_refused".*"message":"Cannot use /, null],
  [
    "an owner of another namespace",
    caller("mtls", [role("NamespaceOwner", 3)]),
    {},
    /"code":"role_refused".*none of the caller's roles grants it/,
    null,
  ],
  [
    "a role that counts for nothing in prod",
    caller("mtls", [role("AgentSandbox")], "prod"),
    {},
    /"code":"role_refused".*none of the caller's roles grants it/,
    null,
  ],
  [
    "an administrator of a namespace that the authority does not know",
    AUTHORIZED,
    { authority: { verdict: "refused", reason: "authority_not_found" } },
    /"code":"namespace_refused".*"Cannot do this: the caller is not authorized"/,
    /"outcome":"unauthorized"/,
  ],
  [
    "an administrator while the authority is out",
    AUTHORIZED,
    { authority: { verdict: "unavailable", reason: "authority_status" } },
    /"code":"namespace_authority_unavailable","kind":"unavailable".*"retryable":true/,
    null,
  ],
  [
    "an administrator of another tenant in the default namespace",
    caller("mtls", [role("TenantAdmin", null, 9)]),
    { namespaceId: 1, namespace: { allow_default: true, default_tenants: [1] } },
    /"code":"namespace_refused".*"Cannot do this: the caller is not authorized"/,
    /"outcome":"unauthorized"/,
  ],
];

/** Tools that name no namespace, of which a denial of one says nothing. */
const ANYWHERE = new Set([
  "providers_list",
  "provider_contract_get",
  "provider_check_schema_get",
  "gate_docs_search",
]);

/** Tools whose answer has an outcome for a namespace that is refused. */
const WITH_OUTCOME = new Set(["scenario_resolve_creation", "scenario_resolve_mutation", "runpack_export"]);

type Calls = World["calls"];

/** What a principal is answered to some calls, by tool. */
async function answersIn(options: WorldOptions, principal: Principal, calls: Calls): Promise<Map<string, string>> {
  const answers = new Map<string, string>();
  await withWorld(options, async ({ ask }) => {
    for (const [tool, input] of calls) answers.set(tool, await ask(tool, input, principal));
  });
  return answers;
}

/** What a principal is answered to the same calls where the things are, and where they are not. */
async function answersOf(
  options: Omit<WorldOptions, "filled">,
  principal: Principal,
): Promise<{ readonly there: Map<string, string>; readonly missing: Map<string, string> }> {
  let calls: Calls = new Map();
  const there = new Map<string, string>();
  await withWorld({ ...options, filled: true }, async (world) => {
    calls = world.calls;
    for (const [tool, input] of calls) there.set(tool, await world.ask(tool, input, principal));
  });
  return { there, missing: await answersIn({ ...options, filled: false }, principal, calls) };
}

for (const [what, principal, options, answer, outcome] of DENIED) {
  Deno.test(`${what} does not learn what exists`, async () => {
    const { there, missing } = await answersOf(options, principal);
    assert.equal(there.size, missing.size);
    for (const [tool, given] of there) {
      if (ANYWHERE.has(tool)) continue;
      assert.equal(given, missing.get(tool), `${tool} answers the same, byte for byte`);
      if (tool === "runpack_verify") continue;
      assert.match(given, WITH_OUTCOME.has(tool) && outcome !== null ? outcome : answer, tool);
    }
  });
}

Deno.test("a runpack of a namespace that is not the caller's answers as one that is missing", async () => {
  const reader = caller("mtls", [role("NamespaceReader", 3)]);
  const { there, missing } = await answersOf({}, reader);
  assert.match(there.get("runpack_verify") ?? "", /"code":"runpack_not_found"/);
  assert.equal(there.get("runpack_verify"), missing.get("runpack_verify"));
});

type Rule = GateConfig["schema_registry"]["acl"]["rules"][number];

function rule(effect: Rule["effect"], subject: string): Rule {
  return { effect, actions: [], namespaces: [], tenants: [], policy_classes: [], roles: [], subjects: [subject] };
}

const LET_IN = rule("allow", ADMIN.subject);

/** Who may not touch the schema registry. */
const REGISTRY: readonly (readonly [what: string, acl: WorldOptions["acl"], principal: Principal, roles: boolean])[] = [
  ["the built-in list", {}, caller("bearer_token"), false],
  ["a rule", { mode: "custom", default: "allow", rules: [LET_IN, rule("deny", AUTHORIZED.subject)] }, AUTHORIZED, true],
  ["the default of the rules", { mode: "custom", default: "deny", rules: [LET_IN] }, AUTHORIZED, true],
];

for (const [what, acl, principal, roles] of REGISTRY) {
  Deno.test(`a caller rejected by ${what} does not learn the content of the schema registry`, async () => {
    const { there, missing } = await answersOf({ roles, acl: { allow_local_only: false, ...acl } }, principal);
    for (const tool of ["schemas_register", "schemas_list", "schemas_get"]) {
      const given = there.get(tool) ?? "";
      assert.match(given, /"code":"registry_refused".*"Cannot do this: the caller is not authorized"/, tool);
      assert.equal(given, missing.get(tool), tool);
    }
  });
}

/** Arguments that no tool takes, each beside the namespace that they name. */
const UNREADABLE: readonly JsonObject[] = [
  {},
  { namespace_id: "2" },
  { namespace_id: 2, surprise: true },
  { spec: 7 },
  { record: { namespace_id: 2 }, context: [] },
];

/** Code and message of a refusal, without the namespace that the call itself named. */
function unplaced(answer: string): string {
  const { error } = JSON.parse(answer) as { readonly error: { readonly code: string; readonly message: string } };
  return `${error.code}: ${error.message.replace(/ in namespace \d+/, "")}`;
}

Deno.test("a caller without permission is rejected before its arguments are read or logged", () =>
  withWorld({ filled: true }, async ({ ask, calls, events }) => {
    const powerless = caller("bearer_token");
    const reader = caller("bearer_token", [role("NamespaceReader", 2)]);
    for (const [tool, input] of calls) {
      const denial = await ask(tool, input, powerless);
      for (const arguments_ of UNREADABLE) {
        events.length = 0;
        assert.equal(unplaced(await ask(tool, arguments_, powerless)), unplaced(denial), tool);
        const lines = events.map(({ kind, outcome, reason }) => [kind, outcome, reason]);
        assert.deepEqual(lines, [["authorization", "refused", "no_role_grants"]], tool);
        const { namespace_id, ...rest } = events[0]?.details ?? {};
        assert.ok(namespace_id === undefined || namespace_id === 2);
        assert.deepEqual(rest, { auth_method: "bearer_token", error_code: "role_refused" });
      }
    }
    const reads = await Promise.all(UNREADABLE.map((given) => ask("scenario_status", given, reader)));
    for (const answer of reads) assert.match(answer, /"code":"invalid_input"/, "a reader may read, and gets the fault");
    const writes = await Promise.all(UNREADABLE.map((given) => ask("scenario_submit", given, reader)));
    for (const answer of writes) assert.match(answer, /"code":"role_refused"/);
  }));
