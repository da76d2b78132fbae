/** The built-in providers (docs/reference/providers.md). */

import type { BuiltinProviderEntry } from "../../config/types.ts";
import { builtinContract } from "../contract/builtin.ts";
import type { Provider } from "../types.ts";
import {
  type BuiltinProviderOptions,
  dependenciesOf,
  type Engine,
  type ProviderDependencies,
  providerOf,
} from "./engine.ts";
import { createCalendarEngine } from "./calendar_provider.ts";
import { createEnvEngine } from "./env_provider.ts";
import { createHttpEngine } from "./http_provider.ts";
import { createJsonEngine } from "./json_provider.ts";
import { createRestEngine } from "./rest_provider.ts";
import { createTimeEngine } from "./time_provider.ts";

/**
 * Creates a built-in provider. Its workers start with the first query.
 *
 * @param entry Its entry in the configuration
 * @param options Its dependencies; those of the host by default
 * @throws {ProviderSetupError} Where the configuration cannot be used
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { createBuiltinProvider } from "@/evidence/builtin/provider.ts";
 *
 * const provider = createBuiltinProvider({
 *   name: "time",
 *   type: "builtin",
 *   config: { allow_logical: true },
 *   url: null,
 *   command: [],
 *   allow_insecure_http: false,
 *   allow_raw: true,
 *   auth: null,
 *   capabilities_path: null,
 *   runtime_profile_path: null,
 *   typed_protocol: null,
 *   trust: null,
 *   timeouts: { connect_timeout_ms: 2000, request_timeout_ms: 10000 },
 * });
 * const answer = await provider.query(
 *   { provider_id: "time", check_id: "after", params: { timestamp: "2024-01-01T00:00:00Z" } },
 *   { namespace_id: 2, trigger_time: { kind: "unix_millis", value: 1717243200000 } },
 *   new AbortController().signal,
 * );
 * assert.deepEqual(answer.ok && answer.result.value, { kind: "json", value: true });
 * await provider.close();
 * ```
 */
export function createBuiltinProvider(entry: BuiltinProviderEntry, options: BuiltinProviderOptions = {}): Provider {
  const dependencies = dependenciesOf(options);
  const loaded = builtinContract(entry.name);
  const engine = createEngine(entry, dependencies);
  const own = { provider_id: entry.name, kind: "builtin", loaded, allow_raw: entry.allow_raw } as const;
  return providerOf(own, engine);
}

function createEngine(entry: BuiltinProviderEntry, dependencies: ProviderDependencies): Engine {
  switch (entry.name) {
    case "time":
      return createTimeEngine(entry, dependencies);
    case "calendar":
      return createCalendarEngine();
    case "env":
      return createEnvEngine(entry, dependencies);
    case "json":
      return createJsonEngine(entry, dependencies);
    case "http":
      return createHttpEngine(entry, dependencies);
    case "rest":
      return createRestEngine(entry, dependencies);
  }
}
