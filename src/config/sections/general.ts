/**
 * The small sections `dev`, `docs` and `validation`: their schemas, and the rules over several of their members.
 *
 * @module
 */

import * as z from "../schema_builder.ts";
import { DEFAULT_SETTINGS } from "../defaults.ts";
import type { DeepReadonly } from "../deep_readonly.ts";
import { integer, path } from "../primitives.ts";
import { is, not, type Rule } from "../rules.ts";

const { dev, docs, validation } = DEFAULT_SETTINGS;

/** The shape of `dev`. */
export const devSchema = z.strictObject({
  allow_dev_env_credentials: z.boolean().default(dev.allow_dev_env_credentials)
    .describe("Allow env:// locators for the credentials of typed providers."),
  permissive: z.boolean().default(dev.permissive).describe("Lower the minimum lane of evidence to asserted."),
  permissive_exempt_providers: z.array(z.string()).default([...dev.permissive_exempt_providers])
    .describe("Providers to which trust.min_lane still applies."),
  permissive_scope: z.enum(["asserted_evidence_only"]).default(dev.permissive_scope).describe(
    "What permissive relaxes.",
  ),
  permissive_ttl_days: integer(1).nullable().default(null)
    .describe("Days after the file's last change after which permissive ends; null for never."),
  permissive_warn: z.boolean().default(dev.permissive_warn).describe("Warn when permissive is on or has expired."),
}).describe("Relaxations for development.");

/** `dev`. */
export type DevConfig = DeepReadonly<z.output<typeof devSchema>>;

/** The shape of `docs`. */
export const docsSchema = z.strictObject({
  enabled: z.boolean().default(docs.enabled).describe("Serve documentation at all."),
  enable_resources: z.boolean().default(docs.enable_resources).describe("Serve it as MCP resources."),
  enable_search: z.boolean().default(docs.enable_search).describe("Offer gate_docs_search."),
  include_default_docs: z.boolean().default(docs.include_default_docs)
    .describe("Include the documents of gate in the catalogue."),
  extra_paths: z.array(path()).max(64).default([]).describe("Further files or folders."),
  max_doc_bytes: integer(1, 1048576).default(docs.max_doc_bytes).describe("Bytes of one document of extra_paths."),
  max_docs: integer(1, 256).default(docs.max_docs).describe("Documents of extra_paths."),
  max_sections: integer(1, 10).default(docs.max_sections).describe("Sections of one search result."),
  max_total_bytes: integer(1, 8388608).default(docs.max_total_bytes).describe("Bytes of all documents of extra_paths."),
}).describe("The documentation catalogue and its search.");

/** `docs`. */
export type DocsConfig = DeepReadonly<z.output<typeof docsSchema>>;

/** The shape of `validation`. */
export const validationSchema = z.strictObject({
  strict: z.boolean().default(validation.strict).describe("Check conditions against the data shape in precheck."),
  profile: z.enum(["strict_core_v1"]).default(validation.profile).describe("The set of checks."),
  allow_permissive: z.boolean().default(validation.allow_permissive).describe("Must be true when strict is false."),
  enable_lexicographic: z.boolean().default(validation.enable_lexicographic).describe(
    "Allow the four Lex* predicates.",
  ),
  enable_deep_equals: z.boolean().default(validation.enable_deep_equals).describe(
    "Allow DeepEquals and DeepNotEquals.",
  ),
}).describe("How strictly precheck checks conditions, and which predicates a law may use.");

/** `validation`. */
export type ValidationConfig = DeepReadonly<z.output<typeof validationSchema>>;

/** The rules over several members of `validation`. */
export const validationRules: readonly Rule[] = [{
  when: is(["strict"], [false], validation.strict),
  then: not(is(["allow_permissive"], [false], validation.allow_permissive)),
  at: ["allow_permissive"],
  message: "must be true when validation.strict is false",
}];
