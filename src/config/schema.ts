/**
 * The schema of a whole configuration file, and its check. The schema of a section is loaded only where a file has the
 * section, because loading costs start time.
 */

import { orNull, type Read, type Reader } from "../canonical/shape.ts";
import { orEmpty, table, withDefault } from "../canonical/table_shape.ts";
import { nearest } from "../canonical/nearest.ts";
import { DEFAULT_SETTINGS } from "./defaults.ts";
import { readSettings } from "./schema_messages.ts";
import { describeValue, quoteShort, type Report } from "./problems.ts";
import { applyRules, type Rule } from "./rules.ts";
import { isTable } from "./toml_tree.ts";
import type { GateSettings } from "./types.ts";

/** The check of one section. */
interface Section {
  readonly schema: Reader<unknown>;
  /**
   * Rules over several members of the section. They read the raw tree, so that each rule is evaluated despite other
   * problems.
   */
  readonly rules?: readonly Rule[];
  /** Rules over this and other sections, from the root of the file. */
  readonly fileRules?: readonly Rule[];
  /** Checks that rules cannot express. */
  readonly checks?: (tree: unknown, report: Report) => void;
  /** Adds the defaults that the schema alone cannot add. */
  readonly complete?: (value: unknown) => unknown;
}

type SectionName = keyof GateSettings;

const SECTIONS: { readonly [Name in SectionName]: () => Promise<Section> } = {
  anchors: async () => {
    const { anchorChecks, anchorsSchema } = await import("./sections/evidence.ts");
    return { schema: anchorsSchema, checks: anchorChecks };
  },
  dev: async () => ({ schema: (await import("./sections/general.ts")).devSchema }),
  docs: async () => ({ schema: (await import("./sections/general.ts")).docsSchema }),
  evidence: async () => ({ schema: (await import("./sections/evidence.ts")).evidenceSchema }),
  namespace: async () => {
    const { namespaceFileRules, namespaceRules, namespaceSchema } = await import("./sections/namespace.ts");
    return { schema: namespaceSchema, rules: namespaceRules, fileRules: namespaceFileRules };
  },
  policy: async () => {
    const { policyRules, policySchema } = await import("./sections/policy.ts");
    return { schema: policySchema, rules: policyRules };
  },
  provider_discovery: async () => ({ schema: (await import("./sections/evidence.ts")).providerDiscoverySchema }),
  providers: async () => {
    const { completeProvider, providerChecks, providerRules, providersSchema } = await import(
      "./sections/providers.ts"
    );
    const complete = (value: unknown): unknown => (value as Read<typeof providersSchema>).map(completeProvider);
    return { schema: providersSchema, rules: providerRules, checks: providerChecks, complete };
  },
  run_state_store: async () => {
    const { runStateStoreFileRules, runStateStoreRules, runStateStoreSchema } = await import("./sections/stores.ts");
    return { schema: runStateStoreSchema, rules: runStateStoreRules, fileRules: runStateStoreFileRules };
  },
  runpack_storage: async () => {
    const { runpackStorageRules, runpackStorageSchema } = await import("./sections/stores.ts");
    return { schema: orNull(runpackStorageSchema), rules: runpackStorageRules };
  },
  schema_registry: async () => {
    const { oneDatabaseChecks, schemaRegistryFileRules, schemaRegistryRules, schemaRegistrySchema } = await import(
      "./sections/stores.ts"
    );
    return {
      schema: schemaRegistrySchema,
      rules: schemaRegistryRules,
      fileRules: schemaRegistryFileRules,
      checks: oneDatabaseChecks,
    };
  },
  server: async () => {
    const { principalChecks, serverRules, serverSchema } = await import("./sections/server.ts");
    return { schema: serverSchema, rules: serverRules, checks: principalChecks };
  },
  trust: async () => ({ schema: (await import("./sections/evidence.ts")).trustSchema }),
  validation: async () => {
    const { validationRules, validationSchema } = await import("./sections/general.ts");
    return { schema: validationSchema, rules: validationRules };
  },
};

function isSectionName(name: string): name is SectionName {
  return Object.hasOwn(SECTIONS, name);
}

/** The published schema of a whole file: every section with its default, and the rules over several members. */
export interface PublishedSettings {
  readonly schema: Reader<unknown>;
  /** By section. */
  readonly rules: ReadonlyMap<string, readonly Rule[]>;
  readonly fileRules: readonly Rule[];
}

/** Loads every section, for publication. */
export async function publishedSettings(): Promise<PublishedSettings> {
  const shape: Record<string, Reader<unknown>> = {};
  const rules = new Map<string, readonly Rule[]>();
  const fileRules: Rule[] = [];
  for (const [name, load] of Object.entries(SECTIONS)) {
    const section = await load();
    const { schema } = section;
    if (section.rules !== undefined) rules.set(name, section.rules);
    fileRules.push(...section.fileRules ?? []);
    const defaultValue = DEFAULT_SETTINGS[name as SectionName];
    if (isTable(defaultValue)) shape[name] = orEmpty(schema);
    // A schema with a default of its own keeps it.
    else shape[name] = defaultValue === null ? withDefault(schema, null) : schema;
  }
  return { schema: table(shape, "Configuration of gate."), rules, fileRules };
}

/**
 * Reports every problem of a tree.
 *
 * @returns The settings with all defaults, or null where the tree has a problem
 */
export async function checkSettings(tree: unknown, report: Report): Promise<GateSettings | null> {
  let isInvalid = false;
  const reportInvalid: Report = (path, message) => {
    isInvalid = true;
    report(path, message);
  };
  if (!isTable(tree)) {
    reportInvalid([], `must be a table, got ${describeValue(tree)}`);
    return null;
  }
  const settings: Record<string, unknown> = { ...DEFAULT_SETTINGS };
  for (const [name, value] of Object.entries(tree)) {
    if (!isSectionName(name)) {
      const meant = nearest(name, Object.keys(SECTIONS));
      reportInvalid([name], `unknown member${meant === null ? "" : `, did you mean ${quoteShort(meant)}?`}`);
      continue;
    }
    const { schema, rules = [], fileRules = [], checks, complete } = await SECTIONS[name]();
    const read = readSettings(schema, value, [name], reportInvalid);
    applyRules(rules, value, [name], reportInvalid);
    applyRules(fileRules, tree, [], reportInvalid);
    checks?.(tree, reportInvalid);
    if (isInvalid) continue;
    settings[name] = complete === undefined ? read : complete(read);
  }
  return isInvalid ? null : settings as unknown as GateSettings;
}
