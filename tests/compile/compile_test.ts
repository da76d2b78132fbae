/**
 * Compiles with a base that is no runtime, which does everything but make the result run. The tests read from the
 * result what is embedded and what it may do. The end-to-end tests with `GATE_BINARY` test what runs.
 */

import assert from "node:assert/strict";
import { PUBLISHED } from "@/tools/framework/published.ts";
import { isTest } from "../checks/layering.ts";
import { readImports, resolveSpecifier, type SourceFile } from "../checks/source.ts";
import { readTree } from "../checks/tree.ts";
import { inFolder } from "../e2e/gate_command.ts";
import { type Profile, readDependencies } from "../release/program.ts";
import { compile, CONSOLE_ASSETS, includedFiles, withWayOut } from "./executable.ts";
import { type Executable, readExecutable } from "./read_executable.ts";

/** Packages that gate runs; `@scope/*` stands for all of a scope. */
const PACKAGES = [
  "@aws-sdk/*",
  "@aws/lambda-invoke-store",
  "@bufbuild/protobuf",
  "@eslint-community/regexpp",
  "@marcbachmann/cel-js",
  "@modelcontextprotocol/client",
  "@modelcontextprotocol/core",
  "@noble/ed25519",
  "@smithy/*",
  "bowser",
  "commander",
  "cross-spawn",
  "eslint-visitor-keys",
  "eventsource",
  "eventsource-parser",
  "isexe",
  "jose",
  "json-p3",
  "long",
  "minisearch",
  "path-key",
  "pkce-challenge",
  "postgres",
  "protobufjs",
  "shebang-command",
  "shebang-regex",
  "smol-toml",
  "toml-eslint-parser",
  "tslib",
  "which",
  "yaml",
  "zod",
];

/** What was compiled without a configuration, by profile and environment: it takes seconds, and tests share it. */
const found = new Map<string, Promise<Executable>>();

async function compiled(
  test: (found: Executable) => void,
  profile: Profile = "serve",
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  const key = JSON.stringify([profile, env]);
  const compiling = found.get(key) ?? compiledAnywhere(profile, env);
  found.set(key, compiling);
  test(await compiling);
}

async function compiledAnywhere(profile: Profile, env: Readonly<Record<string, string>>): Promise<Executable> {
  const folder = await Deno.makeTempDir();
  try {
    return await compiledIn({ output: `${folder}/gate`, config: null, profile }, env);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function compiledIn(
  plan: Parameters<typeof compile>[0],
  env: Readonly<Record<string, string>> = {},
): Promise<Executable> {
  const { success, said } = await compile(plan, { DENORT_BIN: "/bin/true", ...env });
  assert.ok(success, said);
  return readExecutable(await Deno.readFile(plan.output));
}

/** Scripts of pages: they are bundled, and never loaded by the program. */
const PAGES: readonly string[] = ["src/console/page.ts", "src/console/run_app.ts", "src/runpack/browser/page.ts"];

/** The modules of the program that are reached from a file at run time. */
function reached(files: ReadonlyMap<string, SourceFile>, from: readonly string[]): readonly string[] {
  const seen = new Set<string>(from);
  // A set that grows while it is walked is walked to its end.
  for (const path of seen) {
    const file = files.get(path);
    for (const { kind, specifier } of file === undefined ? [] : readImports(file)) {
      const target = kind === "type" || specifier === null ? null : resolveSpecifier(path, specifier);
      if (target !== null && !PAGES.includes(target)) seen.add(target);
    }
  }
  return [...seen].sort();
}

function packageOf(path: string): string {
  const [first = "", second = ""] = path.split("/");
  const name = first.startsWith("@") ? `${first}/${second}` : first;
  return ["@aws-sdk", "@smithy"].includes(first) ? `${first}/*` : name;
}

Deno.test("a compilation without a network says how to do without", () => {
  const url = "https://download.example/release/v2.9.6/denort-x86_64-unknown-linux-gnu.zip";
  const lost = `error: Writing deno compile executable\n    1: error sending request for url (${url}): dns error\n`;
  assert.ok(withWayOut(lost).startsWith(lost));
  assert.match(withWayOut(lost), / fetch https:\S*\.zip where .* with DENORT_BIN=\/path\/to\/denort\n$/);
  assert.equal(withWayOut("error: Module not found\n"), "error: Module not found\n");
});

Deno.test("a compiled gate holds its modules, workers and documents, the packages that it runs, and nothing else", async () => {
  const included = await includedFiles();
  await compiled(({ files }) => {
    const [packages, own] = [true, false].map((isPackage) =>
      files.filter((path) => path.startsWith(".deno_compile_node_modules/") === isPackage)
    );
    const names = new Set((packages ?? []).map((path) => packageOf(path.split("/").slice(2).join("/"))));
    assert.deepEqual([...names].sort(), PACKAGES);
    const unused = (packages ?? []).filter((path) => /\.(map|md|[cm]?ts)$|\/zod\/.*\.cjs$/.test(path));
    assert.deepEqual(unused, []);
    assert.deepEqual((own ?? []).filter((path) => !path.startsWith("src/")), [
      ...included.filter((path) => path.startsWith("docs/")).toSorted(),
      "main.ts",
    ]);
  });
});

Deno.test("a release installs the packages that a compiled gate holds", async () => {
  const names = new Set((await readDependencies()).map(({ name }) => packageOf(name)));
  assert.deepEqual([...names].sort(), PACKAGES);
});

Deno.test("a compiled gate holds every module that can be reached at run time, and no test", async () => {
  const tree = new Map((await readTree()).map((file) => [file.path, file]));
  const workers = (await includedFiles()).filter((path) => path.endsWith(".ts"));
  const expected = reached(tree, ["main.ts", ...workers]);
  assert.ok(expected.includes("src/tools/published.json"));
  // Tools are loaded when they are first called, from what a file says of them.
  for (const { name } of PUBLISHED) {
    const end = `/${name.replace(/^typed_providers_/, "typed_providers/")}.ts`;
    assert.ok(expected.some((path) => path.startsWith("src/tools/") && path.endsWith(end)), name);
  }
  await compiled(({ files }) => {
    const held = new Set(files);
    assert.deepEqual(expected.filter((path) => !held.has(path)), []);
    assert.ok(held.has(CONSOLE_ASSETS), "the console is built");
    assert.deepEqual(files.filter((path) => isTest(path) || path.startsWith("tests/")), []);
  });
});

Deno.test("a compiled gate takes the leaves of the set serve: no foreign code, no code from the network, no questions", () =>
  compiled(({ permissions, features, code_cache_key }) => {
    assert.deepEqual(permissions, {
      ...OTHERS,
      allow_read: [],
      allow_write: [],
      allow_env: [],
      allow_net: [],
      allow_run: [],
      allow_sys: ["ca", "osRelease", "statfs"],
    });
    assert.deepEqual(features, ["worker-options", "no-legacy-abort"]);
    assert.equal(code_cache_key, null);
  }));

Deno.test("a compiled gate exports no telemetry by the runtime, whatever the environment of the build says", () =>
  compiled(
    ({ otel_config }) =>
      assert.deepEqual(otel_config, {
        tracing_enabled: false,
        metrics_enabled: false,
        console: "Ignore",
        deterministic_prefix: null,
        propagators: [],
      }),
    "serve",
    { OTEL_DENO: "true", OTEL_DENO_TRACING: "true", OTEL_DENO_METRICS: "true", OTEL_DENO_CONSOLE: "capture" },
  ));

Deno.test("a gate that is compiled with the profile verify may read, and nothing else", () =>
  compiled(
    ({ permissions }) => assert.deepEqual(permissions, { ...OTHERS, allow_read: [], allow_write: null }),
    "verify",
  ));

Deno.test("a gate that is compiled for a configuration takes no more than that needs, and no network with a base given", () =>
  inFolder(async (folder) => {
    const config = `${folder}/gate.toml`;
    await Deno.writeTextFile(
      config,
      '[server]\ntransport = "http"\nbind = "127.0.0.1:8080"\n[run_state_store]\ntype = "sqlite"\npath = "gate.db"\n',
    );
    // Nothing listens at this proxy, through which the runtime would download.
    const none = { HTTPS_PROXY: "http://127.0.0.1:1", HTTP_PROXY: "http://127.0.0.1:1", NO_PROXY: "" };
    const { permissions } = await compiledIn({ output: `${folder}/gate`, config, profile: "serve" }, none);
    const { allow_read, allow_write, ...others } = permissions;
    assert.deepEqual(others, {
      ...OTHERS,
      allow_env: ["GATE_ALLOW_NON_LOOPBACK", "GATE_CONFIG", "NO_COLOR"],
      allow_net: ["127.0.0.1:8080"],
      allow_sys: ["statfs"],
    });
    assert.deepEqual(allow_write, [`${folder}/.gate.db.mark`, `${folder}/gate.db`, `${folder}/runpacks`]);
    const own = ["/tmp/deno-compile-gate/docs", "/tmp/deno-compile-gate/src"];
    assert.deepEqual([...allow_read as string[]].sort(), [folder, ...own].sort());
  }));

/** No leave for anything; of what may be imported from the network all is denied. */
const OTHERS = {
  allow_env: null,
  allow_ffi: null,
  allow_net: null,
  allow_run: null,
  allow_sys: null,
  deny_env: null,
  deny_ffi: null,
  deny_import: [],
  deny_net: null,
  deny_read: null,
  deny_run: null,
  deny_sys: null,
  deny_write: null,
  ignore_env: null,
  ignore_read: null,
  prompt: false,
};
