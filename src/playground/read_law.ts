/** Reads the text of a law in the page: a law file or a spec in long form, in YAML, TOML or JSON. */

import { graphIdentity, lawIdentity } from "../law/law.ts";
import { type CompiledLaw, compileLaw } from "../run/compile.ts";
import { sha256 } from "../runpack/browser/sha256.ts";
import { compileLaw as compileFile } from "../scenario/law_file.ts";
import { faulty, type JudgedLaw, judgeSpec } from "../scenario/law_problems.ts";
import { readJsonSource } from "../scenario/source_json.ts";
import { isLawFile, type ReadSource } from "../scenario/source_position.ts";
import { readTomlSource } from "../scenario/source_toml.ts";
import { readYamlSource } from "../scenario/source_yaml.ts";
import { LAW_CHARACTERS_MAXIMUM } from "./share.ts";

/** A law that was read, null where it has an error, with its problems. */
export interface ReadLaw extends Pick<JudgedLaw, "problems"> {
  readonly law: CompiledLaw | null;
}

const READERS: Readonly<Record<"json" | "toml" | "yaml", (bytes: Uint8Array) => ReadSource>> = {
  json: readJsonSource,
  toml: readTomlSource,
  yaml: readYamlSource,
};

/** The format of a text, from its first line that is not empty and no comment. */
export function formatOf(text: string): keyof typeof READERS {
  // Blanks of one line alone: a test that runs on through empty lines takes time that is quadratic in their number.
  const first = /^(?![ \t]*(?:#|$)).*$/m.exec(text)?.[0] ?? "";
  if (/^\s*\{/.test(first)) return "json";
  return /^\s*(?:\[\[?[\w."'-]+\]\]?\s*(?:#.*)?$|(?:[\w.-]+|"[^"]*"|'[^']*')\s*=)/.test(first) ? "toml" : "yaml";
}

/**
 * Reads a law. Providers and schemas are not known here, so every check and every schema that the law names counts as
 * present.
 */
export function readLaw(text: string): ReadLaw {
  if (text.length > LAW_CHARACTERS_MAXIMUM) {
    const message = `Expected at most ${LAW_CHARACTERS_MAXIMUM} characters, got ${text.length}`;
    const position = { line: 1, column: 1 };
    return { law: null, problems: [{ severity: "error", code: "too_large", message, position }] };
  }
  const { law, problems } = judge(READERS[formatOf(text)](new TextEncoder().encode(text)));
  const compiled = law === null ? null : compileLaw(law, lawIdentity(sha256, law), graphIdentity(sha256, law));
  return { law: compiled, problems };
}

function judge(read: ReadSource): JudgedLaw {
  if (!read.ok) return faulty([read.fault]);
  if (!isLawFile(read.value)) return judgeSpec(read.value, read.locator().locate);
  const file = compileFile(read);
  return file.ok ? judgeSpec(file.file.spec, file.file.locate, file.file.warnings) : faulty(file.faults);
}
