/** `gate provider import`: the table of candidates, the files, and what the command refuses. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { IMPORT_LIMITS } from "../../../src/evidence/typed/import_result.ts";
import { type Ended, gate, inFolder } from "../gate_command.ts";

const DOCUMENT = `
openapi: 3.0.3
info: { title: Pets, version: "1" }
servers: [{ url: "https://pets.example/v1" }]
paths:
  /status:
    get:
      operationId: getStatus
      responses:
        200:
          description: "the status"
          content:
            application/json:
              schema: { type: object, properties: { ready: { type: boolean } } }
  /pets:
    post:
      operationId: addPet
      responses: { 200: { description: added, content: { application/json: { schema: { type: integer } } } } }
`;

function run(folder: string, ...args: readonly string[]): Promise<Ended> {
  return gate(folder, "provider", "import", "openapi", ...args);
}

async function namesIn(folder: string): Promise<readonly string[]> {
  return (await Array.fromAsync(Deno.readDir(folder), ({ name }) => name)).sort();
}

Deno.test("an import shows its candidates, and writes a contract and a profile beside each other", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(join(folder, "pets.yaml"), DOCUMENT);
    const dry = await run(folder, "pets.yaml", "--dry-run");
    assert.deepEqual(dry, {
      code: 0,
      stdout: "OPERATION  METHOD  CHECK      REASONS\n" +
        "addPet     POST    -          method_not_selected /paths/~1pets/post\n" +
        "getStatus  GET     getStatus\n",
      stderr: "1 check; no file was written\n",
    });
    assert.deepEqual(await namesIn(folder), ["pets.yaml"]);

    const written = await run(folder, "pets.yaml");
    assert.equal(written.code, 0, written.stderr);
    assert.deepEqual(await namesIn(folder), ["pets.contract.json", "pets.profile.json", "pets.yaml"]);
    const contract = JSON.parse(await Deno.readTextFile(join(folder, "pets.contract.json")));
    assert.deepEqual([contract.provider_id, contract.transport, contract.checks.length], ["pets", "typed", 1]);

    const again = await run(folder, "pets.yaml", "--select", "addPet");
    assert.equal(again.code, 2);
    assert.match(again.stderr, /pets\.contract\.json": it exists already \(--force replaces it\)\n$/);
    const forced = await run(
      folder,
      "pets.yaml",
      "--force",
      "--select",
      "addPet",
      "--select",
      "ready=getStatus#/ready",
    );
    assert.equal(forced.code, 0, forced.stderr);
    const profile = JSON.parse(await Deno.readTextFile(join(folder, "pets.profile.json")));
    assert.deepEqual(Object.keys(profile.operations), ["addPet", "ready"]);
  }));

const PAGE = new URL("../../../docs/reference/cli.md", import.meta.url).pathname;

Deno.test("the page about commands shows what an import prints", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(join(folder, "pets.yaml"), DOCUMENT);
    const page = await Deno.readTextFile(PAGE);
    const shown = /```console\n\$ gate (provider import openapi [^\n]*)\n([^`]*)```/.exec(page);
    assert.ok(shown);
    const { stdout, stderr } = await gate(folder, ...(shown[1] ?? "").split(" "));
    assert.equal(`${stdout}${stderr}`.replaceAll(await Deno.realPath(folder), "/srv"), shown[2]);
  }));

Deno.test("an imported provider answers in the configuration that the import prints", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(join(folder, "pets.yaml"), DOCUMENT);
    const asked: string[] = [];
    await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, (request) => {
      asked.push(`${request.method} ${new URL(request.url).pathname}`);
      return Response.json({ ready: true });
    });
    const url = `http://127.0.0.1:${server.addr.port}/v1`;
    const imported = await run(folder, "pets.yaml", "--server-url", url, "--select", "ready=getStatus#/ready");
    assert.equal(imported.code, 0, imported.stderr);
    const entry = imported.stderr.slice(imported.stderr.indexOf("[[providers]]"));
    await Deno.writeTextFile(join(folder, "own.toml"), `${entry}config = { allow_private_networks = true }\n`);
    const { code, stdout, stderr } = await gate(folder, "provider", "check", "pets", "ready", "--config", "own.toml");
    assert.equal(code, 0, stderr);
    const { value, evidence_anchor } = JSON.parse(stdout);
    assert.deepEqual(value, { kind: "json", value: true });
    assert.equal(evidence_anchor.anchor_type, "openapi_request");
    assert.deepEqual(asked, ["GET /v1/status"]);
  }));

Deno.test("one existing file keeps the other one from being written", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(join(folder, "pets.yaml"), DOCUMENT);
    await Deno.writeTextFile(join(folder, "pets.profile.json"), "kept");
    assert.equal((await run(folder, "pets.yaml")).code, 2);
    assert.deepEqual(await namesIn(folder), ["pets.profile.json", "pets.yaml"]);
    assert.equal(await Deno.readTextFile(join(folder, "pets.profile.json")), "kept");
  }));

Deno.test("an import says what is wrong, and writes no file", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(join(folder, "pets.yaml"), DOCUMENT);
    await Deno.writeTextFile(join(folder, "none.json"), `{"openapi":"3.0.0","paths":{}}`);
    await Deno.writeTextFile(join(folder, "twice.json"), `{"openapi":"3.0.0","openapi":"3.1.0"}`);
    await Deno.writeTextFile(join(folder, "old.json"), `{"swagger":"2.0"}`);
    await Deno.writeFile(join(folder, "large.yaml"), new Uint8Array(IMPORT_LIMITS.yamlBytes + 1).fill(0x20));
    using large = await Deno.create(join(folder, "large.json"));
    await large.truncate(IMPORT_LIMITS.documentBytes + 1);
    const rows: readonly (readonly [args: readonly string[], message: RegExp])[] = [
      [["absent.yaml"], /^gate: Cannot read "absent.yaml": it does not exist$/m],
      [[".", "--provider-id", "x"], /^gate: Cannot read ".": it is not a file/m],
      [["large.json"], /it is too large \(67108865 bytes; the most are 67108864\)/],
      [["large.yaml"], /The document is too large: 8388609 bytes; the most are 8388608/],
      [["none.json"], /No operation of the document can be a check/],
      [["twice.json"], /The document cannot be read: .*\$\.openapi/],
      [["old.json"], /another format or version/],
      [["pets.yaml", "--select", "none"], /\/selection\/0\/operation: .*The document has no operation "none"/],
      [["pets.yaml", "--select", "a=#/b"], /Cannot read --select "a=#\/b"/],
      [["pets.yaml", "--select", "users#show"], /The document has no operation "users#show"/],
      [["pets.yaml", "--provider-id", "a\nb"], /Cannot name the provider "a.*b": expected 1 to 256 bytes/],
      [["pets.yaml", "--provider-id", "x".repeat(257)], /Cannot name the provider "xxx/],
      [["pets.yaml", "--select", "getStatus#/other"], /\/selection\/0\/result_pointer: /],
      [["pets.yaml", "--server-url", "ftp://x"], /The address of the service is not valid/],
      [["pets.yaml", "--out", "absent"], /folder does not exist/],
    ];
    const before = await namesIn(folder);
    for (const [args, message] of rows) {
      const ended = await run(folder, ...args);
      assert.equal(ended.code, 2, args.join(" "));
      assert.match(ended.stderr, message);
    }
    const unknown = await gate(folder, "provider", "import", "soap", "pets.yaml");
    assert.deepEqual([unknown.code, unknown.stderr], [
      2,
      'gate: Unknown kind "soap" (expected one of openapi, grpc)\n',
    ]);
    assert.deepEqual(await namesIn(folder), before);
  }));
