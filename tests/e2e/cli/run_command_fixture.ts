/**
 * Laws and evidence for tests of `gate run`, and processes that a test kills.
 *
 * @module
 */

import type { JsonObject } from "../../../src/canonical/json.ts";
import { gateArgs, processOf } from "../gate_command.ts";

const IS_TRUE = "predicate: { predicate: Equals, expected: { value: true, value_type: Boolean } }";

/** A law of 15 lines: two stages in a row, each with one condition that callers send evidence on. */
export const LAW: string = `spec_version: dag-v3
scenario_id: release
namespace_id: 2
conditions:
  - { condition_id: built, observation_domain: { domain: Boolean }, ${IS_TRUE} }
  - { condition_id: deployed, observation_domain: { domain: Boolean }, ${IS_TRUE} }
stages:
  - stage_id: build
    prerequisite: { kind: root }
    completion_requirement: { Condition: built }
    entry_packets: []
  - { stage_id: deploy, entry_packets: [], completion_requirement: { Condition: deployed },
      prerequisite: { kind: requires, requirement: { Condition: build } } }
completion_requirement: { Condition: deploy }
`;

/** The law with both stages at the root, complete when both are. */
export const PARALLEL_LAW: string = LAW
  .replace("{ kind: requires, requirement: { Condition: build } }", "{ kind: root }")
  .replace(
    "completion_requirement: { Condition: deploy }\n",
    "completion_requirement: { And: [{ Condition: build }, { Condition: deploy }] }\n",
  );

/** The law with two parameters: `deployed` must have the value of `version`. */
export const PARAMETER_LAW: string = LAW
  .replace(
    "namespace_id: 2\n",
    `namespace_id: 2
parameters:
  - { parameter_id: version, domain: { domain: String, minimum_bytes: 1, maximum_bytes: 8 } }
  - { parameter_id: build, domain: { domain: Integer } }
`,
  )
  .replace(
    `deployed, observation_domain: { domain: Boolean }, ${IS_TRUE}`,
    "deployed, observation_domain: { domain: String, minimum_bytes: 1, maximum_bytes: 8 }, " +
      "predicate: { predicate: Equals, expected: { parameter: version } }",
  );

/** Evidence items as a file has them. */
export function evidence(values: Readonly<Record<string, boolean | string>>): string {
  const items: JsonObject[] = Object.entries(values).map(([condition_id, value]) => ({
    condition_id,
    retention: { retention: "RetainCanonicalValue" },
    value: { value, value_type: typeof value === "string" ? "String" : "Boolean" },
  }));
  return JSON.stringify(items);
}

/** A `gate` process that a test kills. */
export interface KillableGate {
  readonly process: Deno.ChildProcess;
  /** Kills it with SIGKILL and waits for its end. */
  readonly kill: () => Promise<void>;
}

/** Starts `gate` in a folder. */
export function startGate(cwd: string, ...args: readonly string[]): KillableGate {
  const { command, args: given } = processOf(gateArgs(...args));
  const process = new Deno.Command(command, {
    args: [...given],
    cwd,
    env: { NO_COLOR: "1", GATE_CONFIG: "" },
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  return {
    process,
    kill: async () => {
      process.kill("SIGKILL");
      await process.status;
    },
  };
}

/** A file of evidence that `gate run` can read only when the test writes it. */
export interface EvidencePipe {
  /** Waits until the next look opens the file; gives the end to write to. */
  readonly opened: () => Promise<Deno.FsFile>;
  /** Waits until the next look opens the file, and lets it read some evidence. */
  readonly write: (values: Readonly<Record<string, boolean>>) => Promise<void>;
}

/** Makes a pipe at a path. Each look gets a pipe of its own, so that two looks never share one. */
export async function evidencePipe(path: string): Promise<EvidencePipe> {
  const make = async (at: string): Promise<void> => void await new Deno.Command("mkfifo", { args: [at] }).output();
  await make(path);
  const opened = async (): Promise<Deno.FsFile> => {
    const writer = await Deno.open(path, { write: true });
    await make(`${path}.next`);
    await Deno.rename(`${path}.next`, path);
    return writer;
  };
  return {
    opened,
    write: async (values) => {
      using writer = await opened();
      await writer.write(new TextEncoder().encode(evidence(values)));
    },
  };
}
