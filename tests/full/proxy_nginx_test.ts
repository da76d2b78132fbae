/** gate as `config/container_behind_proxy.toml` serves it, behind nginx as `docs/guide/deployment.md` configures it. */

import assert from "node:assert/strict";
import { inFolder } from "../e2e/gate_command.ts";
import { type Answer, callText, message, pause, send, type Sending } from "../e2e/http_fixture.ts";
import { containerFlags } from "../e2e/serve/presets_blocks.ts";
import { clientAuthority, serverCertificate } from "../e2e/serve/presets_certificates.ts";
import { runLifecycle } from "../e2e/serve/presets_lifecycle.ts";
import { type Callers, callersOf, type Edits, type Served, serveHttp } from "../e2e/serve/presets_serve.ts";
import { type Certified, CLIENT_EXTENSIONS, createAuthority, openssl } from "../e2e/tls/authority.ts";
import { openStream, type Proxy, startNginx } from "./proxy_nginx.ts";

const PIPELINE = "/O=Example/OU=Build/CN=pipeline";
const HOST = { host: "gate.example.com" };
const SPOOFED = { "x-gate-client-subject": "CN=pipeline,OU=Build,O=Example" };

/** Subjects as `openssl req` takes them, of clients that are let in as nginx writes them. */
const SUBJECTS: readonly string[] = [
  '/O=Example, Inc./OU=a\\+b/CN=say "hi"; <x> \\\\ #',
  "/O=Example/OU=Build+CN=of two parts",
  "/O=Example/CN= begins with a space",
  "/C=DE/DC=example/UID=7/serialNumber=9/emailAddress=a@example.com/CN=many kinds",
  "/O=Example/CN=Jörg",
];

/** Everything of one test. */
interface World extends Callers {
  readonly served: Served;
  readonly proxy: Proxy;
  /** Makes a client's certificate; gives what to send with it. */
  readonly client: (name: string, subject: string, until?: number) => Promise<Sending>;
  /** The same by an authority that nobody trusts. */
  readonly forged: Sending;
  /** What a client without a certificate sends. */
  readonly nobody: Sending;
  /** Clients with the certificates of {@link SUBJECTS}. */
  readonly listed: readonly Sending[];
}

/** Serves over a transport, with nginx before it. */
function behindNginx(transport: "http" | "sse", test: (world: World) => Promise<void>): Promise<void> {
  return inFolder(async (folder) => {
    const nobody: Sending = { ca: (await serverCertificate(folder)).cert, headers: HOST };
    const [clients, others] = [await clientAuthority(folder), await createAuthority(folder, "others", "/CN=Others")];
    const issue = (from: typeof clients, name: string, subject: string, until = 3600): Promise<Certified> =>
      from.issue(name, { subject, extensions: CLIENT_EXTENSIONS, until });
    const sending = ({ cert, key }: Certified): Sending => ({ ...nobody, cert, key });
    const certified = await Promise.all(SUBJECTS.map((subject, index) => issue(clients, `listed${index}`, subject)));
    const listed = await Promise.all(certified.map(({ certPath }) => shownSubject(certPath)));
    const own = 'mtls_subjects = ["CN=pipeline,OU=Build,O=Example"';
    const edits: Edits = [
      ["0.0.0.0:8080", "0.0.0.0:0"],
      ['transport = "http"', `transport = "${transport}"`],
      [own, [own, ...listed.map((subject) => JSON.stringify(subject))].join(", ")],
    ];
    const flags = (await containerFlags()).map((flag) => flag === "10.0.0.2" ? "127.0.0.1" : flag);
    await serveHttp("container_behind_proxy.toml", folder, { edits, flags }, async (served) => {
      await using proxy = await startNginx(folder, served.url);
      await test({
        ...callersOf(proxy.url, served.process.errors),
        served,
        proxy,
        nobody,
        client: async (name, subject, until) => sending(await issue(clients, name, subject, until)),
        forged: sending(await issue(others, "forged", PIPELINE)),
        listed: certified.map(sending),
      });
    });
  });
}

/** A subject as the page tells an operator to find it. */
async function shownSubject(path: string): Promise<string> {
  const shown = await openssl("x509", "-in", path, "-noout", "-subject", "-nameopt", "RFC2253");
  return shown.trim().replace(/^subject=/, "");
}

Deno.test("behind nginx the subject is that of the certificate, whatever the client says of itself", () =>
  behindNginx("http", async ({ as, status, ready, client, listed, forged, nobody, served, proxy }) => {
    const [pipeline, stranger] = [await client("pipeline", PIPELINE), await client("stranger", "/CN=stranger")];
    await runLifecycle(as(pipeline));
    await ready(pipeline);
    const lying = (sending: Sending, fields: Sending["headers"]): Sending => ({
      ...sending,
      headers: { ...sending.headers, ...fields },
    });
    assert.equal(await status(lying(pipeline, { "x-gate-client-subject": "CN=stranger" })), 200);
    // They are known, and without a role.
    for (const one of listed) assert.equal((await send(proxy.url, message(1, "ping"), one)).status, 200);
    assert.equal(await status(stranger), 403);
    const lies: readonly Sending["headers"][] = [
      SPOOFED,
      { "X-GATE-CLIENT-SUBJECT": ["CN=stranger", "CN=pipeline,OU=Build,O=Example"] },
      { "x_gate_client_subject": "CN=pipeline,OU=Build,O=Example" },
      { ...SPOOFED, connection: "close, x-gate-client-subject" },
    ];
    for (const lie of lies) assert.equal(await status(lying(stranger, lie)), 403, JSON.stringify(lie));
    const expired = await client("expired", PIPELINE, -30);
    for (const one of [nobody, forged, expired]) {
      const { status, text } = await send(proxy.url, callText(1, "scenarios_list", {}), lying(one, SPOOFED));
      assert.equal(status, 400);
      assert.match(text, /<center>(No required SSL certificate was sent|The SSL certificate error)<\/center>/);
    }
    // The field is worth nothing from any other address.
    const curl = [
      "--interface",
      "127.0.0.2",
      "-s",
      "-o",
      "/dev/null",
      "-w",
      "%{http_code}",
      "-H",
      "host: gate.example.com",
    ];
    const past = ["-H", `x-gate-client-subject: ${SPOOFED["x-gate-client-subject"]}`, "-d", "{}", `${served.url}/mcp`];
    const { stdout } = await new Deno.Command("curl", { args: [...curl, ...past], stdin: "null" }).output();
    assert.equal(new TextDecoder().decode(stdout), "401");
    await served.process.logged('"reason":"peer_not_trusted_proxy"');
    assert.match(served.process.errors(), /"peer_address":"127\.0\.0\.2",.*"reason":"peer_not_trusted_proxy"/);
  }));

Deno.test("behind nginx names, sizes and paths are bounded, and no session is resumed", () =>
  behindNginx("http", async ({ status, client, proxy }) => {
    const pipeline = await client("pipeline", PIPELINE);
    const naming = (headers: Record<string, string>): Sending => ({ ...pipeline, headers: { ...HOST, ...headers } });
    assert.equal(await status(naming({ host: "other.example.com" })), 403);
    assert.equal(await status(naming({ origin: "https://other.example.com" })), 403);
    const call = callText(1, "scenarios_list", { namespace_id: 2 });
    const posted = (bytes: number): Promise<Answer> => send(proxy.url, call.padEnd(bytes), pipeline);
    assert.equal((await posted((1 << 20) - 1)).status, 200);
    assert.equal((await posted(1 << 20)).status, 200);
    const { status: refused, text } = await posted((1 << 20) + 1);
    assert.equal(refused, 413);
    assert.match(text, /<center>nginx/, "gate never sees it");
    for (const path of ["/metrics", "/metrics?a", "//metrics", "/x/../metrics", "/%6detrics"]) {
      assert.equal((await send(proxy.url, null, { ...pipeline, path })).status, 403, path);
    }
    for (const path of ["/metrics/", "/METRICS"]) {
      assert.equal((await send(proxy.url, null, { ...pipeline, path })).status, 404, path);
    }
    await inFolder((folder) => assertNoResumption(folder, proxy.port, pipeline));
  }));

/** Connects twice, the second time with whatever session the first one was given. */
async function assertNoResumption(folder: string, port: number, { cert = "", key = "" }: Sending): Promise<void> {
  await Deno.writeTextFile(`${folder}/client.pem`, cert + key);
  const session = `${folder}/session`;
  const connect = async (...args: readonly string[]): Promise<string> => {
    const own = ["-connect", `127.0.0.1:${port}`, "-cert", `${folder}/client.pem`, "-ign_eof"];
    const command = new Deno.Command("openssl", {
      args: ["s_client", ...own, ...args],
      stdin: "piped",
      stdout: "piped",
      stderr: "null",
    });
    const child = command.spawn();
    const writer = child.stdin.getWriter();
    await writer.write(new TextEncoder().encode("GET /healthz HTTP/1.0\r\nHost: gate.example.com\r\n\r\n"));
    const { stdout } = await child.output();
    await writer.close().catch(() => undefined);
    return new TextDecoder().decode(stdout);
  };
  assert.match(await connect("-tls1_3", "-sess_out", session), /"status":"ok"/);
  const again = await connect("-tls1_3", "-sess_in", session);
  assert.match(again, /^New, TLSv1\.3/m);
  assert.doesNotMatch(again, /^Reused/m);
  const older = await connect("-tls1_2", "-reconnect");
  assert.equal(older.match(/^New, TLSv1\.2/gm)?.length, 6, older);
  assert.doesNotMatch(older, /^Reused/m);
}

Deno.test("behind nginx a stream comes as it is written, and ends at both ends at once", () =>
  behindNginx("sse", async ({ client, served, proxy }) => {
    const pipeline = await client("pipeline", PIPELINE);
    const stream = await openStream(proxy.url, pipeline);
    assert.equal(stream.status, 200);
    const [, path = ""] = /^data: (\/messages\?session_id=\w+)$/m.exec(await stream.next()) ?? [];
    for (const id of [1, 2]) {
      assert.equal((await send(proxy.url, message(id, "ping"), { ...pipeline, path })).status, 202);
      assert.match(await stream.next(), new RegExp(`"id":${id}\\b`));
    }
    const stranger = await client("stranger", "/CN=stranger");
    assert.equal((await send(proxy.url, message(3, "ping"), { ...stranger, path })).status, 403);
    const sessions = async (): Promise<string | undefined> => {
      const { text } = await send(served.url, null, { path: "/metrics", headers: { ...HOST, ...SPOOFED } });
      return /^gate_sse_sessions (\d+)$/m.exec(text)?.[1];
    };
    assert.equal(await sessions(), "1");
    stream.close();
    for (let tries = 0; await sessions() !== "0"; tries++) {
      assert.ok(tries < 1000, "the session ends with its client");
      await pause(20);
    }
  }));
