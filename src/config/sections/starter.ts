/** The configuration of a newcomer: the file of `gate init`, and the same settings for a data folder without a file. */

import { join } from "node:path";
import { parseConfig } from "../parse.ts";
import type { GateConfig } from "../types.ts";

/**
 * The starter file: durable stores, the local caller may register schemas, namespace 1 stays closed, and the providers
 * `time` and `json` can be bound.
 */
export const STARTER_CONFIG = `# Configuration of gate. Relative paths count from the folder of this file.
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
export const STARTER_EVIDENCE_FOLDER = "evidence";

/** The settings of the starter file for a data folder, which holds the store and the folder of the provider `json`. */
export async function starterIn(dataDir: string): Promise<GateConfig> {
  const text = STARTER_CONFIG.replaceAll(".gate/gate.db", "gate.db");
  const config = await parseConfig(new TextEncoder().encode(text), join(dataDir, "gate.toml"), false);
  return { ...config, config_path: null };
}
