import assert from "node:assert/strict";
import { gate, gateArgs, inFolder, STORES } from "../gate_command.ts";
import { startServer } from "../client.ts";
import { listening } from "../http_fixture.ts";
import { evidence, evidencePipe, LAW, PARALLEL_LAW, PARAMETER_LAW, startGate } from "./run_command_fixture.ts";

async function withLaw(body: (folder: string) => Promise<void>, law = LAW): Promise<void> {
  await inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/law.yaml`, law);
    await body(folder);
  });
}

/** The result of `gate run --json`. */
interface RunResult {
  readonly run_id: string;
  readonly status: string;
  readonly accepted_head: { readonly revision: number };
  readonly recorded: number;
  readonly looks: number;
}

/** Runs `gate run law.yaml` with evidence; gives exit code and result. */
async function run(
  folder: string,
  values: Readonly<Record<string, boolean>> | null,
  ...flags: readonly string[]
): Promise<{ readonly code: number; readonly result: RunResult }> {
  await Deno.writeTextFile(`${folder}/evidence.json`, evidence(values ?? {}));
  const given = values === null ? [] : ["--evidence", "evidence.json"];
  const { code, stdout, stderr } = await gate(folder, "run", "law.yaml", "--json", ...given, ...flags);
  assert.equal(stderr, "");
  return { code, result: JSON.parse(stdout).result };
}

Deno.test("gate run in an empty folder: exit 4, 3 and 0 as evidence goes from absent to wrong to right", () =>
  withLaw(async (folder) => {
    assert.ok(LAW.trimEnd().split("\n").length <= 15);
    // Evidence, exit code, and a part of the output.
    const rows: readonly [Readonly<Record<string, boolean>> | null, number, RegExp][] = [
      [null, 4, /0 of 2 stages complete\n[^]*built: nothing known yet \?\n/],
      [{ built: true }, 4, /1 of 2 stages complete\n[^]*deployed: nothing known yet \?\n/],
      [{ built: true, deployed: false }, 3, /1 of 2 stages complete\n[^]*deployed: found false ✗\n/],
      [{ built: true, deployed: true }, 0, /is complete at revision 5\n2 of 2 stages complete\n/],
    ];
    for (const [values, code, text] of rows) {
      await Deno.writeTextFile(`${folder}/evidence.json`, evidence(values ?? {}));
      const given = values === null ? [] : ["--evidence", "evidence.json"];
      const ended = await gate(folder, "run", "law.yaml", ...given);
      assert.deepEqual([ended.code, ended.stderr], [code, ""]);
      assert.match(ended.stdout, text);
    }
    assert.deepEqual([...Deno.readDirSync(folder)].map(({ name }) => name).sort(), ["evidence.json", "law.yaml"]);
  }));

Deno.test("gate run with the same run key goes on where the last one stopped, and records changed attempts only", () =>
  withLaw(async (folder) => {
    // Evidence, exit code, revision, and recorded attempts.
    const rows: readonly [Readonly<Record<string, boolean>>, number, number, number][] = [
      [{}, 4, 3, 1],
      [{}, 4, 3, 0],
      [{ built: false }, 3, 4, 1],
      [{ built: false }, 3, 4, 0],
      [{ built: true }, 4, 7, 2],
      [{}, 4, 7, 0],
      [{ deployed: false }, 3, 8, 1],
      [{ deployed: true }, 0, 9, 1],
      [{}, 0, 9, 0],
    ];
    const ids = new Set<string>();
    for (const [values, code, revision, recorded] of rows) {
      const { code: ended, result } = await run(folder, values, "--run-key", "v1");
      assert.deepEqual(
        [ended, result.accepted_head.revision, result.recorded],
        [code, revision, recorded],
        JSON.stringify(values),
      );
      ids.add(result.run_id);
    }
    assert.equal(ids.size, 1);
    const other = await run(folder, {}, "--run-key", "v2");
    assert.deepEqual([other.code, ids.has(other.result.run_id)], [4, false]);
    const listed = await gate(folder, "runs", "--json");
    assert.equal(JSON.parse(listed.stdout).result.runs.length, 2);
  }));

Deno.test("gate run evaluates parallel stages, and repeats no attempt of either", () =>
  withLaw(async (folder) => {
    const rows: readonly [Readonly<Record<string, boolean>>, number, number][] = [
      [{ built: false }, 3, 2],
      [{ built: false }, 3, 0],
      [{ built: false, deployed: false }, 3, 1],
      [{ built: true, deployed: false }, 3, 1],
      [{ deployed: true }, 0, 1],
    ];
    for (const [values, code, recorded] of rows) {
      const { code: ended, result } = await run(folder, values, "--run-key", "v1");
      assert.deepEqual([ended, result.recorded], [code, recorded], JSON.stringify(values));
    }
  }, PARALLEL_LAW));

/** A law with a root stage for each condition, complete when all are. */
function lawOfStages(conditionIds: readonly string[]): string {
  const leaf = (Condition: string): object => ({ Condition });
  return JSON.stringify({
    spec_version: "dag-v3",
    scenario_id: "release",
    namespace_id: 2,
    conditions: conditionIds.map((condition_id) => ({
      condition_id,
      observation_domain: { domain: "Boolean" },
      predicate: { predicate: "Equals", expected: { value: true, value_type: "Boolean" } },
    })),
    stages: conditionIds.map((id) => ({
      stage_id: `stage_${id}`,
      prerequisite: { kind: "root" },
      completion_requirement: leaf(id),
      entry_packets: [],
    })),
    completion_requirement: { And: conditionIds.map((id) => leaf(`stage_${id}`)) },
  });
}

Deno.test("gate run, gate status: exit 3 for a False attempt with more than 20 attempts of other stages after it", () =>
  withLaw(async (folder) => {
    const first = await run(folder, { a: false }, "--run-key", "a");
    assert.deepEqual([first.code, first.result.recorded], [3, 22]);
    const status = await gate(folder, "status", first.result.run_id);
    assert.equal(status.code, 3);
    assert.match(status.stdout, /\n {2}✗ stage_a +held, attempt 1 was false\n/);
    assert.match(status.stdout, /\n {2}◐ stage_v +open, attempt 22 was unknown\n/);
  }, lawOfStages([..."abcdefghijklmnopqrstuv"])));

Deno.test("gate run with other parameters is another run", () =>
  withLaw(async (folder) => {
    await Deno.writeTextFile(`${folder}/evidence.json`, evidence({ built: true, deployed: "1.2" }));
    // Version, build, exit code, and the number of the run.
    const rows: readonly [string, string, number, number][] = [
      ["1.2", "7", 0, 1],
      ["1.3", "7", 3, 2],
      ["1.2", "8", 0, 3],
      ["1.2", "7", 0, 1],
    ];
    const ids: string[] = [];
    for (const [version, build, code, number] of rows) {
      const flags = ["--run-key", "a", "--evidence", "evidence.json", "--parameter", `version=${version}`];
      const ended = await gate(folder, "run", "law.yaml", ...flags, "--parameter", `build=${build}`, "--json");
      assert.deepEqual([ended.code, ended.stderr], [code, ""]);
      const { run_id, parameters } = JSON.parse(ended.stdout).result;
      assert.deepEqual(parameters, [
        { parameter_id: "build", value: { value: Number(build), value_type: "Integer" } },
        { parameter_id: "version", value: { value: version, value_type: "String" } },
      ]);
      if (!ids.includes(run_id)) ids.push(run_id);
      assert.equal(ids.indexOf(run_id) + 1, number);
    }
    const listed = await gate(folder, "runs");
    assert.match(listed.stdout, /PARAMETERS\n[^]*build=7, version="1\.3"\n/);
    const shown = await gate(folder, "status", ids[1] ?? "");
    assert.match(shown.stdout, /^Law .*\nParameters build=7, version="1\.3"\n/);
  }, PARAMETER_LAW));

/** A law whose stage `build` asks a provider, beside the stage `deploy` of callers. */
const PROVIDER_LAW = `law: release
evidence:
  built:
    type: integer
    from: { tickets.open_count: { project: release } }
  deployed: boolean
stages:
  build: built == 0
  deploy: deployed
`;

Deno.test("gate run shows a provider that fails, with exit code 8, and evaluates the other stages", () =>
  withLaw(async (folder) => {
    const contract = new URL("../../../docs/examples/mcp_provider/contract.json", import.meta.url);
    await Deno.copyFile(contract, `${folder}/contract.json`);
    const provider =
      '[[providers]]\nname = "tickets"\ntype = "mcp"\ncommand = ["false"]\ncapabilities_path = "contract.json"\n';
    await Deno.writeTextFile(`${folder}/gate.toml`, `${STORES}\n${provider}`);
    // Evidence on the other stage, exit code, and recorded attempts.
    const rows: readonly [Readonly<Record<string, boolean>>, number, number][] = [
      [{}, 8, 1],
      [{}, 8, 0],
      [{ deployed: false }, 3, 1],
      [{ deployed: true }, 8, 1],
    ];
    for (const [values, code, recorded] of rows) {
      const { code: ended, result } = await run(folder, values, "--run-key", "a", "--config", "gate.toml");
      assert.deepEqual([ended, result.recorded], [code, recorded], JSON.stringify(values));
    }
    const shown = await gate(folder, "run", "law.yaml", "--run-key", "a", "--config", "gate.toml");
    assert.match(shown.stdout, /\nStage "build" cannot be evaluated now: tickets\.built: worker_died\n$/);
  }, PROVIDER_LAW));

Deno.test("gate run uses the store of the configuration", () =>
  withLaw(async (folder) => {
    await Deno.writeTextFile(`${folder}/gate.toml`, STORES);
    const { result } = await run(folder, { built: true });
    const listed = JSON.parse((await gate(folder, "runs", "--json")).stdout).result.runs;
    assert.deepEqual(listed.map((one: { run_key: { run_id: string } }) => one.run_key.run_id), [result.run_id]);
    assert.ok([...Deno.readDirSync(folder)].every(({ name }) => name !== ".gate"));
  }));

Deno.test("gate run --wait looks again until the evidence is right", () =>
  withLaw(async (folder) => {
    const pipe = await evidencePipe(`${folder}/evidence.json`);
    const ended = gate(
      folder,
      "run",
      "law.yaml",
      "--json",
      "--run-key",
      "a",
      "--wait",
      "10m",
      "--evidence",
      "evidence.json",
    );
    for (const values of [{}, {}, { built: true, deployed: true }]) await pipe.write(values);
    const { code, stdout } = await ended;
    const { looks, recorded, accepted_head } = JSON.parse(stdout).result;
    assert.deepEqual([code, looks, recorded, accepted_head.revision], [0, 3, 3, 6]);
  }));

Deno.test("gate run --wait ends with the answer of its last look", () =>
  withLaw(async (folder) => {
    const { code, result } = await run(folder, { built: false }, "--wait", "1s");
    assert.deepEqual([code, result.looks, result.recorded], [3, 2, 1]);
  }));

Deno.test("gate run that is killed at any look goes on", () =>
  withLaw(async (folder) => {
    const pipe = await evidencePipe(`${folder}/fifo.json`);
    const flags = ["run", "law.yaml", "--run-key", "a", "--wait", "10m", "--evidence", "fifo.json"];
    const ids = new Set<string>();
    const revisions: number[] = [];
    const note = async (): Promise<void> => {
      const [listed] = JSON.parse((await gate(folder, "runs", "--json")).stdout).result.runs;
      ids.add(listed.run_key.run_id);
      revisions.push(listed.accepted_head.revision);
    };
    // Killed before its first look: the run is created.
    const first = startGate(folder, ...flags);
    const opened = await pipe.opened();
    await first.kill();
    opened.close();
    await note();
    // Killed at its second look: the first stage is complete, and the second one open.
    const second = startGate(folder, ...flags);
    await pipe.write({ built: true });
    const again = await pipe.opened();
    await second.kill();
    again.close();
    await note();
    const { code, result } = await run(folder, { built: true, deployed: true }, "--run-key", "a");
    ids.add(result.run_id);
    assert.deepEqual([code, revisions, result.accepted_head.revision, ids.size], [0, [1, 5], 6, 1]);
    assert.equal((await gate(folder, "store", "check", ".gate/gate.db")).code, 0);
  }));

/** A server that forwards calls to another one, and stops before one of them. */
function forwarding(
  target: string,
  stopAt: number,
): { readonly url: string; readonly reached: Promise<void>; readonly end: () => Promise<void> } {
  const { promise: reached, resolve } = Promise.withResolvers<void>();
  let calls = 0;
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const body = request.method === "POST" ? await request.text() : null;
    if (body?.includes('"tools/call"') === true && ++calls === stopAt) {
      resolve();
      return await new Promise<Response>(() => {});
    }
    const { pathname } = new URL(request.url);
    const headers = new Headers(request.headers);
    headers.delete("host");
    return await fetch(`${new URL(target).origin}${pathname}`, { method: request.method, headers, body });
  });
  return { url: `http://127.0.0.1:${server.addr.port}`, reached, end: () => server.shutdown().catch(() => {}) };
}

/** Calls of a whole `gate run` over {@link LAW}: define, get, start, and for each stage a status and a step; then two statuses. */
const CALLS = 9;

Deno.test("gate run --server that is killed before any of its calls goes on", () =>
  withLaw(async (folder) => {
    await Deno.writeTextFile(`${folder}/http.toml`, `${STORES}\n[server]\ntransport = "http"\nbind = "127.0.0.1:0"\n`);
    await using server = await listening(
      startServer({ args: gateArgs("serve", "--config", `${folder}/http.toml`), cwd: folder }),
    );
    await Deno.writeTextFile(`${folder}/all.json`, evidence({ built: true, deployed: true }));
    const flags = (
      key: string,
      url: string,
    ): string[] => ["run", "law.yaml", "--run-key", key, "--evidence", "all.json", "--server", url];
    for (let call = 1; call <= CALLS; call++) {
      const proxy = forwarding(server.url, call);
      const killed = startGate(folder, ...flags(`${call}`, proxy.url));
      await proxy.reached;
      await killed.kill();
      void proxy.end();
      const { code, stdout, stderr } = await gate(folder, ...flags(`${call}`, server.url), "--json");
      assert.deepEqual([code, stderr], [0, ""], `call ${call}`);
      assert.equal(JSON.parse(stdout).result.accepted_head.revision, 5, `call ${call}`);
    }
    const { runs } = JSON.parse((await gate(folder, "runs", "--server", server.url, "--json")).stdout).result;
    assert.equal(runs.length, CALLS);
  }));

Deno.test("gate run --server needs no permission to define a law that is there", () =>
  withLaw(async (folder) => {
    const tools = ["scenarios_get", "scenario_start", "scenario_status", "scenario_next"];
    const auth = `[server.auth]\nmode = "local_only"\nallowed_tools = ${JSON.stringify(tools)}\n`;
    await Deno.writeTextFile(`${folder}/gate.toml`, STORES);
    const network = '[server]\ntransport = "http"\nbind = "127.0.0.1:0"\n';
    await Deno.writeTextFile(`${folder}/http.toml`, `${STORES}\n${network}${auth}`);
    await using server = await listening(
      startServer({ args: gateArgs("serve", "--config", `${folder}/http.toml`), cwd: folder }),
    );
    const refused = await gate(folder, "run", "law.yaml", "--server", server.url);
    assert.deepEqual([refused.code, refused.stdout], [7, ""]);
    assert.match(refused.stderr, /scenario_define/);
    await run(folder, null);
    const { code, result } = await run(folder, { built: true, deployed: true }, "--server", server.url);
    assert.deepEqual([code, result.status], [0, "complete"]);
  }));

Deno.test("gate run --export writes a runpack that verifies, and replaces it", () =>
  withLaw(async (folder) => {
    const identities: string[] = [];
    for (const values of [{ built: true }, { deployed: true }]) {
      await run(folder, values, "--run-key", "a", "--export", "release.runpack");
      const verified = await gate(folder, "runpack", "verify", "release.runpack", "--json");
      assert.equal(verified.code, 0, verified.stderr);
      identities.push(/"runpack_identity":"([0-9a-f]{64})"/.exec(verified.stdout)?.[1] ?? "");
    }
    assert.notEqual(identities[0], identities[1]);
    const { code } = await run(folder, { built: true }, "--export", "memory.runpack");
    assert.equal(code, 4);
    assert.equal((await gate(folder, "runpack", "verify", "memory.runpack")).code, 0);
  }));

Deno.test("gate run --export --signing-key writes a runpack whose producer is known", () =>
  withLaw(async (folder) => {
    assert.equal((await gate(folder, "key", "create", "release.key")).code, 0);
    await run(folder, { built: true, deployed: true }, "--export", "a.runpack", "--signing-key", "release.key");
    await run(folder, { built: true, deployed: true }, "--export", "b.runpack");
    const admit = ["--law", "law.yaml", "--allow-asserted", "--producer-key", "release.key.pub"];
    // The runpack, and the exit code: without the signature its origin is unknown.
    for (const [file, code] of [["a.runpack", 0], ["b.runpack", 4]] as const) {
      const admitted = await gate(folder, "runpack", "admit", file, ...admit);
      assert.equal(admitted.code, code, admitted.stdout + admitted.stderr);
    }
  }));

Deno.test("gate run --export that cannot replace the file is refused, and adds no file", () =>
  withLaw(async (folder) => {
    await Deno.mkdir(`${folder}/release`);
    const { code, stdout, stderr } = await gate(folder, "run", "law.yaml", "--export", "release");
    assert.deepEqual([code, stdout], [2, ""]);
    assert.match(stderr, /^gate: Cannot write --export ".*\/release": it is not a file/);
    assert.deepEqual([...Deno.readDirSync(folder)].map(({ name }) => name).sort(), ["law.yaml", "release"]);
  }));

Deno.test("gate run --summary says in Markdown why the gate stays closed", () =>
  withLaw(async (folder) => {
    await run(folder, { built: true, deployed: false }, "--summary", "summary.md");
    const summary = await Deno.readTextFile(`${folder}/summary.md`);
    const run_line = /\nRun `[0-9a-f]{32}` in namespace 2 under law `[0-9a-f]{64}`\n$/;
    assert.match(summary, run_line);
    assert.equal(
      summary.replace(run_line, ""),
      `## ⛔ \`release\`: 1 of 2 stages complete

| Stage | State |
| ----- | ----- |
| \`build\` | complete |
| \`deploy\` | held, attempt 2 was false |

- Stage \`deploy\`: \`deployed: found false ✗\`
- Stage \`deploy\` needs \`deployed\`
`,
    );
  }));

Deno.test("gate run --dry-run takes the steps and records nothing", () =>
  withLaw(async (folder) => {
    const { code, result } = await run(
      folder,
      { built: true, deployed: true },
      "--run-key",
      "a",
      "--dry-run",
      "--export",
      "a.runpack",
    );
    assert.deepEqual([code, result.status], [0, "complete"]);
    assert.deepEqual([...Deno.readDirSync(folder)].map(({ name }) => name).sort(), ["evidence.json", "law.yaml"]);
  }));

const TEMPLATE_LAW = `${PARAMETER_LAW}acquisition_bindings:
  - binding_id: built
    condition_id: built
    channel: local_acquisition
    provider_id: rest
    check_id: json_path
    params: { url: { $template: "https://ci.example/{version}" }, jsonpath: $.built }
`;

Deno.test("gate run names a parameter that the server rejects as it was given", () =>
  withLaw(async (folder) => {
    const rest = 'name = "rest"\ntype = "builtin"\nconfig = { allowed_hosts = ["ci.example"] }\n';
    await Deno.writeTextFile(`${folder}/gate.toml`, `[[providers]]\n${rest}`);
    await Deno.writeTextFile(`${folder}/law.yaml`, TEMPLATE_LAW);
    const given = ["--parameter", "build=1", "--parameter", "version=.."];
    const { code, stderr } = await gate(folder, "run", "law.yaml", ...given);
    assert.equal(code, 2);
    assert.match(stderr, /1 wrong value\n.*--parameter version=\.\.: Cannot put "\.\." into a URL: it would change/);
    assert.ok(!stderr.includes("$."), stderr);
  }));

/** Law file, evidence file, flags, exit code, and the message. */
const REFUSED: readonly [string, string, readonly string[], number, RegExp][] = [
  [LAW, "[]", ["--wait", "soon"], 2, /Cannot use --wait "soon": must be a duration from 1s to 168h/],
  [LAW, "[]", ["--run-key", ""], 2, /Cannot use --run-key: value is empty/],
  [LAW, "[]", ["--run-key", "a".repeat(1025)], 2, /Cannot use --run-key: must have 1 to 1024 bytes/],
  [
    LAW,
    "[]",
    ["--parameter", "version=1"],
    2,
    /Cannot use --parameter "version": the law has no such parameter; it has no parameters/,
  ],
  [LAW, "[]", ["--parameter", "version"], 2, /Cannot read --parameter "version": expected NAME=VALUE/],
  [PARAMETER_LAW, "[]", [], 2, /the law needs --parameter build=VALUE version=VALUE/],
  [PARAMETER_LAW, "[]", ["--parameter", "build=1", "--parameter", "build=2"], 2, /"build" is repeated/],
  [
    PARAMETER_LAW,
    "[]",
    ["--parameter", "build=x", "--parameter", "version=123456789"],
    2,
    /2 wrong values[^]*build=x: expected integer[^]*version=123456789: expected text\(1\.\.8\)/,
  ],
  ...["7.0", "1e0", " 7", "07", "+7", "-0", "", "true"].map((text): (typeof REFUSED)[number] => [
    PARAMETER_LAW,
    "[]",
    ["--parameter", `build=${text}`, "--parameter", "version=1"],
    2,
    /--parameter build=.*: expected integer, in decimal digits without spaces or leading zeros/,
  ]),
  [
    PARAMETER_LAW.replace("build, domain: { domain: Integer }", "build, domain: { domain: Boolean }"),
    "[]",
    ["--parameter", "build= true", "--parameter", "version=1"],
    2,
    /--parameter build= true: expected boolean, true or false/,
  ],
  [PARAMETER_LAW, "[]", ["--parameter", "verson=1"], 2, /no such parameter; did you mean "version"\?/],
  [LAW, "[]", ["--export", "none/a.runpack"], 2, /Cannot write --export ".*none\/a\.runpack": it does not exist/],
  [LAW, "[]", ["--signing-key", "a.key"], 2, /--signing-key signs the runpack of --export, which is missing/],
  [LAW, "[]", ["--export", "a.runpack", "--signing-key", "a.key"], 2, /^gate: Cannot use key "a\.key": /],
  [LAW, "[]", ["--summary", "none/a.md"], 2, /Cannot write "none\/a\.md": its folder does not exist/],
  [LAW, "{}", [], 2, /Cannot use --evidence "evidence.json": expected an array of items/],
  [LAW, "[", [], 2, /Cannot use --evidence "evidence.json"/],
  [LAW, '[{"condition_id":"build"}]', [], 2, /\$\[0\]: the law has no condition "build".*did you mean "built"/],
  [LAW, '[{"condition_id":"built"}]', [], 2, /"evidence.json": \$\[0\]\.value: expected an object such as/],
  [
    LAW,
    '[{"condition_id":"built","value":true}]',
    [],
    2,
    /"evidence.json": \$\[0\]\.value: expected an object such as/,
  ],
  [
    LAW,
    JSON.stringify([...JSON.parse(evidence({ built: true })), {
      condition_id: "deployed",
      value: { value: true, value_type: "Boolean" },
    }]),
    [],
    2,
    /"evidence.json": \$\[1\]\.retention: expected an object such as \{"retention": "RetainCanonicalValue"\}/,
  ],
  [LAW.replace("built: true", "x"), "[]", ["--server", "http://127.0.0.1:1"], 8, /Cannot reach the server/],
  [LAW, "[]", ["--server", "http://127.0.0.1:1", "--dry-run"], 2, /omit --server/],
  [
    LAW,
    "[]",
    ["--server", "http://127.0.0.1:1", "--export", "a", "--signing-key", "release.key"],
    2,
    /signs with its own key: omit --signing-key/,
  ],
  [LAW, "[]", ["--server", "http://127.0.0.1:1", "--config", "a"], 2, /omit --config/],
  [LAW, "[]", ["--server", "http://127.0.0.1:1", "--evidence-keys", "a"], 2, /omit --evidence-keys/],
  [LAW.replace("Condition: built", "Condition: bilt"), "[]", [], 2, /law\.yaml:10:\d+: error: .*"bilt"/],
  [`${LAW}other: 1\n`, "[]", [], 2, /law\.yaml:15:1: error: .*other/],
  [LAW.replace("namespace_id: 2", "namespace_id: 1"), "[]", [], 7, /namespace 1/],
];

for (const [law, items, flags, code, message] of REFUSED) {
  Deno.test(`gate run is refused: ${flags.join(" ").slice(0, 60)} ${items} ${message.source.slice(0, 60)}`, () =>
    withLaw(async (folder) => {
      await Deno.writeTextFile(`${folder}/evidence.json`, items);
      const ended = await gate(folder, "run", "law.yaml", "--evidence", "evidence.json", ...flags);
      assert.deepEqual([ended.code, ended.stdout], [code, ""], ended.stderr);
      assert.match(ended.stderr, message);
    }, law));
}
