/** Checks a runtime profile in full: its form, and for gRPC the descriptors that it carries. */

import type { JsonValue } from "../../canonical/json.ts";
import type { ContractProblem } from "../contract/problems.ts";
import { createWorkerHost } from "../sandbox/worker_host.ts";
import type { ProviderContract } from "../types.ts";
import type { GrpcProfile } from "./runtime_profile.ts";
import { checkRuntimeProfile, type ProfileCheck } from "./runtime_profile.ts";

/** Milliseconds to read the descriptors; the start of the worker is not counted. */
const DESCRIPTORS_MILLIS = 5000;

/**
 * Checks a profile as `checkRuntimeProfile` does, and the descriptors of a gRPC profile in a worker without
 * permissions. Never rejects.
 *
 * @param value The profile as read by `parseJson`
 * @param contract The checked contract of the same provider
 */
export async function checkProfile(value: JsonValue, contract: ProviderContract): Promise<ProfileCheck> {
  const checked = checkRuntimeProfile(value, contract);
  if (!checked.ok || checked.profile.typed_protocol !== "grpc") return checked;
  const problems = await descriptorProblems(checked.profile);
  return problems.length === 0 ? checked : { ok: false, problems };
}

async function descriptorProblems(profile: GrpcProfile): Promise<readonly ContractProblem[]> {
  const module = new URL("./grpc/profile_worker.ts", import.meta.url);
  const host = createWorkerHost({ name: "gate-profile", module, permissions: {} });
  try {
    const answer = await host.ask<readonly ContractProblem[]>(profile, { limitMillis: DESCRIPTORS_MILLIS });
    if (answer.ok) return answer.answer;
    return [{ code: "profile_mismatch", path: "$.descriptor_set_base64", message: answer.message }];
  } finally {
    host.close();
  }
}
