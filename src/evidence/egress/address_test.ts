import assert from "node:assert/strict";
import { isIP } from "node:net";
import fc from "../../../tests/packages/fast_check.ts";
import { classifyAddress, parseAddress } from "./address.ts";

/** Address, description, class. */
const ROWS: readonly (readonly [string, string, string | null])[] = [
  ["8.8.8.8", "public", "public"],
  ["1.0.0.0", "first public", "public"],
  ["0.255.255.255", "this network", "never"],
  ["0.0.0.0", "unspecified", "never"],
  ["9.255.255.255", "below 10/8", "public"],
  ["10.0.0.0", "private", "private"],
  ["10.255.255.255", "private", "private"],
  ["11.0.0.0", "above 10/8", "public"],
  ["100.63.255.255", "below CGNAT", "public"],
  ["100.64.0.0", "CGNAT", "private"],
  ["100.127.255.255", "CGNAT", "private"],
  ["100.128.0.0", "above CGNAT", "public"],
  ["127.0.0.1", "loopback", "private"],
  ["127.255.255.255", "loopback", "private"],
  ["169.254.169.254", "metadata service", "private"],
  ["172.15.255.255", "below 172.16/12", "public"],
  ["172.16.0.0", "private", "private"],
  ["172.31.255.255", "private", "private"],
  ["172.32.0.0", "above 172.16/12", "public"],
  ["192.0.0.8", "protocol assignments", "private"],
  ["192.0.1.0", "beside them", "public"],
  ["192.0.2.1", "documentation", "private"],
  ["192.88.99.1", "6to4 relay", "private"],
  ["192.168.1.1", "private", "private"],
  ["192.169.0.0", "above 192.168/16", "public"],
  ["198.17.255.255", "below benchmarking", "public"],
  ["198.18.0.1", "benchmarking", "private"],
  ["198.19.255.255", "benchmarking", "private"],
  ["198.20.0.0", "above benchmarking", "public"],
  ["198.51.100.7", "documentation", "private"],
  ["203.0.113.7", "documentation", "private"],
  ["223.255.255.255", "last unicast", "public"],
  ["224.0.0.1", "multicast", "never"],
  ["239.255.255.255", "multicast", "never"],
  ["240.0.0.1", "reserved", "never"],
  ["255.255.255.255", "broadcast", "never"],
  ["2606:4700::1111", "public", "public"],
  ["2000::1", "public", "public"],
  ["3ffe::1", "public", "public"],
  ["::", "unspecified", "never"],
  ["::1", "loopback", "private"],
  ["::7f00:1", "IPv4-compatible", "private"],
  ["::ffff:8.8.8.8", "IPv4-mapped public", "private"],
  ["::ffff:127.0.0.1", "IPv4-mapped loopback", "private"],
  ["::ffff:7f00:1", "IPv4-mapped loopback", "private"],
  ["::ffff:0.0.0.0", "IPv4-mapped unspecified", "never"],
  ["::ffff:224.0.0.1", "IPv4-mapped multicast", "never"],
  ["64:ff9b::808:808", "NAT64", "private"],
  ["64:ff9b::e000:1", "NAT64 of multicast", "never"],
  ["64:ff9b:1::1", "local NAT64", "private"],
  ["100::1", "discard", "private"],
  ["2001::1", "Teredo", "private"],
  ["2001:2::1", "benchmarking", "private"],
  ["2001:20::1", "ORCHID", "private"],
  ["2001:200::1", "public", "public"],
  ["2001:db8::1", "documentation", "private"],
  ["2002:808:808::1", "6to4", "private"],
  ["2002:7f00:1::1", "6to4 of loopback", "private"],
  ["2002:e000:1::1", "6to4 of multicast", "never"],
  ["3fff::1", "documentation", "private"],
  ["4000::1", "not assigned", "private"],
  ["5f00::1", "segment routing", "private"],
  ["fc00::1", "unique local", "private"],
  ["fdff::1", "unique local", "private"],
  ["fe80::1", "link-local", "private"],
  ["fec0::1", "site-local", "private"],
  ["ff02::1", "multicast", "never"],
  ["fe80::1%eth0", "with a zone", null],
  ["127.1", "short form", null],
  ["2130706433", "one number", null],
  ["0x7f.0.0.1", "hexadecimal", null],
  ["127.0.0.01", "leading zero", null],
  ["256.0.0.1", "too large", null],
  ["1.2.3.4.5", "too long", null],
  ["1:2:3:4:5:6:7", "too short", null],
  ["1:2:3:4:5:6:7:8:9", "too long", null],
  ["1::2::3", "two gaps", null],
  ["1:2:3:4:5:6:7:8::", "a gap of nothing", null],
  ["::1.2.3.4:5", "IPv4 in the middle", null],
  ["::12345", "a group too long", null],
  [":1", "half a gap", null],
  ["", "nothing", null],
  ["localhost", "a name", null],
];

for (const [address, what, expected] of ROWS) {
  Deno.test(`classifyAddress() ${address} (${what}): ${expected ?? "no address"}`, () => {
    assert.equal(classifyAddress(address), expected);
  });
}

Deno.test("parseAddress() accepts exactly the addresses that the runtime accepts", () => {
  const text = fc.oneof(
    fc.ipV4(),
    fc.ipV6(),
    fc.string({ unit: fc.constantFrom(..."0123456789abcf:."), maxLength: 20 }),
  );
  fc.assert(
    fc.property(text, (address) => {
      assert.equal(parseAddress(address) !== null, isIP(address) !== 0);
    }),
    { numRuns: 2000 },
  );
});

Deno.test("classifyAddress() does not depend on the spelling", () => {
  fc.assert(fc.property(fc.ipV6(), (address) => {
    assert.equal(classifyAddress(new URL(`http://[${address}]`).hostname.slice(1, -1)), classifyAddress(address));
  }));
});
