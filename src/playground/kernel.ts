/** The kernel as the page runs it, for the console of the browser and for the published vectors. */

import { canonicalize } from "../canonical/canonicalize.ts";
import { contentHash, identify, identifyBytes, identifyCanonical, isOperationIdentity } from "../canonical/identity.ts";
import { sortedBy } from "../canonical/order.ts";
import { parseScanned } from "../canonical/reader.ts";
import { decodeUtf8Strict, parseJson, readJson, scanJson } from "../canonical/scan.ts";
import { constructLaw, graphIdentity, graphOf, lawIdentity, reproveLaw } from "../law/law.ts";
import { lawAsJson } from "../law/normal_form.ts";
import { readTemplate } from "../law/placeholders.ts";
import { proveRequirements } from "../law/proof/proof_law.ts";
import { classifySatisfiability } from "../law/proof/satisfiability.ts";
import { collector } from "../law/refusals.ts";
import { checkPredicate, compilePredicate, predicateOnAbsence } from "../law/value/predicate.ts";
import { triName } from "../law/value/truth.ts";
import { checkInDomain, checkTypedValue, domainEqual, fitProviderResult } from "../law/value/typed_value.ts";
import { environmentUnder } from "../run/command.ts";
import { compileLaw } from "../run/compile.ts";
import { decide } from "../run/decide/decide.ts";
import { fold, stateIdentity } from "../run/fold.ts";
import { invocationIdentity } from "../run/invocation.ts";
import { bindLaw, checkParameters } from "../run/parameters.ts";
import { profileIdentity } from "../run/profile.ts";
import { commentHash, isSubmittedStatementSigned, submittedStatementText } from "../run/submitted_statement.ts";
import { verifyEd25519 } from "../runpack/browser/ed25519.ts";
import { sha256 } from "../runpack/browser/sha256.ts";

/** Functions of the kernel by name. */
export const KERNEL = {
  bindLaw,
  canonicalize,
  checkInDomain,
  checkParameters,
  checkPredicate,
  checkTypedValue,
  classifySatisfiability,
  collector,
  commentHash,
  compileLaw,
  compilePredicate,
  constructLaw,
  contentHash,
  decide,
  decodeUtf8Strict,
  domainEqual,
  environmentUnder,
  fitProviderResult,
  fold,
  graphIdentity,
  graphOf,
  identify,
  identifyBytes,
  identifyCanonical,
  invocationIdentity,
  isOperationIdentity,
  isSubmittedStatementSigned,
  lawAsJson,
  lawIdentity,
  parseJson,
  parseScanned,
  predicateOnAbsence,
  profileIdentity,
  proveRequirements,
  readJson,
  readTemplate,
  reproveLaw,
  scanJson,
  sha256,
  sortedBy,
  stateIdentity,
  submittedStatementText,
  triName,
  verifyEd25519,
} as const;
