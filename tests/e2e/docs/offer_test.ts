/** Documents, prompts and completion over the wire: in both eras, by both lanes, and as the configuration has them. */

import assert from "node:assert/strict";
import { Ajv2020 } from "../../packages/ajv.ts";
import type { JsonObject } from "../../../src/canonical/json.ts";
import { envelope, fixtureArgs, initializeParams, type ServerProcess, startServer, type Wire } from "../client.ts";
import { gateArgs, inFolder } from "../gate_command.ts";
import { listening, message, modernHeaders, send } from "../http_fixture.ts";
import { LEAST_POLICY } from "../../least_policy.ts";

type Ask = (method: string, params?: Wire) => Promise<Wire>;

const ERAS = ["legacy", "modern"] as const;

/** Speaks to a server in one era; gives the first answer, and how to ask on. */
async function meet(server: ServerProcess, era: typeof ERAS[number]): Promise<{ first: Wire; ask: Ask }> {
  const meta = era === "modern" ? { _meta: envelope() } : {};
  const ask: Ask = (method, params = {}) => server.request(method, { ...params, ...meta });
  const first = era === "modern" ? await ask("server/discover") : await ask("initialize", initializeParams());
  return { first: first["result"] as Wire, ask };
}

async function withGate(
  settings: string,
  work: (server: ServerProcess, folder: string) => Promise<void>,
): Promise<void> {
  await inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/gate.toml`, settings.replaceAll("FOLDER", folder));
    const args = gateArgs("serve", "--config", `${folder}/gate.toml`);
    await using server = startServer({ args, cwd: folder });
    await work(server, folder);
  });
}

function resultOf(answer: Wire): Wire {
  assert.ok(answer["result"] !== undefined, JSON.stringify(answer));
  return answer["result"] as Wire;
}

function errorOf(answer: Wire): { code: number; message: string; data: Wire } {
  assert.ok(answer["error"] !== undefined, JSON.stringify(answer));
  return answer["error"] as { code: number; message: string; data: Wire };
}

for (const era of ERAS) {
  Deno.test(`documents are listed and read as resources: ${era}`, () =>
    withGate("", async (server) => {
      const { first, ask } = await meet(server, era);
      assert.deepEqual(first["capabilities"], { tools: {}, resources: {}, prompts: {}, completions: {} });
      const listed = resultOf(await ask("resources/list"));
      const all = listed["resources"] as { uri: string; name: string; size: number; mimeType: string }[];
      const resources = all.filter(({ uri }) => uri.startsWith("gate://docs/"));
      const schemas = all.filter(({ mimeType }) => mimeType === "application/schema+json").map(({ uri }) => uri);
      const names = ["scenario", "config", "provider_contract", "runtime_profile"];
      assert.deepEqual(schemas, names.map((name) => `gate://schemas/${name}`));
      for (const uri of schemas) {
        const { contents } = resultOf(await ask("resources/read", { uri })) as { contents: { text: string }[] };
        const schema = JSON.parse(contents[0]?.text ?? "") as JsonObject;
        assert.ok(new Ajv2020({ strict: false }).validateSchema(schema), uri);
        assert.ok("scenario_id" in ((schema["properties"] ?? {}) as JsonObject) === uri.endsWith("scenario"));
      }
      assert.deepEqual(listed["ttlMs"], era === "modern" ? 300_000 : undefined);
      assert.equal(resources[0]?.uri, "gate://docs/concepts");
      for (const { uri, size, mimeType } of resources) {
        const { contents } = resultOf(await ask("resources/read", { uri })) as {
          contents: (Wire & { text: string })[];
        };
        assert.equal(contents.length, 1);
        assert.deepEqual([contents[0]?.["uri"], contents[0]?.["mimeType"], mimeType], [uri, mimeType, "text/markdown"]);
        assert.equal(new TextEncoder().encode(contents[0]?.text).length, size, uri);
      }
      const templates = resultOf(await ask("resources/templates/list"))["resourceTemplates"] as {
        uriTemplate: string;
      }[];
      assert.deepEqual(templates.map(({ uriTemplate }) => uriTemplate), [
        "gate://docs/examples/{page}",
        "gate://docs/tools/{page}",
        "gate://schemas/{tool}",
        "gate://runs/{namespace_id}/{run_id}",
        "gate://runpacks/{runpack_identity}",
        "gate://runpacks/{runpack_identity}/{part}",
      ]);
      const completed = resultOf(
        await ask("completion/complete", {
          ref: { type: "ref/resource", uri: "gate://docs/tools/{page}" },
          argument: { name: "page", value: "schemas_" },
        }),
      );
      const { values } = completed["completion"] as { values: string[] };
      assert.deepEqual(values, ["schemas_register", "schemas_list", "schemas_get"]);
      const ref = { type: "ref/resource", uri: "gate://schemas/{tool}" };
      const tools = resultOf(await ask("completion/complete", { ref, argument: { name: "tool", value: "precheck" } }));
      assert.deepEqual(tools["completion"], { values: ["precheck"], total: 1, hasMore: false });
      const whole = resultOf(await ask("resources/read", { uri: "gate://schemas/precheck" }));
      assert.match((whole["contents"] as { text: string }[])[0]?.text ?? "", /"observation_domain"/);
      const page = resultOf(await ask("resources/read", { uri: `gate://docs/tools/${values[0]}` }));
      assert.match((page["contents"] as { text: string }[])[0]?.text ?? "", /^# schemas_register\n/);
    }));

  Deno.test(`an unknown resource, prompt or cursor is an error that names it: ${era}`, () =>
    withGate("", async (server) => {
      const { ask } = await meet(server, era);
      const cases: [method: string, params: Wire, message: RegExp, path: string][] = [
        ["resources/read", { uri: "gate://docs/no" }, /^Unknown resource "gate:\/\/docs\/no"/, "$.params.uri"],
        ["resources/read", { uri: "gate://docs/tools/no" }, /^Unknown resource/, "$.params.uri"],
        ["resources/read", { uri: "gate://docs/concepts/" }, /^Unknown resource/, "$.params.uri"],
        ["resources/read", { uri: "file:///etc/passwd" }, /^Unknown resource/, "$.params.uri"],
        ["resources/read", { uri: `gate://docs/${"a".repeat(9999)}` }, /^Unknown resource .{1,350}$/, "$.params.uri"],
        ["resources/read", { uri: "gate://schemas/precheckk" }, /mean "gate:\/\/schemas\/precheck"/, "$.params.uri"],
        ["resources/list", { cursor: "x" }, /^Unknown cursor: resources\/list/, "$.params.cursor"],
        ["resources/templates/list", { cursor: "x" }, /^Unknown cursor/, "$.params.cursor"],
        ["prompts/list", { cursor: "x" }, /^Unknown cursor: prompts\/list/, "$.params.cursor"],
        ["prompts/get", { name: "no" }, /^Unknown prompt "no": expected one of "author_scenario"/, "$.params.name"],
        ["prompts/get", { name: "drive_run" }, /^Argument is required/, "$.params.arguments.namespace_id"],
      ];
      for (const [method, params, message, path] of cases) {
        const error = errorOf(await ask(method, params));
        assert.equal(error.code, -32602, method);
        assert.match(error.message, message);
        assert.equal(error.data["path"], path);
      }
      const mistyped = errorOf(await ask("resources/read", { uri: "gate://docs/tools/scenario_strat" }));
      assert.equal(mistyped.data["uri"], "gate://docs/tools/scenario_strat");
      assert.match(
        mistyped.message,
        /resources\/list shows which there are; did you mean "gate:\/\/docs\/tools\/scenario_sta/,
      );
      assert.equal(errorOf(await ask("resources/read", { uri: "gate://docs/no" })).data["uri"], "gate://docs/no");
    }));

  Deno.test(`prompts are written, and their arguments completed with what the caller may list: ${era}`, () =>
    withGate("", async (server) => {
      const { ask } = await meet(server, era);
      const { prompts } = resultOf(await ask("prompts/list")) as { prompts: { name: string; arguments: Wire[] }[] };
      assert.deepEqual(prompts.map(({ name }) => name), ["author_scenario", "drive_run", "audit_runpack"]);
      const given = { namespace_id: "2", scenario_id: 'a"b' };
      const prompt = resultOf(await ask("prompts/get", { name: "drive_run", arguments: given }));
      const [message] = prompt["messages"] as { role: string; content: { type: string; text: string } }[];
      assert.equal(message?.role, "user");
      assert.match(message?.content.text ?? "", /scenario "a\\"b" in namespace_id 2\./);
      for (const [scenario_id, namespace_id] of [["release", 2], ["retire", 2], ["other", 2], ["rest", 3]] as const) {
        const spec = {
          spec_version: "dag-v3",
          scenario_id,
          namespace_id,
          stages: [{ stage_id: "s", prerequisite: { kind: "root" }, completion_requirement: { Condition: "c" } }],
          completion_requirement: { Condition: "s" },
          conditions: [CONDITION],
        };
        const defined = resultOf(await ask("tools/call", { name: "scenario_define", arguments: { spec } }));
        assert.equal(defined["isError"], undefined, JSON.stringify(defined));
      }
      const ref = { type: "ref/prompt", name: "drive_run" };
      const complete = async (argument: Wire, context?: Wire): Promise<unknown> =>
        resultOf(
          await ask("completion/complete", { ref, argument, ...(context === undefined ? {} : { context }) }),
        )["completion"];
      const argument = { name: "scenario_id", value: "re" };
      assert.deepEqual(await complete(argument, { arguments: { namespace_id: "2" } }), {
        values: ["release", "retire"],
        total: 2,
        hasMore: false,
      });
      assert.deepEqual(
        await complete(argument, { arguments: { namespace_id: "1" } }),
        NOTHING,
        "namespace 1 is refused",
      );
      const everywhere = { values: ["release", "retire", "rest"], total: 3, hasMore: false };
      assert.deepEqual(await complete(argument), everywhere, "in every namespace that the caller may use");
      const namespaces = { values: ["2", "3"], total: 2, hasMore: false };
      assert.deepEqual(await complete({ name: "namespace_id", value: "" }), namespaces);
      assert.deepEqual(await complete({ name: "run_id", value: "" }), NOTHING);
    }));
}

const NOTHING = { values: [], total: 0, hasMore: false };

const CONDITION = {
  condition_id: "c",
  observation_domain: { domain: "Boolean" },
  predicate: { predicate: "Equals", expected: { value: true, value_type: "Boolean" } },
  evidence_use_policy: { ...LEAST_POLICY, required_assurance: ["content_integrity"] },
};

Deno.test("gate_docs_search finds what the operator added, and warns of what it left out", () =>
  inFolder(async (folder) => {
    await Deno.mkdir(`${folder}/guides`);
    await Deno.writeTextFile(`${folder}/guides/runbook.md`, "# Runbook\n\n## Penguins\n\nFeed the penguins first.\n");
    await Deno.writeTextFile(`${folder}/guides/notes.txt`, "x");
    await Deno.writeTextFile(`${folder}/gate.toml`, `[docs]\nextra_paths = ["guides"]\n`);
    const args = gateArgs("serve", "--config", `${folder}/gate.toml`);
    await using server = startServer({ args, cwd: folder });
    const { ask } = await meet(server, "legacy");
    const call = { name: "gate_docs_search", arguments: { query: "penguins", max_sections: 1 } };
    const { structuredContent } = resultOf(await ask("tools/call", call)) as { structuredContent: Wire };
    assert.deepEqual(structuredContent["sections"], [{
      content: "Feed the penguins first.",
      doc_id: "runbook",
      doc_role: "pattern",
      doc_title: "Runbook",
      heading: "Penguins",
      rank: 0,
    }]);
    await server.logged('notes.txt\\" is skipped: it does not end in .md');
    const read = resultOf(await ask("resources/read", { uri: "gate://docs/custom/runbook" }));
    assert.match(JSON.stringify(read), /penguins/);
  }));

Deno.test("docs.* settings take away what they name", async () => {
  const cases: [settings: string, hasSearch: boolean, hasResources: boolean][] = [
    ["[docs]\nenabled = false\n", false, false],
    ["[docs]\nenable_search = false\n", false, true],
    ["[docs]\nenable_resources = false\n", true, false],
    ['[server.tools]\ndenylist = ["gate_docs_search"]\n', false, true],
  ];
  for (const [settings, hasSearch, hasResources] of cases) {
    await withGate(settings, async (server) => {
      const { first, ask } = await meet(server, "modern");
      assert.equal("resources" in (first["capabilities"] as Wire), hasResources, settings);
      const { tools } = resultOf(await ask("tools/list")) as { tools: { name: string }[] };
      assert.equal(tools.some(({ name }) => name === "gate_docs_search"), hasSearch, settings);
      const schema = await ask("resources/read", { uri: "gate://schemas/gate_docs_search" });
      assert.equal(schema["error"] === undefined, hasSearch && hasResources, "no schema of what is not listed");
      const called = await ask("tools/call", { name: "gate_docs_search", arguments: { query: "run" } });
      assert.equal("error" in called, !hasSearch, settings);
      const prompt = { name: "author_scenario", arguments: { question: "q" } };
      const written = JSON.stringify(resultOf(await ask("prompts/get", prompt)));
      assert.equal(written.includes("gate_docs_search"), hasSearch, settings);
      assert.equal(written.includes("gate://docs/authoring"), hasResources && !hasSearch, settings);
      const listed = await ask("resources/list");
      assert.equal(listed["error"] === undefined, hasResources, settings);
      if (!hasResources) assert.equal(errorOf(listed).code, -32601);
    });
  }
});

const UNUSABLE = `
trust.default_policy = { require_signature = { keys = ["no.pub", "nor.pub"] } }
[docs]
extra_paths = ["FOLDER/missing"]
[[providers]]
name = "json"
type = "builtin"
config = { root = "nowhere", root_id = "r" }
[[providers]]
name = "rest"
type = "builtin"
config.auth = { basic_username = "env:FIXTURE_NOT_SET", basic_password = "env:FIXTURE_NOT_SET" }
`;

Deno.test("what the disk and the environment lack ends the process with 2 and every reason", async () => {
  await withGate(UNUSABLE, async (server) => {
    await server.logged('"level":"error"');
    await server.closeInput();
    assert.equal(await server.ended(), 2);
    const reasons = [
      "Cannot use configuration [^;]*: docs\\.extra_paths\\[0\\]: [^;]*missing[^;]* does not exist",
      "providers\\[0\\]\\.config\\.root: must be a folder that can be read: it does not exist",
      "providers\\[1\\]\\.config\\.auth\\.basic_username: refers to variable [^;]*FIXTURE_NOT_SET[^;]*, which is not set",
      "providers\\[1\\]\\.config\\.auth\\.basic_password: refers to variable [^;]*FIXTURE_NOT_SET[^;]*, which is not set",
      "trust\\.default_policy\\.require_signature\\.keys\\[0\\]: [^;]*no\\.pub[^;]*does not exist",
      "trust\\.default_policy\\.require_signature\\.keys\\[1\\]: [^;]*nor\\.pub[^;]*does not exist",
    ];
    assert.match(server.errors(), new RegExp(reasons.join("; ")));
  });
});

Deno.test("documents are offered over HTTP too, in both eras", async () => {
  const [run = "", ...rest] = fixtureArgs({ docs: true, server: { transport: "http", bind: "127.0.0.1:0" } });
  const permissions = ["--allow-read", "--allow-net=127.0.0.1", "--allow-write", "--allow-sys"];
  await using server = await listening(startServer({ args: [run, ...permissions, ...rest] }));
  const ask = async (method: string, params: Wire, name?: string): Promise<Wire[]> => {
    const legacy = await send(server.url, message(1, method, params));
    const headers = modernHeaders(method, name);
    const modern = await send(server.url, message(1, method, { ...params, _meta: envelope() }), { headers });
    return [legacy, modern].map(({ text }) => JSON.parse(text) as Wire);
  };
  for (const answer of await ask("resources/list", {})) {
    assert.match(JSON.stringify(resultOf(answer)), /gate:\/\/docs\/concepts/);
  }
  const uri = "gate://docs/tools/scenario_define";
  for (const answer of await ask("resources/read", { uri }, uri)) {
    assert.match(JSON.stringify(resultOf(answer)), /# scenario_define/);
  }
  for (const answer of await ask("resources/read", { uri: "gate://docs/no" }, "gate://docs/no")) {
    const { code, data } = errorOf(answer);
    assert.deepEqual([code, data["kind"], data["uri"]], [-32602, "invalid_params", "gate://docs/no"]);
  }
  const completion = {
    ref: { type: "ref/prompt", name: "audit_runpack" },
    argument: { name: "profile", value: "i" },
  };
  for (const answer of await ask("completion/complete", completion)) {
    assert.deepEqual((resultOf(answer)["completion"] as Wire)["values"], ["integrity_only_v1"]);
  }
});
