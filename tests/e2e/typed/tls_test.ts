/** Typed checks over TLS: the operator's authority, the name, client certificates. */

import assert from "node:assert/strict";
import { httpProfile } from "../../simulation/typed_documents.ts";
import { ownCertificate } from "../own_certificates.ts";
import { askProvider, ok, outcomeOf, pause, withFolder, withServer, write } from "../providers/fixtures.ts";
import { answeringSocket, type TlsSettings, withTlsServer, withTyped, writeSecret } from "./fixture.ts";

const RESPONSE = ok('{"failed":3}');
const UNMARKED = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";
const LIMITS = { timeout_ms: 10_000, max_response_bytes: 256 };
const CLIENT = { certificate: "file://client.pem", key: "file://client.key" } as const;

const authority = await ownCertificate({ name: "authority", isAuthority: true });
const stranger = await ownCertificate({ name: "stranger", isAuthority: true });
const server = await ownCertificate({ name: "builds", hosts: ["builds.example"] }, authority);
const nameless = await ownCertificate({ name: "builds.example" }, authority);
const client = await ownCertificate({ name: "gate" }, authority);
const strange = await ownCertificate({ name: "gate" }, stranger);

interface Case {
  readonly settings?: Partial<TlsSettings>;
  /** The response; by default one with the value 3. */
  readonly response?: string;
  /** The name in the URL; `builds.example` by default. */
  readonly host?: string;
  /** The trusted authority; null for none. */
  readonly trusted?: string | null;
  /** The certificate and key of gate. */
  readonly presented?: { readonly cert: string; readonly key: string };
}

/** Checks a service that always answers with 3. */
function outcomeWith(
  { settings, response = RESPONSE, host = "builds.example", trusted = authority.cert, presented }: Case,
): Promise<string> {
  return withFolder(async (folder) => {
    if (trusted !== null) await writeSecret(folder, "ca.pem", trusted);
    if (presented !== undefined) {
      await writeSecret(folder, "client.pem", presented.cert);
      await writeSecret(folder, "client.key", presented.key);
    }
    const tls = { ca: trusted === null ? null : "file://ca.pem", client: presented === undefined ? null : CLIENT };
    return await withTlsServer({ certificate: server, ...settings }, answeringSocket(response), async (port) => {
      const profile = httpProfile({ base_url: `https://${host}:${port}`, tls, limits: LIMITS });
      const options = { resolver: () => Promise.resolve(["127.0.0.1"]) };
      return await withTyped(
        { profile, grants: { credentialsDir: folder }, options },
        async (provider) => outcomeOf(await askProvider(provider, "failed", { id: "1" })),
      );
    });
  });
}

const MUTUAL = { clients: authority };

/** What server and profile have, the case, outcome. */
const ROWS: readonly (readonly [what: string, one: Case, outcome: string])[] = [
  ["a certificate of the operator's authority", {}, "value: 3"],
  ["a certificate of another authority", { trusted: stranger.cert }, "failed: server_certificate_untrusted"],
  ["a certificate of no public authority", { trusted: null }, "failed: server_certificate_untrusted"],
  ["an authority that is no certificate", { trusted: "not PEM" }, "failed: server_certificate_untrusted"],
  ["a certificate of another name", { host: "other.example" }, "failed: server_certificate_name_mismatch"],
  [
    "a certificate that names it as its common name alone",
    { settings: { certificate: nameless } },
    "failed: server_certificate_name_mismatch",
  ],
  ["a client certificate that the service wants", { settings: MUTUAL, presented: client }, "value: 3"],
  ["a client certificate that the service ignores", { presented: client }, "value: 3"],
  [
    "a body in chunks",
    { response: `${UNMARKED}transfer-encoding: chunked\r\n\r\nc\r\n{"failed":3}\r\n0\r\n\r\n` },
    "value: 3",
  ],
  ["a body whose end is not marked", { response: `${UNMARKED}\r\n{"failed":3}` }, "failed: response_truncated"],
  ["a client certificate with the key of another", {
    settings: MUTUAL,
    presented: { cert: client.cert, key: strange.key },
  }, "failed: tls_failed"],
  ["a client certificate for a server of another authority", {
    settings: MUTUAL,
    presented: client,
    trusted: stranger.cert,
  }, "failed: server_certificate_untrusted"],
  ["a client certificate for a server of another name", {
    settings: MUTUAL,
    presented: client,
    host: "other.example",
  }, "failed: server_certificate_name_mismatch"],
];

// The server of these tests does not always send its alert before it closes; the full tests have a server that does.
for (
  const [what, presented, code] of [
    ["no client certificate", undefined, "client_certificate_missing"],
    ["that of a stranger", strange, "client_certificate_untrusted"],
    // The runtime then presents none.
    ["a key that is no key", { cert: client.cert, key: "x" }, "client_certificate_missing"],
  ] as const
) {
  Deno.test(`a typed check with ${what} although the service wants one: no result`, async () => {
    const one = presented === undefined ? {} : { presented };
    const outcome = await outcomeWith({ settings: MUTUAL, ...one });
    assert.ok([`failed: ${code}`, "failed: connection_failed"].includes(outcome), outcome);
  });
}

for (const [what, one, outcome] of ROWS) {
  Deno.test(`a typed check with ${what}: ${outcome}`, async () => {
    assert.equal(await outcomeWith(one), outcome);
  });
}

/** A service on a TLS port that speaks no TLS, with and without a client certificate; outcome. */
const NO_TLS = [
  ["that speaks HTTP", (connection: Deno.Conn) => write(connection, RESPONSE), "failed: tls_failed"],
  ["that says nothing", () => pause(60_000), "failed: timeout"],
  ["that closes", (connection: Deno.Conn) => Promise.resolve(connection.close()), "failed: tls_failed"],
] as const;

for (const [what, behaviour, outcome] of NO_TLS) {
  for (const isMutual of [false, true]) {
    Deno.test(`a typed check over TLS${isMutual ? ", mutual," : ""} of a service ${what}: ${outcome}`, () =>
      withFolder((folder) =>
        withServer(behaviour, async ({ port }) => {
          await writeSecret(folder, "client.pem", client.cert);
          await writeSecret(folder, "client.key", client.key);
          const profile = httpProfile({
            base_url: `https://127.0.0.1:${port}`,
            limits: { ...LIMITS, timeout_ms: outcome === "failed: timeout" ? 700 : 10_000 },
            tls: { ca: null, client: isMutual ? CLIENT : null },
          });
          await withTyped({ profile, grants: { credentialsDir: folder } }, async (provider) => {
            assert.equal(outcomeOf(await askProvider(provider, "failed", { id: "1" })), outcome);
          });
        })
      ));
  }
}
