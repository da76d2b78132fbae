import assert from "node:assert/strict";
import { ROOT_URL } from "./tree.ts";

interface Settings {
  readonly tasks: Readonly<Record<string, string | { readonly command: string }>>;
  readonly permissions: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

const { tasks, permissions } = JSON.parse(await Deno.readTextFile(new URL("deno.json", ROOT_URL))) as Settings;
const ROOT = ROOT_URL.pathname;
const GOLDEN = `${ROOT}tests/vectors/runpack/v6/plain`;

const KINDS = ["env", "ffi", "import", "net", "read", "run", "sys", "write"];

/** Runs a program under a named set; gives its exit code and what it said. */
async function under(
  set: string,
  ...args: readonly string[]
): Promise<{ readonly code: number; readonly said: string }> {
  const command = new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-prompt", "--quiet", "--no-check", `-P=${set}`, ...args],
    cwd: ROOT,
    env: { NO_COLOR: "1", RUST_BACKTRACE: "0" },
    stdin: "null",
  });
  const { code, stdout, stderr } = await command.output();
  return { code, said: [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes)).join("") };
}

Deno.test("every named set of permissions says something of every kind, and none lets foreign code in", () => {
  assert.deepEqual(Object.keys(permissions).sort(), ["bench", "plan", "serve", "test", "verify"]);
  for (const [name, set] of Object.entries(permissions)) {
    assert.deepEqual(Object.keys(set).sort(), KINDS, name);
    assert.deepEqual([set["ffi"], set["import"]], [false, false], name);
    assert.notEqual(set["sys"], true, name);
  }
});

Deno.test("the sets of tests and benchmarks reach this machine alone", () => {
  for (const name of ["test", "bench"]) {
    assert.deepEqual(permissions[name]?.["net"], ["127.0.0.1", "localhost", "[::1]"], name);
  }
});

Deno.test("the tasks that serve, test, measure, compile and show run under a named set", () => {
  for (
    const [name, set] of Object.entries({
      start: "serve",
      ok: "test",
      test: "test",
      bench: "bench",
      compile: "test",
      demo: "test",
    })
  ) {
    const task = tasks[name];
    const command = typeof task === "object" ? task.command : task ?? "";
    assert.ok(command.includes(` -P=${set} `), `${name}: ${command}`);
  }
});

Deno.test("the set verify is leave to read and nothing else, and verification needs no more", async () => {
  const granted = Object.entries(permissions["verify"] ?? {}).filter(([, value]) => value !== false);
  assert.deepEqual(granted, [["read", true]]);
  const { code, said } = await under("verify", "main.ts", "runpack", "verify", GOLDEN);
  // The golden runpack kept only the digest of one value, so one of its decisions cannot be derived again.
  assert.equal(code, 4, said);
});

Deno.test("the set verify refuses to write, to see the environment, to reach a network and to run a program", async () => {
  const folder = await Deno.makeTempDir({ prefix: "gate-sets-" });
  try {
    const probes = [
      ["write", `Deno.writeTextFileSync(${JSON.stringify(`${folder}/a`)}, "")`],
      ["env", 'Deno.env.get("HOME")'],
      ["net", 'Deno.listen({ hostname: "127.0.0.1", port: 0 })'],
      ["run", "new Deno.Command(Deno.execPath()).outputSync()"],
      ["sys", "Deno.hostname()"],
    ] as const;
    for (const [kind, code] of probes) {
      const file = `${folder}/${kind}.ts`;
      await Deno.writeTextFile(file, `${code};\n`);
      const { code: exitCode, said } = await under("verify", "--config", `${ROOT}deno.json`, file);
      assert.equal(exitCode, 1, kind);
      assert.match(said, /NotCapable/, kind);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
