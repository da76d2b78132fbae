/** `gate run`: defines a law, starts a run or goes on with it, takes every step that evidence allows, and exports. */

import { resolve } from "node:path";
import { canonicalize } from "../../canonical/canonicalize.ts";
import { isJsonObject, type JsonObject, member } from "../../canonical/json.ts";
import type { GateConfig } from "../../config/types.ts";
import { sha256 } from "../../evidence/host_primitives.ts";
import type { ScenarioLaw } from "../../law/types.ts";
import { compileNextLaw } from "../../runpack/replay.ts";
import type { RunKey } from "../../run/types.ts";
import { parametersText } from "../run/parameters_text.ts";
import { readLaw } from "../run/read_law.ts";
import { describeStanding, progressOf, readStanding, type RunStanding, standingAsJson } from "../run/standing.ts";
import { SERVER_SIGNS, SIGN_FILE, signerOf } from "../runpack/session.ts";
import { READER_PRIMITIVES } from "../runpack/view.ts";
import type { Source } from "../scenario/source.ts";
import {
  mustCall,
  namesServer,
  refusedCall,
  type ServerAddressFlags,
  type ToolSession,
  withLocalSession,
  withServerSession,
} from "../session/tool_session.ts";
import { PIPELINE_STORE } from "../store/files.ts";
import { CliError } from "../terminal/cli_error.ts";
import { dataDirOf, loadConfigToWrite } from "../terminal/data_dir.ts";
import { EXIT, type ExitCode } from "../terminal/exit_codes.ts";
import { writeNewFile } from "../terminal/new_file.ts";
import { type ConfigFlags, writeError, writeOut, writeResult } from "../terminal/output.ts";
import { shown, wantsColour } from "../terminal/text.ts";
import { advance, exitCodeOfRun, type Look } from "./advance.ts";
import { exportPack, withTemporaryData } from "./export_pack.ts";
import { genesisOf, type LawFlags, readEvidence, readLawFile, refusedSpec, rejectedParameters } from "./inputs.ts";
import { readValues } from "./set_values.ts";
import { writeSummary } from "./summary.ts";
import { exitCodeOfAttempts } from "../run/explain_view.ts";

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 };

/** The first and the longest pause between two looks, in milliseconds. */
const FIRST_MILLIS = 2000;
const LONGEST_MILLIS = 60_000;

/** The longest wait, in milliseconds: 7 days. */
const WAIT_MAXIMUM = 7 * 24 * 3_600_000;

/**
 * A duration such as `30s`, `15m` or `2h`, in milliseconds.
 *
 * @throws {CliError} `usage`
 */
export function durationOf(text: string): number {
  const [, digits = "", unit = ""] = /^(\d{1,6})([smh])$/.exec(text) ?? [];
  const millis = Number(digits) * (UNITS[unit] ?? NaN);
  if (digits !== "" && millis >= 1 && millis <= WAIT_MAXIMUM) return millis;
  throw new CliError(
    "usage",
    `Cannot use --wait "${text}": must be a duration from 1s to 168h, such as 30s, 15m or 2h`,
  );
}

/** The pause before the next look in milliseconds: 2 s, doubling up to 60 s, and never beyond the rest of the wait. */
export function pauseBefore(look: number, remainingMillis: number): number {
  return Math.min(FIRST_MILLIS * 2 ** Math.min(look, 10), LONGEST_MILLIS, remainingMillis);
}

/** The flags of `gate run`. */
export interface RunCommandFlags extends ServerAddressFlags, ConfigFlags, LawFlags {
  readonly set?: readonly string[];
  readonly parameter?: readonly string[];
  readonly evidence?: string;
  readonly runKey?: string;
  readonly wait?: string;
  readonly export?: string;
  readonly signingKey?: string;
  readonly summary?: string;
  readonly dryRun?: boolean;
  /** The folder of the keys of people, for tools of this process. */
  readonly evidenceKeys?: string;
}

/** Most bytes of a run key. */
const RUN_KEY_BYTES = 1024;

/**
 * Runs `gate run [LAW_FILE]`. Returns 0 for a complete run, 3 if an open stage is False, else 4; 2 and 5 to 8 as `gate
 * client call`.
 */
export async function runRun(file: string | undefined, flags: RunCommandFlags): Promise<number> {
  namesServer(flags);
  await checkFlags(flags);
  const waitMillis = flags.wait === undefined ? 0 : durationOf(flags.wait);
  return await report(flags, await driveRun(flags, await readLawFile(file, flags), waitMillis));
}

/** Takes every step of the run of a law: on the server of the flags, else on the store of the configuration. */
export async function driveRun(flags: RunCommandFlags, source: Source, waitMillis: number): Promise<Driven> {
  if (namesServer(flags)) {
    return await withServerSession(flags, (session) => drive({ session, source, flags, waitMillis, dataDir: null }));
  }
  const config = await loadConfigToWrite(flags);
  const used = withStore(config, flags);
  const local = (dataDir: string): Promise<Driven> =>
    withLocalSession(used, (session) => drive({ session, source, flags, waitMillis, dataDir }), {
      dataDir,
      signingKey: flags.signingKey ?? null,
      evidenceKeys: flags.evidenceKeys ?? null,
    });
  const isTemporary = used.run_state_store.path === null && flags.dataDir === undefined;
  return isTemporary ? await withTemporaryData(local) : await local(dataDirOf(used, flags.dataDir));
}

async function checkFlags({ server, runKey, dryRun, signingKey, export: pack }: RunCommandFlags): Promise<void> {
  if (runKey !== undefined && (runKey === "" || new TextEncoder().encode(runKey).length > RUN_KEY_BYTES)) {
    throw new CliError("usage", `Cannot use --run-key: must have 1 to ${RUN_KEY_BYTES} bytes`);
  }
  if (signingKey !== undefined && pack === undefined) {
    throw new CliError("usage", "Flag --signing-key signs the runpack of --export, which is missing");
  }
  if (server !== undefined && signingKey !== undefined) throw new CliError("usage", SERVER_SIGNS, SIGN_FILE);
  await signerOf(signingKey);
  if (server === undefined) return;
  if (dryRun === true) throw new CliError("usage", "Flag --dry-run takes the steps in memory: omit --server");
}

/** The configuration with the store of the run: its own, else with a run key the default one, else memory. */
function withStore(config: GateConfig, { runKey, dryRun }: RunCommandFlags): GateConfig {
  const { run_state_store: store, schema_registry: schemas } = config;
  if (dryRun === true) {
    // A registry in a database is opened together with its runs only.
    const registry = schemas.type === "postgres" ? { ...schemas, type: "memory", path: null } as const : schemas;
    return { ...config, run_state_store: { ...store, type: "memory", path: null }, schema_registry: registry };
  }
  if (store.type !== "memory" || runKey === undefined) return config;
  return { ...config, run_state_store: { ...store, type: "sqlite", path: resolve(PIPELINE_STORE) } };
}

/** A run that is being driven. */
interface Driving {
  readonly session: ToolSession;
  readonly source: Source;
  readonly flags: RunCommandFlags;
  readonly waitMillis: number;
  /** The folder of runpacks; null on a server. */
  readonly dataDir: string | null;
}

/** What a run came to. */
export interface Driven {
  readonly identity: string;
  readonly law: ScenarioLaw;
  readonly genesis: JsonObject;
  readonly standing: RunStanding;
  readonly looks: readonly Look[];
  readonly runpack: { readonly identity: string; readonly file: string } | null;
}

async function drive(driving: Driving): Promise<Driven> {
  const { session, flags, dataDir } = driving;
  const { identity, law } = await defineLaw(session, driving.source);
  const set = await readValues(driving.source, law, flags.set ?? []);
  const genesis = genesisOf(law, [...flags.parameter ?? [], ...set.parameters]);
  const runKey = await startRun(session, { identity, law, genesis, runKey: flags.runKey });
  const { standing, looks } = await look(driving, runKey, law, set.evidence);
  const file = flags.dryRun === true ? undefined : flags.export;
  const runpack = file === undefined
    ? null
    : { identity: await exportPack(session, runKey, dataDir, resolve(file)), file };
  return { identity, law, genesis, standing, looks, runpack };
}

/** Defines the law unless it is there. */
async function defineLaw(
  session: ToolSession,
  source: Source,
): Promise<{ readonly identity: string; readonly law: ScenarioLaw }> {
  const answer = await session.call("scenario_define", { spec: source.value });
  const error = member(answer, "error") ?? null;
  const code = isJsonObject(error) ? member(error, "code") : undefined;
  const details = isJsonObject(error) && code === "law_exists" ? member(error, "details") ?? null : answer;
  const identity = isJsonObject(details) ? member(details, "scenario_law_identity") : undefined;
  const namespaceId = isJsonObject(source.value) ? Number(member(source.value, "namespace_id")) : 0;
  if (typeof identity === "string") return { identity, law: await readLaw(session, namespaceId, identity) };
  if (isJsonObject(error) && code === "invalid_spec") throw refusedSpec(source, error);
  const isRefused = code === "role_refused" || code === "tool_not_allowed";
  const defined = isRefused ? await findLaw(session, source, namespaceId) : null;
  if (defined === null) throw refusedCall("scenario_define", answer);
  return defined;
}

/** The law of a file on a server where the caller may not define laws; null unless it is there. */
async function findLaw(
  session: ToolSession,
  source: Source,
  namespaceId: number,
): Promise<{ readonly identity: string; readonly law: ScenarioLaw } | null> {
  const compiled = compileNextLaw(READER_PRIMITIVES, source.value);
  if (!compiled.ok) return null;
  const identity = compiled.law.scenario_law_identity;
  const answer = await session.call("scenarios_get", { namespace_id: namespaceId, scenario_law_identity: identity });
  const law = member(answer, "law") ?? null;
  return isJsonObject(law) ? { identity, law: law as unknown as ScenarioLaw } : null;
}

/** The parts that determine a run. */
interface RunParts {
  readonly identity: string;
  readonly law: ScenarioLaw;
  readonly genesis: JsonObject;
  readonly runKey: string | undefined;
}

/**
 * The creation request of a run: the same run key, law and parameters are the same run. Without a run key every call
 * begins a run.
 *
 * @returns 32 hex digits
 */
export function creationRequest(runKey: string | undefined, lawIdentity: string, genesis: JsonObject): string {
  if (runKey === undefined) return crypto.randomUUID().replaceAll("-", "");
  const parameters = member(genesis, "parameters") ?? [];
  return sha256(`gate run 1\n${canonicalize({ run_key: runKey, scenario_law_identity: lawIdentity, parameters })}`)
    .slice(0, 32);
}

/** Starts the run, or finds the one that the same creation request started. */
async function startRun(session: ToolSession, { identity, law, genesis, runKey }: RunParts): Promise<RunKey> {
  const answer = await mustCall(session, "scenario_start", {
    namespace_id: law.namespace_id,
    scenario_id: law.scenario_id,
    scenario_law_identity: identity,
    creation_request_id: creationRequest(runKey, identity, genesis),
    correlation: { kind: "unset" },
    genesis,
  });
  const outcome = member(answer, "outcome");
  if (!isJsonObject(outcome)) throw refusedCall("scenario_start", answer);
  const result = member(outcome, "outcome") === "accepted" ? member(outcome, "result") : undefined;
  if (isJsonObject(result)) return member(result, "run_key") as RunKey;
  throw rejectedParameters(outcome, genesis) ?? refusedCall("scenario_start", answer);
}

/** Looks at the run until it is complete or the wait is over; the evidence is read again for each look. */
async function look(
  { session, flags, waitMillis }: Driving,
  runKey: RunKey,
  law: ScenarioLaw,
  set: readonly JsonObject[],
): Promise<{ readonly standing: RunStanding; readonly looks: readonly Look[] }> {
  const showsProgress = flags.json !== true && Deno.stderr.isTerminal();
  const since = performance.now();
  const looks: Look[] = [];
  for (;;) {
    const read = flags.evidence === undefined ? [] : await readEvidence(flags.evidence, law);
    const evidence = [...set, ...read];
    const onStep = (stageId: string, decision: string): void => {
      if (showsProgress) writeError(`\r\x1b[K${shown(stageId)}: ${decision}\n`);
    };
    looks.push(await advance({ session, runKey, law, evidence, onStep }));
    const standing = await readStanding(session, runKey, law);
    const remaining = waitMillis - (performance.now() - since);
    if (standing.status === "complete" || remaining <= 0) return { standing, looks };
    const pause = pauseBefore(looks.length - 1, remaining);
    if (showsProgress) writeError(`\r\x1b[K${progressOf(standing)}, next look in ${Math.ceil(pause / 1000)} s`);
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

/** Where a run stands, and which stages could not be evaluated at the last look. */
export function describeDriven({ standing, looks }: Driven, colour: boolean): string {
  const obstacles = (looks.at(-1)?.obstacles ?? []).map(({ stage_id, message }) =>
    `Stage ${JSON.stringify(shown(stage_id))} cannot be evaluated now: ${message}\n`
  );
  return describeStanding(standing, colour) + obstacles.join("");
}

async function report(flags: RunCommandFlags, driven: Driven): Promise<ExitCode> {
  const { identity, genesis, standing, looks, runpack } = driven;
  const obstacles = looks.at(-1)?.obstacles ?? [];
  const code = exitCodeOfRun(exitCodeOfAttempts(standing.status, standing.attempts), obstacles);
  const parameters = (member(genesis, "parameters") ?? []) as never;
  if (flags.summary !== undefined) {
    const text = writeSummary(standing, {
      scenario_law_identity: identity,
      parameters: parametersText({ parameters }),
      obstacles,
      runpack,
    });
    await writeNewFile(flags.summary, text, { createNew: false });
  }
  if (flags.json === true) {
    const recorded = looks.reduce((sum, look) => sum + look.recorded, 0);
    const names = { scenario_law_identity: identity, parameters, dry_run: flags.dryRun === true };
    writeResult(
      "run",
      { ...standingAsJson(standing), ...names, looks: looks.length, recorded, obstacles, runpack },
      code === EXIT.ok,
    );
    return code;
  }
  writeOut(describeDriven(driven, wantsColour()));
  if (runpack !== null) writeOut(`Runpack ${runpack.identity} in ${runpack.file}\n`);
  if (flags.dryRun === true) writeOut("Nothing was recorded: --dry-run\n");
  return code;
}
