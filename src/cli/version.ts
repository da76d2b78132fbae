/** `gate --version`: identifies the build. */

import process from "node:process";
import { VERSION } from "../config/product_version.ts";
import { CliError } from "./terminal/cli_error.ts";
import { EXIT } from "./terminal/exit_codes.ts";
import { writeOut, writeResult } from "./terminal/output.ts";

/** The versions that identify a build. */
export interface BuildIdentity {
  readonly version: string;
  readonly deno: string;
  readonly v8: string;
  readonly typescript: string;
  readonly sqlite: string | null;
  /** The target platform, such as `x86_64-unknown-linux-gnu`. */
  readonly target: string;
  /** Whether the build is a compiled binary. */
  readonly standalone: boolean;
}

/** The identity of the running build. */
function buildIdentity(): BuildIdentity {
  return {
    version: VERSION,
    deno: Deno.version.deno,
    v8: Deno.version.v8,
    typescript: Deno.version.typescript,
    sqlite: process.versions["sqlite"] ?? null,
    target: Deno.build.target,
    standalone: Deno.build.standalone,
  };
}

/** Runs `gate --version` with the arguments after it. */
export function runVersion(argv: readonly string[]): number {
  const unknown = argv.find((argument) => argument !== "--json");
  if (unknown !== undefined) throw new CliError("usage", `Unknown argument "${unknown}" after --version`);
  if (argv.includes("--json")) writeResult("version", buildIdentity());
  else writeOut(`gate ${VERSION}\n`);
  return EXIT.ok;
}
