/** Reads the files of `server.tls` and checks them against each other. */

import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { readBounded } from "../../config/files.ts";
import type { TlsConfig } from "../../config/types.ts";
import { servingFault } from "./handshake.ts";

/** The certificates and key of a TLS server. */
export interface TlsMaterial {
  readonly cert: string;
  readonly key: string;
  /** The first certificate of `cert`: the server's own. */
  readonly leaf: X509Certificate;
  /** The authorities of client certificates, one PEM block each; null if no client certificate is requested. */
  readonly clientAuthorities: readonly string[] | null;
  /** SHA-256 of each authority. */
  readonly authorityFingerprints: ReadonlySet<string>;
}

interface CertificateFile {
  readonly text: string;
  readonly certificates: readonly X509Certificate[];
}

interface KeyFile {
  readonly text: string;
  readonly parsed: KeyObject;
}

/** The most bytes of one file. */
const FILE_BYTES = 1 << 20;

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g;

/** The first line of a certificate, also of forms that the runtime does not read. */
const BEGUN = /-----BEGIN (?:[A-Z0-9]+ )?CERTIFICATE-----/g;

/** Files of `server.tls` cannot be used. It has every fault, each with its member. */
export class TlsFilesError extends Error {
  constructor(readonly faults: readonly string[]) {
    super(faults.join("; "));
    this.name = "TlsFilesError";
  }
}

/**
 * Reads the files, and tests a handshake with the certificate and its key.
 *
 * @throws {TlsFilesError} When a file cannot be read or has no certificate or key; when the key does not match the
 * certificate, or the runtime cannot serve them
 */
export async function loadMaterial(config: TlsConfig): Promise<TlsMaterial> {
  const caPath = config.client_ca_path;
  const [chain, key, authorities] = await Promise.allSettled([
    readCertificates("server.tls.cert_path", config.cert_path),
    readKey(config.key_path),
    caPath === null ? null : readAuthorities("server.tls.client_ca_path", caPath),
  ]);
  const faults = [chain, key, authorities].flatMap((one) => one.status === "rejected" ? [reasonOf(one.reason)] : []);
  if (
    chain.status === "fulfilled" && key.status === "fulfilled" &&
    !chain.value.certificates[0]?.checkPrivateKey(key.value.parsed)
  ) {
    faults.push("Cannot use server.tls.key_path: key is not that of the certificate in server.tls.cert_path");
  }
  const leaf = chain.status === "fulfilled" ? chain.value.certificates[0] : undefined;
  if (
    leaf === undefined || chain.status === "rejected" || key.status === "rejected" ||
    authorities.status === "rejected" || faults.length > 0
  ) {
    throw new TlsFilesError(faults);
  }
  const fault = await servingFault({ cert: chain.value.text, key: key.value.text, parsed: key.value.parsed }, config);
  if (fault !== null) throw new TlsFilesError([fault]);
  return {
    cert: chain.value.text,
    key: key.value.text,
    leaf,
    clientAuthorities: authorities.value?.certificates.map((authority) => authority.toString()) ?? null,
    authorityFingerprints: new Set(authorities.value?.certificates.map((authority) => authority.fingerprint256) ?? []),
  };
}

/** A text that changes with the files, without reading them. */
export async function materialStamp(config: TlsConfig): Promise<string> {
  const paths = [config.cert_path, config.key_path, ...(config.client_ca_path === null ? [] : [config.client_ca_path])];
  const stamps = await Promise.all(paths.map(async (path) => {
    const { mtime, size, ino } = await Deno.stat(path);
    return `${mtime?.getTime()}/${size}/${ino}`;
  }));
  return stamps.join(" ");
}

async function readFile(setting: string, path: string): Promise<string> {
  try {
    const read = await readBounded(path, FILE_BYTES);
    if ("bytes" in read) return new TextDecoder().decode(read.bytes);
    if (read.fault === "too_large") throw new Error(`file is larger than ${FILE_BYTES} bytes`);
    throw new Error(read.fault === "not_a_file" ? "it is not a file" : "it changed while it was read");
  } catch (error) {
    throw new Error(`Cannot use ${setting} "${path}": ${reasonOf(error)}`);
  }
}

/** Every certificate of a PEM text. The runtime would silently drop those that it cannot read. */
export function certificates(setting: string, text: string): X509Certificate[] {
  const blocks = text.match(CERTIFICATE) ?? [];
  if (blocks.length === 0) throw new Error(`Cannot use ${setting}: file holds no certificate in PEM`);
  const begun = text.match(BEGUN)?.length ?? 0;
  if (begun > blocks.length) {
    throw new Error(
      `Cannot use ${setting}: ${blocks.length} of ${begun} certificates are whole blocks of PEM`,
    );
  }
  return blocks.map((block, index) => {
    try {
      return new X509Certificate(block);
    } catch (error) {
      throw new Error(`Cannot use ${setting}: certificate ${index + 1} is not readable: ${reasonOf(error)}`);
    }
  });
}

async function readCertificates(setting: string, path: string): Promise<CertificateFile> {
  const text = await readFile(setting, path);
  return { text, certificates: certificates(setting, text) };
}

/**
 * The authorities of a file. The runtime accepts every certificate as one, so the holder of any could issue any name.
 *
 * @throws {Error} Where the file cannot be read, or holds another certificate
 */
export async function readAuthorities(setting: string, path: string): Promise<CertificateFile> {
  const read = await readCertificates(setting, path);
  const other = read.certificates.findIndex(({ ca }) => !ca);
  if (other === -1) return read;
  throw new Error(
    `Cannot use ${setting}: certificate ${other + 1} is not an authority (basicConstraints CA:TRUE)`,
  );
}

async function readKey(path: string): Promise<KeyFile> {
  const text = await readFile("server.tls.key_path", path);
  // Some tools write a certificate into the same file.
  const [block] = PRIVATE_KEY.exec(text) ?? [];
  if (block === undefined) throw new Error("Cannot use server.tls.key_path: file holds no private key in PEM");
  try {
    return { text, parsed: createPrivateKey(block) };
  } catch (error) {
    if (block.includes("ENCRYPTED")) {
      throw new Error(
        `Cannot use server.tls.key_path: the key has a passphrase; take it off with "openssl pkey -in ${path} -out FILE"`,
      );
    }
    throw new Error(`Cannot use server.tls.key_path: the private key cannot be read: ${reasonOf(error)}`);
  }
}

/** The first private key of a file, in any PEM format. */
const PRIVATE_KEY = /-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----[^]*?-----END [A-Z ]+-----/;

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
