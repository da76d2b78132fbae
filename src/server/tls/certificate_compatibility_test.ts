import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { ownCertificate, type OwnWish } from "../../../tests/e2e/own_certificates.ts";
import { compatibilityNote, createCompatibilityWatch, unfitVersion } from "./certificate_compatibility.ts";

async function certificate(wish: OwnWish): Promise<X509Certificate> {
  return new X509Certificate((await ownCertificate(wish)).cert);
}

/** What is asked of a certificate, its version where that is unfit, and what is said of how it is made. */
const ROWS: readonly (readonly [wish: OwnWish, version: number | null, note: RegExp | null])[] = [
  [{ name: "a", hosts: ["a"] }, null, null],
  [{ name: "a", ip: [127, 0, 0, 1] }, null, null],
  [{ name: "a", mail: "a@example.com", hosts: ["a", "b"], isAuthority: true }, null, null],
  [{ name: "a", mail: "a@example.com" }, null, /^names no host in a subjectAltName, and many clients look /],
  [{ name: "a" }, null, /^names no host in a subjectAltName, and many clients look .* openssl x509 -req -extfile FILE/],
  [{ name: "a", isAuthority: true }, null, /^names no host /],
  [{ name: "a", version: 1 }, 1, /^is of X\.509 version 1, and many clients .* openssl x509 -req -extfile FILE/],
];

Deno.test("compatibilityNote() finds certificates that many clients reject", async () => {
  for (const [wish, version, note] of ROWS) {
    const made = await certificate(wish);
    assert.equal(unfitVersion(made), version);
    if (note === null) assert.equal(compatibilityNote(made), null, JSON.stringify(wish));
    else assert.match(compatibilityNote(made) ?? "", note);
  }
});

Deno.test("compatibilityNote() ignores a certificate that it cannot read", () => {
  for (const raw of [[], [0x30, 0x80], [0x30, 0x07, 0x30, 0x05, 0xa0, 0x03, 0x02, 0x01]]) {
    assert.equal(compatibilityNote({ raw: Uint8Array.from(raw) } as unknown as X509Certificate), null);
  }
});

Deno.test("createCompatibilityWatch() logs each certificate once", async () => {
  const said: string[] = [];
  const watch = createCompatibilityWatch((level, message, fields) =>
    said.push(`${level} ${message} ${fields?.["subject"]}`)
  );
  const [old, good, nameless] = await Promise.all(
    [{ name: "a", version: 1 } as const, { name: "b", hosts: ["b"] }, { name: "c" }].map(certificate),
  );
  for (const one of [old, old, good, good, nameless, nameless]) watch(one ?? assert.fail());
  assert.deepEqual(said.map((line) => line.replace(/, and .* /, " ")), [
    "warn The server's certificate is of X.509 version 1 CN=a",
    "warn The server's certificate names no host in a subjectAltName CN=c",
  ]);
});
