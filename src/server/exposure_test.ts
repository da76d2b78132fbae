import assert from "node:assert/strict";
import { AUTH_DEFAULTS, DEFAULT_SETTINGS } from "../config/defaults.ts";
import type { AuthConfig, ServerConfig, TlsConfig } from "../config/server_types.ts";
import { exposureNotices, type ExposureOptions, exposureRefusals, readAllowNonLoopback } from "./exposure.ts";

const TLS: TlsConfig = { cert_path: "/c", key_path: "/k", client_ca_path: null, require_client_cert: true };
const MTLS = { ...TLS, client_ca_path: "/ca" };

function auth(mode: AuthConfig["mode"]): AuthConfig {
  return { ...AUTH_DEFAULTS, mode };
}

function server(change: Partial<ServerConfig>): ServerConfig {
  return { ...DEFAULT_SETTINGS.server, transport: "http", bind: "127.0.0.1:8080", ...change };
}

const OPEN = { bind: "0.0.0.0:8080" };
const UPSTREAM = { tls_termination: "upstream" } as const;

/** Settings, whether `--allow-non-loopback` is given, how many proxies are trusted, and what stands in the way. */
const ROWS: readonly (readonly [
  what: string,
  change: Partial<ServerConfig>,
  allow: boolean,
  proxies: number,
  refusal: RegExp | null,
])[] = [
  ["stdio", { transport: "stdio", bind: null }, false, 0, null],
  ["loopback", {}, false, 0, null],
  ["loopback of IPv6", { bind: "[::1]:8080" }, false, 0, null],
  ["open, nothing else", OPEN, false, 0, /reachable from other machines/],
  ["open, bearer and TLS, not allowed", { ...OPEN, auth: auth("bearer_token"), tls: TLS }, false, 0, /reachable/],
  ["open and allowed, bearer and TLS", { ...OPEN, auth: auth("bearer_token"), tls: TLS }, true, 0, null],
  ["open and allowed, bearer, upstream", { ...OPEN, auth: auth("bearer_token"), ...UPSTREAM }, true, 0, null],
  [
    "one address of the machine",
    { bind: "192.0.2.1:80", auth: auth("bearer_token"), tls: TLS },
    false,
    0,
    /192.0.2.1:80/,
  ],
  ["mtls, certificates required", { ...OPEN, auth: auth("mtls"), tls: MTLS }, true, 0, null],
  ["mtls upstream, nobody trusted", { ...OPEN, auth: auth("mtls"), ...UPSTREAM }, true, 0, /nobody is trusted/],
  ["mtls upstream, a proxy trusted", { ...OPEN, auth: auth("mtls"), ...UPSTREAM }, true, 1, null],
];

for (const [what, change, allowNonLoopback, trustedProxies, refusal] of ROWS) {
  Deno.test(`exposureRefusals() ${what}: ${refusal === null ? "may listen" : refusal.source}`, () => {
    const found = exposureRefusals(server(change), { allowNonLoopback, trustedProxies, allowedHosts: 0 });
    assert.equal(found.length, refusal === null ? 0 : 1);
    if (refusal !== null) assert.match(found[0]?.message ?? "", refusal);
  });
}

Deno.test("exposureRefusals() tells every reason", () => {
  const options: ExposureOptions = { allowNonLoopback: false, trustedProxies: 0, allowedHosts: 0 };
  const hints = exposureRefusals(server({ ...OPEN, auth: auth("mtls"), ...UPSTREAM }), options).map(({ hint }) => hint);
  assert.deepEqual(hints, ["name the proxy with --trusted-proxy CIDR", "say so with --allow-non-loopback"]);
});

Deno.test("exposureNotices() says of trusted proxies where nobody believes them", () => {
  const said = (change: Partial<ServerConfig>, trustedProxies: number): boolean =>
    exposureNotices(server(change), { allowNonLoopback: true, trustedProxies, allowedHosts: 0 })
      .some((notice) => notice.startsWith("--trusted-proxy has no effect"));
  assert.equal(said({ auth: auth("mtls"), ...UPSTREAM }, 1), false);
  assert.equal(said({ auth: auth("mtls"), tls: MTLS }, 1), true);
  assert.equal(said({ auth: auth("mtls"), tls: MTLS }, 0), false);
  assert.equal(said({ auth: auth("bearer_token"), ...UPSTREAM }, 1), true);
  assert.equal(said(UPSTREAM, 1), true);
});

Deno.test("exposureNotices() says who can reach the service, and by what", () => {
  const options: ExposureOptions = { allowNonLoopback: true, trustedProxies: 0, allowedHosts: 0 };
  assert.deepEqual(exposureNotices(server({ transport: "stdio", bind: null }), options), []);
  assert.deepEqual(exposureNotices(server({}), options), [
    "listening on 127.0.0.1:8080: reachable from this machine alone",
  ]);
  assert.deepEqual(exposureNotices(server({ ...OPEN, auth: auth("mtls"), tls: MTLS, transport: "sse" }), options), [
    'server.transport "sse" is deprecated: use "http"',
    "listening on 0.0.0.0:8080: reachable from other machines",
    "authentication mtls; TLS ends here, client certificates required",
    "audit on standard error; rate limit off",
    "no --allowed-host: only this machine's own names are answered",
  ]);
  const behind = server({ ...OPEN, auth: auth("bearer_token"), ...UPSTREAM });
  assert.ok(exposureNotices(behind, options).includes("authentication bearer_token; TLS ends upstream"));
});

const WORDS: readonly (readonly [word: string | undefined, read: boolean | null])[] = [
  ...["1", "true", "YES", "y", " on "].map((word) => [word, true] as const),
  ...["0", "false", "No", "n", "OFF", "", undefined].map((word) => [word, false] as const),
  ...["2", "enable", "truee"].map((word) => [word, null] as const),
];

for (const [word, read] of WORDS) {
  Deno.test(`readAllowNonLoopback() ${JSON.stringify(word)}: ${read}`, () =>
    assert.equal(readAllowNonLoopback(word), read));
}
