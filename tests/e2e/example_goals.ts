/**
 * The worked examples of the documentation, each with a folder of its own to run in, and what is true in their worlds.
 *
 * @module
 */

import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import type { JsonObject, JsonValue } from "@/canonical/json.ts";
import { assertPublished } from "../answers.ts";
import type { Goal, SeenServer } from "./agent_script.ts";
import { gate, gateArgs, inFolder, processOf } from "./gate_command.ts";

/** An example, and what is found out in it. */
export interface Example {
  readonly name: string;
  readonly file: string;
  readonly facts: Readonly<Record<string, JsonValue>>;
  /** Of a law with parameters. */
  readonly genesis?: JsonObject;
  /** Stages in an order in which they can be passed. */
  readonly stages: readonly string[];
}

const DIGEST = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

/** The commit that good results are of. */
export const COMMIT = "3a7bd3e2360a3d29eea436fcfb7e44c735d117c4";

/** The genesis of a run of the release gate. */
export function releaseOf(version: string, commit: string): JsonObject {
  const given = (parameter_id: string, value: string): JsonObject => ({
    parameter_id,
    value: { value, value_type: "String" },
  });
  return { kind: "parameters", parameters: [given("version", version), given("commit", commit)] };
}

/** The release gate, all of whose evidence gate fetches itself; its endpoint is up in `withRelease()` alone. */
export const RELEASE_GATE: Example = {
  name: "release_gate",
  file: "scenario.yaml",
  facts: {},
  genesis: releaseOf("0.1.0", COMMIT),
  stages: ["static-checks", "tests", "release"],
};

/** The database migration, which asks three services; a test of its own runs it against them. */
export const DATABASE_MIGRATION: Example = {
  name: "database_migration",
  file: "scenario.yaml",
  facts: {},
  stages: ["migration"],
};

/** The examples that need nothing but their folder. */
export const EXAMPLES: readonly Example[] = [
  {
    name: "data_disclosure",
    file: "scenario.yaml",
    facts: { purpose: "support", contract_in_force: true, direct_identifiers: 0, smallest_group: 12, received: true },
    stages: ["request", "analysis", "share-extract"],
  },
  {
    name: "change_approval",
    file: "scenario.yaml",
    facts: { change_digest: DIGEST, tests_failed: 0, approved: true, window_open: true, deployed_digest: DIGEST },
    stages: ["checks", "approval", "deploy"],
  },
  {
    name: "agent_task",
    file: "scenario.yaml",
    facts: {
      acceptance_criteria: 3,
      unit_tests_pass: true,
      types_check: true,
      linter_clean: false,
      touches_secrets: false,
      files_changed: 7,
      summary: "Adds retries. Tested: unit tests.",
    },
    stages: ["plan", "work", "hand-over"],
  },
  {
    name: "model_promotion",
    file: "scenario.json",
    facts: { model_card: { model: "ticket-router-7", intended_use: "routing of tickets", limits: ["English only"] } },
    stages: ["document", "evaluate", "canary"],
  },
];

/** An example in a folder of its own. */
export interface Staged {
  readonly folder: string;
  readonly goal: Goal;
}

/** Copies an example to a fresh folder, with the key of an approver in it, and runs a body there. */
export async function withExample(
  example: Example,
  body: (staged: Staged) => Promise<void>,
  prepare: (folder: string) => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  await inFolder(async (folder) => {
    await copyFolder(new URL(`../../docs/examples/${example.name}/`, import.meta.url).pathname, folder);
    await prepare(folder);
    assert.equal((await gate(folder, "key", "create", "keys/approver.key")).code, 0);
    const printed = await gate(folder, "scenario", "json", example.file, ...await configOf(folder));
    assert.equal(printed.code, 0, printed.stdout + printed.stderr);
    const { spec } = JSON.parse(printed.stdout) as { spec: JsonObject };
    const schemas = JSON.parse(await Deno.readTextFile(`${folder}/schemas.json`).catch(() => "[]")) as JsonObject[];
    const genesis = example.genesis === undefined ? {} : { genesis: example.genesis };
    const sign = (asked: JsonObject): Promise<JsonObject> => approve(folder, asked);
    await body({ folder, goal: { spec, schemas, facts: example.facts, sign, ...genesis } });
  });
}

async function copyFolder(from: string, to: string): Promise<void> {
  for await (const { name, isDirectory } of Deno.readDir(from)) {
    // Left by whoever tried the example where it stands.
    if (name === ".gate") continue;
    if (!isDirectory) await Deno.copyFile(`${from}/${name}`, `${to}/${name}`);
    else {
      await Deno.mkdir(`${to}/${name}`);
      await copyFolder(`${from}/${name}`, `${to}/${name}`);
    }
  }
}

/** What a person does who is asked to approve. */
export async function approve(folder: string, asked: JsonObject): Promise<JsonObject> {
  const { record_id, revision } = asked["expected_head"] as { record_id: string; revision: number };
  const flags: Readonly<Record<string, JsonValue | undefined>> = {
    key: "keys/approver.key",
    namespace: asked["namespace_id"],
    law: asked["scenario_law_identity"],
    run: asked["run_id"],
    stage: asked["stage_id"],
    condition: asked["condition_id"],
    head: `${record_id}:${revision}`,
  };
  const words = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const { code, stdout, stderr } = await gate(
    folder,
    "evidence",
    "sign",
    ...words,
    "--value",
    JSON.stringify(asked["value"]),
  );
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout) as JsonObject;
}

/** The flags that name the configuration of a folder, where one lies there. */
export async function configOf(folder: string): Promise<readonly string[]> {
  const config = `${folder}/gate.toml`;
  return await Deno.stat(config).then(() => ["--config", config], () => []);
}

/** Runs a body with a server that was started in a folder, on the configuration that lies there, if one does. */
export async function withServerIn(folder: string, body: (server: SeenServer) => Promise<void>): Promise<void> {
  const client = new Client({ name: "suite", version: "1" }, { versionNegotiation: { mode: "auto" } });
  const { command, args } = processOf(gateArgs("serve", "--log-level", "error", ...await configOf(folder)));
  await client.connect(new StdioClientTransport({ command, args: [...args], cwd: folder, stderr: "ignore" }));
  try {
    const { tools } = await client.listTools();
    await body({
      instructions: client.getInstructions() ?? "",
      tools,
      call: async (name, input) => {
        const answer = await client.callTool({ name, arguments: input as Record<string, unknown> });
        await assertPublished(name, answer.structuredContent as JsonObject);
        return answer.structuredContent as JsonObject;
      },
    });
  } finally {
    await client.close();
  }
}
