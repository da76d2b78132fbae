/** Any input of strangers to a port with TLS adds few reasons to the metrics and few lines to the audit log. */

import assert from "node:assert/strict";
import { connect as connectPlain, type Socket } from "node:net";
import { connect } from "node:tls";
import { startServer } from "../client.ts";
import { gateArgs, inFolder } from "../gate_command.ts";
import { listening, send } from "../http_fixture.ts";
import { ownCertificate } from "../own_certificates.ts";

/** A fatal alert of TLS in the clear. */
const alert = (description: number): Uint8Array => Uint8Array.from([21, 3, 1, 0, 2, 2, description]);

/** Alerts of all kinds, that a certificate was refused among them, and of no kind. */
const ALERTS = [0, 10, 40, 42, 44, 45, 46, 48, 51, 70, 80, 90, 112, 116, 120, 200];

const MALFORMED: readonly Uint8Array[] = [
  new TextEncoder().encode("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"),
  Uint8Array.from([22, 3, 1, 0, 4, 1, 0, 0, 0]),
  Uint8Array.from([23, 3, 1, 0, 2, 0, 0]),
  Uint8Array.from([20, 3, 1, 0, 1, 9]),
  Uint8Array.from([22, 9, 9, 255, 255, 1]),
];

async function opened(port: number): Promise<Socket> {
  const socket = connectPlain(port, "127.0.0.1");
  socket.on("error", () => undefined);
  await new Promise((resolve) => socket.once("connect", resolve));
  return socket;
}

/** Reads until the other side ends the connection. */
async function untilEnd(socket: Socket): Promise<void> {
  socket.resume();
  if (!socket.closed) await new Promise((resolve) => socket.once("close", resolve));
}

/** Sends bytes in place of a handshake. */
async function sendRaw(port: number, bytes: Uint8Array): Promise<void> {
  const socket = await opened(port);
  socket.write(bytes);
  await untilEnd(socket);
}

/** Comes to an end with the handshake, and then sends bytes in the clear. */
async function sendAfterHandshake(port: number, ca: string, bytes: Uint8Array): Promise<void> {
  const socket = await opened(port);
  const secure = connect({ socket, ca, servername: "localhost" });
  secure.on("error", () => undefined);
  await new Promise((resolve) => secure.once("secureConnect", resolve));
  socket.write(bytes);
  await untilEnd(secure);
}

interface Line {
  readonly kind: string;
  readonly outcome: string;
  readonly reason: string;
  readonly details?: { readonly tls_error?: string; readonly count?: number };
}

/** The refusals that the audit log has, by kind and word. */
function refusalsIn(lines: readonly Line[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { kind, reason, details } of lines) {
    counts[`${kind} ${reason}`] = (counts[`${kind} ${reason}`] ?? 0) + (details?.count ?? 1);
  }
  return counts;
}

/** What is asked of clients, as members of `server.tls`. */
const ASKED: readonly (readonly [asked: string, members: string])[] = [
  ["no certificate", ""],
  ["a certificate if they have one", ', client_ca_path = "ca.pem", require_client_cert = false'],
];

for (const [asked, members] of ASKED) {
  Deno.test(`alerts and malformed openings of strangers have two words and four lines, where clients are asked for ${asked}`, () =>
    inFolder(async (folder) => {
      const authority = await ownCertificate({ name: "The authority", isAuthority: true });
      const own = await ownCertificate({ name: "localhost", hosts: ["localhost"] }, authority);
      await Deno.writeTextFile(`${folder}/server.pem`, own.cert);
      await Deno.writeTextFile(`${folder}/server.key`, own.key);
      await Deno.writeTextFile(`${folder}/ca.pem`, authority.cert);
      await Deno.writeTextFile(
        `${folder}/gate.toml`,
        '[server]\ntransport = "http"\nbind = "127.0.0.1:0"\naudit = { path = "audit.jsonl" }\n' +
          `tls = { cert_path = "server.pem", key_path = "server.key"${members} }\n`,
      );
      await using server = await listening(
        startServer({ args: gateArgs("serve", "--config", "gate.toml"), cwd: folder }),
      );
      for (const description of ALERTS) await sendRaw(server.port, alert(description));
      for (const bytes of MALFORMED) await sendRaw(server.port, bytes);
      (await opened(server.port)).destroy();
      for (const bytes of [alert(44), ...MALFORMED]) await sendAfterHandshake(server.port, authority.cert, bytes);

      const counts = { tls_alert: ALERTS.length, tls_failed: 2 * MALFORMED.length + 2 };
      const url = server.url.replace("127.0.0.1", "localhost");
      const { text } = await send(url, null, { path: "/metrics", ca: authority.cert });
      const metrics = [...text.matchAll(/^gate_refusals_total\{reason="(\w+)"\} (\d+)$/gm)];
      assert.deepEqual(Object.fromEntries(metrics.map(([, reason, count]) => [reason, Number(count)])), counts);

      server.process.signal("SIGTERM");
      assert.equal(await server.process.ended(), 0);
      const lines = (await Deno.readTextFile(`${folder}/audit.jsonl`)).trimEnd().split("\n");
      const refused = lines.map((line): Line => JSON.parse(line)).filter(({ outcome }) => outcome === "refused");
      assert.equal(refused.length, 4);
      assert.deepEqual(refusalsIn(refused), { "tls tls_alert": counts.tls_alert, "tls tls_failed": counts.tls_failed });
      assert.equal(refused[0]?.details?.tls_error, "received fatal alert: CloseNotify");
      for (const { details } of refused) assert.match(details?.tls_error ?? "", /^[\x20-\x7e]{1,128}$/);
    }));
}
