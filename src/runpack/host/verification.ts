/** The primitives of a verification on this runtime. */

import { createHash } from "node:crypto";
import { setImmediate } from "node:timers";

import type { Primitives } from "../../run/primitives.ts";
import type { HashStream } from "../format/types.ts";
import type { ValidateSchema, VerificationPrimitives } from "../verify/types.ts";

function hashStream(): HashStream {
  const hash = createHash("sha256");
  return {
    update(chunk): void {
      hash.update(chunk);
    },
    digest: () => hash.digest("hex"),
  };
}

function pause(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/**
 * The primitives of a verification.
 *
 * @param primitives Hashing and signature checks
 * @param validateSchema Verdicts of JSON Schemas; without it, recorded verdicts are assumed to be right
 */
export function verificationPrimitives(
  primitives: Primitives,
  validateSchema?: ValidateSchema,
): VerificationPrimitives {
  const validator = validateSchema === undefined ? {} : { validateSchema };
  return { sha256: primitives.sha256, verifyEd25519: primitives.verifyEd25519, hashStream, pause, ...validator };
}
