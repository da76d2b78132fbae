import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import type { JsonValue } from "../../../src/canonical/json.ts";
import { loadConfig } from "../../../src/config/load.ts";
import { startServer } from "../client.ts";
import { gate, gateArgs, inFolder, logText } from "../gate_command.ts";

Deno.test("gate prints its version, commands and exit codes", async () => {
  await inFolder(async (folder) => {
    const version = await gate(folder, "--version");
    assert.match(version.stdout, /^gate \d+\.\d+\.\d+\n$/);
    const build = JSON.parse((await gate(folder, "--version", "--json")).stdout);
    assert.deepEqual(Object.keys(build), ["ok", "command", "result"]);
    assert.equal(`gate ${build.result.version}\n`, version.stdout);
    assert.deepEqual([build.result.deno, build.result.v8], [Deno.version.deno, Deno.version.v8]);

    const bare = await gate(folder);
    assert.equal(bare.code, 0);
    for (const name of ["serve", "init", "config", "doctor", "store", "help"]) {
      assert.match(bare.stdout, new RegExp(`^  ${name}\\b`, "m"));
    }
    assert.equal((await gate(folder, "--help")).stdout, bare.stdout);
    assert.equal((await gate(folder, "help")).stdout, bare.stdout);

    const codes = await gate(folder, "help", "exit-codes", "--json");
    assert.deepEqual(JSON.parse(codes.stdout).result.map((entry: { code: number }) => entry.code), [
      0,
      1,
      2,
      3,
      4,
      5,
      6,
      7,
      8,
    ]);
  });
});

Deno.test("every command has help with examples", async () => {
  await inFolder(async (folder) => {
    const commands = [
      "serve",
      "init",
      "config check",
      "config schema",
      "doctor",
      "store check",
      "store backup",
      "explain",
      "help",
    ];
    const helps = await Promise.all(commands.map((command) => gate(folder, ...command.split(" "), "--help")));
    helps.forEach((help, index) => {
      assert.deepEqual([help.code, help.stderr], [0, ""]);
      assert.match(help.stdout, new RegExp(`^Usage: gate ${commands[index]}`));
      assert.match(help.stdout, /--json/);
      assert.match(help.stdout, /\nExamples:\n {2}gate /);
    });
    assert.equal((await gate(folder, "help", "config", "check")).stdout, helps[2]?.stdout);
  });
});

Deno.test("an invalid command line gives one line on standard error and exit code 2", async () => {
  await inFolder(async (folder) => {
    const cases: [args: string[], line: string][] = [
      [["serv"], 'gate: Unknown command "serv" (did you mean "serve"?)'],
      [["config", "chek"], 'gate: Unknown command "chek" (did you mean "check"?)'],
      [["config"], 'gate: Command is missing after "config" (expected one of check, schema)'],
      [["help", "explane"], 'gate: Unknown command "explane" (did you mean "explain"?)'],
      [["serv", "--help"], 'gate: Unknown command "serv" (did you mean "serve"?)'],
      [["config", "chek", "-h"], 'gate: Unknown command "chek" (did you mean "check"?)'],
      [["help", "doctor", "now"], 'gate: Unknown argument "now" after help doctor'],
      [["help", "exit-codes", "9"], 'gate: Unknown argument "9" after help exit-codes'],
      [["init", "--nope"], 'gate: Unknown option "--nope" (see gate init --help)'],
      [
        ["config", "check", "--confg", "a"],
        'gate: Unknown option "--confg" (did you mean --config? see gate config check --help)',
      ],
      [["store", "backup"], 'gate: Missing required argument "file" (see gate store backup --help)'],
      [
        ["config", "check", "a", "--config", "b"],
        "gate: Cannot check two configurations at once " +
        "(pass FILE or --config, not both)",
      ],
      [["permissions", "--data-dir="], "gate: Cannot use --data-dir: value is empty"],
      [["provider", "check", "time", "now", "--typed-host", ""], "gate: Cannot use --typed-host: value is empty"],
      [["runpack", "verify", ""], 'gate: Cannot use argument "runpack": value is empty'],
      [["status", "c8dc", "--svg", "a.svg", "--svg", "b.svg"], "gate: Cannot use --svg: it is given twice"],
      [
        ["store", "backup", "b.db", "--store", "run_state_store", "--store", "x"],
        "gate: Cannot use --store: it is given twice",
      ],
      [
        ["store", "check", "a.db", "--config", "b.toml"],
        "gate: Cannot check two stores at once (pass STORE or --config, not both)",
      ],
      [["--version", "now"], 'gate: Unknown argument "now" after --version'],
    ];
    const ended = await Promise.all(cases.map(([args]) => gate(folder, ...args)));
    ended.forEach((end, index) => {
      assert.deepEqual(end, { code: 2, stdout: "", stderr: `${cases[index]?.[1]}\n` });
    });
    const served = await gate(folder, "serve", "--nope");
    const message = 'gate error: Cannot read the flags of serve: Unknown option "--nope" (see gate serve --help)\n';
    assert.deepEqual([served.code, logText(served.stderr)], [2, message]);
    const asJson = await gate(folder, "serve", "--json", "--log-level", "loud");
    assert.deepEqual([asJson.code, asJson.stdout], [2, ""]);
    assert.deepEqual(JSON.parse(asJson.stderr), {
      error: {
        code: "usage",
        message: 'Cannot use --log-level "loud": must be one of error, warn, info, debug',
        hint: null,
      },
    });
  });
});

Deno.test("gate init writes a file that gate config check accepts, once", async () => {
  await inFolder(async (folder) => {
    const path = join(folder, "gate.toml");
    const { stderr, ...first } = await gate(folder, "init");
    assert.deepEqual(first, { code: 0, stdout: `${path}\n` });
    assert.match(stderr, /^Next: gate doctor\nThis serves it,/);
    assert.match(stderr, new RegExp(` run .* --allow-write=${folder}/\\.gate .* serve .*--config ${path}\n$`, "s"));
    for (const given of [[], [path], ["--config", path]]) {
      const ended = await gate(folder, "config", "check", ...given);
      assert.deepEqual(ended, { code: 0, stdout: `${path}: valid\n`, stderr: "" });
    }

    await Deno.writeTextFile(path, "# mine");
    const second = await gate(folder, "init", "--json");
    assert.deepEqual([second.code, JSON.parse(second.stderr).error.code], [2, "file_exists"]);
    assert.equal(await Deno.readTextFile(path), "# mine");
    assert.equal((await gate(folder, "init", "--force")).code, 0);
    assert.equal((await gate(folder, "init", "--stdout")).stdout, await Deno.readTextFile(path));

    assert.ok((await Deno.stat(join(folder, "evidence"))).isDirectory);
    const config = await loadConfig({ environment: "", workingDirectory: folder });
    assert.equal(config.run_state_store.path, join(folder, ".gate/gate.db"));
    assert.equal(config.schema_registry.acl.allow_local_only, true);
    assert.equal(config.namespace.allow_default, false);
    await Deno.writeTextFile(join(folder, "evidence", "results.json"), '{"passed": true}');
    const checks: readonly [string[], JsonValue | undefined][] = [
      [["time", "now"], undefined],
      [["json", "path", "--params", '{"file": "results.json", "jsonpath": "$.passed"}'], true],
    ];
    for (const [check, value] of checks) {
      const { code, stdout, stderr } = await gate(folder, "provider", "check", ...check, "--json");
      assert.equal(code, 0, stderr);
      if (value !== undefined) assert.match(stdout, new RegExp(`"value":\\{"kind":"json","value":${value}\\}`));
    }
  });
});

Deno.test("the desktop preset equals the file of gate init", async () => {
  await inFolder(async (folder) => {
    const preset = new URL("../../../config/desktop_stdio.toml", import.meta.url);
    const [desktop, starter] = [join(folder, "desktop.toml"), join(folder, "gate.toml")];
    await Deno.copyFile(preset, desktop);
    await gate(folder, "init");
    const [first, second] = [await loadConfig({ config: desktop }), await loadConfig({ config: starter })];
    assert.deepEqual({ ...first, config_path: "" }, { ...second, config_path: "" });
    // The data folder of a packaged start takes the place of `.gate`.
    const packaged = await loadConfig({ dataDir: folder, environment: "", workingDirectory: join(folder, "evidence") });
    const text = JSON.stringify({ ...second, config_path: null }).replaceAll(".gate/gate.db", "gate.db");
    assert.deepEqual(packaged, JSON.parse(text));
  });
});

Deno.test("gate config check lists every problem of a file, each on a line with its path", async () => {
  await inFolder(async (folder) => {
    const path = join(folder, "wrong.toml");
    await Deno.writeTextFile(
      path,
      "serber = 1\nserver.limits.max_inflight = 0\nserver.auth.bearer_tokens = ['hunter 2']\n",
    );
    const lines = [
      'serber: unknown member, did you mean "server"?',
      "server.auth.bearer_tokens[0]: must not hold white space or control characters, got a string of 8 characters",
      "server.limits.max_inflight: must be >= 1, got 0",
    ];
    const ended = await gate(folder, "config", "check", "wrong.toml");
    const found = [`${path}: 3 problems`, ...lines].map((line) => `${line}\n`).join("");
    assert.deepEqual(ended, { code: 2, stdout: found, stderr: "" });
    const linesOf = (problems: readonly Record<string, string>[]): readonly string[] =>
      problems.map((problem) => `${problem["path"]}: ${problem["message"]}`);
    const asJson = await gate(folder, "config", "check", "--json", "wrong.toml");
    const { ok, result } = JSON.parse(asJson.stdout);
    assert.deepEqual([asJson.code, asJson.stderr, ok, result.valid], [2, "", false, false]);
    assert.deepEqual(linesOf(result.problems), lines);

    const heading = `Cannot use configuration "${path}": 3 problems`;
    const { error } = JSON.parse((await gate(folder, "permissions", "--json", "--config", "wrong.toml")).stderr);
    assert.deepEqual([error.code, error.message, linesOf(error.problems)], ["config_invalid", heading, lines]);
    const served = await gate(folder, "serve", "--config", "wrong.toml");
    const logged = [heading, ...lines].map((line) => `gate error: ${line}\n`).join("");
    assert.deepEqual([served.code, served.stdout, logText(served.stderr)], [2, "", logged]);
  });
});

Deno.test("gate provider check lets --param override --params, and rejects a repeated one", async () => {
  await inFolder(async (folder) => {
    await Deno.writeTextFile(join(folder, "time.toml"), '[[providers]]\nname = "time"\ntype = "builtin"\n');
    /** Flags, then the value or a part of standard error. */
    const rows: readonly (readonly [flags: readonly string[], outcome: boolean | string])[] = [
      [["--params", '{"timestamp":1}'], true],
      [["--params", '{"timestamp":4102444800000}', "--param", "timestamp=1"], true],
      [["--params", '{"timestamp":1}', "--param", "timestamp=4102444800000"], false],
      [["--param", "timestamp=1", "--param", "timestamp=2"], '"timestamp" is repeated'],
      [
        ["--params", "[]", "--param", "timestamp=1"],
        "Cannot combine --param with --params: --params is not a JSON object",
      ],
    ];
    for (const [flags, outcome] of rows) {
      const args = ["provider", "check", "time", "after", "--config", "time.toml", "--json", ...flags];
      const { code, stdout, stderr } = await gate(folder, ...args);
      const given = code === 2 ? JSON.parse(stderr).error.message : JSON.parse(stdout).result.result.value.value;
      if (typeof outcome === "boolean") assert.equal(given, outcome, `${flags} ${stdout}`);
      else assert.ok(given.endsWith(outcome), given);
    }
  });
});

Deno.test("gate config schema prints a JSON Schema", async () => {
  await inFolder(async (folder) => {
    const { code, stdout } = await gate(folder, "config", "schema");
    const schema = JSON.parse(stdout);
    assert.equal(code, 0);
    assert.equal(schema.$schema, "https://json-schema.org/draft/2020-12/schema");
    assert.equal(schema.properties.server.properties.limits.properties.max_inflight.default, 256);
    assert.deepEqual(JSON.parse((await gate(folder, "config", "schema", "--json")).stdout).result, schema);
  });
});

/** Whether other users can reach a folder; the parent folder of the tests may be private. */
function isOpenToAll(folder: string): boolean {
  const isOpen = ((Deno.statSync(folder).mode ?? 0) & 1) !== 0;
  return isOpen && (dirname(folder) === folder || isOpenToAll(dirname(folder)));
}

/** The checks of doctor on the starter file. */
const FRESH = [
  ...["configuration", "namespace", "schema registry", "run_state_store, schema_registry", "provider"],
  ...["data folder", "disk", "clock"],
];

Deno.test("gate doctor runs with what gate permissions prints, and names each class that is wider", () =>
  inFolder(async (folder) => {
    await Deno.mkdir(join(folder, ".gate"));
    await Deno.writeTextFile(join(folder, "gate.toml"), '[server]\ntransport = "http"\nbind = "127.0.0.1:1"\n');
    const printed = await gate(folder, "permissions", "--flags", "--config", "gate.toml");
    const rows: readonly (readonly [grants: readonly string[], finding: RegExp])[] = [
      [printed.stdout.trim().split("\n"), /^ok +permissions +they are no wider than the configuration needs$/m],
      [["--allow-all"], /^note +permissions +.* --allow-net=127\.0\.0\.1:1 --deny-run .*--deny-ffi --deny-import$/m],
    ];
    for (const [grants, finding] of rows) {
      // A compiled program has the permissions that it was compiled with, so this is the source.
      const args = gateArgs("doctor", "--config", "gate.toml").flatMap((one) => one === "-P=serve" ? grants : [one]);
      const ended = await new Deno.Command(Deno.execPath(), { args, cwd: folder, stdin: "null" }).output();
      const [found, errors] = [ended.stdout, ended.stderr].map((bytes) => new TextDecoder().decode(bytes));
      assert.equal(errors, "");
      assert.match(found ?? "", finding);
    }
  }));

Deno.test("gate doctor accepts the starter file, and reports what fails", async () => {
  await inFolder(async (folder) => {
    await gate(folder, "init");
    const fresh = await gate(folder, "doctor", "--json");
    const { ok, result } = JSON.parse(fresh.stdout);
    assert.deepEqual([fresh.code, ok, fresh.stderr], [0, true, ""]);
    assert.deepEqual(
      result.findings.map((finding: { check: string; status: string }) => [finding.check, finding.status]),
      // These commands run with the permissions of the checkout.
      [...FRESH.map((check) => [check, "ok"]), ["permissions", "note"]],
    );
    assert.deepEqual(result.client.mcpServers.gate.args.slice(-3), ["serve", "--config", join(folder, "gate.toml")]);

    await Deno.mkdir(join(folder, ".gate"));
    await Deno.writeTextFile(
      join(folder, ".gate/gate.db"),
      "not a database, but long enough to be read as the header of one".repeat(20),
    );
    const broken = await gate(folder, "doctor");
    assert.equal(broken.code, 8);
    assert.match(broken.stdout, /^fail +run_state_store, schema_registry +Cannot .*gate\.db.*not a database/m);

    await Deno.writeTextFile(join(folder, "audited.toml"), 'server.audit.path = "log/audit.jsonl"\n');
    const unaudited = await gate(folder, "doctor", "--config", "audited.toml");
    assert.equal(unaudited.code, 8);
    assert.match(unaudited.stdout, /^fail +audit log +.*log does not exist$/m);
    await Deno.mkdir(join(folder, "log"));
    const audited = await gate(folder, "doctor", "--config", "audited.toml");
    assert.equal(audited.code, 0);
    assert.match(audited.stdout, /^ok +audit log +.*log\/audit\.jsonl can be written$/m);

    await Deno.writeTextFile(join(folder, "none.pub"), "no key");
    const trust = '[trust]\ndefault_policy = { require_signature = { keys = ["none.pub"] } }\n';
    await Deno.writeTextFile(join(folder, "gate.toml"), trust);
    const unkeyed = await gate(folder, "doctor");
    assert.equal(unkeyed.code, 2);
    assert.match(unkeyed.stdout, /^fail +trusted key +.*none\.pub/m);

    await Deno.writeTextFile(
      join(folder, "named.toml"),
      [
        'docs.extra_paths = ["missing"]',
        'server.auth.principals = [{ subject = "stdio", roles = [{ name = "NamespaceWritter" }] }]',
        '[[providers]]\nname = "json"\ntype = "builtin"\nconfig = { root = "nowhere", root_id = "r" }',
        '[[providers]]\nname = "tickets"\ntype = "mcp"\nurl = "https://tickets.example"\ncapabilities_path = "no.json"',
        'auth.bearer_token = "t"',
      ].join("\n"),
      { mode: 0o644 },
    );
    const unnamed = await Deno.chmod(folder, 0o755).then(() => gate(folder, "doctor", "--config", "named.toml"));
    assert.equal(unnamed.code, 2);
    assert.match(unnamed.stdout, /^note +roles +server\.auth\.principals\[0\]\.roles\[0\]\.name: .*NamespaceWritter/m);
    assert.equal(/^note +secrets +.*named\.toml holds secrets/m.test(unnamed.stdout), isOpenToAll(folder));
    assert.match(unnamed.stdout, /^fail +documentation +docs\.extra_paths\[0\]: .* does not exist$/m);
    assert.match(unnamed.stdout, /^fail +provider +providers\[0\]\.config\.root: must be a folder/m);
    assert.match(unnamed.stdout, /^fail +provider +providers\[1\]\.capabilities_path: .* does not exist$/m);

    await Deno.writeTextFile(join(folder, "gate.toml"), "server.limits.max_inflight = 0");
    const wrong = await gate(folder, "doctor");
    assert.equal(wrong.code, 2);
    assert.match(wrong.stdout, /^fail +configuration +server\.limits\.max_inflight: must be >= 1, got 0$/m);
  });
});

Deno.test("gate serve logs its posture, serves the starter file, and ends with its input", async () => {
  await inFolder(async (folder) => {
    await gate(folder, "init");
    for (const [level, lines] of [["info", 3], ["warn", 0], ["error", 0]] as const) {
      await using server = startServer({
        args: gateArgs("serve", "--log-level", level),
        cwd: folder,
        env: { GATE_CONFIG: "" },
      });
      const answer = await server.request("initialize", {
        protocolVersion: "2025-11-25",
        capabilities: {},
        clientInfo: { name: "test", version: "1" },
      });
      assert.equal((answer["result"] as { serverInfo: { name: string } }).serverInfo.name, "gate");
      await server.closeInput();
      assert.equal(await server.ended(), 0);
      const posture = logText(server.errors()).split("\n");
      assert.equal(
        posture.filter((line) => / transport stdio; |server\.auth|schema_registry\.acl/.test(line)).length,
        lines,
        level,
      );
    }
  });
});
