import assert from "node:assert/strict";
import { readFields } from "./header_fields.ts";
import { accepts, mediaError } from "./media.ts";
import { peerKey } from "../audit/peers.ts";

Deno.test("readFields() finds a name in any case", () => {
  const fields = readFields(["__proto__", "a", "Constructor", "b", "X-Forwarded-For", "c"]);
  assert.deepEqual(["__proto__", "constructor", "toString", "x-forwarded-for"].map(fields.get), ["a", "b", null, "c"]);
  assert.deepEqual([fields.startsWith("x-forwarded-"), fields.startsWith("via")], [true, false]);
});

const REPEATED: readonly (readonly [name: string, outcome: string | null])[] = [
  ["Accept", null],
  ["Host", "host"],
  ["ORIGIN", "origin"],
  ["Authorization", "authorization"],
  ["Content-Type", "content-type"],
  ["X-Gate-Client-Subject", "x-gate-client-subject"],
  ["Mcp-Name", "mcp-name"],
];

for (const [name, outcome] of REPEATED) {
  Deno.test(`readFields() ${name} twice: ${outcome ?? "joined"}`, () => {
    assert.equal(readFields([name, "a", name.toLowerCase(), "a"]).repeated, outcome);
  });
}

const MEDIA: readonly (readonly [type: string, encoding: string | null, accept: string | null, status: number])[] = [
  ["application/json", null, null, 0],
  ["Application/JSON; charset=UTF-8", "identity", "*/*", 0],
  ['application/json;charset="utf-8"', null, "application/json, text/event-stream", 0],
  ["application/json", null, "application/*;q=0.5", 0],
  ["application/json; charset=latin1", null, null, 415],
  ["application/json, text/plain", null, null, 415],
  ["text/plain", null, null, 415],
  ["", null, null, 415],
  ["application/jsonp", null, null, 415],
  ["application/json", "gzip", null, 415],
  ["application/json", null, "text/event-stream", 406],
  ["application/json", null, "application/json;q=0", 406],
  ["application/json", null, "application/json; q=0.000, text/html", 406],
];

for (const [type, encoding, accept, status] of MEDIA) {
  Deno.test(`mediaError() "${type}", encoding ${encoding}, accept ${accept}: ${status}`, () => {
    const values: Record<string, string | null> = { "content-type": type, "content-encoding": encoding, accept };
    const refusal = mediaError({ get: (name) => values[name] ?? null, startsWith: () => false });
    assert.equal(refusal?.status ?? 0, status);
  });
}

Deno.test("accepts() reads ranges by their grammar", () => {
  assert.equal(accepts("text/event-stream", "text/event-stream"), true);
  assert.equal(accepts("text/*;q=0.1", "text/event-stream"), true);
  assert.equal(accepts("", "text/event-stream"), false);
});

const PEERS: readonly (readonly [address: string, key: string])[] = [
  ["192.0.2.1", "192.0.2.1"],
  ["::ffff:192.0.2.1", "192.0.2.1"],
  ["::1", "0:0:0:0::/64"],
  ["2001:db8::5", "2001:db8:0:0::/64"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
  ["fe80::1%eth0", "fe80:0:0:0::/64"],
];

for (const [address, key] of PEERS) {
  Deno.test(`peerKey() ${address}: ${key}`, () => assert.equal(peerKey(address), key));
}
