/**
 * Finds certificates that can be served but that many clients reject: those of X.509 version 1, and those without a
 * host in `subjectAltName`.
 */

import type { X509Certificate } from "node:crypto";
import type { Log } from "../process/log.ts";
import { type CertificateBody, certificateBody, extensionIn, versionIn } from "./certificate.ts";
import { DER_TAGS, DerError, readElements, readInside } from "./der.ts";
import { nameOf } from "./validity.ts";

/** The X.509 version with extensions. This runtime accepts no other, as client and from clients. */
const VERSION_NEEDED = 3;

const SUBJECT_ALT_NAME = "2.5.29.17";

/** The tags of hosts in a subjectAltName: `dNSName`, `iPAddress`. */
const HOST_TAGS = [0x82, 0x87];

const REMEDY = "openssl x509 -req -extfile FILE, with subjectAltName=DNS:HOST in it, makes one that they accept";

/** The X.509 version of a certificate, if it is not 3; null for version 3, or if it cannot be read. */
export function unfitVersion(certificate: X509Certificate): number | null {
  return read(certificate, (body) => {
    const version = versionIn(body);
    return version === VERSION_NEEDED ? null : version;
  });
}

/** Why many clients reject a server's certificate, to follow its name in a sentence; null for a compatible one. */
export function compatibilityNote(certificate: X509Certificate): string | null {
  const version = unfitVersion(certificate);
  if (version !== null) return `is of X.509 version ${version}, and many clients accept only version 3: ${REMEDY}`;
  return read(certificate, namesHost) === false
    ? `names no host in a subjectAltName, and many clients look for it nowhere else: ${REMEDY}`
    : null;
}

/** Logs the note of each certificate once. */
export function createCompatibilityWatch(log: Log): (certificate: X509Certificate) => void {
  let logged = "";
  return (certificate) => {
    if (certificate.fingerprint256 === logged) return;
    logged = certificate.fingerprint256;
    const note = compatibilityNote(certificate);
    if (note === null) return;
    log("warn", `The server's certificate ${note}`, { subject: nameOf(certificate) });
  };
}

function namesHost(body: CertificateBody): boolean {
  const names = extensionIn(body, SUBJECT_ALT_NAME);
  if (names === null) return false;
  return readInside(readElements(names)[0], DER_TAGS.SEQUENCE).some(({ tag }) => HOST_TAGS.includes(tag));
}

/** Reads a certificate; null if this reader cannot read it. The runtime could, so it is not reported. */
function read<Value>(certificate: X509Certificate, reading: (body: CertificateBody) => Value): Value | null {
  try {
    return reading(certificateBody(new Uint8Array(certificate.raw)));
  } catch (error) {
    if (error instanceof DerError) return null;
    throw error;
  }
}
