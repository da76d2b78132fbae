/**
 * The configuration that `gate init` writes.
 *
 * @module
 */

/**
 * The starter file: durable stores, the local caller may register schemas, namespace 1 stays closed, and the providers `time` and `json`
 * can be bound.
 */
export const STARTER_CONFIG = `# Configuration of gate. Relative paths count from the folder of this file.
#
#   gate config check    says everything that is wrong with it
#   gate config schema   prints what it may hold
#   gate doctor          says what would refuse a newcomer

# Runs and scenario laws, on disk; with "memory" they would be forgotten at exit.
[run_state_store]
type = "sqlite"
path = ".gate/gate.db"

# Registered schemas; the same file serves both.
[schema_registry]
type = "sqlite"
path = ".gate/gate.db"

# A local caller may register and read schemas without a role.
[schema_registry.acl]
allow_local_only = true

# Namespace 1 is refused unless it is opened to tenants. Use namespace 2 or above, as the examples do:
#
#   scenario_define  { "spec": { "namespace_id": 2, ... } }
[namespace]
allow_default = false

# The time of day, for conditions such as "not before".
[[providers]]
name = "time"
type = "builtin"

# JSON and YAML files below the folder "evidence", which has to be there.
[[providers]]
name = "json"
type = "builtin"
config = { root = "evidence", root_id = "checks" }
`;

/** The folder that the starter file names as the root of the provider `json`; a server does not start without it. */
export const STARTER_EVIDENCE_FOLDER = "evidence";
