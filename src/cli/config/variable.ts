/**
 * Reads `GATE_CONFIG` for commands that may run without permission for the environment.
 *
 * @module
 */

/** The value of `GATE_CONFIG`; empty if it is unset or the process may not read it. */
export function configVariable(): string {
  const { state } = Deno.permissions.querySync({ name: "env", variable: "GATE_CONFIG" });
  return state === "granted" ? Deno.env.get("GATE_CONFIG") ?? "" : "";
}
