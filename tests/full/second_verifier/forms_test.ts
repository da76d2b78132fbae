import assert from "node:assert/strict";
import { join } from "node:path";
import { canonicalize } from "../../../src/canonical/canonicalize.ts";
import { readJson } from "../../../src/canonical/scan.ts";
import { objectName } from "../../../src/runpack/format/archive.ts";
import { openArchive, writeArchive } from "../../../src/runpack/host/archive_file.ts";
import { sourceContents } from "../../../src/runpack/host/contents.ts";
import { folderPackSource, folderSignatures } from "../../../src/runpack/host/folder.ts";
import type { PackSource } from "../../../src/runpack/format/types.ts";
import { examineRunpack } from "../../../src/runpack/verify/verify.ts";
import { randomOf } from "../../simulation/crash/random.ts";
import { SHA256 } from "../../simulation/kernel/fixture.ts";
import { writeTree } from "../../simulation/runpack/files.ts";
import { PRIMITIVES } from "../../simulation/runpack/memory.ts";
import { GOLDEN_FOLDER } from "../../simulation/runpack/packs.ts";
import { unlistedReasons } from "../../simulation/runpack/violations.ts";
import { answerLines, answerText, goldenKey, readGolden } from "./packs.ts";

const SCRIPT = new URL("../../second_verifier/verify.py", import.meta.url).pathname;

async function withFolder(test: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await test(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Whether a claim is violated, as both verifiers say of a pack on disk, in the same words. */
async function compare(
  path: string,
  source: PackSource,
  signatures: readonly Uint8Array[],
  what: string,
): Promise<boolean> {
  const key = await goldenKey();
  const examination = await examineRunpack(source, {
    runpack_identity: null,
    profile: "integrity_only_v1",
    budget: null,
    trusted_keys: [key],
    signatures,
  }, PRIMITIVES);
  const { report } = examination;
  assert.deepEqual(unlistedReasons(report), [], what);
  const args = [SCRIPT, path, "--json", "--profile", "integrity_only_v1", "--trusted-key", key.toBase64()];
  const { stdout, stderr } = await new Deno.Command("python3", { args }).output();
  assert.equal(new TextDecoder().decode(stderr), "", what);
  const theirs = canonicalize(readJson(new TextDecoder().decode(stdout)));
  assert.deepEqual(answerLines(theirs), answerLines(answerText(examination)), what);
  return report.claims.some(({ status }) => status.status === "violated");
}

// What is done to the folder of a golden pack, given the path of its law.
const DISTURBANCES: readonly [string, (folder: string, law: string) => Promise<void>][] = [
  ["a link in the place of an object", async (folder, law) => {
    await Deno.rename(law, `${folder}.law`);
    await Deno.symlink(`${folder}.law`, law);
  }],
  ["a folder in the place of an object", async (_folder, law) => {
    await Deno.remove(law);
    await Deno.mkdir(law);
  }],
  ["a folder in the place of the manifest", async (folder) => {
    await Deno.remove(join(folder, "manifest.json"));
    await Deno.mkdir(join(folder, "manifest.json"));
  }],
  ["a link to a folder", (folder) => Deno.symlink(folder, join(folder, "again"))],
  ["a link in the place of a signature", async (folder, law) => {
    await Deno.mkdir(join(folder, "signatures"));
    await Deno.symlink(law, join(folder, "signatures", `${"a".repeat(64)}.json`));
  }],
  ["a file too many", (folder) => Deno.writeTextFile(join(folder, "note"), "")],
  ["files too many, of which the least is told", async (folder, law) => {
    await Deno.writeTextFile(join(folder, "\u{10000}"), "");
    await Deno.writeTextFile(join(folder, "\u{e000}"), "");
    await Deno.writeTextFile(join(folder, `z${"y".repeat(200)}`), "");
    await Deno.writeTextFile(`${law}0`, "");
  }],
  ["a folder too many", (folder) => Deno.mkdir(join(folder, "notes", "of", "today"), { recursive: true })],
  ["a link in the place of the objects", async (folder) => {
    await Deno.rename(join(folder, "objects"), `${folder}.objects`);
    await Deno.symlink(`${folder}.objects`, join(folder, "objects"));
  }],
  ["a name that is no text", async (folder) => {
    const bytes = "import os; os.mkdir(b'x\\xff'); open(b'w\\xf0\\x9fw', 'w')";
    await new Deno.Command("python3", { args: ["-c", bytes], cwd: folder }).output();
  }],
  ["an object too many", async (folder) => {
    await Deno.mkdir(join(folder, "objects", "00"), { recursive: true });
    await Deno.writeTextFile(join(folder, objectName("0".repeat(64))), "");
  }],
  ["nothing", () => Promise.resolve()],
  ["nothing but empty folders", async (folder) => {
    await Deno.mkdir(join(folder, "notes"));
    await Deno.mkdir(join(folder, objectName("0".repeat(64))), { recursive: true });
  }],
];

Deno.test("two verifiers agree on folders that hold what is no plain file", () =>
  withFolder(async (scratch) => {
    const plain = await readGolden("plain");
    const { law } = readJson(new TextDecoder().decode(plain.manifest)) as { law: { object: string } };
    for (const [index, [what, disturb]] of DISTURBANCES.entries()) {
      const folder = join(scratch, `${index}`);
      await writeTree(folder, plain);
      await disturb(folder, join(folder, objectName(law.object)));
      const signatures = (await folderSignatures(folder)).map(({ bytes }) => bytes);
      const violated = await compare(folder, folderPackSource(folder), signatures, what);
      assert.equal(violated, !what.startsWith("nothing"), what);
    }
  }));

// Archives that are damaged in one place: what is made of the bytes of a whole one.
const DAMAGES: readonly [string, (bytes: Uint8Array) => Uint8Array][] = [
  ["nothing", (bytes) => bytes],
  ["no end", (bytes) => bytes.slice(0, -1024)],
  ["half an end", (bytes) => bytes.slice(0, -512)],
  ["a byte too few", (bytes) => bytes.slice(0, -1)],
  ["a byte too many", (bytes) => new Uint8Array([...bytes, 0])],
  ["an end that is not zero", (bytes) => bytes.with(bytes.length - 1, 1)],
  ["a manifest alone", (bytes) => bytes.slice(0, 1536)],
  ["a manifest and half a header", (bytes) => bytes.slice(0, 1600)],
  ["a manifest that was changed", (bytes) => bytes.with(600, 0x20)],
  ["a filling behind the manifest", (bytes) => bytes.with(1535, 1)],
  ["half a manifest", (bytes) => bytes.slice(0, 700)],
  ["nothing at all", () => new Uint8Array()],
  ["no manifest", (bytes) => bytes.slice(1536)],
  ["zeros alone", () => new Uint8Array(1024)],
  ["text", () => new TextEncoder().encode("gate\n".repeat(300))],
  ...Array.from({ length: 40 }, (_, round): [string, (bytes: Uint8Array) => Uint8Array] => {
    const random = randomOf(round);
    return [`round ${round}`, (bytes) => {
      const at = Math.floor(random() * bytes.length);
      return round % 2 === 0 ? bytes.slice(0, at) : bytes.with(at, (bytes[at] ?? 0) ^ 1);
    }];
  }),
];

Deno.test("two verifiers agree on archives that are damaged, and on those that hold nothing of a pack", () =>
  withFolder(async (scratch) => {
    const golden = join(GOLDEN_FOLDER, "signed");
    const path = join(scratch, "a.runpack");
    await writeArchive(path, await sourceContents(SHA256, folderPackSource(golden), await folderSignatures(golden)));
    const whole = await Deno.readFile(path);
    for (const [what, damage] of DAMAGES) {
      await Deno.writeFile(path, damage(whole));
      const archive = await openArchive(path).catch((error: Error) => error.message);
      if (typeof archive === "string") {
        const { code, stderr } = await new Deno.Command("python3", { args: [SCRIPT, path] }).output();
        assert.equal(code, 1, what);
        assert.match(new TextDecoder().decode(stderr), /^Cannot read .*: it departs .* at byte 0$/m, what);
        assert.match(archive, /^Cannot read archive ".*a.runpack" at byte 0: /, what);
        continue;
      }
      const signatures = (await archive.signatures()).map(({ bytes }) => bytes);
      const violated = await compare(path, archive.source, signatures, what);
      archive.close();
      assert.equal(violated, what !== "nothing", what);
    }
  }));

/** Bytes of address space that the verifier gets, in KiB, and bytes of a file that does not fit into it. */
const SPACE_KIB = 1_000_000;
const ENDLESS = 3 * 1024 ** 3;

/** What is without end in a folder; the reason of the first claim that is violated for it. */
const WITHOUT_END: readonly (readonly [what: string, place: (law: string) => string, reason: string | null])[] = [
  ["the manifest", () => "manifest.json", "manifest_too_large"],
  ["an object", (law) => law, "object_size_mismatch: law"],
  ["a signature", () => `signatures/${"0".repeat(64)}.json`, null],
];

for (const [what, placeOf, reason] of WITHOUT_END) {
  Deno.test(`no file of a folder is read beyond its limit: ${what}`, () =>
    withFolder(async (folder) => {
      const pack = await readGolden("plain");
      await writeTree(folder, pack);
      const manifest = JSON.parse(await Deno.readTextFile(join(folder, "manifest.json"))) as {
        law: { object: string };
      };
      const path = join(folder, placeOf(objectName(manifest.law.object)));
      await Deno.mkdir(join(folder, "signatures"), { recursive: true });
      await Deno.writeFile(path, new Uint8Array());
      await Deno.truncate(path, ENDLESS);
      const script = `ulimit -v ${SPACE_KIB}; exec python3 "$0" "$1" --json`;
      const { stdout, stderr } = await new Deno.Command("sh", { args: ["-c", script, SCRIPT, folder] }).output();
      assert.equal(new TextDecoder().decode(stderr), "");
      const { report } = JSON.parse(new TextDecoder().decode(stdout)) as {
        report: { claims: { status: { reason?: string } }[] };
      };
      const reasons = report.claims.map(({ status }) => status.reason ?? null);
      assert.ok(
        reason === null ? reasons[2] === null : reasons.includes(reason),
        JSON.stringify(report.claims.slice(0, 4)),
      );
    }));
}
