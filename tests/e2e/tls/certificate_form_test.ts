/**
 * Certificates of X.509 version 1, and of servers without a subjectAltName: what a start, `gate doctor` and `gate client`
 * say of them.
 */

import assert from "node:assert/strict";
import { connect } from "node:tls";
import { startServer } from "../client.ts";
import { type Ended, gate, gateArgs, inFolder, logText, processOf } from "../gate_command.ts";
import { type HttpServer, listening, send } from "../http_fixture.ts";
import { type OwnCertificate, ownCertificate, type OwnWish } from "../own_certificates.ts";

/** A folder with a configuration that names its certificates. */
interface World {
  readonly folder: string;
  readonly authority: OwnCertificate;
}

async function write(folder: string, name: string, { cert, key }: OwnCertificate): Promise<void> {
  await Deno.writeTextFile(`${folder}/${name}.pem`, cert);
  await Deno.writeTextFile(`${folder}/${name}.key`, key);
}

/** Runs a body with a configuration for a server; `members` are further ones of `server.tls`. */
async function inWorld(own: OwnWish, members: string, body: (world: World) => Promise<void>): Promise<void> {
  await inFolder(async (folder) => {
    const authority = await ownCertificate({ name: "The authority", isAuthority: true });
    await write(folder, "ca", authority);
    await write(folder, "server", await ownCertificate(own, authority));
    await Deno.writeTextFile(
      `${folder}/gate.toml`,
      '[server]\ntransport = "http"\nbind = "127.0.0.1:0"\naudit = { path = "audit.jsonl" }\n' +
        `tls = { cert_path = "server.pem", key_path = "server.key"${members} }\n`,
    );
    await body({ folder, authority });
  });
}

async function started({ folder }: World): Promise<HttpServer> {
  return await listening(startServer({ args: gateArgs("serve", "--config", "gate.toml"), cwd: folder }));
}

/** Runs `gate client list` where the authority of the server is known. */
async function list({ folder }: World, ...flags: readonly string[]): Promise<Ended> {
  const { command, args } = processOf(gateArgs("client", "list", ...flags));
  const { code, stdout, stderr } = await new Deno.Command(command, {
    args: [...args],
    cwd: folder,
    env: { NO_COLOR: "1", GATE_CONFIG: "", DENO_CERT: `${folder}/ca.pem` },
    stdin: "null",
  }).output();
  const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
  return { code, stdout: text(stdout), stderr: text(stderr) };
}

/** The findings of `gate doctor` on certificates. */
async function doctor({ folder }: World): Promise<{ readonly code: number; readonly messages: readonly string[] }> {
  const { code, stdout } = await gate(folder, "doctor", "--json", "--config", "gate.toml");
  const found: { check: string; status: string; message: string }[] = JSON.parse(stdout).result.findings;
  const messages = found.filter(({ check }) => check === "certificate").map(({ status, message }) =>
    `${status} ${message}`
  );
  return { code, messages };
}

const OLD = /^is of X\.509 version 1, .*openssl x509 -req -extfile FILE, with subjectAltName=DNS:HOST in it/;
const NAMELESS =
  /^names no host in a subjectAltName, .*openssl x509 -req -extfile FILE, with subjectAltName=DNS:HOST in it/;

/** The certificate of a server, the note of doctor, and the exit code and message of `gate client`. */
const SERVERS: readonly (readonly [own: OwnWish, note: RegExp | null, code: number, message: RegExp])[] = [
  [{ name: "localhost", hosts: ["localhost"] }, null, 0, /^$/],
  [
    { name: "localhost", version: 1 },
    OLD,
    8,
    /\(the server's certificate must be X\.509 version 3: openssl x509 -req -extfile creates one\)/,
  ],
  [
    { name: "localhost" },
    NAMELESS,
    8,
    /certificate not valid for name "localhost".* \(the server's certificate must name the host of --url in a subjectAltName\)/,
  ],
];

for (const [own, note, code, message] of SERVERS) {
  Deno.test(`a server with the certificate ${JSON.stringify(own)}: doctor and start agree, and the client knows why`, () =>
    inWorld(own, "", async (world) => {
      const looked = await doctor(world);
      assert.equal(looked.code, 0, "it is no failure");
      assert.match(looked.messages[0] ?? "", /^ok server\.tls\.cert_path: "CN=localhost" is valid until /);
      const noted = looked.messages.slice(1).map((line) =>
        /^note server\.tls\.cert_path: "CN=localhost" (.*)/.exec(line)?.[1]
      );
      assert.equal(noted.length, note === null ? 0 : 1);
      if (note !== null) assert.match(noted[0] ?? "", note);

      await using server = await started(world);
      const warnings = logText(server.process.errors()).split("\n").filter((line) => line.includes("certificate "));
      assert.deepEqual(warnings, noted.map((text) => `gate warn: The server's certificate ${text}`));
      const ended = await list(world, "--url", `https://localhost:${server.port}`);
      assert.equal(ended.code, code, ended.stderr);
      assert.match(ended.stderr, message);
    }));
}

Deno.test("a certificate of version 1 is served to clients that accept it, and a renewal by one is reported", () =>
  inWorld({ name: "localhost", hosts: ["localhost"] }, "", async (world) => {
    const { folder, authority } = world;
    await using server = await started(world);
    await write(folder, "next", await ownCertificate({ name: "localhost", version: 1 }, authority));
    await Deno.rename(`${folder}/next.key`, `${folder}/server.key`);
    await Deno.rename(`${folder}/next.pem`, `${folder}/server.pem`);
    await server.process.logged("The server's certificate is of X.509 version 1");
    const lax = { path: "/healthz", ca: authority.cert, rejectUnauthorized: false };
    assert.equal((await send(server.url, null, lax)).status, 200);
  }));

Deno.test("gate client reports that its certificate must be of version 3, and how to create one", () =>
  inWorld({ name: "localhost", hosts: ["localhost"] }, "", async (world) => {
    const { folder, authority } = world;
    await write(folder, "me", await ownCertificate({ name: "me", version: 1 }, authority));
    const ended = await list(
      world,
      "--url",
      "https://localhost:1",
      "--client-cert",
      "me.pem",
      "--client-key",
      "me.key",
    );
    assert.equal(ended.code, 2);
    assert.equal(
      ended.stderr,
      'gate: Cannot use --client-cert "me.pem": expected X.509 version 3, got version 1 ' +
        "(openssl x509 -req -extfile FILE creates version 3; FILE contains extendedKeyUsage=clientAuth)\n",
    );
  }));

for (const isRequired of [true, false]) {
  Deno.test(`a client certificate of version 1 is refused as untrusted, ${isRequired ? "required" : "optional"}`, () =>
    inWorld(
      { name: "localhost", hosts: ["localhost"] },
      `, client_ca_path = "ca.pem", require_client_cert = ${isRequired}`,
      async (world) => {
        const { folder, authority } = world;
        await using server = await started(world);
        const asked = { port: server.port, host: "127.0.0.1", servername: "localhost", ca: authority.cert };
        for (const version of [1, 3] as const) {
          const { cert, key } = await ownCertificate({ name: "me", version }, authority);
          const socket = connect({ ...asked, cert, key });
          let answer = "";
          socket.on("error", () => undefined);
          socket.on("data", (bytes: Uint8Array) => answer += new TextDecoder().decode(bytes));
          socket.write("GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
          await new Promise((resolve) => socket.once("close", resolve));
          assert.equal(answer.slice(0, 12), version === 1 ? "" : "HTTP/1.1 200");
        }
        server.process.signal("SIGTERM");
        assert.equal(await server.process.ended(), 0);
        const lines = (await Deno.readTextFile(`${folder}/audit.jsonl`)).trimEnd().split("\n");
        const events = lines.map((line) => JSON.parse(line)).filter(({ kind }) => kind === "tls");
        assert.deepEqual(events.map(({ reason }) => reason), ["client_certificate_untrusted"]);
      },
    ));
}
