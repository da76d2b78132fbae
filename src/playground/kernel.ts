/**
 * The kernel as the page runs it, for the console of the browser and for the published vectors.
 *
 * @module
 */

import { canonicalize } from "../canonical/canonicalize.ts";
import { identify, identifyCanonical } from "../canonical/identity.ts";
import { decodeUtf8Strict, parseJson, readJson, scanJson } from "../canonical/scan.ts";
import { constructLaw, graphIdentity, lawIdentity, reproveLaw } from "../law/law.ts";
import { lawAsJson } from "../law/normal_form.ts";
import { classifySatisfiability } from "../law/proof/satisfiability.ts";
import { compilePredicate } from "../law/value/predicate.ts";
import { triName } from "../law/value/truth.ts";
import { environmentUnder } from "../run/command.ts";
import { compileLaw } from "../run/compile.ts";
import { decide } from "../run/decide/decide.ts";
import { fold, stateIdentity } from "../run/fold.ts";
import { invocationIdentity } from "../run/invocation.ts";
import { verifyEd25519 } from "../runpack/browser/ed25519.ts";
import { sha256 } from "../runpack/browser/sha256.ts";

/** Functions of the kernel by name. */
export const KERNEL = {
  canonicalize,
  classifySatisfiability,
  compileLaw,
  compilePredicate,
  constructLaw,
  decide,
  decodeUtf8Strict,
  environmentUnder,
  fold,
  graphIdentity,
  identify,
  identifyCanonical,
  invocationIdentity,
  lawAsJson,
  lawIdentity,
  parseJson,
  readJson,
  reproveLaw,
  scanJson,
  sha256,
  stateIdentity,
  triName,
  verifyEd25519,
} as const;
