/**
 * Certificates for the presets, in the folder that they read them from.
 *
 * @module
 */

import { type Authority, createAuthority, SERVER_EXTENSIONS } from "./tls_authority.ts";

/** Further names of the server: its own, and one that it does not answer to. */
const NAMES = ["localhost", "gate.example.com", "other.example.com"];

/** Makes the server's certificate in `etc/tls`; gives who vouches for it. */
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

/** Makes who vouches for clients, in `etc/tls`. */
export async function clientAuthority(folder: string): Promise<Authority> {
  const authority = await createAuthority(folder, "clients", "/CN=Authority of clients");
  await Deno.copyFile(authority.certPath, `${folder}/etc/tls/clients.pem`);
  return authority;
}
