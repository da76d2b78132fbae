/**
 * Tests at every start that the runtime enforces client certificates. A runtime that does not would silently accept
 * every client, and an earlier one did.
 */

import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { connect } from "node:tls";
import { delay } from "../process/log.ts";
import type { TlsMaterial } from "./material.ts";

/** How long the test may take, in milliseconds. */
const TEST_MILLISECONDS = 5_000;

/** How the runtime treats a client without a certificate. */
export type Enforcement = "refused" | "reached" | "unclear";

/** The settings of a server that requires a client certificate, and of one that only requests it. */
const REQUIRED = { requestCert: true, rejectUnauthorized: true };
const ASKED = { requestCert: true, rejectUnauthorized: false };

/**
 * Starts a server that requires client certificates, calls it without one, and checks whether the request arrives.
 *
 * @param asking The settings of the server; the other ones are the control of the test
 * @returns `refused` if the runtime enforces certificates; `unclear` if the test did not finish
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
  using late = delay(TEST_MILLISECONDS);
  const found = await Promise.race([promise, late.passed.then(() => "unclear" as const)]);
  resolve(found);
  server.closeAllConnections();
  server.close();
  return found;
}

/**
 * Tests the runtime. As a control, the same request must arrive where the certificate is not required: otherwise a
 * failed request would prove nothing.
 *
 * @param probe The test
 * @throws {Error} When the runtime was not seen to reject a client without a certificate
 */
export async function assertEnforcement(material: TlsMaterial, probe = probeEnforcement): Promise<void> {
  const found = await probe(material, REQUIRED);
  if (found === "refused" && await probe(material, ASKED) === "reached") return;
  throw new Error(
    found === "reached"
      ? "Cannot serve TLS: this runtime accepts clients without the required certificate"
      : "Cannot serve TLS: this runtime was not seen to reject a client without a certificate",
  );
}
