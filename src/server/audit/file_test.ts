import assert from "node:assert/strict";
import { AuditFileGone, openAuditFile } from "./file.ts";
import { bytesOf, chainOf, event, OPENING, verify, withPath, writeOnce } from "./audit_fixture.ts";
import { headPath, readHead } from "./head.ts";
import { timeEvent } from "./line.ts";
import { readLine } from "./read_line.ts";
import { verifyAuditFile } from "./verify.ts";

function reasonsOf(path: string): string[] {
  return Deno.readTextFileSync(path).trimEnd().split("\n").map((line) => {
    const reading = readLine(new TextEncoder().encode(line));
    return reading.ok ? reading.line.reason : reading.fault;
  });
}

Deno.test("openAuditFile() begins a chain, goes on with it, and verifies", () =>
  withPath(async (path) => {
    await writeOnce(path, "a", "b");
    await writeOnce(path, "c");
    assert.deepEqual(reasonsOf(path), ["chain_started", "a", "b", "process_started", "c"]);
    const report = await verify(path);
    assert.deepEqual({ ...report, chain_id: "", head: "" }, {
      sound: true,
      lines: 5,
      chain_id: "",
      first_sequence: 1,
      last_sequence: 5,
      head: "",
      continues: null,
      torn: [],
      end_proven: true,
      broken: null,
    });
  }));

Deno.test("a line is canonical JSON with the members of the format", () =>
  withPath(async (path) => {
    await writeOnce(path, "accepted");
    const [, line = ""] = Deno.readTextFileSync(path).split("\n");
    const value = JSON.parse(line) as Record<string, unknown>;
    assert.deepEqual({ ...value, chain_id: "", hash: "", previous: "" }, {
      chain_id: "",
      correlation_id: "client-1",
      details: { n: 1 },
      hash: "",
      kind: "mutation",
      outcome: "done",
      peer_address: "127.0.0.1",
      previous: "",
      reason: "accepted",
      sequence: 2,
      server_correlation_id: "gate-1",
      subject: "token:00",
      timestamp_ms: 7,
      tool: "t",
      transport: "http",
    });
    assert.deepEqual(Object.keys(value), Object.keys(value).toSorted());
  }));

Deno.test("openAuditFile() makes its files for their owner alone", () =>
  withPath(async (path) => {
    await writeOnce(path);
    if (Deno.build.os === "windows") return;
    for (const made of [path, headPath(path)]) assert.equal((Deno.statSync(made).mode ?? 0) & 0o777, 0o600, made);
  }));

Deno.test("a line that a crash cut short is closed, and recorded", () =>
  withPath(async (path) => {
    await writeOnce(path, "a");
    const torn = '{"chain_id":"torn';
    Deno.writeTextFileSync(path, torn, { append: true });
    await writeOnce(path, "b");
    const report = await verify(path);
    assert.deepEqual(report.torn, [{ line: 3, bytes: torn.length }]);
    assert.equal(report.sound, true);
    assert.deepEqual(reasonsOf(path), [
      "chain_started",
      "a",
      "not_json",
      "torn_line_closed",
      "process_started",
      "b",
    ]);
  }));

Deno.test("a torn line that was changed after it was closed breaks the chain", () =>
  withPath(async (path) => {
    await writeOnce(path, "a");
    Deno.writeTextFileSync(path, '{"chain_id":"torn', { append: true });
    await writeOnce(path, "b");
    Deno.writeTextFileSync(path, Deno.readTextFileSync(path).replace('"torn\n', '"TORN\n'));
    assert.deepEqual([(await verify(path)).broken?.line, (await verify(path)).broken?.fault], [3, "not_json"]);
  }));

Deno.test("lines removed at the end between two writers show in every later check", () =>
  withPath(async (path) => {
    await writeOnce(path, "a", "b");
    const lines = Deno.readTextFileSync(path).split("\n");
    Deno.writeTextFileSync(path, lines.slice(0, 2).map((line) => `${line}\n`).join(""));
    await writeOnce(path, "c");
    assert.deepEqual(reasonsOf(path), ["chain_started", "a", "lines_missing", "process_started", "c"]);
    assert.deepEqual([(await verify(path)).broken?.line, (await verify(path)).broken?.fault], [3, "sequence_gap"]);
  }));

Deno.test("the chain continues in a new file after the old one was moved away, running or not", () =>
  withPath(async (path) => {
    await writeOnce(path, "a");
    Deno.renameSync(path, `${path}.1`);
    await writeOnce(path, "b");
    assert.deepEqual(reasonsOf(path), ["chain_continued", "b"]);
    const first = await verifyAuditFile(bytesOf(await Deno.readFile(`${path}.1`)));
    const second = await verify(path);
    assert.deepEqual(second.continues, { sequence: first.last_sequence, head: first.head });
    const after = { chain_id: first.chain_id ?? "", sequence: first.last_sequence ?? 0, head: first.head ?? "" };
    assert.equal((await verifyAuditFile(bytesOf(await Deno.readFile(path)), { after })).sound, true);
    const wrong = { ...after, head: "0".repeat(64) };
    const broken = await verifyAuditFile(bytesOf(await Deno.readFile(path)), { after: wrong });
    assert.equal(broken.broken?.fault, "previous_mismatch");
  }));

Deno.test("two writers share a file and one chain", () =>
  withPath(async (path) => {
    const one = openAuditFile(path, null, OPENING);
    const two = openAuditFile(path, null, OPENING);
    for (let round = 0; round < 20; round++) {
      for (const file of [one, two]) assert.ok(file.append([timeEvent(event(`r${round}`), 1)]));
    }
    await one.sync();
    one.close();
    two.close();
    const report = await verifyAuditFile(bytesOf(await Deno.readFile(path)));
    assert.deepEqual([report.sound, report.lines], [true, 42]);
  }));

Deno.test("two writers whose file is moved away continue in the new one, in one chain, when either reopens it", () =>
  withPath(async (path) => {
    const files = [openAuditFile(path, null, OPENING), openAuditFile(path, null, OPENING)];
    const write = (index: number, reason: string): boolean =>
      files[index]?.append([timeEvent(event(reason), 1)]) ?? assert.fail();
    const reopen = (index: number): void => {
      const old = files[index] ?? assert.fail();
      files[index] = old.successor((from) => openAuditFile(path, from, OPENING));
      old.close();
    };
    assert.ok(write(0, "a") && write(1, "b"));
    Deno.renameSync(path, `${path}.1`);
    // The other one has written last, and the one that reopens has not seen that yet.
    assert.ok(write(0, "c") && write(1, "d"));
    reopen(0);
    assert.ok(write(0, "e"));
    assert.throws(() => write(1, "f"), AuditFileGone);
    await files[1]?.sync();
    assert.equal(readHead(path), null, "the head is not that of the old file");
    reopen(1);
    assert.ok(write(1, "f") && write(0, "g"));
    await files[0]?.sync();
    for (const file of files) file.close();
    assert.deepEqual(reasonsOf(`${path}.1`), ["chain_started", "process_started", "a", "b", "c", "d"]);
    assert.deepEqual(reasonsOf(path), ["chain_continued", "e", "process_started", "f", "g"]);
    const last = await chainOf(path, await chainOf(`${path}.1`, null));
    assert.deepEqual(readHead(path), last);
  }));

Deno.test("a writer whose file is moved away writes to it until another replaces it", () =>
  withPath(async (path) => {
    const old = openAuditFile(path, null, OPENING);
    Deno.renameSync(path, `${path}.1`);
    assert.ok(old.append([timeEvent(event("a"), 1)]));
    await old.sync();
    assert.equal(readHead(path)?.sequence, 2, "the next process continues the chain");
    Deno.writeTextFileSync(path, "");
    old.release();
    assert.throws(() => old.append([timeEvent(event("b"), 1)]), AuditFileGone);
    assert.ok(old.append([timeEvent(event("b"), 1)], true), "unless it is to stay");
    const next = old.successor((from) => openAuditFile(path, from, OPENING));
    old.close();
    next.close();
    assert.deepEqual(reasonsOf(path), ["chain_continued"]);
    await chainOf(path, await chainOf(`${path}.1`, null));
  }));

Deno.test("the last lines of a file that is moved away are synchronized to disk before the chain continues elsewhere", () =>
  withPath((path) => {
    const { syncDataSync } = Deno.FsFile.prototype;
    const steps: string[] = [];
    Deno.FsFile.prototype.syncDataSync = function (): void {
      steps.push("synchronised");
      syncDataSync.call(this);
    };
    try {
      const old = openAuditFile(path, null, OPENING);
      assert.ok(old.append([timeEvent(event("a"), 1)]));
      const successor = (): void => {
        const next = old.successor((from) => {
          steps.push("opened");
          return openAuditFile(path, from, OPENING);
        });
        next.close();
      };
      successor();
      Deno.renameSync(path, `${path}.1`);
      successor();
      old.close();
    } finally {
      Deno.FsFile.prototype.syncDataSync = syncDataSync;
    }
    assert.deepEqual(steps, ["opened", "synchronised", "opened"]);
  }));

Deno.test("a file that is cut while it is open shows a gap", () =>
  withPath(async (path) => {
    const file = openAuditFile(path, null, OPENING);
    assert.ok(file.append([timeEvent(event("a"), 1), timeEvent(event("b"), 1)]));
    const lines = Deno.readTextFileSync(path).split("\n");
    Deno.writeTextFileSync(path, `${lines[0]}\n`);
    assert.ok(file.append([timeEvent(event("c"), 1)]));
    file.close();
    assert.deepEqual(reasonsOf(path), ["chain_started", "file_changed_outside", "c"]);
    const report = await verifyAuditFile(bytesOf(await Deno.readFile(path)));
    assert.equal(report.broken?.fault, "sequence_gap");
  }));

const FOREIGN: readonly (readonly [what: string, content: string])[] = [
  ["a file of something else", "secret key material"],
  ["lines of something else", "one\ntwo\n"],
  ["JSON lines of something else", '{"level":"info"}\n'],
];

for (const [what, content] of FOREIGN) {
  Deno.test(`openAuditFile() leaves ${what} alone`, () =>
    withPath((path) => {
      Deno.writeTextFileSync(path, content);
      assert.throws(() => openAuditFile(path, null, OPENING), /audit log/);
      assert.equal(Deno.readTextFileSync(path), content);
    }));
}

Deno.test("openAuditFile() refuses a folder, and a folder that is not there", () =>
  withPath((path) => {
    Deno.mkdirSync(path);
    assert.throws(() => openAuditFile(path, null, OPENING), /not a file/);
    Deno.symlinkSync("nothing", `${path}.link`);
    assert.throws(() => openAuditFile(`${path}.link`, null, OPENING), /it is a link to a missing file/);
    assert.throws(
      () => openAuditFile(`${path}/no/audit.jsonl`, null, OPENING),
      /^Error: Cannot open audit log ".*": No such/,
    );
  }));
