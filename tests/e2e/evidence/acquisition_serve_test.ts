import assert from "node:assert/strict";
import type { JsonObject } from "@/canonical/json.ts";
import {
  acquiredCondition,
  attemptOf,
  binding,
  evaluate,
  oneStage,
  openAnother,
  openRun,
  SAMPLE,
  serveGate,
  startGate,
} from "./acquisition_serve.ts";
import { inFolder } from "../gate_command.ts";

const STORES = `
[run_state_store]
type = "sqlite"
path = "gate.db"

[schema_registry]
type = "sqlite"
path = "gate.db"
`;

const PROVIDERS = `
[[providers]]
name = "time"
type = "builtin"

[[providers]]
name = "env"
type = "builtin"
config = { overrides = { BRANCH = "main" } }

[[providers]]
name = "json"
type = "builtin"
config = { root = "reports", root_id = "reports" }

[[providers]]
name = "tickets"
type = "mcp"
command = ["${Deno.execPath()}", "run", "--no-prompt", "--allow-read=${SAMPLE}", "${SAMPLE}provider.ts"]
capabilities_path = "${SAMPLE}contract.json"
timeouts = { request_timeout_ms = 20000 }
`;

const TEXT = { domain: "String", minimum_bytes: 0, maximum_bytes: 100 };
const equals = (value: JsonObject["value"], value_type: string): JsonObject => ({
  predicate: "Equals",
  expected: { value: value ?? null, value_type },
});

const CONDITIONS = [
  acquiredCondition("on_main", TEXT, equals("main", "String")),
  acquiredCondition("no_failures", { domain: "Integer" }, equals(0, "Integer")),
  acquiredCondition("no_tickets", { domain: "Integer", minimum: 0 }, equals(0, "Integer")),
  acquiredCondition("window", { domain: "Boolean" }, equals(true, "Boolean")),
  acquiredCondition("no_hold", TEXT, { predicate: "NotExists" }),
];

const BINDINGS = [
  binding("branch", "on_main", "env", "get", { key: "BRANCH" }),
  binding("hold", "no_hold", "env", "get", { key: "HOLD" }),
  binding("open-tickets", "no_tickets", "tickets", "open_count", { project: "release" }),
  binding("report", "no_failures", "json", "path", { file: "report.json", jsonpath: "$.failed" }),
  binding("window", "window", "time", "after", { timestamp: "2020-01-01T00:00:00Z" }),
];

async function withReports(body: (folder: string) => Promise<void>): Promise<void> {
  await inFolder(async (folder) => {
    await Deno.mkdir(`${folder}/reports`);
    await Deno.writeTextFile(`${folder}/reports/report.json`, '{"failed":0}');
    await body(folder);
  });
}

Deno.test("gate serve acquires its own evidence from built-in providers and a process", () =>
  withReports(async (folder) => {
    await using gate = await serveGate(folder, STORES + PROVIDERS);
    const open = await openRun(gate, oneStage(CONDITIONS, BINDINGS));
    await Deno.writeTextFile(`${folder}/reports/report.json`, '{"failed":3}');
    const failing = await evaluate(gate, open);
    assert.deepEqual(attemptOf(failing.result), {
      outcome: "false",
      items: {
        branch: "qualified",
        hold: "qualified",
        "open-tickets": "qualified",
        report: "qualified",
        window: "qualified",
      },
    });
    await Deno.writeTextFile(`${folder}/reports/report.json`, "{}");
    const missing = await evaluate(gate, open);
    assert.deepEqual(attemptOf(missing.result).items["report"], "jsonpath_not_found");
    assert.equal(attemptOf(missing.result).outcome, "unknown");
    const narrowed = await evaluate(gate, open, { local_acquisition: [{ binding_id: "branch" }] });
    assert.deepEqual(attemptOf(narrowed.result), { outcome: "unknown", items: { branch: "qualified" } });
    const asserted = await evaluate(gate, open, {
      local_acquisition: [{ binding_id: "window", trigger_time: { kind: "unix_millis", value: 2_000_000_000_000 } }],
    });
    assert.deepEqual(attemptOf(asserted.result).items, { window: "lane" });
    await Deno.writeTextFile(`${folder}/reports/report.json`, '{"failed":0}');
    const passed = await evaluate(gate, open);
    assert.deepEqual([attemptOf(passed.result).outcome, passed.result["run_status"]], ["true", "complete"]);
  }));

Deno.test("gate serve binds a run to contracts, and queries no provider whose contract changed", () =>
  withReports(async (folder) => {
    const contract = `${folder}/contract.json`;
    await Deno.copyFile(`${SAMPLE}contract.json`, contract);
    const toml = STORES +
      PROVIDERS.replace(`capabilities_path = "${SAMPLE}contract.json"`, `capabilities_path = "contract.json"`);
    const scenario = oneStage([CONDITIONS[2] as JsonObject], [BINDINGS[2] as JsonObject]);
    let law = "";
    let again;
    {
      await using gate = await serveGate(folder, toml);
      again = await openRun(gate, scenario);
      law = again.law;
      const history = await gate.call("scenario_history", again.run) as { records: { record: { body: JsonObject } }[] };
      const contracts = history.records[0]?.record.body["contracts"] as JsonObject[];
      assert.deepEqual(contracts.map(({ provider_id }) => provider_id), ["tickets"]);
    }
    await Deno.writeTextFile(contract, (await Deno.readTextFile(contract)).replace("How many", "Count how many"));
    await using gate = await startGate(folder);
    const refused = await evaluate(gate, again);
    assert.equal(refused.outcome, "acquisition_failed");
    assert.deepEqual(refused.result["failures"], [{
      binding_id: "open-tickets",
      code: "contract_changed",
      message: 'The contract of provider "tickets" is not the one that the run began with',
      retryable: false,
    }]);
    const status = await gate.call("scenario_status", again.run);
    assert.deepEqual(status["accepted_head"], again.head);
    const fresh = await openAnother(gate, law, 2);
    assert.equal(attemptOf((await evaluate(gate, fresh)).result).outcome, "true");
  }));

/** Invalid bindings, and the code of the refusal. */
const REFUSED: readonly [string, JsonObject, string][] = [
  ["an unknown provider", { provider_id: "nobody" }, "provider_not_found"],
  ["an unknown check", { check_id: "nothing" }, "check_not_found"],
  ["no params where they are required", { params: undefined as never }, "params_invalid"],
  ["params that do not fit", { params: { project: "" } }, "params_invalid"],
  ["an unknown param", { params: { project: "a", x: 1 } }, "params_invalid"],
];

Deno.test("scenario_define refuses bindings that no provider can serve", () =>
  withReports(async (folder) => {
    await using gate = await serveGate(folder, STORES + PROVIDERS);
    for (const [name, change, code] of REFUSED) {
      const { params, ...rest } = { ...BINDINGS[2], ...change } as JsonObject;
      const bound = params === undefined ? rest : { ...rest, params };
      const refused = await gate.call("scenario_define", { spec: oneStage([CONDITIONS[2] as JsonObject], [bound]) });
      const details = (refused["error"] as { details?: { refusals: JsonObject[] } } | undefined)?.details;
      assert.deepEqual(details?.refusals.map((refusal) => refusal["code"]), [code], name);
    }
  }));

Deno.test("evidence_query discloses raw values only if operator and provider entry allow it", () =>
  withReports(async (folder) => {
    const rows: readonly [evidence: string, allowRaw: boolean, shown: boolean][] = [
      ["", true, false],
      ["allow_raw_values = true", false, false],
      ["allow_raw_values = true", true, true],
      ["allow_raw_values = true\nrequire_provider_opt_in = false", false, true],
      ["require_provider_opt_in = false", true, false],
    ];
    for (const [evidence, allowRaw, shown] of rows) {
      const toml = `[evidence]\n${evidence}\n${
        PROVIDERS.replace('root_id = "reports" }', `$&\nallow_raw = ${allowRaw}`)
      }`;
      await using gate = await serveGate(folder, toml);
      const answer = await gate.call("evidence_query", {
        query: { provider_id: "json", check_id: "path", params: { file: "report.json" } },
        context: { namespace_id: 2, trigger_time: { kind: "unix_millis", value: 1 } },
      });
      const result = answer["result"] as JsonObject;
      assert.deepEqual(result["value"], shown ? { kind: "json", value: { failed: 0 } } : null);
      assert.equal(result["evidence_hash"] !== null, shown);
      assert.equal(result["content_type"], shown ? "application/json" : null);
      assert.ok(result["evidence_anchor"] !== null && result["error"] === null);
      assert.equal(JSON.stringify(answer).includes("failed"), shown);
    }
  }));

Deno.test("provider_discovery hides providers from every tool that lists them", () =>
  withReports(async (folder) => {
    const toml = `[provider_discovery]\nallowlist = ["json", "env", "tickets"]\ndenylist = ["env"]\n${PROVIDERS}`;
    await using gate = await serveGate(folder, toml);
    const listed = await gate.call("providers_list", {});
    assert.deepEqual(listed, {
      providers: [
        { provider_id: "json", transport: "builtin", checks: ["path"] },
        { provider_id: "tickets", transport: "mcp", checks: ["open_count", "status"] },
      ],
    });
    for (const provider_id of ["env", "time", "nobody"]) {
      for (
        const [tool, input] of [["provider_contract_get", {}], ["provider_check_schema_get", {
          check_id: "get",
        }]] as const
      ) {
        const refused = await gate.call(tool, { provider_id, ...input });
        assert.equal((refused["error"] as JsonObject)["code"], "provider_not_found");
      }
    }
    const contract = await gate.call("provider_contract_get", { provider_id: "tickets" });
    const file = JSON.parse(await Deno.readTextFile(`${SAMPLE}contract.json`));
    assert.deepEqual([contract["contract"], contract["source"], contract["version"]], [file, "file", null]);
    const check = await gate.call("provider_check_schema_get", { provider_id: "tickets", check_id: "status" });
    assert.deepEqual(check["result_schema"], file.checks[1].result_schema);
    assert.deepEqual(check["contract_hash"], contract["contract_hash"]);
  }));

Deno.test("provider_discovery.max_response_bytes bounds each answer", () =>
  withReports(async (folder) => {
    await using gate = await serveGate(folder, `[provider_discovery]\nmax_response_bytes = 300\n${PROVIDERS}`);
    assert.ok("providers" in await gate.call("providers_list", {}));
    const refused = await gate.call("provider_contract_get", { provider_id: "tickets" });
    assert.equal((refused["error"] as JsonObject)["code"], "response_too_large");
  }));
