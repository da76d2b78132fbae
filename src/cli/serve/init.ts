/**
 * `gate init`: writes a starter configuration, and creates the folder that it names.
 *
 * @module
 */

import { dirname, join, resolve } from "node:path";
import { DEFAULT_CONFIG_FILE } from "../../config/load.ts";
import { removedUnlessDone } from "../../store/unfinished.ts";
import { cannotWrite, writeNewFile } from "../terminal/new_file.ts";
import { type JsonFlag, writeAnswer } from "../terminal/output.ts";

/**
 * The starter file: durable stores, the local caller may register schemas, namespace 1 stays closed, and the providers `time`
 * and `json` can be bound.
 */
const STARTER_CONFIG = `# Configuration of gate. Relative paths count from the folder of this file.
#
#   gate config check    lists every problem of this file
#   gate config schema   prints the allowed members
#   gate doctor          checks this file and the machine

# Runs and scenario laws, on disk; with type "memory" they are lost at exit.
[run_state_store]
type = "sqlite"
path = ".gate/gate.db"

# Registered schemas, in the same file.
[schema_registry]
type = "sqlite"
path = ".gate/gate.db"

# Local callers may register and read schemas without a role.
[schema_registry.acl]
allow_local_only = true

# Namespace 1 is closed unless it is opened to tenants. Use namespace 2 or above, as the examples do:
#
#   scenario_define  { "spec": { "namespace_id": 2, ... } }
[namespace]
allow_default = false

# The time of day, for conditions such as "not before".
[[providers]]
name = "time"
type = "builtin"

# JSON and YAML files in the folder "evidence", which must exist.
[[providers]]
name = "json"
type = "builtin"
config = { root = "evidence", root_id = "checks" }
`;

/** The root folder of the provider `json` in the starter file; a server does not start without it. */
const STARTER_EVIDENCE_FOLDER = "evidence";

/** The flags of `gate init`. */
export interface InitOptions extends JsonFlag {
  readonly force?: boolean;
  readonly stdout?: boolean;
}

/** Runs `gate init [FILE]`. */
export async function runInit(file: string | undefined, options: InitOptions): Promise<number> {
  if (options.stdout === true) {
    const note = `Next: create the folder "${STARTER_EVIDENCE_FOLDER}" beside the file\n`;
    return writeAnswer("init", options, { path: null, content: STARTER_CONFIG }, STARTER_CONFIG, { note });
  }
  const path = resolve(file ?? DEFAULT_CONFIG_FILE);
  await writeNewFile(path, STARTER_CONFIG, { createNew: options.force !== true, hint: "--force replaces it" });
  const evidence = join(dirname(path), STARTER_EVIDENCE_FOLDER);
  await removedUnlessDone(
    options.force === true ? [] : [path],
    () =>
      Deno.mkdir(evidence, { recursive: true }).catch((error) => {
        throw cannotWrite(evidence, error);
      }),
  );
  const result = { path, content: STARTER_CONFIG };
  return writeAnswer("init", options, result, `${path}\n`, { note: "Next: gate doctor\n" });
}
