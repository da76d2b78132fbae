/**
 * Copies laws and artifacts, which many runs share. A run is copied after those that it names, so the target never has
 * a run that cannot be read.
 */

import { isDeepStrictEqual } from "node:util";

import { checkArtifact, checkLaw } from "../check/check_rows.ts";
import type { CheckedRun } from "../check/check_runs.ts";
import { type Copying, reporting } from "./copying.ts";
import type { Artifact, StoredLaw } from "../types.ts";

/** Copies a law. */
export function copyLaw(copying: Copying, law: StoredLaw): Promise<void> {
  const { target: { runs }, written, copied } = copying;
  const { namespace_id, scenario_law_identity: identity } = law;
  return reporting(copying, "law", { namespace_id }, async () => {
    if (await runs.laws.put(law) === "stored") written.laws += 1;
    if (!isDeepStrictEqual(await runs.laws.get(namespace_id, identity), law)) {
      return `Law "${identity}" differs at the target`;
    }
    copied.set(lawName(namespace_id, identity), true);
    return null;
  });
}

/** Copies an artifact. */
export function copyArtifact(copying: Copying, artifact: Artifact): Promise<void> {
  const { target: { runs }, written, copied } = copying;
  const { identity } = artifact;
  return reporting(copying, "artifact", undefined, async () => {
    if (await runs.artifacts.get(identity) === null) {
      await runs.artifacts.put(artifact);
      written.artifacts += 1;
    }
    if (!isDeepStrictEqual(await runs.artifacts.get(identity), artifact)) {
      return `Artifact "${identity}" differs at the target`;
    }
    copied.set(identity, true);
    return null;
  });
}

function lawName(namespaceId: number, identity: string): string {
  return `${namespaceId} ${identity}`;
}

/**
 * Copies the law and the artifacts of a run that are newer than the copies of their tables.
 *
 * @returns Why the run cannot be copied, or null
 * @throws {StoreError} `corrupt` where one of them is damaged at the target
 */
export async function shareWith(
  copying: Copying,
  { run, artifacts }: Pick<CheckedRun, "run" | "artifacts">,
): Promise<string | null> {
  const { checking, target: { runs }, copied } = copying;
  const { run_key: { namespace_id }, scenario_law_identity } = run;
  const name = lawName(namespace_id, scenario_law_identity);
  if (copied.get(name) === undefined && await runs.laws.get(namespace_id, scenario_law_identity) === null) {
    copied.set(name, false);
    const row = await checking.rows.law(namespace_id, scenario_law_identity);
    const law = row === null ? null : checkLaw(checking, row);
    if (law !== null) await copyLaw(copying, law);
  }
  if (copied.get(name) === false) return `its law "${scenario_law_identity}" was not copied`;
  for (const identity of artifacts) {
    if (copied.get(identity) === undefined && await runs.artifacts.get(identity) === null) {
      copied.set(identity, false);
      const row = await checking.rows.artifact(identity);
      const artifact = row === null ? null : checkArtifact(checking, row);
      if (artifact !== null) await copyArtifact(copying, artifact);
    }
    if (copied.get(identity) === false) return `its artifact "${identity}" was not copied`;
  }
  return null;
}
