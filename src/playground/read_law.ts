/** Reads the text of a law in the page: a law file or a spec in long form, in YAML, TOML or JSON. */

import type { JsonValue } from "../canonical/json.ts";
import { formatPath } from "../canonical/path.ts";
import { constructLaw, graphIdentity, lawIdentity } from "../law/law.ts";
import { LAW_LIMITS } from "../law/limits.ts";
import { lintLaw } from "../law/lint.ts";
import { type CompiledLaw, compileLaw } from "../run/compile.ts";
import { sha256 } from "../runpack/browser/sha256.ts";
import { permissiveEnvironment } from "../runpack/verify/claims/scenario_law_construction.ts";
import { compileLaw as compileFile } from "../scenario/law_file.ts";
import { readJsonSource } from "../scenario/source_json.ts";
import {
  isLawFile,
  type Locator,
  type Position,
  type ReadSource,
  type Steps,
  stepsOfPath,
} from "../scenario/source_position.ts";
import { readTomlSource } from "../scenario/source_toml.ts";
import { readYamlSource } from "../scenario/source_yaml.ts";
import { LAW_CHARACTERS_MAXIMUM } from "./share.ts";

/** An error or a warning, with its position in the text. */
export interface Problem extends Position {
  readonly severity: "error" | "warning";
  readonly path: string;
  readonly message: string;
}

/** A law that was read; null where it has an error. */
export interface ReadLaw {
  readonly law: CompiledLaw | null;
  readonly problems: readonly Problem[];
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
  const start: Position = { line: 1, column: 1 };
  if (text.length > LAW_CHARACTERS_MAXIMUM) {
    const message = `Expected at most ${LAW_CHARACTERS_MAXIMUM} characters, got ${text.length}`;
    return { law: null, problems: [{ severity: "error", path: "$", message, ...start }] };
  }
  const read = READERS[formatOf(text)](new TextEncoder().encode(text));
  if (!read.ok) {
    const { position, message, path } = read.fault;
    return { law: null, problems: [{ severity: "error", path, message, ...position }] };
  }
  const compiled = isLawFile(read.value) ? compileFile(read) : null;
  if (compiled?.ok === false) {
    const problems = compiled.faults.map(({ path, message, position }): Problem => ({
      severity: "error",
      path,
      message,
      ...position,
    }));
    return { law: null, problems };
  }
  return checkSpec(compiled?.file ?? { spec: read.value, inFile: (steps) => steps, locate: read.locator().locate });
}

/** The law of a spec, whose values are found in the text. */
function checkSpec({ spec: value, inFile, locate }: {
  readonly spec: JsonValue;
  readonly inFile: (steps: Steps) => Steps;
  readonly locate: Locator["locate"];
}): ReadLaw {
  const problem = (severity: Problem["severity"], path: string, message: string): Problem => {
    const steps = stepsOfPath(path);
    return { severity, path: formatPath(inFile(steps)), message, ...locate(steps, "value") };
  };
  const built = constructLaw(value, {
    limits: LAW_LIMITS,
    hasPacketSchema: () => true,
    ...permissiveEnvironment(value),
  });
  if (!built.ok) {
    return { law: null, problems: built.refusals.map(({ path, message }) => problem("error", path, message)) };
  }
  const { law } = built;
  const warnings = lintLaw(law, built.caller_asserted).map(({ path, message }) => problem("warning", path, message));
  return { law: compileLaw(law, lawIdentity(sha256, law), graphIdentity(sha256, law)), problems: warnings };
}
