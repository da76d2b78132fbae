import assert from "node:assert/strict";
import { ownCertificate } from "../../../tests/e2e/own_certificates.ts";
import { loadMaterial } from "./material.ts";

const server = await ownCertificate({ name: "gate", hosts: ["gate.example"] });
const [first, second] = await Promise.all(
  ["first", "second"].map(async (name) => (await ownCertificate({ name, isAuthority: true })).cert),
);
const client = await ownCertificate({ name: "client" });
const REQUEST = "-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n";
const half = second?.slice(0, 200);

/** What the bundle of client authorities holds, and the authorities that are read or the fault. */
const ROWS: readonly (readonly [what: string, bundle: string, outcome: number | RegExp])[] = [
  ["two authorities", `${first}# of 2026\n${second}`, 2],
  ["lines of Windows", `${first}${second}`.replaceAll("\n", "\r\n"), 2],
  ["a request beside an authority", `${REQUEST}${first}`, 1],
  ["half of the second", `${first}${half}`, /client_ca_path: 1 of 2 certificates are whole blocks of PEM$/],
  ["half of the first", `${half}${first}`, /client_ca_path: 1 of 2 certificates are whole blocks of PEM$/],
  [
    "a form that the runtime does not read",
    `${first}${second?.replaceAll("CERTIFICATE", "TRUSTED CERTIFICATE")}`,
    /client_ca_path: 1 of 2 certificates are whole blocks of PEM$/,
  ],
  ["a client's certificate", `${first}${client.cert}`, /client_ca_path: certificate 2 is not an authority \(basic/],
];

for (const [what, bundle, outcome] of ROWS) {
  Deno.test(`loadMaterial() with client authorities of ${what}: ${outcome}`, async () => {
    const folder = await Deno.makeTempDir();
    try {
      const [cert_path, key_path, client_ca_path] = ["server.pem", "server.key", "ca.pem"].map((name) =>
        `${folder}/${name}`
      );
      await Deno.writeTextFile(cert_path ?? "", server.cert);
      await Deno.writeTextFile(key_path ?? "", server.key);
      await Deno.writeTextFile(client_ca_path ?? "", bundle);
      const config = {
        cert_path: `${cert_path}`,
        key_path: `${key_path}`,
        client_ca_path: `${client_ca_path}`,
        require_client_cert: true,
      };
      if (typeof outcome === "number") assert.equal((await loadMaterial(config)).clientAuthorities?.length, outcome);
      else await assert.rejects(loadMaterial(config), outcome);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
}
