/** The small sections `dev`, `docs` and `validation`: their schemas, and the rules over several of their members. */

import { boolean, integer, listOf, orNull, type Read, text } from "../../canonical/shape.ts";
import { choices, table, withDefault } from "../../canonical/table_shape.ts";
import { DEFAULT_SETTINGS } from "../defaults.ts";
import { path } from "../primitives.ts";
import { is, not, type Rule } from "../rules.ts";

const { dev, docs, validation } = DEFAULT_SETTINGS;

/** The shape of `dev`. */
export const devSchema = table({
  allow_dev_env_credentials: withDefault(
    boolean,
    dev.allow_dev_env_credentials,
    "Allow env:// locators for the credentials of typed providers.",
  ),
  permissive: withDefault(boolean, dev.permissive, "Lower the minimum lane of evidence to asserted."),
  permissive_exempt_providers: withDefault(
    listOf(text),
    [...dev.permissive_exempt_providers],
    "Providers to which trust.min_lane still applies.",
  ),
  permissive_scope: withDefault(choices("asserted_evidence_only"), dev.permissive_scope, "What permissive relaxes."),
  permissive_ttl_days: withDefault(
    orNull(integer(1)),
    null,
    "Days after the file's last change after which permissive ends; null for never.",
  ),
  permissive_warn: withDefault(boolean, dev.permissive_warn, "Warn when permissive is on or has expired."),
}, "Relaxations for development.");

/** `dev`. */
export type DevConfig = Read<typeof devSchema>;

/** The shape of `docs`. */
export const docsSchema = table({
  enabled: withDefault(boolean, docs.enabled, "Serve documentation at all."),
  enable_resources: withDefault(boolean, docs.enable_resources, "Serve it as MCP resources."),
  enable_search: withDefault(boolean, docs.enable_search, "Offer gate_docs_search."),
  include_default_docs: withDefault(
    boolean,
    docs.include_default_docs,
    "Include the documents of gate in the catalogue.",
  ),
  extra_paths: withDefault(listOf(path(), 64), [], "Further files or folders."),
  max_doc_bytes: withDefault(integer(1, 1048576), docs.max_doc_bytes, "Bytes of one document of extra_paths."),
  max_docs: withDefault(integer(1, 256), docs.max_docs, "Documents of extra_paths."),
  max_sections: withDefault(integer(1, 10), docs.max_sections, "Sections of one search result."),
  max_total_bytes: withDefault(integer(1, 8388608), docs.max_total_bytes, "Bytes of all documents of extra_paths."),
}, "The documentation catalogue and its search.");

/** `docs`. */
export type DocsConfig = Read<typeof docsSchema>;

/** The shape of `validation`. */
export const validationSchema = table({
  strict: withDefault(boolean, validation.strict, "Check conditions against the data shape in precheck."),
  profile: withDefault(choices("strict_core_v1"), validation.profile, "The set of checks."),
  allow_permissive: withDefault(boolean, validation.allow_permissive, "Must be true when strict is false."),
  enable_lexicographic: withDefault(boolean, validation.enable_lexicographic, "Allow the four Lex* predicates."),
  enable_deep_equals: withDefault(boolean, validation.enable_deep_equals, "Allow DeepEquals and DeepNotEquals."),
}, "How strictly precheck checks conditions, and which predicates a law may use.");

/** `validation`. */
export type ValidationConfig = Read<typeof validationSchema>;

/** The rules over several members of `validation`. */
export const validationRules: readonly Rule[] = [{
  when: is(["strict"], [false], validation.strict),
  then: not(is(["allow_permissive"], [false], validation.allow_permissive)),
  at: ["allow_permissive"],
  message: "must be true when validation.strict is false",
}];
