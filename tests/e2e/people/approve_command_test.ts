import assert from "node:assert/strict";
import { join } from "node:path";
import { sha256 } from "@/evidence/host_primitives.ts";
import { parseSigningKey } from "@/evidence/trust/signing_key.ts";
import { hashValue } from "@/run/evidence.ts";
import { EVIDENCE_CONTENT_TYPE, submittedStatementText } from "@/run/submitted_statement.ts";
import { startServer } from "../client.ts";
import { type Ended, gate, gateArgs, inFolder, processOf, STORES } from "../gate_command.ts";
import { listening } from "../http_fixture.ts";
import { waitingLaw } from "./waiting_law.ts";

/** Commands of one folder. `approve` and `waiting` get the keys of people. */
interface World {
  readonly folder: string;
  readonly run: string;
  readonly approve: (...args: readonly string[]) => Promise<Ended>;
  readonly waiting: () => Promise<string>;
}

const KEYS = ["--evidence-keys", "evidence-keys"];

async function withRun(body: (world: World) => Promise<void>): Promise<void> {
  await inFolder(async (folder) => {
    await Deno.writeTextFile(join(folder, "gate.toml"), STORES);
    await Deno.writeTextFile(join(folder, "law.yaml"), waitingLaw(2));
    await Deno.writeTextFile(join(folder, "other.yaml"), waitingLaw(1));
    await Deno.writeTextFile(join(folder, "pass.txt"), "open sesame\n");
    for (const name of ["alice", "bob", "eve"]) {
      const passphrase = name === "bob" ? ["--passphrase-file", "pass.txt"] : [];
      assert.equal((await gate(folder, "key", "create", `${name}.key`, ...passphrase)).code, 0);
      assert.equal((await gate(folder, "key", "trust", `${name}.key.pub`, "--name", name)).code, 0);
    }
    const started = await gate(folder, "run", "law.yaml", "--run-key", "one", "--json");
    const run = (JSON.parse(started.stdout) as { result: { run_id: string } }).result.run_id;
    await body({
      folder,
      run,
      approve: (...args) => gate(folder, "approve", run.slice(0, 8), "--yes", ...KEYS, ...args),
      waiting: async () => {
        const { result } = JSON.parse((await gate(folder, "waiting", "--json", ...KEYS)).stdout) as {
          result: { waiting: readonly { have: number; needed: number; keys: readonly { key_id: string }[] }[] };
        };
        return result.waiting.map(({ have, needed, keys }) =>
          `${have} of ${needed}: ${keys.map(({ key_id }) => key_id).join(" ")}`
        ).join("; ");
      },
    });
  });
}

const BOB = ["--key", "bob.key", "--passphrase-file", "pass.txt"];

Deno.test("gate approve: one approves, one refuses, then changes their mind, and the run is complete", () =>
  withRun(async ({ folder, run, approve, waiting }) => {
    assert.equal(await waiting(), "0 of 2: alice bob");
    const alice = await approve("--key", "alice.key", "--law", "law.yaml", "--comment", "Looks fine");
    assert.equal(alice.code, 0, alice.stderr);
    assert.match(alice.stdout, /Evidence {3}attempt 1\n {11}approved: 0 of 2: alice or bob may \?\n/);
    assert.match(
      alice.stdout,
      /Condition.*\nSigned {5}0 of 2 by the server's word: alice or bob may\nYou sign {3}true\nComment/,
    );
    assert.match(alice.stdout, /Stage release: hold\n {4}approved: 1 of 2: alice signed; bob may \?\n/);
    assert.equal(await waiting(), "1 of 2: bob");
    for (const command of ["status", "explain"]) {
      const { stdout } = await gate(folder, command, run);
      assert.match(stdout, /approved: 1 of 2: alice signed; bob may \?/, command);
    }
    const rejected = await approve(...BOB, "--law", "law.yaml", "--reject", "--comment", "Not on a Friday");
    assert.equal(rejected.code, 0);
    const who = 'bob refused at \\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z: "Not on a Friday"';
    for (const command of [["status", run], ["explain", run], ["waiting", ...KEYS]]) {
      const { stdout } = await gate(folder, ...command);
      assert.match(stdout, new RegExp(`approved(?:: | .*)1 of 2: alice signed; ${who}`), command[0]);
    }
    assert.match(
      rejected.stdout,
      /\n {11}approved: 1 of 2: alice signed; bob may \?\nCondition.*\nSigned {5}1 of 2 by the server's word: alice signed; bob may\n/,
    );
    assert.equal(await waiting(), "1 of 2: ");
    assert.equal((await approve("--key", "alice.key", "--withdraw")).code, 0);
    assert.equal(await waiting(), "0 of 2: alice");
    assert.match(
      (await gate(folder, "status", run)).stdout,
      /approved: 0 of 2: bob refused .*; alice withdrew at [-\dT:.]+Z/,
    );
    assert.equal((await approve("--key", "alice.key")).code, 0);
    const last = await approve(...BOB);
    assert.match(last.stdout, /Stage release: complete/);
    for (const name of ["alice", "eve"]) {
      const late = await approve("--key", `${name}.key`);
      assert.equal(late.code, 7, late.stderr);
      assert.match(late.stderr, /Cannot approve: the run is complete, so it takes no more statements\n$/);
    }
    assert.equal(await waiting(), "");
    assert.equal((await gate(folder, "status", run)).code, 0);
    const pack = ["--namespace", "2", "--run", run, "--archive", "run.runpack"];
    const exported = await gate(folder, "runpack", "export", ...pack);
    assert.equal(exported.code, 0, exported.stderr);
    const shownPack = (await gate(folder, "runpack", "show", "run.runpack")).stdout;
    assert.match(shownPack, /alice stated a value that satisfies approved: true, by stdio\n.*\n +Looks fine\n/);
    assert.match(shownPack, /bob refused approved: false, by stdio\n.*\n +Not on a Friday\n/);
    assert.match(shownPack, /alice withdrew its statement on approved, by stdio\n/);
    const history = (await gate(folder, "history", run)).stdout;
    assert.match(history, /alice signed a value for approved, with a comment +stdio\n +"Looks fine"\n/);
    assert.match(history, /bob refused approved, with a comment +stdio\n +"Not on a Friday"\n/);
    assert.match(history, /alice withdrew its statement on approved +stdio\n/);
    const verified = await gate(folder, "runpack", "verify", "run.runpack");
    assert.equal(verified.code, 0, verified.stdout + verified.stderr);
    const replayed = await gate(folder, "replay", "run.runpack", "--law", "other.yaml");
    assert.match(replayed.stdout, /unknown.*true|differ/s, "one signature is enough under the other law");
  }));

Deno.test("gate approve signs nothing for another law, key, stage or without a question", () =>
  withRun(async ({ folder, run, approve, waiting }) => {
    const rows: readonly (readonly [readonly string[], number, RegExp])[] = [
      [["--key", "alice.key", "--law", "other.yaml"], 6, /the run has law "[0-9a-f]{64}", and "other\.yaml" is/],
      [["--key", "eve.key"], 7, /no open stage takes a statement of key "eve"; the law names alice and bob \(/],
      [["--key", "eve.key", "--key-id", "alice"], 2, /Signature of key "alice" does not verify/],
      [["--key", "bob.key"], 2, /it is encrypted, and --passphrase-file has no passphrase that opens it/],
      [["--key", "alice.key", "--reject", "--withdraw"], 2, /exclude each other/],
      [["--key", "alice.key", "--reject", "--value", "true"], 2, /--reject and --value exclude each other/],
      [["--key", "alice.key", "--withdraw", "--value", "true"], 2, /--withdraw and --value exclude each other/],
      [["--key", "alice.key.pub"], 2, /Cannot use key "alice\.key\.pub"/],
      [[], 2, /Flag --key is missing/],
    ];
    for (const [args, code, message] of rows) {
      const ended = await approve(...args);
      assert.match(ended.stderr, message, args.join(" "));
      assert.equal(ended.code, code, args.join(" "));
    }
    const asked = await gate(folder, "approve", run, "--key", "alice.key", ...KEYS);
    assert.deepEqual([asked.code, asked.stdout], [2, ""]);
    assert.match(asked.stderr, /standard input is no terminal.*--yes/);
    assert.equal(await waiting(), "0 of 2: alice bob");
  }));

Deno.test("gate waiting and gate approve say that no key is configured, and end with 3", () =>
  withRun(async ({ folder, run, waiting }) => {
    await Deno.rename(join(folder, "evidence-keys"), join(folder, "kept"));
    const rows: readonly (readonly string[])[] = [
      ["waiting"],
      ["waiting", "--key", "alice.key"],
      ["approve", run, "--key", "alice.key", "--yes"],
    ];
    for (const words of rows) {
      const { code, stdout, stderr } = await gate(folder, ...words);
      assert.equal(code, 3, words.join(" "));
      assert.match(stderr, /no key that may sign .*--evidence-keys/, words.join(" "));
      assert.match(stdout, words[0] === "waiting" ? /0 of 2 +no configured key\n/ : /^$/);
    }
    await Deno.rename(join(folder, "kept"), join(folder, "evidence-keys"));
    assert.equal(await waiting(), "0 of 2: alice bob", "nothing was signed");
  }));

/** The folder of keys that a configuration has without a flag: what is in the file, and the folder. */
const FOLDERS = [["", "evidence-keys"], ['trust.evidence_keys = "people"\n', "people"]] as const;

for (const [text, keys] of FOLDERS) {
  Deno.test(`every command knows the keys of people in ${keys} without a flag`, () =>
    inFolder(async (folder) => {
      await Deno.writeTextFile(join(folder, "gate.toml"), text + STORES);
      await Deno.writeTextFile(join(folder, "law.yaml"), waitingLaw(1));
      const done = async (...words: readonly string[]): Promise<string> => {
        const { code, stdout, stderr } = await gate(folder, ...words);
        assert.ok(code === 0 || code === 4, `${words.join(" ")}: ${stderr}`);
        return stdout + stderr;
      };
      await done("key", "create", "alice.key");
      assert.doesNotMatch(await done("key", "trust", "alice.key.pub", "--name", "alice"), /--evidence-keys/);
      assert.ok(Deno.statSync(join(folder, keys, "alice.pub")).isFile);
      await done("run", "law.yaml", "--run-key", "one");
      assert.match(await done("waiting"), /0 of 1 +alice\n/);
      assert.match(await done("doctor"), /evidence keys/);
      // The folder of the store, which a server reads, holds that of the keys.
      assert.match(await done("permissions"), new RegExp(`--allow-read=(\\S*,)?${folder}[,\\s]`));
      assert.doesNotMatch(await done("scenario", "check", "law.yaml"), /does not trust .*"alice"/);
      const { runs: [run] } = await jsonOf<{ runs: readonly { run_key: { run_id: string } }[] }>(folder, "runs");
      const approved = await done("approve", String(run?.run_key.run_id), "--key", "alice.key", "--yes");
      assert.match(approved, /Stage release: complete/);
      await Deno.copyFile(join(folder, keys, "alice.pub"), join(folder, keys, "eve.pub"));
      for (const words of [["config", "check"], ["serve"], ["doctor"]]) {
        const { code, stdout, stderr } = await gate(folder, ...words);
        assert.notEqual(code, 0, words.join(" "));
        assert.match(stdout + stderr, /trust\.evidence_keys.*are the same public key/, words.join(" "));
      }
    }));
}

Deno.test("the older spellings print the new ones", () =>
  inFolder(async (folder) => {
    const rows: readonly (readonly [readonly string[], RegExp])[] = [
      [["approve", "keygen", "a.key"], /gate approve keygen is now gate key create/],
      [["approve", "--key", "a.key", "--run", "0".repeat(32), "--any-head"], /now gate evidence sign/],
    ];
    for (const [args, message] of rows) {
      const { code, stderr } = await gate(folder, ...args);
      assert.equal(code, 2);
      assert.match(stderr, message);
    }
  }));

Deno.test("gate key trust keeps one id for one key, and gate serve names both ids of a key with two", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(join(folder, "gate.toml"), STORES);
    assert.equal((await gate(folder, "key", "create", "a.key")).code, 0);
    assert.equal((await gate(folder, "key", "create", "b.key")).code, 0);
    await Deno.copyFile(join(folder, "a.key.pub"), join(folder, "c.key.pub"));
    assert.match(
      (await gate(folder, "key", "create", "c.key")).stderr,
      /Cannot write ".*c\.key\.pub": it exists already/,
    );
    await assert.rejects(Deno.stat(join(folder, "c.key")), Deno.errors.NotFound);
    const trust = (file: string, name: string): Promise<Ended> => gate(folder, "key", "trust", file, "--name", name);
    assert.equal((await trust("a.key.pub", "alice")).code, 0);
    assert.equal((await trust("a.key.pub", "alice")).code, 0, "the same again");
    assert.match((await trust("a.key.pub", "eve")).stderr, /it is trusted as "alice" already/);
    assert.match((await trust("b.key.pub", "alice")).stderr, /it is the key of that name already/);
    assert.match((await trust("b.key", "bob")).stderr, /Cannot read public key "b\.key"/);
    assert.match((await trust("b.key.pub", "../bob")).stderr, /Cannot use --name/);
    if (Deno.build.os !== "windows") {
      assert.equal(((await Deno.stat(join(folder, "a.key"))).mode ?? 0) & 0o777, 0o600);
    }
    await Deno.copyFile(join(folder, "a.key.pub"), join(folder, "evidence-keys", "mallory.pub"));
    const served = await gate(folder, "serve", ...KEYS);
    assert.notEqual(served.code, 0);
    assert.match(served.stdout + served.stderr, /"mallory\\*" and \\*"alice\\*" are the same public key/);
  }));

async function jsonOf<Result>(folder: string, ...args: readonly string[]): Promise<Result> {
  const ended = await gate(folder, ...args, "--json");
  return (JSON.parse(ended.stdout) as { result: Result }).result;
}

/** Submits an approval of Alice whose clock is ahead of the gate's. */
async function approveAhead(folder: string, run_id: string, aheadMillis: number): Promise<Ended> {
  const { accepted_head: seen_head, stages: [stage] } = await jsonOf<{
    accepted_head: { record_id: string; revision: number };
    stages: readonly { stage_open_record_id: string }[];
  }>(folder, "status", run_id);
  const { runs: [run] } = await jsonOf<{ runs: readonly { scenario_law_identity: string }[] }>(folder, "runs");
  const value = { value: true, value_type: "Boolean" } as const;
  const own = { condition_id: "approved", observed_at: Date.now() + aheadMillis, seen_head };
  const opening = { stage_id: "release", stage_open_record_id: stage?.stage_open_record_id ?? "" };
  const statement = submittedStatementText({
    namespace_id: 2,
    scenario_law_identity: run?.scenario_law_identity ?? "",
    run_id,
    ...opening,
    ...own,
    value_identity: hashValue(sha256, value).identity,
  });
  const key = parseSigningKey(await Deno.readFile(join(folder, "alice.key")), null);
  const signature = { scheme: "ed25519", key_id: "alice", signature: key?.sign(statement) ?? "" };
  const call = {
    namespace_id: 2,
    scenario_id: "release",
    run_id,
    expected_head: seen_head,
    operation_id: "0".repeat(32),
    content_type: EVIDENCE_CONTENT_TYPE,
    scope: { kind: "stage_open", ...opening },
    payload: { kind: "json", value: { ...own, value, signature } },
  };
  await Deno.writeTextFile(join(folder, "call.json"), JSON.stringify(call));
  const { command, args } = processOf(gateArgs("serve", ...KEYS));
  const stdio = ["--input", "call.json", "--stdio", "--", command, ...args];
  return await gate(folder, "client", "call", "scenario_submit", ...stdio);
}

Deno.test("gate approve withdraws an approval that was signed by a clock ahead of this one", () =>
  withRun(async ({ folder, run, approve, waiting }) => {
    const ahead = await approveAhead(folder, run, 45_000);
    assert.equal(ahead.code, 0, ahead.stdout + ahead.stderr);
    assert.equal(await waiting(), "1 of 2: bob");
    const withdrawn = await approve("--key", "alice.key", "--withdraw");
    assert.equal(withdrawn.code, 0, withdrawn.stderr);
    assert.equal(await waiting(), "0 of 2: alice bob");
  }));

/** A server for callers with tokens: the first may approve, the second may drive runs. */
async function withServer(folder: string, body: (address: (name: string) => string[]) => Promise<void>): Promise<void> {
  const roles = [["approver", "Approver"], ["driver", "NamespaceWriter"]] as const;
  const principals = await Promise.all(roles.map(async ([name, role]) => {
    const token = name.padEnd(32, "0");
    await Deno.writeTextFile(join(folder, name), token, { mode: 0o600 });
    const subject = `token:${sha256(new TextEncoder().encode(token))}`;
    return { token, text: `{ subject = "${subject}", roles = [{ name = "${role}", namespace_id = 2 }] }` };
  }));
  const config = `
[server]
transport = "http"
bind = "127.0.0.1:0"
[server.auth]
mode = "bearer_token"
bearer_tokens = [${principals.map(({ token }) => `"${token}"`).join(", ")}]
principals = [${principals.map(({ text }) => text).join(", ")}]
${STORES}`;
  await Deno.writeTextFile(join(folder, "http.toml"), config, { mode: 0o600 });
  await using server = await listening(
    startServer({ args: gateArgs("serve", "--config", "http.toml", ...KEYS), cwd: folder }),
  );
  await body((name) => ["--server", new URL(server.url).origin, "--token-file", name, "--namespace", "2"]);
}

Deno.test("gate approve says who must evaluate: an approver may not, a writer does, and gate run counts the keys", () =>
  withRun(async ({ folder, run }) => {
    await withServer(folder, async (address) => {
      const sign = (name: string, ...args: readonly string[]): Promise<Ended> =>
        gate(folder, "approve", run, "--yes", ...args, ...address(name));
      const alice = await sign("approver", "--key", "alice.key", "--law", "law.yaml");
      assert.equal(alice.code, 0, alice.stderr);
      assert.match(
        alice.stdout,
        /Stage release is not evaluated yet\. Your roles may not evaluate it: a caller with a role such as NamespaceWriter/,
      );
      const refused = await sign("driver", ...BOB, "--reject");
      assert.match(refused.stdout, /Stage release: hold/);
      assert.match((await sign("approver", ...BOB)).stdout, /is not evaluated yet/);
    });
    const law = ["law.yaml", "--run-key", "one"];
    await Deno.mkdir(join(folder, "none"));
    const keyless = await gate(folder, "run", ...law, "--evidence-keys", "none");
    assert.equal(keyless.code, 4, "without the keys of people no signature counts");
    const completed = await gate(folder, "run", ...law);
    assert.equal(completed.code, 0, completed.stdout + completed.stderr);
  }));

const FROZEN_LAW = `law: fz
people: {bosses: [alice, bob]}
evidence: {frozen: boolean, coverage: percent, ok: 1 of bosses}
stages: {s: "!frozen && !(coverage >= 80) && ok"}
`;

// What callers say, and whether that is as the law needs it.
const FROZEN: readonly (readonly [frozen: boolean, coverage: string, frozenHolds: boolean, coverageHolds: boolean])[] =
  [
    [true, "90", false, false],
    [false, "50", true, true],
    [false, "90", true, false],
  ];

for (const [frozen, coverage, ...holds] of FROZEN) {
  const [first, second] = holds.map((one) => one ? ["✓", "met"] : ["✗", "not met"]) as [string[], string[]];
  Deno.test(`every screen has one mark for what must not hold: frozen ${frozen} ${first}, coverage ${coverage} ${second}`, () =>
    inFolder(async (folder) => {
      await Deno.writeTextFile(join(folder, "gate.toml"), STORES);
      await Deno.writeTextFile(join(folder, "law.yaml"), FROZEN_LAW);
      for (const name of ["alice", "bob"]) {
        assert.equal((await gate(folder, "key", "create", `${name}.key`)).code, 0);
        assert.equal((await gate(folder, "key", "trust", `${name}.key.pub`, "--name", name)).code, 0);
      }
      const given = ["--set", `frozen=${frozen}`, "--set", `coverage=${coverage}`];
      const ran = await gate(folder, "run", "law.yaml", "--run-key", "one", ...given, ...KEYS);
      const id = /[0-9a-f]{32}/.exec((await gate(folder, "runs", "--json")).stdout)?.[0] ?? "";
      const list = [
        `${first[0]} !frozen +${first[1]}, found ${frozen}\n`,
        `${second[0]} !\\(coverage >= 80\\) +${second[1]}, found ${coverage}\n`,
      ];
      const below = [
        `!frozen: found ${frozen} ${first[0]}\n`,
        `!\\(coverage >= 80\\): found ${coverage} ${second[0]}\n`,
      ];
      for (const { stdout } of [ran, await gate(folder, "status", id)]) {
        for (const line of [...list, ...below]) assert.match(stdout, new RegExp(line));
      }
      const exported = ["--namespace", "2", "--run", id, "--archive", "run.runpack"];
      assert.equal((await gate(folder, "runpack", "export", ...exported)).code, 0);
      const { stdout } = await gate(folder, "runpack", "show", "run.runpack", "--html", "run.html");
      assert.match(stdout, new RegExp(`${first[0]} !frozen ${first[1]}, found ${frozen}\n`));
      assert.match(stdout, new RegExp(`${second[0]} !\\(coverage >= 80\\) ${second[1]}, found ${coverage}\n`));
      const page = await Deno.readTextFile(join(folder, "run.html"));
      const summary = (/<ul class="closed">.*?<\/section>/s.exec(page)?.[0] ?? "").replaceAll(/<[^>]*>/g, "");
      const unmet = [["!frozen", holds[0]], ["!(coverage &gt;= 80)", holds[1]]] as const;
      for (const [text, isHeld] of unmet) assert.equal(summary.includes(`${text} not met`), !isHeld, summary);
      await withServer(folder, async (address) => {
        const signed = await gate(folder, "approve", id, "--yes", "--key", "alice.key", ...address("approver"));
        assert.equal(signed.code, 0, signed.stderr);
        assert.match(signed.stdout, new RegExp(`\n +!frozen(?:: found a value that is hidden .*)? ${first[0]}\n`));
        const hidden = new RegExp(
          `\n +!\\(coverage >= 80\\): (?:value hidden|found a value that is hidden .*) ${second[0]}\n`,
        );
        assert.match(signed.stdout, hidden);
      });
    }));
}

Deno.test("gate doctor, gate config check and gate scenario check read the keys of people as gate serve does", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(join(folder, "gate.toml"), STORES);
    await Deno.writeTextFile(join(folder, "law.yaml"), waitingLaw(2));
    await Deno.mkdir(join(folder, "empty"));
    for (const name of ["alice", "bob"]) {
      assert.equal((await gate(folder, "key", "create", `${name}.key`)).code, 0);
      assert.equal((await gate(folder, "key", "trust", `${name}.key.pub`, "--name", name)).code, 0);
    }
    await Deno.mkdir(join(folder, "twice"));
    await Deno.copyFile(join(folder, "alice.key.pub"), join(folder, "twice", "alice.pub"));
    await Deno.copyFile(join(folder, "alice.key.pub"), join(folder, "twice", "mallory.pub"));
    const rows: readonly (readonly [readonly string[], string, RegExp])[] = [
      [["doctor"], "evidence-keys", /ok +evidence keys +evidence-keys has the keys alice, bob\n/],
      [["doctor"], "empty", /note +evidence keys +empty has no public key/],
      [["doctor"], "missing", /fail +evidence keys +--evidence-keys: it is not a folder/],
      [["doctor"], "twice", /fail +evidence keys +.*"mallory" and "alice" are the same public key/],
      [["config", "check"], "evidence-keys", /gate\.toml: valid\n$/],
      [["config", "check"], "missing", /1 problem\n--evidence-keys: it is not a folder/],
      [["config", "check"], "twice", /"mallory" and "alice" are the same public key/],
      [["scenario", "check", "law.yaml"], "evidence-keys", /^law\.yaml: a law with 1 stage and 1 condition\n/],
      [["scenario", "check", "law.yaml"], "empty", /the configuration trusts no key \[condition_never_counts\]/],
    ];
    for (const [command, keys, expected] of rows) {
      const { stdout } = await gate(folder, ...command, "--evidence-keys", keys);
      assert.match(stdout, expected, [...command, keys].join(" "));
    }
  }));

Deno.test("a law that pins keys takes an approval by the pinned key, and by no other key of that name", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(join(folder, "gate.toml"), STORES);
    for (const name of ["alice", "eve"]) {
      assert.equal((await gate(folder, "key", "create", `${name}.key`)).code, 0);
    }
    const key = (await Deno.readTextFile(join(folder, "alice.key.pub"))).trim();
    const law = `law: release\npeople:\n  owners: { alice: "${key}" }\nevidence:\n  approved: 1 of owners\n` +
      "stages:\n  ship: approved\n";
    await Deno.writeTextFile(join(folder, "law.yaml"), law);
    const started = await gate(folder, "run", "law.yaml", "--run-key", "one", "--json");
    assert.equal(started.code, 4, started.stderr);
    const run = (JSON.parse(started.stdout) as { result: { run_id: string } }).result.run_id;
    const admit = ["runpack", "admit", "run.runpack", "--law", "law.yaml", "--origin-unchecked"];
    const rows: readonly (readonly [args: readonly string[], code: number, said: RegExp])[] = [
      [
        ["approve", run, "--key", "eve.key", "--key-id", "alice", "--yes"],
        7,
        /no open stage takes a statement of key "alice"/,
      ],
      [["approve", run, "--key", "alice.key", "--yes"], 0, /as key alice\nStage ship: complete\n/],
      [["runpack", "export", "--namespace", "2", "--run", run, "--archive", "run.runpack"], 0, /^[0-9a-f]{64}\n$/],
      [admit, 0, /^Admitted[^]*\nalice SHA256:\S+ \(as the law says\) signed approved = true/],
      [[...admit, "--key", "alice=alice.key.pub"], 0, /^Admitted/],
      [[...admit, "--key", "alice=eve.key.pub"], 6, /^Not admitted \(signer_differs\)/],
      [["key", "trust", "eve.key.pub", "--name", "alice"], 0, /alice\.pub/],
      [
        ["run", "law.yaml", "--run-key", "two", ...KEYS],
        2,
        /The operator has another key under "alice" than condition "approved" of the law pins/,
      ],
    ];
    for (const [args, code, said] of rows) {
      const ended = await gate(folder, ...args);
      assert.equal(ended.code, code, `${args.join(" ")}: ${ended.stdout}${ended.stderr}`);
      assert.match(ended.stdout + ended.stderr, said);
    }
  }));
