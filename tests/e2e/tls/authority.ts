/**
 * Certificates for tests, made with openssl: authorities, and what they sign.
 *
 * @module
 */

/** A certificate with its key: files, and their texts. */
export interface Certified {
  readonly certPath: string;
  readonly keyPath: string;
  readonly cert: string;
  readonly key: string;
}

/** What is asked of an authority. */
export interface CertificateWish {
  /** As `openssl req -subj` takes it. */
  readonly subject: string;
  /** Lines of an extension file. */
  readonly extensions: readonly string[];
  /** Seconds from now until the certificate counts, and until it no longer does. */
  readonly from?: number;
  readonly until?: number;
  /** The key options of `openssl req`; default EC on P-256. */
  readonly key?: readonly string[];
}

/** Signs certificates. */
export interface Authority extends Certified {
  readonly issue: (name: string, wish: CertificateWish) => Promise<Certified>;
}

/** Extensions of the server of these tests. */
export const SERVER_EXTENSIONS = ["subjectAltName=DNS:localhost,IP:127.0.0.1", "extendedKeyUsage=serverAuth"];

/** Extensions of clients. */
export const CLIENT_EXTENSIONS = ["extendedKeyUsage=clientAuth"];

const EC = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];

/** Keys that the runtime accepts but cannot serve: in words, and as options of `openssl req`. */
export const UNSERVED_KEYS: readonly (readonly [kind: string, key: readonly string[]])[] = [
  ["EC on secp256k1", ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:secp256k1", "-nodes"]],
  ['type "rsa-pss"', ["-newkey", "rsa-pss", "-pkeyopt", "rsa_keygen_bits:2048", "-nodes"]],
  ["RSA with 1024 bits", ["-newkey", "rsa:1024", "-nodes"]],
];

/** Runs openssl; throws with what it says where it fails. */
export async function openssl(...args: readonly string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command("openssl", { args: [...args], stdin: "null" }).output();
  if (!success) throw new Error(`openssl ${args.join(" ")}: ${new TextDecoder().decode(stderr)}`);
  return new TextDecoder().decode(stdout);
}

/** Makes an authority in a folder. */
export async function createAuthority(folder: string, name: string, subject: string): Promise<Authority> {
  const base = `${folder}/${name}`;
  await openssl(
    ...["req", "-x509", ...EC, "-keyout", `${base}.key`, "-out", `${base}.pem`, "-days", "30", "-utf8"],
    ...["-subj", subject],
  );
  const own = await readCertified(base);
  return { ...own, issue: (leaf, wish) => issue(folder, base, leaf, wish) };
}

async function issue(folder: string, authority: string, name: string, wish: CertificateWish): Promise<Certified> {
  const base = `${folder}/${name}`;
  await openssl(
    ...[
      "req",
      ...wish.key ?? EC,
      "-keyout",
      `${base}.key`,
      "-out",
      `${base}.csr`,
      "-utf8",
      "-multivalue-rdn",
      "-subj",
      wish.subject,
    ],
  );
  await Deno.writeTextFile(`${base}.ext`, wish.extensions.join("\n"));
  await Deno.writeTextFile(`${base}.index`, "");
  await Deno.writeTextFile(
    `${base}.cnf`,
    `[ca]\ndefault_ca=own\n[own]\ndatabase=${base}.index\nnew_certs_dir=${folder}\ndefault_md=sha256\npolicy=any\n` +
      "rand_serial=yes\npreserve=yes\nunique_subject=no\n[any]\n",
  );
  await openssl(
    ...[
      "ca",
      "-batch",
      "-notext",
      "-config",
      `${base}.cnf`,
      "-cert",
      `${authority}.pem`,
      "-keyfile",
      `${authority}.key`,
    ],
    ...["-in", `${base}.csr`, "-out", `${base}.pem`, "-extfile", `${base}.ext`, "-utf8", "-preserveDN"],
    ...["-startdate", utcTime(wish.from ?? -60), "-enddate", utcTime(wish.until ?? 86_400)],
  );
  return await readCertified(base);
}

/** A time so many seconds from now, as openssl takes it. */
function utcTime(seconds: number): string {
  return new Date(Date.now() + seconds * 1000).toISOString().replace(/\.\d+Z$/, "Z").replaceAll(/[-:T]/g, "");
}

async function readCertified(base: string): Promise<Certified> {
  const [cert, key] = await Promise.all([Deno.readTextFile(`${base}.pem`), Deno.readTextFile(`${base}.key`)]);
  return { certPath: `${base}.pem`, keyPath: `${base}.key`, cert, key };
}
