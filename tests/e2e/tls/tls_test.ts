/**
 * TLS and client certificates, with openssl and curl as the clients: who shows nothing, or anything but a certificate
 * that this server itself has verified and still trusts, gets no answer.
 */

import assert from "node:assert/strict";
import { createServer, type Server as SecureServer } from "node:https";
import { type AddressInfo, connect as connectPlain } from "node:net";
import { guardPeers } from "@/server/tls/resumption_guard.ts";
import {
  type Certified,
  CLIENT_EXTENSIONS,
  createAuthority,
  openssl,
  SERVER_EXTENSIONS,
  UNSERVED_KEYS,
} from "./authority.ts";
import { curl, inWorld, keptConnection, sClient, startTls } from "./world.ts";

Deno.test("with a required certificate only clients with a valid one are answered", async (t) => {
  await inWorld(async (world) => {
    const { authority, alice, folder } = world;
    const twin = await createAuthority(folder, "twin", "/CN=The authority");
    const middle = await authority.issue("middle", {
      subject: "/CN=Between",
      extensions: ["basicConstraints=critical,CA:TRUE", "keyUsage=keyCertSign"],
    });
    const wish = { subject: "/O=Acme, Inc./CN=alice", extensions: CLIENT_EXTENSIONS };
    const rows: readonly (readonly [what: string, client: Certified | null, status: number])[] = [
      ["a good certificate", alice, 200],
      ["no certificate", null, 0],
      ["of another authority with the same name", await twin.issue("twin_alice", wish), 0],
      ["self-signed", await createAuthority(folder, "self", "/O=Acme, Inc./CN=alice"), 0],
      ["expired", await authority.issue("old", { ...wish, from: -7200, until: -3600 }), 0],
      ["not yet valid", await authority.issue("young", { ...wish, from: 3600, until: 7200 }), 0],
      [
        "for servers alone",
        await authority.issue("wrong", { ...wish, extensions: ["extendedKeyUsage=serverAuth"] }),
        0,
      ],
      ["by way of another authority", await chained(folder, middle, wish.subject), 200],
    ];
    await using server = await startTls(world);
    for (const version of ["1.3", "1.2"]) {
      for (const [what, client, status] of rows) {
        await t.step(`TLS ${version}, ${what}: ${status}`, async () => {
          const maximum = ["--tls-max", version, `--tlsv${version}`];
          assert.equal(await curl(world, server.url, client, ...maximum), status);
        });
      }
    }
    assert.equal(await curl(world, server.url.replace("https", "http"), null), 0, "not without TLS");
    assert.ok(!server.process.errors().includes('"level":"error"'), server.process.errors());
  });
});

/** A leaf signed by an authority in between, with that one's certificate behind it. */
async function chained(folder: string, middle: Certified, subject: string): Promise<Certified> {
  const base = `${folder}/leaf`;
  await openssl(
    "req",
    "-newkey",
    "ec",
    "-pkeyopt",
    "ec_paramgen_curve:prime256v1",
    "-nodes",
    "-keyout",
    `${base}.key`,
    "-out",
    `${base}.csr`,
    "-subj",
    subject,
  );
  await Deno.writeTextFile(`${base}.ext`, CLIENT_EXTENSIONS.join("\n"));
  await openssl(
    "x509",
    "-req",
    "-in",
    `${base}.csr`,
    "-CA",
    middle.certPath,
    "-CAkey",
    middle.keyPath,
    "-CAcreateserial",
    "-out",
    `${base}.pem`,
    "-days",
    "3",
    "-extfile",
    `${base}.ext`,
  );
  await Deno.writeTextFile(`${base}.pem`, await Deno.readTextFile(`${base}.pem`) + middle.cert);
  return { certPath: `${base}.pem`, keyPath: `${base}.key`, cert: "", key: "" };
}

Deno.test("a client that does not finish the handshake is ended", async () => {
  await inWorld(async (world) => {
    await using server = await startTls(world, {
      http: { bounds: { headTime: 1_000, requestTime: 2_000, idleTime: 2_000 } },
    });
    for (const beginning of [[], [22, 3, 1, 2, 0, 1, 0, 1, 252]]) {
      using connection = await Deno.connect({ hostname: "127.0.0.1", port: server.port });
      if (beginning.length > 0) await connection.write(Uint8Array.from(beginning));
      const start = performance.now();
      const read = await connection.read(new Uint8Array(1)).catch(() => null);
      assert.deepEqual([read, performance.now() - start < 60_000], [null, true]);
    }
    assert.equal(await curl(world, server.url, world.alice), 200);
  });
});

Deno.test("with optional certificates none is needed, and an invalid one is rejected", async () => {
  await inWorld(async (world) => {
    const forged = await createAuthority(world.folder, "forged", "/O=Acme, Inc./CN=alice");
    await using server = await startTls(world, { required: false });
    assert.equal(await curl(world, server.url, null), 200);
    assert.equal(await curl(world, server.url, world.alice), 200);
    assert.equal(await curl(world, server.url, forged), 0);
  });
});

for (const version of ["-tls1_3", "-tls1_2"]) {
  Deno.test(`a forged certificate is rejected in a resumed session, ${version}`, async () => {
    await inWorld(async (world) => {
      const forged = await createAuthority(world.folder, "forged", "/O=Acme, Inc./CN=alice");
      const session = `${world.folder}/session.pem`;
      await using server = await startTls(world, { required: false });
      assert.equal((await sClient(server.port, forged, version, "-sess_out", session)).status, 0);
      // Whether a ticket got out before the connection ended is a matter of time; where one did, it is worth nothing.
      if (await exists(session)) {
        for (let round = 0; round < 3; round++) {
          assert.equal((await sClient(server.port, forged, version, "-sess_in", session)).status, 0);
        }
      }
      assert.equal((await sClient(server.port, world.alice, version)).status, 200);
    });
  });

  Deno.test(`a valid client resumes a session and is answered, ${version}`, async () => {
    await inWorld(async (world) => {
      const session = `${world.folder}/session.pem`;
      await using server = await startTls(world);
      assert.deepEqual(await sClient(server.port, world.alice, version, "-sess_out", session), {
        status: 200,
        reused: false,
      });
      assert.deepEqual(await sClient(server.port, world.alice, version, "-sess_in", session), {
        status: 200,
        reused: true,
      });
    });
  });

  Deno.test(`a session from before its authority was withdrawn is refused, ${version}`, async () => {
    await inWorld(async (world) => {
      const session = `${world.folder}/session.pem`;
      const next = await createAuthority(world.folder, "next", "/CN=The next authority");
      const bob = await next.issue("bob", { subject: "/CN=bob", extensions: CLIENT_EXTENSIONS });
      await using server = await startTls(world);
      assert.equal((await sClient(server.port, world.alice, version, "-sess_out", session)).status, 200);
      assert.equal((await sClient(server.port, bob, version)).status, 0);
      await Deno.writeTextFile(server.live.ca, next.cert);
      await server.process.logged('"authorities_withdrawn":true');
      assert.equal((await sClient(server.port, world.alice, version, "-sess_in", session)).status, 0);
      assert.equal((await sClient(server.port, world.alice, version)).status, 0);
      assert.equal((await sClient(server.port, bob, version)).status, 200);
    });
  });

  Deno.test(`a session outlives the arrival of one more authority, ${version}`, async () => {
    await inWorld(async (world) => {
      const session = `${world.folder}/session.pem`;
      const next = await createAuthority(world.folder, "next", "/CN=The next authority");
      await using server = await startTls(world);
      assert.equal((await sClient(server.port, world.alice, version, "-sess_out", session)).status, 200);
      await Deno.writeTextFile(server.live.ca, world.authority.cert + next.cert);
      await server.process.logged('"authorities_withdrawn":false');
      assert.equal((await sClient(server.port, world.alice, version, "-sess_in", session)).status, 200);
    });
  });
}

/** Listens on a port of its own. */
async function listenHere(server: SecureServer): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  return (server.address() as AddressInfo).port;
}

for (const version of ["-tls1_3", "-tls1_2"]) {
  for (const mode of ["required", "optional"] as const) {
    Deno.test(`a session that another server gave to a forged certificate is rejected, ${mode}, ${version}`, async () => {
      await inWorld(async (world) => {
        const forged = await createAuthority(world.folder, "forged", "/O=Acme, Inc./CN=alice");
        const context = {
          cert: world.server.cert,
          key: world.server.key,
          ca: [world.authority.cert],
          requestCert: true,
        };
        const refused: string[] = [];
        const lax = createServer({ ...context, rejectUnauthorized: false }, (_, response) => void response.end("lax"));
        const strict = createServer(
          { ...context, rejectUnauthorized: mode === "required" },
          (_, response) => void response.end("strict"),
        );
        guardPeers(strict, mode, () => undefined, (reason) => void refused.push(reason));
        const [laxPort, strictPort] = await Promise.all([listenHere(lax), listenHere(strict)]);
        try {
          const session = `${world.folder}/session.pem`;
          assert.equal((await sClient(laxPort, forged, version, "-sess_out", session)).status, 200);
          assert.deepEqual(await sClient(strictPort, forged, version, "-sess_in", session), {
            status: 0,
            reused: true,
          });
          assert.deepEqual(refused, ["client_certificate_not_verified_here"]);
          assert.equal((await sClient(laxPort, null, version, "-sess_out", session)).status, 200);
          const without = await sClient(strictPort, null, version, "-sess_in", session);
          assert.equal(without.status, mode === "required" ? 0 : 200);
          assert.equal((await sClient(strictPort, world.alice, version)).status, 200);
        } finally {
          for (const server of [lax, strict]) {
            server.closeAllConnections();
            server.close();
          }
        }
      });
    });
  }
}

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}

Deno.test("the server's certificate is renewed while connections stay open", async () => {
  await inWorld(async (world) => {
    const renewed = await world.authority.issue("renewed", { subject: "/CN=renewed", extensions: SERVER_EXTENSIONS });
    await using server = await startTls(world);
    const connection = await keptConnection(world, server.port);
    assert.equal(await connection.ask(), 200);
    await Deno.copyFile(renewed.certPath, server.live.cert);
    await Deno.copyFile(renewed.keyPath, server.live.key);
    await server.process.logged('"authorities_withdrawn":false');
    assert.equal(await connection.ask(), 200);
    connection.close();
    const shown = await new Deno.Command("openssl", {
      args: [
        "s_client",
        "-connect",
        `127.0.0.1:${server.port}`,
        "-cert",
        world.alice.certPath,
        "-key",
        world.alice.keyPath,
      ],
      stdin: "null",
    }).output();
    assert.match(new TextDecoder().decode(shown.stdout), /subject=CN = renewed/);
    assert.equal(await curl(world, server.url, world.alice), 200);
  });
});

Deno.test("SIGHUP reads certificates at once, changed or not", async () => {
  await inWorld(async (world) => {
    await using server = await startTls(world);
    const connection = await keptConnection(world, server.port);
    server.process.signal("SIGHUP");
    await server.process.logged("Certificates read again");
    assert.equal(await connection.ask(), 200);
    connection.close();
    assert.equal(await curl(world, server.url, world.alice), 200);
  });
});

Deno.test("a renewal with a fault changes nothing, and is logged", async () => {
  await inWorld(async (world) => {
    await using server = await startTls(world);
    await Deno.copyFile(world.alice.keyPath, server.live.key);
    await server.process.logged("Cannot read certificates again");
    assert.equal(await curl(world, server.url, world.alice), 200);
  });
});

for (const [kind, key] of UNSERVED_KEYS) {
  Deno.test(`a renewal to a key that no handshake succeeds with changes nothing: ${kind}`, async () => {
    await inWorld(async (world) => {
      const renewed = await world.authority.issue("renewed", {
        subject: "/CN=localhost",
        extensions: SERVER_EXTENSIONS,
        key,
      });
      await using server = await startTls(world);
      await Deno.copyFile(renewed.keyPath, server.live.key);
      await Deno.copyFile(renewed.certPath, server.live.cert);
      server.process.signal("SIGHUP");
      await server.process.logged(`no TLS handshake succeeds with a key of ${kind.replaceAll('"', '\\"')}`);
      assert.ok(!server.process.errors().includes("Certificates read again"), server.process.errors());
      assert.equal(await curl(world, server.url, world.alice), 200);
      await Deno.copyFile(world.server.keyPath, server.live.key);
      await Deno.copyFile(world.server.certPath, server.live.cert);
      await server.process.logged("Certificates read again");
      assert.equal(await curl(world, server.url, world.alice), 200);
    });
  });
}

Deno.test("a connection from before its authority was withdrawn is refused, however late it shows its certificate", async () => {
  await inWorld(async (world) => {
    const session = `${world.folder}/session.pem`;
    const next = await createAuthority(world.folder, "next", "/CN=The next authority");
    await using server = await startTls(world);
    const plain = connectPlain(server.port, "127.0.0.1");
    await new Promise((resolve) => plain.once("connect", resolve));
    assert.equal((await sClient(server.port, world.alice, "-tls1_3", "-sess_out", session)).status, 200);
    await Deno.writeTextFile(server.live.ca, next.cert);
    await server.process.logged('"authorities_withdrawn":true');
    const late = await keptConnection(world, server.port, plain);
    assert.equal(await late.ask(), 0);
    assert.equal((await sClient(server.port, world.alice, "-tls1_3", "-sess_in", session)).status, 0);
  });
});

Deno.test("mtls reads the subject from the certificate, never from a header", async () => {
  await inWorld(async (world) => {
    const mallory = await world.authority.issue("mallory", {
      subject: "/O=Acme, Inc./CN=mallory",
      extensions: CLIENT_EXTENSIONS,
    });
    const auth = {
      mode: "mtls",
      bearer_tokens: [],
      mtls_subjects: ["CN=alice,O=Acme\\, Inc."],
      allowed_tools: [],
      principals: [],
    };
    await using server = await startTls(world, { server: { auth } });
    assert.equal(await curl(world, server.url, world.alice), 200);
    assert.equal(await curl(world, server.url, mallory), 403);
    assert.equal(
      await curl(world, server.url, mallory, "--header", "x-gate-client-subject: CN=alice,O=Acme\\, Inc."),
      403,
    );
  });
});
