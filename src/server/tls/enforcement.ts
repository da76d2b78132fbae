/**
 * The server proves to itself that the runtime enforces client certificates. A runtime that does not would let everybody
 * in without a word, and did: so it is asked at every start.
 *
 * @module
 */

import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { connect } from "node:tls";
import { delay } from "../process/log.ts";
import type { TlsMaterial } from "./material.ts";

/** How long the test may take, in milliseconds. */
const TEST_MILLISECONDS = 5_000;

/** What the runtime does with a client that shows no certificate. */
export type Enforcement = "refused" | "reached" | "unclear";

/** What a server asks of clients that must show a certificate, and of those that may. */
const REQUIRED = { requestCert: true, rejectUnauthorized: true };
const ASKED = { requestCert: true, rejectUnauthorized: false };

/**
 * Starts a server that requires client certificates, calls it without one, and sees whether the request arrives.
 *
 * @param asking What the server asks of clients; other than by default only where the test itself is tested
 * @returns `refused` where the runtime enforces certificates; `unclear` where the test did not come to an end
 */
export async function probeEnforcement(
  material: TlsMaterial,
  asking: typeof REQUIRED = REQUIRED,
): Promise<Enforcement> {
  const { promise, resolve } = Promise.withResolvers<Enforcement>();
  const server = createServer({
    cert: material.cert,
    key: material.key,
    ca: [...material.clientAuthorities ?? [material.cert]],
    ...asking,
  }, (_request, response) => {
    resolve("reached");
    response.end();
  });
  server.on("error", () => resolve("unclear"));
  server.on("tlsClientError", () => resolve("refused"));
  server.listen(0, "127.0.0.1", () => {
    const { port } = server.address() as AddressInfo;
    const socket = connect({ port, host: "127.0.0.1", rejectUnauthorized: false });
    socket.on("secureConnect", () => socket.write("GET / HTTP/1.1\r\nHost: self\r\n\r\n"));
    socket.on("error", () => resolve("refused"));
    socket.on("close", () => resolve("refused"));
    promise.then(() => socket.destroy());
  });
  const late = delay(TEST_MILLISECONDS);
  const found = await Promise.race([promise, late.passed.then(() => "unclear" as const)]);
  late.cancel();
  resolve(found);
  server.closeAllConnections();
  server.close();
  return found;
}

/**
 * Tests the runtime. Where no request gets through whoever sends it, that one without a certificate does not proves
 * nothing: so the same request must get through where the certificate is not required.
 *
 * @param probe How
 * @throws {Error} Where it does not surely refuse a client without a certificate
 */
export async function assertEnforcement(material: TlsMaterial, probe = probeEnforcement): Promise<void> {
  const found = await probe(material, REQUIRED);
  if (found === "refused" && await probe(material, ASKED) === "reached") return;
  throw new Error(
    found === "reached"
      ? "Cannot serve TLS: this runtime lets clients in without the certificate that is required of them"
      : "Cannot serve TLS: this runtime was not seen to refuse a client without a certificate",
  );
}
