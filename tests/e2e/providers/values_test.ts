import assert from "node:assert/strict";
import { until } from "../../until.ts";
import { cpuUsage } from "node:process";
import type { JsonValue } from "../../../src/canonical/json.ts";
import { ConfigError } from "../../../src/config/problems.ts";
import { DEFAULT_SETTINGS } from "../../../src/config/defaults.ts";
import { ProviderSetupError } from "../../../src/evidence/builtin/engine.ts";
import { createBuiltinProvider } from "../../../src/evidence/builtin/provider.ts";
import { createProviders } from "../../../src/evidence/providers.ts";
import { createSchemaSandbox } from "../../../src/evidence/sandbox/schema_sandbox.ts";
import { SLOW_DOCUMENT, SLOW_QUERY } from "./code_rows.ts";
import {
  askProvider,
  entryOf,
  NOON,
  outcomeOf,
  pause,
  type ProviderPlan,
  withFolder,
  withProvider,
} from "./fixtures.ts";

const LATE = Date.UTC(9999, 11, 31);

/** Trigger time, check, threshold, outcome. */
const TIMES: readonly (readonly ["unix_millis" | "logical", number, string, JsonValue, string])[] = [
  ["unix_millis", 5, "now", {}, "value: 5"],
  ["unix_millis", 5, "now", null, "value: 5"],
  ["unix_millis", -5, "now", {}, "value: -5"],
  ["logical", 5, "now", {}, "value: 5"],
  ["unix_millis", 5, "now", { timestamp: 1 }, "observed: params_invalid"],
  ["unix_millis", 5, "now", [], "observed: params_invalid"],
  ["unix_millis", 5, "after", { timestamp: 4 }, "value: true"],
  ["unix_millis", 5, "after", { timestamp: 5 }, "value: false"],
  ["unix_millis", 5, "after", { timestamp: 6 }, "value: false"],
  ["unix_millis", 5, "before", { timestamp: 4 }, "value: false"],
  ["unix_millis", 5, "before", { timestamp: 5 }, "value: false"],
  ["unix_millis", 5, "before", { timestamp: 6 }, "value: true"],
  ["unix_millis", NOON.value, "after", { timestamp: "2024-06-01T11:59:59.999Z" }, "value: true"],
  ["unix_millis", NOON.value, "after", { timestamp: "2024-06-01T12:00:00Z" }, "value: false"],
  ["unix_millis", NOON.value, "before", { timestamp: "2024-06-01T12:00:00Z" }, "value: false"],
  ["unix_millis", NOON.value, "before", { timestamp: "2024-06-01T12:00:00.0001Z" }, "value: true"],
  ["unix_millis", NOON.value, "before", { timestamp: "2024-06-01T14:00:00+02:00" }, "value: false"],
  ["unix_millis", NOON.value + 1, "after", { timestamp: "2024-06-01T12:00:00.0009Z" }, "value: true"],
  ["unix_millis", -1, "after", { timestamp: "1969-12-31T23:59:59.998Z" }, "value: true"],
  ["unix_millis", -1, "before", { timestamp: "1969-12-31T23:59:59.999Z" }, "value: false"],
  ["unix_millis", LATE, "before", { timestamp: "9999-12-31T23:59:59Z" }, "value: true"],
  ["unix_millis", 5, "after", { timestamp: "2024-06-01" }, "observed: params_invalid"],
  ["unix_millis", 5, "after", { timestamp: "2024-06-01T12:00:00" }, "observed: params_invalid"],
  ["unix_millis", 5, "after", { timestamp: "noon" }, "observed: params_invalid"],
  ["unix_millis", 5, "after", { timestamp: 1.5 }, "observed: params_invalid"],
  ["unix_millis", 5, "after", { timestamp: null }, "observed: params_invalid"],
  ["unix_millis", 5, "after", { timestamp: 1, more: 2 }, "observed: params_invalid"],
  ["unix_millis", 5, "after", {}, "observed: params_invalid"],
  ["logical", 5, "after", { timestamp: 4 }, "value: true"],
  ["logical", 5, "before", { timestamp: 5 }, "value: false"],
  ["logical", 5, "after", { timestamp: -1 }, "observed: params_invalid"],
  ["logical", 5, "after", { timestamp: "2024-06-01T12:00:00Z" }, "observed: params_invalid"],
  ["unix_millis", 1.5, "now", {}, "observed: trigger_time_invalid"],
];

Deno.test("time depends on the trigger time only", () =>
  withProvider({ name: "time" }, async (provider) => {
    for (const [kind, value, check, params, expected] of TIMES) {
      const answer = await askProvider(provider, check, params, { kind, value });
      const name = `${kind} ${value} ${check} ${JSON.stringify(params)}`;
      assert.equal(outcomeOf(answer), expected, name);
      assert.ok(answer.ok);
      const anchor = { anchor_type: `trigger_time_${kind}`, anchor_value: `{"kind":"${kind}","value":${value}}` };
      assert.deepEqual(answer.result.evidence_anchor, anchor, name);
    }
  }));

/** Config, key, outcome; the environment has PROBE_A = "a", PROBE_EMPTY = "", GATE_PROBE and AWS_PROBE. */
const VARIABLES: readonly (readonly [Record<string, unknown>, string, string])[] = [
  [{}, "PROBE_A", 'value: "a"'],
  [{}, "PROBE_EMPTY", 'value: ""'],
  [{}, "PROBE_NONE", "nothing"],
  [{}, "GATE_PROBE", "observed: key_blocked"],
  [{}, "AWS_PROBE", "observed: key_blocked"],
  [{}, "PROBE_TOKEN", "observed: key_blocked"],
  [{}, "PROBE_*", "observed: key_blocked"],
  [{}, "*", "observed: key_blocked"],
  [{}, "", "observed: params_invalid"],
  [{}, "A=B", "observed: params_invalid"],
  [{}, "A\0B", "observed: params_invalid"],
  [{ allowlist: [] }, "PROBE_A", "observed: key_blocked"],
  [{ allowlist: ["PROBE_A"] }, "PROBE_A", 'value: "a"'],
  [{ allowlist: ["PROBE_A"] }, "PROBE_NONE", "observed: key_blocked"],
  [{ allowlist: ["PROBE_A", "PROBE_NONE"] }, "PROBE_NONE", "nothing"],
  [{ allowlist: ["PROBE_A"], denylist: ["PROBE_A"] }, "PROBE_A", "observed: key_blocked"],
  [{ allowlist: ["GATE_PROBE"] }, "GATE_PROBE", "observed: key_blocked"],
  [{ allowlist: ["PROBE_*"] }, "PROBE_A", "observed: key_blocked"],
  [{ denylist: ["PROBE_A"] }, "PROBE_A", "observed: key_blocked"],
  [{ denylist: ["PROBE_A"] }, "PROBE_EMPTY", 'value: ""'],
  [{ overrides: { PROBE_A: "b" } }, "PROBE_A", 'value: "b"'],
  [{ overrides: { PROBE_A: "b" } }, "PROBE_EMPTY", 'value: ""'],
  [{ overrides: { PROBE_EMPTY: "b" } }, "PROBE_A", 'value: "a"'],
  [{ overrides: { PROBE_NONE: "" } }, "PROBE_NONE", 'value: ""'],
  [{ overrides: {} }, "PROBE_A", 'value: "a"'],
  [{ overrides: { PROBE_A: "b" } }, "PROBE_NONE", "nothing"],
  [{ overrides: { PROBE_A: "b" }, allowlist: ["PROBE_A"] }, "PROBE_A", 'value: "b"'],
  [{ overrides: { PROBE_A: "b" }, allowlist: ["PROBE_EMPTY"] }, "PROBE_A", "observed: key_blocked"],
  [{ overrides: { PROBE_A: "b" }, allowlist: ["PROBE_A", "PROBE_EMPTY"] }, "PROBE_EMPTY", 'value: ""'],
  [{ overrides: { PROBE_A: "b" } }, "GATE_PROBE", "observed: key_blocked"],
  [{ overrides: { PROBE_A: "b" } }, "AWS_PROBE", "observed: key_blocked"],
  [{ overrides: { PROBE_TOKEN: "b" } }, "PROBE_TOKEN", "observed: key_blocked"],
  [{ overrides: { PROBE_A: "b" } }, "constructor", "nothing"],
  [{ overrides: { GATE_PROBE: "b" } }, "GATE_PROBE", "observed: key_blocked"],
  [{ overrides: { PROBE_A: "b" }, denylist: ["PROBE_A"] }, "PROBE_A", "observed: key_blocked"],
  [{ max_key_bytes: 6 }, "PROBE_A", "observed: key_too_long"],
  [{ max_key_bytes: 7 }, "PROBE_A", 'value: "a"'],
  [{ max_key_bytes: 8 }, "PROBE_A", 'value: "a"'],
  [{ max_value_bytes: 0 }, "PROBE_A", "observed: value_too_large"],
  [{ max_value_bytes: 0 }, "PROBE_EMPTY", 'value: ""'],
  [{ overrides: { PROBE_A: "\u00e9" }, max_value_bytes: 1 }, "PROBE_A", "observed: value_too_large"],
  [{ overrides: { PROBE_A: "\u00e9" }, max_value_bytes: 2 }, "PROBE_A", 'value: "\u00e9"'],
];

Deno.test("env reads allowed variables and reports blocked ones", async () => {
  const environment = {
    PROBE_A: "a",
    PROBE_EMPTY: "",
    GATE_PROBE: "secret",
    AWS_PROBE: "secret",
    PROBE_TOKEN: "secret",
  };
  for (const [name, value] of Object.entries(environment)) Deno.env.set(name, value);
  try {
    const options = { reservedEnvironment: new Set(["PROBE_TOKEN"]) };
    for (const [config, key, expected] of VARIABLES) {
      const answer = await withProvider({ name: "env", config, options }, (one) => askProvider(one, "get", { key }));
      const name = `${JSON.stringify(config)} ${key}`;
      assert.equal(outcomeOf(answer), expected, name);
      assert.doesNotMatch(JSON.stringify(answer), /secret/, name);
      assert.ok(answer.ok);
      if (expected.startsWith("value") || expected === "nothing" || expected.endsWith("key_blocked")) {
        const anchor = { anchor_type: "env", anchor_value: JSON.stringify({ key }) };
        assert.deepEqual(answer.result.evidence_anchor, anchor, name);
      }
    }
  } finally {
    for (const name of Object.keys(environment)) Deno.env.delete(name);
  }
});

/** File, JSONPath, outcome. */
const FILES: readonly (readonly [string, string | null, string])[] = [
  ["a.json", null, 'value: {"a":[1,2]}'],
  ["./a.json", null, 'value: {"a":[1,2]}'],
  ["inner/../a.json", "$.a[1]", "value: 2"],
  ["inner//b.json", null, 'value: "b"'],
  ["link.json", null, 'value: "b"'],
  ["linked/b.json", null, 'value: "b"'],
  ["out.json", null, "observed: path_outside_root"],
  ["up/outside.json", null, "observed: path_outside_root"],
  ["../outside.json", null, "observed: path_outside_root"],
  ["../base_beside/c.json", null, "observed: path_outside_root"],
  ["inner/../../outside.json", null, "observed: path_outside_root"],
  ["../none.json", null, "observed: path_outside_root"],
  // The name of the root is the operator's: a path that leaves the root and comes back would show it.
  ["../base/a.json", null, "observed: path_outside_root"],
  ["inner/../../base/a.json", null, "observed: path_outside_root"],
  ["linked/../../base/a.json", null, "observed: path_outside_root"],
  [".//../base/a.json", null, "observed: path_outside_root"],
  ["dangling.json", null, "observed: file_not_found"],
  ["dangling_inner.json", null, "observed: file_not_found"],
  // Whether a file outside exists makes no difference.
  ["up/none.json", null, "observed: path_outside_root"],
  ["up/none/none.json", null, "observed: path_outside_root"],
  ["dangling_out.json", null, "observed: path_outside_root"],
  ["dangling_twice.json", null, "observed: path_outside_root"],
  ["dangling_absolute.json", null, "observed: path_outside_root"],
  ["loop.json", null, "observed: file_read_failed"],
  ["a.json/b", null, "observed: file_not_found"],
  ["none.json", null, "observed: file_not_found"],
  ["inner", null, "observed: file_read_failed"],
  [".", null, "observed: file_read_failed"],
  ["pipe.json", null, "observed: file_read_failed"],
  ["C:\\a.json", null, "observed: absolute_path_forbidden"],
  ["\\\\host\\a.json", null, "observed: absolute_path_forbidden"],
  ["x".repeat(255), null, "observed: file_not_found"],
  ["x".repeat(256), null, "observed: path_invalid"],
  [`${"./".repeat(2045)}a.json`, null, 'value: {"a":[1,2]}'],
  [`${"./".repeat(2046)}a.json`, null, "observed: path_invalid"],
  ["15.json", null, 'value: "xxxxxxxxxxxxx"'],
  ["16.json", null, 'value: "xxxxxxxxxxxxxx"'],
  ["17.json", null, "observed: size_limit_exceeded"],
  ["empty.json", null, "observed: invalid_json"],
  ["empty.yaml", null, "value: null"],
  ["a.YML", "$.a", "value: 1"],
  ["proto.json", "$.__proto__", "value: 1"],
];

async function makeRoot(folder: string): Promise<string> {
  const root = `${folder}/base`;
  await Deno.mkdir(`${root}/inner`, { recursive: true });
  await Deno.mkdir(`${folder}/base_beside`);
  const files: Record<string, string> = {
    "base/a.json": '{"a":[1,2]}',
    "base/inner/b.json": '"b"',
    "base/15.json": `"${"x".repeat(13)}"`,
    "base/16.json": `"${"x".repeat(14)}"`,
    "base/17.json": `"${"x".repeat(15)}"`,
    "base/empty.json": "",
    "base/empty.yaml": "",
    "base/a.YML": "a: 1",
    "base/proto.json": '{"__proto__":1}',
    "outside.json": '"secret"',
    "base_beside/c.json": '"secret"',
  };
  for (const [name, text] of Object.entries(files)) await Deno.writeTextFile(`${folder}/${name}`, text);
  await Deno.symlink("inner/b.json", `${root}/link.json`);
  await Deno.symlink("inner", `${root}/linked`);
  await Deno.symlink("../outside.json", `${root}/out.json`);
  await Deno.symlink("..", `${root}/up`);
  await Deno.symlink("nowhere", `${root}/dangling.json`);
  await Deno.symlink("linked/nowhere", `${root}/dangling_inner.json`);
  await Deno.symlink("../nowhere", `${root}/dangling_out.json`);
  await Deno.symlink("dangling_out.json", `${root}/dangling_twice.json`);
  await Deno.symlink("/nowhere/none.json", `${root}/dangling_absolute.json`);
  await Deno.symlink("loop.json", `${root}/loop.json`);
  const { success } = await new Deno.Command("mkfifo", { args: [`${root}/pipe.json`] }).output();
  assert.ok(success);
  return root;
}

Deno.test("json reads files below the root only, by any path and link", () =>
  withFolder(async (folder) => {
    const root = await makeRoot(folder);
    // The root itself is reached through a link.
    await Deno.symlink(root, `${folder}/entry`);
    const config = { root: `${folder}/entry`, root_id: "r", max_bytes: 16 };
    await withProvider({ name: "json", config }, async (provider) => {
      for (const [file, jsonpath, expected] of FILES) {
        const answer = await askProvider(provider, "path", jsonpath === null ? { file } : { file, jsonpath });
        assert.equal(outcomeOf(answer), expected, file.slice(0, 80));
        assert.doesNotMatch(JSON.stringify(answer), /secret/);
      }
      const linked = await askProvider(provider, "path", { file: "linked/b.json" });
      assert.ok(linked.ok);
      const anchor = { anchor_type: "file_path_rooted", anchor_value: '{"path":"inner/b.json","root_id":"r"}' };
      assert.deepEqual(linked.result.evidence_anchor, anchor);
      assert.deepEqual(linked.result.evidence_ref, { uri: "gate+file://r/inner/b.json" });
      assert.deepEqual(linked.grant, { sandbox: "worker", env: [], net: [], read: ["r"] });
    });
  }));

Deno.test("json answers the next query after a timeout", () =>
  withFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/a.json`, SLOW_DOCUMENT);
    await Deno.writeTextFile(`${folder}/b.json`, "1");
    const plan: ProviderPlan = { name: "json", config: { root: folder, root_id: "r" }, limitMillis: 200 };
    await withProvider(plan, async (provider) => {
      const slow = askProvider(provider, "path", { file: "a.json", jsonpath: SLOW_QUERY });
      assert.equal(outcomeOf(await slow), "failed: timeout");
      // The provider's limit also covers the start of its next worker, which may take longer.
      let next = "failed: timeout";
      while (next === "failed: timeout") next = outcomeOf(await askProvider(provider, "path", { file: "b.json" }));
      assert.equal(next, "value: 1");
    });
  }));

/** A query that would take exponential time over a small document. */
const ENDLESS_QUERY = `$${["release", "checks", "ok"].map((name) => `[${`'${name}',`.repeat(120)}'${name}']`).join("")}`
  .concat("[0,0]".repeat(60), ".none");

/** Processor milliseconds that all threads of this process take within a period. */
async function busyMillis(millis: number): Promise<number> {
  const before = cpuUsage();
  await pause(millis);
  const { user, system } = cpuUsage(before);
  return (user + system) / 1000;
}

Deno.test("json ends a query of exponential time by itself, even after it was cancelled", () =>
  withFolder(async (folder) => {
    const deep = `${"[".repeat(60)}0${"]".repeat(60)}`;
    await Deno.writeTextFile(`${folder}/a.json`, `{"release":{"checks":{"ok":${deep}}}}`);
    const params = { file: "a.json", jsonpath: ENDLESS_QUERY };
    const config = { root: folder, root_id: "r" };
    await withProvider({ name: "json", config }, async (provider) => {
      assert.equal(outcomeOf(await askProvider(provider, "path", params)), "observed: jsonpath_limit_exceeded");
    });
    await withProvider({ name: "json", config, limitMillis: 100 }, async (provider) => {
      assert.equal(outcomeOf(await askProvider(provider, "path", params)), "failed: timeout");
    });
    await until("this process is idle", async () => await busyMillis(400) <= 100);
  }));

/** Provider that cannot be created, the invalid member. */
const REFUSED: readonly (readonly [ProviderPlan, ...string[]])[] = [
  [{ name: "json", config: { root: "/nowhere", root_id: "r" } }, "config.root"],
  [{ name: "json", config: { root: new URL(import.meta.url).pathname, root_id: "r" } }, "config.root"],
  [{ name: "rest", config: { auth: { bearer_token: "env:PROBE_NOT_SET" } } }, "config.auth.bearer_token"],
  [
    { name: "rest", config: { auth: { basic_username: "env:PROBE_COLON", basic_password: "env:PROBE_NOT_SET" } } },
    "config.auth.basic_password",
    "config.auth.basic_username",
  ],
  [
    { name: "rest", config: { auth: { api_key_header: "x", api_key_value: "env:PROBE_LINES" } } },
    "config.auth.api_key_value",
  ],
];

for (const [plan, ...expected] of REFUSED) {
  Deno.test(`createBuiltinProvider() ${plan.name} ${JSON.stringify(plan.config).slice(0, 60)}: ${expected}`, () => {
    const values = new Map([["PROBE_COLON", "a:b"], ["PROBE_LINES", "a\nb"]]);
    const options = { environment: (name: string) => values.get(name) };
    assert.throws(() => createBuiltinProvider(entryOf(plan), options), (error) => {
      assert.ok(error instanceof ProviderSetupError);
      assert.deepEqual(error.faults.map(({ member }) => member), expected);
      return true;
    });
  });
}

Deno.test("createProviders() creates every provider or reports every problem", async () => {
  const schemas = createSchemaSandbox();
  const config = { ...DEFAULT_SETTINGS, config_path: null, base_dir: "/" };
  try {
    const rest = entryOf({ name: "rest", config: { auth: { bearer_token: "env:PROBE_TOKEN" } } });
    const environment = (): string => "secret";
    const made = await createProviders({ ...config, providers: [entryOf({ name: "env" }), rest] }, {
      schemas,
      environment,
    });
    assert.deepEqual([...made.keys()], ["env", "rest"]);
    const env = made.get("env");
    assert.ok(env !== undefined);
    assert.equal(outcomeOf(await askProvider(env, "get", { key: "PROBE_TOKEN" })), "observed: key_blocked");
    for (const provider of made.values()) await provider.close();
    const wrong = [
      entryOf({ name: "json", config: { root: "/nowhere", root_id: "r" } }),
      entryOf({ name: "time" }),
      entryOf({ name: "rest", config: { auth: { bearer_token: "env:PROBE_NOT_SET" } } }),
    ];
    await assert.rejects(createProviders({ ...config, providers: wrong }, { schemas }), (error) => {
      assert.ok(error instanceof ConfigError);
      const paths = error.problems.map(({ path }) => path);
      assert.deepEqual(paths, ["providers[0].config.root", "providers[2].config.auth.bearer_token"]);
      return true;
    });
  } finally {
    schemas.close();
  }
});
