/**
 * The worked examples of the documentation, each with a folder of its own to run in, and what is true in their worlds.
 *
 * @module
 */

import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import type { JsonObject, JsonValue } from "@/canonical/json.ts";
import { assertPublished } from "../../answers.ts";
import type { Goal, SeenServer } from "./agent_script.ts";
import { gate, gateArgs, inFolder, processOf } from "../gate_command.ts";

/** An example, and what is found out in it. */
export interface Example {
  readonly name: string;
  readonly file: string;
  readonly facts: Readonly<Record<string, JsonValue>>;
  /** Of a law with parameters. */
  readonly genesis?: JsonObject;
  /** Stages in an order in which they can be passed. */
  readonly stages: readonly string[];
  /** The key ids of the people who approve; none unless given. */
  readonly people?: readonly string[];
  /** The key ids of those who may sign, where the run gets on without them. */
  readonly others?: readonly string[];
}

/** The commit that good results are of. */
export const COMMIT = "3a7bd3e2360a3d29eea436fcfb7e44c735d117c4";

/** The genesis of a run of the release gate. */
export function releaseOf(version: string, commit: string): JsonObject {
  return genesisOf({ version, commit });
}

/** The genesis of a run with parameters that are strings. */
function genesisOf(values: Readonly<Record<string, string>>): JsonObject {
  const parameters = Object.entries(values).map(([parameter_id, value]) => ({
    parameter_id,
    value: { value, value_type: "String" },
  }));
  return { kind: "parameters", parameters };
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
    others: ["privacy-officer"],
  },
  {
    name: "change_approval",
    file: "scenario.yaml",
    facts: { tested_commit: COMMIT, tests_failed: 0 },
    genesis: genesisOf({ commit: COMMIT }),
    stages: ["checks", "approval"],
    people: ["alice", "bob"],
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
    others: ["maintainer"],
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

/** Copies an example to a fresh folder, with the keys of its people, and runs a body there. */
export async function withExample(
  example: Example,
  body: (staged: Staged) => Promise<void>,
  prepare: (folder: string) => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const { name, file, facts, genesis, people = [], others = [] } = example;
  await inFolder(async (folder) => {
    await copyFolder(new URL(`../../../docs/examples/${name}/`, import.meta.url).pathname, folder);
    await prepare(folder);
    for (const person of [...people, ...others]) {
      const key = `keys/${person}.key`;
      await succeed(folder, "key", "create", key);
      await succeed(folder, "key", "trust", `${key}.pub`, "--name", person);
    }
    const { spec } = JSON.parse(await succeed(folder, "scenario", "json", file, ...await configOf(folder)));
    const schemas = JSON.parse(await Deno.readTextFile(`${folder}/schemas.json`).catch(() => "[]")) as JsonObject[];
    const decide = async (run: string): Promise<void> => {
      for (const person of people) {
        await succeed(folder, "approve", run, "--key", `keys/${person}.key`, "--yes", ...await keysOf(folder));
      }
    };
    await body({ folder, goal: { spec, schemas, facts, decide, ...genesis === undefined ? {} : { genesis } } });
  });
}

/** The folder of the keys that a server trusts. */
const KEYS_OF_PEOPLE = "evidence-keys";

/** Runs a command that must succeed; gives its output. */
async function succeed(folder: string, ...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await gate(folder, ...args);
  assert.equal(code, 0, stdout + stderr);
  return stdout;
}

async function copyFolder(from: string, to: string): Promise<void> {
  for await (const { name, isDirectory } of Deno.readDir(from)) {
    // Left by a trial of the example where it stands.
    if ([".gate", "keys", KEYS_OF_PEOPLE].includes(name)) continue;
    if (!isDirectory) await Deno.copyFile(`${from}/${name}`, `${to}/${name}`);
    else {
      await Deno.mkdir(`${to}/${name}`);
      await copyFolder(`${from}/${name}`, `${to}/${name}`);
    }
  }
}

/** The flags that name the configuration of a folder, where one lies there. */
export function configOf(folder: string): Promise<readonly string[]> {
  return flagOf("--config", `${folder}/gate.toml`);
}

/** The flags that name the keys of people of a folder, where there are any. */
export function keysOf(folder: string): Promise<readonly string[]> {
  return flagOf("--evidence-keys", `${folder}/${KEYS_OF_PEOPLE}`);
}

async function flagOf(flag: string, path: string): Promise<readonly string[]> {
  return await Deno.stat(path).then(() => [flag, path], () => []);
}

/** Runs a body with a server that was started in a folder, on the configuration that lies there, if one does. */
export async function withServerIn(folder: string, body: (server: SeenServer) => Promise<void>): Promise<void> {
  const client = new Client({ name: "suite", version: "1" }, { versionNegotiation: { mode: "auto" } });
  const flags = [...await configOf(folder), ...await keysOf(folder)];
  const { command, args } = processOf(gateArgs("serve", "--log-level", "error", ...flags));
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
