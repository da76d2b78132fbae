import assert from "node:assert/strict";
import { publicUrlOf } from "./public_url.ts";

/** An address, and what it is read as; a message where it is refused. */
const ADDRESSES: readonly (readonly [given: string, read: string | RegExp])[] = [
  ["https://gate.example.com", "https://gate.example.com"],
  ["https://gate.example.com/", "https://gate.example.com"],
  ["https://gate.example.com//", "https://gate.example.com"],
  ["https://gate.example.com:8443", "https://gate.example.com:8443"],
  ["https://GATE.example.com:443/", "https://gate.example.com"],
  ["http://127.0.0.1:8080", "http://127.0.0.1:8080"],
  ["http://[::1]:8080/", "http://[::1]:8080"],
  ["http://localhost:8080", "http://localhost:8080"],
  ["http://gate.example.com", /expected https/],
  ["http://127.0.0.1.example.com", /expected https/],
  ["javascript:alert(1)", /expected https/],
  ["data:text/html,x", /expected https/],
  ["gate.example.com", /not a URL/],
  ["", /not a URL/],
  ["https://gate.example.com/?", /no query and no fragment/],
  ["https://gate.example.com/#", /no query and no fragment/],
  ["https://gate.example.com?run=1", /no query and no fragment/],
  ["https://gate.example.com/#/run", /no query and no fragment/],
  ["https://gate.example.com/gate", /no path/],
  ["https://gate.example.com/gate/", /no path/],
  ["https://gate.example.com/%2e%2e/x", /no path/],
];

for (const [given, read] of ADDRESSES) {
  Deno.test(`--public-url ${JSON.stringify(given)}: ${read}`, () => {
    if (typeof read === "string") assert.equal(publicUrlOf(given), read);
    else assert.throws(() => publicUrlOf(given), read);
  });
}

Deno.test("--public-url with a credential is refused, and its message does not show it", () => {
  for (const given of ["https://user@gate.example.com", "https://user:secret@gate.example.com", "https://:secret@a/"]) {
    assert.throws(
      () => publicUrlOf(given),
      ({ message }: Error) => /a credential/.test(message) && !/user|secret/.test(message),
      given,
    );
  }
});
