/**
 * Takes a law in the words of a law file (`law_text`) in place of a spec, and places the faults of its spec in the
 * text.
 */

import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { formatPath } from "../../canonical/path.ts";
import { utf8Length } from "../../canonical/utf8.ts";
import { type SourceFault, stepsOfPath } from "../../scenario/source_position.ts";
import { faultsSentence, toolError } from "../framework/errors.ts";
import type { ToolError } from "../framework/types.ts";

/** Maximum UTF-8 bytes of a law text. */
export const LAW_TEXT_BYTES = 262_144;

/** The arguments of a call with the spec of its law text. */
export interface LawTextCall {
  /** With `spec` in place of `law_text`; as received if the text has a fault. */
  readonly raw: JsonObject;
  /** Why the text is no law file. */
  readonly error: ToolError | null;
  /** An error with the faults of the spec placed in the text. */
  readonly placed: (error: ToolError) => ToolError;
}

/** The arguments of a call of a tool that takes a law, as a spec or as a text. */
export async function withSpecOfText(raw: JsonObject): Promise<LawTextCall> {
  const text = member(raw, "law_text");
  const same: LawTextCall = { raw, error: null, placed: (error) => error };
  // The decoder refuses any other value.
  if (typeof text !== "string") return same;
  const refuse = (message: string, expected: string): LawTextCall => ({
    ...same,
    error: toolError("invalid_input", `Cannot read arguments: $.law_text: ${message}`, {
      issues: [{ path: "$.law_text", message, expected }],
    }),
  });
  if (member(raw, "spec") !== undefined) return refuse("Expected only one of spec and law_text", "spec or law_text");
  const bytes = utf8Length(text);
  if (bytes > LAW_TEXT_BYTES) {
    return refuse(`Expected at most ${LAW_TEXT_BYTES} bytes, got ${bytes}`, `at most ${LAW_TEXT_BYTES} bytes`);
  }
  const { readLawText } = await import("../../scenario/law_file.ts");
  const namespaceId = member(raw, "namespace_id");
  const read = readLawText(text, typeof namespaceId === "number" ? namespaceId : undefined);
  if (!read.ok) return { ...same, error: invalidText(read.faults) };
  const { spec, locate, inFile, excerpt } = read.file;
  const { law_text: _, ...others } = raw;
  const place = (refusal: JsonValue): JsonValue => {
    if (!isJsonObject(refusal)) return refusal;
    const steps = stepsOfPath(String(refusal["path"]));
    const position = locate(steps, "value");
    return { ...refusal, path: formatPath(inFile(steps)), ...position, excerpt: excerpt(position) };
  };
  return {
    raw: { ...others, spec },
    error: null,
    placed: (error) => {
      const refusals = error.code === "invalid_spec" ? member(error.details ?? {}, "refusals") : undefined;
      if (!isJsonArray(refusals)) return error;
      const found = refusals.map(place) as JsonObject[];
      return { ...error, message: sentence(found), details: { ...error.details, refusals: found } };
    },
  };
}

function invalidText(faults: readonly SourceFault[]): ToolError {
  const refusals = faults.map(({ code, path, message, position, excerpt }): JsonObject => ({
    code,
    path,
    message,
    ...position,
    ...excerpt === undefined ? {} : { excerpt },
  }));
  return toolError("invalid_spec", sentence(refusals), { refusals });
}

/** All faults in one sentence, each with its line and column. */
function sentence(refusals: readonly JsonObject[]): string {
  return faultsSentence(
    "Cannot define scenario",
    refusals.map(({ path, line, column, message }) => ({
      path: `${line}:${column} ${path}`,
      message: String(message),
    })),
  );
}
