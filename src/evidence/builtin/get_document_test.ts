import assert from "node:assert/strict";
import { DOCUMENT_BYTES, getDocument } from "./get_document.ts";

const ACCESS = { allowPrivateNetworks: true, privateSetting: "--oauth-private", authorities: null } as const;

/** What a server on the loopback answers, whether private addresses are allowed, and what comes of it. */
const ANSWERS: readonly (readonly [what: string, answer: () => Response, allowed: boolean, outcome: RegExp])[] = [
  ["a document", () => Response.json({}), true, /^200 2$/],
  ["another status", () => new Response(null, { status: 404 }), true, /^404 0$/],
  ["a redirect", () => new Response(null, { status: 302, headers: { location: "/other" } }), true, /^302 0$/],
  ["a byte less than the limit", () => new Response(new Uint8Array(DOCUMENT_BYTES - 1)), true, /^200 262143$/],
  ["bytes of the limit", () => new Response(new Uint8Array(DOCUMENT_BYTES)), true, /^200 262144$/],
  [
    "a byte more than the limit",
    () => new Response(new Uint8Array(DOCUMENT_BYTES + 1)),
    true,
    /has more than 262144 b/,
  ],
  ["a compressed document", () => new Response("x", { headers: { "content-encoding": "br" } }), true, /is compressed/],
  ["anything", () => Response.json({}), false, /has an address that is not public \(--oauth-private\)/],
];

for (const [what, answer, allowPrivateNetworks, outcome] of ANSWERS) {
  Deno.test(`getDocument() of ${what}, private addresses ${allowPrivateNetworks ? "" : "not "}allowed: ${outcome.source}`, async () => {
    let asked = 0;
    await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, () => {
      asked++;
      return answer();
    });
    const url = `http://127.0.0.1:${server.addr.port}/`;
    const found = await getDocument(url, { ...ACCESS, allowPrivateNetworks });
    assert.match("fault" in found ? found.fault : `${found.status} ${found.body.length}`, outcome);
    assert.equal(asked, allowPrivateNetworks ? 1 : 0);
  });
}

Deno.test("getDocument() asks no address of another kind", async () => {
  for (const url of ["no address", "ftp://127.0.0.1/", "https://user:secret@127.0.0.1/"]) {
    const found = await getDocument(url, ACCESS);
    assert.ok("fault" in found && !found.fault.includes("secret"), JSON.stringify(found));
  }
});
