import assert from "node:assert/strict";
import type { ToolName as KnownTool } from "../../config/tool_names.ts";
import type { AuthConfig, ToolsConfig } from "../../config/types.ts";
import type { Call, Tool, ToolAnswer } from "../../tools/framework/types.ts";
import { createDispatcher, type Dispatcher } from "./dispatcher.ts";

const LOCAL: Call = {
  principal: { subject: "stdio", authMethod: "local", policyClass: null, roles: [], tenants: [1] },
  signal: new AbortController().signal,
  correlationId: "gate-test-1",
};
const REMOTE: Call = { ...LOCAL, principal: { ...LOCAL.principal, subject: "token:0", authMethod: "bearer_token" } };

const NAMES = ["scenario_status", "scenario_define", "schemas_get"] as const;

function tool(name: string, handle: () => Promise<ToolAnswer>): Tool {
  const hints = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };
  return {
    name,
    title: name,
    description: name,
    hints,
    group: "Read",
    audit: "request",
    inputSchema: {},
    outputSchema: {},
    handle,
  };
}

interface Setup {
  readonly tools?: Partial<ToolsConfig>;
  readonly allowed?: readonly KnownTool[];
  readonly handle?: () => Promise<ToolAnswer>;
  readonly load?: () => Promise<Map<string, Tool>>;
  readonly logged?: string[];
}

function dispatcher(setup: Setup): Dispatcher {
  const handle = setup.handle ?? (() => Promise.resolve({ ok: true, result: {} } as const));
  const auth: AuthConfig = {
    mode: "local_only",
    bearer_tokens: [],
    mtls_subjects: [],
    allowed_tools: setup.allowed ?? [],
    principals: [],
  };
  return createDispatcher({
    loadTools: setup.load ?? (() => Promise.resolve(new Map(NAMES.map((name) => [name, tool(name, handle)])))),
    tools: { mode: "filter", allowlist: [], denylist: [], ...setup.tools },
    auth,
    log: (level, message, fields) => void setup.logged?.push(JSON.stringify([level, message, fields])),
  });
}

type Row = readonly [what: string, setup: Setup, listed: string, define: string, status: string];

const ALL = "scenario_status scenario_define schemas_get";
const UNKNOWN = "invalid_params $.params.name";

const VISIBILITY: readonly Row[] = [
  ["no rule", {}, ALL, "called", "called"],
  ["an allowlist", { tools: { allowlist: ["scenario_define"] } }, "scenario_define", "called", UNKNOWN],
  ["a denylist", { tools: { denylist: ["scenario_define"] } }, "scenario_status schemas_get", UNKNOWN, "called"],
  [
    "both: the denylist wins",
    { tools: { allowlist: ["scenario_define"], denylist: ["scenario_define"] } },
    "",
    UNKNOWN,
    UNKNOWN,
  ],
  ["passthrough", { tools: { mode: "passthrough", denylist: ["scenario_define"] } }, ALL, UNKNOWN, "called"],
  ["an allowlist of a tool that is not built", { tools: { allowlist: ["precheck"] } }, "", UNKNOWN, UNKNOWN],
  ["allowed_tools", { allowed: ["scenario_define"] }, ALL, "called", "tool_not_allowed"],
  [
    "allowed_tools of a hidden tool",
    { allowed: ["scenario_define"], tools: { denylist: ["scenario_define"] } },
    "scenario_status schemas_get",
    UNKNOWN,
    "tool_not_allowed",
  ],
];

async function outcomeOf(under: Dispatcher, name: string, call: Call = LOCAL): Promise<string> {
  const outcome = await under.call(name, {}, call);
  if (!outcome.ok) return `${outcome.error.kind} ${outcome.error.path}`;
  return outcome.answer.ok ? "called" : outcome.answer.error.code;
}

for (const [what, setup, listed, define, status] of VISIBILITY) {
  Deno.test(`listing() and call() follow ${what}`, async () => {
    const under = dispatcher(setup);
    assert.equal((await under.listing()).map((each) => each.name).join(" "), listed);
    assert.equal(await outcomeOf(under, "scenario_define"), define);
    assert.equal(await outcomeOf(under, "scenario_status"), status);
  });
}

for (const name of ["nothing", "", "__proto__", "constructor", "toString"]) {
  Deno.test(`call() does not know the tool "${name}"`, async () => {
    assert.equal(await outcomeOf(dispatcher({}), name), UNKNOWN);
    assert.equal(await outcomeOf(dispatcher({ allowed: ["schemas_get"] }), name), UNKNOWN);
  });
}

Deno.test("call() names the nearest tools to an unknown one, of those alone that may be called", async () => {
  const hint = async (setup: Setup, name: string): Promise<string> => {
    const outcome = await dispatcher(setup).call(name, {}, LOCAL);
    return outcome.ok ? "called" : outcome.error.message.replace(/.*tools\/list names the tools/, "");
  };
  assert.equal(await hint({}, "scenario_statsu"), '; did you mean "scenario_status"?');
  assert.equal(await hint({}, "scenario_s"), '; did you mean "scenario_status"?');
  assert.equal(await hint({}, "scenario"), '; did you mean "scenario_define" or "scenario_status"?');
  assert.equal(await hint({ tools: { denylist: ["scenario_status"] } }, "scenario_statsu"), "");
  assert.equal(await hint({ tools: { denylist: ["scenario_status"] } }, "scenario_status"), "");
  assert.equal(await hint({ allowed: ["schemas_get"] }, "scenario_statsu"), "");
});

Deno.test("call() names the setting to a local caller, and to a remote one only that it may not", async () => {
  const under = dispatcher({ allowed: ["schemas_get"] });
  const rows = [
    [LOCAL, 'Cannot call "scenario_define": server.auth.allowed_tools does not list it'],
    [REMOTE, 'Cannot call "scenario_define": it is not among the tools that callers may use'],
  ] as const;
  for (const [call, message] of rows) {
    const error = { code: "tool_not_allowed", kind: "unauthorized", message, retryable: false };
    assert.deepEqual(await under.call("scenario_define", {}, call), { ok: true, answer: { ok: false, error } });
  }
});

const THROWN: readonly (readonly [what: string, setup: Setup])[] = [
  ["a rejection", { handle: () => Promise.reject(new Error("secret")) }],
  ["a throw", {
    handle: () => {
      throw new Error("secret");
    },
  }],
  ["a rejection with no error", { handle: () => Promise.reject("secret") }],
  ["a table that cannot be loaded", { load: () => Promise.reject(new Error("secret")) }],
];

for (const [what, setup] of THROWN) {
  Deno.test(`call() keeps the text of ${what} to the log`, async () => {
    const logged: string[] = [];
    const outcome = await dispatcher({ ...setup, logged }).call("schemas_get", {}, LOCAL);
    const error = { kind: "internal", message: "Internal error", correlationId: "gate-test-1" };
    assert.deepEqual(outcome, { ok: false, error });
    assert.equal(logged.length, 1);
    assert.match(logged[0] ?? "", /secret.*gate-test-1|gate-test-1.*secret/);
  });
}

Deno.test("loadTools is called once, and not before it is needed", async () => {
  let loads = 0;
  const under = dispatcher({
    load: () => {
      loads++;
      return Promise.resolve(new Map());
    },
  });
  assert.equal(loads, 0);
  await Promise.all([under.listing(), under.listing(), under.call("schemas_get", {}, LOCAL)]);
  assert.equal(loads, 1);
});

Deno.test("call() answers with an internal error where the audit log cannot be opened", async () => {
  const logged: string[] = [];
  const under = createDispatcher({
    loadTools: () => Promise.resolve(new Map()),
    tools: { mode: "filter", allowlist: [], denylist: [] },
    auth: null,
    log: (_level, message) => void logged.push(message),
    loadCallAudit: () => Promise.reject(new Error("no file")),
  });
  assert.equal(await outcomeOf(under, "scenario_define"), "internal undefined");
  assert.equal(logged.length, 1);
});

Deno.test("call() logs that a store is full", async () => {
  const logged: string[] = [];
  const error = { code: "store_full", kind: "unavailable", message: "The disk is full", retryable: false } as const;
  const under = dispatcher({ handle: () => Promise.resolve({ ok: false, error }), logged });
  for (let call = 0; call < 3; call++) await under.call("scenario_define", {}, LOCAL);
  assert.deepEqual(logged, [JSON.stringify(["error", "The disk is full", { code: "store_full" }])]);
});
