/**
 * A repository of packs: where exports are published. Content-addressed, so nothing is ever overwritten; objects
 * first, the manifest last.
 *
 * @module
 */

import type { Identity } from "../../canonical/identity.ts";
import type { PackObject } from "../format/objects.ts";
import type { ObjectReference, SourceFault } from "../format/types.ts";

/** Why a repository does not do what it is asked. */
export type RepositoryErrorCode =
  /** It cannot be reached, read or written now: the same call may succeed later. */
  | "unavailable"
  /** What lies under a name is not what the name says. */
  | "integrity_failure"
  /** It cannot keep the promise that nothing is overwritten. */
  | "unsupported";

/** A failure of a repository. */
export class RepositoryError extends Error {
  /** What went wrong. */
  readonly code: RepositoryErrorCode;

  /** A failure with its code and a sentence. */
  constructor(code: RepositoryErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "RepositoryError";
    this.code = code;
  }
}

/** What became of a write: the same bytes may be there already. */
export type Written = "written" | "exists";

/** A signature file of a pack. */
export interface SignatureFile {
  readonly keyId: Identity;
  readonly bytes: Uint8Array;
}

/** Where packs are kept. Every method rejects with {@link RepositoryError}. */
export interface Repository {
  /** What messages call it. */
  readonly name: string;
  /** Keeps an object; one that is there with other bytes is an `integrity_failure`. */
  readonly putObject: (object: PackObject) => Promise<Written>;
  /** The bytes under an identity, not yet believed: at most one more than the reference says. */
  readonly getObject: (reference: ObjectReference) => Promise<Uint8Array | SourceFault>;
  /** Publishes a pack whose objects have all been put: from here on it is there, also after a crash. */
  readonly putManifest: (runpackIdentity: Identity, bytes: Uint8Array) => Promise<Written>;
  /** The bytes of a manifest, not yet believed. */
  readonly getManifest: (runpackIdentity: Identity) => Promise<Uint8Array | SourceFault>;
  /** Lays a signature beside a pack. */
  readonly putSignature: (runpackIdentity: Identity, signature: SignatureFile) => Promise<Written>;
  /** The signatures beside a pack, in key id order. */
  readonly getSignatures: (runpackIdentity: Identity) => Promise<readonly SignatureFile[]>;
  /** Resolves when it can take a pack. */
  readonly ready: () => Promise<void>;
  /** Ends what connections there are. */
  readonly close: () => void;
}
