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
