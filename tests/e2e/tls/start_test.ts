/**
 * What a server with TLS makes sure of before it listens.
 */

import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { assertEnforcement, probeEnforcement } from "@/server/tls/enforcement.ts";
import { loadMaterial } from "@/server/tls/material.ts";
import { certificateSubject } from "@/server/tls/subject.ts";
import { fixtureArgs, startServer } from "../client.ts";
import { gate } from "../gate_command.ts";
import { CLIENT_EXTENSIONS, openssl, SERVER_EXTENSIONS, UNSERVED_KEYS } from "./authority.ts";
import { inWorld } from "./world.ts";

Deno.test("a server with invalid files does not start, and names the file", async (t) => {
  await inWorld(async (world) => {
    await Deno.writeTextFile(`${world.folder}/text.pem`, "no certificate");
    await Deno.writeTextFile(`${world.folder}/large.pem`, "x".repeat(1024 * 1024 + 1));
    await Deno.writeTextFile(`${world.folder}/broken.key`, world.server.key.replace(/\n[^-]{8}/, "\nAAAAAAAA"));
    const good = {
      cert_path: world.server.certPath,
      key_path: world.server.keyPath,
      client_ca_path: world.authority.certPath,
      require_client_cert: true,
    };
    const rows: readonly (readonly [member: string, path: string, message: string])[] = [
      ["cert_path", `${world.folder}/missing.pem`, "Cannot use server.tls.cert_path"],
      ["cert_path", world.folder, "it is not a file"],
      ["key_path", `${world.folder}/large.pem`, "file is larger than 1048576 bytes"],
      ["cert_path", `${world.folder}/text.pem`, "Cannot use server.tls.cert_path: file holds no certificate in PEM"],
      ["key_path", world.alice.keyPath, "Cannot use server.tls.key_path: key is not that of the certificate"],
      ["key_path", world.server.certPath, "Cannot use server.tls.key_path: file holds no private key in PEM"],
      ["key_path", `${world.folder}/broken.key`, "Cannot use server.tls.key_path: the private key cannot be read: "],
      ["client_ca_path", `${world.folder}/text.pem`, "Cannot use server.tls.client_ca_path: file holds no certificate"],
    ];
    for (const [member, path, message] of rows) {
      await t.step(`${member}: ${message}`, async () => {
        const tls = { ...good, [member]: path };
        const args = fixtureArgs({ server: { transport: "http", bind: "127.0.0.1:0", tls } });
        await using server = startServer({ args: ["run", "-A", ...args.slice(1)] });
        assert.equal(await server.ended(), 8);
        assert.ok(server.errors().includes(message), server.errors());
      });
    }
  });
});

Deno.test("a key is read, and a handshake made with it, where a certificate stands in the same file", () =>
  inWorld(async ({ folder, server: { cert, key } }) => {
    for (const [name, text] of [["before", key + cert], ["after", cert + key]] as const) {
      const path = `${folder}/${name}.pem`;
      await Deno.writeTextFile(path, text);
      const tls = { cert_path: path, key_path: path, client_ca_path: null, require_client_cert: false };
      assert.equal((await loadMaterial(tls)).key, text);
    }
  }));

const PEER = { subject: "/CN=localhost", extensions: SERVER_EXTENSIONS };

Deno.test("a server with a key or a certificate that no handshake succeeds with does not start, and the doctor says why", async (t) => {
  await inWorld(async ({ authority, folder }) => {
    const critical = { ...PEER, extensions: [...SERVER_EXTENSIONS, "1.2.3.4=critical,DER:0500"] };
    const rows = [
      ...UNSERVED_KEYS.map(([kind, key]) => [{ ...PEER, key }, `key_path "made.key"`, `a key of ${kind};`] as const),
      [critical, `cert_path "made.pem"`, "no TLS handshake succeeds with it and its key ("] as const,
    ];
    for (const [wish, member, message] of rows) {
      await t.step(`${member}: ${message}`, async () => {
        await authority.issue("made", wish);
        const config = '[server]\ntransport = "http"\nbind = "127.0.0.1:0"\n' +
          'tls = { cert_path = "made.pem", key_path = "made.key" }\n';
        await Deno.writeTextFile(`${folder}/gate.toml`, config);
        const served = await gate(folder, "serve", "--config", "gate.toml");
        assert.equal(served.code, 8, served.stderr);
        const looked = await gate(folder, "doctor", "--config", "gate.toml");
        assert.equal(looked.code, 8, looked.stdout);
        for (const said of [served.stderr.replaceAll('\\"', '"'), looked.stdout]) {
          assert.ok(said.replaceAll(`${folder}/`, "").includes(`Cannot use server.tls.${member}: `), said);
          assert.ok(said.includes(message), said);
        }
      });
    }
  });
});

Deno.test("a failed handshake does not prove that certificates are required", async () => {
  await inWorld(async ({ authority }) => {
    const [[, key] = assert.fail()] = UNSERVED_KEYS;
    const made = await authority.issue("made", { ...PEER, key });
    const material = {
      cert: made.cert,
      key: made.key,
      leaf: new X509Certificate(made.cert),
      clientAuthorities: [authority.cert],
      authorityFingerprints: new Set<string>(),
    };
    assert.equal(await probeEnforcement(material), "refused");
    await assert.rejects(assertEnforcement(material), /was not seen to reject/);
  });
});

Deno.test("the self-test finds a runtime that enforces certificates, and one that does not", async () => {
  await inWorld(async (world) => {
    const material = await loadMaterial({
      cert_path: world.server.certPath,
      key_path: world.server.keyPath,
      client_ca_path: world.authority.certPath,
      require_client_cert: true,
    });
    assert.equal(await probeEnforcement(material), "refused");
    await assertEnforcement(material);
    const lax = { requestCert: false, rejectUnauthorized: false };
    assert.equal(await probeEnforcement(material, lax), "reached");
    await assert.rejects(
      assertEnforcement(material, (given) => probeEnforcement(given, lax)),
      /accepts clients without/,
    );
    await assert.rejects(
      assertEnforcement(material, () => Promise.resolve("unclear" as const)),
      /was not seen to reject/,
    );
  });
});

const SUBJECTS: readonly (readonly [asked: string, subject: string])[] = [
  ["/C=DE/O=Acme, Inc./CN=alice", "CN=alice,O=Acme\\, Inc.,C=DE"],
  ['/O=a+OU=b/CN=q"<;>\\\\=x', 'CN=q\\"\\<\\;\\>\\\\=x,OU=b+O=a'],
  ["/CN=#lead/O= sp ", "O=\\ sp\\ ,CN=\\#lead"],
  ["/DC=example/UID=u/emailAddress=a@b.c/CN=É漢😀", "CN=É漢😀,emailAddress=a@b.c,UID=u,DC=example"],
  ["/CN=alice,O=Admin", "CN=alice\\,O=Admin"],
];

Deno.test("certificateSubject() writes subjects as openssl does by RFC 2253 and 4514", async () => {
  await inWorld(async ({ authority }) => {
    for (const [index, [asked, subject]] of SUBJECTS.entries()) {
      const made = await authority.issue(`subject${index}`, { subject: asked, extensions: CLIENT_EXTENSIONS });
      assert.equal(certificateSubject(new Uint8Array(new X509Certificate(made.cert).raw)), subject);
      const shown = await openssl(
        "x509",
        "-in",
        made.certPath,
        "-noout",
        "-subject",
        "-nameopt",
        "RFC2253,-esc_msb,utf8",
      );
      assert.equal(shown.trim(), `subject=${subject}`);
    }
  });
});
