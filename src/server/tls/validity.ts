/**
 * When a certificate counts, and that somebody is told before it no longer does.
 *
 * @module
 */

import type { X509Certificate } from "node:crypto";
import type { Log } from "../process/log.ts";

/** How a certificate stands at a time. */
export type Standing = "good" | "soon_over" | "not_yet" | "over";

/** How long before a certificate runs out that is told, in milliseconds. */
const SOON_MILLIS = 7 * 24 * 60 * 60 * 1000;

/** The time of a certificate, in Unix milliseconds. */
export function timeOf({ validFrom, validTo }: X509Certificate): { readonly from: number; readonly to: number } {
  return { from: Date.parse(validFrom), to: Date.parse(validTo) };
}

/** What a certificate is called, on one line. */
export function nameOf({ subject }: X509Certificate): string {
  return subject.replaceAll("\n", ", ");
}

/** How a certificate stands. */
export function standingOf(certificate: X509Certificate, now: number): Standing {
  const { from, to } = timeOf(certificate);
  if (now < from) return "not_yet";
  if (now > to) return "over";
  return to - now < SOON_MILLIS ? "soon_over" : "good";
}

const WORDS = {
  soon_over: ["warn", "The server's certificate runs out soon"],
  not_yet: ["error", "The server's certificate does not count yet: clients refuse it"],
  over: ["error", "The server's certificate has run out: clients refuse it"],
} as const;

/** Tells a log once of each certificate, and of each change of how it stands. */
export function createValidityWatch(log: Log): (certificate: X509Certificate, now: number) => void {
  let told = "";
  return (certificate, now) => {
    const standing = standingOf(certificate, now);
    const key = `${standing} ${certificate.fingerprint256}`;
    if (key === told) return;
    told = key;
    if (standing === "good") return;
    const [level, message] = WORDS[standing];
    const { from, to } = timeOf(certificate);
    log(level, message, {
      subject: nameOf(certificate),
      valid_from: new Date(from).toISOString(),
      valid_to: new Date(to).toISOString(),
    });
  };
}
