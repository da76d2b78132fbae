/**
 * The certificates of the tests of TLS, the server under them, and openssl and curl as its clients.
 *
 * @module
 */

import type { Socket } from "node:net";
import { connect } from "node:tls";
import type { Wire } from "../client.ts";
import { callText, type HttpServer, startHttpFixture } from "../http_fixture.ts";
import { type Authority, type Certified, CLIENT_EXTENSIONS, createAuthority, SERVER_EXTENSIONS } from "./authority.ts";

/** The body of one call. */
export const BODY = callText(1, "echo", { a: 1 });

/** The certificates of these tests. */
export interface World {
  readonly folder: string;
  readonly authority: Authority;
  readonly server: Certified;
  readonly alice: Certified;
}

/** Runs a test with certificates of its own. */
export async function inWorld(body: (world: World) => Promise<void>): Promise<void> {
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
export async function startTls(
  world: World,
  { required = true, server = {}, http = {} }: { required?: boolean; server?: Wire; http?: Wire } = {},
): Promise<HttpServer & { readonly live: Readonly<Record<"cert" | "key" | "ca", string>> }> {
  const live = { cert: `${world.folder}/live.pem`, key: `${world.folder}/live.key`, ca: `${world.folder}/live_ca.pem` };
  await Deno.copyFile(world.server.certPath, live.cert);
  await Deno.copyFile(world.server.keyPath, live.key);
  await Deno.copyFile(world.authority.certPath, live.ca);
  const tls = { cert_path: live.cert, key_path: live.key, client_ca_path: live.ca, require_client_cert: required };
  return { ...await startHttpFixture({ server: { tls, ...server }, http }), live };
}

/** The status that curl gets, 0 for no answer. */
export async function curl(
  world: World,
  url: string,
  client: Certified | null,
  ...more: readonly string[]
): Promise<number> {
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
export async function sClient(
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

/** A connection that is kept; each `ask` gives the status of one more request, 0 where the connection has ended. */
export async function keptConnection(
  world: World,
  port: number,
  opened?: Socket,
): Promise<{ readonly ask: () => Promise<number>; readonly close: () => void }> {
  const { cert, key } = world.alice;
  const to = opened === undefined ? { port, host: "127.0.0.1" } : { socket: opened };
  const socket = connect({ ...to, ca: world.authority.cert, cert, key, servername: "localhost" });
  let waiting = Promise.withResolvers<number>();
  socket.on("data", (bytes: Uint8Array) => {
    waiting.resolve(Number(/HTTP\/1\.1 (\d{3})/.exec(new TextDecoder().decode(bytes))?.[1] ?? 0));
  });
  socket.on("error", () => waiting.resolve(0));
  socket.on("close", () => waiting.resolve(0));
  await new Promise((resolve) => socket.once("secureConnect", resolve).once("close", resolve));
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
