/** The checks of `gate doctor` on the files of `server.tls`. */

import type { X509Certificate } from "node:crypto";
import type { TlsConfig } from "../../config/types.ts";
import { compatibilityNote } from "../../server/tls/certificate_compatibility.ts";
import { certificates, loadMaterial, TlsFilesError } from "../../server/tls/material.ts";
import { nameOf, standingOf, timeOf } from "../../server/tls/validity.ts";
import { fail, type Finding } from "./checks.ts";

/** Reads the files as the server does; checks the validity of each certificate, and the form of the server's. */
export async function checkTls(config: TlsConfig, now: number): Promise<readonly Finding[]> {
  try {
    const { cert, leaf: own, clientAuthorities } = await loadMaterial(config);
    const [leaf, ...chain] = certificates("cert_path", cert).map((one) => validity("server.tls.cert_path", one, now));
    const authorities = (clientAuthorities ?? []).flatMap((pem) => certificates("client_ca_path", pem))
      .map((one) => validity("server.tls.client_ca_path", one, now));
    // One expired authority among several only affects its own clients.
    const isAnyValid = authorities.some(({ status }) => status !== "fail");
    return [
      ...leaf === undefined ? [] : [leaf],
      ...form("server.tls.cert_path", own),
      ...chain.filter(({ status }) => status !== "ok"),
      ...authorities.map((one) => one.status === "fail" && isAnyValid ? { ...one, status: "note" as const } : one),
    ];
  } catch (error) {
    if (!(error instanceof TlsFilesError)) throw error;
    return error.faults.map((message) => fail("certificate", message));
  }
}

function form(member: string, certificate: X509Certificate): readonly Finding[] {
  const note = compatibilityNote(certificate);
  return note === null ? [] : [finding(member, certificate, "note", note)];
}

function validity(member: string, certificate: X509Certificate, now: number): Finding {
  const { from, to } = timeOf(certificate);
  const found = (status: Finding["status"], what: string, time: number): Finding =>
    finding(member, certificate, status, `${what} ${new Date(time).toISOString()}`);
  switch (standingOf(certificate, now)) {
    case "not_yet":
      return found("fail", "is not valid before", from);
    case "over":
      return found("fail", "expired at", to);
    case "soon_over":
      return found("note", "expires at", to);
    case "good":
      return found("ok", "is valid until", to);
  }
}

function finding(member: string, certificate: X509Certificate, status: Finding["status"], what: string): Finding {
  return { check: "certificate", status, message: `${member}: "${nameOf(certificate)}" ${what}` };
}
