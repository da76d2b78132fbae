import assert from "node:assert/strict";
import { httpProfile } from "../../../tests/simulation/typed_documents.ts";
import { type CallCredentials, CredentialError, readCredentials } from "./credentials.ts";
import type { OpenApiHttpProfile } from "./runtime_profile.ts";

const MAXIMUM = 65_536;
const BEARER: OpenApiHttpProfile["credentials"][number] = { kind: "bearer", locator: "file://token" };

/** Runs with a folder that has these private files; `setUp` changes them. */
async function inFolder<Result>(
  files: Readonly<Record<string, string | Uint8Array>>,
  body: (folder: string) => Promise<Result>,
): Promise<Result> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "gate-credentials-" }));
  try {
    for (const [name, content] of Object.entries(files)) {
      const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
      await Deno.writeFile(`${folder}/${name}`, bytes, { mode: 0o600 });
    }
    return await body(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const VARIABLES = new Map([["TOKEN", "from-environment"], ["EMPTY", ""], ["GATE_TOKEN", "secret-of-gate"]]);

async function read(
  profile: OpenApiHttpProfile,
  credentialsDir: string | null,
  allowEnvironment = false,
): Promise<CallCredentials | string> {
  const environment = (name: string): string | undefined => VARIABLES.get(name);
  try {
    return await readCredentials(profile, { credentialsDir, allowEnvironment, environment });
  } catch (error) {
    assert.ok(error instanceof CredentialError, String(error));
    return error.message;
  }
}

function withCredential(credential: OpenApiHttpProfile["credentials"][number]): OpenApiHttpProfile {
  return httpProfile({ credentials: [credential] });
}

/** Credential, content, header, value; for an error, the pattern of its message. */
const CONTENTS:
  readonly (readonly [OpenApiHttpProfile["credentials"][number], string | Uint8Array, string | RegExp])[] = [
    [BEARER, "abc", "authorization: Bearer abc"],
    [BEARER, "abc\n", "authorization: Bearer abc"],
    [BEARER, "abc\r\n", "authorization: Bearer abc"],
    [BEARER, "x".repeat(MAXIMUM - 1), `authorization: Bearer ${"x".repeat(MAXIMUM - 1)}`],
    [BEARER, "x".repeat(MAXIMUM), `authorization: Bearer ${"x".repeat(MAXIMUM)}`],
    [BEARER, "x".repeat(MAXIMUM + 1), /has more than 65536 bytes/],
    [BEARER, "", /must be one line of printable ASCII/],
    [BEARER, "\n", /must be one line of printable ASCII/],
    [BEARER, "a\nX-Evil: 1", /must be one line of printable ASCII/],
    [BEARER, "é", /must be one line of printable ASCII/],
    [BEARER, new Uint8Array([0xff]), /is not UTF-8/],
    [{ kind: "basic", locator: "file://token" }, "user:pass", "authorization: Basic dXNlcjpwYXNz"],
    [{ kind: "basic", locator: "file://token" }, "üser:p", "authorization: Basic w7xzZXI6cA=="],
    [{ kind: "basic", locator: "file://token" }, "user", /must be "user:password"/],
    [{ kind: "api_key", header: "X-Key", locator: "file://token" }, "k", "X-Key: k"],
  ];

for (const [credential, content, expected] of CONTENTS) {
  const shown = typeof content === "string" ? JSON.stringify(content.slice(0, 16)) : "bytes";
  const size = content.length > 16 ? ` of ${content.length} bytes` : "";
  Deno.test(`readCredentials() ${credential.kind} from ${shown}${size}`, () =>
    inFolder({ token: content }, async (folder) => {
      const found = await read(withCredential(credential), folder);
      if (typeof expected === "string") {
        assert.ok(typeof found !== "string", String(found));
        assert.deepEqual(found.credentials.map(([name, value]) => `${name}: ${value}`), [expected]);
      } else {
        assert.match(String(found), expected);
        if (typeof content === "string" && content.length > 4) assert.ok(!String(found).includes(content.slice(0, 16)));
      }
    }));
}

/** How the file differs, what changes it, the pattern of the message. */
const FILES: readonly (readonly [string, (folder: string) => Promise<void>, RegExp])[] = [
  ["is readable for the group", (folder) => Deno.chmod(`${folder}/token`, 0o640), /is open to other users/],
  ["is readable for all", (folder) => Deno.chmod(`${folder}/token`, 0o604), /is open to other users/],
  ["is writable for the group", (folder) => Deno.chmod(`${folder}/token`, 0o620), /is open to other users/],
  ["is missing", (folder) => Deno.remove(`${folder}/token`), /does not exist/],
  [
    "is a folder",
    async (folder) => {
      await Deno.remove(`${folder}/token`);
      await Deno.mkdir(`${folder}/token`, { mode: 0o700 });
    },
    /is not a file/,
  ],
  [
    "is a link out of the folder",
    async (folder) => {
      await Deno.rename(`${folder}/token`, `${folder}/../outside-${folder.slice(-6)}`);
      await Deno.symlink(`${folder}/../outside-${folder.slice(-6)}`, `${folder}/token`);
    },
    /is a symbolic link/,
  ],
  [
    "is a link within the folder",
    async (folder) => {
      await Deno.rename(`${folder}/token`, `${folder}/other`);
      await Deno.symlink("other", `${folder}/token`);
    },
    /is a symbolic link/,
  ],
];

for (const [what, change, message] of FILES) {
  Deno.test({
    name: `readCredentials() refuses a file that ${what}`,
    ignore: Deno.build.os === "windows",
    fn: () =>
      inFolder({ token: "s3cret" }, async (folder) => {
        await change(folder);
        const found = String(await read(withCredential(BEARER), folder));
        assert.match(found, message);
        assert.ok(!found.includes("s3cret"));
        await Deno.remove(`${folder}/../outside-${folder.slice(-6)}`).catch(() => {});
      }),
  });
}

Deno.test("readCredentials() accepts a file that its owner alone may read", () =>
  inFolder({ token: "abc" }, async (folder) => {
    if (Deno.build.os !== "windows") await Deno.chmod(`${folder}/token`, 0o400);
    assert.equal(typeof await read(withCredential(BEARER), folder), "object");
  }));

/** Locator, whether variables are allowed, the value or the pattern of the message. */
const ENVIRONMENT: readonly (readonly [string, boolean, string | RegExp])[] = [
  ["env://TOKEN", true, "Bearer from-environment"],
  ["env://TOKEN", false, /may not be read/],
  ["env://EMPTY", true, /is not set/],
  ["env://OTHER", true, /is not set/],
  ["env://GATE_TOKEN", true, /may not be read/],
  ["file://token", true, /needs --credentials-dir/],
];

for (const [locator, allowed, expected] of ENVIRONMENT) {
  Deno.test(`readCredentials() of ${locator}, variables ${allowed ? "" : "not "}allowed: ${expected}`, async () => {
    const found = await read(withCredential({ kind: "bearer", locator }), null, allowed);
    if (typeof expected === "string") {
      assert.equal(typeof found === "string" ? found : found.credentials[0]?.[1], expected);
    } else assert.match(String(found), expected);
  });
}

Deno.test("readCredentials() reads authority, client certificate and key", () =>
  inFolder({ ca: "CA\n", cert: "CERT", key: "KEY" }, async (folder) => {
    const client = { certificate: "file://cert", key: "file://key" };
    const found = await read(httpProfile({ tls: { ca: "file://ca", client } }), folder);
    assert.deepEqual(found, {
      credentials: [],
      authorities: ["CA\n"],
      client: { certificate: "CERT", key: "KEY" },
    });
  }));
