import assert from "node:assert/strict";
import { ISSUERS, oauthIssuersOf } from "./oauth_flags.ts";
import { parseServeArguments } from "./serve_flags.ts";

Deno.test(`oauthIssuersOf() pairs each of ${ISSUERS} issuers with its audience, and reads no more`, () => {
  const flags = (count: number): ReturnType<typeof parseServeArguments> =>
    parseServeArguments(
      Array.from({ length: count }, (_, index) => [
        `--oauth-issuer=https://issuer.example.com/${index}`,
        `--oauth-audience=https://gate.example.com/${index % 2}`,
      ]).flat(),
    );
  for (const count of [ISSUERS - 1, ISSUERS]) {
    const found = oauthIssuersOf(flags(count));
    assert.equal(found.length, count);
    assert.deepEqual(found[3], { issuer: "https://issuer.example.com/3", audience: "https://gate.example.com/1" });
  }
  assert.throws(() => oauthIssuersOf(flags(ISSUERS + 1)), /at most 16 issuers, got 17/);
});
