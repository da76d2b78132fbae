/** The section `namespace`: its schema, and the rules over several of its members. */

import { annotated, boolean, integer, listOf, oneOf, orNull, type Read } from "../../canonical/shape.ts";
import { orEmpty, patterned, table, withDefault } from "../../canonical/table_shape.ts";
import { DEFAULT_SETTINGS, LEDGER_DEFAULTS } from "../defaults.ts";
import { HTTP_URL, httpUrl, token } from "../primitives.ts";
import { forbids, is, isFilled, not, requires, type Rule } from "../rules.ts";

const D = DEFAULT_SETTINGS.namespace;

const ledger = table({
  base_url: annotated(patterned(httpUrl(), /^[^?#]*$/, "must not hold a query or fragment"), {
    ...HTTP_URL,
    description: "Base URL of the service that knows the namespaces.",
  }),
  auth_token: withDefault(orNull(token()), null, "Bearer token for the service."),
  connect_timeout_ms: withDefault(
    integer(100, 10000),
    LEDGER_DEFAULTS.connect_timeout_ms,
    "Milliseconds to wait for a connection.",
  ),
  request_timeout_ms: withDefault(
    integer(500, 30000),
    LEDGER_DEFAULTS.request_timeout_ms,
    "Milliseconds to wait for a response.",
  ),
}, "The HTTP namespace authority.");

/** `namespace.authority.ledger`. */
export type LedgerConfig = Read<typeof ledger>;

const authority = table({
  mode: withDefault(
    oneOf("none", "ledger_http"),
    D.authority.mode,
    "Authority that decides whether a namespace exists; with none, every namespace exists.",
  ),
  ledger: withDefault(orNull(ledger), null),
}, "The namespace authority.");

/** The shape of `namespace`. */
export const namespaceSchema = table({
  allow_default: withDefault(boolean, D.allow_default, "Open namespace 1 to the tenants of default_tenants."),
  default_tenants: withDefault(listOf(integer(1)), [], "Tenants that may use namespace 1."),
  authority: orEmpty(authority),
}, "Which namespaces may be used.");

/** `namespace`. */
export type NamespaceConfig = Read<typeof namespaceSchema>;

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
