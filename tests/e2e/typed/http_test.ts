import assert from "node:assert/strict";
import type { JsonValue } from "../../../src/canonical/json.ts";
import { sha256 } from "../../../src/evidence/host_primitives.ts";
import type { TypedGrants } from "../../../src/evidence/typed/grants.ts";
import { httpProfile } from "../../simulation/typed_documents.ts";
import { answering, askProvider, NOON, ok, outcomeOf, readHead, withServer, write } from "../providers/fixtures.ts";
import { withTyped, writeSecret } from "./fixture.ts";
import { PEERS, RESPONSE_BYTES } from "./http_peers.ts";

const JSON_HEAD = "content-type: application/json\r\n";

Deno.test("a typed check sends the operation's request and anchors its response", async () => {
  const heads: string[] = [];
  await withServer(async (connection) => {
    heads.push(await readHead(connection));
    await write(connection, ok('{"failed":3}', JSON_HEAD));
    connection.close();
  }, async ({ port }) => {
    const profile = httpProfile({ base_url: `http://127.0.0.1:${port}/api/` });
    await withTyped({ profile }, async (provider) => {
      const answer = await askProvider(provider, "failed", { id: "a/b" });
      assert.equal(outcomeOf(answer), "value: 3");
      assert.ok(answer.ok);
      assert.deepEqual(answer.grant, { sandbox: "worker", env: [], net: [`127.0.0.1:${port}`], read: [] });
      const { anchor_type, anchor_value } = answer.result.evidence_anchor ?? {};
      assert.equal(anchor_type, "openapi_request");
      assert.deepEqual(JSON.parse(anchor_value ?? ""), {
        method: "GET",
        url_template: `http://127.0.0.1:${port}/api/builds/{id}`,
        parameters_hash: sha256('{"id":"a/b"}'),
        status: 200,
        content_type: "application/json",
        body_hash: sha256('{"failed":3}'),
        provider_version_identity: provider.version.provider_version_identity,
      });
    });
  });
  const [head = ""] = heads;
  assert.deepEqual(head.split("\r\n").map((line) => line.replace(/:\d+$/, "")), [
    "GET /api/builds/a%2Fb HTTP/1.1",
    "Host: 127.0.0.1",
    "User-Agent: gate/0.1",
    "Accept: application/json",
    "Accept-Encoding: identity",
    "Connection: close",
    "",
    "",
  ]);
});

/** Room for a busy machine, but where the outcome is that time is over. */
const limitsFor = (outcome: string): { readonly timeout_ms: number; readonly max_response_bytes: number } => ({
  timeout_ms: outcome === "failed: timeout" ? 700 : 10_000,
  max_response_bytes: RESPONSE_BYTES,
});

for (const [what, behaviour, outcome] of PEERS) {
  Deno.test(`a typed check of a service ${what}: ${outcome}`, () =>
    withServer(behaviour, async ({ port }) => {
      const profile = httpProfile({ base_url: `http://127.0.0.1:${port}`, limits: limitsFor(outcome) });
      await withTyped({ profile }, async (provider) => {
        assert.equal(outcomeOf(await askProvider(provider, "failed", { id: "1" })), outcome);
      });
    }));
}

Deno.test("a typed check of a service that is not there: connection_failed", async () => {
  const port = await withServer(() => Promise.resolve(), ({ port }) => Promise.resolve(port));
  const profile = httpProfile({ base_url: `http://127.0.0.1:${port}`, limits: limitsFor("failed: connection_failed") });
  await withTyped({ profile }, async (provider) => {
    assert.equal(outcomeOf(await askProvider(provider, "failed", { id: "1" })), "failed: connection_failed");
  });
});

Deno.test("a typed check without an expected status anchors the status and reads no body", () =>
  withServer(answering("HTTP/1.1 503 No\r\ncontent-length: 4\r\n\r\nbusy"), async ({ port }) => {
    await withTyped({ profile: httpProfile({ base_url: `http://127.0.0.1:${port}` }) }, async (provider) => {
      const answer = await askProvider(provider, "failed", { id: "1" });
      assert.ok(answer.ok);
      assert.deepEqual(answer.result.error?.details, { status: 503 });
      const anchor = JSON.parse(answer.result.evidence_anchor?.anchor_value ?? "");
      assert.deepEqual([anchor.status, anchor.body_hash], [503, null]);
    });
  }));

/** What is asked, params, outcome; nothing reaches the service. */
const UNSENT: readonly (readonly [string, string, JsonValue | undefined, string])[] = [
  ["an unknown check", "passed", { id: "1" }, "observed: check_unknown"],
  ["no params", "failed", undefined, "observed: params_invalid"],
  ["params that are a list", "failed", [], "observed: params_invalid"],
  ["a param that climbs", "failed", { id: ".." }, "observed: params_invalid"],
  ["a param that is too long", "failed", { id: "x".repeat(9000) }, "observed: params_invalid"],
  ["another param", "failed", { id: "1", admin: "1" }, "observed: params_invalid"],
];

for (const [what, check, params, outcome] of UNSENT) {
  Deno.test(`a typed check with ${what} sends nothing: ${outcome}`, () =>
    withServer(answering(ok('{"failed":3}')), async ({ port, accepted }) => {
      await withTyped({ profile: httpProfile({ base_url: `http://127.0.0.1:${port}` }) }, async (provider) => {
        assert.equal(outcomeOf(await askProvider(provider, check, params)), outcome);
        assert.equal(accepted(), 0);
      });
    }));
}

Deno.test("a typed check that is cancelled ends as cancelled", () =>
  withServer(() => Promise.resolve(), async ({ port }) => {
    await withTyped({ profile: httpProfile({ base_url: `http://127.0.0.1:${port}` }) }, async (provider) => {
      const gone = new AbortController();
      const answer = askProvider(provider, "failed", { id: "1" }, NOON, gone.signal);
      setTimeout(() => gone.abort(), 50);
      assert.equal(outcomeOf(await answer), "failed: cancelled");
    });
  }));

/** Addresses of the host, private networks, outcome. One address that is not allowed refuses all. */
const ADDRESSES: readonly (readonly [readonly string[], boolean, string])[] = [
  [["127.0.0.1"], true, "value: 3"],
  [["127.0.0.1"], false, "failed: destination_blocked"],
  [["93.184.216.34", "127.0.0.1"], false, "failed: destination_blocked"],
  [["::ffff:127.0.0.1"], false, "failed: destination_blocked"],
  [["169.254.169.254"], false, "failed: destination_blocked"],
  [["0.0.0.0"], true, "failed: destination_blocked"],
  [[], true, "failed: dns_failed"],
];

for (const [addresses, allowPrivateNetworks, outcome] of ADDRESSES) {
  const allowed = allowPrivateNetworks ? "allowed" : "not allowed";
  Deno.test(`a typed check of a host at ${addresses.join(" and ") || "no address"}, private ${allowed}: ${outcome}`, () =>
    withServer(answering(ok('{"failed":3}')), async ({ port, accepted }) => {
      const profile = httpProfile({ base_url: `http://builds.example:${port}` });
      const options = { resolver: () => Promise.resolve(addresses) };
      await withTyped({ profile, grants: { allowPrivateNetworks }, options }, async (provider) => {
        assert.equal(outcomeOf(await askProvider(provider, "failed", { id: "1" })), outcome);
        assert.equal(accepted(), outcome.startsWith("value") ? 1 : 0);
      });
    }));
}

Deno.test("a typed provider asks a host once for each check, and follows it to another address", () =>
  withServer(answering(ok('{"failed":3}')), async ({ port }) => {
    const asked: string[] = [];
    const answers = [["127.0.0.1"], ["::1", "127.0.0.1"], ["127.0.0.1", "::1"]];
    const resolver = (host: string): Promise<readonly string[]> => {
      asked.push(host);
      return Promise.resolve(answers[asked.length - 1] ?? []);
    };
    const profile = httpProfile({ base_url: `http://builds.example:${port}` });
    await withTyped({ profile, options: { resolver } }, async (provider) => {
      for (const _ of answers) {
        assert.equal(outcomeOf(await askProvider(provider, "failed", { id: "1" })), "value: 3");
      }
    });
    assert.deepEqual(asked, ["builds.example", "builds.example", "builds.example"]);
  }));

/** Addresses of `localhost`, where cleartext is allowed on loopback alone; outcome. */
const LOCALHOST: readonly (readonly [readonly string[], string])[] = [
  [["127.0.0.1"], "value: 3"],
  [["10.1.2.3"], "failed: dns_failed"],
  [["127.0.0.1", "10.1.2.3"], "failed: dns_failed"],
];

for (const [addresses, outcome] of LOCALHOST) {
  Deno.test(`a typed check in cleartext of localhost at ${addresses.join(" and ")}: ${outcome}`, () =>
    withServer(answering(ok('{"failed":3}')), async ({ port }) => {
      const profile = httpProfile({ base_url: `http://localhost:${port}` });
      const options = { resolver: () => Promise.resolve(addresses) };
      await withTyped({ profile, grants: { cleartext: "loopback" }, options }, async (provider) => {
        assert.equal(outcomeOf(await askProvider(provider, "failed", { id: "1" })), outcome);
      });
    }));
}

/** What the operator no longer grants, code. */
const REFUSED: readonly (readonly [string, Partial<TypedGrants>, string])[] = [
  ["the host", { hosts: [] }, "failed: host_not_allowed"],
  ["cleartext", { cleartext: "nowhere" }, "failed: host_not_allowed"],
  ["the credential", { credentialsDir: null }, "failed: credential_locator_refused"],
];

for (const [what, grants, outcome] of REFUSED) {
  Deno.test(`a typed check whose operator does not grant ${what} sends nothing: ${outcome}`, () =>
    withServer(answering(ok('{"failed":3}')), async ({ port, accepted }) => {
      const credentials = what === "the credential" ? [{ kind: "bearer", locator: "file://token" }] as const : [];
      const profile = httpProfile({ base_url: `http://127.0.0.1:${port}`, credentials });
      await withTyped({ profile, grants }, async (provider) => {
        assert.equal(outcomeOf(await askProvider(provider, "failed", { id: "1" })), outcome);
        assert.equal(accepted(), 0);
      });
    }));
}

const SECRET = 'canary-4f7b"2d';
const IN_JSON = JSON.stringify(SECRET);

/** What a service does with the credential that it received, response, outcome. */
const REPEATING: readonly (readonly [what: string, response: string, outcome: string])[] = [
  ["keeps it", ok('{"failed":3}', JSON_HEAD), "value: 3"],
  ["repeats it in the result", ok(`{"failed":${IN_JSON}}`, JSON_HEAD), "observed: credential_repeated"],
  [
    "repeats it with escaped characters",
    ok(`{"failed":${IN_JSON.replaceAll("-", "\\u002d")}}`, JSON_HEAD),
    "observed: credential_repeated",
  ],
  ["repeats it as a name", ok(`{"failed":{${IN_JSON}:1}}`, JSON_HEAD), "observed: credential_repeated"],
  [
    "repeats it as a name that is no strict JSON",
    ok(`{"failed":{${IN_JSON}:1,${IN_JSON}:1}}`, JSON_HEAD),
    "observed: credential_repeated",
  ],
  ["repeats it in its content type", ok("{}", `content-type: text/${SECRET}\r\n`), "observed: content_type_invalid"],
  [
    "repeats it in its content encoding",
    ok("{}", `${JSON_HEAD}content-encoding: ${SECRET}\r\n`),
    "observed: credential_repeated",
  ],
];

for (const [what, response, outcome] of REPEATING) {
  for (const kind of ["bearer", "basic", "api_key"] as const) {
    Deno.test(`a service that receives a ${kind} credential and ${what}: ${outcome}, without the credential`, () =>
      withServer(answering(response), async ({ port }) => {
        const folder = await Deno.makeTempDir();
        try {
          await writeSecret(folder, "token", kind === "basic" ? `user:${SECRET}` : SECRET);
          const locator = "file://token";
          const credential = kind === "api_key" ? { kind, header: "x-key", locator } : { kind, locator };
          const profile = httpProfile({ base_url: `http://127.0.0.1:${port}`, credentials: [credential] });
          await withTyped({ profile, grants: { credentialsDir: folder } }, async (provider) => {
            const answer = await askProvider(provider, "failed", { id: "1" });
            assert.equal(outcomeOf(answer), outcome);
            assert.ok(!JSON.stringify(answer).includes("canary-4f7b"), JSON.stringify(answer));
          });
        } finally {
          await Deno.remove(folder, { recursive: true });
        }
      }));
  }
}
