/**
 * The section `namespace`: its schema, and the rules over several of its members.
 *
 * @module
 */

import { z } from "zod";
import { DEFAULT_SETTINGS, LEDGER_DEFAULTS } from "./defaults.ts";
import { httpUrl, integer, token } from "./primitives.ts";
import type { Report } from "./problems.ts";
import { at } from "./toml_tree.ts";

const D = DEFAULT_SETTINGS.namespace;

const ledger = z.strictObject({
  base_url: httpUrl().regex(/^[^?#]*$/, { error: "must not hold a query or fragment" }).describe(
    "Address of the service that knows the namespaces.",
  ),
  auth_token: token().nullable().default(null).describe("Bearer token for it."),
  connect_timeout_ms: integer(100, 10000).default(LEDGER_DEFAULTS.connect_timeout_ms)
    .describe("Milliseconds to wait for a connection."),
  request_timeout_ms: integer(500, 30000).default(LEDGER_DEFAULTS.request_timeout_ms)
    .describe("Milliseconds to wait for an answer."),
}).describe("The HTTP namespace authority.");

const authority = z.strictObject({
  mode: z.enum(["none", "ledger_http"]).default(D.authority.mode).describe("Who is asked whether a namespace exists."),
  ledger: ledger.nullable().default(null),
}).describe("The namespace authority.");

/** The shape of `namespace`. */
export const namespaceSchema = z.strictObject({
  allow_default: z.boolean().default(D.allow_default).describe("Allow namespace 1, to the tenants of default_tenants."),
  default_tenants: z.array(integer(1)).default([]).describe("Tenants that may use namespace 1."),
  authority: authority.prefault({}),
}).describe("Which namespaces may be used.");

/** The rules over several members of `namespace`, and of `dev` where both meet. */
export function namespaceRules(tree: unknown, report: Report): void {
  const tenants = at(tree, ["namespace", "default_tenants"]) ?? [];
  if (at(tree, ["namespace", "allow_default"]) === true && Array.isArray(tenants) && tenants.length === 0) {
    report(["namespace", "default_tenants"], "must have at least 1 item when namespace.allow_default is true");
  }
  const mode = at(tree, ["namespace", "authority", "mode"]) ?? D.authority.mode;
  const given = at(tree, ["namespace", "authority", "ledger"]) !== undefined;
  if (mode === "none" && given) {
    report(["namespace", "authority", "ledger"], 'must not be set when namespace.authority.mode is "none"');
  }
  if (mode !== "ledger_http") return;
  if (!given) {
    report(["namespace", "authority", "ledger"], 'is required when namespace.authority.mode is "ledger_http"');
  }
  if (at(tree, ["dev", "permissive"]) === true) {
    report(["dev", "permissive"], 'must be false when namespace.authority.mode is "ledger_http"');
  }
  if (at(tree, ["server", "mode"]) === "dev_permissive") {
    report(["server", "mode"], 'must be "strict" when namespace.authority.mode is "ledger_http"');
  }
}
