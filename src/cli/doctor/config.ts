/**
 * The checks of `gate doctor` on the contents of a configuration: providers, documents, roles and files with secrets.
 */

import { ConfigError, type ConfigProblem, formatProblem } from "../../config/problems.ts";
import type { GateConfig } from "../../config/types.ts";
import { createDocumentation } from "../../docs/documentation.ts";
import { DocsError } from "../../docs/types.ts";
import { obstaclesOfProvider } from "../../evidence/trust/obstacles.ts";
import { locatorsOf, NO_GRANTS, variableOf } from "../../evidence/typed/grants.ts";
import { typedFlags } from "../../evidence/typed/host_flag.ts";
import type { TypedProvider } from "../../evidence/typed/provider.ts";
import type { Provider } from "../../evidence/types.ts";
import { readVersion } from "../../tools/services/typed_providers.ts";
import { shown } from "../terminal/text.ts";
import { profileWithoutKeys } from "../provider/trust_profile.ts";
import { checkAccess } from "./access.ts";
import { fail, type Finding, note, ok } from "./checks.ts";
import { exposedFiles } from "./exposed_files.ts";
import { settingWarnings } from "./posture.ts";

/** Checks everything that a configuration names, as a start does. */
export async function checkConfigured(config: GateConfig): Promise<readonly Finding[]> {
  return [
    ...checkAccess(config),
    ...settingWarnings(config).map((message) => note("posture", message)),
    ...exposedFiles(config).map((message) => note("secrets", message)),
    ...await checkDocs(config),
    ...await checkProviders(config),
    ...await checkTypedProviders(config),
  ];
}

/** Reads the configured documents. */
async function checkDocs(config: GateConfig): Promise<readonly Finding[]> {
  const check = "documentation";
  const docs = createDocumentation(config.docs);
  if (!docs.isConfigured) return [];
  try {
    const { warnings } = await docs.load();
    return warnings.map((message) => note(check, message));
  } catch (error) {
    if (!(error instanceof DocsError)) throw error;
    return failures(check, error.problems);
  }
}

/** Namespaces whose providers a report lists. */
const NAMESPACES_SHOWN = 32;

/** Lists the active typed providers of the store, with the flags of `gate serve` that each needs. */
async function checkTypedProviders(config: GateConfig): Promise<readonly Finding[]> {
  const check = "typed provider";
  const { withStoredProviders } = await import("../provider/stored_providers.ts");
  try {
    return await withStoredProviders(config, NO_GRANTS, async (stored) => {
      const findings: Finding[] = [];
      const namespaces = await stored?.reads.listNamespaces(NAMESPACES_SHOWN + 1) ?? [];
      for (const namespace of namespaces.slice(0, NAMESPACES_SHOWN)) {
        for (const { provider_id, version } of await stored?.reads.listActive(namespace) ?? []) {
          const found = await stored?.reads.get({ namespace_id: namespace, provider_id, version }) ?? null;
          if (found === null) continue;
          const message = `${shown(provider_id)} version ${shown(version)} is active in namespace ${namespace}; ` +
            `it needs ${typedFlags(readVersion(found).profile)}`;
          findings.push(ok(check, message));
        }
      }
      if (namespaces.length > NAMESPACES_SHOWN) {
        const message = `More than ${NAMESPACES_SHOWN} namespaces have active versions; the others are not listed here`;
        findings.push(note(check, message));
      }
      return findings;
    });
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return [fail(check, error.message)];
  }
}

/** Creates every provider, which reads contracts, roots and references. No check of a provider runs. */
async function checkProviders(config: GateConfig): Promise<readonly Finding[]> {
  const check = "provider";
  if (config.providers.length === 0) return [];
  const [{ createProviders }, { createSchemaSandbox }] = await Promise.all([
    import("../../evidence/providers.ts"),
    import("../../evidence/sandbox/schema_sandbox.ts"),
  ]);
  const schemas = createSchemaSandbox();
  try {
    const providers = await createProviders(config, { schemas });
    await Promise.all([...providers.values()].map((provider) => provider.close()));
    const profile = await profileWithoutKeys(config);
    const obstacles = [...providers.values()].flatMap((provider) => obstaclesOfProvider(profile, provider));
    return [
      ok(check, `${[...providers.keys()].join(", ")} can be started`),
      ...[...providers.values()].flatMap(neededFiles),
      ...obstacles.map(({ kind, message }): Finding => {
        const effect = kind === "never" ? "no result counts" : "a result may not count";
        return note("provider trust", `${effect}: ${message}`);
      }),
    ];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return failures(check, error.problems);
  } finally {
    schemas.close();
  }
}

/** A note on the files that the profile of a configured typed provider names: the flag with their folder is not known here. */
function neededFiles(provider: Provider): readonly Finding[] {
  if (provider.kind !== "typed") return [];
  const { secrets, authority } = locatorsOf((provider as TypedProvider).version.profile);
  const locators = [...secrets.map(([, locator]) => locator), authority ?? ""];
  const files = new Set(locators.filter((locator) => variableOf(locator) === null && locator !== ""));
  if (files.size === 0) return [];
  const message = `${shown(provider.provider_id)} needs --credentials-dir with ${[...files].join(", ")}`;
  return [note("provider", message)];
}

function failures(check: string, problems: readonly ConfigProblem[]): readonly Finding[] {
  return problems.map((problem) => fail(check, formatProblem(problem)));
}
