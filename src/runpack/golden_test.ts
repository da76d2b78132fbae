import assert from "node:assert/strict";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";

import { decodeBase64 } from "../canonical/base64.ts";
import { member } from "../canonical/json.ts";
import { readJson } from "../canonical/scan.ts";
import { HOST_PRIMITIVES } from "../evidence/host_primitives.ts";
import { SHA256 } from "../../tests/simulation/kernel/fixture.ts";
import {
  GOLDEN_FOLDER,
  GOLDEN_RUNS,
  goldenKeyFile,
  merkleVectors,
  writeGoldenPacks,
} from "../../tests/simulation/runpack/packs.ts";
import { IMPLEMENTATIONS, withStores } from "../../tests/simulation/store/open.ts";
import { PRIMITIVES } from "../../tests/simulation/runpack/memory.ts";
import reports from "../../tests/vectors/runpack/reports.json" with { type: "json" };
import { decodeEnvelope, verifyEnvelope } from "./format/dsse.ts";
import { folderPackSource, folderSignatures } from "./host/folder.ts";
import { decodeManifest } from "./format/manifest.ts";
import { examineRunpack } from "./verify/verify.ts";
import type { VerificationProfile } from "./verify/types.ts";

/** The files of a folder by their paths, as latin-1 text: one character a byte. */
async function filesIn(folder: string, prefix = ""): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for await (const { name, isDirectory } of Deno.readDir(join(folder, prefix))) {
    const path = prefix === "" ? name : `${prefix}/${name}`;
    if (isDirectory) { for (const [inner, text] of await filesIn(folder, path)) found.set(inner, text); }
    else found.set(path, new TextDecoder("latin1").decode(await Deno.readFile(join(folder, path))));
  }
  return new Map([...found].sort());
}

for (const implementation of IMPLEMENTATIONS) {
  for (const run of GOLDEN_RUNS) {
    const names = run.packs.map(({ name }) => name);
    Deno.test(`the golden runpacks ${names.join(", ")} are exported again, byte for byte, from ${implementation.name}`, () =>
      withStores(implementation, {}, async ({ runs }) => {
        const folder = await Deno.makeTempDir();
        try {
          await writeGoldenPacks(run, runs, join(folder, "repositories"), join(folder, "packs"));
          for (const name of names) {
            const exported = await filesIn(join(folder, "packs", name));
            assert.deepEqual(exported, await filesIn(join(GOLDEN_FOLDER, name)), name);
          }
        } finally {
          await Deno.remove(folder, { recursive: true });
        }
      }));
  }
}

Deno.test("the vectors beside the golden runpacks are those that are published", async () => {
  assert.equal(await Deno.readTextFile(join(GOLDEN_FOLDER, "signed.key.json")), goldenKeyFile());
  assert.equal(await Deno.readTextFile(join(GOLDEN_FOLDER, "..", "merkle.json")), merkleVectors());
});

for (const { pack, profile, has_key, budget, report_identity, verdict_identity } of reports.reports) {
  Deno.test(`the golden runpack "${pack}" has the published report and verdict, ${profile}, ${has_key ? "" : "no "}key`, async () => {
    const { public_key } = readJson(await Deno.readTextFile(join(GOLDEN_FOLDER, "signed.key.json"))) as {
      public_key: string;
    };
    const folder = join(GOLDEN_FOLDER, pack);
    const { report, ...found } = await examineRunpack(folderPackSource(folder), {
      runpack_identity: null,
      profile: profile as VerificationProfile,
      budget: null,
      trusted_keys: has_key ? [decodeBase64(public_key) ?? new Uint8Array()] : null,
      signatures: (await folderSignatures(folder)).map(({ bytes }) => bytes),
    }, PRIMITIVES);
    assert.deepEqual([report.budget, report.report_identity], [budget, report_identity]);
    assert.equal(found.verdict_identity, verdict_identity);
  });
}

Deno.test("the signature of the signed golden runpack verifies under its published key, and no change of what it covers does", async () => {
  const key = readJson(await Deno.readTextFile(join(GOLDEN_FOLDER, "signed.key.json"))) as Record<string, string>;
  const publicKey = decodeBase64(key["public_key"] ?? "") ?? new Uint8Array();
  const folder = join(GOLDEN_FOLDER, "signed");
  const manifest = await Deno.readFile(join(folder, "manifest.json"));
  const decoded = decodeManifest(manifest);
  assert.ok(decoded.ok);
  const envelope = await Deno.readFile(join(folder, "signatures", `${key["keyid"]}.json`));
  const verifies = (bytes: Uint8Array): boolean =>
    verifyEnvelope(HOST_PRIMITIVES, bytes, manifest, decoded.manifest, publicKey);
  assert.equal(verifies(envelope), true);
  const whole = decodeEnvelope(envelope);
  let hints = 0;
  for (let at = 0; at < envelope.length; at++) {
    const changed = envelope.with(at, (envelope[at] ?? 0) ^ 1);
    // A key id is a hint, so a change to it alone leaves the same payload and signature.
    const isHint = isDeepStrictEqual(decodeEnvelope(changed), whole);
    hints += isHint ? 1 : 0;
    assert.equal(verifies(changed), isHint, `byte ${at}`);
  }
  // 5 letters of the name "keyid" and 64 digits; a quote becomes another character, which ends the text there.
  assert.equal(hints, 5 + 64);
  // What other tools read: the manifest's plain hash, under the name of its file.
  const payload = member(readJson(new TextDecoder().decode(envelope)) as Record<string, string>, "payload");
  const statement = new TextDecoder().decode(decodeBase64(String(payload)) ?? new Uint8Array());
  assert.ok(statement.includes(`"subject":[{"digest":{"sha256":"${SHA256(manifest)}"},"name":"manifest.json"}]`));
});
