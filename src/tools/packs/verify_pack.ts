/** Verifies a pack of the local repository. */

import { HOST_PRIMITIVES } from "../../evidence/host_primitives.ts";
import { localPackSource } from "../../runpack/host/local_repository.ts";
import { verificationPrimitives } from "../../runpack/host/verification.ts";
import type {
  ValidateSchema,
  VerificationPrimitives,
  VerificationReport,
  VerificationRequest,
} from "../../runpack/verify/types.ts";
import { verifyRunpack } from "../../runpack/verify/verify.ts";

/**
 * Verifies a pack. A rejection of the validator rejects the verification.
 *
 * @param root The folder of the repository
 * @param signal Aborted when the report is no longer needed
 */
export type VerifyPack = (
  root: string,
  request: VerificationRequest,
  validateSchema: ValidateSchema,
  signal: AbortSignal,
) => Promise<VerificationReport>;

/** Verifies a pack on this thread. */
export function verifyPack(
  root: string,
  request: VerificationRequest,
  validateSchema: ValidateSchema,
  pause?: VerificationPrimitives["pause"],
): Promise<VerificationReport> {
  const source = localPackSource(root, request.runpack_identity ?? "");
  const primitives = verificationPrimitives(HOST_PRIMITIVES, validateSchema);
  return verifyRunpack(source, request, pause === undefined ? primitives : { ...primitives, pause });
}
