/**
 * Creates certificates for the presets in the folder that they read.
 *
 * @module
 */

import { type Authority, createAuthority, SERVER_EXTENSIONS } from "../tls/authority.ts";

/** Additional names of the server: its own, and one that it does not accept. */
const NAMES = ["localhost", "gate.example.com", "other.example.com"];

/** Creates the server's certificate in `etc/tls`; returns its authority. */
export async function serverCertificate(folder: string): Promise<Authority> {
  await Deno.mkdir(`${folder}/etc/tls`, { recursive: true });
  const authority = await createAuthority(folder, "servers", "/CN=Authority of servers");
  const extensions = SERVER_EXTENSIONS.map((line) =>
    line.replace("DNS:localhost", NAMES.map((name) => `DNS:${name}`).join())
  );
  const issued = await authority.issue("server", { subject: "/CN=gate.example.com", extensions });
  await Deno.copyFile(issued.certPath, `${folder}/etc/tls/server.pem`);
  await Deno.copyFile(issued.keyPath, `${folder}/etc/tls/server.key`);
  return authority;
}

/** Creates the authority of client certificates in `etc/tls`. */
export async function clientAuthority(folder: string): Promise<Authority> {
  const authority = await createAuthority(folder, "clients", "/CN=Authority of clients");
  await Deno.copyFile(authority.certPath, `${folder}/etc/tls/clients.pem`);
  return authority;
}
