/**
 * `deno task compile [TARGET] [--output FILE] [--config GATE_TOML | --profile PROFILE]`: one executable, for any configuration, with no
 * more permissions than one configuration needs, or for verification alone.
 *
 * @module
 */

import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { compile, TARGETS } from "./executable.ts";

/** Compiles; returns the exit code. */
async function main(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { output: { type: "string", default: "gate" }, config: { type: "string" }, profile: { type: "string" } },
  });
  const [target, ...rest] = positionals;
  if (rest.length > 0 || (target !== undefined && !TARGETS.includes(target))) {
    console.error(`Cannot compile for "${positionals.join(" ")}": targets are ${TARGETS.join(", ")}`);
    return 2;
  }
  const { profile = "serve" } = values;
  if ((profile !== "serve" && profile !== "verify") || (values.config !== undefined && values.profile !== undefined)) {
    console.error(`Cannot compile with profile "${profile}": expected serve or verify, and no configuration beside it`);
    return 2;
  }
  const { success, said } = await compile({
    target,
    profile,
    output: fromCaller(values.output),
    config: values.config === undefined ? null : fromCaller(values.config),
  });
  console.error(said.trimEnd());
  return success ? 0 : 1;
}

/** A path from the folder that the task was called in: tasks run in that of `deno.json`. */
function fromCaller(path: string): string {
  return resolve(Deno.env.get("INIT_CWD") ?? Deno.cwd(), path);
}

if (import.meta.main) Deno.exit(await main(Deno.args));
