import assert from "node:assert/strict";
import type { X509Certificate } from "node:crypto";
import { createValidityWatch, standingOf } from "./validity.ts";

const DAY = 24 * 60 * 60 * 1000;
const FROM = Date.UTC(2026, 0, 1);
const TO = Date.UTC(2026, 0, 31);

function certificate(fingerprint256: string): X509Certificate {
  const [validFrom, validTo] = [FROM, TO].map((time) => new Date(time).toUTCString());
  return { subject: "O=Example\nCN=gate", validFrom, validTo, fingerprint256 } as X509Certificate;
}

/** Time, how the certificate stands then. */
const ROWS: readonly (readonly [now: number, standing: string])[] = [
  [FROM - 1, "not_yet"],
  [FROM, "good"],
  [TO - 7 * DAY, "good"],
  [TO - 7 * DAY + 1, "soon_over"],
  [TO, "soon_over"],
  [TO + 1, "over"],
];

Deno.test("standingOf() returns the validity of a certificate", () => {
  for (const row of ROWS) assert.deepEqual([row[0], standingOf(certificate("a"), row[0])], row);
});

Deno.test("createValidityWatch() logs each change once", () => {
  const said: string[] = [];
  const watch = createValidityWatch((level, message, fields) =>
    said.push(`${level} ${message} ${fields?.["subject"]}`)
  );
  for (const now of [TO - 20 * DAY, TO - DAY, TO - DAY + 1, TO + 1, TO + 2]) watch(certificate("a"), now);
  watch(certificate("b"), TO + 3);
  assert.deepEqual(said, [
    "warn The server's certificate expires soon O=Example, CN=gate",
    "error The server's certificate has expired: clients reject it O=Example, CN=gate",
    "error The server's certificate has expired: clients reject it O=Example, CN=gate",
  ]);
});
