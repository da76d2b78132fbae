/**
 * The checks of `gate doctor` on the contents of a configuration: providers, documents, roles and files with secrets.
 *
 * @module
 */

import { ConfigError, type ConfigProblem, formatProblem } from "../../config/problems.ts";
import type { GateConfig } from "../../config/types.ts";
import { createDocumentation } from "../../docs/documentation.ts";
import { DocsError } from "../../docs/types.ts";
import { obstaclesOfProvider } from "../../evidence/trust/obstacles.ts";
import { profileWithoutKeys } from "../provider/trust_profile.ts";
import { checkAccess } from "./access.ts";
import type { Finding } from "./checks.ts";
import { exposedFiles } from "./exposed_files.ts";
import { settingWarnings } from "./posture.ts";

/** Checks everything that a configuration names, as a start does. */
export async function checkConfigured(config: GateConfig): Promise<readonly Finding[]> {
  return [
    ...checkAccess(config),
    ...settingWarnings(config).map((message): Finding => ({ check: "posture", status: "note", message })),
    ...exposedFiles(config).map((message): Finding => ({ check: "secrets", status: "note", message })),
    ...await checkDocs(config),
    ...await checkProviders(config),
  ];
}

/** Reads the configured documents. */
async function checkDocs(config: GateConfig): Promise<readonly Finding[]> {
  const check = "documentation";
  const docs = createDocumentation(config.docs);
  if (!docs.isConfigured) return [];
  try {
    const { warnings } = await docs.load();
    return warnings.map((message) => ({ check, status: "note", message }));
  } catch (error) {
    if (!(error instanceof DocsError)) throw error;
    return failures(check, error.problems);
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
      { check, status: "ok", message: `${[...providers.keys()].join(", ")} can be started` },
      ...obstacles.map(({ kind, message }): Finding => {
        const effect = kind === "never" ? "no result counts" : "a result may not count";
        return { check: "provider trust", status: "note", message: `${effect}: ${message}` };
      }),
    ];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return failures(check, error.problems);
  } finally {
    schemas.close();
  }
}

function failures(check: string, problems: readonly ConfigProblem[]): readonly Finding[] {
  return problems.map((problem) => ({ check, status: "fail", message: formatProblem(problem) }));
}
