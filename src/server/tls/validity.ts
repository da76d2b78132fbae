/** Checks the validity period of the server's certificate, and logs before it expires. */

import type { X509Certificate } from "node:crypto";
import type { Log } from "../process/log.ts";

/** The validity of a certificate at a time. */
export type Standing = "good" | "soon_over" | "not_yet" | "over";

/** How long before its expiry a certificate is reported, in milliseconds. */
const SOON_MILLIS = 7 * 24 * 60 * 60 * 1000;

/** The validity period of a certificate, in Unix milliseconds. */
export function timeOf({ validFrom, validTo }: X509Certificate): { readonly from: number; readonly to: number } {
  return { from: Date.parse(validFrom), to: Date.parse(validTo) };
}

/** The subject of a certificate on one line. */
export function nameOf({ subject }: X509Certificate): string {
  return subject.replaceAll("\n", ", ");
}

/** The validity of a certificate at a time. */
export function standingOf(certificate: X509Certificate, now: number): Standing {
  const { from, to } = timeOf(certificate);
  if (now < from) return "not_yet";
  if (now > to) return "over";
  return to - now < SOON_MILLIS ? "soon_over" : "good";
}

const ENTRIES = {
  soon_over: ["warn", "The server's certificate expires soon"],
  not_yet: ["error", "The server's certificate is not valid yet: clients reject it"],
  over: ["error", "The server's certificate has expired: clients reject it"],
} as const;

/** Logs the validity of each certificate once, and each change. */
export function createValidityWatch(log: Log): (certificate: X509Certificate, now: number) => void {
  let logged = "";
  return (certificate, now) => {
    const standing = standingOf(certificate, now);
    const key = `${standing} ${certificate.fingerprint256}`;
    if (key === logged) return;
    logged = key;
    if (standing === "good") return;
    const [level, message] = ENTRIES[standing];
    const { from, to } = timeOf(certificate);
    log(level, message, {
      subject: nameOf(certificate),
      valid_from: new Date(from).toISOString(),
      valid_to: new Date(to).toISOString(),
    });
  };
}
