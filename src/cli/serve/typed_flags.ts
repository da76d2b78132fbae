/** The flags of `gate serve` about typed providers. */

import { resolve } from "node:path";
import type { TypedHost } from "../../evidence/typed/grants.ts";
import { CliError } from "../terminal/cli_error.ts";

/**
 * The hosts of `--typed-host`.
 *
 * @throws {CliError} If a value is not `HOST[:PORT][=CREDENTIAL,...]`
 */
export async function typedHostsOf(values: readonly string[]): Promise<readonly TypedHost[]> {
  if (values.length === 0) return [];
  const { parseTypedHost } = await import("../../evidence/typed/host_flag.ts");
  return values.map((value) => {
    const host = parseTypedHost(value);
    if (host !== null) return host;
    // The value may contain a secret in place of its locator.
    const [shown] = value.split("=");
    throw new CliError(
      "usage",
      `Cannot use --typed-host "${shown}": it is not HOST[:PORT][=CREDENTIAL,...]`,
      "a credential is file://NAME or env://NAME",
    );
  });
}

/**
 * The absolute path of `--credentials-dir`, without links.
 *
 * @throws {CliError} If it is not a folder that can be read
 */
export async function credentialsFolder(value: string): Promise<string> {
  const folder = resolve(value);
  try {
    if ((await Deno.stat(folder)).isDirectory) return await Deno.realPath(folder);
  } catch {
    // The error below covers every reason.
  }
  throw new CliError("usage", `Cannot use --credentials-dir "${value}": it is not a folder that can be read`);
}
