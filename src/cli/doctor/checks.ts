/** The checks of `gate doctor` on the machine: store files, keys, folders, disk and clock. */

import { statfsSync } from "node:fs";
import { dirname } from "node:path";
import { type KeysFolder, keysFolder } from "../../config/load.ts";
import { formatProblem } from "../../config/problems.ts";
import { repeatedKeys } from "../../config/trusted_keys.ts";
import type { GateConfig } from "../../config/types.ts";
import { reasonOf } from "../../store/file_reason.ts";
import { missingAccess } from "../../store/sqlite/access.ts";
import { openReaderConnection, orphanedLog, otherAt, requireStore } from "../../store/sqlite/connection.ts";
import { toStoreError } from "../../store/sqlite/errors.ts";
import { findLoss, findLossOfMissing } from "../../store/sqlite/high_water_mark.ts";
import { readableKeys, readTrustedKeys } from "../../tools/services/operator_profile.ts";
import { readFileAtMost } from "../../config/files.ts";
import { repositoryFolder } from "../../runpack/host/open_publisher.ts";
import { isGranted } from "../permissions/grants.ts";

/** The result of one check. */
export interface Finding {
  readonly check: string;
  /** `note`: works, but may be unexpected; `fail`: does not work. */
  readonly status: "ok" | "note" | "fail";
  readonly message: string;
}

/** A check that passes. */
export function ok(check: string, message: string): Finding {
  return { check, status: "ok", message };
}

/** A check that passes with something unexpected. */
export function note(check: string, message: string): Finding {
  return { check, status: "note", message };
}

/** A check that fails. */
export function fail(check: string, message: string): Finding {
  return { check, status: "fail", message };
}

/** Most keys of people that are named. */
const NAMED_KEYS = 20;
/** Free bytes below which the disk is nearly full, and below which it is full. */
const LOW_BYTES = 1024 ** 3;
const FULL_BYTES = 64 * 1024 ** 2;

/** The plausible range of the clock, in Unix milliseconds: no build is older, none will run that long. */
const EARLIEST_TIME = Date.UTC(2025, 0, 1);
const LATEST_TIME = Date.UTC(2100, 0, 1);

/** Milliseconds by which the change of a file may lie in the future before the clock fails the check. */
const TOLERANCE_MILLIS = 5 * 60 * 1000;

/** Checks a store as a start does, and runs SQLite's quick check. A store that does not exist yet is fine. */
export function checkStoreFile(check: string, path: string): Finding {
  const missing = missingAccess(path);
  if (missing !== null) return fail(check, missing);
  const other = otherAt(path);
  if (other !== null) return fail(check, `Cannot open store "${path}": ${other}`);
  if (!isThere(path)) return checkNewStore(check, path);
  try {
    return checkExistingStore(check, path);
  } catch (error) {
    return fail(check, toStoreError(error, path, "check store").message);
  }
}

/** Checks that a store file can be created; only a start creates it. */
function checkNewStore(check: string, path: string): Finding {
  const folder = nearestExisting(dirname(path));
  try {
    const orphaned = orphanedLog(path);
    if (orphaned !== null) return fail(check, `Cannot open store "${path}": ${orphaned}`);
    // A server may have the permission for its files alone.
    if (!isDenied(dirname(path)) || isDenied(path)) withTrial(dirname(path), () => {});
    const loss = findLossOfMissing(path);
    if (loss !== null) return note(check, `${path} lost data: ${loss}; a start creates it anew`);
    return ok(check, `${path} will be created`);
  } catch (error) {
    const why = error instanceof Deno.errors.NotFound ? "" : `: ${reasonOf(error)}`;
    return fail(check, `${path} cannot be created: ${folder} is not writable${why}`);
  }
}

/** Checks the contents of a store; throws for a file that a start rejects. */
function checkExistingStore(check: string, path: string): Finding {
  const connection = openReaderConnection(path, { busy_timeout_ms: 1000 });
  try {
    if (requireStore(connection) === "empty") {
      return ok(check, `${path} is an empty database: it becomes a store`);
    }
    const rows = connection.database.prepare("PRAGMA quick_check(3)").all().map((row) => String(row["quick_check"]));
    const isSound = rows.length === 1 && rows[0] === "ok";
    const loss = isSound ? findLoss(connection) : null;
    if (loss !== null) return note(check, `${path} lost data: ${loss}`);
    return isSound
      ? ok(check, `${path} opens and passes the quick check`)
      : fail(check, `${path} is damaged: ${rows.join("; ")}`);
  } finally {
    connection.database.close();
  }
}

/** Writes and removes a file in a folder or its nearest existing parent, and checks the free space. */
export function checkFolder(folder: string): readonly Finding[] {
  const existing = nearestExisting(folder);
  const where = existing === folder ? folder : `${folder} (to be created in ${existing})`;
  try {
    const disk = withTrial(isDenied(folder) ? repositoryFolder(folder) : folder, (made) => checkDisk(made, existing));
    return [ok("data folder", `${where} can be written`), disk];
  } catch (error) {
    return [fail("data folder", `${where} cannot be written: ${reasonOf(error)}`)];
  }
}

function isDenied(path: string): boolean {
  return !isGranted({ name: "write", path });
}

/** Does work with a folder in which a file can be made. A folder that is missing is made for that, and removed again. */
function withTrial<Result>(folder: string, work: (folder: string) => Result): Result {
  const missing: string[] = [];
  for (let part = folder; !isThere(part) && dirname(part) !== part; part = dirname(part)) missing.push(part);
  if (missing.length > 0) Deno.mkdirSync(folder, { recursive: true });
  try {
    Deno.removeSync(Deno.makeTempFileSync({ dir: folder, prefix: ".gate-doctor-" }));
    return work(folder);
  } finally {
    // A server that starts meanwhile may have filled it.
    try {
      for (const part of missing) Deno.removeSync(part);
    } catch {
      // It stays.
    }
  }
}

function checkDisk(made: string, folder: string): Finding {
  const { bavail, bsize } = statfsSync(made);
  const free = bavail * bsize;
  const message = `${(free / 1024 ** 3).toFixed(1)} GiB free on the disk of ${folder}`;
  if (free < FULL_BYTES) return fail("disk", `${message}: too little for any record`);
  if (free < LOW_BYTES) return note("disk", `${message}: nearly full`);
  return ok("disk", message);
}

/** Reads every trusted public key, and reports keys that are configured twice. */
export async function checkKeys(config: GateConfig, named: string | null = null): Promise<readonly Finding[]> {
  const evidenceKeys = keysFolder(config, named);
  const read = await readTrustedKeys(config, readFileAtMost);
  const findings = [...read].map(([key, found]): Finding =>
    typeof found === "string" ? ok("trusted key", `${key} is a public key`) : fail("trusted key", reasonOf(found))
  );
  const readable = readableKeys(read);
  const repeated = repeatedKeys(config, readable);
  const ofPeople = evidenceKeys === null ? [] : await checkEvidenceKeys(evidenceKeys, readable);
  return [...findings, ...ofPeople, ...repeated.map((problem) => fail("trusted key", formatProblem(problem)))];
}

/** Checks the folder of the keys of people beside the keys of the configuration. */
async function checkEvidenceKeys(
  folder: KeysFolder,
  configured: ReadonlyMap<string, string>,
): Promise<readonly Finding[]> {
  const check = "evidence keys";
  const { evidenceKeyProblems, readEvidenceKeys } = await import("../../evidence/trust/evidence_keys.ts");
  const problems = await evidenceKeyProblems(folder, configured);
  if (problems.length > 0) {
    return problems.map((problem) => fail(check, formatProblem(problem)));
  }
  const ids = (await readEvidenceKeys(folder)).map(({ key_id }) => key_id);
  if (ids.length === 0) return [note(check, `${folder.path} has no public key: no file NAME.pub`)];
  return [ok(check, `${folder.path} has the keys ${ids.slice(0, NAMED_KEYS).join(", ")}`)];
}

/** Checks the keys that sign cursors. */
export async function checkStateKeys(config: GateConfig): Promise<readonly Finding[]> {
  const check = "state keys";
  const { state_keys: keys } = config.server;
  if (keys.length === 0) return [];
  const { readStateKeys } = await import("../../tools/services/state_keys.ts");
  try {
    await readStateKeys(config);
    return [ok(check, `${keys[0]} signs cursors`)];
  } catch (error) {
    return [fail(check, reasonOf(error))];
  }
}

/** Checks that the clock is plausible: within the range above, and not before the last change of a store. */
export function checkClock(now: number, storePaths: readonly string[]): Finding {
  const shown = new Date(now).toISOString();
  if (now < EARLIEST_TIME || now >= LATEST_TIME) {
    return fail("clock", `${shown} cannot be right: accepted times would be wrong`);
  }
  for (const path of storePaths) {
    const changed = modifiedAt(path);
    if (changed !== null && changed > now + TOLERANCE_MILLIS) {
      const then = new Date(changed).toISOString();
      return fail("clock", `${shown} is before the last change of ${path} at ${then}`);
    }
  }
  return ok("clock", shown);
}

function modifiedAt(path: string): number | null {
  try {
    return Deno.statSync(path).mtime?.getTime() ?? null;
  } catch {
    return null;
  }
}

/** The path itself if it exists or cannot be read, else its nearest existing parent. */
function nearestExisting(path: string): string {
  const parent = dirname(path);
  return parent === path || isThere(path) ? path : nearestExisting(parent);
}

/** Whether a path exists; true if that cannot be determined. */
function isThere(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch (error) {
    return !(error instanceof Deno.errors.NotFound);
  }
}
