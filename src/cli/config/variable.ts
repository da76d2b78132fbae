/**
 * Variables of the environment that a configuration depends on, for commands that may run without permission to read
 * them.
 */

import { resolveAddress, variableOfUrl } from "../../config/postgres_address.ts";
import { tokenProblems } from "../../config/bearer_tokens.ts";
import { sha256 } from "../../evidence/host_primitives.ts";
import { isGranted } from "../permissions/grants.ts";
import type { ConfigProblem } from "../../config/problems.ts";
import type { GateConfig } from "../../config/types.ts";

/** Problems of the variables that hold addresses of databases; those that the process may not read have none. */
export function databaseProblems(config: GateConfig): readonly ConfigProblem[] {
  return (["run_state_store", "schema_registry"] as const).flatMap((section) => {
    const { type, url } = config[section];
    const variable = variableOfUrl(url ?? "");
    if (type !== "postgres" || url === null || variable === null || !isGranted({ name: "env", variable })) return [];
    const address = resolveAddress(url, readVariable);
    return "fault" in address ? [{ path: `${section}.url`, message: address.fault }] : [];
  });
}

/** Problems of the variables that hold bearer tokens; those that the process may not read have none. */
export function bearerProblems(config: GateConfig): readonly ConfigProblem[] {
  const read = (variable: string): string | undefined =>
    isGranted({ name: "env", variable }) ? Deno.env.get(variable) : "unread";
  return tokenProblems(config, read, sha256);
}

/** The value of a variable; undefined if it is unset or the process may not read it. */
export function readVariable(variable: string): string | undefined {
  return isGranted({ name: "env", variable }) ? Deno.env.get(variable) : undefined;
}

/** The value of `GATE_CONFIG`; empty if it is unset or the process may not read it. */
export function configVariable(): string {
  return readVariable("GATE_CONFIG") ?? "";
}
