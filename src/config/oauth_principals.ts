/** Reads the file of `--oauth-principals`, which maps access tokens to principals and their roles. */

import { listOf, type Read } from "../canonical/shape.ts";
import { characters, optional, patterned, table } from "../canonical/table_shape.ts";
import { readTree } from "./parse.ts";
import { filled, httpUrl } from "./primitives.ts";
import { ConfigError, problemCollector } from "./problems.ts";
import { uniqueMembers } from "./rules.ts";
import { readSettings } from "./schema_messages.ts";
import { role } from "./sections/server.ts";
import { arrayAt, at } from "./toml_tree.ts";

/** Bytes of the file. */
export const PRINCIPALS_FILE_BYTES = 1_048_576;

/** Most entries of the file. */
export const PRINCIPALS = 1024;

/** Bytes of the scopes of an issuer, which each challenge has. */
export const SCOPES_BYTES = 2048;

/** The media type of an access token (RFC 9068, 2.1), without `application/`. */
export const ACCESS_TOKEN_TYPE = "at+jwt";

/** Members that say which tokens an entry is for; each entry has one. */
const SELECTORS = ["subject", "client_id", "scope", "claim"] as const;

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
/** A scope of RFC 6749, 3.3. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]{1,256}$/;
const TYPE = /^[A-Za-z0-9][A-Za-z0-9.+_/-]{0,63}$/;

const principal = table({
  name: patterned(characters(1), NAME, "must be 1 to 64 letters, digits, dots, dashes and underscores"),
  roles: listOf(role, 128),
  issuer: httpUrl(),
  typ: optional(patterned(characters(1), TYPE, 'must be a media type such as "JWT"')),
  subject: optional(filled(512)),
  client_id: optional(filled(512)),
  scope: optional(patterned(characters(1), SCOPE, "must be one scope of at most 256 characters")),
  claim: optional(table({ name: filled(128), value: filled(512) })),
});
const file = table({ principal: listOf(principal, PRINCIPALS, 1) });

/** An entry of the file: the tokens that it is for, and the roles of their caller. */
export type OAuthPrincipal = Read<typeof principal>;

/** The scopes that a client may ask an issuer for: those of entries that give a role. */
export function scopesOf(principals: readonly OAuthPrincipal[], of: string): readonly string[] {
  const own = principals.filter(({ issuer, roles }) => issuer === of && roles.length > 0);
  return [...new Set(own.flatMap(({ scope }) => scope ?? []))];
}

/**
 * Reads the file.
 *
 * @param path The file, for problems
 * @param issuers The issuers of `--oauth-issuer`
 * @throws {ConfigError} With every problem of the file
 */
export function parseOAuthPrincipals(
  bytes: Uint8Array,
  path: string,
  issuers: readonly string[],
): readonly OAuthPrincipal[] {
  const { report, problems } = problemCollector();
  const tree = readTree(bytes, path, report);
  const found = readSettings(file, tree, [], report);
  uniqueMembers(tree, ["principal"], "name", report);
  arrayAt(tree, ["principal"]).forEach((entry, index) => {
    const given = SELECTORS.filter((name) => at(entry, [name]) !== undefined);
    if (given.length !== 1) {
      const expected = `must have one of ${SELECTORS.join(", ")}`;
      report(["principal", index], `${expected}, got ${given.length === 0 ? "none" : given.join(" and ")}`);
    }
    const issuer = at(entry, ["issuer"]);
    if (typeof issuer === "string" && !issuers.includes(issuer)) {
      report(["principal", index, "issuer"], "must be an issuer of --oauth-issuer, with the same characters");
    }
  });
  const entries = found?.principal ?? [];
  for (const issuer of issuers) {
    const over = entries.findIndex((_, at) =>
      scopesOf(entries.slice(0, at + 1), issuer).join(" ").length > SCOPES_BYTES
    );
    if (over < 0) continue;
    report(["principal", over, "scope"], `must leave the scopes of its issuer at most ${SCOPES_BYTES} bytes together`);
  }
  const all = problems();
  if (all.length > 0 || found === undefined) throw new ConfigError(path, all);
  return found.principal;
}
