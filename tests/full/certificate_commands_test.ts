/** The commands that the deployment guide has for certificates, and what openssl makes without their file. */

import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { compatibilityNote, unfitVersion } from "@/server/tls/certificate_compatibility.ts";
import { readBlocks } from "../checks/doc_links.ts";
import { startServer } from "../e2e/client.ts";
import { gateArgs, inFolder } from "../e2e/gate_command.ts";
import { listening } from "../e2e/http_fixture.ts";
import { createAuthority, openssl } from "../e2e/tls/authority.ts";

const GUIDE = new URL("../../docs/guide/deployment.md", import.meta.url);

/** The commands of the guide that make the certificate of a server. */
async function commands(): Promise<string> {
  const blocks = readBlocks(await Deno.readTextFile(GUIDE));
  const [block, ...more] = blocks.filter(({ text }) => text.includes("subjectAltName"));
  assert.equal(more.length, 0);
  return block?.text ?? assert.fail("the guide has no such commands");
}

async function run(folder: string, program: string, ...args: readonly string[]): Promise<string> {
  const command = new Deno.Command(program, { args: [...args], cwd: folder, stdin: "null" });
  const { success, stdout, stderr } = await command.output();
  const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
  assert.ok(success, text(stderr));
  return text(stdout);
}

async function certificateIn(path: string): Promise<X509Certificate> {
  return new X509Certificate(await Deno.readTextFile(path));
}

Deno.test("the commands of the guide make a certificate that clients take", () =>
  inFolder(async (folder) => {
    await createAuthority(folder, "ca", "/CN=The authority");
    await run(folder, "sh", "-eu", "-c", await commands());
    assert.equal(compatibilityNote(await certificateIn(`${folder}/server.pem`)), null);
    await Deno.writeTextFile(
      `${folder}/gate.toml`,
      '[server]\ntransport = "http"\nbind = "127.0.0.1:0"\ntls = { cert_path = "server.pem", key_path = "server.key" }\n',
    );
    await using server = await listening(
      startServer({ args: gateArgs("serve", "--config", "gate.toml"), cwd: folder }),
    );
    const { port } = server;
    const asked = ["--resolve", `gate.example.com:${port}:127.0.0.1`, `https://gate.example.com:${port}/healthz`];
    assert.equal(await run(folder, "curl", "--silent", "--cacert", "ca.pem", ...asked), '{"status":"ok"}');
    assert.ok(!server.process.errors().includes("The server's certificate"), server.process.errors());
  }));

Deno.test("unfitVersion() reads the version of a certificate as openssl does, with extensions and without", () =>
  inFolder(async (folder) => {
    await createAuthority(folder, "ca", "/CN=The authority");
    await run(folder, "sh", "-eu", "-c", await commands());
    await run(folder, "openssl", "x509", "-req", "-in", "server.csr", "-signkey", "server.key", "-out", "bare.pem");
    for (const name of ["ca", "server", "bare"]) {
      const shown = await openssl("x509", "-in", `${folder}/${name}.pem`, "-noout", "-text");
      const version = Number(/^ *Version: (\d) /m.exec(shown)?.[1]);
      const unfit = unfitVersion(await certificateIn(`${folder}/${name}.pem`));
      assert.equal(unfit ?? 3, version, name);
    }
  }));
