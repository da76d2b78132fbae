/**
 * A repository of published packs. It is addressed by content, so nothing is overwritten; objects come first, the
 * manifest last.
 */

import type { Identity } from "../../canonical/identity.ts";
import type { PackObject } from "../format/objects.ts";
import type { ObjectReference, SourceFault } from "../format/types.ts";

/** Why a request to a repository failed. */
export type RepositoryErrorCode =
  /** It cannot be reached, read or written now. The same call may succeed later. */
  | "unavailable"
  /** The content of an entry does not match its name. */
  | "integrity_failure"
  /** It cannot guarantee that nothing is overwritten. */
  | "unsupported";

/** A failure of a repository. */
export class RepositoryError extends Error {
  /** The kind of failure. */
  readonly code: RepositoryErrorCode;

  /** An error with its code and message. */
  constructor(code: RepositoryErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "RepositoryError";
    this.code = code;
  }
}

/** The result of a write: the same bytes may exist already. */
export type Written = "written" | "exists";

/** A signature file of a pack. */
export interface SignatureFile {
  readonly keyId: Identity;
  readonly bytes: Uint8Array;
}

/** A store of packs. Every method rejects with {@link RepositoryError}. */
export interface Repository {
  /** Its name in messages. */
  readonly name: string;
  /** Stores an object; an existing one with other bytes is an `integrity_failure`. */
  readonly putObject: (object: PackObject) => Promise<Written>;
  /** The bytes stored under an identity, not checked yet: at most one more than the reference states. */
  readonly getObject: (reference: ObjectReference) => Promise<Uint8Array | SourceFault>;
  /** Publishes a pack whose objects are stored. The pack survives a crash from then on. */
  readonly putManifest: (runpackIdentity: Identity, bytes: Uint8Array) => Promise<Written>;
  /** The bytes of a manifest, not checked yet. */
  readonly getManifest: (runpackIdentity: Identity) => Promise<Uint8Array | SourceFault>;
  /** Stores a signature beside a pack. */
  readonly putSignature: (runpackIdentity: Identity, signature: SignatureFile) => Promise<Written>;
  /** The signatures beside a pack, in key id order. */
  readonly getSignatures: (runpackIdentity: Identity) => Promise<readonly SignatureFile[]>;
  /** Resolves when the repository can accept a pack. */
  readonly ready: () => Promise<void>;
  /** Closes its connections. */
  readonly close: () => void;
}
