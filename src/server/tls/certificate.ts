/** Reads the parts of a certificate that are used (RFC 5280 section 4.1). */

import { DER_TAGS, type DerElement, DerError, dottedIdentifier, readElements, readInside } from "./der.ts";

/** The part of a certificate that its authority signs. */
export interface CertificateBody {
  /** Null for version 1, which omits it. */
  readonly version: DerElement | null;
  /** `serialNumber`, `signature`, `issuer`, `validity`, `subject`, `subjectPublicKeyInfo`, and optional fields. */
  readonly fields: readonly DerElement[];
}

/** The index of the subject and of the first optional field. */
export const FIELDS = { SUBJECT: 4, OPTIONAL: 6 } as const;

/** The most bytes of a certificate. */
const CERTIFICATE_BYTES = 64 * 1024;

/**
 * Reads a certificate.
 *
 * @param certificate DER of an X.509 certificate
 * @throws {DerError} When it cannot be read
 */
export function certificateBody(certificate: Uint8Array): CertificateBody {
  if (certificate.length > CERTIFICATE_BYTES) throw new DerError("Cannot read certificate: it is too large");
  const [outer] = readElements(certificate);
  const [body] = readInside(outer, DER_TAGS.SEQUENCE);
  const fields = readInside(body, DER_TAGS.SEQUENCE);
  const [first, ...rest] = fields;
  return first?.tag === DER_TAGS.EXPLICIT_0 ? { version: first, fields: rest } : { version: null, fields };
}

/**
 * The X.509 version of a certificate.
 *
 * @throws {DerError} When it cannot be read
 */
export function versionIn({ version }: CertificateBody): number {
  if (version === null) return 1;
  const [number] = readInside(version, DER_TAGS.EXPLICIT_0);
  if (number?.tag !== DER_TAGS.INTEGER || number.content.length !== 1) {
    throw new DerError("Cannot read certificate: version is not a small integer");
  }
  return (number.content[0] ?? 0) + 1;
}

/**
 * The value of an extension, or null.
 *
 * @param identifier In dotted form
 * @throws {DerError} When the extensions cannot be read
 */
export function extensionIn({ fields }: CertificateBody, identifier: string): Uint8Array | null {
  const wrapped = fields.slice(FIELDS.OPTIONAL).find(({ tag }) => tag === DER_TAGS.EXPLICIT_3);
  if (wrapped === undefined) return null;
  const [list] = readInside(wrapped, DER_TAGS.EXPLICIT_3);
  for (const extension of readInside(list, DER_TAGS.SEQUENCE)) {
    // The critical flag may stand between the two.
    const [name, ...rest] = readInside(extension, DER_TAGS.SEQUENCE);
    const value = rest.at(-1);
    if (name?.tag !== DER_TAGS.OBJECT_IDENTIFIER || value?.tag !== DER_TAGS.OCTET_STRING) {
      throw new DerError("Cannot read certificate: an extension is malformed");
    }
    if (dottedIdentifier(name.content) === identifier) return value.content;
  }
  return null;
}
