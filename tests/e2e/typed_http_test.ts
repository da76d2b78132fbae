import assert from "node:assert/strict";
import { sha256 } from "../../src/evidence/host_primitives.ts";
import { httpProfile } from "../simulation/typed_documents.ts";
import { askProvider, ok, outcomeOf, readHead, withServer, write } from "./providers_fixtures.ts";
import { withTyped } from "./typed_fixture.ts";

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
