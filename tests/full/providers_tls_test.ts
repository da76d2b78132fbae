import assert from "node:assert/strict";
import type { BuiltinProviderOptions } from "../../src/evidence/builtin/engine.ts";
import { askProvider, outcomeOf, pause, withFolder, withProvider, withServer } from "../e2e/providers/fixtures.ts";

/** A throw-away authority and a server certificate of it for a name. */
interface Certificates {
  readonly authority: string;
  readonly cert: string;
  readonly key: string;
}

async function openssl(folder: string, ...args: readonly string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command("openssl", { args: [...args], cwd: folder }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
}

async function certificatesFor(folder: string, names: string, days = "2"): Promise<Certificates> {
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  await openssl(
    folder,
    "req",
    "-x509",
    ...curve,
    "-keyout",
    "ca.key",
    "-out",
    "ca.pem",
    "-days",
    "2",
    "-subj",
    "/CN=Throw-away",
  );
  await openssl(folder, "req", ...curve, "-keyout", "key.pem", "-out", "request.pem", "-subj", "/CN=server");
  await Deno.writeTextFile(`${folder}/extension`, `subjectAltName=${names}\n`);
  const sign = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-extfile", "extension", "-days", days];
  await openssl(folder, "x509", "-req", "-in", "request.pem", ...sign, "-out", "cert.pem");
  const read = (name: string): Promise<string> => Deno.readTextFile(`${folder}/${name}`);
  return { authority: await read("ca.pem"), cert: await read("cert.pem"), key: await read("key.pem") };
}

interface Seen {
  host: string | null;
  requests: number;
}

/** Asks a TLS server by a name that resolves to the loopback interface. */
function askTls(
  names: string,
  host: string,
  trusted: boolean,
  days?: string,
): Promise<{ readonly outcome: string; readonly seen: Seen }> {
  return withFolder(async (folder) => {
    const { authority, cert, key } = await certificatesFor(folder, names, days);
    const seen: Seen = { host: null, requests: 0 };
    const server = Deno.serve({ hostname: "127.0.0.1", port: 0, cert, key, onListen: () => {} }, (request) => {
      seen.requests += 1;
      seen.host = request.headers.get("host");
      return Response.json({ a: 1 });
    });
    const options: BuiltinProviderOptions = {
      resolver: () => Promise.resolve(["127.0.0.1"]),
      ...trusted ? { authorities: [authority] } : {},
    };
    const config = { allow_private_networks: true, timeout_ms: 3000 };
    try {
      return await withProvider({ name: "rest", config, options }, async (provider) => {
        const params = { url: `https://${host}:${server.addr.port}/`, jsonpath: "$.a" };
        return { outcome: outcomeOf(await askProvider(provider, "json_path", params)), seen };
      });
    } finally {
      await server.shutdown();
    }
  });
}

/** Names in the certificate, host of the URL, whether the authority is trusted, outcome. */
const ROWS: readonly (readonly [string, string, boolean, string])[] = [
  ["DNS:api.example", "api.example", true, "value: 1"],
  ["DNS:*.api.example", "v1.api.example", true, "value: 1"],
  ["IP:127.0.0.1", "127.0.0.1", true, "value: 1"],
  ["DNS:other.example", "api.example", true, "failed: server_certificate_name_mismatch"],
  ["IP:127.0.0.1", "api.example", true, "failed: server_certificate_name_mismatch"],
  ["DNS:127.0.0.1", "127.0.0.1", true, "failed: server_certificate_name_mismatch"],
  ["DNS:api.example", "api.example", false, "failed: server_certificate_untrusted"],
];

for (const [names, host, trusted, expected] of ROWS) {
  Deno.test(`rest over TLS: ${names} asked as ${host}, ${trusted ? "trusted" : "not trusted"}: ${expected}`, async () => {
    const { outcome, seen } = await askTls(names, host, trusted);
    assert.equal(outcome, expected);
    assert.equal(seen.requests, expected.startsWith("value") ? 1 : 0);
    if (seen.host !== null) assert.match(seen.host, new RegExp(`^${host.replaceAll(".", "\\.")}:\\d+$`));
  });
}

Deno.test("rest over TLS: a certificate that has run out: tls_failed", async () => {
  assert.equal((await askTls("DNS:api.example", "api.example", true, "-1")).outcome, "failed: tls_failed");
});

Deno.test("http over TLS: a handshake that hangs: timeout", () =>
  withServer(
    () => pause(60_000),
    ({ port }) =>
      withProvider({ name: "http", config: { allow_private_networks: true, timeout_ms: 300 } }, async (provider) => {
        const answer = await askProvider(provider, "status", { url: `https://127.0.0.1:${port}/` });
        assert.equal(outcomeOf(answer), "failed: timeout");
      }),
  ));
