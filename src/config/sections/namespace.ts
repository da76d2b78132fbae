/**
 * The section `namespace`: its schema, and the rules over several of its members.
 *
 * @module
 */

import * as z from "../schema_builder.ts";
import { DEFAULT_SETTINGS, LEDGER_DEFAULTS } from "../defaults.ts";
import type { DeepReadonly } from "../deep_readonly.ts";
import { httpUrl, integer, token } from "../primitives.ts";
import { forbids, is, isFilled, not, requires, type Rule } from "../rules.ts";

const D = DEFAULT_SETTINGS.namespace;

const ledger = z.strictObject({
  base_url: httpUrl().regex(/^[^?#]*$/, "must not hold a query or fragment").describe(
    "Base URL of the service that knows the namespaces.",
  ),
  auth_token: token().nullable().default(null).describe("Bearer token for the service."),
  connect_timeout_ms: integer(100, 10000).default(LEDGER_DEFAULTS.connect_timeout_ms)
    .describe("Milliseconds to wait for a connection."),
  request_timeout_ms: integer(500, 30000).default(LEDGER_DEFAULTS.request_timeout_ms)
    .describe("Milliseconds to wait for a response."),
}).describe("The HTTP namespace authority.");

/** `namespace.authority.ledger`. */
export type LedgerConfig = DeepReadonly<z.output<typeof ledger>>;

const authority = z.strictObject({
  mode: z.enum(["none", "ledger_http"]).default(D.authority.mode).describe(
    "Authority that decides whether a namespace exists; with none, every namespace exists.",
  ),
  ledger: ledger.nullable().default(null),
}).describe("The namespace authority.");

/** The shape of `namespace`. */
export const namespaceSchema = z.strictObject({
  allow_default: z.boolean().default(D.allow_default).describe("Open namespace 1 to the tenants of default_tenants."),
  default_tenants: z.array(integer(1)).default([]).describe("Tenants that may use namespace 1."),
  authority: authority.prefault({}),
}).describe("Which namespaces may be used.");

/** `namespace`. */
export type NamespaceConfig = DeepReadonly<z.output<typeof namespaceSchema>>;

const MODE = ["authority", "mode"];
const LEDGER = ["authority", "ledger"];

/** The rules over several members of `namespace`. */
export const namespaceRules: readonly Rule[] = [
  {
    when: is(["allow_default"], [true]),
    then: isFilled(["default_tenants"]),
    at: ["default_tenants"],
    message: "must have at least 1 item when namespace.allow_default is true",
  },
  forbids(LEDGER, is(MODE, ["none"], D.authority.mode), 'must not be set when namespace.authority.mode is "none"'),
  requires(
    LEDGER,
    is(MODE, ["ledger_http"], D.authority.mode),
    'is required when namespace.authority.mode is "ledger_http"',
  ),
];

const USES_LEDGER = is(["namespace", ...MODE], ["ledger_http"], D.authority.mode);

/** The rules of `namespace` about other sections, from the root of the file. */
export const namespaceFileRules: readonly Rule[] = [
  {
    when: USES_LEDGER,
    then: not(is(["dev", "permissive"], [true])),
    at: ["dev", "permissive"],
    message: 'must be false when namespace.authority.mode is "ledger_http"',
  },
  {
    when: USES_LEDGER,
    then: not(is(["server", "mode"], ["dev_permissive"])),
    at: ["server", "mode"],
    message: 'must be "strict" when namespace.authority.mode is "ledger_http"',
  },
];
