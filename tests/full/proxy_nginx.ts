/**
 * nginx with the configuration of `docs/guide/deployment.md`, on a port of this machine.
 *
 * @module
 */

import type { ClientRequest, IncomingMessage } from "node:http";
import { request } from "node:https";
import { text } from "node:stream/consumers";
import { pause, type Sending } from "../e2e/http_fixture.ts";
import { deploymentBlock, replaceAll } from "../e2e/serve/presets_blocks.ts";

/** A running nginx. */
export interface Proxy extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
}

/** Starts nginx before a server, with the certificates of `etc/tls`. */
export async function startNginx(folder: string, server: string): Promise<Proxy> {
  const port = freePort();
  const block = replaceAll(await deploymentBlock("nginx", "server {"), [
    ["listen 443 ssl;", `listen 127.0.0.1:${port} ssl;`],
    ["/etc/nginx/tls/", `${folder}/etc/tls/`],
    ["http://10.0.0.3:8080", server],
  ]);
  return await startBlock(folder, `https://127.0.0.1:${port}`, port, block);
}

/** Starts the nginx of `config/fleet/nginx.conf` without TLS before some servers, with or without `ip_hash`. */
export async function startFleetNginx(
  folder: string,
  servers: readonly string[],
  isAffine: boolean,
): Promise<Proxy> {
  const port = freePort();
  const text = await Deno.readTextFile(new URL("../../config/fleet/nginx.conf", import.meta.url));
  const lines = servers.map((url) => `  server ${new URL(url).host} max_fails=1 fail_timeout=1s;\n`).join("");
  const block = replaceAll(text.replaceAll(/^ *ssl_.*\n/gm, "").replace(/( *server 10\.0\.0\..*\n)+/, lines), [
    ["listen 443 ssl;", `listen 127.0.0.1:${port};`],
    ["upstream gate {", `upstream gate {${isAffine ? "\n  ip_hash;" : ""}`],
  ]);
  return await startBlock(folder, `http://127.0.0.1:${port}`, port, block);
}

/** Starts nginx with a block of its `http` part. */
async function startBlock(folder: string, url: string, port: number, block: string): Promise<Proxy> {
  await Deno.writeTextFile(`${folder}/nginx.conf`, `${environment(folder)}\nhttp {\n${paths(folder)}\n${block}}\n`);
  const args = ["-p", folder, "-c", `${folder}/nginx.conf`, "-e", "stderr"];
  const child = new Deno.Command("nginx", { args, stdin: "null", stdout: "null", stderr: "piped" }).spawn();
  const said = text(child.stderr as unknown as AsyncIterable<Uint8Array>);
  const stop = async (): Promise<void> => {
    try {
      child.kill("SIGTERM");
    } catch {
      // It has ended by itself.
    }
    await Promise.all([child.status, said]);
  };
  let ended = false;
  child.status.then(() => ended = true);
  while (!await isOpen(port)) {
    if (ended) throw new Error(`nginx ended: ${await said}`);
    await pause(20);
  }
  return { url, port, [Symbol.asyncDispose]: stop };
}

/** What stands around the block in a packaged nginx; as root its workers would be somebody who may not enter the folder. */
function environment(folder: string): string {
  const user = Deno.statSync(folder).uid === 0 ? "user root;\n" : "";
  return `daemon off;\nworker_processes 1;\npid ${folder}/nginx.pid;\n${user}events {}\n`;
}

function paths(folder: string): string {
  const kinds = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  return ["access_log off;", ...kinds.map((kind) => `${kind}_temp_path ${folder}/nginx_${kind};`)].join("\n");
}

function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

async function isOpen(port: number): Promise<boolean> {
  try {
    (await Deno.connect({ hostname: "127.0.0.1", port })).close();
    return true;
  } catch {
    return false;
  }
}

/** An answer that is still coming. */
export interface Stream {
  readonly status: number;
  /** The next event of the stream. */
  readonly next: () => Promise<string>;
  readonly close: () => void;
}

/** Opens a stream of events. */
export async function openStream(url: string, { path = "/sse", headers = {}, ...tls }: Sending): Promise<Stream> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const { hostname, port } = new URL(url);
  const fields = { accept: "text/event-stream", ...headers };
  const asked: ClientRequest = request({ hostname, port, path, agent: false, headers: fields, ...tls }, resolve);
  asked.on("error", reject);
  asked.end();
  const answer = await promise;
  answer.setEncoding("utf8");
  const chunks = answer[Symbol.asyncIterator]() as AsyncIterator<string>;
  let rest = "";
  return {
    status: answer.statusCode ?? 0,
    next: async () => {
      while (!rest.includes("\n\n")) {
        const { value, done } = await chunks.next();
        if (done === true) throw new Error(`The stream ended after: ${rest}`);
        rest += value;
      }
      const [event = "", ...others] = rest.split("\n\n");
      rest = others.join("\n\n");
      return event;
    },
    close: () => asked.destroy(),
  };
}
