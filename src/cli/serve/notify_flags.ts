/** The flags of `gate serve` that name a receiver of events. */

import type { Receiver } from "../../tools/notifications/open.ts";
import { secretOf } from "../../tools/notifications/signature.ts";
import { CliError } from "../terminal/cli_error.ts";
import { secureUrl } from "../terminal/secure_url.ts";

/**
 * Reads `--notify` and `--notify-secret`.
 *
 * @throws {CliError} `usage` for an address that is neither https nor loopback, and for a secret that is not there
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { receiverOf } from "@/cli/serve/notify_flags.ts";
 *
 * assert.throws(() => receiverOf("http://hooks.example.com", "env:SECRET"), /expected https/);
 * assert.throws(() => receiverOf("https://hooks.example.com", undefined), /--notify-secret is missing/);
 * ```
 */
export function receiverOf(url: string | undefined, secret: string | undefined): Receiver {
  const { href, variable } = checkReceiverFlags(url, secret);
  const value = Deno.env.get(variable) ?? "";
  if (value === "") throw new CliError("usage", `Cannot use --notify-secret: variable ${variable} is not set`);
  const bytes = secretOf(value);
  if (bytes !== null) return { url: href, secret: bytes };
  const why = `variable ${variable} has no secret: expected "whsec_" and base64 of 24 to 64 bytes`;
  throw new CliError("usage", `Cannot use --notify-secret: ${why}`, "openssl rand -base64 32 makes the base64");
}

/**
 * The address and the variable of both flags, without a look into the environment.
 *
 * @throws {CliError} `usage`
 */
export function checkReceiverFlags(
  url: string | undefined,
  secret: string | undefined,
): { readonly href: string; readonly variable: string } {
  if (url === undefined) throw new CliError("usage", "Cannot use --notify-secret: --notify is missing");
  const { href } = parseReceiver(url);
  if (secret === undefined) throw new CliError("usage", "Cannot use --notify: --notify-secret is missing");
  return { href, variable: parseSecret(secret) };
}

/**
 * The address of `--notify`. It is not shown: its path can be a credential.
 *
 * @throws {CliError} `usage`
 */
export function parseReceiver(given: string): URL {
  const refuse = (why: string): CliError => new CliError("usage", `Cannot use --notify: ${why}`);
  const url = secureUrl(given, refuse, "expected no user and no password in it");
  if (url.hash !== "") throw refuse("expected no fragment");
  return url;
}

/**
 * The variable of `--notify-secret`.
 *
 * @throws {CliError} `usage`
 */
export function parseSecret(given: string): string {
  const [, variable] = /^env:([A-Za-z_][A-Za-z0-9_]*)$/.exec(given) ?? [];
  // The text is not shown: a secret may stand in place of the variable.
  if (variable === undefined) throw new CliError("usage", "Cannot read --notify-secret: expected env:VARIABLE");
  return variable;
}
