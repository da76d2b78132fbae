import assert from "node:assert/strict";
import { createHash, generateKeyPairSync, type KeyObject, verify } from "node:crypto";
import { join } from "node:path";
import { canonicalize } from "../../../src/canonical/canonicalize.ts";
import { sha256 } from "../../../src/evidence/host_primitives.ts";
import { lawAsJson } from "../../../src/law/normal_form.ts";
import { signatureName } from "../../../src/runpack/format/archive.ts";
import { preAuthenticationEncoding } from "../../../src/runpack/format/dsse.ts";
import { writeArchive } from "../../../src/runpack/host/archive_file.ts";
import { sourceContents } from "../../../src/runpack/host/contents.ts";
import { folderPackSource, folderSignatures } from "../../../src/runpack/host/folder.ts";
import { VERIFIER_PROCEDURE } from "../../../src/runpack/verify/types.ts";
import { KEY_1, KEY_2 } from "../../simulation/kernel/fixture.ts";
import { admissionLaw, IMAGE, playAdmissionRun } from "../../simulation/pack_vectors/admission_run.ts";
import { signedBy } from "../../simulation/pack_vectors/envelope_rows.ts";
import { writeTree } from "../../simulation/runpack/files.ts";
import { identityOf, packOf } from "../../simulation/runpack/memory.ts";
import { gate } from "../gate_command.ts";

const RUN = playAdmissionRun();
const LAW = admissionLaw();

interface Place {
  readonly folder: string;
  readonly publicKey: KeyObject;
}

/** A folder with the complete run `release`, the prefix `open` and the redacted `redacted`, all signed by `producer.pub`. */
async function withPacks(test: (place: Place) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "gate-attest-" });
  try {
    const packs = {
      release: await packOf(RUN),
      open: await packOf(RUN, 3),
      redacted: await packOf(RUN, undefined, { withheld_conditions: ["tested"] }),
    };
    for (const [name, pack] of Object.entries(packs)) {
      await writeTree(join(folder, name), pack);
      await Deno.mkdir(join(folder, name, "signatures"));
      await Deno.writeTextFile(join(folder, name, signatureName("0".repeat(64))), signedBy(pack, KEY_1));
    }
    await Deno.writeTextFile(join(folder, "producer.pub"), KEY_1.public_key);
    await Deno.writeTextFile(join(folder, "stranger.pub"), KEY_2.public_key);
    await Deno.writeTextFile(join(folder, "law.json"), canonicalize(lawAsJson(LAW.law)));
    const { privateKey, publicKey } = generateKeyPairSync("ed25519");
    const pem = privateKey.export({ format: "pem", type: "pkcs8" });
    await Deno.writeTextFile(join(folder, "verifier.key"), String(pem), { mode: 0o600 });
    await test({ folder, publicKey });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const SUBJECT = ["--subject", `app=sha256:${IMAGE}`, "--signing-key", "verifier.key"];
const PRODUCER = ["--law", "law.json", "--producer-key", "producer.pub"];

interface Statement {
  readonly _type: string;
  readonly subject: readonly { readonly name: string; readonly digest: { readonly sha256: string } }[];
  readonly predicateType: string;
  // deno-lint-ignore no-explicit-any
  readonly predicate: any;
}

/** The statement of an envelope whose signature verifies under the key. */
function opened(text: string, publicKey: KeyObject): Statement {
  const { payload, payloadType, signatures } = JSON.parse(text);
  const body = new TextDecoder().decode(Uint8Array.fromBase64(payload));
  const signed = new TextEncoder().encode(preAuthenticationEncoding(payloadType, body));
  assert.equal(payloadType, "application/vnd.in-toto+json");
  assert.equal(signatures.length, 1);
  assert.ok(verify(null, signed, publicKey, Uint8Array.fromBase64(signatures[0].sig)));
  return JSON.parse(body);
}

const isUri = (text: unknown): boolean => typeof text === "string" && URL.canParse(text);
const isDigestSet = (value: unknown): boolean =>
  canonicalize(value as never).match(/^\{"sha256":"[0-9a-f]{64}"\}$/) !== null;

/** What the in-toto statement v1 and the SLSA Verification Summary v1 require of a statement. */
function requireForm({ _type, subject, predicateType, predicate }: Statement): void {
  assert.equal(_type, "https://in-toto.io/Statement/v1");
  assert.equal(predicateType, "https://slsa.dev/verification_summary/v1");
  assert.ok(subject.length > 0 && subject.every(({ name, digest }) => name !== "" && isDigestSet(digest)));
  assert.ok(isUri(predicate.verifier.id) && isUri(predicate.resourceUri) && isUri(predicate.policy.uri));
  assert.match(predicate.timeVerified, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);
  assert.ok(
    predicate.inputAttestations.every(({ uri, digest }: { uri: string; digest: unknown }) =>
      isUri(uri) && isDigestSet(digest)
    ),
  );
  assert.ok(["PASSED", "FAILED"].includes(predicate.verificationResult));
  assert.equal(predicate.verifiedLevels.length, 1);
  // Only the specification may begin a level with SLSA_; FAILED stands exactly beside a failed result.
  assert.ok(!predicate.verifiedLevels[0].startsWith("SLSA_"));
  assert.equal(predicate.verifiedLevels[0] === "FAILED", predicate.verificationResult === "FAILED");
  assert.match(predicate.slsaVersion, /^1\.\d+$/);
  const known = ["verifier", "timeVerified", "resourceUri", "policy", "inputAttestations", "verificationResult"];
  const extensions = Object.keys(predicate).filter((name) =>
    ![...known, "verifiedLevels", "slsaVersion"].includes(name)
  );
  assert.ok(extensions.every(isUri), "names of extension fields are URIs");
}

Deno.test("gate runpack attest: an admitted run passes, with plain hashes of law and single file", () =>
  withPacks(async ({ folder, publicKey }) => {
    const attested = await gate(folder, "runpack", "attest", "release", ...PRODUCER, ...SUBJECT);
    assert.equal(attested.code, 0, attested.stderr);
    assert.match(attested.stderr, /^Admitted: Complete; /);
    const statement = opened(attested.stdout, publicKey);
    requireForm(statement);
    assert.deepEqual(statement.subject, [{ name: "app", digest: { sha256: IMAGE } }]);
    const { predicate } = statement;
    assert.deepEqual([predicate.verificationResult, predicate.verifiedLevels], ["PASSED", ["GATE_RUN_COMPLETE"]]);
    assert.deepEqual(predicate.policy, {
      uri: `urn:gate:scenario-law:${LAW.scenario_law_identity}`,
      digest: { sha256: sha256(canonicalize(lawAsJson(LAW.law))) },
    });
    const source = folderPackSource(join(folder, "release"));
    const contents = await sourceContents(sha256, source, await folderSignatures(join(folder, "release")));
    await writeArchive(join(folder, "release.runpack"), contents);
    const file = createHash("sha256").update(await Deno.readFile(join(folder, "release.runpack"))).digest("hex");
    assert.deepEqual(predicate.inputAttestations, [{
      uri: `urn:gate:runpack:${identityOf(await packOf(RUN))}`,
      digest: { sha256: file },
    }, {
      uri: `urn:gate:runpack:${identityOf(await packOf(RUN))}#manifest.json`,
      digest: {
        sha256: createHash("sha256").update(await Deno.readFile(join(folder, "release/manifest.json"))).digest("hex"),
      },
    }]);
    assert.deepEqual(predicate.verifier, { id: "urn:gate:verifier", version: { gate: VERIFIER_PROCEDURE } });
    assert.equal(predicate.resourceUri, `urn:gate:subject:sha256:${IMAGE}`);
    const again = await gate(folder, "runpack", "attest", "release.runpack", ...PRODUCER, ...SUBJECT);
    assert.deepEqual(opened(again.stdout, publicKey).predicate.inputAttestations, predicate.inputAttestations);
  }));

// Flags beside those of the subject: the exit code, the result, the level, and what was waived.
const ROWS: readonly (readonly [string, readonly string[], number, string, string, readonly string[]])[] = [
  ["one stage", ["open", ...PRODUCER, "--stage", "build"], 0, "PASSED", "GATE_STAGE_COMPLETE:build", []],
  [
    "an origin that is not checked",
    ["release", "--law", "law.json", "--origin-unchecked"],
    4,
    "FAILED",
    "FAILED",
    ["origin"],
  ],
  [
    "one stage, asserted evidence allowed",
    ["open", ...PRODUCER, "--stage", "build", "--allow-asserted"],
    4,
    "FAILED",
    "FAILED",
    ["asserted evidence"],
  ],
  ["a run that is not complete", ["open", ...PRODUCER], 3, "FAILED", "FAILED", []],
  ["a stranger", ["release", "--law", "law.json", "--producer-key", "stranger.pub"], 4, "FAILED", "FAILED", []],
  ["another law", ["release", "--law", "0".repeat(64), "--producer-key", "producer.pub"], 6, "FAILED", "FAILED", []],
];

for (const [what, args, code, result, level, waived] of ROWS) {
  Deno.test(`gate runpack attest: ${what}: ${result}, exit code ${code} as decided`, () =>
    withPacks(async ({ folder, publicKey }) => {
      const admitted = await gate(folder, "runpack", "admit", ...args);
      const attested = await gate(folder, "runpack", "attest", ...args, ...SUBJECT, "--out", "summary.json");
      // Where a waiver touches trust, the run is admitted and not attested.
      const isTrustWaived = waived.length > 0 && code === 4;
      assert.deepEqual([attested.code, admitted.code], [code, isTrustWaived ? 0 : code], attested.stderr);
      const statement = opened(await Deno.readTextFile(join(folder, "summary.json")), publicKey);
      requireForm(statement);
      const { predicate } = statement;
      assert.deepEqual([predicate.verificationResult, predicate.verifiedLevels], [result, [level]]);
      const extension = predicate["urn:gate:admission:v1"];
      assert.deepEqual([extension.exit_code, extension.waived], [admitted.code, waived]);
      assert.equal(extension.line, admitted.stdout.split("\n")[0]);
    }));
}

// Flags that yield no statement: the exit code, and the message.
const REFUSED: readonly (readonly [string, readonly string[], number, RegExp])[] = [
  [
    "a digest that the run did not decide on",
    [`app=sha256:${"0".repeat(64)}`],
    6,
    /decided nothing about subject "app"/,
  ],
  ["a digest of another algorithm", [`app=sha512:${IMAGE}`], 2, /expected NAME=sha256:DIGEST/],
  ["a digest in upper case", [`app=sha256:${IMAGE.toUpperCase()}`], 2, /expected NAME=sha256:DIGEST/],
  ["a subject without a name", [`=sha256:${IMAGE}`], 2, /expected NAME=sha256:DIGEST/],
  ["a name twice", [`app=sha256:${IMAGE}`, `app=sha256:${IMAGE}`], 2, /"app" is named twice/],
];

for (const [what, subjects, code, message] of REFUSED) {
  Deno.test(`gate runpack attest: ${what}: no statement, exit code ${code}`, () =>
    withPacks(async ({ folder }) => {
      const flags = subjects.flatMap((subject) => ["--subject", subject]);
      const ended = await gate(
        folder,
        "runpack",
        "attest",
        "release",
        ...PRODUCER,
        ...flags,
        "--signing-key",
        "verifier.key",
      );
      assert.deepEqual([ended.code, ended.stdout], [code, ""], ended.stderr);
      assert.match(ended.stderr, message);
    }));
}

Deno.test("gate runpack attest: a run whose decisions are not derived shows nothing of a subject: exit code 4", () =>
  withPacks(async ({ folder }) => {
    const ended = await gate(folder, "runpack", "attest", "redacted", ...PRODUCER, ...SUBJECT);
    assert.deepEqual([ended.code, ended.stdout], [4, ""], ended.stderr);
    assert.match(ended.stderr, /its decisions were not derived/);
  }));
