/**
 * What a compiled gate carries along besides the modules that are imported, and how it is compiled.
 *
 * @module
 */

import { DEFAULT_DOCS } from "../../docs/default_docs.ts";

/** Modules that are started by name and not imported: a compiled program has to be told of them. */
const WORKER_MODULES: readonly string[] = [
  "src/evidence/builtin/env_worker.ts",
  "src/evidence/builtin/json_worker.ts",
  "src/evidence/builtin/request_worker.ts",
  "src/evidence/builtin/select_worker.ts",
  "src/evidence/builtin/time_worker.ts",
  "src/evidence/sandbox/schema_worker.ts",
  "src/store/backup_worker.ts",
  "src/tools/packs/pack_worker.ts",
];

/** Files that have to be named to be embedded, from the root of the checkout: workers, and the documents of the service. */
export const EMBEDDED_FILES: readonly string[] = [
  ...WORKER_MODULES,
  ...DEFAULT_DOCS.flatMap(({ files }) => files.map((file) => `docs/${file}`)),
];

/**
 * Flags of `deno compile` for every gate: no code from the network, none of the packages of tests, and no cache of
 * compiled code in a place of the disk that others can foresee.
 */
export const COMPILE_FLAGS: readonly string[] = [
  "--frozen",
  "--deny-import",
  "--no-code-cache",
  "--exclude-unused-npm",
];
