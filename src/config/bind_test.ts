import assert from "node:assert/strict";
import { isLoopbackAddress, parseBind } from "./bind.ts";

Deno.test("parseBind() accepts an IP address and a port only", () => {
  const cases: [bind: string, hostname: string | null, port?: number][] = [
    ["127.0.0.1:0", "127.0.0.1", 0],
    ["127.0.0.1:65535", "127.0.0.1", 65535],
    ["127.0.0.1:65536", null],
    ["127.0.0.1:", null],
    ["127.0.0.1", null],
    ["127.0.0.1:080", null],
    ["127.0.0.1:+80", null],
    ["127.0.0.1:80 ", null],
    ["127.1:80", null],
    ["256.0.0.1:80", null],
    ["1.2.3:80", null],
    ["1.2.3.4.:80", null],
    ["1.2.3.4.5:80", null],
    ["01.2.3.4:80", null],
    ["255.249.199.99:1", "255.249.199.99", 1],
    ["[::1%eth0]:80", null],
    ["[::1]]:80", null],
    ["[::1]:80", "::1", 80],
    ["[::ffff:127.0.0.1]:80", "::ffff:127.0.0.1", 80],
    ["::1:80", null],
    ["[127.0.0.1]:80", null],
    ["localhost:80", null],
    ["", null],
  ];
  for (const [bind, hostname, port] of cases) {
    assert.deepEqual(parseBind(bind), hostname === null ? null : { hostname, port }, bind);
  }
});

Deno.test("isLoopbackAddress() accepts 127.0.0.0/8, ::1 and mapped addresses", () => {
  const cases: [address: string, loopback: boolean][] = [
    ["127.0.0.1", true],
    ["127.255.255.255", true],
    ["0:0:0:0:0:0:0:1", true],
    ["::FFFF:7F00:1", true],
    ["::ffff:7e00:1", false],
    ["127.0.0.1.example", false],
    ["126.255.255.255", false],
    ["128.0.0.0", false],
    ["0.0.0.0", false],
    ["::1", true],
    ["::", false],
    ["::2", false],
    ["::ffff:127.0.0.1", true],
    ["::ffff:10.0.0.1", false],
    ["localhost", false],
  ];
  for (const [address, loopback] of cases) assert.equal(isLoopbackAddress(address), loopback, address);
});
