/**
 * How a certificate is made: one of X.509 version 1, or that names no host where clients look for it, can be served, but
 * many clients refuse it.
 *
 * @module
 */

import type { X509Certificate } from "node:crypto";
import type { Log } from "../process/log.ts";
import { type CertificateBody, certificateBody, extensionIn, versionIn } from "./certificate.ts";
import { DER_TAGS, DerError, readElements, readInside } from "./der.ts";
import { nameOf } from "./validity.ts";

/** The version of X.509 that has extensions: this runtime, as a client and of clients, takes no other. */
const VERSION_NEEDED = 3;

const SUBJECT_ALT_NAME = "2.5.29.17";

/** How names of hosts are tagged in a subjectAltName: `dNSName`, `iPAddress`. */
const HOST_TAGS = [0x82, 0x87];

const REMEDY = "openssl x509 -req -extfile FILE, in it subjectAltName=DNS:HOST, makes one that they take";

/** The version of X.509 of a certificate, where it is not the one needed; null for one that is, or cannot be read. */
export function unfitVersion(certificate: X509Certificate): number | null {
  return read(certificate, (body) => {
    const version = versionIn(body);
    return version === VERSION_NEEDED ? null : version;
  });
}

/** What is to be said of how a server's certificate is made, to stand after what it is called; null for nothing. */
export function formNote(certificate: X509Certificate): string | null {
  const version = unfitVersion(certificate);
  if (version !== null) return `is of X.509 version ${version}, and many clients take version 3 alone: ${REMEDY}`;
  return read(certificate, namesHost) === false
    ? `names no host in a subjectAltName, and many clients look for it nowhere else: ${REMEDY}`
    : null;
}

/** Tells a log of each certificate what is to be said of how it is made. */
export function createFormWatch(log: Log): (certificate: X509Certificate) => void {
  let told = "";
  return (certificate) => {
    if (certificate.fingerprint256 === told) return;
    told = certificate.fingerprint256;
    const note = formNote(certificate);
    if (note === null) return;
    log("warn", `The server's certificate ${note}`, { subject: nameOf(certificate) });
  };
}

function namesHost(body: CertificateBody): boolean {
  const names = extensionIn(body, SUBJECT_ALT_NAME);
  if (names === null) return false;
  return readInside(readElements(names)[0], DER_TAGS.SEQUENCE).some(({ tag }) => HOST_TAGS.includes(tag));
}

/** Null for what cannot be read here: the runtime could, and nothing is known against it. */
function read<Value>(certificate: X509Certificate, reading: (body: CertificateBody) => Value): Value | null {
  try {
    return reading(certificateBody(new Uint8Array(certificate.raw)));
  } catch (error) {
    if (error instanceof DerError) return null;
    throw error;
  }
}
