/**
 * The whole shape of a configuration file, and its check.
 *
 * @module
 */

import { z } from "zod";
import { anchorRules, anchorsSchema, evidenceSchema, providerDiscoverySchema, trustSchema } from "./evidence.ts";
import { devSchema, docsSchema, validationRules, validationSchema } from "./general.ts";
import { ONCE, schemaProblems } from "./issues.ts";
import { namespaceRules, namespaceSchema } from "./namespace.ts";
import { policyRules, policySchema } from "./policy.ts";
import type { Report } from "./problems.ts";
import { completeProvider, providerRules, providersSchema } from "./providers.ts";
import { serverRules, serverSchema } from "./server.ts";
import { runpackStorageSchema, runStateStoreSchema, schemaRegistrySchema, storeRules } from "./stores.ts";
import type { GateSettings } from "./types.ts";

/** The shape of a configuration file; every section may be left out. */
export const settingsSchema = z.strictObject({
  anchors: anchorsSchema.prefault({}),
  dev: devSchema.prefault({}),
  docs: docsSchema.prefault({}),
  evidence: evidenceSchema.prefault({}),
  namespace: namespaceSchema.prefault({}),
  policy: policySchema.prefault({}),
  provider_discovery: providerDiscoverySchema.prefault({}),
  providers: providersSchema,
  run_state_store: runStateStoreSchema.prefault({}),
  runpack_storage: runpackStorageSchema.nullable().default(null),
  schema_registry: schemaRegistrySchema.prefault({}),
  server: serverSchema.prefault({}),
  trust: trustSchema.prefault({}),
  validation: validationSchema.prefault({}),
}).describe("Configuration of gate.");

/** The rules over several members, section by section. They read the raw tree, so all of them speak. */
const RULES: readonly ((tree: unknown, report: Report) => void)[] = [
  anchorRules,
  namespaceRules,
  policyRules,
  providerRules,
  serverRules,
  storeRules,
  validationRules,
];

/** Reports everything that is wrong with a tree; the settings with all defaults filled in, or null where it is wrong. */
export function checkSettings(tree: unknown, report: Report): GateSettings | null {
  let wrong = false;
  const noted: Report = (path, message) => {
    wrong = true;
    report(path, message);
  };
  schemaProblems(settingsSchema, tree, [], noted);
  for (const rule of RULES) rule(tree, noted);
  if (wrong) return null;
  const settings = settingsSchema.parse(tree, ONCE);
  return { ...settings, providers: settings.providers.map(completeProvider) };
}
