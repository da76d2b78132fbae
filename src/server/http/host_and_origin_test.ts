import assert from "node:assert/strict";
import { createHostAndOriginChecks, isHostName, isOriginName } from "./host_and_origin.ts";

const LOCAL = { bindAddress: "127.0.0.1", port: () => 8080, allowedHosts: [], allowedOrigins: [] };
const PUBLIC = {
  bindAddress: "192.0.2.7",
  port: () => 8080,
  allowedHosts: ["gate.example.com", "localhost:9000", "Other.example.com:8443"],
  allowedOrigins: ["https://app.example.com", "app://desktop"],
};

const HOSTS: readonly (readonly [value: string | null, local: boolean, open: boolean])[] = [
  ["127.0.0.1:8080", true, true],
  ["localhost", true, true],
  ["LOCALHOST:8080", true, true],
  ["localhost:8079", false, false],
  ["localhost:8081", false, false],
  ["localhost:08080", true, true],
  ["localhost:", false, false],
  ["localhost:9000", false, true],
  ["127.0.0.1:80", false, false],
  ["[::1]:443", false, false],
  ["[::1]:8080", true, true],
  ["192.0.2.7", false, true],
  ["192.0.2.7:8080", false, true],
  ["192.0.2.7:8081", false, false],
  ["gate.example.com", false, true],
  ["GATE.example.com:443", false, true],
  ["other.example.com:8443", false, true],
  ["other.example.com:8444", false, false],
  ["other.example.com", false, false],
  ["evil.example.com", false, false],
  ["localhost.evil.example.com", false, false],
  ["127.0.0.1.evil.example.com", false, false],
  ["localhost.", false, false],
  ["evil@localhost", false, false],
  ["localhost, evil.example.com", false, false],
  ["localhost:80:80", false, false],
  ["localhost:999999", false, false],
  ["0x7f.1", false, false],
  ["127.1", false, false],
  ["[::1", false, false],
  ["[::ffff:127.0.0.1]", false, false],
  ["localhost\u0000", false, false],
  ["", false, false],
  [null, false, false],
];

for (const [value, local, open] of HOSTS) {
  Deno.test(`host() ${JSON.stringify(value)}: ${local} on the loopback, ${open} beyond`, () => {
    assert.deepEqual([createHostAndOriginChecks(LOCAL).host(value), createHostAndOriginChecks(PUBLIC).host(value)], [
      local,
      open,
    ]);
  });
}

const ORIGINS: readonly (readonly [value: string | null, local: boolean, open: boolean])[] = [
  [null, true, true],
  ["http://localhost:3000", true, false],
  ["https://127.0.0.1", true, false],
  ["http://[::1]:5173", true, false],
  ["https://app.example.com", false, true],
  ["HTTPS://APP.example.com", false, true],
  ["app://desktop", false, true],
  ["https://app.example.com:444", false, false],
  ["http://app.example.com", false, false],
  ["https://app.example.com.evil.net", false, false],
  ["http://localhost.evil.net", false, false],
  ["http://evil.net#localhost", false, false],
  ["http://localhost/", false, false],
  ["file://localhost", false, false],
  ["null", false, false],
  ["", false, false],
];

for (const [value, local, open] of ORIGINS) {
  Deno.test(`origin() ${JSON.stringify(value)}: ${local} on the loopback, ${open} beyond`, () => {
    assert.deepEqual(
      [createHostAndOriginChecks(LOCAL).origin(value), createHostAndOriginChecks(PUBLIC).origin(value)],
      [local, open],
    );
  });
}

/** Pages of the server itself, by its `Origin` and `Host`: with a console they may call, where it ends TLS by https alone. */
const OWN_PAGES: readonly (readonly [origin: string, host: string | null, withPages: boolean, withTls: boolean])[] = [
  ["https://gate.example.com", "gate.example.com", true, true],
  ["http://gate.example.com", "gate.example.com", true, false],
  ["http://gate.example.com:8040", "GATE.example.com:8040", true, false],
  ["https://gate.example.com:444", "gate.example.com", false, false],
  ["https://evil.example.com", "gate.example.com", false, false],
  ["app://gate.example.com", "gate.example.com", false, false],
  ["https://gate.example.com", null, false, false],
  ["null", "null", false, false],
  ["", "", false, false],
];

for (const [origin, host, withPages, withTls] of OWN_PAGES) {
  Deno.test(`origin() ${JSON.stringify(origin)} of ${host}: ${withPages} with own pages, ${withTls} with TLS too, else false`, () => {
    const accepts = (options: Partial<Parameters<typeof createHostAndOriginChecks>[0]>): boolean =>
      createHostAndOriginChecks({ ...PUBLIC, ...options }).origin(origin, host);
    const found = [accepts({ pageSchemes: ["http", "https"] }), accepts({ pageSchemes: ["https"] }), accepts({})];
    assert.deepEqual(found, [withPages, withTls, false]);
  });
}

Deno.test("isHostName() and isOriginName() take what the flags may say", () => {
  assert.deepEqual(["a", "a:1", "[::1]:2", "a/b", "http://a", ""].map(isHostName), [
    true,
    true,
    true,
    false,
    false,
    false,
  ]);
  const origins = ["http://a", "vscode-webview://a:1", "http://a/", "a", "*", "http://*"];
  assert.deepEqual(origins.map(isOriginName), [true, true, false, false, false, false]);
});
