/** gRPC checks over TLS: authorities, names, client certificates, and servers that break off. */

import assert from "node:assert/strict";
import type { Socket } from "node:net";
import type { GrpcProfile } from "../../../src/evidence/typed/runtime_profile.ts";
import { type Script, type ServerTls, startPeer } from "./grpc_peers.ts";
import { HONEST, HOSTILE, importChecks, RESPONSE_BYTES } from "./grpc_rows.ts";
import { ownCertificate } from "../own_certificates.ts";
import { askProvider, outcomeOf, withFolder } from "../providers/fixtures.ts";
import { withTyped, writeSecret } from "./fixture.ts";

const IMPORTED = await importChecks();
const CLIENT = { certificate: "file://client.pem", key: "file://client.key" } as const;

const authority = await ownCertificate({ name: "authority", isAuthority: true });
const stranger = await ownCertificate({ name: "stranger", isAuthority: true });
const server = await ownCertificate({ name: "checks", hosts: ["checks.example"] }, authority);
const nameless = await ownCertificate({ name: "checks.example" }, authority);
const mailed = await ownCertificate({ name: "checks.example", mail: "a@example.com" }, authority);
const client = await ownCertificate({ name: "gate" }, authority);
const strange = await ownCertificate({ name: "gate" }, stranger);

interface Case {
  readonly server?: Partial<ServerTls> | null;
  readonly script?: Script;
  /** The name of the endpoint; `checks.example` by default. */
  readonly host?: string;
  readonly authority?: string;
  /** The trusted authority; null for none. */
  readonly trusted?: string | null;
  /** The certificate and key of gate. */
  readonly presented?: { readonly cert: string; readonly key: string };
  readonly timeoutMillis?: number;
}

/** Checks a server that listens on the loopback interface. */
function outcomeWith(one: Case): Promise<string> {
  return withFolder(async (folder) => {
    const { host = "checks.example", trusted = authority.cert, presented, timeoutMillis = 10_000 } = one;
    if (trusted !== null) await writeSecret(folder, "ca.pem", trusted);
    if (presented !== undefined) {
      await writeSecret(folder, "client.pem", presented.cert);
      await writeSecret(folder, "client.key", presented.key);
    }
    const secure = one.server === null ? null : { cert: server.cert, key: server.key, ...one.server };
    const peer = await startPeer(one.script ?? HONEST, secure);
    try {
      const profile: GrpcProfile = {
        ...IMPORTED.profile,
        endpoint: `${host}:${peer.port}`,
        authority: one.authority ?? null,
        tls: { ca: trusted === null ? null : "file://ca.pem", client: presented === undefined ? null : CLIENT },
        limits: { timeout_ms: timeoutMillis, max_response_bytes: RESPONSE_BYTES },
      };
      const options = { resolver: () => Promise.resolve(["127.0.0.1"]) };
      const plan = { profile, contract: IMPORTED.contract, grants: { credentialsDir: folder }, options };
      return await withTyped(plan, async (provider) => outcomeOf(await askProvider(provider, "errors", { name: "a" })));
    } finally {
      await peer.close();
    }
  });
}

const MUTUAL = { clientAuthority: authority.cert };
const CLOSING: Script = { at: "connection", play: (socket: Socket) => void socket.destroy() };
const SILENT: Script = { at: "connection", play: () => {} };

/** What server and profile have, the case, outcome or outcomes. */
const ROWS: readonly (readonly [what: string, one: Case, outcome: string])[] = [
  ["a certificate of the trusted authority", {}, "value: 3"],
  ["a certificate of another authority", { trusted: stranger.cert }, "failed: server_certificate_untrusted"],
  ["a certificate of no public authority", { trusted: null }, "failed: server_certificate_untrusted"],
  ["an authority that is no certificate", { trusted: "not PEM" }, "failed: server_certificate_untrusted"],
  ["a certificate of another name", { host: "other.example" }, "failed: server_certificate_name_mismatch"],
  [
    "a certificate that names it as its common name alone",
    { server: nameless },
    "failed: server_certificate_name_mismatch",
  ],
  ["a certificate that names a mail address beside", { server: mailed }, "failed: server_certificate_name_mismatch"],
  ["a certificate without the address", { host: "127.0.0.1" }, "failed: server_certificate_name_mismatch"],
  [
    "an address, and an authority that the certificate names",
    { host: "127.0.0.1", authority: "checks.example" },
    "value: 3",
  ],
  [
    "an authority that the certificate does not name",
    { authority: "other.example" },
    "failed: server_certificate_name_mismatch",
  ],
  ["a client certificate that the server wants", { server: MUTUAL, presented: client }, "value: 3"],
  ["a client certificate that the server ignores", { presented: client }, "value: 3"],
  [
    "no client certificate, although the server wants one",
    { server: MUTUAL },
    // A reset of the connection discards an alert that the client has not read.
    "failed: client_certificate_missing or failed: connection_failed",
  ],
  // The server of these tests ends such a connection without an alert.
  ["a client certificate of another authority", { server: MUTUAL, presented: strange }, "failed: connection_failed"],
  [
    "a client certificate with another key",
    { server: MUTUAL, presented: { cert: client.cert, key: strange.key } },
    "failed: tls_failed",
  ],
  [
    "a client certificate that is none",
    { server: MUTUAL, presented: { cert: "not PEM", key: client.key } },
    "failed: tls_failed",
  ],
  ["a server of HTTP/1", { server: { protocols: ["http/1.1"] } }, "failed: tls_failed"],
  ["a server without TLS that closes", { server: null, script: CLOSING }, "failed: tls_failed"],
  ["a server without TLS that is silent", { server: null, script: SILENT, timeoutMillis: 300 }, "failed: timeout"],
  ["a server that closes after the handshake", { script: CLOSING }, "failed: connection_failed"],
  ["a server that is silent after the handshake", { script: SILENT, timeoutMillis: 500 }, "failed: timeout"],
];

for (const [what, one, outcome] of ROWS) {
  Deno.test(`a gRPC check over TLS with ${what}: ${outcome}`, async () => {
    const found = await outcomeWith(one);
    assert.ok(outcome.split(" or ").includes(found), found);
  });
}

/** The rest of the table over TLS: what needs no deadline and begins with a request. */
for (const { what, script, outcome, timeoutMillis } of HOSTILE) {
  if (script.at === "connection" || timeoutMillis !== undefined) continue;
  Deno.test(`a gRPC server behind TLS that ${what}: ${outcome}`, async () => {
    assert.equal(await outcomeWith({ script }), outcome);
  });
}
