/**
 * Which layer of `src` may import which, and which packages each may load, as data. `docs/design/architecture.md` says
 * the same in words.
 *
 * @module
 */

/** The kernel: pure layers, which use neither the runtime nor a package. */
export const KERNEL_LAYERS = ["canonical", "law", "run", "runpack"] as const;

/**
 * Every layer, with the layers that it may import besides itself. No layer reaches itself through these lists. `main` is
 * the file `main.ts`. `runpack/host` is the part of `src/runpack` that uses the runtime. `runpack/browser` is the page
 * that verifies packs in a browser, with the program that builds it. `console` is the page of `gate serve --console`.
 * `scenario` reads scenario files. `playground` has the scripts of the documentation site.
 */
export const LAYERS: Readonly<Record<string, readonly string[]>> = {
  canonical: [],
  law: ["canonical"],
  run: ["canonical", "law"],
  runpack: ["canonical", "law", "run"],
  config: ["canonical"],
  access: ["canonical", "config"],
  docs: ["canonical", "config"],
  evidence: [...KERNEL_LAYERS, "config"],
  store: [...KERNEL_LAYERS, "config"],
  "runpack/host": [...KERNEL_LAYERS, "config", "store"],
  "runpack/browser": [...KERNEL_LAYERS, "evidence"],
  scenario: [...KERNEL_LAYERS, "config", "evidence"],
  tools: [...KERNEL_LAYERS, "config", "access", "docs", "evidence", "store", "runpack/host", "scenario"],
  playground: [...KERNEL_LAYERS, "docs", "runpack/browser", "scenario", "tools"],
  server: ["canonical", "config", "access", "docs", "tools"],
  console: [...KERNEL_LAYERS, "evidence", "runpack/browser", "tools", "server"],
  cli: [
    ...KERNEL_LAYERS,
    "config",
    "access",
    "docs",
    "evidence",
    "store",
    "runpack/host",
    "scenario",
    "tools",
    "server",
    "console",
  ],
  main: ["cli"],
};

/** Layers that publish only some of their files to another one: importer, imported layer, and those files. */
export const PUBLIC_FILES: readonly {
  readonly from: string;
  readonly to: string;
  readonly files: readonly string[];
}[] = [
  {
    from: "server",
    to: "tools",
    files: [
      "src/tools/runtime.ts",
      "src/tools/table.ts",
      "src/tools/framework/types.ts",
      "src/tools/framework/errors.ts",
      "src/tools/services/state_keys.ts",
    ],
  },
  {
    from: "console",
    to: "tools",
    files: ["src/tools/law_words/describe_law.ts"],
  },
  { from: "console", to: "server", files: ["src/server/http/console_pages.ts"] },
  { from: "playground", to: "docs", files: ["src/docs/search_index.ts"] },
  { from: "playground", to: "tools", files: ["src/tools/law_words/describe_law.ts"] },
  { from: "main", to: "cli", files: ["src/cli/main.ts"] },
];

/**
 * The packages and built-in modules that the program may load, with the layers that may load each. A name covers its
 * subpaths. A new package needs a row here and a page in `docs/decisions/`.
 */
export const PACKAGES: readonly {
  readonly name: string;
  readonly layers: readonly string[];
  /** Only types may be imported: the package is never loaded. */
  readonly typesOnly?: boolean;
}[] = [
  { name: "node:sqlite", layers: ["store"] },
  {
    name: "node:",
    layers: ["config", "access", "docs", "evidence", "store", "runpack/host", "tools", "server", "console", "cli"],
  },
  { name: "@bufbuild/protobuf", layers: ["evidence"] },
  { name: "@eslint-community/regexpp", layers: ["evidence"] },
  { name: "@marcbachmann/cel-js", layers: ["scenario"] },
  { name: "@modelcontextprotocol/client", layers: ["evidence", "cli"] },
  { name: "@aws-sdk/client-s3", layers: ["runpack/host"] },
  { name: "@modelcontextprotocol/server", layers: ["server"], typesOnly: true },
  { name: "@noble/ed25519", layers: ["runpack/browser", "cli"] },
  { name: "@noble/hashes", layers: ["runpack/browser"] },
  { name: "commander", layers: ["cli"] },
  { name: "jose", layers: ["server"] },
  { name: "json-p3", layers: ["evidence"] },
  { name: "minisearch", layers: ["docs"] },
  { name: "postgres", layers: ["store"] },
  { name: "protobufjs", layers: ["evidence"] },
  { name: "smol-toml", layers: ["config", "scenario"] },
  { name: "toml-eslint-parser", layers: ["scenario"] },
  { name: "yaml", layers: ["evidence", "scenario"] },
];

/** Packages and built-in modules for tests and measurements. The program never loads them. */
export const TEST_ONLY_PACKAGES = [
  "ajv",
  "canonicalize",
  "fast-check",
  "json-canon",
  "node:assert",
  "node:test",
];

/**
 * Names through which a kernel layer would depend on the runtime, the clock, chance, the locale or the garbage collector.
 * What depends on them reaches the kernel as an argument.
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

/** Methods whose result depends on the locale or the time zone of the machine. */
export const IMPURE_METHODS = [
  "localeCompare",
  "toLocaleString",
  "toLocaleLowerCase",
  "toLocaleUpperCase",
  "toLocaleDateString",
  "toLocaleTimeString",
  "getTimezoneOffset",
];
