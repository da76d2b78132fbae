/**
 * TLS and client certificates, with openssl and curl as the clients: who shows nothing, or anything but a certificate
 * that this server itself has verified and still trusts, gets no answer.
 */

import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { createServer, type Server as SecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { guardPeers } from "@/server/tls/guard.ts";
import { loadMaterial } from "@/server/tls/material.ts";
import { assertEnforcement, probeEnforcement } from "@/server/tls/enforcement.ts";
import { certificateSubject } from "@/server/tls/subject.ts";
import { fixtureArgs, startServer, type Wire } from "./client.ts";
import { callText, type HttpServer, startHttpFixture } from "./http_fixture.ts";
import {
  type Authority,
  type Certified,
  CLIENT_EXTENSIONS,
  createAuthority,
  openssl,
  SERVER_EXTENSIONS,
} from "./tls_authority.ts";

const BODY = callText(1, "echo", { a: 1 });

/** The certificates of these tests. */
interface World {
  readonly folder: string;
  readonly authority: Authority;
  readonly server: Certified;
  readonly alice: Certified;
}

async function inWorld(body: (world: World) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    const authority = await createAuthority(folder, "ca", "/CN=The authority");
    const server = await authority.issue("server", { subject: "/CN=localhost", extensions: SERVER_EXTENSIONS });
    const alice = await authority.issue("alice", { subject: "/O=Acme, Inc./CN=alice", extensions: CLIENT_EXTENSIONS });
    await body({ folder, authority, server, alice });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Starts the fixture server with TLS; `live` are copies of its files, which may be replaced. */
async function startTls(
  world: World,
  { required = true, server = {} }: { required?: boolean; server?: Wire } = {},
): Promise<HttpServer & { readonly live: Readonly<Record<"cert" | "key" | "ca", string>> }> {
  const live = { cert: `${world.folder}/live.pem`, key: `${world.folder}/live.key`, ca: `${world.folder}/live_ca.pem` };
  await Deno.copyFile(world.server.certPath, live.cert);
  await Deno.copyFile(world.server.keyPath, live.key);
  await Deno.copyFile(world.authority.certPath, live.ca);
  const tls = { cert_path: live.cert, key_path: live.key, client_ca_path: live.ca, require_client_cert: required };
  return { ...await startHttpFixture({ server: { tls, ...server } }), live };
}

/** The status that curl gets, 0 for no answer. */
async function curl(world: World, url: string, client: Certified | null, ...more: readonly string[]): Promise<number> {
  const { stdout } = await new Deno.Command("curl", {
    args: [
      ...["--silent", "--max-time", "10", "--cacert", world.authority.certPath, "--output", "/dev/null"],
      ...["--write-out", "%{http_code}", "--header", "content-type: application/json", "--data", BODY],
      ...(client === null ? [] : ["--cert", client.certPath, "--key", client.keyPath]),
      ...more,
      `${url.replace("127.0.0.1", "localhost")}/mcp`,
    ],
    stdin: "null",
  }).output();
  return Number(new TextDecoder().decode(stdout));
}

/** What `openssl s_client` gets for one request: the status (0 for no answer), and whether its session was taken up. */
async function sClient(
  port: number,
  client: Certified | null,
  ...more: readonly string[]
): Promise<{ readonly status: number; readonly reused: boolean }> {
  const child = new Deno.Command("openssl", {
    args: [
      ...["s_client", "-connect", `127.0.0.1:${port}`, "-ign_eof"],
      ...(client === null ? [] : ["-cert", client.certPath, "-key", client.keyPath]),
      ...more,
    ],
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const input = child.stdin.getWriter();
  const head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n";
  await input.write(new TextEncoder().encode(`${head}Content-Length: ${BODY.length}\r\n\r\n${BODY}`)).catch(() => {});
  const late = setTimeout(() => child.kill("SIGKILL"), 8_000);
  const { stdout } = await child.output();
  clearTimeout(late);
  await input.close().catch(() => {});
  const text = new TextDecoder().decode(stdout);
  return { status: Number(/HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0), reused: /^Reused, TLS/m.test(text) };
}

Deno.test("who must show a certificate and has a good one is answered; nobody else is", async (t) => {
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

Deno.test("where certificates are optional none is needed, and a bad one is refused all the same", async () => {
  await inWorld(async (world) => {
    const forged = await createAuthority(world.folder, "forged", "/O=Acme, Inc./CN=alice");
    await using server = await startTls(world, { required: false });
    assert.equal(await curl(world, server.url, null), 200);
    assert.equal(await curl(world, server.url, world.alice), 200);
    assert.equal(await curl(world, server.url, forged), 0);
  });
});

for (const version of ["-tls1_3", "-tls1_2"]) {
  Deno.test(`a forged certificate gets nowhere by resuming a session, ${version}`, async () => {
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

  Deno.test(`who is good resumes a session and is answered, ${version}`, async () => {
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
    Deno.test(`a session that another server gave to a forged certificate is worth nothing, ${mode}, ${version}`, async () => {
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
          const nobody = await sClient(strictPort, null, version, "-sess_in", session);
          assert.equal(nobody.status, mode === "required" ? 0 : 200);
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

/** A connection that is kept; each `ask` gives the status of one more request, 0 where the connection has ended. */
async function keptConnection(
  world: World,
  port: number,
): Promise<{ readonly ask: () => Promise<number>; readonly close: () => void }> {
  const { connect } = await import("node:tls");
  const { cert, key } = world.alice;
  const socket = connect({ port, host: "127.0.0.1", ca: world.authority.cert, cert, key, servername: "localhost" });
  let waiting = Promise.withResolvers<number>();
  socket.on("data", (bytes: Uint8Array) => {
    waiting.resolve(Number(/HTTP\/1\.1 (\d{3})/.exec(new TextDecoder().decode(bytes))?.[1] ?? 0));
  });
  socket.on("error", () => waiting.resolve(0));
  socket.on("close", () => waiting.resolve(0));
  await new Promise((resolve) => socket.once("secureConnect", resolve));
  return {
    close: () => socket.destroy(),
    ask: () => {
      if (socket.destroyed) return Promise.resolve(0);
      waiting = Promise.withResolvers();
      socket.write(
        `POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`,
      );
      return waiting.promise;
    },
  };
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

Deno.test("a renewal with a fault leaves everything as it was, and says so", async () => {
  await inWorld(async (world) => {
    await using server = await startTls(world);
    await Deno.copyFile(world.alice.keyPath, server.live.key);
    await server.process.logged("Cannot read certificates again");
    assert.equal(await curl(world, server.url, world.alice), 200);
  });
});

Deno.test("an open connection ends with the trust in its certificate", async () => {
  await inWorld(async (world) => {
    const next = await createAuthority(world.folder, "next", "/CN=The next authority");
    await using server = await startTls(world);
    const connection = await keptConnection(world, server.port);
    assert.equal(await connection.ask(), 200);
    await Deno.writeTextFile(server.live.ca, next.cert);
    await server.process.logged('"authorities_withdrawn":true');
    assert.equal(await connection.ask(), 0);
  });
});

Deno.test("an open connection ends with the time of its certificate", async () => {
  await inWorld(async (world) => {
    const brief = await world.authority.issue("brief", {
      subject: "/CN=brief",
      extensions: CLIENT_EXTENSIONS,
      until: 4,
    });
    await using server = await startTls(world);
    const connection = await keptConnection({ ...world, alice: brief }, server.port);
    assert.equal(await connection.ask(), 200);
    await new Promise((resolve) => setTimeout(resolve, 4_500));
    assert.equal(await connection.ask(), 0);
  });
});

Deno.test("mtls takes the subject from the certificate, whatever a header says", async () => {
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

Deno.test("a server whose files are not in order does not start, and names the file", async (t) => {
  await inWorld(async (world) => {
    await Deno.writeTextFile(`${world.folder}/text.pem`, "no certificate");
    const good = {
      cert_path: world.server.certPath,
      key_path: world.server.keyPath,
      client_ca_path: world.authority.certPath,
      require_client_cert: true,
    };
    const rows: readonly (readonly [member: string, path: string, message: string])[] = [
      ["cert_path", `${world.folder}/missing.pem`, "Cannot use server.tls.cert_path"],
      ["cert_path", `${world.folder}/text.pem`, "Cannot use server.tls.cert_path: file holds no certificate in PEM"],
      ["key_path", world.alice.keyPath, "Cannot use server.tls.key_path: key is not that of the certificate"],
      ["key_path", world.server.certPath, "Cannot use server.tls.key_path: file holds no private key in PEM"],
      ["client_ca_path", `${world.folder}/text.pem`, "Cannot use server.tls.client_ca_path: file holds no certificate"],
    ];
    for (const [member, path, message] of rows) {
      await t.step(`${member}: ${message}`, async () => {
        const tls = { ...good, [member]: path };
        const args = fixtureArgs({ server: { transport: "http", bind: "127.0.0.1:0", tls } });
        await using server = startServer({ args: ["run", "-A", ...args.slice(1)] });
        assert.equal(await server.ended(), 1);
        assert.ok(server.errors().includes(message), server.errors());
      });
    }
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
    const lax = { requestCert: false, rejectUnauthorized: false };
    assert.equal(await probeEnforcement(material, lax), "reached");
    await assert.rejects(assertEnforcement(material, (given) => probeEnforcement(given, lax)), /lets clients in/);
    await assert.rejects(
      assertEnforcement(material, () => Promise.resolve("unclear" as const)),
      /was not seen to refuse/,
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
