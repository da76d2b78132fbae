import assert from "node:assert/strict";
import { AuditFileGone, openAuditFile } from "./file.ts";
import { headPath, readHead } from "./head.ts";
import { type ChainState, LINE_BYTES, timeEvent } from "./line.ts";
import { readLine } from "./read_line.ts";
import type { AuditEvent } from "./types.ts";
import { type AuditReport, verifyAuditFile } from "./verify.ts";

const OPENING: AuditEvent = {
  kind: "process",
  outcome: "begun",
  reason: "process_started",
  subject: null,
  origin: null,
};

function event(reason: string): AuditEvent {
  const origin = {
    transport: "http" as const,
    peer_address: "127.0.0.1",
    correlation_id: "client-1",
    server_correlation_id: "gate-1",
    traceparent: null,
  };
  return { kind: "mutation", outcome: "done", reason, subject: "token:00", origin, tool: "t", details: { n: 1 } };
}

/** Runs a test on a path of its own. */
async function withPath(test: (path: string) => Promise<void> | void): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await test(`${folder}/audit.jsonl`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Opens, writes events in one batch, synchronises and closes. */
async function writeOnce(path: string, ...reasons: string[]): Promise<void> {
  const file = openAuditFile(path, null, OPENING);
  if (reasons.length > 0) assert.ok(file.append(reasons.map((reason) => timeEvent(event(reason), 7))));
  await file.sync();
  file.close();
}

async function* bytesOf(text: string | Uint8Array, step = 100): AsyncGenerator<Uint8Array> {
  const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
  for (let at = 0; at < bytes.length; at += step) yield bytes.subarray(at, at + step);
}

async function verify(path: string): Promise<AuditReport> {
  return await verifyAuditFile(bytesOf(await Deno.readFile(path)), { head: readHead(path) });
}

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

/** What somebody did to the lines of a sound file of seven; then the line that breaks and why. */
const TAMPERED: readonly (readonly [what: string, change: (lines: string[]) => void, broken: string])[] = [
  ["nothing", () => {}, "sound"],
  ["edits the first line", (lines) => edit(lines, 0), "1 hash_mismatch"],
  ["edits a line", (lines) => edit(lines, 3), "4 hash_mismatch"],
  ["edits the last line", (lines) => edit(lines, 6), "7 hash_mismatch"],
  ["edits a hash", (lines) => editHash(lines, 3), "4 hash_mismatch"],
  ["removes the first line", (lines) => void lines.splice(0, 1), "1 first_line_missing"],
  ["removes the first three", (lines) => void lines.splice(0, 3), "1 first_line_missing"],
  ["removes a line", (lines) => void lines.splice(3, 1), "4 sequence_gap"],
  ["removes the last line", (lines) => void lines.splice(6, 1), "7 end_missing"],
  ["removes every line", (lines) => void lines.splice(0, 7), "1 empty_file"],
  ["swaps two lines", (lines) => swap(lines, 2, 3), "3 sequence_gap"],
  ["repeats a line", (lines) => void lines.splice(3, 0, lines[3] ?? ""), "5 sequence_gap"],
  ["cuts the last line short", (lines) => cut(lines, 6), "7 not_json"],
  ["cuts a line short", (lines) => cut(lines, 3), "4 not_json"],
  ["appends a forged line", (lines) => void lines.push(forged(lines, 6)), "8 hash_mismatch"],
  ["appends a line of its own making", (lines) => void lines.push('{"sequence":8}'), "8 not_a_line"],
  ["inserts an empty line", (lines) => void lines.splice(3, 0, ""), "4 not_json"],
  ["adds a blank", (lines) => void lines.splice(3, 1, `${lines[3]} `), "4 not_canonical"],
  ["names a member twice", (lines) => void lines.splice(3, 1, `{"a":1,"a":1,${lines[3]?.slice(1)}`), "4 not_json"],
  ["adds a member", (lines) => void lines.splice(3, 1, `{"a":1,${lines[3]?.slice(1)}`), "4 not_a_line"],
];

function edit(lines: string[], at: number): void {
  lines[at] = (lines[at] ?? "").replace('"timestamp_ms":', '"timestamp_ms":1');
}

function editHash(lines: string[], at: number): void {
  lines[at] = (lines[at] ?? "").replace(/"hash":"[0-9a-f]{64}"/, `"hash":"${"0".repeat(64)}"`);
}

function swap(lines: string[], a: number, b: number): void {
  [lines[a], lines[b]] = [lines[b] ?? "", lines[a] ?? ""];
}

function cut(lines: string[], at: number): void {
  lines[at] = (lines[at] ?? "").slice(0, 40);
}

/** The next line of the chain, with a hash that was made up. */
function forged(lines: string[], after: number): string {
  const value = JSON.parse(lines[after] ?? "{}") as Record<string, unknown>;
  return JSON.stringify({ ...value, previous: value["hash"], sequence: 8, hash: "1".repeat(64) });
}

for (const [what, change, broken] of TAMPERED) {
  Deno.test(`verifyAuditFile() somebody ${what}: ${broken}`, () =>
    withPath(async (path) => {
      await writeOnce(path, "a", "b", "c", "d", "e", "f");
      const lines = Deno.readTextFileSync(path).trimEnd().split("\n");
      assert.equal(lines.length, 7);
      change(lines);
      Deno.writeTextFileSync(path, lines.map((line) => `${line}\n`).join(""));
      const report = await verify(path);
      assert.equal(report.broken === null ? "sound" : `${report.broken.line} ${report.broken.fault}`, broken);
      assert.equal(report.sound, broken === "sound");
    }));
}

Deno.test("verifyAuditFile() a file cut within its last line: torn_end", () =>
  withPath(async (path) => {
    await writeOnce(path, "a");
    const bytes = Deno.readFileSync(path);
    Deno.writeFileSync(path, bytes.subarray(0, bytes.length - 1));
    assert.equal((await verify(path)).broken?.fault, "torn_end");
  }));

Deno.test("verifyAuditFile() reads the same whatever the pieces", () =>
  withPath(async (path) => {
    await writeOnce(path, "a", "b");
    const bytes = Deno.readFileSync(path);
    const reports = await Promise.all(
      [1, 2, 77, 4096].map((step) => verifyAuditFile(bytesOf(bytes, step), { head: readHead(path) })),
    );
    for (const report of reports) assert.deepEqual(report, reports[0]);
  }));

for (const [bytes, fault] of [[LINE_BYTES, "not_json"], [LINE_BYTES + 1, "line_too_long"]] as const) {
  Deno.test(`verifyAuditFile() a line of ${bytes} bytes: ${fault}`, async () => {
    const report = await verifyAuditFile(bytesOf(`${"x".repeat(bytes)}\n`, 65536));
    assert.equal(report.broken?.fault, fault);
  });
}

Deno.test("a line that a crash cut short is closed, and said so", () =>
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

Deno.test("lines removed at the end while nobody wrote show in every later check", () =>
  withPath(async (path) => {
    await writeOnce(path, "a", "b");
    const lines = Deno.readTextFileSync(path).split("\n");
    Deno.writeTextFileSync(path, lines.slice(0, 2).map((line) => `${line}\n`).join(""));
    await writeOnce(path, "c");
    assert.deepEqual(reasonsOf(path), ["chain_started", "a", "lines_missing", "process_started", "c"]);
    assert.deepEqual([(await verify(path)).broken?.line, (await verify(path)).broken?.fault], [3, "sequence_gap"]);
  }));

Deno.test("the chain goes on in a new file after the old one was moved away, running or not", () =>
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

/** The chain at the end of a file that is sound. */
async function chainOf(path: string, after: ChainState | null): Promise<ChainState> {
  const { sound, broken, chain_id, last_sequence, head } = await verifyAuditFile(bytesOf(await Deno.readFile(path)), {
    after,
  });
  assert.ok(sound, JSON.stringify(broken));
  return { chain_id: chain_id ?? "", sequence: last_sequence ?? 0, head: head ?? "" };
}

Deno.test("two writers whose file is moved away go on in the new one, in one chain, whoever is told of it", () =>
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
    // The other one has written last, which who is told has not seen yet.
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

Deno.test("a writer whose file is moved away writes on in it until another stands in its place", () =>
  withPath(async (path) => {
    const old = openAuditFile(path, null, OPENING);
    Deno.renameSync(path, `${path}.1`);
    assert.ok(old.append([timeEvent(event("a"), 1)]));
    await old.sync();
    assert.equal(readHead(path)?.sequence, 2, "whoever starts now goes on with the chain");
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
    assert.throws(
      () => openAuditFile(`${path}/no/audit.jsonl`, null, OPENING),
      /^Error: Cannot open audit log ".*": No such/,
    );
  }));
