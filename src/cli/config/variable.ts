/**
 * What the environment says of the configuration, for commands that do with leave to read.
 *
 * @module
 */

/** The value of `GATE_CONFIG` where this process may see it, else nothing. */
export function configVariable(): string {
  const { state } = Deno.permissions.querySync({ name: "env", variable: "GATE_CONFIG" });
  return state === "granted" ? Deno.env.get("GATE_CONFIG") ?? "" : "";
}
