/** Typed checks of a server of openssl that wants a client certificate, and sends an alert to clients without one. */

import assert from "node:assert/strict";
import { httpProfile } from "../simulation/typed_documents.ts";
import { ownCertificate } from "../e2e/own_certificates.ts";
import { askProvider, outcomeOf, withFolder } from "../e2e/providers/fixtures.ts";
import { withTyped, writeSecret } from "../e2e/typed/fixture.ts";

const authority = await ownCertificate({ name: "authority", isAuthority: true });
const stranger = await ownCertificate({ name: "stranger", isAuthority: true });
const server = await ownCertificate({ name: "builds", hosts: ["builds.example"] }, authority);
const client = await ownCertificate({ name: "gate" }, authority);
const strange = await ownCertificate({ name: "gate" }, stranger);

/** Starts `openssl s_server`, which answers each request with the file that its path names, and ends it after use. */
async function withOpenssl<Result>(
  folder: string,
  tls: string,
  use: (port: number) => Promise<Result>,
): Promise<Result> {
  await writeSecret(folder, "server.pem", `${server.cert}${server.key}`);
  await writeSecret(folder, "clients.pem", authority.cert);
  const mutual = ["-Verify", "1", "-verify_return_error", "-CAfile", "clients.pem"];
  const args = [
    "s_server",
    "-accept",
    "127.0.0.1:0",
    "-cert",
    "server.pem",
    "-key",
    "server.pem",
    ...mutual,
    tls,
    "-HTTP",
  ];
  const child = new Deno.Command("openssl", { args, cwd: folder, stdin: "null", stdout: "piped", stderr: "null" })
    .spawn();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  try {
    let text = "";
    let port: string | undefined;
    while (port === undefined) {
      const { value, done } = await reader.read();
      if (done) throw new Error(`Cannot start openssl: ${text}`);
      text += value;
      port = /^ACCEPT \S*:(\d+)$/m.exec(text)?.[1];
    }
    return await use(Number(port));
  } finally {
    child.kill("SIGKILL");
    await child.status;
    await reader.cancel();
  }
}

/** What the server answers, to be kept as a file: a response from its first line. */
const BODY = '{"failed":3}';
const RESPONSE = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`;

/** What gate presents, and the outcome. */
const ROWS = [
  ["its client's certificate", client, "-tls1_2", "value: 3"],
  ["its client's certificate", client, "-tls1_3", "value: 3"],
  // The alert of TLS 1.2 is `handshake_failure`, which has other causes too.
  ["no certificate", null, "-tls1_2", "failed: tls_failed"],
  ["no certificate", null, "-tls1_3", "failed: client_certificate_missing"],
  ["the certificate of a stranger", strange, "-tls1_2", "failed: client_certificate_untrusted"],
  ["the certificate of a stranger", strange, "-tls1_3", "failed: client_certificate_untrusted"],
] as const;

for (const [what, presented, version, outcome] of ROWS) {
  Deno.test(`a typed check with ${what}, ${version}: ${outcome}`, () =>
    withFolder((folder) =>
      withOpenssl(folder, version, async (port) => {
        await Deno.mkdir(`${folder}/builds`, { recursive: true });
        await Deno.writeTextFile(`${folder}/builds/1`, RESPONSE);
        await writeSecret(folder, "ca", authority.cert);
        if (presented !== null) await writeSecret(folder, "client.pem", presented.cert);
        if (presented !== null) await writeSecret(folder, "client.key", presented.key);
        const tls = {
          ca: "file://ca",
          client: presented === null ? null : { certificate: "file://client.pem", key: "file://client.key" },
        };
        const profile = httpProfile({ base_url: `https://builds.example:${port}`, tls });
        const options = { resolver: () => Promise.resolve(["127.0.0.1"]) };
        await withTyped({ profile, grants: { credentialsDir: folder }, options }, async (provider) => {
          for (let round = 0; round < 10; round++) {
            assert.equal(outcomeOf(await askProvider(provider, "failed", { id: "1" })), outcome);
          }
        });
      })
    ));
}
