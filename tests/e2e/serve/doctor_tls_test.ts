/** `gate doctor` on network configurations: certificates, and the block for clients. */

import assert from "node:assert/strict";
import { gate } from "../gate_command.ts";
import { SERVER_EXTENSIONS } from "../tls/authority.ts";
import { inWorld, type World } from "../tls/world.ts";

interface Looked {
  readonly code: number;
  readonly certificates: readonly { readonly status: string; readonly message: string }[];
  readonly client: unknown;
}

async function doctor({ folder }: World, server: string): Promise<Looked> {
  await Deno.writeTextFile(`${folder}/gate.toml`, `[server]\n${server}\n`);
  const { code, stdout } = await gate(folder, "doctor", "--json", "--config", "gate.toml");
  const { result } = JSON.parse(stdout);
  return {
    code,
    certificates: result.findings.filter(({ check }: { check: string }) => check === "certificate"),
    client: result.client.mcpServers.gate,
  };
}

const LOCAL = 'transport = "http"\nbind = "127.0.0.1:8443"';

function tls(cert: string, key: string, clientCa: string): string {
  return `${LOCAL}\ntls = { cert_path = "${cert}", key_path = "${key}", client_ca_path = "${clientCa}" }`;
}

Deno.test("gate doctor reads the files of server.tls as the server does, and checks each certificate", async (t) => {
  await inWorld(async (world) => {
    const { authority, folder } = world;
    const DAY = 24 * 60 * 60;
    const subject = "/CN=localhost";
    const issue = (name: string, from: number, until: number): ReturnType<typeof authority.issue> =>
      authority.issue(name, { subject, extensions: SERVER_EXTENSIONS, from: from * DAY, until: until * DAY });
    await issue("fresh", -1, 20);
    await issue("late", -2, -1);
    await issue("early", 1, 2);
    await issue("near", -1, 2);
    const extensions = ["basicConstraints=critical,CA:TRUE"];
    await authority.issue("former", { subject, extensions, from: -2 * DAY, until: -DAY });
    await Deno.writeTextFile(
      `${folder}/both.pem`,
      await Deno.readTextFile(`${folder}/former.pem`) + await Deno.readTextFile(`${folder}/ca.pem`),
    );
    const rows: readonly (readonly [name: string, key: string, ca: string, code: number, found: readonly RegExp[]])[] =
      [
        ["fresh", "fresh", "ca", 0, [
          /^ok server\.tls\.cert_path: "CN=localhost" is valid until 20/,
          /^ok server\.tls\.client_ca_path: "CN=The authority" is valid until 20/,
        ]],
        ["late", "late", "ca", 8, [/^fail server\.tls\.cert_path: "CN=localhost" expired at 20/, /^ok/]],
        ["early", "early", "ca", 8, [/^fail server\.tls\.cert_path: "CN=localhost" is not valid before 20/, /^ok/]],
        ["near", "near", "ca", 0, [/^note server\.tls\.cert_path: "CN=localhost" expires at 20/, /^ok/]],
        ["fresh", "fresh", "both", 0, [/^ok/, /^note server\.tls\.client_ca_path: "CN=localhost" expired at/, /^ok/]],
        ["fresh", "fresh", "former", 8, [/^ok/, /^fail server\.tls\.client_ca_path: "CN=localhost" expired at/]],
        ["fresh", "late", "ca", 8, [/^fail Cannot use server\.tls\.key_path: key is not that of the certificate/]],
        ["absent", "fresh", "ca", 8, [/^fail Cannot use server\.tls\.cert_path "/]],
        ["absent", "absent", "absent", 8, [
          /^fail Cannot use server\.tls\.cert_path "/,
          /^fail Cannot use server\.tls\.key_path "/,
          /^fail Cannot use server\.tls\.client_ca_path "/,
        ]],
      ];
    for (const [name, key, ca, code, found] of rows) {
      await t.step(`${name}, key of ${key}, clients of ${ca}`, async () => {
        const looked = await doctor(world, tls(`${name}.pem`, `${key}.key`, `${ca}.pem`));
        const messages = looked.certificates.map(({ status, message }) => `${status} ${message}`);
        assert.equal(messages.length, found.length, messages.join("\n"));
        found.forEach((pattern, index) => assert.match(messages[index] ?? "", pattern));
        assert.equal(looked.code, code);
        assert.deepEqual(looked.client, { type: "http", url: "https://127.0.0.1:8443/mcp" });
      });
    }
  });
});

const BEARER = 'auth = { mode = "bearer_token", bearer_tokens = ["a-token-of-this-test"] }';
const HEADERS = { Authorization: "Bearer <token>" };

const BLOCKS: readonly (readonly [server: string, client: unknown])[] = [
  [LOCAL, { type: "http", url: "http://127.0.0.1:8443/mcp" }],
  ['transport = "sse"\nbind = "[::1]:0"', { type: "sse", url: "http://[::1]:<port>/sse" }],
  [`${LOCAL}\n${BEARER}`, { type: "http", url: "http://127.0.0.1:8443/mcp", headers: HEADERS }],
  [
    `transport = "http"\nbind = "0.0.0.0:80"\ntls_termination = "upstream"\n${BEARER}`,
    { type: "http", url: "https://<proxy>/mcp", headers: HEADERS },
  ],
  [
    `transport = "http"\nbind = "0.0.0.0:8443"\ntls = { cert_path = "a", key_path = "b" }\n${BEARER}`,
    { type: "http", url: "https://<host>:8443/mcp", headers: HEADERS },
  ],
];

for (const [server, client] of BLOCKS) {
  Deno.test(`gate doctor prints the block to reach ${JSON.stringify(client)}`, () =>
    inWorld(async (world) => {
      assert.deepEqual((await doctor(world, server)).client, client);
    }));
}
