/**
 * The parser of the package `yaml`, without what it asks of the environment.
 *
 * @module
 */

import process from "node:process";
import { type Document, parseDocument, type ParseOptions, type SchemaOptions } from "yaml";

/** What the parser can be told, but for what is the same everywhere. */
export type YamlOptions = Omit<ParseOptions & SchemaOptions, "prettyErrors" | "uniqueKeys"> & {
  readonly logLevel: "error" | "silent";
};

/**
 * Parses YAML 1.2 with the core schema. Names that are given twice are let through: the package looks for them in quadratic time.
 *
 * For each token the package looks up a variable that has it write the token to standard output, where answers go; whoever may only
 * read files may not even look. So the environment is empty as long as it parses.
 */
export function parseYaml(text: string, options: YamlOptions): Document.Parsed {
  const common = { version: "1.2", schema: "core", merge: false, uniqueKeys: false, prettyErrors: false } as const;
  const parse = (): Document.Parsed => parseDocument(text, { ...common, ...options });
  // In the worker of a provider it is empty for good.
  if (Object.getOwnPropertyDescriptor(process, "env")?.writable === false) return parse();
  const { env } = process;
  process.env = {};
  try {
    return parse();
  } finally {
    process.env = env;
  }
}
