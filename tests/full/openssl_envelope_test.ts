/** Envelopes between gate and OpenSSL: each verifies what the other signed, and the verifier in Python agrees. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { sha256 } from "../../src/evidence/host_primitives.ts";
import { signatureName } from "../../src/runpack/format/archive.ts";
import { preAuthenticationEncoding, statementOf } from "../../src/runpack/format/dsse.ts";
import { decodeManifest } from "../../src/runpack/format/manifest.ts";
import { gate } from "../e2e/gate_command.ts";
import { writeTree } from "../simulation/runpack/files.ts";
import { packOf } from "../simulation/runpack/memory.ts";
import { admissionLaw, IMAGE, playAdmissionRun } from "../simulation/pack_vectors/admission_run.ts";

const SCRIPT = new URL("../second_verifier/verify.py", import.meta.url).pathname;
const LAW = admissionLaw().scenario_law_identity;
const PACK = await packOf(playAdmissionRun());
const TYPE = "application/vnd.in-toto+json";

async function run(cwd: string, command: string, ...args: readonly string[]): Promise<{ code: number; out: string }> {
  const { code, stdout, stderr } = await new Deno.Command(command, { args: [...args], cwd }).output();
  const decoder = new TextDecoder();
  return { code, out: decoder.decode(stdout) + decoder.decode(stderr) };
}

async function openssl(folder: string, ...args: readonly string[]): Promise<void> {
  const { code, out } = await run(folder, "openssl", ...args);
  assert.equal(code, 0, `openssl ${args.join(" ")}: ${out}`);
}

/** A folder with the pack and the key pairs `a` and `b` that OpenSSL made. */
async function withKeys(test: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "gate-openssl-" });
  try {
    await writeTree(join(folder, "release"), PACK);
    for (const name of ["a", "b"]) {
      await openssl(folder, "genpkey", "-algorithm", "ed25519", "-out", `${name}.key`);
      await openssl(folder, "pkey", "-in", `${name}.key`, "-pubout", "-out", `${name}.pem`);
      await openssl(folder, "pkey", "-in", `${name}.key`, "-pubout", "-outform", "DER", "-out", `${name}.der`);
      // The last 32 bytes of the DER form are the key.
      await Deno.writeFile(join(folder, `${name}.pub`), (await Deno.readFile(join(folder, `${name}.der`))).slice(-32));
    }
    await test(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** OpenSSL verifies the signature of an envelope under a key. */
async function verifies(folder: string, envelope: string, key: string): Promise<void> {
  const { payload, payloadType, signatures } = JSON.parse(envelope);
  const body = new TextDecoder().decode(Uint8Array.fromBase64(payload));
  await Deno.writeTextFile(join(folder, "signed"), preAuthenticationEncoding(payloadType, body));
  await Deno.writeFile(join(folder, "signature"), Uint8Array.fromBase64(signatures[0].sig));
  const args = ["-verify", "-pubin", "-inkey", `${key}.pem`, "-rawin", "-in", "signed", "-sigfile", "signature"];
  await openssl(folder, "pkeyutl", ...args);
}

Deno.test("OpenSSL verifies the signature of a runpack, and that of a verification summary", () =>
  withKeys(async (folder) => {
    const signed = await gate(folder, "runpack", "sign", "release", "--key", "a.key");
    assert.equal(signed.code, 0, signed.stderr);
    const [name = ""] = [...Deno.readDirSync(join(folder, "release/signatures"))].map(({ name }) => name);
    await verifies(folder, await Deno.readTextFile(join(folder, "release/signatures", name)), "a");
    const flags = [
      "--law",
      LAW,
      "--producer-key",
      "a.pub",
      "--subject",
      `app=sha256:${IMAGE}`,
      "--signing-key",
      "b.key",
    ];
    const attested = await gate(folder, "runpack", "attest", "release", ...flags);
    assert.equal(attested.code, 0, attested.stderr);
    await verifies(folder, attested.stdout, "b");
    await assert.rejects(verifies(folder, attested.stdout, "a"));
  }));

Deno.test("gate and the verifier in Python read an envelope that OpenSSL signed with two keys", () =>
  withKeys(async (folder) => {
    const decoded = decodeManifest(PACK.manifest);
    assert.ok(decoded.ok);
    // Members in another order, and white space: the statement means the same.
    const canonical = JSON.parse(statementOf(sha256, PACK.manifest, decoded.manifest));
    const statement = JSON.stringify(Object.fromEntries(Object.entries(canonical).reverse()), null, 2);
    await Deno.writeTextFile(join(folder, "signed"), preAuthenticationEncoding(TYPE, statement));
    const signatures = [];
    for (const name of ["a", "b"]) {
      await openssl(
        folder,
        "pkeyutl",
        "-sign",
        "-inkey",
        `${name}.key`,
        "-rawin",
        "-in",
        "signed",
        "-out",
        "signature",
      );
      const sig = (await Deno.readFile(join(folder, "signature"))).toBase64({ alphabet: "base64url" });
      signatures.push(name === "a" ? { sig } : { sig, keyid: "release key of 2026", cert: "" });
    }
    const payload = new TextEncoder().encode(statement).toBase64();
    const envelope = JSON.stringify({ signatures, payloadType: TYPE, payload }, null, 1);
    await Deno.mkdir(join(folder, "release/signatures"));
    await Deno.writeTextFile(join(folder, "release", signatureName("0".repeat(64))), envelope);
    for (const name of ["a", "b"]) {
      const admitted = await gate(folder, "runpack", "admit", "release", "--law", LAW, "--producer-key", `${name}.pub`);
      assert.equal(admitted.code, 0, admitted.stdout + admitted.stderr);
      const key = (await Deno.readFile(join(folder, `${name}.pub`))).toBase64();
      const theirs = await run(folder, "python3", SCRIPT, "release", "--law", LAW, "--producer-key", key);
      assert.equal(theirs.code, 0, theirs.out);
      assert.equal(theirs.out.split("\n")[0], admitted.stdout.split("\n")[0]);
    }
    const other = await gate(
      folder,
      "runpack",
      "admit",
      "release",
      "--law",
      LAW,
      "--producer-key",
      "release/manifest.json",
    );
    assert.equal(other.code, 2);
  }));
