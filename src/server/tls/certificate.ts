/**
 * The parts of a certificate (RFC 5280 section 4.1), as far as they are looked at.
 *
 * @module
 */

import { DER_TAGS, type DerElement, DerError, dottedIdentifier, readElements, readInside } from "./der.ts";

/** What an authority signs: the certificate without its signature. */
export interface CertificateBody {
  /** Null where it is left out, which means version 1. */
  readonly version: DerElement | null;
  /** `serialNumber`, `signature`, `issuer`, `validity`, `subject`, `subjectPublicKeyInfo`, and what may follow. */
  readonly fields: readonly DerElement[];
}

/** Where in the fields the subject stands, and where what not every certificate has. */
export const FIELDS = { SUBJECT: 4, OPTIONAL: 6 } as const;

/** Bytes of a certificate that are looked at. */
const CERTIFICATE_BYTES = 64 * 1024;

/**
 * Reads a certificate.
 *
 * @param certificate DER of an X.509 certificate
 * @throws {DerError} Where it cannot be read
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
 * The version of X.509 that a certificate is of.
 *
 * @throws {DerError} Where it cannot be read
 */
export function versionIn({ version }: CertificateBody): number {
  if (version === null) return 1;
  const [number] = readInside(version, DER_TAGS.EXPLICIT_0);
  if (number?.tag !== DER_TAGS.INTEGER || number.content.length !== 1) {
    throw new DerError("Cannot read certificate: version is no small number");
  }
  return (number.content[0] ?? 0) + 1;
}

/**
 * What an extension holds; null where a certificate does not have it.
 *
 * @param identifier In dotted form
 * @throws {DerError} Where extensions cannot be read
 */
export function extensionIn({ fields }: CertificateBody, identifier: string): Uint8Array | null {
  const wrapped = fields.slice(FIELDS.OPTIONAL).find(({ tag }) => tag === DER_TAGS.EXPLICIT_3);
  if (wrapped === undefined) return null;
  const [list] = readInside(wrapped, DER_TAGS.EXPLICIT_3);
  for (const extension of readInside(list, DER_TAGS.SEQUENCE)) {
    // Whether it is critical may stand between the two.
    const [name, ...rest] = readInside(extension, DER_TAGS.SEQUENCE);
    const value = rest.at(-1);
    if (name?.tag !== DER_TAGS.OBJECT_IDENTIFIER || value?.tag !== DER_TAGS.OCTET_STRING) {
      throw new DerError("Cannot read certificate: what stands among extensions is none");
    }
    if (dottedIdentifier(name.content) === identifier) return value.content;
  }
  return null;
}
