import assert from "node:assert/strict";
import { dirname } from "node:path";
import { openAuditFile } from "../../server/audit/file.ts";
import { OPENING, withPath } from "../../server/audit/audit_fixture.ts";
import { checkAudit } from "./doctor.ts";

/** The file at the path of the audit log, and the finding. */
const AUDITS: readonly (readonly [what: string, make: (path: string) => void, expected: RegExp])[] = [
  ["nothing", () => undefined, /^ok .* can be written$/],
  ["an empty file", (path) => Deno.writeTextFileSync(path, ""), /^ok /],
  ["a log", (path) => openAuditFile(path, null, OPENING).close(), /^ok /],
  ["a log that was cut short", (path) => Deno.writeTextFileSync(path, '{"chain_id":"'), /^ok /],
  [
    "another file",
    (path) => Deno.writeTextFileSync(path, "hello\n"),
    /^fail Cannot continue audit log ".*audit\.jsonl": its last line is not .* name another file in server\.audit\.path$/,
  ],
  [
    "another file beside it",
    (path) => Deno.writeTextFileSync(`${path}.head`, "hello"),
    /^fail .*not the head of an audit log/,
  ],
  ["a folder", (path) => Deno.mkdirSync(path), /^fail .*audit\.jsonl cannot be written: it is not a file$/],
  [
    "a device",
    (path) => Deno.symlinkSync("/dev/null", path),
    /^fail .*audit\.jsonl cannot be written: it is not a file$/,
  ],
  ["a link to a log", (path) => linked(path), /^ok /],
  [
    "a link to nothing",
    (path) => Deno.symlinkSync("other", path),
    /^fail .*audit\.jsonl .* it is a link to a missing file$/,
  ],
];

function linked(path: string): void {
  Deno.writeTextFileSync(`${path}.there`, "");
  Deno.symlinkSync(`${path}.there`, path);
}

for (const [what, make, expected] of AUDITS) {
  Deno.test(`checkAudit() on ${what}: ${expected}`, () =>
    withPath(async (path) => {
      const folder = dirname(path);
      make(path);
      const before = [...Deno.readDirSync(folder)].length;
      const { check, status, message } = await checkAudit(path);
      assert.equal(check, "audit log");
      assert.match(`${status} ${message}`, expected);
      assert.equal([...Deno.readDirSync(folder)].length, before, "nothing is left behind");
    }));
}

Deno.test("checkAudit() reports a missing folder, and one that cannot be written", async () => {
  assert.equal((await checkAudit("/nowhere/audit.jsonl")).message, "/nowhere does not exist");
  const { status, message } = await checkAudit("/proc/audit.jsonl");
  assert.equal(status, "fail");
  assert.ok(!message.includes("--allow"), message);
});
