import assert from "node:assert/strict";
import { grpcProfile, httpProfile } from "../../../tests/simulation/typed_documents.ts";
import { checkGrants, NO_GRANTS } from "./grants.ts";
import { parseTypedHost, typedFlags } from "./host_flag.ts";
import type { RuntimeProfile } from "./runtime_profile.ts";

/** Text of the flag, host, port, credentials; null for a text that is refused. */
const ROWS: readonly (readonly [string, readonly [string, number, readonly string[]] | null])[] = [
  ["builds.example", ["builds.example", 443, []]],
  ["Builds.Example.:8443", ["builds.example", 8443, []]],
  ["builds.example=file://token", ["builds.example", 443, ["file://token"]]],
  ["[::1]:80=file://a,env://B", ["::1", 80, ["file://a", "env://B"]]],
  ["", null],
  ["=file://token", null],
  ["builds.example=", null],
  ["builds.example=token", null],
  ["builds.example=file://a,", null],
  ["builds.example=file://../a", null],
  ["builds.example:0", null],
  ["https://builds.example", null],
  ["*", null],
];

for (const [text, expected] of ROWS) {
  Deno.test(`parseTypedHost("${text}"): ${expected === null ? "refused" : expected.join(" ")}`, () => {
    const parsed = parseTypedHost(text);
    assert.deepEqual(parsed === null ? null : [parsed.host, parsed.port, parsed.credentials], expected);
  });
}

const TOKEN = { kind: "bearer", locator: "file://token" } as const;

/** Profile, flags. */
const FLAGS: readonly (readonly [RuntimeProfile, string])[] = [
  [httpProfile(), "--typed-host builds.example:443"],
  [
    httpProfile({ base_url: "https://[::1]:8443", credentials: [TOKEN] }),
    "--typed-host [::1]:8443=file://token --typed-private --credentials-dir DIR",
  ],
  [
    httpProfile({ tls: { ca: "file://ca", client: null } }),
    "--typed-host builds.example:443 --credentials-dir DIR",
  ],
  [
    httpProfile({ base_url: "http://localhost", tls: { ca: null, client: null } }),
    "--typed-host localhost:80 --typed-private",
  ],
  [
    grpcProfile({
      authority: "other.example:8443",
      tls: { ca: null, client: { certificate: "file://a", key: "file://b" } },
    }),
    "--typed-host builds.example:443=file://a,file://b --typed-host other.example --credentials-dir DIR",
  ],
];

for (const [profile, flags] of FLAGS) {
  Deno.test(`typedFlags() names what grants a profile: ${flags}`, () => {
    assert.equal(typedFlags(profile), flags);
    const hosts = [...flags.matchAll(/--typed-host (\S+)/g)].flatMap(([, text = ""]) => parseTypedHost(text) ?? []);
    const credentialsDir = flags.includes("--credentials-dir") ? "/credentials" : null;
    assert.deepEqual(checkGrants(profile, { ...NO_GRANTS, hosts, credentialsDir, cleartext: "loopback" }), []);
  });
}
