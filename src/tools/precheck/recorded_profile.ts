/**
 * The operator profile of a record: what its attempt was missing follows from that profile, not from the current one.
 */

import type { Identity } from "../../canonical/identity.ts";
import { readJson } from "../../canonical/scan.ts";
import { type VerifiedOnly, verifiedOnlyUnder } from "../../run/missing/stage.ts";
import type { OperatorProfile } from "../../run/profile.ts";
import { StoreError } from "../../store/types.ts";
import type { Services } from "../services/services.ts";

/** The conditions that needed verified evidence under the profile of a record. */
export async function verifiedOnlyAt(services: Services, profileId: Identity): Promise<VerifiedOnly> {
  return verifiedOnlyUnder(await profileAt(services, profileId));
}

async function profileAt({ profiles, runs }: Services, profileId: Identity): Promise<OperatorProfile> {
  const known = profiles.find(({ profile_identity }) => profile_identity === profileId);
  if (known !== undefined) return known.profile;
  const artifact = await runs.artifacts.get(profileId);
  if (artifact === null) throw new StoreError("corrupt", `Cannot read operator profile "${profileId}": it is missing`);
  return readJson<OperatorProfile>(artifact.body);
}
