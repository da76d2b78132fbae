import assert from "node:assert/strict";
import { checkServerIdentity, type PeerCertificate } from "node:tls";
import { byAlternativeNames } from "./server_identity.ts";

/** The names of a certificate with the common name "a.example", the name of the server, and whether it is accepted. */
const ROWS: readonly (readonly [names: string | undefined, host: string, isAccepted: boolean])[] = [
  ["DNS:a.example", "a.example", true],
  ["DNS:b.example, DNS:a.example", "a.example", true],
  ["IP Address:192.0.2.1", "192.0.2.1", true],
  ["DNS:b.example", "a.example", false],
  ["IP Address:192.0.2.1", "a.example", false],
  ["email:a@example.com", "a.example", false],
  [undefined, "a.example", false],
];

Deno.test("byAlternativeNames() compares no common name", () => {
  for (const row of ROWS) {
    const [subjectaltname, host] = row;
    const certificate = { subject: { CN: "a.example" }, subjectaltname } as unknown as PeerCertificate;
    assert.deepEqual(
      [subjectaltname, host, byAlternativeNames(checkServerIdentity)(host, certificate) === undefined],
      row,
    );
  }
});
