/**
 * Large public OpenAPI documents, from packages of the registry of npm. They are fetched when the test runs, and compared with
 * the digest that the registry published.
 *
 * @module
 */

import { createHash } from "node:crypto";
import { join } from "node:path";

/** A document, or a folder of documents, in a package. */
export interface PublicDocument {
  /** `name@version`. */
  readonly specifier: string;
  /** The digest of the package, as in lock files of npm. */
  readonly integrity: string;
  /** Its path in the package. */
  readonly path: string;
}

/** GitHub's API: OpenAPI 3.0, 13 MB of JSON. */
export const GITHUB: PublicDocument = {
  specifier: "@octokit/openapi@23.0.2",
  integrity: "sha512-pV8M7L9GY23AybNvTmo2nyjmpmnt6+2sRE/tqr0ZLQcPS4lnw7u5eZGNmwRNkBC3D7gZXbFx5AHzLUVRBXGDhg==",
  path: "generated/api.github.com.json",
};

/** The API of Directus: OpenAPI 3.0, 0.3 MB of JSON. */
export const DIRECTUS: PublicDocument = {
  specifier: "@directus/specs@15.2.0",
  integrity: "sha512-JauzDjbFbeoZ9AceWh/pbG/U2R2/5V8jP7Ldp/bpSPbsDu392uXEUQGTfWkowLqgRXtjmGHP5vIZoUJpjqaFPw==",
  path: "dist/openapi.json",
};

/** The API of Blockfrost: 0.5 MB of YAML. */
export const BLOCKFROST: PublicDocument = {
  specifier: "@blockfrost/openapi@0.1.93",
  integrity: "sha512-gC0NOZk+9MSa5aK846gbcU12VqbZwzVpZmgO6314e9ExJo9g3QsMmniplewOhI5fJQVHR0A7lgCVqk/pbK1iKA==",
  path: "openapi.yaml",
};

/** Fetches the package of a document into a folder, and reads the document. */
export async function fetchDocument(document: PublicDocument, folder: string): Promise<Uint8Array<ArrayBuffer>> {
  return await Deno.readFile(await fetchPart(document, folder));
}

/** Fetches a package into a folder, and unpacks one file or folder of it there; returns its path. */
export async function fetchPart(
  { specifier, integrity, path }: PublicDocument,
  folder: string,
): Promise<string> {
  const packed = await run(folder, "npm", "pack", "--silent", "--pack-destination", folder, specifier);
  const archive = join(folder, packed.trim().split("\n").at(-1) ?? "");
  const digest = createHash("sha512").update(await Deno.readFile(archive)).digest("base64");
  if (`sha512-${digest}` !== integrity) throw new Error(`Cannot use ${specifier}: its digest is sha512-${digest}`);
  await run(folder, "tar", "-xzf", archive, `package/${path}`);
  return join(folder, "package", path);
}

async function run(cwd: string, program: string, ...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await new Deno.Command(program, { args: [...args], cwd }).output();
  if (code === 0) return new TextDecoder().decode(stdout);
  throw new Error(`Cannot run ${program} ${args.join(" ")}: ${new TextDecoder().decode(stderr)}`);
}
