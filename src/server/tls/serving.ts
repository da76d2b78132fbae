/** TLS for the listener: certificates, the guard of client certificates, and renewal while connections are open. */

import type { Server } from "node:http";
import { createServer, type Server as SecureServer } from "node:https";
import type { Socket } from "node:net";
import type { TlsConfig } from "../../config/types.ts";
import type { Handler, ListenerOptions } from "../http/listener.ts";
import { addressOf } from "../audit/peers.ts";
import type { RefusedConnection } from "../audit/refusals.ts";
import type { Log } from "../process/log.ts";
import { unreachable } from "../process/start_failure.ts";
import { tlsFailure } from "../http/tls_failure.ts";
import { createCompatibilityWatch } from "./certificate_compatibility.ts";
import { type ClientCertificates, guardPeers, type PeerGuard } from "./resumption_guard.ts";
import { loadMaterial, materialStamp, type TlsMaterial } from "./material.ts";
import { assertEnforcement } from "./enforcement.ts";
import { createValidityWatch, timeOf } from "./validity.ts";

/** TLS that is ready to serve. */
export interface TlsServing {
  readonly listener: NonNullable<ListenerOptions["tls"]>;
  /** Reads the files again; after a fault, which is logged, the old certificates stay. */
  readonly reload: () => Promise<void>;
  /** When the server's certificate expires, in Unix milliseconds. */
  readonly expires: () => number;
  /** Stops watching the files. */
  readonly close: () => void;
}

/** The options of TLS. */
export interface TlsOptions {
  readonly config: TlsConfig;
  readonly log: Log;
  /** Records each connection that is ended for its certificate, or whose TLS fails. */
  readonly refused: RefusedConnection;
}

/** How often the files are checked, in milliseconds. */
const CHECK_MILLISECONDS = 2_000;

/** Whether clients must, may or need not present a certificate. */
function clientCertificates(config: TlsConfig): ClientCertificates {
  if (config.client_ca_path === null) return "none";
  return config.require_client_cert ? "required" : "optional";
}

/**
 * Reads the files and tests the runtime.
 *
 * @throws {StartFailure} When a file cannot be used
 * @throws {Error} When the runtime does not enforce client certificates
 */
export async function openTls(options: TlsOptions): Promise<TlsServing> {
  const { config, log } = options;
  const mode = clientCertificates(config);
  let stamp = await materialStamp(config).catch(() => "");
  let material = await loadMaterial(config).catch(unreachable);
  if (mode !== "none") await assertEnforcement(material);
  const watchValidity = createValidityWatch(log);
  const watchCompatibility = createCompatibilityWatch(log);
  const watch = ({ leaf }: TlsMaterial): void => {
    watchValidity(leaf, Date.now());
    watchCompatibility(leaf);
  };
  watch(material);
  let server: SecureServer | null = null;
  let guard: PeerGuard | null = null;

  const read = async (isWanted: boolean): Promise<void> => {
    try {
      const current = await materialStamp(config);
      if (current === stamp && !isWanted) return;
      const renewed = await loadMaterial(config);
      server?.setSecureContext(contextOf(renewed));
      // Certificates that a removed authority issued must be verified again.
      const isWithdrawn = !material.authorityFingerprints.isSubsetOf(renewed.authorityFingerprints);
      if (isWithdrawn) guard?.reset();
      stamp = current;
      material = renewed;
      watch(material);
      log("info", "Certificates read again", { authorities_withdrawn: isWithdrawn });
    } catch (error) {
      log("error", "Cannot read certificates again: the old ones remain in use", {
        detail: error instanceof Error ? error.message : String(error),
      });
    }
  };
  let reading = Promise.resolve();
  // Reads run one after another, so that an older read cannot overwrite a newer one.
  const readNext = (isWanted: boolean): Promise<void> => reading = reading.then(() => read(isWanted));
  const timer = setInterval(() => {
    watch(material);
    readNext(false);
  }, CHECK_MILLISECONDS);

  return {
    reload: () => readNext(true),
    expires: () => timeOf(material.leaf).to,
    close: () => clearInterval(timer),
    listener: {
      createServer: (settings: object, handler: Handler): Server => {
        server = createServer({
          ...settings,
          ...contextOf(material),
          requestCert: mode !== "none",
          rejectUnauthorized: mode === "required",
        }, handler);
        server.on("tlsClientError", (error, socket) => {
          recordFailure(options, error, socket, Boolean(socket.authorizationError));
        });
        guard = guardPeers(server, mode, log, options.refused);
        return server;
      },
      tlsOf: (socket) => guard?.tlsOf(socket) ?? null,
      end: (socket) => guard === null ? void socket.destroy() : guard.end(socket),
      failed: (error, socket) => recordFailure(options, error, socket, false),
    },
  };
}

function recordFailure({ refused }: TlsOptions, error: Error, socket: Socket, isCertificateRefused: boolean): void {
  const { reason, details } = tlsFailure(error, isCertificateRefused);
  refused(reason, addressOf(socket), details);
}

function contextOf(material: TlsMaterial): { cert: string; key: string; ca?: string[] } {
  const { cert, key, clientAuthorities } = material;
  return { cert, key, ...(clientAuthorities === null ? {} : { ca: [...clientAuthorities] }) };
}
