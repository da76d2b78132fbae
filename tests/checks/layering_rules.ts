/**
 * Who may depend on what, as data: the rooms of `src`, the arrows between them, and the packages that each may load.
 * `docs/design/architecture.md` shows the same in words.
 *
 * @module
 */

/** The kernel: pure rooms, which see neither the runtime nor a package. */
export const KERNEL_ROOMS = ["canonical", "law", "run", "runpack"] as const;

/**
 * Every room, with the rooms that it may import besides itself. Arrows point inwards: no room stands, by any path, in
 * its own list. `main` is the file `main.ts`; `runpack/host` is the part of `src/runpack` that touches the runtime,
 * `runpack/browser` the page that verifies packs in a browser, and the program that builds it.
 */
export const ROOMS: Readonly<Record<string, readonly string[]>> = {
  canonical: [],
  law: ["canonical"],
  run: ["canonical", "law"],
  runpack: ["canonical", "law", "run"],
  config: ["canonical"],
  access: ["canonical", "config"],
  docs: ["canonical", "config"],
  evidence: [...KERNEL_ROOMS, "config"],
  store: [...KERNEL_ROOMS, "config"],
  "runpack/host": [...KERNEL_ROOMS, "config", "store"],
  "runpack/browser": [...KERNEL_ROOMS, "evidence"],
  tools: [...KERNEL_ROOMS, "config", "access", "docs", "evidence", "store", "runpack/host"],
  server: ["canonical", "config", "access", "docs", "tools"],
  cli: [...KERNEL_ROOMS, "config", "access", "docs", "evidence", "store", "runpack/host", "tools", "server"],
  main: ["cli"],
};

/** Where a room shows another only some of its files: importer, imported room, and the files that it may name. */
export const DOORS: readonly { readonly from: string; readonly to: string; readonly files: readonly string[] }[] = [
  {
    from: "server",
    to: "tools",
    files: ["src/tools/runtime.ts", "src/tools/table.ts", "src/tools/framework/types.ts"],
  },
  { from: "main", to: "cli", files: ["src/cli/main.ts"] },
];

/**
 * The packages and built-in modules that the program may load, with the rooms that may. A name covers its subpaths. A
 * package that is not here is refused: a new one gets a row here and a page in `docs/decisions/`.
 */
export const PACKAGES: readonly { readonly name: string; readonly rooms: readonly string[] }[] = [
  { name: "node:sqlite", rooms: ["store"] },
  { name: "node:", rooms: ["config", "access", "docs", "evidence", "store", "runpack/host", "tools", "server", "cli"] },
  { name: "@eslint-community/regexpp", rooms: ["evidence"] },
  { name: "@modelcontextprotocol/client", rooms: ["evidence", "cli"] },
  { name: "@aws-sdk/client-s3", rooms: ["runpack/host"] },
  { name: "@modelcontextprotocol/server", rooms: ["server"] },
  { name: "@noble/ed25519", rooms: ["runpack/browser", "cli"] },
  { name: "@noble/hashes", rooms: ["runpack/browser"] },
  { name: "commander", rooms: ["cli"] },
  { name: "json-p3", rooms: ["evidence"] },
  { name: "smol-toml", rooms: ["config", "cli"] },
  { name: "toml-eslint-parser", rooms: ["cli"] },
  { name: "yaml", rooms: ["evidence", "cli"] },
  { name: "zod", rooms: ["config", "tools", "server"] },
];

/** Packages and built-in modules that serve tests and measurements, and never the program. */
export const TEST_ONLY_PACKAGES = [
  "@cedar-policy/cedar-wasm",
  "@marcbachmann/cel-js",
  "@modelcontextprotocol/sdk",
  "ajv",
  "canonicalize",
  "fast-check",
  "gpt-tokenizer",
  "json-canon",
  "json-logic-js",
  "json-rules-engine",
  "minisearch",
  "node:assert",
  "node:test",
];

/**
 * Names through which a kernel room would see the runtime, the clock, chance, the locale or the collector. Everything
 * that depends on them is handed to the kernel as an argument.
 */
export const IMPURE_NAMES = [
  "Deno",
  "globalThis",
  "self",
  "window",
  "process",
  "Buffer",
  "require",
  "Math.random",
  "crypto",
  "performance",
  "Temporal",
  "Intl",
  "setTimeout",
  "setInterval",
  "setImmediate",
  "queueMicrotask",
  "fetch",
  "Worker",
  "WebSocket",
  "navigator",
  "localStorage",
  "console",
  "eval",
  "Function",
  "import.meta",
  "WeakRef",
  "FinalizationRegistry",
  "SharedArrayBuffer",
  "Atomics",
];

/** Methods whose answer depends on the locale or the time zone of the machine. */
export const IMPURE_METHODS = [
  "localeCompare",
  "toLocaleString",
  "toLocaleLowerCase",
  "toLocaleUpperCase",
  "toLocaleDateString",
  "toLocaleTimeString",
  "getTimezoneOffset",
];
