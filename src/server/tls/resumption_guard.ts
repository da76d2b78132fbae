/**
 * Guards client certificates against TLS session resumption. The runtime verifies certificates only in full handshakes,
 * and accepts a resumed session without verification. So a certificate is accepted only if this server verified it in a
 * full handshake. It must be valid now, and no authority withdrawn since.
 */

import type { Server } from "node:http";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { RequestTls, TlsPeer } from "../auth/types.ts";
import { addressOf, under } from "../audit/peers.ts";
import type { Log } from "../process/log.ts";
import { certificateSubject } from "./subject.ts";

/** Whether clients must, may or need not present a certificate. */
export type ClientCertificates = "required" | "optional" | "none";

/** The guard of one server. */
export interface PeerGuard {
  /** The TLS facts of a connection; null for a connection that is not, or no longer, accepted. */
  readonly tlsOf: (socket: Socket) => RequestTls | null;
  /** Ends a connection that is no longer accepted, and records the reason. */
  readonly end: (socket: Socket) => void;
  /** Forgets every certificate: each must be verified again. */
  readonly reset: () => void;
}

/** The most verified certificates that are kept; beyond that the oldest must be verified again. */
const REMEMBERED = 65_536;

/**
 * Guards a server that has not accepted a connection yet.
 *
 * @param refused Records each connection that is ended, with its reason
 */
export function guardPeers(
  server: Server,
  mode: ClientCertificates,
  log: Log,
  refused: (reason: string, peerAddress: string) => void,
  now: () => number = Date.now,
): PeerGuard {
  /** The verified certificates: their SHA-256 and the end of their validity. */
  const verified = new Map<string, number>();
  const peers = new WeakMap<Socket, Timed | null>();
  const isCurrent = watchConnections(server, () => resets);
  let resets = 0;
  const end = (socket: Socket, reason: string): void => {
    refused(reason, addressOf(socket));
    socket.destroy();
  };
  // Runs before the HTTP parser gets the connection.
  server.prependListener("secureConnection", (socket: TLSSocket) => {
    if (mode === "none") return void peers.set(socket, null);
    const shown = readShown(socket, log);
    if (shown === "unreadable") return end(socket, "client_certificate_unreadable");
    if (shown === null) {
      if (mode === "required") return end(socket, "client_certificate_missing");
      return void peers.set(socket, null);
    }
    // The runtime verifies against the authorities at the opening of the connection, even in a later handshake.
    if (!isCurrent(socket)) return end(socket, "client_certificate_not_verified_here");
    const isTimely = now() >= shown.notBefore && now() <= shown.notAfter;
    if (socket.authorized && isTimely && !socket.isSessionReused()) {
      if (verified.size >= REMEMBERED) verified.delete(verified.keys().next().value ?? "");
      verified.set(shown.fingerprint, shown.notAfter);
    }
    if (!isTimely) return end(socket, "client_certificate_not_in_time");
    if (!socket.authorized) return end(socket, "client_certificate_untrusted");
    if (!verified.has(shown.fingerprint)) return end(socket, "client_certificate_not_verified_here");
    const { subject, fingerprint, notAfter } = shown;
    peers.set(socket, { peer: { subject, fingerprint }, notAfter });
  });
  /** Why an open connection is no longer accepted: its certificate expired, or is no longer verified. */
  const lapse = ({ peer, notAfter }: Timed): string | null => {
    if (now() > notAfter) return "client_certificate_not_in_time";
    return verified.has(peer.fingerprint) ? null : "client_certificate_not_verified_here";
  };
  return {
    reset: () => {
      resets++;
      verified.clear();
    },
    tlsOf: (socket) => {
      const known = peers.get(socket);
      return known === undefined || (known !== null && lapse(known) !== null) ? null : { peer: known?.peer ?? null };
    },
    end: (socket) => {
      const known = peers.get(socket) ?? null;
      const reason = known === null ? null : lapse(known);
      if (reason === null) socket.destroy();
      else end(socket, reason);
    },
  };
}

/** Makes the check that no authority was withdrawn since a connection was opened; false for an unknown connection. */
function watchConnections(server: Server, resets: () => number): (socket: Socket) => boolean {
  const opened = new Map<string, { readonly resets: number }>();
  server.prependListener("connection", (socket: Socket) => {
    const end = endOf(socket);
    const known = { resets: resets() };
    opened.set(end, known);
    socket.on("close", () => {
      if (opened.get(end) === known) opened.delete(end);
    });
  });
  return (socket) => opened.get(endOf(socket))?.resets === resets();
}

/** The key that a TCP connection and its TLS connection share: the address and port of the peer, also after a reset. */
function endOf(socket: Socket): string {
  return `${addressOf(socket)} ${socket.remotePort ?? under(socket).remotePort}`;
}

/** A client certificate, and the end of its validity in Unix milliseconds. */
interface Timed {
  readonly peer: TlsPeer;
  readonly notAfter: number;
}

interface Shown extends TlsPeer {
  readonly notBefore: number;
  readonly notAfter: number;
}

function readShown(socket: TLSSocket, log: Log): Shown | "unreadable" | null {
  const certificate = socket.getPeerCertificate();
  if (certificate?.fingerprint256 === undefined) return null;
  try {
    return {
      subject: certificateSubject(new Uint8Array(certificate.raw)),
      fingerprint: certificate.fingerprint256.replaceAll(":", "").toLowerCase(),
      notBefore: Date.parse(certificate.valid_from),
      notAfter: Date.parse(certificate.valid_to),
    };
  } catch (error) {
    log("debug", "Cannot read client certificate", { detail: String(error) });
    return "unreadable";
  }
}
