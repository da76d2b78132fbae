/**
 * The checks of `gate doctor` on the files of `server.tls`.
 *
 * @module
 */

import type { X509Certificate } from "node:crypto";
import type { TlsConfig } from "../config/server_types.ts";
import { certificates, loadMaterial, TlsFilesError } from "../server/tls/material.ts";
import { standingOf, timeOf } from "../server/tls/validity.ts";
import type { Finding } from "./doctor_checks.ts";

/** Reads the files as the server does, and says of each certificate whether it counts now. */
export async function checkTls(config: TlsConfig, now: number): Promise<readonly Finding[]> {
  try {
    const { cert, clientAuthorities } = await loadMaterial(config);
    const [leaf, ...chain] = certificates("cert_path", cert).map((one) => validity("server.tls.cert_path", one, now));
    const authorities = (clientAuthorities ?? []).flatMap((pem) => certificates("client_ca_path", pem))
      .map((one) => validity("server.tls.client_ca_path", one, now));
    // Of several authorities one may have had its time: its clients alone are refused.
    const isAnyGood = authorities.some(({ status }) => status !== "fail");
    return [
      ...leaf === undefined ? [] : [leaf],
      ...chain.filter(({ status }) => status !== "ok"),
      ...authorities.map((one) => one.status === "fail" && isAnyGood ? { ...one, status: "note" as const } : one),
    ];
  } catch (error) {
    if (!(error instanceof TlsFilesError)) throw error;
    return error.faults.map((message) => ({ check: "certificate", status: "fail", message }));
  }
}

function validity(member: string, certificate: X509Certificate, now: number): Finding {
  const name = certificate.subject.replaceAll("\n", ", ");
  const { from, to } = timeOf(certificate);
  const say = (status: Finding["status"], what: string, time: number): Finding => ({
    check: "certificate",
    status,
    message: `${member}: "${name}" ${what} ${new Date(time).toISOString()}`,
  });
  switch (standingOf(certificate, now)) {
    case "not_yet":
      return say("fail", "does not count before", from);
    case "over":
      return say("fail", "ran out at", to);
    case "soon_over":
      return say("note", "runs out at", to);
    case "good":
      return say("ok", "counts until", to);
  }
}
