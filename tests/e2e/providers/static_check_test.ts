/** A static failure of a check is the outcome of running it. */

import assert from "node:assert/strict";
import { join } from "node:path";
import type { JsonValue } from "../../../src/canonical/json.ts";
import { findStaticFailure } from "../../../src/evidence/builtin/static_check.ts";
import { askProvider, entryOf, outcomeOf, type ProviderPlan, withFolder, withProvider } from "./fixtures.ts";
import { leastSpec } from "../../simulation/kernel/law_specs.ts";
import { gate } from "../gate_command.ts";

/** Provider, check, params, and the code of the static failure; null where the check can succeed. */
type Row = readonly [plan: ProviderPlan, check: string, params: JsonValue | undefined, code: string | null];

function rowsIn(root: string): readonly Row[] {
  const json: ProviderPlan = { name: "json", config: { root, root_id: "r" } };
  const open = { allow_http: true, allowed_hosts: ["127.0.0.1"] };
  return [
    [{ name: "time" }, "after", { timestamp: "tomorrow" }, "params_invalid"],
    [{ name: "time" }, "after", { timestamp: "2024-06-01" }, "params_invalid"],
    [{ name: "time" }, "before", { timestamp: "2024-06-01T00:00:00Z" }, null],
    [{ name: "time" }, "before", { timestamp: 5 }, null],
    [{ name: "time" }, "now", undefined, null],
    [{ name: "env" }, "get", { key: "GATE_X" }, "key_blocked"],
    [{ name: "env", config: { allowlist: ["A"] } }, "get", { key: "B" }, "key_blocked"],
    [{ name: "env", config: { max_key_bytes: 2 } }, "get", { key: "ABC" }, "key_too_long"],
    [{ name: "env", config: { overrides: { A: "1" } } }, "get", { key: "A" }, null],
    [json, "path", { file: "/etc/passwd" }, "absolute_path_forbidden"],
    [json, "path", { file: "../a.json" }, "path_outside_root"],
    [json, "path", { file: "b/../a.json" }, null],
    [json, "path", { file: "a.json", jsonpath: "$[" }, "invalid_jsonpath"],
    [json, "path", { file: "a.json", jsonpath: "$.none" }, null],
    [json, "path", { file: "none.json" }, null],
    [{ name: "http" }, "status", { url: "ftp://x.example" }, "destination_refused"],
    [{ name: "http" }, "status", { url: "http://x.example" }, "destination_refused"],
    [{ name: "http" }, "status", { url: "x.example" }, "params_invalid"],
    [{ name: "http" }, "body_hash", { url: "https://127.0.0.1:9/" }, "destination_blocked"],
    [{ name: "http", config: open }, "status", { url: "https://x.example" }, "destination_refused"],
    [
      { name: "http", config: { ...open, allow_private_networks: true } },
      "status",
      { url: "http://127.0.0.1:9/" },
      null,
    ],
    [{ name: "rest" }, "header", { url: "https://x.example", header_name: "a b" }, "params_invalid"],
    [
      { name: "rest" },
      "header",
      { url: "https://x.example", header_name: "a", headers: { Host: "b" } },
      "header_reserved",
    ],
    [{ name: "rest" }, "json_path", { url: "https://[::1]/", jsonpath: "$" }, "destination_blocked"],
  ];
}

Deno.test("findStaticFailure() predicts failures that follow from params and configuration only", () =>
  withFolder(async (root) => {
    await Deno.writeTextFile(join(root, "a.json"), "{}");
    for (const [plan, check_id, params, code] of rowsIn(root)) {
      const query = { provider_id: plan.name, check_id, ...params === undefined ? {} : { params } };
      const reason = await findStaticFailure(entryOf(plan), query, new Set());
      const what = `${plan.name} ${JSON.stringify(params)}`;
      assert.equal(/\((\w+)\)$/.exec(reason ?? "")?.[1] ?? null, code, what);
      if (code === null) continue;
      const outcome = await withProvider(
        plan,
        async (provider) => outcomeOf(await askProvider(provider, check_id, params)),
      );
      assert.match(outcome, new RegExp(`^(observed|failed): ${code}$`), what);
    }
    const query = { provider_id: "rest", check_id: "json_path", params: { url: "https://x.example", jsonpath: "a" } };
    assert.match(await findStaticFailure(entryOf({ name: "rest" }), query, new Set()) ?? "", /\(invalid_jsonpath\)$/);
    const reserved = { provider_id: "env", check_id: "get", params: { key: "TOKEN" } };
    assert.match(
      await findStaticFailure(entryOf({ name: "env" }), reserved, new Set(["TOKEN"])) ?? "",
      /\(key_blocked\)$/,
    );
  }));

Deno.test("gate scenario check warns of a binding that always fails", () =>
  withFolder(async (folder) => {
    await Deno.writeTextFile(join(folder, "gate.toml"), '[[providers]]\nname = "time"\ntype = "builtin"\n');
    const example = leastSpec();
    const [condition] = example.conditions;
    condition.evidence_use_policy.allowed_channels.push("local_acquisition");
    example.namespace_id = 2;
    example.acquisition_bindings = ["tomorrow", 5].map((timestamp) => ({
      binding_id: `b-${timestamp}`,
      condition_id: condition.condition_id,
      channel: "local_acquisition",
      provider_id: "time",
      check_id: "after",
      params: { timestamp },
    }));
    await Deno.writeTextFile(join(folder, "law.json"), JSON.stringify(example));
    const { code, stdout } = await gate(folder, "scenario", "check", "law.json", "--json");
    const { diagnostics } = JSON.parse(stdout).result;
    assert.equal(code, 0);
    assert.deepEqual(
      diagnostics.map(({ severity, code, path }: Record<string, string>) => `${severity} ${code} ${path}`),
      [
        "warning caller_alone $",
        "warning bindings_may_be_left_out $.conditions[0].evidence_use_policy",
        "warning binding_never_answered $.acquisition_bindings[0].params",
      ],
    );
  }));
