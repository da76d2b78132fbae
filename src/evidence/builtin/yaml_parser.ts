/** The parser of the package `yaml`, run with an empty environment. */

import { type Document, parseDocument, type ParseOptions, type SchemaOptions } from "yaml";

/** Options of the parser apart from those that are the same everywhere. */
export type YamlOptions = Omit<ParseOptions & SchemaOptions, "prettyErrors" | "uniqueKeys"> & {
  readonly logLevel: "error" | "silent";
};

/**
 * Parses YAML 1.2 with the core schema. It accepts repeated names, because the package detects them in quadratic time.
 *
 * For each token the package reads a variable that makes it write the token to standard output, which carries the
 * protocol. A worker without permission to read variables would even fail. So the environment is empty while the
 * package parses.
 */
export function parseYaml(text: string, options: YamlOptions): Document.Parsed {
  const common = { version: "1.2", schema: "core", merge: false, uniqueKeys: false, prettyErrors: false } as const;
  const parse = (): Document.Parsed => parseDocument(text, { ...common, ...options });
  const { process } = globalThis as { readonly process?: { env: Readonly<Record<string, string>> } };
  // A browser has none, and in the worker of a provider it is always empty.
  if (process === undefined || Object.getOwnPropertyDescriptor(process, "env")?.writable === false) return parse();
  const { env } = process;
  process.env = {};
  try {
    return parse();
  } finally {
    process.env = env;
  }
}
