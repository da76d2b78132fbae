import assert from "node:assert/strict";
import { ROLE_NAMES } from "@/access/roles.ts";
import { caller, role, withWorld, type World } from "./auth_world.ts";

/** Each tool of the build by its group; those after the bar name no namespace. */
const GROUPS: Readonly<Record<string, string>> = {
  Authoring:
    "scenario_define schemas_register typed_providers_import typed_providers_register typed_providers_activate " +
    "typed_providers_deprecate",
  Run: "scenario_start scenario_open_stage scenario_evaluate_stage scenario_precheck_stage scenario_submit " +
    "scenario_next scenario_trigger evidence_query precheck",
  Read: "scenario_status scenario_history scenarios_list scenario_resolve_creation scenario_resolve_mutation " +
    "schemas_list schemas_get runs_list scenarios_get scenario_questions typed_providers_list typed_providers_get",
  Audit: "runpack_export",
  Anywhere:
    "runpack_verify providers_list provider_contract_get provider_check_schema_get gate_docs_search scenario_apply",
};

const ALL = "Authoring Run Read Audit Anywhere";

/** Role, policy class, then the groups that it may use, and tools beyond them. */
const ROWS: readonly (readonly [name: string, policyClass: string | null, may: string])[] = [
  ["TenantAdmin", null, ALL],
  ["TenantAdmin", "prod", ALL],
  ["TenantAdmin", "scratch", ALL],
  ["NamespaceOwner", null, ALL],
  ["NamespaceOwner", "project", ALL],
  ["NamespaceAdmin", null, ALL],
  ["NamespaceAdmin", "unheard-of", ALL],
  ["NamespaceWriter", null, "Run Read Anywhere"],
  ["NamespaceWriter", "scratch", "Run Read Anywhere"],
  ["NamespaceReader", null, "Read Anywhere"],
  ["NamespaceReader", "prod", "Read Anywhere"],
  ["SchemaManager", null, ""],
  ["SchemaManager", "prod", ""],
  ["SchemaManager", "unheard-of", ""],
  ["SchemaManager", "project", "Read Anywhere schemas_register"],
  ["SchemaManager", "Scratch", "Read Anywhere schemas_register"],
  ["AgentSandbox", null, ""],
  ["AgentSandbox", "prod", ""],
  ["AgentSandbox", "project", ""],
  ["AgentSandbox", "scratch", "Run Read Anywhere"],
  ["Approver", null, "Read Anywhere"],
  ["Approver", "prod", "Read Anywhere"],
  ["NamespaceDeleteAdmin", null, "Read Anywhere"],
  ["NamespaceDeleteAdmin", "scratch", "Read Anywhere"],
  ["Curator", "scratch", ""],
  ["tenantadmin", "scratch", ""],
];

/** The tools that a principal is not turned away from for its roles. */
async function allowed({ ask, calls }: World, principal: Parameters<World["ask"]>[2]): Promise<string[]> {
  const names: string[] = [];
  for (const [tool, input] of calls) {
    const answer = JSON.parse(await ask(tool, input, principal)) as { readonly error?: { readonly code: string } };
    assert.ok(!("edge" in answer), `${tool}: a refusal is a result that a model can read`);
    if (answer.error?.code !== "role_refused") names.push(tool);
  }
  return names.sort();
}

function expected(may: string): string[] {
  const tools = may.split(" ").filter((word) => word !== "");
  return tools.flatMap((word) => GROUPS[word]?.split(" ") ?? [word]).sort();
}

Deno.test("the matrix has every role and every tool", () =>
  withWorld({ filled: false }, async ({ calls, dispatcher }) => {
    assert.deepEqual(ROLE_NAMES.filter((name) => !ROWS.some(([row]) => row === name)), []);
    const tools = (await dispatcher.listing()).map(({ name }) => name).sort();
    assert.deepEqual(tools, [...calls.keys()].sort());
    assert.deepEqual(tools, expected(ALL));
  }));

Deno.test("roles grant exactly the tools of their groups, in their namespace alone", async (test) => {
  await withWorld({ filled: false, acl: { mode: "custom", default: "allow" } }, async (world) => {
    for (const [name, policyClass, may] of ROWS) {
      await test.step(`${name} in class ${policyClass}: ${may === "" ? "nothing" : may}`, async () => {
        assert.deepEqual(await allowed(world, caller("bearer_token", [role(name, 2)], policyClass)), expected(may));
        const elsewhere = await allowed(world, caller("bearer_token", [role(name, 3)], policyClass));
        assert.deepEqual(elsewhere, may === "" ? [] : expected("Anywhere"), "a role of another namespace");
      });
    }
  });
});

Deno.test("without principals in the configuration every admitted caller may use every tool", () =>
  withWorld({ filled: false, roles: false }, async (world) => {
    for (const method of ["local", "bearer_token", "mtls"] as const) {
      assert.deepEqual(await allowed(world, caller(method)), expected(ALL));
    }
  }));

Deno.test("the error of a local caller names the setting, that of a remote one the missing permission", () =>
  withWorld({ filled: false }, async ({ ask, calls }) => {
    for (const [tool, input] of calls) {
      assert.match(await ask(tool, input, caller("local")), /server\.auth\.principals/, tool);
      const { error } = JSON.parse(await ask(tool, input, caller("mtls"))) as { error: Record<string, unknown> };
      assert.deepEqual([error["code"], error["kind"], error["retryable"]], ["role_refused", "unauthorized", false]);
      const text = `^Cannot use ${tool}( in namespace 2)?: none of the caller's roles grants it$`;
      assert.match(String(error["message"]), new RegExp(text));
    }
  }));
