/** The flags of `gate serve` that name a collector of telemetry. */

import type { Collector } from "../../server/telemetry/exporter.ts";
import { CliError } from "../terminal/cli_error.ts";
import { secureUrl } from "../terminal/secure_url.ts";

/** A header of `--otlp-header`. */
export interface OtlpHeader {
  readonly name: string;
  /** The variable of the environment that has its value. */
  readonly variable: string;
}

/** Headers that the exporter sets itself. */
const OWN_HEADERS = ["content-type", "content-length", "host"];

/**
 * Reads `--otlp-endpoint` and `--otlp-header`.
 *
 * @throws {CliError} `usage` for an address that is neither https nor loopback, and for a header without a value
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { collectorOf } from "@/cli/serve/telemetry_flags.ts";
 *
 * assert.equal(collectorOf("http://127.0.0.1:4318/", []).endpoint, "http://127.0.0.1:4318");
 * assert.throws(() => collectorOf("http://collector.example.com:4318", []), /https/);
 * ```
 */
export function collectorOf(endpoint: string | undefined, headers: readonly string[]): Collector {
  if (endpoint === undefined) throw new CliError("usage", "Cannot use --otlp-header: --otlp-endpoint is missing");
  const { href } = parseEndpoint(endpoint);
  return { endpoint: href.replace(/\/+$/, ""), headers: Object.fromEntries(headers.map(parseHeader).map(withValue)) };
}

/**
 * The address of `--otlp-endpoint`.
 *
 * @throws {CliError} `usage`
 */
export function parseEndpoint(endpoint: string): URL {
  // An address with a credential in it is not shown.
  const shown = endpoint.includes("@") ? "" : ` "${endpoint}"`;
  const refuse = (why: string): CliError => new CliError("usage", `Cannot use --otlp-endpoint${shown}: ${why}`);
  const url = secureUrl(endpoint, refuse, "a credential in it would be logged: use --otlp-header");
  if (url.search !== "" || url.hash !== "") throw refuse("expected no query and no fragment");
  return url;
}

/**
 * The parts of `--otlp-header`.
 *
 * @throws {CliError} `usage`
 */
export function parseHeader(given: string): OtlpHeader {
  const [, name = "", variable = ""] = /^([A-Za-z0-9!#$%&'*+.^_`|~-]+)=env:([A-Za-z_][A-Za-z0-9_]*)$/.exec(given) ?? [];
  // The text is not shown: a value may stand in place of the variable.
  if (name === "") throw new CliError("usage", "Cannot read --otlp-header: expected NAME=env:VARIABLE");
  if (OWN_HEADERS.includes(name.toLowerCase())) {
    throw new CliError("usage", `Cannot use --otlp-header "${name}": gate sets it itself`);
  }
  return { name, variable };
}

function withValue({ name, variable }: OtlpHeader): readonly [string, string] {
  const value = Deno.env.get(variable) ?? "";
  if (value === "") throw new CliError("usage", `Cannot use --otlp-header "${name}": variable ${variable} is not set`);
  if (!/^[\x20-\x7e]+$/.test(value)) {
    throw new CliError("usage", `Cannot use --otlp-header "${name}": variable ${variable} is not one line of ASCII`);
  }
  return [name, value];
}
