/**
 * Typed providers of the loopback interface, for tests.
 *
 * @module
 */

import type { AddressInfo } from "node:net";
import { createServer, type TLSSocket } from "node:tls";
import type { OwnCertificate } from "../own_certificates.ts";
import { sealContract, sealVersion } from "../../../src/evidence/contract/seal.ts";
import { certifiedName, NO_GRANTS, serviceAddress, type TypedGrants } from "../../../src/evidence/typed/grants.ts";
import {
  createTypedProvider,
  type TypedProvider,
  type TypedProviderOptions,
} from "../../../src/evidence/typed/provider.ts";
import { checkRuntimeProfile, type RuntimeProfile } from "../../../src/evidence/typed/runtime_profile.ts";
import type { ProviderContract } from "../../../src/evidence/types.ts";
import type { JsonValue } from "../../../src/canonical/json.ts";
import { typedContract } from "../../simulation/typed_documents.ts";

/** A typed provider under test. */
export interface TypedPlan {
  readonly profile: RuntimeProfile;
  readonly contract?: ProviderContract;
  /** In addition to the profile's own host, its credentials, private networks and cleartext. */
  readonly grants?: Partial<TypedGrants>;
  readonly options?: TypedProviderOptions;
}

/** Grants that cover a profile. */
export function grantsFor(profile: RuntimeProfile): TypedGrants {
  const address = serviceAddress(profile);
  const credentials = profile.credentials.map(({ locator }) => locator);
  const client = profile.tls.client === null ? [] : [profile.tls.client.certificate, profile.tls.client.key];
  return {
    ...NO_GRANTS,
    hosts: address === null ? [] : [address.host, certifiedName(profile) ?? ""].map((host) => ({
      host,
      port: address.port,
      credentials: [...credentials, ...client],
    })),
    allowPrivateNetworks: true,
    cleartext: "everywhere",
  };
}

/** Creates a typed provider from a valid profile and closes it after use. */
export async function withTyped<Result>(
  { profile, contract = typedContract(), grants = {}, options }: TypedPlan,
  use: (provider: TypedProvider) => Promise<Result>,
): Promise<Result> {
  const checked = checkRuntimeProfile(profile as unknown as JsonValue, contract);
  if (!checked.ok) throw new Error(JSON.stringify(checked.problems));
  const version = sealVersion(sealContract(contract, "file"), profile);
  const provider = createTypedProvider(version, { ...grantsFor(profile), ...grants }, options);
  try {
    return await use(provider);
  } finally {
    await provider.close();
  }
}

/** How a TLS server presents itself. */
export interface TlsSettings {
  readonly certificate: OwnCertificate;
  /** The authority of clients, which then need a certificate. */
  readonly clients?: OwnCertificate;
}

/** Starts a TLS server on the loopback interface, which handles each connection so, and closes it after use. */
export async function withTlsServer<Result>(
  { certificate: { cert, key }, clients }: TlsSettings,
  handle: (socket: TLSSocket) => void,
  use: (port: number) => Promise<Result>,
): Promise<Result> {
  const mutual = clients === undefined ? {} : { requestCert: true, rejectUnauthorized: true, ca: [clients.cert] };
  const open = new Set<TLSSocket>();
  const server = createServer({ cert, key, ...mutual }, (socket) => {
    open.add(socket);
    socket.on("error", () => {});
    handle(socket);
  });
  server.on("tlsClientError", () => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    return await use((server.address() as AddressInfo).port);
  } finally {
    for (const socket of open) socket.destroy();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  }
}

/** Answers the first request of a connection with these bytes. */
export function answeringSocket(response: string): (socket: TLSSocket) => void {
  return (socket) => {
    let head = "";
    socket.on("data", (chunk: Uint8Array) => {
      head += new TextDecoder().decode(chunk);
      if (head.includes("\r\n\r\n")) socket.end(response);
    });
  };
}

/** Writes a private file. */
export async function writeSecret(folder: string, name: string, text: string): Promise<void> {
  await Deno.writeTextFile(`${folder}/${name}`, text, { mode: 0o600 });
}

/** Every file below a folder, with its text. */
export async function textsBelow(folder: string): Promise<readonly (readonly [path: string, text: string])[]> {
  const found: (readonly [string, string])[] = [];
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = `${folder}/${name}`;
    if (isDirectory) found.push(...await textsBelow(path));
    else found.push([path, new TextDecoder("latin1").decode(await Deno.readFile(path))]);
  }
  return found;
}
