/** The drills of `docs/guide/fleet.md`: clocks that differ, a role and a signing key that are replaced, a database that is restored. */

import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import type { JsonObject } from "@/canonical/json.ts";
import {
  acquiredCondition,
  attemptOf,
  binding,
  evaluate,
  type Gate,
  oneStage,
  openRun,
  startGate,
} from "../../e2e/evidence/acquisition_serve.ts";
import { evidence as evidenceFile, LAW } from "../../e2e/cli/run_command_fixture.ts";
import { gate, inFolder } from "../../e2e/gate_command.ts";
import { OWNER, runSql, startPostgres } from "../postgres/server.ts";

/** As Debian installs it. */
const LIBRARY = `/usr/lib/${Deno.build.arch}-linux-gnu/faketime/libfaketimeMT.so.1`;

const PROGRAMS = "/usr/lib/postgresql/15/bin";

const CONFIG = `
[run_state_store]
type = "postgres"
url = "env:GATE_DATABASE"
[schema_registry]
type = "postgres"
url = "env:GATE_DATABASE"
[[providers]]
name = "env"
type = "builtin"
config = { allowlist = ["BUILT"], overrides = { BUILT = "yes" } }
`;

const postgres = await startPostgres();
let databases = 0;

/** A database, and a folder with the configuration of its servers. */
interface World {
  readonly folder: string;
  readonly database: string;
  readonly url: (role: string, database?: string) => string;
  /** Creates the tables, or grants a role its rights. */
  readonly migrate: (role: string, database?: string) => Promise<void>;
  /** Starts a server as a role. */
  readonly start: (role: string, env?: Readonly<Record<string, string>>) => Promise<Gate>;
}

function inWorld(body: (world: World) => Promise<void>): Promise<void> {
  return inFolder(async (folder) => {
    databases += 1;
    const database = `drill_${databases}`;
    await runSql(postgres, `CREATE DATABASE ${database}`);
    await Deno.writeTextFile(`${folder}/gate.toml`, CONFIG);
    const url = (role: string, name = database): string => postgres.url(name, role);
    await body({
      folder,
      database,
      url,
      migrate: async (role, name = database) => {
        const config = `${folder}/${name}.toml`;
        await Deno.writeTextFile(config, CONFIG.replaceAll("env:GATE_DATABASE", url(OWNER, name)));
        const { code, stderr } = await gate(folder, "store", "migrate", "--config", config, "--server-role", role);
        assert.equal(code, 0, stderr);
      },
      start: (role, env = {}) => startGate(folder, { GATE_DATABASE: url(role), ...env }),
    });
  });
}

const roles = ["gate_one", "gate_two"] as const;
for (const role of roles) await runSql(postgres, `CREATE ROLE ${role} LOGIN`);
const [ONE, TWO] = roles;

/** A condition on a variable, of evidence at most an hour old or of any age. */
function gateOf(freshness: JsonObject): JsonObject {
  const text = { domain: "String", minimum_bytes: 0, maximum_bytes: 100 };
  return oneStage([acquiredCondition("built", text, { predicate: "Exists" }, freshness)], [
    binding("source", "built", "env", "get", { key: "BUILT" }),
  ]);
}

const AGED = gateOf({ freshness: { freshness: "MaximumAge", maximum_age_millis: 3_600_000 } });
const AGELESS = gateOf({});

/** Seconds by which the clock of the server differs that opens the run, and that of the one that decides; the law; the decision. */
const CLOCKS: readonly (readonly [opens: number, decides: number, law: JsonObject, decision: string])[] = [
  [0, 0, AGED, "true, qualified"],
  [0, -40, AGED, "true, qualified"],
  [0, -90, AGED, "unknown, clock_behind_run"],
  [0, -90, AGELESS, "true, qualified"],
  [90, 0, AGED, "unknown, clock_behind_run"],
  [0, 90, AGED, "true, qualified"],
];

/** Waiting goes by the monotonic clock, which stays right. */
function clock(seconds: number): Readonly<Record<string, string>> {
  if (seconds === 0) return {};
  const FAKETIME = `${seconds > 0 ? "+" : ""}${seconds}s`;
  return { LD_PRELOAD: LIBRARY, FAKETIME, FAKETIME_DONT_FAKE_MONOTONIC: "1" };
}

for (const [opens, decides, law, decision] of CLOCKS) {
  const what = law === AGED ? "evidence of a maximum age" : "evidence of any age";
  Deno.test(`a run opened at ${opens} s and decided at ${decides} s by the clock, ${what}: ${decision}`, () =>
    inWorld(async ({ migrate, start }) => {
      await migrate(ONE);
      await using a = await start(ONE, clock(opens));
      await using b = await start(ONE, clock(decides));
      const open = await openRun(a, law);
      const { result } = await evaluate(b, open);
      const { outcome, items } = attemptOf(result);
      assert.equal(`${outcome}, ${items["source"]}`, decision);
    }));
}

Deno.test("the role of the servers is replaced without stopping the fleet", () =>
  inWorld(async ({ migrate, start }) => {
    await migrate(ONE);
    await using a = await start(ONE);
    const open = await openRun(a, AGELESS);
    await migrate(TWO);
    await using b = await start(TWO);
    await runSql(postgres, `ALTER ROLE ${ONE} NOLOGIN`);
    await runSql(postgres, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${ONE}'`);
    const status = { ...open.run };
    let refused: JsonObject = {};
    // A connection that was ended may answer "store_unavailable" first; a new one is refused.
    for (let tries = 0; tries < 100 && (refused["error"] as JsonObject)?.["code"] !== "store_failed"; tries++) {
      refused = await a.call("scenario_status", status);
      assert.ok("error" in refused, JSON.stringify(refused));
    }
    assert.equal((refused["error"] as JsonObject)["code"], "store_failed");
    assert.equal((await evaluate(b, open)).outcome, "accepted");
    await using again = await start(TWO);
    assert.equal((await again.call("scenario_status", status))["status"], "complete");
    await runSql(postgres, `ALTER ROLE ${ONE} LOGIN`);
  }));

/** Writes a signing key and its public key. */
async function writeKey(path: string): Promise<void> {
  const { d = "", x = "" } = generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" });
  for (const [name, text] of [[path, d], [`${path}.pub`, x]] as const) {
    const bytes = Uint8Array.fromBase64(text, { alphabet: "base64url" });
    await Deno.writeFile(name, bytes, { mode: 0o600 });
  }
}

Deno.test("runpacks of an old and a new signing key have one identity, and each is admitted under its key", () =>
  inWorld(async ({ folder, url, migrate }) => {
    await migrate(ONE);
    await Deno.writeTextFile(`${folder}/gate.toml`, CONFIG.replaceAll("env:GATE_DATABASE", url(ONE)));
    await Deno.writeTextFile(`${folder}/law.yaml`, LAW);
    await Deno.writeTextFile(`${folder}/evidence.json`, evidenceFile({ built: true, deployed: true }));
    const config = ["--config", "gate.toml"];
    const driven = await gate(
      folder,
      "run",
      "law.yaml",
      "--evidence",
      "evidence.json",
      "--run-key",
      "a",
      "--json",
      ...config,
    );
    const { run_id } = JSON.parse(driven.stdout).result;
    const identities: string[] = [];
    for (const name of ["old", "new"]) {
      await writeKey(`${folder}/${name}.key`);
      const of = ["--namespace", "2", "--run", run_id, "--archive", `${name}.runpack`];
      const data = ["--data-dir", name, "--signing-key", `${name}.key`];
      identities.push((await gate(folder, "runpack", "export", ...of, ...data, ...config)).stdout.trim());
    }
    assert.match(identities[0] ?? "", /^[0-9a-f]{64}$/);
    assert.equal(identities[0], identities[1]);
    // Runpack, trusted keys, exit code.
    const rows: readonly (readonly [string, readonly string[], number])[] = [
      ["old", ["old"], 0],
      ["new", ["new"], 0],
      ["old", ["old", "new"], 0],
      ["new", ["old", "new"], 0],
      ["new", ["old"], 4],
    ];
    for (const [pack, trusted, code] of rows) {
      const keys = trusted.flatMap((name) => ["--producer-key", `${name}.key.pub`]);
      const verified = await gate(folder, "runpack", "admit", `${pack}.runpack`, "--law", "law.yaml", ...keys);
      assert.equal(verified.code, code, `${pack} under ${trusted}: ${verified.stdout}${verified.stderr}`);
    }
  }));

async function program(name: string, ...args: readonly string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(`${PROGRAMS}/${name}`, { args: [...args] }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
}

Deno.test("a dump is restored, checked and served, in the state of its moment", () =>
  inWorld(async ({ folder, database, url, migrate, start }) => {
    await migrate(ONE);
    await using before = await start(ONE);
    const open = await openRun(before, AGELESS);
    const at = await before.call("scenario_status", open.run);
    await program("pg_dump", "--format=custom", `--file=${folder}/gate.dump`, url(OWNER));
    await evaluate(before, open);
    const restored = `${database}_restored`;
    await runSql(postgres, `CREATE DATABASE ${restored}`);
    await program(
      "pg_restore",
      "--no-owner",
      "--no-privileges",
      "--exit-on-error",
      `--dbname=${url(OWNER, restored)}`,
      `${folder}/gate.dump`,
    );
    await migrate(ONE, restored);
    const checked = await gate(folder, "store", "check", url(ONE, restored));
    assert.equal(checked.code, 0, checked.stderr);
    await using after = await start(ONE, { GATE_DATABASE: url(ONE, restored) });
    assert.deepEqual(await after.call("scenario_status", open.run), at);
    const { result } = await evaluate(after, { ...open, head: at["accepted_head"] as JsonObject });
    assert.equal(attemptOf(result).outcome, "true");
  }));

Deno.test.afterAll(() => postgres[Symbol.asyncDispose]());
