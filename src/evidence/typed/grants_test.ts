import assert from "node:assert/strict";
import { grpcProfile, httpProfile } from "../../../tests/simulation/typed_documents.ts";
import { checkGrants, NO_GRANTS, parseHostPort, type TypedGrants } from "./grants.ts";
import type { RuntimeProfile } from "./runtime_profile.ts";

const HOST = { host: "builds.example", port: 443, credentials: ["file://token"] };
const GRANTS: TypedGrants = { ...NO_GRANTS, hosts: [HOST], credentialsDir: "/credentials" };
const LOOPBACK: TypedGrants = {
  ...GRANTS,
  hosts: [{ ...HOST, host: "127.0.0.1", port: 80 }, { ...HOST, host: "builds.example", port: 80 }],
  cleartext: "loopback",
};

function withToken(locator: string): RuntimeProfile {
  return httpProfile({ credentials: [{ kind: "bearer", locator }] });
}

function withClient(certificate: string, key: string): RuntimeProfile {
  return httpProfile({ tls: { ca: null, client: { certificate, key } } });
}

function withCa(ca: string): RuntimeProfile {
  return httpProfile({ tls: { ca, client: null } });
}

const HOST_REFUSED = "host_not_allowed $.base_url";
const TOKEN_REFUSED = "credential_locator_refused $.credentials[0].locator";

/** What is asked for, profile, grants, problems. */
const ROWS: readonly (readonly [string, RuntimeProfile, TypedGrants, readonly string[]])[] = [
  ["a granted host", httpProfile(), GRANTS, []],
  ["any host without grants", httpProfile(), NO_GRANTS, [HOST_REFUSED]],
  ["a host in other case", httpProfile({ base_url: "https://BUILDS.example." }), GRANTS, []],
  ["another host", httpProfile({ base_url: "https://evil.example" }), GRANTS, [HOST_REFUSED]],
  ["a host that ends alike", httpProfile({ base_url: "https://x.builds.example" }), GRANTS, [HOST_REFUSED]],
  ["another port", httpProfile({ base_url: "https://builds.example:8443" }), GRANTS, [HOST_REFUSED]],
  ["a gRPC host", grpcProfile(), GRANTS, []],
  ["another gRPC host", grpcProfile({ endpoint: "evil.example:443" }), GRANTS, ["host_not_allowed $.endpoint"]],
  ["gRPC by the host's own name", grpcProfile({ authority: "Builds.example:8443" }), GRANTS, []],
  ["gRPC by another name", grpcProfile({ authority: "evil.example" }), GRANTS, ["host_not_allowed $.authority"]],
  ["gRPC by another granted name", grpcProfile({ authority: "evil.example" }), {
    ...GRANTS,
    hosts: [HOST, { host: "evil.example", port: 1, credentials: [] }],
  }, []],
  ["cleartext gRPC", grpcProfile({ plaintext: true }), GRANTS, ["host_not_allowed $.endpoint"]],
  ["cleartext anywhere", httpProfile({ base_url: "http://builds.example" }), LOOPBACK, [HOST_REFUSED]],
  ["cleartext on loopback", httpProfile({ base_url: "http://127.0.0.1" }), LOOPBACK, []],
  ["cleartext where it is allowed", httpProfile({ base_url: "http://builds.example" }), {
    ...LOOPBACK,
    cleartext: "everywhere",
  }, []],
  ["the host's credential", withToken("file://token"), GRANTS, []],
  ["a credential of no host", withToken("file://other"), GRANTS, [TOKEN_REFUSED]],
  ["a credential without a folder", withToken("file://token"), { ...GRANTS, credentialsDir: null }, [TOKEN_REFUSED]],
  ["a variable", withToken("env://TOKEN"), { ...GRANTS, hosts: [{ ...HOST, credentials: ["env://TOKEN"] }] }, [
    TOKEN_REFUSED,
  ]],
  ["a variable in development", withToken("env://TOKEN"), {
    ...GRANTS,
    hosts: [{ ...HOST, credentials: ["env://TOKEN"] }],
    allowEnvironment: true,
  }, []],
  ...["GATE_TOKEN", "AWS_SECRET_ACCESS_KEY", "aws_secret"].map((
    name,
  ): readonly [string, RuntimeProfile, TypedGrants, readonly string[]] => [
    `the variable ${name}`,
    withToken(`env://${name}`),
    { ...GRANTS, hosts: [{ ...HOST, credentials: [`env://${name}`] }], allowEnvironment: true },
    [TOKEN_REFUSED],
  ]),
  ["a client key of no host", withClient("file://token", "file://key"), GRANTS, [
    "credential_locator_refused $.tls.client.key",
  ]],
  ["a CA", withCa("file://ca"), GRANTS, []],
  ["a CA without a folder", withCa("file://ca"), { ...GRANTS, credentialsDir: null }, [
    "credential_locator_refused $.tls.ca",
  ]],
];

for (const [what, profile, grants, problems] of ROWS) {
  Deno.test(`checkGrants() of ${what} finds ${problems.join(", ") || "nothing"}`, () => {
    assert.deepEqual(checkGrants(profile, grants).map(({ code, path }) => `${code} ${path}`), problems);
  });
}

Deno.test("parseHostPort() parses a host with and without a port", () => {
  assert.deepEqual(parseHostPort("Builds.example"), { host: "builds.example", port: 443 });
  assert.deepEqual(parseHostPort("[::1]:8080"), { host: "::1", port: 8080 });
  for (const text of ["", ":80", "a:0", "a:65536", "a:80:80", "::1", "a b", "http://a"]) {
    assert.equal(parseHostPort(text), null, text);
  }
});
