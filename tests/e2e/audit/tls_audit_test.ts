/** Rejections of certificates are in the audit log, with reason and address. */

import assert from "node:assert/strict";
import { until } from "../../until.ts";
import type { HttpServer } from "../http_fixture.ts";
import { resetBeforeTaken } from "../http_target.ts";
import { type Certified, CLIENT_EXTENSIONS, createAuthority } from "../tls/authority.ts";
import { curl, inWorld, keptConnection, startTls, type World } from "../tls/world.ts";

const WISH = { subject: "/O=Acme, Inc./CN=alice", extensions: CLIENT_EXTENSIONS };

/** The line of the log for a word, once the server has ended. */
async function lineFor(path: string, word: string): Promise<{ readonly subject?: string } | undefined> {
  const lines = (await Deno.readTextFile(path)).trimEnd().split("\n").map((line) => JSON.parse(line));
  return lines.find(({ outcome, reason }) => outcome === "refused" && reason === word);
}

Deno.test("a rejection names the subject only of a verified certificate", async () => {
  await inWorld(async (world) => {
    const path = `${world.folder}/audit.jsonl`;
    const auth = { mode: "mtls", bearer_tokens: [], mtls_subjects: ["CN=bob"], allowed_tools: [], principals: [] };
    const audit = { enabled: true, log_precheck_payloads: false, path };
    await using server = await startTls(world, { required: false, server: { auth, audit } });
    assert.equal(await curl(world, server.url, world.alice), 403);
    assert.equal(await curl(world, server.url, world.alice, "--header", "host: example.org"), 403);
    assert.equal(await curl(world, server.url, null, "--header", "x-gate-client-subject: CN=carol"), 401);
    server.process.signal("SIGTERM");
    assert.equal(await server.process.ended(), 0);
    const alice = "CN=alice,O=Acme\\, Inc.";
    assert.equal((await lineFor(path, "subject_not_listed"))?.subject, alice);
    assert.equal((await lineFor(path, "host_not_allowed"))?.subject, alice);
    const missing = await lineFor(path, "certificate_missing") ?? assert.fail();
    assert.equal(missing.subject, undefined);
  });
});

/** Runs a body with a server whose audit log is a file; gives what the log says of TLS once the server has ended. */
async function reasonsAfter(
  world: World,
  body: (server: HttpServer & { readonly live: Readonly<Record<"ca", string>> }) => Promise<void>,
): Promise<string[]> {
  const path = `${world.folder}/audit.jsonl`;
  await using server = await startTls(world, {
    server: { audit: { enabled: true, log_precheck_payloads: false, path } },
  });
  await body(server);
  server.process.signal("SIGTERM");
  assert.equal(await server.process.ended(), 0);
  const lines = (await Deno.readTextFile(path)).trimEnd().split("\n").map((line) => JSON.parse(line));
  const rejections = lines.filter(({ kind }) => kind === "tls");
  for (const { outcome, peer_address } of rejections) {
    assert.deepEqual([outcome, peer_address], ["refused", "127.0.0.1"]);
  }
  return rejections.map(({ reason, details }) => `${reason} ${details?.count ?? 1}`);
}

Deno.test("a handshake that ends for its certificate is logged with its reason, equal ones together", async () => {
  await inWorld(async (world) => {
    const twin = await createAuthority(world.folder, "twin", "/CN=The authority");
    const clients: readonly (Certified | null)[] = [
      null,
      await twin.issue("twin_alice", WISH),
      await createAuthority(world.folder, "self", WISH.subject),
      await world.authority.issue("old", { ...WISH, from: -7200, until: -3600 }),
      await world.authority.issue("young", { ...WISH, from: 3600, until: 7200 }),
    ];
    const reasons = await reasonsAfter(world, async ({ url }) => {
      for (const version of ["1.3", "1.2"]) {
        for (const client of clients) {
          assert.equal(await curl(world, url, client, "--tls-max", version, `--tlsv${version}`), 0);
        }
      }
      assert.equal(await curl(world, url, world.alice), 200);
    });
    assert.deepEqual(reasons, [
      "client_certificate_missing 1",
      "client_certificate_untrusted 1",
      "client_certificate_missing 1",
      "client_certificate_untrusted 7",
    ]);
  });
});

Deno.test("connections that are reset before they are accepted have no line", async () => {
  await inWorld(async (world) => {
    const reasons = await reasonsAfter(world, async (server) => {
      await resetBeforeTaken(server, 20, "no handshake");
      assert.equal(await curl(world, server.url, world.alice), 200);
    });
    assert.deepEqual(reasons, []);
  });
});

Deno.test("a connection whose authority is withdrawn is logged", async () => {
  await inWorld(async (world) => {
    const next = await createAuthority(world.folder, "next", "/CN=The next authority");
    const reasons = await reasonsAfter(world, async (server) => {
      const connection = await keptConnection(world, server.port);
      assert.equal(await connection.ask(), 200);
      await Deno.writeTextFile(server.live.ca, next.cert);
      await server.process.logged('"authorities_withdrawn":true');
      assert.equal(await connection.ask(), 0);
    });
    assert.deepEqual(reasons, ["client_certificate_not_verified_here 1"]);
  });
});

Deno.test("a connection whose certificate expires is logged", async () => {
  await inWorld(async (world) => {
    const reasons = await reasonsAfter(world, async (server) => {
      const brief = await world.authority.issue("brief", { ...WISH, until: 10 });
      const connection = await keptConnection({ ...world, alice: brief }, server.port);
      assert.equal(await connection.ask(), 200);
      await until("the certificate has expired", async () => await connection.ask() === 0);
    });
    assert.deepEqual(reasons, ["client_certificate_not_in_time 1"]);
  });
});
