/** `gate release verify` on a small release: every way in which a folder can differ from what was signed. */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { encodeProvenance, encodeSums } from "../../release/lists.ts";
import { sha256 } from "../../../src/evidence/host_primitives.ts";
import { packSigner } from "../../../src/runpack/host/signing.ts";
import { gate, inFolder } from "../gate_command.ts";

const FILES: Readonly<Record<string, string>> = { "gate.deb": "a package", "gate.mcpb": "a bundle" };
const PREDICATE = {
  buildDefinition: { resolvedDependencies: [{ uri: "git", digest: { gitCommit: "c".repeat(40) } }] },
};

function signerOf(byte: number): NonNullable<ReturnType<typeof packSigner>> {
  const signer = packSigner(sha256, new Uint8Array(32).fill(byte));
  assert.ok(signer !== null);
  return signer;
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Writes the release of some files, signed by the key 1. */
async function writeRelease(folder: string): Promise<void> {
  await Deno.mkdir(join(folder, "release"));
  const digests = new Map(Object.entries(FILES).map(([name, text]) => [name, digest(text)]));
  const sums = encodeSums(digests);
  for (const [name, text] of Object.entries({ ...FILES, SHA256SUMS: sums })) {
    await Deno.writeTextFile(join(folder, "release", name), text);
  }
  const statement = encodeProvenance(digests.set("SHA256SUMS", digest(sums)), PREDICATE);
  await Deno.writeTextFile(join(folder, "release/provenance.dsse.json"), signerOf(1).signStatement(statement));
  await Deno.writeFile(join(folder, "release.pub"), signerOf(1).publicKey);
  await Deno.writeFile(join(folder, "stranger.pub"), signerOf(2).publicKey);
}

const TRUSTED = ["--trusted-key", "release.pub"];

/** What is done to the folder, the flags, and the exit code with what is said. */
const ROWS: readonly {
  readonly what: string;
  readonly change?: (release: string) => Promise<void>;
  readonly flags: readonly string[];
  readonly code: number;
  readonly said: RegExp;
}[] = [
  {
    what: "as it was built",
    flags: TRUSTED,
    code: 0,
    said: /^release: 3 files are the listed ones; signed by a trusted key, built from commit c{40}\n$/,
  },
  { what: "without a key", flags: ["--origin-unchecked"], code: 0, said: /its origin was not checked/ },
  { what: "with one of two keys", flags: ["--trusted-key", "stranger.pub", ...TRUSTED], code: 0, said: /signed by a/ },
  { what: "without a word about keys", flags: [], code: 2, said: /--trusted-key, or pass --origin-unchecked/ },
  { what: "with both", flags: [...TRUSTED, "--origin-unchecked"], code: 2, said: /--trusted-key, or pass/ },
  {
    what: "with the key of a stranger",
    flags: ["--trusted-key", "stranger.pub"],
    code: 6,
    said: /NOT signed by a trusted/,
  },
  {
    what: "a changed file",
    change: (release) => Deno.writeTextFile(`${release}/gate.deb`, "b package"),
    flags: TRUSTED,
    code: 6,
    said: /^gate\.deb: its bytes differ from the listed digest\n[^\n]*: 1 difference; /,
  },
  {
    what: "a missing file",
    change: (release) => Deno.remove(`${release}/gate.mcpb`),
    flags: TRUSTED,
    code: 6,
    said: /^gate\.mcpb: it is listed, but missing\n/,
  },
  {
    what: "a file more",
    change: (release) => Deno.writeTextFile(`${release}/gate.exe`, ""),
    flags: TRUSTED,
    code: 6,
    said: /^gate\.exe: it is in the folder, but not listed\n/,
  },
  {
    what: "a link in place of a file",
    change: async (release) => {
      await Deno.rename(`${release}/gate.deb`, `${release}/../gate.deb`);
      await Deno.symlink("../gate.deb", `${release}/gate.deb`);
    },
    flags: TRUSTED,
    code: 6,
    said: /^gate\.deb: it is not a plain file\n/,
  },
  {
    what: "a changed file with a changed list",
    change: async (release) => {
      await Deno.writeTextFile(`${release}/gate.deb`, "b package");
      const digests = new Map(
        Object.entries({ ...FILES, "gate.deb": "b package" }).map(([name, text]) => [name, digest(text)]),
      );
      await Deno.writeTextFile(`${release}/SHA256SUMS`, encodeSums(digests));
    },
    flags: TRUSTED,
    code: 6,
    said: /^SHA256SUMS: its digest of gate\.deb is not .+\nSHA256SUMS: its bytes .+\ngate\.deb: its bytes differ/,
  },
  {
    what: "everything changed, and signed again by a stranger",
    change: async (release) => {
      await Deno.writeTextFile(`${release}/gate.deb`, "b package");
      const digests = new Map(
        Object.entries({ ...FILES, "gate.deb": "b package" }).map(([name, text]) => [name, digest(text)]),
      );
      const sums = encodeSums(digests);
      await Deno.writeTextFile(`${release}/SHA256SUMS`, sums);
      const statement = encodeProvenance(digests.set("SHA256SUMS", digest(sums)), PREDICATE);
      await Deno.writeTextFile(`${release}/provenance.dsse.json`, signerOf(2).signStatement(statement));
    },
    flags: TRUSTED,
    code: 6,
    said: /^release: 3 files are the listed ones; NOT signed by a trusted key/,
  },
  {
    what: "no provenance",
    change: (release) => Deno.remove(`${release}/provenance.dsse.json`),
    flags: TRUSTED,
    code: 6,
    said: /^provenance\.dsse\.json: it is missing, or not a DSSE envelope/,
  },
  {
    what: "a list that climbs out of the folder",
    change: (release) => Deno.writeTextFile(`${release}/SHA256SUMS`, `${"0".repeat(64)}  ../gate.deb\n`),
    flags: ["--origin-unchecked"],
    code: 6,
    said: /^SHA256SUMS: line 1 is not a digest, two spaces and a file name\n/,
  },
  {
    what: "a list of 65 files",
    change: (release) =>
      Deno.writeTextFile(
        `${release}/SHA256SUMS`,
        Array.from({ length: 65 }, (_, at) => `${"0".repeat(64)}  f${at}\n`).join(""),
      ),
    flags: ["--origin-unchecked"],
    code: 6,
    said: /^SHA256SUMS: it has more than 64 lines\n/,
  },
  {
    what: "no such folder",
    change: (release) => Deno.remove(release, { recursive: true }),
    flags: TRUSTED,
    code: 2,
    said: /Cannot read release "release"/,
  },
];

for (const { what, change, flags, code, said } of ROWS) {
  Deno.test(`gate release verify, ${what}: exit code ${code}`, () =>
    inFolder(async (folder) => {
      await writeRelease(folder);
      await change?.(join(folder, "release"));
      const ended = await gate(folder, "release", "verify", "release", ...flags);
      assert.match(ended.stdout + ended.stderr, said);
      assert.equal(ended.code, code);
    }));
}
