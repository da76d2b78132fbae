/** `gate client` and a server that asks for client certificates. */

import assert from "node:assert/strict";
import { startServer } from "../client.ts";
import { type Ended, gateArgs, processOf } from "../gate_command.ts";
import { listening } from "../http_fixture.ts";
import { inWorld, type World } from "./world.ts";

/** Runs `gate client list` where the authority of the server is known. */
async function list({ folder, authority }: World, flags: readonly string[]): Promise<Ended> {
  const { command, args } = processOf(gateArgs("client", "list", ...flags));
  const { code, stdout, stderr } = await new Deno.Command(command, {
    args: [...args],
    cwd: folder,
    env: { NO_COLOR: "1", GATE_CONFIG: "", DENO_CERT: authority.certPath },
    stdin: "null",
  }).output();
  const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
  return { code, stdout: text(stdout), stderr: text(stderr) };
}

Deno.test("gate client presents its certificate, and reports a server that requires one", () =>
  inWorld(async (world) => {
    const { folder, server: own, alice, authority } = world;
    const tls = `cert_path = "${own.certPath}"\nkey_path = "${own.keyPath}"\nclient_ca_path = "${authority.certPath}"`;
    const auth = "mode = \"mtls\"\nmtls_subjects = ['CN=alice,O=Acme\\, Inc.']";
    await Deno.writeTextFile(
      `${folder}/gate.toml`,
      `[server]\ntransport = "http"\nbind = "127.0.0.1:0"\n[server.auth]\n${auth}\n[server.tls]\n${tls}\nrequire_client_cert = true\n`,
    );
    await using server = await listening(
      startServer({ args: gateArgs("serve", "--config", "gate.toml"), cwd: folder }),
    );
    const at = (scheme: string): string[] => ["--url", `${scheme}://localhost:${server.port}`];
    const [cert, key] = [["--client-cert", alice.certPath], ["--client-key", alice.keyPath]] as const;
    const rows: readonly [flags: readonly string[], code: number, message: RegExp][] = [
      [[...at("https"), ...cert, ...key], 0, /^$/],
      [at("https"), 8, /\(the server .*requires a client certificate: pass --client-cert and --client-key\)/],
      [at("http"), 8, /\(the server does not use plain HTTP: is the address https:\/\/\?\)/],
      [[...at("http"), ...cert, ...key], 2, /--client-cert needs an address with https/],
      [[...at("https"), ...cert], 2, /--client-cert and --client-key need each other/],
      [[...at("https"), ...cert, "--client-key", alice.certPath], 2, /Cannot use --client-cert ".*" with --client-key/],
      [[...at("https"), "--client-cert", "absent.pem", ...key], 2, /Cannot read --client-cert "absent.pem"/],
      [key, 2, /--client-key needs --url/],
    ];
    for (const [flags, code, message] of rows) {
      const ended = await list(world, flags);
      assert.equal(ended.code, code, `${flags.join(" ")}: ${ended.stderr}`);
      assert.match(ended.stderr, message);
    }
  }));
