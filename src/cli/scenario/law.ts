/** Reads the law of a scenario file and checks it under a configuration, as `scenario_define` does. */

import { DEFAULT_NAMESPACE } from "../../access/namespace.ts";
import { isJsonArray, isJsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { compareCodePoints } from "../../canonical/order.ts";
import { formatPath } from "../../canonical/path.ts";
import { DEFAULT_SETTINGS } from "../../config/defaults.ts";
import { keysFolder, loadConfig } from "../../config/load.ts";
import { ConfigError } from "../../config/problems.ts";
import type { BuiltinProviderEntry, GateConfig } from "../../config/types.ts";
import { createProviders, referencedEnvironment } from "../../evidence/providers.ts";
import { createSchemaSandbox, type SchemaSandbox } from "../../evidence/sandbox/schema_sandbox.ts";
import { keyObstacle, obstaclesOfBinding } from "../../evidence/trust/obstacles.ts";
import type { Providers } from "../../evidence/types.ts";
import { constructLaw } from "../../law/law.ts";
import { LAW_LIMITS } from "../../law/limits.ts";
import { permissiveEnvironment } from "../../runpack/verify/claims/scenario_law_construction.ts";
import { hasPlaceholder } from "../../law/placeholders.ts";
import { didYouMean, quoteAll } from "../../law/suggest.ts";
import type { LawNames } from "../../law/words.ts";
import type { LawEnvironment, Refusal, ScenarioLaw } from "../../law/types.ts";
import { readEvidenceKeys } from "../../evidence/trust/evidence_keys.ts";
import type { OperatorProfile } from "../../run/profile.ts";
import { NO_GRANTS } from "../../evidence/typed/grants.ts";
import { boundProviders, type FindProvider, knownChecks } from "../../tools/services/known_checks.ts";
import { withPeople } from "../../tools/services/operator_profile.ts";
import { profileWithoutKeys } from "../provider/trust_profile.ts";
import { configVariable } from "../config/variable.ts";
import { lawWarnings } from "../../scenario/law_problems.ts";
import {
  childOf,
  type Position,
  type SourceFault,
  type Steps,
  stepsInSpec,
  stepsOfPath,
} from "../../scenario/source_position.ts";
import { readSpec, type Source, type SourceResult } from "./source.ts";

/** An error or a warning of a scenario file. */
export interface Diagnostic extends Position {
  readonly severity: "error" | "warning";
  readonly code: string;
  /** JSON path into the spec. */
  readonly path: string;
  readonly message: string;
  /** Of a law file: the line with a mark below it. */
  readonly excerpt?: string;
}

/** A file with its diagnostics, and its law if it is valid. */
export interface ReadScenario {
  readonly file: string;
  /** Sorted by line. */
  readonly diagnostics: readonly Diagnostic[];
  readonly law: ScenarioLaw | null;
  /** Assumptions about the server, such as registered schemas. */
  readonly assumptions: readonly string[];
}

/** A scenario with the profile and the schema sandbox of its configuration. */
export interface ScenarioSession {
  readonly scenario: ReadScenario;
  /** The names of a law file. */
  readonly names: LawNames | undefined;
  readonly config: GateConfig;
  readonly profile: OperatorProfile;
  readonly schemas: SchemaSandbox;
}

/** How {@link withScenario} reads a file and its surroundings. */
export interface ScenarioOptions {
  /** Whether the command fails if the configuration that is found is invalid. */
  readonly needsConfig?: boolean;
  /** The folder of the keys of people, as for `gate serve`. */
  readonly evidenceKeys?: string | undefined;
  /** The budget for deciding who opens the law alone. */
  readonly visits?: number;
  readonly read?: (file: string) => Promise<SourceResult>;
}

/** Milliseconds for one schema: more than in a server, because a build machine may be busy and no other caller waits. */
const SCHEMA_MILLIS = 10_000;

/** The range of `Date`, in milliseconds from 1970. */
const LATEST_DATE = 8.64e15;

/**
 * Runs a command on a scenario file. A file is a law by itself: what only a configuration can tell is an error if
 * `--config` names one, else a warning under the configuration that is found.
 *
 * @param options How the file and its surroundings are read
 */
export async function withScenario<Result>(
  file: string,
  configFile: string | undefined,
  work: (session: ScenarioSession) => Promise<Result>,
  { needsConfig = false, evidenceKeys, visits, read: readFile = readSpec }: ScenarioOptions = {},
): Promise<Result> {
  const isNamed = configFile !== undefined;
  const found = await findConfig(configFile, needsConfig);
  const { config } = found;
  const folder = keysFolder(config, evidenceKeys);
  const people = folder === null ? [] : await readEvidenceKeys(folder);
  const profile = withPeople(await profileWithoutKeys(config), people);
  const schemas = createSchemaSandbox({ deadlineMillis: SCHEMA_MILLIS });
  try {
    const read = await readFile(file);
    if (!read.ok) {
      return await work({
        scenario: { file, diagnostics: diagnosticsOf(read), law: null, assumptions: [] },
        names: undefined,
        config,
        profile,
        schemas,
      });
    }
    const { source } = read;
    // A scenario without bindings needs no providers.
    const providers = hasBindings(source.value) ? await createProviders(config, { schemas }) : new Map();
    try {
      const proved = await withTyped(
        config,
        source.value,
        providers,
        (found) => proveSource(source, { config, isNamed, ...found, schemas, profile, visits }),
      );
      const scenario = withNamespace(proved, source, config.namespace.allow_default);
      return await work({
        scenario: withFault(scenario, source, found.fault),
        names: source.names,
        config,
        profile,
        schemas,
      });
    } finally {
      await Promise.all([...providers.values()].map((provider) => provider.close()));
    }
  } finally {
    schemas.close();
  }
}

/** The configuration; the built-in defaults, with a fault, if the one that is found is invalid and not needed. */
async function findConfig(
  configFile: string | undefined,
  needsConfig: boolean,
): Promise<{ readonly config: GateConfig; readonly fault: string | null }> {
  try {
    return { config: await loadConfig({ config: configFile, environment: configVariable() }), fault: null };
  } catch (error) {
    if (!(error instanceof ConfigError) || configFile !== undefined || needsConfig) throw error;
    const config = { ...DEFAULT_SETTINGS, config_path: null, base_dir: Deno.cwd() };
    return { config, fault: `Configuration is not used: ${error.message.replaceAll(/\s*\n\s*/g, " ")}` };
  }
}

/** Warns at the start of a file if the configuration that was found is invalid. */
function withFault(read: ReadScenario, source: Source, fault: string | null): ReadScenario {
  if (fault === null) return read;
  const warning = warningAt(source, [], "configuration_invalid", fault);
  return { ...read, diagnostics: [warning, ...read.diagnostics] };
}

function hasBindings(spec: JsonValue): boolean {
  const bindings = isJsonObject(spec) ? member(spec, "acquisition_bindings") : undefined;
  return isJsonArray(bindings) && bindings.length > 0;
}

/** The providers that a scenario may name. */
interface FoundProviders {
  readonly providers: Providers;
  readonly find: FindProvider;
}

/** Adds the active typed providers of the store in the namespace of a spec, where a binding names no configured provider. */
async function withTyped<Result>(
  config: GateConfig,
  spec: JsonValue,
  providers: Providers,
  work: (found: FoundProviders) => Promise<Result>,
): Promise<Result> {
  const configured: FindProvider = (id) => Promise.resolve(providers.get(id) ?? null);
  const namespaceId = isJsonObject(spec) ? member(spec, "namespace_id") : undefined;
  const names = isJsonObject(spec) ? boundProviders(spec) : [];
  if (typeof namespaceId !== "number" || names.every((name) => providers.has(name))) {
    return await work({ providers, find: configured });
  }
  const { activeProviders, withStoredProviders } = await import("../provider/stored_providers.ts");
  return await withStoredProviders(config, NO_GRANTS, async (stored) => {
    if (stored === null) return await work({ providers, find: configured });
    const active = await activeProviders(stored.typed, namespaceId);
    return await work({
      providers: new Map([...active.map((one) => [one.provider_id, one] as const), ...providers]),
      find: async (id) => providers.get(id) ?? await stored.typed.findActive(namespaceId, id),
    });
  });
}

/** The inputs for checking a spec. */
interface Proof extends FoundProviders {
  readonly config: GateConfig;
  /** Whether `--config` names the configuration. */
  readonly isNamed: boolean;
  readonly schemas: SchemaSandbox;
  readonly profile: OperatorProfile;
  readonly visits: number | undefined;
}

async function proveSource(source: Source, proof: Proof): Promise<ReadScenario> {
  const { config, isNamed, providers, find, schemas, profile, visits } = proof;
  const { file, value: spec } = source;
  const findCheck: LawEnvironment["findCheck"] = isJsonObject(spec)
    ? await knownChecks({ schemaSandbox: schemas }, spec, find)
    : () => "provider";
  const assumed = new Set<string>();
  const alone = constructLaw(spec, {
    limits: LAW_LIMITS,
    hasPacketSchema: () => true,
    ...permissiveEnvironment(spec),
  });
  const configured = constructLaw(spec, {
    limits: { ...profile.value_limits, ...profile.validation, proof_budget: profile.proof_budget },
    hasSchema: (schemaId, version) => {
      assumed.add(`Schema "${schemaId}" version "${version}" is registered in the namespace`);
      return true;
    },
    hasPacketSchema: (schemaId) => {
      assumed.add(`A version of schema "${schemaId}" is registered in the namespace`);
      return true;
    },
    findCheck,
    namesShown: (providerId) => namesOf(providers, providerId),
  });
  const assumptions = [...assumed].sort(compareCodePoints);
  const constructed = isNamed || configured.ok ? configured : alone;
  const shown = (refusals: readonly Refusal[]): readonly Refusal[] => withoutGuesses(source, refusals);
  const refusals = constructed.ok ? [] : refusalsAt(source, shown(constructed.refusals), (one) => ({
    severity: "error",
    more: describeKnown(spec, one, providers),
  }));
  const ofFile = new Set(constructed.ok ? [] : constructed.refusals.map(keyOfRefusal));
  const ofConfig = configured.ok ? [] : configured.refusals.filter((one) => !ofFile.has(keyOfRefusal(one)));
  refusals.push(...refusalsAt(source, shown(ofConfig), (one) => ({
    severity: "warning",
    more: describeKnown(spec, one, providers),
  })));
  if (!constructed.ok) return { file, diagnostics: inLines(refusals), law: null, assumptions };
  const { law } = constructed;
  const found = [
    ...lawWarnings(law, constructed.caller_asserted, visits),
    ...lintPackets(law, Date.now()),
    ...await lintBindings(law, config),
    ...lintTrust(law, profile, providers),
    // Without a configuration file the trusted keys of the server are unknown.
    ...config.config_path === null ? [] : lintKeys(law, profile),
  ];
  const warnings = found.map(({ code, path, message }): Diagnostic => {
    const steps = stepsInSpec(law, spec, stepsOfPath(path));
    return warningAt(source, steps, code, message);
  });
  const ofCompiler = (source.warnings ?? []).map((one) => diagnosticOf("warning", one));
  return { file, diagnostics: inLines([...refusals, ...ofCompiler, ...warnings]), law, assumptions };
}

/** Omits refusals of derived channels: the channel of a provider that is not configured is a guess. */
function withoutGuesses({ inFile }: Source, refusals: readonly Refusal[]): readonly Refusal[] {
  const unknown = new Set(
    refusals.flatMap(({ code, path }) =>
      code === "provider_not_found" ? path.replace(/\.provider_id$/, ".channel") : []
    ),
  );
  return refusals.filter(({ code, path }) =>
    code !== "channel_not_allowed" || !unknown.has(path) || inFile(stepsOfPath(path))[0] !== "conditions"
  );
}

/** Distinguishes refusals of one spec under two environments. */
function keyOfRefusal({ code, path }: Refusal): string {
  return `${code} ${path}`;
}

type Warning = Pick<Diagnostic, "code" | "path" | "message">;

/** Warns of expired packets: their stage can never be opened. */
function lintPackets({ stages }: ScenarioLaw, now: number): readonly Warning[] {
  return stages.flatMap(({ entry_packets }, stage) =>
    entry_packets.flatMap(({ packet_id, expiry }, packet) => {
      if (expiry?.kind !== "unix_millis" || expiry.value > now) return [];
      const when = Math.abs(expiry.value) <= LATEST_DATE ? `at ${new Date(expiry.value).toISOString()}` : "long ago";
      const message = `Packet ${quoteAll([packet_id])} expired ${when}, so its stage never opens`;
      return [{ code: "packet_expired", path: `$.stages[${stage}].entry_packets[${packet}].expiry`, message }];
    })
  );
}

/** Warns of bindings whose results do not count under the trust settings of the configuration. */
function lintTrust(law: ScenarioLaw, profile: OperatorProfile, providers: Providers): readonly Warning[] {
  const conditions = new Map(law.conditions.map((condition) => [condition.condition_id, condition]));
  return law.acquisition_bindings.flatMap((binding, index) => {
    const provider = providers.get(binding.provider_id);
    const condition = conditions.get(binding.condition_id);
    if (provider === undefined || condition === undefined) return [];
    return obstaclesOfBinding(profile, provider, binding, condition).map(({ kind, message }) => ({
      code: kind === "never" ? "binding_never_counts" : "binding_signature_owed",
      path: `$.acquisition_bindings[${index}].provider_id`,
      message: `Binding ${quoteAll([binding.binding_id])}: ${message}`,
    }));
  });
}

/** Warns of conditions that require signatures by keys that the configuration does not trust. */
function lintKeys({ conditions }: ScenarioLaw, profile: OperatorProfile): readonly Warning[] {
  return conditions.flatMap((condition, index) => {
    const obstacle = keyObstacle(profile, condition);
    if (obstacle === null) return [];
    const { kind, message } = obstacle;
    const policy = `$.conditions[${index}].evidence_use_policy`;
    return [{
      code: kind === "never" ? "condition_never_counts" : "authorized_key_untrusted",
      path: condition.evidence_use_policy.authorized_key_ids === undefined ? policy : `${policy}.authorized_key_ids`,
      message: `Condition ${quoteAll([condition.condition_id])} ${message}`,
    }];
  });
}

/** Warns of bindings whose parameters the built-in provider can never answer. */
async function lintBindings(
  law: ScenarioLaw,
  config: GateConfig,
): Promise<readonly Warning[]> {
  const entries = new Map<string, BuiltinProviderEntry>();
  for (const entry of config.providers) if (entry.type === "builtin") entries.set(entry.name, entry);
  if (!law.acquisition_bindings.some(({ provider_id }) => entries.has(provider_id))) return [];
  const { findStaticFailure } = await import("../../evidence/builtin/static_check.ts");
  const reserved = new Set(await referencedEnvironment(config));
  const found = await Promise.all(law.acquisition_bindings.map(async (binding, index) => {
    const entry = entries.get(binding.provider_id);
    // The values of placeholders are those of each run.
    if (law.parameters !== undefined && hasPlaceholder(binding.params ?? null)) return [];
    const reason = entry === undefined ? null : await findStaticFailure(entry, binding, reserved);
    if (reason === null) return [];
    const message = `Binding ${quoteAll([binding.binding_id])} can never have an answer: ${reason}`;
    return [{ code: "binding_never_answered", path: `$.acquisition_bindings[${index}].params`, message }];
  }));
  return found.flat();
}

/** Warns of a law in namespace 1 while the configuration does not open that namespace. */
function withNamespace(read: ReadScenario, source: Source, isOpen: boolean): ReadScenario {
  if (isOpen || read.law?.namespace_id !== DEFAULT_NAMESPACE) return read;
  const message = "Namespace 1 is closed unless namespace.allow_default opens it: use 2 or above";
  const warning: Diagnostic = {
    severity: "warning",
    ...source.locate(["namespace_id"], "value"),
    code: "namespace_closed",
    path: "$.namespace_id",
    message,
  };
  return { ...read, diagnostics: inLines([...read.diagnostics, warning]) };
}

/** Codes of refusals about the name of a member, not its value. */
const ABOUT_NAMES: readonly string[] = ["member_unknown"];

/** Converts refusals of a spec to diagnostics, sorted by line; `more` extends a message. Without details all are errors. */
export function refusalsAt(
  source: Source,
  refusals: readonly Refusal[],
  details: (refusal: Refusal) => Pick<Diagnostic, "severity"> & { readonly more: string } = () => ({
    severity: "error",
    more: "",
  }),
): Diagnostic[] {
  return inLines(refusals.map((refusal) => {
    const { code, path, message } = refusal;
    const part = ABOUT_NAMES.includes(code) ? "name" : "value";
    const steps = stepsOfPath(path);
    const position = source.locate(steps, part);
    const at = formatPath(source.inFile(steps));
    const { severity, more } = details(refusal);
    return { severity, ...position, code, path: at, message: message + more, ...excerptAt(source, position) };
  }));
}

/** The faults of a file that could not be read as a spec. */
export function diagnosticsOf({ fault, more = [] }: Extract<SourceResult, { ok: false }>): readonly Diagnostic[] {
  return inLines([fault, ...more].map((one) => diagnosticOf("error", one)));
}

function diagnosticOf(severity: Diagnostic["severity"], { position, ...found }: SourceFault): Diagnostic {
  return { severity, ...position, ...found };
}

function excerptAt({ excerpt }: Source, position: Position): Pick<Diagnostic, "excerpt"> {
  return excerpt === undefined ? {} : { excerpt: excerpt(position) };
}

function warningAt(source: Source, steps: Steps, code: string, message: string): Diagnostic {
  const path = formatPath(source.inFile(steps));
  const position = source.locate(steps, "value");
  // A warning about the whole law has no line of its own.
  const excerpt = steps.length === 0 ? {} : excerptAt(source, position);
  return { severity: "warning", ...position, code, path, message, ...excerpt };
}

/** The names of all providers, or of the checks of one. */
function namesOf(providers: Providers, providerId: string | null): readonly string[] {
  if (providerId === null) return [...providers.keys()];
  return providers.get(providerId)?.loaded.contract.checks.map(({ check_id }) => check_id) ?? [];
}

/** Lists the configured names if no name is near to the unknown one. A local user may see the whole configuration. */
function describeKnown(spec: JsonValue, { code, path }: Refusal, providers: Providers): string {
  const binding = stepsOfPath(path).slice(0, 2).reduce(childOf, spec as JsonValue | undefined);
  const provider = childOf(binding, "provider_id");
  const check = childOf(binding, "check_id");
  if (code === "provider_not_found" && typeof provider === "string") {
    if (providers.size === 0) return "; no provider is configured: name a configuration with --config";
    return knownUnlessNear(provider, namesOf(providers, null), "configured are");
  }
  if (code === "check_not_found" && typeof provider === "string" && typeof check === "string") {
    return knownUnlessNear(check, namesOf(providers, provider), "it has");
  }
  return "";
}

function knownUnlessNear(name: string, known: readonly string[], before: string): string {
  return didYouMean(name, known) === "" ? `; ${before} ${quoteAll(known)}` : "";
}

function inLines(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  return [...diagnostics].sort((a, b) => a.line - b.line || a.column - b.column);
}
