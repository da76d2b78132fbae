/** A typed provider in the configuration: what is loaded, what is refused, and where its credentials may come from. */

import assert from "node:assert/strict";
import type { OpenApiHttpProfile } from "../../../src/evidence/typed/runtime_profile.ts";
import { httpProfile, typedContract } from "../../simulation/typed_documents.ts";
import { gate, inFolder } from "../gate_command.ts";
import { answering, ok, readHead, withServer, write } from "../providers/fixtures.ts";

const ENTRY = `[[providers]]
name = "builds"
type = "typed"
capabilities_path = "contract.json"
runtime_profile_path = "profile.json"
typed_protocol = "openapi_http"
`;

async function writeFiles(
  folder: string,
  profile: OpenApiHttpProfile,
  { entry = ENTRY, settings = "", contract = typedContract() }: {
    readonly entry?: string;
    readonly settings?: string;
    readonly contract?: unknown;
  } = {},
): Promise<void> {
  await Deno.writeTextFile(`${folder}/own.toml`, `${settings}\n${entry}`);
  await Deno.writeTextFile(`${folder}/contract.json`, JSON.stringify(contract));
  await Deno.writeTextFile(`${folder}/profile.json`, JSON.stringify(profile));
}

const TOKEN = { credentials: [{ kind: "bearer", locator: "file://token" }] } as const;
const VARIABLE = { credentials: [{ kind: "bearer", locator: "env://BUILDS_TOKEN" }] } as const;
const DEV = "dev.allow_dev_env_credentials = true\n";
const PROFILE = "providers[0].runtime_profile_path: must be a usable runtime profile: ";

/** What the files have, the files, the problems of a start. */
const REFUSED: readonly (readonly [string, (folder: string) => Promise<void>, readonly string[]])[] = [
  [
    "a profile of another protocol",
    (folder) => writeFiles(folder, httpProfile(), { entry: ENTRY.replace("openapi_http", "grpc") }),
    [`${PROFILE}$.typed_protocol: Expected the typed_protocol of the configuration, "grpc", got "openapi_http"`],
  ],
  [
    "cleartext that is not allowed",
    (folder) => writeFiles(folder, httpProfile({ base_url: "http://builds.example" })),
    [`${PROFILE}$.base_url: Expected TLS: the operator does not allow cleartext there`],
  ],
  [
    "a credential without a folder",
    (folder) => writeFiles(folder, httpProfile(TOKEN)),
    [`${PROFILE}$.credentials[0].locator: A locator file:// needs --credentials-dir`],
  ],
  [
    "a variable outside of development",
    (folder) => writeFiles(folder, httpProfile(VARIABLE)),
    [`${PROFILE}$.credentials[0].locator: A locator env:// needs dev.allow_dev_env_credentials`],
  ],
  [
    "a variable of gate",
    (folder) =>
      writeFiles(folder, httpProfile({ credentials: [{ kind: "bearer", locator: "env://GATE_CONFIG" }] }), {
        settings: DEV,
      }),
    [`${PROFILE}$.credentials[0].locator: Variables GATE_* and AWS_* are never read`],
  ],
  [
    "a contract of a provider of type mcp",
    (folder) => writeFiles(folder, httpProfile(), { contract: typedContract({ transport: "mcp" }) }),
    ['providers[0].capabilities_path: must be a usable contract: $.transport: Expected "typed", got "mcp"'],
  ],
  [
    "a check without an operation",
    (folder) =>
      writeFiles(folder, { ...httpProfile(), operations: { other: httpProfile().operations["failed"] ?? never() } }),
    [
      `${PROFILE}$.operations.other: Expected an id of a check of the contract`,
      `${PROFILE}$.operations: Expected an operation for check "failed"`,
    ],
  ],
  [
    "no profile",
    async (folder) => {
      await writeFiles(folder, httpProfile());
      await Deno.remove(`${folder}/profile.json`);
    },
    [`${PROFILE}$: The file cannot be read: does not exist`],
  ],
];

function never(): never {
  throw new Error("unreachable");
}

for (const [what, arrange, problems] of REFUSED) {
  Deno.test(`gate serve refuses a typed provider with ${what}`, () =>
    inFolder(async (folder) => {
      await arrange(folder);
      const { code, stderr } = await gate(folder, "serve", "--config", "own.toml");
      assert.equal(code, 2, stderr);
      const found = problems.map((problem) => stderr.includes(JSON.stringify(problem).slice(1, -1)));
      assert.deepEqual(found, problems.map(() => true), stderr);
    }));
}

Deno.test("gate config check reports the problems of a typed provider, without the folder of credentials", () =>
  inFolder(async (folder) => {
    await writeFiles(folder, httpProfile(TOKEN));
    assert.equal((await gate(folder, "config", "check", "own.toml")).code, 0);
    await writeFiles(folder, httpProfile({ base_url: "http://builds.example" }));
    const { code, stdout } = await gate(folder, "config", "check", "own.toml");
    assert.deepEqual([code, stdout.includes(`${PROFILE}$.base_url: Expected TLS`)], [2, true]);
  }));

Deno.test("gate doctor names the files that a typed provider needs", () =>
  inFolder(async (folder) => {
    await writeFiles(folder, httpProfile({ ...TOKEN, tls: { ca: "file://ca.pem", client: null } }));
    const { stdout } = await gate(folder, "doctor", "--json", "--config", "own.toml");
    const messages = JSON.parse(stdout).result.findings.map(({ message }: { message: string }) => message);
    assert.ok(messages.includes("builds needs --credentials-dir with file://token, file://ca.pem"), stdout);
    await writeFiles(folder, httpProfile());
    assert.ok(!(await gate(folder, "doctor", "--config", "own.toml")).stdout.includes("--credentials-dir"));
  }));

Deno.test("a configured typed provider is asked with its credential, at the time of the call", () =>
  inFolder(async (folder) => {
    const tokens: string[] = [];
    await withServer(async (connection) => {
      const head = await readHead(connection);
      tokens.push(/^authorization: (.*)$/im.exec(head)?.[1]?.trim() ?? "");
      await write(connection, ok('{"failed":3}', "content-type: application/json\r\n"));
      connection.close();
    }, async ({ port }) => {
      const entry = `${ENTRY}allow_insecure_http = true\nconfig = { allow_private_networks = true }\n`;
      await writeFiles(folder, httpProfile({ ...TOKEN, base_url: `http://127.0.0.1:${port}` }), { entry });
      await Deno.mkdir(`${folder}/keys`);
      const check = ["provider", "check", "builds", "failed", "--param", "id=x", "--config", "own.toml"];
      const withKeys = [...check, "--credentials-dir", "keys"];
      for (const token of ["first", "second"]) {
        await Deno.writeTextFile(`${folder}/keys/token`, `${token}\n`, { mode: 0o600 });
        const { code, stdout, stderr } = await gate(folder, ...withKeys);
        assert.equal(code, 0, stderr);
        assert.deepEqual(JSON.parse(stdout).value, { kind: "json", value: 3 });
        assert.ok(!stdout.includes(token) && !stderr.includes(token));
      }
      await Deno.chmod(`${folder}/keys/token`, 0o640);
      const open = await gate(folder, ...withKeys);
      assert.deepEqual([open.code, /credential_unavailable/.test(open.stderr)], [8, true]);
      const without = await gate(folder, ...check);
      assert.deepEqual([without.code, /credential_locator_refused/.test(without.stderr)], [8, true]);
    });
    assert.deepEqual(tokens, ["Bearer first", "Bearer second"]);
  }));

Deno.test("gate provider check reports a result that violates the result schema, without its value", () =>
  inFolder(async (folder) => {
    await withServer(answering(ok('{"failed":"canary-value"}')), async ({ port }) => {
      const entry = `${ENTRY}allow_insecure_http = true\nconfig = { allow_private_networks = true }\n`;
      await writeFiles(folder, httpProfile({ base_url: `http://127.0.0.1:${port}` }), { entry });
      const check = ["provider", "check", "builds", "failed", "--param", "id=x", "--config", "own.toml"];
      const { code, stdout } = await gate(folder, ...check);
      assert.equal(code, 4);
      const { error, value } = JSON.parse(stdout);
      assert.deepEqual([error.code, value, stdout.includes("canary-value")], ["result_schema_mismatch", null, false]);
    });
  }));

Deno.test("a typed provider reaches no private address unless its entry allows it", () =>
  inFolder(async (folder) => {
    await withServer(() => Promise.resolve(), async ({ port, accepted }) => {
      const entry = `${ENTRY}allow_insecure_http = true\n`;
      await writeFiles(folder, httpProfile({ base_url: `http://127.0.0.1:${port}` }), { entry });
      const check = ["provider", "check", "builds", "failed", "--param", "id=x", "--config", "own.toml"];
      const { code, stderr } = await gate(folder, ...check);
      assert.deepEqual([code, /destination_blocked/.test(stderr), accepted()], [8, true, 0], stderr);
    });
  }));

/** Arguments that `gate serve` refuses, and the reason. */
const FLAGS: readonly (readonly [readonly string[], RegExp])[] = [
  [["--typed-host", "https://a.example"], /Cannot use --typed-host \\"https:\/\/a.example\\": it is not HOST/],
  [["--typed-host", "a.example=s3cret"], /^(?!.*s3cret).*Cannot use --typed-host/],
  [["--credentials-dir", "nowhere"], /Cannot use --credentials-dir \\"nowhere\\": it is not a folder that can be read/],
];

for (const [args, message] of FLAGS) {
  Deno.test(`gate serve ${args.join(" ")} is refused`, () =>
    inFolder(async (folder) => {
      const { code, stderr } = await gate(folder, "serve", ...args);
      assert.equal(code, 2);
      assert.match(stderr, message);
    }));
}

Deno.test("gate permissions knows the files, hosts and variables of typed providers", () =>
  inFolder(async (folder) => {
    await writeFiles(folder, httpProfile());
    await Deno.mkdir(`${folder}/keys`);
    const plan = async (...args: readonly string[]): Promise<Record<string, unknown>> =>
      JSON.parse((await gate(folder, "permissions", "--json", ...args)).stdout).result.permissions;
    const entry = await plan("--config", "own.toml");
    const read = entry["read"] as string[];
    assert.ok(read.includes(`${folder}/contract.json`) && read.includes(`${folder}/profile.json`));
    assert.equal(entry["net"], "all");
    assert.ok((entry["deny_net"] as string[]).includes("127.0.0.0/8"));
    const flags = await plan(
      "--typed-host",
      "10.1.2.3:8443=file://key",
      "--typed-private",
      "--credentials-dir",
      "keys",
    );
    assert.ok((flags["read"] as string[]).includes(`${folder}/keys`));
    assert.deepEqual([flags["net"], flags["deny_net"]], [["10.1.2.3"], []]);
    const { net } = await plan();
    assert.deepEqual(net, []);
    await Deno.writeTextFile(`${folder}/dev.toml`, DEV);
    const dev = await plan("--config", "dev.toml", "--typed-host", "10.1.2.3=env://BUILDS_TOKEN");
    assert.ok((dev["env"] as string[]).includes("BUILDS_TOKEN"));
  }));
