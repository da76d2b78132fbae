/**
 * Archives one run: its runpack is published and verified from its bytes, and only then replaces the records.
 *
 * A process that is killed leaves the run whole in the store, or a tombstone whose runpack was verified. The same steps
 * again go on from there: an export of the same head gives the same runpack.
 */

import { canonicalize } from "../../canonical/canonicalize.ts";
import type { Identity } from "../../canonical/identity.ts";
import { stateIdentity } from "../../run/fold.ts";
import { asJson } from "../../run/primitives.ts";
import { readRecord } from "../../run/record.ts";
import { decodeManifest } from "../../runpack/format/manifest.ts";
import { openContents, readWhole } from "../../runpack/host/contents.ts";
import { localPackSource, openLocalRepository } from "../../runpack/host/local_repository.ts";
import type { Publisher } from "../../runpack/host/publish.ts";
import { type Repository, RepositoryError } from "../../runpack/host/repository.ts";
import type { UnavailableReason, VerificationReport } from "../../runpack/verify/types.ts";
import { PackError } from "../../runpack/walk.ts";
import { type ProjectedRun, projectRuns } from "../../store/projection.ts";
import { type RunHead, type RunStore, StoreError, type Tombstone } from "../../store/types.ts";
import { sha256 } from "../run/fold_state.ts";
import { EXPECTED_GAPS, fullReplay, verifyPack } from "../runpack/verify.ts";
import { CliError } from "../terminal/cli_error.ts";
import { EXIT } from "../terminal/exit_codes.ts";

/** What happened to a run. */
export type ArchivedRun =
  | { readonly outcome: "archived"; readonly runpack_identity: Identity }
  /** Its last record is too young, or another record or another process came first. */
  | { readonly outcome: "skipped" }
  | { readonly outcome: "failed"; readonly message: string };

/** Where runs are archived from and to. */
export interface Archive {
  readonly runs: RunStore;
  readonly publisher: Publisher;
  /** The folder of the local repository. */
  readonly root: string;
  /** The object store that mirrors it; null where none is configured. */
  readonly mirror: (() => Promise<Repository>) | null;
  /** Runs whose last record is older are archived, in Unix milliseconds. */
  readonly before: number;
  readonly now: () => number;
}

/**
 * The reasons for which no verification of any runpack of the run could come to more: the store has no more than the
 * runpack has. Every other reason concerns the bytes of the runpack.
 */
const INHERENT: readonly UnavailableReason[] = [...EXPECTED_GAPS, "value_not_retained", "unsigned_evidence"];

/** Whether the last record of a run is older than the instant. */
export async function isDue(
  { runs, before }: Pick<Archive, "runs" | "before">,
  { run_key, head }: RunHead,
): Promise<boolean> {
  const [last] = await runs.listRecords(run_key, head.revision - 1, 1);
  if (last === undefined) {
    throw new StoreError("corrupt", `Cannot read run "${run_key.run_id}": its last record is missing`);
  }
  return readRecord(last.record).acceptance_time.accepted_audit_instant < before;
}

/**
 * Archives a run if it is due.
 *
 * @throws {CliError} `repository_unavailable`
 * @throws {StoreError} Where the store fails, except for damage of this run
 */
export async function archiveRun(archive: Archive, run: RunHead): Promise<ArchivedRun> {
  try {
    return await isDue(archive, run) ? await replaceRecords(archive, run) : { outcome: "skipped" };
  } catch (error) {
    if (error instanceof StoreError && error.code === "archived") return { outcome: "skipped" };
    const isDamage = error instanceof StoreError && error.code === "corrupt" || error instanceof PackError ||
      error instanceof RepositoryError && error.code === "integrity_failure";
    if (isDamage) return { outcome: "failed", message: error.message };
    if (error instanceof RepositoryError) throw unavailable(error.message);
    throw error;
  }
}

async function replaceRecords(archive: Archive, { run_key }: RunHead): Promise<ArchivedRun> {
  const { runs, publisher, now } = archive;
  // Loading verifies the whole chain. A projection for each run: only one state is in memory.
  const run = await projectRuns(runs, sha256, { statesKept: 1 }).load(run_key);
  if (run === null || run.archived !== undefined || run.state.status !== "complete") return { outcome: "skipped" };
  const publication = await publisher.publish(run_key);
  switch (publication.outcome) {
    case "published":
      break;
    case "repository_unavailable":
      throw unavailable(publication.message);
    case "archived":
    case "run_not_found":
      return { outcome: "skipped" };
    case "condition_not_found":
    case "limit_exceeded":
    case "integrity_failure":
      return { outcome: "failed", message: publication.message };
  }
  const { runpack_identity } = publication;
  const problem = await packProblem(archive, runpack_identity, run);
  // A record that was accepted during the export is in the runpack, and the run is young again.
  if (problem === "head") return { outcome: "skipped" };
  if (problem !== null) return { outcome: "failed", message: `runpack ${runpack_identity}: ${problem}` };
  const tombstone: Tombstone = {
    runpack_identity,
    archived_instant: now(),
    state_identity: stateIdentity(sha256, run.state),
    state: canonicalize(asJson(run.state)),
  };
  const { outcome } = await runs.archives.archive(run_key, run.state.head, tombstone);
  return outcome === "archived" ? { outcome, runpack_identity } : { outcome: "skipped" };
}

function unavailable(message: string): CliError {
  return new CliError("repository_unavailable", message, "nothing is lost: run the command again", EXIT.unreachable);
}

/**
 * The reason against a runpack, read back and replayed from its bytes; "head" where it has another head than the state;
 * else null.
 */
async function packProblem(archive: Archive, identity: Identity, { law, state }: ProjectedRun): Promise<string | null> {
  const source = localPackSource(archive.root, identity);
  const bytes = await source.manifest();
  if (typeof bytes === "string") return `its manifest is ${bytes}`;
  const decoded = decodeManifest(bytes);
  if (!decoded.ok) return `its manifest is invalid: ${decoded.fault.message}`;
  const { run_key, head, scenario_law_identity, state_identity, withheld_conditions } = decoded.manifest;
  if (head.record_id !== state.head.record_id) return "head";
  const isSame = run_key.run_id === state.run_key.run_id && run_key.namespace_id === state.run_key.namespace_id &&
    scenario_law_identity === law.scenario_law_identity && state_identity === stateIdentity(sha256, state);
  if (!isSame || withheld_conditions.length > 0) return "it is not that of the run";
  const signatures = await openLocalRepository(archive.root).getSignatures(identity);
  const pack = { source, signatures, identity, close: () => {} };
  const { report, run } = await verifyPack(pack, fullReplay({}));
  return reportProblem(report) ?? (run?.status === "complete" ? null : "its run is not complete") ??
    await mirrorProblem(archive, identity);
}

function reportProblem({ claims }: VerificationReport): string | null {
  for (const { claim, status } of claims) {
    if (status.status === "violated") return `${claim} is violated: ${status.reason}`;
    if (status.status === "unavailable" && !INHERENT.includes(status.reason)) {
      return `${claim} cannot be verified: ${status.reason}`;
    }
  }
  return null;
}

/** Reads every object of the runpack back from the object store; each has to hash to its name. */
async function mirrorProblem({ mirror }: Archive, identity: Identity): Promise<string | null> {
  if (mirror === null) return null;
  const contents = await openContents(sha256, await mirror(), identity);
  if (contents === null) return "it is not in the object store";
  await readWhole(contents);
  return null;
}
