/** The files of the guide to authoring are what a reader can save and check. */

import assert from "node:assert/strict";
import type { JsonObject } from "../../../src/canonical/json.ts";
import { gate, inFolder } from "../gate_command.ts";

const GUIDE = new URL("../../../docs/guide/authoring.md", import.meta.url);

/** The blocks of the guide in a language. */
async function blocks(language: "yaml" | "toml"): Promise<readonly string[]> {
  const text = await Deno.readTextFile(GUIDE);
  return [...text.matchAll(/^```(\w+)\n([^]*?)^```$/gm)]
    .flatMap(([, name, block = ""]) => name === language ? [block] : []);
}

/** A file with the members of a block in place of its own. */
function withParts(whole: string, block: string): string {
  const members = (text: string): readonly string[] => text.split(/^(?=\w)/m);
  const nameOf = (member: string): string => /^\w+:/.exec(member)?.[0] ?? "";
  const given = members(block).map(nameOf);
  return [...members(whole).filter((member) => !given.includes(nameOf(member))), block].join("");
}

Deno.test("the whole file of the guide is a law, and so it is with each of its parts", () =>
  inFolder(async (folder) => {
    const [whole = "", ...parts] = await blocks("yaml");
    assert.equal(parts.length, 3);
    await Deno.writeTextFile(`${folder}/gate.toml`, (await blocks("toml")).join(""));
    await Deno.mkdir(`${folder}/evidence`);
    const files = [whole, ...parts.map((part) => withParts(whole, part))];
    for (const text of files) {
      await Deno.writeTextFile(`${folder}/tests.yaml`, text);
      const { code, stdout, stderr } = await gate(folder, "scenario", "check", "tests.yaml", "--config", "gate.toml");
      assert.equal(code, 0, `${text}\n${stdout}${stderr}`);
    }
  }));

Deno.test("a run of the guide's law is driven by hand on the configuration that gate init writes", () =>
  inFolder(async (folder) => {
    const [whole = "", ...parts] = await blocks("yaml");
    const said = async (...args: readonly string[]): Promise<string> => {
      const { code, stdout, stderr } = await gate(folder, ...args);
      assert.equal(code, 0, `${args.join(" ")}: ${stdout}${stderr}`);
      return stdout;
    };
    const call = async (tool: string, given: JsonObject): Promise<JsonObject> => {
      const named = Object.entries(given).flatMap(([name, value]) => {
        return ["--arg", `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`];
      });
      return JSON.parse(await said("client", "call", tool, ...named)) as JsonObject;
    };
    const resultOf = (answer: JsonObject): JsonObject => (answer["outcome"] as JsonObject)["result"] as JsonObject;
    await said("init");
    await Deno.writeTextFile(`${folder}/evidence/results.json`, '{"tests": {"exit_code": 0}}');
    // The people of the first part have to sign: the run is that of the others.
    await Deno.writeTextFile(`${folder}/tests.yaml`, parts.slice(1).reduce(withParts, whole));
    await Deno.writeTextFile(`${folder}/call.json`, await said("scenario", "json", "tests.yaml"));
    const record = { namespace_id: 2, schema_id: "instructions", version: "1", description: "How to run", schema: {} };
    await call("schemas_register", { record: { ...record, created_at: { kind: "unix_millis", value: 1 } } });
    const law = JSON.parse(await said("client", "call", "scenario_define", "--input", "call.json")) as JsonObject;
    const named = { namespace_id: 2, scenario_id: "tests-pass" };
    const started = resultOf(
      await call("scenario_start", {
        ...named,
        scenario_law_identity: law["scenario_law_identity"] ?? "",
        creation_request_id: "0123456789abcdef0123456789abcdef",
        correlation: { kind: "unset" },
        genesis: { kind: "empty" },
      }),
    );
    const { run_id = "" } = started["run_key"] as JsonObject;
    await Deno.writeTextFile(
      `${folder}/run.json`,
      JSON.stringify({ namespace_id: 2, run_id, scenario_id: "tests-pass" }),
    );
    const status = await said(
      ...["client", "call", "scenario_status", "--input", "run.json", "--arg", 'include=["missing"]'],
    );
    const { accepted_head, missing } = JSON.parse(status) as JsonObject;
    assert.deepEqual([accepted_head, (missing as JsonObject[]).length], [started["head"], 1]);
    const step = { expected_head: started["head"] ?? null, request_id: "7e9167e1b1bf2ae66c3a4bfb01f03fe5" };
    const stepped = resultOf(await call("scenario_next", { ...named, run_id, ...step }));
    assert.equal(stepped["run_status"], "complete");
    const opened = stepped["opened"] as { entry_intents: readonly JsonObject[] };
    assert.deepEqual(opened.entry_intents.map(({ packet_id, target }) => [packet_id, target]), [
      ["how-to-run", { kind: "agent", agent_id: "builder" }],
    ]);
  }));
