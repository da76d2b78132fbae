import assert from "node:assert/strict";
import { AUTH_DEFAULTS, DEFAULT_SETTINGS } from "../config/defaults.ts";
import type { AuthConfig, ServerConfig, TlsConfig } from "../config/types.ts";
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
  ["mtls upstream, no trusted proxy", { ...OPEN, auth: auth("mtls"), ...UPSTREAM }, true, 0, /no proxy is trusted/],
  ["mtls upstream, a proxy trusted", { ...OPEN, auth: auth("mtls"), ...UPSTREAM }, true, 1, null],
];

for (const [what, change, allowNonLoopback, trustedProxies, refusal] of ROWS) {
  Deno.test(`exposureRefusals() ${what}: ${refusal === null ? "may listen" : refusal.source}`, () => {
    const found = exposureRefusals(server(change), { allowNonLoopback, trustedProxies, allowedHosts: 0 });
    assert.equal(found.length, refusal === null ? 0 : 1);
    if (refusal !== null) assert.match(found[0]?.message ?? "", refusal);
  });
}

Deno.test("exposureRefusals() returns every reason", () => {
  const options: ExposureOptions = { allowNonLoopback: false, trustedProxies: 0, allowedHosts: 0 };
  const hints = exposureRefusals(server({ ...OPEN, auth: auth("mtls"), ...UPSTREAM }), options).map(({ hint }) => hint);
  assert.deepEqual(hints, ["name the proxy with --trusted-proxy CIDR", "say so with --allow-non-loopback"]);
});

function noticed(change: Partial<ServerConfig>, options: Partial<ExposureOptions> = {}): readonly string[] {
  const given = { allowNonLoopback: true, trustedProxies: 0, allowedHosts: 0, ...options };
  return exposureNotices(server(change), given).map(({ level, message }) => `${level}: ${message}`);
}

Deno.test("exposureNotices() warns of trusted proxies without effect", () => {
  const said = (change: Partial<ServerConfig>, trustedProxies: number): boolean =>
    noticed(change, { trustedProxies }).some((notice) => notice.startsWith("warn: --trusted-proxy has no effect"));
  assert.equal(said({ auth: auth("mtls"), ...UPSTREAM }, 1), false);
  assert.equal(said({ auth: auth("mtls"), tls: MTLS }, 1), true);
  assert.equal(said({ auth: auth("mtls"), tls: MTLS }, 0), false);
  assert.equal(said({ auth: auth("bearer_token"), ...UPSTREAM }, 1), true);
  assert.equal(said(UPSTREAM, 1), true);
});

Deno.test("exposureNotices() says who can reach the service, and by what", () => {
  assert.deepEqual(noticed({ transport: "stdio", bind: null }), []);
  assert.deepEqual(noticed({}), ["info: listening on 127.0.0.1:8080: reachable from this machine alone"]);
  assert.deepEqual(noticed({ ...OPEN, auth: auth("mtls"), tls: MTLS, transport: "sse" }), [
    'warn: server.transport "sse" is deprecated: use "http"',
    "warn: listening on 0.0.0.0:8080: reachable from other machines",
    "info: authentication mtls; TLS ends here, client certificates required",
    "info: audit on standard error; rate limit off",
    "warn: server.limits.rate_limit is not set: the rate of each caller is unlimited",
    "info: no --allowed-host: only this machine's own names are accepted",
  ]);
  const behind = noticed({ ...OPEN, auth: auth("bearer_token"), ...UPSTREAM }, { allowedHosts: 1 });
  assert.ok(behind.includes("info: authentication bearer_token; TLS ends upstream"));
  for (const [tokens, says] of [[[], "oauth"], [["a"], "bearer_token, then oauth"]] as const) {
    const own = { ...auth("bearer_token"), bearer_tokens: tokens, oauth: true } as const;
    assert.ok(noticed({ auth: own }).includes(`info: authentication ${says}; no TLS`));
  }
});

Deno.test("exposureNotices() mentions a proxy on this machine, unless its requests are rejected", () => {
  const limits = { max_inflight: 1, rate_limit: { max_requests: 1, window_ms: 100, max_entries: 1 } };
  assert.deepEqual(noticed({ auth: auth("bearer_token") }, { allowedHosts: 1 }), [
    "info: listening on 127.0.0.1:8080: reachable from this machine, and from others through a proxy on this machine",
    "info: authentication bearer_token; no TLS",
    "info: audit on standard error; rate limit off",
    "warn: server.limits.rate_limit is not set: the rate of each caller is unlimited",
  ]);
  const warned = [{ auth: auth("bearer_token"), limits }, { auth: auth("mtls"), ...UPSTREAM, limits }, UPSTREAM, {}]
    .map((change) => noticed(change).filter((notice) => notice.startsWith("warn:")).length);
  assert.deepEqual(warned, [0, 0, 1, 0]);
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
