/**
 * Reads what `deno compile` has put into an executable: the tree of embedded files and the settings of the runtime.
 *
 * @module
 */

/** What is baked into an executable. */
export interface Executable {
  /** Paths of the embedded files from the root of the checkout, sorted. */
  readonly files: readonly string[];
  /** Leaves by name; an empty list allows or denies all. What is allowed of imports is left out: it is denied as a whole. */
  readonly permissions: Readonly<Record<string, unknown>>;
  /** Unstable features. */
  readonly features: readonly string[];
  readonly code_cache_key: unknown;
  /** The exporter of the runtime. */
  readonly otel_config: unknown;
}

type Entry =
  | { readonly Dir: { readonly n: string; readonly e: readonly Entry[] } }
  | { readonly File: { readonly n: string } }
  | { readonly Symlink: { readonly n: string } };

interface Metadata {
  readonly permissions: Readonly<Record<string, unknown>>;
  readonly unstable_config: { readonly features: readonly string[] };
  readonly code_cache_key: unknown;
  readonly otel_config: unknown;
}

/**
 * Reads an executable.
 *
 * @throws {Error} Where the parts are not found: the runtime has another format then
 */
export function readExecutable(bytes: Uint8Array): Executable {
  const metadata = JSON.parse(sized(bytes, '{"argv":')) as Metadata;
  const tree = JSON.parse(sized(bytes, '[{"Dir":{"n":".deno_compile_node_modules"')) as readonly Entry[];
  const { allow_import: _, ...permissions } = metadata.permissions;
  return {
    files: tree.flatMap((entry) => pathsOf(entry, "")).sort(),
    permissions,
    features: metadata.unstable_config.features,
    code_cache_key: metadata.code_cache_key,
    otel_config: metadata.otel_config,
  };
}

function pathsOf(entry: Entry, prefix: string): string[] {
  if ("Dir" in entry) return entry.Dir.e.flatMap((inner) => pathsOf(inner, `${prefix}${entry.Dir.n}/`));
  return [`${prefix}${"File" in entry ? entry.File.n : entry.Symlink.n}`];
}

/** The text that begins like this; its length stands before it in eight bytes, the lowest first. */
function sized(bytes: Uint8Array, beginning: string): string {
  const at = indexOf(bytes, new TextEncoder().encode(beginning));
  const length = Number(new DataView(bytes.buffer, bytes.byteOffset + at - 8, 8).getBigUint64(0, true));
  return new TextDecoder().decode(bytes.subarray(at, at + length));
}

function indexOf(bytes: Uint8Array, searched: Uint8Array): number {
  const [first = 0] = searched;
  for (let at = bytes.indexOf(first, 8); at >= 0; at = bytes.indexOf(first, at + 1)) {
    if (searched.every((byte, index) => bytes[at + index] === byte)) return at;
  }
  throw new Error(`Cannot read executable: ${new TextDecoder().decode(searched)} is not there`);
}
