/** `gate provider list`: lists the providers of a configuration with their checks. */

import { EXIT } from "../terminal/exit_codes.ts";
import { writeError, writeOut, writeResult } from "../terminal/output.ts";
import { type ProviderFlags, withProviders } from "./session.ts";
import { columns } from "../terminal/text.ts";

/** Runs `gate provider list`. It loads contracts and starts no provider. */
export async function runProviderList(options: ProviderFlags): Promise<number> {
  return await withProviders(options, ({ config, providers }) => {
    const listed = [...providers.values()].map(({ provider_id, kind, loaded }) => ({
      provider_id,
      kind,
      contract_identity: loaded.contract_identity,
      contract_hash: loaded.contract_hash,
      source: loaded.source,
      ...loaded.provider_version === undefined ? {} : {
        version: loaded.version ?? null,
        provider_version_identity: loaded.provider_version.identity,
      },
      checks: loaded.contract.checks.map(({ check_id, determinism, params_required }) => ({
        check_id,
        determinism,
        params_required,
      })),
    }));
    if (options.json === true) writeResult("provider list", { config_path: config.config_path, providers: listed });
    else if (listed.length === 0) writeError("No provider is configured\n");
    else {
      const rows = listed.flatMap(({ provider_id, kind, checks }) =>
        checks.map(({ check_id, determinism }) => [provider_id, kind, check_id, determinism])
      );
      writeOut(columns([["PROVIDER", "KIND", "CHECK", "DETERMINISM"], ...rows]));
    }
    return Promise.resolve(EXIT.ok);
  });
}
