import assert from "node:assert/strict";
import { canonicalize } from "../../canonical/canonicalize.ts";
import { readJson } from "../../canonical/scan.ts";
import { openAuditFile } from "./file.ts";
import { bytesOf, chainOf, event, OPENING, verify, withPath, writeOnce } from "./audit_fixture.ts";
import { readHead } from "./head.ts";
import { type ChainState, LINE_BYTES, timeEvent } from "./line.ts";
import { verifyAuditFile } from "./verify.ts";

/** A change to a sound file of seven lines; then the line that breaks, with the fault. */
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

/** A subject and a tool that a terminal would act on. */
const ACTIVE = { subject: "CN=\u009b31m\u202ereversed", tool: "a\u2066b\u007f" };

/** How a line with such names stands in a file, and what verifying it says. */
const WRITTEN: readonly (readonly [how: string, change: (line: string) => string, broken: string])[] = [
  ["escaped, as it is written", (line) => line, "sound"],
  ["raw, as earlier versions wrote it", (line) => canonicalize(readJson(line)), "sound"],
  ["with one of them raw", (line) => line.replace("\\u202e", "\u202e"), "2 not_canonical"],
  ["with a letter escaped", (line) => line.replace("reversed", "\\u0072eversed"), "2 not_canonical"],
  ["with escapes in capitals", (line) => line.replace("\\u009b", "\\u009B"), "2 not_canonical"],
  ["with one of them taken out", (line) => line.replace("\\u202e", ""), "2 hash_mismatch"],
];

for (const [how, change, broken] of WRITTEN) {
  Deno.test(`verifyAuditFile() a line that a terminal would act on, ${how}: ${broken}`, () =>
    withPath(async (path) => {
      const file = openAuditFile(path, null, OPENING);
      const details = { stage_id: "\u0090q" };
      assert.ok(file.append([timeEvent({ ...event("a"), ...ACTIVE, details }, 7), timeEvent(event("b"), 7)]));
      await file.sync();
      file.close();
      const text = await Deno.readTextFile(path);
      // deno-lint-ignore no-control-regex
      assert.doesNotMatch(text, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
      const lines = text.trimEnd().split("\n");
      const { subject, tool } = JSON.parse(lines[1] ?? "") as typeof ACTIVE;
      assert.deepEqual({ subject, tool }, ACTIVE);
      await Deno.writeTextFile(path, `${[lines[0], change(lines[1] ?? ""), lines[2]].join("\n")}\n`);
      const report = await verify(path);
      assert.equal(report.broken === null ? "sound" : `${report.broken.line} ${report.broken.fault}`, broken);
    }));
}

for (const [what, change, broken] of TAMPERED) {
  Deno.test(`verifyAuditFile() after someone ${what}: ${broken}`, () =>
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

/** Rotates a log a moment before the process is killed: the head file is still that of the file before. */
async function rotated(path: string, synced: readonly string[], unsynced: readonly string[]): Promise<void> {
  const old = openAuditFile(path, null, OPENING);
  const write = (reasons: readonly string[]): void => {
    for (const reason of reasons) assert.ok(old.append([timeEvent(event(reason), 7)]));
  };
  write(synced);
  await old.sync();
  write(unsynced);
  Deno.renameSync(path, `${path}.1`);
  const fresh = old.successor((from) => openAuditFile(path, from, OPENING));
  assert.ok(fresh.append([timeEvent(event("c"), 7)]));
  old.close();
  fresh.close();
}

/**
 * What the head file of a log says that was rotated just now, after four lines; what is said of the new file and of the
 * old.
 */
const HEADS: readonly (readonly [
  what: string,
  unsynced: readonly string[],
  change: (head: ChainState) => ChainState,
  fresh: string,
  old: string,
])[] = [
  ["the line before its first", [], (head) => head, "sound", "sound"],
  ["an earlier line", ["b"], (head) => head, "sound", "sound"],
  [
    "another line before its first",
    [],
    (head) => ({ ...head, head: "0".repeat(64) }),
    "head_mismatch",
    "head_mismatch",
  ],
  ["another line of the old file", ["b"], (head) => ({ ...head, head: "0".repeat(64) }), "sound", "head_mismatch"],
  ["another first line", [], (head) => ({ ...head, sequence: head.sequence + 1 }), "head_mismatch", "sound"],
  ["a line that is not there", [], (head) => ({ ...head, sequence: head.sequence + 3 }), "end_missing", "sound"],
  ["another chain", ["b"], (head) => ({ ...head, chain_id: "0".repeat(32) }), "head_mismatch", "sound"],
];

for (const [what, unsynced, change, freshFault, oldFault] of HEADS) {
  Deno.test(`verifyAuditFile() of a new file whose head file names ${what}: ${freshFault}, the old one ${oldFault}`, () =>
    withPath(async (path) => {
      await rotated(path, ["a"], unsynced);
      const head = change(readHead(path) ?? assert.fail());
      const old = await Deno.readFile(`${path}.1`);
      const fresh = await Deno.readFile(path);
      const before = await verifyAuditFile(bytesOf(old), { laterHeads: [head] });
      assert.equal(before.broken?.fault ?? "sound", oldFault);
      const after = await chainOf(`${path}.1`, null);
      for (const options of [{ head }, { head, after }]) {
        const report = await verifyAuditFile(bytesOf(fresh), options);
        assert.equal(report.broken?.fault ?? "sound", freshFault);
        assert.equal(report.end_proven, false);
      }
    }));
}

Deno.test("verifyAuditFile() a new file that lost its first line is broken with any head file of the old one", () =>
  withPath(async (path) => {
    await rotated(path, ["a"], []);
    const lines = Deno.readTextFileSync(path).split("\n");
    Deno.writeTextFileSync(path, lines.slice(1).join("\n"));
    assert.equal((await verify(path)).broken?.fault, "first_line_missing");
  }));

Deno.test("verifyAuditFile() the last file of a chain in the place of which an older one was put: end_missing", () =>
  withPath(async (path) => {
    await rotated(path, ["a"], []);
    await writeOnce(path, "d");
    Deno.renameSync(`${path}.1`, path);
    assert.equal((await verify(path)).broken?.fault, "end_missing");
  }));

Deno.test("verifyAuditFile() a file cut within its last line: torn_end", () =>
  withPath(async (path) => {
    await writeOnce(path, "a");
    const bytes = Deno.readFileSync(path);
    Deno.writeFileSync(path, bytes.subarray(0, bytes.length - 1));
    assert.equal((await verify(path)).broken?.fault, "torn_end");
  }));

Deno.test("verifyAuditFile() gives the same result for any chunks", () =>
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
