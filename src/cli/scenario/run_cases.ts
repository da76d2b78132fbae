import { dirname, extname, join } from "node:path";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { formatPath } from "../../canonical/path.ts";
import { countOf } from "../../config/problems.ts";
import { HOST_PRIMITIVES } from "../../evidence/host_primitives.ts";
import { environmentUnder } from "../../run/command.ts";
import { type CompiledLaw, compileLaw } from "../../run/compile.ts";
import type { ScenarioLaw } from "../../law/types.ts";
import { type LawNames, lawWords } from "../../law/words.ts";
import { isOldCases } from "../../scenario/old_cases.ts";
import { CliError } from "../terminal/cli_error.ts";
import { EXIT } from "../terminal/exit_codes.ts";
import { writeAnswer } from "../terminal/output.ts";
import { readValues } from "../pipeline/set_values.ts";
import { startCaseServices } from "./case_services.ts";
import { readCases } from "./cases.ts";
import type { Cases, CaseSchema } from "./case_types.ts";
import { describeDiagnostics, identitiesOf, type ScenarioFlags } from "./check.ts";
import { type Diagnostic, type ScenarioSession, withScenario } from "./law.ts";
import { describeMutants, tryMutants } from "./case_mutants.ts";
import { areProved, type ClaimResult, describeClaims, proveClaims } from "./proved_claims.ts";
import { readSource, type Source, SOURCE_EXTENSIONS } from "./source.ts";
import { type CaseResult, runCase } from "./case_runner.ts";
import { columns, paint, shown, wantsColour } from "../terminal/text.ts";

/** The flags of `gate scenario test`. */
export interface ScenarioTestFlags extends ScenarioFlags {
  readonly cases?: string;
  readonly set?: readonly string[];
  readonly mutants?: boolean;
}

/** What stands in place of the mutants where the law itself fails. */
const UNJUDGED = "mutants are not judged while a case fails or a claim is not proved\n";

/** Runs `gate scenario test`. Returns 0 if every case passes and every claim is proved, 3 if not, 2 if a file is invalid. */
export function runScenarioTest(file: string, flags: ScenarioTestFlags): Promise<number> {
  return withScenario(file, flags.config, async (session) => {
    const { law } = session.scenario;
    if (law === null) return writeErrors(file, session.scenario.diagnostics, flags);
    const casesFile = flags.cases ?? await casesBeside(file);
    const read = await readSource(casesFile);
    if (!read.ok) {
      const { position, ...fault } = read.fault;
      return writeErrors(casesFile, [{ severity: "error", ...position, ...fault }], flags);
    }
    const { scenario_law_identity, graph_identity } = identitiesOf(law);
    const compiled = compileLaw(law, scenario_law_identity, graph_identity);
    if (isOldCases(read.source.value)) {
      throw new CliError("usage", `Cannot run "${casesFile}": its format is gone`, `gate scenario write ${casesFile}`);
    }
    const names = session.names ?? lawWords(law);
    const { cases, diagnostics } = readCases(read.source, compiled, names, await valuesOver(law, names, flags.set));
    const claims = claimsOf(read.source, law, diagnostics);
    if (diagnostics.length > 0) return writeErrors(casesFile, diagnostics, flags);
    const results = await runAll(session, compiled, cases, casesFile);
    const failed = results.filter(({ passed }) => !passed).length;
    const untested = neverCompleted(law.stages.map(({ stage_id }) => stage_id), results);
    const counts = { passed: results.length - failed, failed };
    const accepts = async (mutant: CompiledLaw): Promise<boolean> =>
      areProved(mutant.law, read.source.value) &&
      (await runAll(session, mutant, cases, casesFile)).every(({ passed }) => passed);
    const isSound = failed === 0 && claims.every(({ verdict }) => verdict === "proved");
    // What fails on the law itself fails on its mutants too, and would count as noticing them.
    const mutants = flags.mutants === true && isSound ? await tryMutants(law, accepts) : null;
    const result = {
      ...{ file, cases_file: casesFile, ...counts, cases: results, untested },
      ...claims.length === 0 ? {} : { proves: claims },
      ...mutants === null ? {} : { mutants },
    };
    const text = describeResults(casesFile, results, untested, wantsColour()) + describePins(law) +
      describeClaims(claims) +
      (mutants !== null ? describeMutants(mutants) : flags.mutants === true ? UNJUDGED : "");
    return writeAnswer("scenario test", flags, result, text, { exitCode: isSound ? EXIT.ok : EXIT.evaluatedFalse });
  }, { needsConfig: true });
}

async function runAll(
  session: ScenarioSession,
  law: CompiledLaw,
  { cases, schemas }: Cases,
  casesFile: string,
): Promise<readonly CaseResult[]> {
  const { profile, schemas: sandbox } = session;
  const environment = environmentUnder(HOST_PRIMITIVES, profile);
  const loaded = await loadSchemas(session, schemas, casesFile);
  const context = { law, environment, sandbox, schemas: loaded };
  const services = await startCaseServices(session.config, profile, sandbox, loaded);
  try {
    const results: CaseResult[] = [];
    for (const one of cases) results.push(await runCase(context, services, one));
    return results;
  } finally {
    await services.close();
  }
}

/** The values of `--set` by evidence and by parameter, which stand over those of every case. */
async function valuesOver(
  law: ScenarioLaw,
  names: LawNames,
  pairs: readonly string[] = [],
): Promise<ReadonlyMap<string, JsonValue>> {
  const { parameters, evidence } = await readValues({ names }, law, pairs, "case");
  const { parameters: declared = [] } = law;
  return new Map([
    ...parameters.map((one) => {
      const id = declared.find(({ parameter_id }) => one.startsWith(`${parameter_id}=`))?.parameter_id ?? "";
      return [names.parameters.get(id) ?? id, one.slice(id.length + 1)] as const;
    }),
    ...evidence.map((item) =>
      [item["condition_id"] as string, (item["value"] as JsonObject)["value"] ?? null] as const
    ),
  ]);
}

/** Says whose keys a trial makes in place of those that the law pins. */
function describePins({ conditions }: ScenarioLaw): string {
  const pinned = conditions.flatMap(({ evidence_use_policy: policy }) =>
    Object.keys(policy.authorized_public_keys ?? {})
  );
  const people = [...new Set(pinned)].map(shown).join(", ");
  return people === "" ? "" : `keys of the cases stand for those that the law pins: ${people}\n`;
}

/** The claims of a cases file; faults are added to its diagnostics. */
function claimsOf(source: Source, law: ScenarioLaw, diagnostics: Diagnostic[]): readonly ClaimResult[] {
  const report = (steps: readonly (string | number)[], message: string): void => {
    const path = formatPath(steps);
    diagnostics.push({ severity: "error", ...source.locate(steps, "value"), code: "claim_invalid", path, message });
  };
  return proveClaims(report, law, source.value);
}

function writeErrors(file: string, diagnostics: readonly Diagnostic[], flags: ScenarioTestFlags): number {
  const text = describeDiagnostics({ file, diagnostics, law: null, assumptions: [] }, wantsColour());
  return writeAnswer("scenario test", flags, { file, diagnostics }, text, { exitCode: EXIT.usage });
}

/** Reads the schemas in separate files, and checks that every schema can be enforced. */
async function loadSchemas(
  { schemas: sandbox }: ScenarioSession,
  schemas: readonly CaseSchema[],
  casesFile: string,
): Promise<CaseSchema[]> {
  const loaded: CaseSchema[] = [];
  for (const one of schemas) {
    const schema = await loadSchema(one, casesFile);
    const checked = await sandbox.check(schema);
    if (!checked.ok) {
      throw new CliError("usage", `Cannot use schema "${one.schema_id}" version "${one.version}": ${checked.message}`);
    }
    loaded.push({ ...one, schema });
  }
  return loaded;
}

async function loadSchema(one: CaseSchema, casesFile: string): Promise<JsonValue> {
  if (one.file === null) return one.schema;
  const read = await readSource(join(dirname(casesFile), one.file));
  if (read.ok) return schemaIn(read.source.value, one);
  throw new CliError("usage", `Cannot read schema "${one.file}": ${read.fault.message}`);
}

/** Finds the schema in a file: the whole file, or the record in a list of arguments of `schemas_register`. */
function schemaIn(value: JsonValue, { schema_id, version, file }: CaseSchema): JsonValue {
  if (!isJsonArray(value)) return value;
  const record = value.find((one) =>
    isJsonObject(one) && member(one, "schema_id") === schema_id && member(one, "version") === version
  );
  const schema = isJsonObject(record) ? member(record, "schema") : undefined;
  if (schema !== undefined) return schema;
  throw new CliError("usage", `Cannot find schema "${schema_id}" version "${version}" in "${file}"`);
}

/** Finds the cases file beside a scenario file in any format, such as `release.cases.yaml` beside `release.json`. */
async function casesBeside(file: string): Promise<string> {
  const base = file.slice(0, file.length - extname(file).length);
  const candidates = SOURCE_EXTENSIONS.map((extension) => `${base}.cases${extension}`);
  for (const candidate of candidates) {
    const found = await Deno.stat(candidate).catch(() => null);
    if (found?.isFile === true) return candidate;
  }
  throw new CliError("usage", `Cannot find the cases of "${file}"`, `write ${candidates[0]}, or name it with --cases`);
}

/** The stages that no case completes. */
function neverCompleted(stages: readonly string[], results: readonly CaseResult[]): string[] {
  const tested = new Set(
    results.flatMap(({ steps }) => steps).flatMap(({ stages }) => stages).filter(({ outcome }) => outcome === "true")
      .map((one) => one.stage_id),
  );
  return stages.filter((id) => !tested.has(id));
}

function describeResults(
  file: string,
  results: readonly CaseResult[],
  untested: readonly string[],
  colour: boolean,
): string {
  const rows = results.map(({ name, passed, steps, status }) => [
    passed ? "ok" : "FAILED",
    shown(name),
    `${
      steps.flatMap(({ stages }) => stages).map(({ stage_id, outcome }) => `${shown(stage_id)}: ${outcome}`).join(", ")
    } -> ${status}`,
  ]);
  const table = columns(rows).split("\n").map((line, index) =>
    results[index]?.passed === false ? paint(line, "bad", colour) : line
  ).join("\n");
  const failures = results.filter(({ passed }) => !passed).flatMap(({ name, line, steps }) => [
    `${file}:${line ?? 1}: ${shown(name)}\n`,
    ...steps.flatMap(({ differences }) => differences).map((text) => `    ${shown(text)}\n`),
  ]);
  const failed = results.filter(({ passed }) => !passed).length;
  const note = untested.length === 0
    ? ""
    : `no case completes ${countOf(untested.length, "stage")}: ${untested.map(shown).join(", ")}\n`;
  return `${table}${failures.length === 0 ? "" : "\n"}${failures.join("")}${note}${
    results.length - failed
  } passed, ${failed} failed\n`;
}
