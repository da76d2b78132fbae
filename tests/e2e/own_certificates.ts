/**
 * Certificates for tests that need nothing but Deno: keys of P-256, and X.509 of version 3, or of version 1 as
 * `openssl x509 -req` of Debian 12 makes it unless it is told otherwise.
 *
 * @module
 */

/** What is asked of a certificate. */
export interface OwnWish {
  /** Its common name. */
  readonly name: string;
  /** 3 unless told; one of version 1 has no extensions. */
  readonly version?: 1 | 3;
  /** DNS names in its subjectAltName; where nothing is to stand there it has none. */
  readonly hosts?: readonly string[];
  /** An address of IPv4 there, too. */
  readonly ip?: readonly number[];
  /** A mail address there, too. */
  readonly mail?: string;
  readonly isAuthority?: true;
}

/** A certificate with its key, in PEM, and what signs others. */
export interface OwnCertificate {
  readonly cert: string;
  readonly key: string;
  readonly signer: { readonly subject: Uint8Array; readonly key: CryptoKey };
}

const IDENTIFIERS = {
  commonName: [0x55, 0x04, 0x03],
  ecdsaWithSha256: [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02],
  subjectAltName: [0x55, 0x1d, 0x11],
  basicConstraints: [0x55, 0x1d, 0x13],
} as const;

const ECDSA = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;

/** Makes a certificate that counts for a month, signed by another, or by itself. */
export async function ownCertificate(wish: OwnWish, issuer?: OwnCertificate): Promise<OwnCertificate> {
  const { publicKey, privateKey } = await crypto.subtle.generateKey(ECDSA, true, ["sign", "verify"]);
  const commonName = sequence(identifier("commonName"), element(0x0c, encoder.encode(wish.name)));
  const subject = sequence(element(0x31, commonName));
  const signer = issuer?.signer ?? { subject, key: privateKey };
  const algorithm = sequence(identifier("ecdsaWithSha256"));
  const isFirst = wish.version === 1;
  const body = sequence(
    ...isFirst ? [] : [element(0xa0, element(0x02, [2]))],
    element(0x02, [0x40, ...crypto.getRandomValues(new Uint8Array(15))]),
    algorithm,
    signer.subject,
    sequence(utcTime(-3600), utcTime(30 * 86_400)),
    subject,
    new Uint8Array(await crypto.subtle.exportKey("spki", publicKey)),
    ...isFirst ? [] : extensionsOf(wish),
  );
  const signature = new Uint8Array(await crypto.subtle.sign(ECDSA, signer.key, body));
  const numbers = sequence(unsigned(signature.subarray(0, 32)), unsigned(signature.subarray(32)));
  const pkcs8 = new Uint8Array(await crypto.subtle.exportKey("pkcs8", privateKey));
  return {
    cert: pem("CERTIFICATE", sequence(body, algorithm, element(0x03, [0], numbers))),
    key: pem("PRIVATE KEY", pkcs8),
    signer: { subject, key: privateKey },
  };
}

function extensionsOf({ hosts = [], ip, mail, isAuthority }: OwnWish): Uint8Array<ArrayBuffer>[] {
  const names = [
    ...hosts.map((host) => element(0x82, encoder.encode(host))),
    ...ip === undefined ? [] : [element(0x87, ip)],
    ...mail === undefined ? [] : [element(0x81, encoder.encode(mail))],
  ];
  const extensions = [
    ...names.length === 0 ? [] : [sequence(identifier("subjectAltName"), element(0x04, sequence(...names)))],
    ...isAuthority === undefined ? [] : [
      sequence(identifier("basicConstraints"), element(0x01, [0xff]), element(0x04, sequence(element(0x01, [0xff])))),
    ],
  ];
  return extensions.length === 0 ? [] : [element(0xa3, sequence(...extensions))];
}

const encoder = new TextEncoder();

/** One element of DER. */
function element(tag: number, ...parts: readonly (Uint8Array | readonly number[])[]): Uint8Array<ArrayBuffer> {
  const content = parts.flatMap((part) => [...part]);
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Uint8Array.from([tag, ...size, ...content]);
}

function sequence(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  return element(0x30, ...parts);
}

function identifier(name: keyof typeof IDENTIFIERS): Uint8Array<ArrayBuffer> {
  return element(0x06, IDENTIFIERS[name]);
}

/** A number above zero, without the zeros before it, and not to be taken for one below. */
function unsigned(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const first = bytes.findIndex((byte) => byte !== 0);
  const digits = bytes.subarray(first);
  return element(0x02, (digits[0] ?? 0) < 0x80 ? [] : [0], digits);
}

/** A time so many seconds from now. */
function utcTime(seconds: number): Uint8Array<ArrayBuffer> {
  const text = new Date(Date.now() + seconds * 1000).toISOString().slice(2, 19).replaceAll(/[-:T]/g, "");
  return element(0x17, encoder.encode(`${text}Z`));
}

function pem(label: string, bytes: Uint8Array): string {
  const lines = bytes.toBase64().match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join("\n")}\n-----END ${label}-----\n`;
}
